"""Probability of a verdict, from the server's token probabilities."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judgefixtures.models.probabilities import ROUNDING, Probability, Token
from judgefixtures.models.verdicts import Verdict
from judgefixtures.util.texts import word_set
from judgefixtures.util.thoughts import blank_thoughts

from .verdicts import BRACKETS, last_token, parse_verdict

# An answer may quote what looks like a verdict, as often as it likes; so many of the first and last ones are looked at.
MOST_PLACES = 16


def token_bytes(text: object, listed: object) -> bytes | None:
    r"""Return the bytes of a token, listed or from its text, or None.

    >>> token_bytes("\xe2\x82", [226, 130]), token_bytes(" 1", None)
    (b'\xe2\x82', b' 1')
    """
    if isinstance(listed, list) and listed and all(type(byte) is int and 0 <= byte <= 255 for byte in listed):
        return bytes(listed)
    return as_bytes(text) if isinstance(text, str) else None


Format = Literal["json", "brackets"]


def verdict_probability(
    tokens: Sequence[Token],
    text: str,
    verdict: Verdict,
    format: Format = "json",  # noqa: A002
    ties: bool = False,
) -> Probability | None:
    """Return the probability of each verdict in an answer, or None.

    `tokens` may differ slightly from `text`. With `ties` a tie is a verdict. Unlisted verdicts give bounds.

    >>> tokens = [Token(b'{"selected_response":', -0.1, {}), Token(b" 1", -0.2, {b" 1": -0.2, b" 2": -1.7}),
    ...           Token(b"}", 0.0, {})]
    >>> found = verdict_probability(tokens, '{"selected_response": 1}', Verdict(1, ""))
    >>> round(found.log_odds, 9), found.is_bound
    (1.5, False)
    """
    place = _place(text, verdict, format)
    token_before = None if place is None else _token_at(tokens, text, place)
    if place is None or token_before is None:
        return None
    token, before = token_before
    listed = token.listed
    masses: dict[int, list[float]] = {1: [], 2: [], TIE: []}
    for alternative, logprob in listed.items():
        stated = place.states if alternative == token.text else _states(alternative, before, format)
        if stated is not None:
            masses[stated].append(logprob)
    counting = (masses[1], masses[2], *([masses[TIE]] if ties else []))
    if not any(counting):
        return None
    return verdict_log_probabilities(*counting, unlisted=largest_unlisted_logprob(token, listed))


def stated_probability(first: float, second: float, tie: float = 0.0) -> Probability:
    """Return the probability that a judge states itself.

    Anything missing to 1 is elsewhere.

    >>> round(stated_probability(0.6, 0.2).value, 9)
    0.75
    """
    of_tie = [math.log(tie)] if tie else []
    return verdict_log_probabilities([math.log(first)], [math.log(second)], of_tie, unlisted=-math.inf)


def verdict_log_probabilities(
    first: list[float], second: list[float], *tie: list[float], unlisted: float
) -> Probability:
    """Return the probability from log-probabilities of each verdict.

    Verdicts without any have at most `unlisted`, so the log-odds are bounds.
    """
    ends = [[log_sum(each)] if each else [-math.inf, unlisted] for each in (first, second, *tie)]
    sides = []
    for one, other, *half in itertools.product(*ends):
        both = [each - math.log(2) for each in half]
        sides.append((log_sum([one, *both]), log_sum([other, *both])))
    odds = [one - other for one, other in sides if max(one, other) > -math.inf]
    stated = [*first, *second, *itertools.chain(*tie)]
    share = math.exp(log_sum(tie[0]) - log_sum(stated)) if tie and tie[0] else 0.0
    return Probability(min(odds), max(odds), max(0.0, 1 - math.fsum(map(math.exp, stated))), share)


def log_sum(logprobs: Sequence[float]) -> float:
    """Return the logarithm of a sum of probabilities, exactly."""
    most = max(logprobs)
    if most == -math.inf:
        return most
    return most + math.log(math.fsum(math.exp(logprob - most) for logprob in logprobs))


def largest_unlisted_logprob(token: Token, listed: Mapping[bytes, float]) -> float:
    """Return the largest possible log-probability of an unlisted token.

    The token itself gives no bound: it may be unlikely.
    """
    left = 1 - math.fsum(map(math.exp, listed.values()))
    least = min((logprob for text, logprob in listed.items() if text != token.text), default=0.0)
    return min(least, math.log(max(left, ROUNDING)))


# Words that name a verdict and say nothing of it, as keys of an object or in front of it. No "a": that is a response.
NAMES = word_set(
    "analysis answer assessment beginning best better choice chosen comparison conclusion decision end"
    " evaluation explanation final finally here is it json judgement judgment my of output overall"
    " preferred rationale reason reasoning response result s selected selection so story sure the"
    " therefore think thinking thought thus verdict winner"
)
WORD = re.compile(r"(?<!\\)[^\W_]+")  # not the n of an escaped line end


def reasons_first(text: str, verdict: Verdict, format: Format = "json") -> bool:  # noqa: A002
    r"""Return whether an answer gives text before its verdict.

    True if the verdict is not found.

    >>> at_once = '```json\n{"reason": "", "selected_response": 1, "notes": "It is correct."}\n```'
    >>> reasons_first(at_once, Verdict(1, "")), reasons_first("It is correct. [[A]]", Verdict(1, ""), "brackets")
    (False, True)
    """
    place = _place(text, verdict, format)
    return place is None or any(word.lower() not in NAMES for word in WORD.findall(text[: place.start]))


# --- from the text to the place of its verdict --------------------------------------------------------------

TIE = 0
_SPACE = r"[\s_]*+"
_OPENING, _CLOSING = r"\\?[\"'“‘]", r"\\?[\"'”’]"
# As the parser reads it: the key in any spelling, and 1, "1", "Response 1", 1.0 or a tie. A whole answer may be a JSON
# string, quotes escaped.
_ENTRY = re.compile(
    rf"{_OPENING}{_SPACE}{_SPACE.join('selectedresponse')}{_SPACE}{_CLOSING}\s*+:\s*+"
    rf"(?:{_OPENING}\s*+)?(?:(?:response|story)\s++)?(?P<stated>[012]|(?:a\s++)?(?:tied?|draw|equal)\b)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\[\[\s*+(?P<stated>[ABC])\s*+]]", re.IGNORECASE | re.ASCII)
# Where in the bytes of an answer a verdict may stand, in either format: at the end of each match.
VERDICT_MAY_END = re.compile(
    rb"[012]|\[\s*+[ABC]|(?:[\"']|\xe2\x80[\x98\x9c])\s*+(?=(?:a\s|tie|draw|equal))[a-z]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class VerdictPosition:
    """The position `at` of a verdict in its entry."""

    start: int
    at: int
    end: int
    states: int


def _place(text: str, verdict: Verdict, format: Format) -> VerdictPosition | None:  # noqa: A002
    if verdict.invalid is not None:
        return None
    if format == "brackets":
        last = last_token(BRACKETS, blank_thoughts(text))
        token = last and _BRACKETS.match(text, last.start())  # written as it was asked for
        place = _place_of(token) if token else None
        return place if place and place.states == (verdict.selected_response or TIE) else None
    places = [*map(_place_of, _ENTRY.finditer(text))]
    looked_at = places if len(places) <= 2 * MOST_PLACES else [*places[:MOST_PLACES], *places[-MOST_PLACES:]]
    return next((place for place in reversed(looked_at) if _decides(text, place, verdict)), None)


def _place_of(entry: re.Match[str]) -> VerdictPosition:
    return VerdictPosition(entry.start(), entry.start("stated"), entry.end(), _choice_of(entry["stated"]))


def _choice_of(stated: str) -> int:
    return {"1": 1, "2": 2, "A": 1, "B": 2}.get(stated.upper(), TIE)


def _decides(text: str, place: VerdictPosition, verdict: Verdict) -> bool:
    if place.states != (verdict.selected_response or TIE):
        return False
    other = "2" if place.states == 1 else "1"
    changed = parse_verdict(text[: place.at] + other + text[place.end :], "json")
    return changed.selected_response != verdict.selected_response


# --- from there to the token --------------------------------------------------------------------------------


def _token_at(tokens: Sequence[Token], text: str, place: VerdictPosition) -> tuple[Token, bytes] | None:
    offset = verdict_offset(b"".join(token.text for token in tokens), text, place)
    if offset is None:
        return None
    ends = itertools.accumulate(len(token.text) for token in tokens)
    token, end = next((token, end) for token, end in zip(tokens, ends, strict=True) if end > offset)
    return token, token.text[: offset - end]


def verdict_offset(spelled: bytes, text: str, place: VerdictPosition) -> int | None:
    """Return the verdict's offset in the tokens' text, or None.

    Searches the text, its beginning, then the verdict's entry.
    """
    whole, beginning = as_bytes(text), as_bytes(text[: place.end])
    before = len(as_bytes(text[: place.at]))
    if (start := spelled.rfind(whole)) >= 0:
        return start + before
    if spelled.count(beginning) == 1:
        return spelled.find(beginning) + before
    entry = as_bytes(text[place.start : place.end])
    starts = [match.start() for match in re.finditer(re.escape(entry), spelled)]
    behind = whole.count(entry, len(as_bytes(text[: place.start]))) - 1
    if not starts or (behind and len(starts) != whole.count(entry)):
        return None  # not there, or quoted behind it, and it cannot be told which one it is
    return starts[-1 - behind] + len(as_bytes(text[place.start : place.at]))


def as_bytes(text: str) -> bytes:
    """Return a text as UTF-8, surrogates included."""
    return text.encode("utf-8", "surrogatepass")


# --- what a token states ------------------------------------------------------------------------------------

_STATES = {
    "json": re.compile(rb"([012])(?:\.0*+)?+(?![0-9a-z_.])|((?:a\s++)?(?:tied?|draw|equal)\b)", re.IGNORECASE),
    "brackets": re.compile(rb"([ABC])(?![0-9a-z_])", re.IGNORECASE),
}


def _states(alternative: bytes, before: bytes, format: Format) -> int | None:  # noqa: A002
    bare, begins = alternative.strip(), before.strip()  # with spaces or without, it says the same
    if not bare.startswith(begins):
        return None
    match = _STATES[format].match(bare[len(begins) :].lstrip())
    if match is None:
        return None
    return _choice_of((match[1] or b"").decode())
