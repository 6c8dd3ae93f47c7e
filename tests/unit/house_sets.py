"""What must hold for a house set, checked from its files: run it, or let test_house_sets.py run it.

python tests/unit/house_sets.py
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "judgefixtures" / "data"
# Content type, number of pairs, number of topics or categories at least.
SETS = {
    "house-qa": ("Response", 100, 10),
    "house-stories": ("Story", 100, 10),
    "house-bias": ("Response", 120, 6),
    "house-instructions": ("Response", 60, 5),
}
# Two responses of equal merit, without gold: content type, number of pairs, number of categories at least.
CLOSE_SETS = {"house-close": ("Response", 200, 10), "house-close-stories": ("Story", 100, 10)}
TASTES, ORDERS, MARGINS = ("concise", "orderly", "vivid"), ("12", "21"), ("close", "slight", "clear")
LARGEST_DIFFERENCE = 0.08  # of the longer response's characters
# Here the worse response has the superficial appeal, length among it: gold is even in every category instead.
ABOUT_APPEAL = ("house-bias", "house-instructions")
CLOSE_FIELDS = {"id", "category", "content_type", "question", "response_1", "response_2"}
FIELDS = CLOSE_FIELDS | {"gold", "gold_reason"}
TEXTS = ("question", "response_1", "response_2")

# Anything that could be read as a cue: who or what wrote a text, or when. Wider than needed, on purpose.
CUE_WORDS = re.compile(
    r"\b(humans?|humanity|experts?|expertise|author(s|ed|ship)?|writers?|written|wrote|ai|a\.i\.|llms?|gpt|chatbots?"
    r"|language models?|artificial intelligence|generated|unknown|anonymous|sources?"
    r"|recent(ly)?|new(er|est)?|old(er|est)?"
    r"|modern|contemporary|outdated|old-fashioned|up[- ]to[- ]date|nowadays|long time ago|professionals?"
    r"|professor|scholars?"
    r"|specialists?|1\d{3}|20\d{2})\b",
    re.IGNORECASE,
)


def read(name: str) -> list[dict[str, Any]]:
    """Return the rows of a house set's file."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def problems(name: str) -> Iterator[str]:
    """Yield every property that a house set lacks."""
    rows = read(name)
    content_type, size, topics = SETS[name]
    if len(rows) != size:
        yield f"{len(rows)} pairs, not {size}"
    for row in rows:
        yield from _row_problems(row, content_type)
    yield from _balance_problems(rows)
    if name == "house-bias":
        yield from (f"every category: {p}" for c in _categories(rows) for p in _balance_problems(c))
    else:
        yield from _length_problems(rows)
    if name in ABOUT_APPEAL and len({len(members) for members in _categories(rows)}) != 1:
        yield "categories of different sizes"
    yield from _duplicate_problems(rows)
    if len(_categories(rows)) < topics:
        yield f"fewer than {topics} topics"
    yield from _reading_problems(name, rows)


def close_problems(name: str) -> Iterator[str]:
    """Yield every property that a set of close pairs lacks."""
    rows = read(name)
    content_type, size, topics = CLOSE_SETS[name]
    if len(rows) != size:
        yield f"{len(rows)} pairs, not {size}"
    for row in rows:
        yield from _close_row_problems(row, content_type)
    first_longer = sum(len(row["response_1"]) > len(row["response_2"]) for row in rows)
    if not 0.45 <= first_longer / len(rows) <= 0.55:
        yield f"response 1 is the longer one in {first_longer} of {len(rows)}"
    yield from _duplicate_problems(rows)
    if len(_categories(rows)) < topics:
        yield f"fewer than {topics} topics"
    readings = readings_of(name)
    if readings.keys() != {row["id"] for row in rows}:
        yield "the readings are not about these pairs"
    for pair, own in readings.items():
        yield from _closeness_problems(pair, own)


