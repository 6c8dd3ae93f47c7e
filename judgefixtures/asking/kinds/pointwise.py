"""A judge that scores one response at a time: it is asked about each response once, and its scores make verdicts.

A verdict of such a judge is a comparison of two scores, so that its arms share them: response 1 labelled "new" has the
same score in every contrast that shows it so, and the order of the responses is seen by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from judgefixtures.asking.asker import Asker, Task
from judgefixtures.asking.kinds import Clerk, Judged, Kind, LookUp, of_one_response
from judgefixtures.asking.received import (
    Arm,
    Arms,
    Pairs,
    Plans,
    Received,
    Replies,
    Reply,
    read_answer,
    received_with,
    unread,
)
from judgefixtures.config import JudgeTable
from judgefixtures.material.contrasts import NO_CUE, Condition, Contrast, Single, single
from judgefixtures.material.cues import Cue, Families
from judgefixtures.material.edits import Best, shown_alone, target
from judgefixtures.material.pairs import Example, Pair, is_of_examples, share
from judgefixtures.material.plans import Plan
from judgefixtures.material.prompts import presented
from judgefixtures.providers import Answer, Provider, Usage, stated
from judgefixtures.reading.hints import hint_for_rating
from judgefixtures.reading.scores import Scale, Score, is_whole, parse_score, shown_scale
from judgefixtures.reading.verdicts import InvalidKind, Verdict
from judgefixtures.words.errors import JudgeFixturesError

NUMBERS: tuple[Literal[1, 2], ...] = (1, 2)


@dataclass(frozen=True, slots=True)
class Alone(Condition):
    """A condition in which one response is shown by itself: which of the pair's own, with its cue, if it has one.

    With an edit it is the response that the edit changes, whichever that is.
    """

    response: Literal[1, 2] = 1
    cue: Cue | None = None

    @property
    def name(self) -> str:
        """The condition's name, also its cassette's: `score-1-no-cue`, `score-2-recency-new`, `score-edited-...`."""
        if self.edit is not None:
            return f"score-edited-{self.edit.name}"
        return f"score-{self.response}-{'no-cue' if self.cue is None else f'{self.cue.family}-{self.cue.label}'}"

    def pick_response(self, pair: Pair, best: Best) -> str:
        """Return the response of a pair that is shown, edited where the condition says so.

        Of an example the edit asks for the best that the judge can say; of a pair, for one of its two responses.
        """
        if isinstance(pair, Example):
            return shown_alone(pair, self.edit, best)
        pair = presented(pair, Condition(edit=self.edit))
        number = self.response if self.edit is None else target(pair)
        return pair.response_1 if number == 1 else pair.response_2


def alone(condition: Condition, number: Literal[1, 2], pair: Pair | None = None) -> Alone:
    """Return the condition in which a pair's own response `number` gets its score for a condition of the pair.

    Where the condition edits a response, that is another one for the pair's target than for its other response.

    >>> from dataclasses import replace
    >>> from judgefixtures.material.contrasts import contrasts
    >>> new_old = contrasts("recency")[0].x
    >>> alone(new_old, 1).name, alone(new_old, 2).name, alone(replace(new_old, order="21"), 1).name
    ('score-1-recency-new', 'score-2-recency-old', 'score-1-recency-old')
    """
    if isinstance(condition, Single):
        return Alone(edit=condition.edit) if condition.edit else Alone(cue=condition.cue_1)
    if condition.edit is not None and pair is not None and number == target(pair):
        return Alone(edit=condition.edit)
    first = number == 1 if condition.order == "12" else number == 2
    return Alone(response=number, cue=condition.cue_1 if first else condition.cue_2)


def rating_arms(arms: Arms) -> tuple[Arm, ...]:
    """Return what has to be scored for some arms, each once, with its repeat.

    >>> from judgefixtures.material.contrasts import contrasts
    >>> arms = rating_arms([arm for contrast in contrasts("provenance") for arm in contrast.arms])
    >>> len(arms), arms[0][0].name
    (8, 'score-1-provenance-expert')
    """
    needed: dict[Arm, None] = {}
    for condition, repeat in arms:
        if isinstance(condition, Single):
            needed[alone(condition, 1), repeat] = None
            continue
        if condition.edit is not None:
            needed[Alone(edit=condition.edit), repeat] = None
        needed |= {(alone(condition, number), repeat): None for number in NUMBERS}
    return tuple(needed)


def check_names(families: Families) -> None:
    """Raise JudgeFixturesError where two cues would have recordings of one name: each would answer for the other."""
    owners = {alone(NO_CUE, 1).name: "the condition without a cue"}
    for family, labels in families.items():
        for label in labels:
            name = Alone(cue=Cue(family, label, "")).name
            if name in owners:
                raise JudgeFixturesError(
                    f"the cue {family} {label}: recordings of a judge that scores would have the name {name!r}, and so "
                    f"would those of {owners[name]}: leave the hyphens out of the labels."
                )
            owners[name] = f"the cue {family} {label}"


@dataclass(frozen=True, slots=True)
class Rating(Received):
    """A score. `unread` shows the answer where none could be read in it."""

    score: Score
    unread: str = ""

    @property
    def invalid(self) -> str | None:
        """Why there is no score, or None."""
        return self.score.invalid

    @property
    def decides(self) -> object:
        """The number."""
        return self.score.value, self.invalid


def best_score(table: JudgeTable) -> Best:
    """Return the best that a judge of a scale says: the highest score."""
    return Best(table.scale[1], "score")


class Rater(Asker[Rating]):
    """A judge's model, asked for the score of one response: what there is to ask of a judge that scores.

    It is the judge in all that can change an answer, and it has the judge's name, provider and pace.
    """

    is_comparable = True

    def __init__(self, judge: Judged, provider: Provider) -> None:
        super().__init__(judge.name, judge.table, provider, judge.pace)
        self._judge = judge

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change a score: the judge's identity."""
        return self._judge.identity

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt for the one response that a condition shows; ValueError where it shows a pair."""
        if not isinstance(condition, Alone):
            raise ValueError(
                f"judge {self.name!r} scores one response at a time, and {condition.name!r} shows a pair: "
                "ask about judgefixtures.asking.kinds.pointwise.alone(condition, 1) and (condition, 2)"
            )
        cue = "" if condition.cue is None else condition.cue.render_alone(pair.content_type)
        shown, scale = condition.pick_response(pair, best_score(self.table)), shown_scale(self.table.scale)
        return self._judge.template.render_one(pair, shown, cue, self.table.cue_placement, scale)

    def shows(self, pair: Pair) -> Pair:
        """Return a pair with the columns that the judge's template shows of it, and no others."""
        return self._judge.shows(pair)

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Rating:
        """Return the score that an answer states, or the invalid one that it is."""
        score, detail = read_answer(
            answer,
            lambda text: parse_score(text, self.table.notation, self.table.scale),
            lambda kind, reasoning: Score(None, "", kind, reasoning=reasoning),
        )
        shown = self._unread(answer, score.invalid) if score.invalid is not None and answer.invalid is None else ""
        return Rating(score, shown, **received_with(answer, retries, wasted) | {"detail": detail})

    def _unread(self, answer: Answer, kind: InvalidKind) -> str:
        """Return what an answer that states no score said, and which keys would have it read, if any would."""
        table = self.table
        hint = hint_for_rating(answer.text, table.notation, table.scale)
        scale = f"a number of {shown_scale(table.scale)}"
        asked = f"[[N]], N {scale}" if table.notation == "brackets" else f'{{"score": {scale}, "reason": ...}}'
        return unread(answer, kind, hint, asked, table)


