"""Shifts in, an order out: held against least squares, t tests, a likelihood maximised and simulated judges."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2, t, ttest_1samp
from syrupy.assertion import SnapshotAssertion

from judgefixtures.statistics import format_estimate, mean_interval
from judgefixtures.statistics.ranking import rank_labels

Shifts = Mapping[tuple[str, str], Sequence[int]]

LABELS = ["expert", "human", "llm", "unknown"]
# The first rank() of a process imports statsmodels, and every one fits a model.
some = settings(deadline=None, max_examples=35)
confidences = st.floats(0.2, 0.99)


@st.composite
def studies(draw: st.DrawFn, fewest: int = 2, least: int = 1) -> tuple[Shifts, list[str]]:
    """Shifts of a complete design in any orientations, from nearly still to nearly deterministic judges."""
    labels = LABELS[: draw(st.integers(fewest, 4))]
    n, chance = draw(st.integers(least, 40)), random.Random(draw(st.integers(0, 2**32)))
    shifts = {}
    for pair in itertools.permutations(labels, 2):
        if pair[::-1] not in shifts and (chance.random() < 0.5 or pair not in itertools.combinations(labels, 2)):
            weights = [draw(st.sampled_from([0, 1, 5])) for _ in range(2)]
            shifts[pair] = chance.choices([1, -1, 0], [*weights, 1], k=n)
    return shifts, labels


def everywhere(move: int, n: int, labels: Sequence[str] = tuple(LABELS)) -> dict[tuple[str, str], list[int]]:
    """Every contrast moves every pair the same way."""
    return {pair: [move] * n for pair in itertools.combinations(labels, 2)}


def least_squares(values: Sequence[float], pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> np.ndarray:
    """Strengths whose differences are nearest to the values, the ones that add up to 0."""
    design = np.array([[(label == x) - (label == y) for label in labels] for x, y in pairs], dtype=float)
    return np.asarray(np.linalg.lstsq(design, np.array(values, dtype=float))[0])


def pair_scores(shifts: Shifts, labels: Sequence[str]) -> np.ndarray:
    """Least squares for each pair on its own: one row per pair, one column per label."""
    return np.array([least_squares(moves, list(shifts), labels) for moves in zip(*shifts.values(), strict=True)])


def with_pseudo(scores: np.ndarray) -> np.ndarray:
    return np.append(scores, [0.5, -0.5])


def t_limits(scores: np.ndarray, confidence: float) -> tuple[float, float]:
    """The t interval of scores and the two pseudo-observations, by scipy."""
    seen = with_pseudo(scores)
    low, high = t.interval(confidence, len(seen) - 1, seen.mean(), seen.std(ddof=1) / math.sqrt(len(seen)))
    return float(low), float(high)


# --- strengths and steps ------------------------------------------------------------------------------------


@some
@given(studies())
def test_strengths_are_least_squares(study: tuple[Shifts, list[str]]) -> None:
    """The strengths are numpy's least-squares solution for the VSRs, and add up to 0."""
    shifts, labels = study
    expected = least_squares([float(np.mean(moves)) for moves in shifts.values()], list(shifts), labels)
    strengths = rank_labels(shifts, labels).strengths
    assert [strengths[label].value for label in labels] == pytest.approx(expected, abs=1e-12)
    assert sum(strength.value for strength in strengths.values()) == pytest.approx(0, abs=1e-12)


@some
@given(studies(), confidences)
def test_intervals_are_t_intervals_over_pairs(study: tuple[Shifts, list[str]], confidence: float) -> None:
    """Each interval is scipy's t interval of the per-pair least squares and +-1/2, cut off where no score can be."""
    shifts, labels = study
    scores, ranking, share = pair_scores(shifts, labels), rank_labels(shifts, labels, confidence), len(labels)
    cases = [(ranking.strengths[label], scores[:, k], 1 - 1 / share) for k, label in enumerate(labels)]
    cases += [(step.difference, scores[:, k] - scores[:, k + 1], 2 - 2 / share) for k, step in enumerate(ranking.steps)]
    for estimate, column, largest in cases:
        low, high = t_limits(column, confidence)
        assert estimate.low == pytest.approx(max(min(low, estimate.value), -largest), abs=1e-12)
        assert estimate.high == pytest.approx(min(max(high, estimate.value), largest), abs=1e-12)
        assert (estimate.confidence, estimate.n) == (confidence, len(column))


