"""Exports of Braintrust: what its SDK wrote, in two versions, becomes grades, scores and labels, as many as it holds."""

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
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers import summary
from judgefixtures.importers.formats.braintrust import BraintrustFormat
from judgefixtures.importers.formats.loaded_file import load_file
from judgefixtures.importers.log_files import read_log
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

DATA = LOGS / "braintrust"
VERSIONS = ("0.0.190", "0.48.1")
NEW = "0.48.1"

Take = Callable[..., Any]


@pytest.fixture
def take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Take:
    """Import a file, with as many failed judgements as there are; return what was done."""
    return importer_of(DATA, tmp_path, monkeypatch, allow=0.2)


def document(name: str) -> Any:
    """Return what a file holds, a list of its lines of JSON lines."""
    text = (DATA / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)


def said(done: Any) -> list[Any]:
    """Return what was said of one response each, in the order of the ids: a grade, or a score."""
    every = [answer.said for _, answer in sorted(done.imported.answers.items())]
    return [each[0] if isinstance(each, list | tuple) else each for each in every]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_trace_has_grades_with_reasons(take: Take, version: str, snapshot: SnapshotAssertion) -> None:
    """Of an experiment's spans each score of the judge is a grade of its root's output, with its own reason."""
    events = document(f"{version}.json")["events"]
    roots = {each["span_id"]: each for each in events if not each["span_parents"]}
    scored = [each for each in events if "ClosedQA" in (each.get("scores") or {})]
    expected = {roots[each["span_parents"][0]]["id"]: each for each in scored}
    done = take(f"{version}.json")
    assert len(expected) == len(roots) - 1 == 5
    assert {key.pair: answer.said for key, answer in done.imported.answers.items()} == {
        name: each["scores"]["ClosedQA"] == 1 for name, each in expected.items()
    }
    assert {answer.reason for answer in done.imported.answers.values()} == {
        each["metadata"]["rationale"] for each in scored
    }
    texts = {root["id"]: (root["input"], root["output"]) for root in roots.values()}
    assert {pair.id: (pair.question, pair.response_1) for pair in done.pairs} == {
        name: texts[name] for name in expected
    }
    assert [why for why, _ in done.unused] == snapshot
    assert done.of_others == len([each for each in events if "Levenshtein" in (each.get("scores") or {})])


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_is_told_by_its_last_line(version: str) -> None:
    """What failed is told in the scorer's own words, once, though the row and its span both have the traceback."""
    failed = [
        row.fields["judged"] for row in read_log(DATA / f"{version}.json").rows if "error" in row.fields["judged"]
    ]
    assert [(each["metric"], each["error"]) for each in failed] == [("ClosedQA", "KeyError: 'perhaps'")]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("metric", ["ClosedQA", "Factuality", "Levenshtein"])
def test_what_an_eval_returned(take: Take, version: str, metric: str) -> None:
    """The dump of an Eval has every metric's scores: grades where all are 0 or 1, else scores."""
    results = document(f"{version}-result.json")["results"]
    scores = [each["scores"][metric] for each in results if each["scores"].get(metric) is not None]
    done = take(f"{version}-result.json", metric=metric)
    assert Counter(said(done)) == Counter(scores)
    assert len(done.unused) == len(results) - len(scores)
    assert {pair.id for pair in done.pairs} == {key.pair for key in done.imported.answers}
    assert len(done.pairs) == len(scores)
    assert done.content.kind.mode == ("binary" if {*scores} <= {0, 1} else "pointwise")


@pytest.mark.parametrize("version", VERSIONS)
def test_of_rows_alone_people_are_named(take: Take, version: str, snapshot: SnapshotAssertion) -> None:
    """Rows do not say which score is a person's: both are listed, and --label-metric makes labels of one."""
    rows = document(f"{version}-logged.jsonl")
    with pytest.raises(JudgeFixturesError) as error:
        take(f"{version}-logged.jsonl")
    assert str(error.value) == snapshot
    assert "  helpful (a judge's): 12 rows: " in str(error.value)
    assert "  human (a judge's): 12 rows: " in str(error.value)
    done = take(f"{version}-logged.jsonl", metric="helpful", label_metric="human")
    graded = {row["id"]: row for row in rows if row["scores"]["helpful"] is not None}
    assert {pair.id: pair.label for pair in done.pairs} == {
        name: "pass" if row["scores"]["human"] else "fail" for name, row in graded.items()
    }
    assert {pair.question for pair in done.pairs} == {row["input"]["question"] for row in graded.values()}


