"""The same models through an account in a cloud: Azure's deployments of OpenAI's, and Gemini on Vertex AI.

Which account it is must be no part of what is recorded, and its credentials must never be.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import types
from pathlib import Path
from typing import Any

import google.auth
import pytest
from google.auth.credentials import Credentials
from google.auth.exceptions import DefaultCredentialsError, RefreshError
from support.asking import header, rows, run, some_pairs
from support.server import SECOND, Answer, Asked, chat, gemini, good, google_problem, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.calls import CassetteMissError
from judgefixtures.cassettes.files import CassetteError
from judgefixtures.cassettes.replay_guard import NetworkBlockedError
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.client.costs import price_usd
from judgefixtures.config import build_config, judge_table
from judgefixtures.judges.judge import FatalJudgeError, Judge, load_judge
from judgefixtures.models.replies import JudgeReply
from judgefixtures.run import notes
from judgefixtures.simulator.server import serving as simulating
from judgefixtures.util.errors import JudgeFixturesError

pytestmark = pytest.mark.usefixtures("quick_and_alone")

KEY = "an-azure-key-0123456789"
TOKEN = "ya29.a-token-of-google-0123456789"
PAIRS = some_pairs(4)


def azure(endpoint: str, version: str = "2024-10-21", deployment: str | None = "prod", **more: Any) -> dict[str, Any]:
    """Return the table of a judge on Azure."""
    connection = {"endpoint": endpoint, "api_version": version}
    connection |= {} if deployment is None else {"deployment": deployment}
    return {"provider": "azure", "model": "gpt-4o", "connection": connection, "timeout": 5.0, "max_attempts": 2} | more


def vertex(
    url: str | None, project: str = "our-project", location: str = "europe-west1", **more: Any
) -> dict[str, Any]:
    """Return the table of a judge on Vertex AI."""
    connection = {"project": project, "location": location}
    table = {"provider": "google", "model": "gemini-2.5-flash", "connection": connection, "max_attempts": 2}
    return table | ({} if url is None else {"base_url": url}) | more


def ask(table: dict[str, Any]) -> JudgeReply:
    """Return what a judge answers, once."""

    async def once() -> JudgeReply:
        judge = load_judge(table, "mine")
        try:
            return await judge.ask("Question 1: which one?")
        finally:
            await judge.close()

    return asyncio.run(once())


def mine(table: dict[str, Any]) -> Judge:
    """Return the judge of a table."""
    return load_judge(table, "mine")


class FakeCredentials(Credentials):
    """Credentials as Google's chain finds them: no token at first, and one that ends when a test says so."""

    def __init__(self, *, faulty: Exception | None = None) -> None:
        super().__init__()
        self.refreshed = 0
        self.faulty = faulty

    def refresh(self, _request: Any) -> None:
        """Get a token, each time another one."""
        if self.faulty is not None:
            raise self.faulty
        self.refreshed += 1
        self.token = f"{TOKEN}-{self.refreshed}"
        self.expiry = None

    def end(self) -> None:
        """Let the token end."""
        self.expiry = datetime.datetime(2020, 1, 1)


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> FakeCredentials:
    """What the default chain finds."""
    found = FakeCredentials()
    monkeypatch.setattr(google.auth, "default", lambda **_more: (found, "a-project-of-the-chain"))
    return found


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nobody is logged in."""

    def default(**_more: Any) -> Any:
        raise DefaultCredentialsError("Your default credentials were not found.")

    monkeypatch.setattr(google.auth, "default", default)


# --- Azure --------------------------------------------------------------------------------------------------------


def test_azure_is_asked_through_its_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deployment and version stand in the address, the key in Azure's header; the answer is read as OpenAI's."""
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with serving(wire(chat(SECOND, model="gpt-4o-2024-11-20"))) as server:
        reply = ask(azure(server.url, api_key_env="AZURE_OPENAI_API_KEY"))
    (asked,) = server.asked
    assert asked.path == "/openai/deployments/prod/chat/completions?api-version=2024-10-21"
    assert (asked.headers["api-key"], asked.headers.get("authorization")) == (KEY, None)
    assert asked.body["model"] == "gpt-4o"
    assert (reply.verdict.selected_response, reply.served_model) == (2, "gpt-4o-2024-11-20")


def test_a_deployment_is_called_as_its_model_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a deployment in the connection, the one of the model's name is asked; no key goes where none is named."""
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    with serving(good("openai")) as server:
        ask(azure(server.url, deployment=None))
    assert "/deployments/gpt-4o/" in server.asked[0].path
    assert not server.asked[0].holds(KEY)


