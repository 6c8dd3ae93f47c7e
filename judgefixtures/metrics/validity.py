"""Validity limit: too many invalid verdicts leave a gate undecided."""

from judgefixtures.config import GateTable
from judgefixtures.statistics.clusters import ClusterTotals
from judgefixtures.statistics.estimate import format_share
from judgefixtures.statistics.proportions import proportion

# Two-sided, so that the lower bound of an exact interval is one-sided at 95%, whatever `confidence` is.
INVALID_CONFIDENCE = 0.90


# What is to be done, where nobody knows more.
MEND = "see the invalid column of judgments.jsonl, mend the judge or its prompt, and record again"


def describe_too_many_invalid(invalid: int, n: int, gate: GateTable, totals: ClusterTotals | None = None) -> str | None:
    """Return what is to be said of so many invalid verdicts of n where their share demonstrably exceeds max_invalid."""
    excess = invalid_excess(invalid, n, gate, totals)
    return excess and f"{excess}: ERROR; {MEND}"


def invalid_excess(invalid: int, n: int, gate: GateTable, totals: ClusterTotals | None = None) -> str | None:
    """Return by how much the share of invalid verdicts demonstrably exceeds max_invalid, None where it does not.

    Demonstrably: its one-sided 95% Clopper-Pearson lower bound does. Fewer may be chance, and leave the gate to decide.
    `totals` are the invalid ones by cluster where pairs are related.
    """
    if not invalid:
        return None
    least = proportion(invalid, n, INVALID_CONFIDENCE, "exact", totals).low
    if least <= gate.max_invalid:
        return None
    return (
        f"demonstrably more than max_invalid = {format_share(gate.max_invalid)} allows (at least "
        f"{format_share(least, 3)}, one-sided 95%)"
    )
