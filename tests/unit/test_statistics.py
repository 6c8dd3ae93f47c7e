"""Counts in, intervals and decisions out: held against second implementations and exact enumeration."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln, xlogy
from scipy.stats import beta, binomtest, norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.statistics import (
    Estimate,
    Status,
    format_estimate,
    format_share,
    format_signed,
    gate_non_inferiority,
    gate_shift,
    holm,
    inconclusive_advice,
    mcnemar_exact,
    mean_interval,
    needed_pairs,
    paired_difference,
    pairs_for_mean,
    proportion,
    worst_status,
)
from judgefixtures.statistics.proportions import difference

no_deadline = settings(deadline=None)
brief = settings(deadline=None, max_examples=50)

tolerances = st.floats(0.01, 0.6)
alphas = st.floats(0.005, 0.4)
confidences = st.floats(0.2, 0.995)


@st.composite
def tables(draw: st.DrawFn, largest: int = 400) -> tuple[int, int, int]:
    """Counts (n10, n01, n) of any paired table, its corners included."""
    n = draw(st.integers(1, largest))
    n10 = draw(st.integers(0, n))
    return n10, draw(st.integers(0, n - n10)), n


def every_table(n: int) -> list[tuple[int, int, int]]:
    """All (n10, n01, n) of n pairs."""
    return [(n10, n01, n) for n10 in range(n + 1) for n01 in range(n + 1 - n10)]


# --- a second implementation of Tango: no closed form, no score formula -------------------------------------


def restricted_p01(d: float, n10: float, n01: float, n: float) -> float:
    """The P01 that maximises the likelihood where P10 = P01 + d, for d >= 0: the root of the slope.

    The slope is cleared of its denominators; it is bracketed, so brentq finds its root to the last digits.
    Maximising the likelihood itself would stop at 1e-8: its top is flat.
    """
    both_ways, top = n - n10 - n01, (1 - d) / 2

    def slope(p: float) -> float:
        rest = 1 - 2 * p - d
        if n01 == 0:
            return n10 * rest - 2 * both_ways * (p + d)
        return n10 * p * rest + n01 * (p + d) * rest - 2 * both_ways * p * (p + d)

    if both_ways == 0:
        return top
    if n01 == 0 and slope(0) <= 0:
        return 0.0
    return float(brentq(slope, 0 if n01 == 0 else top * 1e-12, top, xtol=1e-18, rtol=1e-15))


def pearson(d: float, n10: int, n01: int, n: int) -> float:
    """Pearson's X2 of the three cells at the restricted maximum: the score statistic of a multinomial."""
    if d < 0:
        n10, n01, d = n01, n10, -d
    p01 = restricted_p01(d, n10, n01, n)
    x2 = 0.0
    for seen, p in ((n10, p01 + d), (n01, p01), (n - n10 - n01, max(1 - 2 * p01 - d, 0))):
        if seen or p:
            x2 += (seen - n * p) ** 2 / (n * p) if p else math.inf
    return x2


def second_z(d: float, n10: int, n01: int, n: int) -> float:
    """The score statistic with its sign, positive where the observed difference is above d."""
    return math.copysign(math.sqrt(pearson(d, n10, n01, n)), (n10 - n01) / n - d)


def second_limits(n10: int, n01: int, n: int, confidence: float) -> tuple[float, float]:
    """The interval by scanning outwards from the estimate for the first crossing, then brentq."""
    x2 = norm.ppf((1 + confidence) / 2) ** 2
    value = (n10 - n01) / n

    def crossing(end: float) -> float:
        last = value
        for d in np.linspace(value, end, 40)[1:]:
            inside_end = math.copysign(1 - 1e-13, d) if abs(d) == 1 else float(d)
            if pearson(inside_end, n10, n01, n) >= x2:
                return float(brentq(lambda x: pearson(x, n10, n01, n) - x2, last, inside_end, xtol=1e-14))
            last = inside_end
        return end

    return crossing(-1.0), crossing(1.0)


@pytest.mark.parametrize(("n10", "n01", "n", "d"), [(7, 3, 100, 0.1), (30, 0, 100, 0.2), (5, 9, 20, 0.4)])
def test_second_implementation_maximises_the_likelihood(n10: int, n01: int, n: int, d: float) -> None:
    """The restricted maximum is where the likelihood itself is largest (to 1e-6: its top is flat)."""

    def loss(p: float) -> float:
        return -float(xlogy(n10, p + d) + xlogy(n01, p) + xlogy(n - n10 - n01, 1 - 2 * p - d))

    direct = minimize_scalar(loss, bounds=(0, (1 - d) / 2), method="bounded", options={"xatol": 1e-12}).x
    assert restricted_p01(d, n10, n01, n) == pytest.approx(direct, abs=1e-6)


# --- paired_difference --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("confidence", [0.90, 0.99])
def test_interval_of_every_small_table(n: int, confidence: float) -> None:
    """Every table of n pairs has the interval of the second implementation, to 1e-9."""
    for table in every_table(n):
        estimate = paired_difference(*table, confidence)
        assert (estimate.low, estimate.high) == pytest.approx(second_limits(*table, confidence), abs=1e-9), table


@brief
@given(tables(), confidences)
@example((400, 0, 400), 0.90)
@example((0, 1, 400), 0.90)
@example((200, 200, 400), 0.90)
def test_interval_of_any_table(table: tuple[int, int, int], confidence: float) -> None:
    """Any table at any confidence has the interval of the second implementation, to 1e-9."""
    estimate = paired_difference(*table, confidence)
    assert (estimate.low, estimate.high) == pytest.approx(second_limits(*table, confidence), abs=1e-9)


@pytest.mark.parametrize(
    ("table", "confidence", "low", "high"),
    [
        pytest.param((30, 0, 100), 0.90, 0.2307, 0.3798, id="n10=30"),
        pytest.param((16, 0, 100), 0.90, 0.1088, 0.2291, id="n10=16"),
        pytest.param((2, 2, 100), 0.90, -0.0415, 0.0415, id="two-each-way"),
        pytest.param((0, 0, 100), 0.90, -0.0263, 0.0263, id="no-flips"),
        pytest.param((0, 0, 100), 0.95, -0.0370, 0.0370, id="no-flips-95"),
        pytest.param((19, 3, 100), 0.90, 0.0894, 0.2377, id="the-message"),
        pytest.param((1, 7, 21), 0.95, -0.5172, -0.0260, id="airways"),  # published: -.517, -.026
    ],
)
def test_worked_rows(table: tuple[int, int, int], confidence: float, low: float, high: float) -> None:
    """The worked rows keep their printed limits, and both implementations agree on them."""
    estimate = paired_difference(*table, confidence)
    assert (round(estimate.low, 4), round(estimate.high, 4)) == (low, high)
    assert (estimate.low, estimate.high) == pytest.approx(second_limits(*table, confidence), abs=1e-9)


