"""Parsing of table cells that hold objects, numbers and booleans as text."""

import ast
import json
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

from judgefixtures.sources.row_readers import DataRow, cell_value
from judgefixtures.util.texts import make_one_line, short_repr

Value: TypeAlias = bool | float | str | None  # a judgement

LONGEST_NUMBER = 40  # characters
REPR = ("{'", "[{'")  # how an object begins as Python writes it
LONGEST = 200  # characters of what is no judgement
LONGEST_LITERAL = 1_000_000  # characters of an object as Python writes it: parsed it takes a hundred times as much

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def parse_json_cell(value: Any) -> Any:
    """Return the object or list in a JSON text, or the value unchanged.

    >>> parse_json_cell('{"a": 1}'), parse_json_cell("{a}"), parse_json_cell(None)
    ({'a': 1}, '{a}', None)
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    parsed = cell_value(value)
    return parsed if isinstance(parsed, dict | list) else value


def parse_python_literal(text: str) -> Any:
    """Return the list or dict in a Python literal, or the text unchanged.

    >>> parse_python_literal("[{'name': 'tone', 'score': None}]"), parse_python_literal("[sic]")
    ([{'name': 'tone', 'score': None}], '[sic]')
    """
    if len(text) > LONGEST_LITERAL:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a backslash in a text
            parsed = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return parsed if isinstance(parsed, list | dict) else text


def object_or_empty(value: Any) -> Mapping[str, Any]:
    """Return an object or one in JSON text, else an empty one."""
    parsed = parse_json_cell(value)
    return parsed if isinstance(parsed, dict) else {}


def require_object(row: DataRow, name: str, value: Any) -> Mapping[str, Any]:
    """Return an object, empty for null, or raise JudgeFixturesError."""
    parsed = parse_json_cell(value)
    if parsed is None:
        return {}
    if not isinstance(parsed, dict):
        raise row.mistake(f"{name} is {short_repr(parsed)}, but must be an object. Export it again.")
    return parsed


def require_id(row: DataRow, name: str, value: Any) -> str | int | None:
    """Return a text or whole-number id, None if empty, or raise JudgeFixturesError."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise row.mistake(f"{name} must be a text or a whole number, got {short_repr(value, 80)}.")
    return value


def dict_or_empty(value: Any) -> dict[str, Any]:
    """Return a dict unchanged, and an empty dict for other values."""
    return value if isinstance(value, dict) else {}


def text_or_none(value: Any) -> str | None:
    """Return a text, and None for other values."""
    return value if isinstance(value, str) else None


def non_empty_text(value: Any) -> str | None:
    """Return a text that is not blank, else None.

    >>> non_empty_text("So."), non_empty_text(" "), non_empty_text(1)
    ('So.', None, None)
    """
    return value if isinstance(value, str) and value.strip() else None


def judgement_value(value: Any, *, textual: bool = False) -> Value:
    """Return a judgement as a boolean, number or word; `textual` parses texts.

    Other values become text.

    >>> judgement_value("0.5", textual=True), judgement_value("False", textual=True)
    (0.5, False)
    >>> judgement_value("0.5"), judgement_value(float("nan"))
    ('0.5', 'nan')
    """
    if isinstance(value, str):
        return None if not value.strip() else _of_text(value.strip()) if textual else value
    if isinstance(value, list | dict):
        return make_one_line(json.dumps(value))[:LONGEST]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _of_text(text: str) -> bool | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return float(text) if len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text) else text


def cell_text(cell: Any) -> Any:
    """Return a cell, or None for a Python literal of an object.

    >>> cell_text("So."), cell_text("{'role': 'assistant'}")
    ('So.', None)
    """
    parsed = parse_json_cell(cell)
    return None if isinstance(parsed, str) and parsed.startswith(REPR) else parsed
