"""Swap: compare a candidate with a baseline on the same pairs, and make one decision.

`decide_swap` works on plain data: verdicts per cell (a contrast on a dataset) and accuracy of both judges.
`decide_looks` decides during recording, at the looks of `[swap] looks`.
"""

from judgefixtures.models.swap_rows import ComponentRow, DecisionRow
from judgefixtures.models.swap_rows import SwapStatus as SwapStatus
from judgefixtures.util.old_names import old_names

from .cells import SwapAccuracy as SwapAccuracy
from .cells import SwapContrast as SwapContrast
from .decide_looks import decide_looks as decide_looks
from .decision import decide_swap as decide_swap
from .decision import guards as guards
from .margins import guard_margin as guard_margin

# Public names.
Component = ComponentRow
SwapDecision = DecisionRow
__getattr__ = old_names(__name__, {"SwapCell": "SwapContrast"})
