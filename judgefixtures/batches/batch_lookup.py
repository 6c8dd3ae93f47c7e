"""Search of a provider's list for a batch whose id the manifest lacks."""

import datetime
from typing import Any

from judgefixtures.providers.batch_api import BatchProvider
from judgefixtures.util import clock

from .manifest import BatchManifest, SentBatch


async def find_batch(manifest: BatchManifest, sent: SentBatch, provider: BatchProvider[Any]) -> str | None:
    """Return an intent's batch from the provider's list, or None."""
    names = frozenset(name for _, name in sent.ids)
    taken = frozenset(each.batch for each in manifest.sent if each.batch is not None)
    since = min(sent.time, clock.now())  # this clock may have been set back
    return await provider.find(sent.intent, since, names, taken)


def missing_since(manifest: BatchManifest, sent: SentBatch, provider: BatchProvider[Any]) -> datetime.datetime | None:
    """Return until when an unlisted batch may still exist, else None.

    Lists can lag, so the batch's whole run time must pass on the provider's clock.
    """
    now = provider.clock or clock.now()
    if sent.unseen is None or now < sent.unseen:
        manifest.note("unseen", sent, time=now.isoformat(timespec="milliseconds"))
    assert sent.unseen is not None
    until = sent.unseen + provider.window
    return None if now > until else until
