"""Looks of a gate: when a contrast is decided, at which levels.

A look uses the first pairs of the sample.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from judgefixtures.cassettes.files import DecidedLook
from judgefixtures.config import GateTable
from judgefixtures.models.check_rows import GateLookRow
from judgefixtures.models.findings import Finding, Row, rows_of
from judgefixtures.models.pairs import Pair, units_per_pair
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.statistics.alpha_spending import levels_left, planned_levels
from judgefixtures.statistics.estimate import Status, pluralize

from .messages import MESSAGES
from .sections import DisplayOptions, Section, sorted_rows

NOTHING = 0.001  # a level that no realistic number of pairs can use


@dataclass(frozen=True, slots=True)
class GateLook:
    """A decision after the first `pairs` of `of` pairs.

    Attributes:
        remark: A note on an unplanned look.
    """

    pairs: int
    level: float
    of: int
    remark: str = ""
    plan: tuple[int, ...] = ()


def plan_looks(
    gate: GateTable, pairs: Sequence[Pair], decided: Sequence[DecidedLook] = (), recording: int = 1
) -> tuple[GateLook, ...]:
    """Return the looks that a gate takes at these pairs.

    The last look uses all pairs if there are fewer than planned; more pairs get one look. Earlier `decided` looks
    reduce the levels. `recording` counts the recordings.

    >>> some = [Pair(str(n), "Why?", "So.", "No.") for n in range(60)]
    >>> [(look.pairs, look.level) for look in plan_looks(GateTable(looks=[25, 50, 100]), some)]
    [(25, 0.01785), (50, 0.0189), (60, 0.015)]
    """
    if not pairs or (gate.looks is None and not decided):
        return ()
    there = len(pairs) // units_per_pair(pairs)
    looks = tuple(gate.looks or (there,))
    plan = looks if there <= looks[-1] else (there,)
    steps = usual = planned_levels(looks, there, gate.alpha)
    remark = f"recording {recording} of these pairs" if recording > 2 else ""
    remark = "second recording of these pairs" if recording == 2 else remark
    if before := {look: level for _, look, level in _before(decided, plan, there)}:
        steps = levels_left(before, plan, there, gate.alpha)
    elif there > looks[-1]:
        units = vocabulary_for(pairs).many
        new = f"{there} {units} are more than the last look ({looks[-1]}), so one new decision uses all of them"
        remark = "; ".join(filter(None, [new, "if earlier looks used these pairs, their error rates add up", remark]))

    def remark_at(look: int, level: float) -> str:
        return "; ".join(filter(None, [_anew(before, level, dict(usual).get(look, gate.alpha)), remark]))

    return tuple(GateLook(look, level, there, remark_at(look, level), plan) for look, level in steps)


def _anew(before: Iterable[int], level: float, usual: float) -> str:
    if not (earlier := ", ".join(map(str, sorted(before)))):
        return ""
    left = "; no error level is left: record again with --judge-record all" if level <= NOTHING else ""
    return f"new plan after looks at {earlier}: error level {level:.2g} instead of {usual:.2g}{left}"


def _before(decided: Sequence[DecidedLook], plan: tuple[int, ...], there: int) -> Sequence[DecidedLook]:
    def is_own(look: DecidedLook) -> bool:
        return look[0] == plan and look[1] in (*plan, there) and (there in plan or look[1] <= there)

    return decided[: len(decided) - len(list(takewhile(is_own, reversed(decided))))]


def gate_at_level(gate: GateTable, level: float) -> GateTable:
    """Return a gate whose one-sided tests have a level.

    >>> gate_at_level(GateTable(looks=[25, 50, 100]), 0.0179).confidence
    0.9642
    """
    return gate if level >= gate.alpha else gate.model_copy(update={"confidence": round(1 - 2 * level, 4)})


def _rows(findings: Sequence[Finding]) -> list[GateLookRow] | None:
    return sorted_rows(rows_of(findings, GateLookRow), ("judge", "dataset", "contrast")) or None


def _tell(report: Row, _view: DisplayOptions) -> list[str]:
    rows = LOOKS.read_records(report)
    if not rows:
        return []
    ended = Counter((row.look, row.status == Status.INCONCLUSIVE) for row in rows)
    counts = [
        f"{pluralize(count, 'contrast') if not place else count} {'undecided' if is_open else 'decided'} at {look}"
        f"{' pairs' if not place else ''}"
        for place, ((look, is_open), count) in enumerate(sorted(ended.items()))
    ]
    calls, of_all = _calls(rows)
    beyond = sorted({(row.dataset, row.pairs, row.planned[-1]) for row in rows if row.pairs > row.planned[-1]})
    return [
        f"looks: {', '.join(counts)}; {calls} of {of_all} requests used ({100 * calls / of_all:.0f}%)",
        *(note_pairs_after_last_look(dataset, pairs, last) for dataset, pairs, last in beyond),
    ]


def note_pairs_after_last_look(dataset: str, pairs: int, last: int) -> str:
    """Return a note on a dataset with more pairs than the last look.

    >>> note_pairs_after_last_look("mine", 200, 100)
    'looks: mine has 200, more than the last look (100); one decision uses all. To use the looks, add --judge-pairs 100'
    """
    return MESSAGES.gate_beyond_last_look(dataset, pairs, last)


def _calls(rows: Sequence[GateLookRow]) -> tuple[int, int]:
    counts: dict[tuple[str, str, str], tuple[int, int]] = {}
    for row in rows:
        of_arm = row.calls // len(row.arms), row.calls_of_all // len(row.arms)
        for arm in row.arms:
            key = row.judge, row.dataset, arm
            counts[key] = max(counts.get(key, (0, 0)), of_arm)
    return sum(calls for calls, _ in counts.values()), sum(of_all for _, of_all in counts.values())


LOOKS = Section("looks", GateLookRow, _rows, _tell, listed=True)
