"""Estimates and gates from counts: intervals, one-sided tests, pairs needed.

Everything here is a function of counts and scores: no judge, no pair, no file. scipy is imported by the
functions that need it, so that importing this module costs nothing.

The paired difference is Tango's score interval (Tango 1998, Stat Med 17:891-908); sample sizes are
Nam's score form (Nam 1997, Biometrics 53:1422-1430). No library we depend on has either.

Where pairs are related, every estimate and gate takes `totals`, their scores by cluster, and then comes of the
score test over clusters, of which Tango's and Wilson's are what it is over single pairs.
"""

from __future__ import annotations

import math
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal

# A sample size beyond this multiple of the present one is not advice: the estimate sits on the tolerance.
LARGEST_ADVICE = 20

# Fewer clusters, counted as clusters of equal size, decide nothing. A judgement: errors simulated with 5 clusters stay
# under .05 (hardly anything passes, a large shift fails), but no fewer can bear out any model of how pairs are related.
FEWEST_CLUSTERS = 5


class Status(StrEnum):
    """What a gate says. INCONCLUSIVE is never a FAIL and never a PASS: the pairs do not suffice."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    ERROR = "ERROR"


SEVERITY = (Status.NOT_APPLICABLE, Status.PASS, Status.INCONCLUSIVE, Status.FAIL, Status.ERROR)


def worst(*statuses: Status) -> Status:
    """Return the most severe status: ERROR, FAIL, INCONCLUSIVE, PASS, NOT_APPLICABLE, in that order.

    >>> worst(Status.PASS, Status.INCONCLUSIVE).value
    'INCONCLUSIVE'
    """
    return max(statuses, key=SEVERITY.index)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval: value, low and high (same unit), two-sided confidence, and n."""

    value: float
    low: float
    high: float
    confidence: float
    n: int


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate decided and why.

    `p_pass` is the p-value against "beyond the tolerance" (PASS when below alpha), `p_fail` the one
    against "within it" (FAIL when below alpha). `needed_pairs` is None unless more pairs would settle an
    INCONCLUSIVE.
    """

    status: Status
    p_pass: float
    p_fail: float
    needed_pairs: int | None
    message: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Totals:
    """Scores by cluster: of each its sum of scores and how many pairs it has.

    Of pairs that are related, or of unrelated ones whose scores are no whole numbers: then every cluster is one pair.
    """

    sums: tuple[float, ...]
    sizes: tuple[int, ...]

    @property
    def related(self) -> bool:
        """Whether any cluster has two pairs."""
        return any(size > 1 for size in self.sizes)

    @property
    def count(self) -> int:
        """How many clusters."""
        return len(self.sizes)

    @property
    def equal(self) -> float:
        """How many clusters of equal size they are worth: a large one outweighs the others. Source: Kish 1965."""
        return sum(self.sizes) ** 2 / sum(size * size for size in self.sizes)


def totals(scores: Sequence[float], clusters: Sequence[Hashable] | None) -> Totals | None:
    """Return scores by cluster; None where no cluster has two of them, so that there is nothing to heed.

    `clusters` holds a label per score, or is None. Raises ValueError for another number of labels than scores, and
    for a score without a label.

    >>> totals([1, 0, -1], ["a", "b", "a"])
    Totals(sums=(0.0, 0.0), sizes=(2, 1))
    >>> totals([1, 0, -1], ["a", "b", "c"])
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
    return Totals(tuple(map(math.fsum, members.values())), tuple(map(len, members.values())))


def parted(scores: Sequence[float]) -> Totals | None:
    """Return scores of which some are no whole numbers, as those of ties are, each by itself; None where all are whole.

    Counts say as much as whole ones do. The estimates and gates of counts then are those of scores in the same range.

    >>> parted([1, 0.5, 0])
    Totals(sums=(1.0, 0.5, 0.0), sizes=(1, 1, 1))
    >>> parted([1, 0, -1])
    """
    if all(score == int(score) for score in scores):
        return None
    return Totals(tuple(map(float, scores)), (1,) * len(scores))


def mirrored(totals: Totals | None) -> Totals | None:
    """Return the same with every score's sign turned."""
    return totals and Totals(tuple(0.0 - total for total in totals.sums), totals.sizes)


def decides(totals: Totals | None) -> bool:
    """Tell whether anything may be decided: pairs are unrelated, or they are in enough clusters."""
    return totals is None or not totals.related or totals.equal >= FEWEST_CLUSTERS


def counted(n: int, totals: Totals | None) -> str:
    """Return what is to be said of n pairs that are related, to go after an interval; empty where they are not."""
    return f", n = {n} pairs in {several(totals.count, 'cluster')}" if totals is not None and totals.related else ""


def score_test(
    values: Mapping[float, int] | Sequence[float],
    mu0: float,
    half_range: float = 1.0,
    clusters: Sequence[Hashable] | None = None,
) -> float:
    """Return z of the score test that the mean of per-pair scores is `mu0`: above 0 where the mean seen is larger.

    `values` are scores in [-half_range, half_range], one per pair, or how many pairs have each score. The variance is
    the one under H0: that of the likeliest distribution with this mean on the scores seen and the ends of the range.
    For scores of -1, 0 and 1 this is Tango's test. `clusters` holds a label per pair, then the cluster is the
    unit; the mean stays that over pairs, and where no cluster has two pairs nothing changes. With few clusters z is not
    to be relied on: every gate is INCONCLUSIVE under FEWEST_CLUSTERS.
    Raises ValueError for no scores, one out of range, labels that do not fit, and a mu0 not inside the range.
    Source: Tango 1998, with the restricted weights of Owen 1988 (Biometrika 75:237).

    >>> round(score_test({1: 18, 0: 78, -1: 4}, 0.20), 6)
    -1.278351
    >>> round(score_test([1, 1, 0, 0] * 10, 0.20, clusters=[n // 4 for n in range(40)]), 2)
    1.58
    """
    scores = _scores(values, half_range, clusters)
    if not -half_range < (mean := _number(mu0, "mu0")) < half_range:
        raise ValueError(f"mu0 must lie between {-half_range:g} and {half_range:g}, both excluded, got {mu0!r}")
    return scores.z(mean)


