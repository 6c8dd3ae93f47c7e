"""What a contrast shows beyond verdicts: log-odds of a judge that says how sure it is, shares of repeats, scores."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.project import Project, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.log_odds_and_scores import decide_log_odds, decide_scores
from judgefixtures.config import GateTable
from judgefixtures.metrics.certainty import certainty, likely_of
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, Contrast, contrasts, other_contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.probabilities import Probability
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.verdict_probabilities import stated_probability
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.statistics import Status, score_interval
from judgefixtures.statistics.log_odds import LARGEST, Shift, share_log_odds, token_shift

pytest_plugins = ["pytester"]

CONTRAST = contrasts("recency")[0]
POSITION = other_contrasts("position")[0]
EDITED = other_contrasts("verbosity")[0]
quick = settings(deadline=None, max_examples=40)


def judgment(number: int, condition: Condition, odds: float | Probability | None, **more: Any) -> Judgment:
    """Return a judgment with these log-odds for what stood first, and the verdict that is likelier."""
    probability = Probability(odds, odds) if isinstance(odds, float) else odds
    sure = 0.0 if probability is None else probability.log_odds
    reply = JudgeReply(Verdict(1 if sure >= 0 else 2, "It is better.", probability=probability), **more)
    return Judgment(Pair(f"p{number}", "Q", "A", "B", gold=1), condition, reply)


def arm(condition: Condition, *odds: float | Probability | None) -> list[Judgment]:
    """Return an arm of judgments of as many pairs."""
    return [judgment(number, condition, each) for number, each in enumerate(odds)]


@quick
@given(st.lists(st.floats(-8, 8), min_size=2, max_size=40), st.floats(-2, 2))
def test_a_shift_of_log_odds_is_found(odds: list[float], effect: float) -> None:
    """Where a cue adds so many logits to every pair the shift is that, however sure the judge was."""
    found = certainty([arm(CONTRAST.x, *(each + effect for each in odds))], [arm(CONTRAST.y, *odds)], "chose-first")
    assert found.log_odds_shift is not None
    assert found.soft_vsr is not None
    assert found.log_odds_shift.value == pytest.approx(effect, abs=1e-9)
    assert found.log_odds_shift.low < effect < found.log_odds_shift.high
    chances = [1 / (1 + math.exp(-each - effect)) - 1 / (1 + math.exp(-each)) for each in odds]
    assert found.soft_vsr.value == pytest.approx(score_interval(chances).value, abs=1e-9)
    own = token_shift([Shift.known(each) for each in chances])
    assert (found.soft_vsr.low, found.soft_vsr.high) == pytest.approx((own.low, own.high), abs=1e-9)
    assert (found.pairs, found.lacking, found.repeats) == (len(odds), 0, 0)


def test_log_odds_are_of_the_outcome() -> None:
    """Of the pair's own response 1 where the order differs, and of the edited response where one is."""
    own, other = arm(NO_CUE, 2.0, 1.0), arm(NO_CUE_SWAPPED, 1.5, 1.0)
    by_order = certainty([own], [other], POSITION.outcome)
    assert by_order.log_odds_shift is not None
    assert by_order.log_odds_shift.value == ((2.0 + 1.5) + (1.0 + 1.0)) / 2
    assert likely_of(other)["p1"] == pytest.approx(1 / (1 + math.e))
    edited = certainty([arm(EDITED.x, *[1.0] * 4)], [arm(NO_CUE, *[0.0] * 4)], EDITED.outcome)
    towards = [shift.value for shift in edited.shifts]
    assert sorted(map(abs, towards)) == [1.0] * 4  # to the response that is edited, whichever it is


def test_bounds_are_neither_0_nor_1() -> None:
    """A verdict that the server does not list leaves a range, and the interval covers it."""
    bound = Probability(5.0, math.inf)
    known, bounded = (
        certainty([arm(CONTRAST.x, *[5.0] * 20, each)], [arm(CONTRAST.y, *[4.0] * 21)], "chose-first")
        for each in (5.0, bound)
    )
    assert known.log_odds_shift is not None
    assert bounded.log_odds_shift is not None
    assert bounded.log_odds_shift.value == known.log_odds_shift.value == 1.0
    assert bounded.log_odds_shift.high > known.log_odds_shift.high
    part = decide_log_odds(bounded, GateTable(), CONTRAST)
    assert "on 21 pairs, 1 of them bounds" in part.reason


