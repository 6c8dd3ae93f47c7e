"""Rate limiter: how many calls per second a judge may start.

A 429 halves the rate, which recovers along a cubic curve within a minute (TCP CUBIC: Ha, Rhee and Xu 2008, DOI
10.1145/1400097.1400105). A stated quota is spread until its reset.
"""

import asyncio
import contextlib
import hashlib
import json
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judgefixtures.providers import RateLimitQuota

RATE_LIMITED = 429

SLOWEST = 0.1  # calls a second, whatever is refused
GENTLE = 1.0  # calls per second that are not a burden: slower only where most of them are refused
AGAIN = 4.0  # calls a second, at least, after a pause before which nothing was refused
MOSTLY = 0.4  # share of answers below which most are refused
ROUND = 10  # calls that must have come back before the pace is halved again
WAY_BACK = 30.0  # calls until the pace is where it was when it was halved
SHORTEST_WAY, LONGEST_WAY = 2.0, 10.0  # seconds for the way back, at least and at most
KEPT = 0.9  # share of what the server was answering, which halving does not go below
TRIAL = 6.0  # seconds that a round must take to tell whether halving helped: limits are often by the second
UNHELPED = 1.1  # halving raises the share of answers by more than this, where it is the pace that is refused
IN_RESERVE = 0.5  # share of a limit that a server tells: where more is left, calls start freely
LOOK_AGAIN = 1.0  # seconds until a call that waits looks whether it may start sooner
SPAN = 2.0  # seconds over which answers are counted
POLL = 0.02  # seconds until a place among all workers is looked for again


