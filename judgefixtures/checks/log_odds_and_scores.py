"""Log-odds and score results of a contrast: measurement, decision and sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from typing import Any

from judgefixtures.config import GateTable, JudgeTable
from judgefixtures.judges.mode import mode_class
from judgefixtures.metrics.certainty import Certainty, Scale, certainty
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.findings import DecisionPart
from judgefixtures.models.pairs import Pair
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary, wording_of
from judgefixtures.parsing.scores import is_whole_number_scale
from judgefixtures.providers import LOGPROBS
from judgefixtures.statistics.estimate import (
    Estimate,
    GateResult,
    Status,
    format_share,
    format_signed,
    interval_text,
    worst_status,
)
from judgefixtures.statistics.log_odds import LARGEST, gate_log_odds, odds_ratio
from judgefixtures.statistics.power import smallest_passing_n
from judgefixtures.statistics.score_shift import FARTHEST, gate_scores

from .base import Answers, CheckInput, GateDecision, SampleRequirement
from .formatting import format_interval
from .messages import MESSAGES

# Pairs with which a shift can be shown to be absent: of fewer the gate errs more often (benchmarks/results.md).
FEWEST = 30

# What the odds ratios of a judge that reasons first are called: not those of its verdicts.
GIVEN = "odds ratios given its reasoning (not a shift of verdicts)"


@dataclass(frozen=True, slots=True)
class LogOddsAndScores:
    """Log-odds and scores of a contrast, and their decisions."""

    found: Certainty
    log_odds: DecisionPart
    scores: DecisionPart
    not_applied: str = ""  # why a limit that is set is not applied, where it is not
    tested: GateResult | None = None  # the test of the scores, where they are gated

    @property
    def columns(self) -> dict[str, Any]:
        """The row's columns on log-odds and scores."""
        return {
            "log_odds_shift": self.found.log_odds_shift,
            "log_odds_status": self.log_odds.status,
            "soft_vsr": self.found.soft_vsr,
            "score_shift": self.found.score_shift,
            "score_status": self.scores.status,
            "score_limit": self.scores.allowed[1] if self.scores.allowed else None,
            "log_odds_given_reasons": self.found.reasons_first and self.found.given_reasons,
            "not_applied": self.not_applied,
        }

    def beside(self, decision: GateDecision) -> GateDecision:
        """Return a verdict decision with these parts, unless it is an ERROR."""
        if decision.status is Status.ERROR:
            return decision
        parts = (self.log_odds, self.scores)
        reasons = [*decision.reasons, *(part.reason for part in parts if part.reason)]
        status = worst_status(decision.status, *(part.status for part in parts))
        decided = replace(decision, status=status, parts=(*decision.parts, *parts))
        if decision.vsr_status is Status.NOT_APPLICABLE and self.tested is not None:  # they decide, and verdicts do not
            reasons.sort(key=lambda reason: reason != self.scores.reason)
            tested = self.tested
            decided = replace(decided, p_pass=tested.p_pass, p_fail=tested.p_fail, needed_pairs=tested.needed_pairs)
        return replace(decided, reasons=tuple(reasons))


def measure_log_odds_and_scores(
    contrast: Contrast, case: CheckInput, answers: Answers, gate: GateTable, *, gated: bool = True
) -> LogOddsAndScores:
    """Return log-odds and scores; they decide only if `gated`."""
    table, scale = case.judge.table, case.judge.kind.scale
    measured = certainty(answers.arms[::2], answers.arms[1::2], contrast.outcome, gate.confidence, scale)
    words = wording_of(contrast.outcome)
    has_logprobs = table.logprobs and not case.judge.dropped & LOGPROBS
    log_odds = decide_log_odds(measured, gate, contrast, has_logprobs=has_logprobs, gated=gated)
    held = table.logprobs and gated
    skipped = held and gate.log_odds_tolerance is not None and log_odds.status is Status.NOT_APPLICABLE
    scores = decide_scores(measured, gate, scale, words, gated=gated)
    tested = _gate_points(measured, gate, scale) if gated and scale is not None and measured.points else None
    return LogOddsAndScores(measured, log_odds, scores, log_odds.reason if skipped else "", tested)


def by_scores_alone(judge: JudgeTable) -> bool:
    """Return whether a judge's scores are gated instead of its verdicts.

    >>> from judgefixtures.config import judge_table
    >>> table = {"provider": "openai", "model": "m", "mode": "pointwise"}
    >>> by_scores_alone(judge_table(table)), by_scores_alone(judge_table(table | {"pass_mark": 7}))
    (True, False)
    """
    return mode_class(judge).gives_scores and not mode_class(judge).grades


