"""MLflow's exports: tables and traces that MLflow wrote become the answers of the judge that is meant."""

from __future__ import annotations

import ast
import csv
import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import read_or_refused, spoiled
from support.importing import Rows, bare, importer
from support.project import Project
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.importers.formats.loaded_file import LoadedFile, load_file
from judgefixtures.importers.formats.mlflow import MLflowFormat
from judgefixtures.sources.row_readers import DataRow

pytest_plugins = ["pytester"]

LOGS = Path(__file__).parent / "data" / "logs" / "mlflow"
TRACES = sorted(file for file in LOGS.glob("3.*") if "result_df" not in file.name)
RESULTS = sorted(LOGS.glob("3.*result_df*"))
TABLES = sorted(LOGS.glob("2.*"))


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


def assessments(file: Path) -> list[list[dict[str, Any]]]:
    """Return the assessments of a file's traces, read without the package."""
    if file.suffix == ".json":
        return [trace["info"]["assessments"] for trace in json.loads(file.read_text())]
    if file.suffix == ".jsonl":
        return [json.loads(line)["assessments"] for line in file.read_text().splitlines()]
    with file.open(newline="") as table:
        return [ast.literal_eval(row["assessments"]) for row in csv.DictReader(table)]


def said(traces: list[list[dict[str, Any]]], name: str, source: str) -> Counter[str]:
    """Return what one kind of source says under a name, by plain loops."""
    counted: Counter[str] = Counter()
    for each in (each for trace in traces for each in trace):
        named = each.get("assessment_name", each.get("name"))
        if named == name and each.get("feedback") and not each["feedback"].get("error"):
            counted[str(each["feedback"]["value"])] += each["source"]["source_type"] == source
    return +counted


# --- what MLflow wrote -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", TRACES, ids=lambda file: file.name)
@pytest.mark.parametrize("metric", ["answers", "on_topic", "correctness"])
def test_assessments_of_traces_are_counted_as_mlflow_wrote_them(
    file: Path, metric: str, snapshot: SnapshotAssertion
) -> None:
    """A judge's, a person's and a check's assessments are told apart, with as many of each value as the file has."""
    held = load_file(file)
    assert MLflowFormat.claims(held)
    found = [each for each in judgements(MLflowFormat.rows(held)) if each["metric"] == metric]
    traces = assessments(file)
    for by, source in (("judge", "LLM_JUDGE"), ("person", "HUMAN")):
        assert Counter(str(each["passed"]) for each in found if each["by"] == by and "passed" in each) == said(
            traces, metric, source
        )
    failed = [each for each in found if "error" in each]
    assert [(each["by"], each["error"]) for each in failed] == snapshot  # of which MLflow says that its source is code
    assert all(each["reason"] for each in found if each["by"] == "judge" and "error" not in each)


@pytest.mark.parametrize("file", TRACES, ids=lambda file: file.name)
def test_traces_hold_what_was_judged(file: Path) -> None:
    """A row has the trace's id, the question and the response, whatever form the trace is in; one input is one cluster."""
    examples = [json.loads(line) for line in (LOGS.parent / "examples.jsonl").read_text().splitlines()][:6]
    rows = judgements(MLflowFormat.rows(load_file(file)))
    shown = {(each["id"], each["question"], each["response"]) for each in rows}
    assert {(question, response) for _, question, response in shown} == {
        (each["question"], each["response"]) for each in examples
    }
    assert len(shown) == 6
    assert len({each["cluster"] for each in rows}) == 3
    assert {each["score"] for each in rows if each["metric"] == "quality" and "score" in each} == {2, 5}
    assert {each["by"] for each in rows if each["metric"] == "brief"} == {"code"}
    assert not any(each["metric"] == "expected_response" for each in rows)  # a text that is expected is no grade


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.name)
def test_tables_of_results_are_counted_by_their_columns(file: Path) -> None:
    """Each metric of result_df has a row per response, and the failed one is an error, in both shapes of the table."""
    rows = judgements(MLflowFormat.rows(load_file(file)))
    for metric in ("answers", "correctness", "on_topic"):
        own = [each for each in rows if each["metric"] == metric]
        passed = Counter(str(each.get("passed", "none")).casefold() in ("true", "yes") for each in own)
        assert (len(own), passed[True], sum("error" in each for each in own)) == (6, 3, 1)
        assert {each["by"] for each in own} == {"judge"}
    assert {each["by"] for each in rows if each["metric"] == "brief"} == {"code"}
    assert all(each["question"] and each["response"] for each in rows)


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.name)
def test_tables_of_evaluate_have_scores_and_justifications(file: Path, snapshot: SnapshotAssertion) -> None:
    """mlflow.evaluate's table, as it is kept and as pandas writes it, has the same scores; one could not be read."""
    held = load_file(file)
    assert MLflowFormat.claims(held)
    rows = [each for each in judgements(MLflowFormat.rows(held)) if each["metric"] == "answer_correctness"]
    raw = json.loads((LOGS / "2.14.3-eval_results_table.json").read_text())
    column = raw["columns"].index("answer_correctness/v1/score")
    assert [each.get("score") for each in rows] == [values[column] for values in raw["data"]]
    (failed,) = (each for each in rows if "score" not in each)
    assert lines_about(failed["error"], "and justification") == snapshot
    assert "reason" not in failed
    assert [each["response"] for each in rows] == [
        values[raw["columns"].index("predictions")] for values in raw["data"]
    ]


