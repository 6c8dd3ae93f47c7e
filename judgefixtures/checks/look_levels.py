"""Levels of looks before recording, and the fewest pairs that can PASS."""

from collections.abc import Sequence
from functools import lru_cache

from judgefixtures.config import GateTable, JudgeTable
from judgefixtures.models.pairs import Pair, count_independent, first_pairs, units_per_pair
from judgefixtures.statistics.alpha_spending import planned_levels
from judgefixtures.statistics.power import smallest_n, smallest_passing_n
from judgefixtures.statistics.sequential import Steps

from .gate_looks import gate_at_level
from .log_odds_and_scores import min_pairs_for_log_odds_or_scores


def look_sizes(gate: GateTable, pairs: Sequence[Pair], judge: JudgeTable | None = None) -> Steps:
    """Return independent units and level of each look; empty without looks.

    If `judge` is given, looks too early for its scores or log-odds are omitted.

    >>> some = [Pair(str(n), "Why?", "So.", "No.") for n in range(60)]
    >>> look_sizes(GateTable(looks=[25, 50, 100]), some)
    ((25, 0.01785), (50, 0.0189), (60, 0.015))
    """
    if gate.looks is None or not pairs:
        return ()
    planned = [
        (count_independent(first_pairs(tuple(pairs), look)), level)
        for look, level in planned_levels(gate.looks, len(pairs) // units_per_pair(pairs), gate.alpha)
    ]
    early = [
        (units, level)
        for units, level in planned[:-1]
        if judge is None or units >= min_pairs_for_log_odds_or_scores(judge, gate_at_level(gate, level))
    ]
    return (*early, planned[-1])


def gate_at_last_look(gate: GateTable, pairs: Sequence[Pair]) -> GateTable:
    """Return the gate at its last look's level, unchanged without looks."""
    steps = look_sizes(gate, pairs)
    return gate_at_level(gate, steps[-1][1]) if steps else gate


def min_pairs_for_shift(gate: GateTable, tolerance: float) -> int:
    """Return the fewest pairs at which unmoved verdicts PASS at any look.

    >>> min_pairs_for_shift(GateTable(), 0.15), min_pairs_for_shift(GateTable(looks=[25, 50, 100]), 0.15)
    (16, 25)
    """
    if gate.looks is None:
        return smallest_n(tolerance, gate.alpha)
    return _fewest_with_looks(tolerance, tuple(gate.looks), gate.alpha)


@lru_cache(maxsize=64)
def _fewest_with_looks(tolerance: float, looks: tuple[int, ...], alpha: float) -> int:
    return smallest_passing_n(
        lambda n: any(smallest_n(tolerance, level) <= look for look, level in planned_levels(looks, n, alpha))
    )
