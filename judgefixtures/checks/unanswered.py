"""What an imported judge's log has no answers to: a check that is not applicable, and what is told all the same."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.asking.questions import Judgment
from judgefixtures.checks.contrast import ContrastCheck, error_row
from judgefixtures.checks.protocol import Case, Check, gate_of
from judgefixtures.findings import Finding, Row, estimate_row
from judgefixtures.measures.metrics import false_alarms
from judgefixtures.numbers.statistics import Status


def unanswered(check: Check, case: Case, why: str, cue_free: Sequence[Judgment]) -> Finding:
    """Return the NOT_APPLICABLE of a check whose answers no log has.

    The row of a cue contrast has the detector's false alarms in the log's cue-free reasons: they need no cue. A
    contrast is no part of a swap then, whose decision says so; accuracy stays one that could not be compared.
    """
    lost = check.lost(case, why)
    evidence = dict(lost.evidence)
    if case.baseline is not None and check.contrast is not None:
        evidence["swap_parts"] = [{**part, "left_out": True} for part in evidence["swap_parts"]]
    return Finding(
        check.kind,
        case.judge.name,
        case.dataset,
        check.name,
        Status.NOT_APPLICABLE,
        baseline=case.baseline.name if case.baseline else None,
        reasons=(why,),
        diagnosis=(why,),
        rows={} if case.baseline else _rows(check, case, why, cue_free),
        evidence=evidence,
        alpha=lost.alpha,
    )


def _rows(check: Check, case: Case, why: str, cue_free: Sequence[Judgment]) -> dict[str, tuple[Row, ...]]:
    if not isinstance(check, ContrastCheck) or not check.is_read:
        return {}
    gate = gate_of(check, case)
    row = error_row(case.judge.name, case.dataset, check.contrast, gate.tolerance(check.family), why)
    alarms = estimate_row(false_alarms(cue_free, check.contrast.x, gate.confidence))
    status = str(Status.NOT_APPLICABLE)
    return {"contrasts": ({**row, "vsr_status": status, "status": status, "false_alarms": alarms},)}
