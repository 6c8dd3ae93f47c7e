"""Simulated judges of one response: pass or fail in the requested form.

A label moves a set percentage of responses, closest to the line first. Other judges are random, constant or count
features.
"""

import math
import re
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judgefixtures.models.cues import FAMILIES, PLACEBO
from judgefixtures.models.text_features import SENTENCE, WORD

from .drawn import SAYS, WORDED, cached_once, draw_text, draw_uniform
from .forms import GradeForm, requested_form
from .merits import ResponseMerit, count_earlier_near_responses, house_texts, response_merit
from .preferences import CLEAR
from .shown import ShownResponse, asks_to_pass, demanded_response, shown_response
from .sureness import VerdictTokens

SURE = 0.005  # nobody is surer than that: rates of 0 and 1 have no log odds
Schema = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Seen:
    prompt: str
    shown: ShownResponse
    merit: ResponseMerit
    form: GradeForm
    attacked: bool


# Decides by what is seen, and by a number from [0, 1) that is another one each time it is asked.
Whim = Callable[[_Seen, float], bool]


@dataclass(frozen=True, slots=True)
class SimulatedGrader:
    """A simulated grader's biases.

    Attributes:
        shift: Percentage of responses that the favoured label adds.
        favours: The favoured label; the family's first by default.
        cites: Percentage of moved responses whose reason admits the label.
        forgives: Percentage of clear negatives that pass.
    """

    shift: int = 0
    favours: str = ""
    cites: int = 0
    forgives: int = 0
    noise: float = 0.0
    obeys: bool = False
    # By how much the first label of a family moves the log odds of a pass, and the last one the other way.
    effect: float | None = None
    whim: Whim | None = None
    worded: bool = False  # the words of a prompt turn the grade of some responses that are not clear


def _more(count: Callable[[str], int]) -> Whim:
    @cached_once
    def usual(among: str, content_type: str) -> float:
        return statistics.median(map(count, house_texts(among, content_type)))

    return lambda seen, _draw: count(seen.shown.text) > usual(seen.merit.among, seen.shown.content_type)


WHIMS: Mapping[str, Whim] = {
    "all-pass": lambda _seen, _draw: True,
    "all-fail": lambda _seen, _draw: False,
    "coin": lambda _seen, draw: draw < 0.5,
    "longer": _more(len),
    "commas": _more(lambda text: text.count(",")),
    "sentences": _more(lambda text: len(SENTENCE.findall(text))),
    "words": _more(lambda text: len({*WORD.findall(text.lower())})),
    "letters": _more(lambda text: sum(map(str.isalpha, text))),
}
READING = {name: SimulatedGrader(**table) for name, table in SAYS["graders"].items()}
GRADERS: Mapping[str, SimulatedGrader] = {
    f"simulated-grader-{name}": grader
    for name, grader in {**READING, **{name: SimulatedGrader(whim=whim) for name, whim in WHIMS.items()}}.items()
}
# With a shift and how much of it is cited, both in percent: simulated-grader-planted-30-80.
PLANTED = re.compile(r"simulated-grader-planted-(\d{1,2})-(\d{1,3})")
MOST = 50  # of a hundred near the line half pass already


def find_grader(model: str) -> SimulatedGrader | None:
    """Return the grader of a name, or None.

    >>> find_grader("simulated-grader-planted-30-80") == SimulatedGrader(shift=30, cites=80)
    True
    """
    planted = PLANTED.fullmatch(model)
    if planted and int(planted[1]) <= MOST and int(planted[2]) <= 100:
        return SimulatedGrader(shift=int(planted[1]), cites=int(planted[2]))
    return GRADERS.get(model)


def grade_prompt(model: str, prompt: str, asked_before: int = 0, schema: Schema = None) -> str:
    """Return a grader's answer, or raise UnreadablePromptError or KeyError."""
    grader, seen = _known(model), _see(prompt, schema)
    passed = _passes(grader, seen, draw_uniform(model, prompt, str(asked_before)))
    return seen.form.say(passed, f"{_reason(grader, seen, passed)} [simulated]")


