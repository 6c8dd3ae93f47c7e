"""Manifest of batches, stored beside the recordings: what was sent, in which batch, with which result.

The file is JSON lines, appended and synced. A request is listed before it is sent, and the batch id right after. The
file holds no prompt, answer or key. docs/how-to/batches.md describes its use.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from judgefixtures.cassettes import files
from judgefixtures.cassettes.file_names import BATCHES_FILE
from judgefixtures.util.clock import now
from judgefixtures.util.paths import read_bytes

from .messages import MESSAGES

KINDS = frozenset({"intent", "sent", "unseen", "void", "partial", "parity", "ended"})
PARITY = "parity"  # the last part of the id of a question that was asked at once as well

Key = tuple[str, str, bool]  # cassette, digest of the request, whether it was asked at once as well
IdsByCassette = Mapping[str, tuple[str, ...]]  # ids of questions, by the cassette that they belong to


@dataclass(slots=True)
class SentBatch:
    """The known content of one batch."""

    intent: str
    provider: str
    judge: str
    asked: IdsByCassette
    time: datetime.datetime
    batch: str | None = None
    closed: bool = False  # it never was made, or all that it had to say is recorded
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # parameters left out, by kind of client
    partial: datetime.datetime | None = None  # when a download of its answers first lacked some
    unseen: datetime.datetime | None = None  # when the provider's list first did not show it, by the provider's clock

    @property
    def ids(self) -> Iterator[tuple[str, str]]:
        """Each question's cassette and id."""
        return ((place, name) for place, names in self.asked.items() for name in names)

    @property
    def keys(self) -> Iterator[Key]:
        """Its questions' keys, the same in every batch."""
        return (request_key(place, name) for place, name in self.ids)

    def __len__(self) -> int:
        return sum(map(len, self.asked.values()))


def digest_of_id(name: str) -> str:
    """Return the request digest in an id.

    >>> digest_of_id("0123456789abcdef0123456789abcdef-2-parity")
    '0123456789abcdef0123456789abcdef'
    """
    return name.partition("-")[0]


def is_parity_id(name: str) -> bool:
    """Return whether an id is of a double question."""
    return PARITY in name.split("-")


def request_key(place: str, name: str) -> Key:
    """Return the key of an id's question."""
    return place, digest_of_id(name), is_parity_id(name)


@dataclass(slots=True)
class BatchManifest:
    """The list of batches in a folder of recordings.

    Raises:
        DamagedFileError: An unreadable line.
    """

    path: Path
    sent: list[SentBatch] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, root: Path, *, mends: bool = True) -> BatchManifest:
        """Return a folder's list, empty if there is none.

        Only the holder of the lock repairs (`mends`) a torn line.
        """
        manifest = cls(root / BATCHES_FILE)
        manifest._load(mends)
        return manifest

    @property
    def open(self) -> list[SentBatch]:
        """The unfinished batches and intents."""
        return [each for each in self.sent if not each.closed]

    def intend(
        self, intent: str, provider: str, judge: str, requests: Mapping[str, Sequence[str]], **more: Any
    ) -> SentBatch:
        """Record the intent to create a batch."""
        listed = {place: list(names) for place, names in requests.items()}
        about = {"provider": provider, "judge": judge, "time": _now(), **more, "asked": listed}
        self._append({"event": "intent", "intent": intent, **about})
        return self.sent[-1]

    def note(self, event: str, sent: SentBatch, **more: Any) -> None:
        """Record an event: `sent`, `void` or another of `KINDS`."""
        self._append({"event": event, "intent": sent.intent, "time": _now(), **more})

    def _append(self, event: dict[str, Any]) -> None:
        line = files.dump_json(event) + b"\n"
        try:
            files.append_line_synced(self.path, line)
        except OSError as error:
            raise files.CassetteWriteError(MESSAGES.manifest_not_written(self.path, error)) from None
        self._take(event)

    def _load(self, mends: bool) -> None:
        try:
            content = read_bytes(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise files.DamagedFileError(f"the list of batches {self.path} cannot be read: {error.strerror}.") from None
        files.refuse_merge_marks(self.path, content)
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                if line.strip():
                    self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise files.DamagedFileError(MESSAGES.not_an_event(self.path, number)) from None
        if mends and whole < len(content):  # torn: what it was about to say did not happen yet
            try:
                os.truncate(self.path, whole)
            except OSError as error:
                what = f"the list of batches {self.path} cannot be repaired"
                raise files.DamagedFileError(f"{what}: {error.strerror}.") from None

    def _take(self, event: dict[str, Any]) -> None:
        kind, intent = _text(event["event"]), _text(event["intent"])
        if kind not in KINDS:
            raise ValueError("an unknown event")
        intended = next((each for each in reversed(self.sent) if each.intent == intent), None)
        if kind == "intent":
            new = _meant(event)
            if intended is None:
                self.sent.append(new)
            elif any(getattr(intended, name) != getattr(new, name) for name in ("provider", "judge", "asked", "time")):
                raise ValueError("two intents of one name")
            else:
                return  # the same line twice, as two copies of a list that were put together have it
        elif intended is None:
            raise ValueError("an event of nothing that was intended")
        elif kind == "sent":
            batch = _text(event["batch"])
            if intended.batch not in (None, batch):
                raise ValueError("two batches of one intent")
            intended.batch = batch
        elif kind in ("void", "ended"):
            intended.closed = True
        elif kind == "partial":
            intended.partial = intended.partial or _time(event)
        elif kind == "unseen":  # the earlier one: a clock that was ahead would be waited for
            intended.unseen = min(intended.unseen or _time(event), _time(event))
        self.events.append({key: value for key, value in event.items() if key != "asked"})


def _meant(event: Mapping[str, Any]) -> SentBatch:
    requests = {_place(place): tuple(map(_text, _list(names))) for place, names in event["asked"].items()}
    if event.get("parity"):
        _text(event["identity"])
    dropped = {_text(kind): tuple(map(_text, _list(names))) for kind, names in (event.get("dropped") or {}).items()}
    return SentBatch(
        _text(event["intent"]), _text(event["provider"]), _text(event["judge"]), requests, _time(event), dropped=dropped
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("not a text, or an empty one")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _place(value: Any) -> str:
    place = PurePosixPath(_text(value))
    if place.is_absolute() or ".." in place.parts or b"\0" in str(place).encode():
        raise ValueError("not the name of a cassette")
    return str(value)


def _time(event: Mapping[str, Any]) -> datetime.datetime:
    time = datetime.datetime.fromisoformat(event["time"])
    if time.tzinfo is None:
        raise ValueError("a time without a zone")
    return time


def _now() -> str:
    return now().isoformat(timespec="milliseconds")
