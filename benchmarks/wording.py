"""What the gate on other words for a prompt says of judges of which it is known how far the words move them.

A judge answers with noise: each answer is flipped with a probability. A wording moves it in some pairs: always the same
ones for all of its wordings ("alike"), or others with each ("apart"). `excess` is how much more often an answer then
differs between two wordings than between two runs, and `noise` how often two runs differ. The rule is the package's own
(`excess_flips` per pair, then `gate_excess`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

from judgefixtures.numbers.estimate import Status
from judgefixtures.numbers.tolerance import gate_excess

TOLERANCE, WORDINGS, RUNS = 0.10, 3, 2000
FLIPS, SIZES, EXCESS = (0.0, 0.02, 0.05, 0.10, 0.20), (60, 100, 200), (0.0, 0.10, 0.20)
CLUSTER = 4  # pairs
Decisions = tuple[float, float]  # the shares of PASS and of FAIL


def noise_of(flips: float) -> float:
    """Return with which probability an answer is flipped where two runs differ in so many: 2 p (1 - p)."""
    return (1 - (1 - 2 * flips) ** 0.5) / 2


def drawn(
    rng: np.random.Generator, pairs: int, flips: float, excess: float, *, alike: bool, related: bool = False
) -> np.ndarray:
    """Return by pair how much more often a judge's answer flips with other words than from one run to the next.

    Between two wordings of which one moves a pair its answers differ unless noise undoes it, so that the excess is
    moved * (1 - flips * 2): two answers differ by noise in `flips` of the pairs.
    """
    noise, moved = noise_of(flips), excess / (1 - 2 * flips)
    units = pairs // CLUSTER if related else pairs
    chance = rng.random((units, 1 if alike else WORDINGS))
    turned = np.broadcast_to(np.repeat(chance < moved, CLUSTER if related else 1, axis=0), (pairs, WORDINGS))
    own, again = (rng.random(pairs) < noise for _ in range(2))
    reworded = (rng.random((pairs, WORDINGS)) < noise) ^ turned
    return np.asarray((reworded != own[:, None]).mean(axis=1) - (own != again), dtype=float)


def decisions(pairs: int, flips: float, excess: float, runs: int, *, alike: bool, related: bool = False) -> Decisions:
    """Return how often the gate says PASS, and how often FAIL."""
    rng = np.random.default_rng([pairs, round(1000 * flips), round(1000 * excess), alike, related])
    labels = [number // CLUSTER for number in range(pairs)] if related else None
    said = [
        gate_excess(drawn(rng, pairs, flips, excess, alike=alike, related=related).tolist(), TOLERANCE, 0.05, labels)
        for _ in range(runs)
    ]
    return tuple(sum(each.status is status for each in said) / runs for status in (Status.PASS, Status.FAIL))  # type: ignore[return-value]


def rows(runs: int) -> Iterator[str]:
    """Yield the lines of the table: a row per excess, noise and number of pairs."""
    yield "| excess | noise | moved pairs | " + " | ".join(f"{size} pairs" for size in SIZES) + " |"
    yield "|---|---|---|" + "---|" * len(SIZES)
    for excess in EXCESS:
        for flips in FLIPS:
            for alike in (True, False) if excess else (True,):
                found = [decisions(size, flips, excess, runs, alike=alike) for size in SIZES]
                cells = [f"{passed:.3f} / {failed:.3f}" for passed, failed in found]
                how = "-" if not excess else "alike" if alike else "apart"
                yield f"| {excess:.2f} | {flips:.2f} | {how} | {' | '.join(cells)} |"
    yield ""
    yield f"in clusters of {CLUSTER}, the words moving whole clusters alike:"
    for excess, flips in ((0.0, 0.10), (0.10, 0.0), (0.10, 0.10), (0.20, 0.05)):
        found = [decisions(size, flips, excess, runs, alike=True, related=True) for size in SIZES]
        cells = [f"{passed:.3f} / {failed:.3f}" for passed, failed in found]
        yield f"| {excess:.2f} | {flips:.2f} | clusters | {' | '.join(cells)} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated runs per cell")
    for line in rows(parser.parse_args().runs):
        sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