def test_pairs_without_probabilities_are_counted(snapshot: SnapshotAssertion) -> None:
    """They are left out of the shift, and a PASS needs nearly all pairs."""
    none = certainty([arm(CONTRAST.x, None, None)], [arm(CONTRAST.y, None, 1.0)], "chose-first")
    assert (none.pairs, none.lacking, none.log_odds_shift) == (2, 2, None)
    gate = GateTable(log_odds_tolerance=1.5)
    assert decide_log_odds(none, gate, CONTRAST).status is Status.INCONCLUSIVE  # asked for, and nothing came
    refused = decide_log_odds(none, gate, CONTRAST, has_logprobs=False)
    assert refused.status is Status.NOT_APPLICABLE
    assert "log_odds_tolerance 1.5 is not applied" in refused.reason
    assert decide_log_odds(none, GateTable(), CONTRAST).reason == ""
    odds = [0.1 * number for number in range(60)]
    whole = certainty([arm(CONTRAST.x, *odds)], [arm(CONTRAST.y, *odds)], "chose-first")
    assert decide_log_odds(whole, gate, CONTRAST).status is Status.PASS
    some = certainty([arm(CONTRAST.x, *odds, *[None] * 10)], [arm(CONTRAST.y, *odds, *[None] * 10)], "chose-first")
    part = decide_log_odds(some, gate, CONTRAST)
    assert part.status is Status.INCONCLUSIVE
    assert lines_about(part.reason, "no probabilities") == snapshot
    spoiled = [
        Judgment(each.pair, each.condition, JudgeReply(Verdict(None, "", "no-json")), each.repeat)
        for each in arm(CONTRAST.x, *odds, *odds[:10])[60:]
    ]
    invalid = certainty([[*arm(CONTRAST.x, *odds), *spoiled]], [arm(CONTRAST.y, *odds, *odds[:10])], "chose-first")
    assert (invalid.pairs, invalid.lacking) == (70, 10)
    assert decide_log_odds(invalid, gate, CONTRAST).status is Status.INCONCLUSIVE


def test_a_tie_is_half_of_the_odds_too() -> None:
    """Log-odds are of the outcome, a tie counted half: what goes to ties shifts them, what they say apart does not."""
    gate = GateTable(log_odds_tolerance=1.5)

    def odds(one: float, two: float, tie: float) -> Probability:
        return stated_probability(one, two, tie)

    def found(x: Probability, y: Probability) -> Any:
        return decide_log_odds(
            certainty([arm(CONTRAST.x, *[x] * 40)], [arm(CONTRAST.y, *[y] * 40)], "chose-first"), gate, CONTRAST
        ).status

    assert found(odds(0.90, 0.05, 0.05), odds(0.50, 0.028, 0.472)) is Status.FAIL
    assert found(odds(0.005, 0.001, 0.994), odds(0.001, 0.005, 0.994)) is Status.PASS
    sure = Probability(30.0, 30.0)
    assert certainty([arm(CONTRAST.x, *[sure] * 3)], [arm(CONTRAST.y, 10.0, 10.0, 10.0)], "chose-first").lacking == 0


def test_related_pairs_count_as_clusters(snapshot: SnapshotAssertion) -> None:
    """Twenty clusters of five pairs show no absence, as the preflight says; of thirty they may."""

    def clustered(count: int) -> Any:
        x, y = (
            [
                Judgment(replace(each.pair, cluster=f"c{n % count}"), each.condition, each.reply)
                for n, each in enumerate(arm(condition, *[0.02 * n for n in range(count * 5)]))
            ]
            for condition in (CONTRAST.x, CONTRAST.y)
        )
        return certainty([x], [y], "chose-first")

    gate = GateTable(log_odds_tolerance=1.5)
    assert (clustered(20).units, clustered(30).units) == (20, 30)
    few, enough = (decide_log_odds(clustered(count), gate, CONTRAST) for count in (20, 30))
    assert (few.status, enough.status) == (Status.INCONCLUSIVE, Status.PASS)
    assert lines_about(few.reason, "clusters of") == snapshot


