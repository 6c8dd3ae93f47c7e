"""Certainty metrics: probabilities and scores of two arms."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from judgefixtures.models.contrasts import Outcome
from judgefixtures.models.edits import edit_target
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import clusters_of
from judgefixtures.models.probabilities import Probability
from judgefixtures.statistics import log_odds as odds
from judgefixtures.statistics.estimate import Estimate
from judgefixtures.statistics.score_shift import points_shift

from .contrast_metrics import moves_each_way, outcome_share

Arm = Sequence[Judgment]
Repeats = Sequence[Judgment]  # of one pair in one arm
Scale = tuple[float, float]

# Of the pairs with probabilities: where the judge reasoned first on more, their log-odds are those given its reasoning.
# Fewer are left out, as pairs without a probability are: as many may be invalid by default.
REASONED = 0.05


@dataclass(frozen=True, slots=True)
class Certainty:
    """Differences of two arms beyond verdicts, on the same pairs.

    Attributes:
        lacking: Pairs without values.
        soft_vsr: Mean difference of probabilities.
        log_odds_shift: In logits.
        score_shift: Points that the cue of arm x adds.
        shifts: Log-odds difference per pair.
        points: Score difference per pair, as a share of the scale.
        clusters: A label per pair, or None.
        repeats: Repeats behind the probabilities, 0 for tokens.
        beyond: Pairs with both arms beyond +-`LARGEST` logits.
        explained: Pairs with reasoning before the verdict.
        reasons_first: More than `REASONED` are explained; no `log_odds_shift`.
        given_reasons: The mean shift in that case.
    """

    pairs: int
    lacking: int
    soft_vsr: Estimate | None = None
    log_odds_shift: Estimate | None = None
    score_shift: Estimate | None = None
    shifts: tuple[odds.Shift, ...] = ()
    points: tuple[odds.Shift, ...] = ()
    clusters: tuple[Hashable, ...] | None = None
    repeats: int = 0
    beyond: int = 0
    explained: int = 0
    reasons_first: bool = False
    given_reasons: Estimate | None = None

    @property
    def units(self) -> int:
        """The number of pairs with values, or of clusters."""
        return len(set(self.clusters)) if self.clusters else self.pairs - self.lacking


def certainty(
    xs: Sequence[Arm], ys: Sequence[Arm], outcome: Outcome, confidence: float = 0.90, scale: Scale | None = None
) -> Certainty:
    """Return the differences of two arms, each with all repeats.

    With `scale` the judge scored each response. Source: statistics/log_odds.py.
    """
    pairs = list(zip(zip(*xs, strict=True), zip(*ys, strict=True), strict=True))
    if scale is not None:
        return _of_scores([(x[0], y[0]) for x, y in pairs], outcome, confidence, scale)
    repeats = len(xs) if len(xs) > 1 and not any(j.verdict.probability for arm in (*xs, *ys) for j in arm) else 0
    likelihoods = _of_repeats if repeats else _of_tokens
    known = [(x[0], both) for x, y in pairs if (both := likelihoods(x, y, outcome)) is not None]
    if not known:
        return Certainty(len(pairs), len(pairs))
    soft = [odds.probability_shift(a.share, b.share) for _, (a, b) in known]
    bounded = [each for each in known if not odds.is_beyond_precision(each[1][0].log_odds, each[1][1].log_odds)]
    explained = sum(a.explained or b.explained for _, (a, b) in known)
    measured = Certainty(
        len(pairs),
        len(pairs),
        # Shares of repeats are as coarse as verdicts, and may all be 0 or 1: they have the score interval.
        (odds.mean_shift if repeats else odds.token_shift)(soft, confidence, _clusters(known)),
        repeats=repeats,
        beyond=len(known) - len(bounded),
        explained=explained,
    )
    if explained > REASONED * len(known):
        return replace(measured, reasons_first=True, given_reasons=_mean_log_odds(bounded, confidence))
    bounded = [(x, (a, b)) for x, (a, b) in bounded if not (a.explained or b.explained)]
    return replace(
        measured,
        lacking=len(pairs) - len(bounded),
        log_odds_shift=_mean_log_odds(bounded, confidence),
        shifts=tuple(map(_shift, bounded)),
        clusters=_labels(_clusters(bounded)),
    )


@dataclass(frozen=True, slots=True)
class _Likely:
    log_odds: odds.Bounds
    share: odds.Bounds
    explained: bool = False


Known = tuple[Judgment, tuple[_Likely, _Likely]]  # the outcome in both arms, about the pair of a judgment


def _shift(known: Known) -> odds.Shift:
    _, (x, y) = known
    return odds.shift(x.log_odds, y.log_odds)


def _mean_log_odds(known: Sequence[Known], confidence: float) -> Estimate | None:
    return odds.log_odds_shift([*map(_shift, known)], confidence, _clusters(known)) if known else None


def _clusters(known: Sequence[Known]) -> Sequence[Hashable] | None:
    return clusters_of(judgment.pair for judgment, _ in known)


def _of_tokens(x: Repeats, y: Repeats, outcome: Outcome) -> tuple[_Likely, _Likely] | None:
    first, second = likely(x[0], outcome), likely(y[0], outcome)
    if first is None or second is None:
        return None
    one, other = (_Likely((each.low, each.high), each.bounds, each.explained) for each in (first, second))
    return one, other


def likely(judgment: Judgment, outcome: Outcome) -> Probability | None:
    """Return the probability of an outcome, or None."""
    first = None if judgment.verdict.invalid else judgment.verdict.probability
    if first is None or outcome in ("chose-first", "passed"):
        return first
    turned = judgment.condition.order == "21"
    if outcome == "chose-edited" and edit_target(judgment.pair) == 2:
        turned = not turned
    return first.reversed() if turned else first


def _of_repeats(x: Repeats, y: Repeats, outcome: Outcome) -> tuple[_Likely, _Likely] | None:
    """Equal numbers of repeats avoid a bias from the smoothed shares."""
    shares = [(outcome_share(a, outcome), outcome_share(b, outcome)) for a, b in zip(x, y, strict=True)]
    whole = [(a, b) for a, b in shares if a is not None and b is not None]
    if len(whole) < 2:
        return None
    first, second = (_share(of_arm) for of_arm in zip(*whole, strict=True))
    return first, second


def _share(shares: Sequence[float]) -> _Likely:
    log_odds, share = odds.share_log_odds(moves_each_way(shares)[0], len(shares)), sum(shares) / len(shares)
    return _Likely((log_odds, log_odds), (share, share))


def _of_scores(
    pairs: Sequence[tuple[Judgment, Judgment]], outcome: Outcome, confidence: float, scale: Scale
) -> Certainty:
    low, high = scale
    scored = [(x, y) for x, y in pairs if x.verdict.scores is not None and y.verdict.scores is not None]
    if not scored:
        return Certainty(len(pairs), len(pairs))
    points = tuple(odds.Shift.known(_points(x, y, outcome) / (high - low)) for x, y in scored)
    labels = clusters_of(x.pair for x, _ in scored)
    share = points_shift([each.value for each in points], confidence, labels)
    value, least, most = (each * (high - low) for each in (share.value, share.low, share.high))
    in_points = Estimate(value, least, most, confidence, share.n)
    n = len(pairs)
    return Certainty(n, n - len(scored), share, score_shift=in_points, points=points, clusters=_labels(labels))


def _points(x: Judgment, y: Judgment, outcome: Outcome) -> float:
    if outcome == "passed":
        return _scores(x)[0] - _scores(y)[0]
    (x_1, x_2), (y_1, y_2) = _scores(x), _scores(y)
    if outcome == "chose-edited":
        return x_1 - y_1 if edit_target(x.pair) == 1 else x_2 - y_2
    return ((x_1 - y_1) + (y_2 - x_2)) / 2


def _scores(judgment: Judgment) -> tuple[float, ...]:
    scores = judgment.verdict.scores
    assert scores is not None
    return scores if judgment.condition.order == "12" else scores[::-1]


def _labels(clusters: Sequence[Hashable] | None) -> tuple[Hashable, ...] | None:
    return None if clusters is None else tuple(clusters)


def likely_of(arm: Arm) -> dict[str, float]:
    """Return the probability of the pair's own response 1, by pair id.

    Omits answers with reasoning, which are sure even on close pairs.
    """
    known = ((judgment.pair.id, likely(judgment, "chose-own-first")) for judgment in arm)
    return {pair: chance.value for pair, chance in known if chance is not None and not chance.explained}
