"""Fields of exports from data/logs.toml: which field of a log holds what."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from judgefixtures.util.patterns import load_table

from .formats.loaded_file import JUDGED, PLAIN


@dataclass(frozen=True, slots=True)
class LogFormatSpec:
    """The layout of one log format.

    Attributes:
        columns: Candidate columns by field; the first present one counts.
        misses: Message by mode if no row has an answer.
        failed: Reason for a row with an error.
    """

    columns: Mapping[str, tuple[str, ...]]
    misses: Mapping[str, str]
    failed: str


@functools.cache
def log_format_spec(form: str) -> LogFormatSpec:
    """Return the layout of a log format."""
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
