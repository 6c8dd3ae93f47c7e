"""Cells of a swap: both judges' verdicts in one contrast on one dataset."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from judgefixtures.models.pairs import LABELS
from judgefixtures.models.swap_rows import CellKind

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    Whole = NDArray[int64]

Verdict = Literal[0, 1, 2] | None  # 0: a tie
Arms = tuple[Verdict, Verdict]  # in arm x, in arm y
PairKey = tuple[str, str]  # dataset and id: another dataset may have a pair of the same id
Flips = float | Mapping[str, float] | None  # how often the baseline's repeats differ, at all or by dataset
Clusters = Mapping[PairKey, Hashable] | None  # the cluster of each related pair

KINDS = ("cue", "order", "edit")
HALVES: dict[Verdict, int] = {1: 2, 0: 1, 2: 0}  # of the outcome that came about, by verdict
# How a pair moved, in halves, by its verdicts in the two arms; None where one of them is invalid.
MOVES: dict[Arms, int | None] = {
    (x, y): None if x is None or y is None else HALVES[x] - HALVES[y] for x in (1, 2, 0, None) for y in (1, 2, 0, None)
}
BOTH = ("candidate", "baseline")
# The fields of a cell that have something for each of its pairs; the last two may be empty.
PER_PAIR = ("pairs", *BOTH, *(f"{judge}_{what}" for what in ("admits", "unread") for judge in BOTH))
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
Part = TypeVar("Part", "SwapContrast", "SwapAccuracy")


@dataclass(frozen=True, slots=True)
class SwapContrast:
    """A contrast on a dataset, asked of both judges, in the order of `pairs`.

    Attributes:
        candidate: Verdicts in arms x and y: 1, 2, 0 (counted tie) or None (invalid). 1 is the contrast's outcome: the
            favoured label in x, the pair's own response 1 ("order") or the edited response ("edit").
        candidate_admits: Whether either reason cites the cue, for kind "cue".
        candidate_unread: Whether a reason is unreadable and no other cites the cue.

    Raises:
        ValueError: Different lengths, duplicate pairs, invalid verdicts or kinds.

    >>> SwapContrast("recency", "recency-new-old", "qa", ["a"], [(1, 2)], [(1, 1)], [False], [False]).id
    'recency-new-old on qa'
    """

    family: str
    contrast: str
    dataset: str
    pairs: Sequence[str]
    candidate: Sequence[Arms]
    baseline: Sequence[Arms]
    candidate_admits: Sequence[bool]
    baseline_admits: Sequence[bool]
    kind: CellKind = "cue"
    candidate_unread: Sequence[bool] = ()
    baseline_unread: Sequence[bool] = ()

    def __post_init__(self) -> None:
        for judge in BOTH:  # rows of an array are as good as tuples
            object.__setattr__(self, judge, tuple(map(tuple, getattr(self, judge))))
        for values in PER_PAIR:
            object.__setattr__(self, values, tuple(getattr(self, values)))
        others = [getattr(self, values) for values in PER_PAIR[1:]]
        _check_lengths(self.id, self.pairs, *others[:-2], *filter(None, others[-2:]))
        for judge, arms in (("candidate", self.candidate), ("baseline", self.baseline)):
            if wrong := set(arms) - MOVES.keys():
                raise ValueError(
                    f"{self.id}: verdicts are 1, 2 or None in both arms, 0 for a tie, "
                    f"got {min(map(repr, wrong))} of the {judge}"
                )
        if self.kind not in KINDS:
            raise ValueError(f"{self.id}: kind must be one of {', '.join(KINDS)}, got {self.kind!r}")

    @property
    def id(self) -> str:
        """The cell's name: contrast and dataset."""
        return f"{self.contrast} on {self.dataset}"

    def first(self, pairs: int) -> SwapContrast:
        """Return the cell's first `pairs` pairs."""
        return replace(self, **{name: getattr(self, name)[:pairs] for name in PER_PAIR})

    def at_worst(self) -> tuple[SwapContrast, ...]:
        """Return the cell with unreadable reasons at their extremes."""
        ours = _extremes(self.candidate, self.candidate_admits, self.candidate_unread)
        theirs = _extremes(self.baseline, self.baseline_admits, self.baseline_unread)
        return tuple(
            replace(self, candidate_admits=mine, baseline_admits=its, candidate_unread=(), baseline_unread=())
            for mine, its in zip(ours, (theirs[at] for at in (1, 0, 3, 2)), strict=True)
        )


