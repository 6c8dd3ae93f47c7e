"""Exports of promptfoo: a judge that it asked, or what its select-best chose of two outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from judgefixtures.imports.exports.held import Export, Held
from judgefixtures.sources.named import promptfoo_rows
from judgefixtures.sources.parsing import Row, lookup


class Promptfoo(Export):
    """Select-best keeps the criterion and not what the grader said: its choices come without reasons."""

    name: ClassVar[str] = "promptfoo"

    @classmethod
    def claims(cls, held: Held) -> bool:
        """Tell whether there are results."""
        return isinstance(held.value, dict) and "results" in held.value

    @classmethod
    def rows(cls, held: Held) -> list[Row]:
        """Return a row per test."""
        rows = promptfoo_rows(replace(held.source, source="promptfoo")).rows
        return [row._replace(fields=_with_best(row.fields)) for row in rows]


def _with_best(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a test's fields with the choice of a select-best between two outputs, and these as the responses.

    Of several outputs without one, nothing says whose is meant.
    """
    outputs = fields["outputs"]
    best = [_selects(grading) for grading in fields["gradings"]]
    if len(outputs) != 2 or None in best:
        return {**fields, "output": outputs[0]} if len(outputs) == 1 else fields
    chosen = best.index(True) + 1 if best.count(True) == 1 else None
    given = fields["vars"] if isinstance(fields["vars"], dict) else {}
    told = {"question": given.get("question", fields.get("prompt")), "response_1": outputs[0], "response_2": outputs[1]}
    return {**fields, "selected": chosen, "outputs": [], "vars": {**given, **told}}


def _selects(grading: Any) -> bool | None:
    """Return whether a select-best chose an output; None where none was asked."""
    parts = lookup(grading, "componentResults") if isinstance(grading, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and lookup(part, "assertion.type") == "select-best":
            return part.get("pass") is True
    return None
