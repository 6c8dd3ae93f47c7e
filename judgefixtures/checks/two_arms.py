"""A contrast of one judge: how far its verdicts move with a cue, with the order or with nothing, and does it say so?

Its gate is `shift_gate`, its row `columns`, what the terminal shows of all of them `shift_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm
from judgefixtures.checks.beyond_verdicts import (
    Beyond,
    beyond,
    by_scores_alone,
    fewest_beyond,
    limit_beyond,
    need_beyond,
)
from judgefixtures.checks.columns import ContrastRow, PassRate, contrast_row, error_row
from judgefixtures.checks.diagnosis import diagnosis
from judgefixtures.checks.look_levels import at_last, fewest_of_shift, steps_of
from judgefixtures.checks.order_flips import (
    FAMILY,
    beside_shift,
    columns_of,
    decide_flips,
    fewest_of_flips,
    limit_of,
    need_of_flips,
)
from judgefixtures.checks.phrasing import EXAMPLES
from judgefixtures.checks.protocol import AboutContrast, Answers, Case, Decision, Need, decided, gate_of, lose, of_look
from judgefixtures.checks.reasons import contradicted, quote_contradictions
from judgefixtures.checks.sensitivity import seen_of, with_movable
from judgefixtures.checks.shift_gate import decide, undecided_verdicts
from judgefixtures.checks.standings import Shifts
from judgefixtures.checks.two_detectors import detector_row, measured_offline, without_admission
from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.findings import Finding, OfJudge, rows_of
from judgefixtures.material.contrasts import Contrast, indifferent_arms
from judgefixtures.material.cues import PLACEBO
from judgefixtures.material.diction import unit_of, wording_in, wording_of
from judgefixtures.material.pairs import Pair, independent
from judgefixtures.measures.metrics import Measurement, arm_rates, false_alarms, measure, preference, share_of, unjudged
from judgefixtures.numbers.estimate import Status, bare
from judgefixtures.numbers.power import Design


@dataclass(frozen=True, slots=True)
class ContrastCheck(AboutContrast):
    """VSR is within tolerance, and enough of the shift admitted where verdicts demonstrably moved."""

    kind: ClassVar[str] = "contrast"

    @property
    def is_read(self) -> bool:
        """Whether there are cues that reasons may admit: to a model that detects them the placebo's are none."""
        return self.contrast.x.cue_1 is not None and self.family != PLACEBO

    def repeated(self, times: int) -> Self:
        """Return the check of a cue with so many repeats: their shares tell how sure a judge is."""
        return self if self.contrast.x.cue_1 is None else replace(self, repeats=times)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Both arms of the contrast, x and y by turns with all their repeats."""
        return tuple(
            (condition, first + repeat) for repeat in range(self.repeats) for condition, first in self.contrast.arms
        )

    def indifferent(self, case: Case, judge: Judge) -> tuple[Arm, ...]:
        """All there are: they tell how many pairs are close for the judge. To one that scores, both orders are one."""
        return judge.kind.distinct(indifferent_arms(case.repeats, case.config.cues), case.pairs)

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:
        """Return the pairs without which not even a judge that never moves can PASS."""
        gate = config.gate(self.family)
        at_least = fewest_of_shift(gate, gate.tolerance(self.family))
        alone = by_scores_alone(judge) and not self.contrast.x.edit
        lacking = None if alone else need_of(self.contrast, dataset, pairs, at_least, gate)
        last = at_last(gate, pairs)
        more = None if self.contrast.x.edit else need_beyond(self.name, dataset, pairs, judge, last)
        flips = need_of_flips(self.name, dataset, pairs, last)
        return max(filter(None, [lacking, more, flips]), key=lambda need: need.at_least, default=None)

    def design(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Design:
        """Return its row of the preflight's table; of an edit the scores and log-odds are shown alone."""
        gate, edited = config.gate(self.family), self.contrast.x.edit
        least = 0 if edited else fewest_beyond(judge, at_last(gate, pairs))
        tolerance, limit, most = gate.tolerance(self.family), limit_beyond(judge, gate), limit_of(gate)
        if (of_flips := fewest_of_flips(at_last(gate, pairs))) > least:
            least, limit = of_flips, f"flips {bare(most or 0.0)}"
        scored = by_scores_alone(judge) and not edited
        n, units = independent(pairs), unit_of(pairs).many
        tolerance = gate.score_tolerance if scored else tolerance
        design = Design(
            self.name, dataset, n, tolerance, gate.alpha, self.family, least, limit, units, scored, most_flips=most
        )
        if not (steps := steps_of(gate, pairs, None if edited else judge)):
            return design
        last = max(gate.looks or ())
        return replace(design, steps=steps, least_of_shift=fewest_of_shift(gate, tolerance), last_look=last)

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of both arms."""
        gate, (x, y), read = gate_of(self, case), answers[0].arms[:2], answers[0].detections
        measured, unread = measured_offline(x, y, gate, self.contrast.outcome, read)
        other = None if read is None else measure(x, y, gate.confidence, self.contrast.outcome, read, {})
        second = None
        if read is not None and other is not None and not read.lack(gate.max_invalid):
            second = (read.detector, other)
        more = beyond(self.contrast, case, answers[0], gate)
        by_scores = by_scores_alone(case.judge.table) and more.scores.status is not Status.NOT_APPLICABLE
        verdicts = decide(measured, gate, second, unread, by_scores=by_scores)
        if not case.judge.kind.chooses(case.pairs) and verdicts.status is not Status.ERROR:
            verdicts, measured = undecided_verdicts(gate.vsr_tolerance), unjudged(measured)
        decision = more.beside(verdicts)
        columns: dict[str, Any] = {"detector": detector_row(read, (x, y), measured, other, gate.max_invalid)}
        if self.family == FAMILY:
            flips = decide_flips(measured, gate, case.config)
            decision = beside_shift(flips, decision)
            columns |= {"position": preference(x, y, gate.confidence), **columns_of(flips)}
        found = find_shift(self, case, answers[0], measured, decision, more, **columns)
        if self.family != "provenance":
            return found
        moves, labels = _moves(answers[0], self.contrast), self.contrast.labels
        shifts = Shifts(judge=case.judge.name, dataset=case.dataset, labels=labels, shifts=moves)
        return found.with_evidence(shifts=[shifts])

    def is_open(self, finding: Finding) -> bool:
        """Whether one of its gates is undecided and none failed; what is admitted is read at the look that decides."""
        (row,) = rows_of([finding], ContrastRow)
        gated = {row.vsr_status, row.log_odds_status, row.score_status}
        gated |= {row.position_flips.status} if row.position_flips else set()
        return Status.INCONCLUSIVE in gated and not gated & {Status.FAIL, Status.ERROR}

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of a contrast that could not be measured."""
        tolerance = gate_of(self, case).tolerance(self.family)
        return lose(self, case, message, error_row(case.judge.name, case.dataset, self.contrast, tolerance, message))


