"""Batch API of all providers: the shared protocol, limits, states and results.

The package batches/ manages a run's requests.
"""

from __future__ import annotations

import asyncio
import datetime
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from judgefixtures.cassettes.calls import BatchAnswer
from judgefixtures.cassettes.files import dump_json
from judgefixtures.providers import FatalJudgeError, RetryableError
from judgefixtures.util.secrets import redact
from judgefixtures.util.texts import parse_json

from .error_classification import classify_failure
from .http import HttpProvider, HttpResponse, object_or_empty, send_through_sdk, text_or_none, was_never_sent
from .quotas import server_time

T = TypeVar("T")
P = TypeVar("P", bound=HttpProvider[Any])

ATTEMPTS = 4  # of what may be asked again without paying again
FIRST_WAIT = 0.5  # seconds before the second; doubles from there
EXAMPLE = 300  # characters of a line that nobody can read
REPLACED = "\ufffd"  # what stands in a garbled text for every byte that is none
# The statuses with which a provider says, in its own form, that it makes no batch of a request. All else (a conflict, a
# timeout, whatever a gateway says in its own words) may come after a batch was made.
REFUSING = frozenset({400, 401, 403, 404, 413, 422})
LATER = 429  # says so, too; a gateway that tries again by itself may say it of its last attempt alone
SKEW = datetime.timedelta(days=1)  # by which clocks may differ

# What a line says: of which question, with which status it was answered and how, or None and why it was not.
Said = tuple[Any, int | None, Any]
Page = tuple[list[dict[str, Any]], str | None]  # of a list: batches, and what the next page is asked for by


class NotSentError(Exception):
    """A batch certainly does not exist and costs nothing."""


class BatchRejectedError(NotSentError):
    """The provider rejects the batch."""


class BatchDeferredError(RetryableError):
    """The provider cannot create a batch now."""


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One question of a batch: its id and request body."""

    id: str
    body: bytes


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The limits of one batch."""

    lines: int
    size: int  # bytes, all lines together


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch's status, number of answers and raw response."""

    ended: bool
    word: str
    counted: int | None = None
    said: str = ""
    raw: Any = None


@dataclass(slots=True)
class BatchResults:
    """A batch's answers and failures by question id; `whole` if complete."""

    batch: str = ""
    answers: dict[str, BatchAnswer] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    duplicates: int = 0
    nameless: int = 0  # lines that do not say which question they are about
    whole: bool = True
    example: str = ""  # the first line of a form that is not known

    def add(self, name: str, status: int, body: Any, model: str) -> None:
        """Add a question's response; the first answer wins over failures."""
        if name in self.answers:
            self.duplicates += 1
            return
        delivered = BatchAnswer(status, body if isinstance(body, bytes) else dump_json(body), self.batch)
        if why := unusable_reason(delivered, model):
            self.fail(name, why)
            return
        self.duplicates += name in self.failed
        self.failed.pop(name, None)
        self.answers[name] = delivered

    def take(self, rows: Iterable[dict[str, Any]], read: Callable[[dict[str, Any]], Said], model: str) -> BatchResults:
        """Add all result lines."""
        for row in rows:
            name, status, body = read(row)
            if not isinstance(name, str):
                self.nameless += 1
            elif status is None:
                self.fail(name, body or self.strange(row))
            else:
                self.add(name, status, body, model)
        return self

    def strange(self, row: Mapping[str, Any]) -> str:
        """Return the fault of a line of unknown form."""
        self.example = self.example or redact(dump_json(row).decode("utf-8", "replace"))[:EXAMPLE]
        return f"an answer of unknown form, such as {self.example}"

    def fail(self, name: str, why: str) -> None:
        """Note why a question has no answer."""
        if name not in self.answers:
            self.failed.setdefault(name, why)


