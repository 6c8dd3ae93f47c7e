"""Score shift: the gate of a mean difference of scores, as shares of their scale (-1 to 1 per pair).

A label moves a score by a few points, if at all. A test that allows for moves across the whole scale would need far
more pairs. The limits of means.py follow the observed spread, and require enough pairs to show a few large moves. For
error rates see benchmarks/results.md, "Scores".
"""

import math
from collections.abc import Sequence

from .clusters import Clusters, ScoredUnits, Totals, can_decide, cluster_totals, scored_units
from .elementary import check_alpha, check_inside, check_open, check_whole, lower_tail, upper_tail
from .estimate import Estimate, GateResult, Status, pluralize
from .gates import LARGEST_ADVICE, combine_one_sided_tests, inconclusive_advice
from .means import Mean, pairs_for_limits

# How far a pair is taken to move at most, as a share of the scale, until one is seen that moved farther: 4.5 points
# from 1 to 10. Of fewer pairs than show such moves, where they make up the tolerance, the limits of a mean err too
# often: a tenth of the pairs that carries it all is not among 20 in .12 of the samples.
FARTHEST = 0.5

# Fewer pairs than these were not simulated (benchmarks/scores.py).
FEWEST_SCORES = 20

# Two pairs that nobody saw, this share of the scale to either side of the mean, keep equal scores from an interval
# without width. With .05 judges at the tolerance whose shifts are log-normal would PASS in .09 at 30 pairs; .15 costs
# one that is not moved .03 of its PASSes there, at noise of .7 points from 1 to 10.
UNSEEN = 0.15


def points_shift(scores: Sequence[float], confidence: float = 0.90, clusters: Clusters = None) -> Estimate:
    """Return the mean of scores in [-1, 1] with the limits of `gate_scores`.

    Source: Hall 1992. Raises ValueError for invalid scores or labels.

    >>> estimate = points_shift([0.0, 0.05, -0.05] * 10)
    >>> round(estimate.low, 3), round(estimate.high, 3)
    (-0.018, 0.018)
    """
    _, related = _units(scores, clusters)
    return _estimate(Mean.of(scores, related, UNSEEN), check_open(confidence, "confidence"))


def gate_scores(
    scores: Sequence[float],
    tolerance: float,
    alpha: float = 0.05,
    clusters: Clusters = None,
    units: str = "pairs",
    farthest: float = FARTHEST,
) -> GateResult:
    """Decide whether the mean of per-pair scores in [-1, 1] lies within +-tolerance: PASS, FAIL or INCONCLUSIVE.

    By the limits of `points_shift`. With fewer pairs than `fewest_scores` (clusters of equal size, where some are
    related) these may miss the few that move far, and the score test, which allows for every move, has to agree.
    `farthest` is how far a pair is taken to move at most; one that moved farther raises it. The message says only what
    would settle it, if anything; `units` is what it calls them. Raises ValueError as `points_shift`, for a tolerance
    outside (0, 1), an alpha outside (0, 0.5) and a farthest that is not in (0, 1].
    Source: as there; the score test; error rates in benchmarks/results.md.

    >>> gate_scores([0.0] * 30, 0.05).status.value, gate_scores([0.25, 0.0] * 15, 0.05).status.value
    ('PASS', 'FAIL')
    >>> gate_scores([0.0] * 20, 0.05).message
    '20 pairs are too few to exclude rare large shifts: use at least 29'
    """
    check_alpha(alpha)
    _check_farthest(farthest)
    scored, related = _units(scores, clusters)
    mean = Mean.of(scores, related, UNSEEN)
    estimate = _estimate(mean, 1 - 2 * alpha)
    seen = min(1.0, max(farthest, *map(abs, scores)))
    counted, least = related.equal if related else len(scores), fewest_scores(tolerance, alpha, seen)
    upwards = mean if mean.mean >= 0 else mean.reversed()
    by_limits = (max(mean.p_at_least(tolerance), mean.reversed().p_at_least(tolerance)), upwards.p_at_most(tolerance))
    p_pass, p_fail = by_limits
    if counted < least:
        p_pass, p_fail = map(max, by_limits, _of_every_move(scored, tolerance, is_positive=mean.mean >= 0))
    status, p_pass, p_fail = combine_one_sided_tests(p_pass, p_fail, alpha, related)
    needed, message = None, ""
    if status is Status.INCONCLUSIVE:
        needed = _pairs_needed(scores, related, estimate, tolerance, least) if can_decide(related) else None
        message = inconclusive_advice(needed, len(scores), "limit", related, units=units)
        if can_decide(related) and min(by_limits) < alpha:
            few = pluralize(related.count, "cluster") if related else f"{len(scores)} {units}"
            message = f"{few} are too few to exclude rare large shifts: use at least {least}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def fewest_scores(tolerance: float, alpha: float = 0.05, farthest: float = FARTHEST) -> int:
    """Return from how many pairs `gate_scores` needs no score test.

    >>> [fewest_scores(tolerance) for tolerance in (0.02, 0.05, 0.10)], fewest_scores(0.05, farthest=1.0)
    ([74, 29, 20], 59)
    """
    check_alpha(alpha, tolerance=tolerance)
    _check_farthest(farthest)
    if tolerance >= farthest:
        return FEWEST_SCORES
    return max(FEWEST_SCORES, math.ceil(math.log(alpha) / math.log1p(-tolerance / farthest)))


