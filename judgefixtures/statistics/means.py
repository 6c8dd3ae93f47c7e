"""Limits of a mean over pairs: the wider of Student's t and Hall's method, which corrects for skewness.

They suit values without useful bounds, such as log-odds, and values far inside their bounds, such as scores. A test
that allows for all possible values (clusters.py) is too conservative for these. Sources: Hall 1992, after Johnson
1978. For error rates see benchmarks/results.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .clusters import ClusterTotals, Totals
from .elementary import smallest_size_with_power, z_quantile
from .estimate import Estimate
from .gates import LARGEST_ADVICE


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over pairs with its standard error and skewness."""

    mean: float
    error: float
    lean: float
    freedom: float
    pairs: int

    @classmethod
    def of(cls, scores: Sequence[float], related: Totals, pseudo: float) -> Mean:
        """Return the mean of scores over clusters, with two pseudo-observations."""
        pairs, mean = len(scores), math.fsum(scores) / len(scores)
        units = related or ClusterTotals(tuple(scores), (1,) * pairs)
        residuals = [total - size * mean for total, size in zip(units.sums, units.sizes, strict=True)]
        pseudo *= pairs / units.equal  # in a cluster of the size in which a typical pair is
        squares = math.fsum(residual**2 for residual in residuals) + 2 * pseudo**2
        count = units.count
        # The unbiased third moment: the plain one is too near to 0 in few pairs, of which an exponential's errors at 30
        # pairs would be .062 in place of .058. One or two pairs have none.
        cubes = math.fsum(residual**3 for residual in residuals) if count > 2 else 0.0
        lean = cubes * count**2 / max((count - 1) * (count - 2), 1) / squares**1.5
        error = math.sqrt(squares * (count + 2) / (count + 1)) / pairs
        return cls(mean, error, lean, max(units.equal - 1, 1.0), pairs)

    def reversed(self) -> Mean:
        """Return the mean with opposite sign."""
        return Mean(-self.mean, self.error, -self.lean, self.freedom, self.pairs)

    def p_at_most(self, mean: float) -> float:
        """Return the p-value against "the true mean is at most `mean`"."""
        from scipy.special import stdtr

        student = (self.mean - mean) / self.error
        return float(stdtr(self.freedom, -min(student, _halls(student, self.lean))))

    def p_at_least(self, mean: float) -> float:
        """Return the p-value against "the true mean is at least `mean`"."""
        return self.reversed().p_at_most(-mean)

    def lowest(self, confidence: float) -> float:
        """Return the lower end of the two-sided interval."""
        from scipy.special import stdtrit

        quantile = float(stdtrit(self.freedom, (1 + confidence) / 2))
        return self.mean - self.error * max(quantile, inverse_of_halls(quantile, self.lean))

    def highest(self, confidence: float) -> float:
        """Return the upper end of the two-sided interval."""
        return -self.reversed().lowest(confidence)


def _halls(student: float, lean: float) -> float:
    return student + lean * student**2 / 3 + lean**2 * student**3 / 27 + lean / 6


def inverse_of_halls(value: float, lean: float) -> float:
    """Return the t that Hall's transformation maps to this value."""
    if abs(lean) < 1e-6:  # the cube root would be of 1 and next to nothing
        return value - lean * (value**2 / 3 + 1 / 6)
    return 3 / lean * (math.cbrt(1 + lean * (value - lean / 6)) - 1)


def pairs_for_limits(lows: Mean, highs: Mean, estimate: Estimate, limit: float, power: float = 0.8) -> int | None:
    """Return how many pairs settle the gate, or None."""
    z, n = z_quantile((1 + estimate.confidence) / 2), estimate.n
    if estimate.value < 0:
        lows, highs = highs.reversed(), lows.reversed()

    def reached(distance: float, mean: Mean, size: int) -> float:
        return math.erfc((z - distance / mean.error * math.sqrt(size / n)) / math.sqrt(2)) / 2

    def power_to_pass(size: int) -> float:
        return reached(limit - highs.mean, highs, size) + reached(limit + lows.mean, lows, size) - 1

    def power_to_fail(size: int) -> float:
        return reached(lows.mean - limit, lows, size)

    power_at = power_to_pass if abs(estimate.value) < limit else power_to_fail
    return smallest_size_with_power(power_at, power, LARGEST_ADVICE * n)
