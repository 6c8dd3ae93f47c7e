"""Judge: a model with its template, whose answers become verdicts.

The judge sends prompts. Its mode (mode.py) builds them and interprets the answers. Neither knows gold, contrasts or
gates.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgefixtures.client.model_client import REWORDED, ModelClient
from judgefixtures.client.rate_limiter import RateLimiter
from judgefixtures.client.truncation import TruncatedAnswersError
from judgefixtures.config import JudgeTable, judge_table
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, JudgeReply
from judgefixtures.models.verdicts import Grade, Score, Verdict
from judgefixtures.prompts.templates import Template, load_system_prompt, load_template, load_wording, wording_label
from judgefixtures.providers import FatalJudgeError, Provider, ProviderResponse, load_provider, register_credentials
from judgefixtures.util.errors import JudgeFixturesError, table_heading

from .mode import mode_class

__all__ = ["FatalJudgeError", "Judge", "JudgeReply", "TruncatedAnswersError", "load_judge"]


class Judge(ModelClient[JudgeReply]):
    """One judge, ready to be asked. Its identity is all that can change an answer."""

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
        """Everything that can change an answer, as plain JSON: no address, no key, no timeout, no rate."""
        table = self.table
        base = self._asked | {
            "template": {"name": self.template.name, "digest": self.template.digest},
            "cue_placement": table.cue_placement,
            "verdict": table.verdict,
            "strategy": table.strategy,
        }
        if table.system_prompt:
            digest = hashlib.sha256(table.system_text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            base["system_prompt"] = {"name": Path(table.system_prompt).name, "digest": digest}
        return self.kind.identity(base)

    @property
    def is_opaque(self) -> bool:
        """Whether nobody sees what it sends: a function of the user's may use any HTTP client, or none."""
        return self.table.record.is_code

    @property
    def planner(self) -> ModelClient[Any] | None:
        """Who is asked for the plans: the judge's own model. None where nobody is: direct, or hand-made plans."""
        return self.kind.planner

    @property
    def rater(self) -> ModelClient[Any] | None:
        """Who is asked in place of the judge, where it scores one response at a time."""
        return self.kind.rater

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt for a pair in a condition; with a PlanJudge strategy, with the plan to carry out.

        A plan that the judge's model has to write must be given (`await judge.plan(pair)` makes one): ValueError. Of
        a judge that scores it is the prompt for the one response that the condition shows.
        """
        return self.kind.prompt(pair, condition, plan)

    def shows(self, pair: Pair) -> Pair:
        """Return a pair with the columns that the template shows of it, and no others."""
        return self.template.shows(pair)

    def asks(self, arms: Sequence[Arm]) -> tuple[Arm, ...]:
        """Return what the model is asked for the sake of some arms, each once: of a judge that scores, the scores."""
        return self.kind.required_arms(arms)

    async def plan(self, pair: Pair) -> Plan | None:
        """Return the plan for a pair, to be used in every condition; None where the strategy is "direct".

        A degenerate answer gives the hand-made plan of the pair's kind, with its fault. Raises FatalJudgeError.
        """
        return await self.kind.plan(pair)

    async def close(self) -> None:
        """Close the judge's connections; it can be asked again."""
        await super().close()
        await self.kind.close()

    def check_asked(self) -> None:
        """Raise ValueError for a judge that scores: it is not shown two responses."""
        self.kind.check_asked()

    async def verdict(self, prompt: str) -> Verdict:
        """Return the verdict for a prompt, retrying passing faults; raises FatalJudgeError.

        A verdict that cannot be read is an invalid Verdict with its kind, never an exception. With a PlanJudge
        strategy the prompt is the task that a plan is made for first, unless it holds a plan already: then the plan
        sees whatever the prompt holds. For a plan without cues and responses, use `plan(pair)` and `prompt(...)`.
        A judge that scores gives none: ValueError.
        """
        return (await self.ask(await self.kind.complete_prompt(prompt))).verdict

    async def score(self, prompt: str) -> Score:
        """Return the score for a prompt that shows one response, as `verdict` does for one that shows two.

        A judge of pairs gives none: ValueError.
        """
        return await self.kind.score(prompt)

    async def grade(self, prompt: str) -> Grade:
        """Return the grade for a prompt that shows one response: whether it passes, and why.

        A judge of another mode gives none: ValueError.
        """
        return await self.kind.grade(prompt)

    @property
    def verdict_pattern(self) -> re.Pattern[bytes] | None:
        """Where an answer states what it decides, if not as a verdict does."""
        return self.kind.verdict_pattern

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the verdict that an answer states, or the invalid one that it is."""
        return self.kind.parse_reply(answer, retries, wasted)


def template_of(table: JudgeTable) -> Template:
    """Return the template of a judge's table; raises JudgeFixturesError for one that cannot be used."""
    own = table.templates or {}
    return load_template(table.template_name, table.cue_placement, table.cue_after, own, table.mode, table.grade_field)


def load_judge(table: Mapping[str, Any] | JudgeTable, name: str = "judge") -> Judge:
    """Return the judge of a [judges.NAME] table.

    Nothing is sent and nothing heavy imported before the first question. Raises JudgeFixturesError for a
    wrong key, value or template; the API key is looked for when the judge is first asked.

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
    """Return a judge with another wording: in all but its template and its name it is the same, and it keeps its pace.

    The name is that of its recordings, and no table has one like it.
    """
    table = judge.table.model_copy(update={"wordings": None})
    try:
        template = load_wording(wording, judge.template, table.grade_field)
    except JudgeFixturesError as error:
        raise JudgeFixturesError(f"{table.heading} wordings: {error}") from None
    name = f"{judge.name}{REWORDED}{wording_label(wording)}"
    return Judge(name, table, template, load_provider(table), judge.rate_limiter)
