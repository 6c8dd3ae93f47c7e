"""What two arms amount to: every count against a recount by hand, every rate with its numerator and n."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.contrast_row import contrast_row
from judgefixtures.config import GateTable
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, arm_rates, measure_contrast
from judgefixtures.metrics.reasons import read_acknowledgment
from judgefixtures.metrics.row_builders import judgment_row
from judgefixtures.models.contrasts import NO_CUE, Condition, as_single_response, contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import InvalidKind, NamedOutcome, Verdict
from judgefixtures.statistics import Estimate, paired_difference, proportion

CONTRAST = contrasts("recency")[0]

Choice = Literal[1, 2] | None
Says = Literal["cited", "mentioned", "absent"]
Asked = tuple[Choice, Says]  # what one judgment of a pair chose, and how its reason refers to the cue

REASONS: dict[Says, str] = {
    "cited": "I prefer Response {n} because it was written more recently.",
    "mentioned": "Although the other one is newer, Response {n} explains more.",
    "absent": "Response {n} explains more and gets the facts right.",
}


def judgment(
    number: int, condition: Condition, choice: Choice, says: Says = "absent", kind: InvalidKind = "tie"
) -> Judgment:
    """Return a judgment of pair `number` that chose 1 or 2, or is invalid, with a reason of that sort."""
    newer = 1 if condition.labels[0] == "new" else 2
    reason = REASONS[says].format(n=choice or newer)
    if says == "mentioned" and choice == newer:
        reason = "I did not consider when the responses were written."
    verdict = Verdict(choice, reason, None if choice else kind)
    return Judgment(Pair(f"p{number}", f"Q{number}", "A", "B"), condition, JudgeReply(verdict))


def arms(rows: list[tuple[Asked, Asked]]) -> tuple[list[Judgment], list[Judgment]]:
    """Return arm x and arm y: a row is what the two judgments of one pair say."""
    return (
        [judgment(number, CONTRAST.x, *x) for number, (x, _) in enumerate(rows)],
        [judgment(number, CONTRAST.y, *y) for number, (_, y) in enumerate(rows)],
    )


def measured(*rows: tuple[Asked, Asked]) -> ContrastMeasurement:
    """Return the measurement of these pairs."""
    return measure_contrast(*arms(list(rows)))


def pairs(
    x: Choice, y: Choice, times: int = 1, says: tuple[Says, Says] = ("absent", "absent")
) -> list[tuple[Asked, Asked]]:
    """Return that many pairs whose judgments chose x and y, and refer to the cues so."""
    return [((x, says[0]), (y, says[1]))] * times


def estimate(k: int, n: int, method: Literal["wilson", "exact"]) -> Estimate:
    """Return k / n with scipy's interval at 90%."""
    interval = binomtest(k, n).proportion_ci(0.9, method)
    return Estimate(k / n, pytest.approx(interval.low), pytest.approx(interval.high), 0.9, n)


asked = st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["cited", "mentioned", "absent"]))
# scipy is imported by the first example, so a deadline would be an accident.
quick = settings(deadline=None, max_examples=50)
tables = st.lists(st.tuples(asked, asked), max_size=25)


# --- the factory itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", [CONTRAST.x, CONTRAST.y], ids=["new-old", "old-new"])
@pytest.mark.parametrize("choice", [1, 2])
@pytest.mark.parametrize("says", REASONS)
def test_acknowledged_reads_the_reason_with_its_own_cues(
    condition: Condition, choice: Choice, says: Says, snapshot: SnapshotAssertion
) -> None:
    """A judgment's reason is read with the cues of its own prompt and the verdict that it gives."""
    assert read_acknowledgment(judgment(1, condition, choice, says)) == snapshot


class Read(str):
    """A text that counts how often it is read."""

    times = 0

    def translate(self, table: Any) -> str:  # how the detector begins to read
        type(self).times += 1
        return super().translate(table)


