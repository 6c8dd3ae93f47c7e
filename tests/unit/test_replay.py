"""Recording and replaying HTTP: every client, both SDKs, one call or many; nothing secret, nothing unnoticed.

The judges are recorded over real HTTP from a loopback server of the test's, and replayed when it is gone.
What must hold and does not yet is marked `suspected`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import errno
import gzip
import hashlib
import http.client
import importlib
import inspect
import itertools
import json
import os
import re
import shlex
import socket
import ssl
import subprocess
import sys
import threading
import types
import urllib.request
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import aiohttp
import httpx
import httpx2
import pytest
import requests
import urllib3
import urllib3.connection
import urllib3.connectionpool
import vcr.cassette
import vcr.patch
from google import genai
from hypothesis import given
from hypothesis import strategies as st
from openai import AsyncOpenAI
from support.asking import collect
from support.project import Project, Ran, rows_of, suite
from support.rendered import lines_about
from support.server import Answer, Answering, Asked, Server, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes import files
from judgefixtures.cassettes.cache_detection import IDS, response_origin
from judgefixtures.cassettes.calls import CALL, CassetteMissError
from judgefixtures.cassettes.cassette import RecordMode
from judgefixtures.cassettes.files import CassetteError, CassetteFile, CassetteRow
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.cassettes.vcr_adapter import endpoint_digest, record_http, request_digest
from judgefixtures.checks import AccuracyCheck, ContrastCheck, PlanCheck, SwapCheck
from judgefixtures.checks.base import CheckId
from judgefixtures.client.retry import FIRST_WAIT
from judgefixtures.judges.judge import FatalJudgeError, Judge, load_judge
from judgefixtures.models.contrasts import Condition, contrasts
from judgefixtures.models.pairs import Pair, balance_gold_position
from judgefixtures.providers import http_library
from judgefixtures.simulator import server as simulator

pytestmark = pytest.mark.whole

pytest_plugins = ["pytester"]

(RECENCY,) = contrasts("recency")
CONDITIONS = (RECENCY.x, RECENCY.y)
NAMES = tuple(condition.name for condition in CONDITIONS)
JSON = "application/json"
CONCURRENCY = 8
FAILED = (AssertionError, pytest.fail.Exception)


def suspected(reason: str, **more: Any) -> pytest.MarkDecorator:
    """Mark what must hold and does not yet: whoever mends it removes the mark."""
    return pytest.mark.xfail(reason=reason, **{"raises": FAILED, "strict": True, **more})


def some_pairs(number: int) -> tuple[Pair, ...]:
    """Return pairs that differ."""
    return tuple(Pair(f"p{n:02}", f"Question {n}?", f"One {n}.", f"Two {n}.") for n in range(number))


PAIRS = some_pairs(6)


# --- a server of the test's -------------------------------------------------------------------------------


def verdict(reason: str, choice: int = 1) -> str:
    """Return a judge's answer."""
    return json.dumps({"selected_response": choice, "reason": reason})


def raw(body: bytes = b"", status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with exactly these bytes and headers."""
    return Answer(status, body, {"content-type": JSON} if headers is None else headers)


def fingerprint(text: str) -> str:
    """Return what tells one prompt from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def by_prompt(asked: Asked) -> Answer:
    """Answer with a reason that tells one prompt from another."""
    return asked.answered(verdict(fingerprint(asked.prompt)))


def loopback(by: Answering = by_prompt) -> AbstractContextManager[Server]:
    """Serve while the block runs, on connections that stay open; afterwards nobody listens there."""
    return serving(by=by, keep_alive=True)


# --- judges and runs --------------------------------------------------------------------------------------

Function = Callable[[str], str | Awaitable[str]]
Client = Callable[..., Any]


@pytest.fixture
def python_judge(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Judge]:
    """Return a function that makes a judge of a function."""

    def make(function: Function, **keys: Any) -> Judge:
        module = types.ModuleType("judge_under_test")
        module.judge = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "judge_under_test", module)
        return load_judge({"provider": "python", "target": "judge_under_test:judge", **keys}, "ours")

    return make


def sdk_judge(provider: str, url: str, **keys: Any) -> Judge:
    """Return a judge that is asked through an official SDK."""
    base_url = f"{url}/v1" if provider == "openai" else url
    return load_judge({"provider": provider, "model": "m", "base_url": base_url, **keys}, "ours")


Arm = tuple[Condition, int]
Answers = dict[str, list[tuple[int | None, str, str | None]]]
ARMS: tuple[Arm, ...] = tuple((condition, 0) for condition in CONDITIONS)


def ask(
    judge: Judge,
    root: Path,
    mode: RecordMode,
    pairs: Sequence[Pair] = PAIRS,
    concurrency: int = CONCURRENCY,
    arms: Sequence[Arm] = ARMS,
) -> Answers:
    """Ask a judge about pairs in conditions and repeats, as a test item does, and return its verdicts."""
    names = list(dict.fromkeys(condition.name for condition, _ in arms))

    async def run() -> Any:
        try:
            return await collect(judge, pairs, arms, cassettes, concurrency)
        finally:
            await judge.close()

    with (
        CassetteStore(root, mode).open(judge, "own", names, pairs) as cassettes,
        record_http(only_sdks=not judge.is_opaque, offline=mode == "none"),
    ):
        judgments = asyncio.run(run())
    return {
        f"{condition.name}{repeat or ''}": [
            (one.verdict.selected_response, one.verdict.reason, one.verdict.invalid) for one in found
        ]
        for (condition, repeat), found in zip(arms, judgments, strict=True)
    }


def cassette(root: Path, condition: str = NAMES[0]) -> CassetteFile:
    """Return what is recorded of a condition."""
    return CassetteFile(root / "ours" / "own" / f"{condition}.jsonl")


def kept(root: Path) -> list[CassetteRow]:
    """Return every row of both conditions."""
    return [row for name in NAMES for row in cassette(root, name).read_rows()]


def expected(judge: Judge, pairs: Sequence[Pair] = PAIRS) -> Answers:
    """Return what the loopback server answers unless told otherwise."""
    return {
        condition.name: [(1, fingerprint(judge.prompt(pair, condition)), None) for pair in pairs]
        for condition in CONDITIONS
    }


PATCHED = (
    (http.client, "HTTPConnection"),
    (http.client, "HTTPSConnection"),
    (urllib3.connection, "HTTPConnection"),
    (urllib3.connection, "HTTPSConnection"),
    (urllib3.connection, "VerifiedHTTPSConnection"),
    (urllib3.connectionpool, "is_connection_dropped"),
    *(
        (pool, name)
        for pool in (urllib3.HTTPConnectionPool, urllib3.HTTPSConnectionPool)
        for name in ("ConnectionCls", "_get_conn", "_new_conn")
    ),
    *((module.HTTPTransport, "handle_request") for module in (httpx, httpx2)),
    *((module.AsyncHTTPTransport, "handle_async_request") for module in (httpx, httpx2)),
    (aiohttp.ClientSession, "_request"),
    (socket.socket, "connect"),
    (socket.socket, "connect_ex"),
    (socket, "getaddrinfo"),
)
ABSENT = object()


def patched() -> list[Any]:
    """Return what is found in the places that a recording patches."""
    return [getattr(owner, name) for owner, name in PATCHED]


@pytest.fixture(autouse=True)
def _clients_as_they_were() -> Iterator[None]:
    """Put the clients back as they were, so that a test that fails disturbs no other."""
    before = [vars(owner).get(name, ABSENT) for owner, name in PATCHED]
    yield
    for (owner, name), value in zip(PATCHED, before, strict=True):
        if value is not ABSENT:
            setattr(owner, name, value)
        elif name in vars(owner):
            delattr(owner, name)


# --- the clients ------------------------------------------------------------------------------------------


TLS = ssl.create_default_context()  # which clients make anew each time, at the price of many calls


def by_requests(url: str, sent: Any) -> bytes:
    return requests.post(url, json=sent).content


def by_urllib3(url: str, sent: Any) -> bytes:
    with urllib3.PoolManager() as pool:
        return pool.request("POST", url, json=sent).data


def by_urllib(url: str, sent: Any) -> bytes:
    request = urllib.request.Request(url, json.dumps(sent).encode(), {"content-type": JSON})
    with urllib.request.urlopen(request) as response:
        body, coding = response.read(), response.headers.get("content-encoding")
    return {"gzip": gzip.decompress, "deflate": zlib.decompress}.get(coding, bytes)(body)


def by_httpx(url: str, sent: Any) -> bytes:
    return httpx.post(url, json=sent, verify=TLS).content


async def by_httpx_async(url: str, sent: Any) -> bytes:
    async with httpx.AsyncClient(verify=TLS) as client:
        return (await client.post(url, json=sent)).content


def by_httpx2(url: str, sent: Any) -> bytes:
    return httpx2.post(url, json=sent, verify=TLS).content


async def by_httpx2_async(url: str, sent: Any) -> bytes:
    async with httpx2.AsyncClient(verify=TLS) as client:
        return (await client.post(url, json=sent)).content


async def by_aiohttp(url: str, sent: Any) -> bytes:
    async with aiohttp.ClientSession() as session, session.post(url, json=sent) as response:
        return await response.read()


async def by_aiohttp_data(url: str, sent: Any) -> bytes:
    content = json.dumps(sent).encode()
    async with aiohttp.ClientSession() as session, session.post(url, data=content) as response:
        return await response.read()


CLIENTS = (
    by_requests,
    by_urllib3,
    by_urllib,
    by_httpx,
    by_httpx_async,
    by_httpx2,
    by_httpx2_async,
    by_aiohttp,
    by_aiohttp_data,
)


def clients(without: Client | None = None, **marks: Any) -> pytest.MarkDecorator:
    """Parametrize a test over every client (but one), with marks for some."""
    chosen = [client for client in CLIENTS if client is not without]
    return pytest.mark.parametrize(
        "client",
        [pytest.param(client, id=client.__name__[3:], marks=marks.get(client.__name__, ())) for client in chosen],
    )


def through(client: Client, url: str) -> Function:
    """Return a judge's function that asks once through a client."""
    if inspect.iscoroutinefunction(client):

        async def judge(prompt: str) -> str:
            return (await client(f"{url}/v1/judge", {"prompt": prompt})).decode()

        return judge
    return lambda prompt: client(f"{url}/v1/judge", {"prompt": prompt}).decode()


