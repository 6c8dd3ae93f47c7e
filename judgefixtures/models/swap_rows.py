"""Report rows of a swap: the decision, and each component behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from judgefixtures.statistics.estimate import Estimate, Status

from .check_rows import CueSentences, Expense
from .findings import CandidateRow, JudgeRow, Row
from .record import Record, omit_default

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    Whole = NDArray[int64]
from enum import StrEnum


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
    """Cost of a verdict, for a candidate and its baseline."""

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
    """A part of a swap, whether or not it can be compared."""

    place: ClassVar[str] = "required"
    family: str = ""
    contrast: str | None = None
    kind: CellKind | None = None
    graded: bool = omit_default(False)
    unselected: str = omit_default("")  # what of its dataset is configured, and which option leaves it out


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSwapPart(PlannedSwapPart):
    """What the decision needs of a part: what was compared, or why nothing was, and how to decide."""

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
    """What another pair would cost at most, of both judges: more pairs would settle what is open."""

    place: ClassVar[str] = "prices"
    contrast: str | None = None
    pairs: int = 0
    arms: int = 2
    usd_a_pair: float | None = None


CellKind = Literal["cue", "order", "edit"]


class SwapStatus(StrEnum):
    """What is decided about a candidate as a whole."""

    APPROVE = "APPROVE"
    REJECT = "REJECT"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRow(Record):
    """A component of the decision on a swap."""

    kind: str = ""
    role: str = ""
    name: str = ""
    n: int = 0
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    margin: float = 0.0
    status: str = ""
    z: float = 0.0
    p_pass: float = 1.0
    p_fail: float = 1.0
    message: str = ""
    judge: Estimate | None = omit_default()
    baseline: Estimate | None = omit_default()

    @property
    def is_of_all(self) -> bool:
        """Whether it is over a family or over everything, which is always shown: single contrasts are folded."""
        return self.role == "primary" or not self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow(Record):
    """Decision on a candidate, or worst decision on all candidates."""

    judge: str = omit_default("")
    baseline: str = omit_default("")
    status: str = SwapStatus.INCONCLUSIVE
    reasons: tuple[str, ...] = ()
    components: tuple[ComponentRow, ...] = ()
    guard_margin: float | None = None
    needed_pairs: int | None = None
    look: int | None = None
    same_judge: str = omit_default("")  # says that both sides are one judge, or gave the same answers
