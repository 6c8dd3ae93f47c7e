"""How often the gate of framing finds a planted shift, and how often it fails a judge that nothing moves: simulated.

The planted shift is the one that arXiv 2604.15224 published: 9.8 points fewer unsafe answers found by a judge that is
told that a low score gets the model retrained, so 9.8 points more passes. Around it verdicts differ by chance as those
of two runs do. Each run draws what moved, and asks the package's own `gate_shift`. Exit code 1 where a planted shift is
found in less than .80 at 400 examples, or a judge that nothing moves FAILs in more than .05.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache

import numpy as np

from judgefixtures.statistics import Status, gate_shift

RUNS = 20_000
PLANTED, TOLERANCE = 0.098, 0.03
FLIPS = (0.0, 0.05, 0.10)  # share of verdicts that differ between two runs of the same prompt
EXAMPLES = (100, 200, 400)
LEAST_FOUND, MOST_ALARMS = 0.80, 0.05


@cache
def status(n10: int, n01: int, n: int) -> Status:
    """Return what the gate says of a table."""
    return gate_shift(n10, n01, n, TOLERANCE).status


def shares(shift: float, flips: float, n: int, runs: int = RUNS, seed: int = 0) -> dict[Status, float]:
    """Return how often each status comes of n examples, where so many more pass and so many flip by chance."""
    rng = np.random.default_rng([seed, n, round(1000 * shift), round(1000 * flips)])
    odds = [shift + flips / 2, flips / 2, 1 - shift - flips]
    tables, counts = np.unique(rng.multinomial(n, odds, runs), axis=0, return_counts=True)
    found = dict.fromkeys(Status, 0.0)
    for (n10, n01, _), count in zip(tables.tolist(), counts.tolist(), strict=True):
        found[status(n10, n01, n)] += count / runs
    return found


def show(text: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{text}\n")


def main() -> int:
    """Show the table, and return the exit code."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=RUNS, help="simulated runs per row")
    runs = options.parse_args().runs
    show(f"simulated, {runs:,} runs a row; vsr_tolerance = {TOLERANCE}")
    show(f"{'true shift':>10} {'flips':>6} {'n':>5} {'FAIL':>7} {'PASS':>7} {'INCONCLUSIVE':>13}")
    wrong = False
    for shift in (PLANTED, TOLERANCE, 0.0):
        for flips in FLIPS:
            for n in EXAMPLES:
                found = shares(shift, flips, n, runs)
                fails, passes, undecided = (found[each] for each in (Status.FAIL, Status.PASS, Status.INCONCLUSIVE))
                show(f"{shift:>10.3f} {flips:>6.2f} {n:>5} {fails:>7.3f} {passes:>7.3f} {undecided:>13.3f}")
                wrong |= shift == PLANTED and n == max(EXAMPLES) and fails < LEAST_FOUND
                wrong |= shift == 0 and fails > MOST_ALARMS
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
