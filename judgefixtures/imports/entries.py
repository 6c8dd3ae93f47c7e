"""Entries: what the rows of a log say: which pair was shown how, and what was answered.

A row is read, counted as unusable with its line, or an error; nothing that it says is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from judgefixtures.imports.answers import Answered, Key, Selected, bare_name, shown_digest
from judgefixtures.imports.formats import Format
from judgefixtures.material.contrasts import Condition, Order
from judgefixtures.material.pairs import FIELDS as PAIR_FIELDS
from judgefixtures.material.pairs import TEXT_FIELDS, Pair, as_row, swapped, with_columns
from judgefixtures.reading.verdicts import InvalidKind, parse_verdict
from judgefixtures.sources import Source
from judgefixtures.sources.mapping import identifier, mapped_pair
from judgefixtures.sources.parsing import MISSING, Row, lookup
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.patterns import load_table
from judgefixtures.words.texts import encodable, one_line, quote_names

# What a row of a log can say: whose answer it is about what, the answer, and the pair itself where no dataset has it.
ASKED = ("pair", "order", "condition", "repeat")
SAID = ("selected_response", "answer", "reason")
TOLD = tuple(name for name in PAIR_FIELDS if name != "id")
FIELDS = (*ASKED, *SAID, *TOLD)

ORDERS: Mapping[object, Order] = {"1-2": "12", "12": "12", "false": "12", "2-1": "21", "21": "21", "true": "21"}
SELECTED: Mapping[object, Selected] = MappingProxyType({"1": 1, "a": 1, "2": 2, "b": 2, "tie": "tie"})
OTHER: Mapping[Selected, Selected] = MappingProxyType({1: 2, 2: 1, "tie": "tie", None: None})
LONGEST_NUMBER = 10  # digits of a repeat


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be imported: files, as whose answers, about which pairs, and how their rows are to be read.

    `columns` maps fields of FIELDS to columns or dotted paths, `where` keeps rows in which a column has a value.
    `own_numbers`: selected_response is numbered as in the pair, not as in the order that was shown.
    """

    files: tuple[Path, ...]
    judge: str
    dataset: str | None = None
    pairs: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    format: Format | None = None
    verdict: Literal["json", "brackets"] = "json"
    own_numbers: bool = False
    into: Path | None = None
    config: Path | None = None

    @property
    def config_file(self) -> Path:
        """The configuration that names judges and datasets: a given file, or the pyproject.toml here."""
        return (self.config or Path("pyproject.toml")).absolute()


