"""What a file of a log holds, read once, and what an export is: how a tool's file is told, and its rows in one form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from judgefixtures.sources import Source
from judgefixtures.sources.parsing import Row, json_value, local_rows, numbered

By: TypeAlias = Literal["judge", "person", "code"]

JUDGED = "judged"  # the key of a row under which stands what it says, in whatever tool's words


@dataclass(frozen=True, slots=True)
class Held:
    """What a file holds: a JSON document, or the rows of lines or of a table; neither of an archive."""

    file: Path
    value: Any = None
    rows: tuple[Row, ...] = ()

    @property
    def source(self) -> Source:
        """The file, as what reads datasets knows one."""
        return Source("log", self.file)

    def numbered(self, values: Any) -> list[Row]:
        """Return objects of the document as rows; raises JudgeFixturesError for another value."""
        return numbered(values, f"dataset {self.source.name!r}: {self.file}")


def hold(file: Path) -> Held:
    """Return what a file holds; raises JudgeFixturesError for one that cannot be read."""
    suffix, source = file.suffix.lower(), Source("log", file)
    if suffix == ".eval":
        return Held(file)
    if suffix == ".json":
        return Held(file, value=json_value(file, source))
    return Held(file, rows=tuple(local_rows(source).rows))


class Export(ABC):
    """What one tool writes; of a file that holds several kinds of rows each row says whose it is."""

    name: ClassVar[str]  # of --format, and of its table in data/logs.toml

    @classmethod
    @abstractmethod
    def claims(cls, held: Held) -> bool:
        """Tell whether a file is one of this tool's, by what it holds."""

    @classmethod
    @abstractmethod
    def rows(cls, held: Held) -> list[Row]:
        """Return a row for each judgement; raises JudgeFixturesError naming the file, and the row."""

    @classmethod
    def remarks(cls, held: Held) -> tuple[str, ...]:  # noqa: ARG003
        """Return what a file says of itself that whoever imports it has to know."""
        return ()


def judged(row: Row, *, metric: str, by: By = "judge", value: Any = None, **told: Any) -> Row:
    """Return a row with what it says in one form: whose judgement of what it is, and what was judged.

    `value` is told by its type: a truth value or a word is a grade (`passed`), a number a score.

    >>> row = judged(Row({"label": "good"}, "log.json: row 1", "row 1"), metric="tone", value="good", reason=None)
    >>> row.fields["judged"]
    {'metric': 'tone', 'by': 'judge', 'passed': 'good'}
    """
    if value is not None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        told = {"score" if is_number else "passed": value} | told
    said = {"metric": metric, "by": by, **{name: each for name, each in told.items() if each is not None}}
    return row._replace(fields={**row.fields, JUDGED: said})
