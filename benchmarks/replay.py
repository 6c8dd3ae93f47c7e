"""CPU time per replayed call, as ratios measured in this run: the SDK's floor, judgefixtures, stock vcrpy, cassetter.

    python benchmarks/replay.py [--sizes 100 1000 4000 10000]

`ours` is the whole of a judge's call: prompt, SDK, vcrpy, look-up, verdict. The floor is the SDK alone on an
in-memory transport that returns one canned answer. Stock recorders replay the same requests through the SDK.
Each figure is the median of several rounds, in which the contestants take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2

from judgefixtures.cassettes.files import CassetteFile
from judgefixtures.cassettes.store import CassetteStore
from judgefixtures.cassettes.vcr_adapter import record_http
from judgefixtures.client.costs import CostMeter
from judgefixtures.client.model_client import RequestSet
from judgefixtures.client.requests import RequestExecution, run_requests
from judgefixtures.config import judge_table
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.models.contrasts import NO_CUE
from judgefixtures.models.pairs import Pair
from judgefixtures.providers import google, openai
from judgefixtures.simulator.server import serving

FILLER = "some words of an answer that goes on for a while. " * 15
CALLS = 100  # calls measured in a round, spread over the recordings
MODELS = {"openai": "simulated-faithful", "google": "simulated-gemini-2.5-flash"}
TEXT = json.dumps({"selected_response": 1, "reason": "Response 1 explains the mechanism and gets the facts right."})
CANNED = {
    "openai": {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": MODELS["openai"],
        "system_fingerprint": "s",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 30, "total_tokens": 430},
    },
    "google": {
        "candidates": [{"content": {"parts": [{"text": TEXT}], "role": "model"}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 400, "candidatesTokenCount": 30, "totalTokenCount": 430},
        "modelVersion": MODELS["google"],
    },
}

Ask = Callable[[str], Awaitable[Any]]


def pairs_of(size: int) -> list[Pair]:
    """Return pairs whose prompts are as long as the house sets'."""
    return [Pair(f"p{i:06d}", f"question {i}?", f"{i} one {FILLER}", f"{i} two {FILLER}") for i in range(size)]


