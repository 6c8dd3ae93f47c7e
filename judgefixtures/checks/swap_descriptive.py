"""Descriptive comparison of two judges; it decides nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from judgefixtures.metrics.contrast_metrics import measure_contrast
from judgefixtures.metrics.reasons import is_unreadable_reason
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary
from judgefixtures.statistics.estimate import Estimate, format_estimate, format_share
from judgefixtures.statistics.kappa import kappa_of
from judgefixtures.statistics.proportions import difference, paired_difference, proportion

MOST_UNREAD = 0.05  # of the reasons: with more nothing is shown of what they admit
Quantity = Literal["silent-shift-rate", "agreement", "kappa", "car"]
Arms = tuple[Sequence[Judgment], Sequence[Judgment]]


@dataclass(frozen=True, slots=True)
class DescriptiveQuantity:
    """A compared quantity of both judges on n units, None if undefined."""

    quantity: Quantity
    message: str
    n: int
    estimate: Estimate | None = None


Quantities = tuple[DescriptiveQuantity, ...]


def compare_silent(candidate: Arms, baseline: Arms, contrast: Contrast, confidence: float) -> Quantities:
    """Return the difference in unadmitted shifts, on pairs valid in both."""
    arms = (*candidate, *baseline)
    kept = [index for index, four in enumerate(zip(*arms, strict=True)) if all(j.chosen is not None for j in four)]
    if not kept or _in_other_languages(arms):
        return ()
    ours, theirs = (
        _silent(*([arm[index] for index in kept] for arm in judge), contrast=contrast)
        for judge in (candidate, baseline)
    )
    estimate = paired_difference(len(ours - theirs), len(theirs - ours), len(kept), confidence)
    message = f"silent-shift rate: difference {format_estimate(estimate)}"
    return (DescriptiveQuantity("silent-shift-rate", message, len(kept), estimate),)


def _in_other_languages(arms: Iterable[Sequence[Judgment]]) -> bool:
    every = [is_unreadable_reason(judgment) for arm in arms for judgment in arm]
    return sum(every) > MOST_UNREAD * len(every)


def _silent(x: Sequence[Judgment], y: Sequence[Judgment], *, contrast: Contrast) -> set[str]:
    moved = measure_contrast(x, y, outcome=contrast.outcome).moved
    return {move.x.pair.id for move in moved if move.follows and not move.acknowledged}


def compare_car(candidate: Arms, baseline: Arms, contrast: Contrast, confidence: float) -> Quantities:
    """Return the difference of CAR, if both judges have one.

    Interval: Newcombe's for independent proportions.
    """
    ours, theirs = (measure_contrast(*arms, confidence, contrast.outcome) for arms in (candidate, baseline))
    if ours.car is None or theirs.car is None or _in_other_languages((*candidate, *baseline)):
        return ()
    estimate = difference(ours.acknowledged, ours.followed, theirs.acknowledged, theirs.followed, confidence)
    counts = " against ".join(f"{judge.acknowledged}/{judge.followed}" for judge in (ours, theirs))
    message = f"CAR {counts}: difference {format_estimate(estimate)}"
    return (DescriptiveQuantity("car", message, estimate.n, estimate),)


def agreement(
    candidate: Sequence[Judgment], baseline: Sequence[Judgment], confidence: float, words: Vocabulary = OF_PAIRS
) -> Quantities:
    """Return the share of equal verdicts and Cohen's kappa."""
    choices = [(c.chosen, b.chosen) for c, b in zip(candidate, baseline, strict=True)]
    valid = [(c, b) for c, b in choices if c is not None and b is not None]
    if not valid:
        return ()
    same = proportion(sum(c == b for c, b in valid), len(valid), confidence)
    message = f"same {words.says} {format_estimate(same, format_share)}"
    return (DescriptiveQuantity("agreement", message, len(valid), same), _kappa(valid, confidence))


def _kappa(valid: Sequence[tuple[int, int]], confidence: float) -> DescriptiveQuantity:
    kinds = sorted({choice for pair in valid for choice in pair} | {1, 2}, key=(1, 2, 0).index)  # 0: a tie
    table = [[valid.count((row, column)) for column in kinds] for row in kinds]
    n = len(valid)
    if len({choice for pair in valid for choice in pair}) < 2:  # both always chose the same position
        return DescriptiveQuantity("kappa", "kappa is not defined: the judges always chose the same", n)
    value, error = kappa_of(table)
    width = NormalDist().inv_cdf((1 + confidence) / 2) * error
    low, high = value - width, value + width
    if not error:  # all agree, or one never varies: the uncertainty of the agreement itself, by Wilson
        ours, theirs = zip(*valid, strict=True)
        chance = sum(ours.count(kind) / n * theirs.count(kind) / n for kind in kinds)
        agreed = proportion(sum(a == b for a, b in valid), n, confidence)
        low, high = ((bound - chance) / (1 - chance) for bound in (agreed.low, agreed.high))
    estimate = Estimate(value, max(min(low, value), -1.0), min(max(high, value), 1.0), confidence, n)
    return DescriptiveQuantity("kappa", f"Cohen's kappa {format_estimate(estimate, format_share)}", n, estimate)
