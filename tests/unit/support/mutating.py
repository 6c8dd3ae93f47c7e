"""Values of JSON with something wrong at a place that hypothesis chooses, and what an export makes of them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from judgefixtures.imports.exports.held import JUDGED, Export, Held
from judgefixtures.words.errors import JudgeFixturesError

WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.just([[]]),
    st.just([None, 1, "a", {}]),
    st.just({"a": [1]}),
    st.just("[{'a': nan}]"),
    st.just("{" * 300),
)


def mutated(data: st.DataObject, value: Any) -> Any:
    """Return a value in which one to four parts are something else, or are lacking; it is changed in place."""
    for _ in range(data.draw(st.integers(1, 4))):
        value = _changed(data, value)
    return value


def _changed(data: st.DataObject, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value or data.draw(st.integers(0, 5)) == 0:
        return copy.deepcopy(data.draw(WRONG))
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = data.draw(st.sampled_from(keys))
    if isinstance(value, dict) and data.draw(st.integers(0, 9)) == 0:
        del value[key]
    else:
        value[key] = _changed(data, value[key])
    return value


def problem_of(export: type[Export], held: Held) -> str:
    """Return the error that an export tells of a file, empty where it has rows, all of them judgements, or leaves it."""
    try:
        if export.claims(held):
            assert all(JUDGED in row.fields for row in export.rows(held))
            export.remarks(held)
    except JudgeFixturesError as error:
        return str(error)
    return ""
