"""Concurrent requests of a judge about pairs in conditions, each routed to its cassette."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, NoReturn, Protocol

from judgefixtures.cassettes import calls
from judgefixtures.cassettes.cassette import Cassette
from judgefixtures.cassettes.files import CassetteRow
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.judgments import Choice, Judgment, judgments, other_choice
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm, JudgeReply, PlanWithUsage, R
from judgefixtures.providers import ProviderResponse, UnsupportedParameterError
from judgefixtures.util.errors import JudgeFixturesError

from .costs import CostMeter
from .model_client import ModelClient, RequestSet
from .served_model import ServedModelChangedError
from .truncation import TruncatedAnswersError

__all__ = [
    "Arm",
    "Choice",
    "JudgeReply",
    "Judgment",
    "PlanWithUsage",
    "judgments",
    "look_up_recorded",
    "other_choice",
    "run_requests",
]


Job = tuple[Condition, int, Pair]
UNTOLD = ("too-large", "filtered")  # an answer that was never made
# Seconds between the first calls. Those that start together are answered together, and then each waits until the
# event loop has dealt with all of them, again and again: that cost a tenth of the throughput.
APART = 0.006
GRACE = 5.0  # seconds for the answers in flight when the run is asked to stop: they are paid for


class RunCancelledError(Exception):
    """The run was asked to stop, and no question was asked since; what arrived is in the cassettes."""


# How a question is asked that batches are to answer: it waits for one, goes into the next, or is asked at once, too.
Way = Literal["waits", "batch", "once", "both"]


class BatchRoute(calls.BatchAnswers, Protocol):
    """Where a client's questions of one cassette go, and the answers of batches come from."""

    def choose_way(self, call: calls.JudgeCall) -> Way:
        """Return how the question of a call is asked that was postponed; raises FatalJudgeError."""

    def put(self, question: calls.RecordedRequest, repeat: int, prompt: str, *, parity: bool = False) -> bool:
        """Put a question into the next batch, `parity`: also; return whether it is to be paid for."""

    def of_both_ways(self, digest: str) -> BatchRoute | None:
        """Return where the answer of a batch comes from that an answer at once is compared with; None: it is not."""

    def compare(self, digest: str, pair: str, *, same: bool, models: tuple[str | None, str | None]) -> None:
        """Take note of whether both ways gave the same."""


class BatchRouter(Protocol):
    """The batches that answer questions in place of the network, as far as asking knows them."""

    async def collect_for(self, client: ModelClient[Any]) -> None:
        """Collect what was answered to a client's questions."""

    def note_probed(self, client: ModelClient[Any]) -> None:
        """Take note that a question to a client was answered."""

    def route(self, client: ModelClient[Any], cassette: Cassette) -> BatchRoute:
        """Return where a client's questions of a cassette go."""

    def way_out(self, client: ModelClient[Any]) -> str:
        """Say what to do where batches answered as another model."""


@dataclass(frozen=True, slots=True)
class RequestExecution(Generic[R]):
    """A task with all that asking it takes: its cassettes by condition, and how many calls are in flight.

    `answered` is called with each reply as it arrives. Where `urgency` returns 1 nothing further is asked, and what is
    in flight has some seconds; where it returns 2, none. With `router` batches answer. `live` are the answers that came
    without a call that could be recorded: what stands there is not asked again.
    """

    task: RequestSet[R]
    cassettes: Mapping[str, Cassette]
    concurrency: int
    meter: CostMeter
    answered: Callable[[R], None] | None = None
    urgency: Callable[[], int] | None = None
    router: BatchRouter | None = None
    live: MutableMapping[tuple[str, ...], Any] | None = None


async def run_requests(execution: RequestExecution[R]) -> list[tuple[R, ...]]:
    """Return what is made of every arm's answers, in the order of the pairs.

    The window of calls slides over all arms; after the first error nothing further is asked, and it is raised as it is
    once the answers in flight have arrived, which are paid for. So is BudgetError where a meter admits no further call.
    What was answered until then is in the cassettes. Whoever asks to stop gets StoppedError; PostponedError says that
    some question waits for a batch.
    """
    task, urgency = execution.task, execution.urgency
    run = _Run(execution)
    jobs = iter([(condition, repeat, pair) for condition, repeat in task.arms for pair in task.pairs])
    asking = asyncio.create_task(run.ask_all(jobs, execution.concurrency))
    heeding = None if urgency is None else asyncio.create_task(run.heed(urgency, asking))
    try:
        await asking
    except asyncio.CancelledError:
        if not run.stopped:
            raise
    finally:
        if heeding is not None:
            heeding.cancel()
    if run.failure is not None:
        raise run.failure
    if run.stopped:
        raise RunCancelledError
    if execution.meter.stopped:
        raise execution.meter.exhausted()
    if run.postponed:
        raise calls.DeferredToBatchError
    return [tuple(run.replies[condition, repeat, pair] for pair in task.pairs) for condition, repeat in task.arms]