# --- a verdict of two ratings -----------------------------------------------------------------------------


def compare(first: Rating, second: Rating, content_type: str, *, counts_ties: bool) -> Reply:
    """Return the reply that the scores of what stands first and second amount to.

    The higher score is chosen. Equal scores are a tie, which counts or is invalid; where one is invalid, so is the
    verdict, for the same reason. The reason is both, each with its response and score.

    >>> ratings = (Rating(Score(7, "It is right.")), Rating(Score(4, "It is wrong.")))
    >>> compare(*ratings, "Response", counts_ties=True).verdict.reason
    'Response 1 (7): It is right. Response 2 (4): It is wrong.'
    """
    both = (first, second)
    reason = _joined(both, content_type, lambda rating: rating.score.reason)
    reasoning = _joined(both, content_type, lambda rating: rating.score.reasoning)
    repaired = tuple(dict.fromkeys(name for rating in both for name in rating.score.repaired))
    a, b = (rating.score.value for rating in both)
    scores = None if a is None or b is None else (a, b)
    if a is None or b is None:
        verdict = Verdict(None, reason, first.score.invalid or second.score.invalid, reasoning=reasoning)
    elif a != b:
        verdict = Verdict(1 if a > b else 2, reason, None, repaired, reasoning)
    elif counts_ties:
        verdict = Verdict(None, reason, None, repaired, reasoning, tie=True)
    else:
        verdict = Verdict(None, reason, "tie", reasoning=reasoning)
    return Reply(
        verdict,
        scores=scores,
        detail="; ".join(dict.fromkeys(said for rating in both if (said := rating.unread or rating.detail))),
        served_model=first.served_model or second.served_model,
        fingerprint=first.fingerprint or second.fingerprint,
        usage=added_usage(first.usage, second.usage),
        retries=first.retries + second.retries,
        wasted=first.wasted + second.wasted,
    )


