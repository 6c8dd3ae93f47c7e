"""Judges of the user's own code that ask a model several times for one example: no answer is another example's."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import random
import re
import sys
import types
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from support.asking import collect, some_pairs
from support.server import Answer, Asked, Server, serving, wire

from judgefixtures.cassettes import vcr_adapter
from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.cassette import RecordMode
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.config import build_config
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair
from judgefixtures.run.run import Run

PAIRS = some_pairs(6)
STEPS = {"prompt": "Write the steps of an evaluation."}
Function = Callable[[str], str | Awaitable[str]]


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> Callable[[Function], Judge]:
    """Return a way to make a judge of a function."""

    def make(function: Function) -> Judge:
        module = types.ModuleType("judge_of_steps")
        module.judge = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "judge_of_steps", module)
        return load_judge({"provider": "python", "target": "judge_of_steps:judge"}, "ours")

    return make


def conditions() -> tuple[Condition, Condition]:
    """Return the two conditions of a contrast."""
    contrast = Run(build_config({})).contrasts("recency")[0]
    return contrast.x, contrast.y


def ask(
    judge: Judge, root: Path, mode: RecordMode, pairs: Sequence[Pair] = PAIRS, repeats: int = 1, concurrency: int = 8
) -> list[str]:
    """Return the reasons of a judge's verdicts, arm by arm."""
    arms = [(condition, repeat) for condition in conditions() for repeat in range(repeats)]
    names = [condition.name for condition in conditions()]

    async def run() -> Any:
        try:
            return await collect(judge, pairs, arms, cassettes, concurrency)
        finally:
            await judge.close()

    with (
        CassetteStore(root, mode).open(judge, "own", names, pairs) as cassettes,
        record_http(only_sdks=False, offline=mode == "none"),
    ):
        return [one.verdict.reason for one in itertools.chain(*asyncio.run(run()))]


def drawing() -> Callable[[Asked], Answer]:
    """Return what answers every request with a draw of its own."""
    numbers = random.Random(1)
    return lambda _: wire(f"draw{numbers.getrandbits(64):016x}".encode())


def said(text: str) -> str:
    """Return a verdict with a reason."""
    return json.dumps({"selected_response": 1, "reason": text})


def in_steps(server: Server, *, blocking: bool = False) -> Function:
    """Return a judge that asks a question which no example is part of, and then one about the example."""
    url = f"{server.url}/v1/judge"

    async def at_once(prompt: str) -> str:
        async with httpx.AsyncClient() as client:
            steps = (await client.post(url, json=STEPS)).text
            return said(f"{steps} {(await client.post(url, json={'prompt': steps + prompt})).text}")

    def in_turn(prompt: str) -> str:
        steps = httpx.post(url, json=STEPS).text
        return said(f"{steps} {httpx.post(url, json={'prompt': steps + prompt}).text}")

    return in_turn if blocking else at_once


def draws(reasons: Sequence[str]) -> list[str]:
    """Return every draw that verdicts were made of."""
    return [draw for reason in reasons for draw in re.findall(r"draw[0-9a-f]{16}", reason)]


@pytest.mark.parametrize("blocking", [False, True], ids=["async", "blocking"])
def test_no_draw_is_shared_between_arms_or_examples(
    blocking: bool, judging: Callable[[Function], Judge], tmp_path: Path
) -> None:
    """What a judge asks of no example is drawn anew for every example, condition and repeat, and replays so."""
    with serving(by=drawing()) as server:
        judge = judging(in_steps(server, blocking=blocking))
        recorded = ask(judge, tmp_path, "missing", repeats=2)
        made = len(server.asked)
        assert made == 2 * 4 * len(PAIRS)
        assert len(set(draws(recorded))) == made
        assert ask(judge, tmp_path, "missing", repeats=2) == recorded
        assert len(server.asked) == made
    assert ask(judge, tmp_path, "none", PAIRS, 2, 1) == recorded
    rows = [line for path in tmp_path.rglob("recency*.jsonl") for line in path.read_text().splitlines()[1:]]
    assert len({json.loads(row)["digest"] for row in rows}) == made


