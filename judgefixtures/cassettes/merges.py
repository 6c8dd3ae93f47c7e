"""Merge of two branches' recordings of one condition, without asking again.

It works on raw lines and conflict markers and never calls git.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from judgefixtures.util.paths import read_bytes

from . import files, snapshot
from .file_names import BATCHES_FILE, CANARY_FILE, CHOICE_FILE, PAIRS_FILE, SAMPLE_FILE
from .messages import MESSAGES

Kept = TypeVar("Kept", snapshot.SampleSnapshot, snapshot.ClosestPairsSnapshot)
T = TypeVar("T")
Lines = dict[str, bytes]
Both = Callable[[bytes, bytes], bytes]


@dataclass(frozen=True, slots=True)
class MergeVersions:
    """A file on two branches, and before, if known."""

    ours: bytes
    theirs: bytes
    base: bytes | None = None

    @property
    def untorn(self) -> MergeVersions:
        """The versions without torn last lines."""
        return self.each(lambda content: content[: content.rfind(b"\n") + 1])

    def each(self, change: Callable[[bytes], bytes]) -> MergeVersions:
        """Return the versions, each changed."""
        return MergeVersions(change(self.ours), change(self.theirs), None if self.base is None else change(self.base))


@dataclass(frozen=True, slots=True)
class MergeResult:
    """A merged file with its line counts and duplicates."""

    content: bytes
    ours: int
    theirs: int
    lines: int
    twice: int

    def __str__(self) -> str:
        twice = f"; {self.twice} answered on both: the first answer stays" if self.twice else ""
        return f"{self.lines} lines from {self.ours} and {self.theirs}{twice}"


def merge_conflicted_file(path: Path) -> MergeResult | None:
    """Merge a file's conflicting versions; None if there are none.

    Raises:
        CassetteError: They cannot be merged; the file is unchanged.
    """
    try:
        content = read_bytes(path)
    except OSError as error:
        raise files.CassetteError(f"{path} cannot be read: {error.strerror}.") from None
    marked = files.MERGE_MARK.search(content) is not None
    if not marked and not (path.name not in JOINED and content.startswith(files.HEADER_START)):
        return None
    merged = merge_versions(path, conflict_versions(path, content))
    if not marked and not merged.twice:  # two answers to one question, as a merge of all lines leaves them
        return None
    files.atomic_write(path, merged.content)
    return merged


def merge_files(base: Path, ours: Path, theirs: Path, path: Path) -> MergeResult:
    """Merge three files into `ours`, as a git merge driver."""
    try:
        before = read_bytes(base)  # empty where both branches added the file
        merged = merge_versions(path, MergeVersions(read_bytes(ours), read_bytes(theirs), before or None))
    except OSError as error:
        raise files.CassetteError(f"{error.filename} cannot be read: {error.strerror}.") from None
    files.atomic_write(ours, merged.content)
    return merged


def conflict_versions(path: Path, content: bytes) -> MergeVersions:
    """Return both versions of a file with conflict markers."""
    sides: dict[str, list[bytes]] = {"<": [], "|": [], ">": []}
    side, parted, without_base = "", False, False
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        mark = files.MERGE_MARK.match(line)
        if mark is None:
            for name, lines in sides.items():
                if side in ("", name):
                    lines.append(line)
            continue
        sign = mark[1][:1].decode()
        if (side, sign) not in (("", "<"), ("<", "|"), ("<", "="), ("|", "="), (">", ">")):
            raise files.DamagedFileError(MESSAGES.merge_marks_disordered(path, number))
        without_base |= (side, sign) == ("<", "=")
        side, parted = {"<": "<", "|": "|", "=": ">", ">": ""}[sign], True
    if side:
        raise files.DamagedFileError(MESSAGES.merge_mark_missing(path))
    ours, base, theirs = (b"".join(sides[name]) for name in "<|>")
    return MergeVersions(ours, theirs, base if parted and not without_base else None)


def merge_versions(path: Path, both: MergeVersions) -> MergeResult:
    """Return the merged versions, or raise CassetteError."""
    return JOINED.get(path.name, _joined_rows)(path, both)


@dataclass(frozen=True, slots=True)
class MergeFormat:
    """The line format of a file, with its merge rules.

    Lines with equal keys merge `within` a version or `between` both.
    """

    key: Callable[[Any], str]
    wrong: str
    within: Both
    between: Both
    first: int = 1  # number of the first such line

    def index_lines(self, path: Path, content: bytes) -> Lines:
        """Return a version's lines by key."""
        lines: Lines = {}
        for number, line in _lines_in(content):
            if number < self.first:
                continue
            try:
                key = self.key(line)
                lines[key] = self.within(lines[key], line) if key in lines else line
            except (ValueError, KeyError, TypeError, RecursionError):
                raise files.DamagedFileError(f"{path}: line {number} of one version {self.wrong}") from None
        return lines

    def join(self, path: Path, both: MergeVersions) -> tuple[Lines, int, int]:
        """Return the merged lines by key, and each version's number."""
        ours, theirs, base = (self.index_lines(path, content or b"") for content in (both.ours, both.theirs, both.base))
        kept: Lines = {}
        for key in {**ours, **theirs}:
            mine, its, was = ours.get(key), theirs.get(key), base.get(key)
            if mine is not None and its is not None:
                kept[key] = mine if its in (mine, was) else its if mine == was else self.between(mine, its)
            elif (line := mine or its) is not None and line != was:
                kept[key] = line  # without the base it counts as added; what one branch changed the other cannot remove
        return kept, len(ours), len(theirs)


