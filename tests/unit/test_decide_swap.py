"""The decision on a swap, on plain data: what is approved, rejected and left open, and why."""

from __future__ import annotations

from judgefixtures.config import SwapTable
from judgefixtures.swap import SwapAccuracy, SwapStatus, decide_swap

SWAP = SwapTable()


def test_accuracy_alone_decides_where_nothing_else_was_asked() -> None:
    """Without contrasts an equally accurate candidate is approved, and the reasons say what is unknown."""
    ids, right = [str(n) for n in range(100)], [1.0] * 100
    found = decide_swap([], [SwapAccuracy("qa", ids, right, right)], SWAP)
    assert found.status is SwapStatus.APPROVE
    assert "no contrasts were compared" in found.reasons[1]
