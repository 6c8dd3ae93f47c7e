"""Gates: from a measurement and what is tolerated to PASS, FAIL, INCONCLUSIVE, NOT_APPLICABLE or ERROR.

A status is the item's own: no other item, and no adjustment for how many ran, can change it.
"""

from __future__ import annotations

from dataclasses import dataclass

from judgefixtures.config import GateTable
from judgefixtures.metrics import Accuracy, FourCells, Measurement
from judgefixtures.plans import Tally
from judgefixtures.statistics import (
    Estimate,
    Status,
    advice,
    bare,
    describe,
    gate_non_inferiority,
    gate_shift,
    paired_difference,
    pairs_for_mean,
    proportion,
    signed,
    worst,
)

# CAR is decided only where verdicts demonstrably moved; elsewhere noise flips would be blamed on the judge.
CAR_NEEDS_P = 0.01
# Two-sided, so that the lower bound of an exact interval is one-sided at 95%, whatever `confidence` is.
INVALID_CONFIDENCE = 0.90


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate says about a contrast: the item's status, its parts, and why in one line each."""

    status: Status
    vsr_status: Status
    car_status: Status
    p_pass: float | None
    p_fail: float | None
    tolerance: float
    reasons: tuple[str, ...]
    needed_pairs: int | None = None

    @property
    def message(self) -> str:
        """Every reason in one line."""
        return "; ".join(self.reasons)


def decide(measured: Measurement, gate: GateTable) -> Decision:
    """Return the decision on a contrast: VSR within tolerance, and CAR above its threshold where verdicts moved.

    Demonstrably too many invalid pairs are an ERROR, and a PASS holds with every invalid verdict at worst. The status
    is the worse of VSR's and CAR's, except that where VSR passes only a CAR FAIL counts; `max_silent`, where it is
    set, is a third part.
    """
    if invalid := _too_many_invalid(measured, gate):
        return Decision(Status.ERROR, Status.ERROR, Status.NOT_APPLICABLE, None, None, gate.vsr_tolerance, (invalid,))
    shift = gate_shift(measured.n10, measured.n01, measured.n, gate.vsr_tolerance, gate.alpha)
    vsr_status, vsr_reasons = shift.status, [shift.message]
    if vsr_status is Status.PASS and (doubt := _worst_case(measured, gate)):
        vsr_status, vsr_reasons = Status.INCONCLUSIVE, [doubt]
    car_status, car_reason = _decide_car(measured, gate)
    silent_status, silent_reason = _decide_silent(measured, gate)
    counted = Status.PASS if vsr_status is Status.PASS and car_status is not Status.FAIL else car_status
    return Decision(
        status=worst(vsr_status, counted, silent_status),
        vsr_status=vsr_status,
        car_status=car_status,
        p_pass=shift.p_pass,
        p_fail=shift.p_fail,
        tolerance=gate.vsr_tolerance,
        reasons=tuple(filter(None, [*vsr_reasons, car_reason, silent_reason, _invalid_note(measured)])),
        needed_pairs=shift.needed_pairs,
    )


def decide_edit(measured: Measurement, gate: GateTable, tolerance: float) -> Decision:
    """Return the decision on an edit: the net share of verdicts that move to the edited response is within tolerance.

    One-sided: a judge may well think less of an edited response. PASS when the upper bound of the (1 - 2 alpha)
    Tango interval is below the tolerance, also with every invalid verdict at worst; FAIL when the lower one is above.
    """
    if invalid := _too_many_invalid(measured, gate):
        return Decision(Status.ERROR, Status.ERROR, Status.NOT_APPLICABLE, None, None, tolerance, (invalid,))
    # "No worse by more than a margin", with "was chosen when plain, no longer when edited" as the good outcome.
    result = gate_non_inferiority(measured.n01, measured.n10, measured.n, tolerance, gate.alpha)
    status, gained = result.status, paired_difference(measured.n10, measured.n01, measured.n, gate.confidence)
    reason = f"net share moved to the edited response {describe(gained)}, tolerance {bare(tolerance)}: {status}"
    worst_case = paired_difference(*measured.high, measured.pairs, gate.confidence)
    if status is Status.PASS and worst_case.high >= tolerance:
        status = Status.INCONCLUSIVE
        reason = (
            f"net share moved to the edited response {describe(gained)} would pass tolerance {bare(tolerance)}, but "
            f"with the {measured.invalid_pairs} invalid pairs at worst up to {bare(worst_case.high, 3)}: INCONCLUSIVE; "
            "get valid verdicts for them"
        )
    elif status is Status.INCONCLUSIVE:
        reason += f"; {advice(result.needed_pairs, measured.n, 'tolerance')}"
    gross = f"gross: {measured.n10} of {measured.n} verdicts moved to the edited response, {measured.n01} away from it"
    return Decision(
        status, status, Status.NOT_APPLICABLE, result.p_pass, result.p_fail, tolerance,
        tuple(filter(None, [reason, gross, _invalid_note(measured)])), result.needed_pairs,
    )  # fmt: skip


