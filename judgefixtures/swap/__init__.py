"""Swapping the judge: candidate against baseline on the same pairs, and one decision.

`decide_swap` decides on plain data: verdicts per cell (a contrast on a dataset) and how right both judges are.
`decide_looks` does so while they are being recorded, at the looks of `[swap] looks`.
"""

from judgefixtures.swap.cells import SwapAccuracy, SwapCell
from judgefixtures.swap.comparisons import (
    SHOWN_ONLY,
    SHOWN_REASONS,
    Comparison,
    Quantity,
    agreement,
    compare_accuracy,
    compare_car,
    compare_contrast,
    compare_right,
    compare_shift,
    compare_silent,
    decide,
)
from judgefixtures.swap.decision import decide_swap
from judgefixtures.swap.looks import decide_looks
from judgefixtures.swap.margins import guard_margin
from judgefixtures.swap.results import Component, SwapDecision, SwapStatus

__all__ = [
    "SHOWN_ONLY",
    "SHOWN_REASONS",
    "Comparison",
    "Component",
    "Quantity",
    "SwapAccuracy",
    "SwapCell",
    "SwapDecision",
    "SwapStatus",
    "agreement",
    "compare_accuracy",
    "compare_car",
    "compare_contrast",
    "compare_right",
    "compare_shift",
    "compare_silent",
    "decide",
    "decide_looks",
    "decide_swap",
    "guard_margin",
]
