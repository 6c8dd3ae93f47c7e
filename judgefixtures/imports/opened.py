"""Files of logs to rows: each is read as what it is, and no known key is in any row."""

from __future__ import annotations

import contextlib
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
    if not _is_file(file):
        raise JudgeFixturesError(f"{file} does not exist, or is a folder: give a log, a file with one answer per row.")
    if form is not None and form not in EXPORTS:
        raise JudgeFixturesError(f"--format: there is no format {form!r}: {choices(form, EXPORTS)}.")
    with _of_no_dataset():
        held = hold(file)
        export = export_of(held) if form is None else EXPORTS[form]
        rows, remarks = export.rows(held), export.remarks(held)
    # Before anything is made of them: texts and ids go to files, and both into messages.
    safe = (row._replace(fields=redacted_json(row.fields), where=row.where.removeprefix(OF_LOG)) for row in rows)
    return LogFile(file, export.name, tuple(safe), remarks)


@contextlib.contextmanager
def _of_no_dataset() -> Iterator[None]:
    """Let errors name the log alone: the rooms that read it read datasets, and say so."""
    try:
        yield
    except JudgeFixturesError as error:
        raise JudgeFixturesError(str(error).replace(OF_LOG, "")) from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False
