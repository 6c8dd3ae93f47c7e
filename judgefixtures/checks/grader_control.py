"""Control of a single-response judge by twins or labelled examples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from judgefixtures.config import ControlTable
from judgefixtures.judges.mode import JudgeMode
from judgefixtures.metrics.contrast_metrics import cluster_scores
from judgefixtures.metrics.label_agreement import agrees_with_label
from judgefixtures.models.agreement_rows import human_label
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import LABELS, Pair, are_examples, count_independent, units_per_pair
from judgefixtures.models.replies import Arm
from judgefixtures.statistics.agreement import FEWEST_OF_A_CLASS
from judgefixtures.statistics.estimate import Estimate, Status, format_estimate, format_share
from judgefixtures.statistics.proportions import paired_difference, proportion

from . import control
from .base import SampleRequirement
from .messages import MESSAGES

COIN = "its grades look random, or depend on something other than correctness"
UNRELATED = "its scores hardly depend on the labels"


class GraderControl(control.ControlTrial):
    """Control of a single-response judge with equal numbers of both labels."""

    arms: ClassVar[tuple[Arm, ...]] = ((SingleResponseCondition(), 0),)
    count: ClassVar[str] = "{n} examples of {dataset}, half of them labelled fail"
    known: ClassVar[str] = "labelled examples of {dataset}"
    besides: ClassVar[str] = "clear examples. Set dataset in {table} to clear examples that the log answers"

    def choose(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return the first examples of both labels, keeping twins together."""
        sides = [[each for each in pairs if human_label(each) == label][:wanted] for label in LABELS]
        fewest = min(map(len, sides))
        kept = {each.id for members in sides for each in members[:fewest]}
        return tuple(each for each in pairs if each.id in kept)

    def need(self, judge: str, dataset: str, chosen: Sequence[Pair], table: ControlTable) -> SampleRequirement | None:
        """Return the missing labels."""
        each = len(chosen) // 2
        remedy = f"label more examples, or set dataset in {control.TABLE}"
        need = LabelRequirement(
            f"control of {judge}", dataset, each, FEWEST_OF_A_CLASS, "", remedy, "examples of each label"
        )
        return need if each < FEWEST_OF_A_CLASS else None

    def habit(self, answers: Sequence[Judgment]) -> str:
        """Return the constant grade, error or failure, or ""."""
        return constant_grade(answers)


@dataclass(frozen=True, slots=True)
class LabelRequirement(SampleRequirement):
    """The labels that a control needs."""

    def __str__(self) -> str:
        return MESSAGES.too_few_of_a_label(self.what, self.dataset, self.at_least, self.n)


class GradeControl(GraderControl):
    """Control of grades by Youden's J = TPR + TNR - 1.

    J must exceed half of the threshold.
    """

    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> ControlRow:
        """Return PASS if J's one-sided 95% lower bound exceeds the limit.

        Invalid grades are wrong.
        """
        (arm,), limit = arms, table.threshold / 2
        right = [judgment.selected == 1 for judgment in arm if human_label(judgment.pair) == "pass"]
        caught = [judgment.selected == 2 for judgment in arm if human_label(judgment.pair) == "fail"]
        n, youden = len(right), _youden(arm, right, caught)
        tpr, tnr = (proportion(sum(side), n, control.CONFIDENCE, "exact") for side in (right, caught))
        lost = sum(judgment.selected is None for judgment in arm)
        text = f"passed {sum(right)} of {n} right answers and failed {sum(caught)} of {n} wrong ones"
        text += f" ({lost} of {len(arm)} grades {'is' if lost == 1 else 'are'} invalid)" if lost else ""
        row = replace(_failed(judge, dataset, n), tpr=tpr, tnr=tnr, youden=youden)
        text += f", J {format_estimate(youden)}"
        return _control_row(row, arm, text, youden.low, limit, _cause(arm))


def _youden(arm: Sequence[Judgment], right: Sequence[bool], caught: Sequence[bool]) -> Estimate:
    if units_per_pair([judgment.pair for judgment in arm]) > 1:
        both = list(zip(right, caught, strict=True))
        told_apart, turned = sum(a and b for a, b in both), sum(not a and not b for a, b in both)
        return paired_difference(told_apart, turned, len(both), control.CONFIDENCE)
    graded = [(judgment, float(agrees_with_label(judgment))) for judgment in arm]
    correct = int(sum(score for _, score in graded))
    rate = proportion(correct, len(arm), control.CONFIDENCE, "exact", cluster_scores(arm)(graded))
    return Estimate(2 * rate.value - 1, 2 * rate.low - 1, 2 * rate.high - 1, control.CONFIDENCE, len(right))