def decide_accuracy(measured: Accuracy, gate: GateTable) -> Decision:
    """Return the decision on a dataset's accuracy: above min_accuracy, where one is configured.

    PASS when the one-sided exact lower bound exceeds it, FAIL when the upper one is below, else INCONCLUSIVE.
    Without min_accuracy nothing is decided (NOT_APPLICABLE), except that demonstrably too many invalid answers are an
    ERROR. An invalid answer is wrong, so that a PASS holds at worst.
    """
    shown = f"accuracy {measured.correct}/{measured.n} = {_interval(measured.accuracy)}"
    if excess := too_many_invalid(measured.invalid, measured.n, gate):
        return _accuracy_decision(Status.ERROR, gate, f"{shown}; {measured.invalid} answers are invalid, {excess}")
    if gate.min_accuracy is None:
        return _accuracy_decision(Status.NOT_APPLICABLE, gate, f"{shown}; no min_accuracy is configured")
    exact = proportion(measured.correct, measured.n, gate.confidence, "exact")
    status = Status.INCONCLUSIVE
    if exact.low > gate.min_accuracy:
        status = Status.PASS
    elif exact.high < gate.min_accuracy:
        status = Status.FAIL
    return _accuracy_decision(status, gate, f"{shown}, min_accuracy {bare(gate.min_accuracy)}: {status}")


def decide_plans(counted: Tally, made: bool, gate: GateTable) -> tuple[Decision, Estimate | None]:
    """Return the decision on a judge's plans with the share of degenerate ones, None for hand-made plans.

    FAIL for any leak. PASS when the one-sided exact upper bound of the share is below max_degenerate, FAIL when the
    lower one exceeds it, else INCONCLUSIVE. Hand-made plans (`made` False) are no sample: without a leak they PASS.
    """
    shown = f"{counted.planned} of {counted.n} plans are used as they were made"
    if counted.leaks:
        reason = f"{counted.leaks} of {counted.n} plans leak: they prefer a response or name a bias: FAIL"
        return _plan_decision(Status.FAIL, gate, reason), _degenerate(counted, gate) if made else None
    if not made:
        return _plan_decision(Status.PASS, gate, f"{shown}: hand-made, by kind of task, without a leak: PASS"), None
    exact = proportion(counted.fallback, counted.n, gate.confidence, "exact")
    status = Status.INCONCLUSIVE
    if exact.high < gate.max_degenerate:
        status = Status.PASS
    elif exact.low > gate.max_degenerate:
        status = Status.FAIL
    share = _degenerate(counted, gate)
    faults = "".join(f", {fault} {count}" for fault, count in counted.faults.items())
    reason = (
        f"degenerate plans {counted.fallback}/{counted.n} = {_interval(exact)}{faults}, "
        f"max_degenerate {bare(gate.max_degenerate)}: {status}"
    )
    return _plan_decision(status, gate, reason), share


def _degenerate(counted: Tally, gate: GateTable) -> Estimate:
    return proportion(counted.fallback, counted.n, gate.confidence, "exact")


def _plan_decision(status: Status, gate: GateTable, reason: str) -> Decision:
    return Decision(status, status, Status.NOT_APPLICABLE, None, None, gate.max_degenerate, (reason,))


def decide_four_cells(measured: FourCells | None, pairs: int, gate: GateTable) -> Decision:
    """Return the decision on a cue's effect with the order balanced out: within the tolerance, or beyond it.

    A PASS holds with every invalid verdict at worst, too.
    """
    invalid = pairs if measured is None else measured.invalid_pairs
    excess = too_many_invalid(invalid, pairs, gate)
    if measured is None or excess:
        reason = f"{invalid} of {pairs} pairs have an invalid verdict in one of four cells, {excess or 'ERROR'}"
        return Decision(Status.ERROR, Status.ERROR, Status.NOT_APPLICABLE, None, None, gate.vsr_tolerance, (reason,))
    status = Status.INCONCLUSIVE
    if -gate.vsr_tolerance < measured.cue.low and measured.cue.high < gate.vsr_tolerance:
        status = Status.PASS
    elif measured.cue.low > gate.vsr_tolerance or measured.cue.high < -gate.vsr_tolerance:
        status = Status.FAIL
    settles = ""
    if status is Status.INCONCLUSIVE:
        needed = pairs_for_mean(measured.cue, gate.vsr_tolerance)
        settles = f"; {advice(needed, measured.cue.n, 'tolerance')}"
    if status is Status.PASS and measured.worst and (doubt := _doubt(*measured.worst, invalid, gate)):
        status, settles = Status.INCONCLUSIVE, f"; {doubt}"
    shown = f"VSR {describe(measured.cue)}, tolerance {bare(gate.vsr_tolerance)}: {status}"
    reasons = (
        f"cue effect over both orders: {shown}{settles}",
        f"position effect: first chosen {describe(measured.position)} more often than half",
    )
    return Decision(status, status, Status.NOT_APPLICABLE, None, None, gate.vsr_tolerance, reasons)


