"""Recording and replaying HTTP: every client, both SDKs, one call or many; nothing secret, nothing unnoticed.

The judges are recorded over real HTTP from a loopback server of the test's, and replayed when it is gone.
What must hold and does not yet is marked `suspected`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import hashlib
import http.client
import importlib
import inspect
import json
import os
import re
import socket
import ssl
import sys
import threading
import types
import urllib.request
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

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

from judgefixtures.cassettes.files import CassetteError, CassetteFile, Row
from judgefixtures.cassettes.library import Library, RecordMode
from judgefixtures.cassettes.replay import (
    CALL,
    CassetteMissError,
    NetworkBlockedError,
    recording,
    request_digest,
)
from judgefixtures.contrasts import Condition, contrasts
from judgefixtures.judges import FIRST_WAIT, FatalJudgeError, Judge, load_judge
from judgefixtures.judgments import collect
from judgefixtures.pairs import Pair
from judgefixtures.simulator.server import serving

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


@dataclass(frozen=True)
class Asked:
    """A request that the server received."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def prompt(self) -> str:
        """The prompt, in whichever of the three formats it was sent."""
        if not self.body:
            return ""
        sent = json.loads(self.body)
        if "messages" in sent:
            return str(sent["messages"][-1]["content"])
        if "contents" in sent:
            return "".join(part["text"] for part in sent["contents"][-1]["parts"])
        return str(sent["prompt"])

    def answered(self, text: str, **more: Any) -> Reply:
        """Return a judge's text as this API's body says it; a client of one's own gets the text alone."""
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body: Any = {"object": "chat.completion", "model": "m", "choices": [choice]}
        if ":generateContent" in self.path:
            content = {"parts": [{"text": text}], "role": "model"}
            body = {"candidates": [{"content": content, "finishReason": "STOP"}], "modelVersion": "m"}
        elif "/chat/completions" not in self.path:
            return Reply(text.encode() if not more else json.dumps(json.loads(text) | more).encode())
        return Reply(json.dumps(body | more).encode())


@dataclass(frozen=True)
class Reply:
    """What the server answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": JSON})


def verdict(reason: str, choice: int = 1) -> str:
    """Return a judge's answer."""
    return json.dumps({"selected_response": choice, "reason": reason})


