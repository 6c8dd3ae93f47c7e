"""Base of judge modes: the prompt, the requests of an arm, and the verdict of an answer.

Each mode is one class in one file of this folder, and no other code asks for a judge's mode. The defaults fit judges
that see two responses and choose one. docs/contributing.md explains how to add a mode.
"""

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from judgefixtures.client.model_client import ModelClient, RequestSet
from judgefixtures.config import JudgeTable
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, Contrast, single_condition
from judgefixtures.models.cues import Families
from judgefixtures.models.pairs import Pair, as_examples
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, Arms, JudgeReply, Pairs, Plans, R, Replies
from judgefixtures.models.verdicts import Grade, Scale, Score
from judgefixtures.prompts.templates import LAYOUTS, Template
from judgefixtures.providers import Provider, ProviderResponse


class JudgeContext(ModelClient[JudgeReply]):
    """A judge as its kind knows it: who is asked, with a template."""

    template: Template


class ImportedAnswers(Protocol):
    """The answers that were imported from logs."""

    def path(self, judge: str, dataset: str) -> Path:
        """Return where those of a judge on a dataset lie."""

    def identity(self, judge: str) -> dict[str, Any]:
        """Return which logs a judge's answers are of."""

    def recorded(self, judge: JudgeContext, dataset: str, pairs: Pairs, arm: Arm) -> Mapping[str, JudgeReply]:
        """Return what a log answers in an arm, by pair id."""

    def replies(self, judge: JudgeContext, dataset: str, pairs: Pairs, arms: Arms) -> Replies:
        """Return every arm's replies in the order of the pairs; raises JudgeFixturesError where some are lacking."""

    def unanswered(self, judge: str, dataset: str, pairs: Pairs, arms: Iterable[Arm]) -> str:
        """Return why a log answers nothing at all in an arm, empty where it answers something in each."""


class AnswerSource(Protocol):
    """Who asks for a kind, through the recordings of one judge on one dataset."""

    @property
    def dataset(self) -> str:
        """Name of the dataset."""

    @property
    def logs(self) -> ImportedAnswers:
        """The imported answers."""

    def note(self, text: str) -> None:
        """Keep a line for the end of the run."""

    def collect(self, task: RequestSet[R]) -> list[tuple[R, ...]]:
        """Return what every arm comes to, in the order of the pairs: recorded, or asked for now."""

    def look_up(self, task: RequestSet[R]) -> Mapping[str, R]:
        """Return what is recorded of a task's one arm, by pair id; nothing is asked."""

    def spared(self, task: RequestSet[R]) -> Mapping[str, R]:
        """Return what is recorded of a task's one arm and would not be asked for by this run."""


LookUp = Callable[[RequestSet[Any]], Mapping[str, Any]]


