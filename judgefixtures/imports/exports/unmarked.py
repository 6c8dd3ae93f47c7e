"""Plain logs: a row per answer, in columns of one's own, as JSON lines, JSON, CSV, TSV or Parquet."""

from __future__ import annotations

from typing import ClassVar

from judgefixtures.imports.exports.held import PLAIN, Export, Held
from judgefixtures.sources.parsing import Row, rows_within


class Plain(Export):
    """What no tool's mark is on."""

    name: ClassVar[str] = PLAIN

    @classmethod
    def claims(cls, held: Held) -> bool:  # noqa: ARG003
        """Tell that any file is one."""
        return True

    @classmethod
    def rows(cls, held: Held) -> list[Row]:
        """Return the rows as they stand."""
        if held.file.suffix.lower() == ".json":
            return rows_within(held.value, held.file, held.source)
        return list(held.rows)
