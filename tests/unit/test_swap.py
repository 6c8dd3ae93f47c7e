"""Candidate against baseline: each comparison held against a second implementation, the decision against its rule."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from judgefixtures.config import GateTable, SwapTable
from judgefixtures.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, contrasts, other_contrasts
from judgefixtures.judges import Reply
from judgefixtures.judgments import Judgment
from judgefixtures.pairs import Pair
from judgefixtures.statistics import (
    LARGEST_ADVICE,
    Status,
    bare,
    gate_abs_shift,
    gate_non_inferiority,
    paired_difference,
)
from judgefixtures.swap import (
    SHOWN_REASONS,
    Comparison,
    SwapDecision,
    SwapStatus,
    agreement,
    compare_accuracy,
    compare_contrast,
    compare_right,
    compare_shift,
    compare_silent,
    decide,
)
from judgefixtures.verdicts import Verdict

REPOSITORY = Path(__file__).parents[2]
CONTRAST = contrasts("recency")[0]
SWAP, GATE = SwapTable(), GateTable()
MARGIN, ALPHA = 0.10, 0.05
DECIDING = ("accuracy", "abs-vsr", "silent-shift-rate")
ADMITS = "I prefer it because it was written recently."
PASS, FAIL, INCONCLUSIVE = Status.PASS, Status.FAIL, Status.INCONCLUSIVE

Choice = Literal[1, 2] | None
Moves = tuple[list[int], list[int]]

brief = settings(deadline=None, max_examples=60)


def counted(along: int, against: int, n: int) -> list[int]:
    """Return how n pairs moved: so many along the expected direction, so many against it."""
    return [1] * along + [-1] * against + [0] * (n - along - against)


@st.composite
def moves(draw: st.DrawFn, largest: int = 120) -> Moves:
    """Which way the same pairs moved for candidate and baseline: any shares of +1, 0 and -1, in any order."""
    n = draw(st.integers(1, largest))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    drawn = []
    for _ in range(2):
        shares = np.array(draw(st.tuples(*[st.integers(0, 10)] * 3)), dtype=float) + 1e-9
        drawn.append(random.choice([1, 0, -1], n, p=shares / shares.sum()).tolist())
    return drawn[0], drawn[1]


# --- abs(VSR) ---------------------------------------------------------------------------------------------


SIGNS = (1, -1)


def second_opinion(candidate: Sequence[int], baseline: Sequence[int], margin: float) -> dict[str, float]:
    """Return both p-values, from scipy's t tests: for each sign that the baseline's bias may have, and the candidate's.

    PASS is along the declared sign at alpha, or along the other one at a tenth of it; FAIL is along both.
    """

    def p_value(ours: int, theirs: int, alternative: str) -> float:
        scores = np.append(ours * np.array(candidate) - theirs * np.array(baseline), [1, -1]).astype(float)
        return float(stats.ttest_1samp(scores, margin, alternative=alternative).pvalue)

    declared, other = (max(p_value(ours, theirs, "less") for ours in SIGNS) for theirs in SIGNS)
    worse = min(max(p_value(ours, theirs, "greater") for theirs in SIGNS) for ours in SIGNS)
    return {"p_pass": min(declared, 10 * other), "p_fail": worse}


@brief
@given(moves(), st.floats(0.02, 0.5))
@example((counted(30, 0, 100), counted(5, 0, 100)), MARGIN)
@example((counted(0, 30, 100), counted(5, 0, 100)), MARGIN)
@example((counted(0, 30, 100), counted(0, 30, 100)), MARGIN)
@example((counted(0, 0, 100), counted(0, 0, 100)), MARGIN)
def test_the_gate_of_abs_vsr_is_t_tests(drawn: Moves, margin: float) -> None:
    """Both p-values are scipy's, over the scores with +1 and -1 added."""
    result, expected = gate_abs_shift(*drawn, margin, ALPHA), second_opinion(*drawn, margin)
    assert result.p_pass == pytest.approx(expected["p_pass"], abs=1e-9)
    assert result.p_fail == pytest.approx(expected["p_fail"], abs=1e-9)


@brief
@given(moves())
@example((counted(0, 30, 100), counted(0, 12, 100)))
def test_the_difference_of_abs_vsr_is_what_is_shown(drawn: Moves) -> None:
    """The estimate is abs(VSR) of the candidate less that of the baseline, with the t interval of its scores."""
    candidate, baseline = map(np.array, drawn)
    estimate = gate_abs_shift(*drawn, MARGIN, ALPHA).estimate
    assert estimate.value == pytest.approx(abs(candidate.mean()) - abs(baseline.mean()), abs=1e-9)
    assert (estimate.n, estimate.confidence) == (len(candidate), 1 - 2 * ALPHA)
    assume(candidate.sum() != 0)  # else either sign could be shown
    ours, theirs = np.sign(candidate.sum()), np.sign(baseline.sum()) or 1
    scores = np.append(ours * candidate - theirs * baseline, [1, -1]).astype(float)
    low, high = stats.ttest_1samp(scores, 0).confidence_interval(1 - 2 * ALPHA)
    assert estimate.low == pytest.approx(min(max(low, -2), estimate.value), abs=1e-9)
    assert estimate.high == pytest.approx(max(min(high, 2), estimate.value), abs=1e-9)


@brief
@given(moves(), st.floats(0.02, 0.5), st.floats(0.01, 0.2))
def test_the_status_of_abs_vsr_follows_from_its_p_values(drawn: Moves, margin: float, alpha: float) -> None:
    """PASS where p_pass is below alpha, FAIL where p_fail is, INCONCLUSIVE elsewhere; and it stands in the message."""
    result = gate_abs_shift(*drawn, margin, alpha)
    expected = PASS if result.p_pass < alpha else FAIL if result.p_fail < alpha else INCONCLUSIVE
    assert result.status is expected
    assert f": {expected}" in result.message
    assert (result.needed_pairs is None) or result.status is INCONCLUSIVE


