"""Logs to imported answers: what `python -m judgefixtures import` reads, checks and writes.

A row of a log is one answer of a judge about one pair; files are read in formats.py. What a row says is never guessed:
it is read, counted as unused with its line, or an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NoReturn, get_args

from judgefixtures.asking.kinds import kind_of
from judgefixtures.cassettes.frozen import FILE as PAIRS_FILE
from judgefixtures.cassettes.frozen import SAMPLE_FILE, write_changed
from judgefixtures.config import TABLE, Config, build_config, load_config
from judgefixtures.imports.answers import (
    FILE,
    Answered,
    Imported,
    Key,
    Log,
    Selected,
    bare_name,
    read_imported,
    shown_digest,
    write_imported,
)
from judgefixtures.imports.formats import Format, format_of, read_log, remarks_on
from judgefixtures.material.contrasts import Condition, Order, conditions
from judgefixtures.material.cues import LONGEST_NAME, NAME
from judgefixtures.material.pairs import FIELDS as PAIR_FIELDS
from judgefixtures.material.pairs import TEXT_FIELDS, Pair, as_row, swapped
from judgefixtures.numbers.statistics import several
from judgefixtures.providers import know_credentials
from judgefixtures.reading.verdicts import InvalidKind, parse_verdict
from judgefixtures.sources import Source, load_pairs
from judgefixtures.sources.mapping import identifier, mapped_pair
from judgefixtures.sources.parsing import MISSING, Row, lookup
from judgefixtures.words.commands import options
from judgefixtures.words.errors import JudgeFixturesError, choices
from judgefixtures.words.patterns import load_table
from judgefixtures.words.secrets import presentable, redacted, redacted_json
from judgefixtures.words.texts import encodable, one_line, quote_names

# What a row of a log can say: whose answer it is about what, the answer, and the pair itself where no dataset has it.
ASKED = ("pair", "order", "condition", "repeat")
SAID = ("selected_response", "answer", "reason")
TOLD = tuple(name for name in PAIR_FIELDS if name != "id")
FIELDS = (*ASKED, *SAID, *TOLD)

ORDERS: Mapping[object, Order] = MappingProxyType(
    {"1-2": "12", "12": "12", "false": "12", "2-1": "21", "21": "21", "true": "21"}
)
SELECTED: Mapping[object, Selected] = MappingProxyType({"1": 1, "a": 1, "2": 2, "b": 2, "tie": "tie"})
OTHER: Mapping[Selected, Selected] = MappingProxyType({1: 2, 2: 1, "tie": "tie", None: None})

MOST_NAMED = 5
LEAST = 0.7  # the accuracy in the table that is printed where the configuration asks for none
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


@dataclass(frozen=True, slots=True)
class Done:
    """What was imported, and what was not: rows of others, rows that say again what others say, rows without a use.

    `pairs` are written beside the answers: those that these are about, and those that an earlier import wrote there
    where that file is the dataset.
    """

    request: Request
    imported: Imported
    pairs: tuple[Pair, ...]
    folder: Path
    config: Config
    others: int
    repeated: int
    unused: tuple[tuple[str, str], ...]  # why, and where
    remarks: tuple[str, ...] = ()  # what the logs say of themselves
    replaced: int = 0  # answers of an earlier import that were there and are not among these


def import_log(request: Request) -> Done:
    """Read logs, check them, and write their answers beside the recordings; raises JudgeFixturesError for a mistake."""
    config = _config(request)
    for table in config.judges.values():
        know_credentials(table)  # a log may quote a key: it is not to be written
    dataset = _names(request, config)
    form = request.format or format_of(request.files[0])
    rows = [row for file in request.files for row in read_log(file, form)]
    wanted = [row for row in rows if _is_wanted(row, request.where)]
    if not wanted:
        raise JudgeFixturesError(_none_wanted(request, rows))
    folder = (request.into or config.folder / "cassettes") / request.judge / dataset
    given = _known_pairs(request, dataset, config)
    grows = request.pairs is None and dataset in config.datasets and _is_own(folder, config.source(dataset))
    reader = _Reader(request, form, conditions(config.cues), given, grows)
    found = reader.read(wanted)
    if not found:
        raise JudgeFixturesError(
            f"{_files(request)}: no row can be used: {_why(reader.unused)}. Name the pairs that the log is about "
            "(--pairs FILE, or --dataset NAME of the configuration), or other columns (--columns)."
        )
    logs = tuple(Log(file.name, hashlib.sha256(file.read_bytes()).hexdigest()[:16]) for file in request.files)
    answered = {key.pair for key in found}
    kept = {pair.id for pair in given} | answered if grows else answered
    pairs = tuple(pair for _, pair in sorted(reader.pairs.items()) if pair.id in kept)
    gone = earlier(folder / FILE).keys() - found.keys()
    done = Done(
        request,
        Imported(request.judge, dataset, logs, found),
        pairs,
        folder,
        config,
        len(rows) - len(wanted),
        reader.repeated,
        tuple(reader.unused),
        remarks_on(request.files, form),
        len(gone),
    )
    _keep(done, built_in=reader.known and config.source(dataset).is_built_in if dataset in config.datasets else False)
    return done


# --- what the request names -----------------------------------------------------------------------------------


def _config(request: Request) -> Config:
    """Return the configuration that names judges and datasets: a given file, the pyproject.toml here, or none."""
    path = request.config_file
    if request.config is None and not path.is_file():
        return build_config({}, f"{path}, which does not exist", path.parent, TABLE)
    return load_config(path)


def _names(request: Request, config: Config) -> str:
    """Return the dataset's name; raises JudgeFixturesError for names that cannot be folders, or mean another thing."""
    dataset = request.dataset or (request.pairs.stem if request.pairs is not None else "")
    if not dataset:
        raise JudgeFixturesError(
            f"{_files(request)}: which pairs are these answers about? Give --dataset NAME: one of the configuration "
            "(without a dataset of that name the log must hold the texts), or --pairs FILE with the pairs."
        )
    for what, name in (("--judge", request.judge), ("--dataset", dataset)):
        if not NAME.match(name) or len(name) > LONGEST_NAME:
            raise JudgeFixturesError(
                f"{what} {name[:60]!r} cannot be a folder: use letters, digits, dot, underscore "
                f"and hyphen, at most {LONGEST_NAME}, and begin with a letter or a digit."
            )
    table = config.judges.get(request.judge)
    if table is not None and kind_of(table).is_asked:
        raise JudgeFixturesError(
            f"{config.file}: {config.heading('judges', request.judge)} is asked (provider = {table.provider!r}): "
            "imported answers must not pass for its own. Choose another name with --judge."
        )
    if request.pairs is not None and dataset in config.datasets and config.source(dataset).is_built_in:
        raise JudgeFixturesError(
            f"--dataset {dataset}: the package has pairs of that name, and --pairs {request.pairs} would be others. "
            "Choose another name with --dataset, or leave out --pairs."
        )
    for name in request.columns:
        if name not in FIELDS:
            raise JudgeFixturesError(f"--columns: there is no field {name!r}: {choices(name, FIELDS)}.")
    return dataset


