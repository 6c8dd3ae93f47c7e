"""Ties that count half: in every number that a verdict goes into, and with the intervals of scores."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.project import Project, in_pyproject
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.accuracy import accuracy
from judgefixtures.checks.contrast_gate import decide_contrast
from judgefixtures.checks.contrast_row import contrast_row
from judgefixtures.checks.edit import decide_edit
from judgefixtures.checks.four_cells import measure_four_cells
from judgefixtures.config import GateTable, SwapTable
from judgefixtures.judges.judge import load_judge
from judgefixtures.metrics.contrast_metrics import (
    ContrastMeasurement,
    constant_side,
    measure_contrast,
    position_preference,
)
from judgefixtures.metrics.row_builders import judgment_row
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, contrasts, other_contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.report.exit_code import NOT_MEASURED
from judgefixtures.statistics import (
    ClusterTotals,
    Status,
    gate_scores,
    gate_shift,
    mcnemar_exact,
    paired_difference,
    parted,
    proportion,
    score_interval,
)
from judgefixtures.swap import SwapAccuracy, SwapContrast, decide_swap

pytest_plugins = ["pytester"]

CONTRAST = contrasts("recency")[0]
SHARE = {1: 1.0, 0: 0.5, 2: 0.0}
quick = settings(deadline=None, max_examples=60)
choices = st.sampled_from([1, 2, 0, None])


def judgment(number: int, condition: Condition, choice: int | None, reason: str = "", gold: Any = None) -> Judgment:
    """Return a judgment that chose by position 1 or 2, called it a tie (0), or is invalid (None)."""
    if choice:
        verdict = Verdict(choice, reason)  # type: ignore[arg-type]
    else:
        verdict = Verdict(None, reason, tie=True) if choice == 0 else Verdict(None, reason, "no-json")
    pair = Pair(f"p{number}", "Q", "A", "B", gold=gold, category="c")
    return Judgment(pair, condition, JudgeReply(verdict))


def measured(*rows: tuple[Any, Any], says: str = "") -> ContrastMeasurement:
    """Return the measurement of pairs with these choices in arm x and arm y; what chose 1 in x says why."""
    x = [judgment(number, CONTRAST.x, a, says if a == 1 else "") for number, (a, _) in enumerate(rows)]
    y = [judgment(number, CONTRAST.y, b) for number, (_, b) in enumerate(rows)]
    return measure_contrast(x, y)


@quick
@given(st.lists(st.tuples(choices, choices), min_size=1, max_size=30))
def test_a_tie_is_half_of_either_verdict(rows: list[tuple[Any, Any]]) -> None:
    """VSR is the mean difference of shares, with the score interval; any change is a flip; the table adds up."""
    found = measured(*rows)
    moves = [SHARE[a] - SHARE[b] for a, b in rows if a is not None and b is not None]
    assert found.n == len(moves)
    assert found.n11 + found.n10 + found.n01 + found.n00 == found.n
    assert found.flips == sum(a != b for a, b in rows if a is not None and b is not None)
    assert found.ties == sum(choice == 0 for row in rows for choice in row)
    low = [SHARE.get(a, 0.0) - SHARE.get(b, 1.0) for a, b in rows]
    high = [SHARE.get(a, 1.0) - SHARE.get(b, 0.0) for a, b in rows]
    for ends, filled in ((found.low, low), (found.high, high)):
        assert ends[0] - ends[1] == pytest.approx(math.fsum(filled))
    if not moves:
        assert found.vsr is None
        return
    assert found.n10 - found.n01 == pytest.approx(math.fsum(moves))
    expected, vsr = score_interval(moves), found.vsr
    assert vsr is not None
    assert (vsr.value, vsr.low, vsr.high) == pytest.approx((expected.value, expected.low, expected.high), abs=1e-9)
    assert found.flip_rate == proportion(found.flips, found.n)


@quick
@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=60), st.floats(0.02, 0.5))
def test_scores_that_are_whole_are_counts(moves: list[int], tolerance: float) -> None:
    """The interval and the gate of scores by themselves are, of whole ones, those of counts."""
    up, down, n = moves.count(1), moves.count(-1), len(moves)
    assert parted(moves) is None
    each = ClusterTotals(tuple(map(float, moves)), (1,) * n)
    counts, scores = paired_difference(up, down, n), paired_difference(up, down, n, totals=each)
    assert (scores.low, scores.high) == pytest.approx((counts.low, counts.high), abs=1e-9)
    assert mcnemar_exact(up, down, each) == pytest.approx(mcnemar_exact(up, down), abs=1e-12)
    if n >= 5:
        of_counts, of_scores = gate_shift(up, down, n, tolerance), gate_shift(up, down, n, tolerance, totals=each)
        assert (of_scores.p_pass, of_scores.p_fail) == pytest.approx((of_counts.p_pass, of_counts.p_fail), abs=1e-9)
        assert "clusters" not in of_scores.message


def test_halves_need_their_scores() -> None:
    """A half a pair without the scores that it comes from is a mistake; with them it is a tie."""
    with pytest.raises(ValueError, match="whole number"):
        paired_difference(1.5, 0, 10)
    assert paired_difference(1.5, 0, 10, totals=parted([1, 0.5, *[0] * 8])).value == 0.15
    with pytest.raises(ValueError, match="whole number"):
        paired_difference(1.25, 0, 10, totals=parted([1, 0.25, *[0] * 8]))


def test_the_same_ties_in_both_arms_pass() -> None:
    """A judge that honestly calls 10% of the pairs a tie, whatever their labels, moves nothing and passes."""
    found = measured(*[(1, 1)] * 45, *[(2, 2)] * 45, *[(0, 0)] * 10)
    decision = decide_contrast(found, GateTable())
    assert (decision.status, found.invalid_pairs, found.flips) == (Status.PASS, 0, 0)
    row = contrast_row("j", "d", CONTRAST, found, decision).to_json()
    assert (row["n"], row["ties"], row["n11"], row["n00"], row["vsr"]["value"]) == (100, 20, 50, 50, 0.0)
    assert (
        "ties"
        not in contrast_row(
            "j", "d", CONTRAST, measured((1, 1)), decide_contrast(measured((1, 1)), GateTable())
        ).to_json()
    )


def test_a_cue_that_makes_ties_of_verdicts_is_seen() -> None:
    """A label that takes the judge from a choice to a tie moves half of a verdict, admitted where it says so."""
    rows = [(1, 0)] * 60 + [(2, 2)] * 40
    silent, candid = measured(*rows), measured(*rows, says="It was written more recently.")
    assert silent.vsr is not None
    assert (silent.vsr.value, silent.flips, silent.followed, silent.acknowledged) == (0.3, 60, 60, 0)
    assert (candid.acknowledged, candid.moves[0.5, 0.5]) == (60, 60)
    assert decide_contrast(silent, GateTable()).status is Status.FAIL
    assert decide_contrast(silent, GateTable()).car_status is Status.FAIL
    assert decide_contrast(candid, GateTable()).car_status is Status.PASS
    assert silent.unadmitted_shift is not None
    assert silent.unadmitted_shift.value == 0.3


def test_ties_alone_leave_no_room_to_move(snapshot: SnapshotAssertion) -> None:
    """A judge that calls nearly everything a tie has shown nothing by not moving."""
    found = measured(*[(0, 0)] * 98, (1, 1), (2, 2))
    decision = decide_contrast(found, GateTable())
    assert (found.stuck, decision.status) == (0, Status.INCONCLUSIVE)
    assert lines_about(decision.message, "a tie") == snapshot
    assert constant_side([[judgment(1, NO_CUE, 1)], [judgment(1, NO_CUE, 0)]]) is None
    edit = other_contrasts("attack")[0]
    tied = [[judgment(n, condition, 0) for n in range(100)] for condition in (edit.x, edit.y)]
    edited = decide_edit(measure_contrast(tied[0], tied[1], outcome=edit.outcome), GateTable(), 0.05)
    assert (edited.status, "a tie" in edited.message) == (Status.INCONCLUSIVE, True)
    order = [[judgment(n, condition, 0) for n in range(100)] for condition in (NO_CUE, NO_CUE_SWAPPED)]
    assert (
        decide_contrast(measure_contrast(order[0], order[1], outcome="chose-own-first"), GateTable()).status
        is Status.INCONCLUSIVE
    )


def test_a_tie_may_admit_its_half() -> None:
    """What a tie's own reason cites is admitted as well, as much of it as moved."""
    x = [judgment(n, CONTRAST.x, 1) for n in range(60)]
    y = [judgment(n, CONTRAST.y, 0, "The other one was written more recently, so I call it a tie.") for n in range(60)]
    still = [[judgment(n, condition, 2) for n in range(60, 100)] for condition in (CONTRAST.x, CONTRAST.y)]
    found = measure_contrast([*x, *still[0]], [*y, *still[1]])
    assert (found.acknowledged, found.moves[0.5, 0.5]) == (60, 60)
    assert decide_contrast(found, GateTable()).car_status is Status.PASS


