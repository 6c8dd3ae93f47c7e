"""Results: collected from the items' reports wherever they ran, printed and written once at the end."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from judgefixtures.errors import JudgeFixturesError
from judgefixtures.plugin.github import append_summary, notes
from judgefixtures.plugin.items import keys_of, selected
from judgefixtures.plugin.setup import SETUP, setup_of
from judgefixtures.secrets import masked, presentable

if TYPE_CHECKING:
    from judgefixtures.report.record import Record

Row = dict[str, Any]


class Results:
    """Takes each item's result off its report, here or from a worker; prints the summary and writes the report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._attempts: list[Row] = []  # the results of all reports: what every attempt cost and noted
        self._results: dict[str, Row] = {}  # the one result of each item
        self._reran: set[str] = set()  # the items whose result is of an attempt that a plugin made again
        self._report: Row | None = None
        self._record: Record | None = None
        self._collected: list[str] = []  # by a worker, and so by all of them
        self._copies = 1  # under --dist each, every worker runs every item
        self._reported: Counter[str] = Counter()
        self._lost = ""
        self._unfinished: list[str] = []  # the judge items that a run did not come to that was stopped
        self._written: list[str] = []
        self._workers: list[Any] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Remember xdist's workers: when Ctrl-C ends them their notes come with their last words, in no report."""
        self._workers.append(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, specs: Sequence[Any]) -> None:
        """Remember how often xdist is to run each item."""
        if self._config.option.dist == "each":
            self._copies = len(specs)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Remember what is to be reported: the controller collects nothing itself."""
        self._collected = list(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result off a report."""
        again = str(report.outcome) == "rerun"  # pytest-rerunfailures makes another attempt
        if not again and report.when != "teardown" and (report.when != "setup" or not report.passed):
            self._reported[report.nodeid] += 1
        result = getattr(report, "judgefixtures", None)
        if result is not None:
            self._attempts.append(result)
            self._keep(result, again=again)

    def _keep(self, result: Row, *, again: bool) -> None:
        """Keep one result of each item: the last attempt's, of several copies the worst."""
        from judgefixtures.report import worse

        name = result["item"]
        if name not in self._results or name in self._reran:
            self._results[name] = result
            (self._reran.add if again else self._reran.discard)(name)
        elif not again:
            self._results[name] = worse(self._results[name], result)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Decide and write; a run whose report could not be written does not end as if it were there."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["judgefixtures_notes"] = list(map(masked, self._notes()))
            self._config.workeroutput["judgefixtures_items"] = keys_of(session.items)
            return
        self._lost = self._lost_items(session)
        if self._lost and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        if not self._results or any(result["waiting"] for result in self._attempts):
            return  # while answers are on their way there is no report that would be of all
        from judgefixtures.report import report_of, sheet_of, write_report

        self._record = self._recorded()
        self._report = report_of(self._record)
        self._decide(session)
        report = self._report
        self._written += filter(None, [append_summary(lambda: sheet_of(report))])
        folder = self._config.option.judge_report
        if folder is None:
            return
        again = (folder / "report.json").exists()
        try:
            write_report(folder, self._record, self._report)
        except JudgeFixturesError as error:
            self._written.append(f"ERROR: {error}")
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            place = ", in place of the one that was there" if again else ""
            self._written.append(f"report: {folder / 'report.json'}{place}; to look at: {folder / 'report.html'}")

    def _decide(self, session: pytest.Session) -> None:
        """End the run with the code of what was found, where pytest has none that says it."""
        from judgefixtures.report.outcome import NOT_MEASURED, not_measured

        assert self._report is not None
        assert self._record is not None
        decided = self._report.get("decision", {}).get("status", "APPROVE")
        if decided != "APPROVE" and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        failed = sum(result["failed"] for result in self._results.values())
        mine = session.exitstatus == pytest.ExitCode.TESTS_FAILED and session.testsfailed == failed > 0
        if mine and decided != "REJECT" and not_measured(self._record.results):
            session.exitstatus = NOT_MEASURED

    def _recorded(self) -> Record:
        """Return everything that this run leaves behind."""
        import datetime
        import os

        from judgefixtures import __version__
        from judgefixtures.report.record import About, Record, joined_sources

        # As other tools that make the same files of the same sources.
        now = datetime.datetime.now(datetime.UTC)
        with contextlib.suppress(ValueError, OverflowError, OSError):  # not a number of seconds, or of no year there is
            now = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "")), datetime.UTC)
        setup = setup_of(self._config)
        names = {row["name"] for result in self._results.values() for row in result["findings"]}
        found = {family: [contrast.id for contrast in setup.run.contrasts(family)] for family in setup.run.families}
        about = About(
            __version__, now.date().isoformat(), tuple(setup.options_given),
            {family: ids for family, ids in sorted(found.items()) if names & set(ids)},
            joined_sources(result["sources"] for result in self._attempts),
            dict(sorted(price for result in self._attempts for price in result["prices"].items())),
            sum(result["retries"] for result in self._attempts), lost=self._lost, unfinished=tuple(self._unfinished),
            settings=setup.settings, key_variables=setup.config.key_variables,
        )  # fmt: skip
        # A pair is told once by each process: by an attempt that does not count, it may be.
        pairs = (row for result in self._attempts for row in result["pairs"])
        return Record.of(about, self._results.values(), self._of("judgments"), pairs, self._of("plans"))

    def _lost_items(self, session: pytest.Session) -> str:
        """Say which judge items were to run and were never reported.

        A worker that died, or failed inside, may leave xdist with nothing that failed, and so with exit code 0. What
        -x, Ctrl-C and the like kept from running is not lost, and is only remembered.
        """
        option = self._config.option
        stopped = session.exitstatus != pytest.ExitCode.OK and (
            session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED
        )
        if option.collectonly or option.judge_preflight or getattr(option, "setuponly", False):
            return ""
        lost = self._unreported(self._collected or [name for name, _ in selected(session.items)])
        if stopped:
            keys = keys_of(session.items) | {name: key for each in self._outputs("items") for name, key in each.items()}
            self._unfinished = sorted({keys.get(name, name) for name in lost} - self._results.keys())
        if stopped or not lost:
            return ""
        return (
            f"{len(lost)} of the judge items that were collected were never reported, {lost[0]} first: a process of "
            "this run died or failed inside (INTERNALERROR), and nothing is known of them. Run again without -n to see "
            "why."
        )

    def _unreported(self, names: Sequence[str]) -> list[str]:
        """Return the ids of judge items that were reported less often than they were to run.

        Of a worker's items the ids alone are known here: those of judge items have a judge's name in brackets.
        """
        missing = [name for name in names if self._reported[name] < self._copies]
        if not missing:
            return []
        try:
            judges = setup_of(self._config).judge_names
        except JudgeFixturesError:  # this project has no judges
            return []
        return [name for name in missing if any(f"{judge}-" in name.partition("[")[2] for judge in judges)]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what recording cost, what was noted, a line per contrast, and where the report is."""

        def write(lines: Iterable[str]) -> None:
            for line in lines:
                terminalreporter.write_line(presentable(line))

        write([*self._spendings(), *(f"note: {note}" for note in self._notes())])
        if self._report is None:
            write([f"ERROR: {self._lost}"] if self._lost else [])
            return
        from judgefixtures.report import summary

        terminalreporter.section("judges")
        alpha = self._record.alpha if self._record else 0.05
        write(summary(self._report, alpha, verbose=self._config.option.verbose > 0))
        write(self._written)
        for line in notes(self._results[name] for name in sorted(self._results)):
            terminalreporter.write_line(line)  # a command of ours: what it says is escaped

    def _outputs(self, what: str) -> Iterator[Any]:
        """Yield what each of xdist's workers left of something at its end."""
        for worker in self._workers:
            yield from filter(None, [getattr(worker, "workeroutput", {}).get(f"judgefixtures_{what}")])

    def _of(self, kind: str) -> Iterator[Row]:
        for result in self._results.values():
            yield from result[kind]

    def _notes(self) -> list[str]:
        # Those of an item that Ctrl-C cut short were never reported: they are still with the setup.
        kept = self._config.stash[SETUP].run.notes if SETUP in self._config.stash else []
        kept = [*kept, *(note for notes in self._outputs("notes") for note in notes)]
        return sorted({*kept, *(note for result in self._attempts for note in result["notes"])})

    def _spendings(self) -> Iterator[str]:
        """Yield what recording cost, a line per judge."""
        if not any(result["spent"] for result in self._attempts):
            return
        from judgefixtures.costs import Cost

        spent: dict[str, list[Cost]] = {}
        for result in self._attempts:
            for judge, cost in result["spent"].items():
                spent.setdefault(judge, []).append(Cost(**cost))
        for judge, costs in sorted(spent.items()):
            yield f"recorded: {judge}: {sum(costs[1:], costs[0])}"
        if retries := sum(result["retries"] for result in self._attempts):
            yield f"retried: {retries} failed attempts were made again"
