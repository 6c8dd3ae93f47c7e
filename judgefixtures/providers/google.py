"""Google Gemini through google-genai: Google's API or Vertex AI."""

from __future__ import annotations

import asyncio
import datetime
import io
import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judgefixtures import providers
from judgefixtures.cassettes.calls import CALL, JudgeCall
from judgefixtures.models.probabilities import Token
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.util.secrets import redact_message, register_secrets
from judgefixtures.util.texts import word_set

from . import batch_api
from .error_classification import KEY_REMEDY, classify_error, classify_failure, error_object, status_in_body
from .http import HttpProvider, HttpResponse, object_or_empty, text_or_none
from .judge_table import JudgeTable
from .messages import MESSAGES
from .tokens import complete_logprobs, parse_token, sum_token_counts, token_count, tokens_out

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
WITHHELD = word_set(
    "SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR ESCALATION IMAGE_SAFETY "
    "IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER NO_IMAGE TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE "
    "PUP_LIMITED_DISABLED"
)
CUT_OFF_HINT = (
    "the answer was cut off: raise max_output_tokens, or let the model think less "
    "(thinking_budget = 0, thinking_level = MINIMAL)"
)
BATCHES_VERSION = "v1beta"  # the one that has batches
INLINE = 19 * 10**6  # bytes of questions that fit into a request of 20 MB with what is around them
MARK = "judgefixtures-"  # a batch's display name is this and its intent
TRANSFER = 600  # seconds for a file of questions or answers
# How a batch's state ends, whatever it begins with: JOB_STATE_ or BATCH_STATE_.
OVER = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
# google.rpc.Code from 0 on, as a status of HTTP; 0 for those that have none.
RPC = (0, 499, 0, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401)


class GoogleProvider(HttpProvider["Client"]):
    """Provider through google-genai, without the SDK's retries."""

    sdk = "google-genai"

    def __init__(self, table: JudgeTable, version: str | None = None) -> None:
        super().__init__(table)
        self._version = version  # of the API; None for the one that base_url names, or the default
        self._login = VertexCredentials() if table.connection is not None else None  # a connection is one to Vertex AI
        self._configs: dict[frozenset[str], Any] = {}

    async def complete(self, prompt: str, call: JudgeCall) -> providers.ProviderResponse:
        """Return the answer to one prompt."""
        if self._login is not None:
            if await self._login.changed(call):
                await self.close()
            # Project, region and host are no part of what is asked: it is found as if Gemini's own API were asked.
            model = self.model.rpartition("/")[2]
            call.address = f"{DEFAULT_BASE_URL}{DEFAULT_VERSION}/models/{model}:generateContent"
        models = self.connected().aio.models
        request_sent = models.generate_content(model=self.model, contents=self.prompted(prompt), config=self._config())
        try:
            return await self.answer(read_content, request_sent, call)
        except providers.FatalJudgeError as error:
            if self._login is None or KEY_REMEDY not in str(error):
                raise
            raise providers.FatalJudgeError(str(error).replace(KEY_REMEDY, LOGIN_REMEDY)) from None

    def parameters(self) -> dict[str, Any]:
        """Return the optional parameters."""
        return request_parameters(self.table, self.dropped)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
        await super().close()

    def forget(self) -> None:
        """Drop connections of a closed event loop."""
        super().forget()
        if self._login is not None:
            self._login.forget()

    def make_client(self, key: str, http: httpx2.AsyncClient) -> Client:
        """Return the SDK's client."""
        from google.genai import Client, types

        library = import_module(providers.http_library(self.sdk))
        address, version = self._where()
        return Client(
            **self._account(key),
            http_options=types.HttpOptions(
                base_url=address,
                api_version=version,
                timeout=int(self.table.timeout * 1000),
                # Given, or the SDK takes aiohttp where that happens to be installed.
                httpx_async_client=http,
                # Not used: the SDK's own would read certificates, and fail on a proxy that it cannot use.
                httpx_client=library.Client(transport=library.BaseTransport()),
            ),
        )

    def _where(self) -> tuple[str | None, str]:
        if self._login is None:
            address, version = endpoint(self.table.base_url or str(self.table.record.url))
            return address, self._version or version
        if self.table.base_url is None:
            return None, VERTEX_VERSION
        return endpoint(self.table.base_url, VERTEX_VERSION)

    def _account(self, key: str) -> dict[str, Any]:
        connection = self.table.connection
        if self._login is None or connection is None:
            return {"vertexai": False, "api_key": key}
        return {
            "vertexai": True,
            "project": connection.project,
            "location": connection.location,
            "credentials": self._login.credentials,
        }

    def _config(self) -> Any:
        if self.dropped not in self._configs:
            from google.genai import types

            # On by default where an SDK has it; turns one call into up to four.
            known = types.GenerateContentConfig.model_fields.keys() & {"automatic_continuation"}
            self._configs[self.dropped] = types.GenerateContentConfig(
                **self.parameters(),
                **dict.fromkeys(known, False),
                system_instruction=self.system_text or None,
                # The answer is read off the wire: the SDK need not make objects of it, or call functions.
                should_return_http_response=True,
                automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            )
        return self._configs[self.dropped]


