"""The workflows of this repository and of the example: what they may do, and that each of their commands does it.

A command that needs the network or minutes is listed with its reason; every other one is run in a copy, offline, in
the order of its job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.pages import EXAMPLE, REPOSITORY, Command, assert_done, clone, run

OURS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = [*OURS, *sorted((EXAMPLE / ".github" / "workflows").glob("*.yml"))]
GITLAB = EXAMPLE / ".gitlab-ci.yml"
SCRIPT = "ci/gate.sh"
GATE = 'pytest tests/judge -k "cue or position"'
NOT_RUN = {
    "python -m pip install --constraint constraints.txt --editable '.[dev]'": "asks an index",
    "python -m pip install --constraint constraints.txt hatchling": "asks an index",
    "ruff check .": "`make test` has just done it",
    "ruff format --check .": "`make test` has just done it",
    "mypy": "`make test` has just done it",
    "make docs": "asks an index; test_site.py builds the site",
    "pytest -n auto tests/unit tests/judge": "takes ten minutes, and runs this test",
    f'{GATE} --judge-record all --judge-max-cost "$MAX_COST"': "asks a provider; test_examples.py",
    "judgefixtures canary --judge production --max-cost 1": "asks a provider; test_canary.py",
}


def read(workflow: Path) -> dict[str, Any]:
    """Return a workflow; YAML reads its key `on` as true."""
    found: dict[Any, Any] = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in found.items()}


def steps(workflow: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each step of a workflow with the name of its job."""
    for name, job in read(workflow)["jobs"].items():
        for step in job["steps"]:
            yield name, step


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_and_no_more(workflow: Path) -> None:
    """It may read the contents, no job asks for more, and a pull request's code never runs with the base's rights."""
    found = read(workflow)
    assert found["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in found["jobs"].values())
    assert {*found["on"]} <= {"push", "pull_request", "workflow_dispatch", "schedule"}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_pull_request_is_given_no_secret(workflow: Path) -> None:
    """A job that names a secret runs only by hand or by the clock, and nothing outside of jobs names one."""
    found = read(workflow)
    if {*found["on"]} <= {"schedule", "workflow_dispatch"}:
        return  # it runs the default branch, or what somebody with the right to do so starts
    jobs = found.pop("jobs")
    assert "secrets" not in str(found)
    by_hand = {name for name, job in jobs.items() if job.get("if") == "github.event_name == 'workflow_dispatch'"}
    assert {name for name, job in jobs.items() if "secrets." in str(job)} <= by_hand


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_a_major_version(workflow: Path) -> None:
    """Every action is GitHub's own, at one major version, the same one everywhere."""
    used = [step["uses"] for _, step in steps(workflow) if "uses" in step]
    assert used
    assert [each for each in used if not re.fullmatch(r"actions/[a-z/-]+@v\d+", each)] == []
    everywhere = {step["uses"] for each in WORKFLOWS for _, step in steps(each) if "uses" in step}
    assert len({each.partition("@")[0] for each in everywhere}) == len(everywhere)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_no_command_holds_an_expression(workflow: Path) -> None:
    """An expression inside of a command would be a way in for whoever chooses its value."""
    assert [step for _, step in steps(workflow) if "${{" in step.get("run", "")] == []


def test_every_python_that_is_promised_is_tried() -> None:
    """The gate and the unit tests run on the versions of pyproject.toml's classifiers."""
    promised = re.findall(r"Python :: (3\.\d+)\"", (REPOSITORY / "pyproject.toml").read_text())
    jobs = read(OURS[0])["jobs"]
    assert promised
    assert jobs["gate"]["strategy"]["matrix"]["python"] == promised
    assert jobs["unit"]["strategy"]["matrix"]["python"] == promised


def test_the_checks_are_those_of_make() -> None:
    """CI checks what `make test` does: lint, format and types, word for word."""
    checks = [step["run"] for name, step in steps(OURS[0]) if name == "lint" and "run" in step][1:]
    assert " && ".join(checks) in (REPOSITORY / "Makefile").read_text()


def test_a_report_is_kept_whatever_the_gate_says() -> None:
    """Every job that writes a report uploads its folder, also after a failure; there is one wherever the gate runs."""
    for workflow in WORKFLOWS:
        if not any("pytest" in step.get("run", "") for _, step in steps(workflow)):
            continue
        writing = {name for name, step in steps(workflow) if "--judge-report report" in step.get("run", "")}
        kept = {
            name
            for name, step in steps(workflow)
            if "upload-artifact" in step.get("uses", "")
            and step["with"]["path"].endswith("report")
            and step["if"] == "always()"
        }
        assert writing == kept != set()


def test_what_is_not_run_is_there() -> None:
    """The list of exceptions names nothing that has left the workflows."""
    assert {*NOT_RUN} <= {step.get("run") for workflow in WORKFLOWS for _, step in steps(workflow)}


# --- GitLab and a plain shell -----------------------------------------------------------------------------


def gitlab() -> dict[str, Any]:
    """Return the jobs of the example's pipeline on GitLab, as PyYAML reads them."""
    found: dict[str, Any] = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))
    assert found.pop("default")["before_script"] == ["pip install wheels/judgefixtures-*.whl"]
    return found


