"""Single comparisons of candidate and baseline, each held to its margin alone, and a decision over all of them.

A comparison is about one quantity of one contrast or dataset; it asks whether the candidate is demonstrably
no worse than the baseline by more than a margin. The decision is an intersection-union: APPROVE needs every
required comparison to PASS, each at its own level, and needs no adjustment for how many there are.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from judgefixtures.config import GateTable, SwapTable
from judgefixtures.contrasts import Contrast, Outcome
from judgefixtures.judgments import Judgment
from judgefixtures.metrics import chosen, is_right, measure, stuck_side
from judgefixtures.statistics import (
    Estimate,
    GateResult,
    Status,
    bare,
    describe,
    gate_abs_shift,
    gate_non_inferiority,
    proportion,
)
from judgefixtures.swap.results import SwapDecision, SwapStatus
from judgefixtures.validity import too_many_invalid

Quantity = Literal["accuracy", "abs-vsr", "silent-shift-rate", "moved-to-edited", "agreement", "kappa", "car"]
SHOWN_ONLY = ("agreement", "kappa", "car")  # these decide nothing
Arms = tuple[Sequence[Judgment], Sequence[Judgment]]

SHOWN_REASONS = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """One quantity of candidate and baseline on the same n pairs.

    `estimate` is candidate - baseline: above 0 is better for accuracy and worse for the others. `p` is the p-value
    against "worse by more than the margin", `p_fail` the one against "not so". Agreement and kappa decide nothing.
    """

    quantity: Quantity
    status: Status
    message: str
    n: int
    estimate: Estimate | None = None
    margin: float | None = None
    p: float | None = None
    p_fail: float | None = None
    needed_pairs: int | None = None

    @property
    def decides(self) -> bool:
        """Whether the swap's decision looks at it."""
        return self.quantity not in SHOWN_ONLY


def compare_contrast(
    candidate: Arms, baseline: Arms, contrast: Contrast, swap: SwapTable, gate: GateTable
) -> tuple[Comparison, ...]:
    """Return the comparisons of a contrast: abs(VSR), with cues the silent-shift rate, agreement and kappa.

    Of an edit, in place of these rates, the share of verdicts that it wins: to think less of an edited response is no
    fault.
    Arms hold judgments of the same pairs in the same order. A pair counts where all four verdicts are valid. More
    invalid verdicts of a judge than `max_invalid` demonstrably allows are an ERROR. A PASS holds as well if every pair
    that the candidate alone spoiled, less those that the baseline alone did, had gone the worst way.
    """
    kept = [
        index
        for index, four in enumerate(zip(*candidate, *baseline, strict=True))
        if all(judgment.chosen is not None for judgment in four)
    ]
    total, edits = len(candidate[0]), contrast.x.edit is not None
    spoiled = [[any(judgment.chosen is None for judgment in two) for two in zip(*arms, strict=True)]
               for arms in (candidate, baseline)]  # fmt: skip
    error = _too_many_invalid([*candidate[0], *candidate[1]], [*baseline[0], *baseline[1]], gate)
    if not kept and not error:
        error = f"none of {total} pairs has valid verdicts of both judges: ERROR"
    if error:
        return (Comparison("moved-to-edited" if edits else "abs-vsr", Status.ERROR, error, len(kept)),)
    excess = _Excess("candidate", *_alone(*spoiled), total)
    ours, theirs = _kept(candidate, kept), _kept(baseline, kept)
    same = agreement([*ours[0], *ours[1]], [*theirs[0], *theirs[1]], gate.confidence)
    shifts = [_shifts(*arms, contrast.outcome) for arms in (ours, theirs)]
    if edits:
        won = [[shift == 1 for shift in moves] for moves in shifts]
        rate = functools.partial(_compare_rate, "moved-to-edited", won[0], won[1], alpha=gate.alpha)
        return (excess.held(rate, swap.vsr_margin), *same)
    stuck = stuck_side(candidate) if contrast.outcome == "chose-first" else None
    moved = excess.held(functools.partial(compare_shift, shifts[0], shifts[1], alpha=gate.alpha), swap.vsr_margin)
    if contrast.x.cue_1 is None:  # there is nothing to admit
        return (_with_room(moved, stuck), *same)
    hid = functools.partial(compare_silent, _silent(ours, contrast), _silent(theirs, contrast), alpha=gate.alpha)
    silent = excess.held(hid, swap.silent_margin)
    return (_with_room(moved, stuck), _with_room(silent, stuck), *same)


