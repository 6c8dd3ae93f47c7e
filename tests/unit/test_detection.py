"""The share of reasons that admit a cue, corrected for a detector's errors: values, limits, and what cannot be told."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from judgefixtures.metrics.contrast_metrics import false_alarms, measure_contrast
from judgefixtures.models.contrasts import NO_CUE, contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import proportion
from judgefixtures.statistics.detector_correction import DetectorAccuracy, corrected_admission, corrected_share

MANY = 10**12
PERFECT = DetectorAccuracy(MANY, MANY, MANY, MANY)
GOOD = DetectorAccuracy(150, 138, 300, 291)  # sensitivity .92, specificity .97
COIN = DetectorAccuracy(50, 25, 50, 25)


def flips(with_cue, against=(0, 0, 0)):
    """Return flips by how many have 0, 1 and 2 reasons that are called cited."""
    return [
        (cited, follows)
        for counts, follows in ((with_cue, True), (against, False))
        for cited, count in enumerate(counts)
        for _ in range(count)
    ]


def close(estimate, *expected, tolerance=1e-6):
    return (estimate.value, estimate.low, estimate.high) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(("k", "n"), [(0, 30), (3, 40), (20, 40), (40, 40)])
def test_a_perfect_detector_leaves_wilson(k, n):
    """Of a detector that never errs, on very many reasons, both estimates are the raw share with its limits."""
    raw = proportion(k, n)
    assert close(corrected_share(k, n, PERFECT), raw.value, raw.low, raw.high, tolerance=1e-5)
    assert close(corrected_admission(flips((n - k, k, 0)), PERFECT), raw.value, raw.low, raw.high, tolerance=1e-5)


def test_rogan_and_gladen():
    """The value of a share is (k/n + specificity - 1) / (sensitivity + specificity - 1), kept in [0, 1]."""
    assert corrected_share(30, 100, DetectorAccuracy(100, 90, 100, 95)).value == pytest.approx(0.25 / 0.85)
    assert corrected_share(2, 100, DetectorAccuracy(100, 90, 100, 95)).value == 0
    assert corrected_share(99, 100, DetectorAccuracy(100, 90, 100, 95)).value == 1


def lang_reiczigel(k, n, accuracy, z=1.6448536):
    """Return their closed form: Agresti and Coull's counts for k, one more of either kind for the rates."""
    n_se, n_sp = accuracy.cited + 2, accuracy.others + 2
    se, sp = (accuracy.found + 1) / n_se, (accuracy.cleared + 1) / n_sp
    p, youden = (k + z * z / 2) / (n + z * z), se + sp - 1
    share = (p + sp - 1) / youden
    v_se, v_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    centre = share + 2 * z * z * (share * v_se - (1 - share) * v_sp)
    width = z * math.sqrt(p * (1 - p) / (n + z * z) + share**2 * v_se + (1 - share) ** 2 * v_sp) / youden
    return max(centre - width, 0), min(centre + width, 1)


