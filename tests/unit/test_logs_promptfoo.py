"""Exports of promptfoo, as two of its versions wrote them, are judges' grades, people's labels and checks in code."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import LOGS, read_or_refused, said_of, spoiled
from support.project import Project, in_pyproject, json_lines, read_rows
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main
from judgefixtures.importers import ImportRequest, import_log
from judgefixtures.importers.formats import detect_format
from judgefixtures.importers.formats.loaded_file import LoadedFile, load_file
from judgefixtures.importers.formats.titles import metric_names
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

FILES = LOGS / "promptfoo"
FULL = ("0.100.0.json", "0.121.20.jsonl")
LABELS = {row["response"]: row["label"] for row in read_rows(LOGS / "examples.jsonl")}


def cells(name: str) -> list[dict[str, Any]]:
    """Return the results of an export as they stand in it."""
    text = (FILES / name).read_text(encoding="utf-8")
    found = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    return found if isinstance(found, list) else found["results"]["results"]


def components(name: str, kind: str) -> Iterator[dict[str, Any]]:
    """Yield what assertions of a kind said."""
    for cell in cells(name):
        for part in (cell.get("gradingResult") or {}).get("componentResults", ()):
            if (part.get("assertion") or {}).get("type") == kind:
                yield part


def took(name: str, folder: Path, **more: Any) -> Any:
    """Import a file; return what was done."""
    return import_log(ImportRequest((FILES / name,), judge="mine", dataset="foo", into=folder, **more))


@pytest.mark.parametrize("name", FULL)
def test_a_rubric_is_a_judge_of_one_response(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Each output has the grade that its component has; a reply that nobody could read is no fail, and is counted."""
    done = took(name, tmp_path, allow=0.1)
    said = Counter(each.said for each in done.imported.answers.values())
    parts = list(components(name, "llm-rubric"))
    unread = [part for part in parts if part["reason"].startswith("Could not extract JSON")]
    assert (len(parts), len(unread)) == (12, 1)
    assert said == Counter(part["pass"] for part in parts if part not in unread)
    assert done.unused == snapshot
    assert done.of_others == len(list(components(name, "javascript"))) == 12
    assert {pair.response_1 for pair in done.pairs} < {*LABELS}
    with pytest.raises(JudgeFixturesError, match=r"1 of 12 rows \(8.3%\) cannot be used"):
        took(name, tmp_path / "other")


@pytest.mark.parametrize("name", FULL)
def test_what_a_row_says(name: str, snapshot: SnapshotAssertion) -> None:
    """A row has question, response, grade, score, reason and the model of the response; outputs of a test are a cluster."""
    said = next(each for each in said_of(FILES / name) if each["id"] == "steep/2" and each["by"] == "judge")
    assert said == snapshot
    assert {each["metric"] for each in said_of(FILES / name) if each["by"] == "code"} == {"short"}