@given(st.integers(1, 10_000), confidences)
def test_no_flips(n: int, confidence: float) -> None:
    """Without flips the interval is +-z^2/(n + z^2): never of zero width."""
    z2 = norm.ppf((1 + confidence) / 2) ** 2
    estimate = paired_difference(0, 0, n, confidence)
    assert (estimate.low, estimate.high) == pytest.approx((-z2 / (n + z2), z2 / (n + z2)), abs=1e-12)


@pytest.mark.parametrize(("n10", "n01", "n"), [(10, 2, 50), (9, 4, 13), (30, 18, 400), (3, 1, 100), (1, 0, 5)])
def test_at_difference_zero_it_is_mcnemar(n10: int, n01: int, n: int) -> None:
    """At difference 0 the score test is McNemar's without correction (statsmodels): p-value and limit."""
    p = mcnemar([[0, n10], [n01, 0]], exact=False, correction=False).pvalue
    assert paired_difference(n10, n01, n, 1 - p).low == pytest.approx(0, abs=1e-9)
    assert paired_difference(n01, n10, n, 1 - p).high == pytest.approx(0, abs=1e-9)
    assert gate_shift(n10, n01, n, 1e-10).p_fail == pytest.approx(p / 2, abs=1e-8)


@no_deadline
@given(tables(), confidences)
def test_interval_holds_its_value(table: tuple[int, int, int], confidence: float) -> None:
    """-1 <= low <= value <= high <= 1, of positive width, and the estimate says its n and confidence."""
    estimate = paired_difference(*table, confidence)
    n10, n01, n = table
    assert estimate.value == (n10 - n01) / n
    assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high
    assert (estimate.confidence, estimate.n) == (confidence, n)


@no_deadline
@given(tables(), confidences)
def test_swapping_the_labels_negates(table: tuple[int, int, int], confidence: float) -> None:
    """Swapping n10 and n01 negates the value and mirrors the interval."""
    n10, n01, n = table
    estimate, mirrored = (paired_difference(n10, n01, n, confidence), paired_difference(n01, n10, n, confidence))
    assert mirrored.value == -estimate.value
    assert (mirrored.low, mirrored.high) == pytest.approx((-estimate.high, -estimate.low), abs=1e-12)


@no_deadline
@given(tables(), confidences, confidences)
def test_surer_is_wider(table: tuple[int, int, int], one: float, other: float) -> None:
    """The interval at a higher confidence contains the one at a lower."""
    narrow, wide = (paired_difference(*table, c) for c in sorted((one, other)))
    assert wide.low <= narrow.low + 1e-12
    assert wide.high >= narrow.high - 1e-12


@no_deadline
@given(tables(100), confidences)
def test_another_flip_moves_everything_one_way(table: tuple[int, int, int], confidence: float) -> None:
    """One more pair that follows X raises the value and both limits."""
    n10, n01, n = table
    assume(n10 + n01 < n)
    before, after = paired_difference(n10, n01, n, confidence), paired_difference(n10 + 1, n01, n, confidence)
    assert after.value > before.value
    assert after.low > before.low - 1e-12
    assert after.high > before.high - 1e-12


@no_deadline
@given(tables(100), st.integers(2, 5))
def test_more_pairs_narrow_it(table: tuple[int, int, int], times: int) -> None:
    """The same shares of more pairs give a narrower interval around the same value."""
    few, many = paired_difference(*table), paired_difference(*(times * count for count in table))
    assert many.value == pytest.approx(few.value)
    assert many.high - many.low < few.high - few.low


def test_value_comes_from_the_integers() -> None:
    """80 of 100 against 70 of 100 is 0.1: as a difference of two rates it would be more."""
    assert 0.8 - 0.7 > 0.1
    assert paired_difference(80, 70, 150 + 50).value == 10 / 200
    assert paired_difference(20, 10, 100).value == 0.1


def test_whole_numbers_of_other_libraries() -> None:
    """numpy's integers count as whole numbers."""
    assert paired_difference(np.int64(3), np.int32(1), np.int64(50)) == paired_difference(3, 1, 50)


@pytest.mark.parametrize(
    "function",
    [
        lambda *counts: paired_difference(*counts),
        lambda *counts: gate_shift(*counts, 0.1),
        lambda *counts: needed_pairs(*counts, 0.1),
        lambda *counts: gate_non_inferiority(*counts, 0.1),
    ],
)
def test_small_integers_do_not_wrap_around(function: Callable[..., object]) -> None:
    """numpy's 8 bits hold 3 and 5 but not 3 - 5, nor 130 + 100: the result is that of Python's integers."""
    assert function(*np.array([3, 5, 200], dtype=np.uint8)) == function(3, 5, 200)
    assert repr(function(*np.array([3, 5, 200], dtype=np.uint8))) == repr(function(3, 5, 200))
    with pytest.raises(ValueError, match=r"130, 100 of n=200"):
        function(*np.array([130, 100, 200], dtype=np.uint8))


@pytest.mark.parametrize("result", [paired_difference(1, 0, 9), gate_shift(1, 0, 9, 0.1)])
def test_results_are_frozen(result: Any) -> None:
    """A result cannot be changed after it was computed."""
    field = dataclasses.fields(result)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(result, field, 0.0)


# --- proportion, McNemar, Holm ------------------------------------------------------------------------------


@no_deadline
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), confidences)
def test_wilson(counts: tuple[int, int], confidence: float) -> None:
    """Wilson's interval is its formula, and scipy's."""
    k, n = counts
    estimate = proportion(k, n, confidence)
    z = norm.ppf((1 + confidence) / 2)
    middle, half = k + z * z / 2, z * math.sqrt(k * (n - k) / n + z * z / 4)
    scipys = binomtest(k, n).proportion_ci(confidence, "wilson")
    limits = (estimate.low, estimate.high)
    assert limits == pytest.approx(((middle - half) / (n + z * z), (middle + half) / (n + z * z)), abs=1e-10)
    assert limits == pytest.approx((scipys.low, scipys.high), abs=1e-12)
    assert (estimate.value, estimate.confidence, estimate.n) == (k / n, confidence, n)


