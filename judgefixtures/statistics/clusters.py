"""Score test of a mean over single pairs or clusters of related pairs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .elementary import check_inside, check_number, check_open, check_whole, find_crossing, z_quantile
from .estimate import Estimate, pluralize

# Fewer clusters, counted as clusters of equal size, decide nothing. A judgement: errors simulated with 5 clusters stay
# under .05 (hardly anything passes, a large shift fails), but no fewer can bear out any model of how pairs are related.
FEWEST_CLUSTERS = 5

Clusters = Sequence[Hashable] | None  # a label per pair where pairs are related
ScoresOrCounts = Mapping[float, int] | Sequence[float]  # a score per pair, or how many pairs have each score


@dataclass(frozen=True, slots=True)
class ClusterTotals:
    """The sum of scores and the number of pairs of each cluster."""

    sums: tuple[float, ...]
    sizes: tuple[int, ...]

    @property
    def related(self) -> bool:
        """Whether any cluster has two pairs."""
        return any(size > 1 for size in self.sizes)

    @property
    def count(self) -> int:
        """The number of clusters."""
        return len(self.sizes)

    @property
    def equal(self) -> float:
        """The number of equal clusters with the same information (Kish 1965)."""
        return sum(self.sizes) ** 2 / sum(size * size for size in self.sizes)


Totals = ClusterTotals | None  # None: pairs are unrelated, and their scores whole numbers


def cluster_totals(scores: Sequence[float], clusters: Clusters) -> Totals:
    """Return scores by cluster, or None if all clusters are single pairs.

    `clusters` has a label per score, or is None. Raises ValueError for wrong labels.

    >>> cluster_totals([1, 0, -1], ["a", "b", "a"])
    ClusterTotals(sums=(0.0, 0.0), sizes=(2, 1))
    """
    if clusters is None:
        return None
    if len(clusters) != len(scores):
        raise ValueError(f"clusters must hold a label per score, got {len(clusters)} for {len(scores)}")
    if any(cluster is None for cluster in clusters):  # they would all be one cluster
        raise ValueError("clusters must hold a label for every score, got None: label an unrelated pair with its id")
    members: dict[Hashable, list[float]] = defaultdict(list)
    for score, cluster in zip(scores, clusters, strict=True):
        members[cluster].append(score)
    if len(members) == len(scores):
        return None
    return ClusterTotals(tuple(map(math.fsum, members.values())), tuple(map(len, members.values())))


def parted(scores: Sequence[float]) -> Totals:
    """Return fractional scores as clusters of one, or None for whole numbers.

    >>> parted([1, 0.5, 0])
    ClusterTotals(sums=(1.0, 0.5, 0.0), sizes=(1, 1, 1))
    >>> parted([1, 0, -1])
    """
    if all(score == int(score) for score in scores):
        return None
    return ClusterTotals(tuple(map(float, scores)), (1,) * len(scores))


def negated(totals: Totals) -> Totals:
    """Return the totals with opposite signs."""
    return totals and ClusterTotals(tuple(0.0 - total for total in totals.sums), totals.sizes)


def can_decide(totals: Totals) -> bool:
    """Return whether there are enough clusters to decide."""
    return totals is None or not totals.related or totals.equal >= FEWEST_CLUSTERS


def describe_clusters(n: int, totals: Totals, units: str = "pairs") -> str:
    """Return a note on clusters that follows an interval, or ""."""
    return f", n = {n} {units} in {pluralize(totals.count, 'cluster')}" if totals is not None and totals.related else ""


def score_test(values: ScoresOrCounts, mu0: float, half_range: float = 1.0, clusters: Clusters = None) -> float:
    """Return z of the score test of the mean `mu0`; positive if more was observed.

    `values` are scores in [-half_range, half_range] per pair, or counts by score. `clusters` has a label per related
    pair. For scores -1, 0 and 1 this is Tango's test. Sources: Tango 1998; Owen 1988.

    Raises:
        ValueError: No scores, a score or mu0 out of range, or wrong labels.

    >>> round(score_test({1: 18, 0: 78, -1: 4}, 0.20), 6)
    -1.278351
    >>> round(score_test([1, 1, 0, 0] * 10, 0.20, clusters=[n // 4 for n in range(40)]), 2)
    1.58
    """
    scores = scored_units(values, half_range, clusters)
    if not -half_range < (mean := check_number(mu0, "mu0")) < half_range:
        raise ValueError(f"mu0 must lie between {-half_range:g} and {half_range:g}, both excluded, got {mu0!r}")
    return scores.z(mean)


def score_interval(
    values: ScoresOrCounts, confidence: float = 0.90, half_range: float = 1.0, clusters: Clusters = None
) -> Estimate:
    """Return the mean of scores with the interval that inverts `score_test`.

    >>> estimate = score_interval({-0.5: 6, 0: 94})
    >>> round(estimate.low, 5), round(estimate.high, 5)
    (-0.05592, -0.00287)
    """
    return scored_units(values, half_range, clusters).interval(confidence)


def share_interval(shares: Sequence[float], confidence: float = 0.90, clusters: Clusters = None) -> Estimate:
    """Return the mean of shares in [0, 1] with the score interval.

    Errors as in `score_test`.

    >>> estimate = share_interval([1.0, 0.0, 0.0, 0.0] * 25)
    >>> estimate.value, round(estimate.low, 3), round(estimate.high, 3)
    (0.25, 0.186, 0.327)
    """
    if wrong := [share for share in shares if not 0 <= check_number(share, "a share") <= 1]:
        raise ValueError(f"a share must lie between 0 and 1, got {wrong[0]!r}")
    units = scored_units([2 * share - 1 for share in shares], 1.0, clusters)
    on_both = units.interval(confidence)
    value, low, high = ((end + 1) / 2 for end in (on_both.value, on_both.low, on_both.high))
    return Estimate(value, low, high, confidence, on_both.n)


@dataclass(frozen=True, slots=True)
class ScoredUnits:
    """Counts of units by sum and size; a unit is a cluster or pair."""

    units: Mapping[tuple[float, int], int]
    low: float
    high: float

    @classmethod
    def of(cls, totals: ClusterTotals, low: float, high: float) -> ScoredUnits:
        """Return the units of clusters with scores in [low, high]."""
        return cls(Counter(zip(totals.sums, totals.sizes, strict=True)), low, high)

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return sum(size * units for (_, size), units in self.units.items())

    @property
    def mean(self) -> float:
        """The mean over pairs."""
        return math.fsum(total * units for (total, _), units in self.units.items()) / self.pairs

    def z(self, mean: float) -> float:
        """Return the score statistic for this mean; it falls as the mean grows."""
        excess = math.fsum(units * (total - size * mean) for (total, size), units in self.units.items()) / self.pairs
        variance = self.variance(mean)
        if variance <= 0:  # at the ends of the range, and where nothing is left of a difference
            return math.copysign(math.inf, excess) if abs(excess) > 1e-12 * (self.high - self.low) else 0.0
        return excess / math.sqrt(variance)

    def variance(self, mean: float) -> float:
        """Return the variance of the mean over pairs under H0: `mean`."""
        residuals = [(total - size * mean, units) for (total, size), units in self.units.items()]
        excess = math.fsum(units * residual for residual, units in residuals)
        typical = sum(size * size * units for (_, size), units in self.units.items()) / self.pairs
        against = [(math.copysign(1.0, -excess) * residual, units) for residual, units in residuals]
        end = max((mean - self.low if excess > 0 else self.high - mean) * typical, *(each for each, _ in against))
        if end <= 0:
            return 0.0
        shares = [(-residual / end, units) for residual, units in against]  # in units of the end, which is at -1
        count, tilt = sum(self.units.values()), _tilt(shares)
        if tilt == 1.0:  # share^2 / (1 + share) of those seen and, of the end, what 1 / (1 + share) leaves: their sum
            variance = math.fsum(units * share for share, units in shares) / count
        else:
            variance = math.fsum(units * share * share / (1 + tilt * share) for share, units in shares) / count
        return count * variance * (end / self.pairs) ** 2

    def design_effect(self, mean: float, alone: float, least: float = 1.0) -> float:
        """Return how many pairs are worth one unrelated pair, at least `least`.

        `alone` is an unrelated pair's variance under H0.
        """
        return max(self.variance(mean) * self.pairs / alone, least)

    def interval(self, confidence: float) -> Estimate:
        """Return the mean with its score interval."""
        z = z_quantile((1 + check_open(confidence, "confidence")) / 2)
        value = min(max(self.mean, self.low), self.high)
        width = z * math.sqrt(self.variance(value))
        low = find_crossing(lambda mean: self.z(mean) - z, self.low, value, (value, -z), value - width)
        high = find_crossing(lambda mean: self.z(mean) + z, value, self.high, (value, z), value + width)
        return Estimate(value, low, high, confidence, self.pairs)


def scored_units(values: ScoresOrCounts, half_range: float, clusters: Clusters) -> ScoredUnits:
    """Return the units of scores.

    Raises:
        ValueError: A score outside [-half_range, half_range].
    """
    check_inside(half_range, "half_range", math.inf)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"values must be scores, or a count for each score, got {values!r}")
    if isinstance(values, Mapping):
        if clusters is not None:
            raise ValueError("clusters need a score per pair: values must be a sequence")
        counts = {value: check_whole(count, "a count of values") for value, count in values.items()}
        weights = {(check_number(value, "a score"), 1): count for value, count in counts.items()}
        if any(count < 0 for count in weights.values()):
            raise ValueError(f"counts of values must be >= 0, got {min(weights.values())}")
        units: Mapping[tuple[float, int], int] = {unit: count for unit, count in weights.items() if count}
        seen = [value for value, _ in units]
    else:
        seen = [check_number(value, "a score") for value in values]
        by_cluster = cluster_totals(seen, clusters)
        units = ScoredUnits.of(by_cluster, 0, 0).units if by_cluster else Counter((value, 1) for value in seen)
    if not seen:
        raise ValueError("values must hold at least one score")
    if wrong := [value for value in seen if not -half_range <= value <= half_range]:
        raise ValueError(f"values must lie between {-half_range:g} and {half_range:g}, got {wrong[0]!r}")
    return ScoredUnits(units, -float(half_range), float(half_range))


def null_variance(totals: ClusterTotals, low: float, high: float) -> float:
    """Return the score test's variance of the mean under H0: mean 0.

    Raises ValueError if 0 is outside [low, high].

    >>> round(null_variance(ClusterTotals((0.75,) * 3 + (-0.25,) * 9, (1,) * 12), -0.25, 0.75) * 12, 4)
    0.1875
    """
    if not low <= 0 <= high:
        raise ValueError(f"0 must lie in the range of the scores, got {low:g} to {high:g}")
    return ScoredUnits.of(totals, low, high).variance(0.0)


def _tilt(shares: Sequence[tuple[float, int]]) -> float:
    if all(share > -1 for share, _ in shares) and math.fsum(w * share / (1 + share) for share, w in shares) >= 0:
        return 1.0
    low, high, tilt, before = 0.0, 1.0, 0.0, math.inf
    for _ in range(200):  # a handful are usual
        terms = [(share / (1 + tilt * share), units) for share, units in shares]
        slope = math.fsum(units * term for term, units in terms)
        low, high = (tilt, high) if slope > 0 else (low, tilt)
        step = tilt + slope / math.fsum(units * term * term for term, units in terms)
        # A step right to the pole at 1, where a share is -1, would creep back from there: halve the bracket instead.
        nearing = low < step < high and abs(slope) < before / 2
        following, before = step if nearing else (low + high) / 2, abs(slope)
        if abs(following - tilt) < 1e-15:
            break
        tilt = following
    return tilt
