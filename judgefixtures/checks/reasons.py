"""Verdict against reason: which verdicts come with a reason that argues for the other response, and the quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgefixtures.asking.questions import Judgment
from judgefixtures.checks.phrasing import shortened
from judgefixtures.findings import Row
from judgefixtures.measures.metrics import contradicts

EXAMPLES = 3
SHOWN_QUOTE = 200

Contradicted = tuple[Judgment, str]  # with the words that argue for the other response


def contradictions(arms: Iterable[Sequence[Judgment]]) -> tuple[Contradicted, ...]:
    """Return the judgments whose reason argues for the response that was not selected, each with its words."""
    judgments = (judgment for arm in arms for judgment in arm)
    return tuple((judgment, quote) for judgment in judgments if (quote := contradicts(judgment)) is not None)


def contradictions_row(found: Sequence[Contradicted]) -> Row:
    """Return the keys of a contrast's row: how many there are and, where there are any, the first quotes."""
    if not found:
        return {"contradictions": 0}
    return {"contradictions": len(found), "contradiction_quotes": [_quote_row(*each) for each in found[:EXAMPLES]]}


def _quote_row(judgment: Judgment, quote: str) -> Row:
    return {
        "pair": judgment.pair.id,
        "condition": judgment.condition.name,
        "repeat": judgment.repeat,
        "selected_response": judgment.selected,
        "quote": quote,
    }


def contradicted(found: Sequence[Contradicted], verdicts: int) -> tuple[str, ...]:
    """Return what a diagnosis says of those of so many verdicts that their own reasons argue against."""
    if not found:
        return ()
    lines = ["", f"  {len(found)} of {verdicts} verdicts come with a reason that argues for the other response:"]
    return (*lines, *(f"    {_quoted(row)}" for row in contradictions_row(found)["contradiction_quotes"]))


def contradicted_lines(rows: Sequence[Row]) -> list[str]:
    """Return what a summary says of verdicts that their own reasons argue against: a line per contrast, and a quote."""
    return [
        f"reasons against verdicts of {row['judge']} on {row['dataset']} in {row['contrast']}: "
        f"{row['contradictions']}; {_quoted(row['contradiction_quotes'][0])}"
        for row in rows
        if row["contradictions"]
    ]


def _quoted(quote: Row) -> str:
    return (
        f"pair {shortened(quote['pair'], 60)} in {quote['condition']}: chose {quote['selected_response']} -- "
        f'"{shortened(quote["quote"], SHOWN_QUOTE)}"'
    )