async def look_up_recorded(task: RequestSet[R], cassette: Cassette) -> dict[str, R]:
    """Return what a cassette that is open for replay answers in a task's one arm, by pair id, as a replay finds it.

    What it does not answer, or not so that it can be read, is left out.
    """
    ((condition, repeat),) = task.arms
    if not len(cassette.file):
        return {}
    run = _Run(RequestExecution(task, {condition.name: cassette}, 1, CostMeter(task.client.table)))
    for pair in task.pairs:
        with contextlib.suppress(calls.CassetteMissError, NetworkBlockedError, JudgeFixturesError):
            await run.ask((condition, repeat, pair), task.client.ask)
    return {pair.id: reply for (_, _, pair), reply in run.replies.items()}


@dataclass(slots=True)
class _Run(Generic[R]):
    execution: RequestExecution[R]
    postponed: bool = False  # some question waits for a batch
    replies: dict[Job, R] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)  # the model and the fingerprint that answered first
    workers: set[asyncio.Task[None]] = field(default_factory=set)
    stopped: bool = False
    failure: BaseException | None = None  # the first error
    client: ModelClient[R] = field(init=False)
    meter: CostMeter = field(init=False)
    router: BatchRouter | None = field(init=False)

    def __post_init__(self) -> None:
        self.client, self.meter, self.router = self.execution.task.client, self.execution.meter, self.execution.router

    async def ask_all(self, jobs: Iterator[Job], concurrency: int) -> None:
        """Ask one question alone, then the others, so many at a time."""
        if self.router is not None:
            await self.router.collect_for(self.client)
        jobs = await self.probe(jobs)
        if self.router is not None:
            self.router.note_probed(self.client)
        self.workers |= {asyncio.create_task(self.work(jobs, after=number * APART)) for number in range(concurrency)}
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

    async def heed(self, urgency: Callable[[], int], asking: asyncio.Task[None]) -> None:
        """Stop when asked to: at once what waits for its turn, after some seconds what is in flight."""
        while not urgency():
            await asyncio.sleep(0.1)
        self.stopped = True
        await self.let_arrive(GRACE, asking)
        asking.cancel()

    async def let_arrive(self, seconds: float, *others: asyncio.Task[None]) -> None:
        """Wait for the answers in flight, so many seconds at most, and end what waits for its turn."""
        urgency = self.execution.urgency or (lambda: 0)
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
        """Whether nothing further is to be asked."""
        return self.meter.stopped or self.stopped or self.failure is not None

    async def probe(self, jobs: Iterator[Job]) -> Iterator[Job]:
        """Ask alone until a question went over the network: it finds bad keys and rejected parameters for one call.

        Where an error names nothing that was sent, another question tells whether it was of that question alone.
        Return what is left to be asked.
        """
        if all(cassette.mode == "none" for cassette in self.execution.cassettes.values()):
            return jobs
        self.meter.check()
        if not self.client.probed:
            await self.client.look_up_shutdown()
            await self.note_earlier()
        unexplained: dict[Job, UnsupportedParameterError] = {}
        while not (self.client.probed or self.is_over) and (job := next(jobs, None)) is not None:
            try:
                recorded = await self.ask(job, self.client.probe)
            except UnsupportedParameterError as error:
                if error.parameter or unexplained:
                    raise
                unexplained[job] = error
                continue
            answered = self.replies.get(job)
            # An error that concerns this pair alone says nothing of the parameters.
            self.client.probed = recorded and answered is not None and answered.invalid not in UNTOLD
        if unexplained and not self.client.probed:
            raise next(iter(unexplained.values()))
        return itertools.chain(unexplained, jobs)

    async def note_earlier(self) -> None:
        """Let the client know whether it, as it is now, has a valid answer recorded, in whichever condition."""
        if self.client.table.record.is_code:  # a function does as it likes with a prompt, recorded or not
            return
        for row in (row for cassette in self.execution.cassettes.values() for row in cassette.earlier()):
            call = calls.JudgeCall(row.pair, row.repeat, partial(_only, row), lambda new: new, _nothing_missing)
            with contextlib.suppress(calls.AnswerTooLargeError, JudgeFixturesError):
                reply = await self.client.ask("", call)
                self.client.cut_offs.note_earlier(reply)
                if reply.invalid is None:
                    return

    async def work(self, jobs: Iterator[Job], after: float) -> None:
        """Take the next job, which all workers share, until there is none or the budget is used up."""
        try:
            if after:
                await asyncio.sleep(after)
            while not self.is_over and (job := next(jobs, None)) is not None:
                if await self.ask(job, self.client.ask) and self.router is None:  # what a batch answered is paid for
                    self.client.cut_offs.count(self.replies[job])
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self.failure = self.failure or error
            raise

    async def ask(self, job: Job, ask: Callable[[str, calls.JudgeCall], Awaitable[R]]) -> bool:
        """Ask about one pair in one condition; return whether the answer was new, not a recorded one."""
        condition, repeat, pair = job
        cassette = self.execution.cassettes[condition.name]
        planned = self.execution.task.plans.get(pair.id)
        plan = None if planned is None else planned.plan
        # A judge of the user's own making need not know of plans.
        prompt = self.client.prompt(pair, condition) if plan is None else self.client.prompt(pair, condition, plan)
        code, digest = self.client.table.record.is_code, "" if plan is None else plan.digest
        live, key = (
            self.execution.live if code else None,
            (self.client.name, condition.name, str(repeat), pair.id, prompt),
        )
        if live is not None and key in live:
            self.replies[job] = live[key]
            return False
        make = partial(cassette.call, self.client.shows(pair), repeat, eager=code, plan=digest)
        route = None if self.router is None else self.router.route(self.client, cassette)
        call = make(post=route)
        try:
            reply = await self._reply(prompt, ask, call)
        except calls.DeferredToBatchError:
            assert route is not None
            call, reply = await self._postponed(prompt, ask, make, call, route)
        if reply is not None and cassette.asks_again(call, reply.invalid):
            call = make(again=True)
            reply = await self._reply(prompt, ask, call)
        if reply is None:
            return False
        cassette.used_by(call)
        if not call.recorded:
            self.client.cut_offs.note_earlier(reply)
        elif self.router is None:
            self.client.cut_offs.count_refused(reply)
        self.replies[job] = reply
        if live is not None and not call.played:
            live[key] = reply
        if self.execution.answered is not None:
            self.execution.answered(reply)
        if route is not None and call.played and not call.played[-1].by:
            await self._compare(job, prompt, reply, call.played[-1].digest, route)
        if (mixture := self.client.model_guard.find_mixture(reply, self.first)) is not None:
            # What is recorded is one item's error; what is being paid for ends the session.
            now = reply.served_model or reply.fingerprint or ""
            mixture += "" if self.router is None else self.router.way_out(self.client)
            raise ServedModelChangedError(mixture, now) if call.recorded else JudgeFixturesError(mixture)
        return call.recorded

    async def _postponed(
        self,
        prompt: str,
        ask: Callable[[str, calls.JudgeCall], Awaitable[R]],
        make: Callable[[], calls.JudgeCall],
        call: calls.JudgeCall,
        route: BatchRoute,
    ) -> tuple[calls.JudgeCall, R | None]:
        """Put a question into a batch, unless it is on its way in one, or ask it at once; some are asked both ways."""
        way, question, repeat = route.choose_way(call), call.question, call.repeat
        reply = None
        if way in ("once", "both"):
            call = make()
            reply = await self._reply(prompt, ask, call)
        else:
            self.postponed = True
        puts = way == "batch" or (way == "both" and reply is not None)
        if puts and question is not None and route.put(question, repeat, prompt, parity=way == "both"):
            self.meter.book(prompt)
        return call, reply

    async def _compare(self, job: Job, prompt: str, reply: R, digest: str, box_asked_now: BatchRoute) -> None:
        """Compare an answer with what a batch answered to the same question, where it was asked both ways.

        Where an earlier batch left it unanswered, the next one asks it.
        """
        _, repeat, pair = job
        if (route := box_asked_now.of_both_ways(digest)) is None:
            return
        # Asked as ever, but nothing is written down: the answer at once is the recorded one.
        call = calls.JudgeCall(pair.id, repeat, lambda _: None, lambda row: row, None, post=route)
        try:
            other = await self.client.ask(prompt, call)
        except calls.AnswerTooLargeError:
            return
        except calls.DeferredToBatchError:
            new = call.question is not None and call.delivered is None
            if new and call.question is not None and route.put(call.question, repeat, prompt, parity=True):
                self.meter.book(prompt)
            return
        self.meter.count(other.usage, by_batch=True)
        models = (reply.served_model, other.served_model)
        route.compare(digest, pair.id, same=reply.decides == other.decides, models=models)

    async def _reply(
        self, prompt: str, ask: Callable[[str, calls.JudgeCall], Awaitable[R]], call: calls.JudgeCall
    ) -> R | None:
        """Return the reply to a call, recorded or new; None where the budget admits no further one."""
        while not self.meter.admits(prompt):
            if self.is_over:
                return None
            await asyncio.sleep(0.01)  # until a call in flight has cost less than was set aside for it
        usage, wasted = None, 0
        try:
            reply = await ask(prompt, call)
            usage, wasted = (reply.usage if call.recorded else None), reply.wasted
        except TruncatedAnswersError as error:
            usage = error.usage
            raise
        except calls.AnswerTooLargeError as error:
            call.failure = None  # an answer all the same, if an invalid one
            reply = self.client.parse_reply(ProviderResponse("", "too-long", str(error)))
            usage = reply.usage if call.recorded else None
        finally:
            self.meter.settle(prompt, usage, wasted, by_batch=call.delivered is not None)
        if call.failure is not None:  # swallowed by code that catches everything
            raise call.failure
        return reply


def _only(row: CassetteRow, _digest: str) -> CassetteRow:
    return row


def _nothing_missing() -> NoReturn:
    raise calls.CassetteMissError
