"""Spoiled: a document of JSON in which something is not what it should be, for whoever reads files of others."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

JUNK = st.sampled_from(
    [None, True, False, 0, -1, 10**30, 0.5, float("nan"), "", "x", "\ud83d", "[", "{}", [], [[]], [None], {}]
)
JUNK |= st.sampled_from([{"": 1}, {"a": {"b": []}}, [{}], "é" * 300, {"score": "x"}, {"type": []}, ["x", 1]])


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
    for _ in range(draw(st.integers(1, 7))):
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
