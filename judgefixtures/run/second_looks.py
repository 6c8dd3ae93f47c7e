"""Second looks: notes on decisions made again with more pairs than the recording was planned for.

A gate has its error rate for one look. Adding pairs until it passes, or two runs with growing numbers of pairs, are
several looks. The header of a recording lists the planned numbers of pairs. Planned looks (`[gate] looks`) share the
error.
"""

from collections.abc import Iterable
from dataclasses import replace

from judgefixtures.checks import Check, CheckInput
from judgefixtures.models.vocabulary import OF_PAIRS
from judgefixtures.util.texts import join_names

from .item_record import RequestContext

# Of judges at the tolerance, asked about more pairs until they pass: benchmarks/results.md has the table.
COSTS = "of judges at the tolerance that are asked about more until they pass, .11 do after four looks, .21 after 38"


def planned_pair_counts(asking: RequestContext, check: Check, case: CheckInput) -> RequestContext:
    """Return what is being asked with how many pairs it was planned: all of a case's, before any look cuts them.

    A comparison has looks of its own, and what is about no contrast shows a rate. Looks of the gate share its error.
    Pairs with which nothing could have passed were no look.
    """
    count, looks = len(case.pairs), check.gate_at_look(case).looks
    shares = looks is not None and count <= looks[-1]
    if check.contrast is None or case.baseline is not None or shares:
        return replace(asking, plan=count)
    need = check.min_sample(case.config, case.judge.table, case.dataset, case.pairs[:1])
    return replace(asking, plan=count, again=need.at_least if need else 1)


def second_look_note(asking: RequestContext, before: Iterable[int], many: str = OF_PAIRS.many) -> str:
    """Return what is to be said of pairs that were planned `before`, where more are asked about now; else nothing.

    >>> from judgefixtures.run.item_record import ItemRecord
    >>> asking = RequestContext("qa", "recency-new-old", "", ItemRecord(), plan=200, again=20)
    >>> second_look_note(asking, [10, 200]), second_look_note(asking, [50, 100, 200]).partition(":")[0]
    ('', 'look 3 at these recordings')
    """
    earlier = sorted({count for count in before if asking.again <= count < asking.plan}) if asking.again else []
    if not earlier:
        return ""
    look = "a second look" if len(earlier) == 1 else f"look {len(earlier) + 1}"
    return (
        f"{look} at these recordings: they were planned with {join_names(map(str, earlier))} {many} before, and are "
        f"decided on {asking.plan} now. Each look errs as often as one alone may, so that all of them err more often: "
        f"{COSTS}. Plan the {many} once, or set [gate] looks, which shares the error among the looks"
    )
