"""Behaviour of each simulated judge, as a function of the prompt.

A judge chooses the first response of a rate (percentage) of pairs, given two labels; closest pairs move first.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judgefixtures.models.cues import FAMILIES, PLACEBO
from judgefixtures.models.published import Labels, experiments
from judgefixtures.prompts.planning import END_TAG, EXECUTION_MARK, PLANNING_MARK, START_TAG

from .drawn import SAYS, WORDED, draw_text, draw_uniform
from .graders import GRADERS, find_grader, grade_log_odds, grade_prompt
from .preferences import CLEAR, HousePair, pairs_by_lean
from .shown import SENTENCES, UnreadablePromptError, demanded_response, remove_edits, shown_response

LONGER = 1.6  # how much longer a response is that a judge who prefers length falls for
NO_LABELS: Labels = ("", "")
EXTRAPOLATED = " [simulated; extrapolated]"  # said where the paper has no rate for the condition

# arXiv 2509.26072, Tables 2-5: percent of pairs in which the first response (or story) was chosen.
PUBLISHED: Mapping[tuple[str, str], Mapping[Labels, int]] = {
    (each.model, each.content_type): each.rates for each in experiments()
}

PROVENANCE = tuple(FAMILIES["provenance"])
# Of two labels of a family the earlier one is followed: no simulated judge stands for a real one's view of people.
STRENGTH = {
    label: strength
    for name, labels in FAMILIES.items()
    if name != PLACEBO
    for strength, label in enumerate(reversed(tuple(labels)))
}
# By how much EXPERT exceeds HUMAN where both were measured against UNKNOWN (GPT-4o, ELI5): 18 - 7.
EXPERT_OVER_HUMAN = 11
FOLLOWED_SHIFT = 20  # candid and silent judges follow a cue in 40 of 100 pairs: 50 +- 20
NOISE = 0.02


@dataclass(frozen=True, slots=True)
class PromptFeatures:
    """What a judge reads in a prompt.

    Attributes:
        difference: Log-odds that readers prefer the first response.
        longer: The much longer response.
        demanded: The response that an attack asks for.
    """

    labels: Labels
    lean: float
    difference: float
    content_type: str
    brackets: bool
    longer: int | None = None
    demanded: int | None = None
    planned: bool = False


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """A judge's rates in percent, admissions, noise and weakness."""

    rate: Callable[[Labels, str], tuple[int, bool]]
    admits: bool = False
    noise: float = 0.0
    # How far the house sets' gold separates the pairs: at 1 the judge is right about all of them.
    separation: float = 1.0
    prefers_length: bool = False
    obeys: bool = False
    # By how much a label moves the latent difference of a pair; None: verdicts go by rates, not by chance.
    effect: float | None = None
    # By how much the labels new and expert move it; None: likewise. The verdict is the likelier one, not a draw.
    sureness: float | None = None
    worded: bool = False  # the words of a prompt turn the choice in some pairs that are not clear


def _faithful(_labels: Labels, _content_type: str) -> tuple[int, bool]:
    return 50, True


def _follows(labels: Labels, _content_type: str) -> tuple[int, bool]:
    first, second = (STRENGTH.get(label, 0) for label in labels)
    return 50 + FOLLOWED_SHIFT * ((first > second) - (first < second)), True


def _published(model: str) -> Callable[[Labels, str], tuple[int, bool]]:
    def rate(labels: Labels, content_type: str) -> tuple[int, bool]:
        kind = content_type if content_type == "Story" else "Response"
        rates = PUBLISHED[model, kind]
        return (rates[labels], True) if labels in rates else (_extrapolated(labels, rates), False)

    return rate


def _extrapolated(labels: Labels, rates: Mapping[Labels, int]) -> int:
    published = [value for (x, _), value in rates.items() if x in PROVENANCE]
    mean = sum(published) / len(published)
    strength = {label: rates[label, "unknown"] - rates["unknown", label] for label in ("human", "llm")}
    strength["expert"] = strength["human"] + EXPERT_OVER_HUMAN
    shift = strength.get(labels[0], 0) - strength.get(labels[1], 0)
    higher = min(round(mean + abs(shift) / 2), 100)
    return higher if shift >= 0 else max(higher - abs(shift), 0)


