"""Batches: many questions sent at once, answered within a day at half the price.

Here is what every provider's batches have in common: the seam to them, one class per wire format. The list of what was
sent is in manifest.py, and what happens to a run's questions in mail.py. docs/batch.md says what is promised.
"""

from __future__ import annotations

import asyncio
import datetime
import importlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from judgefixtures.cassettes.files import dump
from judgefixtures.cassettes.replay import Delivered
from judgefixtures.config import JudgeTable
from judgefixtures.errors import JudgeFixturesError
from judgefixtures.providers import FatalJudgeError, RetryableError
from judgefixtures.providers.wire import Wire, failure, text_or_none

T = TypeVar("T")

ATTEMPTS = 4  # of what may be asked again without paying again
FIRST_WAIT = 0.5  # seconds before the second; doubles from there
REPLACED = "\ufffd"  # what stands in a garbled text for every byte that is none


class NotSentError(Exception):
    """A batch was certainly not made: nothing of it is paid for."""


@dataclass(frozen=True, slots=True)
class Line:
    """One question of a batch: its id in there, and the body of the request as the SDK was about to send it."""

    id: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one batch may hold."""

    lines: int
    size: int  # bytes, all lines together


@dataclass(frozen=True, slots=True)
class State:
    """Where a batch stands: still running or ended, in the provider's own word, and how many answers it counts.

    `raw` is what the provider said, for the one class that understands it.
    """

    ended: bool
    word: str
    counted: int | None = None
    said: str = ""
    raw: Any = None


@dataclass(slots=True)
class Results:
    """What a batch has to say, by the ids of its questions: answers, and why there are none.

    Not `whole`: the download is known to lack some, which may have been answered. Whether it has as many as the
    provider counts is for whoever knows what was asked.
    """

    answers: dict[str, Delivered] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    duplicates: int = 0
    nameless: int = 0  # lines that do not say which question they are about
    whole: bool = True

    def add(self, name: str, status: int, body: Any, model: str, batch: str) -> None:
        """Add what came for a question: the first answer counts, and an answer more than a failure."""
        if name in self.answers:
            self.duplicates += 1
            return
        delivered = Delivered(status, body if isinstance(body, bytes) else dump(body), batch)
        if why := why_none(delivered, model):
            self.fail(name, why)
            return
        self.duplicates += name in self.failed
        self.failed.pop(name, None)
        self.answers[name] = delivered

    def fail(self, name: str, why: str) -> None:
        """Note that a question was not answered."""
        if name not in self.answers:
            self.failed.setdefault(name, why)


class BatchProvider(Protocol):
    """The seam to a provider's batches. Every method may raise RetryableError or FatalJudgeError."""

    limits: Limits

    async def send(self, intent: str, lines: Sequence[Line], /) -> str:
        """Make a batch that can be found by its intent, and return its id; NotSentError where there surely is none."""
        ...  # pragma: no cover

    async def find(
        self, intent: str, since: datetime.datetime, ids: frozenset[str], taken: frozenset[str], /
    ) -> str | None:
        """Return the id of the batch that an intent led to, None where there is none.

        `ids` are those of its questions, `taken` are batches that others led to. Raises UncertainError where
        that cannot be told yet.
        """
        ...  # pragma: no cover

    async def look(self, batch: str) -> State:
        """Return where a batch stands."""
        ...  # pragma: no cover

    async def fetch(self, batch: str, state: State, /) -> Results:
        """Return what a batch that has ended has to say, as far as it can be downloaded."""
        ...  # pragma: no cover

    async def close(self) -> None:
        """Close the connections."""
        ...  # pragma: no cover


class UncertainError(Exception):
    """A batch is running that may be the one that is looked for; its questions cannot be seen before it ends."""


PROVIDERS = {
    "openai": "judgefixtures.batches.openai:OpenAIBatches",
    "google": "judgefixtures.batches.google:GoogleBatches",
    "anthropic": "judgefixtures.batches.anthropic:AnthropicBatches",
}


def offers_batches(table: JudgeTable) -> bool:
    """Tell whether a judge's provider has batches that are spoken here."""
    return table.provider in PROVIDERS and getattr(table, "connection", None) is None  # Vertex's are not Gemini's


