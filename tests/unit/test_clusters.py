"""Related pairs: the score test, its clusters, what ignoring them costs, and that nothing changes without them."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from statsmodels.stats.proportion import proportion_confint
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.accuracy import accuracy, decide_accuracy
from judgefixtures.checks.base import CheckId, SampleRequirement
from judgefixtures.checks.contrast import ContrastCheck
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.contrast_row import contrast_row
from judgefixtures.checks.edit import decide_edit
from judgefixtures.checks.four_cells import decide_four_cells, measure_four_cells
from judgefixtures.config import GateTable
from judgefixtures.metrics.contrast_metrics import ClusterScores, measure_contrast, position_preference
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import (
    Pair,
    clusters_of,
    count_independent,
    pair_to_row,
    sharing_a_question,
    swap_responses,
)
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.run.preflight import preflight_lines
from judgefixtures.run.run import Run
from judgefixtures.sources import Source, load_sample
from judgefixtures.sources.sample import describe_sample
from judgefixtures.statistics import (
    ClusterTotals,
    Status,
    can_decide,
    cluster_totals,
    gate_non_inferiority,
    gate_shift,
    mcnemar_exact,
    needed_pairs,
    negated,
    paired_difference,
    proportion,
    score_interval,
    score_test,
    tango_z,
)
from judgefixtures.util.errors import JudgeFixturesError

no_deadline = settings(deadline=None)
brief = settings(deadline=None, max_examples=40)
CONTRAST = contrasts("recency")[0]
Z = 1.6448536269514722

moves = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=120)
mus = st.floats(-0.95, 0.95)


@st.composite
def clustered(draw: st.DrawFn) -> tuple[list[float], list[int]]:
    """Scores in [-1, 1] by halves, of one pair at least, in some clusters."""
    scores = draw(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=60))
    return scores, draw(st.lists(st.integers(0, 20), min_size=len(scores), max_size=len(scores)))


# --- the score test ---------------------------------------------------------------------------------------------

FAMILY = {-1 / 3: 6, -1 / 6: 40, 0: 108, 1 / 6: 40, 1 / 3: 6}
WORKED: list[tuple[dict[float, int], float, float, float, tuple[float, float]]] = [
    ({2: 1, 1: 9, 0: 80, -1: 9, -2: 1}, 0.20, 2.0, -3.052934, (-0.09031, 0.09031)),
    ({1: 18, 0: 78, -1: 4}, 0.20, 1.0, -1.278351, (0.06728, 0.21837)),
    ({-1: 4, -0.5: 10, 0: 172, 0.5: 10, 1: 4}, -0.05, 1.0, 2.453985, (-0.03142, 0.03142)),
    ({-0.5: 6, 0: 94}, -0.05, 1.0, 1.333333, (-0.05592, -0.00287)),
    (FAMILY, 0.10, math.sqrt(1 / 6), -8.054984, (-0.01565, 0.01565)),
    ({0: 100}, 0.10, 1.0, -3.333333, (-0.02634, 0.02634)),
]


@pytest.mark.parametrize(("values", "mu0", "half_range", "z", "limits"), WORKED)
def test_worked_values(
    values: dict[float, int], mu0: float, half_range: float, z: float, limits: tuple[float, float]
) -> None:
    """z and the 90% interval, computed apart from this package, from counts and from a score per pair."""
    scores = [value for value, count in values.items() for _ in range(count)]
    assert score_test(values, mu0, half_range) == pytest.approx(z, abs=1e-6)
    assert score_test(scores, mu0, half_range) == pytest.approx(z, abs=1e-6)
    found = score_interval(values, 0.90, half_range)
    assert (found.n, found.value) == (len(scores), pytest.approx(np.mean(scores), abs=1e-12))
    assert (found.low, found.high) == pytest.approx(limits, abs=1e-5)


@given(moves, mus)
@no_deadline
def test_it_is_tangos_for_moves(scores: list[int], mu0: float) -> None:
    """With scores of -1, 0 and 1 test and interval are those of the paired difference."""
    n10, n01, n = scores.count(1), scores.count(-1), len(scores)
    assume(abs(n10 - n01 - n * mu0) > 1e-9)
    assert score_test(scores, mu0) == pytest.approx(tango_z(mu0, n10, n01, n), rel=1e-9)
    ours, tango = score_interval(scores), paired_difference(n10, n01, n)
    assert (ours.value, ours.low, ours.high) == pytest.approx((tango.value, tango.low, tango.high), abs=1e-9)


def restricted(scores: Sequence[float], mu0: float, half_range: float) -> float:
    """z by a generic optimiser over the simplex on the scores seen and both ends of the range."""
    counts = Counter(scores) | Counter({-half_range: 0, half_range: 0})
    values, weights = np.array(list({*counts, -half_range, half_range})), []
    weights = np.array([counts[value] for value in values], dtype=float)
    n = weights.sum()
    start = np.full(len(values), 1 / len(values))
    found = minimize(
        lambda p: -float(np.sum(weights * np.log(np.maximum(p, 1e-12)))) / n,
        start,
        method="SLSQP",
        bounds=[(0, 1)] * len(values),
        options={"maxiter": 2000, "ftol": 1e-14},
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "eq", "fun": lambda p: p @ values - mu0}],
    )
    variance = found.x @ (values - mu0) ** 2
    return float((np.dot(weights, values) / n - mu0) / math.sqrt(variance / n))


@pytest.mark.parametrize(
    ("scores", "mu0", "half_range"),
    [
        ([2.0, *[1.0] * 9, *[0.0] * 80, *[-1.0] * 9, -2.0], 0.2, 2.0),
        ([0.5] * 7 + [0.0] * 30 + [-0.5] * 2 + [1.0] * 3, -0.15, 1.0),
        ([0.25] * 10 + [0.0] * 15, 0.5, 1.0),
        ([0.3] * 4 + [-0.1] * 20 + [0.7], 0.1, 0.8),
        ([0.0] * 40, 0.15, 1.0),
    ],
)
def test_a_generic_optimiser_finds_the_same(scores: list[float], mu0: float, half_range: float) -> None:
    """The restricted distribution is the likeliest one: SLSQP over the simplex agrees."""
    assert score_test(scores, mu0, half_range) == pytest.approx(restricted(scores, mu0, half_range), abs=2e-3)


@given(clustered(), st.booleans(), st.lists(st.floats(-0.99, 0.99), min_size=2, max_size=2, unique=True))
@no_deadline
def test_z_falls_as_the_mean_grows(drawn: tuple[list[float], list[int]], related: bool, two: list[float]) -> None:
    """A larger mean under H0 never makes z larger, with clusters or without."""
    scores, labels = drawn
    low, high = sorted(two)
    small, large = (score_test(scores, mu0, clusters=labels if related else None) for mu0 in (low, high))
    assert large <= small + 1e-7


@given(clustered(), st.booleans(), st.sampled_from([0.8, 0.9, 0.99]))
@no_deadline
def test_an_interval_holds_its_mean(drawn: tuple[list[float], list[int]], related: bool, confidence: float) -> None:
    """low <= value <= high inside the range, never of zero width, and z at the ends is the quantile."""
    scores, labels = drawn
    found = score_interval(scores, confidence, clusters=labels if related else None)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low > 1e-3
    assert found.n == len(scores)
    for bound in (found.low, found.high):
        if abs(bound) < 1 - 1e-9:
            z = score_test(scores, bound, clusters=labels if related else None)
            assert abs(z) == pytest.approx(-math.sqrt(2) * _erfcinv(1 - confidence), abs=1e-5)


def _erfcinv(tail: float) -> float:
    from scipy.special import erfcinv

    return -float(erfcinv(tail))


@given(clustered(), mus, st.sampled_from([0.5, 2.0, 8.0]))
@no_deadline
def test_scale_is_no_matter(drawn: tuple[list[float], list[int]], mu0: float, factor: float) -> None:
    """Scores, mean and range times a factor: the same z."""
    scores, labels = drawn
    scaled = [score * factor for score in scores]
    for clusters in (None, labels):
        there = score_test(scaled, mu0 * factor, factor, clusters)
        assert there == pytest.approx(score_test(scores, mu0, clusters=clusters), rel=1e-9, abs=1e-9)


@given(clustered(), mus, st.randoms(use_true_random=False))
@no_deadline
def test_order_and_names_are_no_matter(drawn: tuple[list[float], list[int]], mu0: float, rng: random.Random) -> None:
    """The order of the pairs and the clusters' names change no bit."""
    scores, labels = drawn
    mixed = list(zip(scores, labels, strict=True))
    rng.shuffle(mixed)
    again, names = [score for score, _ in mixed], [f"debate {label}" for _, label in mixed]
    assert score_test(again, mu0, clusters=names) == score_test(scores, mu0, clusters=labels)
    assert score_interval(again, clusters=names) == score_interval(scores, clusters=labels)
    assert score_interval([-score for score in scores], clusters=labels).low == pytest.approx(
        -score_interval(scores, clusters=labels).high, abs=1e-9
    )


