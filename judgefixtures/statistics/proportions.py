"""Estimates and tests of proportions, paired differences and bounded means.

The paired difference has Tango's score interval (Tango 1998, Stat Med 17:891-908), which no dependency implements.
scipy is imported on first use.
"""

import math
from collections.abc import Sequence
from typing import Literal

from .clusters import ClusterTotals, ScoredUnits, Totals
from .elementary import check_counts, check_open, find_root, z_quantile
from .estimate import Estimate


def paired_difference(n10: float, n01: float, n: int, confidence: float = 0.90, totals: Totals = None) -> Estimate:
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
        return ScoredUnits.of(totals, -1.0, 1.0).interval(confidence)
    z = z_quantile((1 + check_open(confidence, "confidence")) / 2)
    value = (n10 - n01) / n
    low = -1.0 if n01 == n else find_root(lambda d: tango_z(d, n10, n01, n) - z, -1.0, value)
    high = 1.0 if n10 == n else find_root(lambda d: tango_z(d, n10, n01, n) + z, value, 1.0)
    return Estimate(value, low, high, confidence, n)


def proportion(
    k: float, n: int, confidence: float = 0.90, method: Literal["wilson", "exact"] = "wilson", totals: Totals = None
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
        scores = ScoredUnits.of(totals, 0.0, 1.0)
        return scores.interval(confidence) if method == "wilson" else _effective_clopper_pearson(scores, k, confidence)
    low, high = (_wilson if method == "wilson" else _clopper_pearson)(k, n, confidence)
    # Rounding may leave a bound a hair beyond the value where k is 0 or n.
    return Estimate(k / n, min(low, k / n), max(high, k / n), confidence, n)


def difference(k1: int, n1: int, k2: int, n2: int, confidence: float = 0.90) -> Estimate:
    """Return k1 / n1 - k2 / n2 of two independent samples with Newcombe's interval, made of both Wilson intervals.

    n is that of both samples. Raises ValueError for k outside 0..n and n < 1. Source: Newcombe 1998, method 10.

    >>> found = difference(56, 70, 48, 80, 0.95)  # the paper's own example
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.2, 0.0524, 0.3339)
    """
    first, second = proportion(k1, n1, confidence), proportion(k2, n2, confidence)
    value = first.value - second.value
    low = value - math.hypot(first.value - first.low, second.high - second.value)
    high = value + math.hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, low, high, confidence, n1 + n2)


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


def _effective_clopper_pearson(scores: ScoredUnits, k: float, confidence: float) -> Estimate:
    """Return Clopper and Pearson's interval of related pairs: of k and n divided by the design effect at each bound.

    With clusters of one pair it is theirs, and where a cluster's pairs are all alike that of the clusters.
    """
    n, tail = scores.pairs, (1 - confidence) / 2
    low = find_root(lambda share: _tail(k, n, share, 0, scores) - tail, 0.0, k / n) if k else 0.0
    high = find_root(lambda share: _tail(k, n, share, 1, scores) - (1 - tail), k / n, 1.0) if k < n else 1.0
    return Estimate(k / n, low, high, confidence, n)


def _tail(k: float, n: int, share: float, above: int, scores: ScoredUnits | None) -> float:
    """Return how likely k or more of n are, or more than k (`above` 1), where each is one with probability `share`.

    Of related ones, whose `scores` are given, k and n are divided by the design effect.
    """
    from scipy.special import betainc

    effect = scores.design_effect(share, share * (1 - share)) if scores is not None and 0 < share < 1 else 1.0
    return float(betainc(k / effect + above, (n - k) / effect + 1 - above, share))


def binomial_tails(k: float, n: int, share: float, totals: Totals = None) -> tuple[float, float]:
    """Return how likely k or more, and k or fewer, of n are where each is one with probability `share`, in (0, 1).

    Below (1 - confidence) / 2 exactly where `share` is below, or above, the interval of `proportion` by its exact
    method; `totals` as there.

    >>> [round(tail, 3) for tail in binomial_tails(28, 30, 0.80)]
    [0.044, 0.989]
    """
    k, _, n = check_counts(k, 0, n, ("k", "0"), halves=totals is not None)
    check_open(share, "share")
    scores = None if totals is None else ScoredUnits.of(totals, 0.0, 1.0)
    return _tail(k, n, share, 0, scores) if k else 1.0, 1 - _tail(k, n, share, 1, scores) if k < n else 1.0


