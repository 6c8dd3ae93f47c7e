"""Exports of Braintrust: rows of experiments or logs, spans, and Eval results."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from judgefixtures.sources.row_readers import DataRow
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import word_set

from ..messages import MESSAGES
from .cell_values import Value, judgement_value, object_or_empty, parse_json_cell, require_object, text_or_none
from .chat_text import question_text, response_text
from .deduplication import AnswerDeduplicator, AnswerKey, answer_key
from .loaded_file import By, ExportFormat, LoadedFile, normalized_row
from .pages import listed_objects, listed_rows

LISTS = ("events", "data", "rows", "results")  # of a fetch, of BTQL, of a request, of an Eval
MARKS = frozenset({"root_span_id", "span_id", "span_attributes", "span_parents", "_xact_id", "exc_info"})
SUMMARY = frozenset({"project_name", "projectName", "experiment_name", "experimentName"})
FLAT = "scores."  # how columns begin where scores were spread over them
CELLS = ("input", "output", "metadata", "scores", "span_attributes", "span_parents")
BY_TYPE: Mapping[str, By] = {"score": "judge", "review": "person"}  # of spans that hold a judgement of another one
REASONS = ("rationale", "reason", "reasoning", "explanation")
# What autoevals computes without asking a model what it thinks.
CODE = word_set("EmbeddingSimilarity ExactMatch JSONDiff Levenshtein ListContains NumericDiff ValidJSON")


class BraintrustFormat(ExportFormat):
    """Braintrust's format: a row is one score of one answer."""

    name: ClassVar[str] = "braintrust"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether rows have Braintrust's scores."""
        value = held.value
        summary = object_or_empty(value.get("summary")) if isinstance(value, dict) else {}
        if SUMMARY & summary.keys():
            return isinstance(value.get("results"), list)
        return any(_is_scored(each, textual=held.value is None) for each in listed_objects(held, LISTS))

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per score."""
        judgements = _Trees(_read(held)).judgements()
        if not judgements:
            raise JudgeFixturesError(MESSAGES.braintrust_without_scores(held))
        answers = [each.answer for each in judgements]
        alike = AnswerDeduplicator(answers)
        answered = zip(judgements, answers, strict=True)
        return [each.judged(alike.place(answer, (each.metric, each.by))) for each, answer in answered]

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return how many traces have no score."""
        traces: dict[str, bool] = {}
        for row in listed_rows(held, LISTS):
            name = _trace(row)
            traces[name] = traces.get(name, False) or _is_told(row.fields)
        without = list(traces.values()).count(False)
        return (f"without a score: {without} of {pluralize(len(traces), 'trace')} in {held.file}",) if without else ()


def _is_scored(fields: Any, *, textual: bool) -> bool:
    if not isinstance(fields, Mapping):
        return False
    scores = fields.get("scores")
    as_text = textual and isinstance(scores, str)
    marked = bool(MARKS & fields.keys()) or (as_text and {"input", "output"} <= fields.keys())
    flat = any(isinstance(name, str) and name.startswith(FLAT) for name in fields)
    scores = object_or_empty(scores) if as_text else scores
    numbers = isinstance(scores, dict) and all(isinstance(each, int | float | None) for each in scores.values())
    return marked and (bool(numbers and scores) or flat)


def _trace(row: DataRow) -> str:
    root = row.fields.get("root_span_id")
    return root if isinstance(root, str) else row.place


def _is_told(fields: Mapping[str, Any]) -> bool:
    flat = (value for name, value in fields.items() if name.startswith(FLAT))
    failed = object_or_empty(fields.get("metadata")).get("scorer_errors") or fields.get("error")
    return bool(object_or_empty(fields.get("scores")) or failed) or any(value is not None for value in flat)


def _read(held: LoadedFile) -> list[DataRow]:
    """Return the rows with parsed cells, without exact duplicates."""
    read: list[DataRow] = []
    seen: dict[str, DataRow] = {}
    for row in listed_rows(held, LISTS):
        row = row._replace(fields=_opened(row.fields, textual=held.value is None))
        name = row.fields.get("id")
        before = seen.setdefault(name, row) if isinstance(name, str) else row
        if before is row:
            read.append(row)
        elif before.fields != row.fields:
            raise row.mistake(MESSAGES.braintrust_id_twice(before, name))
    return read


def _opened(fields: Mapping[str, Any], *, textual: bool) -> Mapping[str, Any]:
    opened_fields = dict(fields)
    if textual:
        opened_fields |= {name: parse_json_cell(opened_fields[name]) for name in CELLS if name in opened_fields}
    flat = {name[len(FLAT) :]: value for name, value in fields.items() if name.startswith(FLAT) and value is not None}
    return opened_fields | ({"scores": flat} if flat else {})