@pytest.mark.parametrize("kind", [np.float32, np.int8, np.float64])
def test_numbers_of_numpy_are_numbers(kind: Any) -> None:
    """Small integers do not wrap around, single precision makes no NaN."""
    scores = np.array([1] * 18 + [0] * 78 + [-1] * 4, dtype=kind)
    assert score_test(scores, 0.20) == pytest.approx(-1.278351, abs=1e-6)
    assert score_test(list(scores), np.float32(0.20)) == pytest.approx(-1.278351, abs=1e-5)


@pytest.mark.parametrize(
    "arguments",
    [
        ([], 0.1),
        ({0: 0}, 0.1),
        ([1.5], 0.1),
        ([math.nan], 0.1),
        ([0], 1.0),
        ([0], "0.1"),
        ([0], None),
        ([0], 0.1, 0.0),
        ([0], 0.1, math.inf),
        ([0], 0.1, math.nan),
        ([0], 0.1, "1"),
        (None, 0.1),
        ("01", 0.1),
        (["1"], 0.1),
        ([0, None], 0.1),
        ({None: 2}, 0.1),
        ([0, 1], 0.1, 1.0, ["a"]),
        ([0, 1, 1], 0.1, 1.0, ["a", None, None]),
        ({0: 3}, 0.1, 1.0, ["a"]),
        ({0: -3}, 0.1),
        ({0: 1.5}, 0.1),
    ],
)
def test_what_cannot_be_tested_is_told(arguments: tuple[Any, ...], snapshot: SnapshotAssertion) -> None:
    """Impossible scores, means and labels are errors that quote them."""
    with pytest.raises(ValueError) as error:
        score_test(*arguments)
    assert str(error.value) == snapshot


