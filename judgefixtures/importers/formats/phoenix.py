"""Exports of Arize Phoenix: evaluation tables, annotations and experiments."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from judgefixtures.sources.row_readers import DataRow
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_one_line, quote_names

from ..messages import MESSAGES
from .cell_values import cell_text, judgement_value, object_or_empty, parse_python_literal, require_id, text_or_none
from .chat_text import question_text, response_text
from .loaded_file import By, ExportFormat, LoadedFile, normalized_row
from .pages import join_pages, objects

BY_KIND: Mapping[str, By] = {"llm": "judge", "human": "person", "code": "code", "heuristic": "code"}
# What was judged, by the names of spans, of evals' templates and of experiments.
NOTED = ("span_id", "context.span_id", "trace_id", "session_id")  # what an annotation is of
IDS = ("context.span_id", "span_id", "id", "example_id", "index", "__index_level_0__", "Unnamed: 0")  # in a frame
QUESTIONS = ("attributes.input.value", "input", "question", "query")
RESPONSES = ("attributes.output.value", "output", "answer", "response")
REPETITION = "repetition_number"  # of an experiment's run
MODEL = "attributes.llm.model_name"
SCORE, DETAILS = "_score", "_execution_details"  # how columns of evals 2 and later end
PART = re.compile(r"(?:eval\.|annotation_)(.+)[._](label|score|explanation)")  # of spans, and of experiments' CSV
PARTS = ("label", "score", "explanation")
STATUS = "execution_status"
ENDED = "COMPLETED"  # how an execution's status begins where it has a result


@dataclass(frozen=True, slots=True)
class _PhoenixAnnotation:
    row: DataRow
    metric: str
    by: By
    label: Any = None
    score: Any = None
    explanation: Any = None
    error: str | None = None
    direction: str | None = None  # minimize where a low score is a good one

    @property
    def is_empty(self) -> bool:
        """Whether nobody judged: tables have a cell for every name."""
        parts = (self.label, self.score, self.explanation)
        return self.error is None and all(_text_or_none(each) is None for each in parts)


class PhoenixFormat(ExportFormat):
    """Phoenix's format: a row is one judgement."""

    name: ClassVar[str] = "phoenix"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there are Phoenix annotations, runs or tables."""
        records = _records(held.value)
        return any(_form(each) is not None for each in (objects(held) if records is None else records))

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per judgement."""
        judgements = [each for each in _annotations(held) if not each.is_empty]
        if not judgements:
            raise JudgeFixturesError(MESSAGES.phoenix_without_judgements(held))
        runs = _Runs(each.row for each in judgements if REPETITION in each.row.fields)
        return [_judged(each, runs) for each in judgements]

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return notes on unjudged rows and inverted scores."""
        notes, judgements = [], list(_annotations(held))
        empty = Counter(each.metric for each in judgements if each.is_empty)
        for metric, count in sorted(empty.items()):
            notes.append(f"without a judgment: {pluralize(count, 'row')} of {make_one_line(metric)!r} in {held.file}")
        if low := sorted({each.metric for each in judgements if each.direction == "minimize"}):
            notes.append(MESSAGES.phoenix_low_is_good(quote_names(low), held))
        return tuple(notes)


# --- which form a row has --------------------------------------------------------------------------------------


def _form(fields: Mapping[str, Any]) -> Callable[[DataRow], Iterator[_PhoenixAnnotation]] | None:
    if isinstance(fields.get("annotator_kind"), str) and {"name", "annotation_name"} & fields.keys():
        return _of_annotation
    of_run = {"example_id", REPETITION} <= fields.keys()
    if of_run and isinstance(fields.get("annotations"), list):
        return _of_run
    if any(_is_wide(name, value, of_run) for name, value in fields.items()):
        return _of_columns
    if "label" in fields and (STATUS in fields or "context.span_id" in fields):
        return _of_label
    return None


def _is_wide(name: str, value: Any, of_run: bool) -> bool:
    if PART.fullmatch(name):
        return of_run or name.startswith("eval.")
    if name.endswith(DETAILS):
        return "status" in _object(value)
    return name.endswith(SCORE) and {"name", "metadata"} <= _object(value).keys()


def _object(value: Any) -> Mapping[str, Any]:
    return _object_in(value) if isinstance(value, str) else object_or_empty(value)


@functools.lru_cache(maxsize=64)  # a row is looked at several times before the next one
def _object_in(text: str) -> Mapping[str, Any]:
    return object_or_empty(parse_python_literal(text) if text.startswith("{'") else text)


def _records(value: Any) -> list[dict[str, Any]] | None:
    if not isinstance(value, dict) or not value or not all(isinstance(each, dict) for each in value.values()):
        return None
    first = next(iter(value.values())).keys()
    if not first or any(each.keys() != first for each in value.values()):
        return None
    return [{"index": key, **{name: column[key] for name, column in value.items()}} for key in first]


def _annotations(held: LoadedFile) -> Iterator[_PhoenixAnnotation]:
    records = _records(held.value)
    for row in join_pages(held) if records is None else held.numbered(records):
        form = _form(row.fields) or _of_columns_or_label(row.fields)
        if form is None:
            raise row.mistake(MESSAGES.phoenix_unknown_row(quote_names(row.fields)))
        yield from form(row)


def _of_columns_or_label(fields: Mapping[str, Any]) -> Callable[[DataRow], Iterator[_PhoenixAnnotation]] | None:
    if any(name.endswith((SCORE, DETAILS)) or PART.fullmatch(name) for name in fields):
        return _of_columns
    return _of_label if {"label", "score"} & fields.keys() else None


# --- what each form says ---------------------------------------------------------------------------------------


def _of_annotation(row: DataRow) -> Iterator[_PhoenixAnnotation]:
    fields = row.fields
    name = fields.get("name") if isinstance(fields.get("name"), str) else fields.get("annotation_name")
    result = _object(fields.get("result"))
    parts = {part: result.get(part, fields.get(f"result.{part}", fields.get(part))) for part in PARTS}
    by, direction = _by(fields.get("annotator_kind")), _direction(_object(fields.get("metadata")))
    yield _PhoenixAnnotation(row, _named(row, name), by, **parts, direction=direction)


def _of_run(row: DataRow) -> Iterator[_PhoenixAnnotation]:
    kept = {name: value for name, value in row.fields.items() if name != "annotations"}
    for number, each in enumerate(row.fields["annotations"], 1):
        place = f", annotation {number}"
        item = DataRow({**kept, "annotation": each}, row.where + place, row.place + place)
        if not isinstance(each, dict):
            raise item.mistake(f"expected an object, got a JSON {type(each).__name__}.")
        parts = {part: each.get(part) for part in PARTS}
        error = _error(each.get("error") or row.fields.get("error"), parts)
        by, direction = _by(each.get("annotator_kind")), _direction(_object(each.get("metadata")))
        yield _PhoenixAnnotation(item, _named(item, each.get("name")), by, **parts, error=error, direction=direction)


def _of_columns(row: DataRow) -> Iterator[_PhoenixAnnotation]:
    fields = row.fields
    spread: dict[str, dict[str, Any]] = {}
    whole: dict[str, Mapping[str, Any]] = {}
    for column, value in fields.items():
        if match := PART.fullmatch(column):
            spread.setdefault(match[1], {})[match[2]] = value
        elif column.endswith(DETAILS):
            if _failure(_object(value)):
                whole.setdefault(column.removesuffix(DETAILS), {})
        elif column.endswith(SCORE) and (_object(value) or _text_or_none(value) is None):
            whole[column.removesuffix(SCORE)] = _object(value)
        elif column.endswith(SCORE) and isinstance(value, str) and value.startswith("{"):
            raise row.mistake(MESSAGES.phoenix_object_unreadable(column, make_one_line(value)[:60]))
    for name, parts in spread.items():
        by, error = (fields.get(f"annotation_{name}_{part}") for part in ("annotator_kind", "error"))
        yield _PhoenixAnnotation(row, name, _by(by), **parts, error=_error(error, parts))
    for name, score in whole.items():
        parts = {part: score.get(part) for part in PARTS}
        error = _error(_failure(_object(fields.get(name + DETAILS))), parts)
        by = _by(score.get("kind", score.get("source")))
        yield _PhoenixAnnotation(row, name, by, **parts, error=error, direction=_direction(score))


def _of_label(row: DataRow) -> Iterator[_PhoenixAnnotation]:
    parts = {part: row.fields.get(part) for part in PARTS}
    yield _PhoenixAnnotation(row, "label", "judge", **parts, error=_error(_failure(row.fields, STATUS), parts))


def _named(row: DataRow, name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise row.mistake("an annotation has no name. Export the annotations again, with all columns.")
    return name


def _by(kind: Any) -> By:
    return BY_KIND.get(kind.lower(), "judge") if isinstance(kind, str) else "judge"


def _direction(notes: Mapping[str, Any]) -> str | None:
    return text_or_none(notes.get("direction"))


def _failure(fields: Mapping[str, Any], name: str = "status") -> str | None:
    status, exceptions = fields.get(name), fields.get("exceptions")
    if not isinstance(status, str) or status.startswith(ENDED):
        return None
    exception = exceptions[-1] if isinstance(exceptions, list) and exceptions else exceptions
    return f"{status}: {exception}" if isinstance(exception, str) and exception.strip("[] ") else status


def _error(error: Any, parts: Mapping[str, Any]) -> str | None:
    if _text_or_none(error) is None or any(_text_or_none(parts.get(part)) is not None for part in ("label", "score")):
        return None
    return make_one_line(str(error))[:200]


# --- one form for all ------------------------------------------------------------------------------------------


def _judged(annotation: _PhoenixAnnotation, runs: _Runs) -> DataRow:
    row, fields = annotation.row, annotation.row.fields
    label, score = _text_or_none(annotation.label), _text_or_none(annotation.score, textual=row.textual)
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    grade = {"passed": label, "score": score} if is_number else {"passed": score if label is None else label}
    error = annotation.error or ("it has neither a label nor a score" if label is None and score is None else None)
    question, response = question_text(_first_text(fields, QUESTIONS)), response_text(_first_text(fields, RESPONSES))
    details = {**grade, "reason": text_or_none(annotation.explanation), "error": error}
    texts = {"question": question, "response": response, "model": text_or_none(fields.get(MODEL))}
    place = _place(annotation, runs)
    return normalized_row(row, metric=annotation.metric, by=annotation.by, **details, **texts, **place)


def _text_or_none(value: Any, *, textual: bool = False) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else judgement_value(value, textual=textual)


def _first_text(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    name_of_text = next((name for name in names if _text_or_none(fields.get(name)) is not None), None)
    if name_of_text is None or (name_of_text == "response" and STATUS in fields):
        return None
    return _object(fields[name_of_text]) or cell_text(fields[name_of_text])


def _place(annotation: _PhoenixAnnotation, runs: _Runs) -> dict[str, Any]:
    fields = annotation.row.fields
    if REPETITION in fields:
        return runs.place(annotation)
    name = _id(annotation.row, NOTED if "annotator_kind" in fields else IDS)
    position = fields.get("document_position")
    if name is None or _text_or_none(position) is None:
        return {"id": name}
    return {"id": f"{name}:{make_one_line(str(position))}", "cluster": str(name)}


class _Runs:
    """Runs of an experiment; repetitions with equal answers are repeats."""

    def __init__(self, rows: Iterable[DataRow]) -> None:
        self._said: dict[str, dict[str, str]] = {}  # by example, each answer with an id
        self._judged: Counter[tuple[str, str, str]] = Counter()
        for row in rows:
            example, answer = self._answer(row)
            if example is not None:
                number = make_one_line(str(row.fields[REPETITION]))
                others = self._said.setdefault(example, {})
                others.setdefault(answer, f"{example}~{number}" if others else example)

    @staticmethod
    def _answer(row: DataRow) -> tuple[str | None, str]:
        name = _id(row, ("example_id",))
        return None if name is None else str(name), json.dumps(row.fields.get("output"), sort_keys=True, default=str)

    def place(self, annotation: _PhoenixAnnotation) -> dict[str, Any]:
        example, answer = self._answer(annotation.row)
        if example is None:
            return {}
        others = self._said[example]
        whose = (others[answer], annotation.metric, annotation.by)
        self._judged[whose] += 1
        cluster = example if len(others) > 1 else None
        return {"id": others[answer], "repeat": self._judged[whose] - 1, "cluster": cluster}


def _id(row: DataRow, names: Sequence[str]) -> str | int | None:
    ids = (require_id(row, name, row.fields.get(name)) for name in names)
    return next((each for each in ids if each is not None), None)
