"""Providers: who answers a prompt. One class with one method each; what an answer means is decided here.

A provider sends a prompt through its official SDK and reads the answer off the wire, so that a page of
HTML, an empty body or an error inside a 200 is seen as what it is, whatever the SDK makes of it.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, field
from typing import Any, Protocol

from judgefixtures.config import JudgeTable
from judgefixtures.reading.probabilities import Probability, Token
from judgefixtures.reading.scores import is_whole
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import PLACEHOLDER_KEY, know, know_address
from judgefixtures.words.texts import encodable

__all__ = [
    "LOGPROBS",
    "PLACEHOLDER_KEY",
    "TOOL",
    "Answer",
    "FatalJudgeError",
    "Provider",
    "RefusedError",
    "RetryableError",
    "UnsupportedError",
    "Usage",
    "api_key",
    "know_credentials",
    "load_provider",
    "schema_of",
    "sent_as",
]


class FatalJudgeError(JudgeFixturesError):
    """The judge cannot be asked at all (key, model, parameter, quota, ...): stop, and do what it says."""


class UnsupportedError(FatalJudgeError):
    """The model or server does not take a parameter; `parameter` is the name it is sent under."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class RetryableError(Exception):
    """This attempt failed and another may succeed, after `retry_after` seconds where the server named them.

    `invalid` is what the answer counts as when it keeps coming back; without it, giving up is fatal.
    `status` is the HTTP status where there was one: 429 slows all calls down. An `outage` is a response that says
    nothing of any answer: giving up on it is fatal, only one that was recorded as an answer counts as `invalid`.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        invalid: InvalidKind | None = None,
        status: int | None = None,
        outage: bool = False,
    ) -> None:
        super().__init__(encodable(message))
        self.outage = outage
        self.retry_after = retry_after
        self.invalid = invalid
        self.status = status

    @property
    def may_be_billed(self) -> bool:
        """Whether the attempt can cost money: an error status does not, an answer that came to nothing may."""
        return self.status is None


class RefusedError(RetryableError):
    """Nobody listens there: fatal on the first call, a passing fault once the judge has answered."""

    @property
    def may_be_billed(self) -> bool:
        """It never is."""
        return False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a call cost; output includes reasoning. None where the server does not say.

    Input includes what the provider read from its cache of prompts (`cached_tokens`) and wrote into it
    (`cache_write_tokens`), whatever its own count does: both have prices of their own. `service_tier` is the one that
    served the call, in the provider's words.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    service_tier: str | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """What a server says is left of a rate limit: so many calls, until it is reset in so many seconds.

    `limit` is how many calls it is when nothing is used of it, where the server says so.
    """

    calls: float
    seconds: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider returned for one prompt: text, or why there is none, and what it says of itself.

    With `unless_whole` the answer is valid all the same where its text states a whole verdict; it says why it may not.
    `tokens` are those of the text with their probabilities, where the server was asked for them and told them;
    `probability` is what a function of the user's says of its verdict itself.
    """

    text: str
    invalid: InvalidKind | None = None
    detail: str = ""
    reasoning: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    unless_whole: str = ""
    quotas: tuple[Quota, ...] = ()
    tokens: tuple[Token, ...] = ()
    probability: Probability | None = None


