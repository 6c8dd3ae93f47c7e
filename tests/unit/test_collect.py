"""collect = "named": a repository's own runs are what they were, and a run that names its judge is as ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.project import Project, Ran, in_pyproject, json_lines, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.plugin.named_collection import positive_words

pytest_plugins = ["pytester"]

TABLES = """collect = "named"
control = false
judge = "production"
[judges.production]
provider = "openai"
model = "m"
[judges.scorer]
extends = "production"
mode = "pointwise"
[datasets.own]
path = "pairs.jsonl"
[cues.brand]
ours = "{content_type} {number} comes from our product."
theirs = "{content_type} {number} comes from a competitor."
"""
JUDGE = ("recency", "provenance", "cues", "position", "accuracy", "wording", "age")
LEFT = f'note: not collected: {len(JUDGE)} files of judge tests (collect = "named"). To run them: '
OWN = "tests/test_own.py"
RECENCY = "test_recency.py::test_recency[production-own-recency-new-old]"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with tests of its own in two styles, and judge tests in tests/judge, of which nothing is recorded."""
    project = Project(pytester, in_pyproject)
    row = {"question": "Why?", "response_1": "Because.", "response_2": "Due to it.", "gold": 1}
    project.write("pairs.jsonl", json_lines({"id": f"p{n}", **row} for n in range(4)))
    (project.path / "tests" / "judge").mkdir(parents=True)
    project.write(
        OWN,
        "import unittest\n\ndef test_one(): pass\n\nclass TestTwo(unittest.TestCase):\n    def test_two(self): pass\n",
    )
    project.copy_tests(*JUDGE)
    for name in JUDGE:
        (project.path / f"test_{name}.py").rename(project.path / "tests" / "judge" / f"test_{name}.py")
    project.configure(TABLES)
    return project


def judged(project: Project, *arguments: str) -> list[str]:
    """Return the judge items that a command makes and selects, without the path of their folder."""
    made = project.ids(*arguments)
    return [name.rpartition("/")[2] for name in made if "test_own.py" not in name]


def run_as_users_do(folder: Path, *arguments: str) -> Ran:
    """Run pytest in a process of its own, in which nothing was imported before."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return Ran.of(pytest.RunResult(done.returncode, lines, done.stderr.splitlines(), 0.0), folder).whole


# --- runs that name no judge ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (".",),
        ("tests",),
        (OWN,),
        ("-k", "recency_of_cache or test_one or two"),
        ("-k", "not recency"),
        ("-m", "not judge_family"),
        ("--pyargs", "tests"),
        ("--ignore", "nowhere", "-p", "no:randomly"),
    ],
    ids=" ".join,
)
def test_a_run_of_its_own_is_what_it_was(project: Project, arguments: tuple[str, ...]) -> None:
    """It makes no judge item and ends as it would without any; a line tells what was left out, if it came by that."""
    done = project.run(*arguments)
    done.assert_outcomes(passed=2)
    assert done.ret == 0
    told = [line for line in done.outlines if "judge" in line and not line.startswith(("plugins: ", "rootdir: "))]
    assert told == ([] if OWN in arguments else [f"{LEFT}pytest tests{os.sep}judge"])


def test_nothing_is_read_imported_or_refused_in_it(project: Project) -> None:
    """Neither a configuration that is wrong nor a module that cannot be imported turns it red; nothing heavy is loaded."""
    file = project.path / "tests" / "judge" / "test_recency.py"
    file.write_text("import nowhere\n" + file.read_text())
    project.add("[tool.judgefixtures.judges.wrong]\nprovidr = 1\n")
    code = (
        "import sys\ndef test_loaded(): assert not {'pydantic', 'scipy', 'nowhere', 'test_wording'} & {*sys.modules}\n"
    )
    project.write(OWN, code)
    done = run_as_users_do(project.path)
    done.assert_outcomes(passed=1)
    assert "ERROR" not in done.said
    named = project.run("tests/judge/test_accuracy.py")
    assert named.ret == 2
    assert "providr" in named.said


def test_toml_that_cannot_be_read_is_nobodys_of_its_own(project: Project, snapshot: SnapshotAssertion) -> None:
    """A slip in a configuration of its own file, which every run is given, stops no run but the judge's."""
    project.write("judges.toml", TABLES + "[swap\n")
    project.write("pytest.ini", "[pytest]\naddopts = --judge-config judges.toml\n")
    project.run().assert_outcomes(passed=2)
    done = project.run("tests/judge")
    assert done.ret != 0
    assert lines_about(done.said, "judges.toml is") == snapshot