def test_the_account_is_no_part_of_an_azure_judge(tmp_path: Path) -> None:
    """Another resource and another version of the API replay what was recorded; another deployment is another judge."""
    with serving(good("openai")) as server:
        judge = mine(azure(server.url))
        judgments = run(judge, tmp_path, PAIRS)
    assert judge.identity["deployment"] == "prod"
    assert not any(word in json.dumps(judge.identity) for word in ("127.0.0.1", "2024-10-21", "connection"))
    written = "".join(file.read_text() for file in tmp_path.rglob("*.jsonl"))
    assert "api-version" not in written
    elsewhere = mine(azure("https://another.openai.azure.com", "2025-04-01-preview"))
    replayed = run(elsewhere, tmp_path, PAIRS, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]
    with pytest.raises(CassetteError, match="deployment"):
        run(mine(azure(server.url, deployment="trial")), tmp_path, PAIRS, mode="none")


def test_a_deployment_of_the_model_s_name_is_not_told_twice() -> None:
    """The identity names a deployment only where it has another name than the model."""
    judges = [mine(azure("https://a.openai.azure.com", deployment=name)) for name in (None, "gpt-4o")]
    assert [("deployment" in judge.identity) for judge in judges] == [False, False]
    assert judges[0].identity == judges[1].identity