@brief
@given(moves(), st.randoms(use_true_random=False))
def test_the_order_of_pairs_does_not_matter(drawn: Moves, random: Any) -> None:
    """Pairs in another order, the same for both judges, give the same numbers."""
    pairs = list(zip(*drawn, strict=True))
    random.shuffle(pairs)
    mixed = gate_abs_shift([c for c, _ in pairs], [b for _, b in pairs], MARGIN)
    assert mixed == gate_abs_shift(*drawn, MARGIN)


@brief
@given(moves())
def test_the_direction_of_the_candidate_does_not_matter(drawn: Moves) -> None:
    """A candidate that follows the unexpected label as often is judged the same: abs(VSR) is compared."""
    candidate, baseline = drawn
    straight, turned = (
        gate_abs_shift(candidate, baseline, MARGIN),
        gate_abs_shift([-move for move in candidate], baseline, MARGIN),
    )
    assert straight.status is turned.status
    assert straight.p_pass == pytest.approx(turned.p_pass)
    assert straight.p_fail == pytest.approx(turned.p_fail)


@brief
@given(moves())
def test_a_judge_does_not_fail_against_itself(drawn: Moves) -> None:
    """A judge is no worse than itself, whichever label it follows: PASS or INCONCLUSIVE, never FAIL."""
    judge, _ = drawn
    assert gate_abs_shift(judge, judge, MARGIN).status in (PASS, INCONCLUSIVE)


@pytest.mark.parametrize("against", [12, 16, 30])
def test_a_judge_that_follows_the_unexpected_label_does_not_fail_against_itself(against: int) -> None:
    """Nor is a judge worse than itself that follows the label expected to lose in 12 of 100 pairs."""
    judge = counted(0, against, 100)
    assert gate_abs_shift(judge, judge, MARGIN).status is not FAIL


@pytest.mark.parametrize("candidate", [(0, 0), (0, 30)], ids=["unbiased", "itself"])
def test_a_judge_no_worse_than_a_baseline_of_the_other_direction_passes(candidate: tuple[int, int]) -> None:
    """Against a baseline that follows the label expected to lose in 300 of 1000 pairs, one as good or better passes."""
    ours = counted(10 * candidate[0], 10 * candidate[1], 1000)
    assert gate_abs_shift(ours, counted(0, 300, 1000), MARGIN).status is PASS


def test_no_fail_is_foretold_that_never_comes() -> None:
    """Where 100 times the pairs are no FAIL, no message says that more pairs would rather show one."""
    assert gate_abs_shift(counted(0, 1200, 10_000), counted(0, 1200, 10_000), MARGIN).status is not FAIL
    assert "FAIL" not in gate_abs_shift(counted(0, 12, 100), counted(0, 12, 100), MARGIN).message


@pytest.mark.parametrize("vsr", [-0.10, -0.05, -0.02, 0.0, 0.02, 0.10])
@pytest.mark.parametrize("n", [100, 300])
def test_a_candidate_at_the_margin_hardly_ever_passes(n: int, vsr: float) -> None:
    """A candidate worse by just the margin passes in at most 5.8% of runs, whichever way its baseline is biased."""

    def shares(shift: float) -> dict[int, float]:
        along, against = 0.025 + max(shift, 0), 0.025 + max(-shift, 0)  # 5% of the pairs flip by noise
        return {1: along, -1: against, 0: 1 - along - against}

    ours, theirs = shares(abs(vsr) + MARGIN), shares(vsr)
    both = {(c, b): ours[c] * theirs[b] for c in ours for b in theirs if (c, b) != (0, 0)}
    assert power(both, n) <= 0.058 + 0.003  # and what 40,000 draws are off by


@brief
@given(moves())
def test_an_open_one_within_the_margin_says_why(drawn: Moves) -> None:
    """No message says that the estimate is beyond the margin where it is not, or gives pairs where it is."""
    result = gate_abs_shift(*drawn, MARGIN)
    if result.status is INCONCLUSIVE:
        assert ("beyond the margin" in result.message) == (result.estimate.value >= MARGIN)
        assert result.needed_pairs is None or result.estimate.value < MARGIN


def test_a_candidate_without_bias_does_not_fail() -> None:
    """abs(VSR) = 0 is not larger than any baseline's, whichever label that one follows."""
    assert gate_abs_shift(counted(0, 0, 100), counted(0, 30, 100), MARGIN).status is not FAIL


@pytest.mark.parametrize(
    ("candidate", "baseline", "status"),
    [
        pytest.param((0, 0), (30, 0), PASS, id="better"),
        pytest.param((2, 2), (2, 2), PASS, id="equal"),
        pytest.param((5, 5), (5, 5), INCONCLUSIVE, id="equal and noisy"),
        pytest.param((30, 0), (0, 0), FAIL, id="worse"),
        pytest.param((0, 30), (0, 0), FAIL, id="worse the other way"),
        pytest.param((30, 0), (5, 0), FAIL, id="VSR .30 against .05"),
        pytest.param((0, 30), (30, 0), PASS, id="as biased, the other way"),
        pytest.param((12, 0), (2, 0), INCONCLUSIVE, id="on the margin"),
    ],
)
def test_what_abs_vsr_decides(candidate: tuple[int, int], baseline: tuple[int, int], status: Status) -> None:
    """A candidate passes that is demonstrably no worse, fails that demonstrably is, in either direction."""
    assert gate_abs_shift(counted(*candidate, 100), counted(*baseline, 100), MARGIN).status is status


@pytest.mark.parametrize(("candidate", "baseline"), [((50, 0), (0, 50)), ((0, 50), (0, 50))])
def test_an_interval_holds_its_estimate(candidate: tuple[int, int], baseline: tuple[int, int]) -> None:
    """low <= value <= high, also where the judges move every pair and the difference is beyond 1."""
    estimate = gate_abs_shift(counted(*candidate, 50), counted(*baseline, 50), MARGIN).estimate
    assert estimate.low <= estimate.value <= estimate.high


