"""Reports: the findings of all items put together, and written to files.

Every kind of check brings its sections (judgefixtures.checks); nothing is measured, decided or worded here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from judgefixtures.checks import SECTIONS
from judgefixtures.errors import JudgeFixturesError
from judgefixtures.findings import Finding, Row, overall, rows_of

SCHEMA = 1
JUDGMENT_KEY = ("judge", "dataset", "condition", "pair", "repeat")


def build_report(findings: Sequence[Finding], judges: Mapping[str, Row] | None = None) -> Row:
    """Return report.json for the findings of a run, in whatever order they came; `judges` are identities by name."""
    named = judges or {}
    report: Row = {
        "schema": SCHEMA,
        "status": str(overall(findings)),
        "judges": {name: named[name] for name in sorted(named)},
    }
    for section in SECTIONS:
        if (value := section.rows(findings)) is not None:
            report[section.key] = value
    return report


def summary(report: Row, alpha: float) -> list[str]:
    """Return what the terminal shows at the end of a run: warnings first, the decision last."""
    alerts = [line for section in SECTIONS for line in section.alerts(report)]
    return [*alerts, *(line for section in SECTIONS for line in section.lines(report, alpha))]


def write_report(
    folder: Path, report: Row, findings: Iterable[Finding], judgments: Iterable[Row], plans: Iterable[Row] = ()
) -> None:
    """Write report.json and judgments.jsonl, differences.jsonl where judges were compared, plans.jsonl of their plans.

    The same results give the same bytes, however they were run. Raises JudgeFixturesError naming the folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "judgments.jsonl", _lines(judgments, JUDGMENT_KEY))
        if "decision" in report:
            differences = rows_of(findings, "differences")
            _write(folder / "differences.jsonl", _lines(differences, ("judge", "baseline", *JUDGMENT_KEY[1:])))
        if texts := _lines(plans, ("judge", "dataset", "pair")):
            _write(folder / "plans.jsonl", texts)
        _write(folder / "report.json", json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    except OSError as error:
        raise JudgeFixturesError(f"the report cannot be written to {folder}: {error.strerror}.") from None


def _lines(rows: Iterable[Row], key: Sequence[str]) -> str:
    """Return the rows as sorted JSON lines, each once: two items may share a condition."""
    unique = {tuple(row[name] for name in key): row for row in rows}
    return "".join(json.dumps(unique[name], ensure_ascii=False) + "\n" for name in sorted(unique))


def _write(path: Path, text: str) -> None:
    # A judge's text may hold half of a surrogate pair: as a backslash escape it is JSON all the same.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
