"""HTTP layer of all providers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from judgefixtures.cassettes.calls import JudgeCall
from judgefixtures.cassettes.vcr_adapter import SDK_LIBRARIES, is_loopback_host
from judgefixtures.providers import (
    PLACEHOLDER_KEY,
    PROVIDERS,
    SYSTEM,
    FatalJudgeError,
    ProviderResponse,
    RetryableError,
    UnreachableError,
    api_key,
    http_library,
    provider_spec,
)
from judgefixtures.util.secrets import redact_message

from .judge_table import JudgeTable
from .messages import MESSAGES
from .quotas import parse_quotas

if TYPE_CHECKING:
    import httpx2  # and for what SDKs of before it take of httpx, whose names and meanings it has

Client = TypeVar("Client")  # of an SDK

# Lines that a server sends before its JSON, so that nobody on the way closes a connection on which nothing comes.
_COMMENTS = re.compile(r"\s*(?::[^\n]*\n\s*)+(?=[{\[])")

_EXCHANGE: ContextVar[list[HttpResponse] | None] = ContextVar("judgefixtures_exchange", default=None)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One HTTP response with lower-case headers; `sent` are the request's parameters."""

    status: int
    headers: Mapping[str, str]
    body: str
    garbled: bool = False  # bytes that are not text in JSON's encodings were replaced in the body
    sent: frozenset[str] | None = None

    def json(self) -> Any:
        """Return the body as JSON, or raise RetryableError or FatalJudgeError."""
        if not self.body.strip():
            raise RetryableError(f"HTTP {self.status} with an empty body", invalid="empty", outage=True)
        try:
            body = self.body.removeprefix("\ufeff")
            comments = _COMMENTS.match(body)
            value = json.loads(body[comments.end() :] if comments else body)
        except (ValueError, RecursionError):
            start = self.body.removeprefix("\ufeff").lstrip()[:200].lower()
            if start.startswith("<"):
                raise FatalJudgeError(
                    "the server answered with an HTML page. Check for a proxy or sign-in page, and for /v1 in base_url."
                ) from None
            if start.startswith(("data:", "event:", "id:", "retry:", ":")):
                raise FatalJudgeError(MESSAGES.event_stream()) from None
            raise RetryableError(f"HTTP {self.status} with a body that is cut off or not JSON") from None
        if self.garbled:
            raise RetryableError(f"HTTP {self.status} with a body that is not UTF-8")
        return value


async def _capture(response: httpx2.Response) -> None:
    exchange = _EXCHANGE.get()
    if exchange is not None:
        await response.aread()
        # JSON tells its encoding itself, whatever a header says; the headers object looks names up in any case.
        encoding = json.detect_encoding(response.content)
        try:
            body, garbled = response.content.decode(encoding), False
        except UnicodeDecodeError:
            body, garbled = response.content.decode(encoding, "replace"), True
        exchange.append(HttpResponse(response.status_code, response.headers, body, garbled))


def http_client(library: str, base_url: str | None, timeout: float) -> httpx2.AsyncClient:
    """Return an HTTP client that captures responses and follows no redirects."""
    module = import_module(library)
    try:
        client: httpx2.AsyncClient = module.AsyncClient(
            timeout=module.Timeout(timeout),
            limits=module.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=False,
            trust_env=not is_local_url(base_url),
            headers={"accept-encoding": "gzip"},  # what vcrpy can decode
            event_hooks={"response": [_capture]},
        )
        return client
    except (ImportError, ValueError) as error:
        raise FatalJudgeError(redact_message(f"the proxy in the environment cannot be used: {error}.")) from None


@contextlib.contextmanager
def hide_sdk_variables() -> Iterator[None]:
    """Hide the SDKs' environment variables while a client is created."""
    switches = tuple(each for provider in PROVIDERS for each in provider_spec(provider).switches)
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(switches)}
    try:
        yield
    finally:
        os.environ.update(hidden)


def is_local_url(base_url: str | None) -> bool:
    """Return whether a URL is on this machine."""
    return is_loopback_host(urlsplit(base_url or "").hostname or "")


