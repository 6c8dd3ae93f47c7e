"""Judges: a model with its template and strategy, whose answers are verdicts.

A judge knows how to be asked and what its answers mean. It does not know pairs' gold, contrasts or gates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from judgefixtures.asking.asker import FIRST_WAIT, Asker, CutOffError
from judgefixtures.asking.ratings import Rater, Rating, compare, rating_arms
from judgefixtures.asking.strategies import Planner, planning_identity, strategy_of
from judgefixtures.config import JudgeTable, judge_table
from judgefixtures.material.contrasts import Condition
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import EXECUTION_MARK, Plan, execution_prompt, execution_text, heuristic_plan
from judgefixtures.material.prompts import Template, load_system_prompt, load_template, presented
from judgefixtures.providers import Answer, FatalJudgeError, Provider, Usage, know_credentials, load_provider
from judgefixtures.reading.probabilities import Probability, probability, reasons_first
from judgefixtures.reading.scores import Score
from judgefixtures.reading.verdicts import Verdict, parse_verdict
from judgefixtures.words.errors import heading

__all__ = ["FIRST_WAIT", "CutOffError", "FatalJudgeError", "Judge", "Planner", "Rater", "Reply", "load_judge"]

CHARACTERS_A_TOKEN = 4  # about, as for all estimates before a call


@dataclass(frozen=True, slots=True)
class Reply:
    """A verdict with what the provider said about itself, and how many attempts failed before it.

    Of those, `wasted` may have been billed. `probability` is how sure the judge was, where the server told it, and
    `scores` are those of what stood first and second, of a judge that scores one response at a time. `imported`: it
    was read from a log, and nobody was asked.
    """

    verdict: Verdict
    detail: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    wasted: int = 0
    probability: Probability | None = None
    scores: tuple[float, float] | None = None
    imported: bool = False

    @property
    def invalid(self) -> str | None:
        """Why there is no verdict, or None."""
        return self.verdict.invalid

    @classmethod
    def of_scores(cls, first: Rating, second: Rating, pair: Pair, *, counts_ties: bool) -> Self:
        """Return what the ratings of a pair's responses amount to, that of what stood first before the other."""
        found = compare(first, second, pair.content_type, counts_ties=counts_ties)
        return cls(
            found.verdict,
            found.detail,
            first.served_model or second.served_model,
            first.fingerprint or second.fingerprint,
            found.usage,
            first.retries + second.retries,
            first.wasted + second.wasted,
            scores=found.scores,
        )


