"""Looks: boundaries held against published ones, decisions from prefixes that no batch changes."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import SwapTable
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.statistics.alpha_spending import (
    alpha_spent_on_passes,
    fixed_design_levels,
    levels_at_looks,
    pocock_spending,
    stopping_boundaries,
)
from judgefixtures.swap import SwapAccuracy, SwapContrast, SwapDecision, decide_swap
from judgefixtures.swap.decide_looks import decide_looks

APPROVE, REJECT, INCONCLUSIVE = SwapStatus.APPROVE, SwapStatus.REJECT, SwapStatus.INCONCLUSIVE
LOOKS = [25, 50, 100, 200]
FIFTHS = tuple(k / 5 for k in range(1, 6))


def obrien_fleming_type(alpha: float) -> tuple[float, ...]:
    return tuple(2 * float(stats.norm.sf(stats.norm.isf(alpha / 2) / math.sqrt(t))) for t in FIFTHS)


# --- boundaries ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spent", "fractions", "published"),
    [
        pytest.param(obrien_fleming_type(0.025), FIFTHS, (4.8769, 3.3569, 2.6803, 2.2898, 2.0310), id="OBF type"),
        pytest.param(
            pocock_spending(0.025, FIFTHS), FIFTHS, (2.4380, 2.4268, 2.4101, 2.3966, 2.3859), id="Pocock type"
        ),
        pytest.param((0.04, 0.05), (0.5, 1.0), (1.7507, 2.0689), id="the passes"),
        pytest.param((0.05,), (1.0,), (1.6449,), id="one look"),
    ],
)
def test_boundaries_are_the_published_ones(
    spent: tuple[float, ...], fractions: tuple[float, ...], published: tuple[float, ...]
) -> None:
    """To the four decimals that are printed."""
    assert stopping_boundaries(spent, fractions) == pytest.approx(published, abs=1.5e-4)


def test_boundaries_hold_by_simulation() -> None:
    """A process without drift crosses them as often as is spent."""
    fractions = tuple(look / 200 for look in LOOKS)
    bounds = stopping_boundaries(pocock_spending(0.05, fractions), fractions)
    steps = np.sqrt(np.diff([0, *fractions]))
    process = np.cumsum(np.random.default_rng(1).standard_normal((200_000, 4)) * steps, axis=1) / np.sqrt(fractions)
    crossed = np.maximum.accumulate(process > bounds, axis=1).mean(axis=0)
    assert crossed == pytest.approx(pocock_spending(0.05, fractions), abs=0.002)


@pytest.mark.skipif(importlib.util.find_spec("gsdesign") is None, reason="gsdesign is a second opinion: not installed")
def test_boundaries_agree_with_gsdesign() -> None:
    """The chance to cross the second boundary and not the first, by gsDesign's own integration."""
    import gsdesign  # type: ignore[import-not-found, unused-ignore]

    for spent, fractions in (((0.04, 0.05), (0.5, 1.0)), ((0.01, 0.025), (0.3, 1.0))):
        first, second = stopping_boundaries(spent, fractions)
        below = gsdesign.h1(r=80, info=fractions[0], b=first)
        _, _, chances = gsdesign.hupdate(80, 0.0, fractions[1], second, math.inf, 0.0, fractions[0], below)
        assert float(np.sum(chances)) == pytest.approx(spent[1] - spent[0], abs=5e-6)


def test_one_look_is_the_fixed_design() -> None:
    """Whatever its number of pairs."""
    assert levels_at_looks([70], 0.05) == (fixed_design_levels(0.05),)
    assert fixed_design_levels(0.05).z_pass == pytest.approx(1.6448536269514722, abs=1e-12)
    assert fixed_design_levels(0.05).reject(7) == pytest.approx(0.025 / 7)


@pytest.mark.parametrize(
    ("looks", "spent"),
    [
        ([100], (0.05,)),
        (LOOKS, (0.0, 0.0, 0.04, 0.05)),
        ([50, 100], (0.0, 0.05)),
        ([100, 200], (0.04, 0.05)),
        ([100, 200, 300], (0.04, 0.045, 0.05)),
        ([20, 40], (0.0, 0.05)),
    ],
)
def test_how_passes_share_alpha(looks: list[int], spent: tuple[float, ...]) -> None:
    """Nothing before 75 pairs, four fifths at the first look from there on, the rest evenly."""
    assert alpha_spent_on_passes(looks, 0.05) == pytest.approx(spent)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=5, unique=True), st.sampled_from([0.01, 0.05, 0.1]))
