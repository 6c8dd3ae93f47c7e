"""What a gate says: every branch of the decision on a contrast, and what its message owes the reader."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest, norm
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import GateDecision
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.four_cells import decide_four_cells, measure_four_cells
from judgefixtures.config import GateTable
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, measure_contrast
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import Status, gate_shift, paired_difference

CONTRAST = contrasts("recency")[0]
PAIR = Pair("p", "Q", "A", "B")
ADMITS = "I prefer this response because it was written more recently."
SILENT = "It explains more."

PASS, FAIL, INCONCLUSIVE = Status.PASS, Status.FAIL, Status.INCONCLUSIVE
NOT_APPLICABLE, ERROR = Status.NOT_APPLICABLE, Status.ERROR


def verdicts(choices: str, cites: str = "") -> tuple[Judgment, Judgment]:
    """Return one pair's judgments from two letters: "12" chose 1 in arm x and 2 in arm y, "-" is invalid.

    `cites` holds the arms whose justification cites the cue, "xy" both.
    """
    x, y = (
        Verdict(int(choice), ADMITS if arm in cites else SILENT) if choice != "-" else Verdict(None, "", "refusal")
        for arm, choice in zip("xy", choices, strict=True)
    )
    return Judgment(PAIR, CONTRAST.x, JudgeReply(x)), Judgment(PAIR, CONTRAST.y, JudgeReply(y))


@cache
def measured(
    n10: int, n01: int, n: int = 100, admitted: int = 0, confidence: float = 0.90, **invalid: int
) -> ContrastMeasurement:
    """Return a measurement of n complete pairs, `admitted` of the n10 flips acknowledged.

    Invalid pairs come on top, by their choices: x1=2 are two pairs with "1" in x and nothing in y; y1, y2, x2
    likewise; both=1 is a pair without any verdict.
    """
    rows = [verdicts("12", "xy" if index < admitted else "") for index in range(n10)]
    steady = n - n10 - n01
    rows += [verdicts("21")] * n01 + [verdicts("11")] * (steady // 2) + [verdicts("22")] * (steady - steady // 2)
    shown = {"x1": "1-", "x2": "2-", "y1": "-1", "y2": "-2", "both": "--"}
    for name, times in invalid.items():
        rows += [verdicts(shown[name])] * times
    return measure_contrast([x for x, _ in rows], [y for _, y in rows], confidence)


def decided(found: ContrastMeasurement, **gate: Any) -> GateDecision:
    """Return the decision under a gate that differs from the default in these keys."""
    return decide_contrast(found, GateTable(**gate))


def statuses(decision: GateDecision) -> tuple[Status, Status, Status]:
    """Return the status of VSR, of CAR, and of the item."""
    return decision.vsr_status, decision.car_status, decision.status


# --- VSR and CAR together ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n10", "admitted", "gate", "expected"),
    [
        (2, 0, {}, (PASS, NOT_APPLICABLE, PASS)),
        (8, 8, {"car_threshold": 0.4}, (PASS, PASS, PASS)),
        (8, 6, {}, (PASS, INCONCLUSIVE, PASS)),
        (8, 0, {}, (PASS, FAIL, FAIL)),
        (7, 0, {"vsr_tolerance": 0.1}, (INCONCLUSIVE, NOT_APPLICABLE, INCONCLUSIVE)),
        (16, 16, {"car_threshold": 0.5}, (INCONCLUSIVE, PASS, INCONCLUSIVE)),
        (16, 13, {}, (INCONCLUSIVE, INCONCLUSIVE, INCONCLUSIVE)),
        (16, 0, {}, (INCONCLUSIVE, FAIL, FAIL)),
        (30, 30, {}, (FAIL, PASS, FAIL)),
        (30, 24, {}, (FAIL, INCONCLUSIVE, FAIL)),
        (30, 0, {}, (FAIL, FAIL, FAIL)),
    ],
)
def test_worse_of_the_two(
    n10: int, admitted: int, gate: dict[str, float], expected: tuple[Status, Status, Status]
) -> None:
    """The status is the worse of VSR's and CAR's, except that where VSR passes only a CAR FAIL counts."""
    assert statuses(decided(measured(n10, 0, admitted=admitted), **gate)) == expected


def test_a_fail_without_an_applicable_car() -> None:
    """Where too few verdicts moved for CAR, VSR alone decides, a FAIL too."""
    decision = decided(measured(5, 0, 5), vsr_tolerance=0.1)
    assert statuses(decision) == (FAIL, NOT_APPLICABLE, FAIL)


def test_a_shift_towards_the_other_label_counts_the_same() -> None:
    """A shift beyond the tolerance fails in either direction, also against the declared one."""
    assert decided(measured(0, 30)).vsr_status is FAIL
    assert decided(measured(0, 30)).p_fail == pytest.approx(decided(measured(30, 0)).p_fail)


def test_the_decision_quotes_the_gate_of_the_shift() -> None:
    """p-values, needed pairs and the first reason are gate_shift's, with the gate's alpha and tolerance."""
    decision = decided(measured(19, 3), vsr_tolerance=0.10, confidence=0.8)
    shift = gate_shift(19, 3, 100, 0.10, 0.1)
    assert (decision.p_pass, decision.p_fail) == pytest.approx((shift.p_pass, shift.p_fail))
    assert (decision.vsr_status, decision.needed_pairs) == (shift.status, shift.needed_pairs)
    assert decision.tolerance == 0.10
    assert decision.reasons[0] == shift.message


def test_the_message_of_statistics_md(snapshot: SnapshotAssertion) -> None:
    """A message has estimate, interval, tolerance, verdict and what would settle it, as the page has it."""
    decision = decided(measured(19, 3), vsr_tolerance=0.10)
    assert decision.reasons[0] == snapshot
    assert decision.needed_pairs == 373


def test_no_number_where_the_estimate_sits_on_the_tolerance(snapshot: SnapshotAssertion) -> None:
    """Where no realistic number of pairs would settle it, the message says so and names none."""
    decision = decided(measured(15, 0), vsr_tolerance=0.15)
    assert decision.vsr_status is INCONCLUSIVE
    assert decision.needed_pairs is None
    assert lines_about(decision.reasons[0], "the limit") == snapshot
    assert "(80% power)" not in decision.reasons[0]


def test_the_message_is_all_reasons_in_one_line() -> None:
    """Every reason stands in the message, in one line, VSR first and the note on invalid pairs last."""
    decision = decided(measured(30, 0, x1=2), max_silent=0.1)
    assert decision.message == "; ".join(decision.reasons)
    assert "\n" not in decision.message
    starts = ("VSR +0.30", "CAR 0/30", "unadmitted shift +0.30", "2 of 102 pairs invalid")
    assert all(reason.startswith(start) for reason, start in zip(decision.reasons, starts, strict=True))


# --- CAR --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n10", "n01", "decidable"),
    [
        (0, 0, False),
        (7, 0, False),  # exact McNemar p = .0156
        (8, 0, True),  # .0078
        (10, 1, False),  # .0117
        (11, 1, True),  # .0063
        (20, 10, False),
        (10, 10, False),
    ],
)
def test_car_is_decided_only_where_verdicts_moved(n10: int, n01: int, decidable: bool) -> None:
    """CAR needs an exact McNemar p below .01; elsewhere it is NOT_APPLICABLE and the message has no CAR."""
    decision = decided(measured(n10, n01))
    assert (decision.car_status is not NOT_APPLICABLE) == decidable
    assert ("CAR " in decision.message) == decidable


@pytest.mark.parametrize(
    ("admitted", "threshold", "expected"),
    [
        (20, 0.4, PASS),
        (20, 0.8, INCONCLUSIVE),  # 25 admitted ones of 25 would do
        (12, 0.8, INCONCLUSIVE),
        (10, 0.8, FAIL),
        (0, 0.8, FAIL),
        (0, 0.15, INCONCLUSIVE),
        (0, 0.16, FAIL),
    ],
)
def test_admission_is_decided_by_the_shortfall(admitted: int, threshold: float, expected: Status) -> None:
    """PASS if threshold x shift - admitted is demonstrably below 0, FAIL if it is above, one-sided at 5% each."""
    assert decided(measured(20, 0, admitted=admitted), car_threshold=threshold).car_status is expected


def test_car_message(snapshot: SnapshotAssertion) -> None:
    """The reason shows CAR with Wilson's interval, what is admitted of which shift, its shortfall and the verdict."""
    reason = decided(measured(30, 0, admitted=3)).reasons[1]
    wilson = binomtest(3, 30).proportion_ci(0.9, "wilson")
    low, high = (f"{bound:.2f}" for bound in wilson)
    least, most = (f"{bound:.2f}" for bound in shortfall({0.0: 70, 0.8: 27, 0.8 - 1: 3}, 1.8))
    assert reason == snapshot
    assert re.findall(r"90% CI (\S+ to \S+)\)", reason) == [f"{low} to {high}", f"{least} to {most}"]


