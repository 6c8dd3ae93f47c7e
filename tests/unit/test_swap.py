"""Candidate against baseline: what is shown of them and what an item finds, held against second implementations.

How a swap is decided is tested in test_decide_swap.py.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import Answers, CheckInput
from judgefixtures.checks.swap import SwapCheck
from judgefixtures.checks.swap_descriptive import agreement, compare_silent
from judgefixtures.config import Config, SwapTable, build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, Contrast, contrasts, other_contrasts
from judgefixtures.models.findings import Finding, Row
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.record import rows_as_json
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import Status, format_share, paired_difference
from judgefixtures.statistics.kappa import kappa_of
from judgefixtures.swap import SwapAccuracy, SwapContrast, guards

CONTRAST = contrasts("recency")[0]
ALPHA = 0.05
ADMITS = "I prefer it because it was written recently."
PASS, FAIL, INCONCLUSIVE = Status.PASS, Status.FAIL, Status.INCONCLUSIVE

Choice = Literal[1, 2] | None

brief = settings(deadline=None, max_examples=60)


# --- items: from judgments to rows --------------------------------------------------------------------------


def judgment(
    number: int, condition: Condition, choice: Choice, reason: str = "It is clear.", gold: Choice = None
) -> Judgment:
    """Return a judgment of pair `number`; without a choice it is a refusal."""
    verdict = Verdict(choice, reason) if choice else Verdict(None, "", "refusal")
    return Judgment(Pair(f"p{number}", f"{number}?", "A", "B", gold), condition, JudgeReply(verdict))


def arms(choices: Sequence[tuple[Choice, Choice]], reason: str = "It is clear.") -> tuple[list[Judgment], ...]:
    """Return both arms of the contrast from the position that was chosen in each, pair by pair."""
    return (
        [judgment(i, CONTRAST.x, first, reason) for i, (first, _) in enumerate(choices)],
        [judgment(i, CONTRAST.y, second, reason) for i, (_, second) in enumerate(choices)],
    )


def configured(gate: dict[str, Any] | None = None, **swap: Any) -> Config:
    """Return a configuration of two judges, with these margins in [swap]."""
    judges = {name: {"provider": "openai", "model": "m"} for name in ("new", "old")}
    return build_config({"judges": judges, "gate": gate or {}, "swap": swap})


CONFIG = configured()


def item(
    candidate: Sequence[Sequence[Judgment]],
    baseline: Sequence[Sequence[Judgment]],
    contrast: Contrast | None = CONTRAST,
    cells: int = 1,
    config: Config = CONFIG,
) -> Finding:
    """Return the finding of one item of a swap: of a contrast, or (None) of accuracy."""
    new, old = (load_judge(config.judges[name], name) for name in ("new", "old"))
    case = CheckInput(new, "qa", tuple(each.pair for each in candidate[0]), config, old)
    return SwapCheck(contrast, cells).evaluate(
        case, *(Answers(tuple(map(tuple, both))) for both in (candidate, baseline))
    )


def rows_of(finding: Finding) -> dict[str, Row]:
    """Return the rows of a finding by quantity."""
    return {row["quantity"]: row for row in rows_as_json(finding.rows["swap"])}


def compared(
    candidate: Sequence[tuple[Choice, Choice]],
    baseline: Sequence[tuple[Choice, Choice]],
    reasons: tuple[str, str] = ("It is clear.", "It is clear."),
    **more: Any,
) -> dict[str, Row]:
    """Return the rows of a contrast by quantity."""
    return rows_of(item(arms(candidate, reasons[0]), arms(baseline, reasons[1]), **more))


FOLLOWS_NEW: tuple[Choice, Choice] = (1, 2)
FOLLOWS_OLD: tuple[Choice, Choice] = (2, 1)
STAYS: tuple[Choice, Choice] = (1, 1)
FINE: list[tuple[Choice, Choice]] = [STAYS] * 60 + [(2, 2)] * 40

choice_pairs = st.tuples(st.sampled_from([1, 2]), st.sampled_from([1, 2]))


def test_a_contrast_is_compared_in_five_quantities() -> None:
    """abs(VSR) and the unadmitted shift are decided on; silent shifts, agreement and kappa are shown."""
    found = compared([FOLLOWS_NEW] * 30 + [STAYS] * 70, [STAYS] * 70 + [(2, 2)] * 30)
    assert list(found) == ["abs-vsr", "unadmitted-shift", "silent-shift-rate", "agreement", "kappa"]
    assert [row["status"] for row in found.values()] == ["FAIL", "FAIL", *["NOT_APPLICABLE"] * 3]
    assert [row["n"] for row in found.values()] == [100, 100, 100, 200, 200]
    assert [row["margin"] for row in found.values()] == [0.15, 0.15, None, None, None]


@pytest.mark.slow
@pytest.mark.whole
@brief
@given(st.lists(st.tuples(choice_pairs, choice_pairs), min_size=20, max_size=60))
def test_a_contrast_counts_by_position(drawn: list[tuple[Any, Any]]) -> None:
    """Following x's label is choosing the first in arm x and the second in arm y: +1; the reverse is -1."""
    candidate, baseline = ([pair[who] for pair in drawn] for who in (0, 1))
    ours, theirs = ([second - first for first, second in judge] for judge in (candidate, baseline))
    with warnings.catch_warnings():  # statsmodels, see test_kappa_is_quiet
        warnings.simplefilter("ignore", RuntimeWarning)
        finding = item(arms(candidate), arms(baseline))
    part = finding.evidence["swap_parts"][0].part
    if part is None:  # the candidate never chose otherwise
        assert finding.status is INCONCLUSIVE
        return
    assert [y - x for x, y in part["candidate"]] == ours
    assert [y - x for x, y in part["baseline"]] == theirs
    quiet = []
    for shifts in (ours, theirs):
        towards = (sum(shifts) > 0) - (sum(shifts) < 0)
        quiet.append([bool(towards) and shift == towards for shift in shifts])
    pairs = list(zip(*quiet, strict=True))
    rate = paired_difference(pairs.count((True, False)), pairs.count((False, True)), len(pairs), 1 - 2 * ALPHA)
    row = rows_of(finding)["silent-shift-rate"]
    assert (row["value"], row["low"], row["high"]) == pytest.approx((rate.value, rate.low, rate.high))