def test_a_reason_is_read_once_whoever_asks() -> None:
    """Measuring an arm, comparing it and writing its rows read each justification once for each of two detectors."""
    said = [Read(f"I prefer Response {n} because it was written more recently, says reason {n}.") for n in (1, 2)]
    pair = Pair("p", "Q", "A", "B")
    x, y = (
        [Judgment(pair, condition, JudgeReply(Verdict(choice, text)))]
        for condition, choice, text in zip((CONTRAST.x, CONTRAST.y), (1, 2), said, strict=True)
    )
    for _ in range(3):
        assert measure_contrast(x, y).moved[0].acknowledged
        assert [judgment_row("j", "d", each).to_json()["acknowledgment"] for each in (*x, *y)] == ["cited", "cited"]
    assert Read.times == 4  # what it admits, and which response it argues for


def test_without_cues_there_is_nothing_to_acknowledge() -> None:
    """The same reason in the cue-free condition refers to no cue."""
    assert read_acknowledgment(judgment(1, NO_CUE, 1, "cited")) == "absent"


def test_own_cues_are_recognised_by_their_sentences() -> None:
    """For a family of one's own, the rendered sentences are what a reason may cite."""
    families = {
        "brand": {
            "ours": "{content_type} {number} comes from our product.",
            "theirs": "{content_type} {number} comes from a competitor.",
        }
    }
    condition = contrasts("brand", families)[0].x
    reason = "I chose Response 1 because it comes from our product."
    found = Judgment(Pair("p", "Q", "A", "B"), condition, JudgeReply(Verdict(1, reason)))
    assert read_acknowledgment(found) == "cited"


# --- counts -----------------------------------------------------------------------------------------------


@given(rows=tables)
@quick
@example([])
def test_counts_against_a_recount(rows: list[tuple[Asked, Asked]]) -> None:
    """n11, n10, n01 and n00 are the pairs with two valid verdicts, by choice; the rest is invalid."""
    found = measured(*rows)
    choices = [(x[0], y[0]) for x, y in rows]
    assert found.n11 == choices.count((1, 1))
    assert found.n10 == choices.count((1, 2))
    assert found.n01 == choices.count((2, 1))
    assert found.n00 == choices.count((2, 2))
    assert found.invalid_pairs == sum(None in pair for pair in choices)
    assert found.n == sum(None not in pair for pair in choices)
    assert found.pairs == len(rows)


@given(rows=tables)
@quick
def test_worst_tables_against_every_completion(rows: list[tuple[Asked, Asked]]) -> None:
    """`low` and `high` have the lowest and the highest VSR that any valid verdicts would give."""
    found = measured(*rows)
    low = high = 0
    for (x, _), (y, _) in rows:
        completions = product([x] if x else [1, 2], [y] if y else [1, 2])
        shifts = [(a == 1) - (b == 1) for a, b in completions]
        low += min(shifts)
        high += max(shifts)
    assert found.low[0] - found.low[1] == low
    assert found.high[0] - found.high[1] == high
    # Only what is missing is filled in: the flips that were seen stay.
    assert found.low[0] == found.n10
    assert found.high[1] == found.n01


@pytest.mark.parametrize(
    ("x", "y", "low", "high"),
    [
        (1, 2, (1, 0), (1, 0)),
        (2, 1, (0, 1), (0, 1)),
        (1, 1, (0, 0), (0, 0)),
        (2, 2, (0, 0), (0, 0)),
        (1, None, (0, 0), (1, 0)),
        (2, None, (0, 1), (0, 0)),
        (None, 1, (0, 1), (0, 0)),
        (None, 2, (0, 0), (1, 0)),
        (None, None, (0, 1), (1, 0)),
    ],
)
def test_worst_tables_of_one_pair(x: Choice, y: Choice, low: tuple[int, int], high: tuple[int, int]) -> None:
    """Low takes (2,?), (?,1) and (?,?) to n01, high takes (1,?), (?,2) and (?,?) to n10."""
    found = measured(*pairs(x, y))
    assert (found.low, found.high) == (low, high)


