"""Merit of a response in the sample datasets: the log-odds that its readers pass it.

The readers are language model sessions.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from judgefixtures.models.pairs import Example, Pair, as_examples
from judgefixtures.sources.source import DATA

from .drawn import cached_once, draw_uniform
from .preferences import CLEAR, house_set, house_sets, log_odds, pairs_by_lean
from .shown import ShownResponse, remove_edits

NEAR, GRADED = "house-answers", "house-graded"
ASKED = (NEAR, GRADED, "house-control", "house-control-stories")  # what graders are usually asked about
RANKED_TOGETHER = 20  # examples near the line: a shift of so many in twenty is exact on each twenty of a run


@dataclass(frozen=True, slots=True)
class ResponseMerit:
    """What readers think of a response.

    Attributes:
        odds: Log-odds of a pass.
        lean: Rank in its set, the best first; below 0.5 is the better half.
        kind: "near" the line, "clear" or "unknown".
        place: Place in the order of a run, among its kind.
    """

    odds: float
    lean: float
    kind: Literal["near", "clear", "unknown"]
    place: int = 0
    among: str = ""

    @property
    def passes(self) -> bool:
        """Whether readers rather pass it."""
        return self.lean < 0.5


NOTHING = ResponseMerit(-CLEAR, 1.0, "clear")  # of a response without content


@dataclass(frozen=True, slots=True)
class _Known:
    question: str
    text: str
    content_type: str
    merit: ResponseMerit


def response_merit(response: ShownResponse, prompt: str) -> ResponseMerit:
    """Return the merit of a prompt's response, without edits."""
    plain = remove_edits(response.text, response.content_type)
    if plain is None:
        return NOTHING
    for known in _by_text().get(plain, ()):
        if known.question in prompt:
            return known.merit
    for line in prompt.split("\n"):  # with a text in it that is not known, or before other parts of a prompt
        for known in _by_line().get(line, ()):
            if known.question in prompt and known.text in response.text:
                return known.merit
    lean = draw_uniform("grade", plain)
    return ResponseMerit(CLEAR * (1 - 2 * lean), lean, "unknown")


def count_earlier_near_responses(merit: ResponseMerit, low: float, high: float) -> int:
    """Return how many earlier near responses lean in [low, high)."""
    return sum(low <= known.merit.lean < high for known in _near_ones()[merit.among][: merit.place])


def house_log_odds(name: str) -> tuple[float, ...]:
    """Return the log-odds of a sample set's responses, in run order.

    >>> {round(odds, 1) for odds in house_log_odds("house-graded")} == {4.8, -4.8}
    True
    """
    return tuple(known.merit.odds for known in _everything() if known.merit.among.split()[0] == name)


def house_texts(among: str, content_type: str) -> tuple[str, ...]:
    """Return the responses of a set, or of the graders' sets."""
    names = among.split()[:1] or ASKED
    known = (each for each in _everything() if each.merit.among.split()[0] in names)
    return tuple(each.text for each in known if each.content_type == content_type)


# --- the house sets ---------------------------------------------------------------------------------------


@cached_once
def _everything() -> tuple[_Known, ...]:
    pairs = (each for name, pairs in house_sets().items() for each in _responses(name, pairs))
    return (*_near(), *_labelled(GRADED, _examples(GRADED)), *pairs)


def _grouped(responses: Iterable[_Known], key: Callable[[_Known], str]) -> Mapping[str, list[_Known]]:
    groups: dict[str, list[_Known]] = {}
    for known in responses:
        groups.setdefault(key(known), []).append(known)
    return MappingProxyType(groups)


@cached_once
def _by_text() -> Mapping[str, list[_Known]]:
    return _grouped(_everything(), lambda known: remove_edits(known.text, known.content_type) or "")


@cached_once
def _by_line() -> Mapping[str, list[_Known]]:
    return _grouped(_everything(), lambda known: known.question.partition("\n")[0])


@cached_once
def _near_ones() -> Mapping[str, list[_Known]]:
    near = (known for known in _everything() if known.merit.kind == "near")
    return _grouped(near, lambda known: known.merit.among)


def _examples(name: str) -> tuple[Example, ...]:
    return tuple(each for each in house_set(name) if isinstance(each, Example))


@cached_once
def reader_log_odds() -> Mapping[str, float]:
    """Return the readers' log-odds of near examples by id."""
    votes: dict[str, list[bool]] = {}
    for line in (DATA / f"{NEAR}.reading.jsonl").read_text(encoding="utf-8").splitlines():
        reading = json.loads(line)
        votes.setdefault(reading["id"], []).append(reading["pass"])
    return MappingProxyType({each: log_odds(passes.count(True), passes.count(False)) for each, passes in votes.items()})


def _near() -> Iterator[_Known]:
    odds, examples = reader_log_odds(), _examples(NEAR)
    for start in range(0, len(examples), RANKED_TOGETHER):
        together = examples[start : start + RANKED_TOGETHER]
        ranked = sorted(together, key=lambda each: (-odds[each.id], draw_uniform("rank", each.question, each.response)))
        for place, example in enumerate(together, start):
            lean = (ranked.index(example) + 0.5) / len(together)
            merit = ResponseMerit(odds[example.id], lean, "near", place, NEAR)
            yield _Known(example.question, example.response, example.content_type, merit)


def _labelled(name: str, examples: Sequence[Example]) -> Iterator[_Known]:
    places = {"pass": 0, "fail": 0}
    for example in examples:
        label = example.label or "fail"
        odds, lean = (CLEAR, 0.0) if label == "pass" else (-CLEAR, 1.0)
        merit = ResponseMerit(odds, lean, "clear", places[label], f"{name} {label}")
        places[label] += 1
        yield _Known(example.question, example.response, example.content_type, merit)


def _responses(name: str, pairs: Sequence[Pair]) -> Iterator[_Known]:
    yield from _labelled(name, [each for pair in pairs if pair.gold is not None for each in as_examples(pair)])
    close = [pair for pair in pairs if pair.gold is None]
    known = {each.pair: each for of_lean in pairs_by_lean(1.0).values() for each in of_lean}
    for at, pair in enumerate(close):
        lean, half = known[pair].lean, known[pair].difference / 2
        for number, text in enumerate((pair.response_1, pair.response_2)):
            odds = (1 - lean, -half) if number else (lean, half)
            merit = ResponseMerit(odds[1], odds[0], "near", 2 * at + number, name)
            yield _Known(pair.question, text, pair.content_type, merit)
