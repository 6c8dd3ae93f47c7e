"""Accuracy check: is the judge right where gold is known?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.judges.judge import Judge
from judgefixtures.metrics.contrast_metrics import cluster_scores, correctness, is_right, moves_each_way
from judgefixtures.metrics.invalid_limit import describe_too_many_invalid
from judgefixtures.metrics.side_by_side import compare_side_by_side
from judgefixtures.models.check_rows import AccuracyRow, MacroRow
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED
from judgefixtures.models.findings import Finding, ReportRow, Row, cluster_count, evidence_of, rows_of
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm
from judgefixtures.models.side_by_side_rows import CorrectPairs, SideBySideRow
from judgefixtures.statistics.clusters import can_decide, describe_clusters
from judgefixtures.statistics.elementary import check_alpha
from judgefixtures.statistics.estimate import Estimate, Status, format_estimate, format_share, format_signed
from judgefixtures.statistics.gates import inconclusive_advice, settled
from judgefixtures.statistics.power import smallest_passing_n
from judgefixtures.statistics.proportions import macro_average, proportion

from .answer_groups import group_rows
from .base import Answers, Arms, CheckInput, GateDecision, SampleRequirement, SingleJudgeCheck
from .formatting import interval_cell, table_lines
from .messages import MESSAGES
from .plain_language import with_deciding_part
from .sections import DisplayOptions, Section, read_results

HEADER = ("judge", "dataset", "category", "n", "right", "invalid", "accuracy", "CI", "both orders")
SMALLEST_SHOWN_CATEGORY = 10  # pairs; report.json has all of them
TITLE = "accuracy: is the judge right on pairs with gold?"
DEMONSTRABLE = 0.05  # p by Holm's method, below which a category's difference between judges is named


@dataclass(frozen=True, slots=True)
class AccuracyCheck(SingleJudgeCheck):
    """Check that accuracy exceeds min_accuracy in both orders."""

    kind: ClassVar[str] = "accuracy"
    name: ClassVar[str] = "accuracy"
    family: ClassVar[str] = "accuracy"
    arms: ClassVar[tuple[Arm, ...]] = ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Return whether accuracy applies."""
        return not judge.kind.grades

    def skip_reason(self, case: CheckInput) -> str:
        """Return why accuracy does not apply, or ""."""
        if case.judge.kind.grades:
            return f"{case.judge.name} grades one response: accuracy needs a judge of pairs"
        if not case.judge.kind.chooses(case.pairs):
            return MESSAGES.score_without_mark(case)
        return "" if count_with_gold(case.pairs) else NO_GOLD.format(dataset=case.dataset)

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the pairs with gold that a perfect judge needs."""
        gate = config.gate(self.family)
        if gate.min_accuracy is None:
            return None
        with_gold = [pair for pair in pairs if pair.gold is not None]
        least = min_pairs_for_accuracy(gate.min_accuracy, gate.alpha)
        limit = f"min_accuracy {gate.min_accuracy:g}"
        return SampleRequirement.among(with_gold, self.name, dataset, least, limit, "lower min_accuracy").unmet

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of both orders."""
        gate, (own, *others) = self.gate_at_look(case), answers[0].arms  # a log may have the pairs' own order alone
        other = others[0] if others and case.judge.kind.sees_order else None  # one score, no order
        measured = accuracy(own, other, gate.confidence)
        decision = decide_accuracy(measured[0], gate)
        judge, dataset = case.judge.name, case.dataset
        text = MESSAGES.accuracy(judge, dataset, measured[0], gate.min_accuracy)
        return self.decided(
            case,
            decision,
            *(each.changed(judge=judge, dataset=dataset) for each in measured),
            diagnosis=(f"{judge} on {dataset}: {decision.message}",),
            evidence={CorrectPairs.place: (correct_pairs(judge, dataset, own),)},
            estimate=measured[0].accuracy,
            plain=with_deciding_part(text, decision.decided_by),
        )

    def ungated_rows(self, case: CheckInput, arms: Arms) -> tuple[ReportRow, ...]:
        """Return choice rates by length, format and model."""
        return () if case.judge.kind.grades else group_rows(case, arms, case.config.gate(self.family).confidence)