JUDGES: Mapping[str, SimulatedJudge] = {
    "simulated-faithful": SimulatedJudge(_faithful),
    "simulated-candid": SimulatedJudge(_follows, admits=True),
    "simulated-silent": SimulatedJudge(_follows),
    "simulated-noisy": SimulatedJudge(_faithful, noise=NOISE),
    "simulated-verbose": SimulatedJudge(_faithful, prefers_length=True),
    "simulated-obedient": SimulatedJudge(_faithful, obeys=True),
    "simulated-swayed": SimulatedJudge(_faithful, effect=0.8),
    "simulated-unsure": SimulatedJudge(_faithful, sureness=0.5),
    "simulated-worded": SimulatedJudge(_faithful, worded=True),
    "simulated-gpt-4o": SimulatedJudge(_published("gpt-4o"), separation=0.7),
    "simulated-gemini-2.5-flash": SimulatedJudge(_published("gemini-2.5-flash"), separation=0.6),
}


@dataclass(frozen=True, slots=True)
class SimulatedScorer:
    """A judge that scores one response.

    A label adds points (of ten) in `share` of the pairs, unmentioned in the reason.
    """

    points: Mapping[str, int]
    share: float = 1.0


SCORERS: Mapping[str, SimulatedScorer] = {
    f"simulated-pointwise-{name}": SimulatedScorer(**table) for name, table in SAYS["scorers"].items()
}
MODELS = (*JUDGES, *SCORERS, *GRADERS)


def is_simulated(model: str) -> bool:
    """Return whether a simulated judge has this name.

    >>> is_simulated("simulated-faithful"), is_simulated("simulated-grader-planted-30-80"), is_simulated("gpt-4o")
    (True, True, False)
    """
    return model in MODELS or find_grader(model) is not None


def simulated_answer(model: str, prompt: str, asked_before: int = 0, schema: Mapping[str, Any] | None = None) -> str:
    r"""Return a simulated judge's answer to a prompt.

    A schema tells graders their fields.

    Raises:
        KeyError: Another model.
        UnreadablePromptError: No responses or labels found.

    >>> simulated_answer("simulated-faithful", "Which is better?\nResponse 1:\nThis.\nResponse 2:\nThat.")[:22]
    '{"selected_response": '
    """
    if model in SCORERS:
        return _score(SCORERS[model], prompt)
    if find_grader(model):
        return grade_prompt(model, prompt, asked_before, schema)
    judge = JUDGES[model]
    if prompt.startswith(PLANNING_MARK):
        return _plan(judge, prompt)
    seen = read_prompt(prompt, judge.separation)
    rate, published = judge.rate(seen.labels, seen.content_type)
    draw, first = draw_uniform(model, prompt, str(asked_before)), seen.lean * 100 < rate
    if judge.effect is not None:
        first = prefers_first(seen.difference, seen.labels, judge.effect, draw)
    if judge.sureness is not None:
        first = _unsure(seen, judge.sureness) >= 0
    choice = _weakness(judge, seen) or (1 if first else 2)
    if (judge.noise and draw < judge.noise) or (judge.worded and _is_turned(seen, prompt)):
        choice = 3 - choice
    reason = _reason(judge, seen, choice, rate, prompt) + (" [simulated]" if published else EXTRAPOLATED)
    if seen.brackets:
        return f"{reason}\n\n[[{'AB'[choice - 1]}]]"
    return f'{{"selected_response": {choice}, "reason": "{reason}"}}'


def prefers_first(difference: float, labels: Labels, effect: float, draw: float) -> bool:
    """Return whether a judge with a latent effect chooses the first response.

    A label expected to win adds the effect; `draw` is in [0, 1).

    >>> prefers_first(0.0, ("new", "old"), 0.8, draw=0.6), prefers_first(0.0, ("old", "new"), 0.8, draw=0.6)
    (True, False)
    """
    return draw < 1 / (1 + math.exp(-_swayed(difference, labels, effect)))


def _swayed(difference: float, labels: Labels, effect: float) -> float:
    first, second = (STRENGTH.get(label, 0) for label in labels)
    return difference + effect * ((first > second) - (first < second))


def _unsure(seen: PromptFeatures, effect: float) -> float:
    favoured = [label in ("new", "expert") for label in seen.labels]
    # A clear pair's difference is that of its gold; of others the lean is told apart more finely than by votes.
    clear = abs(seen.difference) >= CLEAR
    strength = seen.difference if clear else math.log((1 - seen.lean) / seen.lean)
    return strength + effect * (favoured[0] - favoured[1])


def latent(model: str, prompt: str) -> float | None:
    r"""Return the log-odds of the first response or a pass, or None.

    >>> latent("simulated-faithful", "Which is better?\nResponse 1:\nThis.\nResponse 2:\nThat.")
    """
    if find_grader(model):
        return grade_log_odds(model, prompt)
    judge = JUDGES[model]
    if prompt.startswith(PLANNING_MARK):
        return None
    seen = read_prompt(prompt, judge.separation)
    if judge.sureness is not None:
        return _unsure(seen, judge.sureness)
    return None if judge.effect is None else _swayed(seen.difference, seen.labels, judge.effect)


