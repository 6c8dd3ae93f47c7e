"""Sections of report.json, with the lines that the terminal shows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from judgefixtures.metrics.served_models import served_model_rows, warn_of_changes
from judgefixtures.models.check_rows import ItemResultRow, ServedModelRow
from judgefixtures.models.findings import Finding, ReportRow, Row, evidence_of, rows_of
from judgefixtures.models.judgment_rows import ServedModelInArm
from judgefixtures.models.record import Record, as_json
from judgefixtures.statistics.proportions import holm

from .formatting import table_lines

R = TypeVar("R", bound=Record)
K = TypeVar("K", bound=ReportRow)


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """Display options of a report: the level of its tests."""

    alpha: float = 0.05


@dataclass(frozen=True, slots=True)
class Section(Generic[R]):
    """A key of report.json and its display.

    Attributes:
        rows: Returns records from findings; None omits the key.
        sums_up: Returns the value from the report, instead of `rows`.
        lines: Returns terminal lines below `title`.
        alerts: Returns the lines shown first.
        cells: Returns a table, header first.
        listed: Whether report.md and the page show it.
    """

    key: str
    record: type[R] | None = None
    rows: Callable[[Sequence[Finding]], Sequence[R | str] | None] | None = None
    lines: Callable[[Row, DisplayOptions], list[str]] = lambda _report, _view: []
    alerts: Callable[[Row], list[str]] = lambda _report: []
    sums_up: Callable[[Row], R | None] | None = None
    title: str = ""
    listed: bool = False
    cells: Callable[[Row], Sequence[tuple[str, ...]]] = lambda _report: ()

    def value(self, findings: Sequence[Finding], report: Row) -> Any:
        """Return the key's value as plain JSON."""
        if self.sums_up is not None:
            return as_json(self.sums_up(report))
        return None if self.rows is None else as_json(self.rows(findings))

    def shown(self, report: Row, view: DisplayOptions) -> list[str]:
        """Return its terminal lines and table."""
        lines, cells = self.lines(report, view), self.cells(report)
        return [*lines, "", *table_lines(cells)] if cells else lines

    def read_records(self, report: Row) -> tuple[R, ...]:
        """Return its records from a JSON report, or none."""
        assert self.record is not None
        return tuple(self.record.from_json(row) for row in report.get(self.key) or ())


def read_results(report: Row) -> tuple[ItemResultRow, ...]:
    """Return the results of all items from a JSON report."""
    return tuple(map(ItemResultRow.from_json, report.get("results") or ()))


def sorted_rows(rows: Iterable[R], key: Sequence[str]) -> list[R]:
    """Return rows sorted by these fields."""
    return sorted(rows, key=lambda row: tuple(str(getattr(row, name) or "") for name in key))


def sorted_section_rows(kind: type[K], *key: str) -> Callable[[Sequence[Finding]], list[K]]:
    """Return a `rows` function that collects and sorts rows of a kind."""
    return lambda findings: sorted_rows(rows_of(findings, kind), key)


CONTRAST_KEY = ("judge", "dataset", "family", "contrast")


def with_holm(rows: Iterable[Any], key: Sequence[str] = CONTRAST_KEY) -> list[Any]:
    """Return sorted rows with p_fail adjusted by Holm's method per judge."""
    rows = sorted_rows(rows, key)
    adjusted: list[Any] = []
    for judge in sorted({row.judge for row in rows}):
        of_judge = [row for row in rows if row.judge == judge]
        tested = [row for row in of_judge if row.p_fail is not None]
        values = dict(zip(map(id, tested), holm([row.p_fail for row in tested]), strict=True))
        adjusted += [replace(row, p_fail_holm=values.get(id(row))) for row in of_judge]
    return adjusted


def _warning_lines(report: Row) -> list[str]:
    return [f"WARNING: {warning}" for warning in report["warnings"]]


def _warnings(findings: Sequence[Finding]) -> list[str]:
    warnings = {text for finding in findings for text in finding.evidence.get("warnings", ())}
    return sorted({*warnings, *warn_of_changes(_served(findings))})


def _served(findings: Sequence[Finding]) -> list[ServedModelRow]:
    return served_model_rows(evidence_of(findings, ServedModelInArm))


# Of the judges themselves, whatever was checked.
WARNINGS: Section[Record] = Section("warnings", rows=_warnings, alerts=_warning_lines)
SERVED = Section("served", ServedModelRow, _served)
