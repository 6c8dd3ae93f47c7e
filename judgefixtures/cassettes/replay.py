"""The part that sits in vcrpy: every HTTP call of a judge is played from, or recorded to, its condition.

One vcrpy context is entered per run of judge calls. A context variable says which call is in progress, so
calls of several conditions can be in flight; HTTP traffic outside of a judge call passes through untouched.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NoReturn
from unittest import mock
from urllib.parse import parse_qsl, urlencode, urlsplit

from judgefixtures.cassettes.files import JSON, CassetteError, Row, dump

# /v1/, /v1beta/: SDKs move between them for the same call, so a version is no part of what was asked.
VERSION_SEGMENT = re.compile(r"/v\d+(?:alpha|beta)?\d*(?=/)")
# What servers say about the account or the single request: never stored.
KEY_LIKE = re.compile(r"key|token|secret|auth|sig|credential|password", re.IGNORECASE)
PRIVATE_FIELDS = frozenset({"id", "responseId", "response_id", "request_id", "user", "user_id", "metadata",
                            "organization", "organization_id", "account", "account_id", "safety_identifier",
                            "project", "project_id", "prompt_cache_key"})  # fmt: skip
SCRUBBED = "scrubbed"
SHORTEST_SECRET = 6


class CassetteMissError(BaseException):
    """Nothing is recorded for a call in replay. A BaseException, so that no SDK catches and retries it."""


class NetworkBlockedError(BaseException):
    """Judge code tried to open a socket while replaying. A BaseException for the same reason."""


@dataclass(slots=True)
class Call:
    """A judge call in progress: which pair and repeat it answers, and where its recording lives.

    `find` looks a digest up, `keep` writes a row and returns it as written, `missing` raises with a diagnosis
    (None: ask the network).
    With `eager`, answers are kept as they arrive; without, when the judge says that they are final.
    """

    pair: str
    repeat: int
    find: Callable[[str], Row | None]
    keep: Callable[[Row], Row]
    missing: Callable[[], NoReturn] | None
    eager: bool = False
    asked: Counter[str] = field(default_factory=Counter)  # how often the same request was answered
    pending: list[tuple[str, Row]] = field(default_factory=list)
    played: list[Row] = field(default_factory=list)
    failure: BaseException | None = None
    recorded: bool = False  # an answer of this call came over the network
    online: bool = False  # the present attempt went to the network
    secrets: set[str] = field(default_factory=set)  # what its requests carried outside of their bodies


CALL: ContextVar[Call | None] = ContextVar("judgefixtures_call", default=None)


def keep_answer() -> None:
    """Write down what the call in progress received: the judge found it to be an answer, not an error."""
    call = CALL.get()
    if call is None:
        return
    while call.pending:
        plain, row = call.pending.pop(0)
        call.asked[plain] += 1
        try:
            call.played.append(call.keep(row))
        except Exception as error:
            call.failure = error  # also where the judge's code catches it
            raise
        call.recorded = True


def drop_answer() -> None:
    """Forget what the call in progress received: it is an error, and the next attempt starts from the beginning."""
    call = CALL.get()
    if call is not None:
        call.pending.clear()
        call.asked.clear()
        call.played.clear()
        call.online = False


def check_call() -> None:
    """Raise what ended the call in progress, where the judge's own code caught it."""
    call = CALL.get()
    if call is not None and call.failure is not None:
        raise call.failure


def is_recorded() -> bool:
    """Tell whether HTTP is routed through recordings just now."""
    return CALL.get() is not None


def was_played() -> bool:
    """Tell whether what the call in progress received came from a recording: asking again would not change it."""
    call = CALL.get()
    return call is not None and bool(call.played) and not call.online


def replaying() -> bool:
    """Tell whether the call in progress is answered from recordings alone."""
    call = CALL.get()
    return call is not None and call.missing is not None


@functools.lru_cache(maxsize=256)
def endpoint_digest(method: str, uri: str) -> str:
    """Return a digest of method, host (no port), path (no version segment) and query (no keys) of a request."""
    parts = urlsplit(uri)
    path = VERSION_SEGMENT.sub("", parts.path)
    query = _query(sorted(parse_qsl(parts.query)))
    return hashlib.sha256(f"{method.upper()} {parts.hostname}{path}{query}".encode()).hexdigest()[:32]


def _query(asked: Iterable[tuple[str, str]]) -> str:
    """Return a query without its keys, question mark included; empty where nothing is left."""
    kept = [(name, value) for name, value in asked if not KEY_LIKE.search(name)]
    return f"?{urlencode(kept)}" if kept else ""


