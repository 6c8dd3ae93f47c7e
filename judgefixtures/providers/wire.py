"""What came over the wire, and what a failed exchange means: shared by every provider that speaks HTTP.

The tables follow the providers' documentation and observed answers (2026-11); a kind of failure that is
new belongs in a table here, not in a provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import email.utils
import json
import math
import os
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from judgefixtures.cassettes.replay import is_this_machine, was_played
from judgefixtures.config import UNSET
from judgefixtures.providers import (
    LIMITS,
    LOGPROBS,
    TOOL,
    Answer,
    FatalJudgeError,
    Quota,
    RefusedError,
    RetryableError,
    UnsupportedError,
    Usage,
    sent_as,
)
from judgefixtures.reading.probabilities import UNTOLD, Token, token_bytes
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.secrets import masked, redacted

if TYPE_CHECKING:
    import httpx2

RETRIED = frozenset({408, 409, 424, 425, 429, 498, 499})  # 498: Groq has no capacity left for its flex tier

_EXCHANGE: ContextVar[list[Wire] | None] = ContextVar("judgefixtures_exchange", default=None)


@dataclass(frozen=True, slots=True)
class Wire:
    """One HTTP response as it arrived: status, headers (found by lower-case names), decoded body."""

    status: int
    headers: Mapping[str, str]
    body: str
    garbled: bool = False  # bytes that are not text in JSON's encodings were replaced in the body

    def json(self) -> Any:
        """Return the body as JSON; raises RetryableError or FatalJudgeError for what is none."""
        if not self.body.strip():
            raise RetryableError(f"HTTP {self.status} with an empty body", invalid="empty", outage=True)
        try:
            found = json.loads(self.body.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            start = self.body.removeprefix("\ufeff").lstrip()[:200].lower()
            if start.startswith("<"):
                raise FatalJudgeError(
                    "the server answered with an HTML page: is it a proxy or sign-in page, or does base_url lack /v1?"
                ) from None
            if start.startswith(("data:", "event:", "id:", "retry:", ":")):
                raise FatalJudgeError(
                    "the server answered with an event stream although none was asked for: base_url points at a "
                    "gateway that forces streaming; use one that does not."
                ) from None
            raise RetryableError(f"HTTP {self.status} with a body that is cut off or is not JSON") from None
        if self.garbled:
            raise RetryableError(f"HTTP {self.status} with a body that is not UTF-8")
        return found


async def _capture(response: httpx2.Response) -> None:
    exchange = _EXCHANGE.get()
    if exchange is not None:
        await response.aread()
        # JSON tells its encoding itself, whatever a header says; the headers object looks names up in any case.
        encoding = json.detect_encoding(response.content)
        try:
            body, garbled = response.content.decode(encoding), False
        except UnicodeDecodeError:
            body = response.content.decode(encoding, "replace")
            garbled = not was_played()  # asking a recording again changes nothing: it counts as it did
        exchange.append(Wire(response.status_code, response.headers, body, garbled))


def http_client(base_url: str | None, timeout: float) -> httpx2.AsyncClient:
    """Return the HTTP client that an SDK is given: it captures responses and follows no redirects.

    A proxy of the environment is used, as everywhere, except for a server on this machine.
    """
    import httpx2

    try:
        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(timeout),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=False,
            trust_env=not is_local(base_url),
            headers={"accept-encoding": "gzip"},  # what vcrpy can decode
            event_hooks={"response": [_capture]},
        )
    except (ImportError, ValueError) as error:
        raise FatalJudgeError(masked(f"the proxy that the environment names cannot be used: {error}.")) from None


SWITCHES = ("OPENAI_", "AZURE_OPENAI_", "GOOGLE_", "GEMINI_", "ANTHROPIC_")


@contextlib.contextmanager
def without_switches() -> Iterator[None]:
    """Hide the SDKs' own variables while a client is made: backend, address, headers, an SDK's own replay mode.

    What a judge does is decided by its table, the variable of its API key, and the proxies that every program uses.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(SWITCHES)}
    try:
        yield
    finally:
        os.environ.update(hidden)


def is_local(base_url: str | None) -> bool:
    """Tell whether a URL names this machine."""
    return is_this_machine(urlsplit(base_url or "").hostname or "")


