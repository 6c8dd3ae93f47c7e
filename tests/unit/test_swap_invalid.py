"""A swap whose candidate gives invalid answers says that they decide; families whose contrasts share an arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.base import Answers, CheckInput
from judgefixtures.checks.swap import SwapCheck
from judgefixtures.checks.swap_decision import decide_swaps
from judgefixtures.config import SwapTable, build_config
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, contrasts
from judgefixtures.models.findings import Finding
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.swap_rows import DecisionRow
from judgefixtures.models.verdicts import Verdict
from judgefixtures.statistics.clusters import score_interval
from judgefixtures.statistics.power import approval_with_invalid, swap_power
from judgefixtures.swap import SwapAccuracy, SwapContrast, decide_swap

Choice = Literal[1, 2] | None
CONTRAST = contrasts("recency")[0]


def judgment(number: int, condition: Condition, choice: Choice) -> Judgment:
    """Return a judgment of a pair whose first response is the better one; without a choice it is a refusal."""
    verdict = Verdict(choice, "It is clear.") if choice else Verdict(None, "", "refusal")
    return Judgment(Pair(f"p{number}", f"{number}?", "A", "B", 1 + number % 2), condition, JudgeReply(verdict))  # type: ignore[arg-type]


def arms(conditions: Sequence[Condition], invalid: Sequence[int], wrong: int, n: int) -> list[tuple[Judgment, ...]]:
    """Return both arms of a judge that is right but for the last pairs, and refuses to judge some pairs."""

    def chosen(number: int, condition: Condition) -> Choice:
        gold = 1 + number % 2
        own = gold if number < n - wrong else 3 - gold
        said = 3 - own if condition == NO_CUE_SWAPPED else own
        return None if number in invalid else said  # type: ignore[return-value]

    return [tuple(judgment(number, each, chosen(number, each)) for number in range(n)) for each in conditions]


def findings(
    invalid: Sequence[int], baseline: Sequence[int] = (), wrong: int = 0, n: int = 100, **swap: Any
) -> list[Finding]:
    """Return the findings of all parts of a swap: a contrast, and accuracy."""
    judges = {name: {"provider": "openai", "model": "m"} for name in ("new", "old")}
    config = build_config({"judges": judges, "swap": swap})
    new, old = (load_judge(config.judges[name], name) for name in ("new", "old"))
    found = []
    for contrast, conditions in ((CONTRAST, (CONTRAST.x, CONTRAST.y)), (None, (NO_CUE, NO_CUE_SWAPPED))):
        ours, theirs = arms(conditions, invalid, wrong, n), arms(conditions, baseline, 0, n)
        case = CheckInput(new, "qa", tuple(each.pair for each in ours[0]), config, old)
        found.append(SwapCheck(contrast, 1).evaluate(case, Answers(tuple(ours)), Answers(tuple(theirs))))
    return found


def decided(*args: Any, **options: Any) -> DecisionRow:
    """Return the decision on such a swap."""
    (decision,) = decide_swaps(findings(*args, **options)) or ()
    return decision


@pytest.mark.parametrize("count", [3, 5])
def test_a_swap_says_that_invalid_answers_decide(count: int, snapshot: SnapshotAssertion) -> None:
    """The first reason counts them, names the decision without them, and the command that asks them again."""
    decision = decided(range(count))
    assert decision.status == "INCONCLUSIVE"
    said = decision.reasons[0]
    assert lines_about(said, "invalid answers") == snapshot
    assert "the decision is APPROVE." in said
    assert said.endswith("pytest -k swap --judge new --judge-baseline old --judge-record invalid")


def test_what_does_not_hang_on_them_says_nothing() -> None:
    """Neither an APPROVE, nor a candidate that is worse anyway, nor a baseline's invalid answers are told so."""
    assert decided(()).status == "APPROVE"
    worse = decided((0, 1, 2), wrong=6)
    assert worse.status == "INCONCLUSIVE"
    for decision in (worse, decided((), wrong=6), decided((), range(5))):
        assert not any("of the candidate count" in reason for reason in decision.reasons)


