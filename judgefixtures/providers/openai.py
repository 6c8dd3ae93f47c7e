"""OpenAI and every server that speaks its chat completions: vLLM, Ollama, llama.cpp, gateways."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judgefixtures.cassettes.replay import drop_answer, find_with
from judgefixtures.config import JudgeTable
from judgefixtures.providers import (
    LIMITS,
    PLACEHOLDER_KEY,
    Answer,
    RetryableError,
    UnsupportedError,
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
    told,
    told_token,
    understood,
    without_switches,
)
from judgefixtures.reading.probabilities import Token
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.secrets import redacted

if TYPE_CHECKING:
    from openai import AsyncOpenAI

DEFAULT_BASE_URL = "https://api.openai.com/v1"

FINISH: dict[str, InvalidKind] = {
    "refusal": "refusal",
    "length": "truncated",
    "content_filter": "filtered",
    "max_tokens": "truncated",
    "model_length": "truncated",
    "model_context_window_exceeded": "truncated",
    "safety": "filtered",
    "recitation": "filtered",
    "sensitive": "filtered",
    "blocklist": "filtered",
    "prohibited_content": "filtered",
    "spii": "filtered",
    "guardrail_intervened": "filtered",
    "tool_calls": "no-answer",
    "function_call": "no-answer",
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


class OpenAIProvider:
    """Answers prompts through the openai SDK, with its own retries off."""

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._model = str(table.model)
        self._told = [{"role": "system", "content": table.system_text}] if table.system_text else []
        self._client: AsyncOpenAI | None = None
        self._refused: frozenset[str] = frozenset()  # names of the limit that this server does not know
        self.dropped: frozenset[str] = frozenset()

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters that go with a prompt."""
        return frozenset(parameters(self._table, self.dropped))

    async def complete(self, prompt: str) -> Answer:
        """Return the answer to one prompt; raises RetryableError or FatalJudgeError.

        The limit of an answer's length goes by one name; where the server refuses that, by the other from then on.
        """
        said, unsaid = one_limit(parameters(self._table, self.dropped), self._refused)
        try:
            return await self._asked(prompt, said, unsaid)
        except UnsupportedError as error:
            if error.parameter not in LIMITS or not unsaid or TOO_HIGH.search(str(error)):
                raise
            self._refused = frozenset(LIMITS) & said.keys()
            drop_answer()  # a refusal is none
        said, unsaid = one_limit(parameters(self._table, self.dropped), self._refused)
        return await self._asked(prompt, said, unsaid)

    async def _asked(self, prompt: str, said: dict[str, Any], unsaid: dict[str, Any]) -> Answer:
        create = self.connected().chat.completions.with_raw_response.create
        messages = [*self._told, {"role": "user", "content": prompt}]
        # In extra_body, because that is sent as it is: looking through the types of what stands beside it takes the
        # SDK a third of a call's time.
        call = create(model=self._model, messages=[], extra_body={"messages": messages, **said})
        find_with(unsaid)  # which of the two names was sent is not part of what was asked
        return understood(read, await exchange(call, self._table.address), self._model)

    async def shutdown_date(self) -> str | None:
        """Return the day on which the provider says that it ends the model; asked of OpenAI itself only."""
        if self._table.address is not None:
            return None
        try:
            found = await self.connected().models.retrieve(self._model)
        except Exception:  # a courtesy: whatever goes wrong here must not cost a recording
            return None
        return text_or_none(getattr(found, "shutdown_date", None))

    async def close(self) -> None:
        """Close the connections; the next question opens them again."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def forget(self) -> None:
        """Drop the connections: they belong to an event loop that is gone."""
        self._client = None

    def connected(self) -> AsyncOpenAI:
        """Return the SDK's client, which opens connections when it first asks."""
        if self._client is None:
            # The account goes with the key to OpenAI itself: it is not another server's business.
            own = os.environ if self._table.address is None else {}
            key = (
                api_key(self._table) or PLACEHOLDER_KEY
            )  # before the SDK's variables are hidden: it may be one of them
            about = {"organization": own.get("OPENAI_ORG_ID"), "project": own.get("OPENAI_PROJECT_ID")}
            with without_switches():
                self._client = self._made(
                    api_key=key,
                    max_retries=0,
                    http_client=http_client(self._table.address, self._table.timeout),
                    **about,
                )
        return self._client

    def _made(self, **options: Any) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        return AsyncOpenAI(base_url=self._table.base_url or DEFAULT_BASE_URL, **options)


