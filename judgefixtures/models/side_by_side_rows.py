"""Rows of report.json and evidence about judges side by side: who is right about which pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from judgefixtures.statistics.estimate import Estimate

from .findings import JudgeRow
from .record import Record

Right = Mapping[str, tuple[str | None, float]]  # by pair id: its category, and how right the judge was: 0, .5 or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectPairs(JudgeRow):
    """The pairs that a judge gets right."""

    place: ClassVar[str] = "rights"
    right: Right
    baseline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest(Record):
    """Comparison of two judges on the same pairs."""

    a: str = ""
    b: str = ""
    difference: Estimate
    p: float = 1.0
    p_holm: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySideRow(Record):
    """Accuracy of all judges on the same pairs, by category."""

    dataset: str = ""
    category: str = ""
    n: int = 0
    judges: Mapping[str, Estimate]
    tests: tuple[PairedTest, ...] = ()
