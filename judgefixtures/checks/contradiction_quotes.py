"""Quotes of reasons that argue for the other response than the verdict."""

from collections.abc import Iterable, Sequence

from judgefixtures.metrics.contrast_metrics import contradicting_words
from judgefixtures.models.check_rows import ContrastRow, QuoteRow
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary

from .messages import MESSAGES


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


def describe_contradictions(quotes: Sequence[QuoteRow], verdicts: int, words: Vocabulary = OF_PAIRS) -> list[str]:
    """Return what a diagnosis says of those of so many verdicts that their own reasons argue against."""
    return MESSAGES.lines("contradictions", quotes, verdicts, words)


def contradiction_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return what a summary says of verdicts that their own reasons argue against: a line per contrast, and a quote."""
    return MESSAGES.lines("contradicted", rows)