def test_on_gitlab_only_the_gate_runs_for_a_merge_request() -> None:
    """What asks a provider starts by hand or by the clock; no job names a key, which is the project's setting."""
    jobs = gitlab()
    started = {name: [rule["if"].split()[-1].strip('"') for rule in job["rules"]] for name, job in jobs.items()}
    assert started == {"judge-gate": ["merge_request_event"], "judge-record": ["web"], "judge-canary": ["schedule"]}
    assert jobs["judge-record"]["rules"][0]["when"] == "manual"
    assert "KEY" not in str(jobs)


def test_gitlab_runs_the_commands_of_github() -> None:
    """The gate, the recording and the canary are the same commands on both, and the report is kept whatever it says."""
    jobs = gitlab()
    scripts = [command for job in jobs.values() for command in job["script"]]
    assert scripts[0] == f"{GATE} --judge-report report --junitxml=report/junit.xml"
    theirs = {step.get("run") for workflow in WORKFLOWS for _, step in steps(workflow)}
    assert {scripts[0].removesuffix(" --junitxml=report/junit.xml"), *scripts[1:]} <= theirs
    kept = jobs["judge-gate"]["artifacts"]
    assert (kept["when"], kept["paths"], kept["reports"]) == ("always", ["report/"], {"junit": "report/junit.xml"})


@pytest.mark.parametrize(
    ("code", "says"), [(0, "passed"), (1, "failed"), (10, "not measured"), (11, "nothing was decided"), (4, "with 4")]
)
def test_the_script_ends_as_the_gate_does(code: int, says: str, tmp_path: Path) -> None:
    """Whatever pytest's exit code is, it is the script's, and is told in a sentence; the report of a 0 is checked."""
    for program, ends in (("pytest", code), ("judgefixtures", 0)):
        (tmp_path / program).write_text(f"#!/bin/sh\nexit {ends}\n")
        (tmp_path / program).chmod(0o755)
    done = run(f"PATH={tmp_path}:$PATH {EXAMPLE / SCRIPT}", tmp_path)
    assert done.returncode == code
    assert says in (done.stdout if code == 0 else done.stderr)


@pytest.mark.slow
@pytest.mark.whole
def test_every_command_runs_in_a_copy(tmp_path: Path) -> None:
    """Each job's commands, in their order; the wheel that one of them builds is what the example is gated with.

    Offline, pip installs into a folder of its own, without what the wheel depends on: that is in this environment.
    """
    copy, installed = clone(tmp_path / "judgefixtures"), tmp_path / "installed"
    offline = {
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_TARGET": str(installed),
        "PIP_UPGRADE": "1",
        "PYTHONPATH": str(installed),
    }
    for workflow in WORKFLOWS:
        root = copy / workflow.relative_to(REPOSITORY).parents[2]
        for _, step in steps(workflow):
            if "run" in step and step["run"] not in NOT_RUN:
                done = run(step["run"], root / step.get("working-directory", "."), **offline)
                assert_done(Command(step["run"]), done)
    example = copy / EXAMPLE.relative_to(REPOSITORY)
    for command in (gitlab()["judge-gate"]["script"][0], SCRIPT):
        assert_done(Command(command), run(command, example, **offline))
    where = run('python -c "import judgefixtures.plugin as p; print(p.__file__)"', example, **offline)
    assert where.stdout.startswith(str(installed))
    for report in (copy / "report", example / "report"):
        assert (report / "report.json").is_file()