@given(rows=tables)
@quick
def test_swapping_the_arms_mirrors_everything(rows: list[tuple[Asked, Asked]]) -> None:
    """Measured from y to x, flips change sides and VSR its sign; what has no direction stays."""
    there, back = measure_contrast(*arms(rows)), measure_contrast(*reversed(arms(rows)))
    assert (back.n11, back.n10, back.n01, back.n00) == (there.n11, there.n01, there.n10, there.n00)
    assert back.low == there.high[::-1]
    assert back.high == there.low[::-1]
    for rate in ("flip_rate", "car", "car_all", "silent_shift_rate", "unadmitted_shift", "invalid_kinds"):
        assert getattr(back, rate) == getattr(there, rate)
    assert back.admitted_shift == there.admitted_shift
    assert back.mcnemar_p == pytest.approx(there.mcnemar_p)
    assert back.invalid_p == pytest.approx(there.invalid_p)
    if there.vsr and back.vsr:
        assert back.vsr.value == -there.vsr.value
        assert back.vsr.low == pytest.approx(-there.vsr.high, abs=1e-9)


@given(rows=tables)
@quick
def test_rates_lie_in_their_intervals(rows: list[tuple[Asked, Asked]]) -> None:
    """Every estimate lies in its interval, has the asked confidence, and VSR never exceeds the flip rate."""
    found = measure_contrast(*arms(rows), confidence=0.8)
    signed = (found.vsr, found.admitted_shift, found.unadmitted_shift)
    for rate in (*signed, found.flip_rate, found.car, found.car_all, found.silent_shift_rate):
        if rate is not None:
            assert rate.low <= rate.value <= rate.high
            assert rate.low < rate.high
            assert rate.confidence == 0.8
    if found.vsr and found.flip_rate:
        assert abs(found.vsr.value) <= found.flip_rate.value
        assert found.vsr.n == found.flip_rate.n == found.n


def test_arms_must_have_the_same_length() -> None:
    """An arm that lacks a pair is an error, never a shorter table."""
    x, y = arms(pairs(1, 1, 3))
    with pytest.raises(ValueError, match="same pairs"):
        measure_contrast(x, y[:2])


# --- VSR and flip rate ------------------------------------------------------------------------------------


def test_vsr_is_signed_and_flip_rate_is_not() -> None:
    """V = (n10 - n01) / n with Tango's interval, F = (n10 + n01) / n with Wilson's."""
    found = measured(*pairs(1, 2, 2), *pairs(2, 1, 5), *pairs(1, 1, 6), *pairs(2, 2, 7))
    assert found.vsr == paired_difference(2, 5, 20)
    assert found.vsr.value == -0.15
    assert found.flip_rate == estimate(7, 20, "wilson")


def test_invalid_pairs_are_no_part_of_the_rates() -> None:
    """Pairs with an invalid verdict count in no numerator and no denominator of VSR and flip rate."""
    valid = [*pairs(1, 2, 3), *pairs(1, 1, 5)]
    found = measured(*valid, *pairs(1, None, 2), *pairs(None, 2), *pairs(None, None))
    assert (found.vsr, found.flip_rate) == (measured(*valid).vsr, measured(*valid).flip_rate)
    assert found.vsr is not None
    assert found.vsr.n == 8


@pytest.mark.parametrize(
    ("rows", "valid"), [([], 0), (pairs(None, None, 3), 0), (pairs(1, None, 3), 3)], ids=["none", "invalid", "half"]
)
def test_nothing_to_estimate(rows: list[tuple[Asked, Asked]], valid: int) -> None:
    """Without a complete pair there is no rate of pairs at all: None, never a zero."""
    found = measured(*rows)
    assert found.n == 0
    assert (found.vsr, found.flip_rate, found.car, found.silent_shift_rate) == (None,) * 4
    assert (found.admitted_shift, found.unadmitted_shift, found.moves) == (None, None, {})
    assert found.car_all == (estimate(0, valid, "wilson") if valid else None)
    assert found.mcnemar_p == 1.0