def parameters(table: JudgeTable, dropped: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return what is asked for beside model and messages; of two names for one limit, `one_limit` sends one."""
    sent: dict[str, Any] = {
        "temperature": table.temperature,
        "seed": table.seed,
        "max_completion_tokens": table.max_output_tokens,
    }
    if table.address is not None:  # the older name: many compatible servers know only that
        sent["max_tokens"] = table.max_output_tokens
    if table.reasoning_effort is not None:
        sent["reasoning_effort"] = table.reasoning_effort
    if table.service_tier is not None:
        sent["service_tier"] = table.service_tier
    if table.verdict == "json" and table.response_format != "none":
        sent["response_format"] = _response_format(table.response_format, schema_of(table))
    if table.logprobs:
        sent |= {"logprobs": True, "top_logprobs": table.top_logprobs}
    return {name: value for name, value in sent.items() if name not in dropped and value is not None}


def one_limit(asked: dict[str, Any], refused: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is asked for under one of the limit's names, and that under the other, which is not sent.

    Servers refuse both together. The older name first, which compatible servers know, unless it was refused.
    """
    names = sorted((name for name in LIMITS if name in asked), key=lambda name: name in refused)
    unsaid = {name: asked[name] for name in names[1:]}
    return {name: value for name, value in asked.items() if name not in unsaid}, unsaid


def _response_format(kind: str, schema: dict[str, Any]) -> dict[str, Any]:
    if kind == "json_object":  # llama.cpp takes the schema here and makes a grammar of it
        return {"type": "json_object", "schema": schema}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def read(wire: Wire, model: str) -> Answer:
    """Return what a chat completion on the wire says; raises RetryableError or FatalJudgeError."""
    if not 200 <= wire.status < 300:
        return failure(wire, model)
    body = wire.json()
    choices = body.get("choices") if isinstance(body, dict) else None
    if not choices or not isinstance(choices, list) or not isinstance(choices[0], dict):
        return _without_choices(wire, body, model)
    choice = choices[0]
    message = choice.get("message") or {}
    finish = choice.get("finish_reason")
    finish = finish.lower() if isinstance(finish, str) else finish
    if finish in BROKEN_OFF:
        error = choice.get("error") or {}
        if isinstance(error, dict) and error:
            return error_answer(status_in(error), error, wire.headers, model)
        raise RetryableError(f"the server broke off its answer (finish_reason {finish})")
    text = _text(message.get("content"))
    reasoning = _text(message.get("reasoning_content") or message.get("reasoning"))
    invalid, detail = _fault(finish, message, text, reasoning)
    return Answer(
        text=text,
        invalid=invalid,
        detail=detail,
        reasoning=reasoning,
        served_model=text_or_none(body.get("model")),
        fingerprint=text_or_none(body.get("system_fingerprint")),
        usage=_usage(body.get("usage"), body.get("service_tier")),
        tokens=_tokens_of(choice),
    )


def _fault(finish: Any, message: dict[str, Any], text: str, reasoning: str) -> tuple[InvalidKind | None, str]:
    """Return why a message is not an answer, with what to do, or (None, "")."""
    if refusal := message.get("refusal") or _text(message.get("content"), "refusal"):
        return "refusal", redacted(str(refusal))[:400]
    if finish in FINISH:
        kind = FINISH[finish]
        return kind, HINTS[kind]
    if text.strip():
        return (
            None,
            ""
            if finish in ENDED
            else f"the finish reason {str(finish)[:60]} is not known; the answer was read as it is",
        )
    if message.get("tool_calls") or message.get("function_call"):
        return "no-answer", HINTS["no-answer"]
    if reasoning.strip():
        return "empty", (
            "the server put the whole answer into the reasoning field and left content empty: "
            "its reasoning parser does not fit the model (hidden reasoning is not read as a verdict)"
        )
    raise RetryableError("an answer without content", invalid="empty")


def _without_choices(wire: Wire, body: Any, model: str) -> Answer:
    if isinstance(body, dict) and (body.get("error") or body.get("object") == "error"):
        error = error_object(wire)
        return error_answer(status_in(error), error, wire.headers, model)
    # A model that has nothing to say sends its envelope empty; what is not an envelope is not the model's word.
    outage = not (isinstance(body, dict) and body.keys() & ENVELOPE)
    raise RetryableError("an answer without choices", invalid="empty", outage=outage)


def _text(content: Any, kind: str = "text") -> str:
    if isinstance(content, list):  # parts, as some gateways send them
        return "".join(str(part.get(kind) or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) and kind == "text" else ""


def _tokens_of(choice: Mapping[str, Any]) -> tuple[Token, ...]:
    """Return the tokens of a choice with their probabilities; none where one of them cannot be read."""
    content = as_table(choice.get("logprobs")).get("content")
    if not isinstance(content, list):
        return ()
    return told(told_token(entry, as_table(entry).get("top_logprobs"), "logprob") for entry in content)


def _usage(usage: Any, served_tier: Any) -> Usage:
    counts = as_table(usage)
    asked, answered = (as_table(counts.get(f"{side}_tokens_details")) for side in ("prompt", "completion"))
    return Usage(
        tokens(counts.get("prompt_tokens")),
        tokens(counts.get("completion_tokens")),
        tokens(answered.get("reasoning_tokens")),
        tokens(asked.get("cached_tokens")),
        tokens(asked.get("cache_write_tokens")),
        text_or_none(served_tier),
    )
