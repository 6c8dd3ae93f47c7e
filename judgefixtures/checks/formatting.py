"""Formatting of numbers, tables and quoted texts for people."""

from collections.abc import Sequence

from judgefixtures.statistics.estimate import Estimate, format_share, interval_text
from judgefixtures.util.texts import make_one_line

EXAMPLES = 3  # that a diagnosis shows
SHOWN_REASON = 240  # characters of a reason that is shown


def interval_cell(estimate: Estimate | None) -> str:
    """Return an interval as a table cell, a hyphen if missing."""
    return interval_text(estimate, lambda end: format_share(end, 3)) if estimate else "-"


def format_interval(estimate: Estimate) -> str:
    """Return an interval as text.

    >>> from judgefixtures.statistics import proportion
    >>> format_interval(proportion(90, 100))
    '90% CI 0.84 to 0.94'
    """
    return interval_text(estimate)


def share_counted(estimate: Estimate) -> str:
    """Return a share as a count of n.

    >>> from judgefixtures.statistics import proportion
    >>> share_counted(proportion(9, 10))
    '9 of 10'
    """
    return f"{round(estimate.value * estimate.n)} of {estimate.n}"


def table_lines(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a left-aligned table."""
    lines = [tuple(map(make_one_line, line)) for line in lines]  # a category comes from a data file
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def shorten(text: str, length: int) -> str:
    """Return a text on one line, without control characters, cut to length."""
    text = make_one_line(text)
    return text if len(text) <= length else f"{text[: length - 3]}..."
