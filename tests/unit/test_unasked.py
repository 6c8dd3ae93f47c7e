"""What a judge of one response is not asked: who names it is told in a line, and swaps and the paper refuse it."""

from __future__ import annotations

import json
import re

import pytest
from support.project import Project, in_pyproject, json_lines
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures import Run
from judgefixtures.checks.swap import SwapCheck
from judgefixtures.models.pairs import Example, Pair, pair_to_row
from judgefixtures.paper import measure_paper
from judgefixtures.plugin.items import selected_judge_items
from judgefixtures.statistics import Status
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

TABLES = """control = false
judge = "grader"
dataset = ["examples"]
[judges.grader]
provider = "openai"
model = "m"
mode = "binary"
[judges.other]
extends = "grader"
model = "n"
[judges.scorer]
provider = "openai"
model = "m"
mode = "pointwise"
pass_mark = 7
[judges.bare]
provider = "openai"
model = "m"
mode = "pointwise"
[judges.pairs]
provider = "openai"
model = "m"
[judges.shown]
extends = "grader"
template = "shown.txt"
[datasets.examples]
path = "examples.jsonl"
[datasets.twos]
path = "twos.jsonl"
"""
TESTS = ("recency", "position", "accuracy", "plan", "swap")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with judges of one response and of two, with examples and pairs, and shipped tests."""
    project = Project(pytester, in_pyproject)
    examples = [Example(f"e{n}", f"Why {n}?", f"Because {n}.", columns={"notes": "n"}) for n in range(20)]
    twos = [Pair(f"p{n}", f"Why {n}?", f"Because {n}.", f"Due to {n}.", gold=1) for n in range(20)]
    project.write("examples.jsonl", json_lines(pair_to_row(each) | {"notes": "n"} for each in examples))
    project.write("twos.jsonl", json_lines(map(pair_to_row, twos)))
    project.write("shown.txt", "{question}{response}{cue}{notes}")
    project.configure(TABLES)
    project.copy_tests(*TESTS)
    return project


def told(project: Project, *arguments: str) -> list[str]:
    """Return the notes of a run that says nothing of warnings."""
    return [line for line in project.run(*arguments).outlines if line.startswith("note: ")]


def test_a_swap_without_a_baseline_is_told(project: Project, snapshot: SnapshotAssertion) -> None:
    """Who names a swap and no incumbent learns what is lacking; other runs hear nothing of it."""
    said = "--judge-baseline NAME"
    assert (
        lines_about(told(project, "--judge", "pairs", "--judge-dataset", "twos", "-k", "swap"), "--judge-baseline")
        == snapshot
    )
    for others in (("-k", "recency"), ("--collect-only",)):
        assert said not in "".join(told(project, "--judge", "pairs", "--judge-dataset", "twos", *others))


def test_one_judge_by_two_names_is_told(project: Project, snapshot: SnapshotAssertion) -> None:
    """A candidate whose table changes nothing is no other judge, whatever is decided."""
    project.configure(TABLES + '[judges.alias]\nextends = "grader"\n')
    swap = ("-k", "swap", "--judge-baseline", "grader", "--collect-only", "--judge")
    assert told(project, *swap, "alias") == snapshot
    assert not any("with itself" in line for line in told(project, *swap, "other"))


# --- items that there are none of -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-k", "position"], "position is"),
        (["-k", "accuracy or position or cue", "--collect-only"], "accuracy and position are"),
        (["-k", "accuracy", "--judge-preflight"], "accuracy is"),
        (["-k", "plan", "--collect-only"], "plan is"),
        (["-k", "accuracy and examples", "--judge", "scorer", "--judge-dataset", "examples"], "accuracy is"),
        (["-m", "judge_accuracy"], "accuracy is"),
        (["test_position.py"], "position is"),
    ],
)
def test_a_command_that_names_what_is_not_asked_is_told(
    project: Project, arguments: list[str], named: str, snapshot: SnapshotAssertion
) -> None:
    """One line names what has no items for the grader, and what to ask instead; preflight or not."""
    (line,) = told(project, *arguments)
    who = "scorer" if "scorer" in arguments else "grader"
    assert (f" {who} " in line, f" {named} for judges" in line) == (True, True)
    assert line == snapshot
    assert "-k cue" in line


@pytest.mark.parametrize(
    "arguments",
    [[], ["-k", "recency"], ["-k", "not slow"], ["-k", "not position"], ["-k", "grader"], ["-k", "accuracy and twos"]],
    ids=" ".join,
)
def test_no_other_run_is_told(project: Project, arguments: list[str]) -> None:
    """A run that names nothing of it, or the judge alone, has no such note: it is not about every run."""
    assert not told(project, "--judge-dataset", "examples", "--collect-only", *arguments)


def test_a_repository_without_such_tests_is_told_as_well(project: Project, snapshot: SnapshotAssertion) -> None:
    """Where there is no test of orders, as after `init --mode binary`, the word of -k is enough."""
    (project.path / "test_position.py").unlink()
    (line,) = told(project, "-k", "position")
    assert lines_about(line, "position is") == snapshot


def test_of_judges_of_both_kinds_the_grader_is_named_alone(project: Project, snapshot: SnapshotAssertion) -> None:
    """The judge of pairs has its items, and the line is about the other one."""
    arguments = ("-k", "accuracy", "--judge", "grader", "--judge", "pairs", "--judge-dataset", "twos", "--collect-only")
    (line,) = told(project, *arguments)
    assert lines_about(line, "grader grades") == snapshot
    assert project.ids(*arguments) == ["test_accuracy.py::test_accuracy[pairs-twos-accuracy]"]


def test_house_sets_that_a_template_cannot_show_are_named(project: Project, snapshot: SnapshotAssertion) -> None:
    """A test whose mark names house sets alone has no item for a template with columns, and a line says why."""
    project.write(
        "test_house.py",
        "import pytest\n\n@pytest.mark.judge_family('recency', datasets=['house-answers', 'house-graded'])\n"
        "def test_house(judge, pairs, contrast, gate):\n    gate.check(judge, pairs, contrast)\n",
    )
    (line,) = told(project, "--judge", "shown", "--collect-only", "test_house.py")
    assert lines_about(line, "skips shown") == snapshot
    assert not told(project, "--judge", "shown", "--judge-dataset", "examples", "--collect-only", "-k", "test_recency")
    assert not told(project, "--judge", "grader", "--collect-only", "test_house.py")
    assert not told(project, "--judge", "shown", "--collect-only", "-k", "test_recency")
    assert not told(project, "--judge", "pairs", "--judge-dataset", "twos", "--collect-only", "test_house.py")


@pytest.mark.parametrize("name", ["accuracy", "position-no-cue", "plan"])
def test_from_python_it_does_not_apply(project: Project, name: str) -> None:
    """A script that gates a grader for what it is not asked gets a finding that says why, and nothing is asked."""
    with Run.from_config(project.path / "pyproject.toml") as run:
        found = run.gate(name, judge="grader", dataset="twos")
    assert found.status is Status.NOT_APPLICABLE
    assert found.reasons[0].startswith("grader ")


# --- swaps ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["twos", "examples"])
@pytest.mark.parametrize(
    ("candidate", "baseline", "said"),
    [
        ("grader", "pairs", "grader grades one response and pairs compares two: they are not comparable"),
        ("pairs", "scorer", "scorer grades one response and pairs compares two: they are not comparable"),
        ("grader", "bare", "grader grades one response and bare scores without a mark: they are not comparable"),
    ],
)
def test_a_swap_of_judges_that_are_asked_otherwise_is_one_error(
    project: Project, candidate: str, baseline: str, said: str, dataset: str
) -> None:
    """Before anything is asked, whatever the dataset holds: one line, in pytest and from Python."""
    ran = project.run("-k", "swap", "--judge", candidate, "--judge-baseline", baseline, "--judge-dataset", dataset)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    assert [line.startswith(f"ERROR: {said}") for line in ran.said.splitlines() if "ERROR" in line] == [True]
    with Run.from_config(project.path / "pyproject.toml") as run:
        pairs = run.pairs("grader", dataset)
        with pytest.raises(JudgeFixturesError, match=re.escape(said)):
            run.gate("recency-new-old", judge=candidate, dataset=dataset, baseline=baseline, pairs=pairs)


def test_a_judge_of_a_fixture_is_refused_as_well(project: Project, snapshot: SnapshotAssertion) -> None:
    """Where a test's own fixture gives a grader for the baseline, the test says that they are not comparable."""
    project.write(
        "conftest.py",
        "import pytest\nfrom judgefixtures.judges import load_judge\n\n@pytest.fixture\ndef baseline():\n"
        "    return load_judge({'provider': 'openai', 'model': 'm', 'mode': 'binary'}, 'made')\n",
    )
    ran = project.run("-k", "swap", "--judge", "pairs", "--judge-baseline", "pairs", "--judge-dataset", "twos")
    assert lines_about(ran.said, "pairs compares") == snapshot


