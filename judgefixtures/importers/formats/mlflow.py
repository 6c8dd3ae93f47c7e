"""Exports of MLflow: tables of mlflow.evaluate, and tables and traces of MLflow 3."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from judgefixtures.models.grade_words import FAILING, PASSING
from judgefixtures.sources.row_readers import MISSING, DataRow, cell_value, lookup
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_one_line, quote_names

from ..messages import MESSAGES
from .cell_values import dict_or_empty, non_empty_text, parse_python_literal, text_or_none
from .chat_text import question_text, response_text
from .loaded_file import By, ExportFormat, LoadedFile, normalized_row
from .otel import hex_id

SCORED = re.compile(r"(.+)/v\d+/score")  # a metric's column in a table of mlflow.evaluate
VALUED = re.compile(r"(.+)/value")  # and in one of mlflow.genai.evaluate
STRUCTURED = ("inputs", "request", "tags", "expectations")  # columns that CSV has as texts
QUESTIONS = ("request", "inputs", "question")  # columns of a table
RESPONSES = ("response", "predictions", "outputs", "prediction", "output")
LONG = frozenset({"assessments", "trace", "trace_metadata", "spans", "data"})
EXPECTED = frozenset({"expected_response", "expected_facts", "guidelines", "expected_retrieved_context"})
WHOSE: Mapping[str, By] = {"HUMAN": "person", "CODE": "code"}
RUN, DIGEST, CHUNK = "mlflow.assessment.sourceRunId", "mlflow.assessment.scorerDigest", "chunk_index"
SAME_INPUT = "mlflow.eval.requestId"  # a tag that traces of one input have in common
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|nan|[+-]?inf", re.IGNORECASE)
OVERRIDDEN = re.compile(r"overrides|valid['\"]\s*:\s*[Ff]alse")
LONGEST = 120  # characters of an error


class MLflowFormat(ExportFormat):
    """MLflow's format: a row is an assessment or a metric's cell."""

    name: ClassVar[str] = "mlflow"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there are MLflow traces or tables."""
        first = next(iter(_tabled(held)), None)
        return first is not None and (_is_trace(first.fields) or bool(_metrics(first.fields)))

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return all judgements."""
        rows = _tabled(held)
        given = [(row, _assessed(row)) for row in rows]
        if any(traced is not None for _, traced in given):
            judges = {each.name for _, traced in given if traced for each in traced.assessments if each.by == "judge"}
            judged_rows = [each for row, traced in given if traced for each in _of_trace(row, traced, judges)]
            if not judged_rows:
                raise JudgeFixturesError(MESSAGES.mlflow_without_assessments(held, rows))
            return judged_rows
        return [judged_rows for metric in _columns(rows) for judged_rows in metric]

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return notes on overridden assessments."""
        rows = _tabled(held)
        given = [traced for row in rows if _may_override(row) and (traced := _assessed(row))]
        unused = sum(not used for traced in given for used in traced.used)
        over = [each for traced in given for each in traced.assessments if each.fields.get("overrides")]
        labels = [each.name for each in over if each.by == "person"]
        notes = []
        if without := sum(_is_unjudged(row.fields) for row in rows):
            notes.append(f"without an assessment: {without} of {pluralize(len(rows), 'trace')} in {held.file}")
        if unused:
            notes.append(f"not used: {pluralize(unused, 'assessment')} that another one overrides")
        if labels:
            notes.append(MESSAGES.mlflow_overridden(labels, quote_names(sorted({*labels}))))
        return tuple(notes)


def _is_unjudged(fields: Mapping[str, Any]) -> bool:
    values = [lookup(fields, path) for path in ("assessments", "info.assessments")]
    return any(each is None or each in ([], "[]", "") for each in values if each is not MISSING)


