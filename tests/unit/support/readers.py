"""Judges in a few lines each, for a user's repository (as mine.py) and for servers of the tests; not all of them read.

Those that know better look up what they are asked in the package's house files and in pairs.jsonl beside them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import judgefixtures

HOUSE = Path(judgefixtures.__file__).with_name("data")


@cache
def rows(folder: Path) -> list[dict[str, Any]]:
    """Return every pair that may be asked about, with the name of its file."""
    files = [*HOUSE.glob("house-*.jsonl"), *folder.glob("pairs.jsonl")]
    found = [
        {"file": file.stem, **json.loads(line)}
        for file in sorted(files)
        if ".reading" not in file.name
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [row for row in found if "response_2" in row]  # examples are asked about by others


def asked(prompt: str) -> tuple[dict[str, Any], bool]:
    """Return the row that a prompt is about, and whether its response 1 stands first."""
    for row in rows(Path.cwd()):
        places = [prompt.find(row[field]) for field in ("question", "response_1", "response_2")]
        if -1 not in places:
            return row, places[1] < places[2]
    raise LookupError(prompt)


def says(number: int) -> str:
    """Return a verdict."""
    return json.dumps({"selected_response": number, "reason": "It is the better one."})


def places(prompt: str, own_first: bool) -> str:
    """Return the verdict for the pair's response 1, or its response 2, wherever it stands."""
    return says(1 if own_first == asked(prompt)[1] else 2)


def chance(prompt: str) -> float:
    """Return a number in [0, 1) that depends on nothing but the prompt."""
    return hashlib.sha256(prompt.encode()).digest()[0] / 256


def first(_prompt: str) -> str:
    """Always choose what stands first."""
    return says(1)


def second(_prompt: str) -> str:
    """Always choose what stands second."""
    return says(2)


def coin(prompt: str) -> str:
    """Toss a coin."""
    return says(1 if chance(prompt) < 0.5 else 2)


def longer(prompt: str) -> str:
    """Always choose the longer response."""
    row, _ = asked(prompt)
    return places(prompt, len(row["response_1"]) >= len(row["response_2"]))


def counting(count: Callable[[str], float]) -> Callable[[str], str]:
    """Return a judge that chooses the response with more of something; of equal ones what is its pair's first."""

    def judge(prompt: str) -> str:
        row, _ = asked(prompt)
        return places(prompt, count(row["response_1"]) >= count(row["response_2"]))

    return judge


paragraphs = counting(lambda text: text.count("\n\n"))
full_stops = counting(lambda text: text.count("."))
commas = counting(lambda text: text.count(","))
distinct_words = counting(lambda text: len(set(text.lower().split())))
letters = counting(lambda text: sum(map(str.isalpha, text)))
letters_a_word = counting(lambda text: len(text) / len(text.split()))
sentences = counting(lambda text: sum(map(text.count, ".!?")))
COUNTED = ("paragraphs", "full_stops", "sentences", "commas", "distinct_words", "letters", "letters_a_word")


def good(prompt: str) -> str:
    """Choose the better response; where none is, by the number of the pair."""
    row, _ = asked(prompt)
    better = row.get("gold") or 1 + int("".join(filter(str.isdigit, row["id"]))) % 2
    return places(prompt, better == 1)


def wrong(prompt: str) -> str:
    """Always choose the worse response."""
    return says(3 - json.loads(good(prompt))["selected_response"])


def invalid(prompt: str) -> str:
    """Fail to state a verdict half of the time."""
    return "I cannot tell." if chance(prompt) < 0.5 else good(prompt)


def no_stories(prompt: str) -> str:
    """Know about everything but stories, of which the first is chosen."""
    return first(prompt) if "stories" in asked(prompt)[0]["file"] else good(prompt)


def knows_house(prompt: str) -> str:
    """Know the house pairs; of all others choose what stands first."""
    return first(prompt) if asked(prompt)[0]["file"] == "pairs" else good(prompt)