# --- from a file to a report -----------------------------------------------------------------------------------


@pytest.mark.parametrize("file", TRACES, ids=lambda file: file.name)
def test_from_a_file_to_a_report(
    project: Project, take: Callable[..., str], file: Path, snapshot: SnapshotAssertion
) -> None:
    """One command, its printed configuration and the test: agreement is about the five responses that people labelled."""
    told = take(file.read_text(), "--metric", "answers", "--allow", "0.2", name=f"traces{file.suffix}")
    assert "mine on own: 5 answers about 5 examples" in told
    assert lines_about(told, "judge ended", "people override") == snapshot
    added = told.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in told.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    wrong = 2  # tea-good was failed, and bread-bad passed
    assert (row["n"], row["tp"] + row["tn"], row["fp"] + row["fn"]) == (4, 4 - wrong, wrong)


def test_which_metric_is_asked_for(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Of several metrics all are listed with whose they are; rows are chosen by what an assessment says, too."""
    text = (LOGS / "3.17.2-traces.json").read_text()
    told = take(text, code=2, name="traces.json")
    assert "answers (a judge's): 6 rows: True 3, False 2, nothing 1" in told
    assert lines_about(told, "rows: True") == snapshot
    told = take(text, "--metric", "answers", "--where", "assessment.source.source_id=anna", code=2, name="traces.json")
    assert "none of 30 rows matches --where assessment.source.source_id=anna: " in told  # a person is no judge


# --- what is told of assessments -------------------------------------------------------------------------------


def trace(*assessments: Mapping[str, Any], name: str = "tr-1", **more: Any) -> dict[str, Any]:
    """Return a trace as MLflow 3 writes one."""
    span = {"span_id": "AAAAAAAAAP8=", "parent_span_id": None, "attributes": SAID}
    return {"info": {"trace_id": name, "assessments": [*assessments], **more}, "data": {"spans": [span]}}


SAID = {"mlflow.spanInputs": '{"question": "Why?"}', "mlflow.spanOutputs": '"So."', "mlflow.llm.model": '"small"'}


def assessment(value: Any, source: str = "LLM_JUDGE", **more: Any) -> dict[str, Any]:
    """Return an assessment as MLflow's messages have it."""
    return {"assessment_name": "answers", "source": {"source_type": source}, "feedback": {"value": value}, **more}


def rows_of(*traces: Any) -> list[dict[str, Any]]:
    """Return what traces say."""
    return judgements(MLflowFormat.rows(LoadedFile(Path("traces.json"), value=[*traces])))


def test_an_overridden_judgement_is_still_the_judges(snapshot: SnapshotAssertion) -> None:
    """What a person overrides is the judge's answer, and the person's its label; what else overrides replaces it."""
    first = assessment(True, assessment_id="a", valid=False)
    by_person = assessment(False, "HUMAN", assessment_id="b", overrides="a")
    assert [(each["by"], each["passed"]) for each in rows_of(trace(first, by_person))] == [
        ("judge", True),
        ("person", False),
    ]
    again = assessment(False, assessment_id="b", overrides="a")
    assert [each["passed"] for each in rows_of(trace(first, again))] == [False]
    assert [each["passed"] for each in rows_of(trace(first), trace(again))] == [False]  # by what is not in the file
    held = LoadedFile(Path("traces.json"), value=[trace(first, again)])
    assert MLflowFormat.remarks(held) == snapshot
    assert MLflowFormat.remarks(LoadedFile(Path("traces.json"), value=[trace(again)])) == ()


def test_runs_of_one_scorer_are_repeats() -> None:
    """What the same definition said in several runs is counted as repeats; what changed in between is none."""

    def of(run: str, digest: str, time: str) -> dict[str, Any]:
        noted = {"mlflow.assessment.sourceRunId": run, "mlflow.assessment.scorerDigest": digest}
        return assessment(True, metadata=noted, create_time=time)

    same = rows_of(trace(of("r2", "d", "2026-02"), of("r1", "d", "2026-01")))
    assert [each["repeat"] for each in same] == [1, 0]
    assert not any("repeat" in each for each in rows_of(trace(of("r1", "d", "1"), of("r1", "d", "2"))))
    assert not any("repeat" in each for each in rows_of(trace(of("r1", "d", "1"), of("r2", "e", "2"))))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (assessment("yes"), {"passed": "yes"}),
        (assessment(0.5), {"score": 0.5}),
        (assessment(None), {"error": "it has no value"}),
        (assessment(float("nan")), {"error": "its value is nan"}),
        (assessment(["a"]), {"error": "its value is a list"}),
        (assessment(None, error={"error_code": "RATE", "error_message": "Too many."}), {"error": "RATE: Too many."}),
        (assessment(True, rationale="It does."), {"passed": True, "reason": "It does."}),
        ({"name": "answers", "source": {"source_type": "AI_JUDGE"}, "feedback": {"value": True}}, {"passed": True}),
    ],
)
def test_values_are_told_by_their_type(given: dict[str, Any], told: dict[str, Any]) -> None:
    """A truth value and a word are grades, a number is a score, and anything else is why nobody judged."""
    (row,) = rows_of(trace(given))
    about = {"id": "tr-1", "question": "Why?", "response": "So.", "model": "small"}
    assert row == {"metric": "answers", "by": "judge", **about, **told}


