"""Pacing: as many calls at a time as a server takes, on a clock that only moves when everybody waits."""

import asyncio
import bisect
import itertools
import random
import selectors
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asking import a_judge, rows, run, some_pairs
from support.server import SDKS, Answer, Asked, good, problem, serving, wire

from judgefixtures.client import rate_limiter, retry
from judgefixtures.client.rate_limiter import RateLimiter
from judgefixtures.judges.judge import FatalJudgeError
from judgefixtures.providers import RateLimitQuota
from judgefixtures.util.errors import JudgeFixturesError

pytestmark = pytest.mark.usefixtures("quick_and_alone")


# --- a clock of our own -----------------------------------------------------------------------------------------


class Clock(selectors.DefaultSelector):
    """A selector that does not wait but moves the time on; it fails a test in which nothing can happen any more."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> Any:
        """Return what is ready, and let the time pass that would have been waited."""
        if timeout is None:
            raise AssertionError("everybody waits, and nothing will wake anybody")
        self.now += max(timeout, 0.0)
        return super().select(0)


class ClockedLoop(asyncio.SelectorEventLoop):
    """An event loop that tells the clock's time."""

    def __init__(self) -> None:
        self.clock = Clock()
        super().__init__(self.clock)

    def time(self) -> float:
        """Return the clock's time."""
        return self.clock.now


