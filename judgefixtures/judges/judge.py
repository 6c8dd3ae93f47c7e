"""Judge: a model with its template, whose answers become verdicts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgefixtures.client.early_stop import TruncatedAnswersError
from judgefixtures.client.model_client import REWORDED, ModelClient
from judgefixtures.client.rate_limiter import RateLimiter
from judgefixtures.config import JudgeTable, judge_table
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, JudgeReply
from judgefixtures.models.verdicts import Grade, Score, Verdict
from judgefixtures.prompts.inputs import load_inputs
from judgefixtures.prompts.templates import Template, load_system_prompt, load_template, load_wording, wording_label
from judgefixtures.providers import FatalJudgeError, Provider, ProviderResponse, load_provider, register_credentials
from judgefixtures.util.errors import JudgeFixturesError, table_heading

from .mode import TemplateClient, mode_class

__all__ = ["FatalJudgeError", "Judge", "JudgeReply", "TruncatedAnswersError", "load_judge"]


class Judge(TemplateClient):
    """One judge; its identity is all that can change an answer."""

    client_name = "Judge"
    is_comparable = True

    rewordings: tuple[Judge, ...] = ()  # itself with each of its wordings, in their order; none of them has others

    def __init__(
        self,
        name: str,
        table: JudgeTable,
        template: Template,
        provider: Provider,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        super().__init__(name, table, provider, rate_limiter)
        self.template = template
        self.kind = mode_class(table)(self, provider)

    def __repr__(self) -> str:
        return f"<Judge {self.name}: {self.table.provider} {self.table.model or self.table.target}>"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change an answer, as plain JSON."""
        table = self.table
        base = self._asked | {
            **self.template.identity,
            "cue_placement": self.template.cue_place(table.cue_placement),
            "verdict": table.verdict,
            "strategy": table.strategy,
        }
        if table.system_prompt:
            digest = hashlib.sha256(table.system_text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            base["system_prompt"] = {"name": Path(table.system_prompt).name, "digest": digest}
        return self.kind.identity(base)

    @property
    def is_opaque(self) -> bool:
        """Whether its requests are invisible."""
        return self.table.record.is_code

    @property
    def planner(self) -> ModelClient[Any] | None:
        """The plans' client, or None."""
        return self.kind.planner

    @property
    def rater(self) -> ModelClient[Any] | None:
        """The scores' client, or None."""
        return self.kind.rater

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt for a pair, or for one scored response.

        Raises:
            ValueError: The plan is missing; use `await judge.plan(pair)`.
        """
        return self.kind.prompt(pair, condition, plan)

    def shows(self, pair: Pair) -> Pair:
        """Return a pair with the template's columns."""
        return self.template.shows(pair)

    def asks(self, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Return the requests behind these arms."""
        return self.kind.required_arms(arms)

    async def plan(self, pair: Pair) -> Plan | None:
        """Return the plan for a pair, hand-made if degenerate; None for "direct".

        Raises:
            FatalJudgeError: The judge cannot be asked.
        """
        return await self.kind.plan(pair)

    async def close(self) -> None:
        """Close connections; the judge can be asked again."""
        await super().close()
        await self.kind.close()

    def check_asked(self) -> None:
        """Check that the judge compares responses.

        Raises:
            ValueError: It scores.
        """
        self.kind.check_asked()

    async def verdict(self, prompt: str) -> Verdict:
        """Return the verdict for a prompt, perhaps invalid, after retries.

        A prompt without plan gets one, if the strategy plans.

        Raises:
            FatalJudgeError: The judge cannot be asked.
            ValueError: The judge scores.
        """
        return (await self.ask(await self.kind.complete_prompt(prompt))).verdict

    async def score(self, prompt: str) -> Score:
        """Return a single response's score.

        Raises:
            ValueError: The judge gives none.
        """
        return await self.kind.score(prompt)

    async def grade(self, prompt: str) -> Grade:
        """Return a single response's grade.

        Raises:
            ValueError: The judge gives none.
        """
        return await self.kind.grade(prompt)

    @property
    def verdict_pattern(self) -> re.Pattern[bytes] | None:
        """Matches the decision, if no verdict."""
        return self.kind.verdict_pattern

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the verdict, perhaps invalid."""
        return self.kind.parse_reply(answer, retries, wasted)


def template_of(table: JudgeTable) -> Template:
    """Return a table's template.

    Raises:
        JudgeFixturesError: It is unusable.
    """
    if table.inputs is not None:
        return load_inputs(table.inputs, table.mode, table.cue_placement)
    own = table.templates or {}
    return load_template(table.template_name, table.cue_placement, table.cue_after, own, table.mode, table.grade_field)


def load_judge(table: Mapping[str, Any] | JudgeTable, name: str = "judge") -> Judge:
    """Return the judge of a [judges.NAME] table.

    The API key is read at the first request.

    Raises:
        JudgeFixturesError: A key, value or template is wrong.

    >>> judge = load_judge({"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:8080/v1"})
    >>> judge.identity["model"]
    'm'
    """
    if not isinstance(table, JudgeTable):
        written = table_heading((), "judges", name)
        table = judge_table(table, written).headed(written)
    register_credentials(table)
    template = template_of(table)
    if table.system_prompt:
        table = table.saying(load_system_prompt(table.system_prompt))
    table = table.answered_by(mode_class(table).schema(table))
    judge = Judge(name, table, template, load_provider(table))
    judge.rewordings = tuple(_reworded(judge, each) for each in table.wordings or ())
    return judge


def _reworded(judge: Judge, wording: str) -> Judge:
    """Share the rate limit."""
    table = judge.table.model_copy(update={"wordings": None})
    try:
        template = load_wording(wording, judge.template, table.grade_field)
    except JudgeFixturesError as error:
        raise JudgeFixturesError(f"{table.heading} wordings: {error}") from None
    name = f"{judge.name}{REWORDED}{wording_label(wording)}"
    return Judge(name, table, template, load_provider(table), judge.rate_limiter)
