"""Report row of a contrast: every column with its default. Add new columns here."""

from dataclasses import replace
from typing import Any

from judgefixtures.metrics.contrast_metrics import ContrastMeasurement
from judgefixtures.models.check_rows import ContrastRow, SelectionRate
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.findings import DecisionPart, cluster_count, part_rows
from judgefixtures.statistics.estimate import Status

from . import plain_language as plain
from .base import GateDecision
from .messages import MESSAGES


def contrast_row(
    judge: str, dataset: str, contrast: Contrast, measured: ContrastMeasurement, decision: GateDecision, **columns: Any
) -> ContrastRow:
    """Return the row of a contrast: what was measured and decided, and further columns."""
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
        decided_by=part_rows(decision.decided_by),
        gross_share=measured.gross_share if edit else None,
        text=_text(judge, dataset, contrast, measured, decision),
        moved=tuple(move.x.pair.id for move in measured.moved),
        **columns,
    )


def error_row(judge: str, dataset: str, contrast: Contrast, tolerance: float, message: str) -> ContrastRow:
    """Return the row of a contrast that could not be measured."""
    return replace(
        _unmeasured_row(judge, dataset, contrast),
        tolerance=tolerance,
        message=message,
        text=f"{plain.describe_change(contrast)} could not be measured of {judge} on {dataset}",
        decided_by=part_rows([DecisionPart("unmeasured", Status.ERROR, message)]),
    )


def _unmeasured_row(judge: str, dataset: str, contrast: Contrast) -> ContrastRow:
    """Return the row of what was asked of whom, and what both arms are, nothing of it measured."""
    both = arm_columns(contrast)
    return ContrastRow(judge=judge, dataset=dataset, family=contrast.family, contrast=contrast.id, **both)


def arm_columns(contrast: Contrast) -> dict[str, Any]:
    """Return the columns that say what both arms are: their labels, conditions and sentences, and what is counted."""
    x, y = (contrast.x.edit.label, "plain") if contrast.x.edit else contrast.labels
    arms = tuple((condition.name, repeat) for condition, repeat in contrast.arms)
    return {"x": x, "y": y, "arms": arms, "sentences": plain.cue_sentences(contrast), "outcome": contrast.outcome}


def _text(judge: str, dataset: str, contrast: Contrast, measured: ContrastMeasurement, decision: GateDecision) -> str:
    """Return what came of a contrast, in a sentence without terms."""
    who, decided = f"{judge} on {dataset}", decision.decided_by
    scores = next((part.text for part in decision.parts if part.name == "score"), "")
    if decision.vsr_status is not Status.NOT_APPLICABLE:
        scores = ""
    if contrast.is_alone and scores:  # nothing passes
        return f"{who}, {plain.describe_change(contrast)} ({measured.n} responses): {scores}"
    if measured.vsr is None:
        scores = ""
    if scores:  # it is said first in any case
        decided = tuple(part for part in decided if part.name != "score")
    failed = (part for part in decision.parts if part.name == "car" and part.status is Status.FAIL)
    required = next((part.allowed[0] for part in failed if part.allowed), None)
    text = MESSAGES.contrast(who, contrast, measured, decision, scores, required)
    return plain.with_deciding_part(text, decided, whole=len(decided) < len(decision.decided_by))
