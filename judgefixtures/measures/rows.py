"""Rows: judgments, plans and what answered, as files hold them. Rows of a check stand beside the check."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from judgefixtures.asking.asker import Said
from judgefixtures.asking.questions import Arm, Judgment, Planned
from judgefixtures.findings import Row
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import Plan
from judgefixtures.measures.metrics import acknowledged, contradicts, stance_of, unreadable
from judgefixtures.providers import Usage
from judgefixtures.reading.probabilities import Probability


def judgment_row(judge: str, dataset: str, judgment: Judgment) -> Row:
    """Return the row of a judgment for judgments.jsonl, as plain JSON values; with its plan where there is one."""
    reply, usage = judgment.reply, judgment.reply.usage
    admits = acknowledged(judgment)
    planned = {} if judgment.planned is None else {"plan": _plan_of(judgment.planned.plan)}
    return {
        "judge": judge,
        "dataset": dataset,
        "pair": judgment.pair.id,
        "condition": judgment.condition.name,
        "repeat": judgment.repeat,
        "selected_response": judgment.verdict.selected_response,
        "invalid": judgment.verdict.invalid,
        "reason": judgment.verdict.reason,
        "acknowledgment": admits,
        **({} if admits == "absent" or not (words := stance_of(judgment).span) else {"span": words}),
        **({"unread": True} if judgment.condition.cue_1 is not None and unreadable(judgment) else {}),
        "detail": reply.detail,
        "repaired": list(judgment.verdict.repaired),
        "reasoning": judgment.verdict.reasoning,
        "served_model": reply.served_model,
        "fingerprint": reply.fingerprint,
        "usage": _usage_of(usage),
        **({} if reply.scores is None else {"scores": list(reply.scores)}),
        **({"tie": True} if judgment.verdict.tie else {}),
        **({"imported": True} if reply.imported else {}),
        **({} if reply.probability is None else {"probability": _probability_of(reply.probability)}),
        **({} if (quote := contradicts(judgment)) is None else {"contradiction": quote}),
        **planned,
    }


def _usage_of(usage: Usage) -> Row:
    told = {
        "cached_tokens": usage.cached_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "service_tier": usage.service_tier,
    }
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        **{name: value for name, value in told.items() if value is not None},
    }


def _probability_of(probability: Probability) -> Row:
    low, high = probability.bounds
    return {
        "value": probability.value,
        "low": low,
        "high": high,
        "elsewhere": probability.elsewhere,
        **({"explained": True} if probability.explained else {}),
    }


def _plan_of(plan: Plan) -> Row:
    return {"origin": plan.origin, "kind": plan.kind, "fault": plan.fault, "digest": plan.digest}


def pair_row(judge: str, dataset: str, pair: Pair) -> Row:
    """Return the row of a pair for pairs.jsonl: what a judge was asked about, its two responses in the pair's order."""
    return {
        "dataset": dataset,
        "pair": pair.id,
        "question": pair.question,
        "response_1": pair.response_1,
        "response_2": pair.response_2,
        "gold": pair.gold,
        "category": pair.category,
        "content_type": pair.content_type,
        **({} if pair.cluster is None else {"cluster": pair.cluster}),
        "judges": [judge],
    }


def digest_of(rows: Iterable[Row]) -> str:
    """Return a digest of pairs' rows, in any order: of all that is known of them but who was asked."""
    known = [{name: row[name] for name in sorted(row) if name != "judges"} for row in rows]
    return hashlib.sha256(json.dumps(sorted(known, key=json.dumps)).encode()).hexdigest()[:16]


def plan_text_row(judge: str, dataset: str, pair: str, planned: Planned) -> Row:
    """Return the row of a plan for plans.jsonl: what is carried out, and what was answered where that is not a plan."""
    plan = planned.plan
    usage = {} if planned.usage is None else {"usage": _usage_of(planned.usage)}
    return {
        "judge": judge,
        "dataset": dataset,
        "pair": pair,
        "origin": plan.origin,
        "kind": plan.kind,
        "fault": plan.fault,
        "detail": plan.detail,
        "digest": plan.digest,
        "text": plan.text,
        "rejected": plan.rejected,
        **usage,
    }


def served_rows(
    judge: str, dataset: str, arms: Sequence[Arm], pairs: Sequence[Pair], replies: Sequence[Sequence[Said]]
) -> list[Row]:
    """Return a row for each model and fingerprint that answered in each arm, with the pairs that it answered about."""
    about: dict[tuple[str, int, str | None, str | None], list[str]] = {}
    for (condition, repeat), arm in zip(arms, replies, strict=True):
        for pair, reply in zip(pairs, arm, strict=True):
            about.setdefault((condition.name, repeat, reply.served_model, reply.fingerprint), []).append(pair.id)
    return [
        {
            "judge": judge,
            "dataset": dataset,
            "condition": condition,
            "repeat": repeat,
            "model": model,
            "fingerprint": fingerprint,
            "pairs": found,
        }
        for (condition, repeat, model, fingerprint), found in about.items()
        if model or fingerprint
    ]
