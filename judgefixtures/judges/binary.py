"""Binary mode: the judge passes or fails one response at a time.

An arm of a contrast is one response with one label, and its outcome is whether it passes. A pass is stored as verdict
1, a fail as verdict 2.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from judgefixtures.client.model_client import RequestSet
from judgefixtures.config import JudgeTable
from judgefixtures.models import contrasts
from judgefixtures.models.edits import BestJudgeOutput, edited_example
from judgefixtures.models.pairs import LABELS, Example, Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, Arms, Asked, JudgeReply, Pairs, Plans
from judgefixtures.models.verdicts import Grade, Verdict
from judgefixtures.parsing.config_hints import hint_for_answer
from judgefixtures.parsing.grade_probabilities import grade_probability, grade_reasons_first, grade_token_pattern
from judgefixtures.parsing.grades import Labels, parse_grade
from judgefixtures.prompts.templates import FAIL_SLOT, GRADE_FIELD, PASS_SLOT
from judgefixtures.providers import ProviderResponse, stated_value_schema

from .mode import JudgeMode, single_response_arms
from .reply_reading import Reading, reply_fields


def _stated(table: JudgeTable) -> Labels:
    """Return the first word of each side: by these a judge is to answer, whatever else is read."""
    passing, failing = table.labels or ((LABELS[0],), (LABELS[1],))
    return passing[:1], failing[:1]


def _offered(table: JudgeTable) -> Labels:
    """Return the words that a schema allows: those that a built-in template states, or all that one's own may state."""
    return table.labels if table.labels and table.has_own_words else _stated(table)


def label_word(table: JudgeTable, side: int) -> str | bool:
    """Return by which word a judge is to say that a response passes (0), or that it fails (1)."""
    return _stated(table)[side][0]


def label_as_written(table: JudgeTable, side: int) -> str:
    """Return that word as it stands in an answer: in JSON with its quotes, unless it is true or false.

    >>> from judgefixtures.config import judge_table
    >>> label_as_written(judge_table({"provider": "openai", "model": "m", "mode": "binary"}), 0)
    '"pass"'
    """
    label = label_word(table, side)
    return json.dumps(label, ensure_ascii=False) if table.verdict == "json" or isinstance(label, bool) else label


def grade_instruction(table: JudgeTable) -> str:
    """Return what a judge is asked to answer.

    >>> from judgefixtures.config import judge_table
    >>> grade_instruction(judge_table({"provider": "openai", "model": "m", "mode": "binary"}))
    '{"verdict": "pass" or "fail", "reason": ...}'
    """
    passes, fails = (label_as_written(table, side) for side in (0, 1))
    forms = {
        "json": f'{{"{table.grade_field or GRADE_FIELD}": {passes} or {fails}, "reason": ...}}',
        "brackets": f"[[{passes}]] or [[{fails}]]",
        "grade": f'"GRADE: {passes}" or "GRADE: {fails}" on a last line',
        "word": f"{passes} or {fails}, and nothing else",
    }
    return forms[table.verdict]


def best_grade(table: JudgeTable) -> BestJudgeOutput:
    """Return the best that a judge says: its word for a response that passes, where it states it."""
    return BestJudgeOutput(label_word(table, 0), table.grade_field or GRADE_FIELD, word=table.verdict == "word")


def grade_to_verdict(grade: Grade) -> Verdict:
    """Return a grade as the verdict that stands for it: 1 passes, 2 fails."""
    selected: Literal[1, 2] | None = None if grade.passed is None else 1 if grade.passed else 2
    return Verdict(selected, grade.reason, grade.invalid, grade.repaired, grade.reasoning)


def verdict_to_grade(verdict: Verdict) -> Grade:
    """Return the grade that a verdict stands for.

    >>> verdict_to_grade(grade_to_verdict(Grade(False, "It is wrong."))).passed
    False
    """
    passed = None if verdict.selected_response is None else verdict.selected_response == 1
    return Grade(passed, verdict.reason, verdict.invalid, verdict.repaired, verdict.reasoning)


