"""Wording: numbers, tables and other people's texts as a person reads them. Nothing is measured or decided here."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.findings import Row
from judgefixtures.numbers.statistics import Estimate, bare
from judgefixtures.words.texts import one_line


def interval(estimate: Estimate) -> str:
    """Return a share with its interval.

    >>> from judgefixtures.numbers.statistics import proportion
    >>> interval(proportion(90, 100))
    '.90, 90% CI [.840, .939]'
    """
    level = f"{100 * estimate.confidence:.10g}%"
    return f"{bare(estimate.value)}, {level} CI [{bare(estimate.low, 3)}, {bare(estimate.high, 3)}]"


def limits(estimate: Row | None, name: str = "") -> str:
    """Return the interval of a report's estimate, a hyphen where there is none."""
    if not estimate:
        return "-"
    return f"{100 * estimate['confidence']:.10g}% {name}[{bare(estimate['low'], 3)}, {bare(estimate['high'], 3)}]"


def table(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table, its columns aligned to the left."""
    lines = [tuple(map(one_line, line)) for line in lines]  # a category comes from a data file
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def shortened(text: str, length: int) -> str:
    """Return a text on one line, without control characters, cut where it is too long."""
    text = one_line(text)
    return text if len(text) <= length else f"{text[: length - 3]}..."
