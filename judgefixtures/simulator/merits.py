"""How good one response is to the readers of the house sets: the log odds with which they pass it.

The readers are sessions of a language model, not people, that read without knowing where a text is from. Of
`house-answers` the odds are those of their readings, of a response with a label, or with gold, those of a clear one, of
a close pair's response half its pair's; any other text has some of its own. No judge is known here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from judgefixtures.material.pairs import Example, Pair, as_examples
from judgefixtures.simulator.drawn import once, uniform
from judgefixtures.simulator.preferences import CLEAR, house_set, house_sets, leans, log_odds
from judgefixtures.simulator.shown import ShownAlone, unedited
from judgefixtures.sources.described import DATA

NEAR, GRADED = "house-answers", "house-graded"
ASKED = (NEAR, GRADED, "house-control", "house-control-stories")  # what graders are usually asked about
RANKED_TOGETHER = 20  # examples near the line: a shift of so many in twenty is exact on each twenty of a run


@dataclass(frozen=True, slots=True)
class Merit:
    """What readers think of a response.

    `odds` are the log odds with which they pass it. `lean` is its rank among those that it stands with, the best first:
    a judge that passes half of them passes where it is below .5. `kind` says whether readers disagree about it ("near"
    the line), all say the same ("clear"), or have never seen it. `place` is where it comes in the order of a run, among
    the near ones of its set, or among the clear ones that pass or fail as it does.
    """

    odds: float
    lean: float
    kind: Literal["near", "clear", "unknown"]
    place: int = 0
    among: str = ""

    @property
    def passes(self) -> bool:
        """Whether readers pass it rather than not."""
        return self.lean < 0.5


NOTHING = Merit(-CLEAR, 1.0, "clear")  # of a response without content


@dataclass(frozen=True, slots=True)
class _Known:
    question: str
    text: str
    content_type: str
    merit: Merit


def merit_of(shown: ShownAlone, prompt: str) -> Merit:
    """Return what readers think of the response of a prompt, whatever was added to it."""
    plain = unedited(shown.text, shown.content_type)
    if plain is None:
        return NOTHING
    for known in _by_text().get(plain, ()):
        if known.question in prompt:
            return known.merit
    for line in prompt.split("\n"):  # with a text in it that is not known, or before other parts of a prompt
        for known in _by_line().get(line, ()):
            if known.question in prompt and known.text in shown.text:
                return known.merit
    lean = uniform("grade", plain)
    return Merit(CLEAR * (1 - 2 * lean), lean, "unknown")


def earlier(merit: Merit, low: float, high: float) -> int:
    """Return how many near responses come before one in its set's order that lean from `low` up to `high`."""
    return sum(low <= known.merit.lean < high for known in _near_ones()[merit.among][: merit.place])


def house_odds(name: str) -> tuple[float, ...]:
    """Return the log odds with which readers pass each response of a house set, in the order in which a run takes them.

    >>> {round(odds, 1) for odds in house_odds("house-graded")} == {4.8, -4.8}
    True
    """
    return tuple(known.merit.odds for known in _everything() if known.merit.among.split()[0] == name)


def house_texts(among: str, content_type: str) -> tuple[str, ...]:
    """Return the responses of a merit's set; where it has none, of the sets that graders are usually asked about."""
    names = among.split()[:1] or ASKED
    known = (each for each in _everything() if each.merit.among.split()[0] in names)
    return tuple(each.text for each in known if each.content_type == content_type)


# --- the house sets ---------------------------------------------------------------------------------------


@once
def _everything() -> tuple[_Known, ...]:
    pairs = (each for name, pairs in house_sets().items() for each in _responses(name, pairs))
    return (*_near(), *_labelled(GRADED, _examples(GRADED)), *pairs)


@once
def _by_text() -> Mapping[str, list[_Known]]:
    found: dict[str, list[_Known]] = {}
    for known in _everything():
        found.setdefault(unedited(known.text, known.content_type) or "", []).append(known)
    return MappingProxyType(found)


@once
def _by_line() -> Mapping[str, list[_Known]]:
    found: dict[str, list[_Known]] = {}
    for known in _everything():
        found.setdefault(known.question.partition("\n")[0], []).append(known)
    return MappingProxyType(found)


@once
def _near_ones() -> Mapping[str, list[_Known]]:
    """Return the responses near the line of each set, in the order of a run."""
    found: dict[str, list[_Known]] = {}
    for known in _everything():
        if known.merit.kind == "near":
            found.setdefault(known.merit.among, []).append(known)
    return MappingProxyType(found)


def _examples(name: str) -> tuple[Example, ...]:
    """Return the examples of a house set in the order in which a run takes them."""
    return tuple(each for each in house_set(name) if isinstance(each, Example))


@once
def reader_odds() -> Mapping[str, float]:
    """Return the log odds with which readers pass each example near the line, by its id, half a vote added to each."""
    votes: dict[str, list[bool]] = {}
    for line in (DATA / f"{NEAR}.reading.jsonl").read_text(encoding="utf-8").splitlines():
        reading = json.loads(line)
        votes.setdefault(reading["id"], []).append(reading["pass"])
    return MappingProxyType({each: log_odds(sum(found), len(found) - sum(found)) for each, found in votes.items()})


def _near() -> Iterator[_Known]:
    odds, examples = reader_odds(), _examples(NEAR)
    for start in range(0, len(examples), RANKED_TOGETHER):
        together = examples[start : start + RANKED_TOGETHER]
        ranked = sorted(together, key=lambda each: (-odds[each.id], uniform("rank", each.question, each.response)))
        for place, example in enumerate(together, start):
            lean = (ranked.index(example) + 0.5) / len(together)
            merit = Merit(odds[example.id], lean, "near", place, NEAR)
            yield _Known(example.question, example.response, example.content_type, merit)


def _labelled(name: str, examples: Sequence[Example]) -> Iterator[_Known]:
    places = {"pass": 0, "fail": 0}
    for example in examples:
        label = example.label or "fail"
        odds, lean = (CLEAR, 0.0) if label == "pass" else (-CLEAR, 1.0)
        merit = Merit(odds, lean, "clear", places[label], f"{name} {label}")
        places[label] += 1
        yield _Known(example.question, example.response, example.content_type, merit)


def _responses(name: str, pairs: Sequence[Pair]) -> Iterator[_Known]:
    """Yield the responses of a set of pairs: those with gold are clear, the others near the line."""
    yield from _labelled(name, [each for pair in pairs if pair.gold is not None for each in as_examples(pair)])
    close = [pair for pair in pairs if pair.gold is None]
    known = {each.pair: each for found in leans(1.0).values() for each in found}
    for at, pair in enumerate(close):
        lean, half = known[pair].lean, known[pair].difference / 2
        for number, text in enumerate((pair.response_1, pair.response_2)):
            said = (1 - lean, -half) if number else (lean, half)
            yield _Known(pair.question, text, pair.content_type, Merit(said[1], said[0], "near", 2 * at + number, name))