@given(st.sets(st.integers(0, 59), min_size=1, max_size=12))
@settings(deadline=None, max_examples=15)
def test_it_is_said_exactly_where_the_decision_would_differ(invalid: set[int]) -> None:
    """Whatever pairs are invalid: the decision that is told is that of the same swap without these pairs."""
    decision, other = decided(sorted(invalid), n=60), decided((), n=60 - len(invalid)).status
    told = [reason for reason in decision.reasons if "without these, the decision is" in reason]
    assert bool(told) == (decision.status not in ("APPROVE", other))
    assert all(f"is {other}." in each for each in told)


@pytest.mark.parametrize("looks", [[100], [60, 200]])
def test_more_invalid_answers_than_a_contrast_may_have_are_left_out(looks: list[int]) -> None:
    """Pairs that are left out are no invalid ones, of which a contrast has too many from 20% on; looks stay reached."""
    decision = decided(range(0, 200, 4), n=200, looks=looks)
    assert (decision.status, "the decision is APPROVE." in decision.reasons[0]) == ("REJECT", True)


def test_the_preflight_knows_what_invalid_answers_cost() -> None:
    """With 2% of them in the candidate alone equal judges are approved less often than without any."""
    for n in (50, 100, 150, 200, 300, 400, 1000):
        for chance, discordance in zip(approval_with_invalid(n), (0.05, 0.12, 0.18), strict=True):
            power = swap_power(n, discordance, 0.05)
            assert power is not None
            assert 0 <= chance < power.approve_equal


# --- families with a shared arm ----------------------------------------------------------------------------------

LABELS = ("retrained", "customers", "colleague")
grades = st.lists(st.tuples(*[st.booleans()] * 8), min_size=25, max_size=60)


def family(rows: Sequence[Sequence[bool]]) -> tuple[list[SwapContrast], SwapAccuracy]:
    """Return the cells of framing: grades of three arms and the neutral one, of candidate and baseline."""
    ids, cells = [f"e{at}" for at in range(len(rows))], []
    for number, label in enumerate(LABELS):
        both = [[(2 - row[at + number], 2 - row[at + 3]) for row in rows] for at in (0, 4)]
        nothing = [False] * len(rows)
        cells.append(SwapContrast("framing", f"framing-{label}-neutral", "qa", ids, *both, nothing, nothing))  # type: ignore[arg-type]
    right = [1.0] * len(rows)
    return cells, SwapAccuracy(
        "qa", ids, right, right, ["pass", "fail"] * (len(rows) // 2) + ["pass"] * (len(rows) % 2)
    )


@given(grades)
@settings(deadline=None, max_examples=30)
def test_a_family_is_the_mean_of_each_example(rows: list[tuple[bool, ...]]) -> None:
    """Its estimate and interval are those of each example's mean of the arms less its neutral arm."""
    cells, accuracy = family(rows)
    found = decide_swap(cells, [accuracy], SwapTable(families=["framing"]))
    component = next(each for each in found.components if each.kind == "abs-vsr" and each.role == "primary")
    every = np.array(rows, dtype=float)
    moves = [every[:, at : at + 3] - every[:, at + 3 : at + 4] for at in (0, 4)]
    signs = np.where(moves[0].sum(axis=0) >= 0, 1, -1)
    beyond = abs(component.estimate.value - (signs * moves[0] - moves[1]).mean()) < 1e-9
    against = [-1 if each.sum() < 0 else 1 for each in moves[1].T]
    if beyond:  # else the baseline demonstrably moves against the declared direction
        scores = ((signs * moves[0] - moves[1]).mean(axis=1)).tolist()
        expected = score_interval(scores, half_range=max(1.0, *map(abs, scores)))
        if component.status != "FAIL":
            assert (component.estimate.low, component.estimate.high) == pytest.approx((expected.low, expected.high))
    else:
        assert -1 in against or component.status == "FAIL"


def test_one_arm_may_move_the_whole_family() -> None:
    """What the shared arm may do to every contrast at once is within the range of the test: too few do not pass."""
    rows = [(True, True, True, True) * 2] * 22
    cells, accuracy = family(rows)
    found = decide_swap(cells, [accuracy], SwapTable(families=["framing"]))
    component = next(each for each in found.components if each.kind == "abs-vsr" and each.role == "primary")
    # With the range of independent contrasts 22 examples would pass a margin of .10, which a tenth of all move
    # without being among 22 in .9 ** 22 = .10 of runs.
    assert component.status != "PASS"