@pytest.mark.parametrize("name", ["0.100.0-many.json", "0.121.20-many.json"])
def test_every_assertion_has_its_name(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Two rubrics on one output are told apart by what they ask for, and members of a set are counted once."""
    counted = Counter((each["metric"], each["by"]) for each in said_of(FILES / name))
    assert counted == snapshot
    with pytest.raises(JudgeFixturesError) as refused:
        took(name, tmp_path)
    assert str(refused.value) == snapshot
    done = took(name, tmp_path, metric="factuality")
    grades = Counter(part["pass"] for part in components(name, "factuality"))
    assert Counter(each.said for each in done.imported.answers.values()) == grades


@pytest.mark.parametrize("name", ["0.100.0-repeat.json", "0.121.20-repeat.json"])
def test_repeats_are_judgements_of_the_same_answer(name: str, tmp_path: Path) -> None:
    """`--repeat 2` writes the same variables under another number: where the output is the same it is graded again."""
    done = took(name, tmp_path)
    said: dict[tuple[str, int], Any] = {
        (key.pair, key.repeat): each.said for key, each in done.imported.answers.items()
    }
    assert {*said} == {(pair, repeat) for pair in ("Sundays", "rise", "year") for repeat in (0, 1)}
    assert [said["rise", 0], said["rise", 1]] == [False, True]
    assert len(done.pairs) == 3


@pytest.mark.parametrize("name", ["0.100.0-best.json", "0.121.20-best.jsonl"])
def test_select_best_of_two_is_a_choice_beside_other_metrics(
    name: str, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Where rubrics stand beside select-best either is imported by its name: choices of pairs, or grades."""
    done = took(name, tmp_path, metric="select-best", allow=0.3)
    chosen = [each.said for _, each in sorted(done.imported.answers.items())]
    best = [cell["promptIdx"] + 1 for cell in cells(name) if is_best(cell)]
    assert sorted(chosen) == sorted(best) == [1, 2, 2]
    assert [why for why, _ in done.unused] == snapshot  # "Invalid select-best verdict: NaN"
    done = took(name, tmp_path / "grades", metric="llm-rubric")
    assert len(done.imported.answers) == 8


def is_best(cell: dict[str, Any]) -> bool:
    """Tell whether select-best chose an output."""
    return any(
        part["pass"] for part in cell["gradingResult"]["componentResults"] if part["assertion"]["type"] == "select-best"
    )


@pytest.mark.parametrize("name", ["0.100.0-down.json", "0.121.20-down.json"])
def test_a_provider_that_failed_has_no_output_to_grade(name: str, tmp_path: Path) -> None:
    """Each assertion of a test whose provider ended with an error is a row that nobody judged."""
    (failed,) = (each for each in said_of(FILES / name) if "error" in each)
    assert failed["error"].startswith("API call error")
    assert "passed" not in failed
    assert failed["model"] == "openai:chat:b"
    assert len(took(name, tmp_path, allow=0.25).imported.answers) == 3


def test_people_in_the_viewer_are_the_labels(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """What the viewer's thumbs say are labels: one command, what it prints, and the report has them all."""
    project = Project(pytester, in_pyproject, fresh=True)
    project.copy_tests("agreement")
    project.configure("")
    assert main(["import", str(FILES / "0.121.20-people.json"), "--judge", "mine", "--dataset", "rated"]) == 0
    said = capsys.readouterr().out
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    (row,) = ran.report["agreement"]
    parts = [*components("0.121.20-people.json", "llm-rubric")]
    people = [*components("0.121.20-people.json", "human")]
    pairs = Counter((person["pass"], part["pass"]) for person, part in zip(people, parts, strict=True))
    assert (row["n"], row["tp"], row["fn"], row["fp"], row["tn"]) == (
        6,
        pairs[True, True],
        pairs[True, False],
        pairs[False, True],
        pairs[False, False],
    )
    assert pairs == {(True, True): 3, (False, False): 2, (False, True): 1}


@pytest.mark.parametrize("name", FULL)
def test_labels_of_a_file_of_ones_own(name: str, tmp_path: Path) -> None:
    """Examples of --pairs are found by the test's id and the number of its output, and their labels are used."""
    examples = [
        {
            "id": f"{cell['vars']['id']}/{cell['promptIdx'] + 1}",
            "question": cell["vars"]["question"],
            "response": cell["response"]["output"],
            "label": LABELS[cell["response"]["output"]],
        }
        for cell in cells(name)
    ]
    pairs = tmp_path / "mine.jsonl"
    pairs.write_text(json_lines(examples))
    done = took(name, tmp_path, pairs=pairs, allow=0.1)
    labels = {pair.id: pair.label for pair in done.pairs}  # type: ignore[attr-defined]
    wrong = [key.pair for key, each in done.imported.answers.items() if each.said != (labels[key.pair] == "pass")]
    assert wrong == ["lock/2"]


def test_a_table_is_refused_with_what_to_write() -> None:
    """promptfoo's CSV says what became of an output, and not what each assertion said."""
    with pytest.raises(JudgeFixturesError, match="promptfoo eval -o results"):
        took("0.121.20-small.csv", Path("nowhere"))


# --- single rows, by the schema of promptfoo's sources ----------------------------------------------------------


def part(kind: str = "llm-rubric", *, passed: Any = True, **more: Any) -> dict[str, Any]:
    """Return what an assertion says."""
    told = {name: more.pop(name) for name in ("value", "metric", "weight", "provider") if name in more}
    assertion = {"type": kind, **told}
    return {"pass": passed, "score": int(bool(passed)), "reason": "So.", "assertion": assertion, **more}


def cell(*parts: Any, test: int = 0, output: int = 0, **more: Any) -> dict[str, Any]:
    """Return the result of one output."""
    told = {"testIdx": test, "promptIdx": output, "vars": {"question": f"Why {test}?"}, "provider": {"id": "m"}}
    return {**told, "response": {"output": "So."}, "gradingResult": {"componentResults": [*parts]}, **more}


def said(*given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the rows of an export say."""
    held = LoadedFile(Path("results.json"), value={"results": {"results": [*given]}})
    return [row.fields["judged"] for row in detect_format(held).rows(held)]


def test_different_outputs_of_a_repeated_test_are_examples_of_one_cluster() -> None:
    """A repeat whose output differs is another example of the test; one whose output does not is graded again."""
    texts = ["So.", "No.", "So."]
    rows = said(*(cell(part(), test=n, vars={"id": 7}, response={"output": text}) for n, text in enumerate(texts)))
    assert [(row["id"], row["repeat"], row["cluster"]) for row in rows] == [
        ("7", 0, "7"),
        ("7~2", 0, "7"),
        ("7", 1, "7"),
    ]


def test_another_metric_on_the_same_output_is_no_repeat() -> None:
    """Repeats are counted for each metric: two tests may grade one output by different assertions."""
    rows = said(*(cell(part(kind), test=n, vars={"id": "t"}) for n, kind in enumerate(["llm-rubric", "g-eval"])))
    assert [(row["id"], row["repeat"]) for row in rows] == [("t", 0), ("t", 0)]


def test_ids_are_those_of_the_tests_where_each_has_its_own() -> None:
    """Where two tests have one id, or one has none, the tests' numbers are the ids."""
    two = [cell(part(), test=n, vars={"id": "same", "q": f"{n}"}) for n in range(2)]
    assert [row["id"] for row in said(*two)] == ["0", "1"]
    assert [row["id"] for row in said(two[0], cell(part(), test=4))] == ["0", "4"]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"vars": {"text": "Why?", "id": "t"}}, "Why?"),
        ({"vars": {"text": "Why?", "input": "Who?"}}, "Who?"),
        ({"vars": {"a": "Why?", "b": "Who?"}, "prompt": {"raw": "Why? Who?"}}, "Why? Who?"),
        (
            {
                "vars": {},
                "prompt": {"raw": '[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hm?"}]'},
            },
            "Hm?",
        ),
    ],
)
def test_what_was_asked(given: dict[str, Any], asked: str) -> None:
    """The question is the variable of that name, or the only text; else the prompt, of chat messages the user's part."""
    assert said(cell(part(), **given))[0]["question"] == asked


