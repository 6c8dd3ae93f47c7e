"""Throughput under a rate limit: 2 x 100 pairs from servers that refuse with 429 and say nothing of when.

    python benchmarks/rate_limits.py [--latency 0.5] [--only 10]

Servers of 2 and 10 calls per second, as a token bucket that holds one second's calls and counted by the second, and one
that refuses every second call whatever the pace. Real time, the real SDK; takes four minutes. Time runs from the
first question to the last answer, so more than 1 of a limit is the burst that a bucket holds at first.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from recording import CONCURRENCY, PAIRS, record
from replay import CANNED

Accepts = Callable[[], bool]
REFUSED = {"error": {"message": "Too many requests."}}


def bucket(rate: int) -> Accepts:
    """Return a limit that fills steadily and holds one second's calls."""
    tokens, filled = float(rate), time.monotonic()

    def accepts() -> bool:
        nonlocal tokens, filled
        now = time.monotonic()
        tokens, filled = min(float(rate), tokens + (now - filled) * rate), now
        accepted = tokens >= 1.0
        tokens -= accepted
        return accepted

    return accepts


def by_the_second(rate: int) -> Accepts:
    """Return a limit that is counted anew with each second."""
    count: Counter[int] = Counter()

    def accepts() -> bool:
        second = int(time.monotonic())
        count[second] += 1
        return count[second] <= rate

    return accepts


def every_second(_rate: int) -> Accepts:
    """Return what refuses every second call."""
    turns = itertools.count()
    return lambda: next(turns) % 2 == 0


async def throughput(accepts: Accepts, latency: float) -> tuple[float, int]:
    """Record from such a server; return the answers a second and the number of refusals."""
    asked: list[float] = []
    answered: list[float] = []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0))
                asked.append(time.monotonic())
                accepted = accepts()
                if accepted:
                    await asyncio.sleep(latency)
                    answered.append(time.monotonic())
                body = json.dumps(CANNED["openai"] if accepted else REFUSED).encode()
                status = b"200 OK" if accepted else b"429 Too Many Requests"
                writer.write(b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                             % (status, len(body), body))  # fmt: skip

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    with tempfile.TemporaryDirectory() as folder:
        await record("openai", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", Path(folder))
    server.close()
    assert len(answered) == 2 * PAIRS
    return len(answered) / (answered[-1] - asked[0]), len(asked) - len(answered)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--only", type=int, default=None)
    given = parser.parse_args()
    for rate, limit in ((2, bucket), (2, by_the_second), (10, bucket), (10, by_the_second), (0, every_second)):
        if given.only not in (None, rate):
            continue
        reached, refusals = asyncio.run(throughput(limit(rate), given.latency))
        most = min(rate, CONCURRENCY / given.latency) if rate else 0.0
        share = f"{reached / most:.2f} of {most:g} a second" if most else f"{reached:.2f} a second"
        print(f"{limit.__name__} {rate or ''}: {share}, {refusals} refused for {2 * PAIRS} answers", flush=True)  # noqa: T201
