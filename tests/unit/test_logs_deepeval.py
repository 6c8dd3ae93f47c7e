"""Test runs of deepeval, as two of its versions wrote them, are judges' grades and checks in code."""

from __future__ import annotations

import json
import shlex
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import LOGS, read_or_refused, said_of, spoiled
from support.project import Project, in_pyproject, read_rows
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers import ImportRequest, import_log
from judgefixtures.importers.formats import detect_format
from judgefixtures.importers.formats.loaded_file import LoadedFile
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

FILES = LOGS / "deepeval"
HELPFUL = {"2.9.7": "Helpful (GEval)", "4.3.1": "Helpful [GEval]"}
METRICS = [(version, metric) for version in HELPFUL for metric in (HELPFUL[version], "Answer Relevancy")]


def metrics_of(name: str, metric: str) -> dict[str, dict[str, Any]]:
    """Return what a metric said in a test run, by the name of the test case."""
    cases = json.loads((FILES / name).read_text(encoding="utf-8"))["testCases"]
    return {case["name"]: each for case in cases for each in case["metricsData"] if each["name"] == metric}


def took(file: Path, folder: Path, **more: Any) -> Any:
    """Import a file; return what was done."""
    return import_log(ImportRequest((file,), judge="mine", dataset="foo", into=folder, **more))


