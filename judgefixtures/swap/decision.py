"""The decision on a swap: families decide, single contrasts guard.

A family's contrasts are pooled per pair, so that its margin can be tested with few pairs; a single contrast on one
dataset gets the margin that the number of pairs can carry. APPROVE is an intersection-union: every component has to
PASS, each at its own level (Berger 1982). REJECT is adjusted for how many tests may reject (Bonferroni, in two halves),
and names those that Holm's procedure rejects. docs/swap.md says what the rule gives up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from judgefixtures.config import SwapTable
from judgefixtures.numbers.statistics import Estimate, Status, advice, bare, decides, describe, several
from judgefixtures.swap.cells import Both, Clusters, Flips, Moves, PairKey, SwapAccuracy, SwapCell, numbered, read
from judgefixtures.swap.components import Component, Kind, Role, SwapDecision, SwapStatus
from judgefixtures.swap.levels import Levels, once, quantile, tail
from judgefixtures.swap.margins import Demand, guard_margin, pairs_at, pairs_for_equals
from judgefixtures.swap.points import Labels, Scores

if TYPE_CHECKING:
    from judgefixtures.swap.cells import Whole

FEWEST_COMPLETE = 20  # pairs of a cell; with fewer it was not compared
MOST_INVALID = 0.20  # the share of a cell's pairs beyond which it was not compared
DEMONSTRABLY = -2.576  # z at which a baseline is taken to move against the declared direction: 1% two-sided
LARGEST_DATASET_MARGIN = 0.10  # with .15, a judge that is 10 points worse on one dataset passes in .14 to .36

LABELS: dict[Kind, str] = {
    "abs-vsr": "abs(VSR)",
    "unadmitted-shift": "unadmitted shift",
    "accuracy": "accuracy",
    "flip-rate": "flip rate",
    "invalid": "invalid verdicts",
}
SHIFTS: tuple[Kind, ...] = ("abs-vsr", "unadmitted-shift")
NEVER_REJECTS: tuple[Kind, ...] = ("invalid",)


def decide_swap(
    cells: Sequence[SwapCell],
    accuracies: Sequence[SwapAccuracy],
    swap: SwapTable,
    *,
    alpha: float = 0.05,
    missing: Sequence[str] = (),
    baseline_flips: Flips = None,
    clusters: Clusters = None,
) -> SwapDecision:
    """Return whether a candidate may replace its baseline: APPROVE, REJECT or INCONCLUSIVE, never one by default.

    `cells` are the contrasts that both judges are compared in, `accuracies` the datasets with gold; without cells the
    accuracy decides alone, and the reasons say so. One without pairs was planned and not compared: it counts among what
    a REJECT and the guards' margins are planned for. `missing` names what else was required and not compared.
    Margins are those of `swap`, shares of pairs; `alpha` is the level of each test of a PASS and of all tests of a
    REJECT together.
    `baseline_flips` is the share of pairs on which repeats of the baseline differ, or that share by dataset, where
    there are repeats. `clusters` maps related pairs, as (dataset, id), to their cluster: where one has several pairs,
    clusters are the unit of every test.
    The order of cells, accuracies and pairs changes nothing. Raises ValueError for an alpha outside (0, .5), a cell or
    a dataset that comes twice, and a family of several kinds.

    >>> right = SwapAccuracy("qa", [str(n) for n in range(100)], [1.0] * 100, [1.0] * 100)
    >>> decide_swap([], [right], SwapTable()).status.value
    'APPROVE'
    """
    return decide_at(once(alpha), cells, accuracies, swap, missing, baseline_flips, clusters)


def decide_at(
    levels: Levels,
    cells: Sequence[SwapCell],
    accuracies: Sequence[SwapAccuracy],
    swap: SwapTable,
    missing: Sequence[str] = (),
    baseline_flips: Flips = None,
    clusters: Clusters = None,
    intervals: bool = True,
) -> SwapDecision:
    """Return what `decide_swap` does, at the levels of one look, with or without intervals."""
    if not 0 < levels.alpha < 0.5:
        raise ValueError(f"alpha must lie between 0 and 0.5, both excluded, got {levels.alpha!r}")
    cells = sorted(cells, key=lambda cell: (cell.family, cell.contrast, cell.dataset))
    accuracies = sorted(accuracies, key=lambda accuracy: accuracy.dataset)
    _check(cells, accuracies)
    comparison = _Comparison(
        levels, tuple(cells), tuple(accuracies), swap, tuple(missing), baseline_flips, clusters, intervals=intervals
    )
    return comparison.decision()


def guards(
    part: SwapCell | SwapAccuracy,
    cells: int,
    swap: SwapTable,
    *,
    alpha: float = 0.05,
    baseline_flips: Flips = None,
    clusters: Clusters = None,
) -> tuple[tuple[Component, ...], tuple[str, ...]]:
    """Return what guards one cell, or one dataset's accuracy, in a swap of so many cells, and why it was not compared.

    The components that `decide_swap` finds for it among all the others, but for one thing: whether a contrast moves the
    baseline against the declared direction is told by this dataset alone, not by all of them. So a baseline may be
    credited with less than in the decision, or with more, and an item may be open where the swap is approved.

    >>> right = SwapAccuracy("qa", [str(n) for n in range(100)], [1.0] * 100, [1.0] * 100)
    >>> [(each.kind, each.margin, each.status.value) for each in guards(right, 0, SwapTable())[0]]
    [('accuracy', 0.1, 'PASS')]
    """
    own: tuple[tuple[SwapCell, ...], tuple[SwapAccuracy, ...]] = (
        ((part,), ()) if isinstance(part, SwapCell) else ((), (part,))
    )
    comparison = _Comparison(once(alpha), *own, swap, (), baseline_flips, clusters, max(cells, 1))
    if isinstance(part, SwapAccuracy):
        return (comparison.of_accuracy("guard", part.dataset, [part], dataset_margin(swap)).component,), ()
    return tuple(each.component for each in comparison.of_cells()), tuple(comparison.not_compared)


def dataset_margin(swap: SwapTable) -> float:
    """Return by how much accuracy may be worse on a single dataset."""
    return max(swap.accuracy_margin, min(2 * swap.accuracy_margin, LARGEST_DATASET_MARGIN))


def _check(cells: Sequence[SwapCell], accuracies: Sequence[SwapAccuracy]) -> None:
    names = [cell.id for cell in cells]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"the cell {twice[0]} comes twice")
    datasets = [accuracy.dataset for accuracy in accuracies]
    if twice := sorted({name for name in datasets if datasets.count(name) > 1}):
        raise ValueError(f"accuracy on {twice[0]} comes twice")
    kinds: dict[str, str] = {}
    for cell in cells:
        if kinds.setdefault(cell.family, cell.kind) != cell.kind:
            raise ValueError(f"family {cell.family} has cells of kind {kinds[cell.family]} and of kind {cell.kind}")


@dataclass(frozen=True, slots=True)
class _Tested:
    """A component, and what the number of pairs is found from."""

    component: Component
    scores: Scores
    margin_at: Callable[[int], float]
    beyond: Scores  # what its FAIL comes of
    hangs: bool = False  # on reasons that could not be read: more pairs settle nothing

    def failed(self, estimate: Estimate) -> _Tested:
        """Return it as a FAIL: a guard may pass its own margin and be demonstrably beyond that of a family."""
        component = replace(self.component, status=Status.FAIL, estimate=estimate)
        return replace(self, component=replace(component, message=_message(component, self.scores)))


@dataclass(frozen=True)
class _Comparison:
    """Everything of one decision, sorted."""

    levels: Levels
    cells: tuple[SwapCell, ...]
    accuracies: tuple[SwapAccuracy, ...]
    swap: SwapTable
    missing: tuple[str, ...]
    baseline_flips: Flips
    clusters: Clusters
    planned_cells: int | None = None  # of the whole swap, where these are a part of it
    intervals: bool = True  # they are shown and decide nothing

    # --- what there is ------------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> dict[PairKey, int]:
        return numbered(self.cells, self.accuracies)

    @cached_property
    def labels(self) -> Labels:
        """The clusters' labels, one per row; None where no two pairs are related."""
        if self.clusters is None:
            return None
        found = [self.clusters.get(pair) for pair in self.rows]
        alone = [("", row) if label is None else ("related", label) for row, label in enumerate(found)]
        return alone if len(set(alone)) < len(alone) else None

    @cached_property
    def moves(self) -> tuple[Moves, ...]:
        return tuple(read(cell, self.rows) for cell in self.cells)

    @cached_property
    def compared(self) -> tuple[Moves, ...]:
        return tuple(moves for moves in self.moves if not _too_few(moves))

    @cached_property
    def pairs(self) -> int:
        """How many pairs of a dataset, at most."""
        return max(self.sizes, default=0)

    @property
    def sizes(self) -> list[int]:
        """How many pairs each part has."""
        return [*(len(cell.pairs) for cell in self.cells), *(len(accuracy.pairs) for accuracy in self.accuracies)]

    @property
    def not_compared(self) -> list[str]:
        """Why nothing can be approved: what is missing, and the cells that were asked about and say too little."""
        absent = [*self.missing, *(moves.cell.id for moves in self.moves if not moves.cell.pairs)]
        absent += [f"accuracy on {accuracy.dataset}" for accuracy in self.accuracies if not accuracy.pairs]
        lost = [
            f"{moves.cell.id}: was not compared: {why}"
            for moves in self.moves
            if moves.cell.pairs and (why := _too_few(moves))
        ]
        return [*(f"{name}: was not compared" for name in sorted(absent)), *lost]

    def families(self) -> dict[str, list[Moves]]:
        found: dict[str, list[Moves]] = defaultdict(list)
        for moves in self.compared:
            found[moves.cell.family].append(moves)
        return found

    # --- components ---------------------------------------------------------------------------------------

    @cached_property
    def tested(self) -> tuple[_Tested, ...]:
        """Every component, primaries first."""
        found = self.of_families()
        found += self.of_all_pairs()
        found += self.of_cells()
        if len(self.golden) > 1:
            found += [
                self.of_accuracy("guard", accuracy.dataset, [accuracy], dataset_margin(self.swap))
                for accuracy in self.golden
            ]
        return tuple(found)

    def of_families(self) -> list[_Tested]:
        """Return the components of all families."""
        found = [
            self.of_family(quantity, family, moves)
            for quantity in SHIFTS
            for family, moves in self.families().items()
            if quantity == "abs-vsr" or moves[0].cell.kind == "cue"
        ]
        return self.at_worst(found, [each.of_families() for each in self.extremes])

    def of_cells(self) -> list[_Tested]:
        """Return the components of all single cells."""
        found = [
            self.of_cell(quantity, each)
            for quantity in SHIFTS
            for each in self.compared
            if quantity == "abs-vsr" or each.cell.kind == "cue"
        ]
        return self.at_worst(found, [each.of_cells() for each in self.extremes])

    @cached_property
    def extremes(self) -> tuple[_Comparison, ...]:
        """The same with what could not be read as it may be read at worst; none where everything was read."""
        if not any(any((*cell.candidate_unread, *cell.baseline_unread)) for cell in self.cells):
            return ()
        return tuple(
            replace(self, cells=cells, intervals=False)
            for cells in zip(*(cell.at_worst() for cell in self.cells), strict=True)
        )

    def at_worst(self, found: list[_Tested], extremes: Sequence[list[_Tested]]) -> list[_Tested]:
        """Return components that PASS or FAIL only where they do so whatever the reasons say that could not be read."""
        return [self.hanging(own, others) for own, *others in zip(found, *extremes, strict=True)] if extremes else found

    def hanging(self, own: _Tested, others: Sequence[_Tested]) -> _Tested:
        """Return a component of admission as it is at worst, of a PASS and of a FAIL; any other as it is."""
        if own.component.kind != "unadmitted-shift":
            return own
        every = [own.component, *(each.component for each in others)]
        z, p_fail = min(each.z for each in every), max(each.p_fail for each in every)
        status = self.status(z, p_fail)
        component = replace(own.component, z=z, p_pass=tail(z), p_fail=p_fail, status=status)
        if status is own.component.status and len({each.status for each in every}) == 1:
            return replace(own, component=component)
        message = _message(replace(component, status=Status.INCONCLUSIVE), own.scores, hangs=True)
        return replace(own, component=replace(component, status=Status.INCONCLUSIVE, message=message), hangs=True)

    @cached_property
    def golden(self) -> tuple[SwapAccuracy, ...]:
        return tuple(accuracy for accuracy in self.accuracies if accuracy.pairs)

    def margin_of(self, kind: Kind) -> float:
        return self.swap.vsr_margin if kind == "abs-vsr" else self.swap.silent_margin

    def of_family(self, kind: Kind, family: str, moves: list[Moves]) -> _Tested:
        """Return the component of a family: every pair's mean over the contrasts in which it is complete."""
        contrasts = len({each.cell.contrast for each in moves})
        edit = moves[0].cell.kind == "edit"
        declared = self.declared(kind, moves)
        ours = [1 if edit else _sign(_both(each, kind).candidate) for each in moves]
        theirs = [1 if edit else _sign(_both(each, kind).baseline) for each in moves]
        passing = self.pooled(kind, moves, ours, [declared[each.cell.contrast] for each in moves], contrasts)
        signs = (1,) if edit else (1, -1)
        failing = [self.pooled(kind, moves, [sign] * len(moves), theirs, contrasts) for sign in signs]
        margin = self.margin_of(kind)
        excess = sum(each.excess for each in moves) / len(moves)
        return self.test(kind, "primary", family, passing, failing, margin, excess=excess)

    def of_cell(self, kind: Kind, moves: Moves) -> _Tested:
        """Return the component of a contrast on a dataset: PASS at the guard's margin, FAIL at the family's."""
        edit, both = moves.cell.kind == "edit", _both(moves, kind)
        siblings = [each for each in self.compared if each.cell.contrast == moves.cell.contrast]
        ours, theirs = (1 if edit else _sign(judge) for judge in (both.candidate, both.baseline))
        passing = self.pooled(kind, [moves], [ours], [self.declared(kind, siblings)[moves.cell.contrast]], 1)
        failing = self.pooled(kind, [moves], [ours], [theirs], 1)
        margin_at = partial(self.guard, kind, moves.cell)
        return self.test(
            kind,
            "guard",
            moves.cell.id,
            passing,
            [failing],
            margin_at(self.pairs),
            excess=moves.excess,
            fail_margin=self.margin_of(kind),
            margin_at=margin_at,
        )

    def guard(self, kind: Kind, cell: SwapCell, pairs: int) -> float:
        """Return the guard's margin of a cell if a dataset had so many pairs, and the cell as many more or fewer."""
        size = max(round(len(cell.pairs) * pairs / self.pairs), 1)
        flips = self.baseline_flips
        return guard_margin(
            size,
            self.planned_cells or len(self.cells),
            self.swap,
            margin=self.margin_of(kind),
            baseline_flips=flips.get(cell.dataset) if isinstance(flips, Mapping) else flips,
            alpha=self.levels.alpha,
        )

    def declared(self, kind: Kind, moves: Iterable[Moves]) -> dict[str, int]:
        """Return by contrast the direction along which the baseline counts: +1 unless it demonstrably goes the other.

        Never the one that is seen: that would flatter a noisy baseline. Whichever it is, the baseline's shift along it
        is at most its absolute shift, so that a PASS stays valid.
        """
        by_contrast: dict[str, list[Moves]] = defaultdict(list)
        for each in moves:
            by_contrast[each.cell.contrast].append(each)
        return {contrast: self.direction(kind, group) for contrast, group in by_contrast.items()}

    def direction(self, kind: Kind, group: list[Moves]) -> int:
        if group[0].cell.kind == "edit":
            return 1
        own = [each.own if kind == "abs-vsr" else each.own_unadmitted for each in group]
        if sum(int(moved.sum()) for moved in own) >= 0:
            return 1
        import numpy as np

        moved, rows = np.concatenate(own), np.concatenate([each.own_rows for each in group])
        z = Scores.of(moved.tolist(), [2] * len(rows), rows, self.labels).z(0.0)
        return -1 if z < DEMONSTRABLY else 1

    def pooled(self, kind: Kind, moves: list[Moves], ours: list[int], theirs: list[int], contrasts: int) -> Scores:
        """Return per pair the mean over cells of how much farther the candidate moved, each along its direction."""
        parts = []
        for each, s, t in zip(moves, ours, theirs, strict=True):
            both = _both(each, kind)
            parts.append((each.complete, s * both.candidate - t * both.baseline, 2))
        return self.averaged(parts, contrasts)

    def averaged(self, parts: Iterable[tuple[Whole, Whole, int]], contrasts: int) -> Scores:
        """Return per pair the mean of its parts, each the rows, their numbers, and what these are out of."""
        import numpy as np

        total, count = np.zeros(len(self.rows), dtype=np.int64), np.zeros(len(self.rows), dtype=np.int64)
        for rows, numbers, out_of in parts:
            total[rows] += numbers  # a cell has every pair once
            count[rows] += out_of
        rows = np.flatnonzero(count)
        return Scores.of(total[rows].tolist(), count[rows].tolist(), rows, self.labels, contrasts)

    def of_all_pairs(self) -> list[_Tested]:
        """Return accuracy, flip rate and invalid verdicts, each over all pairs of all datasets."""
        from numpy import sign

        found = []
        if self.golden:
            found.append(self.of_accuracy("primary", "", self.golden, self.swap.accuracy_margin))
        # To think less of an edited response is no fault, so that an edit's flips are none of this rate.
        flipping = [each for each in self.compared if each.cell.kind != "edit"]
        if flipping:
            parts = [
                (each.complete, abs(sign(each.shift.candidate)) - abs(sign(each.shift.baseline)), 1)
                for each in flipping
            ]
            scores = self.averaged(parts, len({each.cell.contrast for each in flipping}))
            found.append(self.test("flip-rate", "primary", "", scores, [scores], self.swap.flip_margin))
        if asked := [each for each in self.moves if each.cell.pairs]:
            parts = [(each.asked, each.invalid.candidate - each.invalid.baseline, 2) for each in asked]
            scores = self.averaged(parts, len({each.cell.contrast for each in asked}))
            found.append(self.test("invalid", "primary", "", scores, [scores], self.swap.invalid_margin))
        return found

    def of_accuracy(self, role: Role, name: str, accuracies: Sequence[SwapAccuracy], margin: float) -> _Tested:
        """Return the component of accuracy on datasets: how much less often the candidate is right."""
        import numpy as np

        parts = []
        for accuracy in accuracies:
            rows = np.array([self.rows[accuracy.dataset, pair] for pair in accuracy.pairs], dtype=np.int64)
            quarters = [round(4 * (c - b)) for c, b in zip(accuracy.candidate, accuracy.baseline, strict=True)]
            parts.append((rows, np.array(quarters, dtype=np.int64), 4))
        scores = self.averaged(parts, 1)
        return self.test("accuracy", role, name, scores, [scores], margin, fail_margin=self.swap.accuracy_margin)

    # --- tests --------------------------------------------------------------------------------------------

    def test(
        self,
        kind: Kind,
        role: Role,
        name: str,
        passing: Scores,
        failing: Sequence[Scores],
        margin: float,
        *,
        excess: float = 0.0,
        fail_margin: float | None = None,
        margin_at: Callable[[int], float] | None = None,
    ) -> _Tested:
        """Return a component: PASS from `passing` against margin - excess, FAIL from the best of `failing`."""
        worse = -1 if kind == "accuracy" else 1  # the sign of a difference that is a fault
        limit = margin if fail_margin is None else fail_margin
        z = 0.0 - worse * passing.z(worse * (margin - excess))
        z_fail, beyond = max(((worse * scores.z(worse * limit), scores) for scores in failing), key=_first)
        p_fail = tail(z_fail)
        status = self.status(z, p_fail)
        shown = beyond if status is Status.FAIL else passing
        estimate = self.estimate(shown)
        component = Component(
            kind, role, name, estimate, margin, z, tail(z), p_fail, status, "", round(excess, 12), limit
        )
        component = replace(component, message=_message(component, passing))
        return _Tested(component, passing, margin_at or (lambda _: margin), beyond)

    def status(self, z: float, p_fail: float) -> Status:
        """Return the status of a component by its two tests."""
        if z > self.levels.z_pass:
            return Status.PASS
        return Status.FAIL if p_fail < self.levels.alpha else Status.INCONCLUSIVE

    def estimate(self, scores: Scores) -> Estimate:
        """Return what is shown of scores: their mean, with the interval that agrees with the test of a PASS."""
        confidence = 1 - 2 * self.levels.shown
        if not self.intervals:
            return Estimate(scores.mean, scores.mean, scores.mean, confidence, scores.n)
        return scores.interval(confidence)

    # --- the decision -------------------------------------------------------------------------------------

    def decision(self) -> SwapDecision:
        components = tuple(each.component for each in self.tested)
        guards = [c.margin for c in components if c.role == "guard" and c.kind != "accuracy"]
        guard = max(guards, default=None)
        if rejecting := self.rejecting():
            failed = {each.component: each.failed(self.estimate(each.beyond)).component for each in rejecting}
            demonstrated = tuple(component.message for component in failed.values())
            components = tuple(failed.get(component, component) for component in components)
            return SwapDecision(SwapStatus.REJECT, demonstrated, components, guard)
        open_ones = [each for each in self.tested if each.component.status is not Status.PASS]
        not_compared = self.not_compared
        if components and not open_ones and not not_compared:
            return SwapDecision(SwapStatus.APPROVE, tuple(self.approving(guard)), components, guard)
        if not components:
            not_compared.append("nothing was compared")
        undecided = any(each.hangs or not decides(each.scores.totals) for each in self.tested)
        needed = self.needed() if open_ones and not not_compared and not undecided else None
        open_ones.sort(key=lambda each: (each.component.role != "primary", each.component.z))
        reasons = [*not_compared, *(each.component.message for each in open_ones), *self.advice(open_ones, needed)]
        return SwapDecision(SwapStatus.INCONCLUSIVE, (*reasons, *self.unknown()), components, guard, needed)

    def rejecting(self) -> list[_Tested]:
        """Return what demonstrably is beyond its margin, Holm's procedure in each half; primaries first."""
        may = [each for each in self.tested if each.component.kind not in NEVER_REJECTS]
        found: list[_Tested] = []
        for role in ("primary", "guard"):
            half = sorted((each for each in may if each.component.role == role), key=lambda each: each.component.p_fail)
            left = self.planned(role)
            for each in half:
                if each.component.p_fail >= self.levels.reject(left):
                    break
                found.append(each)
                left -= 1
        return found

    def planned(self, role: str) -> int:
        """Return how many tests may reject, as planned: what could not be compared counts as well."""
        cues = [cell for cell in self.cells if cell.kind == "cue"]
        if role == "guard":
            return len(self.cells) + len(cues) + (len(self.accuracies) if len(self.accuracies) > 1 else 0)
        families = len({cell.family for cell in self.cells}) + len({cell.family for cell in cues})
        return families + bool(self.accuracies) + any(cell.kind != "edit" for cell in self.cells)

    def approving(self, guard: float | None) -> list[str]:
        """Return what an APPROVE rules out, and what it does not."""
        swap, sizes = self.swap, sorted(set(self.sizes))
        pairs = f"{sizes[0]} pairs per dataset" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} pairs per dataset"
        margins = {"flip-rate": swap.flip_margin, "invalid": swap.invalid_margin, "accuracy": swap.accuracy_margin}
        tested = {each.component.kind for each in self.tested}
        rest = ", ".join(f"{LABELS[kind]} by {bare(margin)}" for kind, margin in margins.items() if kind in tested)
        if guard is None:
            return [f"not worse in {rest} or more ({pairs})", *self.unknown()]
        ruled_out = f"abs(VSR) by {bare(swap.vsr_margin)}"
        if "unadmitted-shift" in tested:
            ruled_out += f", unadmitted shift by {bare(swap.silent_margin)}"
        said = f"no family is worse in {ruled_out} or more, nor is {rest}"
        within = f"not ruled out: a single contrast on one dataset that is worse by less than {bare(guard)}"
        return [f"{said} ({pairs})", within, *self.unknown()]

    def unknown(self) -> list[str]:
        """Return what cannot be said at all."""
        if not any(self.sizes):
            return []
        if not self.cells:
            quantities = "abs(VSR), unadmitted shift, flip rate and invalid verdicts"
            return [f"no contrasts were compared, and so no cue: {quantities} are unknown"]
        return [] if self.accuracies else ["accuracy: NOT_APPLICABLE, no pair has gold"]

    # --- what would settle it -----------------------------------------------------------------------------

    def needed(self) -> int | None:
        """Return with how many pairs per dataset equal judges would be approved in 80%."""
        # Where nobody admits the unadmitted shift is the shift: it is not multiplied in a second time.
        demands = [
            Demand(each.margin_at, each.scores.deviation, each.scores.n / self.pairs)
            for each in self.tested
            if each.component.kind != "unadmitted-shift"
        ]
        return pairs_for_equals(demands, self.pairs, quantile(1 - self.levels.alpha))

    def advice(self, open_ones: Sequence[_Tested], needed: int | None) -> list[str]:
        """Return what more pairs would bring: if the judges are equal, and if they differ as was seen."""
        said = []
        if needed is not None:
            more = "" if needed > self.pairs else ", though not in this run"
            said.append(f"if the judges are equal, about {needed} pairs per dataset approve them (80% power){more}")
        wants = [(self.pairs_as_seen(each), each.component) for each in open_ones]
        settled = [(pairs, component) for pairs, component in wants if pairs is not None]
        if needed is not None and len(settled) == len(wants):
            pairs, component = max(settled, key=lambda want: want[0])
            said.append(
                f"if the difference stays as seen, about {pairs} pairs per dataset are needed for {_title(component)}"
            )
        return said

    def pairs_as_seen(self, each: _Tested) -> int | None:
        component, scores = each.component, each.scores
        difference = -scores.mean if component.kind == "accuracy" else scores.mean
        margin, z_pass = component.margin - component.excess, quantile(1 - self.levels.alpha)
        return pairs_at(difference, margin, scores.deviation, scores.n / self.pairs, z_pass)