class BatchProvider(ABC, Generic[P]):
    """Interface of a provider's batches.

    `window` limits a batch's run time, `key` is its id field, `clock` the provider's time. Methods may raise
    RetryableError or FatalJudgeError.
    """

    limits: BatchLimits
    window = datetime.timedelta(hours=24)
    key = "id"

    def __init__(self, provider: P) -> None:
        self.provider = provider
        self.clock: datetime.datetime | None = None

    @abstractmethod
    async def send(self, intent: str, lines: Sequence[BatchLine], about_to: Callable[[], object] = ..., /) -> str:
        """Create a batch and return its id, or raise NotSentError.

        `about_to` is called right before the paid request.
        """

    async def find(
        self, intent: str, since: datetime.datetime, _ids: frozenset[str], _taken: frozenset[str], /
    ) -> str | None:
        """Return the id of an intent's batch created since then, or None.

        Raises:
            UncertainError: The answer is not known yet.
        """
        async for batch in self.listed(since):
            if self.intent_of(batch) == intent:
                return batch_id(batch, self.key)
        return None

    async def listed(self, since: datetime.datetime) -> AsyncIterator[dict[str, Any]]:
        """Yield the listed batches, latest first, until older ones."""
        async for batches in list_pages(self.show_page):
            for batch in batches:
                yield batch
            if all_before([self.moment_of(batch) for batch in batches], since):
                return

    @abstractmethod
    async def show_page(self, after: str | None) -> Page:
        """Return a page of the provider's list."""

    def intent_of(self, batch: Mapping[str, Any]) -> object:  # noqa: ARG002 (where a batch can be given no name)
        """Return the intent in a batch's name."""
        return None

    def moment_of(self, batch: Mapping[str, Any]) -> Any:
        """Return a batch's creation time."""
        return batch.get("created_at")

    @abstractmethod
    def refuses(self, body: Mapping[str, Any]) -> bool:
        """Return whether a body is the provider's error."""

    @abstractmethod
    async def look(self, batch: str, /) -> BatchState:
        """Return a batch's state."""

    @abstractmethod
    async def fetch(self, batch: str, state: BatchState, /) -> BatchResults:
        """Return the results of an ended batch, as far as downloadable."""

    async def close(self) -> None:
        """Close the connections."""
        await self.provider.close()

    async def ask(self, sent: Awaitable[Any]) -> Any:
        """Return the JSON of a response."""
        return response_json(await self.exchange(sent), self.provider.model)

    async def exchange(self, sent: Awaitable[Any]) -> HttpResponse:
        """Return a response as it arrived."""
        return await send_through_sdk(sent, self.provider.table.base_url)

    async def page(self, sent: Awaitable[Any], key: str, *, may_lack: bool = False) -> tuple[Any, list[dict[str, Any]]]:
        """Return a list page and its batches under `key`; sets the clock."""
        wire = await self.exchange(sent)
        self.clock = datetime.datetime.fromtimestamp(server_time(wire.headers), datetime.UTC)
        page = response_json(wire, self.provider.model)
        rows = page.get(key, [] if may_lack else None)
        if not isinstance(rows, list):
            raise RetryableError(f"a list of batches without {key}")
        return page, [row for row in rows if isinstance(row, dict)]

    async def make(self, sent: Awaitable[Any]) -> str:
        """Return the created batch's id, or raise NotSentError."""
        try:
            wire = await self.exchange(sent)
        except (RetryableError, FatalJudgeError) as error:
            if was_never_sent(error):
                raise NotSentError(str(error)) from None
            raise
        try:
            return batch_id(response_json(wire, self.provider.model), self.key)
        except (RetryableError, FatalJudgeError) as error:
            own = wire.status in (*REFUSING, LATER) and self.refuses(object_body(wire))
            if own and wire.status != LATER:
                raise BatchRejectedError(str(error)) from None
            raise BatchDeferredError(str(error)) if own else error from None

    async def upload(self, ask: Callable[[], Awaitable[Any]], read: Callable[[Any], Any], what: str) -> str:
        """Return an uploaded file's name, or raise NotSentError."""
        try:
            file = text_or_none(read(await retry_safely(lambda: self.ask(ask()))))
        except (RetryableError, FatalJudgeError) as error:
            raise NotSentError(f"the questions could not be uploaded: {error}") from None
        if file is None:
            raise NotSentError(f"the server gave the uploaded questions no {what}")
        return file

    async def download(self, sent: Awaitable[Any]) -> tuple[list[dict[str, Any]], bool]:
        """Return the objects of JSON lines, and whether all are valid."""
        wire = await self.exchange(sent)
        if not 200 <= wire.status < 300:
            response_json(wire, self.provider.model)
        text = [line for line in wire.body.split("\n") if not (wire.garbled and REPLACED in line)]
        objects, whole = json_lines("\n".join(text).encode("utf-8", "surrogateescape"))
        return objects, whole and not wire.garbled


