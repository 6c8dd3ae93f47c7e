"""Concurrent requests of a judge, each routed to its cassette."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NoReturn, Protocol

from judgefixtures.cassettes import calls
from judgefixtures.cassettes.cassette import Cassette
from judgefixtures.cassettes.files import CassetteRow
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm, R
from judgefixtures.providers import ProviderResponse, UnsupportedParameterError
from judgefixtures.util.errors import JudgeFixturesError

from .costs import CostMeter
from .early_stop import TruncatedAnswersError
from .model_client import ModelClient, RequestSet
from .served_model import ServedModelChangedError

Job = tuple[Condition, int, Pair]
UNTOLD = ("too-large", "filtered")  # an answer that was never made
# Seconds between the first calls. Those that start together are answered together, and then each waits until the
# event loop has dealt with all of them, again and again: that cost a tenth of the throughput.
APART = 0.006
GRACE = 5.0  # seconds for the answers in flight when the run is asked to stop: they are paid for


class RunCancelledError(Exception):
    """The run was stopped."""


class BatchRouter(Protocol):
    """The batches that answer requests."""

    async def collect_for(self, client: ModelClient[Any]) -> None:
        """Collect a client's answers."""

    def note_probed(self, client: ModelClient[Any]) -> None:
        """Record that a client has answered."""

    def route(self, client: ModelClient[Any], cassette: Cassette) -> calls.BatchRoute:
        """Return the route of a client and cassette."""

    def way_out(self, client: ModelClient[Any]) -> str:
        """Return the remedy for another model's batch answers."""


async def run_requests(execution: RequestExecution[R]) -> list[tuple[R, ...]]:
    """Send the requests and return each arm's replies, in the order of the pairs.

    After the first error no request is sent; answers in flight are kept.

    Raises:
        BudgetError: No further call fits the budget.
        RunCancelledError: The run was stopped.
        DeferredToBatchError: A request waits for a batch.
    """
    task, urgency, replies = execution.task, execution.urgency, execution.replies
    asking = asyncio.create_task(execution.ask_all())
    watching = None if urgency is None else asyncio.create_task(execution.watch_cancellation(urgency, asking))
    try:
        await asking
    except asyncio.CancelledError:
        if not execution.stopped:
            raise
    finally:
        if watching is not None:
            watching.cancel()
    if execution.failure is not None:
        raise execution.failure
    if execution.stopped:
        raise RunCancelledError
    if execution.meter.stopped:
        raise execution.meter.exhausted()
    if execution.postponed:
        raise calls.DeferredToBatchError
    return [tuple(replies[condition, repeat, pair] for pair in task.pairs) for condition, repeat in task.arms]


async def look_up_recorded(task: RequestSet[R], arm: Arm, cassette: Cassette) -> dict[Pair, R]:
    """Return what a cassette that is open for replay answers in an arm, as a replay finds it.

    What it does not answer, or not so that it can be read, is left out.
    """
    if not len(cassette.file):
        return {}
    execution = RequestExecution(task, {arm[0].name: cassette}, 1, CostMeter(task.client.table))
    for pair in task.pairs:
        with contextlib.suppress(calls.CassetteMissError, NetworkBlockedError, JudgeFixturesError):
            await execution.request((*arm, pair))
    return {pair: reply for (_, _, pair), reply in execution.replies.items()}