def score_interval(
    values: Mapping[float, int] | Sequence[float],
    confidence: float = 0.90,
    half_range: float = 1.0,
    clusters: Sequence[Hashable] | None = None,
) -> Estimate:
    """Return the mean of per-pair scores with the interval of the means that `score_test` does not reject.

    Arguments and errors as there; the value and n are of pairs, also where clusters are the unit. Never of zero
    width. For scores of -1, 0 and 1 this is `paired_difference`.

    >>> estimate = score_interval({-0.5: 6, 0: 94})
    >>> round(estimate.low, 5), round(estimate.high, 5)
    (-0.05592, -0.00287)
    """
    return _scores(values, half_range, clusters).interval(confidence)


@dataclass(frozen=True, slots=True)
class _Scores:
    """Scores in [low, high]: how many units have each sum and size. A unit is a cluster, or a pair: of size 1."""

    units: Mapping[tuple[float, int], int]
    low: float
    high: float

    @classmethod
    def of(cls, totals: Totals, low: float, high: float) -> _Scores:
        return cls(Counter(zip(totals.sums, totals.sizes, strict=True)), low, high)

    @property
    def pairs(self) -> int:
        """How many pairs."""
        return sum(size * units for (_, size), units in self.units.items())

    @property
    def mean(self) -> float:
        """The mean over pairs."""
        return math.fsum(total * units for (total, _), units in self.units.items()) / self.pairs

    def z(self, mean: float) -> float:
        """Return the score statistic for H0: the mean over pairs is `mean`; falls as the mean grows."""
        excess = math.fsum(units * (total - size * mean) for (total, size), units in self.units.items()) / self.pairs
        variance = self.variance(mean)
        if variance <= 0:  # at the ends of the range, and where nothing is left of a difference
            return math.copysign(math.inf, excess) if abs(excess) > 1e-12 * (self.high - self.low) else 0.0
        return excess / math.sqrt(variance)

    def variance(self, mean: float) -> float:
        """Return the variance of the mean over pairs if H0 is true: it is `mean`.

        A unit's score is its sum less what H0 expects of its pairs, so that under H0 its mean is 0 whatever the sizes
        are. The end that H0 may add, against the way the data go, is what a cluster of the size in which a typical
        pair is (sizes weighted by themselves) can sum up to at most, or what was seen, if that is more. Simulated size
        at .05 is about .07 at most, 10 to 60 clusters of 1 to 12 pairs (benchmarks/clusters.py). With the mean size up
        to .095, with the largest one there is hardly any power (P(PASS) .3 in place of .98 for an unbiased judge,
        30 clusters, 10% flips); with a variance about the mean seen, as of sandwich estimators, it is .1 to .4.
        """
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
        """Return how many of these pairs are worth one unrelated pair, whose score has variance `alone` under H0.

        `least` at least. Unlike an effect estimated from the data it is there where nothing, or hardly anything, moved.
        """
        return max(self.variance(mean) * self.pairs / alone, least)

    def interval(self, confidence: float) -> Estimate:
        """Return the mean over pairs with the means that are not rejected."""
        z = z_quantile((1 + check_open(confidence, "confidence")) / 2)
        value = min(max(self.mean, self.low), self.high)
        width = z * math.sqrt(self.variance(value))
        low = _crossing(lambda mean: self.z(mean) - z, self.low, value, (value, -z), value - width)
        high = _crossing(lambda mean: self.z(mean) + z, value, self.high, (value, z), value + width)
        return Estimate(value, low, high, confidence, self.pairs)


def _scores(
    values: Mapping[float, int] | Sequence[float], half_range: float, clusters: Sequence[Hashable] | None
) -> _Scores:
    _check_inside(half_range, "half_range", math.inf)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"values must be scores, or a count for each score, got {values!r}")
    if isinstance(values, Mapping):
        if clusters is not None:
            raise ValueError("clusters need a score per pair: values must be a sequence")
        counts = {value: _whole(count, "a count of values") for value, count in values.items()}
        weights = {(_number(value, "a score"), 1): count for value, count in counts.items()}
        if any(count < 0 for count in weights.values()):
            raise ValueError(f"counts of values must be >= 0, got {min(weights.values())}")
        units: Mapping[tuple[float, int], int] = {unit: count for unit, count in weights.items() if count}
        seen = [value for value, _ in units]
    else:
        seen = [_number(value, "a score") for value in values]
        found = totals(seen, clusters)
        units = _Scores.of(found, 0, 0).units if found else Counter((value, 1) for value in seen)
    if not seen:
        raise ValueError("values must hold at least one score")
    if wrong := [value for value in seen if not -half_range <= value <= half_range]:
        raise ValueError(f"values must lie between {-half_range:g} and {half_range:g}, got {wrong[0]!r}")
    return _Scores(units, -float(half_range), float(half_range))


