"""Findings of checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self, TypeVar

from judgefixtures.statistics.clusters import ClusterTotals
from judgefixtures.statistics.estimate import SEVERITY, Estimate, Status

from .record import Record, as_json, build_record

Row = dict[str, Any]  # plain JSON values, as in report.json
CONTROL = "control"  # what decides whatever is found of a judge that did not pass its control
R = TypeVar("R", bound="ReportRow")


@dataclass(frozen=True, slots=True)
class DecisionPart(Record):
    """A quantity or an obstacle that decides a status.

    Attributes:
        part: The quantity ("vsr", "car", "max_silent", "position_flips", "log_odds", "score", "effect", "accuracy",
            "tpr", "tnr", "kappa", "as_people", "wording", "wording_shift", "wording_change", "plans", "swap") or the
            obstacle ("control", "invalid", "stuck", "unmeasured", "waiver").
        reason: A whole sentence.
        text: A part of a sentence; by default the reason.
        estimate: In shares; scores are in points, log-odds in logits.
        allowed: Ends of the allowed range, None for an open end.
    """

    part: str
    status: Status = Status.ERROR
    reason: str = ""
    text: str = ""
    estimate: Estimate | None = None
    allowed: tuple[float | None, ...] | None = None

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "text", self.reason.removesuffix(f": {self.status}"))

    @property
    def name(self) -> str:
        """Old name of `part`."""
        return self.part


def decided_by_control(parts: Iterable[DecisionPart]) -> bool:
    """Return whether a control decided these parts."""
    return any(each.part == CONTROL for each in parts)


def deciding_parts(parts: Iterable[DecisionPart], status: Status) -> tuple[DecisionPart, ...]:
    """Return the parts that alone cause a status other than PASS."""
    undecided = status in (Status.PASS, Status.NOT_APPLICABLE)
    return () if undecided else tuple(part for part in parts if part.status is status)


@dataclass(frozen=True, slots=True)
class AppliedWaiver:
    """Waiver of a result that does not pass."""

    owner: str
    reason: str
    expires: str


KINDS: dict[str, type[ReportRow]] = {}  # by their places: what a finding is read back with


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow(Record):
    """A row or evidence at a `place` of findings."""

    place: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.place:
            KINDS[cls.place] = cls

    def changed(self, **values: Any) -> Self:
        """Return the row with values of its fields."""
        known = {each.name for each in fields(self)}
        return replace(self, **{name: value for name, value in values.items() if name in known})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow(ReportRow):
    """A judge's row on a dataset."""

    judge: str = ""
    dataset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow(ReportRow):
    """A row of two judges on a dataset."""

    judge: str = ""
    baseline: str = ""
    dataset: str = ""


def _records(place: str, values: Iterable[Any]) -> tuple[Any, ...]:
    kind = KINDS.get(place)
    return tuple(kind.from_json(each) if kind and isinstance(each, Mapping) else each for each in values)


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's result on one judge and dataset.

    Attributes:
        name: "recency-new-old", "accuracy".
        rows: Report rows by section.
        evidence: Data for the whole run.
        plain: The result in a sentence.
        fatal: Whether the run must end.
        lapsed: Whether an ended waiver fails it.
        of_test: Whether the test failed.

    >>> Finding("accuracy", "mine", "qa", "accuracy", Status.PASS).title
    'mine on qa: accuracy is PASS'
    """

    check: str
    judge: str
    dataset: str
    name: str
    status: Status
    baseline: str | None = None
    reasons: tuple[str, ...] = ()
    diagnosis: tuple[str, ...] = ()
    rows: Mapping[str, tuple[ReportRow, ...]] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    estimate: Estimate | None = None
    plain: str = ""
    alpha: float = 0.05
    waived: AppliedWaiver | None = None
    fatal: bool = False
    lapsed: bool = False
    decided_by: tuple[DecisionPart, ...] = ()
    of_test: bool = False
    traceback: str = ""  # of the judge's own code, for -v

    @property
    def title(self) -> str:
        """Judge, dataset, check and result."""
        who = self.judge if self.baseline is None else f"{self.judge} against {self.baseline}"
        return f"{who} on {self.dataset}: {self.name} is {self.status}"

    @property
    def is_of_control(self) -> bool:
        """Whether a control decided it."""
        return decided_by_control(self.decided_by)

    @property
    def text(self) -> str:
        """The text of a failing item."""
        lines = self.diagnosis or (self.title, *(f"  {reason}" for reason in self.reasons))
        return "\n".join([self.headline, *lines] if self.plain else lines)

    @property
    def headline(self) -> str:
        """The result in a sentence, or the title."""
        return f"{self.status}: {self.plain}" if self.plain else self.title

    def decided_alone(self, part: DecisionPart, **change: Any) -> Self:
        """Return the finding and rows decided by one part."""
        marks = {"status": part.status, "message": part.reason, "text": part.text, **change}
        decided = (part,)
        rows = {place: tuple(row.changed(**marks, decided_by=decided) for row in of) for place, of in self.rows.items()}
        return replace(
            self,
            status=part.status,
            rows=rows,
            reasons=(part.reason,),
            diagnosis=(),
            plain=part.text,
            decided_by=(part,),
        )

    def waived_by(self, waived: AppliedWaiver) -> Self:
        """Return the finding with its rows waived."""
        return replace(self, waived=waived, rows=self._marked(waived=waived))

    def no_longer_waived(self, message: str) -> Self:
        """Return FAIL after an ended waiver, with this message."""
        plain = "; ".join(filter(None, [self.plain, message]))
        over = DecisionPart("waiver", Status.FAIL, message)
        rows = self._marked(status=Status.FAIL, message=message, decided_by=(over,), text=plain)
        return replace(
            self, status=Status.FAIL, rows=rows, reasons=(message,), plain=plain, lapsed=True, decided_by=(over,)
        )

    def with_evidence(self, **evidence: Iterable[Any]) -> Self:
        """Return the finding with further evidence."""
        return replace(self, evidence={**self.evidence, **{kind: _records(kind, of) for kind, of in evidence.items()}})

    def _marked(self, **change: Any) -> dict[str, tuple[ReportRow, ...]]:
        return {
            section: tuple(row.changed(**change) if hasattr(row, "waived") else row for row in rows)
            for section, rows in self.rows.items()
        }

    def to_json(self) -> Row:
        """Return the finding as plain values."""
        return {each.name: as_json(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Return the finding of plain values."""
        placed = {
            name: {place: _records(place, values) for place, values in row[name].items()}
            for name in ("rows", "evidence")
        }
        return build_record(cls, {**row, **placed})


def worst_status(findings: Iterable[Finding]) -> Status:
    """Return the worst unwaived status, or NOT_APPLICABLE."""
    counted = (finding.status for finding in findings if finding.waived is None)
    return max(counted, key=SEVERITY.index, default=Status.NOT_APPLICABLE)


def rows_of(findings: Iterable[Finding], kind: type[R]) -> list[R]:
    """Return all rows of a kind, in order."""
    return [row for finding in findings for row in finding.rows.get(kind.place, ()) if isinstance(row, kind)]


def evidence_of(findings: Iterable[Finding], kind: type[R]) -> list[R]:
    """Return all evidence of a kind, in order."""
    return [each for finding in findings for each in finding.evidence.get(kind.place, ()) if isinstance(each, kind)]


def cluster_count(totals: ClusterTotals | None) -> int | None:
    """Return the number of related clusters, or None."""
    return totals.count if totals is not None and totals.related else None
