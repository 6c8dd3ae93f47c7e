"""Exports of OpenTelemetry: events `gen_ai.evaluation.result` and their spans."""

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

from judgefixtures.sources.row_readers import DataRow
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_one_line, short_repr

from ..messages import MESSAGES
from .chat_text import question_text, response_text
from .loaded_file import ExportFormat, LoadedFile, normalized_row

EVENT = "gen_ai.evaluation.result"
NAME = "gen_ai.evaluation.name"
SCORE = "gen_ai.evaluation.score.value"
LABEL = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
RESPONSE_ID = "gen_ai.response.id"
MODELS = ("gen_ai.response.model", "gen_ai.request.model")

LOGS, SPANS = ("resourceLogs", "scopeLogs", "logRecords"), ("resourceSpans", "scopeSpans", "spans")
# Keys of which any record has one.
MARKS = frozenset(
    {"attributes", "body", "context", "event.name", "eventName", "event_name", "events", "name", NAME}
    | {LOGS[0], SPANS[0], "resource_logs", "resource_spans"}
)
# Where the texts stand, the conventions of today first, then those of 2024 and before.
ASKED = ("gen_ai.input.messages", "gen_ai.prompt")
ANSWERED = ("gen_ai.output.messages", "gen_ai.completion")
TURNS = {"gen_ai.user.message": "user", "gen_ai.choice": "assistant"}  # events that hold one message each
TEXTS = frozenset({*ASKED, *ANSWERED, "gen_ai.system_instructions", "gen_ai.tool.definitions"})
INDEXED = re.compile(r"(gen_ai\.(?:prompt|completion))\.(\d{1,6})\.(role|content)")
SIZES = (16, 8)  # bytes of the id of a trace, and of a span
DEEPEST = 50  # levels of a value


class SpanOrEvent(NamedTuple):
    """A span, or an event with the id of its span."""

    name: str
    attributes: Mapping[str, Any]
    trace: str
    span: str
    resource: Mapping[str, Any]
    body: Any = None
    parent: str | None = None  # of a span alone

    @property
    def is_evaluation(self) -> bool:
        """Whether it is a judgement, by name or attributes."""
        return self.name == EVENT or (self.parent is None and not self.name and NAME in self.attributes)

    @property
    def home(self) -> tuple[str, str]:
        """The span it is about; the parent, for a span."""
        return self.trace, (self.parent if self.parent is not None and self.name == EVENT else self.span)


@dataclass
class SpanContent:
    """A span's attributes and events that are not judgements."""

    attributes: Mapping[str, Any] = field(default_factory=dict)
    turns: list[dict[str, Any]] = field(default_factory=list)

    def add(self, signal: SpanOrEvent) -> None:
        """Add the span or an event about it."""
        if signal.name in TURNS:
            held = signal.body if isinstance(signal.body, dict) else signal.attributes
            message = held.get("message", held.get("gen_ai.event.content", held))
            self.turns.append({"role": TURNS[signal.name], "content": response_text(message) or question_text(message)})
        attributes = signal.attributes
        if signal.parent is None:  # of an event: what it has of the conventions alone
            attributes = {key: value for key, value in attributes.items() if key.startswith("gen_ai.")}
        if attributes:
            self.attributes = {**self.attributes, **attributes} if self.attributes else attributes

    @cached_property
    def question(self) -> str | None:
        """The model's input."""
        return question_text(_messages(self.attributes, ASKED)) or question_text(self.turns)

    @cached_property
    def response(self) -> str | None:
        """The model's output."""
        return response_text(_messages(self.attributes, ANSWERED)) or response_text(self.turns)


