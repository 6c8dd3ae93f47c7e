"""Log-odds shifts: worked values, second implementations, symmetry, bounds, clusters, and the errors of the gate."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq
from support.benchmarks import benchmark
from syrupy.assertion import SnapshotAssertion

from judgefixtures.statistics import (
    Estimate,
    Status,
    gate_shift,
    mean_interval,
    paired_difference,
    pairs_for_mean,
    score_interval,
    score_test,
)
from judgefixtures.statistics.log_odds import (
    LARGEST,
    SUREST,
    Shift,
    clip_log_odds,
    describe_odds,
    gate_log_odds,
    is_beyond_precision,
    log_odds_shift,
    mean_shift,
    probability_shift,
    share_log_odds,
    shift,
    token_shift,
)

PASS, FAIL, INCONCLUSIVE = Status.PASS, Status.FAIL, Status.INCONCLUSIVE
INFINITE = math.inf

logits = st.floats(-8, 8)
some = st.lists(logits, min_size=1, max_size=40)
ratios = st.floats(1.05, 20)
alphas = st.floats(0.01, 0.3)


@st.composite
def bounded(draw: st.DrawFn) -> list[Shift]:
    """Shifts, some of them bounded."""
    widths = st.one_of(st.just((0.0, 0.0)), st.tuples(st.floats(0, 5), st.floats(0, 5)))
    triples = draw(st.lists(st.tuples(logits, widths), min_size=1, max_size=30))
    return [Shift(value - below, value + above, value) for value, (below, above) in triples]


def exact(values: Iterable[float]) -> list[Shift]:
    """Shifts that are known."""
    return [Shift.known(value) for value in map(float, values)]


# --- one pair ---------------------------------------------------------------------------------------------------


def test_log_odds_are_clipped(snapshot: SnapshotAssertion) -> None:
    """Probabilities nearer to 0 or 1 than a millionth are not told apart, and nan is none."""
    assert clip_log_odds(INFINITE) == -clip_log_odds(-INFINITE) == pytest.approx(math.log((1 - 1e-6) / 1e-6), rel=1e-9)
    assert clip_log_odds(20.0) == clip_log_odds(14.0) == LARGEST
    assert clip_log_odds(-3.25) == -3.25
    with pytest.raises(ValueError) as error:
        clip_log_odds(math.nan)
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ((2.0, 2.0), (0.5, 0.5), (1.5, 1.5, 1.5)),
        ((6.0, INFINITE), (5.0, 5.0), (1.0, LARGEST - 5, 1.0)),
        ((5.0, 5.0), (6.0, INFINITE), (5 - LARGEST, -1.0, -1.0)),
        ((-INFINITE, -6.0), (5.0, 5.0), (-LARGEST - 5, -11.0, -11.0)),
        ((6.0, INFINITE), (7.0, INFINITE), (6 - LARGEST, LARGEST - 7, -1.0)),
        ((-INFINITE, INFINITE), (1.0, 1.0), (-LARGEST - 1, LARGEST - 1, -1.0)),
        ((30.0, 40.0), (25.0, 25.0), (0.0, 0.0, 0.0)),
    ],
)
def test_a_shift_is_as_far_as_the_arms_may_be_apart(
    x: tuple[float, float], y: tuple[float, float], expected: tuple[float, float, float]
) -> None:
    """Each end comes of opposite ends, and the value of the bounds nearest to even chances."""
    found = shift(x, y)
    assert (found.low, found.high, found.value) == pytest.approx(expected)
    assert found.is_bound is (found.low < found.high)
    assert shift(y, x) == found.reversed()


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ((14.5, 14.5), (13.0, 13.0), (LARGEST - 13, 1.5, LARGEST - 13)),
        ((14.5, INFINITE), (13.0, 13.0), (LARGEST - 13, SUREST - 13, LARGEST - 13)),
        ((14.5, 14.5), (6.0, INFINITE), (LARGEST - SUREST, 8.5, LARGEST - 6)),
        ((-14.5, -14.5), (-13.0, -13.0), (-1.5, 13 - LARGEST, 13 - LARGEST)),
        ((20.0, 20.0), (-20.0, -20.0), (2 * LARGEST, 40.0, 2 * LARGEST)),
    ],
)
def test_an_arm_that_is_beyond_alone_is_a_bound(
    x: tuple[float, float], y: tuple[float, float], expected: tuple[float, float, float]
) -> None:
    """From where arms are told apart to what the server told, or to as far again where it told nothing."""
    found = shift(x, y)
    assert (found.low, found.high, found.value) == pytest.approx(expected)
    assert shift(y, x) == found.reversed()
    assert not is_beyond_precision(x, y)


def test_arms_that_are_beyond_on_the_same_side_tell_nothing() -> None:
    """Whatever lies between them: such a pair is to be left out."""
    assert is_beyond_precision((15.0, 15.0), (20.0, INFINITE))
    assert is_beyond_precision((-INFINITE, -14.0), (-15.0, -15.0))
    assert not is_beyond_precision((6.0, INFINITE), (15.0, 15.0))


@given(st.tuples(logits, logits, logits, logits).map(sorted), st.tuples(logits, logits).map(sorted))
def test_bounds_nest(ends: list[float], y: list[float]) -> None:
    """What is known better has a shift within the one of what is known less well."""
    outer, inner, other = (ends[0], ends[3]), (ends[1], ends[2]), (y[0], y[1])
    wide, narrow = shift(outer, other), shift(inner, other)
    assert wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high


def test_probabilities_shift_between_minus_one_and_one(snapshot: SnapshotAssertion) -> None:
    """Of a probability that is only bounded the value is the bound nearest to 1/2; what is none is told."""
    assert probability_shift((0.9, 0.9), (0.4, 0.4)).value == pytest.approx(0.5)
    assert probability_shift((0.9, 1.0), (0.0, 0.2)) == Shift(0.9 - 0.2, 1.0, 0.9 - 0.2)
    with pytest.raises(ValueError) as error:
        probability_shift((0.2, 1.5), (0.2, 0.2))
    assert str(error.value) == snapshot
    with pytest.raises(ValueError, match="bounds must be"):
        probability_shift((0.4, 0.3), (0.2, 0.2))


@pytest.mark.parametrize("wrong", [(1.0, 0.0, 0.5), (0.0, 1.0, 2.0), (-INFINITE, 0.0, 0.0), (0.0, math.nan, 0.0)])
def test_a_shift_is_finite_and_in_order(wrong: tuple[float, float, float], snapshot: SnapshotAssertion) -> None:
    """Nothing else can be made."""
    with pytest.raises(ValueError) as error:
        Shift(*wrong)
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    ("k", "n", "expected"), [(0, 5, math.log(0.5 / 5.5)), (3, 6, 0.0), (7, 10, math.log(7.5 / 3.5))]
)
def test_log_odds_of_a_share(k: int, n: int, expected: float) -> None:
    """They are those of (k + 1/2) / (n + 1), and of the other answer's share with the sign turned."""
    assert share_log_odds(k, n) == pytest.approx(expected)
    assert share_log_odds(n - k, n) == pytest.approx(-expected)
    with pytest.raises(ValueError, match="counts must be"):
        share_log_odds(n + 1, n)


