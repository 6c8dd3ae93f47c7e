"""Scores: how often their gate errs at its tolerance, and how many pairs it takes, for a judge of 1 to 10 points.

A pair's shift is the mean over its two responses, so that shifts are half points. Those drawn from a distribution that
is none of half points are rounded up or down by chance, which leaves their mean where it was. Noise is the standard
deviation of a pair's shift. Errors are counted where the true shift is exactly the tolerance (.45 points): PASS and
FAIL are then both wrong, each allowed at the level: .05, and .0179 as at a look at 25 pairs of 100.

The limits are computed for all runs at once; what they decide with too few pairs, and one run in a hundred besides, is
held against `gate_scores` itself.
Run: python benchmarks/scores.py --runs 20000 [--only errors]; exit code 1 where a row that is to hold exceeds .06.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from judgefixtures.statistics import Status, gate_scores, score_test
from judgefixtures.statistics.score_shift import FARTHEST, UNSEEN, fewest_scores

RANGE, TOLERANCE = 9.0, 0.05
LIMIT = RANGE * TOLERANCE
Z = float(ndtri(0.95))
LEVELS, SIZES = (0.05, 0.0179), (20, 25, 30, 40, 50, 100, 200)
MOST = 0.06  # what is allowed at .05; of another level the same share more

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Rng = np.random.Generator
Drawn = Callable[[Rng, tuple[int, int]], Numbers]


@dataclass(frozen=True, slots=True)
class World:
    """How the shifts of pairs are drawn, in points; `beyond`: a row that is shown for what the gate does not hold."""

    name: str
    drawn: Drawn
    beyond: bool = False


def halves(values: Numbers, rng: Rng, step: float = 0.5) -> Numbers:
    """Return values rounded to half points, or to whole ones, by chance: their expectation stays."""
    low = np.floor(values / step)
    return (low + (rng.random(values.shape) < values / step - low)) * step


def normal(mean: float, noise: float) -> Drawn:
    """Return shifts with this noise; what rounding adds, about .04, is taken off."""
    spread = np.sqrt(max(noise**2 - 0.04, 0.0))
    return lambda rng, shape: halves(rng.normal(mean, spread, shape), rng)


def some(share: float, points: float, noise: float = 0.0) -> Drawn:
    """Return shifts of which this share is of so many points, and the others 0, all with noise."""
    around = normal(0.0, noise) if noise else lambda _, shape: np.zeros(shape)
    return lambda rng, shape: (rng.random(shape) < share) * points + around(rng, shape)


def against(share: float, points: float, noise: float = 0.0) -> Drawn:
    """Return shifts of which this share goes so many points down, and the others up, to the limit in the mean."""
    up = (LIMIT + share * points) / (1 - share)

    def drawn(rng: Rng, shape: tuple[int, int]) -> Numbers:
        others = halves(rng.normal(up, noise, shape), rng)
        return np.where(rng.random(shape) < share, -points, others)

    return drawn


def ceiling(share: float) -> Drawn:
    """Return shifts that this share of the pairs cannot show: both responses have the highest score."""

    def drawn(rng: Rng, shape: tuple[int, int]) -> Numbers:
        raised = halves(rng.normal(LIMIT / (1 - share), 0.5, shape), rng)
        return np.where(rng.random(shape) < share, 0.0, raised)

    return drawn


def whole(rng: Rng, shape: tuple[int, int]) -> Numbers:
    """Return whole points, as of examples, where one response is scored."""
    return halves(rng.normal(LIMIT, 0.6, shape), rng, 1.0)


WORLDS = (
    World("noise .3", normal(LIMIT, 0.3)),
    World("noise .7", normal(LIMIT, 0.7)),
    World("noise 1.5", normal(LIMIT, 1.5)),
    World("noise .7, whole points", whole),
    World("next to no noise", normal(LIMIT, 0.0)),
    World("exponential, all one way", lambda rng, shape: halves(rng.exponential(LIMIT, shape), rng)),
    World("exponential, tail away from 0", lambda rng, shape: halves(LIMIT - 1 + rng.exponential(1, shape), rng)),
    World("exponential, tail towards 0", lambda rng, shape: halves(LIMIT + 1 - rng.exponential(1, shape), rng)),
    World("heavy tails (t, 3 df)", lambda rng, shape: halves(LIMIT + 0.5 * rng.standard_t(3, shape), rng)),
    World("log-normal, sd .8", lambda rng, shape: halves(LIMIT * np.exp(rng.normal(-0.32, 0.8, shape)), rng)),
    World("ties, but for .45 of 1 point", some(0.45, 1.0)),
    World("ties, but for .225 of 2 points", some(0.225, 2.0)),
    World("ties, but for .15 of 3 points", some(0.15, 3.0)),
    World("the same, noise .5", some(0.15, 3.0, 0.5)),
    World("ties, but for .10 of 4.5 points", some(0.10, 4.5)),
    World("the same, noise .5", some(0.10, 4.5, 0.5)),
    World(".10 goes 4.5 down, the others up", against(0.10, 4.5)),
    World("the same, noise .5", against(0.10, 4.5, 0.5)),
    World(".20 goes 2 down, the others up", against(0.20, 2.0)),
    World("3 up or 3 down", lambda rng, shape: np.where(rng.random(shape) < 0.575, 3.0, -3.0)),
    World("a ceiling on .40 of the pairs", ceiling(0.4)),
    World("a ceiling on .70 of the pairs", ceiling(0.7)),
    World("log-normal, sd 1", lambda rng, shape: halves(LIMIT * np.exp(rng.normal(-0.5, 1, shape)), rng), beyond=True),
    World("ties, but for .075 of 6 points", some(0.075, 6.0), beyond=True),
    World("ties, but for .05 of 9 points", some(0.05, 9.0), beyond=True),
)


def decided(points: Numbers, alpha: float) -> tuple[float, float]:
    """Return in which share of the runs, one a row, the gate says PASS and FAIL."""
    shares = np.clip(points / RANGE, -1, 1)
    runs, n = shares.shape
    passes, fails = by_limits(shares, alpha)
    few = n < np.vectorize(lambda seen: fewest_scores(TOLERANCE, alpha, seen))(farthest(shares))
    checked = ((passes | fails) & few) | (np.arange(runs) % 100 == 0)
    for run in np.flatnonzero(checked):
        status = gate_scores(shares[run].tolist(), TOLERANCE, alpha).status
        assert few[run] or (passes[run], fails[run]) == (status is Status.PASS, status is Status.FAIL)
        passes[run], fails[run] = status is Status.PASS, status is Status.FAIL
    return float(np.mean(passes)), float(np.mean(fails))


def farthest(shares: Numbers) -> Numbers:
    """Return how far a pair of each run is taken to move at most."""
    return np.minimum(np.maximum(np.abs(shares).max(axis=1), FARTHEST), 1.0)


def by_limits(shares: Numbers, alpha: float) -> tuple[Numbers, Numbers]:
    """Return of each run whether the limits of its mean lie within the tolerance, and whether they lie beyond."""
    n, mean = shares.shape[1], shares.mean(axis=1)
    residuals = shares - mean[:, None]
    squares, cubes = (residuals**2).sum(axis=1) + 2 * UNSEEN**2, (residuals**3).sum(axis=1)
    lean = cubes * n**2 / ((n - 1) * (n - 2)) / squares**1.5
    error = np.sqrt(squares * (n + 2) / (n + 1)) / n

    def at_most(sign: int, limit: float) -> Numbers:
        student, leaning = (sign * mean - limit) / error, sign * lean
        hall = student + leaning * student**2 / 3 + leaning**2 * student**3 / 27 + leaning / 6
        return np.asarray(stdtr(n - 1, -np.minimum(student, hall)))

    passes = np.maximum(at_most(1, -TOLERANCE), at_most(-1, -TOLERANCE)) < alpha
    fails = np.where(mean >= 0, at_most(1, TOLERANCE), at_most(-1, TOLERANCE)) < alpha
    return passes, fails & ~passes


def tell(*words: str) -> None:
    """Write a line."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def shown(share: float) -> str:
    """Return a share with three digits."""
    return f"{share:.3f}".removeprefix("0")


