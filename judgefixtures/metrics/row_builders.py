"""Builders of rows for judgments, pairs, plans and served models."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judgefixtures.models import judgment_rows as rows
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.models.probabilities import Probability
from judgefixtures.models.replies import Arm, ModelReply, PlanWithUsage

from .reasons import contradicting_words, explain_reading, is_unreadable_reason, read_acknowledgment


def judgment_row(judge: str, dataset: str, judgment: Judgment) -> rows.JudgmentRow:
    """Return a judgment's row."""
    reply, verdict, admits = judgment.reply, judgment.verdict, read_acknowledgment(judgment)
    kind = rows.GradeRow if isinstance(judgment.pair, Example) else rows.JudgmentRow
    return kind.from_sources(
        verdict,
        reply,
        judgment.pair,
        judge=judge,
        dataset=dataset,
        pair=judgment.pair.id,
        condition=judgment.condition.name,
        repeat=judgment.repeat,
        acknowledgment=admits,
        span="" if admits == "absent" else explain_reading(judgment).span,
        unread=judgment.condition.cue_1 is not None and is_unreadable_reason(judgment),
        probability=verdict.probability and _probability_row(verdict.probability),
        contradiction=contradicting_words(judgment),
        plan=judgment.planned and rows.ExecutedPlanRow.from_sources(judgment.planned.plan),
    )


def _probability_row(probability: Probability) -> rows.ProbabilityRow:
    low, high = probability.bounds
    return rows.ProbabilityRow.from_sources(probability, low=low, high=high)


def pair_row(judge: str, dataset: str, pair: Pair) -> rows.PairRow | rows.ExampleRow:
    """Return the row of a pair or example."""
    kind = rows.ExampleRow if isinstance(pair, Example) else rows.PairRow
    columns = {name: str(text) for name, text in pair.columns.items()}  # xdist sends plain texts only
    return kind.from_sources(pair, dataset=dataset, pair=pair.id, columns=columns or None, judges=(judge,))


def pairs_digest(written: Iterable[Mapping[str, Any]]) -> str:
    """Return an order-independent digest of pairs, without judges and labels."""
    known = [{name: row[name] for name in sorted(row) if name not in ("judges", "label")} for row in written]
    return hashlib.sha256(json.dumps(sorted(known, key=json.dumps)).encode()).hexdigest()[:16]


def plan_text_row(judge: str, dataset: str, pair: str, planned: PlanWithUsage) -> rows.PlanTextRow:
    """Return a plan's row."""
    return rows.PlanTextRow.from_sources(planned.plan, judge=judge, dataset=dataset, pair=pair, usage=planned.usage)


def served_rows(
    judge: str, dataset: str, arms: Sequence[Arm], pairs: Sequence[Pair], replies: Sequence[Sequence[ModelReply]]
) -> list[rows.ServedModelInArm]:
    """Return a row per served model and arm."""
    about: dict[tuple[str, int, str | None, str | None], list[str]] = {}
    for (condition, repeat), arm in zip(arms, replies, strict=True):
        for pair, reply in zip(pairs, arm, strict=True):
            about.setdefault((condition.name, repeat, reply.served_model, reply.fingerprint), []).append(pair.id)
    return [
        rows.ServedModelInArm(
            judge=judge,
            dataset=dataset,
            condition=condition,
            repeat=repeat,
            model=model,
            fingerprint=fingerprint,
            pairs=tuple(pair_ids),
        )
        for (condition, repeat, model, fingerprint), pair_ids in about.items()
        if model or fingerprint
    ]