class OpenTelemetryFormat(ExportFormat):
    """OpenTelemetry's format: a row is a `gen_ai.evaluation.result` event."""

    name: ClassVar[str] = "otel"

    @classmethod
    def claims(cls, held: LoadedFile) -> bool:
        """Return whether there is OTLP or such an event."""
        return any(
            _is_otlp(row.fields) or any(signal.is_evaluation for signal in _signals(row.fields))
            for row in _documents(held)
            if not MARKS.isdisjoint(row.fields)  # most logs are others', and have many rows
        )

    @classmethod
    def rows(cls, held: LoadedFile) -> list[DataRow]:
        """Return judgements with event, span and resource attributes."""
        events, spans, by_response = [], dict[tuple[str, str], SpanContent](), dict[str, SpanContent]()
        for row in _documents(held):
            for signal in _signals(row.fields):
                if signal.is_evaluation:
                    events.append((row, signal))
                elif any(key.startswith("gen_ai.") for key in signal.attributes) or signal.name in TURNS:
                    spanned = spans.setdefault(signal.home, SpanContent())
                    spanned.add(signal)
                    if isinstance(known := signal.attributes.get(RESPONSE_ID), str):
                        by_response[known] = spanned
        if not events:
            raise JudgeFixturesError(MESSAGES.otel_without_events(held, EVENT))
        rows = []
        for number, (row, signal) in enumerate(events, 1):
            about = by_response.get(str(signal.attributes.get(RESPONSE_ID))) or spans.get(signal.home) or SpanContent()
            rows.append(_judged(_placed(row, number, held), signal, about))
        return rows


def _placed(row: DataRow, number: int, held: LoadedFile) -> DataRow:
    where = row.where if held.rows else str(held.file)
    place = f"{row.place}, " if held.rows else ""
    return row._replace(where=f"{where}: event {number}", place=f"{place}event {number}")


def _judged(row: DataRow, signal: SpanOrEvent, about: SpanContent) -> DataRow:
    own_attributes, span_attributes = signal.attributes, about.attributes
    own = SpanContent(own_attributes)
    fields = {**signal.resource, **span_attributes, **own_attributes, "trace_id": signal.trace, "span_id": signal.span}
    row = row._replace(fields={key: value for key, value in fields.items() if key not in TEXTS})
    name, score, label = own_attributes.get(NAME), _score(own_attributes.get(SCORE), row), own_attributes.get(LABEL)
    if not isinstance(name, str) or not name.strip():
        raise row.mistake(f"{NAME} must be a text, got {short_repr(name, 80)}: each {EVENT} must name its metric.")
    if not isinstance(label, str | bool | None):
        raise row.mistake(f"{LABEL} must be a text, got {short_repr(label, 80)}.")
    label = None if label == "" else label
    unscored = isinstance(score, float) and not math.isfinite(score)
    error = own_attributes.get("error.type") or (f"its score is {score}" if unscored else None)
    if error is None and score is None and label is None:
        error = "it has neither a label nor a score"
    reason = _text(own_attributes.get(EXPLANATION)) or None
    grade: dict[str, Any] = {"passed": label, "score": None if unscored else score, "reason": reason}
    texts = {"question": own.question or about.question, "response": own.response or about.response}
    model = next((span_attributes[key] for key in MODELS if isinstance(span_attributes.get(key), str)), None)
    judged_of: dict[str, Any] = {"id": _id_of(signal, span_attributes), **texts, "model": model}
    error = None if error is None else make_one_line(str(error))
    return normalized_row(row, metric=name, **grade, **judged_of, error=error)


def _id_of(signal: SpanOrEvent, attributes: Mapping[str, Any]) -> str | None:
    for known in (signal.attributes.get(RESPONSE_ID), attributes.get(RESPONSE_ID)):
        if isinstance(known, str) and known.strip():
            return known
    return "-".join(part for part in signal.home if part) or None


def _score(value: Any, row: DataRow) -> bool | int | float | None:
    if value is None or value == "" or isinstance(value, bool | int | float):
        return None if value == "" else value
    try:
        return float(value)  # some write it as a text
    except (TypeError, ValueError):
        raise row.mistake(f"{SCORE} must be a number, got {short_repr(value, 80)}.") from None


