"""CSV and TSV files: rows of text cells, None for an empty cell.

Rows of another length than the first are an error.
"""

import contextlib
import csv
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import quote_names

from .encodings import LARGEST_CELL, LARGEST_TEXT, numbered_lines
from .messages import MESSAGES
from .size_limits import limit, remedy

# What separates cells, by the end of the name: the one that makes most of the first line, of several the first.
SEPARATORS: Mapping[str, str] = MappingProxyType({".csv": ",;\t", ".tsv": "\t,;"})
SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
TOLD = re.compile(r"sep=(.)\s*")  # the first line of a file that tells Excel
MOST_SHOWN = 10

_limit = threading.Lock()  # of the one limit that `csv` has for all of a process


def table_rows(path: Path, named: str = "") -> list[tuple[int, dict[str, str | None]]]:
    """Return a table's rows with the line number of each.

    `named` is the file's name in messages. Raises JudgeFixturesError naming file and line.
    """
    named = named or str(path)
    with _limit:
        before = csv.field_size_limit(limit("row", LARGEST_CELL))
        try:
            separator, skipped = _separator(path, named)
            with _opened(path, named) as lines:
                return list(_rows(islice(lines, skipped, None), named, separator, skipped))
        finally:
            csv.field_size_limit(before)


@contextlib.contextmanager
def _opened(path: Path, named: str) -> Iterator[Iterator[str]]:
    with contextlib.closing(numbered_lines(path, named, newline="", most=LARGEST_TEXT)) as lines:
        # A checkout may have changed the line ends: cells are the same with either.
        yield (f"{line[:-2]}\n" if line.endswith("\r\n") else line for _, line in lines)


def _rows(lines: Iterator[str], named: str, separator: str, skip: int) -> Iterator[tuple[int, dict[str, str | None]]]:
    reader, ended = csv.reader(lines, delimiter=separator, strict=True), 0
    heads: list[str] = []
    try:
        for cells in reader:
            number, ended = skip + ended + 1, reader.line_num
            if not any(cells):  # a spreadsheet writes separators alone for a row without anything
                continue
            if not heads:
                heads = _heads(cells, named)
                continue
            if len(cells) != len(heads):
                raise JudgeFixturesError(_misfit(named, number, cells, heads, separator))
            yield number, {head: cell or None for head, cell in zip(heads, cells, strict=True)}
    except csv.Error as error:
        raise JudgeFixturesError(f"{named}:{skip + ended + 1}: {_fault(error)}") from None
    if not heads:
        raise JudgeFixturesError(f"{named} is empty. The first line must name the columns.")


def _separator(path: Path, named: str) -> tuple[str, int]:
    with _opened(path, named) as lines:
        if declared := TOLD.fullmatch(next(lines, "")):
            return declared[1], 1
    known = SEPARATORS.get(path.suffix.lower(), ",;\t")
    return max(known, key=lambda separator: _width(path, named, separator)), 0


def _width(path: Path, named: str, separator: str) -> int:
    with _opened(path, named) as lines, contextlib.suppress(csv.Error):
        return next((len(cells) for cells in csv.reader(lines, delimiter=separator) if any(cells)), 0)
    return 0


def _heads(cells: Sequence[str], named: str) -> list[str]:
    heads = [head or f"Unnamed: {number}" for number, head in enumerate(cells)]
    if twice := sorted(head for head, count in Counter(heads).items() if count > 1):
        raise JudgeFixturesError(MESSAGES.column_named_twice(named, quote_names(heads), quote_names(twice)))
    return heads


def _misfit(named: str, number: int, cells: Sequence[str], heads: Sequence[str], separator: str) -> str:
    sign = SIGNS.get(separator, repr(separator))
    named_columns = quote_names(heads) if len(heads) <= MOST_SHOWN else f"{quote_names(heads[:MOST_SHOWN])}, ..."
    return MESSAGES.wrong_number_of_cells(named, number, cells, heads, named_columns, sign)


def _fault(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text:
        return "a quote in this row is never closed. Close it; if it is part of the text, double it."
    if "field larger" in text:
        return (
            f"a cell of this row is longer than {(most := limit('row', LARGEST_CELL)):,} characters. Shorten it, or "
            f"close its quote. {remedy('row', most)}."
        )
    if "expected after" in text:
        return "a quoted cell contains a single quote mark. Double quote marks that are part of the text."
    return f"the row cannot be read: {text}."