def clocked(main: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine on the clock."""
    with asyncio.Runner(loop_factory=ClockedLoop) as runner:
        return runner.run(main)


@dataclass
class Calls:
    """Makes calls under a pace, and knows when each started and ended, and how many were in flight."""

    pace: RateLimiter
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    in_flight: int = 0
    most: int = 0

    async def call(self, seconds: float = 1.0) -> None:
        """Make one call that takes some seconds."""
        async with self.pace.call():
            self.starts.append(now())
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            try:
                await asyncio.sleep(seconds)
            finally:
                self.in_flight -= 1
                self.ends.append(now())

    async def many(self, count: int, seconds: float = 1.0) -> int:
        """Make calls together and return how many of these were in flight at most."""
        self.most = self.in_flight
        await asyncio.gather(*(self.call(seconds) for _ in range(count)))
        return self.most


def now() -> float:
    """Return the loop's time."""
    return asyncio.get_running_loop().time()


# --- the pace ---------------------------------------------------------------------------------------------------


def test_without_a_429_all_calls_start_at_once() -> None:
    """A pace that was never told to slow down holds nothing back."""

    async def main() -> None:
        calls = Calls(RateLimiter())
        assert await calls.many(200) == 200
        assert set(calls.starts) == {1000.0}

    clocked(main())


def gaps(starts: Sequence[float]) -> list[float]:
    """Return the seconds between starts."""
    return [after - before for before, after in itertools.pairwise(starts)]


@pytest.mark.parametrize("rate", [2, 8, 40])
def test_a_429_halves_the_pace(rate: int) -> None:
    """After a 429 the next call comes after twice the time, and those that follow sooner and sooner."""

    async def main() -> None:
        calls = Calls(RateLimiter(60 * rate))
        await calls.many(5 * rate, seconds=0.0)
        refused = now()
        calls.pace.refused(refused)
        started = len(calls.starts)
        await calls.many(3, seconds=0.0)
        waited = gaps([refused, *calls.starts[started:]])
        assert waited[0] == pytest.approx(2 / rate, rel=0.1)
        assert waited == sorted(waited, reverse=True)
        assert waited[-1] > 1.2 / rate

    clocked(main())


def test_one_burst_of_429s_halves_once() -> None:
    """Calls that were on their way when the pace was halved say nothing of the new pace."""

    async def main() -> None:
        calls = Calls(RateLimiter(600))
        await calls.many(40, seconds=0.0)
        for start in calls.starts[-8:]:
            calls.pace.refused(start)
        started = len(calls.starts)
        await calls.many(3, seconds=0.0)
        assert gaps(calls.starts[started:]) == pytest.approx([0.2] * 2, rel=0.25)

    clocked(main())


def test_nothing_starts_for_the_asked_time() -> None:
    """After a 429 no call starts before the asked seconds are over, neither one that waits nor one that comes."""

    async def main() -> None:
        calls = Calls(RateLimiter())
        first = [asyncio.create_task(calls.call(2.0)) for _ in range(4)]
        await asyncio.sleep(1.0)
        calls.pace.refused(1000.0, 7.0)
        await asyncio.gather(*first, *(calls.call() for _ in range(6)))
        assert calls.starts[:4] == [1000.0] * 4
        assert min(calls.starts[4:]) >= 1008.0
        assert len(calls.ends) == 10

    clocked(main())


def test_a_later_wait_pushes_the_start_further_and_an_earlier_one_does_not_pull_it() -> None:
    """Calls that wait for their turn wait for the longest of what was asked."""

    async def main() -> None:
        calls = Calls(RateLimiter())
        calls.pace.hold(5.0)
        waiting = asyncio.create_task(calls.call())
        await asyncio.sleep(3.0)
        calls.pace.hold(10.0)
        calls.pace.hold(1.0)
        await waiting
        assert calls.starts == [1013.0]

    clocked(main())


@pytest.mark.parametrize("limit", [0.5, 5.0])
def test_the_pace_recovers_within_a_minute(limit: float) -> None:
    """A server that refused nearly everything and then takes all of it is asked 20 times a second a minute later."""

    async def main() -> None:
        served = Served(limiting_to(limit))
        until = asyncio.create_task(served.ask(10_000))
        await asyncio.sleep(90.0)
        served.accepts = lambda _at: True
        await asyncio.sleep(60.0)
        before = len(served.answers)
        await asyncio.sleep(5.0)
        assert len(served.answers) - before >= 100
        until.cancel()

    clocked(main())


# --- servers with a limit, in no time ---------------------------------------------------------------------------


def limiting_to(rate: float, burst: float = 1.0) -> Callable[[float], bool]:
    """Return a limit of so many calls a second, of which `burst` may come at once."""
    tokens, filled = burst, 0.0

    def accepts(at: float) -> bool:
        nonlocal tokens, filled
        tokens, filled = min(burst, tokens + (at - filled) * rate), at
        accepted = tokens >= 1.0
        tokens -= accepted
        return accepted

    return accepts


def by_the_second(rate: int) -> Callable[[float], bool]:
    """Return a limit that is counted anew with each second."""
    count: Counter[int] = Counter()

    def accepts(at: float) -> bool:
        count[int(at)] += 1
        return count[int(at)] <= rate

    return accepts


@dataclass
class Served:
    """A server that refuses in 20 ms and answers in half a second, asked under a pace until everything is answered."""

    accepts: Callable[[float], bool]
    seconds: float = 0.5
    pace: RateLimiter = field(default_factory=RateLimiter)
    answers: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    refusals: int = 0
    asks_to_wait: float | None = None

    async def ask(self, count: int, concurrency: int = 16) -> float:
        """Ask so many questions and return the seconds that it took."""
        jobs, begun = iter(range(count)), now()

        async def work(after: float) -> None:
            await asyncio.sleep(after)
            for _ in jobs:
                while not await self._answered():
                    pass

        await asyncio.gather(*(work(0.006 * number) for number in range(concurrency)))
        return now() - begun

    async def _answered(self) -> bool:
        async with self.pace.call() as started:
            self.starts.append(now())
            accepted = self.accepts(now())
            await asyncio.sleep(self.seconds if accepted else 0.02)
        if accepted:
            self.pace.answered(started)
            self.answers.append(now())
        else:
            self.pace.refused(started, self.asks_to_wait)
            self.refusals += 1
        return accepted


@pytest.mark.parametrize("seconds", [0.01, 0.5, 1.5])
@pytest.mark.parametrize("limit", [2, 10])
@pytest.mark.parametrize("kind", [lambda limit: limiting_to(limit, limit), by_the_second], ids=["bucket", "second"])
def test_a_limit_is_used(kind: Callable[[int], Callable[[float], bool]], limit: int, seconds: float) -> None:
    """200 calls to a server of 2 or 10 a second, which says no word of its limit, get four fifths of it."""

    async def main() -> tuple[float, int]:
        served = Served(kind(limit), seconds)
        return await served.ask(200), served.refusals

    took, refusals = clocked(main())
    assert 200 / took >= 0.8 * limit
    assert refusals < 250


def test_refusals_that_have_nothing_to_do_with_the_pace_do_not_stop_it() -> None:
    """Where every second call is refused, however fast they come, halving the pace ends: 200 answers in minutes."""

    async def main() -> tuple[float, int]:
        turns = itertools.count()
        served = Served(lambda _at: next(turns) % 2 == 0)
        return await served.ask(200), served.refusals

    took, refusals = clocked(main())
    assert took < 180.0
    assert refusals in (199, 200)


# --- after a storm ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0.1, 1.0])
@pytest.mark.parametrize("asks_to_wait", [None, 1.0, 10.0])
@pytest.mark.parametrize("storm", [10.0, 110.0])
def test_throughput_is_back_within_a_minute_after_a_storm(
    storm: float, asks_to_wait: float | None, seconds: float
) -> None:
    """However long everything was refused, and however fast the server is: a minute later it answers as before."""

    async def main() -> tuple[float, float]:
        served = Served(lambda _at: True, seconds, asks_to_wait=asks_to_wait)
        until = asyncio.create_task(served.ask(100_000))
        await asyncio.sleep(20.0)
        before = len(served.answers) / 20.0
        served.accepts = lambda _at: False
        await asyncio.sleep(storm)
        assert served.refusals < 800
        served.accepts = lambda _at: True
        await asyncio.sleep(50.0)
        answers = len(served.answers)
        await asyncio.sleep(10.0)
        until.cancel()
        return before, (len(served.answers) - answers) / 10.0

    before, after = clocked(main())
    assert after >= 0.95 * before


@pytest.mark.parametrize("limit", [2, 10])
def test_a_storm_does_not_hide_a_limit(limit: int) -> None:
    """A server with a limit of its own is asked no faster after a storm than it answered before, and wholly used."""

    async def main() -> tuple[int, int]:
        accepts = limiting_to(limit, limit)
        served = Served(accepts)
        until = asyncio.create_task(served.ask(100_000))
        await asyncio.sleep(60.0)
        served.accepts = lambda _at: False
        await asyncio.sleep(60.0)
        served.accepts, refusals, answers = accepts, served.refusals, len(served.answers)
        await asyncio.sleep(60.0)
        until.cancel()
        return len(served.answers) - answers, served.refusals - refusals

    answers, refusals = clocked(main())
    assert answers >= 0.75 * 60 * limit
    assert refusals <= 40


@pytest.mark.parametrize("pause", ["hold", "refused", "heed"])
def test_those_that_waited_do_not_rush_in(pause: str) -> None:
    """After a pause, of whatever kind, 64 waiting calls start one after the other, at no more than the pace before."""

    async def main() -> list[float]:
        served = Served(lambda _at: True)
        until = asyncio.create_task(served.ask(100_000, concurrency=64))
        await asyncio.sleep(5.0)
        match pause:
            case "hold":
                served.pace.hold(20.0)
            case "refused":
                served.pace.refused(now(), 20.0)
            case "heed":
                served.pace.follow_quotas([RateLimitQuota(0.0, 20.0, 500.0)])
        started = len(served.starts)
        await asyncio.sleep(30.0)
        until.cancel()
        return served.starts[started:]

    starts = clocked(main())
    assert starts[0] >= 1025.0
    for length in (0.1, 1.0):
        busiest = max(bisect.bisect(starts, start + length) - place for place, start in enumerate(starts))
        assert busiest <= 130 * length + 1  # 64 calls in half a second are 128 a second


# --- servers that tell their limits -----------------------------------------------------------------------------


@dataclass
class Told(Served):
    """A server that says with every answer what is left of its limit, as a bucket that fills or counted anew."""

    limit: int = 600
    period: float = 60.0
    anew: bool = False
    tells_limit: bool = True
    left: float = -1.0
    at: float = 1000.0

    def takes(self) -> bool:
        """Take one from what is left, if there is one."""
        filled = (now() - self.at) * self.limit / self.period
        fresh = self.left < 0 or (self.anew and int(now() / self.period) != int(self.at / self.period))
        self.left = self.limit if fresh else min(self.limit, self.left + (0.0 if self.anew else filled))
        self.at = now()
        taken = self.left >= 1.0
        self.left -= taken
        return taken

    @property
    def said(self) -> list[RateLimitQuota]:
        """What is left, and in how many seconds all of it is there again."""
        seconds = (self.limit - self.left) * self.period / self.limit
        if self.anew:
            seconds = self.period - now() % self.period
        return [RateLimitQuota(float(int(self.left)), seconds, float(self.limit) if self.tells_limit else None)]

    async def _answered(self) -> bool:
        async with self.pace.call() as started:
            taken, said = self.takes(), self.said
            await asyncio.sleep(self.seconds if taken else 0.02)
            if taken:
                self.pace.follow_quotas(said)
        if taken:
            self.pace.answered(started)
            self.answers.append(now())
        else:
            self.pace.refused(started)
            self.refusals += 1
        return taken


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize("seconds", [0.5, 3.0])
@pytest.mark.parametrize("limit", [60, 600])
@pytest.mark.parametrize("tells_limit", [True, False], ids=["limit", "left"])
@pytest.mark.parametrize("anew", [False, True], ids=["bucket", "minute"])
def test_a_limit_that_is_told_is_used_and_not_exceeded(
    anew: bool, tells_limit: bool, limit: int, seconds: float
) -> None:
    """In ten minutes nine tenths of the limit are used, and hardly a call is refused, however the limit is counted."""

    async def main() -> tuple[int, int]:
        served = Told(lambda _at: True, seconds, limit=limit, anew=anew, tells_limit=tells_limit)
        until = asyncio.create_task(served.ask(100_000, concurrency=64 if limit == 600 else 16))
        await asyncio.sleep(600.0)
        until.cancel()
        return len(served.answers), served.refusals

    answers, refusals = clocked(main())
    assert answers >= 0.9 * 10 * limit
    assert refusals <= (0 if tells_limit else 0.01 * answers + 10)


def test_a_limit_that_is_full_again_slows_nobody_down() -> None:
    """What was scarce before, and is plenty now, holds nothing back: no call waits for a pace of yesterday."""

    async def main() -> None:
        calls = Calls(RateLimiter())
        calls.pace.follow_quotas([RateLimitQuota(3.0, 60.0, 100.0)])
        await calls.many(1, seconds=0.0)
        waiting = asyncio.create_task(calls.many(8, seconds=0.0))
        await asyncio.sleep(2.0)
        assert len(calls.starts) == 1
        calls.pace.follow_quotas([RateLimitQuota(99.0, 1.0, 100.0)])
        await waiting
        assert calls.starts[-1] <= 1000.0 + 2.0 + rate_limiter.LOOK_AGAIN

    clocked(main())


def test_what_is_told_to_one_worker_slows_the_others_down(tmp_path: Path) -> None:
    """Calls of all workers together last until the reset, and those in flight elsewhere count as used."""

    async def main() -> None:
        one, two = Calls(RateLimiter()), Calls(RateLimiter())
        for calls in (one, two):
            calls.pace.share(tmp_path, "mine", 8)
        one.pace.follow_quotas([RateLimitQuota(10.0, 60.0, 100.0)])
        await asyncio.gather(one.many(3, seconds=0.0), two.many(3, seconds=0.0))
        assert min(gaps(sorted([*one.starts, *two.starts]))) >= 5.9
        busy = asyncio.create_task(two.many(3, seconds=100.0))
        await asyncio.sleep(30.0)
        at = now()
        one.pace.follow_quotas([RateLimitQuota(2.0, 30.0, 100.0)])  # three are in flight at the other's
        await one.many(1, seconds=0.0)
        assert one.starts[-1] >= at + 30.0
        await busy

    clocked(main())


# --- requests_per_minute ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "spacing"), [(60, 1.0), (600.0, 0.1), (7.5, 8.0)])
def test_requests_per_minute_space_the_starts(rate: float, spacing: float) -> None:
    """Starts are 60 / rate seconds apart, however many calls wait and however long they take."""

    async def main() -> None:
        calls = Calls(RateLimiter(rate))
        await calls.many(12, seconds=3.3)
        assert [start - 1000.0 for start in calls.starts] == pytest.approx([spacing * place for place in range(12)])

    clocked(main())


def test_time_that_was_not_used_is_not_made_up_for() -> None:
    """After a pause there is no burst: the rate holds between any two starts."""

    async def main() -> None:
        calls = Calls(RateLimiter(60))
        await calls.many(3, seconds=0.0)
        await asyncio.sleep(30.0)
        await calls.many(3, seconds=0.0)
        assert [start - 1000.0 for start in calls.starts] == pytest.approx([0.0, 1.0, 2.0, 32.0, 33.0, 34.0])

    clocked(main())


def test_rate_and_wait_hold_together() -> None:
    """Under a rate, starts are still spaced after a wait that a server asked for."""

    async def main() -> None:
        calls = Calls(RateLimiter(60))
        calls.pace.hold(10.0)
        await calls.many(3, seconds=0.1)
        assert [start - 1000.0 for start in calls.starts] == pytest.approx([10.0, 11.0, 12.0])

    clocked(main())


@pytest.mark.parametrize("sdk", SDKS)
def test_requests_per_minute_of_the_table_hold_on_the_wire(sdk: str, tmp_path: Path) -> None:
    """A judge with requests_per_minute asks no faster, retries included."""
    answers = [wire(problem("Later."), 500) if place % 4 == 3 else good(sdk) for place in range(9)]
    with serving(*answers) as server:
        run(a_judge(sdk, server.url, requests_per_minute=600.0), tmp_path, some_pairs(8))
    assert len(server.asked) == 10
    # From the second on: the first start is followed by the making of a client.
    assert server.asked[-1].at - server.asked[1].at >= 8 * 0.1 - 0.15


# --- nothing is lost --------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 40),
    rate=st.none() | st.sampled_from([30.0, 600.0]),
    cancelled=st.integers(0, 12),
)
def test_whatever_happens_every_call_ends(seed: int, count: int, rate: float | None, cancelled: int) -> None:
    """With 429s, answers and cancellations in any order, all other calls are made, and no place stays taken."""
    chance = random.Random(seed)

    async def main() -> None:
        calls = Calls(RateLimiter(rate))

        async def disturb() -> None:
            for _ in range(15):
                await asyncio.sleep(chance.uniform(0.0, 3.0))
                if chance.random() < 0.5:
                    calls.pace.refused(now() - chance.uniform(0.0, 3.0), chance.choice([None, 0.0, 5.0]))
                else:
                    calls.pace.answered(now() - chance.uniform(0.0, 3.0))

        tasks = [asyncio.create_task(calls.call(chance.uniform(0.0, 3.0))) for _ in range(count)]
        disturbing = asyncio.create_task(disturb())
        doomed = chance.sample(tasks, min(cancelled, count))
        for task in doomed:
            await asyncio.sleep(chance.choice([0.0, 0.0, 0.5, 4.0]))
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await disturbing
        assert all(end is None or task in doomed for task, end in zip(tasks, ended, strict=True))
        assert len(calls.starts) == len(calls.ends) >= count - len(doomed)
        assert calls.pace.in_flight == set()

    clocked(main())


