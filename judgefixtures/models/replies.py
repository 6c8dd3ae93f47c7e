"""Replies of a model and a judge, before they become judgments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .contrasts import Condition
from .pairs import Pair
from .plan import Plan
from .probabilities import Probability
from .usage import Usage
from .verdicts import Verdict

Arm = tuple[Condition, int]  # a condition and one of its repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """What was made of an answer, whatever it was an answer to, with what the provider said about itself.

    So many attempts failed before it (`retries`), of which `wasted` may have been billed. `loop` is the end of an
    answer that goes round in a loop. `ended_early`: it was cut off although its limit was not reached. `refused`: it
    came as an error about the prompt.
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
        """Why nothing was answered that can be used, or None."""
        raise NotImplementedError

    @property
    def decides(self) -> object:
        """What it decides: two answers to one question are the same where this is."""
        return None


R = TypeVar("R", bound=ModelReply)


@dataclass(frozen=True, slots=True)
class JudgeReply(ModelReply):
    """A verdict.

    `probability` is how sure the judge was, where the server told it, and `scores` are those of what stood first and
    second, of a judge that scores one response at a time, or that of the only response. `imported`: it was read from a
    log, and nobody was asked.
    """

    verdict: Verdict
    probability: Probability | None = None
    scores: tuple[float, ...] | None = None
    imported: bool = False

    @property
    def invalid(self) -> str | None:
        """Why there is no verdict, or None."""
        return self.verdict.invalid

    @property
    def decides(self) -> object:
        """The choice."""
        return self.verdict.selected_response, self.verdict.tie, self.invalid


@dataclass(frozen=True, slots=True)
class PlanWithUsage:
    """A pair's plan with the tokens that making it cost; None for one that was not asked for."""

    plan: Plan
    usage: Usage | None = None


Pairs = Sequence[Pair]


Arms = Sequence[Arm]


Plans = Mapping[str, PlanWithUsage]  # by pair id


Asked = Mapping[Arm, Mapping[str, Any]]  # the replies of a model in each arm, by pair id
