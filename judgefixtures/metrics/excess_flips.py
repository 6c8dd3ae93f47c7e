"""Excess flips: what a wording changes in a judge's answers, beyond what asking again changes.

A pair counts if both runs of the judge's own template and of the wording have valid answers.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from statistics import fmean

from judgefixtures.models.check_rows import ALL
from judgefixtures.models.contrasts import Outcome
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, clusters_of
from judgefixtures.statistics.clusters import score_interval, share_interval
from judgefixtures.statistics.estimate import Estimate
from judgefixtures.statistics.wordings import change, excess, flip, shift

from .contrast_metrics import outcome_share

# Of the pairs that count, and the least and the most of every pair whatever its invalid answers would have been.
Scores = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]
Formula = Callable[..., float]  # of two runs of the own template, and those of a wording
Share = float | None
Shares = Sequence[Share]
Outcomes = tuple[Share, Share, Sequence[Shares]]  # of a pair: twice in the own words, in each wording


@dataclass(frozen=True, slots=True)
class ExcessFlips:
    """What a wording, or the mean over all of them, changes. Rates are None where no pair counts.

    `excess` is by pair how much more often its answer flips with another wording than from one run to the next;
    `least` and `most` are the same of all pairs, in their order, if every invalid answer had gone one way or the other.
    `labels` are those of the clusters of the pairs that count, `all_labels` those of all pairs; None where no pairs
    are related. `invalid` counts answers. `shifts` are by how much more often the outcome comes about over all runs of
    the wording than over both of the own template, `changes` the squared changes of a pair's pass probability, which
    only two `runs` tell.
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
    runs: int = 1
    shifts: Scores = ((), (), ())
    changes: Scores | None = None

    @property
    def n(self) -> int:
        """How many pairs count."""
        return len(self.excess)


def excess_flips(
    own: Sequence[Judgment],
    again: Sequence[Judgment],
    reworded: Mapping[str, Sequence[Judgment]],
    outcome: Outcome = "chose-first",
    confidence: float = 0.90,
) -> tuple[ExcessFlips, ...]:
    """Return what all wordings come to, of each pair the mean, and then what each does.

    `own` and `again` are two runs of the judge's own template, `reworded` one or two of each wording by its label, one
    behind the other, all about the same pairs in the same order: ValueError otherwise, and without a wording. A flip
    from or to a tie is half one.
    The net shift is by how much more often the outcome comes about with another wording than with the judge's own.
    """
    n, arms = len(own), [own, again, *reworded.values()]
    ids = [[each.pair.id for each in arm] for arm in arms]
    if not reworded or ids[1] != ids[0] or any(each not in (ids[0], 2 * ids[0]) for each in ids[2:]):
        raise ValueError("there must be a wording, and all runs must hold the same pairs in the same order")
    first, second, *others = ([outcome_share(each, outcome) for each in arm] for arm in arms)
    each_run = [[shares[pair::n] for pair in range(n)] for shares in others]  # of a wording, by pair
    every = {ALL: each_run, **{label: [runs] for label, runs in zip(reworded, each_run, strict=True)}}
    outcomes = {label: list(zip(first, second, zip(*runs, strict=True), strict=True)) for label, runs in every.items()}
    pairs = [judgment.pair for judgment in own]
    return tuple(_measured(label, pairs, each, confidence) for label, each in outcomes.items())


def _measured(wording: str, pairs: Sequence[Pair], every: Sequence[Outcomes], confidence: float) -> ExcessFlips:
    valid = [
        (pair, a, b, whole)
        for pair, (a, b, each) in zip(pairs, every, strict=True)
        if a is not None and b is not None and (whole := [runs for runs in each if None not in runs])
    ]

    def scores(formula: Formula) -> Scores:
        values = tuple(fmean([formula(a, b, runs) for runs in whole]) for _, a, b, whole in valid)
        ends = [_at_worst(formula, *each) for each in every]
        return values, tuple(least for least, _ in ends), tuple(most for _, most in ends)

    flips, repeats = scores(flip)[0], [abs(b - a) for _, a, b, _ in valid]
    net = scores(lambda a, _, runs: runs[0] - a)[0]
    labels, all_labels = clusters_of(pair for pair, *_ in valid), clusters_of(pairs)
    values, least, most = scores(excess)
    runs = min((len(of_wording) for *_, each in every for of_wording in each), default=1)
    return ExcessFlips(
        wording,
        {pair.id: each for (pair, *_), each in zip(valid, values, strict=True)},
        least,
        most,
        sum(share is None for a, b, each in every for share in (a, b, *chain.from_iterable(each))),
        share_interval(flips, confidence, labels) if valid else None,
        share_interval(repeats, confidence, labels) if valid else None,
        score_interval(values, confidence, clusters=labels) if valid else None,
        score_interval(net, confidence, clusters=labels) if valid else None,
        None if labels is None else tuple(labels),
        None if all_labels is None else tuple(all_labels),
        runs,
        scores(shift),
        scores(change) if runs == 2 else None,
    )


def _at_worst(formula: Formula, first: Share, second: Share, others: Sequence[Shares]) -> tuple[float, float]:
    """Return the least and the most that a score of a pair may be, whatever its invalid answers would have been."""

    def ends(share: Share) -> tuple[float, ...]:
        return (0.0, 1.0) if share is None else (share,)

    possible = [
        fmean([pick(formula(a, b, runs) for runs in product(*map(ends, each))) for each in others])
        for a in ends(first)
        for b in ends(second)
        for pick in (min, max)
    ]
    return min(possible), max(possible)
