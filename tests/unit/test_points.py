"""The gate of scores: by the limits of a mean, and by the test of every move where pairs are too few for these."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew, t
from support.benchmarks import benchmark
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.contrast import ContrastCheck
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.log_odds_and_scores import by_scores_alone, decide_scores, min_pairs_for_log_odds_or_scores
from judgefixtures.config import GateTable, build_config, judge_table
from judgefixtures.metrics.certainty import certainty
from judgefixtures.metrics.contrast_metrics import measure_contrast
from judgefixtures.models.contrasts import Condition, contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import Status, gate_scores
from judgefixtures.statistics.means import Mean
from judgefixtures.statistics.power import power_table
from judgefixtures.statistics.score_shift import FEWEST_SCORES, UNSEEN, fewest_scores, points_shift, scores_pass

CONTRAST = contrasts("recency")[0]
shifts = st.lists(st.sampled_from([number / 18 for number in range(-18, 19)]), min_size=3, max_size=80)
tolerances = st.floats(0.02, 0.4)
brief = settings(deadline=None, max_examples=60)


@brief
@given(shifts, tolerances)
def test_a_decision_agrees_with_its_interval(scores: list[float], tolerance: float) -> None:
    """A PASS lies within the tolerance with all of its interval, and a FAIL beyond: what is shown is what decides."""
    found = gate_scores(scores, tolerance)
    low, high = found.estimate.low, found.estimate.high
    if found.status is Status.PASS:
        assert -tolerance < low <= high < tolerance
    if found.status is Status.FAIL:
        assert low > tolerance or high < -tolerance
    shown = points_shift(scores)
    assert (low, high) == pytest.approx((shown.low, shown.high), abs=1e-12)
    assert -1 <= low < high <= 1


@brief
@given(shifts, tolerances)
def test_both_directions_are_one(scores: list[float], tolerance: float) -> None:
    """Scores with their signs turned are decided alike, and their order says nothing."""
    found, turned = gate_scores(scores, tolerance), gate_scores([-score for score in reversed(scores)], tolerance)
    assert turned.status is found.status
    assert turned.p_pass == pytest.approx(found.p_pass, abs=1e-9)
    assert turned.estimate.low == pytest.approx(-found.estimate.high, abs=1e-9)


@brief
@given(shifts, tolerances)
def test_clusters_of_one_pair_change_nothing(scores: list[float], tolerance: float) -> None:
    """Labels of which every pair has its own leave the decision as it was."""
    assert gate_scores(scores, tolerance, clusters=range(len(scores))) == gate_scores(scores, tolerance)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 20, 28])
@pytest.mark.parametrize("score", [0.0, 1 / 18])
def test_few_equal_scores_do_not_pass(n: int, score: float) -> None:
    """Pairs that all say the same are no proof where the few that move far may be missing: it says how many are."""
    found = gate_scores([score] * n, 0.10 if score else 0.05, alpha=0.0179 if score else 0.05)
    assert found.status is not Status.PASS or n >= FEWEST_SCORES
    if not score:
        assert found.status is Status.INCONCLUSIVE
        assert found.needed_pairs == 29


def test_few_pairs_are_named(snapshot: SnapshotAssertion) -> None:
    """Where the pairs alone are lacking the message says for what, of clusters too."""
    assert gate_scores([0.0] * 28, 0.05).message == snapshot
    related = gate_scores([0.0] * 80, 0.05, clusters=[number // 4 for number in range(80)])
    assert related.status is Status.INCONCLUSIVE
    assert related.message == snapshot
    assert related.needed_pairs == 4 * 29
    assert gate_scores([0.0] * 120, 0.05, clusters=[number // 4 for number in range(120)]).status is Status.PASS
    four = gate_scores([0.0] * 80, 0.05, clusters=[number // 20 for number in range(80)])
    assert (four.status, four.p_pass, four.needed_pairs) == (Status.INCONCLUSIVE, 1.0, None)
    assert "use at least 5" in four.message


def test_a_pair_that_moved_farther_asks_for_more() -> None:
    """What moved across the whole scale once may do so again: 59 pairs then, and no 40 pass."""
    scores = [1.0, -1.0] + [0.0] * 998
    assert gate_scores(scores, 0.05).status is Status.PASS
    assert fewest_scores(0.05, farthest=1.0) == 59
    assert gate_scores([0.0] * 40, 0.05, farthest=1.0).status is Status.INCONCLUSIVE
    assert gate_scores([0.0] * 59, 0.05, farthest=1.0).status is Status.PASS


def test_how_many_show_the_few() -> None:
    """As many pairs as all but a share alpha of the samples show one that moves far in; a stricter level needs more."""
    for tolerance, alpha in ((0.02, 0.05), (0.05, 0.05), (0.05, 0.0179), (0.10, 0.05)):
        n = fewest_scores(tolerance, alpha)
        assert (1 - 2 * tolerance) ** n <= alpha
        assert n == FEWEST_SCORES or (1 - 2 * tolerance) ** (n - 1) > alpha
    assert [fewest_scores(0.05, alpha) for alpha in (0.05, 0.0179)] == [29, 39]
    assert fewest_scores(0.6) == FEWEST_SCORES


def test_what_cannot_be_tested() -> None:
    """Scores out of range, tolerances and levels that are none, and no scores are errors that say what they got."""
    for wrong, said in (
        (lambda: gate_scores([1.5], 0.05), "between -1 and 1"),
        (lambda: gate_scores([], 0.05), "least one score"),
        (lambda: gate_scores([0.0], 0.0), "tolerance must lie"),
        (lambda: gate_scores([0.0], 0.05, alpha=0.7), "alpha must lie"),
        (lambda: gate_scores([math.nan], 0.05), "between -1 and 1"),
        (lambda: gate_scores([0.0], 0.05, farthest=1.5), "farthest must lie"),
        (lambda: points_shift([0.0], 1.0), "confidence must lie"),
        (lambda: scores_pass(0, 0.05, 0.1), "n must be"),
        (lambda: scores_pass(10, 0.05, -0.1), "noise at least 0"),
    ):
        with pytest.raises(ValueError, match=said):
            wrong()


@pytest.mark.parametrize("noise", [0.03, 0.06, 0.08, 0.12])
@pytest.mark.parametrize("n", [30, 60])
def test_how_likely_a_pass_is(n: int, noise: float) -> None:
    """What the preflight says of a judge that is not moved is what comes of simulated ones, about."""
    rng = np.random.default_rng([n, round(100 * noise)])
    drawn = np.clip(rng.normal(0, noise, (400, n)), -1, 1)
    passed = np.mean([gate_scores(scores, 0.05).status is Status.PASS for scores in drawn.tolist()])
    assert passed == pytest.approx(scores_pass(n, 0.05, noise), abs=0.08)


def test_the_benchmark_decides_as_the_gate_does() -> None:
    """Its limits of all runs at once are those of `gate_scores`, run by run."""
    scores = benchmark("scores")
    assert scores.UNSEEN == UNSEEN
    for number, world in enumerate(scores.WORLDS):
        points = world.drawn(np.random.default_rng(number), (12, 40))
        statuses = [gate_scores(row, 0.05).status for row in np.clip(points / 9, -1, 1).tolist()]
        found = scores.decided(points, 0.05)
        assert found == (statuses.count(Status.PASS) / 12, statuses.count(Status.FAIL) / 12), world.name


@pytest.mark.slow
def test_how_often_it_errs() -> None:
    """Rows of the table in benchmarks/results.md: at most .06 at the tolerance, and steady judges are decided at 30."""
    scores = benchmark("scores")
    assert scores.errors(1000)
    assert scores.power(1000)


def scored(first: float, second: float, number: int, condition: Condition) -> Judgment:
    """Return a judgment of a judge that gave these scores, as it states both with the cue in its reason."""
    chosen = None if first == second else 1 if first > second else 2
    verdict = Verdict(chosen, "It is long.", tie=first == second)
    return Judgment(Pair(f"p{number}", "Q", "A", "B"), condition, JudgeReply(replace(verdict, scores=(first, second))))


@pytest.mark.parametrize(("shift", "status"), [(0.0, "PASS"), (0.5, "PASS"), (1.0, "FAIL")])
def test_scores_decide_and_verdicts_are_shown(shift: float, status: str, snapshot: SnapshotAssertion) -> None:
    """Where ties turn with half a point, and where they do not, the scores alone make the status."""
    x = [scored(6 + shift * (n % 2), 6, n, CONTRAST.x) for n in range(60)]
    y = [scored(6, 6 + shift, n, CONTRAST.y) for n in range(60)]
    measured = measure_contrast(x, y)
    gated, shown = (decide_contrast(measured, GateTable(), by_scores=by_scores) for by_scores in (False, True))
    assert shown.vsr_status is Status.NOT_APPLICABLE
    assert (shown.p_pass, shown.p_fail, shown.needed_pairs) == (None, None, None)
    assert shown.car_status is gated.car_status
    assert lines_about(shown.reasons[0], "scores are gated") == snapshot
    part = decide_scores(certainty([x], [y], "chose-first", scale=(1, 10)), GateTable(), (1, 10))
    assert part.status is Status(status)
    assert gated.vsr_status is Status("FAIL" if shift else "PASS")


def test_an_admission_that_is_refuted_counts() -> None:
    """VSR decides nothing, and what moved verdicts demonstrably and is not admitted FAILs all the same."""
    x = [scored(7, 6, n, CONTRAST.x) for n in range(60)]
    y = [scored(6, 7, n, CONTRAST.y) for n in range(60)]
    found = decide_contrast(measure_contrast(x, y), GateTable(), by_scores=True)
    assert (found.vsr_status, found.car_status, found.status) == ("NOT_APPLICABLE", "FAIL", "FAIL")


def test_who_is_gated_by_scores_alone() -> None:
    """Judges that score, unless a mark makes grades of it; the fewest pairs are those of scores, by their scale."""
    base = {"provider": "openai", "model": "m"}
    scores = judge_table({**base, "mode": "pointwise"})
    marked = judge_table({**base, "mode": "pointwise", "pass_mark": 7})
    assert [by_scores_alone(table) for table in (scores, marked, judge_table(base))] == [True, False, False]
    gate = GateTable(vsr_tolerance=0.02)
    assert min_pairs_for_log_odds_or_scores(scores, gate) == 29
    assert min_pairs_for_log_odds_or_scores(judge_table({**base, "mode": "pointwise", "scale": [0, 1]}), gate) == 52
    pairs = [Pair(f"p{number}", "Q", "A", "B") for number in range(30)]
    check, config = ContrastCheck(CONTRAST), build_config({"gate": {"vsr_tolerance": 0.02}})
    assert check.min_sample(config, scores, "own", pairs) is None
    assert check.min_sample(config, judge_table(base), "own", pairs) is not None
    lacking = check.min_sample(config, scores, "own", pairs[:28])
    assert lacking is not None
    assert "28 pairs are too few to pass score_tolerance 0.05" in str(lacking)
    row = power_table([check.design(config, scores, "own", pairs)])[1]  # type: ignore[list-item]
    assert row.split()[3:6] == ["30", "29", "score"]


def test_how_far_a_pair_moved_counts_in_either_direction() -> None:
    """One pair that moved across the whole scale, up or down, keeps 25 from what half as far a move nearly lets pass."""
    up, down = (gate_scores([end, *[0.0] * 24], 0.10) for end in (1.0, -1.0))
    assert (up.status, up.p_pass) == (down.status, pytest.approx(down.p_pass))
    near = gate_scores([-0.5, *[0.0] * 24], 0.10)
    assert down.p_pass > 0.2 > near.p_pass


def test_enough_pairs_that_settle_nothing_are_not_called_few(snapshot: SnapshotAssertion) -> None:
    """Where the limits themselves decide nothing the message says what would settle it, not that pairs are lacking."""
    assert gate_scores([0.3, -0.3] * 20, 0.05).message == snapshot
    assert gate_scores([0.3, -0.3] * 12, 0.05).message.endswith(" pairs (80% power)")


@pytest.mark.parametrize("scores", [[0.0, 0.1, 0.1, 0.9], [0.0, 0.0, 1.0], [-0.3, 0.2, 0.05, 0.0, 0.6, -0.1, 0.4]])
def test_a_mean_is_what_scipy_makes_of_it(scores: list[float]) -> None:
    """Without pairs that nobody saw: the skewness is the unbiased one, and p the larger of Student's and of Hall's."""
    n, found = len(scores), Mean.of(scores, None, 0.0)
    lean = skew(scores, bias=False) * n / (n - 1) ** 1.5
    error = math.sqrt(np.var(scores) * (n + 2) / (n + 1) / n)
    assert (found.mean, found.error, found.lean) == pytest.approx((np.mean(scores), error, lean))
    for limit in (-0.2, 0.0, 0.5):
        student = (np.mean(scores) - limit) / error
        halls = student + lean * student**2 / 3 + lean**2 * student**3 / 27 + lean / 6
        assert found.p_at_most(limit) == pytest.approx(max(t.sf(student, n - 1), t.sf(halls, n - 1)))
    assert found.p_at_most(found.lowest(0.9)) == pytest.approx(0.05)
    assert found.p_at_least(found.highest(0.9)) == pytest.approx(0.05)


def test_advice_is_the_same_in_both_directions() -> None:
    """How many pairs would show a shift beyond the tolerance does not hang on which way it goes."""
    up, down = (gate_scores([sign * score for score in [0.3, -0.1] * 20], 0.08) for sign in (1, -1))
    assert (up.status, up.needed_pairs) == (down.status, down.needed_pairs)
    assert up.status is Status.INCONCLUSIVE
    assert up.needed_pairs is not None


@pytest.mark.parametrize("shift", [0.5, -0.5])
def test_a_pass_holds_whatever_lacking_scores_would_have_been(shift: float, snapshot: SnapshotAssertion) -> None:
    """Three pairs without scores, that could have moved across the scale either way, undo a PASS near the tolerance."""
    x = [scored(6 + shift * (n % 2), 6, n, CONTRAST.x) for n in range(60)]
    y = [scored(6, 6 + shift, n, CONTRAST.y) for n in range(60)]
    found = certainty([x], [y], "chose-first", scale=(1, 10))
    assert decide_scores(found, GateTable(), (1, 10)).status is Status.PASS
    undone = decide_scores(replace(found, lacking=3), GateTable(), (1, 10))
    assert undone.status is Status.INCONCLUSIVE
    assert lines_about(undone.text, "invalid pairs") == snapshot