def null_variance(totals: Totals, low: float, high: float) -> float:
    """Return the variance of the mean over pairs of scores in [low, high] if that mean is 0: of the score test.

    `totals` are the scores by cluster, which may be of one pair each. Raises ValueError where 0 is not in the range.
    Source: as `score_test`.

    >>> round(null_variance(Totals((0.75,) * 3 + (-0.25,) * 9, (1,) * 12), -0.25, 0.75) * 12, 4)
    0.1875
    """
    if not low <= 0 <= high:
        raise ValueError(f"0 must lie in the range of the scores, got {low:g} to {high:g}")
    return _Scores.of(totals, low, high).variance(0.0)


def _tilt(shares: Sequence[tuple[float, int]]) -> float:
    """Return the multiplier in 0..1 with which scores, each of weight units / (1 + tilt share), have mean 0.

    1 where none has: then an end at -1 takes the probability that the others leave. By Newton, kept in a bracket.
    """
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


def paired_difference(
    n10: float, n01: float, n: int, confidence: float = 0.90, totals: Totals | None = None
) -> Estimate:
    """Return (n10 - n01) / n with Tango's score interval for a paired difference of proportions.

    `n10` and `n01` count the discordant pairs of `n`; the result is in [-1, 1] and depends on nothing
    else. The interval never has zero width: with no flips it is +-z^2/(n + z^2). `totals` are the pairs' moves by
    cluster where they are related: +1 for those in n10, -1 for those in n01. With ties, which are half a verdict,
    they are needed (`parted`), and counts may be halves.
    Raises ValueError for counts that no table can have. Source: Tango 1998.

    >>> paired_difference(30, 0, 100).value
    0.3
    >>> round(paired_difference(0, 0, 100).high, 4)
    0.0263
    """
    n10, n01, n = check_counts(n10, n01, n, halves=totals is not None)
    if totals is not None:
        return _Scores.of(totals, -1.0, 1.0).interval(confidence)
    z = z_quantile((1 + check_open(confidence, "confidence")) / 2)
    value = (n10 - n01) / n
    low = -1.0 if n01 == n else _root(lambda d: tango_z(d, n10, n01, n) - z, -1.0, value)
    high = 1.0 if n10 == n else _root(lambda d: tango_z(d, n10, n01, n) + z, value, 1.0)
    return Estimate(value, low, high, confidence, n)


def proportion(
    k: float,
    n: int,
    confidence: float = 0.90,
    method: Literal["wilson", "exact"] = "wilson",
    totals: Totals | None = None,
) -> Estimate:
    """Return k / n with Wilson's interval, or with Clopper and Pearson's (`method="exact"`).

    A one-sided bound at level 1 - alpha is an end of the interval at confidence 1 - 2 alpha. `totals` are the pairs'
    0 and 1 by cluster where they are related. Wilson's interval is then the score interval over clusters, of which it
    is the one for single pairs; Clopper and Pearson's has counts divided by the design effect.
    Raises ValueError for k outside 0..n, n < 1 or another method.

    >>> proportion(0, 30, method="exact").low
    0.0
    """
    k, _, n = check_counts(k, 0, n, ("k", "0"), halves=totals is not None)
    check_open(confidence, "confidence")
    if method not in ("wilson", "exact"):
        raise ValueError(f"method must be 'wilson' or 'exact', got {method!r}")
    if totals is not None:
        scores = _Scores.of(totals, 0.0, 1.0)
        return scores.interval(confidence) if method == "wilson" else _effective_clopper_pearson(scores, k, confidence)
    low, high = (_wilson if method == "wilson" else _clopper_pearson)(k, n, confidence)
    # Rounding may leave a bound a hair beyond the value where k is 0 or n.
    return Estimate(k / n, min(low, k / n), max(high, k / n), confidence, n)


def _wilson(k: float, n: int, confidence: float) -> tuple[float, float]:
    """Return Wilson's bounds of a proportion. Source: Wilson 1927."""
    z = z_quantile((1 + confidence) / 2)
    centre, width = k + z * z / 2, z * math.sqrt(k * (n - k) / n + z * z / 4)
    return (centre - width) / (n + z * z) if k else 0.0, (centre + width) / (n + z * z) if k < n else 1.0


