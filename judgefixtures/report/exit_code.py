"""Exit codes: of a run by its findings (pytest, `report merge`, `report check`), and of `judgefixtures paper`."""

from collections.abc import Iterable, Sequence

from judgefixtures.models.findings import Row
from judgefixtures.statistics import Status
from judgefixtures.util.exit_codes import ExitCode

from .run_record import RunRecord

FAILED, NOT_MEASURED, NOTHING_DECIDED = ExitCode.FAILED, ExitCode.NOT_MEASURED, ExitCode.NOTHING_DECIDED


def has_only_errors(results: Iterable[Row]) -> bool:
    """Return whether all failures are errors.

    `results` are rows of results.jsonl. Passed and waived items do not count.
    """
    failing = [result for result in results if result["failed"]]
    return bool(failing) and all(_status(result) == Status.ERROR and not is_test_error(result) for result in failing)


def nothing_decided(results: Sequence[Row]) -> bool:
    """Return whether all results are NOT_APPLICABLE."""
    return bool(results) and all(_status(result) == Status.NOT_APPLICABLE for result in results)


def is_test_error(result: Row) -> bool:
    """Return whether an item's own test caused its ERROR."""
    return any(finding.get("of_test") for finding in result["findings"])


def _status(result: Row) -> str:
    return str(result["findings"][-1]["status"])


def decide_exit_code(*, failed: bool, unmeasured: bool, mistake: bool = False, undecided: bool = False) -> int:
    """Return the exit code: what failed comes first, then what could not be measured, made or decided.

    >>> decide_exit_code(failed=False, unmeasured=True), decide_exit_code(failed=False, unmeasured=False)
    (10, 0)
    """
    codes = {FAILED: failed, NOT_MEASURED: unmeasured, ExitCode.MISTAKE: mistake, NOTHING_DECIDED: undecided}
    return int(next((code for code, holds in codes.items() if holds), ExitCode.OK))


def exit_code(record: RunRecord, report: Row) -> int:
    """Return the exit code of a run."""
    decided, lost = report.get("decision", {}).get("status", "APPROVE"), bool(record.about.lost)
    unmeasured = decided != "REJECT" and not lost and has_only_errors(record.results)
    return decide_exit_code(
        failed=not unmeasured and (record.failed or lost or decided != "APPROVE"),
        unmeasured=unmeasured,
        undecided=record.about.unselected or nothing_decided(record.results),
    )
