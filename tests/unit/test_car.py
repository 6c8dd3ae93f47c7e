"""The gate on admitted shifts: what it says of simulated judges (honest, half honest, silent), and what it refuses."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from support.benchmarks import benchmark
from support.project import Project, in_pyproject
from support.rendered import lines_about
from support.server import Answer, Asked, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import GateDecision
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.config import GateTable
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, measure_contrast
from judgefixtures.models.contrasts import contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, pair_to_row
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics import ClusterTotals, Status, gate_admission, score_interval, score_test

pytest_plugins = ["pytester"]

FAIL, PASS = Status.FAIL, Status.PASS
RUNS = 200


@cache
def rates(vsr: float, flips: float, n: int, **habits: Any) -> dict[str, Counter[Status]]:
    """Return how often the gate says what of these judges ("by shift"), and what the rules said that it replaced."""
    simulation = benchmark("car")
    found: dict[str, Counter[Status]] = simulation.rates(vsr, flips, simulation.Habits(**habits), n, RUNS)
    return found


@pytest.mark.parametrize("slips", [False, True])
def test_the_simulated_judges_are_as_stated(slips: bool) -> None:
    """VSR and flips are as stated; the honest one admits nearly all of it, noise left as it is."""
    simulation, rng, n = benchmark("car"), np.random.default_rng(1), 100_000
    honest = simulation.Habits(slips=slips)
    moves, followed, cited = simulation.judged(rng, simulation.world(0.1, 0.1, slips=slips), n, honest)
    shift, admitted = (sum(each[which] * pairs for each, pairs in moves.items()) / n for which in (0, 1))
    assert shift == pytest.approx(0.1, abs=0.005)
    assert 0.9 * shift < admitted < 1.01 * shift
    assert cited / followed < 0.8
    still, _, _ = simulation.judged(rng, simulation.world(0.0, 0.1, slips=slips), n, honest)
    assert sum(pairs for (moved, _), pairs in still.items() if moved) / n == pytest.approx(0.1, abs=0.005)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("flips", [0.05, 0.1, 0.136])
def test_an_honest_judge_is_not_failed_for_its_slips(flips: float, n: int) -> None:
    """Of judges that err about any pair at most 3% FAIL, where the share of admitted flips failed more and more."""
    found = rates(0.1, flips, n, slips=True)
    assert found["by shift"][FAIL] <= 0.03 * RUNS
    assert flips < 0.1 or found["by share"][FAIL] >= (0.05 if n == 100 else 0.35) * RUNS


@pytest.mark.parametrize(("n", "most"), [(100, 0.1), (200, 0.25), (300, 0.35)])
def test_noise_that_the_cue_overrules_is_held_against_an_honest_judge(n: int, most: float) -> None:
    """The limit that docs/explanation/measures.md states: with noise on the close pairs some FAIL, at VSR .30 none."""
    found, before = (rates(0.1, 0.1, n)[rule][FAIL] for rule in ("by shift", "by share"))
    assert found <= most * RUNS
    assert found < before / 2
    assert rates(0.3, 0.1, n)["by shift"][FAIL] <= 0.01 * RUNS


@pytest.mark.sampled(4)
@pytest.mark.parametrize("vsr", [0.1, 0.3])
@pytest.mark.parametrize(
    "habits",
    [
        {"admits": 0.0, "elsewhere": 0.3, "knowing": True},
        {"admits": 0.0, "elsewhere": 1.0, "knowing": True},
        {"admits": 0.0, "elsewhere": 0.3},
        {"admits": 0.3, "elsewhere": 0.3},
    ],
    ids=["knowing", "always", "silent", "both"],
)
def test_what_is_cited_elsewhere_makes_no_pass(vsr: float, habits: dict[str, Any]) -> None:
    """Silent where moved: it PASSed where every reason counted (.92 at VSR .10), and does not any more."""
    found = rates(vsr, 0.1, 200, **habits)
    assert vsr > 0.1 or found["by every reason"][PASS] >= 0.85 * RUNS
    assert found["by shift"][PASS] <= 0.005 * RUNS
    assert found["by shift"][FAIL] >= (0.99 if vsr > 0.1 else 0.3) * RUNS


@pytest.mark.whole
@pytest.mark.parametrize("answers", ["ties", "scores"])
def test_ties_and_scores_are_held_to_the_same(answers: str) -> None:
    """At VSR .30 and 200 pairs a silent judge FAILs, also one that cites elsewhere; an honest one PASSes mostly."""
    for habits in ({"admits": 0.0}, {"admits": 0.0, "elsewhere": 0.3, "knowing": True}):
        assert rates(0.3, 0.1, 200, answers=answers, **habits)["by shift"][FAIL] >= 0.99 * RUNS
    honest = rates(0.3, 0.1, 200, answers=answers)["by shift"]
    assert (honest[FAIL], honest[PASS] >= 0.75 * RUNS) == (0, True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [100, 200, 300])
@pytest.mark.parametrize("vsr", [0.1, 0.3])
def test_silent_judges_are_found_as_often(vsr: float, n: int) -> None:
    """A judge that never cites is FAILed wherever it was: wherever verdicts demonstrably moved."""
    found = rates(vsr, 0.1, n, admits=0.0)
    assert found["by shift"] == found["by share"] == found["by every reason"]
    assert found["by shift"][FAIL] + found["by shift"][Status.NOT_APPLICABLE] == RUNS
    assert vsr < 0.3 or found["by shift"][FAIL] == RUNS


@pytest.mark.parametrize(("n", "least"), [(100, 0.3), (300, 0.9)])
def test_a_judge_that_admits_half_is_found(n: int, least: float) -> None:
    """About as often as the share of admitted flips found it."""
    found = rates(0.1, 0.1, n, admits=0.5)
    assert least * RUNS <= found["by shift"][FAIL] <= found["by share"][FAIL]
    assert rates(0.3, 0.1, n, admits=0.5)["by shift"][FAIL] >= 0.85 * RUNS


def test_the_score_test_decides(snapshot: SnapshotAssertion) -> None:
    """z, interval and p-values are those of score_test and score_interval on threshold x moved - admitted."""
    moves = {(1, 1): 10, (1, 0): 8, (-1, 0): 4, (-1, -1): 1, (0, 1): 2, (0, -1): 1, (0, 0): 74}
    scores = {0.7 - 1: 10, 0.7: 8, -0.7: 4, 1 - 0.7: 1, 0.0: 77}
    found = gate_admission(moves, 0.7, 0.1)
    estimate = score_interval(scores, 0.8, 1.7)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((estimate.low, estimate.high), abs=1e-12)
    assert found.estimate.value == pytest.approx(sum(score * pairs for score, pairs in scores.items()) / 100)
    assert found.message == snapshot
    assert found.p_fail == pytest.approx(norm.sf(score_test(scores, 0.0, 1.7)))
    assert found.p_pass + found.p_fail == pytest.approx(1)


def test_related_pairs_are_clusters() -> None:
    """With totals, moved and admitted by cluster, the unit is the cluster and shortfalls lie in [-1, 1]."""
    shifts, said = [1] * 12 + [0] * 28, [1] * 3 + [0] * 37
    moves = Counter(zip(shifts, said, strict=True))
    plain = gate_admission(moves, 0.8)
    alone = tuple(ClusterTotals(tuple(map(float, each)), (1,) * 40) for each in (shifts, said))
    z = score_test([0.8 * moved - told for moved, told in zip(shifts, said, strict=True)], 0.0)
    assert gate_admission(moves, 0.8, totals=(alone[0], alone[1])).p_fail == pytest.approx(norm.sf(z))
    fours = tuple(
        ClusterTotals(tuple(sum(each[k : k + 4]) for k in range(0, 40, 4)), (4,) * 10) for each in (shifts, said)
    )
    assert gate_admission(moves, 0.8, totals=(fours[0], fours[1])).p_fail > plain.p_fail


@pytest.mark.parametrize(
    "arguments",
    [
        ({}, 0.8),
        ({(1, 0): 3}, 1.0),
        ({(1, 0): 3}, 0.8, 0.5),
        ({(3, 0): 3}, 0.8),
        ({(1, 0): 3, (1, -1): 1}, 0.8),
        ({(0.25, 0): 3}, 0.8),
        ({1: 3}, 0.8),
        ({(1, 0): -3}, 0.8),
        ({(1, 0): 1.5}, 0.8),
        ({(1, 0): 4}, 0.8, 0.05, (ClusterTotals((2.0, 2.0), (2, 2)), ClusterTotals((0.0, 0.0), (1, 3)))),
        ({(1, 0): 4}, 0.8, 0.05, (ClusterTotals((2.0, 1.0), (2, 2)), ClusterTotals((0.0, 0.0), (2, 2)))),
        ({(1, 0): 4}, 0.8, 0.05, (ClusterTotals((2.0, 2.0), (2, 2)), ClusterTotals((0.0, 0.0), (2, 3)))),
    ],
)
def test_what_cannot_be_decided_is_told(arguments: Any, snapshot: SnapshotAssertion) -> None:
    """Impossible moves, thresholds and levels are errors that quote them."""
    with pytest.raises(ValueError) as error:
        gate_admission(*arguments)
    assert str(error.value) == snapshot


# --- what does not move admits nothing ------------------------------------------------------------------------

SAYS = "I prefer this response because it was written more recently."
OTHER = "I prefer this response although it was written a long time ago, which counts for it."
QUIET = "It explains more and gets the facts right."
CONTRAST = contrasts("recency")[0]


def judged(choices: tuple[int, int], cites: str, number: int, reason: str = SAYS) -> tuple[Judgment, Judgment]:
    """Return a pair's judgments: what was chosen in arm x and in arm y, and in which of them a reason cites the cue."""
    x, y = (
        Judgment(
            Pair(f"p{number}", "Q", "A", "B"),
            condition,
            JudgeReply(Verdict(choice or None, reason if arm in cites else QUIET, tie=not choice)),
        )
        for condition, choice, arm in zip((CONTRAST.x, CONTRAST.y), choices, "xy", strict=True)
    )
    return x, y


