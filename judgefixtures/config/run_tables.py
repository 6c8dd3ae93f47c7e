"""Tables of datasets, gates, cues and runs."""

import datetime
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from judgefixtures.models.pairs import LABELS, Label
from judgefixtures.prompts.templates import LAYOUTS
from judgefixtures.providers.judge_table import StrictTable
from judgefixtures.sources.human_labels import label_key
from judgefixtures.sources.mapping import COLUMNS
from judgefixtures.statistics.agreement import AgreementLimits
from judgefixtures.util.errors import accepted_values

from .messages import MESSAGES

Table = dict[str, Any]  # as TOML has it
Share = Annotated[float, Field(gt=0, lt=1)]


def _is_column(value: object) -> bool:
    several = isinstance(value, list) and value and all(isinstance(each, str) for each in value)
    return bool(several) or isinstance(value, str)


def _column(value: object) -> object:
    if not _is_column(value):
        raise ValueError("input should be a valid string")
    return value


def _label_values(value: object) -> object:
    if not isinstance(value, dict) or not value:
        raise ValueError('it must map values to pass and fail: {pass = ["good", 1], fail = ["bad", 0]}')
    if unknown := sorted(value.keys() - set(LABELS)):
        raise ValueError(f"unknown label {unknown[0]!r}; {accepted_values(unknown[0], LABELS)}")
    meant: dict[str, str] = {}
    for label in LABELS:
        listed = value.get(label, [])
        for each in listed if isinstance(listed, list) else [listed]:
            if (word := label_key(each)) is None:
                raise ValueError(f"{label}: {each!r} is not a text, a number, or true or false")
            if meant.setdefault(word, label) != label:
                raise ValueError(f"{word!r} is both pass and fail: remove one")
    return meant


class DatasetTable(StrictTable):
    """A [datasets.NAME] table: source and mapping of pairs."""

    path: str | None = Field(None, min_length=1)
    source: str | None = Field(None, min_length=1)
    content_type: str | None = Field(None, min_length=1)
    columns: dict[str, Annotated[Any, AfterValidator(_column)]] | None = None
    balance_positions: bool = True
    revision: str | None = Field(None, min_length=1)
    config: str | None = Field(None, min_length=1)
    split: str | None = Field(None, min_length=1)
    rows: str | None = Field(None, min_length=1)
    gold_values: dict[str, Annotated[int, Field(ge=0, le=2)]] | None = Field(None, min_length=1)
    label_values: Annotated[dict[str, Label], BeforeValidator(_label_values)] | None = None
    labels_from: Literal["beside"] | None = None
    min_ratio: float | None = Field(None, ge=1, allow_inf_nan=False)
    max_ratio: float | None = Field(None, ge=1, allow_inf_nan=False)
    max_margin: float | None = Field(None, ge=0, le=1)
    one_per_question: bool | None = None
    balance_length: bool = False
    closest: int | None = Field(None, ge=1)
    licence: str | None = Field(None, min_length=1)

    @field_validator("columns", mode="before")
    @classmethod
    def _several_labels(cls, columns: object) -> object:
        if isinstance(columns, dict) and not _is_column(columns.get("labels", "labels")):
            raise ValueError('columns.labels must be a column, or a list of columns such as ["anna", "bo"]')
        return columns

    @model_validator(mode="after")
    def _whole_columns(self) -> Self:
        columns = set(self.columns or ())
        if unknown := sorted(columns - set(COLUMNS)):
            raise ValueError(f"columns: unknown field {unknown[0]!r}; {accepted_values(unknown[0], COLUMNS)}")
        preference = columns & {"chosen", "rejected"}
        if preference and (columns & {"response_1", "response_2", "gold"} or self.gold_values):
            raise ValueError(
                "columns: chosen and rejected already name the better response: remove response_1, "
                "response_2, gold and gold_values"
            )
        if "response" in columns and (two := columns & {"response_1", "response_2", "chosen", "rejected"}):
            raise ValueError(f"columns: response is for examples and {min(two)} for pairs: remove one")
        if listed := [key for key, each in (self.columns or {}).items() if isinstance(each, list) and key != "labels"]:
            raise ValueError(f"columns: {listed[0]} must be one column: only labels can have several")
        return self