def test_expectations_are_labels_where_they_are_grades() -> None:
    """A person's expectation is a label where it says pass or fail, and nothing where it is a reference answer."""

    def expected(value: Any) -> dict[str, Any]:
        return {"assessment_name": "ok", "source": {"source_type": "HUMAN"}, "expectation": {"value": value}}

    assert [(each["by"], each["passed"]) for each in rows_of(trace(expected("pass")))] == [("person", "pass")]
    (row,) = rows_of(trace(expected("Paris"), expected(3), assessment(True)))
    assert row["metric"] == "answers"


def test_an_assessment_of_a_span_is_of_another_thing() -> None:
    """What is said of a span below the root is about that span: its id, its input and its output."""
    said = {"mlflow.spanInputs": '"Where?"', "mlflow.spanOutputs": '"There."'}
    below = {"span_id": "0x0a00000000000000", "parent_span_id": "AAAAAAAAAP8=", "attributes": said}
    told = trace(assessment(True, span_id="0a00000000000000"))
    told["data"]["spans"].append(below)
    (row,) = rows_of(told)
    assert (row["id"], row["question"], row["response"]) == ("tr-1/0a00000000000000", "Where?", "There.")


def test_a_response_that_is_json_stays_a_text() -> None:
    """What a model said in JSON is its response, and not an object of which a part is the response."""
    row = {"trace_id": "t", "request": "Why?", "response": '{"answer": "So."}', "assessments": [assessment(True)]}
    assert rows_of(row)[0]["response"] == '{"answer": "So."}'


def test_assessments_that_cannot_be_read_are_an_error_that_names_the_row(
    take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A list that is neither JSON nor Python is told with its row and how to write the table."""
    text = 'trace_id,trace_metadata,assessments\nt,{},"[<Feedback object>]"\n'
    told = take(text, code=2, name="traces.csv")
    assert lines_about(told, "assessments are") == snapshot
    assert "to_json" in told


def test_traces_that_nobody_judged_are_an_error(take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """Traces without an assessment say so, and how they get some."""
    told = take([trace(), trace()], code=2, name="traces.json")
    assert lines_about(told, "traces.json holds") == snapshot


def test_traces_that_nobody_judged_are_counted() -> None:
    """Beside traces that were judged those without an assessment are told, and are no rows."""
    held = LoadedFile(Path("traces.json"), value=[trace(assessment(True)), trace(), trace()])
    assert len(MLflowFormat.rows(held)) == 1
    assert MLflowFormat.remarks(held) == ("without an assessment: 2 of 3 traces in traces.json",)


def test_other_files_are_not_claimed() -> None:
    """Files of others, or of nothing, are left to whoever knows them."""
    mine = [{"request_id": "r", "trace": "log 5", "assessments": ["good"], "inputs": "Why?", "passed": True}]
    for value in (
        {},
        [],
        [1],
        "a",
        {"results": []},
        {"columns": ["a"], "data": [["b"]]},
        [{"id": 1, "value": 2}],
        mine,
    ):
        assert not MLflowFormat.claims(LoadedFile(Path("x.json"), value=value))


WHOLE: Rows = json.loads((LOGS / "3.17.2-traces.json").read_text())[:2]
TABLE: dict[str, Any] = json.loads((LOGS / "2.14.3-eval_results_table.json").read_text())
SEARCHED = [json.loads((LOGS / "3.4.0-search_traces.jsonl").read_text().splitlines()[0])]
with (LOGS / "3.4.0-result_df.csv").open(newline="") as opened:
    RESULT = [*csv.DictReader(opened)][:2]


@given(st.data())
def test_hostile_files_are_rows_or_an_error(data: st.DataObject) -> None:
    """Whatever stands where anything of a file should: it is rows, or an error that names the file."""
    whole = data.draw(st.sampled_from([WHOLE, TABLE, SEARCHED, RESULT]))
    read_or_refused("traces.json", data.draw(spoiled(whole)))