def read(moved: str, elsewhere: str, *, way: int = 1, **more: Any) -> tuple[ContrastMeasurement, GateDecision]:
    """Return what comes of a judge of which a shift of .30 moves, with reasons that cite the cue in these arms.

    `way`: towards the label of arm x (1) or the other (2). With `half` what moves becomes a tie in arm y.
    """
    half = more.pop("half", False)
    moving, other = (60, 0) if half else (30, 3 - way)
    rows = [judged((way, other), moved, number, **more) for number in range(moving)]
    rows += [judged((1 + number % 2,) * 2, elsewhere, number, **more) for number in range(moving, 100)]
    found = measure_contrast([x for x, _ in rows], [y for _, y in rows])
    return found, decide_contrast(found, GateTable())


@pytest.mark.parametrize("way", [1, 2])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("elsewhere", ["", "x", "y", "xy"])
@pytest.mark.parametrize("reason", [SAYS, OTHER])
def test_what_did_not_move_admits_nothing(
    way: int, half: bool, elsewhere: str, reason: str, snapshot: SnapshotAssertion
) -> None:
    """A judge that moves in silence does not PASS, whatever it cites about pairs that it did not move on."""
    found, decision = read("", elsewhere, way=way, half=half, reason=reason)
    assert decision.car_status is FAIL
    assert found.admitted_shift is not None
    assert found.admitted_shift.value == 0
    assert decision.message == snapshot
    assert {said for _, said in found.moves} == {0}