def _extremes(arms: Sequence[Arms], admits: Sequence[bool], unread: Sequence[bool]) -> tuple[tuple[bool, ...], ...]:
    moves = [MOVES[both] or 0 for both in arms]
    net = 1 if sum(moves) >= 0 else -1
    lost = unread or (False,) * len(moves)
    against, along = [move * net < 0 for move in moves], [move * net > 0 for move in moves]
    taken = (against, along, [True] * len(moves), [False] * len(moves))
    return tuple(
        tuple(guess if gone else admitted for admitted, gone, guess in zip(admits, lost, guesses, strict=True))
        for guesses in taken
    )


@dataclass(frozen=True, slots=True)
class SwapAccuracy:
    """Accuracy of both judges on a dataset, in the order of `pairs`.

    Attributes:
        candidate: Share of orders with the right verdict: 0, 0.5 or 1, quarters with ties. For examples 1 if the grade
            is the label, or a pass without label.
        labels: "pass", "fail" or None for examples; absent for pairs.
        alike: Whether the baseline graded nearly all examples alike.

    Raises:
        ValueError: Different lengths, duplicate pairs, other shares or labels.
    """

    dataset: str
    pairs: Sequence[str]
    candidate: Sequence[float]
    baseline: Sequence[float]
    labels: Sequence[str | None] | None = None
    alike: bool = False

    def __post_init__(self) -> None:
        given = ("pairs", *BOTH, *(() if self.labels is None else ("labels",)))
        for values in given:
            object.__setattr__(self, values, tuple(getattr(self, values)))
        _check_lengths(f"accuracy on {self.dataset}", *(getattr(self, values) for values in given))
        self._check_labels()
        if wrong := {*self.candidate, *self.baseline} - set(SHARES):
            raise ValueError(
                f"accuracy on {self.dataset}: a judge is right in 0, 0.5 or 1 of a pair's "
                f"orders, 0.25 or 0.75 with ties, got {min(map(repr, wrong))}"
            )

    def _check_labels(self) -> None:
        if self.labels is None:
            return
        if others := [label for label in self.labels if label not in (*LABELS, None)]:
            raise ValueError(f"accuracy on {self.dataset}: labels are pass, fail or None, got {min(map(repr, others))}")
        if halves := {*self.candidate, *self.baseline} - {0, 1}:
            raise ValueError(f"accuracy on {self.dataset}: of an example a judge is right or not, got {min(halves)!r}")

    def first(self, pairs: int) -> SwapAccuracy:
        """Return the accuracy of the first `pairs` pairs."""
        labels = None if self.labels is None else self.labels[:pairs]
        firsts = {name: getattr(self, name)[:pairs] for name in ("pairs", *BOTH)}
        return replace(self, **firsts, labels=labels)

    def labelled(self, label: str) -> int:
        """Return the number of examples with this label."""
        return (self.labels or ()).count(label)

    @property
    def is_known(self) -> bool:
        """Whether there is gold or a label."""
        return bool(self.pairs) and (self.labels is None or any(self.labels))


def without(part: Part, lost: Container[str]) -> Part:
    """Return a cell or accuracy without these pairs."""
    kept = [pair not in lost for pair in part.pairs]
    values = {name: getattr(part, name, None) for name in (*PER_PAIR, "labels")}
    lists: dict[str, Any] = {name: tuple(compress(each, kept)) for name, each in values.items() if each}
    return replace(part, **lists)


