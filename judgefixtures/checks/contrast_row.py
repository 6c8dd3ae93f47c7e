"""Report row of a contrast, with the default of every column."""

from dataclasses import replace
from typing import Any

from judgefixtures.metrics.contrast_metrics import ContrastMeasurement
from judgefixtures.models.check_rows import ContrastRow, SelectionRate
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.findings import DecisionPart, cluster_count
from judgefixtures.statistics.estimate import Status

from . import plain_language as plain
from .base import GateDecision
from .messages import MESSAGES


def contrast_row(
    judge: str, dataset: str, contrast: Contrast, measured: ContrastMeasurement, decision: GateDecision, **columns: Any
) -> ContrastRow:
    """Return the row of a measured contrast, with further columns."""
    n, edit = measured.n, contrast.x.edit
    rate = None
    if n and contrast.outcome == "chose-first":
        rate = SelectionRate(xy=(measured.n11 + measured.n10) / n, yx=(measured.n11 + measured.n01) / n)
    return ContrastRow.from_sources(
        measured,
        decision,
        _unmeasured_row(judge, dataset, contrast),
        clusters=cluster_count(measured.related.shift),
        first_selection_rate=rate,
        gross_share=measured.gross_share if edit else None,
        text=_text(judge, dataset, contrast, measured, decision),
        moved=tuple(move.x.pair.id for move in measured.moved),
        **columns,
    )


def error_row(judge: str, dataset: str, contrast: Contrast, tolerance: float, message: str) -> ContrastRow:
    """Return the row of an unmeasured contrast."""
    return replace(
        _unmeasured_row(judge, dataset, contrast),
        tolerance=tolerance,
        message=message,
        text=f"{judge} on {dataset}: the effect of {plain.describe_change(contrast)} was not measured",
        decided_by=(DecisionPart("unmeasured", Status.ERROR, message),),
    )


def _unmeasured_row(judge: str, dataset: str, contrast: Contrast) -> ContrastRow:
    both = arm_columns(contrast)
    return ContrastRow(judge=judge, dataset=dataset, family=contrast.family, contrast=contrast.id, **both)


def arm_columns(contrast: Contrast) -> dict[str, Any]:
    """Return the columns that describe both arms and the outcome."""
    x, y = (contrast.x.edit.label, "plain") if contrast.x.edit else contrast.labels
    arms = tuple((condition.name, repeat) for condition, repeat in contrast.arms)
    return {"x": x, "y": y, "arms": arms, "sentences": plain.cue_sentences(contrast), "outcome": contrast.outcome}


def _text(judge: str, dataset: str, contrast: Contrast, measured: ContrastMeasurement, decision: GateDecision) -> str:
    who, decided = f"{judge} on {dataset}", decision.decided_by
    scores = next((part.text for part in decision.parts if part.part == "score"), "")
    if decision.vsr_status is not Status.NOT_APPLICABLE:
        scores = ""
    if contrast.is_alone and scores:  # nothing passes
        return f"{who}, {plain.describe_change(contrast)} ({measured.n} responses): {scores}"
    if measured.vsr is None:
        scores = ""
    if scores:  # it is said first in any case
        decided = tuple(part for part in decided if part.part != "score")
    failed = (part for part in decision.parts if part.part == "car" and part.status is Status.FAIL)
    required = next((part.allowed[0] for part in failed if part.allowed), None)
    text = MESSAGES.contrast(who, contrast, measured, decision, scores, required)
    return plain.with_deciding_part(text, decided, whole=len(decided) < len(decision.decided_by))
