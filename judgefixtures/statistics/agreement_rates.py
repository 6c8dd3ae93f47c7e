"""Rates of agreement with people: TPR, TNR, accuracy and balanced accuracy of a table of four counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .clusters import Totals
from .elementary import check_open
from .estimate import Estimate
from .kappa import TwoByTwo
from .proportions import macro_average, proportion

if TYPE_CHECKING:
    pass


def true_positive_rate(tp: int, fn: int, fp: int, tn: int, confidence: float = 0.90, totals: Totals = None) -> Estimate:
    """Return the share of people's passes that the judge passes, with its exact interval.

    tp and fn count what people pass, fp and tn what they fail. `totals` are the positives by cluster, 1 for a passed
    one. Without positives the value is nan. Source: Clopper and Pearson 1934.

    Raises:
        ValueError: Invalid counts.

    >>> found = true_positive_rate(28, 2, 5, 25)
    >>> round(found.value, 3), round(found.low, 3), found.n
    (0.933, 0.805, 30)
    """
    table = TwoByTwo.of(tp, fn, fp, tn)
    return share_estimate(table.tp, table.positives, confidence, totals)


def true_negative_rate(tp: int, fn: int, fp: int, tn: int, confidence: float = 0.90, totals: Totals = None) -> Estimate:
    """Return the share of people's fails that the judge fails, as `true_positive_rate`.

    >>> round(true_negative_rate(28, 2, 5, 25).value, 3)
    0.833
    """
    table = TwoByTwo.of(tp, fn, fp, tn)
    return share_estimate(table.tn, table.negatives, confidence, totals)


def agreement_rate(tp: int, fn: int, fp: int, tn: int, confidence: float = 0.90, totals: Totals = None) -> Estimate:
    """Return accuracy, the share of labels matched, as `true_positive_rate`.

    >>> round(agreement_rate(28, 2, 5, 25).value, 3)
    0.883
    """
    table = TwoByTwo.of(tp, fn, fp, tn)
    return share_estimate(table.agreement, table.n, confidence, totals)


def balanced_accuracy(
    tp: int, fn: int, fp: int, tn: int, confidence: float = 0.90, totals: tuple[Totals, Totals] = (None, None)
) -> Estimate:
    """Return (TPR + TNR) / 2 with its MOVER interval.

    `totals` are those of positives and of negatives. The value is nan if a class is empty. Source: Zou and Donner 2008.
    Raises ValueError for invalid counts.

    >>> found = balanced_accuracy(27, 3, 10, 10)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.7, 0.59, 0.79)
    """
    table = TwoByTwo.of(tp, fn, fp, tn)
    if not (table.positives and table.negatives):
        return Estimate(math.nan, 0.0, 1.0, check_open(confidence, "confidence"), int(table.n))
    parts = ((table.tp, table.positives, totals[0]), (table.tn, table.negatives, totals[1]))
    rates = [proportion(right, int(n), confidence, totals=related) for right, n, related in parts]
    return macro_average(rates, confidence)


def share_estimate(right: float, n: float, confidence: float, totals: Totals) -> Estimate:
    """Return a share with its interval; its value is NaN where there are none."""
    if not n:
        return Estimate(math.nan, 0.0, 1.0, check_open(confidence, "confidence"), 0)
    return proportion(right, int(n), confidence, "exact", totals)
