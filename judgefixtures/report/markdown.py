"""Markdown report for a pull request; external text is escaped."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from judgefixtures.checks.accuracy import ACCURACY, SIDE_BY_SIDE
from judgefixtures.checks.control import CONTROLS, control_lines
from judgefixtures.checks.four_cells import FOUR_CELLS
from judgefixtures.checks.log_odds_and_scores import not_applied_lines
from judgefixtures.checks.order_flips import flips_lines
from judgefixtures.checks.plain_language import NAMED, status_cell
from judgefixtures.client.costs import format_usd
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.findings import Row, decided_by_control
from judgefixtures.models.swap_rows import ComponentRow, DecisionRow
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary, combine_words
from judgefixtures.statistics import Estimate, Status, format_share, format_signed
from judgefixtures.swap.worse_direction import fault_signs
from judgefixtures.util.jinja import load_template
from judgefixtures.util.texts import make_one_line

from .contrast_groups import group_equal_results, group_sentence, name_largest
from .contrast_table import CONTRASTS, measured_rows, shift_cell, table_legend, vocabularies_of
from .html.labels import estimate_label, limits_label, other_deciding_parts, swap_part_label
from .messages import MESSAGES
from .overview import OPEN, describe_sources, headlines, other_results, unfinished_items
from .sections import list_sections
from .swap_coverage import answer_origin, describe_side_numbers, side_numbers, swap_coverage, vocabulary_of_swap
from .swap_section import DECISIONS

# What makes more than text of a text, in GitHub's Markdown too: there www. and @ need no brackets, :x: and #1 are more.
SPECIAL = re.compile(r"[\\`*_\[\]<>|~&@]|[:#](?=\S)|(?<=www)\.")
UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
PAGE = Path(__file__).with_name("report.md.jinja")
MOST = 12  # sentences about what moved verdicts; report.html has all
Cells = tuple[object, ...]


def render_markdown(report: Row) -> str:
    """Return report.md of a report.

    >>> print(render_markdown({"status": "PASS", "judges": {}, "results": [], "contrasts": []}).splitlines()[0])
    # Judge gate: PASS
    """
    text = load_template(PAGE, plain=escape_markdown, bare=format_share, one_line=make_one_line).render(
        report=report,
        headlines=headlines(report),
        source=describe_sources(report, of_this_run=False),
        ended=unfinished_items(report),
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


def escape_markdown(text: object) -> str:
    r"""Return literal Markdown of a text on one line.

    >>> escape_markdown("a|b <img> www.x ![y](z)")
    'a\\|b \\<img\\> www\\.x !\\[y\\](z)'
    """
    spelled = UNSEEN.sub(lambda match: f"U+{ord(match[0]):04X}", make_one_line(str(text)))
    return SPECIAL.sub(lambda match: f"\\{match[0]}", spelled)


def _again(report: Row) -> str:
    recorded = (report.get("run") or {}).get("recorded") or {}
    judges: Mapping[str, Row] = report.get("judges") or {}
    live = [name for name in judges if name not in recorded and answer_origin(name, judges[name]) != "imported"]
    return MESSAGES.run_again(live)


def _data(report: Row) -> Iterable[str]:
    contrasts = CONTRASTS.read_records(report)
    of_swaps = [vocabulary_of_swap(each.components) for each in DECISIONS.read_records(report)]
    graded = report.get("agreement") or OF_EXAMPLES in of_swaps
    other = OF_EXAMPLES if graded and not contrasts else OF_PAIRS
    for row in report.get("datasets") or ():
        words = vocabularies_of([each for each in contrasts if each.dataset == row["dataset"]]) or (other,)
        yield f"{row['dataset']} ({row['n']} {combine_words(words, 'many')}, {row['digest']})"


def _decided(decision: DecisionRow, report: Row) -> Mapping[str, object]:
    primary, words = [each for each in decision.components if each.is_of_all], vocabulary_of_swap(decision.components)
    messages, known = {each.message for each in primary}, any(each.judge and each.baseline for each in primary)
    coverage = swap_coverage(decision, report)
    return {
        "row": decision,
        "coverage": coverage,
        "notes": describe_side_numbers(side_numbers(decision, report), words) if known else [],
        "reasons": [reason for reason in decision.reasons if reason not in messages and not coverage.says(reason)],
        "sides": (f"{decision.judge}", f"{decision.baseline} (baseline)") if known else (),
        "cells": [_component_cells(each, words, known) for each in primary],
        "words": words,
        "guards": [each for each in decision.components if not each.is_of_all],
    }


def _component_cells(each: ComponentRow, words: Vocabulary, known: bool) -> Cells:
    sides = (each.judge, each.baseline) if known else ()
    alone = (f"{format_share(side.value)} ({_interval(side)})" if side else "-" for side in sides)
    measured = (each.n, format_signed(each.value), f"{format_share(each.low, 3)} to {format_share(each.high, 3)}")
    allowed = f"{'other' if len(fault_signs(each.kind)) > 1 else 'worse'} by {format_share(each.margin)}"
    return (swap_part_label(each.kind, each.name, words.said), each.status, *alone, *measured, allowed)


def _moved(report: Row) -> Mapping[str, object]:
    contrasts = CONTRASTS.read_records(report)
    applicable = [row for row in measured_rows(report) if row.status != Status.NOT_APPLICABLE]
    groups = sorted(group_equal_results(applicable, ()), key=lambda group: group[0].status == Status.PASS)
    rows = list(map(name_largest, groups))
    told = [group for group in groups[:MOST] if group[0].waived or group[0].status != Status.PASS]
    sentences = [group_sentence(group, applicable) for group in told]
    return {
        "sentences": [*sentences, *flips_lines(contrasts), *not_applied_lines(contrasts)],
        "cells": [cells for row, name, _ in rows for cells in _moved_cells(row, f"{row.judge}: {name}")],
        "legend": table_legend(contrasts) if rows else (),
        "words": {word: combine_words(vocabularies_of(contrasts), word) for word in ("many", "said")},
    }


def _moved_cells(row: ContrastRow, name: str) -> Iterable[Cells]:
    status = status_cell(row.status, row.decided_by, row.waived)
    within = "-" if row.limit is None else format_share(row.limit)
    limit = f"{format_share(-row.limit)} to {within}" if row.limit is not None and row.by_scores else within
    yield (name, status, row.n, shift_cell(row), _interval(row.gated_shift), limit)
    for part in other_deciding_parts(row.decided_by or (), by_scores=row.by_scores):
        n = part.estimate.n if part.estimate else 0
        yield (f"{name}: {NAMED[part.part]}", part.status, n, *estimate_label(part), limits_label(part))
    if row.by_scores and row.vsr and row.status != Status.PASS:
        yield (f"{name}: VSR", "shown", row.n, format_signed(row.vsr.value), _interval(row.vsr), "-")


def _others(report: Row) -> list[str]:
    open_ = [row for row in other_results(report) if row.status in OPEN and not row.waived and not row.of_test]
    own = [row for row in open_ if not decided_by_control(row.decided_by)]
    return [f"{row.status}: {row.text or row.message} ({row.name} on {row.dataset})" for row in own]


def _shares(report: Row) -> list[Cells]:
    overall = [row for row in ACCURACY.read_records(report) if row.category == "all"]
    shares = {(row.judge, row.dataset): (row.n, row.accuracy) for row in overall}
    for row in SIDE_BY_SIDE.read_records(report):
        for judge, share in row.judges.items() if row.category == "all" else ():
            shares.setdefault((judge, row.dataset), (row.n, share))
    return [(*of, n, format_share(share.value), _interval(share)) for of, (n, share) in shares.items()]


def _waived(report: Row) -> list[str]:
    return MESSAGES.lines("waivers", [*CONTRASTS.read_records(report), *FOUR_CELLS.read_records(report)])


def _cost(row: Row) -> Cells:
    cached = row.get("cached_tokens")
    tokens = (row["input_tokens"], row["output_tokens"])
    came, went = ("not known" if count is None else count for count in tokens)
    input_text = f"{came} ({cached} cached)" if cached else came
    return (row["judge"], row["judgments"], sum(row["invalid"].values()), input_text, went, format_usd(row["usd"]))


def _interval(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{format_share(estimate.low, 3)} to {format_share(estimate.high, 3)}"
