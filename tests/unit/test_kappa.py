"""Kappa of a judge and of people: held against other implementations, published examples and a plain optimiser."""

from __future__ import annotations

import math
import random
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chi2_contingency
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from syrupy.assertion import SnapshotAssertion

from judgefixtures.statistics.kappa import (
    TwoByTwo,
    cohen_kappa,
    kappa_z,
    krippendorff_alpha,
    most_likely_table,
    pairwise_kappa,
)

# Krippendorff's own examples of nominal data with missing ratings: four observers and five values (Computing
# Krippendorff's alpha-reliability, 2011), three coders and four values (as in the encyclopedias).
FOUR_OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
THREE_CODERS = (". . . . . 3 4 1 2 1 1 3 3 . 3", "1 . 2 1 3 3 4 3 . . . . . . .", ". . 2 1 3 4 4 . 2 1 1 3 3 . 4")

counts = st.integers(0, 60)
any_table = st.tuples(counts, counts, counts, counts).filter(any)
kappas = st.floats(-0.9, 0.98)


def random_tables(number: int) -> list[TwoByTwo]:
    """Return tables of all sizes, empty cells and whole empty rows among them."""
    rng = random.Random(27)
    found = []
    while len(found) < number:
        table = TwoByTwo(*(rng.choice((0, rng.randint(0, 5), rng.randint(0, 200))) for _ in range(4)))
        found += [table] if any(table) else []
    return found


def raters(rows: tuple[str, ...]) -> list[tuple[str | None, ...]]:
    """Return a row per example, given one per rater."""
    return list(zip(*([None if value == "." else value for value in row.split()] for row in rows), strict=True))


def random_ratings(rng: random.Random) -> list[list[str | None]]:
    """Return ratings by two to five people with values that come up by chance, or mostly agree; some are missing."""
    people, values = rng.randint(2, 5), rng.sample(["pass", "fail", "unsure", "n/a"], rng.randint(2, 4))
    rows = []
    for _ in range(rng.randint(2, 30)):
        typical = rng.choice(values)
        rated = (typical if rng.random() < 0.6 else rng.choice(values) for _ in range(people))
        rows.append([value if rng.random() < 0.7 else None for value in rated])
    return rows


# --- a judge and the label ----------------------------------------------------------------------------------


def test_kappa_is_that_of_scikit_learn_and_statsmodels():
    """On 500 tables; where theirs is not defined, ours is not."""
    for index, table in enumerate(random_tables(500)):
        found = table.kappa if index % 10 else cohen_kappa(*table).value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # both warn where kappa is not defined
            one = cohen_kappa_score((1, 1, 0, 0), (1, 0, 1, 0), labels=[1, 0], sample_weight=table)
            other = cohens_kappa(np.array(table).reshape(2, 2), return_results=False)
        assert found == pytest.approx(one, abs=1e-12, nan_ok=True)
        assert found == pytest.approx(float(other), abs=1e-12, nan_ok=True)


@settings(max_examples=60)
@given(any_table, kappas)
@example((0, 30, 32, 0), -0.3)  # below 0 there may be a maximum on either side of one half
def test_no_table_of_that_kappa_is_likelier(cells, kappa):
    """A plain optimiser from many starts finds none, and what is found has the kappa that was asked for."""
    table = TwoByTwo(*cells)
    found = most_likely_table(table, kappa)
    assert min(found) >= 0
    assert sum(found) == pytest.approx(1)
    assert found.kappa == pytest.approx(kappa, abs=1e-6)
    ours = sum(n * math.log(share) for n, share in zip(cells, found, strict=True) if n)

    def loss(at: np.ndarray) -> float:
        """Of u = tp - tn and v = fn - fp the rest follows: 2 (fn + fp) = (1 - kappa) (1 - u^2 + v^2)."""
        u, v = at
        differing = (1 - kappa) * (1 - u * u + v * v) / 2
        shares = (1 - differing + u) / 2, (differing + v) / 2, (differing - v) / 2, (1 - differing - u) / 2
        if min(shares) <= 0:
            return math.inf
        return -sum(n * math.log(share) for n, share in zip(cells, shares, strict=True))

    rng = np.random.default_rng(sum(cells))
    starts = [at for at in rng.uniform(-1, 1, (400, 2)) if math.isfinite(loss(at))][:8]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Nelder and Mead's triangle may have a corner that is no table
        theirs = max((-minimize(loss, at, method="Nelder-Mead").fun for at in starts), default=-math.inf)
    assert ours >= theirs - 1e-5 * (1 + abs(theirs))


@given(any_table)
def test_against_no_agreement_it_is_the_likelihood_ratio_of_independence(cells):
    """A kappa of 0 is independence, whose test every textbook has."""
    table = TwoByTwo(*cells)
    assume(min(table.positives, table.negatives, table.tp + table.fp, table.fn + table.tn) > 0)
    expected = chi2_contingency(np.array(cells).reshape(2, 2), correction=False, lambda_="log-likelihood").statistic
    assert kappa_z(table, 0.0) ** 2 == pytest.approx(expected, abs=1e-6)


def ratio(kappa: float, *cells: int) -> float:
    """Return the signed likelihood ratio, whose root is z: to as many digits near 0 as elsewhere."""
    z = kappa_z(TwoByTwo(*cells), kappa)
    return z * abs(z)