@pytest.mark.parametrize(
    ("candidate", "baseline", "margin", "alpha", "words"),
    [
        ([], [], 0.1, 0.05, "length"),
        ([0, 1], [0], 0.1, 0.05, "2, 1"),
        ([2], [0], 0.1, 0.05, "-1, 0 and 1"),
        ([0], [0.5], 0.1, 0.05, "-1, 0 and 1"),
        ([math.nan], [0], 0.1, 0.05, "-1, 0 and 1"),
        (["1"], [0], 0.1, 0.05, "-1, 0 and 1"),
        ([0], [0], math.nan, 0.05, "margin"),
        ([0], [0], 0.0, 0.05, "margin"),
        ([0], [0], 1.0, 0.05, "margin"),
        ([0], [0], 0.1, 0.5, "alpha"),
    ],
)
def test_impossible_moves_are_refused(
    candidate: list[Any], baseline: list[Any], margin: float, alpha: float, words: str
) -> None:
    """Moves of different length, moves that are none, margins and levels that are none: an error says which."""
    with pytest.raises(ValueError, match=words):
        gate_abs_shift(candidate, baseline, margin, alpha)


# --- pairs needed for abs(VSR) ------------------------------------------------------------------------------


Shares = dict[tuple[int, int], float]  # of pairs by which way candidate and baseline moved


def power(shares: Shares, size: int, draws: int = 40_000) -> float:
    """Return how often `size` pairs that move like this PASS at MARGIN, by the formula of the t tests."""
    counts = np.random.default_rng(size).multinomial(size, [*shares.values(), 1 - sum(shares.values())], draws)

    def p_values(ours: int, theirs: int) -> Any:
        scores = np.array([ours * candidate - theirs * baseline for candidate, baseline in shares] + [0])
        mean, squares = counts @ scores / (size + 2), counts @ scores**2 + 2
        error = np.sqrt((squares - (size + 2) * mean**2) / (size + 1) / (size + 2))
        return stats.t.cdf((mean - MARGIN) / error, size + 1)

    declared, other = (np.maximum(p_values(1, theirs), p_values(-1, theirs)) for theirs in SIGNS)
    return float((np.minimum(declared, 10 * other) < ALPHA).mean())


@pytest.mark.parametrize(("along", "against", "n"), [(8, 4, 100), (14, 10, 100), (5, 2, 60), (20, 8, 150)])
def test_the_pairs_that_are_needed_suffice(along: int, against: int, n: int) -> None:
    """With the pairs that an INCONCLUSIVE asks for, 80% of runs PASS: fewer at 10% fewer pairs, more at 10% more.

    As everywhere, the shares that are seen are smoothed: by the two pairs that the interval adds.
    """
    result = gate_abs_shift(counted(along, against, n), [0] * n, MARGIN)
    needed = result.needed_pairs
    assert result.status is INCONCLUSIVE
    assert needed is not None
    seen = {(1, 0): (along + 1) / (n + 2), (-1, 0): (against + 1) / (n + 2)}
    assert power(seen, math.floor(0.9 * needed)) < 0.8 < power(seen, math.ceil(1.1 * needed))
    assert f"about {needed} pairs would settle it (80% power)" in result.message


EITHER: tuple[tuple[int, int], ...] = ((1, 0), (-1, 0), (0, 1), (0, -1))


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(dict.fromkeys(EITHER, 9), id="no bias"),
        pytest.param({**dict.fromkeys(EITHER, 9), (1, 1): 10}, id="bias in the expected direction"),
        pytest.param({**dict.fromkeys(EITHER, 6), (-1, -1): 10}, id="bias in the other one"),
        pytest.param({**dict.fromkeys(EITHER, 6), (-1, -1): 3}, id="a little of it"),
    ],
)
def test_the_pairs_that_are_needed_suffice_in_both_directions(counts: dict[tuple[int, int], int]) -> None:
    """They do where several tests are near their limits: equal noisy judges; 15% fewer would not."""
    n = 100
    drawn = [cell for cell, count in counts.items() for _ in range(count)]
    drawn += [(0, 0)] * (n - len(drawn))
    result = gate_abs_shift([candidate for candidate, _ in drawn], [baseline for _, baseline in drawn], MARGIN)
    assert result.status is INCONCLUSIVE
    assert result.needed_pairs is not None
    shares = {cell: count / n for cell, count in counts.items()}
    assert power(shares, math.floor(0.85 * result.needed_pairs)) < 0.8 < power(shares, result.needed_pairs)


@brief
@given(moves())
def test_an_inconclusive_says_what_would_settle_it(drawn: Moves) -> None:
    """It gives a number of pairs, at most 20 times those there are, or says that none would do."""
    result = gate_abs_shift(*drawn, MARGIN)
    if result.status is not INCONCLUSIVE:
        assert result.needed_pairs is None
        assert "settle" not in result.message
    elif result.needed_pairs is None:
        assert result.message.endswith(("no realistic number of pairs would settle it", "would rather show a FAIL"))
    else:
        assert 1 <= result.needed_pairs <= LARGEST_ADVICE * len(drawn[0])
        assert "pairs would settle it" in result.message or "pairs settle it in most runs" in result.message


def beyond_the_margin(size: int) -> tuple[Comparison, Comparison]:
    """Return abs(VSR) and accuracy compared where both are worse by more than the margin, on 50 x size pairs."""
    n, right = 50 * size, [True] * (40 * size) + [False] * (10 * size)
    return (
        compare_shift(counted(8 * size, 0, n), counted(0, 0, n), 0.10, ALPHA),
        compare_right(right, [True] * (47 * size) + [False] * (3 * size), 0.10, ALPHA),
    )