# --- the mean ---------------------------------------------------------------------------------------------------


def halls_limit(values: Sequence[float], confidence: float = 0.90) -> float:
    """The upper limit by Hall's transformation and a root finder, with the two pseudo-pairs, from numpy's moments."""
    scores, n = np.array(values), len(values)
    mean = scores.mean()
    around = np.concatenate([scores, [mean - 0.5, mean + 0.5]])
    error = around.std(ddof=1) * math.sqrt(n + 2) / n
    # The third moment of the pairs alone, unbiased; the two are symmetric and have none.
    third = float(stats.kstat(scores, 3)) if n > 2 else 0.0
    gamma = third * n / float((n + 2) * around.var()) ** 1.5

    def transformed(limit: float) -> float:
        t = (mean - limit) / error
        return float(t + gamma * t**2 / 3 + gamma**2 * t**3 / 27 + gamma / 6)

    quantile = float(stats.t.ppf((1 - confidence) / 2, n - 1))
    student = float(mean - quantile * error)
    return max(student, float(brentq(lambda limit: transformed(limit) - quantile, mean - 100 * error, mean + 1e4)))


WORKED = [[0.1, 0.4, 0.9, 0.2, 0.3], [0.0] * 29 + [4.05], [5.0] * 3 + [1.0] * 20, [0.3, -0.3] * 6, [2.0]]


