"""The decision on a swap, on plain data: what is approved, rejected and left open, and why.

Judges are drawn here as counts of moves; benchmarks/operating_characteristics.py has judges with preferences.
"""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.config import SwapTable, build_config
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.statistics import Status, paired_difference, score_interval, score_test
from judgefixtures.swap import Component, SwapAccuracy, SwapContrast, SwapDecision, decide_swap, guard_margin, guards
from judgefixtures.swap.margins import SampleDemand, pairs_for_equals
from judgefixtures.swap.per_pair import PairScoreCounts
from judgefixtures.util.errors import JudgeFixturesError

SWAP = SwapTable()
APPROVE, REJECT, INCONCLUSIVE = SwapStatus.APPROVE, SwapStatus.REJECT, SwapStatus.INCONCLUSIVE
Z = 1.6448536269514722
DATASETS = ("qa", "stories")
CONTRASTS = [("recency", "recency-new-old"), *(("provenance", f"provenance-{n}") for n in range(6))]
# The verdicts in both arms of a pair that moved along the contrast, against it, not at all, or has an invalid one.
ARMS: dict[int | None, Any] = {1: (1, 2), -1: (2, 1), 0: (1, 1), None: (None, 1)}

Moved = Sequence[int | None]
brief = settings(deadline=None, max_examples=40)


def ids(n: int) -> list[str]:
    return [f"pair-{index}" for index in range(n)]


def clustered(n: int, label: Callable[[int], Hashable]) -> dict[tuple[str, str], Hashable]:
    """Return the cluster of each pair of each dataset, by its place."""
    return {(dataset, pair): label(place) for dataset in DATASETS for place, pair in enumerate(ids(n))}


def cell(
    ours: Moved,
    theirs: Moved,
    where: tuple[str, str, str] = ("recency", "recency-new-old", "qa"),
    *,
    admits: tuple[bool, bool] = (False, False),
    kind: Any = "cue",
) -> SwapContrast:
    """Return a cell in which the pairs moved like this; admits: whether candidate and baseline admit, always."""
    n = len(ours)
    return SwapContrast(
        *where,
        ids(n),
        [ARMS[move] for move in ours],
        [ARMS[move] for move in theirs],
        [admits[0]] * n,
        [admits[1]] * n,
        kind,
    )


def counted(along: int, against: int, n: int) -> list[int]:
    return [1] * along + [-1] * against + [0] * (n - along - against)


def shift(random: np.random.Generator, n: int, vsr: float = 0.05, flips: float = 0.05) -> list[int]:
    """Return how n pairs moved: the first share of them by the cue, the same for every judge, and others by noise."""
    u, sign = random.random(n), 1 if vsr > 0 else -1
    moved = np.where(np.arange(n) < round(abs(vsr) * n), sign, 0)
    return np.where(u < flips / 2, 1, np.where(u > 1 - flips / 2, -1, moved)).tolist()


Judge = Callable[[np.random.Generator, int, str, str], list[int]]


def steady(random: np.random.Generator, n: int, *_: str) -> list[int]:
    """How the pairs of an ordinary judge move."""
    return shift(random, n)


def accuracies(
    random: np.random.Generator,
    n: int,
    datasets: Iterable[str] = DATASETS,
    worse: float = 0.0,
    discordance: float = 0.05,
) -> list[SwapAccuracy]:
    """Return both judges' accuracies, asked in two orders; in each, one alone is right on a share of the pairs."""
    found = []
    for dataset in datasets:
        u = random.random((2, n))
        ours = np.where(u < (discordance + worse) / 2, 0.0, 1.0).mean(axis=0)
        theirs = np.where(u > 1 - (discordance - worse) / 2, 0.0, 1.0).mean(axis=0)
        found.append(SwapAccuracy(dataset, ids(n), ours.tolist(), theirs.tolist()))
    return found


def swap(
    seed: int,
    n: int,
    candidate: Judge = steady,
    baseline: Judge = steady,
    *,
    worse: float = 0.0,
    admits: tuple[bool, bool] = (False, False),
) -> tuple[list[SwapContrast], list[SwapAccuracy]]:
    """Return 14 cells and two accuracies of judges that move like this."""
    random = np.random.default_rng(seed)
    cells = [
        cell(
            candidate(random, n, contrast, dataset),
            baseline(random, n, contrast, dataset),
            (family, contrast, dataset),
            admits=admits,
        )
        for dataset in DATASETS
        for family, contrast in CONTRASTS
    ]
    return cells, accuracies(random, n, worse=worse)


def decisions(runs: int, n: int, *judges: Judge, **others: Any) -> list[SwapDecision]:
    return [decide_swap(*swap(seed, n, *judges, **others), SWAP) for seed in range(runs)]


def share(found: Sequence[SwapDecision], status: SwapStatus) -> float:
    return sum(decision.status is status for decision in found) / len(found)


def component(decision: SwapDecision, kind: str, name: str = "", role: str = "primary") -> Component:
    (found,) = [c for c in decision.components if (c.kind, c.name, c.role) == (kind, name, role)]
    return found


# --- 1, 2: the score test -----------------------------------------------------------------------------------


def restricted(values: Sequence[float], mu0: float) -> float:
    """Return z with the likeliest weights that a general optimiser finds: on the scores seen, and both ends."""
    seen = sorted(set(values) | {-1.0, 1.0})
    counts = np.array([list(values).count(value) for value in seen], dtype=float)
    support, n = np.array(seen), len(values)
    with warnings.catch_warnings():  # of scipy before 1.16: a step out of the bounds, which it takes back
        warnings.filterwarnings("ignore", "Values in x were outside bounds", RuntimeWarning)
        found = optimize.minimize(
            lambda p: -float(counts @ np.log(np.maximum(p, 1e-300))),
            np.full(len(seen), 1 / len(seen)),
            method="SLSQP",
            bounds=[(1e-12, 1)] * len(seen),
            options={"maxiter": 2000, "ftol": 1e-14},
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p: p @ (support - mu0)},
            ],
        )
    return float((np.mean(values) - mu0) / math.sqrt(found.x @ (support - mu0) ** 2 / n))