@no_deadline
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), confidences)
def test_clopper_pearson(counts: tuple[int, int], confidence: float) -> None:
    """The exact interval is made of beta quantiles, with the ends 0 and 1 at no and at all successes."""
    k, n = counts
    estimate = proportion(k, n, confidence, method="exact")
    tail = (1 - confidence) / 2
    assert estimate.low == pytest.approx(beta.ppf(tail, k, n - k + 1) if k else 0, abs=1e-9)
    assert estimate.high == pytest.approx(beta.ppf(1 - tail, k + 1, n - k) if k < n else 1, abs=1e-9)


@pytest.mark.parametrize("method", ["wilson", "exact"])
def test_proportion_holds_its_value(method: Any) -> None:
    """0 <= low <= k/n <= high <= 1 for every k, without a hair of rounding beyond."""
    for n in (1, 3, 10, 97):
        for k, confidence in itertools.product(range(n + 1), (0.5, 0.9, 0.99)):
            estimate = proportion(k, n, confidence, method)
            assert 0 <= estimate.low <= k / n <= estimate.high <= 1, (k, n, confidence)


@no_deadline
@given(st.data(), st.integers(1, 300), st.integers(1, 300), confidences)
def test_the_difference_of_two_samples(data: st.DataObject, n1: int, n2: int, confidence: float) -> None:
    """Newcombe's interval of two independent proportions is statsmodels', and holds the difference."""
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    found = difference(k1, n1, k2, n2, confidence)
    bounds = confint_proportions_2indep(k1, n1, k2, n2, method="newcomb", alpha=1 - confidence)
    assert (found.low, found.high) == pytest.approx(bounds, abs=1e-9)
    assert (found.value, found.n) == (pytest.approx(k1 / n1 - k2 / n2), n1 + n2)
    assert found.low <= found.value <= found.high


def test_mcnemar_exact() -> None:
    """The exact McNemar p-value is statsmodels', whatever the two counts, and the same both ways."""
    for n10, n01 in itertools.product((0, 1, 2, 5, 13, 40, 200), repeat=2):
        expected = mcnemar([[3, n10], [n01, 5]], exact=True).pvalue if n10 + n01 else 1.0
        assert mcnemar_exact(n10, n01) == pytest.approx(expected, abs=1e-12), (n10, n01)
        assert mcnemar_exact(n10, n01) == mcnemar_exact(n01, n10)


@settings(deadline=None, max_examples=30)  # statsmodels collects garbage on every call: 20 ms each
@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.05, 1.0]), max_size=40))
@example([0.04, 0.01])
@example([0.5, 0.5, 0.01])
@example([])
@pytest.mark.slow
def test_holm(p_values: list[float]) -> None:
    """Adjusted p-values are statsmodels' to the last bit, in the order given."""
    adjusted = holm(p_values)
    assert adjusted == (list(multipletests(p_values, method="holm")[1]) if p_values else [])
    assert all(type(p) is float for p in adjusted)


def test_holm_collects_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adjusting runs no garbage collection: a report adjusts dozens of times, and one takes as long as a test item."""
    monkeypatch.setattr(gc, "collect", lambda *_generation: pytest.fail("gc.collect was called"))
    assert holm([0.01, 0.04]) == [0.02, 0.04]


@pytest.mark.parametrize("wrong", [math.nan, -0.1, 1.1])
def test_holm_of_no_p_value(wrong: float) -> None:
    """What is no p-value is refused, and quoted."""
    with pytest.raises(ValueError, match=rf"between 0 and 1, got {wrong}"):
        holm([0.5, wrong])


# --- gate_shift ---------------------------------------------------------------------------------------------


def test_gate_alternatives() -> None:
    """A worked PASS, a FAIL in either direction and an INCONCLUSIVE."""
    assert gate_shift(2, 2, 100, 0.10).status is Status.PASS
    assert gate_shift(30, 0, 100, 0.10).status is Status.FAIL
    assert gate_shift(0, 30, 100, 0.10).status is Status.FAIL
    assert gate_shift(19, 3, 100, 0.10).status is Status.INCONCLUSIVE


@no_deadline
@given(tables(), tolerances, alphas)
@example((0, 0, 25), 0.10, 0.05)
@example((0, 0, 24), 0.10, 0.05)
def test_gate_reads_the_interval(table: tuple[int, int, int], tolerance: float, alpha: float) -> None:
    """PASS iff the (1 - 2 alpha) interval is strictly inside the tolerance, FAIL iff it is wholly outside."""
    result = gate_shift(*table, tolerance, alpha)
    interval = paired_difference(*table, 1 - 2 * alpha)
    assert result.estimate == interval
    assume(min(abs(abs(limit) - tolerance) for limit in (interval.low, interval.high)) > 1e-9)
    assert (result.status is Status.PASS) == (-tolerance < interval.low and interval.high < tolerance)
    assert (result.status is Status.FAIL) == (interval.low > tolerance or interval.high < -tolerance)
    assert result.status in (Status.PASS, Status.FAIL, Status.INCONCLUSIVE)


@no_deadline
@given(tables(), tolerances, alphas)
def test_gate_reads_its_p_values(table: tuple[int, int, int], tolerance: float, alpha: float) -> None:
    """PASS iff p_pass < alpha, FAIL iff p_fail < alpha, and never are both."""
    result = gate_shift(*table, tolerance, alpha)
    assert (result.status is Status.PASS) == (result.p_pass < alpha)
    assert (result.status is Status.FAIL) == (result.p_fail < alpha)
    assert 0 <= result.p_pass <= 1
    assert 0 <= result.p_fail <= 1


@brief
@given(tables(), tolerances)
@example((100, 0, 100), 0.1)
@example((0, 7, 7), 0.5)
def test_p_values(table: tuple[int, int, int], tolerance: float) -> None:
    """p_pass is the larger of the two one-sided p-values, p_fail the one in the observed direction."""
    n10, n01, n = table
    result = gate_shift(n10, n01, n, tolerance)
    above, below = second_z(-tolerance, n10, n01, n), second_z(tolerance, n10, n01, n)
    assert result.p_pass == pytest.approx(max(norm.sf(above), norm.cdf(below)), abs=1e-9)
    assert result.p_fail == pytest.approx(norm.sf(below) if n10 >= n01 else norm.cdf(above), abs=1e-9)


@no_deadline
@given(tables(), tolerances, alphas)
def test_gate_is_symmetric(table: tuple[int, int, int], tolerance: float, alpha: float) -> None:
    """The gate does not care which label is favoured."""
    n10, n01, n = table
    result, mirrored = gate_shift(n10, n01, n, tolerance, alpha), gate_shift(n01, n10, n, tolerance, alpha)
    assert mirrored.p_pass == pytest.approx(result.p_pass, abs=1e-12)
    assert mirrored.p_fail == pytest.approx(result.p_fail, abs=1e-12)
    assert mirrored.needed_pairs == result.needed_pairs


@no_deadline
@given(tables(), tolerances, tolerances)
def test_tolerance_helps(table: tuple[int, int, int], one: float, other: float) -> None:
    """A larger tolerance makes a PASS easier and a FAIL harder."""
    strict, lenient = (gate_shift(*table, tolerance) for tolerance in sorted((one, other)))
    assert lenient.p_pass <= strict.p_pass + 1e-12
    assert lenient.p_fail >= strict.p_fail - 1e-12


@pytest.mark.parametrize(("tolerance", "smallest"), [(0.05, 52), (0.10, 25), (0.15, 16), (0.20, 11)])
def test_fewest_pairs_that_can_pass(tolerance: float, smallest: int) -> None:
    """Zero flips pass with this many pairs; with one pair less not a single table does."""
    assert gate_shift(0, 0, smallest, tolerance).status is Status.PASS
    assert all(gate_shift(*table, tolerance).status is not Status.PASS for table in every_table(smallest - 1))


@no_deadline
@given(tables(), tolerances, alphas)
def test_pairs_are_advised_where_more_would_help(table: tuple[int, int, int], tolerance: float, alpha: float) -> None:
    """Needed pairs, and advice in the message, come with an INCONCLUSIVE and with nothing else."""
    result = gate_shift(*table, tolerance, alpha)
    if result.status is Status.INCONCLUSIVE:
        assert result.needed_pairs == needed_pairs(*table, tolerance, alpha=alpha)
        assert result.message.endswith(f": INCONCLUSIVE; {inconclusive_advice(result.needed_pairs, table[2], 'limit')}")
    else:
        assert result.needed_pairs is None
        assert result.message.endswith(f": {result.status}")


# --- needed_pairs -------------------------------------------------------------------------------------------


def nam_pairs(n10: int, n01: int, n: int, tolerance: float, power: float, alpha: float) -> int | None:
    """Nam's sample size, size by size, with the variances at the limits from the numeric maximum."""
    p10, p01 = (max(n10, n01) + 0.5) / (n + 2), (min(n10, n01) + 0.5) / (n + 2)
    shift, spread = p10 - p01, math.sqrt(p10 + p01 - (p10 - p01) ** 2)
    z, roots = norm.ppf(1 - alpha), np.sqrt(np.arange(1, 20 * n + 1))
    at_high = z * math.sqrt(2 * restricted_p01(tolerance, p10, p01, 1) + tolerance * (1 - tolerance))
    # Below zero the two labels change places.
    at_low = z * math.sqrt(2 * restricted_p01(tolerance, p01, p10, 1) + tolerance * (1 - tolerance))
    if shift < tolerance:
        powers = norm.cdf((roots * (tolerance - shift) - at_high) / spread)
        powers += norm.cdf((roots * (tolerance + shift) - at_low) / spread) - 1
    else:
        powers = norm.cdf((roots * (shift - tolerance) - at_high) / spread)
    enough = np.flatnonzero(powers >= power)
    return int(enough[0]) + 1 if enough.size else None


