"""Comparison of two detectors on the same reasons."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgefixtures.config import GateTable
from judgefixtures.metrics import contrast_metrics as metrics
from judgefixtures.metrics.llm_detector import ANSWERS, DetectorReadings, has_reason
from judgefixtures.metrics.reasons import is_unreadable_reason, read_acknowledgment
from judgefixtures.models.check_rows import ContrastRow, DetectorRow, ShareRange
from judgefixtures.models.contrasts import Outcome
from judgefixtures.models.judgments import Judgment
from judgefixtures.parsing.acknowledgment import Acknowledgment
from judgefixtures.statistics.estimate import Estimate, Status

from .base import UnreadableReasons
from .messages import MESSAGES

Decided = tuple[Status, str]
# What a measurement has of what is admitted, all of it.
OF_ADMISSION = (*metrics.OF_REASONS, "silent_shift_rate", "unadmitted_shift")
REMEDY = 'judge = "NAME" under [tool.judgefixtures.detector]'


# --- what cannot be read --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorstCaseReasons:
    """A contrast with unreadable reasons admitting least and most."""

    unread: UnreadableReasons
    least: metrics.ContrastMeasurement
    most: metrics.ContrastMeasurement


def measure_with_offline_detector(
    x: Sequence[Judgment], y: Sequence[Judgment], gate: GateTable, outcome: Outcome, read: DetectorReadings | None
) -> tuple[metrics.ContrastMeasurement, WorstCaseReasons | None]:
    """Return two arms read by the offline detector, and the worst cases.

    The detector model `read` reads non-English reasons; unreadable ones admit nothing. The worst cases are None if none
    matter.
    """
    strange = {id(each) for each in (*x, *y) if is_unreadable_reason(each)}
    if not strange or x[0].condition.cue_1 is None:
        return metrics.measure_contrast(x, y, gate.confidence, outcome), None
    model = None if read is None or read.lack(gate.max_invalid) else read
    lost = {id(each) for each in (*x, *y) if id(each) in strange and (model is None or model.of(each) is None)}

    def read_reason(judgment: Judgment) -> Acknowledgment:
        if id(judgment) not in strange:
            return read_acknowledgment(judgment)
        return "absent" if model is None else model(judgment)

    # The detector's errors were measured on reasons in English: with others there is nothing to correct CAR by.
    measured = metrics.measure_contrast(x, y, gate.confidence, outcome, read_reason, {})
    measured = measured if model is None else replace(measured, unmeasured=measured.unmeasured or "language")
    moved = [id(each) in lost for move in measured.moved for each in (move.x, move.y)]
    if not any(moved):
        return measured, None
    ways = _ways(x, y, 1 if measured.n10 >= measured.n01 else -1, outcome)

    def taken(way: int) -> metrics.ContrastMeasurement:
        def guess(judgment: Judgment) -> Acknowledgment:
            if id(judgment) not in lost:
                return read_reason(judgment)
            return "cited" if ways.get(id(judgment), 0) * way > 0 else "absent"

        return metrics.measure_contrast(x, y, gate.confidence, outcome, guess, {})

    return measured, WorstCaseReasons(UnreadableReasons(sum(moved), len(moved)), taken(-1), taken(1))


def _ways(x: Sequence[Judgment], y: Sequence[Judgment], net: int, outcome: Outcome) -> dict[int, float]:
    ways: dict[int, float] = {}
    for a, b in zip(x, y, strict=True):
        first, second = metrics.outcome_share(a, outcome), metrics.outcome_share(b, outcome)
        if first is not None and second is not None:
            ways[id(a)] = net * ((2 * first - 1) or first - second)
            ways[id(b)] = net * ((1 - 2 * second) or first - second)
    return ways


def decide_unreadable_reasons(
    what: str, as_read: Decided, worst_case: WorstCaseReasons, decide: Callable[[metrics.ContrastMeasurement], Decided]
) -> Decided:
    """Return a decision, INCONCLUSIVE if unreadable reasons matter.

    `as_read` assumes that they admit nothing.
    """
    (least, _), (most, _) = decide(worst_case.least), decide(worst_case.most)
    status, text = as_read
    if status is Status.NOT_APPLICABLE:
        return as_read
    if status is least is most:
        return status, f"{text}; {worst_case.unread}, which cannot change the {status}"
    why = MESSAGES.detectors_unread(what, worst_case.unread, least, most, REMEDY)
    return Status.INCONCLUSIVE, why


def drop_admission(measured: metrics.ContrastMeasurement) -> metrics.ContrastMeasurement:
    """Return a measurement without admission."""
    nothing: dict[str, Any] = dict.fromkeys(OF_ADMISSION)
    return replace(measured, **nothing)


# --- two detectors --------------------------------------------------------------------------------------------


def detector_row(
    detections: DetectorReadings | None,
    arms: Iterable[Sequence[Judgment]],
    offline: metrics.ContrastMeasurement,
    model: metrics.ContrastMeasurement | None,
    max_invalid: float,
) -> DetectorRow | None:
    """Return a contrast's row of the detector model, or None.

    No range if more than `max_invalid` answers are invalid.
    """
    if detections is None or model is None:
        return None
    lacks = detections.lack(max_invalid)
    readable = [each for arm in arms for each in arm if has_reason(each) and not is_unreadable_reason(each)]
    known = [(each, read_acknowledgment(each), reading) for each in readable if (reading := detections.of(each))]
    counts = Counter((ours, theirs) for _, ours, theirs in known)
    same = [(judgment, ours == theirs) for judgment, ours, theirs in known]
    return DetectorRow.from_sources(
        model,
        detections,
        judge=detections.detector,
        car_range=None if lacks else _range(offline.car, model.car),
        car_all_range=None if lacks else _range(offline.car_all, model.car_all),
        agreement=metrics.estimate_share(same, metrics.cluster_scores(readable), offline.confidence),
        answers={ours: {theirs: counts[ours, theirs] for theirs in ANSWERS} for ours in ANSWERS},
        invalid=detections.unread,
    )


def _range(offline: Estimate | None, model: Estimate | None) -> ShareRange | None:
    if offline is None or model is None:
        return None
    both = (offline, model)
    return ShareRange(
        values=tuple(sorted(each.value for each in both)),
        low=min(each.low for each in both),
        high=max(each.high for each in both),
        confidence=offline.confidence,
    )


def combine_detectors(name: str, offline: Decided, model: Decided) -> Decided:
    """Return the detectors' common status, else INCONCLUSIVE, with both reasons.

    >>> combine_detectors("reader", (Status.PASS, "CAR 0.90"), (Status.FAIL, "CAR 0.20"))[0].value
    'INCONCLUSIVE'
    """
    (status, text), (other, words) = offline, model
    if not (text or words):
        return status, ""
    reason = f"{text}; by the detector {name}: {words}"
    if status is other:
        return status, reason
    return Status.INCONCLUSIVE, f"{reason}; the detectors disagree: INCONCLUSIVE"


def detector_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return a summary line for each contrast with a detector model."""
    return MESSAGES.lines("detectors_by_contrast", rows)


def describe_detector_agreement(row: DetectorRow) -> str:
    """Return the detectors' agreement and range of CAR."""
    return MESSAGES.detectors(row)