class Judge(Asker[Reply]):
    """One judge, ready to be asked. Its identity is all that can change an answer."""

    def __init__(self, name: str, table: JudgeTable, template: Template, provider: Provider) -> None:
        super().__init__(name, table, provider)
        self.template = template
        self.strategy = strategy_of(name, table, self.pace)
        self.answers: Mapping[str, Any] = {}  # of an imported judge: which logs its answers are read from
        self.rater: Rater | None = None  # who is asked in place of the judge, where it scores one response at a time
        if table.mode == "pointwise":
            self.rater = Rater(name, table, template, provider, self.pace, lambda: self.identity)

    def __repr__(self) -> str:
        return f"<Judge {self.name}: {self.table.provider} {self.table.model or self.table.target}>"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change an answer, as plain JSON: no address, no key, no timeout, no rate."""
        table = self.table
        if self.is_imported:
            return {"provider": table.provider, **self._outcomes, **self.answers}
        return self._asked | {
            "template": {"name": self.template.name, "digest": self.template.digest},
            "cue_placement": table.cue_placement,
            "verdict": table.verdict,
            "strategy": table.strategy,
            **self._told,
            **planning_identity(table),
            **self._outcomes,
        }

    @property
    def _outcomes(self) -> dict[str, Any]:
        """What a verdict is made of, as part of the identity: empty for a choice of one of two that is never a tie.

        Whether equal scores count as a tie changes nothing that is asked.
        """
        if self.table.mode == "pointwise":
            return {"mode": self.table.mode, "scale": list(self.table.scale)}
        return {"ties": "half"} if self.table.counts_ties else {}

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
        return self.strategy if isinstance(self.strategy, Planner) else None

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt for a pair in a condition; with a PlanJudge strategy, with the plan to carry out.

        A plan that the judge's model has to write must be given (`await judge.plan(pair)` makes one): ValueError. Of
        a judge that scores it is the prompt for the one response that the condition shows.
        """
        if self.rater is not None:
            return self.rater.prompt(pair, condition)
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

    def asks(self, arms: Sequence[tuple[Condition, int]]) -> tuple[tuple[Condition, int], ...]:
        """Return what the model is asked for the sake of some arms, each once: of a judge that scores, the scores."""
        return tuple(dict.fromkeys(arms)) if self.rater is None else rating_arms(arms)

    async def plan(self, pair: Pair) -> Plan | None:
        """Return the plan for a pair, to be used in every condition; None where the strategy is "direct".

        A degenerate answer gives the hand-made plan of the pair's kind, with its fault. Raises FatalJudgeError.
        """
        return await self.strategy.plan(pair)

    async def close(self) -> None:
        """Close the judge's connections; it can be asked again."""
        await super().close()
        if self.planner is not None:
            await self.planner.close()

    def check_asked(self) -> None:
        """Raise ValueError for a judge that scores: it is not shown two responses."""
        if self.rater is not None:
            raise ValueError(
                f"judge {self.name!r} scores one response at a time (mode = 'pointwise'), and gives no verdict on two: "
                "ask for the score of each with `await judge.score(prompt)`"
            )

    async def verdict(self, prompt: str) -> Verdict:
        """Return the verdict for a prompt, retrying passing faults; raises FatalJudgeError.

        A verdict that cannot be read is an invalid Verdict with its kind, never an exception. With a PlanJudge
        strategy the prompt is the task that a plan is made for first, unless it holds a plan already: then the plan
        sees whatever the prompt holds. For a plan without cues and responses, use `plan(pair)` and `prompt(...)`.
        A judge that scores gives none: ValueError.
        """
        return (await self.ask(await self._with_plan(prompt))).verdict

    async def score(self, prompt: str) -> Score:
        """Return the score for a prompt that shows one response, as `verdict` does for one that shows two.

        A judge of pairs gives none: ValueError.
        """
        if self.rater is None:
            raise ValueError(
                f"judge {self.name!r} chooses one of two responses (mode = 'pairwise'), and gives no scores: ask for "
                "its verdict with `await judge.verdict(prompt)`, or set mode = 'pointwise'"
            )
        return (await self.rater.ask(prompt)).score

    async def _with_plan(self, prompt: str) -> str:
        if EXECUTION_MARK in prompt:
            return prompt
        # A prompt's own words say nothing of the task's kind.
        plan = await self.strategy.plan(Pair("prompt", prompt, "", ""), kind="instruction")
        return prompt if plan is None else execution_prompt(prompt, plan)

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Reply:
        """Return the verdict that an answer states, or the invalid one that it is."""
        verdict, detail = self._stated(answer)
        return Reply(
            verdict,
            detail,
            answer.served_model,
            answer.fingerprint,
            answer.usage,
            retries,
            wasted,
            self._probability(verdict, answer),
        )

    def _probability(self, verdict: Verdict, answer: Answer) -> Probability | None:
        """Return how sure the judge was of a valid verdict, where it is asked for that and tells it."""
        if not self.table.logprobs or verdict.invalid is not None:
            return None
        found = answer.probability
        if found is None and answer.tokens:
            found = probability(answer.tokens, answer.text, verdict, self.table.verdict, self.table.counts_ties)
        return None if found is None else replace(found, explained=self._explained(verdict, answer))

    def _explained(self, verdict: Verdict, answer: Answer) -> bool:
        """Tell whether the judge had reasoned before it stated a verdict: in a plan of its own, hidden, or in the text.

        Decided from each answer: the same prompt brings a word in front of one verdict, and none of another.
        """
        hidden = answer.usage.reasoning_tokens or verdict.reasoning.strip()
        return bool(self.planner or hidden) or reasons_first(answer.text, verdict, self.table.verdict)

    def _stated(self, answer: Answer) -> tuple[Verdict, str]:
        """Return the verdict that an answer states, or the invalid one that it is, with what is to be said of it."""
        if answer.invalid is None:
            ties: Literal["half", "invalid"] = "half" if self.table.counts_ties else "invalid"
            verdict = parse_verdict(answer.text, self.table.verdict, ties=ties)
            return _with_reasoning(verdict, answer.reasoning), answer.detail
        if answer.unless_whole:
            whole, note = self._stated(replace(answer, invalid=None, detail=answer.unless_whole))
            if whole.invalid is None:
                return whole, note
        return Verdict(None, "", answer.invalid, reasoning=answer.reasoning), answer.detail


def load_judge(table: Mapping[str, Any] | JudgeTable, name: str = "judge") -> Judge:
    """Return the judge of a [judges.NAME] table.

    Nothing is sent and nothing heavy imported before the first question. Raises JudgeFixturesError for a
    wrong key, value or template; the API key is looked for when the judge is first asked.

    >>> judge = load_judge({"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:8080/v1"})
    >>> judge.identity["model"]
    'm'
    """
    if not isinstance(table, JudgeTable):
        written = heading((), "judges", name)
        table = judge_table(table, written).headed(written)
    know_credentials(table)
    template = load_template(
        table.template_name, table.cue_placement, table.cue_after, table.templates or {}, table.mode
    )
    if table.system_prompt:
        table = table.saying(load_system_prompt(table.system_prompt))
    return Judge(name, table, template, load_provider(table))


def _with_reasoning(verdict: Verdict, reasoning: str) -> Verdict:
    return replace(verdict, reasoning=reasoning) if reasoning and not verdict.reasoning else verdict
