"""Two branches' recordings of one condition joined: what either of them paid for answers, and nothing is asked again.

Works on the lines of cassettes and frozen pairs as they stand, so that keys of later versions survive. Knows git's
marks in a file, but not git.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from judgefixtures.cassettes.files import (
    HEADER_START,
    MERGE_MARK,
    ROW_START,
    CassetteError,
    DamagedError,
    Row,
    atomic_write,
    day,
    differences,
    dump,
    plans_in,
)
from judgefixtures.cassettes.frozen import (
    CHOICE_FILE,
    FILE,
    SAMPLE_FILE,
    FrozenChoice,
    FrozenSample,
    parsed_choice,
    parsed_sample,
)

Kept = TypeVar("Kept", FrozenSample, FrozenChoice)
Lines = dict[str, bytes]
Both = Callable[[bytes, bytes], bytes]

CANARY_FILE = "canary.jsonl"  # the log of the canary's runs, beside a judge's recordings
BATCHES_FILE = "batches.jsonl"  # the list of batches, beside all recordings


@dataclass(frozen=True, slots=True)
class Versions:
    """A file as two branches have it, and as it was before they parted, where that is known."""

    ours: bytes
    theirs: bytes
    base: bytes | None = None

    @property
    def untorn(self) -> Versions:
        """The versions without a last line that was not written to its end."""
        return self.each(lambda content: content[: content.rfind(b"\n") + 1])

    def each(self, change: Callable[[bytes], bytes]) -> Versions:
        """Return the versions with what a change makes of them."""
        return Versions(change(self.ours), change(self.theirs), None if self.base is None else change(self.base))


@dataclass(frozen=True, slots=True)
class Joined:
    """A joined file: how many lines each version had and the new one has, and how many questions both had asked."""

    content: bytes
    ours: int
    theirs: int
    lines: int
    twice: int

    def __str__(self) -> str:
        twice = f"; {self.twice} were asked on both: the first answer stays" if self.twice else ""
        return f"{self.lines} lines, of {self.ours} and {self.theirs}{twice}"


def mend(path: Path) -> Joined | None:
    """Join the two versions that a merge left in a file; None where there is nothing to join.

    Raises CassetteError where they cannot be joined, and leaves the file as it is.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CassetteError(f"{path} cannot be read: {error.strerror}.") from None
    marked = MERGE_MARK.search(content) is not None
    if not marked and not (_is_cassette(path) and content.startswith(HEADER_START)):
        return None
    found = joined(path, versions(path, content))
    if not marked and not found.twice:  # two answers to one question, as a merge of all lines leaves them
        return None
    atomic_write(path, found.content)
    return found


def join_files(base: Path, ours: Path, theirs: Path, path: Path) -> Joined:
    """Join three files into `ours`, as git's merge drivers do; `path` is what the file is called."""
    try:
        before = base.read_bytes()  # empty where both branches added the file
        found = joined(path, Versions(ours.read_bytes(), theirs.read_bytes(), before or None))
    except OSError as error:
        raise CassetteError(f"{error.filename} cannot be read: {error.strerror}.") from None
    atomic_write(ours, found.content)
    return found


def versions(path: Path, content: bytes) -> Versions:
    """Return the two versions between whose differences git put its marks: the same one twice without marks."""
    sides: dict[str, list[bytes]] = {"<": [], "|": [], ">": []}
    side, parted, without_base = "", False, False
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        mark = MERGE_MARK.match(line)
        if mark is None:
            for name, lines in sides.items():
                if side in ("", name):
                    lines.append(line)
            continue
        sign = mark[1][:1].decode()
        if (side, sign) not in (("", "<"), ("<", "|"), ("<", "="), ("|", "="), (">", ">")):
            raise DamagedError(
                f"{path}:{number}: the marks of the merge are not in order. Restore both versions with "
                f"git checkout --merge -- {path}, and join them again."
            )
        without_base |= (side, sign) == ("<", "=")
        side, parted = {"<": "<", "|": "|", "=": ">", ">": ""}[sign], True
    if side:
        raise DamagedError(
            f"{path}: the last mark of the merge is missing. Restore both versions with "
            f"git checkout --merge -- {path}, and join them again."
        )
    ours, base, theirs = (b"".join(sides[name]) for name in "<|>")
    return Versions(ours, theirs, base if parted and not without_base else None)


def joined(path: Path, found: Versions) -> Joined:
    """Return the versions of a file joined; `path` tells what kind it is. Raises CassetteError where they cannot be."""
    kinds: dict[str, Callable[[Path, Versions], Joined]] = {
        FILE: _joined_pairs,
        SAMPLE_FILE: partial(_joined_whole, parsed_sample, "samples"),
        CHOICE_FILE: partial(_joined_whole, parsed_choice, "choices of the closest pairs"),
        CANARY_FILE: _joined_runs,
        BATCHES_FILE: _joined_batches,
    }
    return kinds.get(path.name, _joined_rows)(path, found)


