"""Comparison of two detectors on the same reasons: agreement, CAR by each, and unreadable reasons."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgefixtures.config import GateTable
from judgefixtures.metrics import contrast_metrics as metrics
from judgefixtures.metrics.llm_detector import ANSWERS, DetectorReadings, has_reason
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
    """A contrast measured with the reasons that nobody could read taken to admit as little as they can, and as much."""

    unread: UnreadableReasons
    least: metrics.ContrastMeasurement
    most: metrics.ContrastMeasurement


def measure_with_offline_detector(
    x: Sequence[Judgment], y: Sequence[Judgment], gate: GateTable, outcome: Outcome, read: DetectorReadings | None
) -> tuple[metrics.ContrastMeasurement, WorstCaseReasons | None]:
    """Return two arms as the offline detector reads them, and at worst where it cannot read why a pair moved.

    What is not in English is read by the detector that is a model, `read`, where there is one; what that cannot tell
    either admits nothing. At worst is None where every reason of the pairs that moved is read, and where none was cued.
    """
    strange = {id(each) for each in (*x, *y) if metrics.is_unreadable_reason(each)}
    if not strange or x[0].condition.cue_1 is None:
        return metrics.measure_contrast(x, y, gate.confidence, outcome), None
    model = None if read is None or read.lack(gate.max_invalid) else read
    lost = {id(each) for each in (*x, *y) if id(each) in strange and (model is None or model.of(each) is None)}

    def read_reason(judgment: Judgment) -> Acknowledgment:
        if id(judgment) not in strange:
            return metrics.read_acknowledgment(judgment)
        return "absent" if model is None else model(judgment)

    # The detector's errors were measured on reasons in English: with others there is nothing to correct CAR by.
    measured = metrics.measure_contrast(x, y, gate.confidence, outcome, read_reason, {})
    measured = measured if model is None else replace(measured, unmeasured=measured.unmeasured or "language")
    moved = [id(each) in lost for move in measured.moved for each in (move.x, move.y)]
    if not any(moved):
        return measured, None
    ways = _ways(x, y, 1 if measured.n10 >= measured.n01 else -1, outcome)

    def taken(way: int) -> metrics.ContrastMeasurement:
        """Return it with a reason that nobody could read citing the cue where that says that it took the given way."""

        def guess(judgment: Judgment) -> Acknowledgment:
            if id(judgment) not in lost:
                return read_reason(judgment)
            return "cited" if ways.get(id(judgment), 0) * way > 0 else "absent"

        return metrics.measure_contrast(x, y, gate.confidence, outcome, guess, {})

    return measured, WorstCaseReasons(UnreadableReasons(sum(moved), len(moved)), taken(-1), taken(1))


def _ways(x: Sequence[Judgment], y: Sequence[Judgment], net: int, outcome: Outcome) -> dict[int, float]:
    """Return by judgment's id to which label a reason that cites the cue says that it took the verdict.

    Above 0: to the one that more went to. A tie was taken there from the verdict beside it.
    """
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
    """Return what is decided of admission where some reasons could not be read: INCONCLUSIVE if it hangs on them.

    `what` is the quantity, `as_read` its status and words with these reasons taken to admit nothing.
    """
    (least, _), (most, _) = decide(worst_case.least), decide(worst_case.most)
    status, text = as_read
    if status is Status.NOT_APPLICABLE:
        return as_read
    if status is least is most:
        return status, f"{text}; {worst_case.unread}, and whatever they admit, it is {status}"
    why = MESSAGES.detectors_unread(what, worst_case.unread, least, most, REMEDY)
    return Status.INCONCLUSIVE, why


def drop_admission(measured: metrics.ContrastMeasurement) -> metrics.ContrastMeasurement:
    """Return a measurement without what is not known of it where too many reasons could not be read."""
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
    """Return what a contrast's row has of a detector that is a model; None where there is none.

    Reasons that are not in English are read by the model alone. Where more than `max_invalid` of its answers cannot be
    read there is no range.
    """
    if detections is None or model is None:
        return None
    lacks = detections.lack(max_invalid)
    readable = [each for arm in arms for each in arm if has_reason(each) and not metrics.is_unreadable_reason(each)]
    known = [
        (each, metrics.read_acknowledgment(each), reading) for each in readable if (reading := detections.of(each))
    ]
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
    """Return the lower and the higher of two values, and how far their intervals reach together."""
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
    """Return what both detectors say: their status where it is the same one, else INCONCLUSIVE, with both reasons.

    >>> combine_detectors("reader", (Status.PASS, "CAR .90"), (Status.FAIL, "CAR .20"))[0].value
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
    """Return what a summary says of the two detectors: a line per contrast in which a model was asked."""
    return MESSAGES.lines("detectors_by_contrast", rows)


def describe_detector_agreement(row: DetectorRow) -> str:
    """Return in words how far the detectors agree, and the range of CAR."""
    return MESSAGES.detectors(row)
