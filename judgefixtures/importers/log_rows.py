"""Log rows and the import request: how fields are found, and what every log may hold.

Each row is read, counted as unusable with its line, or an error. No value is guessed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgefixtures.models.contrasts import Order
from judgefixtures.parsing.grades import GradeFormat
from judgefixtures.sources.mapping import parse_id
from judgefixtures.sources.row_readers import MISSING, DataRow, lookup
from judgefixtures.util.texts import make_encodable, short_repr
from judgefixtures.util.thoughts import split_thoughts

from .format_specs import LogFormatSpec, log_format_spec
from .formats.loaded_file import JUDGED, PLAIN
from .messages import MESSAGES

# What a row of any log can say: whose answer it is about what, and the whole text of the answer, or its reason.
ASKED = ("pair", "order", "condition", "repeat")
SAID = ("answer", "reason")

ORDERS: Mapping[object, Order] = {"1-2": "12", "12": "12", "false": "12", "2-1": "21", "21": "21", "true": "21"}
WHOLE = re.compile(r"([0-9]{1,9})(?:\.0+)?")


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What is to be imported: files, as whose answers, about which pairs, and how their rows are to be read.

    `columns` maps fields to columns or dotted paths, `raters` are columns that hold a person's label each, `where`
    keeps rows in which a column has a value. `verdict` is the form of whole answers: that of the judge's table unless
    it is given. `own_numbers`: selected_response is numbered as in the pair, not as in the order that was shown.
    `metric` is whose judgements are meant of an export that holds several, `label_metric` that of the people, and
    `allow` the share of rows that may be unusable.
    """

    files: tuple[Path, ...]
    judge: str
    dataset: str | None = None
    pairs: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None
    verdict: GradeFormat | None = None
    own_numbers: bool = False
    into: Path | None = None
    config: Path | None = None
    raters: tuple[str, ...] = ()
    metric: str | None = None
    label_metric: str | None = None
    allow: float | None = None

    @property
    def config_file(self) -> Path:
        """The configuration that names judges and datasets: a given file, or the pyproject.toml here."""
        return (self.config or Path("pyproject.toml")).absolute()

    @property
    def names(self) -> str:
        """The files, as messages name them."""
        return ", ".join(map(str, self.files))


class UnusableRowError(Exception):
    """Why a row cannot be an answer about what is known: it is counted with its place."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log, read as its format and the request say; what it says wrongly is a JudgeFixturesError."""

    row: DataRow
    form: str
    request: ImportRequest

    @property
    def shape(self) -> LogFormatSpec:
        """What a log of this format looks like."""
        return log_format_spec(self.form)

    def column(self, name: str) -> str:
        """Return the column that holds a field: of several that may, the first one that the row has, or the last."""
        if name in self.request.columns:
            return self.request.columns[name]
        column = ""
        for column in self.shape.columns.get(name, ()):
            if lookup(self.row.fields, column) is not MISSING:
                break
        return column

    def has(self, name: str) -> bool:
        """Tell whether the row has a field, be it null."""
        return self._found(name) is not MISSING

    def value(self, name: str) -> Any:
        """Return what the row says of a field, None where it says nothing."""
        return None if (cell := self._found(name)) is MISSING else cell

    def _found(self, name: str) -> Any:
        named = self.request.columns.get(name)
        for column in self.shape.columns.get(name, ()) if named is None else (named,):
            if (value := lookup(self.row.fields, column)) is not MISSING:
                return value
        return MISSING

    @property
    def judgement(self) -> Mapping[str, Any] | None:
        """What an export says in the form of all; None of a row that is none, or has a column of that name itself."""
        content = self.row.fields.get(JUDGED) if self.form != PLAIN else None
        is_one = isinstance(content, dict) and isinstance(content.get("metric"), str) and "by" in content
        return content if is_one else None

    @property
    def fault(self) -> str:
        """Why nobody answered here; empty where somebody did, or a choice was made all the same."""
        if "error" in (self.judgement or {}):
            return "its judge ended with an error"
        # An export of several providers may have no answer of the one that is meant.
        lacks = self.form == "inspect" or (self.form == "promptfoo" and self.value("answer") is None)
        return self.shape.failed if self.row.fields.get("error") and lacks else ""

    @property
    def by(self) -> str:
        """Who judged, in the words of exports; empty in a log that no tool wrote."""
        return str((self.judgement or {}).get("by", ""))

    def has_texts(self, names: Sequence[str]) -> bool:
        """Tell whether the row holds such texts."""
        return all(isinstance(value := self.value(name), str) and value.strip() for name in names)

    def pair_id(self) -> str | None:
        """Return the id of the pair, or the example, that the row is about; None where it names none."""
        value = self.value("pair")
        return None if value is None else parse_id(value, repr(self.column("pair")), self.row.where)

    def repeat(self) -> int:
        """Return which repeat the row is of, as it counts them."""
        value = self.value("repeat")
        if value is None:
            return 0
        if isinstance(value, str) and (match := WHOLE.fullmatch(value)):  # of a table of texts
            value = int(match[1])
        if isinstance(value, float) and value.is_integer():  # of a column in which one is missing
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.row.mistake(
                f"{self.column('repeat')} must be a whole number of at least 0, got {short_repr(value, 80)}."
            )
        return value

    def order(self) -> Order | None:
        """Return the order that the row names."""
        value = self.value("order")
        known = ORDERS.get(str(value).strip().lower())
        if value is not None and known is None:
            raise self.row.mistake(MESSAGES.not_an_order(self.column("order"), short_repr(value, 80)))
        return known

    def reason(self) -> str:
        """Return the reason, an empty one where the row gives none."""
        value = self.value("reason")
        if not isinstance(value, str | None):
            raise self.row.mistake(f"{self.column('reason')} must be a text, got a {type(value).__name__}.")
        return make_encodable(split_thoughts(value or "")[1])
