"""Plain logs: one row per answer in the user's own columns."""

from typing import ClassVar

from judgefixtures.sources.row_readers import DataRow, rows_within

from .loaded_file import PLAIN, ExportFormat, LoadedFile


class PlainLogFormat(ExportFormat):
    """Format of files that no tool claims."""

    name: ClassVar[str] = PLAIN

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:  # noqa: ARG003
        """Return True."""
        return True

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return the rows unchanged."""
        if held.file.suffix.lower() == ".json":
            return rows_within(held.value, held.file, held.source)
        return list(held.rows)
