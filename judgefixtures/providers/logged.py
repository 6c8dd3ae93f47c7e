"""The provider of a judge whose answers were imported from a log: it answers nothing, and says so."""

from __future__ import annotations

from judgefixtures.config import JudgeTable
from judgefixtures.providers import Answer, FatalJudgeError


class ImportedProvider:
    """Nobody: what an imported judge answered is read from its log, by a run."""

    def __init__(self, table: JudgeTable) -> None:  # noqa: ARG002 (as every provider is made)
        self.dropped: frozenset[str] = frozenset()

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters that go with a prompt: none."""
        return frozenset()

    async def complete(self, prompt: str) -> Answer:  # noqa: ARG002
        """Raise FatalJudgeError: nothing can be asked."""
        raise FatalJudgeError(
            'it is imported (provider = "imported"): nothing can be asked of it. A run reads its answers from its log.'
        )

    async def close(self) -> None:
        """Nothing was opened."""

    def forget(self) -> None:
        """Nothing either."""
