"""Contents: what the rows of a log hold that judges of one mode answered: choices of two responses, grades, or scores.

What differs between them is a `Content`, one class in a file of its own; whoever reads rows asks it. What all have in
common that are about pairs, or about examples, is `OfPairs` and `OfExamples`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from judgefixtures.config import AgreementTable, Config, JudgeTable
from judgefixtures.imports.answers import Key, Logged, bare_name
from judgefixtures.imports.entries import ASKED, SAID, Entry, UnusableError
from judgefixtures.material.contrasts import Condition, Order, single_condition
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS, Wording
from judgefixtures.material.pairs import FIELDS, MODEL, TEXT_FIELDS, Example, Pair
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.sources import Source
from judgefixtures.sources.mapping import mapped_pair
from judgefixtures.words.texts import quote_names

# Where to say what their words mean: no table is of a log.
ROWS_ARE_THE_DATA = "a [datasets.NAME] table that has these examples (then import with --dataset NAME)"

LABELS = ("label", "labels")

Said = tuple[Any, str, InvalidKind | None]  # what was said, the reason, and why it is nothing that counts


class Content(ABC):
    """What the rows of a log hold; it knows the table of the judge whose answers they are."""

    mode: ClassVar[str]  # of these judges
    form: ClassVar[type[Logged]]  # of an answer
    stated: ClassVar[tuple[str, ...]]  # fields of a row that say what was said
    texts: ClassVar[tuple[str, ...]]  # fields of what was shown
    told: ClassVar[tuple[str, ...]]  # fields of a pair or an example itself, where no dataset has it
    words: ClassVar[Wording]
    holds: ClassVar[str]  # what the rows are called
    asked: ClassVar[str]  # what each of them says
    skips: ClassVar[bool] = False  # a row whose value is no number: it is counted, and else an error
    alike: ClassVar[str] = ""  # what else two answers to one question have in common
    check: str  # for which a log without cues is enough
    limit: str  # of that check's gate, to begin with

    def __init__(self, table: JudgeTable) -> None:
        self.table = table
        self._sources: dict[tuple[tuple[str, str], ...], Source] = {}

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        """Return what a row can say."""
        return (*ASKED, *cls.stated, *SAID, *cls.told)

    @classmethod
    def is_stated(cls, entries: Sequence[Entry]) -> bool:
        """Tell whether rows have the fields that say what was said."""
        return any(all(entry.has(name) for name in cls.stated) for entry in entries)

    @classmethod
    def proposed(cls, entries: Sequence[Entry]) -> dict[str, Any]:  # noqa: ARG003
        """Return what the table of their judge has to say beside provider and mode, where there is none yet."""
        return {}

    @property
    def says(self) -> str:
        """What is said in a row."""
        return self.words.says

    @property
    def keys(self) -> tuple[str, ...]:
        """The lines of its judge's table beside the provider."""
        return (f'mode = "{self.mode}"',)

    @classmethod
    def is_in(cls, entry: Entry) -> bool:
        """Tell whether a row holds its own pair, or example."""
        return entry.has_texts(cls.texts)

    # --- what was shown ---------------------------------------------------------------------------------------

    def pair(self, entry: Entry) -> Pair:
        """Return the pair or the example that a row holds, with its own id or one made of the texts."""
        columns = {name: column for name in self.told if (column := entry.column(name))}
        has_id = entry.value("pair") is not None
        known = {**columns, **({"id": entry.column("pair")} if has_id else {})}
        source = self._sources.get(key := tuple(known.items()))  # most rows look like the one before
        if source is None:
            source = Source("log", columns=known, raters=entry.request.raters, heading=ROWS_ARE_THE_DATA)
            self._sources[key] = source
        found = mapped_pair(entry.row, source, make_id=not has_id, further=False)  # the rest is about the answer
        assert found is not None  # no gold value is left out without gold_values
        return found

    def order(self, entry: Entry) -> Order | None:  # noqa: ARG002
        """Return the order of two responses that a row names."""
        return None

    @abstractmethod
    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions by the names that rows have for them."""

    def shown(self, entry: Entry, known: Mapping[str, Condition], *, swapped_texts: bool) -> tuple[str, Order]:
        """Return a row's condition without its order, and the order in which the pair was shown."""
        name, named = entry.value("condition"), self.order(entry)
        condition = known.get("no-cue" if name in (None, "") else str(name))
        if condition is None:
            raise UnusableError("its condition is none of ours")
        said: set[Order] = {order for order in (named,) if order}
        said |= {"21"} if condition.order == "21" or swapped_texts else set()
        if len(said) > 1:
            raise entry.row.mistake(
                "the row says two things about the order of the responses: its "
                "order column names one, its condition or its texts the other."
            )
        return bare_name(condition), next(iter(said), "12")

    # --- what was said ----------------------------------------------------------------------------------------

    def answered(self, entry: Entry, key: Key, order: Order, pair: Pair) -> Logged:  # noqa: ARG002 (for who needs it)
        """Return the answer that a row holds about a pair; raises JudgeFixturesError naming its line."""
        said, reason, invalid = self._said(entry)
        return self.form.of(said, key, reason, invalid)

    def _said(self, entry: Entry) -> Said:
        named = "answer" in entry.request.columns
        if not named and any(entry.has(name) for name in self.stated):
            said, invalid = self.of_value(entry)
            return said, entry.reason(), invalid
        if not entry.has("answer"):
            raise entry.row.mistake(
                f"{entry.column('answer' if named else self.stated[0])!r} is missing; the row has "
                f"{quote_names(entry.row.fields)}. A row without a {self.says} has it with the value null."
            )
        answer = entry.value("answer")
        if answer is None:
            return None, entry.reason(), "no-answer"
        if not isinstance(answer, str):
            raise entry.row.mistake(
                f"{entry.column('answer')} must be the judge's text, got a {type(answer).__name__}."
            )
        return self.of_text(entry, answer)

    @abstractmethod
    def of_value(self, entry: Entry) -> tuple[Any, InvalidKind | None]:
        """Return what a row says in the fields for it, and why it is nothing that counts, where that is known."""

    @abstractmethod
    def of_text(self, entry: Entry, answer: str) -> Said:
        """Return what a judge's whole text says."""

    def check_read(self) -> None:  # noqa: B027 (choices are checked one by one)
        """Raise JudgeFixturesError where nothing was read of any row; nothing here."""

    # --- what is said of it -----------------------------------------------------------------------------------

    @abstractmethod
    def counted(self, answers: Sequence[Logged], pairs: Mapping[str, Pair]) -> str:
        """Return how many answers in one condition said what."""

    @abstractmethod
    def is_known(self, pairs: Iterable[Pair]) -> bool:
        """Tell whether people say of any of them what is right."""

    @abstractmethod
    def is_limited(self, config: Config) -> bool:
        """Tell whether the gate of its check has a limit."""

    def remarks(self) -> tuple[tuple[str, str], ...]:
        """Return what is to be said of single rows that were read, each with its place."""
        return ()


