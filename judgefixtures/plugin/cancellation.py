"""Cancellation: Ctrl-C, SIGTERM or xdist's controller end a recording without losing paid answers.

The first signal stops new requests and waits for answers in flight; the second ends at once.
"""

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

from judgefixtures.client.requests import GRACE, RunCancelledError
from judgefixtures.util.clock import elapsed

WORD = "stop"  # the file in the shared folder by which workers learn how urgent it is
LAST_WORDS = 1.5  # seconds that a worker may need for them beyond those that answers in flight get


class SignalCancelToken:
    """The requested urgency of a stop: 0, 1 or 2."""

    def __init__(self, shared: Path | None = None) -> None:
        self._shared = shared
        self._signals = 0
        self._handled = False
        self._before: dict[int, Any] = {}

    @property
    def level(self) -> int:
        """0: continue; 1: ask nothing further; 2: also drop requests in flight."""
        shared_level = 0
        if self._shared is not None:
            with contextlib.suppress(OSError, ValueError):
                shared_level = int((self._shared / WORD).read_text() or "1")
        return max(min(self._signals, 2), shared_level)

    def listen(self) -> None:
        """Handle SIGINT and SIGTERM, in the main thread only."""
        if self._before or threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._arrived)

    def close(self) -> None:
        """Restore the signal handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @contextlib.contextmanager
    def handled(self) -> Iterator[None]:
        """Let the block stop with RunCancelledError, then end the run as Ctrl-C does."""
        self._handled = True
        try:
            yield
        except RunCancelledError:
            raise KeyboardInterrupt from None
        finally:
            self._handled = False
        if self._signals:  # too late for the block
            raise KeyboardInterrupt

    def _arrived(self, _number: int, _frame: object) -> None:
        self._signals += 1
        if self._shared is not None and self._signals == 2:
            self.tell_workers()
        if self._signals > 2 or (self._signals == 1 and not self._handled):
            raise KeyboardInterrupt

    def tell_workers(self) -> None:
        """Send the urgency to the workers."""
        if self._shared is not None:
            with contextlib.suppress(OSError):
                (self._shared / WORD).write_text(str(max(self.level, 1)))


class XdistWorkerCoordinator:
    """Gives xdist's workers a shared folder, and stops them."""

    def __init__(self, key: str) -> None:
        self._key = key  # of a worker's input, under which it finds the folder
        self._folder = Path(tempfile.mkdtemp(prefix="judgefixtures-run-"))
        self._interruption = SignalCancelToken(self._folder)
        self._nodes: list[Any] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the folder to a worker, and handle signals."""
        node.workerinput[self._key] = str(self._folder)
        self._nodes.append(node)
        self._interruption.listen()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Ask the workers to stop, and wait for their output."""
        if not self._interruption.level:
            return
        self._interruption.tell_workers()
        for node in self._nodes:
            if hasattr(node, "channel"):
                node.shutdown()
        end = elapsed() + GRACE + LAST_WORDS
        while elapsed() < end and not all(map(_is_through, self._nodes)):
            time.sleep(0.05)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Remove the folder and restore signal handlers."""
        self._interruption.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _is_through(node: Any) -> bool:
    return hasattr(node, "workeroutput") or not hasattr(node, "channel") or bool(node.channel.isclosed())
