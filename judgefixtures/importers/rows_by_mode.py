"""Rows of a log by the mode of the judge: pairs, grades and scores."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from judgefixtures.config import AgreementTable, Config, JudgeTable
from judgefixtures.models.contrasts import Condition, Order, single_condition
from judgefixtures.models.pairs import FIELDS, MODEL, TEXT_FIELDS, Example, Pair
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary
from judgefixtures.sources import Source
from judgefixtures.sources.mapping import mapped_pair
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import quote_names

from .imported_answers import AnswerKeyFields, AnswerKind, ImportedAnswer, name_without_order
from .log_rows import ASKED, SAID, LogRow, UnusableRowError
from .messages import MESSAGES

# Where to say what their words mean: no table is of a log.
ROWS_ARE_THE_DATA = "a [datasets.NAME] table with these examples (then import with --dataset NAME)"

LABELS = ("label", "labels")

Said = tuple[Any, str, InvalidKind | None]  # what was said, the reason, and why it is nothing that counts


class RowFormat(ABC):
    """Base class of row formats; knows the judge's table."""

    kind: ClassVar[AnswerKind]
    stated: ClassVar[tuple[str, ...]]  # fields of a row that say what was said
    texts: ClassVar[tuple[str, ...]]  # fields of what was shown
    told: ClassVar[tuple[str, ...]]  # fields of a pair or an example itself, where no dataset has it
    words: ClassVar[Vocabulary]
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
        """Return the fields a row can have."""
        return (*ASKED, *cls.stated, *SAID, *cls.told)

    @classmethod
    def is_stated(cls, entries: Sequence[LogRow]) -> bool:
        """Return whether rows have this format's fields."""
        return any(all(entry.has(name) for name in cls.stated) for entry in entries)

    @classmethod
    def proposed(cls, entries: Sequence[LogRow]) -> dict[str, Any]:  # noqa: ARG003
        """Return keys to propose for a missing judge's table."""
        return {}

    @property
    def says(self) -> str:
        """The name of the judgement."""
        return self.words.says

    @property
    def keys(self) -> tuple[str, ...]:
        """The lines of the judge's table beside the provider."""
        return (f'mode = "{self.kind.mode}"',)

    @classmethod
    def is_in(cls, entry: LogRow) -> bool:
        """Return whether a row holds its own pair or example."""
        return entry.has_texts(cls.texts)

    # --- what was shown ---------------------------------------------------------------------------------------

    def pair(self, entry: LogRow) -> Pair:
        """Return a row's own pair or example, with an id."""
        columns = {name: column for name in self.told if (column := entry.column(name))}
        has_id = entry.value("pair") is not None
        known = {**columns, **({"id": entry.column("pair")} if has_id else {})}
        source = self._sources.get(key := tuple(known.items()))  # most rows look like the one before
        if source is None:
            source = Source("log", columns=known, raters=entry.request.raters, heading=ROWS_ARE_THE_DATA)
            self._sources[key] = source
        mapped = mapped_pair(entry.row, source, make_id=not has_id, further=False)  # the rest is about the answer
        assert mapped is not None  # no gold value is left out without gold_values
        return mapped

    def order(self, entry: LogRow) -> Order | None:  # noqa: ARG002
        """Return the order in a row, or None."""
        return None

    @abstractmethod
    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions by the names that rows use."""

    def shown(self, entry: LogRow, known: Mapping[str, Condition], *, swapped_texts: bool) -> tuple[str, Order]:
        """Return a row's condition without order, and its order."""
        name, named = entry.value("condition"), self.order(entry)
        condition = known.get("no-cue" if name in (None, "") else str(name))
        if condition is None:
            raise UnusableRowError("its condition is unknown")
        orders: set[Order] = {order for order in (named,) if order}
        orders |= {"21"} if condition.order == "21" or swapped_texts else set()
        if len(orders) > 1:
            raise entry.row.mistake(
                "the order column of the row contradicts its condition or its texts. Correct one of them."
            )
        return name_without_order(condition), next(iter(orders), "12")

    # --- what was said ----------------------------------------------------------------------------------------

    def answered(self, entry: LogRow, key: AnswerKeyFields, order: Order, pair: Pair) -> ImportedAnswer:  # noqa: ARG002 (for who needs it)
        """Return a row's answer, or raise JudgeFixturesError."""
        value, reason, invalid = self._said(entry)
        return ImportedAnswer(self.kind, key, value, reason, invalid)

    def _said(self, entry: LogRow) -> Said:
        named = "answer" in entry.request.columns
        if not named and any(entry.has(name) for name in self.stated):
            value, invalid = self.of_value(entry)
            return value, entry.reason(), invalid
        if not entry.has("answer"):
            raise entry.row.mistake(
                MESSAGES.column_missing(
                    entry.column("answer" if named else self.stated[0]), quote_names(entry.row.fields), self.says
                )
            )
        text = entry.value("answer")
        if text is None:
            return None, entry.reason(), "no-answer"
        if not isinstance(text, str):
            raise entry.row.mistake(f"{entry.column('answer')} must be the judge's text, got a {type(text).__name__}.")
        return self.of_text(entry, text)

    @abstractmethod
    def of_value(self, entry: LogRow) -> tuple[Any, InvalidKind | None]:
        """Return a row's value and its invalid kind, if any."""

    @abstractmethod
    def of_text(self, entry: LogRow, answer: str) -> Said:
        """Return what a judge's whole text says."""

    def notation(self, entry: LogRow, usual: str) -> Literal["json", "brackets"]:
        """Return the form of a text, or raise JudgeFixturesError for grade forms."""
        form = entry.request.verdict or usual
        if form not in ("json", "brackets"):
            raise JudgeFixturesError(
                f'--verdict {form} is for grades, but these are {self.holds}. Use "json" or "brackets".'
            )
        return "brackets" if form == "brackets" else "json"

    def check_read(self) -> None:  # noqa: B027 (choices are checked one by one)
        """Raise JudgeFixturesError if nothing was read; by default do nothing."""

    # --- what is said of it -----------------------------------------------------------------------------------

    @abstractmethod
    def counted(self, answers: Sequence[ImportedAnswer], pairs: Mapping[str, Pair]) -> str:
        """Return the counts of one condition's answers."""

    @abstractmethod
    def is_known(self, pairs: Iterable[Pair]) -> bool:
        """Return whether any pair has gold or a label."""

    @abstractmethod
    def is_limited(self, config: Config) -> bool:
        """Return whether the check's gate has a limit."""

    def remarks(self) -> tuple[tuple[str, str], ...]:
        """Return remarks on single rows, with places."""
        return ()


