"""Which report is this run's: options that were typed for judge tests that nobody selected, runs that end early, checks.

Small projects with a judge in Python, run by pytest inside a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.project import Project, small_project, suite
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.main import main

pytest_plugins = ["pytester"]

RIGHT = """\
import json
import re


def judge(prompt):
    return json.dumps({"selected_response": 1 + (int(re.search("q([0-9]+)", prompt)[1]) & 1), "reason": "Better."})
"""
NOTHING = "no judge item was selected: nothing was measured"


def configuration(options: str = "") -> str:
    """Return the configuration of a judge in Python that is right everywhere, and of pytest with these options."""
    return f"""\
[tool.pytest.ini_options]
pythonpath = ["."]
addopts = "{options}"
[tool.judgefixtures]
judge = "ours"
control = false
[tool.judgefixtures.judges.ours]
provider = "python"
target = "mine:judge"
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
[tool.judgefixtures.gate]
vsr_tolerance = 0.3
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project with a judge test that passes and another test."""
    project = small_project(pytester, configuration, RIGHT, "recency")
    project.write("test_other.py", "def test_other():\n    pass\n")
    return project


def check(project: Project, *options: str) -> int:
    """Return the exit code of a check of the report."""
    return main(["report", "check", str(project.path / "report"), *options])


def files(project: Project) -> dict[str, bytes]:
    """Return the files of the report."""
    return {path.name: path.read_bytes() for path in sorted((project.path / "report").iterdir())}


# --- options that were typed, and no judge test selected --------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    [
        ("--judge", "ours"),
        ("--judge=ours", "-n", "2"),
        ("--judge-report", "report"),
        ("--judge-dataset", "own"),
        ("--judge-record", "missing"),
        ("--judge", "ours", "--judge-baseline", "ours"),
    ],
    ids=" ".join,
)
def test_a_typed_option_without_a_judge_test_is_11(
    project: Project, typed: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    """The command names judges or a report, and selects other tests alone: 11, as where nothing was decided."""
    ran = project.run("test_other.py", *typed)
    assert ran.ret == 11, ran.said
    assert lines_about(ran.said, "selected: nothing") == snapshot


def test_the_report_says_that_nothing_was_selected(project: Project, snapshot: SnapshotAssertion) -> None:
    """The report of the run before does not stay: the new one says so in each file, and check and merge end with 11."""
    assert project.run("--judge-report", "report").ret == 0
    before = files(project)
    ran = project.run("--judge-report", "report", "-k", "other")
    assert ran.ret == 11, ran.said
    after = files(project)
    assert {*before} == {*after}
    assert project.report()["status"] == "NOT_APPLICABLE"
    assert project.report()["warnings"] == snapshot
    assert all(NOTHING in after[name].decode() for name in ("report.json", "report.md", "report.html"))
    assert check(project) == 11
    report = str(project.path / "report")
    assert main(["report", "merge", report, "--into", str(project.path / "merged")]) == 11
    assert project.run("--judge-report", "whole").ret == 0
    both = [report, str(project.path / "whole")]
    assert main(["report", "merge", *both, "--into", str(project.path / "merged")]) == 0
    assert NOTHING not in (project.path / "merged" / "report.json").read_text()


def test_pytests_own_codes_stay(project: Project, snapshot: SnapshotAssertion) -> None:
    """No test at all is pytest's 5, a failing one 1; the report says what it is about in either case."""
    ran = project.run("--judge-report", "report", "-k", "nowhere")
    assert ran.ret == 5, ran.said
    assert project.report()["warnings"] == snapshot
    project.write("test_other.py", "def test_other():\n    assert False\n")
    assert project.run("--judge-report", "report", "test_other.py").ret == 1
    assert check(project) == 11


def test_a_project_without_judges_is_told_the_same(project: Project) -> None:
    """--judge-report was typed where no judge is configured."""
    project.write("pyproject.toml", "")
    ran = project.run("--judge-report", "report", "test_other.py")
    assert ran.ret == 11, ran.said
    assert check(project) == 11


