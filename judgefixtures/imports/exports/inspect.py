"""Logs of Inspect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from judgefixtures.imports.exports.held import Export, Held
from judgefixtures.numbers.statistics import several
from judgefixtures.sources.parsing import MISSING, Row, lookup
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import one_line


class Inspect(Export):
    """A row is a sample."""

    name: ClassVar[str] = "inspect"

    @classmethod
    def claims(cls, held: Held) -> bool:
        """Tell whether there are samples."""
        return held.file.suffix.lower() == ".eval" or (isinstance(held.value, dict) and "samples" in held.value)

    @classmethod
    def rows(cls, held: Held) -> list[Row]:
        """Return the samples of a log in JSON; `score` is what the only scorer said."""
        if held.file.suffix.lower() == ".eval":
            raise JudgeFixturesError(
                f"{held.file} is a packed log of Inspect: write it as JSON first (inspect log convert "
                f"--to json --output-dir logs-json {held.file}), and import that."
            )
        samples = held.value.get("samples") if isinstance(held.value, dict) else None
        if not isinstance(samples, list):
            raise JudgeFixturesError(
                f"{held.file} is not a log of Inspect with samples: it has no list `samples`. Write one "
                "with `inspect log dump FILE` or --log-format json."
            )
        return [row._replace(fields=_with_score(row.fields)) for row in held.numbered(samples)]

    @classmethod
    def remarks(cls, held: Held) -> tuple[str, ...]:
        """Return that a run did not end well: its log may lack samples."""
        status, planned = lookup(held.value, "status"), lookup(held.value, "eval.dataset.samples")
        if status in (MISSING, "success"):
            return ()
        of = f" of {planned}" if isinstance(planned, int) and not isinstance(planned, bool) else ""
        return (
            f"take care: {held.file} is of a run with status {one_line(repr(status))[:40]}, not 'success': it "
            f"holds {several(len(held.value['samples']), 'sample')}{of}, and what it lacks may be no accident",
        )


def _with_score(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    scores = fields.get("scores")
    only = next(iter(scores.values())) if isinstance(scores, dict) and len(scores) == 1 else None
    return {**fields, "score": only} if isinstance(only, dict) else fields
