"""Manager of a run's batches: which requests go into a batch, which are given up, and the submission."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgefixtures.batches import load_batches
from judgefixtures.cassettes.calls import BatchAnswer, JudgeCall, RecordedRequest, Way
from judgefixtures.cassettes.cassette import Cassette
from judgefixtures.cassettes.files import CassetteFile, CassetteRow
from judgefixtures.cassettes.locks import file_lock
from judgefixtures.client.costs import batch_cost, maximum_cost
from judgefixtures.client.model_client import REWORDED, ModelClient
from judgefixtures.providers import FatalJudgeError
from judgefixtures.providers.batch_api import BatchProvider

from .batch_upload import BatchUpload
from .failed_request_notes import FailedRequestNotes
from .manifest import BatchManifest, Key, is_parity_id
from .messages import MESSAGES
from .parity import BatchParityCheck, ParityPair, judge_identity_digest
from .request_queue import BatchQueue, BatchRequest
from .result_collector import FinishedBatch, ResultCollector


@dataclass(frozen=True, slots=True)
class JudgeBatchRoute:
    """A cassette's questions and batch answers."""

    manager: BatchManager
    client: ModelClient[Any]
    place: str
    parity: bool = False

    def take(self, digest: str) -> BatchAnswer | None:
        """Return a batch's answer to a request, once.

        For double questions, the direct answer counts while it exists.
        """
        intake = self.manager.intake
        keys = ((self.place, digest, parity) for parity in (self.parity, True))
        delivered = next((intake.answers.pop(key) for key in keys if key in intake.answers), None)
        if delivered is not None and (self.place, digest, False) in intake.waiting:
            return replace(delivered, tries=delivered.tries - 1)  # a batch that is on its way has not been a try yet
        return delivered

    def waits(self, digest: str) -> bool:
        """Return whether a request is in this or the next batch."""
        own, both = (self.place, digest, self.parity), (self.place, digest, True)
        return self.manager.waits(own) or both in self.manager.intake.waiting

    def choose_way(self, call: JudgeCall) -> Way:
        """Return how to ask a question without a readable batch answer.

        Raises:
            FatalJudgeError: An unknown batch may have answered it.
        """
        if call.question is None:
            return "waits"
        key = (self.place, call.question.digest, False)
        if call.unread and not self._asks_unread(key, call):
            return "waits"
        self.manager.intake.check_lost(key)
        if self._is_worn_out(key):
            return "waits"
        return "batch" if call.delivered is not None else self._first_way()

    def _asks_unread(self, key: Key, call: JudgeCall) -> bool:
        if call.delivered is None or self.manager.waits(key):
            return True
        is_last = call.delivered.tries >= self.client.table.max_attempts
        self.manager.given_up.note_unread(call.delivered.batch, call.unread, key, is_last=is_last)
        return key not in self.manager.given_up.keys

    def _is_worn_out(self, key: Key) -> bool:
        intake = self.manager.intake
        if intake.tries[key] < self.client.table.max_attempts or key in intake.waiting:
            return False
        why = intake.whys.get(key, ("an earlier batch", "its answer was not saved"))
        self.manager.given_up.note_worn(self.client.name, why, key)
        return True

    def _first_way(self) -> Way:
        client = self.client
        if client.is_comparable and self.manager.both_ways.asks(client):
            return "both"
        pinned = client.table.accept_served_model is not None and self.manager.has_sent(client.name)
        return "batch" if client.probed or pinned else "once"

    def put(self, question: RecordedRequest, repeat: int, prompt: str, *, parity: bool = False) -> bool:
        """Queue a question, and return whether it was new."""
        manager, client = self.manager, self.client
        key = (self.place, question.digest, parity)
        if manager.waits(key) or (parity and manager.intake.tries[key] >= client.table.max_attempts):
            return False
        cost, dropped = batch_cost(maximum_cost(client.table, [prompt])), tuple(sorted(client.dropped))
        entry = BatchRequest(
            key, repeat, question.body, cost, judge_identity_digest(client), client.client_name, dropped
        )
        manager.outbox.put(client.name, entry)
        return True

    def of_both_ways(self, digest: str) -> JudgeBatchRoute | None:
        """Return the route that compares a double question's answers, or None."""
        manager = self.manager
        waiting = (self.place, digest, True) in manager.intake.answers
        compares = waiting or manager.both_ways.asks_again(self.client, self.place, digest)
        return replace(self, parity=True) if compares else None

    def compare(self, digest: str, pair: str, *, same: bool, models: tuple[str | None, str | None]) -> None:
        """Record a pair's direct and batch answers."""
        sent = self.manager.intake.batch_of[self.place, digest, True]
        self.manager.both_ways.compared.append(ParityPair(sent, pair, same, models))