def _joined(both: Sequence[Rating], content_type: str, text: Callable[[Rating], str]) -> str:
    """Return a text of each rating behind its response and score, one after the other; empty where neither has any."""
    if not any(text(rating).strip() for rating in both):
        return ""
    said = []
    for number, rating in enumerate(both, 1):
        score: float | InvalidKind | None = rating.score.invalid if rating.score.value is None else rating.score.value
        words = text(rating).strip()
        said.append(f"{content_type} {number} ({score}){f': {_ended(words)}' if words else '.'}")
    return " ".join(said)


def _ended(text: str) -> str:
    """Return a text that ends as a sentence does: what comes behind it is another's."""
    return text if text.endswith((".", "!", "?", ".'", '."', ".)")) else f"{text}."


def added_usage(a: Usage, b: Usage) -> Usage:
    """Return the tokens of two calls; what is not known of one is not known of both."""
    told = [(name, one, getattr(b, name)) for name, one in asdict(a).items() if name != "service_tier"]
    counts = {name: None if one is None or other is None else one + other for name, one, other in told}
    return Usage(**counts, service_tier=a.service_tier if a.service_tier == b.service_tier else None)


def graded(rating: Rating, mark: float | None) -> Reply:
    """Return the reply that the score of a single response amounts to: with a mark it passes from there on.

    Without one nothing is chosen, and the score alone says something: a tie.

    >>> graded(Rating(Score(7, "It is right.")), 6).verdict.selected_response
    1
    """
    score = rating.score
    if score.value is None:
        verdict = Verdict(None, score.reason, score.invalid, reasoning=score.reasoning)
    elif mark is None:
        verdict = Verdict(None, score.reason, None, score.repaired, score.reasoning, tie=True)
    else:
        verdict = Verdict(1 if score.value >= mark else 2, score.reason, None, score.repaired, score.reasoning)
    told = {name: getattr(rating, name) for name in ("served_model", "fingerprint", "usage", "retries", "wasted")}
    scores = None if score.value is None else (score.value,)
    return Reply(verdict, scores=scores, detail=rating.unread or rating.detail, **told)


# --- the kind ---------------------------------------------------------------------------------------------

Scored = Mapping[tuple[str, int, str], Rating]  # by the condition's name, its repeat and the pair


