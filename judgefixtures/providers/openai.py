"""OpenAI and servers with a compatible chat API."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from judgefixtures import providers
from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.models.probabilities import Token
from judgefixtures.models.usage import NO_ROOM, Usage
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.util.secrets import redact
from judgefixtures.util.texts import word_set

from . import batch_api
from .error_classification import classify_error, classify_failure, error_object, status_in_body
from .http import HttpProvider, HttpResponse, object_or_empty, text_or_none
from .judge_table import JudgeTable
from .messages import MESSAGES
from .tokens import complete_logprobs, parse_token, token_count, tokens_out

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_FILTERED = word_set(
    "content_filter content_filtered moderation safety recitation sensitive blocklist prohibited_content spii "
    "guardrail_intervened"
)
FINISH: dict[str, InvalidKind] = {
    "refusal": "refusal",
    **dict.fromkeys(("length", "max_tokens", "model_length", "model_context_window_exceeded"), "truncated"),
    **dict.fromkeys(_FILTERED, "filtered"),
    **dict.fromkeys(("tool_calls", "function_call", "malformed_function_call", "unexpected_tool_call"), "no-answer"),
}
# How servers say that the model had nothing to add.
ENDED = frozenset({None, "", "stop", "eos", "eos_token", "end", "end_turn", "stop_sequence", "complete", "completed"})
ENVELOPE = frozenset({"choices", "model", "usage"})
BROKEN_OFF = frozenset({"error", "abort", "insufficient_system_resource", "network_error"})
HINTS: dict[InvalidKind, str] = {
    "refusal": "the model declined to answer",
    "truncated": "the answer was cut off at max_output_tokens: raise it, or lower reasoning_effort",
    "filtered": "the provider's content filter removed the answer",
    "no-answer": "the model called a tool instead of answering",
}


# A limit that is refused for its size: the other name would be refused as well, or taken and ignored.
TOO_HIGH = re.compile(
    r"too (?:large|big|high|many)|at (?:most|least)|(?:less|greater|more) than|exceed|\brange\b"
    r"|must be (?:[<>]|between|positive|an? )",
    re.IGNORECASE,
)


ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MARK = "judgefixtures"  # the key of a batch's metadata under which its intent stands
# Any other word is of a batch that may still answer: none that is new is taken for an end.
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
TRANSFER = 600.0  # seconds for a file of questions or answers
WINDOW: Literal["24h"] = "24h"


class OpenAIProvider(HttpProvider["AsyncOpenAI"]):
    """Provider through the openai SDK, without the SDK's retries."""

    sdk = "openai"

    def __init__(self, table: JudgeTable) -> None:
        super().__init__(table)
        self._refused: frozenset[str] = frozenset()  # names of the limit that this server does not know

    async def complete(self, prompt: str, call: JudgeCall) -> providers.ProviderResponse:
        """Return the answer; switch a rejected token limit's name."""
        sent, unsent = token_limit_names(self.parameters(), self._refused)
        try:
            return await self._asked(prompt, call, sent, unsent)
        except providers.UnsupportedParameterError as error:
            if error.parameter not in providers.LIMITS or not unsent or TOO_HIGH.search(str(error)):
                raise
            self._refused = frozenset(providers.LIMITS) & sent.keys()
            call.drop_answer()  # a refusal is none
        return await self._asked(prompt, call, *token_limit_names(self.parameters(), self._refused))

    async def _asked(
        self, prompt: str, call: JudgeCall, sent: dict[str, Any], unsaid: dict[str, Any]
    ) -> providers.ProviderResponse:
        create = self.connected().chat.completions.with_raw_response.create
        system = [{"role": "system", "content": self.system_text}] if self.system_text else []
        messages = [*system, {"role": "user", "content": self.prompted(prompt)}]
        call.ignored_fields = unsaid  # which of the two names was sent is not part of what was asked
        # In extra_body, because that is sent as it is: looking through the types of what stands beside it takes the
        # SDK a third of a call's time.
        request_sent = create(model=self.model, messages=[], extra_body={"messages": messages, **sent})
        return with_limit_hint(await self.answer(read_completion, request_sent, call), self.table.max_output_tokens)

    async def describe_model(self) -> Any:
        """Return the entry in OpenAI's model list."""
        return (await self.connected().models.retrieve(self.model)).model_dump()

    def parameters(self) -> dict[str, Any]:
        """Return the optional parameters."""
        return request_parameters(self.table, self.dropped)

    def make_client(self, key: str, http: httpx2.AsyncClient) -> AsyncOpenAI:
        """Return the SDK's client."""
        from openai import AsyncOpenAI

        address = self.table.base_url or self.table.record.url
        return AsyncOpenAI(api_key=key, base_url=address, max_retries=0, http_client=http, **self.account)


