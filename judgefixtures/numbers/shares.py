"""The gate of a share of pairs that is to stay below a limit, by exact bounds on one side, and how likely it decides.

scipy is imported by the functions that need it, so that importing this module costs nothing.
"""

from __future__ import annotations

import math
from functools import lru_cache

from judgefixtures.numbers.clusters import ScoredUnits, Totals, counted, decides
from judgefixtures.numbers.elementary import check_alpha, check_counts, check_open, smallest
from judgefixtures.numbers.estimate import GateResult, Status, bare, describe
from judgefixtures.numbers.proportions import proportion, share_tails
from judgefixtures.numbers.tolerance import LARGEST_ADVICE, advice, conclude


def gate_share(
    k: int, n: int, limit: float, alpha: float = 0.05, totals: Totals | None = None, units: str = "pairs"
) -> GateResult:
    """Decide whether the share of which k of n are seen lies below a limit: PASS, FAIL or INCONCLUSIVE.

    PASS means that the one-sided exact upper bound is below the limit at level alpha, FAIL that the lower one is
    above. `totals` are the 0 and 1 by cluster where pairs are related. Raises ValueError for k outside 0..n, a limit
    outside (0, 1) and an alpha outside (0, 0.5). Source: Clopper 1934; error rates in docs/statistics.md.

    >>> gate_share(2, 40, 0.20).message
    '.05, 90% CI [.009, .149], limit .20: PASS'
    >>> gate_share(12, 40, 0.20).message
    '.30, 90% CI [.183, .440], limit .20: INCONCLUSIVE; about 127 pairs would settle it (80% power)'
    """
    check_open(limit, "limit")
    check_alpha(alpha)
    estimate = proportion(k, n, 1 - 2 * alpha, "exact", totals)
    as_many, as_few = share_tails(k, n, limit, totals)
    status, p_pass, p_fail = conclude(as_few, as_many, alpha, totals)
    message = f"{describe(estimate, bare)}{counted(n, totals, units)}, limit {bare(limit)}: {status}"
    needed = None
    if status is Status.INCONCLUSIVE:
        needed = pairs_for_share(k, n, limit, alpha, totals=totals) if decides(totals) else None
        message += f"; {advice(needed, n, 'limit', totals, units=units)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def smallest_n_of_share(limit: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs at which a share of which none is seen PASSes a limit; with fewer nothing can.

    Raises ValueError as `gate_share` does. Source: the exact bound of none of n is 1 - alpha ** (1 / n).

    >>> [smallest_n_of_share(limit) for limit in (0.05, 0.10, 0.20)]
    [59, 29, 14]
    """
    check_open(limit, "limit")
    check_alpha(alpha)
    return math.floor(math.log(alpha) / math.log1p(-limit)) + 1


@lru_cache(maxsize=4096)
def most_that_pass(n: int, limit: float, alpha: float = 0.05) -> int:
    """Return how many of n may be seen at most for a PASS of `gate_share`, -1 where not even none may.

    >>> most_that_pass(40, 0.20), most_that_pass(13, 0.20)
    (3, -1)
    """
    from scipy.special import bdtr

    low, high = -1, n  # P(k or fewer | limit) grows with k: below alpha up to `low`, no more at `high`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(bdtr(middle, n, limit)) < alpha else (low, middle)
    return low


def share_chances(n: int, limit: float, share: float, alpha: float = 0.05) -> tuple[float, float]:
    """Return how likely `gate_share` says PASS, and FAIL, of n pairs where each is one with probability `share`.

    Exact. Raises ValueError as `gate_share`, and for a share outside 0..1.

    >>> [round(chance, 3) for chance in share_chances(100, 0.20, 0.10)]
    [0.876, 0.0]
    """
    check_counts(0, 0, n)
    check_open(limit, "limit")
    check_alpha(alpha)
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in 0..1, got {share!r}")
    from scipy.special import bdtr

    most = most_that_pass(n, limit, alpha)
    least = n - most_that_pass(n, 1 - limit, alpha)  # those that are not one are below 1 - limit
    passes = float(bdtr(most, n, share)) if most >= 0 else 0.0
    fails = float(bdtr(n - least, n, 1 - share)) if least <= n else 0.0
    return passes, fails


def pairs_for_share(
    k: int, n: int, limit: float, alpha: float = 0.05, power: float = 0.8, totals: Totals | None = None
) -> int | None:
    """Return with how many pairs `gate_share` decides with this power, the share being as seen; None beyond 20 n.

    Of related pairs it is times the design effect at the limit: more clusters like these are meant.

    >>> pairs_for_share(6, 40, 0.20), pairs_for_share(8, 40, 0.20)
    (381, None)
    """
    share, largest = k / n, LARGEST_ADVICE * n
    side = 0 if share < limit else 1
    found = smallest(lambda size: share_chances(size, limit, share, alpha)[side], power, largest)
    if found is None or totals is None or not totals.related:
        return found
    effect = ScoredUnits.of(totals, 0.0, 1.0).design_effect(limit, limit * (1 - limit))
    scaled = math.ceil(round(found * effect, 6))
    return scaled if scaled <= largest else None
