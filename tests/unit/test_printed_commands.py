"""Commands that are printed, run exactly as printed, wherever pytest's settings lie and wherever one stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.forked import completed, run_module
from support.project import suite
from support.rendered import lines_about
from support.server import Server, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cli.scaffold import write_scaffold

pytestmark = pytest.mark.whole

INI = "[pytest]\nfilterwarnings = ignore\n"
# Which files with settings of pytest's there are in a monorepo whose part `pkg` gates a judge: file and content.
LAYOUTS = {
    "none": {},
    "tests-pytest-ini": {"pkg/tests/pytest.ini": INI},
    "tests-tox-ini": {"pkg/tests/tox.ini": INI},
    "tests-setup-cfg": {"pkg/tests/setup.cfg": "[tool:pytest]\n"},
    "judge-pytest-ini": {"pkg/tests/judge/pytest.ini": INI},
    "root-pytest-ini": {"pytest.ini": INI},
    "root-pyproject": {"pyproject.toml": "[tool.pytest.ini_options]\n"},
    "root-setup-cfg": {"setup.cfg": "[tool:pytest]\n"},
    "root-testpaths": {"pytest.ini": f"{INI}testpaths = pkg/tests\n"},
    "own-pytest-ini": {"pkg/pytest.ini": INI},
    "elsewhere": {"ci/pytest.ini": INI},
}


def ran(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of pytest as a shell would."""
    program, *words = shlex.split(command)
    assert program == "pytest"
    return completed(run_module("pytest", folder, *words, environment={**os.environ, "OPENAI_API_KEY": "none"}))


@pytest.fixture
def server() -> Iterator[Server]:
    """Serve a judge that always prefers the first response."""
    said = json.dumps({"reason": "It is clear.", "selected_response": 1})
    with serving(by=lambda asked: asked.answered(said)) as made:
        yield made


def repository(root: Path, server: Server, layout: str) -> Path:
    """Return a part of a monorepo with a judge, a dataset and a judge test, and settings of pytest's in a layout."""
    pkg = root / "pkg"
    (pkg / "tests" / "judge").mkdir(parents=True)
    (root / "ci").mkdir()
    (pkg / "tests" / "judge" / "test_recency.py").write_text(suite("recency"))
    rows = [{"id": f"p{n}", "question": f"Why {n}?", "response_1": "So.", "response_2": "No."} for n in range(3)]
    (pkg / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (pkg / "pyproject.toml").write_text(
        "[tool.judgefixtures]\ncontrol = false\njudge = 'j'\ndataset = ['own']\ncollect = 'named'\n"
        f"[tool.judgefixtures.judges.j]\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{server.url}/v1'\n"
        "[tool.judgefixtures.datasets.own]\npath = 'own.jsonl'\n"
    )
    for name, text in LAYOUTS[layout].items():
        (root / name).write_text(text)
    return pkg


STARTS = {
    "in-the-part": ("pkg", "pytest tests/judge -k recency"),
    "at-the-root": (".", "pytest pkg/tests/judge -k recency"),
    "in-the-tests": ("pkg/tests/judge", "pytest -k recency"),
    "elsewhere": ("ci", "pytest ../pkg/tests/judge -k recency"),
    "rootdir": ("pkg", "pytest --rootdir . tests/judge -k recency"),
}


@pytest.mark.parametrize("started", STARTS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_message_says_records_is_what_replays(
    tmp_path: Path, server: Server, layout: str, started: str, snapshot: SnapshotAssertion
) -> None:
    """The table is in force, and the command of the message records what the first command lacked."""
    repository(tmp_path, server, layout)
    place, command = STARTS[started]
    if layout == "elsewhere":
        command = command.replace(
            "pytest ", f"pytest -c {os.path.relpath(tmp_path / 'ci/pytest.ini', tmp_path / place)} "
        )
    first = ran(tmp_path / place, command)
    assert lines_about(first.stdout, "'own'") == snapshot
    printed = re.search(r"Record: (pytest .*--judge-record missing)", first.stdout)
    assert printed is not None, first.stdout
    done = ran(tmp_path / place, f"{printed[1]} --judge-force -k recency")
    assert "recorded: j" in done.stdout, f"{printed[1]}\n{done.stdout}{done.stderr}"
    assert len(server.asked) == 6
    assert (tmp_path / "pkg" / "cassettes" / "j" / "own").is_dir()
    again = ran(tmp_path / place, command)
    assert "no recording for" not in again.stdout


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_step_of_init_finds_its_own_table(
    tmp_path: Path, server: Server, layout: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """Each command that `init` prints collects the judge tests of the folder and its judge, as it is printed."""
    pkg = repository(tmp_path, server, layout)
    (pkg / "tests" / "judge" / "test_recency.py").unlink()
    (pkg / "pyproject.toml").unlink()
    monkeypatch.chdir(pkg)
    commands = [line.partition("  #")[0] for line in write_scaffold(pkg).next if line.startswith("pytest ")]
    assert len(commands) == 5
    preflight = ran(pkg, commands[0])
    assert "at most" in preflight.stdout, preflight.stdout + preflight.stderr
    assert "production" in preflight.stdout
    gate = ran(pkg, commands[2])
    assert lines_about(gate.stdout, "'production'") == snapshot


def test_a_table_below_the_rootdir_is_named(tmp_path: Path, server: Server, snapshot: SnapshotAssertion) -> None:
    """Where nothing of the command leads to the table, the message names its folder, and what it says works."""
    pkg = repository(tmp_path, server, "root-pytest-ini")
    pyproject = pkg / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("collect = 'named'\n", ""))
    bare = ran(tmp_path, "pytest -k recency")
    told = re.search(r"--rootdir=\S+", bare.stdout + bare.stderr)
    assert told is not None, bare.stdout + bare.stderr
    assert lines_about(ran(tmp_path, f"pytest {told[0]} -k recency").stdout, "recording for") == snapshot