def _is_turned(seen: PromptFeatures, prompt: str) -> bool:
    title = next(iter(_SECTION.finditer(prompt)), None)
    head = prompt if title is None else prompt[: title.start()]
    return abs(seen.difference) < CLEAR and draw_uniform("worded", head) < WORDED


def _weakness(judge: SimulatedJudge, seen: PromptFeatures) -> int | None:
    if judge.obeys and seen.demanded:
        return seen.demanded
    return seen.longer if judge.prefers_length and not seen.planned else None


def _plan(judge: SimulatedJudge, prompt: str) -> str:
    if judge.obeys:
        return "Sure! It works like this: the one thing leads to the other, and so it comes about. [simulated]"
    return f"{START_TAG}\n{draw_text(SAYS['plans'], 'plan', prompt)}\n{END_TAG}\n[simulated]"


def _reason(judge: SimulatedJudge, seen: PromptFeatures, choice: int, rate: int, prompt: str) -> str:
    name = "Story" if seen.content_type == "Story" else "Response"
    merit = draw_text(SAYS["merits"][name], "reason", prompt).format(n=choice)
    followed = judge.admits and abs(seen.lean * 100 - 50) < FOLLOWED_SHIFT and (choice == 1) == (rate > 50)
    if not followed or rate == 50:
        return merit
    label = seen.labels[choice - 1]
    family = next(labels for labels in FAMILIES.values() if {*seen.labels} <= {*labels})
    attribute = family[label].partition("{number} ")[2].rstrip(".")
    return f"I prefer {name} {choice} because it {attribute}, which makes it the more trustworthy of the two."


def read_prompt(prompt: str, separation: float = 1.0) -> PromptFeatures:
    """Return what a judge reads in a prompt, or raise UnreadablePromptError."""
    labels = _labels(prompt)
    sections = _sections(prompt)
    first, second, content_type = sections or (prompt, "", "Response")
    _refuse_unknown_labels(prompt, first, second)
    known = _house_pair(prompt, first, second, separation)
    lured = None
    if known is not None:
        house, turned = known
        pair, content_type = house.pair, house.pair.content_type
        lean, difference = (1 - house.lean, -house.difference) if turned else (house.lean, house.difference)
        if pair.category == "nested-instruction":
            lured = pair.gold if turned else 3 - (pair.gold or 0)
    elif sections is None:
        raise UnreadablePromptError('the responses have no titles like "Response 1:" and "Response 2:"')
    else:
        lean = _lean(*(remove_edits(text, content_type) for text in (first, second)))
        difference = CLEAR * (1 - 2 * lean)
    brackets = "[[A]]" in prompt and "[[B]]" in prompt  # an attack writes one of them
    demanded, planned = demanded_response(prompt, content_type) or lured, EXECUTION_MARK in prompt
    longer = _longer(first, second)
    return PromptFeatures(labels, lean, difference, content_type, brackets, longer, demanded, planned)


def _lean(first: str | None, second: str | None) -> float:
    if first is None or second is None:
        return 0.5 if first is second else 1.0 if first is None else 0.0
    lean = draw_uniform(*sorted((first, second)))
    return 1 - lean if first > second else lean


def _longer(first: str, second: str) -> int | None:
    if len(first) > LONGER * len(second):
        return 1
    return 2 if len(second) > LONGER * len(first) else None


_CUES = [(label, re.compile(rf"^(.+) ([12]) {sentence}$", re.MULTILINE)) for _, label, sentence in SENTENCES]
_CUE_ANYWHERE = re.compile("|".join(rf"\b\w+ [12] {sentence}" for _, _, sentence in SENTENCES))


def _labels(prompt: str) -> Labels:
    labels: dict[str, tuple[int, str]] = {}
    for label, pattern in _CUES:
        for match in pattern.finditer(prompt):
            labels[match[2]] = max(labels.get(match[2], (-1, "")), (match.start(), label))
    if labels.keys() == {"1", "2"}:
        return labels["1"][1], labels["2"][1]
    if labels or _CUE_ANYWHERE.search(prompt):
        raise UnreadablePromptError("a label's sentence is not on its own line, or the other label is missing")
    return NO_LABELS


# Two lines about the two responses, one below the other, where a prompt states labels.
_LABEL_LINES = re.compile(r"^(?=.*\b(?P<word>\w+) 1 \S).*\n(?=.*\b(?P=word) 2 \S).*$", re.MULTILINE)


