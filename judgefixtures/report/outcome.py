"""Outcome: which exit code a run ends with, by what was found."""

from __future__ import annotations

from collections.abc import Iterable

from judgefixtures.findings import Row
from judgefixtures.report.record import Record
from judgefixtures.statistics import Status

FAILED = 1
NOT_MEASURED = 10  # apart from pytest's own codes, 0 to 6


def not_measured(results: Iterable[Row]) -> bool:
    """Tell whether what failed are errors alone: nothing was measured and found to be bad, or left undecided.

    `results` are items as results.jsonl has them. What did not fail is left aside, as is what somebody tolerates.
    """
    failing = [result["findings"][-1]["status"] for result in results if result["failed"]]
    return bool(failing) and all(status == Status.ERROR for status in failing)


def exit_code(record: Record, report: Row) -> int:
    """Return the exit code of a run that left this behind."""
    decided = report.get("decision", {}).get("status", "APPROVE")
    if decided != "REJECT" and not_measured(record.results):
        return NOT_MEASURED
    return FAILED if record.failed or record.about.lost or decided != "APPROVE" else 0
