"""Four-cell check: a cue in both orders, to separate cue and position."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.metrics.contrast_metrics import cluster_scores, constant_side, outcome_share
from judgefixtures.metrics.invalid_limit import describe_too_many_invalid
from judgefixtures.models.check_rows import FourCellRow
from judgefixtures.models.findings import Finding, Row, cluster_count, decided_by_control
from judgefixtures.models.judgments import Choice, Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm
from judgefixtures.statistics.clusters import ClusterTotals, describe_clusters
from judgefixtures.statistics.elementary import check_alpha
from judgefixtures.statistics.estimate import Estimate, Status, format_estimate, format_share
from judgefixtures.statistics.gates import inconclusive_advice, pairs_for_mean, settled
from judgefixtures.statistics.power import smallest_passing_n
from judgefixtures.statistics.proportions import mean_interval

from .base import Answers, CheckInput, ContrastCheckBase, GateDecision, SampleRequirement
from .contrast import contrast_requirement
from .contrast_gate import describe_doubt, stuck_reason
from .look_levels import gate_at_last_look
from .messages import MESSAGES
from .sections import DisplayOptions, Section, sorted_section_rows


@dataclass(frozen=True, slots=True)
class FourCellCheck(ContrastCheckBase):
    """Check that the cue's effect, balanced over orders, is within tolerance."""

    kind: ClassVar[str] = "four-cells"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Both conditions in both orders."""
        return self.contrast.cells

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the pairs that a judge without moves needs."""
        gate = config.gate(self.family)
        at_least = min_pairs_for_four_cells(gate.vsr_tolerance, gate_at_last_look(gate, pairs).alpha)
        return contrast_requirement(self.contrast, dataset, pairs, at_least, gate)

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of the four cells."""
        gate = self.gate_at_look(case)
        measured = measure_four_cells(answers[0].arms, gate.confidence)
        decision = self.decision_at_look(case, decide_four_cells(measured, len(case.pairs), gate))
        row = FourCellRow.from_sources(
            decision,
            measured,
            judge=case.judge.name,
            dataset=case.dataset,
            contrast=self.name,
            clusters=cluster_count(measured.shift if measured else None),
            look=case.look and case.look.pairs,
        )
        title = f"{case.judge.name} on {case.dataset}: {self.name} is {decision.status}"
        diagnosis = (title, *(f"  {reason}" for reason in decision.reasons))
        return self.decided(case, decision, row, diagnosis=diagnosis, estimate=row.cue_effect)

    def is_open(self, finding: Finding) -> bool:
        """Return whether it is undecided."""
        return finding.status is Status.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class FourCellMeasurement:
    """A cue contrast asked in both orders: what the cue does and what the position does, apart from each other.

    `cue_effect` is VSR averaged over the orders; `position_effect` is P(chose what stood first) - 1/2 over all four
    cells, in which cue and content cancel. n counts pairs with four valid verdicts. `shift` is the cue's effect by
    cluster, and `invalid` the invalid pairs, where pairs are related.
    """

    cue_effect: Estimate
    position_effect: Estimate
    invalid_pairs: int
    worst: tuple[Estimate, Estimate] | None = None  # the cue's effect, all invalid verdicts against it, or all for it
    shift: ClusterTotals | None = None
    invalid: ClusterTotals | None = None
    stuck: Choice | None = None  # what was said in nearly all of every cell


def measure_four_cells(cells: Sequence[Sequence[Judgment]], confidence: float = 0.90) -> FourCellMeasurement | None:
    """Return cue and position effect from arms x, y and the same in the reverse order; None without valid pairs.

    The pair is the unit: its score is the mean over its cells. Where pairs share a cluster, that is the unit. Source:
    docs/explanation/measures.md.
    """
    selected = [(four[0], [outcome_share(each, "chose-first") for each in four]) for four in zip(*cells, strict=True)]
    valid = [(first, four) for first, four in selected if None not in four]
    if not valid:
        return None
    of = cluster_scores(cells[0])

    def mean(scored: Sequence[tuple[Judgment, float]], half_range: float) -> Estimate:
        scores = [score for _, score in scored]
        return mean_interval(scores, confidence, half_range, totals=of(scored))

    def effect(members: Sequence[tuple[Judgment, Sequence[float | None]]], favours: bool) -> Estimate:
        return mean([(first, _cue_effect(four, favours)) for first, four in members], 1.0)

    cue, invalid = effect(valid, False), len(selected) - len(valid)
    position = mean([(first, sum(filter(None, four)) / 4 - 0.5) for first, four in valid], 0.5)
    return FourCellMeasurement(
        cue,
        position,
        invalid,
        (effect(selected, False), effect(selected, True)) if invalid else None,
        of((first, _cue_effect(four, False)) for first, four in valid),
        of((first, None in four) for first, four in selected),
        constant_side(cells),
    )


def _cue_effect(four: Sequence[float | None], favours: bool) -> float:
    x, y, x21, y21 = (share if share is not None else (cell % 2 == 0) is favours for cell, share in enumerate(four))
    return (x - y + x21 - y21) / 2


def decide_four_cells(measured: FourCellMeasurement | None, pairs: int, gate: GateTable) -> GateDecision:
    """Return the decision on a cue's balanced effect.

    A PASS holds for any value of invalid verdicts.
    """
    invalid = pairs if measured is None else measured.invalid_pairs
    excess = describe_too_many_invalid(invalid, pairs, gate, measured.invalid if measured else None)
    if measured is None or excess:
        reason = f"{invalid} of {pairs} pairs have an invalid verdict in one of the four cells, {excess or 'ERROR'}"
        return GateDecision.of(Status.ERROR, gate.vsr_tolerance, reason, part="invalid")
    cue, tolerance, settles, part = measured.cue_effect, gate.vsr_tolerance, "", "effect"
    within, beyond = -tolerance < cue.low and cue.high < tolerance, cue.low > tolerance or cue.high < -tolerance
    status = settled(within, beyond, measured.shift)
    if status is Status.INCONCLUSIVE:
        needed = pairs_for_mean(cue, tolerance)
        settles = f"; {inconclusive_advice(needed, cue.n, 'limit', measured.shift)}"
    if status is Status.PASS and measured.worst and (doubt := describe_doubt(*measured.worst, invalid, gate)):
        status, settles, part = Status.INCONCLUSIVE, f"; {doubt}", "invalid"
    if status is Status.PASS and (doubt := stuck_reason(measured.stuck)):
        status, settles, part = Status.INCONCLUSIVE, f"; {doubt}", "stuck"
    text = f"VSR {format_estimate(cue)}{describe_clusters(cue.n, measured.shift)}"
    reasons = (
        f"cue effect over both orders: {text}, limit {format_share(tolerance)}: {status}{settles}",
        f"position effect: first response chosen {format_estimate(measured.position_effect)} more often than half",
    )
    return GateDecision.of(status, tolerance, *reasons, part=part)


@lru_cache(maxsize=256)
def min_pairs_for_four_cells(tolerance: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs at which unmoved verdicts can PASS.

    >>> min_pairs_for_four_cells(0.15)
    15
    """
    check_alpha(alpha, tolerance=tolerance)
    return smallest_passing_n(lambda n: mean_interval([0.0] * n, 1 - 2 * alpha).high < tolerance)


