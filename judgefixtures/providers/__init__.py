"""Providers of models: one file per API, with its specification, client and batches.

A provider sends a prompt through the official SDK, but reads the HTTP response itself. An HTML page, an empty body or
an error inside a 200 is then recognized, whatever the SDK makes of it.
"""

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

if TYPE_CHECKING:
    from .judge_table import JudgeTable


class FatalJudgeError(JudgeFixturesError):
    """The judge cannot be asked at all (key, model, parameter, quota, ...): stop, and do what it says."""


class UnsupportedParameterError(FatalJudgeError):
    """The model or server does not take a parameter; `parameter` is the name it is sent under."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class RetryableError(Exception):
    """This attempt failed and another may succeed, after `retry_after` seconds where the server named them.

    `invalid` is what the answer counts as when it keeps coming back; without it, giving up is fatal.
    `status` is the HTTP status where there was one: 429 slows all calls down. An `outage` is a response that says
    nothing of any answer: giving up on it is fatal, only one that was recorded as an answer counts as `invalid`.
    `loading`: the server says that it loads its model, which takes minutes.
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
        """Whether the attempt can cost money: an error status does not, an answer that came to nothing may."""
        return self.status is None


class UnreachableError(RetryableError):
    """Nobody listens there: fatal on the first call, a passing fault once the judge has answered."""

    @property
    def may_be_billed(self) -> bool:
        """It never is."""
        return False


@dataclass(frozen=True, slots=True)
class RateLimitQuota:
    """What a server says is left of a rate limit: so many calls, until it is reset in so many seconds.

    `limit` is how many calls it is when nothing is used of it, where the server says so.
    """

    calls: float
    seconds: float
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """What a provider returned for one prompt: text, or why there is none, and what it says of itself.

    With `unless_whole` the answer is valid all the same where its text states a whole verdict; it says why it may not.
    `ended_early`: it was cut off although its limit was not reached. `refused`: it came as an error about this prompt.
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
    ended_early: bool = False
    refused: bool = False
    quotas: tuple[RateLimitQuota, ...] = ()
    tokens: tuple[Token, ...] = ()
    probability: Probability | None = None


class Provider(Protocol):
    """The seam to whoever answers. `dropped` names parameters that are not to be sent."""

    dropped: frozenset[str]

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters that go with a prompt."""

    async def complete(self, prompt: str, call: JudgeCall) -> ProviderResponse:
        """Return the answer to one prompt; raises RetryableError or FatalJudgeError.

        `call` is told what the question is found by in recordings, where that is not what is sent.
        """

    async def close(self) -> None:
        """Close what answering opened."""

    def forget(self) -> None:
        """Drop what answering opened without closing it: its event loop is gone."""


UNSET = "unset"  # a parameter that is not sent: the model's own default is asked for
FLEX = "flex"  # a service tier at half the price, for whoever can wait
TOOL = "tool_choice"  # the forced call of a tool whose input is the verdict, where there are no structured outputs
SYSTEM = "system_prompt"  # the text that is sent as the system's; where that is dropped, it begins the prompt
LIMITS = ("max_tokens", "max_completion_tokens")  # OpenAI's older and newer name for one limit
LOGPROBS = frozenset({"logprobs", "top_logprobs", "response_logprobs"})  # a verdict counts without them, too


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderSpec:
    """All that is known of a provider before it is asked: whoever has to know it reads it here, and nowhere else.

    Where somebody is asked over an API, `key` has to be given, the environment variable of the API key, and so has
    `url`, or a connection. Nobody inherits another's: a class that speaks another one's wire format has a record of its
    own, with its own key, address and account.
    """

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

    def __post_init__(self) -> None:
        if self.is_asked and not self.is_code and not self.key:
            raise ValueError(
                'a provider\'s record has to name the environment variable of its API key (key = "NAME_API_KEY"): '
                "without one, questions would be sent with no key at all. A server that takes none is asked with "
                'provider = "openai" and base_url'
            )
        if self.key and not self.url and not self.connection:
            raise ValueError(
                "a provider's record has to say where it is asked (url): without it, the key would go to the address "
                "that the SDK has by default, which is another's"
            )


# The extras of this package that install an SDK which not everybody needs.
EXTRAS = {"anthropic": "claude"}


@functools.cache
def http_library(sdk: str) -> str:
    """Return the library whose client an SDK takes: httpx2, or httpx where its version is from before there was that.

    Raises FatalJudgeError where the SDK is not installed. Nobody else asks for versions of SDKs.
    """
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
    """Raise FatalJudgeError where the SDK that a judge is asked through is not installed."""
    if sdk := getattr(table.record.answers, "sdk", ""):
        http_library(sdk)


def api_key(table: JudgeTable) -> str:
    """Return the API key that the environment holds for a judge, without the line end of a file; else empty."""
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
    """Return the JSON schema of an answer that states a value under a key, and a reason."""
    properties = {key: dict(value), "reason": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def answer_schema(table: JudgeTable) -> dict[str, Any]:
    """Return the JSON schema of what a judge is to answer: what its kind asks for, else a choice, 0 for a tie.

    An empty one is not sent: the prompt alone says how to answer.
    """
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
}


@functools.cache
def provider_spec(provider: str) -> ProviderSpec:
    """Return what is known of a provider; no SDK is imported."""
    record: ProviderSpec = importlib.import_module(PROVIDERS[provider]).RECORD
    return record


def load_provider(table: JudgeTable) -> Provider:
    """Return the provider of a judge's table; nothing is sent, and no SDK imported, before the first question."""
    return table.record.answers(table)