def _lines_in(content: bytes) -> Iterator[tuple[int, bytes]]:
    return ((number, line.rstrip(b"\r")) for number, line in enumerate(content.split(b"\n"), 1) if line.strip())


def _joined_rows(path: Path, both: MergeVersions) -> MergeResult:
    """Return both branches' answers; of two to one request the one asked again more often, else ours."""
    header, both = _joined_headers(path, both)
    twice: set[str] = set()

    def digest(line: bytes) -> str:
        if (start := files.ROW_START.match(line)) is None:
            raise ValueError("no digest")
        files.CassetteRow.parse(line)
        return start[1].decode()

    def first(mine: bytes, its: bytes) -> bytes:
        one, other = files.CassetteRow.parse(mine), files.CassetteRow.parse(its)
        twice.update({one.digest} if one.answer != other.answer else ())
        return its if other.asked > one.asked else mine

    form = MergeFormat(digest, "is not a recorded answer. Restore or delete it first.", first, first, first=2)
    rows, ours, theirs = form.join(path, both.untorn)
    ordered = sorted(
        rows.values(), key=lambda line: (*files.CassetteRow.parse(line).key, files.CassetteRow.parse(line).digest)
    )
    return MergeResult(b"\n".join([header, *ordered, b""]), ours, theirs, len(rows), len(twice))


def _joined_headers(path: Path, both: MergeVersions) -> tuple[bytes, MergeVersions]:
    sides = (both.ours, both.theirs, both.base or b"")
    ours, theirs, base = (next(_lines_in(content), (0, b""))[1] for content in sides)
    if changed := files.identity_differences(_judge(path, ours), _judge(path, theirs)):
        raise files.CassetteError(MESSAGES.branches_of_two_judges(path, changed))
    days = {_day(header) for header in (ours, theirs, base) if header}
    plans = sorted({*_plans(ours), *_plans(theirs)})
    if plans != list(_plans(ours)):
        ours = files.dump_json(json.loads(ours) | {"planned": plans})
    if (looks := _looks(ours)) != (others := _looks(theirs)):
        names = dict.fromkeys([*looks, *others])
        joined = {name: [*dict.fromkeys([*looks.get(name, []), *others.get(name, [])])] for name in names}
        ours = files.dump_json(json.loads(ours) | {"looks": joined})
    if len(days) == 1:
        return ours, both
    # Rows of another day than their header's name it: below a header that names none, each names its own.
    whole = {key: value for key, value in json.loads(ours).items() if key != "recorded"}
    return files.dump_json(whole), both.each(_with_days)


