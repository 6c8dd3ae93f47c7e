"""Notation: what the text in a cell stands for, where a table has objects, numbers and truth values as text."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

from judgefixtures.sources.parsing import Row
from judgefixtures.words.texts import one_line

Value: TypeAlias = bool | float | str | None  # a judgement

LONGEST_NUMBER = 40  # characters
REPR = ("{'", "[{'")  # how an object begins as Python writes it
LONGEST_SHOWN = 40  # characters of a value in a message
LONGEST = 200  # characters of what is no judgement
LONGEST_LITERAL = 1_000_000  # characters of an object as Python writes it: parsed it takes a hundred times as much

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def opened(value: Any) -> Any:
    """Return the object or the list that a text is as JSON; any other value as it is.

    >>> opened('{"a": 1}'), opened("{a}"), opened(None)
    ({'a': 1}, '{a}', None)
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, dict | list) else value


def by_python(text: str) -> Any:
    """Return the list or the object that a text is as Python writes one; any other text as it is.

    >>> by_python("[{'name': 'tone', 'score': None}]"), by_python("[sic]")
    ([{'name': 'tone', 'score': None}], '[sic]')
    """
    if len(text) > LONGEST_LITERAL:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a backslash in a text
            found = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return found if isinstance(found, list | dict) else text


def object_of(value: Any) -> Mapping[str, Any]:
    """Return an object, or one that a text is as JSON; an empty one for anything else."""
    found = opened(value)
    return found if isinstance(found, dict) else {}


def object_in(row: Row, name: str, value: Any) -> Mapping[str, Any]:
    """Return an object that a row holds, an empty one for null; raises JudgeFixturesError for another value."""
    found = opened(value)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise row.mistake(
            f"{name} is {one_line(repr(found))[:LONGEST_SHOWN]}, where an object is wanted: export it again."
        )
    return found


def id_in(row: Row, name: str, value: Any) -> str | int | None:
    """Return an id, None for an empty one; raises JudgeFixturesError for what is neither a text nor a whole number."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise row.mistake(f"{name} must be a text or a whole number, got {one_line(repr(value))[:80]}.")
    return value


def filled(value: Any) -> str | None:
    """Return a text that says something; None for anything else.

    >>> filled("So."), filled(" "), filled(1)
    ('So.', None, None)
    """
    return value if isinstance(value, str) and value.strip() else None


def value_of(value: Any, *, textual: bool = False) -> Value:
    """Return a judgement as a truth value, a number or a word, of a table's texts, too; what is none of these, as text.

    >>> value_of("0.5", textual=True), value_of("False", textual=True), value_of("0.5"), value_of(float("nan"))
    (0.5, False, '0.5', 'nan')
    """
    if isinstance(value, str):
        return None if not value.strip() else _of_text(value.strip()) if textual else value
    if isinstance(value, list | dict):
        return one_line(json.dumps(value))[:LONGEST]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _of_text(text: str) -> bool | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return float(text) if len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text) else text


def text_of(cell: Any) -> Any:
    """Return what a cell holds; None where it is an object as Python writes it, which is no text that was shown.

    >>> text_of("So."), text_of("{'role': 'assistant'}")
    ('So.', None)
    """
    found = opened(cell)
    return None if isinstance(found, str) and found.startswith(REPR) else found
