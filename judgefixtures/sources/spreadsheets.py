"""Tables as text, CSV and TSV: rows of cells that are texts, or nothing where they are empty.

What a spreadsheet writes is read: another separator, quotes and lines within cells, rows without anything. A row that
is longer or shorter than the first one is an error: some cell of it would stand under another's name.
"""

from __future__ import annotations

import csv
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from judgefixtures.sources.encodings import LARGEST_CELL, LARGEST_TEXT, numbered_lines
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import quote_names

# What separates cells, by the end of the name: the one that makes most of the first line, of several the first.
SEPARATORS: Mapping[str, str] = MappingProxyType({".csv": ",;\t", ".tsv": "\t,;"})
SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
TOLD = re.compile(r"sep=(.)\s*")  # the first line of a file that tells Excel
MOST_SHOWN = 10

_limit = threading.Lock()  # of the one limit that `csv` has for all of a process


def table_rows(path: Path, named: str = "") -> list[tuple[int, dict[str, str | None]]]:
    """Return the rows of a table, each with the number of the line where it begins.

    `named` is how messages name the file. Raises JudgeFixturesError naming the file and the line.
    """
    with _limit:
        before = csv.field_size_limit(LARGEST_CELL)
        try:
            return list(_rows(path, named or str(path)))
        finally:
            csv.field_size_limit(before)


def _rows(path: Path, named: str) -> Iterator[tuple[int, dict[str, str | None]]]:
    lines = (line for _, line in numbered_lines(path, named, newline="", most=LARGEST_TEXT))
    separator, skipped = _separator(path, named)
    for _ in range(skipped):
        next(lines)
    reader, ended = csv.reader(lines, delimiter=separator, strict=True), 0
    heads: list[str] = []
    try:
        for cells in reader:
            number, ended = skipped + ended + 1, reader.line_num
            if not any(cells):  # a spreadsheet writes separators alone for a row without anything
                continue
            if not heads:
                heads = _heads(cells, named)
                continue
            if len(cells) != len(heads):
                raise JudgeFixturesError(_misfit(named, number, cells, heads, separator))
            yield number, {head: cell or None for head, cell in zip(heads, cells, strict=True)}
    except csv.Error as error:
        raise JudgeFixturesError(f"{named}:{skipped + ended + 1}: {_fault(error)}") from None
    if not heads:
        raise JudgeFixturesError(f"{named}: it is empty: the first line must name the columns.")


def _separator(path: Path, named: str) -> tuple[str, int]:
    """Return what separates the cells, and how many lines say so."""
    known = SEPARATORS.get(path.suffix.lower(), ",;\t")
    first = next((line for _, line in numbered_lines(path, named, newline="", most=LARGEST_TEXT)), "")
    if told := TOLD.fullmatch(first):
        return told[1], 1
    found = {separator: _width(path, named, separator) for separator in known}
    return max(found, key=lambda separator: found[separator]), 0


def _width(path: Path, named: str, separator: str) -> int:
    lines = (line for _, line in numbered_lines(path, named, newline="", most=LARGEST_TEXT))
    try:
        return next((len(cells) for cells in csv.reader(lines, delimiter=separator) if any(cells)), 0)
    except csv.Error:
        return 0


def _heads(cells: Sequence[str], named: str) -> list[str]:
    """Return the columns' names; one without a name, such as the index that pandas writes, is named by its place."""
    heads = [head or f"Unnamed: {number}" for number, head in enumerate(cells)]
    if twice := sorted(head for head, count in Counter(heads).items() if count > 1):
        raise JudgeFixturesError(
            f"{named}: the first line must name each column once, found {quote_names(heads)}: {quote_names(twice)} "
            "stands there more than once."
        )
    return heads


def _misfit(named: str, number: int, cells: Sequence[str], heads: Sequence[str], separator: str) -> str:
    sign = SIGNS.get(separator, repr(separator))
    named_columns = quote_names(heads) if len(heads) <= MOST_SHOWN else f"{quote_names(heads[:MOST_SHOWN])}, ..."
    return (
        f"{named}:{number}: the row has {len(cells)} cells, and the first line names {len(heads)} columns "
        f"({named_columns}), with {sign} between them. A cell with {sign}, a quote or a line end in it stands in "
        "quotes; a cell without anything is there all the same."
    )


def _fault(error: csv.Error) -> str:
    said = str(error)
    if "unexpected end of data" in said:
        return "a quote opens in this row and is never closed: close it, or double it where it is part of the text."
    if "field larger" in said:
        return (
            f"a cell of this row is longer than {LARGEST_CELL:,} characters: shorten it, or close its quote where it "
            "is never closed."
        )
    if "expected after" in said:
        return "a quote stands within a cell in quotes: a quote that is part of the text is doubled there."
    return f"the row cannot be read: {said}."
