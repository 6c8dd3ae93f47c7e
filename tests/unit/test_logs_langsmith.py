"""Exports of LangSmith: feedback, experiments, runs and comparisons, of two versions of its SDK, as many as they hold."""

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
from support.importing import bare, importer_of
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers import summary
from judgefixtures.importers.formats.langsmith import LangsmithFormat
from judgefixtures.importers.formats.loaded_file import load_file
from judgefixtures.importers.log_files import read_log
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

DATA = LOGS / "langsmith"
VERSIONS = ("0.2.11", "0.15.1")
NEW = "0.15.1"

Take = Callable[..., Any]


@pytest.fixture
def take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Take:
    """Import a file, with as many failed judgements as there are; return what was done."""
    return importer_of(DATA, tmp_path, monkeypatch, allow=0.2)


def document(name: str) -> Any:
    """Return what a file holds, a list of its rows."""
    text = (DATA / name).read_text(encoding="utf-8")
    if name.endswith("csv"):
        return list(csv.DictReader(text.splitlines()))
    return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)


def results(name: str, key: str) -> dict[str, Any]:
    """Return what an experiment's rows say under a key, by run."""
    return {
        row["run"]["id"]: each
        for row in document(name)
        for each in row["evaluation_results"]["results"]
        if each["key"] == key
    }


def said(done: Any) -> dict[str, Any]:
    """Return what was said of each run: a grade, or a score."""
    every = {key.pair: answer.said for key, answer in done.imported.answers.items()}
    return {name: each[0] if isinstance(each, list | tuple) else each for name, each in every.items()}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("key", ["correct", "quality"])
def test_the_rows_of_an_experiment(take: Take, version: str, key: str, snapshot: SnapshotAssertion) -> None:
    """Each evaluation result is a judgement of its run's output with its comment as the reason."""
    expected = {
        run: each for run, each in results(f"{version}-experiment.json", key).items() if each["score"] is not None
    }
    done = take(f"{version}-experiment.json", metric=key, columns={"label": "example.outputs.label"})
    assert len(expected) == 11
    assert said(done) == {run: each["score"] for run, each in expected.items()}
    assert {each.pair: answer.reason for each, answer in done.imported.answers.items()} == {
        run: each["comment"] for run, each in expected.items()
    }
    rows = {row["run"]["id"]: row for row in document(f"{version}-experiment.json")}
    assert {(pair.id, pair.question, pair.response_1, pair.label) for pair in done.pairs} == {
        (
            run,
            rows[run]["example"]["inputs"]["question"],
            rows[run]["run"]["outputs"]["answer"],
            rows[run]["example"]["outputs"]["label"],
        )
        for run in expected
    }
    assert [why for why, _ in done.unused] == snapshot


@pytest.mark.parametrize("version", VERSIONS)
def test_an_evaluator_that_failed_is_counted_under_its_metric(version: str) -> None:
    """A wrapper's error has the wrapper's name: it is one of each metric that the run lacks, and of no other."""
    failed = [row.fields["judged"] for row in read_log(DATA / f"{version}-experiment.json").rows]
    failed = [each for each in failed if "error" in each]
    kinds = {
        each["key"] for row in document(f"{version}-experiment.json") for each in row["evaluation_results"]["results"]
    }
    metrics = {
        key
        for key in kinds
        if any(each["score"] is not None for each in results(f"{version}-experiment.json", key).values())
    }
    assert sorted(each["metric"] for each in failed) == sorted(metrics)
    assert all(each["error"].startswith("KeyError(") for each in failed)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("key", ["correct", "quality"])
def test_a_table_of_results(take: Take, version: str, key: str) -> None:
    """to_pandas().to_csv() has the same judgements without reasons, and its references can be labels."""
    expected = {row["id"]: row[f"feedback.{key}"] for row in document(f"{version}-experiment.csv")}
    done = take(f"{version}-experiment.csv", metric=key, columns={"label": "reference.label"})
    assert {run: str(value) for run, value in said(done).items()} == {
        run: each for run, each in expected.items() if each
    }
    assert said(done) == said(take(f"{version}-experiment.json", metric=key))
    assert Counter(pair.label for pair in done.pairs) == {"pass": 6, "fail": 5}