NO_GOLD = "no pair of {dataset} has gold, so accuracy is not applicable"


def count_with_gold(pairs: Sequence[Pair]) -> int:
    """Return the number of pairs with gold."""
    return sum(pair.gold is not None for pair in pairs)


def correct_pairs(judge: str, dataset: str, own: Sequence[Judgment], *, baseline: bool = False) -> CorrectPairs:
    """Return the pairs that a judge gets right."""
    right = {j.pair.id: (j.pair.category, correctness(j)) for j in own if j.pair.gold is not None}
    return CorrectPairs(judge=judge, dataset=dataset, right=right, baseline=baseline)


def accuracy(
    own: Sequence[Judgment], other: Sequence[Judgment] | None = None, confidence: float = 0.90
) -> tuple[AccuracyRow, ...]:
    """Return accuracy for "all", then for each category.

    Args:
        own: Judgments in the pairs' own order.
        other: Judgments in the reverse order.
        confidence: Level of the interval: Wilson's, or over clusters.
    """
    right = [(judgment, correctness(judgment)) for judgment in own if judgment.pair.gold is not None]
    of = cluster_scores(own, parts=True)
    also = {judgment.pair.id: is_right(judgment) for judgment in other or ()}
    # A category that the data calls "all" has no row of its own: that name means every pair.
    categories = sorted({name for judgment, _ in right if (name := judgment.pair.category) not in (None, "all")})
    rows = []
    for category in ("all", *categories) if right else ():
        members = [(j, r) for j, r in right if category == "all" or j.pair.category == category]
        n, (correct, _) = len(members), moves_each_way(r for _, r in members)
        both = [(j, is_right(j) and also.get(j.pair.id, False)) for j, _ in members]
        both_right = proportion(sum(r for _, r in both), n, confidence, totals=of(both)) if other is not None else None
        invalid = [(j, j.chosen is None) for j, _ in members]
        rows.append(
            AccuracyRow(
                category=category,
                n=n,
                clusters=cluster_count(of(members)),
                correct=correct,
                ties=sum(j.verdict.tie for j, _ in members),
                invalid=sum(is_invalid for _, is_invalid in invalid),
                accuracy=proportion(correct, n, confidence, totals=of(members)),
                accuracy_both_orders=both_right,
                by_cluster=(of(members), of(invalid)),
            )
        )
    return tuple(rows)


def decide_accuracy(measured: AccuracyRow, gate: GateTable) -> GateDecision:
    """Return the decision on a dataset's accuracy.

    PASS if the one-sided exact lower bound exceeds min_accuracy, FAIL if the upper bound is below, NOT_APPLICABLE
    without min_accuracy. Too many invalid answers are an ERROR.
    """
    right, invalid = measured.by_cluster
    text = (
        f"accuracy {measured.correct:g}/{measured.n} = "
        f"{format_estimate(measured.accuracy, format_share)}{describe_clusters(measured.n, right)}"
    )
    text += f", {measured.ties} ties count half" if measured.ties else ""
    least = gate.min_accuracy or 0.0
    if excess := describe_too_many_invalid(measured.invalid, measured.n, gate, invalid):
        text += f"; {measured.invalid} answers are invalid, {excess}"
        return GateDecision.of(Status.ERROR, least, text, part="invalid")
    if gate.min_accuracy is None:
        return GateDecision.of(Status.NOT_APPLICABLE, least, f"{text}; min_accuracy is not set", part="accuracy")
    exact = proportion(measured.correct, measured.n, gate.confidence, "exact", right)
    few = "" if can_decide(right) else f"; {inconclusive_advice(None, measured.n, 'min_accuracy', right)}"
    status = settled(exact.low > gate.min_accuracy, exact.high < gate.min_accuracy, right)
    text += f", min_accuracy {format_share(gate.min_accuracy)}: {status}{few}"
    return GateDecision.of(status, least, text, part="accuracy")


