"""Source of a [datasets.NAME] table: where its pairs come from, and how to read them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from judgefixtures.models.pairs import Label
from judgefixtures.util.errors import JudgeFixturesError

DATA = Path(__file__).parents[1] / "data"
_SETS = "close close-stories qa stories bias instructions control control-stories answers graded"
BUILT_IN_SOURCES = tuple(f"house-{name}" for name in _SETS.split())
RATIO_KEYS = ("min_ratio", "max_ratio")


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset's origin and mapping; None where the table is silent."""

    name: str
    path: Path | None = None
    source: str | None = None
    content_type: str | None = None
    columns: Mapping[str, str] | None = None
    balance_positions: bool = True
    revision: str | None = None
    config: str | None = None
    split: str | None = None
    rows: str | None = None
    gold_values: Mapping[str, int] | None = None
    label_values: Mapping[str, Label] | None = None  # what stands in the column of labels, as text, to the label
    labels_from: Literal["beside"] | None = None  # files of labels that lie beside the dataset's own
    raters: tuple[str, ...] = ()  # the columns that hold a label each, where labels stand in several
    min_ratio: float | None = None
    max_ratio: float | None = None
    max_margin: float | None = None
    one_per_question: bool | None = None
    balance_length: bool = False
    licence: str | None = None
    heading: str = field(default="", compare=False)  # of its table, as it is written in the configuration's file

    @property
    def table(self) -> str:
        """The table's heading."""
        return self.heading or f"[datasets.{self.name}]"

    def mistake(self, message: str) -> JudgeFixturesError:
        """Return an error about the dataset."""
        return JudgeFixturesError(f"dataset {self.name!r}: {message}")

    @property
    def origin(self) -> str:
        """The known name or hub id; "" for a user's file."""
        return self.source or ("" if self.path is not None else self.name)

    @property
    def is_built_in(self) -> bool:
        """Whether the pairs come with this package."""
        return self.origin in BUILT_IN_SOURCES

    @property
    def ratio_keys(self) -> tuple[str, ...]:
        """The table's keys for pairs made of scores."""
        return tuple(key for key in RATIO_KEYS if getattr(self, key) is not None)

    @property
    def file(self) -> Path:
        """The file or folder; KeyError for other sources."""
        built_in = {name: DATA / f"{name}.jsonl" for name in BUILT_IN_SOURCES}
        return built_in[self.origin] if self.path is None else self.path

    @property
    def selection(self) -> dict[str, Any]:
        """Everything that decides the pairs; paths by their last part."""
        names = ("revision", "config", "split", "rows", "columns", "gold_values", "label_values", "content_type")
        fields: dict[str, Any] = {"source": self.origin or None, "path": self.path.name if self.path else None}
        for name in (*names, *RATIO_KEYS, "max_margin", "one_per_question"):
            value = getattr(self, name)
            fields[name] = (dict(sorted(value.items())) or None) if isinstance(value, Mapping) else value
        fields["raters"] = list(self.raters) or None
        fields["balance_length"] = self.balance_length or None
        fields["balance_positions"] = None if self.balance_positions else False
        return {key: value for key, value in fields.items() if value is not None}
