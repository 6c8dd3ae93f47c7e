"""Report: the findings of all items, combined and written to files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from judgefixtures.checks.close_pairs import find_close_pairs
from judgefixtures.checks.sections import DisplayOptions
from judgefixtures.models.check_rows import NeutralChoices
from judgefixtures.models.findings import Finding, Row, evidence_of, rows_of, worst_status
from judgefixtures.models.record import rows_as_json
from judgefixtures.models.swap_rows import JudgeDifferenceRow
from judgefixtures.statistics import SEVERITY, Status
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import check_writable, move

from .header import dataset_summaries, run_header, usage_summary
from .markdown import render_markdown
from .run_record import (
    BEGAN,
    JUDGMENT_KEY,
    RESULTS,
    RunRecord,
    json_lines_of,
    row_for_display,
    row_json,
    stopped_run_note,
    unique_rows,
)
from .sections import SECTIONS

SCHEMA = 1
BEFORE = ".before"
FACES = (RESULTS, "report.json", "report.md", "report.html")  # what says how a run ended
NOTHING = "no judge item was selected: nothing was measured"
ASKED = "asked"  # what a recording did: shown, and left out of report.json, which a replay writes alike


def build_report(findings: Sequence[Finding], judges: Mapping[str, Row] | None = None, lost: str = "") -> Row:
    """Return report.json for the findings of a run.

    Args:
        findings: Findings in any order.
        judges: Judge identities by name.
        lost: Items without a result; any makes the run an ERROR.
    """
    status = str(Status.ERROR if lost else worst_status(findings))
    report: Row = {"schema": SCHEMA, "status": status, "judges": dict(sorted((judges or {}).items()))}
    for section in SECTIONS:
        if (value := section.value(findings, report)) is not None:
            report[section.key] = value
    report["warnings"] = sorted({*report["warnings"], *filter(None, [lost])})
    return report


def report_and_questions(record: RunRecord) -> Row:
    """Return report.json of a run, with the number of requests in this run."""
    report = build_report(record.findings, record.judges, record.about.lost)
    header = {**run_header(record), "usage": usage_summary(record)}
    origin = {"run": header, "datasets": dataset_summaries(record.pairs)}
    told = [stopped_run_note(record.about.unfinished), NOTHING if record.about.unselected else ""]
    report["warnings"] = sorted([*report["warnings"], *filter(None, told)])
    first = {name: report.pop(name) for name in ("schema", "status")}
    asked_now = {judge: source["asked_now"] for judge, source in record.about.sources.items()}
    return {**first, **origin, **report, ASKED: {"now": asked_now, "retries": record.about.retries}}


def worse_result(one: Row, other: Row) -> Row:
    """Return the worse of two results of an item."""

    def badness(result: Row) -> tuple[int, str]:
        rows = result["findings"]
        return SEVERITY.index(worst_status(map(Finding.from_json, rows))), json.dumps(rows, sort_keys=True)

    return max(one, other, key=badness)


def terminal_summary(report: Row, alpha: float) -> list[str]:
    """Return the terminal's lines with -v: warnings first, the decision last; `alpha` is the level of the tests."""
    lines = [line for section in SECTIONS for line in section.alerts(report)]
    view, title = DisplayOptions(alpha), ""
    for section in SECTIONS:
        text = "\n".join(section.shown(report, view)).strip("\n")
        if text and section.title not in ("", title):
            title = section.title
            lines += ["", f"--- {title} ---"]
        elif text and lines:
            lines.append("")
        lines += text.split("\n") if text else []
    return lines


def write_report(folder: Path, record: RunRecord, report: Row | None = None) -> None:
    """Write the report's files to a folder.

    Args:
        folder: The folder.
        record: What the run left behind.
        report: The record's report, if available.

    Raises:
        JudgeFixturesError: The folder is not writable.
    """
    write_files(folder, report_files(record, report_and_questions(record) if report is None else report))


def report_files(record: RunRecord, report: Row) -> dict[str, str]:
    """Return the report's files by name; equal results give equal bytes.

    differences.jsonl (swaps) and plans.jsonl (planning judges) are optional.
    """
    texts = record.files()
    if "decision" in report:
        differences = rows_as_json(rows_of(record.findings, JudgeDifferenceRow))
        texts["differences.jsonl"] = json_lines_of(unique_rows(differences, ("judge", "baseline", *JUDGMENT_KEY[1:])))
    texts["report.json"] = row_json({key: report[key] for key in report if key != ASKED}, indent=2) + "\n"
    texts["report.md"] = markdown_report(report)
    texts["report.html"] = html_report(record, report)
    return texts


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the files of a report.

    Raises:
        JudgeFixturesError: The folder is not writable.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in texts.items():
            # Rows that did not travel may hold half of a surrogate pair: as a backslash escape it is JSON all the same.
            check_writable(folder / name)
            (folder / name).write_bytes(content.encode("utf-8", "backslashreplace"))
        for name in FACES:
            (folder / f"{name}{BEFORE}").unlink(missing_ok=True)
    except OSError as error:
        raise JudgeFixturesError(f"the report cannot be written to {folder}: {error.strerror}.") from None


def set_earlier_report_aside(folder: Path) -> bool:
    """Rename an earlier report until a run has ended, and return whether one existed.

    Files become `report.md.before`; results.jsonl marks the run as unfinished.

    Raises:
        JudgeFixturesError: The folder is not writable.
    """
    results = folder / RESULTS
    try:
        if not results.is_file() or results.read_text("utf-8", "replace").startswith(BEGAN):
            return False
        for name in FACES:
            if (folder / name).is_file():
                move(folder / name, folder / f"{name}{BEFORE}")
        results.write_text(f"{BEGAN}\n", encoding="utf-8")
    except OSError as error:
        raise JudgeFixturesError(f"the report cannot be written to {folder}: {error.strerror}.") from None
    return True


def restore_earlier_report(folder: Path) -> None:
    """Restore the report that `set_earlier_report_aside` renamed."""
    for name in reversed(FACES):
        if (before := folder / f"{name}{BEFORE}").is_file():
            move(before, folder / name)


def markdown_report(report: Row) -> str:
    """Return report.md of a report."""
    return render_markdown(row_for_display(report))


def html_report(record: RunRecord, report: Row) -> str:
    """Return report.html of a record and its report."""
    from .html import page

    run, asked = report["run"], report[ASKED]
    recorded = {judge: {**source, "asked_now": asked["now"][judge]} for judge, source in run["recorded"].items()}
    run = {**run, "recorded": recorded, "retries": asked["retries"]}
    parts = ({**report, "run": run, "usage": run["usage"]}, list(record.judgments), pairs_for_page(record))
    return page(*map(row_for_display, parts))


def pairs_for_page(record: RunRecord) -> list[Row]:
    """Return the pairs of a record, each with the judges for which it is close."""
    close = find_close_pairs(evidence_of(record.findings, NeutralChoices))
    rows = []
    for row in record.pairs:
        of = (judge for (judge, name), pairs in close.items() if name == row["dataset"] and row["pair"] in pairs)
        rows.append({**row, "close_for": sorted(of)})
    return rows