def _known_pairs(request: Request, dataset: str, config: Config) -> tuple[Pair, ...]:
    """Return the pairs that a file or the configuration has; none where the log's own texts are all there is."""
    if request.pairs is not None:
        return _without_secrets(load_pairs(Source(dataset, request.pairs, balance_positions=False)), str(request.pairs))
    if dataset not in config.datasets:
        return ()
    config.check_dataset_files(dataset)
    source = replace(config.source(dataset), balance_positions=False)
    return _without_secrets(load_pairs(source, config.seed), f"dataset {dataset!r}")


def _without_secrets(pairs: tuple[Pair, ...], where: str) -> tuple[Pair, ...]:
    """Return the pairs; raises JudgeFixturesError for one that holds a key: they are written beside the answers."""
    for number, pair in enumerate(pairs, 1):
        if redacted_json(row := as_row(pair)) != row:
            named = "" if redacted(pair.id) != pair.id else f" ({pair.id!r})"
            raise JudgeFixturesError(
                f"{where}: pair {number}{named} holds the value of a variable that is a judge's key: nothing was "
                "written. Take it out of the pair, and change the key if others may have read it."
            )
    return pairs


def _is_own(folder: Path, source: Source) -> bool:
    """Tell whether a dataset is the file of pairs that imports of this judge write: then a log adds to it."""
    return source.path is not None and Path(source.path).resolve() == (folder / PAIRS_FILE).resolve()


