"""A whole gate over a server that is not ours: llama-cpp-python with a tiny random model.

Not part of `make test` (the server takes ten minutes to build). `make real-server` builds and runs it; by hand:

    python -m venv /tmp/llama && /tmp/llama/bin/pip install 'llama-cpp-python[server]' gguf
    JUDGEFIXTURES_LLAMA_PYTHON=/tmp/llama/bin/python pytest tests/real
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

LLAMA = os.environ.get("JUDGEFIXTURES_LLAMA_PYTHON")
pytestmark = pytest.mark.skipif(not LLAMA, reason="JUDGEFIXTURES_LLAMA_PYTHON names no Python with llama-cpp-python")

CONFIG = """
judge = "tiny"
dataset = ["few"]
control = false         # a random model reads nothing
[gate]
max_invalid = 0.99      # a random model: what counts here is that every answer has an outcome
inconclusive = "warn"
[datasets.few]
path = "few.jsonl"
[judges.tiny]
provider = "openai"
model = "tiny-random"
base_url = "http://127.0.0.1:{port}/v1"
response_format = "json_object"
logprobs = true
top_logprobs = 5        # the server takes seconds per answer for each of them
timeout = 300
temperature = 1.0       # at 0 a random model repeats itself for ever
max_output_tokens = 1500
[judges.strict]
extends = "tiny"
response_format = "json_schema"
[judges.dropping]
extends = "strict"
drop_unsupported = true
max_output_tokens = 100
"""

TEST = """
import pytest
pytestmark = pytest.mark.judge_family("recency")
def test_recency(judge, pairs, contrast, gate):
    gate.check(judge, pairs, contrast)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The server's port; it stops with the tests."""
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    subprocess.run([LLAMA, str(Path(__file__).with_name("tiny_model.py")), str(model)], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [LLAMA, "-m", "llama_cpp.server", "--model", str(model), "--model_alias", "tiny-random"]
    with subprocess.Popen([*command, "--port", str(port), "--n_ctx", "8192"], stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models")
            yield port
        finally:
            process.terminate()


def _wait_for(url):
    for _ in range(120):
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"{url} does not answer")


@pytest.fixture
def project(tmp_path, server):
    """A user's project with four short pairs."""
    rows = [{"id": f"p{i}", "question": f"{i}?", "response_1": "yes", "response_2": "no"} for i in range(4)]
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "judges.toml").write_text(CONFIG.format(port=server))
    (tmp_path / "test_recency.py").write_text(TEST)
    return tmp_path


def run(project, *options):
    # Four pairs can decide nothing: what counts here is what happens on the wire.
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--judge-config=judges.toml",
        "--judge-force",
        *options,
    ]
    return subprocess.run(command, cwd=project, capture_output=True, text=True)


def test_real_verdicts_are_recorded_and_replayed(project):
    """Grammar-constrained JSON becomes verdicts with probabilities behind them, and a replay gives the same report."""
    recorded = run(project, "--judge-record=missing", "--judge-report=first")
    assert "recorded: tiny: 8 calls" in recorded.stdout, recorded.stdout
    rows = [json.loads(line) for line in (project / "first" / "judgments.jsonl").read_text().splitlines()]
    assert len(rows) == 8
    assert all((row["selected_response"] is None) != (row["invalid"] is None) for row in rows)
    assert any(row["selected_response"] for row in rows)
    for row in rows:
        assert ("probability" in row) == (row["invalid"] is None)
    found = [row["probability"] for row in rows if "probability" in row]
    assert all(0 <= each["low"] <= each["value"] <= each["high"] <= 1 for each in found)
    assert all(0 <= each["elsewhere"] < 1 for each in found)
    assert len({(each["low"], each["high"]) for each in found}) > 1
    assert "token probabilities" not in recorded.stdout
    (contrast,) = json.loads((project / "first" / "report.json").read_text())["contrasts"]
    known = {(row["pair"], row["condition"]): row["probability"] for row in rows if "probability" in row}
    pairs = [pair for pair, condition in known if condition == "recency-new-old" and (pair, "recency-old-new") in known]
    assert pairs
    assert (contrast["log_odds_shift"]["n"], contrast["soft_vsr"]["n"]) == (len(pairs), len(pairs))
    values = [known[pair, "recency-new-old"]["value"] - known[pair, "recency-old-new"]["value"] for pair in pairs]
    assert contrast["soft_vsr"]["value"] == pytest.approx(sum(values) / len(pairs), abs=1e-9)
    assert contrast["log_odds_shift"]["low"] < contrast["log_odds_shift"]["value"] < contrast["log_odds_shift"]["high"]
    run(project, "--judge-report=second")
    for name in ("report.json", "judgments.jsonl"):
        assert (project / "first" / name).read_bytes() == (project / "second" / name).read_bytes()


def test_the_probe_names_what_the_server_does_not_take(project):
    """The server answers 500 to json_schema, which no retry cures: the probe names response_format."""
    refused = run(project, "--judge=strict", "--judge-record=missing")
    assert refused.returncode == pytest.ExitCode.INTERRUPTED
    assert "the server fails on response_format = 'json_schema'" in refused.stdout


def test_a_dropped_parameter_is_part_of_the_identity(project):
    """With drop_unsupported the recording goes on without response_format and says so in its header."""
    run(project, "--judge=dropping", "--judge-record=missing")
    cassette = project / "cassettes" / "dropping" / "few" / "recency-new-old.jsonl"
    assert json.loads(cassette.read_text().splitlines()[0])["judge"]["dropped"] == ["response_format"]
    assert "request is another one" not in run(project, "--judge=dropping").stdout
