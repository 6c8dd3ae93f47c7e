"""Sentences about a swap's components and decision."""

from collections.abc import Collection, Mapping

from judgefixtures.config import SwapTable
from judgefixtures.models.swap_rows import ComponentKind, ComponentRow
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary
from judgefixtures.statistics.clusters import can_decide
from judgefixtures.statistics.estimate import Status, format_estimate, format_share, pluralize
from judgefixtures.statistics.gates import inconclusive_advice
from judgefixtures.util.patterns import load_table

from .components import worse_by
from .per_pair import PairScoreCounts
from .pooling import SwapData

LABELS: Mapping[str, str] = load_table("checks")["components"]
SHIFTS: tuple[ComponentKind, ...] = ("abs-vsr", "unadmitted-shift")


def component_title(component: ComponentRow, words: Vocabulary = OF_PAIRS) -> str:
    """Return what a component is of."""
    joined, label = "on" if component.kind == "accuracy" else "of", LABELS[component.kind].format(said=words.said)
    return f"{label} {joined} {component.name}" if component.name else label


def component_line(
    component: ComponentRow, passing: PairScoreCounts, words: Vocabulary = OF_PAIRS, *, hangs: bool = False
) -> str:
    """Return one line for a person: what was compared, the difference, its margin, and the status.

    `passing` are the scores that its PASS is tested with; `hangs`: on reasons that could not be read.
    """
    related = passing.totals
    pairs = words.counted(component.estimate.n) + (f" in {pluralize(related.count, 'cluster')}" if related else "")
    limit = f"margin {format_share(component.margin)}"
    if component.excess:
        taken = format_share(component.excess)
        limit += f", {taken} of it taken by {words.said} that are invalid of the candidate alone"
    if component.status is Status.FAIL and component.fail_margin != component.margin:
        limit = f"beyond {format_share(component.fail_margin)}"
    # A PASS takes the baseline's shift along the declared direction, which is at most its absolute shift.
    bound = "at most " if component.kind in SHIFTS and component.status is not Status.FAIL else ""
    difference = f"difference {bound}{format_estimate(component.estimate)}"
    line = f"{component_title(component, words)}: {difference}, {pairs}, {limit}: {component.status}"
    if hangs:
        return (
            f"{line}; it hangs on reasons that are not in English, which the offline detector does not read: have both "
            "judges give their reasons in English"
        )
    if component.status is not Status.INCONCLUSIVE:
        return line
    if not can_decide(related):
        return f"{line}; {inconclusive_advice(None, component.estimate.n, 'margin', related, units=words.many)}"
    beyond = f"; beyond its margin, though not yet demonstrably: more {words.many} would rather show a FAIL"
    return line + beyond * (worse_by(component.kind, component.estimate.value) >= component.margin)


def approval_text(swap: SwapTable, tested: Collection[str], pool: SwapData, guard: float | None) -> list[str]:
    """Return what an APPROVE rules out of these kinds, and what it does not."""
    (few, many), words = (min(pool.sizes), max(pool.sizes)), pool.words
    pairs = f"{words.counted(few) if few == many else f'{few} to {words.counted(many)}'} per dataset"
    margins: dict[ComponentKind, float] = {
        "flip-rate": swap.flip_margin,
        "invalid": swap.invalid_margin,
        "accuracy": swap.accuracy_margin,
        "tpr": swap.rate_margin,
        "tnr": swap.rate_margin,
    }
    named = {kind: LABELS[kind].format(said=words.said) for kind in margins}
    rest = ", ".join(f"{named[kind]} by {format_share(margin)}" for kind, margin in margins.items() if kind in tested)
    if "pass-rate" in tested:
        pairs += f"; its pass rate is the same within {format_share(swap.pass_rate_margin)}"
    if guard is None:
        return [f"not worse in {rest} or more ({pairs})"]
    ruled_out = f"abs(VSR) by {format_share(swap.vsr_margin)}"
    if "unadmitted-shift" in tested:
        ruled_out += f", unadmitted shift by {format_share(swap.silent_margin)}"
    return [
        f"no family is worse in {ruled_out} or more, nor is {rest} ({pairs})",
        f"not ruled out: a single contrast on one dataset that is worse by less than {format_share(guard)}",
    ]
