"""Faults that a search by an independent tester found: thoughts, refusals, costs and paid answers."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from support.project import Project, in_pyproject
from support.server import Answer as Reply
from support.server import Asked, Server, serving

from judgefixtures import Run
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.providers import ProviderResponse, RetryableError
from judgefixtures.providers.http import HttpResponse
from judgefixtures.providers.openai import read_completion
from judgefixtures.providers.tokens import tokens_out
from judgefixtures.util.thoughts import split_thoughts

pytest_plugins = ["pytester"]

FIRST, SECOND = (f'{{"selected_response": {number}, "reason": "Better."}}' for number in (1, 2))
CONFIGURATION = """\
judge = "mine"
dataset = ["own"]
[judges.mine]
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:{port}/v1"
[datasets.own]
path = "pairs.jsonl"
[gate]
vsr_tolerance = 0.3
"""
SUBTESTS = """\
import pytest

pytestmark = pytest.mark.judge_family("recency")


def test_judge(judge, pairs, contrast, gate, subtests):
    with subtests.test("one"):
        gate.check(judge, pairs, contrast)
    with subtests.test("two"):
        pass
"""


def completion(message: dict[str, Any], status: int = 200, **choice: Any) -> ProviderResponse:
    """Return what is read of a chat completion with one choice, or of an error with this message."""
    choices = [{"finish_reason": "stop", "message": {"role": "assistant", **message}} | choice]
    body: dict[str, Any] = {"model": "m", "choices": choices} if status == 200 else {"error": message}
    return read_completion(HttpResponse(status, {}, json.dumps(body), sent=frozenset({"temperature"})), "m")


# --- thoughts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [{"type": "thinking"}, {"type": "reasoning"}, {"type": "text", "thought": True}])
def test_a_content_part_that_is_a_thought_is_no_answer(mark: dict[str, Any]) -> None:
    """Gateways send thoughts as parts of the content, with their text where an answer's stands."""
    answer = completion({"content": [{"text": f"It is new. {FIRST}", **mark}, {"type": "text", "text": SECOND}]})
    assert (answer.text, answer.reasoning) == (SECOND, f"It is new. {FIRST}")
    only = completion({"content": [{"text": FIRST, **mark}]})
    assert (only.text, only.invalid) == ("", "empty")


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("[unused16]", "[unused17]"),
        ("<antThinking>", "</antThinking>"),
        ("<|think_start|>", "<|think_end|>"),
        ("<reasoning_start>", "<reasoning_end>"),
        ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    ],
)
def test_further_forms_of_thoughts(opening: str, closing: str) -> None:
    """A block in any of these forms is neither a reason nor a verdict, and hides nothing that follows."""
    assert split_thoughts(f"{opening}It is new. [[A]]{closing}It is clear. [[B]]") == (
        "It is new. [[A]]",
        "It is clear. [[B]]",
    )
    assert parse_verdict(f"{opening}It is new. [[A]]{closing}Hm.", "brackets").invalid == "no-token"


# --- refusals and errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (446, "The guardrail checks defined in the config failed. You can find more information in `hook_results`."),
        (400, '{"error":"invalid_request","finishReason":"input_guardrail_triggered"}'),
    ],
)
def test_a_gateways_guardrail_refuses_one_prompt(status: int, message: str) -> None:
    """Portkey's own status, and Databricks' word: one invalid answer, and the recording goes on."""
    assert completion({"message": message}, status).invalid == "filtered"


@pytest.mark.parametrize("finish", ["stop", None])
def test_an_error_beside_a_partial_answer_is_no_answer(finish: str | None) -> None:
    """A gateway says in the choice that the provider broke off: what is there is asked for again."""
    error = {"code": 502, "message": "Provider disconnected"}
    with pytest.raises(RetryableError, match="Provider disconnected"):
        completion({"content": FIRST}, finish_reason=finish, error=error)


# --- costs ------------------------------------------------------------------------------------------------------


def test_thoughts_that_the_total_leaves_out_are_priced() -> None:
    """More thoughts than written tokens were counted beside them, also where the total was added up without them."""
    assert tokens_out(60, 814, 500, 560) == 874
    assert tokens_out(874, 814, 500, 1374) == tokens_out(60, 814, 500, 1374) == 874


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers its first question at once, and each further one after a second."""

    def answering(asked: Asked) -> Reply:
        time.sleep(1.0 if len(server.asked) > 1 else 0.0)
        return asked.answered(FIRST)

    with serving(by=answering) as server:
        yield server


@pytest.fixture
def project(pytester: pytest.Pytester, server: Server) -> Project:
    """A project whose judge the server is, with 12 pairs."""
    project = Project(pytester, in_pyproject)
    project.configure(CONFIGURATION.replace("{port}", str(server.port)))
    project.write_pairs(
        {"id": f"p{n:02}", "question": f"q{n}", "response_1": "a", "response_2": "b", "gold": 1} for n in range(12)
    )
    return project


def test_subtests_count_no_cost_again(project: Project) -> None:
    """pytest reports each subtest and then the test, and each report has the same result."""
    project.write("test_judge.py", SUBTESTS)
    ran = project.run("--judge-record", "missing", "--judge-force")
    assert "recorded: mine: 24 calls" in ran.said


# --- answers in flight ------------------------------------------------------------------------------------------


class _Enough(Exception):  # noqa: N818 (as pytest-timeout's Failed)
    pass


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarm")
def test_a_timeout_of_the_test_keeps_what_is_in_flight(project: Project, server: Server) -> None:
    """pytest-timeout, or Ctrl-C in a script, raises in the main thread: answers in flight are paid for, and kept."""

    def ring(*_: object) -> None:
        raise _Enough

    before = signal.signal(signal.SIGALRM, ring)
    run = Run.from_config(project.path / "pyproject.toml", record="missing", force=True)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.7)
        with pytest.raises(_Enough):
            run.gate("recency-new-old", judge="mine", dataset="own")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    run.close()
    kept = sum(len(file.read_text().splitlines()) - 1 for file in project.cassettes.glob("mine/own/*-*.jsonl"))
    assert kept == len(server.asked) > 1
