"""Selection of the closest pairs of a pool for a judge, without cues."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judgefixtures.cassettes.file_names import CHOICE_FILE
from judgefixtures.cassettes.files import or_replaced
from judgefixtures.cassettes.snapshot import ClosestPairsSnapshot, read_closest_snapshot
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.config import Config
from judgefixtures.judges.judge import Judge
from judgefixtures.metrics.certainty import likely_of
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, digests_of, id_key, units_per_pair, whole_pairs
from judgefixtures.models.replies import Arm
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.parsing.scores import is_whole_number_scale
from judgefixtures.util.errors import JudgeFixturesError

from .messages import MESSAGES
from .samples import Samples

Choice = Literal[0, 1, 2] | None  # 0: a tie
Screen = Callable[[Sequence[Pair]], Sequence[Sequence[Judgment]]]


def is_about_closest(arms: Sequence[Arm]) -> bool:
    """Return whether these arms use the closest pairs: all have cues.

    Without cues, selected answers would bias position effect and noise.
    """
    return bool(arms) and all(condition.cue_1 is not None for condition, _ in arms)


def closest_first(choices: Iterable[tuple[Choice, Choice]], likely: Mapping[int, float] | None = None) -> list[int]:
    """Return the indices of pairs, closest first.

    Order: differing choices or double ties (0), other choices, invalid ones. Within each, by `likely`, the probability
    of response 1.

    >>> closest_first([(1, 1), (1, 2), (None, 1), (2, 2), (2, 1)])
    [1, 4, 0, 3, 2]
    >>> closest_first([(1, 1), (1, 2), (1, 1)], {0: 0.9, 1: 0.6, 2: 0.7})
    [1, 2, 0]
    """
    distances = [2 if None in both else int(both[0] == both[1] != 0) for both in choices]
    chances = likely or {}
    return sorted(range(len(distances)), key=lambda place: (distances[place], abs(chances.get(place, 1.0) - 0.5)))


def nearest_first(scores: Iterable[tuple[float, ...] | None], mark: float | None = None) -> list[int]:
    """Return the indices of pairs by score difference, smallest first.

    Single responses are compared with `mark`. Pairs without scores come last.

    >>> nearest_first([(7, 4), (6, 6), None, (5, 6), (6, 5)])
    [1, 3, 4, 0, 2]
    """
    ends = [each and (each[0], each[1] if len(each) > 1 else each[0] if mark is None else mark) for each in scores]
    distances = [math.inf if both is None else round(abs(both[0] - both[1]), 9) for both in ends]
    return sorted(range(len(distances)), key=distances.__getitem__)


def closeness_order(arms: Sequence[Sequence[Judgment]], mark: float | None = None) -> tuple[list[int], bool]:
    """Return the indices of screened pairs, closest first, and whether they differ.

    Uses scores if given, else choices and probabilities in two arms.
    """
    own, other = arms[0], arms[-1]
    if any(judgment.verdict.scores for judgment in own):
        return nearest_first((judgment.verdict.scores for judgment in own), mark), True
    orders = [likely_of(own), likely_of(other)]
    values = ([arm[judgment.pair.id] for arm in orders if judgment.pair.id in arm] for judgment in own)
    likely = {place: sum(each) / len(each) for place, each in enumerate(values) if each}
    both = [(a.chosen, b.chosen) for a, b in zip(own, other, strict=True)]
    return closest_first(both, likely), bool(likely) or any(a != b or a == 0 for a, b in both)


def _line(judge: Judge) -> float | None:
    mark = judge.table.pass_mark
    return math.ceil(mark) - 0.5 if mark is not None and is_whole_number_scale(judge.table.scale) else mark


@dataclass(frozen=True, slots=True)
class PairScope:
    """The pairs of a check, as known before asking.

    Attributes:
        undecided: Judges for which `cut` pairs of the `pool` are not yet chosen.
    """

    pairs: tuple[Pair, ...]
    pool: tuple[Pair, ...] = ()
    undecided: frozenset[str] = frozenset()
    cut: int = 0

    def __or__(self, other: PairScope) -> PairScope:
        """Return the pairs of both scopes of one dataset."""
        pairs = {pair.id: pair for pair in (*self.pairs, *other.pairs)}
        return PairScope(
            tuple(pairs.values()), self.pool or other.pool, self.undecided | other.undecided, max(self.cut, other.cut)
        )

    @property
    def others(self) -> tuple[Pair, ...]:
        """The pool's pairs that may still be chosen."""
        known = {pair.id for pair in self.pairs}
        return tuple(pair for pair in self.pool if pair.id not in known) if self.undecided else ()

    @property
    def more(self) -> int:
        """The maximum number of further pairs."""
        return min(len(self.others), self.cut * len(self.undecided))

    @property
    def at_most(self) -> tuple[Pair, ...]:
        """The largest possible sample, with placeholders for unchosen pairs."""
        clusters = {pair.cluster for pair in self.pairs}
        fresh: list[Pair] = []
        related: list[Pair] = []
        for pair in self.others:
            (related if pair.cluster is not None and pair.cluster in clusters else fresh).append(pair)
            clusters.add(pair.cluster)
        return (*self.pairs, *[*fresh, *related][: self.more])


