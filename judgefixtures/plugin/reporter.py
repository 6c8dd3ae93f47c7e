"""Reporter: collect the results of all processes, print and write them once at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.util.clock import now
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import redact_message, safe_message
from judgefixtures.util.texts import make_one_line, word_set

from .expected_items import ExpectedItems
from .github import append_summary, workflow_notes
from .items import expected_keys
from .messages import MESSAGES
from .named_collection import BY_NAME
from .outcomes import TestOutcomes
from .result_resolution import ResolvedResults, ResultResolver
from .rootdir import outer_paths, root_options
from .session_setup import SETUP, session_setup
from .swap_reports import SwapDecisionReporter

if TYPE_CHECKING:
    from judgefixtures.report.run_record import RunRecord

Row = dict[str, Any]
# Options with which pytest shows something and runs no test. Its plugins that know them may be switched off.
LOOKS = word_set(
    "judge_preflight collectonly setuponly showfixtures show_fixtures_per_test cacheshow markers help version"
)
COLOURS = {"FAIL": "red", "ERROR": "red", "REJECT": "red", "PASS": "green", "APPROVE": "green"}
COLOURS |= {"INCONCLUSIVE": "yellow", "WARNING": "yellow"}
ASIDE = pytest.StashKey[bool]()  # whether an earlier report was set aside at start-up
NO_REPORT = "no report was written: {why}. What was in {folder} is set aside as *.before"


class JudgeReporter:
    """Collects item results, prints the summary and writes the report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._attempts: list[Row] = []  # the results of all reports: what every attempt cost and noted
        self._endings = TestOutcomes()
        self.expected_items = ExpectedItems(config)
        self.decisions = SwapDecisionReporter(config, self)
        self._settling = ResultResolver(config, self._endings, self.expected_items)
        self._settled = ResolvedResults()
        self._report: Row | None = None
        self._record: RunRecord | None = None
        self._written: list[str] = []
        self._set_aside = False  # an earlier report, in whose place one is to be written
        self._failing: list[str] = []  # the judge items whose failures pytest counts
        self.code = 0  # the exit code of what was found

    def begin(self) -> None:
        """Set an earlier report aside, if this run writes one."""
        if hasattr(self._config, "workerinput"):
            return
        if (folder := self._config.option.judge_report) is not None and folder.exists() and not folder.is_dir():
            raise pytest.UsageError(f"the report cannot be written to {folder}: it is a file, not a folder.")
        try:
            self._set_aside = self._config.stash.get(ASIDE, False) | set_report_aside(self._config.option)
        except JudgeFixturesError as error:
            raise pytest.UsageError(redact_message(str(error))) from None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the result of a report."""
        self._endings.add(report)
        if (result := getattr(report, "judgefixtures", None)) is not None:
            if not hasattr(report, "context"):  # that of a subtest: its test's own report has the same result
                self._attempts.append(result)
            self._failing += [result["item"]] if report.failed and result["failed"] else []

    @pytest.hookimpl(trylast=True)  # xdist's workers are through then, and left what they leave
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Decide and write; a missing report fails the run."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["judgefixtures_notes"] = list(map(redact_message, self._notes()))
            self._config.workeroutput["judgefixtures_items"] = expected_keys(session.items)
            if SETUP in self._config.stash:
                self._config.workeroutput["judgefixtures_run"] = self._config.stash[SETUP].run.library.run
            return
        if not self._has_run(session):
            self._tell_of_none("this run ended before its tests")
            return
        report, lost = self.conclude(session), self._settled.lost
        ended = session.exitstatus not in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
        if SETUP in self._config.stash and ended and not (lost or self._settled.unfinished or self._waits):
            self._config.stash[SETUP].run.library.finish(self.expected_items.last_words("run"))
        if lost and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = self.code = pytest.ExitCode.INTERNAL_ERROR
        if not self._settled.results and not self._waits and not lost and self.expected_items.is_complete:
            report = self._nothing_selected()
        elif self._waits:
            self._tell_of_none("answers are on their way")
        if report is None or self._record is None:
            return
        from judgefixtures.report import markdown_report, write_report

        self._decide(session, self._record, report)
        self._written += filter(None, [append_summary(lambda: markdown_report(report))])
        folder = self._config.option.judge_report
        if folder is None:
            return
        try:
            write_report(folder, self._record, report)
        except JudgeFixturesError as error:
            self._written.append(f"ERROR: {error}")
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            self._written.append(f"report: {folder / 'report.html'}")

    def _tell_of_none(self, why: str) -> None:
        if self._set_aside:
            self._written.append(NO_REPORT.format(why=why, folder=self._config.option.judge_report))

    @property
    def _waits(self) -> bool:
        return any(result["waiting"] for result in self._attempts)

    def conclude(self, session: pytest.Session) -> Row | None:
        """Return the report so far, or None if it would be incomplete.

        Later calls include the workers' final results.
        """
        if not self._has_run(session):
            return None
        before, self._settled = self._settled, self._settling.settle(session)
        if not self._settled.results or self._waits:
            self._report = self._record = None
        elif self._report is None or before != self._settled:
            from judgefixtures.report import report_and_questions

            self._record = _record_of(self._config, self._attempts, self._settled)
            self._report = report_and_questions(self._record)
        return self._report

    def _decide(self, session: pytest.Session, record: RunRecord, report: Row) -> None:
        """Ignore pytest's outcomes: marks and plugins change them."""
        from judgefixtures.report import exit_code

        self.code = exit_code.exit_code(record, report)
        others = session.testsfailed - self.decisions.failed - len(self._failing)
        mine = session.exitstatus == pytest.ExitCode.TESTS_FAILED and not others
        if session.exitstatus == pytest.ExitCode.OK or (mine and self.code == exit_code.NOT_MEASURED):
            session.exitstatus = self.code
        failed = [row["item"] for row in record.results if row["failed"] and not exit_code.is_test_error(row)]
        if hidden := len({*failed}.difference(self._failing)):
            told = f"pytest does not count {hidden} failed judge items as failures (a mark or a plugin). The exit code"
            self._written.append(
                f"{told} is still {int(session.exitstatus)}. To accept a FAIL, add a waiver: [[waivers]]"
            )

    def _nothing_selected(self) -> Row | None:
        from judgefixtures.report import report_and_questions

        if not {*self._config.stash[BY_NAME].typed_options}.difference(("judge_config", "judge_cassettes")):
            if self._set_aside:
                self._put_back()
            return None
        self._record = _record_of(self._config, self._attempts, self._settled)
        self._report = report_and_questions(self._record)
        return self._report

    def _put_back(self) -> None:
        from judgefixtures.report import restore_earlier_report

        try:
            restore_earlier_report(self._config.option.judge_report)
        except OSError as error:
            self._written.append(f"ERROR: the earlier report cannot be put back: {error.strerror}")

    def _has_run(self, session: pytest.Session) -> bool:
        if runs_no_test(self._config.option):
            return False
        if session.exitstatus == pytest.ExitCode.USAGE_ERROR and not self._endings.names:
            return False
        return not self.expected_items.uncollected or bool(self._config.option.continue_on_collection_errors)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print costs, notes, results and the report's path."""

        def write(lines: Iterable[str]) -> None:
            for line in lines:
                colour = COLOURS.get(line.partition(":")[0])
                terminalreporter.write_line(safe_message(line), **({colour: True} if colour else {}))

        option, remarks = self._config.option, [*self._spendings(), *(f"note: {note}" for note in self._notes())]
        lost = [f"ERROR: {self._settled.lost}"] if self._settled.lost else []
        if not (remarks or lost or self._written or self._report):
            return
        from judgefixtures.report import terminal_summary
        from judgefixtures.report.summary import MOST, MOST_QUIET, SummaryOptions, fitted, heading, short_summary

        if self._report is None or self._record is None:
            lines = [*lost, *self._written, *remarks]
            write(lines if option.verbose > 0 else fitted(lines, MOST_QUIET if option.verbose < 0 else MOST))
            return
        write(remarks if option.verbose > 0 else ())
        terminalreporter.write_sep("=", heading(self._report, quiet=option.verbose < 0))
        if option.verbose > 0:
            write([*terminal_summary(self._report, self._record.alpha), *self._written])
        else:
            start = " ".join(["pytest", *root_options(self._config), *outer_paths(self._config)])
            view = SummaryOptions(start, str(option.judge_report or ""), remarks, self._written, option.verbose < 0)
            write(short_summary(self._record, self._report, view))
        for line in workflow_notes(result for _, result in sorted(self._settled.results.items())):
            terminalreporter.write_line(line)  # a command of ours: what it says is escaped
        for report in terminalreporter.stats.get("failed", ()):
            _in_short(report)

    def _notes(self) -> list[str]:
        # Those of an item that Ctrl-C cut short were never reported: they are still with the setup.
        kept = self._config.stash[SETUP].run.notes if SETUP in self._config.stash else []
        kept = [*kept, *(note for notes in self.expected_items.last_words("notes") for note in notes)]
        kept += filter(None, [self._config.stash[BY_NAME].note])
        results = self._settled.results.values()
        if count := sum(bool(result.get("resumed")) for result in results):
            kept.append(MESSAGES.recorded_by_interrupted_run(count, results))
        return sorted({*kept, *(note for result in self._attempts for note in result["notes"])})

    def _spendings(self) -> Iterator[str]:
        if not any(result["spent"] for result in self._attempts):
            return
        from judgefixtures.client.costs import Cost

        spent: dict[str, list[Cost]] = {}
        for result in self._attempts:
            for judge, cost in result["spent"].items():
                spent.setdefault(judge, []).append(Cost(**cost))
        for judge, costs in sorted(spent.items()):
            yield f"recorded: {judge}: {sum(costs[1:], costs[0])}"
        if retries := sum(result["retries"] for result in self._attempts):
            yield f"retried: {retries} failed attempts were made again"


