"""Comparison of a judge with single annotators."""

import math
from collections import Counter
from collections.abc import Sequence

from .clusters import Clusters, can_decide, cluster_totals, score_test
from .elementary import check_alpha, z_quantile
from .estimate import GateResult, Status, format_signed, interval_text, pluralize
from .gates import inconclusive_advice
from .proportions import mean_interval

UNSEEN = 0.5  # two pseudo-observations of this size keep the interval of equal scores from having no width
POWER = 0.8
FEWEST_DIFFERENCES = 20
ASSUMED_ACCURACY = 0.85  # how often a person labels an example rightly, where a preflight has to assume it
LOWER_KAPPA = 0.15  # by so much the kappa of the worse judge of a preflight is lower than that of people
# What is said, by whether the lower bound is above -margin and whether the upper one is below 0.
WORDS = {
    (True, False): "agrees with people as well as they agree with each other",
    (False, True): "agrees less with people than they do with each other",
    (True, True): "agrees slightly less with people than they do with each other, but within the margin",
    (False, False): "may agree with people as well as they agree with each other, or less",
}


def difference_from_people(selected: str | None, labels: Sequence[str]) -> float:
    """Return the judge's mean agreement with people less their agreement with each other.

    `selected` is None for an invalid answer; `labels` has at least two.

    >>> difference_from_people("pass", ["pass", "pass", "fail"])
    0.3333333333333333
    """
    n, counts = len(labels), Counter[str | None](labels)
    if n < 2:
        raise ValueError(f"labels must be those of at least two people, got {n}")
    return (counts[selected] * (n - 1) - sum(count * (count - 1) for count in counts.values())) / (n * (n - 1))


def gate_as_people(
    differences: Sequence[float], margin: float = 0.05, alpha: float = 0.05, clusters: Clusters = None
) -> GateResult:
    """Decide whether a judge agrees with people as well as they agree.

    PASS: the lower bound of the mean `difference_from_people` is above -margin. FAIL: the upper bound is below 0.
    Compare arXiv 2501.10970.

    Raises:
        ValueError: Differences, margin or alpha out of range.

    >>> gate_as_people([0.5, -0.5, 0.0, 0.0] * 100).message.partition(" (")[2]
    'difference 0.00, 90% CI -0.03 to 0.03, margin 0.05, 400 examples)'
    """
    check_alpha(alpha, margin=margin)
    related, n, z = cluster_totals(differences, clusters), len(differences), z_quantile(1 - alpha)
    estimate = mean_interval(differences, 1 - 2 * alpha, UNSEEN, 1.0, related)
    is_enough = sum(map(bool, differences)) >= FEWEST_DIFFERENCES or score_test(differences, -margin, 1.0, clusters) > z
    within = can_decide(related) and estimate.low > -margin and is_enough
    less = can_decide(related) and estimate.high < 0
    status = Status.PASS if within else Status.FAIL if less else Status.INCONCLUSIVE
    of = f"{n} examples" + (f" in {pluralize(related.count, 'cluster')}" if related else "")
    difference = f"{format_signed(estimate.value)}, {interval_text(estimate)}"
    message = f"{WORDS[within, less]} (difference {difference}, margin {margin:.2f}, {of})"
    needed = None
    if status is Status.INCONCLUSIVE:
        distance = max(estimate.value + margin, -estimate.value)
        settled = ((1 + z_quantile(POWER) / z) * (estimate.high - estimate.low) / 2 / distance) ** 2 * n
        needed = math.ceil(settled) if can_decide(related) else None
        message += f"; {inconclusive_advice(needed, n, 'people_margin', related, units='examples')}"
    return GateResult(status, math.nan, math.nan, needed, message, estimate)


def people_chances(
    people: int, examples: int, judge: float, margin: float = 0.05, alpha: float = 0.05, runs: int = 4000
) -> tuple[float, float]:
    """Return how often `gate_as_people` says PASS and how often FAIL (simulated).

    People are right with probability ASSUMED_ACCURACY, the judge with `judge`.

    >>> [round(chance, 1) for chance in people_chances(3, 400, 0.85)]
    [0.9, 0.0]
    """
    import numpy as np
    from scipy.special import bdtr, stdtrit

    right = np.diff(bdtr(np.arange(people + 1), people, ASSUMED_ACCURACY), prepend=0.0)
    labels = [["pass"] * k + ["fail"] * (people - k) for k in range(people + 1)]
    values = np.array([difference_from_people(grade, each) for grade in ("pass", "fail") for each in labels])
    chances = np.concatenate([judge * right, (1 - judge) * right])
    drawn = np.random.default_rng(people).multinomial(examples, chances / chances.sum(), size=runs)
    sums, size = drawn @ values, examples + 2  # with two pseudo-observations, as `mean_interval` has them
    variance = (drawn @ values**2 + 2 * UNSEEN**2 - sums**2 / size) / (size - 1)
    width = stdtrit(size - 1, 1 - alpha) * np.sqrt(variance / size)
    within = sums / size - width > -margin
    few, z = within & (drawn @ (values != 0) < FEWEST_DIFFERENCES), z_quantile(1 - alpha)
    different, of_value = np.unique(values, return_inverse=True)
    counts, of_run = np.unique(drawn[few] @ np.eye(len(different), dtype=int)[of_value], axis=0, return_inverse=True)
    seen = [dict(zip(different.tolist(), each, strict=True)) for each in counts.tolist()]
    within[few] = np.array([score_test(each, -margin) > z for each in seen], dtype=bool)[of_run.reshape(-1)]
    return float(within.mean()), float((~within & (sums / size + width < 0)).mean())


def people_prospect(
    people: int, examples: int, margin: float = 0.05, alpha: float = 0.05, units: str = "examples"
) -> str:
    """Return what this many people and examples can show, for a preflight.

    >>> people_prospect(3, 40).partition(" of runs")[0]
    'with 3 people and 40 examples, a judge that agrees as people do passes as_people in 16%'
    """
    lower = ASSUMED_ACCURACY - LOWER_KAPPA / 2 / (2 * ASSUMED_ACCURACY - 1)
    well, less = people_chances(people, examples, ASSUMED_ACCURACY, margin, alpha)
    _, worse = people_chances(people, examples, lower, margin, alpha)
    return (
        f"with {people} people and {examples} {units}, a judge that agrees as people do passes as_people in {well:.0%} "
        f"of runs and fails in {less:.0%}; a judge whose kappa is lower by {LOWER_KAPPA:.2f} fails in {worse:.0%} "
        f"(assumed: people are right in {ASSUMED_ACCURACY:.0%})"
    )