@some
@given(studies(least=20))
def test_intervals_are_those_of_mean_interval(study: tuple[Shifts, list[str]]) -> None:
    """Where no limit is beyond +-1/2 an interval is mean_interval's with pseudo-observations of 1/2."""
    shifts, labels = study
    scores, strengths = pair_scores(shifts, labels), rank_labels(shifts, labels).strengths
    for k, label in enumerate(labels):
        expected = mean_interval(scores[:, k].tolist(), pseudo=0.5, bound=1.0)
        if max(-expected.low, expected.high) < 0.5:
            assert dataclasses.astuple(strengths[label]) == pytest.approx(dataclasses.astuple(expected), abs=1e-12)


@some
@given(studies(), confidences)
def test_estimates_hold_their_values(study: tuple[Shifts, list[str]], confidence: float) -> None:
    """low <= value <= high at any confidence, within what a strength and a difference of two can be."""
    ranking = rank_labels(*study, confidence)
    largest = 1 - 1 / len(study[1])
    for estimate in ranking.strengths.values():
        assert -largest <= estimate.low <= estimate.value <= estimate.high <= largest
    for estimate in (step.difference for step in ranking.steps):
        assert -2 * largest <= estimate.low <= estimate.value <= estimate.high <= 2 * largest


def test_a_strength_beyond_one_half_keeps_its_interval() -> None:
    """A judge that always follows the label has strengths .75 to -.75 and intervals that reach them."""
    ranking = rank_labels(everywhere(1, 100), LABELS)
    assert [strength.value for strength in ranking.strengths.values()] == [0.75, 0.25, -0.25, -0.75]
    assert ranking.strengths["expert"].high == 0.75
    assert 0.7 < ranking.strengths["expert"].low < 0.75


@some
@given(studies())
def test_p_of_a_step_is_a_t_test(study: tuple[Shifts, list[str]]) -> None:
    """A step's p-value is scipy's one-sided t test of the per-pair differences and the pseudo-observations."""
    scores = pair_scores(*study)
    for k, step in enumerate(rank_labels(*study).steps):
        test = ttest_1samp(with_pseudo(scores[:, k] - scores[:, k + 1]), 0, alternative="greater")
        assert step.p == pytest.approx(test.pvalue, abs=1e-12)


@some
@given(studies(), confidences)
def test_certified_when_every_step_holds(study: tuple[Shifts, list[str]], confidence: float) -> None:
    """A step holds iff its bound is above 0 iff p < alpha; all hold iff certified; then the order is the declared."""
    shifts, labels = study
    ranking = rank_labels(shifts, labels, confidence)
    alpha = (1 - confidence) / 2
    assume(all(abs(step.p - alpha) > 1e-9 for step in ranking.steps))
    assert [(step.over, step.under) for step in ranking.steps] == list(itertools.pairwise(labels))
    for step in ranking.steps:
        assert step.holds == (step.lower > 0) == (step.difference.low > 0) == (step.p < alpha)
    assert ranking.certified == all(step.holds for step in ranking.steps)
    assert not ranking.certified or list(ranking.labels) == labels


@some
@given(studies())
def test_order_is_that_of_the_strengths(study: tuple[Shifts, list[str]]) -> None:
    """Labels stand in falling order of strength, equal ones in declared order; every mapping follows them."""
    ranking = rank_labels(*study)
    values = [ranking.strengths[label].value for label in ranking.labels]
    assert values == sorted(values, reverse=True)
    for (one, first), (other, second) in itertools.pairwise(zip(ranking.labels, values, strict=True)):
        assert first > second or study[1].index(one) < study[1].index(other)
    assert tuple(ranking.strengths) == tuple(ranking.bradley_terry) == ranking.labels


