"""Answers that are cut off at the limit of their length: when asking on would pay for nothing, and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from judgefixtures.asking.received import Received
from judgefixtures.cassettes.calls import Call
from judgefixtures.providers import FatalJudgeError, Usage
from judgefixtures.providers.tables import JudgeTable

FIRST_ANSWERS = 20  # where all of them are cut off, the others will be


class CutOffError(FatalJudgeError):
    """The judge's answers are cut off: asking on would pay for nothing. `usage` is what the dropped answer cost."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


@dataclass(slots=True)
class CutOffs:
    """How many of a judge's first answers were cut off; where they do not matter none ends a recording."""

    judge: str
    table: JudgeTable
    limit_key: str
    matter: bool = True
    _count: int | None = 0  # from the first answer of a recording on; None: not all were

    def count(self, reply: Received) -> None:
        """Raise CutOffError where every one of a recording's first answers was cut off; they are kept."""
        if reply.invalid != "truncated":
            self._count = None
        if self._count is not None:
            self._count += 1
            if self._count >= FIRST_ANSWERS and self.matter:
                raise self._error(f"the first {FIRST_ANSWERS} answers after the probe were all")

    def check_probe(self, reply: Received, call: Call) -> None:
        """Raise CutOffError, and forget the answer, where the first one of a recording is cut off."""
        if self.matter and reply.invalid == "truncated" and not call.was_played:
            if call.is_posted:
                return  # it is paid for, and so are the others
            call.drop_answer()
            raise self._error("the first answer was", reply.usage)

    def _error(self, which: str, usage: Usage | None = None) -> CutOffError:
        if self.table.record.is_code:
            limit, remedy = "", f"Raise the limit that {self.table.target} sends"
        else:
            less = " or ".join(sorted(self.table.record.thinking))
            limit = f" ({self.limit_key} = {self.table.max_output_tokens})"
            remedy = (
                f"Raise {self.limit_key} in {self.table.heading} (what a reasoning model thinks counts: 4096 is "
                f"a start), or let the model think less ({less})"
            )
        return CutOffError(
            f"judge {self.judge!r}: {which} cut off{limit}, and asking on would pay for answers that are not verdicts. "
            f"{remedy}, and run the same command again; what was recorded before has to be recorded anew, with "
            "--judge-record all. To record cut-off answers all the same, add --judge-force.",
            usage,
        )
