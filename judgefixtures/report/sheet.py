"""Sheet: a report on one page of Markdown, for a pull request, and for whoever signs that a judge may be swapped.

sheet.md.jinja has the page; here is what stands in it. Whatever came from outside is text: nothing of it becomes a
heading, a link, an image, HTML or a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from judgefixtures.asking.costs import money
from judgefixtures.checks import list_sections
from judgefixtures.checks.accuracy import ACCURACY, SIDE_BY_SIDE
from judgefixtures.checks.approval import DECISIONS
from judgefixtures.checks.beyond_verdicts import not_applied_lines
from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.control import CONTROLS, control_lines
from judgefixtures.checks.coverage import coverage_of, kind_of, said_of_sides, sides_of, words_of
from judgefixtures.checks.decision_rows import ComponentRow, DecisionRow
from judgefixtures.checks.families import fold, name_largest, sentence
from judgefixtures.checks.four_cells import FOUR_CELLS, FourCellRow
from judgefixtures.checks.order_flips import flips_lines
from judgefixtures.checks.overview import OPEN, ended, headlines, others, source
from judgefixtures.checks.plain import NAMED, status_in
from judgefixtures.checks.shift_table import CONTRASTS, legend, measured_rows, shift_cell, wordings_of
from judgefixtures.findings import Row, is_of_control
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS, Wording, together
from judgefixtures.numbers.statistics import Estimate, Status, bare, signed
from judgefixtures.page.labels import allowed_text, beside_verdicts, measured_text, part_of_swap
from judgefixtures.swap.components import faults
from judgefixtures.words.jinja import load_template
from judgefixtures.words.texts import join_names, one_line

# What makes more than text of a text, in GitHub's Markdown too: there www. and @ need no brackets, :x: and #1 are more.
SPECIAL = re.compile(r"[\\`*_\[\]<>|~&@]|[:#](?=\S)|(?<=www)\.")
UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
PAGE = Path(__file__).with_name("sheet.md.jinja")
MOST = 12  # sentences about what moved verdicts; report.html has all
Cells = tuple[object, ...]


def sheet(report: Row) -> str:
    """Return report.md of a report: what was compared, on how many pairs, what moved, what it costs, who waived what.

    >>> print(sheet({"status": "PASS", "judges": {}, "results": [], "contrasts": []}).splitlines()[0])
    # Judge gate: PASS
    """
    text = load_template(PAGE, plain=plain_text, bare=bare, one_line=one_line).render(
        report=report,
        headlines=headlines(report),
        source=source(report, of_this_run=False),
        ended=ended(report),
        decisions=[_decided(decision, report) for decision in DECISIONS.read_records(report)],
        moved=_moved(report),
        others=_others(report),
        listed=list_sections(report),
        shares=_shares(report),
        controls=control_lines(CONTROLS.read_records(report)),
        waived=_waived(report),
        costs=[_cost(row) for row in (report.get("run") or {}).get("usage") or ()],
        data=", ".join(_data(report)),
        again=_again(report),
    )
    return "\n\n".join(part.strip("\n").rstrip() for part in text.split("\f") if part.strip()) + "\n"


def plain_text(text: object) -> str:
    """Return a text as Markdown that shows it literally, on one line.

    >>> plain_text("a|b <img> www.x ![y](z)")
    'a\\\\|b \\\\<img\\\\> www\\\\.x !\\\\[y\\\\](z)'
    """
    spelled = UNSEEN.sub(lambda found: f"U+{ord(found[0]):04X}", one_line(str(text)))
    return SPECIAL.sub(lambda found: f"\\{found[0]}", spelled)


def _again(report: Row) -> str:
    """Return what the command of a run comes to once more: who is asked anew, as nothing of it is recorded."""
    recorded = (report.get("run") or {}).get("recorded") or {}
    judges: Mapping[str, Row] = report.get("judges") or {}
    live = [name for name in judges if name not in recorded and kind_of(name, judges[name]) != "imported"]
    if not live:
        return "from the recordings (nobody is asked)"
    return f"which asks {join_names(live)} anew, as no answer is recorded"


def _data(report: Row) -> Iterable[str]:
    """Yield each dataset with how much of it was asked about; judges of one response are asked about examples."""
    contrasts = CONTRASTS.read_records(report)
    graded = report.get("agreement") or OF_EXAMPLES in (
        words_of(each.components) for each in DECISIONS.read_records(report)
    )
    other = OF_EXAMPLES if graded and not contrasts else OF_PAIRS
    for row in report.get("datasets") or ():
        words = wordings_of([each for each in contrasts if each.dataset == row["dataset"]]) or (other,)
        yield f"{row['dataset']} ({row['n']} {together(words, 'many')}, {row['digest']})"


def _decided(decision: DecisionRow, report: Row) -> Mapping[str, object]:
    """Return a candidate's decision: what it covers, its reasons, and the components that it is made of."""
    primary, words = [each for each in decision.components if each.is_of_all], words_of(decision.components)
    said, known = {each.message for each in primary}, any(each.judge and each.baseline for each in primary)
    coverage = coverage_of(decision, report)
    return {
        "row": decision,
        "coverage": coverage,
        "notes": said_of_sides(sides_of(decision, report), words) if known else [],
        "reasons": [reason for reason in decision.reasons if reason not in said and not coverage.says(reason)],
        "sides": (f"{decision.judge}", f"{decision.baseline} (baseline)") if known else (),
        "cells": [_component_cells(each, words, known) for each in primary],
        "words": words,
        "guards": [each for each in decision.components if not each.is_of_all],
    }


