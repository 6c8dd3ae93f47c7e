"""What servers tell of tokens: how many there were, how probable each was, and what might have stood in its place."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from judgefixtures.providers.wire import as_table
from judgefixtures.reading.probabilities import UNTOLD, Token, token_bytes

MOST_TOKENS = 10**10  # no call takes as many: who says so cannot count, and what it cost is not known


def tokens(value: Any) -> int | None:
    """Return a count of tokens, or None for anything that is none.

    >>> tokens(70), tokens(70.0), tokens(-1), tokens(10**300)
    (70, None, None, None)
    """
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None


def tokens_together(*parts: Any) -> int | None:
    """Return the sum of counts of tokens, of which null ones are none; None where all are, or one is not a count."""
    stated = [tokens(part) for part in parts if part is not None]
    known = [count for count in stated if count is not None]
    return sum(known) if stated and known == stated else None


def all_or_none(found: Iterable[Token | None]) -> tuple[Token, ...]:
    """Return the tokens that a server tells the probabilities of: all of them or, where one cannot be read, none."""
    every = tuple(found)
    return tuple(token for token in every if token is not None) if None not in every else ()


ROUNDED = 1e-3  # a log-probability above 0 by no more than this was rounded


def told_token(entry: Any, alternatives: Any, key: str) -> Token | None:
    """Return a token and what might have stood in its place, as a server lists them; None for anything else.

    Log-probabilities stand under `key`. Of two tokens with the same bytes either may have been meant: their
    probabilities are added, unless it is one token that is listed twice.
    """
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
    """Return the bytes of a token (some servers list them, others only their text) and its log-probability."""
    fields = as_table(entry)
    token, logprob = token_bytes(fields.get("token"), fields.get("bytes")), fields.get(key)
    if token is None or isinstance(logprob, bool) or not isinstance(logprob, int | float) or not logprob <= ROUNDED:
        return None
    return token, float(max(logprob, UNTOLD))


def _added(one: float, other: float) -> float:
    """Return the logarithm of the sum of two probabilities."""
    return max(one, other) + math.log1p(math.exp(-abs(one - other)))
