"""Adapter to vcrpy: replay or record a judge's HTTP calls in their condition.

A context variable names the current call; other traffic passes unchanged.
"""

import contextlib
import functools
import hashlib
import ipaddress
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from judgefixtures.parsing.verdict_probabilities import VERDICT_MAY_END
from judgefixtures.util import secrets
from judgefixtures.util.texts import word_set

from .cache_detection import response_origin
from .calls import CALL, BatchRoute, DeferredToBatchError, JudgeCall, RecordedRequest
from .files import JSON, CassetteError, CassetteRow, dump_json
from .network import NetworkBlockedError, block_network
from .response_filter import drop_secret_logprobs, drop_thinking_signatures, drop_timings, keep_verdict_logprobs

# /v1/, /v1beta/: SDKs move between them for the same call, so a version is not part of what was asked.
VERSION_SEGMENT = re.compile(r"/v\d+(?:alpha|beta)?\d*(?=/)")
# What servers say about the account or the single request, and the credentials that they hand out: never stored.
PRIVATE_FIELDS = word_set(
    "id responseId response_id request_id user user_id metadata organization organization_id account account_id "
    "safety_identifier project project_id prompt_cache_key access_token refresh_token id_token client_secret "
    "api_key"
)
CAUSES = ("raw", "reasons")  # what a gateway's error says of its cause, in its metadata

# What recordings call the machine that a judge runs on, whatever its address says: servers print several of its names.
THIS_MACHINE = "127.0.0.1"

SDK_LIBRARIES = ("httpx", "httpx2")  # what the official SDKs send through: their older versions, and those of today
LISTENING = (*SDK_LIBRARIES, "aiohttp")


