"""Contrast check: how far a cue or the order moves verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.judges.judge import Judge
from judgefixtures.metrics import contrast_metrics as metrics
from judgefixtures.models.check_rows import ContrastRow, LabelPairShifts, PairShifts, PassRate
from judgefixtures.models.contrasts import Contrast, neutral_arms
from judgefixtures.models.cues import PLACEBO
from judgefixtures.models.findings import Finding, rows_of
from judgefixtures.models.pairs import Pair, count_independent
from judgefixtures.models.replies import Arm
from judgefixtures.models.vocabulary import unit_vocabulary, vocabulary_for_row, wording_of
from judgefixtures.statistics.estimate import Status, format_share
from judgefixtures.statistics.power import PlannedContrast

from . import order_flips
from .base import Answers, CheckInput, ContrastCheckBase, GateDecision, SampleRequirement
from .close_pairs import neutral_choices, with_movable_share
from .contradiction_quotes import describe_contradictions, quote_contradicting_reasons
from .contrast_gate import decide_contrast, undecided_verdicts
from .contrast_row import contrast_row, error_row
from .detector_agreement import detector_row, drop_admission, measure_with_offline_detector
from .diagnosis import failure_diagnosis
from .formatting import EXAMPLES
from .log_odds_and_scores import (
    LogOddsAndScores,
    by_scores_alone,
    limit_key,
    measure_log_odds_and_scores,
    min_pairs_for_log_odds_or_scores,
    min_sample_for_scores,
)
from .look_levels import gate_at_last_look, look_sizes, min_pairs_for_shift


@dataclass(frozen=True, slots=True)
class ContrastCheck(ContrastCheckBase):
    """Check that VSR is within tolerance and reasons admit shifts."""

    kind: ClassVar[str] = "contrast"

    @property
    def is_read(self) -> bool:
        """Whether there are cues that reasons may admit."""
        return self.contrast.x.cue_1 is not None and self.family != PLACEBO

    def repeated(self, times: int) -> Self:
        """Return the check of a cue with this number of repeats."""
        return self if self.contrast.x.cue_1 is None else replace(self, repeats=times)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Arms x and y in turn, with all repeats."""
        return tuple((condition, first + n) for n in range(self.repeats) for condition, first in self.contrast.arms)

    def neutral_arms(self, case: CheckInput, judge: Judge) -> tuple[Arm, ...]:
        """Return all neutral arms."""
        return judge.kind.distinct(neutral_arms(case.repeats, case.config.cues), case.pairs)

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the pairs that a judge without moves needs."""
        gate = config.gate(self.family)
        at_least = min_pairs_for_shift(gate, gate.tolerance(self.family))
        alone = by_scores_alone(judge) and not self.contrast.x.edit
        lacking = None if alone else contrast_requirement(self.contrast, dataset, pairs, at_least, gate)
        last = gate_at_last_look(gate, pairs)
        more = None if self.contrast.x.edit else min_sample_for_scores(self.name, dataset, pairs, judge, last)
        flips = order_flips.min_sample_for_flips(self.name, dataset, pairs, last)
        return max(filter(None, [lacking, more, flips]), key=lambda need: need.at_least, default=None)

    def design(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> PlannedContrast:
        """Return its row in the preflight table."""
        gate, edited = config.gate(self.family), self.contrast.x.edit
        least = 0 if edited else min_pairs_for_log_odds_or_scores(judge, gate_at_last_look(gate, pairs))
        tolerance, limit, most = gate.tolerance(self.family), limit_key(judge, gate), order_flips.flip_limit(gate)
        if (of_flips := order_flips.min_pairs_for_flips(gate_at_last_look(gate, pairs))) > least:
            least, limit = of_flips, f"flips {format_share(most or 0.0)}"
        scored = by_scores_alone(judge) and not edited
        n, units = count_independent(pairs), unit_vocabulary(pairs).many
        tolerance = gate.score_tolerance if scored else tolerance
        design = PlannedContrast(
            self.name, dataset, n, tolerance, gate.alpha, self.family, least, limit, units, scored, most_flips=most
        )
        if not (steps := look_sizes(gate, pairs, None if edited else judge)):
            return design
        last = max(gate.looks or ())
        return replace(design, steps=steps, least_of_shift=min_pairs_for_shift(gate, tolerance), last_look=last)

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of both arms."""
        gate, (x, y), read = self.gate_at_look(case), answers[0].arms[:2], answers[0].detections
        outcome = self.contrast.outcome
        measured, unread = measure_with_offline_detector(x, y, gate, outcome, read)
        other = None if read is None else metrics.measure_contrast(x, y, gate.confidence, outcome, read, {})
        second = None
        if read is not None and other is not None and not read.lack(gate.max_invalid):
            second = (read.detector, other)
        more = measure_log_odds_and_scores(self.contrast, case, answers[0], gate)
        by_scores = by_scores_alone(case.judge.table) and more.scores.status is not Status.NOT_APPLICABLE
        verdicts = decide_contrast(measured, gate, second, unread, by_scores=by_scores)
        if not case.judge.kind.chooses(case.pairs) and verdicts.status is not Status.ERROR:
            verdicts, measured = undecided_verdicts(gate.vsr_tolerance), metrics.without_verdicts(measured)
        decision = more.beside(verdicts)
        columns: dict[str, Any] = {"detector": detector_row(read, (x, y), measured, other, gate.max_invalid)}
        if self.family == order_flips.FAMILY:
            flips = order_flips.decide_flips(measured, gate, case.config)
            decision = order_flips.combine_with_flips(flips, decision)
            columns |= {"position_flips": flips, "position": metrics.position_preference(x, y, gate.confidence)}
        finding = evaluate_shift(self, case, answers[0], measured, decision, more, **columns)
        if self.family != "provenance":
            return finding
        moves, labels = _moves(answers[0], self.contrast), self.contrast.labels
        shifts = LabelPairShifts(judge=case.judge.name, dataset=case.dataset, labels=labels, shifts=moves)
        return finding.with_evidence(shifts=[shifts])

    def is_open(self, finding: Finding) -> bool:
        """Return whether a gate is undecided and none failed."""
        (row,) = rows_of([finding], ContrastRow)
        gated = {row.vsr_status, row.log_odds_status, row.score_status}
        gated |= {row.position_flips.status} if row.position_flips else set()
        return Status.INCONCLUSIVE in gated and not gated & {Status.FAIL, Status.ERROR}

    def error_finding(self, case: CheckInput, message: str) -> Finding:
        """Return the ERROR of the contrast."""
        tolerance = self.gate_at_look(case).tolerance(self.family)
        return self.error(case, message, error_row(case.judge.name, case.dataset, self.contrast, tolerance, message))


