"""Setting aside: what is recorded of a judge that has not passed its control is measured, and nothing is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks import Answers, Case, Check
from judgefixtures.checks.not_counted import NotCountedRow, not_counted
from judgefixtures.runs.interviews import Interviews
from judgefixtures.words.errors import JudgeFixturesError


def set_aside(interviews: Interviews, check: Check, case: Case, command: str) -> tuple[NotCountedRow, ...]:
    """Return the row of what recordings come to, about the pairs that are recorded in every arm; none without any.

    Of a swap these are the arms of both judges. `command` records the control, if it is missing.
    """
    for each in dict.fromkeys((check, check.repeated(1))):  # it may be the repeats that are not recorded
        who = [(judge, each.arms) for judge in case.judges]
        who += [(judge, each.arms[:1]) for judge in each.beside(case.judge)]
        known = [_recorded(interviews, judge, case, arms) for judge, arms in who]
        if pairs := tuple(pair for pair in case.pairs if all(pair.id in arm for arms in known for arm in arms)):
            answers = [Answers(tuple(tuple(arm[pair.id] for pair in pairs) for arm in arms)) for arms in known]
            try:
                found = each.find(replace(case, pairs=pairs), *answers)
            except JudgeFixturesError:  # with its control passed the item would say what is wrong
                return ()
            return (not_counted(each, found, len(pairs), command),)
    return ()


def _recorded(interviews: Interviews, judge: Judge, case: Case, arms: Sequence[Arm]) -> list[Mapping[str, Judgment]]:
    """Return what is recorded of a judge in each arm, by pair id."""
    plans = interviews.known_plans(judge, case.dataset, case.pairs)
    seen = (interviews.seen(judge, case.dataset, case.pairs, arm, plans) for arm in arms)
    return [{judgment.pair.id: judgment for judgment in arm} for arm in seen]
