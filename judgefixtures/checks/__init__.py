"""Checks: one file per kind, listed in `judgefixtures.models.check_registry`."""

from collections.abc import Iterable
from importlib import import_module

from judgefixtures.models.check_registry import ALONE
from judgefixtures.models.contrasts import Contrast
from judgefixtures.util.old_names import old_names

from .accuracy import AccuracyCheck
from .base import Answers, Check, CheckInput, SampleRequirement
from .contrast import ContrastCheck
from .edit import EditCheck
from .four_cells import FourCellCheck
from .planjudge import PlanCheck
from .sections import Section
from .swap import SwapCheck

__all__ = [
    "ALONE_CHECKS",
    "AccuracyCheck",
    "Answers",
    "Check",
    "CheckInput",
    "ContrastCheck",
    "EditCheck",
    "FourCellCheck",
    "PlanCheck",
    "SampleRequirement",
    "Section",
    "SwapCheck",
    "check_of",
    "checks_of",
    "swap_checks",
]

_HOMES = {kind.mark: kind.home.split(":") for kind in ALONE}
CHECK_MODULES = {mark: import_module(f"judgefixtures.checks.{file}") for mark, (file, _) in _HOMES.items()}

# By their marks: the checks of one judge that are about no contrast.
ALONE_CHECKS: dict[str, Check] = {mark: getattr(CHECK_MODULES[mark], name)() for mark, (_, name) in _HOMES.items()}


def check_of(contrast: Contrast) -> Check:
    """Return a contrast's check."""
    if contrast.x.edit is not None:
        return EditCheck(contrast)
    return FourCellCheck(contrast) if contrast.family == "four-cell" else ContrastCheck(contrast)


def checks_of(contrasts: Iterable[Contrast]) -> tuple[Check, ...]:
    """Return one judge's checks."""
    return (*ALONE_CHECKS.values(), *map(check_of, contrasts))


def swap_checks(contrasts: Iterable[Contrast], cells: int) -> tuple[SwapCheck, ...]:
    """Return a swap's checks for `cells` cells."""
    return (SwapCheck(None, cells), *(SwapCheck(contrast, cells) for contrast in contrasts))


__getattr__ = old_names(__name__, {"Case": "CheckInput", "Need": "SampleRequirement"})
