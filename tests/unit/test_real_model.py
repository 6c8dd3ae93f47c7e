"""The recordings of a real model (examples/real-model) replay, and docs/real-model.md says what they come to."""

import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "real-model"
SCORES = ("--judge", "smollm2-scores", "-k", "recency or human-llm")
AGAIN = ("--judge", "smollm2-scores", "--judge-pairs", "30", "--judge-repeats", "2", "-k", "repeat")
CHOSEN = "(recency or expert-unknown or human-llm or position) and not four_cells"
PAIRS = ("--judge", "smollm2-pairs", "--judge-pairs", "60", "-k", CHOSEN)
GRADES = ("--judge", "smollm2-grades", "-k", "recency")
REPORTED = ("report.json", "judgments.jsonl", "report.md")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A copy of the example, so that the checkout stays as it is."""
    return shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("real") / "real-model")


def gate(example, *options, before=(), code=1):
    """Gate in the example's folder and return what was reported."""
    report = example / "report"
    command = [*before, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--judge-report={report}"]
    done = subprocess.run([*command, *options], cwd=example, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) if code is None else done.returncode == code, done.stdout + done.stderr
    return done.stdout, {name: (report / name).read_bytes() for name in REPORTED}


@pytest.fixture(scope="module")
def counted(example):
    """What the replays report of each judge as it is configured."""
    return {name: gate(example, *options) for name, options in (("scores", SCORES), ("pairs", PAIRS), ("grades", GRADES))}


@pytest.fixture(scope="module")
def without_control(example):
    """The same recordings with `control = false`, which docs/real-model.md names, and their judgments."""
    text = (example / "pyproject.toml").read_text()
    (example / "uncontrolled.toml").write_text(text.replace("control = {pairs = 20}", "control = false"))
    named = (("scores", SCORES), ("again", AGAIN), ("pairs", PAIRS))
    return {name: gate(example, "--judge-config", "uncontrolled.toml", *options, code=None) for name, options in named}
