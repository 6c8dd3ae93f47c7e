"""Anthropic (Claude), through the optional anthropic SDK."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgefixtures import providers
from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.cassettes.response_filter import tool_arguments
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.parsing.verdicts import normalize_key
from judgefixtures.util.secrets import redact

from . import batch_api
from .error_classification import classify_error, classify_failure, error_object, status_in_body, status_of_type
from .http import HttpProvider, HttpResponse, http_client, object_or_empty, text_or_none
from .judge_table import ASKING, JudgeTable
from .messages import MESSAGES
from .tokens import sum_token_counts, token_count, tokens_out

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

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
STATING = frozenset(map(normalize_key, ("selected_response", "score")))
CALLED = "the model called a tool instead of answering"
TRANSFER = 600.0  # seconds for a batch of questions or its answers
NO_ANSWER = frozenset({"expired", "canceled"})  # results of questions that were not asked
LEAST_THOUGHT = 1024  # tokens, by Anthropic's API


class AnthropicProvider(HttpProvider["AsyncAnthropic"]):
    """Provider through the anthropic SDK, without the SDK's retries."""

    sdk = "anthropic"

    async def complete(self, prompt: str, call: JudgeCall) -> providers.ProviderResponse:
        """Return the answer to one prompt."""
        body = request_body(self.table, self.dropped, self.prompted(prompt), self.system_text)
        if call.is_replayed:
            return await self.answer(read_message, self._replayed(body), call)
        create = self.connected().messages.with_raw_response.create
        # In extra_body, which is sent as it is: the SDK's own parameters know no temperature, and for the names of
        # some models it warns.
        request_sent = create(model="", max_tokens=0, messages=[], extra_body=body, extra_headers=version_headers(body))
        return await self.answer(read_message, request_sent, call)

    async def _replayed(self, body: Mapping[str, Any]) -> None:
        if self._http is None:
            self._http = http_client("httpx2", self.table.address, self.table.timeout)
        await self._http.post(f"{self._address}/v1/messages", json=body)

    @property
    def _address(self) -> str:
        return endpoint(self.table.base_url or str(self.table.record.url))

    async def describe_model(self) -> Any:
        """Return the entry in Anthropic's model list."""
        return await (await self.connected().models.with_raw_response.retrieve(self.model)).json()

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by common names."""
        return request_parameters(self.table, self.dropped)

    def make_client(self, key: str, http: httpx2.AsyncClient) -> AsyncAnthropic:
        """Return the SDK's client."""
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(
            api_key=key,
            base_url=self._address,
            max_retries=0,
            http_client=http,
            timeout=self.table.timeout,
            open_telemetry=False,
        )


def version_headers(*bodies: Mapping[str, Any]) -> dict[str, str]:
    """Return API version headers for these bodies.

    >>> version_headers({"temperature": 0.0}, {}), version_headers({})
    ({'anthropic-version': '2023-06-01'}, {})
    """
    return {"anthropic-version": WITH_TEMPERATURE} if any("temperature" in body for body in bodies) else {}


def endpoint(address: str) -> str:
    """Return the address without its version.

    >>> endpoint("http://127.0.0.1:8080/v1/")
    'http://127.0.0.1:8080'
    """
    return address.rstrip("/").removesuffix("/v1")