@pytest.mark.parametrize(
    "answer",
    [
        wire({"error": {"code": "401", "message": "Access denied due to invalid subscription key."}}, 401),
        wire({"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}}, 404),
        wire({"error": {"code": "404", "message": "Resource not found"}}, 404),
        wire({"error": {"code": "BadRequest", "message": "API version not supported"}}, 400),
        wire(problem("Wait.", code="429"), 429, retry_after="600"),
        wire(chat(SECOND, model="gpt-4.1-2025-04-14")),
    ],
    ids=["key", "deployment", "address", "version", "wait", "rerouted"],
)
def test_what_ends_a_run_on_azure(answer: Answer, snapshot: SnapshotAssertion) -> None:
    """Azure's errors are classed as OpenAI's are, and another model than the one asked for is told."""
    with serving(answer) as server, pytest.raises(FatalJudgeError) as error:
        ask(azure(server.url))
    assert str(error.value) == snapshot
    assert len(server.asked) == 1


def test_azure_s_filter_is_one_item_s_fault() -> None:
    """A prompt that Azure's content filter refuses is invalid, and the run goes on."""
    body = {"error": {"code": "content_filter", "message": "The response was filtered.", "status": 400}}
    with serving(wire(body, 400)) as server:
        assert ask(azure(server.url)).verdict.invalid == "filtered"


def test_a_limit_by_its_newer_name_on_azure() -> None:
    """A deployment of a reasoning model is sent the newer name of the limit after it refused the older one."""

    def answering(asked: Asked) -> Answer:
        refusal = problem(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            param="max_tokens",
        )
        return wire(refusal, 400) if "max_tokens" in asked.body else good("openai")

    with serving(by=answering) as server:
        assert ask(azure(server.url)).verdict.selected_response == 2
    assert "max_completion_tokens" in server.asked[-1].body


@pytest.mark.parametrize(
    ("endpoint", "variable"),
    [
        ("https://ours.openai.azure.com", "AZURE_OPENAI_API_KEY"),
        ("https://ours.openai.azure.com/", "AZURE_OPENAI_API_KEY"),
        ("http://ours.openai.azure.com", None),
        ("https://azure.com.elsewhere.example", None),
        ("http://127.0.0.1:8080", None),
    ],
)
def test_azure_s_key_goes_to_azure(endpoint: str, variable: str | None) -> None:
    """The provider's variable is sent to Azure's own hosts, over TLS; to any other only a key that is named."""
    assert judge_table(azure(endpoint)).key_variable == variable
    assert judge_table(azure(endpoint, api_key_env="MY_KEY")).key_variable == "MY_KEY"


def test_ci_sends_no_key_to_an_endpoint_that_nobody_allowed(
    monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """A branch can name any resource of Azure's: recording in CI wants the variable to be listed."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    written: dict[str, Any] = {"judges": {"mine": azure("https://elsewhere.openai.azure.com")}}
    with pytest.raises(JudgeFixturesError) as error:
        build_config(written).check_key("mine")
    assert str(error.value) == snapshot
    build_config({**written, "security": {"api_key_envs": ["AZURE_OPENAI_API_KEY"]}}).check_key("mine")


# --- Vertex AI ----------------------------------------------------------------------------------------------------


def test_vertex_is_asked_in_a_project_and_a_region(credentials: FakeCredentials) -> None:
    """Project and region stand in the path, the token of the default chain in the header; no key is sent."""
    with serving(good("google")) as server:
        assert ask(vertex(server.url)).verdict.selected_response == 2
    (asked,) = server.asked
    assert asked.path == (
        "/v1beta1/projects/our-project/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent"
    )
    assert asked.headers["authorization"] == f"Bearer {credentials.token}"
    assert "x-goog-api-key" not in asked.headers


@pytest.mark.parametrize(
    ("location", "host"),
    [("global", "aiplatform.googleapis.com"), ("europe-west4", "europe-west4-aiplatform.googleapis.com")],
)
def test_vertex_s_own_host_is_that_of_the_region(
    location: str, host: str, credentials: FakeCredentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without base_url the SDK's address of the region is asked, whatever project the environment names."""
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "another")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "false")
    with record_http(only_sdks=True, offline=True), pytest.raises(NetworkBlockedError, match=f"reach {host}:443"):
        ask(vertex(None, location=location))
    assert credentials.refreshed == 1


def test_neither_project_nor_token_is_recorded(credentials: FakeCredentials, tmp_path: Path) -> None:
    """Another project and another region replay what was recorded, and no file holds token, project or region."""
    with serving(by=lambda asked: wire(gemini(f"{SECOND} {asked.headers['authorization']}"))) as server:
        judge = mine(vertex(server.url))
        judgments = run(judge, tmp_path, PAIRS)
    written = "".join(file.read_text() for file in tmp_path.rglob("*.jsonl")) + json.dumps(judge.identity)
    assert not any(word in written for word in (TOKEN, "our-project", "europe-west1"))
    elsewhere = mine(vertex(None, "another-project", "us-central1"))
    assert elsewhere.identity == judge.identity
    replayed = run(elsewhere, tmp_path, PAIRS, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]
    assert (len(rows(tmp_path)), credentials.refreshed) == (len(PAIRS), 1)


@pytest.mark.usefixtures("no_credentials")
def test_a_replay_needs_no_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork without a log-in replays; only asking wants credentials, and says which."""
    with monkeypatch.context() as logged_in, serving(good("google")) as server:
        logged_in.setattr(google.auth, "default", lambda **_more: (FakeCredentials(), None))
        run(mine(vertex(server.url)), tmp_path, PAIRS)
    replayed = run(mine(vertex(None)), tmp_path, PAIRS, mode="none")
    assert [judgment.verdict.selected_response for judgment in replayed] == [2] * len(PAIRS)
    with pytest.raises(FatalJudgeError, match="gcloud auth application-default login"):
        run(mine(vertex(server.url)), tmp_path, some_pairs(9))


def test_a_token_that_ends_is_fetched_again(credentials: FakeCredentials) -> None:
    """A recording that takes longer than a token lives goes on with the next one; one fetch for all calls."""

    async def both() -> None:
        judge = mine(vertex(server.url))
        try:
            await asyncio.gather(*(judge.ask(f"Question {number}: ?") for number in range(5)))
            credentials.end()
            await asyncio.gather(*(judge.ask(f"Question {number}: ?") for number in range(5)))
        finally:
            await judge.close()

    with serving(good("google")) as server:
        asyncio.run(both())
    sent = [asked.headers["authorization"].removeprefix("Bearer ") for asked in server.asked]
    assert sent == [f"{TOKEN}-1"] * 5 + [f"{TOKEN}-2"] * 5


def test_a_log_in_that_is_refused_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials that Google does not renew end the run with a sentence, and nothing is asked."""
    refused = FakeCredentials(faulty=RefreshError("invalid_grant: Token has been expired or revoked."))
    monkeypatch.setattr(google.auth, "default", lambda **_more: (refused, None))
    with serving(good("google")) as server, pytest.raises(FatalJudgeError, match="expired or revoked"):
        ask(vertex(server.url))
    assert server.asked == []


def test_a_token_that_vertex_refuses_is_told(credentials: FakeCredentials) -> None:
    """Where there is no API key, none is blamed: the remedy is about the log-in."""
    refusal = google_problem(401, "Request had invalid authentication credentials.", "UNAUTHENTICATED")
    with serving(wire(refusal, 401)) as server, pytest.raises(FatalJudgeError, match="log in again") as caught:
        ask(vertex(server.url))
    assert "api_key_env" not in str(caught.value)
    assert (len(server.asked), credentials.refreshed) == (1, 1)


def test_a_judge_that_moves_to_gemini_s_own_api_keeps_its_recordings(
    credentials: FakeCredentials, tmp_path: Path
) -> None:
    """The same model is asked the same, on Vertex or not: what one recorded, the other replays."""
    with serving(good("google")) as server:
        run(mine(vertex(server.url)), tmp_path, PAIRS)
    gone = {"provider": "google", "model": "gemini-2.5-flash"}
    replayed = run(load_judge(gone, "mine"), tmp_path, PAIRS, mode="none")
    assert [judgment.verdict.selected_response for judgment in replayed] == [2] * len(PAIRS)
    assert credentials.refreshed == 1


def test_another_model_on_vertex_is_missed(credentials: FakeCredentials, tmp_path: Path) -> None:
    """The model is what is found: under another name, nothing that was recorded answers."""
    with serving(good("google")) as server:
        run(mine(vertex(server.url)), tmp_path, PAIRS)
    with pytest.raises((CassetteError, CassetteMissError), match="model"):
        run(mine(vertex(None, model="gemini-2.5-pro")), tmp_path, PAIRS, mode="none")
    assert header(tmp_path)["judge"]["model"] == "gemini-2.5-flash"
    assert credentials.refreshed == 1


# --- both ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cloud", ["azure", "vertex", "anthropic"])
def test_the_simulator_stands_in_for_a_cloud(cloud: str, credentials: FakeCredentials, tmp_path: Path) -> None:
    """All record and replay against the simulated judges, which need no account; Claude needs none of a cloud."""
    with simulating() as server:
        tables = {
            "azure": azure(server.url, deployment=None),
            "vertex": vertex(server.url),
            "anthropic": {"provider": "anthropic", "base_url": server.url},
        }
        table = tables[cloud]
        judge = mine({**table, "model": "simulated-faithful"})
        judgments = run(judge, tmp_path, PAIRS)
    replayed = run(judge, tmp_path, PAIRS, mode="none")
    assert all(judgment.verdict.invalid is None for judgment in judgments)
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]
    assert credentials.refreshed == (cloud == "vertex")


