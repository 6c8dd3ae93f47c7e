"""Modes of imported judges: answers are looked up, and no model is asked."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from judgefixtures.models.contrasts import single_condition
from judgefixtures.models.pairs import are_examples
from judgefixtures.models.replies import Arm, Arms, JudgeReply, Pairs, Plans, Replies
from judgefixtures.util.errors import JudgeFixturesError

from .binary import BinaryMode
from .mode import AnswerSource, ImportedAnswers, JudgeMode
from .pairwise import PairwiseMode
from .pass_mark import PassMarkMode
from .pointwise import PointwiseMode


class ImportedMode(JudgeMode):
    """What it once said is in its log; it is this log, and who answered is not known."""

    is_asked: ClassVar[bool] = False
    _logs: Mapping[str, Any] = {}

    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return which logs the answers are of, and what is made of them."""
        return {"provider": base["provider"], **self.made, **self._logs}

    @property
    @abstractmethod
    def made(self) -> dict[str, Any]:
        """What is made of an answer."""

    @staticmethod
    def sought(arm: Arm, pairs: Pairs) -> Arm:
        """Return the arm as a log has it of such pairs, or that of a single response where these are examples."""
        return (single_condition(arm[0]), arm[1]) if are_examples(pairs) else arm

    def learn_logs(self, logs: ImportedAnswers) -> None:
        """Take in which logs the answers are of."""
        self._logs = logs.identity(self.judge.name)

    def answers(self, source: AnswerSource, pairs: Pairs, arms: Arms, plans: Plans) -> Replies:  # noqa: ARG002
        """Return what the log answers; raises JudgeFixturesError where it answers nothing."""
        replies = source.logs.replies(self.judge, source.dataset, pairs, [self.sought(arm, pairs) for arm in arms])
        source.note(
            f"{self.judge.name} is imported: its answers about {source.dataset} are those of "
            f"{source.logs.path(self.judge.name, source.dataset)}, and nobody was asked"
        )
        return replies

    def recorded(self, source: AnswerSource, pairs: Pairs, arm: Arm, plans: Plans) -> Mapping[str, JudgeReply]:  # noqa: ARG002
        """Return what the log answers; nothing where it cannot be read, of which the item says what is wrong."""
        try:
            return source.logs.recorded(self.judge, source.dataset, pairs, self.sought(arm, pairs))
        except JudgeFixturesError:
            return {}

    def unanswered(self, source: AnswerSource, pairs: Pairs, arms: Iterable[Arm]) -> str:
        """Return which arm the log has no answers in."""
        return source.logs.unanswered(self.judge.name, source.dataset, pairs, [self.sought(arm, pairs) for arm in arms])


class ImportedPairwise(ImportedMode, PairwiseMode):
    """One that chose one of two responses."""

    @property
    def made(self) -> dict[str, Any]:
        """Whether a tie counts."""
        return self.outcomes


class ImportedBinary(ImportedMode, BinaryMode):
    """One that passed or failed a response."""

    @property
    def made(self) -> dict[str, Any]:
        """Grades."""
        return {"mode": self.table.mode}


class ImportedPointwise(ImportedMode, PointwiseMode):
    """One that scored one response at a time; of a pair it says which has the higher score, and no order was seen."""

    @property
    def made(self) -> dict[str, Any]:
        """Scores on a scale. Where a mark lies on it, and whether equal ones count as a tie, is no part of them."""
        return {"mode": self.table.mode, "scale": list(self.table.scale)}


class ImportedPassMark(ImportedPointwise, PassMarkMode):
    """One whose scores pass from a mark on."""
