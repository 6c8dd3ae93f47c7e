"""Estimates and tests of proportions, paired differences and bounded means."""

import math
from collections.abc import Sequence
from typing import Literal

from .clusters import ClusterTotals, ScoredUnits, Totals
from .elementary import check_counts, check_open, find_root, z_quantile
from .estimate import Estimate


def paired_difference(n10: float, n01: float, n: int, confidence: float = 0.90, totals: Totals = None) -> Estimate:
    """Return (n10 - n01) / n with Tango's score interval, in [-1, 1].

    `n10` and `n01` count discordant pairs. `totals` are their moves by cluster, +1 or -1, and required for ties (see
    `parted`). Source: Tango 1998 (Stat Med 17:891-908).

    Raises:
        ValueError: Invalid counts.

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
    """Return k / n with Wilson's or Clopper and Pearson's interval ("exact").

    `totals` are 0 and 1 by cluster.

    Raises:
        ValueError: k outside 0..n, n < 1 or another method.

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
    """Return k1 / n1 - k2 / n2 of independent samples with Newcombe's interval.

    Source: Newcombe 1998, method 10. Raises ValueError for k outside 0..n.

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
    z = z_quantile((1 + confidence) / 2)
    centre, width = k + z * z / 2, z * math.sqrt(k * (n - k) / n + z * z / 4)
    return (centre - width) / (n + z * z) if k else 0.0, (centre + width) / (n + z * z) if k < n else 1.0


def _clopper_pearson(k: float, n: int, confidence: float) -> tuple[float, float]:
    from scipy.special import betaincinv  # scipy.stats has this interval, too, and takes half a second to import

    tail = (1 - confidence) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    return low, float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0


def _effective_clopper_pearson(scores: ScoredUnits, k: float, confidence: float) -> Estimate:
    n, tail = scores.pairs, (1 - confidence) / 2
    low = find_root(lambda share: _tail(k, n, share, 0, scores) - tail, 0.0, k / n) if k else 0.0
    high = find_root(lambda share: _tail(k, n, share, 1, scores) - (1 - tail), k / n, 1.0) if k < n else 1.0
    return Estimate(k / n, low, high, confidence, n)


def _tail(k: float, n: int, share: float, above: int, scores: ScoredUnits | None) -> float:
    from scipy.special import betainc

    effect = scores.design_effect(share, share * (1 - share)) if scores is not None and 0 < share < 1 else 1.0
    return float(betainc(k / effect + above, (n - k) / effect + 1 - above, share))


def binomial_tails(k: float, n: int, share: float, totals: Totals = None) -> tuple[float, float]:
    """Return P(at least k of n) and P(at most k of n).

    `totals` as in `proportion`.

    >>> [round(tail, 3) for tail in binomial_tails(28, 30, 0.80)]
    [0.044, 0.989]
    """
    k, _, n = check_counts(k, 0, n, ("k", "0"), halves=totals is not None)
    check_open(share, "share")
    scores = None if totals is None else ScoredUnits.of(totals, 0.0, 1.0)
    return _tail(k, n, share, 0, scores) if k else 1.0, 1 - _tail(k, n, share, 1, scores) if k < n else 1.0


def macro_average(parts: Sequence[Estimate], confidence: float = 0.90) -> Estimate:
    """Return the unweighted mean of independent proportions with its MOVER interval.

    Source: Zou and Donner 2008. Raises ValueError without parts.

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
    """Return mean and standard error, with two pseudo-observations."""
    size = len(scores) + 2
    mean = math.fsum(scores) / size
    squares = math.fsum((score - mean) ** 2 for score in scores) + (pseudo - mean) ** 2 + (-pseudo - mean) ** 2
    return mean, math.sqrt(squares / (size - 1) / size)


def mcnemar_exact(n10: float, n01: float, totals: Totals = None) -> float:
    """Return the two-sided p-value of the exact McNemar test (over clusters with `totals`).

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
    """Return Holm's adjusted p-values in the given order (Holm 1979).

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
    """Return Tango's score statistic for H0: P10 - P01 = difference."""
    numerator = n10 - n01 - n * difference
    variance = n * (2 * _restricted_p01(difference, n10, n01, n) + difference * (1 - difference))
    if variance <= 0:  # at the ends of [-1, 1], and at 0 when nothing flipped
        return math.copysign(math.inf, numerator) if abs(numerator) > 1e-12 * n else 0.0
    return float(numerator / math.sqrt(variance))


def _restricted_p01(difference: float, n10: float, n01: float, n: float) -> float:
    a = 2 * n
    b = -(n10 + n01) + (2 * n - n10 + n01) * difference
    c = -n01 * difference * (1 - difference)
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    # Of the two forms of the larger root, the one that does not subtract nearly equal numbers.
    estimate = -2 * c / (root + b) if b > 0 else (root - b) / (2 * a)
    return max(estimate, -difference, 0.0)


def difference_variance(difference: float, p10: float, p01: float) -> float:
    """Return Tango's restricted variance of a pair's difference."""
    return 2 * _restricted_p01(difference, p10, p01, 1.0) + difference * (1 - difference)
