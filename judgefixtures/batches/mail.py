"""A run's batches: what is collected of those that were sent, what goes into new ones, and when it is sent.

Nothing is sent before every question of the run is known, and nothing that stands not in the list first.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from judgefixtures.asking.asker import Asker
from judgefixtures.asking.costs import Cost, halved, money, most_of
from judgefixtures.batches import load_batches
from judgefixtures.batches.manifest import PARITY, Key, Manifest, Sent, digest_of, is_parity
from judgefixtures.batches.parity import Compared, Parity, identity_of
from judgefixtures.cassettes.calls import Call, Delivered, Question
from judgefixtures.cassettes.files import CassetteFile, Row
from judgefixtures.cassettes.library import Cassette, held
from judgefixtures.providers import FatalJudgeError, RetryableError
from judgefixtures.providers.bulk import (
    ATTEMPTS,
    FIRST_WAIT,
    BatchProvider,
    LaterError,
    Limits,
    Line,
    NotFoundError,
    NotSentError,
    RefusedError,
    Results,
    State,
    UncertainError,
    patiently,
)
from judgefixtures.words.secrets import masked

T = TypeVar("T")

SETTLE = 5.0  # seconds before a list is looked at once more that does not show a batch which is said not to be made
LONGEST_DOWNLOAD = datetime.timedelta(days=3)  # from the first that was not whole: what still lacks then is no answer
OVERHEAD = 120  # bytes of a line beside the request's body
NOTHING = Cost(0, 0, 0, 0.0)

Reasons = Counter[tuple[str, bool]]  # why questions were not answered, and whether they were asked at once as well


class LostError(FatalJudgeError):
    """A batch is not known where it is asked for, or what it answered is not."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A question that is to go into a batch."""

    key: Key
    repeat: int
    body: bytes
    cost: Cost
    identity: str
    kind: str  # of asker: a judge, its planner, a detector
    dropped: tuple[str, ...]  # the parameters that it leaves out, because the model does not take them

    @property
    def name(self) -> str:
        """Its id in the batch: the request's digest and its repeat."""
        _, digest, parity = self.key
        return f"{digest}-{self.repeat}" + (f"-{PARITY}" if parity else "")


@dataclass(frozen=True, slots=True)
class Box:
    """What batches answer to the questions of one cassette."""

    mail: Mail
    place: str
    parity: bool = False

    def take(self, digest: str) -> Delivered | None:
        """Return what a batch answered to a request, once.

        Of what was asked both ways the answer at once is the recorded one. Where that is gone, the batch's is paid for.
        """
        answers = self.mail.answers
        found = answers.pop((self.place, digest, self.parity), None) or answers.pop((self.place, digest, True), None)
        if found is not None and (self.place, digest, False) in self.mail.waiting:
            return replace(found, tries=found.tries - 1)  # a batch that is on its way has not been a try yet
        return found

    def waits(self, digest: str) -> bool:
        """Tell whether a request is on its way in a batch, or was put into the next one."""
        return self.mail.waits((self.place, digest, self.parity)) or (self.place, digest, True) in self.mail.waiting


