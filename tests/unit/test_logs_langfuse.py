"""Exports of Langfuse: what three versions of its SDK sent, and what its API and its page write by their schemas."""

from __future__ import annotations

import contextlib
import csv
import json
import shlex
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.exported import LOGS, spoiled, write
from support.importing import answers, importer, importer_of
from support.project import Project, in_pyproject, json_lines, read_rows
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.importers import summary
from judgefixtures.importers.formats.langfuse import LangfuseFormat
from judgefixtures.importers.formats.loaded_file import LoadedFile
from judgefixtures.importers.log_files import read_log
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

HERE = LOGS / "langfuse"
EXAMPLES = read_rows(LOGS / "examples.jsonl")
SENT = ["2.60-sent.jsonl", "3.15-sent.jsonl", "5.0-sent.json"]
ANSWERED = ["2.60-scores-by-schema.json", "3.15-pages-by-schema.jsonl", "5.0-scores-v3-by-schema.json"]
EXPORTED = ["2.60-traces-by-schema.jsonl", "ui-by-schema.jsonl", "ui-by-schema.csv"]
EXPORTED += ["ui-quoted-by-schema.csv"]  # where each text is JSON


def raw(name: str) -> list[dict[str, Any]]:
    """Return the scores of a file, found by hand."""
    file = HERE / name
    if name.endswith("csv"):
        with file.open(newline="", encoding="utf-8") as held:
            rows = list(csv.DictReader(held))
        return [{key: json.loads(cell) for key, cell in row.items()} for row in rows] if "quoted" in name else rows
    documents = read_rows(file) if name.endswith("l") else [json.loads(file.read_text())]
    if "sent" in name:
        events = [each for document in documents for each in _sent(document)]
        return [each.get("body", each) for each in events if each.get("type", "score-create") == "score-create"]
    if "ui" in name:
        return documents
    return [each for document in documents for each in document["scores" if "traces" in name else "data"]]


def _sent(document: Any) -> list[Any]:
    """Return the events of a batch, or the scores of the lists that were sent one after another."""
    return document["batch"] if isinstance(document, dict) else [score for body in document for score in body]


def by_hand(name: str, metric: str) -> dict[str, int]:
    """Return how many scores of judges under a name say what, whichever way their file writes it."""
    held = [each for each in raw(name) if each["name"] == metric and each.get("source") != "ANNOTATION"]
    return dict(Counter(str(each.get("stringValue") or each["value"]) for each in held))


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Return a file of the examples under the ids of their traces, without anybody's labels."""
    rows = [
        {"id": f"{0xB0 + number:032x}", "question": each["question"], "response": each["response"]}
        for number, each in enumerate(EXAMPLES)
    ]
    file = tmp_path / "traces.jsonl"
    file.write_text(json_lines(rows))
    return file


@pytest.fixture
def take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Import a file of the data as `mine`; return what was done."""
    return importer_of(HERE, tmp_path, monkeypatch)


def said(done: Any) -> Counter[Any]:
    """Return how many answers of an import passed, failed, and are neither."""
    return Counter(answer.said for answer in done.imported.answers.values())


@pytest.mark.parametrize("name", [*SENT, *ANSWERED, *EXPORTED])
def test_truth_values_are_grades(
    take: Callable[..., Any], traces: Path, name: str, snapshot: SnapshotAssertion
) -> None:
    """A score of the type BOOLEAN passes or fails, whichever way a version writes it, and its comment is the reason."""
    done = take(name, metric="correct", pairs=traces)
    held = by_hand(name, "correct")
    passed = sum(count for value, count in held.items() if value in ("1.0", "True"))
    assert said(done) == {True: passed, False: sum(held.values()) - passed} == {True: 6, False: 5}
    assert {answer.reason for answer in done.imported.answers.values()} == snapshot


@pytest.mark.parametrize("name", [*SENT, *ANSWERED, *EXPORTED])
def test_words_are_grades(take: Callable[..., Any], traces: Path, name: str, snapshot: SnapshotAssertion) -> None:
    """A score of the type CATEGORICAL is its word, never the number beside it; a word that says neither is invalid."""
    done = take(name, metric="tone", pairs=traces)
    held = by_hand(name, "tone")
    assert said(done) == {True: held["good"], False: held["bad"], None: held["unsure"]}
    assert lines_about(summary(done), "'unsure'") == snapshot


@pytest.mark.parametrize("name", [*SENT, *ANSWERED, *EXPORTED])
def test_numbers_are_scores(take: Callable[..., Any], traces: Path, name: str) -> None:
    """A score of the type NUMERIC is a number on a scale of its own."""
    done = take(name, metric="quality", pairs=traces)
    held = [float(each["value"]) for each in raw(name) if each["name"] == "quality"]
    assert sorted(answer.said[0] for answer in done.imported.answers.values()) == sorted(held)


@pytest.mark.parametrize("name", [*ANSWERED, *EXPORTED])
def test_annotations_are_peoples_labels(take: Callable[..., Any], traces: Path, name: str) -> None:
    """What people annotated under the judge's name are the labels of what it judged."""
    done = take(name, metric="correct", pairs=traces)
    labels = {f"{0xB0 + number:032x}": each["label"] for number, each in enumerate(EXAMPLES)}
    assert {pair.id: pair.label for pair in done.pairs}.items() <= labels.items()
    assert len(done.pairs) == 11