def _check_lengths(name: str, pairs: Sequence[str], *others: Sequence[Any]) -> None:
    if any(len(other) != len(pairs) for other in others):
        raise ValueError(
            f"{name}: there must be as many of everything as pairs ({len(pairs)}), got "
            f"{', '.join(str(len(other)) for other in others)}"
        )
    if len(set(pairs)) < len(pairs):
        raise ValueError(f"{name}: a pair comes twice")


@dataclass(frozen=True, slots=True)
class CountsOfBoth:
    """A whole number per pair for both judges."""

    candidate: Whole
    baseline: Whole


@dataclass(frozen=True, slots=True)
class CellMoves:
    """The moves of a cell's complete pairs, and its invalid verdicts.

    Attributes:
        complete: Rows of pairs with four valid verdicts.
        asked: Rows of all pairs.
        shift: Move per complete pair in halves, -2 to 2.
        unadmitted: The same where no reason cites the cue, else 0.
        own: The baseline's shift in the rows `own_rows`.
    """

    cell: SwapContrast
    complete: Whole
    shift: CountsOfBoth
    unadmitted: CountsOfBoth
    asked: Whole
    invalid: CountsOfBoth
    own_rows: Whole
    own: Whole
    own_unadmitted: Whole

    @property
    def excess(self) -> float:
        """The net share of pairs spoiled by the candidate."""
        spoiled, other = self.invalid.candidate > 0, self.invalid.baseline > 0
        return max(0, int((spoiled & ~other).sum()) - int((other & ~spoiled).sum())) / max(len(self.asked), 1)

    @property
    def most_invalid(self) -> float:
        """The larger share of invalid verdicts."""
        spoiled = (int((calls > 0).sum()) for calls in (self.invalid.candidate, self.invalid.baseline))
        return max(spoiled) / max(len(self.asked), 1)


def read_moves(cell: SwapContrast, rows: dict[PairKey, int]) -> CellMoves:
    """Return how a cell's pairs moved."""
    import numpy as np

    rows_of_pairs = np.array([rows[cell.dataset, pair] for pair in cell.pairs], dtype=np.int64)
    both = (cell.candidate, cell.baseline)
    moved = [[MOVES[arms] for arms in judge] for judge in both]
    valid = [np.array([move is not None for move in moves], dtype=bool) for moves in moved]
    shifts = [np.array([move or 0 for move in moves], dtype=np.int64) for moves in moved]
    hidden = [
        shift * (1 - np.array(admits, dtype=bool).astype(np.int64))
        for shift, admits in zip(shifts, (cell.candidate_admits, cell.baseline_admits), strict=True)
    ]
    invalid = [np.array([arms.count(None) for arms in judge], dtype=np.int64) for judge in both]
    complete, own = valid[0] & valid[1], valid[1]
    return CellMoves(
        cell=cell,
        complete=rows_of_pairs[complete],
        shift=CountsOfBoth(shifts[0][complete], shifts[1][complete]),
        unadmitted=CountsOfBoth(hidden[0][complete], hidden[1][complete]),
        asked=rows_of_pairs,
        invalid=CountsOfBoth(invalid[0], invalid[1]),
        own_rows=rows_of_pairs[own],
        own=shifts[1][own],
        own_unadmitted=hidden[1][own],
    )


def number_pairs(cells: Iterable[SwapContrast], accuracies: Iterable[SwapAccuracy]) -> dict[PairKey, int]:
    """Return a number for each pair, from 0."""
    rows: dict[PairKey, int] = {}
    parts: list[SwapContrast | SwapAccuracy] = [*cells, *accuracies]
    for part in parts:
        for pair in part.pairs:
            rows.setdefault((part.dataset, pair), len(rows))
    return rows
