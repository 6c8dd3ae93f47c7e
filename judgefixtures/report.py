"""Reports: the findings of all items put together, and written to files.

Every kind of check brings its sections (judgefixtures.checks); nothing is measured, decided or worded here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgefixtures.checks import SECTIONS
from judgefixtures.errors import JudgeFixturesError
from judgefixtures.findings import Finding, Row, overall, rows_of
from judgefixtures.secrets import redacted_json
from judgefixtures.statistics import SEVERITY, Status

SCHEMA = 1
DIGITS = 12  # significant ones that are written: those behind depend on the version of scipy
JUDGMENT_KEY = ("judge", "dataset", "condition", "pair", "repeat")


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


def worse(one: Row, other: Row) -> Row:
    """Return the worse of two results of the same item, which order they came in aside."""

    def badness(result: Row) -> tuple[int, str]:
        found = result["findings"]
        rows = json.dumps([finding["rows"] for finding in found], sort_keys=True)
        return SEVERITY.index(overall(map(Finding.from_json, found))), rows

    return max(one, other, key=badness)


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
        _write(folder / "report.json", _json(report, indent=2) + "\n")
    except OSError as error:
        raise JudgeFixturesError(f"the report cannot be written to {folder}: {error.strerror}.") from None


def _lines(rows: Iterable[Row], key: Sequence[str]) -> str:
    """Return the rows as sorted JSON lines, each once: two items may share a condition."""
    unique = {tuple(row[name] for name in key): row for row in rows}
    return "".join(_json(unique[name]) + "\n" for name in sorted(unique))


def _json(row: Row, indent: int | None = None) -> str:
    return json.dumps(_rounded(redacted_json(row)), ensure_ascii=False, indent=indent, allow_nan=False)


def _rounded(value: Any) -> Any:
    """Return a JSON value with every number rounded to the digits that are written."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
    return value


def _write(path: Path, text: str) -> None:
    # Rows that did not travel may hold half of a surrogate pair: as a backslash escape it is JSON all the same.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
