"""Findings: what a check found out about a judge on a dataset, as a record that travels.

A finding knows its status, its reasons and its rows, and no kind of check: whoever made it decided and worded
everything. It goes to JSON and back unchanged, because under xdist it crosses from one process to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

from judgefixtures.numbers.statistics import SEVERITY, Estimate, Status, Totals

Row = dict[str, Any]  # plain JSON values, as in report.json


PartName = Literal[
    "vsr",
    "car",
    "max_silent",
    "log_odds",
    "score",  # of a contrast
    "effect",  # of four cells
    "accuracy",
    "plans",
    "swap",
    "invalid",  # too many verdicts that cannot be read, or enough of them to undo a PASS
    "stuck",  # no verdict had room to move
    "unmeasured",
    "waiver",
]


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a check decides by: what it says, by its own estimate, interval and limit.

    `reason` says all of it, `plain` a sentence's part. `allowed` are the ends between which the estimate may lie, None
    where there is none on that side. Scores are in points, log-odds in logits, all else in shares.
    """

    name: PartName
    status: Status
    reason: str = ""
    plain: str = ""
    estimate: Estimate | None = None
    allowed: tuple[float | None, float | None] | None = None

    @property
    def said(self) -> str:
        """What a sentence says of it."""
        return self.plain or self.reason.removesuffix(f": {self.status}")

    @property
    def row(self) -> Row:
        """The part as a row of the report has it."""
        return {
            "part": self.name,
            "status": str(self.status),
            "reason": self.reason,
            "text": self.said,
            "estimate": estimate_row(self.estimate),
            "allowed": self.allowed and list(self.allowed),
        }

    def to_json(self) -> Row:
        """Return the part as plain values."""
        return {
            "name": self.name,
            "status": str(self.status),
            "reason": self.reason,
            "plain": self.plain,
            "estimate": estimate_row(self.estimate),
            "allowed": self.allowed and list(self.allowed),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Return the part of plain values."""
        estimate, allowed = row["estimate"], row["allowed"]
        return cls(
            row["name"],
            Status(row["status"]),
            row["reason"],
            row["plain"],
            estimate and Estimate(**estimate),
            allowed and tuple(allowed),
        )


def deciding(parts: Iterable[Part], status: Status) -> tuple[Part, ...]:
    """Return the parts that a status is due to where it is not a PASS: each of them alone would have brought it."""
    undecided = status in (Status.PASS, Status.NOT_APPLICABLE)
    return () if undecided else tuple(part for part in parts if part.status is status)


@dataclass(frozen=True, slots=True)
class Waived:
    """Who answers for a finding that does not pass, why, and until which day."""

    owner: str
    reason: str
    expires: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found about one judge on one dataset.

    `name` is what was checked ("recency-new-old", "accuracy"), `reasons` say why the status is what it is, a line each,
    and `diagnosis` is all that a failing item tells. `rows` are rows of the report by the section that they stand in;
    `evidence`, by its kind, is what only the whole run can use. `estimate` is the number that the check is about, where
    it is about one; `plain` says in a sentence, without terms, what was found. `fatal`: nothing else of the run can
    succeed. `lapsed`: it is a FAIL because the waiver that it had is over. `of_test`: it is an ERROR because its test
    came to no finding, or ended badly after it: that says nothing of the judge.

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
    rows: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    estimate: Estimate | None = None
    plain: str = ""
    alpha: float = 0.05
    waived: Waived | None = None
    fatal: bool = False
    lapsed: bool = False
    decided_by: tuple[Part, ...] = ()
    of_test: bool = False

    @property
    def title(self) -> str:
        """Who was checked, on what, in what, with which result."""
        who = self.judge if self.baseline is None else f"{self.judge} against {self.baseline}"
        return f"{who} on {self.dataset}: {self.name} is {self.status}"

    @property
    def text(self) -> str:
        """What a failing item says."""
        said = self.diagnosis or (self.title, *(f"  {reason}" for reason in self.reasons))
        return "\n".join([self.headline, *said] if self.plain else said)

    @property
    def headline(self) -> str:
        """The result in a sentence, where there is one, else its title."""
        return f"{self.status}: {self.plain}" if self.plain else self.title

    def waived_by(self, waived: Waived) -> Self:
        """Return the finding with its rows marked as waived."""
        mark = {"owner": waived.owner, "reason": waived.reason, "expires": waived.expires}
        return replace(self, waived=waived, rows=self._marked({"waived": mark}))

    def no_longer_waived(self, message: str) -> Self:
        """Return the finding as a FAIL because its waiver is over, its rows too: the message follows its sentence."""
        plain = "; ".join(filter(None, [self.plain, message]))
        over = Part("waiver", Status.FAIL, message)
        marked = self._marked({"status": str(Status.FAIL), "message": message, "decided_by": [over.row]})
        rows = {
            section: tuple({**row, "text": plain} if "text" in row else row for row in each)
            for section, each in marked.items()
        }
        return replace(
            self, status=Status.FAIL, rows=rows, reasons=(message,), plain=plain, lapsed=True, decided_by=(over,)
        )

    def with_evidence(self, **evidence: Sequence[Any]) -> Self:
        """Return the finding with further evidence."""
        return replace(self, evidence={**self.evidence, **{kind: list(each) for kind, each in evidence.items()}})

    def _marked(self, change: Mapping[str, Any]) -> dict[str, tuple[Row, ...]]:
        """Return the rows, those that somebody can waive with a change."""
        return {
            section: tuple({**row, **change} if "waived" in row else row for row in rows)
            for section, rows in self.rows.items()
        }

    def to_json(self) -> Row:
        """Return the finding as plain values."""
        row = {each.name: getattr(self, each.name) for each in fields(self)}
        row["status"] = str(self.status)
        row["rows"] = {section: list(rows) for section, rows in self.rows.items()}
        row["reasons"], row["diagnosis"] = list(self.reasons), list(self.diagnosis)
        row["evidence"], row["estimate"] = dict(self.evidence), estimate_row(self.estimate)
        row["decided_by"] = [part.to_json() for part in self.decided_by]
        if self.waived is not None:
            row["waived"] = {each.name: getattr(self.waived, each.name) for each in fields(Waived)}
        return row

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Return the finding of plain values."""
        waived = row["waived"]
        return cls(
            **{
                **row,
                "status": Status(row["status"]),
                "reasons": tuple(row["reasons"]),
                "diagnosis": tuple(row["diagnosis"]),
                "rows": {section: tuple(rows) for section, rows in row["rows"].items()},
                "estimate": None if row["estimate"] is None else Estimate(**row["estimate"]),
                "waived": None if waived is None else Waived(**waived),
                "decided_by": tuple(map(Part.from_json, row["decided_by"])),
            }
        )


def overall(findings: Iterable[Finding]) -> Status:
    """Return the worst status, waived findings aside; NOT_APPLICABLE where there are none."""
    counted = (finding.status for finding in findings if finding.waived is None)
    return max(counted, key=SEVERITY.index, default=Status.NOT_APPLICABLE)


def rows_of(findings: Iterable[Finding], section: str) -> list[Row]:
    """Return all rows of a section of the report, in the order of the findings."""
    return [row for finding in findings for row in finding.rows.get(section, ())]


def evidence_of(findings: Iterable[Finding], kind: str) -> list[Any]:
    """Return all evidence of a kind, in the order of the findings."""
    return [each for finding in findings for each in finding.evidence.get(kind, ())]


def clusters_row(totals: Totals | None) -> Row:
    """Return what a row says of related pairs: in how many clusters they are; nothing where none are related."""
    return {"clusters": totals.count} if totals is not None and totals.related else {}


def estimate_row(estimate: Estimate | None) -> Row | None:
    """Return an estimate as a report holds it."""
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.confidence,
        "n": estimate.n,
    }