def fingerprint(text: str) -> str:
    """Return what tells one prompt from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class Loopback(ThreadingHTTPServer):
    """Answers as `reply` says and remembers every request."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Asked] = []
        self.reply: Callable[[Asked], Reply] = lambda asked: asked.answered(
            verdict(fingerprint(asked.prompt))
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Loopback
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        asked = Asked(
            self.command, self.path, {key.lower(): value for key, value in self.headers.items()}, body
        )
        self.server.asked.append(asked)
        reply = self.server.reply(asked)
        self.send_response(reply.status)
        for name, value in {**reply.headers, "content-length": str(len(reply.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST  # noqa: N815 (the base class looks for this name)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def loopback(reply: Callable[[Asked], Reply] | None = None) -> Iterator[Loopback]:
    """Serve while the block runs; afterwards nobody listens there."""
    with Loopback() as server:
        if reply is not None:
            server.reply = reply
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


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
        Library(root, mode).open(judge, "own", names, pairs) as cassettes,
        recording(only_httpx2=not judge.is_python, offline=mode == "none"),
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


def kept(root: Path) -> list[Row]:
    """Return every row of both conditions."""
    return [row for name in NAMES for row in cassette(root, name).rows()]


def expected(judge: Judge, pairs: Sequence[Pair] = PAIRS) -> Answers:
    """Return what the loopback server answers unless told otherwise."""
    return {
        condition.name: [(1, fingerprint(judge.prompt(pair, condition)), None) for pair in pairs]
        for condition in CONDITIONS
    }


PATCHED = (
    (http.client, "HTTPConnection"), (http.client, "HTTPSConnection"),
    (urllib3.connection, "HTTPConnection"), (urllib3.connection, "HTTPSConnection"),
    (urllib3.connection, "VerifiedHTTPSConnection"),
    (urllib3.connectionpool, "is_connection_dropped"),
    *((pool, name) for pool in (urllib3.HTTPConnectionPool, urllib3.HTTPSConnectionPool)
      for name in ("ConnectionCls", "_get_conn", "_new_conn")),
    *((module.HTTPTransport, "handle_request") for module in (httpx, httpx2)),
    *((module.AsyncHTTPTransport, "handle_async_request") for module in (httpx, httpx2)),
    (aiohttp.ClientSession, "_request"),
    (socket.socket, "connect"), (socket.socket, "connect_ex"), (socket, "getaddrinfo"),
)  # fmt: skip
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


CLIENTS = (by_requests, by_urllib3, by_urllib, by_httpx, by_httpx_async, by_httpx2, by_httpx2_async,
           by_aiohttp, by_aiohttp_data)  # fmt: skip


def clients(without: Client | None = None, **marks: Any) -> pytest.MarkDecorator:
    """Parametrize a test over every client (but one), with marks for some."""
    chosen = [client for client in CLIENTS if client is not without]
    return pytest.mark.parametrize(
        "client",
        [
            pytest.param(client, id=client.__name__[3:], marks=marks.get(client.__name__, ()))
            for client in chosen
        ],
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
        assert ask(sdk_judge(provider, server.url), tmp_path, "none", pairs, concurrency) == expected(
            judge, pairs
        )


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_a_replayed_row_is_read_once(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """vcrpy asks whether there is an answer and then for it: the row is looked up and read once for both."""
    with loopback() as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing")
    found: Counter[str] = Counter()
    find = CassetteFile.find

    def counted(self: CassetteFile, digest: str) -> Row | None:
        found[digest] += 1
        return find(self, digest)

    monkeypatch.setattr(CassetteFile, "find", counted)
    assert ask(sdk_judge(provider, server.url), tmp_path, "none") == recorded
    assert set(found.values()) == {1}
    assert len(found) == 2 * len(PAIRS)


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "simulated-silent"), ("google", "simulated-candid")]
)
def test_the_simulated_judges_replay(provider: str, model: str, tmp_path: Path) -> None:
    """What a simulated judge answered is what replays, and each question was asked once."""
    with serving() as server:
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
            Library(tmp_path, "missing").open(judge, "own", NAMES, PAIRS),
            recording(only_httpx2=False, offline=False),
        ):
            for number in (1, 2):
                assert outside(client, server.url) == verdict(fingerprint("mine")).encode()
                assert len(server.asked) == number
    assert kept(tmp_path) == []


def test_patching_what_the_sdks_use_leaves_the_rest() -> None:
    """For an SDK's judge nothing but httpx2 is patched."""
    before = dict(zip(PATCHED, patched(), strict=True))
    with recording(only_httpx2=True, offline=False):
        during = dict(zip(PATCHED, patched(), strict=True))
    assert {owner.__module__.partition(".")[0] for (owner, name) in PATCHED
            if during[owner, name] is not before[owner, name]} == {"httpx2"}  # fmt: skip


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
        name: [(1, fingerprint(reason), None) for _, reason, _ in found]
        for name, found in expected(judge).items()
    }
    assert ask(judge, tmp_path, "none") == recorded


def test_a_body_that_is_quoted_in_the_next_request_replays(
    python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
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

    def sample(asked: Asked) -> Reply:
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


def failing_first(statuses: Sequence[int], reply: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
    """Answer every prompt with these statuses before the answer."""
    seen: Counter[str] = Counter()

    def answer(asked: Asked) -> Reply:
        seen[asked.prompt] += 1
        if seen[asked.prompt] > len(statuses):
            return reply(asked)
        headers = {"content-type": JSON, "retry-after": "0"}
        return Reply(b'{"error": {"message": "not now"}}', statuses[seen[asked.prompt] - 1], headers)

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


@pytest.mark.parametrize("status", [429, 500])
@pytest.mark.parametrize("provider", ["openai", "google"])
def test_errors_that_the_retry_layer_retries_are_not_recorded(
    provider: str, status: int, tmp_path: Path
) -> None:
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
        draft = server.reply
        server.reply = lambda asked: draft(asked) if asked.path == "/draft" else failing(asked)

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
)  # fmt: skip
def test_an_invalid_answer_is_invalid_again(
    body: Callable[[Asked], Reply], provider: str, tmp_path: Path
) -> None:
    """What counts as invalid while recording counts the same in a replay: it is not a missing recording."""

    def answer(asked: Asked) -> Reply:
        reply = body(asked) if "Question 3?" in asked.prompt else asked.answered(verdict("fine"))
        return Reply(reply.body, reply.status, {**reply.headers, "retry-after": "0"})

    with loopback(answer) as server:
        recorded = ask(sdk_judge(provider, server.url, max_attempts=1), tmp_path, "missing")
    assert [invalid is None for _, _, invalid in recorded[NAMES[0]]] == [True, True, True, False, True, True]
    assert ask(sdk_judge(provider, server.url, max_attempts=1), tmp_path, "none") == recorded


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_an_error_that_is_the_answer_is_recorded(provider: str, tmp_path: Path) -> None:
    """A prompt that is too long is answered by an error: that is kept, and is as invalid in a replay."""
    error = {
        "message": "This model's maximum context length is 10 tokens.",
        "code": "context_length_exceeded",
    }

    def answer(asked: Asked) -> Reply:
        if "Question 3?" in asked.prompt:
            return Reply(json.dumps({"error": error}).encode(), 400)
        return asked.answered(verdict("fine"))

    with loopback(answer) as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing")
    assert [invalid for _, _, invalid in recorded[NAMES[0]]] == [None, None, None, "too-large", None, None]
    assert ask(sdk_judge(provider, server.url), tmp_path, "none") == recorded


# --- what a response can be -------------------------------------------------------------------------------

BODIES = {
    "json": Reply(b'{"a": [1, 2.5, null], "b": "n\xc3\xa4ive"}'),
    "gzip": Reply(
        gzip.compress(b'{"zipped": true}'), 200, {"content-type": JSON, "content-encoding": "gzip"}
    ),
    "deflate": Reply(
        zlib.compress(b"deflated"), 200, {"content-type": "text/plain", "content-encoding": "deflate"}
    ),
    "text": Reply("naïve\r\n".encode(), 200, {"content-type": "text/plain; charset=utf-8"}),
    "latin-1": Reply("naïve".encode("latin-1"), 200, {"content-type": "text/plain; charset=iso-8859-1"}),
    "html": Reply(b"<html>&nbsp;</html>", 200, {"content-type": "text/html"}),
    "events": Reply(b'data: {"a": 1}\n\ndata: [DONE]\n\n', 200, {"content-type": "text/event-stream"}),
    "binary": Reply(bytes(range(256)), 200, {"content-type": "application/octet-stream"}),
    "empty": Reply(b"", 200, {"content-type": "text/plain"}),
    "no-content": Reply(b"", 204, {}),
    "duplicate-keys": Reply(b'{"a": 1, "a": 2}'),
    "nan": Reply(b'{"a": NaN}'),
    "half-a-surrogate": Reply(b'{"a": "\\ud800"}'),
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
def test_the_kind_of_a_response_is_kept(
    kind: str, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
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

    def zipped(asked: Asked) -> Reply:
        assert asked.headers["accept-encoding"] == "gzip"
        reply = asked.answered(verdict(fingerprint(asked.prompt)))
        return Reply(gzip.compress(reply.body), 200, {**reply.headers, "content-encoding": "gzip"})

    with loopback(zipped) as server:
        judge = sdk_judge(provider, server.url)
        assert ask(judge, tmp_path, "missing") == expected(judge)
    assert all(json.loads(row.body) for row in kept(tmp_path))
    assert ask(judge, tmp_path, "none") == expected(judge)


def test_a_question_in_the_query_is_told_from_another(
    python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """A judge that asks by GET with its question in the query gets every pair's own answer."""

    def echo(asked: Asked) -> Reply:
        return Reply(verdict(fingerprint(urllib.request.unquote(asked.path.partition("?q=")[2]))).encode())

    with loopback(echo) as server:

        async def asking(prompt: str) -> str:
            async with httpx.AsyncClient(verify=TLS) as client:
                return (
                    await client.get(f"{server.url}/judge?q={urllib.request.quote(prompt, safe='')}")
                ).text

        judge = python_judge(asking)
        assert ask(judge, tmp_path, "missing", concurrency=1) == expected(judge)
    assert ask(judge, tmp_path, "none") == expected(judge)


async def following_aiohttp(url: str, sent: Any) -> bytes:
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=json.dumps(sent).encode()) as response,
    ):
        return await response.read()


async def following_httpx(url: str, sent: Any) -> bytes:
    async with httpx.AsyncClient(verify=TLS, follow_redirects=True) as client:
        return (await client.post(url, json=sent)).content


AIOHTTP_307 = (following_aiohttp, 307)
GET_ALWAYS = suspected("vcrpy follows aiohttp's redirects by GET, also after a 307", raises=FatalJudgeError)


@pytest.mark.parametrize(
    ("client", "status", "query"),
    [
        pytest.param(client, status, query, id=f"{client.__name__}-{status}-{len(query)}",
                     marks=GET_ALWAYS if (client, status) == AIOHTTP_307 else ())
        for client in (by_requests, following_httpx, following_aiohttp)
        for status in (303, 307)
        for query in ("", "?version=7", "?b=2&a=x+y&empty=&api_key=canary")
    ],
)  # fmt: skip
def test_a_redirected_answer_replays(
    client: Client, status: int, query: str, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """A judge whose client follows a redirect, as POST or as GET, gets the same answer in a replay."""

    def moved(asked: Asked) -> Reply:
        if asked.path == f"/final{query}":
            return Reply(verdict(f"by {asked.method}").encode())
        return Reply(b"", status, {"location": f"/final{query}"})

    with loopback(moved) as server:
        judge = python_judge(through(client, server.url))
        recorded = ask(judge, tmp_path, "missing")
        assert {reason for found in recorded.values() for _, reason, _ in found} == {
            "by POST" if status == 307 else "by GET"
        }
    assert not any("canary" in path.read_text() for path in tmp_path.rglob("*.jsonl"))
    assert ask(judge, tmp_path, "none") == recorded


@pytest.mark.parametrize(
    "provider",
    [
        "openai",
        "google",
    ],
)
def test_words_of_headers_that_are_no_secrets_stay_in_answers(provider: str, tmp_path: Path) -> None:
    """What an SDK says of itself in its headers are words that a judge may use: they stay in its answers."""
    text = "It names the Bearer scheme, python, CPython, asyncio, Linux, async:asyncio and application/json."
    with loopback(lambda asked: asked.answered(verdict(text))) as server:
        recorded = ask(sdk_judge(provider, server.url), tmp_path, "missing")
    assert recorded[NAMES[0]][0] == (1, text, None)
    assert ask(sdk_judge(provider, server.url), tmp_path, "none") == recorded


def test_private_fields_are_replaced_and_not_missed(
    python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Whatever type an id or a user has, code that reads it finds another one of that type in a replay."""
    private = {"id": 4711, "user": {"name": "canary"}, "metadata": ["canary"], "account": None}
    with loopback(lambda _: Reply(json.dumps({"items": [private], **private}).encode())) as server:

        async def asking(prompt: str) -> str:
            found = json.loads(await by_httpx_async(f"{server.url}/v1/judge", {"prompt": prompt}))
            kinds = [
                {name: type(item[name]).__name__ for name in private} for item in (found, *found["items"])
            ]
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
    private = {"id": "canary", "user": {"id": 4711}, "metadata": {"team": "canary"}, "account": 4711, "project": [1]}
    own = json.dumps({"selected_response": 2, "reason": "It has one.", "id": 17})

    def answering(asked: Asked) -> Reply:
        return Reply(json.dumps({**json.loads(asked.answered(own).body), "created": 1, **private}).encode())

    with loopback(answering) as server:

        async def asking(prompt: str) -> str:
            async with httpx2.AsyncClient(verify=TLS) as http:
                if sdk == "google":
                    more = {"httpx_async_client": http, "httpx_client": httpx2.Client(verify=TLS)}
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
    assert rb'\"id\": 17' in stored
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
    """Two pairs that read the same are recorded to the same bytes, whichever answer arrives first."""
    twins = (Pair("p1", "Q?", "1", "2"), Pair("p2", "Q?", "1", "2"))
    contents = set()
    for first in ("p1", "p2"):
        both, first_is_kept = threading.Barrier(2), threading.Event()

        def in_order(asked: Asked, first: str = first, both: Any = both, kept: Any = first_is_kept) -> Reply:
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
            assert len(server.asked) == 3
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
    assert request_digest(
        method, f"https://api.example.org:{port}/v1/chat/completions", body
    ) == request_digest("POST", URL, body)


@pytest.mark.parametrize("version", ["v1", "v2", "v1beta", "v1alpha", "v1beta1", "v1alpha2", "v12"])
def test_the_version_segment_does_not_count(version: str) -> None:
    """An SDK that moves from /v1beta/ to /v1/ finds its recordings."""
    for path in ("{}/models/m:generateContent", "gateway/{}/chat/completions"):
        uri = "https://h.example/" + path
        assert request_digest("POST", uri.format(version), b"{}") == request_digest(
            "POST", uri.format("v1"), b"{}"
        )


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


def test_the_key_in_the_query_does_not_count() -> None:
    """A request is found with another key, or without one: the digest gives no key away."""
    keys = ("?key=secret-one", "?key=secret-two", "")
    assert len({request_digest("POST", URL + key, b"{}") for key in keys}) == 1


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_repeat_and_occurrence_count(
    repeat: int, occurrence: int, other_repeat: int, other_occurrence: int
) -> None:
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
        with (
            pytest.raises(CassetteError, match=r"httpx2.*vcrpy >= 9\.4"),
            recording(only_httpx2=only, offline=False),
        ):
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
    for word in ("nothing is recorded", "pair 'p00'", str(tmp_path / "ours" / "own" / f"{NAMES[0]}.jsonl"),
                 COMMAND.format("missing")):  # fmt: skip
        assert word in message


@pytest.mark.parametrize(
    ("change", "field"),
    [({"question": "Another?"}, "question"), ({"response_1": "Another."}, "response_1"),
     ({"response_2": "Another."}, "response_2"), ({"content_type": "Story"}, "content_type")],
)  # fmt: skip
def test_a_miss_names_what_changed_in_the_pair(change: dict[str, str], field: str, tmp_path: Path) -> None:
    """Where a pair's text changed since the recording, the field is named, with pair and command."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing")
    old = PAIRS[2]
    texts = {name: getattr(old, name) for name in ("id", "question", "response_1", "response_2")}
    new = Pair(**{**texts, **change})  # type: ignore[arg-type]
    message = missed(sdk_judge("openai", server.url), tmp_path, [*PAIRS[:2], new, *PAIRS[3:]])
    for word in ("pair 'p02'", f"the pair's {field} changed since the recording", COMMAND.format("missing")):
        assert word in message


def test_a_miss_of_one_pair_counts_the_others(tmp_path: Path) -> None:
    """Where a pair was never recorded, the message says how many are, and in which file."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing", PAIRS[1:])
    message = missed(sdk_judge("openai", server.url), tmp_path)
    for word in (
        "pair 'p00'",
        f"{len(PAIRS) - 1} pairs are recorded in",
        f"{NAMES[0]}.jsonl",
        COMMAND.format("missing"),
    ):
        assert word in message


def test_a_miss_of_another_request_says_so(tmp_path: Path) -> None:
    """Where the pair is recorded and the request is another, the message points at address and SDK."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing")
    message = missed(sdk_judge("openai", server.url.replace("127.0.0.1", "localhost")), tmp_path)
    for word in ("the pair is recorded", "base_url", COMMAND.format("missing")):
        assert word in message


@pytest.mark.parametrize(
    ("keys", "told"),
    [({"model": "n"}, 'model: "m" -> "n"'), ({"temperature": 0.5}, "parameters.temperature: 0.0 -> 0.5"),
     ({"seed": 7}, "parameters.seed: 0 -> 7"),
     ({"max_output_tokens": 9}, "parameters.max_output_tokens: 512 -> 9"),
     ({"template": "mt-bench"}, 'template.name: "silent-judge" -> "mt-bench"'),
     ({"cue_placement": "before"}, 'cue_placement: "after" -> "before"')],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["none", "missing"])
def test_a_changed_judge_is_told_before_anything_is_asked(
    keys: dict[str, Any], told: str, mode: RecordMode, tmp_path: Path
) -> None:
    """A changed model, parameter or template is named with old and new value, and the command for `all`."""
    with loopback() as server:
        ask(sdk_judge("openai", server.url), tmp_path, "missing")
        asked = len(server.asked)
        with pytest.raises(CassetteError) as caught:
            ask(sdk_judge("openai", server.url, **keys), tmp_path, mode)
        assert len(server.asked) == asked
    for word in (told, "[judges.ours]", f"{NAMES[0]}.jsonl", COMMAND.format("all")):
        assert word in str(caught.value)


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


def swallow(_: str) -> str:
    try:
        return connect_by_address(_)
    except BaseException:
        return verdict("made up")


@pytest.mark.parametrize(
    "function",
    [connect_by_address, connect_by_name, open_by_address, open_by_name, connect_ex, connect_ipv6, look_up,
     in_a_pool_of_its_own,
     look_up_the_old_way, send_a_datagram, swallow],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_a_socket_in_a_replay_is_an_error_that_names_the_host(
    function: Function, python_judge: Callable[..., Judge], tmp_path: Path
) -> None:
    """Judge code that opens a socket while replaying is stopped, with the host and the remedies."""
    host = "127.0.0.1" if function is send_a_datagram else "judge.example.org"
    if "192.0.2.7" in inspect.getsource(function) or function is swallow:
        host = "192.0.2.7"
    elif function is connect_ipv6:
        host = "2001:db8::7"
    with pytest.raises(NetworkBlockedError) as caught:
        ask(python_judge(function), tmp_path, "none", PAIRS[:1])
    for word in (host, "no network is allowed", "--judge-record missing", "remove it"):
        assert word in str(caught.value)


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

TEST = """\
import pytest

pytestmark = pytest.mark.judge_family("recency")


def test_recency(judge, pairs, contrast, gate):
    gate.check(judge, pairs, contrast)
"""


class Project:
    """A user's repository with one judge, run by pytest in this process."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        (self.path / "test_ours.py").write_text(TEST)
        fields = ("id", "question", "response_1", "response_2")
        rows = [{name: getattr(pair, name) for name in fields} for pair in PAIRS]
        (self.path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def configure(self, **keys: Any) -> None:
        """Write the judge's table."""
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        (self.path / "pyproject.toml").write_text(
            f'[tool.judgefixtures]\njudge = "ours"\n[tool.judgefixtures.judges.ours]\n{lines}'
            '[tool.judgefixtures.datasets.own]\npath = "pairs.jsonl"\n'
        )

    def code(self, text: str) -> None:
        """Write the module of a python judge and configure it."""
        (self.path / "judge_of_ours.py").write_text(text)
        self.configure(provider="python", target="judge_of_ours:judge")

    def run(self, *arguments: str) -> tuple[pytest.RunResult, str]:
        """Run pytest; return the result and all that was said, which holds no traceback."""
        # Six pairs decide nothing, which a recording would refuse to pay for.
        result = self.pytester.runpytest_inprocess("-p", "no:cacheprovider", "--judge-force", *arguments)
        result.reprec = None
        said = f"{result.stdout}\n{result.stderr}"
        assert "Traceback" not in said
        assert "INTERNALERROR" not in said
        return result, said


@pytest.fixture(scope="module")
def _imported() -> None:
    """Import what the plugin imports within a run: pytester forgets it after each, but numpy loads once."""
    for name in (
        "openai",
        "google.genai",
        "genai_prices",
        "scipy.optimize",
        "scipy.stats",
        "statsmodels.stats.multitest",
    ):
        importlib.import_module(name)


@pytest.fixture
def project(_imported: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project; what it leaves in temporary folders stays below its own."""
    folder = pytester.path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return Project(pytester)


WITHOUT_HTTP = 'def judge(prompt):\n    return \'{"selected_response": 1, "reason": "mine"}\'\n'


@pytest.mark.parametrize("mode", ["none", "missing"])
def test_a_judge_without_http_runs_live_and_is_noted(mode: str, project: Project) -> None:
    """A python judge that calls nobody is run, in a replay too; the summary says that it was not replayed."""
    project.code(WITHOUT_HTTP)
    _, said = project.run("--judge-record", mode)
    assert "ours made no HTTP call that could be recorded" in said
    assert "run live" in said
    assert re.search(r"n\s*=\s*6", said) or "6" in said
    assert not list(project.path.rglob("recency*.jsonl"))


def test_a_judge_that_was_recorded_is_not_noted_as_live(project: Project) -> None:
    """A python judge over HTTP that was recorded, and one that replays, are not called live."""
    with loopback() as server:
        project.code(
            "import httpx\ndef judge(prompt):\n"
            f"    return httpx.post('{server.url}/v1/judge', json={{'prompt': prompt}}).text\n"
        )
        _, said = project.run("--judge-record", "missing")
        assert len(server.asked) == len(kept(project.path / "cassettes")) == 12
        assert "run live" not in said
    _, said = project.run()
    assert "run live" not in said
    assert "no recording" not in said


def test_a_miss_is_told_by_the_run(project: Project) -> None:
    """A miss fails its item with the message alone, and the run says how to record."""
    project.code(
        "import httpx\ndef judge(prompt):\n    return httpx.post('http://127.0.0.1:9/', json={}).text\n"
    )
    result, said = project.run()
    result.assert_outcomes(failed=1)
    assert (
        "nothing is recorded for judge 'ours', dataset 'own', condition 'recency-new-old', pair 'p0" in said
    )
    assert COMMAND.format("missing") in said


def test_a_blocked_socket_is_told_by_the_run(project: Project) -> None:
    """A socket in a replay fails its item with the host."""
    project.code(
        "import socket\ndef judge(prompt):\n    socket.create_connection(('judge.example.org', 443))\n"
    )
    result, said = project.run()
    result.assert_outcomes(failed=1)
    assert "judge code tried to reach judge.example.org:443" in said


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
    "id": "chatcmpl-canaryID-1", "responseId": "canaryRESPONSE-2", "user": "canary.user@example.org",
    "organization": "org-canaryANSWER-3", "request_id": "req-canaryREQUEST-4", "user_id": "user-canary-5",
    "metadata": {"tenant": "canaryMETADATA-6"}, "safety_identifier": "canarySAFETY-7",
}  # fmt: skip
RESPONSE_HEADERS = {
    "set-cookie": "session=canarySETCOOKIE-1; Path=/", "x-request-id": "req_canaryHEADER-2",
    "openai-organization": "org-canaryHEADER-3", "openai-project": "proj_canaryHEADER-4",
    "x-ratelimit-remaining-tokens": "31337canary", "x-goog-request-id": "canaryGOOG-6",
    "cf-ray": "canaryRAY-5", "server": "canary-host-77",
}  # fmt: skip
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
    return sorted({f"{canary} in {place}" for canary in canaries() for place, content in places.items()
                   if canary.encode() in content})  # fmt: skip


def echoed(asked: Asked) -> str:
    """Return all that a request carried beside its body, as a careless server repeats it."""
    query = asked.path.partition("key=")[2]
    ours = ("authorization", "x-goog-api-key", "cookie", "x-tenant", "openai-organization", "openai-project")
    return " ".join([*(asked.headers[name] for name in ours if name in asked.headers), query])


def error(asked: Asked, status: int, **more: Any) -> Reply:
    """Return an error that repeats the request's secrets."""
    what = "maximum context length" if status == 400 else "refused"
    content = {"message": f"{what}: {echoed(asked)}", "type": "invalid_request_error", "param": None, **more}
    headers = {"content-type": JSON, "retry-after": "0", **RESPONSE_HEADERS}
    return Reply(json.dumps({"error": content, **ACCOUNT}).encode(), status, headers)


def plain(asked: Asked) -> Reply:
    return Reply(asked.answered(verdict("fine")).body, 200, {"content-type": JSON, **RESPONSE_HEADERS})


def private(asked: Asked) -> Reply:
    return Reply(
        asked.answered(verdict("fine"), **ACCOUNT).body, 200, {"content-type": JSON, **RESPONSE_HEADERS}
    )


def private_inside(asked: Asked) -> Reply:
    return asked.answered(verdict("fine"), service={"account": ACCOUNT, "calls": [ACCOUNT]})


def echo(asked: Asked) -> Reply:
    return asked.answered(verdict(f"You sent {echoed(asked)}."), note=echoed(asked))


def echo_escaped(asked: Asked) -> Reply:
    reply = asked.answered(verdict("fine"), note=echoed(asked))
    return Reply(reply.body.replace(b"-", b"\\u002d"), 200)


def too_large(asked: Asked) -> Reply:
    if "Question 3?" in asked.prompt:
        return error(asked, 400, code="context_length_exceeded")
    return asked.answered(verdict("fine"))


def rate_limited() -> Callable[[Asked], Reply]:
    seen: set[str] = set()

    def reply(asked: Asked) -> Reply:
        if asked.prompt in seen:
            return asked.answered(verdict("fine"))
        seen.add(asked.prompt)
        return error(asked, 429)

    return reply


def unauthorized(asked: Asked) -> Reply:
    return error(asked, 401, code="invalid_api_key")


def out_of_order(asked: Asked) -> Reply:
    return error(asked, 500)


REPLIES = (
    plain,
    private,
    private_inside,
    echo,
    echo_escaped,
    too_large,
    rate_limited,
    unauthorized,
    out_of_order,
)


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
            project.code(PYTHON_CODE % server.url)
        else:
            base_url = f"{server.url}/v1" if provider == "openai" else server.url
            project.configure(
                provider=provider, model="m", base_url=base_url, api_key_env="CANARY_KEY", max_attempts=2
            )
        _, said = project.run(
            "--judge-record", "missing", "--judge-report", "report", "--judge-concurrency", "1", "-rA"
        )
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


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_of_headers_only_the_content_type_is_kept(provider: str, tmp_path: Path) -> None:
    """A row holds what was asked and the body (status and repeat where unusual), no header but a content type."""
    with loopback(private) as server:
        ask(sdk_judge(provider, server.url), tmp_path, "missing")
    for name in NAMES:
        for line in (tmp_path / "ours" / "own" / f"{name}.jsonl").read_text().splitlines()[1:]:
            assert json.loads(line).keys() - {"seen"} == {"digest", "pair", "json"}