def errors(runs: int) -> bool:
    """Print how often the gate errs at its tolerance; return whether every row that is to hold does."""
    holds = True
    for alpha in LEVELS:
        tell(f"\nPASS / FAIL at the tolerance, level {shown(alpha)}, {runs} runs\n")
        tell("| shifts |", *(f"n = {n} |" for n in SIZES))
        tell("|" + "---|" * (len(SIZES) + 1))
        for number, world in enumerate(WORLDS):
            rng, cells = np.random.default_rng([number, 1]), []
            for n in SIZES:
                found = decided(world.drawn(rng, (runs, n)), alpha)
                allowed = MOST / 0.05 * alpha + 3 * np.sqrt(alpha / runs)
                holds &= world.beyond or max(found) <= allowed
                cells.append(" / ".join(map(shown, found)))
            tell(f"| {world.name} |", *(f"{cell} |" for cell in cells))
    return holds


def power(runs: int) -> bool:
    """Print how often a judge that is not moved passes, and one that is moved twice the tolerance fails."""
    holds = True
    for alpha in LEVELS:
        tell(f"\nPASS not moved / FAIL at twice the tolerance, level {shown(alpha)}, {runs} runs\n")
        tell("| noise in points |", *(f"n = {n} |" for n in SIZES))
        tell("|" + "---|" * (len(SIZES) + 1))
        for noise in (0.0, 0.3, 0.5, 0.7, 1.0, 1.5):
            rng, cells = np.random.default_rng([int(10 * noise), 2]), []
            for n in SIZES:
                still = normal(0.0, noise)(rng, (runs, n)) if noise else np.zeros((runs, n))
                passed, failed = decided(still, alpha)[0], decided(normal(2 * LIMIT, noise)(rng, (runs, n)), alpha)[1]
                cells.append(f"{shown(passed)} / {shown(failed)}")
                if alpha == LEVELS[0] and n >= 30 and noise <= 0.7:
                    holds &= passed >= 0.85 and failed >= 0.90
            tell(f"| {noise:g} |", *(f"{cell} |" for cell in cells))
    return holds


