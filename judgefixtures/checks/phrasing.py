"""Wording: numbers, tables and other people's texts as a person reads them. Nothing is measured or decided here."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.numbers.estimate import Estimate, bare, interval_text, level_text
from judgefixtures.words.texts import one_line

EXAMPLES = 3  # that a diagnosis shows
SHOWN_REASON = 240  # characters of a reason that is shown


def limits(found: Estimate | None) -> str:
    """Return the interval of an estimate as a cell of a table has it, a hyphen where there is none."""
    return f"{level_text(found.confidence)} [{bare(found.low, 3)}, {bare(found.high, 3)}]" if found else "-"


def reach(found: Estimate) -> str:
    """Return an interval as a sentence has it.

    >>> from judgefixtures.numbers.statistics import proportion
    >>> reach(proportion(90, 100))
    '90% CI .840 to .939'
    """
    return interval_text(found, "{} to {}")


def share_counted(found: Estimate) -> str:
    """Return a share as how many of how many.

    >>> from judgefixtures.numbers.statistics import proportion
    >>> share_counted(proportion(9, 10))
    '9 of 10'
    """
    return f"{round(found.value * found.n)} of {found.n}"


def table(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table, its columns aligned to the left."""
    lines = [tuple(map(one_line, line)) for line in lines]  # a category comes from a data file
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def shortened(text: str, length: int) -> str:
    """Return a text on one line, without control characters, cut where it is too long."""
    text = one_line(text)
    return text if len(text) <= length else f"{text[: length - 3]}..."
