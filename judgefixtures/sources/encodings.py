"""Text files: their encoding, and their lines one at a time."""

import codecs
import io
from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.paths import open_regular

from .messages import MESSAGES
from .size_limits import What, limit, remedy

# By the first bytes: what a file is that has the name of a text, and what to do about it.
NOT_TEXT: Mapping[bytes, str] = MappingProxyType(
    {
        b"\x1f\x8b": "is a gzip archive: unpack it (gunzip) and use its content",
        b"\x28\xb5\x2f\xfd": "is a zstd archive: unpack it (zstd -d) and use its content",
        b"BZh": "is a bzip2 archive: unpack it (bunzip2) and use its content",
        b"\xfd7zXZ": "is an xz archive: unpack it (unxz) and use its content",
        b"PK\x03\x04": 'is a zip archive or an Excel workbook: unpack it, or save the sheet as "CSV UTF-8"',
        b"\xd0\xcf\x11\xe0": 'is an old Excel workbook: save the sheet as "CSV UTF-8"',
        b"PAR1": "is a Parquet file: rename it to .parquet",
        b"SQLite format 3": "is an SQLite database: export the table as CSV",
    }
)
LARGEST_TEXT = 2**29  # characters
LARGEST_CELL = 2**25  # characters of a line or a cell: more is a quote that nobody closed, or a file without lines
SAVE = 'Save it as UTF-8 text (in Excel "CSV UTF-8"), or convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW'


def numbered_lines(
    path: Path, named: str = "", newline: str = "\n", most: int = LARGEST_CELL
) -> Generator[tuple[int, str], None, None]:
    """Yield the lines of a UTF-8 or marked UTF-16 text with their numbers.

    `named` is the file's name in messages, `newline` as in `open`, `most` the longest line. Close the iterator to close
    the file.

    Raises:
        JudgeFixturesError: Unreadable text; names file and line.
    """
    named = named or str(path)
    encoding = _encoding(path, named)
    what: What = "file" if most == LARGEST_TEXT else "row"
    most = limit(what, most)
    try:
        with open_regular(path) as file, io.TextIOWrapper(file, encoding=encoding, newline=newline) as text:
            for number, line in enumerate(iter(partial(text.readline, most + 1), ""), 1):  # no longer line is held
                if "\0" in line:
                    raise JudgeFixturesError(MESSAGES.nul_character(named, number))
                if len(line) > most:
                    said = f"the line is longer than {most:,} characters. {remedy(what, most)}"
                    raise JudgeFixturesError(f"{named}:{number}: {said}.")
                yield number, line
    except UnicodeError:
        raise JudgeFixturesError(_undecodable(path, named, encoding)) from None
    except OSError as error:
        raise JudgeFixturesError(f"{named} cannot be read: {error.strerror}.") from None


def read_text_file(path: Path, named: str = "") -> str:
    """Return a text, read as by `numbered_lines`."""
    most = limit("file", LARGEST_TEXT)
    if path.is_file() and path.stat().st_size > most:
        raise JudgeFixturesError(f"{named or path} is larger than {most:,} bytes. {remedy('file', most)}.")
    return "".join(line for _, line in numbered_lines(path, named, most=LARGEST_TEXT))


def _encoding(path: Path, named: str) -> str:
    try:
        with open_regular(path) as file:
            start = file.read(16)
    except OSError as error:
        raise JudgeFixturesError(f"{named} cannot be read: {error.strerror}.") from None
    for magic, description in NOT_TEXT.items():
        if start.startswith(magic):
            raise JudgeFixturesError(f"{named} {description}.")
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _undecodable(path: Path, named: str, encoding: str) -> str:
    if encoding == "utf-16":
        return f"{named} starts like UTF-16 but is not valid (it may be incomplete). Save it as UTF-8."
    with open_regular(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return f"{named}:{number}: byte {error.start + 1} of the line (0x{byte:02x}) is not UTF-8 text. {SAVE}."
    return f"{named} is not UTF-8 text. {SAVE}."  # it was changed meanwhile
