"""Certainty: what two arms amount to where a judge tells more than a verdict: how sure it was, or how many points.

Beside the yes or no of metrics.py. Per pair and arm an outcome then is a probability: that of the server's tokens, the
share of repeats in which it came about, or half and half plus the difference of two scores in shares of their scale.
Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from judgefixtures.contrasts import Outcome
from judgefixtures.edits import target
from judgefixtures.judgments import Judgment
from judgefixtures.metrics import each_way, share_of
from judgefixtures.odds import Bounds, Shift, log_odds_shift, mean_shift, probability_shift, share_log_odds, shift
from judgefixtures.pairs import clusters_of
from judgefixtures.probabilities import Probability
from judgefixtures.statistics import Estimate

Arm = Sequence[Judgment]
Scale = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Certainty:
    """How far two arms on the same pairs are apart beyond their verdicts.

    `soft_vsr` is the mean difference of the outcome's probabilities, `log_odds_shift` that of its log-odds, in logits;
    None without probabilities. `score_shift` is the mean over both responses of what the cue of arm x brings one, in
    points; None without scores. `shifts` are those of log-odds and `points` of scores, in shares of the scale, one per
    pair that has them, in clusters of these labels (None: unrelated). Of `pairs` with valid verdicts `lacking` have
    nothing beyond them. `repeats` is out of how many repeats the probabilities are, 0 where the server told them.
    """

    pairs: int
    lacking: int
    soft_vsr: Estimate | None = None
    log_odds_shift: Estimate | None = None
    score_shift: Estimate | None = None
    shifts: tuple[Shift, ...] = ()
    points: tuple[Shift, ...] = ()
    clusters: tuple[Hashable, ...] | None = None
    repeats: int = 0


def certainty(
    xs: Sequence[Arm], ys: Sequence[Arm], outcome: Outcome, confidence: float = 0.90, scale: Scale | None = None
) -> Certainty:
    """Return how far two arms are apart beyond their verdicts; each is given with all its repeats, in the pairs' order.

    A pair counts where both arms have a valid verdict in their first repeat. With `scale` the judge scored each
    response by itself. Source of the estimates: odds.py.
    """
    pairs = [
        (x, y) for x, y in zip(zip(*xs, strict=True), zip(*ys, strict=True), strict=True)
        if x[0].verdict.invalid is None and y[0].verdict.invalid is None
    ]  # fmt: skip
    if scale is not None:
        return _of_scores(pairs, outcome, confidence, scale)
    repeats = len(xs) if len(xs) > 1 and not any(j.reply.probability for arm in (*xs, *ys) for j in arm) else 0
    odds = _odds_of_repeats if repeats else _odds
    known = [(x[0], odds(x, outcome), odds(y, outcome)) for x, y in pairs]
    both = [(judgment, a, b) for judgment, a, b in known if a is not None and b is not None]
    if not both:
        return Certainty(len(pairs), len(pairs))
    labels = clusters_of(judgment.pair for judgment, _, _ in both)
    shifts = tuple(shift(a.log_odds, b.log_odds) for _, a, b in both)
    soft = [probability_shift(a.share, b.share) for _, a, b in both]
    return Certainty(
        len(pairs), len(pairs) - len(both), mean_shift(soft, confidence, labels),
        log_odds_shift(shifts, confidence, labels), shifts=shifts, clusters=_labels(labels), repeats=repeats,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Likely:
    """How likely an outcome was: bounds of its log-odds, and of its probability with ties as half."""

    log_odds: Bounds
    share: Bounds


def _odds(repeats: Sequence[Judgment], outcome: Outcome) -> _Likely | None:
    """Return how likely the outcome was in the first of an arm's repeats, by its tokens' probabilities."""
    probability = likely(repeats[0], outcome)
    return None if probability is None else _Likely((probability.low, probability.high), probability.bounds)


def likely(judgment: Judgment, outcome: Outcome) -> Probability | None:
    """Return how likely an outcome was, by the probabilities behind a verdict; None where there are none."""
    first = judgment.reply.probability
    if first is None or outcome == "chose-first":
        return first
    turned = judgment.condition.order == "21"
    if outcome == "chose-edited" and target(judgment.pair) == 2:
        turned = not turned
    return first.reversed() if turned else first


def _odds_of_repeats(repeats: Sequence[Judgment], outcome: Outcome) -> _Likely | None:
    """Return how likely the outcome was by the share of an arm's valid repeats."""
    shares = [share for judgment in repeats if (share := share_of(judgment, outcome)) is not None]
    if len(shares) < 2:
        return None
    odds, share = share_log_odds(each_way(shares)[0], len(shares)), sum(shares) / len(shares)
    return _Likely((odds, odds), (share, share))


def _of_scores(
    pairs: Sequence[tuple[Sequence[Judgment], Sequence[Judgment]]], outcome: Outcome, confidence: float, scale: Scale
) -> Certainty:
    """Return how far the scores of two arms are apart.

    With the labels exchanged between the arms each response has the cue of x in one of them and that of y in the other:
    a pair's shift is the mean over its responses. An edit changes one response alone.
    """
    low, high = scale
    points = []
    for (x, *_), (y, *_) in pairs:
        moved = _points(x, y, outcome) / (high - low)
        points.append(Shift.known(moved))
    if not points:
        return Certainty(0, 0)
    labels = clusters_of(x[0].pair for x, _ in pairs)
    share = mean_shift(points, confidence, labels)
    value, least, most = (each * (high - low) for each in (share.value, share.low, share.high))
    in_points = Estimate(value, least, most, confidence, share.n)
    return Certainty(len(pairs), 0, share, score_shift=in_points, points=tuple(points), clusters=_labels(labels))


def _points(x: Judgment, y: Judgment, outcome: Outcome) -> float:
    """Return by how many points the cue, or the edit, of arm x raised a response's score over that of arm y."""
    (x_1, x_2), (y_1, y_2) = _scores(x), _scores(y)
    if outcome == "chose-edited":
        return x_1 - y_1 if target(x.pair) == 1 else x_2 - y_2
    return ((x_1 - y_1) + (y_2 - x_2)) / 2


def _scores(judgment: Judgment) -> tuple[float, float]:
    """Return the scores of the pair's own responses 1 and 2."""
    scores = judgment.reply.scores
    assert scores is not None  # a verdict of a judge that scores has both
    return scores if judgment.condition.order == "12" else (scores[1], scores[0])


def _labels(clusters: Sequence[Hashable] | None) -> tuple[Hashable, ...] | None:
    return None if clusters is None else tuple(clusters)


def likely_of(arm: Arm) -> dict[str, float]:
    """Return how likely its own response 1 was to be chosen of each pair that has a probability, by pair id."""
    known = ((judgment.pair.id, likely(judgment, "chose-own-first")) for judgment in arm)
    return {pair: probability.value for pair, probability in known if probability is not None}
