"""Conversion of a result, any Python object, to JSON."""

import contextlib
import dataclasses
import enum
import math
from collections.abc import Iterator, Mapping, Set
from typing import Any

from judgefixtures.util.patterns import load_table

DEEPEST = 8  # levels of fields within fields


def usual_fields() -> list[str]:
    """Return the names of fields that results usually have."""
    table = load_table("results")
    names = [*table["reason"], *table["cost"], *(name for each in table["verdict"].values() for name in each)]
    return list(dict.fromkeys([*names, "usage"]))


def to_json(value: Any, deepest: int = DEEPEST) -> Any:
    """Return an object's fields as JSON; a field that JSON cannot hold is its type's name.

    >>> to_json({"passed": True, "when": object(), "scores": (1, float("nan"))})
    {'passed': True, 'when': 'object', 'scores': [1, 'float']}
    """
    match value:
        case enum.Enum():
            return to_json(value.value, deepest)
        case None | bool():
            return value
        case str():
            return str(value)
        case int():
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
    if deepest:
        if isinstance(value, Mapping):
            return {str(key): to_json(each, deepest - 1) for key, each in value.items()}
        if isinstance(value, list | tuple | Set) and not hasattr(value, "_fields"):
            return [to_json(each, deepest - 1) for each in value]
        if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "shape", None) == ():
            return to_json(value.item(), deepest - 1)
        if fields := {name: to_json(each, deepest - 1) for name, each in _fields(value, deepest == DEEPEST)}:
            return fields
    return type(value).__name__


def _fields(value: Any, is_result: bool) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a dataclass, a pydantic model or a named tuple; of the result itself, all attributes."""
    kind = type(value)
    if isinstance(value, type) or callable(value):
        return
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
    else:
        names = [str(name) for name in getattr(kind, "model_fields", getattr(kind, "_fields", ()))]
    if is_result:
        names += [*getattr(value, "__dict__", ()), *(each for each in usual_fields() if hasattr(kind, each))]
    for name in dict.fromkeys(names):
        if not name.startswith("_"):
            with contextlib.suppress(Exception):  # a property that cannot be read is no field
                yield name, getattr(value, name)
