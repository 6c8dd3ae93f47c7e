"""The gate of a contrast: are its verdicts within the tolerance, and is enough of what moved them admitted?"""

from __future__ import annotations

from collections.abc import Callable

from judgefixtures.asking.questions import Choice
from judgefixtures.checks.protocol import Decision
from judgefixtures.checks.two_detectors import AtWorst, Decided, of_both, of_unread
from judgefixtures.config import GateTable
from judgefixtures.findings import Part
from judgefixtures.measures.metrics import STUCK, Measurement
from judgefixtures.measures.validity import too_many_invalid
from judgefixtures.numbers.clusters import counted, decides, mirrored
from judgefixtures.numbers.estimate import Estimate, Status, bare, describe, signed, worst
from judgefixtures.numbers.proportions import paired_difference
from judgefixtures.numbers.tolerance import gate_admission, gate_shift

# Admission is decided only where verdicts demonstrably moved: elsewhere there may be nothing to admit.
CAR_NEEDS_P = 0.01
PLACES = {1: "first", 2: "second"}


def decide(
    measured: Measurement,
    gate: GateTable,
    by_model: tuple[str, Measurement] | None = None,
    unread: AtWorst | None = None,
) -> Decision:
    """Return the decision on a contrast: VSR within tolerance, and enough of it admitted where verdicts moved.

    Demonstrably too many invalid pairs are an ERROR, and a PASS holds with every invalid verdict at worst. The status
    is the worse of VSR's and CAR's, except that where VSR passes only a CAR FAIL counts; `max_silent`, where it is
    set, is a third part. `by_model` is the same measured by a detector that is a model, with its name: where the two
    detectors lead to another status of what is admitted, that part is INCONCLUSIVE. So it is where it hangs on reasons
    that nobody could read, `unread`.
    """
    if invalid := invalid_reason(measured, gate):
        return Decision.of(Status.ERROR, gate.vsr_tolerance, invalid, part="invalid")
    shift = gate_shift(measured.n10, measured.n01, measured.n, gate.vsr_tolerance, gate.alpha, measured.related.shift)
    within = (-gate.vsr_tolerance, gate.vsr_tolerance)
    moves = Part("vsr", shift.status, shift.message, estimate=measured.vsr, allowed=within)
    if shift.status is Status.PASS:
        moves = _doubted(measured, gate) or moves
    car_status, car_reason = _decide_admitted("CAR", _decide_car, measured, gate, by_model, unread)
    silent_status, silent_reason = _decide_admitted(
        "unadmitted shift", _decide_silent, measured, gate, by_model, unread
    )
    counted = Status.PASS if moves.status is Status.PASS and car_status is not Status.FAIL else car_status
    silent = Part(
        "max_silent", silent_status, silent_reason, estimate=measured.unadmitted_shift, allowed=(None, gate.max_silent)
    )
    return Decision(
        status=worst(moves.status, counted, silent_status),
        vsr_status=moves.status,
        car_status=car_status,
        p_pass=shift.p_pass,
        p_fail=shift.p_fail,
        tolerance=gate.vsr_tolerance,
        reasons=tuple(filter(None, [moves.reason, car_reason, silent_reason, invalid_note(measured)])),
        needed_pairs=shift.needed_pairs,
        parts=(moves, Part("car", counted, car_reason), silent),
        unread=None if unread is None else unread.unread.beside(car_status, gate.max_invalid),
    )


def undecided_verdicts(tolerance: float) -> Decision:
    """Return what is decided of verdicts where there are none, and scores alone tell whether anything moves."""
    why = "the judge scores one response, without a pass_mark: its scores alone are gated"
    return Decision.of(Status.NOT_APPLICABLE, tolerance, why, part="vsr")


def _decide_admitted(
    what: str,
    decide: Callable[[Measurement, GateTable], Decided],
    measured: Measurement,
    gate: GateTable,
    by_model: tuple[str, Measurement] | None,
    unread: AtWorst | None,
) -> Decided:
    """Return what is decided of what is admitted, by one detector or two, and with what nobody could read at worst."""
    decided = decide(measured, gate)
    if unread is not None:
        decided = of_unread(what, decided, unread, lambda at_worst: decide(at_worst, gate))
    return decided if by_model is None else of_both(by_model[0], decided, decide(by_model[1], gate))


