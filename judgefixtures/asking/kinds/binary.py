"""A judge that grades one response at a time: it passes or it fails.

The response stands alone, so that nothing is compared and no order is seen: an arm of a contrast is the response with
one label, and its outcome is that it passes. A grade is written down as the verdict 1, it passes, or 2, it fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from judgefixtures.asking.asker import Task
from judgefixtures.asking.kinds import Clerk, Kind, of_one_response
from judgefixtures.asking.received import Arm, Arms, Pairs, Plans, Replies, Reply, read_answer, received_with, unread
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import Condition, Contrast, Single, single, single_condition
from judgefixtures.material.edits import Best, shown_alone
from judgefixtures.material.pairs import LABELS, Example, Pair
from judgefixtures.material.plans import Plan
from judgefixtures.material.prompts import FAIL_SLOT, GRADE_FIELD, PASS_SLOT
from judgefixtures.providers import Answer, stated
from judgefixtures.reading.grade_probabilities import grade_may_stand, grade_probability, grade_reasons_first
from judgefixtures.reading.grades import Grade, Labels, parse_grade
from judgefixtures.reading.hints import hint_for
from judgefixtures.reading.probabilities import Probability
from judgefixtures.reading.verdicts import InvalidKind, Verdict


def _stated(table: JudgeTable) -> Labels:
    """Return the first word of each side: by these a judge is to answer, whatever else is read."""
    passing, failing = table.labels or ((LABELS[0],), (LABELS[1],))
    return passing[:1], failing[:1]


def _offered(table: JudgeTable) -> Labels:
    """Return the words that a schema allows: those that a built-in template states, or all that one's own may state."""
    return table.labels if table.labels and table.has_own_words else _stated(table)


def said_label(table: JudgeTable, side: int) -> str | bool:
    """Return by which word a judge is to say that a response passes (0), or that it fails (1)."""
    return _stated(table)[side][0]


def written_label(table: JudgeTable, side: int) -> str:
    """Return that word as it stands in an answer: in JSON with its quotes, unless it is true or false.

    >>> from judgefixtures.config import judge_table
    >>> written_label(judge_table({"provider": "openai", "model": "m", "mode": "binary"}), 0)
    '"pass"'
    """
    label = said_label(table, side)
    return json.dumps(label, ensure_ascii=False) if table.verdict == "json" or isinstance(label, bool) else label


def asked_grade(table: JudgeTable) -> str:
    """Return what a judge is asked to answer.

    >>> from judgefixtures.config import judge_table
    >>> asked_grade(judge_table({"provider": "openai", "model": "m", "mode": "binary"}))
    '{"verdict": "pass" or "fail", "reason": ...}'
    """
    passes, fails = (written_label(table, side) for side in (0, 1))
    forms = {
        "json": f'{{"{table.grade_field or GRADE_FIELD}": {passes} or {fails}, "reason": ...}}',
        "brackets": f"[[{passes}]] or [[{fails}]]",
        "grade": f'"GRADE: {passes}" or "GRADE: {fails}" on a last line',
        "word": f"{passes} or {fails}, and nothing else",
    }
    return forms[table.verdict]


def best_grade(table: JudgeTable) -> Best:
    """Return the best that a judge says: its word for a response that passes, where it states it."""
    return Best(said_label(table, 0), table.grade_field or GRADE_FIELD, word=table.verdict == "word")


def verdict_of(grade: Grade) -> Verdict:
    """Return a grade as the verdict that stands for it: 1 passes, 2 fails."""
    selected: Literal[1, 2] | None = None if grade.passed is None else 1 if grade.passed else 2
    return Verdict(selected, grade.reason, grade.invalid, grade.repaired, grade.reasoning)


def grade_of(verdict: Verdict) -> Grade:
    """Return the grade that a verdict stands for.

    >>> grade_of(verdict_of(Grade(False, "It is wrong."))).passed
    False
    """
    passed = None if verdict.selected_response is None else verdict.selected_response == 1
    return Grade(passed, verdict.reason, verdict.invalid, verdict.repaired, verdict.reasoning)