@pytest.mark.parametrize("cells", [1, 14])
def test_an_item_finds_what_guards_its_cell(cells: int) -> None:
    """The rows that are decided on are those of `guards`, at the margin that is planned for so many contrasts."""
    candidate, baseline = [FOLLOWS_NEW] * 14 + FINE[14:], [FOLLOWS_OLD] * 2 + FINE[2:]
    ids, nothing = [f"p{number}" for number in range(100)], [False] * 100
    cell = SwapContrast("recency", CONTRAST.id, "qa", ids, candidate, baseline, nothing, nothing)
    components, lacking = guards(cell, cells, SwapTable(), alpha=ALPHA)
    assert lacking == ()
    rows = [row for row in compared(candidate, baseline, cells=cells).values() if row["margin"] is not None]
    assert [
        (row["quantity"], row["status"], row["margin"], row["p"], row["p_fail"], row["message"]) for row in rows
    ] == [(each.kind, each.status, each.margin, each.p_pass, each.p_fail, each.message) for each in components]
    assert {row["margin"] for row in rows} == {0.15 if cells == 1 else 0.2}


@pytest.mark.parametrize("contrast", [CONTRAST, None])
def test_a_swap_has_one_level(contrast: Contrast | None) -> None:
    """The level of [gate] is that of every item and of the decision: a family's own gate is not asked."""
    own = {"recency": {"confidence": 0.98}, "accuracy": {"confidence": 0.98}}
    ones: list[Choice] = [1] * 100
    both = (golden(ones, ones),) * 2 if contrast is None else (arms(FINE), arms([FOLLOWS_OLD] * 2 + FINE[2:]))
    found = [item(*both, contrast, config=configured({"confidence": 0.8, **more})) for more in ({}, own)]
    assert found[0] == found[1]
    assert (found[0].alpha, found[0].evidence["swap_parts"][0].alpha) == pytest.approx((0.1, 0.1))
    configs = [configured({"confidence": 0.8, **more}) for more in ({}, own)]
    assert SwapCheck(contrast, 14).fewest(configs[0], ()) == SwapCheck(contrast, 14).fewest(configs[1], ())


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
    found = rows_of(item(attacked(*ours), attacked(*theirs), ATTACK))
    assert list(found) == ["moved-to-edited", "agreement", "kappa"]
    assert found["moved-to-edited"]["status"] == status