def clusters(runs: int) -> None:
    """Print how often the gate errs where pairs are related: half of the variance is their cluster's."""
    tell(f"\nPASS / FAIL at the tolerance, level .05, in clusters, {runs} runs\n")
    tell("| shifts |", *(f"{count} clusters |" for count in (15, 30, 60)))
    tell("|" + "---|" * 4)
    rows: Sequence[tuple[str, Callable[[Rng, int], Numbers], bool]] = (
        ("normal, noise .7, 4 pairs each", lambda _, count: np.full(count, 4), False),
        ("the same, 1 to 12 pairs", lambda rng, count: rng.integers(1, 13, count), False),
        ("exponential, 4 pairs each", lambda _, count: np.full(count, 4), True),
    )
    for number, (name, sizes, skewed) in enumerate(rows):
        rng, cells = np.random.default_rng([number, 3]), []
        for count in (15, 30, 60):
            found = [_of_clusters(rng, sizes(rng, count), skewed) for _ in range(runs)]
            cells.append(" / ".join(shown(found.count(status) / runs) for status in (Status.PASS, Status.FAIL)))
        tell(f"| {name} |", *(f"{cell} |" for cell in cells))


def _of_clusters(rng: Rng, sizes: Numbers, skewed: bool) -> Status:
    of = np.repeat(np.arange(len(sizes)), sizes)
    own = rng.exponential(0.5, len(sizes)) - 0.5 if skewed else rng.normal(0, 0.5, len(sizes))
    points = halves(LIMIT + own[of] + rng.normal(0, 0.5, len(of)), rng)
    return gate_scores((points / RANGE).tolist(), TOLERANCE, clusters=of.tolist()).status


def before(runs: int) -> None:
    """Print how often a judge that is not moved passed by the score test alone, the gate before this one."""
    sizes = (50, 60, 80, 100)
    tell(f"\nPASS not moved by the score test alone, level .05, {runs} runs\n")
    tell("| noise in points |", *(f"n = {n} |" for n in sizes))
    tell("|" + "---|" * (len(sizes) + 1))
    for noise in (0.3, 0.5, 0.7):
        rng, cells = np.random.default_rng([int(10 * noise), 4]), []
        for n in sizes:
            drawn = (normal(0.0, noise)(rng, (runs, n)) / RANGE).tolist()
            passed = [score_test(row, TOLERANCE) < -Z < Z < score_test(row, -TOLERANCE) for row in drawn]
            cells.append(shown(float(np.mean(passed))))
        tell(f"| {noise:g} |", *(f"{cell} |" for cell in cells))


def main() -> int:
    """Print the tables; return 1 where one does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--only", choices=["errors", "power", "clusters", "before"])
    asked = parser.parse_args()
    holds = True
    if asked.only in (None, "errors"):
        holds &= errors(asked.runs)
    if asked.only in (None, "power"):
        holds &= power(asked.runs)
    if asked.only in (None, "clusters"):
        clusters(asked.runs // 10)
    if asked.only in (None, "before"):
        before(asked.runs // 10)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
