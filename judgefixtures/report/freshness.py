"""Freshness check: is the report in a folder from the run that just ended?"""

import json
from pathlib import Path

from judgefixtures.report import report_and_questions
from judgefixtures.util.clock import timestamp
from judgefixtures.util.errors import JudgeFixturesError

from .exit_code import exit_code
from .run_record import MISREAD, RunRecord


def check_report(folder: Path, max_age: int) -> tuple[str, int]:
    """Return a line about a run's report, and the run's exit code.

    Raises:
        JudgeFixturesError: report.json is missing, older than `max_age` minutes, or of another run.
    """
    file, record = folder / "report.json", RunRecord.from_folder(folder)
    again = f"run the tests again with --judge-report {folder}."
    try:
        report, status = report_and_questions(record), json.loads(file.read_text(encoding="utf-8"))["status"]
        minutes = (timestamp() - file.stat().st_mtime) / 60
    except (OSError, *MISREAD):
        raise JudgeFixturesError(f"{file} is missing, or --judge-report did not write it: {again}") from None
    if status != report["status"]:
        raise JudgeFixturesError(f"{file} says {status}, but results.jsonl says {report['status']}: {again}")
    if minutes > max_age:
        age = f"{int(minutes) + 1} minutes old, limit {max_age}"
        raise JudgeFixturesError(f"{file} is {age}: {again} To accept an older report, use --max-age MINUTES.")
    code = exit_code(record, report)
    return f"{file}: {report['status']}, {len(record.results)} judge items, exit code {code}", code