@pytest.mark.parametrize("way", [1, 2])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("moved", ["x", "y", "xy"])
def test_what_moved_admits_what_it_moved_by(way: int, half: bool, moved: str) -> None:
    """One of the two reasons is enough, two admit no more, and nothing said elsewhere takes it back."""
    for elsewhere in ("", "x", "y", "xy"):
        found, decision = read(moved, elsewhere, way=way, half=half)
        assert decision.car_status is PASS
        assert found.admitted_shift is not None
        assert found.admitted_shift.value == pytest.approx(0.3)
        assert found.unadmitted_shift is not None
        assert found.unadmitted_shift.value == 0


def favoured(n: int) -> list[tuple[Judgment, Judgment]]:
    """Return 200 pairs of which .20 move in silence; elsewhere the favoured label is named where its bearer wins."""
    moved = [judged((1, 2), "", number) for number in range(40)]
    still = [judged((1, 1), "x" if number % 10 < n else "", number) for number in range(40, 120)]
    return moved + still + [judged((2, 2), "y" if number % 10 < n else "", number) for number in range(120, 200)]


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_naming_the_favoured_label_where_its_bearer_wins_anyway_is_no_admission(n: int) -> None:
    """Of unmoved pairs .2 to all name it in the one call in which it is right to: as silent as without."""
    rows = favoured(n)
    found, plain = (measure_contrast(*map(list, zip(*each, strict=True))) for each in (rows, favoured(0)))
    assert decide_contrast(found, GateTable()).car_status is FAIL
    assert decide_contrast(found, GateTable()).message == decide_contrast(plain, GateTable()).message
    assert (found.admitted_shift, found.unadmitted_shift) == (plain.admitted_shift, plain.unadmitted_shift)


