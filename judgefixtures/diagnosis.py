"""Diagnosis: what a failing item says, so that a person can act on it. Text only; nothing is measured or decided."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.gates import Decision
from judgefixtures.metrics import Measurement, Moved
from judgefixtures.pairs import Pair
from judgefixtures.plans import LEAKS, Plan
from judgefixtures.rows import Row
from judgefixtures.statistics import bare
from judgefixtures.texts import one_line

EXAMPLES = 3
SHOWN_REASON = 240


def difference_lines(rows: Sequence[Row], judge: str, baseline: str) -> list[str]:
    """Return what a failing comparison shows of the pairs on which the judges differ."""
    if not rows:
        return ["  the judges never differ"]
    lines = [f"  they differ in {len(rows)} verdicts; differences.jsonl of --judge-report lists them:"]
    for row in rows[:EXAMPLES]:
        lines += ["", f"  pair {_short(row['pair'], 60)} in {row['condition']} (gold: {row['gold'] or 'unknown'})"]
        for who, name in (("judge", judge), ("baseline", baseline)):
            choice = row[f"{who}_chosen"] or f"invalid ({row[f'{who}_invalid']})"
            lines.append(f"    {name}: {choice} -- {_short(row[f'{who}_reason'], SHOWN_REASON)}")
    return lines


def plan_diagnosis(
    judge: str, dataset: str, pairs: Sequence[Pair], plans: Sequence[Plan], decision: Decision
) -> str:
    """Return what failing plans say: how many, why, three of them, and what to do."""
    lines = [f"{judge} on {dataset}: plan is {decision.status}", f"  {decision.message}"]
    faulty = [(pair, plan) for pair, plan in zip(pairs, plans, strict=True) if plan.fault is not None]
    faulty.sort(key=lambda each: (each[1].fault not in LEAKS, each[0].id))
    for pair, plan in faulty[:EXAMPLES]:
        lines += ["", f"  pair {_short(pair.id, 60)} ({plan.kind}): {plan.fault}: {_short(plan.detail, SHOWN_REASON)}"]
        lines.append(f"    {_short(plan.rejected, SHOWN_REASON) or '(no text)'}")
    if faulty:
        lines += ["", "  In their place the hand-made plan of the kind of task was carried out; plans.jsonl of "
                  "--judge-report has every plan."]  # fmt: skip
    if any(plan.fault == "failed" for _, plan in faulty):
        lines.append("  A plan that is cut off needs more plan_max_output_tokens.")
    return "\n".join(lines)


def diagnosis(row: Row, measured: Measurement, decision: Decision, report: str) -> str:
    """Return what a failing item says: what moved, by how much, the limits, examples, what to do next."""
    lines = [f"{row['judge']} on {row['dataset']}: {row['contrast']} is {decision.status}"]
    lines += [f"  {reason}" for reason in decision.reasons]
    if measured.n and row["first_selection_rate"] and row["x"]:
        rates = row["first_selection_rate"]
        lines.append(
            f"  n = {measured.n} pairs: first response chosen {bare(rates['xy'])} with labels {row['x']}/{row['y']}, "
            f"{bare(rates['yx'])} with {row['y']}/{row['x']}; {measured.n10} verdicts followed {row['x']!r}, "
            f"{measured.n01} followed {row['y']!r}"
        )
    if (thought := measured.car_reasoning) and (unsaid := measured.thought_not_said):
        cited, silent = (round(share.value * share.n) for share in (thought, unsaid))
        lines.append(
            f"  reasoning came with {thought.n} of the verdicts that followed: {cited} cite the cue there, {silent} of "
            "them not in the stated reason"
        )
    for move in _examples(measured):
        lines += ["", *_example(move)]
    lines += ["", f"  Every judgment: {report}"]
    return "\n".join(lines)


def _examples(measured: Measurement) -> list[Moved]:
    """Return up to three moved pairs, those that follow the favoured label and do not admit it first."""
    return sorted(measured.moved, key=lambda move: (not move.follows, move.acknowledged))[:EXAMPLES]


def _example(move: Moved) -> list[str]:
    pair = move.x.pair
    lines = [f"  pair {_short(pair.id, 60)}: {_short(pair.question, 90)}"]
    for judgment in (move.x, move.y):
        asked = "/".join(judgment.condition.labels) if judgment.condition.cue_1 else judgment.condition.name
        reason = _short(judgment.verdict.reason, SHOWN_REASON) or "(no reason given)"
        lines.append(f"    {asked}: chose {judgment.verdict.selected_response} -- {reason}")
    return lines


def _short(text: str, length: int) -> str:
    text = one_line(text)
    return text if len(text) <= length else f"{text[: length - 3]}..."