class VertexCredentials:
    """Credentials for Vertex AI, kept in memory only."""

    def __init__(self) -> None:
        self.credentials: Credentials | None = None
        self._real = False
        self._lock = asyncio.Lock()

    def forget(self) -> None:
        """Release the event loop; the token remains."""
        self._lock = asyncio.Lock()

    async def changed(self, call: JudgeCall) -> bool:
        """Refresh the token and return whether the credentials changed.

        Raises RetryableError or FatalJudgeError.
        """
        async with self._lock:
            if call.is_replayed:
                if self.credentials is not None:
                    return False
                from google.oauth2.credentials import Credentials

                self.credentials = Credentials(providers.PLACEHOLDER_KEY)  # type: ignore[no-untyped-call]
                return True
            known = self.credentials if self._real else None
            if known is None or known.expired or not known.token:
                self.credentials = await asyncio.to_thread(_logged_in, known)
                self._real = True
                register_secrets(str(self.credentials.token))
            return self.credentials is not known


def _logged_in(credentials: Credentials | None) -> Credentials:
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
        raise providers.RetryableError(
            redact_message(f"no credentials for Vertex AI: Google does not answer: {error}")
        ) from None
    except (DefaultCredentialsError, RefreshError, OSError, ValueError) as error:
        raise providers.FatalJudgeError(redact_message(MESSAGES.no_credentials(str(error)[:300]))) from None
    return credentials


def endpoint(address: str, version: str = DEFAULT_VERSION) -> tuple[str, str]:
    """Return address and version of the API.

    >>> endpoint("https://gateway.example/gemini/v1beta")
    ('https://gateway.example/gemini', 'v1beta')
    >>> endpoint("http://127.0.0.1:8080")
    ('http://127.0.0.1:8080', 'v1')
    """
    match = VERSIONED.match(address)
    return (match["address"], match["version"]) if match else (address, version)


