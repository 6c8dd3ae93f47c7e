"""Matching of log rows to pairs or examples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, get_args

from judgefixtures.models.contrasts import Condition, Order
from judgefixtures.models.pairs import Example, Pair, id_key, pair_to_row, swap_responses, with_line_ends
from judgefixtures.sources.human_labels import RaterNames
from judgefixtures.sources.row_readers import MISSING, DataRow, lookup
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import quote_names

from .imported_answers import AnswerKeyFields, ImportedAnswer, shown_texts_digest
from .invalid_values import check_ids, check_values
from .log_rows import LogRow, UnusableRowError
from .messages import MESSAGES
from .rows_by_mode import RowFormat

Texts: TypeAlias = tuple[str, ...]


MOST_SHOWN = 3  # ids


@dataclass(slots=True)
class RowMatcher:
    """Reader of rows into answers; unusable rows are kept with their place.

    Attributes:
        given: Pairs of a file or the configuration.
        grows: Whether pairs of the log are added.
    """

    content: RowFormat
    conditions: Mapping[str, Condition]
    given: tuple[Pair, ...]
    grows: bool
    pairs: dict[str, Pair] = field(default_factory=dict)
    repeated: int = 0
    unused: list[tuple[str, str]] = field(default_factory=list)  # why, and where
    found: dict[AnswerKeyFields, ImportedAnswer] = field(default_factory=dict)
    places: dict[AnswerKeyFields, DataRow] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()  # ids that the dataset lacks, the first ones
    by_texts: dict[Texts, Pair | None] = field(default_factory=dict)  # None where several have them

    def read_answers(self, entries: Sequence[LogRow]) -> dict[AnswerKeyFields, ImportedAnswer]:
        """Return all answers by key.

        Raises:
            JudgeFixturesError: Wrong or contradicting rows.
        """
        _check_columns(self.content, entries)
        check_values(entries, self.content.stated, skipped=self.content.skips)
        given = {id_key(pair.id): pair for pair in self.given}
        tells = self.grows or not given
        pairs_in_rows = [self._told(entry) if tells or not entry.fault else None for entry in entries]
        self.pairs = {**(_told_pairs(self.content, entries, pairs_in_rows) if tells else {}), **given}
        check_ids(self.pairs, entries, entries[0].request.names)
        for pair in self.pairs.values():
            for texts in (_texts(pair, order) for order in get_args(Order)):
                self.by_texts[texts] = pair if self.by_texts.get(texts, pair) is pair else None
        first = min((entry.repeat() for entry in entries), default=0)  # some count from 0, others from 1
        for entry, held in zip(entries, pairs_in_rows, strict=True):
            try:
                self._keep(self._answered(entry, held, first), entry.row)
            except UnusableRowError as error:
                self.unused.append((str(error), entry.row.where))
        self.content.check_read()
        return self.found

    @property
    def hint(self) -> str:
        """A hint for rows about unknown pairs, with a leading space."""
        if not self.unknown or not self.pairs:
            return ""
        names = quote_names(sorted(self.pairs)[:MOST_SHOWN])
        return MESSAGES.other_pairs(quote_names(self.unknown), self.content, names, len(self.pairs) > MOST_SHOWN)

    def _told(self, entry: LogRow) -> Pair | None:
        return self.content.pair(entry) if self.content.is_in(entry) else None

    def _keep(self, answered: ImportedAnswer, row: DataRow) -> None:
        before = self.found.setdefault(answered.key, answered)
        place = self.places.setdefault(answered.key, row)
        if before != answered:
            raise row.mistake(MESSAGES.answered_twice(self.content.words.one, answered, self.content.alike, place))
        self.repeated += place is not row

    def _answered(self, entry: LogRow, pair_in_row: Pair | None, first_repeat: int) -> ImportedAnswer:
        if entry.fault:
            raise UnusableRowError(entry.fault)
        pair, shown_swapped = self._pair_of(entry, pair_in_row)
        if pair.response_1 == pair.response_2:
            raise UnusableRowError("its pair has the same response twice")
        condition, order = self.content.shown(entry, self.conditions, swapped_texts=shown_swapped)
        key = AnswerKeyFields(condition, pair.id, shown_texts_digest(pair, order), entry.repeat() - first_repeat)
        return self.content.answered(entry, key, order, pair)

    def _pair_of(self, entry: LogRow, pair_in_row: Pair | None) -> tuple[Pair, bool]:
        """Return an entry's pair, and whether its responses are exchanged."""
        content, row, name = self.content, entry.row, entry.pair_id()
        if pair_in_row is None and name is None:
            if not self.given and any(entry.value(each) in (None, "") for each in content.texts if entry.has(each)):
                raise UnusableRowError("no text of a response")
            raise row.mistake(MESSAGES.no_pair_named(content, entry.column("pair"), quote_names(row.fields)))
        pair = self.pairs.get(id_key(name or (pair_in_row.id if pair_in_row else "")))
        if pair is None and pair_in_row is not None and not name:
            texts = _texts(pair_in_row, "12")
            if (pair := self.by_texts.get(texts)) is None and texts in self.by_texts:
                raise UnusableRowError(f"several {content.words.many} have its texts, and it has no id")
        if pair is None:
            known, one = self.given and not self.grows, content.words.one
            if name and len(self.unknown) < MOST_SHOWN:
                self.unknown = (*self.unknown, name)
            raise UnusableRowError(f"its {one} is not in the dataset" if known else f"no row has its {one}'s texts")
        if pair_in_row is None or _texts(pair_in_row, "12") == _texts(pair, "12"):
            return pair, False
        if _texts(pair_in_row, "12") == _texts(pair, "21"):
            return pair, True
        raise UnusableRowError(f"its texts differ from its {content.words.one}")