async def send_through_sdk(sent: Awaitable[Any], base_url: str | None, call: JudgeCall | None = None) -> HttpResponse:
    """Return the response that an SDK's request received.

    Raises RetryableError or FatalJudgeError without a response.
    """
    captured: list[HttpResponse] = []
    token = _EXCHANGE.set(captured)
    try:
        await sent
    except Exception as error:
        if not captured:
            raise await _told_apart(_transport_error(error, base_url), base_url) from error
    finally:
        _EXCHANGE.reset(token)
    if not captured:
        raise FatalJudgeError("the SDK returned without a response of the HTTP client it was given.")
    # Asking a recording again changes nothing: it counts as it did.
    return replace(captured[-1], garbled=False) if call is not None and call.was_played else captured[-1]


def read_response(
    read: Callable[[HttpResponse, str], ProviderResponse], wire: HttpResponse, model: str, call: JudgeCall
) -> ProviderResponse:
    """Return the reader's result."""
    try:
        answer = read(wire, model)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        if wire.status >= 400:
            detail = f"HTTP {wire.status} with an error of an unexpected form ({error})"
            raise RetryableError(detail, status=wire.status, outage=True) from None
        raise RetryableError(f"an answer of an unexpected form ({error})", invalid="no-answer") from None
    return answer if call.was_played else replace(answer, quotas=parse_quotas(wire.headers, answer.usage))


def object_or_empty(value: Any) -> Mapping[str, Any]:
    """Return a JSON object, and an empty one for other values."""
    return value if isinstance(value, dict) else {}


def text_or_none(value: Any) -> str | None:
    """Return a nonempty text, or None."""
    return value if isinstance(value, str) and value else None


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, including members of groups."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from causes_of(member)
        error = error.__cause__ or error.__context__


@dataclass(frozen=True, slots=True)
class _Proxy:
    address: str  # without the user and the password that it may hold
    named_by: str
    secure: bool

    @classmethod
    def of(cls, base_url: str | None) -> _Proxy | None:
        parts = urlsplit(base_url or "https:")
        if is_local_url(base_url) or proxy_bypass(parts.netloc.rpartition("@")[2]):
            return None
        proxies = getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if not proxy:
            return None
        names = (name for scheme in (parts.scheme, "all") for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()))
        named_by = next((name for name in names if os.environ.get(name) == proxy), "the system")
        address = proxy.rpartition("@")[2].rpartition("//")[2].rstrip("/")
        return cls(address, named_by, proxy.lower().startswith("https:"))


def _transport_error(error: Exception, base_url: str | None) -> Exception:
    where = redact_message(base_url or "the provider")
    causes = list(causes_of(error))
    if (proxy := _Proxy.of(base_url)) is not None and (fault := _proxy_error(causes, proxy, where)) is not None:
        return fault
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FatalJudgeError(f"the certificate of {where} cannot be verified: {cause.verify_message}.")
        if isinstance(cause, ssl.SSLError) and cause.reason in NO_TLS:
            return FatalJudgeError(f"{where} does not use TLS: write http:// instead of https:// in base_url.")
        if isinstance(cause, ConnectionRefusedError):
            return UnreachableError(
                f"{where} refuses connections. Check that the server runs, its model is loaded, and base_url is right."
            )
        if isinstance(cause, socket.gaierror):
            return UnreachableError(f"the host of {where} is unknown ({cause.strerror}). Check base_url.")
    for cause in causes:
        if type(cause).__name__ == "ProxyError" and str(cause).startswith("4"):
            return FatalJudgeError(f"the proxy in the environment refuses to connect to {where}: {cause}.")
        if type(cause).__name__ in ("UnsupportedProtocol", "InvalidURL", "LocalProtocolError"):
            return FatalJudgeError(f"{where} cannot be used as base_url: {cause}.")
        if type(cause).__name__ in ("ReadError", "RemoteProtocolError"):
            return _BrokenOffError(f"no answer from {where}: {type(cause).__name__}: {cause}".rstrip(": "))
        if type(cause).__module__.partition(".")[0] in SDK_LIBRARIES or isinstance(cause, OSError):
            return RetryableError(f"no answer from {where}: {type(cause).__name__}: {cause}".rstrip(": "))
    return FatalJudgeError(f"the SDK failed before a request was sent: {type(error).__name__}: {error}")


NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")  # how OpenSSL calls an answer in plain HTTP


