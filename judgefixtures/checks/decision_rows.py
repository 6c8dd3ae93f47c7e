"""Decision rows: what a report has of the decision on a swap, and of each component that it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from judgefixtures.numbers.estimate import Estimate
from judgefixtures.swap import SwapStatus
from judgefixtures.words.records import Record, where_any


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
    judge: Estimate | None = where_any()
    baseline: Estimate | None = where_any()

    @property
    def is_of_all(self) -> bool:
        """Whether it is over a family or over everything, which is always shown: single contrasts are folded."""
        return self.role == "primary" or not self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow(Record):
    """The decision on a candidate; on all of them, where it names none."""

    judge: str = where_any("")
    baseline: str = where_any("")
    status: str = SwapStatus.INCONCLUSIVE
    reasons: tuple[str, ...] = ()
    components: tuple[ComponentRow, ...] = ()
    guard_margin: float | None = None
    needed_pairs: int | None = None
    look: int | None = None
