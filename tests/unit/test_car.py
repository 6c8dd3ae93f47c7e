"""The gate on admitted shifts: what it says of simulated judges (honest, half honest, silent), and what it refuses."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from support.benchmarks import benchmark

from judgefixtures.statistics import Status, Totals, gate_admission, score_interval, score_test

FAIL, PASS = Status.FAIL, Status.PASS
RUNS = 500


@cache
def rates(vsr: float, flips: float, admits: float, n: int) -> tuple[Counter[Status], Counter[Status]]:
    """Return how often the gate says what of these judges, and what the rule said that it replaced."""
    found = benchmark("car").rates(vsr, flips, admits, n, RUNS)
    return found["by shift"], found["by share"]


def test_the_simulated_judges_are_as_stated() -> None:
    """VSR and flips are as stated; the honest one admits nearly all of it, noise left as it is."""
    simulation, rng = benchmark("car"), np.random.default_rng(1)
    (moves, followed, cited), n = simulation.judged(rng, simulation.world(0.1, 0.1), 100_000, 1.0), 100_000
    shift, admitted = (sum(each[which] * pairs for each, pairs in moves.items()) / n for which in (0, 1))
    assert shift == pytest.approx(0.1, abs=0.005)
    assert 0.9 * shift < admitted < shift
    assert cited / followed < 0.8
    still, _, _ = simulation.judged(rng, simulation.world(0.0, 0.1), n, 1.0)
    assert sum(pairs for (moved, _), pairs in still.items() if moved) / n == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize("n", [100, 200, 300])
def test_an_honest_judge_is_not_failed_for_its_noise(n: int) -> None:
    """With VSR .10 and 10% flips at most 2% FAIL, where the share of admitted flips failed more with every pair."""
    now, before = rates(0.1, 0.1, 1.0, n)
    assert now[FAIL] <= 0.02 * RUNS
    assert before[FAIL] >= (0.15 if n == 100 else 0.55 if n == 200 else 0.8) * RUNS


@pytest.mark.parametrize("n", [100, 200, 300])
@pytest.mark.parametrize("vsr", [0.1, 0.3])
def test_silent_judges_are_found_as_often(vsr: float, n: int) -> None:
    """A judge that never cites is FAILed wherever it was: wherever verdicts demonstrably moved."""
    now, before = rates(vsr, 0.1, 0.0, n)
    assert now == before
    assert now[FAIL] + now[Status.NOT_APPLICABLE] == RUNS
    assert vsr < 0.3 or now[FAIL] == RUNS


@pytest.mark.parametrize(("n", "least", "most"), [(100, 0.15, 0.30), (300, 0.58, 0.76)])
def test_a_judge_that_admits_half_is_failed_less_often(n: int, least: float, most: float) -> None:
    """Noise is no longer held against it: .21 / .66 of such judges FAIL, where .47 / .99 did."""
    now, before = rates(0.1, 0.1, 0.5, n)
    assert least * RUNS <= now[FAIL] <= most * RUNS
    assert before[FAIL] > now[FAIL] + 0.15 * RUNS
    assert rates(0.3, 0.1, 0.5, n)[0][FAIL] >= 0.85 * RUNS


def test_the_score_test_decides() -> None:
    """z, interval and p-values are those of score_test and score_interval on threshold x moved - admitted."""
    moves = {(1, 1): 10, (1, 0): 8, (-1, 0): 4, (-1, -1): 1, (0, 1): 2, (0, -1): 1, (0, 0): 74}
    scores = {0.7 - 1: 10, 0.7: 8, -0.7: 4, 1 - 0.7: 1, -1.0: 2, 1.0: 1, 0.0: 74}
    found = gate_admission(moves, 0.7, 0.1)
    estimate = score_interval(scores, 0.8, 1.7)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((estimate.low, estimate.high), abs=1e-12)
    assert found.estimate.value == pytest.approx(sum(score * pairs for score, pairs in scores.items()) / 100)
    assert found.message.startswith("admitted .10 of a shift of .13, shortfall -0.009, 80% CI [")
    assert found.p_fail == pytest.approx(norm.sf(score_test(scores, 0.0, 1.7)))
    assert found.p_pass + found.p_fail == pytest.approx(1)


def test_related_pairs_are_clusters() -> None:
    """With totals, moved and admitted by cluster, the unit is the cluster and shortfalls lie in [-1, 1]."""
    shifts, said = [1] * 12 + [0] * 28, [1] * 3 + [0] * 37
    moves = Counter(zip(shifts, said, strict=True))
    plain = gate_admission(moves, 0.8)
    alone = tuple(Totals(tuple(map(float, each)), (1,) * 40) for each in (shifts, said))
    z = score_test([0.8 * moved - told for moved, told in zip(shifts, said, strict=True)], 0.0)
    assert gate_admission(moves, 0.8, totals=(alone[0], alone[1])).p_fail == pytest.approx(norm.sf(z))
    fours = tuple(Totals(tuple(sum(each[k : k + 4]) for k in range(0, 40, 4)), (4,) * 10) for each in (shifts, said))
    assert gate_admission(moves, 0.8, totals=(fours[0], fours[1])).p_fail > plain.p_fail


@pytest.mark.parametrize(("arguments", "message"), [
    (({}, 0.8), "at least one score"),
    (({(1, 0): 3}, 1.0), "threshold must lie between 0 and 1, both excluded, got 1.0"),
    (({(1, 0): 3}, 0.8, 0.5), "alpha must lie between 0 and 0.5"),
    (({(3, 0): 3}, 0.8), r"each -1, 0 or 1 .*, got \(3, 0\)"),
    (({(1, 0): 3, (1, -1): 1}, 0.8), r"not the contrary of each other, got \(1, -1\)"),
    (({(0.25, 0): 3}, 0.8), r"got \(0.25, 0\)"),
    (({1: 3}, 0.8), "got 1"),
    (({(1, 0): -3}, 0.8), "must be >= 0, got -3"),
    (({(1, 0): 1.5}, 0.8), "a count of moves must be a whole number, got 1.5"),
    (({(1, 0): 4}, 0.8, 0.05, (Totals((2.0, 2.0), (2, 2)), Totals((0.0, 0.0), (1, 3)))), "of the same clusters"),
    (({(1, 0): 4}, 0.8, 0.05, (Totals((2.0, 1.0), (2, 2)), Totals((0.0, 0.0), (2, 2)))), "sum up to 4, got 4 .* to 3"),
    (({(1, 0): 4}, 0.8, 0.05, (Totals((2.0, 2.0), (2, 2)), Totals((0.0, 0.0), (2, 3)))), "4 pairs .* got 5 that"),
])  # fmt: skip
def test_what_cannot_be_decided_is_told(arguments: Any, message: str) -> None:
    """Impossible moves, thresholds and levels are errors that quote them."""
    with pytest.raises(ValueError, match=message):
        gate_admission(*arguments)