@pytest.mark.parametrize("seed", range(12))
def test_weights_are_the_likeliest_ones(seed: int) -> None:
    """For scores of any values z is what a general optimiser over all distributions with that mean gives."""
    drawn = np.random.default_rng(seed)
    values = drawn.choice([-1, -0.5, -1 / 6, 0, 1 / 3, 0.5, 1], 40, p=drawn.dirichlet(np.ones(7))).tolist()
    mu0 = float(drawn.uniform(-0.5, 0.5))
    assert score_test(values, mu0) == pytest.approx(restricted(values, mu0), rel=2e-3, abs=2e-3)


def test_a_step_to_the_pole_does_not_stick_there() -> None:
    """Between its neighbours, z of a table on which Newton's first step meets the pole exactly lies between theirs."""
    values = {0: 16, -0.5: 1, 1: 1, -1: 1, 0.5: 1}
    assert score_test(values, -0.2501) > score_test(values, -0.25) > score_test(values, -0.2499) > 2.3


scores = st.lists(st.sampled_from([-1.0, -0.5, -1 / 6, 0.0, 0.0, 0.0, 1 / 3, 0.5, 1.0]), min_size=2, max_size=80)


@brief
@given(scores, st.lists(st.floats(-0.99, 0.99), min_size=2, max_size=2, unique=True))
def test_z_falls_in_the_mean_that_is_tested(values: list[float], tested: list[float]) -> None:
    """The larger the mean of H0, the smaller z."""
    assert score_test(values, min(tested)) >= score_test(values, max(tested)) - 1e-9


@brief
@given(scores)
def test_an_interval_holds_its_mean_and_has_a_width(values: list[float]) -> None:
    """low <= mean <= high, and never low = high."""
    found = score_interval(values)
    assert found.low <= found.value <= found.high
    assert found.low < found.high


@brief
@given(scores, st.floats(-0.9, 0.9), st.sampled_from([0.25, 0.5, 2.0]))
def test_scale_does_not_matter(values: list[float], mu0: float, factor: float) -> None:
    """Scores, mean and range times the same factor: the same z."""
    scaled = score_test([value * factor for value in values], mu0 * factor, factor)
    assert scaled == pytest.approx(score_test(values, mu0), rel=1e-9, abs=1e-9)


# --- what a component is ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"), [((18, 4), (0, 0)), ((0, 0), (0, 0)), ((30, 0), (12, 5)), ((5, 5), (30, 0))]
)
def test_a_single_contrast_is_tested_as_tangos(ours: tuple[int, int], theirs: tuple[int, int]) -> None:
    """One contrast on one dataset: z of the family and of the cell is the score test's of their scores."""
    moved, others = counted(*ours, 100), counted(*theirs, 100)
    found = decide_swap([cell(moved, others)], [], SWAP)
    values = Counter(c - b for c, b in zip(moved, others, strict=True))
    half_range = max(1, *map(abs, values))
    assert component(found, "abs-vsr", "recency").z == pytest.approx(-score_test(values, 0.10, half_range), abs=1e-12)
    guard = component(found, "abs-vsr", "recency-new-old on qa", "guard")
    assert guard.z == pytest.approx(-score_test(values, found.guard_margin or 0, half_range), abs=1e-12)


def test_a_family_is_pooled_per_pair() -> None:
    """A pair's score is its mean over the contrasts, an incomplete pair's over those in which it is complete."""
    first = cell([1] * 60 + [0] * 40, [0] * 100, ("provenance", "provenance-a", "qa"))
    second = cell([1] * 20 + [None] * 10 + [0] * 70, [0] * 100, ("provenance", "provenance-b", "qa"))
    found = component(decide_swap([first, second], [], SWAP), "abs-vsr", "provenance")
    assert found.estimate.value == pytest.approx((20 * 1 + 10 * 1 + 30 * 0.5) / 100)
    assert found.estimate.n == 100


def test_datasets_are_pooled_and_stay_apart_as_pairs() -> None:
    """Pairs of the same id on two datasets are two pairs."""
    cells = [cell(counted(10, 0, 100), [0] * 100, ("recency", "recency-new-old", name)) for name in DATASETS]
    assert component(decide_swap(cells, [], SWAP), "abs-vsr", "recency").estimate.n == 200


def test_flip_rate_and_invalid_verdicts_are_over_all_pairs() -> None:
    """The flip rate is a mean over contrasts, edits left out; invalid verdicts are a share of all calls."""
    cells = [
        cell(counted(10, 10, 100), counted(5, 0, 100), ("a", "a-1", "qa")),
        cell([None] * 4 + [0] * 96, [0] * 100, ("a", "a-2", "qa")),
        cell(counted(50, 0, 100), [0] * 100, ("formatting", "formatting-bold", "qa"), kind="edit"),
    ]
    found = decide_swap(cells, [], SWAP)
    # Four pairs are complete in the first contrast alone: all of them flipped there for both judges.
    assert component(found, "flip-rate").estimate.value == pytest.approx(15 * 0.5 / 100)
    assert component(found, "invalid").estimate.value == pytest.approx(4 / 600)


def test_only_cues_can_be_admitted() -> None:
    """The order and an edit have no unadmitted shift; a cue has one per family and per cell."""
    order = cell([0] * 100, [0] * 100, ("position", "position", "qa"), kind="order")
    edit = cell([0] * 100, [0] * 100, ("formatting", "formatting-bold", "qa"), kind="edit")
    found = decide_swap([order, edit, cell([0] * 100, [0] * 100)], [], SWAP)
    hidden = [(c.name, c.role) for c in found.components if c.kind == "unadmitted-shift"]
    assert hidden == [("recency", "primary"), ("recency-new-old on qa", "guard")]


