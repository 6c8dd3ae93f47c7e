"""Reports: the findings of all items put together, and written to files.

Every kind of check brings its sections (judgefixtures.checks); nothing is measured, decided or worded here.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from judgefixtures.checks import SECTIONS
from judgefixtures.checks.candidate import DifferenceRow
from judgefixtures.checks.sections import View
from judgefixtures.checks.sensitivity import Indifferent, find_close_pairs
from judgefixtures.findings import Finding, Row, evidence_of, overall, rows_of
from judgefixtures.numbers.statistics import SEVERITY, Status
from judgefixtures.report.header import datasets_of, run_of, usage_of
from judgefixtures.report.sheet import sheet
from judgefixtures.report.writing import BEGAN, JUDGMENT_KEY, RESULTS, Record, json_lines_of, once, plain, stopped, text
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.records import rows_as_json

SCHEMA = 1
BEFORE = ".before"
FACES = (RESULTS, "report.json", "report.md", "report.html")  # what says how a run ended
ASKED = "asked"  # what a recording did: shown, and left out of report.json, which a replay writes alike


def build_report(findings: Sequence[Finding], judges: Mapping[str, Row] | None = None, lost: str = "") -> Row:
    """Return report.json for the findings of a run, in whatever order they came; `judges` are identities by name.

    `lost` says which items came to no result at all: whatever the others say, such a run is an ERROR.
    """
    named = judges or {}
    report: Row = {
        "schema": SCHEMA,
        "status": str(Status.ERROR if lost else overall(findings)),
        "judges": {name: named[name] for name in sorted(named)},
    }
    for section in SECTIONS:
        if (value := section.value(findings, report)) is not None:
            report[section.key] = value
    report["warnings"] = sorted({*report["warnings"], *filter(None, [lost])})
    return report


def report_of(record: Record) -> Row:
    """Return report.json of everything that a run left behind, and beside it what was asked in this very run."""
    report = build_report(record.findings, record.judges, record.about.lost)
    origin = {"run": {**run_of(record), "usage": usage_of(record)}, "datasets": datasets_of(record.pairs)}
    report["warnings"] = sorted([*report["warnings"], *filter(None, [stopped(record.about.unfinished)])])
    first = {name: report.pop(name) for name in ("schema", "status")}
    sources = record.about.sources
    asked = {"now": {judge: source["asked_now"] for judge, source in sources.items()}, "retries": record.about.retries}
    return {**first, **origin, **report, ASKED: asked}


def worse(one: Row, other: Row) -> Row:
    """Return the worse of two results of the same item, which order they came in aside."""

    def badness(result: Row) -> tuple[int, str]:
        found = result["findings"]
        return SEVERITY.index(overall(map(Finding.from_json, found))), json.dumps(found, sort_keys=True)

    return max(one, other, key=badness)


def summary(
    report: Row, alpha: float, *, verbose: bool = False, told: Collection[tuple[str, str, str]] = ()
) -> list[str]:
    """Return what the terminal shows at the end of a run: warnings first, the decision last.

    What came to the same is a line per family, unless it is to be `verbose`. `told` are the checks, by judge, dataset
    and name, whose diagnosis stands above.
    """
    lines = [line for section in SECTIONS for line in section.alerts(report)]
    view, title = View(alpha, verbose, told), ""
    for section in SECTIONS:
        found = "\n".join(section.shown(report, view)).strip("\n")
        if found and section.title not in ("", title):
            title = section.title
            lines += ["", f"--- {title} ---"]
        elif found and lines:
            lines.append("")
        lines += found.split("\n") if found else []
    return lines


def write_report(folder: Path, record: Record, report: Row | None = None) -> None:
    """Write report.json, and all that it is made of: the judgments, their pairs, the result of each item.

    `report` is that of the record, where it is at hand. Raises JudgeFixturesError naming the folder.
    """
    write_texts(folder, texts_of(record, report_of(record) if report is None else report))


def texts_of(record: Record, report: Row) -> dict[str, str]:
    """Return the files of a report by name: the same results give the same bytes, however they were run.

    Where judges were compared differences.jsonl lists the verdicts in which they differ, where judges plan plans.jsonl
    has their plans. report.html and report.md say the same to people.
    """
    texts = record.files()
    if "decision" in report:
        differences = rows_as_json(rows_of(record.findings, DifferenceRow))
        texts["differences.jsonl"] = json_lines_of(once(differences, ("judge", "baseline", *JUDGMENT_KEY[1:])))
    texts["report.json"] = text({key: report[key] for key in report if key != ASKED}, indent=2) + "\n"
    texts["report.md"] = sheet_of(report)
    texts["report.html"] = page_of(record, report)
    return texts


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the files of a report. Raises JudgeFixturesError naming the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in texts.items():
            # Rows that did not travel may hold half of a surrogate pair: as a backslash escape it is JSON all the same.
            (folder / name).write_bytes(content.encode("utf-8", "backslashreplace"))
        for name in FACES:
            (folder / f"{name}{BEFORE}").unlink(missing_ok=True)
    except OSError as error:
        raise JudgeFixturesError(f"the report cannot be written to {folder}: {error.strerror}.") from None


def begin_report(folder: Path) -> bool:
    """Set an earlier report in a folder aside until a run into it has ended; return whether there was one.

    What is read as this run's result has another name meanwhile (`report.md.before`), and results.jsonl says that the
    run has not ended, so that nobody merges it. Nothing else in the folder is touched. Raises JudgeFixturesError.
    """
    results = folder / RESULTS
    try:
        if not results.is_file() or results.read_text("utf-8", "replace").startswith(BEGAN):
            return False
        for name in FACES:
            if (folder / name).is_file():
                (folder / name).replace(folder / f"{name}{BEFORE}")
        results.write_text(f"{BEGAN}\n", encoding="utf-8")
    except OSError as error:
        raise JudgeFixturesError(f"the report cannot be written to {folder}: {error.strerror}.") from None
    return True


def restore_report(folder: Path) -> None:
    """Put the report back that `begin_report` set aside: the run was about other things."""
    for name in reversed(FACES):
        if (before := folder / f"{name}{BEFORE}").is_file():
            before.replace(folder / name)


def sheet_of(report: Row) -> str:
    """Return report.md of a report."""
    return sheet(plain(report))


def page_of(record: Record, report: Row) -> str:
    """Return report.html: the page of a record, whose report is at hand."""
    from judgefixtures.page import page

    asked = report[ASKED]
    recorded = {
        judge: {**source, "asked_now": asked["now"][judge]} for judge, source in report["run"]["recorded"].items()
    }
    run = {**report["run"], "recorded": recorded, "retries": asked["retries"]}
    shown = {**report, "run": run, "usage": run["usage"]}
    return page(plain(shown), plain(list(record.judgments)), plain(shown_pairs(record)))


def shown_pairs(record: Record) -> list[Row]:
    """Return the pairs of a record, each with the judges for whom it is close: their verdict on it is not steady."""
    close = find_close_pairs(evidence_of(record.findings, Indifferent))
    found = []
    for row in record.pairs:
        of = [
            judge for (judge, dataset), pairs in close.items() if (dataset == row["dataset"] and row["pair"] in pairs)
        ]
        found.append({**row, "close_for": sorted(of)})
    return found
