"""Upload of queued requests as a batch, recorded in the manifest before and after."""

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgefixtures.client.costs import Cost, format_usd
from judgefixtures.providers import FatalJudgeError, RetryableError, batch_api
from judgefixtures.providers.batch_api import BatchLine, BatchProvider, NotSentError, UncertainError, retry_safely
from judgefixtures.util.secrets import redact_message

from .batch_lookup import find_batch, missing_since
from .manifest import BatchManifest, SentBatch
from .messages import MESSAGES
from .request_queue import BatchRequest, requests_by_id

SETTLE = 5.0  # seconds before a list is looked at once more that does not show a batch which is said not to be made
NOTHING = Cost(0, 0, 0, 0.0)


@dataclass(slots=True)
class BatchUpload:
    """One judge's requests for one batch."""

    manifest: BatchManifest
    provider: BatchProvider[Any]
    judge: str
    letters: Sequence[BatchRequest]
    intent: str = field(default_factory=lambda: uuid.uuid4().hex)
    sent: SentBatch | None = None

    async def send(self) -> tuple[SentBatch, str]:
        """Create the batch and return it with remarks, or raise FatalJudgeError."""
        names = requests_by_id(self.letters)
        names_by_place: dict[str, list[str]] = {}
        for name, letter in names.items():
            names_by_place.setdefault(letter.key[0], []).append(name)

        def about_to() -> None:
            provider = self.provider.provider.table.provider
            self.sent = self.manifest.intend(self.intent, provider, self.judge, names_by_place, **self._details)

        try:
            batch = await self._make([BatchLine(name, letter.body) for name, letter in names.items()], about_to)
        except NotSentError as error:
            if self.sent is not None:
                self.manifest.note("void", self.sent, why=redact_message(str(error))[:200])
            raise FatalJudgeError(MESSAGES.batch_not_made(self.judge, names, redact_message(str(error)))) from None
        assert self.sent is not None
        self.manifest.note("sent", self.sent, batch=batch)
        cost = sum((letter.cost for letter in self.letters), NOTHING)
        at_most = "price unknown" if cost.usd is None else f"at most {format_usd(cost.usd)}, half the direct price"
        return self.sent, f"sent: {self.judge}: {len(names)} requests in {batch};  {at_most}"

    @property
    def _details(self) -> dict[str, Any]:
        both = [letter for letter in self.letters if letter.key[2]]
        dropped = {letter.kind: [*letter.dropped] for letter in self.letters if letter.dropped}
        details: dict[str, Any] = {"identity": both[0].identity, "parity": len(both)} if both else {}
        return details | ({"dropped": dropped} if dropped else {})

    async def _make(self, lines: Sequence[BatchLine], about_to: Callable[[], None]) -> str:
        try:
            return await self.provider.send(self.intent, lines, about_to)
        except batch_api.BatchRejectedError as error:
            try:
                if batch := await self._find():
                    return batch
            except UncertainError:
                raise self._doubt(error) from None
            except (RetryableError, FatalJudgeError):
                pass  # whoever may make no batch may be shown none, either
            raise
        except (RetryableError, FatalJudgeError) as error:
            if self.sent is None:  # nothing asked for a batch yet
                raise NotSentError(str(error)) from None
            return await self._find_after_all(self.sent, error)

    async def _find_after_all(self, sent: SentBatch, error: Exception) -> str:
        with contextlib.suppress(RetryableError, FatalJudgeError, UncertainError):
            if batch := await retry_safely(self._find):
                return batch
            if isinstance(error, batch_api.BatchDeferredError):
                await asyncio.sleep(SETTLE)
                if batch := await retry_safely(self._find):
                    return batch
                raise NotSentError(str(error))
            missing_since(self.manifest, sent, self.provider)
        raise self._doubt(error) from None

    async def _find(self) -> str | None:
        assert self.sent is not None
        return await find_batch(self.manifest, self.sent, self.provider)

    def _doubt(self, error: Exception) -> FatalJudgeError:
        return FatalJudgeError(MESSAGES.batch_perhaps_made(self.judge, self.letters, redact_message(str(error))))
