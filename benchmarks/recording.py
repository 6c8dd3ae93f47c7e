"""Recording throughput: a contrast of 2 x 100 pairs from a server that takes 200 ms, 16 calls in flight.

    python benchmarks/recording.py [--rounds 3]

The ideal is 16 / 0.2 s = 80 calls per second. 199 calls, after the probe, are 13 rounds of 16, so .96 of it is the most
that any client can reach. The server is a process of its own; time runs from its first question after the
probe to its last answer.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from replay import CANNED, MODELS, pairs_of

from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.client.costs import CostMeter
from judgefixtures.client.model_client import RequestSet
from judgefixtures.client.requests import RequestExecution, run_requests
from judgefixtures.judges.judge import load_judge
from judgefixtures.models.contrasts import contrasts

DELAY, CONCURRENCY, PAIRS = 0.2, 16, 100


def serve(told: Connection) -> None:
    """Answer with a delay until asked for the times of questions and answers."""
    asyncio.run(_serve(told))


async def _serve(told: Connection) -> None:
    asked: list[float] = []
    answered: list[float] = []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0))
                asked.append(time.perf_counter())
                await asyncio.sleep(DELAY)
                body = json.dumps(CANNED["openai" if b"chat/completions" in head else "google"]).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
                    % (len(body), body)
                )
                answered.append(time.perf_counter())

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    told.send(server.sockets[0].getsockname()[1])
    await asyncio.to_thread(told.recv)
    told.send((asked, answered))
    server.close()


async def record(provider: str, url: str, folder: Path) -> None:
    """Record both conditions of the recency contrast."""
    base = f"{url}/v1" if provider == "openai" else url
    judge = load_judge({"provider": provider, "model": MODELS[provider], "base_url": base}, "bench")
    pairs, contrast = pairs_of(PAIRS), contrasts("recency")[0]
    with (
        CassetteStore(folder, "missing").open(judge, "pairs", [contrast.x.name, contrast.y.name], pairs) as cassettes,
        record_http(only_sdks=True, offline=False),
    ):
        await run_requests(
            RequestExecution(RequestSet(judge, pairs, contrast.arms), cassettes, CONCURRENCY, CostMeter(judge.table))
        )
    await judge.close()


def throughput(provider: str) -> float:
    """Return the calls a second as a share of the ideal."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(record(provider, f"http://127.0.0.1:{ours.recv()}", Path(folder)))
        ours.send("done")
        asked, answered = ours.recv()
    finally:
        server.terminate()
        server.join()
    assert len(answered) == 2 * PAIRS
    return (len(answered) - 1) / (answered[-1] - asked[1]) * DELAY / CONCURRENCY


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    for provider in ("openai", "google"):
        shares = [throughput(provider) for _ in range(rounds)]
        shown = ", ".join(f"{share:.2f}" for share in shares)
        share = statistics.median(shares)
        print(f"{provider}: {share:.2f} of the ideal throughput (rounds: {shown}); .96 is the most")  # noqa: T201
