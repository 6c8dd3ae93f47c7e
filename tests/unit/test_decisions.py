"""The decision on a swap as a report of its own: counted, shown, in JUnit, and remembered by nobody as a test.

The judges are those of support/readers.py as Python functions: a run takes a moment. One contrast alone of a judge
against itself passes, and what is left out of the swap leaves its decision INCONCLUSIVE.
"""

from __future__ import annotations

import re
import shutil
from typing import Any
from xml.etree import ElementTree

import pytest
from support import readers
from support.project import Project, Ran, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.report.exit_code import NOT_MEASURED

pytest_plugins = ["pytester"]

PAIRS = 24  # a swap compares no contrast with fewer than 20
ALL = ("test_swap.py",)
PART = ("-k", "swap and recency")
COUNTED = {"passed": 1, "failed": 1}
WIDE = "[gate]\nvsr_tolerance = 0.45\n[swap]\nvsr_margin = 0.45\nsilent_margin = 0.45\naccuracy_margin = 0.45\n"


def configuration(head: str = "", *, more: str = "") -> str:
    """Return a configuration of judges that are functions, all about the same pairs."""
    names = ("good", "other", "first", "wrong")
    targets = {"other": "good"}
    tables = "".join(
        f'[judges.{name}]\nprovider = "python"\ntarget = "mine:{targets.get(name, name)}"\n' for name in names
    )
    own = '[datasets.own]\npath = "pairs.jsonl"\n'
    path = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
    return path + in_pyproject(f'judge = "good"\ndataset = ["own"]\n{head}\n{tables}{own}{more}{WIDE}')


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with the test of swaps, and pairs with gold, about which the control is off."""
    project = Project(pytester, configuration, fresh=True)
    shutil.copy(readers.__file__, project.path / "mine.py")
    project.copy_tests("swap")
    project.write_pairs(
        [
            {
                "id": f"p{number:02}",
                "question": f"Question {number}: which one?",
                "response_1": f"This one, {number}.",
                "response_2": f"That one, {number}.",
                "gold": 1 + number % 2,
            }
            for number in range(PAIRS)
        ]
    )
    project.configure()
    return project


def swapped(project: Project, *arguments: str, judge: str = "other") -> Ran:
    """Return a run of a swap with a JUnit file."""
    named = ("--judge", judge, "--judge-baseline", "good")
    return project.run(*named, *arguments, "--junitxml", "junit.xml", "--judge-report", "report")


def junit(project: Project) -> Any:
    """Return the suite of a JUnit file."""
    return ElementTree.parse(project.path / "junit.xml").getroot()[0]


def test_an_approve_is_one_more_that_passed(project: Project) -> None:
    """Everything was compared, and nothing is worse: the decision passes, behind the items, and in the JUnit file."""
    ran = swapped(project, *ALL)
    items = len(ran.report["results"])
    assert ran.ret == 0
    assert ran.decision[0] == "APPROVE"
    assert ran.parseoutcomes() == {"passed": items + 1}
    assert any(line.split(" [")[0].rstrip() == "decision[other-good] ." for line in ran.outlines)
    suite = junit(project)
    assert (suite.get("tests"), suite.get("failures")) == (str(items + 1), "0")
    assert suite[-1].get("name") == "decision[other-good]"
    assert suite[-1].find("failure") is None


@pytest.mark.parametrize("options", [(), ("-q",), ("-v",), ("-x",), ("-p", "no:terminal")], ids=" ".join)
def test_a_swap_that_is_not_approved_is_one_that_failed(
    project: Project, options: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """All items pass and the swap is INCONCLUSIVE: one failure by that name, with the decision's words, exit code 1."""
    ran = swapped(project, *PART, *options)
    assert ran.ret == 1
    assert {row["status"] for row in ran.report["results"]} == {"PASS"}
    suite = junit(project)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    failure = suite[-1].find("failure")
    assert failure.get("message").startswith("INCONCLUSIVE: ")
    assert lines_about(failure.text, "INCONCLUSIVE: both", "cannot replace", "not compared") == snapshot
    if "no:terminal" in options:
        return
    assert {name: count for name, count in ran.parseoutcomes().items() if name != "deselected"} == COUNTED
    assert [line for line in ran.outlines if re.fullmatch(r"_+ decision\[other-good\] _+", line)]
    assert [line for line in ran.outlines if line.startswith("FAILED decision[other-good] - INCONCLUSIVE: ")]
    assert "stopping after" not in ran.said
    assert not [line for line in ran.outlines if re.search(r"\[1[1-9]\d%\]|100%\].*100%\]", line)]