def test_an_assertion_without_weight_has_a_score_alone() -> None:
    """promptfoo passes whatever weighs nothing: that is not what the judge said."""
    (row,) = said(cell(part(weight=0, score=0.2)))
    assert "passed" not in row
    assert row["score"] == 0.2


@pytest.mark.parametrize(
    "more",
    [
        {"metadata": {"graderError": True}, "reason": "the service is down"},
        {"reason": "API error: 500"},
        {"reason": "Model grader produced a malformed response:\nPerhaps."},
        {"score": float("nan"), "passed": None},
    ],
)
def test_a_grader_that_failed_is_no_fail(more: dict[str, Any]) -> None:
    """Newer versions mark it, older ones say it in the reason alone."""
    (row,) = said(cell(part(**{"passed": False, **more})))
    assert row["error"]
    assert not {"passed", "score"} & row.keys()
    (row,) = said(cell(part(passed=False, reason="It has no output of an API error.")))
    assert row["passed"] is False


def test_a_check_that_has_the_name_of_a_judge_is_told_apart() -> None:
    """One `metric` of a rubric and of a check in code are two metrics."""
    rows = said(cell(part(metric="good"), part("contains", metric="good")))
    assert [(row["metric"], row["by"]) for row in rows] == [("good", "judge"), ("good (contains)", "code")]