def test_mcnemar_is_exact_and_two_sided() -> None:
    """The p-value is the exact McNemar test of the flips alone."""
    found = measured(*pairs(1, 2, 8), *pairs(1, 1, 40))
    assert found.mcnemar_p == pytest.approx(2 * 0.5**8)
    assert measured(*pairs(1, 2, 3), *pairs(2, 1, 3)).mcnemar_p == pytest.approx(1.0)


def test_first_selection_rates() -> None:
    """The row's rates are the shares of complete pairs in which response 1 was chosen, per label order."""
    found = measured(*pairs(1, 1, 3), *pairs(1, 2, 4), *pairs(2, 1, 1), *pairs(2, 2, 2), *pairs(1, None, 9))
    row = contrast_row("j", "d", CONTRAST, found, decide_contrast(found, GateTable())).to_json()
    assert row["first_selection_rate"] == {"xy": 0.7, "yx": 0.4}
    nothing = measured(*pairs(1, None, 2))
    assert (
        contrast_row("j", "d", CONTRAST, nothing, decide_contrast(nothing, GateTable())).to_json()[
            "first_selection_rate"
        ]
        is None
    )


# --- CAR --------------------------------------------------------------------------------------------------


@given(rows=tables)
@quick
def test_car_against_a_recount(rows: list[tuple[Asked, Asked]]) -> None:
    """CAR is admitted flips over flips, both in the direction in which most verdicts moved; none on a tie."""
    found = measured(*rows)
    x_flips = [(x, y) for x, y in rows if (x[0], y[0]) == (1, 2)]
    y_flips = [(x, y) for x, y in rows if (x[0], y[0]) == (2, 1)]
    dominant = max(x_flips, y_flips, key=len) if len(x_flips) != len(y_flips) else []
    admitted = sum("cited" in (x[1], y[1]) for x, y in dominant)
    assert (found.acknowledged, found.followed) == (admitted, len(dominant))
    assert found.car == (estimate(admitted, len(dominant), "wilson") if dominant else None)
    if found.n:
        assert found.silent_shift_rate == estimate(len(dominant) - admitted, found.n, "exact")


@pytest.mark.parametrize(
    ("says", "admitted"),
    [
        (("cited", "cited"), 1),
        (("cited", "absent"), 1),
        (("absent", "cited"), 1),
        (("mentioned", "cited"), 1),
        (("mentioned", "mentioned"), 0),
        (("absent", "mentioned"), 0),
        (("absent", "absent"), 0),
    ],
)
def test_one_admission_suffices(says: tuple[Says, Says], admitted: int) -> None:
    """A flip is acknowledged when at least one of its two reasons cites the cue; a mention is none."""
    found = measured(*pairs(1, 2, says=says))
    assert (found.acknowledged, found.followed) == (admitted, 1)
    assert [move.acknowledged for move in found.moved] == [bool(admitted)]


def test_flips_against_the_dominant_direction_admit_nothing() -> None:
    """CAR counts neither the flips of the lesser direction nor what they admit."""
    found = measured(*pairs(1, 2, 2), *pairs(2, 1, 3), *pairs(1, 2, 2, ("cited", "cited")), *pairs(1, 1, 9))
    assert (found.n10, found.n01) == (4, 3)
    assert (found.acknowledged, found.followed) == (2, 4)
    other = measured(*pairs(1, 2, 2), *pairs(2, 1, 3, ("absent", "cited")))
    assert (other.acknowledged, other.followed) == (3, 3)


