"""Scores: what the text of a judge that scores one response at a time says, or why it says nothing that counts.

It is read as a verdict is (verdicts.py): syntax is repaired, meaning never. Nothing here may guess a score, move one
into the scale, or choose between two of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from judgefixtures.reading.verdicts import Form, InvalidKind, read_answer

__all__ = ["Scale", "Score", "is_whole", "parse_score", "shown_scale"]

Scale = tuple[float, float]  # the lowest and the highest score; of whole numbers where both are ints


@dataclass(frozen=True, slots=True)
class Score:
    """A judge's score of one response with its reason, or the kind of its failure: always exactly one of them.

    `repaired` and `reasoning` are those of `Verdict`; `value` is repaired where "7", 7.0 or "7/10" stood for 7.
    """

    value: float | None
    reason: str
    invalid: InvalidKind | None = None
    repaired: tuple[str, ...] = ()
    reasoning: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) == (self.invalid is None):
            raise ValueError(f"a score is either a number or invalid: got {self.value!r} and {self.invalid!r}")


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
    Score(value=7, reason='It is correct.', invalid=None, repaired=(), reasoning='')
    >>> parse_score('{"score": "7/10", "reason": "short"}').repaired
    ('value',)
    >>> parse_score("Clear, but wrong. [[2]]", "brackets").value
    2
    >>> parse_score('{"score": 11, "reason": "perfect"}').invalid
    'not-a-choice'
    """
    stated = read_answer(text, format, _form(str(scale[1]), is_whole(scale)))
    value, invalid = stated.value, stated.invalid
    lowest, highest = (Decimal(str(end)) for end in scale)  # 0.1 as it was written, not as the float next to it
    if value is not None and not lowest <= value <= highest:
        value, invalid = None, "not-a-choice"
    if value is None:
        return Score(None, stated.reason, invalid, (), stated.reasoning)
    return Score(_number_of(value), stated.reason, None, stated.repaired, stated.reasoning)


def is_whole(scale: Scale) -> bool:
    """Tell whether whole numbers alone are asked for: where both ends are written without a decimal point.

    >>> is_whole((0, 1)), is_whole((0.0, 1.0))
    (True, False)
    """
    return all(isinstance(end, int) for end in scale)


def shown_scale(scale: Scale) -> str:
    """Return a scale as a prompt names it.

    >>> shown_scale((1, 10)), shown_scale((0.0, 1.0))
    ('1 to 10', '0.0 to 1.0')
    """
    return f"{scale[0]} to {scale[1]}"


def _number_of(value: float | Decimal) -> float:
    """Return a whole number as an int, any other as a float."""
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
_TOKEN = re.compile(rf"\[\[(\s*+{_NUMBER}(?:\s{{0,3}}/\s{{0,3}}{_NUMBER})?\s*+)]]", re.ASCII)


@lru_cache(maxsize=64)
def _form(highest: str, whole: bool) -> Form:
    """Return the form of scores on a scale that ends at `highest`, where "7/10" may stand for 7 of 10."""

    def value(written: object) -> int | Decimal | InvalidKind:
        match written:
            case bool():  # True == 1 in Python, and in Python only
                return "not-a-choice"
            case int():
                return written
            case Decimal() if written.is_finite():
                return written
            case str() if found := _WRITTEN.fullmatch(written.strip()):
                of = found[2]
                return Decimal(found[1]) if of is None or Decimal(of) == Decimal(highest) else "not-a-choice"
        return "not-a-choice"

    def is_plain(written: object) -> bool:
        return isinstance(written, int if whole else int | Decimal)

    def in_brackets(token: str) -> tuple[int | Decimal | InvalidKind, str]:
        found = value(token)
        if isinstance(found, str):
            return found, token
        return found, str(int(found)) if whole else token.strip().partition("/")[0].rstrip()

    return Form("score", value, is_plain, _UNREAD, _TOKEN, in_brackets)