@some
@given(studies(), st.randoms(use_true_random=False))
def test_orientation_and_order_of_pairs_do_not_matter(study: tuple[Shifts, list[str]], chance: random.Random) -> None:
    """The same shifts told the other way round, of pairs in another order (the same in all), rank the same."""
    shifts, labels = study
    order = chance.sample(range(len(next(iter(shifts.values())))), k=len(next(iter(shifts.values()))))
    told = {}
    for (x, y), moves in shifts.items():
        turned = chance.random() < 0.5
        told[(y, x) if turned else (x, y)] = [-moves[i] if turned else moves[i] for i in order]
    first, second = rank_labels(shifts, labels), rank_labels(told, labels)
    assert (first.labels, first.certified, first.message) == (second.labels, second.certified, second.message)
    for label in labels:
        assert first.bradley_terry[label] == pytest.approx(second.bradley_terry[label], abs=1e-6)
        assert first.strengths[label].low == pytest.approx(second.strengths[label].low, abs=1e-12)


@some
@given(studies())
def test_declaring_the_reverse_negates_the_steps(study: tuple[Shifts, list[str]]) -> None:
    """Declared the other way round, strengths stay and every step is its own negative."""
    shifts, labels = study
    ranking, reverse = rank_labels(shifts, labels), rank_labels(shifts, labels[::-1])
    assert dict(reverse.strengths) == dict(ranking.strengths)
    for step, turned in zip(ranking.steps, reversed(reverse.steps), strict=True):
        assert (turned.over, turned.under) == (step.under, step.over)
        assert turned.difference.value == -step.difference.value
        assert turned.p == pytest.approx(1 - step.p, abs=1e-12)
    assert not (ranking.certified and reverse.certified)


# --- simulated judges ---------------------------------------------------------------------------------------

CONTENT = np.linspace(-2, 2, 9)  # how much better response 1 is, each as often as the others


def simulated(
    cues: Sequence[float], sharpness: float, n: int, chance: np.random.Generator
) -> dict[tuple[str, str], list[int]]:
    """A judge that weighs content and cue, with logistic noise, asked about the same n pairs in every contrast."""
    content = chance.choice(CONTENT, n)
    shifts = {}
    for (i, x), (j, y) in itertools.combinations(enumerate(LABELS), 2):
        chose_x, chose_y = (
            chance.random(n) < expit(sharpness * (content + sign * (cues[i] - cues[j]))) for sign in (1, -1)
        )
        shifts[x, y] = (chose_x.astype(int) - chose_y.astype(int)).tolist()
    return shifts


def true_strengths(cues: Sequence[float], sharpness: float) -> np.ndarray:
    """The strengths of that judge over all pairs there are."""
    apart = np.subtract.outer(cues, cues)[:, :, None]
    shift = expit(sharpness * (CONTENT + apart)) - expit(sharpness * (CONTENT - apart))
    return np.asarray(shift.mean(axis=2).mean(axis=1))


@pytest.mark.parametrize(
    ("cues", "sharpness"),
    [
        pytest.param((0.3, 0.2, 0.1, 0.0), 2.0, id="noisy"),
        pytest.param((0.6, 0.35, 0.2, 0.0), 100.0, id="near-deterministic"),
    ],
)
def test_coverage(cues: tuple[float, ...], sharpness: float) -> None:
    """95% intervals hold the truth in 94 to 97% of runs; those of nearly still strengths more often, none less."""
    chance, truth, runs = np.random.default_rng(5), true_strengths(cues, sharpness), 400
    held = np.zeros((2, 4))
    for _ in range(runs):
        ranking = rank_labels(simulated(cues, sharpness, 100, chance), LABELS, 0.95)
        for k, label in enumerate(LABELS):
            held[0, k] += ranking.strengths[label].low <= truth[k] <= ranking.strengths[label].high
        for k, step in enumerate(ranking.steps):
            held[1, k] += step.difference.low <= truth[k] - truth[k + 1] <= step.difference.high
    strengths, steps = held[0] / runs, held[1, :3] / runs
    assert min(*strengths, *steps) > 0.92
    assert 0.94 < steps.mean() < 0.975
    assert strengths.mean() < 0.98