def _first(pair: tuple[float, Scores]) -> float:
    return pair[0]


def _both(moves: Moves, kind: Kind) -> Both:
    return moves.shift if kind == "abs-vsr" else moves.unadmitted


def _sign(moved: Whole) -> int:
    """Return the direction that was seen: +1, also where there is none."""
    return 1 if moved.sum() >= 0 else -1


def _too_few(moves: Moves) -> str:
    """Return why a cell cannot be compared, or nothing."""
    if len(moves.complete) < FEWEST_COMPLETE:
        return f"{len(moves.complete)} pairs have valid verdicts of both judges, at least {FEWEST_COMPLETE} are needed"
    if moves.most_invalid > MOST_INVALID:
        return f"a judge's verdicts are invalid on {bare(moves.most_invalid)} of the pairs, above {bare(MOST_INVALID)}"
    return ""


def _title(component: Component) -> str:
    label = LABELS[component.kind]
    if component.kind == "accuracy":
        return f"accuracy on {component.name}" if component.name else label
    return f"{label} of {component.name}" if component.name else label


def _message(component: Component, passing: Scores, *, hangs: bool = False) -> str:
    """Return one line for a person: what was compared, the difference, its margin, and the status."""
    related = passing.totals
    pairs = f"{component.estimate.n} pairs" + (f" in {several(related.count, 'cluster')}" if related else "")
    limit = f"margin {bare(component.margin)}"
    if component.excess:
        limit += f", {bare(component.excess)} of it taken by verdicts that are invalid of the candidate alone"
    if component.status is Status.FAIL and component.fail_margin != component.margin:
        limit = f"beyond {bare(component.fail_margin)}"
    # A PASS takes the baseline's shift along the declared direction, which is at most its absolute shift.
    bound = "at most " if component.kind in SHIFTS and component.status is not Status.FAIL else ""
    difference = f"difference {bound}{describe(component.estimate)}"
    line = f"{_title(component)}: {difference}, {pairs}, {limit}: {component.status}"
    if hangs:
        line += (
            "; it hangs on reasons that are not in English, which the offline detector does not read: have both "
            "judges give their reasons in English"
        )
    elif component.status is Status.INCONCLUSIVE and not decides(related):
        line += f"; {advice(None, component.estimate.n, 'margin', related)}"
    elif component.status is Status.INCONCLUSIVE:
        worse = -component.estimate.value if component.kind == "accuracy" else component.estimate.value
        if worse >= component.margin:
            line += "; beyond its margin, though not yet demonstrably: more pairs would rather show a FAIL"
    return line
