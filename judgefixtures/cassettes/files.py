"""File format of a cassette: a header line and one JSON object per line, appended as answers arrive.

Every line is checked when the file is opened. A row is found by the digest of its request. docs/reference/files.md
describes the files.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from judgefixtures.util.clock import now
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import check_writable, linked, read_bytes
from judgefixtures.util.shell import quoted

from .messages import MESSAGES

FORMAT = 1
JSON = "application/json"
HEADER_START = b'{"judgefixtures":'
# A row begins with its digest.
ROW_START = re.compile(rb'\{"digest":"([0-9a-f]{32})",')
# What git writes between the two versions of a file that it could not merge.
MERGE_MARK = re.compile(rb"^(<{7}|\|{7}|={7}|>{7})(?: .*)?\r?$", re.MULTILINE)
BINARY: int = getattr(os, "O_BINARY", 0)  # Windows would write other line ends
LARGEST_FILE = 2**30
LARGEST_ROW = 2**24

T = TypeVar("T")
Key = tuple[str, int]  # pair id and repeat: what a row answers


class CassetteError(JudgeFixturesError):
    """An unusable cassette; the message has file and remedy."""


class DamagedFileError(CassetteError):
    """A file that only a person can repair."""


class CassetteWriteError(CassetteError):
    """An answer could not be written; asking stops."""


@dataclass(frozen=True, slots=True)
class CassetteRow:
    """One recorded answer: request digest, key and response."""

    digest: str
    pair: str
    repeat: int
    status: int
    body: bytes
    content_type: str = JSON
    seen: str = ""  # digest of the pair's texts as the judge saw them
    columns: str = ""  # digests of the pair's columns that it saw, by name: Pair.columns_digest
    location: str = ""  # where a redirect leads
    plan: str = ""  # digest of the plan that was carried out, where there was one
    asked: int = 1  # how often, where an invalid answer was asked again and this is the last one
    oversize: int = 0  # how many bytes the body had, where it was too large to be kept
    on: str = field(default="", compare=False)  # which day (UTC) it was answered; empty where nobody wrote it down
    by: str = field(default="", compare=False)  # "batch" where it was asked in one; empty: at once
    own: bool = False  # found by its example and condition, too: it answers no other one
    # It came with the id of an earlier response: a cache's, not the judge's. Ids are written nowhere.
    cached: bool = field(default=False, compare=False)
    # Keep the body byte for byte: the judge's code may quote it in its next request.
    exact: bool = field(default=False, compare=False)

    @property
    def key(self) -> Key:
        """The pair and repeat."""
        return (self.pair, self.repeat)

    @property
    def answer(self) -> tuple[int, bytes, str, str]:
        """What a judge sees of the row."""
        return (self.status, self.body, self.content_type, self.location)

    @property
    def mark(self) -> str:
        """A digest of question and answer."""
        return hashlib.sha256(replace(self, pair="").line()).hexdigest()[:32]

    def line(self, recorded: str = "") -> bytes:
        """Return the row as a line of a cassette `recorded` that day."""
        fields = {"digest": self.digest, "pair": self.pair, "seen": self.seen}
        usual = {name: usual for name, (_, usual, _) in FIELDS.items()} | {"on": recorded}
        other = {key: value for name, (key, *_) in FIELDS.items() if (value := getattr(self, name)) != usual[name]}
        return dump_json({**fields, **other, **_body_fields(self.body, self.exact)}) + b"\n"

    @classmethod
    def parse(cls, line: bytes, recorded: str = "") -> CassetteRow:
        """Return a line's row, or raise ValueError."""
        fields = {"on": recorded, **json.loads(line)}
        if not isinstance(fields["pair"], str):
            raise ValueError("wrong types")
        other = {name: read(fields[key]) if key in fields else usual for name, (key, usual, read) in FIELDS.items()}
        seen, exact = str(fields.get("seen", "")), "json" not in fields  # a text stays one when the file is sorted
        return cls(str(fields["digest"]), fields["pair"], body=_body(fields), seen=seen, exact=exact, **other)


