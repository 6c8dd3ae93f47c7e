"""The options of the plugin: every one is --judge or --judge-..., every dest judge_..., and which go together."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, get_args

import pytest

from judgefixtures.words.commands import parse_dollars
from judgefixtures.words.errors import choices

DEFAULT_CONCURRENCY = 16
DESTS = {"--judge": "judge_names", "--judge-dataset": "judge_datasets"}  # of those that are given several times


def add_options(parser: pytest.Parser) -> None:
    """Add the options; each help text says what happens without it."""
    group = parser.getgroup("judgefixtures", "gates of LLM judges")
    for flag, settings in SETTINGS.items():
        dest = DESTS.get(flag, flag.strip("-").replace("-", "_"))
        group.addoption(flag, dest=dest, help=HELP[flag], **settings)


def check_options(option: Any) -> None:
    """Raise UsageError for options that do not go together."""
    record = option.judge_record
    if option.judge_record_invalid and record != "invalid":
        raise pytest.UsageError(
            "--judge-record-invalid names the invalid answers that --judge-record invalid asks "
            f"again, and this is --judge-record {record}: give both."
        )
    if option.judge_until_decided and record in ("invalid", "all"):
        raise pytest.UsageError(
            f"--judge-until-decided records or replays look by look, and this is --judge-record {record}: it needs "
            "--judge-record missing or none."
        )
    swapped = option.judge_until_decided and option.judge_baseline is not None
    if option.judge_batch and (record != "missing" or swapped):
        raise pytest.UsageError(
            "--judge-batch sends what is missing all at once: it needs --judge-record missing, and "
            "of a swap goes without --judge-until-decided, which looks at some answers first."
        )


def positive_number(text: str) -> int:
    """Return a whole number of at least 1."""
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def invalid_kind(text: str) -> str:
    """Return a kind of invalid answer."""
    from judgefixtures.reading.verdicts import InvalidKind

    if text not in (kinds := get_args(InvalidKind)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a kind of invalid answer: {choices(text, kinds)}")
    return text


FLAG = {"action": "store_true"}
NAME, DIRECTORY = {"metavar": "NAME"}, {"type": Path, "metavar": "DIR"}
NUMBER = {"type": positive_number, "metavar": "N"}
SETTINGS: dict[str, dict[str, Any]] = {
    "--judge": {"action": "append", **NAME},
    "--judge-baseline": NAME,
    "--judge-dataset": {"action": "append", **NAME},
    "--judge-pairs": NUMBER,
    "--judge-record": {"choices": ("none", "missing", "invalid", "all"), "default": "none"},
    "--judge-record-invalid": {"type": invalid_kind, "action": "append", "metavar": "KIND"},
    "--judge-report": DIRECTORY,
    "--judge-config": {"type": Path, "metavar": "FILE"},
    "--judge-cassettes": DIRECTORY,
    "--judge-concurrency": {**NUMBER, "default": DEFAULT_CONCURRENCY},
    "--judge-repeats": {**NUMBER, "default": 1},
    "--judge-preflight": FLAG,
    "--judge-until-decided": FLAG,
    "--judge-batch": FLAG,
    "--judge-force": FLAG,
    "--judge-max-cost": {"type": parse_dollars, "metavar": "USD"},
}
HELP = {
    "--judge": "judge to gate, a [tool.judgefixtures.judges.NAME] table (repeatable; default: `judge` of the "
    "configuration)",
    "--judge-baseline": "compare every judge with this one on the same pairs, decide on the swap (default: none)",
    "--judge-dataset": "dataset to ask about (repeatable; default: `datasets` of the configuration)",
    "--judge-pairs": "use the first N pairs of each dataset, in seeded order (default: `pairs`, else all)",
    "--judge-record": "none: replay recordings, no network at all (default); missing: ask only what is not recorded; "
    "invalid: that, and again what was recorded as invalid; all: record everything anew",
    "--judge-record-invalid": "with --judge-record invalid: ask again answers of this kind alone, such as empty, "
    "truncated or filtered (repeatable; default: every kind)",
    "--judge-report": "write report.html, report.md, report.json, every judgment to DIR (default: terminal only)",
    "--judge-config": "TOML file with the configuration (default: [tool.judgefixtures] of pyproject.toml)",
    "--judge-cassettes": "folder of the recordings (default: cassettes, beside the configuration)",
    "--judge-concurrency": f"calls in flight while recording, over all workers (default: {DEFAULT_CONCURRENCY})",
    "--judge-repeats": "ask the cue-free condition N times: how far does a judge disagree with itself; of a judge "
    "with a temperature cue contrasts, too, for shares of verdicts (default: 1)",
    "--judge-preflight": "say what would run, what it could cost and whether it can decide; run nothing",
    "--judge-until-decided": "with --judge-record missing: record each contrast, or with --judge-baseline a swap, one "
    "of its looks at a time ([tool.judgefixtures.gate] looks, [tool.judgefixtures.swap] looks), stop when it is "
    "decided; a replay asks for the same (default: all pairs)",
    "--judge-batch": "with --judge-record missing: send what is missing in batches, at half the price, and end; the "
    "same command collects the answers, within a day (default: ask at once)",
    "--judge-force": "record although the preflight refuses, or the first answers are cut off (default: stop)",
    "--judge-max-cost": "stop recording before it has cost so much, everything kept (default: no limit)",
}