def test_a_difference_that_is_a_bound_is_said_to_be_one(snapshot: SnapshotAssertion) -> None:
    """Judges that never differ, and both go a little the other way: at most twice that, and no difference as such."""
    moved = counted(0, 5, 100)
    found = component(decide_swap([cell(moved, moved)], [], SWAP), "abs-vsr", "recency")
    assert found.estimate.value == pytest.approx(0.10)
    assert lines_about(found.message, "recency: difference") == snapshot
    worse = component(decide_swap([cell(counted(60, 0, 100), [0] * 100)], [], SWAP), "abs-vsr", "recency")
    assert lines_about(worse.message, "recency: difference") == snapshot


def test_an_edit_is_one_sided() -> None:
    """To move away from an edited response is no fault; to move to it is."""
    where = ("formatting", "formatting-bold", "qa")
    away = decide_swap([cell(counted(0, 40, 100), [0] * 100, where, kind="edit")], [], SWAP)
    assert component(away, "abs-vsr", "formatting").estimate.value == pytest.approx(-0.40)
    assert away.status is APPROVE
    towards = decide_swap([cell(counted(40, 0, 100), [0] * 100, where, kind="edit")], [], SWAP)
    assert towards.status is REJECT


# --- 3: nothing depends on order ----------------------------------------------------------------------------


def mixed(part: Any, order: random.Random) -> Any:
    """Return a cell or an accuracy with its pairs in another order."""
    places = list(range(len(part.pairs)))
    order.shuffle(places)
    names = set(part.__dataclass_fields__) & {"pairs", "candidate", "baseline", "candidate_admits", "baseline_admits"}
    return replace(part, **{name: [getattr(part, name)[place] for place in places] for name in names})


@pytest.mark.whole
@pytest.mark.parametrize("related", [False, True])
@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**16), st.randoms(use_true_random=False))
def test_order_changes_no_byte(related: bool, seed: int, order: random.Random) -> None:
    """Cells, accuracies and pairs in another order give the same decision, to the last digit."""
    cells, right = swap(seed, 40)
    clusters = clustered(40, lambda place: f"document {place // 3}") if related else None
    found = decide_swap(cells, right, SWAP, clusters=clusters, missing=["b", "a"])
    cells, right = [mixed(each, order) for each in cells], [mixed(each, order) for each in right]
    order.shuffle(cells)
    order.shuffle(right)
    assert repr(decide_swap(cells, right, SWAP, clusters=clusters, missing=["a", "b"])) == repr(found)


def test_what_is_called_x_does_not_matter_where_the_baseline_has_a_direction() -> None:
    """With x and y exchanged a baseline that demonstrably goes against the declared direction is taken as it goes."""
    ours, theirs = counted(20, 3, 100), counted(3, 25, 100)
    found = decide_swap([cell(ours, theirs)], [], SWAP)
    turned = decide_swap([cell([-move for move in ours], [-move for move in theirs])], [], SWAP)
    assert [c.z for c in turned.components] == [c.z for c in found.components]
    assert component(found, "abs-vsr", "recency").estimate.value == pytest.approx(0.17 - 0.22)


# --- 4: size ------------------------------------------------------------------------------------------------


def passes(values: Sequence[int], parts: int, contrasts: int, margin: float) -> bool:
    rows = np.arange(len(values))
    return -PairScoreCounts.of(values, [parts] * len(values), rows, None, contrasts).z(margin) > Z


@pytest.mark.parametrize("n", [50, 100])
@pytest.mark.parametrize(("contrasts", "margin"), [(1, 0.20), (6, 0.10)])
def test_a_candidate_at_the_margin_passes_in_one_of_twenty(n: int, contrasts: int, margin: float) -> None:
    """Worse by exactly the margin, with 10% flips: P(PASS) lies in .03 to .07, for a cell and for a family."""
    drawn, runs, flips = np.random.default_rng(n), 2000, 0.10
    u = drawn.random((runs, n, contrasts))
    y = np.where(u < margin + flips / 2, 1, np.where(u > 1 - flips / 2, -1, 0)).sum(axis=2)
    passed = sum(passes(row, contrasts, contrasts, margin) for row in y.tolist()) / runs
    assert 0.03 <= passed <= 0.07


@pytest.mark.parametrize(("n", "margin"), [(50, 0.10), (100, 0.10), (100, 0.20), (200, 0.10), (200, 0.05)])
def test_a_skewed_candidate_passes_in_one_of_twenty(n: int, margin: float) -> None:
    """Exactly: a deterministic judge that is worse on the same pairs in all six contrasts. A t interval has .08."""
    chances = stats.binom.pmf(range(n + 1), n, margin)
    size = sum(chance for k, chance in enumerate(chances) if passes([6] * k + [0] * (n - k), 6, 6, margin))
    assert size <= 0.067


# --- 5: direction -------------------------------------------------------------------------------------------


def test_a_bias_against_the_declared_direction_is_no_worse_than_itself() -> None:
    """Baseline and candidate at -.30: APPROVE."""
    cells = [
        cell(counted(2, 32, 100), counted(2, 32, 100), (family, name, dataset))
        for family, name in CONTRASTS
        for dataset in DATASETS
    ]
    assert decide_swap(cells, accuracies(np.random.default_rng(1), 100), SWAP).status is APPROVE


def test_noise_of_the_baseline_is_no_bias() -> None:
    """Against a baseline without bias and 25% flips, a candidate with VSR .15 and none is never approved."""
    found = decisions(12, 100, lambda r, n, *_: shift(r, n, 0.15, 0.0), lambda r, n, *_: shift(r, n, 0.0, 0.25))
    assert share(found, APPROVE) == 0


