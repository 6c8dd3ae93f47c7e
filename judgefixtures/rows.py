"""Rows: measurements and decisions as plain JSON values, so that they can travel between xdist's processes.

One function a kind of row; what the fields mean stands in docs/contract.md and the design. Nothing is measured, decided
or worded here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from judgefixtures.contrasts import Contrast
from judgefixtures.expenses import Expenses
from judgefixtures.gates import Decision
from judgefixtures.judgments import Judgment
from judgefixtures.metrics import Accuracy, FourCells, Measurement, acknowledged
from judgefixtures.plans import Plan, Tally
from judgefixtures.statistics import Estimate
from judgefixtures.swap import Comparison

Row = dict[str, Any]

EXPENSES = ("input_tokens", "output_tokens", "reasoning_tokens", "usd")


def contrast_row(
    judge: str, dataset: str, contrast: Contrast, measured: Measurement, decision: Decision
) -> Row:
    """Return the report's row of a contrast, as plain JSON values."""
    n = measured.n
    return {
        **_names(judge, dataset, contrast),
        "n": n,
        "n11": measured.n11,
        "n10": measured.n10,
        "n01": measured.n01,
        "n00": measured.n00,
        "invalid_pairs": measured.invalid_pairs,
        "first_selection_rate": {
            "xy": (measured.n11 + measured.n10) / n,
            "yx": (measured.n11 + measured.n01) / n,
        }
        if n and contrast.outcome == "chose-first"
        else None,
        "vsr": estimate_row(measured.vsr),
        "flip_rate": estimate_row(measured.flip_rate),
        "gross_share": estimate_row(measured.gross_share) if contrast.x.edit else None,
        "car": estimate_row(measured.car),
        "car_all": estimate_row(measured.car_all),
        "car_reasoning": estimate_row(measured.car_reasoning),
        "thought_not_said": estimate_row(measured.thought_not_said),
        "silent_shift_rate": estimate_row(measured.silent_shift_rate),
        "mcnemar_p": measured.mcnemar_p,
        "p_pass": decision.p_pass,
        "p_fail": decision.p_fail,
        "p_fail_holm": None,
        "tolerance": decision.tolerance,
        "vsr_status": str(decision.vsr_status),
        "car_status": str(decision.car_status),
        "status": str(decision.status),
        "message": decision.message,
        "waived": None,
    }


def error_row(judge: str, dataset: str, contrast: Contrast, tolerance: float, message: str) -> Row:
    """Return the row of a contrast that could not be measured."""
    nothing = ("first_selection_rate", "vsr", "flip_rate", "gross_share", "car", "car_all", "car_reasoning",
               "thought_not_said", "silent_shift_rate", "mcnemar_p",
               "p_pass", "p_fail", "p_fail_holm")  # fmt: skip
    return {
        **_names(judge, dataset, contrast),
        **dict.fromkeys(("n", "n11", "n10", "n01", "n00", "invalid_pairs"), 0),
        **dict.fromkeys(nothing),
        "tolerance": tolerance,
        "vsr_status": "ERROR",
        "car_status": "NOT_APPLICABLE",
        "status": "ERROR",
        "message": message,
        "waived": None,
    }


def _names(judge: str, dataset: str, contrast: Contrast) -> Row:
    x, y = (contrast.x.edit.label, "plain") if contrast.x.edit else contrast.x.labels
    return {"judge": judge, "dataset": dataset, "family": contrast.family, "contrast": contrast.id, "x": x, "y": y}


def estimate_row(estimate: Estimate | None) -> Row | None:
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "n": estimate.n,
    }


def served_rows(judge: str, dataset: str, arms: Sequence[Sequence[Judgment]]) -> list[Row]:
    """Return a row for each model and fingerprint that answered in each arm, with the number of answers."""
    counts = Counter(
        (judgment.condition.name, judgment.repeat, judgment.reply.served_model, judgment.reply.fingerprint)
        for arm in arms for judgment in arm
    )  # fmt: skip
    return [
        {"judge": judge, "dataset": dataset, "condition": condition, "repeat": repeat, "model": model,
         "fingerprint": fingerprint, "answers": answers}
        for (condition, repeat, model, fingerprint), answers in counts.items()
        if model or fingerprint
    ]  # fmt: skip


def accuracy_row(judge: str, dataset: str, measured: Accuracy) -> Row:
    """Return the row of a judge's accuracy in a category, or in "all"."""
    return {
        "judge": judge,
        "dataset": dataset,
        "category": measured.category,
        "n": measured.n,
        "correct": measured.correct,
        "invalid": measured.invalid,
        "accuracy": estimate_row(measured.accuracy),
        "accuracy_both_orders": estimate_row(measured.both_orders),
    }