def _component_cells(each: ComponentRow, words: Wording, known: bool) -> Cells:
    """Return the cells of a component; where it is `known` what each judge does by itself, that comes first."""
    alone = (f"{bare(of.value)} ({_interval(of)})" if of else "-" for of in (each.judge, each.baseline) if known)
    measured = (each.n, signed(each.value), f"{bare(each.low, 3)} to {bare(each.high, 3)}")
    allowed = f"{'other' if len(faults(each.kind)) > 1 else 'worse'} by {bare(each.margin)}"
    return (part_of_swap(each.kind, each.name, words.said), each.status, *alone, *measured, allowed)


def _moved(report: Row) -> Mapping[str, object]:
    """Return what moved verdicts, the largest of each family that came to the same."""
    contrasts = CONTRASTS.read_records(report)
    asked = [row for row in measured_rows(report) if row.status != Status.NOT_APPLICABLE]
    groups = sorted(fold(asked, ()), key=lambda group: group[0].status == Status.PASS)
    rows = list(map(name_largest, groups))
    sentences = [sentence(group, asked) for group in groups[:MOST] if group[0].waived or group[0].status != Status.PASS]
    return {
        "sentences": [*sentences, *flips_lines(contrasts), *not_applied_lines(contrasts)],
        "cells": [cells for row, name, _ in rows for cells in _moved_cells(row, f"{row.judge}: {name}")],
        "legend": legend(contrasts) if rows else (),
        "words": {word: together(wordings_of(contrasts), word) for word in ("many", "said")},
    }


def _moved_cells(row: ContrastRow, name: str) -> Iterable[Cells]:
    """Yield the cells of the shift that is gated, of what else decided a contrast, and of verdicts that are shown."""
    status = status_in(row.status, row.decided_by, row.waived)
    within = "-" if row.limit is None else bare(row.limit)
    limit = f"{bare(-row.limit)} to {within}" if row.limit is not None and row.by_scores else within
    yield (name, status, row.n, shift_cell(row), _interval(row.gated_shift), limit)
    for part in beside_verdicts(row.decided_by or (), by_scores=row.by_scores):
        n = part.estimate.n if part.estimate else 0
        yield (f"{name}: {NAMED[part.part]}", part.status, n, *measured_text(part), allowed_text(part))
    if row.by_scores and row.vsr and row.status != Status.PASS:
        yield (f"{name}: VSR", "shown", row.n, signed(row.vsr.value), _interval(row.vsr), "-")


def _others(report: Row) -> list[str]:
    """Return what else did not pass: accuracy, plans."""
    open_ = [
        row
        for row in others(report)
        if row.status in OPEN and not row.waived and not row.of_test and not is_of_control(row.decided_by)
    ]
    return [f"{row.status}: {row.text or row.message} ({row.name} on {row.dataset})" for row in open_]


def _shares(report: Row) -> list[Cells]:
    shares = {
        (row.judge, row.dataset): (row.n, row.accuracy)
        for row in ACCURACY.read_records(report)
        if row.category == "all"
    }
    for row in SIDE_BY_SIDE.read_records(report):
        for judge, found in row.judges.items() if row.category == "all" else ():
            shares.setdefault((judge, row.dataset), (row.n, found))
    return [(*of, n, bare(found.value), _interval(found)) for of, (n, found) in shares.items()]


def _waived(report: Row) -> list[str]:
    rows: list[ContrastRow | FourCellRow] = [*CONTRASTS.read_records(report), *FOUR_CELLS.read_records(report)]
    return [
        f"{row.judge} on {row.dataset}: {row.contrast} ({row.status}): waived by {by.owner} until {by.expires}: "
        f"{by.reason}"
        for row in rows
        if (by := row.waived)
    ]


def _cost(row: Row) -> Cells:
    cached = row.get("cached_tokens")
    came, went = (
        "not known" if row[f"{side}_tokens"] is None else row[f"{side}_tokens"] for side in ("input", "output")
    )
    asked = f"{came} ({cached} cached)" if cached else came
    return (row["judge"], row["judgments"], sum(row["invalid"].values()), asked, went, money(row["usd"]))


def _interval(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{bare(estimate.low, 3)} to {bare(estimate.high, 3)}"
