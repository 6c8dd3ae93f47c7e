"""What related pairs do to a gate: how often it errs at its tolerance, with clusters heeded and ignored.

Every judge moves by exactly the tolerance: a PASS and a FAIL are both errors, each allowed in 5%. Clusters have 1 to 12
pairs; a pair takes over what is common to its cluster with probability sqrt(ICC), so that two of its pairs have that
intra-cluster correlation. `flips` is noise, half of it each way. Shown is the worst over tolerances and noise.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Callable, Sequence
from statistics import NormalDist

from judgefixtures.statistics import FEWEST_CLUSTERS, cluster_totals, proportion, score_test

CLUSTERS, CORRELATIONS = (5, 10, 15, 20, 30, 60), (0.0, 0.3, 0.9)
TOLERANCES, FLIPS, LARGEST, RUNS = (0.10, 0.15, 0.20), (0.0, 0.10, 0.30), 12, 1000
LEVEL, CRITICAL = 0.90, NormalDist().inv_cdf(0.95)  # of two sides: 5% on each

Moves = tuple[list[int], list[int]]  # per pair its move and its cluster


def size_of(rng: random.Random, cluster: int, shape: str) -> int:
    """Return how many pairs a cluster has: 1 to 12, always 4, or 40 in the first and 1 to 3 in the others."""
    if shape == "giant":
        return rng.randint(1, 3) if cluster else 40
    return rng.randint(1, LARGEST) if shape == "uneven" else 4


def drawn(rng: random.Random, clusters: int, icc: float, shift: float, flips: float, shape: str = "uneven") -> Moves:
    """Return moves of pairs with this true shift, and the number of the cluster of each."""

    def one() -> int:
        chance = rng.random()
        return 1 if chance < flips / 2 + shift else -1 if chance < flips + shift else 0

    moves, labels = [], []
    for cluster in range(clusters):
        common = one()
        for _ in range(size_of(rng, cluster, shape)):
            moves.append(common if rng.random() < icc**0.5 else one())
            labels.append(cluster)
    return moves, labels


def verdicts(moves: Sequence[int], labels: Sequence[int] | None, tolerance: float) -> tuple[bool, bool]:
    """Return whether the gate's tests say PASS and whether they say FAIL, whatever number of clusters it asks for."""
    high, low = (score_test(moves, bound, clusters=labels) for bound in (tolerance, -tolerance))
    return low > CRITICAL > -CRITICAL > high, high > CRITICAL


def shift_rates(clusters: int, icc: float, heeded: bool, runs: int, shape: str = "uneven") -> tuple[float, float]:
    """Return the largest rates of PASS and FAIL at the tolerance."""
    worst = [0.0, 0.0]
    for tolerance, flips in itertools.product(TOLERANCES, FLIPS):
        rng = random.Random(f"{clusters} {icc} {tolerance} {flips} {shape}")
        runs_drawn = (drawn(rng, clusters, icc, tolerance, flips, shape) for _ in range(runs))
        found = [verdicts(moves, labels if heeded else None, tolerance) for moves, labels in runs_drawn]
        worst = [max(worst[side], sum(each[side] for each in found) / runs) for side in (0, 1)]
    return worst[0], worst[1]


def power(clusters: int, icc: float, runs: int) -> tuple[float, float]:
    """Return how often a judge without bias passes at .15 with 10% flips, with clusters heeded and ignored."""
    rng = random.Random(f"{clusters} {icc} power")
    found = [drawn(rng, clusters, icc, 0.0, 0.10) for _ in range(runs)]
    heeded, ignored = (
        sum(verdicts(moves, labels if heed else None, 0.15)[0] for moves, labels in found) / runs
        for heed in (True, False)
    )
    return heeded, ignored


def share_rates(clusters: int, icc: float, heeded: bool, runs: int) -> tuple[float, float]:
    """Return the largest rates at which the bounds of an exact share (.5, .8, .95) lie above it and below it."""
    worst = [0.0, 0.0]
    for share in (0.5, 0.8, 0.95):
        rng = random.Random(f"{clusters} {icc} {share}")
        above = below = 0
        for _ in range(runs):
            ones, labels = drawn(rng, clusters, icc, share, 0.0)
            by = cluster_totals(ones, labels if heeded else None)
            found = proportion(sum(ones), len(ones), LEVEL, "exact", by)
            above, below = above + (found.low > share), below + (found.high < share)
        worst = [max(worst[0], above / runs), max(worst[1], below / runs)]
    return worst[0], worst[1]


def line(name: str, *rates: tuple[float, float]) -> str:
    """Return a row of a table."""
    return f"| {name} | " + " | ".join(f"{low:.3f} / {high:.3f}" for low, high in rates) + " |"


def show(text: str) -> None:
    """Print a line at once: the whole takes minutes."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the tables of benchmarks/results.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="", help="the tables whose title holds this")
    asked = parser.parse_args()
    runs = asked.runs
    kinds: dict[str, Callable[[int, float], tuple[float, float]]] = {
        "VSR, clusters ignored": lambda *of: shift_rates(*of, False, runs),
        "VSR, clusters heeded": lambda *of: shift_rates(*of, True, runs),
        "VSR, clusters of 4, heeded": lambda *of: shift_rates(*of, True, runs, "fours"),
        "VSR, one cluster of 40 and others of 1 to 3, heeded": lambda *of: shift_rates(*of, True, runs, "giant"),
        "PASS of an unbiased judge, 10% flips, tolerance .15: heeded / ignored": lambda *of: power(*of, runs),
        "share, clusters ignored": lambda *of: share_rates(*of, False, runs),
        "share, clusters heeded": lambda *of: share_rates(*of, True, runs),
    }
    show(f"PASS / FAIL at the tolerance, {runs} runs; a gate decides nothing under {FEWEST_CLUSTERS} clusters")
    for name, rates in ((name, rates) for name, rates in kinds.items() if asked.only in name):
        show(f"\n{name}\n| clusters | " + " | ".join(f"ICC {icc:g}" for icc in CORRELATIONS) + " |")
        for clusters in CLUSTERS:
            show(line(str(clusters), *(rates(clusters, icc) for icc in CORRELATIONS)))


if __name__ == "__main__":
    main()