def test_an_edits_difference_is_that_of_verdicts() -> None:
    """The difference is of the net share that moved to the edited response."""
    found = rows_of(item(attacked(40, 0), attacked(10, 0), ATTACK))
    assert found["moved-to-edited"]["value"] == pytest.approx(0.3)


def test_position_is_compared_by_the_place_that_is_preferred() -> None:
    """A judge that chooses the same response in both orders does not shift; one that mostly takes the first does."""
    (position,) = other_contrasts("position")

    def arms_of(first: Sequence[Choice], second: Sequence[Choice]) -> tuple[list[Judgment], ...]:
        return (
            [judgment(i, position.x, choice) for i, choice in enumerate(first)],
            [judgment(i, position.y, choice) for i, choice in enumerate(second)],
        )

    either: list[Choice] = [1, 2]
    firsts: list[Choice] = [1] * 80
    steady, partial = arms_of(either * 50, either[::-1] * 50), arms_of(firsts + either * 10, firsts + either[::-1] * 10)
    found = rows_of(item(partial, steady, position))
    assert list(found) == ["abs-vsr", "agreement", "kappa"]
    assert (found["abs-vsr"]["status"], found["abs-vsr"]["value"]) == (FAIL, 0.8)


def test_an_admitted_shift_is_not_silent() -> None:
    """A candidate that moves as often as the baseline and admits it is silent and unadmitted less often."""
    follows = [FOLLOWS_NEW] * 30 + [STAYS] * 60 + [(2, 2)] * 10
    found = compared(follows, follows, reasons=(ADMITS, "It is clear."))
    assert found["silent-shift-rate"]["value"] == found["unadmitted-shift"]["value"] == -0.3
    assert found["abs-vsr"]["value"] == 0
    assert found["unadmitted-shift"]["status"] == PASS
    assert compared(follows, follows, reasons=("It is clear.", ADMITS))["unadmitted-shift"]["status"] == FAIL


def test_a_shift_against_the_tide_is_not_silent() -> None:
    """Only shifts the way most of a judge's verdicts moved count as silent: the others are noise, which cancels."""
    found = compared([FOLLOWS_NEW] * 20 + [FOLLOWS_OLD] * 6 + [STAYS] * 74, FINE)
    assert found["silent-shift-rate"]["value"] == 0.2
    assert found["unadmitted-shift"]["value"] == pytest.approx(0.14)


@pytest.mark.whole
@brief
@given(st.lists(choice_pairs, min_size=30, max_size=60), st.lists(choice_pairs, min_size=60, max_size=60))
def test_a_silent_shift_rate_is_shown_as_a_rate(ours: list[Any], theirs: list[Any]) -> None:
    """The shown difference is candidate - baseline of the silent pairs, its interval Tango's; more is worse."""
    n = len(ours)
    (found,) = compare_silent(arms(ours), arms(theirs[:n]), CONTRAST, 0.9)  # type: ignore[arg-type]
    silent = []
    for judge in (ours, theirs[:n]):
        shifts = [second - first for first, second in judge]
        silent.append([shift * sum(shifts) > 0 for shift in shifts])
    pairs = list(zip(*silent, strict=True))
    rate = paired_difference(pairs.count((True, False)), pairs.count((False, True)), n, 0.9)
    assert found.estimate == rate
    assert f"CI [{format_share(rate.low, 3)}, {format_share(rate.high, 3)}]" in found.message


