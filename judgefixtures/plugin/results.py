"""Results: collected from the items' reports wherever they ran, printed and written once at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.plugin.by_name import BY_NAME
from judgefixtures.plugin.endings import Endings
from judgefixtures.plugin.github import append_summary, notes
from judgefixtures.plugin.items import awaited
from judgefixtures.plugin.roster import Roster
from judgefixtures.plugin.settling import Settled, Settling
from judgefixtures.plugin.setup import SETUP, Setup, setup_of
from judgefixtures.plugin.swap_reports import Decisions
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import masked, presentable
from judgefixtures.words.texts import word_set

if TYPE_CHECKING:
    from judgefixtures.report.writing import Record

Row = dict[str, Any]
# Options with which pytest shows something and runs no test. Its plugins that know them may be switched off.
LOOKS = word_set(
    "judge_preflight collectonly setuponly showfixtures show_fixtures_per_test cacheshow markers help version"
)
NO_REPORT = "no report was written: {why}. What was in {folder} is set aside as *.before"


class Results:
    """Takes each item's result off its report, here or from a worker; prints the summary and writes the report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._attempts: list[Row] = []  # the results of all reports: what every attempt cost and noted
        self._endings = Endings()
        self.roster = Roster(config)
        self.decisions = Decisions(config, self)
        self._settling = Settling(config, self._endings, self.roster)
        self._settled = Settled()
        self._report: Row | None = None
        self._record: Record | None = None
        self._written: list[str] = []
        self._set_aside = False  # an earlier report, in whose place one is to be written

    def begin(self) -> None:
        """Set an earlier report aside, if this is a run that will write one."""
        if hasattr(self._config, "workerinput"):
            return
        if (folder := self._config.option.judge_report) is not None and folder.exists() and not folder.is_dir():
            raise pytest.UsageError(f"the report cannot be written to {folder}: it is a file, not a folder.")
        try:
            self._set_aside = set_aside(self._config.option)
        except JudgeFixturesError as error:
            raise pytest.UsageError(masked(str(error))) from None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result off a report."""
        self._endings.add(report)
        if (result := getattr(report, "judgefixtures", None)) is not None:
            self._attempts.append(result)

    @pytest.hookimpl(trylast=True)  # xdist's workers are through then, and left what they leave
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Decide and write; a run whose report could not be written does not end as if it were there."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["judgefixtures_notes"] = list(map(masked, self._notes()))
            self._config.workeroutput["judgefixtures_items"] = awaited(session.items)
            return
        if not self._has_run(session):
            if self._set_aside:
                why, folder = "this run ended before its tests", self._config.option.judge_report
                self._written.append(NO_REPORT.format(why=why, folder=folder))
            return
        report, lost = self.conclude(session), self._settled.lost
        if lost and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        if self._set_aside and not self._settled.results and not self._waits and not lost and self.roster.is_complete:
            self._put_back()
        elif self._set_aside and self._waits:
            why, folder = "answers are on their way", self._config.option.judge_report
            self._written.append(NO_REPORT.format(why=why, folder=folder))
        if report is None or self._record is None:
            return
        from judgefixtures.report import sheet_of, write_report

        self._decide(session)
        self._written += filter(None, [append_summary(lambda: sheet_of(report))])
        folder = self._config.option.judge_report
        if folder is None:
            return
        again = self._set_aside or (folder / "report.json").exists()
        try:
            write_report(folder, self._record, report)
        except JudgeFixturesError as error:
            self._written.append(f"ERROR: {error}")
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            place = ", in place of the one that was there" if again else ""
            self._written.append(f"report: {folder / 'report.json'}{place}; to look at: {folder / 'report.html'}")

    @property
    def _waits(self) -> bool:
        """Whether answers are on their way."""
        return any(result["waiting"] for result in self._attempts)

    def conclude(self, session: pytest.Session) -> Row | None:
        """Return the report of what has been reported so far; None where there is none that would be of all.

        It is asked for before anybody counts what failed, and at the end, when workers may have left some more.
        """
        if not self._has_run(session):
            return None
        before, self._settled = self._settled, self._settling.settle(session)
        if not self._settled.results or self._waits:
            self._report = self._record = None
        elif self._report is None or before != self._settled:
            from judgefixtures.report import report_of

            self._record = _record_of(setup_of(self._config), self._attempts, self._settled)
            self._report = report_of(self._record)
        return self._report

    def _decide(self, session: pytest.Session) -> None:
        """End the run with the code of what was found, where pytest has none that says it."""
        from judgefixtures.report import outcome

        assert self._report is not None
        assert self._record is not None
        decided = self._report.get("decision", {}).get("status", "APPROVE")
        results = self._record.results
        if session.exitstatus == pytest.ExitCode.OK:
            if decided != "APPROVE" or any(map(outcome.is_of_test, results)):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            elif outcome.nothing_decided(results):
                session.exitstatus = outcome.NOTHING_DECIDED
        failed, others = sum(result["failed"] for result in results), session.testsfailed - self.decisions.failed
        mine = session.exitstatus == pytest.ExitCode.TESTS_FAILED and others == failed > 0
        if mine and decided != "REJECT" and outcome.not_measured(results):
            session.exitstatus = outcome.NOT_MEASURED

    def _put_back(self) -> None:
        """Put the earlier report back after a run of other tests."""
        from judgefixtures.report import restore_report

        try:
            restore_report(self._config.option.judge_report)
        except OSError as error:
            self._written.append(f"ERROR: the earlier report cannot be put back: {error.strerror}")

    def _has_run(self, session: pytest.Session) -> bool:
        """Tell whether the session came to its tests, or was to: what it only looked at is not missing."""
        if only_looks(self._config.option):
            return False
        if session.exitstatus == pytest.ExitCode.USAGE_ERROR and not self._endings.names:
            return False
        return not self.roster.uncollected or bool(self._config.option.continue_on_collection_errors)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what recording cost, what was noted, a line per contrast, and where the report is."""

        def write(lines: Iterable[str]) -> None:
            for line in lines:
                terminalreporter.write_line(presentable(line))

        write([*self._spendings(), *(f"note: {note}" for note in self._notes())])
        if self._report is None:
            lost = self._settled.lost
            write([*([f"ERROR: {lost}"] if lost else []), *self._written])
            return
        from judgefixtures.report import summary

        terminalreporter.section("judges")
        alpha = self._record.alpha if self._record else 0.05
        told = self._told() if self._config.option.tbstyle not in ("no", "line") else ()
        write(summary(self._report, alpha, verbose=self._config.option.verbose > 0, told=told))
        write(self._written)
        for line in notes(result for _, result in sorted(self._settled.results.items())):
            terminalreporter.write_line(line)  # a command of ours: what it says is escaped
        for report in terminalreporter.stats.get("failed", ()):
            _in_short(report)

    def _told(self) -> set[tuple[str, str, str]]:
        """Return whose diagnosis stands among pytest's FAILURES, by judge, dataset and name."""
        failed = (result["findings"][-1] for result in self._settled.results.values() if result["failed"])
        return {(finding["judge"], finding["dataset"], finding["name"]) for finding in failed}

    def _notes(self) -> list[str]:
        # Those of an item that Ctrl-C cut short were never reported: they are still with the setup.
        kept = self._config.stash[SETUP].run.notes if SETUP in self._config.stash else []
        kept = [*kept, *(note for notes in self.roster.last_words("notes") for note in notes)]
        kept += filter(None, [self._config.stash[BY_NAME].note])
        return sorted({*kept, *(note for result in self._attempts for note in result["notes"])})

    def _spendings(self) -> Iterator[str]:
        """Yield what recording cost, a line per judge."""
        if not any(result["spent"] for result in self._attempts):
            return
        from judgefixtures.asking.costs import Cost

        spent: dict[str, list[Cost]] = {}
        for result in self._attempts:
            for judge, cost in result["spent"].items():
                spent.setdefault(judge, []).append(Cost(**cost))
        for judge, costs in sorted(spent.items()):
            yield f"recorded: {judge}: {sum(costs[1:], costs[0])}"
        if retries := sum(result["retries"] for result in self._attempts):
            yield f"retried: {retries} failed attempts were made again"