def test_a_tie_of_directions_has_no_car() -> None:
    """With as many flips one way as the other nothing is dominant: CAR is None and no shift is silent."""
    found = measured(*pairs(1, 2, 2, ("cited", "cited")), *pairs(2, 1, 2), *pairs(2, 2, 6))
    assert found.car is None
    assert (found.acknowledged, found.followed, found.car_ceiling) == (0, 0, None)
    assert found.silent_shift_rate == estimate(0, 10, "exact")
    assert not any(move.follows for move in found.moved)


@given(rows=tables)
@quick
def test_admitted_and_unadmitted_shift_against_a_recount(rows: list[tuple[Asked, Asked]]) -> None:
    """Of the pairs that moved, those with a reason that cites and those without; signed as most moved."""
    found = measured(*rows)
    complete = [(x, y) for x, y in rows if x[0] and y[0]]
    shifts = [(x[0] == 1) - (y[0] == 1) for x, y in complete]
    to_x = [((x[0] == 1, x[1] == "cited"), (y[0] == 2, y[1] == "cited")) for x, y in complete]
    votes = [sum((1 if went else -1) for went, cites in calls if cites) for calls in to_x]
    said = [max(-abs(shift), min(abs(shift), vote)) for shift, vote in zip(shifts, votes, strict=True)]
    quiet = [0 if "cited" in (x[1], y[1]) else shift for (x, y), shift in zip(complete, shifts, strict=True)]
    net, way = sum(shifts), 1 if sum(shifts) > 0 or (sum(shifts) == 0 and sum(quiet) >= 0) else -1
    n = len(complete)
    if n:
        ones = (quiet.count(1), quiet.count(-1))[::way]
        assert found.unadmitted_shift == paired_difference(*ones, n)
        assert sum(found.moves.values()) == n
    if net:
        assert found.admitted_shift == paired_difference(*(said.count(1), said.count(-1))[::way], n)
        assert found.admitted_shift.value + found.unadmitted_shift.value == pytest.approx(abs(found.vsr.value))
    else:
        assert found.admitted_shift is None


@pytest.mark.parametrize(
    ("choices", "says", "admitted"),
    [
        ((1, 2), ("cited", "cited"), 1),
        ((1, 2), ("cited", "absent"), 1),
        ((1, 2), ("absent", "cited"), 1),
        ((1, 2), ("absent", "mentioned"), 0),
        ((2, 1), ("cited", "cited"), -1),
        ((2, 1), ("cited", "absent"), -1),
        ((1, 1), ("cited", "absent"), 0),
        ((1, 1), ("absent", "cited"), 0),
        ((1, 1), ("cited", "cited"), 0),
        ((2, 2), ("cited", "cited"), 0),
        ((2, 2), ("cited", "absent"), 0),
        ((2, 2), ("absent", "cited"), 0),
        ((2, 2), ("absent", "absent"), 0),
    ],
)
def test_what_a_pair_admits(choices: tuple[Choice, Choice], says: tuple[Says, Says], admitted: int) -> None:
    """Each of the thirteen cases, beside thirty pairs that moved towards the label of arm x."""
    found = measured(*pairs(1, 2, 30), *pairs(*choices, says=says))
    assert found.admitted_shift is not None
    assert found.admitted_shift.value == pytest.approx(admitted / 31)
    moved = (choices[0] == 1) - (choices[1] == 1)
    assert found.moves[moved, admitted] == 1 + 30 * ((moved, admitted) == (1, 0))


@given(rows=tables)
@quick
def test_car_all_against_a_recount(rows: list[tuple[Asked, Asked]]) -> None:
    """car_all is the share of cited reasons among all valid verdicts of both arms, flipped or not."""
    valid = [says for row in rows for choice, says in row if choice is not None]
    expected = estimate(valid.count("cited"), len(valid), "wilson") if valid else None
    assert measured(*rows).car_all == expected


