"""The decision on a swap: all of its parts that a run compared, put together, in words that a person can sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from judgefixtures.asking.costs import money
from judgefixtures.checks.candidate import ExpenseRow, FoundPart, PlannedPart, PriceRow, SwapRow
from judgefixtures.checks.control import CONTROLS
from judgefixtures.checks.coverage import coverage_of
from judgefixtures.checks.decision_rows import ComponentRow, DecisionRow
from judgefixtures.checks.phrasing import table
from judgefixtures.checks.sections import Section, View, in_order, with_holm
from judgefixtures.config import SwapTable
from judgefixtures.findings import Finding, Row, evidence_of, rows_of
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS, Wording
from judgefixtures.numbers.estimate import Status, bare
from judgefixtures.swap import SwapAccuracy, SwapCell, SwapDecision, SwapStatus, decide_looks

KEY = ("judge", "baseline", "dataset", "contrast", "quantity")
EXPENSES_SHOWN = ("input_tokens", "output_tokens", "reasoning_tokens", "usd")
EXPENSE_HEADER = ("dataset", "a verdict", "baseline", "candidate", "difference", "CI")
SEVERITY = (SwapStatus.APPROVE, SwapStatus.INCONCLUSIVE, SwapStatus.REJECT)
TITLE = "swap: may the candidate replace the baseline?"
PLAIN = {
    "APPROVE": "{judge} may replace {baseline}: it is worse in nothing that was compared by as much as the margins",
    "REJECT": "{judge} must not replace {baseline}: it is demonstrably worse by more than a margin allows",
    "pass-rate": (
        "{judge} must not replace {baseline}: nothing shows that it is worse, but of the same responses it passes "
        "another share, demonstrably by more than the margin; where that is wanted, widen pass_rate_margin"
    ),
    "INCONCLUSIVE": "{judge} cannot replace {baseline} yet: that it is worse by more than a margin is not ruled out",
}
# What a control that was not passed says of a judge, worst last.
UNREAD = {
    Status.ERROR: "the control of {} could not be measured",
    Status.INCONCLUSIVE: "the control of {} is INCONCLUSIVE",
    Status.FAIL: "{} fails its control",
}
URGENCY = tuple(UNREAD)
MOST_REASONS, MOST_COMPONENTS = 7, 11  # lines in the terminal; report.json has all


def _adjust_swaps(findings: Sequence[Finding]) -> list[SwapRow]:
    return with_holm(rows_of(findings, SwapRow), KEY)


def decide_swaps(findings: Sequence[Finding]) -> list[DecisionRow] | None:
    """Return a decision per candidate, over every part of the swap that was collected; None without any."""
    # What was found takes the place of what was planned; of what was found twice, what could not be compared counts.
    found = sorted(evidence_of(findings, FoundPart), key=lambda each: each.part is None)
    every: list[PlannedPart] = [*evidence_of(findings, PlannedPart), *found]
    parts = {(each.judge, each.dataset, each.contrast or ""): each for each in every}
    prices = evidence_of(findings, PriceRow)
    return [
        _decide_swap(
            [parts[key] for key in sorted(parts) if key[0] == judge], [row for row in prices if row.judge == judge]
        )
        for judge in sorted({judge for judge, _, _ in parts})
    ] or None


def _decide_swap(planned: Sequence[PlannedPart], prices: Sequence[PriceRow]) -> DecisionRow:
    """Return the decision on one candidate: all of its parts, those that could not be compared among them."""
    found = [each for each in planned if isinstance(each, FoundPart)]
    left_out = sorted({each.family for each in found if each.left_out})
    parts = [each for each in planned if not (isinstance(each, FoundPart) and each.left_out)]
    decided = _decide_parts(parts)
    lost = [reason for each in found if each.part is None and not each.left_out for reason in each.lacking]
    # What is demonstrated decides alone: it comes before what could not be compared.
    own = decided.reasons
    reasons = [*own, *dict.fromkeys(lost)] if decided.status is SwapStatus.REJECT else [*dict.fromkeys(lost), *own]
    if left_out:
        reasons.append(f"not compared: {', '.join(left_out)}, to which imported answers have nothing to say")
    if decided.needed_pairs is not None:
        words = OF_EXAMPLES if any(each.graded for each in planned) else OF_PAIRS
        reasons += _price(decided.needed_pairs, prices, words)
    return DecisionRow.copied(
        decided,
        judge=planned[0].judge,
        baseline=planned[0].baseline,
        reasons=tuple(reasons),
        components=tuple(
            ComponentRow.copied(each, each.estimate, judge=each.of_candidate, baseline=each.of_baseline)
            for each in decided.components
        ),
    )


def _decide_parts(parts: Sequence[PlannedPart]) -> SwapDecision:
    """Return the decision over all that was planned: what could not be compared is without pairs."""
    found = [each for each in parts if isinstance(each, FoundPart)]
    measured = [each for each in found if each.part is not None]
    settings = found[0] if found else FoundPart()
    clusters = {(each.dataset, pair): label for each in measured for pair, label in each.clusters.items()}
    return decide_looks(
        [_cell(each) for each in parts if each.contrast],
        [_accuracy(each) for each in parts if not each.contrast],
        SwapTable.model_validate(settings.swap),
        alpha=settings.alpha,
        baseline_flips={each.dataset: each.flips for each in measured if each.flips is not None},
        clusters=clusters or None,
    )


def _cell(planned: PlannedPart) -> SwapCell:
    if isinstance(planned, FoundPart) and planned.part is not None:
        return SwapCell(**planned.part)
    assert planned.contrast is not None
    assert planned.kind is not None
    return SwapCell(planned.family, planned.contrast, planned.dataset, (), (), (), (), (), planned.kind)


def _accuracy(planned: PlannedPart) -> SwapAccuracy:
    if isinstance(planned, FoundPart) and planned.part is not None:
        return SwapAccuracy(**planned.part)
    return SwapAccuracy(planned.dataset, (), (), (), () if planned.graded else None)


def _price(needed: int, prices: Sequence[PriceRow], words: Wording) -> list[str]:
    """Return what so many pairs per dataset cost beyond those that there are: calls, and money of both judges."""
    more = [(each, max(needed - each.pairs, 0)) for each in prices]
    calls = sum(each.arms * pairs for each, pairs in more)
    if not calls:
        return []
    known = [pairs * each.usd_a_pair for each, pairs in more if each.usd_a_pair is not None]
    cost = f"at most {money(sum(known))}" if len(known) == len(more) else money(None)
    return [f"{words.counted(needed)} per dataset are {calls} more calls of each judge, {cost} for both"]


def _overall_decision(report: Row) -> DecisionRow | None:
    """Return the worst of the candidates' decisions; its reasons name the candidate where there are several."""
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