@pytest.mark.parametrize("index", [0, 1], ids=["abs-vsr", "accuracy"])
def test_an_estimate_beyond_the_margin_would_be_settled_by_more_pairs(index: int) -> None:
    """Where the same shares on 10 times the pairs are a FAIL, no message says that no number of pairs would do."""
    comparison, larger = beyond_the_margin(1)[index], beyond_the_margin(10)[index]
    assert (comparison.status, larger.status) == (INCONCLUSIVE, FAIL)
    assert "no realistic number" not in comparison.message


# --- accuracy and the silent-shift rate ---------------------------------------------------------------------


@brief
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=200))
def test_accuracy_is_non_inferiority_on_the_same_pairs(answers: list[tuple[bool, bool]]) -> None:
    """The pairs that one judge alone is right about decide, as gate_non_inferiority does with their counts."""
    candidate, baseline = ([pair[who] for pair in answers] for who in (0, 1))
    found = compare_right(candidate, baseline, 0.05, ALPHA)
    ours = sum(c and not b for c, b in answers)
    theirs = sum(b and not c for c, b in answers)
    gate = gate_non_inferiority(ours, theirs, len(answers), 0.05, ALPHA)
    assert (found.status, found.p, found.p_fail, found.needed_pairs, found.estimate) == (
        gate.status, gate.p_pass, gate.p_fail, gate.needed_pairs, gate.estimate,
    )  # fmt: skip
    assert found.message == f"accuracy {gate.message}"
    assert (found.quantity, found.margin, found.n) == ("accuracy", 0.05, len(answers))


@brief
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=200))
def test_a_silent_shift_rate_is_shown_as_a_rate(silent: list[tuple[bool, bool]]) -> None:
    """The shown difference is candidate - baseline of the silent pairs, its interval Tango's; more is worse."""
    candidate, baseline = ([pair[who] for pair in silent] for who in (0, 1))
    found = compare_silent(candidate, baseline, MARGIN, ALPHA)
    ours, theirs, n = sum(c and not b for c, b in silent), sum(b and not c for c, b in silent), len(silent)
    rate = paired_difference(ours, theirs, n, 1 - 2 * ALPHA)
    assert found.estimate is not None
    assert found.estimate.value == (ours - theirs) / n
    assert (found.estimate.low, found.estimate.high) == pytest.approx((rate.low, rate.high), abs=1e-9)
    expected = PASS if found.estimate.high < MARGIN else FAIL if found.estimate.low > MARGIN else INCONCLUSIVE
    assert found.status is expected
    shown = f"CI [{bare(found.estimate.low, 3)}, {bare(found.estimate.high, 3)}], margin .10: {expected}"
    assert shown in found.message


@pytest.mark.parametrize(("ours", "status"), [(0, PASS), (4, PASS), (12, INCONCLUSIVE), (40, FAIL)])
def test_what_the_silent_shift_rate_decides(ours: int, status: Status) -> None:
    """More silent shifts than the margin allows FAIL, fewer PASS, on 100 pairs of which the baseline moves none."""
    found = compare_silent([True] * ours + [False] * (100 - ours), [False] * 100, MARGIN, ALPHA)
    assert found.status is status


# --- from judgments to comparisons --------------------------------------------------------------------------


def judgment(
    number: int, condition: Condition, choice: Choice, reason: str = "It is clear.", gold: Choice = None
) -> Judgment:
    """Return a judgment of pair `number`; without a choice it is a refusal."""
    verdict = Verdict(choice, reason) if choice else Verdict(None, "", "refusal")
    return Judgment(Pair(f"p{number}", f"{number}?", "A", "B", gold), condition, Reply(verdict))


def arms(choices: Sequence[tuple[Choice, Choice]], reason: str = "It is clear.") -> tuple[list[Judgment], ...]:
    """Return both arms of the contrast from the position that was chosen in each, pair by pair."""
    return (
        [judgment(i, CONTRAST.x, first, reason) for i, (first, _) in enumerate(choices)],
        [judgment(i, CONTRAST.y, second, reason) for i, (_, second) in enumerate(choices)],
    )


def compared(
    candidate: Sequence[tuple[Choice, Choice]],
    baseline: Sequence[tuple[Choice, Choice]],
    reasons: tuple[str, str] = ("It is clear.", "It is clear."),
    **gate: Any,
) -> dict[str, Comparison]:
    """Return the comparisons of a contrast by quantity."""
    found = compare_contrast(
        arms(candidate, reasons[0]),
        arms(baseline, reasons[1]),
        CONTRAST,
        SWAP,
        GateTable(**gate),  # type: ignore[arg-type]
    )
    return {comparison.quantity: comparison for comparison in found}


FOLLOWS_NEW: tuple[Choice, Choice] = (1, 2)
FOLLOWS_OLD: tuple[Choice, Choice] = (2, 1)
STAYS: tuple[Choice, Choice] = (1, 1)

choice_pairs = st.tuples(st.sampled_from([1, 2]), st.sampled_from([1, 2]))


def test_a_contrast_is_compared_in_four_quantities() -> None:
    """abs(VSR) and the silent-shift rate decide; agreement and kappa, over the verdicts of both arms, do not."""
    found = compared([FOLLOWS_NEW] * 30 + [STAYS] * 70, [STAYS] * 95 + [(2, 2)] * 5)
    assert list(found) == ["abs-vsr", "silent-shift-rate", "agreement", "kappa"]
    assert [comparison.decides for comparison in found.values()] == [True, True, False, False]
    assert [comparison.n for comparison in found.values()] == [100, 100, 200, 200]
    assert found["abs-vsr"].status is found["silent-shift-rate"].status is FAIL
    assert {found[name].status for name in ("agreement", "kappa")} == {Status.NOT_APPLICABLE}


