"""Per-pair scores of candidate against baseline, and the test of their mean."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from judgefixtures.statistics.clusters import (
    ClusterTotals,
    can_decide,
    cluster_totals,
    score_interval,
    score_test,
    share_interval,
)
from judgefixtures.statistics.estimate import Estimate

if TYPE_CHECKING:
    from .cells import Whole

Labels = Sequence[Hashable] | None  # of the clusters, one per row; None where no two pairs are related


@dataclass(frozen=True, slots=True)
class PairScoreCounts:
    """Numbers of pairs by score, or scores with cluster labels.

    Scores lie in [-half_range, half_range]; `sides` returns each judge's.
    """

    values: Mapping[float, int] | tuple[float, ...]
    half_range: float
    clusters: tuple[Hashable, ...] | None = None
    sides: Callable[[], tuple[PairScoreCounts, PairScoreCounts]] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, sums: Sequence[int], parts: Sequence[int], rows: Whole, labels: Labels, contrasts: int = 1) -> Self:
        """Return scores sums / parts of these rows, means over `contrasts`."""
        means = [total / count for total, count in zip(sums, parts, strict=True)]
        half_range = max(1 / math.sqrt(contrasts), *map(abs, means))
        if labels is not None:
            clusters = tuple(labels[row] for row in rows.tolist())
            if len(set(clusters)) < len(clusters):
                return cls(tuple(means), half_range, clusters)
        return cls(Counter(means), half_range)

    @property
    def n(self) -> int:
        """The number of pairs."""
        return sum(self.values.values()) if isinstance(self.values, Mapping) else len(self.values)

    @property
    def totals(self) -> ClusterTotals | None:
        """The scores by cluster, or None."""
        return None if isinstance(self.values, Mapping) else cluster_totals(self.values, self.clusters)

    @property
    def mean(self) -> float:
        """The mean over pairs."""
        if isinstance(self.values, Mapping):
            return math.fsum(value * count for value, count in self.values.items()) / self.n
        return math.fsum(self.values) / self.n

    @property
    def deviation(self) -> float:
        """A pair's standard deviation, including its cluster's share."""
        mean, related = self.mean, self.totals
        if isinstance(self.values, Mapping):
            squares = math.fsum(count * (value - mean) ** 2 for value, count in self.values.items())
        else:
            assert related is not None
            squares = math.fsum((a - b * mean) ** 2 for a, b in zip(related.sums, related.sizes, strict=True))
        return math.sqrt((squares + 1) / self.n)

    def z(self, mu0: float) -> float:
        """Return z of the score test of mean mu0."""
        if not can_decide(self.totals):
            return 0.0
        return score_test(self.values, mu0, self.range_for(mu0), self.clusters)

    def range_for(self, mu0: float) -> float:
        """Return the score range for a test of mu0."""
        return self.half_range if abs(mu0) < self.half_range else max(1.0, self.half_range)

    def interval(self, confidence: float) -> Estimate:
        """Return the mean with its score interval."""
        return score_interval(self.values, confidence, self.half_range, self.clusters)

    def share(self, confidence: float) -> Estimate:
        """Return the mean of shares with its score interval."""
        each = self.values if isinstance(self.values, tuple) else tuple(Counter(self.values).elements())
        return share_interval(each, confidence, self.clusters)