# --- clusters ---------------------------------------------------------------------------------------------------


@given(moves, mus)
@no_deadline
def test_clusters_of_one_pair_change_nothing(scores: list[int], mu0: float) -> None:
    """With a label of its own for every pair each number is, to the bit, the one without clusters."""
    labels = list(range(len(scores)))
    assert cluster_totals(scores, labels) is None
    assert score_test(scores, mu0, clusters=labels) == score_test(scores, mu0)
    assert score_interval(scores, clusters=labels) == score_interval(scores)


@given(moves)
@brief
def test_a_cluster_of_one_pair_is_a_pair(scores: list[int]) -> None:
    """The formulas over clusters are, over clusters of one pair, those that they stand for."""
    n10, n01, n = scores.count(1), scores.count(-1), len(scores)
    single = ClusterTotals(tuple(map(float, scores)), (1,) * n)
    ones = ClusterTotals(tuple(float(score == 1) for score in scores), (1,) * n)
    for ours, theirs in (
        (paired_difference(n10, n01, n, totals=single), paired_difference(n10, n01, n)),
        (proportion(n10, n, totals=ones), proportion(n10, n)),
        (proportion(n10, n, method="exact", totals=ones), proportion(n10, n, method="exact")),
    ):
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert mcnemar_exact(n10, n01, single) == pytest.approx(mcnemar_exact(n10, n01), rel=1e-9)
    if n >= 10:
        ours_gate, theirs_gate = gate_shift(n10, n01, n, 0.15, totals=single), gate_shift(n10, n01, n, 0.15)
        assert (ours_gate.p_pass, ours_gate.p_fail) == pytest.approx((theirs_gate.p_pass, theirs_gate.p_fail), rel=1e-6)
        assert ours_gate.needed_pairs == theirs_gate.needed_pairs


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=10, max_size=40), st.integers(2, 6))
@brief
def test_copies_of_a_pair_are_one_pair(scores: list[int], copies: int) -> None:
    """Where all pairs of a cluster are alike and clusters of one size, every number is that of the clusters."""
    repeated = [score for score in scores for _ in range(copies)]
    labels = [index // copies for index in range(len(repeated))]
    by = cluster_totals(repeated, labels)
    n10, n01, n = (copies * count for count in (scores.count(1), scores.count(-1), len(scores)))
    few = paired_difference(n10 // copies, n01 // copies, len(scores))
    found = paired_difference(n10, n01, n, totals=by)
    assert (found.value, found.low, found.high, found.n) == pytest.approx((few.value, few.low, few.high, n), abs=1e-9)
    ones = cluster_totals([score == 1 for score in repeated], labels)
    exact, one = proportion(n10, n, method="exact", totals=ones), proportion(n10 // copies, len(scores), method="exact")
    assert (exact.low, exact.high) == pytest.approx((one.low, one.high), abs=1e-9)
    assert mcnemar_exact(n10, n01, by) == pytest.approx(mcnemar_exact(n10 // copies, n01 // copies), rel=1e-9)
    plain = needed_pairs(n10, n01, n, 0.15)
    if plain is not None and 20 * len(scores) >= plain:
        assert needed_pairs(n10, n01, n, 0.15, totals=by) == pytest.approx(plain * copies, abs=copies)


def test_wilson_is_what_statsmodels_says() -> None:
    """Over clusters of one pair the score interval of a share is Wilson's, by another implementation."""
    by = ClusterTotals((1.0,) * 17 + (0.0,) * 33, (1,) * 50)
    low, high = proportion_confint(17, 50, alpha=0.10, method="wilson")
    found = proportion(17, 50, totals=by)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
@brief
def test_arms_of_clusters_are_exchanged_exactly(sums: list[int]) -> None:
    """The p-value of McNemar's test over clusters is that of every choice of signs, counted one by one."""
    total, size = abs(sum(sums)), len(sums)
    signed = [abs(sum(s if choice >> i & 1 else -s for i, s in enumerate(sums))) for choice in range(2**size)]
    n10, n01 = sum(s for s in sums if s > 0), -sum(s for s in sums if s < 0)
    expected = 1.0 if n10 == n01 else sum(each >= total for each in signed) / 2**size
    assert mcnemar_exact(n10, n01, ClusterTotals(tuple(map(float, sums)), (3,) * size)) == pytest.approx(expected)


def test_one_cluster_is_not_clusters(snapshot: SnapshotAssertion) -> None:
    """A single cluster is said as one, in what was counted and in why it decides nothing."""
    message = gate_shift(1, 0, 9, 0.15, totals=cluster_totals([1, *[0] * 8], ["a"] * 9)).message
    assert "n = 9 pairs in 1 cluster, limit" in message
    assert lines_about(message, "cluster is too") == snapshot


def test_few_clusters_decide_nothing(snapshot: SnapshotAssertion) -> None:
    """Under five clusters of equal size a gate is INCONCLUSIVE whatever moved, and says why; so is one of a giant."""
    four = cluster_totals([1] * 40, [n // 10 for n in range(40)])
    found = gate_shift(40, 0, 40, 0.15, totals=four)
    assert (found.status, found.p_pass, found.p_fail) == (Status.INCONCLUSIVE, 1.0, 1.0)
    assert lines_about(found.message, "clusters, limit") == snapshot
    worse = gate_non_inferiority(0, 40, 40, 0.05, totals=negated(four))
    assert (worse.status, "4 clusters are too few" in worse.message) == (Status.INCONCLUSIVE, True)
    giant = cluster_totals([1] * 100, [max(0, n - 70) for n in range(100)])
    assert giant is not None
    assert (giant.count, can_decide(giant)) == (30, False)
    assert lines_about(gate_shift(100, 0, 100, 0.15, totals=giant).message, "equal size") == snapshot
    ten = cluster_totals([1] * 100, [n // 10 for n in range(100)])
    assert gate_shift(100, 0, 100, 0.15, totals=ten).status is Status.FAIL


# --- what ignoring clusters costs -------------------------------------------------------------------------------


def drawn(rng: random.Random, count: int, icc: float, shift: float, flips: float) -> tuple[list[int], list[int]]:
    """Moves of pairs with that true shift, in clusters of 1 to 12 of that intra-cluster correlation."""

    def one() -> int:
        chance = rng.random()
        return 1 if chance < flips / 2 + shift else -1 if chance < flips + shift else 0

    found, labels = [], []
    for cluster in range(count):
        common = one()
        for _ in range(rng.randint(1, 12)):
            found.append(common if rng.random() < math.sqrt(icc) else one())
            labels.append(cluster)
    return found, labels


@pytest.mark.parametrize(("icc", "ignored", "heeded"), [(0.0, 0.03, 0.075), (0.3, 0.12, 0.075), (0.9, 0.20, 0.075)])
@pytest.mark.parametrize("count", [20, 40])
def test_what_ignoring_clusters_costs(icc: float, ignored: float, heeded: float, count: int) -> None:
    """A judge that moves by exactly the tolerance: PASS and FAIL are errors, each held to about 5% by the clusters."""
    rng, runs, errors = random.Random(7), 500, Counter[tuple[str, str]]()
    for _ in range(runs):
        found, labels = drawn(rng, count, icc, 0.15, 0.10)
        for name, clusters in (("ignored", None), ("heeded", labels)):
            z = score_test(found, 0.15, clusters=clusters)
            errors[name, "PASS"] += z < -Z and score_test(found, -0.15, clusters=clusters) > Z
            errors[name, "FAIL"] += z > Z
    assert all(errors["heeded", side] / runs <= heeded for side in ("PASS", "FAIL"))
    assert max(errors["ignored", side] / runs for side in ("PASS", "FAIL")) >= ignored


def test_related_pairs_still_pass() -> None:
    """An unbiased judge with 10% flips passes on 60 clusters, nearly always where pairs of a cluster differ."""
    rng, runs = random.Random(3), 60
    passed = Counter[float]()
    for icc in (0.0, 0.9):
        for _ in range(runs):
            found, labels = drawn(rng, 60, icc, 0.0, 0.10)
            by = cluster_totals(found, labels)
            gate = gate_shift(found.count(1), found.count(-1), len(found), 0.15, totals=by)
            passed[icc] += gate.status is Status.PASS
    assert passed[0.0] >= 0.95 * runs
    assert passed[0.9] >= 0.5 * runs


# --- measurements and gates -------------------------------------------------------------------------------------


def judged(choices: Sequence[str], clusters: Sequence[str | None], contrast: Any = CONTRAST, reason: str = "") -> Any:
    """Return arms x and y from two letters per pair: "12" chose 1 in x and 2 in y, "-" is invalid."""
    arms: tuple[list[Judgment], list[Judgment]] = ([], [])
    for index, (choice, cluster) in enumerate(zip(choices, clusters, strict=True)):
        pair = Pair(f"p{index}", f"Q{index}", "A", "B", gold=1, cluster=cluster)
        for arm, condition, letter in zip(arms, (contrast.x, contrast.y), choice, strict=True):
            verdict = Verdict(int(letter), reason) if letter != "-" else Verdict(None, "", "refusal")
            arm.append(Judgment(pair, condition, JudgeReply(verdict)))
    return arms


SHIFTED = (["12"] * 30 + ["11"] * 60 + ["22"] * 30, [f"c{index // 4}" for index in range(120)])
ESTIMATES = (
    "vsr",
    "flip_rate",
    "gross_share",
    "car",
    "car_all",
    "silent_shift_rate",
    "admitted_shift",
    "unadmitted_shift",
)


def test_a_contrast_of_related_pairs() -> None:
    """Every interval is wider, the value is the same, and the row and the message count the clusters."""
    choices, clusters = SHIFTED
    related, plain = (measure_contrast(*judged(choices, each)) for each in (clusters, [None] * 120))
    for name in ESTIMATES:
        ours, theirs = getattr(related, name), getattr(plain, name)
        assert (ours.value, ours.n) == (theirs.value, theirs.n)
        assert ours.high - ours.low > 1.5 * (theirs.high - theirs.low)
    assert plain.mcnemar_p < related.mcnemar_p == pytest.approx(2**-8 * 2)
    decision = decide_contrast(related, GateTable())
    row = contrast_row("j", "d", CONTRAST, related, decision).to_json()
    assert (row["n"], row["clusters"]) == (120, 30)
    assert "n = 120 pairs in 30 clusters, limit 0.15" in row["message"]
    assert "clusters" not in contrast_row("j", "d", CONTRAST, plain, decide_contrast(plain, GateTable())).to_json()
    assert plain.related == ClusterScores()
    assert (decide_contrast(plain, GateTable()).vsr_status, decision.vsr_status) == (Status.FAIL, Status.INCONCLUSIVE)
    assert (decision.needed_pairs or 0) > 120


@pytest.mark.parametrize("moved", ["12", "21"])
def test_admission_is_over_clusters(moved: str, snapshot: SnapshotAssertion) -> None:
    """Admitted and unadmitted shift are decided over clusters, whichever way most moved, and say how many there are."""
    choices, clusters = [moved] * 48 + ["11"] * 112, [f"c{index // 4}" for index in range(160)]
    found = measure_contrast(*judged(choices, clusters, reason="Response 1 is clearer."))
    decision = decide_contrast(found, GateTable(max_silent=0.1))
    assert decision.car_status is Status.FAIL
    assert lines_about(decision.message, "shift of") == snapshot
    assert "n = 160 pairs in 40 clusters, minimum 0.80: FAIL" in decision.message
    assert "n = 160 pairs in 40 clusters, max_silent 0.10: FAIL" in decision.message
    by = score_interval([0.8] * 48 + [0.0] * 112, clusters=clusters)
    assert f"{by.low:.2f} to {by.high:.2f}" in decision.message


def test_few_clusters_admit_nothing(snapshot: SnapshotAssertion) -> None:
    """Under five clusters neither admission nor an unadmitted shift is decided."""
    choices, clusters = ["12"] * 24 + ["11"] * 16, [f"c{index % 4}" for index in range(40)]
    found = measure_contrast(*judged(choices, clusters, reason="Response 1 is clearer."))
    assert found.mcnemar_p == pytest.approx(2**-3)
    found = replace(found, mcnemar_p=0.001)  # four clusters cannot show so much
    decision = decide_contrast(found, GateTable(max_silent=0.1))
    assert (decision.car_status, decision.status) == (Status.INCONCLUSIVE, Status.INCONCLUSIVE)
    assert lines_about(decision.message, "clusters are too") == snapshot
    assert decision.message.endswith("n = 40 pairs in 4 clusters, max_silent 0.10: INCONCLUSIVE")


def test_admitted_related_pairs_pass() -> None:
    """Where every pair that moved admits it, each cluster for itself, the shift is admitted."""
    choices, clusters = ["12", "11"] * 80, [f"c{index // 4}" for index in range(160)]
    reason = "I prefer this response because it was written more recently."
    assert (
        decide_contrast(measure_contrast(*judged(choices, clusters, reason=reason)), GateTable()).car_status
        is Status.PASS
    )


def test_clusters_that_do_not_repeat_change_nothing() -> None:
    """A cluster column in which no value stands twice is as good as none, to the bit; invalid verdicts included."""
    choices = [*SHIFTED[0][:-3], "1-", "--", "-2"]
    own: list[str | None] = [f"c{index}" for index in range(120)]
    related, plain = (measure_contrast(*judged(choices, each)) for each in (own, [None] * 120))
    assert replace(related, moved=()) == replace(plain, moved=())
    assert decide_contrast(related, GateTable()) == decide_contrast(plain, GateTable())


def test_a_worst_case_of_related_pairs(snapshot: SnapshotAssertion) -> None:
    """Invalid verdicts at worst are reckoned by cluster: one that refuses a whole cluster spoils a PASS."""
    clusters = [f"c{index // 4}" for index in range(200)]
    clean = decide_contrast(measure_contrast(*judged(["11", "22"] * 100, clusters)), GateTable())
    spoiled = measure_contrast(*judged(["--"] * 8 + ["11", "22"] * 96, clusters))
    assert (spoiled.low, spoiled.high) == ((0, 8), (8, 0))
    assert spoiled.related.low is not None
    assert math.fsum(spoiled.related.low.sums) == -8
    assert spoiled.related.high is not None
    assert math.fsum(spoiled.related.high.sums) == 8
    assert (clean.vsr_status, decide_contrast(spoiled, GateTable(max_invalid=0.5)).vsr_status) == (
        Status.PASS,
        Status.PASS,
    )
    tight = decide_contrast(spoiled, GateTable(max_invalid=0.5, vsr_tolerance=0.08))
    assert lines_about(tight.message, "invalid pairs") == snapshot


@given(
    st.lists(
        st.tuples(st.sampled_from(["12", "21", "11", "22", "1-", "-1", "2-", "-2", "--"]), st.integers(0, 6)),
        min_size=1,
        max_size=30,
    )
)
@brief
def test_sums_are_the_counts(rows: list[tuple[str, int]]) -> None:
    """What goes to the gates by cluster adds up to the counts of the measurement."""
    found = measure_contrast(*judged([choice for choice, _ in rows], [str(cluster) for _, cluster in rows]))
    for by, count, n in (
        (found.related.shift, found.n10 - found.n01, found.n),
        (found.related.low, found.low[0] - found.low[1], found.pairs),
        (found.related.high, found.high[0] - found.high[1], found.pairs),
        (found.related.won, found.n10, found.n),
        (found.related.invalid, found.invalid_pairs, found.pairs),
        (found.related.admitted, sum(said * pairs for (_, said), pairs in found.moves.items()), found.n),
        (found.related.unadmitted, found.moves.get((1, 0), 0) - found.moves.get((-1, 0), 0), found.n),
    ):
        assert by is None or (math.fsum(by.sums), sum(by.sizes)) == (count, n)


def test_an_edit_of_related_pairs() -> None:
    """Four clusters of 30 that moved whole are no demonstration, 16 of 120 pairs would be one."""
    choices, clusters = ["12"] * 16 + ["11"] * 104, [f"c{index // 4}" for index in range(120)]
    plain, related = (
        decide_edit(measure_contrast(*judged(choices, each)), GateTable(), 0.05) for each in ([None] * 120, clusters)
    )
    assert (plain.status, related.status) == (Status.FAIL, Status.INCONCLUSIVE)
    assert "n = 120 pairs in 30 clusters" in related.message


def test_accuracy_of_related_pairs(snapshot: SnapshotAssertion) -> None:
    """An accuracy is decided over clusters, and its row counts them."""
    choices, clusters = ["11"] * 96 + ["22"] * 24, [f"c{index // 8}" for index in range(120)]
    gate = GateTable(min_accuracy=0.7)
    plain, related = (accuracy(*judged(choices, each))[0] for each in ([None] * 120, clusters))
    assert (plain.accuracy.value, related.accuracy.value) == (0.8, 0.8)
    assert (decide_accuracy(plain, gate).status, decide_accuracy(related, gate).status) == (
        Status.PASS,
        Status.INCONCLUSIVE,
    )
    assert "n = 120 pairs in 15 clusters, min_accuracy 0.70: INCONCLUSIVE" in decide_accuracy(related, gate).message
    few = accuracy(*judged(["11"] * 40, [f"c{index // 10}" for index in range(40)]))[0]
    assert lines_about(decide_accuracy(few, GateTable(min_accuracy=0.5)).message, "clusters are too") == snapshot


def test_four_cells_of_related_pairs() -> None:
    """The cue's effect over both orders has the score interval over clusters."""
    choices, clusters = SHIFTED
    (x, y), (a, b) = judged(choices, clusters), judged(choices, [None] * 120)
    related, plain = measure_four_cells([x, y, x, y]), measure_four_cells([a, b, a, b])
    assert related is not None
    assert plain is not None
    assert related.cue_effect.value == plain.cue_effect.value == 0.25
    by = score_interval([1] * 30 + [0] * 90, clusters=clusters)
    assert (related.cue_effect.low, related.cue_effect.high) == (by.low, by.high)
    assert related.shift is not None
    assert "n = 120 pairs in 30 clusters, limit 0.15" in decide_four_cells(related, 120, GateTable()).message


def test_a_preference_of_related_pairs() -> None:
    """What the order does to a judge is measured over clusters, too."""
    choices, clusters = ["12"] * 24 + ["11"] * 96, [f"c{index // 4}" for index in range(120)]
    related, plain = (position_preference(*judged(choices, each)) for each in (clusters, [None] * 120))
    assert related is not None
    assert plain is not None
    assert related.first.value == plain.first.value == 0.1
    assert related.first.low < plain.first.low
    assert related.consistency.low < plain.consistency.low


# --- the column, and the preflight ------------------------------------------------------------------------------

ROW = {"id": "a", "question": "q", "response_1": "x", "response_2": "y"}


def written(folder: Path, rows: Sequence[dict[str, Any]], **keys: Any) -> Source:
    """Return the source of a file with these rows."""
    path = folder / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return Source("mine", path, **keys)


@given(st.one_of(st.none(), st.integers(), st.text(st.characters(codec="utf-8"), min_size=1)))
@brief
def test_a_column_of_clusters_is_read(tmp_path_factory: pytest.TempPathFactory, value: str | int | None) -> None:
    """A text or a whole number becomes the cluster, under a name of the user's; nothing becomes none."""
    folder = tmp_path_factory.mktemp("rows")
    source = written(folder, [{**ROW, "debate": value}], columns={"cluster": "debate"})
    if isinstance(value, str) and not value.strip():
        with pytest.raises(JudgeFixturesError, match="'debate' must be"):
            load_sample(source)
        return
    (pair,) = load_sample(source).pairs
    assert pair.cluster == (None if value is None else str(value))


@pytest.mark.parametrize("value", [1.5, True, ["a"], {}, " "])
def test_any_other_cluster_is_told(tmp_path: Path, value: Any, snapshot: SnapshotAssertion) -> None:
    """What is neither text nor whole number is an error that names the row."""
    with pytest.raises(JudgeFixturesError) as error:
        load_sample(written(tmp_path, [{**ROW, "cluster": value}]))
    assert str(error.value) == snapshot


def test_a_cluster_stays_with_its_pair() -> None:
    """It is written with frozen pairs, kept by a swap of the responses, and no part of what a judge sees."""
    pair = Pair("a", "q", "x", "y", gold=1, cluster="c")
    assert pair_to_row(pair)["cluster"] == "c"
    assert "cluster" not in pair_to_row(replace(pair, cluster=None))
    assert swap_responses(pair).cluster == "c"
    assert pair.digest == replace(pair, cluster=None).digest


def test_pairs_without_a_cluster_are_their_own() -> None:
    """A label of their own where others repeat; no labels at all where none does."""
    pairs = [Pair(str(n), "q", "x", str(n), cluster=cluster) for n, cluster in enumerate(["c", None, "c", None])]
    labels = clusters_of(pairs)
    assert labels is not None
    assert labels[0] == labels[2]
    assert len(set(labels)) == count_independent(pairs) == 3
    assert clusters_of(pairs[:2]) is None
    assert count_independent(pairs[:2]) == 2
    assert count_independent([]) == 0


def test_a_shared_question_within_a_cluster_is_heeded() -> None:
    """Only pairs that share a question across clusters make intervals too narrow."""
    pairs = [Pair(str(n), "q", "x", str(n), cluster="c") for n in range(3)]
    assert sharing_a_question(pairs) == 0
    assert sharing_a_question([*pairs, Pair("3", "q", "x", "z")]) == 4
    assert sharing_a_question([replace(pair, cluster=None) for pair in pairs]) == 3


def test_the_sample_is_described_with_its_clusters(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """The preflight says how many clusters there are, and where there are none yet points to the column."""
    rows = [{**ROW, "id": n, "response_2": f"y{n}", "question": f"q{n // 2}", "cluster": n // 4} for n in range(12)]
    source = written(tmp_path, rows)
    sample = load_sample(source)
    said = "\n".join(describe_sample("mine", sample.pairs, sample, source, 0, available=12))
    assert "related pairs: 12 in 3 clusters" in said
    assert "share a question" not in said
    unrelated = [replace(pair, cluster=None) for pair in sample.pairs]
    said = "\n".join(describe_sample("mine", unrelated, sample, source, 0, available=12))
    assert "related pairs" not in said
    assert lines_about(said, "pairs share") == snapshot
    assert "a column `cluster`" in said


def test_what_is_needed_counts_clusters() -> None:
    """A need is of clusters where pairs are related, of five at least; of pairs elsewhere."""
    pairs = [Pair(str(n), "q", "x", str(n), cluster=str(n // 4)) for n in range(60)]
    need = SampleRequirement.among(pairs, "recency-new-old", "mine", 16, "vsr_tolerance 0.15", "raise it")
    assert (need.unmet is need, str(need)) == (
        True,
        "recency-new-old on mine: 15 clusters of pairs are too few to pass vsr_tolerance 0.15: use at least 16",
    )
    assert SampleRequirement.among(pairs[:32], "a", "mine", 2, "", "").at_least == 5
    plain = [replace(pair, cluster=None) for pair in pairs]
    assert not SampleRequirement.among(plain, "recency-new-old", "mine", 16, "vsr_tolerance 0.15", "raise it").unmet


def test_the_preflight_counts_clusters(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Its table has the clusters for n and says so; a need of more is of clusters."""
    rows = [{**ROW, "id": n, "response_2": f"y{n}", "question": f"q{n}", "cluster": n // 4} for n in range(60)]
    written(tmp_path, rows)
    (tmp_path / "judges.toml").write_text('[datasets.mine]\npath = "pairs.jsonl"\n')
    with Run.from_config(tmp_path / "judges.toml") as run:
        said = "\n".join(preflight_lines(run, [CheckId("simulated-faithful", "mine", ContrastCheck(CONTRAST))]))
    assert "mine     recency          1  15        16       0.15" in said
    assert "mine: n counts the 15 clusters of 60 related pairs" in said
    assert lines_about(said, "recency-new-old on") == snapshot
    assert "related pairs: 60 in 15 clusters" in said
