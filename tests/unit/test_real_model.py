"""The recordings of a real model (examples/real-model) replay, and examples/real-model/README.md says what they come to."""

import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.forked import completed, run_module

pytestmark = pytest.mark.whole  # runs programs

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
    words = ["-p", "no:cacheprovider", f"--judge-report={report}", *options]
    if before:
        command = [*before, sys.executable, "-m", "pytest", *words]
        done = subprocess.run(command, cwd=example, capture_output=True, text=True, check=False)
    else:
        done = completed(run_module("pytest", example, *words))
    assert done.returncode in (0, 1, 10) if code is None else done.returncode == code, done.stdout + done.stderr
    return done.stdout, {name: (report / name).read_bytes() for name in REPORTED}


@pytest.fixture(scope="module")
def counted(example):
    """What the replays say and report of each judge as it is configured."""
    named = (("scores", SCORES), ("pairs", PAIRS), ("grades", GRADES))
    return {name: gate(example, *options) for name, options in named}


@pytest.fixture(scope="module")
def uncounted(example):
    """What the same recordings report with `control = false`, as examples/real-model/README.md has it."""
    text = (example / "pyproject.toml").read_text()
    (example / "uncontrolled.toml").write_text(text.replace("control = {pairs = 20}", "control = false"))
    named = (("scores", SCORES), ("again", AGAIN), ("pairs", PAIRS))
    return {name: gate(example, "--judge-config", "uncontrolled.toml", *options, code=None) for name, options in named}


def estimate(found, form="+.2f"):
    return f"{found['value']:{form}} [{found['low']:{form}}, {found['high']:{form}}]"


def admitted(row):
    car = row["car"]
    return f"{estimate(row['vsr'])}; {round(car['value'] * car['n'])} of {car['n']}"


def odds(row):
    told = {key: math.exp(row["log_odds_shift"][key]) for key in ("value", "low", "high")}
    return f"{estimate(told, '.2f')} of {row['n']} pairs"


def figures(counted, uncounted):
    """Every figure of examples/real-model/README.md, by its name there, from report.json and judgments.jsonl alone."""
    controls = {name: json.loads(told["report.json"])["controls"][0] for name, (_, told) in counted.items()}
    rows = {
        name: {row["contrast"]: row for row in json.loads(told["report.json"])["contrasts"]}
        for name, (_, told) in uncounted.items()
    }
    judgments = {
        name: [json.loads(line) for line in told["judgments.jsonl"].splitlines()]
        for name, (_, told) in uncounted.items()
    }
    chosen = [row["selected_response"] for row in judgments["pairs"] if row["condition"] in ("no-cue", "no-cue-21")]
    known = [choice for choice in chosen if choice]
    scores, pairs = rows["scores"], rows["pairs"]
    human, recent = scores["provenance-human-llm"], scores["recency-new-old"]
    cut = {name: Counter(row["invalid"] for row in judgments[name]) for name in ("scores", "pairs")}
    return {
        "scores: control, right of clear pairs": f"{controls['scores']['right_both_orders']} of {controls['scores']['n']}",
        "scores: points for a human author over a model": f"{estimate(human['score_shift'])} of 9, {human['n']} pairs",
        "the same in verdicts; reasons of these that admit it": admitted(human),
        "scores: points for a new date over an old one": f"{estimate(recent['score_shift'])} of 9, {recent['n']} pairs",
        "the same in verdicts; reasons that admit it": admitted(recent),
        "scores: points when asked again": estimate(rows["again"]["repeat-no-cue-1"]["score_shift"]),
        "pairs: control, right of clear pairs": f"{controls['pairs']['right_both_orders']} of {controls['pairs']['n']}",
        "pairs: what stands first is chosen": f"{known.count(1)} of {len(known)}",
        "pairs: odds for an expert over nobody known": odds(pairs["provenance-expert-unknown"]),
        "pairs: odds for a human author over a model": odds(pairs["provenance-human-llm"]),
        "pairs: odds for a new date over an old one": odds(pairs["recency-new-old"]),
        "grades: control": re.search(r"passed .*? wrong ones", controls["grades"]["message"])[0],
        "judgments that are cut off: scores, pairs": ", ".join(
            f"{cut[name]['truncated']} of {len(judgments[name])}" for name in ("scores", "pairs")
        ),
    }


def test_the_page_says_what_the_recordings_come_to(counted, uncounted):
    """examples/real-model/README.md has a row for each figure, with the value that the recordings give today."""
    lines = (EXAMPLE / "README.md").read_text().splitlines()
    told = {row[1].strip(): row[2].strip() for row in (line.split("|") for line in lines) if len(row) == 5}
    assert told.items() >= figures(counted, uncounted).items()


def test_a_judge_that_fails_its_control_is_shown(counted):
    """Each of the three judges fails its control, which its replay shows, and what is recorded stands there, uncounted."""
    for name, (said, told) in counted.items():
        report = json.loads(told["report.json"])
        assert [row["status"] for row in report["controls"]] == ["FAIL"], name
        assert not any(row["vsr"] for row in report["contrasts"]), name
        shown = [(row["name"], row["n"]) for row in report.get("not_counted", [])]
        assert len(shown) == {"scores": 2, "pairs": 4, "grades": 0}[name]
        assert not shown or "not counted" in said


def test_recordings_are_small():
    """All that is recorded is at most 2 MB, and no torn or unfinished file is among it."""
    files = [file for file in (EXAMPLE / "cassettes").rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 2_000_000
    assert {file.suffix for file in files} == {".jsonl"}
    assert not [file for file in files if ".part" in file.name]


@pytest.mark.slow
def test_replays_give_the_same_bytes(example, counted):
    """Again, by two workers, and without a network, a replay reports the same bytes."""
    alone = (
        ["unshare", "-rn"]
        if shutil.which("unshare") and not subprocess.run(["unshare", "-rn", "true"]).returncode
        else []
    )
    for options, name in ((SCORES, "scores"), (PAIRS, "pairs")):
        for before, more in (((), ()), ((), ("-n", "2")), (alone, ())):
            assert gate(example, *options, *more, before=before)[1] == counted[name][1], (before, more)
