"""Client of one model: send prompts with rate limiting and retries."""

import asyncio
import contextlib
import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic

from judgefixtures.cassettes.calls import CALL, JudgeCall
from judgefixtures.cassettes.response_filter import tokens_spell_secret
from judgefixtures.config import JudgeTable
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair, keep_columns
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, PlanWithUsage, R
from judgefixtures.models.usage import Usage
from judgefixtures.providers import (
    LOGPROBS,
    UNSET,
    FatalJudgeError,
    Provider,
    ProviderResponse,
    RetryableError,
    UnreachableError,
    UnsupportedParameterError,
    api_key,
)
from judgefixtures.providers.judge_table import THINKING_KEYS
from judgefixtures.util.secrets import redact, redact_message
from judgefixtures.util.texts import make_encodable

from .early_stop import EarlyStopMonitor
from .messages import MESSAGES
from .parameter_probe import ParameterProbe, RequestOptions
from .rate_limiter import RATE_LIMITED, RateLimiter
from .retry import BackoffCounter, RetriesExhaustedError, RetryState, can_wait_for_retry
from .served_model import ServedModelChangedError, ServedModelGuard

MOST_UNEXPLAINED = 10  # errors in a row that name nothing that was sent
REWORDED = "~"  # between a judge's name and that of a wording: no table's name has it


