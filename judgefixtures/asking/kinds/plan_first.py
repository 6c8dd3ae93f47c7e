"""A judge that carries out a plan: one that somebody wrote for the kind of task, or that its own model writes first.

Plans themselves, and the prompts around them, live in material/plans.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from judgefixtures.asking.asker import Asker, Task, or_unset
from judgefixtures.asking.costs import CHARACTERS_A_TOKEN
from judgefixtures.asking.kinds import Clerk, Judged
from judgefixtures.asking.kinds.pairwise import Pairwise
from judgefixtures.asking.pacing import Pace
from judgefixtures.asking.received import Arm, Pairs, Planned, Plans, Received, received_with
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import Condition
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import (
    EXECUTION_MARK,
    PLAN,
    Asked,
    Plan,
    execution_prompt,
    execution_text,
    heuristic_plan,
    planning_digest,
    planning_prompt,
    read_plan,
)
from judgefixtures.material.plans import Kind as TaskKind
from judgefixtures.material.prompts import presented
from judgefixtures.providers import Answer, Provider, load_provider


@dataclass(frozen=True, slots=True)
class Written(Received):
    """What a model wrote when it was asked for a plan; `invalid` is why there is no text, or none that counts."""

    text: str
    invalid: str | None = None


class Planner(Asker[Written]):
    """A judge's model, asked for plans: at the planning temperature, for plain text, in the condition `plan`.

    It has the judge's name and address and its pace, and an identity of its own: what can change a plan.
    """

    limit_key = "plan_max_output_tokens"

    def __init__(self, name: str, table: JudgeTable, pace: Pace) -> None:
        changes = {
            "temperature": table.plan_temperature,
            "max_output_tokens": table.plan_max_output_tokens,
            "response_format": "none",
            "system_prompt": None,  # it speaks of verdicts
            "logprobs": False,  # a plan is not a choice between two
        }
        table = table.model_copy(update=changes).saying("")
        super().__init__(name, table, load_provider(table), pace)
        self.asked: Asked = "self" if table.strategy == "plan-self" else "combined"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change a plan, as plain JSON: neither the template nor the form of the verdict."""
        return self._asked | {"strategy": self.table.strategy, **planning_identity(self.table)}

    async def plan(self, pair: Pair, kind: TaskKind | None = None) -> Plan:
        """Return the plan that the model writes for a pair, or the hand-made one with the fault of what it wrote.

        Raises FatalJudgeError.
        """
        return self.read_plan(pair, await self.ask(self.about(pair, kind)), kind)

    def about(self, pair: Pair, kind: TaskKind | None = None) -> str:
        """Return the prompt that asks for a pair's plan: without cues, and by default without the responses."""
        seen = self.table.plan_sees_responses and bool(pair.response_1 or pair.response_2)
        return planning_prompt(pair, self.asked, sees_responses=seen, kind=kind)

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt that asks for a pair's plan, the same in every condition."""
        return self.about(pair)

    def read_plan(self, pair: Pair, written: Written, kind: TaskKind | None = None) -> Plan:
        """Return the plan that was written, or the hand-made one of the pair's kind with the fault."""
        kept = written.text or written.invalid == "empty"  # an answer, if one of nothing
        detail = written.detail.replace("max_output_tokens", "plan_max_output_tokens")
        failure = None if kept else ": ".join(filter(None, [written.invalid, detail]))
        return read_plan(written.text, pair, self.asked, failure, kind)

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Written:
        """Return what was written."""
        text = answer.text if answer.invalid is None else ""
        invalid = answer.invalid or (None if text else "empty")
        return Written(text, invalid, **received_with(answer, retries, wasted))

    async def look_up_shutdown(self) -> None:
        """Nothing: the judge itself asks on which day its model ends."""


def planning_identity(table: JudgeTable) -> dict[str, Any]:
    """Return what can change a plan, and so an answer: part of the identity of the judges that plan, of no other."""
    planning: dict[str, Any] = {"digest": planning_digest(table.strategy)}
    if table.asks_for_plans:
        planning["sees_responses"] = table.plan_sees_responses
    if table.asks_for_plans and not table.record.is_code:
        planning |= {"temperature": or_unset(table.plan_temperature), "max_output_tokens": table.plan_max_output_tokens}
    return {"planning": planning}


