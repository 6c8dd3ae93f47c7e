"""Replies of models and judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from .contrasts import Condition
from .pairs import Pair
from .plan import Plan
from .usage import Usage
from .verdicts import NamedOutcome

Arm = tuple[Condition, int]  # a condition and one of its repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """An answer with the provider's metadata.

    Attributes:
        ended_early: Whether it stopped before its limit.
        refused: Whether an error rejected the prompt.
        wasted: Retries perhaps billed.
    """

    detail: str = ""
    ended_early: bool = False
    refused: bool = False
    loop: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    wasted: int = 0

    @property
    def invalid(self) -> str | None:
        """Why the answer is unusable, or None."""
        raise NotImplementedError

    @property
    def decides(self) -> object:
        """What makes two answers equal."""
        return None


R = TypeVar("R", bound=ModelReply)


@dataclass(frozen=True, slots=True)
class JudgeReply(ModelReply):
    """The outcomes of an answer: its verdict, and the `others` where it states several.

    `imported`: it was read from a log, and nobody was asked.
    """

    verdict: NamedOutcome
    others: tuple[NamedOutcome, ...] = ()
    imported: bool = False

    @property
    def invalid(self) -> str | None:
        """Why there is no verdict, or None."""
        return self.verdict.invalid

    @property
    def decides(self) -> object:
        """The values of all outcomes."""
        return tuple((each.value, each.tie, each.invalid) for each in (self.verdict, *self.others))

    def read_by(self, name: str) -> Self:
        """Return the reply with the outcome of a name as its verdict; KeyError where there is none.

        >>> reply = JudgeReply(NamedOutcome(True, "It is."), (NamedOutcome(None, "", "no-json", name="polite"),))
        >>> reply.read_by("polite").verdict.invalid
        'no-json'
        """
        outcomes = {each.name: each for each in (self.verdict, *self.others)}
        verdict = outcomes.pop(name)
        return replace(self, verdict=verdict, others=tuple(outcomes.values()))


@dataclass(frozen=True, slots=True)
class PlanWithUsage:
    """A plan and its tokens, or None."""

    plan: Plan
    usage: Usage | None = None


Pairs = Sequence[Pair]


Arms = Sequence[Arm]


Plans = Mapping[str, PlanWithUsage]  # by pair id


RepliesByArm = Mapping[Arm, Mapping[str, Any]]  # the replies of a model in each arm, by pair id
