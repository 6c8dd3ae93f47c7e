"""Missing answers: absent from an imported log, or unreadable."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from judgefixtures.metrics.contrast_metrics import false_alarms
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.findings import Finding, evidence_of, rows_of
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.swap_rows import ComparedSwapPart
from judgefixtures.statistics.estimate import Status

from .base import Answers, Check, CheckInput
from .control import example_of_invalid


def with_unreadable_example(finding: Finding, answers: Iterable[Answers]) -> Finding:
    """Return a finding with an example of its unreadable answers, if decisive."""
    if not any(part.part == "invalid" and part.status is Status.ERROR for part in finding.decided_by):
        return finding
    example = example_of_invalid([judgment for each in answers for arm in each.arms for judgment in arm])
    if not example or any(example in text for text in (finding.text, *finding.reasons)):
        return finding
    return replace(finding, reasons=(*finding.reasons, example), diagnosis=(*finding.diagnosis, f"  {example}"))


def not_in_log(check: Check, case: CheckInput, why: str, cue_free: Sequence[Judgment]) -> Finding:
    """Return NOT_APPLICABLE for answers that no log has.

    A cue contrast keeps the false alarms in `cue_free`.
    """
    lost, status = check.error_finding(case, why), Status.NOT_APPLICABLE
    finding = replace(lost, status=status, rows={}, decided_by=())
    if case.baseline is None and check.is_read and check.contrast is not None:
        alarms = false_alarms(cue_free, check.contrast.x, check.gate_at_look(case).confidence)
        (row,) = rows_of([lost], ContrastRow)
        row = replace(row, vsr_status=status, status=status, false_alarms=alarms)
        return replace(finding, rows={row.place: (row,)})
    if case.baseline is not None and check.contrast is not None:
        left_out = [replace(part, left_out=True) for part in evidence_of([lost], ComparedSwapPart)]
        return finding.with_evidence(swap_parts=left_out)
    return finding
