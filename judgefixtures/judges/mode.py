"""Base of judge modes: the prompt, the requests of an arm, and the verdict of an answer.

Each mode is one class in one file of this folder, and no other code asks for a judge's mode. The defaults fit judges
that see two responses and choose one. CONTRIBUTING.md explains how to add a mode.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from judgefixtures.client.model_client import ModelClient, RequestSet
from judgefixtures.config import JudgeTable
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, Contrast, single_condition
from judgefixtures.models.cues import Families
from judgefixtures.models.pairs import Pair, as_examples
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, Arms, JudgeReply, Pairs, Plans, RepliesByArm
from judgefixtures.models.verdicts import Grade, Scale, Score
from judgefixtures.prompts.templates import LAYOUTS, Template
from judgefixtures.providers import Provider, ProviderResponse

from .messages import MESSAGES


class TemplateClient(ModelClient[JudgeReply]):
    """A client with a prompt template: a mode's view of a judge."""

    template: Template


class JudgeMode(ABC):
    """What makes a judge one of its kind. A mode returns requests and reads replies; it asks nobody."""

    is_asked: ClassVar[bool] = True  # somebody answers now; else the answers are those of a log
    sees_order: ClassVar[bool] = True  # the order of two responses can move what it says
    gives_scores: ClassVar[bool] = False  # a reply has two scores, from which its verdict follows
    makes_plans: ClassVar[bool] = False  # a plan is carried out for every pair
    grades: ClassVar[bool] = False  # it is about examples, of which each passes or fails, and no pairs
    # By which answers the closest of many pairs are chosen.
    screening: ClassVar[tuple[Arm, ...]] = ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))
    preparation: tuple[Arm, ...] = ()  # what is asked before anything else, once for all repeats
    planner: ModelClient[Any] | None = None  # who is asked for plans
    rater: ModelClient[Any] | None = None  # who is asked in place of the judge
    logs_identity: Mapping[str, Any] = {}  # of which logs its answers are: only a run knows where they lie

    def __init__(self, judge: TemplateClient, provider: Provider) -> None:  # noqa: ARG002 (for kinds that ask beside the judge)
        self.judge = judge
        self.table: JudgeTable = judge.table

    # --- what it is -------------------------------------------------------------------------------------------

    @abstractmethod
    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return all that can change an answer."""

    @classmethod
    def schema(cls, table: JudgeTable) -> dict[str, Any] | None:  # noqa: ARG003
        """Return the JSON schema, None for choices."""
        return None

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Sequence[Pair]) -> Contrast:  # noqa: ARG003
        """Return a contrast for this mode."""
        return contrast

    @classmethod
    def about(cls, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Return the judged units: pairs, or each response for grades."""
        return tuple(each for pair in pairs for each in as_examples(pair)) if cls.grades else tuple(pairs)

    def chooses(self, pairs: Pairs) -> bool:  # noqa: ARG002
        """Return whether answers are verdicts."""
        return True

    @property
    def scale(self) -> Scale | None:
        """The lowest and highest score, or None."""
        return None

    def check_cues(self, families: Families) -> None:  # noqa: B027
        """Check that cues have distinct recordings."""

    # --- what it is shown and asked ---------------------------------------------------------------------------

    @abstractmethod
    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt for a pair in a condition, with any plan."""

    def longest_prompt(self, pair: Pair, condition: Condition) -> str:
        """Return the longest prompt, for cost estimates."""
        return self.prompt(pair, condition)

    def required_arms(self, arms: Arms) -> tuple[Arm, ...]:
        """Return the requests behind these arms."""
        return tuple(dict.fromkeys(arms))

    def asks_in_all(self, arms: Arms) -> tuple[Arm, ...]:
        """Return all requests, preparation included."""
        return (*self.preparation, *self.required_arms(arms))

    def client_of(self, condition: Condition) -> ModelClient[Any]:  # noqa: ARG002
        """Return the client for a condition."""
        return self.rater or self.judge

    def prompts(self, condition: Condition, pairs: Iterable[Pair]) -> list[str]:
        """Return the longest prompts for pairs."""
        return [self.longest_prompt(pair, condition) for pair in pairs]

    def distinct(self, arms: Arms, pairs: Pairs) -> tuple[Arm, ...]:  # noqa: ARG002
        """Return arms with distinct questions."""
        return tuple(arms)

    def check_asked(self) -> None:  # noqa: B027
        """Check that verdicts can be requested."""

    async def plan(self, pair: Pair) -> Plan | None:  # noqa: ARG002
        """Return the plan for a pair, or None."""
        return None

    async def complete_prompt(self, prompt: str) -> str:
        """Return a prompt with its preparation."""
        return prompt

    async def score(self, prompt: str) -> Score:  # noqa: ARG002
        """Return a single response's score.

        Raises:
            ValueError: The judge gives none.
        """
        raise ValueError(MESSAGES.gives_no_scores(self.judge.name))

    async def grade(self, prompt: str) -> Grade:  # noqa: ARG002
        """Return a single response's grade.

        Raises:
            ValueError: The judge gives none.
        """
        raise ValueError(MESSAGES.gives_no_grades(self.judge.name, self.table.mode))

    async def close(self) -> None:  # noqa: B027
        """Close further connections."""

    # --- what it answers --------------------------------------------------------------------------------------

    @property
    def verdict_pattern(self) -> re.Pattern[bytes] | None:
        """Matches the decision, if no verdict; its alternatives are recorded."""
        return None

    @abstractmethod
    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the verdict, perhaps invalid."""

    def requests(self, pairs: Pairs, arms: Arms, plans: Plans) -> list[RequestSet[Any]]:
        """Return the requests for some arms that are required; of an unknown plan there are none."""
        return [RequestSet(self.client_of(arms[0][0]), pairs, arms, plans)]

    def replies(self, pairs: Pairs, arm: Arm, asked: RepliesByArm) -> Mapping[str, JudgeReply]:  # noqa: ARG002
        """Return the replies in an arm, by pair id, of the pairs whose required arms were all asked."""
        return asked.get(arm, {})

    def logged_arms(self, arms: Iterable[Arm], pairs: Pairs) -> list[Arm]:  # noqa: ARG002
        """Return some arms as a log has them of such pairs."""
        return list(arms)

    def plan_requests(self, pairs: Pairs) -> list[RequestSet[Any]]:  # noqa: ARG002
        """Return the requests for the plans of some pairs; none where nobody writes any."""
        return []

    def read_plans(self, pairs: Pairs, written: Mapping[str, Any]) -> Plans:  # noqa: ARG002
        """Return the plans of some pairs, by pair id, as far as they are known from what was written for pairs."""
        return {}

    # --- what can be checked of it ----------------------------------------------------------------------------

    def excuse(self, contrast: Contrast) -> str:  # noqa: ARG002
        """Return why a contrast does not apply, or ""."""
        return ""


