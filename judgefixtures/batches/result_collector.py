"""Collector of batch results: look up, download, wait, and count failed attempts."""

import asyncio
import datetime
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from judgefixtures.cassettes.calls import BatchAnswer
from judgefixtures.providers import FatalJudgeError, RetryableError, batch_api
from judgefixtures.providers.batch_api import ATTEMPTS, FIRST_WAIT, BatchProvider, BatchResults, BatchState
from judgefixtures.util.clock import now
from judgefixtures.util.secrets import redact_message

from .batch_lookup import find_batch, missing_since
from .manifest import BatchManifest, Key, SentBatch, request_key
from .messages import MESSAGES

T = TypeVar("T")

LONGEST_DOWNLOAD = datetime.timedelta(days=3)  # from the first that was not whole: what still lacks then is no answer


class LostBatchError(FatalJudgeError):
    """A batch or its answers are unknown."""


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """An ended batch with its results."""

    sent: SentBatch
    state: BatchState
    results: BatchResults

    @property
    def answered(self) -> int:
        """The number of its answered questions."""
        return len(self.results.answers.keys() & {name for _, name in self.sent.ids})

    def why_not(self, name: str) -> str:
        """Return why a question has no answer."""
        return self.results.failed.get(name, self.state.said or f"no answer in a batch that is {self.state.word}")

    def has_all(self) -> bool:
        """Return whether all counted answers are there, by distinct ids."""
        answered = len(self.results.answers.keys() | self.results.failed.keys()) + self.results.nameless
        return self.state.counted is None or answered >= min(self.state.counted, len(self.sent))


@dataclass(slots=True)
class ResultCollector:
    """Batch answers by question, and open questions."""

    manifest: BatchManifest
    words: list[str]
    answers: dict[Key, BatchAnswer] = field(default_factory=dict)
    waiting: set[Key] = field(default_factory=set)
    tries: Counter[Key] = field(default_factory=Counter)  # in how many batches a question was
    batch_of: dict[Key, SentBatch] = field(default_factory=dict)  # the one that answered
    whys: dict[Key, tuple[str, str]] = field(default_factory=dict)  # of unanswered questions: batch, and why
    ended: list[FinishedBatch] = field(default_factory=list)
    failed: set[tuple[str, Key]] = field(default_factory=set)  # by the intent: another batch may have answered
    lost: list[SentBatch] = field(default_factory=list)
    _missed: dict[Key, LostBatchError] = field(default_factory=dict)  # what only a lost batch can answer

    def __post_init__(self) -> None:
        for sent in self.manifest.sent:
            if sent.batch is not None:
                self.tries.update(sent.keys)

    def comes(self, key: Key) -> bool:
        """Return whether a batch answers a question or may yet."""
        return key in self.answers or key in self.waiting or key in self._missed

    def check_lost(self, key: Key) -> None:
        """Raise FatalJudgeError if an unknown batch has this question."""
        if (error := self._missed.get(key)) is not None:
            raise error

    def wait_for(self, sent: SentBatch) -> None:
        """Mark a batch's questions as open."""
        self.waiting.update(sent.keys)

    async def take_in(self, sent: SentBatch, provider: BatchProvider[Any]) -> None:
        """Collect a batch's answers, or raise FatalJudgeError."""
        if sent.batch is None and not await self._adopt(sent, provider):
            return
        try:
            await self._collect(sent, provider)
        except LostBatchError as error:  # of no matter, unless the run needs its answers
            self.lost.append(sent)
            self._missed.update(dict.fromkeys(sent.keys, error))

    async def _collect(self, sent: SentBatch, provider: BatchProvider[Any]) -> None:
        batch = str(sent.batch)
        state = await self._ask(sent.judge, f"batch {batch}", lambda: provider.look(batch))
        if not state.ended:
            self.wait_for(sent)
            self.words.append(MESSAGES.on_its_way(sent, state.word))
            return
        ended = FinishedBatch(sent, state, await self._fetch(sent, provider, state))
        results = ended.results
        reasons: Counter[tuple[str, bool]] = Counter()  # why not, and whether it was asked at once as well
        lacking = 0
        for place, name in sent.ids:
            key = request_key(place, name)
            if name in results.answers:
                # A later batch asks what the earlier ones did not answer well: its answer is the one that counts.
                self.answers[key] = replace(results.answers[name], tries=self.tries[*key[:2], False])
                self.batch_of[key] = sent
            elif name in results.failed or results.whole:
                self.failed.add((sent.intent, key))
                why = ended.why_not(name)
                reasons[why, key[2]] += 1
                self.whys[key] = (batch, why)
            else:
                lacking += 1
                self.waiting.add(key)
        self.ended.append(ended)
        self._tell(ended, reasons, lacking)

    async def _fetch(self, sent: SentBatch, provider: BatchProvider[Any], state: BatchState) -> BatchResults:
        batch, best = str(sent.batch), None
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(FIRST_WAIT * 2.0**attempt)
            results = await self._ask(sent.judge, f"batch {batch}", lambda: provider.fetch(batch, state))
            results.whole = results.whole and FinishedBatch(sent, state, results).has_all()
            best = results if best is None or len(results.answers) > len(best.answers) else best
            if results.whole:
                return results
            if sent.partial is None:
                self.manifest.note("partial", sent)
            if sent.partial is None or now() - sent.partial <= LONGEST_DOWNLOAD:
                return results
        assert best is not None
        best.whole = True
        return best

    def _tell(self, ended: FinishedBatch, reasons: Counter[tuple[str, bool]], lacking: int) -> None:
        results = ended.results
        unknown = len((results.answers.keys() | results.failed.keys()) - {name for _, name in ended.sent.ids})
        self.words += MESSAGES.lines("ended", ended, reasons.most_common(5), lacking, unknown)

    async def _adopt(self, sent: SentBatch, provider: BatchProvider[Any]) -> bool:
        judge, count = sent.judge, len(sent)
        forget = (
            f"If you know that no batch exists, delete the lines with intent {sent.intent} from {self.manifest.path}"
        )
        what = f"the provider's list of batches, to find a batch of {count} requests ({forget})"
        try:
            batch = await self._ask(judge, what, lambda: find_batch(self.manifest, sent, provider))
        except batch_api.UncertainError:
            self.wait_for(sent)
            self.words.append(MESSAGES.perhaps_running(judge, count))
            return False
        if batch is not None:
            self.manifest.note("sent", sent, batch=batch, adopted=True)
            self.tries.update(sent.keys)
            self.words.append(f"found: {judge}: an interrupted run had sent {batch}")
            return True
        again = missing_since(self.manifest, sent, provider)
        if again is None:
            self.manifest.note("void", sent, why="the list of batches never showed it")
            return False
        self.wait_for(sent)
        self.words.append(MESSAGES.perhaps_made(judge, count, again, forget))
        return False

    async def _ask(self, judge: str, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await batch_api.retry_safely(ask)
        except batch_api.BatchNotFoundError as error:
            why = MESSAGES.lost(judge, what, redact_message(str(error)), self.manifest.path)
            raise LostBatchError(why) from None
        except RetryableError as error:
            raise FatalJudgeError(MESSAGES.ask_later(judge, what, redact_message(str(error)))) from None
        except FatalJudgeError as error:
            raise FatalJudgeError(f"judge {judge!r}: {what}: {redact_message(str(error))}") from None
