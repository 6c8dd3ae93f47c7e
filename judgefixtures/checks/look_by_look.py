"""Look by look: at which numbers of pairs a contrast is decided, at which level each time, and what that spared.

Looks are taken on prefixes of the pairs, without any state: a later recording has the same first pairs, so that every
earlier look can be computed again. The levels are those of `swap/levels.py`; who asks is not known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgefixtures.checks.sections import Section, View, ordered
from judgefixtures.config import GateTable
from judgefixtures.findings import Finding, OfJudge, Row, rows_of
from judgefixtures.material.diction import wording_about
from judgefixtures.material.pairs import Pair, share
from judgefixtures.numbers.estimate import Status, several
from judgefixtures.swap.levels import planned_levels


@dataclass(frozen=True, slots=True)
class Look:
    """A look: after so many pairs of the dataset, which has `of` of them, at a one-sided level.

    `remark` is what is to be said of it, where it is not one of those that were planned.
    """

    pairs: int
    level: float
    of: int
    remark: str = ""


def plan_looks(gate: GateTable, pairs: Sequence[Pair]) -> tuple[Look, ...]:
    """Return the looks that a gate takes at some pairs, the first one first; none where it plans none.

    Of fewer pairs than the last planned look has, the last look is at all of them. Their levels are those of the plan:
    what was not spent by then is kept for the pairs that may come. More pairs than were planned are decided on once,
    as a new design.

    >>> some = [Pair(str(n), "Why?", "So.", "No.") for n in range(60)]
    >>> [(look.pairs, look.level) for look in plan_looks(GateTable(looks=[25, 50, 100]), some)]
    [(25, 0.01785), (50, 0.0189), (60, 0.015)]
    """
    if gate.looks is None or not pairs:
        return ()
    there, last, remark = len(pairs) // share(pairs), gate.looks[-1], ""
    if there > last:
        remark = (
            f"{there} {wording_about(pairs).many} are more than the last look ({last}): decided once on all of them, "
            "as a new design; if this was decided on before, the errors of both add up"
        )
    return tuple(Look(look, level, there, remark) for look, level in planned_levels(gate.looks, there, gate.alpha))


def at_level(gate: GateTable, level: float) -> GateTable:
    """Return a gate whose one-sided tests have a level: with the confidence, of four digits, that this goes with.

    >>> at_level(GateTable(looks=[25, 50, 100]), 0.0179).confidence
    0.9642
    """
    return gate if level >= gate.alpha else gate.model_copy(update={"confidence": round(1 - 2 * level, 4)})


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRow(OfJudge):
    """At how many pairs a contrast was decided, and how many calls that took of those that all pairs would have."""

    place: ClassVar[str] = "looks"
    contrast: str = ""
    look: int = 0
    pairs: int = 0  # that there are
    planned: tuple[int, ...] = ()
    status: str = ""
    arms: tuple[str, ...] = ()  # what is asked, by name: contrasts that share an arm ask it once
    calls: int = 0
    calls_of_all: int = 0


def _rows(findings: Sequence[Finding]) -> list[LookRow] | None:
    return ordered(rows_of(findings, LookRow), ("judge", "dataset", "contrast")) or None


def _tell(report: Row, _view: View) -> list[str]:
    """Say at how many pairs contrasts were decided, and how much of the calls for all pairs that took."""
    rows = LOOKS.read_records(report)
    if not rows:
        return []
    ended = Counter((row.look, row.status == Status.INCONCLUSIVE) for row in rows)
    said = [
        f"{several(count, 'contrast') if not place else count} {'still open' if is_open else 'decided'} at {look}"
        f"{' pairs' if not place else ''}"
        for place, ((look, is_open), count) in enumerate(sorted(ended.items()))
    ]
    asked, of_all = _calls(rows)
    beyond = sorted({(row.dataset, row.pairs, row.planned[-1]) for row in rows if row.pairs > row.planned[-1]})
    return [
        f"looks: {', '.join(said)}; {asked} of {of_all} calls asked, {100 * asked / of_all:.0f}%",
        *(beyond_looks(dataset, pairs, last) for dataset, pairs, last in beyond),
    ]


def beyond_looks(dataset: str, pairs: int, last: int) -> str:
    """Return what is said of a dataset with more pairs than the last look has: none of the looks is taken.

    >>> beyond_looks("mine", 200, 100)
    'looks: mine has 200, more than the last look (100): decided once on all of them; --judge-pairs 100 takes the looks'
    """
    return (
        f"looks: {dataset} has {pairs}, more than the last look ({last}): decided once on all of them; "
        f"--judge-pairs {last} takes the looks"
    )


def _calls(rows: Sequence[LookRow]) -> tuple[int, int]:
    """Return how many calls all looks took, and how many all pairs would have: an arm that several share counts once.

    Of these the one with the most pairs counts.
    """
    asked: dict[tuple[str, str, str], tuple[int, int]] = {}
    for row in rows:
        of_arm = row.calls // len(row.arms), row.calls_of_all // len(row.arms)
        for arm in row.arms:
            key = row.judge, row.dataset, arm
            asked[key] = max(asked.get(key, (0, 0)), of_arm)
    return sum(calls for calls, _ in asked.values()), sum(of_all for _, of_all in asked.values())


LOOKS = Section("looks", LookRow, _rows, _tell, listed=True)
