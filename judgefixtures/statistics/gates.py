"""Gates that compare an estimate with a tolerance, and their sample sizes."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from .clusters import (
    FEWEST_CLUSTERS,
    Clusters,
    ClusterTotals,
    ScoredUnits,
    Totals,
    can_decide,
    cluster_totals,
    describe_clusters,
    scored_units,
)
from .elementary import (
    check_alpha,
    check_counts,
    check_open,
    check_whole,
    lower_tail,
    smallest_size_with_power,
    upper_tail,
    z_quantile,
)
from .estimate import Estimate, GateResult, Status, format_estimate, format_share, pluralize
from .proportions import difference_variance, paired_difference, tango_z

# A sample size beyond this multiple of the present one is not advice: the estimate sits on the tolerance.
LARGEST_ADVICE = 20

# More pairs than these nobody asks about for one number.
UNREALISTIC = 2000


def gate_shift(
    n10: float, n01: float, n: int, tolerance: float, alpha: float = 0.05, totals: Totals = None, units: str = "pairs"
) -> GateResult:
    """Decide whether a paired shift lies within +-tolerance: PASS, FAIL or INCONCLUSIVE.

    PASS is a two one-sided tests procedure: the (1 - 2 alpha) Tango interval lies strictly inside the
    tolerance. FAIL means that the shift in its observed direction is beyond the tolerance at level alpha. `totals` as
    in `paired_difference`; fewer than FEWEST_CLUSTERS (of equal size) are INCONCLUSIVE, with p-values of 1. `units` is
    what the message calls the n.
    Raises ValueError for impossible counts, a tolerance outside (0, 1) or an alpha outside (0, 0.5).
    Source: Tango 1998; sizes in benchmarks/results.md.

    >>> gate_shift(0, 0, 100, 0.10).status.value
    'PASS'
    >>> gate_shift(30, 0, 100, 0.15).status.value
    'FAIL'
    """
    n10, n01, n = check_counts(n10, n01, n, halves=totals is not None)
    check_alpha(alpha, tolerance=tolerance)
    beyond = [_difference_z(bound, n10, n01, n, totals) for bound in (tolerance, -tolerance)]
    status, p_pass, p_fail = _within_both(beyond[0], beyond[1], n10 >= n01, alpha, totals)
    estimate = paired_difference(n10, n01, n, 1 - 2 * alpha, totals)
    of_pairs = describe_clusters(n, totals, units)
    message = f"VSR {format_estimate(estimate)}{of_pairs}, limit {format_share(tolerance)}: {status}"
    needed = None
    if status is Status.INCONCLUSIVE:
        needed = needed_pairs(n10, n01, n, tolerance, alpha=alpha, totals=totals)
        message += f"; {inconclusive_advice(needed, n, 'limit', totals, units=units)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def gate_non_inferiority(
    candidate_only: float, baseline_only: float, n: int, margin: float, alpha: float = 0.05, totals: Totals = None
) -> GateResult:
    """Decide whether a candidate is worse than its baseline by at most `margin`.

    `candidate_only` and `baseline_only` count pairs with the good outcome for one alone. PASS: the lower end of the
    (1 - 2 alpha) Tango interval is above -margin. FAIL: the upper end is below it. Errors as in `gate_shift`.

    >>> gate_non_inferiority(5, 5, 300, 0.05).status.value
    'PASS'
    """
    names = ("candidate_only", "baseline_only")
    candidate_only, baseline_only, n = check_counts(candidate_only, baseline_only, n, names, halves=totals is not None)
    check_alpha(alpha, margin=margin)
    z = _difference_z(-margin, candidate_only, baseline_only, n, totals)
    status, p_pass, p_fail = combine_one_sided_tests(upper_tail(z), lower_tail(z), alpha, totals)
    estimate = paired_difference(candidate_only, baseline_only, n, 1 - 2 * alpha, totals)
    needed, within = None, estimate.value > -margin
    if status is Status.INCONCLUSIVE and within:
        needed = _pairs_for_non_inferiority(candidate_only, baseline_only, n, margin, alpha)
        needed = _related(needed, -margin, candidate_only, baseline_only, n, totals)
    of_pairs = describe_clusters(n, totals)
    message = f"difference {format_estimate(estimate)}{of_pairs}, margin {format_share(margin)}: {status}"
    if status is Status.INCONCLUSIVE:
        message += f"; {inconclusive_advice(needed, n, 'margin', totals, within=within)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def gate_excess(
    excess: Sequence[float],
    tolerance: float,
    alpha: float = 0.05,
    clusters: Clusters = None,
    units: str = "pairs",
    *,
    both_sides: bool = False,
    fail_alpha: float | None = None,
) -> GateResult:
    """Decide whether the mean of per-pair scores in [-1, 1] lies below a tolerance: PASS, FAIL or INCONCLUSIVE.

    On one side of 0 alone: less than nothing is nothing in excess. With `both_sides` the mean must lie within the
    tolerance on either side. PASS means that the mean is below the tolerance at level alpha, FAIL that it is above it
    at level `fail_alpha` (alpha unless given). Raises ValueError as `score_test`, for a tolerance outside (0, 1) and an
    alpha outside (0, 0.5). Source: the score test; error rates in benchmarks/results.md.

    >>> gate_excess([0.0] * 60, 0.10).message
    'excess 0.00 (90% CI -0.04 to 0.04), limit 0.10: PASS'
    >>> gate_excess([1.0, 0.0, 0.0] * 40, 0.10).status.value
    'FAIL'
    >>> gate_excess([-1.0, 0.0, 0.0] * 40, 0.10, both_sides=True).status.value
    'FAIL'
    """
    check_alpha(alpha, tolerance=tolerance)
    scored, related = scored_units(excess, 1.0, clusters), cluster_totals(excess, clusters)
    estimate, z = scored.interval(1 - 2 * alpha), scored.z(tolerance)
    below = scored.z(-tolerance) if both_sides else math.inf
    tests = max(lower_tail(z), upper_tail(below)), min(upper_tail(z), lower_tail(below))
    status, p_pass, p_fail = combine_one_sided_tests(*tests, alpha, related, fail_alpha)
    of_pairs = describe_clusters(estimate.n, related, units)
    message = f"excess {format_estimate(estimate)}{of_pairs}, limit {format_share(tolerance)}: {status}"
    needed = None
    if status is Status.INCONCLUSIVE:
        bounds = [tolerance, -tolerance] if both_sides else [tolerance]
        beyond = [bound for bound in bounds if abs(estimate.value) > tolerance and bound * estimate.value > 0]
        sizes = [_pairs_on_one_side(scored, end, alpha) for end in beyond or bounds] if can_decide(related) else [None]
        needed = None if None in sizes else max(filter(None, sizes), default=None)
        message += f"; {inconclusive_advice(needed, estimate.n, 'limit', related, units=units)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def _pairs_on_one_side(units: ScoredUnits, bound: float, alpha: float, power: float = 0.8) -> int | None:
    z, n = abs(units.z(bound)), units.pairs

    def power_at(size: int) -> float:
        return lower_tail(z * math.sqrt(size / n) - z_quantile(1 - alpha))

    return smallest_size_with_power(power_at, power, LARGEST_ADVICE * n)


def gate_admission(
    moves: Mapping[tuple[float, float], int],
    threshold: float,
    alpha: float = 0.05,
    totals: tuple[ClusterTotals, ClusterTotals] | None = None,
    units: str = "pairs",
) -> GateResult:
    """Decide whether a judge admits at least the share `threshold` of a shift: PASS, FAIL or INCONCLUSIVE.

    The tested quantity is the mean shortfall: threshold * moved - admitted, over all pairs. PASS means demonstrably
    below 0, FAIL demonstrably above. A pair admits at most what it moved. A mean, unlike a share of the moved
    verdicts, cancels the noise that moves verdicts both ways.

    Args:
        moves: Numbers of pairs by (moved, said). Both are +1, 0 or -1: the way most pairs moved is +1; halves stand
            beside ties; `said` is what the justifications name.
        threshold: The smallest admitted share, in (0, 1).
        alpha: The level, in (0, 0.5).
        totals: Moved and admitted by cluster of related pairs.
        units: Name of the pairs in the message.

    Raises:
        ValueError: Other moves, totals, threshold or alpha.

    Source: the score test; error rates in benchmarks/results.md.

    >>> gate_admission({(1, 0): 6, (1, 1): 24, (0, 0): 70}, 0.5).status.value
    'PASS'
    >>> gate_admission({(1, 0): 30, (0, 0): 70}, 0.8).message
    'admitted 0.00 of a shift of 0.30, shortfall +0.24 (90% CI 0.18 to 0.30), minimum 0.80: FAIL'
    """
    check_alpha(alpha, threshold=threshold)
    moves = _check_moves(moves, totals)
    # A pair that moved does not admit the contrary, so that shortfalls lie in [-1, 1]. Single pairs get the wider
    # range all the same: this is asked only where verdicts demonstrably moved, which noise may have helped, and of
    # honest judges (VSR .10, 10% flips, n = 100) 14% would FAIL in place of 3%; silent ones do as often. Over clusters
    # the score test is the more careful one anyway, and the wider range would hide silent judges (30 clusters of 4,
    # VSR .15: FAIL in .1 in place of .9).
    shortfalls = Counter[float]()
    for (moved, admitted), pairs in moves.items():
        shortfalls[threshold * moved - admitted] += pairs
    scores, related = scored_units(shortfalls, 1 + threshold, None), totals and totals[0]
    if totals is not None:
        sums = (threshold * moved - admitted for moved, admitted in zip(*(each.sums for each in totals), strict=True))
        scores = ScoredUnits.of(related := ClusterTotals(tuple(sums), totals[0].sizes), -1.0, 1.0)
    z = scores.z(0.0)
    status, p_pass, p_fail = combine_one_sided_tests(lower_tail(z), upper_tail(z), alpha, related)
    estimate = scores.interval(1 - 2 * alpha)
    shift, mean = (sum(each[which] * pairs for each, pairs in moves.items()) / estimate.n for which in (0, 1))
    message = (
        f"admitted {format_share(mean)} of a shift of {format_share(shift)}, shortfall {format_estimate(estimate)}"
        f"{describe_clusters(estimate.n, related, units)}, minimum {format_share(threshold)}: {status}"
    )
    if not can_decide(related):
        message += f"; {inconclusive_advice(None, estimate.n, 'minimum', related, units=units)}"
    return GateResult(status, p_pass, p_fail, None, message, estimate)


_HALVES = (-1, -0.5, 0, 0.5, 1)


ADMISSIONS = frozenset((moved, admits) for moved in _HALVES for admits in _HALVES if moved * admits >= 0)


def _check_moves(
    moves: Mapping[tuple[float, float], int], totals: tuple[ClusterTotals, ClusterTotals] | None
) -> Mapping[tuple[float, float], int]:
    if wrong := [move for move in moves if move not in ADMISSIONS]:
        raise ValueError(
            "moves must count pairs by how far they moved and what they admit, each -1, 0 or 1 (halves "
            f"beside ties) and not the contrary of each other, got {wrong[0]!r}"
        )
    counts = Counter[tuple[float, float]]()
    for (moved, admitted), count in moves.items():
        # Of the same sign as what moved, where both are any: so this is `said` in -|moved| to |moved|.
        counts[moved, moved if abs(admitted) > abs(moved) else admitted] += check_whole(count, "a count of moves")
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


def _difference_z(difference: float, n10: float, n01: float, n: int, totals: Totals) -> float:
    if totals is not None:
        return ScoredUnits.of(totals, -1.0, 1.0).z(difference)
    return tango_z(difference, n10, n01, n)


def _within_both(
    z_high: float, z_low: float, is_positive: bool, alpha: float, totals: Totals
) -> tuple[Status, float, float]:
    p_fail = upper_tail(z_high) if is_positive else lower_tail(z_low)
    return combine_one_sided_tests(max(upper_tail(z_low), lower_tail(z_high)), p_fail, alpha, totals)


def combine_one_sided_tests(
    p_pass: float, p_fail: float, alpha: float, totals: Totals, fail_alpha: float | None = None
) -> tuple[Status, float, float]:
    """Return status and p-values of two one-sided tests.

    With too few clusters both p-values are 1.
    """
    if not can_decide(totals):
        return Status.INCONCLUSIVE, 1.0, 1.0
    return settled(p_pass < alpha, p_fail < (fail_alpha or alpha), totals), p_pass, p_fail


def settled(passes: bool, fails: bool, totals: Totals) -> Status:
    """Return the status; too few clusters are INCONCLUSIVE."""
    if not can_decide(totals):
        return Status.INCONCLUSIVE
    return Status.PASS if passes else Status.FAIL if fails else Status.INCONCLUSIVE


def inconclusive_advice(
    needed: int | None, n: int, limit: str, totals: Totals = None, *, within: bool = True, units: str = "pairs"
) -> str:
    """Return what decides an INCONCLUSIVE: more pairs, or nothing realistic."""
    if totals is not None and not can_decide(totals):
        worth = "" if totals.count < FEWEST_CLUSTERS else f" (worth {totals.equal:.1f} of equal size)"
        verb = "is" if totals.count == 1 else "are"
        return f"{pluralize(totals.count, 'cluster')}{worth} {verb} too few: use at least {FEWEST_CLUSTERS}"
    if not within:
        return f"the estimate is beyond the {limit}, but its interval is not: more {units} would probably show a FAIL"
    if needed is None and (most := LARGEST_ADVICE * n) < UNREALISTIC:
        return f"the estimate is very close to the {limit}: a decision needs more than {most} {units}"
    if needed is None:
        return f"the estimate is at the {limit}: no realistic number of {units} can decide"
    if needed <= n:
        return f"{n} {units} usually suffice (80% power), but not in this run: add {units}"
    return f"use about {needed} {units} (80% power)"


def needed_pairs(
    n10: float, n01: float, n: int, tolerance: float, power: float = 0.8, alpha: float = 0.05, totals: Totals = None
) -> int | None:
    """Return how many pairs settle `gate_shift`, or None beyond 20 n.

    Assumes the observed flip rates. Source: Nam 1997 (Biometrics 53:1422-1430).

    >>> needed_pairs(15, 15, 100, 0.10)
    266
    """
    n10, n01, n = check_counts(n10, n01, n, halves=totals is not None)
    check_alpha(alpha, tolerance=tolerance, power=power)
    p10, p01 = (n10 + 0.5) / (n + 2), (n01 + 0.5) / (n + 2)
    p10, p01 = max(p10, p01), min(p10, p01)  # the gate is symmetric: look at the shift as positive
    shift, spread = p10 - p01, math.sqrt(p10 + p01 - (p10 - p01) ** 2)
    z = z_quantile(1 - alpha)
    at_high = z * math.sqrt(difference_variance(tolerance, p10, p01))
    at_low = z * math.sqrt(difference_variance(-tolerance, p10, p01))

    def power_to_pass(size: int) -> float:
        above = lower_tail((math.sqrt(size) * (tolerance - shift) - at_high) / spread)
        below = lower_tail((math.sqrt(size) * (tolerance + shift) - at_low) / spread)
        return above + below - 1

    def power_to_fail(size: int) -> float:
        return lower_tail((math.sqrt(size) * (shift - tolerance) - at_high) / spread)

    needed = smallest_size_with_power(power_to_pass if shift < tolerance else power_to_fail, power, LARGEST_ADVICE * n)
    return _related(needed, tolerance if n10 >= n01 else -tolerance, n10, n01, n, totals)


def _pairs_for_non_inferiority(
    candidate_only: float, baseline_only: float, n: int, margin: float, alpha: float, power: float = 0.8
) -> int | None:
    p10, p01 = (candidate_only + 0.5) / (n + 2), (baseline_only + 0.5) / (n + 2)
    difference, spread = p10 - p01, math.sqrt(p10 + p01 - (p10 - p01) ** 2)
    if difference <= -margin:
        return None
    at_margin = z_quantile(1 - alpha) * math.sqrt(difference_variance(-margin, p10, p01))

    def power_to_pass(size: int) -> float:
        return lower_tail((math.sqrt(size) * (margin + difference) - at_margin) / spread)

    return smallest_size_with_power(power_to_pass, power, LARGEST_ADVICE * n)


def _related(needed: int | None, bound: float, n10: float, n01: float, n: int, totals: Totals) -> int | None:
    if needed is None or totals is None:
        return needed
    alone = difference_variance(bound, n10 / n, n01 / n)
    effect = ScoredUnits.of(totals, -1.0, 1.0).design_effect(bound, alone, 1.0 if totals.related else 0.0)
    scaled = math.ceil(round(needed * effect, 6))
    return scaled if scaled <= LARGEST_ADVICE * n else None


def pairs_for_mean(estimate: Estimate, limit: float, power: float = 0.8) -> int | None:
    """Return how many pairs settle a `mean_interval` against +-limit, or None.

    >>> from judgefixtures.statistics.proportions import mean_interval
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

    power_at = power_to_pass if mean < limit else power_to_fail
    return smallest_size_with_power(power_at, power, LARGEST_ADVICE * estimate.n)