def _largest(rows: Sequence[FourCellRow]) -> str:
    row = max(rows, key=lambda row: abs(row.cue_effect.value) if row.cue_effect else 0.0)
    return MESSAGES.four_cells_passed(row, rows)


def _tell_four_cells(report: Row, _view: DisplayOptions) -> list[str]:
    rows = FOUR_CELLS.read_records(report)
    passed = [row for row in rows if row.status == Status.PASS and not row.waived and row.cue_effect]
    judges = dict.fromkeys(row.judge for row in passed)
    lines = [_largest([row for row in passed if row.judge == judge]) for judge in judges]
    shown = [row for row in rows if row not in passed and not decided_by_control(row.decided_by)]
    return [*lines, *MESSAGES.lines("four_cells", _alike(shown))]


def _alike(rows: Sequence[FourCellRow]) -> list[list[FourCellRow]]:
    groups: dict[tuple[object, ...], list[FourCellRow]] = {}
    for number, row in enumerate(rows):
        itself = [number] if row.waived else []
        parts = tuple(part.part for part in row.decided_by)
        groups.setdefault((row.judge, row.status, parts, *itself), []).append(row)
    return [
        sorted(each, key=lambda row: -abs(row.cue_effect.value) if row.cue_effect else 0.0) for each in groups.values()
    ]


ROWS = sorted_section_rows(FourCellRow, "judge", "dataset", "contrast")
FOUR_CELLS = Section("four_cells", FourCellRow, ROWS, _tell_four_cells, title="cues in both orders")
