"""Explanations: what else than a change that lasts would bring these answers, where chance alone does not?

Two are looked at, each as a model of the answers that says how likely they are. Both are given the same laws as a change:
the unusual answer of a prompt has a chance that was drawn from Beta(a, a), and another one where the prompt is moved.

**Kinds of days.** Each day is of one of two kinds, drawn apart from the other days, with a chance of which nothing is
known. The kinds differ on a share s of the prompts: a provider that serves two backends, a day on which all answers lean
one way. Of n days any k are those of one kind with the chance 1 / ((n + 1) C(n, k)). How likely the answers are is a sum
over all ways to part the days. Nearly all of it stands around the best way, which is looked for from the change on, day
by day: the sum is what the best way gives, times 1 + r for each day, r being what its turn would multiply it with.

**Prompts on their own.** Each prompt may change once and stay so, at a time of its own, as likely in any run as in
another: answers that stick, caches that fill, slow drift. A change moves prompts at one time.

A change, and not the model, drew the answers where they are k times as likely with the change: this ratio reaches 1 / f
at any time with a chance of at most f under the model (Ville's inequality: each is a law of all answers, of every day to
come too, so that their ratio is a martingale). The mean over the laws is meant: a single world may do worse.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

SHAPES = (0.1, 0.6)  # of the chances on either side of a change: mostly near 0 or 1, and anywhere
SHARES = (0.9, 0.5, 0.2, 0.1, 0.05)  # of all prompts: how many of them a change moves
ORDINARY = slice(1, None)  # of these, what kinds of days, or prompts on their own, differ on: not on most
ROUNDS = 6  # through all days, to find the best way to part them

Day = tuple[int, int]  # of a prompt: answers, unusual ones
Prompts = Counter[tuple[Day, ...]]  # how many prompts were answered so


RULED_OUT = math.log(100)  # how much likelier than an explanation a change has to be
RULED_OUT_ALONE = math.log(20)  # where it came before the first run, and all recorded answers are of one day

Explanation = Literal["days", "prompts"]


def explanation(prompts: Prompts, recorded: int, cuts: Sequence[tuple[int, float]]) -> Explanation | None:
    """Return what explains the answers as well as a change, of which the first `recorded` days are recordings.

    `cuts` are the numbers of runs that a change may come after, with their weights. None: nothing but a change does.

    >>> turned, quiet = [((1, 1), *[(1, 0)] * runs) for runs in (3, 12)], [((1, 0),) * (1 + runs) for runs in (3, 12)]
    >>> [explanation(Counter({a: 12, b: 48}), 1, [(0, 0.5)]) for a, b in zip(turned, quiet)]
    ['prompts', None]
    """
    rows = [_Row(row, sum(n for n, _ in row), sum(u for _, u in row), times) for row, times in prompts.items()]
    likely = [(math.log(weight) + log_mean(_parted(rows, range(recorded + cut))), cut) for cut, weight in cuts]
    change, since = log_sum([value for value, _ in likely]), max(likely)[1]
    if change - log_mean(_apart(rows, recorded)) < RULED_OUT:
        return "prompts"
    needed = RULED_OUT_ALONE if recorded == 1 and not since else RULED_OUT
    return "days" if change - _days(rows, recorded + since, change - needed) < needed else None


@dataclass(frozen=True, slots=True)
class _Row:
    """The answers to prompts that were answered alike: by day, and together."""

    days: tuple[Day, ...]
    answers: int
    unusual: int
    times: int


def _parted(rows: Sequence[_Row], days: Sequence[int]) -> list[float]:
    """Return the logarithms of how likely the answers are with some days parted from the rest, one per share."""
    return _likely(rows, [_sum(row, days) for row in rows])


def _sum(row: _Row, days: Sequence[int]) -> Day:
    return sum(row.days[day][0] for day in days), sum(row.days[day][1] for day in days)


def _likely(rows: Sequence[_Row], before: Sequence[Day]) -> list[float]:
    found = [0.0] * len(SHARES)
    for row, (answers, unusual) in zip(rows, before, strict=True):
        parts = _moved(unusual, answers, row.unusual, row.answers)
        found = [so_far + row.times * part for so_far, part in zip(found, parts, strict=True)]
    return found


def _days(rows: Sequence[_Row], first: int, enough: float) -> float:
    """Return the logarithm of how likely kinds of days make the answers, looking from the `first` days on.

    What exceeds `enough` is looked for no further.
    """
    total = len(rows[0].days)
    kind = [day < first for day in range(total)]
    before = [_sum(row, range(first)) for row in rows]
    best, turns = _kinds(total, first) + log_mean(_likely(rows, before)[ORDINARY]), [0.0] * total
    for _ in range(ROUNDS):
        start = best
        for day in range(total):
            sign = -1 if kind[day] else 1
            other = [(answers + sign * row.days[day][0], unusual + sign * row.days[day][1])
                     for row, (answers, unusual) in zip(rows, before, strict=True)]  # fmt: skip
            value = _kinds(total, sum(kind) + sign) + log_mean(_likely(rows, other)[ORDINARY])
            turns[day] = -abs(value - best)
            if value > best:
                best, before, kind[day] = value, other, not kind[day]
        if best == start or best > enough:
            break
    return best + math.fsum(math.log1p(math.exp(turn)) for turn in turns) + math.log(2)  # either kind may come first


def _kinds(days: int, of_one: int) -> float:
    """Return the logarithm of the chance that just these days are of one kind."""
    return math.lgamma(of_one + 1) + math.lgamma(days - of_one + 1) - math.lgamma(days + 2)


def _apart(rows: Sequence[_Row], recorded: int) -> list[float]:
    """Return the logarithms of how likely prompts that change on their own make the answers, one per ordinary share."""
    found = [0.0] * len(SHARES[ORDINARY])
    for row in rows:
        (answers, unusual), ratios = _sum(row, range(recorded)), []
        for more, more_unusual in row.days[recorded:]:
            ratios.append(log_ratio(unusual, answers, row.unusual, row.answers))
            answers, unusual = answers + more, unusual + more_unusual
        parts = _shared(log_mean(ratios), SHARES[ORDINARY])
        found = [so_far + row.times * part for so_far, part in zip(found, parts, strict=True)]
    return found


@lru_cache(maxsize=2**18)
def _moved(j: int, before: int, unusual: int, answers: int) -> tuple[float, ...]:
    """Return the logarithms of 1 - s + s R for each share."""
    return _shared(log_ratio(j, before, unusual, answers), SHARES)


def _shared(log_gain: float, shares: Sequence[float]) -> tuple[float, ...]:
    return tuple(log_sum((math.log1p(-share), math.log(share) + log_gain)) for share in shares)


@lru_cache(maxsize=2**18)
def log_ratio(j: int, before: int, unusual: int, answers: int) -> float:
    """Return log R: how much likelier answers with `unusual` ones are where the law changed after j of the first ones.

    >>> round(math.exp(log_ratio(1, 1, 1, 11)), 2), log_ratio(0, 0, 1, 11)
    (22.57, 0.0)
    """
    moved = log_sum([_log_chance(j, before, shape) + _log_chance(unusual - j, answers - before, shape)
                     for shape in SHAPES])  # fmt: skip
    return moved - log_sum([_log_chance(unusual, answers, shape) for shape in SHAPES])


@lru_cache(maxsize=2**14)
def _log_chance(unusual: int, answers: int, shape: float) -> float:
    """Return the logarithm of the chance of answers in their order, of which some are unusual."""
    return (math.lgamma(shape + unusual) + math.lgamma(shape + answers - unusual) - math.lgamma(2 * shape + answers)
            + math.lgamma(2 * shape) - 2 * math.lgamma(shape))  # fmt: skip


def log_mean(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the mean of what has these logarithms."""
    return log_sum(logarithms) - math.log(len(logarithms))


def log_sum(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the sum of what has these logarithms."""
    highest = max(logarithms)
    if highest == -math.inf:
        return highest
    return highest + math.log(sum(math.exp(each - highest) for each in logarithms))
