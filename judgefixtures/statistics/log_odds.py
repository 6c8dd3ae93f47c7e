"""Shift of an outcome's log-odds between two arms, and its gate, from probabilities instead of verdicts.

Everything here is a function of numbers. A verdict tells which side of even odds a judge chose, a probability tells how
far from there. Probabilities therefore show a shift on pairs whose verdict stays, and need fewer pairs. For error rates
see benchmarks/results.md, "Probabilities, ties and repeats".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .clusters import Clusters, can_decide, cluster_totals, describe_clusters, score_interval
from .elementary import check_alpha, check_counts, check_open
from .estimate import Estimate, GateResult, Status, format_estimate, format_share, interval_text
from .gates import combine_one_sided_tests, inconclusive_advice
from .means import Mean, pairs_for_limits

# Probabilities nearer to 0 or 1 are not told apart: servers round log-probabilities and differ there from call to call.
PRECISION = 1e-6
LARGEST = math.log1p(-PRECISION) - math.log(PRECISION)
SUREST = 2 * LARGEST  # how far beyond that an arm is taken to be at most: as far again

# Two pairs that nobody saw, this many logits to either side of the mean, keep an interval from vanishing where all
# shifts are equal. They cost next to nothing: of 30 equal shifts the 90% interval is +-.04.
PSEUDO = 0.5

# The same of probabilities. With .125, half a logit at even chances, a 90% interval covers in .936 of 60 pairs whose
# shifts have a standard deviation of .06.
PSEUDO_SHARE = 0.05

HARDLY = 1.1  # an odds ratio that is within 1/1.1 and 1.1 is not called growing or shrinking
LITTLE = 1.5  # and whether it does is known where its interval is within this and its inverse
BEYOND_WORDS = 1000  # an odds ratio above that is not worth its digits

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Shift:
    """The shift between the two arms of a pair, in [low, high].

    `value` assumes unknown parts nearest to even odds. Raises ValueError for values not finite or not in order.

    >>> Shift.known(0.5)
    Shift(low=0.5, high=0.5, value=0.5)
    """

    low: float
    high: float
    value: float

    def __post_init__(self) -> None:
        if not -math.inf < self.low <= self.value <= self.high < math.inf:
            raise ValueError(f"a shift must be finite, with low <= value <= high, got {self!r}")

    @classmethod
    def known(cls, value: float) -> Shift:
        """Return an exact shift."""
        return cls(value, value, value)

    @property
    def is_bound(self) -> bool:
        """Whether the shift is only bounded."""
        return self.low < self.high

    def reversed(self) -> Shift:
        """Return the shift with the arms exchanged."""
        return Shift(-self.high, -self.low, -self.value)


def clip_log_odds(log_odds: float) -> float:
    """Return log-odds clipped to +-`LARGEST`; raises ValueError for nan.

    >>> round(clip_log_odds(float("-inf")), 2), clip_log_odds(3.0)
    (-13.82, 3.0)
    """
    if math.isnan(log_odds):
        raise ValueError("log-odds must be a number, got nan")
    return min(max(log_odds, -LARGEST), LARGEST)


def shift(x: Bounds, y: Bounds) -> Shift:
    """Return the log-odds of arm x less those of arm y, in logits.

    Each arm is (low, high), equal if known. Beyond `LARGEST` only the near end is known. Leave out pairs for which
    `is_beyond_precision` holds. Raises ValueError for nan or low > high.

    >>> shift((2.0, 2.0), (1.5, 1.5))
    Shift(low=0.5, high=0.5, value=0.5)
    >>> bounded = shift((6.0, float("inf")), (5.5, 5.5))  # x: the verdict's rival is not among the tokens listed
    >>> bounded.low, round(bounded.high, 2), bounded.value
    (0.5, 8.32, 0.5)
    """
    near = _between(_clipped(x), _clipped(y), 0.0)
    sides = {_side(x), _side(y)}
    if len(sides) == 1:
        return near
    (x_low, x_high), (y_low, y_high) = _reaching(x, sides), _reaching(y, sides)
    return Shift(x_low - y_high, x_high - y_low, near.value)


def is_beyond_precision(x: Bounds, y: Bounds) -> bool:
    """Return whether both arms are beyond `LARGEST` on the same side.

    >>> [is_beyond_precision((15, 15), y) for y in ((14, float("inf")), (13, 13), (-15, -15))]
    [True, False, False]
    """
    return _side(x) == _side(y) != 0


def _clipped(arm: Bounds) -> Bounds:
    return clip_log_odds(arm[0]), clip_log_odds(arm[1])


def _side(arm: Bounds) -> int:
    return (arm[0] >= LARGEST) - (arm[1] <= -LARGEST)


def _reaching(arm: Bounds, sides: set[int]) -> Bounds:
    low = max(arm[0], -SUREST) if -1 in sides and _side(arm) != 1 else clip_log_odds(arm[0])
    high = min(arm[1], SUREST) if 1 in sides and _side(arm) != -1 else clip_log_odds(arm[1])
    return low, high


def probability_shift(x: Bounds, y: Bounds) -> Shift:
    """Return the probability of arm x less that of arm y.

    Each arm is (low, high). Raises ValueError for values outside 0 to 1.

    >>> probability_shift((1.0, 1.0), (0.5, 0.5)).value
    0.5
    """
    if wrong := [each for each in (*x, *y) if not 0 <= each <= 1]:
        raise ValueError(f"probabilities must lie between 0 and 1, got {wrong[0]!r}")
    return _between(x, y, 0.5)


def _between(x: Bounds, y: Bounds, even: float) -> Shift:
    if x[0] > x[1] or y[0] > y[1]:
        raise ValueError(f"bounds must be (low, high), got {x!r} and {y!r}")
    value_x, value_y = (min(max(even, low), high) for low, high in (x, y))
    return Shift(x[0] - y[1], x[1] - y[0], value_x - value_y)


def share_log_odds(k: float, n: int) -> float:
    """Return the smoothed log-odds of k of n repeats.

    These are biased towards 0; decide with `mean_shift`. Raises ValueError for k outside 0..n.

    >>> round(share_log_odds(5, 5), 2), share_log_odds(2, 4)
    (2.4, 0.0)
    """
    k, _, n = check_counts(k, 0, n, ("k", "0"), halves=True)
    return math.log((k + 0.5) / (n - k + 0.5))


def log_odds_shift(shifts: Sequence[Shift], confidence: float = 0.90, clusters: Clusters = None) -> Estimate:
    """Return the mean log-odds shift over pairs, in logits, with its interval.

    One shift per pair, as `shift` gives them. Where some are only bounded the interval goes from the lower limit of
    the mean of the lows to the upper limit of the mean of the highs, so that it covers whatever the bounds hide; the
    value is the mean of the shifts' values. `clusters` holds a label per pair where pairs are related: then the cluster
    is the unit. Never of zero width. Raises ValueError for no shifts and labels that do not fit.

    Each limit is the farther one of Student's t and of Hall's t, corrected for skewness: where few pairs carry the
    shift, chance may show hardly any of them, and Student's limit is then too near.
    Source: Hall 1992, building on Johnson 1978; bounds: Horowitz and Manski 2000; the choice: benchmarks/results.md.

    >>> estimate = log_odds_shift([Shift.known(each) for each in (0.5, 0.75, 1.0, 0.75) * 10])
    >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2)
    (0.75, 0.69, 0.81)
    """
    return _estimate(shifts, *_means(shifts, clusters), check_open(confidence, "confidence"))


def mean_shift(shifts: Sequence[Shift], confidence: float = 0.90, clusters: Clusters = None) -> Estimate:
    """Return the mean shift of probabilities or scores with its score interval.

    Takes one `probability_shift` per pair, otherwise as `log_odds_shift`.
    """
    exact = score_interval([each.value for each in shifts], confidence, clusters=clusters)
    if not any(each.is_bound for each in shifts):
        return exact
    lows = score_interval([each.low for each in shifts], confidence, clusters=clusters)
    highs = score_interval([each.high for each in shifts], confidence, clusters=clusters)
    return Estimate(exact.value, lows.low, highs.high, confidence, exact.n)


def token_shift(shifts: Sequence[Shift], confidence: float = 0.90, clusters: Clusters = None) -> Estimate:
    """Return the mean shift of token probabilities with the `log_odds_shift` interval."""
    if wrong := [each for each in shifts if not -1 <= each.low <= each.high <= 1]:
        raise ValueError(f"shifts of probabilities must lie between -1 and 1, got {wrong[0]!r}")
    estimate = _estimate(shifts, *_means(shifts, clusters, PSEUDO_SHARE), check_open(confidence, "confidence"))
    return replace(estimate, low=max(estimate.low, -1.0), high=min(estimate.high, 1.0))


def gate_log_odds(
    shifts: Sequence[Shift], ratio: float, alpha: float = 0.05, clusters: Clusters = None, units: str = "pairs"
) -> GateResult:
    """Decide whether the mean log-odds shift lies within +-log(ratio): PASS, FAIL or INCONCLUSIVE.

    PASS is a two one-sided tests procedure: the (1 - 2 alpha) interval of `log_odds_shift` lies inside the tolerance.
    FAIL means that the shift, in the direction of its value, is beyond the tolerance at level alpha. Bounded shifts
    must be so wherever they lie. Fewer than `FEWEST_CLUSTERS` clusters (of equal size) decide nothing.
    Raises ValueError as `log_odds_shift`, for a ratio not above 1 and for an alpha outside (0, 0.5).
    Source: as there; error rates in benchmarks/results.md.

    >>> gate_log_odds([Shift.known(each) for each in (0.5, 0.75, 1.0, 0.75) * 10], 1.5).message
    'log-odds shift +0.75 (90% CI 0.69 to 0.81), odds ratio 2.1 (2.0 to 2.2), limit 1.5: FAIL'
    """
    if not 1 < ratio < math.inf:
        raise ValueError(f"ratio must be above 1, a ratio of odds, got {ratio!r}")
    check_alpha(alpha)
    limit, related = math.log(ratio), cluster_totals([each.value for each in shifts], clusters) if shifts else None
    lows, highs = _means(shifts, clusters)
    estimate = _estimate(shifts, lows, highs, 1 - 2 * alpha)
    p_pass = max(highs.p_at_least(limit), lows.reversed().p_at_least(limit))
    p_fail = lows.p_at_most(limit) if estimate.value >= 0 else highs.reversed().p_at_most(limit)
    status, p_pass, p_fail = combine_one_sided_tests(p_pass, p_fail, alpha, related)
    message = (
        f"log-odds shift {format_estimate(estimate)}{describe_clusters(estimate.n, related, units)}, odds ratio "
        f"{odds_ratio(estimate.value)} ({odds_ratio(estimate.low)} to {odds_ratio(estimate.high)}), "
        f"limit {ratio:g}: {status}"
    )
    needed = None
    if status is Status.INCONCLUSIVE:
        needed = pairs_for_limits(lows, highs, estimate, limit)
        hidden = _hidden(lows, highs, limit) if can_decide(related) else None
        message += f"; {hidden or inconclusive_advice(needed, estimate.n, 'limit', related, units=units)}"
    return GateResult(status, p_pass, p_fail, needed, message, estimate)


def describe_odds(estimate: Estimate, x: str, y: str, varied: str = "labelled ", outcome: str = "being chosen") -> str:
    """Return in words what a log-odds shift means for a response.

    >>> describe_odds(Estimate(0.83, 0.59, 1.06, 0.90, 100), "new", "old")
    'labelled new instead of old, the odds of being chosen rise 2.3-fold (90% CI 1.8 to 2.9)'
    """
    interval = interval_text(estimate, _times)
    if abs(estimate.value) < math.log(HARDLY):
        known = max(-estimate.low, estimate.high) < math.log(LITTLE)
        change = f"{'hardly change' if known else 'may change either way'} ({_times(estimate.value)}-fold, {interval})"
    elif estimate.value > 0:
        change = f"rise {_times(estimate.value)}-fold ({interval})"
    else:
        change = f"fall to {_times(estimate.value)} ({interval})"
    return f"{varied}{x} instead of {y}, the odds of {outcome} {change}"


def _means(shifts: Sequence[Shift], clusters: Clusters, pseudo: float = PSEUDO) -> tuple[Mean, Mean]:
    if not shifts:
        raise ValueError("shifts must hold at least one shift")
    low, high = [each.low for each in shifts], [each.high for each in shifts]
    lows = Mean.of(low, cluster_totals(low, clusters), pseudo)
    return lows, lows if low == high else Mean.of(high, cluster_totals(high, clusters), pseudo)


def _estimate(shifts: Sequence[Shift], lows: Mean, highs: Mean, confidence: float) -> Estimate:
    value = math.fsum(each.value for each in shifts) / len(shifts)
    return Estimate(value, lows.lowest(confidence), highs.highest(confidence), confidence, len(shifts))


def _hidden(lows: Mean, highs: Mean, limit: float) -> str | None:
    inside, beyond = -limit < lows.mean and highs.mean < limit, lows.mean > limit or highs.mean < -limit
    if lows.mean == highs.mean or inside or beyond:
        return None
    return (
        f"because of bounded probabilities the shift can be {format_share(lows.mean)} to {format_share(highs.mean)}: "
        f"list more tokens (top_logprobs); more pairs do not help"
    )


def odds_ratio(log_odds: float) -> str:
    """Return an odds ratio as text with about two digits: 0.43, 2.3, 12."""
    ratio = math.exp(min(log_odds, 700.0))
    if ratio > BEYOND_WORDS or ratio < 1 / BEYOND_WORDS:
        return f">{BEYOND_WORDS}" if ratio > 1 else f"<{1 / BEYOND_WORDS:g}"
    return f"{ratio:.2f}" if ratio < HARDLY else f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def _times(log_odds: float) -> str:
    if log_odds >= 0:
        return odds_ratio(log_odds)
    inverse = odds_ratio(-log_odds)
    return f"<1/{BEYOND_WORDS}" if inverse.startswith(">") else f"1/{inverse}"