def test_pairs_beyond_in_both_arms_are_lacking(snapshot: SnapshotAssertion) -> None:
    """Their shift is not 0 but unknown: counted and told, and with more of them than may be invalid nothing passes."""
    gate = GateTable(log_odds_tolerance=1.5)
    near = [0.1 * number for number in range(60)]

    def found(sure: int) -> Any:
        x, y = arm(CONTRAST.x, *near, *[16.5] * sure), arm(CONTRAST.y, *near, *[15.0] * sure)
        return certainty([x], [y], "chose-first")

    few, many = found(3), found(6)
    assert (few.pairs, few.lacking, few.beyond) == (63, 3, 3)
    assert few.log_odds_shift is not None
    assert few.soft_vsr is not None
    assert (few.log_odds_shift.n, few.soft_vsr.n) == (60, 63)  # of probabilities there is nothing to tell apart
    assert decide_log_odds(few, gate, CONTRAST).status is Status.PASS
    assert lines_about(decide_log_odds(few, gate, CONTRAST).reason, "are beyond") == snapshot
    assert decide_log_odds(many, gate, CONTRAST).status is Status.INCONCLUSIVE


def test_an_arm_beyond_alone_hides_no_shift() -> None:
    """A judge whose odds turn 4.5-fold is not passed because half of what turned lies beyond."""
    odds = [12.6 + 0.02 * number for number in range(60)]
    x = [Probability(each + 1.5, math.inf) for each in odds]  # the other verdict is not listed any more
    found = certainty([arm(CONTRAST.x, *x)], [arm(CONTRAST.y, *odds)], "chose-first")
    assert found.beyond == sum(each >= LARGEST for each in odds)
    assert decide_log_odds(found, GateTable(log_odds_tolerance=3.0), CONTRAST).status is not Status.PASS


def test_a_probability_given_a_reasoning_tells_no_closeness() -> None:
    """It is sure of the closest pair: closeness falls back on verdicts, as for judges without probabilities."""
    told = arm(NO_CUE, 0.5, Probability(6.0, 6.0, explained=True))
    assert set(likely_of(told)) == {"p0"}


def test_few_pairs_show_no_absence() -> None:
    """What moves one pair in twenty may be in none of ten: these can show a shift, and not that there is none."""
    gate = GateTable(log_odds_tolerance=1.5)
    odds = [0.1 * number for number in range(10)]
    still = certainty([arm(CONTRAST.x, *odds)], [arm(CONTRAST.y, *odds)], "chose-first")
    assert decide_log_odds(still, gate, CONTRAST).status is Status.INCONCLUSIVE
    assert "at least 30" in decide_log_odds(still, gate, CONTRAST).reason
    moved = certainty([arm(CONTRAST.x, *(each + 1 for each in odds))], [arm(CONTRAST.y, *odds)], "chose-first")
    assert decide_log_odds(moved, gate, CONTRAST).status is Status.FAIL


@pytest.mark.parametrize("contrast", [CONTRAST, POSITION, other_contrasts("repeat", 2)[0], EDITED])
def test_the_shift_is_said_in_words(contrast: Contrast, snapshot: SnapshotAssertion) -> None:
    """What was varied, then by how much the odds change; with a tolerance also what that decides."""
    odds = [0.1 * number for number in range(40)]
    moved = arm(contrast.x, *(each + 1 for each in odds))
    if contrast is EDITED:
        moved = [judgment(n, contrast.x, each + (1 if towards(n) else -1)) for n, each in enumerate(odds)]
    y = arm(contrast.y, *odds) if contrast is not POSITION else arm(contrast.y, *(-each for each in odds))
    found = certainty([moved], [y], contrast.outcome)
    shown, gated = (decide_log_odds(found, gate, contrast) for gate in (GateTable(), GateTable(log_odds_tolerance=1.5)))
    assert shown.status is Status.NOT_APPLICABLE
    assert shown.reason == snapshot
    assert gated.status is Status.FAIL
    assert "limit 1.5: FAIL" in gated.reason