def _messages(attributes: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if attributes.get(name) is not None:
            return attributes[name]
        turns: dict[int, dict[str, Any]] = {}
        for key, value in attributes.items():
            if (match := INDEXED.fullmatch(key)) and match[1] == name:
                turns.setdefault(int(match[2]), {})[match[3]] = value
        if turns:
            role = "user" if names is ASKED else "assistant"
            return [{"role": role, **turns[number]} for number in sorted(turns)]
    return None


# --- documents to signals ---------------------------------------------------------------------------------------


def _documents(held: LoadedFile) -> Iterator[DataRow]:
    yield from held.rows
    for value in held.value if isinstance(held.value, list) else [held.value]:
        if isinstance(value, dict):
            yield DataRow(value, str(held.file), "")


def _is_otlp(document: Mapping[str, Any]) -> bool:
    return any(isinstance(_get(document, layers[0]), list) for layers in (LOGS, SPANS))


def _signals(document: Mapping[str, Any]) -> Iterator[SpanOrEvent]:
    if _is_otlp(document):
        for layers in (LOGS, SPANS):
            for group in _objects(document, layers[0]):
                resource = _attributes(group.get("resource"))
                for scope in _objects(group, layers[1]):
                    for record in _objects(scope, layers[2]):
                        yield from _read(record, resource, is_span=layers is SPANS)
        return
    context = document.get("context")
    yield from _read(
        {**document, **context} if isinstance(context, dict) else document,
        _attributes(document.get("resource")),
        is_span=isinstance(context, dict) and isinstance(document.get("events"), list),
    )


def _read(record: Mapping[str, Any], resource: Mapping[str, Any], *, is_span: bool) -> Iterator[SpanOrEvent]:
    trace, span = hex_id(_get(record, "traceId")), hex_id(_get(record, "spanId"))
    attributes = _attributes(record)
    if not is_span:
        body = _plain(record.get("body"))
        yield SpanOrEvent(_name_of(record, attributes, body), attributes, trace, span, resource, body)
        return
    above = _get(record, "parentSpanId")
    parent = hex_id(record.get("parent_id") if above is None else above)
    yield SpanOrEvent(_text(record.get("name")), attributes, trace, span, resource, parent=parent)
    for event in _objects(record, "events"):
        event_attributes = _attributes(event)
        yield SpanOrEvent(_name_of(event, event_attributes, None), event_attributes, trace, span, resource)


def _name_of(record: Mapping[str, Any], attributes: Mapping[str, Any], body: Any) -> str:
    named = (_get(record, "eventName"), attributes.get("event.name"), record.get("event.name"), record.get("name"))
    return next((name for name in map(_text, named) if name), EVENT if body == EVENT else "")


def _attributes(record: Any) -> Mapping[str, Any]:
    if not isinstance(record, dict):
        return {}
    held = record.get("attributes")
    if isinstance(held, list):
        pairs = [each for each in held if isinstance(each, dict) and isinstance(each.get("key"), str)]
        return {each["key"]: _plain(each.get("value")) for each in pairs}
    if isinstance(held, dict):
        return held
    return {key: value for key, value in record.items() if "." in key}


def _plain(value: Any, depth: int = 0) -> Any:
    if not isinstance(value, dict) or len(value) > 1 or depth > DEEPEST:
        return value
    if not value:
        return None
    ((kind, held),) = value.items()
    match _camel(kind):
        case "stringValue" | "boolValue" | "bytesValue":
            return held
        case "intValue" | "doubleValue":
            return _number(held, int if _camel(kind) == "intValue" else float)
        case "arrayValue":
            return [_plain(each, depth + 1) for each in _list(held, "values")]
        case "kvlistValue":
            pairs = [each for each in _list(held, "values") if isinstance(each, dict)]
            return {str(each.get("key")): _plain(each.get("value"), depth + 1) for each in pairs}
    return value


def _number(held: Any, kind: type[int] | type[float]) -> Any:
    try:
        return kind(held) if isinstance(held, str) else held
    except ValueError:
        return held


def hex_id(value: Any) -> str:
    """Return a trace or span id in hexadecimal, or "".

    Accepts hexadecimal digits, 0x prefixes and base64.

    >>> hex_id("0x00000000000000ff") == hex_id("00000000000000FF") == hex_id("AAAAAAAAAP8=") == "00000000000000ff"
    True
    """
    text = _text(value).strip().removeprefix("0x")
    if len(text) not in (2 * SIZES[0], 2 * SIZES[1]):
        try:
            raw = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return text
        text = raw.hex() if len(raw) in SIZES else text
    return text.lower() if text.strip("0") else ""


def _get(record: Mapping[str, Any], name: str) -> Any:
    return record[name] if name in record else record.get(_snake(name))


def _objects(record: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [each for each in _list(record, name) if isinstance(each, dict)]


def _list(record: Any, name: str) -> list[Any]:
    value = _get(record, name) if isinstance(record, dict) else None
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=128)
def _snake(name: str) -> str:
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


@lru_cache(maxsize=128)
def _camel(name: str) -> str:
    return re.sub("_([a-z])", lambda match: match[1].upper(), name)
