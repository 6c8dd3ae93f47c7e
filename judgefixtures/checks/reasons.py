"""Verdict against reason: which verdicts come with a reason that argues for the other response, and the quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgefixtures.asking.questions import Judgment
from judgefixtures.checks.columns import ContrastRow, QuoteRow
from judgefixtures.checks.phrasing import EXAMPLES, shortened
from judgefixtures.material.diction import OF_PAIRS, Wording, wording_of
from judgefixtures.measures.metrics import contradicts

SHOWN_QUOTE = 200


def quote_contradictions(arms: Iterable[Sequence[Judgment]]) -> tuple[QuoteRow, ...]:
    """Return the verdicts whose reason argues for the response that was not selected, each with its words."""
    return tuple(
        QuoteRow(
            pair=judgment.pair.id,
            condition=judgment.condition.name,
            repeat=judgment.repeat,
            selected_response=judgment.selected,
            quote=quote,
        )
        for arm in arms
        for judgment in arm
        if (quote := contradicts(judgment)) is not None
    )


def contradicted(found: Sequence[QuoteRow], verdicts: int, words: Wording = OF_PAIRS) -> tuple[str, ...]:
    """Return what a diagnosis says of those of so many verdicts that their own reasons argue against."""
    if not found:
        return ()
    lines = ["", f"  {len(found)} of {verdicts} {words.said} come with a reason that {words.against}:"]
    return (*lines, *(f"    {_quoted(each, words)}" for each in found[:EXAMPLES]))


def contradicted_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return what a summary says of verdicts that their own reasons argue against: a line per contrast, and a quote."""
    return [
        f"reasons against {words.said} of {row.judge} on {row.dataset} in {row.contrast}: {row.contradictions}; "
        f"{_quoted(row.contradiction_quotes[0], words)}"
        for row in rows
        if row.contradictions and (words := wording_of(row.outcome))
    ]


def _quoted(each: QuoteRow, words: Wording) -> str:
    return (
        f"{words.one} {shortened(each.pair, 60)} in {each.condition}: {words.chose[each.selected_response or 0]} -- "
        f'"{shortened(each.quote, SHOWN_QUOTE)}"'
    )
