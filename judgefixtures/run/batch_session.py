"""Batch session: the provider batches of a run, opened by its first request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.util.texts import make_printable

from .context import RunContext
from .event_loop import OwnLoop

if TYPE_CHECKING:
    from judgefixtures.batches.batch_manager import BatchManager


class BatchSession:
    """The batches of a run, where it asks in batches; and what it knows of those that it does not collect."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.manager: BatchManager | None = None
        self._on_their_way: dict[str, str] | None = None

    def opened(self) -> BatchManager | None:
        """Return the batches, opened where this is the first question; None where questions go over the network."""
        if self._context.options.batch and self.manager is None:
            from judgefixtures.batches.batch_manager import BatchManager

            config = self._context.config
            self.manager = BatchManager(self._context.library.root, config.batch_parity, frozenset(config.judges))
        return self.manager

    @property
    def waits(self) -> int:
        """How many questions are to be answered in batches."""
        return 0 if self.manager is None else self.manager.unanswered

    def send(self, runner: OwnLoop) -> list[str]:
        """Send what was put into batches, and return what is to be said of them; raises FatalJudgeError."""
        if self.manager is None:
            return []
        runner.run(self.manager.finish())
        return [make_printable(line) for line in self.manager.messages]

    def close(self, runner: OwnLoop) -> None:
        """Close the connections and give the list of batches back."""
        if self.manager is not None:
            runner.run(self.manager.close())
            self.manager = None

    def on_their_way(self, judge: str) -> str:
        """Say which questions to a judge are on their way in batches that this run does not collect; empty for none."""
        if self._context.options.batch:
            return ""
        if self._on_their_way is None:
            self._on_their_way = self._uncollected()
        return self._on_their_way.get(judge, "")

    def _uncollected(self) -> dict[str, str]:
        """Return, by judge, what is said of the batches that are on their way."""
        from judgefixtures.batches.manifest import BatchManifest

        try:
            open_batches = BatchManifest.of(self._context.library.root, mends=False).open
        except CassetteError as error:  # the run needs no list, but pays for what stands in it
            self._context.note(str(error))
            return {}
        messages = {}
        for name in {sent.judge for sent in open_batches}:
            mine = [sent for sent in open_batches if sent.judge == name]
            batches = ", ".join(sent.batch or "a batch whose id is not known" for sent in mine)
            messages[name] = (
                f"{name}: {sum(map(len, mine))} questions are on their way in {batches}, and paid for: "
                "--judge-record missing --judge-batch collects them; any other recording asks them again"
            )
        return messages