async def exchange(call: Awaitable[Any], base_url: str | None) -> Wire:
    """Await an SDK's call and return the response it received, whatever the SDK made of that.

    Raises RetryableError or FatalJudgeError where no response arrived at all.
    """
    captured: list[Wire] = []
    token = _EXCHANGE.set(captured)
    try:
        await call
    except Exception as error:
        if not captured:
            raise await _told_apart(_transport_error(error, base_url), base_url) from error
    finally:
        _EXCHANGE.reset(token)
    if not captured:
        raise FatalJudgeError("the SDK returned without a response of the HTTP client it was given.")
    return captured[-1]


def understood(read: Callable[[Wire, str], Answer], wire: Wire, model: str) -> Answer:
    """Return what a reader makes of a response; one of an unexpected form is asked again.

    It counts as no answer where it stands in place of one; an error that nobody can read is an outage.
    """
    try:
        answer = read(wire, model)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        if wire.status >= 400:
            said = f"HTTP {wire.status} with an error of an unexpected form ({error})"
            raise RetryableError(said, status=wire.status, outage=True) from None
        raise RetryableError(f"an answer of an unexpected form ({error})", invalid="no-answer") from None
    return answer if was_played() else replace(answer, quotas=quotas(wire.headers, answer.usage))


def as_table(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def text_or_none(value: Any) -> str | None:
    """Return a text that is not empty, or None."""
    return value if isinstance(value, str) and value else None


MOST_TOKENS = 10**10  # no call takes as many: who says so cannot count, and what it cost is not known


def tokens(value: Any) -> int | None:
    """Return a count of tokens, or None for anything that is none.

    >>> tokens(70), tokens(70.0), tokens(-1), tokens(10**300)
    (70, None, None, None)
    """
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None


def tokens_together(*parts: Any) -> int | None:
    """Return the sum of counts of tokens, of which null ones are none; None where all are, or one is not a count."""
    stated = [tokens(part) for part in parts if part is not None]
    known = [count for count in stated if count is not None]
    return sum(known) if stated and known == stated else None


def told(found: Iterable[Token | None]) -> tuple[Token, ...]:
    """Return the tokens that a server tells the probabilities of: all of them or, where one cannot be read, none."""
    every = tuple(found)
    return tuple(token for token in every if token is not None) if None not in every else ()


ROUNDED = 1e-3  # a log-probability above 0 by no more than this was rounded


def told_token(entry: Any, alternatives: Any, key: str) -> Token | None:
    """Return a token and what might have stood in its place, as a server lists them; None for anything else.

    Log-probabilities stand under `key`. Of two tokens with the same bytes either may have been meant: their
    probabilities are added, unless it is one token that is listed twice.
    """
    if not isinstance(alternatives, list | None):
        return None
    own, listed = _told(entry, key), [_told(each, key) for each in alternatives or ()]
    if own is None or None in listed:
        return None
    together: dict[bytes, float] = {}
    for text, logprob in dict.fromkeys(each for each in listed if each is not None and each[1] > UNTOLD):
        together[text] = _added(together[text], logprob) if text in together else logprob
    return Token(*own, together)


def _told(entry: Any, key: str) -> tuple[bytes, float] | None:
    """Return the bytes of a token (some servers list them, others only their text) and its log-probability."""
    fields = as_table(entry)
    token, logprob = token_bytes(fields.get("token"), fields.get("bytes")), fields.get(key)
    if token is None or isinstance(logprob, bool) or not isinstance(logprob, int | float) or not logprob <= ROUNDED:
        return None
    return token, float(max(logprob, UNTOLD))


def _added(one: float, other: float) -> float:
    """Return the logarithm of the sum of two probabilities."""
    return max(one, other) + math.log1p(math.exp(-abs(one - other)))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from, the members of a group (one per address tried) included."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _causes(member)
        error = error.__cause__ or error.__context__


@dataclass(frozen=True, slots=True)
class _Proxy:
    """A proxy that the environment names for an address, and the variable, where it is one that names it."""

    address: str  # without the user and the password that it may hold
    named_by: str
    secure: bool

    @classmethod
    def of(cls, base_url: str | None) -> _Proxy | None:
        """Return the proxy through which an address is asked, or None."""
        parts = urlsplit(base_url or "https:")
        if is_local(base_url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
            return None
        proxies = getproxies()
        found = proxies.get(parts.scheme) or proxies.get("all")
        if not found:
            return None
        names = (name for scheme in (parts.scheme, "all") for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()))
        named_by = next((name for name in names if os.environ.get(name) == found), "the system")
        address = found.rpartition("@")[2].rpartition("//")[2].rstrip("/")
        return cls(address, named_by, found.lower().startswith("https:"))


def _transport_error(error: Exception, base_url: str | None) -> Exception:
    where = masked(base_url or "the provider")
    causes = list(_causes(error))
    if (proxy := _Proxy.of(base_url)) is not None and (fault := _proxy_error(causes, proxy, where)) is not None:
        return fault
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FatalJudgeError(f"the certificate of {where} cannot be verified: {cause.verify_message}.")
        if isinstance(cause, ssl.SSLError) and cause.reason in NO_TLS:
            return FatalJudgeError(f"{where} does not speak TLS: write http:// instead of https:// in base_url.")
        if isinstance(cause, ConnectionRefusedError):
            return RefusedError(f"{where} refuses connections: is the server running, and is base_url right?")
        if isinstance(cause, socket.gaierror):
            return RefusedError(f"the host of {where} is not known ({cause.strerror}): is base_url right?")
    for cause in causes:
        if type(cause).__name__ == "ProxyError" and str(cause).startswith("4"):
            return FatalJudgeError(f"the proxy that the environment names refuses to connect to {where}: {cause}.")
        if type(cause).__name__ in ("UnsupportedProtocol", "InvalidURL", "LocalProtocolError"):
            return FatalJudgeError(f"{where} cannot be used as base_url: {cause}.")
        if type(cause).__name__ in ("ReadError", "RemoteProtocolError"):
            return _BrokenOffError(f"no answer from {where}: {type(cause).__name__}: {cause}".rstrip(": "))
        if type(cause).__module__.partition(".")[0] == "httpx2" or isinstance(cause, OSError):
            return RetryableError(f"no answer from {where}: {type(cause).__name__}: {cause}".rstrip(": "))
    return FatalJudgeError(f"the SDK failed before a request was sent: {type(error).__name__}: {error}")


NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")  # how OpenSSL calls an answer in plain HTTP


def _proxy_error(causes: list[BaseException], proxy: _Proxy, where: str) -> Exception | None:
    """Return what went wrong on the way to a proxy, or None: then it went wrong behind it."""
    which = f"the proxy {proxy.address}, which {proxy.named_by} names for {where},"
    around = f"unset {proxy.named_by}, or name the host of {where} in NO_PROXY"
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return RefusedError(f"{which} refuses connections: start it, {around}.")
        if isinstance(cause, socket.gaierror):
            return RefusedError(f"{which} is on a host that is not known ({cause.strerror}): correct it, {around}.")
        if proxy.secure and isinstance(cause, ssl.SSLError) and cause.reason in NO_TLS:
            return FatalJudgeError(f"{which} does not speak TLS: write http:// instead of https:// in it, {around}.")
        if type(cause).__name__ == "ConnectTimeout":
            return RetryableError(f"{which} does not answer: is it running? Else {around}.")
    return None


# How httpx calls what went wrong before anything of a request could leave.
UNSENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "InvalidURL"})