def test_a_cancelled_call_leaves_nothing(tmp_path: Path) -> None:
    """Whenever a call is cancelled, waiting or in flight, the next one gets its place, also among workers."""

    async def main() -> None:
        calls = Calls(RateLimiter(60))
        calls.pace.share(tmp_path, "mine", 1)
        doomed = [asyncio.create_task(calls.call(60.0)) for _ in range(3)]
        await asyncio.sleep(5.0)
        for task in doomed:
            task.cancel()
        await asyncio.gather(*doomed, return_exceptions=True)
        assert calls.pace.in_flight == set()
        assert len(calls.starts) == 1
        await calls.call(0.0)
        assert len(calls.ends) == 2

    clocked(main())


def test_an_error_in_a_call_leaves_its_place(tmp_path: Path) -> None:
    """A call that raises frees its place like one that returns, and the error arrives."""

    async def failing(pace: RateLimiter) -> None:
        async with pace.call():
            raise JudgeFixturesError("no such thing")

    async def main() -> None:
        calls = Calls(RateLimiter())
        calls.pace.share(tmp_path, "mine", 1)
        for _ in range(3):
            with pytest.raises(JudgeFixturesError, match="no such thing"):
                await failing(calls.pace)
        assert await calls.many(2) == 1

    clocked(main())