def request_parameters(table: JudgeTable, dropped: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the optional parameters."""
    is_elsewhere = table.address is not None or table.record.url not in (None, RECORD.url)
    sent: dict[str, Any] = {
        "temperature": table.temperature,
        "seed": table.seed,
        "max_completion_tokens": table.max_output_tokens,
        # The older name: many compatible servers know only that.
        "max_tokens": table.max_output_tokens if is_elsewhere else None,
        "reasoning_effort": table.reasoning_effort,
        "service_tier": table.service_tier,
    }
    if table.verdict == "json" and table.response_format != "none":
        sent["response_format"] = _response_format(table.response_format, providers.answer_schema(table))
    if table.logprobs:
        sent |= {"logprobs": True, "top_logprobs": table.top_logprobs}
    return {name: value for name, value in sent.items() if name not in dropped and value is not None}


def token_limit_names(parameters: dict[str, Any], refused: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters with one limit name, and with the other."""
    names = sorted((name for name in providers.LIMITS if name in parameters), key=lambda name: name in refused)
    unsaid = {name: parameters[name] for name in names[1:]}
    return {name: value for name, value in parameters.items() if name not in unsaid}, unsaid


def _response_format(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    if kind == "json_object":  # llama.cpp takes the schema here and makes a grammar of it
        return {"type": "json_object", **({"schema": schema} if schema else {})}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def read_completion(wire: HttpResponse, model: str) -> providers.ProviderResponse:
    """Return the answer in a completion, or raise RetryableError or FatalJudgeError."""
    if not 200 <= wire.status < 300:
        return classify_failure(wire, model)
    body = wire.json()
    choices = body.get("choices") if isinstance(body, dict) else None
    if not choices or not isinstance(choices, list) or not isinstance(choices[0], dict):
        return _without_choices(wire, body, model)
    choice = choices[0]
    message = choice.get("message") or {}
    finish = choice.get("finish_reason")
    finish = finish.lower() if isinstance(finish, str) else finish
    if finish in BROKEN_OFF or (finish not in FINISH and object_or_empty(choice.get("error"))):
        error = choice.get("error") or {}
        if isinstance(error, dict) and error:
            return classify_error(status_in_body(error), error, wire, model)
        raise providers.RetryableError(f"the server broke off its answer (finish_reason {finish})")
    content, thoughts = _parted(message.get("content"))
    text = _text(content)
    reasoning = _text(message.get("reasoning_content") or message.get("reasoning") or thoughts)
    invalid, detail = _fault(finish, message, text, reasoning)
    return providers.ProviderResponse(
        text=text,
        invalid=invalid,
        detail=detail,
        reasoning=reasoning,
        served_model=text_or_none(body.get("model")),
        fingerprint=text_or_none(body.get("system_fingerprint")),
        usage=read_usage(body.get("usage"), body.get("service_tier")),
        tokens=_tokens_of(choice),
    )


def with_limit_hint(answer: providers.ProviderResponse, limit: int) -> providers.ProviderResponse:
    """Return the answer; if cut off before its limit, say so."""
    if answer.invalid != "truncated" or answer.reasoning or not answer.usage.ended_before(limit):
        return answer
    ended = f"the server ended the answer after {answer.usage.output_tokens} of {limit} tokens"
    return replace(answer, detail=f"{ended}: {NO_ROOM}", ended_early=True)


def _fault(finish: Any, message: dict[str, Any], text: str, reasoning: str) -> tuple[InvalidKind | None, str]:
    if refusal := message.get("refusal") or _text(message.get("content"), "refusal"):
        return "refusal", redact(str(refusal))[:400]
    if finish in FINISH:
        kind = FINISH[finish]
        return kind, HINTS[kind]
    if text.strip():
        unknown = f"the finish reason {str(finish)[:60]} is not known; the answer was read as it is"
        return None, "" if finish in ENDED else unknown
    if message.get("tool_calls") or message.get("function_call"):
        return "no-answer", HINTS["no-answer"]
    if reasoning.strip():
        return "empty", MESSAGES.answer_in_reasoning()
    raise providers.RetryableError("an answer without content", invalid="empty")


def _without_choices(wire: HttpResponse, body: Any, model: str) -> providers.ProviderResponse:
    failed = object_or_empty(object_or_empty(body).get("base_resp")).get("status_code")  # MiniMax's way
    if isinstance(body, dict) and (failed or body.get("error") or body.get("errors") or body.get("object") == "error"):
        error = error_object(wire)
        return classify_error(status_in_body(error), error, wire, model)
    if isinstance(body, dict) and (spent := read_usage(body.get("usage"), body.get("service_tier"))).output_tokens:
        said = f"an answer without choices, on which {spent.output_tokens} tokens were spent: raise max_output_tokens"
        served = text_or_none(body.get("model"))
        return providers.ProviderResponse("", "truncated", said, served_model=served, usage=spent)
    # A model that has nothing to say sends its envelope empty; what is not an envelope is not the model's word.
    outage = not (isinstance(body, dict) and body.keys() & ENVELOPE)
    raise providers.RetryableError("an answer without choices", invalid="empty", outage=outage)


def _parted(content: Any) -> tuple[Any, list[Any]]:
    if not isinstance(content, list):
        return content, []
    return [part for part in content if not _is_thought(part)], [part for part in content if _is_thought(part)]


def _is_thought(part: Any) -> bool:
    said = object_or_empty(part)
    return bool(said.get("thought")) or str(said.get("type")).lower().startswith(("thinking", "reasoning"))


def _text(content: Any, kind: str = "text") -> str:
    if isinstance(content, list):  # parts, as some gateways send them
        return "".join(str(part.get(kind) or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) and kind == "text" else ""


def _tokens_of(choice: Mapping[str, Any]) -> tuple[Token, ...]:
    logprobs = object_or_empty(choice.get("logprobs"))
    content = logprobs.get("content")
    if content is None and "token_logprobs" in logprobs:
        return _tokens_as_of_completions(logprobs)
    if not isinstance(content, list):
        return ()
    return complete_logprobs(
        parse_token(entry, object_or_empty(entry).get("top_logprobs"), "logprob") for entry in content
    )


def _tokens_as_of_completions(old_logprobs: Mapping[str, Any]) -> tuple[Token, ...]:
    texts, logprobs, tops = (old_logprobs.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(texts, list) or not isinstance(logprobs, list):
        return ()
    tops = tops if isinstance(tops, list) else [{}] * len(texts)
    if not len(texts) == len(logprobs) == len(tops):
        return ()
    return complete_logprobs(
        parse_token(
            {"token": text, "logprob": logprob},
            [{"token": other, "logprob": chance} for other, chance in object_or_empty(top).items()],
            "logprob",
        )
        for text, logprob, top in zip(texts, logprobs, tops, strict=True)
    )


def read_usage(usage: Any, served_tier: Any) -> Usage:
    """Return the tokens that an answer states."""
    counts = object_or_empty(usage)
    prompted, answered = (object_or_empty(counts.get(f"{side}_tokens_details")) for side in ("prompt", "completion"))
    read, total = token_count(counts.get("prompt_tokens")), token_count(counts.get("total_tokens"))
    thought = token_count(answered.get("reasoning_tokens", counts.get("reasoning_tokens")))
    return Usage(
        read,
        tokens_out(token_count(counts.get("completion_tokens")), thought, read, total),
        thought,
        token_count(prompted.get("cached_tokens")),
        token_count(prompted.get("cache_write_tokens")),
        text_or_none(served_tier),
    )


class OpenAIBatches(batch_api.BatchProvider[OpenAIProvider]):
    """Batches of chat completions, in files."""

    limits = batch_api.BatchLimits(50_000, 200 * 10**6)

    def __init__(self, table: JudgeTable) -> None:
        super().__init__(OpenAIProvider(table))

    async def send(
        self, intent: str, lines: Sequence[batch_api.BatchLine], about_to: Callable[[], object] = lambda: None
    ) -> str:
        """Upload questions and create a batch with the intent as metadata."""
        client = self.provider.connected()
        questions = (f"judgefixtures-{intent}.jsonl", b"".join(map(_line, lines)), "application/jsonl")
        create = client.files.with_raw_response.create
        file = await self.upload(
            lambda: create(file=questions, purpose="batch", timeout=TRANSFER), lambda body: body.get("id"), "id"
        )
        about_to()
        request_sent = client.batches.with_raw_response.create(
            input_file_id=file, endpoint=ENDPOINT, completion_window=WINDOW, metadata={MARK: intent}
        )
        return await self.make(request_sent)

    def refuses(self, body: Mapping[str, Any]) -> bool:
        """Return whether a body is OpenAI's error."""
        error = object_or_empty(body.get("error"))
        return isinstance(error.get("message"), str) and not error.keys().isdisjoint(("type", "code", "param"))

    def intent_of(self, batch: Mapping[str, Any]) -> object:
        """Return the intent in a batch's metadata."""
        return object_or_empty(batch.get("metadata")).get(MARK)

    async def show_page(self, after: str | None) -> batch_api.Page:
        """Return a page of the batch list."""
        more: dict[str, Any] = {"after": after} if after else {}
        request_sent = self.provider.connected().batches.with_raw_response.list(limit=100, **more)
        page, batches = await self.page(request_sent, "data")
        return batches, batch_api.batch_id(batches[-1]) if page.get("has_more") and batches else None

    async def look(self, batch: str) -> batch_api.BatchState:
        """Return a batch's state."""
        body = await self.ask(self.provider.connected().batches.with_raw_response.retrieve(batch))
        if (word := text_or_none(body.get("status"))) is None:
            raise providers.RetryableError("a batch without a status")
        counts = object_or_empty(body.get("request_counts"))
        problems = object_or_empty(body.get("errors")).get("data") or ()
        error_text = "; ".join(str(each.get("message") or "")[:200] for each in problems[:3] if isinstance(each, dict))
        counted = sum(token_count(counts.get(kind)) or 0 for kind in ("completed", "failed")) if counts else None
        return batch_api.BatchState(word.lower() in OVER, word, counted, error_text, body)

    async def fetch(self, batch: str, state: batch_api.BatchState) -> batch_api.BatchResults:
        """Return the answers and errors of both files."""
        results = batch_api.BatchResults(batch)
        content = self.provider.connected().files.with_raw_response.content
        for name in ("output_file_id", "error_file_id"):
            if (file := text_or_none(state.raw.get(name))) is not None:
                rows, whole = await self.download(content(file, timeout=TRANSFER))
                results.whole = results.whole and whole
                results.take(rows, _read, self.provider.model)
        return results


def _line(line: batch_api.BatchLine) -> bytes:
    head = f'{{"custom_id":"{line.id}","method":"POST","url":"{ENDPOINT}","body":'
    return head.encode() + batch_api.on_one_line(line.body) + b"}\n"


def _read(row: dict[str, Any]) -> batch_api.Said:
    response, error = object_or_empty(row.get("response")), object_or_empty(row.get("error"))
    status = batch_api.line_status(response.get("status_code"))
    if status is not None and isinstance(response.get("body"), dict):
        return row.get("custom_id"), status, response["body"]
    return row.get("custom_id"), None, str(error.get("message") or error.get("code") or "")[:200]


RECORD = providers.ProviderSpec(
    answers=OpenAIProvider,
    key="OPENAI_API_KEY",
    url="https://api.openai.com/v1",
    batches=OpenAIBatches,
    thinking=("reasoning_effort",),
    tiers=("auto", "default", "flex", "priority", "fast", "scale"),
    suspects=("logprobs", "response_format"),
    ends="shutdown_date",
    switches=("OPENAI_", "AZURE_OPENAI_"),
    account={"organization": "OPENAI_ORG_ID", "project": "OPENAI_PROJECT_ID"},
)
