"""Who owns the event loop, the sockets and the clock of a test: a run asks and replays whatever tests do with them.

A run is that of a script, of a notebook (where a loop runs) or of a test (where sockets and clocks may be replaced).
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import importlib
import importlib.util
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project import json_lines
from support.server import Answer, Asked, serving

from judgefixtures import Run
from judgefixtures.models.findings import Finding

MINE = """\
import asyncio
import json
import re

PLACES = []


def answer(prompt):
    PLACES.append(prompt)
    return json.dumps({"selected_response": 1 + (int(re.search("q([0-9]+)", prompt)[1]) & 1), "reason": "Better."})


def plain(prompt):
    return answer(prompt)


async def waits(prompt):
    await asyncio.sleep(0.001)
    return answer(prompt)


async def threads(prompt):
    return await asyncio.to_thread(answer, prompt)
"""
CONFIG = """\
control = false
[judges.plain]
provider = "python"
target = "own_loops_mine:plain"
[judges.waits]
provider = "python"
target = "own_loops_mine:waits"
[judges.threads]
provider = "python"
target = "own_loops_mine:threads"
[datasets.own]
path = "pairs.jsonl"
[gate]
vsr_tolerance = 0.3
"""
JUDGES = ("plain", "waits", "threads")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judges in Python, and 12 pairs."""
    (tmp_path / "own_loops_mine.py").write_text(MINE)
    (tmp_path / "judgefixtures.toml").write_text(CONFIG)
    (tmp_path / "pairs.jsonl").write_text(
        json_lines(
            {"id": f"p{n:02}", "question": f"q{n}", "response_1": "a", "response_2": "b", "gold": 1 + n % 2}
            for n in range(12)
        )
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("own_loops_mine", None)


def gated(folder: Path, judge: str, **options: Any) -> Finding:
    """Return what a run finds, which is closed where it was opened."""
    with Run.from_config(folder / "judgefixtures.toml", **options) as run:
        return run.gate("recency-new-old", judge=judge, dataset="own")


# --- whose loop -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("judge", JUDGES)
def test_a_run_in_a_running_loop_finds_the_same(folder: Path, judge: str) -> None:
    """A notebook or an async test runs a loop: the same finding, and the loop is that of before."""
    expected = gated(folder, judge)

    async def main() -> Finding:
        mine = asyncio.get_running_loop()
        found = gated(folder, judge)
        assert asyncio.get_running_loop() is mine
        await asyncio.sleep(0)
        return found

    assert asyncio.run(main()) == expected
    assert expected.status == "PASS"


def test_a_run_that_began_in_one_loop_goes_on_in_another(folder: Path) -> None:
    """One run, asked outside of a loop, in one, in another, and closed outside."""
    run = Run.from_config(folder / "judgefixtures.toml")

    async def ask() -> Finding:
        return run.gate("recency-new-old", judge="waits", dataset="own")

    found = [run.gate("recency-new-old", judge="waits", dataset="own"), asyncio.run(ask()), asyncio.run(ask())]
    run.close()
    run.close()
    assert found[0] == found[1] == found[2]
    assert asyncio.run(ask()) == found[0]  # a closed run opens again
    asyncio.run(_closed(run))


async def _closed(run: Run) -> None:
    run.close()


def test_a_recording_in_a_running_loop_is_that_of_a_script(folder: Path) -> None:
    """A server is asked from inside of a loop, and the replay finds the same."""

    def answering(asked: Asked) -> Answer:
        return asked.answered('{"selected_response": 1, "reason": "Better."}')

    async def main(**options: Any) -> Finding:
        return gated(folder, "served", **options)

    with serving(by=answering) as server:
        _add(folder, server.table("openai"))
        recorded = asyncio.run(main(record="missing"))
        assert len(server.asked) == 24
    assert asyncio.run(main()) == recorded
    assert gated(folder, "served") == recorded


def _add(folder: Path, table: dict[str, Any]) -> None:
    with (folder / "judgefixtures.toml").open("a") as file:
        file.write("[judges.served]\n" + "".join(f"{key} = {value!r}\n" for key, value in table.items()))


def test_the_loop_and_its_policy_of_the_thread_stay(folder: Path) -> None:
    """A loop that the caller has set and does not run is still set after a run was closed."""
    mine = asyncio.new_event_loop()
    asyncio.set_event_loop(mine)
    try:
        gated(folder, "waits")
        assert asyncio.get_event_loop_policy().get_event_loop() is mine
        assert not mine.is_closed()
    finally:
        asyncio.set_event_loop(None)
        mine.close()


def test_no_thread_and_no_loop_is_left(folder: Path) -> None:
    """What the run opened ends with it, and nothing is collected that was never closed."""
    before = set(threading.enumerate())
    gated(folder, "waits")
    gc.collect()
    assert set(threading.enumerate()) <= before


def test_a_context_reaches_the_judge(folder: Path) -> None:
    """A context variable that a fixture sets is seen by the judge's code, in every run of a loop anew."""
    tenant = contextvars.ContextVar("tenant", default="nobody")
    seen = set()
    mine = importlib.import_module("own_loops_mine")

    async def waits(prompt: str) -> str:
        seen.add(tenant.get())
        return mine.answer(prompt)

    mine.waits = waits
    with Run.from_config(folder / "judgefixtures.toml") as run:
        for name in ("one", "two"):
            tenant.set(name)
            run.gate("recency-new-old" if name == "one" else "placebo-listed-shown", judge="waits", dataset="own")
    assert seen == {"one", "two"}


class _Enough(BaseException):
    """What a plugin raises in the main thread when a test takes too long."""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarm")
@pytest.mark.parametrize("kind", ["waits", "blocks"])
def test_what_ends_a_test_from_outside_ends_its_questions(folder: Path, kind: str) -> None:
    """pytest-timeout raises in the main thread: the next test asks as ever, and no question of the first goes on."""
    mine = importlib.import_module("own_loops_mine")
    judge, asked = mine.waits, []

    async def hangs(prompt: str) -> str:
        asked.append(prompt)
        await asyncio.sleep(60) if kind == "waits" else time.sleep(8)
        return await judge(prompt)

    def ring(*_: object) -> None:
        raise _Enough

    before = signal.signal(signal.SIGALRM, ring)
    mine.waits = hangs
    run = Run.from_config(folder / "judgefixtures.toml")
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        began = time.monotonic()
        with pytest.raises(_Enough):
            run.gate("recency-new-old", judge="waits", dataset="own")
        assert time.monotonic() - began < 7
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    mine.waits = judge
    assert run.gate("placebo-listed-shown", judge="plain", dataset="own").status == "PASS"
    run.close()
    assert len(asked) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarm")
@pytest.mark.parametrize("at", ["start", "first-step"])
def test_what_ends_a_test_before_its_loop_runs_asks_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """An interrupt while the loop's thread starts, or before its first step, leaves no question and a run that works."""
    mine, asked = importlib.import_module("own_loops_mine"), []
    judge = mine.waits

    class Late(threading.Thread):
        def run(self) -> None:
            if self.name == "judgefixtures":
                time.sleep(0.3)
            super().run()

        def start(self) -> None:
            super().start()
            if self.name == "judgefixtures" and at == "start":
                raise _Enough

    async def counted(prompt: str) -> str:
        asked.append(prompt)
        return await judge(prompt)

    def ring(*_: object) -> None:
        raise _Enough

    before = signal.signal(signal.SIGALRM, ring)
    with Run.from_config(folder / "judgefixtures.toml") as run:
        mine.waits = counted
        try:
            with monkeypatch.context() as late:
                late.setattr(threading, "Thread", Late)
                if at == "first-step":
                    signal.setitimer(signal.ITIMER_REAL, 0.15)
                with pytest.raises(_Enough):
                    run.gate("recency-new-old", judge="waits", dataset="own")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            mine.waits = judge
        time.sleep(0.5)
        assert asked == []
        assert run.gate("placebo-listed-shown", judge="plain", dataset="own").status == "PASS"


def test_a_judge_that_runs_a_run_of_its_own(folder: Path) -> None:
    """Nested runs: a judge's code gates another judge while it is asked."""
    mine = importlib.import_module("own_loops_mine")
    judge, found = mine.waits, []

    async def nested(prompt: str) -> str:
        if not found:
            found.append(None)
            found[0] = gated(folder, "plain")
        return await judge(prompt)

    mine.waits = nested
    assert gated(folder, "waits").status == found[0].status == "PASS"


@pytest.mark.parametrize("library", ["trio", "nest_asyncio", "uvloop"])
def test_other_owners_of_a_loop(folder: Path, library: str) -> None:
    """Under trio, in a loop that nest_asyncio patched, with uvloop's loops (where they are installed): the same."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    import subprocess

    program = {
        "trio": "import trio\nasync def main(): return gated()\nfound = trio.run(main)",
        "nest_asyncio": "import asyncio, nest_asyncio\nnest_asyncio.apply()\nasync def main(): return gated()\n"
        "found = asyncio.run(main())",
        "uvloop": "import uvloop\nasync def main(): return gated()\nfound = uvloop.run(main())",
    }[library]
    text = (
        "from pathlib import Path\nfrom judgefixtures import Run\n\n\ndef gated():\n"
        "    with Run.from_config('judgefixtures.toml') as run:\n"
        "        return [run.gate('recency-new-old', judge=name, dataset='own').status for name in "
        f"{JUDGES!r}]\n\n\n{program}\nassert found == ['PASS'] * 3, found\n"
    )
    subprocess.run([sys.executable, "-W", "error::RuntimeWarning", "-c", text], cwd=folder, check=True, timeout=60)


# --- sockets ----------------------------------------------------------------------------------------------------

OPENED: list[Any] = []
WATCHING: list[bool] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.__new__" and WATCHING:
        OPENED.append(arguments)


@pytest.fixture
def no_socket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no socket be opened, as pytest-socket does, and count those that are, whoever opens them."""

    class Guarded(socket.socket):
        def __new__(cls, *_: Any, **__: Any) -> Any:
            raise RuntimeError("A test tried to use socket.socket.")

    if not OPENED:
        sys.addaudithook(_watch)
        OPENED.append("watched")
    del OPENED[1:]
    monkeypatch.setattr(socket, "socket", Guarded)
    WATCHING.append(True)
    yield
    WATCHING.clear()
    assert OPENED == ["watched"]


@pytest.mark.skipif(sys.platform == "win32", reason="event loops of Windows wait for sockets alone")
@pytest.mark.usefixtures("no_socket")
@pytest.mark.parametrize("judge", JUDGES)
def test_a_replay_of_a_function_opens_no_socket(folder: Path, judge: str) -> None:
    """The event loop, its threads and the function need none."""
    assert gated(folder, judge).status == "PASS"


@pytest.mark.skipif(sys.platform == "win32", reason="event loops of Windows wait for sockets alone")
@pytest.mark.parametrize("sdk", ["openai", "google", "anthropic"])
def test_a_replay_of_a_served_judge_opens_no_socket(folder: Path, sdk: str, request: pytest.FixtureRequest) -> None:
    """Nor does any SDK, from a client that is made in the test on."""
    if sdk == "anthropic":
        pytest.importorskip("anthropic")

    def answering(asked: Asked) -> Answer:
        return asked.answered('{"selected_response": 1, "reason": "Better."}')

    with serving(by=answering) as server:
        _add(folder, server.table(sdk))
        recorded = gated(folder, "served", record="missing")
    assert recorded.status != "ERROR"
    request.getfixturevalue("no_socket")
    assert gated(folder, "served") == recorded


# --- clocks -----------------------------------------------------------------------------------------------------

CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "clock_gettime")