def test_levels_of_looks_stay_below_that_of_one(looks: list[int], alpha: float) -> None:
    """No look tests at more than the whole level, and what rejects is stricter with more tests."""
    for levels in levels_at_looks(sorted(looks), alpha):
        assert levels.z_pass >= fixed_design_levels(alpha).z_pass - 1e-9
        assert 0 < levels.reject(30) < levels.reject(3) <= fixed_design_levels(alpha).reject(3) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("spent", "fractions", "words"),
    [
        ((), (), "each look"),
        ((0.1,), (0.5, 1.0), "each look"),
        ((0.1, 0.05), (0.5, 1.0), "not decrease"),
        ((0.1, 0.2), (1.0, 0.5), "increase"),
        ((0.5, 1.0), (0.5, 1.0), "between 0 and 1"),
    ],
)
def test_impossible_boundaries_are_refused(spent: Any, fractions: Any, words: str) -> None:
    """The message says what does not fit."""
    with pytest.raises(ValueError, match=words):
        stopping_boundaries(spent, fractions)


# --- decisions ----------------------------------------------------------------------------------------------


def judges(seed: int, n: int, vsr: float = 0.05) -> tuple[list[SwapContrast], list[SwapAccuracy]]:
    """Return four cells and two accuracies of n pairs; with fewer pairs the same ones, the first of them."""
    ids = [f"pair-{index}" for index in range(n)]
    cells, right = [], []
    for place, dataset in enumerate(("qa", "stories")):
        for contrast in range(2):
            rows = np.random.default_rng([seed, place, contrast]).random((n, 2))
            arms = [
                [(1, 2) if u < along else (2, 1) if u > 0.975 else (1, 1) for u in column]
                for column, along in zip(rows.T.tolist(), (vsr, 0.05), strict=True)
            ]
            cells.append(SwapContrast("recency", f"recency-{contrast}", dataset, ids, *arms, [False] * n, [False] * n))
        u = np.random.default_rng([seed, place]).random((n, 2))
        shares = np.where(u < 0.03, 0.5, 1.0)
        right.append(SwapAccuracy(dataset, ids, shares[:, 0].tolist(), shares[:, 1].tolist()))
    return cells, right


def firsts(
    cells: list[SwapContrast], right: list[SwapAccuracy], n: int
) -> tuple[list[SwapContrast], list[SwapAccuracy]]:
    return [each.first(n) for each in cells], [each.first(n) for each in right]


def without_remark(found: SwapDecision) -> SwapDecision:
    kept = tuple(reason for reason in found.reasons if "the next look needs" not in reason)
    return replace(found, reasons=tuple(reason for reason in kept if not reason.startswith("decided after")))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("vsr", [0.05, 0.18, 0.30])
@pytest.mark.parametrize("seed", range(3))
def test_batches_change_nothing(seed: int, vsr: float) -> None:
    """Pairs recorded look by look, until one decides: what all of them at once decide, at the same look."""
    table, (cells, right) = SwapTable(looks=LOOKS), judges(seed, 200, vsr)
    for look in LOOKS:
        batch = decide_looks(*firsts(cells, right, look), table)
        if batch.status is not INCONCLUSIVE:
            break
    assert repr(without_remark(decide_looks(cells, right, table))) == repr(without_remark(batch))
    assert batch.look == look


def test_a_much_worse_judge_is_rejected_early() -> None:
    """VSR .30 everywhere against .05: by 50 pairs; the later pairs are said to be ignored."""
    found = decide_looks(*judges(1, 200, 0.40), SwapTable(looks=LOOKS))
    assert found.status is REJECT
    assert found.look is not None
    assert found.look <= 50
    assert found.reasons[-1] == f"decided after {found.look} of 200 pairs per dataset"


