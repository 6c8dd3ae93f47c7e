"""A run's batches: what is collected of those that were sent, what goes into new ones, and when it is sent.

Nothing is sent before every question of the run is known, and nothing that stands not in the list first.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgefixtures.asking.asker import REWORDED, Asker
from judgefixtures.asking.costs import halved, most_of
from judgefixtures.asking.questions import Way
from judgefixtures.batches import load_batches
from judgefixtures.batches.given_up import GivenUp
from judgefixtures.batches.intake import Ended, Intake
from judgefixtures.batches.letters import Letter, Outbox
from judgefixtures.batches.manifest import Key, Manifest, is_parity
from judgefixtures.batches.parity import Compared, Parity, identity_of
from judgefixtures.batches.sending import Parcel
from judgefixtures.cassettes.calls import Call, Delivered, Question
from judgefixtures.cassettes.files import CassetteFile, Row
from judgefixtures.cassettes.in_use import Cassette
from judgefixtures.cassettes.locks import held
from judgefixtures.providers import FatalJudgeError
from judgefixtures.providers.bulk import BatchProvider


@dataclass(frozen=True, slots=True)
class Box:
    """An asker's questions of one cassette, and what batches answer to them; `parity`: of those asked both ways."""

    mail: Mail
    asker: Asker[Any]
    place: str
    parity: bool = False

    def take(self, digest: str) -> Delivered | None:
        """Return what a batch answered to a request, once.

        Of what was asked both ways the answer at once is the recorded one. Where that is gone, the batch's is paid for.
        """
        intake = self.mail.intake
        keys = ((self.place, digest, parity) for parity in (self.parity, True))
        found = next((intake.answers.pop(key) for key in keys if key in intake.answers), None)
        if found is not None and (self.place, digest, False) in intake.waiting:
            return replace(found, tries=found.tries - 1)  # a batch that is on its way has not been a try yet
        return found

    def waits(self, digest: str) -> bool:
        """Tell whether a request is on its way in a batch, or was put into the next one."""
        return self.mail.waits((self.place, digest, self.parity)) or (self.place, digest, True) in (
            self.mail.intake.waiting
        )

    def choose_way(self, call: Call) -> Way:
        """Return how a question is asked that no batch has answered so that it can be read.

        Raises FatalJudgeError where a batch that is not known may have answered it.
        """
        if call.question is None:
            return "waits"
        key = (self.place, call.question.digest, False)
        if call.unread and not self._asks_unread(key, call):
            return "waits"
        self.mail.intake.check_lost(key)
        if self._is_worn_out(key):
            return "waits"
        return "batch" if call.delivered is not None else self._first_way()

    def _asks_unread(self, key: Key, call: Call) -> bool:
        """Tell whether a question whose answer nobody can read is asked again: as often as max_attempts says."""
        if call.delivered is None or self.mail.waits(key):
            return True
        is_last = call.delivered.tries >= self.asker.table.max_attempts
        self.mail.given_up.note_unread(call.delivered.batch, call.unread, key, is_last=is_last)
        return key not in self.mail.given_up.keys

    def _is_worn_out(self, key: Key) -> bool:
        """Tell whether a question goes into no other batch, because max_attempts of them asked it."""
        intake = self.mail.intake
        if intake.tries[key] < self.asker.table.max_attempts or key in intake.waiting:
            return False
        why = intake.whys.get(key, ("a batch before", "what it answered is not kept"))
        self.mail.given_up.note_worn(self.asker.name, why, key)
        return True

    def _first_way(self) -> Way:
        """Return how a question is asked that no batch was asked: the first of all at once, and some both ways.

        The first finds bad keys, unknown models and rejected parameters for the price of one call. A judge whose served
        model is pinned is asked so before its first batch alone: at once another model may answer.
        """
        asker = self.asker
        if asker.is_comparable and self.mail.both_ways.asks(asker):
            return "both"
        pinned = asker.table.accept_served_model is not None and self.mail.has_sent(asker.name)
        return "batch" if asker.probed or pinned else "once"

    def put(self, question: Question, repeat: int, prompt: str, *, parity: bool = False) -> bool:
        """Put a question into the next batch; tell whether it was not there yet."""
        mail, asker = self.mail, self.asker
        key = (self.place, question.digest, parity)
        if mail.waits(key) or (parity and mail.intake.tries[key] >= asker.table.max_attempts):
            return False
        cost, dropped = halved(most_of(asker.table, [prompt])), tuple(sorted(asker.dropped))
        letter = Letter(key, repeat, question.body, cost, identity_of(asker), type(asker).__name__, dropped)
        mail.outbox.put(asker.name, letter)
        return True

    def of_both_ways(self, digest: str) -> Box | None:
        """Return where a recorded answer is compared with a batch's: of a question that was, or is, asked both ways."""
        mail = self.mail
        asked = (self.place, digest, True) in mail.intake.answers
        compares = asked or mail.both_ways.asks_again(self.asker, self.place, digest)
        return replace(self, parity=True) if compares else None

    def compare(self, digest: str, pair: str, *, same: bool, models: tuple[str | None, str | None]) -> None:
        """Keep how a pair that was asked about both ways was answered."""
        sent = self.mail.intake.batch_of[self.place, digest, True]
        self.mail.both_ways.compare(Compared(sent, pair, same, models))


