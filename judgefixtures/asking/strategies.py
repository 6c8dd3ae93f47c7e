"""Strategies: what comes before a verdict. Nothing, a hand-made plan, or one that the judge's own model writes.

A strategy has one method: the plan for a pair. Plans themselves, and the prompts around them, live in plans.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from judgefixtures.asking.asker import Asker, or_unset
from judgefixtures.asking.pacing import Pace
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import Condition
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import Asked, Kind, Plan, heuristic_plan, planning_digest, planning_prompt, read_plan
from judgefixtures.providers import Answer, Usage, load_provider


class Strategy(Protocol):
    """What a judge does before it is asked for a verdict."""

    async def plan(self, pair: Pair, kind: Kind | None = None) -> Plan | None:
        """Return the plan that the verdict is to carry out, None for a verdict at once; `kind` overrides the pair's."""


class Direct:
    """The verdict at once."""

    async def plan(self, pair: Pair, kind: Kind | None = None) -> Plan | None:  # noqa: ARG002
        """There is no plan."""
        return None


class HandMade:
    """The plan that somebody wrote for the kind of task."""

    async def plan(self, pair: Pair, kind: Kind | None = None) -> Plan | None:
        """Return the plan of the pair's kind, or of another kind."""
        return heuristic_plan(pair, kind)


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote when it was asked for a plan; `invalid` is why there is no text, or none that counts."""

    text: str
    invalid: str | None = None
    detail: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    wasted: int = 0


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

    async def plan(self, pair: Pair, kind: Kind | None = None) -> Plan | None:
        """Return the plan that the model writes for a pair, or the hand-made one with the fault of what it wrote.

        Raises FatalJudgeError.
        """
        return self.read(pair, await self.ask(self.about(pair, kind)), kind)

    def about(self, pair: Pair, kind: Kind | None = None) -> str:
        """Return the prompt that asks for a pair's plan: without cues, and by default without the responses."""
        seen = self.table.plan_sees_responses and bool(pair.response_1 or pair.response_2)
        return planning_prompt(pair, self.asked, sees_responses=seen, kind=kind)

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt that asks for a pair's plan, the same in every condition."""
        return self.about(pair)

    def read(self, pair: Pair, written: Written, kind: Kind | None = None) -> Plan:
        """Return the plan that was written, or the hand-made one of the pair's kind with the fault."""
        kept = written.text or written.invalid == "empty"  # an answer, if one of nothing
        detail = written.detail.replace("max_output_tokens", "plan_max_output_tokens")
        failure = None if kept else ": ".join(filter(None, [written.invalid, detail]))
        return read_plan(written.text, pair, self.asked, failure, kind)

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Written:
        """Return what was written."""
        text = answer.text if answer.invalid is None else ""
        return Written(
            text,
            answer.invalid or (None if text else "empty"),
            answer.detail,
            answer.served_model,
            answer.fingerprint,
            answer.usage,
            retries,
            wasted,
        )

    async def look_up_shutdown(self) -> None:
        """Nothing: the judge itself asks on which day its model ends."""


def strategy_of(name: str, table: JudgeTable, pace: Pace) -> Strategy:
    """Return the strategy of a judge's table."""
    if table.asks_for_plans:
        return Planner(name, table, pace)
    return Direct() if table.strategy == "direct" else HandMade()


def planning_identity(table: JudgeTable) -> dict[str, Any]:
    """Return what can change a plan, and so an answer: part of the identity of the judges that plan, of no other."""
    if table.strategy == "direct":
        return {}
    planning: dict[str, Any] = {"digest": planning_digest(table.strategy)}
    if table.asks_for_plans:
        planning["sees_responses"] = table.plan_sees_responses
    if table.asks_for_plans and table.provider != "python":
        planning |= {"temperature": or_unset(table.plan_temperature), "max_output_tokens": table.plan_max_output_tokens}
    return {"planning": planning}