def test_one_rubric_of_two_graders_is_told_apart() -> None:
    """A jury's members are named by their providers."""
    rows = said(cell(part(value="Kind.", provider="a"), part(value="Kind.", provider="b"), part("not-g-eval")))
    assert [row["metric"] for row in rows] == ["llm-rubric: Kind.: a", "llm-rubric: Kind.: b", "not-g-eval"]


def test_components_of_a_check_in_code_are_its_own_business() -> None:
    """What a script says in parts is one check, which promptfoo writes a second time beside it."""
    inner = {"pass": True, "score": 1, "reason": "In."}
    script = {**part("javascript"), "componentResults": [inner]}
    rows = said(cell(script, {**inner, "assertion": script["assertion"]}, part()))
    assert [row["metric"] for row in rows] == ["javascript", "llm-rubric"]


def test_select_best_of_three_is_a_grade() -> None:
    """Among more than two nothing is a pair: each output was chosen, or not."""
    rows = said(*(cell(part("select-best", passed=n == 1), output=n, response={"output": f"{n}"}) for n in range(3)))
    assert [(row["id"], row["passed"]) for row in rows] == [("0/1", False), ("0/2", True), ("0/3", False)]


def test_a_provider_that_failed_leaves_no_choice() -> None:
    """Where one of two outputs is lacking, select-best chose nothing, and the row is not lost."""
    failed = cell(test=1, output=1, response=None, error="down", failureReason=2, gradingResult=None)
    failed["testCase"] = {"assert": [{"type": "select-best"}]}
    first = [cell(part("select-best", passed=n == 1), output=n) for n in range(2)]
    rows = said(*first, cell(test=1), failed)
    assert [row.get("error") for row in rows] == [None, "down"]


def test_copies_from_a_cache_are_told(snapshot: SnapshotAssertion) -> None:
    """A repeat that reads the grader's first answer from promptfoo's cache says nothing of its noise."""
    given = [cell(part(tokensUsed={"cached": 9}), test=n, vars={"id": "t"}) for n in range(2)]
    held = LoadedFile(Path("results.json"), value={"results": {"results": given}})
    assert lines_about(detect_format(held).remarks(held)[0], "results.json came") == snapshot
    assert (
        detect_format(load_file(FILES / "0.121.20-repeat.json")).remarks(load_file(FILES / "0.121.20-repeat.json"))
        == ()
    )


def test_outputs_that_were_stripped_are_no_texts() -> None:
    """PROMPTFOO_STRIP_RESPONSE_OUTPUT leaves the same words in place of every output."""
    assert "response" not in said(cell(part(), response={"output": "[output stripped]"}))[0]


def test_long_values_are_shortened_where_they_stay_different() -> None:
    """A name is short enough to be typed, and two metrics never share one."""
    alike = [("r", "x" * 100 + end) for end in "ab"]
    assert [*metric_names([alike]).values()] == [f"r: {'x' * 100}{end}" for end in "ab"]
    assert [*metric_names([[("r", "x" * 100), ("r", "y")]]).values()] == [f"r: {'x' * 60}...", "r: y"]


def test_metrics_of_many_names() -> None:
    """Ten thousand rubrics, each of one test, are named in a moment: each is looked at once."""
    started = time.monotonic()
    assert len(metric_names([[("rubric", f"It names {n}.")] for n in range(10_000)])) == 10_000
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", ["results.json"])
@given(data=st.data())
def test_hostile_exports(name: str, data: st.DataObject) -> None:
    """Whatever stands in any place of an export, it is read, or refused with the file's name."""
    whole = {"results": {"results": [cell(part(), part("human"), test=n, testCase={"vars": {}}) for n in range(2)]}}
    whole["results"]["results"] += [cell(part("select-best"), output=1, failureReason=2, error="down")]
    read_or_refused(name, data.draw(spoiled(whole)))