def request_digest(method: str, uri: str, body: bytes, repeat: int = 0, occurrence: int = 0) -> str:
    """Return what a request is found by: 32 hex digits over endpoint, canonical body and repeat.

    >>> a = request_digest("post", "http://h:1/v1/x", b'{"a":1, "b":2}')
    >>> a == request_digest("POST", "http://h:2/v1beta/x", b'{"b":2,"a":1}')
    True
    """
    try:
        canonical = json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        canonical = body
    head = f"{endpoint_digest(method, uri)} {repeat} {occurrence} ".encode()
    return hashlib.sha256(head + canonical).hexdigest()[:32]


@contextlib.contextmanager
def recording(*, only_httpx2: bool, offline: bool) -> Iterator[None]:
    """Route HTTP through the calls' cassettes; with `offline`, a socket is an error that names the host.

    `only_httpx2` patches what the official SDKs use and nothing else; a judge of the user's may use any
    client that vcrpy knows.
    """
    with (
        _no_network() if offline else contextlib.nullcontext(),
        _routing().use(path="judgefixtures", skip_patchers=_skipped(only_httpx2)),
    ):
        yield


def _skipped(only_httpx2: bool) -> tuple[str, ...]:
    from vcr.patch import PATCHER_NAMES

    if "httpx2" not in PATCHER_NAMES:
        raise CassetteError("this vcrpy does not record httpx2, which both SDKs use: install vcrpy >= 9.4.")
    return tuple(name for name in PATCHER_NAMES if name != "httpx2") if only_httpx2 else ()


@functools.cache
def _routing() -> Any:
    """Return the subclass of vcrpy's Cassette; made when used, because importing vcrpy takes 0.3 s."""
    from vcr.cassette import Cassette
    from vcr.filters import decode_response

    class RoutingCassette(Cassette):  # type: ignore[misc]
        """Plays and records through the call in progress; holds no recordings itself."""

        write_protected = False  # without a call, traffic passes through

        def _load(self) -> None:
            self.rewound = True

        def _save(self, force: bool = False) -> None:
            """Nothing: every answer was written when it arrived."""

        def __len__(self) -> int:
            return 0

        def can_play_response_for(self, request: Any) -> bool:
            call = CALL.get()
            if call is None:
                return False
            if call.failure is not None:  # the judge's code swallowed it and asks again
                raise call.failure
            if _found(call, request) is not None:
                return True
            if call.missing is not None:
                try:
                    call.missing()
                except BaseException as failure:
                    call.failure = failure
                    raise
            call.online = True
            return False

        def play_response(self, request: Any) -> dict[str, Any]:
            call = CALL.get()
            assert call is not None
            row = _found(call, request)
            assert row is not None
            call.asked[_plain_digest(call, request)] += 1
            call.played.append(row)
            return {
                "status": {"code": row.status, "message": None},
                "headers": _headers_of(row),
                "body": {"string": row.body},
            }

        def append(self, request: Any, response: Any) -> None:
            call = CALL.get()
            if call is None:
                return
            secrets = _secrets(request)
            call.secrets.update(secrets)
            status = response["status"]["code"]
            if call.eager and status >= 400:  # the judge's own code retries or raises: not an answer
                return
            body = scrubbed(decode_response(response)["body"].get("string") or b"", secrets)
            plain = _plain_digest(call, request)
            location = without(_location(response), secrets)
            row = Row(_digest(call, request, call.asked[plain]), call.pair, call.repeat, status, body,
                      _header(response, "content-type"), location=location, exact=call.eager)  # fmt: skip
            call.pending.append((plain, row))
            if call.eager:
                keep_answer()

        def find_requests_with_most_matches(self, _request: Any) -> list[Any]:
            return []  # vcrpy would compare the request with every recording

    return RoutingCassette


def _headers_of(row: Row) -> dict[str, list[str]]:
    headers = {"content-type": [row.content_type]}
    return {**headers, "location": [row.location]} if row.location else headers


def _header(response: Any, wanted: str) -> str:
    for name, values in response["headers"].items():
        if name.lower() == wanted:
            value = _as_text(values)
            return JSON if value.partition(";")[0].strip() == JSON else value
    return JSON if wanted == "content-type" else ""


def _location(response: Any) -> str:
    """Return where a redirect leads, without the keys in its query; empty for any other response."""
    if not 300 <= response["status"]["code"] < 400:
        return ""
    address, _, query = _header(response, "location").partition("?")
    return address + _query(parse_qsl(query))


def _found(call: Call, request: Any) -> Row | None:
    """Return the row that answers a request, remembered on it: vcrpy asks whether there is one, then for it."""
    digest = _digest(call, request, call.asked[_plain_digest(call, request)])
    known: dict[str, Row] = request.__dict__.setdefault("_judgefixtures_rows", {})
    if digest not in known and (row := call.find(digest)) is not None:
        known[digest] = row
    return known.get(digest)


def _plain_digest(call: Call, request: Any) -> str:
    return _digest(call, request, 0)