def _clopper_pearson(k: float, n: int, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's bounds of a proportion, quantiles of beta distributions. Source: Clopper 1934."""
    from scipy.special import betaincinv  # scipy.stats has this interval, too, and takes half a second to import

    tail = (1 - confidence) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    return low, float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0


def _effective_clopper_pearson(scores: _Scores, k: float, confidence: float) -> Estimate:
    """Return Clopper and Pearson's interval of related pairs: of k and n divided by the design effect at each bound.

    With clusters of one pair it is theirs, and where a cluster's pairs are all alike that of the clusters.
    """
    from scipy.special import betainc

    n, tail = scores.pairs, (1 - confidence) / 2

    def chance(share: float, above: int) -> float:
        effect = scores.design_effect(share, share * (1 - share)) if 0 < share < 1 else 1.0
        return float(betainc(k / effect + above, (n - k) / effect + 1 - above, share))

    low = _root(lambda share: chance(share, 0) - tail, 0.0, k / n) if k else 0.0
    high = _root(lambda share: chance(share, 1) - (1 - tail), k / n, 1.0) if k < n else 1.0
    return Estimate(k / n, low, high, confidence, n)


def gate_shift(
    n10: float, n01: float, n: int, tolerance: float, alpha: float = 0.05, totals: Totals | None = None
) -> GateResult:
    """Decide whether a paired shift lies within +-tolerance: PASS, FAIL or INCONCLUSIVE.

    PASS is a two one-sided tests procedure: the (1 - 2 alpha) Tango interval lies strictly inside the
    tolerance. FAIL means that the shift in its observed direction is beyond the tolerance at level alpha. `totals` as
    in `paired_difference`; fewer than FEWEST_CLUSTERS (of equal size) are INCONCLUSIVE, with p-values of 1.
    Raises ValueError for impossible counts, a tolerance outside (0, 1) or an alpha outside (0, 0.5).
    Source: Tango 1998; sizes in docs/statistics.md.

    >>> gate_shift(0, 0, 100, 0.10).status.value
    'PASS'
    >>> gate_shift(30, 0, 100, 0.15).status.value
    'FAIL'
    """
    n10, n01, n = check_counts(n10, n01, n, halves=totals is not None)
    check_open(tolerance, "tolerance")
    check_alpha(alpha)
    beyond_high, beyond_low = (_difference_z(bound, n10, n01, n, totals) for bound in (tolerance, -tolerance))
    p_pass = max(upper_tail(beyond_low), lower_tail(beyond_high))
    p_fail = upper_tail(beyond_high) if n10 >= n01 else lower_tail(beyond_low)
    if not decides(totals):
        p_pass = p_fail = 1.0
    status = _three_way(p_pass, p_fail, alpha)
    estimate = paired_difference(n10, n01, n, 1 - 2 * alpha, totals)
    needed = None
    if status is Status.INCONCLUSIVE:
        needed = needed_pairs(n10, n01, n, tolerance, alpha=alpha, totals=totals)
    message = f"VSR {describe(estimate)}{counted(n, totals)}, tolerance {bare(tolerance)}: {status}"
    if status is Status.INCONCLUSIVE:
        message += f"; {advice(needed, n, 'tolerance', totals)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def needed_pairs(
    n10: float,
    n01: float,
    n: int,
    tolerance: float,
    power: float = 0.8,
    alpha: float = 0.05,
    totals: Totals | None = None,
) -> int | None:
    """Return how many pairs would settle `gate_shift` with this power if the flip rates are as seen.

    Settling means PASS where the (smoothed) shift is within the tolerance, FAIL where it is beyond.
    None where more than 20 n would be needed: the estimate sits on the tolerance. Related pairs (`totals` as in
    `paired_difference`) count for less: more clusters like these are meant. Source: Nam 1997.

    >>> needed_pairs(15, 15, 100, 0.10)
    266
    """
    n10, n01, n = check_counts(n10, n01, n, halves=totals is not None)
    check_open(tolerance, "tolerance")
    check_open(power, "power")
    check_alpha(alpha)
    p10, p01 = (n10 + 0.5) / (n + 2), (n01 + 0.5) / (n + 2)
    p10, p01 = max(p10, p01), min(p10, p01)  # the gate is symmetric: look at the shift as positive
    shift, spread = p10 - p01, math.sqrt(p10 + p01 - (p10 - p01) ** 2)
    z = z_quantile(1 - alpha)
    at_high = z * math.sqrt(_null_variance(tolerance, p10, p01))
    at_low = z * math.sqrt(_null_variance(-tolerance, p10, p01))

    def power_to_pass(size: int) -> float:
        above = lower_tail((math.sqrt(size) * (tolerance - shift) - at_high) / spread)
        below = lower_tail((math.sqrt(size) * (tolerance + shift) - at_low) / spread)
        return above + below - 1

    def power_to_fail(size: int) -> float:
        return lower_tail((math.sqrt(size) * (shift - tolerance) - at_high) / spread)

    needed = smallest(power_to_pass if shift < tolerance else power_to_fail, power, LARGEST_ADVICE * n)
    return _related(needed, tolerance if n10 >= n01 else -tolerance, n10, n01, n, totals)


def _related(needed: int | None, bound: float, n10: float, n01: float, n: int, totals: Totals | None) -> int | None:
    """Return how many related pairs are needed where so many unrelated ones would be; None beyond 20 n.

    Times the design effect at the bound that is tested: more clusters like these are meant. Of ties, which move half
    as far as the counts have it, fewer are.
    """
    if needed is None or totals is None:
        return needed
    alone = _null_variance(bound, n10 / n, n01 / n)
    effect = _Scores.of(totals, -1.0, 1.0).design_effect(bound, alone, 1.0 if totals.related else 0.0)
    scaled = math.ceil(round(needed * effect, 6))
    return scaled if scaled <= LARGEST_ADVICE * n else None