def readings_of(name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the blind readings of a set of close pairs, by pair."""
    found: dict[str, list[dict[str, Any]]] = {}
    for reading in read(f"{name}.reading"):
        found.setdefault(reading["id"], []).append(reading)
    return found


def votes(readings: list[dict[str, Any]]) -> tuple[int, int]:
    """Return how many readers chose response 1 of a pair, and how many response 2."""
    choices = [reading["choice"] for reading in readings]
    return choices.count(1), choices.count(2)


def closeness(name: str) -> Iterator[str]:
    """Yield what the readings of a set of close pairs amount to: how they split, and how clear the choice was."""
    readings = readings_of(name)
    splits = Counter("{}-{}".format(*votes(own)) for own in readings.values())
    margins = Counter(reading["margin"] for own in readings.values() for reading in own)
    yield f"{name}: {len(readings)} pairs; votes for response 1 and 2: " + ", ".join(
        f"{split} {splits[split]}" for split in sorted(splits)
    )
    yield f"  margins of {margins.total()} readings: " + ", ".join(f"{margin} {margins[margin]}" for margin in MARGINS)
    for taste in TASTES:
        chosen = [[r["choice"] for r in own if r["taste"] == taste] for own in readings.values()]
        same = sum(len(set(both)) == 1 for both in chosen)
        first = sum(both.count(1) for both in chosen)
        yield (
            f"  {taste}: response 1 in {first} of {2 * len(chosen)} readings; the same response in both orders in "
            f"{same} of {len(chosen)} pairs"
        )


def _close_row_problems(row: dict[str, Any], content_type: str) -> Iterator[str]:
    if row.keys() != CLOSE_FIELDS or row["content_type"] != content_type:
        yield f"{row.get('id')}: fields {sorted(row)}"
        return
    lengths = [len(row["response_1"]), len(row["response_2"])]
    if abs(lengths[0] - lengths[1]) > LARGEST_DIFFERENCE * max(lengths):
        yield f"{row['id']}: the responses have {lengths[0]} and {lengths[1]} characters"
    for field in TEXTS:
        if found := CUE_WORDS.search(row[field]):
            yield f"{row['id']}: {field} says {found[0]!r}"


def _closeness_problems(pair: str, readings: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what keeps a pair from being close: it is, where readers split, or most say that it is."""
    if sorted((r["taste"], r["order"]) for r in readings) != [(taste, order) for taste in TASTES for order in ORDERS]:
        yield f"{pair}: not read once in each taste and order"
    if any(r["choice"] not in (1, 2) or r["margin"] not in MARGINS for r in readings):
        yield f"{pair}: a reading without choice or margin"
    called_close = sum(r["margin"] == "close" for r in readings)
    if min(votes(readings)) < 2 and called_close < 4:
        yield f"{pair}: readers agree ({'-'.join(map(str, votes(readings)))}), and {called_close} call it close"


def _categories(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    names = sorted({row["category"] for row in rows})
    return [[row for row in rows if row["category"] == name] for name in names]


def _row_problems(row: dict[str, Any], content_type: str) -> Iterator[str]:
    if row.keys() != FIELDS:
        yield f"{row.get('id')}: fields {sorted(row)}"
        return
    if row["gold"] not in (1, 2) or row["content_type"] != content_type:
        yield f"{row['id']}: gold or content type"
    if len(row["gold_reason"].split()) < 8:
        yield f"{row['id']}: the gold label has no real reason"
    for field in TEXTS:
        if found := CUE_WORDS.search(row[field]):
            yield f"{row['id']}: {field} says {found[0]!r}"


def _balance_problems(rows: list[dict[str, Any]]) -> Iterator[str]:
    gold = Counter(row["gold"] for row in rows)
    if gold[1] != gold[2]:
        yield f"gold over positions is {dict(gold)}"


def _length_problems(rows: list[dict[str, Any]]) -> Iterator[str]:
    longer = sum(len(row[f"response_{row['gold']}"]) > len(row[f"response_{3 - row['gold']}"]) for row in rows)
    if not 0.45 <= longer / len(rows) <= 0.55:
        yield f"the better response is the longer one in {longer} of {len(rows)}"
    first_longer = sum(len(row["response_1"]) > len(row["response_2"]) for row in rows)
    if not 0.40 <= first_longer / len(rows) <= 0.60:
        yield f"response 1 is the longer one in {first_longer} of {len(rows)}"


def _duplicate_problems(rows: list[dict[str, Any]]) -> Iterator[str]:
    for field in ("id", *TEXTS):
        values = Counter(row[field] for row in rows)
        yield from (f"{field} twice: {value[:60]!r}" for value, count in values.items() if count > 1)
    words = [(row["id"], frozenset(re.findall(r"[a-z]{4,}", row["question"].lower()))) for row in rows]
    for index, (first, ours) in enumerate(words):
        for second, theirs in words[index + 1 :]:
            if ours and len(ours & theirs) / len(ours | theirs) > 0.6:
                yield f"{first} and {second} ask nearly the same"
    texts = [(row["id"], field, _shingles(row[field])) for row in rows for field in ("response_1", "response_2")]
    for index, (first, _, ours) in enumerate(texts):
        for second, _, theirs in texts[index + 1 :]:
            if len(ours & theirs) > 0.2 * min(len(ours), len(theirs)):
                yield f"{first} and {second} share whole phrases"


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))


def _reading_problems(name: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    readings = {reading["id"]: reading for reading in read(f"{name}.reading")}
    agree = sum(readings.get(row["id"], {}).get("choice") == row["gold"] for row in rows)
    if readings.keys() != {row["id"] for row in rows} or agree < 0.95 * len(rows):
        yield f"the blind reading covers {len(readings)} pairs and agrees with gold on {agree}"


if __name__ == "__main__":
    found = [f"{name}: {problem}" for name in SETS for problem in problems(name)]
    found += [f"{name}: {problem}" for name in CLOSE_SETS for problem in close_problems(name)]
    sys.stdout.write("\n".join(line for name in CLOSE_SETS for line in closeness(name)) + "\n")
    sys.stdout.write("\n".join(found or ["every property of the house sets holds"]) + "\n")
    sys.exit(bool(found))