def min_sample_for_scores(
    name: str, dataset: str, pairs: Sequence[Pair], judge: JudgeTable, gate: GateTable
) -> SampleRequirement | None:
    """Return the requirement of scores or log-odds, or None."""
    limit, remedy = f"log_odds_tolerance {gate.log_odds_tolerance}", "remove log_odds_tolerance"
    if mode_class(judge).gives_scores:
        limit, remedy = f"score_tolerance {gate.score_tolerance:g}", "raise the tolerance"
    least = min_pairs_for_log_odds_or_scores(judge, gate)
    return SampleRequirement.among(pairs, name, dataset, least, limit, remedy).unmet


def min_pairs_for_log_odds_or_scores(judge: JudgeTable, gate: GateTable) -> int:
    """Return the pairs that scores or log-odds need, 0 without a gate."""
    if mode_class(judge).gives_scores:
        return min_pairs_for_scores(gate.score_tolerance, gate.alpha, largest_move_on_scale(judge.scale))
    gated = gate.log_odds_tolerance is not None and not judge.asks_for_plans  # who plans first reasons first
    return FEWEST if judge.logprobs and gated else 0


def limit_key(judge: JudgeTable, gate: GateTable) -> str:
    """Return the key of the limit that requires the pairs."""
    if mode_class(judge).gives_scores:
        return f"score {format_share(gate.score_tolerance)}"
    return "" if gate.log_odds_tolerance is None else f"odds {gate.log_odds_tolerance:g}"


@lru_cache(maxsize=256)
def min_pairs_for_scores(tolerance: float, alpha: float = 0.05, farthest: float = FARTHEST) -> int:
    """Return the fewest pairs at which unmoved scores PASS.

    >>> min_pairs_for_scores(0.05), min_pairs_for_scores(0.05, farthest=1.0)
    (29, 52)
    """
    return smallest_passing_n(
        lambda n: gate_scores([0.0] * n, tolerance, alpha, farthest=farthest).status is Status.PASS
    )


def largest_move_on_scale(scale: Scale) -> float:
    """Return a pair's largest assumed move, as a share of the scale.

    >>> largest_move_on_scale((1, 10)), largest_move_on_scale((0, 1)), largest_move_on_scale((0.0, 1.0))
    (0.5, 1.0, 0.5)
    """
    return max(FARTHEST, 1 / (scale[1] - scale[0])) if is_whole_number_scale(scale) else FARTHEST


def decide_log_odds(
    measured: Certainty, gate: GateTable, contrast: Contrast, *, has_logprobs: bool = True, gated: bool = True
) -> DecisionPart:
    """Return the decision on log_odds_tolerance.

    Repeats, few pairs or missing shifts cannot PASS. NOT_APPLICABLE if the judge reasons first.
    """
    tolerance, words = gate.log_odds_tolerance if gated else None, wording_of(contrast.outcome)
    if measured.reasons_first:
        why = MESSAGES.given_reasons(measured, contrast, words, tolerance)
        return DecisionPart("log_odds", Status.NOT_APPLICABLE, why)
    if measured.log_odds_shift is None:
        return _nothing_told(measured, tolerance, words, has_logprobs=has_logprobs)
    bounded = sum(each.is_bound for each in measured.shifts)
    shift_text = MESSAGES.log_odds_shift(measured.log_odds_shift, contrast, words)
    of = f"{shift_text}{MESSAGES.log_odds_source(measured, words, bounded, LARGEST)}"
    if tolerance is None:
        return DecisionPart("log_odds", Status.NOT_APPLICABLE, of)
    decided = gate_log_odds(measured.shifts, tolerance, gate.alpha, measured.clusters, words.many)
    status, message, plain = decided.status, decided.message, f"{shift_text}, limit {tolerance:g}"
    if status is Status.PASS and (doubt := _doubt(measured, gate, words)):
        status, message, plain = Status.INCONCLUSIVE, f"{message}, but INCONCLUSIVE: {doubt}", f"{plain}, but {doubt}"
    within = (-log(tolerance), log(tolerance))
    return DecisionPart("log_odds", status, f"{of}; {message}", plain, measured.log_odds_shift, within)