def gate_non_inferiority(
    candidate_only: float,
    baseline_only: float,
    n: int,
    margin: float,
    alpha: float = 0.05,
    totals: Totals | None = None,
) -> GateResult:
    """Decide whether a candidate is no worse than its baseline by more than `margin`, on the same n pairs.

    `candidate_only` counts the pairs with the good outcome for the candidate alone, `baseline_only` the
    reverse. PASS when the lower end of the (1 - 2 alpha) Tango interval of the difference is above
    -margin, FAIL when its upper end is below. `totals` are the differences by cluster where pairs are related: +1
    for the candidate alone, -1 for the baseline. Raises ValueError as `gate_shift` does. Source: Tango 1998.

    >>> gate_non_inferiority(5, 5, 300, 0.05).status.value
    'PASS'
    """
    names = ("candidate_only", "baseline_only")
    candidate_only, baseline_only, n = check_counts(candidate_only, baseline_only, n, names, halves=totals is not None)
    check_open(margin, "margin")
    check_alpha(alpha)
    z = _difference_z(-margin, candidate_only, baseline_only, n, totals)
    p_pass, p_fail = upper_tail(z), lower_tail(z)
    if not decides(totals):
        p_pass = p_fail = 1.0
    status = _three_way(p_pass, p_fail, alpha)
    estimate = paired_difference(candidate_only, baseline_only, n, 1 - 2 * alpha, totals)
    needed, within = None, estimate.value > -margin
    if status is Status.INCONCLUSIVE and within:
        needed = _pairs_for_non_inferiority(candidate_only, baseline_only, n, margin, alpha)
        needed = _related(needed, -margin, candidate_only, baseline_only, n, totals)
    message = f"difference {describe(estimate)}{counted(n, totals)}, margin {bare(margin)}: {status}"
    if status is Status.INCONCLUSIVE:
        message += f"; {advice(needed, n, 'margin', totals, within=within)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def gate_scores(
    scores: Sequence[float], tolerance: float, alpha: float = 0.05, clusters: Sequence[Hashable] | None = None
) -> GateResult:
    """Decide whether the mean of per-pair scores in [-1, 1] lies within +-tolerance: PASS, FAIL or INCONCLUSIVE.

    What `gate_shift` is of moves that are counted, of any scores; the message says only what would settle it, if
    anything. Raises ValueError as `score_test`, for a tolerance outside (0, 1) and an alpha outside (0, 0.5).
    Source: the score test.

    >>> gate_scores([0.0] * 60, 0.05).status.value, gate_scores([0.25, 0.0] * 50, 0.05).status.value
    ('PASS', 'FAIL')
    """
    check_open(tolerance, "tolerance")
    check_alpha(alpha)
    found = _scores(scores, 1.0, clusters)
    related = totals(scores, clusters)
    beyond_high, beyond_low = (found.z(bound) for bound in (tolerance, -tolerance))
    p_pass = max(upper_tail(beyond_low), lower_tail(beyond_high))
    estimate = found.interval(1 - 2 * alpha)
    p_fail = upper_tail(beyond_high) if estimate.value >= 0 else lower_tail(beyond_low)
    if not decides(related):
        p_pass = p_fail = 1.0
    status, needed, message = _three_way(p_pass, p_fail, alpha), None, ""
    if status is Status.INCONCLUSIVE:
        needed = _pairs_for_scores(found, tolerance, alpha) if decides(related) else None
        message = advice(needed, estimate.n, "tolerance", related)
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def _pairs_for_scores(found: _Scores, tolerance: float, alpha: float, power: float = 0.8) -> int | None:
    """Return how many pairs like these would settle `gate_scores` with this power; None beyond 20 n.

    z of a bound grows with the root of the number of pairs, and varies about it as the mean does.
    """
    mean, n = found.mean, found.pairs
    bounds = (tolerance, -tolerance) if abs(mean) < tolerance else (math.copysign(tolerance, mean),)
    squares = math.fsum(units * (total - size * mean) ** 2 for (total, size), units in found.units.items())

    def reached(bound: float, size: int) -> float:
        z, error = abs(found.z(bound)), math.sqrt(found.variance(bound))
        beyond, spread = z * math.sqrt(size / n) - z_quantile(1 - alpha), math.sqrt(squares) / n / error if error else 0
        return lower_tail(beyond / spread) if spread else float(beyond > 0)

    def power_at(size: int) -> float:
        return sum(reached(bound, size) for bound in bounds) - (len(bounds) - 1)

    return smallest(power_at, power, LARGEST_ADVICE * n)


def gate_admission(
    moves: Mapping[tuple[float, float], int],
    threshold: float,
    alpha: float = 0.05,
    totals: tuple[Totals, Totals] | None = None,
) -> GateResult:
    """Decide whether a judge admits at least the share `threshold` of a shift: PASS, FAIL or INCONCLUSIVE.

    `moves` count pairs by how far they moved (+1 the way most did, 0, -1; halves beside ties) and by what their
    justifications say of it: +1 or -1 for the label that took a verdict by its own account, 0 for nothing, or for as
    much either way. Of that a pair admits at most what it moved, and one that did not move nothing: else a judge could
    move in silence and name the label where nothing came of it. Tested is the mean of threshold * moved - admitted,
    the shortfall: PASS when it is demonstrably below 0, FAIL when it is above. Of a share of the moved verdicts noise,
    which has nothing to admit, would lower the one that an honest judge can reach; a mean takes what noise moved one
    way off from what it moved the other way.
    `totals` are moved and admitted by cluster where pairs are related. Raises ValueError for other moves, totals that
    are not theirs, a threshold outside (0, 1) or an alpha outside (0, 0.5). Source: the score test; error rates in
    docs/statistics.md.

    >>> gate_admission({(1, 0): 6, (1, 1): 24, (0, 0): 70}, 0.5).status.value
    'PASS'
    >>> gate_admission({(1, 0): 30, (0, 0): 70}, 0.8).message
    'admitted .00 of a shift of .30, shortfall +0.24, 90% CI [.185, .304], threshold .80: FAIL'
    """
    check_open(threshold, "threshold")
    check_alpha(alpha)
    moves = _check_moves(moves, totals)
    # A pair that moved does not admit the contrary, so that shortfalls lie in [-1, 1]. Single pairs get the wider
    # range all the same: this is asked only where verdicts demonstrably moved, which noise may have helped, and of
    # honest judges (VSR .10, 10% flips, n = 100) 14% would FAIL in place of 3%; silent ones do as often. Over clusters
    # the score test is the more careful one anyway, and the wider range would hide silent judges (30 clusters of 4,
    # VSR .15: FAIL in .1 in place of .9).
    shortfalls = Counter[float]()
    for (moved, admitted), pairs in moves.items():
        shortfalls[threshold * moved - admitted] += pairs
    scores, related = _scores(shortfalls, 1 + threshold, None), totals and totals[0]
    if totals is not None:
        sums = (threshold * moved - admitted for moved, admitted in zip(*(each.sums for each in totals), strict=True))
        scores = _Scores.of(related := Totals(tuple(sums), totals[0].sizes), -1.0, 1.0)
    z = scores.z(0.0)
    p_pass, p_fail = (lower_tail(z), upper_tail(z)) if decides(related) else (1.0, 1.0)
    status, estimate = _three_way(p_pass, p_fail, alpha), scores.interval(1 - 2 * alpha)
    shift, shown = (sum(each[which] * pairs for each, pairs in moves.items()) / estimate.n for which in (0, 1))
    message = (
        f"admitted {bare(shown)} of a shift of {bare(shift)}, shortfall {describe(estimate)}"
        f"{counted(estimate.n, related)}, threshold {bare(threshold)}: {status}"
    )
    if not decides(related):
        message += f"; {advice(None, estimate.n, 'threshold', related)}"
    return GateResult(status, p_pass, p_fail, None, message, estimate)