class OfPairs(Content):
    """About pairs, of which a row may name the order, and gold may be known."""

    texts: ClassVar[tuple[str, ...]] = TEXT_FIELDS
    told: ClassVar[tuple[str, ...]] = tuple(name for name in FIELDS if name != "id")
    words: ClassVar[Wording] = OF_PAIRS
    check = "accuracy"
    limit = "min_accuracy = 0.7"

    def order(self, entry: Entry) -> Order | None:
        """Return the order that the row names."""
        return entry.order()

    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions of pairs."""
        return every

    def is_known(self, pairs: Iterable[Pair]) -> bool:
        """Tell whether a pair has gold."""
        return any(pair.gold is not None for pair in pairs)

    def is_limited(self, config: Config) -> bool:
        """Tell whether an accuracy is asked for."""
        return config.gate(self.check).min_accuracy is not None


class OfExamples(Content):
    """About examples, of which people may say whether they pass."""

    texts: ClassVar[tuple[str, ...]] = ("question", "response")
    told: ClassVar[tuple[str, ...]] = (*texts, *LABELS, "category", "content_type", "cluster", MODEL)
    words: ClassVar[Wording] = OF_EXAMPLES
    check = "agreement"
    limit = "min_kappa = 0.6"

    def pair(self, entry: Entry) -> Pair:
        """Return the example that a row holds; what the judge's own answer is read from is nobody's label."""
        named = entry.request.columns
        own = {entry.column(name) for name in LABELS if name not in named} & {*named.values()} if named else set()
        if not own:
            return super().pair(entry)
        fields = {name: value for name, value in entry.row.fields.items() if name not in own}
        return super().pair(replace(entry, row=entry.row._replace(fields=fields)))

    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions of a single response."""
        alone = (single_condition(condition) for condition in every.values())
        return {condition.name: condition for condition in alone}

    def is_known(self, pairs: Iterable[Pair]) -> bool:
        """Tell whether an example is labelled."""
        return any(isinstance(pair, Example) and pair.label is not None for pair in pairs)

    def is_limited(self, config: Config) -> bool:
        """Tell whether anything is asked of agreement."""
        gate = config.gate(self.check)
        return isinstance(gate, AgreementTable) and bool(gate.limits.set)