def test_different_calls_at_once_replay_in_any_order(judging: Callable[[Function], Judge], tmp_path: Path) -> None:
    """Two different calls of one example that are in flight together get their own answers, whichever is first."""
    turns = random.Random(2)
    with serving(by=drawing()) as server:

        async def judged(prompt: str) -> str:
            async def one(what: str) -> tuple[str, str]:
                await asyncio.sleep(turns.random() / 50)
                async with httpx.AsyncClient() as client:
                    return what, (await client.post(f"{server.url}/v1/judge", json={"prompt": what})).text

            asked = ["for the first", "for the second", prompt]
            turns.shuffle(asked)
            return said(json.dumps(sorted(await asyncio.gather(*map(one, asked)))).replace(prompt[:40], "prompt"))

        judge = judging(judged)
        recorded = ask(judge, tmp_path, "missing")
        assert len(set(draws(recorded))) == len(server.asked) == 6 * len(PAIRS)
    for _ in range(3):
        assert ask(judge, tmp_path, "none", concurrency=1) == recorded


@pytest.fixture
def earlier(judging: Callable[[Function], Judge], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a server, its judge, and what it answered into recordings of the format before: found by request alone."""
    from judgefixtures.cassettes.cassette import Cassette

    make = Cassette.call

    def without_place(self: Cassette, *arguments: Any, **more: Any) -> Any:
        call = make(self, *arguments, **more)
        if hasattr(call, "place"):
            call.place = ""
        return call

    with serving(by=drawing()) as server:
        judge = judging(in_steps(server))
        with monkeypatch.context() as patch:
            patch.setattr(Cassette, "call", without_place)
            recorded = ask(judge, tmp_path, "missing", PAIRS[:4], concurrency=1)
        assert len(server.asked) == 2 * (4 + 1)  # the steps once a condition
        yield server, judge, recorded


def test_recordings_of_the_format_before_replay(earlier: Any, tmp_path: Path) -> None:
    """Answers that examples share replay as they did; `missing` pays for none of them again."""
    server, judge, recorded = earlier
    before = len(server.asked)
    content = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    assert ask(judge, tmp_path, "none", PAIRS[:4]) == recorded
    assert content == {path: path.read_bytes() for path in content}
    again = ask(judge, tmp_path, "missing", PAIRS[1:4])
    assert again == [*recorded[1:4], *recorded[5:]]
    assert len(server.asked) == before


def test_a_new_example_beside_recordings_of_before_has_draws_of_its_own(earlier: Any, tmp_path: Path) -> None:
    """An example that is added to such recordings takes none of the shared answers."""
    server, judge, recorded = earlier
    before = len(server.asked)
    more = ask(judge, tmp_path, "missing")
    assert [*more[:4], *more[6:10]] == recorded
    new = draws([*more[4:6], *more[10:]])
    assert len(set(new)) == len(new) == len(server.asked) - before == 8
    assert not set(new) & set(draws(recorded))
    assert ask(judge, tmp_path, "none") == more
    with pytest.raises(CassetteMissError):
        ask(judge, tmp_path, "none", some_pairs(7))


def test_a_redirect_to_an_address_that_cannot_be_read_keeps_its_answer(
    judging: Callable[[Function], Judge], tmp_path: Path
) -> None:
    """A server may send any `Location`: the recording holds the redirect, and the judge reads the same in a replay."""
    with serving(by=lambda _: Answer(307, b"", {"location": "http://[::1"})) as server:

        def judge(prompt: str) -> str:
            connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
            connection.request("POST", "/v1/judge", json.dumps({"prompt": prompt}))
            return said(str(connection.getresponse().status))

        made = judging(judge)
        recorded = ask(made, tmp_path, "missing")
    assert ask(made, tmp_path, "none") == recorded == ["307"] * 12


@pytest.mark.parametrize("text", ["One line.", "Two\nlines."])
def test_other_line_ends_are_looked_for_only_where_a_text_has_some(
    text: str, judging: Callable[[Function], Judge], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request for a pair of single lines has no other spelling: nothing more is computed for it."""
    spelled: list[bytes] = []
    monkeypatch.setattr(vcr_adapter, "with_crlf", lambda body, _: spelled.append(body) or body)
    with serving(by=drawing()) as server:
        made = judging(lambda prompt: httpx.post(f"{server.url}/v1/judge", json={"prompt": prompt}).text)
        ask(made, tmp_path, "missing", [replace(pair, question=text) for pair in some_pairs(1)])
    assert bool(spelled) == ("\n" in text)