def load_batches(name: str, table: JudgeTable) -> BatchProvider:
    """Return the batches of a judge's provider; raises JudgeFixturesError where it has none."""
    if not offers_batches(table):
        raise JudgeFixturesError(
            f'judge {name!r}: there are no batches here of provider = "{table.provider}" as it is reached, only of '
            f"{', '.join(sorted(PROVIDERS))} themselves: record this judge without --judge-batch."
        )
    room, _, kind = PROVIDERS[table.provider].partition(":")
    provider: BatchProvider = getattr(importlib.import_module(room), kind)(table)
    return provider


async def patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """Return what a call returns that may be made again without paying again; raises its last fault."""
    for attempt in range(ATTEMPTS - 1):
        try:
            return await ask()
        except RetryableError as error:
            await asyncio.sleep(min(error.retry_after or FIRST_WAIT * 2.0**attempt, 30.0))
    return await ask()


def good(wire: Wire, model: str) -> Any:
    """Return the JSON of a response; raises NotFoundError, RetryableError or FatalJudgeError for any other."""
    if wire.status == 404:
        raise NotFoundError(f"HTTP 404: {wire.body[:200]}")
    if not 200 <= wire.status < 300:
        refused = failure(wire, model)
        raise FatalJudgeError(refused.detail)
    found = wire.json()
    if not isinstance(found, dict):
        raise RetryableError("a response that is not a JSON object")
    return found


def made(wire: Wire, model: str) -> Any:
    """Return the batch that a response says was made; raises NotSentError where it says that none was."""
    try:
        return good(wire, model)
    except (RetryableError, FatalJudgeError) as error:
        if 400 <= wire.status < 500:
            raise NotSentError(str(error)) from None
        raise


def named(batch: dict[str, Any], key: str = "id") -> str:
    """Return what a provider knows a batch by; raises RetryableError where it says nothing of that."""
    if (name := text_or_none(batch.get(key))) is None:
        raise RetryableError(f"a batch without {key}")
    return name


class NotFoundError(FatalJudgeError):
    """The provider knows no such batch or file."""


def why_none(delivered: Delivered, model: str) -> str:
    """Return why a line's response is not an answer to be recorded; empty for one that is, if an invalid one.

    What concerns a question alone (its length, its content) is its answer; any other error is not: it is asked again.
    """
    if 200 <= delivered.status < 300:
        return ""
    try:
        failure(Wire(delivered.status, {}, delivered.body.decode("utf-8", "replace")), model)
    except (RetryableError, FatalJudgeError) as error:
        return str(error)
    return ""


def one_line(body: bytes) -> bytes:
    """Return a JSON body without line ends, unchanged where it has none."""
    return dump(json.loads(body)) if b"\n" in body or b"\r" in body else body


def json_lines(content: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Return the objects of JSON lines, and whether every line is one: a torn one is left out.

    >>> json_lines(b'{"a": 1}\\n{"a": ')
    ([{'a': 1}], False)
    """
    found, whole = [], True
    for line in content.splitlines():
        if not line.strip():
            continue
        try:
            each = json.loads(line)
        except (ValueError, RecursionError):
            whole = False
            continue
        if isinstance(each, dict):
            found.append(each)
        else:
            whole = False
    return found, whole


def lines_of(wire: Wire, model: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the objects in a downloaded file of JSON lines, and whether every line is one.

    A line with a byte that is no text is none: what it answers is not known. The others are.
    """
    if not 200 <= wire.status < 300:
        good(wire, model)
    body = wire.body
    if wire.garbled:
        body = "\n".join(line for line in body.split("\n") if REPLACED not in line)
    found, whole = json_lines(body.encode("utf-8", "surrogateescape"))
    return found, whole and not wire.garbled


def moment(text: Any) -> datetime.datetime | None:
    """Return a moment as servers tell it: seconds since 1970, or RFC 3339; None for anything else.

    >>> moment("2026-11-22T10:00:00Z") == moment(1795341600)
    True
    """
    try:
        if isinstance(text, int | float):
            return datetime.datetime.fromtimestamp(text, datetime.UTC)
        found = datetime.datetime.fromisoformat(text)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
