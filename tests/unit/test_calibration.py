"""Calibration of probabilities: held against scikit-learn and the definition, and intervals against what is true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss
from syrupy.assertion import SnapshotAssertion

from judgefixtures.statistics.calibration import brier_score, calibration_error

examples = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def apart(pairs: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    """Return probabilities and labels."""
    return [chance for chance, _ in pairs], [label for _, label in pairs]


def test_brier_scores_are_scikit_learns():
    """On 200 sets of probabilities and labels."""
    rng = np.random.default_rng(27)
    for _ in range(200):
        n = int(rng.integers(1, 100))
        chances, labels = rng.random(n), rng.random(n) < 0.6
        expected = brier_score_loss(labels, chances, labels=[False, True])
        assert brier_score(chances.tolist(), labels.tolist()).value == pytest.approx(expected)


@given(examples, st.integers(1, 20))
def test_the_calibration_error_is_what_it_says(pairs, bins):
    """The mean difference of probability and share in each bin, weighted by its examples."""
    chances, labels = (np.array(each, dtype=float) for each in apart(pairs))
    expected = 0.0
    for number in range(bins):
        upper = chances < (number + 1) / bins if number < bins - 1 else np.full(len(chances), True)
        inside = (np.floor(chances * bins) >= number) & (np.floor(chances * bins) < number + 1)
        inside |= (number == bins - 1) & (chances == 1) & upper
        if inside.any():
            expected += inside.mean() * abs(labels[inside].mean() - chances[inside].mean())
    assert calibration_error(*apart(pairs), bins=bins).value == pytest.approx(expected, abs=1e-9)


@given(examples)
def test_intervals_hold_their_value_and_are_never_of_zero_width(pairs):
    """Also of a judge that is always sure and always right."""
    for measure in (brier_score, calibration_error):
        found = measure(*apart(pairs))
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.high > found.low
        assert found.n == len(pairs)


@pytest.mark.parametrize("shrunk", [1.0, 0.5])
def test_intervals_hold_what_is_true(shrunk):
    """Of a calibrated judge, and of one that is twice as sure as it may be: on either side at most .1 are off."""
    rng, off, runs = np.random.default_rng(27), np.zeros(4), 200
    for _ in range(runs):
        said = rng.choice([0.05, 0.35, 0.65, 0.95], 100)
        true = 0.5 + (said - 0.5) * shrunk
        labels = (rng.random(100) < true).tolist()
        error, brier = calibration_error(said.tolist(), labels), brier_score(said.tolist(), labels)
        gap = (1 - shrunk) * 0.30
        scored = np.mean([(p - q) ** 2 + q * (1 - q) for p in (0.05, 0.35) for q in [0.5 + (p - 0.5) * shrunk]])
        off += [error.low > gap, error.high < gap, brier.low > scored, brier.high < scored]
    assert max(off / runs) <= 0.1


def test_related_examples_count_for_less():
    """The same examples four times over bear out no more than once."""
    chances, labels = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1] * 5, [True, False, True, False, False, True] * 5
    names = [number for number in range(30) for _ in range(4)]
    for measure in (brier_score, calibration_error):
        once = measure(chances, labels)
        often = measure(
            [p for p in chances for _ in range(4)], [each for each in labels for _ in range(4)], clusters=names
        )
        assert often.value == pytest.approx(once.value)
        assert often.high - often.low > 0.8 * (once.high - once.low)


@pytest.mark.parametrize(("chances", "labels"), [([], []), ([0.5], []), ([1.2], [True]), (["x"], [True])])
def test_what_cannot_be_is_an_error(chances, labels, snapshot: SnapshotAssertion):
    """No examples, other numbers of labels, and what is no probability."""
    for measure in (brier_score, calibration_error):
        with pytest.raises(ValueError) as error:
            measure(chances, labels)
        assert str(error.value) == snapshot
    with pytest.raises(ValueError, match="bins"):
        calibration_error([0.5], [True], bins=0)
