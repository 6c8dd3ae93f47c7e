"""Human labels of an example, which are never sent to a judge.

Null is unlabelled; unknown values are an error.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from judgefixtures.models.grade_words import FAILING, PASSING
from judgefixtures.models.pairs import LABELS, Label
from judgefixtures.util.errors import accepted_values

from .label_files import PersonLabel, join_labels, rater_key
from .messages import MESSAGES
from .row_readers import MISSING, DataRow, cell_value, lookup
from .source import Source

# What the words mean without `label_values`, in any case; numbers and booleans are read by their JSON.
USUAL: Mapping[str, Label] = dict.fromkeys(PASSING, LABELS[0]) | dict.fromkeys(FAILING, LABELS[1])

WHOLE = {"1.0": "1", "0.0": "0"}  # as text has what `spelled` makes of numbers


def row_labels(
    row: DataRow, source: Source, beside: Mapping[str, PersonLabel] = MappingProxyType({})
) -> tuple[Label | None, dict[str, Label]]:
    """Return an example's label, and each person's label.

    The row's own label counts, else the majority; ties have none.

    Raises:
        JudgeFixturesError: An unknown value, or a label against the majority.
    """
    columns = source.columns or {}
    column = columns.get("label", "label")
    # A column that is one person's says what they said, and not what is settled.
    stated = None if column in source.raters else _label(lookup(row.fields, column), column, row, source)
    labels = join_labels(_people(row, source), beside, row)
    counts = Counter(labels.values())
    passes, fails = (counts[label] for label in LABELS)
    if passes == fails:
        return stated, labels
    majority = LABELS[0] if passes > fails else LABELS[1]
    if stated not in (None, majority):
        label_list = ", ".join(f"{who}: {label}" for who, label in labels.items())
        raise row.mistake(MESSAGES.label_against_majority(column, stated, majority, label_list, source))
    return majority, labels


class RaterNames:
    """The names of all raters so far, to detect two forms of one name."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, DataRow]] = {}

    def check(self, names: Iterable[str], row: DataRow) -> None:
        """Raise JudgeFixturesError for an empty name or a second form."""
        for name in names:
            if not name.strip():
                raise row.mistake("a label belongs to a person with an empty name. Add the name, or remove the label.")
            known, first = self._known.setdefault(rater_key(name), (name, row))
            if known != name:
                where = "the row" if first is row else first.place
                raise row.mistake(MESSAGES.similar_names(name, where, known))


def label_key(value: Any) -> str | None:
    """Return a label value's key in `label_values`, or None.

    1.0 equals 1, because columns with gaps hold floats.

    >>> [label_key(value) for value in (True, 1.0, "Good", ["pass"])]
    ['true', '1', 'Good', None]
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else None


def _label(value: Any, column: str, row: DataRow, source: Source) -> Label | None:
    if value is MISSING or value is None:
        return None
    word, known = label_key(value), source.label_values
    usual = (word or "").strip().casefold()
    label = None if word is None else USUAL.get(WHOLE.get(usual, usual)) if known is None else known.get(word)
    if label is not None:
        return label
    if known is None:
        raise row.mistake(MESSAGES.unusual_label(column, value, USUAL, source))
    raise row.mistake(f"{column!r} is {value!r}, which label_values does not map: {accepted_values(str(word), known)}.")


def _people(row: DataRow, source: Source) -> dict[str, Label]:
    if source.raters:
        values: Any = {column: lookup(row.fields, column) for column in source.raters}
        return _named(values, {column: column for column in source.raters}, row, source)
    column = (source.columns or {}).get("labels", "labels")
    values = lookup(row.fields, column, None)
    if values is None:
        return {}
    values = cell_value(values, row.where) if isinstance(values, str) else values
    if isinstance(values, list):
        values = {str(place): value for place, value in enumerate(values, 1)}
    if not isinstance(values, Mapping):
        raise row.mistake(MESSAGES.not_labels_of_people(column, values))
    return _named(values, {str(who): f"{column}.{who}" for who in values}, row, source)


def _named(values: Mapping[str, Any], columns: Mapping[str, str], row: DataRow, source: Source) -> dict[str, Label]:
    labels = {str(who): _label(value, columns[str(who)], row, source) for who, value in values.items()}
    return {who: label for who, label in labels.items() if label is not None}
