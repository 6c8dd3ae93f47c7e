"""Search of a provider's batch list for a batch whose id the manifest lacks."""

import datetime
from typing import Any

from judgefixtures.providers.batch_api import BatchProvider
from judgefixtures.util import clock

from .manifest import BatchManifest, SentBatch


async def find_batch(manifest: BatchManifest, sent: SentBatch, provider: BatchProvider[Any]) -> str | None:
    """Return the batch that an intent led to, as far as the provider's list shows it."""
    names = frozenset(name for _, name in sent.ids)
    taken = frozenset(each.batch for each in manifest.sent if each.batch is not None)
    since = min(sent.time, clock.now())  # this clock may have been set back
    return await provider.find(sent.intent, since, names, taken)


def missing_since(manifest: BatchManifest, sent: SentBatch, provider: BatchProvider[Any]) -> datetime.datetime | None:
    """Return when a batch that the list does not show is taken for none; None where it is.

    As long as it may run it may be there, and be paid for: lists can lag, and none says by how much. The time is
    the provider's: whoever sets this machine's clock changes nothing.
    """
    now = provider.clock or clock.now()
    if sent.unseen is None or now < sent.unseen:
        manifest.note("unseen", sent, time=now.isoformat(timespec="milliseconds"))
    assert sent.unseen is not None
    until = sent.unseen + provider.window
    return None if now > until else until
