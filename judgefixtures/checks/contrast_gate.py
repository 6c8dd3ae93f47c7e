"""Gate of a contrast: limits on the shift and on the share of admitting reasons."""

from collections.abc import Callable
from dataclasses import replace

from judgefixtures.config import GateTable
from judgefixtures.metrics.contrast_metrics import STUCK, ContrastMeasurement
from judgefixtures.metrics.invalid_limit import MEND, invalid_excess
from judgefixtures.models.findings import DecisionPart
from judgefixtures.models.judgments import Choice
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary
from judgefixtures.statistics.clusters import describe_clusters, negated
from judgefixtures.statistics.estimate import (
    Estimate,
    Status,
    format_estimate,
    format_share,
    format_signed,
    worst_status,
)
from judgefixtures.statistics.gates import gate_admission, gate_shift, settled
from judgefixtures.statistics.proportions import paired_difference

from .base import GateDecision
from .detector_agreement import Decided, WorstCaseReasons, combine_detectors, decide_unreadable_reasons
from .messages import MESSAGES

# Admission is decided only where verdicts demonstrably moved: elsewhere there may be nothing to admit.
CAR_NEEDS_P = 0.01
OFTEN = f"in at least {100 * STUCK:.0f}% of every arm"


def decide_contrast(
    measured: ContrastMeasurement,
    gate: GateTable,
    by_model: tuple[str, ContrastMeasurement] | None = None,
    unread: WorstCaseReasons | None = None,
    *,
    by_scores: bool = False,
) -> GateDecision:
    """Return the decision on VSR, CAR and `max_silent`.

    Too many invalid pairs are an ERROR. A PASS holds for any value of invalid verdicts. If VSR passes, only a CAR FAIL
    counts. INCONCLUSIVE if admission depends on the detector (`by_model`) or on `unread` reasons. `by_scores`: scores
    are gated instead.
    """
    if invalid := invalid_decision(measured, gate, gate.vsr_tolerance):
        return invalid
    counts = (measured.n10, measured.n01, measured.n)
    shift = gate_shift(*counts, gate.vsr_tolerance, gate.alpha, measured.related.shift, measured.wording.many)
    within = (-gate.vsr_tolerance, gate.vsr_tolerance)
    moves = DecisionPart("vsr", shift.status, shift.message, estimate=measured.vsr, allowed=within)
    if by_scores:
        moves = _moves_text(shift.estimate, measured)
    if moves.status is Status.PASS:
        moves = _doubted(measured, gate) or moves
    car_status, car_why = _decide_admitted("CAR", _decide_car, measured, gate, by_model, unread)
    silent_status, silent_why = _decide_admitted("unadmitted shift", _decide_silent, measured, gate, by_model, unread)
    settled = moves.status in (Status.PASS, Status.NOT_APPLICABLE)
    admitted = DecisionPart(
        "car",
        moves.status if settled and car_status is not Status.FAIL else car_status,
        car_why,
        MESSAGES.too_few_admit(measured, gate.car_threshold) if car_status is Status.FAIL else "",
        measured.car,
        (gate.car_threshold, None),
    )
    silent = DecisionPart(
        "max_silent",
        silent_status,
        silent_why,
        MESSAGES.too_silent(measured.unadmitted_shift, gate.max_silent) if silent_status is Status.FAIL else "",
        measured.unadmitted_shift,
        (None, gate.max_silent),
    )
    admitted, silent = (_confirmed(part, measured, gate) for part in (admitted, silent))
    return GateDecision(
        status=worst_status(moves.status, admitted.status, silent.status),
        vsr_status=moves.status,
        car_status=car_status if car_status is not Status.FAIL else admitted.status,
        p_pass=None if by_scores else shift.p_pass,
        p_fail=None if by_scores else shift.p_fail,
        tolerance=gate.vsr_tolerance,
        reasons=tuple(filter(None, [moves.reason, admitted.reason, silent.reason, MESSAGES.invalid(measured)])),
        needed_pairs=None if by_scores else shift.needed_pairs,
        parts=(moves, admitted, silent),
        unread=None if unread is None else unread.unread.beside(car_status, gate.max_invalid),
    )


def _confirmed(part: DecisionPart, measured: ContrastMeasurement, gate: GateTable) -> DecisionPart:
    if part.status is not Status.FAIL or not measured.unmeasured or gate.car_unmeasured == "fail":
        return part
    why = f"the detector's recall is unknown for this {measured.unmeasured}"
    reason = f'{part.reason}, but INCONCLUSIVE: {why}; to gate it all the same, set car_unmeasured = "fail"'
    return replace(part, status=Status.INCONCLUSIVE, reason=reason, text=f"{part.text}, but {why}")


def _moves_text(vsr: Estimate, measured: ContrastMeasurement) -> DecisionPart:
    of = describe_clusters(measured.n, measured.related.shift, measured.wording.many)
    why = f"VSR {format_estimate(vsr)}{of} of verdicts made from scores: shown only, the scores are gated"
    return DecisionPart("vsr", Status.NOT_APPLICABLE, why, estimate=measured.vsr)


