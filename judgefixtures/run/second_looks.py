"""Second looks: decisions made again with more pairs than planned.

Each unplanned look has its own error. Planned looks (`[gate] looks`) share it.
"""

from collections.abc import Iterable
from dataclasses import replace

from judgefixtures.checks import Check, CheckInput
from judgefixtures.models.vocabulary import OF_PAIRS

from .item_record import RequestContext
from .messages import MESSAGES

# Of judges at the tolerance, asked about more pairs until they pass: benchmarks/results.md has the table.
COSTS = "a judge exactly at the limit passes in 0.11 of cases after 4 looks and in 0.21 after 38"


def planned_pair_counts(asking: RequestContext, check: Check, case: CheckInput) -> RequestContext:
    """Return the context with the planned number of pairs.

    Excludes swaps, checks without contrasts, planned looks and samples too small to pass.
    """
    count, looks = len(case.pairs), check.gate_at_look(case).looks
    shares = looks is not None and count <= looks[-1]
    if check.contrast is None or case.baseline is not None or shares:
        return replace(asking, plan=count)
    need = check.min_sample(case.config, case.judge.table, case.dataset, case.pairs[:1])
    return replace(asking, plan=count, again=need.at_least if need else 1)


def second_look_note(asking: RequestContext, before: Iterable[int], many: str = OF_PAIRS.many) -> str:
    """Return a note on more pairs than planned `before`, or "".

    >>> from judgefixtures.run.item_record import ItemRecord
    >>> asking = RequestContext("qa", "recency-new-old", "", ItemRecord(), plan=200, again=20)
    >>> second_look_note(asking, [10, 200]), second_look_note(asking, [50, 100, 200]).partition(":")[0]
    ('', 'look 3 at these recordings')
    """
    earlier = sorted({count for count in before if asking.again <= count < asking.plan}) if asking.again else []
    if not earlier:
        return ""
    look = "a second look" if len(earlier) == 1 else f"look {len(earlier) + 1}"
    return MESSAGES.second_look(look, map(str, earlier), many, asking, COSTS)
