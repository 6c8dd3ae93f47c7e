"""Request executor: send requests through their recordings on one event loop, and record the costs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

from judgefixtures.cassettes.cassette import Cassette
from judgefixtures.cassettes.files import CassetteError
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.client.costs import Budget, CostMeter
from judgefixtures.client.model_client import ModelClient, RequestSet
from judgefixtures.client.requests import RequestExecution, look_up_recorded, run_requests
from judgefixtures.judges.judge import Judge
from judgefixtures.models.replies import R

from .batch_session import BatchSession
from .context import CancelToken, Progress, RunContext, no_progress
from .event_loop import OwnLoop
from .item_record import RequestContext
from .notes import AskedRequests, note_unfinished_files, warn_of_retirement


class RequestExecutor:
    """Asks for a whole run: one client per judge serves all checks, and one budget holds."""

    def __init__(
        self, desk: RunContext, posting: BatchSession, progress: Progress, stop: Callable[[], CancelToken] | None
    ) -> None:
        self._desk, self._posting, self._progress, self._stop = desk, posting, progress, stop
        cap = desk.options.max_cost
        self._budget = Budget(None if cap is None else cap / desk.options.workers)
        self._asked: dict[int, ModelClient[Any]] = {}  # everybody that was asked, also judges that a user's code made
        self.runner = OwnLoop()

    def reader(self) -> RequestExecutor:
        """Return who reads what this one records, and asks nobody; on its event loop, which is closed with this."""
        reader = RequestExecutor(self._desk.as_replay, self._posting, no_progress, None)
        reader.runner, reader._asked = self.runner, self._asked
        return reader

    def close(self) -> None:
        """Close the connections of everybody that was asked, and the event loop."""
        self.runner.close(self._hang_up)

    async def _hang_up(self) -> None:
        for asker in self._asked.values():
            await asker.close()

    def collect(self, judge: Judge, task: RequestSet[R], asking: RequestContext) -> list[tuple[R, ...]]:
        """Return what every arm comes to, for the sake of a judge: recorded, or asked for now."""
        asker, library = task.asker, self._desk.library
        frozen = asking.whole or task.pairs if task.frozen is None else task.frozen
        if task.among is None:  # they are kept with what this judge's template shows of them
            frozen = [judge.shows(pair) for pair in frozen]
        self._prepare(judge, asker)
        self._posting.opened()
        meter, retries = CostMeter(asker.table, self._budget), asker.retries
        with (
            note_unfinished_files(self._desk) as opened,
            library.open(
                asker, asking.dataset, task.conditions, frozen, asking.command, task.among, asking.plan
            ) as cassettes,
        ):
            opened += cassettes.values()
            round_of_requests = AskedRequests(self._desk, judge, task, asking, list(cassettes.values()))
            try:
                replies = self._ask(judge, task, cassettes, meter, asking.live)
                round_of_requests.note_answers(replies)
                round_of_requests.warn_of_second_look()
                return replies
            finally:
                asking.ledger.retries += asker.retries - retries
                self._write_down(round_of_requests, meter)

    @property
    def _concurrency(self) -> int:
        """How many calls are in flight. Replaying waits for nobody: there they would only cost switching."""
        return 1 if self._desk.is_offline else self._desk.options.concurrency

    def _prepare(self, judge: Judge, asker: ModelClient[Any]) -> None:
        options = self._desk.options
        self._asked |= {id(judge): judge, id(asker): asker}
        asker.cut_offs.matter = not options.force
        if options.shared is not None:
            asker.pace.share(options.shared, asker.paced_as, self._concurrency)

    def _ask(
        self,
        judge: Judge,
        task: RequestSet[R],
        cassettes: Mapping[str, Cassette],
        meter: CostMeter,
        live: MutableMapping[tuple[str, ...], Any] | None,
    ) -> list[tuple[R, ...]]:
        offline = self._desk.is_offline
        stop = None if offline or self._stop is None else self._stop()
        urgency = None if stop is None else lambda: stop.level
        shown_as = no_progress if offline else self._progress
        with (
            shown_as(meter, task.total) as answered,
            record_http(only_sdks=not judge.is_opaque, offline=offline, programs=judge.table.allow_programs),
            contextlib.nullcontext() if stop is None else stop.handled(),
        ):
            mail = None if offline else self._posting.mail
            inquiry = RequestExecution(task, cassettes, self._concurrency, meter, answered, urgency, mail, live)
            return self.runner.run(run_requests(inquiry))

    def _write_down(self, round_of_requests: AskedRequests, meter: CostMeter) -> None:
        """Write down what asking came to, also where it ended early."""
        judge, task, ledger = round_of_requests.judge, round_of_requests.task, round_of_requests.asking.ledger
        if task.among is None:  # a detector judges nothing: its identity stands with what it read
            ledger.judges[judge.name] = judge.identity
        warn_of_retirement(judge, task.asker.shutdown_date or judge.shutdown_date, ledger)
        round_of_requests.warn_of_cache()
        days = {day for cassette in round_of_requests.cassettes for day in cassette.days}
        recorded = sum(cassette.asked for cassette in round_of_requests.cassettes)
        ledger.earlier |= any(cassette.uses_earlier_run for cassette in round_of_requests.cassettes)
        # An answer that ended the recording was asked for and is not kept.
        ledger.draw(judge.name, days, recorded if judge.is_opaque else max(recorded, meter.total.calls))
        if meter.total.calls:
            ledger.spend(judge.name, meter.total)
            if coming := self._posting.on_their_way(task.asker.name):
                self._desk.note(coming)
        round_of_requests.note_progress(by_batch=self._posting.mail is not None)

    def look_up(self, judge: Judge, task: RequestSet[R], dataset: str) -> Mapping[str, R]:
        """Return what is recorded of a task's one arm, by pair id; nothing is asked."""
        ((condition, _),) = task.arms
        library = replace(self._desk.library, mode="none")
        self._asked[id(task.asker)] = task.asker  # what the look-up opens is closed with the run
        with (
            contextlib.suppress(CassetteError),  # the item says what is wrong with the file
            library.open(task.asker, dataset, [condition.name], ()) as cassettes,
            record_http(only_sdks=not judge.is_opaque, offline=True),
        ):
            return self.runner.run(look_up_recorded(task, cassettes[condition.name]))
        return {}