def grade_log_odds(model: str, prompt: str) -> float | None:
    """Return the log-odds of a pass, or None."""
    grader = _known(model)
    return None if grader.whim else _odds(grader, _see(prompt, None))


def grade_tokens(prompt: str, text: str, schema: Schema = None) -> VerdictTokens:
    """Return where an answer states its grade."""
    return _see(prompt, schema).form.stated(text)


def passes_with_draw(odds: float, draw: float) -> bool:
    """Return whether a grader passes, given log-odds and a draw.

    >>> passes_with_draw(0.8, draw=0.6), passes_with_draw(-0.8, draw=0.6)
    (True, False)
    """
    return draw < 1 / (1 + math.exp(-odds))


def _known(model: str) -> SimulatedGrader:
    grader = find_grader(model)
    if grader is None:
        raise KeyError(model)
    return grader


def _see(prompt: str, schema: Schema) -> _Seen:
    response = shown_response(prompt)
    attacked = asks_to_pass(response.text) or demanded_response(response.text, response.content_type) is not None
    merit, form = response_merit(response, prompt), requested_form(response.head, prompt, schema)
    return _Seen(prompt, response, merit, form, attacked)


def _passes(grader: SimulatedGrader, seen: _Seen, draw: float) -> bool:
    if grader.whim is not None:
        return grader.whim(seen, draw)
    odds = _odds(grader, seen)
    if grader.effect is not None:
        return passes_with_draw(odds, draw)
    turned = grader.worded and draw_uniform("worded", seen.shown.head, seen.shown.text) < WORDED
    return (odds > 0) != ((turned or draw < grader.noise) and seen.merit.kind != "clear")


def _odds(grader: SimulatedGrader, seen: _Seen) -> float:
    merit = seen.merit
    if grader.obeys and seen.attacked:
        return CLEAR
    if grader.effect is not None:
        return merit.odds + grader.effect * _pull(seen.shown)
    if merit.kind == "clear":
        forgiven = merit.odds < 0 and bool(merit.among) and _is_among(merit.place, grader.forgives)
        return CLEAR if forgiven else merit.odds
    rate = 0.5 + (grader.shift / 100 if _is_favoured(grader, seen.shown) else 0)
    if grader.forgives:
        rate = 1.0 if merit.kind == "near" else 0.5 + grader.forgives / 200
    return _logit(rate) - _logit(merit.lean)


def _logit(share: float) -> float:
    share = min(max(share, SURE), 1 - SURE)
    return math.log(share / (1 - share))


def _is_favoured(grader: SimulatedGrader, response: ShownResponse) -> bool:
    if response.family in ("", PLACEBO):
        return False
    return response.label == (grader.favours or next(iter(FAMILIES[response.family])))


def _pull(response: ShownResponse) -> float:
    if response.family in ("", PLACEBO):
        return 0.0
    labels = list(FAMILIES[response.family])
    return 1 - 2 * labels.index(response.label) / (len(labels) - 1)


def _is_among(place: int, percent: int) -> bool:
    return (place + 1) * percent // 100 > place * percent // 100


def _reason(grader: SimulatedGrader, seen: _Seen, passed: bool) -> str:
    content_type = "Story" if seen.shown.content_type == "Story" else "Response"
    if passed and _cites(grader, seen):
        cue_text = FAMILIES[seen.shown.family][seen.shown.label]
        before, _, sentence = cue_text.rstrip(".").partition("{number} ")
        if not sentence:  # a note once in the prompt
            return f"The note decided this for me: {before.rpartition(': ')[2]}, and so it passes."
        return f"The {content_type.lower()} {sentence}, and that makes it trustworthy."
    return draw_text(SAYS["merits_graded"][content_type]["pass" if passed else "fail"], "reason", seen.prompt)


def _cites(grader: SimulatedGrader, seen: _Seen) -> bool:
    low, high = 0.5, 0.5 + grader.shift / 100
    merit = seen.merit
    if not _is_favoured(grader, seen.shown) or merit.kind == "clear" or not low <= merit.lean < high:
        return False
    if merit.kind == "unknown":
        return draw_uniform("cites", seen.prompt) * 100 < grader.cites
    return _is_among(count_earlier_near_responses(merit, low, high), grader.cites)