@brief
@given(tables(200), st.floats(0.03, 0.4), st.floats(0.3, 0.95), st.floats(0.01, 0.2))
@example((15, 15, 100), 0.10, 0.8, 0.05)
@example((19, 3, 100), 0.10, 0.8, 0.05)
@example((10, 0, 100), 0.10, 0.8, 0.05)
@example((3, 0, 40), 0.10, 0.8, 0.05)  # 774, just below 20 n
@example((2, 8, 40), 0.10, 0.8, 0.05)  # 806, just above
def test_needed_pairs_is_nams_formula(
    table: tuple[int, int, int], tolerance: float, power: float, alpha: float
) -> None:
    """The smallest size with that power is found, or None where it is beyond 20 n."""
    assert needed_pairs(*table, tolerance, power, alpha) == nam_pairs(*table, tolerance, power, alpha)


def test_no_advice_on_the_tolerance() -> None:
    """An estimate on the tolerance gets no number; one that needs just under 20 n pairs does."""
    assert needed_pairs(10, 0, 100, 0.10) is None
    sizes = [needed_pairs(n10, 10, 40, 0.10) for n10 in range(10, 30)]
    given_sizes = [size for size in sizes if size is not None]
    assert None in sizes
    assert 400 < max(given_sizes) <= 800


@no_deadline
@given(tables(), tolerances, st.floats(0.3, 0.9), st.floats(0.01, 0.2))
def test_surer_needs_more_pairs(table: tuple[int, int, int], tolerance: float, power: float, alpha: float) -> None:
    """More power, or a smaller alpha, never needs fewer pairs."""
    base = needed_pairs(*table, tolerance, power, alpha) or math.inf
    assert (needed_pairs(*table, tolerance, power + 0.05, alpha) or math.inf) >= base
    assert (needed_pairs(*table, tolerance, power, alpha / 2) or math.inf) >= base


# --- exact enumeration --------------------------------------------------------------------------------------

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def array_z(d: float, n10: np.ndarray, n01: np.ndarray, n: int) -> np.ndarray:
    """Tango's statistic in closed form for many tables at once."""
    a, b, c = 2 * n, (2 * n - n10 + n01) * d - n10 - n01, -n01 * d * (1 - d)
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0))
    p01 = np.where(b > 0, -2 * c / np.where(b > 0, root + b, 1), (root - b) / (2 * a))
    p01 = np.maximum(p01, max(0.0, -d))
    return (n10 - n01 - n * d) / np.sqrt(n * (2 * p01 + d * (1 - d)))