def never_left(fault: Exception) -> bool:
    """Tell whether a fault of `exchange` is of a request that nobody can have received: there was no connection."""
    return any(type(cause).__name__ in UNSENT for cause in _causes(fault))


class _BrokenOffError(RetryableError):
    """The connection ended before an HTTP answer was there."""


async def _told_apart(fault: Exception, base_url: str | None) -> Exception:
    """Return the fault, or a fatal one where plain HTTP was broken off because the server speaks TLS."""
    plain = (base_url or "").startswith("http://")
    if plain and isinstance(fault, _BrokenOffError) and _Proxy.of(base_url) is None and await _speaks_tls(base_url):
        return FatalJudgeError(f"{base_url} speaks TLS: write https:// instead of http:// in base_url.")
    return fault


async def _speaks_tls(address: str | None) -> bool:
    """Tell whether a server answers the beginning of a TLS handshake in kind; nothing secret is sent."""
    parts = urlsplit(address or "")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    greeting = ssl.MemoryBIO()
    try:
        with contextlib.suppress(ssl.SSLWantReadError):
            context.wrap_bio(ssl.MemoryBIO(), greeting, server_hostname=parts.hostname).do_handshake()
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
            try:
                writer.write(greeting.read() + b"\r\n\r\n")  # the end of a request, for a server that reads lines
                return await reader.readexactly(2) in (b"\x15\x03", b"\x16\x03")  # an alert, or a handshake
            finally:
                writer.close()
    except (OSError, ValueError, asyncio.IncompleteReadError):  # a TimeoutError is an OSError
        return False