@given(any_table, kappas)
def test_neither_roles_nor_words_matter(cells, kappa):
    """Whoever is called the judge, and whichever class the positive one, z is the same."""
    tp, fn, fp, tn = cells
    found = ratio(kappa, tp, fn, fp, tn)
    assert ratio(kappa, tp, fp, fn, tn) == pytest.approx(found, abs=1e-4)
    assert ratio(kappa, tn, fp, fn, tp) == pytest.approx(found, abs=1e-4)


@given(any_table, st.floats(0.05, 0.95))
def test_an_error_more_never_helps(cells, kappa):
    """Of two judges on the same labels the one with an error more is the farther below."""
    tp, fn, fp, tn = cells
    assume(tp + fn and fp + tn)
    found = ratio(kappa, *cells)
    if tp:
        assert ratio(kappa, tp - 1, fn + 1, fp, tn) < found + 1e-4
    if tn:
        assert ratio(kappa, tp, fn, fp + 1, tn - 1) < found + 1e-4


@settings(max_examples=60)
@given(any_table, st.sampled_from((0.8, 0.9, 0.95)))
def test_the_interval_holds_what_is_not_rejected(cells, confidence):
    """Its ends are where z is that of the level, or where kappas end."""
    table, found = TwoByTwo(*cells), cohen_kappa(*cells, confidence)
    assert found.n == sum(cells)
    if math.isnan(found.value):
        assert (found.low, found.high) == (-1, 1)
        return
    assert -1 <= found.low <= found.value <= found.high <= 1
    z = {0.8: 1.2816, 0.9: 1.6449, 0.95: 1.96}[confidence]
    for end, sign in ((found.low, 1), (found.high, -1)):
        if abs(end) < 1:
            assert kappa_z(table, end) == pytest.approx(sign * z, abs=1e-3)


@pytest.mark.parametrize("cells", [(30, 0, 0, 0), (0, 0, 0, 1)])
def test_where_nothing_varies_kappa_is_not_defined(cells):
    """Judge and label that always say the same one thing may agree by chance alone: nothing is excluded."""
    found = cohen_kappa(*cells)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (-1, 1)
    assert kappa_z(TwoByTwo(*cells), 0.6) == 0


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (-1, 3, 3, 3), (1.5, 3, 3, 3), (True, 3, 3, 3), ("1", 3, 3, 3)])
def test_what_is_no_table_is_an_error(cells, snapshot: SnapshotAssertion):
    """Counts are whole numbers, and there is at least one label."""
    with pytest.raises(ValueError) as error:
        cohen_kappa(*cells)
    assert str(error.value) == snapshot


@pytest.mark.parametrize("kappa", [1, -1, 1.5, math.nan])
def test_a_kappa_that_cannot_be_tested_is_an_error(kappa):
    """A kappa of 1 allows no single error, so that nothing can be tested."""
    with pytest.raises(ValueError, match="between -1 and 1"):
        kappa_z(TwoByTwo(40, 5, 5, 40), kappa)


# --- people among each other --------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "published"), [(FOUR_OBSERVERS, 0.743), (THREE_CODERS, 0.691)])
def test_published_examples_come_out(rows, published):
    """With missing ratings and more than two values."""
    assert krippendorff_alpha(raters(rows)) == pytest.approx(published, abs=5e-4)


def test_alpha_is_that_of_the_package_of_its_name():
    """On 500 sets of ratings, two to four values, a third of the ratings missing."""
    rng, compared = random.Random(27), 0
    while compared < 500:
        rows = random_ratings(rng)
        ours = krippendorff_alpha(rows)
        numbers = {value: float(index) for index, value in enumerate(["pass", "fail", "unsure", "n/a"])}
        matrix = np.array([[numbers.get(value, math.nan) for value in row] for row in rows]).T
        if math.isnan(ours):  # theirs is an error, or a division of 0 by 0
            continue
        compared += 1
        assert ours == pytest.approx(krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal"))


def test_pairwise_kappa_is_the_mean_of_scikit_learns():
    """Over every two raters on the examples that both rated; who shares none has no kappa."""
    rng, compared = random.Random(28), 0
    while compared < 100:
        rows = random_ratings(rng)
        columns, found = list(zip(*rows, strict=True)), []
        for one, other in ((a, b) for i, a in enumerate(columns) for b in columns[i + 1 :]):
            both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
            if len({value for pair in both for value in pair}) > 1:
                found.append(cohen_kappa_score(*zip(*both, strict=True)))
        compared += bool(found)
        expected = sum(found) / len(found) if found else math.nan
        assert pairwise_kappa(rows) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("rows", [[], [["pass", None]], [["pass", "pass"], ["pass", "pass"]], [[None, None]]])
def test_where_people_never_differ_in_anything_nothing_is_defined(rows):
    """One rating per example, none, or all the same: no number, and no PASS by accident either."""
    assert math.isnan(krippendorff_alpha(rows))
    assert math.isnan(pairwise_kappa(rows))


def test_what_cannot_be_a_rating_is_an_error(snapshot: SnapshotAssertion):
    """A missing cell that came as nan would count as a value of its own, and columns tell raters apart."""
    with pytest.raises(ValueError) as error:
        krippendorff_alpha([["pass", float("nan")]])
    assert str(error.value) == snapshot
    with pytest.raises(ValueError) as error:
        pairwise_kappa([["pass", float("nan")]])
    assert str(error.value) == snapshot
    with pytest.raises(ValueError) as error:
        pairwise_kappa([["pass", "fail"], ["pass"]])
    assert str(error.value) == snapshot
