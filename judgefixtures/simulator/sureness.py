"""Tokens of a simulated answer, with invented alternatives to its verdict."""

import math
import re
from dataclasses import dataclass

ELSEWHERE = 0.01  # the probability of anything but a verdict where one is due, halved from token to token
PLAIN = -0.01  # the log-probability of a token that states nothing
_TOKEN = re.compile(r" ?\w+| ?[^\w\s]+|\s+")
_VERDICT = {
    "json": (re.compile(r'(?<="selected_response":) [12]'), (" 1", " 2")),
    "brackets": (re.compile(r"(?<=\[\[)[AB](?=]]\Z)"), ("A", "B")),
}


@dataclass(frozen=True, slots=True)
class AnswerToken:
    """A token with its log-probability and alternatives."""

    text: str
    logprob: float
    likeliest: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class VerdictTokens:
    """The place of a verdict, and its possible tokens."""

    start: int
    end: int
    texts: tuple[str, str]


def answer_tokens(text: str, log_odds: float, count: int, stated: VerdictTokens | None = None) -> list[AnswerToken]:
    """Return an answer's tokens, each with `count` alternatives.

    `log_odds` are the verdict's.

    >>> [token.text for token in answer_tokens('{"selected_response": 2}', -1.0, 3)]
    ['{"', 'selected_response', '":', ' 2', '}']
    """
    stated = stated or _choice(text)
    if stated is None:
        return [_plain(match[0], count) for match in _TOKEN.finditer(text)]
    before, verdict, after = text[: stated.start], text[stated.start : stated.end], text[stated.end :]
    return [
        *(_plain(match[0], count) for match in _TOKEN.finditer(before)),
        _verdict(verdict, stated.texts, log_odds, count),
        *(_plain(match[0], count) for match in _TOKEN.finditer(after)),
    ]


def _choice(text: str) -> VerdictTokens | None:
    pattern, texts = _VERDICT["brackets" if text.endswith("]]") else "json"]
    place = pattern.search(text)
    return VerdictTokens(*place.span(), texts) if place else None


def _verdict(text: str, texts: tuple[str, str], log_odds: float, count: int) -> AnswerToken:
    likely = math.log1p(-ELSEWHERE)
    odds = {texts[0]: likely - _softplus(-log_odds), texts[1]: likely - _softplus(log_odds)}
    others = {f" ?{number}": math.log(ELSEWHERE) - number * math.log(2) for number in range(1, count + 1)}
    return AnswerToken(text, odds[text], _likeliest({**odds, **others}, count))


def _plain(text: str, count: int) -> AnswerToken:
    left = math.log(-math.expm1(PLAIN))
    others = {f" ?{number}": left - number * math.log(2) for number in range(1, count)}
    return AnswerToken(text, PLAIN, _likeliest({text: PLAIN, **others}, count))


def _likeliest(chances: dict[str, float], count: int) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(chances.items(), key=lambda item: -item[1])[:count])


def _softplus(value: float) -> float:
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))
