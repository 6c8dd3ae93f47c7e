"""Pooling of a swap's cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from judgefixtures.models.pairs import LABELS
from judgefixtures.models.swap_rows import ComponentKind
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary
from judgefixtures.statistics.agreement import FEWEST_OF_A_CLASS
from judgefixtures.statistics.estimate import format_share

from .cells import CellMoves, Clusters, CountsOfBoth, PairKey, SwapAccuracy, SwapContrast, number_pairs, read_moves
from .per_pair import Labels, PairScoreCounts

if TYPE_CHECKING:
    from .cells import Whole

FEWEST_COMPLETE = 20  # pairs of a cell; with fewer it was not compared
MOST_INVALID = 0.20  # the share of a cell's pairs beyond which it was not compared
DEMONSTRABLY = -2.576  # z at which a baseline is taken to move against the declared direction: 1% two-sided

RATES: Mapping[ComponentKind, str] = {"tpr": "pass", "tnr": "fail"}  # the label that each is about
UNLABELLED = ""  # what a pair has in place of a label: its gold says which judge is right
ANY_LABEL = (*LABELS, UNLABELLED)

Part = tuple["Whole", CountsOfBoth, int]  # rows, of both judges a whole number for each, and what these are out of


@dataclass(frozen=True)
class SwapData:
    """All data of a swap, sorted; raises ValueError for duplicates."""

    cells: tuple[SwapContrast, ...]
    accuracies: tuple[SwapAccuracy, ...]
    clusters: Clusters = None

    def __post_init__(self) -> None:
        for what, names in (
            ("the cell {} comes twice", [cell.id for cell in self.cells]),
            ("accuracy on {} comes twice", [accuracy.dataset for accuracy in self.accuracies]),
        ):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(what.format(twice[0]))
        kinds: dict[str, str] = {}
        for cell in self.cells:
            if kinds.setdefault(cell.family, cell.kind) != cell.kind:
                raise ValueError(f"family {cell.family} has cells of kind {kinds[cell.family]} and of kind {cell.kind}")

    @cached_property
    def rows(self) -> dict[PairKey, int]:
        """The number of each pair."""
        return number_pairs(self.cells, self.accuracies)

    @cached_property
    def labels(self) -> Labels:
        """Cluster labels by row, or None."""
        if self.clusters is None:
            return None
        own_labels = [self.clusters.get(pair) for pair in self.rows]
        alone = [("", row) if label is None else ("related", label) for row, label in enumerate(own_labels)]
        return alone if len(set(alone)) < len(alone) else None

    @cached_property
    def moves(self) -> tuple[CellMoves, ...]:
        """The moves of every cell's pairs."""
        return tuple(read_moves(cell, self.rows) for cell in self.cells)

    @cached_property
    def compared(self) -> tuple[CellMoves, ...]:
        """The cells with enough data."""
        return tuple(moves for moves in self.moves if not _too_few(moves, self.words))

    @cached_property
    def golden(self) -> tuple[SwapAccuracy, ...]:
        """The accuracies with answers."""
        return tuple(accuracy for accuracy in self.accuracies if accuracy.pairs)

    @cached_property
    def known(self) -> tuple[SwapAccuracy, ...]:
        """The accuracies with gold or labels."""
        return tuple(accuracy for accuracy in self.golden if accuracy.is_known)

    @cached_property
    def telling(self) -> tuple[SwapAccuracy, ...]:
        """The accuracies of examples whose pass rate can be compared."""
        return tuple(accuracy for accuracy in self.golden if accuracy.labels is not None and not accuracy.alike)

    @property
    def is_graded(self) -> bool:
        """Whether these are judges of one response."""
        return any(accuracy.labels is not None for accuracy in self.accuracies)

    @property
    def words(self) -> Vocabulary:
        """The words for pairs or examples."""
        return OF_EXAMPLES if self.is_graded else OF_PAIRS

    @cached_property
    def labelled(self) -> Mapping[str, int]:
        """The number of examples by label."""
        return {label: sum(each.labelled(label) for each in self.accuracies) for label in LABELS}

    @property
    def sizes(self) -> list[int]:
        """The number of pairs of each part."""
        return [*(len(cell.pairs) for cell in self.cells), *(len(accuracy.pairs) for accuracy in self.accuracies)]

    @cached_property
    def pairs(self) -> int:
        """The most pairs of a dataset."""
        return max(self.sizes, default=0)

    def not_compared(self, missing: Iterable[str] = ()) -> list[str]:
        """Return what prevents an approval."""
        absent = [*missing, *(moves.cell.id for moves in self.moves if not moves.cell.pairs)]
        absent += [f"accuracy on {accuracy.dataset}" for accuracy in self.accuracies if not accuracy.pairs]
        lost = [(moves.cell.id, _too_few(moves, self.words)) for moves in self.moves if moves.cell.pairs]
        reasons = [f"{name}: not compared, because {why}" for name, why in lost if why]
        reasons += [f"{name}: not compared, because {why}" for name, why in self._few_labels()]
        reasons += [
            f"pass rate, TPR and TNR on {accuracy.dataset}: not compared, because the baseline gives nearly every "
            "response the same grade"
            for accuracy in self.golden
            if accuracy.alike
        ]
        return [*(f"{name}: not compared" for name in sorted(absent)), *reasons]

    def _few_labels(self) -> Iterable[tuple[str, str]]:
        counts = self.labelled
        if any(counts.values()):
            for kind, label in RATES.items():
                if counts[label] < FEWEST_OF_A_CLASS:
                    few = f"{counts[label]} examples are" if counts[label] > 1 else "1 example is"
                    n = f"only {few}" if counts[label] else "no example is"
                    yield kind.upper(), f"{n} labelled {label}; use at least {FEWEST_OF_A_CLASS}"

    def families(self) -> dict[str, list[CellMoves]]:
        """Return the compared cells by family."""
        moves_by_family: dict[str, list[CellMoves]] = defaultdict(list)
        for moves in self.compared:
            moves_by_family[moves.cell.family].append(moves)
        return moves_by_family

    def at_worst(self) -> tuple[tuple[SwapContrast, ...], ...]:
        """Return the cells with unreadable reasons at their extremes."""
        if not any(any((*cell.candidate_unread, *cell.baseline_unread)) for cell in self.cells):
            return ()
        return tuple(zip(*(cell.at_worst() for cell in self.cells), strict=True))

    # --- directions and scores ----------------------------------------------------------------------------

    def declared(self, kind: ComponentKind, moves: Iterable[CellMoves]) -> dict[str, int]:
        """Return each contrast's direction, +1 by default."""
        by_contrast: dict[str, list[CellMoves]] = defaultdict(list)
        for each in moves:
            by_contrast[each.cell.contrast].append(each)
        return {contrast: self._direction(kind, group) for contrast, group in by_contrast.items()}

    def _direction(self, kind: ComponentKind, group: list[CellMoves]) -> int:
        if group[0].cell.kind == "edit":
            return 1
        own = [each.own if kind == "abs-vsr" else each.own_unadmitted for each in group]
        if sum(int(moved.sum()) for moved in own) >= 0:
            return 1
        import numpy as np

        moved, rows = np.concatenate(own), np.concatenate([each.own_rows for each in group])
        z = PairScoreCounts.of(moved.tolist(), [2] * len(rows), rows, self.labels).z(0.0)
        return -1 if z < DEMONSTRABLY else 1

    def pooled(
        self, kind: ComponentKind, moves: Sequence[CellMoves], ours: list[int], theirs: list[int]
    ) -> PairScoreCounts:
        """Return each pair's mean additional shift of the candidate."""
        parts = []
        for each, s, t in zip(moves, ours, theirs, strict=True):
            both = shift_sizes(each, kind)
            parts.append((each.complete, CountsOfBoth(s * both.candidate, t * both.baseline), 2))
        return self.averaged(parts, moves)

    def flips(self) -> PairScoreCounts | None:
        """Return each pair's additional flips, without edits."""
        from numpy import sign

        flipping = [each for each in self.compared if each.cell.kind != "edit"]
        parts = [
            (each.complete, CountsOfBoth(abs(sign(each.shift.candidate)), abs(sign(each.shift.baseline))), 1)
            for each in flipping
        ]
        return self.averaged(parts, flipping) if parts else None

    def invalid(self) -> PairScoreCounts | None:
        """Return each pair's additional invalid verdicts."""
        cells = [each for each in self.moves if each.cell.pairs]
        parts = [(each.asked, each.invalid, 2) for each in cells]
        return self.averaged(parts, cells) if parts else None

    def right(self, accuracies: Iterable[SwapAccuracy], among: Sequence[str | None] = ANY_LABEL) -> PairScoreCounts:
        """Return each pair's additional right verdicts, `among` these labels."""
        return self._differences(
            (accuracy.dataset, pair, c, b)
            for accuracy in accuracies
            for pair, c, b, label in _each(accuracy)
            if label in among
        )

    def passes(self) -> PairScoreCounts | None:
        """Return each example's additional passes, or None for pairs."""
        if not self.telling:
            return None
        # To be right about what people fail is to fail it.
        return self._differences(
            (accuracy.dataset, pair, *((1 - c, 1 - b) if label == "fail" else (c, b)))
            for accuracy in self.telling
            for pair, c, b, label in _each(accuracy)
        )

    def _differences(self, values: Iterable[tuple[str, str, float, float]]) -> PairScoreCounts:
        import numpy as np

        every = list(values)
        rows = np.array([self.rows[dataset, pair] for dataset, pair, *_ in every], dtype=np.int64)
        ours = np.array([round(4 * share) for _, _, share, _ in every], dtype=np.int64)
        theirs = np.array([round(4 * share) for _, _, _, share in every], dtype=np.int64)
        return self.averaged([(rows, CountsOfBoth(ours, theirs), 4)])

    def averaged(self, parts: Iterable[Part], moves: Sequence[CellMoves] = ()) -> PairScoreCounts:
        """Return each pair's mean over its parts."""
        import numpy as np

        ours, theirs, count = (np.zeros(len(self.rows), dtype=np.int64) for _ in range(3))
        for rows, both, out_of in parts:
            ours[rows] += both.candidate  # a cell has every pair once
            theirs[rows] += both.baseline
            count[rows] += out_of
        rows = np.flatnonzero(count)
        contrasts = len({each.cell.contrast for each in moves}) or 1
        if self.is_graded and any(each.cell.kind == "cue" for each in moves):
            contrasts = 1  # of one response they share arms: what moves the arm of one label moves every mean

        def scores(total: Whole) -> PairScoreCounts:
            return PairScoreCounts.of(total[rows].tolist(), count[rows].tolist(), rows, self.labels, contrasts)

        return replace(scores(ours - theirs), sides=lambda: (scores(ours), scores(theirs)))


def _each(accuracy: SwapAccuracy) -> Iterable[tuple[str, float, float, str | None]]:
    labels = accuracy.labels if accuracy.labels is not None else (UNLABELLED,) * len(accuracy.pairs)
    return zip(accuracy.pairs, accuracy.candidate, accuracy.baseline, labels, strict=True)


def shift_sizes(moves: CellMoves, kind: ComponentKind) -> CountsOfBoth:
    """Return how far verdicts moved, or moved unadmitted."""
    return moves.shift if kind == "abs-vsr" else moves.unadmitted


def _too_few(moves: CellMoves, words: Vocabulary) -> str:
    n, share = len(moves.complete), format_share(moves.most_invalid)
    if n < FEWEST_COMPLETE:
        return f"only {n} {words.many} have valid {words.said} of both judges; use at least {FEWEST_COMPLETE}"
    if moves.most_invalid > MOST_INVALID:
        return f"a judge gave invalid {words.said} on {share} of the {words.many} (limit {format_share(MOST_INVALID)})"
    return ""