def _is_cassette(path: Path) -> bool:
    return path.name not in (FILE, SAMPLE_FILE, CHOICE_FILE, CANARY_FILE, BATCHES_FILE)


@dataclass(frozen=True, slots=True)
class Form:
    """What the lines of a file are, each with its `key`; `wrong` says what one is that has none, and what to do.

    Two lines of one key become one: `within` a version (ValueError: they are wrong), or `between` the two.
    """

    key: Callable[[Any], str]
    wrong: str
    within: Both
    between: Both
    first: int = 1  # number of the first such line

    def index_lines(self, path: Path, content: bytes) -> Lines:
        """Return the lines of a version by their keys."""
        lines: Lines = {}
        for number, line in _lines_in(content):
            if number < self.first:
                continue
            try:
                key = self.key(line)
                lines[key] = self.within(lines[key], line) if key in lines else line
            except (ValueError, KeyError, TypeError, RecursionError):
                raise DamagedError(f"{path}: line {number} of one version {self.wrong}") from None
        return lines

    def join(self, path: Path, found: Versions) -> tuple[Lines, int, int]:
        """Return the lines of both by key, and how many each version has.

        What one branch changed or removed is so, and what both changed is decided between the two.
        """
        ours, theirs, base = (
            self.index_lines(path, content or b"") for content in (found.ours, found.theirs, found.base)
        )
        kept: Lines = {}
        for key in {**ours, **theirs}:
            mine, its, was = ours.get(key), theirs.get(key), base.get(key)
            if mine is not None and its is not None:
                kept[key] = mine if its in (mine, was) else its if mine == was else self.between(mine, its)
            elif (line := mine or its) is not None and line != was:
                kept[key] = line  # without the base it counts as added; what one branch changed the other cannot remove
        return kept, len(ours), len(theirs)


