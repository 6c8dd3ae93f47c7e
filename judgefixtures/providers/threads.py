"""Daemon threads for user code that may block or never return."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from judgefixtures.cassettes.calls import CALL, JudgeCall

R = TypeVar("R")
PATIENCE = 1.0  # seconds in which an event loop has to react


async def in_time(future: Future[R], seconds: float) -> R:
    """Return a future's result, or raise TimeoutError."""
    async with asyncio.timeout(seconds):
        return await asyncio.wrap_future(future)


class Worker:
    """A daemon thread that calls one function after another."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.thread = threading.Thread(target=self._work, name="judgefixtures-judge", daemon=True)
        self.thread.start()

    def call(self, function: Callable[..., Any], *arguments: Any, **more: Any) -> Future[Any]:
        """Call a function on the thread and return its future."""
        future: Future[Any] = Future()

        def job() -> None:
            with contextlib.suppress(InvalidStateError):  # nobody waits any longer
                try:
                    future.set_result(function(*arguments, **more))
                except BaseException as error:
                    future.set_exception(error)

        self._jobs.put(job)
        return future

    def end(self) -> None:
        """End the thread after its current call."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


class _Daemons(ThreadPoolExecutor):
    def submit(self, function: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        worker = Worker()
        future = worker.call(function, *arguments, **more)
        worker.end()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Return without waiting."""


class LoopThread:
    """An event loop on a daemon thread."""

    def __init__(self) -> None:
        self.loop = type(asyncio.get_running_loop())()
        self.loop.set_default_executor(_Daemons())
        self.loop.set_task_factory(self._task)
        self._calls: WeakKeyDictionary[asyncio.Task[Any], JudgeCall | None] = WeakKeyDictionary()
        self._stop = asyncio.Event()
        self._worker = Worker()
        self._worker.call(self._serve)
        self._worker.end()

    def start(self, coroutine: Coroutine[Any, Any, R]) -> Future[R]:
        """Start a coroutine in this context and return its future."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    @property
    def busy_with(self) -> JudgeCall | None:
        """The call that runs now, which may block the loop."""
        task = asyncio.current_task(self.loop)
        return None if task is None else self._calls.get(task)

    def _task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **more: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **more)
        self._calls[task] = CALL.get()
        return task

    async def reacts(self) -> bool:
        """Return whether the loop is not blocked."""
        pong: Future[None] = Future()
        with contextlib.suppress(TimeoutError, RuntimeError):  # closed
            self.loop.call_soon_threadsafe(_answer, pong)
            await in_time(pong, PATIENCE)
            return True
        return False

    def give_up(self, after: float) -> None:
        """End the loop `after` seconds after it reacts."""
        with contextlib.suppress(RuntimeError):  # closed
            self.loop.call_soon_threadsafe(self.loop.call_later, after, self._stop.set)

    def close(self) -> None:
        """Cancel all calls and close the loop, unless blocked."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._stop.set)
        self._worker.thread.join(PATIENCE)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._stop.wait())


def _answer(pong: Future[None]) -> None:
    if pong.set_running_or_notify_cancel():  # not where its time is over
        pong.set_result(None)
