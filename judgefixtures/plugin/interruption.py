"""Interruption: Ctrl-C, SIGTERM or a word of xdist's controller end a recording so that no paid answer is lost.

The first asks: no further question, a few seconds for the answers in flight. The second ends at once. Both end the
run as Ctrl-C ends pytest: what was recorded is said, and the exit code is 2. A third is pytest's own again.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgefixtures.asking.questions import GRACE, StoppedError

WORD = "stop"  # the file in the shared folder by which workers learn how urgent it is
LAST_WORDS = 1.5  # seconds that a worker may need for them beyond those that answers in flight get


class Interruption:
    """How urgently this process is asked to stop: 0, 1 or 2."""

    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared
        self._signals = 0
        self._heeded = False
        self._before: dict[int, Any] = {}

    @property
    def urgency(self) -> int:
        """0: go on; 1: ask nothing further; 2: drop what is in flight, too."""
        told = 0
        if self._shared is not None:
            with contextlib.suppress(OSError, ValueError):
                told = int((self._shared / WORD).read_text() or "1")
        return max(min(self._signals, 2), told)

    def listen(self) -> None:
        """Take SIGINT and SIGTERM; does nothing outside of the main thread, where Python delivers none."""
        if self._before or threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._arrived)

    def close(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @contextlib.contextmanager
    def heeded(self) -> Iterator[None]:
        """Let the block look at `urgency` itself and stop with StoppedError; then end the run as Ctrl-C does."""
        self._heeded = True
        try:
            yield
        except StoppedError:
            raise KeyboardInterrupt from None
        finally:
            self._heeded = False
        if self._signals:  # too late for the block
            raise KeyboardInterrupt

    def _arrived(self, _number: int, _frame: object) -> None:
        self._signals += 1
        if self._shared is not None and self._signals == 2:
            self.tell_workers()
        if self._signals > 2 or (self._signals == 1 and not self._heeded):
            raise KeyboardInterrupt

    def tell_workers(self) -> None:
        """Let the workers know how urgent it is."""
        if self._shared is not None:
            with contextlib.suppress(OSError):
                (self._shared / WORD).write_text(str(max(self.urgency, 1)))


class Workers:
    """xdist's controller: gives the workers of a recording a folder to share, and ends them when it is interrupted."""

    def __init__(self, key: str) -> None:
        self._key = key  # of a worker's input, under which it finds the folder
        self._folder = Path(tempfile.mkdtemp(prefix="judgefixtures-run-"))
        self._interruption = Interruption(self._folder)
        self._nodes: list[Any] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Name the folder to a worker, and listen for signals: there is somebody to end."""
        node.workerinput[self._key] = str(self._folder)
        self._nodes.append(node)
        self._interruption.listen()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Ask the workers to stop, before xdist hangs up on them, and wait for their last words."""
        if not self._interruption.urgency:
            return
        self._interruption.tell_workers()
        for node in self._nodes:
            if hasattr(node, "channel"):
                node.shutdown()
        end = time.monotonic() + GRACE + LAST_WORDS
        while time.monotonic() < end and not all(map(_is_through, self._nodes)):
            time.sleep(0.05)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Remove the folder, and give the signals back."""
        self._interruption.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _is_through(node: Any) -> bool:
    """Tell whether a worker has said its last words, or will say none."""
    return hasattr(node, "workeroutput") or not hasattr(node, "channel") or bool(node.channel.isclosed())
