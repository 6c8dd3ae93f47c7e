"""CPU time of a whole replayed gate per judgment, as a ratio to the SDK's own time on an in-memory transport.

A judge is recorded over HTTP on 400 pairs in the 14 arms of recency and provenance, and gated by pytest with a
report: process, plugin, recordings, detection, statistics and files; so is a judge of one response on 400 examples. Its
contrasts share arms, and are replayed one by one. All figures are measured in turn, in one run.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from replay import in_memory, pairs_of, sdk, timed

from judgefixtures.judges.judge import load_judge
from judgefixtures.models.contrasts import NO_CUE
from judgefixtures.models.pairs import pair_to_row
from judgefixtures.simulator.server import serving
from judgefixtures.sources import Source, load_pairs

RUNS = 5
SUITE = Path(__file__).parents[1] / "tests" / "judge"
CONFIGURATION = """
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:cassetter"]

[tool.judgefixtures]
judge = "bench"
dataset = ["own"]

[tool.judgefixtures.judges.bench]
extends = "{judge}"
base_url = "{url}/v1"

[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is gated: which simulated judge, the house set that its texts are of, how many, in how many conditions."""

    judge: str
    source: str
    count: int
    conditions: int

    @property
    def judgments(self) -> int:
        """How many answers a gate replays, the control aside."""
        return self.count * self.conditions


PAIRS = Bench("simulated-noisy", "house-qa", 400, 14)
EXAMPLES = Bench("simulated-grader-noisy", "house-answers", 400, 14)


def project(folder: Path, url: str, bench: Bench = PAIRS) -> None:
    """Write a repository whose judge the simulator is, with texts of a house set as often as it takes."""
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(CONFIGURATION.format(url=url, judge=bench.judge))
    house = load_pairs(Source(bench.source))
    with (folder / "pairs.jsonl").open("w") as file:
        for number in range(bench.count):
            row = pair_to_row(house[number % len(house)])
            asked = f"{row['question']} {'Please. ' * (number // len(house))}".strip()
            row |= {"id": f"p{number:04d}", "question": asked}
            file.write(json.dumps(row) + "\n")
    for name in ("recency", "provenance"):
        shutil.copy(SUITE / f"test_{name}.py", folder)


def pytest_seconds(folder: Path, *arguments: str) -> float:
    """Return the CPU seconds of a pytest run and the processes that it started."""
    before = os.times()
    command = [sys.executable, "-m", "pytest", "-q", "--judge-report", "report", *arguments]
    ended = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL)
    if ended.returncode not in (0, 1):  # a noisy judge may well fail
        raise SystemExit(f"pytest ended with {ended.returncode} in {folder}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def rows() -> Iterator[str]:
    """Yield the lines of the report."""
    judge = load_judge({"provider": "openai", "model": "m"})
    prompts = [judge.prompt(pair, NO_CUE) for pair in pairs_of(400)]
    with tempfile.TemporaryDirectory() as scratch, serving() as server:
        folders = {bench: Path(scratch) / bench.judge for bench in (PAIRS, EXAMPLES)}
        for bench, folder in folders.items():
            project(folder, server.url, bench)
            pytest_seconds(folder, "--judge-record", "missing")
        floors, gates = [], defaultdict(list)
        for _ in range(RUNS):
            floors.append(asyncio.run(timed(sdk("openai", server.url, in_memory("openai")), prompts)))
            for bench, folder in folders.items():
                gates[bench].append(1000 * pytest_seconds(folder) / bench.judgments)
    floor, gate, graded = min(floors), min(gates[PAIRS]), min(gates[EXAMPLES])
    yield f"SDK on an in-memory transport  {floor:.3f} ms per call"
    yield f"a gate of {PAIRS.judgments} judgments   {gate:.3f} ms per judgment, everything included: {gate / floor:.2f}"
    yield f"a gate of {EXAMPLES.judgments} grades      {graded:.3f} ms per grade, {graded / gate:.2f} of a verdict"


if __name__ == "__main__":
    for line in rows():
        sys.stdout.write(f"{line}\n")
