"""A judge whose answers were imported from a log: they are looked up, and nobody is asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from judgefixtures.asking.kinds import Clerk, Kind, Logs
from judgefixtures.asking.kinds.binary import Binary
from judgefixtures.asking.kinds.pairwise import Pairwise
from judgefixtures.asking.kinds.pass_mark import PassMark
from judgefixtures.asking.kinds.pointwise import Pointwise
from judgefixtures.asking.received import Arm, Arms, Pairs, Plans, Replies, Reply
from judgefixtures.material.contrasts import single_condition
from judgefixtures.material.pairs import is_of_examples
from judgefixtures.words.errors import JudgeFixturesError


class FromLog(Kind):
    """What it once said is in its log; it is this log, and who answered is not known."""

    is_asked: ClassVar[bool] = False
    _logs: Mapping[str, Any] = {}

    def identity(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return which logs the answers are of, and what is made of them."""
        return {"provider": asked["provider"], **self.made, **self._logs}

    @property
    @abstractmethod
    def made(self) -> dict[str, Any]:
        """What is made of an answer."""

    def sought(self, arm: Arm, pairs: Pairs) -> Arm:  # noqa: ARG002
        """Return the arm as its log has it of such pairs, or examples."""
        return arm

    def learn_logs(self, logs: Logs) -> None:
        """Take in which logs the answers are of."""
        self._logs = logs.identity(self.judge.name)

    def answers(self, clerk: Clerk, pairs: Pairs, arms: Arms, plans: Plans) -> Replies:  # noqa: ARG002
        """Return what the log answers; raises JudgeFixturesError where it answers nothing."""
        replies = clerk.logs.replies(self.judge, clerk.dataset, pairs, [self.sought(arm, pairs) for arm in arms])
        clerk.note(
            f"{self.judge.name} is imported: its answers about {clerk.dataset} are those of "
            f"{clerk.logs.path(self.judge.name, clerk.dataset)}, and nobody was asked"
        )
        return replies

    def recorded(self, clerk: Clerk, pairs: Pairs, arm: Arm, plans: Plans) -> Mapping[str, Reply]:  # noqa: ARG002
        """Return what the log answers; nothing where it cannot be read, of which the item says what is wrong."""
        try:
            return clerk.logs.recorded(self.judge, clerk.dataset, pairs, self.sought(arm, pairs))
        except JudgeFixturesError:
            return {}

    def unanswered(self, clerk: Clerk, pairs: Pairs, arms: Iterable[Arm]) -> str:
        """Return which arm the log has no answers in."""
        return clerk.logs.unanswered(self.judge.name, clerk.dataset, pairs, [self.sought(arm, pairs) for arm in arms])


class ChosenBefore(FromLog, Pairwise):
    """One that chose one of two responses."""

    @property
    def made(self) -> dict[str, Any]:
        """Whether a tie counts."""
        return self.outcomes


class GradedBefore(FromLog, Binary):
    """One that passed or failed a response."""

    @property
    def made(self) -> dict[str, Any]:
        """Grades."""
        return {"mode": self.table.mode}

    def sought(self, arm: Arm, pairs: Pairs) -> Arm:  # noqa: ARG002
        """Return the arm of a single response."""
        return single_condition(arm[0]), arm[1]


class ScoredBefore(FromLog, Pointwise):
    """One that scored one response at a time; of a pair it says which has the higher score, and no order was seen."""

    @property
    def made(self) -> dict[str, Any]:
        """Scores on a scale. Where a mark lies on it, and whether equal ones count as a tie, is no part of them."""
        return {"mode": self.table.mode, "scale": list(self.table.scale)}

    def sought(self, arm: Arm, pairs: Pairs) -> Arm:
        """Return the arm of a single response where these are examples."""
        return (single_condition(arm[0]), arm[1]) if is_of_examples(pairs) else arm


class PassedBefore(ScoredBefore, PassMark):
    """One whose scores pass from a mark on."""