def test_an_order_that_is_not_there_is_rarely_certified() -> None:
    """Where one declared step is a tie the order is certified in at most about 5% of runs at confidence .90."""
    chance = np.random.default_rng(6)
    certified = sum(rank_labels(simulated((2, 1, 1, 0), 3.0, 100, chance), LABELS).certified for _ in range(200))
    assert certified <= 0.05 * 200 + 3 * math.sqrt(200 * 0.05 * 0.95)


def test_a_clear_order_is_certified() -> None:
    """A judge with a clear order is certified in nearly every run, and never the other way round."""
    chance = np.random.default_rng(7)
    rankings = [rank_labels(simulated((1.5, 1, 0.5, 0), 4.0, 200, chance), LABELS) for _ in range(40)]
    assert sum(ranking.certified for ranking in rankings) >= 38


def test_size_of_the_cycle_test() -> None:
    """A judge whose contrasts are differences of strengths has cycle_p < .05 in .05 to .075 of runs (here 400)."""
    chance = np.random.default_rng(8)
    rankings = [rank_labels(simulated((0.12, 0.08, 0.04, 0.0), 2.0, 100, chance), LABELS) for _ in range(300)]
    small = [ranking for ranking in rankings if ranking.cycle_p is not None and ranking.cycle_p < 0.05]
    assert 0.02 < len(small) / 300 < 0.10


# --- cycles -------------------------------------------------------------------------------------------------


@some
@given(studies(fewest=3, least=12))
def test_cycle_p_is_walds(study: tuple[Shifts, list[str]]) -> None:
    """cycle_p is Wald's test over all triads (numpy's pseudo-inverse), where no curl is without variance."""
    shifts, labels = study
    both = {**shifts, **{(y, x): [-move for move in moves] for (x, y), moves in shifts.items()}}
    curls = np.array([np.add(both[i, j], both[j, k]) + both[k, i] for i, j, k in itertools.combinations(labels, 3)])
    covariance = np.atleast_2d(np.cov(curls)) / curls.shape[1]
    degrees = math.comb(len(labels) - 1, 2)
    assume(np.linalg.matrix_rank(covariance, tol=1e-9) == degrees)
    mean = curls.mean(axis=1)
    statistic = mean @ np.linalg.pinv(covariance, rcond=1e-10) @ mean
    assert rank_labels(shifts, labels).cycle_p == pytest.approx(chi2.sf(statistic, degrees), rel=1e-6, abs=1e-12)


@some
@given(studies(fewest=3))
def test_cycle_p_is_a_p_value(study: tuple[Shifts, list[str]]) -> None:
    """cycle_p lies in 0..1, and is None iff nothing moved."""
    shifts, labels = study
    p = rank_labels(shifts, labels).cycle_p
    assert (p is None) == (not any(map(any, shifts.values())))
    assert p is None or 0 <= p <= 1


def test_no_cycle_without_a_triad_or_a_move() -> None:
    """Two labels cannot form a cycle, and verdicts that never move say nothing of one."""
    assert rank_labels({("a", "b"): [1, 0, -1]}, ["a", "b"]).cycle_p is None
    assert rank_labels(everywhere(0, 50), LABELS).cycle_p is None


def test_a_cycle_is_seen() -> None:
    """a over b over c over a has equal strengths and a small cycle_p: without noise, with it, not from few pairs."""
    rock = {("a", "b"): [1] * 20, ("b", "c"): [1] * 20, ("c", "a"): [1] * 20}
    ranking = rank_labels(rock, list("abc"))
    assert [strength.value for strength in ranking.strengths.values()] == [0, 0, 0]
    assert ranking.cycle_p is not None
    assert ranking.cycle_p < 1e-10
    noisy = rank_labels({pair: [*moves, 0, 0, 0, -1] for pair, moves in rock.items()}, list("abc"))
    assert noisy.cycle_p is not None
    assert noisy.cycle_p < 1e-10
    # Verdicts that agree have no variance: two of them must not make a p-value of 0.
    few = rank_labels({pair: moves[:2] for pair, moves in rock.items()}, list("abc"))
    assert few.cycle_p is not None
    assert few.cycle_p > 0.1