def status_in(error: Any) -> int:
    """Return the status that an error inside a 200 names, or 502: somebody upstream failed."""
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else 502


def failure(wire: Wire, model: str) -> Answer:
    """Return the invalid answer that a failed exchange is, or raise RetryableError or FatalJudgeError."""
    if 300 <= wire.status < 400:
        raise FatalJudgeError(
            f"HTTP {wire.status} redirects to {_without_query(wire.headers)!r}: set base_url to the "
            "final address (a redirected POST would arrive as a GET)."
        )
    error = error_object(wire)
    answer = error_answer(wire.status, error, wire.headers, model)
    # APIs tell errors in JSON. A page of words is from whoever stands before them, and no word on this pair, whatever
    # it says; only the size is (413 is about the request alone, whoever measures it).
    if wire.status != 413 and not wire.body.lstrip().startswith(("{", "[")):
        raise FatalJudgeError(
            f"{answer.detail} -- this is not the judge's answer but that of a gateway, proxy or firewall before it: "
            "find out there why it refuses the request, then run again with --judge-record missing."
        )
    return replace(answer, usage=Usage(0, 0))  # an error status is not billed


def _without_query(headers: Mapping[str, str]) -> str:
    """Return where a redirect leads, without what a sign-in page puts behind a question mark or a hash."""
    return masked(re.sub(r"([?#]).*", r"\1...", headers.get("location", "(nowhere)"), flags=re.DOTALL))


def error_object(wire: Wire) -> Mapping[str, Any]:
    """Return the error object of a body, or one that holds the body's beginning as message."""
    try:
        found = json.loads(wire.body)
    except (ValueError, RecursionError):
        return {"message": redacted(wire.body)[:300]}
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, dict):
        return {"message": redacted(wire.body)[:300]}
    error = found.get("error", found)
    if not isinstance(error, dict):
        return {**found, "message": str(error or redacted(wire.body)[:300])}
    named = as_table(error.get("details")).get("error_code")  # where Anthropic's API names the cause
    return error if named is None or error.get("code") is not None else {**error, "code": named}


LONGEST_MESSAGE = 5_000  # characters of an error that are looked through for what it means


def error_answer(status: int, error: Mapping[str, Any], headers: Mapping[str, str], model: str) -> Answer:
    """Classify an error by status and content: one item's fault, a passing fault, or a fatal one."""
    message = str(error.get("message") or error.get("detail") or "").strip()
    if raw := as_table(error.get("metadata")).get("raw"):  # what the provider behind a gateway said
        message = f"{message}: {raw}"
    # Whole: a secret that is cut in two is not known any more.
    said = f"HTTP {status}: {masked(message)[:400]}" if message else f"HTTP {status}"
    message = message[:LONGEST_MESSAGE]
    if kind := _item_fault(status, error, message):
        return Answer("", kind, said)
    if status in (400, 403, 422, 501) and (refusal := refused_logprobs(error, message, said)) is not None:
        raise refusal
    if remedy := _fatal_remedy(status, error, message, model):
        raise FatalJudgeError(f"{said} -- {remedy}")
    if status in (400, 422):
        parameter = rejected_parameter(error, message)
        raise UnsupportedError(f"{said} -- {_unsupported(parameter)}", parameter)
    if status in RETRIED or status >= 500:
        raise RetryableError(said, retry_after=retry_after(headers, error, message), status=status)
    raise FatalJudgeError(f"{said} -- the request cannot succeed as it is.")


# Keys of a judge's table that Anthropic's API has another name for.
_KEYS = {
    "thinking": "thinking_budget",
    "output_config": "response_format",
    "output_config.format": "response_format",
    "output_config.effort": "reasoning_effort",
    "effort": "reasoning_effort",
    "tool_choice": "response_format",
    "tools": "response_format",
}