class JudgeMode(ABC):
    """What makes a judge one of its kind; it knows its judge, and gets answers from a source."""

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

    def __init__(self, judge: JudgeContext, provider: Provider) -> None:  # noqa: ARG002 (for kinds that ask beside the judge)
        self.judge = judge
        self.table: JudgeTable = judge.table

    # --- what it is -------------------------------------------------------------------------------------------

    @abstractmethod
    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return all that can change an answer; `asked` is whom it asks, with which parameters and template."""

    @classmethod
    def schema(cls, table: JudgeTable) -> dict[str, Any] | None:  # noqa: ARG003
        """Return the JSON schema that answers keep to; None for that of a choice between two."""
        return None

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Sequence[Pair]) -> Contrast:  # noqa: ARG003
        """Return a contrast as such a judge of these pairs, or examples, is asked it."""
        return contrast

    @classmethod
    def about(cls, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """Return what such a judge is asked about for a dataset's pairs, or examples: one that grades, each response.

        Of what it is asked about already it is the same.
        """
        return tuple(each for pair in pairs for each in as_examples(pair)) if cls.grades else tuple(pairs)

    def chooses(self, pairs: Pairs) -> bool:  # noqa: ARG002
        """Tell whether its answers about such pairs are verdicts, or nothing but scores."""
        return True

    @property
    def scale(self) -> Scale | None:
        """The lowest and the highest score that it gives; None where it gives none."""
        return None

    def learn_logs(self, logs: ImportedAnswers) -> None:  # noqa: B027 (most have nothing to do)
        """Take in what is imported, of which nobody but a run knows where it lies; nothing here."""

    def check_cues(self, families: Families) -> None:  # noqa: B027
        """Raise JudgeFixturesError for cues that its recordings could not tell apart; nothing here."""

    # --- what it is shown and asked ---------------------------------------------------------------------------

    @abstractmethod
    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:
        """Return the prompt for a pair in a condition, which carries out a plan if one is given."""

    def longest_prompt(self, pair: Pair, condition: Condition) -> str:
        """Return a prompt as long as one may get: what a cost is estimated from before anything is asked."""
        return self.prompt(pair, condition)

    def required_arms(self, arms: Arms) -> tuple[Arm, ...]:
        """Return what is asked for the sake of some arms, each once."""
        return tuple(dict.fromkeys(arms))

    def asks_in_all(self, arms: Arms) -> tuple[Arm, ...]:
        """Return what is asked for the sake of some arms, what has to be asked before them included."""
        return (*self.preparation, *self.required_arms(arms))

    def client_of(self, condition: Condition) -> ModelClient[Any]:  # noqa: ARG002
        """Return who is asked in a condition: the judge itself, unless somebody is in its place."""
        return self.rater or self.judge

    def prompts(self, condition: Condition, pairs: Iterable[Pair]) -> list[str]:
        """Return what is asked about pairs in a condition, at its longest; what they share stands in it once."""
        return [self.longest_prompt(pair, condition) for pair in pairs]

    def distinct(self, arms: Arms, pairs: Pairs) -> tuple[Arm, ...]:  # noqa: ARG002
        """Return the arms that are different questions to it about such pairs."""
        return tuple(arms)

    def check_asked(self) -> None:  # noqa: B027
        """Raise ValueError where nobody can ask the judge itself for a verdict; nothing here."""

    async def plan(self, pair: Pair) -> Plan | None:  # noqa: ARG002
        """Return the plan that is carried out for a pair; None: the verdict comes at once."""
        return None

    async def complete_prompt(self, prompt: str) -> str:
        """Return a prompt of the user's own with what has to be made for it first."""
        return prompt

    async def score(self, prompt: str) -> Score:  # noqa: ARG002
        """Return the score for a prompt that shows one response; ValueError for a judge that gives none."""
        raise ValueError(
            f"judge {self.judge.name!r} chooses one of two responses (mode = 'pairwise'), and gives no scores: ask for "
            "its verdict with `await judge.verdict(prompt)`, or set mode = 'pointwise'"
        )

    async def grade(self, prompt: str) -> Grade:  # noqa: ARG002
        """Return the grade for a prompt that shows one response; ValueError for a judge that gives none."""
        raise ValueError(
            f"judge {self.judge.name!r} has mode = {self.table.mode!r}, and gives no grades: set mode = 'binary', or a "
            "pass_mark with mode = 'pointwise', or ask for what it gives with `await judge.verdict(prompt)` or `await "
            "judge.score(prompt)`"
        )

    async def close(self) -> None:  # noqa: B027
        """Close the connections of whoever is asked beside the judge; nobody here."""

    # --- what it answers --------------------------------------------------------------------------------------

    @property
    def verdict_pattern(self) -> re.Pattern[bytes] | None:
        """Where an answer states what it decides, if not as a verdict does: a recording keeps these alternatives."""
        return None

    @abstractmethod
    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the verdict that an answer states, or the invalid one that it is."""

    def plans(self, source: AnswerSource, pairs: Pairs) -> Plans:  # noqa: ARG002
        """Return the plans for some pairs, by pair id: made now, or replayed."""
        return {}

    def known_plans(self, source: AnswerSource, pairs: Pairs) -> Plans:  # noqa: ARG002
        """Return the plans that are known before anything is asked, by pair id."""
        return {}

    def answers(self, source: AnswerSource, pairs: Pairs, arms: Arms, plans: Plans) -> Replies:
        """Return every arm's replies in the order of the pairs."""
        return source.collect(RequestSet(self.judge, pairs, arms, plans))

    def recorded(self, source: AnswerSource, pairs: Pairs, arm: Arm, plans: Plans) -> Mapping[str, JudgeReply]:
        """Return what is recorded of an arm, by pair id."""
        return self.found(source.look_up, pairs, arm, plans)

    def found(self, look_up: LookUp, pairs: Pairs, arm: Arm, plans: Plans) -> Mapping[str, Any]:
        """Return what looking up the questions of an arm finds, by pair id."""
        return look_up(self.task(pairs, arm, plans))

    def task(self, pairs: Pairs, arm: Arm, plans: Plans) -> RequestSet[Any]:
        """Return the questions to look up for an arm."""
        return RequestSet(self.client_of(arm[0]), pairs, (arm,), plans)

    # --- what can be checked of it ----------------------------------------------------------------------------

    def excuse(self, contrast: Contrast) -> str:  # noqa: ARG002
        """Return why a contrast says nothing of it, empty where it does."""
        return ""

    def unanswered(self, source: AnswerSource, pairs: Pairs, arms: Iterable[Arm]) -> str:  # noqa: ARG002
        """Return why it can never answer in some of these arms; empty where it can."""
        return ""


def single_response_arms(arms: Arms) -> tuple[Arm, ...]:
    """Return what some arms are where one response is shown, each once: orders are none, and cue 1 is the one cue.

    >>> from judgefixtures.models.contrasts import neutral_arms
    >>> [condition.name for condition, _ in single_response_arms(neutral_arms())]
    ['no-cue', 'no-cue', 'placebo-listed', 'placebo-shown']
    """
    own = ((condition, repeat) for condition, repeat in arms if condition.order == "12")
    return tuple(dict.fromkeys((single_condition(condition), repeat) for condition, repeat in own))


# Of judges whose strategy or mark, and not their mode, makes them what they are; of all others LAYOUTS names it.
PASS_MARK = "judgefixtures.judges.pass_mark:PassMarkMode"
PASSED_BEFORE = "judgefixtures.judges.imported_judge:ImportedPassMark"
PLAN_FIRST = "judgefixtures.judges.plan_first:PlanFirstMode"


def mode_class(table: JudgeTable) -> type[JudgeMode]:
    """Return the kind of a judge's table.

    >>> from judgefixtures.config import judge_table
    >>> mode_class(judge_table({"provider": "openai", "model": "m", "mode": "pointwise"})).sees_order
    False
    """
    layout = LAYOUTS[table.mode]
    marked = PASS_MARK if table.record.is_asked else PASSED_BEFORE
    path = PLAN_FIRST if table.strategy != "direct" else marked if table.pass_mark is not None else ""
    path = path or (layout.kind if table.record.is_asked else layout.logged)
    room, _, name = path.partition(":")
    kind: type[JudgeMode] = getattr(importlib.import_module(room), name)
    return kind
