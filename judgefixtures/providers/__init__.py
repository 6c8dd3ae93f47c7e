"""Providers of models: one file per API, with specification, client and batches."""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.models.probabilities import Probability, Token
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import PLACEHOLDER_KEY as PLACEHOLDER_KEY
from judgefixtures.util.secrets import register_address_secrets, register_secrets
from judgefixtures.util.texts import make_encodable

from .messages import MESSAGES

if TYPE_CHECKING:
    from .judge_table import JudgeTable


class FatalJudgeError(JudgeFixturesError):
    """The judge cannot be asked at all; the message has the remedy."""


class UnsupportedParameterError(FatalJudgeError):
    """The server rejects a parameter; `parameter` is its name as sent."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class RetryableError(Exception):
    """A failed attempt that may succeed later.

    Attributes:
        retry_after: Seconds to wait.
        invalid: What the answer counts as in the end; None is fatal.
        status: HTTP status, if any.
        outage: Giving up is fatal.
        loading: The server loads its model.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        invalid: InvalidKind | None = None,
        status: int | None = None,
        outage: bool = False,
        loading: bool = False,
    ) -> None:
        super().__init__(make_encodable(message))
        self.outage = outage
        self.loading = loading
        self.retry_after = retry_after
        self.invalid = invalid
        self.status = status

    @property
    def may_be_billed(self) -> bool:
        """Whether the attempt can cost money."""
        return self.status is None


class UnreachableError(RetryableError):
    """No connection: fatal on the first call."""

    @property
    def may_be_billed(self) -> bool:
        """False."""
        return False


@dataclass(frozen=True, slots=True)
class RateLimitQuota:
    """Calls left of a rate limit (`limit`) and seconds until its reset."""

    calls: float
    seconds: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """A provider's text for one prompt, or why there is none.

    Attributes:
        unless_whole: Fault that a whole verdict overrides.
        ended_early: Cut off before its limit.
        refused: An error about this prompt.
        tokens: Tokens with probabilities.
        probability: The verdict's probability.
    """

    text: str
    invalid: InvalidKind | None = None
    detail: str = ""
    reasoning: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    unless_whole: str = ""
    ended_early: bool = False
    refused: bool = False
    quotas: tuple[RateLimitQuota, ...] = ()
    tokens: tuple[Token, ...] = ()
    probability: Probability | None = None


class Provider(Protocol):
    """Interface of providers; `dropped` parameters are not sent."""

    dropped: frozenset[str]

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters sent with a prompt."""

    async def complete(self, prompt: str, call: JudgeCall) -> ProviderResponse:
        """Return the answer to one prompt.

        Raises:
            RetryableError: A later attempt may succeed.
            FatalJudgeError: The judge cannot be asked.
        """

    async def close(self) -> None:
        """Close open connections."""

    def forget(self) -> None:
        """Drop connections of a closed event loop."""


UNSET = "unset"  # a parameter that is not sent: the model's own default is asked for
FLEX = "flex"  # a service tier at half the price, for whoever can wait
TOOL = "tool_choice"  # the forced call of a tool whose input is the verdict, where there are no structured outputs
SYSTEM = "system_prompt"  # the text that is sent as the system's; where that is dropped, it begins the prompt
LIMITS = ("max_tokens", "max_completion_tokens")  # OpenAI's older and newer name for one limit
LOGPROBS = frozenset({"logprobs", "top_logprobs", "response_logprobs"})  # a verdict counts without them, too


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderSpec:
    """A provider's static properties; APIs need `key`, and `url` or a connection."""

    answers: Callable[[Any], Provider]  # its class
    key: str | None = None
    url: str | None = None  # where it is asked, unless the table says otherwise: an SDK's own default is another's
    api: str = "its API"  # what messages call it
    batches: Callable[[Any], Any] | None = None
    is_asked: bool = True  # not: the answers are those of a log
    is_code: bool = False  # a function of the user's: it makes its own calls, and no parameters are sent
    thinking: tuple[str, ...] = ()  # the keys about thinking that it takes
    tiers: tuple[str, ...] = ()  # the service tiers that it documents
    connection: tuple[str, ...] = ()  # the keys of a connection table that it takes
    formats: tuple[str, ...] = ("json_schema", "json_object", "none")  # the values of response_format that it takes
    hottest: float = 2.0  # temperature
    seed: bool = True
    logprobs: bool = True  # it tells token probabilities
    suspects: tuple[str, ...] = ("logprobs",)  # what servers answer 500 to where they do not know it
    ends: str = ""  # where its list of models names the day on which it ends one
    switches: tuple[str, ...] = ()  # how the variables begin by which its SDK would be told what no table says
    account: Mapping[str, str] = field(default_factory=dict)  # what goes with the key to its own address: variables
    is_trusted: Callable[[Any], bool] = lambda table: table.connection is None  # its key may go to the address
    defaults: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _: {}  # what follows from a table's keys
    check: Callable[[Any], None] = lambda _: None  # raises ValueError for what only this provider does not take
    identity: Callable[[Any], Mapping[str, Any]] = lambda _: {}  # what else decides who answers
    adapt: Callable[[Any, Any], Callable[..., Any]] | None = None  # makes a function of a framework's object
    package: str = ""  # on PyPI, whose version belongs to the answers

    def __post_init__(self) -> None:
        if self.is_asked and not self.is_code and not self.key:
            raise ValueError(MESSAGES.record_without_key())
        if self.key and not self.url and not self.connection:
            raise ValueError(MESSAGES.record_without_url())