def test_where_one_contrast_alone_moves() -> None:
    """Then both curls that hold it are the same and the third is 0: one degree of freedom, a z test of its VSR."""
    moves = [1] * 14 + [-1] * 6 + [0] * 30
    p = rank_labels({**everywhere(0, 50), ("expert", "human"): moves}, LABELS).cycle_p
    assert p == pytest.approx(chi2.sf(50 * np.mean(moves) ** 2 / np.var(moves, ddof=1), 1))


def test_moves_that_add_up_are_no_cycle() -> None:
    """A pair that moves with two contrasts and not the third, or with none, has no curl: p = 1."""
    assert rank_labels({("a", "b"): [1, 0], ("a", "c"): [1, 0], ("b", "c"): [0, 0]}, list("abc")).cycle_p == 1


def test_saturated_shifts_are_not_differences() -> None:
    """cycle_p is small, too, for an order so strong that a over c cannot be a over b plus b over c."""
    ranking = rank_labels(everywhere(1, 100), LABELS)
    assert ranking.certified
    assert ranking.cycle_p is not None
    assert ranking.cycle_p < 1e-6


# --- Bradley-Terry ------------------------------------------------------------------------------------------


def highest_likelihood(shifts: Shifts, labels: Sequence[str], added: float) -> np.ndarray:
    """The log-odds that maximise the likelihood of all verdicts, counted one by one from the moves."""
    wins = np.zeros((len(labels), len(labels))) + added * (1 - np.eye(len(labels)))
    for (x, y), moves in shifts.items():
        i, j = labels.index(x), labels.index(y)
        for move in moves:  # a pair that does not move gives each label one of its two verdicts
            wins[i, j] += 1 + move
            wins[j, i] += 1 - move

    def loss(odds: np.ndarray) -> float:
        apart = np.subtract.outer(odds, odds)
        return float((wins * np.logaddexp(0, -apart)).sum() + (odds.sum()) ** 2)

    return np.asarray(minimize(loss, np.zeros(len(labels)), tol=1e-12).x)


@settings(deadline=None, max_examples=25)
@given(studies())
def test_bradley_terry_maximises_the_likelihood(study: tuple[Shifts, list[str]]) -> None:
    """The log-odds are those of a direct search; half a win is added iff some side has none. Their mean is 0."""
    shifts, labels = study
    one_sided = any(abs(sum(moves)) == len(moves) for moves in shifts.values())
    log_odds = rank_labels(shifts, labels).bradley_terry
    expected = highest_likelihood(shifts, labels, 0.5 if one_sided else 0.0)
    assert [log_odds[label] for label in labels] == pytest.approx(expected, abs=1e-3)
    assert sum(log_odds.values()) == pytest.approx(0, abs=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", [1, 2, 100, 5000])
@pytest.mark.parametrize("move", [1, 0, -1])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_bradley_terry_is_finite(n: int, move: int, size: int) -> None:
    """No warning and no infinity where every verdict follows the label, or none does."""
    labels = LABELS[:size]
    log_odds = [rank_labels(everywhere(move, n, labels), labels).bradley_terry[label] for label in labels]
    assert all(map(math.isfinite, log_odds))
    assert max(map(abs, log_odds)) < 20
    assert all((high > low) == (move > 0) for high, low in itertools.pairwise(log_odds) if move)
    assert move or log_odds == pytest.approx([0] * size, abs=1e-9)


def test_bradley_terry_of_two_labels() -> None:
    """n10 = 30, n01 = 10 of 100 are 120 verdicts against 80: log-odds apart by log(1.5)."""
    log_odds = rank_labels({("a", "b"): [1] * 30 + [-1] * 10 + [0] * 60}, ["a", "b"]).bradley_terry
    assert log_odds["a"] - log_odds["b"] == pytest.approx(math.log(120 / 80))


# --- words, records, refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shifts", "confidence"),
    [
        pytest.param(everywhere(1, 100), 0.90, id="certified"),
        pytest.param({**everywhere(1, 100), ("human", "llm"): [1] * 30 + [-1] * 70}, 0.95, id="other-order"),
        pytest.param(everywhere(0, 20, ["new", "old"]), 0.90, id="nothing-moved"),
    ],
)
def test_message(shifts: Shifts, confidence: float, snapshot: SnapshotAssertion) -> None:
    """One line: the estimated order, its n, and that it is certified or which steps are not, with intervals."""
    labels = ["new", "old"] if ("new", "old") in shifts else LABELS
    assert rank_labels(shifts, labels, confidence).message == snapshot


