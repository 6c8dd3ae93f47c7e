"""Judges of the user's own code: what their exceptions mean, what they may return, and what is said of a wrong target.

The exceptions are those of the real clients, raised by them against a server that fails in one way at a time.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import itertools
import math
import socket
import ssl
import sys
import time
import types
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
import requests
import urllib3
from support.asking import finished
from support.project import uncontrolled
from support.rendered import lines_about
from support.server import Answer, Server, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.judges.judge import FatalJudgeError, Judge, load_judge
from judgefixtures.providers import RetryableError, UnreachableError, UnsupportedParameterError, http_library
from judgefixtures.providers.python import PythonProvider

pytest_plugins = ["pytester"]
# Clients in the hands of users leave connections open (urllib's errors do): a warning here, whenever it is collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

VERDICT = '{"selected_response": 1, "reason": "better"}'
Function = Callable[[str], Any]


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Collect what was left open before the next module's tests begin, which would be blamed for it."""
    yield
    gc.collect()


@pytest.fixture
def judging(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Judge]:
    """Return a way to make a judge of a function."""

    def make(function: Any, **more: Any) -> Judge:
        module = types.ModuleType("mycompany_judging")
        module.judge = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "mycompany_judging", module)
        table = {"provider": "python", "target": "mycompany_judging:judge", "max_attempts": 1}
        return load_judge({**table, **more}, "ours")

    return make


def ask(judge: Judge) -> Any:
    """Ask once; return the verdict."""
    return finished(judge, judge.verdict("Which?"))


def raised(judge: Judge) -> Exception:
    """Return what one attempt of a judge raises, before anything is retried."""
    with pytest.raises(Exception) as caught:
        asyncio.run(PythonProvider(judge.table).complete("Which?", JudgeCall()))
    return caught.value


def failing(status: int, body: Any = b"{}") -> Answer:
    """Return an answer that asks to wait for seven seconds."""
    return wire(body, status, retry_after="7")


@pytest.fixture
def server() -> Iterator[Server]:
    """A server for `says`."""
    with serving(failing(200)) as server:
        yield server


# --- the clients ------------------------------------------------------------------------------------------


async def by_openai(url: str) -> Any:
    """Ask as a user of the openai SDK does."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
        return await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Which?"}])


async def by_google(url: str) -> Any:
    """Ask as a user of google-genai does."""
    from google.genai import Client, types

    async with importlib.import_module(http_library("google-genai")).AsyncClient() as http:
        options = types.HttpOptions(base_url=url, httpx_async_client=http)
        client = Client(vertexai=False, api_key="none", http_options=options)
        return await client.aio.models.generate_content(model="m", contents="Which?")


async def by_aiohttp(url: str) -> str:
    """Ask as a user of aiohttp does."""
    async with aiohttp.ClientSession() as session, session.post(url, json={}) as response:
        response.raise_for_status()
        return await response.text()


async def by_httpx(url: str) -> str:
    """Ask as a user of httpx does."""
    async with httpx.AsyncClient() as client:
        return (await client.post(url, json={})).raise_for_status().text


def by_requests(url: str) -> str:
    """Ask as a user of requests does."""
    response = requests.post(url, json={}, timeout=5)
    response.raise_for_status()
    return response.text


def by_urllib3(url: str) -> str:
    """Ask as a user of urllib3 does, who raises for a status what urllib3 has none for."""
    with urllib3.PoolManager() as pool:
        response = pool.request("POST", url, json={}, retries=False)
        if response.status >= 400:
            raise httpx.HTTPStatusError(
                "failed",
                request=httpx.Request("POST", url),
                response=httpx.Response(response.status, content=response.data),
            )
        return response.data.decode()


def by_urllib(url: str) -> str:
    """Ask as a user of the standard library does."""
    with urllib.request.urlopen(url, data=b"{}", timeout=5) as response:
        return response.read().decode()


CLIENTS = [by_openai, by_google, by_aiohttp, by_httpx, by_requests, by_urllib3, by_urllib]
every_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)


def through(client: Any, url: str) -> Function:
    """Return a judge that asks a URL through a client."""

    def judge(_prompt: str) -> str | Awaitable[str]:
        return client(url)

    return judge


@every_client
@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_status_is_retried(client: Any, status: int, server: Server, judging: Callable[..., Judge]) -> None:
    """A rate limit and a server's fault pass: the attempt is made again, with the status and the wait it asks for."""
    server.says(failing(status))
    error = raised(judging(through(client, f"{server.url}/v1")))
    assert type(error) is RetryableError
    assert error.status == status
    if client not in (by_urllib3,):
        assert error.retry_after == 7


