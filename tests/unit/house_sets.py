"""What must hold for a house set, checked from its files: run it, or let test_house_sets.py run it.

python tests/unit/house_sets.py
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgefixtures.models.pairs import Pair, sample_order
from judgefixtures.models.text_features import FUNCTION_WORDS

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
# A text and its twin, which a few words spoil: content type, number of pairs, number of categories at least.
TWIN_SETS = {"house-control": ("Response", 60, 10), "house-control-stories": ("Story", 40, 10)}
# One response: the file's fields beside the votes, number of examples, number of categories at least.
EXAMPLE_FIELDS = {"id", "category", "question", "response"}
EXAMPLE_SETS = {"house-answers": (EXAMPLE_FIELDS, 120, 10), "house-graded": (EXAMPLE_FIELDS | {"label"}, 120, 10)}
STRICTNESSES, READINGS = ("strict", "middle", "lenient"), (1, 2)
ASKS = "The answer has to do all of this:"
RUBRIC = re.compile(rf"[^\n]+\n\n{ASKS}\n1\. [^\n]+\n2\. [^\n]+(\n3\. [^\n]+)?")
ASKED = 30  # a control asks about so many
TELLS = (0.4, 0.6)  # of the pairs: nothing that is counted is right on fewer or on more
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
    """Return the blind readings, by a language model, of a set of close pairs, by pair."""
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
    yield from _repeated(rows, "id", *TEXTS)
    words = [(row["id"], frozenset(re.findall(r"[a-z]{4,}", row["question"].lower()))) for row in rows]
    yield from _near_questions(words)
    texts = [(row["id"], field, _shingles(row[field])) for row in rows for field in ("response_1", "response_2")]
    for index, (first, _, ours) in enumerate(texts):
        for second, _, theirs in texts[index + 1 :]:
            if len(ours & theirs) > 0.2 * min(len(ours), len(theirs)):
                yield f"{first} and {second} share whole phrases"


def _near_questions(words: Sequence[tuple[str, frozenset[str]]], others: int = 0) -> Iterator[str]:
    """Yield which questions are nearly the same; the last `others` of them are compared with those before alone."""
    for index, (first, ours) in enumerate(words[: len(words) - others]):
        for second, theirs in words[index + 1 :]:
            if ours and len(ours & theirs) / len(ours | theirs) > 0.6:
                yield f"{first} and {second} ask nearly the same"


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))


def _reading_problems(name: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    readings = {reading["id"]: reading for reading in read(f"{name}.reading")}
    agree = sum(readings.get(row["id"], {}).get("choice") == row["gold"] for row in rows)
    if readings.keys() != {row["id"] for row in rows} or agree < 0.95 * len(rows):
        yield f"the blind reading covers {len(readings)} pairs and agrees with gold on {agree}"


# --- twins: what can be counted tells nothing -----------------------------------------------------------------

WORD = re.compile(r"\w+(?:['’]\w+)*")
VOWELS = re.compile(r"[aeiouy]+")


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"[.!?]+", text) if WORD.search(part)]


COUNTS: Mapping[str, Callable[[str], float]] = {
    "characters": len,
    "letters": lambda text: sum(map(str.isalpha, text)),
    "words": lambda text: len(_words(text)),
    "distinct words": lambda text: len({*_words(text)}),
    "share of distinct words": lambda text: len({*_words(text)}) / len(_words(text)),
    "letters a word": lambda text: sum(map(len, _words(text))) / len(_words(text)),
    "longest word": lambda text: max(map(len, _words(text))),
    "long words": lambda text: sum(len(word) > 6 for word in _words(text)),
    "short words": lambda text: sum(len(word) < 4 for word in _words(text)),
    "function words": lambda text: sum(word in FUNCTION_WORDS for word in _words(text)),
    "syllables": lambda text: len(VOWELS.findall(text.lower())),
    "sentences": lambda text: len(_sentences(text)),
    "words a sentence": lambda text: len(_words(text)) / len(_sentences(text)),
    "words of the longest sentence": lambda text: max(len(_words(part)) for part in _sentences(text)),
    "commas": lambda text: text.count(","),
    "full stops": lambda text: text.count("."),
    "punctuation": lambda text: sum(not (mark.isalnum() or mark.isspace()) for mark in text),
    "capitals": lambda text: sum(map(str.isupper, text)),
    "digits": lambda text: sum(map(str.isdigit, text)),
    "negations": lambda text: len(re.findall(r"\b(?:no|not|never|none|nobody|nothing)\b|n't\b", text.lower())),
}


def better_and_worse(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the better response of a pair, and the other one."""
    return row[f"response_{row['gold']}"], row[f"response_{3 - row['gold']}"]