# --- workers ----------------------------------------------------------------------------------------------------


def test_workers_share_places_and_pace(tmp_path: Path) -> None:
    """However many keep pace in one folder, so many calls are in flight in all, and starts are spaced as for one."""

    async def main() -> None:
        workers = [Calls(RateLimiter(600)) for _ in range(3)]
        for worker in workers:
            worker.pace.share(tmp_path, "mine", 4)
        in_flight: list[int] = []

        async def watch() -> None:
            while True:
                in_flight.append(sum(worker.in_flight for worker in workers))
                await asyncio.sleep(0.05)

        watching = asyncio.create_task(watch())
        await asyncio.gather(*(worker.many(5) for worker in workers))
        watching.cancel()
        assert max(in_flight) == 4
        starts = sorted(itertools.chain(*(worker.starts for worker in workers)))
        assert len(starts) == 15
        assert min(gaps(starts)) >= 0.1 - 1e-6

    clocked(main())


def test_a_429_of_one_worker_slows_the_others_down(tmp_path: Path) -> None:
    """What one learns of the server's limit holds for all of the same judge, and for no other judge."""

    async def main() -> None:
        one, two, other = Calls(RateLimiter()), Calls(RateLimiter()), Calls(RateLimiter())
        for calls, judge in ((one, "mine"), (two, "mine"), (other, "yours")):
            calls.pace.share(tmp_path, judge, 16)
        await one.many(1)
        one.pace.refused(1000.0, 20.0)
        await asyncio.gather(two.many(1), other.many(1))
        assert two.starts == [1021.0]
        assert other.starts == [1001.0]

    clocked(main())


