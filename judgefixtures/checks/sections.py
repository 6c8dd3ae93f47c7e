"""Sections: the parts of report.json, each with what the terminal shows of it; every kind of check brings its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from judgefixtures.findings import Finding, Row, evidence_of
from judgefixtures.measures.served import changes, served
from judgefixtures.numbers.statistics import holm


@dataclass(frozen=True, slots=True)
class View:
    """How a report is shown: the level of its tests, and whether what passed is shown as fully as what did not."""

    alpha: float = 0.05
    verbose: bool = False


def _no_rows(_findings: Sequence[Finding]) -> None:
    return None


def _nothing(_report: Row, _view: View) -> list[str]:
    return []


def _no_alerts(_report: Row) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class Section:
    """A key of report.json.

    `rows` gets the findings of all items, in no particular order, and returns the key's value; None leaves the key out.
    `sums_up`, where it is given, takes the place of it and gets the report as far as it is made. `lines` gets the whole
    report and how to show it and returns what the terminal shows, below the `title`, where there is one; `alerts` what
    it shows before everything else.
    """

    key: str
    rows: Callable[[Sequence[Finding]], object] = _no_rows
    lines: Callable[[Row, View], list[str]] = _nothing
    alerts: Callable[[Row], list[str]] = _no_alerts
    sums_up: Callable[[Row], object] | None = None
    title: str = ""

    def value(self, findings: Sequence[Finding], report: Row) -> object:
        """Return the key's value, of the findings or of the keys before it."""
        return self.rows(findings) if self.sums_up is None else self.sums_up(report)


def ordered(rows: Iterable[Row], key: Sequence[str]) -> list[Row]:
    """Return rows sorted by some of their fields."""
    return sorted(rows, key=lambda row: tuple(str(row[name] or "") for name in key))


CONTRAST_KEY = ("judge", "dataset", "family", "contrast")


def with_holm(rows: Iterable[Row], key: Sequence[str] = CONTRAST_KEY) -> list[Row]:
    """Return the rows in the order of the key, with p_fail adjusted by Holm's method over the rows of each judge."""
    rows = ordered(rows, key)
    adjusted: list[Row] = []
    for judge in sorted({row["judge"] for row in rows}):
        of_judge = [row for row in rows if row["judge"] == judge]
        tested = [row for row in of_judge if row["p_fail"] is not None]
        values = dict(zip(map(id, tested), holm([row["p_fail"] for row in tested]), strict=True))
        adjusted += [{**row, "p_fail_holm": values.get(id(row))} for row in of_judge]
    return adjusted


def _warning_lines(report: Row) -> list[str]:
    return [f"WARNING: {warning}" for warning in report["warnings"]]


def _warnings(findings: Sequence[Finding]) -> list[str]:
    return sorted({*evidence_of(findings, "warnings"), *changes(_served(findings))})


def _served(findings: Sequence[Finding]) -> list[Row]:
    return served(evidence_of(findings, "served"))


# Of the judges themselves, whatever was checked.
WARNINGS = Section("warnings", _warnings, alerts=_warning_lines)
SERVED = Section("served", _served)