def test_equal_judges_are_approved_at_the_main_look() -> None:
    """Not before: at 25 and 50 pairs nothing can be approved."""
    cells, right = judges(1, 200)
    found = decide_looks(cells, right, SwapTable(looks=LOOKS))
    assert (found.status, found.look) == (APPROVE, 100)
    early = decide_looks(*firsts(cells, right, 50), SwapTable(looks=LOOKS))
    assert (early.status, early.look) == (INCONCLUSIVE, 50)


def test_between_looks_the_last_one_holds(snapshot: SnapshotAssertion) -> None:
    """With 70 pairs the look at 50 is what is known, and the next one is named."""
    cells, right = judges(1, 70)
    found = decide_looks(cells, right, SwapTable(looks=LOOKS))
    assert found.look == 50
    assert found.reasons[-1] == snapshot
    later = decide_looks(*judges(1, 150), SwapTable(looks=LOOKS, accuracy_margin=0.01))
    assert (later.status, later.look) == (INCONCLUSIVE, 100)
    assert later.reasons[-1] == snapshot


def test_before_the_first_of_several_looks_nothing_is_decided(snapshot: SnapshotAssertion) -> None:
    """24 pairs that would reject at once are not looked at."""
    found = decide_looks(*judges(1, 24, 0.9), SwapTable(looks=LOOKS))
    assert (found.status, found.look) == (INCONCLUSIVE, None)
    assert found.reasons == snapshot


@pytest.mark.parametrize("worse", [0.05, 0.4])
def test_intervals_decide_nothing(worse: float) -> None:
    """Without them, as simulations ask for it, statuses, p-values and means are the same."""
    found, lean = (
        decide_looks(*judges(1, 100, worse), SwapTable(looks=LOOKS), intervals=each) for each in (True, False)
    )
    assert (found.status, found.look) == (lean.status, lean.look)
    for one, other in zip(found.components, lean.components, strict=True):
        assert (one.status, one.p_pass, one.p_fail) == (other.status, other.p_pass, other.p_fail)
        assert other.estimate.low == other.estimate.value == other.estimate.high == pytest.approx(one.estimate.value)


@pytest.mark.parametrize("n", [60, 100])
def test_with_one_look_all_pairs_are_decided_on_once(n: int) -> None:
    """The default: the fixed design, whatever the number of pairs up to the look."""
    cells, right = judges(2, n)
    assert decide_looks(cells, right, SwapTable()) == replace(decide_swap(cells, right, SwapTable()), look=n)


@pytest.mark.parametrize("looks", [[100], [25, 100]])
def test_more_pairs_than_the_last_look_are_a_new_design(looks: list[int]) -> None:
    """All of them are decided on once, and it is said what that means."""
    cells, right = judges(2, 150)
    found, fixed = decide_looks(cells, right, SwapTable(looks=looks)), decide_swap(cells, right, SwapTable())
    assert (found.status, found.components, found.look) == (fixed.status, fixed.components, 150)
    assert "new decision" in found.reasons[-1]


def test_a_dataset_with_fewer_pairs_is_taken_whole() -> None:
    """A look is reached when the largest dataset has its pairs."""
    cells, right = judges(1, 100)
    smaller = [cell.first(60) if cell.dataset == "qa" else cell for cell in cells]
    found = decide_looks(smaller, right, SwapTable(looks=LOOKS))
    assert found.look == 100
    assert "60 to 100 pairs per dataset" in found.reasons[0]


@pytest.mark.slow
@pytest.mark.whole
def test_looks_keep_the_level_of_a_pass() -> None:
    """A candidate less accurate by exactly the margin is approved in one of twenty, at four looks together."""
    table, runs, approved = SwapTable(looks=LOOKS), 1500, 0
    ids = [str(index) for index in range(200)]
    for seed in range(runs):
        u = np.random.default_rng(seed).random((200, 2))
        ours, theirs = np.where(u[:, 0] < 0.125, 0.0, 1.0), np.where(u[:, 0] > 0.925, 0.0, 1.0)
        right = SwapAccuracy("qa", ids, ours.tolist(), theirs.tolist())
        approved += decide_looks([], [right], table).status is APPROVE
    assert approved / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