def _read(line: bytes, read: Callable[[Any], T], otherwise: T) -> T:
    try:
        return read(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return otherwise


def _plans(header: bytes) -> tuple[int, ...]:
    return _read(header, files.planned_sizes, ())


def _looks(header: bytes) -> dict[str, list[files.DecidedLook]]:
    return _read(header, files.looks_in, {})


def _day(header: bytes) -> str:
    return _read(header, lambda found: files.parse_day(found.get("recorded", "")), "")


def _with_days(content: bytes) -> bytes:
    first, newline, rows = content.partition(b"\n")
    if not (recorded := _day(first)):
        return content
    lines = [_with_day(line, recorded) for line in rows.splitlines(keepends=True)]
    return first + newline + b"".join(lines)


def _with_day(line: bytes, recorded: str) -> bytes:
    if _read(line, lambda row: "on" in row, True):
        return line
    return files.ROW_START.sub(lambda start: start[0] + b'"on":' + files.dump_json(recorded) + b",", line)


def _judge(path: Path, header: bytes) -> Mapping[str, Any]:
    judge = _read(header, lambda found: found["judge"], None)
    if not isinstance(judge, dict):
        raise files.CassetteError(
            f"{path} is not a cassette of judgefixtures on both branches: {MESSAGES.keep_one(path)}"
        )
    return judge


def _joined_pairs(path: Path, both: MergeVersions) -> MergeResult:
    def within(mine: bytes, its: bytes) -> bytes:
        if mine != its:
            raise ValueError("two pairs of one id")
        return mine

    def between(mine: bytes, _its: bytes) -> bytes:
        raise files.CassetteError(
            f"{path}: pair {json.loads(mine)['id']!r} differs between the branches: {MESSAGES.keep_one(path)}"
        )

    wrong = "is not a pair with its own id. Restore it first."
    pairs, ours, theirs = MergeFormat(lambda line: str(json.loads(line)["id"]), wrong, within, between).join(path, both)
    content = b"".join(pairs[name] + b"\n" for name in sorted(pairs))
    return MergeResult(content, ours, theirs, len(pairs), 0)


def _joined_runs(_path: Path, both: MergeVersions) -> MergeResult:
    ours, theirs = (_runs(content) for content in (both.ours, both.theirs))
    runs = sorted(dict.fromkeys([*ours, *theirs]), key=lambda line: _read(line, lambda run: str(run["at"]), ""))
    return MergeResult(b"".join(line + b"\n" for line in runs), len(ours), len(theirs), len(runs), 0)


def _runs(content: bytes) -> list[bytes]:
    runs = [line for _, line in _lines_in(content)]
    return runs[:-1] if runs and not _read(runs[-1], lambda _: True, False) else runs


def _joined_batches(path: Path, versions_read: MergeVersions) -> MergeResult:
    """Return both branches' batch events, except for removed batches."""
    versions_read = versions_read.untorn  # what a torn last line was about to say did not happen yet

    def both(mine: bytes, its: bytes) -> bytes:
        return b"\n".join(dict.fromkeys([*mine.split(b"\n"), *its.split(b"\n")]))

    def intent(line: bytes) -> str:
        event = json.loads(line)
        if not isinstance(event["event"], str) or not isinstance(event["intent"], str):
            raise ValueError("an event of nothing that was intended")
        return str(event["intent"])

    wrong = "is not an event of a batch. Restore it; if it is an incomplete last line, delete it."
    by_intent, _, _ = MergeFormat(intent, wrong, both, both).join(
        path, versions_read
    )  # all that is said of one, in one text
    kept = {line for lines in by_intent.values() for line in lines.split(b"\n")}
    mine, its = ([line for _, line in _lines_in(content)] for content in (versions_read.ours, versions_read.theirs))
    events = [line for line in dict.fromkeys([*mine, *its]) if line in kept]
    return MergeResult(b"".join(line + b"\n" for line in events), len(mine), len(its), len(events), 0)


def _joined_whole(parsed: Callable[[Path, bytes], Kept], what: str, path: Path, both: MergeVersions) -> MergeResult:
    ours, theirs = parsed(path, both.ours), parsed(path, both.theirs)
    base = None if both.base is None else parsed(path, both.base)
    if ours.extends(theirs) or theirs == base:
        kept = both.ours
    elif theirs.extends(ours) or ours == base:
        kept = both.theirs
    else:
        raise files.CassetteError(f"{path}: the two branches saved different {what}: {MESSAGES.keep_one(path)}")
    return MergeResult(kept, len(ours.pairs), len(theirs.pairs), len(parsed(path, kept).pairs), 0)


# How files that are no cassettes are joined, by their names.
JOINED: Mapping[str, Callable[[Path, MergeVersions], MergeResult]] = {
    PAIRS_FILE: _joined_pairs,
    SAMPLE_FILE: partial(_joined_whole, snapshot.parse_snapshot, "samples"),
    CHOICE_FILE: partial(_joined_whole, snapshot.parse_closest_snapshot, "choices of the closest pairs"),
    CANARY_FILE: _joined_runs,
    BATCHES_FILE: _joined_batches,
}