@dataclass(slots=True)
class Mail:
    """The batches of a run. `parity` is how many questions of a judge are asked at once as well; 0 for none.

    `judges` are the names of those that are configured.
    """

    root: Path
    parity: int = 20
    judges: frozenset[str] = frozenset()
    words: list[str] = field(default_factory=list)
    outbox: Outbox = field(default_factory=Outbox)
    given_up: GivenUp = field(default_factory=GivenUp)
    manifest: Manifest = field(init=False)
    intake: Intake = field(init=False)
    both_ways: Parity = field(init=False)
    _providers: dict[str, BatchProvider[Any]] = field(default_factory=dict)
    _probed: set[tuple[str, str]] = field(default_factory=set)
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
        self.intake = Intake(self.manifest, self.words)
        self.both_ways = Parity(self.manifest, self.parity)

    # --- what asking needs ------------------------------------------------------------------------------------

    async def attend(self, asker: Asker[Any]) -> None:
        """Collect what a judge's batches answered, once; raises FatalJudgeError where they cannot be asked for."""
        asker.adopt({"dropped": self._dropped(asker)})
        asker.probed = asker.probed or (asker.name, type(asker).__name__) in self._probed
        if asker.name in self._providers:
            return
        provider = self._providers[asker.name] = load_batches(asker.name, asker.table)
        for sent in self.manifest.open:
            if sent.judge == asker.name:
                await self.intake.take_in(sent, provider)
        self.both_ways.recall(asker.name, self.intake.comes)

    def _dropped(self, asker: Asker[Any]) -> Sequence[str]:
        """Return what was left out of the questions that are on their way: without it they would not be found."""
        kind = type(asker).__name__
        mine = (sent for sent in reversed(self.manifest.open) if sent.judge == asker.name and kind in sent.dropped)
        return sorted(asker.dropped) or next((sent.dropped[kind] for sent in mine), ())

    def note_probed(self, asker: Asker[Any]) -> None:
        """Remember that an asker's first question went well, for others of its kind."""
        if asker.probed:
            self._probed.add((asker.name, type(asker).__name__))

    def box(self, asker: Asker[Any], cassette: Cassette) -> Box:
        """Return where an asker's questions of a cassette go."""
        place = cassette.final_path.relative_to(self.root).with_suffix("").as_posix()
        return Box(self, asker, place)

    def waits(self, key: Key) -> bool:
        """Tell whether a question is on its way in a batch, was put into the next one, or is to go into none."""
        return key in self.intake.waiting or key in self.given_up.keys or key in self.outbox

    def has_sent(self, judge: str) -> bool:
        """Tell whether a batch of a judge's was ever sent."""
        return any(sent.judge == judge and sent.batch is not None for sent in self.manifest.sent)

    def way_out(self, asker: Asker[Any]) -> str:
        """Say how a judge that is pinned is recorded by batch alone; empty where no batch of it was sent."""
        if not self.has_sent(asker.name):
            return ""
        return (
            " Where it is batches that are answered by one and calls at once by the other, the batches' answers can be "
            "recorded: set batch_parity = 0 at the top of the configuration, delete the lines that begin with "
            f'{{"digest" and have no "by":"batch" from the files in {self.root / asker.name}, and run the same command '
            "again."
        )

    # --- the end of a run -------------------------------------------------------------------------------------

    @property
    def unanswered(self) -> int:
        """How many questions are to be sent or on their way."""
        return len(self.intake.waiting) + len(self.outbox)

    async def finish(self) -> None:
        """Send what was put, and close the batches that have nothing left to say; raises FatalJudgeError."""
        self._files.clear()
        self._give_up()
        limits = {judge: provider.limits for judge, provider in self._providers.items()}
        for judge, letters in self.outbox.parcels(limits):
            sent, told = await Parcel(self.manifest, self._providers[judge], judge, letters).send()
            self.intake.wait_for(sent)
            self.words.append(told)
        self.words += self.both_ways.tell()
        for ended in self.intake.ended:
            self._close(ended)
        self.words += [
            f"not known: {sent.judge}: {sent.batch} is not known where it is asked for, and this run needs "
            f"none of its {len(sent)} answers. If it is lost, delete its lines from {self.manifest.path}"
            for sent in self.intake.lost
        ]
        self._tell_unattended()
        given_up = [*self.given_up.tell()]
        self.words += self.given_up.tell_asked_again()
        if given_up:
            raise FatalJudgeError(
                f"{'; '.join(given_up)} -- another batch would bring no better, and none is sent for them. All else is "
                "recorded. Mend what is wrong, or record these without --judge-batch."
            )

    def _tell_unattended(self) -> None:
        """Name the batches of judges that this run asks nothing: nobody else does, where a judge was renamed."""
        for sent in self.manifest.open:
            if sent.judge in self._providers:
                continue
            why = (
                "this run asks that judge nothing"
                if sent.judge.partition(REWORDED)[0] in self.judges
                else "no judge of that name is configured any more. One of that name collects them"
            )
            where = sent.batch or "a batch whose id is not known"
            self.words.append(f"not collected: {sent.judge}: {len(sent)} questions in {where}: {why}")

    def _give_up(self) -> None:
        """Take out of the next batch what a batch answered of which nothing can be read: another would be no better."""
        for (batch, _), keys in self.given_up.unread.items():
            sent = next(each for each in self.manifest.sent if each.batch == batch)
            own = [key for key in sent.keys if not key[2]]
            if not any(key in self.intake.answers or self._recorded(*key[:2]) for key in own):
                self.given_up.keys.update(keys)
        self.outbox.drop(self.given_up.keys)

    def _close(self, ended: Ended) -> None:
        """Note that a batch has nothing left to say: what it answered is recorded, and the rest asked again."""
        sent, answers = ended.sent, ended.results.answers
        if not ended.results.whole or not self.given_up.keys.isdisjoint(sent.keys):
            return  # what nobody can read is not asked again, as long as it stands there
        if left := sum(1 for _ in self._unsettled(ended)):
            self.words.append(
                f"left: {sent.judge}: {left} answers of {sent.batch} are of questions that this command "
                "does not ask. The command that asks them collects them. Those of pairs or prompts that "
                "were edited since, or of a judge that failed its control, nobody asks: to forget them, "
                f"delete the batch's lines from {self.manifest.path}"
            )
            return
        whys = Counter(ended.why_not(name) for _, name in sent.ids if is_parity(name) and name not in answers)
        self.words += self.both_ways.tell_none(sent, whys)
        answered, word = ended.answered, ended.state.word
        self.manifest.note("ended", sent, state=word, answered=answered, failed=len(sent) - answered)

    def _unsettled(self, ended: Ended) -> Iterator[Key]:
        """Yield the questions of a batch whose answers are still to be recorded, or compared."""
        for key in dict.fromkeys(ended.sent.keys):
            if (ended.sent.intent, key) in self.intake.failed or self.waits(key):
                continue
            row = self._recorded(*key[:2])
            # What is asked both ways is recorded of the batch where the answer at once is gone.
            if (key in self.intake.answers and not (row and row.by)) if key[2] else row is None:
                yield key

    def _recorded(self, place: str, digest: str) -> Row | None:
        if place not in self._files:
            # Where what another judge recorded is asked anew, answers stand in a side file until they are all there.
            self._files[place] = [CassetteFile(self.root / f"{place}{kind}.jsonl") for kind in ("", ".part")]
        return next((row for file in self._files[place] if (row := file.find(digest)) is not None), None)

    async def close(self) -> None:
        """Close the connections, and let others send."""
        for provider in self._providers.values():
            await provider.close()
        self._held.close()
