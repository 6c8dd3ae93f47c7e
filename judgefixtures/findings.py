"""Findings: what a check found out about a judge on a dataset, as a record that travels.

A finding knows its status, its reasons and its rows, and no kind of check: whoever made it decided and worded
everything. It goes to JSON and back unchanged, because under xdist it crosses from one process to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from judgefixtures.statistics import SEVERITY, Estimate, Status, Totals

Row = dict[str, Any]  # plain JSON values, as in report.json


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
        marked = self._marked({"status": str(Status.FAIL), "message": message})
        rows = {section: tuple({**row, "text": plain} if "text" in row else row for row in each)
                for section, each in marked.items()}  # fmt: skip
        return replace(self, status=Status.FAIL, rows=rows, reasons=(message,), plain=plain, lapsed=True)

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
        if self.waived is not None:
            row["waived"] = {each.name: getattr(self.waived, each.name) for each in fields(Waived)}
        return row

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Return the finding of plain values."""
        waived = row["waived"]
        return cls(**{
            **row,
            "status": Status(row["status"]),
            "reasons": tuple(row["reasons"]),
            "diagnosis": tuple(row["diagnosis"]),
            "rows": {section: tuple(rows) for section, rows in row["rows"].items()},
            "estimate": None if row["estimate"] is None else Estimate(**row["estimate"]),
            "waived": None if waived is None else Waived(**waived),
        })  # fmt: skip


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