def contrast_requirement(
    contrast: Contrast, dataset: str, pairs: Sequence[Pair], at_least: int, gate: GateTable
) -> SampleRequirement | None:
    """Return a contrast's requirement if there are too few pairs or clusters."""
    key = "attack_tolerance" if contrast.family == "attack" else "vsr_tolerance"
    limit = f"{key} {gate.tolerance(contrast.family):g}"
    words = vocabulary_for_row(contrast, pairs)
    return SampleRequirement.among(pairs, contrast.id, dataset, at_least, limit, "raise the tolerance", words).unmet


def evaluate_shift(
    check: ContrastCheck,
    case: CheckInput,
    answers: Answers,
    measured: metrics.ContrastMeasurement,
    decision: GateDecision,
    more: LogOddsAndScores,
    **columns: Any,
) -> Finding:
    """Return the finding of a measured contrast with its row and diagnosis.

    `more` has further columns of the row.
    """
    evidence = neutral_choices(case, check.name, answers, measured.confidence)
    quotes, decision = quote_contradicting_reasons(answers.arms), check.decision_at_look(case, decision)
    if decision.unread is not None and decision.unread.hides:
        measured = drop_admission(measured)
    cued, (x, y) = check.contrast.x.cue_1 is not None, answers.arms[:2]
    if check.contrast.is_alone and case.judge.kind.chooses(case.pairs):
        rates = metrics.arm_rates(x, y, measured.confidence, check.contrast.outcome)
        columns["pass_rate"] = rates and PassRate(x=rates[0], y=rates[1])
    row = contrast_row(
        case.judge.name,
        case.dataset,
        check.contrast,
        measured,
        decision,
        **more.columns,
        contradictions=len(quotes),
        contradiction_quotes=quotes[:EXAMPLES],
        false_alarms=metrics.false_alarms(answers.cue_free, check.contrast.x, measured.confidence) if cued else None,
        unread_reasons=decision.unread and decision.unread.count,
        look=case.look and case.look.pairs,
        **columns,
    )
    (row,) = with_movable_share([row], [evidence])
    names = {"judge": case.judge.name, "dataset": case.dataset, "contrast": check.name}
    moves = PairShifts(**names, moves=_moves(answers, check.contrast))
    return check.decided(
        case,
        decision,
        row,
        diagnosis=(
            *failure_diagnosis(row, measured, decision),
            *describe_contradictions(quotes, sum(map(len, answers.arms)), wording_of(row.outcome)),
        ),
        evidence={evidence.place: (evidence,), moves.place: (moves,)},
        estimate=more.found.score_shift if decision.vsr_status is Status.NOT_APPLICABLE else measured.vsr,
        plain=row.text,
    )


def _moves(answers: Answers, contrast: Contrast) -> dict[str, float]:
    shares = (
        (a.pair.id, metrics.outcome_share(a, contrast.outcome), metrics.outcome_share(b, contrast.outcome))
        for a, b in zip(*answers.arms[:2], strict=True)
    )
    return {pair: x - y for pair, x, y in shares if x is not None and y is not None}