def towards(number: int) -> bool:
    """Tell whether response 1 of a pair is the edited one."""
    from judgefixtures.models.edits import edit_target

    return edit_target(Pair(f"p{number}", "Q", "A", "B", gold=1)) == 1


def test_shares_of_repeats() -> None:
    """P is the share of an arm's repeats; they can show a shift of log-odds, and not that there is none."""

    def chosen(number: int, condition: Condition, selected: Any, repeat: int) -> Judgment:
        verdict = Verdict(selected, "r") if selected else Verdict(None, "r", tie=True)
        return Judgment(Pair(f"p{number}", "Q", "A", "B"), condition, JudgeReply(verdict), repeat)

    xs = [[chosen(n, CONTRAST.x, 1 if repeat < 3 else 2, repeat) for n in range(40)] for repeat in range(4)]
    ys = [[chosen(n, CONTRAST.y, 1 if repeat < 1 else 0, repeat) for n in range(40)] for repeat in range(4)]
    found = certainty(xs, ys, "chose-first")
    assert found.soft_vsr is not None
    assert found.log_odds_shift is not None
    assert (found.repeats, found.soft_vsr.value) == (4, 0.75 - 0.625)
    assert found.soft_vsr == score_interval([0.75 - 0.625] * 40), "shares are as coarse as verdicts"
    assert found.log_odds_shift.value == pytest.approx(share_log_odds(3, 4) - share_log_odds(2.5, 4))
    gate = GateTable(log_odds_tolerance=5.0)
    part = decide_log_odds(found, gate, CONTRAST)
    assert part.status is Status.INCONCLUSIVE
    assert "repeats understate" in part.reason
    assert decide_log_odds(found, GateTable(log_odds_tolerance=1.05), CONTRAST).status is Status.FAIL
    # A judge that always chooses 1, with invalid repeats in one arm: as many count in both, and nothing shifts.
    sure = [
        [chosen(n, condition, 1, repeat) for n in range(40)]
        for condition in (CONTRAST.x, CONTRAST.y)
        for repeat in range(5)
    ]
    lost = JudgeReply(Verdict(None, "", "no-json"))
    fewer = [sure[5], sure[6], *([Judgment(j.pair, j.condition, lost, j.repeat) for j in each] for each in sure[7:])]
    still = certainty(sure[:5], fewer, "chose-first")
    assert still.log_odds_shift is not None
    assert (still.log_odds_shift.value, still.lacking) == (0.0, 0)


def test_scores_shift_in_points(snapshot: SnapshotAssertion) -> None:
    """The mean over both responses of what the label of arm x brings one; an edit changes one response alone."""

    def scored(condition: Condition, first: float, second: float, **more: Any) -> Judgment:
        reply = JudgeReply(Verdict(None, "", tie=True, scores=(first, second)))
        return Judgment(Pair(more.get("id", "p"), "Q", "A", "B", gold=1), condition, reply)

    x = [scored(CONTRAST.x, 7, 5, id=f"p{n}") for n in range(100)]
    y = [scored(CONTRAST.y, 6, 7, id=f"p{n}") for n in range(100)]
    found = certainty([x], [y], "chose-first", scale=(1, 10))
    assert found.score_shift is not None
    assert found.soft_vsr is not None
    assert found.score_shift.value == pytest.approx(((7 - 6) + (7 - 5)) / 2)
    assert found.soft_vsr.value == pytest.approx(1.5 / 9)
    part = decide_scores(found, GateTable(), (1, 10))
    assert part.status is Status.FAIL
    assert lines_about(part.reason, "score shift") == snapshot
    assert part.reason.endswith("limit 0.05 of the scale (0.45 points): FAIL")
    still = certainty([x], [x], "chose-first", scale=(1, 10))
    assert decide_scores(still, GateTable(), (1, 10)).status is Status.PASS
    assert decide_scores(found, GateTable(), (1, 10), gated=False).status is Status.NOT_APPLICABLE
    without = JudgeReply(Verdict(None, "", "not-a-choice"))
    spoiled = [Judgment(each.pair, each.condition, without) if n < 9 else each for n, each in enumerate(x)]
    doubtful = certainty([spoiled], [x], "chose-first", scale=(1, 10))
    assert (doubtful.pairs, doubtful.lacking) == (100, 9)
    part = decide_scores(doubtful, GateTable(), (1, 10))
    assert part.status is Status.INCONCLUSIVE
    assert lines_about(part.reason, "invalid pairs") == snapshot
    few = [Judgment(each.pair, each.condition, without) if n < 2 else each for n, each in enumerate(x)]
    assert (
        decide_scores(certainty([few], [x], "chose-first", scale=(1, 10)), GateTable(), (1, 10)).status is Status.PASS
    )
    no_ties = JudgeReply(Verdict(None, "", "tie", scores=(6, 6)))  # ties = "invalid": the scores are known all the same
    known = certainty([[Judgment(each.pair, each.condition, no_ties) for each in x]], [x], "chose-first", scale=(1, 10))
    assert known.lacking == 0


