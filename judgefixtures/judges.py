"""Judges: provider, model, parameters, template and strategy, and the one retry layer over them.

A judge knows how to be asked and what its answers mean. It does not know pairs' gold, contrasts or gates.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgefixtures.cassettes.replay import drop_answer, keep_answer, replaying, was_played
from judgefixtures.config import UNSET, JudgeTable, judge_table
from judgefixtures.contrasts import Condition
from judgefixtures.pacing import RATE_LIMITED, Pace
from judgefixtures.pairs import Pair
from judgefixtures.plans import (
    EXECUTION_MARK,
    Asked,
    Kind,
    Plan,
    execution_prompt,
    execution_text,
    heuristic_plan,
    planning_digest,
    planning_prompt,
    read_plan,
)
from judgefixtures.prompts import Template, load_system_prompt, load_template, presented
from judgefixtures.providers import (
    Answer,
    FatalJudgeError,
    Provider,
    RefusedError,
    RetryableError,
    UnsupportedError,
    Usage,
    api_key,
    know_credentials,
    sent_as,
)
from judgefixtures.secrets import masked, redacted
from judgefixtures.texts import encodable
from judgefixtures.verdicts import Verdict, parse_verdict

__all__ = ["FatalJudgeError", "Judge", "Planner", "Reply", "load_judge"]

CHARACTERS_A_TOKEN = 4  # about, as for all estimates before a call
FIRST_WAIT = 0.5  # seconds before the second attempt; doubles from there
LONGEST_BACKOFF = 30.0
FIRST_ANSWERS = 20  # where all of them are cut off, the others will be
LONGEST_WAIT = 120.0  # a server that asks for more has a limit that this run cannot sit out
# What passes by itself: a rate limit, and a server that loads its model (503) or is overloaded (529). Such failures
# are sat out by time and are not counted against max_attempts.
SAT_OUT = frozenset({RATE_LIMITED, 503, 529})

# gpt-4o may be served as gpt-4o-2024-11-20: the name with a date or a revision, and nothing else.
DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})\Z")


@dataclass(frozen=True, slots=True)
class Reply:
    """A verdict with what the provider said about itself, and how many attempts failed before it.

    Of those, `wasted` may have been billed. `text` is the whole answer where it is no verdict: a plan.
    """

    verdict: Verdict
    detail: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    wasted: int = 0
    text: str = ""

    @property
    def invalid(self) -> str | None:
        """Why nothing was answered that can be used, or None: a plan is an answer although it is no verdict."""
        return None if self.text else self.verdict.invalid


class CutOffError(FatalJudgeError):
    """The judge's answers are cut off: asking on would pay for nothing. `usage` is what the dropped answer cost."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class Judge:
    """One judge, ready to be asked. Its identity is all that can change an answer."""

    limit_key = "max_output_tokens"

    def __init__(self, name: str, table: JudgeTable, template: Template, provider: Provider) -> None:
        self.name = name
        self.table = table
        self.template = template
        self.pace = Pace(table.requests_per_minute)
        self.probed = False
        self.shutdown_date: str | None = None
        self.retries = 0
        self.stops_when_cut_off = True
        self._cut_off: int | None = 0  # how many answers of a recording were, from the first on; None: not all
        self._probing = False
        self._provider = provider
        self._answered = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._planner: Planner | None = None

    def __repr__(self) -> str:
        return f"<Judge {self.name}: {self.table.provider} {self.table.model or self.table.target}>"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change an answer, as plain JSON: no address, no key, no timeout, no rate."""
        table = self.table
        identity: dict[str, Any] = {"provider": table.provider}
        if self.is_python:
            identity["target"] = table.target
        else:
            identity |= {"model": table.model, "parameters": self._parameters}
        if self.dropped:
            identity["dropped"] = sorted(self.dropped)
        return identity | {
            "template": {"name": self.template.name, "digest": self.template.digest},
            "cue_placement": table.cue_placement,
            "verdict": table.verdict,
            "strategy": table.strategy,
            **self._told,
            **self._planning,
        }

    @property
    def _told(self) -> dict[str, Any]:
        """The system prompt's part of the identity, of a judge that has one."""
        if not self.table.system_prompt:
            return {}
        digest = hashlib.sha256(self.table.system_text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return {"system_prompt": {"name": Path(self.table.system_prompt).name, "digest": digest}}

    @property
    def plans_first(self) -> bool:
        """Whether the strategy is one of PlanJudge: a plan is carried out for every pair."""
        return self.table.strategy != "direct"

    @property
    def planner(self) -> Planner | None:
        """Who is asked for the plans: the judge's own model. None where nobody is: direct, or hand-made plans."""
        if self._planner is None and self.table.asks_for_plans:
            self._planner = Planner(self)
        return self._planner

    @property
    def _planning(self) -> dict[str, Any]:
        """What can change a plan, and so an answer: part of the identity of the judges that plan, of no other."""
        table = self.table
        if not self.plans_first:
            return {}
        planning: dict[str, Any] = {"digest": planning_digest(table.strategy)}
        if table.asks_for_plans:
            planning["sees_responses"] = table.plan_sees_responses
        if table.asks_for_plans and not self.is_python:
            planning |= {
                "temperature": _or_unset(table.plan_temperature),
                "max_output_tokens": table.plan_max_output_tokens,
            }
        return {"planning": planning}

    @property
    def _parameters(self) -> dict[str, Any]:
        table = self.table
        optional = ("reasoning_effort", "thinking_level", "thinking_budget")
        return {
            "temperature": _or_unset(table.temperature),
            "seed": _or_unset(table.seed),
            "max_output_tokens": table.max_output_tokens,
            "response_format": table.response_format if table.verdict == "json" else "none",
            **{key: value for key in optional if (value := getattr(table, key)) is not None},
        }

    @property
    def is_python(self) -> bool:
        """Whether the judge is a function of the user's, which may use any HTTP client, or none."""
        return self.table.provider == "python"

    @property
    def dropped(self) -> frozenset[str]:
        """The parameters that this model does not take and that are therefore not sent."""
        return self._provider.dropped

    def other_than_before(self, reply: Reply, first: dict[str, str]) -> str | None:
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
                    "--judge-record all when the provider serves one alone, or take the pin out of "
                    f"[judges.{self.name}], and the change is a warning."
                )
        return None

    def adopt(self, identity: Mapping[str, Any]) -> None:
        """Leave out what a recorded identity left out, where this judge may drop parameters at all."""
        if identity and self.table.drop_unsupported and not self.probed:
            self._provider.dropped = frozenset(map(str, identity.get("dropped") or ()))

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt for a pair in a condition; with a PlanJudge strategy, with the plan to carry out.

        A plan that the judge's model has to write must be given (`await judge.plan(pair)` makes one): ValueError.
        """
        shown, placement = presented(pair, condition), self.table.cue_placement
        if not self.plans_first:
            return self.template.render(shown, condition, placement)
        if plan is None and self.table.asks_for_plans:
            raise ValueError(f"judge {self.name!r} plans first: make the pair's plan with `await judge.plan(pair)`")
        plan = plan or heuristic_plan(pair)
        prompt = self.template.render(shown, condition, placement, execution_text(plan))
        return prompt if self.template.takes_plan(pair.content_type) else execution_prompt(prompt, plan)

    def longest_prompt(self, pair: Pair, condition: Condition) -> str:
        """Return a prompt with a plan as long as one may get: what a cost is estimated from before plans are made."""
        if self.planner is None:
            return self.prompt(pair, condition)
        plan = heuristic_plan(pair)
        longest = plan.text.ljust(CHARACTERS_A_TOKEN * self.table.plan_max_output_tokens, "x")
        return self.prompt(pair, condition, replace(plan, text=longest))

    async def plan(self, pair: Pair) -> Plan | None:
        """Return the plan for a pair, to be used in every condition; None where the strategy is "direct".

        A degenerate answer gives the hand-made plan of the pair's kind, with its fault. Raises FatalJudgeError.
        """
        if not self.plans_first:
            return None
        planner = self.planner
        return heuristic_plan(pair) if planner is None else planner.read(pair, await planner.ask(planner.about(pair)))

    async def close(self) -> None:
        """Close the judge's connections; it can be asked again."""
        await self._provider.close()
        if self._planner is not None:
            await self._planner.close()

    async def verdict(self, prompt: str) -> Verdict:
        """Return the verdict for a prompt, retrying passing faults; raises FatalJudgeError.

        A verdict that cannot be read is an invalid Verdict with its kind, never an exception. With a PlanJudge
        strategy the prompt is the task that a plan is made for first, unless it holds a plan already: then the plan
        sees whatever the prompt holds. For a plan without cues and responses, use `plan(pair)` and `prompt(...)`.
        """
        return (await self.ask(await self._with_plan(prompt))).verdict

    async def _with_plan(self, prompt: str) -> str:
        if not self.plans_first or EXECUTION_MARK in prompt:
            return prompt
        task = Pair("prompt", prompt, "", "")
        plan = heuristic_plan(task, kind="instruction")  # a prompt's own words say nothing of the task's kind
        if (planner := self.planner) is not None:
            asked = planning_prompt(task, planner.asked, kind="instruction")
            plan = planner.read(task, await planner.ask(asked), kind="instruction")
        return execution_prompt(prompt, plan)

    async def look_up_shutdown(self) -> None:
        """Ask the provider, where it can be asked, on which day it ends the model."""
        ask = getattr(self._provider, "shutdown_date", None)
        if ask is not None and self.shutdown_date is None and api_key(self.table):
            self.shutdown_date = await ask()

    async def probe(self, prompt: str) -> Reply:
        """Ask like `ask`, finding out what the model accepts: the first question of a recording, asked alone.

        A rejected parameter is dropped where the judge's table allows it; otherwise the error names it. An answer
        that is cut off is not recorded and raises CutOffError: the remedy is another judge.
        """
        self._probing = True
        try:
            while True:
                try:
                    return await self._probed(prompt)
                except UnsupportedError as error:
                    named = sent_as(error.parameter) & self._provider.sent
                    if not self.table.drop_unsupported or not named:
                        raise
                    self._provider.dropped = self.dropped | named
        finally:
            self._probing = False

    def count_cut_off(self, reply: Reply) -> None:
        """Raise CutOffError where every one of a recording's first answers was cut off; they are kept."""
        if reply.verdict.invalid != "truncated":
            self._cut_off = None
        if self._cut_off is not None:
            self._cut_off += 1
            if self._cut_off >= FIRST_ANSWERS and self.stops_when_cut_off:
                raise self._cut_off_error(f"the first {FIRST_ANSWERS} answers after the probe were all")

    def _check_probe(self, reply: Reply) -> None:
        if self._probing and self.stops_when_cut_off and reply.verdict.invalid == "truncated" and not was_played():
            drop_answer()
            raise self._cut_off_error("the first answer was", reply.usage)

    def _cut_off_error(self, which: str, usage: Usage | None = None) -> CutOffError:
        if self.is_python:
            limit, remedy = "", f"Raise the limit that {self.table.target} sends"
        else:
            less = "reasoning_effort" if self.table.provider == "openai" else "thinking_budget or thinking_level"
            limit = f" ({self.limit_key} = {self.table.max_output_tokens})"
            remedy = (f"Raise {self.limit_key} in [judges.{self.name}] (what a reasoning model thinks counts: 4096 is "
                      f"a start), or let the model think less ({less})")  # fmt: skip
        return CutOffError(
            f"judge {self.name!r}: {which} cut off{limit}, and asking on would pay for answers that are no verdicts. "
            f"{remedy}, and run the same command again; what was recorded before has to be recorded anew, with "
            "--judge-record all. To record cut-off answers all the same, add --judge-force.",
            usage,
        )

    async def _probed(self, prompt: str) -> Reply:
        try:
            return await self.ask(prompt, attempts=min(2, self.table.max_attempts), tentative=True)
        except _GaveUpError as error:
            failure, formats = error.failure, frozenset({"response_format"})
            if failure.status in SAT_OUT:
                raise
            if not (failure.status or 0) >= 500 or self.table.provider != "openai" or not formats & self._provider.sent:
                return await self.ask(prompt, after=failure)
        return await self._without_format(prompt, formats, failure)

    async def _without_format(self, prompt: str, formats: frozenset[str], failure: RetryableError) -> Reply:
        """Ask without response_format: some servers answer 500 to a kind of it that they do not know."""
        before = self._provider.dropped
        self._provider.dropped = before | formats
        try:
            await self.ask(prompt, attempts=1, keep=False, after=failure)
        except FatalJudgeError as error:
            self._provider.dropped = before
            return await self.ask(prompt, after=getattr(error, "failure", None))
        self._provider.dropped = before
        with contextlib.suppress(_GaveUpError):  # it may have been an outage that is over
            return await self.ask(prompt, attempts=1)
        raise UnsupportedError(
            f"judge {self.name!r}: the server fails on response_format = {self.table.response_format!r} and answers "
            'without it: set response_format = "json_object" or "none", or drop_unsupported = true.',
            "response_format",
        )

    async def ask(
        self,
        prompt: str,
        *,
        attempts: int | None = None,
        keep: bool = True,
        tentative: bool = False,
        after: RetryableError | None = None,
    ) -> Reply:
        """Return the verdict for a prompt with what the provider said about itself.

        `keep=False` asks without recording the answer; `tentative` decides nothing when the attempts are used up;
        `after` is a failure of just now that is waited for first, as long as the server asked for.
        """
        self._check_key()
        self._follow_loop()
        patience = _Patience(attempts or self.table.max_attempts, self.pace.answers, _now())
        wasted = 0
        if after is not None:
            await self._wait(after, 0)
        while True:
            try:
                answer = await self._attempt(prompt)
            except RetryableError as error:
                failure = self._cleaned(error)
                gone = patience.is_gone(error.status, self.pace.answers, _now())
                is_answer = error.invalid is not None and not error.outage
                if was_played() or (gone and is_answer and not tentative):
                    (keep_answer if keep else drop_answer)()
                    return self._gave_up(failure, patience, wasted)
                drop_answer()
                wasted += error.may_be_billed
                if isinstance(error, RefusedError) and not self._answered:
                    raise FatalJudgeError(f"judge {self.name!r}: {failure}") from None
            except UnsupportedError as error:
                drop_answer()
                raise UnsupportedError(self._said(error), error.parameter) from None
            except FatalJudgeError as error:
                drop_answer()
                raise FatalJudgeError(self._said(error)) from None
            else:
                reply = self._reply(answer, patience.failures, wasted)
                self._check_probe(reply)
                (keep_answer if keep else drop_answer)()
                return reply
            if gone:  # said here, where the server's own words, keys and all, are no longer the error's context
                failure.invalid = None if tentative or failure.outage else failure.invalid
                return self._gave_up(failure, patience, wasted)
            await self._wait(failure, patience.failures)

    def _follow_loop(self) -> None:
        """Let go of what belongs to another event loop: `asyncio.run(judge.verdict(...))` makes one each time."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            self._provider.forget()
        self._loop = loop

    async def _attempt(self, prompt: str) -> Answer:
        replayed = replaying()  # nobody is to be spared then, and recordings hold no secrets
        async with contextlib.nullcontext(0.0) if replayed else self.pace.call() as started:
            try:
                async with asyncio.timeout(self.table.timeout):
                    answer = _encodable(await self._provider.complete(prompt))
            except TimeoutError:
                raise RetryableError(f"no complete answer within {self.table.timeout:g} s") from None
            except RetryableError as error:
                if error.status == RATE_LIMITED and not replayed and (error.retry_after or 0.0) <= LONGEST_WAIT:
                    self.pace.refused(started, error.retry_after)
                raise
            if not replayed and answer.quota is not None and answer.quota.calls < len(self.pace.in_flight):
                self.pace.hold(answer.quota.seconds)  # the calls in flight use it up
        self._check_served(answer.served_model)
        if replayed:
            return answer
        self._answered = self._answered or not was_played()
        self.pace.answered(started)
        return replace(
            answer,
            text=redacted(answer.text),
            detail=masked(answer.detail),
            reasoning=redacted(answer.reasoning),
        )

    def _reply(self, answer: Answer, retries: int, wasted: int) -> Reply:
        verdict, detail = self._stated(answer)
        return Reply(verdict, detail, answer.served_model, answer.fingerprint, answer.usage, retries, wasted)

    def _stated(self, answer: Answer) -> tuple[Verdict, str]:
        """Return the verdict that an answer states, or the invalid one that it is, with what is to be said of it."""
        if answer.invalid is None:
            return _with_reasoning(parse_verdict(answer.text, self.table.verdict), answer.reasoning), answer.detail
        if answer.unless_whole:
            whole, note = self._stated(replace(answer, invalid=None, detail=answer.unless_whole))
            if whole.invalid is None:
                return whole, note
        return Verdict(None, "", answer.invalid, reasoning=answer.reasoning), answer.detail

    def _gave_up(self, failure: RetryableError, patience: _Patience, wasted: int) -> Reply:
        if failure.invalid is None:
            raise _GaveUpError(
                f"judge {self.name!r}: gave up after {patience.said}; the last one: {failure}. "
                "What was recorded is kept: run again with --judge-record missing.",
                failure,
            )
        return Reply(Verdict(None, "", failure.invalid), str(failure), retries=patience.failures - 1, wasted=wasted)

    async def _wait(self, failure: RetryableError, failures: int) -> None:
        """Wait as long as the server asks for, else by exponential back-off with jitter.

        A rate limit is waited for in the pace, which all calls keep.
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
        await asyncio.sleep(seconds)

    def _check_key(self) -> None:
        variable = self.table.key_variable
        if variable and not api_key(self.table) and not replaying():
            raise FatalJudgeError(
                f"judge {self.name!r}: the environment variable {variable} holds no API key: set it, name another "
                f"with api_key_env in [judges.{self.name}], or replay recordings, which needs none."
            )

    def _check_served(self, served: str | None) -> None:
        model = (self.table.model or "").removeprefix("models/")
        if not served or served in (model, self.table.accept_served_model):
            return
        if DATED.sub("", served) == model and not self.table.accept_served_model:
            return
        raise FatalJudgeError(
            f"the model {served!r} answered where {model!r} was asked for: the provider reroutes the name. "
            f"Name the model that you mean, or set accept_served_model = {served!r} in [judges.{self.name}]."
        )

    def _said(self, error: Exception) -> str:
        return masked(f"judge {self.name!r}: {error}")

    def _cleaned(self, error: RetryableError) -> RetryableError:
        kind = type(error)
        return kind(
            masked(str(error)), retry_after=error.retry_after, invalid=error.invalid, status=error.status,
            outage=error.outage,
        )  # fmt: skip


