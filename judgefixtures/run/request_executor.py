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
        self,
        context: RunContext,
        batch_session: BatchSession,
        progress: Progress,
        stop: Callable[[], CancelToken] | None,
    ) -> None:
        self._context, self._batch_session, self._progress, self._stop = context, batch_session, progress, stop
        cap = context.options.max_cost
        self._budget = Budget(None if cap is None else cap / context.options.workers)
        self._asked: dict[int, ModelClient[Any]] = {}  # everybody that was asked, also judges that a user's code made
        self.runner = OwnLoop()

    def reader(self) -> RequestExecutor:
        """Return who reads what this one records, and asks nobody; on its event loop, which is closed with this."""
        reader = RequestExecutor(self._context.as_replay, self._batch_session, no_progress, None)
        reader.runner, reader._asked = self.runner, self._asked
        return reader

    def close(self) -> None:
        """Close the connections of everybody that was asked, and the event loop."""
        self.runner.close(self._hang_up)

    async def _hang_up(self) -> None:
        for client in self._asked.values():
            await client.close()

    def collect(self, judge: Judge, task: RequestSet[R], asking: RequestContext) -> list[tuple[R, ...]]:
        """Return what every arm comes to, for the sake of a judge: recorded, or asked for now."""
        client, library = task.client, self._context.library
        frozen = asking.whole or task.pairs if task.frozen is None else task.frozen
        if task.among is None:  # they are kept with what this judge's template shows of them
            frozen = [judge.shows(pair) for pair in frozen]
        self._prepare(judge, client)
        self._batch_session.opened()
        meter, retries = CostMeter(client.table, self._budget), client.retries
        with (
            note_unfinished_files(self._context) as opened,
            library.open(
                client, asking.dataset, task.conditions, frozen, asking.command, task.among, asking.plan
            ) as cassettes,
        ):
            opened += cassettes.values()
            round_of_requests = AskedRequests(self._context, judge, task, asking, list(cassettes.values()))
            try:
                replies = self._ask(judge, task, cassettes, meter, asking.live)
                round_of_requests.note_answers(replies)
                round_of_requests.warn_of_second_look()
                return replies
            finally:
                asking.ledger.retries += client.retries - retries
                self._write_down(round_of_requests, meter)

    @property
    def _concurrency(self) -> int:
        """How many calls are in flight. Replaying waits for nobody: there they would only cost switching."""
        return 1 if self._context.is_offline else self._context.options.concurrency

    def _prepare(self, judge: Judge, client: ModelClient[Any]) -> None:
        options = self._context.options
        self._asked |= {id(judge): judge, id(client): client}
        client.cut_offs.matter = not options.force
        if options.shared is not None:
            client.rate_limiter.share(options.shared, client.paced_as, self._concurrency)

    def _ask(
        self,
        judge: Judge,
        task: RequestSet[R],
        cassettes: Mapping[str, Cassette],
        meter: CostMeter,
        live: MutableMapping[tuple[str, ...], Any] | None,
    ) -> list[tuple[R, ...]]:
        offline = self._context.is_offline
        stop = None if offline or self._stop is None else self._stop()
        urgency = None if stop is None else lambda: stop.level
        shown_as = no_progress if offline else self._progress
        with (
            shown_as(meter, task.total) as answered,
            record_http(only_sdks=not judge.is_opaque, offline=offline, programs=judge.table.allow_programs),
            contextlib.nullcontext() if stop is None else stop.handled(),
        ):
            router = None if offline else self._batch_session.manager
            execution = RequestExecution(task, cassettes, self._concurrency, meter, answered, urgency, router, live)
            return self.runner.run(run_requests(execution))

    def _write_down(self, round_of_requests: AskedRequests, meter: CostMeter) -> None:
        """Write down what asking came to, also where it ended early."""
        judge, task, ledger = round_of_requests.judge, round_of_requests.task, round_of_requests.asking.ledger
        if task.among is None:  # a detector judges nothing: its identity stands with what it read
            ledger.judges[judge.name] = judge.identity
        warn_of_retirement(judge, task.client.shutdown_date or judge.shutdown_date, ledger)
        round_of_requests.warn_of_cache()
        days = {day for cassette in round_of_requests.cassettes for day in cassette.days}
        recorded = sum(cassette.asked for cassette in round_of_requests.cassettes)
        ledger.earlier |= any(cassette.uses_earlier_run for cassette in round_of_requests.cassettes)
        # An answer that ended the recording was asked for and is not kept.
        ledger.draw(judge.name, days, recorded if judge.is_opaque else max(recorded, meter.total.calls))
        if meter.total.calls:
            ledger.spend(judge.name, meter.total)
            if coming := self._batch_session.on_their_way(task.client.name):
                self._context.note(coming)
        round_of_requests.note_progress(by_batch=self._batch_session.manager is not None)

    def look_up(self, judge: Judge, task: RequestSet[R], dataset: str) -> Mapping[str, R]:
        """Return what is recorded of a task's one arm, by pair id; nothing is asked."""
        ((condition, _),) = task.arms
        library = replace(self._context.library, mode="none")
        self._asked[id(task.client)] = task.client  # what the look-up opens is closed with the run
        with (
            contextlib.suppress(CassetteError),  # the item says what is wrong with the file
            library.open(task.client, dataset, [condition.name], ()) as cassettes,
            record_http(only_sdks=not judge.is_opaque, offline=True),
        ):
            return self.runner.run(look_up_recorded(task, cassettes[condition.name]))
        return {}
