"""Log rows and the import request; no value is guessed."""

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

from .export_fields import LogFormatSpec, log_format_spec
from .formats.loaded_file import JUDGED, PLAIN
from .messages import MESSAGES

# What a row of any log can say: whose answer it is about what, and the whole text of the answer, or its reason.
ASKED = ("pair", "order", "condition", "repeat")
SAID = ("answer", "reason")

ORDERS: Mapping[object, Order] = {"1-2": "12", "12": "12", "false": "12", "2-1": "21", "21": "21", "true": "21"}
WHOLE = re.compile(r"([0-9]{1,9})(?:\.0+)?")


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """The options of an import.

    Attributes:
        columns: Column or dotted path by field.
        raters: Columns with one person's label each.
        where: Values of kept rows' columns.
        verdict: Form of whole answers.
        own_numbers: selected_response is numbered as in the pair.
        metric: The judge's metric.
        label_metric: The people's metric.
        allow: The allowed share of unusable rows.
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
        """The configuration file, by default pyproject.toml."""
        return (self.config or Path("pyproject.toml")).absolute()

    @property
    def names(self) -> str:
        """The files' names for messages."""
        return ", ".join(map(str, self.files))


class UnusableRowError(Exception):
    """Reason why a row is unusable."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log; wrong content raises JudgeFixturesError."""

    row: DataRow
    form: str
    request: ImportRequest

    @property
    def shape(self) -> LogFormatSpec:
        """The layout of the log's format."""
        return log_format_spec(self.form)

    def column(self, name: str) -> str:
        """Return a field's column: the first present candidate, or the last."""
        if name in self.request.columns:
            return self.request.columns[name]
        column = ""
        for column in self.shape.columns.get(name, ()):
            if lookup(self.row.fields, column) is not MISSING:
                break
        return column

    def has(self, name: str) -> bool:
        """Return whether the row has a field, null included."""
        return self._found(name) is not MISSING

    def value(self, name: str) -> Any:
        """Return a field's value, or None."""
        return None if (cell := self._found(name)) is MISSING else cell

    def _found(self, name: str) -> Any:
        named = self.request.columns.get(name)
        for column in self.shape.columns.get(name, ()) if named is None else (named,):
            if (value := lookup(self.row.fields, column)) is not MISSING:
                return value
        return MISSING

    @property
    def judgement(self) -> Mapping[str, Any] | None:
        """The normalized judgement of an export, or None."""
        content = self.row.fields.get(JUDGED) if self.form != PLAIN else None
        is_one = isinstance(content, dict) and isinstance(content.get("metric"), str) and "by" in content
        return content if is_one else None

    @property
    def fault(self) -> str:
        """Why there is no answer, or ""."""
        if "error" in (self.judgement or {}):
            return "its judge ended with an error"
        # An export of several providers may have no answer of the one that is meant.
        lacks = self.form == "inspect" or (self.form == "promptfoo" and self.value("answer") is None)
        return self.shape.failed if self.row.fields.get("error") and lacks else ""

    @property
    def by(self) -> str:
        """Who judged; "" in a plain log."""
        return str((self.judgement or {}).get("by", ""))

    def has_texts(self, names: Sequence[str]) -> bool:
        """Return whether the row has these texts."""
        return all(isinstance(value := self.value(name), str) and value.strip() for name in names)

    def pair_id(self) -> str | None:
        """Return the pair's or example's id, or None."""
        value = self.value("pair")
        return None if value is None else parse_id(value, repr(self.column("pair")), self.row.where)

    def repeat(self) -> int:
        """Return the row's repeat number."""
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
        """Return the order in the row."""
        value = self.value("order")
        known = ORDERS.get(str(value).strip().lower())
        if value is not None and known is None:
            raise self.row.mistake(MESSAGES.not_an_order(self.column("order"), short_repr(value, 80)))
        return known

    def reason(self) -> str:
        """Return the reason, or ""."""
        value = self.value("reason")
        if not isinstance(value, str | None):
            raise self.row.mistake(f"{self.column('reason')} must be a text, got a {type(value).__name__}.")
        return make_encodable(split_thoughts(value or "")[1])
