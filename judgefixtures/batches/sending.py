"""Sending: letters become a batch, of which the list says so before it is made, and again when it is."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgefixtures.asking.costs import Cost, money
from judgefixtures.batches.letters import Letter, named_letters
from judgefixtures.batches.manifest import Manifest, Sent
from judgefixtures.batches.searching import find_batch, note_unseen
from judgefixtures.providers import FatalJudgeError, RetryableError
from judgefixtures.providers.bulk import (
    BatchProvider,
    LaterError,
    Line,
    NotSentError,
    RefusedError,
    UncertainError,
    patiently,
)
from judgefixtures.words.secrets import masked

SETTLE = 5.0  # seconds before a list is looked at once more that does not show a batch which is said not to be made
NOTHING = Cost(0, 0, 0, 0.0)


@dataclass(slots=True)
class Parcel:
    """Letters to one judge that go into one batch, and what the list says of it once it is about to be made."""

    manifest: Manifest
    provider: BatchProvider[Any]
    judge: str
    letters: Sequence[Letter]
    intent: str = field(default_factory=lambda: uuid.uuid4().hex)
    sent: Sent | None = None

    async def send(self) -> tuple[Sent, str]:
        """Have the batch made; return it with what is to be said. Raises FatalJudgeError where there may be none."""
        names = named_letters(self.letters)
        asked: dict[str, list[str]] = {}
        for name, letter in names.items():
            asked.setdefault(letter.key[0], []).append(name)

        def about_to() -> None:
            provider = self.provider.provider.table.provider
            self.sent = self.manifest.intend(self.intent, provider, self.judge, asked, **self._details)

        try:
            batch = await self._make([Line(name, letter.body) for name, letter in names.items()], about_to)
        except NotSentError as error:
            if self.sent is not None:
                self.manifest.note("void", self.sent, why=masked(str(error))[:200])
            raise FatalJudgeError(
                f"judge {self.judge!r}: a batch of {len(names)} questions was not made: {masked(str(error))} -- "
                "nothing of it is paid for. Run the same command again when that is mended."
            ) from None
        assert self.sent is not None
        self.manifest.note("sent", self.sent, batch=batch)
        cost = sum((letter.cost for letter in self.letters), NOTHING)
        at_most = "price unknown" if cost.usd is None else f"at most {money(cost.usd)}, half of what it is at once"
        return self.sent, f"sent: {self.judge}: {len(names)} questions in {batch}; {at_most}"

    @property
    def _details(self) -> dict[str, Any]:
        both = [letter for letter in self.letters if letter.key[2]]
        dropped = {letter.kind: [*letter.dropped] for letter in self.letters if letter.dropped}
        details: dict[str, Any] = {"identity": both[0].identity, "parity": len(both)} if both else {}
        return details | ({"dropped": dropped} if dropped else {})

    async def _make(self, lines: Sequence[Line], about_to: Callable[[], None]) -> str:
        """Return the batch that is made, also where the answer to that leaves a doubt; raises NotSentError."""
        try:
            return await self.provider.send(self.intent, lines, about_to)
        except RefusedError as error:
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

    async def _find_after_all(self, sent: Sent, error: Exception) -> str:
        """Return the batch that was made although nobody said so; raises NotSentError where there surely is none."""
        with contextlib.suppress(RetryableError, FatalJudgeError, UncertainError):
            if batch := await patiently(self._find):
                return batch
            if isinstance(error, LaterError):
                await asyncio.sleep(SETTLE)
                if batch := await patiently(self._find):
                    return batch
                raise NotSentError(str(error))
            note_unseen(self.manifest, sent, self.provider)
        raise self._doubt(error) from None

    async def _find(self) -> str | None:
        assert self.sent is not None
        return await find_batch(self.manifest, self.sent, self.provider)

    def _doubt(self, error: Exception) -> FatalJudgeError:
        return FatalJudgeError(
            f"judge {self.judge!r}: it is not known whether a batch of {len(self.letters)} questions was made: "
            f"{masked(str(error))}. Run the same command again: it looks for the batch before it sends anything, and "
            "sends the same questions again only when such a batch would have ended."
        )