def _unsupported(parameter: str) -> str:
    """Return what to do about a parameter that a server rejects; one with a default is sent unless it is unset."""
    if not parameter:
        return (
            "the server rejects the request and does not say what of it: compare the judge's table (model, "
            "parameters, response_format) with what this model takes."
        )
    if parameter in LIMITS or parameter == "max_output_tokens":
        how = "change max_output_tokens"
    elif parameter in ("temperature", "seed"):
        how = f'set {parameter} = "{UNSET}"'
    else:
        how = f"change or remove {_KEYS.get(parameter, 'it')}"
    return (
        f"the server rejects {parameter}: {how} in the judge's table, or set drop_unsupported = true to leave out "
        "what this model does not take."
    )


_TOO_MANY = re.compile(
    r"too (?:large|big|high|many)|at (?:most|least)|(?:less|greater|more) than|exceed|\brange\b|above|maximum|\bmax\b"
    r"|must be (?:[<>≤]|between)|between \d",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:<=|≤|at most|equal to|max(?:imum)?(?: allowed)?(?: value)?(?: of| is|:)?|between \d+ and) *(\d+)"
    r"|\[\d+, ?(\d+)\]",
    re.IGNORECASE,
)


def refused_logprobs(error: Mapping[str, Any], message: str, said: str) -> FatalJudgeError | None:
    """Return what an error means that rejects token probabilities; None for any other error.

    A model that gives none is an UnsupportedError; one that gives fewer than are asked for can be asked for fewer.

    >>> refused_logprobs({}, "Logprobs is not enabled for models/gemini-2.5-pro", "HTTP 400").parameter
    'logprobs'
    >>> str(refused_logprobs({}, "top_logprobs must be <= 5", "HTTP 400")).rpartition(": ")[2]
    "set top_logprobs = 5 in the judge's table."
    """
    if sent_as(rejected_parameter(error, message)) != LOGPROBS:
        return None
    if not _TOO_MANY.search(message):
        return UnsupportedError(
            f"{said} -- the model gives no token probabilities: leave logprobs out of the judge's table.", "logprobs"
        )
    found = _AT_MOST.search(message)
    at_most = f"top_logprobs = {found[1] or found[2]}" if found else "top_logprobs to a number that it takes"
    return FatalJudgeError(
        f"{said} -- the server lists fewer tokens in a place than it is asked for: set {at_most} in the judge's table."
    )


_TOO_LARGE = re.compile(
    r"context[_ ]?(?:length|window|size|limit)|maximum context|input token count|request too large|reduce the length"
    r"|prompt is too long|maximum prompt length|input (?:length )?(?:is )?too (?:long|large)|payload size exceeds"
    r"|too many tokens(?!, please wait)|exceeds? the (?:maximum (?:number of tokens|context)|available context)"
    r"|max_tokens must be at least 1, got -|n_keep .*n_ctx|range of input length"
    r"|`inputs` (?:tokens \+ `max_new_tokens` )?must (?:be <=|have less than)",
    re.IGNORECASE,
)
_MODERATED = re.compile(
    r"content management policy|content filter(?:ing)? policy|usage policy|content ?policy|safety system"
    r"|(?:input|prompt) was flagged|requires moderation|content exists risk|inappropriate content",
    re.IGNORECASE,
)
_MODERATED_CODES = frozenset(
    {
        "content_filter",
        "invalid_prompt",
        "content_policy_violation",
        "moderation_blocked",
        "data_inspection_failed",
        "1301",
    }
)
_REQUESTED = re.compile(r"limit:? ([\d,]+).*requested:? ([\d,]+)", re.IGNORECASE | re.DOTALL)


def _item_fault(status: int, error: Mapping[str, Any], message: str) -> InvalidKind | None:
    """Return the kind of an error that concerns this prompt alone, or None."""
    code, param = str(error.get("code")), str(error.get("param"))
    if code in _MODERATED_CODES or error.get("type") == "content_filter":
        return "filtered"
    if status in (400, 403, 422) and _MODERATED.search(message):
        return "filtered"
    if code == "json_validate_failed":
        return "no-json"
    if status == 413 or code in ("context_length_exceeded", "string_above_max_length"):
        return "too-large"
    if status in (400, 422, 500) and (param == "input_tokens" or _TOO_LARGE.search(message)):
        return "too-large"
    if status == 429 and "request too large" in message.lower():
        return "too-large"
    if status == 429 and (sizes := _REQUESTED.search(message)) and _number(sizes[2]) > _number(sizes[1]) > 0:
        return "too-large"
    return None


