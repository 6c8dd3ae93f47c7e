"""Choices: logs of judges that chose one of two responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from judgefixtures.imports.answers import Answered, Key, Logged, Selected, shown_digest
from judgefixtures.imports.contents import OfPairs, Said
from judgefixtures.imports.entries import Entry
from judgefixtures.material.contrasts import Order
from judgefixtures.material.pairs import Pair
from judgefixtures.reading.verdicts import InvalidKind, parse_verdict
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import one_line

SELECTED: Mapping[object, Selected] = MappingProxyType({"1": 1, "a": 1, "2": 2, "b": 2, "tie": "tie"})
OTHER: Mapping[Selected, Selected] = MappingProxyType({1: 2, 2: 1, "tie": "tie", None: None})


class Choices(OfPairs):
    """A row says which of the two responses of a pair was chosen, in the order in which they were shown."""

    mode: ClassVar[str] = "pairwise"
    form: ClassVar[type[Logged]] = Answered
    stated: ClassVar[tuple[str, ...]] = (Answered.field,)
    holds: ClassVar[str] = "choices between two responses"
    asked: ClassVar[str] = "which response was chosen"
    alike: ClassVar[str] = ", in the same order,"

    @property
    def keys(self) -> tuple[str, ...]:
        """None: it is what a judge does whose table does not say."""
        return ()

    def answered(self, entry: Entry, key: Key, order: Order, pair: Pair) -> Logged:
        """Return the choice, numbered in the order shown."""
        found = super().answered(entry, key, order, pair)
        if isinstance(found, Answered) and entry.request.own_numbers and order == "21":
            return replace(found, selected=OTHER[found.selected])
        return found

    def of_value(self, entry: Entry) -> tuple[Selected, InvalidKind | None]:
        """Return 1, 2, a tie, or nothing."""
        value = entry.value(*self.stated)
        if value is None:
            return None, None
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        name = "" if isinstance(value, bool | list | dict) else str(whole).strip().lower()
        if name not in SELECTED:
            raise entry.row.mistake(
                f"{entry.column(*self.stated)} is {one_line(repr(value))[:80]}: it must be 1 "
                'or 2 (or "A" or "B"), "tie", or null where the judge gave no verdict.'
            )
        return SELECTED[name], None

    def of_text(self, entry: Entry, answer: str) -> Said:
        """Return the verdict that a text states, a tie as one."""
        form = entry.request.verdict or "json"
        if form not in ("json", "brackets"):
            raise JudgeFixturesError(
                f'--verdict {form} is a form of grades, and these are {self.holds}: "json" or "brackets".'
            )
        verdict = parse_verdict(answer, "brackets" if form == "brackets" else "json", ties="half")
        return "tie" if verdict.tie else verdict.selected_response, verdict.reason, verdict.invalid

    def counted(self, answers: Sequence[Logged], pairs: Mapping[str, Pair]) -> str:
        """Return how many answers there are in each order, and how many are no choice."""
        own = sum(each.key.shown == shown_digest(pairs[each.key.pair], "12") for each in answers)
        unsettled = [each.said for each in answers if each.said in ("tie", None)]
        kinds = Counter("tie" if said else "without a verdict" for said in unsettled)
        more = "".join(f"; {count} {kind}" for kind, count in sorted(kinds.items()))
        return f"order 1-2 {own}, order 2-1 {len(answers) - own}{more}"