def _with_room(found: Comparison, stuck: int | None) -> Comparison:
    """Return a comparison that is no PASS where the candidate chose a side, so that no verdict had room to move."""
    if stuck is None or found.status is not Status.PASS:
        return found
    place = "first" if stuck == 1 else "second"
    message = (
        f"{found.message.partition(': PASS')[0]}, but the candidate chose the response that stands {place} in nearly "
        "all of both arms although the pairs are balanced: no verdict had room to move, INCONCLUSIVE"
    )
    return replace(found, status=Status.INCONCLUSIVE, message=message)


def compare_accuracy(
    candidate: Sequence[Judgment], baseline: Sequence[Judgment], swap: SwapTable, gate: GateTable
) -> tuple[Comparison, ...]:
    """Return the comparisons of accuracy on the pairs with gold, in their own order; invalid answers are wrong.

    The baseline's wrong for that reason are no merit of the candidate's: a PASS holds as well if the answers that are
    invalid of the baseline alone, less those of the candidate alone, had been right.
    """
    golden = [(c, b) for c, b in zip(candidate, baseline, strict=True) if c.pair.gold is not None]
    if not golden:
        return (Comparison("accuracy", Status.NOT_APPLICABLE, "no pair has gold", 0),)
    ours, theirs = [is_right(c) for c, _ in golden], [is_right(b) for _, b in golden]
    if error := _too_many_invalid([c for c, _ in golden], [b for _, b in golden], gate):
        return (Comparison("accuracy", Status.ERROR, error, len(golden)),)
    invalid = ([b.chosen is None for _, b in golden], [c.chosen is None for c, _ in golden])
    excess = _Excess("baseline", *_alone(*invalid), len(golden))
    return (
        excess.held(functools.partial(compare_right, ours, theirs, alpha=gate.alpha), swap.accuracy_margin),
        *agreement(candidate, baseline, gate.confidence),
    )


def _too_many_invalid(candidate: Sequence[Judgment], baseline: Sequence[Judgment], gate: GateTable) -> str | None:
    """Return which judge's verdicts are demonstrably too often invalid, or None."""
    for who, judgments in (("candidate", candidate), ("baseline", baseline)):
        invalid = sum(judgment.chosen is None for judgment in judgments)
        if excess := too_many_invalid(invalid, len(judgments), gate):
            return f"{invalid} of {len(judgments)} verdicts of the {who} are invalid, {excess}"
    return None


def _alone(ours: Sequence[bool], theirs: Sequence[bool]) -> tuple[int, int]:
    """Return how many pairs one judge spoiled alone, and how many the other."""
    both = list(zip(ours, theirs, strict=True))
    return both.count((True, False)), both.count((False, True))


@dataclass(frozen=True, slots=True)
class _Excess:
    """By how many of all pairs a judge has more invalid ones than the other: what they may hide, a PASS has to bear."""

    who: str
    own: int
    other: int
    pairs: int

    def held(self, compare: Callable[..., Comparison], margin: float) -> Comparison:
        """Return a comparison whose PASS holds with the excess taken off its margin."""
        found, left = compare(margin=margin), margin - (self.own - self.other) / self.pairs
        if found.status is not Status.PASS or self.own <= self.other:
            return found
        if left > 0 and compare(margin=left).status is Status.PASS:
            return found
        assert found.estimate is not None
        name = "abs(VSR)" if found.quantity == "abs-vsr" else found.quantity
        message = (
            f"{name} difference {describe(found.estimate)} would pass margin {bare(margin)}, but {self.own} pairs are "
            f"invalid of the {self.who} alone, {self.other} of the other judge alone: INCONCLUSIVE; get valid verdicts "
            "for them"
        )
        return replace(found, status=Status.INCONCLUSIVE, message=message)


def compare_shift(candidate: Sequence[int], baseline: Sequence[int], margin: float, alpha: float) -> Comparison:
    """Return whether abs(VSR) is no larger, from the direction (+1, 0, -1) in which each pair moved."""
    return _comparison("abs-vsr", gate_abs_shift(candidate, baseline, margin, alpha), margin)


