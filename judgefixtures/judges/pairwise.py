"""Pairwise mode: the judge chooses between two responses."""

from typing import Any, Literal

from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import JudgeReply
from judgefixtures.parsing.config_hints import hint_for_choice
from judgefixtures.parsing.verdict_probabilities import reasons_first, verdict_probability
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.prompts.templates import present_pair
from judgefixtures.providers import ProviderResponse

from .mode import JudgeMode
from .reply_reading import Reading


class PairwiseMode(JudgeMode):
    """Two responses are shown, one is chosen."""

    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return the identity with counted ties."""
        return base | self.outcomes

    @property
    def outcomes(self) -> dict[str, Any]:
        """The counted ties."""
        return {"ties": "half"} if self.table.counts_ties else {}

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt."""
        return self.judge.template.render(present_pair(pair, condition), condition, self.table.cue_placement)

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the verdict with probability."""
        table, text, notation = self.table, answer.text, self.table.notation
        ties: Literal["half", "invalid"] = "half" if table.counts_ties else "invalid"
        asked = '{"selected_response": 1 or 2, "reason": ...}' if notation == "json" else "[[A]] or [[B]]"
        return Reading(
            answer,
            table,
            lambda text: parse_verdict(text, notation, ties=ties),
            lambda text: hint_for_choice(text, notation),
            asked,
            lambda verdict: verdict_probability(answer.tokens, text, verdict, notation, table.counts_ties),
            lambda verdict: self.planner is not None or reasons_first(text, verdict, notation),
        ).reply(retries, wasted)