@pytest.mark.parametrize("values", WORKED[:-1])
def test_the_upper_limit_is_the_farther_of_students_and_halls(values: list[float]) -> None:
    """It agrees with a second implementation, and so does the lower one of the turned shifts."""
    assert log_odds_shift(exact(values)).high == pytest.approx(halls_limit(values), rel=1e-6)
    assert log_odds_shift(exact([-value for value in values])).low == pytest.approx(-halls_limit(values), rel=1e-6)


def test_few_pairs_may_carry_the_shift() -> None:
    """One large shift among thirty does not show that the mean is small, whatever Student's t says of it."""
    values = [0.0] * 29 + [10 * math.log(1.5)]
    student = stats.t.interval(0.90, 29, np.mean(values), stats.sem(values))
    assert student[1] < math.log(1.5) < 0.9 < log_odds_shift(exact(values)).high
    assert gate_log_odds(exact(values), 1.5).status is INCONCLUSIVE


@given(some)
def test_an_interval_has_a_width_around_its_value(values: list[float]) -> None:
    """Also of a single pair, and where all are equal."""
    found = log_odds_shift(exact(values))
    assert found.low < found.value < found.high
    assert found.n == len(values)
    assert found.value == pytest.approx(float(np.mean(values)), abs=1e-9)
    same = log_odds_shift(exact([0.25] * len(values)))
    assert same.low < 0.25 - 0.5 / len(values) < 0.25 + 0.5 / len(values) < same.high


@given(bounded(), st.floats(0.3, 0.99))
def test_relabelling_turns_the_signs(shifts: list[Shift], confidence: float) -> None:
    """With the labels exchanged everything is the same the other way round."""
    ours, theirs = (log_odds_shift(each, confidence) for each in (shifts, [one.reversed() for one in shifts]))
    assert (ours.value, ours.low, ours.high) == pytest.approx((-theirs.value, -theirs.high, -theirs.low), abs=1e-9)


@given(some, st.floats(-3, 3))
def test_a_shift_added_to_all_is_added_to_the_mean(values: list[float], more: float) -> None:
    """The interval moves along: it does not depend on where 0 is."""
    ours, theirs = log_odds_shift(exact(values)), log_odds_shift(exact([value + more for value in values]))
    assert (theirs.low, theirs.high) == pytest.approx((ours.low + more, ours.high + more), abs=1e-6)


@given(bounded(), st.floats(0, 3))
def test_wider_bounds_widen_the_interval(shifts: list[Shift], more: float) -> None:
    """It holds the means of both bounds, and grows by as much as all bounds do."""
    found = log_odds_shift(shifts)
    assert found.low < np.mean([each.low for each in shifts]) <= np.mean([each.high for each in shifts]) < found.high
    wider = log_odds_shift([Shift(each.low - more, each.high + more, each.value) for each in shifts])
    assert (wider.low, wider.high) == pytest.approx((found.low - more, found.high + more), abs=1e-6)
    assert wider.value == found.value


@given(bounded(), st.randoms(use_true_random=False))
def test_clusters_of_one_pair_change_nothing(shifts: list[Shift], rng: random.Random) -> None:
    """Nor does the order of the pairs, nor what clusters are called."""
    labels = rng.sample(range(1000), len(shifts))
    assert log_odds_shift(shifts, clusters=labels) == log_odds_shift(shifts)
    assert gate_log_odds(shifts, 1.5, clusters=labels) == gate_log_odds(shifts, 1.5)
    found, again = log_odds_shift(shifts), log_odds_shift(rng.sample(shifts, len(shifts)))
    assert (found.low, found.high) == pytest.approx((again.low, again.high), abs=1e-9)