def undecided_verdicts(tolerance: float) -> GateDecision:
    """Return the decision of a contrast without verdicts."""
    why = "the judge scores one response without pass_mark: only its scores are gated"
    return GateDecision.of(Status.NOT_APPLICABLE, tolerance, why, part="vsr")


def _decide_admitted(
    what: str,
    decide: Callable[[ContrastMeasurement, GateTable], Decided],
    measured: ContrastMeasurement,
    gate: GateTable,
    by_model: tuple[str, ContrastMeasurement] | None,
    unread: WorstCaseReasons | None,
) -> Decided:
    decided = decide(measured, gate)
    if unread is not None:
        decided = decide_unreadable_reasons(what, decided, unread, lambda at_worst: decide(at_worst, gate))
    return decided if by_model is None else combine_detectors(by_model[0], decided, decide(by_model[1], gate))


def _doubted(measured: ContrastMeasurement, gate: GateTable) -> DecisionPart | None:
    doubts = (("stuck", stuck_reason(measured.stuck, measured.wording)), ("invalid", _worst_case(measured, gate)))
    return next((DecisionPart(name, Status.INCONCLUSIVE, f"INCONCLUSIVE: {why}") for name, why in doubts if why), None)


def invalid_decision(measured: ContrastMeasurement, gate: GateTable, tolerance: float) -> GateDecision | None:
    """Return the ERROR for too many invalid verdicts, with an example, or None."""
    words, invalid = measured.wording, measured.invalid_pairs
    excess = invalid_excess(invalid, measured.pairs, gate, measured.related.invalid)
    if measured.n and not excess:
        return None
    kinds = MESSAGES.invalid_kinds(measured)
    text = f"{invalid} of {measured.pairs} {words.many} have an invalid {words.says} ({kinds}), "
    what = excess or "so nothing can be measured"
    ties = '; to count ties, set ties = "half"' if "tie" in dict(measured.invalid_kinds) else ""
    if measured.unread:
        decided = GateDecision.of(Status.ERROR, tolerance, f"{text}{what}: {measured.unread}{ties}", part="invalid")
        (part,) = decided.parts
        return replace(decided, parts=(replace(part, text=text + what),))
    mend = f"; {MEND}" if excess else ""
    return GateDecision.of(Status.ERROR, tolerance, f"{text}{what}: ERROR{mend}{ties}", part="invalid")


def stuck_reason(choice: Choice | None, wording: Vocabulary = OF_PAIRS) -> str | None:
    """Return why a constant judge shows nothing, or None."""
    return None if choice is None else wording.stuck[choice].format(often=OFTEN)


def _worst_case(measured: ContrastMeasurement, gate: GateTable) -> str | None:
    if not measured.invalid_pairs:
        return None
    low = paired_difference(*measured.low, measured.pairs, gate.confidence, measured.related.low)
    high = paired_difference(*measured.high, measured.pairs, gate.confidence, measured.related.high)
    doubt = describe_doubt(low, high, measured.invalid_pairs, gate, measured.wording)
    value = format_signed((measured.n10 - measured.n01) / measured.n)
    return doubt and f"VSR {value}; {doubt}"


def describe_doubt(
    low: Estimate, high: Estimate, invalid: int, gate: GateTable, wording: Vocabulary = OF_PAIRS
) -> str | None:
    """Return why two bounds of a shift leave it undecided, or None."""
    if -gate.vsr_tolerance < low.low and high.high < gate.vsr_tolerance:
        return None
    return MESSAGES.worst_case(low, high, invalid, gate.vsr_tolerance, wording)


def _decide_car(measured: ContrastMeasurement, gate: GateTable) -> Decided:
    if measured.unreasoned:
        return Status.NOT_APPLICABLE, "CAR is NOT_APPLICABLE: the judge gives no reasons"
    if measured.car is None or measured.mcnemar_p >= CAR_NEEDS_P:
        return Status.NOT_APPLICABLE, ""
    related = measured.related
    shift = related.shift if measured.n10 > measured.n01 else negated(related.shift)
    totals = (shift, related.admitted) if shift and shift.related and related.admitted else None
    admission = gate_admission(measured.moves, gate.car_threshold, gate.alpha, totals, measured.wording.many)
    text = f"CAR {measured.acknowledged}/{measured.followed} = {format_estimate(measured.car, format_share)}"
    ceiling = measured.car_ceiling
    if ceiling is not None and ceiling < 1:
        text += f", at most about {format_share(ceiling)} is possible with this noise"
    return admission.status, f"{text}, {admission.message}"


def _decide_silent(measured: ContrastMeasurement, gate: GateTable) -> Decided:
    if gate.max_silent is None or measured.unadmitted_shift is None:
        return Status.NOT_APPLICABLE, ""
    shift, related = measured.unadmitted_shift, measured.related.unadmitted
    status = settled(shift.high <= gate.max_silent, shift.low > gate.max_silent, related)
    of, limit = describe_clusters(shift.n, related, measured.wording.many), format_share(gate.max_silent)
    return status, f"unadmitted shift {format_estimate(shift)}{of}, max_silent {limit}: {status}"