def request_parameters(table: JudgeTable, dropped: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the optional parameters."""
    own = ("temperature", "seed", "max_output_tokens", "service_tier")
    sent: dict[str, Any] = {name: getattr(table, name) for name in own}
    thinking = {"thinking_level": table.thinking_level, "thinking_budget": table.thinking_budget}
    thinking_settings = {name: value for name, value in thinking.items() if value is not None and name not in dropped}
    if thinking_settings and "thinking_config" not in dropped:
        shown = {} if table.thinking_budget == 0 else {"include_thoughts": True}
        sent["thinking_config"] = thinking_settings | shown
    if table.logprobs:
        sent |= {"response_logprobs": True, "logprobs": table.top_logprobs}
    if table.verdict == "json" and table.response_format != "none":
        sent["response_mime_type"] = "application/json"
        sent["response_json_schema"] = providers.answer_schema(table) or None
    return {name: value for name, value in sent.items() if name not in dropped and value is not None}


def read_content(wire: HttpResponse, model: str) -> providers.ProviderResponse:
    """Return the answer in a response, or raise RetryableError or FatalJudgeError."""
    if not 200 <= wire.status < 300:
        return classify_failure(wire, model)
    body = wire.json()
    if not isinstance(body, dict):
        raise providers.RetryableError("an answer that is not a JSON object", invalid="empty", outage=True)
    about: dict[str, Any] = {
        "served_model": (text_or_none(body.get("modelVersion")) or "").removeprefix("models/") or None,
        "usage": read_usage(body.get("usageMetadata")),
    }
    if body.get("error"):
        error = error_object(wire)
        return classify_error(status_in_body(error), error, wire, model)
    feedback = body.get("promptFeedback") or {}
    if feedback.get("blockReason"):
        return providers.ProviderResponse("", "filtered", f"the prompt was blocked: {feedback['blockReason']}", **about)
    candidates = body.get("candidates")
    if not candidates or not isinstance(candidates[0], dict):
        # Empty fields are left out, but a model that has nothing to say still says who it is, or what it cost.
        outage = not body.keys() & ENVELOPE
        raise providers.RetryableError("an answer without candidates", invalid="empty", outage=outage)
    candidate = candidates[0]
    finish = str(candidate.get("finishReason") or "STOP").upper()
    if finish in RETRIED:
        raise providers.RetryableError(f"the model's answer was malformed ({finish})", invalid="no-answer")
    text, reasoning = _texts(candidate)
    invalid, detail = _fault(finish)
    if invalid is None and not text.strip():
        raise providers.RetryableError("an answer without text", invalid="empty")
    if invalid == "filtered" and finish not in WITHHELD:
        about["unless_whole"] = f"the finish reason {finish[:60]} is not known; the answer is whole and was counted"
    return providers.ProviderResponse(text, invalid, detail, reasoning, tokens=_tokens_of(candidate), **about)


def _fault(finish: str) -> tuple[InvalidKind | None, str]:
    if finish in ("STOP", "FINISH_REASON_UNSPECIFIED"):
        return None, ""
    if finish in CUT_OFF:
        return "truncated", CUT_OFF_HINT
    return "filtered", f"the provider withheld the answer ({finish})"


def _texts(candidate: dict[str, Any]) -> tuple[str, str]:
    parts = [part for part in (candidate.get("content") or {}).get("parts") or () if isinstance(part, dict)]
    texts = {False: "", True: ""}  # by whether it is a thought
    for part in parts:
        texts[bool(part.get("thought"))] += str(part.get("text") or "")
    return texts[False], texts[True]


def _tokens_of(candidate: Mapping[str, Any]) -> tuple[Token, ...]:
    result = object_or_empty(candidate.get("logprobsResult"))
    chosen, top = result.get("chosenCandidates"), result.get("topCandidates") or ()
    if not isinstance(chosen, list) or not isinstance(top, list | tuple) or (top and len(top) != len(chosen)):
        return ()
    lists = [object_or_empty(place).get("candidates") for place in top] or [None] * len(chosen)
    return complete_logprobs(
        parse_token(entry, others, "logProbability") for entry, others in zip(chosen, lists, strict=True)
    )


def read_usage(usage: Any) -> Usage:
    """Return the tokens that an answer states."""
    counts = object_or_empty(usage)
    thoughts, candidates = counts.get("thoughtsTokenCount"), counts.get("candidatesTokenCount")
    served_tier = text_or_none(counts.get("serviceTier"))
    read, by_tools = counts.get("promptTokenCount"), counts.get("toolUsePromptTokenCount")
    asked, total = sum_token_counts(read, by_tools), token_count(counts.get("totalTokenCount"))
    return Usage(
        token_count(read),
        tokens_out(sum_token_counts(candidates, thoughts), None, asked, total),
        token_count(thoughts),
        token_count(counts.get("cachedContentTokenCount")),
        service_tier=served_tier and served_tier.lower(),
    )


class GoogleBatches(batch_api.BatchProvider[GoogleProvider]):
    """Batches of generateContent."""

    limits = batch_api.BatchLimits(
        200_000, 10**9
    )  # the file may have 2 GB; nobody wants to download more than this at once
    window = datetime.timedelta(hours=48)
    key = "name"

    def __init__(self, table: JudgeTable) -> None:
        self._inline = INLINE
        super().__init__(GoogleProvider(table, BATCHES_VERSION))

    async def send(
        self, intent: str, lines: Sequence[batch_api.BatchLine], about_to: Callable[[], object] = lambda: None
    ) -> str:
        """Create a batch with the intent as name."""
        client, name = self.provider.connected(), f"{MARK}{intent}"
        if sum(len(line.body) + len(line.id) + 60 for line in lines) <= self._inline:
            # The SDK would write each request again from its parts; what is sent is what it was about to send.
            requests = [{"request": json.loads(line.body), "metadata": {"key": line.id}} for line in lines]
            body = {"batch": {"inputConfig": {"requests": {"requests": requests}}}}
            config: dict[str, Any] = {"display_name": name, "http_options": {"extra_body": body}}
            source: Any = [{"contents": "in extra_body"}]
        else:
            config, source = {"display_name": name}, await self._uploaded(name, lines)
        about_to()
        request_sent = client.aio.batches.create(model=self.provider.model, src=source, config=config)  # type: ignore[arg-type]
        return await self.make(request_sent)

    async def _uploaded(self, name: str, lines: Sequence[batch_api.BatchLine]) -> str:
        content = b"".join(
            b'{"key":"%s","request":%s}\n' % (line.id.encode(), batch_api.on_one_line(line.body)) for line in lines
        )
        options = {"timeout": 1000 * TRANSFER}
        config: Any = {"mime_type": "application/jsonl", "display_name": name, "http_options": options}
        upload = self.provider.connected().aio.files.upload
        return await self.upload(
            lambda: upload(file=io.BytesIO(content), config=config),
            lambda body: object_or_empty(body.get("file")).get("name"),
            "name",
        )

    def refuses(self, body: Mapping[str, Any]) -> bool:
        """Return whether a body is Google's error."""
        error = object_or_empty(body.get("error"))
        return batch_api.line_status(error.get("code")) is not None and isinstance(error.get("status"), str)

    def intent_of(self, batch: Mapping[str, Any]) -> object:
        """Return the intent in a batch's name."""
        return str(object_or_empty(batch.get("metadata")).get("displayName")).removeprefix(MARK)

    def moment_of(self, batch: Mapping[str, Any]) -> Any:
        """Return a batch's creation time."""
        return object_or_empty(batch.get("metadata")).get("createTime")

    async def show_page(self, after: str | None) -> batch_api.Page:
        """Return a page of the batch list."""
        config: Any = {"page_size": 100, **({"page_token": after} if after else {})}
        # What is empty is left out; a page that lists something else lists no batches.
        request_sent = self.provider.connected().aio.batches.list(config=config)
        page, batches = await self.page(request_sent, "operations", may_lack=True)
        return batches, text_or_none(page.get("nextPageToken"))

    async def look(self, batch: str) -> batch_api.BatchState:
        """Return a batch's state."""
        body = await self.ask(self.provider.connected().aio.batches.get(name=batch))
        about = object_or_empty(body.get("metadata"))
        word = str(about.get("state") or "").rpartition("STATE_")[2] or "PENDING"
        stats = object_or_empty(about.get("batchStats"))
        counts = (str(stats.get(name, "")) for name in ("successfulRequestCount", "failedRequestCount"))
        counted = [int(count) for count in counts if count.isdecimal()]
        error_text = str(object_or_empty(body.get("error")).get("message") or "")[:200]
        return batch_api.BatchState(word in OVER, word.lower(), sum(counted) if counted else None, error_text, body)

    async def fetch(self, batch: str, state: batch_api.BatchState) -> batch_api.BatchResults:
        """Return a batch's answers."""
        body = state.raw
        output = {
            **object_or_empty(object_or_empty(body.get("metadata")).get("output")),
            **object_or_empty(body.get("response")),
        }
        inlined = object_or_empty(output.get("inlinedResponses")).get("inlinedResponses") or ()
        rows, whole = [each for each in inlined if isinstance(each, dict)], True
        if file := text_or_none(output.get("responsesFile")):
            config: Any = {"http_options": {"timeout": 1000 * TRANSFER}}
            download = self.provider.connected().aio.files.download
            rows, whole = await self.download(download(file=file, config=config))
        return batch_api.BatchResults(batch, whole=whole).take(rows, _read, self.provider.model)


def _read(row: dict[str, Any]) -> batch_api.Said:
    name = row.get("key") or object_or_empty(row.get("metadata")).get("key")
    if isinstance(row.get("response"), dict):
        return name, 200, row["response"]
    error = object_or_empty(row.get("error"))
    code = batch_api.line_status(error.get("code"))
    status = 500 if code is None else RPC[code] if 0 < code < len(RPC) else code
    if error and 400 <= status <= 599:
        return name, status, {"error": {**error, "code": status}}
    return name, None, str(error.get("message") or "")[:200]


def _is_googles(address: str) -> bool:
    parts = urlsplit(address)
    host = parts.hostname or ""
    return (parts.scheme == "https" and host.endswith(".googleapis.com")) or host in ("127.0.0.1", "localhost", "::1")


def _check(table: JudgeTable) -> None:
    if table.connection is None:
        return
    if table.connection.project is None or table.connection.location is None:
        raise ValueError("the connection of provider 'google' is one to Vertex AI: it needs project and location")
    if table.api_key_env is not None:
        raise ValueError(MESSAGES.vertex_without_key())
    if table.base_url is not None and not _is_googles(table.base_url):
        raise ValueError(MESSAGES.vertex_address())


RECORD = providers.ProviderSpec(
    answers=GoogleProvider,
    key="GEMINI_API_KEY",
    switches=("GOOGLE_", "GEMINI_"),
    url=DEFAULT_BASE_URL,
    batches=GoogleBatches,
    thinking=("thinking_level", "thinking_budget"),
    tiers=("standard", "flex", "priority"),
    connection=("project", "location"),
    check=_check,
)
