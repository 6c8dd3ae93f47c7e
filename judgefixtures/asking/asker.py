"""Asking: one model behind one provider, asked until it answers: its key, its pace, its retries, and what it takes.

What is asked, and what an answer means, is the business of whoever asks: a judge, or a planner (strategies.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from judgefixtures.asking.pacing import RATE_LIMITED, Pace
from judgefixtures.cassettes.calls import CALL, Call
from judgefixtures.cassettes.thinning import spells_secret
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import Condition
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import Plan
from judgefixtures.providers import (
    FLEX,
    LOGPROBS,
    UNSET,
    Answer,
    FatalJudgeError,
    Provider,
    RefusedError,
    RetryableError,
    UnsupportedError,
    Usage,
    api_key,
)
from judgefixtures.providers.faults import refused_logprobs, sent_as
from judgefixtures.providers.tables import THINKING_KEYS
from judgefixtures.words.secrets import masked, redacted
from judgefixtures.words.texts import encodable

FIRST_WAIT = 0.5  # seconds before the second attempt; doubles from there
LONGEST_BACKOFF = 30.0
FIRST_ANSWERS = 20  # where all of them are cut off, the others will be
LONGEST_WAIT = 120.0  # a server that asks for more has a limit that this run cannot sit out
LONGEST_FLEX_WAIT = 900.0  # a flex tier has room only while nobody else needs it
SPREAD, MOST_SPREAD = 0.25, 5.0  # those that wait equally long come back over this share of it, or these seconds
# What passes by itself: a rate limit, and a server that loads its model (503), is overloaded (529), or has no room for
# its flex tier (498). Such failures are sat out by time and are not counted against max_attempts.
SAT_OUT = frozenset({RATE_LIMITED, 498, 503, 529})

# gpt-4o may be served as gpt-4o-2024-11-20: the name with a date or a revision, and nothing else.
DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})\Z")


class Said(Protocol):
    """What was made of an answer, whatever it was an answer to."""

    @property
    def invalid(self) -> str | None:
        """Why nothing was answered that can be used, or None."""

    @property
    def detail(self) -> str: ...  # pragma: no cover

    @property
    def served_model(self) -> str | None: ...  # pragma: no cover

    @property
    def fingerprint(self) -> str | None: ...  # pragma: no cover

    @property
    def usage(self) -> Usage: ...  # pragma: no cover

    @property
    def wasted(self) -> int: ...  # pragma: no cover


R = TypeVar("R", bound=Said)


class CutOffError(FatalJudgeError):
    """The judge's answers are cut off: asking on would pay for nothing. `usage` is what the dropped answer cost."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class OtherModelError(FatalJudgeError):
    """Another model answered than the judge's; `model` is what it calls itself, or its fingerprint."""

    def __init__(self, message: str, model: str) -> None:
        super().__init__(message)
        self.model = model


