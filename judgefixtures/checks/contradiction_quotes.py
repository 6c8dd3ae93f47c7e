"""Quotes of reasons that argue for the other response than the verdict."""

from collections.abc import Iterable, Sequence

from judgefixtures.metrics.reasons import contradicting_words
from judgefixtures.models.check_rows import ContrastRow, QuoteRow
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary, wording_of

from .formatting import EXAMPLES, shorten

SHOWN_QUOTE = 200


def quote_contradicting_reasons(arms: Iterable[Sequence[Judgment]]) -> tuple[QuoteRow, ...]:
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
        if (quote := contradicting_words(judgment)) is not None
    )


def describe_contradictions(quotes: Sequence[QuoteRow], verdicts: int, words: Vocabulary = OF_PAIRS) -> tuple[str, ...]:
    """Return what a diagnosis says of those of so many verdicts that their own reasons argue against."""
    if not quotes:
        return ()
    lines = ["", f"  {len(quotes)} of {verdicts} {words.said} come with a reason that {words.against}:"]
    return (*lines, *(f"    {_quoted(each, words)}" for each in quotes[:EXAMPLES]))


def contradiction_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return what a summary says of verdicts that their own reasons argue against: a line per contrast, and a quote."""
    return [
        f"reasons against {words.said} of {row.judge} on {row.dataset} in {row.contrast}: {row.contradictions}; "
        f"{_quoted(row.contradiction_quotes[0], words)}"
        for row in rows
        if row.contradictions and (words := wording_of(row.outcome))
    ]


def _quoted(each: QuoteRow, words: Vocabulary) -> str:
    return (
        f"{words.one} {shorten(each.pair, 60)} in {each.condition}: {words.chose[each.selected_response or 0]} -- "
        f'"{shorten(each.quote, SHOWN_QUOTE)}"'
    )
