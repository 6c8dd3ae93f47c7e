"""Deciding a swap while it is being recorded: at fixed numbers of pairs, from prefixes, without any state.

The first so many pairs of a dataset are the same however many follow. So every earlier look can be computed again from
a later recording, and a recording made in one go decides what one made in batches does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from judgefixtures.config import SwapTable
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS
from judgefixtures.swap.cells import Clusters, Flips, SwapAccuracy, SwapCell
from judgefixtures.swap.components import SwapDecision, SwapStatus
from judgefixtures.swap.decision import decide_at
from judgefixtures.swap.levels import at_looks, once


def decide_looks(
    cells: Sequence[SwapCell],
    accuracies: Sequence[SwapAccuracy],
    swap: SwapTable,
    *,
    alpha: float = 0.05,
    missing: Sequence[str] = (),
    baseline_flips: Flips = None,
    clusters: Clusters = None,
    intervals: bool = True,
) -> SwapDecision:
    """Return the decision of the first look of `[swap] looks` that decides, else that of the last one reached.

    Arguments and errors as of `decide_swap`, but pairs have to stand in the order in which they are recorded: a look
    at n takes the first n of every cell and dataset, all of those that have fewer. It is reached when the largest has
    n. `look` of the result is the number of pairs per dataset that decided; later ones are ignored, and said to be.
    With one look there is nothing to share: all pairs are decided on once, as `decide_swap` does. So are they where
    there are more than the last look has, and the reasons say that this is a new design. Before the first of several
    looks nothing is decided. `intervals` False leaves out those of the components, for simulations: they are shown and
    decide nothing.

    >>> right = SwapAccuracy("qa", [str(n) for n in range(120)], [1.0] * 120, [1.0] * 120)
    >>> found = decide_looks([], [right], SwapTable(looks=[50, 100, 200]))
    >>> found.status.value, found.look
    ('APPROVE', 100)
    """
    pairs = pairs_per_dataset(cells, accuracies)
    many = (OF_EXAMPLES if any(each.labels is not None for each in accuracies) else OF_PAIRS).many
    decide = partial(
        decide_at, swap=swap, missing=missing, baseline_flips=baseline_flips, clusters=clusters, intervals=intervals
    )
    if len(swap.looks) == 1 or pairs > swap.looks[-1]:
        found = replace(decide(once(alpha), cells, accuracies), look=pairs)
        return _saying(found, new_design(pairs, swap.looks, many))
    if pairs < swap.looks[0]:
        waits = f"{pairs} {many} per dataset, the first look is at {swap.looks[0]}"
        return SwapDecision(SwapStatus.INCONCLUSIVE, (waits,))
    for levels, look in zip(at_looks(swap.looks, alpha), swap.looks, strict=True):
        if look > pairs:
            break
        firsts = [cell.first(look) for cell in cells], [accuracy.first(look) for accuracy in accuracies]
        found = replace(decide(levels, *firsts), look=look)
        if found.status is not SwapStatus.INCONCLUSIVE:
            return _saying(found, f"decided after {look} of {pairs} {many} per dataset" if look < pairs else "")
    following = [look for look in swap.looks if look > pairs]
    if not following:
        return found
    only_rejects = at_looks(swap.looks, alpha)[len(swap.looks) - len(following) - 1].pass_level is None
    remark = f"{pairs} {many} per dataset, the next look is at {following[0]}"
    return _saying(found, f"{remark}; the look at {found.look} could only reject" if only_rejects else remark)


def pairs_per_dataset(cells: Sequence[SwapCell], accuracies: Sequence[SwapAccuracy]) -> int:
    """Return how many pairs the largest cell or dataset has."""
    return max([*(len(cell.pairs) for cell in cells), *(len(each.pairs) for each in accuracies)], default=0)


def new_design(pairs: int, looks: Sequence[int], many: str = OF_PAIRS.many) -> str:
    """Return what is to be said of more pairs than were planned, or nothing."""
    if pairs <= looks[-1]:
        return ""
    return (
        f"{pairs} {many} per dataset are more than the last look ({looks[-1]}): decided once on all of them, as a "
        "new design; if this swap was decided on before, the errors of both add up"
    )


def _saying(found: SwapDecision, remark: str) -> SwapDecision:
    return replace(found, reasons=(*found.reasons, remark)) if remark else found