@some
@given(studies())
def test_message_names_every_step_that_does_not_hold(study: tuple[Shifts, list[str]]) -> None:
    """Each step that does not hold is in the message with its estimate, the others are not; it is one line."""
    ranking = rank_labels(*study)
    for step in ranking.steps:
        assert (f"{step.over} over {step.under} {format_estimate(step.difference)}" in ranking.message) == (
            not step.holds
        )
    assert ("not certified" in ranking.message) == (not ranking.certified)
    assert "\n" not in ranking.message
    assert tuple(re.split(" [>=] ", ranking.message.partition(" (n=")[0])) == ranking.labels


def test_results_are_frozen() -> None:
    """A ranking cannot be changed after it was computed, nor its mappings or steps."""
    ranking = rank_labels(everywhere(1, 10), LABELS)
    for record, field in ((ranking, "certified"), (ranking.steps[0], "p")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field, 0)
    mappings: tuple[Any, Any] = ranking.strengths, ranking.bradley_terry
    for mapping in mappings:
        with pytest.raises(TypeError):
            mapping["expert"] = 0.0


def test_input_is_left_alone() -> None:
    """Neither the shifts nor the labels are changed."""
    shifts, labels = everywhere(1, 10), list(LABELS)
    rank_labels(shifts, labels)
    assert (shifts, labels) == (everywhere(1, 10), LABELS)


ONE = {("a", "b"): [1, 0], ("a", "c"): [1, 0], ("b", "c"): [0, 0]}


@pytest.mark.parametrize(
    ("shifts", "labels"),
    [
        pytest.param({("a", "b"): [1], ("a", "c"): [1]}, "abc", id="missing"),
        pytest.param({}, "ab", id="empty"),
        pytest.param({**ONE, ("c", "a"): [1, 0]}, "abc", id="twice"),
        pytest.param({**ONE, ("a", "d"): [1, 0]}, "abc", id="unknown"),
        pytest.param({**ONE, ("a", "a"): [0, 0]}, "abc", id="itself"),
        pytest.param({**ONE, ("b", "c"): [0]}, "abc", id="lengths"),
        pytest.param({("a", "b"): []}, "ab", id="no-pairs"),
        pytest.param({("a", "b"): [1, 2, 0]}, "ab", id="2"),
        pytest.param({("a", "b"): [0.25]}, "ab", id="quarter"),
        pytest.param(ONE, "abcc", id="label-twice"),
        pytest.param({}, "a", id="one-label"),
    ],
)
def test_refusals(shifts: Any, labels: str, snapshot: SnapshotAssertion) -> None:
    """What cannot be ranked is refused with a message that names the label, contrast or value at fault."""
    with pytest.raises(ValueError) as error:
        rank_labels(shifts, list(labels))
    assert str(error.value) == snapshot


@pytest.mark.parametrize("confidence", [0, 1, 90, math.nan])
def test_confidence_lies_between_0_and_1(confidence: float, snapshot: SnapshotAssertion) -> None:
    """A confidence outside (0, 1) is refused."""
    with pytest.raises(ValueError) as error:
        rank_labels(ONE, list("abc"), confidence)
    assert str(error.value) == snapshot


@pytest.mark.whole
def test_importing_costs_nothing() -> None:
    """The module imports neither numpy nor scipy nor statsmodels."""
    code = "import sys, judgefixtures.statistics.ranking; print({'numpy', 'scipy', 'statsmodels'} & {*sys.modules})"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
