"""Parquet files: rows as plain values, one batch at a time."""

import contextlib
import datetime
import decimal
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import quote_names

from .messages import MESSAGES
from .size_limits import limit, remedy

BATCH = 1000
BUFFER = 2**20  # bytes; without it a column is read whole
MOST_ROWS = 10_000_000
LARGEST, LARGEST_ROW = 2**30, 2**25  # bytes of what is in it, unpacked
BYTES_A_VALUE, BYTES_A_ROW = 32, 300  # of memory, at least


@contextlib.contextmanager
def _opened(path: Path, named: str) -> Iterator[Any]:
    from pyarrow import parquet

    head = parquet.read_metadata(path)
    chunks = [head.row_group(i).column(j) for i in range(head.num_row_groups) for j in range(head.num_columns)]
    least = sum(chunk.total_uncompressed_size + BYTES_A_VALUE * chunk.num_values for chunk in chunks)
    _check_size(named, head.num_rows, least + BYTES_A_ROW * head.num_rows)
    columns = [head.schema.column(i) for i in range(head.num_columns)]  # a chunk's own name may be damaged
    texts = sorted({column.path for column in columns if column.physical_type == "BYTE_ARRAY"})
    with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False, read_dictionary=texts) as file:
        yield file


def parquet_rows(path: Path, named: str = "", *, as_json: bool = True) -> list[dict[str, Any]]:
    """Return a Parquet file's rows, or raise JudgeFixturesError.

    With `as_json` values become JSON types: ISO 8601 times, numbers and texts.
    """
    named = named or str(path)
    try:
        import pyarrow
    except Exception as error:  # a broken build raises anything
        raise JudgeFixturesError(MESSAGES.no_pyarrow(named, type(error).__name__)) from None
    try:
        with _opened(path, named) as file:
            names = file.schema_arrow.names
            if len({*names}) < len(names):
                raise JudgeFixturesError(f"{named}: each column must have its own name, found {quote_names(names)}.")
            rows = list(_rows(named, file, names, as_json=as_json))
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise JudgeFixturesError(MESSAGES.damaged_parquet(named, reason[:200])) from None
    pyarrow.default_memory_pool().release_unused()
    return rows


def datasets_features(path: Path) -> bool:
    """Return whether the library `datasets` wrote a file."""
    try:
        from pyarrow import parquet

        return b"huggingface" in (parquet.read_schema(path).metadata or {})
    except Exception:  # whoever reads it says what is amiss
        return False


def _rows(named: str, file: Any, names: list[str], *, as_json: bool) -> Iterator[dict[str, Any]]:
    from pyarrow import types

    for batch in _batches(named, file):
        columns = []
        for column in batch.columns:
            if types.is_dictionary(column.type):
                column = column.dictionary_decode()
            values = column.to_pylist()
            columns.append(values if not as_json or _is_plain(column.type) else list(map(plain_value, values)))
        yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))


def _batches(named: str, file: Any) -> Iterator[Any]:
    rows = size = 0
    most = limit("row", LARGEST_ROW)
    groups = (file.iter_batches(BATCH, row_groups=[group]) for group in range(file.num_row_groups))
    for batch in itertools.chain.from_iterable(groups):  # nested texts are read within one group alone
        held = sum(map(_size_of, batch.columns))
        for number in range(batch.num_rows) if held > most else ():
            if sum(map(_size_of, batch.slice(number, 1).columns)) > most:
                raise JudgeFixturesError(f"{named}: row {rows + number + 1} is too large. {remedy('row', most)}.")
        rows, size = rows + batch.num_rows, size + held
        _check_size(named, rows, size)
        yield batch


def _size_of(array: Any) -> int:
    from pyarrow import compute, types

    if types.is_dictionary(array.type):
        lengths = compute.binary_length(array.dictionary.cast("binary")).take(array.indices)
        return int(array.indices.nbytes) + (compute.sum(lengths).as_py() or 0)
    if types.is_nested(array.type):
        inner = _entries(array) if types.is_map(array.type) else array.flatten()
        return 8 * len(array) + sum(map(_size_of, inner if isinstance(inner, list) else [inner]))
    return int(array.nbytes)


def _entries(array: Any) -> list[Any]:
    first, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return [array.keys.slice(first, end - first), array.items.slice(first, end - first)]


def _is_plain(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, types.is_boolean, types.is_integer, types.is_floating)
    return any(test(kind) for test in tests)


def plain_value(value: Any) -> Any:
    """Return a value as a JSON type.

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
    most = limit("file", LARGEST)
    if rows > MOST_ROWS or size > most:
        much = f"{rows:,} rows" if rows > MOST_ROWS else f"more than {most:,} bytes unpacked"
        more = "" if rows > MOST_ROWS else f" {remedy('file', most)}."
        raise JudgeFixturesError(f"{named} holds {much}, which is too large. Use a sample.{more}")
