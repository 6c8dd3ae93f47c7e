"""Verdict probability and its tokens."""

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
    """A token with its alternatives' log-probabilities."""

    text: bytes
    logprob: float
    alternatives: Mapping[bytes, float]

    @property
    def listed(self) -> dict[bytes, float]:
        """The listed log-probabilities, its own included."""
        listed = {self.text: self.logprob, **self.alternatives}
        return {text: logprob for text, logprob in listed.items() if logprob > UNTOLD}


@dataclass(frozen=True, slots=True)
class Probability:
    """Log-odds of response 1 over 2, by position.

    Attributes:
        low: Lower bound.
        elsewhere: Probability of no verdict.
        tie: Probability among verdicts.
        explained: Whether the judge reasoned first.

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
        """Whether an unlisted verdict leaves only bounds."""
        return self.low < self.high

    @property
    def log_odds(self) -> float:
        """The log-odds, or the bound nearest 0.

        >>> [Probability(low, high).log_odds for low, high in ((2.0, 2.0), (2.0, math.inf), (-1.0, math.inf))]
        [2.0, 2.0, 0.0]
        """
        return min(max(0.0, self.low), self.high)

    @property
    def value(self) -> float:
        """The probability of response 1 plus half a tie."""
        return logistic(self.log_odds)

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the probability."""
        return logistic(self.low), logistic(self.high)

    def reversed(self) -> Probability:
        """Return the probability of response 2."""
        return replace(self, low=-self.high, high=-self.low)


def logistic(log_odds: float) -> float:
    """Return the probability for log-odds, also infinite."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    return math.exp(log_odds) / (1 + math.exp(log_odds)) if log_odds > -math.inf else 0.0