# --- with a server ----------------------------------------------------------------------------------------------


@pytest.fixture
def simulator() -> Iterator[SimulatorServer]:
    """The simulated judges."""
    with serving() as server:
        yield server


def configuration(url: str, judge: str, gate: str = "") -> str:
    """Return a configuration with one judge behind the simulators."""
    table = f'[judges.ours]\nprovider = "openai"\nbase_url = "{url}/v1"\n{judge}\n'
    return in_pyproject(f'judge = "ours"\ncontrol = false\n{table}{gate}')


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A repository with the recency and the placebo test."""
    project = Project(pytester, configuration, fresh=True)
    project.copy_tests("recency", "noise")
    return project


UNSURE = 'model = "simulated-unsure"\nlogprobs = true'


@pytest.mark.slow
def test_a_shift_is_seen_where_no_verdict_moves(
    project: Project, simulator: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """On clear pairs the verdicts of a judge with a latent effect stand still, and the log-odds shift is what it is."""
    project.write(project.file, configuration(simulator.url, UNSURE, "[gate]\nlog_odds_tolerance = 1.5\n"))
    asked = ("-k", "recency", "--judge-dataset", "house-qa", "--judge-pairs", "60")
    assert project.run(*asked, "--judge-record", "missing", "--judge-report", "live").ret == 1
    ran = project.run(*asked, "--judge-report", "again")
    (row,) = project.report("again")["contrasts"]
    assert project.report("live")["contrasts"] == [row]
    assert (row["vsr"]["value"], row["vsr_status"], row["status"]) == (0.0, "PASS", "FAIL")
    assert row["log_odds_shift"]["value"] == pytest.approx(1.0, abs=1e-6)  # .5 for new, and .5 against old
    assert row["soft_vsr"]["value"] > 0
    assert lines_about(row["message"], "labelled new") == snapshot
    assert lines_about(ran.said, "2.7-fold") == snapshot
    rows = [json.loads(line) for line in (project.path / "again" / "judgments.jsonl").read_text().splitlines()]
    assert all(set(each["probability"]) == {"value", "low", "high", "elsewhere"} for each in rows)
    project.write(project.file, configuration(simulator.url, UNSURE))
    assert project.run(*asked).ret == 0  # shown, and not gated


@pytest.mark.slow
def test_brackets_that_explain_first_are_not_gated(
    project: Project, simulator: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """A simulated judge whose odds turn 2.7-fold explains before its [[A]]: the letter's probability decides nothing.

    Serially and on two workers, and when its recordings are replayed.
    """
    gate = "[gate]\nlog_odds_tolerance = 1.5\n"
    project.write(
        project.file, configuration(simulator.url, f'{UNSURE}\nverdict = "brackets"\ntemplate = "mt-bench"', gate)
    )
    asked = ("-k", "recency", "--judge-dataset", "house-qa", "--judge-pairs", "40")
    project.run(*asked, "--judge-record", "missing", "--judge-report", "live")
    ran = project.run(*asked, "-n", "2", "--judge-report", "again")
    (row,) = project.report("again")["contrasts"]
    assert project.report("live")["contrasts"] == [row]
    assert (row["log_odds_status"], row["log_odds_shift"]) == ("NOT_APPLICABLE", None)
    assert lines_about(row["not_applied"], "reasons before") == snapshot
    assert row["not_applied"] in ran.said


@pytest.mark.slow
def test_movable_follows_the_probabilities(project: Project, simulator: SimulatorServer) -> None:
    """A pair is close where its probability is between .1 and .9, whether or not any verdict differs."""
    project.write(project.file, configuration(simulator.url, UNSURE))
    shares = {}
    for dataset in ("house-qa", "house-close"):
        asked = (
            "-k",
            "placebo or recency",
            "--judge-dataset",
            dataset,
            "--judge-pairs",
            "30",
            "--judge-record",
            "missing",
        )
        project.run(*asked, "--judge-report", dataset)
        rows = {row["contrast"]: row["movable"] for row in project.report(dataset)["contrasts"]}
        (shares[dataset],) = {each["value"] for each in rows.values()}
        assert {each["n"] for each in rows.values()} == {30}
    assert shares["house-qa"] == 0.0
    assert shares["house-close"] > 0.8


@pytest.mark.slow
def test_repeats_of_a_judge_that_draws(
    project: Project, simulator: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """At a temperature above 0 the cue's arms are asked as often as --judge-repeats says; at 0 they are not."""
    asked = ("-k", "recency", "--judge-dataset", "house-close", "--judge-pairs", "20", "--judge-repeats", "3")
    for temperature, calls in ((0.0, 2 * 20), (0.7, 2 * 3 * 20)):
        project.write(
            project.file, configuration(simulator.url, f'model = "simulated-noisy"\ntemperature = {temperature}')
        )
        before = simulator.requests
        ran = project.run(*asked, "--judge-record", "all", "--judge-report", f"at-{temperature}", "--judge-force")
        assert simulator.requests - before == calls
    (still,), (drawn,) = (project.report(f"at-{each}")["contrasts"] for each in (0.0, 0.7))
    assert (still["log_odds_shift"], still["soft_vsr"]) == (None, None)
    assert drawn["soft_vsr"]["n"] == 20
    assert lines_about(ran.said, "every repeat") == snapshot
    assert "by shares of 3 repeats on 20 pairs" in drawn["message"]
    project.run(*asked, "--judge-report", "again")
    assert project.report("again")["contrasts"] == [drawn]


