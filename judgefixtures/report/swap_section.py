"""Report sections of swaps, and their terminal lines."""

from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.checks.sections import DisplayOptions, Section, sorted_section_rows, with_holm
from judgefixtures.checks.swap_decision import WORDS, caveats, decide_swaps
from judgefixtures.models.findings import Finding, Row, rows_of
from judgefixtures.models.swap_rows import DecisionRow, ExpenseRow, SwapRow, SwapStatus
from judgefixtures.statistics.estimate import Status

from .messages import MESSAGES
from .swap_coverage import swap_coverage

KEY = ("judge", "baseline", "dataset", "contrast", "quantity")


SEVERITY = (SwapStatus.APPROVE, SwapStatus.INCONCLUSIVE, SwapStatus.REJECT)


TITLE = "swap: may the candidate replace the baseline?"


MOST_REASONS, MOST_COMPONENTS = 7, 11  # lines in the terminal; report.json has all


def adjust_swaps(findings: Sequence[Finding]) -> list[SwapRow]:
    """Return all swap rows with Holm-adjusted p-values."""
    return with_holm(rows_of(findings, SwapRow), KEY)


def _overall_decision(report: Row) -> DecisionRow | None:
    every = DECISIONS.read_records(report)
    if not every:
        return None
    worst = max(every, key=lambda decision: SEVERITY.index(SwapStatus(decision.status)))
    reasons = tuple(
        f"{decision.judge}: {reason}" if len(every) > 1 else reason
        for decision in every
        if decision.status == worst.status
        for reason in decision.reasons
    )
    return replace(worst, judge="", baseline="", reasons=reasons)


def _tell_decisions(report: Row, _view: DisplayOptions) -> list[str]:
    every = DECISIONS.read_records(report)
    lines, several = [], len(every) > 1
    for own in every:
        title = f"decision on {own.judge} against {own.baseline}: {own.status}" if several else ""
        title, *rest = _decision_lines(title or f"decision: {own.status}", own)
        covers, leaves_out = swap_coverage(own, report).briefly
        sentences = filter(None, [caveats(own, report), f"covers: {covers}", f"does not cover: {leaves_out}"])
        lines += ["", title, *(f"  {line}" for line in sentences), *rest]
    return [*lines, "", f"decision: {report['decision']['status']}"] if several else lines


def decision_headline(decision: DecisionRow, report: Row) -> str:
    """Return a candidate's decision in a sentence, after any failed control."""
    problem = caveats(decision, report)
    failed = {each.kind for each in decision.components if each.status == Status.FAIL}
    differs = decision.status == SwapStatus.REJECT and failed == {"pass-rate"}
    plain = WORDS["decided"]["pass-rate" if differs else decision.status]
    plain = plain.format(judge=decision.judge, baseline=decision.baseline)
    return f"{problem}; {plain}" if problem else plain


def decision_text(decision: DecisionRow, report: Row) -> str:
    """Return a decision's sentence with its reasons."""
    headline = f"{decision.status}: {decision_headline(decision, report)}"
    reasons = _cut([f"  {reason}" for reason in decision.reasons], MOST_REASONS)
    return "\n".join([headline, *reasons, "  The summary shows all comparisons."])


def _decision_lines(title: str, decision: DecisionRow) -> list[str]:
    reasons, components = decision.reasons, decision.components
    left = [each for each in components if each.message not in reasons]
    left.sort(key=lambda each: (each.status == Status.PASS, not each.is_of_all))
    lines = [f"  {each.message}" for each in left if each.is_of_all or each.status != Status.PASS]
    # What follows the open components says what would settle them: it is not cut.
    tested = {each.message for each in components}
    parts = max((at for at, reason in enumerate(reasons, 1) if reason in tested), default=len(reasons))
    reason_lines = [f"  {reason}" for reason in reasons]
    reason_lines = [*_cut(reason_lines[:parts], MOST_REASONS), *reason_lines[parts:]]
    guards = [each for each in components if not each.is_of_all]
    guard_lines = MESSAGES.lines("guards", guards, decision.guard_margin)
    return [title, *reason_lines, *_cut(lines, MOST_COMPONENTS), *guard_lines]


def _cut(lines: Sequence[str], most: int) -> list[str]:
    return list(lines) if len(lines) <= most else [*lines[: most - 1], f"  and {len(lines) - most + 1} more like these"]


SWAP = Section("swap", SwapRow, adjust_swaps)


EXPENSES = Section("expenses", ExpenseRow, sorted_section_rows(ExpenseRow, *KEY[:-1]))


DECISIONS = Section("decisions", DecisionRow, decide_swaps)


DECISION = Section("decision", DecisionRow, lines=_tell_decisions, sums_up=_overall_decision, title=TITLE)
