"""The control of judges of one response: where the line lies, and that nothing invalid helps anybody over it."""

from __future__ import annotations

import pytest

from judgefixtures.checks.grader_control import GradeControl, ScoreControl
from judgefixtures.config import ControlTable
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair, as_examples
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Choice, Verdict
from judgefixtures.statistics import Status

RIGHT, PASSES_BOTH, FAILS_BOTH = (1, 2), (1, 1), (2, 2)
Both = tuple[Choice | None, Choice | None]  # of the right answer, and of the wrong one: 1 passed, 2 failed


def two(number: int, twins: bool) -> tuple[Example, ...]:
    """Return a right answer and a wrong one: a pair of twins, or two examples that have nothing to do with each other."""
    if twins:
        return as_examples(Pair(f"p{number}", "Why?", "So.", "Not so.", gold=1))
    return (
        Example(f"a{number}", "Why?", f"So {number}.", label="pass"),
        Example(f"b{number}", "Why?", f"Not so {number}.", label="fail"),
    )


def graded(grades: list[Both], *, twins: bool) -> ControlRow:
    """Return the control of a judge that graded so."""
    arm = [
        Judgment(
            example,
            SingleResponseCondition(),
            JudgeReply(Verdict(selected, "A reason.", None if selected else "no-json")),
        )
        for number, both in enumerate(grades)
        for example, selected in zip(two(number, twins), both, strict=True)
    ]
    return GradeControl().decide("mine", "own", [arm], ControlTable())


def scored(scores: list[tuple[float | None, float | None]]) -> ControlRow:
    """Return the control of a judge that scored right and wrong answers so, without a mark."""
    arm = [
        Judgment(
            example,
            SingleResponseCondition(),
            JudgeReply(Verdict(None, "", None, tie=True, scores=None if score is None else (score,))),
        )
        for number, both in enumerate(scores)
        for example, score in zip(two(number, twins=False), both, strict=True)
    ]
    return ScoreControl().decide("mine", "own", [arm], ControlTable())


@pytest.mark.parametrize(
    ("twins", "told", "status"),
    [(True, 11, Status.FAIL), (True, 12, Status.PASS), (False, 22, Status.FAIL), (False, 23, Status.PASS)],
)
def test_where_the_line_lies(twins: bool, told: int, status: Status) -> None:
    """The lower bound of J has to exceed .25: 12 of 30 twins told apart do it, or 23 of 30 right on either side."""
    rest = [PASSES_BOTH] * (30 - told) if twins else [(2, 1)] * (30 - told)
    assert graded([RIGHT] * told + rest, twins=twins).status == status


@pytest.mark.parametrize("twins", [True, False])
def test_an_invalid_grade_is_wrong(twins: bool) -> None:
    """20 right and 10 that nobody can read are TPR and TNR of two thirds, and a J of one third."""
    found = graded([RIGHT] * 20 + [(None, None)] * 10, twins=twins)
    assert found.tpr is not None
    assert found.tnr is not None
    assert found.youden is not None
    assert found.tpr.value == found.tnr.value == pytest.approx(2 / 3)
    assert found.youden.value == pytest.approx(1 / 3)


@pytest.mark.parametrize("same", [PASSES_BOTH, FAILS_BOTH], ids=["passes", "fails"])
def test_who_says_the_same_of_all_reads_nothing(same: Both) -> None:
    """J is 0 of who passes everything, and of who fails everything."""
    found = graded([same] * 30, twins=True)
    assert found.status == Status.FAIL
    assert found.youden is not None
    assert found.youden.value == 0


@pytest.mark.parametrize(("above", "status"), [(18, Status.FAIL), (20, Status.PASS)])
def test_scores_count_as_often_as_there_are_answers(above: int, status: Status) -> None:
    """Of 30 right answers and 30 wrong ones 18 above all wrong ones show nothing: they are no 900 comparisons."""
    assert scored([(8.0, 3.0)] * above + [(1.0, 3.0)] * (30 - above)).status == status


def test_a_share_of_whole_units_is_not_rounded_down() -> None:
    """Where exactly so many of the units are above, so many count: 15 of 22 is no 14."""
    found = scored([(8.0, 3.0)] * 15 + [(1.0, 3.0)] * 7)
    assert ", lower bound 0.485" in found.message


def test_an_invalid_score_is_below_all_others() -> None:
    """Right answers without a score are above no wrong one."""
    assert " in 0.00 of all combinations" in scored([(None, 3.0)] * 30).message
