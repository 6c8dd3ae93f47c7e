"""Files of text: their encoding, and their lines one at a time, so that no file is in memory whole.

A file that is no text of a kind that can be told is a sentence with its line, and how to save it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from judgefixtures.words.errors import JudgeFixturesError

# By the first bytes: what a file is that has the name of a text, and what to do about it.
NOT_TEXT: Mapping[bytes, str] = MappingProxyType(
    {
        b"\x1f\x8b": "is packed with gzip: unpack it (gunzip), and give what is in it",
        b"\x28\xb5\x2f\xfd": "is packed with zstd: unpack it (zstd -d), and give what is in it",
        b"BZh": "is packed with bzip2: unpack it (bunzip2), and give what is in it",
        b"\xfd7zXZ": "is packed with xz: unpack it (unxz), and give what is in it",
        b"PK\x03\x04": 'is a zip archive, as Excel\'s workbooks are: save the sheet as "CSV UTF-8", or unpack it',
        b"\xd0\xcf\x11\xe0": 'is an old workbook of Excel: save the sheet as "CSV UTF-8"',
        b"PAR1": "is a Parquet file: name it .parquet",
        b"SQLite format 3": "is a database of SQLite: export the table as CSV",
    }
)
LARGEST_TEXT = 2**30  # characters
LARGEST_CELL = 2**25  # characters of a line or a cell: more is a quote that nobody closed, or a file without lines
SAVE = 'Save it as UTF-8 text (in Excel "CSV UTF-8"), or convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW'


def numbered_lines(
    path: Path, named: str = "", newline: str = "\n", most: int = LARGEST_CELL
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text in UTF-8, or in UTF-16 with its mark, each with its number and its end.

    `named` is how messages name the file, `newline` what ends a line, as `open` has it, and `most` how long one
    may be. Raises JudgeFixturesError naming the file and the line.
    """
    named = named or str(path)
    encoding = _encoding(path, named)
    try:
        with path.open(encoding=encoding, newline=newline) as file:
            for number, line in enumerate(file, 1):
                if "\0" in line:
                    raise JudgeFixturesError(
                        f"{named}:{number}: there is a NUL character, which no text has: the file is damaged, or is "
                        "UTF-16 without its mark. Save it as UTF-8."
                    )
                if len(line) > most:
                    raise JudgeFixturesError(f"{named}:{number}: the line is longer than {most:,} characters.")
                yield number, line
    except UnicodeError:
        raise JudgeFixturesError(_undecodable(path, named, encoding)) from None
    except OSError as error:
        raise JudgeFixturesError(f"{named} cannot be read: {error.strerror}.") from None


def whole_text(path: Path, named: str = "") -> str:
    """Return a text, as `numbered_lines` reads it."""
    return "".join(line for _, line in numbered_lines(path, named, most=LARGEST_TEXT))


def _encoding(path: Path, named: str) -> str:
    """Return the encoding that a file's first bytes mark; raises JudgeFixturesError for what is no text."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise JudgeFixturesError(f"{named} cannot be read: {error.strerror}.") from None
    for magic, said in NOT_TEXT.items():
        if start.startswith(magic):
            raise JudgeFixturesError(f"{named} {said}.")
    return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def _undecodable(path: Path, named: str, encoding: str) -> str:
    """Return where a file's first byte stands that is not of its encoding."""
    if encoding == "utf-16":
        return f"{named} begins as UTF-16 and is not (it may be cut off). Save it as UTF-8."
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return f"{named}:{number}: byte {error.start + 1} of the line (0x{byte:02x}) is not UTF-8 text. {SAVE}."
    return f"{named} is not UTF-8 text. {SAVE}."  # it was changed meanwhile