class Binary(Kind):
    """One response is shown, and passes or fails."""

    sees_order: ClassVar[bool] = False
    grades: ClassVar[bool] = True
    screening: ClassVar[tuple[Arm, ...]] = ((Single(), 0), (Single(), 1))

    # --- what it is -------------------------------------------------------------------------------------------

    def identity(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return it with the mode, and with the words and the field of a grade as far as they are sent.

        Where neither the prompt nor a schema has them they change how an answer is read, and no answer.
        """
        table, said = self.table, asked | {"mode": self.table.mode}
        formed = table.sends_schema
        if table.labels is not None and (formed or self.judge.template.has_any(PASS_SLOT, FAIL_SLOT)):
            said["labels"] = [list(side) for side in (_offered(table) if formed else _stated(table))]
        return said | ({"grade_field": table.grade_field} if table.grade_field and formed else {})

    @classmethod
    def schema(cls, table: JudgeTable) -> dict[str, Any]:
        """Return the schema of a grade; empty where a template of the user's own alone says how to answer."""
        if not table.sends_schema:
            return {}
        words = [word for side in _offered(table) for word in side]
        if all(isinstance(word, bool) for word in words):
            return stated(table.grade_field or GRADE_FIELD, {"type": "boolean"})
        texts = {"type": "string"} if all(isinstance(word, str) for word in words) else {}
        return stated(table.grade_field or GRADE_FIELD, {**texts, "enum": words})

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Sequence[Pair]) -> Contrast:  # noqa: ARG003
        """Return the contrast of the response with one label and with the other."""
        return single(contrast)

    # --- what it is shown and asked ---------------------------------------------------------------------------

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt for an example in a condition; ValueError for a pair."""
        if not isinstance(pair, Example):
            raise ValueError(
                f"judge {self.judge.name!r} grades one response at a time, and {pair.id!r} is a pair: ask about each "
                "of judgefixtures.material.pairs.as_examples(pair)"
            )
        table, alone = self.table, single_condition(condition)
        shown = shown_alone(pair, alone.edit, best_grade(table))
        cue, labels = alone.sentences(pair.content_type)[0], (written_label(table, side) for side in (0, 1))
        return self.judge.template.render_one(
            pair, shown, cue, table.cue_placement, labels=dict(zip((PASS_SLOT, FAIL_SLOT), labels, strict=True))
        )

    def asks(self, arms: Arms) -> tuple[Arm, ...]:
        """Return the conditions of one response that some arms are, each once."""
        return of_one_response(arms)

    def distinct(self, arms: Arms, pairs: Pairs) -> tuple[Arm, ...]:  # noqa: ARG002
        """Return these conditions: a response has no order."""
        return of_one_response(arms)

    def check_asked(self) -> None:
        """Nothing: it is asked itself, and what it answers is written down as a verdict."""

    async def grade(self, prompt: str) -> Grade:
        """Return the grade for a prompt that shows one response."""
        return grade_of((await self.judge.ask(prompt)).verdict)

    # --- what it answers --------------------------------------------------------------------------------------

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Reply:
        """Return the verdict that stands for the grade of an answer, and how sure the judge was, where it tells."""
        table = self.table
        grade, detail = read_answer(
            answer,
            lambda text: parse_grade(text, table.verdict, table.labels, table.grade_field),
            lambda kind, reasoning: Grade(None, "", kind, reasoning=reasoning),
        )
        if grade.invalid is not None and answer.invalid is None:
            detail = self._unread(answer, grade.invalid)
        received = received_with(answer, retries, wasted) | {"detail": detail}
        return Reply(verdict_of(grade), self._probability(grade, answer), **received)

    @property
    def decisive(self) -> re.Pattern[bytes] | None:
        """Where an answer states its grade: a recording keeps the alternatives to these tokens."""
        table = self.table
        return grade_may_stand(table.verdict, table.labels, table.grade_field) if table.logprobs else None

    def _unread(self, answer: Answer, kind: InvalidKind) -> str:
        """Return what an answer that states no grade said, and which key would have it read, if any would."""
        table = self.table
        hint = hint_for(answer.text, table.verdict, table.labels, table.grade_field)
        return unread(answer, kind, hint, asked_grade(table), table)

    def _probability(self, grade: Grade, answer: Answer) -> Probability | None:
        table = self.table
        if not table.logprobs or grade.invalid is not None:
            return None
        found = answer.probability
        if found is None and answer.tokens:
            found = grade_probability(answer.tokens, answer.text, grade, table.verdict, table.labels, table.grade_field)
        if found is None:
            return None
        hidden = answer.usage.reasoning_tokens or grade.reasoning.strip()
        explained = bool(hidden) or grade_reasons_first(
            answer.text, grade, table.verdict, table.labels, table.grade_field
        )
        return replace(found, explained=explained)

    def answers(self, clerk: Clerk, pairs: Pairs, arms: Arms, plans: Plans) -> Replies:
        """Return every arm's grades in the order of the examples."""
        asked = self.asks(arms)
        by_arm = dict(zip(asked, clerk.collect(Task(self.judge, pairs, asked, plans)), strict=True))
        return [by_arm[_alone(arm)] for arm in arms]

    def task(self, pairs: Pairs, arm: Arm, plans: Plans) -> Task[Any]:
        """Return the questions to look up for an arm."""
        return super().task(pairs, _alone(arm), plans)

    # --- what can be checked of it ----------------------------------------------------------------------------

    def excuse(self, contrast: Contrast) -> str:
        """Return that it sees no order, where a contrast is of orders."""
        return f"{self.judge.name} grades one response at a time: it sees no order" if contrast.is_of_orders else ""


def _alone(arm: Arm) -> Arm:
    return single_condition(arm[0]), arm[1]
