"""Texts, word lists and patterns that are data files: data/NAME.toml, read when the first of them is asked for.

A file of patterns has two tables, `words` and `patterns`. An entry is the text of a regular expression, or a list of
alternatives. Line breaks in it, and the spaces after them, count for nothing; <NAME> stands for the entry `name` of
the same file.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=256)
def load_pattern(file: str, name: str, noun: str = "") -> re.Pattern[str]:
    """Return a pattern of a data file; `noun` is what <NOUN> stands for in it.

    >>> load_pattern("contradictions.en", "good").fullmatch("better") is not None
    True
    """
    return re.compile(_text(file, name, noun))


@cache
def pattern_names(file: str) -> tuple[str, ...]:
    """Return the names of a data file's patterns, in their order there."""
    return tuple(load_table(file)["patterns"])


@cache
def load_table(file: str) -> dict[str, Any]:
    """Return a data file as it is written."""
    return tomllib.loads((files("judgefixtures") / "data" / f"{file}.toml").read_text(encoding="utf-8"))


def _text(file: str, name: str, noun: str) -> str:
    entry = {**load_table(file)["words"], **load_table(file)["patterns"]}[name]
    parts = [re.sub(r"(?m)^ +|\n", "", part) for part in (entry if isinstance(entry, list) else [entry])]
    text = f"(?:{'|'.join(parts)})" if isinstance(entry, list) else parts[0]
    return re.sub(
        r"<([A-Z_]+)>", lambda named: noun if named[1] == "NOUN" else _text(file, named[1].lower(), noun), text
    )
