"""Ways to ask a judge about pairs without pytest, as a test item does, and to look at what was recorded."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from judgefixtures.cassettes.cassette import Cassette, RecordMode
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.client import retry
from judgefixtures.client.costs import CostMeter
from judgefixtures.client.model_client import RequestSet
from judgefixtures.client.requests import RequestExecution, run_requests
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.models.contrasts import NO_CUE, Condition
from judgefixtures.models.judgments import Judgment, judgments
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm, JudgeReply
from support.server import MODELS, base_url

FIRST_WAIT = 0.01  # what the tests make of patience.FIRST_WAIT
PATIENCE = 30.0  # seconds after which a test fails instead of waiting
AMBIENT = re.compile(r"(OPENAI|AZURE|GEMINI|GOOGLE|ANTHROPIC)_|(HTTPS?|ALL|NO)_PROXY\Z", re.IGNORECASE)

T = TypeVar("T")


@pytest.fixture
def quick_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back off for milliseconds, and let no variable of the machine that runs the tests play a part."""
    monkeypatch.setattr(retry, "FIRST_WAIT", FIRST_WAIT)
    for name in filter(AMBIENT.match, list(os.environ)):
        monkeypatch.delenv(name)


def table(sdk: str, url: str, **more: Any) -> dict[str, Any]:
    """Return a judge's table for a server of ours."""
    address = base_url(sdk, url)
    return {"provider": sdk, "model": MODELS[sdk], "base_url": address, "timeout": 5.0, "max_attempts": 4} | more


def a_judge(sdk: str, url: str, **more: Any) -> Judge:
    """Return a judge that asks a server of ours."""
    return load_judge(table(sdk, url, **more), "mine")


def ask(judge: Judge, prompt: str = "Question 1: which one?") -> JudgeReply:
    """Ask once, as one run does, and close the judge."""
    return finished(judge, judge.ask(prompt))


def finished(judge: Judge, question: Awaitable[T]) -> T:
    """Return what a question to a judge comes to, and close the judge."""

    async def once() -> T:
        try:
            async with asyncio.timeout(PATIENCE):
                return await question
        finally:
            await judge.close()

    return asyncio.run(once())


def some_pairs(count: int) -> list[Pair]:
    """Return pairs whose questions tell their numbers."""
    return [
        Pair(f"p{number:03}", f"Question {number}: which one?", f"One {number}.", f"Other {number}.")
        for number in range(count)
    ]


async def collect(
    judge: Any,
    pairs: Sequence[Pair],
    arms: Sequence[Arm],
    cassettes: Mapping[str, Cassette],
    concurrency: int,
    meter: CostMeter | None = None,
) -> list[tuple[Judgment, ...]]:
    """Return every arm's judgments in the order of the pairs, asked through cassettes that are open."""
    task = RequestSet(judge, pairs, arms)
    replies = await run_requests(RequestExecution(task, cassettes, concurrency, meter or CostMeter(judge.table)))
    return judgments(pairs, arms, replies, {})


def run(
    judge: Judge,
    folder: Path,
    pairs: Sequence[Pair],
    *,
    mode: RecordMode = "missing",
    conditions: Sequence[Condition] = (NO_CUE,),
    concurrency: int = 16,
    meter: CostMeter | None = None,
) -> list[Judgment]:
    """Return what a judge says about pairs in conditions, recorded or replayed as a test item does it."""

    async def session(cassettes: Mapping[str, Cassette]) -> list[Judgment]:
        arms = [(condition, 0) for condition in conditions]
        try:
            async with asyncio.timeout(PATIENCE):
                return list(itertools.chain(*await collect(judge, pairs, arms, cassettes, concurrency, meter)))
        finally:
            await judge.close()

    names = [condition.name for condition in conditions]
    with (
        CassetteStore(folder, mode).open(judge, "own", names, pairs) as cassettes,
        record_http(only_sdks=True, offline=mode == "none"),
    ):
        return asyncio.run(session(cassettes))


def rows(folder: Path, condition: str = "no-cue") -> list[dict[str, Any]]:
    """Return the recorded rows of a condition, without the header."""
    lines = (folder / "mine" / "own" / f"{condition}.jsonl").read_text().splitlines()
    return [row for line in lines if "digest" in (row := json.loads(line))]


def header(folder: Path, condition: str = "no-cue") -> dict[str, Any]:
    """Return the header of a condition's recording."""
    with (folder / "mine" / "own" / f"{condition}.jsonl").open() as file:
        return json.loads(file.readline())