@pytest.mark.parametrize("torn", ["", "{", '{"next_start": 1.0', "[]", '{"no_such": 1}'])
def test_a_worker_that_was_killed_stops_nobody(torn: str, tmp_path: Path) -> None:
    """What a worker left half written is no news of the server: the others begin anew."""

    async def main() -> None:
        calls = Calls(RateLimiter())
        calls.pace.share(tmp_path, "mine", 2)
        await calls.many(2)
        (state,) = tmp_path.glob("*.pace")
        state.write_text(torn)
        await calls.many(2)
        assert len(calls.ends) == 4

    clocked(main())


# --- against a server -------------------------------------------------------------------------------------------


def limiting(sdk: str, most: int, seconds: float, **headers: str) -> Callable[[Any], Callable[[Asked], Answer]]:
    """Return an answering that says 429 above some requests in flight."""

    def bound(server: Callable[[], Any]) -> Callable[[Asked], Answer]:
        def answering(_asked: Asked) -> Answer:
            if server().in_flight > most:
                return wire(problem("Too many requests."), 429, **headers)
            time.sleep(seconds)
            return good(sdk)

        return answering

    return bound


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("headers", [{"retry_after_ms": "30"}, {}], ids=["named", "unnamed"])
@pytest.mark.slow
def test_a_server_with_a_limit_in_flight_is_adapted_to(sdk: str, headers: dict[str, str], tmp_path: Path) -> None:
    """60 pairs at 16 in flight against a server that takes 4: all are answered, once, with few 429s on the way."""
    servers: list[Any] = []
    with serving(by=limiting(sdk, 4, 0.3, **headers)(lambda: servers[0])) as server:
        servers.append(server)
        judge = a_judge(sdk, server.url, max_attempts=6)
        judgments = run(judge, tmp_path, some_pairs(60), concurrency=16)
    assert [judgment.verdict.selected_response for judgment in judgments] == [2] * 60
    assert len({row["pair"] for row in rows(tmp_path)}) == len(rows(tmp_path)) == 60
    assert len(server.asked) == 60 + judge.retries
    assert 0 < judge.retries < 60


