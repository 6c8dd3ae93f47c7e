"""Excess flips: what a wording changes in a judge's answers, beyond what asking again changes."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product
from statistics import fmean

from judgefixtures.models.check_rows import ALL, ScoresAtWorst, WordingRow
from judgefixtures.models.contrasts import Outcome
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, clusters_of
from judgefixtures.statistics.clusters import score_interval, share_interval
from judgefixtures.statistics.wordings import change, excess, flip, shift

from .contrast_metrics import outcome_share

Formula = Callable[..., float]  # of two runs of the own template, and those of a wording
Share = float | None
Shares = Sequence[Share]
Outcomes = tuple[Share, Share, Sequence[Shares]]  # of a pair: twice in the own words, in each wording


def excess_flips(
    own: Sequence[Judgment],
    again: Sequence[Judgment],
    reworded: Mapping[str, Sequence[Judgment]],
    outcome: Outcome = "chose-first",
    confidence: float = 0.90,
) -> tuple[WordingRow, ...]:
    """Return the mean changes of all wordings, then each wording's.

    Args:
        own: The first run of the own template.
        again: The second run.
        reworded: One or two runs by wording.
        outcome: The outcome of the net shift.
        confidence: The level of intervals.

    Raises:
        ValueError: Pairs differ, or there are no wordings.
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


def _measured(wording: str, pairs: Sequence[Pair], every: Sequence[Outcomes], confidence: float) -> WordingRow:
    valid = [
        (pair, a, b, whole)
        for pair, (a, b, each) in zip(pairs, every, strict=True)
        if a is not None and b is not None and (whole := [runs for runs in each if None not in runs])
    ]

    def scores(formula: Formula) -> ScoresAtWorst:
        values = tuple(fmean([formula(a, b, runs) for runs in whole]) for _, a, b, whole in valid)
        ends = [_at_worst(formula, *each) for each in every]
        return values, tuple(least for least, _ in ends), tuple(most for _, most in ends)

    flips, repeats = scores(flip)[0], [abs(b - a) for _, a, b, _ in valid]
    net = scores(lambda a, _, runs: runs[0] - a)[0]
    labels, all_labels = clusters_of(pair for pair, *_ in valid), clusters_of(pairs)
    values, least, most = scores(excess)
    runs = min((len(of_wording) for *_, each in every for of_wording in each), default=1)
    return WordingRow(
        wording=wording,
        runs=runs,
        n=len(valid),
        clusters=None if labels is None else len(set(labels)),
        invalid=sum(share is None for a, b, each in every for share in (a, b, *chain.from_iterable(each))),
        flip_rate=share_interval(flips, confidence, labels) if valid else None,
        repeat_flip_rate=share_interval(repeats, confidence, labels) if valid else None,
        excess_flips=score_interval(values, confidence, clusters=labels) if valid else None,
        net_shift=score_interval(net, confidence, clusters=labels) if valid else None,
        excess={pair.id: each for (pair, *_), each in zip(valid, values, strict=True)},
        least=least,
        most=most,
        labels=None if labels is None else tuple(labels),
        all_labels=None if all_labels is None else tuple(all_labels),
        shifts=scores(shift),
        changes=scores(change) if runs == 2 else None,
    )


def _at_worst(formula: Formula, first: Share, second: Share, others: Sequence[Shares]) -> tuple[float, float]:
    def ends(share: Share) -> tuple[float, ...]:
        return (0.0, 1.0) if share is None else (share,)

    possible = [
        fmean([pick(formula(a, b, runs) for runs in product(*map(ends, each))) for each in others])
        for a in ends(first)
        for b in ends(second)
        for pick in (min, max)
    ]
    return min(possible), max(possible)