def is_loopback_host(host: str) -> bool:
    """Return whether a host name is this machine.

    >>> [is_loopback_host(host) for host in ("localhost", "::1", "0.0.0.0", "10.0.0.1", "localhost.example")]
    [True, True, True, False, False]
    """
    try:
        address = ipaddress.ip_address(THIS_MACHINE if host.lower() == "localhost" else host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@functools.lru_cache(maxsize=256)
def endpoint_digest(method: str, uri: str, host: str | None = None) -> str:
    """Return a digest of method, host, path and query.

    Port, API version and keys are left out; `host` replaces the host.
    """
    parts = urlsplit(uri)
    host = host or _host(uri)
    path = VERSION_SEGMENT.sub("", parts.path)
    query = _query(sorted(parse_qsl(parts.query)))
    return hashlib.sha256(f"{method.upper()} {host}{path}{query}".encode()).hexdigest()[:32]


def _host(uri: str) -> str:
    host = str(urlsplit(uri).hostname)
    return THIS_MACHINE if is_loopback_host(host) else host


def _earlier_hosts(uri: str) -> tuple[str, ...]:
    if _host(uri) != THIS_MACHINE:
        return ()
    return tuple(dict.fromkeys((str(urlsplit(uri).hostname), "localhost", "::1")))


def _query(parameters: Iterable[tuple[str, str]]) -> str:
    kept = [(name, value) for name, value in parameters if not secrets.KEY_LIKE.search(name)]
    return f"?{urlencode(kept)}" if kept else ""


def request_digest(
    method: str,
    uri: str,
    body: bytes,
    repeat: int = 0,
    occurrence: int = 0,
    host: str | None = None,
    unsaid: Mapping[str, Any] = MappingProxyType({}),
    place: str = "",
) -> str:
    """Return a request's key: 32 hex digits over endpoint, body and repeat.

    `unsaid` fields count as part of the body. `place` restricts it to an example and condition.

    >>> a = request_digest("post", "http://h:1/v1/x", b'{"a":1, "b":2}')
    >>> a == request_digest("POST", "http://h:2/v1beta/x", b'{"b":2,"a":1}')
    True
    """
    try:
        fields = json.loads(body)
        if unsaid and isinstance(fields, dict):
            fields |= unsaid
        canonical = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        canonical = body
    head = f"{endpoint_digest(method, uri, host)} {repeat} {occurrence} {place}".encode()
    return hashlib.sha256(head + canonical).hexdigest()[:32]


@contextlib.contextmanager
def record_http(*, only_sdks: bool, offline: bool, programs: bool = False, listens: bool = False) -> Iterator[None]:
    """Route HTTP through the cassettes; with `offline`, block the network.

    Args:
        only_sdks: Patch only the official SDKs' clients.
        listens: Patch only the clients that many threads can use at once, to read what passes.
        offline: Raise an error for network access.
        programs: Allow programs offline.
    """
    patched = LISTENING if listens else SDK_LIBRARIES if only_sdks else ()
    with (
        block_network(_blocked, programs=programs or only_sdks) if offline else contextlib.nullcontext(),
        _routing().use(path="judgefixtures", skip_patchers=_skipped(patched)),
    ):
        yield


def _blocked(error: NetworkBlockedError) -> None:
    if (call := CALL.get()) is not None:
        call.failure = error  # also where the judge's code catches it


def _skipped(patched: tuple[str, ...]) -> tuple[str, ...]:
    from vcr.patch import PATCHER_NAMES

    if "httpx2" not in PATCHER_NAMES:
        raise CassetteError("this vcrpy does not record httpx2, which the SDKs use: install vcrpy >= 9.4.")
    return tuple(name for name in PATCHER_NAMES if name not in patched) if patched else ()


@functools.cache
def _routing() -> Any:
    """Return vcrpy's Cassette subclass, made late as vcrpy imports slowly."""
    from vcr.cassette import Cassette

    class RoutingCassette(Cassette):  # type: ignore[misc]
        write_protected = False  # without a call, traffic passes through

        def _load(self) -> None:
            self.rewound = True

        def _save(self, force: bool = False) -> None:
            """Do nothing: answers are already written."""

        def __len__(self) -> int:
            return 0

        def can_play_response_for(self, request: Any) -> bool:
            call = CALL.get()
            return call is not None and HttpExchange(call, request).can_play()

        def play_response(self, request: Any) -> dict[str, Any]:
            call = CALL.get()
            assert call is not None
            return HttpExchange(call, request).play()

        def append(self, request: Any, response: Any) -> None:
            if (call := CALL.get()) is not None:
                HttpExchange(call, request).receive(response)

        def find_requests_with_most_matches(self, _request: Any) -> list[Any]:
            return []  # vcrpy would compare the request with every recording

    return RoutingCassette


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """A request of a call in progress, as vcrpy shows it."""

    call: JudgeCall
    request: Any

    def can_play(self) -> bool:
        """Return whether a recording or batch answers; raise if nothing may."""
        call, request = self.call, self.request
        if (
            call.record_at_once or not call.is_replayed
        ):  # a judge of ours that replays holds no key but those of its table
            secrets.register_request_secrets(request.headers, request.uri)  # before anything can be said of the request
        call.check()  # the judge's code swallowed it and asks again
        if call.listener is not None or self._is_foreign:
            return False
        if self._find_row() is not None:
            return True
        if call.missing is not None:
            try:
                call.missing()
            except BaseException as failure:
                call.fail(failure)
        call.online = True
        return call.post is not None and self._take_delivered(call.post)

    def play(self) -> dict[str, Any]:
        """Return the recorded or batch answer."""
        call, row = self.call, self._find_row()
        if row is None:
            assert call.delivered is not None
            response = _response(call.delivered.status, {"content-type": [JSON]}, call.delivered.body)
            self.receive(response)
            return response
        call.asked[self._digest(0)] += 1
        call.play(row)
        headers = {"content-type": [row.content_type], **({"location": [row.location]} if row.location else {})}
        return _response(row.status, headers, row.body)

    def receive(self, response: Any) -> None:
        """Take a network answer, kept now or when final."""
        call, status = self.call, response["status"]["code"]
        secrets.register_request_secrets({"cookie": _header(response, "set-cookie").partition(";")[0]}, "")
        if call.listener is not None:
            call.listener(str(self.request.uri), _decoded(response))
            return
        if self._is_foreign:
            return
        if call.record_at_once and status >= 400:  # the judge's own code retries or raises: not an answer
            return
        received = _decoded(response)
        # A judge of the user's own may read any token's alternatives; ours reads those of its verdict.
        kept = received
        if not call.record_at_once:
            kept = drop_timings(drop_thinking_signatures(received))
            kept = keep_verdict_logprobs(kept, call.verdict_pattern or VERDICT_MAY_END)
        row = CassetteRow(
            self._digest(),
            call.pair,
            call.repeat,
            status,
            scrub_body(kept),
            secrets.redact(_content_type(_header(response, "content-type"))),
            location=(location := _location(response)),
            by="batch" if call.delivered else "",
            own=bool(call.place),
            exact=call.record_at_once,
        )
        if location:  # a replay is sent there, so that what is asked there is found by that
            with contextlib.suppress(ValueError):  # a client that cannot read it, either, sends nothing there
                there = urljoin(self._address, _header(response, "location"))
                call.moved[endpoint_digest("", there)] = urljoin(self._address, location)
        request_alone = request_digest(self.request.method, self._address, self._body)
        call.pending.append((self._digest(0), row, response_origin(received, request_alone)))
        if call.record_at_once:
            call.keep_answer()

    def _take_delivered(self, post: BatchRoute) -> bool:
        call, digest = self.call, self._digest()
        call.delivered = post.take(digest)
        waits = call.delivered is None and post.waits(digest)
        call.question = None if waits else RecordedRequest(digest, self._body)
        if call.delivered is None:
            raise DeferredToBatchError
        return True

    def _find_row(self) -> CassetteRow | None:
        digest = self._digest()
        known: dict[str, CassetteRow] = self.request.__dict__.setdefault("_judgefixtures_rows", {})
        if digest not in known:
            hosts, places = (None, *_earlier_hosts(self._address)), (None, "") if self.call.takes_shared else (None,)
            ends = (False, True) if any("\n" in text for text in self.call.texts) else (False,)
            ways = itertools.product(places, ends, hosts)
            rows = (self.call.find(self._digest(host=host, place=place, crlf=crlf)) for place, crlf, host in ways)
            row = next(filter(None, rows), None)
            if row is not None:
                known[digest] = row
        return known.get(digest)

    def _digest(
        self, occurrence: int | None = None, host: str | None = None, place: str | None = None, *, crlf: bool = False
    ) -> str:
        """Return the request's digest.

        `crlf` is for recordings made with a checkout's changed line ends.
        """
        place = self.call.place if place is None else place
        if occurrence is None:
            occurrence = self.call.asked[self._digest(0)]
        known: dict[tuple[int, str | None, str, bool], str] = self.request.__dict__.setdefault("_judgefixtures", {})
        if (key := (occurrence, host, place, crlf)) not in known:
            method, repeat, unsaid = self.request.method, self.call.repeat, self.call.ignored_fields
            body = with_crlf(self._body, self.call.texts) if crlf else self._body
            known[key] = request_digest(method, self._address, body, repeat, occurrence, host, unsaid, place)
        return known[key]

    @property
    def _is_foreign(self) -> bool:
        """Whether the request goes to a host that is none of the judge's."""
        return bool(self.call.hosts) and urlsplit(self._address).hostname not in self.call.hosts

    @property
    def _address(self) -> str:
        uri = str(self.request.uri)
        return self.call.address or self.call.moved.get(endpoint_digest("", uri), uri)

    @property
    def _body(self) -> bytes:
        body = self.request.body_bytes
        if isinstance(body, bytes | bytearray) or body is None:
            return bytes(body or b"")
        return body.encode() if isinstance(body, str) else json.dumps(body, default=repr).encode()


def with_crlf(body: bytes, texts: Iterable[str]) -> bytes:
    r"""Return a JSON body with `\r\n` for the texts' line ends.

    >>> with_crlf(b'{"prompt": "Judge:\\nSo,\\nno."}', ["So,\nno."])
    b'{"prompt": "Judge:\\nSo,\\r\\nno."}'
    """
    try:
        body = json.dumps(json.loads(body)).encode()
    except (ValueError, RecursionError):
        return body
    for text in sorted(texts, key=len, reverse=True):  # one text may be a part of another
        plain, other = (json.dumps(each)[1:-1].encode() for each in (text, text.replace("\n", "\r\n")))
        body = body.replace(plain, other)
    return body


def _response(status: int, headers: dict[str, list[str]], body: bytes) -> dict[str, Any]:
    return {"status": {"code": status, "message": None}, "headers": headers, "body": {"string": body}}


def _header(response: Any, wanted: str) -> str:
    for name, values in response["headers"].items():
        if name.lower() == wanted:
            value = secrets.header_text(values)
            return JSON if value.partition(";")[0].strip() == JSON else value
    return JSON if wanted == "content-type" else ""


def _content_type(value: str) -> str:
    kind, *more = (part.strip() for part in value.split(";"))
    return "; ".join([kind, *(each for each in more if each.lower().startswith(("charset=", "boundary=")))])


def _decoded(response: Any) -> bytes:
    import httpx2

    body = response["body"].get("string") or b""
    encodings = [values for name, values in response["headers"].items() if name.lower() == "content-encoding"]
    headers = [
        ("content-encoding", each) for values in encodings for each in ([values] if isinstance(values, str) else values)
    ]
    try:
        return httpx2.Response(response["status"]["code"], headers=headers, content=body).content
    except httpx2.DecodingError:  # what nobody can read is no answer
        return body


def _location(response: Any) -> str:
    if not 300 <= response["status"]["code"] < 400:
        return ""
    return secrets.redact(secrets.USER_INFO.sub("", re.split(r"[?#]", _header(response, "location"), maxsplit=1)[0]))


def scrub_body(body: bytes) -> bytes:
    """Return a response body without account ids, request ids and secrets."""
    body = drop_secret_logprobs(body)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return secrets.redact(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    try:
        kept = secrets.redacted_json(_without_private(value))
        # Unchanged stays byte for byte: a judge may quote an answer in its next request.
        return body if kept == value else dump_json(kept)
    except RecursionError:
        return secrets.SCRUBBED.encode()  # nested beyond what can be looked through


def _without_private(content: Any, holder: str = "") -> Any:
    if isinstance(content, list):
        return [_without_private(item) for item in content]
    if not isinstance(content, dict):
        return content
    kept = {}
    for key, value in content.items():
        if (holder, key) == ("error", "metadata") and isinstance(value, dict):
            kept[key] = {name: _cause(value[name]) for name in CAUSES if name in value}
        else:
            kept[key] = _emptied(value) if key in PRIVATE_FIELDS else _without_private(value, key)
    return kept


def _cause(value: Any) -> Any:
    if not isinstance(value, str):
        return _without_private(value)
    return scrub_body(value.encode("utf-8", "replace")).decode("utf-8", "replace")


def _emptied(value: Any) -> Any:
    return secrets.SCRUBBED if isinstance(value, str) else type(value)()