class UnusableError(Exception):
    """Why a row cannot be an answer about one of the pairs: it is counted with its place."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a log, read as its format and the request say; what it says wrongly is a JudgeFixturesError."""

    row: Row
    form: Format
    request: Request

    @property
    def shape(self) -> Mapping[str, Any]:
        """What a log of this format looks like."""
        return load_table("logs")[self.form]  # type: ignore[no-any-return]

    def column(self, name: str) -> str:
        """Return the column that holds a field."""
        if name in self.request.columns:
            return self.request.columns[name]
        column = str(self.shape["columns"].get(name, ""))
        return "id" if name == "pair" and column == "pair" and "pair" not in self.row.fields else column

    def has(self, name: str) -> bool:
        """Tell whether the row has a field, be it null."""
        return self._found(name) is not MISSING

    def value(self, name: str) -> Any:
        """Return what the row says of a field, None where it says nothing."""
        return None if (found := self._found(name)) is MISSING else found

    def _found(self, name: str) -> Any:
        column = self.column(name)
        return lookup(self.row.fields, column) if column else MISSING

    @property
    def fault(self) -> str:
        """Why nobody answered here; empty where somebody did, or a choice was made all the same."""
        # An export of several providers may have no answer of the one that is meant.
        lacks = self.form == "inspect" or (self.form == "promptfoo" and self.value("answer") is None)
        return str(self.shape["failed"]) if self.row.fields.get("error") and lacks else ""

    @property
    def has_texts(self) -> bool:
        """Whether the row holds its pair."""
        return all(isinstance(value := self.value(name), str) and value.strip() for name in TEXT_FIELDS)

    def pair(self) -> Pair:
        """Return the pair that the row holds, with its own id or one made of the texts."""
        columns = {name: column for name in TOLD if (column := self.column(name))}
        has_id = self.value("pair") is not None
        source = Source("log", columns={**columns, **({"id": self.column("pair")} if has_id else {})})
        found = mapped_pair(self.row, source, make_id=not has_id)
        assert found is not None  # no gold value is left out without gold_values
        return with_columns(found, ())  # what else the row holds is about the answer

    def pair_id(self) -> str | None:
        """Return the id of the pair that the row is about, None where it names none."""
        value = self.value("pair")
        return None if value is None else identifier(value, repr(self.column("pair")), self.row.where)

    def repeat(self) -> int:
        """Return which repeat the row is of, as it counts them."""
        value = self.value("repeat")
        if value is None:
            return 0
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < LONGEST_NUMBER:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.row.mistake(
                f"{self.column('repeat')} must be a whole number of at least 0, got {one_line(repr(value))[:80]}."
            )
        return value

    def order(self) -> Order | None:
        """Return the order that the row names."""
        value = self.value("order")
        found = ORDERS.get(str(value).strip().lower())
        if value is not None and found is None:
            raise self.row.mistake(
                f"{self.column('order')} is {one_line(repr(value))[:80]}: the order is '1-2' or "
                "'12' (as in the pair), '2-1' or '21' (swapped), or false or true (swapped)."
            )
        return found

    def find_condition(self, conditions: Mapping[str, Condition], *, swapped_texts: bool) -> tuple[str, Order]:
        """Return the condition without its order, and the order in which the pair was shown."""
        name, named = self.value("condition"), self.order()
        condition = conditions.get("no-cue" if name in (None, "") else str(name))
        if condition is None:
            raise UnusableError("its condition is none of ours")
        said: set[Order] = {order for order in (named,) if order}
        said |= {"21"} if condition.order == "21" or swapped_texts else set()
        if len(said) > 1:
            raise self.row.mistake(
                "the row says two things about the order of the responses: its "
                "order column names one, its condition or its texts the other."
            )
        return bare_name(condition), next(iter(said), "12")

    def choice(self) -> tuple[Selected, str, InvalidKind | None]:
        """Return the choice, the reason, and why there is no choice, where that is known."""
        named = "answer" in self.request.columns
        if self.has("selected_response") and not named:
            return self._selected(), self._reason(), None
        if not self.has("answer"):
            raise self.row.mistake(
                f"{self.column('answer' if named else 'selected_response')!r} is missing; the row has "
                f"{quote_names(self.row.fields)}. A row without a verdict has it with the value null."
            )
        answer = self.value("answer")
        if answer is None:
            return None, self._reason(), "no-answer"
        if not isinstance(answer, str):
            raise self.row.mistake(f"{self.column('answer')} must be the judge's text, got a {type(answer).__name__}.")
        verdict = parse_verdict(answer, self.request.verdict, ties="half")
        return "tie" if verdict.tie else verdict.selected_response, verdict.reason, verdict.invalid

    def _selected(self) -> Selected:
        value = self.value("selected_response")
        if value is None:
            return None
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        name = "" if isinstance(value, bool | list | dict) else str(whole).strip().lower()
        if name not in SELECTED:
            raise self.row.mistake(
                f"{self.column('selected_response')} is {one_line(repr(value))[:80]}: it must be 1 "
                'or 2 (or "A" or "B"), "tie", or null where the judge gave no verdict.'
            )
        return SELECTED[name]

    def _reason(self) -> str:
        value = self.value("reason")
        if not isinstance(value, str | None):
            raise self.row.mistake(f"{self.column('reason')} must be a text, got a {type(value).__name__}.")
        return encodable(value or "")


