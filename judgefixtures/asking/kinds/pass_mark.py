"""A judge that scores one response at a time, whose scores pass from a mark on."""

from __future__ import annotations

from typing import ClassVar

from judgefixtures.asking.kinds.binary import grade_of
from judgefixtures.asking.kinds.pointwise import Pointwise, graded
from judgefixtures.asking.received import Arm, Pairs
from judgefixtures.material.contrasts import Contrast, Single, single
from judgefixtures.reading.grades import Grade


class PassMark(Pointwise):
    """Its recordings are those of its scores: where the mark lies changes nothing that is asked."""

    grades: ClassVar[bool] = True
    screening: ClassVar[tuple[Arm, ...]] = ((Single(), 0),)

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Pairs) -> Contrast:  # noqa: ARG003
        """Return the contrast of the response with one label and with the other."""
        return single(contrast)

    async def grade(self, prompt: str) -> Grade:
        """Return the grade for a prompt that shows one response."""
        return grade_of(graded(await self.rater.ask(prompt), self.table.pass_mark).verdict)
