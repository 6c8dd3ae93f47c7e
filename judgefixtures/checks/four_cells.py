"""A cue contrast in both orders: what the cue does, apart from what the position does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from judgefixtures.asking.questions import Arm, Choice, Judgment
from judgefixtures.checks.look_levels import at_last
from judgefixtures.checks.protocol import AboutContrast, Answers, Case, Decision, Need, decided, gate_of, of_look
from judgefixtures.checks.sections import Section, View, in_order
from judgefixtures.checks.shift_gate import doubt_of, stuck_reason
from judgefixtures.checks.two_arms import need_of
from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.findings import Finding, OfJudge, PartRow, Row, Waived, is_of_control, related_units, rows_of_parts
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.metrics import by_cluster, share_of, stuck_side
from judgefixtures.measures.validity import too_many_invalid
from judgefixtures.numbers.clusters import Totals, counted, decides
from judgefixtures.numbers.elementary import check_alpha, check_open
from judgefixtures.numbers.estimate import Estimate, Status, bare, describe
from judgefixtures.numbers.power import fewest
from judgefixtures.numbers.proportions import mean_interval
from judgefixtures.numbers.tolerance import advice, pairs_for_mean
from judgefixtures.words.records import where_any


@dataclass(frozen=True, slots=True)
class FourCellCheck(AboutContrast):
    """The cue's effect is within tolerance with the order balanced out."""

    kind: ClassVar[str] = "four-cells"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Both conditions in both orders."""
        return self.contrast.cells

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return the pairs without which not even a judge that never moves can PASS."""
        gate = config.gate(self.family)
        at_least = smallest_n_of_cells(gate.vsr_tolerance, at_last(gate, pairs).alpha)
        return need_of(self.contrast, dataset, pairs, at_least, gate)

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of the four cells."""
        gate = gate_of(self, case)
        measured = four_cells(answers[0].arms, gate.confidence)
        decision = of_look(self, case, decide_four_cells(measured, len(case.pairs), gate))
        row = FourCellRow.copied(
            decision,
            decided_by=rows_of_parts(decision.decided_by),
            judge=case.judge.name,
            dataset=case.dataset,
            contrast=self.name,
            clusters=related_units(measured.shift if measured else None),
            cue_effect=measured.cue if measured else None,
            position_effect=measured.position if measured else None,
            invalid_pairs=measured.invalid_pairs if measured else None,
            look=case.look and case.look.pairs,
        )
        title = f"{case.judge.name} on {case.dataset}: {self.name} is {decision.status}"
        told = (title, *(f"  {reason}" for reason in decision.reasons))
        return decided(self, case, decision, row, diagnosis=told, estimate=measured.cue if measured else None)

    def is_open(self, finding: Finding) -> bool:
        """Whether it is undecided."""
        return finding.status is Status.INCONCLUSIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class FourCellRow(OfJudge):
    """What came of a cue contrast asked in both orders."""

    place: ClassVar[str] = "four_cells"
    contrast: str = ""
    clusters: int | None = where_any()
    cue_effect: Estimate | None = None
    position_effect: Estimate | None = None
    invalid_pairs: int | None = None
    tolerance: float = 0.0
    status: str = Status.ERROR
    decided_by: tuple[PartRow, ...] = ()
    waived: Waived | None = None
    message: str = ""
    look: int | None = where_any()


@dataclass(frozen=True, slots=True)
class FourCells:
    """A cue contrast asked in both orders: what the cue does and what the position does, apart from each other.

    `cue` is VSR averaged over the orders; `position` is P(chose what stood first) - 1/2 over all four cells, in
    which cue and content cancel. n counts pairs with four valid verdicts. `shift` is the cue's effect by cluster, and
    `invalid` the invalid pairs, where pairs are related.
    """

    cue: Estimate
    position: Estimate
    invalid_pairs: int
    worst: tuple[Estimate, Estimate] | None = None  # the cue's effect, all invalid verdicts against it, or all for it
    shift: Totals | None = None
    invalid: Totals | None = None
    stuck: Choice | None = None  # what was said in nearly all of every cell


def four_cells(cells: Sequence[Sequence[Judgment]], confidence: float = 0.90) -> FourCells | None:
    """Return cue and position effect from arms x, y and the same in the reverse order; None without valid pairs.

    The pair is the unit: its score is the mean over its cells. Where pairs share a cluster, that is the unit. Source:
    docs/statistics.md, "Position, noise, ranking".
    """
    selected = [
        (four[0], [share_of(judgment, "chose-first") for judgment in four]) for four in zip(*cells, strict=True)
    ]
    valid = [(first, four) for first, four in selected if None not in four]
    if not valid:
        return None
    of = by_cluster(cells[0])

    def mean(scored: Sequence[tuple[Judgment, float]], half_range: float) -> Estimate:
        scores = [score for _, score in scored]
        return mean_interval(scores, confidence, half_range, totals=of(scored))

    def effect(members: Sequence[tuple[Judgment, Sequence[float | None]]], favours: bool) -> Estimate:
        return mean([(first, _cue_effect(four, favours)) for first, four in members], 1.0)

    cue, invalid = effect(valid, False), len(selected) - len(valid)
    position = mean([(first, sum(filter(None, four)) / 4 - 0.5) for first, four in valid], 0.5)
    return FourCells(
        cue,
        position,
        invalid,
        (effect(selected, False), effect(selected, True)) if invalid else None,
        of((first, _cue_effect(four, False)) for first, four in valid),
        of((first, None in four) for first, four in selected),
        stuck_side(cells),
    )


def _cue_effect(four: Sequence[float | None], favours: bool) -> float:
    """Return a pair's score in the cells x, y, x21, y21, with every invalid verdict for the cue's effect or against."""
    x, y, x21, y21 = (share if share is not None else (cell % 2 == 0) is favours for cell, share in enumerate(four))
    return (x - y + x21 - y21) / 2


def decide_four_cells(measured: FourCells | None, pairs: int, gate: GateTable) -> Decision:
    """Return the decision on a cue's effect with the order balanced out: within the tolerance, or beyond it.

    A PASS holds with every invalid verdict at worst, too.
    """
    invalid = pairs if measured is None else measured.invalid_pairs
    excess = too_many_invalid(invalid, pairs, gate, measured.invalid if measured else None)
    if measured is None or excess:
        reason = f"{invalid} of {pairs} pairs have an invalid verdict in one of four cells, {excess or 'ERROR'}"
        return Decision.of(Status.ERROR, gate.vsr_tolerance, reason, part="invalid")
    status, enough = Status.INCONCLUSIVE, decides(measured.shift)
    if enough and -gate.vsr_tolerance < measured.cue.low and measured.cue.high < gate.vsr_tolerance:
        status = Status.PASS
    elif enough and (measured.cue.low > gate.vsr_tolerance or measured.cue.high < -gate.vsr_tolerance):
        status = Status.FAIL
    settles = ""
    part = "effect"
    if status is Status.INCONCLUSIVE:
        needed = pairs_for_mean(measured.cue, gate.vsr_tolerance)
        settles = f"; {advice(needed, measured.cue.n, 'tolerance', measured.shift)}"
    if status is Status.PASS and measured.worst and (doubt := doubt_of(*measured.worst, invalid, gate)):
        status, settles, part = Status.INCONCLUSIVE, f"; {doubt}", "invalid"
    if status is Status.PASS and (doubt := stuck_reason(measured.stuck)):
        status, settles, part = Status.INCONCLUSIVE, f"; {doubt}", "stuck"
    shown = f"VSR {describe(measured.cue)}{counted(measured.cue.n, measured.shift)}"
    reasons = (
        f"cue effect over both orders: {shown}, tolerance {bare(gate.vsr_tolerance)}: {status}{settles}",
        f"position effect: first chosen {describe(measured.position)} more often than half",
    )
    return Decision.of(status, gate.vsr_tolerance, *reasons, part=part)


@lru_cache(maxsize=256)
def smallest_n_of_cells(tolerance: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs at which a four-cell contrast in which nothing moves PASSes; with fewer nothing can.

    >>> smallest_n_of_cells(0.15)
    15
    """
    check_open(tolerance, "tolerance")
    check_alpha(alpha)
    return fewest(lambda n: mean_interval([0.0] * n, 1 - 2 * alpha).high < tolerance)