def test_trials_are_repeats_where_the_answer_is_the_same(take: Take) -> None:
    """A trial with the same output is the same answer judged again, one with another is another of its cluster."""
    rows = document(f"{NEW}-trials.jsonl")
    roots = [row for row in rows if not row["span_parents"]]
    answers = {(row["input"], row["output"]) for row in roots}
    done = take(f"{NEW}-trials.jsonl")
    assert len(done.imported.answers) == len(roots) == 8
    assert len(done.pairs) == len(answers) == 5
    assert Counter(key.repeat for key in done.imported.answers) == {0: 5, 1: 3}
    tea = [pair for pair in done.pairs if "tea" in pair.question]
    assert len(tea) == 3
    assert len({pair.cluster for pair in tea}) == 1


def test_people_review_in_spans_of_their_own(take: Take) -> None:
    """A review span is a person's judgement of its parent; their mean in the parent's row is nobody's."""
    events = document(f"{NEW}-review-by-schema.json")
    reviews: dict[str, list[float]] = {}
    for each in events:
        if each["span_attributes"]["type"] == "review":
            reviews.setdefault(each["span_parents"][0], []).append(each["scores"]["right"])
    split = [each for each in reviews.values() if len({*each}) > 1]
    people = [
        row for row in read_log(DATA / f"{NEW}-review-by-schema.json").rows if row.fields["judged"]["by"] == "person"
    ]
    assert len(people) == sum(len(each) for each in reviews.values())
    done = take(f"{NEW}-review-by-schema.json", label_metric="right")
    assert {len(pair.labels) for pair in done.pairs} == {2}
    assert len(split) == 1
    assert Counter(pair.label for pair in done.pairs)[None] == 1