class BinaryMode(JudgeMode):
    """One response is shown, and passes or fails."""

    sees_order: ClassVar[bool] = False
    grades: ClassVar[bool] = True
    screening: ClassVar[tuple[Arm, ...]] = (
        (contrasts.SingleResponseCondition(), 0),
        (contrasts.SingleResponseCondition(), 1),
    )

    # --- what it is -------------------------------------------------------------------------------------------

    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return it with the mode, and with the words and the field of a grade as far as they are sent.

        Where neither the prompt nor a schema has them they change how an answer is read, and no answer.
        """
        table, own = self.table, base | {"mode": self.table.mode}
        formed = table.sends_schema
        if table.labels is not None and (formed or self.judge.template.has_any(PASS_SLOT, FAIL_SLOT)):
            own["labels"] = [list(side) for side in (_offered(table) if formed else _stated(table))]
        return own | ({"grade_field": table.grade_field} if table.grade_field and formed else {})

    @classmethod
    def schema(cls, table: JudgeTable) -> dict[str, Any]:
        """Return the schema of a grade; empty where a template of the user's own alone says how to answer."""
        if not table.sends_schema:
            return {}
        words = [word for side in _offered(table) for word in side]
        if all(isinstance(word, bool) for word in words):
            return stated_value_schema(table.grade_field or GRADE_FIELD, {"type": "boolean"})
        texts = {"type": "string"} if all(isinstance(word, str) for word in words) else {}
        return stated_value_schema(table.grade_field or GRADE_FIELD, {**texts, "enum": words})

    @classmethod
    def contrast(cls, contrast: contrasts.Contrast, pairs: Sequence[Pair]) -> contrasts.Contrast:  # noqa: ARG003
        """Return the contrast of the response with one label and with the other."""
        return contrasts.as_single_response(contrast)

    # --- what it is shown and asked ---------------------------------------------------------------------------

    def prompt(self, pair: Pair, condition: contrasts.Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt for an example in a condition; ValueError for a pair."""
        if not isinstance(pair, Example):
            raise ValueError(
                f"judge {self.judge.name!r} grades one response at a time, and {pair.id!r} is a pair: ask about each "
                "of judgefixtures.models.pairs.as_examples(pair)"
            )
        table, alone = self.table, contrasts.single_condition(condition)
        example = edited_example(pair, alone.edit, best_grade(table))
        cue, labels = alone.sentences(pair.content_type)[0], (label_as_written(table, side) for side in (0, 1))
        return self.judge.template.render_one(
            pair, example, cue, table.cue_placement, labels=dict(zip((PASS_SLOT, FAIL_SLOT), labels, strict=True))
        )

    def required_arms(self, arms: Arms) -> tuple[Arm, ...]:
        """Return the conditions of one response that some arms are, each once."""
        return single_response_arms(arms)

    def distinct(self, arms: Arms, pairs: Pairs) -> tuple[Arm, ...]:  # noqa: ARG002
        """Return these conditions: a response has no order."""
        return single_response_arms(arms)

    async def grade(self, prompt: str) -> Grade:
        """Return the grade for a prompt that shows one response."""
        return verdict_to_grade((await self.judge.ask(prompt)).verdict)

    # --- what it answers --------------------------------------------------------------------------------------

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the verdict that stands for the grade of an answer, and how sure the judge was, where it tells."""
        table, text, reading = self.table, answer.text, Reading(answer, self.table)
        form = (table.verdict, table.labels, table.grade_field)
        grade, detail = reading.statement(
            Grade, lambda: parse_grade(text, *form), lambda: (hint_for_answer(text, *form), grade_instruction(table))
        )
        sure = reading.certainty(
            grade,
            lambda: grade_probability(answer.tokens, text, grade, *form),
            lambda: grade_reasons_first(text, grade, *form),
        )
        return JudgeReply(grade_to_verdict(grade), sure, **reply_fields(answer, retries, wasted, detail))

    @property
    def verdict_pattern(self) -> re.Pattern[bytes] | None:
        """Where an answer states its grade: a recording keeps the alternatives to these tokens."""
        table = self.table
        return grade_token_pattern(table.verdict, table.labels, table.grade_field) if table.logprobs else None

    def requests(self, pairs: Pairs, arms: Arms, plans: Plans) -> list[RequestSet[Any]]:
        """Return the requests for grades."""
        return super().requests(pairs, list(dict.fromkeys(map(_alone, arms))), plans)

    def replies(self, pairs: Pairs, arm: Arm, asked: Asked) -> Mapping[str, JudgeReply]:
        """Return the grades in an arm."""
        return super().replies(pairs, _alone(arm), asked)

    # --- what can be checked of it ----------------------------------------------------------------------------

    def excuse(self, contrast: contrasts.Contrast) -> str:
        """Return that it sees no order, where a contrast is of orders."""
        return f"{self.judge.name} grades one response at a time: it sees no order" if contrast.is_of_orders else ""


def _alone(arm: Arm) -> Arm:
    return contrasts.single_condition(arm[0]), arm[1]
