"""Measurement of a judge that failed its control, from existing recordings only."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgefixtures.checks import Answers, Check, CheckInput
from judgefixtures.checks.not_counted import uncounted_row
from judgefixtures.judges.judge import Judge
from judgefixtures.models.check_rows import NotCountedRow
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.replies import Arm
from judgefixtures.util.errors import JudgeFixturesError

from .answer_service import AnswerService


def measure_uncontrolled(
    answer_service: AnswerService, check: Check, case: CheckInput, command: str
) -> tuple[NotCountedRow, ...]:
    """Return the row of pairs recorded in every arm, or none.

    `command` records a missing control.
    """
    for each, runs in ((check, None), (check.repeated(1), 1)):  # it may be the repeats that are not recorded
        who = [(judge, each.arms) for judge in case.judges]
        who += [(judge, each.arms_beside(case.config)[:runs]) for judge in each.extra_judges(case.judge)]
        known = [_recorded(answer_service, judge, case, arms) for judge, arms in who]
        if pairs := tuple(pair for pair in case.pairs if all(pair.id in arm for arms in known for arm in arms)):
            answers = [Answers(tuple(tuple(arm[pair.id] for pair in pairs) for arm in arms)) for arms in known]
            try:
                finding = each.evaluate(replace(case, pairs=pairs), *answers)
            except JudgeFixturesError:  # with its control passed the item would say what is wrong
                return ()
            return (uncounted_row(each, finding, len(pairs), command),)
    return ()


def _recorded(
    answer_service: AnswerService, judge: Judge, case: CheckInput, arms: Sequence[Arm]
) -> list[Mapping[str, Judgment]]:
    plans = answer_service.known_plans(judge, case.dataset, case.pairs)
    seen = (answer_service.recorded_judgments(judge, case.dataset, case.pairs, arm, plans) for arm in arms)
    return [{judgment.pair.id: judgment for judgment in arm} for arm in seen]
