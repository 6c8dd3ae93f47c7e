"""Binary mode: the judge passes or fails one response at a time.

An arm of a contrast is one response with one label, and its outcome is whether it passes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from judgefixtures.client.model_client import RequestSet
from judgefixtures.config import JudgeTable
from judgefixtures.models import contrasts
from judgefixtures.models.edits import BestJudgeOutput, edited_example
from judgefixtures.models.pairs import LABELS, Example, Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, Arms, JudgeReply, Pairs, Plans, RepliesByArm
from judgefixtures.models.verdicts import Grade
from judgefixtures.parsing.config_hints import hint_for_answer
from judgefixtures.parsing.grade_probabilities import grade_probability, grade_reasons_first, grade_token_pattern
from judgefixtures.parsing.grades import Labels, parse_grade
from judgefixtures.prompts.templates import FAIL_SLOT, GRADE_FIELD, PASS_SLOT
from judgefixtures.providers import ProviderResponse, stated_value_schema

from .messages import MESSAGES
from .mode import JudgeMode, single_response_arms
from .reply_reading import Reading


def _stated(table: JudgeTable) -> Labels:
    passing, failing = table.labels or ((LABELS[0],), (LABELS[1],))
    return passing[:1], failing[:1]


def _offered(table: JudgeTable) -> Labels:
    return table.labels if table.labels and table.has_own_words else _stated(table)


def label_word(table: JudgeTable, side: int) -> str | bool:
    """Return the word for a pass (0) or fail (1)."""
    return _stated(table)[side][0]


def label_as_written(table: JudgeTable, side: int) -> str:
    """Return the word as answers write it.

    >>> from judgefixtures.config import judge_table
    >>> label_as_written(judge_table({"provider": "openai", "model": "m", "mode": "binary"}), 0)
    '"pass"'
    """
    label = label_word(table, side)
    return json.dumps(label, ensure_ascii=False) if table.verdict == "json" or isinstance(label, bool) else label


def grade_instruction(table: JudgeTable) -> str:
    """Return the instruction on the answer's form.

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
    """Return the best output of a judge."""
    return BestJudgeOutput(label_word(table, 0), table.grade_field or GRADE_FIELD, word=table.verdict == "word")


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
        """Return the identity with mode, words and field."""
        table, own = self.table, base | {"mode": self.table.mode}
        formed = table.sends_schema
        if table.labels is not None and (formed or self.judge.template.has_any(PASS_SLOT, FAIL_SLOT)):
            own["labels"] = [list(side) for side in (_offered(table) if formed else _stated(table))]
        return own | ({"grade_field": table.grade_field} if table.grade_field and formed else {})

    @classmethod
    def schema(cls, table: JudgeTable) -> dict[str, Any]:
        """Return a grade's schema, or {}."""
        if not table.sends_schema:
            return {}
        words = [word for side in _offered(table) for word in side]
        if all(isinstance(word, bool) for word in words):
            return stated_value_schema(table.grade_field or GRADE_FIELD, {"type": "boolean"})
        texts = {"type": "string"} if all(isinstance(word, str) for word in words) else {}
        return stated_value_schema(table.grade_field or GRADE_FIELD, {**texts, "enum": words})

    @classmethod
    def contrast(cls, contrast: contrasts.Contrast, pairs: Sequence[Pair]) -> contrasts.Contrast:  # noqa: ARG003
        """Return the single-response contrast."""
        return contrasts.as_single_response(contrast)

    # --- what it is shown and asked ---------------------------------------------------------------------------

    def prompt(self, pair: Pair, condition: contrasts.Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return an example's prompt.

        Raises:
            ValueError: It is a pair.
        """
        if not isinstance(pair, Example):
            raise ValueError(MESSAGES.pair_to_grade(self.judge.name, pair))
        table, alone = self.table, contrasts.single_condition(condition)
        example = edited_example(pair, alone.edit, best_grade(table))
        cue, labels = alone.sentences(pair.content_type)[0], (label_as_written(table, side) for side in (0, 1))
        words = dict(zip((PASS_SLOT, FAIL_SLOT), labels, strict=True))
        in_prompt = alone.cue_1 is not None and alone.cue_1.place == "prompt"
        return self.judge.template.render_one(
            pair, example, cue, table.cue_placement, labels=words, cue_of_prompt=in_prompt
        )

    def required_arms(self, arms: Arms) -> tuple[Arm, ...]:
        """Return single-response conditions."""
        return single_response_arms(arms)

    def distinct(self, arms: Arms, pairs: Pairs) -> tuple[Arm, ...]:  # noqa: ARG002
        """Return single-response conditions."""
        return single_response_arms(arms)

    async def grade(self, prompt: str) -> Grade:
        """Return the prompt's grade."""
        return (await self.judge.ask(prompt)).verdict

    # --- what it answers --------------------------------------------------------------------------------------

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the grade that an answer states, and how sure the judge was, where it tells."""
        table, text = self.table, answer.text
        form = (table.verdict, table.labels, table.grade_field)
        return Reading(
            answer,
            table,
            lambda text: parse_grade(text, *form),
            lambda text: hint_for_answer(text, *form),
            grade_instruction(table),
            lambda grade: grade_probability(answer.tokens, text, grade, *form),
            lambda grade: grade_reasons_first(text, grade, *form),
        ).reply(retries, wasted)

    @property
    def verdict_pattern(self) -> re.Pattern[bytes] | None:
        """Matches the grade."""
        table = self.table
        return grade_token_pattern(table.verdict, table.labels, table.grade_field) if table.logprobs else None

    def requests(self, pairs: Pairs, arms: Arms, plans: Plans) -> list[RequestSet[Any]]:
        """Return the requests for grades."""
        return super().requests(pairs, single_response_arms(arms), plans)

    def replies(self, pairs: Pairs, arm: Arm, asked: RepliesByArm) -> Mapping[str, JudgeReply]:
        """Return the grades in an arm."""
        return super().replies(pairs, single_response_arms([arm])[0], asked)

    # --- what can be checked of it ----------------------------------------------------------------------------

    def excuse(self, contrast: contrasts.Contrast) -> str:
        """Return why orders do not apply."""
        return f"{self.judge.name} grades one response at a time: it sees no order" if contrast.is_of_orders else ""
