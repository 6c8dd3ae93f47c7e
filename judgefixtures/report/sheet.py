"""Sheet: a report on one page of Markdown, for a pull request, and for whoever signs that a judge may be swapped.

Whatever came from outside is text: nothing of it becomes a heading, a link, an image, HTML or a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from judgefixtures.asking.costs import money
from judgefixtures.checks import list_sections
from judgefixtures.checks.accuracy import ACCURACY, SIDE_BY_SIDE
from judgefixtures.checks.approval import DECISIONS
from judgefixtures.checks.beyond_verdicts import not_applied_lines
from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.control import CONTROLS, control_lines
from judgefixtures.checks.four_cells import FOUR_CELLS, FourCellRow
from judgefixtures.checks.overview import OPEN, ended, headlines, others, source
from judgefixtures.checks.plain import NAMED, status_in
from judgefixtures.checks.shift_table import CONTRASTS, fold, legend, name_largest
from judgefixtures.findings import Row, Waived
from judgefixtures.numbers.statistics import Estimate, Status, bare, signed
from judgefixtures.page.labels import allowed_text, beside_verdicts, measured_text, part_of_swap
from judgefixtures.words.texts import one_line

# What makes more than text of a text, in GitHub's Markdown too: there www. and @ need no brackets, :x: and #1 are more.
SPECIAL = re.compile(r"[\\`*_\[\]<>|~&@]|[:#](?=\S)|(?<=www)\.")
UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
MOST = 12  # rows of what did not pass; report.html has all
HEADER = ("", "result", "pairs", "measured", "interval", "allowed")


def sheet(report: Row) -> str:
    """Return report.md of a report: what was compared, on how many pairs, what moved, what it costs, who waived what.

    >>> print(sheet({"status": "PASS", "judges": {}, "results": [], "contrasts": []}).splitlines()[0])
    # Judge gate: PASS
    """
    decision = report.get("decision")
    title = f"Swap: {decision['status']}" if decision else f"Judge gate: {report['status']}"
    parts = [
        [
            f"# {title}",
            "",
            *(f"**{plain_text(line)}**  " for line in headlines(report)),
            "",
            *(f"{plain_text(line)}.  " for line in source(report)),
        ],
        _ended(report),
        *_decisions(report),
        _moved(report),
        _others(report),
        *_listed(report),
        _accuracy(report),
        _controls(report),
        _waived(report),
        _cost(report),
        _warnings(report),
        _made(report),
        ["Decided, for the swap or against it, by: ____________________ on: ____________"] if decision else [],
    ]
    return "\n\n".join("\n".join(part).rstrip() for part in parts if part) + "\n"


def plain_text(text: object) -> str:
    """Return a text as Markdown that shows it literally, on one line.

    >>> plain_text("a|b <img> www.x ![y](z)")
    'a\\\\|b \\\\<img\\\\> www\\\\.x !\\\\[y\\\\](z)'
    """
    spelled = UNSEEN.sub(lambda found: f"U+{ord(found[0]):04X}", one_line(str(text)))
    return SPECIAL.sub(lambda found: f"\\{found[0]}", spelled)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [" | ".join(header), " | ".join("---" for _ in header)]
    return [f"| {line} |" for line in (*lines, *(" | ".join(map(plain_text, row)) for row in rows))]


def _decisions(report: Row) -> list[list[str]]:
    """Return each candidate's decision: its reasons, and the components that it is made of."""
    found = []
    for decision in DECISIONS.read_records(report):
        who = f"{plain_text(decision.judge)} in place of {plain_text(decision.baseline)}"
        primary = [each for each in decision.components if each.role == "primary"]
        guards = [each for each in decision.components if each.role == "guard"]
        rows = [
            (
                part_of_swap(each.to_json()),
                each.status,
                each.n,
                signed(each.value),
                f"{bare(each.low, 3)} to {bare(each.high, 3)}",
                f"worse by {bare(each.margin)}",
            )
            for each in primary
        ]
        said = {each.message for each in primary}
        reasons = [_item(reason) for reason in decision.reasons if reason not in said]
        passed = sum(each.status == Status.PASS for each in guards)
        more = ["", "Measured: candidate less baseline. More of it is worse, except of accuracy."]
        if guards:
            margin = "" if decision.guard_margin is None else f" (not worse by {bare(decision.guard_margin)})"
            more.append(f"Single contrasts and datasets: {passed} of {len(guards)} pass{margin}.")
        found.append([f"## {who}: {decision.status}", "", *_cut(reasons), "", *_table(HEADER, rows), *more])
    return found


def _moved(report: Row) -> list[str]:
    """Return what moved verdicts, the largest of each family that came to the same."""
    contrasts = CONTRASTS.read_records(report)
    asked = [row for row in contrasts if row.status != Status.NOT_APPLICABLE]
    rows = [name_largest(group) for group in fold(asked, ())]
    if not rows:
        return []
    rows.sort(key=lambda row: row[0].status == Status.PASS)
    cells = [cells for row, name, _ in rows for cells in _moved_cells(row, f"{row.judge}: {name}")]
    more = [f"And {len(cells) - MOST} more: report.html."] if len(cells) > MOST else []
    sentences = [_item(f"{status}: {row.text}") for row, _, status in rows[:MOST] if status != Status.PASS]
    sentences += map(_item, not_applied_lines(contrasts))
    return [
        "## What moved the verdicts",
        "",
        *sentences,
        "",
        *_table(HEADER, cells[:MOST]),
        *more,
        "",
        *(f"{plain_text(line)}.  " for line in legend(contrasts)),
    ]