def _check_columns(content: RowFormat, entries: Sequence[LogRow]) -> None:
    first, request = quote_names(entries[0].row.fields), entries[0].request
    missing = [name for name in content.fields() if not any(entry.has(name) for entry in entries)]
    named = [(name, column) for name, column in request.columns.items() if name in missing]
    for column in request.raters:
        if all(lookup(entry.row.fields, column) is MISSING for entry in entries):
            named.append(("labels", column))
    for name, column in named:
        raise JudgeFixturesError(
            f"--columns {name}={column}: no row has {column!r}; the first row ({entries[0].row.where}) has {first}."
        )
    if all(entry.fault for entry in entries):
        return  # nobody judged any of them, which is to be said
    if "answer" in missing and {*content.stated} & {*missing}:
        raise JudgeFixturesError(
            MESSAGES.nothing_answered(entries[0].row.where, content, entries[0].shape.misses[content.kind.mode], first)
        )


def _texts(pair: Pair, order: Order) -> Texts:
    pair = with_line_ends(pair, "\n")
    first, second = pair.response_1, pair.response_2
    return (pair.question, *((first, second) if order == "12" else (second, first)))


def _told_pairs(content: RowFormat, entries: Sequence[LogRow], pairs_in_rows: Sequence[Pair | None]) -> dict[str, Pair]:
    """Return the log's own pairs; rows in order 1-2 define the first response."""
    pairs, raters = dict[str, Pair](), RaterNames()
    holding = [(entry, pair) for entry, pair in zip(entries, pairs_in_rows, strict=True) if pair is not None]
    for entry, pair in sorted(holding, key=lambda each: content.order(each[0]) == "21"):
        if isinstance(pair, Example):
            raters.check(pair.labels, entry.row)
        if (known := pairs.setdefault(id_key(pair.id), pair)) is pair:
            continue
        one, other = pair_to_row(pair), pair_to_row(known)
        if other not in (one, pair_to_row(swap_responses(pair))):
            changed = [name for name in content.told if one.get(name) != other.get(name)]
            raise entry.row.mistake(MESSAGES.changed_under_one_id(content, pair, changed))
    return pairs