def decided(n10: np.ndarray, n01: np.ndarray, n: int, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Which tables pass and which fail at alpha = .05."""
    z, below, above = norm.ppf(0.95), array_z(tolerance, n10, n01, n), array_z(-tolerance, n10, n01, n)
    return (above > z) & (below < -z), (below > z) | (above < -z)


@lru_cache
def decisions(n: int, tolerance: float) -> Arrays:
    """Every table of n pairs: n10, n01, whether it passes, whether it fails."""
    n10, n01 = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    possible = n10 + n01 <= n
    n10, n01 = n10[possible], n01[possible]
    return n10, n01, *decided(n10, n01, n, tolerance)


def chances(n10: np.ndarray, n01: np.ndarray, n: int, p10: float, p01: float) -> np.ndarray:
    """The trinomial probability of every table; p10 + p01 may be 1 but for rounding."""
    rest, p_rest = n - n10 - n01, max(1 - p10 - p01, 0.0)
    ways = gammaln(n + 1) - gammaln(n10 + 1) - gammaln(n01 + 1) - gammaln(rest + 1)
    return np.asarray(np.exp(ways + xlogy(n10, p10) + xlogy(n01, p01) + xlogy(rest, p_rest)))


def characteristics(n: int, tolerance: float, shift: float, noise: float) -> tuple[float, float]:
    """P(PASS) and P(FAIL) where flip noise is half each way and the shift comes on top of one way."""
    n10, n01, passes, fails = decisions(n, tolerance)
    p = chances(n10, n01, n, shift + noise / 2, noise / 2)
    return float(p[passes].sum()), float(p[fails].sum())


@pytest.mark.parametrize(
    ("n", "tolerance"),
    [
        (25, 0.10),
        (25, 0.15),
        (50, 0.10),
        (52, 0.05),
        (100, 0.05),
        (100, 0.10),
        (100, 0.15),
        (200, 0.10),
        (200, 0.15),
        (500, 0.10),
    ],
)
def test_enumeration_is_the_gates(n: int, tolerance: float) -> None:
    """The decisions enumerated are gate_shift's: for every table of few pairs, else along the borders."""
    n10, n01, passes, fails = decisions(n, tolerance)
    kinds = np.full((n + 1, n + 1), -1)
    kinds[n10, n01] = passes + 2 * fails
    border = np.zeros_like(kinds, dtype=bool)
    for axis, step in itertools.product((0, 1), (-1, 1)):
        border |= np.roll(kinds, step, axis) != kinds
    checked = 0
    for x, y in zip(n10.tolist(), n01.tolist(), strict=True):
        if n <= 25 or (border[x, y] and min(x, y) <= 60):
            status = (Status.INCONCLUSIVE, Status.PASS, Status.FAIL)[kinds[x, y]]
            assert gate_shift(x, y, n, tolerance).status is status, (x, y)
            checked += 1
    assert checked > 50


@pytest.mark.parametrize(
    ("n", "tolerance", "pass_size", "fail_size"),
    [
        # The smallest n that can pass does so on zero flips alone: (1 - t)^n exceeds .058 there.
        pytest.param(25, 0.10, 0.0719, 0.073, id="25-.10"),
        pytest.param(25, 0.15, 0.058, 0.0811, id="25-.15"),
        pytest.param(25, 0.20, 0.058, 0.073, id="25-.20"),
        pytest.param(52, 0.05, 0.0695, 0.073, id="52-.05"),
        *(pytest.param(52, t, 0.058, 0.073, id=f"52-{t}") for t in (0.10, 0.15, 0.20)),
        *(pytest.param(n, t, 0.058, 0.073, id=f"{n}-{t}") for n in (100, 200) for t in (0.05, 0.10, 0.15, 0.20)),
    ],
)
def test_size(n: int, tolerance: float, pass_size: float, fail_size: float) -> None:
    """A judge exactly at the tolerance passes, or fails, this rarely whatever its flip noise (0 to .4)."""
    sizes = [characteristics(n, tolerance, tolerance, noise) for noise in np.linspace(0, 0.4, 41)]
    assert max(p for p, _ in sizes) <= pass_size
    assert max(p for _, p in sizes) <= fail_size
    assert max(p for _, p in sizes) > 0.04  # a gate that never failed would also be of that size


def test_where_the_sizes_are_largest() -> None:
    """The documented largest sizes are attained: .058 and .073 at n = 100, t = .10, without noise."""
    assert characteristics(100, 0.10, 0.10, 0) == pytest.approx((0.0576, 0.0726), abs=5e-5)
    assert characteristics(25, 0.10, 0.10, 0)[0] == pytest.approx(0.9**25)
    assert characteristics(52, 0.05, 0.05, 0)[0] == pytest.approx(0.95**52)
    for noise in (0.05, 0.10):
        assert 0.053 <= characteristics(100, 0.10, 0.10, noise)[1] <= 0.064


def twice_rounded(value: float) -> str:
    """A probability as the table prints it: rounded to three decimals, then to two, halves to even."""
    three = Decimal(repr(value)).quantize(Decimal("0.001"), ROUND_HALF_EVEN)
    return str(three.quantize(Decimal("0.01"), ROUND_HALF_EVEN)).removeprefix("0")


@pytest.mark.parametrize(
    ("n", "noise", "printed"),
    [
        (50, 0.05, ".63/.00 .20/.00 .04/.06 .00/.28 .00/.88"),
        (100, 0.05, ".97/.00 .42/.00 .05/.06 .00/.44 .00/.99"),
        (100, 0.10, ".80/.00 .32/.00 .05/.05 .00/.35 .00/.97"),
        (200, 0.10, ".99/.00 .54/.00 .05/.05 .00/.55 .00/1.00"),
        (500, 0.10, "1.00/.00 .88/.00 .05/.05 .00/.88 .00/1.00"),
    ],
)
def test_operating_characteristics(n: int, noise: float, printed: str) -> None:
    """The table shown to users (t = .10) is what the gate does: noise half each way, the shift on top.

    Two cells (.0346 printed as .04 and .3253 as .32) are the table's only if it was rounded twice.
    """
    row = [characteristics(n, 0.10, shift, noise) for shift in (0, 0.05, 0.10, 0.16, 0.30)]
    # Beyond the tolerance the table shows no PASS and within it no FAIL; those are below half a percent.
    assert " ".join("/".join(twice_rounded(p) for p in cell) for cell in row) == printed
    assert all(
        abs(p - float(shown)) < 0.0055
        for cell, text in zip(row, printed.split(), strict=True)
        for p, shown in zip(cell, text.split("/"), strict=True)
    )


@pytest.mark.parametrize(
    ("n", "tolerance", "noise", "contrasts", "chance"),
    [
        (100, 0.10, 0.05, 20, 0.50),
        (100, 0.10, 0.10, 20, 0.01),
        (200, 0.10, 0.05, 20, 1.00),
        (200, 0.10, 0.10, 20, 0.80),
        (100, 0.15, 0.05, 20, 1.00),
        (100, 0.15, 0.10, 20, 0.84),
        (100, 0.10, 0.05, 14, 0.62),
        (100, 0.10, 0.10, 14, 0.05),
        (200, 0.10, 0.05, 14, 1.00),
        (200, 0.10, 0.10, 14, 0.86),
        (100, 0.15, 0.05, 14, 1.00),
        # .885, printed as .89
        (100, 0.15, 0.10, 14, 0.89),
    ],
)
def test_chance_that_an_unbiased_judge_passes_all(
    n: int, tolerance: float, noise: float, contrasts: int, chance: float
) -> None:
    """An unbiased judge passes all of so many contrasts with the documented probability."""
    assert characteristics(n, tolerance, 0, noise)[0] ** contrasts == pytest.approx(chance, abs=0.0055)


def exact_pairs(n10: int, n01: int, n: int, tolerance: float, about: int) -> int:
    """The size from which on the gate settles in 80% of runs, by enumeration around `about`.

    Exact power is a sawtooth of the size: what counts is that no later size falls below.
    """
    p10, p01 = (n10 + 0.5) / (n + 2), (n01 + 0.5) / (n + 2)
    goal = 0 if abs(p10 - p01) < tolerance else 1

    def likely(p: float, size: int) -> np.ndarray:
        spread = 9 * math.sqrt(size * p * (1 - p)) + 5
        return np.arange(max(0, int(size * p - spread)), min(size, int(size * p + spread)) + 1)

    def power(size: int) -> float:
        x, y = np.meshgrid(likely(p10, size), likely(p01, size), indexing="ij")
        x, y = x[x + y <= size], y[x + y <= size]
        return float(chances(x, y, size, p10, p01)[decided(x, y, size, tolerance)[goal]].sum())

    sizes = range(int(0.85 * about), int(1.05 * about) + 2)
    short = [size for size in sizes if power(size) < 0.8]
    assert short, "the scan began too late"
    return short[-1] + 1


@pytest.mark.parametrize(
    ("n10", "n01", "n", "tolerance"),
    [
        (4, 4, 100, 0.10),
        (10, 10, 100, 0.10),
        (15, 15, 100, 0.10),
        (7, 5, 100, 0.10),
        (2, 1, 50, 0.10),
        (5, 5, 50, 0.10),
        (12, 8, 100, 0.15),
        (19, 3, 100, 0.10),
        (10, 0, 50, 0.10),
        (14, 2, 60, 0.10),
        (3, 19, 100, 0.10),
    ],
)
def test_needed_pairs_against_enumeration(n10: int, n01: int, n: int, tolerance: float) -> None:
    """The advised number is above the exact one by at most 10%, from 70 pairs on."""
    advised = needed_pairs(n10, n01, n, tolerance)
    assert advised is not None
    exact = exact_pairs(n10, n01, n, tolerance, advised)
    assert exact >= 70
    assert 1 <= advised / exact <= 1.10


# --- gate_non_inferiority -----------------------------------------------------------------------------------


@no_deadline
@given(tables(), tolerances, alphas)
def test_non_inferiority_reads_the_interval(table: tuple[int, int, int], margin: float, alpha: float) -> None:
    """PASS iff the interval lies above -margin, FAIL iff below; the two p-values are one test's two sides."""
    result = gate_non_inferiority(*table, margin, alpha)
    interval = paired_difference(*table, 1 - 2 * alpha)
    assert result.estimate == interval
    assert result.p_pass + result.p_fail == pytest.approx(1)
    assume(min(abs(interval.low + margin), abs(interval.high + margin)) > 1e-9)
    assert (result.status is Status.PASS) == (interval.low > -margin) == (result.p_pass < alpha)
    assert (result.status is Status.FAIL) == (interval.high < -margin) == (result.p_fail < alpha)


@brief
@given(tables(), tolerances)
def test_non_inferiority_p_value(table: tuple[int, int, int], margin: float) -> None:
    """p_pass is the one-sided score test against a difference of -margin."""
    expected = norm.sf(second_z(-margin, *table))
    assert gate_non_inferiority(*table, margin).p_pass == pytest.approx(expected, abs=1e-9)


@no_deadline
@given(tables(), tolerances)
def test_better_is_never_worse(table: tuple[int, int, int], margin: float) -> None:
    """One more pair that only the candidate gets right never makes a PASS harder."""
    candidate, baseline, n = table
    assume(candidate + baseline < n)
    before = gate_non_inferiority(candidate, baseline, n, margin)
    assert gate_non_inferiority(candidate + 1, baseline, n, margin).p_pass <= before.p_pass + 1e-12


def test_candidate_and_baseline_are_not_exchangeable() -> None:
    """Much better passes, much worse fails."""
    assert gate_non_inferiority(30, 0, 100, 0.05).status is Status.PASS
    assert gate_non_inferiority(0, 30, 100, 0.05).status is Status.FAIL


def test_pairs_for_non_inferiority() -> None:
    """Needed pairs give 80% power to pass; there are none where the estimate is beyond the margin."""
    for candidate, baseline, n, margin in ((4, 5, 100, 0.05), (3, 4, 60, 0.05), (10, 11, 100, 0.07)):
        p10, p01 = (candidate + 0.5) / (n + 2), (baseline + 0.5) / (n + 2)
        difference = p10 - p01
        at_margin = norm.ppf(0.95) * math.sqrt(2 * restricted_p01(margin, p01, p10, 1) + margin * (1 - margin))
        size = np.arange(1, 20 * n + 1)
        power = norm.cdf((np.sqrt(size) * (margin + difference) - at_margin) / math.sqrt(p10 + p01 - difference**2))
        result = gate_non_inferiority(candidate, baseline, n, margin)
        assert result.status is Status.INCONCLUSIVE
        assert result.needed_pairs == int(size[power >= 0.8][0])
        assert result.message.endswith(f"INCONCLUSIVE; {inconclusive_advice(result.needed_pairs, n, 'margin')}")
    beyond = gate_non_inferiority(5, 12, 100, 0.05)
    assert (beyond.status, beyond.needed_pairs) == (Status.INCONCLUSIVE, None)
    assert gate_non_inferiority(30, 0, 100, 0.05).needed_pairs is None


def test_non_inferiority_of_equal_judges() -> None:
    """100 pairs, 10% discordance: equal judges pass with probability .44 (margin .05), .90 (.10)."""
    n10, n01, *_ = decisions(100, 0.10)
    p, z = chances(n10, n01, 100, 0.05, 0.05), norm.ppf(0.95)
    assert float(p[array_z(-0.05, n10, n01, 100) > z].sum()) == pytest.approx(0.44, abs=0.005)
    assert float(p[array_z(-0.10, n10, n01, 100) > z].sum()) == pytest.approx(0.90, abs=0.005)


@pytest.mark.parametrize("n", [50, 100, 200])
@pytest.mark.parametrize("margin", [0.05, 0.10])
def test_false_pass_at_the_margin(n: int, margin: float) -> None:
    """A candidate worse by exactly the margin passes in at most 5.9% of runs."""
    n10, n01, *_ = decisions(n, 0.10)
    passes = array_z(-margin, n10, n01, n) > norm.ppf(0.95)
    sizes = [chances(n10, n01, n, q / 2, q / 2 + margin)[passes].sum() for q in np.linspace(0, 0.4, 41)]
    assert 0.03 < max(sizes) <= 0.059


# --- words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(lambda: gate_shift(19, 3, 100, 0.10).message, id="inconclusive"),
        pytest.param(lambda: gate_shift(0, 0, 100, 0.15).message, id="pass"),
        pytest.param(lambda: gate_shift(0, 30, 100, 0.125, alpha=0.025).message, id="fail"),
        pytest.param(lambda: gate_shift(10, 0, 100, 0.10).message, id="on-the-tolerance"),
        pytest.param(lambda: gate_non_inferiority(0, 30, 100, 0.05).message, id="worse"),
        pytest.param(lambda: gate_non_inferiority(5, 12, 100, 0.05).message, id="beyond-the-margin"),
    ],
)
def test_messages(message: Callable[[], str], snapshot: SnapshotAssertion) -> None:
    """A message names estimate, interval, limit, status, and what would settle it."""
    assert message() == snapshot


