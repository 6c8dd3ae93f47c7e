"""Pass-mark mode: the judge scores one response at a time, and scores from a mark on pass."""

from typing import ClassVar

from judgefixtures.models.contrasts import Contrast, SingleResponseCondition, as_single_response
from judgefixtures.models.replies import Arm, Pairs
from judgefixtures.models.verdicts import Grade

from .pointwise import PointwiseMode, reply_of_score


class PassMarkMode(PointwiseMode):
    """Its recordings are those of its scores: where the mark lies changes nothing that is asked."""

    grades: ClassVar[bool] = True
    screening: ClassVar[tuple[Arm, ...]] = ((SingleResponseCondition(), 0),)

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Pairs) -> Contrast:  # noqa: ARG003
        """Return the contrast of the response with one label and with the other."""
        return as_single_response(contrast)

    async def grade(self, prompt: str) -> Grade:
        """Return the grade for a prompt that shows one response."""
        return reply_of_score(await self.rater.ask(prompt), self.table.pass_mark).verdict