# --- assessments ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MLflowAssessment:
    """An assessment of a trace, as message or as record (V2)."""

    fields: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The metric's name."""
        name = self.fields.get("assessment_name", self.fields.get("name"))
        return name if isinstance(name, str) and name.strip() else "feedback"  # as MLflow calls what has no name

    @property
    def by(self) -> By:
        """Who judged."""
        kind = lookup(self.fields, "source.source_type")
        return WHOSE.get(kind.upper(), "judge") if isinstance(kind, str) else "judge"

    @property
    def error(self) -> str | None:
        """Why there is no value."""
        for error in (lookup(self.fields, "feedback.error"), self.fields.get("error")):
            if isinstance(error, dict):
                parts = [error.get(key) for key in ("error_code", "error_message")]
                return _short(": ".join(each for each in parts if isinstance(each, str)) or "error")
            if isinstance(error, str) and error:
                return _short(error)
        return None

    @property
    def value(self) -> Any:
        """The value or expectation as boolean, number, text or None."""
        held = self.fields.get("feedback")
        if not isinstance(held, dict):
            held = self.fields.get("expectation")
        value = held.get("value") if isinstance(held, dict) else None
        # An object of messages: {"string_value": "yes"}
        if isinstance(value, dict) and len(value) == 1 and next(iter(value)).endswith(("_value", "Value")):
            value = next(iter(value.values()))
        return value

    @property
    def is_expectation(self) -> bool:
        """Whether it is an expected value, not a judgement."""
        return not isinstance(self.fields.get("feedback"), dict)

    @property
    def time(self) -> str:
        """The creation time, sortable."""
        return str(self.fields.get("create_time", self.fields.get("create_time_ms")))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """MLflow's metadata."""
        return dict_or_empty(self.fields.get("metadata"))


class MLflowTrace(NamedTuple):
    """A trace: assessments (with use), root span and other spans."""

    id: str | None
    assessments: Sequence[MLflowAssessment]
    used: Sequence[bool]
    root: Mapping[str, Any]
    others: Mapping[str, Mapping[str, Any]]
    info: Mapping[str, Any]


def _is_trace(fields: Mapping[str, Any]) -> bool:
    info = fields.get("info")
    if isinstance(info, dict):
        return isinstance(fields.get("data"), dict) and any(key in info for key in ("trace_id", "request_id"))
    if not any(key in fields for key in ("trace_id", "request_id")):
        return False
    if any(key in fields for key in ("trace_metadata", "request_metadata")):
        return True
    listed, whole = _decoded(fields.get("assessments")), _decoded(fields.get("trace"))
    known = isinstance(listed, list) and any(isinstance(each, dict) and "source" in each for each in listed)
    return known or (isinstance(whole, dict) and isinstance(whole.get("info"), dict))


def _assessed(row: DataRow) -> MLflowTrace | None:
    fields = row.fields
    whole = fields if isinstance(fields.get("info"), dict) else dict_or_empty(_decoded(fields.get("trace")))
    info = dict_or_empty(whole.get("info"))
    listed = fields["assessments"] if fields.get("assessments") is not None else info.get("assessments")
    if listed is None and (not info or _metrics(fields)):
        return None
    known = _decoded(listed) if isinstance(listed, str) else listed
    if not isinstance(known, list | None) or any(not isinstance(each, dict) for each in known or ()):
        raise row.mistake(MESSAGES.mlflow_assessments_unreadable(make_one_line(str(listed))[:60]))
    assessments = [MLflowAssessment(each) for each in known or ()]
    spans = _spans(whole, fields)
    roots = [span for span in spans if not (span.get("parent_span_id") or span.get("parent_id"))]
    others = {hex_id(_span_id(span)): span for span in spans if span not in roots[:1]}
    name = _of(fields, info, "trace_id") or _of(fields, info, "request_id")
    all_fields = {**fields, **info}
    return MLflowTrace(name, assessments, _used(assessments), roots[0] if roots else {}, others, all_fields)


def _may_override(row: DataRow) -> bool:
    listed = row.fields.get("assessments")
    return not isinstance(listed, str) or OVERRIDDEN.search(listed) is not None


def _of(fields: Mapping[str, Any], info: Mapping[str, Any], key: str) -> str | None:
    value = info.get(key, fields.get(key))
    return value if isinstance(value, str) and value.strip() else None