def _checked(what: str, is_right: Callable[[Any], bool]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if not is_right(value):
            raise ValueError(f"not {what}")
        return value

    return check


def _counting_from(least: int) -> Callable[[Any], Any]:
    return _checked("a count", lambda value: type(value) is int and value >= least)


def parse_day(text: Any) -> str:
    """Return a day (`2026-11-22`) or "", or raise ValueError."""
    if text != "" and datetime.date.fromisoformat(text).isoformat() != text:
        raise ValueError("not a day")
    return str(text)


def planned_sizes(header: Mapping[str, Any]) -> tuple[int, ...]:
    """Return a header's planned numbers of pairs, or raise ValueError."""
    sizes = header.get("planned", ())
    if not isinstance(sizes, list | tuple) or not all(type(each) is int and each > 0 for each in sizes):
        raise ValueError("planned is not a list of counts")
    return tuple(sizes)


# The looks of a plan, after how many pairs one decided, at which level.
DecidedLook = tuple[tuple[int, ...], int, float]


def looks_in(header: Mapping[str, Any]) -> dict[str, list[DecidedLook]]:
    """Return a header's decided looks by contrast, or raise ValueError."""
    try:
        return {
            contrast: [(tuple(map(_count, plan)), _count(pairs), _level(level)) for plan, pairs, level in looks]
            for contrast, looks in header.get("looks", {}).items()
        }
    except (TypeError, AttributeError):
        raise ValueError("looks are not plans, counts and levels by contrast") from None


_count = _counting_from(1)
_level = _checked("a level", lambda value: type(value) in (int, float) and 0 <= value <= 1)
_flag = _checked("a flag", lambda value: isinstance(value, bool))
_of_header = _checked("a header line", lambda value: isinstance(value, str) and value.isprintable())
# What a line says beside its question and its answer: the key there, what nearly every row has, which is left out, and
# how it is read.
FIELDS: Mapping[str, tuple[str, Any, Callable[[Any], Any]]] = {
    "repeat": ("repeat", 0, _counting_from(0)),
    "status": ("status", 200, _checked("a status", lambda value: type(value) is int and 100 <= value <= 599)),
    "asked": ("asked", 1, _count),
    "content_type": ("type", JSON, _of_header),
    "location": ("location", "", _of_header),
    "plan": ("plan", "", str),
    "columns": ("columns", "", str),
    "oversize": ("oversize", 0, _counting_from(0)),
    "on": ("on", "", parse_day),
    "by": ("by", "", _checked("a way to ask", lambda value: value in ("", "batch"))),
    "own": ("own", False, _flag),
    "cached": ("cached", False, _flag),
}


def today_utc() -> str:
    """Return today's date in UTC."""
    return now().date().isoformat()


def _body_fields(body: bytes, exact: bool) -> dict[str, Any]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_refuse, parse_float=_finite)
        json.dumps({"row": [value]})  # what can be read may be too deep to be written
    except (ValueError, RecursionError):
        return {"text": text}
    return {"text": text} if exact and dump_json(value) != body else {"json": value}


def _body(row: Mapping[str, Any]) -> bytes:
    if "json" in row:
        return dump_json(row["json"])
    if "text" in row:
        return str(row["text"]).encode()
    return base64.b64decode(row["base64"], validate=True)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("duplicate keys")
    return fields


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{number} is not a number that can be written again")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def dump_json(fields: Any) -> bytes:
    """Return compact JSON as UTF-8."""
    # Half of a surrogate pair has no UTF-8; as a backslash escape it is JSON all the same.
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _options(mode: str) -> str:
    return f"--judge-record {mode}"