def test_scores_without_a_mark_are_no_grades_to_swap(project: Project) -> None:
    """Of two that score examples nothing passes or fails: every item says which key makes grades of scores."""
    given = ("-k", "swap", "--judge", "bare", "--judge-baseline", "bare", "--judge-dataset", "examples")
    ran = project.run(*given)
    assert "set pass_mark in [judges.bare]" in re.sub(r"tool\.judgefixtures\.", "", ran.said)
    assert ran.ret != 0


def test_a_run_and_pytest_count_the_same_cells(project: Project) -> None:
    """A swap's margins are planned for as many cells in a script as in the items of the same options."""
    given = ("--judge", "pairs", "--judge-baseline", "pairs")
    seen = []

    class Seen:
        @staticmethod
        def pytest_collection_finish(session: pytest.Session) -> None:
            checks = [subject.check for _, subject in selected_judge_items(session.items)]
            seen.append({check.cells for check in checks if isinstance(check, SwapCheck)})

    assert project.pytester is not None
    for datasets in (("twos",), ("twos", "house-close")):
        named = [word for name in datasets for word in ("--judge-dataset", name)]
        project.pytester.inline_run("--collect-only", "-q", "-k", "swap", *given, *named, plugins=[Seen()])
        with Run.from_config(project.path / "pyproject.toml", datasets=datasets) as run:
            assert seen.pop() == {run.registry.swap_cells("pairs")}
            assert run.registry.swap_cells("pairs") == 7 * len(datasets)