@every_client
def test_a_refused_key_is_fatal(client: Any, server: Server, judging: Callable[..., Judge]) -> None:
    """Who is not let in need not ask again: said with the status."""
    server.says(failing(401, problem("Invalid key", code="invalid_api_key")))
    error = raised(judging(through(client, f"{server.url}/v1")))
    assert type(error) is FatalJudgeError
    assert "HTTP 401" in str(error)
    assert "api_key_env" in str(error)


@pytest.mark.parametrize("client", [by_openai, by_google, by_httpx, by_requests, by_urllib3], ids=lambda c: c.__name__)
def test_what_the_server_said_decides(
    client: Any, server: Server, judging: Callable[..., Judge], snapshot: SnapshotAssertion
) -> None:
    """An exhausted quota comes as a rate limit and never passes; a prompt that is too long is that pair's own fault."""
    error = {"message": "You exceeded your quota", "type": "insufficient_quota", "code": "insufficient_quota"}
    server.says(failing(429, {"error": error}))
    found = raised(judging(through(client, f"{server.url}/v1")))
    assert type(found) is FatalJudgeError
    assert lines_about(str(found), "account's quota") == snapshot
    error = {"message": "This model's maximum context length is 10", "code": "context_length_exceeded"}
    server.says(failing(400, {"error": error}))
    assert ask(judging(through(client, f"{server.url}/v1"))).invalid == "too-large"
    server.says(failing(400, problem("Unsupported parameter: seed", param="seed")))
    assert type(raised(judging(through(client, f"{server.url}/v1")))) is UnsupportedParameterError


@every_client
def test_a_connection_that_breaks_is_retried(client: Any, server: Server, judging: Callable[..., Judge]) -> None:
    """A server that hangs up may answer the next time."""
    server.says(Answer(transport="closed"))
    assert type(raised(judging(through(client, f"{server.url}/v1")))) is RetryableError