class ScoreControl(GraderControl):
    """Control of scores: examples labelled pass must score higher."""

    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> ControlRow:
        """Return PASS if the one-sided 95% lower bound exceeds the threshold.

        Mann-Whitney statistic (Birnbaum and Klose 1957). Invalid scores are wrong.
        """
        (arm,) = arms
        passed, failed = ([each for each in arm if human_label(each.pair) == label] for label in LABELS)
        above = sum(_above(a, b) for a in passed for b in failed) / (len(passed) * len(failed))
        units = min(count_independent([each.pair for each in side]) for side in (passed, failed))
        whole = math.floor(round(above * units, 9))  # a share of a whole number of units may fall short by rounding
        share = proportion(whole, units, control.CONFIDENCE, "exact")
        text = f"scored right answers above wrong ones in {format_share(above)} of all combinations (ties count half)"
        low = f", lower bound {format_share(share.low)}"
        unread = sum(judgment.verdict.invalid is not None for judgment in arm) > (1 - control.TELLING) * len(arm)
        cause = control.describe_invalid(arm) if unread else UNRELATED
        row = _failed(judge, dataset, len(passed))
        return _control_row(row, arm, text + low, share.low, table.threshold, cause)


def _above(right: Judgment, wrong: Judgment) -> float:
    a, b = right.verdict.scores, wrong.verdict.scores
    return 0.0 if a is None or b is None else 1.0 if a > b else 0.5 if a == b else 0.0


def control_trial(kind: JudgeMode, pairs: Sequence[Pair]) -> control.ControlTrial:
    """Return the control for pairs or examples."""
    if kind.grades:
        return GradeControl()
    return ScoreControl() if are_examples(pairs) else control.PairwiseControlTrial()


def _failed(judge: str, dataset: str, n: int) -> ControlRow:
    row = ControlRow(judge=judge, dataset=dataset, n=n, status=Status.FAIL)
    return replace(row, right_both_orders=None, first_selected=None)


def _control_row(
    row: ControlRow, arm: Sequence[Judgment], text: str, low: float, limit: float, cause: str
) -> ControlRow:
    if low > limit:
        return replace(row, status=Status.PASS, message=f"{text} (lower bound above {format_share(limit)})")
    return control.failed_control(row, f"{text} (the lower bound must exceed {format_share(limit)})", cause, arm)


def _cause(arm: Sequence[Judgment]) -> str:
    valid = _valid(arm)
    wrong, many_lost = sum(map(_is_wrong, valid)), len(valid) < control.TELLING * len(arm)
    # Where the valid grades are right more often than wrong, the others are what is wrong.
    coin = "" if many_lost and proportion(wrong, len(valid) or 1, control.CONFIDENCE, "exact").high < 0.5 else COIN
    return control.describe_with_invalid(_habit_of_valid(valid) or coin, len(valid), arm)


def constant_grade(arm: Sequence[Judgment]) -> str:
    """Return what nearly all grades share, or ""."""
    valid = _valid(arm)
    return control.describe_with_invalid(_habit_of_valid(valid), len(valid), arm)


def _valid(arm: Sequence[Judgment]) -> list[Judgment]:
    return [judgment for judgment in arm if judgment.selected is not None]


def _is_wrong(judgment: Judgment) -> bool:
    return human_label(judgment.pair) == ("fail" if judgment.selected == 1 else "pass")


def _habit_of_valid(valid: Sequence[Judgment]) -> str:
    for selected, does in ((1, "passed"), (2, "failed")):
        count = sum(judgment.selected == selected for judgment in valid)
        if count >= control.TELLING * len(valid):
            return f"the judge {does} {count} of {len(valid)} answers, right or wrong"
    wrong = sum(map(_is_wrong, valid))
    if wrong >= control.TELLING * len(valid):
        return f"the judge graded {wrong} of {len(valid)} answers the wrong way round; check pass_label and fail_label"
    return ""