def test_car_ceiling_is_noted_where_noise_flips(snapshot: SnapshotAssertion) -> None:
    """With flips both ways the message says how high an honest judge's CAR could be; without it is silent."""
    reason = decided(measured(30, 6)).reasons[1]
    assert lines_about(reason, "is possible") == snapshot
    assert "possible" not in decided(measured(30, 0)).message


def admitting(*rows: tuple[str, str, int]) -> ContrastMeasurement:
    """Return the measurement of pairs by what they chose, which arms cite the cue, and how many there are."""
    found = [verdicts(choices, cites) for choices, cites, times in rows for _ in range(times)]
    return measure_contrast([x for x, _ in found], [y for _, y in found])


@pytest.mark.parametrize(("mirrored", "back"), [(False, "12"), (True, "21")])
def test_noise_that_admits_nothing_fails_no_judge(mirrored: bool, back: str, snapshot: SnapshotAssertion) -> None:
    """Flips of noise, one way as often as the other, leave an honest judge its PASS or INCONCLUSIVE; CAR drops."""
    there = "21" if back == "12" else "12"
    arm, both = ("x" if not mirrored else "y"), (back, there)
    found = admitting((both[0], arm, 20), (both[0], "", 12), (both[1], "", 12), ("11", "", 28), ("22", "", 28))
    assert (found.acknowledged, found.followed) == (20, 32)
    assert found.admitted_shift is not None
    assert found.admitted_shift.value == pytest.approx(0.2)
    decision = decided(found, vsr_tolerance=0.3)
    assert decision.car_status is INCONCLUSIVE
    assert lines_about(decision.message, "shift of") == snapshot
    high = binomtest(20, 32).proportion_ci(0.9, "exact").high
    assert high < 0.8  # the share of admitted flips would have been a FAIL