@pytest.mark.parametrize(("version", "metric"), METRICS)
def test_a_metric_is_a_judge_of_one_response(
    version: str, metric: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Each case has the grade that its metric gave; one that ended with an error is no fail, and is counted."""
    done = took(FILES / f"{version}.json", tmp_path, metric=metric, allow=0.1)
    told = metrics_of(f"{version}.json", metric)
    judged = {name: each["success"] for name, each in told.items() if "error" not in each}
    assert {key.pair: each.said for key, each in done.imported.answers.items()} == judged
    assert len(judged) == 11
    assert [why for why, _ in done.unused] == snapshot
    assert done.of_others == 24


@pytest.mark.parametrize("version", HELPFUL)
def test_what_a_row_says(version: str, snapshot: SnapshotAssertion) -> None:
    """A row has question, response, grade, score and reason; a metric that no model decides is a check in code."""
    said = {(each["id"], each["metric"]): each for each in said_of(FILES / f"{version}.json")}
    assert said["ferry-bad", HELPFUL[version]] == snapshot
    assert said["ferry-bad", "Short"]["by"] == "code"
    assert "invalid JSON" in said["plant-good", HELPFUL[version]]["error"]


@pytest.mark.parametrize("version", HELPFUL)
def test_conversations(version: str, tmp_path: Path) -> None:
    """Of a conversation the last answer was judged, and all that the user said was asked."""
    done = took(FILES / f"{version}-talk.json", tmp_path)
    assert Counter(each.said for each in done.imported.answers.values()) == {True: 2, False: 2}
    examples = {row["response"]: row["question"] for row in read_rows(LOGS / "examples.jsonl")[:4]}
    assert {pair.response_1: pair.question for pair in done.pairs} == examples


@pytest.mark.parametrize("version", HELPFUL)
def test_from_the_file_to_a_report(version: str, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """One command with labels of one's own, what it prints, and the report counts what the file says."""
    project = Project(pytester, in_pyproject, fresh=True)
    project.copy_tests("agreement")
    project.configure("")
    shutil.copy(LOGS / "examples.jsonl", project.path / "mine.jsonl")
    options = ["--metric", HELPFUL[version], "--pairs", "mine.jsonl", "--allow", "0.1"]
    assert main(["import", str(FILES / f"{version}.json"), "--judge", "mine", *options]) == 0
    said = capsys.readouterr().out
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    labels = {each["id"]: each["label"] == "pass" for each in read_rows(LOGS / "examples.jsonl")}
    told = metrics_of(f"{version}.json", HELPFUL[version]).items()
    pairs = Counter((labels[name], each["success"]) for name, each in told if "error" not in each)
    counts = tuple(pairs[key] for key in ((True, True), (True, False), (False, True), (False, False)))
    assert (row["n"], row["tp"], row["fn"], row["fp"], row["tn"]) == (11, *counts) == (11, 5, 0, 1, 5)


def test_runs_under_other_names(tmp_path: Path) -> None:
    """`.latest_test_run.json` has a run in an envelope, and before version 3 a run's name had no ending."""
    run = (FILES / "2.9.7-unnamed.json").read_text(encoding="utf-8")
    (tmp_path / "20251126_164200").write_text(run, encoding="utf-8")
    (tmp_path / "latest.json").write_text(json.dumps({"testRunData": json.loads(run)}), encoding="utf-8")
    for name in ("20251126_164200", "latest.json"):
        assert said_of(tmp_path / name) == said_of(FILES / "2.9.7-unnamed.json")


@pytest.mark.parametrize("held", [{"testRunLink": "link"}, {"test_cases_lookup_map": {}}])
def test_what_holds_no_run_is_refused(held: Any, tmp_path: Path) -> None:
    """A link and a cache are no test cases: the message says what to write in their place."""
    (tmp_path / "run.json").write_text(json.dumps(held))
    with pytest.raises(JudgeFixturesError, match="DEEPEVAL_RESULTS_FOLDER"):
        took(tmp_path / "run.json", tmp_path)


# --- single cases, by the schema of deepeval's models --------------------------------------------------------------


def metric(**more: Any) -> dict[str, Any]:
    """Return what a metric says."""
    return {"name": "m", "success": True, "score": 1.0, "evaluationModel": "j", "strictMode": False, **more}


def case(*metrics: Any, name: str = "c", **more: Any) -> dict[str, Any]:
    """Return a test case."""
    return {"name": name, "input": "Why?", "actualOutput": "So.", "metricsData": [*metrics], **more}


def held(*cases: dict[str, Any]) -> LoadedFile:
    """Return a test run."""
    return LoadedFile(Path("run.json"), value={"testCases": [*cases]})


def said(*cases: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the rows of a test run say."""
    return [row.fields["judged"] for row in detect_format(held(*cases)).rows(held(*cases))]


def test_cases_of_one_name_are_called_by_their_place() -> None:
    """`deepeval test run` calls every case of a parametrised test by the test's name."""
    assert [row["id"] for row in said(case(metric()), case(metric()))] == ["0", "1"]


def test_two_metrics_of_one_name_are_told_apart() -> None:
    """Two judges that use one metric are named by their models; a metric without a threshold has a score alone."""
    rows = said(case(metric(), metric(evaluationModel="k", success=None)))
    assert [row["metric"] for row in rows] == ["m: j", "m: k"]
    assert "passed" not in rows[1]


def test_images_are_no_texts() -> None:
    """A response that shows an image is left out: nobody can be asked about it here."""
    (row,) = said(case(metric(), actualOutput="See [DEEPEVAL:IMAGE:1]"))
    assert "response" not in row


def test_what_is_not_read_is_told(snapshot: SnapshotAssertion) -> None:
    """Cases that no metric judged, and judgements of parts of a trace, are named."""
    trace = {"llmSpans": [{"metricsData": [metric()]}]}
    run = held(case(metric(), trace=trace), case(name="d"))
    assert detect_format(run).remarks(run) == snapshot


def test_a_metric_that_was_skipped_said_nothing() -> None:
    """Neither a score nor an error is no fail."""
    (row,) = said(case(metric(score=None, success=None)))
    assert row["error"].startswith("skipped")


def test_an_arena_of_two_is_a_choice(tmp_path: Path) -> None:
    """What `compare` sends has a run for each contestant, with the same cases: the one that scored is chosen."""
    runs = [
        {
            "identifier": who,
            "testCases": [case(metric(score=s), name="a", input=q, actualOutput=who) for q, s in scored],
        }
        for who, scored in (("x", (("Why?", 1), ("Who?", 0))), ("y", (("Why?", 0), ("Who?", 1))))
    ]
    (tmp_path / "arena.json").write_text(json.dumps({"testRuns": runs, "name": "compare()"}))
    done = took(tmp_path / "arena.json", tmp_path)
    assert sorted(each.said for each in done.imported.answers.values()) == [1, 2]
    assert {(pair.response_1, pair.response_2) for pair in done.pairs} == {("x", "y")}
    (tmp_path / "arena.json").write_text(json.dumps({"testRuns": [*runs, runs[0]]}))
    with pytest.raises(JudgeFixturesError, match="an arena of 3 contestants"):
        took(tmp_path / "arena.json", tmp_path)


@given(data=st.data())
def test_hostile_runs(data: st.DataObject) -> None:
    """Whatever stands in any place of a test run, it is read, or refused with the file's name."""
    talk = {"name": "t", "metricsData": [metric()], "turns": [{"role": "user", "content": "Hm?"}]}
    older = {"name": "o", "metricsData": [metric()], "testCases": [{"input": "Hm?", "actualOutput": "So."}]}
    trace = {"llmSpans": [{"metricsData": [metric()]}]}
    runs = {"testCases": [case(metric(), trace=trace), case(metric())], "conversationalTestCases": [talk, older]}
    whole = data.draw(st.sampled_from([runs, {"testRunData": runs}, {"testRuns": [runs, runs]}]))
    read_or_refused("run.json", data.draw(spoiled(whole)))