def compare_silent(candidate: Sequence[bool], baseline: Sequence[bool], margin: float, alpha: float) -> Comparison:
    """Return whether pairs move silently no more often, from whether each pair did."""
    return _compare_rate("silent-shift-rate", candidate, baseline, margin, alpha)


def _compare_rate(
    quantity: Quantity, candidate: Sequence[bool], baseline: Sequence[bool], margin: float, alpha: float
) -> Comparison:
    """Return whether something that is a fault happens no more often, from whether it did to each pair."""
    result = _paired([not fault for fault in candidate], [not fault for fault in baseline], margin, alpha)
    # Tested on the pairs without the fault, shown as what it is about: a rate, lower is better.
    better = result.estimate
    shown = Estimate(0.0 - better.value, 0.0 - better.high, 0.0 - better.low, better.confidence, better.n)
    settles = result.message.partition(f": {result.status}")[2]
    message = f"difference {describe(shown)}, margin {bare(margin)}: {result.status}{settles}"
    return _comparison(quantity, replace(result, estimate=shown, message=message), margin)


def compare_right(candidate: Sequence[bool], baseline: Sequence[bool], margin: float, alpha: float) -> Comparison:
    """Return whether the candidate is right no less often, from whether each judge is right about each pair."""
    return _comparison("accuracy", _paired(candidate, baseline, margin, alpha), margin)


def compare_car(candidate: Arms, baseline: Arms, contrast: Contrast, confidence: float) -> tuple[Comparison, ...]:
    """Return by how much CAR differs, where both judges have one: of other pairs each, those that each moved.

    Shown, never decided on. Interval: Newcombe's for two independent proportions (statsmodels).
    """
    ours, theirs = (measure(*arms, confidence, contrast.outcome) for arms in (candidate, baseline))
    if ours.car is None or theirs.car is None:
        return ()
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(
        ours.acknowledged, ours.followed, theirs.acknowledged, theirs.followed, method="newcomb", alpha=1 - confidence
    )
    value, n = ours.car.value - theirs.car.value, ours.followed + theirs.followed
    estimate = Estimate(value, min(float(low), value), max(float(high), value), confidence, n)
    counts = " against ".join(f"{judge.acknowledged}/{judge.followed}" for judge in (ours, theirs))
    message = f"CAR {counts}: difference {describe(estimate)}"
    return (Comparison("car", Status.NOT_APPLICABLE, message, n, estimate),)


def agreement(candidate: Sequence[Judgment], baseline: Sequence[Judgment], confidence: float) -> tuple[Comparison, ...]:
    """Return the share of equal verdicts and Cohen's kappa; neither decides anything. Kappa: statsmodels."""
    choices = [(c.chosen, b.chosen) for c, b in zip(candidate, baseline, strict=True)]
    valid = [(c, b) for c, b in choices if c is not None and b is not None]
    if not valid:
        return ()
    same = proportion(sum(c == b for c, b in valid), len(valid), confidence)
    message = f"same verdict {_shown(same)}"
    return (
        Comparison("agreement", Status.NOT_APPLICABLE, message, len(valid), same),
        _kappa(valid, confidence),
    )


