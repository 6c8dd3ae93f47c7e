"""Choices: logs of judges that chose one of two responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from judgefixtures.config import Config
from judgefixtures.imports.answers import Answered, Key, Logged, Selected, shown_digest
from judgefixtures.imports.contents import Content, Said
from judgefixtures.imports.entries import Entry
from judgefixtures.material.contrasts import Condition, Order
from judgefixtures.material.diction import OF_PAIRS, Wording
from judgefixtures.material.pairs import FIELDS, TEXT_FIELDS, Pair
from judgefixtures.reading.verdicts import InvalidKind, parse_verdict
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import one_line

SELECTED: Mapping[object, Selected] = MappingProxyType({"1": 1, "a": 1, "2": 2, "b": 2, "tie": "tie"})
OTHER: Mapping[Selected, Selected] = MappingProxyType({1: 2, 2: 1, "tie": "tie", None: None})


class Choices(Content):
    """A row says which of the two responses of a pair was chosen, in the order in which they were shown."""

    mode: ClassVar[str] = "pairwise"
    form: ClassVar[type[Logged]] = Answered
    texts: ClassVar[tuple[str, ...]] = TEXT_FIELDS
    told: ClassVar[tuple[str, ...]] = tuple(name for name in FIELDS if name != "id")
    words: ClassVar[Wording] = OF_PAIRS
    holds: ClassVar[str] = "choices between two responses"
    asked: ClassVar[str] = "which response was chosen"
    alike: ClassVar[str] = ", in the same order,"
    check: ClassVar[str] = "accuracy"
    limit: ClassVar[str] = "min_accuracy = 0.7"

    def order(self, entry: Entry) -> Order | None:
        """Return the order that the row names."""
        return entry.order()

    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions of pairs."""
        return every

    def answered(self, entry: Entry, key: Key, order: Order) -> Logged:
        """Return the choice, numbered in the order shown."""
        found = super().answered(entry, key, order)
        if isinstance(found, Answered) and entry.request.own_numbers and order == "21":
            return replace(found, selected=OTHER[found.selected])
        return found

    def of_value(self, entry: Entry) -> tuple[Selected, InvalidKind | None]:
        """Return 1, 2, a tie, or nothing."""
        value = entry.value(self.form.field)
        if value is None:
            return None, None
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        name = "" if isinstance(value, bool | list | dict) else str(whole).strip().lower().removesuffix(".0")
        if name not in SELECTED:
            raise entry.row.mistake(
                f"{entry.column(self.form.field)} is {one_line(repr(value))[:80]}: it must be 1 "
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

    def is_known(self, pairs: Iterable[Pair]) -> bool:
        """Tell whether a pair has gold."""
        return any(pair.gold is not None for pair in pairs)

    def is_limited(self, config: Config) -> bool:
        """Tell whether an accuracy is asked for."""
        return config.gate(self.check).min_accuracy is not None
