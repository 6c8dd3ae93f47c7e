"""One question, asked until it is answered or given up: what of an attempt is recorded, and what a failure means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from judgefixtures.asking.patience import GaveUpError, Patience
from judgefixtures.asking.pinned import OtherModelError
from judgefixtures.asking.probing import Manner
from judgefixtures.asking.received import R
from judgefixtures.cassettes.calls import Call
from judgefixtures.providers import Answer, FatalJudgeError, RefusedError, RetryableError, UnsupportedError
from judgefixtures.words.secrets import masked

if TYPE_CHECKING:
    from judgefixtures.asking.asker import Asker


@dataclass(slots=True)
class Attempts(Generic[R]):
    """The attempts to have one question answered, of which `wasted` failed ones may have been billed."""

    asker: Asker[R]
    prompt: str
    call: Call
    manner: Manner
    patience: Patience
    wasted: int = 0

    async def reply(self) -> R:
        """Return what is made of the answer; raises FatalJudgeError."""
        asker = self.asker
        if self.manner.after is not None:
            await asker.back_off.wait(self.manner.after, 0)
        while True:
            try:
                answer = await asker.ask_once(self.prompt, self.call)
            except RetryableError as error:
                failure, was_last = self._note_failure(error)
            except FatalJudgeError as error:
                raise self._end(error) from None
            else:
                return self._accept(answer)
            if was_last:  # said here, where the server's own words, keys and all, are no longer the error's context
                return self._give_up(failure)
            await asker.back_off.wait(failure, self.patience.failures)

    @property
    def _is_tentative(self) -> bool:
        return self.manner.tentative and not self.call.is_posted  # a probe of what was sent long ago finds out nothing

    def _settle(self) -> None:
        """Keep what was received, or forget it where nothing of this question is to be recorded."""
        (self.call.keep_answer if self.manner.keep else self.call.drop_answer)()

    def _accept(self, answer: Answer) -> R:
        reply = self.asker.made_of(answer, self.patience.failures, self.wasted)
        if self.manner.probes:
            self.asker.cut_offs.check_probe(reply, self.call)
        self._settle()
        return reply

    def _note_failure(self, error: RetryableError) -> tuple[RetryableError, bool]:
        """Return a failure as it may be shown, and whether it was the last; raises what ends the question at once."""
        asker, call = self.asker, self.call
        failure = _without_secrets(error)
        was_last = self.patience.is_gone(error, asker.pace.answers)
        is_answer = error.invalid is not None and not error.outage
        if not is_answer:
            call.leave_unread(self._in_words(error))
        call.postpone(unless_asked=asker.table.max_attempts)
        was_last = was_last or call.is_posted  # the batches are the attempts
        if call.was_played or (was_last and is_answer and not self._is_tentative):
            self._settle()
            return failure, True
        call.drop_answer()
        self.wasted += error.may_be_billed
        if isinstance(error, RefusedError) and not asker.has_answered:
            raise FatalJudgeError(f"judge {asker.name!r}: {failure}") from None
        if self._is_tentative or failure.outage:
            failure.invalid = None
        return failure, was_last

    def _end(self, error: FatalJudgeError) -> FatalJudgeError:
        """Return what ends the question, as it may be shown: nothing of the answer counts."""
        words = self._in_words(error)
        if not isinstance(error, OtherModelError):
            self.call.leave_unread(words)
        self.call.drop_answer()
        if isinstance(error, UnsupportedError):
            return UnsupportedError(words, error.parameter)
        return OtherModelError(words, error.model) if isinstance(error, OtherModelError) else FatalJudgeError(words)

    def _give_up(self, failure: RetryableError) -> R:
        if failure.invalid is None:
            raise GaveUpError(
                f"judge {self.asker.name!r}: gave up after {self.patience.in_words}; the last one: {failure}. "
                "What was recorded is kept: run again with --judge-record missing.",
                failure,
            )
        return self.asker.made_of(Answer("", failure.invalid, str(failure)), self.patience.failures - 1, self.wasted)

    def _in_words(self, error: Exception) -> str:
        return masked(f"judge {self.asker.name!r}: {error}")


def _without_secrets(error: RetryableError) -> RetryableError:
    return type(error)(
        masked(str(error)),
        retry_after=error.retry_after,
        invalid=error.invalid,
        status=error.status,
        outage=error.outage,
    )