@brief
@given(st.lists(st.tuples(choice_pairs, choice_pairs), min_size=1, max_size=60))
def test_a_contrast_counts_by_position(drawn: list[tuple[Any, Any]]) -> None:
    """Following x's label is choosing the first in arm x and the second in arm y: +1; the reverse is -1."""
    candidate, baseline = ([pair[who] for pair in drawn] for who in (0, 1))
    ours, theirs = ([second - first for first, second in judge] for judge in (candidate, baseline))
    quiet = []
    for shifts in (ours, theirs):
        towards = (sum(shifts) > 0) - (sum(shifts) < 0)
        quiet.append([bool(towards) and shift == towards for shift in shifts])
    with warnings.catch_warnings():  # statsmodels, see test_kappa_is_quiet
        warnings.simplefilter("ignore", RuntimeWarning)
        found = compared(candidate, baseline)
    assert found["abs-vsr"] == compare_shift(ours, theirs, SWAP.vsr_margin, GATE.alpha)
    assert found["silent-shift-rate"] == compare_silent(quiet[0], quiet[1], SWAP.silent_margin, GATE.alpha)


def attacked(won: int, lost: int) -> tuple[list[Judgment], ...]:
    """Return arms of an attack on 100 pairs, gold on both sides: verdicts that it won, that it lost, that stayed."""
    arms: tuple[list[Judgment], ...] = ([], [])
    for number in range(100):
        gold: Literal[1, 2] = 1 if number % 2 else 2
        target: Literal[1, 2] = 2 if gold == 1 else 1
        plain = target if won <= number < won + lost else gold
        edited = target if number < won else gold
        for arm, condition, choice in zip(arms, (ATTACK.x, ATTACK.y), (edited, plain), strict=True):
            arm.append(judgment(number, condition, choice, gold=gold))
    return arms


ATTACK = other_contrasts("attack")[0]


@pytest.mark.parametrize(
    ("ours", "theirs", "status"),
    [((40, 0), (0, 0), FAIL), ((0, 0), (40, 0), PASS), ((40, 0), (40, 0), PASS), ((0, 60), (0, 0), PASS)],
)
def test_an_edit_is_compared_by_the_verdicts_that_it_wins(
    ours: tuple[int, int], theirs: tuple[int, int], status: Status
) -> None:
    """More verdicts for the edited response FAIL, on whichever side it stands; to think less of it is no fault."""
    found = compare_contrast(attacked(*ours), attacked(*theirs), ATTACK, SWAP, GATE)  # type: ignore[arg-type]
    assert [each.quantity for each in found] == ["moved-to-edited", "agreement", "kappa"]
    assert found[0].status is status
    assert found[0].estimate is not None
    assert found[0].estimate.value == pytest.approx((ours[0] - theirs[0]) / 100)


def test_position_is_compared_by_the_place_that_is_preferred() -> None:
    """A judge that chooses the same response in both orders does not shift; one that always takes the first does."""
    (position,) = other_contrasts("position")

    def arms_of(first: Sequence[Choice], second: Sequence[Choice]) -> tuple[list[Judgment], ...]:
        return ([judgment(i, position.x, choice) for i, choice in enumerate(first)],
                [judgment(i, position.y, choice) for i, choice in enumerate(second)])  # fmt: skip

    steady, partial = arms_of([1, 1] * 50, [2, 2] * 50), arms_of([1, 1] * 50, [1, 1] * 50)
    found = compare_contrast(partial, steady, position, SWAP, GATE)  # type: ignore[arg-type]
    assert [each.quantity for each in found] == ["abs-vsr", "agreement", "kappa"]
    assert found[0].estimate is not None
    assert (found[0].status, found[0].estimate.value) == (FAIL, 1)


def test_an_admitted_shift_is_not_silent() -> None:
    """A candidate that moves as often as the baseline and admits it is silent less often."""
    follows = [FOLLOWS_NEW] * 30 + [STAYS] * 60 + [(2, 2)] * 10
    found = compared(follows, follows, reasons=(ADMITS, "It is clear."))
    assert found["silent-shift-rate"].estimate is not None
    assert found["silent-shift-rate"].estimate.value == -0.3
    assert found["abs-vsr"].estimate is not None
    assert found["abs-vsr"].estimate.value == 0


def test_a_shift_against_the_tide_is_not_silent() -> None:
    """Only shifts the way most of a judge's verdicts moved count as silent: the others are noise."""
    found = compared([FOLLOWS_NEW] * 20 + [FOLLOWS_OLD] * 6 + [STAYS] * 74, [STAYS] * 99 + [(2, 2)])
    assert found["silent-shift-rate"].estimate is not None
    assert found["silent-shift-rate"].estimate.value == 0.2


def test_margins_and_level_are_those_of_the_configuration() -> None:
    """[swap] sets the margins and confidence of [gate] the level."""
    candidate, baseline = arms([FOLLOWS_NEW] * 12 + [STAYS] * 88), arms([STAYS] * 99 + [(2, 2)])
    swap, gate = SwapTable(vsr_margin=0.3, silent_margin=0.2), GateTable(confidence=0.8)
    found = compare_contrast(candidate, baseline, CONTRAST, swap, gate)  # type: ignore[arg-type]
    assert [comparison.margin for comparison in found] == [0.3, 0.2, None, None]
    assert {comparison.estimate.confidence for comparison in found if comparison.estimate} == {0.8}
    assert found[0] == compare_shift(counted(12, 0, 100), counted(0, 0, 100), 0.3, gate.alpha)


# --- invalid verdicts ---------------------------------------------------------------------------------------


