"""Checks: every kind in a file of its own, behind one Protocol; this is the list of them.

`check` is the Protocol with what goes in and comes out, `sections` what a report is made of, `wording` how it reads.
"""

from judgefixtures.checks.accuracy import ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE, AccuracyCheck
from judgefixtures.checks.check import Answers, Case, Check, Need
from judgefixtures.checks.contrast import CONTRASTS, ContrastCheck
from judgefixtures.checks.control import CONTROLS
from judgefixtures.checks.decision import DECISION, DECISIONS, EXPENSES, SWAP
from judgefixtures.checks.edit import EditCheck
from judgefixtures.checks.four_cells import FOUR_CELLS, FourCellCheck
from judgefixtures.checks.overview import RESULTS
from judgefixtures.checks.plans import PLANS, PlanCheck
from judgefixtures.checks.rankings import RANKINGS
from judgefixtures.checks.sections import SERVED, WARNINGS, Section
from judgefixtures.checks.swap import SwapCheck
from judgefixtures.contrasts import Contrast

__all__ = ["SECTIONS", "AccuracyCheck", "Answers", "Case", "Check", "ContrastCheck", "EditCheck", "FourCellCheck",
           "Need", "PlanCheck", "Section", "SwapCheck", "check_of"]  # fmt: skip

# In the order of the keys of report.json, which is that of the terminal.
SECTIONS: tuple[Section, ...] = (
    RESULTS, CONTROLS, CONTRASTS, ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE, SWAP, FOUR_CELLS, WARNINGS, SERVED, RANKINGS,
    PLANS, EXPENSES, DECISIONS, DECISION,
)  # fmt: skip


def check_of(contrast: Contrast) -> Check:
    """Return the check of a contrast of one judge: by its edit, its family, or as any other."""
    if contrast.x.edit is not None:
        return EditCheck(contrast)
    return FourCellCheck(contrast) if contrast.family == "four-cell" else ContrastCheck(contrast)
