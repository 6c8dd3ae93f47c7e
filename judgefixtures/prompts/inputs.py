"""Inputs of a judge of code: keyword arguments, each a small template."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from judgefixtures.models.pairs import HIDDEN, Pair, column_value
from judgefixtures.util.errors import JudgeFixturesError

from .messages import MESSAGES
from .templates import BRACED, LAYOUTS, OURS, Mode, Placement, Template, slots_in

EDGES = r"\A{slot}\s*|\s*{slot}\Z"


class Inputs(str):
    """The keyword arguments of one call, as `values`; as text, their JSON.

    >>> Inputs.of({"output": "Yes.", "contexts": ["a", "b"]})
    '{"contexts": ["a", "b"], "output": "Yes."}'
    """

    values: Mapping[str, Any]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the inputs of these arguments."""
        made = cls(json.dumps(values, ensure_ascii=False, sort_keys=True, default=str))
        made.values = values
        return made


@dataclass(frozen=True, slots=True)
class InputsTemplate(Template):
    """The templates of a call's inputs, by name; `text` is their JSON."""

    inputs: tuple[tuple[str, str], ...] = ()

    @property
    def values(self) -> frozenset[str]:
        """The columns that an input passes as they are in the dataset."""
        return frozenset(name for _, text in self.inputs if (name := whole_slot(text)) and name not in OURS)

    @property
    def identity(self) -> dict[str, Any]:
        """The inputs."""
        return {"inputs": dict(self.inputs)}

    @property
    def cues_in_slots(self) -> bool:
        """Whether inputs have slots for cues."""
        return self.has_any(*LAYOUTS[self.mode].cues)

    def cue_place(self, placement: Placement) -> str:
        """Return where cues stand, for the judge's identity and reports."""
        layout = LAYOUTS[self.mode]
        slots = layout.cues if self.cues_in_slots else layout.texts[1:]
        names = ", ".join(name for name, text in self.inputs if {*slots_in(text)}.intersection(slots))
        return f"in {names}" if self.cues_in_slots else f"{placement} the response in {names}"

    def place_cues(
        self, texts: list[str], cues: list[str], placement: Placement, *, of_prompt: bool = False
    ) -> tuple[list[str], list[str]]:
        """Return the texts with cues that have no slot: at the responses, or before the question."""
        if self.cues_in_slots:
            return texts, cues
        rest, question = [""] * len(cues), texts[0]
        if of_prompt and self.has_any("question"):
            return [_joined(cues[0], question), *texts[1:]], rest
        both = zip(cues, texts[1:], strict=True)
        if placement == "before":
            return [question, *(_joined(cue, text) for cue, text in both)], rest
        return [question, *(_joined(text, cue) for cue, text in both)], rest

    def fill(self, pair: Pair, slots: Mapping[str, str]) -> str:
        """Return the inputs of a call."""
        empty = [slot for slot in LAYOUTS[self.mode].cues if not slots[slot]]
        return Inputs.of({name: self._value(text, pair, slots, empty) for name, text in self.inputs})

    def _value(self, text: str, pair: Pair, slots: Mapping[str, str], empty: list[str]) -> Any:
        if (name := whole_slot(text)) and name not in OURS:
            return column_value(pair.columns[name]) if name in pair.columns else None
        for slot in empty:  # takes along the space between it and the rest
            text = re.sub(EDGES.format(slot=rf"\{{{slot}\}}"), "", text)
        return self.fill_text(text, pair, slots)


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def whole_slot(text: str) -> str:
    """Return the slot that an input is exactly, or "".

    >>> whole_slot("{contexts}"), whole_slot("{question} {response}"), whole_slot("{{contexts}}")
    ('contexts', '', '')
    """
    braced = BRACED.fullmatch(text)
    return (braced["slot"] or "") if braced else ""


def load_inputs(inputs: Mapping[str, str], mode: Mode, placement: Placement = "after") -> InputsTemplate:
    """Return the template of inputs.

    Raises:
        JudgeFixturesError: An input has a wrong slot, or no input has the response.

    >>> load_inputs({"output": "{response}"}, "binary").cue_place("after")
    'after the response in output'
    """
    layout = LAYOUTS[mode]
    slots = {name: slots_in(text) for name, text in inputs.items()}
    for name, its in slots.items():
        if hidden := [slot for slot in its if slot in HIDDEN]:
            raise JudgeFixturesError(MESSAGES.hidden_input(name, hidden[0]))
        if other := [slot for slot in its if slot in OURS and slot not in layout.slots]:
            raise JudgeFixturesError(MESSAGES.input_of_other_mode(name, other[0], mode, layout))
    held = {slot for its in slots.values() for slot in its}
    if lacking := [slot for slot in layout.texts[1:] if slot not in held]:
        raise JudgeFixturesError(MESSAGES.no_input_with(lacking[0], mode))
    cues = held.intersection(layout.cues)
    if cues and (lacking := [slot for slot in layout.cues if slot not in held]):
        raise JudgeFixturesError(MESSAGES.no_input_with(lacking[0], mode))
    if cues and placement == "before":
        raise JudgeFixturesError(MESSAGES.cue_placed_twice(min(cues)))
    text = json.dumps(dict(inputs), ensure_ascii=False)
    return InputsTemplate("inputs", text, (), "", mode, tuple(inputs.items()))
