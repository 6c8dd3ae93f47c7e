"""Judgments: a judge's verdicts on pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .contrasts import Condition
from .pairs import Pair
from .replies import Arms, JudgeReply, Pairs, Plans, PlanWithUsage
from .verdicts import NamedOutcome

Choice = Literal[0, 1, 2]  # 0: a tie


OTHER: dict[Choice | None, Choice] = {1: 2, 2: 1, 0: 0}


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judge's reply on a pair."""

    pair: Pair
    condition: Condition
    reply: JudgeReply
    repeat: int = 0
    planned: PlanWithUsage | None = None

    @property
    def verdict(self) -> NamedOutcome:
        """The verdict by position."""
        return self.reply.verdict

    @property
    def selected(self) -> Choice | None:
        """The choice by position; 0 tie, None invalid."""
        return 0 if self.verdict.tie else self.verdict.selected_response

    @property
    def chosen(self) -> Choice | None:
        """The pair's own response chosen; 0 tie, None invalid."""
        return self.selected if self.condition.order == "12" else other_choice(self.selected)


def other_choice(choice: Choice | None) -> Choice | None:
    """Return the choice in reverse order."""
    return OTHER.get(choice)


def judgments(
    pairs: Pairs, arms: Arms, replies: Sequence[Sequence[JudgeReply]], plans: Plans
) -> list[tuple[Judgment, ...]]:
    """Return replies as judgments, by arm."""
    return [
        tuple(
            Judgment(pair, condition, reply, repeat, plans.get(pair.id)) for pair, reply in zip(pairs, arm, strict=True)
        )
        for (condition, repeat), arm in zip(arms, replies, strict=True)
    ]