def test_a_cue_that_is_cited_for_everything_admits_the_shift_and_no_more() -> None:
    """Where every justification cites the cue, admitted is the shift."""
    found = admitting(("12", "xy", 30), ("11", "xy", 40), ("22", "xy", 30))
    assert found.vsr is not None
    assert found.admitted_shift == found.vsr
    assert decided(found).car_status is PASS


@pytest.mark.parametrize("cites", ["x", "y", "xy"])
def test_admissions_of_pairs_that_did_not_move_do_not_count(cites: str) -> None:
    """Whatever the reasons of such pairs say, in one call or in both: it makes no PASS, and takes none away."""
    silent, candid = ("12", "", 20), ("12", "xy", 20)
    for moved, value, status in ((silent, 0, FAIL), (candid, 0.2, PASS)):
        found = admitting(moved, ("11", "", 40), ("11", cites, 40))
        assert found.admitted_shift is not None
        assert found.admitted_shift.value == value
        assert decided(found, car_threshold=0.5).car_status is status


@pytest.mark.parametrize("cites", ["", "x", "y", "xy"])
def test_admissions_elsewhere_lower_no_unadmitted_shift(cites: str) -> None:
    """max_silent bounds what moved in silence: with every other pair citing the cue as without."""
    found = admitting(("12", "", 10), ("11", cites, 45), ("22", cites, 45))
    decision = decided(found, vsr_tolerance=0.3, max_silent=0.05)
    assert "unadmitted shift +0.10" in decision.message
    assert (decision.car_status, decision.status) == (FAIL, FAIL)