@dataclass(slots=True)
class RequestExecution(Generic[R]):
    """A request set with its cassettes by condition.

    Attributes:
        answered: Receives each reply.
        urgency: Returns 1 to stop new requests, 2 for all.
        live: Unrecordable answers, reused.
    """

    task: RequestSet[R]
    cassettes: Mapping[str, Cassette]
    concurrency: int
    meter: CostMeter
    answered: Callable[[R], None] | None = None
    urgency: Callable[[], int] | None = None
    router: BatchRouter | None = None
    live: MutableMapping[tuple[str, ...], Any] | None = None
    postponed: bool = False  # some question waits for a batch
    replies: dict[Job, R] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)  # the model and the fingerprint that answered first
    workers: set[asyncio.Task[None]] = field(default_factory=set)
    stopped: bool = False
    failure: BaseException | None = None  # the first error
    client: ModelClient[R] = field(init=False)

    def __post_init__(self) -> None:
        self.client = self.task.client

    async def ask_all(self) -> None:
        """Ask alone until a question went over the network, then ask the others, so many at a time.

        The first one finds bad keys and rejected parameters for one call. Where an error names nothing that was sent,
        another question tells whether it was of that question alone.
        """
        client, task, unexplained = self.client, self.task, dict[Job, UnsupportedParameterError]()
        jobs = iter([(condition, repeat, pair) for condition, repeat in task.arms for pair in task.pairs])
        records = await self.prepare()
        while records and not (client.probed or self.is_over) and (job := next(jobs, None)) is not None:
            try:
                is_new = await self.request(job, probes=True)
            except UnsupportedParameterError as error:
                if error.parameter or unexplained:
                    raise
                unexplained[job] = error
                continue
            reply = self.replies.get(job)
            # An error that concerns this pair alone says nothing of the parameters.
            client.probed = is_new and reply is not None and reply.invalid not in UNTOLD
        if unexplained and not client.probed:
            raise next(iter(unexplained.values()))
        if self.router is not None:
            self.router.note_probed(client)
        await self.ask_together(itertools.chain(unexplained, jobs))

    async def prepare(self) -> bool:
        """Find out what is known before the first question; return whether any may go over the network."""
        if self.router is not None:
            await self.router.collect_for(self.client)
        if all(cassette.mode == "none" for cassette in self.cassettes.values()):
            return False
        self.meter.check()
        if not self.client.probed:
            await self.client.look_up_shutdown()
            await self.note_earlier()
        return True

    async def ask_together(self, jobs: Iterator[Job]) -> None:
        """Send requests, as many at a time as `concurrency` allows."""
        self.workers |= {asyncio.create_task(self.work(jobs, number * APART)) for number in range(self.concurrency)}
        try:
            await asyncio.wait(self.workers, return_when=asyncio.FIRST_EXCEPTION)
            await self.let_arrive(self.client.table.timeout)  # where one failed; else none is left
        except asyncio.CancelledError as error:
            if not self.stopped:  # Ctrl-C in a script, which nobody heeds
                self.failure = error
                await self.let_arrive(GRACE)
            raise
        finally:
            for worker in self.workers:
                worker.cancel()
            await asyncio.gather(*self.workers, return_exceptions=True)

    async def watch_cancellation(self, urgency: Callable[[], int], asking: asyncio.Task[None]) -> None:
        """Stop the requests once somebody wants to stop."""
        while not urgency():
            await asyncio.sleep(0.1)
        self.stopped = True
        await self.let_arrive(GRACE, asking)
        asking.cancel()

    async def let_arrive(self, seconds: float, *others: asyncio.Task[None]) -> None:
        """Wait for the answers in flight, and cancel all other work."""
        urgency = self.urgency or (lambda: 0)
        end = asyncio.get_running_loop().time() + seconds
        while urgency() < 2 and asyncio.get_running_loop().time() < end:
            in_flight = self.client.rate_limiter.in_flight & {*others, *self.workers}
            if not in_flight:
                break
            for task in self.workers - in_flight:
                task.cancel()
            await asyncio.sleep(0.05)

    @property
    def is_over(self) -> bool:
        """Whether no further request is sent."""
        return self.meter.stopped or self.stopped or self.failure is not None

    async def note_earlier(self) -> None:
        """Tell the client whether it has a valid recorded answer."""
        if self.client.table.record.is_code:  # a function does as it likes with a prompt, recorded or not
            return
        for row in (row for cassette in self.cassettes.values() for row in cassette.earlier()):
            call = calls.JudgeCall(row.pair, row.repeat, partial(_only, row), lambda new: new, _nothing_missing)
            with contextlib.suppress(calls.AnswerTooLargeError, JudgeFixturesError):
                reply = await self.client.ask("", call)
                self.client.early_stop.note_earlier(reply)
                if reply.invalid is None:
                    return

    async def work(self, jobs: Iterator[Job], after: float) -> None:
        """Send requests until none is left."""
        try:
            if after:
                await asyncio.sleep(after)
            while not self.is_over and (job := next(jobs, None)) is not None:
                if await self.request(job) and self.router is None:  # what a batch answered is paid for
                    self.client.early_stop.count(self.replies[job])
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self.failure = self.failure or error
            raise

    async def request(self, job: Job, *, probes: bool = False) -> bool:
        """Ask about one pair in one condition; return whether the answer was new, not a recorded one."""
        condition, repeat, pair = job
        client, cassette, planned = self.client, self.cassettes[condition.name], self.task.plans.get(pair.id)
        plan = None if planned is None else planned.plan
        # A judge of the user's own making need not know of plans.
        prompt = client.prompt(pair, condition) if plan is None else client.prompt(pair, condition, plan)
        code, digest = client.table.record.is_code, "" if plan is None else plan.digest
        live, key = self.live if code else None, (client.name, condition.name, str(repeat), pair.id, prompt)
        if live is not None and key in live:
            self.replies[job] = live[key]
            return False
        make = partial(cassette.call, client.shows(pair), repeat, eager=code, plan=digest)
        route = None if self.router is None else self.router.route(client, cassette)
        call, again, both_ways = make(post=route), False, None
        while True:
            while not self.meter.admits(prompt):
                if self.is_over:
                    return False
                await asyncio.sleep(0.01)  # until a call in flight has cost less than was set aside for it
            usage, wasted, reply = None, 0, None
            try:
                reply = await client.ask(prompt, call, probes=probes)
                usage, wasted = (reply.usage if call.recorded else None), reply.wasted
            except TruncatedAnswersError as error:
                usage = error.usage
                raise
            except calls.AnswerTooLargeError as error:
                call.failure = None  # an answer all the same, if an invalid one
                reply = client.parse_reply(ProviderResponse("", "too-long", str(error)))
                usage = reply.usage if call.recorded else None
            except calls.DeferredToBatchError:
                pass
            finally:
                self.meter.settle(prompt, usage, wasted, by_batch=call.delivered is not None)
            if reply is None:
                assert route is not None
                if (way := route.choose_way(call)) in ("once", "both"):
                    call, both_ways = make(), call if way == "both" else None
                    continue
                self.postponed = True
                self._put(route, call if way == "batch" else None, prompt)
                return False
            if call.failure is not None:  # swallowed by code that catches everything
                raise call.failure
            self._put(route, both_ways, prompt, parity=True)
            if again or not cassette.asks_again(call, reply.invalid):
                break
            call, again, both_ways = make(again=True), True, None
        self._take(job, call, reply)
        if live is not None and not call.played:
            live[key] = reply
        if route is not None and call.played and not call.played[-1].by:
            await self._compare(job, prompt, reply, call.played[-1].digest, route)
        self._check_mixture(reply, call)
        return call.recorded

    def _put(
        self, route: calls.BatchRoute | None, call: calls.JudgeCall | None, prompt: str, *, parity: bool = False
    ) -> None:
        """Put a request into the next batch; with `parity` it is also sent at once."""
        if route is None or call is None or call.question is None:
            return
        if route.put(call.question, call.repeat, prompt, parity=parity):
            self.meter.book(prompt)

    def _take(self, job: Job, call: calls.JudgeCall, reply: R) -> None:
        """Keep a reply, recorded or new."""
        self.cassettes[job[0].name].used_by(call)
        if not call.recorded:
            self.client.early_stop.note_earlier(reply)
        elif self.router is None:
            self.client.early_stop.count_refused(reply)
            self.client.early_stop.count_raised(reply, self.client.last_error)
        self.replies[job] = reply
        if self.answered is not None:
            self.answered(reply)

    def _check_mixture(self, reply: R, call: calls.JudgeCall) -> None:
        """Raise an error where another model answered than before."""
        if (mixture := self.client.model_guard.find_mixture(reply, self.first)) is None:
            return
        # What is recorded is one item's error; what is being paid for ends the session.
        now = reply.served_model or reply.fingerprint or ""
        mixture += "" if self.router is None else self.router.way_out(self.client)
        raise ServedModelChangedError(mixture, now) if call.recorded else JudgeFixturesError(mixture)

    async def _compare(self, job: Job, prompt: str, reply: R, digest: str, asked_now: calls.BatchRoute) -> None:
        _, repeat, pair = job
        if (route := asked_now.of_both_ways(digest)) is None:
            return
        # Asked as ever, but nothing is written down: the answer at once is the recorded one.
        call = calls.JudgeCall(pair.id, repeat, lambda _: None, lambda row: row, None, post=route)
        try:
            other = await self.client.ask(prompt, call)
        except calls.AnswerTooLargeError:
            return
        except calls.DeferredToBatchError:
            if call.delivered is None:
                self._put(route, call, prompt, parity=True)
            return
        self.meter.count(other.usage, by_batch=True)
        models = (reply.served_model, other.served_model)
        route.compare(digest, pair.id, same=reply.decides == other.decides, models=models)


def _only(row: CassetteRow, _digest: str) -> CassetteRow:
    return row


def _nothing_missing() -> NoReturn:
    raise calls.CassetteMissError
