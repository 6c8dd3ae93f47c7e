"""Results of a judge that failed its control: shown, but not counted."""

import itertools
from collections.abc import Sequence
from operator import attrgetter

from judgefixtures.models.check_rows import NotCountedRow
from judgefixtures.models.findings import Finding, Row, rows_of
from judgefixtures.models.swap_rows import SwapRow
from judgefixtures.statistics.estimate import Status, format_estimate, format_signed
from judgefixtures.swap.sentences import LABELS, SHIFTS

from .base import Check
from .formatting import interval_cell
from .messages import MESSAGES
from .sections import DisplayOptions, Section, sorted_rows


def uncounted_row(check: Check, finding: Finding, n: int, command: str) -> NotCountedRow:
    """Return the row of a check on recorded answers."""
    text = finding.plain or _measured(finding)
    baseline, family = finding.baseline or "", check.family
    return NotCountedRow.from_sources(finding, baseline=baseline, family=family, n=n, text=text, command=command)


def _measured(finding: Finding) -> str:
    if finding.estimate is None:
        return "; ".join(finding.reasons)
    number, compared = format_estimate(finding.estimate), rows_of([finding], SwapRow)
    if not compared:
        return f"{finding.name} of {finding.judge} on {finding.dataset}: {number}"
    kind, where = compared[0].quantity, f"{finding.judge} minus {finding.baseline} on {finding.dataset}"
    what = LABELS.get(kind, kind)
    bound = "at most " if kind in SHIFTS and compared[0].status != Status.FAIL else ""
    return f"{what}{'' if what == finding.name else f' of {finding.name}'}, {where}: {bound}{number}"


def _rows(findings: Sequence[Finding]) -> list[NotCountedRow] | None:
    return sorted_rows(rows_of(findings, NotCountedRow), ("judge", "baseline", "dataset", "family", "name")) or None


def _tell(report: Row, _view: DisplayOptions) -> list[str]:
    rows = NOT_COUNTED.read_records(report)
    groups: dict[tuple[str, ...], list[NotCountedRow]] = {}
    for row in rows:
        groups.setdefault((row.who, row.dataset, row.family), []).append(row)
    lines = [_title(list(own)) for _, own in itertools.groupby(rows, key=attrgetter("who"))]
    for group in groups.values():
        largest = max(group, key=lambda row: abs(row.estimate.value) if row.estimate else 0.0)
        more = f" (the largest of {len(group)} {largest.family} results)" if len(group) > 1 else ""
        lines.append(f"not counted: {largest.text}{more}")
    return lines


def _title(rows: Sequence[NotCountedRow]) -> str:
    command = next((row.command for row in rows if row.command), "")
    return MESSAGES.not_counted(rows[0].who, bool(rows[0].baseline), len(rows), command)


def _cells(report: Row) -> list[tuple[str, ...]]:
    head = ("judge", "dataset", "not counted", "n", "estimate", "interval")
    rows = [
        (
            *(row.who, row.dataset, row.name, str(row.n)),
            "-" if row.estimate is None else format_signed(row.estimate.value),
            interval_cell(row.estimate),
        )
        for row in NOT_COUNTED.read_records(report)
    ]
    return [head, *rows] if rows else []


TITLE = "recorded, but not counted"
NOT_COUNTED = Section("not_counted", NotCountedRow, _rows, _tell, title=TITLE, listed=True, cells=_cells)
