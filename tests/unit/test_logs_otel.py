"""OpenTelemetry's exports: events `gen_ai.evaluation.result` become answers, about the spans that they are of."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import read_or_refused, spoiled
from support.importing import bare, importer
from support.project import Project, json_lines
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.importers.formats.loaded_file import LoadedFile, load_file
from judgefixtures.importers.formats.otel import OpenTelemetryFormat, hex_id
from judgefixtures.sources.row_readers import DataRow

pytest_plugins = ["pytester"]

LOGS = Path(__file__).parent / "data" / "logs" / "otel"
FILES = sorted(LOGS.glob("*.jsonl"))
EXAMPLES = [json.loads(line) for line in (LOGS.parent / "examples.jsonl").read_text().splitlines()]
EVENT = "gen_ai.evaluation.result"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository without any table, and the suite's test of agreement."""
    return bare(pytester)


@pytest.fixture
def take(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Import a text as the command does, and return what it says."""
    return importer(project, capsys)


def judgements(rows: list[DataRow]) -> list[dict[str, Any]]:
    """Return what rows say in the form of all exports."""
    return [dict(row.fields["judged"]) for row in rows]


def rows_of(*documents: Any) -> list[dict[str, Any]]:
    """Return what documents say, one per line."""
    rows = tuple(DataRow(each, f"x.jsonl:{number}", f"line {number}") for number, each in enumerate(documents, 1))
    held = LoadedFile(Path("x.jsonl"), rows=rows)
    assert OpenTelemetryFormat.claims(held)
    return judgements(OpenTelemetryFormat.rows(held))


def labels(file: Path) -> Counter[str]:
    """Return how often a file has each label of Relevance, by its letters alone."""
    text = file.read_text()
    return Counter(re.findall(r'score\.label"(?:: |, "value": \{"stringValue": )"(\w+)"', text))


# --- what the SDK's exporters wrote -----------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_events_are_counted_as_the_exporters_wrote_them(file: Path) -> None:
    """Each event is a row with its label, score and explanation; other log records, events and spans are none."""
    held = load_file(file)
    assert OpenTelemetryFormat.claims(held)
    rows = judgements(OpenTelemetryFormat.rows(held))
    assert Counter(each["metric"] for each in rows) == {"Relevance": 12, "Length": 12}
    relevance = [each for each in rows if each["metric"] == "Relevance"]
    assert Counter(each["passed"] for each in relevance if "passed" in each) == labels(file) == {"pass": 6, "fail": 5}
    assert [each["error"] for each in relevance if "passed" not in each] == ["timeout"]
    assert all(each["score"] == (0.9 if each["passed"] == "pass" else 0.2) for each in relevance if "passed" in each)
    assert all(each["reason"].startswith("It ") for each in relevance if "passed" in each)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_events_are_about_the_span_that_they_are_of(file: Path) -> None:
    """The span's messages are the question and the response, its model wrote that, and its ids name it."""
    rows = judgements(OpenTelemetryFormat.rows(load_file(file)))
    shown = {(each["question"], each["response"], each["model"]) for each in rows}
    assert shown == {(each["question"], each["response"], each["model"]) for each in EXAMPLES}
    ids = {each["id"] for each in rows}
    assert len(ids) == 12
    if file.name.startswith("1.45"):
        assert ids == {f"response-{each['id']}" for each in EXAMPLES}
    else:
        assert all(re.fullmatch("[0-9a-f]{32}-[0-9a-f]{16}", each) for each in ids)


@pytest.mark.parametrize("version", ["1.27.0", "1.45.2"])
def test_ids_are_read_in_either_form_of_json(version: str) -> None:
    """OTLP's own JSON has ids in hexadecimal digits, and keys may have underscores: the rows are the same."""

    def by_schema(value: Any) -> Any:
        if isinstance(value, dict):
            return {snake(key): by_schema(id_of(key, each)) for key, each in value.items()}
        return [by_schema(each) for each in value] if isinstance(value, list) else value

    def snake(key: str) -> str:
        return re.sub("(?<!^)(?=[A-Z])", "_", key).lower()

    def id_of(key: str, value: Any) -> Any:
        return base64.b64decode(value).hex() if key in ("traceId", "spanId", "parentSpanId") else value

    documents = [json.loads(line) for line in (LOGS / f"{version}-otlp.jsonl").read_text().splitlines()]
    assert rows_of(*documents) == rows_of(*map(by_schema, documents))
    whole = LoadedFile(Path("x.json"), value={key: each for document in documents for key, each in document.items()})
    assert judgements(OpenTelemetryFormat.rows(whole)) == rows_of(*documents)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_from_a_file_to_a_report(
    project: Project, take: Callable[..., str], file: Path, snapshot: SnapshotAssertion
) -> None:
    """One command, its printed configuration and the test: agreement with the labels of the examples."""
    rows = judgements(OpenTelemetryFormat.rows(load_file(file)))
    ids = {each["response"]: each["id"] for each in rows}
    labelled = [{**each, "id": ids[each["response"]]} for each in EXAMPLES]
    project.write("examples.jsonl", json_lines(labelled))
    told = take(file.read_text(), "--metric", "Relevance", "--allow", "0.1", "--pairs", "examples.jsonl")
    assert "mine on examples: 11 answers about 11 examples" in told
    assert lines_about(told, "judge ended") == snapshot
    added = told.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in told.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    assert (row["n"], row["tp"], row["fn"], row["fp"], row["tn"]) == (11, 5, 1, 1, 4)


# --- forms of events --------------------------------------------------------------------------------------------


def said(**more: Any) -> dict[str, Any]:
    """Return the attributes of an event."""
    return {"gen_ai.evaluation.name": "Tone", "gen_ai.evaluation.score.label": "pass", **more}


def flat() -> Iterator[dict[str, Any]]:
    """Yield one event in the forms in which people write one per line."""
    yield {"name": EVENT, "attributes": said()}
    yield {"event_name": EVENT, "attributes": said()}
    yield {"event.name": EVENT, **said()}
    yield {"body": EVENT, "attributes": said()}
    yield {"attributes": said(**{"event.name": EVENT})}
    yield said()
    listed = [{"key": key, "value": {"stringValue": value}} for key, value in said().items()]
    yield {"eventName": EVENT, "attributes": listed}


@pytest.mark.parametrize("event", list(flat()))
def test_an_event_is_told_by_its_name_or_its_attributes(event: dict[str, Any]) -> None:
    """The name stands in one of several fields, attributes in an object, a list or beside it."""
    assert rows_of(event) == [{"metric": "Tone", "by": "judge", "passed": "pass"}]


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.evaluation.score.value": 4},
        {"gen_ai.evaluation.score.value": "0.5"},
        {"gen_ai.evaluation.score.value": float("nan")},
        {"gen_ai.evaluation.score.label": ""},
        {"error.type": "timeout"},
        {"gen_ai.response.id": "r1"},
    ],
)
def test_values_are_told_by_their_attributes(attributes: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """A label is a grade, a value is a score, and an error says why nobody judged."""
    assert rows_of({"name": EVENT, "attributes": said(**attributes)}) == snapshot


def test_a_response_is_found_by_its_id_where_the_event_is_elsewhere() -> None:
    """An event that names the response is about that one, also where a judge's own span emitted it."""
    messages = [{"role": "assistant", "parts": [{"type": "text", "content": "So."}]}]
    span = {
        "name": "chat",
        "context": {"trace_id": "0x1", "span_id": "0x2"},
        "events": [],
        "attributes": {"gen_ai.response.id": "r1", "gen_ai.output.messages": messages},
    }
    other = {"name": "judge", "context": {"trace_id": "0x1", "span_id": "0x3"}, "attributes": {"gen_ai.x": 1}}
    event = {"name": EVENT, "attributes": said(**{"gen_ai.response.id": "r1"})}
    (row,) = rows_of({**other, "events": [event]}, span)
    assert (row["id"], row["response"]) == ("r1", "So.")


def test_turns_are_events_in_older_conventions() -> None:
    """Messages that are log records about the span, or numbered attributes of it, are read, too."""
    about = {"trace_id": "0x1", "span_id": "0x2"}
    asked = {"event_name": "gen_ai.user.message", "body": {"content": "Why?"}, **about}
    chosen = {"event_name": "gen_ai.choice", "body": {"index": 0, "message": {"content": "So."}}, **about}
    judged = {"event_name": EVENT, "attributes": said(), **about}
    (row,) = rows_of(asked, chosen, judged)
    assert (row["question"], row["response"]) == ("Why?", "So.")
    numbered = {
        "gen_ai.prompt.0.role": "system",
        "gen_ai.prompt.0.content": "Be brief.",
        "gen_ai.prompt.1.role": "user",
        "gen_ai.prompt.1.content": "Why?",
        "gen_ai.completion.0.content": "So.",
    }
    span = {"name": "chat", "context": about, "events": [], "attributes": numbered}
    (row,) = rows_of(span, judged)
    assert (row["question"], row["response"]) == ("Why?", "So.")


def test_a_span_may_stand_for_the_event() -> None:
    """Where a tracer has no events a span of that name is one, and is about the span above it."""
    span = {
        "name": EVENT,
        "context": {"trace_id": "0x1", "span_id": "0x3"},
        "parent_id": "0x2",
        "events": [],
        "attributes": said(),
    }
    (row,) = rows_of(span)
    assert row["id"] == "1-2"


def test_attributes_are_columns(take: Callable[..., str]) -> None:
    """What an event, its span and its resource have by name is chosen, and mapped, by that name."""
    text = (LOGS / "1.45.2-console.jsonl").read_text()
    told = take(text, "--where", "gen_ai.evaluation.name=Relevance", "--columns", "pair=example.id", "--allow", "0.1")
    assert "11 answers about 11 examples" in told
    assert "tea-good" in (Path("cassettes") / "mine" / "own" / "imported.jsonl").read_text()


def test_what_is_wrong_is_told_with_its_event(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """An event without a name, and a score that is not a number, are errors that name the line and the event."""
    told = take([{"name": EVENT, "attributes": said()}, {"name": EVENT, "attributes": {"error.type": "x"}}], code=2)
    assert lines_about(told, "gen_ai.evaluation.name must") == snapshot
    wrong = said(**{"gen_ai.evaluation.score.value": "high"})
    told = take([{"name": EVENT, "attributes": wrong}], code=2)
    assert lines_about(told, "'high'") == snapshot
    told = take([{"resourceSpans": []}], code=2)
    assert "has no event gen_ai.evaluation.result" in told


def test_ids_are_hexadecimal_digits() -> None:
    """Zeros are no id, and what is none of the forms stays as it is."""
    assert hex_id("0x0000") == hex_id("") == hex_id(None) == hex_id(5) == ""
    assert hex_id("AbC") == "AbC"


def test_other_files_are_not_claimed() -> None:
    """Files of others, or of nothing, are left to whoever knows them."""
    for value in ({}, [], [1], "a", {"results": []}, [{"name": "x", "attributes": {}}], {"events": [], "context": {}}):
        assert not OpenTelemetryFormat.claims(LoadedFile(Path("x.json"), value=value))


WHOLE = [json.loads(line) for file in FILES for line in file.read_text().splitlines()[:3]]


@given(st.data())
def test_hostile_files_are_rows_or_an_error(data: st.DataObject) -> None:
    """Whatever stands where anything of a file should: it is rows, or an error that names the file."""
    whole = data.draw(st.lists(st.sampled_from(WHOLE), min_size=1, max_size=3))
    read_or_refused("x.json", data.draw(spoiled(whole)))
