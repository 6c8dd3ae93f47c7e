"""Does the control let through who reads, and nobody who counts? Simulated judges on the pairs that it is asked about.

An honest judge is right in both orders about a share of the pairs, drawn anew in every run; of its errors half are the
wrong response in both orders, or all or none of them. A counting judge goes by one of the counts of
`judgefixtures.models.text_features`, the way that tells the better response more often, and a share is flipped; where
both responses have as many it takes what stands first or, with "a coin", keeps to the toss of one in both orders. A
mixed judge counts on half of the pairs and is right about the others. Every run goes through
`judgefixtures.checks.control`. Run: python benchmarks/control.py
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence

from judgefixtures.checks.control import evaluate_control, pairs_with_gold
from judgefixtures.config import ControlTable, build_config
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.text_features import COUNTS, feature_leanings, least_predictable_pairs
from judgefixtures.models.verdicts import Verdict
from judgefixtures.sources.sample import load_sample
from judgefixtures.statistics import Status

SETS = ("house-control", "house-control-stories")
RATES = (0.75, 0.8, 0.85, 0.9, 0.95, 0.99)  # right in both orders
STUBBORN = (0.0, 0.5, 1.0)  # of the errors: the wrong response in both orders
NOISES = (0.0, 0.05, 0.1, 0.2)
STATUSES = (Status.PASS, Status.INCONCLUSIVE, Status.FAIL)
Choices = tuple[int, int]  # of the pair's own responses, in its own order and in the other one
Judge = Callable[[Pair, random.Random], Choices]
Shares = dict[Status, float]


def asked(name: str) -> tuple[Pair, ...]:
    """Return the pairs that the control asks about."""
    pairs = load_sample(build_config({}).source(name), 0).pairs
    return least_predictable_pairs(pairs_with_gold(pairs), ControlTable().pairs)


def shares(name: str, judge: Judge, runs: int, label: object) -> Shares:
    """Return how often the control says what about a judge."""
    pairs = asked(name)
    found: Counter[Status] = Counter()
    for run in range(runs):
        draw = random.Random(f"{name} {label} {run}")
        choices = [judge(pair, draw) for pair in pairs]
        own = [_answered(pair, NO_CUE, chosen) for pair, (chosen, _) in zip(pairs, choices, strict=True)]
        other = [_answered(pair, NO_CUE_SWAPPED, 3 - chosen) for pair, (_, chosen) in zip(pairs, choices, strict=True)]
        found[evaluate_control("simulated", name, own, other, ControlTable().threshold).status] += 1
    return {status: found[status] / runs for status in STATUSES}


def _answered(pair: Pair, condition: str, place: int) -> Judgment:
    return Judgment(pair, condition, JudgeReply(Verdict(place, "")))


def honest(rate: float, stubborn: float) -> Judge:
    """Return a judge that reads and errs."""

    def judge(pair: Pair, draw: random.Random) -> Choices:
        gold = pair.gold or 1
        if draw.random() < rate:
            return gold, gold
        if draw.random() < stubborn:
            return 3 - gold, 3 - gold
        return (1, 2) if draw.random() < 0.5 else (2, 1)

    return judge


def counting(count: str, larger: bool, noise: float = 0.0, *, coin: bool = False) -> Judge:
    """Return a judge that counts, and flips some of its answers."""

    def judge(pair: Pair, draw: random.Random) -> Choices:
        side = feature_leanings(pair)[count] * (1 if larger else -1)
        if side == 0 and coin:
            side = draw.choice((1, -1))
        places = (1, 2) if side == 0 else (1, 1) if side > 0 else (2, 2)
        own, other = (3 - place if draw.random() < noise else place for place in places)
        return own, other

    return judge


def mixed(count: str, larger: bool) -> Judge:
    """Return a judge that counts on half of the pairs and is right about the others."""
    by_count = counting(count, larger)

    def judge(pair: Pair, draw: random.Random) -> Choices:
        return by_count(pair, draw) if draw.random() < 0.5 else (pair.gold or 1, pair.gold or 1)

    return judge


def better_way(count: str, pairs: Sequence[Pair]) -> bool:
    """Tell whether the better response has more of a count, more often than less."""
    return sum(feature_leanings(pair)[count] * (1 if pair.gold == 1 else -1) for pair in pairs) >= 0


def shown(found: Shares) -> str:
    """Return the three shares as a cell."""
    return " / ".join(f"{found[status]:.2f}" for status in STATUSES)


def row(*cells: object) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)  # noqa: T201


def main() -> int:
    """Print the tables of benchmarks/results.md; return 1 where a judge that only counts passes more than 5 in 100."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    worst = 0.0
    for name in SETS:
        row(f"{name}: errors in both orders", *(f"right on {rate:g}" for rate in RATES))
        for stubborn in STUBBORN:
            found = [shares(name, honest(rate, stubborn), runs, ("honest", rate, stubborn)) for rate in RATES]
            row(f"{stubborn:g}", *map(shown, found))
    pairs = {name: asked(name) for name in SETS}
    for name in SETS:
        row(f"{name}: counts", "tells", *(f"noise {noise:g}" for noise in NOISES), "a coin", "mixed")
        for count in COUNTS:
            larger = better_way(count, pairs[name])
            sides = [feature_leanings(pair)[count] * (1 if pair.gold == 1 else -1) for pair in pairs[name]]
            tells = sum(1 if (side if larger else -side) > 0 else 0.5 if side == 0 else 0 for side in sides)
            found = [shares(name, counting(count, larger, noise), runs, (count, noise)) for noise in NOISES]
            worst = max(worst, *(each[Status.PASS] for each in found))
            tossing = shares(name, counting(count, larger, coin=True), runs, (count, "coin"))
            half = shares(name, mixed(count, larger), runs, (count, "mixed"))
            row(count, f"{tells:g}", *map(shown, (*found, tossing, half)))
    return int(worst > 0.05)


if __name__ == "__main__":
    raise SystemExit(main())
