"""Batch session: the provider batches of a run, opened by its first request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.util.texts import make_printable

from .context import RunContext
from .event_loop import OwnLoop
from .messages import MESSAGES

if TYPE_CHECKING:
    from judgefixtures.batches.batch_manager import BatchManager


class BatchSession:
    """The batches of a run, and of earlier uncollected ones."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.manager: BatchManager | None = None
        self._on_their_way: dict[str, str] | None = None

    def opened(self) -> BatchManager | None:
        """Return the batches, opened if needed; None without batch mode."""
        if self._context.options.batch and self.manager is None:
            from judgefixtures.batches.batch_manager import BatchManager

            config = self._context.config
            self.manager = BatchManager(self._context.library.root, config.batch_parity, frozenset(config.judges))
        return self.manager

    @property
    def waits(self) -> int:
        """The number of queued requests."""
        return 0 if self.manager is None else self.manager.unanswered

    def send(self, runner: OwnLoop) -> list[str]:
        """Send the queued batches and return notes.

        Raises:
            FatalJudgeError: Some requests cannot succeed.
        """
        if self.manager is None:
            return []
        runner.run(self.manager.finish())
        return [make_printable(line) for line in self.manager.messages]

    def close(self, runner: OwnLoop) -> None:
        """Close connections and release the list of batches."""
        if self.manager is not None:
            runner.run(self.manager.close())
            self.manager = None

    def on_their_way(self, judge: str) -> str:
        """Return a note on a judge's uncollected batches, or ""."""
        if self._context.options.batch:
            return ""
        if self._on_their_way is None:
            self._on_their_way = self._uncollected()
        return self._on_their_way.get(judge, "")

    def _uncollected(self) -> dict[str, str]:
        from judgefixtures.batches.manifest import BatchManifest

        try:
            open_batches = BatchManifest.of(self._context.library.root, mends=False).open
        except CassetteError as error:  # the run needs no list, but pays for what stands in it
            self._context.note(str(error))
            return {}
        messages = {}
        for name in {sent.judge for sent in open_batches}:
            mine = [sent for sent in open_batches if sent.judge == name]
            batches = ", ".join(sent.batch or "a batch with unknown id" for sent in mine)
            messages[name] = MESSAGES.on_its_way(name, sum(map(len, mine)), batches)
        return messages
