"""The levels of looks before anything is asked: at which pairs a contrast can end, and how few may be a PASS."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from judgefixtures.checks.beyond_verdicts import fewest_beyond
from judgefixtures.checks.look_by_look import at_level
from judgefixtures.config import GateTable, JudgeTable
from judgefixtures.material.pairs import Pair, first, independent, share
from judgefixtures.numbers.peeking import Steps
from judgefixtures.numbers.power import fewest, smallest_n
from judgefixtures.swap.levels import planned_levels


def steps_of(gate: GateTable, pairs: Sequence[Pair], judge: JudgeTable | None = None) -> Steps:
    """Return the looks that a gate takes at some pairs, of each the independent ones and its level; none without looks.

    A look that is not the last is left out where what a judge tells beyond verdicts, if one is given, cannot PASS yet.

    >>> some = [Pair(str(n), "Why?", "So.", "No.") for n in range(60)]
    >>> steps_of(GateTable(looks=[25, 50, 100]), some)
    ((25, 0.01785), (50, 0.0189), (60, 0.015))
    """
    if gate.looks is None or not pairs:
        return ()
    planned = [
        (independent(first(tuple(pairs), look)), level)
        for look, level in planned_levels(gate.looks, len(pairs) // share(pairs), gate.alpha)
    ]
    early = [
        (units, level)
        for units, level in planned[:-1]
        if judge is None or units >= fewest_beyond(judge, at_level(gate, level))
    ]
    return (*early, planned[-1])


def at_last(gate: GateTable, pairs: Sequence[Pair]) -> GateTable:
    """Return a gate at the level of the last look that it takes at some pairs; the gate itself without looks."""
    steps = steps_of(gate, pairs)
    return at_level(gate, steps[-1][1]) if steps else gate


def fewest_of_shift(gate: GateTable, tolerance: float) -> int:
    """Return the fewest pairs at which a judge without a single flip PASSes, at whichever look.

    >>> fewest_of_shift(GateTable(), 0.15), fewest_of_shift(GateTable(looks=[25, 50, 100]), 0.15)
    (16, 25)
    """
    if gate.looks is None:
        return smallest_n(tolerance, gate.alpha)
    return _fewest_with_looks(tolerance, tuple(gate.looks), gate.alpha)


@lru_cache(maxsize=64)
def _fewest_with_looks(tolerance: float, looks: tuple[int, ...], alpha: float) -> int:
    return fewest(
        lambda n: any(smallest_n(tolerance, level) <= look for look, level in planned_levels(looks, n, alpha))
    )
