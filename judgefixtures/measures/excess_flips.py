"""Excess flips: what other words for a prompt change in a judge's answers, beyond what asking again changes.

Nothing is decided here. A pair counts where both runs of the judge's own template and a wording have valid answers.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from judgefixtures.asking.questions import Judgment
from judgefixtures.material.contrasts import Outcome
from judgefixtures.material.pairs import clusters_of
from judgefixtures.measures.metrics import share_of
from judgefixtures.numbers.clusters import score_interval, share_interval
from judgefixtures.numbers.estimate import Estimate

ALL = "all"  # the mean over the wordings


@dataclass(frozen=True, slots=True)
class ExcessFlips:
    """What a wording, or the mean over all of them, changes. Rates are None where no pair counts.

    `excess` is by pair how much more often its answer flips with another wording than from one run to the next;
    `least` and `most` are the same of all pairs, in their order, if every invalid answer had gone one way or the other.
    `labels` are those of the clusters of the pairs that count, `all_labels` those of all pairs; None where no pairs
    are related. `invalid` counts answers.
    """

    wording: str
    excess: Mapping[str, float]
    least: tuple[float, ...]
    most: tuple[float, ...]
    invalid: int
    flip_rate: Estimate | None
    repeat_flip_rate: Estimate | None
    excess_flips: Estimate | None
    net_shift: Estimate | None
    labels: tuple[Hashable, ...] | None = None
    all_labels: tuple[Hashable, ...] | None = None

    @property
    def n(self) -> int:
        """How many pairs count."""
        return len(self.excess)


Shares = Sequence[float | None]


def excess_flips(
    own: Sequence[Judgment],
    again: Sequence[Judgment],
    reworded: Mapping[str, Sequence[Judgment]],
    outcome: Outcome = "chose-first",
    confidence: float = 0.90,
) -> tuple[ExcessFlips, ...]:
    """Return what all wordings come to, of each pair the mean, and then what each does.

    `own` and `again` are two runs of the judge's own template, `reworded` one of each wording by its label, all about
    the same pairs in the same order: ValueError otherwise, and without a wording. A flip from or to a tie is half one.
    The net shift is by how much more often the outcome comes about with another wording than with the judge's own.
    """
    arms = [own, again, *reworded.values()]
    if not reworded or any([each.pair.id for each in arm] != [each.pair.id for each in own] for arm in arms):
        raise ValueError("there must be a wording, and all runs must hold the same pairs in the same order")
    first, second, *others = ([share_of(each, outcome) for each in arm] for arm in arms)
    every = {ALL: others, **{label: [shares] for label, shares in zip(reworded, others, strict=True)}}
    return tuple(_measured(label, own, first, second, shares, confidence) for label, shares in every.items())


def _measured(
    wording: str, own: Sequence[Judgment], first: Shares, second: Shares, others: Sequence[Shares], confidence: float
) -> ExcessFlips:
    pairs = [judgment.pair for judgment in own]
    every = [(a, b, tuple(each)) for a, b, *each in zip(first, second, *others, strict=True)]
    valid = [
        (pair, a, b, told)
        for pair, (a, b, each) in zip(pairs, every, strict=True)
        if a is not None and b is not None and (told := [share for share in each if share is not None])
    ]
    flips = [fmean([abs(share - a) for share in told]) for _, a, _, told in valid]
    repeats = [abs(b - a) for _, a, b, _ in valid]
    shifts = [fmean(told) - a for _, a, _, told in valid]
    excess = [flip - repeat for flip, repeat in zip(flips, repeats, strict=True)]
    labels, all_labels = clusters_of(pair for pair, *_ in valid), clusters_of(pairs)
    spoiled = sum(share is None for a, b, each in every for share in (a, b, *each))
    return ExcessFlips(
        wording,
        {pair.id: each for (pair, *_), each in zip(valid, excess, strict=True)},
        tuple(_at_worst(*each)[0] for each in every),
        tuple(_at_worst(*each)[1] for each in every),
        spoiled,
        share_interval(flips, confidence, labels) if valid else None,
        share_interval(repeats, confidence, labels) if valid else None,
        score_interval(excess, confidence, clusters=labels) if valid else None,
        score_interval(shifts, confidence, clusters=labels) if valid else None,
        None if labels is None else tuple(labels),
        None if all_labels is None else tuple(all_labels),
    )


def _at_worst(first: float | None, second: float | None, others: Sequence[float | None]) -> tuple[float, float]:
    """Return the least and the most that the excess of a pair may be, whatever its invalid answers would have been."""

    def ends(share: float | None) -> tuple[float, ...]:
        return (0.0, 1.0) if share is None else (share,)

    found = [
        fmean([pick(abs(end - a) for end in ends(share)) for share in others]) - abs(b - a)
        for a in ends(first)
        for b in ends(second)
        for pick in (min, max)
    ]
    return min(found), max(found)