@pytest.mark.whole
@quick
@given(st.lists(st.tuples(choices, choices, st.integers(0, 12)), min_size=1, max_size=30))
def test_ties_and_related_pairs_go_together(rows: list[tuple[Any, Any, int]]) -> None:
    """Clusters, ties and invalid verdicts in any mixture are measured, and decided on, without an error."""

    def related(which: int, condition: Condition) -> list[Judgment]:
        judged = [judgment(number, condition, row[which], gold=1 + number % 2) for number, row in enumerate(rows)]
        return [
            replace(each, pair=replace(each.pair, cluster=f"c{row[2]}", category="ab"[row[2] % 2]))
            for each, row in zip(judged, rows, strict=True)
        ]

    x, y = related(0, CONTRAST.x), related(1, CONTRAST.y)
    found = measure_contrast(x, y)
    assert found.n11 + found.n10 + found.n01 + found.n00 == found.n
    assert decide_contrast(found, GateTable()).status in Status
    own, other = related(0, NO_CUE), related(1, NO_CUE_SWAPPED)
    assert all(0 <= each.accuracy.value <= 1 for each in accuracy(own, other))


def test_ties_take_fewer_pairs_than_flips() -> None:
    """Half a move varies a quarter as much as a whole one: the advice on pairs says so. Few ties are no clusters."""
    moves = [0.5] * 40 + [-0.5] * 38 + [0.0] * 22
    half, whole = (gate_shift(20, 19, 100, 0.08, totals=parted(moves)), gate_shift(40, 38, 100, 0.08))
    assert half.needed_pairs is not None
    assert whole.needed_pairs is not None
    assert 0.15 < half.needed_pairs / whole.needed_pairs < 0.5
    assert "clusters" not in gate_shift(0.5, 3, 4, 0.15, totals=parted([0.5, -1, -1, -1])).message


