"""Format specifications: which field of a log holds what, from data/logs.toml."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from judgefixtures.util.patterns import load_table

from .formats.loaded_file import JUDGED, PLAIN


@dataclass(frozen=True, slots=True)
class LogFormatSpec:
    """What a log of one format looks like.

    `columns` has the columns that may hold a field, the first one that a row has counts; `misses` what is said where no
    row says what the judge said, by the mode of the judges; `failed` why nobody answered a row that has an error.
    """

    columns: Mapping[str, tuple[str, ...]]
    misses: Mapping[str, str]
    failed: str


@functools.cache
def log_format_spec(form: str) -> LogFormatSpec:
    """Return what a log of a format looks like."""
    tables = load_table("logs")
    table = tables[form]
    parts = [table.get("columns", {})]
    if form != PLAIN:  # every export says the same in one form, beside what its tool wrote
        parts.insert(0, tables[JUDGED]["columns"])
    columns: dict[str, tuple[str, ...]] = {}
    for part in parts:
        for name, known in part.items():
            columns[name] = (*columns.get(name, ()), *((known,) if isinstance(known, str) else known))
    return LogFormatSpec(columns, table["misses"], table.get("failed", "its judge ended with an error"))
