"""Sequential gates: the outcome of a gate read at several numbers of pairs, each at its own level.

Computed exactly, over every table of flips at every look. A gate that spends alpha over its looks has the error rate of
a single look; a gate that is repeated with more pairs until it passes does not. numpy is imported on first use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from .elementary import check_alpha, lower_tail, upper_tail
from .proportions import tango_z

if TYPE_CHECKING:
    import numpy as np

Steps = tuple[tuple[int, float], ...]  # of each look its pairs and its one-sided level


@dataclass(frozen=True, slots=True)
class SequentialOutcome:
    """How a gate ends: the chance of a PASS and of a FAIL at each look; what is left stays open at the last one."""

    looks: tuple[int, ...]
    passed: tuple[float, ...]
    failed: tuple[float, ...]

    @property
    def passes(self) -> float:
        """The chance of a PASS at any look."""
        return math.fsum(self.passed)

    @property
    def fails(self) -> float:
        """The chance of a FAIL at any look."""
        return math.fsum(self.failed)

    @property
    def ended(self) -> tuple[float, ...]:
        """The chance that nothing is asked after each look: all that is left is at the last one."""
        ends = [math.fsum(self.passed[: look + 1] + self.failed[: look + 1]) for look in range(len(self.looks) - 1)]
        return (*(min(end, 1.0) for end in ends), 1.0)

    @property
    def pairs(self) -> float:
        """How many pairs are asked about, in the mean."""
        return expected_looks(self.looks, self.ended)


def expected_looks(looks: Sequence[float], ended: Sequence[float]) -> float:
    """Return the mean of looks by the chance that each, or one before it, was the last.

    >>> expected_looks([25, 50, 100], [0.5, 0.75, 1.0])
    50.0
    """
    before = (0.0, *ended[:-1])
    return math.fsum(look * (now - then) for look, now, then in zip(looks, ended, before, strict=True))


def sequential_outcome(
    steps: Steps, tolerance: float, flips: float, shift: float = 0.0, *, until_pass: bool = False
) -> SequentialOutcome:
    """Return how `gate_shift` ends that is read at these looks about a judge that is as described.

    `flips` and `shift` as of `pass_probability`, which this is for one look. `until_pass`: a FAIL ends nothing, as of
    somebody who adds pairs until the gate passes. Raises ValueError for no looks, looks that decrease, a tolerance
    outside (0, 1), a level outside (0, 0.5) and shares that no judge can have.

    >>> planned = sequential_outcome(((25, 0.0179), (50, 0.0199), (100, 0.0273)), 0.15, flips=0.05, shift=0.15)
    >>> round(planned.passes, 3) <= 0.05
    True
    >>> steps = [(look, 0.05) for look in (25, 50, 100, 200)]
    >>> round(sequential_outcome(steps, 0.15, 0.05, 0.15, until_pass=True).passes, 2)
    0.11
    """
    for _, level in steps:
        check_alpha(level, tolerance=tolerance)
    looks = tuple(look for look, _ in steps)
    if not looks or looks[0] < 1 or list(looks) != sorted(looks):
        raise ValueError(f"looks must be numbers of pairs that do not decrease, got {looks}")
    if not 0 <= flips <= 1 or not flips + abs(shift) <= 1 + 1e-12:
        raise ValueError(f"flips and flips + abs(shift) must lie in 0..1, got flips={flips!r}, shift={shift!r}")
    return _course(tuple(steps), tolerance, flips, abs(shift), until_pass)


@lru_cache(maxsize=1024)
def _course(steps: Steps, tolerance: float, flips: float, shift: float, until_pass: bool) -> SequentialOutcome:
    """Carry the chance of every table from look to look, leaving out those that ended."""
    import numpy as np

    size = steps[-1][0] + 1
    # Of tables that are still open, by flips towards the label and against it.
    chances, before = np.zeros((size, size)), 0
    chances[0, 0] = 1.0
    passed, failed = [], []
    for pairs, level in steps:
        if pairs > before:
            reached = chances[: pairs + 1, : pairs + 1]
            reached[...] = _added(reached, pairs - before, flips / 2 + shift, flips / 2)
        before = pairs
        passing, failing = _ends(pairs, tolerance, level, size)
        passed.append(float(chances[passing].sum()))
        failed.append(float(chances[failing].sum()))
        chances[passing] = 0.0
        if not until_pass:
            chances[failing] = 0.0
    return SequentialOutcome(tuple(pairs for pairs, _ in steps), tuple(passed), tuple(failed))


def _added(chances: np.ndarray, pairs: int, one_way: float, other_way: float) -> np.ndarray:
    """Return the chances of tables after so many pairs more: their sum with those of the new pairs alone."""
    import numpy as np
    from scipy.special import gammaln, xlogy

    size = len(chances)
    n10, n01 = np.arange(size)[:, None], np.arange(size)[None, :]
    rest = pairs - n10 - n01
    kept = np.maximum(rest, 0)
    ways = gammaln(pairs + 1) - gammaln(n10 + 1) - gammaln(n01 + 1) - gammaln(kept + 1)
    stays = max(1 - one_way - other_way, 0.0)
    logs = ways + xlogy(n10, one_way) + xlogy(n01, other_way) + xlogy(kept, stays)
    new = np.where(rest < 0, 0.0, np.exp(np.where(rest < 0, 0.0, logs)))
    # So large that nothing comes round at the other end, and fast to transform.
    shape = (1 << (2 * size - 1).bit_length(),) * 2
    both = np.fft.irfft2(np.fft.rfft2(chances, shape) * np.fft.rfft2(new, shape), shape)
    return np.maximum(both[:size, :size], 0.0)


def _ends(pairs: int, tolerance: float, level: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which tables of so many pairs, by flips either way, are a PASS and which a FAIL."""
    import numpy as np

    n10, n01 = np.indices((size, size))
    there = n10 + n01 <= pairs
    total, larger = np.minimum(n10 + n01, pairs), np.maximum(n10, n01)
    passing = larger <= np.array(most_one_sided_flips(pairs, tolerance, level))[total]
    return there & passing, there & (larger >= np.array(_fewest_to_fail(pairs, tolerance, level))[total])


@lru_cache(maxsize=256)
def _fewest_to_fail(n: int, tolerance: float, alpha: float) -> tuple[int, ...]:
    """Return, for every total number of flips, the fewest of them that go one way in a FAIL; one more than all if none.

    With one flip more there is either one more that way, or as many: its z grows with the one and falls with the other.
    """
    fewest_by_total, fewest = [], 0
    for total in range(n + 1):
        while fewest <= total and upper_tail(tango_z(tolerance, fewest, total - fewest, n)) >= alpha:
            fewest += 1
        fewest_by_total.append(fewest)
    return tuple(fewest_by_total)


@lru_cache(maxsize=256)
def most_one_sided_flips(n: int, tolerance: float, alpha: float) -> tuple[int, ...]:
    """Return, for every total number of flips, the most of them that may go one way in a PASS.

    Less than half of the total where no split passes. A flip more one way raises both ends of Tango's interval,
    so what passes at a total is an interval around its half, and its end moves by at most one per total.
    """
    reach, most = [], -1
    for total in range(n + 1):
        most += 1
        while 2 * most >= total and lower_tail(tango_z(tolerance, most, total - most, n)) >= alpha:
            most -= 1
        reach.append(most)
    return tuple(reach)
