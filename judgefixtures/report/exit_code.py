"""Exit code of a run, by its findings."""

from collections.abc import Iterable, Sequence

from judgefixtures.models.findings import Row
from judgefixtures.statistics import Status
from judgefixtures.util.exit_codes import ExitCode

from .run_record import RunRecord

FAILED, NOT_MEASURED, NOTHING_DECIDED = ExitCode.FAILED, ExitCode.NOT_MEASURED, ExitCode.NOTHING_DECIDED


def has_only_errors(results: Iterable[Row]) -> bool:
    """Tell whether what failed are errors alone: nothing was measured and found to be bad, or left undecided.

    `results` are items as results.jsonl has them. What did not fail is left aside, as is what somebody tolerates.
    """
    failing = [result for result in results if result["failed"]]
    return bool(failing) and all(_status(result) == Status.ERROR and not is_test_error(result) for result in failing)


def nothing_decided(results: Sequence[Row]) -> bool:
    """Tell whether there are results, and all of them are of checks that do not apply."""
    return bool(results) and all(_status(result) == Status.NOT_APPLICABLE for result in results)


def is_test_error(result: Row) -> bool:
    """Tell whether an item is an ERROR because its test came to no finding, or ended badly after it."""
    return any(finding.get("of_test") for finding in result["findings"])


def _status(result: Row) -> str:
    return str(result["findings"][-1]["status"])


def exit_code(record: RunRecord, report: Row) -> int:
    """Return the exit code of a run that left this behind."""
    decided = report.get("decision", {}).get("status", "APPROVE")
    if decided != "REJECT" and not record.about.lost and has_only_errors(record.results):
        return NOT_MEASURED
    if record.failed or record.about.lost or decided != "APPROVE":
        return FAILED
    return NOTHING_DECIDED if record.about.unselected or nothing_decided(record.results) else 0
