"""Summary of a run for the terminal: the worst result, the other ones by a line, and the next command."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judgefixtures.checks.control import CONTROLS, control_lines
from judgefixtures.checks.sections import DisplayOptions, read_results
from judgefixtures.models.findings import Finding, Row
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.util.secrets import safe_message

from .header import rerun_command, swap_command
from .messages import MESSAGES
from .overview import OPEN, describe_sources, headlines, unfinished_items
from .run_record import RunRecord
from .sections import SECTIONS
from .swap_section import DECISION, DECISIONS

WIDTH = 100  # columns
MOST, MOST_QUIET, MOST_OTHERS = 25, 5, 8  # lines of a run, of one with -q, and of the results beside the worst
RECORDING = re.compile(r" --judge-record (?:missing|all|invalid)")


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """Display options of a summary.

    Attributes:
        start: The start of the next command.
        folder: The folder of the report, or "".
        remarks: Costs and notes.
        ending: The last lines, such as the report's path.
        quiet: Whether -q is given.
    """

    start: str = "pytest"
    folder: str = ""
    remarks: Sequence[str] = ()
    ending: Sequence[str] = ()
    quiet: bool = False


def short_summary(record: RunRecord, report: Row, view: SummaryOptions) -> list[str]:
    """Return the lines below the heading: with it they take at most 25 lines of 100 columns, 5 with -q."""
    open_ones = [each for each in record.findings if each.status in OPEN and each.waived is None]
    worst = sorted(open_ones, key=lambda each: (OPEN.index(each.status), -_excess(each)))
    swapped = bool(report.get("decisions"))
    own = [each for each in worst if not (swapped and each.baseline)]
    heads = [_cut(line, 3) for line in (*headlines(report), *unfinished_items(report))]
    extras = [*(line for section in SECTIONS for line in section.alerts(report)), *view.remarks]
    most, block = (MOST_QUIET if view.quiet else MOST) - 1, list[str]()
    last = fitted(view.ending, 2 if view.quiet else 4)
    if view.quiet:
        first = [*map(_cut, heads[:1])] if swapped or not own else [_cut(MESSAGES.result_line(own[0], one_judge=False))]
        lines, extras = [], [*heads[1:], *extras]
    else:
        first, others, extras = fitted(heads, 6), own[not swapped :], [*describe_sources(report), *extras]
        one_judge = len(report["judges"]) == 1
        lines = [_cut(MESSAGES.result_line(each, one_judge)) for each in others[:MOST_OTHERS]]
        lines += [MESSAGES.more_results(len(others) - len(lines), view.folder)] if len(others) > len(lines) else []
    last = [*_next(record, report, worst, view, min(3, most - _size([*first, *last]))), *last]
    room = most - _size([*first, *lines, *last])
    if not view.quiet:
        block = fitted(DECISION.lines(report, DisplayOptions()), room) if swapped else _whole(own[:1], report, room)
    return [*first, *block, *lines, *fitted(extras, room - _size(block)), *last]


def heading(report: Row, *, quiet: bool) -> str:
    """Return the heading of the summary, with -q the number of checks by status."""
    return f"judges: {MESSAGES.counts(read_results(report))}" if quiet else "judges"


def fitted(lines: Iterable[str], most: int) -> list[str]:
    """Return the first lines, without empty ones, that take `most` at most; the last counts the rest."""
    rest = [line for each in lines for line in safe_message(each).split("\n") if line.strip()]
    if _size(rest) <= most:
        return rest
    fitting: list[str] = []
    while _size([*fitting, rest[0]]) < most:
        fitting.append(rest.pop(0))
    return [*fitting, MESSAGES.more_lines(len(rest))] if most > 0 else []


def _size(lines: Iterable[str]) -> int:
    return sum(-(-len(line) // WIDTH) for line in lines)


def _cut(text: str, most: int = 1) -> str:
    line = safe_message(text).replace("\n", " ")
    if len(line) <= most * WIDTH:
        return line
    fitting = line[: most * WIDTH - 3]
    return f"{fitting[: fitting.rfind('; ')] if '; ' in fitting else fitting}..."


def _excess(finding: Finding) -> float:
    """Return how far a result is from its limit; reasons that admit too little count less than any shift."""
    ends = [
        abs(part.estimate.value - end)
        for part in finding.decided_by
        for end in part.allowed or ()
        if part.estimate and end is not None and part.part not in ("car", "max_silent")
    ]
    return min(ends, default=0.0)


def _whole(worst: Sequence[Finding], report: Row, room: int) -> list[str]:
    controls = control_lines(row for row in CONTROLS.read_records(report) if row.status in OPEN)[:2]
    lines: list[str] = []
    for finding in worst:
        numbers, *examples = "\n".join(finding.diagnosis or finding.reasons).split("\n\n")
        told = finding.plain or not finding.diagnosis
        lines += [_cut(line, 5) for line in ([finding.headline] if told else numbers.split("\n"))]
        for part in ([_cut(line, 4) for line in controls], *(map(_cut, each.split("\n")) for each in examples)):
            paragraph = list(part)
            lines += paragraph if _size([*lines, *paragraph]) <= room else []
    return lines


def _next(record: RunRecord, report: Row, worst: Sequence[Finding], view: SummaryOptions, most: int) -> list[str]:
    swaps = [each for each in DECISIONS.read_records(report) if each.status != SwapStatus.APPROVE]
    statuses = [str(each.status) for of in (swaps, worst) for each in of]
    if not statuses:
        return []
    recording = RECORDING.search(worst[0].text if worst else "")
    command = swap_command(record, swaps[0]) if swaps else rerun_command(record, worst[:1])
    command = view.start + (report["run"]["command"] if recording else command).removeprefix("pytest")
    option = recording[0] if recording else MESSAGES.next_option(statuses[0], view.folder)
    lines = [MESSAGES.next_command(command + option), MESSAGES.next_command("run the same command again with" + option)]
    return lines[:1] if _size(lines[:1]) <= most else lines[1:]