_HALVES = (-1, -0.5, 0, 0.5, 1)
ADMISSIONS = frozenset((moved, said) for moved in _HALVES for said in _HALVES if moved * said >= 0)


def _check_moves(
    moves: Mapping[tuple[float, float], int], totals: tuple[Totals, Totals] | None
) -> Mapping[tuple[float, float], int]:
    """Return moves by what they admit, their counts as Python's integers; raises ValueError for any other."""
    if wrong := [move for move in moves if move not in ADMISSIONS]:
        raise ValueError(
            "moves must count pairs by how far they moved and what they admit, each -1, 0 or 1 (halves "
            f"beside ties) and not the contrary of each other, got {wrong[0]!r}"
        )
    counts = Counter[tuple[float, float]]()
    for (moved, said), count in moves.items():
        # Of the same sign as what moved, where both are any: so this is `said` in -|moved| to |moved|.
        counts[moved, moved if abs(said) > abs(moved) else said] += _whole(count, "a count of moves")
    for which, each in enumerate(totals or ()):
        seen = sum(move[which] * count for move, count in counts.items())
        if (sum(each.sizes), round(math.fsum(each.sums), 6)) != (sum(counts.values()), seen):
            raise ValueError(
                f"totals must be those of the moves, {sum(counts.values())} pairs that sum up to {seen}, "
                f"got {sum(each.sizes)} that sum up to {math.fsum(each.sums):g}"
            )
    if totals is not None and totals[0].sizes != totals[1].sizes:
        raise ValueError("totals must be of the same clusters, got other sizes for what moved and what is admitted")
    return counts


def mean_interval(
    scores: Sequence[float],
    confidence: float = 0.90,
    pseudo: float = 1.0,
    bound: float | None = None,
    totals: Totals | None = None,
) -> Estimate:
    """Return the mean of per-pair scores with a t interval over the scores and two pseudo-observations.

    Scores lie in [-bound, bound], by default [-pseudo, pseudo]. The two keep the interval from vanishing
    where all scores agree; the value is the plain mean. The pair is the unit: average repeats of a pair first. Where
    pairs are related, `totals` are these scores by cluster, and it is the score interval over clusters.
    Raises ValueError for no scores and for one beyond the bound.
    Source: docs/statistics.md, "Position, noise, ranking"; simulated size .044-.052 at .05.

    >>> round(mean_interval([0.0] * 100).high, 3)
    0.023
    """
    n = len(scores)
    if n < 1:
        raise ValueError("scores must hold at least one score")
    most = pseudo if bound is None else bound
    if not all(-most <= score <= most for score in scores):
        wrong = next(score for score in scores if not -most <= score <= most)
        raise ValueError(f"scores must lie between {-most:g} and {most:g}, got {wrong!r}")
    check_open(confidence, "confidence")
    if totals is not None:
        return _Scores.of(totals, -most, most).interval(confidence)
    from scipy.special import stdtrit

    centre, error = mean_and_error(scores, pseudo)
    width = float(stdtrit(n + 1, (1 + confidence) / 2)) * error
    value = math.fsum(scores) / n
    # Where all scores are alike the pseudo-observations pull the centre away from the value.
    low, high = min(max(centre - width, -most), value), max(min(centre + width, most), value)
    return Estimate(value, low, high, confidence, n)


def pairs_for_mean(estimate: Estimate, limit: float, power: float = 0.8) -> int | None:
    """Return how many pairs would show a mean to be within +-limit, or beyond it where it is; None beyond 20 n.

    `estimate` is one of `mean_interval`; its confidence is that of the two one-sided tests, which must both
    succeed for "within".

    >>> pairs_for_mean(mean_interval([0.5] * 10 + [0.0] * 40), 0.15)
    169
    """
    check_open(limit, "limit")
    check_open(power, "power")
    from scipy.special import stdtrit

    # As the interval sees it: with its two pseudo-observations.
    mean, probability = abs(estimate.value) * estimate.n / (estimate.n + 2), (1 + estimate.confidence) / 2
    error = (estimate.high - estimate.low) / 2 / float(stdtrit(estimate.n + 1, probability))
    deviation, z = error * math.sqrt(estimate.n + 2), z_quantile(probability)

    def beyond(distance: float, size: int) -> float:
        return lower_tail(distance * math.sqrt(size) / deviation - z)

    def power_to_pass(size: int) -> float:
        return beyond(limit - mean, size) + beyond(limit + mean, size) - 1

    def power_to_fail(size: int) -> float:
        return beyond(mean - limit, size)

    return smallest(power_to_pass if mean < limit else power_to_fail, power, LARGEST_ADVICE * estimate.n)