# --- words ----------------------------------------------------------------------------------------------------


def _tell_decisions(report: Row, _view: View) -> list[str]:
    """Return each candidate's decision: in words, then its components, open ones first; the decision on all last."""
    every = DECISIONS.read_records(report)
    lines, several = [], len(every) > 1
    for own in every:
        title = f"decision on {own.judge} against {own.baseline}: {own.status}" if several else ""
        title, *rest = _decision_lines(title or f"decision: {own.status}", own)
        covers, leaves_out = coverage_of(own, report).briefly
        said = filter(None, [unread(own, report), f"covers: {covers}", f"does not cover: {leaves_out}"])
        lines += ["", title, *(f"  {line}" for line in said), *rest]
    return [*lines, "", f"decision: {report['decision']['status']}"] if several else lines


def lead(decision: DecisionRow, report: Row) -> str:
    """Return what was decided on a candidate, in a sentence; that a judge failed its control comes before it."""
    said = unread(decision, report)
    failed = {each.kind for each in decision.components if each.status == Status.FAIL}
    differs = decision.status == SwapStatus.REJECT and failed == {"pass-rate"}
    plain = PLAIN["pass-rate" if differs else decision.status]
    plain = plain.format(judge=decision.judge, baseline=decision.baseline)
    return f"{said}; {plain}" if said else plain


def decision_text(decision: DecisionRow, report: Row) -> str:
    """Return what a decision says where it stands for itself: a sentence, and its reasons; the summary has the rest."""
    reasons = _cut([f"  {reason}" for reason in decision.reasons], MOST_REASONS)
    return "\n".join([f"{decision.status}: {lead(decision, report)}", *reasons, "  All that was compared: the summary"])


