"""Results: collected from the items' reports wherever they ran, printed and written once at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from judgefixtures.plugin.setup import SETUP
from judgefixtures.secrets import masked

Row = dict[str, Any]


class Results:
    """Takes each item's result off its report, here or from a worker; prints the summary and writes the report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._results: list[Row] = []
        self._report: Row | None = None
        self._written = ""
        self._workers: list[Any] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Remember xdist's workers: when Ctrl-C ends them their notes come with their last words, in no report."""
        self._workers.append(node)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result off a report."""
        result = getattr(report, "judgefixtures", None)
        if result is not None:
            self._results.append(result)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Decide and write; a run whose report could not be written does not end as if it were there."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["judgefixtures_notes"] = list(map(masked, self._notes()))
        if not self._results:
            return
        from judgefixtures.errors import JudgeFixturesError
        from judgefixtures.report import build_report, write_report

        self._report = build_report(self._results)
        decision = self._report.get("decision")
        if decision and decision["status"] != "APPROVE" and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        folder = self._config.option.judge_report
        if folder is None:
            return
        try:
            write_report(folder, self._report, self._of("judgments"), self._of("differences"),
                         self._of("plan_texts"))  # fmt: skip
        except JudgeFixturesError as error:
            self._written = f"ERROR: {error}"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            self._written = f"report: {folder / 'report.json'}"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what recording cost, what was noted, a line a contrast, and where the report is."""
        for line in (*self._spendings(), *(f"note: {note}" for note in self._notes())):
            terminalreporter.write_line(masked(line))
        if self._report is None:
            return
        from judgefixtures.summary import summary

        terminalreporter.section("judges")
        for line in summary(self._report, min(result["alpha"] for result in self._results)):
            terminalreporter.write_line(masked(line))
        if self._written:
            terminalreporter.write_line(self._written)

    def _of(self, kind: str) -> Iterator[Row]:
        for result in self._results:
            yield from result[kind]

    def _notes(self) -> list[str]:
        # Those of an item that Ctrl-C cut short were never reported: they are still with the setup.
        kept = self._config.stash[SETUP].notes if SETUP in self._config.stash else []
        kept = [*kept, *(note for worker in self._workers
                         for note in getattr(worker, "workeroutput", {}).get("judgefixtures_notes", ()))]  # fmt: skip
        return sorted({*kept, *(note for result in self._results for note in result["notes"])})

    def _spendings(self) -> Iterator[str]:
        """Yield what recording cost, a line a judge."""
        if not any(result["spent"] for result in self._results):
            return
        from judgefixtures.costs import Cost

        spent: dict[str, list[Cost]] = {}
        for result in self._results:
            for judge, cost in result["spent"].items():
                spent.setdefault(judge, []).append(Cost(**cost))
        for judge, costs in sorted(spent.items()):
            yield f"recorded: {judge}: {sum(costs[1:], costs[0])}"
        if retries := sum(result["retries"] for result in self._results):
            yield f"retried: {retries} failed attempts were made again"