@clients()
def test_every_client_is_recorded_and_replayed(
    client: Client, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """With calls in flight each client's answers are kept with their pairs, and replay without a server."""
    pairs = some_pairs(40)
    with loopback() as server:
        judge = python_judge(through(client, server.url))
        assert ask(judge, tmp_path, "missing", pairs) == expected(judge, pairs)
        assert Counter(asked.prompt for asked in server.asked) == {
            judge.prompt(pair, condition): 1 for pair in pairs for condition in CONDITIONS
        }
    assert len(kept(tmp_path)) == 2 * len(pairs)
    assert ask(judge, tmp_path, "none", pairs) == expected(judge, pairs)
    assert ask(judge, tmp_path, "none", pairs, concurrency=1) == expected(judge, pairs)


@clients()
def test_every_client_is_recorded_one_call_at_a_time(
    client: Client, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Without concurrency too: what was recorded replays, and recording again asks and changes nothing."""
    with loopback() as server:
        judge = python_judge(through(client, server.url))
        assert ask(judge, tmp_path, "missing", concurrency=1) == expected(judge)
        before = [path.read_bytes() for path in sorted(tmp_path.rglob("*.jsonl"))]
        assert ask(judge, tmp_path, "missing", concurrency=1) == expected(judge)
        assert len(server.asked) == 2 * len(PAIRS)
    assert [path.read_bytes() for path in sorted(tmp_path.rglob("*.jsonl"))] == before
    assert ask(judge, tmp_path, "none", concurrency=1) == expected(judge)


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_both_sdks_are_recorded_and_replayed(provider: str, tmp_path: Path) -> None:
    """With calls in flight both SDKs' answers are kept and replay through a new client, without a server."""
    pairs = some_pairs(40)
    with loopback() as server:
        judge = sdk_judge(provider, server.url)
        assert ask(judge, tmp_path, "missing", pairs) == expected(judge, pairs)
        assert len(server.asked) == 2 * len(pairs)
        assert ask(sdk_judge(provider, server.url), tmp_path, "missing", pairs) == expected(judge, pairs)
        assert len(server.asked) == 2 * len(pairs)
    for concurrency in (1, CONCURRENCY):
        assert ask(sdk_judge(provider, server.url), tmp_path, "none", pairs, concurrency) == expected(judge, pairs)


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_a_replayed_row_is_read_once(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """vcrpy asks whether there is an answer and then for it: the row is looked up and read once for both."""
    with loopback() as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing")
    found: Counter[str] = Counter()
    find = CassetteFile.find

    def counted(self: CassetteFile, digest: str) -> CassetteRow | None:
        found[digest] += 1
        return find(self, digest)

    monkeypatch.setattr(CassetteFile, "find", counted)
    assert ask(sdk_judge(provider, server.url), tmp_path, "none") == recorded
    assert set(found.values()) == {1}
    assert len(found) == 2 * len(PAIRS)


@pytest.mark.parametrize(("provider", "model"), [("openai", "simulated-silent"), ("google", "simulated-candid")])
def test_the_simulated_judges_replay(provider: str, model: str, tmp_path: Path) -> None:
    """What a simulated judge answered is what replays, and each question was asked once."""
    with simulator.serving() as server:
        judge = sdk_judge(provider, server.url, model=model)
        recorded = ask(judge, tmp_path, "missing")
        assert server.requests == 2 * len(PAIRS)
    assert {choice for choices in recorded.values() for choice, _, _ in choices} <= {1, 2}
    assert ask(sdk_judge(provider, server.url, model=model), tmp_path, "none") == recorded


def test_a_run_leaves_every_client_as_it_was(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """After a recording, a replay and a miss no client and no socket is patched any more."""
    before = patched()
    with loopback() as server:
        judge = python_judge(through(by_httpx, server.url))
        ask(judge, tmp_path, "missing")
        assert patched() == before
    ask(judge, tmp_path, "none")
    assert patched() == before
    with pytest.raises(CassetteMissError):
        ask(judge, tmp_path / "empty", "none")
    assert patched() == before


def outside(client: Client, url: str) -> bytes:
    """Call a client outside of any judge call."""
    answer = client(f"{url}/v1/judge", {"prompt": "mine"})
    return asyncio.run(answer) if inspect.isawaitable(answer) else answer


@clients()
def test_http_outside_of_a_judge_call_passes(client: Client, tmp_path: Path) -> None:
    """While a context is open, calls that are no judge's go to the network, and nothing is kept of them."""
    with loopback() as server:
        judge = sdk_judge("openai", server.url)
        with (
            CassetteStore(tmp_path, "missing").open(judge, "own", NAMES, PAIRS),
            record_http(only_sdks=False, offline=False),
        ):
            for number in (1, 2):
                assert outside(client, server.url) == verdict(fingerprint("mine")).encode()
                assert len(server.asked) == number
    assert kept(tmp_path) == []


def test_patching_what_the_sdks_use_leaves_the_rest() -> None:
    """For an SDK's judge nothing but httpx2 is patched, and httpx, which older versions of the SDKs send through."""
    before = dict(zip(PATCHED, patched(), strict=True))
    with record_http(only_sdks=True, offline=False):
        during = dict(zip(PATCHED, patched(), strict=True))
    assert {
        owner.__module__.partition(".")[0]
        for (owner, name) in PATCHED
        if during[owner, name] is not before[owner, name]
    } == {"httpx", "httpx2"}


# --- several requests in a call ---------------------------------------------------------------------------


def test_several_requests_of_one_call_replay(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """A judge that asks twice, the second time about the first answer, replays both requests of each call."""
    with loopback() as server:

        async def judge_twice(prompt: str) -> str:
            draft = json.loads(await by_httpx_async(f"{server.url}/draft", {"prompt": prompt}))
            return (await by_httpx_async(f"{server.url}/final", {"prompt": draft["reason"]})).decode()

        judge = python_judge(judge_twice)
        recorded = ask(judge, tmp_path, "missing")
        assert len(server.asked) == 4 * len(PAIRS)
    assert recorded == {
        name: [(1, fingerprint(reason), None) for _, reason, _ in found] for name, found in expected(judge).items()
    }
    assert ask(judge, tmp_path, "none") == recorded


def test_a_body_that_is_quoted_in_the_next_request_replays(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """A judge that sends the text of a first answer on, as it came, finds the second answer in a replay."""
    with loopback() as server:

        async def judge_twice(prompt: str) -> str:
            draft = await by_httpx_async(f"{server.url}/draft", {"prompt": prompt})
            return (await by_httpx_async(f"{server.url}/final", {"prompt": draft.decode()})).decode()

        judge = python_judge(judge_twice)
        recorded = ask(judge, tmp_path, "missing")
    assert ask(judge, tmp_path, "none") == recorded


@pytest.mark.parametrize("at_once", [False, True])
def test_the_same_request_several_times_in_a_call(
    at_once: bool, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """A judge that samples the same request three times in a call gets its three answers back."""
    numbers: Counter[str] = Counter()

    def sample(asked: Asked) -> Answer:
        numbers[asked.prompt] += 1
        return asked.answered(verdict(str(numbers[asked.prompt])))

    with loopback(sample) as server:
        seen: list[list[str]] = []

        async def judge_thrice(prompt: str) -> str:
            calls = [by_httpx_async(f"{server.url}/v1/judge", {"prompt": prompt}) for _ in range(3)]
            answers = await asyncio.gather(*calls) if at_once else [await call for call in calls]
            seen.append([json.loads(answer)["reason"] for answer in answers])
            return verdict("sampled")

        judge = python_judge(judge_thrice)
        ask(judge, tmp_path, "missing")
        assert len(server.asked) == 6 * len(PAIRS)
        ask(judge, tmp_path, "missing")
        assert len(server.asked) == 6 * len(PAIRS)
    ask(judge, tmp_path, "none")
    assert len(seen) == 3 * 2 * len(PAIRS)
    assert all((sorted(found) if at_once else found) == ["1", "2", "3"] for found in seen)


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_identical_prompts_in_repeats_have_answers_of_their_own(provider: str, tmp_path: Path) -> None:
    """The same prompts in several repeats at once keep one answer a repeat, and replay it in that repeat."""
    count = iter(range(1000))
    arms = [(RECENCY.x, repeat) for repeat in range(4)]
    with loopback(lambda asked: asked.answered(verdict(f"answer {next(count)}"))) as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing", arms=arms)
        assert len(server.asked) == 4 * len(PAIRS)
        more = ask(sdk_judge(provider, server.url), tmp_path, "missing", arms=[*arms, (RECENCY.x, 4)])
        assert len(server.asked) == 5 * len(PAIRS)
    assert len({reason for found in more.values() for _, reason, _ in found}) == 5 * len(PAIRS)
    assert recorded.items() <= more.items()
    assert ask(sdk_judge(provider, server.url), tmp_path, "none", arms=[*arms[::-1], (RECENCY.x, 4)]) == more
    with pytest.raises(CassetteMissError, match="repeat 5"):
        ask(sdk_judge(provider, server.url), tmp_path, "none", arms=[(RECENCY.x, 5)])


def failing_first(statuses: Sequence[int], reply: Answering) -> Answering:
    """Answer every prompt with these statuses before the answer."""
    seen: Counter[str] = Counter()

    def answer(asked: Asked) -> Answer:
        seen[asked.prompt] += 1
        if seen[asked.prompt] > len(statuses):
            return reply(asked)
        headers = {"content-type": JSON, "retry-after": "0"}
        return raw(b'{"error": {"message": "not now"}}', statuses[seen[asked.prompt] - 1], headers)

    return answer


def test_errors_that_a_judge_retries_itself_are_not_recorded(
    python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """A judge's own retries after 500 and 429 leave the answer alone, and a replay asks once a call."""
    attempts: list[int] = []
    with loopback(failing_first([500, 429, 503], lambda asked: asked.answered(verdict("at last")))) as server:

        async def retrying(prompt: str) -> str:
            async with httpx.AsyncClient(verify=TLS) as client:
                for attempt in range(1, 9):
                    response = await client.post(f"{server.url}/v1/judge", json={"prompt": prompt})
                    if response.status_code == 200:
                        attempts.append(attempt)
                        return response.text
            raise AssertionError("never answered")

        judge = python_judge(retrying)
        recorded = ask(judge, tmp_path, "missing")
        assert set(attempts) == {4}
    assert [row.status for row in kept(tmp_path)] == [200] * 2 * len(PAIRS)
    attempts.clear()
    assert ask(judge, tmp_path, "none") == recorded
    assert attempts == [1] * 2 * len(PAIRS)


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 500])
@pytest.mark.parametrize("provider", ["openai", "google"])
def test_errors_that_the_retry_layer_retries_are_not_recorded(provider: str, status: int, tmp_path: Path) -> None:
    """After a passing error the answer alone is kept: a replay meets no error and waits for nothing."""
    answers = failing_first([status], lambda asked: asked.answered(verdict(fingerprint(asked.prompt))))
    with loopback(answers) as server:
        judge = sdk_judge(provider, server.url)
        assert ask(judge, tmp_path, "missing", PAIRS[:2]) == expected(judge, PAIRS[:2])
        assert len(server.asked) == 2 * 4
    assert [row.status for row in kept(tmp_path)] == [200] * 4
    assert ask(sdk_judge(provider, server.url, max_attempts=1), tmp_path, "none", PAIRS[:2]) == expected(
        judge, PAIRS[:2]
    )


def test_a_retried_call_does_not_pay_its_first_request_again(
    python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Where the second request fails and the call is retried, the first one's recorded answer is used."""
    failing = failing_first([503], lambda asked: asked.answered(verdict("final")))
    with loopback() as server:
        draft = server.answering
        server.answering = lambda asked: draft(asked) if asked.path == "/draft" else failing(asked)

        async def judge_twice(prompt: str) -> str:
            await by_httpx_async(f"{server.url}/draft", {"prompt": prompt})
            async with httpx.AsyncClient(verify=TLS) as client:
                response = await client.post(f"{server.url}/final", json={"prompt": prompt})
                response.raise_for_status()
                return response.text

        judge = python_judge(judge_twice)
        recorded = ask(judge, tmp_path, "missing")
        drafts = Counter(asked.prompt for asked in server.asked if asked.path == "/draft")
    assert ask(judge, tmp_path, "none") == recorded
    assert set(drafts.values()) == {1}


@pytest.mark.parametrize("provider", ["openai", "google"])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda asked: asked.answered(""), id="no-text"),
        pytest.param(lambda asked: asked.answered("I would rather not say."), id="no-verdict"),
    ],
)
def test_an_invalid_answer_is_invalid_again(body: Answering, provider: str, tmp_path: Path) -> None:
    """What counts as invalid while recording counts the same in a replay: it is not a missing recording."""

    def answer(asked: Asked) -> Answer:
        reply = body(asked) if "Question 3?" in asked.prompt else asked.answered(verdict("fine"))
        return raw(reply.body, reply.status, {**reply.headers, "retry-after": "0"})

    with loopback(answer) as server:
        recorded = ask(sdk_judge(provider, server.url, max_attempts=1), tmp_path, "missing")
    assert [invalid is None for _, _, invalid in recorded[NAMES[0]]] == [True, True, True, False, True, True]
    assert ask(sdk_judge(provider, server.url, max_attempts=1), tmp_path, "none") == recorded


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_an_error_that_is_the_answer_is_recorded(provider: str, tmp_path: Path) -> None:
    """A prompt that is too long is answered by an error: that is kept, and is as invalid in a replay."""
    error = {"message": "This model's maximum context length is 10 tokens.", "code": "context_length_exceeded"}

    def answer(asked: Asked) -> Answer:
        if "Question 3?" in asked.prompt:
            return raw(json.dumps({"error": error}).encode(), 400)
        return asked.answered(verdict("fine"))

    with loopback(answer) as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing")
    assert [invalid for _, _, invalid in recorded[NAMES[0]]] == [None, None, None, "too-large", None, None]
    assert ask(sdk_judge(provider, server.url), tmp_path, "none") == recorded


def one_huge(asked: Asked) -> Answer:
    """Answer with a verdict, of many bytes about one of the pairs."""
    return asked.answered(verdict("on and on" * (1000 if "Question 3?" in asked.prompt else 1)))


TOO_LONG = [None, None, None, "too-long", None, None]


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_an_answer_too_large_for_a_row_is_recorded_as_that(
    provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an invalid verdict, paid once: the run goes on, and a replay and a later recording say the same."""
    monkeypatch.setattr(files, "LARGEST_ROW", 5000)
    with loopback(one_huge) as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing")
        assert [[invalid for _, _, invalid in found] for found in recorded.values()] == [TOO_LONG] * 2
        assert ask(sdk_judge(provider, server.url), tmp_path, "missing") == recorded
        assert len(server.asked) == 2 * len(PAIRS)
    assert ask(sdk_judge(provider, server.url), tmp_path, "none") == recorded
    (row,) = [row for row in cassette(tmp_path).read_rows() if row.oversize]
    assert (row.pair, row.body, row.oversize > 9000) == ("p03", b"", True)


@clients()
def test_a_client_of_one_s_own_may_receive_too_much(
    client: Client, python_judge: Callable[..., Judge], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with a function of the user's, even one that makes a verdict of whatever goes wrong."""
    monkeypatch.setattr(files, "LARGEST_ROW", 5000)
    with loopback(one_huge) as server:
        asking = through(client, server.url)
        if inspect.iscoroutinefunction(asking):

            async def forgiving(prompt: str) -> str:
                try:
                    return await asking(prompt)
                except BaseException:
                    return verdict("something went wrong")
        else:

            def forgiving(prompt: str) -> str:  # type: ignore[misc]
                try:
                    return asking(prompt)
                except BaseException:
                    return verdict("something went wrong")

        for root, function in ((tmp_path / "asking", asking), (tmp_path / "forgiving", forgiving)):
            judge = python_judge(function)
            recorded = ask(judge, root, "missing")
            assert [[invalid for _, _, invalid in found] for found in recorded.values()] == [TOO_LONG] * 2
            assert ask(judge, root, "none") == recorded
    assert len(server.asked) == 2 * 2 * len(PAIRS)


# --- what a response can be -------------------------------------------------------------------------------

BODIES = {
    "json": raw(b'{"a": [1, 2.5, null], "b": "n\xc3\xa4ive"}'),
    "gzip": raw(gzip.compress(b'{"zipped": true}'), 200, {"content-type": JSON, "content-encoding": "gzip"}),
    "deflate": raw(zlib.compress(b"deflated"), 200, {"content-type": "text/plain", "content-encoding": "deflate"}),
    "text": raw("naïve\r\n".encode(), 200, {"content-type": "text/plain; charset=utf-8"}),
    "latin-1": raw("naïve".encode("latin-1"), 200, {"content-type": "text/plain; charset=iso-8859-1"}),
    "html": raw(b"<html>&nbsp;</html>", 200, {"content-type": "text/html"}),
    "events": raw(b'data: {"a": 1}\n\ndata: [DONE]\n\n', 200, {"content-type": "text/event-stream"}),
    "binary": raw(bytes(range(256)), 200, {"content-type": "application/octet-stream"}),
    "empty": raw(b"", 200, {"content-type": "text/plain"}),
    "no-content": raw(b"", 204, {}),
    "duplicate-keys": raw(b'{"a": 1, "a": 2}'),
    "nan": raw(b'{"a": NaN}'),
    "half-a-surrogate": raw(b'{"a": "\\ud800"}'),
}


@clients(without=by_aiohttp)
@pytest.mark.parametrize("kind", BODIES)
def test_a_client_sees_the_same_response_again(
    kind: str, client: Client, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Zipped, text, bytes, nothing at all: a client decodes a replayed response to what it decoded live."""
    seen: list[bytes] = []
    with loopback(lambda _: BODIES[kind]) as server:
        content = server.url + "/v1/judge"

        def meant(body: bytes) -> str:
            if kind in ("json", "gzip", "half-a-surrogate"):  # spaces are not kept, the meaning is
                body = json.dumps(json.loads(body)).encode()
            seen.append(body)
            return verdict(hashlib.sha256(body).hexdigest())

        if inspect.iscoroutinefunction(client):

            async def asking(prompt: str) -> str:
                return meant(await client(content, {"prompt": prompt}))

            judge = python_judge(asking)
        else:
            judge = python_judge(lambda prompt: meant(client(content, {"prompt": prompt})))
        recorded = ask(judge, tmp_path, "missing", PAIRS[:1], concurrency=1)
    assert len(set(seen)) == 1
    assert ask(judge, tmp_path, "none", PAIRS[:1], concurrency=1) == recorded
    assert len(set(seen)) == 1


@pytest.mark.parametrize("kind", [kind for kind, reply in BODIES.items() if reply.headers])
def test_the_kind_of_a_response_is_kept(kind: str, python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """Status and content type are the same in a replay: a client decodes and parses what it did live."""
    with loopback(lambda _: BODIES[kind]) as server:

        async def asking(prompt: str) -> str:
            async with httpx.AsyncClient(verify=TLS) as client:
                response = await client.post(f"{server.url}/v1/judge", json={"prompt": prompt})
            return verdict(f"{response.status_code} {response.headers['content-type']}")

        judge = python_judge(asking)
        recorded = ask(judge, tmp_path, "missing", PAIRS[:1])
    assert recorded[NAMES[0]] == [(1, f"200 {BODIES[kind].headers['content-type']}", None)]
    assert ask(judge, tmp_path, "none", PAIRS[:1]) == recorded


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_the_sdks_read_zipped_answers(provider: str, tmp_path: Path) -> None:
    """A zipped answer is asked for, recorded unzipped, so that a diff can show it, and replays."""

    def zipped(asked: Asked) -> Answer:
        assert asked.headers["accept-encoding"] == "gzip"
        reply = asked.answered(verdict(fingerprint(asked.prompt)))
        return raw(gzip.compress(reply.body), 200, {**reply.headers, "content-encoding": "gzip"})

    with loopback(zipped) as server:
        judge = sdk_judge(provider, server.url)
        assert ask(judge, tmp_path, "missing") == expected(judge)
    assert all(json.loads(row.body) for row in kept(tmp_path))
    assert ask(judge, tmp_path, "none") == expected(judge)


def test_a_question_in_the_query_is_told_from_another(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """A judge that asks by GET with its question in the query gets every pair's own answer."""

    def echo(asked: Asked) -> Answer:
        return raw(verdict(fingerprint(urllib.request.unquote(asked.path.partition("?q=")[2]))).encode())

    with loopback(echo) as server:

        async def asking(prompt: str) -> str:
            async with httpx.AsyncClient(verify=TLS) as client:
                return (await client.get(f"{server.url}/judge?q={urllib.request.quote(prompt, safe='')}")).text

        judge = python_judge(asking)
        assert ask(judge, tmp_path, "missing", concurrency=1) == expected(judge)
    assert ask(judge, tmp_path, "none") == expected(judge)


async def following_aiohttp(url: str, sent: Any) -> bytes:
    async with aiohttp.ClientSession() as session, session.post(url, data=json.dumps(sent).encode()) as response:
        return await response.read()


async def following_httpx(url: str, sent: Any) -> bytes:
    async with httpx.AsyncClient(verify=TLS, follow_redirects=True) as client:
        return (await client.post(url, json=sent)).content


AIOHTTP_307 = (following_aiohttp, 307)
GET_ALWAYS = suspected("vcrpy follows aiohttp's redirects by GET, also after a 307", raises=FatalJudgeError)


@pytest.mark.parametrize(
    ("client", "status", "query"),
    [
        pytest.param(
            client,
            status,
            query,
            id=f"{client.__name__}-{status}-{len(query)}",
            marks=GET_ALWAYS if (client, status) == AIOHTTP_307 else (),
        )
        for client in (by_requests, following_httpx, following_aiohttp)
        for status in (303, 307)
        for query in ("", "?version=7", "?b=2&a=x+y&empty=&api_key=canary")
    ],
)
def test_a_redirected_answer_replays(
    client: Client, status: int, query: str, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """A judge whose client follows a redirect, as POST or as GET, gets the same answer in a replay."""

    def moved(asked: Asked) -> Answer:
        if asked.path == f"/final{query}":
            return raw(verdict(f"by {asked.method}").encode())
        return raw(b"", status, {"location": f"/final{query}"})

    with loopback(moved) as server:
        judge = python_judge(through(client, server.url))
        recorded = ask(judge, tmp_path, "missing")
        assert {reason for found in recorded.values() for _, reason, _ in found} == {
            "by POST" if status == 307 else "by GET"
        }
    assert not any("canary" in path.read_text() for path in tmp_path.rglob("*.jsonl"))
    assert ask(judge, tmp_path, "none") == recorded


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_words_of_headers_that_are_no_secrets_stay_in_answers(provider: str, tmp_path: Path) -> None:
    """What an SDK says of itself in its headers are words that a judge may use: they stay in its answers."""
    text = "It names the Bearer scheme, python, CPython, asyncio, Linux, async:asyncio and application/json."
    with loopback(lambda asked: asked.answered(verdict(text))) as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing")
    assert recorded[NAMES[0]][0] == (1, text, None)
    assert ask(sdk_judge(provider, server.url), tmp_path, "none") == recorded


def test_private_fields_are_replaced_and_not_missed(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """Whatever type an id or a user has, code that reads it finds another one of that type in a replay."""
    private = {"id": 4711, "user": {"name": "canary"}, "metadata": ["canary"], "account": None}
    with loopback(lambda _: raw(json.dumps({"items": [private], **private}).encode())) as server:

        async def asking(prompt: str) -> str:
            found = json.loads(await by_httpx_async(f"{server.url}/v1/judge", {"prompt": prompt}))
            kinds = [{name: type(item[name]).__name__ for name in private} for item in (found, *found["items"])]
            return verdict(json.dumps(kinds))

        judge = python_judge(asking)
        recorded = ask(judge, tmp_path, "missing", PAIRS[:1])
    assert b"canary" not in b"".join(row.body for row in kept(tmp_path))
    assert b"4711" not in b"".join(row.body for row in kept(tmp_path))
    assert ask(judge, tmp_path, "none", PAIRS[:1]) == recorded


@pytest.mark.parametrize("sdk", ["openai", "google"])
def test_the_sdks_read_answers_whose_private_fields_are_emptied(
    sdk: str, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Clients that insist on ids, of users or of requests, still get them; an id in the model's own words stays."""
    library = importlib.import_module(http_library({"openai": "openai", "google": "google-genai"}[sdk]))
    private = {"id": "canary", "user": {"id": 4711}, "metadata": {"team": "canary"}, "account": 4711, "project": [1]}
    own = json.dumps({"selected_response": 2, "reason": "It has one.", "id": 17})

    def answering(asked: Asked) -> Answer:
        return raw(json.dumps({**json.loads(asked.answered(own).body), "created": 1, **private}).encode())

    with loopback(answering) as server:

        async def asking(prompt: str) -> str:
            async with library.AsyncClient(verify=TLS) as http:
                if sdk == "google":
                    more = {"httpx_async_client": http, "httpx_client": library.Client(verify=TLS)}
                    models = genai.Client(api_key="k", http_options={"base_url": server.url, **more}).aio.models
                    return (await models.generate_content(model="m", contents=prompt)).text or ""
                client = AsyncOpenAI(
                    api_key="k", base_url=f"{server.url}/v1", http_client=http, _strict_response_validation=True
                )
                messages: Any = [{"role": "user", "content": prompt}]
                told = await client.chat.completions.create(model="m", messages=messages)
                assert told.id
                return told.choices[0].message.content or ""

        judge = python_judge(asking)
        recorded = ask(judge, tmp_path, "missing")
    stored = b"".join(row.body for row in kept(tmp_path))
    assert b"canary" not in stored
    assert b"4711" not in stored
    assert rb"\"id\": 17" in stored
    assert ask(judge, tmp_path, "none") == recorded
    assert recorded[NAMES[0]][0] == (2, "It has one.", None)


def test_a_full_disk_stops_a_judge_that_catches_everything(
    python_judge: Callable[..., Judge], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an answer cannot be written the run ends with that message, whatever the judge's code catches."""
    with loopback() as server:

        async def stubborn(prompt: str) -> str:
            for _ in range(5):
                with contextlib.suppress(Exception):
                    return (await by_httpx_async(f"{server.url}/v1/judge", {"prompt": prompt})).decode()
            return verdict("made up")

        def full(_: int, __: bytes) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        judge = python_judge(stubborn)
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(CassetteError, match=os.strerror(errno.ENOSPC)):
            ask(judge, tmp_path, "missing")
        monkeypatch.undo()
        assert max(Counter(asked.prompt for asked in server.asked).values()) == 1
        assert len(server.asked) <= CONCURRENCY


def test_pairs_with_the_same_text_are_recorded_the_same_way_each_time(
    python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Two pairs that read the same have an answer each, and the same bytes, whichever answer arrives first."""
    twins = (Pair("p1", "Q?", "1", "2"), Pair("p2", "Q?", "1", "2"))
    contents = set()
    for first in ("p1", "p2"):
        both, first_is_kept = threading.Barrier(2), threading.Event()

        def in_order(asked: Asked, first: str = first, both: Any = both, kept: Any = first_is_kept) -> Answer:
            if asked.headers["x-condition"] == NAMES[1]:  # the other one was asked alone, and answered both
                both.wait(10)
                assert asked.headers["x-pair"] == first or kept.wait(10)
            return asked.answered(verdict("the same"))

        with loopback(in_order) as server:

            async def asking(prompt: str, url: str = server.url, kept: Any = first_is_kept) -> str:
                call = CALL.get()
                assert call is not None
                condition = NAMES[0] if "1 was written recently" in prompt else NAMES[1]
                async with httpx.AsyncClient(verify=TLS) as client:
                    headers = {"x-pair": call.pair, "x-condition": condition}
                    response = await client.post(f"{url}/v1/judge", json={"prompt": prompt}, headers=headers)
                if condition == NAMES[1]:
                    kept.set()
                return response.text

            root = tmp_path / first
            ask(python_judge(asking), root, "missing", twins)
            assert len(server.asked) == 4
        contents.add(b"".join(path.read_bytes() for path in sorted(root.rglob("recency*"))))
    assert len(contents) == 1


# --- a request's digest -----------------------------------------------------------------------------------

URL = "https://api.example.org/v1/chat/completions"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def turned(value: Any) -> Any:
    """Return a JSON value with the keys of every object in the reverse order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(inner) for inner in value] if isinstance(value, list) else value


@given(json_values, st.sampled_from([None, 2]), st.booleans())
def test_a_digest_reads_the_body_as_json(value: Any, indent: int | None, ascii_only: bool) -> None:
    """The order of keys, white space and escapes are no part of what was asked."""
    digest = request_digest("POST", URL, json.dumps(value).encode())
    other = json.dumps(turned(value), indent=indent, ensure_ascii=ascii_only).encode()
    assert request_digest("POST", URL, other) == digest
    assert re.fullmatch("[0-9a-f]{32}", digest)


@given(json_values, json_values)
def test_other_bodies_have_other_digests(one: Any, other: Any) -> None:
    """Two bodies have one digest only if they are the same JSON: order in lists and every value count."""
    one_body, other_body = (json.dumps(value, sort_keys=True).encode() for value in (one, other))
    same = request_digest("POST", URL, one_body) == request_digest("POST", URL, other_body)
    assert same == (one_body == other_body)


@given(st.binary(), st.binary())
def test_bodies_that_are_no_json_count_byte_by_byte(one: bytes, other: bytes) -> None:
    """What is no JSON is digested as it is."""
    one, other = b"\x00" + one, b"\x00" + other
    assert (request_digest("POST", URL, one) == request_digest("POST", URL, other)) == (one == other)


@given(st.sampled_from(["post", "POST", "Post", "pOsT"]), st.integers(1, 65535))
def test_the_case_of_the_method_and_the_port_do_not_count(method: str, port: int) -> None:
    """aiohttp says `post`, and a server on another port is the same judge."""
    body = b'{"a":1}'
    assert request_digest(method, f"https://api.example.org:{port}/v1/chat/completions", body) == request_digest(
        "POST", URL, body
    )


@pytest.mark.parametrize("version", ["v1", "v2", "v1beta", "v1alpha", "v1beta1", "v1alpha2", "v12"])
def test_the_version_segment_does_not_count(version: str) -> None:
    """An SDK that moves from /v1beta/ to /v1/ finds its recordings."""
    for path in ("{}/models/m:generateContent", "gateway/{}/chat/completions"):
        uri = "https://h.example/" + path
        assert request_digest("POST", uri.format(version), b"{}") == request_digest("POST", uri.format("v1"), b"{}")


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("GET", URL),
        ("POST", URL.replace("example", "exempel")),
        ("POST", URL + "s"),
        ("POST", URL.replace("chat/", "")),
        ("POST", URL.replace("chat", "Chat")),
        ("POST", URL.replace("/v1/", "/vone/")),
        ("POST", URL.replace("/v1/", "/v1x/")),
    ],
)
def test_method_host_and_path_count(method: str, uri: str) -> None:
    """Another method, host or path is another request."""
    assert request_digest(method, uri, b"{}") != request_digest("POST", URL, b"{}")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]", "0.0.0.0", "[::]"])
def test_this_machine_has_one_name(host: str) -> None:
    """A server of this machine is found by whichever of its names it was recorded under, and no other is."""
    uri = "http://{}:8080/v1/chat/completions"
    assert request_digest("POST", uri.format(host), b"{}") == request_digest("POST", uri.format("127.0.0.1"), b"{}")
    for other in ("10.0.0.1", "localhost.example", "[::2]", "ip6-localhost"):
        assert request_digest("POST", uri.format(other), b"{}") != request_digest("POST", uri.format(host), b"{}")


@pytest.mark.parametrize("before", ["localhost", "::1"])
@pytest.mark.parametrize("now", ["127.0.0.1", "localhost"])
def test_recordings_under_an_earlier_name_of_this_machine_are_found(
    before: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was recorded when each of this machine's names was a host of its own replays, and stays byte for byte."""
    with monkeypatch.context() as earlier, loopback() as server:
        earlier.setattr("judgefixtures.cassettes.vcr_adapter._host", lambda _uri: before)
        endpoint_digest.cache_clear()
        recorded = ask(sdk_judge("openai", server.url), tmp_path, "missing")
    endpoint_digest.cache_clear()
    content = cassette(tmp_path).path.read_bytes()
    url = server.url.replace("127.0.0.1", now)
    assert ask(sdk_judge("openai", url), tmp_path, "none") == recorded
    assert ask(sdk_judge("openai", url), tmp_path, "missing") == recorded
    assert cassette(tmp_path).path.read_bytes() == content


def test_the_key_in_the_query_does_not_count() -> None:
    """A request is found with another key, or without one: the digest gives no key away."""
    keys = ("?key=secret-one", "?key=secret-two", "")
    assert len({request_digest("POST", URL + key, b"{}") for key in keys}) == 1


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_repeat_and_occurrence_count(repeat: int, occurrence: int, other_repeat: int, other_occurrence: int) -> None:
    """Each repeat, and each time that a request comes in a call, is another one, and not mixed up."""
    same = request_digest("POST", URL, b"{}", repeat, occurrence) == request_digest(
        "POST", URL, b"{}", other_repeat, other_occurrence
    )
    assert same == ((repeat, occurrence) == (other_repeat, other_occurrence))


def test_a_digest_stays_what_it_was() -> None:
    """Recordings are found by these very digits: who changes how they are made loses every paid answer."""
    messages = '[{"role":"user","content":"naïve \\ud83d\\ude00"}]'
    body = f'{{"model":"m","messages":{messages},"temperature":0.0}}'.encode()
    assert request_digest("POST", URL, body) == "5501e7e0ac680cf007a36ae0059dec1a"
    assert request_digest("POST", URL, body, 3, 1) == "441bce00f1931a04939a087eb237ac94"
    assert request_digest("POST", URL, b"no json") == "602125177ef61fb479cf91bfeca3caf3"


# --- the contract with vcrpy ------------------------------------------------------------------------------


def test_vcrpy_patches_what_the_sdks_use() -> None:
    """vcrpy knows httpx2; an older one would let the SDKs' calls through to the network without a word."""
    assert {"httpx2", "httpx", "aiohttp", "urllib3", "requests", "httplib"} <= set(vcr.patch.PATCHER_NAMES)


def test_an_older_vcrpy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where vcrpy does not know httpx2 nothing is asked, and the message names the version to install."""
    names = tuple(name for name in vcr.patch.PATCHER_NAMES if name != "httpx2")
    monkeypatch.setattr(vcr.patch, "PATCHER_NAMES", names)
    for only in (True, False):
        with pytest.raises(CassetteError, match=r"httpx2.*vcrpy >= 9\.4"), record_http(only_sdks=only, offline=False):
            pytest.fail("it was entered")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("can_play_response_for", ["request"]),
        ("play_response", ["request"]),
        ("append", ["request", "response"]),
        ("_load", []),
        ("_save", ["force"]),
        ("find_requests_with_most_matches", ["request"]),
        ("__len__", []),
    ],
)
def test_vcrpy_has_what_is_overridden(name: str, parameters: list[str]) -> None:
    """The internals that a subclass overrides exist in vcrpy's Cassette with these signatures."""
    found = list(inspect.signature(getattr(vcr.cassette.Cassette, name)).parameters)
    assert found == ["self", *parameters]


def test_vcrpy_has_what_is_used() -> None:
    """`use` takes a path and skip_patchers; whether a miss may go out is the property write_protected."""
    assert {"path", "skip_patchers"} <= inspect.signature(vcr.cassette.Cassette).parameters.keys()
    assert isinstance(inspect.getattr_static(vcr.cassette.Cassette, "write_protected"), property)
    assert inspect.ismethod(vcr.cassette.Cassette.use)
    source = inspect.getsource(vcr.cassette.CassetteContextDecorator.__enter__)
    assert "cls.load(" in source


# --- a miss -----------------------------------------------------------------------------------------------


def test_a_miss_is_no_exception_that_code_catches() -> None:
    """Neither a miss nor a blocked socket is an Exception, which SDKs catch, wrap and retry."""
    for error in (CassetteMissError, NetworkBlockedError):
        assert issubclass(error, BaseException)
        assert not issubclass(error, Exception)


def record(python_judge: Callable[..., Judge], root: Path, pairs: Sequence[Pair], **keys: Any) -> None:
    """Record a judge that asks once a call."""
    with loopback() as server:
        ask(python_judge(through(by_httpx_async, server.url), **keys), root, "missing", pairs)


@pytest.mark.parametrize("caught", [Exception, BaseException])
@pytest.mark.parametrize("in_threads", [False, True])
def test_a_miss_ends_a_judge_that_retries_everything(
    caught: type[BaseException], in_threads: bool, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Code that catches and retries cannot keep a run alive: the miss is raised, and nothing is answered."""
    record(python_judge, tmp_path, PAIRS[1:])
    attempts: Counter[str] = Counter()
    url = "http://127.0.0.1:9/v1/judge"

    async def stubborn(prompt: str) -> str:
        for _ in range(5):
            attempts[prompt] += 1
            try:
                return (await by_httpx_async(url, {"prompt": prompt})).decode()
            except caught:
                continue
        return verdict("made up")

    def stubborn_thread(prompt: str) -> str:
        for _ in range(5):
            attempts[prompt] += 1
            try:
                return by_httpx(url, {"prompt": prompt}).decode()
            except caught:
                continue
        return verdict("made up")

    judge = python_judge(stubborn_thread if in_threads else stubborn)
    with pytest.raises(CassetteMissError, match="pair 'p00'"):
        ask(judge, tmp_path, "none", concurrency=1)
    assert attempts == {judge.prompt(PAIRS[0], RECENCY.x): 1 if caught is Exception else 5}


@pytest.mark.parametrize("caught", [Exception, BaseException])
def test_a_miss_cancels_what_is_in_flight(
    caught: type[BaseException], python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """A miss cancels the other calls in flight, and starts no further one."""
    pairs = some_pairs(40)
    record(python_judge, tmp_path, pairs[1:])
    started: list[str] = []
    cancelled: list[str] = []

    async def slow(prompt: str) -> str:
        started.append(prompt)
        try:
            if "Question 0?" not in prompt:
                await asyncio.Event().wait()
            while len(started) < CONCURRENCY:
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            cancelled.append(prompt)
            raise
        with contextlib.suppress(caught):
            await by_httpx_async("http://127.0.0.1:9/v1/judge", {"prompt": prompt})
        return verdict("made up")

    with pytest.raises(CassetteMissError):
        ask(python_judge(slow), tmp_path, "none", pairs)
    assert len(started) == CONCURRENCY
    assert sorted(cancelled) == sorted(started[1:])


@pytest.mark.parametrize("provider", ["openai", "google"])
@pytest.mark.parametrize("concurrency", [1, CONCURRENCY])
def test_a_miss_passes_through_the_sdks(
    provider: str, concurrency: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither SDK retries or wraps a miss, and the retry layer over them does not either."""
    with loopback() as server:
        ask(sdk_judge(provider, server.url), tmp_path, "missing", PAIRS[1:])
        asked = len(server.asked)
        judge = sdk_judge(provider, server.url, max_attempts=6)
        sleeps: list[float] = []

        async def sleep(seconds: float, real: Any = asyncio.sleep) -> None:
            sleeps.append(seconds)
            await real(0)

        monkeypatch.setattr(asyncio, "sleep", sleep)
        with pytest.raises(CassetteMissError) as caught:
            ask(judge, tmp_path, "none", concurrency=concurrency)
        monkeypatch.undo()
        assert len(server.asked) == asked
    assert [seconds for seconds in sleeps if seconds >= FIRST_WAIT / 2] == []
    assert "pair 'p00'" in str(caught.value)


COMMAND = "pytest --judge ours --judge-dataset own --judge-record {}"
ONLY = "pytest --judge ours --judge-dataset own -k recency-new-old --judge-record {}"  # of a test item


def missed(judge: Judge, root: Path, pairs: Sequence[Pair] = PAIRS) -> str:
    """Return the message of a miss, which names judge, dataset and condition."""
    with pytest.raises(CassetteMissError) as caught:
        ask(judge, root, "none", pairs, concurrency=1)
    message = str(caught.value)
    for word in ("judge 'ours'", "dataset 'own'", f"condition '{NAMES[0]}'"):
        assert word in message
    return message


def test_a_miss_of_everything_names_the_file_and_the_command(tmp_path: Path) -> None:
    """Where nothing is recorded the message says so, with pair, file and command."""
    message = missed(sdk_judge("openai", "http://127.0.0.1:9"), tmp_path)
    for word in (
        "nothing is recorded",
        "pair 'p00'",
        str(tmp_path / "ours" / "own" / f"{NAMES[0]}.jsonl"),
        COMMAND.format("missing"),
    ):
        assert word in message


@pytest.mark.parametrize(
    "change",
    [{"question": "Another?"}, {"response_1": "Another."}, {"response_2": "Another."}, {"content_type": "Story"}],
)
def test_a_miss_names_what_changed_in_the_pair(
    change: dict[str, str], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Where a pair's text changed since the recording, the field is named, with pair and command."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing")
    old = PAIRS[2]
    texts = {name: getattr(old, name) for name in ("id", "question", "response_1", "response_2")}
    new = Pair(**{**texts, **change})  # type: ignore[arg-type]
    message = missed(sdk_judge("openai", server.url), tmp_path, [*PAIRS[:2], new, *PAIRS[3:]])
    assert lines_about(message, "'p02'", "changed since", "--judge", "missing") == snapshot


def test_a_miss_of_one_pair_counts_the_others(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where a pair was never recorded, the message says how many are, and in which file."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing", PAIRS[1:])
    message = missed(sdk_judge("openai", server.url), tmp_path)
    assert message == snapshot


def test_a_miss_of_another_request_says_so(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where the pair is recorded and the request is another, the message points at address and SDK."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing")
    message = missed(sdk_judge("openai", f"{server.url}/gateway"), tmp_path)
    assert lines_about(message, "is recorded", "base_url", "--judge", "missing") == snapshot


@pytest.mark.parametrize(
    "keys",
    [
        {"model": "n"},
        {"temperature": 0.5},
        {"seed": 7},
        {"max_output_tokens": 9},
        {"template": "mt-bench"},
        {"cue_placement": "before"},
    ],
)
@pytest.mark.parametrize("mode", ["none", "missing"])
def test_a_changed_judge_is_told_before_anything_is_asked(
    keys: dict[str, Any], mode: RecordMode, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """A changed model, parameter or template is named with old and new value, and the command for `all`."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing")
        asked = len(server.asked)
        with pytest.raises(CassetteError) as caught:
            ask(sdk_judge("openai", server.url, **keys), tmp_path, mode)
        assert len(server.asked) == asked
    assert str(caught.value) == snapshot


# --- offline ----------------------------------------------------------------------------------------------


def connect_by_address(_: str) -> str:
    socket.create_connection(("192.0.2.7", 8443), timeout=1)
    return verdict("connected")


def connect_by_name(_: str) -> str:
    socket.create_connection(("judge.example.org", 8443), timeout=1)
    return verdict("connected")


async def open_by_address(_: str) -> str:
    await asyncio.open_connection("192.0.2.7", 8443)
    return verdict("connected")


async def open_by_name(_: str) -> str:
    await asyncio.open_connection("judge.example.org", 8443)
    return verdict("connected")


def connect_ex(_: str) -> str:
    with socket.socket() as opened:
        opened.connect_ex(("192.0.2.7", 8443))
    return verdict("connected")


def connect_ipv6(_: str) -> str:
    with socket.socket(socket.AF_INET6) as opened:
        opened.connect(("2001:db8::7", 8443))
    return verdict("connected")


def look_up(_: str) -> str:
    socket.getaddrinfo("judge.example.org", 8443)
    return verdict("connected")


def look_up_the_old_way(_: str) -> str:
    with contextlib.suppress(OSError):
        socket.gethostbyname("judge.example.org")
    return verdict("connected")


def send_a_datagram(_: str) -> str:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"how many tokens", ("127.0.0.1", 8125))
    return verdict("connected")


def in_a_pool_of_its_own(_: str) -> str:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(by_httpx, "http://192.0.2.7:8443/", {}).result().decode()


def send_a_message(_: str) -> str:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendmsg([b"how many tokens"], [], 0, ("127.0.0.1", 8125))
    return verdict("connected")


def connect_below_socket(_: str) -> str:
    import _socket

    with contextlib.closing(_socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as opened:
        opened.connect_ex(("192.0.2.7", 8443))
    return verdict("connected")


def look_up_below_socket(_: str) -> str:
    import _socket

    with contextlib.suppress(OSError):
        _socket.getaddrinfo("judge.example.org", 8443)
    return verdict("connected")


def swallow(_: str) -> str:
    try:
        return connect_by_address(_)
    except BaseException:
        return verdict("made up")


@pytest.mark.parametrize(
    "function",
    [
        connect_by_address,
        connect_by_name,
        open_by_address,
        open_by_name,
        connect_ex,
        connect_ipv6,
        look_up,
        in_a_pool_of_its_own,
        look_up_the_old_way,
        send_a_datagram,
        send_a_message,
        connect_below_socket,
        look_up_below_socket,
        swallow,
    ],
    ids=lambda function: function.__name__,
)
def test_a_socket_in_a_replay_is_an_error_that_names_the_host(
    function: Function, python_judge: Callable[..., Judge], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Judge code that opens a socket while replaying is stopped, with the host and the remedies."""
    with pytest.raises(NetworkBlockedError) as caught:
        ask(python_judge(function), tmp_path, "none", PAIRS[:1])
    assert str(caught.value) == snapshot


def test_what_is_no_network_works_in_a_replay(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """A judge may use socket pairs, unix sockets and an event loop of its own while it is replayed."""
    address = str(tmp_path / "s")

    async def inner() -> str:
        return verdict("fine")

    def local(_: str) -> str:
        one, other = socket.socketpair()
        with one, other:
            one.sendall(b"x")
            assert other.recv(1) == b"x"
        with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as connecting:
            Path(address).unlink(missing_ok=True)
            listening.bind(address)
            listening.listen()
            connecting.connect(address)
        return asyncio.run(inner())

    answers = ask(python_judge(local), tmp_path, "none", PAIRS[:1], concurrency=1)
    assert answers[NAMES[0]] == [(1, "fine", None)]


def by_subprocess(_: str) -> str:
    subprocess.run([sys.executable, "-c", ""], check=True)
    return verdict("started")


def by_shell(_: str) -> str:
    subprocess.run("true", shell=True, check=True)
    return verdict("started")


def by_os_system(_: str) -> str:
    os.system("true")
    return verdict("started")


def by_posix_spawn(_: str) -> str:
    os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {}), 0)
    return verdict("started")


async def by_asyncio(_: str) -> str:
    await (await asyncio.create_subprocess_exec(sys.executable, "-c", "")).wait()
    return verdict("started")


PROGRAMS = (by_subprocess, by_shell, by_os_system, by_posix_spawn, by_asyncio)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_a_program_is_not_started_in_a_replay(
    function: Function, python_judge: Callable[..., Judge], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """A program could reach a host unseen: judge code starts none while replaying, and the error names it."""
    with pytest.raises(NetworkBlockedError) as caught:
        ask(python_judge(function), tmp_path, "none", PAIRS[:1])
    assert lines_about(str(caught.value), "the program", "no network", "--judge-record", "allow_programs =") == snapshot


def test_what_is_asked_about_the_machine_is_no_program(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """SDKs tell servers what they run on: `uname` may be started in a replay."""

    def machine(_: str) -> str:
        subprocess.run(["uname"], check=True, capture_output=True)
        return verdict("fine")

    answers = ask(python_judge(machine), tmp_path, "none", PAIRS[:1], concurrency=1)
    assert answers[NAMES[0]] == [(1, "fine", None)]


def test_a_forked_child_reaches_nobody_in_a_replay(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """A fork may compute; the network is closed to it, too."""

    def forked(_: str) -> str:
        child = os.fork()
        if child == 0:
            try:
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))
            except BaseException as error:
                os._exit(7 if type(error) is NetworkBlockedError else 8)
            os._exit(0)
        return verdict(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))

    answers = ask(python_judge(forked), tmp_path, "none", PAIRS[:1], concurrency=1)
    assert answers[NAMES[0]] == [(1, "7", None)]


def test_the_network_is_back_after_a_replay(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """Sockets are only closed to judge code while it is replayed: not in a recording, and not afterwards."""
    with loopback() as server:

        def connect(_: str) -> str:
            socket.create_connection(("127.0.0.1", server.server_port)).close()
            return verdict("connected")

        judge = python_judge(connect)
        ask(judge, tmp_path, "missing", PAIRS[:1])
        with pytest.raises(NetworkBlockedError):
            ask(judge, tmp_path, "none", PAIRS[:1])
        connect("")
        assert ask(judge, tmp_path, "missing", PAIRS[:1])[NAMES[0]] == [(1, "connected", None)]


# --- the same from the command line -----------------------------------------------------------------------

TEST = suite("recency", name="recency")
ALLOWED = '[tool.judgefixtures.security]\napi_key_envs = ["{}"]\n'  # where these tests run in CI, too
PYTHON = {"provider": "python", "target": "judge_of_ours:judge"}


def configuration(**keys: Any) -> str:
    """Return a configuration with the keys of one judge's table."""
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return (
        f'[tool.judgefixtures]\njudge = "ours"\n[tool.judgefixtures.judges.ours]\n{lines}'
        '[tool.judgefixtures.datasets.own]\npath = "pairs.jsonl"\n'
    )


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with one judge; what it leaves in temporary folders stays below its own."""
    folder = pytester.path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    # Six pairs decide nothing, which a recording would refuse to pay for.
    project = Project(pytester, configuration, options=("-p", "no:cacheprovider", "--judge-force"))
    project.write("test_ours.py", TEST)
    project.write_pairs(rows_of(PAIRS))
    return project


def use_code(project: Project, text: str) -> None:
    """Write the module of a python judge and configure it."""
    project.write("judge_of_ours.py", text)
    project.configure(**PYTHON)


WITHOUT_HTTP = 'def judge(prompt):\n    return \'{"selected_response": 1, "reason": "mine"}\'\n'


@pytest.mark.parametrize("mode", ["none", "missing"])
def test_a_judge_without_http_runs_live_and_is_noted(mode: str, project: Project, snapshot: SnapshotAssertion) -> None:
    """A python judge that calls nobody is run, in a replay too; the summary says that it was not replayed."""
    use_code(project, WITHOUT_HTTP)
    said = project.run("--judge-record", mode).said
    assert lines_about(said, "be recorded") == snapshot
    assert "run live" in said
    assert re.search(r"n\s*=\s*6", said) or "6" in said
    assert not list(project.path.rglob("recency*.jsonl"))


def test_a_judge_that_was_recorded_is_not_noted_as_live(project: Project) -> None:
    """A python judge over HTTP that was recorded, and one that replays, are not called live."""
    with loopback() as server:
        use_code(
            project,
            "import httpx\ndef judge(prompt):\n"
            f"    return httpx.post('{server.url}/v1/judge', json={{'prompt': prompt}}).text\n",
        )
        said = project.run("--judge-record", "missing").said
        assert len(server.asked) == len(kept(project.path / "cassettes")) == 12
        assert "run live" not in said
    said = project.run().said
    assert "run live" not in said
    assert "no recording" not in said


def test_a_miss_is_told_by_the_run(project: Project, snapshot: SnapshotAssertion) -> None:
    """A miss fails its item with the message alone, and the run says how to record."""
    use_code(project, "import httpx\ndef judge(prompt):\n    return httpx.post('http://127.0.0.1:9/', json={}).text\n")
    result = project.run()
    said = result.said
    result.assert_outcomes(failed=1)
    assert lines_about(said, "'ours'") == snapshot
    assert ONLY.format("missing") in said


def test_a_blocked_socket_is_told_by_the_run(project: Project, snapshot: SnapshotAssertion) -> None:
    """A socket in a replay fails its item with the host."""
    use_code(project, "import socket\ndef judge(prompt):\n    socket.create_connection(('judge.example.org', 443))\n")
    result = project.run()
    said = result.said
    result.assert_outcomes(failed=1)
    assert lines_about(said, "judge code") == snapshot


def test_a_program_is_started_where_the_table_allows_it(project: Project, snapshot: SnapshotAssertion) -> None:
    """A judge that runs a program is refused in a replay, unless its table says that the program reaches nobody."""
    use_code(
        project,
        "import subprocess\ndef judge(prompt):\n"
        """    return subprocess.check_output(["echo", '{"selected_response": 1, "reason": "mine"}'], text=True)\n""",
    )
    result = project.run()
    said = result.said
    result.assert_outcomes(failed=1)
    assert lines_about(said, "'echo'") == snapshot
    said = project.run("--judge-record", "missing").said
    assert "start the program" not in said
    project.configure(provider="python", target="judge_of_ours:judge", allow_programs=True)
    said = project.run().said
    assert "start the program" not in said
    assert "run live" in said


def test_ci_refuses_before_anything_is_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """A key for an address of the configuration's own, and pairs from elsewhere, end a run of CI with the remedy."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("GATEWAY_KEY", "fakewordsonly")
    with loopback() as server:
        project.configure(provider="openai", model="m", base_url=f"{server.url}/v1", api_key_env="GATEWAY_KEY")
        result = project.run("--judge-record", "missing")
        said = result.said
        result.assert_outcomes(errors=1)
        assert 'api_key_envs = ["GATEWAY_KEY"] in [tool.judgefixtures.security]' in said
        said = project.run().said
        assert "[security]" not in said  # a replay sends nothing
        elsewhere = project.path.parent / "elsewhere.jsonl"
        (project.path / "pairs.jsonl").rename(elsewhere)
        (project.path / "pairs.jsonl").symlink_to(elsewhere)
        said = project.run().said
        assert lines_about(said, "the repository") == snapshot
        assert not server.asked


# --- secrets ----------------------------------------------------------------------------------------------

PROVIDERS = ("openai", "google", "python")
KEY = "sk-canaryKEY-0a1b2c3d4e5f"
CANARIES = {
    "CANARY_KEY": KEY,
    "OPENAI_API_KEY": "sk-canaryOPENAI-91b2",
    "OPENAI_ORG_ID": "org-canaryORG-7f3a",
    "OPENAI_PROJECT_ID": "proj_canaryPROJECT_55d0",
    "OPENAI_ADMIN_KEY": "sk-admin-canaryADMIN-22aa",
    "OPENAI_WEBHOOK_SECRET": "whsec_canaryHOOK12",
    "GEMINI_API_KEY": "AIzaCanaryGEMINI-3c4d",
    "GOOGLE_API_KEY": "AIzaCanaryGOOGLE-5e6f",
    "GOOGLE_CLOUD_PROJECT": "canary-cloud-project-31",
    "CANARY_COOKIE": "canaryCOOKIE77aa",
    "CANARY_TENANT": "canaryTENANT88bb",
    "CANARY_QUERY": "canaryQUERY99cc",
}
ACCOUNT = {  # what servers say of the account and the request, in headers and bodies
    "id": "chatcmpl-canaryID-1",
    "responseId": "canaryRESPONSE-2",
    "user": "canary.user@example.org",
    "organization": "org-canaryANSWER-3",
    "request_id": "req-canaryREQUEST-4",
    "user_id": "user-canary-5",
    "metadata": {"tenant": "canaryMETADATA-6"},
    "safety_identifier": "canarySAFETY-7",
}
RESPONSE_HEADERS = {
    "set-cookie": "session=canarySETCOOKIE-1; Path=/",
    "x-request-id": "req_canaryHEADER-2",
    "openai-organization": "org-canaryHEADER-3",
    "openai-project": "proj_canaryHEADER-4",
    "x-ratelimit-remaining-tokens": "31337canary",
    "x-goog-request-id": "canaryGOOG-6",
    "cf-ray": "canaryRAY-5",
    "server": "canary-host-77",
}
PYTHON_CODE = """\
import os
import requests

def judge(prompt):
    key = os.environ["CANARY_KEY"]
    headers = {"Authorization": "Bearer " + key, "x-goog-api-key": key}
    headers["X-Tenant"] = os.environ["CANARY_TENANT"]
    response = requests.post(
        "%s/v1/judge", params={"key": os.environ["CANARY_QUERY"]}, json={"prompt": prompt}, headers=headers,
        cookies={"session": os.environ["CANARY_COOKIE"]},
    )
    response.raise_for_status()
    return response.text
"""


def canaries() -> list[str]:
    """Return every value that must be found nowhere."""
    flat = [value for value in ACCOUNT.values() if isinstance(value, str)]
    headers = [re.sub(r"^session=|;.*", "", value) for value in RESPONSE_HEADERS.values()]
    return [*CANARIES.values(), *flat, *headers, "canaryMETADATA-6"]


def leaks(project: Project, said: str) -> list[str]:
    """Return where a canary is found: in a file below the project, or in what the terminal showed."""
    files = [path for path in project.path.rglob("*") if path.is_file()]
    places = {str(path.relative_to(project.path)): path.read_bytes() for path in files}
    places["(terminal)"] = said.encode()
    return sorted(
        {
            f"{canary} in {place}"
            for canary in canaries()
            for place, content in places.items()
            if canary.encode() in content
        }
    )


def echoed(asked: Asked) -> str:
    """Return all that a request carried beside its body, as a careless server repeats it."""
    query = asked.path.partition("key=")[2]
    ours = ("authorization", "x-goog-api-key", "cookie", "x-tenant", "openai-organization", "openai-project")
    return " ".join([*(asked.headers[name] for name in ours if name in asked.headers), query])


def error(asked: Asked, status: int, **more: Any) -> Answer:
    """Return an error that repeats the request's secrets."""
    what = "maximum context length" if status == 400 else "refused"
    content = {"message": f"{what}: {echoed(asked)}", "type": "invalid_request_error", "param": None, **more}
    headers = {"content-type": JSON, "retry-after": "0", **RESPONSE_HEADERS}
    return raw(json.dumps({"error": content, **ACCOUNT}).encode(), status, headers)


def plain(asked: Asked) -> Answer:
    return raw(asked.answered(verdict("fine")).body, 200, {"content-type": JSON, **RESPONSE_HEADERS})


def private(asked: Asked) -> Answer:
    return raw(asked.answered(verdict("fine"), **ACCOUNT).body, 200, {"content-type": JSON, **RESPONSE_HEADERS})


def private_inside(asked: Asked) -> Answer:
    return asked.answered(verdict("fine"), service={"account": ACCOUNT, "calls": [ACCOUNT]})


def echo(asked: Asked) -> Answer:
    return asked.answered(verdict(f"You sent {echoed(asked)}."), note=echoed(asked))


def echo_escaped(asked: Asked) -> Answer:
    reply = asked.answered(verdict("fine"), note=echoed(asked))
    return raw(reply.body.replace(b"-", b"\\u002d"), 200)


def too_large(asked: Asked) -> Answer:
    if "Question 3?" in asked.prompt:
        return error(asked, 400, code="context_length_exceeded")
    return asked.answered(verdict("fine"))


def rate_limited() -> Answering:
    seen: set[str] = set()

    def reply(asked: Asked) -> Answer:
        if asked.prompt in seen:
            return asked.answered(verdict("fine"))
        seen.add(asked.prompt)
        return error(asked, 429)

    return reply


def unauthorized(asked: Asked) -> Answer:
    return error(asked, 401, code="invalid_api_key")


def out_of_order(asked: Asked) -> Answer:
    return error(asked, 500)


REPLIES = (plain, private, private_inside, echo, echo_escaped, too_large, rate_limited, unauthorized, out_of_order)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply.__name__)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_secret_is_written_or_shown(
    provider: str, reply: Any, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a request carries and a server repeats is in no file of the project and in no line of the run."""
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    with loopback(reply() if reply is rate_limited else reply) as server:
        if provider == "python":
            use_code(project, PYTHON_CODE % server.url)
        else:
            base_url = f"{server.url}/v1" if provider == "openai" else server.url
            project.configure(provider=provider, model="m", base_url=base_url, api_key_env="CANARY_KEY", max_attempts=2)
            project.add(ALLOWED.format("CANARY_KEY"))
        said = project.run(
            "--judge-record", "missing", "--judge-report", "report", "--judge-concurrency", "1", "-rA"
        ).said
        sent = echoed(server.asked[0])
    assert KEY in sent, "the server never saw the key: the test tests nothing"
    if provider == "python":
        assert CANARIES["CANARY_QUERY"] in sent
        assert CANARIES["CANARY_COOKIE"] in sent
    if reply not in (unauthorized, out_of_order) and not (provider == "python" and reply is too_large):
        assert len(kept(project.path / "cassettes")) == 2 * len(PAIRS)
        assert (project.path / "report" / "judgments.jsonl").read_text()
    assert leaks(project, said) == []


def test_a_leak_would_be_seen(project: Project) -> None:
    """The test above is able to fail: a canary in a file or on the terminal is found."""
    assert leaks(project, "") == []
    (project.path / "cassettes").mkdir()
    (project.path / "cassettes" / "x").write_bytes(b"\x00" + KEY.encode())
    assert leaks(project, f"said {KEY}") == [f"{KEY} in (terminal)", f"{KEY} in cassettes/x"]


# No digit, digits alone, what separates fields, what texts escape, 8 to 200 characters; all of them made of fake words.
SHAPES = {
    "eight letters": "fakewrdz",
    "eight digits": "90817263",
    "no digit": "sk-plantedWithoutAnyDigit",
    "lower case": "plantedandofsmalllettersalone",
    "separators": "planted;second,third=fourth",
    "address": "plant+ed/with&signs%20of:an@address",
    "quotes": "planted'quote\"and\\slash",
    "two hundred": "-".join(f"planted{n}Fake" for n in range(20))[:200],
}
PLACES = ("USER_INFO", "QUERY", "HEADER", "COOKIE")
PLANTED_CODE = """\
import logging
import os
import requests

def judge(prompt):
    secrets = {name: os.environ["PLANTED_" + name] for name in ("USER_INFO", "QUERY", "HEADER", "COOKIE")}
    response = requests.post(
        "%s/v1/judge", json={"prompt": prompt}, auth=("judge", secrets["USER_INFO"]),
        params={"api_key": secrets["QUERY"]},
        headers={"X-Api-Key": secrets["HEADER"], "Cookie": "session=" + secrets["COOKIE"]},
    )
    logging.getLogger("ours").debug("sent %%s", secrets)
    response.raise_for_status()
    return response.text
"""
CRASH = """\
import logging
import os
import pytest
import warnings
from urllib.parse import quote

@pytest.mark.parametrize("name", sorted(name for name in os.environ if name.startswith("PLANTED_")))
def test_crash(name, record_property):
    secret = os.environ[name]
    headers = [("authorization", "Bearer " + secret), (b"cookie", b"session=" + secret.encode())]
    url = f"http://judge:{quote(secret)}@127.0.0.1:9/v1?api_key={quote(secret, safe='')}"
    print("printed", headers)
    record_property("url", url)
    warnings.warn(f"slow: {url} {secret}")
    try:
        raise ValueError(secret)
    except ValueError:
        logging.getLogger("ours").exception("no answer from %s", url)
    raise RuntimeError(f"no answer from {url}: {headers}")
"""


def spellings(secret: str) -> set[str]:
    """Return what must be found nowhere: a secret as it is written in various texts, and its halves."""
    half = len(secret) // 2
    parts = {secret[:half], secret[half:]} if half >= 12 else set()
    return {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1], *parts}


def planted(project: Project, said: str, secret: str, *, besides: Sequence[str] = ()) -> list[str]:
    """Return where a planted secret is found."""
    files = [path for path in project.path.rglob("*") if path.is_file() and path.name not in besides]
    places = {str(path.relative_to(project.path)): path.read_text(errors="replace") for path in files}
    return sorted(
        {
            f"{spelled} in {place}"
            for place, text in {**places, "(terminal)": said}.items()
            for spelled in spellings(secret)
            if spelled in text
        }
    )


def careless(asked: Asked) -> Answer:
    """Answer with everything that came beside the body; with an error that says it for one question."""
    names = ("authorization", "x-goog-api-key", "x-api-key", "cookie")
    said = [value for name, value in asked.headers.items() if name.lower() in names]
    said += [word for value in said if value.startswith("Basic ") for word in (base64.b64decode(value[6:]).decode(),)]
    said += [asked.path, *parse_qs(urlsplit(asked.path).query).get("api_key", [])]
    text = " ".join(said)
    if "Question 3?" in asked.prompt:
        # As long as makes a message be cut in the middle of what is repeated.
        content = {"message": f"maximum context length {'x' * 330} {text}", "code": "context_length_exceeded"}
        return raw(json.dumps({"error": content}).encode(), 400)
    return asked.answered(verdict(f"Both are fine. {text}"), note=said, sent={text: text})


LOUD = (
    "-l",
    "-vv",
    "-rA",
    "--log-level=DEBUG",
    "--log-file=debug.log",
    "--log-file-level=DEBUG",
    "-o",
    "log_cli=true",
    "--log-cli-level=DEBUG",
    "--junitxml=junit.xml",
    "-o",
    "junit_logging=all",
    "-W",
    "default",
)


def run_loudly(project: Project, *arguments: str) -> str:
    """Record and report with everything that pytest can say, beside a test that crashes; return what was said."""
    (project.path / "test_z_crash.py").write_text(CRASH)
    result = project.pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--judge-force",
        "--judge-record",
        "all",
        "--judge-report",
        "report",
        *LOUD,
        *arguments,
    )
    return Ran.of(result, project.path / "report").said


def as_planted(monkeypatch: pytest.MonkeyPatch, secrets: Mapping[str, str]) -> None:
    """Put secrets into the environment, where the code of the tests finds them."""
    for name, secret in secrets.items():
        monkeypatch.setenv(f"PLANTED_{name}", secret)


@pytest.mark.parametrize("shift", range(len(SHAPES)))
def test_a_planted_secret_of_a_client_is_nowhere(
    shift: int, project: Project, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Of each shape, in each place of a request: no recording, report, log or traceback holds a credential."""
    shapes = [*SHAPES.values()]
    secrets = {place: shapes[(number + shift) % len(shapes)] for number, place in enumerate(PLACES)}
    as_planted(monkeypatch, secrets)
    with loopback(careless) as server:
        use_code(project, PLANTED_CODE % server.url)
        said = run_loudly(project)
    assert lines_about(said, "answer from") == snapshot
    assert len(kept(project.path / "cassettes")) == 2 * (len(PAIRS) - 1)
    assert "Both are fine" in (project.path / "report" / "judgments.jsonl").read_text()
    assert [leak for secret in secrets.values() for leak in planted(project, said, secret)] == []


@pytest.mark.slow
def test_what_a_worker_sends_holds_no_secret(
    project: Project, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Under xdist the controller cannot know what workers' requests carried: reports come clean to it."""
    shapes = [*SHAPES.values()]
    secrets = dict(zip(PLACES, shapes[2:], strict=False))
    as_planted(monkeypatch, secrets)
    with loopback(careless) as server:
        use_code(project, PLANTED_CODE % server.url)
        said = run_loudly(project, "-n", "1")
    assert lines_about(said, "answer from") == snapshot
    assert "Both are fine" in (project.path / "report" / "judgments.jsonl").read_text()
    assert [leak for secret in secrets.values() for leak in planted(project, said, secret)] == []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_planted_key_is_nowhere(
    shape: str, project: Project, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Whatever the key of an SDK looks like, no recording, report, log or traceback holds it."""
    as_planted(monkeypatch, {"KEY": SHAPES[shape]})
    with loopback(careless) as server:
        project.configure(provider="openai", model="m", base_url=f"{server.url}/v1", api_key_env="PLANTED_KEY")
        project.add(ALLOWED.format("PLANTED_KEY"))
        said = run_loudly(project)
    assert lines_about(said, "answer from") == snapshot
    assert len(kept(project.path / "cassettes")) == 2 * len(PAIRS)
    assert "Both are fine" in (project.path / "report" / "judgments.jsonl").read_text()
    assert planted(project, said, SHAPES[shape]) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_password_in_an_address_is_nowhere(shape: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password in base_url is used and shown nowhere: not where it works, and not where nobody answers."""
    secret = SHAPES[shape]
    as_planted(monkeypatch, {"PASSWORD": secret})
    with loopback(careless) as server:
        address = server.url.replace("//", f"//judge:{quote(secret, safe='')}@")
        project.configure(provider="openai", model="m", base_url=f"{address}/v1", max_attempts=1)
        said = run_loudly(project)
        assert any("Basic" in asked.headers.get("authorization", "") for asked in server.asked)
    said += run_loudly(project)
    assert "refuses connections" in said
    assert planted(project, said, secret, besides=["pyproject.toml"]) == []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_crash_shows_no_secret(shape: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pytest itself is brought down, its INTERNALERROR holds no key either."""
    as_planted(monkeypatch, {"KEY": SHAPES[shape]})
    project.configure(provider="openai", model="m", base_url="http://127.0.0.1:9/v1", api_key_env="PLANTED_KEY")
    (project.path / "conftest.py").write_text(
        "import os\n\ndef pytest_runtest_logfinish(nodeid):\n"
        "    secret = os.environ['PLANTED_KEY']\n    raise RuntimeError(f'crashed with {secret}')\n"
    )
    result = project.pytester.runpytest_inprocess("-p", "no:cacheprovider", "-l", "-vv", "--full-trace")
    result.reprec = None
    said = f"{result.stdout}\n{result.stderr}"
    assert "INTERNALERROR" in said
    assert "crashed with scrubbed" in said
    assert planted(project, said, SHAPES[shape]) == []


@pytest.mark.parametrize(
    "raised",
    [
        "OSError('no answer: /v1/judge?key=fakewordsonly')",
        "OSError('no answer: /v1/judge?k=fakewordsonly&b=2')",
        "OSError('no answer: https://judge:fakewordsonly@127.0.0.1/v1')",
        "OSError('no answer: http://127.0.0.1/v1?code=fakewordsonly')",
    ],
)
def test_an_address_in_an_error_of_a_python_judge_is_shown_without_keys(raised: str, project: Project) -> None:
    """Clients put addresses into their errors, also relative ones: user and query are left out, known or not."""
    use_code(project, f"def judge(prompt):\n    raise {raised}\n")
    said = project.run(
        "--judge-record", "missing", "--judge-report", "report", "--junitxml=junit.xml", "--tb=short"
    ).said
    assert "no answer:" in said
    assert planted(project, said, "fakewordsonly", besides=["judge_of_ours.py", "judge_of_ours.cpython-311.pyc"]) == []


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_a_redirect_is_shown_without_keys(provider: str, tmp_path: Path) -> None:
    """Where a server redirects to is told without user, query and fragment: sign-in pages put tokens there."""
    places = ("http://judge:fakewordsonly@127.0.0.1:9/v1", "/login?code=fakewordsonly", "/login#token=fakewordsonly")
    for place in places:
        with (
            loopback(lambda _, place=place: raw(b"", 302, {"location": place})) as server,
            pytest.raises(FatalJudgeError, match="redirects to") as caught,
        ):
            ask(sdk_judge(provider, server.url), tmp_path, "missing")
        assert "fakewordsonly" not in str(caught.value)


def test_credentials_that_a_server_hands_out_are_not_kept(python_judge: Callable[..., Judge], tmp_path: Path) -> None:
    """A judge that signs in first is recorded and replayed without the token that it was given."""

    def answering(asked: Asked) -> Answer:
        if asked.path == "/v1/token":
            return raw(json.dumps({"access_token": "fakewordsonly", "expires_in": 60}).encode())
        return raw(verdict(f"You are {asked.headers['authorization']}.").encode())

    with loopback(answering) as server:

        def asking(prompt: str) -> str:
            token = requests.post(f"{server.url}/v1/token", json={"prompt": prompt}).json()["access_token"]
            headers = {"authorization": f"Bearer {token}"}
            return requests.post(f"{server.url}/v1/judge", json={"prompt": prompt}, headers=headers).text

        judge = python_judge(asking)
        recorded = ask(judge, tmp_path, "missing", PAIRS[:1])
    assert not any("fakewordsonly" in path.read_text() for path in tmp_path.rglob("*.jsonl"))
    assert ask(judge, tmp_path, "none", PAIRS[:1]) == recorded


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_of_headers_only_the_content_type_is_kept(provider: str, tmp_path: Path) -> None:
    """A row holds what was asked and the body (status and repeat where unusual), no header but a content type."""
    with loopback(private) as server:
        ask(sdk_judge(provider, server.url), tmp_path, "missing")
    for name in NAMES:
        for line in (tmp_path / "ours" / "own" / f"{name}.jsonl").read_text().splitlines()[1:]:
            assert json.loads(line).keys() - {"seen", "cached"} == {"digest", "pair", "json"}


# --- asked again, and no more than that -------------------------------------------------------------------


def wrong_for(*numbers: int, said: Answering) -> Answering:
    """Return a server's behaviour: about some pairs it says something that is no verdict."""
    about = tuple(f"Question {number}?" for number in numbers)
    return lambda asked: said(asked) if any(map(asked.prompt.__contains__, about)) else asked.answered(verdict("fine"))


def cut_off(_: Asked) -> Answer:
    """Answer half a verdict, cut off at the limit of tokens."""
    choice = {"message": {"role": "assistant", "content": '{"selected'}, "finish_reason": "length"}
    return raw(json.dumps({"model": "m", "choices": [choice]}).encode())


def withheld(_: Asked) -> Answer:
    """Answer nothing, for the sake of a content filter."""
    choice = {"message": {"role": "assistant", "content": ""}, "finish_reason": "content_filter"}
    return raw(json.dumps({"model": "m", "choices": [choice]}).encode())


def by_kind(asked: Asked) -> Answer:
    """Be cut off about pair 3, and withhold the answer about pair 4."""
    return withheld(asked) if "Question 4?" in asked.prompt else cut_off(asked)


def about(server: Server) -> Counter[str]:
    """Return how often each pair was asked about."""
    return Counter(re.findall(r"Question (\d)\?", asked.prompt)[0] for asked in server.asked)


def use(project: Project, url: str, **keys: Any) -> None:
    """Configure a judge behind a server."""
    project.configure(provider="openai", model=keys.pop("model", "m"), base_url=f"{url}/v1", **keys)


def record_with(project: Project, reply: Answering, *arguments: str, **keys: Any) -> tuple[str, Server]:
    """Record from a server that replies so; return what was said, and the server."""
    with loopback(reply) as server:
        use(project, server.url, **keys)
        said = project.run(*(arguments or ("--judge-record", "missing"))).said
    return said, server


def test_invalid_answers_are_asked_again_and_nothing_else(project: Project, snapshot: SnapshotAssertion) -> None:
    """The item's message names the command, which asks the invalid answers alone; `missing` never does."""
    said, _ = record_with(project, wrong_for(3, 4, said=by_kind))
    assert lines_about(said, "invalid (filtered") == snapshot
    assert ONLY.format("invalid") in said
    fine = wrong_for(said=cut_off)
    assert not record_with(project, fine)[1].asked
    said, server = record_with(project, fine, "--judge-record", "invalid", "--judge-preflight")
    assert "ours: at most 4 calls" in said
    assert not server.asked
    said, server = record_with(project, fine, "--judge-record", "invalid")
    assert about(server) == {"3": 2, "4": 2}
    assert "are invalid" not in said
    assert not record_with(project, fine, "--judge-record", "invalid")[1].asked
    rows = kept(project.path / "cassettes")
    assert Counter(row.asked for row in rows) == {1: 8, 2: 4}
    assert len({row.digest for row in rows}) == 12
    assert "are invalid" not in project.run().said


def test_kinds_of_invalid_answers_are_asked_again_by_choice(project: Project, snapshot: SnapshotAssertion) -> None:
    """--judge-record-invalid KIND narrows it; another mode, and a kind that there is not, are errors that say so."""
    record_with(project, wrong_for(3, 4, said=by_kind))
    fine = wrong_for(said=cut_off)
    one = ("--judge-record", "invalid", "--judge-record-invalid", "truncated")
    assert "at most 2 calls" in record_with(project, fine, *one, "--judge-preflight")[0]
    said, server = record_with(project, fine, *one)
    assert about(server) == {"3": 2}
    assert lines_about(said, "invalid (filtered") == snapshot
    said = project.run("--judge-record", "missing", "--judge-record-invalid", "empty").said
    assert lines_about(said, "--judge-record-invalid") == snapshot
    said = project.run("--judge-record", "invalid", "--judge-record-invalid", "trunkated").said
    assert lines_about(said, 'mean "truncated"?') == snapshot


@pytest.mark.slow
def test_an_invalid_answer_stays_until_a_new_one_arrived(project: Project) -> None:
    """Where asking again fails, what was recorded is as it was; an answer that is invalid again is asked once a run."""
    record_with(project, wrong_for(3, said=cut_off))
    before = {path: path.read_bytes() for path in (project.path / "cassettes").rglob("recency*.jsonl")}
    said, _ = record_with(
        project, lambda _: raw(b'{"error": {"message": "No."}}', 500), "--judge-record", "invalid", max_attempts=1
    )
    assert "gave up" in said
    assert {path: path.read_bytes() for path in before} == before
    (project.path / "test_more.py").write_text(TEST)
    _, server = record_with(project, wrong_for(3, said=cut_off), "--judge-record", "invalid")
    assert about(server) == {"3": 2}, "two items share the conditions"


@pytest.mark.parametrize("body", [b"{}", b"", b"null"])
def test_an_outage_is_not_recorded_as_an_answer(body: bytes, project: Project) -> None:
    """A 200 that says nothing ends the run with all answers kept, and `missing` asks for the rest."""
    said, _ = record_with(project, wrong_for(3, said=lambda _: raw(body)), max_attempts=1)
    assert "run again with --judge-record missing" in said
    assert all(row.pair != "p03" for row in kept(project.path / "cassettes"))
    before = len(kept(project.path / "cassettes"))
    _, server = record_with(project, wrong_for(said=cut_off))
    assert len(server.asked) == 12 - before
    assert "ERROR" not in project.run().said


def test_an_outage_that_was_recorded_replays_and_is_asked_again(tmp_path: Path) -> None:
    """Recordings of an earlier version hold such answers: they are invalid in a replay, and `invalid` asks again."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing")
        file = cassette(tmp_path)
        rows = [dataclasses.replace(row, body=b"{}") if row.pair == "p03" else row for row in file.read_rows()]
        file.replace(rows, file.header or {})
        judge = sdk_judge("openai", server.url)
        assert [invalid for _, _, invalid in ask(judge, tmp_path, "none")[NAMES[0]]].count("empty") == 1
        asked = len(server.asked)
        assert ask(judge, tmp_path, "invalid") == expected(judge)
        assert len(server.asked) == asked + 1


def test_one_deleted_line_costs_one_call(project: Project) -> None:
    """The command of a miss asks what is missing and nothing else, though other contrasts were never recorded."""
    (project.path / "test_more.py").write_text(TEST.replace("recency", "provenance"))
    fine = wrong_for(said=cut_off)
    record_with(project, fine, "--judge-record", "missing", "-k", "recency")
    file = cassette(project.path / "cassettes")
    file.replace(file.read_rows()[:-1], file.header or {})
    said = project.run("-k", "recency").said
    assert ONLY.format("missing") in said
    arguments = shlex.split(ONLY.format("missing"))[1:]
    said, server = record_with(project, fine, *arguments)
    assert "ours: at most 1 calls" in said
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("item", "options"),
    [
        (CheckId("j", "own", ContrastCheck(RECENCY)), "--judge j --judge-dataset own -k recency-new-old"),
        (CheckId("j", "own", AccuracyCheck()), "--judge j --judge-dataset own -k own-accuracy"),
        (CheckId("j", "own", PlanCheck()), "--judge j --judge-dataset own -k own-plan"),
        (
            CheckId("j", "own", SwapCheck(RECENCY), "old"),
            "--judge j --judge-baseline old --judge-dataset own -k j-against-old-own-recency-new-old",
        ),
        (
            CheckId("j", "own", SwapCheck(), "old"),
            "--judge j --judge-baseline old --judge-dataset own -k j-against-old-own-accuracy",
        ),
    ],
)
def test_the_options_of_an_item_select_it(item: CheckId, options: str) -> None:
    """The options that messages name are those of the item, whose id holds what -k looks for."""
    assert item.options == options
    assert shlex.split(options)[-1] in f"test_ours[{item!r}]"


def test_a_condition_of_another_judge_is_repaired_by_all_of_it_alone(project: Project) -> None:
    """Where `missing` cannot repair a condition the message names `all`, for the contrast that needs it."""
    record_with(project, wrong_for(said=cut_off))
    use(project, "http://127.0.0.1:9", temperature=0.5)
    assert ONLY.format("all") in project.run().said


def test_the_forecast_looks_up_what_the_run_looks_up(project: Project) -> None:
    """After a changed host every call is forecast and made; after another name of this machine none is."""
    fine = wrong_for(said=cut_off)
    record_with(project, fine)
    missing = ("--judge-record", "missing")
    with loopback(fine) as server:
        use(project, server.url.replace("127.0.0.1", "localhost"))
        assert "ours: at most 0 calls" in project.run(*missing).said
        use(project, f"{server.url}/elsewhere")
        assert "ours: at most 12 calls" in project.run(*missing, "--judge-preflight").said
        assert not server.asked
        assert "ours: at most 12 calls" in project.run(*missing).said
        assert len(server.asked) == 12
        assert "ours: at most 0 calls" in project.run(*missing).said


def test_the_forecast_of_a_python_judge_looks_up_too(project: Project) -> None:
    """A judge of the user's is looked up by what its function asks for, without any network."""
    code = "import httpx\ndef judge(prompt):\n    return httpx.post('{}/judge', json={{'prompt': prompt}}).text\n"
    with loopback() as server:
        use_code(project, code.format(server.url))
        project.run("--judge-record", "missing")
        assert "ours: at most 0 calls" in project.run("--judge-preflight").said
        use_code(project, code.format(f"{server.url}/new"))
        sys.modules.pop("judge_of_ours", None)
        asked = len(server.asked)
        assert "ours: at most 12 calls" in project.run("--judge-preflight").said
        assert len(server.asked) == asked


def test_a_renamed_judge_is_told(project: Project, snapshot: SnapshotAssertion) -> None:
    """A miss says which folder holds recordings of the same judge by another name, and names no other judge's."""
    record_with(project, wrong_for(said=cut_off))
    folder = project.path / "cassettes"
    folder.joinpath("ours").rename(folder / "former")
    said = project.run().said
    assert lines_about(said, "renamed, rename") == snapshot
    use(project, "http://127.0.0.1:9", temperature=0.5)
    assert "was renamed" not in project.run().said
    use(project, "http://127.0.0.1:9")
    folder.joinpath("former").rename(folder / "ours")
    assert "ERROR" not in project.run().said


# --- positions stay ---------------------------------------------------------------------------------------


def graded(project: Project, golds: Mapping[str, int]) -> None:
    """Write the pairs with gold."""
    fields = ("id", "question", "response_1", "response_2")
    rows = [
        {name: getattr(pair, name) for name in fields} | {"gold": golds[pair.id]}
        for pair in some_pairs(12)
        if pair.id in golds
    ]
    (project.path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_positions_stay_with_the_recording(project: Project) -> None:
    """Corrected golds and removed pairs move no other pair: all replays, and a new pair alone is asked about."""
    golds = {pair.id: 1 for pair in some_pairs(11)}
    graded(project, golds)
    fine = wrong_for(said=cut_off)
    record_with(project, fine)
    for changed in ({**golds, "p01": 2, "p02": 2, "p03": 2}, {name: 1 for name in golds if name not in ("p05", "p06")}):
        graded(project, changed)
        said = project.run().said
        assert "ERROR" not in said
        assert "at most 0 calls" in project.run("--judge-preflight").said
    graded(project, {**golds, "p01": 2, "p11": 1})
    said, server = record_with(project, fine)
    assert "at most 2 calls" in said
    assert len(server.asked) == 2
    assert all("Question 11?" in asked.prompt for asked in server.asked)


def test_positions_even_out_what_the_kept_ones_leave() -> None:
    """New pairs alone are drawn, and gold is as even as they can make it; without kept ones nothing changed."""
    golds = [1, 1, 1, 2, 1, 1, 1, 2, 1, 1]
    pairs = [dataclasses.replace(pair, gold=gold) for pair, gold in zip(some_pairs(10), golds, strict=True)]
    assert sum(pair.gold == 1 for pair in balance_gold_position(pairs, 0)) == 5
    kept_pairs = {pair.id: pair for pair in pairs[:3]}
    again = balance_gold_position(pairs, 0, kept_pairs)
    assert again[:3] == tuple(pairs[:3])
    assert sum(pair.gold == 1 for pair in again) == 5
    all_kept = {pair.id: pair for pair in balance_gold_position(pairs, 0)}
    corrected = [dataclasses.replace(pairs[0], gold=2), *pairs[1:]]
    assert [pair.digest for pair in balance_gold_position(corrected, 0, all_kept)] == [
        pair.digest for pair in all_kept.values()
    ]
    edited = [dataclasses.replace(pairs[0], question="Another?"), *pairs[1:]]
    assert [pair.digest for pair in balance_gold_position(edited, 0, all_kept)][1:] == [
        p.digest for p in all_kept.values()
    ][1:]


# --- one model, and the judge itself ----------------------------------------------------------------------


def alternating(**fields: Sequence[str]) -> Answering:
    """Return a server's behaviour: it answers with each value of the fields in turn."""
    turns = {name: itertools.cycle(values) for name, values in fields.items()}
    return lambda asked: asked.answered(verdict("fine"), **{name: next(values) for name, values in turns.items()})


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"model": ("m-2024-08-06", "m-2024-11-20")}, "2 models: 'm-2024-08-06' 6, 'm-2024-11-20' 6"),
        ({"model": ("m",), "system_fingerprint": ("fp_1", "fp_2")}, "2 fingerprints: 'fp_1' 6, 'fp_2' 6"),
    ],
)
def test_a_model_that_changes_during_a_recording_is_warned_about(
    fields: dict[str, Sequence[str]], told: str, project: Project, snapshot: SnapshotAssertion
) -> None:
    """Two snapshots, or two fingerprints, are a warning in summary and report, when recorded and in each replay."""
    report = ("--judge-report", str(project.path / "report"))
    said, _ = record_with(project, alternating(**fields), "--judge-record", "missing", *report)
    for output in (said, project.run(*report).said):
        assert lines_about(output, "was answered") == snapshot
        written = json.loads((project.path / "report" / "report.json").read_text())
        assert [warning for warning in written["warnings"] if told in warning]
        assert [row["answers"] for row in written["served"]] == [6, 6]


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        ({"model": ("m-2024-08-06", "m-2024-11-20")}, {"accept_served_model": "m-2024-11-20"}),
        ({"model": ("m", "m-2024-11-20")}, {"accept_served_model": "m-2024-11-20"}),
        ({"model": ("m",), "system_fingerprint": ("fp_1", "fp_2")}, {"accept_served_model": "m"}),
        ({"model": ("m-0613", "m-0613-2024-11-20")}, {"model": "m-0613"}),
    ],
)
def test_a_pinned_model_that_changes_is_an_error(
    fields: dict[str, Sequence[str]], keys: dict[str, str], project: Project
) -> None:
    """Where the judge's table pins the model the recording stops, and a replay of such a mixture is an error."""
    said, server = record_with(project, alternating(**fields), **keys, max_attempts=1)
    assert "ERROR" in said
    assert "fatal: " in said
    assert len(server.asked) < 12
    assert "judges.ours]" in said


def test_a_replayed_mixture_of_a_pinned_model_is_an_error(project: Project) -> None:
    """A pin that comes after the recording finds the mixture in it: the item is an error that names both."""
    record_with(project, alternating(model=("m",), system_fingerprint=("fp_1", "fp_2")))
    use(project, "http://127.0.0.1:9", accept_served_model="m")
    said = project.run().said
    assert "the fingerprint 'fp_2' answered where 'fp_1' did before" in said
    assert "fatal" not in said


def test_a_pinned_model_with_two_fingerprints_is_warned_about(project: Project) -> None:
    """A name with a date pins the model, not what it runs on: that is a warning, no error."""
    fields = {"model": ("m-2024-11-20",), "system_fingerprint": ("fp_1", "fp_2")}
    said, _ = record_with(project, alternating(**fields), model="m-2024-11-20")
    assert "2 fingerprints" in said
    assert "ERROR" not in said


REPEAT = TEST.replace("recency", "repeat")


def identified(ids: Callable[[Asked, int], str], created: bool = True) -> Answering:
    """Return a server's behaviour: each answer has an id, and the second in which it was made."""
    numbers = itertools.count()

    def reply(asked: Asked) -> Answer:
        number = next(numbers)
        return asked.answered(verdict("fine"), id=ids(asked, number), **({"created": number} if created else {}))

    return reply


@pytest.mark.parametrize(
    ("reply", "cached"),
    [
        (identified(lambda asked, _: fingerprint(asked.prompt)), 6),  # a cache by request
        (identified(lambda *_: "one for all", created=False), 11),  # a cache by likeness
        (identified(lambda _, number: f"id-{number}"), 0),
        (identified(lambda *_: "", created=False), 0),
        (lambda asked: asked.answered(verdict("fine")), 0),
    ],
)
def test_a_cache_before_the_judge_is_warned_about(reply: Answering, cached: int, project: Project) -> None:
    """One response id twice is a cache's doing, which fakes the noise floor; ids are still written nowhere."""
    (project.path / "test_ours.py").write_text(REPEAT)
    report = ("--judge-report", str(project.path / "report"))
    said, server = record_with(project, reply, "--judge-record", "missing", "--judge-repeats", "2", *report)
    assert len(server.asked) == 12
    warned = f"{cached} of 12 new answers came with the response id of an earlier answer"
    assert (warned in said) == bool(cached)
    assert ("response id" in said) == bool(cached)
    written = (project.path / "report" / "report.json").read_bytes()
    assert bool(json.loads(written)["warnings"]) == bool(cached)
    project.run("--judge-repeats", "2", *report)
    assert (project.path / "report" / "report.json").read_bytes() == written
    assert not [path for path in project.path.rglob("*.jsonl") if b"one for all" in path.read_bytes()]


def test_ids_that_come_twice_by_chance_are_no_cache(project: Project) -> None:
    """Some servers have a single id, or draw one from a few hundred: other requests, other answers, no warning."""
    said, _ = record_with(project, identified(lambda *_: "chatcmpl-1"))
    assert "response id" not in said


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_body_has_an_origin_or_none(body: bytes) -> None:
    """A body tells its id where it is an object with one; whatever else it is, that is no error."""
    origin = response_origin(body, "request")
    assert origin is None or any(name.encode() in body for name in IDS)
    assert response_origin(b'{"id": "\\ud800"}', "request") is not None
    assert response_origin(b"[" * 100_000, "request") is None