def four_cell_row(
    judge: str, dataset: str, contrast: Contrast, measured: FourCells | None, decision: Decision
) -> Row:
    """Return the row of a cue contrast asked in both orders."""
    return {
        "judge": judge,
        "dataset": dataset,
        "contrast": contrast.id,
        "cue_effect": estimate_row(measured.cue) if measured else None,
        "position_effect": estimate_row(measured.position) if measured else None,
        "invalid_pairs": measured.invalid_pairs if measured else None,
        "tolerance": decision.tolerance,
        "status": str(decision.status),
        "waived": None,
        "message": decision.message,
    }


def swap_row(judge: str, baseline: str, dataset: str, contrast: str | None, comparison: Comparison) -> Row:
    """Return the row of one quantity of candidate and baseline; contrast None: accuracy."""
    estimate = comparison.estimate
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "contrast": contrast,
        "quantity": comparison.quantity,
        "value": estimate.value if estimate else None,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
        "n": comparison.n,
        "margin": comparison.margin,
        "p": comparison.p,
        "p_fail": comparison.p_fail,
        "p_fail_holm": None,
        "needed_pairs": comparison.needed_pairs,
        "status": str(comparison.status),
        "message": comparison.message,
    }


def difference_row(judge: str, baseline: str, dataset: str, ours: Judgment, theirs: Judgment) -> Row:
    """Return a pair on which two judges differ, in one condition, with both reasons."""
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "pair": ours.pair.id,
        "condition": ours.condition.name,
        "repeat": ours.repeat,
        "gold": ours.pair.gold,
        **{f"{who}_{key}": value for who, judgment in (("judge", ours), ("baseline", theirs)) for key, value in (
            ("chosen", judgment.chosen), ("invalid", judgment.verdict.invalid), ("reason", judgment.verdict.reason)
        )},
    }  # fmt: skip


def judgment_row(judge: str, dataset: str, judgment: Judgment) -> Row:
    """Return the row of a judgment for judgments.jsonl, as plain JSON values; with its plan where there is one."""
    reply, usage = judgment.reply, judgment.reply.usage
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
        "acknowledgment": acknowledged(judgment),
        "detail": reply.detail,
        "repaired": list(judgment.verdict.repaired),
        "reasoning": judgment.verdict.reasoning,
        "served_model": reply.served_model,
        "fingerprint": reply.fingerprint,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
        },
        **planned,
    }


def _plan_of(plan: Plan) -> Row:
    return {"origin": plan.origin, "kind": plan.kind, "fault": plan.fault, "digest": plan.digest}


def plan_row(judge: str, dataset: str, counted: Tally, decision: Decision, share: Estimate | None) -> Row:
    """Return the row of a judge's plans on a dataset."""
    return {
        "judge": judge,
        "dataset": dataset,
        "n": counted.n,
        "planned": counted.planned,
        "fallback": counted.fallback,
        "faults": dict(counted.faults),
        "kinds": dict(counted.kinds),
        "leaks": counted.leaks,
        "degenerate_share": estimate_row(share),
        "max_degenerate": decision.tolerance,
        "status": str(decision.status),
        "message": decision.message,
    }


def plan_error_row(judge: str, dataset: str, n: int, message: str) -> Row:
    """Return the row of plans that could not be made or replayed."""
    return {
        "judge": judge, "dataset": dataset, "n": n, "planned": 0, "fallback": 0, "faults": {}, "kinds": {}, "leaks": 0,
        "degenerate_share": None, "max_degenerate": None, "status": "ERROR", "message": message,
    }  # fmt: skip


def plan_text_row(judge: str, dataset: str, pair: str, plan: Plan) -> Row:
    """Return the row of a plan for plans.jsonl: what is carried out, and what was answered where that is no plan."""
    return {"judge": judge, "dataset": dataset, "pair": pair, "origin": plan.origin, "kind": plan.kind,
            "fault": plan.fault, "detail": plan.detail, "digest": plan.digest, "text": plan.text,
            "rejected": plan.rejected}  # fmt: skip


def expense_row(judge: str, baseline: str, dataset: str, contrast: str | None, expenses: Expenses) -> Row:
    """Return the row of what a verdict costs a candidate and its baseline."""
    of = {name: getattr(expenses, name) for name in EXPENSES}
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "contrast": contrast,
        "calls": dict(zip(("judge", "baseline"), expenses.calls, strict=True)),
        **{name: None if each is None else {"judge": each.judge, "baseline": each.baseline, "n": each.n,
                                            "difference": estimate_row(each.difference)}
           for name, each in of.items()},
    }  # fmt: skip