def _moved_cells(row: ContrastRow, name: str) -> Iterable[tuple[object, ...]]:
    """Yield the cells of a contrast's verdicts, and of what else decided it."""
    status = status_in(row.status, row.decided_by, row.waived)
    shift = signed(row.vsr.value) if row.vsr else "-"
    yield (name, status, row.n, shift, _interval(row.vsr), bare(row.tolerance))
    for part in beside_verdicts(row.to_json()):
        yield (
            f"{name}: {NAMED[part['part']]}",
            part["status"],
            part["estimate"]["n"],
            *measured_text(part),
            allowed_text(part),
        )


def _ended(report: Row) -> list[str]:
    """Return by name what came to no finding, all of it: nothing else on the page tells."""
    said = [_item(line) for line in ended(report)]
    return ["## What ended without a result", "", *said] if said else []


def _others(report: Row) -> list[str]:
    """Return what else did not pass: accuracy, plans."""
    open_ = [row for row in others(report) if row.status in OPEN and not row.waived and not row.of_test]
    said = [f"{row.status}: {row.text or row.message} ({row.name} on {row.dataset})" for row in open_]
    return ["## What else did not pass", "", *_cut(list(map(_item, said)))] if said else []


def _accuracy(report: Row) -> list[str]:
    shares = {
        (row.judge, row.dataset): (row.n, row.accuracy)
        for row in ACCURACY.read_records(report)
        if row.category == "all"
    }
    for row in SIDE_BY_SIDE.read_records(report):
        for judge, found in row.judges.items() if row.category == "all" else ():
            shares.setdefault((judge, row.dataset), (row.n, found))
    cells = [(*of, n, bare(found.value), _interval(found)) for of, (n, found) in shares.items()]
    header = ("judge", "dataset", "pairs", "right", "interval")
    return ["## Where the better response is known", "", *_table(header, cells)] if cells else []


def _controls(report: Row) -> list[str]:
    said = [_item(line) for line in control_lines(CONTROLS.read_records(report))]
    return ["## Does the judge read?", "", *said] if said else []


def _waived(report: Row) -> list[str]:
    rows: list[tuple[ContrastRow | FourCellRow, Waived | None]]
    rows = [(row, row.waived) for row in CONTRASTS.read_records(report)]
    rows += [(row, row.waived) for row in FOUR_CELLS.read_records(report)]
    said = [
        _item(
            f"{row.judge} on {row.dataset}: {row.contrast} ({row.status}): waived by {by.owner} until {by.expires}: "
            f"{by.reason}"
        )
        for row, by in rows
        if by
    ]
    return ["## Waived", "", *said] if said else []


def _cost(report: Row) -> list[str]:
    rows = (report.get("run") or {}).get("usage") or ()
    cells = [
        (
            row["judge"],
            row["judgments"],
            sum(row["invalid"].values()),
            _asked(row),
            _count(row["output_tokens"]),
            money(row["usd"]),
        )
        for row in rows
    ]
    header = ("judge", "answers", "invalid", "tokens in", "tokens out", "cost of all of these answers")
    return ["## What it costs", "", *_table(header, cells)] if cells else []


def _interval(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{bare(estimate.low, 3)} to {bare(estimate.high, 3)}"


def _listed(report: Row) -> list[list[str]]:
    """Return the parts of the report that have no words of their own here, as the terminal shows them."""
    return [[f"## {title}", "", *_cut(list(map(_item, lines)))] for title, lines in list_sections(report)]


def _item(text: str) -> str:
    return f"- {plain_text(text)}"


def _asked(row: Row) -> str:
    cached = row.get("cached_tokens")
    return f"{_count(row['input_tokens'])}{f' ({cached} cached)' if cached else ''}"


def _count(number: int | None) -> str:
    return "not known" if number is None else f"{number}"


def _warnings(report: Row) -> list[str]:
    said = [_item(warning) for warning in report.get("warnings") or ()]
    return ["## Warnings", "", *_cut(said)] if said else []


def _made(report: Row) -> list[str]:
    """Return when, of what and how the report was made."""
    run: Row | None = report.get("run")
    if run is None:
        return []
    data = ", ".join(f"{row['dataset']} ({row['n']} pairs, {row['digest']})" for row in report.get("datasets") or ())
    said = [f"Made on {run['date']} by judgefixtures {run['version']}" + (f" of {plain_text(data)}" if data else "")]
    again = f"    {one_line(run['command'])} --judge-report report"
    return ["## How it was made", "", f"{said[0]}. The same again, from the recordings (nobody is asked):", "", again]


def _cut(lines: Sequence[str]) -> list[str]:
    return [*lines[:MOST], *([f"- and {len(lines) - MOST} more: report.html"] if len(lines) > MOST else [])]