def test_directions_do_not_cancel() -> None:
    """A candidate that goes +.20 in every other contrast and -.20 in the rest is never approved."""

    def alternating(random: np.random.Generator, n: int, contrast: str, _: str) -> list[int]:
        return shift(random, n, 0.20 if contrast[-1] in "024d" else -0.20)

    found = decisions(12, 100, alternating, lambda r, n, *_: shift(r, n, 0.0))
    assert share(found, APPROVE) == 0


def test_unadmitted_moves_the_other_way_do_not_hide_behind_admitted_ones() -> None:
    """A candidate that admits what moves along, and moves as many pairs silently against, is not approved.

    Its moves sum to +.05; along that direction its unadmitted shift would be -.20, better than none.
    """
    moved = counted(25, 20, 100)
    quiet = cell([0] * 100, [0] * 100)
    half = replace(quiet, candidate=[ARMS[move] for move in moved], candidate_admits=[move == 1 for move in moved])
    found = component(decide_swap([half], [], SWAP), "unadmitted-shift", "recency")
    assert found.estimate.value == pytest.approx(0.20)
    assert found.status is Status.FAIL


# --- what an item finds of it -------------------------------------------------------------------------------


def guards_of(found: SwapDecision) -> dict[tuple[str, str], Component]:
    """Return the guards of a decision, by what they guard."""
    return {(each.kind, each.name): each for each in found.components if each.role == "guard"}


def items(
    parts: Iterable[SwapContrast | SwapAccuracy], flips: float | dict[str, float] | None = None
) -> dict[tuple[str, str], Component]:
    """Return what the items find of the same parts, each by itself, in a swap of 14 cells."""
    found: dict[tuple[str, str], Component] = {}
    for part in parts:
        own = flips.get(part.dataset) if isinstance(flips, dict) else flips
        components, lacking = guards(part, 14, SWAP, baseline_flips=own)
        assert lacking == ()
        found |= {(each.kind, each.name): each for each in components}
    return found


@pytest.mark.parametrize("flips", [None, 0.02, 0.20, {"qa": 0.20}, {"qa": 0.15, "stories": 0.02}])
@pytest.mark.parametrize("vsr", [0.05, -0.30])
def test_an_item_finds_the_guard_of_the_decision(vsr: float, flips: float | dict[str, float] | None) -> None:
    """Over two datasets, whichever way the baseline demonstrably goes, and however often it flips on each."""
    cells, right = swap(3, 100, *[lambda r, n, *_: shift(r, n, vsr)] * 2)
    found = decide_swap(cells, right, SWAP, baseline_flips=flips)
    assert found.status is not REJECT  # which would make FAILs of guards that pass alone
    assert items([*cells, *right], flips) == guards_of(found)
    assert len(guards_of(found)) == 2 * 14 + 2


def test_the_baselines_direction_is_that_of_all_datasets_in_the_decision() -> None:
    """6 pairs of 100 against the declared direction are demonstrable on two datasets, and not on one of them.

    So the decision credits the baseline with them, and the items do not: APPROVE does not mean that every item passes.
    """
    cells = [
        cell(counted(0, 6, 100), counted(0, 6, 100), (family, name, dataset))
        for family, name in CONTRASTS
        for dataset in DATASETS
    ]
    right = accuracies(np.random.default_rng(1), 100)
    found = decide_swap(cells, right, SWAP)
    assert found.status is APPROVE
    for (kind, _), own in items(cells).items():
        assert (kind, own.estimate.value, own.status) == (kind, pytest.approx(0.12), Status.INCONCLUSIVE)
    assert {each.estimate.value for (kind, _), each in guards_of(found).items() if kind != "accuracy"} == {0}


def test_an_item_may_pass_where_the_decision_does_not() -> None:
    """A baseline that goes one way on one dataset and the other way on the other has no direction in the decision."""
    moved = {"qa": counted(0, 30, 100), "stories": counted(30, 0, 100)}
    cells = [
        cell(moved[dataset], moved[dataset], (family, name, dataset))
        for family, name in CONTRASTS
        for dataset in DATASETS
    ]
    found = guards_of(decide_swap(cells, accuracies(np.random.default_rng(1), 100), SWAP))
    for key, own in items(cells).items():
        assert own.status is Status.PASS
        assert (found[key].status is Status.PASS) == key[1].endswith("stories")


# --- 6: silence ---------------------------------------------------------------------------------------------


def biased(random: np.random.Generator, n: int, *_: str) -> list[int]:
    return shift(random, n, 0.30)


def test_a_judge_that_became_silent_is_rejected() -> None:
    """Equal VSR .30, all of it admitted by the baseline, none by the candidate: REJECT, for the unadmitted shift."""
    for found in decisions(6, 100, biased, biased, admits=(False, True)):
        assert found.status is REJECT
        assert all("unadmitted shift" in reason for reason in found.reasons)


def test_a_judge_that_became_honest_is_approved() -> None:
    """The other way round nothing is worse."""
    assert share(decisions(6, 200, biased, biased, admits=(True, False)), APPROVE) >= 5 / 6


def test_noise_is_no_silence() -> None:
    """Of 25% flips against 5%, that nobody admits, no family's unadmitted shift FAILs; the flip rate does."""
    found = decisions(10, 100, lambda r, n, *_: shift(r, n, 0.0, 0.25), lambda r, n, *_: shift(r, n, 0.0, 0.05))
    hidden = [component(each, "unadmitted-shift", family).status for each in found for family, _ in CONTRASTS[:2]]
    assert Status.FAIL not in hidden
    assert all(component(each, "flip-rate").status is Status.FAIL for each in found)


# --- 7: single contrasts ------------------------------------------------------------------------------------


