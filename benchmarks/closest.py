"""Does choosing the closest pairs bias a VSR? The choice of `closest = N`, and the wrong way, simulated.

    python benchmarks/closest.py [--runs 2000]

A judge chooses response 1 of a pair with a probability that is logistic in the pair's latent difference, the position
and the cue. The choice is the package's own: closest_first. The bias is the mean over the runs of "VSR as measured on
the chosen pairs, minus the true one of these very pairs". Exit code 1 where that of the right way is not within BOUND.
The second table is how many of the chosen pairs look movable by the answers that chose them, and by two others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgefixtures.run.closest_pairs import closest_first

Drawn = np.ndarray[Any, Any]

RUNS = 2000
BOUND = 0.01
POOL, CHOSEN = 400, 100
SPREAD = 3.0  # standard deviation of the pairs' latent differences: seven of ten verdicts are all but certain


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge as it really is, all on the latent scale: what a cue adds, and what standing first adds."""

    cue: float
    position: float = 0.0

    def prefers(self, difference: Drawn, cue: int = 0, first: int = 1) -> Drawn:
        """Return P(chooses the pair's own response 1), with the cue for it (1), for the other (-1) or none."""
        found: Drawn = 1 / (1 + np.exp(-(difference + cue * self.cue + first * self.position)))
        return found


@dataclass(frozen=True, slots=True)
class Bias:
    """What choosing one way comes to: the mean true VSR of the chosen pairs, the mean bias, its standard error."""

    true: float
    bias: float
    error: float


def simulate(judge: Judge, runs: int, seed: int = 0) -> tuple[Bias, Bias]:
    """Return the bias of the right way (by cue-free answers) and of the wrong way (by the contrast's own arms)."""
    rng = np.random.default_rng(seed)
    right, wrong = zip(*(_run(judge, rng) for _ in range(runs)), strict=True)
    return _bias(right), _bias(wrong)


def _run(judge: Judge, rng: np.random.Generator) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return measured and true VSR on the pairs that each way chooses, in one run."""
    difference = rng.normal(0, SPREAD, POOL)

    def draw(chance: Drawn) -> Drawn:
        return np.where(rng.random(POOL) < chance, 1, 2)

    cue_free = draw(judge.prefers(difference)), draw(judge.prefers(difference, first=-1))
    chances = judge.prefers(difference, 1), judge.prefers(difference, -1)
    x, y = map(draw, chances)
    moved, really = (x == 1).astype(float) - (y == 1), chances[0] - chances[1]

    def on(own: Drawn, other: Drawn) -> tuple[float, float]:
        chosen = closest_first(zip(own.tolist(), other.tolist(), strict=True))[:CHOSEN]
        return float(moved[chosen].mean()), float(really[chosen].mean())

    return on(*cue_free), on(x, y)


def looks_movable(judge: Judge, runs: int, seed: int = 0) -> tuple[float, float, float]:
    """Return the mean share of chosen pairs on which two answers differ: those that chose them, two others, in truth.

    The others are two of the pair's own order, as those of a placebo are; in truth is the chance that such two differ.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        difference = rng.normal(0, SPREAD, POOL)
        own, swapped = judge.prefers(difference), judge.prefers(difference, first=-1)
        a, b, x, y = (np.where(rng.random(POOL) < chance, 1, 2) for chance in (own, swapped, own, own))
        chosen = closest_first(zip(a.tolist(), b.tolist(), strict=True))[:CHOSEN]
        found.append([share[chosen].mean() for share in (a != b, x != y, 2 * own * (1 - own))])
    again, others, truly = np.array(found).mean(axis=0)
    return float(again), float(others), float(truly)


def _bias(found: Sequence[tuple[float, float]]) -> Bias:
    measured, true = np.array(found).T
    off = measured - true
    return Bias(float(true.mean()), float(off.mean()), float(off.std(ddof=1) / len(off) ** 0.5))


JUDGES = tuple(Judge(cue, position) for cue in (0.0, 0.4, 0.8) for position in (0.0, 1.0))


def table(runs: int) -> Iterator[tuple[Judge, Bias, Bias]]:
    """Yield every judge with its two biases."""
    yield from ((judge, *simulate(judge, runs, seed)) for seed, judge in enumerate(JUDGES))


def _cells(judge: Judge, right: Bias, wrong: Bias) -> str:
    numbers = [
        f"{right.true:.3f}",
        f"{right.bias:+.4f} ({right.error:.4f})",
        f"{wrong.true:.3f}",
        f"{wrong.bias:+.4f} ({wrong.error:.4f})",
    ]
    return f"| {judge.cue:g} | {judge.position:g} | {' | '.join(numbers)} |"


def main() -> int:
    """Print the table; return 1 where a bias of the right way is too large."""
    parser = argparse.ArgumentParser(description="Bias of a VSR on the closest pairs.")
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    print(f"{CHOSEN} of {POOL} pairs, {runs} runs; standard errors in brackets\n")  # noqa: T201
    print("| cue | position | true VSR | bias | true VSR, wrong way | bias, wrong way |\n|---|---|---|---|---|---|")  # noqa: T201
    worst = 0.0
    for judge, right, wrong in table(runs):
        print(_cells(judge, right, wrong))  # noqa: T201
        worst = max(worst, abs(right.bias))
    print("\n| position | by the answers that chose | by two others | in truth |\n|---|---|---|---|")  # noqa: T201
    for judge in JUDGES[:2]:
        print(f"| {judge.position:g} | " + " | ".join(f"{each:.2f}" for each in looks_movable(judge, runs)) + " |")  # noqa: T201
    print(f"\nlargest bias of the right way: {worst:.4f}, bound {BOUND}")  # noqa: T201
    return int(worst >= BOUND)


if __name__ == "__main__":
    sys.exit(main())
