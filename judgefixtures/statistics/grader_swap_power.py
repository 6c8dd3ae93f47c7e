"""Power of a grader swap: how likely an equally good grader is approved.

On the same labelled examples, accuracy, TPR and TNR must be no worse by their margins (`gate_non_inferiority`), and the
pass rate must stay within its own (`gate_shift`). The differences of both rates are taken as normal. Simulations agree
to 0.08 with 100 labels and to 0.05 from 200 on (benchmarks/results.md). numpy and scipy are imported on first use.
"""

import math
from dataclasses import dataclass

from .agreement import FEWEST_OF_A_CLASS, too_few_labels_text
from .elementary import check_alpha, check_open, check_whole, smallest_size_with_power, z_quantile
from .estimate import pluralize
from .gates import LARGEST_ADVICE
from .power import ENOUGH
from .proportions import difference_variance

_LARGEST = 2000  # labels that may be advised to anybody
DISCORDANCES = (0.05, 0.12)  # on so many examples one alone is right, of two runs of a judge and of two equal judges
_STEP = 10  # labels
_POINTS = 401  # of the sum over the difference of TPR


@dataclass(frozen=True, slots=True)
class GraderSwapMargins:
    """Margins of accuracy, TPR, TNR and pass rate.

    Raises:
        ValueError: A margin outside (0, 1).
    """

    accuracy: float = 0.05
    rate: float = 0.10
    pass_rate: float = 0.10

    def __post_init__(self) -> None:
        for name in ("accuracy", "rate", "pass_rate"):
            check_open(getattr(self, name), f"{name}_margin")


def grader_swap_chance(
    positives: int, negatives: int, discordance: float, margins: GraderSwapMargins | None = None, alpha: float = 0.05
) -> float:
    """Return the probability that equally good graders pass a swap.

    `discordance` is the share of examples on which one grader alone is right. `positives` and `negatives` count labels.

    Raises:
        ValueError: Invalid counts, discordance or alpha.

    >>> [round(grader_swap_chance(n, n, 0.12), 2) for n in (50, 100, 200)]
    [0.23, 0.56, 0.87]
    """
    check_alpha(alpha, discordance=discordance)
    sizes = (check_whole(positives, "positives"), check_whole(negatives, "negatives"))
    if min(sizes) < 0:
        raise ValueError(f"positives and negatives must be counts, got {sizes}")
    if min(sizes) < FEWEST_OF_A_CLASS:
        return 0.0
    import numpy as np
    from scipy.special import ndtr

    margins = margins or GraderSwapMargins()
    n, z = sum(sizes), z_quantile(1 - alpha)

    def room(margin: float, size: int) -> float:
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


def grader_swap_labels(
    prevalence: float,
    discordance: float,
    margins: GraderSwapMargins | None = None,
    alpha: float = 0.05,
    *,
    largest: int = _LARGEST,
) -> int | None:
    """Return how many labels give 80% power, or None beyond `largest`.

    `prevalence` is the share of pass labels.

    >>> [grader_swap_labels(0.5, discordance) for discordance in DISCORDANCES]
    [180, 340]
    """
    check_open(prevalence, "prevalence")

    def chance(tens: int) -> float:
        positives = round(_STEP * tens * prevalence)
        return grader_swap_chance(positives, _STEP * tens - positives, discordance, margins, alpha)

    size = smallest_size_with_power(chance, ENOUGH, largest // _STEP)
    return None if size is None else _STEP * size


def grader_swap_prospect(
    positives: int, negatives: int, margins: GraderSwapMargins | None = None, alpha: float = 0.05
) -> str:
    """Return what a swap of graders can show, for a preflight.

    >>> grader_swap_prospect(50, 50).partition("; ")[2]
    'use about 180 and 340 labels'
    """
    n = positives + negatives
    if lacks := too_few_labels_text(positives, negatives):
        return f"with {pluralize(n, 'label')}, no judge is approved: {lacks}"
    chances = [grader_swap_chance(positives, negatives, each, margins, alpha) for each in DISCORDANCES]
    first, second = (f"in {chance:.0%}" for chance in chances)
    few, many = (f"{each:.0%}" for each in DISCORDANCES)
    text = (
        f"with {pluralize(n, 'label')}, equal judges are approved {first} of runs if only one is right on {few} "
        f"of the labels, {second} if on {many}"
    )
    if min(chances) >= ENOUGH:
        return text
    largest = max(LARGEST_ADVICE * n, _LARGEST)
    needed = [grader_swap_labels(positives / n, each, margins, alpha, largest=largest) for each in DISCORDANCES]
    numbers = [str(each) for each in needed if each is not None]
    advice = f"use about {' and '.join(numbers)} labels" if len(numbers) == 2 else "no realistic number is enough"
    return f"{text}; {advice}"
