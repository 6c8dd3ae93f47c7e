"""A judge whose answers were imported from a log: they are looked up, and nobody is asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from judgefixtures.asking.kinds import Clerk, Kind, Logs
from judgefixtures.asking.kinds.binary import Binary
from judgefixtures.asking.kinds.pairwise import Pairwise
from judgefixtures.asking.received import Arm, Arms, Pairs, Plans, Replies, Reply
from judgefixtures.material.contrasts import single_condition
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

    def sought(self, arm: Arm) -> Arm:
        """Return the arm as its log has it."""
        return arm

    def learn_logs(self, logs: Logs) -> None:
        """Take in which logs the answers are of."""
        self._logs = logs.identity(self.judge.name)

    def answers(self, clerk: Clerk, pairs: Pairs, arms: Arms, plans: Plans) -> Replies:  # noqa: ARG002
        """Return what the log answers; raises JudgeFixturesError where it answers nothing."""
        replies = clerk.logs.replies(self.judge, clerk.dataset, pairs, [self.sought(arm) for arm in arms])
        clerk.note(
            f"{self.judge.name} is imported: its answers about {clerk.dataset} are those of "
            f"{clerk.logs.path(self.judge.name, clerk.dataset)}, and nobody was asked"
        )
        return replies

    def recorded(self, clerk: Clerk, pairs: Pairs, arm: Arm, plans: Plans) -> Mapping[str, Reply]:  # noqa: ARG002
        """Return what the log answers; nothing where it cannot be read, of which the item says what is wrong."""
        try:
            return clerk.logs.recorded(self.judge, clerk.dataset, pairs, self.sought(arm))
        except JudgeFixturesError:
            return {}

    def unanswered(self, clerk: Clerk, pairs: Pairs, arms: Iterable[Arm]) -> str:
        """Return which arm the log has no answers in."""
        return clerk.logs.unanswered(self.judge.name, clerk.dataset, pairs, map(self.sought, arms))


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

    def sought(self, arm: Arm) -> Arm:
        """Return the arm of a single response."""
        return single_condition(arm[0]), arm[1]
