"""The part that sits in vcrpy: every HTTP call of a judge is played from, or recorded to, its condition.

One vcrpy context is entered per run of judge calls. A context variable says which call is in progress, so
calls of several conditions can be in flight; HTTP traffic outside of a judge call passes through untouched.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import ipaddress
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from judgefixtures.cassettes.caching import origin_of
from judgefixtures.cassettes.calls import CALL, Call, Postbox, PostponedError, Question
from judgefixtures.cassettes.files import JSON, CassetteError, Row, dump
from judgefixtures.cassettes.network import NetworkBlockedError, no_network
from judgefixtures.cassettes.thinning import thinned, unsigned, unspelled, untimed
from judgefixtures.reading.probabilities import VERDICT_MAY_END
from judgefixtures.words.secrets import KEY_LIKE, SCRUBBED, USER_INFO, as_text, know_request, redacted, redacted_json
from judgefixtures.words.texts import word_set

# /v1/, /v1beta/: SDKs move between them for the same call, so a version is not part of what was asked.
VERSION_SEGMENT = re.compile(r"/v\d+(?:alpha|beta)?\d*(?=/)")
# What servers say about the account or the single request, and the credentials that they hand out: never stored.
PRIVATE_FIELDS = word_set(
    "id responseId response_id request_id user user_id metadata organization organization_id account account_id "
    "safety_identifier project project_id prompt_cache_key access_token refresh_token id_token client_secret "
    "api_key"
)

# What recordings call the machine that a judge runs on, whatever its address says: servers print several of its names.
THIS_MACHINE = "127.0.0.1"

SDK_LIBRARIES = ("httpx", "httpx2")  # what the official SDKs send through: their older versions, and those of today


def is_this_machine(host: str) -> bool:
    """Tell whether a host name can only mean the machine that asks.

    >>> [is_this_machine(host) for host in ("localhost", "::1", "0.0.0.0", "10.0.0.1", "localhost.example")]
    [True, True, True, False, False]
    """
    try:
        address = ipaddress.ip_address(THIS_MACHINE if host.lower() == "localhost" else host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@functools.lru_cache(maxsize=256)
def endpoint_digest(method: str, uri: str, host: str | None = None) -> str:
    """Return a digest of method, host (no port), path (no version segment) and query (no keys) of a request.

    This machine has one name, whichever it was asked by; `host` is taken in its place.
    """
    parts = urlsplit(uri)
    host = host or _host(uri)
    path = VERSION_SEGMENT.sub("", parts.path)
    query = _query(sorted(parse_qsl(parts.query)))
    return hashlib.sha256(f"{method.upper()} {host}{path}{query}".encode()).hexdigest()[:32]


def _host(uri: str) -> str:
    host = str(urlsplit(uri).hostname)
    return THIS_MACHINE if is_this_machine(host) else host


def _earlier_hosts(uri: str) -> tuple[str, ...]:
    """Return the names by which recordings from before the one name for this machine may call a request's host."""
    if _host(uri) != THIS_MACHINE:
        return ()
    return tuple(dict.fromkeys((str(urlsplit(uri).hostname), "localhost", "::1")))


def _query(asked: Iterable[tuple[str, str]]) -> str:
    """Return a query without its keys, question mark included; empty where nothing is left."""
    kept = [(name, value) for name, value in asked if not KEY_LIKE.search(name)]
    return f"?{urlencode(kept)}" if kept else ""


