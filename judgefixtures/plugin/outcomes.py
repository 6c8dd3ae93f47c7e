"""Test outcomes: how each judge item ended. An item without a finding is an ERROR."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.util.texts import make_one_line

if TYPE_CHECKING:
    from judgefixtures.checks.base import CheckId
    from judgefixtures.models.findings import Finding

    from .session_setup import SessionSetup

Row = dict[str, Any]

STOPPED = "the run stopped before this test"
LOST = "its test has no report: a pytest process died or failed"
FIRST = "no result: "
NOTHING: Row = {"findings": [], "judges": {}, "judgments": [], "plans": []}


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """A test's gate result, and what else ended the test."""

    result: Row | None = None
    why: str = ""

    @property
    def is_found(self) -> bool:
        """Whether the gate's result counts."""
        return not self.why and bool(self.result and self.result["findings"])

    def of(self, key: str, finding: Finding) -> Row:
        """Return the item's result after the test's own failure."""
        return {**NOTHING, **(self.result or {}), "item": key, "findings": [finding.to_json()], "failed": True}

    @property
    def reason(self) -> str:
        """Why no finding counts."""
        before = self.result["findings"] if self.result else []
        if not before:
            return FIRST + self.why
        return f"{self.why}; before, its gate found {', '.join(each['status'] for each in before)}"


class TestOutcomes:
    """The final outcome of each test, from all reports."""

    def __init__(self) -> None:
        self._endings: dict[str, dict[str, TestOutcome]] = {}  # by the test's id, then by the worker: copies of an item

    def add(self, report: pytest.TestReport) -> None:
        """Add a report; "rerun" reports do not count."""
        copies = self._endings.setdefault(report.nodeid, {})
        where = str(getattr(getattr(getattr(report, "node", None), "gateway", None), "id", ""))
        if str(report.outcome) == "rerun":
            copies.pop(where, None)
        elif report.when in ("setup", "call"):
            if report.when == "call" or not report.passed:
                result = getattr(report, "judgefixtures", None)
                copies[where] = TestOutcome(result, _why(report, result))
        elif report.failed:  # after the call: a teardown, or a worker that died
            ending = copies.get(where, TestOutcome())
            failed = ending.result is not None and ending.result["failed"]
            copies[where] = ending if failed or ending.why else replace(ending, why=_why(report, None))

    @property
    def names(self) -> list[str]:
        """The ids of tests with results."""
        return [name for name, copies in self._endings.items() if any(each.result for each in copies.values())]

    def of(self, name: str) -> list[TestOutcome]:
        """Return the outcome of each repeat."""
        return list(self._endings.get(name, {}).values())


def missing_result_finding(setup: SessionSetup, subject: CheckId, message: str) -> Finding:
    """Return the ERROR of an item without a finding.

    Raises:
        JudgeFixturesError: The judge is unknown.
    """
    from judgefixtures.checks import CheckInput

    run, judge = setup.run, setup.run.judge(subject.judge)
    baseline = None if subject.baseline is None else run.judge(subject.baseline)
    pairs = tuple(run.pairs(subject.judge, subject.dataset))
    check = run.registry.fitted(subject.check, judge.table, pairs)  # xdist's controller knows the item's id alone
    finding = check.error_finding(CheckInput(judge, subject.dataset, pairs, setup.config, baseline), message)
    return replace(finding.with_evidence(required=setup.required_swaps), of_test=True)


def _why(report: pytest.TestReport, result: Row | None) -> str:
    if report.failed:
        if result is not None and result["failed"]:
            return ""
        if report.when not in ("setup", "call", "teardown"):  # xdist's report, which names a worker
            return "the process that ran its test died"
        where = {"setup": " in its setup", "teardown": " in its teardown"}.get(str(report.when), "")
        return f"its test failed{where}: {_crash(report.longrepr)}"
    if result is not None and result["findings"]:
        return ""
    if report.passed:
        return "its test passed without calling its gate"
    if hasattr(report, "wasxfail"):
        return f"its test failed, as xfail expects: {make_one_line(report.wasxfail) or _crash(report.longrepr)}"
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return f"its test was skipped: {make_one_line(str(reason)).removeprefix('Skipped: ')}"


def _crash(representation: Any) -> str:
    crash = getattr(representation, "reprcrash", None)
    text = str(representation if crash is None else crash.message)
    lines = [line for line in text.splitlines() if line.strip()] or ["?"]
    marked = [line[1:] for line in lines if line.startswith("E ")]  # such as a fixture that there is not
    return make_one_line((marked or lines)[0])
