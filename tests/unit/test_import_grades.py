"""Grades that are there already: the log of a judge of one response becomes an imported judge, and its gates run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from support.importing import Rows, answers, importer, run
from support.project import Project, in_pyproject, read_rows
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.importers.imported_answers import Imports
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

N = 60
CONTENT = {"content_type": "Response"}  # as every row has it that is written


def label_of(number: int) -> str:
    """Return what people say of an example: half of them pass."""
    return "pass" if number % 2 else "fail"


def examples(n: int = N) -> Rows:
    """Return labelled examples with a column of their own."""
    return [
        {
            "id": f"e{number:02}",
            "question": f"Question {number}?",
            "response": f"This, {number}.",
            "notes": f"Note {number}.",
            "label": label_of(number),
        }
        for number in range(n)
    ]


def grade_of(number: int) -> str:
    """Return what a good judge says: once it passes what people fail."""
    return "pass" if number == 8 else label_of(number)


def log(say: Callable[[int], Any] = grade_of, *, n: int = N, **more: Any) -> Rows:
    """Return the rows of a log of grades."""
    return [
        {"id": f"e{number:02}", "verdict": say(number), "reason": "It names the year.", **more} for number in range(n)
    ]


MINE = '[judges.mine]\nprovider = "imported"\nmode = "binary"\n'
OWN = '[datasets.own]\npath = "examples.jsonl"\n'
GATE = "[gate.agreement]\nmin_kappa = 0.6\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with examples and pairs, an imported grader, and a few tests of the suite."""
    project = Project(pytester, lambda tables=MINE + OWN + GATE: in_pyproject(tables), fresh=True)
    project.copy_tests("agreement", "recency", "noise", "swap")
    project.write_pairs(examples(), "examples.jsonl")
    pair = {"question": "Why?", "response_1": "So.", "response_2": "No.", "gold": 1}
    project.write_pairs([{"id": f"e{number:02}", **pair} for number in range(N)], "pairs.jsonl")
    project.configure()
    return project


