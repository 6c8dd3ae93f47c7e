"""How sure a judge was: the probabilities that a server gives for the tokens of an answer, read at the verdict.

Nothing here knows a provider's wire format: providers give tokens, the judge asks what they say of its verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer: its bytes, its log-probability, and those of what might have stood in its place."""

    text: bytes
    logprob: float
    alternatives: Mapping[bytes, float]


@dataclass(frozen=True, slots=True)
class Probability:
    """How likely response 1 (what stood first) was to be chosen rather than response 2, by its log-odds.

    `low` and `high` bound the log-odds; they differ where one verdict is not among the tokens that the server lists,
    and one of them is then infinite. `elsewhere` is the probability of anything but a verdict, `tie` that of a tie
    among what is not elsewhere.

    >>> Probability(0.0, 0.0).value
    0.5
    """

    low: float
    high: float
    elsewhere: float = 0.0
    tie: float = 0.0

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"log-odds lie between low and high, got {self.low!r} and {self.high!r}")

    @property
    def is_bound(self) -> bool:
        """Whether one verdict's probability is only bounded, because the server did not list it."""
        return self.low < self.high

    @property
    def log_odds(self) -> float:
        """The log-odds; of those that are only bounded the bound, which is nearest to 0 of what they may be."""
        return self.low if abs(self.low) <= abs(self.high) else self.high

    @property
    def value(self) -> float:
        """The probability that response 1 is chosen, a tie counted half; the bound where it is only bounded."""
        return _mixed(self.log_odds, self.tie)

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which probabilities it lies."""
        return _mixed(self.low, self.tie), _mixed(self.high, self.tie)

    def reversed(self) -> Probability:
        """Return the same of response 2 rather than response 1."""
        return Probability(-self.high, -self.low, self.elsewhere, self.tie)


def _mixed(log_odds: float, tie: float) -> float:
    return (1 - tie) * logistic(log_odds) + tie / 2


def logistic(log_odds: float) -> float:
    """Return the probability that has these log-odds, infinite ones included."""
    if log_odds >= 0:
        return 1 / (1 + math.exp(-log_odds))
    return math.exp(log_odds) / (1 + math.exp(log_odds)) if log_odds > -math.inf else 0.0