@pytest.mark.parametrize("words", ["recency and", "(recency", "recency or or position"])
def test_words_that_cannot_be_read(project: Project, words: str, snapshot: SnapshotAssertion) -> None:
    """A -k or -m that pytest cannot read is its own error, and none of ours."""
    for option in ("-k", "-m"):
        ran = project.run(option, words, "--judge", "grader")
        assert ran.ret == pytest.ExitCode.USAGE_ERROR
        assert lines_about(ran.said, "expression passed") == snapshot
        assert "INTERNALERROR" not in ran.said


@pytest.mark.parametrize("how", [("-n", "1"), ("-n", "0")], ids=" ".join)
def test_an_item_without_a_result_is_a_graders(project: Project, how: tuple[str, ...]) -> None:
    """What a test came to nothing about is told in the words of the judge that it is of, whoever collected it."""
    project.write("conftest.py", "import pytest\n\n@pytest.fixture\ndef pairs():\n    raise RuntimeError('lost')\n")
    ran = project.run("-k", "recency", "--judge", "grader", *how, "--judge-report", "report")
    (row,) = json.loads((project.path / "report" / "report.json").read_text())["contrasts"]
    assert (row["status"], row["outcome"]) == ("ERROR", "passed")
    assert "response 1" not in ran.said
    assert "and the other" not in row["text"]


# --- tests that are not ours ------------------------------------------------------------------------------


def test_objects_that_cannot_be_looked_at(pytester: pytest.Pytester) -> None:
    """What a module or a class of anybody's holds is not asked for marks: a proxy may raise whatever it likes."""
    pytester.makepyfile(
        """
        class Proxy:
            def __getattr__(self, name):
                raise RuntimeError("outside of its context")

        current_app = Proxy()

        class TestOwn:
            settings = Proxy()

            def test_in_a_class(self):
                pass

        def test_own():
            pass
        """
    )
    pytester.runpytest().assert_outcomes(passed=2)


# --- the paper --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("judge", ["grader", "scorer"])
def test_the_paper_has_no_rates_of_a_grader(project: Project, judge: str, snapshot: SnapshotAssertion) -> None:
    """Its numbers are of choices between two: a judge of one response is an error that names what asks it."""
    with Run.from_config(project.path / "pyproject.toml") as run, pytest.raises(JudgeFixturesError) as error:
        measure_paper(run, [judge, "pairs"])
    assert str(error.value) == snapshot
