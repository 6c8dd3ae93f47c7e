"""Missing answers: those that an imported log lacks, and those that cannot be read."""

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
    """Return a finding with an answer that nobody can read, where too many of them are all that it found.

    It is an answer of the kind of which there are the most, with the key of the judge's table that would read it.
    """
    if not any(part.part == "invalid" and part.status is Status.ERROR for part in finding.decided_by):
        return finding
    example = example_of_invalid([judgment for each in answers for arm in each.arms for judgment in arm])
    if not example or any(example in text for text in (finding.text, *finding.reasons)):
        return finding
    return replace(finding, reasons=(*finding.reasons, example), diagnosis=(*finding.diagnosis, f"  {example}"))


def not_in_log(check: Check, case: CheckInput, why: str, cue_free: Sequence[Judgment]) -> Finding:
    """Return the NOT_APPLICABLE of a check whose answers no log has.

    The row of a cue contrast has the detector's false alarms in the log's cue-free reasons: they need no cue. A
    contrast is no part of a swap then, whose decision says so; accuracy stays one that could not be compared.
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