def _increasing(looks: list[int]) -> list[int]:
    if not looks or looks[0] < 1 or any(later <= earlier for earlier, later in itertools.pairwise(looks)):
        raise ValueError("looks must be increasing numbers of pairs per dataset, each at least 1")
    return looks


Looks = Annotated[list[int], AfterValidator(_increasing)]  # after how many pairs of each dataset it is decided


class GateTable(StrictTable):
    """A [gate] or [gate.FAMILY] table: tolerances and confidence."""

    vsr_tolerance: Share = 0.15
    car_threshold: Share = 0.8
    car_unmeasured: Literal["inconclusive", "fail"] = "inconclusive"  # too low a CAR, by a detector of unknown recall
    max_silent: Share | None = None
    confidence: Share = 0.90
    max_invalid: float = Field(0.05, ge=0, lt=1)
    min_accuracy: Share | None = None
    attack_tolerance: Share = 0.05
    max_degenerate: Share = 0.05
    log_odds_tolerance: float | None = Field(None, gt=1, allow_inf_nan=False)  # a ratio of odds; None: not gated
    score_tolerance: Share = 0.05  # of the scale, for judges that score
    looks: Looks | None = None  # None: all pairs are asked, and it is decided once
    inconclusive: Literal["fail", "warn"] = "fail"

    @property
    def alpha(self) -> float:
        """The level of each one-sided test."""
        return (1 - self.confidence) / 2

    def tolerance(self, family: str) -> float:
        """Return the tolerance of a family's contrasts."""
        return self.attack_tolerance if family == "attack" else self.vsr_tolerance


class AgreementTable(GateTable):
    """The [gate.agreement] table: limits of agreement with people's labels."""

    min_tpr: Share | None = None
    min_tnr: Share | None = None
    min_kappa: Share | None = None
    people_margin: Share = 0.05
    as_people: bool = False

    @property
    def limits(self) -> AgreementLimits:
        """The limits that are set."""
        return AgreementLimits(self.min_tpr, self.min_tnr, self.min_accuracy, self.min_kappa)


class WordingTable(GateTable):
    """The [gate.wording] table: limits of changes with other wordings."""

    wording_tolerance: Share = 0.10
    max_probability_change: Share = 0.10  # of a wording: the mean squared change of an example's pass probability
    repeats: Literal[1, 2] = 2  # runs of each wording


class PositionTable(GateTable):
    """The [gate.position] table: limit of choices that change with the order."""

    max_position_flips: Share | None = None  # None: shown, and decides nothing


# Gates with keys of their own, by name, and what none of them has from [gate]: accuracy of choices is another thing.
OWN_GATES: Mapping[str, type[GateTable]] = {
    "agreement": AgreementTable,
    "wording": WordingTable,
    "position": PositionTable,
}
NOT_INHERITED = ("min_accuracy",)


@dataclass(frozen=True, slots=True)
class SampleDatasets:
    """The sample datasets of a mode.

    `close` ones can show a cue's effect, `clear` ones have gold, `canary` uses either.
    """

    close: tuple[str, ...]
    clear: tuple[str, ...]
    canary: tuple[str, str]


OF_PAIRS = SampleDatasets(
    ("house-close", "house-close-stories"), ("house-qa", "house-stories"), ("house-close", "house-qa")
)
# Its clear ones are the twins of its control.
OF_EXAMPLES = SampleDatasets(("house-answers",), ("house-graded",), ("house-answers", "house-control"))


def sample_datasets(mode: str) -> SampleDatasets:
    """Return the sample datasets of a mode.

    >>> sample_datasets("binary").close, sample_datasets("pointwise").close
    (('house-answers',), ('house-close', 'house-close-stories'))
    """
    return OF_EXAMPLES if LAYOUTS[mode].has_labels else OF_PAIRS


# A swap compares these, and nothing that a later version brings, unless [swap] families names others.
SWAP_FAMILIES = ("provenance", "recency")


class SwapTable(StrictTable):
    """The [swap] table: margins of a candidate."""

    accuracy_margin: Share = 0.05
    vsr_margin: Share = 0.10
    silent_margin: Share = 0.10
    flip_margin: Share = 0.10
    invalid_margin: Share = 0.05
    rate_margin: Share = 0.10  # of TPR and TNR, and of the pass rate either way: of judges of one response
    pass_rate_margin: Share = 0.10
    contrast_margin: float | Literal["plan"] = "plan"
    looks: Looks = Field(default_factory=lambda: [100])
    families: list[str] = Field(default_factory=lambda: list(SWAP_FAMILIES))

    @field_validator("contrast_margin", mode="before")
    @classmethod
    def _planned_or_a_share(cls, value: object) -> object:
        share = isinstance(value, float) and 0 < value < 1
        if value != "plan" and not share:
            raise ValueError('it must be "plan" (a margin by the number of pairs) or a share between 0 and 1')
        return value