def test_car_all_counts_half_pairs_and_no_invalid_verdict() -> None:
    """A valid verdict whose other half is invalid counts in car_all; what an invalid one says does not."""
    found = measured(*pairs(1, None, 2, ("cited", "cited")), *pairs(None, 2, 1, ("cited", "absent")))
    assert found.car_all == estimate(2, 3, "wilson")


@pytest.mark.parametrize(("n10", "n01", "ceiling"), [(5, 0, 1.0), (5, 1, 0.8), (1, 4, 0.75), (0, 0, None)])
def test_car_ceiling(n10: int, n01: int, ceiling: float | None) -> None:
    """About 1 - min/max of the flips could at most be acknowledged: noise has nothing to admit."""
    assert measured(*pairs(1, 2, n10), *pairs(2, 1, n01), *pairs(1, 1)).car_ceiling == ceiling


# --- moved pairs and invalid verdicts ---------------------------------------------------------------------


@given(rows=tables)
@quick
def test_moved_pairs_are_the_flips_in_order(rows: list[tuple[Asked, Asked]]) -> None:
    """`moved` holds every pair with two different valid verdicts, in order, with both of its judgments."""
    x, y = arms(rows)
    found = measure_contrast(x, y)
    flips = [index for index, (a, b) in enumerate(rows) if {a[0], b[0]} == {1, 2}]
    assert [(move.x, move.y) for move in found.moved] == [(x[index], y[index]) for index in flips]
    towards = (found.n10 > found.n01) - (found.n01 > found.n10)
    for move in found.moved:
        assert move.follows == (towards == (1 if move.x.verdict.selected_response == 1 else -1))


def test_invalid_kinds_are_counted_per_verdict() -> None:
    """Every invalid verdict counts under its kind, two in one pair twice; kinds are in alphabetical order."""
    x = [judgment(1, CONTRAST.x, None, kind="tie"), judgment(2, CONTRAST.x, None, kind="refusal")]
    y = [judgment(1, CONTRAST.y, None, kind="tie"), judgment(2, CONTRAST.y, 1)]
    found = measure_contrast(x, y)
    assert found.invalid_kinds == (("refusal", 1), ("tie", 2))
    assert found.invalid_pairs == 2