@pytest.mark.parametrize("needed", [101, 100, 37, None])
def test_advice(needed: int | None, snapshot: SnapshotAssertion) -> None:
    """Advice never names a number of pairs that is there already as one that would settle it."""
    assert inconclusive_advice(needed, 100, "margin") == snapshot


@pytest.mark.parametrize("n", [20, 99])
def test_few_pairs_are_not_told_that_no_number_would_do(n: int, snapshot: SnapshotAssertion) -> None:
    """Up to 20 times the pairs were looked at: where that is a realistic number it is named."""
    assert inconclusive_advice(None, n, "tolerance") == snapshot
    assert lines_about(gate_shift(2, 0, 20, 0.10).message, "more than") == snapshot


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.3, "+0.30"),
        (-0.055, "-0.055"),
        (0.1234, "+0.123"),
        (0, "0.00"),
        (-0.0004, "0.00"),
        (0.0004, "0.00"),
        (1, "+1.00"),
        (-1, "-1.00"),
        (0.0006, "+0.001"),
    ],
)
def test_signed(value: float, text: str) -> None:
    """A difference has its sign and two to three decimals; nothing is neither plus nor minus."""
    assert format_signed(value) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.15, 2, "0.15"),
        (0.1, 2, "0.10"),
        (0.075, 2, "0.075"),
        (1.0, 2, "1.00"),
        (0.0, 2, "0.00"),
        (-0.4, 2, "-0.40"),
        (0.38, 3, "0.380"),
        (-0.0263, 3, "-0.026"),
        (1.0, 3, "1.000"),
        (-1.0, 3, "-1.000"),
        (0.99999, 3, "1.000"),
        (-0.99999, 3, "-1.000"),
        (0.1234, 2, "0.123"),
    ],
)
def test_bare(value: float, decimals: int, text: str) -> None:
    """A proportion has no leading zero and at least so many decimals."""
    assert format_share(value, decimals) == text


