"""Shell quoting of commands, and parsers of option values."""

import argparse
import math
import re
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path

SUITE = Path("tests", "judge")  # what commands of pytest name to gate a repository's judge
PLAIN = re.compile(r"[\w@%+=:,./~-]+", re.ASCII)  # what needs no quotes in any shell
MOST_MEGABYTES = 1_000_000
ACTIVE = re.compile(r"[\"$`\\!%\n]")  # what double quotes do not keep as it is, in one shell or another


def quoted(word: str) -> str:
    """Return a word quoted for a shell.

    >>> print(quoted("own-accuracy"), quoted("my folder"), quoted("costs $5"))
    own-accuracy "my folder" 'costs $5'
    """
    if PLAIN.fullmatch(word):
        return word
    return shlex.quote(word) if ACTIVE.search(word) else f'"{word}"'


def is_option(text: str, names: Collection[str]) -> bool:
    """Return whether a text is one of these options.

    >>> [is_option(text, ["pairs"]) for text in ("--judge-pairs=10", "--judge-pairs=10; rm x", "--judge-judge=a")]
    [True, False, False]
    """
    name, given, value = text.removeprefix("--judge-").partition("=")
    try:
        words = shlex.split(value)
    except ValueError:  # a quotation that does not end
        return False
    return bool(given) and name in names and len(words) == 1 and options({name: words[0]}) == [text]


def options(given: Mapping[str, object]) -> list[str]:
    """Return our options without None; names lack `--judge-`.

    >>> options({"config": "my judges.toml", "pairs": 10, "cassettes": None})
    ['--judge-config="my judges.toml"', '--judge-pairs=10']
    """
    return [f"--judge-{name}={quoted(str(value))}" for name, value in given.items() if value is not None]


def parse_share(text: str) -> float:
    """Return an option's share of 0 to 1.

    >>> parse_share("0.2")
    0.2
    """
    share = _number(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share from 0 to 1, such as 0.1 for one row in ten")
    return share


def parse_dollars(text: str) -> float:
    """Return an option's positive amount of US dollars.

    >>> parse_dollars("2.5")
    2.5
    """
    amount = _number(text)
    if not 0 < amount < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of US dollars above 0")
    return amount


def parse_megabytes(text: str) -> int:
    """Return an option's size of 1 to 1,000,000 megabytes.

    >>> parse_megabytes("64")
    64
    """
    size = _number(text)
    if not (size.is_integer() and 1 <= size <= MOST_MEGABYTES):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of megabytes from 1 to {MOST_MEGABYTES:,}")
    return int(size)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