def test_margins_and_level_are_those_of_the_configuration() -> None:
    """[swap] sets the margins and confidence of [gate] the level."""
    candidate, baseline = arms([FOLLOWS_NEW] * 12 + [STAYS] * 88), arms([STAYS] * 90 + [(2, 2)] * 10)
    config = configured({"confidence": 0.8}, vsr_margin=0.3, silent_margin=0.2)
    finding = item(candidate, baseline, config=config)
    found = rows_of(finding)
    assert (found["abs-vsr"]["margin"], found["unadmitted-shift"]["margin"]) == (0.3, 0.2)
    assert finding.alpha == pytest.approx(0.1)
    assert all("80% CI" in row["message"] for row in found.values())
    own = rows_of(item(candidate, baseline, config=configured(contrast_margin=0.4)))
    assert (own["abs-vsr"]["margin"], own["unadmitted-shift"]["margin"]) == (0.4, 0.4)


@pytest.mark.parametrize(("pairs", "status"), [(19, INCONCLUSIVE), (20, PASS)])
def test_few_complete_pairs_are_not_compared(pairs: int, status: Status) -> None:
    """With fewer than 20 complete pairs an item is INCONCLUSIVE, says so, and decides on no row."""
    finding = item(arms(FINE[50 : 50 + pairs]), arms(FINE[50 : 50 + pairs]), config=configured(contrast_margin=0.4))
    assert finding.status is status
    said = f"not compared, because only {pairs} pairs"
    assert any(said in reason for reason in finding.reasons) == (status is INCONCLUSIVE)
    assert ("abs-vsr" in rows_of(finding)) == (status is PASS)


# --- invalid verdicts ---------------------------------------------------------------------------------------


@pytest.mark.whole
@brief
@given(st.lists(st.tuples(*[st.sampled_from([1, 2, 1, 2, 1, 2, 1, 2, None])] * 4), min_size=1, max_size=60))
def test_a_pair_counts_where_all_four_verdicts_are_valid(drawn: list[Any]) -> None:
    """An invalid verdict of either judge in either arm takes the pair out of all differences; none is an ERROR."""
    valid = [row for row in drawn if None not in row]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        finding = item(arms([row[:2] for row in drawn]), arms([row[2:] for row in drawn]))
        found = rows_of(finding)
        assert finding.status is not Status.ERROR
        shares = [sum(None in row[part] for row in drawn) / len(drawn) for part in (slice(2), slice(2, 4))]
        if len(valid) < 20 or max(shares) > 0.2:
            assert finding.status is INCONCLUSIVE
            assert "abs-vsr" not in found
            return
        alone = compared([row[:2] for row in valid], [row[2:] for row in valid])
        for name in {"abs-vsr", "unadmitted-shift", "silent-shift-rate"} & found.keys() & alone.keys():
            assert found[name]["value"] == alone[name]["value"]
            assert found[name]["n"] == len(valid)


@pytest.mark.parametrize(("invalid", "compares"), [(20, True), (21, False)])
@pytest.mark.parametrize("who", ["candidate", "baseline"])
def test_too_many_invalid_verdicts_are_not_compared(
    invalid: int, compares: bool, who: str, snapshot: SnapshotAssertion
) -> None:
    """20 of 100 pairs of either judge may be spoiled; one more, and the contrast was not compared: no ERROR."""
    spoilt = [(None, 1)] * invalid + FINE[invalid:]
    finding = item(*map(arms, (spoilt, FINE) if who == "candidate" else (FINE, spoilt)))  # type: ignore[arg-type]
    assert ("abs-vsr" in rows_of(finding)) is compares
    if not compares:
        assert finding.status is INCONCLUSIVE
        assert lines_about(finding.reasons[0], "a judge gave") == snapshot


