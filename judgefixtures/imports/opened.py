"""Files of logs to rows: each is read as what it is, and no known key is in any row."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judgefixtures.imports.exports import EXPORTS, export_of
from judgefixtures.imports.exports.held import hold
from judgefixtures.sources.parsing import Row
from judgefixtures.words.errors import JudgeFixturesError, choices
from judgefixtures.words.secrets import redacted_json

OF_LOG = "dataset 'log': "


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of a log, its rows in the form of the tool that wrote it, and what it says of itself."""

    file: Path
    form: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]


def read_log(file: Path, form: str | None = None) -> LogFile:
    """Return a log, read in a format that is named or told by what it holds; raises JudgeFixturesError."""
    check_file(file, "give a log, a file with one answer per row")
    if form is not None and form not in EXPORTS:
        raise JudgeFixturesError(f"--format: there is no format {form!r}: {choices(form, EXPORTS)}.")
    for tool in EXPORTS.values():
        tool.refuse(file)
    with _of_no_dataset():
        held = hold(file)
        export = export_of(held) if form is None else EXPORTS[form]
        rows, remarks = export.rows(held), export.remarks(held)
    return LogFile(file, export.name, tuple(map(_safe, rows)), remarks)


def _safe(row: Row) -> Row:
    """Return a row without known keys: texts and ids go to files, and both into messages."""
    fields = redacted_json(row.fields)
    if fields is row.fields and not row.where.startswith(OF_LOG):
        return row
    return row._replace(fields=fields, where=row.where.removeprefix(OF_LOG))


@contextlib.contextmanager
def _of_no_dataset() -> Iterator[None]:
    """Let errors name the log alone: the rooms that read it read datasets, and say so."""
    try:
        yield
    except JudgeFixturesError as error:
        raise JudgeFixturesError(str(error).replace(OF_LOG, "")) from None


def check_file(file: Path, remedy: str) -> None:
    """Raise JudgeFixturesError with the remedy for what is no file that can be read from its beginning to its end.

    A pipe would be waited for, and a device has no end.
    """
    try:
        mode = file.stat().st_mode
    except OSError as error:  # a name that no file can have and a link to itself among them
        raise JudgeFixturesError(f"{file} does not exist ({error.strerror}): {remedy}.") from None
    if stat.S_ISDIR(mode):
        raise JudgeFixturesError(f"{file} is a folder: {remedy}.")
    if not stat.S_ISREG(mode):
        raise JudgeFixturesError(f"{file} is a pipe or a device: save what comes from it to a file, and {remedy}.")
