"""Claude, through the anthropic SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from judgefixtures.cassettes.thinning import tool_inputs
from judgefixtures.config import JudgeTable
from judgefixtures.providers import (
    PLACEHOLDER_KEY,
    TOOL,
    Answer,
    FatalJudgeError,
    RetryableError,
    Usage,
    api_key,
    schema_of,
)
from judgefixtures.providers.wire import (
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
    understood,
    without_switches,
)
from judgefixtures.reading.verdicts import InvalidKind, folded
from judgefixtures.words.secrets import redacted

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

DEFAULT_BASE_URL = "https://api.anthropic.com"
# The last version of the API that knows a temperature, and that only of the models which still take one. Without a
# temperature the version is the SDK's own.
WITH_TEMPERATURE = "2023-06-01"
VERDICT_TOOL = "verdict"
LONGEST_ENUM = 100  # scores that are listed one by one

ENVELOPE = frozenset({"content", "model", "usage", "stop_reason"})
ENDED = frozenset({"", "end_turn", "stop_sequence"})
STOPPED: dict[str, tuple[InvalidKind, str]] = {
    "max_tokens": (
        "truncated",
        "the answer was cut off at max_output_tokens: raise it, or let the model think less "
        "(thinking_budget, reasoning_effort)",
    ),
    "model_context_window_exceeded": (
        "truncated",
        "prompt and answer together are longer than the model can read: "
        "shorten the prompt, or let the model think less",
    ),
    "pause_turn": ("no-answer", "the provider paused the model before it had answered (pause_turn)"),
    "refusal": ("refusal", "the model declined to answer"),
}
STATUS_OF = {  # of an error that comes in a 200, by its type
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
STATING = frozenset(map(folded, ("selected_response", "score")))
CALLED = "the model called a tool instead of answering"


class AnthropicProvider:
    """Answers prompts through the anthropic SDK, with its own retries off."""

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._model = str(table.model)
        self._client: AsyncAnthropic | None = None
        self.dropped: frozenset[str] = frozenset()

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters that go with a prompt and could be left out."""
        return frozenset(parameters(self._table, self.dropped))

    async def complete(self, prompt: str) -> Answer:
        """Return the answer to one prompt; raises RetryableError or FatalJudgeError."""
        create = self.connected().messages.with_raw_response.create
        body = request(self._table, self.dropped, prompt)
        # In extra_body, which is sent as it is: the SDK's own parameters know no temperature, and for the names of
        # some models it warns.
        call = create(model="", max_tokens=0, messages=[], extra_body=body, extra_headers=version_of(body))
        return understood(read, await exchange(call, self._table.base_url), self._model)

    async def shutdown_date(self) -> str | None:
        """Return the day on which the provider says that it ends the model; asked of Anthropic itself only."""
        if self._table.base_url is not None:
            return None
        try:
            found = await self.connected().models.with_raw_response.retrieve(self._model)
            told = as_table(await found.json()).get("retires_at")
        except Exception:  # a courtesy: whatever goes wrong here must not cost a recording
            return None
        return text_or_none(told)

    async def close(self) -> None:
        """Close the connections; the next question opens them again."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def forget(self) -> None:
        """Drop the connections: they belong to an event loop that is gone."""
        self._client = None

    def connected(self) -> AsyncAnthropic:
        """Return the SDK's client, which opens connections when it first asks."""
        if self._client is None:
            from anthropic import AsyncAnthropic

            key = (
                api_key(self._table) or PLACEHOLDER_KEY
            )  # before the SDK's variables are hidden: it may be one of them
            with without_switches():
                self._client = AsyncAnthropic(
                    api_key=key,
                    base_url=endpoint(self._table.base_url),
                    max_retries=0,
                    http_client=http_client(self._table.base_url, self._table.timeout),
                    timeout=self._table.timeout,
                    open_telemetry=False,
                )
        return self._client