def single_response_arms(arms: Arms) -> tuple[Arm, ...]:
    """Return the distinct single-response arms.

    >>> from judgefixtures.models.contrasts import neutral_arms
    >>> [condition.name for condition, _ in single_response_arms(neutral_arms())]
    ['no-cue', 'no-cue', 'placebo-listed', 'placebo-shown']
    """
    return tuple(dict.fromkeys((single_condition(condition), repeat) for condition, repeat in arms))


# Of judges whose strategy or mark, and not their mode, makes them what they are; of all others LAYOUTS names it.
PASS_MARK = "judgefixtures.judges.pass_mark:PassMarkMode"
PASSED_BEFORE = "judgefixtures.judges.imported_judge:ImportedPassMark"
PLAN_FIRST = "judgefixtures.judges.plan_first:PlanFirstMode"


def mode_class(table: JudgeTable) -> type[JudgeMode]:
    """Return a table's mode.

    >>> from judgefixtures.config import judge_table
    >>> mode_class(judge_table({"provider": "openai", "model": "m", "mode": "pointwise"})).sees_order
    False
    """
    layout = LAYOUTS[table.mode]
    marked = PASS_MARK if table.record.is_asked else PASSED_BEFORE
    has_mark = table.pass_mark is not None and layout.has_scale
    path = PLAN_FIRST if table.strategy != "direct" else marked if has_mark else ""
    path = path or (layout.kind if table.record.is_asked else layout.logged)
    room, _, name = path.partition(":")
    kind: type[JudgeMode] = getattr(importlib.import_module(room), name)
    return kind
