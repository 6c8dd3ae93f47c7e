"""Plan check: are plans genuine, and do they leak nothing?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.judges.judge import Judge
from judgefixtures.models.check_rows import PlansRow
from judgefixtures.models.findings import Finding, Row
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import Arm
from judgefixtures.prompts.planning import LEAKS, count_plans
from judgefixtures.statistics.estimate import Estimate, Status, format_estimate, format_share
from judgefixtures.statistics.proportions import proportion

from .accuracy import min_pairs_for_accuracy
from .base import Answers, CheckInput, GateDecision, SampleRequirement, SingleJudgeCheck
from .messages import MESSAGES
from .sections import DisplayOptions, Section, sorted_section_rows


@dataclass(frozen=True, slots=True)
class PlanCheck(SingleJudgeCheck):
    """Check that no plan leaks and few are degenerate."""

    kind: ClassVar[str] = "plans"
    name: ClassVar[str] = "plan"
    family: ClassVar[str] = "plan"
    arms: ClassVar[tuple[Arm, ...]] = ()  # plans are made before anything is asked

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Return whether the judge plans."""
        return judge.kind.makes_plans

    def skip_reason(self, case: CheckInput) -> str:
        """Return why the judge makes no plans, or ""."""
        return "" if case.judge.kind.makes_plans else f'{case.judge.name} has strategy = "direct" and makes no plans'

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the pairs that good plans need."""
        gate = config.gate(self.family)
        least = min_pairs_for_accuracy(1 - gate.max_degenerate, gate.alpha)
        limit = f"max_degenerate {gate.max_degenerate:g}"
        need = SampleRequirement(self.name, dataset, len(pairs), least, limit, "raise max_degenerate")
        return need.unmet if judge.asks_for_plans else None

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of the plans."""
        gate, (answered,) = self.gate_at_look(case), answers
        plans = [answered.plans[pair.id].plan for pair in case.pairs]
        counted = count_plans(case.pairs, plans)
        decision, share = decide_plans(counted, case.judge.table.asks_for_plans, gate)
        judge, dataset = case.judge.name, case.dataset
        decided = {"status": decision.status, "message": decision.message, "max_degenerate": decision.tolerance}
        row = counted.changed(judge=judge, dataset=dataset, degenerate_share=share, **decided)
        diagnosis = diagnose_plans(judge, dataset, case.pairs, plans, decision)
        return self.decided(case, decision, row, diagnosis=diagnosis, estimate=share)

    def error_finding(self, case: CheckInput, message: str) -> Finding:
        """Return the ERROR of missing plans."""
        row = PlansRow(judge=case.judge.name, dataset=case.dataset, n=len(case.pairs), message=message)
        return self.error(case, message, row)


def decide_plans(counted: PlansRow, made: bool, gate: GateTable) -> tuple[GateDecision, Estimate | None]:
    """Return the decision on plans, and the share of degenerate ones.

    FAIL for a leak. The share's one-sided exact bounds decide against max_degenerate; hand-made plans (`made` False)
    need no share.
    """
    text = f"{counted.planned} of {counted.n} plans are used unchanged"
    share = proportion(counted.fallback, counted.n, gate.confidence, "exact")
    if counted.leaks:
        reason = f"{counted.leaks} of {counted.n} plans prefer a response or name a bias (limit 0): FAIL"
        leaking = GateDecision.of(Status.FAIL, gate.max_degenerate, reason, part="plans")
        return leaking, share if made else None
    if not made:
        reason = f"{text}; they are hand-made by kind of task: PASS"
        return GateDecision.of(Status.PASS, gate.max_degenerate, reason, part="plans"), None
    status = Status.INCONCLUSIVE
    if share.high < gate.max_degenerate:
        status = Status.PASS
    elif share.low > gate.max_degenerate:
        status = Status.FAIL
    faults = "".join(f", {fault} {count}" for fault, count in counted.faults.items())
    reason = (
        f"degenerate plans {counted.fallback}/{counted.n} = {format_estimate(share, format_share)}{faults}, "
        f"max_degenerate {format_share(gate.max_degenerate)}: {status}"
    )
    return GateDecision.of(status, gate.max_degenerate, reason, part="plans"), share


def diagnose_plans(
    judge: str, dataset: str, pairs: Sequence[Pair], plans: Sequence[Plan], decision: GateDecision
) -> tuple[str, ...]:
    """Return the diagnosis of failing plans."""
    faulty = [(pair, plan) for pair, plan in zip(pairs, plans, strict=True) if plan.fault is not None]
    faulty.sort(key=lambda each: (each[1].fault not in LEAKS, each[0].id))
    return tuple(MESSAGES.lines("plans", judge, dataset, decision, faulty))


def _tell_plans(report: Row, _view: DisplayOptions) -> list[str]:
    return MESSAGES.lines("plans_decided", PLANS.read_records(report))


PLANS = Section("plans", PlansRow, sorted_section_rows(PlansRow, "judge", "dataset"), _tell_plans, title="plans")
SECTIONS = (PLANS,)
