"""Conditions (presentations of a pair) and contrasts of two."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from judgefixtures.util.errors import JudgeFixturesError

from .cues import FAMILIES, PLACEBO, Cue, Families, pairs_of
from .edits import EDIT_FAMILIES, Edit, edits

Outcome = Literal["chose-first", "chose-own-first", "chose-edited", "passed"]
Order = Literal["12", "21"]

# Families that are not cues: what differs between their arms is the order, nothing at all, or one response.
ORDER_FAMILIES = ("position", "repeat", "four-cell")
OTHER_FAMILIES = (*ORDER_FAMILIES, *EDIT_FAMILIES)

# A condition is the name of files, and a file system takes 255 bytes: the longest of them adds forty.
LONGEST_CONDITION = 215
# What the files beside a recording are told by.
SIDE_FILES = (".part", ".part-of-another-judge")


@dataclass(frozen=True, slots=True)
class Condition:
    """A presentation of pairs, or of reversed pairs ("21").

    Cue 1 belongs to the first response shown.
    """

    cue_1: Cue | None = None
    cue_2: Cue | None = None
    order: Order = "12"
    edit: Edit | None = None

    def __post_init__(self) -> None:
        if (self.cue_1 is None) != (self.cue_2 is None):
            raise ValueError("a condition has a cue on both responses or on none")

    @property
    def name(self) -> str:
        """The name: `recency-new-old`, `no-cue`, `no-cue-21`."""
        name = "no-cue" if self.edit is None else self.edit.name
        if self.cue_1 is not None and self.cue_2 is not None:
            name = f"{self.cue_1.family}-{self.cue_1.label}-{self.cue_2.label}"
        return name if self.order == "12" else f"{name}-{self.order}"

    @property
    def labels(self) -> tuple[str, str]:
        """The labels of cue 1 and cue 2, or ""."""
        return (self.cue_1.label if self.cue_1 else "", self.cue_2.label if self.cue_2 else "")

    def sentences(self, content_type: str) -> tuple[str, str]:
        """Return the sentences of cue 1 and cue 2, or ""."""
        cues = ((self.cue_1, 1), (self.cue_2, 2))
        one, two = (cue.render(content_type, number) if cue else "" for cue, number in cues)
        return one, two


@dataclass(frozen=True, slots=True)
class SingleResponseCondition(Condition):
    """A single response with cue 1, an edit, or plain.

    >>> as_single_response(contrasts("recency")[0]).x.name, as_single_response(contrasts("recency")[0]).id
    ('recency-new', 'recency-new-old')
    """

    def __post_init__(self) -> None:
        if self.cue_2 is not None or self.order != "12":
            raise ValueError("a single response has one cue at most, and no order")

    @property
    def name(self) -> str:
        """The name: `recency-new`, `no-cue`, `attack-ignore-previous`."""
        if self.edit is not None:
            return self.edit.name
        return "no-cue" if self.cue_1 is None else f"{self.cue_1.family}-{self.cue_1.label}"

    def sentences(self, content_type: str) -> tuple[str, str]:
        """Return the cue's sentence, and ""."""
        return ("" if self.cue_1 is None else self.cue_1.render_alone(content_type), "")


NO_CUE = Condition()
NO_CUE_SWAPPED = Condition(order="21")


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two arms; x should raise the outcome.

    Arm y is asked as `repeat`.
    """

    family: str
    x: Condition
    y: Condition
    outcome: Outcome = "chose-first"
    repeat: int = 0

    @property
    def id(self) -> str:
        """The contrast's id: `recency-new-old`, `position-no-cue`, `repeat-no-cue-1`."""
        if self.family == "position":
            return f"position-{self.x.name}"
        if self.family == "four-cell":  # without the cue family's name, or `-k recency` would select it
            return f"four-cell-{'-'.join(self.labels)}"
        if self.repeat:
            return f"repeat-{self.x.name}-{self.repeat}"
        return self.x.name if self.x.cue_1 is None else f"{self.x.cue_1.family}-{'-'.join(self.labels)}"

    @property
    def labels(self) -> tuple[str, str]:
        """The favoured and the other label, or ""."""
        return (self.x.labels[0], self.y.labels[0])

    @property
    def item(self) -> str:
        """The test id's part, without "no-cue"."""
        return self.id.replace("-no-cue", "")

    @property
    def is_alone(self) -> bool:
        """Whether its arms show single responses."""
        return self.outcome == "passed"

    @property
    def is_of_prompts(self) -> bool:
        """Whether labels appear once in the prompt."""
        return self.x.cue_1 is not None and self.x.cue_1.place == "prompt"

    @property
    def is_of_orders(self) -> bool:
        """Whether it compares orders."""
        return self.family in ("position", "four-cell")

    @property
    def arms(self) -> tuple[tuple[Condition, int], tuple[Condition, int]]:
        """Condition and repeat of arms x and y."""
        return ((self.x, 0), (self.y, self.repeat))

    @property
    def cells(self) -> tuple[tuple[Condition, int], ...]:
        """Both conditions in both orders."""
        reverse = [replace(condition, order="21") for condition in (self.x, self.y)]
        return (*self.arms, *((condition, 0) for condition in reverse))