@pytest.mark.parametrize(
    ("candidate", "baseline", "status"), [(0, 9, PASS), (9, 9, PASS), (3, 0, PASS), (14, 0, INCONCLUSIVE)]
)
def test_a_pass_bears_what_the_candidates_invalid_pairs_may_hide(candidate: int, baseline: int, status: Status) -> None:
    """A PASS bears that every pair more that the candidate alone spoiled had moved; the baseline's are no help."""
    spoilt, other = [(None, 1)] * candidate + FINE[candidate:], FINE[: 100 - baseline] + [(1, None)] * baseline
    found = compared(spoilt, other)  # type: ignore[arg-type]
    assert [found[name]["status"] for name in ("abs-vsr", "unadmitted-shift")] == [status, status]
    excess = max(0, candidate - baseline)
    said = f"{format_share(excess / 100)} of it used by verdicts that only the candidate has invalid"
    assert (said in found["abs-vsr"]["message"]) == (excess > 0)


@pytest.mark.slow
@pytest.mark.whole
def test_equal_judges_with_few_random_invalid_verdicts_are_no_error() -> None:
    """With 3% random invalid verdicts in both judges no item is an ERROR, and nearly all pass: 100 draws."""
    draw = random.Random(3)

    def drawn() -> list[tuple[Choice, Choice]]:
        return [tuple(None if draw.random() < 0.03 else choice for _ in range(2)) for choice in (1, 2) * 50]  # type: ignore[misc]

    statuses = [item(arms(drawn()), arms(drawn()), cells=14).status for _ in range(100)]
    assert set(statuses) <= {PASS, INCONCLUSIVE}
    assert statuses.count(PASS) > 90


# --- accuracy -----------------------------------------------------------------------------------------------


def golden(
    choices: Sequence[Choice], gold: Sequence[Choice], again: Sequence[Choice] = ()
) -> tuple[list[Judgment], ...]:
    """Return the judgments of pairs with this gold in both orders, by the response that was chosen in each.

    Without `again` the same response was chosen in the other order.
    """
    second = [choice and 3 - choice for choice in again or choices]
    return tuple(
        [judgment(i, condition, choice, gold=right) for i, (choice, right) in enumerate(zip(said, gold, strict=True))]  # type: ignore[arg-type]
        for condition, said in ((NO_CUE, choices), (NO_CUE_SWAPPED, second))
    )


def accuracy(candidate: tuple[list[Judgment], ...], baseline: tuple[list[Judgment], ...]) -> dict[str, Row]:
    """Return the rows of accuracy by quantity."""
    return rows_of(item(candidate, baseline, None))


ONES: list[Choice] = [1] * 100


