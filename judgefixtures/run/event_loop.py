"""Event loop of a run, on a thread of its own.

The calling thread may run a loop already. The loop opens no socket and uses the machine's time, so pytest-socket and
freezegun do not affect it.
"""

import asyncio
import contextvars
import io
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, TypeVar

from judgefixtures.client.requests import GRACE
from judgefixtures.util.clock import elapsed

R = TypeVar("R")
PATIENCE = GRACE + 0.5  # seconds in which a coroutine has to end after Ctrl-C; a loop that is blocked is left alone


class _PipeEnd(io.FileIO):
    recv, send = io.FileIO.read, io.FileIO.write


class _Loop(asyncio.SelectorEventLoop):
    def time(self) -> float:
        return elapsed()

    def _make_self_pipe(self: Any) -> None:  # asyncio has no public way to replace its sockets
        self._ssock, self._csock = map(_PipeEnd, os.pipe(), ("rb", "wb"))
        for end in (self._ssock, self._csock):
            os.set_blocking(end.fileno(), False)
        self._internal_fds += 1
        self._add_reader(self._ssock.fileno(), self._read_from_self)


LOOP = asyncio.new_event_loop if os.name == "nt" else _Loop  # Windows waits for sockets alone


class OwnLoop:
    """Runs coroutines one after another on one event loop."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None
        self._main: asyncio.Task[Any] | None = None
        self._is_cancelled = False

    def run(self, main: Coroutine[Any, Any, R]) -> R:
        """Return a coroutine's result; interrupts cancel it."""
        self._runner = self._runner or asyncio.Runner(loop_factory=LOOP)
        self._main, self._is_cancelled = None, False
        known = self._known(main)
        return self._apart(partial(self._runner.run, known, context=contextvars.copy_context()), self._runner)

    async def _known(self, main: Coroutine[Any, Any, R]) -> R:
        self._main = asyncio.current_task()
        if self._is_cancelled:  # before it began
            main.close()
            raise asyncio.CancelledError
        return await main

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a last coroutine and close the loop."""
        if self._runner is None:
            return
        self.run(last())
        self._apart(self._runner.close, self._runner)
        self._runner = None

    def _apart(self, function: Callable[[], R], runner: asyncio.Runner) -> R:
        ended = Future[R]()
        thread = threading.Thread(target=_work, args=(ended, function), name="judgefixtures", daemon=True)
        loop = runner.get_loop()  # made here: two threads must not make it
        try:
            thread.start()
            while not wait([ended], 1.0).done:  # Windows heeds Ctrl-C between two waits
                pass
            thread.join()
            return ended.result()
        except BaseException:
            if not ended.done():  # the loop is left to what blocks it, if anything does
                before, self._runner = self._runner, None
                loop.call_soon_threadsafe(self._cancel)
                self._runner = before if wait([ended], PATIENCE).done else None
            raise
        finally:
            del ended  # the error that it holds refers to it

    def _cancel(self) -> None:
        """Cancel the main task only. The workers finish the answers in flight."""
        self._is_cancelled = True
        if self._main is not None:
            self._main.cancel()


def _work(ended: Future[R], function: Callable[[], R]) -> None:
    try:
        ended.set_result(function())
    except BaseException as error:
        ended.set_exception(error)
    finally:
        del ended