@contextlib.contextmanager
def _patched() -> Iterator[None]:
    """Stop all of Python's clocks, as a test does that replaces them by hand."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CLOCKS:
            if hasattr(time, name):
                patch.setattr(time, name, lambda *_: 1_000_000_000)
        yield


def _freezegun() -> Any:
    return pytest.importorskip("freezegun").freeze_time("2001-09-09")


def _time_machine() -> Any:
    return pytest.importorskip("time_machine").travel("2001-09-09", tick=False)


STOPPED: list[Callable[[], Any]] = [_patched, _freezegun, _time_machine]


@pytest.mark.parametrize("stopped", STOPPED)
@pytest.mark.parametrize("judge", ["plain", "waits"])
def test_a_stopped_clock_stops_no_replay(folder: Path, judge: str, stopped: Callable[[], Any]) -> None:
    """Functions that wait, and those that do not."""
    with stopped():
        assert gated(folder, judge).status == "PASS"


@pytest.mark.parametrize("stopped", STOPPED)
def test_a_stopped_clock_stops_no_recording(folder: Path, stopped: Callable[[], Any]) -> None:
    """Retries, a pace, a limit that a server tells and a date of it: the recording ends, with the day of today."""
    refused = []

    def answering(asked: Asked) -> Answer:
        if len(refused) < 3:
            refused.append(asked)
            return Answer(429, b"{}", {"retry-after": "0.2"})
        answer = asked.answered('{"selected_response": 1, "reason": "Better."}')
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(REAL() + 1))
        left = {"x-ratelimit-remaining-requests": "90", "x-ratelimit-limit-requests": "100"}
        return Answer(200, answer.body, {**answer.headers, **left, "x-ratelimit-reset-requests": soon})

    with serving(by=answering) as server:
        _add(folder, server.table("openai", requests_per_minute=6000))
        with stopped():
            found = gated(folder, "served", record="missing")
    assert len(server.asked) == 27
    assert gated(folder, "served") == found
    recorded = (folder / "cassettes" / "served" / "own" / "recency-new-old.jsonl").read_text().partition("\n")[0]
    assert time.strftime("%Y-%m-%d", time.gmtime()) in recorded


REAL = time.time
