"""How likely a swap of equal graders decides: held against simulations of the gates themselves."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.statistics.estimate import Status
from judgefixtures.statistics.gates import gate_non_inferiority, gate_shift
from judgefixtures.statistics.grader_swap_power import (
    GraderSwapMargins,
    grader_swap_chance,
    grader_swap_labels,
    grader_swap_prospect,
)


@cache
def no_worse(candidate_only: int, baseline_only: int, n: int, margin: float) -> bool:
    """Return whether the gate of a paired difference passes."""
    return gate_non_inferiority(candidate_only, baseline_only, n, margin).status is Status.PASS


@cache
def the_same(candidate_only: int, baseline_only: int, n: int, margin: float) -> bool:
    """Return whether the gate of a pass rate passes."""
    return gate_shift(candidate_only, baseline_only, n, margin).status is Status.PASS


def approved(positives: list[int], negatives: list[int], half: int) -> bool:
    """Return whether all four pass, of how many examples of each class the candidate, or the baseline, alone is right."""
    (ours, theirs), (also, others) = positives, negatives
    n = 2 * half
    rates = no_worse(ours, theirs, half, 0.10) and no_worse(also, others, half, 0.10)
    return rates and no_worse(ours + also, theirs + others, n, 0.05) and the_same(ours + others, theirs + also, n, 0.10)


def simulated(half: int, discordance: float, tnr_less: float = 0.0, runs: int = 1000) -> float:
    """Return how often a candidate is approved that is as its baseline is, or is right on fewer negatives."""
    rng, either = np.random.default_rng(half), discordance / 2
    positives = rng.multinomial(half, [either, either, 1 - discordance], runs)[:, :2].tolist()
    worse = [either, either + tnr_less, 1 - discordance - tnr_less]
    negatives = rng.multinomial(half, worse, runs)[:, :2].tolist()
    return sum(approved(*each, half) for each in zip(positives, negatives, strict=True)) / runs


@pytest.mark.parametrize(
    ("half", "discordance", "aim"),
    [(50, 0.05, 0.5), (50, 0.12, 0.25), (100, 0.05, 0.87), (100, 0.12, 0.55), (200, 0.05, 0.98), (200, 0.12, 0.88)],
)
def test_equal_graders_are_approved_as_often_as_is_said(half, discordance, aim):
    """Simulated through the gates, and computed."""
    found = grader_swap_chance(half, half, discordance)
    assert found == pytest.approx(aim, abs=0.05)
    assert found == pytest.approx(simulated(half, discordance), abs=0.07)


def test_a_grader_that_lets_a_quarter_more_through_is_never_approved():
    """TNR 25 points worse, which is a pass rate 12.5 points higher: 0 of 600."""
    assert simulated(50, 0.12, 0.25, runs=600) == 0
    assert simulated(200, 0.05, 0.25, runs=600) == 0


@pytest.mark.parametrize("share", [0.5, 0.8])
@pytest.mark.parametrize("discordance", [0.05, 0.12])
def test_so_many_labels_are_enough(share, discordance):
    """With them equal graders are approved in 80%, with ten fewer they are not."""
    needed = grader_swap_labels(share, discordance)
    assert needed is not None
    for labels, enough in ((needed, True), (needed - 10, False)):
        positives = round(labels * share)
        assert (grader_swap_chance(positives, labels - positives, discordance) >= 0.8) is enough


def test_wider_margins_take_fewer_labels():
    """And hardly any number is enough for margins of a point."""
    assert grader_swap_labels(0.5, 0.12, GraderSwapMargins(accuracy=0.10)) < grader_swap_labels(0.5, 0.12)
    assert grader_swap_labels(0.5, 0.12, GraderSwapMargins(accuracy=0.01)) is None


def test_a_preflight_says_what_a_swap_can_show(snapshot: SnapshotAssertion):
    """That 100 labels hardly decide it, and how many would."""
    assert grader_swap_prospect(50, 50) == snapshot
    assert grader_swap_prospect(300, 300) == snapshot
    assert grader_swap_prospect(40, 0) == snapshot
    assert grader_swap_prospect(400, 9) == snapshot
    tight = grader_swap_prospect(50, 50, GraderSwapMargins(accuracy=0.01))
    assert lines_about(tight, "realistic number") == snapshot


@pytest.mark.parametrize("margin", ["accuracy", "rate", "pass_rate"])
def test_a_margin_is_a_share(margin):
    """Named by its key."""
    with pytest.raises(ValueError, match=f"{margin}_margin"):
        GraderSwapMargins(**{margin: 1})


def test_what_cannot_be_is_an_error():
    """Counts and shares that are none."""
    with pytest.raises(ValueError, match="must be counts"):
        grader_swap_chance(-1, 50, 0.05)
    with pytest.raises(ValueError, match="discordance"):
        grader_swap_chance(50, 50, 0)
    assert grader_swap_chance(0, 50, 0.05) == 0
