"""Quotes of reasons that argue for the other response than the verdict."""

from collections.abc import Iterable, Sequence

from judgefixtures.metrics.reasons import contradicting_words
from judgefixtures.models.check_rows import ContrastRow, QuoteRow
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary

from .messages import MESSAGES


def quote_contradicting_reasons(arms: Iterable[Sequence[Judgment]]) -> tuple[QuoteRow, ...]:
    """Return quotes of reasons that contradict their verdict."""
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
    """Return the diagnosis of verdicts that contradict their reasons."""
    return MESSAGES.lines("contradictions", quotes, verdicts, words)


def contradiction_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return the summary of contradicting reasons: a line per contrast, and a quote."""
    return MESSAGES.lines("contradicted", rows)
