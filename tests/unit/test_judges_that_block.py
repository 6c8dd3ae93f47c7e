"""Judges of the user's own code that block or never return: their timeout holds, the run ends, and the process, too."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.asking import finished, some_pairs
from support.forked import completed, run_module
from support.project import json_lines, rows_of, suite, uncontrolled
from support.server import serving, wire
from test_own_draws import ask as ask_pairs

from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.models.replies import JudgeReply
from judgefixtures.providers import threads

VERDICT = '{"selected_response": 1, "reason": "better"}'
EVER = 600.0


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Judge]:
    """Return a way to make a judge of a function, which has half a second."""

    def make(function: Any, **more: Any) -> Judge:
        module = types.ModuleType("blocking_judge")
        module.judge = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "blocking_judge", module)
        return load_judge({"provider": "python", "target": "blocking_judge:judge", "timeout": 0.5, **more}, "ours")

    return make


def sleeping(_prompt: str) -> str:
    """Block in C code."""
    time.sleep(EVER)
    return VERDICT


def waiting(_prompt: str) -> str:
    """Wait for what never comes."""
    threading.Event().wait()
    return VERDICT


def spinning(_prompt: str) -> str:
    """Never return, and never rest."""
    while True:
        pass


async def pending(_prompt: str) -> str:
    """Wait for what never comes, and let others run."""
    await asyncio.Event().wait()
    return VERDICT


async def blocking(prompt: str) -> str:
    """Block the event loop."""
    return sleeping(prompt)


async def stubborn(_prompt: str) -> str:
    """Go on whatever cancels it."""
    while True:
        try:
            await asyncio.sleep(EVER)
        except asyncio.CancelledError:
            continue


async def in_a_thread(prompt: str) -> str:
    """Block a thread of the event loop."""
    return await asyncio.to_thread(sleeping, prompt)


def later(prompt: str) -> Any:
    """Return at once what blocks when it is awaited."""
    return blocking(prompt)


FUNCTIONS = [sleeping, waiting, pending, blocking, stubborn, in_a_thread, later]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_timeout_holds_and_says_so(function: Any, judging: Callable[..., Judge]) -> None:
    """A judge that does not answer in its time has answered nothing: an invalid verdict, soon, and its key is named."""
    judge, began = judging(function), time.monotonic()
    reply = finished(judge, judge.ask("Which?"))
    assert time.monotonic() - began < 6
    assert reply.invalid == "timeout"
    assert "0.5 s" in reply.detail
    assert "timeout" in reply.detail


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("mode", ["missing", "none"])
def test_others_are_answered_all_the_same(
    function: Any, mode: Any, judging: Callable[..., Judge], tmp_path: Path
) -> None:
    """Examples beside the one that blocks have their verdicts, recorded or replayed, in whichever order they come."""
    asynchronous = asyncio.iscoroutinefunction(function)
    if not asynchronous:

        def judge(prompt: str) -> Any:
            return function(prompt) if "Question 2" in prompt else VERDICT
    else:

        async def judge(prompt: str) -> Any:
            return await function(prompt) if "Question 2" in prompt else VERDICT

    assert ask_pairs(judging(judge), tmp_path, mode) == [*["better"] * 2, "", *["better"] * 5, "", *["better"] * 3]


def test_a_loop_that_was_given_up_ends(
    judging: Callable[..., Judge], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Once it reacts again its thread ends and nothing is logged; calls that it has by then are answered."""
    monkeypatch.setattr(threads, "PATIENCE", 0.1)
    loops = []

    async def judge(prompt: str) -> str:
        loops.append(threading.current_thread())
        if prompt == "blocks":
            time.sleep(0.8)
        return VERDICT

    async def both(made: Judge) -> list[JudgeReply]:
        first = asyncio.create_task(made.ask("blocks"))
        await asyncio.sleep(0.45)
        return [await made.ask("waits"), await first]

    made = judging(judge, max_attempts=1)
    assert [reply.invalid for reply in finished(made, both(made))] == [None, "timeout"]
    loops[0].join(5)
    assert not any(each.is_alive() for each in loops)
    assert caplog.records == []


def test_the_time_of_a_function_begins_with_its_turn(judging: Callable[..., Judge], tmp_path: Path) -> None:
    """Functions that block are asked one at a time: those that wait for their turn lose nothing of their time."""

    def judge(_prompt: str) -> str:
        time.sleep(0.1)
        return VERDICT

    assert ask_pairs(judging(judge), tmp_path, "missing", concurrency=16) == ["better"] * 12


def test_nothing_is_paid_for_after_the_time(judging: Callable[..., Judge], tmp_path: Path) -> None:
    """A function whose time is over asks no further; what it asked before is kept and not asked again."""
    slow = [True]
    with serving(by=lambda _: wire(b"step")) as server:

        def judge(prompt: str) -> str:
            httpx.post(f"{server.url}/v1/judge", json={"prompt": prompt, "step": 1})
            time.sleep(3.5 if slow[0] else 0.0)
            httpx.post(f"{server.url}/v1/judge", json={"prompt": prompt, "step": 2})
            return VERDICT

        made = judging(judge, timeout=2.5)
        assert ask_pairs(made, tmp_path, "missing", some_pairs(2), concurrency=1) == [""] * 4
        time.sleep(1.5)
        steps = [asked.body["step"] for asked in server.asked]
        assert steps.count(1) == 4
        assert steps.count(2) <= 1, "the last one may wake up after the run, where nobody sees it"
        late = steps.count(2)
        slow[0] = False
        assert ask_pairs(made, tmp_path, "missing", some_pairs(2)) == ["better"] * 4
        assert sorted(asked.body["step"] for asked in server.asked) == [1] * 4 + [2] * (4 + late)
    assert ask_pairs(made, tmp_path, "none", some_pairs(2)) == ["better"] * 4


CONFIGURATION = """
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
judge = "ours"
[tool.judgefixtures.judges.ours]
provider = "python"
target = "judging:judge"
timeout = 0.3
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
balance_positions = false
"""
SOURCES = {
    "sync": "import time\n\n\ndef judge(prompt):\n    time.sleep(600)\n",
    "busy": "def judge(prompt):\n    while True:\n        pass\n",
    "async": "import time\n\n\nasync def judge(prompt):\n    time.sleep(600)\n",
    "thread": "import asyncio, time\n\n\nasync def judge(prompt):\n    await asyncio.to_thread(time.sleep, 600)\n",
}


@pytest.mark.parametrize(
    ("source", "arguments"),
    [*((source, ()) for source in SOURCES), ("sync", ("-n", "2")), ("async", ("-n", "2")), ("sync", ("none",))],
)
@pytest.mark.whole
def test_the_run_and_the_process_end(source: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    """A judge that never returns costs its timeouts: pytest ends, says why, and so does its process."""
    files = {
        "pyproject.toml": uncontrolled(CONFIGURATION),
        "pairs.jsonl": json_lines(rows_of(some_pairs(3))),
        "judging.py": SOURCES[source],
        "test_judge.py": suite("recency"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    mode = ("--judge-record", "none") if "none" in arguments else ("--judge-record", "missing")
    options = [
        "-p",
        "no:cacheprovider",
        *mode,
        "--judge-report",
        "report",
        *(each for each in arguments if each != "none"),
    ]
    ran = completed(run_module("pytest", tmp_path, "--judge-force", *options))
    assert ran.returncode != 0, ran.stdout
    assert "timeout" in ran.stdout, ran.stdout
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert report
    assert "Traceback" not in ran.stdout + ran.stderr, ran.stdout + ran.stderr
