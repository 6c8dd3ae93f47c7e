"""The plans of a judge that plans first: are they plans at all, and do they give nothing away?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm
from judgefixtures.checks.accuracy import smallest_n_of_accuracy
from judgefixtures.checks.phrasing import EXAMPLES, SHOWN_REASON, shortened
from judgefixtures.checks.protocol import Alone, Answers, Case, Decision, Need, decided, gate_of, lose
from judgefixtures.checks.sections import Section, View, in_order
from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.findings import Finding, OfJudge, Row
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import LEAKS, Plan, Tally, tally
from judgefixtures.numbers.estimate import Estimate, Status, bare, describe
from judgefixtures.numbers.proportions import proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class PlansRow(OfJudge):
    """What came of a judge's plans on a dataset; by default they could not be made or replayed."""

    place: ClassVar[str] = "plans"
    n: int = 0
    planned: int = 0
    fallback: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    leaks: int = 0
    degenerate_share: Estimate | None = None
    max_degenerate: float | None = None
    status: str = Status.ERROR
    message: str = ""


@dataclass(frozen=True, slots=True)
class PlanCheck(Alone):
    """No plan leaks, and no more plans are degenerate than max_degenerate tolerates."""

    kind: ClassVar[str] = "plans"
    name: ClassVar[str] = "plan"
    family: ClassVar[str] = "plan"
    arms: ClassVar[tuple[Arm, ...]] = ()  # plans are made before anything is asked

    def is_asked(self, judge: Judge, pairs: Sequence[Pair]) -> bool:  # noqa: ARG002
        """A judge that answers at once makes no plans."""
        return judge.kind.makes_plans

    def excuse(self, case: Case) -> str:
        """A judge that answers at once makes no plans."""
        return "" if case.judge.kind.makes_plans else f"{case.judge.name} makes no plans: its strategy is direct"

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:
        """Return the pairs without which not even good plans alone can PASS; hand-made ones need none."""
        gate = config.gate(self.family)
        least = smallest_n_of_accuracy(1 - gate.max_degenerate, gate.alpha)
        limit = f"max_degenerate {gate.max_degenerate:g}, not even if all plans are good"
        need = Need(self.name, dataset, len(pairs), least, limit, "raise it")
        return need.unmet if judge.asks_for_plans else None

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of the plans."""
        gate, (answered,) = gate_of(self, case), answers
        plans = [answered.plans[pair.id].plan for pair in case.pairs]
        counted = tally(case.pairs, plans)
        decision, share = decide_plans(counted, case.judge.table.asks_for_plans, gate)
        judge, dataset = case.judge.name, case.dataset
        row = PlansRow.copied(
            decision, counted, judge=judge, dataset=dataset, degenerate_share=share, max_degenerate=decision.tolerance
        )
        told = diagnose_plans(judge, dataset, case.pairs, plans, decision)
        return decided(self, case, decision, row, diagnosis=told, estimate=share)

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of plans that could not be made or replayed."""
        row = PlansRow(judge=case.judge.name, dataset=case.dataset, n=len(case.pairs), message=message)
        return lose(self, case, message, row)


def decide_plans(counted: Tally, made: bool, gate: GateTable) -> tuple[Decision, Estimate | None]:
    """Return the decision on a judge's plans with the share of degenerate ones, None for hand-made plans.

    FAIL for any leak. PASS when the one-sided exact upper bound of the share is below max_degenerate, FAIL when the
    lower one exceeds it, else INCONCLUSIVE. Hand-made plans (`made` False) are not a sample: without a leak they PASS.
    """
    shown = f"{counted.planned} of {counted.n} plans are used as they were made"
    share = proportion(counted.fallback, counted.n, gate.confidence, "exact")
    if counted.leaks:
        reason = f"{counted.leaks} of {counted.n} plans leak: they prefer a response or name a bias: FAIL"
        leaking = Decision.of(Status.FAIL, gate.max_degenerate, reason, part="plans")
        return leaking, share if made else None
    if not made:
        reason = f"{shown}: hand-made, by kind of task, without a leak: PASS"
        return Decision.of(Status.PASS, gate.max_degenerate, reason, part="plans"), None
    status = Status.INCONCLUSIVE
    if share.high < gate.max_degenerate:
        status = Status.PASS
    elif share.low > gate.max_degenerate:
        status = Status.FAIL
    faults = "".join(f", {fault} {count}" for fault, count in counted.faults.items())
    reason = (
        f"degenerate plans {counted.fallback}/{counted.n} = {describe(share, bare)}{faults}, "
        f"max_degenerate {bare(gate.max_degenerate)}: {status}"
    )
    return Decision.of(status, gate.max_degenerate, reason, part="plans"), share


def diagnose_plans(
    judge: str, dataset: str, pairs: Sequence[Pair], plans: Sequence[Plan], decision: Decision
) -> tuple[str, ...]:
    """Return what failing plans say: how many, why, three of them, and what to do."""
    lines = [f"{judge} on {dataset}: plan is {decision.status}", f"  {decision.message}"]
    faulty = [(pair, plan) for pair, plan in zip(pairs, plans, strict=True) if plan.fault is not None]
    faulty.sort(key=lambda each: (each[1].fault not in LEAKS, each[0].id))
    for pair, plan in faulty[:EXAMPLES]:
        detail = shortened(plan.detail, SHOWN_REASON)
        lines += ["", f"  pair {shortened(pair.id, 60)} ({plan.kind}): {plan.fault}: {detail}"]
        lines.append(f"    {shortened(plan.rejected, SHOWN_REASON) or '(no text)'}")
    if faulty:
        lines += [
            "",
            "  In their place the hand-made plan of the kind of task was carried out; plans.jsonl of "
            "--judge-report has every plan.",
        ]
    if any(plan.fault == "failed" for _, plan in faulty):
        lines.append("  A plan that is cut off needs more plan_max_output_tokens.")
    return tuple(lines)


def _tell_plans(report: Row, _view: View) -> list[str]:
    lines: list[str] = []
    for row in PLANS.read_records(report):
        lines += ["", f"plans of {row.judge} on {row.dataset}: {row.status}: {row.message}"]
    return lines


PLANS = Section("plans", PlansRow, in_order(PlansRow, "judge", "dataset"), _tell_plans, title="plans")
SECTIONS = (PLANS,)