def test_pairs_that_are_copies_of_each_other_say_less() -> None:
    """Of thirty pairs copied four times, clusters heeded, the interval is about that of the thirty."""
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 1, 30)
    alone, copies = log_odds_shift(exact(values)), exact(np.repeat(values, 4))
    heeded, ignored = log_odds_shift(copies, clusters=[n // 4 for n in range(120)]), log_odds_shift(copies)
    assert heeded.high - heeded.low == pytest.approx(alone.high - alone.low, rel=0.03)
    assert ignored.high - ignored.low < 0.55 * (alone.high - alone.low)


def test_means_need_pairs_and_labels_that_fit(snapshot: SnapshotAssertion) -> None:
    """No shifts, another number of labels and an impossible confidence are told."""
    with pytest.raises(ValueError) as error:
        log_odds_shift([])
    assert str(error.value) == snapshot
    with pytest.raises(ValueError) as error:
        gate_log_odds([], 1.5)
    assert str(error.value) == snapshot
    with pytest.raises(ValueError) as error:
        log_odds_shift(exact([1.0, 2.0]), clusters=["a"])
    assert str(error.value) == snapshot
    with pytest.raises(ValueError) as error:
        log_odds_shift(exact([1.0, 2.0]), 1.0)
    assert str(error.value) == snapshot


# --- probabilities, ties, repeats -------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=100))
def test_without_ties_it_is_tangos_interval(moves: list[int]) -> None:
    """Verdicts are scores of 0 and 1: their mean shift is the paired difference, and so is the gate's p-value."""
    ours, tango = mean_shift(exact(moves)), paired_difference(moves.count(1), moves.count(-1), len(moves))
    assert (ours.value, ours.low, ours.high) == pytest.approx((tango.value, tango.low, tango.high), abs=1e-9)
    z, gate = score_test(moves, 0.1), gate_shift(moves.count(1), moves.count(-1), len(moves), 0.1)
    assume(len(moves) > 1 and not math.isinf(z))
    below = max(stats.norm.cdf(z), stats.norm.sf(score_test(moves, -0.1)))
    assert gate.p_pass == pytest.approx(below, abs=1e-9)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=40), st.integers(1, 8))
def test_ties_are_halves_in_the_score_interval(moves: list[float], count: int) -> None:
    """Exact scores, related or not, have the score interval itself."""
    labels = [index % count for index in range(len(moves))]
    assert mean_shift(exact(moves), 0.95) == score_interval(moves, 0.95)
    assert mean_shift(exact(moves), clusters=labels) == score_interval(moves, clusters=labels)


def test_bounded_probabilities_widen_the_interval() -> None:
    """It goes from the lows' lower limit to the highs' upper one, and has the value of the nearer bounds."""
    shifts = [probability_shift((0.9, 1.0), (0.8, 0.8)), probability_shift((0.7, 0.7), (0.7, 0.7))] * 20
    found, nearer = mean_shift(shifts), score_interval([0.9 - 0.8, 0.0] * 20)
    assert (found.value, found.low) == pytest.approx((nearer.value, nearer.low))
    assert found.high == score_interval([each.high for each in shifts]).high > nearer.high


# --- the gate ---------------------------------------------------------------------------------------------------


@given(bounded(), ratios, alphas)
def test_the_gate_says_what_the_interval_says(shifts: list[Shift], ratio: float, alpha: float) -> None:
    """PASS is an interval within the tolerance, FAIL one beyond it, and turning all signs changes neither."""
    found, limit = gate_log_odds(shifts, ratio, alpha), math.log(ratio)
    low, high = found.estimate.low, found.estimate.high
    assume(min(abs(abs(low) - limit), abs(abs(high) - limit)) > 1e-6)
    assert (found.status is PASS) is (-limit < low and high < limit)
    assert (found.status is FAIL) is (low > limit or high < -limit)
    turned = gate_log_odds([each.reversed() for each in shifts], ratio, alpha)
    if abs(found.estimate.value) > 1e-9:
        assert turned.status is found.status
        assert (turned.p_pass, turned.p_fail) == pytest.approx((found.p_pass, found.p_fail), abs=1e-9)


