"""Not counted: what recordings come to of a judge that has not passed its control. It is shown, and is no result.

A judge that does not read is asked nothing further, but what it answered before may be what one wants to see of it; so
it is with two judges of a swap of which one has not passed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

from judgefixtures.checks.candidate import SwapRow
from judgefixtures.checks.phrasing import limits
from judgefixtures.checks.protocol import Check
from judgefixtures.checks.sections import Section, View, ordered
from judgefixtures.findings import Finding, OfJudge, Row, rows_of
from judgefixtures.numbers.estimate import Estimate, Status, describe, several, signed
from judgefixtures.swap.sentences import LABELS, SHIFTS
from judgefixtures.words.records import where_any


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCountedRow(OfJudge):
    """What the recorded answers to a check come to, on so many pairs; nothing else in a report knows of it.

    `command` records the control, where that is all that is missing.
    """

    place: ClassVar[str] = "not_counted"
    baseline: str = where_any("")  # of a swap
    family: str = ""
    name: str = ""
    n: int = 0
    estimate: Estimate | None = None
    text: str = ""
    command: str = where_any("")

    @property
    def who(self) -> str:
        """The judge that has not passed its control, or the two of a swap, of which one at least has not."""
        return f"{self.judge} against {self.baseline}" if self.baseline else self.judge


def not_counted(check: Check, found: Finding, n: int, command: str) -> NotCountedRow:
    """Return the row of what a check finds in recorded answers about so many pairs."""
    return NotCountedRow(
        judge=found.judge,
        baseline=found.baseline or "",
        dataset=found.dataset,
        family=check.family,
        name=found.name,
        n=n,
        estimate=found.estimate,
        text=found.plain or _measured(found),
        command=command,
    )


def _measured(found: Finding) -> str:
    """Return what a finding without a sentence of its own measured; its status, which is none here, is left out."""
    if found.estimate is None:
        return "; ".join(found.reasons)
    number, compared = describe(found.estimate), rows_of([found], SwapRow)
    if not compared:
        return f"{found.name} of {found.judge} on {found.dataset}: {number}"
    kind, where = compared[0].quantity, f"{found.judge} less {found.baseline} on {found.dataset}"
    what = LABELS.get(kind, kind)
    bound = "at most " if kind in SHIFTS and compared[0].status != Status.FAIL else ""
    return f"{what}{'' if what == found.name else f' of {found.name}'}, {where}: {bound}{number}"


def _rows(findings: Sequence[Finding]) -> list[NotCountedRow] | None:
    return ordered(rows_of(findings, NotCountedRow), ("judge", "baseline", "dataset", "family", "name")) or None


def _tell(report: Row, view: View) -> list[str]:
    """Say of which judges it is, and the largest of each family and dataset; with -v all."""
    rows = NOT_COUNTED.read_records(report)
    groups: dict[tuple[str, ...], list[NotCountedRow]] = {}
    for row in rows:
        groups.setdefault((row.who, row.dataset, row.family, *([row.name] if view.verbose else [])), []).append(row)
    lines = [_title(list(own)) for _, own in itertools.groupby(rows, key=attrgetter("who"))]
    for group in groups.values():
        largest = max(group, key=lambda row: abs(row.estimate.value) if row.estimate else 0.0)
        more = f" (the largest of {len(group)} of {largest.family})" if len(group) > 1 else ""
        lines.append(f"not counted: {largest.text}{more}")
    return lines


def _title(rows: Sequence[NotCountedRow]) -> str:
    """Say why what is recorded of somebody does not count, ending in the command that records the control."""
    many, who = several(len(rows), "result"), rows[0].who
    them = "them" if rows[0].baseline else "it"
    shown = f"what is recorded of {them} is shown, and counts for nothing ({many})"
    command = next((row.command for row in rows if row.command), "")
    if rows[0].baseline:
        return f"{who}: not both have passed their control: {shown}" + (f". Record: {command}" if command else "")
    if command:
        return f"of {who} the control is not recorded: {shown} until it is. Record: {command}"
    return f"{who} has not passed its control: {shown}"


def _cells(report: Row) -> list[tuple[str, ...]]:
    head = ("judge", "dataset", "not counted", "n", "estimate", "interval")
    rows = [
        (
            *(row.who, row.dataset, row.name, str(row.n)),
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
