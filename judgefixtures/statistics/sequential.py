"""Outcome of a gate that is read at several looks, computed exactly."""

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
    """The probability of PASS and of FAIL at each look."""

    looks: tuple[int, ...]
    passed: tuple[float, ...]
    failed: tuple[float, ...]

    @property
    def passes(self) -> float:
        """The probability of a PASS at any look."""
        return math.fsum(self.passed)

    @property
    def fails(self) -> float:
        """The probability of a FAIL at any look."""
        return math.fsum(self.failed)

    @property
    def ended(self) -> tuple[float, ...]:
        """The probability of an end by each look."""
        ends = [math.fsum(self.passed[: look + 1] + self.failed[: look + 1]) for look in range(len(self.looks) - 1)]
        return (*(min(end, 1.0) for end in ends), 1.0)

    @property
    def pairs(self) -> float:
        """The expected number of pairs."""
        return expected_looks(self.looks, self.ended)


def expected_looks(looks: Sequence[float], ended: Sequence[float]) -> float:
    """Return the expected last look from probabilities by look.

    >>> expected_looks([25, 50, 100], [0.5, 0.75, 1.0])
    50.0
    """
    before = (0.0, *ended[:-1])
    return math.fsum(look * (now - then) for look, now, then in zip(looks, ended, before, strict=True))


def sequential_outcome(
    steps: Steps, tolerance: float, flips: float, shift: float = 0.0, *, until_pass: bool = False
) -> SequentialOutcome:
    """Return how `gate_shift` ends when it is read at these looks.

    `steps` are (pairs, level); `flips` and `shift` as in `pass_probability`. With `until_pass`, a FAIL does not end it.

    Raises:
        ValueError: Looks, levels, tolerance or shares out of range.

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
    import numpy as np

    n10, n01 = np.indices((size, size))
    there = n10 + n01 <= pairs
    total, larger = np.minimum(n10 + n01, pairs), np.maximum(n10, n01)
    passing = larger <= np.array(most_one_sided_flips(pairs, tolerance, level))[total]
    return there & passing, there & (larger >= np.array(_fewest_to_fail(pairs, tolerance, level))[total])


@lru_cache(maxsize=256)
def _fewest_to_fail(n: int, tolerance: float, alpha: float) -> tuple[int, ...]:
    fewest_by_total, fewest = [], 0
    for total in range(n + 1):
        while fewest <= total and upper_tail(tango_z(tolerance, fewest, total - fewest, n)) >= alpha:
            fewest += 1
        fewest_by_total.append(fewest)
    return tuple(fewest_by_total)


@lru_cache(maxsize=256)
def most_one_sided_flips(n: int, tolerance: float, alpha: float) -> tuple[int, ...]:
    """Return the most flips one way that pass, for every total."""
    reach, most = [], -1
    for total in range(n + 1):
        most += 1
        while 2 * most >= total and lower_tail(tango_z(tolerance, most, total - most, n)) >= alpha:
            most -= 1
        reach.append(most)
    return tuple(reach)