@pytest.mark.parametrize("version", VERSIONS)
def test_feedback_alone(take: Take, version: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Feedback names its runs: their texts come from --pairs; a person's through the API is one where it is named."""
    feedback = document(f"{version}-feedback.json")
    experiment = document(f"{version}-experiment.json")
    pairs = tmp_path / "runs.jsonl"
    lines = [
        {
            "id": row["run"]["id"],
            "question": row["example"]["inputs"]["question"],
            "response": row["run"]["outputs"]["answer"],
        }
        for row in experiment
    ]
    pairs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = take(f"{version}-feedback.json", metric="correct", label_metric="thumbs", pairs=pairs)
    by_key = {
        key: {each["run_id"]: each["score"] for each in feedback if each["key"] == key} for key in ("correct", "thumbs")
    }
    assert said(done) == by_key["correct"]
    assert {pair.id: pair.label == "pass" for pair in done.pairs} == {
        run: by_key["thumbs"][run] == 1 for run in said(done)
    }
    with pytest.raises(JudgeFixturesError) as error:
        take(f"{version}-feedback.json", pairs=pairs)
    assert str(error.value) == snapshot


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_what_people_say_in_the_app_is_the_label(take: Take, suffix: str, tmp_path: Path) -> None:
    """feedback_source of the type app is a person, also where a table has it as Python writes it."""
    feedback = document(f"{NEW}-people-by-schema.jsonl")
    people = {each["run_id"]: each["score"] for each in feedback if each["feedback_source"]["type"] == "app"}
    judge = {each["run_id"]: each["score"] for each in feedback if each["feedback_source"]["type"] == "auto_eval"}
    pairs = tmp_path / "runs.jsonl"
    pairs.write_text("".join(json.dumps({"id": run, "question": "?", "response": run}) + "\n" for run in people))
    done = take(f"{NEW}-people-by-schema.{suffix}", pairs=pairs)
    assert len(judge) == 11
    assert said(done) == judge
    assert {pair.id: pair.label == "pass" for pair in done.pairs} == {run: people[run] == 1 for run in judge}


def test_a_mean_is_no_judgement(take: Take) -> None:
    """feedback_stats of one feedback are what it said, of three they are a row that cannot be used."""
    runs = [run for run in document(f"{NEW}-runs-by-schema.json") if run["feedback_stats"]]
    single = {
        run["id"]: run["feedback_stats"]["correct"]["avg"] for run in runs if run["feedback_stats"]["correct"]["n"] == 1
    }
    done = take(f"{NEW}-runs-by-schema.json")
    assert said(done) == {run: score == 1 for run, score in single.items()}
    assert len(done.unused) == len(runs) - len(single) == 1
    assert any("without feedback: 1 of 12 rows in " in line for line in summary(done))


def test_repetitions(take: Take) -> None:
    """A repetition with the same output is that answer judged again, one with another is of the same cluster."""
    rows = document(f"{NEW}-repetitions.json")
    answers = {(row["example"]["id"], row["run"]["outputs"]["answer"]) for row in rows}
    done = take(f"{NEW}-repetitions.json")
    assert len(done.imported.answers) == len(rows) == 8
    assert len(done.pairs) == len(answers) == 5
    assert [*Counter(pair.cluster for pair in done.pairs if pair.cluster is not None).values()] == [2]


def test_a_comparison_is_a_choice(take: Take) -> None:
    """Of two runs of an example the one with the higher score is chosen; equal scores are a tie."""
    rows = document(f"{NEW}-comparison-by-schema.json")
    done = take(f"{NEW}-comparison-by-schema.json")
    expected = {}
    for row in rows:
        held = row["evaluation_results"]
        first, second = (held["feedback.better"]["scores"][run["id"]] for run in held["runs"])
        texts = tuple(run["outputs"]["answer"] for run in held["runs"])
        expected[texts] = "tie" if first == second else 1 if first > second else 2
    chosen = {key.pair: answer.said for key, answer in done.imported.answers.items()}
    assert {(pair.response_1, pair.response_2): chosen[pair.id] for pair in done.pairs} == expected
    assert Counter(expected.values())["tie"] == 1
    posted = [row.fields["judged"] for row in read_log(DATA / f"{NEW}-comparison-feedback-by-schema.jsonl").rows]
    assert [each["selected_response"] for each in posted] == list(expected.values())
    assert len({each["id"] for each in posted}) == len(rows)


# --- what is not as it should be -----------------------------------------------------------------------------------


def feedback(number: int, **more: Any) -> dict[str, Any]:
    """Return a model's feedback."""
    source = {"type": "model", "metadata": {}}
    return {"run_id": f"r{number}", "key": "tone", "score": number % 2, "value": None, "feedback_source": source} | more


def test_feedback_that_says_nothing_is_told(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A failed evaluator, a comment alone and a note on a whole session are rows, each with its why."""
    rows = [
        feedback(1, score=None, comment="boom", extra={"error": True}),
        feedback(2, score=None, comment="Nice."),
        feedback(3, run_id=None),
        feedback(4, score=None, value={"level": "high"}),
        feedback(5, score=None, value="polite"),
    ]
    told = [row.fields["judged"] for row in read_log(write(rows, tmp_path, lines=True)).rows]
    assert [each.get("error") for each in told] == snapshot
    assert [each.get("passed") for each in told] == [None, None, None, '{"level": "high"}', "polite"]


def test_the_same_run_judged_twice_is_a_repeat(tmp_path: Path) -> None:
    """Two feedbacks of one judge on one run are counted; a person's is none of them."""
    rows = [feedback(n) for n in (0, 1, 0, 1, 0)] + [feedback(0, feedback_source={"type": "app"})]
    told = [row.fields["judged"] for row in read_log(write(rows, tmp_path, lines=True)).rows]
    assert [(each["id"], each["repeat"], each["by"]) for each in told] == [
        ("r0", 0, "judge"),
        ("r1", 0, "judge"),
        ("r0", 1, "judge"),
        ("r1", 1, "judge"),
        ("r0", 2, "judge"),
        ("r0", 0, "person"),
    ]


def test_an_object_as_python_writes_it_is_no_response(tmp_path: Path) -> None:
    """A table's cell {'role': ...} is not what was shown to anybody: the row has no response then."""
    file = tmp_path / "results.csv"
    cells = ["\"{'role': 'assistant', 'content': 'So.'}\"", "So."]
    head = "inputs.question,outputs.answer,error,feedback.tone,execution_time,example_id,id\n"
    file.write_text(head + "".join(f"Why?,{cell},,True,0.1,e{n},r{n}\n" for n, cell in enumerate(cells)))
    assert [row.fields["judged"].get("response") for row in read_log(file).rows] == [None, "So."]


def test_a_run_that_failed_was_not_judged(tmp_path: Path) -> None:
    """In a table the error of a run is why none of its judgements is there."""
    file = tmp_path / "results.csv"
    head = "inputs.question,outputs.answer,error,feedback.tone,execution_time,example_id,id\n"
    file.write_text(head + "Why?,So.,,True,0.1,e0,r0\nWhy?,,Timeout(),,0.1,e1,r1\n")
    assert [row.fields["judged"].get("error") for row in read_log(file).rows] == [None, "Timeout()"]


def test_a_row_of_nothing_of_theirs_is_named(take: Take, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A row that is no feedback, result or run is an error with its place; a file without feedback, too."""
    with pytest.raises(JudgeFixturesError) as error:
        take(write([feedback(1), {"id": "x"}], tmp_path, lines=True))
    assert str(error.value) == snapshot
    with pytest.raises(JudgeFixturesError) as error:
        take(write([{"run_type": "chain", "feedback_stats": None}], tmp_path, lines=True))
    assert str(error.value) == snapshot
    with pytest.raises(JudgeFixturesError) as error:
        take(write([{"run_type": "chain", "feedback_stats": "none"}], tmp_path, lines=True))
    assert str(error.value) == snapshot


def test_nobody_elses_file_is_claimed(tmp_path: Path) -> None:
    """Only files with a form of LangSmith's are."""
    assert not LangsmithFormat.claims(load_file(write([{"run_id": "1", "key": "k", "score": 1}], tmp_path, lines=True)))
    assert not LangsmithFormat.claims(load_file(write([{"id": "1", "feedback.tone": 1}], tmp_path, lines=True)))


FORMS = ("experiment.json", "feedback.json", "runs-by-schema.json", "comparison-by-schema.json")


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_stands_in_it_there_is_a_sentence(data: st.DataObject, tmp_path: Path, take: Take, form: str) -> None:
    """A file in which anything may be anything is read, or is an error of ours."""
    file = write(data.draw(spoiled(document(f"{NEW}-{form}")[:4])), tmp_path, lines=False)
    with contextlib.suppress(JudgeFixturesError):
        rows = read_log(file, "langsmith").rows
        assert all(isinstance(row.fields["judged"]["metric"], str) for row in rows)
        take(file, metric="better" if "comparison" in form else "correct", format="langsmith")


# --- to a report -----------------------------------------------------------------------------------------------------


def test_to_a_report_in_one_command(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """What the import prints is all that it takes: the agreement of the run has the log's own counts."""
    project = bare(pytester)
    options = ("--metric", "correct", "--columns", "label=reference.label", "--allow", "0.1", "--dataset", "own")
    assert main(["import", str(DATA / f"{NEW}-experiment.csv"), "--judge", "mine", *options]) == 0
    printed = capsys.readouterr().out
    added = printed.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in printed.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    rows = document(f"{NEW}-experiment.csv")
    counted = Counter((each["reference.label"], each["feedback.correct"]) for each in rows if each["feedback.correct"])
    assert row["n"] == counted.total() == 11
    pairs = (("pass", "True"), ("pass", "False"), ("fail", "True"), ("fail", "False"))
    assert [row[name] for name in ("tp", "fn", "fp", "tn")] == [counted[each] for each in pairs]
