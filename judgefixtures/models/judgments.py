"""Judgments: a judge's verdict about a pair in one arm."""

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
    """What a judge said about a pair in a condition, in one of the condition's repeats, and by which plan."""

    pair: Pair
    condition: Condition
    reply: JudgeReply
    repeat: int = 0
    planned: PlanWithUsage | None = None

    @property
    def verdict(self) -> NamedOutcome:
        """The verdict, valid or not, by position: selected_response 1 stood first."""
        return self.reply.verdict

    @property
    def selected(self) -> Choice | None:
        """Which response was chosen, by where it stood: 1 stood first, 0 is a tie; None for an invalid verdict."""
        return 0 if self.verdict.tie else self.verdict.selected_response

    @property
    def chosen(self) -> Choice | None:
        """Which of the pair's own responses was chosen, wherever it stood; 0 a tie, None for an invalid verdict."""
        return self.selected if self.condition.order == "12" else other_choice(self.selected)


def other_choice(choice: Choice | None) -> Choice | None:
    """Return the choice as it is called when the two responses are numbered the other way round."""
    return OTHER.get(choice)


def judgments(
    pairs: Pairs, arms: Arms, replies: Sequence[Sequence[JudgeReply]], plans: Plans
) -> list[tuple[Judgment, ...]]:
    """Return the replies of every arm as judgments of the pairs that they are about."""
    return [
        tuple(
            Judgment(pair, condition, reply, repeat, plans.get(pair.id)) for pair, reply in zip(pairs, arm, strict=True)
        )
        for (condition, repeat), arm in zip(arms, replies, strict=True)
    ]
