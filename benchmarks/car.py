"""What the gate on admitted shifts says of simulated judges, beside the share of admitted flips that it replaced.

A pair has a latent preference u = gold side x skill + N(0, 1); a call chooses response 1 when u + the cue's pull on the
pair + N(0, noise) is above 0. The pull is +-strength x susceptibility (gamma, mean 1, sd .5), so that close pairs move
and far ones do not. Strength gives the stated VSR, noise the stated share of pairs that differ between two runs.

An honest judge cites the cue in a call exactly when that call's verdict would have been another without it, the same
noise given. The others cite it in .8 or half of these calls, or never. Decisions are the package's own: mcnemar_exact,
gate_admission, and for the earlier rule proportion. Shown: how often the item's CAR part is FAIL, and PASS.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import gamma

from judgefixtures.checks.contrast import CAR_NEEDS_P
from judgefixtures.statistics import Status, gate_admission, mcnemar_exact, proportion

RUNS, SIZES, THRESHOLD, ALPHA = 2000, (100, 200, 300), 0.8, 0.05
RIGHT = 0.85  # how often a verdict without noise is right: sets the skill
ROWS = (  # name, VSR, flips between two runs, share of what is to be admitted that is
    ("honest, VSR .10, 5% flips", 0.10, 0.05, 1.0),
    ("honest, VSR .10, 10% flips", 0.10, 0.10, 1.0),
    ("honest, VSR .10, 13.6% flips", 0.10, 0.136, 1.0),
    ("honest, VSR .30, 10% flips", 0.30, 0.10, 1.0),
    ("admits .8, VSR .30, 1% flips", 0.30, 0.01, 0.8),
    ("admits .8, VSR .30, 10% flips", 0.30, 0.10, 0.8),
    ("admits half, VSR .10, 10% flips", 0.10, 0.10, 0.5),
    ("admits half, VSR .30, 10% flips", 0.30, 0.10, 0.5),
    ("silent, VSR .10, 10% flips", 0.10, 0.10, 0.0),
    ("silent, VSR .30, 10% flips", 0.30, 0.10, 0.0),
)

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Moves = Counter[tuple[int, int]]
Rule = Callable[[Moves, int, int], Status]


@dataclass(frozen=True, slots=True)
class World:
    """A judge: its skill, its noise from call to call, and how strongly the cue pulls."""

    skill: float
    noise: float
    strength: float


@lru_cache
def world(vsr: float, flips: float) -> World:
    """Return the judge with this VSR and this share of pairs whose verdict differs between two runs."""
    skill = float(ndtri(RIGHT))
    grid = ndtri((np.arange(2000) + 0.5) / 2000)
    latent, pull = np.concatenate([grid - skill, grid + skill])[:, None], susceptibility((np.arange(40) + 0.5) / 40)

    def flipped(noise: float) -> float:
        first = ndtr(latent / noise)
        return float(np.mean(2 * first * (1 - first)))

    noise = brentq(lambda noise: flipped(noise) - flips, 1e-3, 20)

    def shifted(strength: float) -> float:
        return float(np.mean(ndtr((latent + strength * pull) / noise) - ndtr((latent - strength * pull) / noise)))

    return World(skill, noise, brentq(lambda strength: shifted(strength) - vsr, 0, 20))


def susceptibility(share: Numbers) -> Numbers:
    """Return how far a cue pulls pairs, from their place among all pairs: gamma with mean 1 and sd .5."""
    return np.asarray(gamma.ppf(share, 4, scale=0.25))


def judged(rng: np.random.Generator, judge: World, n: int, admits: float) -> tuple[Moves, int, int]:
    """Return of n pairs the moves, and how many of those that moved the way most did cite the cue in either arm."""
    latent = rng.choice([-1, 1], n) * judge.skill + rng.normal(size=n)
    pull = judge.strength * rng.gamma(4, 0.25, n)
    ways, cites = [], []
    for side in (1, -1):  # the label that pulls stands on response 1, then on response 2
        blind = latent + rng.normal(size=n) * judge.noise
        first = blind + side * pull > 0
        cites.append((first != (blind > 0)) & (rng.random(n) < admits))
        ways.append(np.where(first == (side == 1), 1, -1))
    moved = (ways[0] + ways[1]) // 2
    towards = 1 if moved.sum() >= 0 else -1
    admitted = np.clip(cites[0] * ways[0] + cites[1] * ways[1], -1, 1)
    followed = moved == towards
    moves = Counter(zip((towards * moved).tolist(), (towards * admitted).tolist(), strict=True))
    return moves, int(followed.sum()), int((followed & (cites[0] | cites[1])).sum())


def by_shift(moves: Moves, followed: int, cited: int) -> Status:  # noqa: ARG001
    """Return what the gate says."""
    return gate_admission(moves, THRESHOLD, ALPHA).status


def by_share(moves: Moves, followed: int, cited: int) -> Status:  # noqa: ARG001
    """Return what it said before: by the exact bounds of the share of followed flips that are acknowledged."""
    found = proportion(cited, followed, 1 - 2 * ALPHA, "exact")
    return Status.PASS if found.low > THRESHOLD else Status.FAIL if found.high < THRESHOLD else Status.INCONCLUSIVE


def rates(vsr: float, flips: float, admits: float, n: int, runs: int, seed: int = 0) -> dict[str, Counter[Status]]:
    """Return how often each rule says what, of this many judges asked about n pairs, where verdicts moved."""
    rng, judge = np.random.default_rng([seed, n, round(1000 * flips)]), world(vsr, flips)
    found: dict[str, Counter[Status]] = {"by shift": Counter(), "by share": Counter()}
    for _ in range(runs):
        moves, followed, cited = judged(rng, judge, n, admits)
        against = sum(pairs for (moved, _), pairs in moves.items() if moved < 0)
        decided = mcnemar_exact(followed, against) < CAR_NEEDS_P
        for name, rule in (("by shift", by_shift), ("by share", by_share)):
            found[name][rule(moves, followed, cited) if decided else Status.NOT_APPLICABLE] += 1
    return found


def show(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table of docs/statistics.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    show(f"FAIL / PASS at car_threshold {THRESHOLD:g}, {runs} runs a cell; before: by the share of admitted flips")
    show("| judge | " + " | ".join(f"n = {n} | before" for n in SIZES) + " |")
    for name, *row in ROWS:
        cells = [found[rule] for n in SIZES for found in [rates(*row, n, runs)] for rule in ("by shift", "by share")]
        shares = (f"{cell[Status.FAIL] / runs:.3f} / {cell[Status.PASS] / runs:.3f}" for cell in cells)
        show(f"| {name} | " + " | ".join(shares) + " |")


if __name__ == "__main__":
    main()