class Provider(Protocol):
    """The seam to whoever answers. `dropped` names parameters that are not to be sent."""

    dropped: frozenset[str]

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters that go with a prompt."""
        ...  # pragma: no cover

    async def complete(self, prompt: str) -> Answer:
        """Return the answer to one prompt; raises RetryableError or FatalJudgeError."""
        ...  # pragma: no cover

    async def close(self) -> None:
        """Close what answering opened."""
        ...  # pragma: no cover

    def forget(self) -> None:
        """Drop what answering opened without closing it: its event loop is gone."""
        ...  # pragma: no cover


_FORMAT = frozenset({"response_format", "response_mime_type", "response_json_schema"})
TOOL = "tool_choice"  # the forced call of a tool whose input is the verdict, where there are no structured outputs
_THINKING = frozenset({"reasoning_effort", "thinking_config"})
LIMITS = ("max_tokens", "max_completion_tokens")  # OpenAI's older and newer name for one limit
LOGPROBS = frozenset({"logprobs", "top_logprobs", "response_logprobs"})  # a verdict counts without them, too
# What a rejected parameter is sent as, by any provider: a gateway passes on what the model behind it calls it. By the
# name in the error, without case and separators.
_SENT_AS = {
    **dict.fromkeys(("responseformat", "responsejsonschema", "responsemimetype", "responseschema"), _FORMAT),
    **dict.fromkeys(("thinkingconfig", "thinkingbudget", "thinkinglevel", "reasoningeffort"), _THINKING),
    **{name.replace("_", ""): frozenset(LIMITS) for name in LIMITS},
    **{name.replace("_", ""): LOGPROBS for name in LOGPROBS},
    # What Anthropic's API calls them, in a path of fields.
    "outputconfig": frozenset({"response_format", "reasoning_effort"}),
    **dict.fromkeys(("outputconfig.format", "outputformat"), frozenset({"response_format"})),
    **dict.fromkeys(("outputconfig.effort", "effort"), frozenset({"reasoning_effort"})),
    **dict.fromkeys(("toolchoice", "tools"), frozenset({TOOL})),
    "thinking": frozenset({"thinking_config"}),
    **{
        name.replace("_", ""): frozenset({name})
        for name in ("temperature", "seed", "max_output_tokens", "service_tier")
    },
}


def sent_as(parameter: str) -> frozenset[str]:
    """Return the names under which providers send a parameter that a server rejects; empty if none does.

    >>> sorted(sent_as("thinkingBudget"))
    ['reasoning_effort', 'thinking_config']
    """
    return _SENT_AS.get(parameter.replace("_", "").lower(), frozenset())


def api_key(table: JudgeTable) -> str:
    """Return the API key that the environment holds for a judge, without the line end of a file; else empty."""
    key = os.environ.get(table.key_variable or "", "").strip()
    know(key)
    return key


def know_credentials(table: JudgeTable) -> None:
    """Take for secret what a judge will be asked with: its key, and what stands before the host in an address."""
    api_key(table)
    know_address(table.address)
    for name, value in os.environ.items():
        if name.lower().endswith("_proxy"):
            know_address(value)


VERDICT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"selected_response": {"type": "integer", "enum": [1, 2]}, "reason": {"type": "string"}},
    "required": ["selected_response", "reason"],
    "additionalProperties": False,
}


def schema_of(table: JudgeTable) -> dict[str, Any]:
    """Return the JSON schema of what a judge is to answer: a choice, with 0 for a tie that counts, or a score."""
    if table.answer_schema is not None:
        return table.answer_schema
    key, value = "selected_response", VERDICT_SCHEMA["properties"]["selected_response"]
    if table.mode == "pointwise":
        lowest, highest = table.scale
        kind = "integer" if is_whole(table.scale) else "number"
        key, value = "score", {"type": kind, "minimum": lowest, "maximum": highest}
    elif table.counts_ties:
        value = {"type": "integer", "enum": [0, 1, 2]}
    properties = {key: value, "reason": VERDICT_SCHEMA["properties"]["reason"]}
    return VERDICT_SCHEMA | {"properties": properties, "required": list(properties)}


# Who answers, by the `provider` of a judge's table: imported when a judge of it is made.
PROVIDERS = {
    "openai": "judgefixtures.providers.openai:OpenAIProvider",
    "azure": "judgefixtures.providers.azure:AzureProvider",
    "google": "judgefixtures.providers.google:GoogleProvider",
    "anthropic": "judgefixtures.providers.anthropic:AnthropicProvider",
    "python": "judgefixtures.providers.python:PythonProvider",
    "imported": "judgefixtures.providers.logged:ImportedProvider",
}


def load_provider(table: JudgeTable) -> Provider:
    """Return the provider of a judge's table; nothing is sent, and no SDK imported, before the first question."""
    room, _, name = PROVIDERS[table.provider].partition(":")
    provider: Provider = getattr(importlib.import_module(room), name)(table)
    return provider