def _files(request: Request) -> str:
    return ", ".join(map(str, request.files))


def _is_wanted(row: Row, where: Mapping[str, str]) -> bool:
    return all(_as_text(lookup(row.fields, column)) == value for column, value in where.items())


def _as_text(value: object) -> object:
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _none_wanted(request: Request, rows: Sequence[Row]) -> str:
    if not rows:
        return f"{_files(request)} holds no rows: a log has one JSON object per line, one for each answer."
    said = []
    for column in request.where:
        values = {str(_as_text(value)) for row in rows if (value := lookup(row.fields, column)) is not MISSING}
        said.append(f"{column} is {quote_names(sorted(values)[:10])}" if values else f"no row has {column!r}")
    asked = " and ".join(f"{column}={value}" for column, value in request.where.items())
    return f"{_files(request)}: none of {len(rows)} rows has --where {asked}: {'; '.join(said)}."


# --- rows to answers --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reader:
    """Reads rows into answers, one by one; what cannot be used is kept with its place."""

    request: Request
    form: Format
    conditions: Mapping[str, Condition]
    given: tuple[Pair, ...]
    grows: bool  # the log's own pairs are added to those that were given
    pairs: dict[str, Pair] = field(default_factory=dict)
    repeated: int = 0
    unused: list[tuple[str, str]] = field(default_factory=list)
    found: dict[Key, Answered] = field(default_factory=dict)
    places: dict[Key, Row] = field(default_factory=dict)
    by_texts: dict[str, Pair] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether the pairs are those of a file or of the configuration, and not the log's own."""
        return bool(self.given)

    @property
    def shape(self) -> Mapping[str, Any]:
        """What a log of this format looks like."""
        return load_table("logs")[self.form]  # type: ignore[no-any-return]

    def read(self, rows: Sequence[Row]) -> dict[Key, Answered]:
        """Return the answers of all rows by what they are about; raises JudgeFixturesError naming the line."""
        self._check_columns(rows)
        given = {pair.id: pair for pair in self.given}
        self.pairs = {**self._told(rows), **given} if self.grows or not given else given
        self.by_texts = {shown_digest(pair, order): pair for pair in self.pairs.values() for order in get_args(Order)}
        first = self._first_repeat(rows)
        for row in rows:
            self._take(row, first)
        return self.found

    def column(self, name: str, row: Row) -> str:
        """Return the column that holds a field."""
        columns = self.request.columns
        if name in columns:
            return columns[name]
        column = self.shape["columns"].get(name, "")
        return "id" if name == "pair" and column == "pair" and "pair" not in row.fields else column

    def value(self, name: str, row: Row) -> Any:
        """Return what a row says of a field, MISSING where it says nothing."""
        column = self.column(name, row)
        return lookup(row.fields, column) if column else MISSING

    def _check_columns(self, rows: Sequence[Row]) -> None:
        """Raise JudgeFixturesError where a column that was named, or the choice, is in no row at all."""
        for name, column in self.request.columns.items():
            if all(lookup(row.fields, column) is MISSING for row in rows):
                raise JudgeFixturesError(
                    f"--columns {name}={column}: no row has {column!r}; the first one "
                    f"({rows[0].where}) has {quote_names(rows[0].fields)}."
                )
        if all(self.value(name, row) is MISSING for row in rows for name in ("selected_response", "answer")):
            raise JudgeFixturesError(
                f"{rows[0].where}: no row says which response was chosen: {self.shape['misses']} Name the column with "
                "--columns selected_response=..., or with --columns answer=... where it is the judge's whole text; "
                f"the row has {quote_names(rows[0].fields)}."
            )

    def _first_repeat(self, rows: Sequence[Row]) -> int:
        """Return the smallest repeat that the log has: some count from 0, others from 1."""
        return min((self._repeat(row) for row in rows), default=0)

    def _repeat(self, row: Row) -> int:
        value = self.value("repeat", row)
        if value is MISSING or value is None:
            return 0
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < LONGEST_NUMBER:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise row.mistake(
                f"{self.column('repeat', row)} must be a whole number of at least 0, got {one_line(repr(value))[:80]}."
            )
        return value

    def _take(self, row: Row, first_repeat: int) -> None:
        """Keep the answer of a row, once; raises JudgeFixturesError where another row says something else."""
        answered = self._answered(row, first_repeat)
        if answered is None:
            return
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

    def _answered(self, row: Row, first_repeat: int) -> Answered | None:
        """Return the answer that a row holds; None, with why, where it cannot be used."""
        if row.fields.get("error") and (self.form == "inspect" or self._lacks_an_answer(row)):
            self._no_use(self.shape["failed"], row)
            return None
        pair, shown_swapped = self._pair_of(row)
        if pair is None:
            return None
        if pair.response_1 == pair.response_2:
            self._no_use("its pair has the same response twice", row)
            return None
        condition, order = self._condition_of(row, swapped_texts=shown_swapped)
        if not condition:
            return None
        selected, reason, invalid = self._said(row)
        if self.request.own_numbers and order == "21":
            selected = OTHER[selected]
        key = Key(condition, pair.id, shown_digest(pair, order), self._repeat(row) - first_repeat)
        return Answered(key, selected, reason, invalid)

    def _lacks_an_answer(self, row: Row) -> bool:
        """Tell whether an export of several providers has no answer of the one that is meant."""
        return self.form == "promptfoo" and self.value("answer", row) in (MISSING, None)

    def _no_use(self, why: str, row: Row) -> None:
        self.unused.append((why, row.where))

    # --- the pair -------------------------------------------------------------------------------------------

    def _has_texts(self, row: Row) -> bool:
        return all(isinstance(value := self.value(name, row), str) and value.strip() for name in TEXT_FIELDS)

    def _texts(self, row: Row) -> Pair:
        """Return the pair that a row holds, its own id or one made of the texts; raises JudgeFixturesError."""
        columns = {name: column for name in TOLD if (column := self.column(name, row))}
        has_id = self.value("pair", row) not in (MISSING, None)
        source = Source("log", columns={**columns, **({"id": self.column("pair", row)} if has_id else {})})
        found = mapped_pair(row, source, make_id=not has_id)
        assert found is not None  # no gold value is left out without gold_values
        return found

    def _told(self, rows: Sequence[Row]) -> dict[str, Pair]:
        """Return the pairs that the log itself holds; those of order 1-2 say which response is the first one."""
        pairs: dict[str, Pair] = {}
        holding = [row for row in rows if self._has_texts(row)]
        for row in sorted(holding, key=lambda row: self._order(row) == "21"):
            told = self._texts(row)
            before = pairs.setdefault(told.id, told)
            if before not in (told, swapped(told)):
                one, other = as_row(told), as_row(before)
                changed = [name for name in PAIR_FIELDS if one.get(name) != other.get(name)]
                raise row.mistake(
                    f"pair {told.id!r} has another {' and '.join(changed)} than in a "
                    "row before: give different pairs different ids."
                )
        return pairs

    def _pair_of(self, row: Row) -> tuple[Pair | None, bool]:
        """Return the pair that a row is about, and whether the row holds its responses in the other order."""
        told = self._texts(row) if self._has_texts(row) else None
        value = self.value("pair", row)
        if told is not None and value in (MISSING, None):
            pair = self.pairs.get(told.id) or self.by_texts.get(shown_digest(told, "12"))
        elif value is MISSING or value is None:
            if not self.given and self._misses_a_text(row):
                self._no_use("no text of a response", row)
                return None, False
            raise row.mistake(
                f"the row does not say which pair it is about: {self.column('pair', row) or 'pair'!r} is "
                f"missing; it has {quote_names(row.fields)}. Name the column with --columns pair=..."
            )
        else:
            pair = self.pairs.get(identifier(value, repr(self.column("pair", row)), row.where))
        if pair is None:
            known = self.given and not self.grows
            self._no_use("its pair is not in the dataset" if known else "no row has its pair's texts", row)
            return None, False
        if told is None or shown_digest(told, "12") == shown_digest(pair, "12"):
            return pair, False
        if shown_digest(told, "12") == shown_digest(pair, "21"):
            return pair, True
        self._no_use("its texts are not those of its pair", row)
        return None, False

    def _misses_a_text(self, row: Row) -> bool:
        return any(self.value(name, row) in (None, "") for name in TEXT_FIELDS)

    # --- how it was shown -----------------------------------------------------------------------------------

    def _order(self, row: Row) -> Order | None:
        """Return the order that a row names; raises JudgeFixturesError for anything else."""
        value = self.value("order", row)
        if value is MISSING or value is None:
            return None
        found = ORDERS.get(str(value).strip().lower())
        if found is None:
            raise row.mistake(
                f"{self.column('order', row)} is {one_line(repr(value))[:80]}: the order is '1-2' or "
                "'12' (as in the pair), '2-1' or '21' (swapped), or false or true (swapped)."
            )
        return found

    def _condition_of(self, row: Row, *, swapped_texts: bool) -> tuple[str, Order]:
        """Return the condition without its order, and the order; an empty name where the row cannot be used."""
        value, named = self.value("condition", row), self._order(row)
        condition = self.conditions["no-cue"] if value in (MISSING, None, "") else self.conditions.get(str(value))
        if condition is None:
            self._no_use("its condition is none of ours", row)
            return "", "12"
        said: list[Order] = [
            order
            for order in (named, "21" if condition.order == "21" else None, "21" if swapped_texts else None)
            if order
        ]
        if len(set(said)) > 1:
            raise row.mistake(
                "the row says two things about the order of the responses: its "
                "order column names one, its condition or its texts the other."
            )
        return bare_name(condition), said[0] if said else "12"

    # --- what was answered ----------------------------------------------------------------------------------

    def _said(self, row: Row) -> tuple[Selected, str, InvalidKind | None]:
        """Return the choice, the reason, and why there is no choice, where that is known."""
        value, answer = self.value("selected_response", row), self.value("answer", row)
        if value is not MISSING and "answer" not in self.request.columns:
            return self._selected(value, row), self._reason(row), None
        if answer is MISSING:
            self._refuse("answer" if "answer" in self.request.columns else "selected_response", row)
        if answer is None:
            return None, self._reason(row), "no-answer"
        if not isinstance(answer, str):
            raise row.mistake(f"{self.column('answer', row)} must be the judge's text, got a {type(answer).__name__}.")
        verdict = parse_verdict(answer, self.request.verdict, ties="half")
        if verdict.tie:
            return "tie", verdict.reason, None
        return verdict.selected_response, verdict.reason, verdict.invalid

    def _selected(self, value: object, row: Row) -> Selected:
        if value is None:
            return None
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        name = "" if isinstance(value, bool | list | dict) else str(whole).strip().lower()
        if name not in SELECTED:
            raise row.mistake(
                f"{self.column('selected_response', row)} is {one_line(repr(value))[:80]}: it must be 1 "
                'or 2 (or "A" or "B"), "tie", or null where the judge gave no verdict.'
            )
        return SELECTED[name]

    def _reason(self, row: Row) -> str:
        value = self.value("reason", row)
        if value is MISSING or value is None:
            return ""
        if not isinstance(value, str):
            raise row.mistake(f"{self.column('reason', row)} must be a text, got a {type(value).__name__}.")
        return encodable(value)

    def _refuse(self, name: str, row: Row) -> NoReturn:
        raise row.mistake(
            f"{self.column(name, row)!r} is missing; the row has "
            f"{quote_names(row.fields)}. A row without a verdict has it with the value null."
        )


