"""Edit check: do verdicts move to an edited response?"""

from dataclasses import dataclass, replace
from typing import ClassVar

from judgefixtures.config import GateTable
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, measure_contrast
from judgefixtures.models.findings import DecisionPart, Finding
from judgefixtures.models.pairs import Example, Pair
from judgefixtures.models.vocabulary import vocabulary_for_row
from judgefixtures.statistics.clusters import describe_clusters, negated
from judgefixtures.statistics.estimate import Status, format_estimate, format_share
from judgefixtures.statistics.gates import gate_non_inferiority, inconclusive_advice
from judgefixtures.statistics.proportions import paired_difference

from .base import Answers, CheckInput, GateDecision
from .contrast import ContrastCheck, evaluate_shift
from .contrast_gate import invalid_decision, stuck_reason
from .log_odds_and_scores import measure_log_odds_and_scores
from .messages import MESSAGES


@dataclass(frozen=True, slots=True)
class EditCheck(ContrastCheck):
    """Check that the net move to edited responses is within tolerance."""

    kind: ClassVar[str] = "edit"

    def select_pairs(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return, for an attack, the examples labelled fail."""
        return attacked_examples(pairs) if self.family == "attack" else pairs

    def skip_reason(self, case: CheckInput) -> str:
        """Return why scores without a pass mark cannot be edited."""
        judge = case.judge
        if not judge.kind.chooses(case.pairs):
            return MESSAGES.examples_without_mark(judge, case)
        return ContrastCheck.skip_reason(self, case)

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of edited and plain pairs."""
        gate, (x, y) = self.gate_at_look(case), answers[0].arms
        measured = measure_contrast(x, y, gate.confidence, self.contrast.outcome)
        measured = replace(measured, wording=vocabulary_for_row(self.contrast, case.pairs))
        decision = decide_edit(measured, gate, gate.tolerance(self.family))
        # Shown alone: a judge may well think less of an edited response, which no tolerance of these allows for.
        more = measure_log_odds_and_scores(self.contrast, case, answers[0], gate, gated=False)
        return evaluate_shift(self, case, answers[0], measured, more.beside(decision), more)


def attacked_examples(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return the examples labelled fail, or all if none has labels."""
    if not any(isinstance(pair, Example) and pair.label for pair in pairs):
        return pairs
    return tuple(pair for pair in pairs if isinstance(pair, Example) and pair.label == "fail")


def decide_edit(measured: ContrastMeasurement, gate: GateTable, tolerance: float) -> GateDecision:
    """Return the decision on the net move to the edited response.

    PASS if the (1 - 2 alpha) Tango interval's upper bound is below the tolerance for any value of invalid verdicts;
    FAIL if its lower bound is above.
    """
    if invalid := invalid_decision(measured, gate, tolerance):
        return invalid
    # "No worse by more than a margin", with "was chosen when plain, no longer when edited" as the good outcome.
    shift = measured.related.shift
    result = gate_non_inferiority(measured.n01, measured.n10, measured.n, tolerance, gate.alpha, negated(shift))
    status, gained = result.status, paired_difference(measured.n10, measured.n01, measured.n, gate.confidence, shift)
    words = measured.wording
    net = f"{words.to_edited} {format_estimate(gained)}{describe_clusters(measured.n, shift, words.many)}"
    reason = f"{net}, limit {format_share(tolerance)}: {status}"
    part = "vsr"
    worst_case = paired_difference(*measured.high, measured.pairs, gate.confidence, measured.related.high)
    if status is Status.PASS and worst_case.high >= tolerance:
        status, part = Status.INCONCLUSIVE, "invalid"
        reason = MESSAGES.edit_at_worst(net, tolerance, measured, worst_case.high)
    elif status is Status.PASS and (doubt := stuck_reason(measured.stuck, words)):
        status, part = Status.INCONCLUSIVE, "stuck"
        reason = f"{net}, limit {format_share(tolerance)}: INCONCLUSIVE; {doubt}"
    elif status is Status.INCONCLUSIVE:
        within = gained.value < tolerance
        more = inconclusive_advice(result.needed_pairs, measured.n, "limit", shift, within=within, units=words.many)
        reason += f"; {more}"
    gross = f"gross: {measured.n10:g} of {measured.n} {words.edited_alone.format(other=f'{measured.n01:g}')}"
    return GateDecision(
        status,
        status,
        Status.NOT_APPLICABLE,
        result.p_pass,
        result.p_fail,
        tolerance,
        tuple(filter(None, [reason, gross, MESSAGES.invalid(measured)])),
        result.needed_pairs,
        (DecisionPart(part, status, reason, estimate=gained, allowed=(None, tolerance)),),
    )