def other_contrasts(name: str, repeats: int = 1, families: Families = FAMILIES) -> tuple[Contrast, ...]:
    """Return the contrasts of a family without cues.

    >>> [contrast.id for contrast in other_contrasts("repeat", repeats=3)]
    ['repeat-no-cue-1', 'repeat-no-cue-2']
    """
    if name in EDIT_FAMILIES:
        return tuple(Contrast(name, Condition(edit=edit), NO_CUE, "chose-edited") for edit in edits(name))
    if name == "position":
        return (Contrast("position", NO_CUE, NO_CUE_SWAPPED, "chose-own-first"),)
    if name == "four-cell":
        return tuple(replace(contrast, family=name) for contrast in contrasts("recency", families))
    return tuple(Contrast("repeat", NO_CUE, NO_CUE, repeat=repeat) for repeat in range(1, repeats))


def as_single_response(contrast: Contrast) -> Contrast:
    """Return a contrast for single responses.

    The outcome is a pass; contrasts of orders are unchanged.
    """
    if contrast.is_of_orders:
        return contrast
    x, y = single_condition(contrast.x), single_condition(contrast.y)
    return replace(contrast, x=x, y=y, outcome="passed")


def single_condition(condition: Condition) -> SingleResponseCondition:
    """Return the condition of a single response."""
    return SingleResponseCondition(cue_1=condition.cue_1, edit=condition.edit)


def arm_name(condition: Condition, repeat: int) -> str:
    """Return a repeat's name: `no-cue 1`."""
    return f"{condition.name} {repeat}"


def neutral_arms(repeats: int = 1, families: Families = FAMILIES) -> tuple[tuple[Condition, int], ...]:
    """Return neutral conditions.

    >>> [(condition.name, repeat) for condition, repeat in neutral_arms(repeats=3)][:4]
    [('no-cue', 0), ('no-cue', 1), ('no-cue', 2), ('no-cue-21', 0)]
    """
    placebos = [arm for contrast in contrasts(PLACEBO, families) for arm in contrast.arms]
    return (*((NO_CUE, repeat) for repeat in range(max(repeats, 2))), (NO_CUE_SWAPPED, 0), *placebos)


def contrasts(name: str, families: Families = FAMILIES) -> tuple[Contrast, ...]:
    """Return every contrast of a family.

    >>> [contrast.id for contrast in contrasts("recency")]
    ['recency-new-old']
    >>> len(contrasts("provenance"))
    6
    """
    made = tuple(Contrast(name, Condition(x, y), Condition(y, x)) for x, y in pairs_of(name, families))
    _check_names(name, made, families)
    return made


def _check_names(name: str, own: tuple[Contrast, ...], families: Families) -> None:
    owners: dict[str, list[str]] = {}
    for owner, each in _owned(families):
        owners.setdefault(each.name, []).append(owner)
    for condition in (cell.name for contrast in own for cell, _ in contrast.cells):
        if len(condition) > LONGEST_CONDITION:
            raise JudgeFixturesError(
                f"the cue family {name}: the name {condition[:40]}... has {len(condition)} characters and is too long "
                f"for a file. Use at most {LONGEST_CONDITION} characters for the family and two labels."
            )
        if condition.endswith(SIDE_FILES):
            raise JudgeFixturesError(
                f"the cue family {name}: the name {condition!r} looks like an unfinished recording. Do not end a label "
                f"with {' or '.join(SIDE_FILES)}."
            )
        if len(owners[condition]) > 1:
            other = next((owner for owner in owners[condition] if owner != f"the cue family {name}"), "")
            called = f"contrasts of this family and of {other}" if other else "two contrasts"
            raise JudgeFixturesError(
                f"the cue family {name}: {called} would have the same name {condition!r}. Use labels without hyphens."
            )


def conditions(families: Families = FAMILIES) -> dict[str, Condition]:
    """Return all conditions by name.

    >>> conditions()["recency-old-new-21"].order
    '21'
    """
    return {each.name: each for _, each in _owned(families)}


def _owned(families: Families) -> Iterator[tuple[str, Condition]]:
    fixed = (NO_CUE, *(Condition(edit=edit) for name in EDIT_FAMILIES for edit in edits(name)))
    owned = [("the built-in families", condition) for condition in fixed]
    for name, labels in families.items():
        cues = (Cue(name, label, sentence) for label, sentence in labels.items())
        owned += [(f"the cue family {name}", Condition(x, y)) for x, y in itertools.permutations(cues, 2)]
    for owner, condition in owned:
        yield owner, condition
        yield owner, replace(condition, order="21")
