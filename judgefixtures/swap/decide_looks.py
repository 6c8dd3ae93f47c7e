"""Looks of a swap: decide during recording, at planned numbers of pairs."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from judgefixtures.config import SwapTable
from judgefixtures.models.swap_rows import DecisionRow, SwapStatus
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS
from judgefixtures.statistics.alpha_spending import LookLevels, fixed_design_levels, levels_at_looks

from .cells import Clusters, Flips, SwapAccuracy, SwapContrast, without
from .decision import decide_swap_at_levels
from .sentences import MESSAGES


def decide_looks(
    cells: Sequence[SwapContrast],
    accuracies: Sequence[SwapAccuracy],
    swap: SwapTable,
    *,
    alpha: float = 0.05,
    missing: Sequence[str] = (),
    baseline_flips: Flips = None,
    clusters: Clusters = None,
    lost: Mapping[tuple[str, str], Container[str]] = MappingProxyType({}),
    intervals: bool = True,
) -> DecisionRow:
    """Return the decision of the first deciding look, else of the last reached.

    Arguments and errors as in `decide_swap`, but pairs must be in recording order. A look at n uses the first n pairs;
    pairs beyond the last look are one new design. `lost` ids, by dataset and contrast ("" for accuracy), count for
    looks without data. `intervals` adds intervals to components.

    >>> right = SwapAccuracy("qa", [str(n) for n in range(120)], [1.0] * 120, [1.0] * 120)
    >>> decision = decide_looks([], [right], SwapTable(looks=[50, 100, 200]))
    >>> decision.status.value, decision.look
    ('APPROVE', 100)
    """
    pairs = pairs_per_dataset(cells, accuracies)
    many = (OF_EXAMPLES if any(each.labels is not None for each in accuracies) else OF_PAIRS).many

    def decide_first(levels: LookLevels, look: int) -> DecisionRow:
        firsts = [without(each.first(look), lost.get((each.dataset, each.contrast), ())) for each in cells]
        known = [without(each.first(look), lost.get((each.dataset, ""), ())) for each in accuracies]
        return decide_swap_at_levels(levels, firsts, known, swap, missing, baseline_flips, clusters, intervals)

    if len(swap.looks) == 1 or pairs > swap.looks[-1]:
        decision = replace(decide_first(fixed_design_levels(alpha), pairs), look=pairs)
        return _saying(decision, redesigned_note(pairs, swap.looks, many))
    if pairs < swap.looks[0]:
        waits = f"{pairs} {many} per dataset are too few for the first look: record {swap.looks[0]}"
        return DecisionRow(reasons=(waits,))
    for levels, look in zip(levels_at_looks(swap.looks, alpha), swap.looks, strict=True):
        if look > pairs:
            break
        decision = replace(decide_first(levels, look), look=look)
        if decision.status is not SwapStatus.INCONCLUSIVE:
            return _saying(decision, f"decided after {look} of {pairs} {many} per dataset" if look < pairs else "")
    following = [look for look in swap.looks if look > pairs]
    if not following:
        return decision
    only_rejects = levels_at_looks(swap.looks, alpha)[len(swap.looks) - len(following) - 1].pass_level is None
    remark = f"{pairs} {many} per dataset recorded; the next look needs {following[0]}"
    return _saying(decision, f"{remark}; the look at {decision.look} could only reject" if only_rejects else remark)


def pairs_per_dataset(cells: Sequence[SwapContrast], accuracies: Sequence[SwapAccuracy]) -> int:
    """Return the most pairs of a cell or dataset."""
    return max([*(len(cell.pairs) for cell in cells), *(len(each.pairs) for each in accuracies)], default=0)


def redesigned_note(pairs: int, looks: Sequence[int], many: str = OF_PAIRS.many) -> str:
    """Return a note on unplanned pairs, or ""."""
    if pairs <= looks[-1]:
        return ""
    return MESSAGES.swap_beyond_last_look(pairs, many, looks[-1])


def _saying(decision: DecisionRow, remark: str) -> DecisionRow:
    return replace(decision, reasons=(*decision.reasons, remark)) if remark else decision
