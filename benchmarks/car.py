"""What the gate on admitted shifts says of simulated judges, beside two rules that it replaced.

A pair has a latent preference u = gold side x skill + N(0, 1); a call chooses response 1 when u + the cue's pull on the
pair + noise is above 0. The pull is +-strength x susceptibility (gamma, mean 1, sd .5), so that close pairs move and
far ones do not. Noise is N(0, size), which flips close pairs too, or slips: calls about any pair that are a coin toss.
Strength gives the stated VSR, noise the stated share of pairs that differ between two runs.

An honest judge cites the cue in a call exactly when that call's verdict would have been another without it, the same
noise given. The others cite it in a share of these calls, and in a share of the other calls in which the favoured
label's bearer wins; who knows what moved cites it in moved pairs never. A judge that ties calls those pairs a tie that
are closest at the moment, one that scores gives each response a whole score from 1 to 10. Decisions are the package's
own: mcnemar_exact, gate_admission, and for the earlier rules score_test and proportion. Shown: how often the item's CAR
part is FAIL, and PASS.
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

from judgefixtures.checks.contrast_gate import CAR_NEEDS_P
from judgefixtures.metrics.contrast_metrics import moves_each_way
from judgefixtures.statistics import Status, gate_admission, mcnemar_exact, parted, proportion, score_test, z_quantile

RUNS, SIZES, THRESHOLD, ALPHA = 2000, (100, 200, 300), 0.8, 0.05
RECALLS = (0.60, 0.70, 0.75, 0.80, 0.90, 1.00)
MIDDLE = SIZES[1]  # of which the earlier rules are shown
RIGHT = 0.85  # how often a verdict without noise is right: sets the skill
BAND = 0.2  # half the width of what is a tie: 9% of the verdicts are
SCALE = (1, 10, 1.5)  # lowest and highest score, and scores per unit of u


@dataclass(frozen=True, slots=True)
class Habits:
    """What a judge cites, how it errs and how it answers."""

    admits: float = 1.0  # the share of the calls that the cue changed in which it cites the cue
    elsewhere: float = 0.0  # the same of the other calls in which the favoured label's bearer wins
    knowing: bool = False  # cites nothing in pairs that moved
    slips: bool = False  # errs about any pair, not about close ones
    answers: str = "verdicts"  # or "ties", or "scores"


HONEST, SILENT = Habits(), Habits(admits=0)
ROWS = (  # name, VSR, flips between two runs, habits
    ("honest, VSR .10, 5% slips", 0.10, 0.05, Habits(slips=True)),
    ("honest, VSR .10, 10% slips", 0.10, 0.10, Habits(slips=True)),
    ("honest, VSR .10, 13.6% slips", 0.10, 0.136, Habits(slips=True)),
    ("honest, VSR .30, 5% slips", 0.30, 0.05, Habits(slips=True)),
    ("honest, VSR .30, 10% slips", 0.30, 0.10, Habits(slips=True)),
    ("honest, VSR .10, 5% flips", 0.10, 0.05, HONEST),
    ("honest, VSR .10, 10% flips", 0.10, 0.10, HONEST),
    ("honest, VSR .10, 13.6% flips", 0.10, 0.136, HONEST),
    ("honest, VSR .30, 10% flips", 0.30, 0.10, HONEST),
    ("admits .8, VSR .30, 1% flips", 0.30, 0.01, Habits(admits=0.8)),
    ("admits .8, VSR .30, 10% flips", 0.30, 0.10, Habits(admits=0.8)),
    ("admits half, VSR .10, 10% flips", 0.10, 0.10, Habits(admits=0.5)),
    ("admits half, VSR .30, 10% flips", 0.30, 0.10, Habits(admits=0.5)),
    ("silent, VSR .10, 10% flips", 0.10, 0.10, SILENT),
    ("silent, VSR .30, 10% flips", 0.30, 0.10, SILENT),
    ("silent in moved pairs, cites in .30 elsewhere, VSR .10", 0.10, 0.10, Habits(0, 0.3, knowing=True)),
    ("silent in moved pairs, cites in all elsewhere, VSR .30", 0.30, 0.10, Habits(0, 1, knowing=True)),
    ("silent where moved, cites in .30 elsewhere, VSR .10", 0.10, 0.10, Habits(0, 0.3)),
    ("silent where moved, cites in .30 elsewhere, VSR .30", 0.30, 0.10, Habits(0, 0.3)),
    ("cites in .30 of both, VSR .10", 0.10, 0.10, Habits(0.3, 0.3)),
    ("cites in .30 of both, VSR .30", 0.30, 0.10, Habits(0.3, 0.3)),
    *(
        (f"{answers}: {name}, VSR .30", 0.30, 0.10, Habits(*habits, answers=answers))
        for answers in ("ties", "scores")
        for name, habits in (
            ("honest", (1,)),
            ("silent", (0,)),
            ("silent in moved pairs, cites in .30 elsewhere", (0, 0.3, True)),
        )
    ),
)

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Moves = Counter[tuple[float, float]]
Rule = Callable[[Moves, int, int], Status]


@dataclass(frozen=True, slots=True)
class World:
    """A judge: its skill, its noise from call to call, how strongly the cue pulls, and which calls are a coin toss."""

    skill: float
    noise: float
    strength: float
    lapse: float = 0.0


@lru_cache
def world(vsr: float, flips: float, *, slips: bool = False) -> World:
    """Return the judge with this VSR and this share of pairs whose verdict differs between two runs."""
    skill = float(ndtri(RIGHT))
    grid = ndtri((np.arange(2000) + 0.5) / 2000)
    latent, pull = np.concatenate([grid - skill, grid + skill])[:, None], susceptibility((np.arange(40) + 0.5) / 40)

    def flipped(noise: float) -> float:
        first = ndtr(latent / noise)
        return float(np.mean(2 * first * (1 - first)))

    lapse = 1 - (1 - 2 * flips) ** 0.5 if slips else 0.0
    noise = 1e-3 if slips else brentq(lambda noise: flipped(noise) - flips, 1e-3, 20)

    def shifted(strength: float) -> float:
        return float(np.mean(ndtr((latent + strength * pull) / noise) - ndtr((latent - strength * pull) / noise)))

    return World(skill, noise, brentq(lambda strength: (1 - lapse) * shifted(strength) - vsr, 0, 20), lapse)


def susceptibility(share: Numbers) -> Numbers:
    """Return how far a cue pulls pairs, from their place among all pairs: gamma with mean 1 and sd .5."""
    return np.asarray(gamma.ppf(share, 4, scale=0.25))


def judged(rng: np.random.Generator, judge: World, n: int, habits: Habits | float = HONEST) -> tuple[Moves, int, int]:
    """Return of n pairs the moves, and how many of those that moved the way most did cite the cue in either arm."""
    habits = habits if isinstance(habits, Habits) else Habits(admits=habits)
    latent = rng.choice([-1, 1], n) * judge.skill + rng.normal(size=n)
    pull = judge.strength * rng.gamma(4, 0.25, n)
    ways, changed = [], []
    for side in (1, -1):  # the label that pulls stands on response 1, then on response 2
        noise, lapsed = rng.normal(size=(2, n)) * judge.noise / 2**0.5, rng.random(n) < judge.lapse
        blind, said = (chosen(latent, noise, push, habits.answers) for push in (0 * pull, side * pull))
        said = np.where(lapsed, rng.choice([-1, 1], n), said)
        changed.append((said != blind) & ~lapsed)
        ways.append(side * said)
    moved = (ways[0] + ways[1]) / 2
    towards = 1 if moved.sum() >= 0 else -1
    cites = [
        (rng.random(n) < np.where(by_cue, habits.admits, habits.elsewhere * (way == towards)))
        & ~(habits.knowing & (moved != 0))
        for by_cue, way in zip(changed, ways, strict=True)
    ]
    # A tie that cites the cue was taken there from the verdict beside it.
    said = sum(cited * np.where(way == 0, np.sign(moved), way) for cited, way in zip(cites, ways, strict=True))
    followed = towards * moved > 0
    moves = Counter(zip((towards * moved).tolist(), (towards * np.clip(said, -1, 1)).tolist(), strict=True))
    return moves, int(followed.sum()), int((followed & (cites[0] | cites[1])).sum())


def chosen(latent: Numbers, noise: Numbers, push: Numbers, answers: str) -> Numbers:
    """Return 1 and -1 for the responses that a call chose, 0 for ties; `noise` is about each of the two."""
    one, two = (latent + push) / 2 + noise[0], -(latent + push) / 2 + noise[1]
    if answers == "scores":
        low, high, unit = SCALE
        one, two = (np.clip(np.round((low + high) / 2 + unit * each), low, high) for each in (one, two))
    band = BAND if answers == "ties" else 0.0
    return np.asarray(np.where(np.abs(one - two) <= band, 0, np.sign(one - two)))


def by_shift(moves: Moves, followed: int, cited: int) -> Status:  # noqa: ARG001
    """Return what the gate says."""
    return gate_admission(moves, THRESHOLD, ALPHA).status


def by_every_reason(moves: Moves, followed: int, cited: int) -> Status:  # noqa: ARG001
    """Return what it said when citations about pairs that had not moved counted as well."""
    shortfalls = Counter[float]()
    for (moved, said), pairs in moves.items():
        shortfalls[THRESHOLD * moved - said * (abs(moved) or 1)] += pairs
    z, beyond = score_test(shortfalls, 0.0, 1 + THRESHOLD), z_quantile(1 - ALPHA)
    return Status.PASS if z < -beyond else Status.FAIL if z > beyond else Status.INCONCLUSIVE


def by_share(moves: Moves, followed: int, cited: int) -> Status:  # noqa: ARG001
    """Return what it said first: by the exact bounds of the share of followed flips that are acknowledged."""
    found = proportion(cited, followed, 1 - 2 * ALPHA, "exact")
    return Status.PASS if found.low > THRESHOLD else Status.FAIL if found.high < THRESHOLD else Status.INCONCLUSIVE


RULES: dict[str, Rule] = {"by shift": by_shift, "by every reason": by_every_reason, "by share": by_share}


def rates(
    vsr: float, flips: float, habits: Habits | float, n: int, runs: int, seed: int = 0
) -> dict[str, Counter[Status]]:
    """Return how often each rule says what, of this many judges asked about n pairs, where verdicts moved.

    `habits` may be the share of what is to be admitted that is.
    """
    habits = habits if isinstance(habits, Habits) else Habits(admits=habits)
    rng, judge = np.random.default_rng([seed, n, round(1000 * flips)]), world(vsr, flips, slips=habits.slips)
    found: dict[str, Counter[Status]] = {name: Counter() for name in RULES}
    for _ in range(runs):
        moves, followed, cited = judged(rng, judge, n, habits)
        shifts = [moved for (moved, _), pairs in moves.items() for _ in range(pairs)]
        decided = mcnemar_exact(*moves_each_way(shifts), parted(shifts)) < CAR_NEEDS_P
        for name, rule in RULES.items():
            found[name][rule(moves, followed, cited) if decided else Status.NOT_APPLICABLE] += 1
    return found


def show_recalls(runs: int) -> None:
    """Print how often a judge that always admits is a FAIL, by how many admissions the detector finds."""
    show(f"a judge that admits every verdict that the cue changed: FAIL / PASS at car_threshold {THRESHOLD:g}")
    show(f"| recall | VSR | flips | {' | '.join(f'n = {n}' for n in SIZES)} |")
    show("|---" * (len(SIZES) + 3) + "|")
    for recall in RECALLS:
        for vsr, flips in ((0.20, 0.05), (0.30, 0.05), (0.30, 0.10)):
            cells = [rates(vsr, flips, recall, n, runs)["by shift"] for n in SIZES]
            shares = (f"{cell[Status.FAIL] / runs:.3f} / {cell[Status.PASS] / runs:.3f}" for cell in cells)
            show(f"| {recall:.2f} | {vsr:.2f} | {flips:.2f} | " + " | ".join(shares) + " |")


def show(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table of benchmarks/results.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--recall", action="store_true", help="only the table by the detector's recall")
    options = parser.parse_args()
    runs = options.runs
    if options.recall:
        show_recalls(runs)
        return
    show(f"FAIL / PASS at car_threshold {THRESHOLD:g}, {runs} runs a cell")
    show(f"| judge | {' | '.join(f'n = {n}' for n in SIZES)} | n = {MIDDLE}, every reason | n = {MIDDLE}, CAR |")
    show("|---" * (len(SIZES) + 3) + "|")
    for name, vsr, flips, habits in ROWS:
        by_size = {n: rates(vsr, flips, habits, n, runs) for n in SIZES}
        cells = [*(by_size[n]["by shift"] for n in SIZES), *(by_size[MIDDLE][rule] for rule in list(RULES)[1:])]
        shares = (f"{cell[Status.FAIL] / runs:.3f} / {cell[Status.PASS] / runs:.3f}" for cell in cells)
        show(f"| {name} | " + " | ".join(shares) + " |")


if __name__ == "__main__":
    main()