@dataclass(slots=True)
class _State:
    """Plain numbers, because workers share them through a file."""

    next_start: float = 0.0
    last_start: float = float("-inf")
    spacing: float = 0.0  # seconds between starts, at least, whatever the server takes
    quiet_until: float = 0.0
    quota_pace: float = 0.0  # starts a second by which what is left of a limit lasts
    quota_until: float = float("-inf")  # when that limit is whole again
    answers: int = 0
    pace: float | None = None  # starts a second after the last cut; None: nothing was refused so far
    target: float = 0.0  # what the pace returns to
    way: float = 1.0  # seconds in which it does
    cut_at: float = float("-inf")
    answered: int = 0  # of the calls that started since the last cut
    refused: int = 0
    share_before: float | None = None  # of answers, before the last cut; None once that was looked at
    usual: float | None = None  # share of answers at any pace, where halving did not raise it
    starts: int = 0  # in the present second
    starts_since: float = 0.0
    starts_a_second: float = 0.0  # in the second before
    lately: int = 0  # answers in the present span of time
    lately_since: float = 0.0
    lately_a_second: float = 0.0  # in the span before
    lately_told: float = 0.0  # in the last span that had any
    healthy: float = 0.0  # in the better one of the last two that had any
    last_answer: float = float("inf")

    def started(self, now: float, spacing: float) -> None:
        if now - self.starts_since >= 1.0:
            self.starts_a_second = self.starts / (now - self.starts_since)
            self.starts, self.starts_since = 0, now
        self.starts += 1
        self.last_start, self.spacing = now, spacing
        current = self.current(now)
        self.next_start = now + max(spacing, 0.0 if current is None else 1.0 / current)

    def may_start(self, now: float) -> float:
        spread = self.last_start + 1.0 / self.quota_pace if now < self.quota_until else 0.0
        return max(self.next_start, self.quiet_until, min(spread, self.quota_until))

    def follow_quotas(self, now: float, quotas: Sequence[RateLimitQuota]) -> None:
        scarce = [quota for quota in quotas if quota.limit is None or quota.calls < IN_RESERVE * quota.limit]
        self.quota_until = float("-inf")
        if scarce:
            tightest = min(scarce, key=lambda quota: quota.calls / quota.seconds)
            self.quota_pace = max(tightest.calls, 1.0) / tightest.seconds
            self.quota_until = now + tightest.seconds

    def pause(self, now: float, seconds: float) -> None:
        current, measured = self.current(now), self._measured(now)
        before = measured if current is None else min(current, measured)
        if current is None:
            self._return_to(max(2 * AGAIN, before), max(AGAIN, before / 2))
        elif self.pace is not None and before / 2 > self.pace:
            self._return_to(before, before / 2)
        self.quiet_until = max(self.quiet_until, now + seconds)

    def _measured(self, now: float) -> float:
        shortest = 1.0 if self.starts_a_second else 0.25  # the very first pause comes when only few have started
        return max(self.starts_a_second, self.starts / max(now - self.starts_since, shortest))

    def current(self, now: float) -> float | None:
        if self.pace is None:
            return None
        since = max(now - max(self.cut_at, self.quiet_until), 0.0)
        left = (since - self.way) / self.way  # -1 at the cut, 0 at the target
        span = self.target - self.pace if left < 0 else self.target / 2
        return self.target + span * left**3

    def _return_to(self, target: float, pace: float) -> None:
        self.pace, self.target = pace, target
        self.way = min(max(WAY_BACK / target, SHORTEST_WAY), LONGEST_WAY)

    def came_back(self, now: float, started: float, *, refused: bool) -> None:
        if now - self.lately_since >= SPAN:
            self.lately_a_second = self.lately / (now - self.lately_since)
            if self.lately:
                self.healthy = max(self.lately_told, self.lately_a_second)
                self.lately_told = self.lately_a_second
            self.lately, self.lately_since = 0, now
        if not refused:
            self._leave_storm(now, started)
            self.answers += 1
            self.lately += 1
        if started < self.cut_at:
            return  # it was on its way when the pace was cut, and says nothing of the new one
        self.answered += not refused
        self.refused += refused
        self._look_whether_it_helped(now)
        if refused and self._is_too_fast():
            self._halve(now)

    def _leave_storm(self, now: float, started: float) -> None:
        """Ignore recent starts: a late answer may be theirs."""
        current = self.current(now)
        stormy = started - self.last_answer >= TRIAL
        if current is not None and stormy and self.healthy > max(self.target, current):
            self.pace, self.target, self.way = current, self.healthy, LONGEST_WAY
            self.cut_at, self.usual, self.share_before = now, None, None
            self.answered = self.refused = 0
            self.next_start = min(self.next_start, max(now, self.last_start + self.spacing))
        self.last_answer = now

    @property
    def _share(self) -> float:
        return self.answered / (self.answered + self.refused)

    def _look_whether_it_helped(self, now: float) -> None:
        """Keep the pace if halving it has not reduced refusals."""
        if self.share_before is None or self.answered + self.refused < ROUND:
            return
        before, self.share_before = self.share_before, None
        long_enough = now - self.cut_at >= TRIAL
        if long_enough and MOSTLY / 2 < self._share < 1 - MOSTLY / 2 and self._share < UNHELPED * before:
            self.usual = self._share

    def _is_too_fast(self) -> bool:
        returned = self.answered + self.refused
        if self.pace is None or self.usual is None:
            return self.pace is None or returned >= ROUND
        if returned < 1.5 * ROUND:
            return False
        if self._share < 0.8 * self.usual:
            return True
        self.answered = self.refused = 0
        return False

    def _halve(self, now: float) -> None:
        current, measured = self.current(now), self._measured(now)
        before = measured if current is None else min(current, measured)
        answering = (self.lately + self.lately_a_second * SPAN) / (max(now - self.lately_since, 0.0) + SPAN)
        pace = max(SLOWEST, before / 2, min(KEPT * answering, 0.95 * before))
        if self._share >= MOSTLY:
            pace = max(pace, min(before, GENTLE))
        self.share_before = self._share if self.answered + self.refused >= ROUND else None
        self._return_to(max(1.1 * pace, min(before, 2 * pace)), pace)
        self.cut_at, self.usual = now, None
        self.answered = self.refused = 0
        self.next_start = max(self.next_start, now + 1.0 / pace)