@every_client
def test_nobody_there_is_told_at_once(client: Any, judging: Callable[..., Judge]) -> None:
    """A refused connection is fatal on the first call, as for the other providers: nobody listens at that address."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    judge = judging(through(client, f"http://127.0.0.1:{port}/v1"), max_attempts=6)
    assert type(raised(judge)) is UnreachableError
    with pytest.raises(FatalJudgeError, match="mycompany_judging:judge raised"):
        ask(judge)


PASSING = [
    TimeoutError(),
    ConnectionResetError("reset"),
    httpx.ReadTimeout("slow"),
    requests.Timeout("slow"),
    requests.exceptions.ChunkedEncodingError("cut"),
    aiohttp.ServerDisconnectedError(),
    IncompleteRead(b""),
    aiohttp.ClientPayloadError("cut"),
    urllib3.exceptions.ProtocolError("cut"),
    httpx.WriteError("cut"),
    urllib.error.URLError(TimeoutError("slow")),
]
LASTING = [
    KeyError("prompt"),
    ValueError("no verdict"),
    FileNotFoundError("prompt.txt"),
    RecursionError("deep"),
    requests.exceptions.SSLError("certificate verify failed"),
    httpx.UnsupportedProtocol("ftp"),
    httpx.LocalProtocolError("header"),
    ssl.SSLCertVerificationError("self-signed"),
    AssertionError(),
    requests.exceptions.InvalidURL("no host"),
    SystemExit(3),
]


def raising(error: BaseException) -> Function:
    """Return a judge that raises."""

    def judge(_prompt: str) -> str:
        raise error

    return judge


@pytest.mark.parametrize("error", PASSING, ids=lambda error: type(error).__name__)
def test_a_passing_fault_is_retried(error: Exception, judging: Callable[..., Judge]) -> None:
    """What the network does to a call passes, whatever the client calls it."""
    found = raised(judging(raising(error)))
    assert isinstance(found, RetryableError)
    assert type(error).__name__ in str(found)


@pytest.mark.parametrize("error", LASTING, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_mistake_is_fatal_and_shows_its_place(
    error: BaseException, asynchronous: bool, judging: Callable[..., Judge]
) -> None:
    """Anything else ends the run: with the function, the exception, and the file and line that raised it."""
    function = raising(error)

    async def judge(prompt: str) -> str:
        return function(prompt)

    with pytest.raises(FatalJudgeError) as caught:
        ask(judging(judge if asynchronous else function))
    said = str(caught.value)
    line = raising.__code__.co_firstlineno + 4
    assert said.startswith(f"judge 'ours': mycompany_judging:judge raised {type(error).__name__}")
    assert str(error).strip("'\"") in said
    assert f"{__file__}:{line}" in said
    assert "Traceback" not in said


def test_a_function_that_cancels_itself_made_a_mistake(judging: Callable[..., Judge]) -> None:
    """A cancellation that is not ours ends the run as any other exception does, not as a crash of the loop."""

    async def judge(_prompt: str) -> str:
        raise asyncio.CancelledError

    with pytest.raises(FatalJudgeError, match="judge raised CancelledError"):
        ask(judging(judge))


LEAVING = [
    StopIteration("no more"),
    StopAsyncIteration("no more"),
    GeneratorExit("closed"),
    SystemExit(3),
    asyncio.CancelledError("no more"),
    BaseException("odd"),
]


KINDS = ["sync", "async", "sync that returns an awaitable"]
# In a thread KeyboardInterrupt is the function's own; in the main thread, where the others run, it is Ctrl-C.
ENDINGS = [*itertools.product(LEAVING, KINDS), (KeyboardInterrupt("stop"), "sync")]


@pytest.mark.parametrize(
    ("error", "kind"), ENDINGS, ids=lambda given: given if given in KINDS else type(given).__name__
)
def test_whatever_a_function_raises_ends_at_once(
    error: BaseException, kind: str, judging: Callable[..., Judge]
) -> None:
    """An exception that no future takes, or that loops end by, is told as any other is, and is not waited for."""
    function = raising(error)

    async def judge(prompt: str) -> str:
        await asyncio.sleep(0)
        return function(prompt)

    judged = {"sync": function, "async": judge}.get(kind, lambda prompt: judge(prompt))
    began = time.monotonic()
    with pytest.raises(FatalJudgeError) as caught:
        ask(judging(judged, timeout=5.0, max_attempts=3))
    assert time.monotonic() - began < 3
    said = str(caught.value)
    assert said.startswith(f"judge 'ours': mycompany_judging:judge raised {type(error).__name__}")
    assert f"{__file__}:{raising.__code__.co_firstlineno + 4}" in said


def test_a_call_that_is_given_up_is_no_mistake_of_the_function(judging: Callable[..., Judge]) -> None:
    """Cancelled by who asks, or dropped with its loop: that is not told as something that the function raised."""

    async def judge(_prompt: str) -> str:
        await asyncio.sleep(60)
        return VERDICT

    async def cancelled() -> None:
        task = asyncio.ensure_future(judging(judge).verdict("Which?"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


# --- what a function may be, and return -------------------------------------------------------------------


class _Callable:
    async def __call__(self, _prompt: str) -> str:
        return VERDICT

    def method(self, _prompt: str) -> str:
        return VERDICT


async def _slow(_prompt: str) -> str:
    await asyncio.sleep(0)
    return VERDICT


@pytest.mark.parametrize(
    "function",
    [
        lambda _prompt: VERDICT,
        _slow,
        lambda prompt: _slow(prompt),
        _Callable(),
        _Callable().method,
        functools.partial(_slow),
    ],
    ids=["sync", "async", "sync that returns an awaitable", "async object", "method", "partial"],
)
def test_every_kind_of_callable_is_asked(function: Function, judging: Callable[..., Judge]) -> None:
    """Sync or async, a function, a method or an object: its text is read as a verdict."""
    assert ask(judging(function)).selected_response == 1


@pytest.mark.parametrize("value", [None, 1, {"selected_response": 1}, b"{}", ["1"]], ids=repr)
def test_a_value_that_is_no_text_is_fatal(
    value: Any, judging: Callable[..., Judge], snapshot: SnapshotAssertion
) -> None:
    """Only text can be read and recorded: anything else is told with its type, and never guessed at."""
    with pytest.raises(FatalJudgeError) as error:
        ask(judging(lambda _prompt: value))
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    "target",
    [
        "no_such_module_here:judge",
        "judgefixtures.models.pairs:juge",
        "judgefixtures.models.pairs:Pair.nothing.more",
        "judgefixtures.models.pairs:FIELDS",
        "broken_module:judge",
        "unreadable_module:judge",
        "leaving_module:judge",
    ],
)
def test_a_wrong_target_is_told(
    tmp_path: Path, target: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """A module or name that is not there, no function, or a module that fails: one sentence that names the target."""
    (tmp_path / "broken_module.py").write_text("x = 0\ny = 1 / x\n")
    (tmp_path / "unreadable_module.py").write_text("def judge(:\n")
    (tmp_path / "leaving_module.py").write_text("raise SystemExit(1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FatalJudgeError) as caught:
        ask(load_judge({"provider": "python", "target": target}, "ours"))
    assert f"target = {target!r}" in str(caught.value)
    assert str(caught.value) == snapshot


# --- how sure it was ----------------------------------------------------------------------------------------


def probability(judge: Judge) -> Any:
    """Ask once; return the probability behind the verdict."""
    return finished(judge, judge.ask("Which?")).verdict.probability


@pytest.mark.parametrize(
    ("stated", "ties", "expected"),
    [
        ({"1": 0.6, "2": 0.2}, "invalid", (math.log(3), 0.2, 0.0)),
        ({"1": 0.25, "2": 0.25, "tie": 0.25}, "invalid", (0.0, 0.5, 0.0)),
        ({"1": 0.25, "2": 0.25, "tie": 0.25}, "half", (0.0, 0.25, 1 / 3)),
        ({"1": 0.5, "2": 0.5, "tie": 0}, "half", (0.0, 0.0, 0.0)),
    ],
)
def test_a_function_says_how_sure_it_was(
    judging: Callable[..., Judge], stated: Any, ties: str, expected: tuple[float, ...]
) -> None:
    """A mapping with text and probabilities is the answer and how likely each verdict was; a text alone is as ever."""
    judge = judging(lambda _prompt: {"text": VERDICT, "probabilities": stated}, logprobs=True, ties=ties)
    assert ask(judge).selected_response == 1
    found = probability(judge)
    assert (found.log_odds, found.elsewhere, found.tie) == pytest.approx(expected)
    assert probability(judging(lambda _prompt: VERDICT, logprobs=True)) is None
    assert "parameters" not in judge.identity


@pytest.mark.parametrize(
    "stated",
    [
        None,
        [0.5, 0.5],
        {},
        {"1": 0.5},
        {"1": 1.0, "2": 0.5},
        {"1": 0.5, "2": 0},
        {"1": 0.7, "2": 0.7},
        {"1": "0.5", "2": 0.5},
        {"1": True, "2": 0.5},
        {"1": float("nan"), "2": 0.5},
        {"1": -0.1, "2": 0.5},
        {1: 0.5, 2: 0.5},
        {"1": 0.5, "2": 0.2, "t": 0.1},
        {"1": 0.5, "2": 0.2, "tie": 2},
        {"1": 0.5, "2": 0.4, "tie": 0.3},
        {"1": 0.5, "2": 0.2, "tie": None},
        {"1": 0.5, "2": 0.2, "tie": ""},
        {"1": 0.5, "2": 0.2, "tie": False},
    ],
    ids=repr,
)
def test_what_is_no_probability_is_told(
    judging: Callable[..., Judge], stated: Any, snapshot: SnapshotAssertion
) -> None:
    """Probabilities that say nothing, or would be certainties, end the run with what to return."""
    judge = judging(lambda _prompt: {"text": VERDICT, "probabilities": stated}, logprobs=True)
    with pytest.raises(FatalJudgeError) as error:
        ask(judge)
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    ("returned", "more"),
    [
        ({"text": VERDICT, "probabilities": {"1": 0.5, "2": 0.4}}, {}),
        (None, {}),
        (5, {"logprobs": True}),
        ({"text": VERDICT}, {"logprobs": True}),
        ({"text": None, "probabilities": {"1": 0.5, "2": 0.4}}, {"logprobs": True}),
        ({"text": VERDICT, "probabilities": {"1": 0.5, "2": 0.4}, "x": 1}, {"logprobs": True}),
    ],
)
def test_what_is_no_answer_is_told(
    judging: Callable[..., Judge], returned: Any, more: Any, snapshot: SnapshotAssertion
) -> None:
    """Anything but a text, or a mapping where probabilities are wanted, is a mistake that is named."""
    with pytest.raises(FatalJudgeError) as error:
        ask(judging(lambda _prompt: returned, **more))
    assert str(error.value) == snapshot


# --- in a run ---------------------------------------------------------------------------------------------

CONFIGURATION = """
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
judge = "ours"
dataset = ["house-qa"]
[tool.judgefixtures.judges.ours]
provider = "python"
target = "judging:judge"
"""
SUITE = """
import pytest

