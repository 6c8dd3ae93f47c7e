"""Decision on a swap over all compared parts."""

from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.client.costs import format_usd
from judgefixtures.config import SwapTable
from judgefixtures.models.findings import Finding, Row, evidence_of
from judgefixtures.models.swap_rows import ComparedSwapPart, DecisionRow, ExtraPairCostRow, PlannedSwapPart
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary
from judgefixtures.statistics.estimate import pluralize
from judgefixtures.swap import SwapAccuracy, SwapContrast, SwapStatus
from judgefixtures.swap.decide_looks import decide_looks
from judgefixtures.util.patterns import load_table
from judgefixtures.util.shell import quoted
from judgefixtures.util.texts import join_names

from .control import CONTROLS
from .messages import MESSAGES

Parts = Sequence[PlannedSwapPart]
WORDS = load_table("checks")
URGENCY = tuple(WORDS["unread"])  # of controls that were not passed, the most urgent last


def decide_swaps(findings: Sequence[Finding]) -> list[DecisionRow] | None:
    """Return a decision per candidate over all parts, or None."""
    # What was found takes the place of what was planned; of what was found twice, what could not be compared counts.
    compared = sorted(evidence_of(findings, ComparedSwapPart), key=lambda each: each.part is None)
    planned = evidence_of(findings, PlannedSwapPart)
    every: list[PlannedSwapPart] = [*planned, *compared]
    parts = {(each.judge, each.dataset, each.contrast or ""): each for each in every}
    # Of several machines one may have selected what another one left out.
    selected = {(each.judge, each.dataset) for each in planned if not each.unselected}
    left = [each for each in planned if each.unselected and (each.judge, each.dataset) not in selected]
    prices = evidence_of(findings, ExtraPairCostRow)
    return [
        _decide_swap(
            [parts[key] for key in sorted(parts) if key[0] == judge],
            [row for row in prices if row.judge == judge],
            sorted({each.unselected for each in left if each.judge == judge}),
        )
        for judge in sorted({judge for judge, _, _ in parts})
    ] or None


def _decide_swap(planned: Parts, prices: Sequence[ExtraPairCostRow], unselected: Sequence[str]) -> DecisionRow:
    compared = [each for each in planned if isinstance(each, ComparedSwapPart)]
    left_out = sorted({each.family for each in compared if each.left_out})
    parts = [each for each in planned if not (isinstance(each, ComparedSwapPart) and each.left_out)]
    decided = _decide_parts(parts)
    if unselected and decided.status is SwapStatus.APPROVE:
        decided = replace(decided, status=SwapStatus.INCONCLUSIVE, reasons=())
    lost = [f"{what}: not compared" for what in unselected if decided.status is not SwapStatus.REJECT]
    lost += [reason for each in compared if each.part is None and not each.left_out for reason in each.lacking]
    # What is demonstrated decides alone: it comes before what could not be compared.
    own = decided.reasons
    reasons = [*own, *dict.fromkeys(lost)] if decided.status is SwapStatus.REJECT else [*dict.fromkeys(lost), *own]
    if left_out:
        reasons.append(f"not compared: {', '.join(left_out)}, because the imported answers have none of these")
    if decided.needed_pairs is not None:
        words = OF_EXAMPLES if any(each.graded for each in planned) else OF_PAIRS
        reasons += _price(decided.needed_pairs, prices, words)
    reasons[:0] = _due_to_invalid(parts, decided.status, asked=bool(prices))
    return replace(
        decided,
        judge=planned[0].judge,
        baseline=planned[0].baseline,
        same_judge=_same_judge(compared),
        reasons=tuple(reasons),
    )


def _due_to_invalid(parts: Parts, status: SwapStatus, *, asked: bool) -> list[str]:
    invalid = {(part.dataset, *each) for part in parts if isinstance(part, ComparedSwapPart) for each in part.invalid}
    hangs = bool(invalid) and status is not SwapStatus.APPROVE
    valid = _decide_parts(parts, with_invalid=False).status if hangs else status
    if valid is status:
        return []
    names = f"--judge {quoted(parts[0].judge)} --judge-baseline {quoted(parts[0].baseline)}"
    again = f" Record them again: pytest -k swap {names} --judge-record invalid" if asked else ""
    effect = f"count as wrong; without these, the decision is {valid}.{again}"
    return [f"{pluralize(len(invalid), 'invalid answer')} of the candidate {effect}"]


def _same_judge(found: Sequence[ComparedSwapPart]) -> str:
    known = {each.same for each in found if each.part is not None}
    same = "judge" if "judge" in known else "answers" if known == {"answers"} else ""
    names = join_names(dict.fromkeys((found[0].judge, found[0].baseline))) if same else ""
    return str(WORDS["same"][same]).format(names) if same else ""


def _decide_parts(parts: Parts, *, with_invalid: bool = True) -> DecisionRow:
    compared = [each for each in parts if isinstance(each, ComparedSwapPart)]
    measured = [each for each in compared if each.part is not None]
    settings = compared[0] if compared else ComparedSwapPart()
    clusters = {(each.dataset, pair): label for each in measured for pair, label in each.clusters.items()}
    lost = {(each.dataset, each.contrast or ""): {pair for _, pair in each.invalid} for each in measured}
    return decide_looks(
        [_cell(each) for each in parts if each.contrast],
        [_accuracy(each) for each in parts if not each.contrast],
        SwapTable.model_validate(settings.swap),
        alpha=settings.alpha,
        baseline_flips={each.dataset: each.flips for each in measured if each.flips is not None},
        clusters=clusters or None,
        lost={} if with_invalid else lost,
    )


def _cell(planned: PlannedSwapPart) -> SwapContrast:
    if isinstance(planned, ComparedSwapPart) and planned.part is not None:
        return SwapContrast(**planned.part)
    assert planned.contrast is not None
    assert planned.kind is not None
    return SwapContrast(planned.family, planned.contrast, planned.dataset, (), (), (), (), (), planned.kind)


def _accuracy(planned: PlannedSwapPart) -> SwapAccuracy:
    if isinstance(planned, ComparedSwapPart) and planned.part is not None:
        return SwapAccuracy(**planned.part)
    return SwapAccuracy(planned.dataset, (), (), (), () if planned.graded else None)


def _price(needed: int, prices: Sequence[ExtraPairCostRow], words: Vocabulary) -> list[str]:
    more = [(each, max(needed - each.pairs, 0)) for each in prices]
    calls = sum(each.arms * pairs for each, pairs in more)
    if not calls:
        return []
    known = [pairs * each.usd_a_pair for each, pairs in more if each.usd_a_pair is not None]
    cost = f"at most {format_usd(sum(known))}" if len(known) == len(more) else format_usd(None)
    return [f"{words.counted(needed)} per dataset need {calls} more requests to each judge, {cost} for both"]


# --- words ----------------------------------------------------------------------------------------------------


def caveats(decision: DecisionRow, report: Row) -> str:
    """Return warnings before a decision: identical judges, failed controls."""
    return "; ".join(filter(None, [decision.same_judge, _unread(decision, report)]))


def _unread(decision: DecisionRow, report: Row) -> str:
    rows = [row for row in CONTROLS.read_records(report) if row.blocks_pass]
    every = {name: [row.status for row in rows if row.judge == name] for name in (decision.judge, decision.baseline)}
    return MESSAGES.unread({name: max(own, key=URGENCY.index) for name, own in every.items() if own})