def test_addopts_name_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What every run is given, by the settings or the environment, is no command; a configuration named there is read."""
    project.write("pytest.ini", '[pytest]\naddopts = --judge-report=report --judge production -m "not judge_swap"\n')
    monkeypatch.setenv("PYTEST_ADDOPTS", "--judge-record missing -k 'test_one or two or recency'")
    done = project.run()
    done.assert_outcomes(passed=2)
    assert not (project.path / "report").exists()
    assert judged(project, "tests/judge") == [RECENCY]
    monkeypatch.delenv("PYTEST_ADDOPTS")
    project.write("judges.toml", TABLES.replace('"named"', '"always"'))
    project.write("pytest.ini", "[pytest]\naddopts = --judge-config judges.toml\n")
    assert RECENCY in judged(project)


def test_a_repository_without_other_tests_has_none(project: Project, snapshot: SnapshotAssertion) -> None:
    """Plain `pytest` ends with 5, as it did before there was a judge to gate, and says which command gates it."""
    (project.path / OWN).unlink()
    done = project.run()
    assert done.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert lines_about(done.said, "them: pytest") == snapshot


def test_other_tests_of_a_judge_module_run(project: Project, snapshot: SnapshotAssertion) -> None:
    """What asks no gate is not a judge item, wherever it stands: it is collected in every run."""
    beside = "\n\ndef test_prompt_is_there(): pass\n"
    for name in ("tests/judge/test_brand.py", "tests/test_mixed.py"):
        project.write(name, suite("recency", name="it") + beside)
    done = project.run()
    done.assert_outcomes(passed=4)
    assert lines_about(done.said, "judge tests") == snapshot
    assert "pytest tests/judge tests/test_mixed.py" in done.said
    assert judged(project, "tests/test_mixed.py") == [
        "test_mixed.py::test_it[production-own-recency-new-old]",
        "test_mixed.py::test_prompt_is_there",
    ]


def test_fixtures_of_its_own_are_its_own(project: Project) -> None:
    """A test with a fixture `judge` from its own conftest.py is not a judge item, marked or not."""
    project.write("tests/conftest.py", "import pytest\n\n@pytest.fixture\ndef judge(): return 'mine'\n")
    project.write(OWN, "def test_mine(judge): assert judge == 'mine'\n")
    project.run().assert_outcomes(passed=1)
    assert project.run("-p", "no:cacheprovider", "--strict-markers").ret == 0


def test_workers_leave_out_what_one_process_does(project: Project, snapshot: SnapshotAssertion) -> None:
    """Under -n the same tests run, the same line is told once, and the process that collects nothing loads nothing."""
    done = project.run("-n", "2")
    done.assert_outcomes(passed=2)
    assert done.said.count("note: not collected") == 1
    assert lines_about(done.said, "tests (collect") == snapshot
    named = project.run("-n", "2", f"tests/judge/{RECENCY}")
    assert named.ret == 10
    assert "left out" not in named.said


# --- runs that name it ------------------------------------------------------------------------------------


def everything(project: Project) -> list[str]:
    """Return the judge items of a repository whose runs always make them."""
    file = project.path / project.file
    text = file.read_text()
    file.write_text(text.replace('collect = "named"\n', ""))
    made = judged(project)
    file.write_text(text)
    assert len(made) > 10
    return made


def test_a_path_names_what_it_holds(project: Project) -> None:
    """The folder, one in it, a file or a test in it: from the root or from elsewhere, as a path or as a module."""
    every = everything(project)
    assert judged(project, "tests/judge") == every
    assert judged(project, "tests", "tests/judge") == every
    assert judged(project, "tests/judge/test_recency.py") == [RECENCY]
    assert judged(project, f"tests/judge/{RECENCY}") == [RECENCY]
    assert judged(project, "tests/judge/test_recency.py", OWN) == [RECENCY]
    assert "left out" not in project.run("tests/judge/test_recency.py", OWN).said
    (project.path / "tests" / "judge" / "deep").mkdir()
    project.write("tests/judge/deep/test_deep.py", suite("recency", name="deep"))
    deep = "test_deep.py::test_deep[production-own-recency-new-old]"
    assert {*judged(project, "tests/judge")} == {*every, deep}
    assert judged(project, "tests/judge/deep") == [deep]


def test_a_folder_with_settings_of_its_own_is_a_part_of_the_repository(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    """Where pytest takes another folder for its root, the repository's own tests stay what they were, too."""
    project.write("tests/pytest.ini", "[pytest]\n")
    done = run_as_users_do(project.path, "tests")
    assert (done.ret, done.parseoutcomes()) == (0, {"passed": 2})
    assert lines_about(done.outlines, 'collect = "named"') == snapshot


def test_a_module_is_a_path(project: Project) -> None:
    """With --pyargs the folder and the file are named as they are imported."""
    assert {*run_as_users_do(project.path, "--pyargs", "tests", "--collect-only", "-q").outlines} >= {
        f"{OWN}::test_one"
    }
    done = run_as_users_do(project.path, "--pyargs", "tests.judge.test_recency", "--collect-only", "-q")
    assert [line for line in done.outlines if "::" in line] == [f"tests/judge/{RECENCY}"]