def as_run(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows in the order in which a run takes them."""
    by_id = {row["id"]: row for row in rows}
    pairs = (Pair(row["id"], row["question"], "1", "2", category=row["category"]) for row in rows)
    return [by_id[pair.id] for pair in sample_order(pairs, 0)]


def differences(rows: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
    """Return by how much the better response of each pair exceeds the other one in each count, a row per pair."""
    counted = [
        [count(better) - count(worse) for count in COUNTS.values()] for better, worse in map(better_and_worse, rows)
    ]
    return np.round(np.array(counted, dtype=float), 9)  # a mean of the same numbers in another order is no difference


def told(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return for each count on what share of the pairs the response with more of it is the better one; a tie is half."""
    signs = np.sign(differences(rows))
    return dict(zip(COUNTS, ((1 + signs) / 2).mean(axis=0).tolist(), strict=True))


def learned(rows: Sequence[Mapping[str, Any]], folds: int = 10, ridge: float = 0.1) -> float:
    """Return on what share of the pairs a logistic model of all counts is right that learned from the other folds.

    It is a model of the differences without an intercept: which response is which is not known to it. A tie is half.
    """
    x = differences(rows)
    right = 0.0
    for fold in range(folds):
        test = np.arange(len(x)) % folds == fold
        scale = np.sqrt((x[~test] ** 2).mean(axis=0))
        scale[scale == 0] = 1
        said = np.round(x[test] / scale @ _weights(x[~test] / scale, ridge), 9)
        right += float(((1 + np.sign(said)) / 2).sum())
    return right / len(x)


def _weights(x: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Return the weights of a logistic model in which every row was won, by Newton's method."""
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        lost = 1 / (1 + np.exp(np.clip(x @ weights, -30, 30)))
        curved = (x * (lost * (1 - lost))[:, None]).T @ x + ridge * np.eye(x.shape[1])
        weights = weights + np.linalg.solve(curved, x.T @ lost - ridge * weights)
    return weights


def twin_problems(name: str) -> Iterator[str]:
    """Yield every property that a set of twins lacks."""
    rows, (content_type, size, topics) = read(name), TWIN_SETS[name]
    if len(rows) != size:
        yield f"{len(rows)} pairs, not {size}"
    for row in rows:
        yield from _row_problems(row, content_type)
        if row["response_1"] == row["response_2"]:
            yield f"{row['id']}: no difference"
    if len(_categories(rows)) < topics:
        yield f"fewer than {topics} topics"
    ordered = as_run(rows)
    for what, some in (("all", ordered), (f"the first {ASKED}", ordered[:ASKED])):
        yield from (f"{what}: {problem}" for problem in (*_balance_problems(some), *telling(some)))
    yield from _repeated(rows, "id", *TEXTS)
    gold = {row["id"]: row["gold"] for row in rows}
    for pair, own in readings_of(name).items():
        if [reading["choice"] for reading in own] != [gold.get(pair)] * 2:
            yield f"{pair}: not read twice, each time as gold says"
    if readings_of(name).keys() != gold.keys():
        yield "the readings are not about these pairs"


def _repeated(rows: Sequence[Mapping[str, Any]], *fields: str) -> Iterator[str]:
    """Yield what stands twice in one of these fields."""
    for field in fields:
        values = Counter(row[field] for row in rows)
        yield from (f"{field} twice: {value[:60]!r}" for value, count in values.items() if count > 1)


def telling(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what a judge could go by that counts and does not read."""
    least, most = TELLS
    for count, share in told(rows).items():
        if not least <= share <= most:
            yield f"the response with more {count} is the better one on {share:.2f} of the pairs"
    if (share := learned(rows)) > most:
        yield f"a model of all counts is right on {share:.2f} of the pairs"


# --- examples: one response -----------------------------------------------------------------------------------


def example_problems(name: str) -> Iterator[str]:
    """Yield every property that a set of examples lacks."""
    rows, (fields, size, topics) = read(name), EXAMPLE_SETS[name]
    if len(rows) != size:
        yield f"{len(rows)} examples, not {size}"
    for row in rows:
        yield from _example_problems(row, fields)
    if len(_categories(rows)) < topics:
        yield f"fewer than {topics} topics"
    yield from _repeated(rows, "id", "question", "response")
    readings = readings_of(name)
    if readings.keys() != {row["id"] for row in rows}:
        yield "the readings are not about these examples"
    for row in rows:
        own = readings.get(row["id"], [])
        yield from _label_problems(row, own) if "label" in row else _vote_problems(row["id"], own)
    if "label" in fields:
        yield from _labels_problems(rows)


def _example_problems(row: dict[str, Any], fields: set[str]) -> Iterator[str]:
    if row.keys() != fields:
        yield f"{row.get('id')}: fields {sorted(row)}"
        return
    if not RUBRIC.fullmatch(row["question"]):
        yield f"{row['id']}: the question is not one with a rubric of two or three points"
    for field in ("question", "response"):
        if found := CUE_WORDS.search(row[field]):
            yield f"{row['id']}: {field} says {found[0]!r}"


def _vote_problems(example: str, readings: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what keeps an example from lying near the line: of six readings two to four pass it."""
    if {(each["strictness"], each["reading"]) for each in readings} != {(s, n) for s in STRICTNESSES for n in READINGS}:
        yield f"{example}: not read twice in each strictness"
    if not 2 <= (passed := passes(readings)) <= 4:
        yield f"{example}: {passed} of {len(readings)} readings pass it"


def _label_problems(row: dict[str, Any], readings: list[dict[str, Any]]) -> Iterator[str]:
    if [each["pass"] for each in readings] != [row["label"] == "pass"] * 2:
        yield f"{row['id']}: not read twice, each time as the label says"


def _labels_problems(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what keeps labels from being half of each, and what tells them that can be counted."""
    if Counter(row["label"] for row in rows) != {"pass": len(rows) / 2, "fail": len(rows) / 2}:
        yield "the labels are not half of each"
    for count, share in threshold(rows).items():
        if share > TELLS[1]:
            yield f"a limit of the number of {count} tells the label of {share:.2f}"


def threshold(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return for each count of the response the share of labels that its best limit tells, either way round."""
    found = {}
    passed = np.array([row["label"] == "pass" for row in rows])
    for name, count in COUNTS.items():
        values = np.array([count(row["response"]) for row in rows])
        shares = [float((passed == (values > limit)).mean()) for limit in {*values.tolist()}]
        found[name] = max(max(share, 1 - share) for share in shares)
    return found


def passes(readings: Sequence[Mapping[str, Any]]) -> int:
    """Return how many readings pass an example."""
    return sum(reading["pass"] for reading in readings)


def verdicts(name: str) -> Iterator[str]:
    """Yield what the readings of a set of examples amount to."""
    readings = readings_of(name)
    splits = Counter(passes(own) for own in readings.values())
    yield f"{name}: {len(readings)} examples; readings that pass: " + ", ".join(
        f"{split} of {len(next(iter(readings.values())))}: {splits[split]}" for split in sorted(splits)
    )


# --- the sets beside each other -------------------------------------------------------------------------------


def shared() -> Iterator[str]:
    """Yield what twins and examples have in common with any other house set, or questions of one set with each other."""
    rows = [(name, row) for name in (*TWIN_SETS, *EXAMPLE_SETS, *SETS, *CLOSE_SETS) for row in read(name)]
    of_others = sum(name in SETS or name in CLOSE_SETS for name, _ in rows)
    asked = [(row["id"], frozenset(re.findall(r"[a-z]{4,}", _first_line(row).lower()))) for _, row in rows]
    yield from _near_questions(asked, of_others)
    texts = [(name, row["id"], row[field]) for name, row in rows for field in (*TEXTS[1:], "response") if field in row]
    sets_of: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, _, text in texts:
        for phrase in _shingles(text):
            sets_of[phrase].add(name)
    for name, own, text in texts:
        phrases = _shingles(text)
        if sum(sets_of[phrase] != {name} for phrase in phrases) > 0.2 * len(phrases):
            yield f"{own} shares whole phrases with another set"
    ids = Counter(row["id"] for _, row in rows)
    yield from (f"id twice: {each}" for each, count in ids.items() if count > 1)


def _first_line(row: Mapping[str, Any]) -> str:
    return str(row["question"]).partition("\n")[0]


if __name__ == "__main__":
    found = [f"{name}: {problem}" for name in SETS for problem in problems(name)]
    found += [f"{name}: {problem}" for name in CLOSE_SETS for problem in close_problems(name)]
    found += [f"{name}: {problem}" for name in TWIN_SETS for problem in twin_problems(name)]
    found += [f"{name}: {problem}" for name in EXAMPLE_SETS for problem in example_problems(name)]
    found += shared()
    sys.stdout.write("\n".join(line for name in CLOSE_SETS for line in closeness(name)) + "\n")
    for name in TWIN_SETS:
        ordered = as_run(read(name))
        for rows in (ordered, ordered[:ASKED]):
            each = sorted(told(rows).items(), key=lambda item: -abs(item[1] - 0.5))[:4]
            said = ", ".join(f"{count} {share:.3f}" for count, share in each)
            sys.stdout.write(f"{name}, {len(rows)}: {said}; a model of all counts {learned(rows):.3f}\n")
    sys.stdout.write("\n".join(line for name in EXAMPLE_SETS for line in verdicts(name)) + "\n")
    sys.stdout.write("\n".join(found or ["every property of the house sets holds"]) + "\n")
    sys.exit(bool(found))
