"""Gemini, through google-genai: Google's own API, or Vertex AI in a project of one's own."""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judgefixtures.cassettes.replay import CALL, find_at, replaying
from judgefixtures.config import JudgeTable
from judgefixtures.providers import PLACEHOLDER_KEY, Answer, FatalJudgeError, RetryableError, Usage, api_key, schema_of
from judgefixtures.providers.wire import (
    KEY_REMEDY,
    Wire,
    as_table,
    error_answer,
    error_object,
    exchange,
    failure,
    http_client,
    status_in,
    text_or_none,
    tokens,
    tokens_together,
    told,
    told_token,
    understood,
    without_switches,
)
from judgefixtures.reading.probabilities import Token
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.secrets import know, masked

if TYPE_CHECKING:
    import httpx2
    from google.auth.credentials import Credentials
    from google.genai import Client

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com/"
DEFAULT_VERSION = "v1"
VERTEX_VERSION = "v1beta1"  # the SDK's own choice
LOGIN_REMEDY = "Vertex AI does not accept these credentials: log in again, or check the account's permissions."
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
VERSIONED = re.compile(r"(?P<address>.*?)/(?P<version>v\d+(?:(?:alpha|beta)\d*)?)/*\Z", re.DOTALL)

RETRIED = frozenset({"MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
ENVELOPE = frozenset({"candidates", "modelVersion", "usageMetadata", "promptFeedback"})
CUT_OFF = frozenset({"MAX_TOKENS", "LENGTH", "CONTINUATION"})
WITHHELD = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MODEL_ARMOR",
        "ESCALATION",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "IMAGE_OTHER",
        "NO_IMAGE",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "PUP_LIMITED_DISABLED",
    }
)
CUT_OFF_HINT = (
    "the answer was cut off: raise max_output_tokens, or let the model think less "
    "(thinking_budget = 0, thinking_level = MINIMAL)"
)


class GoogleProvider:
    """Answers prompts through the google-genai SDK, with its own retries and continuations off."""

    def __init__(self, table: JudgeTable, version: str | None = None) -> None:
        self._table = table
        self._model = str(table.model)
        self._version = version  # of the API; None for the one that base_url names, or the default
        self._client: Client | None = None
        self._http: httpx2.AsyncClient | None = None
        self._login = Login() if table.is_vertex else None
        self._configs: dict[frozenset[str], Any] = {}
        self.dropped: frozenset[str] = frozenset()

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters that go with a prompt."""
        return frozenset(parameters(self._table, self.dropped))

    async def complete(self, prompt: str) -> Answer:
        """Return the answer to one prompt; raises RetryableError or FatalJudgeError."""
        if self._login is not None:
            if await self._login.changed():
                await self.close()
            # Project, region and host are no part of what is asked: it is found as if Gemini's own API were asked.
            find_at(f"{DEFAULT_BASE_URL}{DEFAULT_VERSION}/models/{self._model.rpartition('/')[2]}:generateContent")
        models = self.connected().aio.models
        call = models.generate_content(model=self._model, contents=prompt, config=self._config())
        wire = await exchange(call, self._table.base_url)
        try:
            return understood(read, wire, self._model)
        except FatalJudgeError as error:
            if self._login is None or KEY_REMEDY not in str(error):
                raise
            raise FatalJudgeError(str(error).replace(KEY_REMEDY, LOGIN_REMEDY)) from None

    async def close(self) -> None:
        """Close the connections; the next question opens them again."""
        if self._http is not None and self._client is not None:
            await self._http.aclose()
            self._client.close()
            self._client = self._http = None

    def forget(self) -> None:
        """Drop the connections: they belong to an event loop that is gone."""
        self._client = self._http = None
        if self._login is not None:
            self._login.forget()

    def connected(self) -> Client:
        """Return the SDK's client, which opens connections when it first asks."""
        if self._client is None:
            import httpx2
            from google.genai import Client, types

            address, version = self._where()
            account = self._account()
            self._http = http_client(self._table.base_url, self._table.timeout)
            with without_switches():
                self._client = Client(
                    **account,
                    http_options=types.HttpOptions(
                        base_url=address,
                        api_version=version,
                        timeout=int(self._table.timeout * 1000),
                        # Given, or the SDK takes aiohttp where that happens to be installed.
                        httpx_async_client=self._http,
                        # Not used: the SDK's own would read certificates, and fail on a proxy that it cannot use.
                        httpx_client=httpx2.Client(transport=httpx2.BaseTransport()),
                    ),
                )
        return self._client

    def _where(self) -> tuple[str | None, str]:
        """Return address and version of the API; None for the address that the SDK makes of a region."""
        if self._login is None:
            address, version = endpoint(self._table.base_url)
            return address, self._version or version
        if self._table.base_url is None:
            return None, VERTEX_VERSION
        found = VERSIONED.match(self._table.base_url)
        return (found["address"], found["version"]) if found else (self._table.base_url, VERTEX_VERSION)

    def _account(self) -> dict[str, Any]:
        """Return who is asked for an answer, and with which credentials."""
        connection = self._table.connection
        if self._login is None or connection is None:
            return {"vertexai": False, "api_key": api_key(self._table) or PLACEHOLDER_KEY}
        return {
            "vertexai": True,
            "project": connection.project,
            "location": connection.location,
            "credentials": self._login.credentials,
        }

    def _config(self) -> Any:
        if self.dropped not in self._configs:
            from google.genai import types

            self._configs[self.dropped] = types.GenerateContentConfig(
                **parameters(self._table, self.dropped),
                system_instruction=self._table.system_text or None,
                automatic_continuation=False,  # on by default; turns one call into up to four
                # The answer is read off the wire: the SDK need not make objects of it, or call functions.
                should_return_http_response=True,
                automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            )
        return self._configs[self.dropped]


