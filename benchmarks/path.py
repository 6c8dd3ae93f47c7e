"""Path of one question: the frames from Gate.check to Provider.complete, and how often the folder changes on it.

    python benchmarks/path.py
    PYTHONPATH=../other python benchmarks/path.py   # another checkout

One pytest item records a simulated judge over a loopback connection, with its control. The script looks at the stacks
of the first question, which probes, and of the last one. A stack has two parts: the thread of the item, which waits
for the event loop, and the task of the loop that asks.

- A frame is a function of judgefixtures on a stack, its comprehensions included. Not counted: run/event_loop.py, which
  only changes the thread.
- A folder change is a call from a function in one folder of judgefixtures to a function in another one, made in the
  thread of the item by a function that is on one of the stacks. Each call counts, from the item's setup to its end.
  The script also prints the number of such calls that any function makes: most are about one pair, record or text.

Exit code 1 where there are more than 12 frames or 50 folder changes.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from gate import Bench, project

import judgefixtures
from judgefixtures.providers.openai import OpenAIProvider
from judgefixtures.simulator.server import serving

MOST_FRAMES, MOST_CHANGES = 12, 50
ROOT = f"{Path(judgefixtures.__file__).parent}{os.sep}"
THREAD = "run/event_loop.py"
Function = tuple[str, str]  # the file and the qualified name


def function_of(frame: FrameType | None) -> Function | None:
    """Return the function of a frame, a comprehension as the function that it is part of; None: it is not ours."""
    if frame is None or not frame.f_code.co_filename.startswith(ROOT):
        return None
    return frame.f_code.co_filename.removeprefix(ROOT), frame.f_code.co_qualname.partition(".<locals>")[0]


def stack_of(frame: FrameType | None) -> list[Function]:
    """Return our functions on a stack, the outermost first."""
    frames = []
    while frame is not None:
        frames.append(function_of(frame))
        frame = frame.f_back
    ours = [each for each in reversed(frames) if each is not None]
    return [each for each, _ in itertools.groupby(ours)]


class Recorder:
    """A pytest plugin that counts the calls between folders during an item, and takes the stack at each question."""

    def __init__(self) -> None:
        self.changes: Counter[Function] = Counter()  # by who calls
        self.stacks: list[list[Function]] = []
        self._complete = OpenAIProvider.complete

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, None, None]:
        """Watch an item."""
        sys.setprofile(self._note)
        yield
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        caller, callee = function_of(frame.f_back), function_of(frame)
        if event == "call" and caller and callee and Path(caller[0]).parts[0] != Path(callee[0]).parts[0]:
            self.changes[caller] += 1

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Take the stack at each call of the provider."""
        recorder, item_thread = self, threading.main_thread().ident

        async def complete(provider: Any, prompt: str, call: Any) -> Any:
            assert item_thread is not None
            waiting = sys._current_frames()[item_thread]
            asked = stack_of(sys._getframe(1))
            recorder.stacks.append([*stack_of(waiting), *asked, ("providers/openai.py", "OpenAIProvider.complete")])
            return await recorder._complete(provider, prompt, call)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(OpenAIProvider, "complete", complete)
            yield


def record_one_item() -> Recorder:
    """Run one item of pytest that records a simulated judge, and return what was seen."""
    recorder, output = Recorder(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), serving() as server, recorder.watching():
        project(Path(folder), server.url, Bench("simulated-noisy", "house-qa", 20, 2))
        options = ["-q", "-p", "no:xdist", "-k", "recency-new-old", "--judge-record", "missing"]
        with contextlib.redirect_stdout(output):
            ended = pytest.main(options, plugins=[recorder])
    if ended:
        raise SystemExit(output.getvalue())
    return recorder


def main() -> int:
    """Print the path, and return the exit code."""
    recorder = record_one_item()
    most = 0
    for title, stack in {"first question": recorder.stacks[0], "last question": recorder.stacks[-1]}.items():
        frames = [each for each in stack if each[0] != THREAD]
        most = max(most, len(frames))
        sys.stdout.write(f"{title}: {len(frames)} frames (at most {MOST_FRAMES})\n")
        sys.stdout.writelines(f"{number:4} {name:32} {file}\n" for number, (file, name) in enumerate(frames, 1))
    on_path = {each for stack in (recorder.stacks[0], recorder.stacks[-1]) for each in stack}
    changes = sum(count for caller, count in recorder.changes.items() if caller in on_path)
    sys.stdout.write(f"folder changes of one item, by functions on the path: {changes} (at most {MOST_CHANGES})\n")
    sys.stdout.write(f"folder changes of one item, by any function: {recorder.changes.total()}\n")
    return int(most > MOST_FRAMES or changes > MOST_CHANGES)


if __name__ == "__main__":
    sys.exit(main())
