"""Report rows of a swap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal

from judgefixtures.statistics.estimate import Estimate, Status

from .check_rows import CueSentences, Expense
from .findings import CandidateRow, JudgeRow, Row
from .record import Record, not_serialized, omit_default


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapRow(CandidateRow):
    """Comparison of a candidate with its baseline in one quantity.

    The first row of a contrast says what its arms are, as that of a gate does.
    """

    place: ClassVar[str] = "swap"
    contrast: str | None = None
    quantity: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    margin: float | None = None
    p: float | None = None
    p_fail: float | None = None
    p_fail_holm: float | None = None
    status: str = Status.ERROR
    message: str = ""
    x: str = omit_default("")
    y: str = omit_default("")
    arms: tuple[tuple[str | int, ...], ...] = omit_default(())
    sentences: CueSentences | None = omit_default()
    outcome: str = omit_default("")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsPerVerdict(Record):
    """Number of calls in a row that a verdict waits for."""

    judge: int = 0
    baseline: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpenseRow(CandidateRow):
    """Cost of a verdict, for a candidate and its baseline; None where a provider or price table does not say."""

    place: ClassVar[str] = "expenses"
    contrast: str | None = None
    calls: CallsPerVerdict = CallsPerVerdict()
    input_tokens: Expense | None = None
    output_tokens: Expense | None = None
    reasoning_tokens: Expense | None = None
    usd: Expense | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDifferenceRow(CandidateRow):
    """A pair on which two judges differ in one condition."""

    place: ClassVar[str] = "differences"
    pair: str = ""
    condition: str = ""
    repeat: int = 0
    gold: int | None = None
    label: str | None = omit_default()
    judge_chosen: int | None = None
    judge_invalid: str | None = None
    judge_reason: str = ""
    baseline_chosen: int | None = None
    baseline_invalid: str | None = None
    baseline_reason: str = ""
    judge_passed: bool | None = omit_default()
    baseline_passed: bool | None = omit_default()

    @property
    def graded(self) -> bool:
        """Whether it is about grades."""
        return (self.judge_passed, self.baseline_passed) != (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSwapPart(CandidateRow):
    """A part of a swap, comparable or not."""

    place: ClassVar[str] = "required"
    family: str = ""
    contrast: str | None = None
    kind: CellKind | None = None
    graded: bool = omit_default(False)
    unselected: str = omit_default("")  # what of its dataset is configured, and which option leaves it out


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSwapPart(PlannedSwapPart):
    """A part's data, or what is lacking."""

    place: ClassVar[str] = "swap_parts"
    part: Row | None = None  # the fields of a SwapContrast, or of a SwapAccuracy
    lacking: tuple[str, ...] = ()
    swap: Row = field(default_factory=dict)
    alpha: float = 0.05
    clusters: Mapping[str, str] = field(default_factory=dict)
    flips: float | None = None
    invalid: tuple[tuple[str, str], ...] = omit_default(())  # of the candidate: the arm and the pair of each answer
    left_out: bool = omit_default(False)
    same: Literal["", "judge", "answers"] = omit_default("")  # what candidate and baseline have in common


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraPairCostRow(JudgeRow):
    """The maximum cost of another pair."""

    place: ClassVar[str] = "prices"
    contrast: str | None = None
    pairs: int = 0
    arms: int = 2
    usd_a_pair: float | None = None


CellKind = Literal["cue", "order", "edit"]
ComponentKind = Literal["abs-vsr", "unadmitted-shift", "accuracy", "pass-rate", "tpr", "tnr", "flip-rate", "invalid"]
ComponentRole = Literal["primary", "guard"]


class SwapStatus(StrEnum):
    """The decision on a candidate."""

    APPROVE = "APPROVE"
    REJECT = "REJECT"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRow(Record):
    """A quantity of a swap in which the candidate may be worse than the baseline by a margin.

    Attributes:
        name: The family, "contrast on dataset", the dataset, or "" for all pairs.
        value: Candidate - baseline. Above 0 is better for accuracy, TPR and TNR, and worse for others; for the pass
            rate both signs are worse.
        margin: The share of pairs that an APPROVE rules out.
        excess: The part of the margin that invalid verdicts of the candidate alone take.
        judge: The candidate's own estimate; None without intervals.
        baseline: The baseline's own estimate; None without intervals.
        z: Statistic of the test against "worse by the margin", as `p_pass`.
        p_fail: Of the test against "not worse by `fail_margin`", the margin of the whole family.
        status: The component's status, not adjusted for the number of components.
    """

    kind: ComponentKind
    role: ComponentRole
    name: str = ""
    n: int = 0
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    margin: float = 0.0
    status: Status = Status.ERROR
    z: float = 0.0
    p_pass: float = 1.0
    p_fail: float = 1.0
    message: str = ""
    judge: Estimate | None = omit_default()
    baseline: Estimate | None = omit_default()
    excess: float = not_serialized(0.0)
    fail_margin: float = not_serialized(0.0)
    confidence: float = not_serialized(0.0)

    @property
    def estimate(self) -> Estimate:
        """The difference, with its interval."""
        return Estimate(self.value, self.low, self.high, self.confidence, self.n)

    @property
    def is_of_all(self) -> bool:
        """Whether it covers a family or all."""
        return self.role == "primary" or not self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow(Record):
    """Decision on a candidate, or worst decision on all candidates.

    `guard_margin` is the largest by which a single contrast on one dataset may be worse in spite of an APPROVE; None
    without contrasts. `needed_pairs` are the pairs per dataset with which equal judges would mostly be approved; None
    unless that is known and what is lacking. `look` is after how many pairs per dataset was decided; None where no
    looks were taken.
    """

    judge: str = omit_default("")
    baseline: str = omit_default("")
    status: SwapStatus = SwapStatus.INCONCLUSIVE
    reasons: tuple[str, ...] = ()
    components: tuple[ComponentRow, ...] = ()
    guard_margin: float | None = None
    needed_pairs: int | None = None
    look: int | None = None
    same_judge: str = omit_default("")  # says that both sides are one judge, or gave the same answers
