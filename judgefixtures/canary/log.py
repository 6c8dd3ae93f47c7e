"""Canary log: one JSON line per run, beside the judge's recordings and never changed."""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Self, get_args

from judgefixtures.cassettes.files import append_line_synced, append_whole_line, dump_json, refuse_merge_marks
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import read_bytes
from judgefixtures.util.secrets import redacted_json

FORMAT = 2
FORMER = 1  # its evidence was against chance alone
ANSWERS = re.compile(r"[012x]+")  # 1 and 2: the pair's own responses; 0 a tie; x no verdict
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

Result = Literal["quiet", "drift", "model", "not-measured"]
Answered = Mapping[str, Mapping[str, str]]  # by dataset and pair: a character per answer


# What reading a line raises that we cannot have written.
UNREADABLE = (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError)


class CanaryLogError(JudgeFixturesError):
    """An unreadable or unwritable log; names file, line and remedy."""


@dataclass(frozen=True, slots=True)
class CanaryEntry:
    """The result of one canary run.

    Attributes:
        series: Runs with the same prompts and recordings.
        reference: Digest of these recordings.
        log_e: Natural logarithm of the e-value, or None.
        why: Why nothing was measured.
        format: The version of the test.
    """

    at: str
    series: int
    reference: str
    result: Result
    log_e: float | None = None
    answers: Answered = field(default_factory=dict)
    served: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    usd: float | None = None
    why: str = ""
    format: int = FORMAT

    @property
    def is_measured(self) -> bool:
        """Whether the run has answers."""
        return self.log_e is not None

    @property
    def texts(self) -> list[str]:
        """The answers to every pair."""
        return [answer for pairs in self.answers.values() for answer in pairs.values()]

    def line(self) -> bytes:
        """Return the entry as a line."""
        line = asdict(self)
        return dump_json(redacted_json({"judgefixtures-canary": line.pop("format"), **line})) + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Return a line's entry, or raise one of UNREADABLE."""
        fields = json.loads(line)
        test = fields.pop("judgefixtures-canary")
        if test not in (FORMER, FORMAT):
            raise ValueError("of another format")
        entry = cls(**fields, format=test)
        entry._check()
        return entry

    def _check(self) -> None:
        texts = (self.at, self.reference, self.why)
        numbers = (self.series, self.calls, *self.served.values(), *self.fingerprints.values())
        known = (self.log_e, self.usd)
        if not all(isinstance(text, str) for text in texts) or any(type(number) is not int for number in numbers):
            raise TypeError("wrong types")
        if any(value is not None and (isinstance(value, bool) or not math.isfinite(value)) for value in known):
            raise ValueError("not a number")
        if not TIME.fullmatch(self.at) or self.result not in get_args(Result) or self.series < 1:
            raise ValueError("wrong values")
        if not all(map(ANSWERS.fullmatch, self.texts)):
            raise ValueError("not answers")


@dataclass(frozen=True, slots=True)
class CanaryLog:
    """The runs of a judge's canary."""

    path: Path
    entries: tuple[CanaryEntry, ...] = ()

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Return a file's log, empty if missing, or raise CanaryLogError."""
        try:
            content = read_bytes(path)
        except FileNotFoundError:
            return cls(path)
        except OSError as error:
            raise CanaryLogError(f"the canary's log {path} cannot be read: {error.strerror}.") from None
        refuse_merge_marks(path, content)
        lines = enumerate(content[: _whole(content)].split(b"\n"), 1)  # a torn last line is a run that was killed
        return cls(path, tuple(_entry(path, number, line) for number, line in lines if line.strip()))

    def series(self, reference: str, *, restart: bool = False) -> int:
        """Return the series of a new run: the last, or a new one."""
        if self.entries and self.entries[-1].reference == reference and not restart:
            return self.entries[-1].series
        return max((entry.series for entry in self.entries), default=0) + 1  # joined branches may be in any order

    def measured(self, series: int, reference: str) -> Sequence[CanaryEntry]:
        """Return a series' runs with answers; branches can share its number."""
        measured = [entry for entry in self.entries if entry.is_measured]
        return [entry for entry in measured if (entry.series, entry.reference) == (series, reference)]

    def append(self, entry: CanaryEntry) -> None:
        """Append an entry durably."""
        line = entry.line()
        try:
            append_line_synced(self.path, line, _cut_torn)
        except OSError as error:
            raise CanaryLogError(
                f"the canary's log {self.path} cannot be written: {error.strerror}. It lacks this run. Free space "
                "or change permissions, and run the same command again."
            ) from None


def _entry(path: Path, number: int, line: bytes) -> CanaryEntry:
    try:
        return CanaryEntry.parse(line)
    except UNREADABLE:
        raise CanaryLogError(
            f"{path}:{number} is not a run of the canary. Restore or delete the line; other lines stay valid."
        ) from None


def _cut_torn(descriptor: int) -> None:
    """Remove a killed run's torn line, or complete a missing line end."""
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, 0, os.SEEK_SET)
    content = b""
    while len(content) < size and (part := os.read(descriptor, size - len(content))):
        content += part
    whole = _whole(content)
    if whole < size:
        os.ftruncate(descriptor, whole)
    if content[:whole] and not content[:whole].endswith(b"\n"):
        append_whole_line(descriptor, b"\n")


def _whole(content: bytes) -> int:
    ended = content.rfind(b"\n") + 1
    try:
        CanaryEntry.parse(content[ended:])
    except UNREADABLE:
        return ended
    return len(content)
