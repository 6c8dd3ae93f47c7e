"""The example project: it does what its README says, command by command, and its workflow does the same.

Everything runs in a copy, offline; the simulated judges listen on a free port in place of the README's. The commands
of its workflow are run in test_workflows.py.
"""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.pages import EXAMPLE, Command, assert_done, blocks, clone, run

from judgefixtures.report.outcome import NOT_MEASURED
from judgefixtures.starter import SUITE, start

pytestmark = pytest.mark.whole

WORKFLOW = EXAMPLE / ".github" / "workflows" / "judge-gate.yml"


def commands(page: Path = EXAMPLE / "README.md") -> list[Command]:
    """Return the commands of the README, or of a copy of it."""
    return [command for block in blocks(page) for command in block.commands if block.language == "console"]


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, without what running Python leaves there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", ".pytest_cache", "report"} & {*path.parts}
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, with a port that is free on this machine."""
    folder = clone(tmp_path_factory.mktemp("example") / "support-judge", EXAMPLE)
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    for name in ("pyproject.toml", "README.md"):
        file = folder / name
        file.write_text(file.read_text().replace("8080", str(port)))
    return folder


def test_the_readme_gates_records_and_swaps() -> None:
    """What the README promises to show is among its commands, and nothing else is parsed as one."""
    found = [command.line for command in commands()]
    assert len(found) == 6
    assert sum("--judge-record" in command for command in found) == 3
    assert sum("swap" in command for command in found) == 2


def undated(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return files without the day on which a recording was made: what is recorded again has today's."""
    return {name: re.sub(rb',"recorded":"[0-9-]+"', b"", content) for name, content in files.items()}


@pytest.mark.slow
def test_every_command_of_the_readme(project: Path) -> None:
    """Run in order, each ends with the code that the README gives, and recording the same again changes no byte."""
    before = tree(project)
    for command in commands(project / "README.md"):
        done = run(command.line, project)
        assert_done(command, done)
        if command.code:
            assert "decision: REJECT" in done.stdout
    assert undated(tree(project)) == undated(before)


@pytest.mark.slow
def test_the_gate_needs_recordings(project: Path) -> None:
    """The gate replays and does not ask: without the recordings it fails, and says which command records."""
    (project / "cassettes").rename(project / "away")
    try:
        done = run(commands()[0].line, project)
    finally:
        (project / "away").rename(project / "cassettes")
    assert done.returncode == NOT_MEASURED
    assert "--judge-record missing" in done.stdout


def test_the_modules_are_those_of_init(tmp_path: Path) -> None:
    """The example's tests are what `init` writes, byte for byte."""
    start(tmp_path)
    assert tree(EXAMPLE / SUITE) == tree(tmp_path / SUITE)


def steps(job: str) -> list[dict[str, Any]]:
    """Return the steps of a job of the workflow."""
    return yaml.safe_load(WORKFLOW.read_text())["jobs"][job]["steps"]


def test_the_workflow_gates_on_a_pull_request() -> None:
    """Its gate is the README's, with a report."""
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert {"pull_request", "workflow_dispatch"} == set(workflow[True])  # YAML reads the key `on` as true
    (command,) = [step["run"] for step in steps("gate") if step.get("run", "").startswith("pytest")]
    assert command == f"{commands()[0].line} --judge-report report"


def test_the_workflow_records_by_hand_alone() -> None:
    """The recording job runs only when it is started by hand, with the key as a secret and a limit to what it costs."""
    workflow = yaml.safe_load(WORKFLOW.read_text())
    record = workflow["jobs"]["record"]
    assert record["if"] == "github.event_name == 'workflow_dispatch'"
    (step,) = [step for step in record["steps"] if step.get("run", "").startswith("pytest")]
    assert "--judge-record all --judge-max-cost" in step["run"]
    assert step["env"]["OPENAI_API_KEY"] == "${{ secrets.OPENAI_API_KEY }}"
