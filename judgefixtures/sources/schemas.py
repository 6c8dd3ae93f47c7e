"""Schemas of known sources (known_sources.toml), and conversion of their rows."""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from judgefixtures.models.pairs import Pair
from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.texts import quote_names

from .mapping import parse_id, require_text, text_id
from .messages import MESSAGES
from .row_readers import DataRow
from .source import Source

TABLES = Path(__file__).with_name("known_sources.toml")
MIN_RATIO = 2.0
DELETED = ("[deleted]", "[removed]")
"""What stands on Reddit where a text was."""

Texts = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """A source's row schema; known_sources.toml explains the keys."""

    columns: tuple[str, ...]
    texts: Texts
    hub: str | None = None
    data_dir: str | None = None
    split: str | None = None
    address: str = ""
    licence: str | None = None
    content_type: str = "Response"
    many_per_question: bool = False
    first_turns: bool = False
    gold: Mapping[str, Any] = field(default_factory=dict)
    category: Mapping[str, Any] = field(default_factory=dict)
    id: tuple[str, ...] = ()
    only: Mapping[str, Any] = field(default_factory=dict)
    ratio: str | None = None
    votes: tuple[str, ...] = ()

    def pairs(self, rows: Iterable[DataRow], source: Source, left_out: Counter[str]) -> Iterator[Pair]:
        """Yield every row's pair; excluded rows are counted."""
        for row in rows:
            if not self._is_wanted(row):
                left_out[self.only["left_out"]] += 1
                continue
            gold = self._gold(row)
            if gold == 0:
                left_out["ties"] += 1
            elif self._is_decided(row, source, left_out):
                parts = [row.fields.get(column) for column in self.id]
                name = "" if any(part is None or part == "" for part in parts) else "-".join(map(str, parts))
                texts, category = self._texts(row), self._category(row)
                yield from complete_pairs(name, texts, category, source, row, left_out, self.content_type, gold)

    def _is_wanted(self, row: DataRow) -> bool:
        if not self.only or (value := row.fields.get(self.only["column"])) is None:
            return True
        if "equals" in self.only:
            return require_number(value, self.only["column"], row) == float(self.only["equals"])
        return value == "" or str(value).startswith(self.only["begins"])

    def _gold(self, row: DataRow) -> Literal[0, 1, 2]:
        if not self.gold:
            return 1
        column, values = self.gold["column"], self.gold["values"]
        value = row.fields[column]
        key = value
        if all(map(str.isdecimal, values)):
            gold = require_number(value, column, row)
            key = str(int(gold)) if gold.is_integer() else None
        if not isinstance(key, str) or key not in values:
            raise unexpected_value_error(row, column, value, values)
        return values[key]  # type: ignore[no-any-return]

    def _is_decided(self, row: DataRow, source: Source, left_out: Counter[str]) -> bool:
        if self.ratio:
            return is_ratio_allowed(require_number(row.fields[self.ratio], self.ratio, row), source, left_out)
        if any(row.fields.get(column) is None for column in self.votes):
            ratio_keys = source.ratio_keys
            if not ratio_keys:
                return True
            raise row.mistake(MESSAGES.no_upvotes(ratio_keys, quote_names(self.votes), quote_names(row.fields)))
        votes = [require_number(row.fields[column], column, row) for column in self.votes]
        return not votes or has_decided_votes(votes[0], votes[1], source, left_out)

    def _category(self, row: DataRow) -> str | None:
        if not self.category:
            return None
        column = self.category["column"]
        value = row.fields[column]
        if "domains" in self.category or "begins" in self.category:
            return self._category_of(require_text(value, column, row.where), column, row)
        return None if value is None else parse_id(value, column, row.where)

    def _category_of(self, value: str, column: str, row: DataRow) -> str:
        if "begins" in self.category:
            return next((name for start, name in self.category["begins"].items() if value.startswith(start)), value)
        domains = {part: domain for domain, parts in self.category["domains"].items() for part in parts}
        if value not in domains:
            raise unexpected_value_error(row, column, value, domains)
        return str(domains[value])

    def _texts(self, row: DataRow) -> list[tuple[str, Any]]:
        if not self.first_turns:
            return [(column, row.fields[column]) for column in self.texts]
        turns = [_first_turn(row, column) for column in self.texts]
        return [(column, turn[place]) for column, turn, place in zip(self.texts, turns, (0, 1, 1), strict=True)]


