"""What the shipped recordings amount to: the reports of an earlier version, held against today's."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
DIGITS = 8
RUNS = {
    "cues": [
        "-k",
        "(house-close and cue and not stories) or (house-qa and (accuracy or position))",
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
# Taken when the recordings were made on the close sets; before that, reports were the same from 15aaabc on. Since then
# contrast rows came to have `admitted_shift` and `unadmitted_shift`, and CAR's message the admitted shift. A swap asks
# for accuracy in both orders: without the other order (but for the control) its judgments and differences are the same.
# Its messages say "difference at most" of a shift that is no FAIL, and what is planned and was deselected counts in its
# decision and its guards. The control asks about other pairs of the house sets: its row, and its judgments of `plans`.
BEFORE = {
    "cues": {"judgments.jsonl": "0077e71d75dd30a8", "report.json": "7906299a3ba10bfb"},
    "plans": {
        "judgments.jsonl": "d35b451b7e0c937b",
        "plans.jsonl": "029350f729ce674e",
        "report.json": "13fa60144f77b11e",
    },
    "swap": {
        "differences.jsonl": "aee102287f062a36",
        "judgments.jsonl": "778c3cf3dd204f68",
        "report.json": "5b39b38a22018b9d",
    },
}


# Keys that contrast rows came to have since, with what they hold of a judge that tells no more than verdicts.
ADDED = {
    "log_odds_shift": None,
    "log_odds_status": "NOT_APPLICABLE",
    "soft_vsr": None,
    "score_shift": None,
    "score_status": "NOT_APPLICABLE",
    "contradictions": 0,
}


# Keys that they came to have since and that hold numbers.
MEASURED_SINCE = {
    "car_corrected",
    "false_alarms",
    "run",
    "datasets",
    "results",
    "text",
    "arms",
    "sentences",
    "outcome",
    "moved",
    "decided_by",
}
WOULD_DO = re.compile(r", \d+ would do(?=: it reads)")  # in the message of a control that passes
ADDED_TO_ROWS = {"judgments.jsonl": "span", "plans.jsonl": "usage"}
FILES_SINCE = {"results.jsonl", "pairs.jsonl", "report.md", "report.html"}


def comparable(value: Any) -> Any:
    """Return a report's value with numbers to the digits that are compared, without what was added since."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, str):
        return WOULD_DO.sub("", value)
    if isinstance(value, dict):
        assert {key: value[key] for key in ADDED if key in value} in ({}, ADDED)
        return {key: comparable(each) for key, each in value.items() if key not in ADDED and key not in MEASURED_SINCE}
    return [comparable(each) for each in value] if isinstance(value, list) else value


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file of a report."""
    texts = {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.name not in FILES_SINCE}
    for name, key in ADDED_TO_ROWS.items():
        if name in texts:
            rows = [json.loads(line) for line in texts[name].split("\n") if line]
            kept = [{each: row[each] for each in row if each != key} for row in rows]
            texts[name] = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in kept)
    texts["report.json"] = json.dumps(comparable(json.loads(texts["report.json"])))
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


@pytest.mark.whole
@pytest.mark.parametrize("name", RUNS)
def test_shipped_recordings_amount_to_what_they_did(name: str, tmp_path: Path) -> None:
    """Every file of the report is the one that was written when the digests were taken."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--judge-report", str(tmp_path)]
    ran = subprocess.run([*command, *RUNS[name]], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (tmp_path / "report.json").exists(), ran.stdout + ran.stderr
    assert digests(tmp_path) == BEFORE[name], ran.stdout