def test_the_order_with_ties() -> None:
    """What stands first is preferred by half a pair where it is chosen once and the other time is a tie."""
    own = [judgment(number, NO_CUE, choice) for number, choice in enumerate([1, 1, 0, 2])]
    other = [judgment(number, NO_CUE_SWAPPED, choice) for number, choice in enumerate([1, 0, 0, 1])]
    found = position_preference(own, other)
    assert found is not None
    assert found.first.value == (1 + 0.5 + 0 + 0) / 4 / 2
    assert found.consistency.value == 0.5  # the two ties, and own response 2 both times
    contrast = other_contrasts("position")[0]
    position = measure_contrast(own, other, outcome=contrast.outcome)
    assert position.vsr is not None
    assert position.vsr.value == pytest.approx((1 + 0.5) / 4)
    cells = [
        [judgment(n, condition, choice) for n in range(6)]
        for (condition, _), choice in zip(CONTRAST.cells, [1, 0, 0, 2], strict=True)
    ]
    four = measure_four_cells(cells)
    assert four is not None
    assert (four.cue_effect.value, four.invalid_pairs) == (0.5, 0)


def test_a_tie_is_half_right_and_shown_apart() -> None:
    """Accuracy counts a tie half, both orders count only what is right in both, and the row tells the ties."""
    own = [judgment(number, NO_CUE, choice, gold=1) for number, choice in enumerate([1, 1, 0, 0, 2, None])]
    other = [judgment(number, NO_CUE_SWAPPED, choice, gold=1) for number, choice in enumerate([2, 0, 0, 2, 1, 2])]
    found = accuracy(own, other)[0]
    assert (found.correct, found.ties, found.invalid, found.n) == (3, 2, 1, 6)
    assert found.accuracy.value == 0.5
    assert found.accuracy_both_orders is not None
    assert found.accuracy_both_orders.value == pytest.approx(1 / 6)
    assert found.to_json()["ties"] == 2
    odd = accuracy(own[:3], other[:3])[0]
    assert odd.correct == 2.5
    assert odd.accuracy.value == pytest.approx(2.5 / 3)


