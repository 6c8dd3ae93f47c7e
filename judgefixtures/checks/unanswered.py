"""What an imported judge's log has no answers to: a check that is not applicable, and what is told all the same."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.checks.check import Case, Check, gate_of
from judgefixtures.checks.contrast import ContrastCheck, error_row
from judgefixtures.findings import Finding, Row, estimate_row
from judgefixtures.judgments import Judgment
from judgefixtures.metrics import false_alarms
from judgefixtures.statistics import Status

NO_FAMILIES = "[swap] families = [] leaves such comparisons out of the swap"


def unanswered(check: Check, case: Case, why: str, cue_free: Sequence[Judgment]) -> Finding:
    """Return the NOT_APPLICABLE of a check whose answers no log has.

    The row of a cue contrast has the detector's false alarms in the log's cue-free reasons: they need no cue. A part
    of a swap stays a part that was not compared.
    """
    compared = case.baseline is not None
    reason = f"{why}; {NO_FAMILIES}" if compared and check.contrast is not None else why
    lost = check.lost(case, reason)
    return Finding(
        check.kind, case.judge.name, case.dataset, check.name, Status.NOT_APPLICABLE,
        baseline=case.baseline.name if case.baseline else None, reasons=(reason,), diagnosis=(reason,),
        rows={} if compared else _rows(check, case, why, cue_free), evidence=lost.evidence, alpha=lost.alpha,
    )  # fmt: skip


def _rows(check: Check, case: Case, why: str, cue_free: Sequence[Judgment]) -> dict[str, tuple[Row, ...]]:
    if not isinstance(check, ContrastCheck) or not check.is_read:
        return {}
    gate = gate_of(check, case)
    row = error_row(case.judge.name, case.dataset, check.contrast, gate.tolerance(check.family), why)
    alarms = estimate_row(false_alarms(cue_free, check.contrast.x, gate.confidence))
    status = str(Status.NOT_APPLICABLE)
    return {"contrasts": ({**row, "vsr_status": status, "status": status, "false_alarms": alarms},)}
