"""Verdict against reason: which verdicts come with a reason that argues for the other response, and the quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgefixtures.asking.questions import Judgment
from judgefixtures.checks.columns import ContrastRow, QuoteRow
from judgefixtures.checks.phrasing import EXAMPLES, shortened
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


def contradicted(found: Sequence[QuoteRow], verdicts: int, *, graded: bool = False) -> tuple[str, ...]:
    """Return what a diagnosis says of those of so many verdicts, or grades, that their own reasons argue against."""
    if not found:
        return ()
    said = "verdicts come with a reason that argues for the other response"
    if graded:
        said = "grades come with a reason that says the opposite"
    lines = ["", f"  {len(found)} of {verdicts} {said}:"]
    return (*lines, *(f"    {_quoted(each, graded=graded)}" for each in found[:EXAMPLES]))


def contradicted_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return what a summary says of verdicts that their own reasons argue against: a line per contrast, and a quote."""
    return [
        f"reasons against {'grades' if row.outcome == 'passed' else 'verdicts'} of {row.judge} on {row.dataset} in "
        f"{row.contrast}: {row.contradictions}; {_quoted(row.contradiction_quotes[0], graded=row.outcome == 'passed')}"
        for row in rows
        if row.contradictions
    ]


def _quoted(each: QuoteRow, *, graded: bool) -> str:
    did = f"chose {each.selected_response}"
    if graded:
        did = "passed it" if each.selected_response == 1 else "failed it"
    return (
        f"{'example' if graded else 'pair'} {shortened(each.pair, 60)} in {each.condition}: {did} -- "
        f'"{shortened(each.quote, SHOWN_QUOTE)}"'
    )