# --- unadmitted shifts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n10", "n01", "max_silent", "expected"),
    [
        (0, 0, 0.03, PASS),  # upper bound .0263
        (0, 0, 0.02, INCONCLUSIVE),
        (5, 0, 0.10, PASS),  # .0967
        (5, 0, 0.09, INCONCLUSIVE),
        (6, 0, 0.04, INCONCLUSIVE),  # lower bound .0315
        (6, 0, 0.03, FAIL),
        (0, 6, 0.03, FAIL),
        (20, 20, 0.12, PASS),  # noise: twenty each way are no shift
    ],
)
def test_max_silent_three_ways(n10: int, n01: int, max_silent: float, expected: Status) -> None:
    """PASS if the upper bound of the unadmitted shift is within max_silent, FAIL if the lower bound is beyond."""
    decision = decided(measured(n10, n01), max_silent=max_silent)
    assert (decision.vsr_status, decision.car_status) == (PASS, NOT_APPLICABLE)
    assert decision.status is expected
    assert decision.reasons[-1].startswith("unadmitted shift ")
    assert decision.reasons[-1].endswith(f"max_silent {max_silent:.2f}: {expected}")


def test_admitted_shifts_are_not_unadmitted() -> None:
    """A shift that is admitted counts against VSR, never against max_silent."""
    decision = decided(measured(8, 0, admitted=8), max_silent=0.03)
    assert "unadmitted shift 0.00 (" in decision.message
    assert decision.status is PASS
    assert decided(measured(8, 0, admitted=0), car_threshold=0.01, max_silent=0.03).status is FAIL


def test_without_max_silent_the_shift_is_no_matter() -> None:
    """max_silent is optional: unset, an unadmitted shift that VSR and CAR tolerate passes without a word."""
    decision = decided(measured(7, 0))
    assert decision.status is PASS
    assert "unadmitted" not in decision.message


# --- invalid pairs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("valid", "invalid", "max_invalid", "expected"),
    [
        (91, 9, 0.05, PASS),  # Clopper-Pearson .0478
        (90, 10, 0.05, ERROR),  # .0553
        (99, 1, 0.0, ERROR),
        (100, 0, 0.0, PASS),
        (84, 16, 0.10, ERROR),  # .1034
        (10, 2, 0.05, INCONCLUSIVE),  # .0305: as many as 17% of twelve may be chance
    ],
)
def test_too_many_invalid_pairs_are_an_error(valid: int, invalid: int, max_invalid: float, expected: Status) -> None:
    """An ERROR needs a one-sided 95% lower bound of the invalid share above max_invalid: less may be chance."""
    decision = decided(measured(0, 0, valid, x1=invalid), max_invalid=max_invalid, vsr_tolerance=0.3)
    assert decision.status is expected


def test_an_error_decides_nothing_else(snapshot: SnapshotAssertion) -> None:
    """An ERROR names counts, kinds, limit and where to look, and gives neither p-values nor a CAR."""
    decision = decided(measured(30, 0, 90, x1=6, both=4))
    assert statuses(decision) == (ERROR, NOT_APPLICABLE, ERROR)
    assert (decision.p_pass, decision.p_fail, decision.needed_pairs) == (None, None, None)
    assert lines_about(decision.message, "max_invalid") == snapshot
    assert "max_invalid = 0.05" in decision.message
    assert "judgments.jsonl" in decision.message


def test_no_valid_pair_is_an_error_whatever_the_limit() -> None:
    """Without one complete pair nothing can be decided, even under a limit that allows it."""
    assert decided(measured(0, 0, 0, x1=3), max_invalid=0.99).status is ERROR
    assert decided(measured(0, 0, 0)).status is ERROR


@pytest.mark.parametrize(
    ("flips", "invalid", "expected"),
    [
        ((8, 0), {}, PASS),
        ((8, 0), {"x2": 2, "y1": 2}, PASS),  # could only have gone against the shift
        ((8, 0), {"x1": 4}, INCONCLUSIVE),
        ((8, 0), {"y2": 4}, INCONCLUSIVE),
        ((8, 0), {"both": 4}, INCONCLUSIVE),
        ((0, 8), {"x1": 2, "y2": 2}, PASS),
        ((0, 8), {"x2": 4}, INCONCLUSIVE),
        ((0, 8), {"y1": 4}, INCONCLUSIVE),
        ((2, 2), {"x1": 2, "both": 2}, PASS),  # holds whatever the four had said
    ],
)
def test_a_pass_must_hold_in_the_worst_case(flips: tuple[int, int], invalid: dict[str, int], expected: Status) -> None:
    """A PASS that the worst completion of invalid pairs would undo is INCONCLUSIVE; others stay."""
    decision = decided(measured(*flips, 96, admitted=8 if flips[0] > 2 else 0, **invalid), car_threshold=0.01)
    assert decision.vsr_status is expected