def need_of(contrast: Contrast, dataset: str, pairs: Sequence[Pair], at_least: int, gate: GateTable) -> Need | None:
    """Return what a contrast's tolerance needs, where there are too few pairs for it, or clusters of them."""
    key = "attack_tolerance" if contrast.family == "attack" else "vsr_tolerance"
    limit = f"{key} {gate.tolerance(contrast.family):g}, not even without any flip"
    words = wording_in(contrast, pairs)
    return Need.among(pairs, contrast.id, dataset, at_least, limit, "raise the tolerance", words).unmet


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves(OfJudge):
    """How far each pair moved in a contrast, for a comparison with what it did at another time."""

    place: ClassVar[str] = "moves"
    contrast: str = ""
    moves: dict[str, float]


def find_shift(
    check: ContrastCheck,
    case: Case,
    answers: Answers,
    measured: Measurement,
    decision: Decision,
    more: Beyond,
    **columns: Any,
) -> Finding:
    """Return the finding of a measured contrast, with its row, of which some columns are given, and its diagnosis."""
    evidence = seen_of(case, check.name, answers, measured.confidence)
    quotes, decision = quote_contradictions(answers.arms), of_look(check, case, decision)
    if decision.unread is not None and decision.unread.hides:
        measured = without_admission(measured)
    cued, (x, y) = check.contrast.x.cue_1 is not None, answers.arms[:2]
    if check.contrast.is_alone and case.judge.kind.chooses(case.pairs):
        rates = arm_rates(x, y, measured.confidence, check.contrast.outcome)
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
        false_alarms=false_alarms(answers.cue_free, check.contrast.x, measured.confidence) if cued else None,
        unread_reasons=decision.unread and decision.unread.count,
        look=case.look and case.look.pairs,
        **columns,
    )
    (row,) = with_movable([row], [evidence])
    names = {"judge": case.judge.name, "dataset": case.dataset, "contrast": check.name}
    moves = Moves(**names, moves=_moves(answers, check.contrast))
    return decided(
        check,
        case,
        decision,
        row,
        diagnosis=(
            *diagnosis(row, measured, decision),
            *contradicted(quotes, sum(map(len, answers.arms)), wording_of(row.outcome)),
        ),
        evidence={evidence.place: (evidence,), moves.place: (moves,)},
        estimate=more.found.score_shift if decision.vsr_status is Status.NOT_APPLICABLE else measured.vsr,
        plain=row.text,
    )


def _moves(answers: Answers, contrast: Contrast) -> dict[str, float]:
    """Return how far each pair moved, by its id."""
    shares = (
        (a.pair.id, share_of(a, contrast.outcome), share_of(b, contrast.outcome))
        for a, b in zip(*answers.arms[:2], strict=True)
    )
    return {pair: x - y for pair, x, y in shares if x is not None and y is not None}