@dataclass(slots=True)
class Mail:
    """The batches of a run. `parity` is how many questions of a judge are asked at once as well; 0 for none.

    `judges` are the names of those that are configured.
    """

    root: Path
    parity: int = 20
    judges: frozenset[str] = frozenset()
    answers: dict[Key, Delivered] = field(default_factory=dict)
    waiting: set[Key] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    manifest: Manifest = field(init=False)
    both_ways: Parity = field(init=False)
    _queue: dict[str, dict[Key, Letter]] = field(default_factory=dict)
    _providers: dict[str, BatchProvider] = field(default_factory=dict)
    _models: dict[str, str] = field(default_factory=dict)
    _probed: set[tuple[str, str]] = field(default_factory=set)
    _tries: Counter[Key] = field(default_factory=Counter)
    _ended: list[tuple[Sent, State, Results]] = field(default_factory=list)
    _failed: set[tuple[str, Key]] = field(default_factory=set)  # by the intent: another batch may have answered
    _lost: list[Sent] = field(default_factory=list)
    _missed: dict[Key, LostError] = field(default_factory=dict)  # what only a lost batch can answer
    _of: dict[Key, Sent] = field(default_factory=dict)
    _unread: dict[tuple[str, str], list[Key]] = field(default_factory=dict)  # answers nobody can read: batch, and why
    _whys: dict[Key, tuple[str, str]] = field(default_factory=dict)  # of unanswered questions: batch, and why
    _worn: dict[tuple[str, str, str], list[Key]] = field(default_factory=dict)  # asked too often: judge, batch, and why
    _given_up: set[Key] = field(default_factory=set)  # questions of either kind that go into no other batch
    _files: dict[str, list[CassetteFile]] = field(default_factory=dict)  # as they are when all is asked
    _held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __post_init__(self) -> None:
        # Whoever else sends what is missing waits: it would not see what is about to be sent here.
        self._held.enter_context(held(self.root / "batches"))
        try:
            self.manifest = Manifest.of(self.root)
        except BaseException:
            self._held.close()
            raise
        self.both_ways = Parity(self.manifest, self.parity)
        for sent in self.manifest.sent:
            if sent.batch is not None:
                self._tries.update(sent.keys)

    # --- collecting -------------------------------------------------------------------------------------------

    async def attend(self, asker: Asker[Any]) -> None:
        """Collect what a judge's batches answered, once; raises FatalJudgeError where they cannot be asked for."""
        asker.adopt({"dropped": self._dropped(asker)})
        asker.probed = asker.probed or (asker.name, type(asker).__name__) in self._probed
        if asker.name in self._providers:
            return
        provider = self._providers[asker.name] = load_batches(asker.name, asker.table)
        self._models[asker.name] = asker.table.model or ""
        for sent in self.manifest.open:
            if sent.judge == asker.name and (sent.batch is not None or await self._adopted(sent, provider)):
                try:
                    await self._collect(sent, provider)
                except LostError as error:  # of no matter, unless the run needs its answers
                    self._lost.append(sent)
                    self._missed.update(dict.fromkeys(sent.keys, error))
        self.both_ways.recall(asker.name, self._comes)

    def _dropped(self, asker: Asker[Any]) -> Sequence[str]:
        """Return what was left out of the questions that are on their way: without it they would not be found."""
        kind = type(asker).__name__
        return sorted(asker.dropped) or next(
            (
                sent.dropped[kind]
                for sent in reversed(self.manifest.open)
                if sent.judge == asker.name and kind in sent.dropped
            ),
            (),
        )

    async def _collect(self, sent: Sent, provider: BatchProvider) -> None:
        batch = str(sent.batch)
        state = await self._ask(sent.judge, f"batch {batch}", lambda: provider.look(batch))
        if not state.ended:
            self._wait(sent)
            self.words.append(
                f"on its way: {sent.judge}: {len(sent)} questions in {batch} ({state.word}), sent "
                f"{sent.time:%Y-%m-%d %H:%M} UTC"
            )
            return
        results = await self._fetched(sent, provider, state)
        reasons: Reasons = Counter()
        lacking = 0
        for place, name in sent.ids:
            key = (place, digest_of(name), is_parity(name))
            if name in results.answers:
                # A later batch asks what the earlier ones did not answer well: its answer is the one that counts.
                self.answers[key] = replace(results.answers[name], tries=self._tries[*key[:2], False])
                self._of[key] = sent
            elif name in results.failed or results.whole:
                self._failed.add((sent.intent, key))
                why = _why(name, state, results)
                reasons[why, key[2]] += 1
                self._whys[key] = (str(sent.batch), why)
            else:
                lacking += 1
                self.waiting.add(key)
        self._ended.append((sent, state, results))
        self._tell(sent, state, results, reasons, lacking)

    async def _fetched(self, sent: Sent, provider: BatchProvider, state: State) -> Results:
        """Return what a batch has to say; `whole` where what it lacks is not waited for any longer.

        What a provider counts and does not give out is given up some days after that was first seen, and not before
        it was downloaded several times more: what is lacking is paid for, and will be once more.
        """
        batch, found = str(sent.batch), None
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(FIRST_WAIT * 2.0**attempt)
            results = await self._ask(sent.judge, f"batch {batch}", lambda: provider.fetch(batch, state))
            results.whole = results.whole and _has_all(sent, state, results)
            found = results if found is None or len(results.answers) > len(found.answers) else found
            if results.whole:
                return results
            if sent.partial is None:
                self.manifest.note("partial", sent)
            if sent.partial is None or datetime.datetime.now(datetime.UTC) - sent.partial <= LONGEST_DOWNLOAD:
                return results
        assert found is not None
        found.whole = True
        return found

    def _tell(self, sent: Sent, state: State, results: Results, reasons: Reasons, lacking: int) -> None:
        """Say what a batch that has ended brought."""
        known = {name for _, name in sent.ids}
        batch = str(sent.batch)
        answered = len(results.answers.keys() & known)
        self.words.append(f"collected: {sent.judge}: {answered} of {len(sent)} answers of {batch} ({state.word})")
        self.words += [
            f"not answered: {sent.judge}: {count} questions of {batch}, "
            f"{'whose answers at once are recorded' if parity else 'which are asked again'}: {why}"
            for (why, parity), count in reasons.most_common(5)
        ]
        if lacking:
            self.words.append(
                f"not whole: {sent.judge}: the answers of {batch} could not all be downloaded: {lacking} "
                "stay where they are. Run the same command again"
            )
        if unknown := len((results.answers.keys() | results.failed.keys()) - known):
            self.words.append(
                f"not asked: {sent.judge}: {unknown} lines of {batch} answer questions that are not its "
                "own, and are left out"
            )
        if results.nameless:
            self.words.append(
                f"without an id: {sent.judge}: {results.nameless} lines of {batch} do not say which "
                "question they answer, and are left out"
            )
        if results.duplicates:
            self.words.append(
                f"answered twice: {sent.judge}: {results.duplicates} questions of {batch}: the first answer counts"
            )

    async def _adopted(self, sent: Sent, provider: BatchProvider) -> bool:
        """Find the batch that a run was about to make when it ended; tell whether there is one that is known to be."""
        forget = (
            f"Where you know that there is none, delete the lines of the intent {sent.intent} from {self.manifest.path}"
        )
        what = f"the list, which is to show whether a batch of {len(sent)} questions was made ({forget})"
        try:
            batch = await self._ask(sent.judge, what, lambda: self._found(sent, provider))
        except UncertainError:
            self._wait(sent)
            self.words.append(
                f"on its way: {sent.judge}: {len(sent)} questions, perhaps: a run ended while it "
                "sent them, and a batch of as many is running. Nothing of it is sent again before "
                "that one tells whose it is"
            )
            return False
        if batch is not None:
            self.manifest.note("sent", sent, batch=batch, adopted=True)
            self._tries.update(sent.keys)
            self.words.append(f"found: {sent.judge}: {batch} was sent by a run that ended before it noted that")
            return True
        again = self._not_shown(sent, provider)
        if again is None:
            self.manifest.note("void", sent, why="the list of batches never showed it")
            return False
        self._wait(sent)
        self.words.append(
            f"on its way: {sent.judge}: {len(sent)} questions, perhaps: it is not known whether their "
            "batch was made, and the provider's list does not show it. They are sent again after "
            f"{again:%Y-%m-%d %H:%M} UTC, when it would have ended. {forget}"
        )
        return False

    async def _found(self, sent: Sent, provider: BatchProvider) -> str | None:
        """Return the batch that an intent led to, as far as the provider's list shows it."""
        names = frozenset(name for _, name in sent.ids)
        taken = frozenset(each.batch for each in self.manifest.sent if each.batch is not None)
        since = min(sent.time, datetime.datetime.now(datetime.UTC))  # this clock may have been set back
        return await provider.find(sent.intent, since, names, taken)

    def _not_shown(self, sent: Sent, provider: BatchProvider) -> datetime.datetime | None:
        """Return when a batch that the list does not show is taken for none; None where it is.

        As long as it may run it may be there, and be paid for: lists can lag, and none says by how much. The time is
        the provider's: whoever sets this machine's clock changes nothing.
        """
        now = provider.clock or datetime.datetime.now(datetime.UTC)
        if sent.unseen is None or now < sent.unseen:
            self.manifest.note("unseen", sent, time=now.isoformat(timespec="milliseconds"))
        assert sent.unseen is not None
        until = sent.unseen + provider.window
        return None if now > until else until

    def _wait(self, sent: Sent) -> None:
        self.waiting.update(sent.keys)

    async def _ask(self, judge: str, what: str, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            return await patiently(ask)
        except NotFoundError as error:
            raise LostError(
                f"judge {judge!r}: {what} is not known where it is asked for ({masked(str(error))}). Was it sent with "
                "another key, project or base_url? Ask with those. If it is lost, delete its lines from "
                f"{self.manifest.path}: what it was asked is then asked, and paid for, again."
            ) from None
        except RetryableError as error:
            raise FatalJudgeError(
                f"judge {judge!r}: {what}: {masked(str(error))}. Nothing is lost: run the same command again later."
            ) from None
        except FatalJudgeError as error:
            raise FatalJudgeError(f"judge {judge!r}: {what}: {masked(str(error))}") from None

    # --- asking -----------------------------------------------------------------------------------------------

    def box(self, cassette: Cassette, *, parity: bool = False) -> Box:
        """Return what batches answer to the questions of a cassette."""
        return Box(self, self._place(cassette), parity)

    def _place(self, cassette: Cassette) -> str:
        return cassette.final_path.relative_to(self.root).with_suffix("").as_posix()

    def asks_at_once(self, asker: Asker[Any], *, comparable: bool) -> Literal["", "once", "both"]:
        """Tell whether a question is to be asked at once: the first of all, and some that are asked both ways.

        The first finds bad keys, unknown models and rejected parameters for the price of one call. A judge whose served
        model is pinned is asked so before its first batch alone: at once another model may answer.
        """
        if comparable and self.both_ways.asks(asker):
            return "both"
        if asker.probed or (asker.table.accept_served_model is not None and self._sent_before(asker)):
            return ""
        return "once"

    def _sent_before(self, asker: Asker[Any]) -> bool:
        return any(sent.judge == asker.name and sent.batch is not None for sent in self.manifest.sent)

    def compares(self, asker: Asker[Any], box: Box, digest: str) -> bool:
        """Tell whether a recorded answer is to be compared: a batch answered the question too, or it is asked again."""
        return (box.place, digest, True) in self.answers or self.both_ways.asks_again(asker, box.place, digest)

    def _comes(self, key: Key) -> bool:
        """Tell whether a question is answered in a batch, or may yet be."""
        return key in self.answers or key in self.waiting or key in self._missed

    def waits(self, key: Key) -> bool:
        """Tell whether a question is on its way in a batch, was put into the next one, or is to go into none."""
        return key in self.waiting or key in self._given_up or any(key in queue for queue in self._queue.values())

    def need(self, cassette: Cassette, digest: str) -> None:
        """Raise FatalJudgeError where a question was sent in a batch that is not known: it may be answered there."""
        if (error := self._missed.get((self._place(cassette), digest, False))) is not None:
            raise error

    def way_out(self, asker: Asker[Any]) -> str:
        """Say how a judge that is pinned is recorded by batch alone; empty where no batch of it was sent."""
        if not self._sent_before(asker):
            return ""
        return (
            " Where it is batches that are answered by one and calls at once by the other, the batches' answers can be "
            "recorded: set batch_parity = 0 at the top of the configuration, delete the lines that begin with "
            f'{{"digest" and have no "by":"batch" from the files in {self.root / asker.name}, and run the same command '
            "again."
        )

    def put(
        self,
        asker: Asker[Any],
        cassette: Cassette,
        question: Question,
        repeat: int,
        prompt: str,
        *,
        parity: bool = False,
    ) -> bool:
        """Put a question into the next batch; tell whether it was not there yet."""
        key = (self._place(cassette), question.digest, parity)
        if self.waits(key) or (parity and self._tries[key] >= asker.table.max_attempts):
            return False
        self._queue.setdefault(asker.name, {})[key] = Letter(
            key,
            repeat,
            question.body,
            halved(most_of(asker.table, [prompt])),
            identity_of(asker),
            type(asker).__name__,
            tuple(sorted(asker.dropped)),
        )
        return True

    def worn_out(self, asker: Asker[Any], cassette: Cassette, question: Question) -> bool:
        """Tell whether a question goes into no other batch, because max_attempts of them asked it."""
        key = (self._place(cassette), question.digest, False)
        if self._tries[key] < asker.table.max_attempts or key in self.waiting:
            return False
        batch, why = self._whys.get(key, ("a batch before", "what it answered is not kept"))
        self._worn.setdefault((asker.name, batch, why), []).append(key)
        self._given_up.add(key)
        return True

    def asks_unread(self, asker: Asker[Any], cassette: Cassette, question: Question, call: Call) -> bool:
        """Tell whether a question whose answer nobody can read is asked again: as often as max_attempts says."""
        key = (self._place(cassette), question.digest, False)
        if call.delivered is None or self.waits(key):
            return True
        self._unread.setdefault((call.delivered.batch, call.unread), []).append(key)
        if call.delivered.tries >= asker.table.max_attempts:
            self._given_up.add(key)
        return key not in self._given_up

    def probed(self, asker: Asker[Any]) -> None:
        """Remember that an asker's first question went well, for others of its kind."""
        if asker.probed:
            self._probed.add((asker.name, type(asker).__name__))

    def compare(self, box: Box, digest: str, pair: str, *, same: bool, models: tuple[str | None, str | None]) -> None:
        """Keep how a pair that was asked about both ways was answered."""
        self.both_ways.compare(Compared(self._of[box.place, digest, True], pair, same, models))

    # --- sending ----------------------------------------------------------------------------------------------

    @property
    def unanswered(self) -> int:
        """How many questions are to be sent or on their way."""
        return len(self.waiting) + sum(map(len, self._queue.values()))

    async def finish(self) -> None:
        """Send what was put, and close the batches that have nothing left to say; raises FatalJudgeError."""
        self._files.clear()
        self._give_up()
        for judge, queue in self._queue.items():
            if all(letter.key[2] for letter in queue.values()):
                queue.clear()  # all was asked at once: there is no other way to compare with
            while letters := list(_first(queue.values(), self._providers[judge].limits)):
                await self._send(judge, letters)
                for letter in letters:
                    del queue[letter.key]
        self.words += self.both_ways.said()
        for sent, state, results in self._ended:
            self._close(sent, state, results)
        self.words += [
            f"not known: {sent.judge}: {sent.batch} is not known where it is asked for, and this run needs "
            f"none of its {len(sent)} answers. If it is lost, delete its lines from {self.manifest.path}"
            for sent in self._lost
        ]
        self._tell_unattended()
        self._tell_given_up()

    def _tell_unattended(self) -> None:
        """Name the batches of judges that this run asks nothing: nobody else does, where a judge was renamed."""
        for sent in self.manifest.open:
            if sent.judge in self._providers:
                continue
            why = (
                "this run asks that judge nothing"
                if sent.judge in self.judges
                else "no judge of that name is configured any more. One of that name collects them"
            )
            where = sent.batch or "a batch whose id is not known"
            self.words.append(f"not collected: {sent.judge}: {len(sent)} questions in {where}: {why}")

    def _give_up(self) -> None:
        """Take out of the next batch what a batch answered of which nothing can be read: another would be no better."""
        for (batch, _), keys in self._unread.items():
            sent = next(each for each in self.manifest.sent if each.batch == batch)
            own = [key for key in sent.keys if not key[2]]
            if not any(key in self.answers or self._recorded(*key[:2]) for key in own):
                self._given_up.update(keys)
        for queue in self._queue.values():
            for key in self._given_up & queue.keys():
                del queue[key]

    async def _send(self, judge: str, letters: Sequence[Letter]) -> None:
        provider = self._providers[judge]
        names = _named(letters)
        asked: dict[str, list[str]] = {}
        for name, letter in names.items():
            asked.setdefault(letter.key[0], []).append(name)
        both = [letter for letter in letters if letter.key[2]]
        more: dict[str, Any] = {"identity": both[0].identity, "parity": len(both)} if both else {}
        if dropped := {letter.kind: [*letter.dropped] for letter in letters if letter.dropped}:
            more["dropped"] = dropped
        intent = uuid.uuid4().hex
        lines = [Line(name, letter.body) for name, letter in names.items()]
        intended: list[Sent] = []

        def about_to() -> None:
            intended.append(self.manifest.intend(intent, provider.provider.table.provider, judge, asked, **more))

        try:
            batch = await self._made(provider, intent, lines, about_to, intended)
        except NotSentError as error:
            for sent in intended:
                self.manifest.note("void", sent, why=masked(str(error))[:200])
            raise FatalJudgeError(
                f"judge {judge!r}: a batch of {len(lines)} questions was not made: {masked(str(error))} -- nothing of "
                "it is paid for. Run the same command again when that is mended."
            ) from None
        (sent,) = intended
        self.manifest.note("sent", sent, batch=batch)
        self._wait(sent)
        cost = sum((letter.cost for letter in letters), NOTHING)
        at_most = "price unknown" if cost.usd is None else f"at most {money(cost.usd)}, half of what it is at once"
        self.words.append(f"sent: {judge}: {len(lines)} questions in {batch}; {at_most}")

    async def _made(
        self,
        provider: BatchProvider,
        intent: str,
        lines: Sequence[Line],
        about_to: Callable[[], None],
        intended: Sequence[Sent],
    ) -> str:
        """Return the batch that is made, also where the answer to that leaves a doubt; raises NotSentError."""
        try:
            return await provider.send(intent, lines, about_to)
        except RefusedError as error:
            try:
                if batch := await self._found(intended[0], provider):
                    return batch
            except UncertainError:
                raise _doubt(intended[0], error) from None
            except (RetryableError, FatalJudgeError):
                pass  # whoever may make no batch may be shown none, either
            raise
        except (RetryableError, FatalJudgeError) as error:
            if not intended:  # nothing asked for a batch yet
                raise NotSentError(str(error)) from None
            return await self._after_all(intended[0], provider, error)

    async def _after_all(self, sent: Sent, provider: BatchProvider, error: Exception) -> str:
        """Return the batch that was made although nobody said so; raises NotSentError where there surely is none."""
        with contextlib.suppress(RetryableError, FatalJudgeError, UncertainError):
            if batch := await patiently(lambda: self._found(sent, provider)):
                return batch
            if isinstance(error, LaterError):
                await asyncio.sleep(SETTLE)
                if batch := await patiently(lambda: self._found(sent, provider)):
                    return batch
                raise NotSentError(str(error))
            self._not_shown(sent, provider)
        raise _doubt(sent, error) from None

    def _close(self, sent: Sent, state: State, results: Results) -> None:
        """Note that a batch has nothing left to say: what it answered is recorded, and the rest asked again."""
        if not results.whole or not self._given_up.isdisjoint(sent.keys):
            return  # what nobody can read is not asked again, as long as it stands there
        left = sum(1 for _ in self._unsettled(sent))
        if left:
            self.words.append(
                f"left: {sent.judge}: {left} answers of {sent.batch} are of questions that this command "
                "does not ask. The command that asks them collects them. Those of pairs or prompts that "
                "were edited since, or of a judge that failed its control, nobody asks: to forget them, "
                f"delete the batch's lines from {self.manifest.path}"
            )
            return
        whys = Counter(
            _why(name, state, results) for _, name in sent.ids if is_parity(name) and name not in results.answers
        )
        self.words += self.both_ways.said_of_none(sent, whys)
        known = {name for _, name in sent.ids}
        answered = len(results.answers.keys() & known)
        self.manifest.note("ended", sent, state=state.word, answered=answered, failed=len(sent) - answered)

    def _unsettled(self, sent: Sent) -> Iterator[Key]:
        """Yield the questions of a batch whose answers are still to be recorded, or compared."""
        for key in dict.fromkeys(sent.keys):
            if (sent.intent, key) in self._failed or self.waits(key):
                continue
            row = self._recorded(*key[:2])
            # What is asked both ways is recorded of the batch where the answer at once is gone.
            if (key in self.answers and not (row and row.by)) if key[2] else row is None:
                yield key

    def _recorded(self, place: str, digest: str) -> Row | None:
        if place not in self._files:
            # Where what another judge recorded is asked anew, answers stand in a side file until they are all there.
            self._files[place] = [CassetteFile(self.root / f"{place}{kind}.jsonl") for kind in ("", ".part")]
        return next((row for file in self._files[place] if (row := file.find(digest)) is not None), None)

    def _tell_given_up(self) -> None:
        """Say which answers nobody can read; raises FatalJudgeError for questions that are not asked again."""
        given_up = [
            f"not answered: {judge}: {len(keys)} questions (as {_some(keys)}) were asked in as many batches as "
            f"max_attempts allows, the last time in {batch}: {why}"
            for (judge, batch, why), keys in self._worn.items()
        ]
        for (batch, why), keys in self._unread.items():
            if last := [key for key in keys if key in self._given_up]:
                given_up.append(_unread_of(batch, why, last))
            if again := [key for key in keys if key not in self._given_up]:
                self.words.append(f"{_unread_of(batch, why, again)} -- they are asked again")
        if given_up:
            raise FatalJudgeError(
                f"{'; '.join(given_up)} -- another batch would bring no better, and none is sent for them. All else is "
                "recorded. Mend what is wrong, or record these without --judge-batch."
            )

    async def close(self) -> None:
        """Close the connections, and let others send."""
        for provider in self._providers.values():
            await provider.close()
        self._held.close()


def _doubt(sent: Sent, error: Exception) -> FatalJudgeError:
    return FatalJudgeError(
        f"judge {sent.judge!r}: it is not known whether a batch of {len(sent)} questions was made: "
        f"{masked(str(error))}. Run the same command again: it looks for the batch before it sends anything, and "
        "sends the same questions again only when such a batch would have ended."
    )


def _has_all(sent: Sent, state: State, results: Results) -> bool:
    """Tell whether there is as much as the provider counts: of ids, because a file that was cut off may repeat some."""
    told = len(results.answers.keys() | results.failed.keys()) + results.nameless
    return state.counted is None or told >= min(state.counted, len(sent))


def _unread_of(batch: str, why: str, keys: Sequence[Key]) -> str:
    return f"not read: {len(keys)} answers of {batch} cannot be read (to {_some(keys)}): {why}"


def _some(keys: Sequence[Key]) -> str:
    return f"{', '.join(digest for _, digest, _ in keys[:3])}{', ...' if len(keys) > 3 else ''}"


def _why(name: str, state: State, results: Results) -> str:
    return results.failed.get(name, state.said or f"no answer in a batch that is {state.word}")


def _first(letters: Any, limits: Limits) -> Iterator[Letter]:
    """Yield the first letters, as many as fit into one batch, and at least one."""
    lines = size = 0
    for letter in letters:
        lines, size = lines + 1, size + len(letter.body) + OVERHEAD
        if lines > 1 and (lines > limits.lines or size > limits.size):
            return
        yield letter


def _named(letters: Sequence[Letter]) -> Mapping[str, Letter]:
    """Return letters by their ids in a batch: two cassettes may ask the same, and each has an answer of its own."""
    names: dict[str, Letter] = {}
    for letter in letters:
        name, number = letter.name, 2
        while name in names:
            name, number = f"{letter.name}-{number}", number + 1
        names[name] = letter
    return names