class Login:
    """The credentials for Vertex AI: those that Google's own chain finds, kept in memory and nowhere else.

    They are fetched outside of the call in progress, so that no answer about them can be recorded. A replay has none.
    """

    def __init__(self) -> None:
        self.credentials: Credentials | None = None
        self._real = False
        self._lock = asyncio.Lock()

    def forget(self) -> None:
        """Let go of the event loop; a token outlives it."""
        self._lock = asyncio.Lock()

    async def changed(self) -> bool:
        """See to it that there is a valid token, and tell whether it is one of other credentials than before.

        Raises FatalJudgeError or RetryableError.
        """
        async with self._lock:
            if replaying():
                if self.credentials is not None:
                    return False
                from google.oauth2.credentials import Credentials

                self.credentials = Credentials(PLACEHOLDER_KEY)  # type: ignore[no-untyped-call]
                return True
            known = self.credentials if self._real else None
            if known is None or known.expired or not known.token:
                self.credentials = await asyncio.to_thread(_logged_in, known)
                self._real = True
                know(str(self.credentials.token))
            return self.credentials is not known


def _logged_in(credentials: Credentials | None) -> Credentials:
    """Return credentials with a token, those of the environment if there are none yet."""
    CALL.set(None)  # of this thread's copy of the context
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError, RefreshError, TransportError
    from google.auth.transport.requests import Request

    try:
        if credentials is None:
            with warnings.catch_warnings():  # of a log-in without a quota project, which a test run may call an error
                warnings.simplefilter("ignore")
                credentials, _ = google.auth.default(scopes=[SCOPE])
        if credentials.expired or not credentials.token:
            credentials.refresh(Request())  # type: ignore[no-untyped-call]
    except TransportError as error:
        raise RetryableError(masked(f"no credentials for Vertex AI: Google does not answer: {error}")) from None
    except (DefaultCredentialsError, RefreshError, OSError, ValueError) as error:
        raise FatalJudgeError(
            masked(
                f"there are no credentials for Vertex AI that work: {str(error)[:300]} -- log in with `gcloud auth "
                "application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account."
            )
        ) from None
    return credentials


def endpoint(base_url: str | None) -> tuple[str, str]:
    """Return the address and the version of the API: a version that ends base_url is the one that is asked.

    >>> endpoint("https://gateway.example/gemini/v1beta")
    ('https://gateway.example/gemini', 'v1beta')
    >>> endpoint("http://127.0.0.1:8080")
    ('http://127.0.0.1:8080', 'v1')
    """
    found = VERSIONED.match(base_url or "")
    return (found["address"], found["version"]) if found else (base_url or DEFAULT_BASE_URL, DEFAULT_VERSION)


