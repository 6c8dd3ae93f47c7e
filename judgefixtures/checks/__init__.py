"""Checks: every kind in a file of its own, behind one Protocol; this is the list of them.

`check` is the Protocol with what goes in and comes out, `sections` what a report is made of, `wording` how it reads.
"""

from judgefixtures.checks.accuracy import ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE, AccuracyCheck
from judgefixtures.checks.approval import DECISION, DECISIONS, EXPENSES, SWAP
from judgefixtures.checks.candidate import SwapCheck
from judgefixtures.checks.contrast import CONTRASTS, ContrastCheck
from judgefixtures.checks.control import CONTROLS
from judgefixtures.checks.four_cells import FOUR_CELLS, FourCellCheck
from judgefixtures.checks.overview import RESULTS
from judgefixtures.checks.planjudge import PLANS, PlanCheck
from judgefixtures.checks.protocol import Answers, Case, Check, Need
from judgefixtures.checks.sections import SERVED, WARNINGS, Section
from judgefixtures.checks.standings import RANKINGS
from judgefixtures.checks.treatment import EditCheck
from judgefixtures.material.contrasts import Contrast

__all__ = [
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
]

# In the order of the keys of report.json, which is that of the terminal.
SECTIONS: tuple[Section, ...] = (
    RESULTS,
    CONTROLS,
    CONTRASTS,
    ACCURACY,
    MACRO_ACCURACY,
    SIDE_BY_SIDE,
    SWAP,
    FOUR_CELLS,
    WARNINGS,
    SERVED,
    RANKINGS,
    PLANS,
    EXPENSES,
    DECISIONS,
    DECISION,
)


def check_of(contrast: Contrast) -> Check:
    """Return the check of a contrast of one judge: by its edit, its family, or as any other."""
    if contrast.x.edit is not None:
        return EditCheck(contrast)
    return FourCellCheck(contrast) if contrast.family == "four-cell" else ContrastCheck(contrast)