@dataclass(slots=True)
class BatchManager:
    """The batches of a run; `parity` double questions per judge."""

    root: Path
    parity: int = 20
    judges: frozenset[str] = frozenset()
    messages: list[str] = field(default_factory=list)
    outbox: BatchQueue = field(default_factory=BatchQueue)
    given_up: FailedRequestNotes = field(default_factory=FailedRequestNotes)
    manifest: BatchManifest = field(init=False)
    intake: ResultCollector = field(init=False)
    both_ways: BatchParityCheck = field(init=False)
    _providers: dict[str, BatchProvider[Any]] = field(default_factory=dict)
    _probed: set[tuple[str, str]] = field(default_factory=set)
    _files: dict[str, list[CassetteFile]] = field(default_factory=dict)  # as they are when all is asked
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __post_init__(self) -> None:
        # Whoever else sends what is missing waits: it would not see what is about to be sent here.
        self._held.enter_context(file_lock(self.root / "batches"))
        try:
            self.manifest = BatchManifest.of(self.root)
        except BaseException:
            self._held.close()
            raise
        self.intake = ResultCollector(self.manifest, self.messages)
        self.both_ways = BatchParityCheck(self.manifest, self.parity)

    # --- what asking needs ------------------------------------------------------------------------------------

    async def collect_for(self, client: ModelClient[Any]) -> None:
        """Collect a judge's batch answers once, or raise FatalJudgeError."""
        client.adopt({"dropped": self._dropped(client)})
        client.probed = client.probed or (client.name, client.client_name) in self._probed
        if client.name in self._providers:
            return
        provider = self._providers[client.name] = load_batches(client.name, client.table)
        for sent in self.manifest.open:
            if sent.judge == client.name:
                await self.intake.take_in(sent, provider)
        self.both_ways.recall(client.name, self.intake.comes)

    def _dropped(self, client: ModelClient[Any]) -> Sequence[str]:
        kind = client.client_name
        mine = (sent for sent in reversed(self.manifest.open) if sent.judge == client.name and kind in sent.dropped)
        return sorted(client.dropped) or next((sent.dropped[kind] for sent in mine), ())

    def note_probed(self, client: ModelClient[Any]) -> None:
        """Note that a client's first question succeeded."""
        if client.probed:
            self._probed.add((client.name, client.client_name))

    def route(self, client: ModelClient[Any], cassette: Cassette) -> JudgeBatchRoute:
        """Return the route of a client and cassette."""
        place = cassette.final_path.relative_to(self.root).with_suffix("").as_posix()
        return JudgeBatchRoute(self, client, place)

    def waits(self, key: Key) -> bool:
        """Return whether a question is in a batch, queued or given up."""
        return key in self.intake.waiting or key in self.given_up.keys or key in self.outbox

    def has_sent(self, judge: str) -> bool:
        """Return whether this judge ever had a batch."""
        return any(sent.judge == judge and sent.batch is not None for sent in self.manifest.sent)

    def way_out(self, client: ModelClient[Any]) -> str:
        """Return how to record a pinned judge by batch alone, or ""."""
        if not self.has_sent(client.name):
            return ""
        return (
            " If one model answers batches and the other direct calls, you can record batches alone: set "
            "batch_parity = 0 at the top of the configuration, delete the lines that begin with "
            f'{{"digest" and have no "by":"batch" from the files in {self.root / client.name}, and run the same '
            "command again."
        )

    # --- the end of a run -------------------------------------------------------------------------------------

    @property
    def unanswered(self) -> int:
        """The number of open questions."""
        return len(self.intake.waiting) + len(self.outbox)

    async def finish(self) -> None:
        """Submit the queue and close finished batches, or raise FatalJudgeError."""
        self._files.clear()
        self._give_up()
        limits = {judge: provider.limits for judge, provider in self._providers.items()}
        for judge, letters in self.outbox.parcels(limits):
            sent, message = await BatchUpload(self.manifest, self._providers[judge], judge, letters).send()
            self.intake.wait_for(sent)
            self.messages.append(message)
        self.messages += self.both_ways.tell()
        for ended in self.intake.ended:
            self._close(ended)
        self.messages += MESSAGES.lines("not_known", self.intake.lost, self.manifest.path)
        self._tell_unattended()
        given_up = [*self.given_up.tell()]
        self.messages += self.given_up.tell_asked_again()
        if given_up:
            raise FatalJudgeError(MESSAGES.given_up(given_up))

    def _tell_unattended(self) -> None:
        for sent in self.manifest.open:
            if sent.judge in self._providers:
                continue
            why = "this run does not use that judge"
            if sent.judge.partition(REWORDED)[0] not in self.judges:
                why = "the judge is not configured. Add its table again to collect the answers"
            where = sent.batch or "a batch with unknown id"
            self.messages.append(f"not collected: {sent.judge}: {len(sent)} requests in {where}: {why}")

    def _give_up(self) -> None:
        for (batch, _), keys in self.given_up.unread.items():
            sent = next(each for each in self.manifest.sent if each.batch == batch)
            own = [key for key in sent.keys if not key[2]]
            if not any(key in self.intake.answers or self._recorded(*key[:2]) for key in own):
                self.given_up.keys.update(keys)
        self.outbox.drop(self.given_up.keys)

    def _close(self, ended: FinishedBatch) -> None:
        sent, answers = ended.sent, ended.results.answers
        if not ended.results.whole or not self.given_up.keys.isdisjoint(sent.keys):
            return  # what nobody can read is not asked again, as long as it stands there
        if left := sum(1 for _ in self._unsettled(ended)):
            self.messages.append(MESSAGES.left(sent, left, self.manifest.path))
            return
        whys = Counter(ended.why_not(name) for _, name in sent.ids if is_parity_id(name) and name not in answers)
        self.messages += self.both_ways.tell_none(sent, whys)
        answered, word = ended.answered, ended.state.word
        self.manifest.note("ended", sent, state=word, answered=answered, failed=len(sent) - answered)

    def _unsettled(self, ended: FinishedBatch) -> Iterator[Key]:
        for key in dict.fromkeys(ended.sent.keys):
            if (ended.sent.intent, key) in self.intake.failed or self.waits(key):
                continue
            row = self._recorded(*key[:2])
            # What is asked both ways is recorded of the batch where the answer at once is gone.
            if (key in self.intake.answers and not (row and row.by)) if key[2] else row is None:
                yield key

    def _recorded(self, place: str, digest: str) -> CassetteRow | None:
        if place not in self._files:
            # Where what another judge recorded is asked anew, answers stand in a side file until they are all there.
            self._files[place] = [CassetteFile(self.root / f"{place}{kind}.jsonl") for kind in ("", ".part")]
        return next((row for file in self._files[place] if (row := file.find(digest)) is not None), None)

    async def close(self) -> None:
        """Close the connections and release the lock."""
        for provider in self._providers.values():
            await provider.close()
        self._held.close()
