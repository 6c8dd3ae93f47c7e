"""How likely one grader may take over from another that is as good: before any money is spent on asking them.

On the same labelled examples accuracy, TPR and TNR have to be no worse by their margins (`gate_non_inferiority`), and
the pass rate the same within its own (`gate_shift`). Nothing is simulated: both rates' differences are taken as normal,
which simulations bear out to .08 with 100 labels and to .05 from 200 on (docs/swap.md): whole examples make steps.
numpy and scipy are imported by the functions that need them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from judgefixtures.numbers.agreement import FEWEST_OF_A_CLASS, lacking
from judgefixtures.numbers.elementary import check_alpha, check_open, check_whole, smallest, z_quantile
from judgefixtures.numbers.estimate import several
from judgefixtures.numbers.power import ENOUGH
from judgefixtures.numbers.proportions import difference_variance
from judgefixtures.numbers.tolerance import LARGEST_ADVICE

_LARGEST = 2000  # labels that may be advised to anybody
DISCORDANCES = (0.05, 0.12)  # on so many examples one alone is right, of two runs of a judge and of two equal judges
_STEP = 10  # labels
_POINTS = 401  # of the sum over the difference of TPR


@dataclass(frozen=True, slots=True)
class TakeoverMargins:
    """By how much a candidate may be worse than its baseline in accuracy, TPR and TNR, and differ in its pass rate.

    Raises ValueError for a margin outside (0, 1).
    """

    accuracy: float = 0.05
    rate: float = 0.10
    pass_rate: float = 0.10

    def __post_init__(self) -> None:
        for name in ("accuracy", "rate", "pass_rate"):
            check_open(getattr(self, name), f"{name}_margin")


def takeover_chance(
    positives: int, negatives: int, discordance: float, margins: TakeoverMargins | None = None, alpha: float = 0.05
) -> float:
    """Return how likely equal graders pass accuracy, TPR, TNR and pass rate, with so many labels of each class.

    `discordance` is the share of examples on which one of the two alone is right, each as often as the other.
    0 with fewer than FEWEST_OF_A_CLASS labels of either class, as nothing is approved then.
    Raises ValueError for counts that are none, a discordance outside (0, 1) and an alpha outside (0, 0.5).

    >>> [round(takeover_chance(n, n, 0.12), 2) for n in (50, 100, 200)]
    [0.23, 0.56, 0.87]
    """
    check_alpha(alpha)
    check_open(discordance, "discordance")
    sizes = (check_whole(positives, "positives"), check_whole(negatives, "negatives"))
    if min(sizes) < 0:
        raise ValueError(f"positives and negatives must be counts, got {sizes}")
    if min(sizes) < FEWEST_OF_A_CLASS:
        return 0.0
    import numpy as np
    from scipy.special import ndtr

    margins = margins or TakeoverMargins()
    n, z = sum(sizes), z_quantile(1 - alpha)

    def room(margin: float, size: int) -> float:
        """By how much the difference seen may be on the wrong side: the margin less what chance may do at it."""
        return margin - z * math.sqrt(difference_variance(margin, discordance / 2, discordance / 2) / size)

    weight, other = (size / n for size in sizes)
    spread, also = (math.sqrt(discordance / size) for size in sizes)
    ours, theirs = (room(margins.rate, size) for size in sizes)
    right, passed = room(margins.accuracy, n), room(margins.pass_rate, n)
    if passed <= 0 or ours <= -8 * spread:
        return 0.0
    tpr = np.linspace(max(-ours, -8 * spread), 8 * spread, _POINTS)
    # Of TNR what the other three leave: accuracy is the weighted sum of both, the pass rate their difference.
    low = np.maximum(-theirs, np.maximum(-right - weight * tpr, weight * tpr - passed) / other)
    high = (weight * tpr + passed) / other
    share = np.maximum(ndtr(high / also) - ndtr(low / also), 0.0)
    density = np.exp(-0.5 * (tpr / spread) ** 2) / (spread * math.sqrt(2 * math.pi))
    return min(float(np.trapezoid(share * density, tpr)), 1.0)


def takeover_labels(
    prevalence: float,
    discordance: float,
    margins: TakeoverMargins | None = None,
    alpha: float = 0.05,
    *,
    largest: int = _LARGEST,
) -> int | None:
    """Return with how many labels equal graders pass in 80%, to the next ten; None beyond `largest`.

    `prevalence` is the share of labels that are pass.

    >>> [takeover_labels(0.5, discordance) for discordance in DISCORDANCES]
    [180, 340]
    """
    check_open(prevalence, "prevalence")

    def chance(tens: int) -> float:
        positives = round(_STEP * tens * prevalence)
        return takeover_chance(positives, _STEP * tens - positives, discordance, margins, alpha)

    found = smallest(chance, ENOUGH, largest // _STEP)
    return None if found is None else _STEP * found


def takeover_prospect(
    positives: int, negatives: int, margins: TakeoverMargins | None = None, alpha: float = 0.05
) -> str:
    """Return what a swap of graders on so many labels can show, for a preflight.

    >>> takeover_prospect(50, 50).partition("; ")[2]
    'about 180 and 340 would do'
    """
    n = positives + negatives
    if lacks := lacking(positives, negatives):
        return f"with {several(n, 'label')} no grader is approved: {lacks}"
    chances = [takeover_chance(positives, negatives, each, margins, alpha) for each in DISCORDANCES]
    first, second = (f"in {chance:.0%}" for chance in chances)
    few, many = (f"{each:.0%}" for each in DISCORDANCES)
    said = (
        f"with {several(n, 'label')} two equal graders are approved {first} where one alone is right on {few} of them, "
        f"{second} on {many}"
    )
    if min(chances) >= ENOUGH:
        return said
    largest = max(LARGEST_ADVICE * n, _LARGEST)
    needed = [takeover_labels(positives / n, each, margins, alpha, largest=largest) for each in DISCORDANCES]
    numbers = [str(each) for each in needed if each is not None]
    would = f"about {' and '.join(numbers)}" if len(numbers) == 2 else "hardly any number"
    return f"{said}; {would} would do"
