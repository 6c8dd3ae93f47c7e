"""Collecting: questions asked through their recordings, on one event loop, and what that cost written down."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

from judgefixtures.asking.asker import Asker, Task
from judgefixtures.asking.costs import Budget, Meter
from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Inquiry, ask_all, recorded
from judgefixtures.asking.received import R
from judgefixtures.cassettes.files import CassetteError
from judgefixtures.cassettes.in_use import Cassette
from judgefixtures.cassettes.replay import recording
from judgefixtures.runs.desk import Desk, Progress, Stop, unseen
from judgefixtures.runs.ledger import Asking
from judgefixtures.runs.notes import Round, files_noted, warn_of_retirement
from judgefixtures.runs.posting import Posting


class Collector:
    """Asks for a whole run: one client per judge serves all checks, and one budget holds."""

    def __init__(self, desk: Desk, posting: Posting, progress: Progress, stop: Callable[[], Stop] | None) -> None:
        self._desk, self._posting, self._progress, self._stop = desk, posting, progress, stop
        cap = desk.options.max_cost
        self._budget = Budget(None if cap is None else cap / desk.options.workers)
        self._asked: dict[int, Asker[Any]] = {}  # everybody that was asked, also judges that a user's code made
        self._runner: asyncio.Runner | None = None
        self._recorder: Collector | None = None

    def reader(self) -> Collector:
        """Return who reads what this one records, and asks nobody; on its event loop, which is closed with this."""
        reader = Collector(self._desk.as_replay, self._posting, unseen, None)
        reader._recorder, reader._asked = self, self._asked
        return reader

    @property
    def runner(self) -> asyncio.Runner:
        """One event loop for the run."""
        if self._recorder is not None:
            return self._recorder.runner
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner

    def close(self) -> None:
        """Close the connections of everybody that was asked, and the event loop."""
        if self._runner is not None:
            for asker in self._asked.values():
                self._runner.run(asker.close())
            self._runner.close()
            self._runner = None

    def collect(self, judge: Judge, task: Task[R], asking: Asking) -> list[tuple[R, ...]]:
        """Return what every arm comes to, for the sake of a judge: recorded, or asked for now."""
        asker, library = task.asker, self._desk.library
        frozen = asking.whole or task.pairs if task.frozen is None else task.frozen
        if task.among is None:  # they are kept with what this judge's template shows of them
            frozen = [judge.shows(pair) for pair in frozen]
        self._prepare(judge, asker)
        self._posting.opened()
        meter, retries = Meter(asker.table, self._budget), asker.retries
        with (
            files_noted(self._desk) as opened,
            library.open(
                asker, asking.dataset, task.conditions, frozen, asking.command, task.among, asking.plan
            ) as cassettes,
        ):
            opened += cassettes.values()
            found = Round(self._desk, judge, task, asking, list(cassettes.values()))
            try:
                replies = self._ask(judge, task, cassettes, meter, asking.live)
                found.note_answers(replies)
                found.warn_of_second_look()
                return replies
            finally:
                asking.ledger.retries += asker.retries - retries
                self._write_down(found, meter)

    @property
    def _concurrency(self) -> int:
        """How many calls are in flight. Replaying waits for nobody: there they would only cost switching."""
        return 1 if self._desk.is_offline else self._desk.options.concurrency

    def _prepare(self, judge: Judge, asker: Asker[Any]) -> None:
        options = self._desk.options
        self._asked |= {id(judge): judge, id(asker): asker}
        asker.cut_offs.matter = not options.force
        if options.shared is not None:
            asker.pace.share(options.shared, asker.paced_as, self._concurrency)

    def _ask(
        self,
        judge: Judge,
        task: Task[R],
        cassettes: Mapping[str, Cassette],
        meter: Meter,
        live: MutableMapping[tuple[str, ...], Any] | None,
    ) -> list[tuple[R, ...]]:
        offline = self._desk.is_offline
        stop = None if offline or self._stop is None else self._stop()
        urgency = None if stop is None else lambda: stop.urgency
        shown_as = unseen if offline else self._progress
        with (
            shown_as(meter, task.total) as answered,
            recording(only_sdks=not judge.is_opaque, offline=offline, programs=judge.table.allow_programs),
            contextlib.nullcontext() if stop is None else stop.heeded(),
        ):
            mail = None if offline else self._posting.mail
            inquiry = Inquiry(task, cassettes, self._concurrency, meter, answered, urgency, mail, live)
            return self.runner.run(ask_all(inquiry))

    def _write_down(self, found: Round, meter: Meter) -> None:
        """Write down what asking came to, also where it ended early."""
        judge, task, ledger = found.judge, found.task, found.asking.ledger
        if task.among is None:  # a detector judges nothing: its identity stands with what it read
            ledger.judges[judge.name] = judge.identity
        warn_of_retirement(judge, task.asker.shutdown_date or judge.shutdown_date, ledger)
        found.warn_of_cache()
        days = {day for cassette in found.cassettes for day in cassette.days}
        asked = sum(cassette.asked for cassette in found.cassettes)
        # An answer that ended the recording was asked for and is not kept.
        ledger.draw(judge.name, days, asked if judge.is_opaque else max(asked, meter.total.calls))
        if meter.total.calls:
            ledger.spend(judge.name, meter.total)
            if coming := self._posting.on_their_way(task.asker.name):
                self._desk.note(coming)
        found.note_progress(by_batch=self._posting.mail is not None)

    def look_up(self, judge: Judge, task: Task[R], dataset: str) -> Mapping[str, R]:
        """Return what is recorded of a task's one arm, by pair id; nothing is asked."""
        ((condition, _),) = task.arms
        library = replace(self._desk.library, mode="none")
        self._asked[id(task.asker)] = task.asker  # what the look-up opens is closed with the run
        with (
            contextlib.suppress(CassetteError),  # the item says what is wrong with the file
            library.open(task.asker, dataset, [condition.name], ()) as cassettes,
            recording(only_sdks=not judge.is_opaque, offline=True),
        ):
            return self.runner.run(recorded(task, cassettes[condition.name]))
        return {}
