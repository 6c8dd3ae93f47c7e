"""Records: typed rows with JSON conversion."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Self, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
WHERE_ANY, UNWRITTEN = "where_any", "unwritten"


def omit_default(default: Any = None) -> Any:
    """Return a field omitted at its default."""
    return field(default=default, metadata={WHERE_ANY: True})


def not_serialized(default: Any = None) -> Any:
    """Return a field that is never written."""
    return field(default=default, metadata={UNWRITTEN: True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A row whose fields are written in their order.

    >>> @dataclass(frozen=True, slots=True, kw_only=True)
    ... class Score(Record):
    ...     judge: str = ""
    ...     points: tuple[int, ...] = ()
    ...     note: str = omit_default("")
    >>> Score(judge="mine", points=(3, 4)).to_json()
    {'judge': 'mine', 'points': [3, 4]}
    >>> Score.from_json({"points": [3, 4], "note": "late"})
    Score(judge='', points=(3, 4), note='late')
    """

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        kind: Any = type(self)
        return {
            name: as_json(value)
            for name, default in _written(kind)
            for value in [getattr(self, name)]
            if default is MISSING or value != default
        }

    @classmethod
    def from_sources(cls, *sources: object, **values: Any) -> Self:
        """Return a record of values and matching sources.

        >>> @dataclass(frozen=True, slots=True, kw_only=True)
        ... class Share(Record):
        ...     judge: str = ""
        ...     real: float = 0.0
        >>> Share.from_sources(0.5, judge="mine")
        Share(judge='mine', real=0.5)
        """
        for source in sources:
            known = [each.name for each in fields(cls) if each.name not in values and hasattr(source, each.name)]
            values |= {name: getattr(source, name) for name in known}
        return cls(**values)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the record of JSON values or defaults."""
        return build_record(cls, _filled(cls, values))


@lru_cache(maxsize=256)
def _written(kind: Any) -> tuple[tuple[str, Any], ...]:
    written = (each for each in fields(kind) if UNWRITTEN not in each.metadata)
    return tuple((each.name, each.default if WHERE_ANY in each.metadata else MISSING) for each in written)


def as_json(value: object) -> Any:
    """Return a value as plain JSON."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Record):
        return value.to_json()
    if is_dataclass(value):
        return {each.name: as_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    return str(value) if isinstance(value, Enum) else value


def rows_as_json(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return records as plain JSON values."""
    return [each.to_json() for each in records]


def build_record(kind: Callable[..., T], values: Mapping[str, Any]) -> T:
    """Return the record of JSON values, unchanged."""
    return kind(**{name: _typed(kinds, values[name]) for name, kinds in _hints(kind).items() if name in values})


def _filled(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    required = (each.name for each in fields(kind) if each.default is each.default_factory is MISSING)
    return {**dict.fromkeys(required), **values}


@lru_cache(maxsize=256)
def _hints(kind: Any) -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(kind)
    return {each.name: _kinds(hints[each.name]) for each in fields(kind)}


def _kinds(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) not in (tuple, Mapping, list, dict) and get_args(hint) else (hint,)


def _typed(kinds: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, dict | list | str):
        return value
    for kind in kinds:
        inner = get_args(kind)
        if isinstance(value, dict) and is_dataclass(kind):
            return build_record(cast("Callable[..., Any]", kind), _filled(kind, value))
        if isinstance(value, dict) and len(inner) == 2:
            of_values = _kinds(inner[1])
            return {key: _typed(of_values, each) for key, each in value.items()}
        if isinstance(value, list) and get_origin(kind) is tuple:
            of_each = _kinds(inner[0])
            return tuple(_typed(of_each, each) for each in value)
        if isinstance(value, str) and isinstance(kind, type) and issubclass(kind, Enum):
            return kind(value)
    return value
