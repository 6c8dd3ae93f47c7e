"""Notes on recordings for the end of the run, and warnings."""

import contextlib
import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgefixtures.cassettes.cache_detection import is_cache
from judgefixtures.cassettes.cassette import Cassette
from judgefixtures.cassettes.files import today_utc
from judgefixtures.client.model_client import RequestSet
from judgefixtures.client.retirements import retirement_warning
from judgefixtures.judges.judge import Judge
from judgefixtures.metrics.row_builders import served_rows
from judgefixtures.models.replies import JudgeReply, ModelReply
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.parsing.repetition import LOOP_REMEDY

from .context import RunContext
from .item_record import ItemRecord, RequestContext
from .messages import MESSAGES
from .second_looks import second_look_note

A_CONTEXT = 256  # tokens: the contexts that servers are given are multiples
FEWEST_CUT = 3  # texts of different lengths that are read as equally many tokens, and none as more


@dataclass(frozen=True, slots=True)
class AskedRequests:
    """A judge's requests, with their cassettes."""

    context: RunContext
    judge: Judge
    task: RequestSet[Any]
    asking: RequestContext
    cassettes: Sequence[Cassette]

    def note_progress(self, *, by_batch: bool) -> None:
        """Note the recordings' progress, also after an interrupt."""
        record, name, dataset = self.context.options.record, self.judge.name, self.asking.dataset
        answered, wanted = sum(len(cassette.used) for cassette in self.cassettes), self.task.total
        if record != "none" and answered < wanted and not by_batch:  # batches are told of by themselves
            kept, recorded = self._kept(), sum(cassette.asked for cassette in self.cassettes)
            again = f"run the same command again (--judge-record {record})"
            if kept and self.task.client.early_stop.ended:  # the same again would end as it did
                again = (
                    f"they are of the judge as it is. After a change of it record anew: {self.asking.command('all')}"
                )
            self.context.note(MESSAGES.answers_kept(name, dataset, self.asking.what, kept, wanted, recorded, again))
        if answered != wanted:
            return
        if self._is_live:
            self.context.note(f"{name} made no HTTP call that could be recorded: it was run live, not replayed")
        if record == "none":
            self._note_leftovers()

    @property
    def _is_live(self) -> bool:
        return self.judge.is_opaque and not any(cassette.read_rows() for cassette in self.cassettes)

    def _kept(self) -> int:
        return sum(
            cassette.keeps(self.task.client.shows(pair), repeat)
            for cassette in self.cassettes
            for condition, repeat in self.task.arms
            if condition.name == cassette.condition
            for pair in self.task.pairs
        )

    def _note_leftovers(self) -> None:
        words = vocabulary_for(self.task.pairs)
        whole = self.context.options.pairs is None and self.context.config.pairs is None and not self.asking.part
        for cassette in self.cassettes:
            if unused := cassette.unused(whole=whole):
                self.context.note(MESSAGES.unused_recordings(cassette, unused, words, _listed(unused)))
            if regraded := cassette.regraded(self.task.pairs):
                what = f"{words.known}, category or cluster of {_listed(regraded)}"
                self.context.note(f"{self.asking.dataset}: {what} changed since the recording")

    def warn_of_cache(self) -> None:
        """Warn if a cache repeats answers, which hides the judge's noise."""
        cached, recorded = map(sum, zip(*(cassette.cached for cassette in self.cassettes), strict=True))
        if is_cache(cached, recorded):
            self.asking.ledger.warn(
                MESSAGES.cache_before_judge(
                    self.judge.name, self.asking.dataset, cached, recorded, self.asking.command("all")
                )
            )

    def warn_of_second_look(self) -> None:
        """Warn if an earlier decision used fewer pairs."""
        before = [count for cassette in self.cassettes for count in cassette.planned]
        if note := second_look_note(self.asking, before, vocabulary_for(self.task.pairs).many):
            self.asking.ledger.warn(f"judge {self.judge.name} on {self.asking.dataset}: {note}")

    def note_answers(self, replies: Sequence[Sequence[ModelReply]]) -> None:
        """Keep provider metadata, invalid answers and missing values."""
        name, ledger, task = self.judge.name, self.asking.ledger, self.task
        ledger.served += served_rows(name, self.asking.dataset, task.arms, task.pairs, replies)
        lost = [reply for arm in replies for reply in arm if reply.invalid]
        loops = [reply.loop for reply in lost if reply.invalid == "truncated" and reply.loop]
        if loops and self.judge.table.temperature == 0:  # asked again they would be what they are
            self._note_loops(loops[-1], len(loops))
            lost = [reply for reply in lost if reply.invalid != "truncated" or not reply.loop]
        kinds = Counter(reply.invalid for reply in lost if reply.invalid)
        ledger.invalid.setdefault(self._again(kinds), Counter()).update(kinds)
        doubts = Counter(reply.detail for arm in replies for reply in arm if reply.detail and not reply.invalid)
        for doubt, count in sorted(doubts.items()):
            self.context.note(f"{name} on {self.asking.dataset}: {count} answers: {doubt}")
        self._warn_of_cut_prompts(replies)
        if self.judge.table.logprobs:
            self._note_probabilities([reply for arm in replies for reply in arm if isinstance(reply, JudgeReply)])

    def _warn_of_cut_prompts(self, replies: Sequence[Sequence[ModelReply]]) -> None:
        """Warn if token counts equal the context: Ollama cuts prompts silently."""
        counted = [
            (reply.usage.input_tokens, pair)
            for arm in replies
            for pair, reply in zip(self.task.pairs, arm, strict=True)
            if reply.usage.input_tokens
        ]
        most = max((tokens for tokens, _ in counted), default=0)
        cut = [pair for tokens, pair in counted if tokens == most]
        lengths = {sum(map(len, (pair.question, pair.response_1, pair.response_2))) for pair in cut}
        if len(lengths) >= FEWEST_CUT and min(most % A_CONTEXT, (most + 1) % A_CONTEXT) == 0:
            self.asking.ledger.warn(
                MESSAGES.cut_prompts(
                    self.judge.name, self.asking.dataset, cut, counted, most, self.asking.command("all")
                )
            )

    def _again(self, kinds: Mapping[str, int]) -> str:
        if self._is_live:
            return "Nothing of it is recorded: every run asks it anew"
        longer = ""
        if kinds.get("truncated") and not self.judge.is_opaque:
            key = self.task.client.limit_key
            longer = f" (what is cut off once more needs a larger {key}, and then --judge-record all)"
        return f"Ask for them again, and for nothing else{longer}: {self.asking.command('invalid')}"

    def _note_loops(self, last: str, count: int) -> None:
        note = MESSAGES.loops(last, LOOP_REMEDY, self.asking.command("all"))
        self.asking.ledger.invalid.setdefault(note, Counter())["truncated"] += count

    def _note_probabilities(self, replies: Sequence[JudgeReply]) -> None:
        valid = [reply for reply in replies if reply.invalid is None]
        without, name = sum(reply.verdict.probability is None for reply in valid), self.judge.name
        if valid and without == len(valid):
            model = self.judge.table.model or self.judge.table.target
            self.context.note(f"judge {name}: {model} gives no token probabilities: its verdicts are judged alone")
        elif without:
            of = f"{without} of {len(valid)} answers"
            self.context.note(f"judge {name} on {self.asking.dataset}: {of} came without probabilities")


@contextlib.contextmanager
def note_unfinished_files(context: RunContext) -> Iterator[list[Cassette]]:
    """Note resumed and discarded recordings in the list on exit."""
    cassettes: list[Cassette] = []
    try:
        yield cassettes
    finally:
        for cassette in cassettes:
            if cassette.resumed:
                context.note(MESSAGES.resumed_recording(cassette))
            if changed := cassette.changed_packages:
                context.note(MESSAGES.renewed_packages(cassette, changed))
            if cassette.renews:
                context.note(MESSAGES.renewed_recording(cassette))
            for path in cassette.set_aside:
                context.note(f"a recording of another judge was set aside as {path}")


def warn_of_retirement(judge: Judge, announced: str | None, ledger: ItemRecord) -> None:
    """Warn before a judge's model ends; `announced` is the provider's date."""
    model = judge.table.model
    if judge.table.connection is not None and announced is None:
        return  # a cloud ends models on days of its own
    if model and (warning := retirement_warning(model, datetime.date.fromisoformat(today_utc()), announced)):
        ledger.warn(f"judge {judge.name}: {warning}")


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