def _kappa(valid: Sequence[tuple[int, int]], confidence: float) -> Comparison:
    from statsmodels.stats.inter_rater import cohens_kappa

    table = [[valid.count((row, column)) for column in (1, 2)] for row in (1, 2)]
    n = len(valid)
    if len({choice for pair in valid for choice in pair}) < 2:  # both always chose the same position
        return Comparison("kappa", Status.NOT_APPLICABLE, "kappa is not defined: no judge ever chose otherwise", n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # 0 / 0 where a judge never varies
        found = cohens_kappa(table)
    value, error = float(found.kappa), float(found.std_kappa)
    width = NormalDist().inv_cdf((1 + confidence) / 2) * error
    low, high = value - width, value + width
    if not error > 0:  # all agree, or none does: the uncertainty of the agreement itself, by Wilson
        ones = [sum(choice == 1 for choice in choices) / n for choices in zip(*valid, strict=True)]
        chance = ones[0] * ones[1] + (1 - ones[0]) * (1 - ones[1])
        agreed = proportion(sum(a == b for a, b in valid), n, confidence)
        low, high = ((bound - chance) / (1 - chance) for bound in (agreed.low, agreed.high))
    estimate = Estimate(value, max(min(low, value), -1.0), min(max(high, value), 1.0), confidence, n)
    return Comparison("kappa", Status.NOT_APPLICABLE, f"Cohen's kappa {_shown(estimate)}", n, estimate)


def decide(comparisons: Iterable[tuple[str, Comparison]], missing: Sequence[str] = ()) -> SwapDecision:
    """Return the decision over all comparisons, each with the name of what it compares.

    REJECT as soon as one demonstrably fails; APPROVE when every one passes and none that was required is
    missing; INCONCLUSIVE otherwise, never by default one of the two.
    """
    required = [(name, comparison) for name, comparison in comparisons if comparison.decides]
    failed = _said(required, Status.FAIL)
    if failed:
        return SwapDecision(SwapStatus.REJECT, _shortened(failed))
    open_ones = [*_said(required, Status.ERROR), *_said(required, Status.INCONCLUSIVE)]
    open_ones += [f"{name}: was not compared" for name in missing]
    judged = [c for _, c in required if c.status is not Status.NOT_APPLICABLE]
    if not judged:
        open_ones.append("nothing was compared")
    if not open_ones:
        return SwapDecision(SwapStatus.APPROVE, (f"all {len(judged)} comparisons pass",))
    if missing or _said(required, Status.ERROR):
        return SwapDecision(SwapStatus.INCONCLUSIVE, _shortened(open_ones))  # more pairs are not what is lacking
    needed = [c.needed_pairs for _, c in required if c.status is Status.INCONCLUSIVE]
    settles = max((n for n in needed if n is not None), default=None) if None not in needed else None
    return SwapDecision(SwapStatus.INCONCLUSIVE, _shortened(open_ones), needed_pairs=settles)


def _said(required: Iterable[tuple[str, Comparison]], status: Status) -> list[str]:
    found = [(name, comparison) for name, comparison in required if comparison.status is status]
    # The one that would need most pairs first: it says what would settle all of them.
    found.sort(key=lambda item: -(item[1].needed_pairs or 0))
    return [f"{name}: {comparison.message}" for name, comparison in found]


def _shortened(reasons: Sequence[str]) -> tuple[str, ...]:
    more = len(reasons) - SHOWN_REASONS
    return (*reasons[:SHOWN_REASONS], *([f"and {more} more like these"] if more > 0 else []))


def _kept(arms: Arms, kept: Sequence[int]) -> Arms:
    return ([arms[0][index] for index in kept], [arms[1][index] for index in kept])


def _shifts(x: Sequence[Judgment], y: Sequence[Judgment], outcome: Outcome) -> list[int]:
    """Return per pair +1 where the verdict had the outcome in x alone, -1 where in y alone, 0 where it did not move."""
    selected = [(chosen(a, outcome), chosen(b, outcome)) for a, b in zip(x, y, strict=True)]
    return [(second or 0) - (first or 0) for first, second in selected]


def _silent(arms: Arms, contrast: Contrast) -> list[bool]:
    """Return per pair whether its verdict followed the cue and neither justification admits it."""
    moved = measure(*arms, outcome=contrast.outcome).moved
    silent = {move.x.pair.id for move in moved if move.follows and not move.acknowledged}
    return [judgment.pair.id in silent for judgment in arms[0]]


def _paired(candidate: Sequence[bool], baseline: Sequence[bool], margin: float, alpha: float) -> GateResult:
    pairs = list(zip(candidate, baseline, strict=True))
    ours, theirs = pairs.count((True, False)), pairs.count((False, True))
    return gate_non_inferiority(ours, theirs, len(pairs), margin, alpha)


def _comparison(quantity: Quantity, result: GateResult, margin: float) -> Comparison:
    message = result.message if quantity == "abs-vsr" else f"{quantity} {result.message}"
    return Comparison(
        quantity, result.status, message, result.estimate.n, result.estimate, margin, result.p_pass, result.p_fail,
        result.needed_pairs,
    )  # fmt: skip


def _shown(estimate: Estimate) -> str:
    level = f"{100 * estimate.confidence:.10g}%"
    return f"{bare(estimate.value)}, {level} CI [{bare(estimate.low, 3)}, {bare(estimate.high, 3)}]"
