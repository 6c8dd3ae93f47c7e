"""The environment switches nothing: backend, address, key, transport, proxies and retries are what the table says."""

import asyncio
import base64
import importlib
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, ask, rows, run, some_pairs
from support.server import ALL_SDKS, FIRST, MODELS, NOWHERE, Asked, free_port, gemini, good, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.replay_guard import NetworkBlockedError
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.judges.judge import FatalJudgeError, load_judge
from judgefixtures.providers import http_library

pytestmark = pytest.mark.usefixtures("quick_and_alone")

SECRET = "a-secret-of-the-environment"
HOSTS = {"openai": "api.openai.com", "google": "generativelanguage.googleapis.com", "anthropic": "api.anthropic.com"}
KEYS = {"openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

# What somebody may have exported for other programs, each of which redirects a plain client of the SDK.
SWITCHES = {
    "openai": [
        {"OPENAI_BASE_URL": f"{NOWHERE}/v1"},
        {"OPENAI_ADMIN_KEY": SECRET, "OPENAI_CUSTOM_HEADERS": f"Authorization: Bearer {SECRET}"},
        {"OPENAI_API_TYPE": "azure", "AZURE_OPENAI_ENDPOINT": NOWHERE, "AZURE_OPENAI_API_KEY": SECRET},
    ],
    "google": [
        {"GOOGLE_GENAI_USE_VERTEXAI": "true"},
        {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "ours", "GOOGLE_CLOUD_LOCATION": "europe-west4"},
        {"GOOGLE_GENAI_USE_ENTERPRISE": "1"},
        {"GOOGLE_GENAI_USE_ENTERPRISE": "true", "GOOGLE_GENAI_USE_VERTEXAI": "false"},
        {"GOOGLE_GEMINI_BASE_URL": NOWHERE},
        {"GOOGLE_VERTEX_BASE_URL": NOWHERE, "GOOGLE_GENAI_USE_VERTEXAI": "1"},
        {"GOOGLE_GENAI_API_VERSION": "v1beta9"},
        {"GOOGLE_GENAI_API_VERSION": "beta"},
        {"GOOGLE_API_KEY": SECRET},
        {"GOOGLE_GENAI_CLIENT_MODE": "auto", "GOOGLE_GENAI_REPLAYS_DIRECTORY": "/nowhere"},
        {"GOOGLE_API_USE_MTLS_ENDPOINT": "always", "GOOGLE_API_USE_CLIENT_CERTIFICATE": "true"},
        {"GOOGLE_CLOUD_PROJECT": "ours", "GOOGLE_CLOUD_LOCATION": "global"},
        {"GOOGLE_GENAI_HTTP_CLIENT": "httpx"},
    ],
    "anthropic": [
        {"ANTHROPIC_BASE_URL": NOWHERE},
        {"ANTHROPIC_AUTH_TOKEN": SECRET, "ANTHROPIC_CUSTOM_HEADERS": f"Authorization: Bearer {SECRET}"},
        {"ANTHROPIC_PROFILE": "ours", "ANTHROPIC_CONFIG_DIR": "/nowhere"},
    ],
}
switches = pytest.mark.parametrize(
    ("sdk", "variables"),
    [(sdk, variables) for sdk in ALL_SDKS for variables in SWITCHES[sdk]],
    ids=[" ".join(variables) for sdk in ALL_SDKS for variables in SWITCHES[sdk]],
)
PATHS = {
    "openai": "/v1/chat/completions",
    "google": "/v1/models/gemini-2.5-flash:generateContent",
    "anthropic": "/v1/messages",
}


def export(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    """Set environment variables."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def sent_key(asked: Asked) -> str:
    """Return the key that a request carries."""
    return (asked.headers.get("authorization") or asked.headers["x-goog-api-key"]).removeprefix("Bearer ")


def destination(sdk: str, **more: Any) -> str:
    """Return what the error of a blocked network says of the address that a judge at the provider itself asks."""
    judge = load_judge({"provider": sdk, "model": MODELS[sdk], **more}, "mine")
    with record_http(only_sdks=True, offline=True), pytest.raises(NetworkBlockedError) as caught:
        ask(judge)
    return str(caught.value)


@switches
def test_nothing_redirects_a_judge_of_ones_own(
    sdk: str, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is exported, base_url is asked, once, at the same path, with the key that the table names."""
    export(monkeypatch, {**variables, "MY_KEY": "the-key-that-is-named"})
    with serving(good(sdk)) as server:
        assert ask(a_judge(sdk, server.url, api_key_env="MY_KEY")).verdict.selected_response == 2
    (asked,) = server.asked
    assert asked.path == PATHS[sdk]
    assert sent_key(asked) == "the-key-that-is-named"
    assert not asked.holds(SECRET)


@switches
def test_nothing_redirects_a_judge_at_the_provider(
    sdk: str, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is exported, a judge without base_url asks the provider's own host, over TLS."""
    export(monkeypatch, {**variables, KEYS[sdk]: "mine"})
    assert f"reach {HOSTS[sdk]}:443" in destination(sdk)


def test_the_key_of_gemini_is_not_that_of_google(monkeypatch: pytest.MonkeyPatch) -> None:
    """GOOGLE_API_KEY beside GEMINI_API_KEY goes first in the SDK; here the one that is named is sent."""
    export(monkeypatch, {"GOOGLE_API_KEY": SECRET, "GEMINI_API_KEY": "the-key-of-gemini"})
    with serving(good("google")) as server:
        ask(a_judge("google", server.url, api_key_env="GEMINI_API_KEY"))
        ask(a_judge("google", server.url, api_key_env="GOOGLE_API_KEY"))
    assert [sent_key(asked) for asked in server.asked] == ["the-key-of-gemini", SECRET]


def test_the_sdk_does_not_replay_recordings_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """GOOGLE_GENAI_CLIENT_MODE makes the SDK record and replay for its own tests; a judge asks its server."""
    export(monkeypatch, {"GOOGLE_GENAI_CLIENT_MODE": "replay", "GOOGLE_GENAI_REPLAYS_DIRECTORY": str(tmp_path)})
    with serving(good("google")) as server:
        ask(a_judge("google", server.url))
    assert len(server.asked) == 1


def test_headers_of_the_environment_do_not_replace_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A header exported for OpenAI is not sent to a server of one's own, least of all in place of its key."""
    headers = f"Authorization: Bearer {SECRET}\nX-Team: {SECRET}"
    export(monkeypatch, {"OPENAI_CUSTOM_HEADERS": headers, "MY_KEY": "mine"})
    with serving(good("openai")) as server:
        ask(a_judge("openai", server.url, api_key_env="MY_KEY"))
    assert sent_key(server.asked[0]) == "mine"
    assert not server.asked[0].holds(SECRET)


def test_the_account_of_the_environment_stays_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENAI_ORG_ID and OPENAI_PROJECT_ID are OpenAI's business, not that of another server."""
    export(monkeypatch, {"OPENAI_ORG_ID": SECRET, "OPENAI_PROJECT_ID": SECRET})
    with serving(good("openai")) as server:
        ask(a_judge("openai", server.url))
    assert not server.asked[0].holds(SECRET)


# --- proxies ----------------------------------------------------------------------------------------------------

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_on_this_machine_is_reached_without_a_proxy(
    sdk: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many proxies are exported, a loopback address is asked directly, and the proxy hears nothing."""
    with serving(wire(problem("I am the proxy."), 502)) as proxy, serving(good(sdk)) as server:
        export(monkeypatch, dict.fromkeys(PROXIES, proxy.url))
        assert ask(a_judge(sdk, server.url.replace("127.0.0.1", host))).verdict.selected_response == 2
    assert (len(proxy.asked), len(server.asked)) == (0, 1)


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_server_elsewhere_is_reached_through_the_proxy(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that is exported is used for other machines, as every program uses it."""
    with serving(good(sdk)) as proxy:
        export(monkeypatch, {"HTTP_PROXY": proxy.url})
        assert ask(a_judge(sdk, "http://judge.invalid")).verdict.selected_response == 2
    (asked,) = proxy.asked
    assert asked.path == f"http://judge.invalid{PATHS[sdk]}"


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_proxy_of_another_kind_does_not_matter_to_this_machine(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SOCKS proxy in the environment, for which a package may be missing, does not keep a loopback server from us."""
    export(monkeypatch, {"ALL_PROXY": "socks5://127.0.0.1:9"})
    with serving(good(sdk)) as server:
        assert ask(a_judge(sdk, server.url)).verdict.selected_response == 2


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_proxy_that_refuses_is_told(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that wants a password, or lets nobody out, ends the run after one attempt."""
    with serving(wire(b"", 407)) as proxy:
        export(monkeypatch, {"HTTPS_PROXY": proxy.url})
        with pytest.raises(FatalJudgeError, match=r"proxy .* refuses"):
            ask(a_judge(sdk, "https://judge.invalid"))
    assert len(proxy.asked) == 1


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "bogus://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_told(sdk: str, proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that the HTTP client cannot speak to is an error of ours that names it, and asks nothing."""
    export(monkeypatch, {"ALL_PROXY": proxy})
    with pytest.raises(FatalJudgeError, match=r"(?i)proxy"):
        ask(a_judge(sdk, "http://judge.invalid"))


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("variable", ["{}_PROXY", "ALL_PROXY"])
def test_a_dead_proxy_is_named(sdk: str, scheme: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that nobody runs is what refuses, not the judge's server; its user and password are not shown."""
    name, port = variable.format(scheme.upper()), free_port()
    export(monkeypatch, {name: f"http://somebody:whatever@127.0.0.1:{port}"})
    with pytest.raises(FatalJudgeError) as caught:
        ask(a_judge(sdk, f"{scheme}://judge.invalid"))
    assert f"the proxy 127.0.0.1:{port} for {scheme}://judge.invalid" in str(caught.value)
    assert "refuses connections" in str(caught.value)
    assert "NO_PROXY" in str(caught.value)
    assert not any(word in str(caught.value) for word in ("somebody", "whatever", "base_url"))


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_proxy_that_does_not_speak_tls_is_named(
    sdk: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """https:// in the proxy's own address, where it speaks plain HTTP, is told as that."""
    with serving(good(sdk)) as proxy:
        export(monkeypatch, {"HTTPS_PROXY": proxy.url.replace("http:", "https:")})
        with pytest.raises(FatalJudgeError) as error:
            ask(a_judge(sdk, "https://judge.invalid"))
        assert str(error.value) == snapshot


# --- what the SDKs do unasked -----------------------------------------------------------------------------------


def test_gemini_does_not_go_through_aiohttp_although_it_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With aiohttp importable, the SDK would use it; the judge's request does not, and so can be recorded."""
    aiohttp = pytest.importorskip("aiohttp")
    library = importlib.import_module(http_library("google-genai"))
    sent: list[str] = []
    send = library.AsyncClient.send

    async def refuse(*_args: Any, **_more: Any) -> Any:
        raise AssertionError("aiohttp was used")

    async def note(self: Any, request: Any, **more: Any) -> Any:
        sent.append(request.url.path)
        return await send(self, request, **more)

    monkeypatch.setattr(aiohttp.ClientSession, "_request", refuse)
    monkeypatch.setattr(library.AsyncClient, "send", note)
    with serving(good("google")) as server:
        run(a_judge("google", server.url), tmp_path, some_pairs(3))
    assert sent == [PATHS["google"]] * 3
    assert len(rows(tmp_path)) == len(server.asked) == 3


def plain_google_requests(url: str) -> None:
    """Ask once with a client of the SDK that nobody closed any trap of."""
    from google.genai import Client, types

    with Client(api_key="k", http_options=types.HttpOptions(base_url=url)) as client:
        client.models.generate_content(model="gemini-2.5-flash", contents="Question 1: which one?")


def test_a_cut_off_answer_of_gemini_is_not_continued() -> None:
    """An answer with a continuation token costs one request and is invalid; a plain client asks for the rest itself."""
    token = base64.b64encode(b"more").decode()
    part = gemini(FIRST[:20], finish="CONTINUATION")
    part["candidates"][0]["continuationToken"] = token
    with serving(wire(part), good("google")) as server:
        plain_google_requests(server.url)
        assert len(server.asked) > 1  # so the trap is there
    with serving(wire(part), good("google")) as server:
        reply = ask(a_judge("google", server.url))
    assert len(server.asked) == 1
    assert (reply.verdict.invalid, reply.retries) == ("truncated", 0)


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
@pytest.mark.parametrize("attempts", [1, 3])
def test_the_sdks_do_not_retry(sdk: str, status: int, attempts: int) -> None:
    """An attempt of ours is one request: no layer below repeats it."""
    with serving(wire(problem("Later."), status, retry_after="0", x_should_retry="true")) as server:
        with pytest.raises(FatalJudgeError, match=f"after {attempts} attempts"):
            ask(a_judge(sdk, server.url, max_attempts=attempts))
        assert len(server.asked) == attempts


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_quota_error_is_not_retried_by_the_sdk(sdk: str) -> None:
    """The SDK of OpenAI retries insufficient_quota like any 429: here it costs one request."""
    with serving(wire(problem("No money left.", code="insufficient_quota"), 429)) as server:
        with pytest.raises(FatalJudgeError, match="quota"):
            ask(a_judge(sdk, server.url))
        assert len(server.asked) == 1


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(sdk: str, status: int) -> None:
    """A redirect is told with its target, which is not asked: it might get the key, and would get a GET."""
    with serving(good(sdk)) as target, serving(wire(b"", status, location=f"{target.url}/v1/there")) as server:
        with pytest.raises(FatalJudgeError) as caught:
            ask(a_judge(sdk, server.url))
        assert (len(server.asked), target.asked) == (1, [])
    assert f"{target.url}/v1/there" in str(caught.value)
    assert "base_url" in str(caught.value)


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_judge_is_asked_on_one_loop_after_another(sdk: str) -> None:
    """asyncio.run(judge.verdict(...)) works again and again, also with calls side by side after a 429."""

    async def several() -> list[int]:
        prompts = [f"Question {number}: which one?" for number in range(6)]
        verdicts = await asyncio.gather(*map(judge.verdict, prompts))
        return [verdict.selected_response for verdict in verdicts]

    slow = wire(problem("Wait."), 429, retry_after_ms="20")
    with serving(slow, slow, good(sdk)) as server:
        judge = a_judge(sdk, server.url)
        assert [asyncio.run(several()) for _ in range(3)] == [[2] * 6] * 3
        asyncio.run(judge.close())
    assert len(server.asked) == 2 + 18


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_connections_are_closed_and_opened_again(sdk: str) -> None:
    """A judge that was closed can be asked again, on the same loop."""

    async def twice() -> list[int]:
        found = []
        for _ in range(2):
            found.append((await judge.verdict("Question 1: which one?")).selected_response)
            await judge.close()
        return found

    with serving(good(sdk)) as server:
        judge = a_judge(sdk, server.url)
        assert asyncio.run(twice()) == [2, 2]