# --- reading the tables -----------------------------------------------------------------------------------------


def read_tables(path: Path = TABLES) -> Mapping[str, SourceSchema]:
    """Return a file's tables by name, or raise JudgeFixturesError.

    >>> read_tables()["judgebench"].split
    'gpt'
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return MappingProxyType({name: _table(f"{path.name}: [{name}]", table) for name, table in tables.items()})


def _table(where: str, table: Any) -> SourceSchema:
    table = {key: _checked(where, key, value, SHAPES) for key, value in _object(where, table).items()}
    if missing := [key for key in ("columns", "texts") if key not in table]:
        raise JudgeFixturesError(f"{where} has no {quote_names(missing)}: add it.")
    if ("hub" in table) == ("address" in table):
        raise JudgeFixturesError(f"{where} must have either hub (its place on the hub) or address (where to get it).")
    if len(table.get("votes", (1, 2))) != 2:
        raise JudgeFixturesError(f"{where} votes must be the columns of the better and the worse response's votes.")
    for key, needed in (("gold", ("column", "values")), ("category", ("column",)), ("only", ("column", "left_out"))):
        if lacking := [name for name in needed if key in table and name not in table[key]]:
            raise JudgeFixturesError(f"{where} {key} has no {quote_names(lacking)}: add it.")
    if "only" in table and ("equals" in table["only"]) == ("begins" in table["only"]):
        raise JudgeFixturesError(f"{where} only must hold one of equals and begins.")
    return SourceSchema(**table)


def _checked(where: str, key: str, value: Any, shapes: Mapping[str, Any]) -> Any:
    if key not in shapes:
        raise JudgeFixturesError(f"{where} has an unknown key {key!r}: {accepted_values(key, shapes)}.")
    shape = shapes[key]
    if isinstance(shape, Mapping):
        where = f"{where} {key}"
        table = _object(where, value)
        return MappingProxyType({name: _checked(where, name, each, shape) for name, each in table.items()})
    fits, wanted = shape
    if not fits(value):
        raise JudgeFixturesError(f"{where} {key} = {value!r} is not valid: it must be {wanted}.")
    if isinstance(value, dict):
        return MappingProxyType({name: tuple(v) if isinstance(v, list) else v for name, v in value.items()})
    return tuple(value) if isinstance(value, list) else value


def _object(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise JudgeFixturesError(f"{where} must be a table, got {value!r}.")
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


def _maps_to(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and bool(value) and all(map(fits, value.values()))


_TEXT = (_is_text, "a text")
_COLUMNS = (_are_texts, "a list of columns")
_SWITCH = (lambda value: isinstance(value, bool), "true or false")
SHAPES: Mapping[str, Any] = {
    **dict.fromkeys(("hub", "data_dir", "split", "address", "licence", "content_type", "ratio"), _TEXT),
    **dict.fromkeys(("columns", "id", "votes"), _COLUMNS),
    **dict.fromkeys(("many_per_question", "first_turns"), _SWITCH),
    "texts": (lambda value: _are_texts(value) and len(value) == 3, "the columns of question, response 1, response 2"),
    "gold": {
        "column": _TEXT,
        "values": (_maps_to(lambda each: type(each) is int and each in (0, 1, 2)), "values mapped to 1, 2 or 0"),
    },
    "category": {
        "column": _TEXT,
        "domains": (_maps_to(_are_texts), "domains with lists of values"),
        "begins": (_maps_to(_is_text), "beginnings mapped to names"),
    },
    "only": {
        **dict.fromkeys(("column", "begins", "left_out"), _TEXT),
        "equals": (lambda value: type(value) in (int, float), "a number"),
    },
}


# --- what every known source needs of a row -----------------------------------------------------------------------


def complete_pairs(
    name: str,
    texts: Sequence[tuple[str, Any]],
    category: str | None,
    source: Source,
    row: DataRow,
    left_out: Counter[str],
    content_type: str = "Response",
    gold: Literal[1, 2] = 1,
) -> Iterator[Pair]:
    """Yield the pair unless a text is blank or deleted."""
    if any(is_blank(value) for _, value in texts):
        left_out["pairs with an empty text"] += 1
        return
    if any(isinstance(value, str) and value.strip() in DELETED for _, value in texts):
        left_out["pairs with a deleted text"] += 1
        return
    question, first, second = (require_text(value, column, row.where) for column, value in texts)
    pair = Pair("", question, first, second, gold, category, source.content_type or content_type)
    yield replace(pair, id=parse_id(name or text_id(pair), "id", row.where))


def is_blank(value: Any) -> bool:
    """Return whether there is no text."""
    return value is None or (isinstance(value, str) and not value.strip())


def min_vote_ratio(source: Source) -> float:
    """Return the least upvote ratio of a preference."""
    return MIN_RATIO if source.min_ratio is None else source.min_ratio


def has_decided_votes(better: float, worse: float, source: Source, left_out: Counter[str]) -> bool:
    """Return whether upvotes differ enough; count other pairs.

    Fewer than one upvote counts as one.
    """
    if better > worse:
        return is_ratio_allowed(better / max(worse, 1), source, left_out)
    left_out["pairs with equal upvotes"] += 1
    return False


def is_ratio_allowed(ratio: float, source: Source, left_out: Counter[str]) -> bool:
    """Return whether a ratio is allowed; count other pairs."""
    least, most = min_vote_ratio(source), source.max_ratio
    if ratio < least:
        left_out[f"pairs with a ratio of upvotes below {least:g}"] += 1
        return False
    if most is None or ratio <= most:
        return True
    left_out[f"pairs with a ratio of upvotes above {most:g}"] += 1
    return False


def column_objects(row: DataRow, column: str, keys: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """Return a column's objects, from dicts or a dict of lists."""
    held = row.fields[column]
    if isinstance(held, Mapping) and all(isinstance(held.get(key), list) for key in keys):
        lengths = {key: len(held[key]) for key in keys}
        if len(set(lengths.values())) > 1:
            raise row.mistake(f"the lists of {column} must have the same length, got {lengths!r}.")
        held = [dict(zip(keys, values, strict=True)) for values in zip(*(held[key] for key in keys), strict=True)]
    for each in held if isinstance(held, list) else () if held is None else (held,):
        if missing := [key for key in keys if not isinstance(each, Mapping) or key not in each]:
            named = quote_names(each) if isinstance(each, Mapping) else repr(each)
            raise row.mistake(f"{column} have no {quote_names(missing)}: found {named}; expected {quote_names(keys)}.")
    if not isinstance(held, list | None):
        raise row.mistake(f"{column} must be a list of objects or an object of lists with {quote_names(keys)}.")
    return held or []


def _first_turn(row: DataRow, column: str) -> tuple[Any, Any]:
    first = column_objects(row, column, ("role", "content"))[:2]
    if (roles := [message["role"] for message in first]) != ["user", "assistant"]:
        raise row.mistake(f"{column} must start with a user message and an assistant message, got {roles!r}.")
    return first[0]["content"], first[1]["content"]


def require_number(value: Any, field: str, row: DataRow) -> float:
    """Return a number or numeric text, or raise JudgeFixturesError."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise row.mistake(f"{field} must be a number, got {value!r}.") from None


def unexpected_value_error(row: DataRow, field: str, value: Any, accepted: Iterable[str]) -> JudgeFixturesError:
    """Return the error of an unknown value."""
    return row.mistake(f"{field} is {value!r}, which is unknown: {accepted_values(str(value), accepted)}.")
