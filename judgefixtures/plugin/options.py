"""Options of the plugin, from data/options.toml."""

import argparse
from pathlib import Path
from typing import Any, get_args

import pytest

from judgefixtures.util.errors import accepted_values
from judgefixtures.util.patterns import load_table
from judgefixtures.util.shell import parse_dollars

from .messages import MESSAGES

DESTS = {"--judge": "judge_names", "--judge-dataset": "judge_datasets"}  # of those that are given several times


def add_options(parser: pytest.Parser) -> None:
    """Add the options with their help texts."""
    group = parser.getgroup("judgefixtures", "gates of LLM judges")
    for flag, option in load_table("options").items():
        dest = DESTS.get(flag, flag.strip("-").replace("-", "_"))
        taken = {"type": TYPES[option["type"]]} if "type" in option else {}
        group.addoption(flag, dest=dest, **{**option, **taken})


def check_options(option: Any) -> None:
    """Check that options fit together.

    Raises:
        UsageError: They do not.
    """
    record = option.judge_record
    if option.judge_record_invalid and record != "invalid":
        raise pytest.UsageError(MESSAGES.record_invalid_misplaced(record))
    if option.judge_until_decided and record in ("invalid", "all"):
        raise pytest.UsageError(MESSAGES.until_decided_misplaced(record))
    swapped = option.judge_until_decided and option.judge_baseline is not None
    if option.judge_batch and (record != "missing" or swapped):
        raise pytest.UsageError(
            "--judge-batch sends all missing requests at once: it needs --judge-record missing, and a swap "
            "cannot combine it with --judge-until-decided."
        )


def positive_number(text: str) -> int:
    """Return a whole number of at least 1."""
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def invalid_kind(text: str) -> str:
    """Return a kind of invalid answer."""
    from judgefixtures.models.verdicts import InvalidKind

    if text not in (kinds := get_args(InvalidKind)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a kind of invalid answer: {accepted_values(text, kinds)}")
    return text


TYPES: dict[str, Any] = {"path": Path, "number": positive_number, "kind": invalid_kind, "dollars": parse_dollars}