@pytest.mark.parametrize("where", ["addopts", "PYTEST_ADDOPTS"])
def test_options_of_every_run_leave_other_tests_alone(
    project: Project, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the options in `addopts` a run of other tests ends with 0, and the report of the run before is untouched."""
    options = "--judge ours --judge-report report"
    if where == "addopts":
        project.configure(options)
    else:
        monkeypatch.setenv("PYTEST_ADDOPTS", options)
    assert project.run().ret == 0
    before = files(project)
    ran = project.run("test_other.py")
    assert ran.ret == 0, ran.said
    assert NOTHING not in ran.said
    assert files(project) == before


@pytest.mark.parametrize("look", ["--collect-only", "--judge-preflight", "--setup-only", "--markers"])
def test_a_look_is_no_run(project: Project, look: str) -> None:
    """Who only looks measured nothing and claims nothing: pytest's code, and the report stays."""
    assert project.run("--judge-report", "report").ret == 0
    before = files(project)
    assert project.run("--judge-report", "report", "test_other.py", look).ret == 0
    assert files(project) == before


# --- a run that ends itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["mine.py", "test_recency.py", "conftest.py", "a hook"])
def test_a_run_that_ends_itself_leaves_no_report(
    project: Project, place: str, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    """os._exit(0) in a judge, a test, a conftest.py: exit code 0 that nothing can stop, no old report, a red check."""
    assert project.run("--judge-report", "report").ret == 0
    assert check(project) == 0
    if place == "a hook":
        project.write("conftest.py", "import os\n\n\ndef pytest_configure(config):\n    os._exit(0)\n")
    else:
        project.write(place, "import os\n\nos._exit(0)\n")
    assert project.run("--judge-report", "report").ret == 0
    assert not (project.path / "report" / "report.json").exists()
    assert check(project) == 2
    assert lines_about(capsys.readouterr().err, "--judge-report") == snapshot


def test_a_first_run_that_ends_itself_has_no_report_to_check(project: Project) -> None:
    """Without an earlier report, too."""
    project.write("mine.py", "import os\n\n\ndef judge(prompt):\n    os._exit(0)\n")
    assert project.run("--judge-report", "report").ret == 0
    assert check(project) == 2


# --- the check --------------------------------------------------------------------------------------------------


def test_a_check_ends_as_the_run_did(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """0, 1, 10: the exit code of the run, and a line that says so."""
    for text, code in ((RIGHT, 0), ("def judge(prompt):\n    return 'no verdict'\n", 10), (FOLLOWS, 1)):
        project.write("mine.py", text)
        ran = project.run("--judge-report", "report")
        assert ran.ret == code, ran.said
        assert check(project) == code
        assert f"exit code {code}" in capsys.readouterr().out


FOLLOWS = RIGHT.replace(
    "    return",
    '    if "2025" in prompt:\n        first = prompt.index("2025") < prompt.index("1950")\n'
    '        return json.dumps({"selected_response": 1 if first else 2, "reason": "Better."})\n    return',
)


def test_an_old_report_is_not_this_runs(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """A report that is older than --max-age, 60 minutes without it, is refused; the message has the option."""
    assert project.run("--judge-report", "report").ret == 0
    hours = time.time() - 3 * 3600
    os.utime(project.path / "report" / "report.json", (hours, hours))
    assert check(project) == 2
    assert "181 minutes old" in capsys.readouterr().err
    assert check(project, "--max-age", "200") == 0


@pytest.mark.parametrize("change", ["another run's", "missing", "no JSON", "a list"])
def test_a_report_that_is_not_of_its_results_is_refused(
    project: Project, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """report.json of another run, cut short or missing: exit code 2 with the file's name."""
    assert project.run("--judge-report", "good").ret == 0
    project.write("mine.py", FOLLOWS)
    assert project.run("--judge-report", "report").ret == 1
    file = project.path / "report" / "report.json"
    if change == "missing":
        file.unlink()
    else:
        other = (project.path / "good" / "report.json").read_text()
        file.write_text({"another run's": other, "no JSON": "{", "a list": "[]"}[change])
    assert check(project) == 2
    assert "report.json" in capsys.readouterr().err


def test_a_report_of_two_machines_can_be_checked(project: Project) -> None:
    """What `report merge` writes is a report like any other."""
    project.write("test_placebo.py", suite("placebo"))
    assert project.run("--judge-report", "one", "-k", "placebo").ret == 0
    assert project.run("--judge-report", "two", "-k", "recency").ret == 0
    folders = [str(project.path / name) for name in ("one", "two")]
    assert main(["report", "merge", *folders, "--into", str(project.path / "report")]) == 0
    assert check(project) == 0


# --- a preflight ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [(), ("--continue-on-collection-errors",), ("-x",), ("--maxfail", "5"), ("-k", "nowhere"), ("--judge", "other")],
    ids=" ".join,
)
def test_a_preflight_ends_as_a_run_does_where_a_file_cannot_be_imported(
    project: Project, options: tuple[str, ...]
) -> None:
    """pytest's own checks after the collection hold in a preflight, too."""
    project.write("test_broken.py", "import nowhere_at_all\n")
    code = project.run(*options).ret
    assert code != 0
    assert project.run("--judge-preflight", *options).ret == code


def test_the_documented_ci_checks_the_report(snapshot: SnapshotAssertion) -> None:
    """The how-to, the example's script and its two CI files run the check after the gate."""
    root = Path(__file__).parents[2]
    example = root / "examples" / "support-judge"
    pages = [root / "docs" / "how-to" / "ci.md", example / "ci" / "gate.sh", example / ".gitlab-ci.yml"]
    for page in (*pages, example / ".github" / "workflows" / "judge-gate.yml"):
        assert lines_about(page.read_text(encoding="utf-8"), "judgefixtures report") == snapshot


def test_the_script_of_the_example_is_red_without_a_report(tmp_path: Path) -> None:
    """pytest ends with 0 and leaves no report, as after os._exit(0): the script ends with 2."""
    (tmp_path / "pytest").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "pytest").chmod(0o755)
    script = Path(__file__).parents[2] / "examples" / "support-judge" / "ci" / "gate.sh"
    path = f"{tmp_path}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", script], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, check=False
    )
    assert done.returncode == 2
