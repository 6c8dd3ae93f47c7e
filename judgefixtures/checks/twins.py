"""The control of a judge of one response: what is right passes, and what was spoiled fails.

It is asked about pairs of twins, an answer and the same one made wrong in a few words, each by itself; or about some
labelled examples, as many that people pass as that they fail. One that passes everything, fails everything, tosses
a coin or counts words tells them apart no better than chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from judgefixtures.asking.kinds import Kind
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks.control import (
    CONFIDENCE,
    TABLE,
    TELLING,
    Choosing,
    Control,
    Trial,
    invalid_said,
    unpassed,
    with_invalid,
)
from judgefixtures.checks.protocol import Need
from judgefixtures.config import ControlTable
from judgefixtures.material.contrasts import Single
from judgefixtures.material.pairs import LABELS, Example, Pair, independent, is_of_examples, share
from judgefixtures.measures.metrics import by_cluster
from judgefixtures.numbers.agreement import FEWEST_OF_A_CLASS
from judgefixtures.numbers.estimate import Estimate, Status, bare, describe
from judgefixtures.numbers.proportions import paired_difference, proportion

COIN = "its grades are like the toss of a coin, or follow something else than whether an answer is right"


class Labelled(Trial):
    """Of a judge of one response: as many that people pass as that they fail, each by itself."""

    arms: ClassVar[tuple[Arm, ...]] = ((Single(), 0),)
    count: ClassVar[str] = "{n} examples of {dataset}, half of them labelled fail"
    known: ClassVar[str] = "labelled examples of {dataset} itself"
    besides: ClassVar[str] = "clear ones: set dataset in {table} to some that its log has answers about"

    def choose(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return the first examples that people pass, and as many that they fail, in their order.

        Those of a pair of twins, of which one is right, stay together.
        """
        sides = [[each for each in pairs if _label(each) == label][:wanted] for label in LABELS]
        fewest = min(map(len, sides))
        kept = {each.id for members in sides for each in members[:fewest]}
        return tuple(each for each in pairs if each.id in kept)

    def need(self, judge: str, dataset: str, chosen: Sequence[Pair], table: ControlTable) -> Need | None:  # noqa: ARG002
        """Return the labels that are lacking."""
        each = len(chosen) // 2
        remedy = f"label more, or name a dataset that has them in {TABLE} dataset"
        need = NeedOfLabels(
            f"control of {judge}", dataset, each, FEWEST_OF_A_CLASS, "", remedy, "examples of each label"
        )
        return need if each < FEWEST_OF_A_CLASS else None

    def habit(self, answers: Sequence[Judgment]) -> str:
        """Return the grade, the wrong one or the lack of any that nearly all answers have in common."""
        return habit(answers)


@dataclass(frozen=True, slots=True)
class NeedOfLabels(Need):
    """What it takes to tell whether a judge of one response reads."""

    def __str__(self) -> str:
        return (
            f"{self.what} on {self.dataset}: it takes at least {self.at_least} examples labelled pass and as many "
            f"labelled fail to tell whether it reads, and one of these labels stands on {self.n}"
        )


class Grading(Labelled):
    """Of one that says pass or fail: Youden's J = TPR + TNR - 1, of which half of the threshold has to be exceeded."""

    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> Control:
        """Return whether it reads: PASS where the one-sided 95% lower bound of J exceeds its limit.

        An invalid grade is a wrong one.
        """
        (arm,), limit = arms, table.threshold / 2
        right = [judgment.selected == 1 for judgment in arm if _label(judgment.pair) == "pass"]
        caught = [judgment.selected == 2 for judgment in arm if _label(judgment.pair) == "fail"]
        n, youden = len(right), _youden(arm, right, caught)
        tpr, tnr = (proportion(sum(side), n, CONFIDENCE, "exact") for side in (right, caught))
        lost = sum(judgment.selected is None for judgment in arm)
        said = f"passed {sum(right)} of {n} right answers and failed {sum(caught)} of {n} wrong ones"
        said += f" (of {len(arm)} grades {lost} {'is' if lost == 1 else 'are'} invalid)" if lost else ""
        rates = {"right_both_orders": None, "first_selected": None, "tpr": tpr, "tnr": tnr, "youden": youden}
        return _found(judge, dataset, arm, n, f"{said}, J {describe(youden)}", youden.low, limit, _cause(arm), rates)


def _youden(arm: Sequence[Judgment], right: Sequence[bool], caught: Sequence[bool]) -> Estimate:
    """Return J with its interval: a mean over pairs of twins, and over examples that are none over these.

    Only twins are paired. As many are labelled pass as fail, so that J is twice the share of right grades less 1.
    """
    if share([judgment.pair for judgment in arm]) > 1:
        both = list(zip(right, caught, strict=True))
        told, turned = sum(a and b for a, b in both), sum(not a and not b for a, b in both)
        return paired_difference(told, turned, len(both), CONFIDENCE)
    graded = [(judgment, float(_is_right(judgment))) for judgment in arm]
    correct = int(sum(score for _, score in graded))
    found = proportion(correct, len(arm), CONFIDENCE, "exact", by_cluster(arm)(graded))
    return Estimate(2 * found.value - 1, 2 * found.low - 1, 2 * found.high - 1, CONFIDENCE, len(right))