def test_feedback_of_users_is_labels_where_it_is_named(take: Callable[..., Any], traces: Path) -> None:
    """Users' thumbs come by the API, as judges' scores do: --label-metric says that they are people's."""
    done = take("3.15-sent.jsonl", metric="correct", label_metric="user-feedback", pairs=traces)
    assert Counter(pair.label for pair in done.pairs) == {"pass": 6, "fail": 5}


@pytest.mark.parametrize("name", ["3.15-pages-by-schema.jsonl", "5.0-scores-v3-by-schema.json", "ui-by-schema.csv"])
def test_notes_and_corrections_are_no_judgements(take: Callable[..., Any], name: str) -> None:
    """They are listed, and say nothing: the 0 that an API gives a correction is no score."""
    with pytest.raises(JudgeFixturesError) as error:
        take(name)
    assert "  note (people's): 1 row: nothing 1\n" in str(error.value)
    assert "  output (people's): 1 row: nothing 1\n" in str(error.value)
    assert "  correct (a judge's): 11 rows: True 6, False 5\n" in str(error.value)


@pytest.mark.parametrize("name", ["2.60-sent.jsonl", "2.60-traces-by-schema.jsonl"])
def test_texts_stand_in_traces(take: Callable[..., Any], name: str) -> None:
    """Traces in the same file, or around the scores, have the question and the response, as texts or as messages."""
    done = take(name, metric="correct")
    told = {(each["question"], each["response"]) for each in EXAMPLES if each["id"] != "leap-bad"}
    assert {(pair.question, pair.response) for pair in done.pairs} == told


def test_the_narrowest_is_what_was_judged() -> None:
    """A score of an observation is of what that asked and answered, and its trace is the cluster."""
    step = {"id": "o1", "type": "GENERATION", "input": {"question": "Why?"}, "output": "So.", "model": "model-a"}
    score = {"name": "tone", "dataType": "CATEGORICAL", "value": 0, "stringValue": "good", "source": "EVAL"}
    trace = {"id": "t1", "input": "All of it?", "output": "All.", "observations": [step], "htmlPath": "/"}
    held = [{**score, "observationId": "o1"}, {**score, "observationId": None}]
    rows = LangfuseFormat.rows(LoadedFile(Path("trace.json"), value={**trace, "scores": held}))
    first, second = (row.fields["judged"] for row in rows)
    assert (first["id"], first["cluster"], first["question"], first["response"]) == ("o1", "t1", "Why?", "So.")
    assert first["model"] == "model-a"
    assert (second["id"], second["question"], second.get("cluster")) == ("t1", "All of it?", None)
    assert [row.where.rpartition("trace.json: ")[2] for row in rows] == ["row 1, score 1", "row 1, score 2"]
    subject = {"kind": "observation", "id": "o2", "traceId": "t2"}
    third = {"name": "tone", "dataType": "BOOLEAN", "value": True, "source": "EVAL", "subject": subject}
    (row,) = LangfuseFormat.rows(LoadedFile(Path("scores.json"), value=[third]))
    assert row.fields["judged"] == {"metric": "tone", "by": "judge", "passed": True, "id": "o2", "cluster": "t2"}
    (row,) = LangfuseFormat.rows(LoadedFile(Path("scores.json"), value=[{**score, "sessionId": "s1", "traceId": None}]))
    assert row.fields["judged"]["id"] == "s1"


def test_later_events_complete_those_before() -> None:
    """A trace whose answer was sent later has its question from before; what was sent again is not lost."""
    about = {"traceId": "t1", "name": "tone", "value": 0.5}
    events = [("trace-create", {"id": "t1", "input": "Why?"}), ("trace-create", {"id": "t1", "output": "So."})]
    batch = [{"type": kind, "body": body} for kind, body in [*events, ("score-create", about)]]
    (row,) = LangfuseFormat.rows(LoadedFile(Path("sent.json"), value={"batch": batch}))
    told = {"metric": "tone", "by": "judge", "score": 0.5, "id": "t1", "question": "Why?", "response": "So."}
    assert row.fields["judged"] == told