class ModelClient(ABC, Generic[R]):
    """One model; subclasses build prompts and read answers."""

    client_name: ClassVar[str]  # as batches.jsonl has it
    limit_key = "max_output_tokens"
    is_comparable = False  # its replies decide something, so that two ways of asking can be compared

    def __init__(
        self, name: str, table: JudgeTable, provider: Provider, rate_limiter: RateLimiter | None = None
    ) -> None:
        self.name = name
        self.table = table
        self.rate_limiter = rate_limiter or RateLimiter(table.requests_per_minute)
        self.model_guard = ServedModelGuard(name, table)
        self.early_stop = EarlyStopMonitor(name, table, self.limit_key)
        self.back_off = BackoffCounter(name)
        self.probed = False
        self.has_answered = False
        self.unexplained = 0  # so many of the latest answers were errors that name nothing that was sent
        self.shutdown_date: str | None = None
        self._provider = provider
        self._loop: asyncio.AbstractEventLoop | None = None

    @abstractmethod
    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt for a pair in a condition."""

    def shows(self, pair: Pair) -> Pair:
        """Return a pair with its shown columns, by default none."""
        return keep_columns(pair, ())

    @abstractmethod
    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> R:
        """Return the reply for an answer, after failed `retries`, `wasted` of them perhaps billed."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything that can change an answer, as plain JSON."""

    @property
    def _asked(self) -> dict[str, Any]:
        table = self.table
        identity: dict[str, Any] = {"provider": table.provider}
        if table.record.is_code:
            identity["target"] = table.target
        else:
            identity |= {"model": table.model, "parameters": self._parameters}
        identity |= table.record.identity(table)
        if packages := getattr(self._provider, "packages", None):
            identity["packages"] = dict(packages)
        return identity | ({"dropped": sorted(self.dropped)} if self.dropped else {})

    @property
    def _parameters(self) -> dict[str, Any]:
        table = self.table
        optional = (*THINKING_KEYS, "service_tier")
        return {
            "temperature": value_or_unset(table.temperature),
            **({"seed": value_or_unset(table.seed)} if table.record.seed else {}),
            "max_output_tokens": table.max_output_tokens,
            "response_format": table.response_format if table.verdict == "json" else "none",
            **{key: value for key in optional if (value := getattr(table, key)) is not None},
            **({"logprobs": True, "top_logprobs": table.top_logprobs} if table.logprobs else {}),
        }

    @property
    def dropped(self) -> frozenset[str]:
        """The parameters that the model rejects."""
        return self._provider.dropped

    @property
    def verdict_pattern(self) -> re.Pattern[bytes] | None:
        """Matches the decision, if no verdict."""
        return None

    @property
    def last_error(self) -> BaseException | None:
        """The last exception of the judge's own code that was recorded."""
        return getattr(self._provider, "last_error", None)

    @property
    def paced_as(self) -> str:
        """The name of the shared rate limit."""
        return self.name.partition(REWORDED)[0]

    @property
    def retries(self) -> int:
        """The number of retried attempts."""
        return self.back_off.retries

    def adopt(self, identity: Mapping[str, Any]) -> None:
        """Drop the parameters that a recorded identity lacks, if allowed."""
        if identity and not self.probed:
            left_out = frozenset(map(str, identity.get("dropped") or ()))
            spared = LOGPROBS if self.table.logprobs else frozenset[str]()
            self._provider.dropped = left_out if self.table.drop_unsupported else left_out & spared
            if self.table.records_results:
                self._provider.packages = dict(identity.get("packages") or {})  # type: ignore[attr-defined]

    async def close(self) -> None:
        """Close connections; the judge can be asked again."""
        await self._provider.close()

    async def look_up_shutdown(self) -> None:
        """Look up the provider's end date of the model."""
        ask = getattr(self._provider, "shutdown_date", None)
        if ask is not None and self.shutdown_date is None and api_key(self.table):
            self.shutdown_date = await ask()

    async def ask(self, prompt: str, call: JudgeCall | None = None, *, probes: bool = False) -> R:
        """Return the parsed reply to a prompt.

        Args:
            prompt: The whole prompt.
            call: Where the reply is recorded; by default the call in progress, if any.
            probes: Whether this first request of a recording finds out what the model accepts (parameter_probe.py).

        Raises:
            FatalJudgeError: The model cannot be asked.
        """
        call = call or CALL.get() or JudgeCall()
        self.check_asked()
        self._check_key(call)
        self._follow_loop()
        probe = ParameterProbe(self.name, self.table, self._provider).steps() if probes else None
        attempts = RetryLoop(self, call, RequestOptions() if probe is None else next(probe))
        while True:
            try:
                if attempts.failure is not None:
                    await self.back_off.wait(attempts.failure, attempts.retry_state.failures)
                reply = attempts.read(await self._attempt(prompt, call))
            except BaseException as error:
                if probe is None:
                    raise
                attempts = RetryLoop(self, call, probe.throw(error))  # raises what ends the probe
                continue
            if reply is None:
                continue
            if probe is None or (options := next(probe, None)) is None:
                return reply
            attempts = RetryLoop(self, call, options)

    def check_asked(self) -> None:
        """Check that this client can be asked.

        Raises:
            ValueError: Another client must be.
        """

    def _follow_loop(self) -> None:
        """Each `asyncio.run(judge.verdict(...))` makes a new event loop."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            self._provider.forget()
        self._loop = loop

    async def _attempt(self, prompt: str, call: JudgeCall) -> ProviderResponse | RetryableError | FatalJudgeError:
        """Return the response of one attempt without secrets, or the error that ended it."""
        call.verdict_pattern = self.verdict_pattern
        unhurried = call.is_replayed or call.is_posted  # nobody is to be spared then
        try:
            async with contextlib.nullcontext(0.0) if unhurried else self.rate_limiter.call() as started:
                try:
                    # The time of a function begins when its turn comes: its provider counts.
                    async with asyncio.timeout(None if self.table.record.is_code else self.table.timeout):
                        with call.routed():
                            answer = _encodable(await self._provider.complete(prompt, call))
                except TimeoutError:
                    return RetryableError(f"no complete answer within {self.table.timeout:g} s")
                except RetryableError as error:
                    if error.status == RATE_LIMITED and not unhurried and can_wait_for_retry(error):
                        self.rate_limiter.refused(started, error.retry_after)
                    return error
                if not unhurried:
                    self.rate_limiter.follow_quotas(answer.quotas)
            self.model_guard.check(answer.served_model)
        except FatalJudgeError as error:
            return error
        if call.is_replayed:  # recordings hold no secrets
            return answer
        self.has_answered = self.has_answered or not call.was_played
        if not unhurried:
            self.rate_limiter.answered(started)
        return _without_secrets(answer)

    def _check_key(self, call: JudgeCall) -> None:
        variable = self.table.key_variable
        if variable and not api_key(self.table) and not call.is_replayed:
            raise FatalJudgeError(MESSAGES.no_api_key(self.name, variable, self.table.heading))


def value_or_unset(value: float | None) -> float | str:
    """Return a parameter's value for identities."""
    return UNSET if value is None else value


def _encodable(answer: ProviderResponse) -> ProviderResponse:
    texts = ("text", "detail", "reasoning", "served_model", "fingerprint")
    new: dict[str, Any] = {name: make_encodable(text) for name in texts if (text := getattr(answer, name)) is not None}
    return replace(answer, **new)


def _without_secrets(answer: ProviderResponse) -> ProviderResponse:
    return replace(
        answer,
        text=redact(answer.text),
        detail=redact_message(answer.detail),
        reasoning=redact(answer.reasoning),
        tokens=() if tokens_spell_secret([token.text for token in answer.tokens]) else answer.tokens,
    )