def test_the_worst_case_is_explained(snapshot: SnapshotAssertion) -> None:
    """The doubt shows the estimate, the tolerance, how many pairs are invalid and the worst interval."""
    decision = decided(measured(8, 0, 96, x1=3, x2=1))
    low, high = paired_difference(8, 1, 100).low, paired_difference(11, 0, 100).high
    assert decision.reasons[0] == snapshot
    assert f"{low:.3f} to {high:.3f} (limit" in decision.reasons[0]


@pytest.mark.parametrize(("invalid", "expected"), [(0, PASS), (9, INCONCLUSIVE)])
def test_a_pass_over_both_orders_must_hold_in_the_worst_case(invalid: int, expected: Status) -> None:
    """A cue's effect in four cells passes only if it does with every invalid verdict for it, and against it."""
    condition = contrasts("recency")[0].x

    def arm(lacks: int) -> list[Judgment]:
        found: list[Literal[1, 2] | None] = [*[None] * lacks, *[2] * (60 - lacks), *[1] * 40]  # type: ignore[list-item]
        return [
            Judgment(
                Pair(f"p{number}", "Q", "A", "B"), condition, JudgeReply(Verdict(choice, "", None if choice else "tie"))
            )
            for number, choice in enumerate(found)
        ]

    measured = measure_four_cells([arm(invalid), arm(0), arm(invalid), arm(0)])
    decision = decide_four_cells(measured, 100, GateTable(vsr_tolerance=0.05))
    assert decision.status is expected
    assert ("could be" in decision.message) == bool(invalid)


def test_the_worst_case_never_turns_a_fail() -> None:
    """A FAIL stays a FAIL, whatever the invalid pairs might have been."""
    assert decided(measured(30, 0, 96, x2=4)).vsr_status is FAIL


def test_invalid_pairs_are_noted() -> None:
    """Few invalid pairs are noted with their kinds; without any there is no note."""
    note = decided(measured(0, 0, 98, x1=1, both=1)).reasons[-1]
    assert note == "2 of 100 pairs invalid (refusal 3)"
    assert "invalid" not in decided(measured(0, 0)).message


@pytest.mark.parametrize(
    ("invalid", "noted"),
    [
        ({"x1": 5}, False),  # exact McNemar p = .0625
        ({"x1": 6}, True),  # .0313
        ({"y1": 3, "y2": 3}, True),
        ({"x1": 3, "y1": 3}, False),
        ({"both": 6}, False),
    ],
)
def test_differential_invalidity_is_noted(invalid: dict[str, int], noted: bool) -> None:
    """Where one label order gives invalid verdicts more often than the other, the message says so, with p."""
    message = decided(measured(0, 0, 94, **invalid), max_invalid=0.2).message
    assert ("label order than" in message) == noted
    assert ("more often" in message) == noted


# --- the rule as a whole ----------------------------------------------------------------------------------


def restricted_z(counts: Mapping[float, int], mean: float, end: float) -> float:
    """Return z of "the mean is `mean`" by empirical likelihood over the scores and -end or end, solved by scipy."""
    n = sum(counts.values())
    seen = sum(score * count for score, count in counts.items()) / n
    if abs(seen - mean) < 1e-12:
        return 0.0
    scores = {score - mean: count for score, count in counts.items() if count}
    bound = (-end if seen > mean else end) - mean

    def slope(tilt: float) -> float:
        return sum(count * score / (1 + tilt * score) for score, count in scores.items())

    limit = -1 / bound
    if min(1 + limit * score for score in scores) <= 1e-12:
        limit *= 1 - 1e-12
    tilt = brentq(slope, 0, limit, xtol=1e-15) if slope(0) * slope(limit) < 0 else limit
    chances = {score: count / n / (1 + tilt * score) for score, count in scores.items()}
    variance = sum(chance * score**2 for score, chance in chances.items()) + (1 - sum(chances.values())) * bound**2
    return (seen - mean) / math.sqrt(variance / n)