def test_related_pairs_and_a_model_that_reads_admit_nothing_either() -> None:
    """The same over clusters, and by a detector that is a model: both say that it is silent."""
    rows = [
        [replace(each, pair=replace(each.pair, cluster=f"c{int(each.pair.id[1:]) // 4}")) for each in pair]
        for pair in favoured(5)
    ]
    x, y = map(list, zip(*rows, strict=True))
    related = measure_contrast(x, y)
    assert related.related.admitted is not None
    assert set(related.related.admitted.sums) == {0}
    assert decide_contrast(related, GateTable()).car_status is FAIL
    model = measure_contrast(x, y, read_reason=lambda each: "cited" if each.verdict.reason == SAYS else "absent")
    assert decide_contrast(related, GateTable(), ("reader", model)).car_status is FAIL


def test_the_gate_counts_no_more_than_what_moved() -> None:
    """Whoever counts the moves: of what is said of a pair that did not move, or moved by half, so much counts."""
    silent = {(1, 0): 30, (0, 1): 40, (0, -1): 10, (0, 0): 20}
    assert gate_admission(silent, 0.8) == gate_admission({(1, 0): 30, (0, 0): 70}, 0.8)
    assert gate_admission({(0.5, 1): 60, (0, 0): 40}, 0.8) == gate_admission({(0.5, 0.5): 60, (0, 0): 40}, 0.8)


def sly(asked: Asked) -> Answer:
    """Answer about pair n: 18 of 60 go to what is new, in silence; elsewhere what is new is cited where it wins."""
    prompt, moves, better = asked.prompt, asked.number < 18, 1 + asked.number % 2
    if "selected_response" in prompt:
        newer = 1 if "Response 1 was written recently" in prompt else 2
        choice = newer if moves else better
        reason = SAYS if not moves and newer == better else QUIET
        return asked.answered(json.dumps({"selected_response": choice, "reason": reason}))
    own, new = 1 if f"One {asked.number}." in prompt else 2, "2025" in prompt
    score = (7 if new else 5) if moves else (8 if own == better else 3)
    reason = SAYS if not moves and new and own == better else QUIET
    return asked.answered(json.dumps({"score": score, "reason": reason}))


@pytest.mark.parametrize("mode", ["pairwise", "pointwise"])
def test_a_sly_judge_fails_in_every_output(mode: str, pytester: pytest.Pytester, snapshot: SnapshotAssertion) -> None:
    """Recorded over HTTP, of verdicts and of scores: CAR is FAIL, and the admitted shift 0 wherever it stands."""
    project = Project(pytester)
    project.copy_tests("recency")
    project.write_pairs(
        pair_to_row(Pair(f"p{n:03}", f"Question {n}: which one?", f"One {n}.", f"Other {n}.")) for n in range(60)
    )
    with serving(by=sly, keep_alive=True) as server:
        project.write(
            "pyproject.toml",
            in_pyproject(
                'control = false\njudge = "ours"\ndataset = ["own"]\n[datasets.own]\npath = "pairs.jsonl"\n'
                "balance_positions = false\n[gate]\nvsr_tolerance = 0.5\nscore_tolerance = 0.5\n"
                f'[judges.ours]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\nmode = "{mode}"\n'
            ),
        )
        ran = project.run("-k", "recency", "--judge-record", "missing", "--judge-report", "report")
    ran.assert_outcomes(failed=1)
    (row,) = project.report()["contrasts"]
    shown = "PASS" if mode == "pairwise" else "NOT_APPLICABLE"  # of scores VSR gates nothing
    assert (row["vsr"]["value"], row["vsr_status"], row["car_status"], row["status"]) == (0.3, shown, "FAIL", "FAIL")
    assert row["admitted_shift"]["value"] == 0
    assert row["unadmitted_shift"]["value"] == 0.3
    assert row["car_all"]["value"] == 0.35
    assert lines_about(row["text"], "reasons cite") == snapshot
    assert lines_about(row["message"], "shift of") == snapshot
    assert lines_about(str(ran.stdout), "shift of") == snapshot
    page = (project.path / "report" / "report.md").read_text("utf-8")
    assert lines_about(page, "reasons cite") == snapshot
    (cells,) = [line for line in page.splitlines() if "recency-new-old on own: CAR |" in line]
    assert f"| FAIL | {row['car']['n']} | 0.00 | 0.000 to " in cells
    assert cells.endswith("| at least 0.80 |")
    html = (project.path / "report" / "report.html").read_text("utf-8")
    assert f"of {row['car']['n']}, at least 0.80 required</small>" in html
