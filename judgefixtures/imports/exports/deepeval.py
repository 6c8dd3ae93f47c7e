"""Exports of deepeval: test runs and saved datasets."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from judgefixtures.imports.exports.held import Export, Held
from judgefixtures.sources.named import deepeval_rows
from judgefixtures.sources.parsing import Row


class Deepeval(Export):
    """A row is a test case."""

    name: ClassVar[str] = "deepeval"

    @classmethod
    def claims(cls, held: Held) -> bool:
        """Tell whether there are test cases."""
        return isinstance(held.value, dict) and "testCases" in held.value

    @classmethod
    def rows(cls, held: Held) -> list[Row]:
        """Return a row per test case."""
        return list(deepeval_rows(replace(held.source, source="deepeval")).rows)
