"""Answers that are not there: those that an imported judge's log does not have, and those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from judgefixtures.asking.questions import Judgment
from judgefixtures.checks.candidate import FoundPart
from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.control import example_of
from judgefixtures.checks.protocol import Answers, Case, Check, gate_of
from judgefixtures.findings import Finding, evidence_of, rows_of
from judgefixtures.measures.metrics import false_alarms
from judgefixtures.numbers.estimate import Status


def with_example(finding: Finding, answers: Iterable[Answers]) -> Finding:
    """Return a finding with an answer that nobody can read, where too many of them are all that it found.

    It is an answer of the kind of which there are the most, with the key of the judge's table that would read it.
    """
    if not any(part.name == "invalid" and part.status is Status.ERROR for part in finding.decided_by):
        return finding
    shown = example_of([judgment for each in answers for arm in each.arms for judgment in arm])
    if not shown or any(shown in text for text in (finding.text, *finding.reasons)):
        return finding
    return replace(finding, reasons=(*finding.reasons, shown), diagnosis=(*finding.diagnosis, f"  {shown}"))


def unanswered(check: Check, case: Case, why: str, cue_free: Sequence[Judgment]) -> Finding:
    """Return the NOT_APPLICABLE of a check whose answers no log has.

    The row of a cue contrast has the detector's false alarms in the log's cue-free reasons: they need no cue. A
    contrast is no part of a swap then, whose decision says so; accuracy stays one that could not be compared.
    """
    lost, status = check.lost(case, why), Status.NOT_APPLICABLE
    found = replace(lost, status=status, rows={}, decided_by=())
    if case.baseline is None and check.is_read and check.contrast is not None:
        alarms = false_alarms(cue_free, check.contrast.x, gate_of(check, case).confidence)
        (row,) = rows_of([lost], ContrastRow)
        row = replace(row, vsr_status=status, status=status, false_alarms=alarms)
        return replace(found, rows={row.place: (row,)})
    if case.baseline is not None and check.contrast is not None:
        return found.with_evidence(swap_parts=[replace(part, left_out=True) for part in evidence_of([lost], FoundPart)])
    return found
