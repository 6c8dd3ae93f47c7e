"""What the shipped recordings amount to: the reports of earlier versions, held against today's."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
# What came into the report since; earlier versions wrote numbers to 17 digits, the last of them by scipy's version.
ADDED = {"served"}
DIGITS = 8
RUNS = {
    "cues": ["-k", "house-qa and (recency or provenance or accuracy or position)", "--judge", "simulated-candid",
             "--judge", "simulated-gpt-4o"],
    "plans": ["-k", "house-stories and (plan or verbosity)", "--judge", "simulated-verbose-prepared"],
    "swap": ["-k", "swap and house-qa and (recency or accuracy)", "--judge", "simulated-candid",
             "--judge-baseline", "simulated-gpt-4o"],
}  # fmt: skip
# Of commit 15aaabc, before checks had a file each.
BEFORE = {
    "cues": {"judgments.jsonl": "3556529d530424ee", "report.json": "6c55e8bc45e650ff"},
    "plans": {
        "judgments.jsonl": "cd921f71af32ae5a",
        "plans.jsonl": "029350f729ce674e",
        "report.json": "ce52563b2ff6158b",
    },
    "swap": {
        "differences.jsonl": "8b490f0726eaea69",
        "judgments.jsonl": "870d8d101f9e7709",
        "report.json": "ff0d74c97c11bfaf",
    },
}


def comparable(value: Any) -> Any:
    """Return a report's value with numbers to the digits that are compared."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items() if key not in ADDED}
    return [comparable(each) for each in value] if isinstance(value, list) else value


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file of a report."""
    texts = {path.name: path.read_text() for path in sorted(folder.iterdir())}
    texts["report.json"] = json.dumps(comparable(json.loads(texts["report.json"])))
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


@pytest.mark.whole
@pytest.mark.parametrize("name", RUNS)
def test_shipped_recordings_amount_to_what_they_did(name: str, tmp_path: Path) -> None:
    """Every file of the report is the one that the version before the checks were taken apart wrote."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--judge-report", str(tmp_path)]
    subprocess.run([*command, *RUNS[name]], cwd=REPOSITORY, capture_output=True, check=False)
    assert digests(tmp_path) == BEFORE[name]
