"""Second looks: what is decided again, with more pairs than its recording was planned with before.

A gate errs as often as it may when it looks once. Who asks about more pairs until it passes looks several times, and so
do two runs of which each has more pairs than the one before. The header of a recording says with how many pairs it was
planned, time after time; looks that share the error are those of `[gate] looks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from judgefixtures.checks import Case, Check
from judgefixtures.checks.protocol import gate_of
from judgefixtures.material.diction import OF_PAIRS
from judgefixtures.runs.ledger import Asking
from judgefixtures.words.texts import join_names

# Of judges at the tolerance, asked about more pairs until they pass: docs/statistics.md has the table.
COSTS = "of judges at the tolerance that are asked about more until they pass, .11 do after four looks, .21 after 38"


def planned(asking: Asking, check: Check, case: Case) -> Asking:
    """Return what is being asked with how many pairs it was planned: all of a case's, before any look cuts them.

    A comparison has looks of its own, and what is about no contrast shows a rate. Looks of the gate share its error.
    Pairs with which nothing could have passed were no look.
    """
    count, looks = len(case.pairs), gate_of(check, case).looks
    shares = looks is not None and count <= looks[-1]
    if check.contrast is None or case.baseline is not None or shares:
        return replace(asking, plan=count)
    need = check.need(case.config, case.judge.table, case.dataset, case.pairs[:1])
    return replace(asking, plan=count, again=need.at_least if need else 1)


def second_look(asking: Asking, before: Iterable[int], many: str = OF_PAIRS.many) -> str:
    """Return what is to be said of pairs that were planned `before`, where more are asked about now; else nothing.

    >>> from judgefixtures.runs.ledger import Ledger
    >>> asking = Asking("qa", "recency-new-old", "", Ledger(), plan=200, again=20)
    >>> second_look(asking, [10, 200]), second_look(asking, [50, 100, 200]).partition(":")[0]
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
