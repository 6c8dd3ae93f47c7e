"""Gate of a proportion with an upper limit, and its power."""

import math
from functools import lru_cache

from .clusters import ScoredUnits, Totals, can_decide, describe_clusters
from .elementary import check_alpha, check_counts, smallest_size_with_power
from .estimate import GateResult, Status, format_estimate, format_share
from .gates import LARGEST_ADVICE, combine_one_sided_tests, inconclusive_advice
from .proportions import binomial_tails, proportion


def gate_share(
    k: int, n: int, limit: float, alpha: float = 0.05, totals: Totals = None, units: str = "pairs"
) -> GateResult:
    """Decide whether the share of which k of n are seen lies below a limit: PASS, FAIL or INCONCLUSIVE.

    PASS means that the one-sided exact upper bound is below the limit at level alpha, FAIL that the lower one is
    above. `totals` are the 0 and 1 by cluster where pairs are related. Raises ValueError for k outside 0..n, a limit
    outside (0, 1) and an alpha outside (0, 0.5). Source: Clopper 1934; error rates in benchmarks/results.md.

    >>> gate_share(2, 40, 0.20).message
    '0.05 (90% CI 0.01 to 0.15), limit 0.20: PASS'
    >>> gate_share(12, 40, 0.20).message
    '0.30 (90% CI 0.18 to 0.44), limit 0.20: INCONCLUSIVE; use about 127 pairs (80% power)'
    """
    check_alpha(alpha, limit=limit)
    estimate = proportion(k, n, 1 - 2 * alpha, "exact", totals)
    as_many, as_few = binomial_tails(k, n, limit, totals)
    status, p_pass, p_fail = combine_one_sided_tests(as_few, as_many, alpha, totals)
    of_pairs = describe_clusters(n, totals, units)
    message = f"{format_estimate(estimate, format_share)}{of_pairs}, limit {format_share(limit)}: {status}"
    needed = None
    if status is Status.INCONCLUSIVE:
        needed = pairs_for_share(k, n, limit, alpha, totals=totals) if can_decide(totals) else None
        message += f"; {inconclusive_advice(needed, n, 'limit', totals, units=units)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def smallest_n_of_share(limit: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs with which a count of 0 passes.

    >>> [smallest_n_of_share(limit) for limit in (0.05, 0.10, 0.20)]
    [59, 29, 14]
    """
    check_alpha(alpha, limit=limit)
    return math.floor(math.log(alpha) / math.log1p(-limit)) + 1


@lru_cache(maxsize=4096)
def largest_passing_count(n: int, limit: float, alpha: float = 0.05) -> int:
    """Return the largest k that passes `gate_share`, or -1.

    >>> largest_passing_count(40, 0.20), largest_passing_count(13, 0.20)
    (3, -1)
    """
    from scipy.special import bdtr

    low, high = -1, n  # P(k or fewer | limit) grows with k: below alpha up to `low`, no more at `high`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(bdtr(middle, n, limit)) < alpha else (low, middle)
    return low


def share_gate_chances(n: int, limit: float, share: float, alpha: float = 0.05) -> tuple[float, float]:
    """Return the exact probabilities of PASS and FAIL of `gate_share`.

    >>> [round(chance, 3) for chance in share_gate_chances(100, 0.20, 0.10)]
    [0.876, 0.0]
    """
    check_counts(0, 0, n)
    check_alpha(alpha, limit=limit)
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in 0..1, got {share!r}")
    from scipy.special import bdtr

    most = largest_passing_count(n, limit, alpha)
    least = n - largest_passing_count(n, 1 - limit, alpha)  # those that are not one are below 1 - limit
    passes = float(bdtr(most, n, share)) if most >= 0 else 0.0
    fails = float(bdtr(n - least, n, 1 - share)) if least <= n else 0.0
    return passes, fails


def pairs_for_share(
    k: int, n: int, limit: float, alpha: float = 0.05, power: float = 0.8, totals: Totals = None
) -> int | None:
    """Return how many pairs settle `gate_share`, or None beyond 20 n.

    >>> pairs_for_share(6, 40, 0.20), pairs_for_share(8, 40, 0.20)
    (381, None)
    """
    share, largest = k / n, LARGEST_ADVICE * n
    side = 0 if share < limit else 1
    needed = smallest_size_with_power(lambda size: share_gate_chances(size, limit, share, alpha)[side], power, largest)
    if needed is None or totals is None or not totals.related:
        return needed
    effect = ScoredUnits.of(totals, 0.0, 1.0).design_effect(limit, limit * (1 - limit))
    scaled = math.ceil(round(needed * effect, 6))
    return scaled if scaled <= largest else None