class Asker(ABC, Generic[R]):
    """One model, asked with what is made of its answers left open."""

    limit_key = "max_output_tokens"
    is_comparable = False  # its replies have a member `decides`, so that two ways of asking can be compared

    def __init__(self, name: str, table: JudgeTable, provider: Provider, pace: Pace | None = None) -> None:
        self.name = name
        self.table = table
        self.pace = pace or Pace(table.requests_per_minute)
        self.probed = False
        self.shutdown_date: str | None = None
        self.retries = 0
        self.stops_when_cut_off = True
        self._cut_off: int | None = 0  # how many answers of a recording were, from the first on; None: not all
        self._probing = False
        self._provider = provider
        self._answered = False
        self._waiting = 0  # calls that wait before they try again
        self._loop: asyncio.AbstractEventLoop | None = None

    @abstractmethod
    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return what is asked about a pair in a condition."""

    @abstractmethod
    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> R:
        """Return what an answer amounts to, after so many failed attempts, of which some may have been billed."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything that can change an answer, as plain JSON: no address, no key, no timeout, no rate."""

    @property
    def _asked(self) -> dict[str, Any]:
        """Who is asked, and with which parameters: the part of an identity that every asker has."""
        table = self.table
        asked: dict[str, Any] = {"provider": table.provider}
        if self.is_python:
            asked["target"] = table.target
        else:
            asked |= {"model": table.model, "parameters": self._parameters}
            asked |= table.record.identity(table)
        return asked | ({"dropped": sorted(self.dropped)} if self.dropped else {})

    @property
    def _parameters(self) -> dict[str, Any]:
        table = self.table
        optional = (*THINKING_KEYS, "service_tier")
        return {
            "temperature": or_unset(table.temperature),
            **({"seed": or_unset(table.seed)} if table.record.seed else {}),
            "max_output_tokens": table.max_output_tokens,
            "response_format": table.response_format if table.verdict == "json" else "none",
            **{key: value for key in optional if (value := getattr(table, key)) is not None},
            **({"logprobs": True, "top_logprobs": table.top_logprobs} if table.logprobs else {}),
        }

    @property
    def is_python(self) -> bool:
        """Whether the judge is a function of the user's, which may use any HTTP client, or none."""
        return self.table.record.is_code

    @property
    def dropped(self) -> frozenset[str]:
        """The parameters that this model does not take and that are therefore not sent."""
        return self._provider.dropped

    def other_than_before(self, reply: R, first: dict[str, str]) -> str | None:
        """Return what is wrong where a pinned judge is answered by another model than `first`, which is kept there.

        The report warns of any change. A name with a date pins the model alone: a provider may run one snapshot on
        several machineries at once, each with a fingerprint of its own. Whoever sets accept_served_model says that
        nothing may change.
        """
        accepted = self.table.accept_served_model
        if not accepted and not DATED.search(self.table.model or ""):
            return None
        told = {"model": reply.served_model, "fingerprint": reply.fingerprint if accepted else None}
        for kind, now in told.items():
            if now and first.setdefault(kind, now) != now:
                pin = f"accept_served_model = {accepted!r}" if accepted else f"model = {self.table.model!r}"
                return (
                    f"judge {self.name!r}: the {kind} {now!r} answered where {first[kind]!r} did before, and {pin} pins"
                    " the judge: its answers are a mixture of two. What was recorded is kept: record anew with "
                    f"--judge-record all when the provider serves one alone{self._unpinned(reply, first)}."
                )
        return None

    def _unpinned(self, reply: R, first: Mapping[str, str]) -> str:
        """Say what takes the pin off, where the judge's name would take both models without it."""
        model = (self.table.model or "").removeprefix("models/")
        names = [name for name in (reply.served_model, first.get("model")) if name]
        if self.table.accept_served_model and not all(model in (name, DATED.sub("", name)) for name in names):
            return ""
        return f", or take the pin out of {self.table.heading}, and the change is a warning"

    def adopt(self, identity: Mapping[str, Any]) -> None:
        """Leave out what a recorded identity left out, where this judge may: token probabilities always."""
        if identity and not self.probed:
            left_out = frozenset(map(str, identity.get("dropped") or ()))
            spared = LOGPROBS if self.table.logprobs else frozenset[str]()
            self._provider.dropped = left_out if self.table.drop_unsupported else left_out & spared

    async def close(self) -> None:
        """Close the judge's connections; it can be asked again."""
        await self._provider.close()

    async def look_up_shutdown(self) -> None:
        """Ask the provider, where it can be asked, on which day it ends the model."""
        ask = getattr(self._provider, "shutdown_date", None)
        if ask is not None and self.shutdown_date is None and api_key(self.table):
            self.shutdown_date = await ask()

    async def probe(self, prompt: str, call: Call | None = None) -> R:
        """Ask like `ask`, finding out what the model accepts: the first question of a recording, asked alone.

        A rejected parameter is dropped where the judge's table allows it, token probabilities always; otherwise the
        error names it. An answer that is cut off is not recorded and raises CutOffError: the remedy is another judge.
        """
        self._probing = True
        try:
            while True:
                try:
                    return await self._probed(prompt, call)
                except UnsupportedError as error:
                    named = sent_as(error.parameter) & self._provider.sent
                    if not named or not (self.table.drop_unsupported or named <= LOGPROBS):
                        raise
                    self._provider.dropped = self.dropped | named
        finally:
            self._probing = False

    def count_cut_off(self, reply: R) -> None:
        """Raise CutOffError where every one of a recording's first answers was cut off; they are kept."""
        if reply.invalid != "truncated":
            self._cut_off = None
        if self._cut_off is not None:
            self._cut_off += 1
            if self._cut_off >= FIRST_ANSWERS and self.stops_when_cut_off:
                raise self._cut_off_error(f"the first {FIRST_ANSWERS} answers after the probe were all")

    def _check_probe(self, reply: R, call: Call) -> None:
        if self._probing and self.stops_when_cut_off and reply.invalid == "truncated" and not call.was_played:
            if call.is_posted:
                return  # it is paid for, and so are the others
            call.drop_answer()
            raise self._cut_off_error("the first answer was", reply.usage)

    def _cut_off_error(self, which: str, usage: Usage | None = None) -> CutOffError:
        if self.is_python:
            limit, remedy = "", f"Raise the limit that {self.table.target} sends"
        else:
            less = " or ".join(sorted(self.table.record.thinking))
            limit = f" ({self.limit_key} = {self.table.max_output_tokens})"
            remedy = (
                f"Raise {self.limit_key} in {self.table.heading} (what a reasoning model thinks counts: 4096 is "
                f"a start), or let the model think less ({less})"
            )
        return CutOffError(
            f"judge {self.name!r}: {which} cut off{limit}, and asking on would pay for answers that are not verdicts. "
            f"{remedy}, and run the same command again; what was recorded before has to be recorded anew, with "
            "--judge-record all. To record cut-off answers all the same, add --judge-force.",
            usage,
        )

    async def _probed(self, prompt: str, call: Call | None) -> R:
        failure: RetryableError | None
        try:
            return await self.ask(prompt, call, attempts=min(2, self.table.max_attempts), tentative=True)
        except _GaveUpError as error:
            failure = error.failure
            if failure.status in SAT_OUT:
                raise
        suspects = self._suspects if (failure.status or 0) >= 500 else ()
        if "logprobs" in suspects and (refusal := refused_logprobs({}, str(failure), self._said(failure))) is not None:
            raise refusal
        for suspect in suspects:
            failure = await self._fault_without(prompt, call, sent_as(suspect), failure)
            if failure is None:
                with contextlib.suppress(_GaveUpError):  # it may have been an outage that is over
                    return await self.ask(prompt, call, attempts=1)
                raise self._fails_on(suspect)
        return await self.ask(prompt, call, after=failure)

    @property
    def _suspects(self) -> tuple[str, ...]:
        """The parameters to which some servers answer 500 where they do not know them, or not this kind of them."""
        return tuple(name for name in self.table.record.suspects if sent_as(name) & self._provider.sent)

    async def _fault_without(
        self, prompt: str, call: Call | None, names: frozenset[str], failure: RetryableError | None
    ) -> RetryableError | None:
        """Ask once without some parameters, recording nothing; return the failure that remains, None for none."""
        before = self._provider.dropped
        self._provider.dropped = before | names
        try:
            await self.ask(prompt, call, attempts=1, keep=False, after=failure)
        except _GaveUpError as error:
            return error.failure
        except FatalJudgeError:
            return failure
        finally:
            self._provider.dropped = before
        return None

    def _fails_on(self, parameter: str) -> UnsupportedError:
        remedy = {
            "logprobs": "leave logprobs out of the judge's table",
            "response_format": 'set response_format = "json_object" or "none", or drop_unsupported = true',
        }[parameter]
        return UnsupportedError(
            f"judge {self.name!r}: the server fails on {parameter} = {getattr(self.table, parameter)!r} and answers "
            f"without it: {remedy}.",
            parameter,
        )

    async def ask(
        self,
        prompt: str,
        call: Call | None = None,
        *,
        attempts: int | None = None,
        keep: bool = True,
        tentative: bool = False,
        after: RetryableError | None = None,
    ) -> R:
        """Return what is made of the answer to a prompt.

        `call` says where its recording lives; without one it is the call that is in progress, if any. `keep=False`
        asks without recording the answer; `tentative` decides nothing when the attempts are used up; `after` is a
        failure of just now that is waited for first, as long as the server asked for.
        """
        call = call or CALL.get() or Call()
        self.check_asked()
        self._check_key(call)
        self._follow_loop()
        tentative = tentative and not call.is_posted  # a probe of what was sent long ago finds out nothing
        longest = LONGEST_FLEX_WAIT if self.table.service_tier == FLEX else LONGEST_WAIT
        patience = _Patience(attempts or self.table.max_attempts, self.pace.answers, _now(), longest)
        wasted = 0
        if after is not None:
            await self._wait(after, 0)
        while True:
            try:
                answer = await self._attempt(prompt, call)
            except RetryableError as error:
                failure = self._cleaned(error)
                gone = patience.is_gone(error, self.pace.answers, _now())
                is_answer = error.invalid is not None and not error.outage
                if not is_answer:
                    call.leave_unread(self._said(error))
                call.postpone(unless_asked=self.table.max_attempts)
                gone = gone or call.is_posted  # the batches are the attempts
                if call.was_played or (gone and is_answer and not tentative):
                    (call.keep_answer if keep else call.drop_answer)()
                    return self._gave_up(failure, patience, wasted)
                call.drop_answer()
                wasted += error.may_be_billed
                if isinstance(error, RefusedError) and not self._answered:
                    raise FatalJudgeError(f"judge {self.name!r}: {failure}") from None
            except UnsupportedError as error:
                call.leave_unread(self._said(error))
                call.drop_answer()
                raise UnsupportedError(self._said(error), error.parameter) from None
            except OtherModelError as error:
                call.drop_answer()
                raise OtherModelError(self._said(error), error.model) from None
            except FatalJudgeError as error:
                call.leave_unread(self._said(error))
                call.drop_answer()
                raise FatalJudgeError(self._said(error)) from None
            else:
                reply = self.made_of(answer, patience.failures, wasted)
                self._check_probe(reply, call)
                (call.keep_answer if keep else call.drop_answer)()
                return reply
            if gone:  # said here, where the server's own words, keys and all, are no longer the error's context
                failure.invalid = None if tentative or failure.outage else failure.invalid
                return self._gave_up(failure, patience, wasted)
            await self._wait(failure, patience.failures)

    def check_asked(self) -> None:
        """Raise ValueError where another asker has to be asked in this one's place; by default none has."""

    def _follow_loop(self) -> None:
        """Let go of what belongs to another event loop: `asyncio.run(judge.verdict(...))` makes one each time."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            self._provider.forget()
        self._loop = loop

    async def _attempt(self, prompt: str, call: Call) -> Answer:
        unhurried = call.is_replayed or call.is_posted  # nobody is to be spared then
        async with contextlib.nullcontext(0.0) if unhurried else self.pace.call() as started:
            try:
                async with asyncio.timeout(self.table.timeout):
                    with call.routed():
                        answer = _encodable(await self._provider.complete(prompt, call))
            except TimeoutError:
                raise RetryableError(f"no complete answer within {self.table.timeout:g} s") from None
            except RetryableError as error:
                if error.status == RATE_LIMITED and not unhurried and (error.retry_after or 0.0) <= LONGEST_WAIT:
                    self.pace.refused(started, error.retry_after)
                raise
            if not unhurried:
                self.pace.heed(answer.quotas)
        self._check_served(answer.served_model)
        if call.is_replayed:  # recordings hold no secrets
            return answer
        self._answered = self._answered or not call.was_played
        if not unhurried:
            self.pace.answered(started)
        return replace(
            answer,
            text=redacted(answer.text),
            detail=masked(answer.detail),
            reasoning=redacted(answer.reasoning),
            tokens=() if spells_secret([token.text for token in answer.tokens]) else answer.tokens,
        )

    def _gave_up(self, failure: RetryableError, patience: _Patience, wasted: int) -> R:
        if failure.invalid is None:
            raise _GaveUpError(
                f"judge {self.name!r}: gave up after {patience.said}; the last one: {failure}. "
                "What was recorded is kept: run again with --judge-record missing.",
                failure,
            )
        answer = Answer("", failure.invalid, str(failure))
        return self.made_of(answer, patience.failures - 1, wasted)

    async def _wait(self, failure: RetryableError, failures: int) -> None:
        """Wait as long as the server asks for, else by exponential back-off with jitter.

        A rate limit is waited for in the pace, which all calls keep. Of calls that were told the same time only the
        first comes back then, and the others after it.
        """
        self.retries += 1
        seconds = failure.retry_after
        if seconds is not None and seconds > LONGEST_WAIT:
            raise FatalJudgeError(
                f"judge {self.name!r}: {failure}; the server asks to wait {seconds:.0f} s, more than "
                f"{LONGEST_WAIT:.0f} s. What was recorded is kept: run again later with --judge-record missing."
            )
        if failure.status == RATE_LIMITED:
            return
        if seconds is None:
            doublings = min(max(failures - 1, 0), 30)
            seconds = min(FIRST_WAIT * 2.0**doublings, LONGEST_BACKOFF) * random.uniform(0.5, 1.0)
        elif self._waiting:
            seconds += random.uniform(0.0, min(SPREAD * seconds, MOST_SPREAD))
        self._waiting += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self._waiting -= 1

    def _check_key(self, call: Call) -> None:
        variable = self.table.key_variable
        if variable and not api_key(self.table) and not call.is_replayed:
            raise FatalJudgeError(
                f"judge {self.name!r}: the environment variable {variable} holds no API key: set it, name another "
                f"with api_key_env in {self.table.heading}, or replay recordings, which needs none."
            )

    def _check_served(self, served: str | None) -> None:
        model = (self.table.model or "").removeprefix("models/")
        if not served or served in (model, self.table.accept_served_model):
            return
        if DATED.sub("", served) == model and not self.table.accept_served_model:
            return
        raise OtherModelError(
            f"the model {served!r} answered where {model!r} was asked for: the provider reroutes the name. "
            f"Name the model that you mean, or set accept_served_model = {served!r} in {self.table.heading}.",
            served,
        )

    def _said(self, error: Exception) -> str:
        return masked(f"judge {self.name!r}: {error}")

    def _cleaned(self, error: RetryableError) -> RetryableError:
        kind = type(error)
        return kind(
            masked(str(error)),
            retry_after=error.retry_after,
            invalid=error.invalid,
            status=error.status,
            outage=error.outage,
        )


@dataclass(slots=True)
class _Patience:
    """How much longer a question is asked: what passes by itself is sat out by time, all else counts as an attempt."""

    attempts: int
    answers: int  # of the judge, to any question, when it was last seen to make progress
    since: float  # when that was
    longest: float  # seconds without any progress that are waited
    failures: int = 0
    counted: int = 0

    def is_gone(self, error: RetryableError, answers: int, now: float) -> bool:
        """Take note of a failure; return whether it was the last."""
        self.failures += 1
        if error.status == RATE_LIMITED and answers != self.answers:
            self.answers, self.since = answers, now
            return False  # others are answered: this question's turn will come
        if error.status in SAT_OUT and error.retry_after != 0:  # 0: it wants no pause, so there is nothing to sit out
            return now - self.since >= self.longest
        self.counted += 1
        return self.counted >= self.attempts

    @property
    def said(self) -> str:
        """How much was tried, in words."""
        if self.counted >= self.attempts:
            return f"{self.failures} attempts"
        return f"{self.failures} attempts in {self.longest:.0f} s without an answer"


class _GaveUpError(FatalJudgeError):
    """Every attempt failed; `failure` is the last one."""

    def __init__(self, message: str, failure: RetryableError) -> None:
        super().__init__(message)
        self.failure = failure


def _now() -> float:
    return asyncio.get_running_loop().time()


def or_unset(value: float | None) -> float | str:
    """Return a parameter's value as an identity holds it."""
    return UNSET if value is None else value


def _encodable(answer: Answer) -> Answer:
    """Return what a provider returned with texts that can travel, be written and be printed."""
    served, fingerprint = (
        None if text is None else encodable(text) for text in (answer.served_model, answer.fingerprint)
    )
    return replace(
        answer,
        text=encodable(answer.text),
        detail=encodable(answer.detail),
        reasoning=encodable(answer.reasoning),
        served_model=served,
        fingerprint=fingerprint,
    )
