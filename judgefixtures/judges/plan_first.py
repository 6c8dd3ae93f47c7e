"""Planning strategy: the judge carries out a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from judgefixtures.client.costs import CHARACTERS_A_TOKEN
from judgefixtures.client.model_client import ModelClient, RequestSet, value_or_unset
from judgefixtures.client.rate_limiter import RateLimiter
from judgefixtures.config import JudgeTable
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Kind as TaskKind
from judgefixtures.models.plan import Plan, PlanStrategy
from judgefixtures.models.replies import Arms, ModelReply, Pairs, Plans, PlanWithUsage
from judgefixtures.prompts import planning as plan_prompts
from judgefixtures.prompts.templates import present_pair
from judgefixtures.providers import Provider, ProviderResponse, load_provider

from .pairwise import PairwiseMode
from .reply_reading import reply_fields

if TYPE_CHECKING:
    from .judge import Judge


@dataclass(frozen=True, slots=True)
class PlanReply(ModelReply):
    """A plan's text, or why none counts."""

    text: str
    invalid: str | None = None


class PlanClient(ModelClient[PlanReply]):
    """A client for plans."""

    client_name = "Planner"
    limit_key = "plan_max_output_tokens"

    def __init__(self, name: str, table: JudgeTable, rate_limiter: RateLimiter) -> None:
        changes = {
            "temperature": table.plan_temperature,
            "max_output_tokens": table.plan_max_output_tokens,
            "response_format": "none",
            "system_prompt": None,  # it speaks of verdicts
            "logprobs": False,  # a plan is not a choice between two
        }
        table = table.model_copy(update=changes).saying("")
        super().__init__(name, table, load_provider(table), rate_limiter)
        self.asked: PlanStrategy = "self" if table.strategy == "plan-self" else "combined"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change a plan."""
        return self._asked | {"strategy": self.table.strategy, **planning_identity(self.table)}

    async def plan(self, pair: Pair, kind: TaskKind | None = None) -> Plan:
        """Return the plan, hand-made with its fault if degenerate.

        Raises:
            FatalJudgeError: The model cannot be asked.
        """
        return self.read_plan(pair, await self.ask(self.about(pair, kind)), kind)

    def about(self, pair: Pair, kind: TaskKind | None = None) -> str:
        """Return the planning prompt, without cues."""
        seen = self.table.plan_sees_responses and bool(pair.response_1 or pair.response_2)
        return plan_prompts.planning_prompt(pair, self.asked, sees_responses=seen, kind=kind)

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the planning prompt."""
        return self.about(pair)

    def read_plan(self, pair: Pair, written: PlanReply, kind: TaskKind | None = None) -> Plan:
        """Return the written or hand-made plan."""
        kept = written.text or written.invalid == "empty"  # an answer, if one of nothing
        detail = written.detail.replace("max_output_tokens", "plan_max_output_tokens")
        failure = None if kept else ": ".join(filter(None, [written.invalid, detail]))
        return plan_prompts.read_plan(written.text, pair, self.asked, failure, kind)

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> PlanReply:
        """Return the written text."""
        text = answer.text if answer.invalid is None else ""
        invalid = answer.invalid or (None if text else "empty")
        return PlanReply(text, invalid, **reply_fields(answer, retries, wasted))

    async def look_up_shutdown(self) -> None:
        """Do nothing."""


def planning_identity(table: JudgeTable) -> dict[str, Any]:
    """Return what can change a plan."""
    planning: dict[str, Any] = {"digest": plan_prompts.planning_digest(table.strategy)}
    if table.asks_for_plans:
        planning["sees_responses"] = table.plan_sees_responses
    if table.asks_for_plans and not table.record.is_code:
        planning["temperature"] = value_or_unset(table.plan_temperature)
        planning["max_output_tokens"] = table.plan_max_output_tokens
    return {"planning": planning}