def _lines_in(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the lines that are not empty, with their numbers."""
    return ((number, line.rstrip(b"\r")) for number, line in enumerate(content.split(b"\n"), 1) if line.strip())


def _joined_rows(path: Path, found: Versions) -> Joined:
    """Return the answers of both: the first one where both asked, unless it was an invalid one that was asked again."""
    header, found = _joined_headers(path, found)
    twice: set[str] = set()

    def digest(line: bytes) -> str:
        if (start := ROW_START.match(line)) is None:
            raise ValueError("no digest")
        Row.parse(line)
        return start[1].decode()

    def first(mine: bytes, its: bytes) -> bytes:
        one, other = Row.parse(mine), Row.parse(its)
        twice.update({one.digest} if one.answer != other.answer else ())
        return its if other.asked > one.asked else mine

    form = Form(digest, "is not a recorded answer. Restore or delete it first.", first, first, first=2)
    rows, ours, theirs = form.join(path, found.untorn)
    ordered = sorted(rows.values(), key=lambda line: (*Row.parse(line).key, Row.parse(line).digest))
    return Joined(b"\n".join([header, *ordered, b""]), ours, theirs, len(rows), len(twice))


def _joined_headers(path: Path, found: Versions) -> tuple[bytes, Versions]:
    """Return the header of both, and the versions with rows that can stand below it."""
    ours, theirs, base = (_header(content) for content in (found.ours, found.theirs, found.base or b""))
    if changed := differences(_judge(path, ours), _judge(path, theirs)):
        raise CassetteError(
            f"{path}: the two branches recorded different judges ({'; '.join(changed)}), and answers of one must not "
            f"pass for the other's: {_keep_one(path)}"
        )
    days = {_day(header) for header in (ours, theirs, base) if header}
    plans = sorted({*_plans(ours), *_plans(theirs)})
    if plans != list(_plans(ours)):
        ours = dump(json.loads(ours) | {"planned": plans})
    if len(days) == 1:
        return ours, found
    # Rows of another day than their header's name it: below a header that names none, each names its own.
    whole = {key: value for key, value in json.loads(ours).items() if key != "recorded"}
    return dump(whole), found.each(_with_days)


def _header(content: bytes) -> bytes:
    return next(_lines_in(content), (0, b""))[1]


def _plans(header: bytes) -> tuple[int, ...]:
    try:
        return plans_in(json.loads(header))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ()  # not a header, which is said elsewhere


def _day(header: bytes) -> str:
    try:
        return day(json.loads(header).get("recorded", ""))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""  # not a header, which is said elsewhere


def _with_days(content: bytes) -> bytes:
    """Return a cassette whose rows name their days themselves; what is not a row stays for others to complain of."""
    first, newline, rows = content.partition(b"\n")
    if not (recorded := _day(first)):
        return content
    lines = [_with_day(line, recorded) for line in rows.splitlines(keepends=True)]
    return first + newline + b"".join(lines)


def _with_day(line: bytes, recorded: str) -> bytes:
    try:
        if "on" in json.loads(line):
            return line
    except (ValueError, TypeError, RecursionError):
        return line
    return ROW_START.sub(lambda start: start[0] + b'"on":' + dump(recorded) + b",", line)


def _judge(path: Path, header: bytes) -> Mapping[str, Any]:
    try:
        return dict(json.loads(header)["judge"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CassetteError(f"{path} is not a cassette of judgefixtures on both branches: {_keep_one(path)}") from None


def _joined_pairs(path: Path, found: Versions) -> Joined:
    def within(mine: bytes, its: bytes) -> bytes:
        if mine != its:
            raise ValueError("two pairs of one id")
        return mine

    def between(mine: bytes, _its: bytes) -> bytes:
        raise CassetteError(f"{path}: pair {json.loads(mine)['id']!r} is another one on each branch: {_keep_one(path)}")

    wrong = "is not a pair of its own. Restore it first."
    pairs, ours, theirs = Form(lambda line: str(json.loads(line)["id"]), wrong, within, between).join(path, found)
    content = b"".join(pairs[name] + b"\n" for name in sorted(pairs))
    return Joined(content, ours, theirs, len(pairs), 0)


def _joined_runs(_path: Path, found: Versions) -> Joined:
    """Return the canary's runs on both branches, in the order of their times: each was made and none is another's."""
    ours, theirs = (_runs(content) for content in (found.ours, found.theirs))
    runs = sorted(dict.fromkeys([*ours, *theirs]), key=_time)
    return Joined(b"".join(line + b"\n" for line in runs), len(ours), len(theirs), len(runs), 0)


def _runs(content: bytes) -> list[bytes]:
    """Return the runs of a version, without a torn last line: a kill lost that run, and git may have ended its line."""
    runs = [line for _, line in _lines_in(content)]
    return runs[:-1] if runs and not _is_json(runs[-1]) else runs


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _joined_batches(path: Path, found: Versions) -> Joined:
    """Return the events of batches on both branches in their order, each once: no batch that either sent is forgotten.

    A batch that one branch took out of the list, and the other noted nothing new of, is taken out.
    """
    found = found.untorn  # what a torn last line was about to say did not happen yet

    def both(mine: bytes, its: bytes) -> bytes:
        return b"\n".join(dict.fromkeys([*mine.split(b"\n"), *its.split(b"\n")]))

    def intent(line: bytes) -> str:
        event = json.loads(line)
        if not isinstance(event["event"], str) or not isinstance(event["intent"], str):
            raise ValueError("an event of nothing that was intended")
        return str(event["intent"])

    wrong = "is not an event of a batch. Restore it, or delete it where it is the torn last line of its version."
    by_intent, _, _ = Form(intent, wrong, both, both).join(path, found)  # all that is said of one, in one text
    kept = {line for lines in by_intent.values() for line in lines.split(b"\n")}
    mine, its = ([line for _, line in _lines_in(content)] for content in (found.ours, found.theirs))
    events = [line for line in dict.fromkeys([*mine, *its]) if line in kept]
    return Joined(b"".join(line + b"\n" for line in events), len(mine), len(its), len(events), 0)


def _time(line: bytes) -> str:
    try:
        return str(json.loads(line)["at"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""  # whoever reads the log says what is wrong with it


def _joined_whole(parsed: Callable[[Path, bytes], Kept], what: str, path: Path, found: Versions) -> Joined:
    """Return the sample, or choice, of which the other one is the beginning, or the one that alone was changed."""
    ours, theirs = parsed(path, found.ours), parsed(path, found.theirs)
    base = None if found.base is None else parsed(path, found.base)
    if ours.extends(theirs) or theirs == base:
        kept = found.ours
    elif theirs.extends(ours) or ours == base:
        kept = found.theirs
    else:
        raise CassetteError(f"{path}: the two branches froze different {what}: {_keep_one(path)}")
    return Joined(kept, len(ours.pairs), len(theirs.pairs), len(parsed(path, kept).pairs), 0)


def _keep_one(path: Path) -> str:
    return (
        f"keep one version, with git checkout --ours (or --theirs) -- {path}, and run the same tests with "
        "--judge-record missing: it asks only what nobody recorded."
    )