# --- what is written, and what is said of it --------------------------------------------------------------------


def _keep(done: Done, *, built_in: bool) -> None:
    """Write the answers and the pairs that they are about; raises JudgeFixturesError where recordings are there."""
    allowed = (FILE, PAIRS_FILE, SAMPLE_FILE)
    recorded = [
        file
        for file in sorted(done.folder.glob("*.jsonl"))
        if file.name not in allowed and not file.name.startswith("detected-by-")
    ]
    if recorded:
        raise JudgeFixturesError(
            f"{done.folder} holds recordings of a judge that was asked ({recorded[0].name}): imported answers must not "
            "stand among them. Choose another name with --judge."
        )
    write_imported(done.folder / FILE, done.imported)
    if not built_in:  # those come with the package, and are never frozen
        lines = (json.dumps(as_row(pair), ensure_ascii=False) for pair in done.pairs)
        write_changed(done.folder / PAIRS_FILE, "".join(f"{line}\n" for line in lines))


def earlier(path: Path) -> Mapping[Key, Answered]:
    """Return the answers of an earlier import; none where there are none that can be read."""
    with contextlib.suppress(JudgeFixturesError, OSError):
        return read_imported(path).answers if path.exists() else {}
    return {}


def summary(done: Done) -> list[str]:
    """Return the lines that say what was imported, what was not, and what to write into the configuration."""
    imported = done.imported
    names = ", ".join(log.name for log in imported.logs)
    found, about = several(len(imported.answers), "answer"), several(len(done.pairs), "pair")
    lines = [f"imported: {imported.judge} on {imported.dataset}: {found} about {about}, from {names}"]
    lines += [f"  {line}" for line in _counted(done)]
    if done.others:
        lines.append(f"  left out: {several(done.others, 'row')} of others than --where chooses")
    if done.repeated:
        lines.append(f"  left out: {several(done.repeated, 'row')} with what an earlier row says already")
    if done.unused:
        lines.append(f"  not used: {several(len(done.unused), 'row')}: {_why(done.unused)}")
    lines += [f"  {remark}" for remark in done.remarks]
    lines.append(f"written: {done.folder / FILE}")
    if done.replaced:
        lines.append(
            f"  in place of {several(done.replaced, 'answer')} of an earlier import that this log does not "
            "have: to keep both, import all logs in one command"
        )
    return [presentable(line) for line in (*lines, *_tables(done), *_next(done))]