class CassetteFile:
    """A cassette's file with an index of its rows.

    A torn last line is ignored. `commands` returns the recording command of a mode.

    Raises:
        CassetteError: No cassette, too large, or of a later version.
        DamagedFileError: Invalid or contradicting lines.
    """

    def __init__(self, path: Path, commands: Callable[[str], str] = _options) -> None:
        self.path = path
        self._commands = commands
        self.header: dict[str, Any] | None = None
        self._data = b""
        self._index: dict[str, tuple[int, int]] = {}
        self._appended: dict[str, CassetteRow] = {}
        self._descriptor: int | None = None
        self._lock = threading.Lock()
        self._load()

    def __len__(self) -> int:
        return len(self._index.keys() | self._appended.keys())

    def find(self, digest: str) -> CassetteRow | None:
        """Return the row with this digest, or None."""
        if digest in self._appended:
            return self._appended[digest]
        return self._row(*self._index[digest]) if digest in self._index else None

    def read_rows(self) -> list[CassetteRow]:
        """Return the last row of each digest."""
        return [row for digest in {**self._index, **self._appended} if (row := self.find(digest))]

    def append(self, row: CassetteRow, header: Mapping[str, Any]) -> CassetteRow:
        """Write a row durably and return the row that stands.

        Too large bodies are dropped; the first of two simultaneous answers stands.
        """
        try:
            with self._lock:  # a judge's threads append side by side
                row, line = _fitting(row, self._recorded(header))
                known = self.find(row.digest)
                if known is not None and row.asked <= known.asked:
                    return known
                if self._descriptor is None:
                    self._open_for_append(header)
                append_whole_line(self._descriptor, line)
                self._appended[row.digest] = row
        except OSError as error:
            raise CassetteWriteError(MESSAGES.cannot_be_written(self.path, error)) from None
        return row

    def replace(self, rows: Iterable[CassetteRow], header: Mapping[str, Any], path: Path | None = None) -> None:
        """Write header and rows atomically to `path`, sorted by pair."""
        path = path or self.path
        rows = sorted(rows, key=lambda row: (row.pair, row.repeat, row.digest))
        # Most were answered on one day, which the header tells once.
        days = [row.on for row in rows]
        recorded = min(days, default="")
        header = {key: value for key, value in header.items() if key != "recorded"}
        header |= {"recorded": recorded} if recorded else {}
        content = b"".join([dump_json(header) + b"\n", *(_fitting(row, recorded)[1] for row in rows)])
        if path == self.path and content == self._data and not self._appended:
            return
        if path == self.path:
            self.close()  # Windows replaces no open file
        atomic_write(path, content)
        if path == self.path:
            self._load()

    def _recorded(self, header: Mapping[str, Any]) -> str:
        return str((self.header or header).get("recorded", ""))

    def close(self) -> None:
        """Close the file; it can be appended to again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _load(self) -> None:
        self.header, self._data, self._index, self._appended = None, b"", {}, {}
        try:
            if self.path.exists() and self.path.stat().st_size > LARGEST_FILE:
                raise CassetteError(f"the cassette {self.path} is larger than {LARGEST_FILE} bytes: record it again.")
            self._data = read_bytes(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise DamagedFileError(f"the cassette {self.path} cannot be read: {error.strerror}.") from None
        if self._data:
            self.header = self._parse_header()
            self._build_index()

    def _parse_header(self) -> dict[str, Any] | None:
        line, newline, _ = self._data.partition(b"\n")
        if not newline and HEADER_START.startswith(line[: len(HEADER_START)]):
            return None  # killed while writing the header: nothing was recorded yet
        try:
            header = json.loads(line)
            version = header["judgefixtures"]
            if not isinstance(header["judge"], dict):
                raise TypeError
            parse_day(header.get("recorded", ""))
            planned_sizes(header)
            looks_in(header)
        except (ValueError, KeyError, TypeError, RecursionError):
            refuse_merge_marks(self.path, line)
            raise CassetteError(MESSAGES.no_cassette(self.path, self._commands("missing"))) from None
        if version != FORMAT:
            raise CassetteError(MESSAGES.other_format(self.path, version, FORMAT, self._commands("all")))
        return header  # type: ignore[no-any-return]

    def _build_index(self) -> None:
        start, number = self._data.find(b"\n") + 1, 2
        while 0 < start < len(self._data):
            end = self._data.find(b"\n", start)
            if end < 0:
                return  # a torn last line: its answer was in flight when the recording was killed
            if self._data[start:end].strip():
                self._index_line(start, end, number)
            start, number = end + 1, number + 1

    def _index_line(self, start: int, end: int, number: int) -> None:
        row = ROW_START.match(self._data, start, end)
        if row is None or end - start > LARGEST_ROW:
            raise self._damaged(start, end, number)
        digest, before = row[1].decode(), None
        try:
            parsed = self._row(start, end)
            if parsed.digest != digest:
                raise ValueError("two digests")
            if (known := self._index.get(digest)) is not None and self._data[slice(*known)] != self._data[start:end]:
                before = self._row(*known)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._damaged(start, end, number) from None
        if before is not None and before.asked == parsed.asked and before.answer != parsed.answer:
            first = self._data.count(b"\n", 0, self._index[digest][0]) + 1
            raise DamagedFileError(MESSAGES.answers_differ(self.path, number, first, merge_command(self.path)))
        if before is None or before.asked <= parsed.asked:
            self._index[digest] = (start, end)

    def _row(self, start: int, end: int) -> CassetteRow:
        return CassetteRow.parse(self._data[start:end], self._recorded({}))

    def _damaged(self, start: int, end: int, number: int) -> DamagedFileError:
        line = self._data[start:end]
        if MERGE_MARK.match(line):
            return _unmerged(self.path, number)
        return DamagedFileError(MESSAGES.damaged_line(self.path, number, _beginning(line), self._commands("missing")))

    def _open_for_append(self, header: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o644)
        if self.header is None:
            os.ftruncate(self._descriptor, 0)  # at most a torn header stood here
            try:
                append_whole_line(self._descriptor, dump_json(header) + b"\n")
            except OSError:
                self.close()  # the next answer tries again; rows must not stand without a header
                raise
            self.header = dict(header)
            return
        # Seal a torn last line by cutting it off: it never was an answer, and the next row must start clean.
        whole = os.fstat(self._descriptor).st_size
        torn = len(self._data) - (self._data.rfind(b"\n") + 1)
        if torn and whole == len(self._data):
            os.ftruncate(self._descriptor, whole - torn)


def atomic_write(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file atomically."""
    target = linked(path)
    draft = target.with_name(f".{target.name}.draft")  # whoever dies here leaves what the next writer replaces
    try:
        check_writable(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise CassetteError(f"{path} cannot be written: {error.strerror}. The old file is unchanged.") from None


def or_replaced(read: Callable[[], T], otherwise: T, *, is_replaced: bool = True) -> T:
    """Return what is read, or `otherwise` for an unusable but undamaged file."""
    try:
        return read()
    except CassetteError as error:
        if isinstance(error, DamagedFileError) or not is_replaced:
            raise
        return otherwise


def merge_command(path: Path) -> str:
    """Return the command that merges a file's two versions."""
    return f"judgefixtures cassettes merge {quoted(str(path))}"


def refuse_merge_marks(path: Path, content: bytes) -> None:
    """Raise DamagedFileError for git conflict markers."""
    if mark := MERGE_MARK.search(content):
        raise _unmerged(path, content.count(b"\n", 0, mark.start()) + 1)


def _unmerged(path: Path, number: int) -> DamagedFileError:
    return DamagedFileError(MESSAGES.merge_mark(path, number, merge_command(path)))


def _beginning(line: bytes) -> str:
    text = ascii(line[:40].decode("utf-8", "replace"))
    return text if len(line) <= 40 else f"{text}..., {len(line)} bytes"


def _fitting(row: CassetteRow, recorded: str) -> tuple[CassetteRow, bytes]:
    line = row.line(recorded)
    if len(line) > LARGEST_ROW:
        row = replace(row, body=b"", oversize=len(row.body))
        line = row.line(recorded)
    return row, line


def append_whole_line(descriptor: int | None, line: bytes) -> None:
    """Append a whole line, or nothing and raise OSError."""
    assert descriptor is not None
    written = 0
    try:
        while written < len(line):  # a full disk may take a part of the line
            written += os.write(descriptor, line[written:])
    except OSError:
        if written:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
        raise


def append_line_synced(path: Path, line: bytes, prepare: Callable[[int], None] = lambda _descriptor: None) -> None:
    """Append a line to a file durably, creating it if needed.

    `prepare` gets the open file first. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o644)
    try:
        prepare(descriptor)
        append_whole_line(descriptor, line)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def identity_differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the changes of an identity: `model: "a" -> "b"`."""
    changed: list[str] = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            changed += identity_differences(before, after, f"{prefix}{key}.")
        elif before != after:
            changed.append(f"{prefix}{key}: {json.dumps(before)} -> {json.dumps(after)}")
    return changed