def _digest(call: Call, request: Any, occurrence: int) -> str:
    """Return the request's digest, remembered on the request: vcrpy asks two or three times per call."""
    known: dict[int, str] = request.__dict__.setdefault("_judgefixtures", {})
    if occurrence not in known:
        body = _body_of(request)
        known[occurrence] = request_digest(request.method, request.uri, body, call.repeat, occurrence)
    return known[occurrence]


def scrubbed(body: bytes, secrets: Iterable[str]) -> bytes:
    """Return a response's body without account and request ids, and without any secret of its request."""
    secrets = list(secrets)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        for secret in secrets:
            body = body.replace(secret.encode(), SCRUBBED.encode())
        return body
    try:
        kept = _scrubbed_json(found, secrets)
        # Unchanged stays byte for byte: a judge may quote an answer in its next request.
        return body if kept == found else dump(kept)
    except RecursionError:
        return SCRUBBED.encode()  # nested beyond what can be looked through


def _scrubbed_json(found: Any, secrets: Sequence[str]) -> Any:
    """Return JSON with secrets replaced in every text, wherever an escape hid them, and private fields emptied."""
    if isinstance(found, str):
        return without(found, secrets)
    if isinstance(found, list):
        return [_scrubbed_json(item, secrets) for item in found]
    if not isinstance(found, dict):
        return found
    return {
        key: _emptied(value) if key in PRIVATE_FIELDS else _scrubbed_json(value, secrets)
        for key, value in found.items()
    }


def _emptied(value: Any) -> Any:
    """Return nothing, in the type of a private value: clients may insist on an id being there."""
    return SCRUBBED if isinstance(value, str) else type(value)()


def without(text: str, secrets: Iterable[str]) -> str:
    """Return a text in which every secret is replaced."""
    for secret in secrets:
        text = text.replace(secret, SCRUBBED)
    return text


def without_secrets(text: str) -> str:
    """Return a text without what the requests of the call in progress carried: servers repeat it in answers."""
    call = CALL.get()
    return without(text, sorted(call.secrets, key=len, reverse=True)) if call is not None and call.secrets else text


def _secrets(request: Any) -> list[str]:
    """Return the values a request carries outside of its body, the longest first."""
    values = [value for name, value in request.headers.items() if not _is_public(name.lower())]
    values += [value for name, value in request.query if KEY_LIKE.search(name)]
    words = {word for value in values for word in re.split(r"[\s;,=]+", _as_text(value))}
    # A word without a digit ("Bearer", "python") is no secret, and an answer may well contain it.
    kept = (word for word in words if len(word) >= SHORTEST_SECRET and any(map(str.isdigit, word)))
    return sorted(kept, key=len, reverse=True)


# Headers whose values are ordinary words ("application/json", "identity") that an answer may well contain.
PUBLIC_HEADERS = frozenset({"accept", "accept-encoding", "accept-language", "connection", "content-length",
                            "content-type", "host", "transfer-encoding", "user-agent", "te",
                            "x-goog-api-client"})  # fmt: skip


def _is_public(header: str) -> bool:
    return header in PUBLIC_HEADERS or header.startswith("x-stainless-")


def _body_of(request: Any) -> bytes:
    """Return a request's body as bytes: aiohttp hands vcrpy the object that it will write as JSON."""
    body = request.body_bytes
    if isinstance(body, bytes | bytearray) or body is None:
        return bytes(body or b"")
    return body.encode() if isinstance(body, str) else json.dumps(body, default=repr).encode()


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_as_text, value))
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


@contextlib.contextmanager
def _no_network() -> Iterator[None]:
    """Make every attempt to reach a host an error that names it; unix sockets and socket pairs still work."""
    real = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex", "sendto")}
    resolvers = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")

    def refuse(host: object, port: object = "") -> NoReturn:
        where = f"{host}:{port}" if port not in ("", None) else str(host)
        blocked = NetworkBlockedError(
            f"judge code tried to reach {where} while replaying recordings, where no network is allowed. "
            "Record the call with --judge-record missing, or remove it from the judge."
        )
        if (call := CALL.get()) is not None:
            call.failure = blocked  # also where the judge's code catches it
        raise blocked

    def guarded(name: str) -> Callable[..., Any]:
        def method(self: socket.socket, *args: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6):
                refuse(*args[-1][:2])  # the address comes last in all of them
            return real[name](self, *args)

        return method

    def resolve(host: object, port: object = "", *_args: Any, **_kwargs: Any) -> NoReturn:
        refuse(host.decode() if isinstance(host, bytes) else host, port)

    with contextlib.ExitStack() as stack:
        for name in real:
            stack.enter_context(mock.patch.object(socket.socket, name, guarded(name)))
        for name in resolvers:
            stack.enter_context(mock.patch.object(socket, name, resolve))
        yield
