"""Exports of other tools in tests: the real files, what their rows say, and files in which something is another thing."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from judgefixtures.importers.formats import detect_format
from judgefixtures.importers.formats.loaded_file import JUDGED, LoadedFile, load_file
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import quote_names

LOGS = Path(__file__).parents[1] / "data" / "logs"
DEEPEST = 12  # steps from the whole of a document to what is changed in it
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, False, 0, -1, 10**30, 10**400, 0.5, float("nan"), [], {}]),
    st.sampled_from(["", "x", "\ud83d", "[", "{}", "{" * 300, "[{'a': nan}]", "5" * 5000, "é" * 300]),
    st.sampled_from([[[]], [None], [{}], [None, 1, "a", {}], ["x", 1], {"": 1}, {"a": {"b": []}}, {"a": [1]}]),
    st.sampled_from([{"score": "x"}, {"type": []}]),
    st.integers() | st.floats() | st.text(max_size=8),
)


def said_of(file: Path) -> list[Mapping[str, Any]]:
    """Return what each row of an export says, in the form that is the same for all tools."""
    held = load_file(file)
    return [row.fields[JUDGED] for row in detect_format(held).rows(held)]


@st.composite
def spoiled(draw: st.DrawFn, document: Any) -> Any:
    """Return a document with up to four of its values, anywhere, in the place of which something else stands, or nothing."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 4))):
        held, key = _place(draw, document)
        if held is None:
            continue
        if draw(st.booleans()) and isinstance(held, dict):
            del held[key]
        else:
            held[key] = copy.deepcopy(draw(JUNK))
    return document


def _place(draw: st.DrawFn, document: Any) -> tuple[Any, Any]:
    held, key, value = None, None, document
    for _ in range(draw(st.integers(1, DEEPEST))):
        keys = sorted(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        if not keys:
            break
        held, key = value, draw(st.sampled_from(keys))
        value = held[key]
    return held, key


def write(document: Any, folder: Path, *, lines: bool) -> Path:
    """Write a document, as one or with a line for each of what it lists; return the file."""
    file = folder / ("spoiled.jsonl" if lines else "spoiled.json")
    listed = document if isinstance(document, list) else [document]
    text = "".join(json.dumps(each) + "\n" for each in listed) if lines else json.dumps(document)
    file.write_text(text, encoding="utf-8")
    return file


def read_or_refused(name: str, value: Any) -> None:
    """Read a document by whoever claims it: rows that say whose they are, or an error that names the file."""
    held = LoadedFile(Path(name), value=json.loads(json.dumps(value)))
    refused = ""
    try:
        export = detect_format(held)
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
