"""Wording check: does a rewritten prompt change the answers more than repeats do?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

from judgefixtures.client.model_client import REWORDED
from judgefixtures.config import Config, JudgeTable, WordingTable
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.mode import JudgeMode
from judgefixtures.metrics.contrast_metrics import cluster_scores
from judgefixtures.metrics.excess_flips import excess_flips
from judgefixtures.metrics.invalid_limit import describe_too_many_invalid
from judgefixtures.models.check_rows import ALL, ScoresAtWorst, WordingFlips, WordingRow
from judgefixtures.models.contrasts import NO_CUE, Outcome, SingleResponseCondition
from judgefixtures.models.findings import DecisionPart, Finding, Row, decided_by_control, deciding_parts, rows_of
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, count_independent
from judgefixtures.models.replies import Arm
from judgefixtures.models.vocabulary import Vocabulary, unit_vocabulary, vocabulary_for
from judgefixtures.statistics.estimate import (
    GateResult,
    Status,
    format_share,
    format_signed,
    level_text,
    pluralize,
    worst_status,
)
from judgefixtures.statistics.gates import gate_excess
from judgefixtures.statistics.power import smallest_n
from judgefixtures.statistics.wordings import CLOSE_SHARES, chance_of_harmless

from .base import Answers, CheckInput, SampleRequirement, SingleJudgeCheck
from .formatting import EXAMPLES, interval_cell, shorten
from .messages import MESSAGES
from .plain_language import with_deciding_part
from .sections import DisplayOptions, Section, read_results

HEADER = ("judge", "dataset", "wording", "n", "flips", "asked again", "excess", "CI", "shift", "change", "status")
TITLE = "wording: do other wordings of the prompt change the verdicts?"
LEGEND = (
    "flips: changed by other wordings; asked again: changed by a repeat; excess: flips minus asked again, with its CI; "
    "change: mean squared change of a pass probability"
)
ONE_RUN = "changes in both directions are not tested, because each wording has one recorded run"
SHIFTED = "Wording {0!r} changed {1} by {of.value:+.2f} ({4} CI {of.low:.2f} to {of.high:.2f}, limit ±{3})"
CHANGED = "Wording {0!r} changed {1}{2} (mean squared change {of.value:.2f}, limit {3})"


@dataclass(frozen=True, slots=True)
class WordingCheck(SingleJudgeCheck):
    """Check that other wordings change little more than repeats do."""

    kind: ClassVar[str] = "wording"
    name: ClassVar[str] = "wording"
    family: ClassVar[str] = "wording"
    alone: bool = False  # of a judge that grades one response

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Two runs of the judge's own template, without cues."""
        condition = SingleResponseCondition() if self.alone else NO_CUE
        return (condition, 0), (condition, 1)

    def for_mode(self, judge: type[JudgeMode], pairs: Sequence[Pair]) -> Self:
        """Return the check for the judge's mode."""
        return replace(self, alone=judge.grades)

    def extra_judges(self, judge: Judge) -> tuple[Judge, ...]:
        """Return the judge with each of its wordings."""
        return judge.rewordings

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Return whether the judge has wordings."""
        return bool(judge.rewordings)

    def skip_reason(self, case: CheckInput) -> str:
        """Return why there are no wordings or verdicts, or ""."""
        name = case.judge.name
        if not case.judge.rewordings:
            return f"{name} has no wordings: set wordings in {case.judge.table.heading}"
        if not case.judge.kind.chooses(case.pairs):
            return f"{name} gives only scores on {case.dataset}: set pass_mark in {case.judge.table.heading}"
        return ""

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the pairs that a judge without flips needs."""
        gate = _gate(config)
        limit, few = f"wording_tolerance {gate.wording_tolerance:g}", smallest_n(gate.wording_tolerance, gate.alpha)
        words, remedy = unit_vocabulary(pairs), "raise the tolerance"
        return SampleRequirement.among(pairs, self.name, dataset, few, limit, remedy, words).unmet

    def prospect(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> str:
        """Return the power of harmless wordings."""
        gate, n, count = _gate(config), count_independent(pairs), len(judge.wordings or ())
        limits = (gate.wording_tolerance, gate.max_probability_change, gate.alpha)
        chances = [
            f"{format_share(round(chance, 2))} of runs if {close:.0%}"
            for close in CLOSE_SHARES
            for chance in [chance_of_harmless(n, close, count, gate.repeats, *limits)]
        ]
        return (
            f"{self.name} on {dataset}: with {unit_vocabulary(pairs).counted(n)}, {pluralize(count, 'wording')} "
            f"without effect PASS in {', '.join(chances)} are close (the judge gives either answer)"
        )

    def arms_beside(self, config: Config) -> tuple[Arm, ...]:
        """Return the runs of each wording, per [gate.wording] repeats."""
        return self.arms[: _gate(config).repeats]

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of all runs."""
        gate, ((first, second), *others) = _gate(case.config), [each.arms for each in answers]
        arms = {_label(judge): sum(runs, ()) for judge, runs in zip(case.judge.rewordings, others, strict=True)}
        outcome: Outcome = "passed" if self.alone else "chose-first"
        every = excess_flips(first, second, arms, outcome, gate.confidence)
        rows = [_undecided(case, each) for each in every]
        runs = {"in the own wording": first, "in a repeat of the own wording": second}
        runs |= {f"in the wording {label}": arm for label, arm in arms.items()}
        words = vocabulary_for(case.pairs)
        row, part = decide_wording(rows[0], runs, gate, words.many)
        decided = [decide_each(each, gate, len(arms), words) for each in rows[1:]]
        parts = [part, *(each for _, of_one in decided for each in of_one)]
        status = worst_status(*(each.status for each in parts))
        reasons = [part.reason, *(each.reason for each in parts[1:] if each.status is status is not Status.PASS)]
        reasons += [ONE_RUN] if every[0].runs == 1 else []
        rows = [replace(row, status=status, message="; ".join(reasons)), *(each for each, _ in decided)]
        evidence = WordingFlips(judge=case.judge.name, dataset=case.dataset, excess=every[0].excess)
        decisive = deciding_parts(parts, status)
        return self.finding(
            case,
            status,
            reasons=tuple(reasons),
            diagnosis=_diagnosis(rows[0], rows[1:]),
            rows={WordingRow.place: tuple(rows)},
            evidence={evidence.place: (evidence,)},
            alpha=gate.alpha,
            estimate=rows[0].excess_flips,
            plain=with_deciding_part(MESSAGES.wordings(rows[0], list(arms), words), decisive),
            decided_by=decisive,
        )

    def error_finding(self, case: CheckInput, message: str) -> Finding:
        """Return the ERROR of the wordings."""
        tolerance = _gate(case.config).wording_tolerance
        row = WordingRow(judge=case.judge.name, dataset=case.dataset, tolerance=tolerance, message=message)
        return self.error(case, message, row)


def _gate(config: Config) -> WordingTable:
    gate = config.gate(WordingCheck.family)
    assert isinstance(gate, WordingTable)
    return gate


def _label(judge: Judge) -> str:
    return judge.name.partition(REWORDED)[2]


# --- decided ------------------------------------------------------------------------------------------------


def _undecided(case: CheckInput, row: WordingRow) -> WordingRow:
    """Return the row of what was measured with what it says, of which nothing is decided yet."""
    message = MESSAGES.flips_by_words(row, vocabulary_for(case.pairs))
    return replace(row, judge=case.judge.name, dataset=case.dataset, status=Status.NOT_APPLICABLE, message=message)


def decide_wording(
    row: WordingRow, runs: Mapping[str, Sequence[Judgment]], gate: WordingTable, units: str = "pairs"
) -> tuple[WordingRow, DecisionPart]:
    """Return the decided row of all wordings, and its part.

    PASS if the excess is below the tolerance, FAIL if above, for any value of invalid answers. Too many invalid answers
    are an ERROR.
    """
    tolerance = gate.wording_tolerance
    row = replace(row, tolerance=tolerance)
    for wording, arm in runs.items():
        invalid = [(judgment, float(judgment.selected is None)) for judgment in arm]
        n = round(sum(each for _, each in invalid))
        if excess := describe_too_many_invalid(n, len(arm), gate, cluster_scores(arm)(invalid)):
            part = DecisionPart("invalid", Status.ERROR, f"{n} of {len(arm)} answers {wording} are invalid, {excess}")
            return replace(row, status=part.status, message=part.reason), part
    if not row.n:
        why = f"no {units} have valid answers in two wordings: INCONCLUSIVE"
        part = DecisionPart("unmeasured", Status.INCONCLUSIVE, why)
        return replace(row, status=part.status, message=part.reason), part
    scores = (tuple(row.excess.values()), row.least, row.most)
    result = _at_worst(row, scores, partial(gate_excess, tolerance=tolerance, alpha=gate.alpha, units=units))
    reason = f"{row.message}; {result.message}"
    part = DecisionPart("wording", result.status, reason, estimate=result.estimate, allowed=(None, tolerance))
    return replace(row, status=result.status, message=reason, needed_pairs=result.needed_pairs), part


def _at_worst(measured: WordingRow, scores: ScoresAtWorst, gate: Callable[..., GateResult]) -> GateResult:
    values, *ends = scores
    result = gate(values, clusters=measured.labels)
    if not measured.invalid or result.status is Status.INCONCLUSIVE:
        return result
    if all(gate(each, clusters=measured.all_labels).status is result.status for each in ends):
        return result
    unread = pluralize(measured.invalid, "invalid answer")
    message = f"{result.message.removesuffix(result.status)}{Status.INCONCLUSIVE}: {unread} could change the status"
    return replace(result, status=Status.INCONCLUSIVE, message=message)


def decide_each(
    row: WordingRow, gate: WordingTable, wordings: int, words: Vocabulary
) -> tuple[WordingRow, list[DecisionPart]]:
    """Return one wording's decided row, and its parts.

    `wordings` divides alpha for FAIL. Limits: wording_tolerance, max_probability_change.
    """
    parts: list[DecisionPart] = []
    for name, scores, limit, text, what in (
        ("wording_shift", row.shifts, gate.wording_tolerance, SHIFTED, words.rate),
        ("wording_change", row.changes, gate.max_probability_change, CHANGED, words.chance),
    ):
        if not row.n or scores is None:
            continue
        sides, least = text is SHIFTED, -limit if text is SHIFTED else None
        rule = partial(gate_excess, tolerance=limit, alpha=gate.alpha, units=words.many, both_sides=sides)
        result = _at_worst(row, scores, partial(rule, fail_alpha=gate.alpha / wordings))
        ways = "" if any(part.status is Status.FAIL for part in parts) else ", in both directions"
        numbers = f"{limit:.3f}".removesuffix("0"), level_text(result.estimate.confidence)
        plain = text.format(row.wording, what, ways, *numbers, of=result.estimate)
        reason = f"{plain}. {result.status}{result.message.partition(f': {result.status}')[2]}"
        parts.append(DecisionPart(name, result.status, reason, plain, result.estimate, (least, limit)))
    shift, change = (*(part.estimate for part in parts), None, None)[:2]
    status = worst_status(Status.NOT_APPLICABLE, *(part.status for part in parts))
    message = "; ".join([row.message, *(part.reason for part in parts)])
    return replace(row, status=status, message=message, shift=shift, squared_change=change), parts


# --- words --------------------------------------------------------------------------------------------------


def _diagnosis(row: WordingRow, rows: Sequence[WordingRow]) -> tuple[str, ...]:
    moved = sorted(row.excess.items(), key=lambda each: (-each[1], each[0]))
    examples = [shorten(pair, 60) for pair, excess in moved[:EXAMPLES] if excess > 0]
    return tuple(MESSAGES.lines("moving_wordings", row, rows, examples))


# --- the report's section -----------------------------------------------------------------------------------


def _sorted(findings: Sequence[Finding]) -> list[WordingRow] | None:
    rows = rows_of(findings, WordingRow)
    return sorted(rows, key=lambda row: (row.judge, row.dataset, row.wording != ALL, row.wording)) or None


def _tell(report: Row, _view: DisplayOptions) -> list[str]:
    lines = [
        f"{row.status}: {row.text}"
        for row in read_results(report)
        if row.check == WordingCheck.kind and row.text and row.status != Status.NOT_APPLICABLE
        if not decided_by_control(row.decided_by)
    ]
    return [*lines, *([LEGEND] if WORDINGS.read_records(report) else [])]


def _table(report: Row) -> list[tuple[str, ...]]:
    rows = WORDINGS.read_records(report)
    return [HEADER, *map(_cells, rows)] if rows else []


def _cells(row: WordingRow) -> tuple[str, ...]:
    rates = (row.flip_rate, row.repeat_flip_rate)
    return (
        *(row.judge, row.dataset, row.wording, str(row.n)),
        *(format_share(each.value) if each else "-" for each in rates),
        format_signed(row.excess_flips.value) if row.excess_flips else "-",
        interval_cell(row.excess_flips),
        format_signed(row.shift.value) if row.shift else "-",
        format_share(row.squared_change.value) if row.squared_change else "-",
        row.status,
    )


WORDINGS = Section("wordings", WordingRow, _sorted, _tell, title=TITLE, listed=True, cells=_table)
SECTIONS = (WORDINGS,)
