"""Test reports of swap decisions, added after those of the items.

All comparisons of a swap can pass although the decision is not APPROVE. A test report of its own shows the decision in
the terminal and in JUnit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from judgefixtures.util.secrets import safe_message
from judgefixtures.util.texts import make_printable

if TYPE_CHECKING:
    from judgefixtures.models.swap_rows import DecisionRow

Row = dict[str, Any]

# Whoever remembers what failed in order to run it again: no item is called so.
REMEMBERING = ("lfplugin", "stepwiseplugin")


class ResultConsumer(Protocol):
    """Whoever knows what all items came to; it takes the reports of items itself, and has no use for these."""

    def conclude(self, session: pytest.Session) -> Row | None:
        """Return the report of the run as it stands; None where there is nothing to report."""
        ...


class SwapDecisionReporter:
    """Reports each candidate's decision once all items have ended, before anybody counts or writes reports."""

    def __init__(self, config: pytest.Config, results: ResultConsumer) -> None:
        self._config, self._results = config, results
        self.failed = 0  # of the reports that were made here

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Report what was decided; of a run that somebody broke off, or that broke, nothing is."""
        broken = session.exitstatus == pytest.ExitCode.INTERRUPTED and not (session.shouldstop or session.shouldfail)
        if broken or session.exitstatus == pytest.ExitCode.INTERNAL_ERROR or hasattr(self._config, "workeroutput"):
            return
        report = self._results.conclude(session)
        if report is None or not report.get("decisions"):
            return
        from judgefixtures.report.swap_section import DECISIONS

        decisions = DECISIONS.read_records(report)
        session.testscollected += len(decisions)  # what the terminal says of its progress
        self._begin_line()
        for decision in decisions:
            self._tell(session, decision, report)

    def _begin_line(self) -> None:
        """End the line on which the terminal has the items: all of it has been said, and how much of it that was."""
        if (reporter := self._config.pluginmanager.get_plugin("terminalreporter")) is None:
            return
        if reporter.showfspath:  # the name of what follows begins a line
            reporter.ensure_newline()
        elif not reporter.showlongtestinfo:
            reporter.write_line("")

    def _tell(self, session: pytest.Session, decision: DecisionRow, report: Row) -> None:
        """Pass the reports of a decision to whoever takes those of items.

        The session would stop at a failure with -x, when there is nothing left to stop.
        """
        manager = self._config.pluginmanager
        without = [each for name in REMEMBERING if (each := manager.get_plugin(name))]
        log = manager.subset_hook_caller("pytest_runtest_logreport", [session, self._results, *without])
        name = f"decision[{safe_message(f'{decision.judge}-{decision.baseline}')}]"
        where = ("decision", None, name)
        self._config.hook.pytest_runtest_logstart(nodeid=name, location=where)
        for each in _reports(name, where, decision, report):
            log(report=each)
            self.failed += each.failed
            session.testsfailed += each.failed
        self._config.hook.pytest_runtest_logfinish(nodeid=name, location=where)


def _reports(
    name: str, where: tuple[str, int | None, str], decision: DecisionRow, report: Row
) -> Iterator[pytest.TestReport]:
    """Yield the three reports that every test has, of which that of the call says what was decided."""
    from judgefixtures.models.swap_rows import SwapStatus
    from judgefixtures.report.swap_section import decision_headline, decision_text

    failure = None
    if decision.status != SwapStatus.APPROVE:
        failure = _failure(decision_text(decision, report), decision.status)
    properties = [("status", decision.status), ("says", make_printable(decision_headline(decision, report)))]
    for when in ("setup", "call", "teardown"):
        failed = failure is not None and when == "call"
        yield pytest.TestReport(
            nodeid=name,
            location=where,
            keywords={name: 1},
            outcome="failed" if failed else "passed",
            longrepr=failure if failed else None,
            when=when,
            user_properties=properties,
        )


def _failure(text: str, status: str) -> Any:
    """Return a failure as pytest shows that of an item which says the same; its line has the status after the name."""
    try:
        raise pytest.fail.Exception(safe_message(text), pytrace=False)
    except pytest.fail.Exception:
        representation = pytest.ExceptionInfo.from_current().getrepr(style="value")
    if crash := getattr(representation, "reprcrash", None):
        crash.message = status
    return representation
