"""Pointwise mode: each response is scored once, and verdicts compare scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from judgefixtures.client.model_client import ModelClient, RequestSet
from judgefixtures.config import JudgeTable
from judgefixtures.models.contrasts import NO_CUE, Condition, Contrast, SingleResponseCondition, as_single_response
from judgefixtures.models.cues import Cue, Families
from judgefixtures.models.edits import BestJudgeOutput, edit_target, edited_example
from judgefixtures.models.pairs import Example, Pair, are_examples, units_per_pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm, Arms, JudgeReply, Pairs, Plans, RepliesByArm
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import Scale, Score, Verdict
from judgefixtures.parsing.config_hints import hint_for_rating
from judgefixtures.parsing.scores import is_whole_number_scale, parse_score, scale_text
from judgefixtures.prompts.templates import present_pair
from judgefixtures.providers import Provider, ProviderResponse, stated_value_schema
from judgefixtures.util.errors import JudgeFixturesError

from .messages import MESSAGES
from .mode import JudgeMode, single_response_arms
from .reply_reading import Reading

if TYPE_CHECKING:
    from .judge import Judge

NUMBERS: tuple[Literal[1, 2], ...] = (1, 2)


@dataclass(frozen=True, slots=True)
class ScoredResponseCondition(Condition):
    """One response of a pair, perhaps with its cue."""

    response: Literal[1, 2] = 1
    cue: Cue | None = None

    @property
    def name(self) -> str:
        """The name: `score-1-no-cue`, `score-2-recency-new`, `score-edited-...`."""
        if self.edit is not None:
            return f"score-edited-{self.edit.name}"
        return f"score-{self.response}-{'no-cue' if self.cue is None else f'{self.cue.family}-{self.cue.label}'}"

    def pick_response(self, pair: Pair, best: BestJudgeOutput) -> str:
        """Return the shown response."""
        if isinstance(pair, Example):
            return edited_example(pair, self.edit, best)
        pair = present_pair(pair, Condition(edit=self.edit))
        number = self.response if self.edit is None else edit_target(pair)
        return pair.response_1 if number == 1 else pair.response_2


def scored_response_condition(
    condition: Condition, number: Literal[1, 2], pair: Pair | None = None
) -> ScoredResponseCondition:
    """Return the condition of response `number`'s score.

    Edits distinguish the pair's target.

    >>> from dataclasses import replace
    >>> from judgefixtures.models.contrasts import contrasts
    >>> new_old = contrasts("recency")[0].x
    >>> [scored_response_condition(new_old, number).name for number in (1, 2)]
    ['score-1-recency-new', 'score-2-recency-old']
    >>> scored_response_condition(replace(new_old, order="21"), 1).name
    'score-1-recency-old'
    """
    if isinstance(condition, SingleResponseCondition):
        if condition.edit:
            return ScoredResponseCondition(edit=condition.edit)
        return ScoredResponseCondition(cue=condition.cue_1)
    if condition.edit is not None and pair is not None and number == edit_target(pair):
        return ScoredResponseCondition(edit=condition.edit)
    first = number == 1 if condition.order == "12" else number == 2
    return ScoredResponseCondition(response=number, cue=condition.cue_1 if first else condition.cue_2)


def required_score_arms(arms: Arms) -> tuple[Arm, ...]:
    """Return the distinct score requests behind these arms.

    >>> from judgefixtures.models.contrasts import contrasts
    >>> arms = required_score_arms([arm for contrast in contrasts("provenance") for arm in contrast.arms])
    >>> len(arms), arms[0][0].name
    (8, 'score-1-provenance-expert')
    """
    needed: dict[Arm, None] = {}
    for condition, repeat in arms:
        if isinstance(condition, SingleResponseCondition):
            needed[scored_response_condition(condition, 1), repeat] = None
            continue
        if condition.edit is not None:
            needed[ScoredResponseCondition(edit=condition.edit), repeat] = None
        needed |= {(scored_response_condition(condition, number), repeat): None for number in NUMBERS}
    return tuple(needed)


def check_recording_names(families: Families) -> None:
    """Check that cues have distinct recording names.

    Raises:
        JudgeFixturesError: Two share one.
    """
    owners = {scored_response_condition(NO_CUE, 1).name: "the condition without a cue"}
    for family, labels in families.items():
        for label in labels:
            name = ScoredResponseCondition(cue=Cue(family, label, "")).name
            if name in owners:
                raise JudgeFixturesError(MESSAGES.same_recording_name(family, label, name, owners[name]))
            owners[name] = f"the cue {family} {label}"


def best_score(table: JudgeTable) -> BestJudgeOutput:
    """Return the highest score."""
    return BestJudgeOutput(table.scale[1], "score")


class ScoreClient(ModelClient[JudgeReply]):
    """A client for scores."""

    client_name = "Rater"
    is_comparable = True

    def __init__(self, judge: Judge, provider: Provider) -> None:
        super().__init__(judge.name, judge.table, provider, judge.rate_limiter)
        self._judge = judge

    @property
    def identity(self) -> dict[str, Any]:
        """The judge's identity."""
        return self._judge.identity

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return one response's prompt.

        Raises:
            ValueError: The condition shows a pair.
        """
        if not isinstance(condition, ScoredResponseCondition):
            raise ValueError(MESSAGES.pair_to_score(self.name, condition))
        cue = "" if condition.cue is None else condition.cue.render_alone(pair.content_type)
        response, scale = condition.pick_response(pair, best_score(self.table)), scale_text(self.table.scale)
        in_prompt = condition.cue is not None and condition.cue.place == "prompt"
        placement = self.table.cue_placement
        return self._judge.template.render_one(pair, response, cue, placement, scale, cue_of_prompt=in_prompt)

    def shows(self, pair: Pair) -> Pair:
        """Return a pair with shown columns."""
        return self._judge.shows(pair)

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:
        """Return the score, perhaps invalid."""
        table, notation, scale = self.table, self.table.notation, self.table.scale
        number = f"a number of {scale_text(scale)}"
        asked = f"[[N]], N {number}" if notation == "brackets" else f'{{"score": {number}, "reason": ...}}'
        return Reading(
            answer,
            table,
            lambda text: parse_score(text, notation, scale),
            lambda text: hint_for_rating(text, notation, scale),
            asked,
        ).reply(retries, wasted)


# --- a verdict of two ratings -----------------------------------------------------------------------------


def compare_scores(first: JudgeReply, second: JudgeReply, content_type: str, *, counts_ties: bool) -> JudgeReply:
    """Return the reply that the scores of what stands first and second amount to.

    The higher score is chosen. Equal scores are a tie, which counts or is invalid; where one is invalid, so is the
    verdict, for the same reason. The reason is both, each with its response and score.

    >>> ratings = (JudgeReply(Score(7, "It is right.")), JudgeReply(Score(4, "It is wrong.")))
    >>> compare_scores(*ratings, "Response", counts_ties=True).verdict.reason
    'Response 1 (7): It is right. Response 2 (4): It is wrong.'
    """
    both = (first, second)
    reason = _joined(both, content_type, lambda rating: rating.verdict.reason)
    reasoning = _joined(both, content_type, lambda rating: rating.verdict.reasoning)
    repaired = tuple(dict.fromkeys(name for rating in both for name in rating.verdict.repaired))
    a, b = (rating.verdict.value for rating in both)
    scores = None if a is None or b is None else (a, b)
    invalid = first.verdict.invalid or second.verdict.invalid or ("tie" if a == b and not counts_ties else None)
    chosen = None if scores is None or a == b else scores.index(max(scores)) + 1
    tie = chosen is None and invalid is None
    verdict = Verdict(chosen, reason, invalid, () if invalid else repaired, reasoning, tie, scores=scores)
    return JudgeReply(
        verdict,
        detail="; ".join(dict.fromkeys(filter(None, (first.detail, second.detail)))),
        served_model=first.served_model or second.served_model,
        fingerprint=first.fingerprint or second.fingerprint,
        usage=add_usage(first.usage, second.usage),
        retries=first.retries + second.retries,
        wasted=first.wasted + second.wasted,
    )


def _joined(both: Sequence[JudgeReply], content_type: str, text: Callable[[JudgeReply], str]) -> str:
    if not any(text(rating).strip() for rating in both):
        return ""
    sentences = []
    for number, rating in enumerate(both, 1):
        score = rating.invalid or rating.verdict.value
        words = text(rating).strip()
        sentences.append(f"{content_type} {number} ({score}){f': {_ended(words)}' if words else '.'}")
    return " ".join(sentences)


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", ".'", '."', ".)")) else f"{text}."


def add_usage(a: Usage, b: Usage) -> Usage:
    """Return two calls' tokens."""
    counted = [(name, one, getattr(b, name)) for name, one in asdict(a).items() if name != "service_tier"]
    counts = {name: None if one is None or other is None else one + other for name, one, other in counted}
    return Usage(**counts, service_tier=a.service_tier if a.service_tier == b.service_tier else None)