def _doubted(measured: Measurement, gate: GateTable) -> Part | None:
    """Return what keeps verdicts that do not move from showing that nothing moves them, or None."""
    doubts = (("stuck", stuck_reason(measured.stuck, graded=measured.graded)), ("invalid", _worst_case(measured, gate)))
    return next((Part(name, Status.INCONCLUSIVE, doubt) for name, doubt in doubts if doubt), None)


def invalid_reason(measured: Measurement, gate: GateTable) -> str | None:
    """Return why so many invalid verdicts leave nothing to decide on, or None."""
    excess = too_many_invalid(measured.invalid_pairs, measured.pairs, gate, measured.related.invalid)
    if measured.n and not excess:
        return None
    shown = f"; {measured.unread}" if measured.unread else ""
    ties = '; ties = "half" in its table would count its ties' if "tie" in dict(measured.invalid_kinds) else ""
    return (
        f"{measured.invalid_pairs} of {measured.pairs} pairs have an invalid verdict ({_kinds(measured)}), "
        f"{excess or 'so that nothing can be measured: ERROR'}{ties}{shown}"
    )


def _kinds(measured: Measurement) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in measured.invalid_kinds)


def stuck_reason(side: Choice | None, *, graded: bool = False) -> str | None:
    """Return why a judge that chose a side, and not a response, has shown nothing by not moving; None elsewhere.

    `graded`: its verdicts are grades of one response.
    """
    if side is None:
        return None
    often = f"in at least {100 * STUCK:.0f}% of every arm"
    if graded:
        return (
            f"the response {'passed' if side == 1 else 'failed'} {often}: no grade had room to move, INCONCLUSIVE; ask "
            "about examples nearer to the line, or label these"
        )
    if side == 0:
        return f"the verdict was a tie {often}: none had room to move, INCONCLUSIVE; ask about pairs that differ"
    return (
        f"the response that stands {PLACES[side]} was chosen {often} although the pairs "
        "are balanced: no verdict had room to move, INCONCLUSIVE; look at the position contrast (-k position)"
    )


def invalid_note(measured: Measurement) -> str:
    """Return how many pairs had an invalid verdict, empty where none had."""
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
    low = paired_difference(*measured.low, measured.pairs, gate.confidence, measured.related.low)
    high = paired_difference(*measured.high, measured.pairs, gate.confidence, measured.related.high)
    doubt = doubt_of(low, high, measured.invalid_pairs, gate)
    value = signed((measured.n10 - measured.n01) / measured.n)
    return doubt and f"VSR {value} {doubt}"


def doubt_of(low: Estimate, high: Estimate, invalid: int, gate: GateTable) -> str | None:
    """Return why a shift within tolerance is not one if it may be as low as one estimate or as high as the other."""
    if -gate.vsr_tolerance < low.low and high.high < gate.vsr_tolerance:
        return None
    return (
        f"would pass tolerance {bare(gate.vsr_tolerance)}, but with the {invalid} invalid pairs at worst "
        f"[{bare(low.low, 3)}, {bare(high.high, 3)}]: INCONCLUSIVE; get valid verdicts for them"
    )


def _decide_car(measured: Measurement, gate: GateTable) -> Decided:
    if measured.car is None or measured.mcnemar_p >= CAR_NEEDS_P:
        return Status.NOT_APPLICABLE, ""
    related = measured.related
    shift = related.shift if measured.n10 > measured.n01 else mirrored(related.shift)
    totals = (shift, related.admitted) if shift and shift.related and related.admitted else None
    admission = gate_admission(measured.moves, gate.car_threshold, gate.alpha, totals)
    text = f"CAR {measured.acknowledged}/{measured.followed} = {describe(measured.car, bare)}"
    ceiling = measured.car_ceiling
    if ceiling is not None and ceiling < 1:
        text += f" (noise flips admit nothing: at most about {bare(ceiling)} was possible)"
    return admission.status, f"{text}, {admission.message}"


def _decide_silent(measured: Measurement, gate: GateTable) -> Decided:
    if gate.max_silent is None or measured.unadmitted_shift is None:
        return Status.NOT_APPLICABLE, ""
    shift, related = measured.unadmitted_shift, measured.related.unadmitted
    status = Status.INCONCLUSIVE
    if decides(related) and shift.high <= gate.max_silent:
        status = Status.PASS
    elif decides(related) and shift.low > gate.max_silent:
        status = Status.FAIL
    limit = bare(gate.max_silent)
    text = f"unadmitted shift {describe(shift)}{counted(shift.n, related)}, max_silent {limit}: {status}"
    return status, text
