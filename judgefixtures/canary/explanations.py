"""Alternative explanations of drift: two kinds of days, and prompts that change independently.

A change rules one out if it makes the answers 100 (or, if that takes too long, 20) times as likely.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Literal

SHAPES = (0.1, 0.6)  # of the chances on either side of a change: mostly near 0 or 1, and anywhere
SHARES: tuple[float, ...] = (0.9, 0.5, 0.2, 0.1, 0.05)  # of all prompts: how many of them a change moves
USUAL = slice(1, None)  # of these: what kinds of days, or prompts on their own, differ on: not on most
ROUNDS = 6  # through all days, to find the best way to part them

Day = tuple[int, int]  # of a prompt: answers, unusual ones
Prompts = Counter[tuple[Day, ...]]  # how many prompts were answered so


RULED_OUT = math.log(100)  # how much likelier than days of two kinds a change has to be
RULED_OUT_ALONE = math.log(20)  # where it came before the first run, and all recorded answers are of one day
RULED_OUT_APART = math.log(20)  # how much likelier than prompts on their own

Explanation = Literal["days", "prompts"]


def other_explanation(prompts: Prompts, recorded: int, cuts: Sequence[int]) -> Explanation | None:
    """Return what explains the answers as well as a change, or None.

    Args:
        prompts: Number of prompts by their days' answers.
        recorded: How many first days are recordings.
        cuts: Numbers of runs after which a change is tried.

    >>> turned, quiet = [((1, 1), *[(1, 0)] * runs) for runs in (3, 12)], [((1, 0),) * (1 + runs) for runs in (3, 12)]
    >>> [other_explanation(Counter({a: 12, b: 48}), 1, range(len(a) - 1)) for a, b in zip(turned, quiet)]
    ['days', None]
    """
    rows = [_row(days, times) for days, times in prompts.items()]
    # How likely the answers are with the days before a cut parted from the rest.
    likely = [log_mean(_likely(rows, [row.first[recorded + cut] for row in rows])) for cut in cuts]
    spans = [math.log((cut - before) / (cuts[-1] + 1)) for before, cut in pairwise((-1, *cuts))]
    together = log_mean([likely[0], log_sum([span + value for span, value in zip(spans, likely, strict=True)])])
    if together - log_mean(_apart(rows, [recorded + cut for cut in cuts], spans)) < RULED_OUT_APART:
        return "prompts"
    timed = [(_after(cut) + value, cut) for cut, value in zip(cuts, likely, strict=True)]
    change, since = log_sum([value for value, _ in timed]), max(timed)[1]
    needed = RULED_OUT_ALONE if recorded == 1 and not since else RULED_OUT
    return "days" if change - _days(rows, recorded + since, change - needed) < needed else None


@dataclass(frozen=True, slots=True)
class _Row:
    days: tuple[Day, ...]
    first: tuple[Day, ...]
    answers: int
    unusual: int
    times: int


def _row(days: tuple[Day, ...], times: int) -> _Row:
    answers, unusual = ((0, *accumulate(counts)) for counts in zip(*days, strict=True))
    return _Row(days, tuple(zip(answers, unusual, strict=True)), answers[-1], unusual[-1], times)


def _likely(rows: Sequence[_Row], before: Sequence[Day]) -> list[float]:
    logs = [0.0] * len(SHARES)
    for row, (answers, unusual) in zip(rows, before, strict=True):
        parts = _moved(unusual, answers, row.unusual, row.answers)
        logs = [so_far + row.times * part for so_far, part in zip(logs, parts, strict=True)]
    return logs


def _after(runs: int) -> float:
    return math.log(0.5 / (runs * (runs + 1)) if runs else 0.5)


def _days(rows: Sequence[_Row], first: int, enough: float) -> float:
    """Return the log-likelihood of two kinds of days, up to `enough`.

    The sum over partitions is approximated around the best one.
    """
    total = len(rows[0].days)
    kind = [day < first for day in range(total)]
    before = [row.first[first] for row in rows]
    best, turns = _kinds(total, first) + log_mean(_likely(rows, before)[USUAL]), [0.0] * total
    for _ in range(ROUNDS):
        start = best
        for day in range(total):
            sign = -1 if kind[day] else 1
            other = [
                (answers + sign * row.days[day][0], unusual + sign * row.days[day][1])
                for row, (answers, unusual) in zip(rows, before, strict=True)
            ]
            value = _kinds(total, sum(kind) + sign) + log_mean(_likely(rows, other)[USUAL])
            turns[day] = -abs(value - best)
            if value > best:
                best, before, kind[day] = value, other, not kind[day]
        if best == start or best > enough:
            break
    return best + math.fsum(math.log1p(math.exp(turn)) for turn in turns) + math.log(2)  # either kind may come first


def _kinds(days: int, of_one: int) -> float:
    return math.lgamma(of_one + 1) + math.lgamma(days - of_one + 1) - math.lgamma(days + 2)


def _apart(rows: Sequence[_Row], times: Sequence[int], spans: Sequence[float]) -> list[float]:
    logs = [0.0] * len(SHARES[USUAL])
    for row in rows:
        ratios = [
            log_likelihood_ratio(unusual, answers, row.unusual, row.answers)
            for answers, unusual in (row.first[time] for time in times)
        ]
        gain = log_sum([span + ratio for span, ratio in zip(spans, ratios, strict=True)])
        parts = _shared(gain, SHARES[USUAL])
        logs = [so_far + row.times * part for so_far, part in zip(logs, parts, strict=True)]
    return logs


@lru_cache(maxsize=2**18)
def _moved(j: int, before: int, unusual: int, answers: int) -> tuple[float, ...]:
    return _shared(log_likelihood_ratio(j, before, unusual, answers), SHARES)


def _shared(log_gain: float, shares: Sequence[float]) -> tuple[float, ...]:
    return tuple(log_sum((math.log1p(-share), math.log(share) + log_gain)) for share in shares)


@lru_cache(maxsize=2**18)
def log_likelihood_ratio(j: int, before: int, unusual: int, answers: int) -> float:
    """Return the log-likelihood ratio of a change after `before` answers, j unusual.

    >>> round(math.exp(log_likelihood_ratio(1, 1, 1, 11)), 2), log_likelihood_ratio(0, 0, 1, 11)
    (22.57, 0.0)
    """
    moved = log_sum([_log_chance(j, before, a) + _log_chance(unusual - j, answers - before, a) for a in SHAPES])
    return moved - log_sum([_log_chance(unusual, answers, a) for a in SHAPES])


@lru_cache(maxsize=2**14)
def _log_chance(unusual: int, answers: int, shape: float) -> float:
    drawn = math.lgamma(shape + unusual) + math.lgamma(shape + answers - unusual) - math.lgamma(2 * shape + answers)
    return drawn + math.lgamma(2 * shape) - 2 * math.lgamma(shape)


def log_mean(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the mean, from logarithms."""
    return log_sum(logarithms) - math.log(len(logarithms))


def log_sum(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the sum, from logarithms."""
    highest = max(logarithms)
    if highest == -math.inf:
        return highest
    return highest + math.log(sum(math.exp(each - highest) for each in logarithms))
