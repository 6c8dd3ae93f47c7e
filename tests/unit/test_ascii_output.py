"""Output that cannot show every text: ASCII, the C locale, code pages; a text is escaped, and the exit code stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

NARROW: dict[str, Mapping[str, str]] = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "posix": {"LC_ALL": "C"},
}
NAME = "日本—é"
LOG = [
    {"id": f"{NAME}{n}", "question": "Why?", "response": f"So {NAME}.", "passed": n % 2 == 0, "reason": NAME}
    for n in range(4)
]


def ran(folder: Path, narrow: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program whose output has a narrow encoding; without one where `narrow` is empty."""
    unset = ("PYTHONIOENCODING", "PYTHONUTF8", "LC_ALL", "LANG")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= NARROW.get(narrow, {"PYTHONUTF8": "1"})
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a log, and a configuration whose names have letters that few encodings have."""
    (tmp_path / f"{NAME}.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in LOG))
    (tmp_path / "broken.jsonl").write_text(f'{{"{NAME}": 1}}\n', encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.judgefixtures]\njudge = 'j'\ndataset = ['own']\ncontrol = false\n"
        "[tool.judgefixtures.judges.j]\nprovider = 'imported'\nmode = 'binary'\n"
        f"[tool.judgefixtures.datasets.own]\npath = '{NAME}.jsonl'\n",
        encoding="utf-8",
    )
    (tmp_path / "test_judge.py").write_text(
        "import pytest\n\n\n@pytest.mark.judge_agreement\ndef test_agreement(judge, pairs, gate):\n"
        "    gate.check(judge, pairs)\n"
    )
    return tmp_path


COMMANDS = [
    ("judgefixtures", "import", f"{NAME}.jsonl", "--judge", "k", "--dataset", "log"),
    ("judgefixtures", "import", "broken.jsonl", "--judge", "k"),
    ("judgefixtures", "import", f"nowhere-{NAME}.jsonl", "--judge", "k"),
    ("judgefixtures", "init", NAME),
    ("judgefixtures", "label", NAME, "--by", "anna"),
    ("judgefixtures", "cassettes", "merge", NAME),
    ("judgefixtures", "report", "merge", NAME, "--into", "x"),
    ("judgefixtures", "report", "compare", NAME, NAME),
    ("judgefixtures", "canary", "--judge", NAME),
    ("judgefixtures", "paper", "--into", NAME, "--judge", NAME),
    ("judgefixtures", NAME),
    ("pytest", "-p", "no:cacheprovider", "-k", "agreement", "--judge", "j", "--judge-report", NAME),
    ("pytest", "-p", "no:cacheprovider", "--judge", NAME),
    ("pytest", "-p", "no:cacheprovider", "--judge", "j", "--judge-preflight"),
]


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: "-".join(words[:3]).encode("ascii", "replace").decode())
def test_a_command_ends_as_it_does_with_wide_output(folder: Path, narrow: str, command: tuple[str, ...]) -> None:
    """Whatever a message quotes: no traceback, and the same exit code as where everything can be shown."""
    wide = ran(folder, "", *command)
    for file in folder.glob("cassettes/k/*/*"):
        file.unlink()
    done = ran(folder, narrow, *command)
    assert "UnicodeEncodeError" not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == wide.returncode, done.stdout + done.stderr