def test_prices_are_those_of_the_model() -> None:
    """The price table knows Azure's and Google's models; the account changes nothing."""
    assert price_usd(judge_table(azure("https://a.openai.azure.com")), 1_000_000, 0) == pytest.approx(2.5)
    assert price_usd(judge_table(vertex(None)), 1_000_000, 0) == pytest.approx(0.3)


def test_a_cloud_s_calendar_is_not_taken_for_the_provider_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """When OpenAI or Google end a model says nothing of Azure or Vertex; a judge that asks them is warned."""
    monkeypatch.setattr(notes, "retirement_warning", lambda model, _today, _told: f"{model} ends")
    warned: list[str] = []
    ledger = types.SimpleNamespace(warn=warned.append)
    plain = {"provider": "openai", "model": "gpt-4o"}
    for table in (azure("https://a.openai.azure.com"), vertex(None), plain):
        notes.warn_of_retirement(mine(table), None, ledger)
    assert warned == ["judge mine: gpt-4o ends"]


@pytest.mark.parametrize(
    "table",
    [
        {"provider": "azure", "model": "m"},
        azure("https://a.openai.azure.com") | {"connection": {"endpoint": "https://a.openai.azure.com"}},
        azure("https://a.openai.azure.com", base_url="https://b.example"),
        azure("ftp://a.openai.azure.com"),
        azure("https://[::1"),
        azure("https://a.openai.azure.com/openai/v1"),
        {"provider": "openai", "model": "m", "base_url": "http://[x]:80"},
        {"provider": "google", "model": "m", "base_url": "http://a:99999999"},
        {"provider": "anthropic", "model": "m", "base_url": "http://:80"},
        azure("https://a.openai.azure.com", deployment="a/b"),
        azure("https://me:secret-word@a.example?key=secret-word"),
        vertex(None) | {"connection": {"project": "p"}},
        vertex(None) | {"connection": {"project": "p", "location": "l", "deployment": "d"}},
        vertex(None) | {"connection": {"project": "p", "location": "l", "region": "r"}},
        vertex(None, api_key_env="MY_KEY"),
        vertex("https://elsewhere.example"),
        vertex("http://europe-west1-aiplatform.googleapis.com"),
        {"provider": "openai", "model": "m", "connection": {"endpoint": "https://a.example"}},
    ],
)
def test_a_connection_that_cannot_be_is_told(table: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """A connection that lacks something, or goes where credentials must not go, is one clear sentence."""
    with pytest.raises(JudgeFixturesError) as caught:
        judge_table(table)
    assert str(caught.value) == snapshot
    assert "secret-word" not in str(caught.value)


def test_another_provider_takes_no_connection_along() -> None:
    """A judge that extends one on Azure and names another provider leaves the account behind."""
    judges = {
        "now": azure("https://a.openai.azure.com"),
        "next": {"extends": "now", "provider": "anthropic", "model": "claude-haiku-4-5"},
    }
    assert build_config({"judges": judges}).judge_table("next").connection is None
