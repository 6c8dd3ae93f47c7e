"""Throughput under a rate limit: 2 x 100 pairs from servers that refuse with 429 and say nothing of when.

    python benchmarks/rate_limits.py [--latency 0.5] [--only 10]
    python benchmarks/rate_limits.py --storm 60 [--retry-after 1]

Servers of 2 and 10 calls per second, as a token bucket that holds one second's calls and counted by the second, and one
that refuses every second call whatever the pace. Real time, the real SDK; takes four minutes. Time runs from the
first question to the last answer, so more than 1 of a limit is the burst that a bucket holds at first.

With --storm: three workers that share their pace, 16 calls in flight, and a server that takes everything for 20 s, then
refuses everything for so many seconds, and then takes everything again; prints answers a second, by five seconds.
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
from functools import partial
from pathlib import Path

from recording import CONCURRENCY, PAIRS, record
from replay import CANNED, MODELS

from judgefixtures.judges.judge import load_judge

Accepts = Callable[[], bool]
REFUSED = {"error": {"message": "Too many requests."}}
BEFORE, AFTER, BIN, WORKERS = 20.0, 60.0, 5.0, 3  # seconds before and after a storm, and of a point of the curve


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


async def converse(
    accepts: Accepts,
    latency: float,
    asked: list[float],
    answered: list[float],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    more: bytes = b"",
) -> None:
    """Answer the questions of a connection, or refuse them with some more headers; note when they came and went."""
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
            status = b"200 OK" if accepted else b"429 Too Many Requests\r\n%b" % more
            status = status.removesuffix(b"\r\n")
            writer.write(
                b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                % (status, len(body), body)
            )


async def curve(storm: float, retry_after: float | None, latency: float) -> list[float]:
    """Return the answers a second of three workers, by five seconds from the start on."""
    begun, asked, answered = time.monotonic(), list[float](), list[float]()
    over = BEFORE + storm + AFTER
    more = b"" if retry_after is None else b"retry-after: %g" % retry_after
    answering = partial(
        converse, lambda: not BEFORE <= time.monotonic() - begun < BEFORE + storm, latency, asked, answered, more=more
    )
    server = await asyncio.start_server(answering, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    table = {"provider": "openai", "model": MODELS["openai"], "base_url": base}
    judges = [load_judge(table, "bench") for _ in range(WORKERS)]

    async def work(number: int) -> None:
        while time.monotonic() - begun < over:
            await judges[number % WORKERS].ask("Which one?")

    with tempfile.TemporaryDirectory() as folder:
        for judge in judges:
            judge.rate_limiter.share(Path(folder), judge.name, CONCURRENCY)
        await asyncio.gather(*(work(number) for number in range(CONCURRENCY)))
        for judge in judges:
            await judge.close()
    server.close()
    count = Counter(int((at - begun) / BIN) for at in answered)
    return [count[place] / BIN for place in range(int(over / BIN))]


async def throughput(accepts: Accepts, latency: float) -> tuple[float, int]:
    """Record from such a server; return the answers a second and the number of refusals."""
    asked: list[float] = []
    answered: list[float] = []
    server = await asyncio.start_server(partial(converse, accepts, latency, asked, answered), "127.0.0.1", 0)
    with tempfile.TemporaryDirectory() as folder:
        await record("openai", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", Path(folder))
    server.close()
    assert len(answered) == 2 * PAIRS
    return len(answered) / (answered[-1] - asked[0]), len(asked) - len(answered)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--storm", type=float, default=None)
    parser.add_argument("--retry-after", type=float, default=None)
    given = parser.parse_args()
    if given.storm is not None:
        for place, rate in enumerate(asyncio.run(curve(given.storm, given.retry_after, given.latency))):
            at = place * BIN
            when = "storm" if BEFORE <= at < BEFORE + given.storm else ""
            print(f"{at:5.0f} s {rate:5.1f} a second {'#' * round(rate)} {when}", flush=True)  # noqa: T201
        raise SystemExit
    for rate, limit in ((2, bucket), (2, by_the_second), (10, bucket), (10, by_the_second), (0, every_second)):
        if given.only not in (None, rate):
            continue
        reached, refusals = asyncio.run(throughput(limit(rate), given.latency))
        most = min(rate, CONCURRENCY / given.latency) if rate else 0.0
        share = f"{reached / most:.2f} of {most:g} a second" if most else f"{reached:.2f} a second"
        print(f"{limit.__name__} {rate or ''}: {share}, {refusals} refused for {2 * PAIRS} answers", flush=True)  # noqa: T201