def _in_short(report: Any) -> None:
    """Show only the reason: FAILURES and JUnit have the rest."""
    result, crash = getattr(report, "judgefixtures", None), getattr(report.longrepr, "reprcrash", None)
    if result and result["failed"] and crash is not None:
        finding = result["findings"][-1]
        crash.message = f"{finding['status']}: {make_one_line(finding['plain'] or '; '.join(finding['reasons']))}"


def _record_of(config: pytest.Config, attempts: Sequence[Row], settled: ResolvedResults) -> RunRecord:
    import datetime
    import os

    from judgefixtures import __version__
    from judgefixtures.report.run_record import RunInfo, RunRecord, join_sources

    # As other tools that make the same files of the same sources.
    day = now()
    with contextlib.suppress(ValueError, OverflowError, OSError):  # not a number of seconds, or of no year there is
        day = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), datetime.UTC)
    results = settled.results.values()
    try:
        setup = session_setup(config)
    except JudgeFixturesError:  # this project has no judges, and no result
        return RunRecord.of(RunInfo(__version__, day.date().isoformat(), unselected=True), (), (), (), ())
    names = {row["name"] for result in results for row in result["findings"]}
    contrasts = {family: [contrast.id for contrast in setup.run.contrasts(family)] for family in setup.run.families}
    about = RunInfo(
        __version__,
        day.date().isoformat(),
        tuple(setup.options_given),
        {family: ids for family, ids in sorted(contrasts.items()) if names & set(ids)},
        join_sources(result["sources"] for result in attempts),
        dict(sorted(price for result in attempts for price in result["prices"].items())),
        sum(result["retries"] for result in attempts),
        lost=settled.lost,
        unfinished=tuple(settled.unfinished),
        unselected=not results,
        settings=setup.settings,
        key_variables=setup.config.key_variables,
    )
    judgments, plans = ([row for result in results for row in result[kind]] for kind in ("judgments", "plans"))
    # A pair is told once by each process: by an attempt that does not count, it may be.
    return RunRecord.of(about, results, judgments, (row for result in attempts for row in result["pairs"]), plans)


def set_report_aside(option: Any) -> bool:
    """Set an earlier report aside if these options write one, and return whether one existed.

    Raises:
        JudgeFixturesError: The folder is not writable.
    """
    if option.judge_report is None or runs_no_test(option):
        return False
    from judgefixtures.report import set_earlier_report_aside

    return set_earlier_report_aside(option.judge_report)


def runs_no_test(option: Any) -> bool:
    """Return whether a session runs no test."""
    return any(getattr(option, name, False) for name in LOOKS)