def _number(text: str) -> int:
    digits = text.replace(",", "")
    return int(digits) if digits else 0


ADDRESS_REMEDY = "there is nothing at this address: check base_url (does it lack /v1, or have it twice?)."
UNKNOWN_MODEL = "the server does not know the model"
KEY_REMEDY = "the API key is not accepted: check the variable that api_key_env names."


def _fatal_remedy(status: int, error: Mapping[str, Any], message: str, model: str) -> str | None:
    """Return what to do about an error that no retry cures, or None."""
    code, lower = str(error.get("code")), message.lower()
    details = json.dumps(error.get("details", "")) + message  # a gateway passes an error on as a text
    no_model = code in _MODEL_CODES or error.get("param") == "model" or _NO_MODEL.search(message)
    if status == 401 or code == "invalid_api_key" or "API_KEY_INVALID" in details or _KEY_REFUSED.search(message):
        return KEY_REMEDY
    if (
        "billing" in code
        or code == "organization_on_hold"
        or status == 402
        or (status in (400, 403) and ("billing" in lower or _SWITCHED_OFF.search(message)))
    ):
        return "the account has to be paid or topped up, or activated, first."
    if "insufficient_quota" in (code, error.get("type")) or "spend_limit" in code or _NO_MONEY.search(message):
        return "the quota of this account is used up: raise it, then run again with --judge-record missing."
    if status == 429 and ("PerDay" in details or _DAILY.search(message)):
        return "a daily limit is used up: run again with --judge-record missing when it is reset."
    if status == 429 and re.search(r"limit:? 0(?![.,]?\d)\b", lower):
        return f"this account may not use {model!r} at all: use another model or another plan."
    if "user location" in lower or "country, region" in lower or "unsupported_country" in code:
        return "the provider does not serve this region: run from another one, or use another provider."
    if _NO_ENDPOINT.search(message) or (status in (404, 410) and not no_model and "model" not in lower):
        return ADDRESS_REMEDY
    if _PLAIN_HTTP.search(message):
        return "the server speaks TLS: write https:// instead of http:// in base_url."
    if status in (404, 410) or code in _MODEL_CODES or (status in (400, 403, 422) and no_model):
        return (
            f"{UNKNOWN_MODEL} {model!r} (retired, renamed, another API version, or not open to this key): ask it "
            "for its list of models."
        )
    if status == 403:
        return "access is denied: check the key's permissions, the project and the region."
    if status in (405, 501):
        return "this server does not offer the call: check base_url."
    return None


_TOPICS = [
    (name, re.compile(words, re.IGNORECASE))
    for name, words in (
        ("logprobs", r"log[_ ]?prob"),
        (
            "response_format",
            r"response[_ ]?(?:format|mime|json|schema)|json mode|\bschema\b|grammar|guided|"
            r"structured[_ ]outputs?|output[_ ]format",
        ),
        ("thinking_config", r"thinking[_ ]?(?:config|budget|level|mode)|reasoning[_ ]?effort|\bthink(?:ing)?\b"),
        ("effort", r"\beffort\b"),
        ("tool_choice", r"\btool[_ ]?choice\b"),
        ("max_tokens", r"max[_ ]?tokens"),  # the older one goes first, where a server takes only one of the two
        ("max_completion_tokens", r"max[_ ]?completion[_ ]?tokens"),
        ("max_output_tokens", r"max[_ ]?output[_ ]?tokens"),
        ("service_tier", r"service[_ ]?tier|flex processing"),
        ("temperature", r"temperature"),
        ("seed", r"\bseed\b"),
    )
]
_NAMED = re.compile(
    r"(?:unsupported|unrecognized|unknown|unexpected|invalid|extra) (?:parameter|value|argument|request argument"
    r"|keyword|name|field)[\w ]*:? *['\"`]?(\w+)|['\"`](\w+)['\"`]? (?:is |are )?(?:not supported"
    r"|unsupported|not allowed)"
    r"|(\w+) is not supported",
    re.IGNORECASE,
)