def _is_right(judgment: Judgment) -> bool:
    return judgment.selected == (1 if _label(judgment.pair) == "pass" else 2)


class Scoring(Labelled):
    """Of one that scores single responses, without a mark: it gives more to what people pass than to what they fail."""

    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> Control:
        """Return whether it reads: PASS where the one-sided 95% lower bound of that share exceeds the threshold.

        The share is that of all pairs of one labelled pass and one labelled fail, equal scores counted half: a
        Mann-Whitney statistic, whose variance is no larger than that of as many unrelated comparisons as there are of
        either (Birnbaum and Klose 1957). An invalid score is a wrong one.
        """
        (arm,) = arms
        passed, failed = ([each for each in arm if _label(each.pair) == label] for label in LABELS)
        above = sum(_above(a, b) for a in passed for b in failed) / (len(passed) * len(failed))
        units = min(independent([each.pair for each in side]) for side in (passed, failed))
        whole = math.floor(round(above * units, 9))  # a share of a whole number of units may fall short by rounding
        found = proportion(whole, units, CONFIDENCE, "exact")
        said = f"scored right answers above wrong ones in {bare(above)} of all pairs of them, equal scores counted half"
        low = f" (at least {bare(found.low)})"
        unread = sum(judgment.verdict.invalid is not None for judgment in arm) > (1 - TELLING) * len(arm)
        cause = invalid_said(arm) if unread else "its scores have little to do with what people say of these answers"
        rates = {"right_both_orders": None, "first_selected": None}
        return _found(judge, dataset, arm, len(passed), said + low, found.low, table.threshold, cause, rates)


def _above(right: Judgment, wrong: Judgment) -> float:
    """Return 1 where a right answer has the higher score, .5 where both have the same; an invalid one helps nobody."""
    a, b = right.reply.scores, wrong.reply.scores
    return 0.0 if a is None or b is None else 1.0 if a > b else 0.5 if a == b else 0.0


def trial_of(kind: Kind, pairs: Sequence[Pair]) -> Trial:
    """Return what shows whether a judge of some pairs, or examples, reads."""
    if kind.grades:
        return Grading()
    return Scoring() if is_of_examples(pairs) else Choosing()


def _found(
    judge: str,
    dataset: str,
    arm: Sequence[Judgment],
    n: int,
    said: str,
    low: float,
    limit: float,
    cause: str,
    rates: Mapping[str, Any],
) -> Control:
    """Return the control whose lower bound has to exceed a limit."""
    found = Control(judge=judge, dataset=dataset, n=n, status=Status.FAIL, **rates)
    if low > limit:
        return replace(found, status=Status.PASS, message=f"{said}: it reads")
    return unpassed(found, f"{said}, whose lower bound has to exceed {bare(limit)}", cause, arm)


def _label(pair: Pair) -> str | None:
    return pair.label if isinstance(pair, Example) else None


def _cause(arm: Sequence[Judgment]) -> str:
    """Return what is wrong with a grader that does not read, as far as its grades tell."""
    valid = _valid(arm)
    wrong, many_lost = sum(map(_is_wrong, valid)), len(valid) < TELLING * len(arm)
    # Where the valid grades are right more often than wrong, the others are what is wrong.
    coin = "" if many_lost and proportion(wrong, len(valid) or 1, CONFIDENCE, "exact").high < 0.5 else COIN
    return with_invalid(_habit_of_valid(valid) or coin, len(valid), arm)


def habit(arm: Sequence[Judgment]) -> str:
    """Return what nearly all grades have in common, half of them of examples labelled fail; empty for nothing."""
    valid = _valid(arm)
    return with_invalid(_habit_of_valid(valid), len(valid), arm)


def _valid(arm: Sequence[Judgment]) -> list[Judgment]:
    return [judgment for judgment in arm if judgment.selected is not None]


def _is_wrong(judgment: Judgment) -> bool:
    return _label(judgment.pair) == ("fail" if judgment.selected == 1 else "pass")


def _habit_of_valid(valid: Sequence[Judgment]) -> str:
    """Return what nearly all valid grades have in common; empty for nothing."""
    for selected, does in ((1, "passed"), (2, "failed")):
        count = sum(judgment.selected == selected for judgment in valid)
        if count >= TELLING * len(valid):
            return f"it {does} {count} of {len(valid)}, right or wrong"
    wrong = sum(map(_is_wrong, valid))
    if wrong >= TELLING * len(valid):
        return f"it graded {wrong} of {len(valid)} the wrong way round: are its labels read as they are meant?"
    return ""