class PlanFirst(Pairwise):
    """Two responses are shown, with a plan to carry out. Of one question there is one plan, in every condition."""

    makes_plans: ClassVar[bool] = True
    planner: Planner | None = None

    def __init__(self, judge: Judged, provider: Provider) -> None:
        super().__init__(judge, provider)
        if self.table.asks_for_plans:
            self.planner = Planner(judge.name, self.table, judge.pace)
            self.preparation = ((PLAN, 0),)

    def identity(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return it with what can change a plan."""
        return super().identity(asked | planning_identity(self.table))

    # --- what it is shown and asked ---------------------------------------------------------------------------

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt that has a plan carried out: the hand-made one unless the model has to write it."""
        if plan is None and self.planner is not None:
            name = self.judge.name
            raise ValueError(f"judge {name!r} plans first: make the pair's plan with `await judge.plan(pair)`")
        plan = plan or heuristic_plan(pair)
        template, shown = self.judge.template, presented(pair, condition)
        prompt = template.render(shown, condition, self.table.cue_placement, execution_text(plan))
        return prompt if template.takes_plan(pair.content_type) else execution_prompt(prompt, plan)

    def longest_prompt(self, pair: Pair, condition: Condition) -> str:
        """Return a prompt with a plan as long as one may get."""
        if self.planner is None:
            return self.prompt(pair, condition)
        plan = heuristic_plan(pair)
        longest = plan.text.ljust(CHARACTERS_A_TOKEN * self.table.plan_max_output_tokens, "x")
        return self.prompt(pair, condition, replace(plan, text=longest))

    def asker_of(self, condition: Condition) -> Asker[Any]:
        """Return the planner for plans, else the judge."""
        return self.planner if condition is PLAN and self.planner is not None else self.judge

    def prompts(self, condition: Condition, pairs: Iterable[Pair]) -> list[str]:
        """Return what is asked about pairs: of plans one for each question."""
        if condition is PLAN and self.planner is not None:
            return list(dict.fromkeys(map(self.planner.about, pairs)))
        return super().prompts(condition, pairs)

    async def plan(self, pair: Pair, kind: TaskKind | None = None) -> Plan:
        """Return the plan for a pair; `kind` overrides the pair's kind of task. Raises FatalJudgeError.

        A degenerate answer gives the hand-made plan of the pair's kind, with its fault.
        """
        return heuristic_plan(pair, kind) if self.planner is None else await self.planner.plan(pair, kind)

    async def complete_prompt(self, prompt: str) -> str:
        """Return a prompt with a plan for it, unless it holds one already."""
        if EXECUTION_MARK in prompt:
            return prompt
        # A prompt's own words say nothing of the task's kind.
        return execution_prompt(prompt, await self.plan(Pair("prompt", prompt, "", ""), kind="instruction"))

    async def close(self) -> None:
        """Close the planner's connections."""
        if self.planner is not None:
            await self.planner.close()

    # --- what it answers --------------------------------------------------------------------------------------

    def plans(self, clerk: Clerk, pairs: Pairs) -> Plans:
        """Return the plans for some pairs, asked for or replayed; hand-made ones where nobody writes any."""
        if self.planner is None:
            return {pair.id: Planned(heuristic_plan(pair)) for pair in pairs}
        tasks: dict[str, Pair] = {}  # pairs of one question have one plan, or a replay could not tell theirs apart
        for pair in sorted(pairs, key=lambda pair: pair.id):
            tasks.setdefault(self.planner.about(pair), pair)
        task = Task(self.planner, list(tasks.values()), self.preparation, frozen=pairs, what="plan")
        (written,) = clerk.collect(task)
        replies = dict(zip(tasks, written, strict=True))
        return self._planned({pair: replies[self.planner.about(pair)] for pair in pairs})

    def known_plans(self, clerk: Clerk, pairs: Pairs) -> Plans:
        """Return the hand-made plans, or those that are recorded."""
        if self.planner is None:
            return self.plans(clerk, pairs)
        recorded = clerk.spared(Task(self.planner, pairs, self.preparation))
        return self._planned({pair: recorded[pair.id] for pair in pairs if pair.id in recorded})

    def _planned(self, written: Mapping[Pair, Written]) -> Plans:
        assert self.planner is not None
        return {pair.id: Planned(self.planner.read_plan(pair, reply), reply.usage) for pair, reply in written.items()}

    def task(self, pairs: Pairs, arm: Arm, plans: Plans) -> Task[Any]:
        """Return the questions about the pairs whose plan is known: without it nobody knows what was asked."""
        known = pairs if arm[0] is PLAN else [pair for pair in pairs if pair.id in plans]
        return super().task(known, arm, plans)
