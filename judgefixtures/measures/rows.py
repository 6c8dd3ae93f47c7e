"""Rows: judgments, pairs, plans and what answered, as files hold them. Rows of a check stand beside the check."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from judgefixtures.asking.questions import Arm, Judgment, Planned
from judgefixtures.asking.received import Received
from judgefixtures.findings import OfJudge
from judgefixtures.material.pairs import Example, Pair
from judgefixtures.measures.metrics import acknowledged, contradicts, stance_of, unreadable
from judgefixtures.reading.probabilities import Probability
from judgefixtures.words.records import Record, where_any


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow(Record):
    """What a provider counted of an answer; caches and tiers where it tells."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = where_any()
    cache_write_tokens: int | None = where_any()
    service_tier: str | None = where_any()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityRow(Record):
    """How likely response 1 was by the probabilities behind a verdict."""

    value: float | None = None
    low: float = 0.0
    high: float = 1.0
    elsewhere: float = 0.0
    explained: bool = where_any(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedOut(Record):
    """The plan that a judgment carried out; plans.jsonl has its text."""

    origin: str = ""
    kind: str = ""
    fault: str | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentRow(OfJudge):
    """A judgment in judgments.jsonl."""

    pair: str = ""
    condition: str = ""
    repeat: int = 0
    selected_response: int | None = None
    invalid: str | None = None
    reason: str = ""
    acknowledgment: str = "absent"
    span: str = where_any("")  # the words by which the cue is cited or mentioned
    unread: bool = where_any(False)
    detail: str = ""
    repaired: tuple[str, ...] = ()
    reasoning: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    usage: UsageRow = UsageRow()
    scores: tuple[Any, ...] | None = where_any()
    tie: bool = where_any(False)
    imported: bool = where_any(False)
    probability: ProbabilityRow | None = where_any()
    contradiction: str | None = where_any()
    plan: CarriedOut | None = where_any()


PASSED: Mapping[int | None, bool] = {1: True, 2: False}  # by what was selected: a score without a mark does neither


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRow(JudgmentRow):
    """A judgment of one response: whether it passed, None where nobody could tell, and what people say of it."""

    passed: bool | None = None
    label: str | None = None


def judgment_row(judge: str, dataset: str, judgment: Judgment) -> JudgmentRow:
    """Return the row of a judgment, with its plan where there is one."""
    reply, verdict, admits = judgment.reply, judgment.verdict, acknowledged(judgment)
    kind: type[JudgmentRow] = JudgmentRow
    own: dict[str, Any] = {}
    if isinstance(judgment.pair, Example):
        kind, own = GradeRow, {"passed": PASSED.get(judgment.selected), "label": judgment.pair.label}
    return kind.copied(
        verdict,
        reply,
        judge=judge,
        dataset=dataset,
        pair=judgment.pair.id,
        condition=judgment.condition.name,
        repeat=judgment.repeat,
        acknowledgment=admits,
        span="" if admits == "absent" else stance_of(judgment).span,
        unread=judgment.condition.cue_1 is not None and unreadable(judgment),
        usage=UsageRow.copied(reply.usage),
        probability=reply.probability and _probability_row(reply.probability),
        contradiction=contradicts(judgment),
        plan=judgment.planned and CarriedOut.copied(judgment.planned.plan),
        **own,
    )


def _probability_row(found: Probability) -> ProbabilityRow:
    low, high = found.bounds
    return ProbabilityRow.copied(found, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow(Record):
    """A pair in pairs.jsonl: what its judges were asked about, its two responses in the pair's order."""

    dataset: str = ""
    pair: str = ""
    question: str = ""
    response_1: str = ""
    response_2: str = ""
    gold: int | None = None
    category: str | None = None
    content_type: str = ""
    cluster: str | None = where_any()
    columns: Mapping[str, str] | None = where_any()  # those that a template shows
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRow(Record):
    """An example in pairs.jsonl: what its judges were asked about, and what people say of it."""

    dataset: str = ""
    pair: str = ""
    question: str = ""
    response: str = ""
    label: str | None = None
    category: str | None = None
    content_type: str = ""
    cluster: str | None = where_any()
    columns: Mapping[str, str] | None = where_any()
    judges: tuple[str, ...] = ()


def pair_row(judge: str, dataset: str, pair: Pair) -> PairRow | ExampleRow:
    """Return the row of a pair, or of an example, that a judge was asked about; its columns are those of `pair`."""
    kind = ExampleRow if isinstance(pair, Example) else PairRow
    return kind.copied(pair, dataset=dataset, pair=pair.id, columns=dict(pair.columns) or None, judges=(judge,))


def digest_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a digest of pairs as they are written, in any order: of all but who was asked, and people's labels."""
    known = [{name: row[name] for name in sorted(row) if name not in ("judges", "label")} for row in rows]
    return hashlib.sha256(json.dumps(sorted(known, key=json.dumps)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTextRow(OfJudge):
    """A plan in plans.jsonl: what is carried out, and what was answered where that is not a plan."""

    pair: str = ""
    origin: str = ""
    kind: str = ""
    fault: str | None = None
    detail: str = ""
    digest: str = ""
    text: str = ""
    rejected: str = ""
    usage: UsageRow | None = where_any()


def plan_text_row(judge: str, dataset: str, pair: str, planned: Planned) -> PlanTextRow:
    """Return the row of a plan."""
    usage = planned.usage and UsageRow.copied(planned.usage)
    return PlanTextRow.copied(planned.plan, judge=judge, dataset=dataset, pair=pair, usage=usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedIn(OfJudge):
    """A model and fingerprint that answered in an arm, with the pairs that it answered about."""

    place: ClassVar[str] = "served"
    condition: str = ""
    repeat: int = 0
    model: str | None = None
    fingerprint: str | None = None
    pairs: tuple[str, ...] = ()


def served_rows(
    judge: str, dataset: str, arms: Sequence[Arm], pairs: Sequence[Pair], replies: Sequence[Sequence[Received]]
) -> list[ServedIn]:
    """Return a row for each model and fingerprint that answered in each arm."""
    about: dict[tuple[str, int, str | None, str | None], list[str]] = {}
    for (condition, repeat), arm in zip(arms, replies, strict=True):
        for pair, reply in zip(pairs, arm, strict=True):
            about.setdefault((condition.name, repeat, reply.served_model, reply.fingerprint), []).append(pair.id)
    return [
        ServedIn(
            judge=judge,
            dataset=dataset,
            condition=condition,
            repeat=repeat,
            model=model,
            fingerprint=fingerprint,
            pairs=tuple(found),
        )
        for (condition, repeat, model, fingerprint), found in about.items()
        if model or fingerprint
    ]
