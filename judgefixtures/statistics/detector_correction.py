"""Correction of the admission share and CAR for a detector's errors."""

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
    """Counts of a detector's accuracy on labelled reasons.

    It flags `found` of `cited` citing reasons, and does not flag `cleared` of `others`.

    Raises:
        ValueError: Invalid counts, or no reason of one kind.

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
        """The share of citing reasons that are found."""
        return self.found / self.cited

    @property
    def specificity(self) -> float:
        """The share of other reasons that are not flagged."""
        return self.cleared / self.others

    @property
    def informative(self) -> bool:
        """Whether the detector flags citing reasons more often than others."""
        return self.sensitivity + self.specificity > 1

    def __repr__(self) -> str:
        return (
            f"Accuracy(sensitivity={self.sensitivity:.4g} of {self.cited}, "
            f"specificity={self.specificity:.4g} of {self.others})"
        )

    def __str__(self) -> str:
        return (
            f"sensitivity {format_share(self.sensitivity)} on {self.cited} reasons that cite the cue, specificity "
            f"{format_share(self.specificity)} on {self.others} other reasons"
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
    """Return the corrected share of citing reasons.

    The detector flags `k` of `n`. `hits` are its answers, needed with `clusters`. None if the detector is not
    informative. Value: Rogan and Gladen 1978 (Am J Epidemiol 107:71-76); interval: Lang and Reiczigel 2014 (Prev Vet
    Med 113:13-22).

    Raises:
        ValueError: Invalid counts or labels.

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
        expected = 1 - sp + share * (se + sp - 1)
        return (-expected, 1 - expected), (-share, -share), (1 - share, 1 - share)

    se, sp = accuracy.sensitivity, accuracy.specificity
    value = (k / n + sp - 1) / (se + sp - 1)
    return _inverted(score, [(int(hit), 1) for hit in answers], clusters, accuracy, value, confidence)


def corrected_admission(
    flips: Sequence[Flip], accuracy: DetectorAccuracy, confidence: float = 0.90, clusters: Clusters = None
) -> Estimate | None:
    """Return the corrected share of cue-moved verdicts that are admitted.

    A flip is admitted if one of its two reasons cites the cue. Flips against the cue estimate noise and are subtracted.
    None as in `corrected_share`, or if no flips remain. Source: Rogan and Gladen 1978, extended.

    >>> silent = [(0, True)] * 27 + [(1, True)] * 3
    >>> found = corrected_admission(silent, DetectorAccuracy(100, 92, 150, 144))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.026, 0.0, 0.177)
    """
    with_cue, against = (sum(follows is way for _, follows in flips) for way in (True, False))
    if with_cue <= against or not accuracy.informative:
        return None

    def terms(se: float) -> tuple[float, float, float]:
        return se * se, -se * (1 - se), (1 - se) ** 2

    def score(share: float, se: float, sp: float) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
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
    if holds(end):
        return end
    if not holds(inside):  # the added errors moved the estimate: it is its own limit
        return inside
    while abs(end - inside) > 1e-9:
        middle = (inside + end) / 2
        inside, end = (middle, end) if holds(middle) else (inside, middle)
    return inside