def _accuracy_decision(status: Status, gate: GateTable, reason: str) -> Decision:
    return Decision(status, status, Status.NOT_APPLICABLE, None, None, gate.min_accuracy or 0.0, (reason,))


def _interval(estimate: Estimate) -> str:
    level = f"{100 * estimate.confidence:.10g}%"
    return f"{bare(estimate.value)}, {level} CI [{bare(estimate.low, 3)}, {bare(estimate.high, 3)}]"


def too_many_invalid(invalid: int, n: int, gate: GateTable) -> str | None:
    """Return what is to be said of so many invalid verdicts of n where their share demonstrably exceeds max_invalid.

    Demonstrably: its one-sided 95% Clopper-Pearson lower bound does. Fewer may be chance, and leave the gate to decide.
    """
    if not invalid:
        return None
    least = proportion(invalid, n, INVALID_CONFIDENCE, "exact").low
    if least <= gate.max_invalid:
        return None
    return (
        f"demonstrably more than max_invalid = {bare(gate.max_invalid)} allows (at least {bare(least, 3)}, one-sided "
        "95%): ERROR; see the invalid column of judgments.jsonl, mend the judge or its prompt, and record again"
    )


def _too_many_invalid(measured: Measurement, gate: GateTable) -> str | None:
    excess = too_many_invalid(measured.invalid_pairs, measured.pairs, gate)
    if measured.n and not excess:
        return None
    return (
        f"{measured.invalid_pairs} of {measured.pairs} pairs have an invalid verdict ({_kinds(measured)}), "
        f"{excess or 'so that nothing can be measured: ERROR'}"
    )


def _kinds(measured: Measurement) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in measured.invalid_kinds)


def _invalid_note(measured: Measurement) -> str:
    if not measured.invalid_pairs:
        return ""
    note = f"{measured.invalid_pairs} of {measured.pairs} pairs invalid ({_kinds(measured)})"
    if measured.invalid_p < 0.05:
        note += f", more often with one label order than with the other (p = {measured.invalid_p:.3f})"
    return note


def _worst_case(measured: Measurement, gate: GateTable) -> str | None:
    """Return why a PASS does not hold if every invalid verdict had gone the worst way, or None."""
    if not measured.invalid_pairs:
        return None
    low = paired_difference(*measured.low, measured.pairs, gate.confidence)
    high = paired_difference(*measured.high, measured.pairs, gate.confidence)
    doubt = _doubt(low, high, measured.invalid_pairs, gate)
    value = signed((measured.n10 - measured.n01) / measured.n)
    return doubt and f"VSR {value} {doubt}"


def _doubt(low: Estimate, high: Estimate, invalid: int, gate: GateTable) -> str | None:
    """Return why a shift within tolerance is not one if it may be as low as one estimate or as high as the other."""
    if -gate.vsr_tolerance < low.low and high.high < gate.vsr_tolerance:
        return None
    return (
        f"would pass tolerance {bare(gate.vsr_tolerance)}, but with the {invalid} invalid pairs at worst "
        f"[{bare(low.low, 3)}, {bare(high.high, 3)}]: INCONCLUSIVE; get valid verdicts for them"
    )


def _decide_car(measured: Measurement, gate: GateTable) -> tuple[Status, str]:
    if measured.car is None or measured.mcnemar_p >= CAR_NEEDS_P:
        return Status.NOT_APPLICABLE, ""
    exact = proportion(measured.acknowledged, measured.followed, gate.confidence, "exact")
    status = Status.INCONCLUSIVE
    if exact.low > gate.car_threshold:
        status = Status.PASS
    elif exact.high < gate.car_threshold:
        status = Status.FAIL
    text = (
        f"CAR {measured.acknowledged}/{measured.followed} = {bare(measured.car.value)}, "
        f"{100 * gate.confidence:.10g}% CI [{bare(measured.car.low, 3)}, {bare(measured.car.high, 3)}], "
        f"threshold {bare(gate.car_threshold)}: {status}"
    )
    ceiling = measured.car_ceiling
    if ceiling is not None and ceiling < 1:
        text += f" (noise flips admit nothing: at most about {bare(ceiling)} was possible)"
    return status, text


def _decide_silent(measured: Measurement, gate: GateTable) -> tuple[Status, str]:
    if gate.max_silent is None or measured.silent_shift_rate is None:
        return Status.NOT_APPLICABLE, ""
    rate = measured.silent_shift_rate
    status = Status.INCONCLUSIVE
    if rate.high <= gate.max_silent:
        status = Status.PASS
    elif rate.low > gate.max_silent:
        status = Status.FAIL
    text = (
        f"silent-shift rate {bare(rate.value)}, {100 * rate.confidence:.10g}% CI "
        f"[{bare(rate.low, 3)}, {bare(rate.high, 3)}], max_silent {bare(gate.max_silent)}: {status}"
    )
    return status, text
