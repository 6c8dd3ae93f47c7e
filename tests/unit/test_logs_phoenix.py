"""Exports of Arize Phoenix, as it wrote them: frames of three versions of evals, and annotations of two servers."""

from __future__ import annotations

import contextlib
import csv
import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
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
from judgefixtures.importers.formats import EXPORTS, detect_format
from judgefixtures.importers.formats.loaded_file import LoadedFile, load_file
from judgefixtures.importers.formats.phoenix import PhoenixFormat
from judgefixtures.importers.log_files import read_log
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

HERE = LOGS / "phoenix"
EXAMPLES = {row["id"]: row for row in read_rows(LOGS / "examples.jsonl")}
GOOD = {"correct": True, "incorrect": False}


def cells(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file as Python's own reader has them."""
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def counted(labels: Iterator[Any] | list[Any]) -> dict[str, int]:
    """Return how many labels pass, fail, and are neither."""
    said = Counter(GOOD.get(label) for label in labels)
    return {"passed": said[True], "failed": said[False], "neither": said[None]}


@pytest.fixture
def take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Import a file of the data as `mine`; return what was done."""
    return importer_of(HERE, tmp_path, monkeypatch)


def said(done: Any) -> dict[str, int]:
    """Return how many answers of an import passed, failed, and are neither."""
    found = Counter(answer.said for answer in done.imported.answers.values())
    return {"passed": found[True], "failed": found[False], "neither": found[None]}


# --- frames of evals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_llm_classify_returned_is_read_beside_its_table(take: Callable[..., Any], suffix: str) -> None:
    """Its label is the judge's, NOT_PARSABLE is an invalid grade, and people's labels stand in a column that is named."""
    done = take(f"0.29-classify.{suffix}", columns={"label": "human"})
    raw = cells("0.29-classify.csv")
    assert said(done) == counted([row["label"] for row in raw]) == {"passed": 6, "failed": 5, "neither": 1}
    assert {pair.id: pair.response for pair in done.pairs} == {row["id"]: row["output"] for row in raw}
    assert {pair.id: pair.label for pair in done.pairs} == {name: row["label"] for name, row in EXAMPLES.items()}
    assert all("LABEL:" in answer.reason for answer in done.imported.answers.values())


def test_what_llm_classify_returned_alone_needs_the_examples(take: Callable[..., Any]) -> None:
    """Without texts the ids of the frame's index are those of the examples that are named."""
    done = take("0.29-classify-alone.jsonl", pairs=LOGS / "examples.jsonl")
    assert said(done) == counted([row["label"] for row in read_rows(HERE / "0.29-classify-alone.jsonl")])
    assert {pair.label for pair in done.pairs} == {"pass", "fail"}


def test_a_frame_of_run_evals_has_no_mark(take: Callable[..., Any]) -> None:
    """A label, a score and an explanation are anybody's columns: such a frame is read where --format says whose."""
    assert not PhoenixFormat.claims(load_file(HERE / "0.29-evals.json"))
    done = take("0.29-evals.json", format="phoenix", columns={"label": "human"})
    raw = json.loads((HERE / "0.29-evals.json").read_text())
    assert said(done) == counted([row["label"] for row in raw])


def scores(raw: list[dict[str, Any]], column: str, read: Callable[[Any], Any]) -> list[Any]:
    """Return the labels that a column of scores holds, in whatever form it has them."""
    return [read(row[column])["label"] for row in raw if row[column]]


@pytest.mark.parametrize("name", ["3.9-dataframe.csv", "3.9-dataframe.jsonl", "3.9-dataframe.parquet"])
def test_what_evaluate_dataframe_returns_is_read(take: Callable[..., Any], name: str) -> None:
    """Each score is a judgement under its name; an evaluator that failed is counted, and no grade."""
    with pytest.raises(
        JudgeFixturesError, match=r"correctness \(a judge's\): 12 rows: correct 6, incorrect 5, nothing"
    ):
        take(name)
    done = take(name, metric="correctness", columns={"label": "human"}, allow=0.1)
    raw = read_rows(HERE / "3.9-dataframe.jsonl")
    assert said(done) == counted(scores(raw, "correctness_score", lambda score: score))
    (line,) = (line for line in summary(done) if "ended with an error" in line)
    assert "not used: 1 row" in line
    failed = [row["id"] for row in raw if row["correctness_execution_details"]["status"] == "FAILED"]
    assert {*EXAMPLES} - {pair.id for pair in done.pairs} == {*failed} == {"leap-bad"}


def test_a_frame_that_pandas_wrote_as_columns_is_read(take: Callable[..., Any]) -> None:
    """The JSON that pandas writes unless it is told otherwise is a map of columns; who has no score there is told."""
    done = take("3.9-dataframe.json", metric="correctness")
    held = json.loads((HERE / "3.9-dataframe.json").read_text())["correctness_score"].values()
    assert said(done) == counted([score["label"] for score in held if score])
    assert any("without a judgment: 1 row of 'correctness'" in line for line in summary(done))


@pytest.mark.parametrize(
    ("name", "good", "read"),
    [("2.0-dataframe.csv", "factual", json.loads), ("2.0-dataframe.jsonl", "factual", json.loads)],
)
def test_words_that_are_not_the_usual_ones_are_asked_for(
    take: Callable[..., Any],
    tmp_path: Path,
    name: str,
    good: str,
    read: Callable[[Any], Any],
    snapshot: SnapshotAssertion,
) -> None:
    """Nobody guesses whether factual is good: the import ends with what to write, and reads the words once they stand."""
    with pytest.raises(JudgeFixturesError) as error:
        take(name, allow=0.1)
    assert str(error.value) == snapshot
    assert not (tmp_path / "cassettes").exists()
    words = f'mode = "binary"\nlabels = ["{good}", "hallucinated"]\n'
    config = tmp_path / "pyproject.toml"
    config.write_text(in_pyproject(f'[judges.mine]\nprovider = "imported"\n{words}'))
    done = take(name, allow=0.1, config=config)
    raw = cells(name) if name.endswith("csv") else read_rows(HERE / name)
    labels = Counter(scores(raw, "hallucination_score", read))
    assert said(done) == {"passed": labels[good], "failed": labels["hallucinated"], "neither": 0}


def test_a_low_score_that_is_good_is_told_of(
    take: Callable[..., Any], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Where a frame says that low scores are good, the summary says so, and names the judge."""
    config = tmp_path / "pyproject.toml"
    judge = '[judges.mine]\nprovider = "imported"\nmode = "binary"\nlabels = ["grounded", "hallucinated"]\n'
    config.write_text(in_pyproject(judge))
    done = take("3.9-dataframe.csv", metric="hallucination", allow=0.1, config=config)
    assert said(done) == {"passed": 6, "failed": 5, "neither": 0}
    (line,) = (line for line in summary(done) if "take care: low scores" in line)
    assert lines_about(line, "'hallucination'") == snapshot
    assert "correctness" not in line


# --- annotations and experiments of a server -------------------------------------------------------------------

ANNOTATIONS = ["20.26-annotations.csv", "20.26-annotations.jsonl", "20.26-rest-pages.jsonl"]


@pytest.fixture
def spans(tmp_path: Path) -> Path:
    """Return a file of the examples under the ids of their spans, without anybody's labels."""
    told = {row["attributes.output.value"]: row["context.span_id"] for row in cells("20.26-spans.csv")}
    kept = ("question", "response")
    rows = [{"id": told[row["response"]], **{name: row[name] for name in kept}} for row in EXAMPLES.values()]
    file = tmp_path / "spans.jsonl"
    file.write_text(json_lines(rows))
    return file


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_annotations_are_read_with_peoples_as_labels(
    take: Callable[..., Any], spans: Path, name: str, snapshot: SnapshotAssertion
) -> None:
    """Of one name a model's annotations are the judge's, a person's the labels, and a check in code is neither."""
    done = take(name, pairs=spans)
    raw = [each for page in read_rows(HERE / "20.26-rest-pages.jsonl") for each in page["data"]]
    by_judge = [each["result"]["label"] for each in raw if each["annotator_kind"] == "LLM"]
    people = {each["span_id"]: each["result"]["label"] for each in raw if each["annotator_kind"] == "HUMAN"}
    assert said(done) == counted(by_judge) == {"passed": 6, "failed": 5, "neither": 0}
    labels = {pair.id: pair.label == "pass" for pair in done.pairs}
    assert labels == {name: GOOD[people[name]] for name in labels}
    assert len(labels) == 11
    assert lines_about(summary(done), "other metrics") == snapshot


def test_what_evals_make_for_annotations_is_read(take: Callable[..., Any], tmp_path: Path) -> None:
    """The frame that is logged as annotations says what the frame of scores says."""
    rows = [{**row, "id": f"{number:016x}"} for number, row in enumerate(EXAMPLES.values())]
    file = tmp_path / "spans.jsonl"
    file.write_text(json_lines(rows))
    done = take("3.9-annotations.csv", metric="correctness", pairs=file)
    raw = [row["label"] for row in cells("3.9-annotations.csv") if row["annotation_name"] == "correctness"]
    assert said(done) == counted([label for label in raw if label])


@pytest.mark.parametrize(("name", "metric"), [("8.32-spans.csv", "QA Correctness"), ("20.26-spans.csv", "correctness")])
def test_spans_with_evaluations_beside_them_need_nothing_else(take: Callable[..., Any], name: str, metric: str) -> None:
    """A span has the question, the response and the model that wrote it; one without an evaluation is told of."""
    done = take(name)
    raw = cells(name)
    labels = [row[f"eval.{metric}.label"] for row in raw]
    assert said(done) == counted([label for label in labels if label])
    texts = {row["context.span_id"]: row["attributes.output.value"] for row in raw if row[f"eval.{metric}.label"]}
    assert {pair.id: pair.response for pair in done.pairs} == texts
    rows = {
        row.fields["judged"]["id"]: row.fields["judged"]["model"] for row in PhoenixFormat.rows(load_file(HERE / name))
    }
    assert rows.items() <= {row["context.span_id"]: row["attributes.llm.model_name"] for row in raw}.items()
    missing = labels.count("")
    assert any(f"without a judgment: {missing} row" in line for line in summary(done)) == bool(missing)


@pytest.mark.parametrize("name", ["8.32-evaluations.csv", "8.32-evaluations.jsonl"])
def test_evaluations_of_spans_alone_are_read(name: str) -> None:
    """What get_evaluations returned says what is said of which span, with its name before the columns or without."""
    rows = PhoenixFormat.rows(load_file(HERE / name))
    raw = cells("8.32-evaluations.csv")
    told = {row.fields["judged"]["id"]: row.fields["judged"]["passed"] for row in rows}
    assert told == {row["context.span_id"]: row["label"] for row in raw}


@pytest.mark.parametrize("name", ["20.26-experiment.json", "20.26-experiment.csv"])
def test_an_experiment_is_read_with_its_repetitions(take: Callable[..., Any], name: str) -> None:
    """The same answer of two repetitions is one example, judged twice; an evaluator that failed is counted."""
    done = take(name, allow=0.3)
    runs = json.loads((HERE / "20.26-experiment.json").read_text())
    raw = [each for run in runs for each in run["annotations"] if each["name"] == "correctness"]
    assert said(done) == counted([each["label"] for each in raw if not each["error"]])
    assert {key.repeat for key in done.imported.answers} == {0, 1}
    assert len(done.pairs) == len({run["output"] for run in runs}) - 1
    assert {pair.question for pair in done.pairs} <= {run["input"]["question"] for run in runs}
    (line,) = (line for line in summary(done) if "ended with an error" in line)
    assert f"not used: {sum(bool(each['error']) for each in raw)} rows" in line


def test_other_answers_of_a_repetition_are_other_examples() -> None:
    """Where a repetition gave another answer, it has another id, and stands in the cluster of the first."""
    runs = [
        {"example_id": "e", "repetition_number": n, "input": {"q": "Why?"}, "output": said, "annotations": [NOTE]}
        for n, said in enumerate(["So.", "So.", "No."], 1)
    ]
    rows = [row.fields["judged"] for row in PhoenixFormat.rows(LoadedFile(Path("runs.json"), value=runs))]
    assert [(row["id"], row["repeat"], row["cluster"]) for row in rows] == [
        ("e", 0, "e"),
        ("e", 1, "e"),
        ("e~3", 0, "e"),
    ]


def test_an_explanation_alone_is_no_judgement(snapshot: SnapshotAssertion) -> None:
    """An annotation that only explains cannot be used, and is counted: the others can."""
    rows = [{**NOTE, "span_id": "s1"}, {**NOTE, "span_id": "s2", "label": None, "score": None, "explanation": "Hm."}]
    first, last = (row.fields["judged"] for row in PhoenixFormat.rows(LoadedFile(Path("notes.json"), value=rows)))
    assert (first["passed"], first.get("error")) == ("correct", None)
    assert last["error"] == snapshot


NOTE = {"name": "tone", "annotator_kind": "LLM", "label": "correct", "score": 1.0, "explanation": None}


# --- to a report -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "false_positives"),
    [
        ("0.29-classify.csv", "--columns label=human", 2),  # a grade that cannot be read is wrong
        ("3.9-dataframe.jsonl", "--metric correctness --columns label=human --allow 0.1", 1),
        ("20.26-rest-pages.jsonl", "--pairs spans.jsonl", 1),
    ],
)
def test_from_a_file_to_a_report(
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
    spans: Path,
    name: str,
    options: str,
    false_positives: int,
) -> None:
    """What the import prints is all that a gate takes, and its agreement is about every grade."""
    project = Project(pytester, in_pyproject, fresh=True)
    project.copy_tests("agreement")
    project.write("spans.jsonl", spans.read_text())
    chosen = shlex.split(options)
    text = (HERE / name).read_text(encoding="utf-8")
    said = importer(project, capsys)(text, "--dataset", "own", *chosen, name=name)
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    assert row["n"] == 10 + false_positives == len(answers(project))
    assert (row["tp"], row["fn"], row["fp"], row["tn"]) == (5, 1, false_positives, 4)


# --- whose file it is, and hostile ones ------------------------------------------------------------------------


def test_files_of_others_are_not_claimed() -> None:
    """A log with labels, scores and explanations of one's own is none of Phoenix's."""
    plain = [
        {"id": "1", "label": "pass", "score": 0.5, "explanation": "So.", "quality_score": 3, "annotation_x_score": 1}
    ]
    assert detect_format(LoadedFile(Path("plain.json"), value=plain)) is EXPORTS["jsonl"]


@pytest.mark.parametrize(
    "value",
    [
        [{"annotator_kind": "LLM", "name": " ", "result": {"label": "x"}}],
        [{**NOTE, "span_id": [1]}],
        {"data": [NOTE, 3]},
        {"data": [{**NOTE, "label": None, "score": None}]},
        [NOTE, {"text": "So."}],
        [{"a_execution_details": {"status": "FAILED"}, "b_score": "{'x': nan}"}],
        [{"example_id": "1", "repetition_number": 1, "annotations": [NOTE, "x"]}],
    ],
)
def test_what_is_wrong_is_told_with_its_row(value: Any, snapshot: SnapshotAssertion) -> None:
    """A row that cannot be read ends the import with its place, and with what to do."""
    assert PhoenixFormat.claims(LoadedFile(Path("log.json"), value=value))
    with pytest.raises(JudgeFixturesError) as error:
        PhoenixFormat.rows(LoadedFile(Path("log.json"), value=value))
    assert str(error.value) == snapshot


def test_numbers_that_are_none_are_no_judgement(snapshot: SnapshotAssertion) -> None:
    """NaN, which frames have where nothing is, is neither a label nor a score."""
    rows = [{**NOTE, "label": float("nan"), "score": 0.5}, {**NOTE, "label": float("nan"), "score": float("nan")}]
    held = LoadedFile(Path("log.json"), value=rows)
    assert [row.fields["judged"].get("score") for row in PhoenixFormat.rows(held)] == [0.5]
    assert PhoenixFormat.remarks(held) == snapshot


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("0.29-classify-alone.jsonl", None),
        ("3.9-dataframe.jsonl", "correctness"),
        ("3.9-dataframe.json", "correctness"),
        ("20.26-annotations.jsonl", None),
        ("20.26-rest.json", None),
        ("20.26-experiment.json", None),
    ],
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_stands_in_it_there_is_a_sentence(
    data: st.DataObject, tmp_path: Path, take: Callable[..., Any], name: str, metric: str | None
) -> None:
    """A file in which anything may be anything is read, or is an error of ours."""
    lines = name.endswith("l")
    held = read_rows(HERE / name)[:4] if lines else json.loads((HERE / name).read_text())
    file = write(data.draw(spoiled(held)), tmp_path, lines=lines)
    with contextlib.suppress(JudgeFixturesError):
        rows = read_log(file, "phoenix").rows
        assert all(isinstance(row.fields["judged"]["metric"], str) for row in rows)
        take(file, metric=metric, allow=1.0, format="phoenix")