def _proxy_error(causes: list[BaseException], proxy: _Proxy, where: str) -> Exception | None:
    which = f"the proxy {proxy.address} for {where} (from {proxy.named_by})"
    around = f"unset {proxy.named_by}, or add the host of {where} to NO_PROXY"
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return UnreachableError(f"{which} refuses connections. Start the proxy, {around}.")
        if isinstance(cause, socket.gaierror):
            return UnreachableError(f"{which} has an unknown host ({cause.strerror}). Correct it, {around}.")
        if proxy.secure and isinstance(cause, ssl.SSLError) and cause.reason in NO_TLS:
            return FatalJudgeError(f"{which} does not use TLS. Write http:// instead of https:// in it, {around}.")
        if type(cause).__name__ == "ConnectTimeout":
            return RetryableError(f"{which} does not answer. Start the proxy, {around}.")
    return None


# How httpx calls what went wrong before anything of a request could leave.
UNSENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "InvalidURL"})


def was_never_sent(fault: Exception) -> bool:
    """Return whether the request certainly was not received."""
    return any(type(cause).__name__ in UNSENT for cause in causes_of(fault))


class _BrokenOffError(RetryableError):
    """The connection ended before a response."""


async def _told_apart(fault: Exception, base_url: str | None) -> Exception:
    plain = (base_url or "").startswith("http://")
    if plain and isinstance(fault, _BrokenOffError) and _Proxy.of(base_url) is None and await _speaks_tls(base_url):
        return FatalJudgeError(f"{base_url} uses TLS: write https:// instead of http:// in base_url.")
    return fault


async def _speaks_tls(address: str | None) -> bool:
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


class HttpProvider(ABC, Generic[Client]):
    """Base class of HTTP providers."""

    sdk: ClassVar[str]  # the package of the SDK that it is asked through

    def __init__(self, table: JudgeTable) -> None:
        self.table = table
        self.model = str(table.model)
        self.dropped: frozenset[str] = frozenset()
        self.account: dict[str, Any] = {}  # what the SDK's client is given beside the key
        self._client: Client | None = None
        self._http: httpx2.AsyncClient | None = None

    @abstractmethod
    async def complete(self, prompt: str, call: JudgeCall) -> ProviderResponse:
        """Return the answer to one prompt."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the parameters beside model and prompt."""

    @abstractmethod
    def make_client(self, key: str, http: httpx2.AsyncClient) -> Client:
        """Return the SDK's client, which sends only through `http`."""

    async def describe_model(self) -> Any:
        """Return the model's entry in the provider's list."""

    @property
    def sent(self) -> frozenset[str]:
        """The parameters' names, including the system prompt."""
        return frozenset(self.parameters()) | ({SYSTEM} if self.system_text else frozenset())

    @property
    def system_text(self) -> str:
        """The system prompt, "" if absent or unsupported."""
        return "" if SYSTEM in self.dropped else self.table.system_text

    def prompted(self, prompt: str) -> str:
        """Return the prompt, prefixed by an unsupported system prompt."""
        return f"{self.table.system_text}\n\n{prompt}" if self.table.system_text != self.system_text else prompt

    async def answer(
        self, read: Callable[[HttpResponse, str], ProviderResponse], request_sent: Awaitable[Any], call: JudgeCall
    ) -> ProviderResponse:
        """Return the reader's result for an SDK's request."""
        wire = await send_through_sdk(request_sent, self.table.address, call)
        return read_response(read, replace(wire, sent=self.sent), self.model, call)

    def connected(self) -> Client:
        """Return the SDK's client."""
        if self._client is None:
            key = api_key(self.table) or PLACEHOLDER_KEY  # before the SDKs' variables are hidden: it may be one of them
            # The account goes with the key to the provider itself: it is not another server's business.
            own = os.environ if self.table.address is None else {}
            self.account = {option: own.get(name) for option, name in self.table.record.account.items()}
            if self._http is None:
                self._http = http_client(http_library(self.sdk), self.table.address, self.table.timeout)
            with hide_sdk_variables():
                self._client = self.make_client(key, self._http)
        return self._client

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()
        self._client = self._http = None

    def forget(self) -> None:
        """Drop connections of a closed event loop."""
        self._client = self._http = None

    async def shutdown_date(self) -> str | None:
        """Return the model's shutdown date, or None."""
        if self.table.address is not None or not self.table.record.ends:
            return None
        try:
            return text_or_none(object_or_empty(await self.describe_model()).get(self.table.record.ends))
        except Exception:  # a courtesy: whatever goes wrong here must not cost a recording
            return None
