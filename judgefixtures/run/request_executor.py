"""Request executor: send requests through their recordings on one event loop."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.client.costs import Budget, CostMeter
from judgefixtures.client.model_client import ModelClient, RequestSet
from judgefixtures.client.requests import RequestExecution, look_up_recorded, run_requests
from judgefixtures.judges.judge import Judge
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import R

from .batch_session import BatchSession
from .context import CancelToken, Progress, RunContext, no_progress
from .event_loop import OwnLoop
from .item_record import RequestContext
from .notes import AskedRequests, note_unfinished_files, warn_of_retirement


class RequestExecutor:
    """Sends a run's requests with one client per judge and one budget."""

    def __init__(
        self,
        context: RunContext,
        batch_session: BatchSession,
        progress: Progress,
        stop: Callable[[], CancelToken] | None,
        *,
        beside: RequestExecutor | None = None,
    ) -> None:
        """Create an executor; one `beside` another shares its event loop and connections."""
        self._context, self._batch_session, self._progress, self._stop = context, batch_session, progress, stop
        cap = context.options.max_cost
        self._budget = Budget(None if cap is None else cap / context.options.workers)
        # All clients in use, also those of judges that a user's code made.
        self._clients: dict[int, ModelClient[Any]] = beside._clients if beside else {}
        self.runner: OwnLoop = beside.runner if beside else OwnLoop()

    def reader(self) -> RequestExecutor:
        """Return a replaying executor on the same event loop."""
        return RequestExecutor(self._context.as_replay, self._batch_session, no_progress, None, beside=self)

    def close(self) -> None:
        """Close all connections and the event loop."""
        self.runner.close(self._hang_up)

    async def _hang_up(self) -> None:
        for client in self._clients.values():
            await client.close()

    def execute(self, judge: Judge, requests: RequestSet[R], asking: RequestContext) -> list[tuple[R, ...]]:
        """Return the replies in every arm, in the order of the pairs: recorded, or asked for now."""
        client, context, offline = requests.client, self._context, self._context.is_offline
        kept = asking.whole or requests.pairs if requests.frozen is None else requests.frozen
        if requests.among is None:  # they are kept with what this judge's template shows of them
            kept = judge.template.shows_all(kept)
        self._prepare(judge, client)
        manager, stop = self._batch_session.opened(), None if offline or self._stop is None else self._stop()
        router, urgency = None if offline else manager, None if stop is None else lambda: stop.level
        meter, retries = CostMeter(client.table, self._budget), client.retries
        with (
            note_unfinished_files(context) as opened,
            context.library.open(
                client, asking.dataset, requests.conditions, kept, asking.command, requests.among, asking.plan
            ) as cassettes,
        ):
            opened += cassettes.values()
            round_of_requests = AskedRequests(context, judge, requests, asking, list(cassettes.values()))
            try:
                with (
                    (no_progress if offline else self._progress)(meter, requests.total) as answered,
                    record_http(
                        only_sdks=not judge.is_opaque,
                        offline=offline,
                        programs=judge.table.allow_programs,
                        listens=judge.table.records_results,
                    ),
                    contextlib.nullcontext() if stop is None else stop.handled(),
                ):
                    execution = RequestExecution(
                        requests, cassettes, self._concurrency, meter, answered, urgency, router, asking.live
                    )
                    replies = self.runner.run(run_requests(execution))
                round_of_requests.note_answers(replies)
                round_of_requests.warn_of_second_look()
                return replies
            finally:
                asking.ledger.retries += client.retries - retries
                self._write_down(round_of_requests, meter)

    @property
    def _concurrency(self) -> int:
        return 1 if self._context.is_offline else self._context.options.concurrency

    def _prepare(self, judge: Judge, client: ModelClient[Any]) -> None:
        options = self._context.options
        self._clients |= {id(judge): judge, id(client): client}
        client.early_stop.matter = not options.force
        if options.shared is not None:
            client.rate_limiter.share(options.shared, client.paced_as, self._concurrency)

    def _write_down(self, round_of_requests: AskedRequests, meter: CostMeter) -> None:
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

    def look_up(self, judge: Judge, requests: RequestSet[R], dataset: str) -> list[tuple[R | None, ...]]:
        """Return what is recorded in every arm, in the order of the pairs, None where nothing is; nobody is asked."""
        library, replies = replace(self._context.library, mode="none"), []
        self._clients[id(requests.client)] = requests.client  # what the look-up opens is closed with the run
        for arm in requests.arms:
            known: dict[Pair, R] = {}
            with (
                contextlib.suppress(CassetteError),  # the item says what is wrong with the file
                library.open(requests.client, dataset, [arm[0].name], ()) as cassettes,
                record_http(only_sdks=not judge.is_opaque, offline=True),
            ):
                known = self.runner.run(look_up_recorded(requests, arm, cassettes[arm[0].name]))
            replies.append(tuple(known.get(pair) for pair in requests.pairs))
        return replies
