"""Not counted: what recordings come to of a judge that has not passed its control. It is shown, and is no result.

A judge that does not read is asked nothing further, but what it answered before may be what one wants to see of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgefixtures.checks.phrasing import limits
from judgefixtures.checks.protocol import Check
from judgefixtures.checks.sections import Section, View, ordered
from judgefixtures.findings import Finding, OfJudge, Row, rows_of
from judgefixtures.numbers.estimate import Estimate, several, signed
from judgefixtures.words.records import where_any


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCountedRow(OfJudge):
    """What the recorded answers to a check come to, on so many pairs; nothing else in a report knows of it.

    `command` records the control, where that is all that is missing.
    """

    place: ClassVar[str] = "not_counted"
    family: str = ""
    name: str = ""
    n: int = 0
    estimate: Estimate | None = None
    text: str = ""
    command: str = where_any("")


def not_counted(check: Check, found: Finding, n: int, command: str) -> NotCountedRow:
    """Return the row of what a check finds in recorded answers about so many pairs."""
    return NotCountedRow(
        judge=found.judge,
        dataset=found.dataset,
        family=check.family,
        name=found.name,
        n=n,
        estimate=found.estimate,
        text=found.plain or "; ".join(found.reasons),
        command=command,
    )


def _rows(findings: Sequence[Finding]) -> list[NotCountedRow] | None:
    return ordered(rows_of(findings, NotCountedRow), ("judge", "dataset", "family", "name")) or None


def _tell(report: Row, view: View) -> list[str]:
    """Say of which judges it is, and the largest of each family and dataset; with -v all."""
    rows = NOT_COUNTED.read_records(report)
    groups: dict[tuple[str, ...], list[NotCountedRow]] = {}
    for row in rows:
        groups.setdefault((row.judge, row.dataset, row.family, *([row.name] if view.verbose else [])), []).append(row)
    judges = dict.fromkeys(row.judge for row in rows)
    lines = [_of_judge([row for row in rows if row.judge == judge]) for judge in judges]
    for group in groups.values():
        largest = max(group, key=lambda row: abs(row.estimate.value) if row.estimate else 0.0)
        more = f" (the largest of {len(group)} of {largest.family})" if len(group) > 1 else ""
        lines.append(f"not counted: {largest.text}{more}")
    return lines


def _of_judge(rows: Sequence[NotCountedRow]) -> str:
    """Say why what is recorded of a judge does not count, ending in the command that records the control."""
    many, judge = several(len(rows), "result"), rows[0].judge
    shown = f"what is recorded of it is shown, and counts for nothing ({many})"
    if command := next((row.command for row in rows if row.command), ""):
        return f"of {judge} the control is not recorded: {shown} until it is. Record: {command}"
    return f"{judge} has not passed its control: {shown}"


def _cells(report: Row) -> list[tuple[str, ...]]:
    head = ("judge", "dataset", "not counted", "n", "estimate", "interval")
    rows = [
        (
            *(row.judge, row.dataset, row.name, str(row.n)),
            "-" if row.estimate is None else signed(row.estimate.value),
            limits(row.estimate),
        )
        for row in NOT_COUNTED.read_records(report)
    ]
    return [head, *rows] if rows else []


NOT_COUNTED = Section(
    "not_counted",
    NotCountedRow,
    _rows,
    _tell,
    title="recorded, and not counted",
    listed=True,
    cells=_cells,
    folded=True,
)
