"""Loaded log file, and the base class of export formats."""

import contextlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from judgefixtures.sources import Source
from judgefixtures.sources.csv_files import SEPARATORS, table_rows
from judgefixtures.sources.encodings import numbered_lines
from judgefixtures.sources.parquet import parquet_rows
from judgefixtures.sources.row_readers import DataRow, json_lines, json_value, numbered_rows
from judgefixtures.util.errors import JudgeFixturesError

from ..messages import MESSAGES
from .inspect_archive import read_archive

By: TypeAlias = Literal["judge", "person", "code"]

LINES = (".jsonl", ".ndjson")
PLAIN = "jsonl"  # the format of logs that no tool wrote, whatever their files
JUDGED = "judged"  # the key of a row under which stands what it says, in whatever tool's words


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file's JSON document or rows; a packed log has both.

    `replaced` names duplicate archive members.
    """

    file: Path
    value: Any = None
    rows: tuple[DataRow, ...] = ()
    replaced: tuple[str, ...] = ()

    @property
    def source(self) -> Source:
        """The file as a dataset source."""
        return Source("log", self.file)

    def numbered(self, values: Any) -> list[DataRow]:
        """Return objects of the document as rows, or raise JudgeFixturesError."""
        return numbered_rows(values, f"dataset {self.source.name!r}: {self.file}")


def load_file(file: Path) -> LoadedFile:
    """Return a file's content, or raise JudgeFixturesError."""
    suffix, source = file.suffix.lower(), Source("log", file)
    if suffix == ".eval":
        log = read_archive(file)
        return LoadedFile(file, log.header, log.samples, log.replaced)
    if suffix == ".json":
        return LoadedFile(file, value=json_value(file, source))
    if suffix == ".parquet":
        rows = enumerate(parquet_rows(file), 1)
        return LoadedFile(file, rows=tuple(DataRow(fields, f"{file}: row {n}", f"row {n}") for n, fields in rows))
    if suffix in SEPARATORS:
        cells = (DataRow(fields, f"{file}:{n}", f"line {n}", textual=True) for n, fields in table_rows(file))
        return LoadedFile(file, rows=tuple(cells))
    with contextlib.closing(numbered_lines(file)) as lines:
        first = next((line for _, line in lines if line.strip()), "{")
    if suffix not in LINES and not first.lstrip().startswith("{"):
        raise JudgeFixturesError(MESSAGES.unknown_file_kind(file))
    return LoadedFile(file, rows=tuple(json_lines(file, source)))


class ExportFormat(ABC):
    """Base class of the export formats."""

    name: ClassVar[str]  # of --format, and of its table in data/logs.toml

    @classmethod  # noqa: B027 (most tools write nothing else than what is read)
    def refuse(cls, file: Path) -> None:
        """Raise JudgeFixturesError for this tool's unsupported files."""

    @classmethod
    @abstractmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether the content is this tool's."""

    @classmethod
    @abstractmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per judgement, or raise JudgeFixturesError naming the row."""

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:  # noqa: ARG003
        """Return notes for the person who imports."""
        return ()


def normalized_row(row: DataRow, *, metric: str, by: By = "judge", value: Any = None, **details: Any) -> DataRow:
    """Return a row in the common form.

    A boolean or word is a grade (`passed`), a number a score.

    Args:
        row: The row as exported.
        metric: The metric's name.
        by: Who judged.
        value: The judgement.
        **details: Other fields of the judgement.

    >>> row = DataRow({"label": "good"}, "log.json: row 1", "row 1")
    >>> normalized_row(row, metric="tone", value="good", reason=None).fields["judged"]
    {'metric': 'tone', 'by': 'judge', 'passed': 'good'}
    """
    if value is not None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        details = {"score" if is_number else "passed": value} | details
    judgement = {"metric": metric, "by": by, **{name: each for name, each in details.items() if each is not None}}
    return row._replace(fields={**row.fields, JUDGED: judgement})


def finite_number(value: Any) -> float | None:
    """Return a finite number, and None for other values.

    >>> finite_number(0.5), finite_number(True), finite_number(float("nan")), finite_number(10**400), finite_number("1")
    (0.5, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # of an int that no float can be
        return None
