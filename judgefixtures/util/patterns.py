"""Loader of texts, word lists and regular expressions in data/NAME.toml, read on first use.

A file of patterns has two tables, `words` and `patterns`. An entry is a regular expression, or a list of alternatives.
Line breaks in it, and the spaces after them, are ignored; <NAME> stands for the entry `name` of the same file.
"""

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
    return re.sub(r"<([A-Z_]+)>", lambda name: noun if name[1] == "NOUN" else _text(file, name[1].lower(), noun), text)