def _counted(done: Done) -> Iterator[str]:
    """Yield a line per condition and repeat: how many answers in each order, and how many are no choice."""
    pairs = {pair.id: pair for pair in done.pairs}
    groups: dict[tuple[str, int], list[Answered]] = {}
    for key, answered in sorted(done.imported.answers.items()):
        groups.setdefault((key.condition, key.repeat), []).append(answered)
    for (condition, repeat), answers in groups.items():
        own = sum(each.key.shown == shown_digest(pairs[each.key.pair], "12") for each in answers)
        kinds = Counter(
            "tie" if each.selected == "tie" else "without a verdict"
            for each in answers
            if each.selected in ("tie", None)
        )
        more = "".join(f"; {count} {kind}" for kind, count in sorted(kinds.items()))
        more += "" if any(each.reason for each in answers) else "; none with a reason"
        again = f", repeat {repeat}" if repeat else ""
        yield f"{condition}{again}: order 1-2 {own}, order 2-1 {len(answers) - own}{more}"


def _why(unused: Iterable[tuple[str, str]]) -> str:
    """Return why rows were not used, with the places of the first ones."""
    reasons: dict[str, list[str]] = {}
    for why, where in unused:
        reasons.setdefault(why, []).append(where)
    return "; ".join(
        f"{why}: {len(places)} ({', '.join(places[:MOST_NAMED])}{', ...' if len(places) > MOST_NAMED else ''})"
        for why, places in reasons.items()
    )