def _nothing_told(measured: Certainty, limit: float | None, words: Vocabulary, *, has_logprobs: bool) -> DecisionPart:
    lacking = MESSAGES.without_log_odds(measured, words, LARGEST) if measured.beyond else ""
    if limit is None:
        return DecisionPart("log_odds", Status.NOT_APPLICABLE, lacking and f"the log-odds shift is unknown: {lacking}")
    if has_logprobs:
        why = lacking or f"no {words.one} has probabilities in both arms"
        return DecisionPart("log_odds", Status.INCONCLUSIVE, f"log_odds_tolerance {limit:g}: {why}: INCONCLUSIVE")
    why = f"log_odds_tolerance {limit:g} is not applied: the judge gives no probabilities"
    return DecisionPart("log_odds", Status.NOT_APPLICABLE, why)


def _doubt(measured: Certainty, gate: GateTable, words: Vocabulary) -> str:
    if measured.repeats:
        return "repeats understate a log-odds shift; set logprobs = true for a PASS"
    if measured.lacking > gate.max_invalid * measured.pairs:
        return MESSAGES.without_log_odds(measured, words, LARGEST)
    if measured.units < FEWEST:
        units = words.clusters(2) if measured.clusters else words.many
        return f"{measured.units} {units} are too few to exclude rare shifts; use at least {FEWEST}"
    return ""


def not_applied_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return the limits that do not apply, with reasons, per judge and dataset."""
    rows_by_subject: dict[tuple[str, str], list[ContrastRow]] = {}
    for row in rows:
        if row.not_applied:
            rows_by_subject.setdefault((row.judge, row.dataset), []).append(row)
    return MESSAGES.lines("not_applied", rows_by_subject)


def log_odds_and_score_lines(rows: Sequence[ContrastRow]) -> list[str]:
    """Return summary lines of odds ratios or points, and limits not applied."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for what, estimate, format_value in (
            ("odds ratios", row.log_odds_shift, odds_ratio),
            (GIVEN, row.log_odds_given_reasons, odds_ratio),
            ("points", row.score_shift, format_signed),
        ):
            if estimate:
                text = (
                    f"{row.contrast} {format_value(estimate.value)} "
                    f"({format_value(estimate.low)} to {format_value(estimate.high)})"
                )
                lines.setdefault((row.judge, row.dataset, what), []).append(text)
    told = [f"{what} of {judge} on {dataset}: {'; '.join(each)}" for (judge, dataset, what), each in lines.items()]
    return [*told, *not_applied_lines(rows)]


def decide_scores(
    measured: Certainty, gate: GateTable, scale: Scale | None, words: Vocabulary = OF_PAIRS, *, gated: bool = True
) -> DecisionPart:
    """Return the decision on score_tolerance, a share of the scale."""
    if measured.score_shift is None or scale is None:
        return DecisionPart("score", Status.NOT_APPLICABLE)
    shift, tolerance = measured.score_shift, gate.score_tolerance
    by = f"{format_signed(shift.value)} points on a scale of {scale[0]:g} to {scale[1]:g}"
    text = f"score shift {by} ({interval_text(shift)})"
    if not gated:
        return DecisionPart("score", Status.NOT_APPLICABLE, text)
    decided, most = _gate_points(measured, gate, scale, words.many), tolerance * (scale[1] - scale[0])
    status, more = decided.status, decided.message
    if status is Status.PASS and not _within_at_worst(decided.estimate, measured.lacking, tolerance):
        status = Status.INCONCLUSIVE
        lacking = f"the {measured.lacking} invalid {words.many}"
        more = f"{lacking} could exceed the limit; record valid scores for them"
    plain = f"score shift {by} ({format_interval(shift)}, limit {format_share(most)})"
    plain += f": {more}" if status is not decided.status else ""
    text += f", limit {format_share(tolerance)} of the scale ({format_share(most)} points): {status}"
    return DecisionPart("score", status, f"{text}; {more}" if more else text, plain, shift, (-most, most))


def _gate_points(measured: Certainty, gate: GateTable, scale: Scale, units: str = "pairs") -> GateResult:
    points = [each.value for each in measured.points]
    return gate_scores(points, gate.score_tolerance, gate.alpha, measured.clusters, units, largest_move_on_scale(scale))


def _within_at_worst(shift: Estimate, lacking: int, tolerance: float) -> bool:
    pairs = shift.n + lacking
    return -tolerance < (shift.n * shift.low - lacking) / pairs and (shift.n * shift.high + lacking) / pairs < tolerance