def _in_short(report: Any) -> None:
    """Leave the status alone for pytest's short summary of an item that its gate failed: its id says all the rest.

    FAILURES and the JUnit file are written by then.
    """
    result, crash = getattr(report, "judgefixtures", None), getattr(report.longrepr, "reprcrash", None)
    if result and result["failed"] and crash is not None:
        crash.message = result["findings"][-1]["status"]


def _record_of(setup: Setup, attempts: Sequence[Row], settled: Settled) -> Record:
    """Return everything that a run leaves behind: of what every attempt cost and noted, and the result of each item."""
    import datetime
    import os

    from judgefixtures import __version__
    from judgefixtures.report.writing import About, Record, joined_sources

    # As other tools that make the same files of the same sources.
    now = datetime.datetime.now(datetime.UTC)
    with contextlib.suppress(ValueError, OverflowError, OSError):  # not a number of seconds, or of no year there is
        now = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), datetime.UTC)
    results = settled.results.values()
    names = {row["name"] for result in results for row in result["findings"]}
    found = {family: [contrast.id for contrast in setup.run.contrasts(family)] for family in setup.run.families}
    about = About(
        __version__,
        now.date().isoformat(),
        tuple(setup.options_given),
        {family: ids for family, ids in sorted(found.items()) if names & set(ids)},
        joined_sources(result["sources"] for result in attempts),
        dict(sorted(price for result in attempts for price in result["prices"].items())),
        sum(result["retries"] for result in attempts),
        lost=settled.lost,
        unfinished=tuple(settled.unfinished),
        settings=setup.settings,
        key_variables=setup.config.key_variables,
    )
    judgments, plans = ([row for result in results for row in result[kind]] for kind in ("judgments", "plans"))
    # A pair is told once by each process: by an attempt that does not count, it may be.
    return Record.of(about, results, judgments, (row for result in attempts for row in result["pairs"]), plans)


def set_aside(option: Any) -> bool:
    """Set an earlier report aside, if a run with these options is to write one: until it has, there is none.

    Return whether there was one; raises JudgeFixturesError.
    """
    if option.judge_report is None or only_looks(option):
        return False
    from judgefixtures.report import begin_report

    return begin_report(option.judge_report)


def only_looks(option: Any) -> bool:
    """Return whether a session runs no test."""
    return any(getattr(option, name, False) for name in LOOKS)