def test_a_table_holds_what_the_document_holds(take: Take) -> None:
    """Of a CSV, with its objects as JSON, the same judgements are read as of the document."""
    with (DATA / f"{NEW}-table-by-schema.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {row["id"]: json.loads(row["scores"]).get("ClosedQA") for row in rows}
    done = take(f"{NEW}-table-by-schema.csv", metric="ClosedQA")
    assert {key.pair: answer.said for key, answer in done.imported.answers.items()} == {
        name: score == 1 for name, score in expected.items() if score is not None
    }
    assert len(done.unused) == 1


def test_scores_may_be_spread_over_columns(take: Take, tmp_path: Path) -> None:
    """Columns scores.NAME are read as the object is; an empty cell is no judgement."""
    file = tmp_path / "flat.csv"
    lines = ["id,root_span_id,input,output,scores.tone,scores.depth"]
    lines += [f"r{n},t{n},Question {n}?,Answer {n}.,{n % 2},{'' if n < 3 else 0.25 * n}" for n in range(6)]
    file.write_text("\n".join(lines) + "\n")
    assert Counter(said(take(file, metric="tone"))) == {True: 3, False: 3}
    assert sorted(said(take(file, metric="depth"))) == [0.75, 1.0, 1.25]


def test_the_choice_stays_within_reach(take: Take, tmp_path: Path) -> None:
    """The letter that autoevals' classifier chose can be the grade, by the labels of the judge's table."""
    grades = said(take(f"{NEW}.json"))
    table = '[tool.judgefixtures.judges.mine]\nprovider = "imported"\nmode = "binary"\nlabels = ["N", "Y"]\n'
    (tmp_path / "pyproject.toml").write_text(table)
    for column in ("judged.choice", "span.metadata.choice"):
        assert said(take(f"{NEW}.json", columns={"passed": column})) == [not each for each in grades]


# --- what is not as it should be ---------------------------------------------------------------------------------


def span(number: int, **more: Any) -> dict[str, Any]:
    """Return a root that was scored."""
    texts = {"input": f"Question {number}?", "output": f"Answer {number}."}
    return (
        {"id": f"r{number}", "span_id": f"s{number}", "root_span_id": f"s{number}", "span_parents": None} | texts | more
    )


def test_no_row_is_lost_without_a_word(take: Take, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A score of null, a task that failed and an answer without a score are told, each as what it is."""
    rows = [span(n, scores={"tone": n % 2}) for n in range(8)]
    rows += [
        span(8, scores={"tone": None}),
        span(9, error="Traceback (most recent call last):\n  x\nTimeoutError: slow"),
    ]
    file = write([*rows, span(10)], tmp_path, lines=True)
    failed = [row.fields["judged"].get("error") for row in read_log(file).rows]
    assert failed == snapshot
    lines = summary(take(file))
    assert f"  without a score: 1 of 11 traces in {file}" in lines
    assert lines_about(lines, "judge ended") == snapshot


def test_what_was_judged_is_what_the_scorer_was_given(tmp_path: Path) -> None:
    """A scorer's own input tells what it read, which may be another text than the row's; without one the row does."""
    told = {"root_span_id": "s0", "span_parents": ["s0"], "span_attributes": {"type": "score", "name": "tone"}}
    given = {"input": "Why?", "output": "Its first paragraph."}
    scores = [
        {"id": "a", "span_id": "a", "input": given, "scores": {"tone": 1}} | told,
        {"id": "b", "span_id": "b", "scores": {"tone": 0}} | told,
        {"id": "c", "span_id": "c", "input": given, "scores": {"tone": 0}} | told | {"span_parents": ["elsewhere"]},
    ]
    rows = read_log(write([span(0), *scores], tmp_path, lines=True)).rows
    assert [row.fields["judged"]["response"] for row in rows] == [given["output"], "Answer 0.", given["output"]]
    assert [row.place for row in rows] == ["line 2", "line 3", "line 4"]


def test_one_row_twice_is_one_and_two_versions_are_an_error(
    take: Take, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Pages that overlap count once; the same id with another content names both rows."""
    rows = [span(n, scores={"tone": n % 2}) for n in range(6)]
    assert len(take(write([*rows, rows[2]], tmp_path, lines=True)).imported.answers) == 6
    with pytest.raises(JudgeFixturesError) as error:
        take(write([*rows, span(2, scores={"tone": 1})], tmp_path, lines=True))
    assert str(error.value) == snapshot


def test_rows_without_scores_are_an_error_that_says_so(take: Take, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A file that is named as Braintrust's and has no score says what to export."""
    with pytest.raises(JudgeFixturesError) as error:
        take(write([span(1)], tmp_path, lines=True), format="braintrust")
    assert str(error.value) == snapshot


def test_scores_of_another_type_are_an_error_that_names_the_row(
    take: Take, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Scores that are no object are not passed over."""
    rows = [span(n, scores={"tone": 1}) for n in range(3)]
    with pytest.raises(JudgeFixturesError) as error:
        take(write([*rows, span(3, scores=[1])], tmp_path, lines=True))
    assert str(error.value) == snapshot


def test_nobody_elses_file_is_claimed(tmp_path: Path) -> None:
    """Only files with a mark of Braintrust's are: an object of scores alone is a plain log."""
    plain = {"input": "Why?", "output": "So.", "scores": {"tone": 1}}
    assert not BraintrustFormat.claims(load_file(write([plain], tmp_path, lines=True)))
    assert not BraintrustFormat.claims(load_file(write({"results": [plain], "summary": 1}, tmp_path, lines=False)))


@pytest.mark.parametrize("name", [f"{NEW}.json", f"{NEW}-review-by-schema.json", "0.0.190-result.json"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_stands_in_it_there_is_a_sentence(data: st.DataObject, tmp_path: Path, take: Take, name: str) -> None:
    """A file in which anything may be anything is read, or is an error of ours."""
    file = write(data.draw(spoiled(document(name))), tmp_path, lines=False)
    with contextlib.suppress(JudgeFixturesError):
        rows = read_log(file, "braintrust").rows
        assert all(isinstance(row.fields["judged"]["metric"], str) for row in rows)
        take(file, metric="ClosedQA", format="braintrust")


# --- to a report ---------------------------------------------------------------------------------------------------


def test_to_a_report_in_one_command(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """What the import prints is all that it takes: the agreement of the run has the log's own counts."""
    project = bare(pytester)
    log = str(DATA / f"{NEW}-logged.jsonl")
    options = ("--metric", "helpful", "--label-metric", "human", "--allow", "0.1", "--dataset", "own")
    assert main(["import", log, "--judge", "mine", *options]) == 0
    printed = capsys.readouterr().out
    added = printed.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in printed.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    scores = [each["scores"] for each in document(f"{NEW}-logged.jsonl")]
    counted = Counter((each["human"], each["helpful"]) for each in scores if each["helpful"] is not None)
    assert row["n"] == counted.total() == 11
    assert [row[name] for name in ("tp", "fn", "fp", "tn")] == [
        counted[each] for each in ((1, 1), (1, 0), (0, 1), (0, 0))
    ]
