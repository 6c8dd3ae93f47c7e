"""Test items: what a mark on a test asks for, as one item per judge, dataset and thing to check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.errors import JudgeFixturesError, choices

if TYPE_CHECKING:
    from judgefixtures.contrasts import Contrast
    from judgefixtures.plugin.setup import Setup

ITEM = "_judge_item"
FAMILY, ACCURACY, SWAP, PLANS = "judge_family", "judge_accuracy", "judge_swap", "judge_plan"
MARKS = {
    FAMILY: "the families whose contrasts a test gates; without names, those of [cues.NAME]",
    ACCURACY: "a test of accuracy where gold is known; datasets=[...] names those that it is about",
    SWAP: "a test of judge against --judge-baseline, in accuracy and in the families' contrasts",
    PLANS: "a test of the plans of a judge that plans first (strategy = plan-...); takes no families",
}


@dataclass(frozen=True, slots=True, repr=False)
class Item:
    """One test item's parameters; its repr is the item's id."""

    judge: str
    dataset: str
    contrast: Contrast | None = None
    baseline: str | None = None
    plan: bool = False  # about the judge's plans, not about its verdicts

    @property
    def options(self) -> str:
        """The options that select this item and no other, for commands in messages."""
        base = f" --judge-baseline {self.baseline}" if self.baseline else ""
        only = repr(self) if self.baseline else self.contrast.id if self.contrast else f"{self.dataset}-{self._what}"
        return f'--judge {self.judge}{base} --judge-dataset {self.dataset} -k "{only}"'

    @property
    def _what(self) -> str:
        return "plan" if self.plan else self.contrast.id if self.contrast else "accuracy"

    def __repr__(self) -> str:
        who = self.judge if self.baseline is None else f"{self.judge}-against-{self.baseline}"
        return f"{who}-{self.dataset}-{self._what}"


def mark_of(node: Any) -> pytest.Mark | None:
    """Return the mark that makes a judge test of a module, class or function."""
    return next((mark for name in MARKS if (mark := node.get_closest_marker(name)) is not None), None)


def selected(nodes: Iterable[Any]) -> list[tuple[str, Item]]:
    """Return those of pytest's items that are judge tests: the id of each with its parameters."""
    found = [(node.nodeid, node.callspec.params.get(ITEM)) for node in nodes if hasattr(node, "callspec")]
    return [(name, item) for name, item in found if isinstance(item, Item)]


def key_of(node: Any) -> str:
    """Return what names a test's item in the report, the same for every copy of it.

    Plugins that repeat tests do so with a parameter of their own, whose name begins with an underscore as ours does.
    """
    chosen = [f"{name}={index}" for name, index in sorted(node.callspec.indices.items()) if not name.startswith("_")]
    return f"{node.parent.nodeid}::{node.originalname}[{node.callspec.params.get(ITEM)!r} {' '.join(chosen)}]"


def items_of(mark: pytest.Mark, setup: Setup) -> list[Item]:
    """Return the items of a marked test; raises JudgeFixturesError for a family that there is not."""
    subjects = [(judge, dataset) for judge in setup.judge_names for dataset in _datasets(mark, setup)]
    contrasts = [contrast for family in _families(mark, setup) for contrast in setup.contrasts(family)]
    if mark.name == FAMILY:
        return [Item(*subject, contrast) for subject in subjects for contrast in contrasts]
    if mark.name == ACCURACY:
        return [Item(*subject) for subject in subjects]
    if mark.name == PLANS:
        return [Item(*subject, plan=True) for subject in subjects if setup.judge(subject[0]).plans_first]
    if setup.baseline_name is None:
        return []
    compared: list[Contrast | None] = [None, *contrasts]
    return [Item(*subject, contrast, setup.baseline_name) for subject in subjects for contrast in compared
            if contrast is not None or _has_gold(setup, *subject)]  # fmt: skip


def _datasets(mark: pytest.Mark, setup: Setup) -> tuple[str, ...]:
    """Return the datasets a mark names, as far as --judge-dataset lets them; without names, those selected."""
    named: Sequence[str] = mark.kwargs.get("datasets", setup.dataset_names)
    if isinstance(named, str):
        raise JudgeFixturesError(f"the mark {mark.name}(datasets={named!r}) needs a list: datasets=[{named!r}].")
    chosen = setup.options.judge_datasets
    found = tuple(name for name in named if not chosen or name in chosen)
    for name in found:
        if name not in setup.dataset_names:  # those selected were checked already
            for judge in setup.judge_names:
                setup.pairs(judge, name)
    return found


def _has_gold(setup: Setup, judge: str, dataset: str) -> bool:
    return any(pair.gold is not None for pair in setup.pairs(judge, dataset))


def _families(mark: pytest.Mark, setup: Setup) -> tuple[str, ...]:
    """Return the families a mark names; without names, the user's own cues, or for a swap all cues but placebo."""
    from judgefixtures.cues import FAMILIES

    for name in mark.args:
        if name not in setup.families:
            raise JudgeFixturesError(
                f"the mark {mark.name}({name!r}) names no family: {choices(str(name), setup.families)}."
            )
    if mark.args or mark.name in (ACCURACY, PLANS):
        return mark.args
    left_out = FAMILIES if mark.name == FAMILY else ("placebo",)
    return tuple(name for name in setup.config.cues if name not in left_out)