def macro_average(parts: Sequence[Estimate], confidence: float = 0.90) -> Estimate:
    """Return the unweighted mean of independent proportions, as papers report it over domains; n is all pairs.

    The interval combines the parts' own (MOVER). Raises ValueError for no parts.
    Source: Zou and Donner 2008; arXiv 2601.03630 reports such means.

    >>> macro_average([proportion(9, 10), proportion(50, 100)]).value
    0.7
    """
    if not parts:
        raise ValueError("a macro average needs at least one part")
    k = len(parts)
    value = sum(part.value for part in parts) / k
    low = value - math.sqrt(sum((part.value - part.low) ** 2 for part in parts)) / k
    high = value + math.sqrt(sum((part.high - part.value) ** 2 for part in parts)) / k
    return Estimate(value, max(low, 0.0), min(high, 1.0), confidence, sum(part.n for part in parts))


def mean_interval(
    scores: Sequence[float],
    confidence: float = 0.90,
    pseudo: float = 1.0,
    bound: float | None = None,
    totals: Totals = None,
) -> Estimate:
    """Return the mean of per-pair scores with a t interval over the scores and two pseudo-observations.

    Scores lie in [-bound, bound], by default [-pseudo, pseudo]. The two keep the interval from vanishing
    where all scores agree; the value is the plain mean. The pair is the unit: average repeats of a pair first. Where
    pairs are related, `totals` are these scores by cluster, and it is the score interval over clusters.
    Raises ValueError for no scores and for one beyond the bound.
    Source: docs/explanation/measures.md; simulated size .044-.052 at .05.

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
        return ScoredUnits.of(totals, -most, most).interval(confidence)
    from scipy.special import stdtrit

    centre, error = mean_and_error(scores, pseudo)
    width = float(stdtrit(n + 1, (1 + confidence) / 2)) * error
    value = math.fsum(scores) / n
    # Where all scores are alike the pseudo-observations pull the centre away from the value.
    low, high = min(max(centre - width, -most), value), max(min(centre + width, most), value)
    return Estimate(value, low, high, confidence, n)


def mean_and_error(scores: Sequence[float], pseudo: float) -> tuple[float, float]:
    """Return mean and standard error of scores and two pseudo-observations."""
    size = len(scores) + 2
    mean = math.fsum(scores) / size
    squares = math.fsum((score - mean) ** 2 for score in scores) + (pseudo - mean) ** 2 + (-pseudo - mean) ** 2
    return mean, math.sqrt(squares / (size - 1) / size)


def mcnemar_exact(n10: float, n01: float, totals: Totals = None) -> float:
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


def _sign_flips(totals: ClusterTotals) -> float:
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


def tango_z(difference: float, n10: float, n01: float, n: int) -> float:
    """Return Tango's score statistic for H0: P10 - P01 = difference; falls as the difference grows."""
    numerator = n10 - n01 - n * difference
    variance = n * (2 * _restricted_p01(difference, n10, n01, n) + difference * (1 - difference))
    if variance <= 0:  # at the ends of [-1, 1], and at 0 when nothing flipped
        return math.copysign(math.inf, numerator) if abs(numerator) > 1e-12 * n else 0.0
    return float(numerator / math.sqrt(variance))


def _restricted_p01(difference: float, n10: float, n01: float, n: float) -> float:
    """Return the maximum-likelihood P01 among tables whose P10 - P01 is `difference`."""
    a = 2 * n
    b = -(n10 + n01) + (2 * n - n10 + n01) * difference
    c = -n01 * difference * (1 - difference)
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    # Of the two forms of the larger root, the one that does not subtract nearly equal numbers.
    estimate = -2 * c / (root + b) if b > 0 else (root - b) / (2 * a)
    return max(estimate, -difference, 0.0)


def difference_variance(difference: float, p10: float, p01: float) -> float:
    """Return the variance of a pair's difference if its mean is `difference` (Tango's restricted estimate)."""
    return 2 * _restricted_p01(difference, p10, p01, 1.0) + difference * (1 - difference)