@pytest.mark.slow
def test_a_429_holds_the_other_calls_too(tmp_path: Path) -> None:
    """While one call waits for the time that its 429 asked for, no other call starts."""
    told: list[float] = []

    def answering(asked: Asked) -> Answer:
        if asked.number == 4 and not told:
            told.append(time.monotonic())
            return wire(problem("Too many requests."), 429, retry_after="1.0")
        time.sleep(0.02)
        return good("openai")

    with serving(by=answering) as server:
        run(a_judge("openai", server.url), tmp_path, some_pairs(40), concurrency=4)
    after = [asked.at - told[0] for asked in server.asked if asked.at > told[0]]
    assert len(after) > 30
    # What was on its way when the 429 arrived is on its way.
    assert [gap for gap in after if 0.4 < gap < 0.97] == []
    assert min(gap for gap in after if gap > 0.4) >= 0.97


def test_other_faults_hold_nobody(tmp_path: Path) -> None:
    """A 503 with a long Retry-After is waited for by its own call alone."""
    turns = itertools.count()

    def answering(asked: Asked) -> Answer:
        if asked.number == 4 and next(turns) == 0:
            return wire(problem("One of our nodes is away."), 503, retry_after="1.5")
        return good("openai")

    with serving(by=answering) as server:
        run(a_judge("openai", server.url), tmp_path, some_pairs(40), concurrency=4)
    late = [asked.number for asked in server.asked if asked.at - server.asked[0].at > 1.4]
    assert late == [4]


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("refuses", ["above 40 a second", "every second call"])
@pytest.mark.slow
def test_answers_that_keep_arriving_keep_the_run_alive(
    sdk: str, refuses: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 calls to a server that refuses without a word of when: all are answered, though one had no second attempt.

    The times are a twentieth of the real ones.
    """
    quick(monkeypatch)
    accepts, turns = limiting_to(40, 2), itertools.count()
    lock = threading.Lock()

    def answering(asked: Asked) -> Answer:
        with lock:
            accepted = accepts(asked.at) if refuses.startswith("above") else next(turns) % 2 == 0
        return good(sdk) if accepted else wire(problem("Too many requests."), 429)

    with serving(by=answering) as server:
        judge = a_judge(sdk, server.url, max_attempts=1)
        judgments = run(judge, tmp_path, some_pairs(200))
    assert [judgment.verdict.selected_response for judgment in judgments] == [2] * 200
    assert len(server.asked) == 200 + judge.retries
    assert len(rows(tmp_path)) == 200


def quick(monkeypatch: pytest.MonkeyPatch, by: float = 20.0) -> None:
    """Let the pace recover and give up so much sooner."""
    for name in ("SHORTEST_WAY", "LONGEST_WAY", "TRIAL", "SPAN", "LOOK_AGAIN"):
        monkeypatch.setattr(rate_limiter, name, getattr(rate_limiter, name) / by)
    for name in ("SLOWEST", "GENTLE"):
        monkeypatch.setattr(rate_limiter, name, getattr(rate_limiter, name) * by)


@pytest.mark.parametrize("status", [429, 503, 529])
def test_an_outage_is_sat_out(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that loads its model, or answers nobody, is waited for longer than max_attempts, by the probe too."""
    quick(monkeypatch)
    monkeypatch.setattr(retry, "LONGEST_BACKOFF", 0.05)
    loading = [wire(problem("Loading model"), status)] * 9
    with serving(*loading, good("openai")) as server:
        judgments = run(a_judge("openai", server.url, max_attempts=2), tmp_path, some_pairs(3))
    assert [judgment.verdict.selected_response for judgment in judgments] == [2] * 3
    assert len(server.asked) == 9 + 3


@pytest.mark.parametrize("status", [429, 503])
def test_an_outage_that_stays_ends_the_run(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody is answered for as long as a run can wait, it ends once, and says how long it waited."""
    quick(monkeypatch)
    monkeypatch.setattr(retry, "LONGEST_BACKOFF", 0.05)
    monkeypatch.setattr(retry, "LONGEST_WAIT", 1.0)
    with (
        serving(wire(problem("Not now."), status)) as server,
        pytest.raises(FatalJudgeError, match=r"no answer after .* attempts in 1 s.*Not now.*--judge-record missing"),
    ):
        run(a_judge("openai", server.url, max_attempts=2), tmp_path, some_pairs(3))
    assert server.asked[-1].at - server.asked[0].at >= 0.4


@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_probe_waits_as_asked(status: int, tmp_path: Path) -> None:
    """However often the first question is refused with a time, none follows before that time."""
    later = wire(problem("Later."), status, retry_after="0.4")
    with serving(later, later, later, good("openai")) as server:
        run(a_judge("openai", server.url), tmp_path, some_pairs(1))
    assert len(server.asked) >= 4
    assert min(gaps([asked.at for asked in server.asked[:4]])) >= 0.4


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("kind", ["", "_requests", "_tokens"])
@pytest.mark.slow
def test_a_quota_that_is_used_up_is_waited_for(sdk: str, kind: str, tmp_path: Path) -> None:
    """An answer that says that nothing is left until a reset is followed by no question before it, and by no 429."""

    def answering(asked: Asked) -> Answer:
        left = {
            f"x_ratelimit_remaining{kind}": "0" if asked.number == 2 else "90000",
            f"x_ratelimit_reset{kind}": "600ms",
        }
        answer = good(sdk)
        return Answer(answer.status, answer.body, {**answer.headers, **left})

    with serving(by=answering) as server:
        run(a_judge(sdk, server.url), tmp_path, some_pairs(6), concurrency=1)
    assert [gap >= 0.6 for gap in gaps([asked.at for asked in server.asked])] == [False, False, True, False, False]
