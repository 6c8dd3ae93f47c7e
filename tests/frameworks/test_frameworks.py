"""A judge of each framework: its planted shift is measured to the pair, and a replay needs no framework.

`make frameworks` makes a virtual environment for each framework. A framework without one is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from framework_judges import JUDGES, PREAMBLE
from loopback import serving

VENVS = Path(os.environ.get("JUDGEFIXTURES_FRAMEWORKS", Path(__file__).parents[2] / ".venv-frameworks"))
EXAMPLES = 40
SUITE = """
import pytest

pytestmark = pytest.mark.judge_family("recency")


def test_recency(judge, pairs, contrast, gate):
    gate.check(judge, pairs, contrast)
"""


def project(folder: Path, framework: str) -> None:
    """Write a project with a judge of a framework."""
    code, more = JUDGES[framework]
    (folder / "evals.py").write_text(PREAMBLE + code)
    rows = ({"id": f"e{n:03}", "question": "Why?", "response": f"Because, example no {n}."} for n in range(EXAMPLES))
    (folder / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "test_recency.py").write_text(SUITE)
    (folder / "pyproject.toml").write_text(
        f"""
[tool.pytest.ini_options]
pythonpath = ["."]
[tool.judgefixtures]
control = false
dataset = ["own"]
judge = "ours"
[tool.judgefixtures.datasets.own]
path = "own.jsonl"
[tool.judgefixtures.judges.ours]
provider = "{framework}"
target = "evals:judge"
{more}
"""
    )


def run(python: Path, folder: Path, *options: str, url: str = "") -> str:
    """Run the gate and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COVERAGE"))}
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true", "HAYSTACK_TELEMETRY_ENABLED": "False"}
    environment |= {**quiet, "LOOPBACK": url}
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("framework", JUDGES)
def test_a_judge_of_a_framework_is_gated(framework: str, tmp_path: Path) -> None:
    """The shift of +0.30 is found to the pair, and a replay without the framework writes the same report."""
    python = VENVS / framework / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no {python}: make frameworks")
    project(tmp_path, framework)
    with serving() as server:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        options = ("--judge-record", "missing", "--judge-report", "recorded")
        said = run(python, tmp_path, *options, url=url)
        assert (tmp_path / "recorded" / "report.json").exists(), said
    for name in ("replayed", "again"):
        run(Path(sys.executable), tmp_path, "--judge-report", name)
    report = json.loads((tmp_path / "recorded" / "report.json").read_text())
    (row,) = report["contrasts"]
    assert row["vsr"] is not None, said
    assert (row["vsr"]["value"], row["vsr"]["n"]) == (pytest.approx(0.3), EXAMPLES), said
    for name in ("report.json", "report.md"):
        assert (tmp_path / "replayed" / name).read_bytes() == (tmp_path / "recorded" / name).read_bytes()
    assert (tmp_path / "replayed" / "report.html").read_bytes() == (tmp_path / "again" / "report.html").read_bytes()
    lines = (tmp_path / "cassettes" / "ours" / "own" / "recency-new.jsonl").read_text().splitlines()
    assert framework in json.loads(lines[0])["judge"]["packages"]


def test_a_grade_that_inspect_did_not_find_is_invalid(tmp_path: Path) -> None:
    """What a framework returns for an answer that it could not read is no fail."""
    python = VENVS / "inspect-ai" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no {python}: make frameworks")
    project(tmp_path, "inspect-ai")
    with serving(in_words="I cannot say.") as server:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        run(python, tmp_path, "--judge-record", "missing", "--judge-report", "recorded", url=url)
    (row,) = json.loads((tmp_path / "recorded" / "report.json").read_text())["contrasts"]
    assert (row["n"], row["invalid_pairs"]) == (0, EXAMPLES)
