"""Exports of Langfuse: scores from its page, API or SDK, alone or with traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from judgefixtures.sources.row_readers import DataRow, cell_value
from judgefixtures.statistics import pluralize
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_one_line, word_set

from ..messages import MESSAGES
from .cell_values import judgement_value, require_id, text_or_none
from .chat_text import question_text, response_text
from .loaded_file import ExportFormat, LoadedFile, normalized_row
from .pages import join_pages, objects

LISTS = ("data", "batch")
TYPES = frozenset({"NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT", "CORRECTION"})
SOURCES = frozenset({"API", "EVAL", "ANNOTATION"})
SCORED = ("observationId", "traceId", "sessionId", "datasetRunId")  # what a score can be of: the narrowest counts
PROSE = ("TEXT", "CORRECTION")  # a note, and a better answer: no judgement that could be counted
SENT = "score-create"
# Fields of a score that an SDK sends: nothing else is there to tell one by where its data type was left to the service.
SENDS = word_set("id name value comment metadata environment queueId configId timestamp").union(SCORED)
TRUE, FALSE = frozenset({"1", "1.0", "true"}), frozenset({"0", "0.0", "false"})


class LangfuseFormat(ExportFormat):
    """Langfuse's format: a row is one score."""

    name: ClassVar[str] = "langfuse"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there are Langfuse scores or traces."""
        if held.rows and held.rows[0].textual:  # a table: all of its rows have the same columns
            return _is_score(_unquoted(held.rows[0]).fields)
        return any(_is_score(each) or _is_event(each) or _is_trace(each) for each in objects(held, LISTS))

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return a row per score."""
        rows = [_unquoted(row) for row in join_pages(held, LISTS)]
        texts = _Shown(rows)
        rows_judged = [_judged(score, texts) for row in rows for score in _scores(row)]
        if not rows_judged:
            raise JudgeFixturesError(MESSAGES.langfuse_without_scores(held))
        return rows_judged

    @classmethod
    def remarks(cls, held: LoadedFile) -> tuple[str, ...]:
        """Return notes on traces without scores or texts."""
        if held.rows and held.rows[0].textual:
            return ()
        traces = [scores for each in objects(held, LISTS) if isinstance(scores := each.get("scores"), list)]
        without = sum(not any(isinstance(score, dict) for score in scores) for scores in traces)
        return (f"without a score: {without} of {pluralize(len(traces), 'trace')} in {held.file}",) if without else ()


def _unquoted(row: DataRow) -> DataRow:
    """Return a CSV row; older versions wrote each text as JSON."""
    if not row.textual:
        return row
    return row._replace(fields={name: _text(cell) or None for name, cell in row.fields.items()})


def _text(cell: Any) -> Any:
    if not isinstance(cell, str) or len(cell) < 2 or not cell[0] == cell[-1] == '"':
        return cell
    return cell_value(cell)


def _is_score(fields: Mapping[str, Any]) -> bool:
    if not isinstance(fields.get("name"), str) or not {"value", "stringValue"} & fields.keys():
        return False
    of = {*SCORED, "subject"} & fields.keys()
    kind, source = fields.get("dataType"), fields.get("source")
    named = (isinstance(kind, str) and kind in TYPES) or (isinstance(source, str) and source in SOURCES)
    return bool(of) and (named or fields.keys() <= SENDS)


def _is_event(fields: Mapping[str, Any]) -> bool:
    return fields.get("type") == SENT and isinstance(fields.get("body"), dict)


def _is_trace(fields: Mapping[str, Any]) -> bool:
    held = fields.get("scores")
    if not isinstance(held, list):
        return False
    return "htmlPath" in fields or any(isinstance(each, dict) and _is_score(each) for each in held)


def _scores(row: DataRow) -> Iterator[DataRow]:
    fields = row.fields
    if _is_event(fields):
        yield row._replace(fields=fields["body"])
    elif isinstance(fields.get("scores"), list):
        trace = {name: value for name, value in fields.items() if name not in ("scores", "observations")}
        for number, score in enumerate(fields["scores"], 1):
            if isinstance(score, dict):
                place = f", score {number}"
                score_fields = {"traceId": fields.get("id"), **score, "trace": trace}
                yield DataRow(score_fields, row.where + place, row.place + place)
    elif not isinstance(fields.get("body"), dict):
        yield row


@dataclass(frozen=True, slots=True)
class _TraceText:
    question: str | None = None
    response: str | None = None
    model: str | None = None

    def over(self, other: _TraceText) -> _TraceText:
        return _TraceText(self.question or other.question, self.response or other.response, self.model or other.model)


class _Shown:
    def __init__(self, rows: Sequence[DataRow]) -> None:
        self._of: dict[str, _TraceText] = {}
        for row in rows:
            event = row.fields.get("body")
            self._keep(event if isinstance(event, dict) else row.fields)
            held = row.fields.get("observations")
            for each in held if isinstance(held, list) else ():
                self._keep(each)

    def _keep(self, fields: Any) -> None:
        name = fields.get("id") if isinstance(fields, dict) else None
        if not isinstance(name, str) or not {"input", "output"} & fields.keys():
            return
        question, response = question_text(fields.get("input")), response_text(fields.get("output"))
        text = _TraceText(question, response, text_or_none(fields.get("model")))
        self._of[name] = text.over(self._of.get(name, _TraceText()))

    def of(self, name: str | int | None) -> _TraceText:
        return self._of.get(str(name), _TraceText())


def _judged(row: DataRow, texts: _Shown) -> DataRow:
    fields = row.fields
    name, comment = fields.get("name"), fields.get("comment")
    if not isinstance(name, str) or not name.strip():
        raise row.mistake("a score has no name. Export the scores again, with all columns.")
    about, trace = _about(row)
    return normalized_row(
        row,
        metric=name,
        by="person" if fields.get("source") == "ANNOTATION" else "judge",
        **_value_fields(row),
        reason=text_or_none(comment),
        id=about,
        cluster=str(trace) if trace is not None and trace != about else None,
        **asdict(texts.of(about)),
    )


def _about(row: DataRow) -> tuple[str | int | None, str | int | None]:
    subject = row.fields.get("subject")
    if isinstance(subject, dict):
        about, trace = (require_id(row, f"subject.{name}", subject.get(name)) for name in ("id", "traceId"))
        return about, trace
    ids = {name: require_id(row, name, row.fields.get(name)) for name in SCORED}
    return next((value for value in ids.values() if value is not None), None), ids["traceId"]


def _value_fields(row: DataRow) -> dict[str, Any]:
    """Return a score's value, or nothing for notes and corrections."""
    kind, value, word = (row.fields.get(name) for name in ("dataType", "value", "stringValue"))
    if kind in PROSE:
        return {}
    if kind == "BOOLEAN":
        spelled = str(value if value is not None else word).strip().lower()
        return {"value": True if spelled in TRUE else False if spelled in FALSE else str(value)}
    if kind == "CATEGORICAL" and isinstance(word, str) and word.strip():
        return {"value": word}
    value_judged = judgement_value(value, textual=row.textual)
    is_number = isinstance(value_judged, int | float) and not isinstance(value_judged, bool)
    if kind == "NUMERIC" and not is_number:
        return {"error": f"{make_one_line(str(value_judged))[:80]} is not a number"}
    return {"value": value_judged}
