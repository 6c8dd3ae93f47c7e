"""Log files, read by format, with known credentials removed."""

import contextlib
import errno
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judgefixtures.sources.row_readers import DataRow
from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.paths import open_regular
from judgefixtures.util.secrets import redacted_json

from .formats import EXPORTS, detect_format
from .formats.loaded_file import load_file

ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)  # of a path that leads to no file
OF_LOG = "dataset 'log': "


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log's format, rows and remarks."""

    file: Path
    form: str
    rows: tuple[DataRow, ...]
    remarks: tuple[str, ...]


def read_log(file: Path, form: str | None = None) -> LogFile:
    """Return a log in this or the detected format, or raise JudgeFixturesError."""
    check_file(file, "import a log with one answer per row")
    if form is not None and form not in EXPORTS:
        raise JudgeFixturesError(f"--format: there is no format {form!r}: {accepted_values(form, EXPORTS)}.")
    for tool in EXPORTS.values():
        tool.refuse(file)
    with _of_no_dataset():
        held = load_file(file)
        export = detect_format(held) if form is None else EXPORTS[form]
        rows, remarks = export.rows(held), export.remarks(held)
    return LogFile(file, export.name, tuple(map(_safe, rows)), remarks)


def _safe(row: DataRow) -> DataRow:
    fields = redacted_json(row.fields)
    if fields is row.fields and not row.where.startswith(OF_LOG):
        return row
    return row._replace(fields=fields, where=row.where.removeprefix(OF_LOG))


@contextlib.contextmanager
def _of_no_dataset() -> Iterator[None]:
    """Remove the dataset from errors, because a log is none."""
    try:
        yield
    except JudgeFixturesError as error:
        raise JudgeFixturesError(str(error).replace(OF_LOG, "")) from None


def check_file(file: Path, remedy: str) -> None:
    """Raise JudgeFixturesError with the remedy if it is no regular, readable file."""
    try:
        open_regular(file).close()
    except OSError as error:  # a name that no file can have and a link to itself among them
        what = "does not exist" if error.errno in ABSENT else "cannot be read"
        why = str(error.strerror)
        why = why.removeprefix("it ") if error.errno == errno.EINVAL else f"{what} ({why})"
        raise JudgeFixturesError(f"{file} {why}: {remedy}.") from None