@pytest.fixture
def take(project: Project, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Import rows as the command does, and return what it says."""
    return importer(project, capsys)


# --- what can be checked ---------------------------------------------------------------------------------------


def test_one_judge_of_many_is_held_against_labels(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Of several judges in one log --where picks one, of a part of the examples; what is printed is all it takes."""
    project.configure("")
    rows = [*log(lambda _: "pass", n=40, reading=1), *log(n=40, reading=2)]
    said = take(rows, "--pairs", "examples.jsonl", "--where", "reading=2")
    assert "mine on examples: 40 answers about 40 examples" in said
    assert "no-cue: passed 21, failed 19\n" in said
    assert lines_about(said, "--where") == snapshot
    added = said.partition("pyproject.toml:\n")[2].partition("then: ")[0]
    assert 'provider = "imported"\nmode = "binary"\n' in added
    assert "[tool.judgefixtures.gate.agreement]\nmin_kappa = 0.6" in added
    project.write("pyproject.toml", f"[tool.judgefixtures]\ncontrol = false\n{added}")
    (command,) = (line for line in said.splitlines() if line.startswith("then: pytest "))
    ran = project.run(*shlex.split(command.removeprefix("then: pytest ")), "--judge-report", "report")
    ran.assert_outcomes(passed=1)
    (row,) = ran.report["agreement"]
    assert (row["n"], row["tp"], row["fn"], row["fp"], row["tn"]) == (40, 20, 0, 1, 19)
    assert row["kappa"]["value"] == pytest.approx(0.95)
    assert row["people"] == {"raters": 1, "kappa": None, "alpha": None}
    assert row["status"] == "PASS"
    identity = ran.report["judges"]["mine"]
    assert (identity["provider"], identity["mode"]) == ("imported", "binary")
    assert all(row["imported"] for row in ran.rows("judgments"))


def test_without_a_gate_of_ones_own_the_limit_is_added_to_the_table_that_is_there(
    project: Project, take: Callable[..., str]
) -> None:
    """A [gate.agreement] without a limit is not printed a second time, and one with a limit not at all."""
    assert "add to" not in take(log())
    project.configure(MINE + OWN + "[gate.agreement]\nmax_invalid = 0.1\n")
    assert "# in the existing [tool.judgefixtures.gate.agreement]: min_kappa = 0.6" in take(log())


def test_conditions_are_those_of_one_response(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Rows whose condition is a cue of ours on one response are gated; the same without a condition has no cue."""
    cued = [
        *log(condition="recency-new"),
        *log(lambda number: "fail" if number < 30 else grade_of(number), condition="recency-old"),
    ]
    said = take([*log(), *cued])
    assert "recency-old: passed 15, failed 45" in said
    ran = run(project, "-k", "recency")
    ran.assert_outcomes(failed=1)
    (row,) = ran.report["contrasts"]
    assert (row["n"], row["n10"], row["n01"]) == (N, 16, 0)
    assert lines_about(take([*log(), *log(condition="new")], "--allow", "0.5"), "its condition") == snapshot


def test_repeats_are_noise(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """A column that counts repeats gives the flips between them; a cue that the log has not is skipped."""
    take([*log(repeat=1), *log(lambda number: "pass" if number < 3 else grade_of(number), repeat=2)])
    ran = run(project, "-k", "noise or recency", "--judge-repeats", "2", "-rs")
    rows = {row["contrast"]: row for row in ran.report["contrasts"]}
    assert rows["repeat-no-cue-1"]["flip_rate"]["value"] == pytest.approx(2 / N)
    assert lines_about(ran.said, "condition recency-new") == snapshot


def test_a_swap_of_graders_is_decided(project: Project, take: Callable[..., str]) -> None:
    """Two logs about the same examples are compared in agreement and pass rate."""
    project.configure(MINE + MINE.replace("mine", "other") + OWN + "[swap]\nfamilies = []\n")
    take(log())
    take(log(lambda _: "pass"), judge="other")
    ran = project.run("-k", "swap", "--judge", "other", "--judge-baseline", "mine", "--judge-report", "report")
    assert ran.decision[0] == "REJECT"
    assert "TNR" in ran.said


def test_a_part_of_the_examples_is_not_the_whole(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Examples that the log has no grade of are named, and those it has lie beside, with their columns."""
    take(log(n=58))
    ran = run(project, "-k", "agreement")
    ran.assert_outcomes(failed=1)
    assert lines_about(ran.said, "condition no-cue") == snapshot
    assert read_rows(project.cassettes / "mine" / "own" / "pairs.jsonl") == [row | CONTENT for row in examples(58)]


@pytest.mark.parametrize(
    ("say", "status"),
    [(grade_of, "PASS"), (lambda _: "pass", "FAIL"), (lambda number: label_of(number // 2), "NOT_APPLICABLE")],
)
def test_the_control_is_of_its_own_examples(
    project: Project, take: Callable[..., str], say: Callable[[int], str], status: str, snapshot: SnapshotAssertion
) -> None:
    """A log's grader is controlled on its own labels: only what no examples account for is a FAIL."""
    project.configure(MINE + OWN + GATE + "[control]\npairs = 30\n")
    take(log(say))
    (found,) = run(project, "-k", "agreement").report["controls"]
    assert (found["n"], found["status"]) == (30, status)
    assert found["message"] == snapshot


def test_a_forgotten_mode_is_told(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """A table that does not say that its judge grades is an error of the run, with the key to set."""
    take(log())
    project.configure(MINE.replace('mode = "binary"\n', "") + OWN + GATE)
    ran = run(project, "-k", "agreement")
    assert ran.ret != 0
    assert "judge 'mine' (mode = 'pairwise') compares two" in ran.said
    assert lines_about(ran.said, "'pointwise'") == snapshot


@pytest.mark.parametrize("key", ['model = "m"', 'ties = "half"', "pass_mark = 7", 'template = "binary"'])
def test_its_table_has_nothing_to_ask_with(project: Project, key: str) -> None:
    """Keys that change what is asked, or that no grade knows, mean nothing in the table of an imported grader."""
    project.configure(MINE + f"{key}\n" + OWN)
    ran = project.run("--judge", "mine", "-k", "agreement")
    assert ran.ret == 4
    assert f"{key.split()[0]} " in ran.said
    assert "no effect with" in ran.said


# --- what a row may say ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "read"),
    [("pass", True), ("FAILED.", False), (True, True), (0, False), (1.0, True), ("yes", True), (None, None)],
)
@pytest.mark.parametrize("column", ["passed", "verdict"])
def test_grades_are_read(project: Project, take: Callable[..., str], column: str, value: Any, read: Any) -> None:
    """The usual words, booleans and 1 and 0 are the grades there are, in either column; null is none."""
    take([{"id": "e01", column: value}])
    assert answers(project) == [{"condition": "no-cue", "pair": "e01", "repeat": 0, "passed": read, "reason": ""}]


def test_a_word_that_is_neither_is_invalid_and_told(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """A word that says neither is an invalid grade with its place, as null is: both are wrong in all of them."""
    said = take(log(lambda number: {2: "partial", 4: None}.get(number, label_of(number))))
    assert "no-cue: passed 30, failed 28; 2 without a grade" in said
    assert lines_about(said, "'partial'") == snapshot
    assert [row.get("invalid") for row in answers(project) if row["passed"] is None] == ["not-a-choice", None]
    (row,) = run(project, "-k", "agreement").report["agreement"]
    assert (row["n"], row["invalid"], row["tp"], row["tn"]) == (N, 2, 30, 28)


def test_labels_of_the_table_say_what_counts(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """Words of one's own are read once the judge's table names them; before that the error says where."""
    rows = log(lambda number: "fine" if label_of(number) == "pass" else "poor")
    said = take(rows, code=2)
    assert lines_about(said, "'poor'") == snapshot
    assert 'labels = ["...", "..."] in [tool.judgefixtures.judges.mine]' in said
    project.configure(MINE + 'labels = ["fine", ["poor", "bad"]]\n' + OWN)
    assert "passed 30, failed 30" in take(rows)


def test_whole_texts_of_a_judge_are_read(project: Project, take: Callable[..., str]) -> None:
    """A column with the judge's whole text is read as a recorded answer is, in the table's form or the command's."""
    texts = ['{"verdict": "pass", "reason": "So."}', '{"score": 0.7}', "Hm."]
    take([{"id": f"e{number:02}", "answer": text} for number, text in enumerate(texts)])
    assert [(row["passed"], row.get("invalid")) for row in answers(project)] == [
        (True, None),
        (None, "not-a-choice"),
        (None, "no-json"),
    ]
    row = {"id": "e00", "answer": "It is wrong.\n\nGRADE: I"}
    take([row], "--verdict", "grade")
    assert [(row["passed"], row["reason"]) for row in answers(project)] == [(False, "It is wrong.")]
    project.configure(MINE + 'verdict = "grade"\n' + OWN)
    take([row])
    assert answers(project)[0]["passed"] is False
    project.configure(MINE + 'grade_field = "is_right"\n' + OWN)
    take([{"id": "e00", "answer": '{"is_right": true, "pass": false}'}])
    assert answers(project)[0]["passed"] is True


def test_the_rows_may_hold_the_examples(project: Project, take: Callable[..., str]) -> None:
    """Rows with question and response are the examples themselves, with their label; their kind needs no table."""
    project.configure("")
    rows = [{**example, **row} for example, row in zip(examples(), log(), strict=True)]
    said = take(rows, "--dataset", "told")
    assert 'mode = "binary"' in said
    told = read_rows(project.cassettes / "mine" / "told" / "pairs.jsonl")
    assert told == [{key: value for key, value in row.items() if key != "notes"} | CONTENT for row in examples()]
    assert "example 'e00' has another label" in take([rows[0], {**rows[0], "label": "pass"}], "--dataset", "x", code=2)


def test_several_people_label_in_columns_of_their_own(
    project: Project, take: Callable[..., str], snapshot: SnapshotAssertion
) -> None:
    """`labels` may be mapped to a column for each person; a person whom no row has is told."""
    project.configure("")
    rows = [
        {key: value for key, value in example.items() if key != "label"}
        | {"anna": example["label"], "bo": "pass" if number < 5 else example["label"], **row}
        for number, (example, row) in enumerate(zip(examples(), log(), strict=True))
    ]
    said = take(rows, "--dataset", "told", "--columns", "labels=anna,labels=bo")
    project.write(
        "pyproject.toml",
        "[tool.judgefixtures]\ncontrol = false\n" + said.partition("pyproject.toml:\n")[2].partition("then: ")[0],
    )
    (row,) = run(project, "-k", "agreement").report["agreement"]
    assert (row["n"], row["people"]["raters"]) == (N - 3, 2)
    said = take(rows, "--dataset", "x", "--columns", "labels=anna,labels=carl", judge="third", code=2)
    assert lines_about(said, "--columns") == snapshot
    rows[3]["labels"] = {"anna": "pass", "Anna": "pass"}
    assert lines_about(take(rows, "--dataset", "x", code=2), "'Anna'") == snapshot


def test_the_judges_own_grade_is_nobodys_label(project: Project, take: Callable[..., str]) -> None:
    """A column that is named as the judge's grade is not read as what people say, whatever it is called."""
    project.configure("")
    rows = [{**example, "label": "pass"} for example in examples()]
    said = take(rows, "--dataset", "told", "--columns", "passed=label")
    assert not any("label" in row for row in read_rows(project.cassettes / "mine" / "told" / "pairs.jsonl"))
    assert "min_kappa" not in said


@pytest.mark.parametrize(
    ("rows", "arguments"),
    [
        (log(lambda _: 0.7), ()),
        (log(lambda _: "0.7"), ()),
        (log(lambda _: ["pass"]), ()),
        (log(reading=1), ("--where", "reading=2")),
        ([*log(n=2), *log(lambda _: "pass", n=2)], ()),
        ([{"id": "x1", "verdict": "pass"}], ()),
        (log(), ("--pairs", "pairs.jsonl")),
        ([{"pair": "e01", "selected_response": 1}], ()),
        ([{"id": "e01", "reason": "So."}], ()),
        ([{"id": "e01", "answer": 5}], ()),
        ([{"verdict": "pass"}], ()),
        (log(), ("--columns", "selected_response=verdict")),
        (log(), ("--columns", "paire=id")),
        (log(), ("--pairs", "contradicted.jsonl")),
    ],
)
def test_mistakes_are_one_sentence(
    project: Project, take: Callable[..., str], rows: Rows, arguments: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """A mistake in what is imported is told with its place and what to do, and leaves nothing behind."""
    project.write_pairs([{**examples()[0], "labels": ["pass", "pass"]}], "contradicted.jsonl")
    assert take(rows, *arguments, code=2) == snapshot
    assert not project.cassettes.exists()


@pytest.mark.parametrize(
    ("tables", "arguments"),
    [
        ("", ("--pairs", "pairs.jsonl")),
        ("", ("--dataset", "new")),
        (MINE.replace("binary", "pairwise"), ("--pairs", "examples.jsonl")),
    ],
)
def test_a_log_that_is_not_what_its_judge_or_its_dataset_is(
    project: Project, take: Callable[..., str], tables: str, arguments: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """Grades about pairs, about nothing, or of a judge of pairs are told, with what would mend it."""
    project.configure(tables)
    assert take(log(), *arguments, code=2) == snapshot
    assert not project.cassettes.exists()


def test_a_grade_is_no_choice(project: Project, take: Callable[..., str], snapshot: SnapshotAssertion) -> None:
    """The form of whole texts, and the fields, that only grades have are refused for choices."""
    project.configure("")
    rows = [{"pair": "e01", "answer": "GRADE: C"}]
    assert lines_about(take(rows, "--pairs", "pairs.jsonl", "--verdict", "grade", code=2), "--verdict") == snapshot
    people = ("--columns", "labels=anna,labels=bo")
    assert lines_about(take(rows, "--pairs", "pairs.jsonl", *people, code=2), "--columns") == snapshot


# --- the file --------------------------------------------------------------------------------------------------


def test_importing_again_changes_nothing(project: Project, take: Callable[..., str]) -> None:
    """The same log in another order of rows gives the same answers, the same one the same bytes."""
    take(log())
    before = project.tree()
    take(log())
    assert project.tree() == before
    rows = answers(project)
    take(log()[::-1])
    assert answers(project) == rows


@pytest.mark.parametrize("change", [{"passed": "pass"}, {"passed": 1}, {"passed": True, "invalid": "no-json"}])
def test_a_damaged_line_is_told(
    project: Project, take: Callable[..., str], change: Mapping[str, Any], snapshot: SnapshotAssertion
) -> None:
    """A line whose grade is none is named."""
    take(log(n=2))
    file = project.cassettes / "mine" / "own" / "imported.jsonl"
    head, first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([head, json.dumps({**json.loads(first), **change}), *rest]))
    with pytest.raises(JudgeFixturesError) as error:
        Imports(project.cassettes).of("mine", "own")
    assert str(error.value) == snapshot