def unread(decision: DecisionRow, report: Row) -> str:
    """Return which judges of a swap failed their control, so that nothing can be approved; empty for none."""
    rows = [row for row in CONTROLS.read_records(report) if row.earns_nothing]
    said = [
        UNREAD[max((Status(row.status) for row in own), key=URGENCY.index)].format(name)
        for name in dict.fromkeys((decision.judge, decision.baseline))
        if (own := [row for row in rows if row.judge == name])
    ]
    them = "it passes" if len(said) == 1 else "they pass"
    return f"{' and '.join(said)}, and until {them} nothing can be approved" if said else ""


def _decision_lines(title: str, decision: DecisionRow) -> list[str]:
    """Return the decision's title, its reasons, and the components that are not among them, open ones first."""
    reasons, components = decision.reasons, decision.components
    left = [each for each in components if each.message not in reasons]
    left.sort(key=lambda each: (each.status == Status.PASS, not each.is_of_all))
    shown = [f"  {each.message}" for each in left if each.is_of_all or each.status != Status.PASS]
    # What follows the open components says what would settle them: it is not cut.
    tested = {each.message for each in components}
    parts = max((at for at, reason in enumerate(reasons, 1) if reason in tested), default=len(reasons))
    said = [f"  {reason}" for reason in reasons]
    return [
        title,
        *_cut(said[:parts], MOST_REASONS),
        *said[parts:],
        *_cut(shown, MOST_COMPONENTS),
        *_guards(components, decision.guard_margin),
    ]


def _guards(components: Iterable[ComponentRow], margin: float | None) -> list[str]:
    guards = [each for each in components if not each.is_of_all]
    passed = sum(each.status == Status.PASS for each in guards)
    not_worse = "" if margin is None else f", none worse by {bare(margin)} or more" if passed == len(guards) else ""
    said = f"  single contrasts and datasets: {passed} of {len(guards)} pass{not_worse} (report.json has all)"
    return [said] if guards else []


def _cut(lines: Sequence[str], most: int) -> list[str]:
    """Return so many lines at most, the last of which says how many more there are."""
    return list(lines) if len(lines) <= most else [*lines[: most - 1], f"  and {len(lines) - most + 1} more like these"]


def _expense_lines(report: Row, _view: View) -> list[str]:
    """Return what a verdict costs, a table per candidate: that of the first dataset (report.json has all)."""
    first: dict[tuple[str, str], ExpenseRow] = {}
    for row in EXPENSES.read_records(report):
        first.setdefault((row.judge, row.baseline), row)
    lines: list[str] = []
    for (judge, baseline), row in first.items():
        lines += ["", f"cost of a verdict: {judge} against {baseline} (no times: recordings have none)"]
        lines += table([EXPENSE_HEADER, *_expense_cells(row)])
    return lines


def _expense_cells(row: ExpenseRow) -> list[tuple[str, ...]]:
    calls = row.calls
    more = f"{calls.judge - calls.baseline:+d}"
    cells: list[tuple[str, ...]] = [
        (row.dataset, "calls in sequence", str(calls.baseline), str(calls.judge), more, "-")
    ]
    for name in EXPENSES_SHOWN:
        each, what, digits = getattr(row, name), name.replace("_", " "), 6 if name == "usd" else 1
        if each is not None:
            found, interval = each.difference, "-"
            if found:
                ends = f"[{found.low:.{digits}f}, {found.high:.{digits}f}]"
                interval = f"{100 * found.confidence:.10g}% {ends}, n = {each.n}"
            amounts = (each.baseline, each.judge)
            texts = (*(f"{amount:.{digits}f}" for amount in amounts), f"{each.judge - each.baseline:+.{digits}f}")
            cells.append((row.dataset, what, *texts, interval))
        elif name != "reasoning_tokens":
            unknown = "price unknown" if name == "usd" else "unknown"
            cells.append((row.dataset, what, unknown, unknown, "-", "-"))
    return cells


SWAP = Section("swap", SwapRow, _adjust_swaps)
EXPENSES = Section(
    "expenses", ExpenseRow, in_order(ExpenseRow, *KEY[:-1]), _expense_lines, title="what a verdict costs"
)
DECISIONS = Section("decisions", DecisionRow, decide_swaps)
DECISION = Section("decision", DecisionRow, lines=_tell_decisions, sums_up=_overall_decision, title=TITLE)