def test_the_folder_that_one_is_in_is_a_path(
    project: Project, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Plain `pytest` in tests/judge names what lies there; in tests, it does not."""
    file = project.path / "pyproject.toml"  # before 8.1 a file without settings of pytest's makes no rootdir
    file.write_text(f"{file.read_text()}\n[tool.pytest.ini_options]\n")
    every = everything(project)
    monkeypatch.chdir(project.path / "tests" / "judge")
    assert judged(project) == every
    monkeypatch.chdir(project.path / "tests")
    assert judged(project) == []
    assert judged(project, "judge") == every
    assert lines_about(project.run().said, "them: pytest") == snapshot


@pytest.mark.parametrize(("testpaths", "named"), [("", True), ("tests", True), ("evals", False), ("evals tests", True)])
def test_a_folder_elsewhere_is_named_where_plain_pytest_collects_more(
    project: Project, testpaths: str, named: bool
) -> None:
    """Judge tests of one's own beside other tests: their file always names them, their folder if it is not everything."""
    (project.path / "evals").mkdir()
    project.write("evals/test_it.py", suite("recency", name="it"))
    project.write("pytest.ini", f"[pytest]\ntestpaths = {testpaths}\n")
    made = ["test_it.py::test_it[production-own-recency-new-old]"]
    assert judged(project, "evals/test_it.py") == made
    assert judged(project, "evals") == (made if named else [])


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        (("-m", "judge_accuracy"), ["test_accuracy.py::test_accuracy[production-own-accuracy]"]),
        (("-k", "recency"), [RECENCY]),
        (("-k", "test_recency"), [RECENCY]),
        (("-k", "recency-new-old"), [RECENCY]),
        (
            ("-k", "expert-llm or test_one"),
            ["test_provenance.py::test_provenance[production-own-provenance-expert-llm]"],
        ),
        (("-k", "(Recency and not placebo) or nothing"), [RECENCY]),
        (("-k", "brand"), ["test_cues.py::test_cue[production-own-brand-ours-theirs]"]),
        (("-k", "accuracy"), ["test_accuracy.py::test_accuracy[production-own-accuracy]"]),
        (("--judge-record=none", "-k", "y-new"), [RECENCY]),
        (("--judge", "production", "-k", "y-new"), [RECENCY]),
    ],
    ids=lambda each: " ".join(each),
)
def test_a_word_or_an_option_names_all(project: Project, arguments: tuple[str, ...], made: list[str]) -> None:
    """A mark, a family, a contrast or a check among the words, or any option of ours: then -k and -m select as ever."""
    assert judged(project, *arguments) == made


def test_words_that_select_nothing_are_no_error(project: Project) -> None:
    """Of a family that nothing here is asked about no item is made, and the run's own tests are what there is."""
    assert judged(project, "-k", "framing or test_one") == []
    assert project.run("-k", "framing or test_one").ret == 0
    assert project.run("-k", "framing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_what_failed_last_is_asked_again(project: Project) -> None:
    """--lf after a gate that failed repeats it; after that of other tests it repeats those."""
    project.options = ()
    assert project.run("tests/judge", "-k", "recency").ret == 10
    assert judged(project, "--lf") == [RECENCY]
    (project.path / ".pytest_cache" / "v" / "cache" / "lastfailed").write_text(f'{{"{OWN}::test_one": true}}')
    assert judged(project, "--lf") == []


def test_a_run_that_names_it_passes_only_what_was_measured(project: Project) -> None:
    """Without recordings the gate is 10, without an item it is 5, of what applies to nothing 11: never 0."""
    gate = ("tests/judge", "-k")
    assert project.run(*gate, "cue or position").ret == 10
    assert project.run(*gate, "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert project.run(*gate, "swap").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert project.run(*gate, "position", "--judge", "scorer").ret == 11
    project.write("pytest.ini", '[pytest]\naddopts = -m "not judge_family"\n')
    assert project.run(*gate, "cue").ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("command", [(), ("tests/judge",)], ids=str)
def test_another_value_is_refused(project: Project, command: tuple[str, ...], snapshot: SnapshotAssertion) -> None:
    """A slip in the key's value is told, with what is accepted, by every run: no gate vanishes because of it."""
    file = project.path / project.file
    file.write_text(file.read_text().replace('"named"', '"name"'))
    done = project.run(*command)
    assert done.ret == 2
    assert lines_about(done.said, "'always'") == snapshot


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", []),
        ("recency", ["recency"]),
        ("not recency and cue", ["cue"]),
        ("not (a or not b) or not not c", ["b", "c"]),
        ("((a)) and not b)", ["a"]),
        ("not", []),
    ],
)
def test_words_behind_not_are_not_wanted(expression: str, words: list[str]) -> None:
    """Whatever is written, also what pytest refuses, the words are those that select something."""
    assert list(positive_words(expression)) == words
