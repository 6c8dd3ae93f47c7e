"""Calibration of the judge's pass probabilities against people's labels."""

import math
from collections import defaultdict
from collections.abc import Sequence

from .clusters import Clusters, ClusterTotals, ScoredUnits, cluster_totals
from .elementary import check_number, check_open, check_whole
from .estimate import Estimate

_BINS = 10  # of equal width, as it is usually reported


def brier_score(
    probabilities: Sequence[float], passed: Sequence[bool], confidence: float = 0.90, clusters: Clusters = None
) -> Estimate:
    """Return the Brier score of pass probabilities, with a score interval.

    `passed` are people's labels; `clusters` has a label per related example.

    Raises:
        ValueError: No examples, other lengths, or a probability outside 0 to 1.

    >>> round(brier_score([0.9, 0.8, 0.3, 0.1], [True, True, False, False]).value, 4)
    0.0375
    """
    examples = _checked(probabilities, passed)
    scores = [(chance - label) ** 2 for chance, label in examples]
    return _units(scores, clusters, 0.0).interval(check_open(confidence, "confidence"))


def calibration_error(
    probabilities: Sequence[float],
    passed: Sequence[bool],
    confidence: float = 0.90,
    clusters: Clusters = None,
    bins: int = _BINS,
) -> Estimate:
    """Return the expected calibration error: how far probabilities are from how often people pass, in bins of them.

    In each of `bins` bins of equal width the mean probability is held against the share that people pass; the value is
    the mean of these differences over examples, whatever their signs. So it is above 0 by chance also for a perfectly
    calibrated judge, which the lower end makes up for. Both ends come of the score interval of the differences, each
    with the sign that its bin has; from the lower one what noise adds is taken off. Arguments and errors as in
    `brier_score`. Source: Naeini, Cooper and Hauskrecht 2015 for the value; coverage in benchmarks/results.md.

    >>> sure = calibration_error([0.99] * 50 + [0.01] * 50, [True] * 40 + [False] * 60)
    >>> round(sure.value, 2), round(sure.low, 2), round(sure.high, 2)
    (0.1, 0.04, 0.16)
    """
    examples, count = _checked(probabilities, passed), check_whole(bins, "bins")
    if count < 1:
        raise ValueError(f"bins must be at least 1, got {bins!r}")
    members: dict[int, list[float]] = defaultdict(list)
    places = [min(int(chance * count), count - 1) for chance, _ in examples]
    for place, (chance, label) in zip(places, examples, strict=True):
        members[place].append(label - chance)
    signs = {place: math.copysign(1.0, math.fsum(of)) for place, of in members.items()}
    off = [signs[place] * (label - chance) for place, (chance, label) in zip(places, examples, strict=True)]
    units, single = (_units(off, each, -1.0) for each in (clusters, None))
    alone = single.variance(single.mean)
    effect = max(units.variance(units.mean) / alone, 1.0) if alone else 1.0
    # The mean of |x| is at most this much above |mean of x| for a normal x: sqrt(2 / pi) of its standard error.
    noise = math.sqrt(2 / math.pi * effect) * math.fsum(map(_spread, members.values())) / len(examples)
    ends, value = units.interval(check_open(confidence, "confidence")), max(units.mean, 0.0)
    return Estimate(value, min(max(ends.low - noise, 0.0), value), max(ends.high, value), confidence, ends.n)


def _spread(differences: Sequence[float]) -> float:
    n = len(differences)
    mean = math.fsum(differences) / n
    return math.sqrt(math.fsum((each - mean) ** 2 for each in differences) + 1 / n)


def _units(scores: Sequence[float], clusters: Clusters, low: float) -> ScoredUnits:
    single = ClusterTotals(tuple(scores), (1,) * len(scores))
    return ScoredUnits.of(cluster_totals(scores, clusters) or single, low, 1.0)


def _checked(probabilities: Sequence[float], passed: Sequence[bool]) -> list[tuple[float, int]]:
    if not probabilities or len(probabilities) != len(passed):
        raise ValueError(
            f"there must be a label for each of at least one probability, got {len(passed)} for {len(probabilities)}"
        )
    chances = [check_number(each, "a probability") for each in probabilities]
    if wrong := [each for each in chances if not 0 <= each <= 1]:
        raise ValueError(f"probabilities must lie between 0 and 1, got {wrong[0]!r}")
    return list(zip(chances, map(int, map(bool, passed)), strict=True))
