"""Pass-mark mode: scores from a mark on pass."""

from typing import ClassVar

from judgefixtures.models.contrasts import Contrast, SingleResponseCondition, as_single_response
from judgefixtures.models.replies import Arm, Pairs
from judgefixtures.models.verdicts import Grade

from .pointwise import PointwiseMode, reply_of_score


class PassMarkMode(PointwiseMode):
    """Grades from scores and a mark."""

    grades: ClassVar[bool] = True
    screening: ClassVar[tuple[Arm, ...]] = ((SingleResponseCondition(), 0),)

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Pairs) -> Contrast:  # noqa: ARG003
        """Return the single-response contrast."""
        return as_single_response(contrast)

    async def grade(self, prompt: str) -> Grade:
        """Return the prompt's grade."""
        return reply_of_score(await self.rater.ask(prompt), self.table.pass_mark).verdict
