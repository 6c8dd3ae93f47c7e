"""Validity limit: too many invalid verdicts leave a gate undecided."""

from judgefixtures.config import GateTable
from judgefixtures.statistics.clusters import ClusterTotals
from judgefixtures.statistics.estimate import format_share
from judgefixtures.statistics.proportions import proportion

# Two-sided, so that the lower bound of an exact interval is one-sided at 95%, whatever `confidence` is.
INVALID_CONFIDENCE = 0.90


# What is to be done, where nobody knows more.
MEND = "see the invalid column of judgments.jsonl, fix the judge or its prompt, and record again"


def describe_too_many_invalid(invalid: int, n: int, gate: GateTable, totals: ClusterTotals | None = None) -> str | None:
    """Return a message if invalid verdicts exceed max_invalid, or None."""
    excess = invalid_excess(invalid, n, gate, totals)
    return excess and f"{excess}: ERROR; {MEND}"


def invalid_excess(invalid: int, n: int, gate: GateTable, totals: ClusterTotals | None = None) -> str | None:
    """Return the excess over max_invalid, or None.

    The one-sided 95% Clopper-Pearson lower bound must exceed max_invalid. `totals` are by cluster.
    """
    if not invalid:
        return None
    least = proportion(invalid, n, INVALID_CONFIDENCE, "exact", totals).low
    if least <= gate.max_invalid:
        return None
    return f"above max_invalid = {format_share(gate.max_invalid)} (one-sided 95% lower bound {format_share(least, 3)})"