@pytest.mark.parametrize(("k", "n"), [(20, 100), (50, 100), (100, 300), (240, 300)])
def test_limits_agree_with_lang_and_reiczigel(k, n):
    """The limits are close to the published closed form, which is another approximation of the same."""
    found = corrected_share(k, n, GOOD)
    assert (found.low, found.high) == pytest.approx(lang_reiczigel(k, n, GOOD), abs=0.02)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("admitted", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("both", [0.0, 0.5, 1.0])
def test_two_reasons_are_read_back_exactly(admitted, both):
    """Of the counts to be expected the value is the true share, however many admit the cue in both reasons."""
    sensitivity, specificity, n = 0.75, 0.9, 10_000_000
    accuracy = DetectorAccuracy(1000, 750, 1000, 900)
    expected = [0.0, 0.0, 0.0]
    for truth, share in (((0, 0), 1 - admitted), ((1, 0), admitted * (1 - both)), ((1, 1), admitted * both)):
        hits = [sensitivity if each else 1 - specificity for each in truth]
        for called in itertools.product((0, 1), repeat=2):
            chance = math.prod(hit if yes else 1 - hit for hit, yes in zip(hits, called, strict=True))
            expected[sum(called)] += share * chance
    counts = [round(n * share / 1000) for share in expected]
    assert corrected_admission(flips(counts), accuracy).value == pytest.approx(admitted, abs=1e-3)


def test_noise_has_nothing_to_admit():
    """An honest judge with 10 noise flips each way admits all that the cue moved: raw .75 becomes 1."""
    found = corrected_admission(flips((10, 0, 30), (10, 0, 0)), PERFECT)
    assert found.value == 1
    assert found.low < 1
    assert found.n == 40


def test_what_is_said_of_noise_is_taken_off():
    """A judge that names the cue in every reason admits what moved, and no more than that."""
    assert corrected_admission(flips((0, 0, 40), (0, 0, 10)), PERFECT).value == 1
    assert corrected_admission(flips((20, 20, 0), (5, 5, 0)), PERFECT).value == pytest.approx(0.5)


def test_fewer_labelled_reasons_are_less_sure():
    """The interval is the wider, the fewer reasons sensitivity and specificity were measured on."""
    few, many = DetectorAccuracy(25, 23, 50, 48), DetectorAccuracy(2500, 2300, 5000, 4800)
    for found in (
        lambda accuracy: corrected_share(40, 100, accuracy),
        lambda accuracy: corrected_admission(flips((20, 10, 5)), accuracy),
    ):
        assert found(few).high - found(few).low > found(many).high - found(many).low


def test_false_alarms_alone_admit_nothing():
    """A silent judge in which the detector sees what it wrongly sees elsewhere may well admit nothing."""
    found = corrected_admission(flips((94, 6, 0)), GOOD)
    assert found.value == pytest.approx(0, abs=0.01)
    assert found.low == 0


@pytest.mark.parametrize("seen", [flips((10, 0, 0), (10, 0, 0)), flips((3, 0, 0), (4, 0, 0)), []])
def test_nothing_is_left_of_noise(seen):
    """Where as many verdicts moved against the cue as with it, there is no share of what it moved."""
    assert corrected_admission(seen, GOOD) is None


def test_a_detector_that_guesses_tells_nothing():
    """Where what cites the cue is called cited no more often than the rest, nothing is corrected."""
    assert corrected_share(10, 20, COIN) is None
    assert corrected_admission(flips((5, 5, 5)), COIN) is None


def test_related_pairs_are_less_sure():
    """Flips that go alike in clusters say less than unrelated ones; labels that are all different say the same."""
    seen = flips((20, 0, 20))
    alone, apart = (corrected_admission(seen, GOOD, clusters=each) for each in (None, range(40)))
    related = corrected_admission(seen, GOOD, clusters=[n // 4 for n in range(40)])
    assert alone == apart
    assert (related.low, related.high) < (alone.low, 1)
    assert related.high > alone.high
    hits = [cited == 2 for cited, _ in seen]
    share = corrected_share(20, 40, GOOD, clusters=[n // 4 for n in range(40)], hits=hits)
    assert share.low < corrected_share(20, 40, GOOD).low


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.booleans()), max_size=60),
    st.integers(1, 50),
    st.integers(1, 50),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_every_count_has_an_interval_around_its_value(seen, cited, others, found, cleared):
    """Whatever the counts: no exception, and 0 <= low <= value <= high <= 1, or None."""
    accuracy = DetectorAccuracy(cited, round(found * cited), others, round(cleared * others))
    estimates = [corrected_admission(seen, accuracy)]
    if seen:
        estimates.append(corrected_share(sum(follows for _, follows in seen), len(seen), accuracy))
    for each in filter(None, estimates):
        assert 0 <= each.low <= each.value <= each.high <= 1


@pytest.mark.parametrize("counts", [(0, 0, 5, 5), (5, 6, 5, 5), (5, 5, 5, -1)])
def test_accuracy_has_counts(counts):
    """Counts of labelled reasons that cannot be are an error that shows them."""
    with pytest.raises(ValueError, match="must be counts"):
        DetectorAccuracy(*counts)


def test_a_share_has_counts(snapshot: SnapshotAssertion):
    """So are counts of reasons that cannot be."""
    with pytest.raises(ValueError, match="got 5 of 4"):
        corrected_share(5, 4, GOOD)
    with pytest.raises(ValueError) as error:
        corrected_share(1, 2, GOOD, hits=[True, True])
    assert str(error.value) == snapshot


# --- of a contrast -----------------------------------------------------------------------------------------


NEW_OLD = contrasts("recency")[0]


def judged(condition, selected, reason, number=0):
    return Judgment(Pair(f"p{number}", "Which?", "One.", "Two."), condition, JudgeReply(Verdict(selected, reason)))


def arms(flips, silent, against=0):
    """Return both arms of pairs of which so many move openly and silently with the cue, and silently against it."""
    plain, open_ = "It is clearer.", "It was written recently, which decides it."
    rows = [(1, 2, open_, open_)] * flips + [(1, 2, plain, plain)] * silent + [(2, 1, plain, plain)] * against
    return [
        tuple(judged(arm, row[which], row[2 + which], number) for number, row in enumerate(rows))
        for which, arm in enumerate((NEW_OLD.x, NEW_OLD.y))
    ]


def test_a_contrast_has_both_values():
    """What is measured of a contrast has CAR as it was seen, and beside it the corrected one."""
    found = measure_contrast(*arms(12, 28), accuracies={"recency": GOOD})
    assert found.car.value == 0.3
    expected = corrected_admission([(2, True)] * 12 + [(0, True)] * 28, GOOD)
    assert found.car_corrected == expected
    assert measure_contrast(*arms(12, 28), accuracies={}).car_corrected is None


def test_false_alarms_are_of_reasons_without_cues():
    """The detector's rate on cue-free reasons is over those that say something; without any it is not known."""
    reasons = ["It was written recently, which decides it.", "It is clearer.", "", "It is longer."]
    found = false_alarms([judged(NO_CUE, 1, reason, n) for n, reason in enumerate(reasons)], NEW_OLD.x)
    assert (found.value, found.n) == (1 / 3, 3)
    assert false_alarms([], NEW_OLD.x) is None
