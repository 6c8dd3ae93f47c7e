"""Modes of imported judges, whose answers are looked up."""

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
    """Base of log modes."""

    is_asked: ClassVar[bool] = False

    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return logs and conversion."""
        return {"provider": base["provider"], **self.conversion, **self.logs_identity}

    @property
    @abstractmethod
    def conversion(self) -> dict[str, Any]:
        """What turns a logged answer into an outcome."""

    def logged_arms(self, arms: Iterable[Arm], pairs: Pairs) -> list[Arm]:
        """Return the arms as a log has them of such pairs: those of a single response where these are examples."""
        return [(single_condition(arm[0]), arm[1]) if are_examples(pairs) else arm for arm in arms]

    def requests(self, pairs: Pairs, arms: Arms, plans: Plans) -> list[RequestSet[Any]]:  # noqa: ARG002
        """Return none: nobody is asked."""
        return []


class ImportedPairwise(ImportedMode, PairwiseMode):
    """A log of choices."""

    @property
    def conversion(self) -> dict[str, Any]:
        """Whether a tie counts."""
        return self.outcomes


class ImportedBinary(ImportedMode, BinaryMode):
    """A log of grades."""

    @property
    def conversion(self) -> dict[str, Any]:
        """Grades."""
        return {"mode": self.table.mode}


class ImportedPointwise(ImportedMode, PointwiseMode):
    """A log of scores; the higher one is chosen."""

    @property
    def conversion(self) -> dict[str, Any]:
        """Scores and scale."""
        return {"mode": self.table.mode, "scale": list(self.table.scale)}


class ImportedPassMark(ImportedPointwise, PassMarkMode):
    """Scores with a pass mark."""
