"""Plain logs: one row per answer in the user's own columns, as JSON lines, JSON, CSV, TSV or Parquet."""

from typing import ClassVar

from judgefixtures.sources.row_readers import DataRow, rows_within

from .loaded_file import PLAIN, ExportFormat, LoadedFile


class PlainLogFormat(ExportFormat):
    """What no tool's mark is on."""

    name: ClassVar[str] = PLAIN

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:  # noqa: ARG003
        """Tell that any file is one."""
        return True

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return the rows as they stand."""
        if held.file.suffix.lower() == ".json":
            return rows_within(held.value, held.file, held.source)
        return list(held.rows)
