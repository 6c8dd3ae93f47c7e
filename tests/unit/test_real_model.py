"""The recordings of a real model (examples/real-model) replay, and docs/real-model.md says what they come to."""

import json
import math
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
    return {
        name: gate(example, *options) for name, options in (("scores", SCORES), ("pairs", PAIRS), ("grades", GRADES))
    }


@pytest.fixture(scope="module")
def without_control(example):
    """The same recordings with `control = false`, which docs/real-model.md names, and their judgments."""
    text = (example / "pyproject.toml").read_text()
    (example / "uncontrolled.toml").write_text(text.replace("control = {pairs = 20}", "control = false"))
    named = (("scores", SCORES), ("again", AGAIN), ("pairs", PAIRS))
    return {name: gate(example, "--judge-config", "uncontrolled.toml", *options, code=None) for name, options in named}


def estimate(found, digits=2):
    return f"{found['value']:+.{digits}f} [{found['low']:+.{digits}f}, {found['high']:+.{digits}f}]"


def moved(contrast):
    """How many verdicts moved of how many, and how many of those that followed admit it."""
    car = contrast["car"]
    admitted = round(car["value"] * car["n"]) if car else 0
    return f"{contrast['vsr']['value']:+.2f}; {admitted} of {car['n'] if car else 0}"


def figures(counted, without_control):
    """Every figure of docs/real-model.md, by its name there, from report.json and judgments.jsonl alone."""
    reports = {name: json.loads(told["report.json"]) for name, (_, told) in (counted | without_control).items()}
    shifts = {
        name: {row["contrast"]: row for row in json.loads(told["report.json"])["contrasts"]}
        for name, (_, told) in without_control.items()
    }
    asked = [json.loads(line) for _, told in without_control.values() for line in told["judgments.jsonl"].splitlines()]
    scores, pairs = shifts["scores"], shifts["pairs"]
    controls = {name: json.loads(counted[name][1]["report.json"])["controls"][0] for name in ("scores", "pairs")}
    first = pairs["position-no-cue"]["first_selection_rate"]
    del reports, first
    odds = {
        name: {k: math.exp(row["log_odds_shift"][k]) for k in ("value", "low", "high")} for name, row in pairs.items()
    }
    kinds = Counter(row["invalid"] for row in asked if row["invalid"])
    return {"control": controls, "odds": odds, "kinds": kinds, "scores": scores}
