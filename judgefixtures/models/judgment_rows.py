"""Rows of judgments.jsonl, pairs.jsonl and plans.jsonl."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .findings import JudgeRow
from .record import Record, omit_default
from .usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityRow(Record):
    """Probability of the first response."""

    value: float | None = None
    low: float = 0.0
    high: float = 1.0
    elsewhere: float = 0.0
    explained: bool = omit_default(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedPlanRow(Record):
    """Plan that a judgment carried out."""

    origin: str = ""
    kind: str = ""
    fault: str | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentRow(JudgeRow):
    """A judgment."""

    pair: str = ""
    condition: str = ""
    repeat: int = 0
    selected_response: int | None = None
    invalid: str | None = None
    reason: str = ""
    acknowledgment: str = "absent"
    span: str = omit_default("")  # the words by which the cue is cited or mentioned
    unread: bool = omit_default(False)
    detail: str = ""
    repaired: tuple[str, ...] = ()
    reasoning: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    scores: tuple[Any, ...] | None = omit_default()
    tie: bool = omit_default(False)
    imported: bool = omit_default(False)
    probability: ProbabilityRow | None = omit_default()
    contradiction: str | None = omit_default()
    plan: ExecutedPlanRow | None = omit_default()


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRow(JudgmentRow):
    """A single response's judgment and label."""

    passed: bool | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow(Record):
    """A pair."""

    dataset: str = ""
    pair: str = ""
    question: str = ""
    response_1: str = ""
    response_2: str = ""
    gold: int | None = None
    category: str | None = None
    content_type: str = ""
    cluster: str | None = omit_default()
    columns: Mapping[str, str] | None = omit_default()  # those that a template shows
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRow(Record):
    """An example."""

    dataset: str = ""
    pair: str = ""
    question: str = ""
    response: str = ""
    label: str | None = None
    category: str | None = None
    content_type: str = ""
    cluster: str | None = omit_default()
    columns: Mapping[str, str] | None = omit_default()
    judges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTextRow(JudgeRow):
    """A plan."""

    pair: str = ""
    origin: str = ""
    kind: str = ""
    fault: str | None = None
    detail: str = ""
    digest: str = ""
    text: str = ""
    rejected: str = ""
    usage: Usage | None = omit_default()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModelInArm(JudgeRow):
    """A model and its pairs in an arm."""

    place: ClassVar[str] = "served"
    condition: str = ""
    repeat: int = 0
    model: str | None = None
    fingerprint: str | None = None
    pairs: tuple[str, ...] = ()