def parameters(table: JudgeTable, dropped: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return what is sent beside model and contents."""
    sent: dict[str, Any] = {
        "temperature": table.temperature,
        "seed": table.seed,
        "max_output_tokens": table.max_output_tokens,
    }
    thinking = {"thinking_level": table.thinking_level, "thinking_budget": table.thinking_budget}
    asked = {name: value for name, value in thinking.items() if value is not None and name not in dropped}
    if asked and "thinking_config" not in dropped:
        sent["thinking_config"] = {**asked, **({} if table.thinking_budget == 0 else {"include_thoughts": True})}
    if table.service_tier is not None:
        sent["service_tier"] = table.service_tier
    if table.logprobs:
        sent |= {"response_logprobs": True, "logprobs": table.top_logprobs}
    if table.verdict == "json" and table.response_format != "none":
        sent |= {"response_mime_type": "application/json", "response_json_schema": schema_of(table)}
    return {name: value for name, value in sent.items() if name not in dropped and value is not None}


def read(wire: Wire, model: str) -> Answer:
    """Return what a generateContent answer on the wire says; raises RetryableError or FatalJudgeError."""
    if not 200 <= wire.status < 300:
        return failure(wire, model)
    body = wire.json()
    if not isinstance(body, dict):
        raise RetryableError("an answer that is not a JSON object", invalid="empty", outage=True)
    about: dict[str, Any] = {
        "served_model": (text_or_none(body.get("modelVersion")) or "").removeprefix("models/") or None,
        "usage": _usage(body.get("usageMetadata")),
    }
    if body.get("error"):
        error = error_object(wire)
        return error_answer(status_in(error), error, wire.headers, model)
    feedback = body.get("promptFeedback") or {}
    if feedback.get("blockReason"):
        return Answer("", "filtered", f"the prompt was blocked: {feedback['blockReason']}", **about)
    candidates = body.get("candidates")
    if not candidates or not isinstance(candidates[0], dict):
        # Empty fields are left out, but a model that has nothing to say still says who it is, or what it cost.
        outage = not body.keys() & ENVELOPE
        raise RetryableError("an answer without candidates", invalid="empty", outage=outage)
    candidate = candidates[0]
    finish = str(candidate.get("finishReason") or "STOP").upper()
    if finish in RETRIED:
        raise RetryableError(f"the model's answer was malformed ({finish})", invalid="no-answer")
    text, reasoning = _texts(candidate)
    invalid, detail = _fault(finish)
    if invalid is None and not text.strip():
        raise RetryableError("an answer without text", invalid="empty")
    if invalid == "filtered" and finish not in WITHHELD:
        about["unless_whole"] = f"the finish reason {finish[:60]} is not known; the answer is whole and was counted"
    return Answer(text, invalid, detail, reasoning, tokens=_tokens_of(candidate), **about)


def _fault(finish: str) -> tuple[InvalidKind | None, str]:
    if finish in ("STOP", "FINISH_REASON_UNSPECIFIED"):
        return None, ""
    if finish in CUT_OFF:
        return "truncated", CUT_OFF_HINT
    return "filtered", f"the provider withheld the answer ({finish})"


def _texts(candidate: dict[str, Any]) -> tuple[str, str]:
    """Return the answer's text and the model's thoughts: each the text parts of its kind, joined."""
    parts = [part for part in (candidate.get("content") or {}).get("parts") or () if isinstance(part, dict)]
    kinds = [(bool(part.get("thought")), str(part.get("text") or "")) for part in parts]
    return (
        "".join(text for thought, text in kinds if not thought),
        "".join(text for thought, text in kinds if thought),
    )


def _tokens_of(candidate: Mapping[str, Any]) -> tuple[Token, ...]:
    """Return a candidate's tokens with their probabilities, thoughts included; none where one cannot be read."""
    result = as_table(candidate.get("logprobsResult"))
    chosen, top = result.get("chosenCandidates"), result.get("topCandidates") or ()
    if not isinstance(chosen, list) or not isinstance(top, list | tuple) or (top and len(top) != len(chosen)):
        return ()
    lists = [as_table(place).get("candidates") for place in top] or [None] * len(chosen)
    return told(told_token(entry, others, "logProbability") for entry, others in zip(chosen, lists, strict=True))


def _usage(usage: Any) -> Usage:
    counts = as_table(usage)
    thoughts, candidates = counts.get("thoughtsTokenCount"), counts.get("candidatesTokenCount")
    served_tier = text_or_none(counts.get("serviceTier"))
    return Usage(
        tokens(counts.get("promptTokenCount")),
        tokens_together(candidates, thoughts),
        tokens(thoughts),
        tokens(counts.get("cachedContentTokenCount")),
        service_tier=served_tier and served_tier.lower(),
    )