def scores_pass(n: int, tolerance: float, noise: float, alpha: float = 0.05) -> float:
    """Return how likely `gate_scores` says PASS of n pairs whose scores do not shift, about.

    `noise` is the standard deviation of a pair's shift, as a share of the scale; 0 where there are too few pairs for
    the limits of a mean. Taken to be normal. Raises ValueError for fewer than 1 pair, for a noise that is negative and
    as `fewest_scores`. Source: benchmarks/results.md has the simulated ones.

    >>> [round(scores_pass(n, 0.05, 0.08), 2) for n in (25, 30, 40)]
    [0.0, 0.87, 0.97]
    """
    n, least = check_whole(n, "n"), fewest_scores(tolerance, alpha)
    if n < 1 or not 0 <= noise < math.inf:
        raise ValueError(f"n must be at least 1 and noise at least 0, got n={n!r}, noise={noise!r}")
    if n < least:
        return 0.0
    from scipy.special import stdtrit

    error = math.sqrt(((n - 1) * noise**2 + 2 * UNSEEN**2) * (n + 2) / (n + 1)) / n
    room = tolerance - error * float(stdtrit(n - 1, 1 - alpha))
    if room <= 0 or not noise:
        return float(room > 0)
    return 2 * lower_tail(room * math.sqrt(n) / noise) - 1


def _check_farthest(farthest: float) -> None:
    check_inside(farthest, "farthest", math.nextafter(1.0, 2.0))  # across the whole scale is far, and may be


def _units(scores: Sequence[float], clusters: Clusters) -> tuple[ScoredUnits, Totals]:
    return scored_units(scores, 1.0, clusters), cluster_totals(scores, clusters)


def _estimate(mean: Mean, confidence: float) -> Estimate:
    low, high = max(mean.lowest(confidence), -1.0), min(mean.highest(confidence), 1.0)
    return Estimate(mean.mean, min(low, mean.mean), max(high, mean.mean), confidence, mean.pairs)


def _pairs_needed(
    scores: Sequence[float], related: Totals, estimate: Estimate, tolerance: float, least: int
) -> int | None:
    n, counted = len(scores), related.equal if related else len(scores)
    mean = Mean.of(scores, related, UNSEEN * math.sqrt(min(1.0, counted / least)))
    settled = pairs_for_limits(mean, mean, estimate, tolerance)
    with_limits = math.ceil(least * n / counted - 1e-9)
    needed = max(settled, with_limits) if settled else None
    return needed if needed is not None and needed <= max(LARGEST_ADVICE * n, with_limits) else None


def _of_every_move(units: ScoredUnits, tolerance: float, *, is_positive: bool) -> tuple[float, float]:
    above, below = units.z(tolerance), units.z(-tolerance)
    return max(lower_tail(above), upper_tail(below)), upper_tail(above) if is_positive else lower_tail(below)
