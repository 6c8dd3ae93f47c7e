"""Parquet: its rows as plain values, a batch at a time."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import quote_names

BATCH = 2000
BUFFER = 2**20  # bytes; without it a column is read whole
MOST_ROWS = 10_000_000
LARGEST = 2**31  # bytes of what is in it, unpacked


def parquet_rows(path: Path, named: str = "", *, as_json: bool = True) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file; raises JudgeFixturesError naming the file, as `named` has it.

    With `as_json` what JSON has no form for is what it says: a date or a time by ISO 8601, a decimal as a number, bytes
    as text.
    """
    named = named or str(path)
    try:
        import pyarrow
        from pyarrow import parquet
    except Exception as error:  # a broken build raises anything
        raise JudgeFixturesError(
            f"{named}: the library `pyarrow` cannot be imported ({type(error).__name__}): install it (pip install "
            "pyarrow), or save the table as CSV."
        ) from None
    try:
        with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            names = file.schema_arrow.names
            if len({*names}) < len(names):
                raise JudgeFixturesError(f"{named}: each column must have its own name, found {quote_names(names)}.")
            _check_size(named, file.metadata.num_rows, 0)
            found = list(_rows(named, file, names, as_json=as_json))
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise JudgeFixturesError(
            f"{named} cannot be read as Parquet ({said[:200]}): it is cut off or damaged. Write it again, or give "
            "another format."
        ) from None
    pyarrow.default_memory_pool().release_unused()
    return found


def has_features(path: Path) -> bool:
    """Tell whether the library `datasets` wrote a file, and what its columns are beside their types."""
    try:
        from pyarrow import parquet

        return b"huggingface" in (parquet.read_schema(path).metadata or {})
    except Exception:  # whoever reads it says what is amiss
        return False


def _rows(named: str, file: Any, names: list[str], *, as_json: bool) -> Iterator[dict[str, Any]]:
    from pyarrow import types

    rows = size = 0
    for batch in file.iter_batches(batch_size=BATCH):
        columns = []
        for column in batch.columns:
            if types.is_dictionary(column.type):
                column = column.dictionary_decode()
            size += column.nbytes
            _check_size(named, rows, size)
            values = column.to_pylist()
            columns.append(values if not as_json or _is_plain(column.type) else list(map(plain_value, values)))
        rows += batch.num_rows
        yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))


def _is_plain(kind: Any) -> bool:
    """Tell whether all values of a type are as JSON has them."""
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, types.is_boolean, types.is_integer, types.is_floating)
    return any(test(kind) for test in tests)


def plain_value(value: Any) -> Any:
    """Return a value as JSON has one.

    >>> plain_value({"on": datetime.date(2026, 1, 2), "score": [decimal.Decimal("1.50"), decimal.Decimal(2)]})
    {'on': '2026-01-02', 'score': [1.5, 2]}
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): plain_value(each) for key, each in value.items()}
        case list() | tuple():
            return [plain_value(each) for each in value]
        case decimal.Decimal():
            return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
        case datetime.date() | datetime.time():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "replace")
    return str(value)


def _check_size(named: str, rows: int, size: int) -> None:
    if rows > MOST_ROWS or size > LARGEST:
        much = f"{rows:,} rows" if rows > MOST_ROWS else f"more than {LARGEST:,} bytes unpacked"
        raise JudgeFixturesError(f"{named} holds {much}: take a sample of it, of at most some million rows.")
