"""Scores of one example's changes between wordings of a template.

`own` and `again` are outcomes in [0, 1] of the own template, `runs` those of a wording.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import copysign
from typing import Any

from .clusters import scored_units
from .elementary import z_quantile

SIMULATIONS = 400
CLOSE_SHARES = (0.1, 0.2, 0.3)  # of the examples: those that a judge passes in half of all runs
FAR = 0.97  # how likely a judge is to give its usual answer about any other example


def flip(own: Any, again: Any, runs: Sequence[Any]) -> Any:
    """Return how often a wording changes the outcome.

    >>> flip(1, 0, [0]), flip(1, 0, [0, 0])
    (1.0, 0.5)
    """
    return sum(abs(run - before) for run, before in zip(runs, (own, again), strict=False)) / len(runs)


def excess(own: Any, again: Any, runs: Sequence[Any]) -> Any:
    """Return the changes with a wording less those between own runs."""
    return flip(own, again, runs) - abs(again - own)


def shift(own: Any, again: Any, runs: Sequence[Any]) -> Any:
    """Return the outcome's mean with a wording less that without."""
    return sum(runs) / len(runs) - (own + again) / 2


def change(own: Any, again: Any, runs: Sequence[Any]) -> Any:
    """Return an unbiased squared change of the pass probability, from two runs.

    >>> change(0, 0, [1, 1]), change(1, 0, [1, 0]), change(1, 1, [1, 1])
    (1.0, -0.5, 0.0)
    """
    first, second = runs
    return ((first - own) * (second - again) + (first - again) * (second - own)) / 2


@lru_cache(maxsize=64)
def chance_of_harmless(
    n: int, close: float, wordings: int, runs: int, tolerance: float, max_change: float, alpha: float = 0.05
) -> float:
    """Return how often harmless wordings pass with n examples (simulated).

    `close` is the share of examples that the judge passes in half of all runs.
    """
    import numpy as np

    rng, z = np.random.default_rng([n, round(1000 * close), wordings, runs]), z_quantile(1 - alpha)

    def within(scores: Any, *limits: float) -> bool:
        units = scored_units(Counter(scores.tolist()), 1.0, None)
        return all(copysign(1, limit) * units.z(limit) < -z for limit in limits)

    passed = 0
    for _ in range(SIMULATIONS):
        likely = np.where(rng.random(n) < 0.5, FAR, 1 - FAR)
        likely[: round(close * n)] = 0.5
        own, again, *others = (rng.random((2 + wordings * runs, n)) < likely).astype(float)
        each = [others[at::wordings] for at in range(wordings)]
        passed += (
            within(sum(excess(own, again, of) for of in each) / wordings, tolerance)
            and all(within(shift(own, again, of), tolerance, -tolerance) for of in each)
            and (runs == 1 or all(within(change(own, again, of), max_change) for of in each))
        )
    return passed / SIMULATIONS
