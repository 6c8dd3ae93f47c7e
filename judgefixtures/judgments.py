"""Judgments: a judge asked about pairs in conditions, many calls in flight, each routed to its cassette."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from judgefixtures.cassettes.library import Cassette
from judgefixtures.cassettes.replay import CALL, AnswerTooLargeError
from judgefixtures.contrasts import Condition
from judgefixtures.costs import Meter
from judgefixtures.judges import CutOffError, Judge, Reply
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
Ask = Callable[[str], Awaitable[Reply]]


async def collect(
    judge: Judge,
    pairs: Sequence[Pair],
    arms: Sequence[Arm],
    cassettes: Mapping[str, Cassette],
    concurrency: int,
    meter: Meter | None = None,
    answered: Callable[[Judgment], None] | None = None,
    plans: Mapping[str, Planned] | None = None,
) -> list[tuple[Judgment, ...]]:
    """Return every arm's judgments in the order of the pairs, with `concurrency` calls in flight.

    The window slides over all arms; the first error cancels what is in flight and is raised as it
    is. A meter that admits no further call lets those in flight finish and then raises BudgetError. What was
    answered until then is in the cassettes. `answered` is called with each judgment as it arrives. `plans` are
    those of a judge that plans first, by pair id.
    """
    run = _Run(judge, cassettes, meter or Meter(judge.table), answered or (lambda _judgment: None), plans or {})
    jobs = iter([(condition, repeat, pair) for condition, repeat in arms for pair in pairs])
    await run.probe(jobs)
    try:
        async with asyncio.TaskGroup() as group:
            for number in range(concurrency):
                group.create_task(run.work(jobs, after=number * APART))
    except BaseExceptionGroup as errors:
        raise _first(errors) from None
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

    async def probe(self, jobs: Iterator[Job]) -> None:
        """Ask alone until a question went over the network: it finds bad keys and rejected parameters for one call."""
        if all(cassette.mode == "none" for cassette in self.cassettes.values()):
            return
        self.meter.check()
        if not self.judge.probed:
            await self.judge.look_up_shutdown()
        while not self.judge.probed and not self.meter.stopped and (job := next(jobs, None)) is not None:
            recorded = await self._ask(job, self.judge.probe)
            condition, repeat, pair = job
            answered = self.judgments.get((condition.name, repeat, pair.id))
            # An error that concerns this pair alone says nothing of the parameters.
            self.judge.probed = recorded and answered is not None and answered.verdict.invalid not in UNTOLD

    async def work(self, jobs: Iterator[Job], after: float) -> None:
        """Take the next job, which all workers share, until there is none or the budget is used up."""
        if after:
            await asyncio.sleep(after)
        while not self.meter.stopped and (job := next(jobs, None)) is not None:
            if await self._ask(job, self.judge.ask):
                condition, repeat, pair = job
                self.judge.count_cut_off(self.judgments[condition.name, repeat, pair.id].reply)

    async def _ask(self, job: Job, ask: Ask) -> bool:
        """Ask about one pair in one condition; return whether the answer was new, not a recorded one."""
        condition, repeat, pair = job
        cassette = self.cassettes[condition.name]
        planned = self.plans.get(pair.id)
        plan = None if planned is None else planned.plan
        # A judge of the user's own making need not know of plans.
        prompt = self.judge.prompt(pair, condition) if plan is None else self.judge.prompt(pair, condition, plan)
        while not self.meter.admits(prompt):
            if self.meter.stopped:
                return False
            await asyncio.sleep(0.01)  # until a call in flight has cost less than was set aside for it
        call = cassette.call(pair, repeat, eager=self.judge.is_python, plan="" if plan is None else plan.digest)
        token = CALL.set(call)
        usage, wasted = None, 0
        try:
            reply = await ask(prompt)
            usage, wasted = (reply.usage if call.recorded else None), reply.wasted
        except CutOffError as error:
            usage = error.usage
            raise
        except AnswerTooLargeError as error:
            call.failure = None  # an answer all the same, if an invalid one
            reply = Reply(Verdict(None, "", "too-long"), str(error))
            usage = reply.usage if call.recorded else None
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