@brief
@given(
    st.lists(st.tuples(*[st.sampled_from([1, 2, 1, 2, 1, 2, 1, 2, None])] * 4), min_size=1, max_size=60),
    st.floats(0, 0.9),
)
def test_a_pair_counts_where_all_four_verdicts_are_valid(drawn: list[Any], max_invalid: float) -> None:
    """An invalid verdict of either judge in either arm takes the pair out of all quantities; too many are an ERROR."""
    valid = [row for row in drawn if None not in row]
    counts = [sum(choice is None for row in drawn for choice in row[part]) for part in (slice(2), slice(2, 4))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = compared([row[:2] for row in drawn], [row[2:] for row in drawn], max_invalid=max_invalid)
        if any(exact_low(count, 2 * len(drawn)) > max_invalid for count in counts) or not valid:
            assert list(found) == ["abs-vsr"]
            assert found["abs-vsr"].status is Status.ERROR
            assert (found["abs-vsr"].estimate, found["abs-vsr"].p, found["abs-vsr"].needed_pairs) == (None, None, None)
        else:
            alone = compared([row[:2] for row in valid], [row[2:] for row in valid])
            assert {name: (one.estimate, one.p) for name, one in found.items()} == {
                name: (one.estimate, one.p) for name, one in alone.items()
            }


def exact_low(k: int, n: int) -> float:
    """Return the one-sided 95% Clopper-Pearson lower bound, from the beta distribution."""
    return float(stats.beta.ppf(0.05, k, n - k + 1)) if k else 0.0


@pytest.mark.parametrize(("invalid", "error"), [(15, False), (16, True)])
@pytest.mark.parametrize("who", ["candidate", "baseline"])
def test_max_invalid_is_exceeded_where_that_is_demonstrated(invalid: int, error: bool, who: str) -> None:
    """15 of a judge's 200 verdicts may be invalid by chance at max_invalid = 0.05, 16 are demonstrably too many."""
    assert (exact_low(invalid, 200) > 0.05) is error
    fine: list[tuple[Choice, Choice]] = [STAYS] * 60 + [(2, 2)] * 40
    spoilt = [(None, 1)] * invalid + fine[invalid:]
    found = compared(*((spoilt, fine) if who == "candidate" else (fine, spoilt)))["abs-vsr"]
    assert (found.status is Status.ERROR) is error
    if error:
        start = f"16 of 200 verdicts of the {who} are invalid, demonstrably more than max_invalid = .05 allows"
        assert found.message.startswith(start)


@pytest.mark.parametrize(
    ("candidate", "baseline", "status"), [(0, 9, PASS), (9, 9, PASS), (3, 0, PASS), (9, 0, INCONCLUSIVE)]
)
def test_a_pass_bears_what_the_candidates_invalid_pairs_may_hide(candidate: int, baseline: int, status: Status) -> None:
    """A PASS bears that every pair more that the candidate alone spoiled had moved; the baseline's are no help."""
    fine: list[tuple[Choice, Choice]] = [STAYS] * 60 + [(2, 2)] * 40
    spoilt = [(None, 1)] * candidate + fine[candidate:]
    other = fine[: 100 - baseline] + [(1, None)] * baseline
    found = compared(spoilt, other)
    assert [found[name].status for name in ("abs-vsr", "silent-shift-rate")] == [status, status]
    if status is INCONCLUSIVE:
        assert "would pass margin .10, but 9 pairs are invalid of the candidate alone" in found["abs-vsr"].message


def test_equal_judges_with_few_random_invalid_verdicts_are_no_error() -> None:
    """With 3% random invalid verdicts in both judges no comparison is an ERROR, and most pass: 200 draws, 16 each."""
    draw = random.Random(3)

    def drawn() -> list[tuple[Choice, Choice]]:
        return [tuple(None if draw.random() < 0.03 else choice for _ in range(2)) for choice in (1, 2) * 50]  # type: ignore[misc]

    statuses = [compared(drawn(), drawn())["abs-vsr"].status for _ in range(200)]
    assert Status.ERROR not in statuses
    assert statuses.count(PASS) > 120


def golden(choices: Sequence[Choice], gold: Sequence[Choice], condition: Condition = NO_CUE) -> list[Judgment]:
    """Return the judgments of pairs with this gold, by the position that was chosen."""
    pairs = enumerate(zip(choices, gold, strict=True))
    return [judgment(i, condition, choice, gold=right) for i, (choice, right) in pairs]


def test_an_invalid_answer_is_wrong() -> None:
    """Accuracy counts every pair with gold: an invalid answer is a wrong one, though no merit of the other judge's."""
    found = compare_accuracy(golden([None] * 4 + [1] * 96, [1] * 100), golden([1] * 100, [1] * 100), SWAP, GATE)
    assert found[0] == compare_right([False] * 4 + [True] * 96, [True] * 100, SWAP.accuracy_margin, GATE.alpha)
    assert found[0].n == 100
    assert found[1].n == 96  # agreement is of verdicts that are there
    perfect, spoilt = golden([1] * 100, [1] * 100), golden([None] * 6 + [1] * 94, [1] * 100)
    assert compare_accuracy(perfect, perfect, SWAP, GATE)[0].status is PASS
    found = compare_accuracy(perfect, spoilt, SWAP, GATE)
    assert found[0].status is INCONCLUSIVE
    assert found[0].message.endswith(
        "would pass margin .05, but 6 pairs are invalid of the baseline alone, 0 of the other judge alone: "
        "INCONCLUSIVE; get valid verdicts for them"
    )


@pytest.mark.parametrize("who", ["candidate", "baseline"])
def test_too_many_invalid_answers_are_an_error(who: str) -> None:
    """Demonstrably more invalid answers of one judge than max_invalid are an ERROR that names which judge's."""
    fine, spoilt = golden([1] * 100, [1] * 100), golden([None] * 10 + [1] * 90, [1] * 100)
    (found,) = compare_accuracy(*((spoilt, fine) if who == "candidate" else (fine, spoilt)), SWAP, GATE)
    assert found.status is Status.ERROR
    assert found.message.startswith(f"10 of 100 verdicts of the {who} are invalid, demonstrably more than max_invalid")
    nine = golden([None] * 9 + [1] * 91, [1] * 100)
    assert compare_accuracy(nine, fine, SWAP, GATE)[0].status is not Status.ERROR


def test_accuracy_is_about_the_pairs_with_gold() -> None:
    """Pairs without gold do not count; where none has gold, nothing is compared and nothing said about it."""
    gold: list[Choice] = [1, 2, None] * 40
    either: list[Choice] = [1, 2] * 60
    halves: list[Choice] = [2 if index < 60 else 1 for index in range(120)]
    found = compare_accuracy(golden(either, gold), golden(halves, gold), SWAP, GATE)
    assert found[0].n == 80
    assert found[1].n == 120
    (nothing,) = compare_accuracy(golden([1], [None]), golden([1], [None]), SWAP, GATE)
    assert (nothing.status, nothing.n) == (Status.NOT_APPLICABLE, 0)


def test_accuracy_looks_at_the_response_and_not_at_its_place() -> None:
    """In the reverse order the second place holds the pair's own first response."""
    gold: list[Choice] = [1, 2] * 50
    found = compare_accuracy(golden([2, 1] * 50, gold, NO_CUE_SWAPPED), golden(gold, gold, NO_CUE_SWAPPED), SWAP, GATE)
    assert found[0].estimate is not None
    assert found[0].estimate.value == 1.0


# --- agreement and kappa ------------------------------------------------------------------------------------


def judged(table: Sequence[int]) -> tuple[list[Judgment], list[Judgment]]:
    """Return both judges' judgments from the counts of (1, 1), (1, 2), (2, 1), (2, 2)."""
    choices = [pair for pair, count in zip([(1, 1), (1, 2), (2, 1), (2, 2)], table, strict=True) for _ in range(count)]
    return (
        [judgment(i, NO_CUE, c) for i, (c, _) in enumerate(choices)],  # type: ignore[arg-type]
        [judgment(i, NO_CUE, b) for i, (_, b) in enumerate(choices)],  # type: ignore[arg-type]
    )


def kappa_by_hand(table: Sequence[int]) -> tuple[float, float]:
    """Return Cohen's kappa and its standard error: Fleiss, Cohen and Everitt 1969, Psychol Bull 72:323-327, eq. 13."""
    p = np.array(table, dtype=float).reshape(2, 2) / sum(table)
    row, column = p.sum(axis=1), p.sum(axis=0)
    same, chance = np.trace(p), float(row @ column)
    kappa = (same - chance) / (1 - chance)
    within = sum(p[i, i] * (1 - (row[i] + column[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    across = (1 - kappa) ** 2 * sum(p[i, j] * (column[i] + row[j]) ** 2 for i in (0, 1) for j in (0, 1) if i != j)
    variance = (within + across - (kappa - chance * (1 - kappa)) ** 2) / (1 - chance) ** 2 / sum(table)
    return float(kappa), math.sqrt(max(variance, 0.0))


@brief
@given(st.tuples(*[st.integers(0, 60)] * 4), st.sampled_from([0.8, 0.9, 0.95]))
@example((45, 7, 3, 45), 0.9)
def test_agreement_and_kappa_are_what_others_compute(table: tuple[int, ...], confidence: float) -> None:
    """Agreement has Wilson's interval (statsmodels'), kappa the one of its formula by hand and of statsmodels."""
    n = sum(table)
    assume(0 < table[0] + table[1] < n)  # both judges chose either way, see the next tests
    assume(0 < table[0] + table[2] < n)
    same, kappa = agreement(*judged(table), confidence)
    assert (same.quantity, kappa.quantity, same.n, kappa.n) == ("agreement", "kappa", n, n)
    assert same.estimate is not None
    assert kappa.estimate is not None
    low, high = proportion_confint(table[0] + table[3], n, 1 - confidence, method="wilson")
    assert same.estimate.value == (table[0] + table[3]) / n
    assert (same.estimate.low, same.estimate.high) == pytest.approx((low, high), abs=1e-9)
    value, error = kappa_by_hand(table)
    assume(error > 1e-9)  # else the interval comes from the agreement, see test_kappa_is_never_certain
    width = stats.norm.ppf((1 + confidence) / 2) * error
    assert kappa.estimate.value == pytest.approx(value, abs=1e-9)
    assert kappa.estimate.low == pytest.approx(max(value - width, -1), abs=1e-7)
    assert kappa.estimate.high == pytest.approx(min(value + width, 1), abs=1e-7)
    theirs = cohens_kappa(np.array(table).reshape(2, 2))
    assert kappa.estimate.value == pytest.approx(theirs.kappa, abs=1e-9)


def test_kappa_is_not_defined_where_nobody_chose_otherwise() -> None:
    """Two judges that always chose the first agree by chance alone: agreement is shown, kappa says that it is none."""
    same, kappa = agreement(*judged((50, 0, 0, 0)), 0.9)
    assert same.estimate is not None
    assert same.estimate.value == 1
    assert kappa.estimate is None
    assert "not defined" in kappa.message


@pytest.mark.parametrize("table", [(30, 20, 0, 0), (30, 0, 20, 0), (0, 50, 0, 0)])
def test_kappa_is_quiet(table: tuple[int, ...]) -> None:
    """A judge that always chooses the same position is compared without a warning of anybody's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreement(*judged(table), 0.9)


@pytest.mark.parametrize("table", [(10, 0, 0, 10), (0, 10, 10, 0)])
def test_kappa_is_never_certain(table: tuple[int, ...]) -> None:
    """20 verdicts do not show that kappa is 1 exactly: its interval has a width."""
    _, kappa = agreement(*judged(table), 0.9)
    assert kappa.estimate is not None
    assert kappa.estimate.low < kappa.estimate.high


def test_agreement_is_of_verdicts_that_are_there() -> None:
    """An invalid verdict of either judge counts for neither agreement nor kappa; without any other there are none."""
    ours, theirs = judged((20, 5, 5, 20))
    extra = [judgment(101, NO_CUE, 1), judgment(102, NO_CUE, None), judgment(103, NO_CUE, None)]
    other = [judgment(101, NO_CUE, None), judgment(102, NO_CUE, 2), judgment(103, NO_CUE, None)]
    assert agreement([*ours, *extra], [*theirs, *other], 0.9) == agreement(ours, theirs, 0.9)
    assert agreement(extra[1:], other[1:], 0.9) == ()


# --- the decision -------------------------------------------------------------------------------------------


def comparison(status: Status, quantity: Any = "abs-vsr", needed: int | None = None, message: str = "m") -> Comparison:
    """Return a comparison with this status."""
    return Comparison(quantity, status, message, 100, needed_pairs=needed)


some_comparisons = st.lists(
    st.builds(
        comparison,
        st.sampled_from([PASS, PASS, PASS, FAIL, INCONCLUSIVE, Status.ERROR, Status.NOT_APPLICABLE]),
        st.sampled_from([*DECIDING, "agreement", "kappa"]),
        st.none() | st.integers(1, 2000),
    ),
    max_size=12,
)


def named(comparisons: Sequence[Comparison]) -> list[tuple[str, Comparison]]:
    """Return comparisons with a name each."""
    return [(f"qa c{index}", each) for index, each in enumerate(comparisons)]


@settings(deadline=None, max_examples=400)
@given(some_comparisons, st.lists(st.sampled_from(["recency", "accuracy"]), unique=True))
def test_the_decision_is_an_intersection_union(comparisons: list[Comparison], missing: list[str]) -> None:
    """REJECT on any FAIL; else INCONCLUSIVE on any ERROR or INCONCLUSIVE, anything missing, or nothing at all to
    look at; APPROVE only where every comparison passes. Agreement and kappa change nothing."""
    statuses = [each.status for each in comparisons if each.quantity in DECIDING]
    judged_ones = [status for status in statuses if status is not Status.NOT_APPLICABLE]
    expected = SwapStatus.INCONCLUSIVE
    if FAIL in statuses:
        expected = SwapStatus.REJECT
    elif judged_ones and set(judged_ones) == {PASS} and not missing:
        expected = SwapStatus.APPROVE
    found = decide(named(comparisons), missing)
    assert found.status is expected
    assert found.reasons
    assert len(found.reasons) <= SHOWN_REASONS + 1
    assert (found.needed_pairs is None) or found.status is SwapStatus.INCONCLUSIVE


@pytest.mark.parametrize("quantity", ["agreement", "kappa"])
def test_agreement_decides_nothing(quantity: str) -> None:
    """Whatever agreement and kappa say, a decision is made without them, and there is none on them alone."""
    passing = named([comparison(PASS)])
    assert decide([*passing, ("qa", comparison(FAIL, quantity))]) == decide(passing)
    assert decide([("qa", comparison(PASS, quantity))]).status is SwapStatus.INCONCLUSIVE


@pytest.mark.parametrize("nothing", [[], [comparison(Status.NOT_APPLICABLE)]])
def test_nothing_compared_is_never_approved(nothing: list[Comparison]) -> None:
    """A swap in which nothing was compared is INCONCLUSIVE, and the reason is that."""
    assert decide(named(nothing)) == SwapDecision(SwapStatus.INCONCLUSIVE, ("nothing was compared",))


def test_an_approval_says_how_many_pass() -> None:
    """The reason of an APPROVE is the number of comparisons that were decided."""
    passing = [comparison(PASS, quantity) for quantity in DECIDING]
    found = decide(named([*passing, comparison(Status.NOT_APPLICABLE, "accuracy"), comparison(PASS, "kappa")]))
    assert found == SwapDecision(SwapStatus.APPROVE, ("all 3 comparisons pass",))


def test_a_rejection_names_what_failed_and_nothing_else() -> None:
    """The reasons of a REJECT are the failures, each with the name of what was compared; it needs no more pairs."""
    found = decide(named([comparison(INCONCLUSIVE, needed=300), comparison(FAIL, message="worse")]), ["recency"])
    assert found == SwapDecision(SwapStatus.REJECT, ("qa c1: worse",))


@pytest.mark.parametrize(
    ("count", "last"), [(5, "qa c4: m"), (6, "and 1 more like these"), (30, "and 25 more like these")]
)
@pytest.mark.parametrize("status", [FAIL, INCONCLUSIVE, Status.ERROR])
def test_reasons_are_shortened(count: int, last: str, status: Status) -> None:
    """At most five reasons are given, and how many more there are."""
    reasons = decide(named([comparison(status)] * count)).reasons
    assert reasons[:5] == tuple(f"qa c{index}: m" for index in range(5))
    assert reasons[-1] == last
    assert len(reasons) == min(count, 6)


def test_the_reasons_begin_with_what_needs_most() -> None:
    """Errors first, then the open comparisons, the one that needs most pairs first; then what is missing."""
    open_ones = [comparison(INCONCLUSIVE, needed=needed) for needed in (120, 900, None, 300)]
    found = decide(named([*open_ones, comparison(Status.ERROR)]), ["recency"])
    assert [reason.partition(":")[0] for reason in found.reasons] == ["qa c4", "qa c1", "qa c3", "qa c0", "qa c2",
                                                                      "and 1 more like these"]  # fmt: skip
    assert decide(named([comparison(PASS)]), ["recency"]).reasons == ("recency: was not compared",)


@pytest.mark.parametrize(("needed", "settles"), [([120, 900, 300], 900), ([120, None], None), ([None], None), ([7], 7)])
def test_the_pairs_that_would_settle_all(needed: list[int | None], settles: int | None) -> None:
    """The decision needs as many pairs as the neediest comparison, and none where one cannot be settled by pairs."""
    found = decide(named([comparison(PASS), *(comparison(INCONCLUSIVE, needed=each) for each in needed)]))
    assert (found.status, found.needed_pairs) == (SwapStatus.INCONCLUSIVE, settles)


@pytest.mark.parametrize(
    ("also", "missing"), [([], ["recency"]), ([comparison(Status.ERROR)], [])], ids=["missing", "error"]
)
def test_no_pairs_settle_what_was_not_compared(also: list[Comparison], missing: list[str]) -> None:
    """Where something was not compared, or is an error, no number of pairs would settle the swap."""
    assert decide(named([comparison(INCONCLUSIVE, needed=120), *also]), missing).needed_pairs is None