def rejected_parameter(error: Mapping[str, Any], message: str) -> str:
    """Return the name of the parameter that an error rejects, or an empty text.

    >>> rejected_parameter({"param": None}, 'Unrecognized request argument supplied: seed')
    'seed'
    """
    param = error.get("param")
    if _FORCED.search(message):
        return TOOL
    told = param.partition(".")[0].partition("[")[0] if isinstance(param, str) and param != "None" else ""
    if not told and (first := _FIRST.match(message)):
        told = _sent_name(first[1])
    found = _NAMED.search(message)
    named = told if sent_as(told) or not found else next(filter(None, found.groups()))
    if sent_as(named):
        return named
    # Not named as it was sent: told by its topic, in whatever words.
    said = f"{message} {json.dumps(error, default=str)}"
    return next((name for name, topic in _TOPICS if topic.search(said)), told or named)


_FORCED = re.compile(r"tool_choice (?:that )?forces", re.IGNORECASE)  # a call cannot be forced while the model thinks

# Anthropic's API begins with the field: "thinking.enabled.budget_tokens: ...", "`temperature` is ...".
_FIRST = re.compile(
    r"[`'\"]?([a-z_]+(?:\.[a-z_0-9]+)*)[`'\"]?(?::| (?:is|are|may|must|cannot|can|and|does|requires?)\b)", re.IGNORECASE
)


def _sent_name(path: str) -> str:
    """Return the longest beginning of a path of fields under which providers send something, or an empty text.

    >>> _sent_name("output_config.format.schema"), _sent_name("messages.content")
    ('output_config.format', '')
    """
    steps = path.lower().split(".")
    names = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
    return next(filter(sent_as, names), "")


_KEY_REFUSED = re.compile(
    r"api key (?:not valid|expired|not found|is invalid)|(?:invalid|incorrect) api key", re.IGNORECASE
)
_NO_MODEL = re.compile(
    r"model (?:does )?not exist|no such model|not supported for generatecontent|(?:unknown|invalid) model(?! param)"
    r"|model [`'\"]?[\w./:-]+[`'\"]? not found|not a valid model|no models? loaded|unexpected model name"
    r"|no endpoints found|model (?:[`'\"]?[\w./:-]+[`'\"]? )?(?:has been|is|was) (?:decommissioned|discontinued|retired"
    r"|no longer (?:supported|available))"
    r"|work with the specified model|is not a chat model|(?:API|model) deployment .*not exist",
    re.IGNORECASE,
)
_MODEL_CODES = frozenset({"model_not_found", "model_decommissioned", "DeploymentNotFound"})
_NO_MONEY = re.compile(
    r"credit balance|insufficient (?:credits?|balance|funds)|credits are (?:depleted|exhausted)"
    r"|insufficient_quota|exceeded your current quota.*openai\.com|spend(?:ing)? (?:limit|cap)"
    r"|budget(?: has been|_) ?exceeded|exceeded your monthly"
    r"|your (?:specified )?(?:workspace )?api usage limits?",
    re.IGNORECASE | re.DOTALL,
)
_DAILY = re.compile(r"per[- ]day|\(rpd\)|\bdaily (?:\w+ ){0,2}(?:limit|quota)", re.IGNORECASE)
_SWITCHED_OFF = re.compile(
    r"(?:organization|account|workspace) (?:has been|is|was) (?:disabled|deactivated|suspended)", re.IGNORECASE
)
_NO_ENDPOINT = re.compile(r"unexpected endpoint or method", re.IGNORECASE)
_PLAIN_HTTP = re.compile(r"plain http|http request to an https server", re.IGNORECASE)