def spread(items: list[Any]) -> list[Any]:
    """Return about CALLS items, evenly spread."""
    return items[:: max(1, len(items) // CALLS)][:CALLS]


def sdk(provider: str, url: str, transport: Any = None) -> Ask:
    """Return the bare SDK call that a judge of this provider makes."""
    table = judge_table({"provider": provider, "model": MODELS[provider]})
    client = httpx2.AsyncClient(transport=transport) if transport else httpx2.AsyncClient()
    if provider == "openai":
        from openai import AsyncOpenAI

        connected = AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0, http_client=client)
        sent = openai.request_parameters(table)
        return lambda prompt: connected.chat.completions.create(
            model=MODELS[provider], messages=[{"role": "user", "content": prompt}], **sent
        )
    from google.genai import Client, types

    options = types.HttpOptions(base_url=url, api_version="v1", httpx_async_client=client)
    models = Client(vertexai=False, api_key="none", http_options=options).aio.models
    config = types.GenerateContentConfig(**google.request_parameters(table))
    return lambda prompt: models.generate_content(model=MODELS[provider], contents=prompt, config=config)


def in_memory(provider: str) -> Any:
    """Return a transport that answers everything from memory."""
    body = json.dumps(CANNED[provider]).encode()
    headers = {"content-type": "application/json"}
    return httpx2.MockTransport(lambda _request: httpx2.Response(200, content=body, headers=headers))


async def timed(ask: Ask, prompts: list[str]) -> float:
    """Return CPU milliseconds per call."""
    for prompt in prompts[:5]:
        await ask(prompt)
    start = time.process_time()
    for prompt in prompts:
        await ask(prompt)
    return 1000 * (time.process_time() - start) / len(prompts)


class Ours:
    """A condition of `size` recordings, made over HTTP once and replayed through a judge."""

    def __init__(self, provider: str, url: str, pairs: list[Pair], folder: Path) -> None:
        base = f"{url}/v1" if provider == "openai" else url
        self._table = {"provider": provider, "model": MODELS[provider], "base_url": base}
        self._pairs = pairs
        self._folder = folder / f"ours-{provider}-{len(pairs)}"
        asyncio.run(self._run(self._judge(), CassetteStore(self._folder, "missing"), pairs, 16))

    @property
    def file(self) -> Path:
        return self._folder / "bench" / "pairs" / "no-cue.jsonl"

    def measure(self) -> float:
        """Return CPU milliseconds per replayed call of a judge."""
        return asyncio.run(self._run(self._judge(), CassetteStore(self._folder, "none"), spread(self._pairs), 1))

    def _judge(self) -> Judge:
        return load_judge(self._table, "bench")

    async def _run(self, judge: Judge, library: CassetteStore, pairs: list[Pair], concurrency: int) -> float:
        with (
            library.open(judge, "pairs", ["no-cue"], pairs) as cassettes,
            record_http(only_sdks=True, offline=library.mode == "none"),
        ):
            if library.mode == "none":
                await run_requests(
                    RequestExecution(
                        RequestSet(judge, pairs[:5], [(NO_CUE, 0)]), cassettes, concurrency, CostMeter(judge.table)
                    )
                )
            start = time.process_time()
            await run_requests(
                RequestExecution(
                    RequestSet(judge, pairs, [(NO_CUE, 0)]), cassettes, concurrency, CostMeter(judge.table)
                )
            )
            return 1000 * (time.process_time() - start) / len(pairs)


def stock_vcrpy(serializer: str, path: Path) -> Any:
    """Return stock vcrpy's context, matching on the body as a judge's recordings need it."""
    import vcr

    config = vcr.VCR(serializer=serializer, match_on=("method", "uri", "body"), record_mode="new_episodes")
    return config.use_cassette(str(path), allow_playback_repeats=True)


def cassetter_context(path: Path) -> Any:
    """Return cassetter's context, matching on the JSON body."""
    from cassetter import use_cassette

    mode = "none" if path.exists() else "once"
    return use_cassette(path, record_mode=mode, match_on=["method", "uri", "json_body"], intercept=["httpx2"])


def recorder(name: str, path: Path) -> contextlib.AbstractContextManager[Any]:
    """Return the recording and replaying context of a competitor."""
    return cassetter_context(path) if name == "cassetter" else stock_vcrpy(name.removeprefix("vcrpy "), path)


def competitor(name: str, url: str, prompts: list[str], folder: Path) -> float | str:
    """Return CPU milliseconds per replayed call of another recorder, or why it has none."""
    path = folder / f"{name.replace(' ', '-')}-{len(prompts)}.{'json' if 'json' in name else 'yaml'}"
    wanted = prompts[:: max(1, len(prompts) // 20)][:20]

    async def record() -> None:
        ask = sdk("openai", url)
        with recorder(name, path):
            for prompt in prompts:
                await ask(prompt)

    async def replay() -> float:
        ask = sdk("openai", url)
        with recorder(name, path):
            return await timed(ask, wanted)

    try:
        asyncio.run(record())
        return asyncio.run(replay())
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"


def load_figures(ours: Ours, size: int) -> str:
    """Return the load time of a cassette, and its peak memory per recording in a process of its own."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        CassetteFile(ours.file)
        times.append(time.perf_counter() - start)
    code = (
        "import sys, tracemalloc; from pathlib import Path; from judgefixtures.cassettes.files import CassetteFile\n"
        "tracemalloc.start()\n"
        "file = CassetteFile(Path(sys.argv[1])); rows = [file.find(digest) for digest in file._index]\n"
        "print(tracemalloc.get_traced_memory()[1] // 1024)"
    )
    shown = subprocess.run([sys.executable, "-c", code, str(ours.file)], capture_output=True, text=True, check=True)
    return f"load {statistics.median(times):.3f} s, {int(shown.stdout) / size:.1f} KB peak memory per recording"


def rows(sizes: list[int]) -> Iterator[str]:
    """Yield the lines of the report."""
    with tempfile.TemporaryDirectory() as scratch, serving() as server:
        folder = Path(scratch)
        for provider in ("openai", "google"):
            contestants = {size: Ours(provider, server.url, pairs_of(size), folder) for size in sizes}
            template = load_judge({"provider": provider, "model": "m"})
            prompts = [template.prompt(pair, NO_CUE) for pair in pairs_of(CALLS)]
            floors: list[float] = []
            found: dict[int, list[float]] = {size: [] for size in sizes}
            for _ in range(9):
                floors.append(asyncio.run(timed(sdk(provider, server.url, in_memory(provider)), prompts)))
                for size, ours in contestants.items():
                    found[size].append(ours.measure())
            floor = statistics.median(floors)
            yield f"{provider}: SDK on an in-memory transport  {floor:.3f} ms  1.00"
            for size, values in found.items():
                ratio = statistics.median(value / base for value, base in zip(values, floors, strict=True))
                value = statistics.median(values)
                figures = load_figures(contestants[size], size) if provider == "openai" else ""
                yield f"{provider}: judgefixtures, N = {size:<6}  {value:.3f} ms  {ratio:.2f}  {figures}"
            if provider == "openai":
                for name in ("vcrpy yaml", "vcrpy json", "cassetter"):
                    for size in [size for size in sizes if size <= 1000]:
                        texts = [template.prompt(pair, NO_CUE) for pair in pairs_of(size)]
                        taken = competitor(name, server.url, texts, folder)
                        shown = taken if isinstance(taken, str) else f"{taken:.3f} ms  {taken / floor:.2f}"
                        yield f"{provider}: {name}, N = {size:<6}  {shown}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 4000, 10000])
    for line in rows(parser.parse_args().sizes):
        print(line, flush=True)  # noqa: T201
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process: {usage:.0f} MB")  # noqa: T201
