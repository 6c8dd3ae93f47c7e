"""Families whose contrasts share an arm: how often the interval of a family's mean holds the true one, simulated.

Three contrasts of `framing` compare one arm each with the same neutral arm. Its verdicts are in all three
differences, so that these are correlated. Compared are the interval of the per-example means (each example's mean of
the arms less its neutral arm, `score_interval`), which a swap uses, and the interval that takes the three estimates as
independent. Second table: how often a swap's family passes at its margin where the candidate moves with the neutral arm
alone, by the range of the test: 1 / sqrt(contrasts), as of independent contrasts, and 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import numpy as np

from judgefixtures.statistics.clusters import score_interval, score_test
from judgefixtures.statistics.elementary import z_quantile

RUNS, ARMS, MARGIN, Z = 2000, 3, 0.10, z_quantile(0.95)


def coverage(n: int, noise: float, runs: int, seed: int = 0) -> tuple[float, float]:
    """Return how often 90% intervals hold the true mean, by per-example means and by independent contrasts."""
    rng = np.random.default_rng([seed, n, round(1000 * noise)])
    held = np.zeros(2)
    for _ in range(runs):
        likely = np.where(rng.random(n) < 0.5, 1 - noise, noise)
        arms, neutral = (rng.random((ARMS, n)) < likely).astype(float), (rng.random(n) < likely).astype(float)
        differences = arms - neutral
        found = score_interval(Counter(differences.mean(axis=0).tolist()))
        held[0] += found.low <= 0 <= found.high
        error = np.sqrt((differences.var(axis=1, ddof=1) / n).sum()) / ARMS
        held[1] += abs(differences.mean()) <= Z * error
    return tuple(held / runs)  # type: ignore[return-value]


def passes(n: int, half_range: float, runs: int) -> float:
    """Return how often a family passes of which the neutral arm alone is worse by the margin."""
    rng, passed = np.random.default_rng([n, 1]), 0
    for moved in rng.binomial(n, MARGIN, runs).tolist():
        largest = max(half_range, 1.0 if moved else 0.0)
        passed += -score_test({1.0: moved, 0.0: n - moved}, MARGIN, largest) > Z
    return passed / runs


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    lines = ["| examples | noise | per example | as if independent |", "|---|---|---|---|"]
    for n in (50, 100, 200):
        for noise in (0.05, 0.2, 0.5):
            own, independent = coverage(n, noise, runs)
            lines.append(f"| {n} | {noise:g} | {own:.3f} | {independent:.3f} |")
    lines += ["", "| examples | PASS at the margin, range 1/sqrt(3) | range 1 |", "|---|---|---|"]
    for n in (20, 22, 24, 30, 50, 100):
        lines.append(f"| {n} | {passes(n, ARMS**-0.5, runs):.3f} | {passes(n, 1.0, runs):.3f} |")
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
