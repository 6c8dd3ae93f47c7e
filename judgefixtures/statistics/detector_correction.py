"""Correction of the admission share and of CAR for a detector's errors.

The detector's error rates are measured on a few labelled reasons, so the interval includes both samplings. A corrected
share is shown beside the raw one. It assumes that the labelled reasons resemble the judge's, and that errors about the
two reasons of a pair are independent.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from .clusters import Clusters, ClusterTotals, cluster_totals, null_variance
from .elementary import check_open, z_quantile
from .estimate import Estimate, format_share

# How many of a pair's two reasons the detector calls cited, and whether the verdict went the way most of them did.
Flip = tuple[Literal[0, 1, 2], bool]


@dataclass(frozen=True, slots=True)
class DetectorAccuracy:
    """How well a detector tells *cited* from the rest, as counts of labelled reasons.

    `found` of `cited` that cite the cue are called cited, `cleared` of `others` are not. Raises ValueError for
    counts that are none, and where there is nothing of either kind.

    >>> DetectorAccuracy(100, 92, 150, 147)
    Accuracy(sensitivity=0.92 of 100, specificity=0.98 of 150)
    """

    cited: int
    found: int
    others: int
    cleared: int

    def __post_init__(self) -> None:
        shares = ((self.found, self.cited, "found and cited"), (self.cleared, self.others, "cleared and others"))
        for k, n, names in shares:
            if n < 1 or not 0 <= k <= n:
                raise ValueError(f"{names} must be counts, the first of the second and that at least 1, got {k} of {n}")

    @property
    def sensitivity(self) -> float:
        """The share of reasons that cite the cue and are found."""
        return self.found / self.cited

    @property
    def specificity(self) -> float:
        """The share of the other reasons that are not taken for such."""
        return self.cleared / self.others

    @property
    def informative(self) -> bool:
        """Whether what cites the cue is called cited more often than what does not: else nothing can be corrected."""
        return self.sensitivity + self.specificity > 1

    def __repr__(self) -> str:
        return (
            f"Accuracy(sensitivity={self.sensitivity:.4g} of {self.cited}, "
            f"specificity={self.specificity:.4g} of {self.others})"
        )

    def __str__(self) -> str:
        return (
            f"finds {format_share(self.sensitivity)} of {self.cited} reasons that cite the cue, clears "
            f"{format_share(self.specificity)} of {self.others} others"
        )


# What the offline detector does, by cue family; of others nothing is known, and nothing is corrected. Of 990 reasons by
# five authors of whom nothing was learned, half of them written to be hard (docs/explanation/detector.md). To be
# measured anew, on other authors, with every change of the detector: benchmarks/measure_stance.py.
OFFLINE: Mapping[str, DetectorAccuracy] = MappingProxyType(
    {
        "provenance": DetectorAccuracy(88, 79, 135, 133),
        "recency": DetectorAccuracy(85, 78, 131, 127),
        "age": DetectorAccuracy(56, 49, 82, 81),
        "gender": DetectorAccuracy(54, 47, 86, 85),
        "ethnicity": DetectorAccuracy(58, 52, 79, 77),
        "education": DetectorAccuracy(52, 49, 84, 84),
    }
)


def corrected_share(
    k: int,
    n: int,
    accuracy: DetectorAccuracy,
    confidence: float = 0.90,
    clusters: Clusters = None,
    hits: Sequence[bool] | None = None,
) -> Estimate | None:
    """Return the share of reasons that cite the cue where a detector calls `k` of `n` cited; None if it cannot tell.

    The value is Rogan and Gladen's (k/n + specificity - 1) / (sensitivity + specificity - 1), in [0, 1]. The interval
    holds the shares that the score test does not reject, whose variance has, beside that of k, those of the measured
    sensitivity and specificity, each with one error and one hit more than were seen (Lang and Reiczigel 2014). Of a
    perfect detector it is Wilson's. Where reasons are of related pairs, `hits` are the detector's answers and
    `clusters` a label for each. Raises ValueError for counts that are none, and labels that do not fit.
    Source: Rogan and Gladen 1978, Am J Epidemiol 107:71-76; Lang and Reiczigel 2014, Prev Vet Med 113:13-22.

    >>> found = corrected_share(30, 100, DetectorAccuracy(100, 90, 100, 95))
    >>> round(found.value, 4), round(found.low, 3), round(found.high, 3)
    (0.2941, 0.198, 0.392)
    """
    if not 0 <= k <= n or n < 1:
        raise ValueError(f"k must be a count of n >= 1 reasons, got {k} of {n}")
    answers = [each < k for each in range(n)] if hits is None else list(hits)
    if (sum(answers), len(answers)) != (k, n):
        raise ValueError(f"hits must be the {k} of {n}, got {sum(answers)} of {len(answers)}")
    if not accuracy.informative:
        return None

    def score(share: float, se: float, sp: float) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """Of a reason that is called cited or not: its score, and how it changes with sensitivity and specificity."""
        expected = 1 - sp + share * (se + sp - 1)
        return (-expected, 1 - expected), (-share, -share), (1 - share, 1 - share)

    se, sp = accuracy.sensitivity, accuracy.specificity
    value = (k / n + sp - 1) / (se + sp - 1)
    return _inverted(score, [(int(hit), 1) for hit in answers], clusters, accuracy, value, confidence)


def corrected_admission(
    flips: Sequence[Flip], accuracy: DetectorAccuracy, confidence: float = 0.90, clusters: Clusters = None
) -> Estimate | None:
    """Return which share of the verdicts that the cue moved are admitted, given what a detector says of their reasons.

    A flip is admitted where one of its two reasons cites the cue. Of each flip the detector's answers give an unbiased
    estimate of that, 1 - (sensitivity - a)(sensitivity - b) / (sensitivity + specificity - 1)^2 with a, b = 1 for
    cited. Noise moves as many verdicts against the cue as with it, and has nothing to admit: the flips against it, and
    what seems admitted in them, are taken off from those with it. None where none are left, or the detector cannot
    tell. The interval is that of `corrected_share`; of a perfect detector and without flips against the cue it is
    Wilson's, as the raw CAR's. n counts the flips with the cue. `clusters` holds a label per flip.
    Source: Rogan and Gladen 1978, extended to two reasons; coverage simulated in benchmarks/detection.py.

    >>> silent = [(0, True)] * 27 + [(1, True)] * 3
    >>> found = corrected_admission(silent, DetectorAccuracy(100, 92, 150, 144))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.026, 0.0, 0.177)
    >>> candid = [(2, True)] * 30 + [(0, True)] * 10 + [(0, False)] * 10  # 10 of 40 flips may be noise
    >>> corrected_admission(candid, DetectorAccuracy(500, 500, 500, 500)).value
    1.0
    """
    with_cue, against = (sum(follows is way for _, follows in flips) for way in (True, False))
    if with_cue <= against or not accuracy.informative:
        return None

    def terms(se: float) -> tuple[float, float, float]:
        return se * se, -se * (1 - se), (1 - se) ** 2

    def score(share: float, se: float, sp: float) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """Of a flip with 0, 1 or 2 reasons called cited, times (se + sp - 1)^2: nothing is divided by what may be 0."""
        rest, youden = 1 - share, se + sp - 1
        steeper = 2 * rest * youden
        return (
            tuple(rest * youden**2 - term for term in terms(se)),
            (steeper - 2 * se, steeper + 1 - 2 * se, steeper + 2 * (1 - se)),
            (steeper,) * 3,
        )

    se, sp = accuracy.sensitivity, accuracy.specificity
    signed = [(cited, 1 if follows else -1) for cited, follows in flips]
    unadmitted = math.fsum(sign * terms(se)[cited] for cited, sign in signed)
    value = 1 - unadmitted / (se + sp - 1) ** 2 / (with_cue - against)
    inverted = _inverted(score, signed, clusters, accuracy, value, confidence)
    return Estimate(inverted.value, inverted.low, inverted.high, confidence, with_cue)


_Score = Callable[[float, float, float], tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]]


def _inverted(
    score: _Score,
    seen: Sequence[tuple[int, int]],
    clusters: Clusters,
    accuracy: DetectorAccuracy,
    value: float,
    confidence: float,
) -> Estimate:
    """Return a share with those that are not rejected; `seen` are what the detector says and the sign it counts with.

    `score` gives by what the detector may say a score whose mean is 0 where the share is the true one.
    """
    quantile = z_quantile((1 + check_open(confidence, "confidence")) / 2)
    value = min(max(value, 0.0), 1.0)
    # One more of either kind, so that a detector without an error on few reasons is not taken for perfect; beside very
    # many it is.
    se, sp = (accuracy.found + 1) / (accuracy.cited + 2), (accuracy.cleared + 1) / (accuracy.others + 2)
    spread = se * (1 - se) / (accuracy.cited + 2), sp * (1 - sp) / (accuracy.others + 2)
    signs = {sign for _, sign in seen}

    def z(share: float) -> float:
        scores, *slopes = score(share, se, sp)
        possible = [sign * each for each in scores for sign in signs]
        signed = [sign * scores[answer] for answer, sign in seen]
        by_cluster = cluster_totals(signed, clusters) or ClusterTotals(tuple(signed), (1,) * len(signed))
        variance = null_variance(by_cluster, min(0.0, *possible), max(0.0, *possible))
        for slope, of_rate in zip(slopes, spread, strict=True):
            variance += (math.fsum(sign * slope[answer] for answer, sign in seen) / len(seen)) ** 2 * of_rate
        mean = math.fsum(signed) / len(signed)
        if variance <= 0:
            return math.copysign(math.inf, mean) if abs(mean) > 1e-12 else 0.0
        return mean / math.sqrt(variance)

    low = _limit(lambda share: z(share) <= quantile, value, 0.0)
    high = _limit(lambda share: z(share) >= -quantile, value, 1.0)
    return Estimate(value, low, high, confidence, len(seen))


def _limit(holds: Callable[[float], bool], inside: float, end: float) -> float:
    """Return how far from a share towards an end of its range something holds, by bisection."""
    if holds(end):
        return end
    if not holds(inside):  # the added errors moved the estimate: it is its own limit
        return inside
    while abs(end - inside) > 1e-9:
        middle = (inside + end) / 2
        inside, end = (middle, end) if holds(middle) else (inside, middle)
    return inside