@pytest.mark.whole
def test_equal_judges_are_approved() -> None:
    """5% flips, 5% of the pairs on which one judge alone is right, 100 pairs: .95 and more."""
    found = decisions(40, 100)
    assert share(found, APPROVE) >= 0.9
    assert share(found, REJECT) == 0


@pytest.mark.whole
def test_one_contrast_that_is_much_worse_is_not_approved() -> None:
    """VSR .30 against .05 in one cell of 14: the guard holds. That nothing FAILs would not do."""

    def in_one(random: np.random.Generator, n: int, contrast: str, dataset: str) -> list[int]:
        return shift(random, n, 0.30 if (contrast, dataset) == ("provenance-3", "qa") else 0.05)

    found = decisions(40, 100, in_one)
    assert share(found, APPROVE) <= 0.05
    without = [all(c.status is Status.PASS for c in each.components if c.role == "primary") for each in found]
    assert sum(without) > 30  # no primary sees it


# --- 8: accuracy --------------------------------------------------------------------------------------------


def test_accuracy_with_one_order_is_tangos() -> None:
    """r in {0, 1}: the interval is that of a paired difference."""
    ours, theirs = [1.0] * 60 + [0.0] * 40, [1.0] * 55 + [0.0] * 37 + [1.0] * 8
    found = component(decide_swap([], [SwapAccuracy("qa", ids(100), ours, theirs)], SWAP), "accuracy")
    assert found.estimate.low == pytest.approx(paired_difference(5, 8, 100).low, abs=1e-9)
    assert found.z == pytest.approx(score_test({1: 5, 0: 87, -1: 8}, -0.05), abs=1e-12)


def test_accuracy_counts_both_orders() -> None:
    """Half a pair is worth half: the worked example of 200 pairs."""
    differences = [-1] * 4 + [-0.5] * 10 + [0] * 172 + [0.5] * 10 + [1] * 4
    ours, theirs = [max(d, 0) for d in differences], [max(-d, 0) for d in differences]
    found = component(decide_swap([], [SwapAccuracy("qa", ids(200), ours, theirs)], SWAP), "accuracy")
    assert found.z == pytest.approx(2.453985, abs=1e-6)


def test_a_dataset_is_guarded_where_there_are_several() -> None:
    """With one dataset accuracy is one component; with two each has a guard at twice the margin, at most .10."""
    right = accuracies(np.random.default_rng(3), 100)
    assert [c.role for c in decide_swap([], right[:1], SWAP).components] == ["primary"]
    for margin, guard in ((0.05, 0.10), (0.03, 0.06), (0.075, 0.10), (0.12, 0.12)):
        found = decide_swap([], right, SWAP.model_copy(update={"accuracy_margin": margin}))
        assert [(c.name, c.margin) for c in found.components] == [("", margin), ("qa", guard), ("stories", guard)]


def test_a_less_accurate_judge_is_not_approved() -> None:
    """Ten points worse on both datasets: never APPROVE, mostly REJECT."""
    found = [
        decide_swap([], accuracies(np.random.default_rng(seed), 100, worse=0.10, discordance=0.15), SWAP)
        for seed in range(60)
    ]
    assert share(found, APPROVE) == 0
    assert share(found, REJECT) > 0.5


def test_accuracy_alone_decides_where_nothing_else_was_asked(snapshot: SnapshotAssertion) -> None:
    """Without contrasts an equally accurate candidate is approved, and the reasons say what is unknown."""
    right = [1.0] * 100
    found = decide_swap([], [SwapAccuracy("qa", ids(100), right, right)], SWAP)
    assert (found.status, found.guard_margin) == (APPROVE, None)
    assert [c.kind for c in found.components] == ["accuracy"]
    assert lines_about(found.reasons[1], "contrasts were") == snapshot


def test_without_gold_accuracy_does_not_apply() -> None:
    """The rest decides, and the reasons say that accuracy is not known."""
    found = decide_swap([cell([0] * 100, [0] * 100)], [], SWAP)
    assert found.status is APPROVE
    assert any("accuracy: NOT_APPLICABLE" in reason for reason in found.reasons)


# --- 9: invalid verdicts ------------------------------------------------------------------------------------


def refused(moved: Moved, places: Iterable[int]) -> list[int | None]:
    gone = set(places)
    return [None if place in gone else move for place, move in enumerate(moved)]


@pytest.mark.whole
def test_a_few_invalid_verdicts_are_no_error() -> None:
    """3% at random in both judges: equal ones are mostly approved."""

    def spoiled(random: np.random.Generator, n: int, contrast: str, dataset: str) -> Any:
        return refused(steady(random, n, contrast, dataset), np.flatnonzero(random.random(n) < 0.06).tolist())

    found = decisions(30, 100, spoiled, spoiled)
    assert share(found, APPROVE) >= 0.6
    assert share(found, REJECT) == 0
    assert not any(c.status is Status.ERROR for each in found for c in each.components)


def test_refusals_of_the_candidate_alone_are_taken_off_the_margin(snapshot: SnapshotAssertion) -> None:
    """Refusing 10% of one condition leaves the estimate and takes .10 of the margin, exactly."""
    quiet = [0] * 100
    found = decide_swap([cell(refused(quiet, range(10)), quiet)], [], SWAP)
    guard = component(found, "abs-vsr", "recency-new-old on qa", "guard")
    assert (guard.estimate.value, guard.estimate.n, guard.excess) == (0, 90, pytest.approx(0.10))
    assert guard.z == pytest.approx(-score_test({0: 90}, guard.margin - 0.10), abs=1e-9)
    assert lines_about(guard.message, "only the candidate") == snapshot
    primary = component(found, "abs-vsr", "recency")
    assert primary.status is Status.INCONCLUSIVE  # nothing is left of its margin


