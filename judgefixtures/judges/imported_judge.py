"""Modes of imported judges: answers are looked up, and no model is asked."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from judgefixtures.client.model_client import RequestSet
from judgefixtures.models.contrasts import single_condition
from judgefixtures.models.pairs import are_examples
from judgefixtures.models.replies import Arm, Arms, Pairs, Plans

from .binary import BinaryMode
from .mode import JudgeMode
from .pairwise import PairwiseMode
from .pass_mark import PassMarkMode
from .pointwise import PointwiseMode


class ImportedMode(JudgeMode):
    """What it once said is in its log; it is this log, and who answered is not known."""

    is_asked: ClassVar[bool] = False

    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return which logs the answers are of, and what is made of them."""
        return {"provider": base["provider"], **self.made, **self.logs_identity}

    @property
    @abstractmethod
    def made(self) -> dict[str, Any]:
        """What is made of an answer."""

    def logged_arms(self, arms: Iterable[Arm], pairs: Pairs) -> list[Arm]:
        """Return the arms as a log has them of such pairs: those of a single response where these are examples."""
        return [(single_condition(arm[0]), arm[1]) if are_examples(pairs) else arm for arm in arms]

    def requests(self, pairs: Pairs, arms: Arms, plans: Plans) -> list[RequestSet[Any]]:  # noqa: ARG002
        """Return none: nobody is asked."""
        return []


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