@dataclass(frozen=True, slots=True)
class _BraintrustScore:
    row: DataRow
    span: DataRow | None
    metric: str
    by: By
    value: Value = None
    error: str | None = None

    @property
    def shown(self) -> Mapping[str, Any]:
        given = object_or_empty(self.span.fields.get("input")) if self.span is not None else {}
        return given if "output" in given else self.row.fields

    @property
    def answer(self) -> AnswerKey:
        """The judged answer; a different reference makes a different question."""
        name, texts = self.row.fields.get("id"), self.shown
        question = None if texts.get("input") is None else [texts["input"], texts.get("expected")]
        return answer_key(name if isinstance(name, str) and name.strip() else None, question, texts.get("output"))

    def judged(self, place: Mapping[str, Any]) -> DataRow:
        span = self.span.fields if self.span is not None else {}
        parts = [object_or_empty(span.get("metadata")), object_or_empty(span.get("output"))]
        notes = [note for part in parts for note in (object_or_empty(part.get(self.metric)), part)]
        where = self.span or self.row
        return normalized_row(
            where._replace(fields={**self.row.fields, "span": span} if span else self.row.fields),
            metric=self.metric,
            by=self.by,
            value=self.value,
            error=self.error,
            reason=next((note[name] for note in notes for name in REASONS if isinstance(note.get(name), str)), None),
            choice=next((note["choice"] for note in notes if isinstance(note.get("choice"), str)), None),
            question=_text(self.shown.get("input"), question_text),
            response=_text(self.shown.get("output"), response_text),
            model=text_or_none(object_or_empty(self.row.fields.get("metadata")).get("model")),
            **place,
        )


class _Trees:
    """Span trees of a file: which span judges which."""

    def __init__(self, rows: Sequence[DataRow]) -> None:
        self._rows = rows
        self._named = {row.fields["span_id"]: row for row in rows if isinstance(row.fields.get("span_id"), str)}
        people = [row for row in rows if _by(row) == "person"]
        self._people = {name for row in people for name in object_or_empty(row.fields.get("scores"))}

    def judgements(self) -> list[_BraintrustScore]:
        every = [each for row in self._rows for each in self._said(row)]
        spans: dict[tuple[str, str], list[Value]] = {}
        for each in every:
            if each.span is not None:
                spans.setdefault((each.row.place, each.metric), []).append(each.value)
        once = [one for one in every if one.span or not _is_among(one.value, spans.get((one.row.place, one.metric)))]
        return [*once, *self._failed(once)]

    def _said(self, row: DataRow) -> Iterator[_BraintrustScore]:
        by = _by(row)
        about, span = (self._judged_by(row), row) if by else (row, None)
        scores = require_object(row, "scores", row.fields.get("scores"))
        for metric, score in scores.items():
            whose: By = "person" if by == "person" or (by is None and metric in self._people) else _of_metric(metric)
            value = judgement_value(score, textual=row.textual)
            yield _BraintrustScore(about, span, metric, whose, value, "its score is null" if value is None else None)
        name = object_or_empty(row.fields.get("span_attributes")).get("name")
        if by == "judge" and not scores and row.fields.get("error") and isinstance(name, str):
            yield _BraintrustScore(about, span, name, _of_metric(name), error=_gist(row.fields["error"]))

    def _judged_by(self, row: DataRow) -> DataRow:
        parents = row.fields.get("span_parents")
        first = parents[0] if isinstance(parents, list) and parents else row.fields.get("root_span_id")
        return self._named.get(first, row) if isinstance(first, str) else row

    def _failed(self, judgements: Sequence[_BraintrustScore]) -> Iterator[_BraintrustScore]:
        metrics = sorted({each.metric for each in judgements if each.by == "judge"})
        has = {(each.row.place, each.metric) for each in judgements}
        scored = {_trace(each.row) for each in judgements}
        for row in self._rows:
            failed = object_or_empty(object_or_empty(row.fields.get("metadata")).get("scorer_errors"))
            for name, error in failed.items():
                if (row.place, name) not in has:
                    yield _BraintrustScore(row, None, name, _of_metric(name), error=_gist(error))
            error = row.fields.get("error")
            if error and not failed and not row.fields.get("span_parents") and _trace(row) not in scored:
                yield from (_BraintrustScore(row, None, name, "judge", error=_gist(error)) for name in metrics)


def _by(row: DataRow) -> By | None:
    kind = object_or_empty(row.fields.get("span_attributes")).get("type")
    return BY_TYPE.get(kind) if isinstance(kind, str) else None


def _of_metric(name: str) -> By:
    return "code" if name in CODE else "judge"


def _is_among(value: Value, values: Sequence[Value] | None) -> bool:
    numbers = [float(each) for each in values or () if isinstance(each, int | float)]
    if not numbers or not isinstance(value, int | float):
        return bool(values) and value is None
    return any(math.isclose(value, each, abs_tol=1e-9) for each in (*numbers, sum(numbers) / len(numbers)))


def _text(value: Any, read: Callable[[Any], str | None]) -> str | None:
    return value if isinstance(value, str) else read(value)


def _gist(error: Any) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else "error"
    return (lines[-1] if lines and first.startswith("Traceback") else first)[:200]