def _spans(whole: Mapping[str, Any], fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    data = whole.get("data")
    spans = data.get("spans") if isinstance(data, dict) else _decoded(fields.get("spans"))
    return [each for each in spans if isinstance(each, dict)] if isinstance(spans, list) else []


def _span_id(span: Mapping[str, Any]) -> Any:
    return span.get("span_id", lookup(span, "context.span_id"))


def _used(assessments: Sequence[MLflowAssessment]) -> list[bool]:
    """Return which assessments count; those that a person corrected do.

    Otherwise a judge would be seen only where it was right.
    """
    by_overridden = {str(each.fields["overrides"]): each for each in assessments if each.fields.get("overrides")}
    used = []
    for each in assessments:
        over = by_overridden.get(str(each.fields.get("assessment_id")))
        superseded = each.fields.get("valid") is False or over is not None
        used.append(not superseded or (over is not None and over.by == "person" and each.by != "person"))
    return used


def _of_trace(row: DataRow, traced: MLflowTrace, judges: set[str]) -> Iterator[DataRow]:
    fields = _kept(row.fields)
    assessments = [each for each, used in zip(traced.assessments, traced.used, strict=True) if used]
    repeats = _repeats(assessments)
    for number, each in enumerate(assessments):
        if each.is_expectation and not (each.by == "person" and _is_word(each.value)):
            continue
        value, error = each.value, each.error
        if isinstance(value, float) and not math.isfinite(value):
            value, error = None, error or f"its value is {value}"
        elif value is not None and not isinstance(value, bool | int | float | str):
            value, error = None, error or f"its value is a {type(value).__name__}"
        elif value is None or value == "":
            value, error = None, error or "it has no value"
        # MLflow says of a judge that failed that its source is code.
        by: By = "judge" if each.by == "code" and value is None and each.name in judges else each.by
        run = each.fields.get("run_id") or each.metadata.get(RUN)
        place = _placed(row, each.name)._replace(fields={**fields, "assessment": {**each.fields, "run_id": run}})
        details = {"reason": _reason(each), "repeat": repeats.get(number), "error": error, **_about(traced, each)}
        yield normalized_row(place, metric=each.name, by=by, value=value, **details)


def _about(traced: MLflowTrace, assessment: MLflowAssessment) -> dict[str, Any]:
    span = traced.others.get(hex_id(assessment.fields.get("span_id")))
    chunk = assessment.metadata.get(CHUNK)
    if span is None and chunk is None:
        question, response = _texts(traced)
        whose = {"cluster": _same_input(traced.info), "model": _model([traced.root, *traced.others.values()])}
        return {"id": traced.id, "question": question, "response": response, **whose}
    parts = [traced.id, hex_id(assessment.fields.get("span_id")), None if chunk is None else str(chunk)]
    attributes = _attributes(span or {})
    return {
        "id": "/".join(part for part in parts if part),
        "question": question_text(_json(attributes.get("mlflow.spanInputs"))),
        "response": response_text(_json(attributes.get("mlflow.spanOutputs"))) if chunk is None else None,
        "cluster": traced.id,
        "model": _model([span or {}]) if chunk is None else None,
    }


def _texts(traced: MLflowTrace) -> tuple[str | None, str | None]:
    info, attributes = traced.info, _attributes(traced.root)
    data = dict_or_empty(info.get("data"))
    questions = [info.get("request"), info.get("inputs")]
    questions += map(_json, (attributes.get("mlflow.spanInputs"), data.get("request")))
    answered = [info.get("response"), info.get("outputs")]
    answered += map(_json, (attributes.get("mlflow.spanOutputs"), data.get("response")))
    for key, candidates in (("request_preview", questions), ("response_preview", answered)):
        preview = info.get(key)
        candidates.append(None if isinstance(preview, str) and preview.endswith("...") else _json(preview))
    question = next((text for each in questions if (text := question_text(_decoded(each)))), None)
    return question, next((text for each in answered if (text := response_text(_response_content(each)))), None)


def _attributes(span: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict_or_empty(span.get("attributes"))


def _model(spans: Iterable[Mapping[str, Any]]) -> str | None:
    names = {_attributes(span).get("mlflow.llm.model") for span in spans} - {None} if spans else set()
    models = [cell_value(name) if name[:1] == '"' else name for name in names if isinstance(name, str)]
    return models[0] if len(models) == 1 and models[0] else None


def _same_input(info: Mapping[str, Any]) -> str | None:
    return text_or_none(dict_or_empty(_decoded(info.get("tags"))).get(SAME_INPUT))


def _repeats(assessments: Sequence[MLflowAssessment]) -> dict[int, int]:
    """Return which assessments repeat a scorer (same definition digest), by time."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, each in enumerate(assessments):
        if (digest := each.metadata.get(DIGEST)) and each.metadata.get(RUN):
            about = (each.fields.get("span_id"), each.metadata.get(CHUNK))
            groups.setdefault((each.name, str(digest), *map(str, about)), []).append(number)
    repeats = dict[int, int]()
    for numbers in groups.values():
        if len({str(assessments[number].metadata[RUN]) for number in numbers}) == len(numbers) > 1:
            times = sorted(numbers, key=lambda number: assessments[number].time)
            repeats |= {number: repeat for repeat, number in enumerate(times)}
    return repeats


def _reason(assessment: MLflowAssessment) -> str | None:
    reason = assessment.fields.get("rationale")
    return reason if isinstance(reason, str) and reason else None


def _is_word(value: Any) -> bool:
    return isinstance(value, bool) or (
        isinstance(value, str) and not NUMBER.fullmatch(value) and value.strip().casefold() in {*PASSING, *FAILING}
    )


# --- tables -----------------------------------------------------------------------------------------------------


def _tabled(held: LoadedFile) -> list[DataRow]:
    value = held.value
    if isinstance(value, dict) and isinstance(value.get("columns"), list) and isinstance(value.get("data"), list):
        return _split(held, value["columns"], value["data"])
    if isinstance(value, dict):
        value = value["traces"] if isinstance(value.get("traces"), list) else [value]
    if isinstance(value, list):
        return held.numbered(value) if all(isinstance(each, dict) for each in value) else []
    return list(held.rows)


def _split(held: LoadedFile, columns: list[Any], data: list[Any]) -> list[DataRow]:
    rows = held.numbered([{} for _ in data])
    split_rows = []
    for row, values in zip(rows, data, strict=True):
        if not isinstance(values, list) or len(values) != len(columns):
            raise row.mistake(f"the table has {pluralize(len(columns), 'column')}, but this row has other fields.")
        split_rows.append(row._replace(fields={str(name): each for name, each in zip(columns, values, strict=True)}))
    return split_rows


def _metrics(fields: Mapping[str, Any]) -> dict[str, str]:
    known = any(key in fields for key in ("trace_id", "request_id"))
    metrics = {}
    for column in fields:
        match = SCORED.fullmatch(column) or (VALUED.fullmatch(column) if known else None)
        if match is not None and match[1] not in EXPECTED:
            metrics[column] = match[1]
    return metrics


def _columns(rows: Sequence[DataRow]) -> Iterator[list[DataRow]]:
    metrics: dict[str, str] = {}
    for row in rows:
        metrics |= _metrics(row.fields)
    for column, metric in metrics.items():
        scored = column.endswith("/score")
        stem = column.rpartition("/")[0]
        why = f"{stem}/justification" if scored else f"{stem}/rationale"
        explanations = [non_empty_text(row.fields.get(name)) for row in rows for name in (why, f"{stem}/error_message")]
        by: By = "judge" if any(explanations) else "code"
        yield [_cell(row, metric, by, row.fields.get(column), stem, why) for row in rows]


def _cell(row: DataRow, metric: str, by: By, value: Any, stem: str, why: str) -> DataRow:
    fields = _kept(row.fields)
    value, reason = _number(value), non_empty_text(fields.get(why))
    error = None
    if value is None:
        error = non_empty_text(fields.get(f"{stem}/error_message")) or reason or "it has no value"
    elif not isinstance(value, bool | int | float | str):
        value, error = None, f"its value is a {type(value).__name__}"
    details = {"reason": reason} if error is None else {"error": _short(error)}
    # A request's id is one of its input: other responses to that have the same.
    about = {"id": non_empty_text(fields.get("trace_id")), "cluster": non_empty_text(fields.get("request_id"))}
    question, response = _first(fields, QUESTIONS), _response_content(_first(fields, RESPONSES))
    texts = {"question": question_text(question), "response": response_text(response)}
    place = _placed(row, metric)._replace(fields=fields)
    return normalized_row(place, metric=metric, by=by, value=value, **details, **about, **texts)


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _kept(fields: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: _decoded(value) if key in STRUCTURED else value for key, value in fields.items() if key not in LONG}
    if isinstance(info := kept.get("info"), dict):
        kept["info"] = {key: value for key, value in info.items() if key != "assessments"}
    return kept


def _placed(row: DataRow, metric: str) -> DataRow:
    named = make_one_line(metric)[:60]
    return row._replace(where=f"{row.where}, {named}", place=f"{row.place}, {named}")


def _number(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        value = float(text) if NUMBER.fullmatch(text) else text
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _short(text: str) -> str:
    return make_one_line(text)[:LONGEST]


def _decoded(value: Any) -> Any:
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    decoded = _json(value)
    return parse_python_literal(value) if isinstance(decoded, str) else decoded


def _response_content(value: Any) -> Any:
    """Return a Python literal; JSON stays text, as the model may have said it."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[") or not isinstance(_json(value), str):
        return value
    return parse_python_literal(value)


def _json(value: Any) -> Any:
    return cell_value(value) if isinstance(value, str) else value
