"""Test reports of swap decisions, added after those of the items.

All comparisons can pass although the decision is not APPROVE.
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
    """A consumer of item results that ignores swap reports."""

    def conclude(self, session: pytest.Session) -> Row | None:
        """Return the current report, or None."""
        ...


class SwapDecisionReporter:
    """Reports each candidate's decision after all items."""

    def __init__(self, config: pytest.Config, results: ResultConsumer) -> None:
        self._config, self._results = config, results
        self.failed = 0  # of the reports that were made here

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Report the decisions, unless the run was interrupted."""
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
        if (reporter := self._config.pluginmanager.get_plugin("terminalreporter")) is None:
            return
        if reporter.showfspath:  # the name of what follows begins a line
            reporter.ensure_newline()
        elif not reporter.showlongtestinfo:
            reporter.write_line("")

    def _tell(self, session: pytest.Session, decision: DecisionRow, report: Row) -> None:
        """Bypass the session: with -x a failure would stop it."""
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
    from judgefixtures.models.swap_rows import SwapStatus
    from judgefixtures.report.swap_section import decision_headline, decision_text

    failure = None
    if decision.status != SwapStatus.APPROVE:
        failure = _failure(decision_text(decision, report))
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


def _failure(text: str) -> Any:
    try:
        raise pytest.fail.Exception(safe_message(text), pytrace=False)
    except pytest.fail.Exception:
        representation = pytest.ExceptionInfo.from_current().getrepr(style="value")
    if crash := getattr(representation, "reprcrash", None):
        crash.message = safe_message(text.partition("\n")[0])
    return representation