_SPAN = re.compile(
    r"(\d+(?:\.\d+)?) ?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])",
    re.IGNORECASE,
)
_TRY_AGAIN = re.compile(rf"(?:again|retry|wait)(?: in| after| for)? ((?:{_SPAN.pattern}[ ,]*)+)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}  # by how a unit begins


def retry_after(headers: Mapping[str, str], error: Mapping[str, Any], message: str) -> float | None:
    """Return the seconds a server asks to wait: retry-after-ms, Retry-After (seconds or date), or in words.

    >>> retry_after({"retry-after-ms": "84", "retry-after": "1"}, {}, "")
    0.084
    >>> retry_after({}, {}, "Please try again in 1m2.5s.")
    62.5
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        try:
            seconds = float(value.partition(",")[0]) * scale  # a proxy may add its own
        except ValueError:
            moment = _date(value)
            if moment is None:
                continue
            seconds = moment - time.time()
        return max(seconds, 0.0) if seconds == seconds else None
    for name in ("retry_after", "estimated_time"):
        if (seconds_told := _amount(str(error.get(name)))) is not None:
            return seconds_told
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(detail.get("retryDelay"), str):
            return _seconds(detail["retryDelay"])
    if found := _TRY_AGAIN.search(message):
        return _seconds(found[1])
    used_up = [left.seconds for left in quotas(headers, Usage()) if left.calls < 1]
    return max(used_up, default=None)


LONGEST_SPAN = 100  # characters
LONGEST_RESET = 120.0  # a limit by the hour or day: its reset is not waited for, whatever else may be left


# How headers of rate limits are called: OpenAI's and those of most others, then Anthropic's. What each counts, of a
# call's usage; without a kind it is requests.
NAMED = ("x-ratelimit-{what}{kind}", "anthropic-ratelimit{kind}-{what}")
COUNTED: Mapping[str, Callable[[Usage], int]] = {
    "": lambda _usage: 1,
    "-requests": lambda _usage: 1,
    "-tokens": lambda usage: (usage.input_tokens or 0) + (usage.output_tokens or 0),
    "-input-tokens": lambda usage: usage.input_tokens or 0,
    "-output-tokens": lambda usage: usage.output_tokens or 0,
}


def quotas(headers: Mapping[str, str], usage: Usage) -> tuple[Quota, ...]:
    """Return what headers say is left of each limit of requests and of tokens, counted in calls like this one.

    >>> quotas({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, Usage())
    ()
    >>> quotas({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1.5s"}, Usage())
    (Quota(calls=3.0, seconds=1.5, limit=None),)
    """
    said = {name.lower(): value for name, value in headers.items() if "ratelimit" in name.lower()}
    if not said:
        return ()
    now, found = server_time(headers), []
    for named in NAMED:
        for kind, counted in COUNTED.items():
            left, reset, most = (
                said.get(named.format(what=what, kind=kind), "") for what in ("remaining", "reset", "limit")
            )
            calls, seconds, limit = _amount(left), _until_reset(reset, now), _amount(most)
            if calls is not None and seconds is not None and 0 < seconds <= LONGEST_RESET:
                size = max(counted(usage), 1)
                found.append(Quota(calls / size, seconds, limit / size if limit else None))
    return tuple(found)


def server_time(headers: Mapping[str, str]) -> float:
    """Return the time by the server's clock: a moment that it names is one of that clock."""
    said = _date(headers.get("date", ""))
    return time.time() if said is None else said


def _date(text: str) -> float | None:
    """Return a date as mails and HTTP write it as seconds since 1970; None for what is none, or of no calendar.

    >>> _date("Thu, 01 Jan 1970 00:01:00 GMT"), _date("Wed, 21 Oct 99999 07:28:00 GMT")
    (60, None)
    """
    try:
        found = email.utils.parsedate_tz(text)
        return None if found is None else email.utils.mktime_tz(found)
    except (ArithmeticError, LookupError, ValueError):
        return None


def _amount(text: str) -> float | None:
    try:
        value = float(text.partition(",")[0])  # a gateway may add its own
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until_reset(text: str, now: float) -> float | None:
    """Return the seconds until a reset: a span ("1m2.5s"), seconds, or a moment (since 1970, in s or ms, or a date)."""
    value = _amount(text)
    if value is None:
        moment = _moment(text)
        return _seconds(text) if moment is None else moment - now
    moment = value / 1000 if value > 1e11 else value
    return moment - now if moment > 1e9 else moment


def _moment(text: str) -> float | None:
    """Return a date with its time zone as seconds since 1970.

    >>> _moment("1970-01-01T00:01:00Z")
    60.0
    """
    try:
        found = datetime.datetime.fromisoformat(text.strip())
        return None if found.tzinfo is None else found.timestamp()
    except (ArithmeticError, ValueError):
        return None


def _seconds(span: str) -> float | None:
    scales = [
        (float(number), next(scale for start, scale in _SECONDS.items() if unit.lower().startswith(start)))
        for number, unit in _SPAN.findall(span[:LONGEST_SPAN])
    ]
    return sum(number * scale for number, scale in scales) if scales else None
