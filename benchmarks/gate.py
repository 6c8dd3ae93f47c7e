"""CPU time of a whole replayed gate per judgment, as a ratio to the SDK's own time on an in-memory transport.

A judge is recorded over HTTP on PAIRS pairs in the 14 conditions of recency and provenance, and gated by pytest with a
report: process, plugin, recordings, detection, statistics and files. Both figures are measured in turn, in one run.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from replay import in_memory, pairs_of, sdk, timed

from judgefixtures.asking.judges import load_judge
from judgefixtures.material.contrasts import NO_CUE
from judgefixtures.material.pairs import as_row
from judgefixtures.simulator.server import serving
from judgefixtures.sources import Source, load_pairs

PAIRS, CONDITIONS, RUNS = 400, 14, 5
SUITE = Path(__file__).parents[1] / "tests" / "judge"
CONFIGURATION = """
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:cassetter"]

[tool.judgefixtures]
judge = "bench"
dataset = ["own"]

[tool.judgefixtures.judges.bench]
extends = "simulated-noisy"
base_url = "{url}/v1"

[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
"""


def project(folder: Path, url: str) -> None:
    """Write a repository whose judge the simulator is, with as many pairs as four of the house set."""
    (folder / "pyproject.toml").write_text(CONFIGURATION.format(url=url))
    house = load_pairs(Source("house-qa"))
    with (folder / "pairs.jsonl").open("w") as file:
        for number in range(PAIRS):
            row = as_row(house[number % len(house)])
            asked = f"{row['question']} {'Please. ' * (number // len(house))}".strip()
            row |= {"id": f"p{number:04d}", "question": asked}
            file.write(json.dumps(row) + "\n")
    for name in ("recency", "provenance"):
        shutil.copy(SUITE / f"test_{name}.py", folder)


def pytest_seconds(folder: Path, *arguments: str) -> float:
    """Return the CPU seconds of a pytest run and the processes that it started."""
    before = os.times()
    command = [sys.executable, "-m", "pytest", "-q", "--judge-report", "report", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def rows() -> Iterator[str]:
    """Yield the lines of the report."""
    judgments = PAIRS * CONDITIONS
    judge = load_judge({"provider": "openai", "model": "m"})
    prompts = [judge.prompt(pair, NO_CUE) for pair in pairs_of(400)]
    with tempfile.TemporaryDirectory() as scratch, serving() as server:
        folder = Path(scratch)
        project(folder, server.url)
        pytest_seconds(folder, "--judge-record", "missing")
        floors, gates = [], []
        for _ in range(RUNS):
            floors.append(asyncio.run(timed(sdk("openai", server.url, in_memory("openai")), prompts)))
            gates.append(1000 * pytest_seconds(folder) / judgments)
    floor, gate = min(floors), min(gates)
    yield f"SDK on an in-memory transport  {floor:.3f} ms per call"
    yield f"a gate of {judgments} judgments   {gate:.3f} ms per judgment, everything included: {gate / floor:.2f}"


if __name__ == "__main__":
    for line in rows():
        sys.stdout.write(f"{line}\n")
