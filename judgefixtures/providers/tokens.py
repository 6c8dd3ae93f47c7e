"""Token counts and token probabilities in servers' responses."""

import math
from collections.abc import Iterable
from typing import Any

from judgefixtures.models.probabilities import UNTOLD, Token
from judgefixtures.parsing.verdict_probabilities import token_bytes

from .http import object_or_empty

MOST_TOKENS = 10**10  # no call takes as many: who says so cannot count, and what it cost is not known


def token_count(value: Any) -> int | None:
    """Return a token count, or None.

    >>> token_count(70), token_count(70.0), token_count(-1), token_count(10**300)
    (70, None, None, None)
    """
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None


def sum_token_counts(*parts: Any) -> int | None:
    """Return the sum of token counts, or None if unknown."""
    stated = [token_count(part) for part in parts if part is not None]
    known = [count for count in stated if count is not None]
    return sum(known) if stated and known == stated else None


def tokens_out(
    written: int | None, thought: int | None, read: int | None = None, total: int | None = None
) -> int | None:
    """Return the output tokens including thoughts, or None.

    >>> tokens_out(60, None, 500, 1600), tokens_out(60, 814, 500, None), tokens_out(874, 814, 500, 1374)
    (1100, 874, 874)
    """
    beside = written if written is None or (thought or 0) <= written else written + (thought or 0)
    if total is not None and read is not None and total >= read:
        return max(beside or 0, total - read)  # the total may leave out thoughts, too
    return beside


def complete_logprobs(tokens_given: Iterable[Token | None]) -> tuple[Token, ...]:
    """Return all tokens, or none if one is unreadable."""
    every = tuple(tokens_given)
    return tuple(token for token in every if token is not None) if None not in every else ()


ROUNDED = 1e-3  # a log-probability above 0 by no more than this was rounded


def parse_token(entry: Any, alternatives: Any, key: str) -> Token | None:
    """Return a token with its alternatives, or None."""
    if not isinstance(alternatives, list | None):
        return None
    own, listed = _text_and_logprob(entry, key), [_text_and_logprob(each, key) for each in alternatives or ()]
    if own is None or None in listed:
        return None
    together: dict[bytes, float] = {}
    for text, logprob in dict.fromkeys(each for each in listed if each is not None and each[1] > UNTOLD):
        together[text] = _added(together[text], logprob) if text in together else logprob
    return Token(*own, together)


def _text_and_logprob(entry: Any, key: str) -> tuple[bytes, float] | None:
    fields = object_or_empty(entry)
    token, logprob = token_bytes(fields.get("token"), fields.get("bytes")), fields.get(key)
    if token is None or isinstance(logprob, bool) or not isinstance(logprob, int | float) or not logprob <= ROUNDED:
        return None
    return token, float(max(logprob, UNTOLD))


def _added(one: float, other: float) -> float:
    return max(one, other) + math.log1p(math.exp(-abs(one - other)))