@pytest.mark.slow
def test_recordings_without_repeats_replay_as_they_did(
    project: Project, simulator: SimulatorServer, snapshot: SnapshotAssertion
) -> None:
    """Where no repeat of a cue contrast is recorded a replay judges its verdicts, and says so once."""
    project.write(project.file, configuration(simulator.url, 'model = "simulated-noisy"\ntemperature = 0.7'))
    asked = ("-k", "recency", "--judge-dataset", "house-close", "--judge-pairs", "40")
    project.run(*asked, "--judge-record", "missing", "--judge-report", "once")
    ran = project.run(*asked, "--judge-repeats", "3", "--judge-report", "thrice")
    assert project.report("thrice")["contrasts"] == project.report("once")["contrasts"]
    assert lines_about(ran.said, "are compared") == snapshot


INCOHERENT = """
def judge(prompt):
    number = 1 if "1 was written recently" in prompt else 2
    return '{"selected_response": %d, "reason": "Response 2 is better."}' % number
"""


def test_a_reason_against_its_verdict_is_counted_and_quoted(project: Project, snapshot: SnapshotAssertion) -> None:
    """A row counts the verdicts whose reason argues for the other response, and a failing item quotes them."""
    project.write("mine.py", INCOHERENT)
    path = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
    table = '[judges.ours]\nprovider = "python"\ntarget = "mine:judge"\n'
    project.write(project.file, path + in_pyproject(f'judge = "ours"\ncontrol = false\n{table}'))
    ran = project.run("-k", "recency", "--judge-dataset", "house-close", "--judge-pairs", "40", "--judge-report", "out")
    (row,) = project.report("out")["contrasts"]
    assert (row["status"], row["contradictions"]) == ("FAIL", 40)
    assert lines_about(ran.said, "40 of 80 verdicts", "in recency-new-old: chose 1") == snapshot
