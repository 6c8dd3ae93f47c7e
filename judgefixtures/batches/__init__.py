"""Provider batches: many requests sent at once, answered within a day at half the price.

providers/batch_api.py holds what all providers share. See docs/how-to/batches.md.

- batch_manager: the batches of a run.
- manifest: the list of sent batches.
- request_queue, batch_upload: the next batch and its upload.
- batch_lookup: a batch whose id the manifest lacks.
- result_collector, failed_request_notes: answers and failures.
- parity: requests sent in a batch and directly.
"""

from typing import Any

from judgefixtures.providers import PROVIDERS, provider_spec
from judgefixtures.providers.batch_api import BatchLimits, BatchLine, BatchProvider, NotSentError, UncertainError
from judgefixtures.providers.judge_table import JudgeTable
from judgefixtures.util.errors import JudgeFixturesError

from .messages import MESSAGES

__all__ = [
    "BatchLimits",
    "BatchLine",
    "BatchProvider",
    "NotSentError",
    "UncertainError",
    "load_batches",
    "offers_batches",
]


def offers_batches(table: JudgeTable) -> bool:
    """Return whether a judge's provider supports batches here."""
    return table.record.batches is not None and table.connection is None  # Vertex's are not Gemini's


def load_batches(name: str, table: JudgeTable) -> BatchProvider[Any]:
    """Return a provider's batches, or raise JudgeFixturesError without any."""
    if table.record.batches is None or not offers_batches(table):
        having = sorted(each for each in PROVIDERS if provider_spec(each).batches is not None)
        raise JudgeFixturesError(MESSAGES.no_batches(name, table, having))
    made: BatchProvider[Any] = table.record.batches(table)
    return made
