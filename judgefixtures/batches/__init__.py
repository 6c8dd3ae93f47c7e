"""Batches: many questions sent at once, answered within a day at half the price.

What the batches of all providers have in common is in providers/bulk.py, and each provider's own in its file. Here is
what becomes of a run's questions: mail strings together what the manifest lists as sent, the intake of answers, letters
and how they are sent, what is given up, and what is asked both ways. docs/batch.md says what is promised.
"""

from __future__ import annotations

from typing import Any

from judgefixtures.providers import PROVIDERS, record_of
from judgefixtures.providers.bulk import BatchProvider, Limits, Line, NotSentError, UncertainError
from judgefixtures.providers.tables import JudgeTable
from judgefixtures.words.errors import JudgeFixturesError

__all__ = ["BatchProvider", "Limits", "Line", "NotSentError", "UncertainError", "load_batches", "offers_batches"]


def offers_batches(table: JudgeTable) -> bool:
    """Tell whether a judge's provider has batches that are spoken here."""
    return table.record.batches is not None and table.connection is None  # Vertex's are not Gemini's


def load_batches(name: str, table: JudgeTable) -> BatchProvider[Any]:
    """Return the batches of a judge's provider; raises JudgeFixturesError where it has none."""
    if table.record.batches is None or not offers_batches(table):
        having = sorted(each for each in PROVIDERS if record_of(each).batches is not None)
        raise JudgeFixturesError(
            f'judge {name!r}: there are no batches here of provider = "{table.provider}" as it is reached, only of '
            f"{', '.join(having)} themselves: record this judge without --judge-batch."
        )
    made: BatchProvider[Any] = table.record.batches(table)
    return made