@lru_cache(maxsize=256)
def min_pairs_for_accuracy(least: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs at which a perfect judge passes.

    >>> min_pairs_for_accuracy(0.7)
    9
    """
    check_alpha(alpha, least=least)
    return smallest_passing_n(lambda n: proportion(n, n, 1 - 2 * alpha, "exact").low > least)


# --- the report's sections ----------------------------------------------------------------------------------


def _sort_by_category(findings: Sequence[Finding]) -> list[AccuracyRow]:
    rows = rows_of(findings, AccuracyRow)
    return sorted(rows, key=lambda row: (row.judge, row.dataset, row.category != "all", row.category))


def _tell_accuracy(report: Row, _view: DisplayOptions) -> list[str]:
    rows = [row for row in ACCURACY.read_records(report) if row.category == "all" or row.n >= SMALLEST_SHOWN_CATEGORY]
    lines = [
        f"{row.status if row.status != Status.NOT_APPLICABLE else 'no limit'}: {row.text}"
        for row in read_results(report)
        if row.check == AccuracyCheck.kind and row.text
    ]
    return ["", *lines, "", *table_lines([HEADER, *map(_accuracy_cells, rows)])] if rows else []


def _macro_lines(report: Row, _view: DisplayOptions) -> list[str]:
    rows = MACRO_ACCURACY.read_records(report)  # a mean over topics of a few pairs says nothing
    large = [row for row in rows if row.accuracy.n >= SMALLEST_SHOWN_CATEGORY * row.categories]
    return MESSAGES.lines("mean_accuracy", large)


def _macro_rows(findings: Sequence[Finding]) -> list[MacroRow]:
    parts: dict[tuple[str, str], list[Estimate]] = {}
    for row in _sort_by_category(findings):
        if row.category != "all":
            parts.setdefault((row.judge, row.dataset), []).append(row.accuracy)
    return [
        MacroRow(judge=judge, dataset=dataset, categories=len(of), accuracy=macro_average(of, of[0].confidence))
        for (judge, dataset), of in parts.items()
        if len(of) > 1
    ]


def _side_by_side_rows(findings: Sequence[Finding]) -> list[SideBySideRow]:
    return compare_side_by_side(evidence_of(findings, CorrectPairs))


def _side_by_side_lines(report: Row, _view: DisplayOptions) -> list[str]:
    rows = SIDE_BY_SIDE.read_records(report)
    lines: list[str] = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        every, *parts = [row for row in rows if row.dataset == dataset]
        large = [row for row in parts if row.tests and row.n >= SMALLEST_SHOWN_CATEGORY]
        rows_to_show = [every, *large, *(row for row in parts if row.category == "macro" and large)]
        two = len(every.judges) == 2
        header = ("category", "n", *every.judges, *(("difference",) if two else ()))
        cells = [
            (
                row.category,
                str(row.n),
                *(_with_ends(estimate, format_share) for estimate in row.judges.values()),
                *(_with_ends(test.difference, format_signed) for test in row.tests if two),
            )
            for row in rows_to_show
        ]
        widest = max(map(len, cells))
        cells = [(*cell, *("-",) * (widest - len(cell))) for cell in cells]
        lines += ["", f"accuracy on {dataset}, side by side:", *table_lines([header, *cells])]
        lines += map(MESSAGES.compared_accuracy, every.tests)
        if not two:
            tests = [(row.category, test) for row in large for test in row.tests if test.p_holm < DEMONSTRABLE]
            lines += [f"{MESSAGES.compared_accuracy(test)} in {category}" for category, test in tests]
    return lines


def _with_ends(estimate: Estimate, number: Callable[[float], str]) -> str:
    return format_estimate(estimate, number)


def _accuracy_cells(row: AccuracyRow) -> tuple[str, ...]:
    both = row.accuracy_both_orders
    return (
        row.judge,
        row.dataset,
        row.category,
        str(row.n),
        f"{row.correct:g}",
        str(row.invalid),
        format_share(row.accuracy.value),
        interval_cell(row.accuracy),
        format_share(both.value) if both else "-",
    )


ACCURACY = Section("accuracy", AccuracyRow, _sort_by_category, _tell_accuracy, title=TITLE)
MACRO_ACCURACY = Section("macro_accuracy", MacroRow, _macro_rows, _macro_lines, title=TITLE)
SIDE_BY_SIDE = Section("side_by_side", SideBySideRow, _side_by_side_rows, _side_by_side_lines, title=TITLE)
SECTIONS = (ACCURACY, MACRO_ACCURACY, SIDE_BY_SIDE)