class Planner(Judge):
    """A judge's model, asked for plans: at the planning temperature, for plain text, in the condition `plan`.

    It has the judge's name and address and its pace, and an identity of its own: what can change a plan.
    """

    limit_key = "plan_max_output_tokens"

    def __init__(self, judge: Judge) -> None:
        table = judge.table
        changes = {
            "temperature": table.plan_temperature,
            "max_output_tokens": table.plan_max_output_tokens,
            "response_format": "none",
            "system_prompt": None,  # it speaks of verdicts
        }
        table = table.model_copy(update=changes).saying("")
        super().__init__(judge.name, table, judge.template, _provider(table))
        self.pace = judge.pace
        self.asked: Asked = "self" if table.strategy == "plan-self" else "combined"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change a plan, as plain JSON: neither the template nor the form of the verdict."""
        identity = super().identity
        return {key: value for key, value in identity.items() if key not in ("template", "cue_placement", "verdict")}

    @property
    def planner(self) -> Planner | None:
        """Nobody plans the planning."""
        return None

    def about(self, pair: Pair) -> str:
        """Return the prompt that asks for a pair's plan: without cues, and by default without the responses."""
        return planning_prompt(pair, self.asked, sees_responses=self.table.plan_sees_responses)

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt that asks for a pair's plan, the same in every condition."""
        return self.about(pair)

    def read(self, pair: Pair, reply: Reply, kind: Kind | None = None) -> Plan:
        """Return the plan that a reply holds, or the hand-made one of the pair's kind with the fault."""
        kept = reply.text or reply.verdict.invalid == "empty"  # an answer, if one of nothing
        detail = reply.detail.replace("max_output_tokens", "plan_max_output_tokens")
        failure = None if kept else ": ".join(filter(None, [reply.verdict.invalid, detail]))
        return read_plan(reply.text, pair, self.asked, failure, kind)

    async def look_up_shutdown(self) -> None:
        """Nothing: the judge itself asks on which day its model ends."""

    def _reply(self, answer: Answer, retries: int, wasted: int) -> Reply:
        text = answer.text if answer.invalid is None else ""
        # No verdict was asked for, so there is none to be read.
        invalid = answer.invalid or ("no-answer" if text else "empty")
        verdict = Verdict(None, "", invalid, reasoning=answer.reasoning)
        return Reply(verdict, answer.detail, answer.served_model, answer.fingerprint, answer.usage, retries, wasted,
                     text)  # fmt: skip