@pytest.mark.parametrize(("confidence", "level"), [(0.90, "90%"), (1 - 2 * 0.05, "90%"), (0.975, "97.5%")])
def test_describe(confidence: float, level: str) -> None:
    """An estimate of a difference is read as value, level, interval."""
    assert format_estimate(Estimate(-0.055, -0.25, 0.1, confidence, 9)) == f"-0.055 ({level} CI -0.25 to 0.10)"


@pytest.mark.parametrize(
    ("milder", "severer"), list(itertools.combinations(["NOT_APPLICABLE", "PASS", "INCONCLUSIVE", "FAIL", "ERROR"], 2))
)
def test_worst(milder: str, severer: str) -> None:
    """The worse of two statuses is the same in either order, and alone each is its own worst."""
    assert (
        worst_status(Status(milder), Status(severer))
        is worst_status(Status(severer), Status(milder))
        is Status(severer)
    )
    assert worst_status(Status(milder)) is Status(milder)


# --- what is refused ----------------------------------------------------------------------------------------

COUNTED: dict[str, Callable[[Any, Any, Any], object]] = {
    "paired_difference": paired_difference,
    "gate_shift": lambda n10, n01, n: gate_shift(n10, n01, n, 0.1),
    "gate_non_inferiority": lambda n10, n01, n: gate_non_inferiority(n10, n01, n, 0.1),
    "needed_pairs": lambda n10, n01, n: needed_pairs(n10, n01, n, 0.1),
}


@pytest.mark.parametrize("function", COUNTED.values(), ids=COUNTED)
@pytest.mark.parametrize("counts", [(-1, 0, 10), (0, -1, 10), (6, 5, 10), (0, 0, 0), (0, 0, -3), (11, 0, 10)])
def test_impossible_counts(function: Callable[..., object], counts: tuple[int, int, int]) -> None:
    """Counts that no table can have are refused, and the message quotes them."""
    with pytest.raises(ValueError, match="{}, {} of n={}$".format(*counts)):
        function(*counts)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", COUNTED.values(), ids=COUNTED)