class UncertainError(Exception):
    """A running batch may be the wanted one."""


async def retry_safely(ask: Callable[[], Awaitable[T]]) -> T:
    """Return a free call's result, retried."""
    for attempt in range(ATTEMPTS - 1):
        try:
            return await ask()
        except RetryableError as error:
            await asyncio.sleep(min(error.retry_after or FIRST_WAIT * 2.0**attempt, 30.0))
    return await ask()


def response_json(wire: HttpResponse, model: str) -> Any:
    """Return a response's JSON.

    Raises BatchNotFoundError, RetryableError or FatalJudgeError.
    """
    if wire.status == 404:
        raise BatchNotFoundError(f"HTTP 404: {wire.body[:200]}")
    if not 200 <= wire.status < 300:
        refused = classify_failure(wire, model)
        raise FatalJudgeError(refused.detail)
    body = wire.json()
    if not isinstance(body, dict):
        raise RetryableError("a response that is not a JSON object")
    return body


def object_body(wire: HttpResponse) -> Mapping[str, Any]:
    """Return a response's JSON object, else {}."""
    body = parse_json(wire.body)
    return object_or_empty(body[0] if isinstance(body, list) and len(body) == 1 else body)


async def list_pages(ask: Callable[[str | None], Awaitable[Page]]) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield a list's pages; RetryableError if it does not end."""
    after: str | None = None
    seen: set[str | None] = set()
    while after not in seen:
        seen.add(after)
        batches, after = await ask(after)
        yield batches
        if after is None:
            return
    raise RetryableError("the list of batches restarts before its end")


def all_before(batches: Sequence[Any], since: datetime.datetime) -> bool:
    """Return whether all times are certainly earlier."""
    times = [parse_time(each) for each in batches]
    return bool(times) and all(each is not None and each < since - SKEW for each in times)


def line_status(value: Any) -> int | None:
    """Return the HTTP status in a result line, or None.

    >>> [line_status(value) for value in (200, "200", 200.0, " 400 ", "200.0", True, "ok", None)]
    [200, 200, 200, 400, 200, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else None


def batch_id(batch: dict[str, Any], key: str = "id") -> str:
    """Return a batch's id, or raise RetryableError."""
    if (name := text_or_none(batch.get(key))) is None:
        raise RetryableError(f"a batch without {key}")
    return name


class BatchNotFoundError(FatalJudgeError):
    """The provider knows no such batch or file."""


def unusable_reason(delivered: BatchAnswer, model: str) -> str:
    """Return why a result is asked again, or ""."""
    if 200 <= delivered.status < 300:
        return ""
    try:
        classify_failure(HttpResponse(delivered.status, {}, delivered.body.decode("utf-8", "replace")), model)
    except (RetryableError, FatalJudgeError) as error:
        return str(error)
    return ""


def on_one_line(body: bytes) -> bytes:
    """Return a JSON body without line ends."""
    return dump_json(json.loads(body)) if b"\n" in body or b"\r" in body else body


def json_lines(content: bytes) -> tuple[list[dict[str, Any]], bool]:
    r"""Return the objects of JSON lines, and whether all are valid.

    >>> json_lines(b'{"a": 1}\n{"a": ')
    ([{'a': 1}], False)
    """
    rows = [parse_json(line) for line in content.splitlines() if line.strip()]
    objects = [row for row in rows if isinstance(row, dict)]
    return objects, len(objects) == len(rows)


def parse_time(text: Any) -> datetime.datetime | None:
    """Return a time in seconds since 1970 or RFC 3339, or None.

    >>> parse_time("2026-11-22T10:00:00Z") == parse_time(1795341600)
    True
    """
    try:
        if isinstance(text, int | float):
            return datetime.datetime.fromtimestamp(text, datetime.UTC)
        time = datetime.datetime.fromisoformat(text)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=datetime.UTC)