@dataclass(slots=True)
class RetryLoop(Generic[R]):
    """The attempts to have one question answered, of which `wasted` failed ones may have been billed.

    `failure` is what is waited for before the next attempt.
    """

    client: ModelClient[R]
    call: JudgeCall
    options: RequestOptions
    wasted: int = 0
    failure: RetryableError | None = field(init=False)
    retry_state: RetryState = field(init=False)

    def __post_init__(self) -> None:
        self.failure = self.options.after
        answers = self.client.rate_limiter.answers
        self.retry_state = RetryState.of(self.client.table, self.options.attempts, answers)

    def read(self, outcome: ProviderResponse | RetryableError | FatalJudgeError) -> R | None:
        """Return what is made of an attempt, None where another is to be made; raises FatalJudgeError."""
        if isinstance(outcome, RetryableError):
            self.failure, was_last = self._note_failure(outcome)
            return self._give_up(self.failure) if was_last else None
        if isinstance(outcome, FatalJudgeError):
            if not self._is_of_prompt(outcome):
                raise self._end(outcome)
            self.client.unexplained += 1
            words = self._in_words(outcome)
            outcome = ProviderResponse("", "no-answer", words, usage=Usage(0, 0), refused=True)
        else:
            self.client.unexplained = 0
        reply = self.client.parse_reply(outcome, self.retry_state.failures, self.wasted)
        if self.options.probes:
            self.client.early_stop.check_probe(reply, self.call)
        self._settle()
        return reply

    @property
    def _is_tentative(self) -> bool:
        return self.options.tentative and not self.call.is_posted  # a probe of what was sent long ago finds out nothing

    def _settle(self) -> None:
        (self.call.keep_answer if self.options.keep else self.call.drop_answer)()

    def _is_of_prompt(self, error: FatalJudgeError) -> bool:
        if self.call.is_posted or self.call.record_at_once:
            return False
        if not isinstance(error, UnsupportedParameterError) or error.parameter:
            return False
        return self.call.was_played or (self.client.probed and self.client.unexplained < MOST_UNEXPLAINED)

    def _note_failure(self, error: RetryableError) -> tuple[RetryableError, bool]:
        client, call = self.client, self.call
        failure = copy.copy(error)
        failure.args = (redact_message(str(error)),)
        was_last = self.retry_state.is_gone(error, client.rate_limiter.answers)
        is_answer = error.invalid is not None and not error.outage
        if not is_answer:
            call.leave_unread(self._in_words(error))
        call.postpone(unless_asked=client.table.max_attempts)
        was_last = was_last or call.is_posted  # the batches are the attempts
        is_tentative = self._is_tentative and error.status is None  # an error about the prompt finds out nothing
        if call.was_played or (was_last and is_answer and not is_tentative):
            self._settle()
            return failure, True
        call.drop_answer()
        self.wasted += error.may_be_billed
        if isinstance(error, UnreachableError) and not client.has_answered:
            raise FatalJudgeError(f"judge {client.name!r}: {failure}")
        if is_tentative or failure.outage:
            failure.invalid = None
        return failure, was_last

    def _end(self, error: FatalJudgeError) -> FatalJudgeError:
        words = self._in_words(error)
        if not isinstance(error, ServedModelChangedError):
            self.call.leave_unread(words)
        self.call.drop_answer()
        if isinstance(error, UnsupportedParameterError):
            return UnsupportedParameterError(words, error.parameter)
        if isinstance(error, ServedModelChangedError):
            return ServedModelChangedError(words, error.model)
        return FatalJudgeError(words)

    def _give_up(self, failure: RetryableError) -> R:
        if failure.invalid is None:
            raise RetriesExhaustedError(MESSAGES.gave_up(self.client.name, self.retry_state.in_words, failure), failure)
        answer = ProviderResponse("", failure.invalid, str(failure))
        return self.client.parse_reply(answer, self.retry_state.failures - 1, self.wasted)

    def _in_words(self, error: Exception) -> str:
        return redact_message(f"judge {self.client.name!r}: {error}")


@dataclass(frozen=True, slots=True)
class RequestSet(Generic[R]):
    """Requests to one client.

    Attributes:
        plans: Plans to carry out, by pair id.
        frozen: The pairs that the recordings keep, if others.
        among: The judge whose recordings they are, if not the client.
        ids: The ids that the replies are for, if others.
        reply_arms: The arms that the replies are for, if others.
    """

    client: ModelClient[R]
    pairs: Sequence[Pair]
    arms: Sequence[Arm]
    plans: Mapping[str, PlanWithUsage] = field(default_factory=dict)
    frozen: Sequence[Pair] | None = None
    among: str | None = None
    ids: Sequence[str] | None = None
    reply_arms: Sequence[Arm] | None = None

    def sort_into(self, asked: dict[Arm, dict[str, R]], replies: Sequence[Sequence[R | None]]) -> None:
        """Put the replies of each arm, in the order of the pairs, where they are wanted; None is none."""
        ids = self.ids or [pair.id for pair in self.pairs]
        for arm, of_arm in zip(self.reply_arms or self.arms, replies, strict=True):
            there = asked.setdefault(arm, {})
            there |= {name: reply for name, reply in zip(ids, of_arm, strict=True) if reply is not None}

    @property
    def conditions(self) -> list[str]:
        """The names of the conditions and cassettes."""
        return list(dict.fromkeys(condition.name for condition, _ in self.arms))

    @property
    def total(self) -> int:
        """The number of answers."""
        return len(self.arms) * len(self.pairs)
