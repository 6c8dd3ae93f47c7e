"""Saved API pages: one or several in a document, or one per line."""

from collections.abc import Iterator, Sequence
from typing import Any

from judgefixtures.sources.row_readers import DataRow

from .loaded_file import LoadedFile

DEEPEST = 4  # lists within lists


def join_pages(held: LoadedFile, lists: Sequence[str] = ("data",)) -> list[DataRow]:
    """Return the rows of all pages, listed under one of these names.

    Raises:
        JudgeFixturesError: An entry is not an object.
    """
    if held.value is None:
        return [each for row in held.rows for each in _of_page(row, lists)]
    values = held.value if isinstance(held.value, list) else [held.value]
    return [each for row in held.numbered(list(_flat(values))) for each in _of_page(row, lists)]


def objects(held: LoadedFile, lists: Sequence[str] = ("data",)) -> Iterator[dict[str, Any]]:
    """Yield the objects in a file's list, for format detection.

    >>> from pathlib import Path
    >>> list(objects(LoadedFile(Path("a.json"), value=[{"data": [{"id": 1}, 2]}, [{"id": 3}]])))
    [{'id': 1}, {'id': 3}]
    """
    values = [row.fields for row in held.rows] if held.value is None else [held.value]
    for value in _flat(values):
        if isinstance(value, dict):
            name = _list_of(value, lists)
            yield from (each for each in (value[name] if name else [value]) if isinstance(each, dict))


def listed_objects(held: LoadedFile, lists: Sequence[str]) -> Sequence[Any]:
    """Return a file's lines, its list, or the first of `lists`."""
    value = held.value
    if isinstance(value, dict):
        value = next((value[name] for name in lists if isinstance(value.get(name), list)), [])
    return value if isinstance(value, list) else [row.fields for row in held.rows]


def listed_rows(held: LoadedFile, lists: Sequence[str]) -> list[DataRow]:
    """Return a file's list as rows, or raise JudgeFixturesError."""
    return list(held.rows) if held.value is None else held.numbered(listed_objects(held, lists))


def _flat(values: Sequence[Any], depth: int = 0) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list) and depth < DEEPEST:
            yield from _flat(value, depth + 1)
        else:
            yield value


def _list_of(value: Any, lists: Sequence[str]) -> str:
    return next((name for name in lists if isinstance(value.get(name), list)), "")


def _of_page(row: DataRow, lists: Sequence[str]) -> Iterator[DataRow]:
    name = _list_of(row.fields, lists)
    if not name:
        yield row
        return
    for number, value in enumerate(row.fields[name], 1):
        place = f", {name} {number}"
        item = DataRow(value, row.where + place, row.place + place)
        if not isinstance(value, dict):
            raise item.mistake(f"expected an object, got a JSON {type(value).__name__}.")
        yield item