def _tables(done: Done) -> list[str]:
    """Return the tables that the configuration lacks."""
    config, judge, dataset = done.config, done.imported.judge, done.imported.dataset
    file = done.request.config_file
    tables = []
    if judge not in config.judges:
        tables += [config.heading("judges", judge), 'provider = "imported"', ""]
    if dataset not in config.datasets:
        path = json.dumps(_relative(done), ensure_ascii=False)
        tables += [config.heading("datasets", dataset), f"path = {path}", ""]
    if config.gate("accuracy").min_accuracy is None and any(pair.gold is not None for pair in done.pairs):
        gate = config.heading("gate", "accuracy")
        said = f"min_accuracy = {LEAST}  # choose yours: without it accuracy is shown, and nothing is decided"
        # A second table of that name would be an error.
        tables += (
            [f"# in {gate}, which is there: {said}", ""] if "accuracy" in config.family_gates else [gate, said, ""]
        )
    return [f"add to {file}:", "", *tables] if tables else []


def _relative(done: Done) -> str:
    file = (done.folder / PAIRS_FILE).absolute()
    folder = done.config.folder.absolute()
    return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)


def _next(done: Done) -> list[str]:
    imported, request = done.imported, done.request
    words = [
        "pytest",
        *options({"config": request.config, "cassettes": request.into}),
        "-k accuracy",
        f"--judge {imported.judge}",
        f"--judge-dataset {imported.dataset}",
    ]
    return [f"then: {' '.join(words)}"]
