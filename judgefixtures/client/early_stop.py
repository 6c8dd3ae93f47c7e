"""Early stop of a recording whose answers are truncated or refused, which wastes money."""

from collections import Counter
from dataclasses import dataclass, field

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.models.replies import ModelReply
from judgefixtures.models.usage import NO_ROOM, Usage
from judgefixtures.parsing.repetition import LOOP_REMEDY
from judgefixtures.providers import FatalJudgeError
from judgefixtures.providers.judge_table import JudgeTable

from .messages import MESSAGES

FIRST_ANSWERS = 20  # where all of them are cut off, or most are refused, the others will be
FIRST_RAISED = 5  # where a judge's own code raises at all of them, it will at the others
REFUSED = ("filtered", "refusal", "too-large", "no-answer")


class TruncatedAnswersError(FatalJudgeError):
    """Answers are truncated; `usage` is the dropped one's."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class RefusedPromptsError(FatalJudgeError):
    """Most of the first prompts are refused."""


class RaisedAnswersError(FatalJudgeError):
    """The judge's code raised an exception at all first answers."""


@dataclass(slots=True)
class EarlyStopMonitor:
    """Counts truncated, refused and raised first answers; `note_earlier` allows truncated and raised ones."""

    judge: str
    table: JudgeTable
    limit_key: str
    matter: bool = True
    ended: bool = False  # a recording
    _count: int | None = 0  # from the first answer of a recording on; None: not all were
    _loops: list[str] = field(default_factory=list)  # the ends of those that were cut off in a loop
    _early: int | None = None  # tokens of the last one, where the server ended it well before the limit
    _recorded: bool = False  # by the judge as it is now, before this run
    _valid: bool = False  # and one of these was
    _answers: int = 0  # the first ones
    _refused: Counter[str] = field(default_factory=Counter)  # of these, by their kinds
    _raised: int | None = 0  # from the first answer on; None: not all were

    def note_earlier(self, reply: ModelReply) -> None:
        """Record an earlier answer."""
        self._recorded, self._valid = True, self._valid or reply.invalid is None
        if reply.invalid != "raised":
            self._raised = None

    def count_raised(self, reply: ModelReply, error: BaseException | None) -> None:
        """Check that the judge's code did not raise at all of the first answers.

        Raises:
            RaisedAnswersError: It did; they stay recorded. Its cause is the last `error`.
        """
        self._raised = None if self._raised is None or reply.invalid != "raised" else self._raised + 1
        if self.matter and self._raised == FIRST_RAISED:
            raise RaisedAnswersError(MESSAGES.answers_raised(self.judge, FIRST_RAISED, reply.detail)) from error

    def count(self, reply: ModelReply) -> None:
        """Check that not all first answers are truncated.

        Raises:
            TruncatedAnswersError: All are; they stay recorded.
        """
        if reply.invalid != "truncated":
            self._count = None
        if self._count is not None:
            self._count += 1
            self._note_end(reply)
            self._loops += filter(None, [reply.loop])
            if self._count >= FIRST_ANSWERS and self._ends:
                raise self._error(f"the first {FIRST_ANSWERS} answers after the probe were all", kept=True)

    def count_refused(self, reply: ModelReply) -> None:
        """Check that at most half of the first answers are refused.

        Raises:
            RefusedPromptsError: More are; they stay recorded.
        """
        self._answers += 1
        if self._answers <= FIRST_ANSWERS and (reply.refused or reply.invalid in REFUSED):
            self._refused[str(reply.invalid)] += 1
        if self.matter and self._answers <= FIRST_ANSWERS < 2 * self._refused.total():
            kinds = ", ".join(f"{kind} {count}" for kind, count in self._refused.most_common())
            raise RefusedPromptsError(
                MESSAGES.answers_refused(self.judge, self._refused.total(), self._answers, kinds, reply, FIRST_ANSWERS)
            )

    def check_probe(self, reply: ModelReply, call: JudgeCall) -> None:
        """Check that a recording's first answer is not truncated, except in a loop.

        Raises:
            TruncatedAnswersError: It is; it is forgotten.
        """
        if self._ends and reply.invalid == "truncated" and not (reply.loop or reply.refused or call.was_played):
            if call.is_posted:
                return  # it is paid for, and so are the others
            call.drop_answer()
            self._note_end(reply)
            raise self._error("the first answer was", reply.usage, kept=self._recorded)

    def _note_end(self, reply: ModelReply) -> None:
        self._early = reply.usage.output_tokens if reply.ended_early else None

    @property
    def _ends(self) -> bool:
        return self.matter and not self._valid

    def _error(self, which: str, usage: Usage | None = None, *, kept: bool) -> TruncatedAnswersError:
        self.ended = True
        is_code = self.table.record.is_code
        limit = "" if is_code else f" ({self.limit_key} = {self.table.max_output_tokens})"
        again = "with --judge-record all: what was recorded before is of the judge as it was" if kept else "again"
        return TruncatedAnswersError(MESSAGES.answers_cut_off(self.judge, which, limit, self._remedy, again), usage)

    @property
    def _remedy(self) -> str:
        if 2 * len(self._loops) > (self._count or 0):
            return MESSAGES.loops(self._loops, self._loops[-1], LOOP_REMEDY)
        if self._early is not None:
            return f"The server ended the last one after {self._early} tokens: {NO_ROOM}. Do that"
        if self.table.record.is_code:
            return f"Raise the limit that {self.table.target} sends"
        less = " or ".join(sorted(self.table.record.thinking))
        return MESSAGES.raise_limit(self.limit_key, self.table.heading, less)
