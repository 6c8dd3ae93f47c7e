"""Canary log: one JSON line per run, appended beside the judge's recordings and never changed.

A line is written in one piece when its run ends. The next run removes an incomplete last line. Every line is checked
when it is read.
"""

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
    """A log that cannot be read or written; the message names the file, the line and the remedy."""


@dataclass(frozen=True, slots=True)
class CanaryEntry:
    """What one run of the canary found.

    Runs of one `series` ask the same prompts and compare with the same recordings, which `reference` is a digest of.
    `log_e` is the natural logarithm of the run's e-value; None where nothing was measured, and `why` says why. It is
    that of the test of `format`.
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
        """Whether the run brought answers to compare."""
        return self.log_e is not None

    @property
    def texts(self) -> list[str]:
        """The answers to every pair."""
        return [answer for pairs in self.answers.values() for answer in pairs.values()]

    def line(self) -> bytes:
        """Return the entry as a line of the log, with its line end."""
        line = asdict(self)
        return dump_json(redacted_json({"judgefixtures-canary": line.pop("format"), **line})) + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Return the entry of a line; one of UNREADABLE where we cannot have written it."""
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
    """The runs of a judge's canary, in the order of the file."""

    path: Path
    entries: tuple[CanaryEntry, ...] = ()

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Return the log of a file, empty where there is none; LogError where a line is not a run."""
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
        """Return which series a run that is compared with `reference` belongs to: the last one, or a new one."""
        if self.entries and self.entries[-1].reference == reference and not restart:
            return self.entries[-1].series
        return max((entry.series for entry in self.entries), default=0) + 1  # joined branches may be in any order

    def measured(self, series: int, reference: str) -> Sequence[CanaryEntry]:
        """Return the runs of a series that brought answers; another branch may have begun one of the same number."""
        measured = [entry for entry in self.entries if entry.is_measured]
        return [entry for entry in measured if (entry.series, entry.reference) == (series, reference)]

    def append(self, entry: CanaryEntry) -> None:
        """Write an entry behind all others, in one piece and to the disk."""
        line = entry.line()
        try:
            append_line_synced(self.path, line, _cut_torn)
        except OSError as error:
            raise CanaryLogError(
                f"the canary's log {self.path} cannot be written: {error.strerror}. This run is not in it; make room "
                "or rights and run the same command again."
            ) from None


def _entry(path: Path, number: int, line: bytes) -> CanaryEntry:
    try:
        return CanaryEntry.parse(line)
    except UNREADABLE:
        raise CanaryLogError(
            f"{path}:{number} is not a run of the canary. Restore the line, or delete it: the others stay good."
        ) from None


def _cut_torn(descriptor: int) -> None:
    """Cut off what a killed run left of a line, or end a line that lost its end: the next one must start clean."""
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
    """Return how many bytes are whole lines: the last one is, too, where an editor took its line end alone."""
    ended = content.rfind(b"\n") + 1
    try:
        CanaryEntry.parse(content[ended:])
    except UNREADABLE:
        return ended
    return len(content)