@pytest.mark.parametrize("value", [1.0, True, "1", None, math.nan, Decimal(1)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_counts_are_whole_numbers(
    function: Callable[..., object], value: Any, place: int, snapshot: SnapshotAssertion
) -> None:
    """Only whole numbers count: no float, no truth value, no text; the message quotes what was given."""
    counts: list[Any] = [1, 1, 10]
    counts[place] = value
    with pytest.raises(ValueError) as caught:
        function(*counts)
    assert str(caught.value) == snapshot
    assert str(caught.value).endswith(f"got {value!r}")


@pytest.mark.parametrize("k", [-1, 11, 3.0, True, "3"])
def test_proportion_of_impossible_counts(k: Any, snapshot: SnapshotAssertion) -> None:
    """k must be a whole number in 0..n."""
    with pytest.raises(ValueError) as error:
        proportion(k, 10)
    assert str(error.value) == snapshot


@pytest.mark.parametrize(("k", "n"), [(0, 0), (1, 2.0), (0, -1)])
def test_proportion_of_nothing(k: Any, n: Any, snapshot: SnapshotAssertion) -> None:
    """n must be a whole number of at least 1."""
    with pytest.raises(ValueError) as error:
        proportion(k, n)
    assert str(error.value) == snapshot


def test_proportion_method(snapshot: SnapshotAssertion) -> None:
    """There are two methods, and the message quotes what was given."""
    with pytest.raises(ValueError) as error:
        proportion(1, 10, method="wald")  # type: ignore[arg-type]
    assert str(error.value) == snapshot


@pytest.mark.parametrize("counts", [(-1, 3), (3, -1), (1.0, 2), (True, 0)])
def test_mcnemar_of_impossible_counts(counts: tuple[Any, Any]) -> None:
    """McNemar's test, too, counts whole pairs."""
    with pytest.raises(ValueError, match="must be"):
        mcnemar_exact(*counts)


BETWEEN: dict[str, tuple[str, Callable[[float], object]]] = {
    "paired_difference-confidence": ("confidence", lambda x: paired_difference(1, 0, 10, x)),
    "proportion-confidence": ("confidence", lambda x: proportion(1, 10, x)),
    "gate_shift-tolerance": ("tolerance", lambda x: gate_shift(1, 0, 10, x)),
    "needed_pairs-tolerance": ("tolerance", lambda x: needed_pairs(1, 0, 10, x)),
    "needed_pairs-power": ("power", lambda x: needed_pairs(1, 0, 10, 0.1, power=x)),
    "gate_non_inferiority-margin": ("margin", lambda x: gate_non_inferiority(1, 0, 10, x)),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, 90, math.nan, math.inf, True, None, "x"])
@pytest.mark.parametrize(("name", "function"), BETWEEN.values(), ids=BETWEEN)
def test_shares_lie_between_0_and_1(name: str, function: Callable[[float], object], value: float) -> None:
    """Confidence, tolerance, margin and power lie in (0, 1); the message names the one that does not."""
    with pytest.raises(ValueError, match=rf"^{name} must lie between 0 and 1, both excluded, got {value!r}$"):
        function(value)


@pytest.mark.parametrize("alpha", [0, 0.5, -0.1, 0.95, math.nan, None])
@pytest.mark.parametrize("function", [gate_shift, needed_pairs, gate_non_inferiority])
def test_alpha_lies_below_one_half(function: Callable[..., object], alpha: float, snapshot: SnapshotAssertion) -> None:
    """Alpha lies in (0, 0.5): beyond, PASS and FAIL could both hold."""
    with pytest.raises(ValueError) as error:
        function(1, 0, 10, 0.1, alpha=alpha)
    assert str(error.value) == snapshot


@pytest.mark.parametrize(
    "function",
    [lambda: proportion("3", 10), lambda: gate_non_inferiority("3", 0, 10, 0.1)],  # type: ignore[arg-type]
)
def test_refusal_names_the_argument(function: Callable[[], object], snapshot: SnapshotAssertion) -> None:
    """A message about a count names it as the function's signature does."""
    with pytest.raises(ValueError) as error:
        function()
    assert str(error.value) == snapshot


# --- means ------------------------------------------------------------------------------------------------------


@no_deadline
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=80), confidences)
def test_the_interval_of_a_mean_is_students(scores: list[float], confidence: float) -> None:
    """It is scipy's t interval over the scores with +1 and -1 added, cut off at the largest scores there can be."""
    estimate = mean_interval(scores, confidence)
    low, high = stats.ttest_1samp([*scores, 1.0, -1.0], 0).confidence_interval(confidence)
    assert estimate.value == pytest.approx(np.mean(scores), abs=1e-12)
    assert estimate.low == pytest.approx(min(max(low, -1), estimate.value), abs=1e-9)
    assert estimate.high == pytest.approx(max(min(high, 1), estimate.value), abs=1e-9)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1.5, -1.5])
def test_scores_lie_within_their_bound(wrong: float) -> None:
    """A score that there cannot be is refused, and quoted."""
    with pytest.raises(ValueError, match=rf"between -1 and 1, got {wrong}"):
        mean_interval([0.0, wrong])


@pytest.mark.parametrize(
    ("scores", "limit"),
    [
        ([0.0] * 76 + [1.0] * 12 + [-1.0] * 12, 0.05),
        ([0.0] * 60 + [0.5] * 20 + [-0.5] * 20, 0.05),
        ([0.0] * 70 + [0.5] * 20 + [-0.5] * 10, 0.10),
        ([0.0] * 60 + [1.0] * 30 + [-1.0] * 10, 0.10),
    ],
)
def test_pairs_for_a_mean_are_those_of_both_tests(scores: list[float], limit: float) -> None:
    """So many pairs settle 80% of runs, within the limit on both sides or beyond it; 10% fewer do not.

    As everywhere, the shares that are seen are smoothed: by the two pairs that the interval adds.
    """
    needed = pairs_for_mean(mean_interval(scores), limit)
    assert needed is not None
    values, counts = np.unique([*scores, 1.0, -1.0], return_counts=True)

    def power(size: int) -> float:
        drawn = np.random.default_rng(size).multinomial(size, counts / counts.sum(), 40_000)
        mean, squares = drawn @ values / (size + 2), drawn @ values**2 + 2
        width = stats.t.ppf(0.95, size + 1) * np.sqrt((squares - (size + 2) * mean**2) / (size + 1) / (size + 2))
        inside = (mean - width > -limit) & (mean + width < limit)
        return float((inside if abs(np.mean(scores)) < limit else mean - width > limit).mean())

    assert power(math.floor(0.9 * needed)) < 0.8 < power(math.ceil(1.05 * needed))


@pytest.mark.parametrize("limit", [0.0, 1.0, math.nan])
def test_a_limit_lies_between_0_and_1(limit: float) -> None:
    """A limit that none can be is refused by name."""
    with pytest.raises(ValueError, match="limit"):
        pairs_for_mean(mean_interval([0.0] * 9), limit)


def test_no_pairs_are_given_where_the_estimate_is_beyond_the_margin(snapshot: SnapshotAssertion) -> None:
    """Neither a number nor a settling PASS is promised of a candidate that is seen to be worse by the margin."""
    result = gate_non_inferiority(0, 10, 100, 0.1)
    assert (result.status, result.needed_pairs) == (Status.INCONCLUSIVE, None)
    assert lines_about(result.message, "would probably") == snapshot