# The extras of this package that install an SDK which not everybody needs.
EXTRAS = {"anthropic": "claude"}


@functools.cache
def http_library(sdk: str) -> str:
    """Return an SDK's HTTP library, or raise FatalJudgeError if not installed."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        required = requires(sdk) or ()
    except PackageNotFoundError:
        extra = f"'judgefixtures[{EXTRAS[sdk]}]', or replay recordings, which needs none" if sdk in EXTRAS else sdk
        raise FatalJudgeError(
            f"the package {sdk}, which it is asked through, is not installed: pip install {extra}."
        ) from None
    return "httpx2" if any(re.match(r"httpx2\b", each) for each in required) else "httpx"


def check_sdk(table: JudgeTable) -> None:
    """Raise FatalJudgeError if the judge's SDK is not installed."""
    if sdk := getattr(table.record.answers, "sdk", ""):
        http_library(sdk)


def api_key(table: JudgeTable) -> str:
    """Return the judge's API key from the environment, or ""."""
    key = os.environ.get(table.key_variable or "", "").strip()
    register_secrets(key)
    return key


def register_credentials(*tables: JudgeTable) -> None:
    """Take for secret what judges will be asked with: their keys, and what stands before the host in an address."""
    for table in tables:
        api_key(table)
        register_address_secrets(table.address)
    for name, value in os.environ.items():
        if name.lower().endswith("_proxy"):
            register_address_secrets(value)


def stated_value_schema(key: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a value with a reason."""
    properties = {key: dict(value), "reason": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def answer_schema(table: JudgeTable) -> dict[str, Any]:
    """Return the JSON schema of a judge's answer, or {}."""
    if table.answer_schema is not None:
        return table.answer_schema
    choices = [0, 1, 2] if table.counts_ties else [1, 2]
    return stated_value_schema("selected_response", {"type": "integer", "enum": choices})


# The file of each provider, by the `provider` of a judge's table. It is imported when something of it is asked for.
PROVIDERS = {
    "openai": "judgefixtures.providers.openai",
    "azure": "judgefixtures.providers.azure",
    "google": "judgefixtures.providers.google",
    "anthropic": "judgefixtures.providers.anthropic",
    "python": "judgefixtures.providers.python",
    "imported": "judgefixtures.providers.imported",
    "deepeval": "judgefixtures.adapters.deepeval",
    "openevals": "judgefixtures.adapters.openevals",
    "autoevals": "judgefixtures.adapters.autoevals",
    "pydantic-evals": "judgefixtures.adapters.pydantic_evals",
    "inspect-ai": "judgefixtures.adapters.inspect_ai",
    "mlflow": "judgefixtures.adapters.mlflow",
    "ragas": "judgefixtures.adapters.ragas",
    "arize-phoenix-evals": "judgefixtures.adapters.arize_phoenix_evals",
    "langchain": "judgefixtures.adapters.langchain",
    "haystack-ai": "judgefixtures.adapters.haystack_ai",
    "dspy": "judgefixtures.adapters.dspy",
}


@functools.cache
def provider_spec(provider: str) -> ProviderSpec:
    """Return a provider's specification."""
    record: ProviderSpec = importlib.import_module(PROVIDERS[provider]).RECORD
    return record


def load_provider(table: JudgeTable) -> Provider:
    """Return the provider of a judge's table."""
    return table.record.answers(table)
