"""A judge that is shown both responses of a pair and chooses one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from judgefixtures.asking.kinds import Kind
from judgefixtures.asking.received import Reply, read_answer, received_with, unread
from judgefixtures.material.contrasts import Condition
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import Plan
from judgefixtures.material.prompts import presented
from judgefixtures.providers import Answer
from judgefixtures.reading.hints import hint_for_choice
from judgefixtures.reading.probabilities import Probability, probability, reasons_first
from judgefixtures.reading.verdicts import InvalidKind, Verdict, parse_verdict


class Pairwise(Kind):
    """Two responses are shown, one is chosen."""

    def identity(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return it with whether a tie counts, which is said only where it does."""
        return asked | self.outcomes

    @property
    def outcomes(self) -> dict[str, Any]:
        """What a verdict is made of: empty for a choice of one of two that is never a tie."""
        return {"ties": "half"} if self.table.counts_ties else {}

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt with both responses, as they stand in a condition."""
        return self.judge.template.render(presented(pair, condition), condition, self.table.cue_placement)

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Reply:
        """Return the verdict that an answer states, and how sure the judge was of it, where it tells."""
        ties: Literal["half", "invalid"] = "half" if self.table.counts_ties else "invalid"
        verdict, detail = read_answer(
            answer,
            lambda text: parse_verdict(text, self.table.notation, ties=ties),
            lambda kind, reasoning: Verdict(None, "", kind, reasoning=reasoning),
        )
        if verdict.invalid is not None and verdict.invalid != "tie" and answer.invalid is None:
            detail = self._unread(answer, verdict.invalid)
        received = received_with(answer, retries, wasted) | {"detail": detail}
        return Reply(verdict, self._probability(verdict, answer), **received)

    def _unread(self, answer: Answer, kind: InvalidKind) -> str:
        """Return what an answer that states no choice said, and which keys would have it read, if any would."""
        table = self.table
        asked = '{"selected_response": 1 or 2, "reason": ...}' if table.notation == "json" else "[[A]] or [[B]]"
        return unread(answer, kind, hint_for_choice(answer.text, table.notation), asked, table)

    def _probability(self, verdict: Verdict, answer: Answer) -> Probability | None:
        """Return how sure the judge was of a valid verdict, where it is asked for that and tells it."""
        if not self.table.logprobs or verdict.invalid is not None:
            return None
        found = answer.probability
        if found is None and answer.tokens:
            found = probability(answer.tokens, answer.text, verdict, self.table.notation, self.table.counts_ties)
        return None if found is None else replace(found, explained=self._reasoned(verdict, answer))

    def _reasoned(self, verdict: Verdict, answer: Answer) -> bool:
        """Tell whether the judge had reasoned before it stated a verdict: in a plan of its own, hidden, or in the text.

        Decided from each answer: the same prompt brings a word in front of one verdict, and none of another.
        """
        hidden = answer.usage.reasoning_tokens or verdict.reasoning.strip()
        return bool(self.planner or hidden) or reasons_first(answer.text, verdict, self.table.notation)
