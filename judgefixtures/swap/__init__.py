"""Swapping the judge: candidate against baseline on the same pairs, and one decision.

`decide_swap` decides on plain data: verdicts per cell (a contrast on a dataset) and how right both judges are.
`decide_looks` does so while they are being recorded, at the looks of `[swap] looks`.
"""

from judgefixtures.swap.cells import SwapAccuracy, SwapCell
from judgefixtures.swap.components import Component, SwapDecision, SwapStatus
from judgefixtures.swap.decision import decide_swap, guards
from judgefixtures.swap.looks import decide_looks
from judgefixtures.swap.margins import guard_margin

__all__ = [
    "Component",
    "SwapAccuracy",
    "SwapCell",
    "SwapDecision",
    "SwapStatus",
    "decide_looks",
    "decide_swap",
    "guard_margin",
    "guards",
]
