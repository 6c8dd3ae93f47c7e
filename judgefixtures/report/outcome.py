"""Outcome: which exit code a run ends with, by what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgefixtures.findings import Row
from judgefixtures.numbers.statistics import Status
from judgefixtures.report.writing import Record

FAILED = 1
NOT_MEASURED = 10  # apart from pytest's own codes, 0 to 6
NOTHING_DECIDED = 11


def not_measured(results: Iterable[Row]) -> bool:
    """Tell whether what failed are errors alone: nothing was measured and found to be bad, or left undecided.

    `results` are items as results.jsonl has them. What did not fail is left aside, as is what somebody tolerates.
    """
    failing = [result for result in results if result["failed"]]
    return bool(failing) and all(_status(result) == Status.ERROR and not is_of_test(result) for result in failing)


def nothing_decided(results: Sequence[Row]) -> bool:
    """Tell whether there are results, and all of them are of checks that do not apply."""
    return bool(results) and all(_status(result) == Status.NOT_APPLICABLE for result in results)


def is_of_test(result: Row) -> bool:
    """Tell whether an item is an ERROR because its test came to no finding, or ended badly after it."""
    return any(finding.get("of_test") for finding in result["findings"])


def _status(result: Row) -> str:
    return str(result["findings"][-1]["status"])


def exit_code(record: Record, report: Row) -> int:
    """Return the exit code of a run that left this behind."""
    decided = report.get("decision", {}).get("status", "APPROVE")
    if decided != "REJECT" and not_measured(record.results):
        return NOT_MEASURED
    if record.failed or record.about.lost or decided != "APPROVE":
        return FAILED
    return NOTHING_DECIDED if nothing_decided(record.results) else 0