class ClosestPairSelector:
    """The closest pairs of a run, chosen once or read from snapshots."""

    def __init__(self, config: Config, library: CassetteStore, samples: Samples, note: Callable[[str], None]) -> None:
        self._config, self._library, self._note = config, library, note
        self._pools, self._wanted = samples.whole(), samples.wanted
        self._chosen: dict[tuple[str, str], tuple[str, ...]] = {}

    def pool(self, judge: str, dataset: str, arms: Sequence[Arm]) -> tuple[Pair, ...]:
        """Return the pool for these arms, or () without selection."""
        table = self._config.datasets.get(dataset)
        if table is None or table.closest is None or not is_about_closest(arms):
            return ()
        pool = self._pools.of(judge, dataset).shown
        if (there := len(pool) // units_per_pair(pool)) < table.closest:
            self._note(MESSAGES.fewer_than_closest(dataset, there, vocabulary_for(whole_pairs(pool)).many, table))
        return pool if self._cut(dataset, pool) < len(pool) else ()  # all of them need no choice

    def about(self, judges: Sequence[str], dataset: str, pool: Sequence[Pair], command: str) -> PairScope:
        """Return the pairs that are close for these judges, as known now.

        Args:
            judges: Names of the judges.
            dataset: Name of the dataset.
            pool: The pairs to choose from.
            command: The command that records.

        Raises:
            JudgeFixturesError: A frozen choice is not from this pool.
        """
        known = {judge: self._known(judge, dataset, pool, command) for judge in judges}
        chosen = {name for ids in known.values() if ids is not None for name in ids[: self._cut(dataset, pool)]}
        undecided = frozenset(judge for judge, ids in known.items() if ids is None)
        return PairScope(
            tuple(pair for pair in pool if pair.id in chosen), tuple(pool), undecided, self._cut(dataset, pool)
        )

    def of(self, judge: Judge, dataset: str, pool: Sequence[Pair], screen: Screen, command: str) -> tuple[str, ...]:
        """Return the ids of a judge's closest pairs, and freeze them.

        `screen` asks the judge about the pool. Otherwise as `about`.
        """
        chosen = self._known(judge.name, dataset, pool, command)
        if chosen is None:
            chosen = self._choose(judge, dataset, pool, screen, command)
        self._chosen[judge.name, dataset] = chosen
        return chosen[: self._cut(dataset, pool)]

    def _size(self, dataset: str, pool: Sequence[Pair]) -> int:
        return min((self._config.datasets[dataset].closest or 0) * units_per_pair(pool), len(pool))

    def _cut(self, dataset: str, pool: Sequence[Pair]) -> int:
        closest = self._config.datasets[dataset].closest or 0
        return units_per_pair(pool) * (closest if self._wanted is None else min(closest, self._wanted))

    def _known(self, judge: str, dataset: str, pool: Sequence[Pair], command: str) -> tuple[str, ...] | None:
        if (judge, dataset) in self._chosen:
            return self._chosen[judge, dataset]
        frozen = self._frozen(judge, dataset, pool, command)
        if len(frozen) != self._size(dataset, pool):
            return None
        self._chosen[judge, dataset] = frozen
        return frozen

    def _choose(
        self, judge: Judge, dataset: str, pool: Sequence[Pair], screen: Screen, command: str
    ) -> tuple[str, ...]:
        size, offline = self._size(dataset, pool), self._library.mode == "none"
        frozen, many = self._frozen(judge.name, dataset, pool, command), vocabulary_for(pool).many
        them = f"the closest {many} for {judge.name}"
        if not judge.kind.chooses(pool):
            raise JudgeFixturesError(MESSAGES.closest_without_mark(dataset, size, judge))
        if frozen and offline:
            raise JudgeFixturesError(
                MESSAGES.closest_partly_frozen(
                    dataset, size, frozen, many, judge, self._file(judge.name, dataset), command
                )
            )
        ranked, is_told = closeness_order(screen(pool), _line(judge))
        if not is_told:
            self._note(MESSAGES.nothing_tells_closest(dataset, them))
        chosen = tuple(dict.fromkeys([*frozen, *(pool[place].id for place in ranked)]))[:size]
        if offline and not judge.kind.is_asked:
            self._note(f"{dataset}: {them} are computed from its log in each run")
        elif offline:
            self._note(MESSAGES.closest_not_frozen(dataset, them, command))
        else:
            by_id = {pair.id: pair for pair in pool}
            choice = ClosestPairsSnapshot.of(len(pool), (by_id[name] for name in chosen), judge.table.pass_mark)
            self._library.freeze_choice(judge.name, dataset, choice)
        return chosen

    def _frozen(self, judge: str, dataset: str, pool: Sequence[Pair], command: str) -> tuple[str, ...]:
        folder, size = self._library.folder(judge, dataset), self._size(dataset, pool)
        anew = self._library.mode == "all"
        frozen = or_replaced(lambda: read_closest_snapshot(folder), None, is_replaced=anew)
        if frozen is None or anew:
            return ()
        self._check_mark(judge, dataset, frozen, command)
        digests = {id_key(pair.id): digests_of(pair) for pair in pool}
        for name, digest in frozen.pairs[:size]:
            if digest not in (known := digests.get(id_key(name), ())):
                what = "now has other texts or swapped responses" if known else "is missing"
                raise JudgeFixturesError(
                    MESSAGES.closest_pair_changed(dataset, judge, self._file(judge, dataset), name, what, command)
                )
        if frozen.pool != len(pool):
            self._note(MESSAGES.closest_pool_changed(dataset, judge, frozen, pool))
        return tuple(name for name, _ in frozen.pairs[:size])

    def _check_mark(self, judge: str, dataset: str, frozen: ClosestPairsSnapshot, command: str) -> None:
        table = self._config.judges.get(judge)
        if table is not None and frozen.mark != table.pass_mark:
            raise JudgeFixturesError(
                MESSAGES.closest_mark_changed(dataset, self._file(judge, dataset), frozen, judge, table, command)
            )

    def _file(self, judge: str, dataset: str) -> Path:
        return self._library.folder(judge, dataset) / CHOICE_FILE