def _largest(rows: Sequence[FourCellRow]) -> str:
    """Return what came of contrasts that pass, by the largest of them."""
    effects = [(row, row.cue_effect) for row in rows if row.cue_effect]
    row, found = max(effects, key=lambda each: abs(each[1].value))
    of = f" (the largest of {len(rows)})" if len(rows) > 1 else ""
    return (
        f"PASS: {row.judge}: with the responses in both orders labels shift its verdicts no more either: "
        f"{row.contrast} on {row.dataset} {describe(found)}, at most "
        f"{bare(row.tolerance)} allowed{of}"
    )


def _tell_four_cells(report: Row, view: View) -> list[str]:
    rows = FOUR_CELLS.read_records(report)
    passed = [] if view.verbose else [r for r in rows if r.status == Status.PASS and not r.waived and r.cue_effect]
    lines = [
        _largest([row for row in passed if row.judge == judge]) for judge in dict.fromkeys(row.judge for row in passed)
    ]
    shown = [row for row in rows if row not in passed and (view.verbose or not is_of_control(row.decided_by))]
    for row, *others in _alike(shown, view):
        by = f"WAIVED by {w.owner} until {w.expires} ({w.reason}): " if (w := row.waived) else ""
        more = f" ({len(others)} more are {row.status}: -v tells each)" if others else ""
        lines += ["", f"{row.judge} {row.dataset} {row.contrast}: {by}{row.message}{more}"]
    return lines


def _alike(rows: Sequence[FourCellRow], view: View) -> list[list[FourCellRow]]:
    """Return rows with those of a judge that came to the same together, the largest effect first; waived ones alone."""
    groups: dict[tuple[object, ...], list[FourCellRow]] = {}
    for number, row in enumerate(rows):
        itself = [number] if row.waived or view.verbose else []
        parts = tuple(part.part for part in row.decided_by)
        groups.setdefault((row.judge, row.status, parts, *itself), []).append(row)
    return [
        sorted(each, key=lambda row: -abs(row.cue_effect.value) if row.cue_effect else 0.0) for each in groups.values()
    ]


ROWS = in_order(FourCellRow, "judge", "dataset", "contrast")
FOUR_CELLS = Section("four_cells", FourCellRow, ROWS, _tell_four_cells, title="cues in both orders")