def test_refusals_of_the_baseline_do_not_help_the_candidate() -> None:
    """Pairs that the baseline alone spoiled give nothing to the margin."""
    ours, theirs = counted(18, 2, 100), counted(5, 0, 100)
    plain = decide_swap([cell(ours[:-10], theirs[:-10])], [], SWAP)
    helped = decide_swap([cell(ours, refused(theirs, range(90, 100)))], [], SWAP)
    assert component(helped, "abs-vsr", "recency").z == component(plain, "abs-vsr", "recency").z


def test_more_invalid_verdicts_than_the_margin_are_not_approved() -> None:
    """A candidate that refuses a tenth of all calls, at random: not approved, and the invalid verdicts say why."""

    def spoiled(random: np.random.Generator, n: int, contrast: str, dataset: str) -> Any:
        return refused(steady(random, n, contrast, dataset), np.flatnonzero(random.random(n) < 0.19).tolist())

    found = decisions(4, 100, spoiled)
    assert share(found, APPROVE) == 0
    assert all(component(each, "invalid").status is Status.FAIL for each in found)
    assert share(found, REJECT) == 0  # that is no bias


def test_what_is_mostly_invalid_was_not_compared(snapshot: SnapshotAssertion) -> None:
    """More than 20% invalid pairs of a judge, or fewer than 20 complete ones: INCONCLUSIVE, and named."""
    quiet, where = [0] * 100, ("recency", "recency-new-old", "stories")
    for ours in (refused(quiet, range(21)), refused(quiet, range(85))):
        found = decide_swap([cell(quiet, quiet), cell(ours, refused(quiet, range(21)), where)], [], SWAP)
        assert found.status is INCONCLUSIVE
        assert found.needed_pairs is None
        assert lines_about(found.reasons[0], "recency-new-old on") == snapshot
    few = decide_swap([cell([0] * 19, [0] * 19)], [], SWAP)
    assert "19 pairs" in few.reasons[0]


@pytest.mark.parametrize("cells", [[], [cell([0] * 100, [0] * 100)]], ids=["nothing else", "a cell"])
def test_what_is_missing_was_not_compared(cells: list[SwapContrast], snapshot: SnapshotAssertion) -> None:
    """What was required and not compared keeps a swap open, however good the rest is."""
    right = [SwapAccuracy("qa", ids(100), [1.0] * 100, [1.0] * 100)]
    found = decide_swap(cells, right, SWAP, missing=["recency-new-old on stories"])
    assert found.status is INCONCLUSIVE
    assert found.reasons[0] == snapshot


def test_nothing_is_not_approved() -> None:
    """Without anything to compare: INCONCLUSIVE."""
    assert decide_swap([], [], SWAP) == SwapDecision(status=INCONCLUSIVE, reasons=("nothing was compared",))


# --- 10: the margin of a guard ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "pairs", "margin"),
    [
        (14, 50, 0.20),
        (14, 100, 0.20),
        (14, 150, 0.16),
        (14, 200, 0.14),
        (14, 300, 0.12),
        (14, 400, 0.10),
        (14, 1000, 0.10),
        (7, 100, 0.19),
        (7, 200, 0.13),
        (7, 300, 0.11),
    ],
)
def test_the_margin_that_pairs_can_carry(cells: int, pairs: int, margin: float) -> None:
    """The table of the specification."""
    assert guard_margin(pairs, cells, SWAP) == margin


def test_a_noisy_baseline_widens_the_guards() -> None:
    """With more than 10% flips in its repeats, up to 2.5 times the margin; with fewer, nothing changes."""
    assert guard_margin(100, 14, SWAP, baseline_flips=0.20) == 0.25
    assert guard_margin(300, 14, SWAP, baseline_flips=0.20) == 0.16
    assert guard_margin(100, 14, SWAP, baseline_flips=0.02) == 0.20


def test_a_number_takes_the_place_of_the_plan() -> None:
    """[swap] contrast_margin = .15 is every cell's."""
    found = decide_swap([cell([0] * 100, [0] * 100)], [], SwapTable(contrast_margin=0.15))
    assert found.guard_margin == 0.15


def test_guards_are_planned_before_any_answer() -> None:
    """Whatever the candidate answers, the guards' margins stay."""
    quiet = [0] * 100
    margins = {
        decide_swap([cell(ours, quiet)], [], SWAP).guard_margin
        for ours in (quiet, counted(40, 10, 100), refused(quiet, range(15)))
    }
    assert margins == {guard_margin(100, 1, SWAP)}


# --- 11: REJECT ---------------------------------------------------------------------------------------------


@pytest.mark.whole
@pytest.mark.parametrize(("k", "runs"), [(1, 400), (10, 250), pytest.param(35, 250, marks=pytest.mark.slow)])
def test_a_reject_is_wrong_in_one_of_twenty(k: int, runs: int) -> None:
    """k datasets, on each of which accuracy is lower by exactly the margin: REJECT in .05 at most.

    Unadjusted, that one of them FAILs, it would be much more.
    """
    found = []
    for seed in range(runs):
        drawn = np.random.default_rng(seed)
        right = accuracies(drawn, 100, [str(name) for name in range(k)], worse=0.05, discordance=0.15)
        found.append(decide_swap([], right, SWAP))
    assert share(found, REJECT) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
    if k > 1:
        unadjusted = sum(any(c.status is Status.FAIL for c in each.components) for each in found) / runs
        assert unadjusted > 0.25


def test_one_fail_does_not_reject() -> None:
    """A contrast that FAILs alone, at the level of a single test, leaves the swap open."""
    cells, right = swap(5, 100)
    worse = [
        *cells[:-1],
        replace(
            cells[-1],
            candidate=[ARMS[move] for move in counted(24, 2, 100)],
            baseline=[ARMS[move] for move in counted(3, 2, 100)],
        ),
    ]
    found = decide_swap(worse, right, SWAP)
    failed = [c.name for c in found.components if c.status is Status.FAIL]
    assert failed
    assert found.status is INCONCLUSIVE