class PlanFirstMode(PairwiseMode):
    """Two responses are shown with a plan."""

    makes_plans: ClassVar[bool] = True
    planner: PlanClient | None = None

    def __init__(self, judge: Judge, provider: Provider) -> None:
        super().__init__(judge, provider)
        if self.table.asks_for_plans:
            self.planner = PlanClient(judge.name, self.table, judge.rate_limiter)
            self.preparation = ((plan_prompts.PLAN, 0),)

    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return the identity with planning."""
        return super().identity(base | planning_identity(self.table))

    # --- what it is shown and asked ---------------------------------------------------------------------------

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt with a plan."""
        if plan is None and self.planner is not None:
            name = self.judge.name
            raise ValueError(f"judge {name!r} needs a plan: make one with `await judge.plan(pair)`")
        plan = plan or plan_prompts.heuristic_plan(pair)
        template, presented_pair = self.judge.template, present_pair(pair, condition)
        prompt = template.render(presented_pair, condition, self.table.cue_placement, plan_prompts.execution_text(plan))
        return prompt if template.takes_plan(pair.content_type) else plan_prompts.execution_prompt(prompt, plan)

    def longest_prompt(self, pair: Pair, condition: Condition) -> str:
        """Return the longest prompt."""
        if self.planner is None:
            return self.prompt(pair, condition)
        plan = plan_prompts.heuristic_plan(pair)
        longest = plan.text.ljust(CHARACTERS_A_TOKEN * self.table.plan_max_output_tokens, "x")
        return self.prompt(pair, condition, replace(plan, text=longest))

    def client_of(self, condition: Condition) -> ModelClient[Any]:
        """Return the planner for plans, else the judge."""
        return self.planner if condition is plan_prompts.PLAN and self.planner is not None else self.judge

    def prompts(self, condition: Condition, pairs: Iterable[Pair]) -> list[str]:
        """Return the prompts, one plan per question."""
        if condition is plan_prompts.PLAN and self.planner is not None:
            return list(dict.fromkeys(map(self.planner.about, pairs)))
        return super().prompts(condition, pairs)

    async def plan(self, pair: Pair, kind: TaskKind | None = None) -> Plan:
        """Return the plan for a pair, hand-made if degenerate.

        Raises:
            FatalJudgeError: The model cannot be asked.
        """
        return plan_prompts.heuristic_plan(pair, kind) if self.planner is None else await self.planner.plan(pair, kind)

    async def complete_prompt(self, prompt: str) -> str:
        """Return a prompt with a plan."""
        if plan_prompts.EXECUTION_MARK in prompt:
            return prompt
        # A prompt's own words say nothing of the task's kind.
        return plan_prompts.execution_prompt(
            prompt, await self.plan(Pair("prompt", prompt, "", ""), kind="instruction")
        )

    async def close(self) -> None:
        """Close the planner's connections."""
        if self.planner is not None:
            await self.planner.close()

    # --- what it answers --------------------------------------------------------------------------------------

    def plan_requests(self, pairs: Pairs) -> list[RequestSet[Any]]:
        """Return the requests for plans, one for each question: a replay could not tell two of one question apart."""
        if self.planner is None:
            return []
        of_question: dict[str, Pair] = {}
        for pair in sorted(pairs, key=lambda pair: pair.id):
            of_question.setdefault(self.planner.about(pair), pair)
        return [RequestSet(self.planner, list(of_question.values()), self.preparation, frozen=pairs)]

    def read_plans(self, pairs: Pairs, written: Mapping[str, Any]) -> Plans:
        """Return the plans that were written for the questions of pairs; hand-made ones where nobody writes any."""
        if self.planner is None:
            return {pair.id: PlanWithUsage(plan_prompts.heuristic_plan(pair)) for pair in pairs}
        about, read = self.planner.about, self.planner.read_plan
        of_question = {about(pair): written[pair.id] for pair in pairs if pair.id in written}
        return {
            pair.id: PlanWithUsage(read(pair, reply), reply.usage)
            for pair in pairs
            if (reply := of_question.get(about(pair))) is not None
        }

    def requests(self, pairs: Pairs, arms: Arms, plans: Plans) -> list[RequestSet[Any]]:
        """Return the requests about the pairs whose plan is known: without it nobody knows what is asked."""
        known = pairs if arms[0][0] is plan_prompts.PLAN else [pair for pair in pairs if pair.id in plans]
        return super().requests(known, arms, plans)
