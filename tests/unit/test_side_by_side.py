"""Several judges on the same pairs: accuracies per domain, the mean over domains, and paired tests between judges."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from syrupy.assertion import SnapshotAssertion

from judgefixtures.metrics.side_by_side import compare_side_by_side
from judgefixtures.models.side_by_side_rows import CorrectPairs
from judgefixtures.statistics import macro_average, proportion

COUNTS = st.tuples(st.integers(0, 40), st.integers(1, 40)).map(lambda kn: (min(kn), kn[1]))


def rows(**judges):
    """Return what the items of several judges hand in; a letter a pair, upper case where the judge was right."""
    return [
        CorrectPairs(
            judge=name,
            dataset="d",
            right={f"p{i:03d}": (mark.lower(), mark.isupper()) for i, mark in enumerate(marks) if mark != " "},
        )
        for name, marks in judges.items()
    ]


def found(category, **judges):
    """Return the row of a category."""
    return next(row for row in compare_side_by_side(rows(**judges)) if row.category == category)


def test_one_judge_alone_has_no_table():
    """There is nothing to set beside a single judge."""
    assert compare_side_by_side(rows(one="AAaB")) == []


def test_every_judge_is_measured_on_the_pairs_that_all_were_asked_about():
    """A pair that one judge lacks counts for none: the accuracies of a row are of the same pairs."""
    row = found("all", one="AAAAa", two="AA  A")
    assert row.n == 3
    assert row.judges["one"].value == pytest.approx(2 / 3)
    assert row.judges["two"].value == 1.0


def test_the_baseline_comes_last():
    """Whatever the names and the order of the items, differences are candidate - baseline."""
    handed = rows(a="AAaa", b="AAAA")
    for order in (handed, handed[::-1]):
        given = [replace(row, baseline=row.judge == "a") for row in order]
        (test,) = compare_side_by_side(given)[0].tests
        assert (test.a, test.b, test.difference.value) == ("b", "a", 0.5)
        assert list(compare_side_by_side(given)[0].judges) == ["b", "a"]


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=60))
def test_tests_agree_with_statsmodels(outcomes):
    """Differences, McNemar's exact p and Holm's adjustment are what statsmodels gives; intervals are Wilson's."""
    marks = ["".join("A" if outcome[k] else "a" for outcome in outcomes) for k in range(3)]
    row = found("all", **dict(zip(("x", "y", "z"), marks, strict=True)))
    expected = []
    for test, (i, j) in zip(row.tests, ((0, 1), (0, 2), (1, 2)), strict=True):
        only_i = sum(o[i] and not o[j] for o in outcomes)
        only_j = sum(o[j] and not o[i] for o in outcomes)
        expected.append(float(mcnemar([[0, only_i], [only_j, 0]], exact=True).pvalue))
        assert test.p == pytest.approx(min(expected[-1], 1.0), abs=1e-9)
        assert test.difference.value == pytest.approx((only_i - only_j) / len(outcomes))
        assert test.difference.low <= test.difference.value <= test.difference.high
    adjusted = multipletests([min(p, 1.0) for p in expected], method="holm")[1]
    assert [test.p_holm for test in row.tests] == pytest.approx(list(adjusted), abs=1e-9)
    correct = sum(outcome[0] for outcome in outcomes)
    low, high = proportion_confint(correct, len(outcomes), alpha=0.10, method="wilson")
    assert row.judges["x"].low == pytest.approx(max(low, 0), abs=1e-9)
    assert row.judges["x"].high == pytest.approx(min(high, 1), abs=1e-9)


def test_tests_in_categories_are_adjusted_over_categories():
    """Holm's method takes the tests of all categories together, and those on all pairs by themselves."""
    table = compare_side_by_side(rows(one="A" * 20 + "B" * 20, two="A" * 20 + "b" * 20, three="A" * 20 + "B" * 20))
    every, *parts = (row.tests for row in table if row.category != "macro")
    p = 2 / 2**20
    assert [test.p for test in every] == pytest.approx([1, p, p])
    assert [test.p_holm for test in every] == pytest.approx([1, 3 * p, 3 * p])
    assert [test.p_holm for test in (*parts[0], *parts[1])] == pytest.approx([1, 1, 1, 1, 6 * p, 6 * p])


@pytest.mark.slow
def test_judges_that_are_alike_hardly_ever_differ_in_a_category():
    """Of three judges, each right in 70% of eight categories' pairs, a run in twenty names a category at most."""
    draw, runs, named = random.Random(28), 300, 0
    for _ in range(runs):
        marks = ["".join(c.upper() if draw.random() < 0.7 else c for c in "abcdefgh" * 40) for _ in range(3)]
        table = compare_side_by_side(rows(**dict(zip(("x", "y", "z"), marks, strict=True))))
        named += any(t.p_holm < 0.05 for row in table if row.category not in ("all", "macro") for t in row.tests)
    assert named <= 0.05 * runs


def test_domains_and_their_mean_are_rows_of_their_own():
    """A row per domain, then the unweighted mean, which a large domain does not dominate and which is not tested."""
    table = compare_side_by_side(rows(one="A" * 90 + "b" * 10, two="a" * 90 + "B" * 10))
    assert [row.category for row in table] == ["all", "a", "b", "macro"]
    assert [row.n for row in table] == [100, 90, 10, 100]
    macro = table[-1]
    assert macro.judges["one"].value == macro.judges["two"].value == 0.5
    assert macro.tests == ()


def test_a_dataset_of_one_domain_needs_no_mean():
    """With one category the mean over categories says nothing of its own."""
    assert [row.category for row in compare_side_by_side(rows(one="Aa", two="AA"))] == ["all", "a"]


@settings(max_examples=30)
@given(st.lists(COUNTS, min_size=1, max_size=8))
def test_the_macro_average_lies_in_its_interval(counts):
    """The interval holds the mean, stays in 0..1, and is narrower than the widest part's."""
    parts = [proportion(k, n) for k, n in counts]
    mean = macro_average(parts)
    assert 0 <= mean.low <= mean.value + 1e-12
    assert mean.value - 1e-12 <= mean.high <= 1
    assert mean.high - mean.low <= max(part.high - part.low for part in parts) + 1e-9


def test_the_macro_average_of_one_part_is_that_part():
    """One domain's mean is the domain, interval included."""
    part = proportion(7, 9)
    mean = macro_average([part])
    assert (mean.value, mean.low, mean.high, mean.n) == pytest.approx((part.value, part.low, part.high, 9))


def test_nothing_has_no_mean(snapshot: SnapshotAssertion):
    """No parts are an error that says so."""
    with pytest.raises(ValueError) as error:
        macro_average([])
    assert str(error.value) == snapshot
