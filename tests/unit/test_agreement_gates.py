"""Gates of agreement with people: exact bounds, what is never a PASS, and how many labels it takes."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint
from support.benchmarks import benchmark
from syrupy.assertion import SnapshotAssertion

from judgefixtures.statistics.agreement import (
    AGREEMENT_GATES,
    AgreementLimits,
    agreement_prospect,
    gate_accuracy,
    gate_kappa,
    gate_tnr,
    gate_tpr,
    labels_for_power,
    needed_labels,
    pass_chance,
    too_few_labels_text,
)
from judgefixtures.statistics.agreement_rates import (
    agreement_rate,
    balanced_accuracy,
    true_negative_rate,
    true_positive_rate,
)
from judgefixtures.statistics.clusters import ClusterTotals, cluster_totals
from judgefixtures.statistics.estimate import Status
from judgefixtures.statistics.kappa import cohen_kappa
from judgefixtures.statistics.proportions import proportion

counts = st.integers(0, 60)
any_table = st.tuples(counts, counts, counts, counts).filter(any)
gates = pytest.mark.parametrize("name", AGREEMENT_GATES)
limits = st.floats(0.05, 0.95)


# --- estimates ----------------------------------------------------------------------------------------------


def test_bounds_are_those_of_clopper_and_pearson():
    """On 500 tables: TPR, TNR and accuracy as statsmodels has them."""
    rng, compared = random.Random(27), 0
    while compared < 500:
        tp, fn, fp, tn = (rng.choice((0, rng.randint(0, 150))) for _ in range(4))
        if not (tp + fn and fp + tn):
            continue
        compared += 1
        parts = ((true_positive_rate, tp, tp + fn), (true_negative_rate, tn, fp + tn))
        for rate, k, n in (*parts, (agreement_rate, tp + tn, tp + fn + fp + tn)):
            found = rate(tp, fn, fp, tn)
            low, high = proportion_confint(k, n, alpha=0.10, method="beta")
            assert (found.value, found.n) == (k / n, n)
            assert found.low == pytest.approx(0 if k == 0 else low, abs=1e-9)
            assert found.high == pytest.approx(1 if k == n else high, abs=1e-9)


@given(any_table)
def test_balanced_accuracy_lies_in_its_interval(cells):
    """The mean of both rates, which is not there without either class."""
    tp, fn, fp, tn = cells
    found = balanced_accuracy(*cells)
    if not (tp + fn and fp + tn):
        assert math.isnan(found.value)
        assert (found.low, found.high) == (0, 1)
        return
    assert found.value == pytest.approx((tp / (tp + fn) + tn / (fp + tn)) / 2)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 0


def test_without_a_class_its_rate_is_not_there():
    """Nobody labelled fail: nothing is known of TNR."""
    found = true_negative_rate(30, 2, 0, 0)
    assert math.isnan(found.value)
    assert (found.low, found.high, found.n) == (0, 1, 0)


# --- what is never a PASS -----------------------------------------------------------------------------------


@gates
@pytest.mark.parametrize(
    ("cells", "lacks"),
    [
        ((200, 0, 0, 0), "no example is labelled fail"),
        ((0, 0, 0, 200), "no example is labelled pass"),
        ((200, 0, 0, 9), "only 9 examples are labelled fail"),
        ((1, 0, 0, 200), "only 1 example is labelled pass"),
        ((9, 0, 0, 9), "only 9 examples are labelled pass and only 9 examples are labelled fail"),
    ],
)
def test_too_few_labels_of_a_class_are_never_a_pass(name, cells, lacks):
    """Not of a judge without a single error either: one that passes all agrees with labels that are all pass."""
    found = AGREEMENT_GATES[name](*cells, 0.01)
    assert found.status is Status.INCONCLUSIVE
    assert found.p_pass == 1
    assert f"{lacks}; use at least 10" in found.message


@gates
def test_a_judge_whose_answers_are_all_invalid_never_passes(name):
    """An invalid grade is a fail of a positive and a pass of a negative: the judge is wrong about everything."""
    assert AGREEMENT_GATES[name](0, 50, 50, 0, 0.6).status is Status.FAIL


@gates
def test_without_any_label_there_is_no_table(name, snapshot: SnapshotAssertion):
    """Labels that nobody gave are an error of whoever asks, and `lacking` says so in words."""
    with pytest.raises(ValueError) as error:
        AGREEMENT_GATES[name](0, 0, 0, 0, 0.8)
    assert str(error.value) == snapshot
    assert too_few_labels_text(0, 0) == snapshot
    assert too_few_labels_text(10, 10) == ""


def test_a_class_alone_decides_nothing_of_kappa():
    """Where all labels are pass kappa is 0 by its formula, which is no verdict on the judge."""
    assert gate_kappa(90, 10, 0, 0, 0.6).status is Status.INCONCLUSIVE


@gates
@pytest.mark.parametrize("limit", [-1, 1, 2, math.nan, "0.8", None])
def test_a_limit_that_cannot_be_exceeded_is_an_error(name, limit):
    """A configuration's mistake is not a judge's FAIL."""
    with pytest.raises(ValueError, match=r"limit|kappa"):
        AGREEMENT_GATES[name](40, 5, 5, 40, limit)
    with pytest.raises(ValueError, match="alpha"):
        AGREEMENT_GATES[name](40, 5, 5, 40, 0.8, 0.5)


# --- what decides -------------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(any_table, limits, st.sampled_from(sorted(AGREEMENT_GATES)))
def test_a_status_is_where_the_interval_lies(cells, limit, name):
    """PASS above the limit, FAIL below it; p-values and the interval say the same."""
    tp, fn, fp, tn = cells
    found = AGREEMENT_GATES[name](*cells, limit)
    low, high = found.estimate.low, found.estimate.high
    if min(abs(low - limit), abs(high - limit)) < 1e-6:
        return  # the ends of kappa's interval are found to eight digits
    assert (found.status is Status.PASS) == (low > limit and not too_few_labels_text(tp + fn, fp + tn))
    one_class = name == "kappa" and not (tp + fn and fp + tn)
    assert (found.status is Status.FAIL) == (high < limit and not one_class)
    assert f": {found.status}" in found.message


@given(any_table, limits)
def test_p_values_of_rates_are_those_of_the_binomial_test(cells, limit):
    """One-sided and exact, as scipy has it."""
    tp, fn, fp, tn = cells
    found = gate_accuracy(*cells, limit)
    expected = [binomtest(tp + tn, sum(cells), limit, alternative=side).pvalue for side in ("greater", "less")]
    assert found.p_fail == pytest.approx(expected[1], abs=1e-9)
    assert found.p_pass == (1 if too_few_labels_text(tp + fn, fp + tn) else pytest.approx(expected[0], abs=1e-9))


def test_messages_say_what_was_seen_and_what_would_settle_it(snapshot: SnapshotAssertion):
    """Counts, the interval, the limit by its key; the labels that it takes, or that more of them would not do."""
    assert gate_tpr(27, 3, 3, 27, 0.8).message == snapshot
    assert gate_tpr(27, 3, 3, 27, 0.8).needed_pairs == 180
    assert gate_tnr(27, 3, 7, 23, 0.8).message == snapshot
    assert gate_accuracy(40, 9, 10, 41, 0.8).message == snapshot
    assert gate_kappa(39, 1, 0, 40, 0.6).message == "Cohen's kappa 0.975 (90% CI 0.91 to 1.00), min_kappa 0.60: PASS"


# --- related examples ---------------------------------------------------------------------------------------


def alike(right: int, n: int, size: int) -> ClusterTotals:
    """Return so many clusters of one size, in each of which all are right or none is."""
    return ClusterTotals(tuple(float(size) if index < right else 0.0 for index in range(n)), (size,) * n)


def test_examples_that_say_the_same_count_once():
    """Four examples per question, all right or all wrong: the bounds are those of the questions."""
    once = gate_tpr(27, 3, 3, 27, 0.8)
    often = gate_tpr(108, 12, 12, 108, 0.8, totals=alike(27, 30, 4))
    assert often.estimate.low == pytest.approx(once.estimate.low)
    assert often.p_pass == pytest.approx(once.p_pass)
    assert often.needed_pairs == 4 * once.needed_pairs
    assert "n = 120 labels in 30 clusters" in often.message
    assert gate_tpr(108, 12, 12, 108, 0.8).status is Status.PASS


def test_kappa_counts_related_examples_once():
    """The same of kappa, by the clusters of agreement."""
    once = cohen_kappa(27, 3, 3, 27)
    often = cohen_kappa(108, 12, 12, 108, totals=alike(54, 60, 4))
    assert (often.value, often.n) == (pytest.approx(once.value), 240)
    assert often.low == pytest.approx(once.low, abs=0.02)
    assert often.high == pytest.approx(once.high, abs=0.02)
    assert gate_kappa(108, 12, 12, 108, 0.7, totals=alike(54, 60, 4)).status is Status.INCONCLUSIVE
    assert gate_kappa(108, 12, 12, 108, 0.7).status is Status.PASS


@gates
def test_few_clusters_decide_nothing(name):
    """Four questions with fifty answers each bear out no limit, nor a FAIL."""
    parts = {"tpr": (100, 100), "tnr": (100, 100), "accuracy": (200, 200), "kappa": (200, 200)}
    right, n = parts[name]
    related = cluster_totals([1] * right + [0] * (n - right), [index % 4 for index in range(n)])
    found = AGREEMENT_GATES[name](100, 0, 0, 100, 0.5, totals=related)
    assert found.status is Status.INCONCLUSIVE
    assert "4 clusters are too few" in found.message


# --- how many labels it takes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limit",
    [AgreementLimits(tpr=0.6), AgreementLimits(tnr=0.5, accuracy=0.6), AgreementLimits(tpr=0.5, kappa=0.3)],
    ids=str,
)
@pytest.mark.parametrize(("tpr", "tnr"), [(0.9, 0.8), (1.0, 0.9)])
def test_the_chance_is_that_of_all_tables_that_pass(limit, tpr, tnr):
    """Of every table with 12 positives and 11 negatives, asked of the gates themselves."""
    expected = 0.0
    for fn, fp in itertools.product(range(13), range(12)):
        cells = (12 - fn, fn, fp, 11 - fp)
        if all(AGREEMENT_GATES[name](*cells, least).status is Status.PASS for name, least in limit.set.items()):
            expected += binom.pmf(fn, 12, 1 - tpr) * binom.pmf(fp, 11, 1 - tnr)
    assert pass_chance(12, 11, tpr, tnr, limit) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("sizes", "rates"), [((50, 50), (0.9, 0.9)), ((20, 80), (0.95, 0.85)), ((90, 10), (1.0, 0.9))])
@pytest.mark.parametrize("kappa", [0.4, 0.6, 0.8])
def test_kappas_part_is_interpolated_well(sizes, rates, kappa):
    """Beside the enumeration of all tables, which takes long, it is right to .005."""
    positives, negatives = sizes
    bench, chance, fp = benchmark("agreement"), 0.0, negatives
    for fn in range(positives + 1):
        while fp >= 0 and not bench.kappa_z(bench.TwoByTwo(positives - fn, fn, fp, negatives - fp), kappa) > bench.Z:
            fp -= 1
        chance += binom.pmf(fn, positives, 1 - rates[0]) * binom.cdf(fp, negatives, 1 - rates[1])
    assert pass_chance(*sizes, *rates, AgreementLimits(kappa=kappa)) == pytest.approx(chance, abs=0.005)


@pytest.mark.parametrize(
    "limit",
    [
        AgreementLimits(tpr=0.8),
        AgreementLimits(tpr=0.8, tnr=0.8),
        AgreementLimits(kappa=0.6),
        AgreementLimits(tpr=0.8, tnr=0.8, accuracy=0.8, kappa=0.6),
    ],
    ids=str,
)
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_needed_labels_are_enough_and_not_many_more_than_that(limit, share):
    """With them the judge passes in 80%, with a fifth fewer it does not."""
    needed = labels_for_power(share, 0.9, 0.9, limit)
    assert needed is not None
    assert needed % 10 == 0
    fewer = round(0.8 * needed)
    for labels, enough in ((needed, True), (fewer, False)):
        positives = round(labels * share)
        assert (pass_chance(positives, labels - positives, 0.9, 0.9, limit) >= 0.8) is enough


def test_needed_labels_are_of_all_limits_at_the_rates_seen():
    """The hardest limit decides; a class that hardly occurs takes many labels."""
    both = AgreementLimits(tpr=0.8, tnr=0.8)
    balanced = needed_labels(27, 3, 3, 27, both)
    assert needed_labels(27, 3, 3, 27, AgreementLimits(tpr=0.8)) < balanced
    assert balanced < needed_labels(45, 5, 1, 9, both)
    assert needed_labels(27, 3, 3, 27, both, design_effect=2.0) == 2 * balanced


@pytest.mark.parametrize(
    ("cells", "limit"),
    [
        ((24, 6, 3, 27), AgreementLimits(tpr=0.8)),
        ((27, 3, 0, 0), AgreementLimits(tpr=0.8)),
        ((27, 3, 3, 27), AgreementLimits()),
        ((27, 3, 3, 27), AgreementLimits(kappa=0.8)),
        ((810, 190, 3, 27), AgreementLimits(tpr=0.809)),
    ],
)
def test_where_no_number_of_labels_would_do_there_is_none(cells, limit):
    """At or beyond a limit, without a class, without any limit, and so near a limit that it is not worth it."""
    assert needed_labels(*cells, limit) is None


def test_as_many_labels_are_advised_however_related_they_are():
    """At most twenty times those that there are, clusters and all: what takes more because they are alike is none."""
    near = AgreementLimits(tpr=0.8)
    assert needed_labels(26, 4, 4, 26, near, design_effect=2.0) == 2 * needed_labels(26, 4, 4, 26, near) == 900
    assert needed_labels(26, 4, 4, 26, near, design_effect=2.9) is None


@pytest.mark.parametrize("limit", [{"tpr": 0}, {"tnr": 1}, {"accuracy": 1.2}, {"kappa": -1}, {"kappa": "0.6"}])
def test_limits_lie_where_they_can_be_exceeded(limit):
    """Named by the key of the configuration."""
    with pytest.raises(ValueError, match=f"min_{next(iter(limit))}"):
        AgreementLimits(**limit)


def test_a_preflight_says_what_labels_can_show(snapshot: SnapshotAssertion):
    """How often a good judge passes and how many labels would do, in a sentence."""
    assert agreement_prospect(30, 30, AgreementLimits(tpr=0.8)) == snapshot
    assert agreement_prospect(100, 100, AgreementLimits(tpr=0.8)) == snapshot
    assert agreement_prospect(30, 30, AgreementLimits(kappa=0.8)) == snapshot
    assert agreement_prospect(60, 0, AgreementLimits(kappa=0.6)) == snapshot
    assert agreement_prospect(30, 30, AgreementLimits(tpr=0.989)) == snapshot
    assert agreement_prospect(30, 30, AgreementLimits()) == ""


# --- how often it errs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.4, 0.6, 0.8])
def test_kappas_gate_errs_as_often_as_it_may_at_50_labels(limit):
    """Every table counted, prevalence .1 to .9, judge unbiased or lenient: no cell above .08, mean at most .055."""
    bench = benchmark("agreement")
    found = bench.frontier(50, limit)
    judges = [(each, bench.rates_of(limit, each, lean)) for lean in bench.LEANINGS for each in bench.PREVALENCES]
    errors = [bench.passing(found, 50, prevalence, rates) for prevalence, rates in judges if rates]
    assert max(errors) <= 0.08
    assert sum(errors) / len(errors) <= 0.055


def test_a_good_judge_passes_with_100_balanced_labels():
    """Kappa .80 against a limit of .60 passes in 78% at least, and a judge at the limit in hardly more than 5%."""
    bench = benchmark("agreement")
    found = bench.frontier(100, 0.6)
    assert bench.passing(found, 100, 0.5, bench.rates_of(0.8, 0.5, 0.0)) >= 0.78
    assert bench.passing(found, 100, 0.5, bench.rates_of(0.6, 0.5, 0.1)) <= 0.06


def test_the_exact_bound_is_an_end_of_the_interval():
    """A PASS of accuracy is what the older gate of accuracy means by one."""
    exact = proportion(54, 60, 0.90, "exact")
    assert gate_accuracy(27, 3, 3, 27, 0.8).estimate == exact
