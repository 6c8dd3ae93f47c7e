"""Probability of a verdict, and the tokens that it was read from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

# What servers write for "too unlikely to tell", or for what a grammar ruled out: OpenAI and vLLM alike.
UNTOLD = -9999.0


# Servers round: what they list may add up to a little more than 1, and what is left is not known better than this.
ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer: its bytes, its log-probability, and those of what might have stood in its place."""

    text: bytes
    logprob: float
    alternatives: Mapping[bytes, float]

    @property
    def listed(self) -> dict[bytes, float]:
        """What the server tells the log-probabilities of in this place, the token itself included."""
        listed = {self.text: self.logprob, **self.alternatives}
        return {text: logprob for text, logprob in listed.items() if logprob > UNTOLD}


@dataclass(frozen=True, slots=True)
class Probability:
    """How likely response 1 (what stood first) was to be chosen rather than response 2, by its log-odds.

    A tie that counts is half of either. `low` and `high` bound the log-odds; they differ where a verdict is not among
    the tokens that the server lists. `elsewhere` is the probability of anything but a verdict, `tie` that of a tie
    among what is not elsewhere. `explained`: the judge had reasoned before, so that it is the probability given that
    reasoning. It says next to nothing of how sure the judge was before it wrote, nor of how close the pair is.

    >>> Probability(0.0, 0.0).value
    0.5
    """

    low: float
    high: float
    elsewhere: float = 0.0
    tie: float = 0.0
    explained: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"log-odds lie between low and high, got {self.low!r} and {self.high!r}")

    @property
    def is_bound(self) -> bool:
        """Whether one verdict's probability is only bounded, because the server did not list it."""
        return self.low < self.high

    @property
    def log_odds(self) -> float:
        """The log-odds; of those that are only bounded what is nearest to 0 of what they may be.

        >>> [Probability(low, high).log_odds for low, high in ((2.0, 2.0), (2.0, math.inf), (-1.0, math.inf))]
        [2.0, 2.0, 0.0]
        """
        return min(max(0.0, self.low), self.high)

    @property
    def value(self) -> float:
        """The probability that response 1 is chosen, a tie counted half; the bound where it is only bounded."""
        return logistic(self.log_odds)

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which probabilities it lies."""
        return logistic(self.low), logistic(self.high)

    def reversed(self) -> Probability:
        """Return the same of response 2 rather than response 1."""
        return replace(self, low=-self.high, high=-self.low)


def logistic(log_odds: float) -> float:
    """Return the probability that has these log-odds, infinite ones included."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    return math.exp(log_odds) / (1 + math.exp(log_odds)) if log_odds > -math.inf else 0.0