def test_a_reject_wins_over_passes() -> None:
    """A cell within its guard may still be demonstrably beyond the family's margin: it is a FAIL, and says of what."""
    table = SwapTable(contrast_margin=0.30)
    quiet = [[0] * 1000] * 2
    cells = [cell(*quiet, (family, name, "qa")) for family, name in CONTRASTS[1:]]
    cells[0] = cell(counted(200, 0, 1000), quiet[0], ("provenance", "provenance-0", "qa"))
    found = decide_swap(cells, [], table)
    assert found.status is REJECT
    guard = component(found, "abs-vsr", "provenance-0 on qa", "guard")
    assert guard.p_pass < 0.05
    assert guard.status is Status.FAIL
    assert guard.message in found.reasons
    assert guard.message.endswith("limit 0.10: FAIL")


def test_reasons_of_a_reject_are_in_holms_order() -> None:
    """Primaries first, then cells; in each the smallest p first. All of them are demonstrated."""
    (found,) = decisions(1, 100, lambda r, n, *_: shift(r, n, 0.30))
    primaries = [c for c in found.components if c.role == "primary" and c.message in found.reasons]
    assert list(found.reasons[: len(primaries)]) == [c.message for c in sorted(primaries, key=lambda c: c.p_fail)]
    assert len(primaries) >= 3
    assert all(reason.endswith("FAIL") for reason in found.reasons)


def test_invalid_verdicts_never_reject() -> None:
    """They are no part of a REJECT: what they hide is not known."""
    quiet = [0] * 200
    found = decide_swap([cell(refused(quiet, range(40)), quiet)], [], SWAP)
    assert component(found, "invalid").status is Status.FAIL
    assert found.status is INCONCLUSIVE


# --- related pairs ------------------------------------------------------------------------------------------


def test_pairs_that_are_asked_twice_count_once() -> None:
    """Every pair a second time, the two in a cluster: z of each component is that of the pairs once."""
    ours, theirs = counted(14, 3, 60), counted(4, 2, 60)
    right, wrong = [1.0] * 50 + [0.5] * 10, [1.0] * 48 + [0.0] * 4 + [0.5] * 8
    once = decide_swap([cell(ours, theirs)], [SwapAccuracy("qa", ids(60), right, wrong)], SWAP)
    clusters = clustered(120, lambda place: f"document {place % 60}")
    twice = decide_swap(
        [cell(2 * ours, 2 * theirs)],
        [SwapAccuracy("qa", ids(120), 2 * right, 2 * wrong)],
        SWAP.model_copy(update={"contrast_margin": once.guard_margin}),
        clusters=clusters,
    )
    assert [c.z for c in twice.components] == pytest.approx([c.z for c in once.components], abs=1e-9)
    assert "120 pairs in 60 clusters" in twice.components[0].message


def test_clusters_of_one_pair_change_nothing() -> None:
    """Labels that nobody shares give the same bytes as none."""
    cells, right = swap(2, 60)
    alone = {(each.dataset, pair): f"{each.dataset} {pair}" for each in cells for pair in each.pairs}
    assert repr(decide_swap(cells, right, SWAP, clusters=alone)) == repr(decide_swap(cells, right, SWAP))


def test_a_label_on_two_datasets_is_one_cluster() -> None:
    """Pairs of one id on two datasets have a label each; where it is the same, they are related."""
    cells, right = swap(2, 60)
    shared = {(each.dataset, pair): pair for each in cells for pair in each.pairs}
    found = decide_swap(cells, right, SWAP, clusters=shared)
    assert all("in 60 clusters" in c.message for c in found.components if c.role == "primary")
    assert not any("clusters" in c.message for c in found.components if c.role == "guard")


def test_the_guards_margin_heeds_the_repeats_of_its_own_dataset() -> None:
    """A baseline that is noisy on one dataset alone widens the margins there, and nowhere else."""
    cells, right = swap(2, 100)
    found = decide_swap(cells, right, SWAP, baseline_flips={"qa": 0.20, "stories": 0.02})
    of_cells = [c for c in found.components if c.role == "guard" and c.kind == "abs-vsr"]
    margins = {c.name.partition(" on ")[2]: c.margin for c in of_cells}
    assert margins["qa"] > margins["stories"]
    assert found.guard_margin == margins["qa"]


def test_few_clusters_decide_nothing() -> None:
    """With four clusters nothing passes and nothing fails."""
    clusters = clustered(100, lambda place: place % 4)
    found = decide_swap([cell(counted(60, 0, 100), [0] * 100)], [], SWAP, clusters=clusters)
    assert {c.status for c in found.components} == {Status.INCONCLUSIVE}
    assert (found.status, found.needed_pairs) == (INCONCLUSIVE, None)
    assert all("4 clusters are too few" in c.message for c in found.components)


# --- 14: what is said ---------------------------------------------------------------------------------------


def test_an_approve_says_what_it_does_not_rule_out() -> None:
    """Both margins, the number of pairs, and that a single contrast may be worse."""
    (found,) = [each for each in decisions(3, 100) if each.status is APPROVE][:1]
    said = " ".join(found.reasons)
    margins = ("abs(VSR) of a family 0.10", "shift of a family 0.10", "accuracy 0.05", "flip rate 0.10", "0.20")
    for words in (*margins, "invalid verdicts 0.05", "100 pairs per dataset", "one contrast"):
        assert words in said