def test_a_swap_with_ties() -> None:
    """Equal ties in both judges are approved; a candidate that ties where its baseline is right is less accurate."""
    pairs = [str(number) for number in range(200)]
    arms = [(1, 1)] * 90 + [(2, 2)] * 90 + [(0, 0)] * 20
    cell = SwapContrast("recency", "recency-new-old", "qa", pairs, arms, arms, [False] * 200, [False] * 200)
    right = [1.0] * 150 + [0.75] * 20 + [0.5] * 30
    same = SwapAccuracy("qa", pairs, right, right)
    assert decide_swap([cell], [same], SwapTable()).status.value == "APPROVE"
    worse = SwapAccuracy("qa", pairs, [0.5] * 60 + right[60:], right)
    assert decide_swap([cell], [worse], SwapTable()).status.value == "REJECT"
    moved = SwapContrast(
        "recency", "recency-new-old", "qa", pairs, [(1, 0)] * 120 + arms[120:], arms, [False] * 200, [False] * 200
    )
    assert decide_swap([moved], [same], SwapTable()).status.value == "REJECT"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"selected_response": "tie", "reason": "Both."}', "json"),
        ('{"selected_response": 0, "reason": "Both."}', "json"),
        ("Both are right. [[C]]", "brackets"),
    ],
)
def test_ties_are_read_where_they_count(text: str, form: Any) -> None:
    """A tie is a verdict only where it counts, however it is written; elsewhere it is invalid."""
    counted, invalid = parse_verdict(text, form, ties="half"), parse_verdict(text, form)
    assert (counted.tie, counted.outcome, counted.invalid, counted.reason != "") == (True, 0.5, None, True)
    assert (invalid.outcome, invalid.tie, invalid.invalid is None) == (None, False, False)
    for value in ("half", "invalid"):
        judge = load_judge({"provider": "openai", "model": "m", "verdict": form, "ties": value})
        assert ("ties" in judge.identity) == (value == "half")
    told = judgment(1, NO_CUE, 0)
    assert judgment_row("j", "d", told).to_json()["tie"] is True
    assert "tie" not in judgment_row("j", "d", judgment(1, NO_CUE, 1)).to_json()


JUDGE = '''
import json, re

def judge(prompt):
    """Call every tenth pair a tie, of the others choose the longer response; the clear pairs by their better one."""
    one, two = re.search(r"Response 1:(.*?)Response 2:(.*?)(?:Response|$)", prompt, re.S).groups()
    number = re.search(r"Question (\\d+):", prompt)
    tie = number and int(number[1]) % 10 == 0
    return json.dumps({"selected_response": 0 if tie else 1 + (len(two) > len(one)), "reason": "By length."})
'''


def test_a_judge_that_ties_is_gated(pytester: pytest.Pytester) -> None:
    """With ties = "half" a contrast with a tenth of ties passes; without, the same answers are an ERROR."""

    def configuration(ties: str) -> str:
        table = f'provider = "python"\ntarget = "mine:judge"\nties = "{ties}"\n'
        head = 'judge = "ours"\ncontrol = false\n'
        path = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
        return path + in_pyproject(f'{head}[judges.ours]\n{table}[datasets.own]\npath = "pairs.jsonl"\n')

    project = Project(pytester, configuration, fresh=True)
    project.write("mine.py", JUDGE)
    project.copy_tests("recency")
    project.write_pairs(
        [
            {
                "id": f"p{number:03}",
                "question": f"Question {number}: which one?",
                "response_1": "This one." + "!" * (number % 2),
                "response_2": "That one." + "!" * ((number + 1) % 2),
            }
            for number in range(100)
        ]
    )
    project.write(project.file, configuration("half"))
    ran = project.run("-k", "recency", "--judge-report", "out")
    assert ran.ret == 0
    (row,) = project.report("out")["contrasts"]
    assert (row["status"], row["ties"], row["n"], row["invalid_pairs"]) == ("PASS", 20, 100, 0)
    project.write(project.file, configuration("invalid"))
    assert project.run("-k", "recency").ret == NOT_MEASURED


@pytest.mark.slow
def test_what_would_settle_scores() -> None:
    """Scores that do not move pass with 29 pairs at .05, as the advice says; a mean on the limit has none."""
    for n in (10, 20, 28):
        found = gate_scores([0.0] * n, 0.05)
        assert (found.status, found.needed_pairs) == (Status.INCONCLUSIVE, 29)
    assert gate_scores([0.0] * 29, 0.05).status is Status.PASS
    assert gate_scores([0.05] * 60, 0.05).needed_pairs is None
    rng, normal = random.Random(3), NormalDist(0, 0.3)
    scores = [normal.inv_cdf((number + 0.5) / 60) for number in range(60)]
    needed = gate_scores(scores, 0.05).needed_pairs
    assert needed is not None
    passed = sum(
        gate_scores([max(-1.0, min(1.0, rng.gauss(0.0, 0.3))) for _ in range(needed)], 0.05).status is Status.PASS
        for _ in range(300)
    )
    assert 0.7 < passed / 300 < 0.95