CONTROL_ALPHA = 0.05


class ControlTable(StrictTable):
    """The [control] table: clear pairs that a judge must get right."""

    dataset: str | None = Field(None, min_length=1)
    pairs: int = Field(30, ge=1)
    threshold: Share = 0.5

    @property
    def fewest(self) -> int:
        """The fewest pairs that can pass, by alpha ** (1 / n)."""
        return math.floor(math.log(CONTROL_ALPHA) / math.log(self.threshold)) + 1

    @model_validator(mode="after")
    def _can_pass(self) -> Self:
        if self.pairs < self.fewest:
            raise ValueError(MESSAGES.few_canary_pairs(self.pairs, self.threshold, self.fewest))
        return self


class CanaryTable(StrictTable):
    """The [canary] table: prompts to repeat daily, and the false alarm rate."""

    close_dataset: str | None = Field(None, min_length=1)
    close_pairs: int = Field(20, ge=0)
    clear_dataset: str | None = Field(None, min_length=1)
    clear_pairs: int = Field(40, ge=0)
    answers: int = Field(1, ge=1)
    false_alarms: Share = 0.01

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.close_pairs + self.clear_pairs:
            raise ValueError("close_pairs and clear_pairs are both 0: set at least one above 0")
        return self

    def groups(self, close: str, clear: str) -> tuple[tuple[str, int], ...]:
        """Return datasets with numbers of pairs, by default these two."""
        close, clear = self.close_dataset or close, self.clear_dataset or clear
        wanted: dict[str, int] = {}
        for dataset, pairs in ((close, self.close_pairs), (clear, self.clear_pairs)):
            wanted[dataset] = wanted.get(dataset, 0) + pairs
        return tuple((dataset, pairs) for dataset, pairs in wanted.items() if pairs)


class Waiver(StrictTable):
    """A [[waivers]] entry: a contrast's exception until a day."""

    contrast: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    expires: datetime.date


class SecurityTable(StrictTable):
    """The [security] table: what CI allows outside repository and provider."""

    api_key_envs: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    allow_outside: tuple[Annotated[str, Field(min_length=1)], ...] = ()

    @field_validator("api_key_envs", "allow_outside", mode="before")
    @classmethod
    def _frozen(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value  # TOML has lists alone


class TermsTable(StrictTable):
    """A [cues.NAME.terms] table: words that cite a label."""

    terms: dict[str, list[Annotated[str, Field(pattern=r"\w")]]]


class DetectorTable(StrictTable):
    """The [detector] table: a detector beside the offline one."""

    judge: str | None = Field(None, min_length=1)  # a judge whose model is asked; None: nobody


class ConfigurationTable(StrictTable):
    """The whole configuration as written."""

    judge: str | None = None
    collect: Literal["always", "named"] = (
        "always"  # in which runs judge items are made; plugin/named_collection.py reads it
    )
    dataset: list[str] = Field(default_factory=list)
    pairs: int | None = Field(None, ge=1)
    seed: int = 0
    judges: dict[str, Table] = Field(default_factory=dict)
    datasets: dict[str, DatasetTable] = Field(default_factory=dict)
    gate: Table = Field(default_factory=dict)
    swap: SwapTable = SwapTable()
    control: ControlTable | None = ControlTable()  # None: switched off
    canary: CanaryTable = CanaryTable()
    waivers: list[Waiver] = Field(default_factory=list)
    security: SecurityTable = SecurityTable()
    detector: DetectorTable = DetectorTable()
    cues: dict[str, dict[str, str]] = Field(default_factory=dict)
    batch_parity: int = Field(20, ge=0)  # questions of a judge that --judge-batch asks at once as well; 0: none

    @field_validator("control", mode="before")
    @classmethod
    def _switched(cls, value: object) -> object:
        if value is False:
            return None
        if not isinstance(value, dict):
            raise ValueError("it must be a table with dataset, pairs and threshold, or false (no control)")
        return value