def version_of(*bodies: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers of the API's version that takes all these bodies of requests; none for the SDK's own.

    >>> version_of({"temperature": 0.0}, {}), version_of({})
    ({'anthropic-version': '2023-06-01'}, {})
    """
    return {"anthropic-version": WITH_TEMPERATURE} if any("temperature" in body for body in bodies) else {}


def endpoint(base_url: str | None) -> str:
    """Return the address that the SDK is given, which puts the version behind it.

    >>> endpoint("http://127.0.0.1:8080/v1/"), endpoint(None)
    ('http://127.0.0.1:8080', 'https://api.anthropic.com')
    """
    return (base_url or DEFAULT_BASE_URL).rstrip("/").removesuffix("/v1")


def parameters(table: JudgeTable, dropped: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return what can be left out of a request, by the names that the other providers have for it.

    Where structured outputs are left out the verdict is the input of a tool that has to be called, unless that is left
    out, too, or the model thinks: then no call can be forced.
    """
    wants_json = table.verdict == "json" and table.response_format != "none"
    thinks = bool(table.thinking_budget) and "thinking_config" not in dropped
    sent: dict[str, Any] = {
        "temperature": table.temperature,
        "thinking_config": _thinking(table.thinking_budget),
        "reasoning_effort": table.reasoning_effort,
        "service_tier": table.service_tier,
    }
    if wants_json and table.response_format == "json_schema" and "response_format" not in dropped:
        sent["response_format"] = {"type": "json_schema", "schema": plain_schema(schema_of(table))}
    elif wants_json and not thinks:
        sent[TOOL] = {"type": "tool", "name": VERDICT_TOOL, "disable_parallel_tool_use": True}
    return {name: value for name, value in sent.items() if name not in dropped and value is not None}


def _thinking(budget: int | None) -> dict[str, Any] | None:
    if budget is None:
        return None
    if budget <= 0:
        return {"type": "disabled" if budget == 0 else "adaptive"}
    return {"type": "enabled", "budget_tokens": budget}


def request(table: JudgeTable, dropped: frozenset[str], prompt: str) -> dict[str, Any]:
    """Return the body of a request."""
    said = parameters(table, dropped)
    body: dict[str, Any] = {
        "model": str(table.model),
        "max_tokens": table.max_output_tokens,  # the API insists on one
        "messages": [{"role": "user", "content": prompt}],
    }
    if table.system_text:
        body["system"] = table.system_text
    for name in ("temperature", "service_tier"):
        if name in said:
            body[name] = said[name]
    if "thinking_config" in said:
        body["thinking"] = said["thinking_config"]
    output = {"effort": said.get("reasoning_effort"), "format": said.get("response_format")}
    if any(output.values()):
        body["output_config"] = {name: value for name, value in output.items() if value is not None}
    if TOOL in said:
        body["tools"] = [{"name": VERDICT_TOOL, "description": "States the verdict.", "input_schema": schema_of(table)}]
        body["tool_choice"] = said[TOOL]
    return body


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in the words that structured outputs know: no bounds of numbers, which are listed or described.

    >>> plain_schema({"properties": {"score": {"type": "integer", "minimum": 1, "maximum": 3}}})
    {'properties': {'score': {'type': 'integer', 'enum': [1, 2, 3]}}}
    """
    return schema | {"properties": {name: _unbounded(each) for name, each in schema["properties"].items()}}


def _unbounded(value: dict[str, Any]) -> dict[str, Any]:
    if "minimum" not in value:
        return value
    lowest, highest = value["minimum"], value["maximum"]
    if value["type"] == "integer" and highest - lowest < LONGEST_ENUM:
        return {"type": "integer", "enum": list(range(int(lowest), int(highest) + 1))}
    return {"type": value["type"], "description": f"from {lowest:g} to {highest:g}"}


def read(wire: Wire, model: str) -> Answer:
    """Return what a message on the wire says; raises RetryableError or FatalJudgeError."""
    if not 200 <= wire.status < 300:
        return failure(wire, model)
    body = wire.json()
    if not isinstance(body, dict):
        raise RetryableError("an answer that is not a JSON object", invalid="empty", outage=True)
    if body.get("type") == "error" or body.get("error"):
        error = error_object(wire)
        status = STATUS_OF.get(str(error.get("type"))) or status_in(error)
        return error_answer(status, error, wire.headers, model)
    if "choices" in body and "content" not in body:
        raise FatalJudgeError(
            "the server answers in OpenAI's wire format, not in Anthropic's: set provider = \"openai\" (with /v1 at "
            "the end of base_url) in the judge's table."
        )
    about: dict[str, Any] = {"served_model": text_or_none(body.get("model")), "usage": _usage(body.get("usage"))}
    text, reasoning, called = _said(wire, body.get("content"))
    stop = str(body.get("stop_reason") or "").lower()
    invalid, detail = _fault(stop, body, called)
    if invalid is None and not text.strip():
        # A model that has nothing to say sends its envelope empty; what is not an envelope is not the model's word.
        raise RetryableError("an answer without text", invalid="empty", outage=not body.keys() & ENVELOPE)
    if invalid == "filtered":
        about["unless_whole"] = f"the stop reason {stop[:60]} is not known; the answer is whole and was counted"
    return Answer(text, invalid, detail, reasoning, **about)


def _fault(stop: str, body: Mapping[str, Any], called: bool | None) -> tuple[InvalidKind | None, str]:
    """Return why a message is no answer, with what to do, or (None, "").

    `called` tells whether a tool was called with a verdict; None: none was called.
    """
    if stop == "refusal":
        told = as_table(body.get("stop_details"))
        why = text_or_none(told.get("explanation")) or text_or_none(told.get("category"))
        return "refusal", f"{STOPPED[stop][1]}: {redacted(why)[:400]}" if why else STOPPED[stop][1]
    if stop in STOPPED:
        return STOPPED[stop]
    if called is False or (stop == "tool_use" and called is None):
        return "no-answer", CALLED
    if stop in ENDED or stop == "tool_use":
        return None, ""
    return "filtered", f"the model stopped for a reason that is not known ({stop[:60]})"


def _said(wire: Wire, content: Any) -> tuple[str, str, bool | None]:
    """Return the answer's text, the model's thoughts, and whether a tool was called with a verdict (None: no call)."""
    if isinstance(content, str):  # as some gateways send it
        return content, "", None
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    thoughts = "".join(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking")
    if not any(block.get("type") == "tool_use" for block in blocks):
        return text, thoughts, None
    stated = list(_stated(wire))
    return "\n".join(filter(str.strip, [text, *stated])), thoughts, bool(stated)


def _stated(wire: Wire) -> Iterator[str]:
    """Yield the inputs of called tools that state a verdict or a score, as JSON."""
    for given in tool_inputs(wire.body.removeprefix("\ufeff")).values():
        if isinstance(given, dict) and {folded(key) for key in given} & STATING:
            yield json.dumps(given)


def _usage(usage: Any) -> Usage:
    """Return the tokens of a message: what was read from a cache or written to one is input, too."""
    counts = as_table(usage)
    written, read = (counts.get(f"cache_{kind}_input_tokens") for kind in ("creation", "read"))
    asked = counts.get("input_tokens")
    thought = tokens(as_table(counts.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(
        None if asked is None else tokens_together(asked, written, read),
        tokens(counts.get("output_tokens")),
        thought,
        tokens(read),
        tokens(written),
        text_or_none(counts.get("service_tier")),
    )
