"""Estimates with intervals, gate statuses and their formatting."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Status(StrEnum):
    """The status of a gate."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    ERROR = "ERROR"


SEVERITY = (Status.NOT_APPLICABLE, Status.PASS, Status.INCONCLUSIVE, Status.FAIL, Status.ERROR)


def worst_status(*statuses: Status) -> Status:
    """Return the most severe status.

    The order is ERROR, FAIL, INCONCLUSIVE, PASS, NOT_APPLICABLE.

    >>> worst_status(Status.PASS, Status.INCONCLUSIVE).value
    'INCONCLUSIVE'
    """
    return max(statuses, key=SEVERITY.index)


class Interval(Protocol):
    """An interval at a confidence."""

    @property
    def low(self) -> float:
        """Lower end."""

    @property
    def high(self) -> float:
        """Upper end."""

    @property
    def confidence(self) -> float:
        """Two-sided confidence."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval (low, high), two-sided confidence, and n."""

    value: float
    low: float
    high: float
    confidence: float
    n: int


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate.

    `p_pass` below alpha means PASS, `p_fail` below alpha FAIL. `needed_pairs` would settle an INCONCLUSIVE.
    """

    status: Status
    p_pass: float
    p_fail: float
    needed_pairs: int | None
    message: str
    estimate: Estimate


def format_estimate(estimate: Estimate, number: Callable[[float], str] | None = None) -> str:
    """Return an estimate as text, by default a signed difference.

    >>> format_estimate(Estimate(0.3, 0.231, 0.38, 0.9, 100))
    '+0.30 (90% CI 0.23 to 0.38)'
    """
    return f"{(number or format_signed)(estimate.value)} ({interval_text(estimate)})"


def interval_text(estimate: Interval, number: Callable[[float], str] = "{:z.2f}".format) -> str:
    """Return an interval with its level as text.

    >>> interval_text(Estimate(0.3, 0.231, 0.38, 0.9, 100))
    '90% CI 0.23 to 0.38'
    """
    return f"{level_text(estimate.confidence)} CI {number(estimate.low)} to {number(estimate.high)}"


def level_text(confidence: float) -> str:
    """Return a confidence in percent, such as 97.5%."""
    return f"{100 * confidence:.10g}%"


def format_signed(value: float) -> str:
    """Return a signed difference with two to three decimals: +0.30, -0.055."""
    text = f"{value:+.3f}"
    text = text[:-1] if text.endswith("0") else text
    return "0.00" if text in ("+0.00", "-0.00") else text


def format_share(value: float, decimals: int = 2) -> str:
    """Return a proportion with two to three decimals, or with `decimals`: 0.15, 0.075, 1.00."""
    text = f"{value:z.{max(decimals, 3)}f}"
    while len(text.partition(".")[2]) > decimals and text.endswith("0"):
        text = text[:-1]
    return text


def pluralize(number: int, thing: str) -> str:
    """Return a count with its noun: 1 cluster, 2 clusters."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