class RateLimiter:
    """Limits call starts; `requests_per_minute` holds for all workers."""

    def __init__(self, requests_per_minute: float | None = None) -> None:
        self._spacing = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._own = _State()
        self._file: Path | None = None
        self._places: SharedConcurrencyLimit | None = None
        self.in_flight: set[asyncio.Task[Any]] = set()

    def share(self, folder: Path, judge: str, most: int) -> None:
        """Share the rate with all processes, and `most` concurrent calls."""
        self._file = folder / f"{hashlib.sha256(judge.encode('utf-8', 'replace')).hexdigest()[:16]}.pace"
        self._places = SharedConcurrencyLimit(folder, most)

    @property
    def answers(self) -> int:
        """The number of answers so far."""
        with self._state() as state:
            return state.answers

    @contextlib.asynccontextmanager
    async def call(self) -> AsyncIterator[float]:
        """Wait until a call may start; yields its start time."""
        task = asyncio.current_task()
        async with contextlib.AsyncExitStack() as stack:
            while True:
                await self._wait_for_turn()
                if self._places is not None:
                    await stack.enter_async_context(self._places.place())
                if self._take_turn():
                    break
                await stack.aclose()  # a place is not to be kept waiting
            if task is not None:
                self.in_flight.add(task)
                stack.callback(self.in_flight.discard, task)
            yield loop_time()

    def answered(self, started: float) -> None:
        """Record an answer."""
        with self._state() as state:
            state.came_back(loop_time(), started, refused=False)

    def refused(self, started: float, seconds: float | None = None) -> None:
        """Slow down after a 429."""
        with self._state() as state:
            state.came_back(loop_time(), started, refused=True)
        if seconds is not None:
            self.hold(seconds)

    def hold(self, seconds: float) -> None:
        """Pause, then restart more slowly."""
        with self._state() as state:
            state.pause(loop_time(), seconds)

    def follow_quotas(self, quotas: Sequence[RateLimitQuota]) -> None:
        """Slow down according to the server's remaining quotas."""
        if not quotas:
            return
        in_flight = len(self.in_flight)
        scarcest = min(quotas, key=lambda quota: quota.calls)
        if self._places is not None and in_flight <= scarcest.calls < self._places.most:
            in_flight = max(in_flight, self._places.taken())
        with self._state() as state:
            state.follow_quotas(loop_time(), quotas)
        if scarcest.calls < in_flight:  # they use it up
            self.hold(scarcest.seconds)

    async def _wait_for_turn(self) -> None:
        while (delay := self._delay()) > 0:  # another call may push it further away, or pull it nearer
            await asyncio.sleep(min(delay, LOOK_AGAIN))

    def _delay(self) -> float:
        now = loop_time()
        with self._state() as state:
            return state.may_start(now) - now

    def _take_turn(self) -> bool:
        now = loop_time()
        with self._state() as state:
            if state.may_start(now) > now:
                return False
            state.started(now, self._spacing)
        return True

    @contextlib.contextmanager
    def _state(self) -> Iterator[_State]:
        if self._file is None:
            yield self._own
            return
        with _lock(self._file.with_suffix(".lock"), poll_interval=0.001):
            try:
                state = _State(**json.loads(self._file.read_bytes()))
            except (OSError, ValueError, TypeError):  # none so far, or a worker was killed while it wrote
                state = _State()
            before = asdict(state)
            yield state
            if asdict(state) != before:
                self._file.write_text(json.dumps(asdict(state)))


class SharedConcurrencyLimit:
    """A limit on calls in flight for all processes of a folder.

    Locks free a killed worker's places.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self.most = most
        self._files = [folder / f"{number}.place" for number in range(most)]

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a free place during the block."""
        while (taken := self._take()) is None:
            await asyncio.sleep(POLL * random.uniform(0.5, 1.5))
        try:
            yield
        finally:
            taken.release()

    def taken(self) -> int:
        """Return the number of places in use."""
        from filelock import Timeout

        free = 0
        for file in self._files:
            with contextlib.suppress(Timeout), _lock(file).acquire(blocking=False):
                free += 1
        return self.most - free

    def _take(self) -> Any:
        from filelock import Timeout

        for file in random.sample(self._files, len(self._files)):
            lock = _lock(file)
            with contextlib.suppress(Timeout):
                lock.acquire(blocking=False)
                return lock
        return None


def _lock(file: Path, **more: Any) -> Any:
    from filelock import FileLock

    return FileLock(file, **more)


def loop_time() -> float:
    """Return the loop's time."""
    return asyncio.get_running_loop().time()
