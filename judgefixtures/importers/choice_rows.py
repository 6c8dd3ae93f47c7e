"""Rows of logs whose judge chose one of two responses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from judgefixtures.models.contrasts import Order
from judgefixtures.models.pairs import Pair
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.util.texts import short_repr

from .imported_answers import CHOICE, AnswerKeyFields, AnswerKind, ImportedAnswer, Selected, shown_texts_digest
from .log_rows import LogRow
from .messages import MESSAGES
from .rows_by_mode import PairRowFormat, Said

SELECTED: Mapping[object, Selected] = MappingProxyType({"1": 1, "a": 1, "2": 2, "b": 2, "tie": "tie"})
OTHER: Mapping[Selected, Selected] = MappingProxyType({1: 2, 2: 1, "tie": "tie", None: None})


class ChoiceRows(PairRowFormat):
    """Rows that choose one of two responses, numbered as shown."""

    kind: ClassVar[AnswerKind] = CHOICE
    stated: ClassVar[tuple[str, ...]] = (CHOICE.field,)
    holds: ClassVar[str] = "choices between two responses"
    asked: ClassVar[str] = "which response was chosen"
    alike: ClassVar[str] = ", in the same order"

    @property
    def keys(self) -> tuple[str, ...]:
        """Nothing: choices are the default mode."""
        return ()

    def answered(self, entry: LogRow, key: AnswerKeyFields, order: Order, pair: Pair) -> ImportedAnswer:
        """Return the choice, numbered in the order shown."""
        answer = super().answered(entry, key, order, pair)
        if entry.request.own_numbers and order == "21":
            return replace(answer, said=OTHER[answer.said])
        return answer

    def of_value(self, entry: LogRow) -> tuple[Selected, InvalidKind | None]:
        """Return 1, 2, a tie or nothing."""
        value = entry.value(*self.stated)
        if value is None:
            return None, None
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        name = "" if isinstance(value, bool | list | dict) else str(whole).strip().lower().removesuffix(".0")
        if name not in SELECTED:
            raise entry.row.mistake(MESSAGES.not_a_choice(entry.column(*self.stated), short_repr(value, 80)))
        return SELECTED[name], None

    def of_text(self, entry: LogRow, answer: str) -> Said:
        """Return the verdict in a text."""
        verdict = parse_verdict(answer, self.notation(entry, "json"), ties="half")
        return "tie" if verdict.tie else verdict.selected_response, verdict.reason, verdict.invalid

    def counted(self, answers: Sequence[ImportedAnswer], pairs: Mapping[str, Pair]) -> str:
        """Return answers per order and invalid choices."""
        own = sum(each.key.shown == shown_texts_digest(pairs[each.key.pair], "12") for each in answers)
        unsettled = [each.said for each in answers if each.said in ("tie", None)]
        kinds = Counter("tie" if verdict else "without a verdict" for verdict in unsettled)
        more = "".join(f"; {count} {kind}" for kind, count in sorted(kinds.items()))
        return f"order 1-2 {own}, order 2-1 {len(answers) - own}{more}"
