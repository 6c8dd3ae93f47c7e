"""Loader of word lists and regular expressions in data/NAME.toml."""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=256)
def load_pattern(file: str, name: str, noun: str = "") -> re.Pattern[str]:
    """Return a data file's pattern; `noun` replaces <NOUN>.

    >>> load_pattern("contradictions.en", "good").fullmatch("better") is not None
    True
    """
    return re.compile(_text(file, name, noun))


@cache
def pattern_names(file: str) -> tuple[str, ...]:
    """Return a data file's pattern names in order."""
    return tuple(load_table(file)["patterns"])


@cache
def load_table(file: str) -> dict[str, Any]:
    """Return a data file's content."""
    return tomllib.loads((files("judgefixtures") / "data" / f"{file}.toml").read_text(encoding="utf-8"))


def _text(file: str, name: str, noun: str) -> str:
    entry = {**load_table(file)["words"], **load_table(file)["patterns"]}[name]
    parts = [re.sub(r"(?m)^ +|\n", "", part) for part in (entry if isinstance(entry, list) else [entry])]
    text = f"(?:{'|'.join(parts)})" if isinstance(entry, list) else parts[0]
    return re.sub(r"<([A-Z_]+)>", lambda name: noun if name[1] == "NOUN" else _text(file, name[1].lower(), noun), text)