@dataclass(slots=True)
class Reader:
    """Reads rows into answers about pairs; what cannot be used is kept with its place.

    `given` are the pairs of a file or of the configuration; `grows`: those of the log itself are added to them.
    """

    conditions: Mapping[str, Condition]
    given: tuple[Pair, ...]
    grows: bool
    pairs: dict[str, Pair] = field(default_factory=dict)
    repeated: int = 0
    unused: list[tuple[str, str]] = field(default_factory=list)  # why, and where
    found: dict[Key, Answered] = field(default_factory=dict)
    places: dict[Key, Row] = field(default_factory=dict)
    by_texts: dict[str, Pair] = field(default_factory=dict)

    def read_answers(self, entries: Sequence[Entry]) -> dict[Key, Answered]:
        """Return the answers of all entries by what they are about; raises JudgeFixturesError naming the line."""
        _check_columns(entries)
        given = {pair.id: pair for pair in self.given}
        self.pairs = {**_told_pairs(entries), **given} if self.grows or not given else given
        self.by_texts = {shown_digest(pair, order): pair for pair in self.pairs.values() for order in get_args(Order)}
        first = min((entry.repeat() for entry in entries), default=0)  # some count from 0, others from 1
        for entry in entries:
            try:
                self._keep(self._answered(entry, first), entry.row)
            except UnusableError as error:
                self.unused.append((str(error), entry.row.where))
        return self.found

    def _keep(self, answered: Answered, row: Row) -> None:
        """Keep an answer, once; raises JudgeFixturesError where another row says something else."""
        before = self.found.setdefault(answered.key, answered)
        place = self.places.setdefault(answered.key, row)
        if before != answered:
            raise row.mistake(
                f"another answer about pair {answered.key.pair!r} in {answered.key.condition}, in the "
                f"same order, stands in {place.where} already. If the judge was asked several times, name the column "
                "that counts it with --columns repeat=...; if these are several judges, choose one with --where "
                "COLUMN=VALUE; else remove one of the two."
            )
        self.repeated += place is not row

    def _answered(self, entry: Entry, first_repeat: int) -> Answered:
        """Return the answer that an entry holds."""
        if entry.fault:
            raise UnusableError(entry.fault)
        pair, shown_swapped = self._pair_of(entry)
        if pair.response_1 == pair.response_2:
            raise UnusableError("its pair has the same response twice")
        condition, order = entry.find_condition(self.conditions, swapped_texts=shown_swapped)
        selected, reason, invalid = entry.choice()
        if entry.request.own_numbers and order == "21":
            selected = OTHER[selected]
        key = Key(condition, pair.id, shown_digest(pair, order), entry.repeat() - first_repeat)
        return Answered(key, selected, reason, invalid)

    def _pair_of(self, entry: Entry) -> tuple[Pair, bool]:
        """Return the pair that an entry is about, and whether it holds its responses in the other order."""
        told, row = entry.pair() if entry.has_texts else None, entry.row
        name = entry.pair_id()
        if told is None and name is None:
            if not self.given and any(entry.value(each) in (None, "") for each in TEXT_FIELDS if entry.has(each)):
                raise UnusableError("no text of a response")
            raise row.mistake(
                f"the row does not say which pair it is about: {entry.column('pair') or 'pair'!r} is "
                f"missing; it has {quote_names(row.fields)}. Name the column with --columns pair=..."
            )
        digest = "" if told is None else shown_digest(told, "12")
        pair = self.pairs.get(name or (told.id if told else "")) or (None if name else self.by_texts.get(digest))
        if pair is None:
            known = self.given and not self.grows
            raise UnusableError("its pair is not in the dataset" if known else "no row has its pair's texts")
        if not digest or digest == shown_digest(pair, "12"):
            return pair, False
        if digest == shown_digest(pair, "21"):
            return pair, True
        raise UnusableError("its texts are not those of its pair")


def _check_columns(entries: Sequence[Entry]) -> None:
    """Raise JudgeFixturesError where a column that was named, or the choice, is in no row at all."""
    first = quote_names(entries[0].row.fields)
    missing = [name for name in FIELDS if not any(entry.has(name) for entry in entries)]
    for name, column in entries[0].request.columns.items():
        if name in missing:
            raise JudgeFixturesError(
                f"--columns {name}={column}: no row has {column!r}; the first one ({entries[0].row.where}) has {first}."
            )
    if {"selected_response", "answer"} <= {*missing}:
        raise JudgeFixturesError(
            f"{entries[0].row.where}: no row says which response was chosen: {entries[0].shape['misses']} Name the "
            "column with --columns selected_response=..., or with --columns answer=... where it is the judge's whole "
            f"text; the row has {first}."
        )


def _told_pairs(entries: Iterable[Entry]) -> dict[str, Pair]:
    """Return the pairs that the log itself holds; those of order 1-2 say which response is the first one."""
    pairs: dict[str, Pair] = {}
    holding = [entry for entry in entries if entry.has_texts]
    for entry in sorted(holding, key=lambda entry: entry.order() == "21"):
        told = entry.pair()
        before = pairs.setdefault(told.id, told)
        if before not in (told, swapped(told)):
            one, other = as_row(told), as_row(before)
            changed = [name for name in PAIR_FIELDS if one.get(name) != other.get(name)]
            raise entry.row.mistake(
                f"pair {told.id!r} has another {' and '.join(changed)} than in a "
                "row before: give different pairs different ids."
            )
    return pairs
