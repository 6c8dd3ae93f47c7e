"""Two detectors on the same reasons: how far they agree, and what CAR is by either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from judgefixtures.checks.wording import limits
from judgefixtures.detectors import ANSWERS, Detections, has_reason
from judgefixtures.findings import Row, estimate_row
from judgefixtures.judgments import Judgment
from judgefixtures.metrics import Measurement, acknowledged, by_cluster
from judgefixtures.statistics import Estimate, Status, bare, proportion


def readings_row(
    detections: Detections | None, arms: Iterable[Sequence[Judgment]], offline: Measurement, model: Measurement | None,
    max_invalid: float,
) -> Row:  # fmt: skip
    """Return the key of a contrast's row on a detector that is a model; no key where there is none.

    `car` and `car_all` are by that detector; the ranges go over both. `answers` count the reasons by what the offline
    detector says and then by what the model says; `agreement` is the share of them with the same answer. Where more
    than `max_invalid` of its answers cannot be read there is no range.
    """
    if detections is None or model is None:
        return {}
    lacks = detections.lack(max_invalid)
    told = [judgment for arm in arms for judgment in arm if has_reason(judgment)]
    known = [(judgment, acknowledged(judgment), said) for judgment in told
             if (said := detections.of(judgment)) is not None]  # fmt: skip
    counts = Counter((ours, theirs) for _, ours, theirs in known)
    same = [(judgment, ours == theirs) for judgment, ours, theirs in known]
    agreement = proportion(sum(each for _, each in same), len(same), offline.confidence,
                           totals=by_cluster(told)(same)) if same else None  # fmt: skip
    return {
        "detector": {
            "judge": detections.detector,
            "car": estimate_row(model.car),
            "car_all": estimate_row(model.car_all),
            "identity": dict(detections.identity),
            "car_range": None if lacks else _range(offline.car, model.car),
            "car_all_range": None if lacks else _range(offline.car_all, model.car_all),
            "agreement": estimate_row(agreement),
            "answers": {ours: {theirs: counts[ours, theirs] for theirs in ANSWERS} for ours in ANSWERS},
            "invalid": detections.unread,
        }
    }


def _range(offline: Estimate | None, model: Estimate | None) -> Row | None:
    """Return the lower and the higher of two values, and how far their intervals reach together."""
    if offline is None or model is None:
        return None
    both = (offline, model)
    return {
        "values": sorted(each.value for each in both),
        "low": min(each.low for each in both),
        "high": max(each.high for each in both),
        "confidence": offline.confidence,
    }


def of_both(name: str, offline: tuple[Status, str], model: tuple[Status, str]) -> tuple[Status, str]:
    """Return what both detectors say: their status where it is the same one, else INCONCLUSIVE, with both reasons.

    >>> of_both("reader", (Status.PASS, "CAR .90"), (Status.FAIL, "CAR .20"))[0].value
    'INCONCLUSIVE'
    """
    (status, text), (other, words) = offline, model
    if not (text or words):
        return status, ""
    said = f"{text}; by the detector {name}: {words}"
    if status is other:
        return status, said
    return Status.INCONCLUSIVE, f"{said}; the detectors disagree: INCONCLUSIVE"


def readings_lines(rows: Sequence[Row]) -> list[str]:
    """Return what a summary says of the two detectors: a line per contrast in which a model was asked."""
    return [f"detectors on {row['judge']} on {row['dataset']} in {row['contrast']}: {readings_text(row)}"
            for row in rows if row.get("detector")]  # fmt: skip


def readings_text(row: Row) -> str:
    """Return in words how far the detectors agree, and the range of CAR."""
    found = row["detector"]
    agreement, car = found["agreement"], found["car_range"]
    parts = []
    if car:
        first, last = car["values"]
        parts.append(f"CAR {bare(first)} to {bare(last)}, {limits(car, 'CI ')} by either")
    if agreement:
        parts.append(f"{found['judge']} and the offline detector say the same of {bare(agreement['value'])} of "
                     f"{agreement['n']} reasons, {limits(agreement, 'CI ')}")  # fmt: skip
    if found["invalid"]:
        parts.append(f"{found['invalid']} of its answers cannot be read and count as not cited"
                     + ("" if car else ": where that is more than max_invalid, nothing is decided by it"))  # fmt: skip
    return "; ".join(parts) or "no reason to read"
