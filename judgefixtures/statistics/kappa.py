"""Kappa of a judge with a label, or among people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from .clusters import ScoredUnits, Totals
from .elementary import check_number, check_open, check_whole, z_quantile
from .estimate import Estimate

Ratings = Sequence[Sequence[str | None]]  # a row per example, a column per rater; None where there is no rating
_EDGE = 1e-12  # how near to an end, as a share of what lies between, the likeliest table is looked for
_FURTHEST = 1 - 1e-9  # kappas between this and its negative can be tested


class TwoByTwo(NamedTuple):
    """Counts or shares of judge and label; invalid grades count as wrong."""

    tp: float
    fn: float
    fp: float
    tn: float

    @classmethod
    def of(cls, tp: int, fn: int, fp: int, tn: int) -> TwoByTwo:
        """Return the table of counts, or raise ValueError for invalid ones."""
        counts = [check_whole(each, name) for each, name in zip((tp, fn, fp, tn), cls._fields, strict=True)]
        if min(counts) < 0 or not any(counts):
            raise ValueError(f"tp, fn, fp and tn must be counts of at least one label, got {tuple(counts)}")
        return cls(*counts)

    @property
    def n(self) -> float:
        """The number of labels."""
        return sum(self)

    @property
    def positives(self) -> float:
        """The number labelled pass."""
        return self.tp + self.fn

    @property
    def negatives(self) -> float:
        """The number labelled fail."""
        return self.fp + self.tn

    @property
    def agreement(self) -> float:
        """The number on which judge and label agree."""
        return self.tp + self.tn

    @property
    def kappa(self) -> float:
        """Cohen's kappa, nan if undefined (Cohen 1960)."""
        by_chance = self.by_chance
        return 2 * (self.tp * self.tn - self.fn * self.fp) / by_chance if by_chance else math.nan

    @property
    def by_chance(self) -> float:
        """The disagreement expected by chance, times n squared."""
        return self.positives * (self.fn + self.tn) + (self.tp + self.fp) * self.negatives


def cohen_kappa(tp: int, fn: int, fp: int, tn: int, confidence: float = 0.90, totals: Totals = None) -> Estimate:
    """Return Cohen's kappa with its likelihood-ratio interval.

    The value is nan if both always say the same one thing. `totals` are labels by cluster, 1 for agreement. Sources:
    Cohen 1960; Wilks 1938. Raises ValueError for invalid counts.

    >>> found = cohen_kappa(45, 5, 5, 45)
    >>> round(found.value, 2), round(found.low, 3), round(found.high, 3)
    (0.8, 0.687, 0.884)
    """
    table = TwoByTwo.of(tp, fn, fp, tn)
    z = z_quantile((1 + check_open(confidence, "confidence")) / 2)
    value = table.kappa
    if math.isnan(value):
        return Estimate(value, -1.0, 1.0, confidence, int(table.n))
    low, high = (_limit(table, value, sign * z, totals) for sign in (1, -1))
    return Estimate(value, low, high, confidence, int(table.n))


def _limit(table: TwoByTwo, value: float, z: float, totals: Totals) -> float:
    from scipy.optimize import brentq

    def excess(kappa: float) -> float:
        return kappa_z(table, kappa, totals) - z

    end, near = -math.copysign(1.0, z), max(min(value, _FURTHEST), -_FURTHEST)
    agreed = (table.agreement + 1) / (table.n + 2)
    far = near + 2 * abs(z) * end * math.sqrt(agreed * (1 - agreed) / table.n) * table.n**2 / table.by_chance
    for beyond in (far, end * _FURTHEST):  # z is nearly a line near the value: look there first
        if abs(beyond) <= _FURTHEST and excess(beyond) * end < 0:
            return float(brentq(excess, *sorted((near, beyond)), xtol=1e-8))
    return end


def kappa_z(table: TwoByTwo, kappa: float, totals: Totals = None) -> float:
    """Return z of the test that kappa is `kappa`: the signed root of the likelihood ratio, above 0 where more was seen.

    The likelihood of the table is maximised over both margins, with kappa fixed. `totals` as in `cohen_kappa`: related
    examples count for less by the design effect of the agreement that this kappa would have. 0 where kappa is not
    defined. Raises ValueError for a kappa not inside -1 to 1. Source: Wilks 1938; sizes in benchmarks/results.md.

    >>> round(kappa_z(TwoByTwo.of(45, 5, 5, 45), 0.60), 3)
    2.709
    """
    if not -1 < check_number(kappa, "kappa") < 1:
        raise ValueError(f"kappa must lie between -1 and 1, both excluded, got {kappa!r}")
    seen = table.kappa
    if math.isnan(seen):
        return 0.0
    null = most_likely_table(table, kappa)
    shares = [count / table.n for count in table]
    ratio = 2 * (_log_likelihood(table, shares) - _log_likelihood(table, null))
    if totals is not None:
        agreement = null.agreement
        ratio /= ScoredUnits.of(totals, 0.0, 1.0).design_effect(agreement, agreement * (1 - agreement))
    return math.copysign(math.sqrt(max(ratio, 0.0)), seen - kappa)