def test_a_message_has_the_numbers_the_ratio_and_the_verdict() -> None:
    """Log-odds, odds, tolerance, status; related pairs are said."""
    shifts = exact([0.5, 0.75, 1.0, 0.75] * 10)
    assert gate_log_odds(shifts, 1.5).message == (
        "log-odds shift +0.75 (90% CI 0.69 to 0.81), odds ratio 2.1 (2.0 to 2.2), limit 1.5: FAIL"
    )
    assert gate_log_odds(shifts, 3).status is PASS
    related = gate_log_odds(shifts, 1.5, clusters=[n // 4 for n in range(40)])
    assert ", n = 40 pairs in 10 clusters, odds ratio 2.1" in related.message
    assert related.status is FAIL


def test_few_clusters_decide_nothing(snapshot: SnapshotAssertion) -> None:
    """Whatever they show, and the message says why."""
    found = gate_log_odds(exact([2.0] * 40), 1.5, clusters=[n % 4 for n in range(40)])
    assert (found.status, found.p_pass, found.p_fail) == (INCONCLUSIVE, 1.0, 1.0)
    assert found.message == snapshot


@pytest.mark.parametrize("ratio", [1.0, 0.5, -2.0, INFINITE, math.nan])
def test_a_tolerance_is_a_ratio_above_one(ratio: float, snapshot: SnapshotAssertion) -> None:
    """Others are told."""
    with pytest.raises(ValueError) as error:
        gate_log_odds(exact([1.0]), ratio)
    assert str(error.value) == snapshot


def test_needed_pairs_are_those_of_other_means() -> None:
    """They agree with what is said of means that are no log-odds, and so many do settle it."""
    values = 0.2 + stats.norm.ppf((np.arange(40) + 0.5) / 40)
    found = gate_log_odds(exact(values), 1.5)
    other = pairs_for_mean(mean_interval((values / 4).tolist(), bound=2.0, pseudo=0.25), math.log(1.5) / 4)
    rng, needed = np.random.default_rng(1), found.needed_pairs
    assert found.status is INCONCLUSIVE
    assert needed is not None
    assert needed == pytest.approx(other, rel=0.15)  # which moves the mean a little towards 0
    passed = [gate_log_odds(exact(rng.normal(0.2, 1, needed)), 1.5).status for _ in range(300)].count(PASS) / 300
    assert passed == pytest.approx(0.8, abs=0.07)


def test_more_pairs_do_not_help_against_bounds(snapshot: SnapshotAssertion) -> None:
    """Where the bounds lie on both sides of the tolerance, that is said, and no number."""
    found = gate_log_odds([shift((6.0, INFINITE), (5.9, 5.9))] * 20 + exact([0.1] * 80), 1.5)
    assert (found.status, found.needed_pairs) == (INCONCLUSIVE, None)
    assert found.message == snapshot


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(0.83, 0.59, 1.06), (0.3, -0.1, 0.7), (-0.83, -1.06, -0.59), (0.02, -0.05, 0.09), (9.0, 4.0, 12.0)],
)
def test_odds_are_said_in_words(value: float, low: float, high: float, snapshot: SnapshotAssertion) -> None:
    """By how many times they grow or shrink, and that they hardly change."""
    said = describe_odds(Estimate(value, low, high, 0.90, 100), "new", "old")
    assert said == snapshot


# --- how often it errs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "normal, sd 1",
        "exponential, tail away from 0",
        "exponential, tail towards 0",
        "a tenth of the pairs carries it",
        "a tenth against nine tenths",
        "heavy tails (t, 3 df)",
        "equal up to .001",
        "all equal",
    ],
)
def test_the_gate_errs_as_seldom_as_it_says(name: str) -> None:
    """Of judges exactly at the tolerance about one in twenty passes, as many fail: 30 pairs, 1,000 runs."""
    scenario = benchmark("probabilities").unrelated(benchmark("probabilities").SCENARIOS[name])
    assert max(benchmark("probabilities").errors(scenario, 30, 1.5, 1000)) <= 0.065


