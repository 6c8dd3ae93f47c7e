"""Exports of other tools in tests: the real files, imports of them, and files that are damaged in every place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from judgefixtures.imports.exports import export_of
from judgefixtures.imports.exports.held import JUDGED, Held, hold
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import quote_names

LOGS = Path(__file__).parents[1] / "data" / "logs"
OTHER = st.sampled_from(
    [None, True, 0, -1, 1.5, float("nan"), "", "x", "5" * 5000, 10**400, [], [None], {}, {"a": []}, [[1]]]
)


def said_of(file: Path) -> list[Mapping[str, Any]]:
    """Return what each row of an export says, in the form that is the same for all tools."""
    held = hold(file)
    return [row.fields[JUDGED] for row in export_of(held).rows(held)]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*path, key)
        yield from places(each, (*path, key))


def damaged(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """Return a copy in which another value stands in one place."""
    found = copied = copy.deepcopy(value)
    for step in path[:-1]:
        found = found[step]
    found[path[-1]] = other
    return copied


def read_or_refused(name: str, value: Any) -> None:
    """Read a document by whoever claims it: rows that say whose they are, or an error that names the file."""
    held = Held(Path(name), value=json.loads(json.dumps(value)))
    export = export_of(held)
    refused = ""
    try:
        rows = export.rows(held)
        export.remarks(held)
    except JudgeFixturesError as error:
        rows, refused = [], str(error)
    assert not refused or name in refused
    for row in rows:
        assert quote_names(row.fields)
        said = row.fields.get(JUDGED, {"metric": "", "by": "judge"})
        assert isinstance(said["metric"], str)
        assert isinstance(said.get("reason", ""), str)