class Pointwise(Kind):
    """One response is shown at a time, and scored; a verdict compares two scores, and no order is seen."""

    sees_order: ClassVar[bool] = False
    gives_scores: ClassVar[bool] = True
    rater: Rater

    def __init__(self, judge: Judged, provider: Provider) -> None:
        super().__init__(judge, provider)
        self.rater = Rater(judge, provider)

    def identity(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return it with the scale. Whether equal scores count as a tie changes nothing that is asked."""
        return asked | {"mode": self.table.mode, "scale": list(self.table.scale)}

    @classmethod
    def schema(cls, table: JudgeTable) -> dict[str, Any]:
        """Return the schema of a score on the table's scale."""
        lowest, highest = table.scale
        kind = "integer" if is_whole(table.scale) else "number"
        return stated("score", {"type": kind, "minimum": lowest, "maximum": highest})

    @classmethod
    def contrast(cls, contrast: Contrast, pairs: Pairs) -> Contrast:
        """Return the contrast of two responses, or of an example's only one."""
        return single(contrast) if is_of_examples(pairs) else contrast

    def chooses(self, pairs: Pairs) -> bool:
        """Tell whether its scores make verdicts: two of a pair do, and of an example one and a mark."""
        return self.table.pass_mark is not None or not is_of_examples(pairs)

    @property
    def scale(self) -> Scale:
        """That of its table."""
        return self.table.scale

    def check_cues(self, families: Families) -> None:
        """Raise JudgeFixturesError where two cues would have recordings of one name."""
        check_names(families)

    def prompt(self, pair: Pair, condition: Condition, plan: Plan | None = None) -> str:  # noqa: ARG002
        """Return the prompt for the one response that a condition shows."""
        return self.rater.prompt(pair, condition)

    def asks(self, arms: Arms) -> tuple[Arm, ...]:
        """Return the scores that some arms need."""
        return rating_arms(arms)

    def distinct(self, arms: Arms, pairs: Pairs) -> tuple[Arm, ...]:
        """Return the arms in the pairs' own order: the other is the same question. An example has one response."""
        return of_one_response(arms) if is_of_examples(pairs) else tuple(arm for arm in arms if arm[0].order == "12")

    def check_asked(self) -> None:
        """Raise ValueError: it is not shown two responses."""
        raise ValueError(
            f"judge {self.judge.name!r} scores one response at a time (mode = {self.table.mode!r}), and gives no "
            "verdict on two: ask for the score of each with `await judge.score(prompt)`"
        )

    async def score(self, prompt: str) -> Score:
        """Return the score for a prompt that shows one response."""
        return (await self.rater.ask(prompt)).score

    def made_of(self, answer: Answer, retries: int = 0, wasted: int = 0) -> Reply:  # noqa: ARG002
        """Raise ValueError: an answer is a score, and half a verdict."""
        self.check_asked()
        raise AssertionError

    def answers(self, clerk: Clerk, pairs: Pairs, arms: Arms, plans: Plans) -> Replies:  # noqa: ARG002
        """Return what the scores of every arm's responses amount to: each score is asked for once."""
        scored: dict[tuple[str, int, str], Rating] = {}
        for about, asked in self._questions(pairs, self.asks(arms)):
            ratings = clerk.collect(Task(self.rater, list(about.values()), list(asked.values())))
            scored |= {
                (condition.name, repeat, name): rating
                for (condition, repeat), arm in zip(asked, ratings, strict=True)
                for name, rating in zip(about, arm, strict=True)
            }
        return [tuple(self._replies(scored, pairs, arm).values()) for arm in arms]

    def recorded(self, clerk: Clerk, pairs: Pairs, arm: Arm, plans: Plans) -> Mapping[str, Reply]:
        """Return the verdicts of the pairs of which both scores are recorded."""
        scored: dict[tuple[str, int, str], Rating] = {}
        for condition, repeat in self.asks([arm]):
            found = self.found(clerk.look_up, pairs, (condition, repeat), plans)
            scored |= {(condition.name, repeat, pair): rating for pair, rating in found.items()}
        return self._replies(scored, pairs, arm)

    def found(self, look_up: LookUp, pairs: Pairs, arm: Arm, plans: Plans) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what looking up an arm finds, by the id of the pair or example: under whose id it was recorded."""
        found: dict[str, Any] = {}
        for about, asked in self._questions(pairs, [arm]):
            known = look_up(Task(self.rater, list(about.values()), list(asked.values())))
            found |= {name: known[pair.id] for name, pair in about.items() if pair.id in known}
        return found

    @staticmethod
    def _questions(pairs: Pairs, arms: Arms) -> Iterator[tuple[dict[str, Pair], dict[Arm, Arm]]]:
        """Yield what is asked, in parts: the pairs by the id of what is asked about, the arms as it is asked in them.

        The response of a pair is asked about as that pair's, so that whoever scored pairs has the scores of their
        responses, too. What an edit changes is asked about as it is: of a pair it would be one response alone.
        """
        if share(pairs) == 1:
            yield {pair.id: pair for pair in pairs}, {arm: arm for arm in arms}
            return
        if edited := {arm: arm for arm in arms if arm[0].edit is not None}:
            yield {pair.id: pair for pair in pairs}, edited
        for number in NUMBERS if len(edited) < len(arms) else ():
            of = {each.id: each.of for each in pairs if isinstance(each, Example) and each.of and each.number == number}
            yield of, {arm: (replace(_alone(arm), response=number), arm[1]) for arm in arms if arm not in edited}

    def _replies(self, scored: Scored, pairs: Pairs, arm: Arm) -> dict[str, Reply]:
        """Return what scores amount to in an arm, by pair id, of the pairs that have both."""
        if isinstance(arm[0], Single):
            names = {pair.id: (alone(arm[0], 1).name, arm[1], pair.id) for pair in pairs}
            return {pair: graded(scored[key], self.table.pass_mark) for pair, key in names.items() if key in scored}
        found = {pair.id: (pair, both) for pair in pairs if (both := both_ratings(scored, pair, *arm)) is not None}
        ties = self.table.counts_ties
        return {name: compare(*both, pair.content_type, counts_ties=ties) for name, (pair, both) in found.items()}

    def excuse(self, contrast: Contrast) -> str:
        """Return that it sees no order, where a contrast is of orders."""
        return f"{self.judge.name} scores one response at a time: it sees no order" if contrast.is_of_orders else ""


def _alone(arm: Arm) -> Alone:
    condition, _ = arm
    assert isinstance(condition, Alone), condition.name  # a rater is asked in no other
    return condition


def both_ratings(scored: Scored, pair: Pair, condition: Condition, repeat: int) -> tuple[Rating, Rating] | None:
    """Return the ratings of what stands first and second in a condition; None where one of them is lacking."""
    order = NUMBERS if condition.order == "12" else NUMBERS[::-1]
    found = [scored.get((alone(condition, number, pair).name, repeat, pair.id)) for number in order]
    return None if found[0] is None or found[1] is None else (found[0], found[1])