def request_parameters(table: JudgeTable, dropped: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the optional parameters by common names."""
    wants_json = table.verdict == "json" and table.response_format != "none"
    thinks = bool(table.thinking_budget) and "thinking_config" not in dropped
    sent: dict[str, Any] = {
        "temperature": table.temperature,
        "thinking_config": _thinking(table.thinking_budget),
        "reasoning_effort": table.reasoning_effort,
        "service_tier": table.service_tier,
    }
    if wants_json and table.response_format == "json_schema" and "response_format" not in dropped:
        sent["response_format"] = {"type": "json_schema", "schema": simplify_schema(providers.answer_schema(table))}
    elif wants_json and not thinks:
        sent[providers.TOOL] = {"type": "tool", "name": VERDICT_TOOL, "disable_parallel_tool_use": True}
    return {name: value for name, value in sent.items() if name not in dropped and value is not None}


def _thinking(budget: int | None) -> dict[str, Any] | None:
    if budget is None:
        return None
    if budget <= 0:
        return {"type": "disabled" if budget == 0 else "adaptive"}
    return {"type": "enabled", "budget_tokens": budget}


def request_body(table: JudgeTable, dropped: frozenset[str], prompt: str, system: str) -> dict[str, Any]:
    """Return the body of a request."""
    allowed = request_parameters(table, dropped)
    body: dict[str, Any] = {
        "model": str(table.model),
        "max_tokens": table.max_output_tokens,  # the API insists on one
        "messages": [{"role": "user", "content": prompt}],
    }
    if system:
        body["system"] = system
    for name in ("temperature", "service_tier"):
        if name in allowed:
            body[name] = allowed[name]
    if "thinking_config" in allowed:
        body["thinking"] = allowed["thinking_config"]
    output = {"effort": allowed.get("reasoning_effort"), "format": allowed.get("response_format")}
    if any(output.values()):
        body["output_config"] = {name: value for name, value in output.items() if value is not None}
    if providers.TOOL in allowed:
        body["tools"] = [
            {"name": VERDICT_TOOL, "description": "States the verdict.", "input_schema": providers.answer_schema(table)}
        ]
        body["tool_choice"] = allowed[providers.TOOL]
    return body


def simplify_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without number bounds.

    >>> simplify_schema({"properties": {"score": {"type": "integer", "minimum": 1, "maximum": 3}}})
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


def read_message(wire: HttpResponse, model: str) -> providers.ProviderResponse:
    """Return the answer in a message, or raise RetryableError or FatalJudgeError."""
    if not 200 <= wire.status < 300:
        return classify_failure(wire, model)
    body = wire.json()
    if not isinstance(body, dict):
        raise providers.RetryableError("an answer that is not a JSON object", invalid="empty", outage=True)
    if body.get("type") == "error" or body.get("error"):
        error = error_object(wire)
        return classify_error(status_of_type(error.get("type")) or status_in_body(error), error, wire, model)
    if "choices" in body and "content" not in body:
        raise providers.FatalJudgeError(MESSAGES.answers_as_openai())
    about: dict[str, Any] = {"served_model": text_or_none(body.get("model")), "usage": read_usage(body.get("usage"))}
    text, reasoning, called = _texts(wire, body.get("content"))
    stop = str(body.get("stop_reason") or "").lower()
    invalid, detail = _fault(stop, body, called)
    if invalid is None and not text.strip():
        # A model that has nothing to say sends its envelope empty; what is not an envelope is not the model's word.
        raise providers.RetryableError("an answer without text", invalid="empty", outage=not body.keys() & ENVELOPE)
    if invalid == "filtered":
        about["unless_whole"] = f"the stop reason {stop[:60]} is not known; the answer is whole and was counted"
    return providers.ProviderResponse(text, invalid, detail, reasoning, **about)


def _fault(stop: str, body: Mapping[str, Any], called: bool | None) -> tuple[InvalidKind | None, str]:
    if stop == "refusal":
        stop_details = object_or_empty(body.get("stop_details"))
        why = text_or_none(stop_details.get("explanation")) or text_or_none(stop_details.get("category"))
        return "refusal", f"{STOPPED[stop][1]}: {redact(why)[:400]}" if why else STOPPED[stop][1]
    if stop in STOPPED:
        return STOPPED[stop]
    if called is False or (stop == "tool_use" and called is None):
        return "no-answer", CALLED
    if stop in ENDED or stop == "tool_use":
        return None, ""
    return "filtered", f"the model stopped for a reason that is not known ({stop[:60]})"


def _texts(wire: HttpResponse, content: Any) -> tuple[str, str, bool | None]:
    if isinstance(content, str):  # as some gateways send it
        return content, "", None
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    thoughts = "".join(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking")
    if not any(block.get("type") == "tool_use" for block in blocks):
        return text, thoughts, None
    stated = list(_stated(wire))
    return "\n".join(filter(str.strip, [text, *stated])), thoughts, bool(stated)


def _stated(wire: HttpResponse) -> Iterator[str]:
    for given in tool_arguments(wire.body.removeprefix("\ufeff")).values():
        if isinstance(given, dict) and {normalize_key(key) for key in given} & STATING:
            yield json.dumps(given)


def read_usage(usage: Any) -> Usage:
    """Return the tokens that an answer states."""
    counts = object_or_empty(usage)
    written, read = (counts.get(f"cache_{kind}_input_tokens") for kind in ("creation", "read"))
    input_tokens = counts.get("input_tokens")
    thought = token_count(object_or_empty(counts.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(
        None if input_tokens is None else sum_token_counts(input_tokens, written, read),
        tokens_out(token_count(counts.get("output_tokens")), thought, None, None),
        thought,
        token_count(read),
        token_count(written),
        text_or_none(counts.get("service_tier")),
    )


class AnthropicBatches(batch_api.BatchProvider[AnthropicProvider]):
    """Batches of messages; their questions identify them."""

    limits = batch_api.BatchLimits(100_000, 256 * 10**6)

    def __init__(self, table: JudgeTable) -> None:
        super().__init__(AnthropicProvider(table))

    async def send(
        self, _intent: str, lines: Sequence[batch_api.BatchLine], about_to: Callable[[], object] = lambda: None
    ) -> str:
        """Create a batch."""
        # In extra_body, because that is sent as it is: exactly what the SDK was about to send.
        requests = [{"custom_id": line.id, "params": json.loads(line.body)} for line in lines]
        headers = version_headers(*(each["params"] for each in requests))
        about_to()
        request_sent = self.provider.connected().messages.batches.with_raw_response.create(
            requests=[], extra_body={"requests": requests}, extra_headers=headers, timeout=TRANSFER
        )
        return await self.make(request_sent)

    async def find(
        self, _intent: str, since: datetime.datetime, ids: frozenset[str], taken: frozenset[str]
    ) -> str | None:
        """Return the batch with these questions, or None."""
        running = False
        async for batch in self.listed(since):
            at = batch_api.parse_time(batch.get("created_at"))
            if (at is not None and at < since - batch_api.SKEW) or _total(batch) != len(ids):
                continue
            if batch_api.batch_id(batch) in taken:  # whose it is, is known: it is neither waited for nor downloaded
                continue
            state = _state(batch)
            if not state.ended:
                running = True
                continue
            results = await self.fetch(batch_api.batch_id(batch), state)
            if ids & (results.answers.keys() | results.failed.keys()):
                return batch_api.batch_id(batch)
            running = running or not results.whole
        if running:
            raise batch_api.UncertainError
        return None

    def refuses(self, body: Mapping[str, Any]) -> bool:
        """Return whether a body is Anthropic's error."""
        return body.get("type") == "error" and isinstance(object_or_empty(body.get("error")).get("type"), str)

    async def show_page(self, after: str | None) -> batch_api.Page:
        """Return a page of the batch list."""
        more: dict[str, Any] = {"after_id": after} if after else {}
        request_sent = self.provider.connected().messages.batches.with_raw_response.list(limit=100, **more)
        page, batches = await self.page(request_sent, "data")
        return batches, batch_api.batch_id(batches[-1]) if page.get("has_more") and batches else None

    async def look(self, batch: str) -> batch_api.BatchState:
        """Return a batch's state."""
        return _state(await self.ask(self.provider.connected().messages.batches.with_raw_response.retrieve(batch)))

    async def fetch(self, batch: str, _state: batch_api.BatchState, /) -> batch_api.BatchResults:
        """Return a batch's answers."""
        # `results` would ask where the answers are, and that was told.
        path = f"/v1/messages/batches/{batch}/results"
        request_sent = self.provider.connected().get(path, cast_to=object, options={"timeout": TRANSFER})
        rows, whole = await self.download(request_sent)
        return batch_api.BatchResults(batch, whole=whole).take(rows, _read, self.provider.model)


def _state(batch: dict[str, Any]) -> batch_api.BatchState:
    word = str(batch.get("processing_status"))
    return batch_api.BatchState(word == "ended", word, _total(batch), "", batch)


def _total(batch: dict[str, Any]) -> int:
    return sum(token_count(count) or 0 for count in object_or_empty(batch.get("request_counts")).values())


def _read(row: dict[str, Any]) -> batch_api.Said:
    name, result = row.get("custom_id"), object_or_empty(row.get("result"))
    kind, error = str(result.get("type")), object_or_empty(result.get("error"))
    if kind == "succeeded" and isinstance(result.get("message"), dict):
        return name, 200, result["message"]
    if kind == "errored":
        return name, status_of_type(object_or_empty(error.get("error")).get("type")) or 500, error
    return name, None, kind if kind in NO_ANSWER else ""


def _room_to_think(written: Mapping[str, Any]) -> dict[str, Any]:
    budget = written.get("thinking_budget")
    if type(budget) is not int or budget == 0:
        return {}
    made: dict[str, Any] = {}
    for kind in ("", "plan_") if written.get("strategy") in ASKING else ("",):
        made[f"{kind}temperature"] = providers.UNSET
        if budget > 0:
            made[f"{kind}max_output_tokens"] = budget + JudgeTable.model_fields[f"{kind}max_output_tokens"].default
    return made


def _check(table: JudgeTable) -> None:
    if table.response_format == "json_object":
        raise ValueError(MESSAGES.no_json_object())
    budget = table.thinking_budget or 0
    prefixes = ("", "plan_") if table.asks_for_plans else ("",)
    for key in (f"{kind}temperature" for kind in prefixes):
        if budget and getattr(table, key) not in (None, 1):
            raise ValueError(
                f'{key}: a model of Anthropic\'s takes none while it thinks; leave it out, or set "{providers.UNSET}"'
            )
    if 0 < budget < LEAST_THOUGHT:
        raise ValueError(MESSAGES.thinking_budget_range(LEAST_THOUGHT))
    for key in (f"{kind}max_output_tokens" for kind in prefixes):
        if budget >= (limit := getattr(table, key)):
            raise ValueError(
                f"{key} = {limit} leaves no room after thinking_budget = {budget}: thinking counts as "
                f"output. Set it to {budget + 512} or more, or leave it out"
            )
    if budget and table.response_format == "tool":
        raise ValueError(MESSAGES.tool_while_thinking())


RECORD = providers.ProviderSpec(
    answers=AnthropicProvider,
    key="ANTHROPIC_API_KEY",
    switches=("ANTHROPIC_",),
    url="https://api.anthropic.com",
    api="Anthropic's API",
    batches=AnthropicBatches,
    thinking=("reasoning_effort", "thinking_budget"),
    tiers=("auto", "standard_only"),
    formats=("json_schema", "tool", "none"),
    hottest=1.0,
    seed=False,
    logprobs=False,
    ends="retires_at",
    defaults=_room_to_think,
    check=_check,
)