def request_digest(
    method: str,
    uri: str,
    body: bytes,
    repeat: int = 0,
    occurrence: int = 0,
    host: str | None = None,
    unsaid: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Return what a request is found by: 32 hex digits over endpoint, canonical body and repeat.

    `unsaid` are fields that count as part of a JSON object.

    >>> a = request_digest("post", "http://h:1/v1/x", b'{"a":1, "b":2}')
    >>> a == request_digest("POST", "http://h:2/v1beta/x", b'{"b":2,"a":1}')
    True
    """
    try:
        found = json.loads(body)
        if unsaid and isinstance(found, dict):
            found |= unsaid
        canonical = json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        canonical = body
    head = f"{endpoint_digest(method, uri, host)} {repeat} {occurrence} ".encode()
    return hashlib.sha256(head + canonical).hexdigest()[:32]


@contextlib.contextmanager
def recording(*, only_sdks: bool, offline: bool, programs: bool = False) -> Iterator[None]:
    """Route HTTP through the calls' cassettes; with `offline`, a socket is an error that names the host.

    `only_sdks` patches what the official SDKs use and nothing else; a judge of the user's may use any
    client that vcrpy knows. Offline it may start no program, either, unless it may with `programs`.
    """
    with (
        no_network(_blocked, programs=programs or only_sdks) if offline else contextlib.nullcontext(),
        _routing().use(path="judgefixtures", skip_patchers=_skipped(only_sdks)),
    ):
        yield


def _blocked(error: NetworkBlockedError) -> None:
    if (call := CALL.get()) is not None:
        call.failure = error  # also where the judge's code catches it


def _skipped(only_sdks: bool) -> tuple[str, ...]:
    from vcr.patch import PATCHER_NAMES

    if "httpx2" not in PATCHER_NAMES:
        raise CassetteError("this vcrpy does not record httpx2, which the SDKs use: install vcrpy >= 9.4.")
    return tuple(name for name in PATCHER_NAMES if name not in SDK_LIBRARIES) if only_sdks else ()


@functools.cache
def _routing() -> Any:
    """Return the subclass of vcrpy's Cassette; made when used, because importing vcrpy takes 0.3 s."""
    from vcr.cassette import Cassette

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
            return call is not None and Exchange(call, request).can_play()

        def play_response(self, request: Any) -> dict[str, Any]:
            call = CALL.get()
            assert call is not None
            return Exchange(call, request).play()

        def append(self, request: Any, response: Any) -> None:
            if (call := CALL.get()) is not None:
                Exchange(call, request).receive(response)

        def find_requests_with_most_matches(self, _request: Any) -> list[Any]:
            return []  # vcrpy would compare the request with every recording

    return RoutingCassette


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request of a call in progress, as vcrpy shows it. It asks two or three times: what is found stays with it."""

    call: Call
    request: Any

    def can_play(self) -> bool:
        """Tell whether a recording or a batch answers; raises what ends the call where nothing may."""
        call, request = self.call, self.request
        if call.eager or not call.is_replayed:  # a judge of ours that replays holds no key but those of its table
            know_request(request.headers, request.uri)  # before anything can be said of the request
        call.check()  # the judge's code swallowed it and asks again
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
        """Return the answer of a recording; or a batch's, written down as one that came over the network."""
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
        """Take an answer of the network: kept as it arrives where the judge is eager, else when it is final."""
        call, status = self.call, response["status"]["code"]
        if call.eager and status >= 400:  # the judge's own code retries or raises: not an answer
            return
        received = _decoded(response)
        row = Row(
            self._digest(),
            call.pair,
            call.repeat,
            status,
            # A judge of the user's own may read any token's alternatives; ours reads those of its verdict.
            scrubbed(received if call.eager else _thin(received, call.decisive)),
            redacted(_header(response, "content-type")),
            location=_location(response),
            by="batch" if call.delivered else "",
            exact=call.eager,
        )
        request_alone = request_digest(self.request.method, self._address, self._body)
        call.pending.append((self._digest(0), row, origin_of(received, request_alone)))
        if call.eager:
            call.keep_answer()

    def _take_delivered(self, post: Postbox) -> bool:
        """Tell whether a batch answered; raise PostponedError where none did, with what is to be asked."""
        call, digest = self.call, self._digest()
        call.delivered = post.take(digest)
        waits = call.delivered is None and post.waits(digest)
        call.question = None if waits else Question(digest, self._body)
        if call.delivered is None:
            raise PostponedError
        return True

    def _find_row(self) -> Row | None:
        digest = self._digest()
        known: dict[str, Row] = self.request.__dict__.setdefault("_judgefixtures_rows", {})
        if digest not in known:
            row = self.call.find(digest)
            for host in _earlier_hosts(self._address) if row is None else ():
                row = row or self.call.find(self._digest(host=host))
            if row is not None:
                known[digest] = row
        return known.get(digest)

    def _digest(self, occurrence: int | None = None, host: str | None = None) -> str:
        """Return the request's digest: of this time that it is asked, unless another is meant."""
        if occurrence is None:
            occurrence = self.call.asked[self._digest(0)]
        known: dict[tuple[int, str | None], str] = self.request.__dict__.setdefault("_judgefixtures", {})
        if (key := (occurrence, host)) not in known:
            method, repeat, unsaid = self.request.method, self.call.repeat, self.call.unsaid
            known[key] = request_digest(method, self._address, self._body, repeat, occurrence, host, unsaid)
        return known[key]

    @property
    def _address(self) -> str:
        return self.call.address or str(self.request.uri)

    @property
    def _body(self) -> bytes:
        """The body as bytes: aiohttp hands vcrpy the object that it will write as JSON."""
        body = self.request.body_bytes
        if isinstance(body, bytes | bytearray) or body is None:
            return bytes(body or b"")
        return body.encode() if isinstance(body, str) else json.dumps(body, default=repr).encode()


def _thin(received: bytes, decisive: re.Pattern[bytes] | None) -> bytes:
    return thinned(untimed(unsigned(received)), decisive or VERDICT_MAY_END)


def _response(status: int, headers: dict[str, list[str]], body: bytes) -> dict[str, Any]:
    return {"status": {"code": status, "message": None}, "headers": headers, "body": {"string": body}}


def _header(response: Any, wanted: str) -> str:
    for name, values in response["headers"].items():
        if name.lower() == wanted:
            value = as_text(values)
            return JSON if value.partition(";")[0].strip() == JSON else value
    return JSON if wanted == "content-type" else ""


def _decoded(response: Any) -> bytes:
    """Return a body as the judge reads it: by the client that the SDKs use, in whichever way it was compressed."""
    import httpx2

    body = response["body"].get("string") or b""
    told = [values for name, values in response["headers"].items() if name.lower() == "content-encoding"]
    headers = [
        ("content-encoding", each) for values in told for each in ([values] if isinstance(values, str) else values)
    ]
    try:
        return httpx2.Response(response["status"]["code"], headers=headers, content=body).content
    except httpx2.DecodingError:  # what nobody can read is no answer
        return body


def _location(response: Any) -> str:
    """Return where a redirect leads, without the keys in its query; empty for any other response."""
    if not 300 <= response["status"]["code"] < 400:
        return ""
    whole, _, fragment = _header(response, "location").partition("#")
    address, _, query = whole.partition("?")
    kept = f"#{fragment}" if fragment and not KEY_LIKE.search(fragment) else ""
    return redacted(USER_INFO.sub("", address) + _query(parse_qsl(query)) + kept)


def scrubbed(body: bytes) -> bytes:
    """Return a response's body without account and request ids, and without any known secret."""
    body = unspelled(body)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return redacted(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    try:
        kept = redacted_json(_without_private(found))
        # Unchanged stays byte for byte: a judge may quote an answer in its next request.
        return body if kept == found else dump(kept)
    except RecursionError:
        return SCRUBBED.encode()  # nested beyond what can be looked through


def _without_private(found: Any) -> Any:
    """Return JSON with private fields emptied."""
    if isinstance(found, list):
        return [_without_private(item) for item in found]
    if not isinstance(found, dict):
        return found
    return {key: _emptied(value) if key in PRIVATE_FIELDS else _without_private(value) for key, value in found.items()}


def _emptied(value: Any) -> Any:
    """Return nothing, in the type of a private value: clients may insist on an id being there."""
    return SCRUBBED if isinstance(value, str) else type(value)()