@pytest.mark.parametrize(
    ("name", "options"), [("2.60-traces-by-schema.jsonl", ()), ("ui-by-schema.csv", ("--pairs", "traces.jsonl"))]
)
def test_from_a_file_to_a_report(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], traces: Path, name: str, options: tuple[str, ...]
) -> None:
    """What the import prints is all that a gate takes, and its agreement is about every grade that has a label."""
    project = Project(pytester, in_pyproject, fresh=True)
    project.copy_tests("agreement")
    project.write("traces.jsonl", traces.read_text())
    text = (HERE / name).read_text(encoding="utf-8")
    said = importer(project, capsys)(text, "--metric", "correct", "--dataset", "own", *options, name=name)
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    assert row["n"] == len(answers(project)) == 11
    assert (row["tp"], row["fn"], row["fp"], row["tn"]) == (5, 1, 1, 4)


# --- whose file it is, and hostile ones ------------------------------------------------------------------------

SCORE = {"name": "tone", "traceId": "t1", "value": 1, "dataType": "NUMERIC"}


def test_traces_that_nobody_scored_are_counted() -> None:
    """Beside traces with scores those without, or with the ids of scores alone, are told."""
    traces = [{"id": f"t{n}", "htmlPath": "/", "scores": scores} for n, scores in enumerate([[SCORE], [], ["s1"]])]
    held = LoadedFile(Path("traces.json"), value=traces)
    assert len(LangfuseFormat.rows(held)) == 1
    assert LangfuseFormat.remarks(held) == ("without a score: 2 of 3 traces in traces.json",)


def test_files_of_others_are_not_claimed() -> None:
    """A log of one's own in which a person has the column `name` is none of Langfuse's."""
    plain = [{"id": "1", "name": "anna", "value": "pass", "source": "web", "traceId": "t", "verdict": "pass"}]
    assert not LangfuseFormat.claims(LoadedFile(Path("plain.json"), value=plain))


@pytest.mark.parametrize(
    "value",
    [
        [{**SCORE, "traceId": ["t"]}],
        {"data": [SCORE, {**SCORE, "name": ""}]},
        {"data": [SCORE, "x"]},
        [SCORE, 3],
        {"data": [{"id": "t1", "htmlPath": "/", "scores": ["s1"]}]},
    ],
)
def test_what_is_wrong_is_told_with_its_row(value: Any, snapshot: SnapshotAssertion) -> None:
    """A score that cannot be read ends the import with its place, and with what to do."""
    assert LangfuseFormat.claims(LoadedFile(Path("log.json"), value=value))
    with pytest.raises(JudgeFixturesError) as error:
        LangfuseFormat.rows(LoadedFile(Path("log.json"), value=value))
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    "score",
    [
        {"dataType": "BOOLEAN", "value": 0.5},
        {"dataType": "BOOLEAN", "value": None, "stringValue": "True"},
        {"dataType": "NUMERIC", "value": float("nan")},
        {"dataType": "STARS", "value": 4},
        {"dataType": None, "value": "good"},
        {"dataType": "CATEGORICAL", "value": None, "stringValue": None},
        {"dataType": "CORRECTION", "value": 0, "stringValue": "Better."},
    ],
)
def test_values_that_do_not_fit_their_type_are_no_guess(score: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """What is neither true nor false is said as it stands, and a new type is read by its value."""
    (row,) = LangfuseFormat.rows(LoadedFile(Path("log.json"), value=[{**SCORE, **score}]))
    assert row.fields["judged"] == snapshot


@pytest.mark.parametrize("name", [SENT[0], SENT[2], ANSWERED[1], ANSWERED[2], EXPORTED[0], EXPORTED[1]])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_stands_in_it_there_is_a_sentence(
    data: st.DataObject, tmp_path: Path, take: Callable[..., Any], name: str
) -> None:
    """A file in which anything may be anything is read, or is an error of ours."""
    lines = name.endswith("l")
    held = read_rows(HERE / name)[:4] if lines else json.loads((HERE / name).read_text())
    file = write(data.draw(spoiled(held)), tmp_path, lines=lines)
    with contextlib.suppress(JudgeFixturesError):
        rows = read_log(file, "langfuse").rows
        assert all(isinstance(row.fields["judged"]["metric"], str) for row in rows)
        take(file, metric="correct", allow=1.0, format="langfuse")
