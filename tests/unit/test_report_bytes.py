"""What the shipped recordings amount to is the same to the last byte, whichever process reads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
RUNS = {
    "cues": [
        "-k",
        "(house-close and cue and not stories) or (house-qa and (accuracy or position or attack))",
        "--judge",
        "simulated-candid",
        "--judge",
        "simulated-gpt-4o",
    ],
    "plans": ["-k", "house-stories and (plan or verbosity)", "--judge", "simulated-verbose-prepared"],
    "swap": [
        "-k",
        "swap and (house-close-recency or house-qa-accuracy)",
        "--judge",
        "simulated-candid",
        "--judge-baseline",
        "simulated-gpt-4o",
    ],
}


def files(options: list[str], folder: Path, seed: str) -> dict[str, bytes]:
    """Return the files of a report that a process of its own makes, with sets and mappings in an order of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--judge-report", str(folder)]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": "1790000000"}
    ran = subprocess.run(
        [*command, *options], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert (folder / "report.json").exists(), ran.stdout + ran.stderr
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.whole
@pytest.mark.parametrize("name", RUNS)
def test_two_processes_write_the_same_bytes(name: str, tmp_path: Path) -> None:
    """Every file of the report is the one that another process writes of the same recordings."""
    one, other = (files(RUNS[name], tmp_path / seed, seed) for seed in ("1", "2"))
    assert [file for file in one | other if one.get(file) != other.get(file)] == []
