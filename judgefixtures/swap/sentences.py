"""Sentences about a swap's components and decision."""

from collections.abc import Collection, Mapping

from judgefixtures.config import SwapTable
from judgefixtures.models.messages import load_messages
from judgefixtures.models.swap_rows import ComponentKind, ComponentRow
from judgefixtures.models.vocabulary import OF_PAIRS, Vocabulary
from judgefixtures.statistics.clusters import can_decide
from judgefixtures.statistics.estimate import Status
from judgefixtures.statistics.gates import inconclusive_advice
from judgefixtures.util.patterns import load_table

from .per_pair import PairScoreCounts
from .pooling import SwapData
from .worse_direction import worse_by

LABELS: Mapping[str, str] = load_table("checks")["components"]
MESSAGES = load_messages(__file__)
SHIFTS: tuple[ComponentKind, ...] = ("abs-vsr", "unadmitted-shift")


def component_title(component: ComponentRow, words: Vocabulary = OF_PAIRS) -> str:
    """Return a component's title."""
    joined, label = "on" if component.kind == "accuracy" else "of", LABELS[component.kind].format(said=words.said)
    return f"{label} {joined} {component.name}" if component.name else label


def component_line(
    component: ComponentRow, passing: PairScoreCounts, words: Vocabulary = OF_PAIRS, *, hangs: bool = False
) -> str:
    """Return one line about a component.

    `hangs` marks dependence on unreadable reasons.
    """
    related, advice, beyond = passing.totals, "", False
    if component.status is Status.INCONCLUSIVE and can_decide(related):
        beyond = worse_by(component.kind, component.estimate.value) >= component.margin
    elif component.status is Status.INCONCLUSIVE:
        advice = inconclusive_advice(None, component.estimate.n, "margin", related, units=words.many)
    title, clusters = component_title(component, words), related.count if related else 0
    return MESSAGES.component(component, title, clusters, words, hangs, advice, beyond)


def approval_text(swap: SwapTable, tested: Collection[str], pool: SwapData, guard: float | None) -> list[str]:
    """Return what an APPROVE rules out, and what it does not."""
    margins: dict[ComponentKind, float] = {
        "flip-rate": swap.flip_margin,
        "invalid": swap.invalid_margin,
        "accuracy": swap.accuracy_margin,
        "tpr": swap.rate_margin,
        "tnr": swap.rate_margin,
    }
    named = [(kind, LABELS[kind].format(said=pool.words.said), margin) for kind, margin in margins.items()]
    return MESSAGES.lines("approval", swap, tested, pool.sizes, pool.words, guard, named)