@dataclass(slots=True)
class _Patience:
    """How much longer a question is asked: what passes by itself is sat out by time, all else counts as an attempt."""

    attempts: int
    answers: int  # of the judge, to any question, when it was last seen to make progress
    since: float  # when that was
    failures: int = 0
    counted: int = 0

    def is_gone(self, status: int | None, answers: int, now: float) -> bool:
        """Take note of a failure; return whether it was the last."""
        self.failures += 1
        if status == RATE_LIMITED and answers != self.answers:
            self.answers, self.since = answers, now  # others are answered: this question's turn will come
        if status in SAT_OUT:
            return now - self.since >= LONGEST_WAIT
        self.counted += 1
        return self.counted >= self.attempts

    @property
    def said(self) -> str:
        """How much was tried, in words."""
        if self.counted >= self.attempts:
            return f"{self.failures} attempts"
        return f"{self.failures} attempts in {LONGEST_WAIT:.0f} s without an answer"


class _GaveUpError(FatalJudgeError):
    """Every attempt failed; `failure` is the last one."""

    def __init__(self, message: str, failure: RetryableError) -> None:
        super().__init__(message)
        self.failure = failure


def _now() -> float:
    return asyncio.get_running_loop().time()


def load_judge(table: Mapping[str, Any] | JudgeTable, name: str = "judge") -> Judge:
    """Return the judge of a [judges.NAME] table.

    Nothing is sent and nothing heavy imported before the first question. Raises JudgeFixturesError for a
    wrong key, value or template; the API key is looked for when the judge is first asked.

    >>> judge = load_judge({"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:8080/v1"})
    >>> judge.identity["model"]
    'm'
    """
    if not isinstance(table, JudgeTable):
        table = judge_table(table, f"[judges.{name}]")
    know_credentials(table)
    template = load_template(table.template_name, table.cue_placement, table.cue_after, table.templates or {})
    if table.system_prompt:
        table = table.saying(load_system_prompt(table.system_prompt))
    return Judge(name, table, template, _provider(table))


def _provider(table: JudgeTable) -> Provider:
    if table.provider == "python":
        from judgefixtures.providers.python import PythonProvider

        return PythonProvider(table)
    if table.provider == "openai":
        from judgefixtures.providers.openai import OpenAIProvider

        return OpenAIProvider(table)
    from judgefixtures.providers.google import GoogleProvider

    return GoogleProvider(table)


def _or_unset(value: float | None) -> float | str:
    return UNSET if value is None else value


def _encodable(answer: Answer) -> Answer:
    """Return what a provider returned with texts that can travel, be written and be printed."""
    served, fingerprint = (None if text is None else encodable(text)
                           for text in (answer.served_model, answer.fingerprint))  # fmt: skip
    return replace(
        answer, text=encodable(answer.text), detail=encodable(answer.detail), reasoning=encodable(answer.reasoning),
        served_model=served, fingerprint=fingerprint,
    )  # fmt: skip


def _with_reasoning(verdict: Verdict, reasoning: str) -> Verdict:
    return replace(verdict, reasoning=reasoning) if reasoning and not verdict.reasoning else verdict
