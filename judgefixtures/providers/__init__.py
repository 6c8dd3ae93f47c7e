"""Providers: who answers a prompt. One file each, with its record, its class and its batches; the seam to them is here.

A provider sends a prompt through its official SDK and reads the answer off the wire, so that a page of
HTML, an empty body or an error inside a 200 is seen as what it is, whatever the SDK makes of it.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from judgefixtures.cassettes.calls import Call
from judgefixtures.reading.probabilities import Probability, Token
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import PLACEHOLDER_KEY as PLACEHOLDER_KEY
from judgefixtures.words.secrets import know, know_address
from judgefixtures.words.texts import encodable


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
        super().__init__(encodable(message))
        self.outage = outage
        self.loading = loading
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


NEARLY = 0.9  # of a limit: servers count an answer's end mark, or do not
# What else ends an answer, and what to do about it.
NO_ROOM = (
    "its context is full, or it has a limit of its own: raise that there (llama.cpp: --ctx-size, Ollama: num_ctx, "
    "vLLM: --max-model-len), or ask for less"
)


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

    def ended_before(self, limit: int) -> bool:
        """Tell whether an answer that was cut off ended well before its limit: something else had no room for it.

        Of one that thought nobody knows: some servers do not count thoughts.
        """
        return self.output_tokens is not None and not self.reasoning_tokens and self.output_tokens < NEARLY * limit


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
    `ended_early`: it was cut off although its limit was not reached.
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
    quotas: tuple[Quota, ...] = ()
    tokens: tuple[Token, ...] = ()
    probability: Probability | None = None


class Provider(Protocol):
    """The seam to whoever answers. `dropped` names parameters that are not to be sent."""

    dropped: frozenset[str]

    @property
    def sent(self) -> frozenset[str]:
        """The names of the parameters that go with a prompt."""

    async def complete(self, prompt: str, call: Call) -> Answer:
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
LIMITS = ("max_tokens", "max_completion_tokens")  # OpenAI's older and newer name for one limit
LOGPROBS = frozenset({"logprobs", "top_logprobs", "response_logprobs"})  # a verdict counts without them, too


class Reached(Protocol):
    """What has to be known of a judge's table (tables.py) to reach who answers."""

    @property
    def record(self) -> Record: ...  # pragma: no cover

    @property
    def key_variable(self) -> str | None: ...  # pragma: no cover

    @property
    def address(self) -> str | None: ...  # pragma: no cover

    @property
    def counts_ties(self) -> bool: ...  # pragma: no cover

    @property
    def answer_schema(self) -> dict[str, Any] | None: ...  # pragma: no cover


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
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


def check_sdk(table: Reached) -> None:
    """Raise FatalJudgeError where the SDK that a judge is asked through is not installed."""
    if sdk := getattr(table.record.answers, "sdk", ""):
        http_library(sdk)


def api_key(table: Reached) -> str:
    """Return the API key that the environment holds for a judge, without the line end of a file; else empty."""
    key = os.environ.get(table.key_variable or "", "").strip()
    know(key)
    return key


def know_credentials(table: Reached) -> None:
    """Take for secret what a judge will be asked with: its key, and what stands before the host in an address."""
    api_key(table)
    know_address(table.address)
    for name, value in os.environ.items():
        if name.lower().endswith("_proxy"):
            know_address(value)


def stated(key: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an answer that states a value under a key, and a reason."""
    properties = {key: dict(value), "reason": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def schema_of(table: Reached) -> dict[str, Any]:
    """Return the JSON schema of what a judge is to answer: what its kind asks for, else a choice, 0 for a tie.

    An empty one is not sent: the prompt alone says how to answer.
    """
    if table.answer_schema is not None:
        return table.answer_schema
    choices = [0, 1, 2] if table.counts_ties else [1, 2]
    return stated("selected_response", {"type": "integer", "enum": choices})


# The file of each provider, by the `provider` of a judge's table. It is imported when something of it is asked for.
PROVIDERS = {
    "openai": "judgefixtures.providers.openai",
    "azure": "judgefixtures.providers.azure",
    "google": "judgefixtures.providers.google",
    "anthropic": "judgefixtures.providers.anthropic",
    "python": "judgefixtures.providers.python",
    "imported": "judgefixtures.providers.logged",
}


@functools.cache
def record_of(provider: str) -> Record:
    """Return what is known of a provider; no SDK is imported."""
    record: Record = importlib.import_module(PROVIDERS[provider]).RECORD
    return record


def load_provider(table: Reached) -> Provider:
    """Return the provider of a judge's table; nothing is sent, and no SDK imported, before the first question."""
    return table.record.answers(table)