def mean_and_error(scores: Sequence[float], pseudo: float) -> tuple[float, float]:
    """Return mean and standard error of scores and two pseudo-observations."""
    size = len(scores) + 2
    mean = math.fsum(scores) / size
    squares = math.fsum((score - mean) ** 2 for score in scores) + (pseudo - mean) ** 2 + (-pseudo - mean) ** 2
    return mean, math.sqrt(squares / (size - 1) / size)


def mcnemar_exact(n10: float, n01: float, totals: Totals | None = None) -> float:
    """Return the two-sided p-value of the exact McNemar test that flips go both ways equally often.

    Where pairs are related (`totals` as in `paired_difference`), of the exact test that exchanges the arms of whole
    clusters: every cluster's sum may as well have the other sign. With clusters of one pair that is McNemar's.

    >>> mcnemar_exact(0, 0)
    1.0
    """
    n10, n01, _ = check_counts(n10, n01, max(math.ceil(n10 + n01), 1), halves=totals is not None)
    if n10 == n01:
        return 1.0
    if totals is not None:
        return _sign_flips(totals)
    from scipy.special import bdtr  # as scipy.stats.binomtest, which takes half a second to import

    return min(2 * float(bdtr(min(n10, n01), n10 + n01, 0.5)), 1.0)


def _sign_flips(totals: Totals) -> float:
    """Return how likely sums of whole numbers or halves, each with either sign, have a total this far from 0."""
    import numpy as np

    halves = [round(2 * total) for total in totals.sums]
    parts = halves if any(half % 2 for half in halves) else [half // 2 for half in halves]
    amounts = sorted(abs(part) for part in parts if part)
    # Where the total of those with a plus may lie, from none of them to all; adding one after the other.
    chances = np.zeros(sum(amounts) + 1)
    chances[0] = 1.0
    for amount in amounts:
        chances[amount:] = (chances[amount:] + chances[: len(chances) - amount]) / 2
        chances[:amount] /= 2
    distances = np.abs(2 * np.arange(len(chances)) - sum(amounts))
    return min(float(chances[distances >= abs(sum(parts))].sum()), 1.0)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order given. Source: Holm 1979.

    The i-th smallest of m p-values counts m - i + 1 times, never less than a smaller one and at most 1.
    Raises ValueError for a p-value outside 0..1.

    >>> holm([0.01, 0.04])
    [0.02, 0.04]
    """
    if wrong := [p for p in p_values if not 0 <= p <= 1]:
        raise ValueError(f"p-values must lie between 0 and 1, got {wrong[0]!r}")
    # Not statsmodels' multipletests: it runs the garbage collector on every call, a report calls it dozens of times.
    adjusted, largest, left = [0.0] * len(p_values), 0.0, len(p_values)
    for index in sorted(range(len(p_values)), key=p_values.__getitem__):
        largest = max(largest, float(p_values[index]) * left)
        adjusted[index] = min(largest, 1.0)
        left -= 1
    return adjusted


def describe(estimate: Estimate) -> str:
    """Return an estimate of a difference as a person reads it.

    >>> describe(paired_difference(30, 0, 100))
    '+0.30, 90% CI [.231, .380]'
    """
    level = f"{100 * estimate.confidence:.10g}"
    return f"{signed(estimate.value)}, {level}% CI [{bare(estimate.low, 3)}, {bare(estimate.high, 3)}]"


def signed(value: float) -> str:
    """Return a difference with its sign and two to three decimals: +0.30, -0.055, 0.00."""
    text = f"{value:+.3f}"
    text = text[:-1] if text.endswith("0") else text
    return "0.00" if text in ("+0.00", "-0.00") else text


def bare(value: float, decimals: int = 2) -> str:
    """Return a proportion without its leading zero, with at least this many decimals: .15, .075, 1.00."""
    text = f"{value:.{max(decimals, 3)}f}"
    while len(text.partition(".")[2]) > decimals and text.endswith("0"):
        text = text[:-1]
    return text.replace("0.", ".", 1) if abs(value) < 1 and not text.lstrip("-").startswith("1") else text


def several(number: int, thing: str) -> str:
    """Return how many of a thing there are, as it is read: 1 cluster, 2 clusters."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def advice(needed: int | None, n: int, limit: str, totals: Totals | None = None, *, within: bool = True) -> str:
    """Say what would settle an INCONCLUSIVE, or that no realistic number of pairs would.

    `within`: the estimate is within the limit, or `needed` is of a FAIL as well as of a PASS.
    """
    if totals is not None and not decides(totals):
        worth = "" if totals.count < FEWEST_CLUSTERS else f", worth {totals.equal:.1f} of equal size,"
        verb = "decides" if totals.count == 1 else "decide"
        return f"{several(totals.count, 'cluster')}{worth} {verb} nothing: at least {FEWEST_CLUSTERS} are needed"
    if not within:
        return f"the estimate is beyond the {limit}, though not yet demonstrably: more pairs would rather show a FAIL"
    if needed is None:
        return f"the estimate sits on the {limit}: no realistic number of pairs would settle it"
    if needed <= n:
        return f"about {n} pairs settle it in most runs (80% power), not in this one: add pairs"
    return f"about {needed} pairs would settle it (80% power)"


def _three_way(p_pass: float, p_fail: float, alpha: float) -> Status:
    if p_pass < alpha:
        return Status.PASS
    return Status.FAIL if p_fail < alpha else Status.INCONCLUSIVE


def tango_z(difference: float, n10: float, n01: float, n: int) -> float:
    """Return Tango's score statistic for H0: P10 - P01 = difference; falls as the difference grows."""
    numerator = n10 - n01 - n * difference
    variance = n * (2 * _restricted_p01(difference, n10, n01, n) + difference * (1 - difference))
    if variance <= 0:  # at the ends of [-1, 1], and at 0 when nothing flipped
        return math.copysign(math.inf, numerator) if abs(numerator) > 1e-12 * n else 0.0
    return float(numerator / math.sqrt(variance))


def _difference_z(difference: float, n10: float, n01: float, n: int, totals: Totals | None) -> float:
    """Return the score statistic for H0: P10 - P01 = difference, over pairs or over clusters of them."""
    if totals is not None:
        return _Scores.of(totals, -1.0, 1.0).z(difference)
    return tango_z(difference, n10, n01, n)


def _restricted_p01(difference: float, n10: float, n01: float, n: float) -> float:
    """Return the maximum-likelihood P01 among tables whose P10 - P01 is `difference`."""
    a = 2 * n
    b = -(n10 + n01) + (2 * n - n10 + n01) * difference
    c = -n01 * difference * (1 - difference)
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    # Of the two forms of the larger root, the one that does not subtract nearly equal numbers.
    estimate = -2 * c / (root + b) if b > 0 else (root - b) / (2 * a)
    return max(estimate, -difference, 0.0)


def _null_variance(difference: float, p10: float, p01: float) -> float:
    return 2 * _restricted_p01(difference, p10, p01, 1.0) + difference * (1 - difference)


def _pairs_for_non_inferiority(
    candidate_only: float, baseline_only: float, n: int, margin: float, alpha: float, power: float = 0.8
) -> int | None:
    p10, p01 = (candidate_only + 0.5) / (n + 2), (baseline_only + 0.5) / (n + 2)
    difference, spread = p10 - p01, math.sqrt(p10 + p01 - (p10 - p01) ** 2)
    if difference <= -margin:
        return None
    at_margin = z_quantile(1 - alpha) * math.sqrt(_null_variance(-margin, p10, p01))

    def power_to_pass(size: int) -> float:
        return lower_tail((math.sqrt(size) * (margin + difference) - at_margin) / spread)

    return smallest(power_to_pass, power, LARGEST_ADVICE * n)


def smallest(power_at: Callable[[int], float], power: float, largest: int) -> int | None:
    """Return the smallest size in 1..largest with that power; power grows with size."""
    if power_at(largest) < power:
        return None
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a monotone function crosses 0, by bisection: it may be infinite at the ends."""
    if low == high or function(low) == 0:
        return low
    sign = function(low) > 0
    while low < (middle := (low + high) / 2) < high and high - low > 1e-15:
        if (function(middle) > 0) is sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _crossing(
    function: Callable[[float], float], low: float, high: float, known: tuple[float, float], near: float
) -> float:
    """Return where a falling function crosses 0 between low and high: what `_root` does of a smooth one, much faster.

    By secants from a `known` point (x, value) and from `near` on, by bisection where they would leave the bracket.
    """
    if low == high:
        return low
    before, value_before = known
    following = near if low < near < high else (low + high) / 2
    for _ in range(200):
        value = function(following)
        low, high = (following, high) if value > 0 else (low, following)
        rise = value - value_before
        secant = following - value * (following - before) / rise if math.isfinite(rise) and rise else math.nan
        before, value_before = following, value
        following = secant if low < secant < high else (low + high) / 2
        if value == 0 or abs(following - before) < 1e-15 or not low < following < high:
            break
    return before if value_before == 0 else following


def lower_tail(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def upper_tail(z: float) -> float:
    return 0.5 * math.erfc(z / math.sqrt(2))


@lru_cache(maxsize=64)
def z_quantile(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))


def check_counts(
    n10: float, n01: float, n: int, names: tuple[str, str] = ("n10", "n01"), *, halves: bool = False
) -> tuple[float, float, int]:
    """Return the counts as Python's integers: numpy's small ones would wrap around in a difference.

    With `halves` the first two may be halves, which stay as they are.
    """
    count = _half if halves else _whole
    n10, n01, n = count(n10, names[0]), count(n01, names[1]), _whole(n, "n")
    if n < 1 or n10 < 0 or n01 < 0 or n10 + n01 > n:
        raise ValueError(f"counts must be >= 0 and sum to at most n >= 1, got {n10}, {n01} of n={n}")
    return n10, n01, n


def _half(value: float, name: str) -> float:
    """Return a count that may be a half."""
    return float(value) if isinstance(value, float) and value % 1 == 0.5 else _whole(value, name)


def _whole(value: float, name: str) -> int:
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = None
    if whole is None or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return whole


def _number(value: float, name: str) -> float:
    try:
        number = None if isinstance(value, str) else float(value)
    except TypeError:  # nothing, or a list
        number = None
    if number is None:
        raise ValueError(f"{name} must be a number, got {value!r}")
    return number


def check_open(value: float, name: str) -> float:
    return _check_inside(value, name, 1)


def check_alpha(alpha: float) -> None:
    _check_inside(alpha, "alpha", 0.5)


def _check_inside(value: float, name: str, high: float) -> float:
    try:
        inside = 0 < value < high
    except TypeError:  # a text, or nothing
        inside = False
    if not inside:
        raise ValueError(f"{name} must lie between 0 and {high:g}, both excluded, got {value!r}")
    return value
