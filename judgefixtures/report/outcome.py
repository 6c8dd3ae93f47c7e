"""Outcome: which exit code a run ends with, by what was found."""

from __future__ import annotations

from collections.abc import Iterable

from judgefixtures.findings import Finding, Row
from judgefixtures.report.record import Record
from judgefixtures.statistics import Status

FAILED = 1
NOT_MEASURED = 10  # apart from pytest's own codes, 0 to 6


def not_measured(findings: Iterable[Finding]) -> bool:
    """Tell whether what failed are errors alone: nothing was measured and found to be bad, or left undecided."""
    failing = [finding for finding in findings if finding.status is not Status.PASS and finding.waived is None]
    counted = [finding for finding in failing if finding.status is not Status.NOT_APPLICABLE]
    return bool(counted) and all(finding.status is Status.ERROR for finding in counted)


def exit_code(record: Record, report: Row) -> int:
    """Return the exit code of a run that left this behind."""
    decided = report.get("decision", {}).get("status", "APPROVE")
    if decided == "REJECT":
        return FAILED
    if (record.failed or record.about.lost) and not_measured(record.findings):
        return NOT_MEASURED
    return FAILED if record.failed or record.about.lost or decided != "APPROVE" else 0
