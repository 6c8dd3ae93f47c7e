"""Parser of scores: repairs syntax and never guesses meaning."""

import re
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from judgefixtures.models.verdicts import InvalidKind, Scale, Score

from .verdicts import BRACKETS, AnswerFormat, bare_token, read_answer

__all__ = ["Scale", "Score", "is_whole_number_scale", "parse_score", "scale_text"]


def parse_score(
    text: str,
    format: Literal["json", "brackets"] = "json",  # noqa: A002 (public)
    scale: Scale = (1, 10),
) -> Score:
    """Return the score that a judge's text states, or an invalid one with its kind.

    `text` is the whole answer, thinking included. In `json` it states its score in objects
    `{"score": number, "reason": str}`, looked for where `parse_verdict` looks; several must agree. In `brackets` the
    last `[[7]]` counts. A number outside of the scale, a word, null and true are "not-a-choice". No text raises; an
    unknown `format` raises ValueError. Time is linear in the length of the text.

    >>> parse_score('{"score": 7, "reason": "It is correct."}')
    NamedOutcome(value=7, reason='It is correct.', invalid=None, repaired=(), reasoning='', tie=False)
    >>> parse_score('{"score": "7/10", "reason": "short"}').repaired
    ('value',)
    >>> parse_score("Clear, but wrong. [[2]]", "brackets").value
    2
    >>> parse_score('{"score": 11, "reason": "perfect"}').invalid
    'not-a-choice'
    """
    stated = read_answer(text, format, _form(str(scale[1]), is_whole_number_scale(scale)))
    lowest, highest = (Decimal(str(end)) for end in scale)  # 0.1 as it was written, not as the float next to it
    if stated.value is None:
        return stated
    if not lowest <= stated.value <= highest:
        return replace(stated, value=None, invalid="not-a-choice", repaired=())
    return replace(stated, value=_number_of(stated.value))


def is_whole_number_scale(scale: Scale) -> bool:
    """Return whether both ends are written as whole numbers.

    >>> is_whole_number_scale((0, 1)), is_whole_number_scale((0.0, 1.0))
    (True, False)
    """
    return all(isinstance(end, int) for end in scale)


def scale_text(scale: Scale) -> str:
    """Return a scale as prompts name it.

    >>> scale_text((1, 10)), scale_text((0.0, 1.0))
    ('1 to 10', '0.0 to 1.0')
    """
    return f"{scale[0]} to {scale[1]}"


def _number_of(value: float | Decimal) -> float:
    return int(value) if value == int(value) else float(value)


# Digits are counted, so that no number is longer than Python reads, or than anybody's scale is.
_DIGITS = r"\d{1,30}"
_NUMBER = rf"[+-]?{_DIGITS}(?:\.{_DIGITS})?"
_WRITTEN = re.compile(rf"({_NUMBER})(?:\s{{0,3}}(?:/|out of)\s{{0,3}}({_NUMBER}))?", re.ASCII)
# A score among what could not be read. It is never taken, but it can contradict.
_UNREAD = re.compile(
    rf"[\"'“]score[\"'”]\s*+:\s*+[\"'“]?+\s*+({_NUMBER}(?:\s{{0,3}}/\s{{0,3}}{_NUMBER})?)\s*+(?=[\"'”,}}]|\Z)",
    re.IGNORECASE | re.ASCII,
)


@lru_cache(maxsize=64)
def _form(highest: str, whole: bool) -> AnswerFormat:
    def value(written: object) -> int | Decimal | InvalidKind:
        match written:
            case bool():  # True == 1 in Python, and in Python only
                return "not-a-choice"
            case int():
                return written
            case Decimal() if written.is_finite():
                return written
            case str() if match := _WRITTEN.fullmatch(written.strip()):
                of = match[2]
                return Decimal(match[1]) if of is None or Decimal(of) == Decimal(highest) else "not-a-choice"
        return "not-a-choice"

    def is_plain(written: object) -> bool:
        return isinstance(written, int if whole else int | Decimal)

    def in_brackets(token: str) -> tuple[int | Decimal | InvalidKind, str]:
        score = value(bare_token(token))
        if isinstance(score, str):  # one that is out of another scale is a score
            return score if _WRITTEN.fullmatch(bare_token(token)) else "no-token", token
        return score, str(int(score)) if whole else token.strip().partition("/")[0].rstrip()

    return AnswerFormat("score", value, is_plain, _UNREAD, BRACKETS, in_brackets, name="score")