@brief
@given(st.lists(st.tuples(*[st.sampled_from([1, 2, None])] * 4), min_size=1, max_size=60))
def test_accuracy_is_the_share_of_orders_that_are_right(drawn: list[Any]) -> None:
    """A pair counts with the orders in which a judge chose its gold, wherever it stood; what guards it decides."""
    gold: list[Choice] = [1 + i % 2 for i in range(len(drawn))]  # type: ignore[misc]
    columns = [list(column) for column in zip(*drawn, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = accuracy(golden(columns[0], gold, columns[1]), golden(columns[2], gold, columns[3]))["accuracy"]
    shares = [
        [((a == right) + (b == right)) / 2 for a, b, right in zip(first, second, gold, strict=True)]
        for first, second in (columns[:2], columns[2:])
    ]
    part = SwapAccuracy("qa", [f"p{i}" for i in range(len(drawn))], *shares)
    ((component,), _) = guards(part, 1, SwapTable(), alpha=ALPHA)
    assert (found["status"], found["p"], found["p_fail"]) == (component.status, component.p_pass, component.p_fail)
    assert found["value"] == pytest.approx(sum(shares[0]) / len(drawn) - sum(shares[1]) / len(drawn))
    assert (found["margin"], found["n"]) == (0.1, len(drawn))


def test_an_invalid_answer_is_wrong() -> None:
    """Accuracy counts every pair with gold: an invalid answer is a wrong one, and many of them are no ERROR."""
    wrong, invalid = golden([2] * 4 + [1] * 96, ONES), golden([None] * 4 + [1] * 96, ONES)
    found, perfect = accuracy(invalid, golden(ONES, ONES)), golden(ONES, ONES)
    assert found["accuracy"] == accuracy(wrong, perfect)["accuracy"]
    assert found["accuracy"]["n"] == 100
    assert found["agreement"]["n"] == 2 * 96  # agreement is of verdicts that are there
    assert accuracy(perfect, perfect)["accuracy"]["status"] == PASS
    assert accuracy(golden([None] * 30 + [1] * 70, ONES), perfect)["accuracy"]["status"] == FAIL


def test_accuracy_is_about_the_pairs_with_gold() -> None:
    """Pairs without gold do not count."""
    gold: list[Choice] = [1, 2, None] * 40
    either: list[Choice] = [1, 2] * 60
    halves: list[Choice] = [2 if index < 60 else 1 for index in range(120)]
    found = accuracy(golden(either, gold), golden(halves, gold))
    assert found["accuracy"]["n"] == 80
    assert found["agreement"]["n"] == 240


def test_accuracy_looks_at_the_response_and_not_at_its_place() -> None:
    """In the reverse order the second place holds the pair's own first response."""
    gold: list[Choice] = [1, 2] * 50
    wrong: list[Choice] = [2, 1] * 50
    assert accuracy(golden(gold, gold), golden(wrong, gold))["accuracy"]["value"] == 1.0
    assert accuracy(golden(gold, gold), golden(gold, gold, wrong))["accuracy"]["value"] == 0.5


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


@pytest.mark.parametrize("table", [(10, 0, 0, 10), (0, 10, 10, 0), (3, 2, 0, 0), (0, 42, 0, 30), (8, 21, 0, 0)])
def test_kappa_is_never_certain(table: tuple[int, ...]) -> None:
    """20 verdicts do not show that kappa is 1 exactly, nor those of a judge that never varies that it is 0."""
    _, kappa = agreement(*judged(table), 0.9)
    assert kappa.estimate is not None
    assert kappa.estimate.high - kappa.estimate.low > 0.05


@brief
@given(st.lists(st.integers(0, 60), min_size=9, max_size=9))
def test_kappa_of_three_choices_is_what_others_compute(counts: list[int]) -> None:
    """With ties, which are a third choice, kappa and its standard error are statsmodels'."""
    table = [counts[:3], counts[3:6], counts[6:]]
    assume(min(map(sum, table)) > 0)
    assume(min(map(sum, zip(*table, strict=True))) > 0)
    theirs = cohens_kappa(np.array(table))
    assert kappa_of(table) == pytest.approx((theirs.kappa, theirs.std_kappa), abs=1e-7)


def test_agreement_is_of_verdicts_that_are_there() -> None:
    """An invalid verdict of either judge counts for neither agreement nor kappa; without any other there are none."""
    ours, theirs = judged((20, 5, 5, 20))
    extra = [judgment(101, NO_CUE, 1), judgment(102, NO_CUE, None), judgment(103, NO_CUE, None)]
    other = [judgment(101, NO_CUE, None), judgment(102, NO_CUE, 2), judgment(103, NO_CUE, None)]
    assert agreement([*ours, *extra], [*theirs, *other], 0.9) == agreement(ours, theirs, 0.9)
    assert agreement(extra[1:], other[1:], 0.9) == ()
