"""List of all sections of report.json, in the order of its keys."""

from collections.abc import Sequence
from typing import Any

from judgefixtures.checks import CHECK_MODULES
from judgefixtures.checks.accuracy import ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE
from judgefixtures.checks.answers_by import ANSWERS_BY
from judgefixtures.checks.control import CONTROLS
from judgefixtures.checks.four_cells import FOUR_CELLS
from judgefixtures.checks.gate_looks import LOOKS
from judgefixtures.checks.not_counted import NOT_COUNTED
from judgefixtures.checks.sections import SERVED, WARNINGS, DisplayOptions, Section
from judgefixtures.models.findings import Row

from .contrast_table import CONTRASTS
from .overview import RESULTS
from .ranking_section import RANKINGS
from .swap_section import DECISION, DECISIONS, EXPENSES, SWAP

_FIRST: tuple[Section[Any], ...] = (
    *(RESULTS, CONTROLS, NOT_COUNTED, CONTRASTS, ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE, SWAP, FOUR_CELLS),
    *(WARNINGS, SERVED, RANKINGS, LOOKS),
)


_OF_CHECKS = (section for file in CHECK_MODULES.values() for section in file.SECTIONS if section not in _FIRST)


# In the order of the keys of report.json, which is that of the terminal; a check's file has its own in SECTIONS.
SECTIONS: tuple[Section[Any], ...] = (*_FIRST, *_OF_CHECKS, ANSWERS_BY, EXPENSES, DECISIONS, DECISION)


def list_sections(report: Row) -> list[tuple[str, list[str], Sequence[tuple[str, ...]]]]:
    """Return titles, lines and tables of the `listed` sections."""
    parts = [(each.title, each.lines(report, DisplayOptions()), each.cells(report)) for each in SECTIONS if each.listed]
    return [(title, [line for line in lines if line], cells) for title, lines, cells in parts if lines or cells]
