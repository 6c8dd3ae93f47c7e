"""What is said of a swap's components, and of the decision over them."""

from __future__ import annotations

from collections.abc import Collection

from judgefixtures.config import SwapTable
from judgefixtures.material.diction import OF_PAIRS, Wording
from judgefixtures.numbers.clusters import decides
from judgefixtures.numbers.estimate import Status, bare, describe, several
from judgefixtures.numbers.tolerance import advice
from judgefixtures.swap.components import Component, Kind, worse_by
from judgefixtures.swap.per_pair import Scores
from judgefixtures.swap.pooling import Pool

LABELS: dict[str, str] = {
    "abs-vsr": "abs(VSR)",
    "unadmitted-shift": "unadmitted shift",
    "accuracy": "accuracy",
    "pass-rate": "pass rate",
    "tpr": "TPR",
    "tnr": "TNR",
    "flip-rate": "flip rate",
    "invalid": "invalid {said}",
}
SHIFTS: tuple[Kind, ...] = ("abs-vsr", "unadmitted-shift")


def component_title(component: Component, words: Wording = OF_PAIRS) -> str:
    """Return what a component is of."""
    joined, label = "on" if component.kind == "accuracy" else "of", LABELS[component.kind].format(said=words.said)
    return f"{label} {joined} {component.name}" if component.name else label


def component_line(component: Component, passing: Scores, words: Wording = OF_PAIRS, *, hangs: bool = False) -> str:
    """Return one line for a person: what was compared, the difference, its margin, and the status.

    `passing` are the scores that its PASS is tested with; `hangs`: on reasons that could not be read.
    """
    related = passing.totals
    pairs = words.counted(component.estimate.n) + (f" in {several(related.count, 'cluster')}" if related else "")
    limit = f"margin {bare(component.margin)}"
    if component.excess:
        limit += f", {bare(component.excess)} of it taken by {words.said} that are invalid of the candidate alone"
    if component.status is Status.FAIL and component.fail_margin != component.margin:
        limit = f"beyond {bare(component.fail_margin)}"
    # A PASS takes the baseline's shift along the declared direction, which is at most its absolute shift.
    bound = "at most " if component.kind in SHIFTS and component.status is not Status.FAIL else ""
    difference = f"difference {bound}{describe(component.estimate)}"
    line = f"{component_title(component, words)}: {difference}, {pairs}, {limit}: {component.status}"
    if hangs:
        return (
            f"{line}; it hangs on reasons that are not in English, which the offline detector does not read: have both "
            "judges give their reasons in English"
        )
    if component.status is not Status.INCONCLUSIVE:
        return line
    if not decides(related):
        return f"{line}; {advice(None, component.estimate.n, 'margin', related, units=words.many)}"
    beyond = f"; beyond its margin, though not yet demonstrably: more {words.many} would rather show a FAIL"
    return line + beyond * (worse_by(component.kind, component.estimate.value) >= component.margin)


def approval_lines(swap: SwapTable, tested: Collection[str], pool: Pool, guard: float | None) -> list[str]:
    """Return what an APPROVE rules out of these kinds, and what it does not."""
    (few, many), words = (min(pool.sizes), max(pool.sizes)), pool.words
    pairs = f"{words.counted(few) if few == many else f'{few} to {words.counted(many)}'} per dataset"
    margins: dict[Kind, float] = {
        "flip-rate": swap.flip_margin,
        "invalid": swap.invalid_margin,
        "accuracy": swap.accuracy_margin,
        "tpr": swap.rate_margin,
        "tnr": swap.rate_margin,
    }
    named = {kind: LABELS[kind].format(said=words.said) for kind in margins}
    rest = ", ".join(f"{named[kind]} by {bare(margin)}" for kind, margin in margins.items() if kind in tested)
    if "pass-rate" in tested:
        pairs += f"; its pass rate is the same within {bare(swap.pass_rate_margin)}"
    if guard is None:
        return [f"not worse in {rest} or more ({pairs})"]
    ruled_out = f"abs(VSR) by {bare(swap.vsr_margin)}"
    if "unadmitted-shift" in tested:
        ruled_out += f", unadmitted shift by {bare(swap.silent_margin)}"
    return [
        f"no family is worse in {ruled_out} or more, nor is {rest} ({pairs})",
        f"not ruled out: a single contrast on one dataset that is worse by less than {bare(guard)}",
    ]