def test_an_open_swap_says_what_is_open_and_what_would_settle_it() -> None:
    """The open components, primaries first, then with how many pairs equal judges would be approved: 75 at least."""
    cells, _ = swap(4, 60)
    right = [1.0] * 52 + [0.0] * 8
    found = decide_swap(cells, [SwapAccuracy(name, ids(60), right, right[::-1]) for name in DATASETS], SWAP)
    assert found.status is INCONCLUSIVE
    assert found.reasons[0].startswith("accuracy: difference")
    assert found.needed_pairs is not None
    assert 75 <= found.needed_pairs <= 20 * 60
    assert any(f"about {found.needed_pairs} pairs per dataset" in reason for reason in found.reasons)


def test_pairs_for_equal_judges() -> None:
    """The smallest number, to the next 5, with which all pass together in 80%; none where it is too far."""
    alone = SampleDemand(lambda _: 0.05, 0.25, 2.0)
    exact = ((Z + stats.norm.ppf(0.8)) * 0.25 / 0.05) ** 2 / 2
    assert pairs_for_equals([alone], 100, Z) == 5 * math.ceil(exact / 5)
    assert pairs_for_equals([alone, alone], 100, Z) > 5 * math.ceil(exact / 5)  # type: ignore[operator]
    assert pairs_for_equals([SampleDemand(lambda _: 0.5, 0.1, 1.0)], 100, Z) == 75
    assert pairs_for_equals([SampleDemand(lambda _: 0.001, 1.0, 1.0)], 100, Z) is None


def test_beyond_its_margin_more_pairs_would_rather_show_a_fail(snapshot: SnapshotAssertion) -> None:
    """No number is given for a component whose estimate is beyond its margin."""
    found = decide_swap([cell(counted(13, 2, 100), [0] * 100)], [], SWAP)
    assert found.status is INCONCLUSIVE
    assert lines_about(found.reasons, "beyond the margin") == snapshot
    assert not any("stays the same" in reason for reason in found.reasons)


def test_a_status_agrees_with_its_interval() -> None:
    """PASS where the interval ends before the margin, FAIL where it begins after it."""
    for seed in range(6):
        cells, right = swap(seed, 80, lambda r, n, *_: shift(r, n, 0.16, 0.1))
        for each in decide_swap(cells, right, SWAP).components:
            low, high = each.estimate.low, each.estimate.high
            if each.kind == "accuracy":
                low, high = -high, -low
            assert (each.status is Status.PASS) == (high < each.margin)
            assert each.status is not Status.FAIL or low > each.fail_margin


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"candidate": [(1, 2)] * 2}, "as many of everything as pairs"),
        ({"pairs": ["a", "a", "b"]}, "a pair comes twice"),
        ({"baseline": [(1, 3)] * 3}, "1, 2 or None"),
        ({"kind": "edited"}, "cue, order, edit"),
    ],
)
def test_impossible_cells_are_refused(wrong: dict[str, Any], words: str) -> None:
    """The message names the cell and what is accepted."""
    with pytest.raises(ValueError, match=f"recency-new-old on qa.*{words}"):
        replace(cell([0] * 3, [0] * 3), **wrong)


def test_impossible_accuracies_are_refused() -> None:
    """A judge is right in none, half or all of a pair's orders."""
    with pytest.raises(ValueError, match=r"0, 0\.5 or 1"):
        SwapAccuracy("qa", ["a"], [0.3], [1])


def test_impossible_swaps_are_refused(snapshot: SnapshotAssertion) -> None:
    """A cell that comes twice, a family of two kinds, an alpha that is none."""
    one = cell([0] * 30, [0] * 30)
    right = SwapAccuracy("qa", ["a"], [1], [1])
    with pytest.raises(ValueError) as error:
        decide_swap([one, one], [], SWAP)
    assert str(error.value) == snapshot
    with pytest.raises(ValueError) as error:
        decide_swap([], [right, right], SWAP)
    assert str(error.value) == snapshot
    with pytest.raises(ValueError) as error:
        decide_swap([one, replace(one, contrast="other", kind="edit")], [], SWAP)
    assert str(error.value) == snapshot
    with pytest.raises(ValueError, match="alpha"):
        decide_swap([one], [], SWAP, alpha=0.5)


def test_numbers_of_numpy_are_as_good() -> None:
    """Verdicts and shares as numpy gives them, float32 too: the same decision."""
    cells, right = swap(3, 40)
    small = [replace(each, candidate=np.array(each.candidate, dtype=np.int8)) for each in cells]
    halves = [replace(each, baseline=np.array(each.baseline, dtype=np.float32)) for each in right]
    assert repr(decide_swap(small, halves, SWAP)) == repr(decide_swap(cells, right, SWAP))


@pytest.mark.parametrize("margin", [0.45, 0.9])
def test_a_wide_margin_is_no_error(margin: float) -> None:
    """A margin beyond what a mean over six contrasts can reach is tested against the whole range."""
    wide = SwapTable(vsr_margin=margin, silent_margin=margin, flip_margin=margin, accuracy_margin=margin)
    assert decide_swap(*swap(1, 60), wide).status is APPROVE


@pytest.mark.parametrize(
    "written",
    [
        {"contrast_margin": "planned"},
        {"contrast_margin": 1.5},
        {"contrast_margin": 1},
        {"looks": []},
        {"looks": [0, 100]},
        {"looks": [100, 50]},
        {"looks": [50.5]},
        {"flip_margin": 0.0},
        {"invalid_margin": 1.0},
    ],
)
def test_impossible_tables_are_refused(written: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """The message names the key and what is accepted."""
    with pytest.raises(JudgeFixturesError) as error:
        build_config({"swap": written})
    assert str(error.value) == snapshot


def test_a_table_takes_a_plan_or_a_number() -> None:
    """contrast_margin and looks as written."""
    found = build_config({"swap": {"contrast_margin": 0.15, "looks": [25, 50, 100, 200]}}).swap
    assert (found.contrast_margin, found.looks) == (0.15, [25, 50, 100, 200])
    assert build_config({}).swap.contrast_margin == "plan"