def reply_of_score(rating: JudgeReply, mark: float | None) -> JudgeReply:
    """Return the reply that the score of a single response amounts to: with a mark it passes from there on.

    Without one nothing is chosen, and the score alone says something: a tie.

    >>> reply_of_score(JudgeReply(Score(7, "It is right.")), 6).verdict.selected_response
    1
    """
    score = rating.verdict.value
    passed = None if score is None or mark is None else score >= mark
    scores, tie = None if score is None else (score,), score is not None and mark is None
    verdict = replace(rating.verdict, value=passed, name="passed", tie=tie, scores=scores)
    return replace(rating, verdict=verdict)


# --- the kind ---------------------------------------------------------------------------------------------


class PointwiseMode(JudgeMode):
    """Scores of responses, compared for verdicts."""

    sees_order: ClassVar[bool] = False
    gives_scores: ClassVar[bool] = True
    rater: ScoreClient

    def __init__(self, judge: Judge, provider: Provider) -> None:
        super().__init__(judge, provider)
        self.rater = ScoreClient(judge, provider)

    def identity(self, base: dict[str, Any]) -> dict[str, Any]:
        """Return the identity with the scale."""
        return base | {"mode": self.table.mode, "scale": list(self.table.scale)}

    @classmethod
    def schema(cls, table: JudgeTable) -> dict[str, Any]:
        """Return a score's schema."""
        lowest, highest = table.scale
        kind = "integer" if is_whole_number_scale(table.scale) else "number"
        return stated_value_schema("score", {"type": kind, "minimum": lowest, "maximum": highest})

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Pairs) -> Contrast:
        """Return the contrast."""
        return as_single_response(contrast) if are_examples(pairs) else contrast

    def chooses(self, pairs: Pairs) -> bool:
        """Return whether scores give verdicts."""
        return self.table.pass_mark is not None or not are_examples(pairs)

    @property
    def scale(self) -> Scale:
        """The table's scale."""
        return self.table.scale

    def check_cues(self, families: Families) -> None:
        """Check distinct recording names."""
        check_recording_names(families)

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return one response's prompt."""
        return self.rater.prompt(pair, condition)

    def required_arms(self, arms: Arms) -> tuple[Arm, ...]:
        """Return the scores that arms need."""
        return required_score_arms(arms)

    def distinct(self, arms: Arms, pairs: Pairs) -> tuple[Arm, ...]:
        """Return the arms in the pairs' own order."""
        return single_response_arms(arms) if are_examples(pairs) else tuple(arm for arm in arms if arm[0].order == "12")

    def check_asked(self) -> None:
        """Refuse verdicts.

        Raises:
            ValueError: Always.
        """
        raise ValueError(MESSAGES.gives_no_verdict(self.judge.name, self.table.mode))

    async def score(self, prompt: str) -> Score:
        """Return the prompt's score."""
        return (await self.rater.ask(prompt)).verdict

    def parse_reply(self, answer: ProviderResponse, retries: int = 0, wasted: int = 0) -> JudgeReply:  # noqa: ARG002
        """Refuse single answers.

        Raises:
            ValueError: Always.
        """
        self.check_asked()
        raise AssertionError

    def requests(self, pairs: Pairs, arms: Arms, plans: Plans) -> list[RequestSet[Any]]:  # noqa: ARG002
        """Return the requests for scores, each once.

        The response of a pair is asked about as that pair's, so that whoever scored pairs has the scores of their
        responses, too. What an edit changes is asked about as it is: of a pair it would be one response alone.
        """
        if units_per_pair(pairs) == 1:
            return [RequestSet(self.rater, pairs, arms)]
        edited = [arm for arm in arms if arm[0].edit is not None]
        others = [arm for arm in arms if arm[0].edit is None]
        requests = [RequestSet(self.rater, pairs, edited)] if edited else []
        for number in NUMBERS if others else ():
            of = {each.id: each.of for each in pairs if isinstance(each, Example) and each.of and each.number == number}
            numbered = [(replace(_alone(arm), response=number), arm[1]) for arm in others]
            requests.append(RequestSet(self.rater, list(of.values()), numbered, ids=list(of), reply_arms=others))
        return requests

    def replies(self, pairs: Pairs, arm: Arm, asked: RepliesByArm) -> Mapping[str, JudgeReply]:
        """Return what scores amount to in an arm, by pair id, of the pairs that have both."""
        if isinstance(arm[0], SingleResponseCondition):
            scores = asked.get((scored_response_condition(arm[0], 1), arm[1]), {})
            return {
                pair.id: reply_of_score(scores[pair.id], self.table.pass_mark) for pair in pairs if pair.id in scores
            }
        scored = {pair.id: (pair, both) for pair in pairs if (both := scores_of_both(asked, pair, *arm)) is not None}
        ties = self.table.counts_ties
        return {key: compare_scores(*both, pair.content_type, counts_ties=ties) for key, (pair, both) in scored.items()}

    def excuse(self, contrast: Contrast) -> str:
        """Return why orders do not apply."""
        return f"{self.judge.name} scores one response at a time: it sees no order" if contrast.is_of_orders else ""


def _alone(arm: Arm) -> ScoredResponseCondition:
    condition, _ = arm
    assert isinstance(condition, ScoredResponseCondition), condition.name  # a rater is asked in no other
    return condition


def scores_of_both(
    asked: RepliesByArm, pair: Pair, condition: Condition, repeat: int
) -> tuple[JudgeReply, JudgeReply] | None:
    """Return the scores of what stands first and second in a condition; None where one of them is missing."""
    order = NUMBERS if condition.order == "12" else NUMBERS[::-1]
    arms = [(scored_response_condition(condition, number, pair), repeat) for number in order]
    first, second = (asked.get(arm, {}).get(pair.id) for arm in arms)
    return None if first is None or second is None else (first, second)
