"""Judgments: a judge asked about pairs in conditions, many calls in flight, each routed to its cassette."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from judgefixtures.cassettes.library import Cassette
from judgefixtures.cassettes.replay import CALL
from judgefixtures.contrasts import Condition
from judgefixtures.costs import Meter
from judgefixtures.judges import Judge, Reply
from judgefixtures.pairs import Pair
from judgefixtures.plans import Plan
from judgefixtures.providers import Usage
from judgefixtures.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Planned:
    """A pair's plan with the tokens that making it cost; None for one that was not asked for."""

    plan: Plan
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a judge said about a pair in a condition, in one of the condition's repeats, and by which plan."""

    pair: Pair
    condition: Condition
    reply: Reply
    repeat: int = 0
    planned: Planned | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict, valid or not, by position: selected_response 1 stood first."""
        return self.reply.verdict

    @property
    def chosen(self) -> Literal[1, 2] | None:
        """Which of the pair's own responses was chosen, wherever it stood; None for an invalid verdict."""
        selected = self.verdict.selected_response
        if selected is None or self.condition.order == "12":
            return selected
        return 2 if selected == 1 else 1


Arm = tuple[Condition, int]  # a condition and one of its repeats
Job = tuple[Condition, int, Pair]
UNTOLD = ("too-large", "filtered")  # an answer that was never made
# Seconds between the first calls. Those that start together are answered together, and then each waits until the
# event loop has dealt with all of them, again and again: that cost a tenth of the throughput.
APART = 0.006
GRACE = 5.0  # seconds for the answers in flight when the run is asked to stop: they are paid for
Ask = Callable[[str], Awaitable[Reply]]


class StoppedError(Exception):
    """The run was asked to stop, and no question was asked since; what arrived is in the cassettes."""


async def collect(
    judge: Judge,
    pairs: Sequence[Pair],
    arms: Sequence[Arm],
    cassettes: Mapping[str, Cassette],
    concurrency: int,
    meter: Meter | None = None,
    answered: Callable[[Judgment], None] | None = None,
    plans: Mapping[str, Planned] | None = None,
    urgency: Callable[[], int] | None = None,
) -> list[tuple[Judgment, ...]]:
    """Return every arm's judgments in the order of the pairs, with `concurrency` calls in flight.

    The window slides over all arms; the first error cancels what is in flight and is raised as it
    is. A meter that admits no further call lets those in flight finish and then raises BudgetError. What was
    answered until then is in the cassettes. `answered` is called with each judgment as it arrives. `plans` are
    those of a judge that plans first, by pair id. Where `urgency` returns 1 nothing further is asked, and what is in
    flight has some seconds; where it returns 2, none. Both end in StoppedError.
    """
    run = _Run(judge, cassettes, meter or Meter(judge.table), answered or (lambda _judgment: None), plans or {})
    jobs = iter([(condition, repeat, pair) for condition, repeat in arms for pair in pairs])
    asking = asyncio.create_task(run.ask_all(jobs, concurrency))
    heeding = None if urgency is None else asyncio.create_task(run.heed(urgency, asking))
    try:
        await asking
    except BaseExceptionGroup as errors:
        raise _first(errors) from None
    except asyncio.CancelledError:
        if not run.stopped:
            raise
    finally:
        if heeding is not None:
            heeding.cancel()
    if run.stopped:
        raise StoppedError
    if run.meter.stopped:
        raise run.meter.exhausted()
    return [tuple(run.judgments[condition.name, repeat, pair.id] for pair in pairs) for condition, repeat in arms]


@dataclass(slots=True)
class _Run:
    judge: Judge
    cassettes: Mapping[str, Cassette]
    meter: Meter
    answered: Callable[[Judgment], None]
    plans: Mapping[str, Planned]
    judgments: dict[tuple[str, int, str], Judgment] = field(default_factory=dict)
    workers: set[asyncio.Task[None]] = field(default_factory=set)
    stopped: bool = False

    async def ask_all(self, jobs: Iterator[Job], concurrency: int) -> None:
        """Ask one question alone, then the others, so many at a time."""
        await self.probe(jobs)
        async with asyncio.TaskGroup() as group:
            self.workers |= {group.create_task(self.work(jobs, after=number * APART)) for number in range(concurrency)}

    async def heed(self, urgency: Callable[[], int], asking: asyncio.Task[None]) -> None:
        """Stop when asked to: at once what waits for its turn, after some seconds what is in flight."""
        while not urgency():
            await asyncio.sleep(0.1)
        self.stopped = True
        end = asyncio.get_running_loop().time() + GRACE
        while urgency() < 2 and asyncio.get_running_loop().time() < end:
            in_flight = self.judge.pace.in_flight & {asking, *self.workers}
            if not in_flight:
                break
            for task in self.workers - in_flight:
                task.cancel()
            await asyncio.sleep(0.05)
        asking.cancel()

    async def probe(self, jobs: Iterator[Job]) -> None:
        """Ask alone until a question went over the network: it finds bad keys and rejected parameters for one call."""
        if all(cassette.mode == "none" for cassette in self.cassettes.values()):
            return
        self.meter.check()
        if not self.judge.probed:
            await self.judge.look_up_shutdown()
        while not (self.judge.probed or self.meter.stopped or self.stopped) and (job := next(jobs, None)) is not None:
            recorded = await self._ask(job, self.judge.probe)
            condition, repeat, pair = job
            answered = self.judgments.get((condition.name, repeat, pair.id))
            # An error that concerns this pair alone says nothing of the parameters.
            self.judge.probed = recorded and answered is not None and answered.verdict.invalid not in UNTOLD

    async def work(self, jobs: Iterator[Job], after: float) -> None:
        """Take the next job, which all workers share, until there is none or the budget is used up."""
        if after:
            await asyncio.sleep(after)
        while not (self.meter.stopped or self.stopped) and (job := next(jobs, None)) is not None:
            await self._ask(job, self.judge.ask)

    async def _ask(self, job: Job, ask: Ask) -> bool:
        """Ask about one pair in one condition; return whether the answer was new, not a recorded one."""
        condition, repeat, pair = job
        cassette = self.cassettes[condition.name]
        planned = self.plans.get(pair.id)
        plan = None if planned is None else planned.plan
        # A judge of the user's own making need not know of plans.
        prompt = self.judge.prompt(pair, condition) if plan is None else self.judge.prompt(pair, condition, plan)
        while not self.meter.admits(prompt):
            if self.meter.stopped or self.stopped:
                return False
            await asyncio.sleep(0.01)  # until a call in flight has cost less than was set aside for it
        call = cassette.call(pair, repeat, eager=self.judge.is_python, plan="" if plan is None else plan.digest)
        token = CALL.set(call)
        usage, wasted = None, 0
        try:
            reply = await ask(prompt)
            usage, wasted = (reply.usage if call.recorded else None), reply.wasted
        finally:
            CALL.reset(token)
            self.meter.settle(prompt, usage, wasted)
        if call.failure is not None:  # swallowed by code that catches everything
            raise call.failure
        cassette.used_by(call)
        judgment = Judgment(pair, condition, reply, repeat, planned)
        self.judgments[condition.name, repeat, pair.id] = judgment
        self.answered(judgment)
        return call.recorded


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