def test_students_t_alone_would_not_do() -> None:
    """Where a tenth of the pairs carries the shift it passes nearly every fifth judge that is at the tolerance."""
    module = benchmark("probabilities")
    rng, margin = np.random.default_rng(0), math.log(1.5)
    drawn = [module.carried_by(0.1)(rng, margin, 30) for _ in range(500)]
    passed = {name: np.mean([says(values, margin)[0] for values in drawn]) for name, says in module.METHODS.items()}
    assert passed["Student, pseudo-observations"] > 0.12
    assert passed["Johnson"] > 0.12
    assert passed["farther of Student and Hall (used)"] <= 0.065


def test_probabilities_take_fewer_pairs() -> None:
    """On clear pairs verdicts need at least three times as many to see an effect."""
    module = benchmark("probabilities")
    verdicts = module.by_verdicts(module.CLEAR, 0.8, 200, True)
    probabilities, _ = module.by_probabilities(module.CLEAR, 0.8, 200)
    assert verdicts >= 3 * probabilities


@pytest.mark.parametrize("ties", [0.05, 0.4])
def test_ties_keep_the_level(ties: float) -> None:
    """Scores with ties err at the tolerance as verdicts do."""
    passed, failed, covered = benchmark("probabilities").tie_errors(ties, 100, 500)
    assert max(passed, failed) <= 0.09
    assert covered >= 0.86


# --- probabilities that a server told -----------------------------------------------------------------------------


@pytest.mark.parametrize(("pairs", "spread"), [(60, 0.06), (100, 0.05), (100, 0.12), (200, 0.03), (60, 0.25)])
def test_the_interval_of_probabilities_covers_what_it_says(pairs: int, spread: float) -> None:
    """Seeded: a 90% interval holds the true mean in 88 to 93% of 2,000 runs, as probabilities differ from each other."""
    draws = np.random.default_rng(31)
    covered, runs, true = 0, 2000, 0.04
    for _ in range(runs):
        shifts = np.clip(draws.normal(true, spread, pairs), -1, 1)
        found = token_shift(exact([float(each) for each in shifts]))
        covered += found.low <= true <= found.high
    assert 0.88 <= covered / runs <= 0.93


def test_the_interval_of_close_pairs_covers_what_it_says() -> None:
    """The same where log-odds shift alike and pairs stand at even chances and far from them: a skewed distribution."""
    draws = np.random.default_rng(32)

    def likely(log_odds: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-log_odds))

    def drawn(pairs: int) -> np.ndarray:
        odds, noise = draws.normal(0, 2, pairs), draws.normal(0, 0.3, pairs)
        return likely(odds + 0.5 + noise) - likely(odds - 0.5)

    true = float(drawn(10**6).mean())
    found = [token_shift(exact([float(each) for each in drawn(100)])) for _ in range(2000)]
    assert 0.88 <= np.mean([each.low <= true <= each.high for each in found]) <= 0.93


def test_the_interval_of_probabilities_goes_by_how_they_differ() -> None:
    """It is far narrower than that of verdicts where they hardly do, never of zero width, and within -1 to 1."""
    shifts = exact([0.02, 0.04, 0.06, 0.04] * 15)
    found, scores = token_shift(shifts), mean_shift(shifts)
    assert found.value == scores.value
    assert (found.high - found.low) < (scores.high - scores.low) / 4
    assert token_shift(exact([0.1] * 60)).low < 0.1
    assert token_shift(exact([1.0] * 5)).high == 1.0
    assert token_shift(shifts, clusters=[index // 4 for index in range(60)]).n == 60
    with pytest.raises(ValueError, match="between -1 and 1"):
        token_shift([Shift(0.5, 1.5, 0.5)])
