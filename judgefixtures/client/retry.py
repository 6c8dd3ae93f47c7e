"""Retry policy: number of retries, waiting times, and when to give up."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from judgefixtures.providers import FLEX, FatalJudgeError, RetryableError
from judgefixtures.providers.judge_table import JudgeTable

from .messages import MESSAGES
from .rate_limiter import RATE_LIMITED, loop_time

FIRST_WAIT = 0.5  # seconds before the second attempt; doubles from there
LONGEST_BACKOFF = 30.0
LONGEST_WAIT = 120.0  # a server that asks for more has a limit that this run cannot sit out
LONGEST_FLEX_WAIT = 900.0  # a flex tier has room only while nobody else needs it
LONGEST_LOADING = 900.0  # a large model is read from a slow disk for many minutes
SPREAD, MOST_SPREAD = 0.25, 5.0  # those that wait equally long come back over this share of it, or these seconds
# What passes by itself: a rate limit, and a server that loads its model (503), is overloaded (529), or has no room for
# its flex tier (498). Such failures are sat out by time and are not counted against max_attempts.
SAT_OUT = frozenset({RATE_LIMITED, 498, 503, 529})


class RetriesExhaustedError(FatalJudgeError):
    """Every attempt failed; `failure` is the last one."""

    def __init__(self, message: str, failure: RetryableError) -> None:
        super().__init__(message)
        self.failure = failure


def is_transient(failure: RetryableError) -> bool:
    """Return whether time may fix a failure."""
    return failure.invalid is None and (failure.loading or failure.status in SAT_OUT)


def can_wait_for_retry(failure: RetryableError) -> bool:
    """Return whether the requested pause is short enough."""
    return (failure.retry_after or 0.0) <= LONGEST_WAIT


@dataclass(slots=True)
class RetryState:
    """A request's retries, limited by time if transient, else by count."""

    attempts: int
    answers: int  # of the judge, to any question, when it was last seen to make progress
    since: float  # when that was
    longest: float  # seconds without any progress that are waited
    failures: int = 0
    counted: int = 0

    @classmethod
    def of(cls, table: JudgeTable, attempts: int | None, answers: int) -> RetryState:
        """Return the initial state for a judge."""
        longest = LONGEST_FLEX_WAIT if table.service_tier == FLEX else LONGEST_WAIT
        return cls(attempts or table.max_attempts, answers, loop_time(), longest)

    def is_gone(self, error: RetryableError, answers: int) -> bool:
        """Record a failure, and return whether it was the last."""
        self.failures += 1
        if error.status == RATE_LIMITED and answers != self.answers:
            self.answers, self.since = answers, loop_time()
            return False  # others are answered: this question's turn will come
        if error.loading:
            self.longest = max(self.longest, LONGEST_LOADING)
        if is_transient(error) and error.retry_after != 0:  # 0: it wants no pause, so there is nothing to sit out
            return loop_time() - self.since >= self.longest
        self.counted += 1
        return self.counted >= self.attempts

    @property
    def in_words(self) -> str:
        """The attempts in words."""
        if self.counted >= self.attempts:
            return f"{self.failures} attempts"
        return f"{self.failures} attempts in {self.longest:.0f} s"


@dataclass(slots=True)
class BackoffCounter:
    """A judge's retries and waiting calls."""

    judge: str
    retries: int = 0
    _waiting: int = 0

    async def wait(self, failure: RetryableError, failures: int) -> None:
        """Wait for the server's pause, or by exponential back-off with jitter."""
        self.retries += 1
        seconds = failure.retry_after
        if seconds is not None and not can_wait_for_retry(failure):
            raise FatalJudgeError(MESSAGES.long_wait(self.judge, failure, seconds, LONGEST_WAIT))
        if failure.status == RATE_LIMITED:
            return
        if seconds is None:
            doublings = min(max(failures - 1, 0), 30)
            seconds = min(FIRST_WAIT * 2.0**doublings, LONGEST_BACKOFF) * random.uniform(0.5, 1.0)
        elif self._waiting:
            seconds += random.uniform(0.0, min(SPREAD * seconds, MOST_SPREAD))
        self._waiting += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self._waiting -= 1