def shortfall(counts: Mapping[float, int], end: float, confidence: float = 0.9) -> tuple[float, float]:
    """Return the means that are not rejected at either end."""
    z, n = norm.ppf((1 + confidence) / 2), sum(counts.values())
    seen = sum(score * count for score, count in counts.items()) / n
    low = brentq(lambda mean: restricted_z(counts, mean, end) - z, -end + 1e-9, seen)
    return low, brentq(lambda mean: restricted_z(counts, mean, end) + z, seen, end - 1e-9)


def three_way(passes: bool, fails: bool) -> Status:
    """Return PASS, FAIL or INCONCLUSIVE."""
    return PASS if passes else FAIL if fails else INCONCLUSIVE


@settings(deadline=None, max_examples=40)
@given(
    n10=st.integers(0, 40),
    n01=st.integers(0, 12),
    n=st.sampled_from([60, 100]),
    admitted=st.integers(0, 40),
    tolerance=st.sampled_from([0.05, 0.10, 0.15, 0.2]),
    threshold=st.sampled_from([0.1, 0.5, 0.8]),
    max_silent=st.sampled_from([None, 0.02, 0.1, 0.3]),
    confidence=st.sampled_from([0.8, 0.9, 0.95]),
)
def test_the_rule_of_the_design(
    n10: int,
    n01: int,
    n: int,
    admitted: int,
    tolerance: float,
    threshold: float,
    max_silent: float | None,
    confidence: float,
) -> None:
    """Every status follows from the counts by the design's rule, recomputed here from bounds alone."""
    assume(n10 + n01 <= n)
    admitted = min(admitted, n10)
    found = measured(n10, n01, n, admitted, confidence)
    decision = decided(
        found, vsr_tolerance=tolerance, car_threshold=threshold, max_silent=max_silent, confidence=confidence
    )
    interval = paired_difference(n10, n01, n, confidence)
    vsr = three_way(
        -tolerance < interval.low and interval.high < tolerance, interval.low > tolerance or interval.high < -tolerance
    )
    towards = 1 if (n10 - n01, n10 - admitted - n01) >= (0, 0) else -1
    car = silent = NOT_APPLICABLE
    if n10 != n01 and binomtest(n10, n10 + n01).pvalue < 0.01:
        told = Counter({(1, 1): admitted, (1, 0): n10 - admitted, (-1, 0): n01, (0, 0): n - n10 - n01})
        counts = Counter[float]()
        for (moved, said), pairs in told.items():
            counts[towards * (threshold * moved - said)] += pairs
        z, critical = restricted_z(counts, 0.0, 1 + threshold), norm.ppf((1 + confidence) / 2)
        car = three_way(z < -critical, z > critical)
    if max_silent is not None:
        hidden = (n10 - admitted, n01) if towards > 0 else (n01, n10 - admitted)
        low, high = shortfall({1.0: hidden[0], -1.0: hidden[1], 0.0: n - sum(hidden)}, 1.0, confidence)
        silent = three_way(high <= max_silent, low > max_silent)
    order = [NOT_APPLICABLE, PASS, INCONCLUSIVE, FAIL]
    parts = [vsr, silent] if vsr is PASS and car is not FAIL else [vsr, car, silent]
    assert statuses(decision) == (vsr, car, max(parts, key=order.index))


few = st.integers(0, 2)


@settings(deadline=None, max_examples=25)
@given(flips=st.tuples(st.integers(0, 10), st.integers(0, 10)), x1=few, x2=few, y1=few, y2=few, both=few)
def test_invalid_pairs_never_help(flips: tuple[int, int], **invalid: int) -> None:
    """VSR passes only if it passes without the invalid pairs and with each filled in the worst way."""
    decision = decided(measured(*flips, 90, **invalid), max_invalid=0.5)
    pairs = 90 + sum(invalid.values())
    lowest = paired_difference(flips[0], flips[1] + invalid["x2"] + invalid["y1"] + invalid["both"], pairs)
    highest = paired_difference(flips[0] + invalid["x1"] + invalid["y2"] + invalid["both"], flips[1], pairs)
    complete = gate_shift(*flips, 90, 0.15).status
    holds = lowest.low > -0.15 and highest.high < 0.15
    assert decision.vsr_status is (complete if complete is not PASS or holds else INCONCLUSIVE)