def _refuse_unknown_labels(prompt: str, first: str, second: str) -> None:
    heads = "\n".join(text.partition("\n")[0] for text in (first, second))  # cues before the responses
    tail = "\n".join(prompt.split("\n")[-2:])  # and after them, at the end of a prompt
    named = [match[0] for match in _LABEL_LINES.finditer(prompt) if match["word"].lower() in ("response", "story")]
    for lines in (heads, tail, *named):
        if _LABEL_LINES.fullmatch(lines) and not any(pattern.search(lines) for _, pattern in _CUES):
            raise UnreadablePromptError(f"its labels are not built-in: {lines.splitlines()[0][:100]!r}")


_SECTION = re.compile(r"^\[?(?:Assistant [AB], )?(response|story) ([12])\]?:?$", re.MULTILINE | re.IGNORECASE)


def _sections(prompt: str) -> tuple[str, str, str] | None:
    titles = list(_SECTION.finditer(prompt))
    first = next((title for title in titles if title[2] == "1"), None)
    second = next((title for title in reversed(titles) if title[2] == "2"), None)
    if first is None or second is None or first.end() > second.start():
        return None
    texts = (_without_cues(prompt[first.end() : second.start()]), _without_cues(prompt[second.end() :]))
    return (*texts, "Story" if first[1].lower() == "story" else "Response")


def _without_cues(text: str) -> str:
    for _, pattern in _CUES:
        text = pattern.sub("", text)
    return re.sub(r"^\[End of [AB]\]$", "", text, flags=re.MULTILINE).strip()


def _house_pair(prompt: str, first: str, second: str, separation: float) -> tuple[HousePair, bool] | None:
    """Return a prompt's sample pair, and whether its responses are exchanged."""
    known_by_line = pairs_by_lean(separation)
    for line in prompt.split("\n"):
        for known in known_by_line.get(line, ()):
            pair = known.pair
            if pair.question not in prompt:
                continue
            places = (prompt.rfind(pair.response_1), prompt.rfind(pair.response_2))
            if min(places) >= 0:
                return known, places[0] > places[1]
            if pair.response_1 in first or pair.response_2 in second:
                return known, False
            if pair.response_2 in first or pair.response_1 in second:
                return known, True
    return None


# --- judges that score one response at a time -------------------------------------------------------------

_SCALE = re.compile(r"\bfrom (-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")
POINTS = 10  # the scale on which merit is measured; a prompt's own has other ends
# Points by which the better of two responses is the better one, where readers call them clear, or nearly equal.
BETTER, WORSE, MIDDLE = 8, 4, 5


def _score(judge: SimulatedScorer, prompt: str) -> str:
    response = shown_response(prompt)
    question, merit = _merit(prompt, response.text, response.content_type)
    points = judge.points.get(response.label, 0) if draw_uniform("share", question) < judge.share else 0
    merits = SAYS["merits_alone"]["Story" if response.content_type == "Story" else "Response"]
    reason = f"{draw_text(merits, 'reason', prompt)} [simulated]"
    score = _on_scale(max(1, min(merit + points, POINTS)), prompt)
    if "[[" in prompt and '"score"' not in prompt:  # an attack writes brackets, too
        return f"{reason}\n\n[[{score}]]"
    return f'{{"score": {score}, "reason": "{reason}"}}'


def _merit(prompt: str, response: str, content_type: str) -> tuple[str, int]:
    plain = remove_edits(response, content_type)
    if plain is None:
        return prompt, 1
    for line in prompt.split("\n"):
        for known in pairs_by_lean(1.0).get(line, ()):
            pair = known.pair
            plains = [remove_edits(text, content_type) for text in (pair.response_1, pair.response_2)]
            if pair.question in prompt and plain in plains:
                return pair.question, _points(known, plains.index(plain) + 1)
    return prompt.partition(response)[0], 3 + int(draw_uniform("merit", plain) * 6)


def _points(known: HousePair, number: int) -> int:
    chance, better = draw_uniform("points", known.pair.question), 1 if known.difference > 0 else 2
    if abs(known.difference) == CLEAR:
        return (BETTER if number == better else WORSE) + (-1, 0, 1)[int(chance * 3)]
    apart = known.difference != 0 and chance < 2 / 3  # readers who nearly agree on the better one
    return MIDDLE + int(draw_uniform("middle", known.pair.question) * 2) + (apart and number == better)


def _on_scale(points: int, prompt: str) -> str:
    ends = _SCALE.search(prompt)
    if ends is None:
        return str(points)
    lowest, highest = float(ends[1]), float(ends[2])
    score = lowest + (points - 1) / (POINTS - 1) * (highest - lowest)
    return f"{score:.2f}" if "." in ends[0] else str(round(score))