class PairRowFormat(RowFormat):
    """Rows about pairs, with optional order and gold."""

    texts: ClassVar[tuple[str, ...]] = TEXT_FIELDS
    told: ClassVar[tuple[str, ...]] = tuple(name for name in FIELDS if name != "id")
    words: ClassVar[Vocabulary] = OF_PAIRS
    check = "accuracy"
    limit = "min_accuracy = 0.7"

    def order(self, entry: LogRow) -> Order | None:
        """Return the order in the row."""
        return entry.order()

    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions of pairs."""
        return every

    def is_known(self, pairs: Iterable[Pair]) -> bool:
        """Return whether a pair has gold."""
        return any(pair.gold is not None for pair in pairs)

    def is_limited(self, config: Config) -> bool:
        """Return whether an accuracy limit is set."""
        return config.gate(self.check).min_accuracy is not None


class ExampleRowFormat(RowFormat):
    """Rows about examples, with optional labels."""

    texts: ClassVar[tuple[str, ...]] = ("question", "response")
    told: ClassVar[tuple[str, ...]] = (*texts, *LABELS, "category", "content_type", "cluster", MODEL)
    words: ClassVar[Vocabulary] = OF_EXAMPLES
    check = "agreement"
    limit = "min_kappa = 0.6"

    def pair(self, entry: LogRow) -> Pair:
        """Return the example without the answer's column as label."""
        named = entry.request.columns
        own = {entry.column(name) for name in LABELS if name not in named} & {*named.values()} if named else set()
        if not own:
            return super().pair(entry)
        fields = {name: value for name, value in entry.row.fields.items() if name not in own}
        return super().pair(replace(entry, row=entry.row._replace(fields=fields)))

    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions of examples."""
        alone = (single_condition(condition) for condition in every.values())
        return {condition.name: condition for condition in alone}

    def is_known(self, pairs: Iterable[Pair]) -> bool:
        """Return whether an example has a label."""
        return any(isinstance(pair, Example) and pair.label is not None for pair in pairs)

    def is_limited(self, config: Config) -> bool:
        """Return whether an agreement limit is set."""
        gate = config.gate(self.check)
        return isinstance(gate, AgreementTable) and bool(gate.limits.set)