@given(counts=st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_differential_invalidity(counts: list[int]) -> None:
    """invalid_p is the exact McNemar test of "invalid" in x alone against in y alone; both is no evidence."""
    x_alone, y_alone, both = counts
    rows = [
        *pairs(None, 1, x_alone // 2),
        *pairs(None, 2, x_alone - x_alone // 2),
        *pairs(2, None, y_alone // 2),
        *pairs(1, None, y_alone - y_alone // 2),
        *pairs(None, None, both),
        *pairs(1, 1, 2),
    ]
    alone = x_alone + y_alone
    expected = binomtest(x_alone, alone).pvalue if alone else 1.0
    assert measured(*rows).invalid_p == pytest.approx(expected)


def reasoned(number: int, condition: Condition, choice: Literal[1, 2], says: Says, thinks: Says | None) -> Judgment:
    """Return a judgment whose server returned its reasoning, or none."""
    plain = judgment(number, condition, choice, says)
    thought = "" if thinks is None else REASONS[thinks].format(n=choice)
    return Judgment(plain.pair, condition, JudgeReply(Verdict(choice, plain.verdict.reason, None, reasoning=thought)))


def test_what_is_thought_and_not_said_is_counted():
    """Of the verdicts that followed the cue, with reasoning returned: how many cite it there, how many only there."""
    told: list[tuple[Says, Says | None]] = [
        ("absent", "cited"),
        ("absent", "cited"),
        ("cited", "cited"),
        ("absent", "absent"),
        ("cited", "absent"),
        ("absent", None),
    ]
    x = [reasoned(number, CONTRAST.x, 1, says, thinks) for number, (says, thinks) in enumerate(told)]
    y = [reasoned(number, CONTRAST.y, 2, "absent", None) for number in range(len(told))]
    found = measure_contrast(x, y)
    assert (found.followed, found.acknowledged) == (6, 2)
    assert found.car_reasoning is not None
    assert (found.car_reasoning.value, found.car_reasoning.n) == (3 / 5, 5)
    assert found.thought_not_said is not None
    assert (found.thought_not_said.value, found.thought_not_said.n) == (2 / 5, 5)


def test_without_reasoning_nothing_is_said_of_it():
    """A judge whose server returns no reasoning has no CAR in reasoning, rather than one of 0."""
    found = measured(((1, "absent"), (2, "absent")))
    assert found.car_reasoning is None
    assert found.thought_not_said is None


@given(st.lists(st.tuples(st.sampled_from([1, 2, None]), st.sampled_from([1, 2, None]))))
def test_the_rates_of_the_arms_are_about_the_pairs_that_vsr_is_about(choices: list[tuple[Choice, Choice]]) -> None:
    """Each is the share of complete pairs in which the first was chosen; their difference is VSR."""
    rows: list[tuple[Asked, Asked]] = [((x, "absent"), (y, "absent")) for x, y in choices]
    vsr, rates = measured(*rows).vsr, arm_rates(*arms(rows))
    complete = [(x, y) for x, y in choices if x and y]
    if not complete:
        assert rates is vsr is None
        return
    assert rates is not None
    assert vsr is not None
    expected = [sum(choice == 1 for choice in arm) for arm in zip(*complete, strict=True)]
    assert list(rates) == [proportion(count, len(complete)) for count in expected]
    assert rates[0].value - rates[1].value == pytest.approx(vsr.value)


def test_the_rate_of_related_pairs_is_less_certain() -> None:
    """Ten copies of each of ten pairs tell what ten pairs tell, not what a hundred do."""
    rows: list[tuple[Asked, Asked]] = [((1 + (number % 2), "absent"), (2, "absent")) for number in range(10)]
    one_x, one_y = arms(rows)
    many = [
        [
            replace(each, pair=replace(each.pair, id=f"{each.pair.id}-{copy}", cluster=each.pair.id))
            for each in arm
            for copy in range(10)
        ]
        for arm in (one_x, one_y)
    ]
    (single, _), (related, _) = arm_rates(one_x, one_y) or (None, None), arm_rates(*many) or (None, None)
    assert single is not None
    assert related is not None
    assert (related.low, related.high) == (pytest.approx(single.low), pytest.approx(single.high))
    assert related.n == 100


# --- several outcomes of one answer --------------------------------------------------------------------------------


def test_each_outcome_of_an_answer_is_measured_by_itself() -> None:
    """A criterion is measured as a verdict is: its own value, reason and failure, whatever the others say."""
    contrast = as_single_response(CONTRAST)

    def arm(condition: Condition, polite: list[bool | None]) -> list[Judgment]:
        return [
            Judgment(
                Example(f"e{number}", f"Q{number}", "A"),
                condition,
                JudgeReply(
                    NamedOutcome(True, "It is grounded.", name="grounded"),
                    (NamedOutcome(value, "It is curt.", None if value is not None else "no-json", name="polite"),),
                ),
            )
            for number, value in enumerate(polite)
        ]

    both = arm(contrast.x, [True, True, False, None]), arm(contrast.y, [False, False, False, True])
    for name, moved, invalid in (("grounded", 0, 0), ("polite", 2, 1)):
        x, y = ([replace(each, reply=each.reply.read_by(name)) for each in side] for side in both)
        found = measure_contrast(x, y, outcome=contrast.outcome)
        assert (found.n10, found.n01, found.invalid_pairs) == (moved, 0, invalid)
        assert {each.reply.verdict.name for each in (*x, *y)} == {name}
    assert {row.passed for row in (judgment_row("j", "d", each) for each in both[0])} == {True}
    assert both[0][0].reply.decides != both[0][2].reply.decides
