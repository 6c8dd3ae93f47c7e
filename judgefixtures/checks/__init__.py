"""Checks: every kind in a file of its own, behind one Protocol. `judgefixtures.material.registry` is the list of them.

`protocol` has the Protocol with what goes in and comes out, `sections` what a report is made of, `phrasing` how it
reads.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from judgefixtures.checks.accuracy import ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE, AccuracyCheck
from judgefixtures.checks.answers_by import ANSWERS_BY
from judgefixtures.checks.approval import DECISION, DECISIONS, EXPENSES, SWAP
from judgefixtures.checks.candidate import SwapCheck
from judgefixtures.checks.control import CONTROLS
from judgefixtures.checks.four_cells import FOUR_CELLS, FourCellCheck
from judgefixtures.checks.look_by_look import LOOKS
from judgefixtures.checks.not_counted import NOT_COUNTED
from judgefixtures.checks.overview import RESULTS
from judgefixtures.checks.planjudge import PlanCheck
from judgefixtures.checks.protocol import Answers, Case, Check, Need
from judgefixtures.checks.sections import SERVED, WARNINGS, Section, View
from judgefixtures.checks.shift_table import CONTRASTS
from judgefixtures.checks.standings import RANKINGS
from judgefixtures.checks.treatment import EditCheck
from judgefixtures.checks.two_arms import ContrastCheck
from judgefixtures.findings import Row
from judgefixtures.material.contrasts import Contrast
from judgefixtures.material.registry import ALONE

__all__ = [
    "ALONE_CHECKS",
    "SECTIONS",
    "AccuracyCheck",
    "Answers",
    "Case",
    "Check",
    "ContrastCheck",
    "EditCheck",
    "FourCellCheck",
    "Need",
    "PlanCheck",
    "Section",
    "SwapCheck",
    "check_of",
    "checks_of",
    "list_sections",
    "swap_checks",
]

_HOMES = {kind.mark: kind.home.split(":") for kind in ALONE}
_FILES = {mark: import_module(f"judgefixtures.checks.{file}") for mark, (file, _) in _HOMES.items()}

# By their marks: the checks of one judge that are about no contrast.
ALONE_CHECKS: dict[str, Check] = {mark: getattr(_FILES[mark], name)() for mark, (_, name) in _HOMES.items()}

_FIRST: tuple[Section[Any], ...] = (
    *(RESULTS, CONTROLS, NOT_COUNTED, CONTRASTS, ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE, SWAP, FOUR_CELLS),
    *(WARNINGS, SERVED, RANKINGS, LOOKS),
)
_OF_CHECKS = (section for file in _FILES.values() for section in file.SECTIONS if section not in _FIRST)
# In the order of the keys of report.json, which is that of the terminal; a check's file has its own in SECTIONS.
SECTIONS: tuple[Section[Any], ...] = (*_FIRST, *_OF_CHECKS, ANSWERS_BY, EXPENSES, DECISIONS, DECISION)


def list_sections(report: Row) -> list[tuple[str, list[str], Sequence[tuple[str, ...]]]]:
    """Return the parts of a report that report.md and the page show as the terminal does: titles, lines and tables."""
    shown = [(each.title, each.lines(report, View()), each.cells(report)) for each in SECTIONS if each.listed]
    return [(title, [line for line in lines if line], cells) for title, lines, cells in shown if lines or cells]


def check_of(contrast: Contrast) -> Check:
    """Return the check of a contrast of one judge: by its edit, its family, or as any other."""
    if contrast.x.edit is not None:
        return EditCheck(contrast)
    return FourCellCheck(contrast) if contrast.family == "four-cell" else ContrastCheck(contrast)


def checks_of(contrasts: Iterable[Contrast]) -> tuple[Check, ...]:
    """Return every check of one judge that there is: those that are about no contrast, and those of contrasts."""
    return (*ALONE_CHECKS.values(), *map(check_of, contrasts))


def swap_checks(contrasts: Iterable[Contrast], cells: int) -> tuple[SwapCheck, ...]:
    """Return the checks of a swap: accuracy, and the contrasts; `cells` is how many it compares on datasets."""
    return (SwapCheck(None, cells), *(SwapCheck(contrast, cells) for contrast in contrasts))
