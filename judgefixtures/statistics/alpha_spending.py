"""Levels of a test at one or several looks (Lan and DeMets 1983)."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .elementary import upper_tail, z_quantile

NODES = 120  # of Gauss and Legendre, per look: the published boundaries to 1e-6 and better
FARTHEST = 9.0  # standard deviations; beyond them nothing is left to integrate
MAIN_SHARE = 0.8  # of alpha: what the first look that may approve takes
FINEST_LEVEL = 5e-5  # of a level: half of what a confidence of four digits tells
FEWEST_TO_APPROVE = 75  # pairs per dataset: equal judges hardly pass with fewer, and a level spent there is lost


@dataclass(frozen=True, slots=True)
class LookLevels:
    """The levels of one look: for PASS (or None) and for REJECT."""

    alpha: float
    pass_level: float | None
    looks: tuple[int, ...] = ()
    look: int = 0

    @property
    def z_pass(self) -> float:
        """The z that a PASS must exceed, or infinity."""
        return math.inf if self.pass_level is None else z_quantile(1 - self.pass_level)

    @property
    def interval_level(self) -> float:
        """The one-sided level of the intervals."""
        return self.alpha if self.pass_level is None else self.pass_level

    def reject(self, tests: int) -> float:
        """Return the level of each of `tests` tests that share alpha / 2."""
        each = self.alpha / 2 / tests
        if not self.looks:
            return each
        fractions = tuple(look / self.looks[-1] for look in self.looks)
        return upper_tail(stopping_boundaries(pocock_spending(each, fractions), fractions)[self.look])


def fixed_design_levels(alpha: float) -> LookLevels:
    """Return the levels of a design with one look."""
    return LookLevels(alpha, alpha)


def levels_at_looks(looks: Sequence[int], alpha: float) -> tuple[LookLevels, ...]:
    """Return the levels of each look; `looks` count pairs per dataset.

    >>> [round(levels.z_pass, 4) for levels in levels_at_looks([25, 50, 100, 200], 0.05)]
    [inf, inf, 1.7507, 2.0689]
    """
    looks = tuple(looks)
    if len(looks) == 1:
        return (fixed_design_levels(alpha),)
    fractions = tuple(look / looks[-1] for look in looks)
    bounds = stopping_boundaries(alpha_spent_on_passes(looks, alpha), fractions)
    levels = [None if math.isinf(bound) else upper_tail(bound) for bound in bounds]
    return tuple(LookLevels(alpha, level, looks, index) for index, level in enumerate(levels))


def gate_look_levels(looks: Sequence[int], alpha: float) -> tuple[float, ...]:
    """Return the one-sided level of each look of a gate.

    >>> [round(level, 4) for level in gate_look_levels([25, 50, 100], 0.05)]
    [0.0179, 0.0189, 0.0279]
    """
    fractions = tuple(look / looks[-1] for look in looks)
    return tuple(upper_tail(bound) for bound in stopping_boundaries(pocock_spending(alpha, fractions), fractions))


def planned_levels(looks: Sequence[int], pairs: int, alpha: float) -> tuple[tuple[int, float], ...]:
    """Return the looks of a gate at `pairs` pairs, with their levels.

    The last look is at all pairs. Pairs beyond the plan are tested once, with all of alpha.

    >>> planned_levels([25, 50, 100], 60, 0.05)
    ((25, 0.01785), (50, 0.0189), (60, 0.015))
    >>> planned_levels([25, 50, 100], 120, 0.05)
    ((120, 0.05),)
    """
    if pairs > looks[-1] or (len(looks) == 1 and pairs == looks[-1]):
        return ((pairs, alpha),)
    taken = [*(look for look in looks if look < pairs), pairs]
    levels = gate_look_levels(taken if pairs == looks[-1] else [*taken, looks[-1]], alpha)
    return tuple((look, _rounded(level)) for look, level in zip(taken, levels, strict=False))


def levels_left(
    decided: Mapping[int, float], looks: Sequence[int], pairs: int, alpha: float
) -> tuple[tuple[int, float], ...]:
    """Return looks and levels under a new plan, after looks already decided.

    `decided` maps earlier looks to their levels, which stay. `alpha` is the level of all plans together; its rest is
    spent nearly evenly.

    >>> levels_left({25: 0.00965, 50: 0.011}, [400], 400, 0.05), levels_left({50: 0.05}, [100], 100, 0.05)
    (((400, 0.0347),), ((100, 5e-05),))
    """
    past = max(decided)
    if pairs <= past:
        return ((pairs, decided.get(pairs, FINEST_LEVEL)),)
    new = sorted({look for look in looks if look > past} | {pairs})
    spent = pocock_spending(alpha, [(look - past) / (new[-1] - past) for look in new])
    fixed = tuple(z_quantile(1 - decided[look]) for look in sorted(decided))
    fractions = tuple(look / new[-1] for look in [*sorted(decided), *new])
    bounds = stopping_boundaries((*(0.0 for _ in fixed), *spent), fractions, fixed)[len(fixed) :]
    return tuple((look, _rounded(upper_tail(z))) for look, z in zip(new, bounds, strict=True) if look <= pairs)


def _rounded(level: float) -> float:
    return round(max(math.floor(level / FINEST_LEVEL + 1e-6), 1) * FINEST_LEVEL, 5)


def alpha_spent_on_passes(looks: Sequence[int], alpha: float) -> tuple[float, ...]:
    """Return how much of alpha PASSes have spent by each look.

    Looks below 75 pairs only reject; the first other look takes four fifths.

    >>> alpha_spent_on_passes([25, 50, 100, 200], 0.05)
    (0.0, 0.0, 0.04, 0.05)
    """
    main = next((index for index, look in enumerate(looks) if look >= FEWEST_TO_APPROVE), len(looks) - 1)
    later = len(looks) - 1 - main
    shares = [MAIN_SHARE + (1 - MAIN_SHARE) * step / later for step in range(later)]
    return (*[0.0] * main, *(round(alpha * share, 12) for share in shares), alpha)


def pocock_spending(alpha: float, fractions: Sequence[float]) -> tuple[float, ...]:
    """Return the error spent by each fraction, nearly evenly (Lan and DeMets 1983)."""
    return tuple(alpha * math.log(1 + (math.e - 1) * fraction) for fraction in fractions)


@lru_cache(maxsize=512)
def stopping_boundaries(
    spent: tuple[float, ...], fractions: tuple[float, ...], fixed: tuple[float, ...] = ()
) -> tuple[float, ...]:
    """Return the z boundary of each look that spends this error.

    `spent` is the cumulative error, `fractions` the cumulative information, `fixed` the boundaries already used.
    Source: Jennison and Turnbull 2000, chapter 19.

    Raises:
        ValueError: Other lengths, or values that do not increase.

    >>> [round(z, 4) for z in stopping_boundaries((0.04, 0.05), (0.5, 1.0))]
    [1.7507, 2.0689]
    """
    import numpy as np
    from scipy.special import ndtr

    _check(spent, fractions)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    bounds: list[float] = []
    # The process at the last look, sum of scores over sqrt(all information): where it may be, and with what chance.
    places, chances, before, used, start = np.zeros(1), np.ones(1), 0.0, 0.0, 0.0
    for index, (share, fraction) in enumerate(zip(spent, fractions, strict=True)):
        step = math.sqrt(fraction - before)

        def crossed(z: float, step: float = step, fraction: float = fraction) -> float:
            return float(chances @ ndtr((places - z * math.sqrt(fraction)) / step))  # noqa: B023 (called right here)

        if index < len(fixed):
            z = fixed[index]
            start = share = used + crossed(z)
        else:
            share = start + share * (1 - start / spent[-1])
            z = _falling_root(crossed, share - used) if share > used else math.inf
        bounds.append(z)
        low, high = -FARTHEST * math.sqrt(fraction), min(z, FARTHEST) * math.sqrt(fraction)
        following = low + (high - low) * (nodes + 1) / 2
        density = np.exp(-(((following[:, None] - places[None, :]) / step) ** 2) / 2) / step / math.sqrt(2 * math.pi)
        chances = (density @ chances) * weights * (high - low) / 2
        places, before, used = following, fraction, max(share, used)
    return tuple(bounds)


def _falling_root(function: Callable[[float], float], value: float) -> float:
    low, high = -FARTHEST, FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > value else (low, middle)
    return (low + high) / 2


def _check(spent: Sequence[float], fractions: Sequence[float]) -> None:
    if len(spent) != len(fractions) or not fractions:
        raise ValueError(f"there must be a share spent for each look, got {len(spent)} for {len(fractions)}")
    if fractions[0] <= 0 or any(b <= a for a, b in itertools.pairwise(fractions)):
        raise ValueError(f"fractions must be above 0 and increase, got {fractions}")
    if spent[0] < 0 or spent[-1] >= 1 or any(b < a for a, b in itertools.pairwise(spent)):
        raise ValueError(f"what is spent must lie between 0 and 1 and not decrease, got {spent}")
