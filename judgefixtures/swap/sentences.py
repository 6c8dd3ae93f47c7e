"""What is said of a swap's components, and of the decision over them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from judgefixtures.config import SwapTable
from judgefixtures.numbers.clusters import decides
from judgefixtures.numbers.estimate import Status, bare, describe, several
from judgefixtures.numbers.tolerance import advice
from judgefixtures.swap.components import Component, Kind
from judgefixtures.swap.per_pair import Scores

LABELS: dict[Kind, str] = {
    "abs-vsr": "abs(VSR)",
    "unadmitted-shift": "unadmitted shift",
    "accuracy": "accuracy",
    "flip-rate": "flip rate",
    "invalid": "invalid verdicts",
}
SHIFTS: tuple[Kind, ...] = ("abs-vsr", "unadmitted-shift")


def component_title(component: Component) -> str:
    """Return what a component is of."""
    joined = "on" if component.kind == "accuracy" else "of"
    return f"{LABELS[component.kind]} {joined} {component.name}" if component.name else LABELS[component.kind]


def component_line(component: Component, passing: Scores, *, hangs: bool = False) -> str:
    """Return one line for a person: what was compared, the difference, its margin, and the status.

    `passing` are the scores that its PASS is tested with; `hangs`: on reasons that could not be read.
    """
    related = passing.totals
    pairs = f"{component.estimate.n} pairs" + (f" in {several(related.count, 'cluster')}" if related else "")
    limit = f"margin {bare(component.margin)}"
    if component.excess:
        limit += f", {bare(component.excess)} of it taken by verdicts that are invalid of the candidate alone"
    if component.status is Status.FAIL and component.fail_margin != component.margin:
        limit = f"beyond {bare(component.fail_margin)}"
    # A PASS takes the baseline's shift along the declared direction, which is at most its absolute shift.
    bound = "at most " if component.kind in SHIFTS and component.status is not Status.FAIL else ""
    difference = f"difference {bound}{describe(component.estimate)}"
    line = f"{component_title(component)}: {difference}, {pairs}, {limit}: {component.status}"
    if hangs:
        return (
            f"{line}; it hangs on reasons that are not in English, which the offline detector does not read: have both "
            "judges give their reasons in English"
        )
    if component.status is not Status.INCONCLUSIVE:
        return line
    if not decides(related):
        return f"{line}; {advice(None, component.estimate.n, 'margin', related)}"
    worse = -component.estimate.value if component.kind == "accuracy" else component.estimate.value
    beyond = "; beyond its margin, though not yet demonstrably: more pairs would rather show a FAIL"
    return line + beyond * (worse >= component.margin)


def approval_lines(swap: SwapTable, tested: Collection[str], sizes: Sequence[int], guard: float | None) -> list[str]:
    """Return what an APPROVE rules out of these kinds, and what it does not."""
    few, many = min(sizes), max(sizes)
    pairs = f"{few} pairs per dataset" if few == many else f"{few} to {many} pairs per dataset"
    margins: dict[Kind, float] = {
        "flip-rate": swap.flip_margin,
        "invalid": swap.invalid_margin,
        "accuracy": swap.accuracy_margin,
    }
    rest = ", ".join(f"{LABELS[kind]} by {bare(margin)}" for kind, margin in margins.items() if kind in tested)
    if guard is None:
        return [f"not worse in {rest} or more ({pairs})"]
    ruled_out = f"abs(VSR) by {bare(swap.vsr_margin)}"
    if "unadmitted-shift" in tested:
        ruled_out += f", unadmitted shift by {bare(swap.silent_margin)}"
    return [
        f"no family is worse in {ruled_out} or more, nor is {rest} ({pairs})",
        f"not ruled out: a single contrast on one dataset that is worse by less than {bare(guard)}",
    ]
