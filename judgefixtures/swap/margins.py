"""Margins of single contrasts, and pairs for the approval of equal judges."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judgefixtures.config import SwapTable

FLIPS = 0.10  # as many pairs may flip by noise as single contrasts are planned for
POWER = 0.80
FEWEST_ADVISED = 75  # fewer pairs are never said to be enough: below 100 the number is optimistic by simulation
LARGEST_ADVICE = 20  # times the present pairs
STEP = 5  # pairs; the number is "about"


def guard_margin(
    pairs: int,
    cells: int,
    swap: SwapTable,
    *,
    margin: float | None = None,
    baseline_flips: float | None = None,
    alpha: float = 0.05,
) -> float:
    """Return the margin of one of `cells` contrasts on this many pairs.

    It is the smallest that equal judges with 10% flips pass in all cells in 95% of swaps, from `margin` (default
    `vsr_margin`) to twice that; 2.5 times for a baseline with more flips. `[swap] contrast_margin` replaces it.

    Raises:
        ValueError: Fewer than one pair or cell.

    >>> [guard_margin(n, 14, SwapTable()) for n in (50, 100, 150, 200, 300, 400)]
    [0.2, 0.2, 0.16, 0.14, 0.12, 0.1]
    """
    if pairs < 1 or cells < 1:
        raise ValueError(f"there must be at least one pair and one cell, got {pairs} and {cells}")
    if swap.contrast_margin != "plan":
        return swap.contrast_margin
    from scipy.special import ndtri

    least = swap.vsr_margin if margin is None else margin
    flips, most = FLIPS, 2.0
    if baseline_flips is not None and baseline_flips > FLIPS:
        flips, most = baseline_flips, 2.5
    z = float(ndtri(1 - alpha) + ndtri((1 - alpha) ** (1 / cells)))
    hundredths = math.ceil(round(100 * z * math.sqrt(2 * flips / pairs), 9))
    largest = min(round(most * least, 9), max(least, 0.99))  # a margin of 1 would rule out nothing
    return min(max(hundredths / 100, least), largest)


@dataclass(frozen=True, slots=True)
class SampleDemand:
    """A component's margin by size, and a pair's deviation.

    `per_pair` counts its pairs per pair of a dataset; `sides` is 2 if two-sided.
    """

    margin: Callable[[int], float]
    deviation: float
    per_pair: float
    sides: int = 1


def pairs_for_equals(demands: Sequence[SampleDemand], present: int, z_pass: float) -> int | None:
    """Return the pairs per dataset that give equal judges 80% power.

    At least 75; None beyond 20 times the present number.
    """
    hardest_first = sorted(demands, key=lambda demand: demand.margin(present) / demand.deviation * demand.per_pair**0.5)
    for size in range(FEWEST_ADVISED, max(LARGEST_ADVICE * present, FEWEST_ADVISED) + 1, STEP):
        chance = 1.0
        for demand in hardest_first:
            reach = demand.margin(size) * math.sqrt(demand.per_pair * size) / demand.deviation
            chance *= max(1 - demand.sides * 0.5 * math.erfc((reach - z_pass) / math.sqrt(2)), 0.0)
            if chance < POWER:
                break
        if chance >= POWER:
            return size
    return None


def pairs_at(difference: float, margin: float, deviation: float, per_pair: float, z_pass: float) -> int | None:
    """Return the pairs per dataset for 80% power at this difference, or None."""
    from scipy.special import ndtri

    if difference >= margin:
        return None
    return math.ceil(((z_pass + float(ndtri(POWER))) * deviation / (margin - difference)) ** 2 / per_pair)