@pytest.mark.parametrize("judge", ["wrong", "good"])
def test_a_reject_fails_and_says_why(project: Project, judge: str) -> None:
    """The decision fails beside the items that did, with the reasons; a judge against itself is approved."""
    ran = swapped(project, *ALL, judge=judge)
    expected = {"wrong": "REJECT", "good": "APPROVE"}[judge]
    assert ran.decision[0] == expected
    failures = [case.get("name") for case in junit(project) if case.find("failure") is not None]
    assert (failures[-1:] == [f"decision[{judge}-good]"]) == (judge == "wrong") == (ran.ret == 1)
    assert (
        ran.parseoutcomes().get("failed", 0)
        == len(failures)
        == sum(row["status"] not in ("PASS", "NOT_APPLICABLE") for row in ran.report["results"]) + (judge == "wrong")
    )


def test_each_candidate_has_a_decision(project: Project) -> None:
    """Of two candidates each is reported by its name, in the order of the report."""
    ran = swapped(project, *PART, "--judge", "first")
    names = [case.get("name") for case in junit(project)][-2:]
    assert names == ["decision[first-good]", "decision[other-good]"]
    assert [row["judge"] for row in ran.report["decisions"]] == ["first", "other"]
    assert ran.parseoutcomes()["failed"] == 3  # an item without room to move, and both decisions


@pytest.mark.parametrize("options", [("--judge-preflight",), ("--collect-only", "-q")], ids=" ".join)
def test_what_asks_nothing_decides_nothing(project: Project, options: tuple[str, ...]) -> None:
    """A preflight and a collection have no decision to report."""
    assert "decision[" not in project.run("--judge", "other", "--judge-baseline", "good", *PART, *options).said


def test_a_run_without_a_swap_has_no_decision(project: Project) -> None:
    """Without --judge-baseline nothing is decided, and nothing is added to what ran."""
    project.copy_tests("recency")
    ran = project.run("test_recency.py")
    assert ran.parseoutcomes() == {"passed": 1}


@pytest.mark.parametrize("option", ["--lf", "--ff", "--sw"])
def test_a_decision_is_no_test_to_run_again(project: Project, option: str) -> None:
    """After a decision that failed, what runs the last failures again finds none, and runs what it would have run."""
    project.options = ()
    assert swapped(project, *PART).ret == 1
    again = swapped(project, *PART, option)
    assert (again.ret, again.decision[0]) == (1, "INCONCLUSIVE")
    assert {name: count for name, count in again.parseoutcomes().items() if name != "deselected"} == COUNTED
    assert "known failure" not in again.said
    assert len(again.report["results"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("options", [("-n", "2"), ("-n", "2", "--dist", "loadfile")], ids=" ".join)
def test_processes_report_one_decision(project: Project, options: tuple[str, ...]) -> None:
    """Under -n 2 it is decided once, where all results are: the same counts, exit code and JUnit file."""
    ran = swapped(project, *PART, *options)
    assert (ran.ret, ran.parseoutcomes()) == (1, COUNTED)
    names = [case.get("name") for case in junit(project)]
    assert [name for name in names if name.startswith("decision[")] == ["decision[other-good]"]


def test_what_could_not_be_measured_keeps_its_exit_code(project: Project) -> None:
    """Where nothing but ERRORs failed, the decision that fails with them changes nothing: 10, not 1."""
    project.write(project.file, configuration(more='[control]\ndataset = "own"\npairs = 24\n'))
    project.write_pairs(
        [{key: value for key, value in row.items() if key != "gold"} for row in project.rows("pairs.jsonl")]
    )
    ran = swapped(project, *PART)
    assert [row["status"] for row in ran.report["results"]] == ["ERROR"]
    assert {row["status"] for row in ran.report["controls"]} == {"ERROR"}
    assert (ran.ret, ran.parseoutcomes()["failed"]) == (NOT_MEASURED, 2)