def kappa_of(table: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Return Cohen's kappa of a square table, and its standard error.

    Both can be nan. Source: Fleiss, Cohen and Everitt 1969.

    >>> [round(number, 3) for number in kappa_of([[45, 5], [5, 45]])]
    [0.8, 0.06]
    """
    n, kinds = sum(map(sum, table)), range(len(table))
    shares = [[Fraction(count, n) for count in row] for row in table]
    rows, columns = [sum(row) for row in shares], [sum(column) for column in zip(*shares, strict=True)]
    agreed = sum(shares[kind][kind] for kind in kinds)
    chance = sum(rows[kind] * columns[kind] for kind in kinds)
    if chance == 1:
        return math.nan, math.nan
    kappa = (agreed - chance) / (1 - chance)
    within = sum(shares[kind][kind] * (1 - (rows[kind] + columns[kind]) * (1 - kappa)) ** 2 for kind in kinds)
    across = sum(shares[i][j] * (columns[i] + rows[j]) ** 2 for i in kinds for j in kinds if i != j)
    variance = within + (1 - kappa) ** 2 * across - (kappa - chance * (1 - kappa)) ** 2
    return float(kappa), math.sqrt(variance / n) / float(1 - chance)


@lru_cache(maxsize=1024)
def most_likely_table(table: TwoByTwo, kappa: float) -> TwoByTwo:
    """Return the shares of the likeliest table with this kappa, in (-1, 1)."""
    from scipy.optimize import minimize_scalar

    # A kappa below 0 can only be had with margins about one half, and its likelihood may have a maximum on either side.
    reach = 0.5 * math.sqrt((1 + kappa) / (1 - kappa)) if kappa < 0 else 0.5
    halves = [(0.5 - reach, 0.5), (0.5, 0.5 + reach)] if kappa < 0 else [(0.0, 1.0)]

    def loss(share: float) -> float:
        return -_log_likelihood(table, _given(table, kappa, float(share)))

    minima = []
    for low, high in halves:
        edge = _EDGE * (high - low)
        bounds = (low + edge, high - edge)
        minima.append(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7}))
    return _given(table, kappa, float(min(minima, key=lambda each: each.fun).x))


def _given(table: TwoByTwo, kappa: float, positive: float) -> TwoByTwo:
    from scipy.optimize import brentq

    start, end = _ends(kappa, positive)
    cells = [(count, first, last - first) for count, first, last in zip(table, start, end, strict=True) if count]

    def slope(way: float) -> float:
        return sum([count * step / (first + step * way) for count, first, step in cells])

    way = _EDGE
    if slope(1 - _EDGE) >= 0:
        way = 1 - _EDGE
    elif slope(_EDGE) > 0:
        way = brentq(slope, _EDGE, 1 - _EDGE, xtol=_EDGE)
    return TwoByTwo(*(first * (1 - way) + last * way for first, last in zip(start, end, strict=True)))


def _ends(kappa: float, positive: float) -> tuple[TwoByTwo, TwoByTwo]:
    negative, both = 1 - positive, kappa * positive / 2
    steep = positive + kappa * (0.5 - positive)  # how tp grows with the share that the judge passes
    if kappa < 0:
        few, many = -both / steep, (negative + both) / (1 - steep)
        return TwoByTwo(0.0, positive, few, negative - few), TwoByTwo(positive + many - 1, 1 - many, negative, 0.0)
    few, many = both / (1 - steep), (positive - both) / steep
    return TwoByTwo(few, positive - few, 0.0, negative), TwoByTwo(positive, 0.0, many - positive, 1 - many)


def _log_likelihood(table: TwoByTwo, shares: Sequence[float]) -> float:
    return math.fsum([count * math.log(share) for count, share in zip(table, shares, strict=True) if count])


# --- people among each other --------------------------------------------------------------------------------


def krippendorff_alpha(ratings: Ratings) -> float:
    """Return Krippendorff's nominal alpha: a row per example, a column per rater.

    None is a missing rating. nan if undefined. Source: Krippendorff 2011. Raises ValueError for a nan rating.

    >>> people = [["pass", "pass", None], ["fail", "fail", "fail"], ["pass", "fail", "pass"], ["pass", None, "pass"]]
    >>> round(krippendorff_alpha(people), 3)
    0.625
    """
    units = [Counter(rated) for row in ratings if len(rated := _rated(row)) > 1]
    values = sum(units, Counter[str]())
    n = values.total()
    by_chance = _differing(values)
    if not by_chance:
        return math.nan
    seen = math.fsum(_differing(unit) / (unit.total() - 1) for unit in units)
    return 1 - (n - 1) * seen / by_chance


def _differing(values: Counter[str]) -> int:
    return values.total() ** 2 - sum(count * count for count in values.values())


def pairwise_kappa(ratings: Ratings) -> float:
    """Return the mean Cohen's kappa over all pairs of raters.

    Ratings as in `krippendorff_alpha`. nan if no kappa is defined. Source: Light 1971. Raises ValueError for uneven
    rows or nan.

    >>> round(pairwise_kappa([["pass", "pass", None], ["fail", "fail", "fail"], ["pass", "fail", "pass"]]), 3)
    0.467
    """
    rows = [list(row) for row in ratings]
    for row in rows:
        _rated(row)
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"every row must have a column per rater, got {sorted({len(row) for row in rows})} columns")
    kappas = [_kappa_of_two(one, other) for one, other in combinations(list(zip(*rows, strict=True)), 2)]
    defined = [kappa for kappa in kappas if not math.isnan(kappa)]
    return math.fsum(defined) / len(defined) if defined else math.nan


def _rated(row: Sequence[str | None]) -> list[str]:
    rated = [value for value in row if value is not None]
    if any(value != value for value in rated):  # nan is how a table's missing cell may come: each would be a value
        raise ValueError(f"a missing rating must be None, got nan in {list(row)!r}")
    return rated


def _kappa_of_two(one: Sequence[str | None], other: Sequence[str | None]) -> float:
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    n = len(both)
    ours, theirs = Counter(a for a, _ in both), Counter(b for _, b in both)
    by_chance = sum(count * theirs[value] for value, count in ours.items())
    if n * n == by_chance:  # also where they share nothing
        return math.nan
    return (n * sum(a == b for a, b in both) - by_chance) / (n * n - by_chance)