pytestmark = pytest.mark.judge_family("recency")


def test_recency(judge, pairs, contrast, gate):
    gate.check(judge, pairs, contrast)
"""


@pytest.mark.slow
def test_a_judge_without_http_is_run_live_and_said_to_be(
    pytester: pytest.Pytester, snapshot: SnapshotAssertion
) -> None:
    """Nothing can be recorded of a judge that asks nobody: it is run, each time, and the summary says so."""
    pytester.makepyprojecttoml(uncontrolled(CONFIGURATION))
    pytester.makepyfile(
        test_recency=SUITE,
        judging=(
            "import json\n\n\ndef judge(prompt):\n"  # moved by no label, and not always for the same side
            '    return json.dumps({"selected_response": 1 + len(prompt) % 2, "reason": "It is better."})\n'
        ),
    )
    for options in ((), ("--judge-record", "missing")):
        result = pytester.runpytest_subprocess(*options)
        result.assert_outcomes(passed=1)
        assert lines_about(str(result.stdout), "no HTTP call") == snapshot


@pytest.mark.slow
def test_a_mistake_in_a_judge_ends_the_run_with_one_sentence(pytester: pytest.Pytester) -> None:
    """The user's file and line, no traceback of ours, and no second item that fails in the same way."""
    pytester.makepyprojecttoml(CONFIGURATION)
    pytester.makepyfile(
        judging="def judge(prompt):\n    return {}['verdict']\n",
        test_recency=SUITE.replace('"recency"', '"recency", "provenance"'),
    )
    result = pytester.runpytest_subprocess()
    said = str(result.stdout)
    result.assert_outcomes(failed=1)
    assert f"judging:judge raised KeyError: 'verdict', {pytester.path / 'judging.py'}:2." in said
    assert "Traceback" not in said
    assert "providers/python.py" not in said
