"""Decision on a swap: families decide, and guards check single contrasts.

A family's contrasts are pooled per pair, so that a few pairs suffice for its margin. A single contrast on one dataset
gets the margin that its number of pairs supports. APPROVE is an intersection-union test: every component must PASS at
its own level (Berger 1982). REJECT is adjusted for the number of tests that can reject (Bonferroni, in two halves), and
lists the components that Holm's procedure rejects. docs/explanation/swap.md names the limits of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import Any

from judgefixtures.config import SwapTable
from judgefixtures.models.swap_rows import ComponentKind, ComponentRole, ComponentRow, DecisionRow, SwapStatus
from judgefixtures.models.vocabulary import Vocabulary
from judgefixtures.statistics.alpha_spending import LookLevels, fixed_design_levels
from judgefixtures.statistics.clusters import can_decide
from judgefixtures.statistics.elementary import upper_tail, z_quantile
from judgefixtures.statistics.estimate import Estimate, Status

from .cells import CellMoves, Clusters, Flips, SwapAccuracy, SwapContrast
from .margins import SampleDemand, dataset_margin, guard_margin, pairs_at, pairs_for_equals
from .per_pair import PairScoreCounts
from .pooling import RATES, SwapData, shift_sizes
from .sentences import SHIFTS, approval_text, component_line, component_title
from .worse_direction import fault_signs, worse_by

NEVER_REJECTS: tuple[ComponentKind, ...] = ("invalid",)


def decide_swap(
    cells: Sequence[SwapContrast],
    accuracies: Sequence[SwapAccuracy],
    swap: SwapTable,
    *,
    alpha: float = 0.05,
    missing: Sequence[str] = (),
    baseline_flips: Flips = None,
    clusters: Clusters = None,
) -> DecisionRow:
    """Return whether a candidate may replace its baseline.

    Results do not depend on input order. A pass rate alone never approves.

    Args:
        cells: The compared contrasts; empty ones count as planned.
        accuracies: The datasets with gold.
        swap: The margins, as shares of pairs.
        alpha: Level of each PASS test, and of all REJECT tests together.
        missing: Names of required, uncompared parts.
        baseline_flips: Share of pairs that differ between baseline repeats, or by dataset.
        clusters: Cluster by (dataset, id) of related pairs.

    Raises:
        ValueError: alpha outside (0, 0.5), duplicate cells or datasets, or a family of several kinds.

    >>> right = SwapAccuracy("qa", [str(n) for n in range(100)], [1.0] * 100, [1.0] * 100)
    >>> decide_swap([], [right], SwapTable()).status.value
    'APPROVE'
    """
    return decide_swap_at_levels(fixed_design_levels(alpha), cells, accuracies, swap, missing, baseline_flips, clusters)


def decide_swap_at_levels(
    levels: LookLevels,
    cells: Sequence[SwapContrast],
    accuracies: Sequence[SwapAccuracy],
    swap: SwapTable,
    missing: Sequence[str] = (),
    baseline_flips: Flips = None,
    clusters: Clusters = None,
    intervals: bool = True,
) -> DecisionRow:
    """Return the decision of `decide_swap` at the levels of one look."""
    if not 0 < levels.alpha < 0.5:
        raise ValueError(f"alpha must lie between 0 and 0.5, both excluded, got {levels.alpha!r}")
    pool = SwapData(
        tuple(sorted(cells, key=lambda cell: (cell.family, cell.contrast, cell.dataset))),
        tuple(sorted(accuracies, key=lambda accuracy: accuracy.dataset)),
        clusters,
    )
    return _Comparison(levels, pool, swap, tuple(missing), baseline_flips, intervals=intervals).decision()


def guards(
    part: SwapContrast | SwapAccuracy,
    cells: int,
    swap: SwapTable,
    *,
    alpha: float = 0.05,
    baseline_flips: Flips = None,
    clusters: Clusters = None,
) -> tuple[tuple[ComponentRow, ...], tuple[str, ...]]:
    """Return one cell's or dataset's guards, and why it was not compared.

    Unlike in `decide_swap`, this dataset alone gives the baseline's direction.

    >>> right = SwapAccuracy("qa", [str(n) for n in range(100)], [1.0] * 100, [1.0] * 100)
    >>> [(each.kind, each.margin, each.status.value) for each in guards(right, 0, SwapTable())[0]]
    [('accuracy', 0.1, 'PASS')]
    """
    pool = SwapData((part,), (), clusters) if isinstance(part, SwapContrast) else SwapData((), (part,), clusters)
    comparison = _Comparison(fixed_design_levels(alpha), pool, swap, (), baseline_flips, max(cells, 1))
    tested = comparison.of_cells() if isinstance(part, SwapContrast) else comparison.of_accuracy(part)
    return tuple(each.component for each in tested), tuple(pool.not_compared())


@dataclass(frozen=True, slots=True)
class _TestedComponent:
    component: ComponentRow
    scores: PairScoreCounts
    margin_at: Callable[[int], float]
    beyond: PairScoreCounts  # what its FAIL comes of
    words: Vocabulary
    hangs: bool = False  # on reasons that could not be read: more pairs settle nothing

    def failed(self, numbers: Mapping[str, Any]) -> _TestedComponent:
        component = replace(self.component, status=Status.FAIL, **numbers)
        return replace(self, component=replace(component, message=component_line(component, self.scores, self.words)))


Tested = list[_TestedComponent]


@dataclass(frozen=True)
class _Comparison:
    levels: LookLevels
    pool: SwapData
    swap: SwapTable
    missing: tuple[str, ...]
    baseline_flips: Flips
    planned_cells: int | None = None  # of the whole swap, where these are a part of it
    intervals: bool = True  # they are shown and decide nothing

    # --- components ---------------------------------------------------------------------------------------

    @cached_property
    def tested(self) -> tuple[_TestedComponent, ...]:
        known = self.pool.known
        datasets = map(self.of_dataset, known if len(known) > 1 else ())
        return (*self.of_families(), *self.of_all_pairs(), *self.of_cells(), *datasets, *self.of_rates())

    def of_families(self) -> Tested:
        tested = [
            self.of_family(kind, family, moves)
            for kind in SHIFTS
            for family, moves in self.pool.families().items()
            if kind == "abs-vsr" or moves[0].cell.kind == "cue"
        ]
        return self.at_worst(tested, [each.of_families() for each in self.extremes])

    def of_cells(self) -> Tested:
        tested = [
            self.of_cell(kind, each)
            for kind in SHIFTS
            for each in self.pool.compared
            if kind == "abs-vsr" or each.cell.kind == "cue"
        ]
        return self.at_worst(tested, [each.of_cells() for each in self.extremes])

    @cached_property
    def extremes(self) -> tuple[_Comparison, ...]:
        pools = (replace(self.pool, cells=cells) for cells in self.pool.at_worst())
        return tuple(replace(self, pool=pool, intervals=False) for pool in pools)

    def at_worst(self, tested: Tested, extremes: Sequence[Tested]) -> Tested:
        return [self.hanging(own, rest) for own, *rest in zip(tested, *extremes, strict=True)] if extremes else tested

    def hanging(self, own: _TestedComponent, others: Sequence[_TestedComponent]) -> _TestedComponent:
        if own.component.kind != "unadmitted-shift":
            return own
        every = [own.component, *(each.component for each in others)]
        z, p_fail = min(each.z for each in every), max(each.p_fail for each in every)
        status = self.status(z, p_fail)
        component = replace(own.component, z=z, p_pass=upper_tail(z), p_fail=p_fail, status=status)
        if status is own.component.status and len({each.status for each in every}) == 1:
            return replace(own, component=component)
        message = component_line(replace(component, status=Status.INCONCLUSIVE), own.scores, own.words, hangs=True)
        return replace(own, component=replace(component, status=Status.INCONCLUSIVE, message=message), hangs=True)

    def of_family(self, kind: ComponentKind, family: str, moves: list[CellMoves]) -> _TestedComponent:
        declared = self.pool.declared(kind, moves)
        ours, theirs = (list(each) for each in zip(*(_seen_signs(kind, each) for each in moves), strict=True))
        passing = self.pool.pooled(kind, moves, ours, [declared[each.cell.contrast] for each in moves])
        signs = (1,) if moves[0].cell.kind == "edit" else (1, -1)
        failing = [self.pool.pooled(kind, moves, [sign] * len(moves), theirs) for sign in signs]
        excess = sum(each.excess for each in moves) / len(moves)
        return self.test(kind, "primary", family, passing, failing, self.margin_of(kind), excess=excess)

    def of_cell(self, kind: ComponentKind, moves: CellMoves) -> _TestedComponent:
        cell, pool = moves.cell, self.pool
        siblings = [each for each in pool.compared if each.cell.contrast == cell.contrast]
        ours, theirs = _seen_signs(kind, moves)
        passing = pool.pooled(kind, [moves], [ours], [pool.declared(kind, siblings)[cell.contrast]])
        failing, limit = [pool.pooled(kind, [moves], [ours], [theirs])], self.margin_of(kind)
        margin_at, excess = partial(self.guard, kind, cell), moves.excess
        tested = self.test(kind, "guard", cell.id, passing, failing, margin_at(pool.pairs), excess=excess, limit=limit)
        return replace(tested, margin_at=margin_at)

    def of_all_pairs(self) -> Tested:
        known, swap = self.pool.known, self.swap
        tested: list[tuple[ComponentKind, PairScoreCounts | None, float]] = [
            ("accuracy", self.pool.right(known) if known else None, swap.accuracy_margin),
            ("pass-rate", self.pool.passes(), swap.pass_rate_margin),
            ("flip-rate", self.pool.flips(), swap.flip_margin),
            ("invalid", self.pool.invalid(), swap.invalid_margin),
        ]
        return [self.test(kind, "primary", "", each, [each], margin) for kind, each, margin in tested if each]

    def of_rates(self) -> Tested:
        margin, telling = self.swap.rate_margin, self.pool.telling
        tested = {
            kind: self.pool.right(telling, (label,))
            for kind, label in RATES.items()
            if any(each.labelled(label) for each in telling)
        }
        return [self.test(kind, "guard", "", each, [each], margin) for kind, each in tested.items()]

    def of_accuracy(self, accuracy: SwapAccuracy) -> Tested:
        tested = [self.of_dataset(accuracy)] if accuracy.is_known else []
        rate = [each for each in self.of_all_pairs() if each.component.kind == "pass-rate"]
        return [*tested, *rate, *self.of_rates()]

    def of_dataset(self, accuracy: SwapAccuracy) -> _TestedComponent:
        scores, margin = self.pool.right([accuracy]), dataset_margin(self.swap)
        limit = self.swap.accuracy_margin
        return self.test("accuracy", "guard", accuracy.dataset, scores, [scores], margin, limit=limit)

    def margin_of(self, kind: ComponentKind) -> float:
        return self.swap.vsr_margin if kind == "abs-vsr" else self.swap.silent_margin

    def guard(self, kind: ComponentKind, cell: SwapContrast, pairs: int) -> float:
        size = max(round(len(cell.pairs) * pairs / self.pool.pairs), 1)
        flips, margin = self.baseline_flips, self.margin_of(kind)
        own_flips = flips.get(cell.dataset) if isinstance(flips, Mapping) else flips
        cells, alpha = self.planned_cells or len(self.pool.cells), self.levels.alpha
        return guard_margin(size, cells, self.swap, margin=margin, baseline_flips=own_flips, alpha=alpha)

    # --- tests --------------------------------------------------------------------------------------------

    def test(
        self,
        kind: ComponentKind,
        role: ComponentRole,
        name: str,
        passing: PairScoreCounts,
        failing: Sequence[PairScoreCounts],
        margin: float,
        *,
        excess: float = 0.0,
        limit: float | None = None,
    ) -> _TestedComponent:
        limit, ways = margin if limit is None else limit, fault_signs(kind)
        z = min(0.0 - worse * passing.z(worse * (margin - excess)) for worse in ways)
        tests = [(worse * scores.z(worse * limit), scores) for scores in failing for worse in ways]
        z_fail, beyond = max(tests, key=itemgetter(0))
        p_fail = upper_tail(z_fail)
        status = self.status(z, p_fail)
        numbers = self.shown(kind, beyond if status is Status.FAIL else passing)
        component = ComponentRow(
            kind=kind,
            role=role,
            name=name,
            margin=margin,
            z=z,
            p_pass=upper_tail(z),
            p_fail=p_fail,
            status=status,
            message="",
            excess=round(excess, 12),
            fail_margin=limit,
            **numbers,
        )
        component = replace(component, message=component_line(component, passing, self.pool.words))
        return _TestedComponent(component, passing, lambda _: margin, beyond, self.pool.words)

    def status(self, z: float, p_fail: float) -> Status:
        if z > self.levels.z_pass:
            return Status.PASS
        return Status.FAIL if p_fail < self.levels.alpha else Status.INCONCLUSIVE

    def shown(self, kind: ComponentKind, scores: PairScoreCounts) -> Mapping[str, Any]:
        confidence = 1 - 2 * self.levels.interval_level
        if not self.intervals:
            return asdict(Estimate(scores.mean, scores.mean, scores.mean, confidence, scores.n))
        assert scores.sides is not None
        alone = [each.interval(confidence) if kind in SHIFTS else each.share(confidence) for each in scores.sides()]
        return {**asdict(scores.interval(confidence)), "judge": alone[0], "baseline": alone[1]}

    # --- the decision -------------------------------------------------------------------------------------

    def decision(self) -> DecisionRow:
        components = tuple(each.component for each in self.tested)
        guards = [c.margin for c in components if c.role == "guard" and c.kind in SHIFTS]
        guard = max(guards, default=None)
        if rejecting := self.rejecting():
            numbers = [self.shown(each.component.kind, each.beyond) for each in rejecting]
            failed = {each.component: each.failed(of).component for each, of in zip(rejecting, numbers, strict=True)}
            demonstrated = tuple(component.message for component in failed.values())
            components = tuple(failed.get(component, component) for component in components)
            return DecisionRow(
                status=SwapStatus.REJECT, reasons=demonstrated, components=components, guard_margin=guard
            )
        open_ones = [each for each in self.tested if each.component.status is not Status.PASS]
        not_compared = self.pool.not_compared(self.missing)
        if {each.kind for each in components} == {"pass-rate"}:
            not_compared.append("only the pass rate was compared, which does not show which judge is right")
        if components and not open_ones and not not_compared:
            lines = approval_text(self.swap, {each.kind for each in components}, self.pool, guard)
            return DecisionRow(
                status=SwapStatus.APPROVE, reasons=(*lines, *self.unknown()), components=components, guard_margin=guard
            )
        if not components:
            not_compared.append("nothing was compared")
        undecided = any(each.hangs or not can_decide(each.scores.totals) for each in self.tested)
        needed = self.needed() if open_ones and not not_compared and not undecided else None
        open_ones.sort(key=lambda each: (each.component.role != "primary", each.component.z))
        reasons = [*not_compared, *(each.component.message for each in open_ones), *self.advice(open_ones, needed)]
        return DecisionRow(
            reasons=(*reasons, *self.unknown()), components=components, guard_margin=guard, needed_pairs=needed
        )

    def rejecting(self) -> Tested:
        may = [each for each in self.tested if each.component.kind not in NEVER_REJECTS]
        rejected: Tested = []
        for role in ("primary", "guard"):
            half = sorted((each for each in may if each.component.role == role), key=lambda each: each.component.p_fail)
            left = self.planned(role)
            for each in half:
                if each.component.p_fail >= self.levels.reject(left):
                    break
                rejected.append(each)
                left -= 1
        return rejected

    def planned(self, role: str) -> int:
        cells, accuracies = self.pool.cells, self.pool.accuracies
        cues = [cell for cell in cells if cell.kind == "cue"]
        if role == "guard":
            rates = sum(self.pool.labelled[label] > 0 for label in RATES.values())
            return len(cells) + len(cues) + (len(accuracies) if len(accuracies) > 1 else 0) + rates
        families = len({cell.family for cell in cells}) + len({cell.family for cell in cues})
        of_accuracies = bool(accuracies) + self.pool.is_graded
        return families + of_accuracies + any(cell.kind != "edit" for cell in cells)

    def unknown(self) -> list[str]:
        if not any(self.pool.sizes):
            return []
        reasons = []
        if not self.pool.cells:
            quantities = f"abs(VSR), unadmitted shift, flip rate and invalid {self.pool.words.said}"
            reasons.append(f"no contrasts were compared: {quantities} are unknown")
        if self.pool.golden and not self.pool.known:
            reasons.append("accuracy, TPR and TNR: NOT_APPLICABLE, no example has a label")
        elif not self.pool.accuracies:
            reasons.append("accuracy: NOT_APPLICABLE, no pair has gold")
        return reasons

    # --- what would settle it -----------------------------------------------------------------------------

    def needed(self) -> int | None:
        # Where nobody admits the unadmitted shift is the shift: it is not multiplied in a second time.
        demands = [
            SampleDemand(each.margin_at, each.scores.deviation, each.scores.n / self.pool.pairs, len(fault_signs(kind)))
            for each in self.tested
            if (kind := each.component.kind) != "unadmitted-shift"
        ]
        return pairs_for_equals(demands, self.pool.pairs, z_quantile(1 - self.levels.alpha))

    def advice(self, open_ones: Sequence[_TestedComponent], needed: int | None) -> list[str]:
        if needed is None:
            return []
        more, many = "" if needed > self.pool.pairs else ", but not in this run", self.pool.words.many
        sentences = [f"if the judges are equal, use about {needed} {many} per dataset to approve (80% power){more}"]
        wants = [(self.pairs_as_seen(each), component_title(each.component, each.words)) for each in open_ones]
        settled = [(pairs, title) for pairs, title in wants if pairs is not None]
        if len(settled) == len(wants):
            pairs, title = max(settled, key=itemgetter(0))
            sentences += [f"if the difference stays the same, {title} needs about {pairs} {many} per dataset"]
        return sentences

    def pairs_as_seen(self, each: _TestedComponent) -> int | None:
        component, scores = each.component, each.scores
        difference = worse_by(component.kind, scores.mean)
        margin, z_pass = component.margin - component.excess, z_quantile(1 - self.levels.alpha)
        return pairs_at(difference, margin, scores.deviation, scores.n / self.pool.pairs, z_pass)


def _seen_signs(kind: ComponentKind, moves: CellMoves) -> tuple[int, int]:
    both = shift_sizes(moves, kind)
    edited = moves.cell.kind == "edit"
    ours, theirs = (1 if edited or each.sum() >= 0 else -1 for each in (both.candidate, both.baseline))
    return ours, theirs
