"""Servers of one's own: what llama.cpp, llama-cpp-python, vLLM and Ollama send, and what each of it has to come to.

The cases, each with where it is from, are in data/local-servers.json. What was not observed on a server is "by
documentation"; servers that run are in tests/real.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, ask, rows, run, some_pairs, table
from support.rendered import lines_about
from support.server import Answer, Asked, chat, good, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks import CheckInput
from judgefixtures.client import retry as retry_module
from judgefixtures.config import build_config
from judgefixtures.judges.judge import FatalJudgeError, load_judge
from judgefixtures.models.replies import JudgeReply
from judgefixtures.run.run import ItemRecord, Run, RunOptions
from judgefixtures.util.secrets import register_secrets

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "local-servers.json").read_text(encoding="utf-8")
)
MODEL = "the-model"
pytestmark = pytest.mark.usefixtures("quick_and_alone")


def answer_of(case: dict[str, Any]) -> Answer:
    """Return what a case's server sends."""
    return wire(case["body"], case["http_status"])


def judge_of(case: dict[str, Any], url: str) -> Any:
    """Return the judge that a case is about."""
    return load_judge(table("openai", url, **{"model": MODEL, **case["more"]}), "mine")


def test_every_server_has_its_cases() -> None:
    """Each server's quirks are tried in several classes, names tell them apart, and each says where it is from."""
    assert len({case["id"] for case in CASES}) == len(CASES) >= 45
    assert all(case["basis"].startswith(("observed: ", "by documentation (")) and case["why"] for case in CASES)
    classes = Counter(server for server, _ in {(case["server"], str(case["expected"])) for case in CASES})
    assert set(classes) == {"llama.cpp", "llama-cpp-python", "vLLM", "Ollama", "any"}
    assert min(classes[name] for name in ("llama.cpp", "vLLM", "Ollama")) >= 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_a_local_server_sends_has_one_right_outcome(case: dict[str, Any]) -> None:
    """A verdict with or without its probability, an invalid kind, one more request, or an end that says what to do."""
    outcome = case["expected"]
    with serving(answer_of(case), good("openai")) as server:
        judge = judge_of(case, server.url)
        if outcome == "fatal":
            with pytest.raises(FatalJudgeError) as raised:
                ask(judge, "Which one?")
            said = str(raised.value)
        else:
            reply = ask(judge, "Which one?")
            said = reply.detail
            check_reply(reply, case)
        assert len(server.asked) == (2 if outcome == "retry" else 1)
    for words in case.get("said", ()) if outcome != "retry" else ():
        assert words in said
    assert not [words for words in case.get("unsaid", ()) if words in said]


def check_reply(reply: JudgeReply, case: dict[str, Any]) -> None:
    """Check the verdict of a case, and its probability: the odds that the case states, a bound, or none."""
    outcome = case["expected"]
    if outcome not in (1, 2):
        assert reply.invalid == (None if outcome == "retry" else outcome), reply
        assert reply.verdict.selected_response == (2 if outcome == "retry" else None)
        return
    assert (reply.verdict.selected_response, reply.invalid) == (outcome, None)
    told = reply.verdict.probability
    assert (told is not None) == ("odds" in case or "bounded" in case)
    if told is not None:
        assert told.is_bound == case.get("bounded", False)
        assert told.is_bound or told.log_odds == pytest.approx(case["odds"], abs=1e-6)


# --- while it loads ---------------------------------------------------------------------------------------------

LOADING = {
    "llama.cpp": wire(problem("Loading model", type="unavailable_error", code=503), 503),
    "Ollama": wire(problem("unexpected server status: llm server loading model", type="api_error"), 500),
    "vLLM behind a gateway": wire({"error": "Model Qwen/Qwen3-32B is currently loading"}, 503),
}


def hasten(monkeypatch: pytest.MonkeyPatch, loading: float) -> None:
    """Wait for a tenth of a second for what passes by itself, and so long for a server that loads."""
    monkeypatch.setattr(retry_module, "LONGEST_BACKOFF", 0.05)
    monkeypatch.setattr(retry_module, "LONGEST_WAIT", 0.1)
    monkeypatch.setattr(retry_module, "LONGEST_LOADING", loading)


@pytest.mark.parametrize("loading", LOADING.values(), ids=LOADING.keys())
def test_a_server_that_loads_is_waited_for(loading: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than any other outage, whatever its status, and by the first question: nothing is dropped, all is answered.

    The format is not blamed for the failures.
    """
    hasten(monkeypatch, 60.0)
    with serving(*[loading] * 15, good("openai")) as server:
        judge = a_judge("openai", server.url, max_attempts=2, drop_unsupported=True)
        judgments = run(judge, tmp_path, some_pairs(3))
    assert [judgment.verdict.selected_response for judgment in judgments] == [2] * 3
    assert len(server.asked) == 15 + 3
    assert "dropped" not in judge.identity


@pytest.mark.parametrize("loading", LOADING.values(), ids=LOADING.keys())
def test_a_server_that_never_ends_loading_is_said_to(
    loading: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """The run ends with what the server says, how long it was waited for, and how to go on."""
    hasten(monkeypatch, 0.5)
    with serving(loading) as server, pytest.raises(FatalJudgeError) as error:
        run(a_judge("openai", server.url, max_attempts=2), tmp_path, some_pairs(3))
    assert str(error.value) == snapshot
    assert server.asked[-1].at - server.asked[0].at >= 0.25


def test_another_outage_is_not_waited_for_as_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a server that says that it loads is given the time that loading takes."""
    hasten(monkeypatch, 60.0)
    with serving(wire(problem("Not now."), 503)) as server, pytest.raises(FatalJudgeError, match="Not now"):
        run(a_judge("openai", server.url), tmp_path, some_pairs(1))


# --- what it does not take ---------------------------------------------------------------------------------------


PYTHON_REFUSES = {
    "logprobs": "logprobs is not supported for models created with logits_all=False",
    "response_format": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "
    "\"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}",
}


def refusing(parameter: str, asked: Asked) -> Answer:
    """Answer as llama-cpp-python does (observed: 0.3.36): 500 for as long as a parameter is sent."""
    if parameter not in asked.body:
        return good("openai")
    return wire(problem(PYTHON_REFUSES[parameter], type="internal_server_error", param=None, code=None), 500)


@pytest.mark.parametrize("parameter", PYTHON_REFUSES)
def test_what_llama_cpp_python_fails_on_is_dropped(parameter: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Its 500, which no retry cures, is found by the first question; the identity says what is not sent.

    Probabilities it has only with --logits_all, and a schema only in json_object.
    """
    with serving(by=lambda asked: refusing(parameter, asked)) as server:
        judge = a_judge("openai", server.url, logprobs=True, drop_unsupported=parameter == "response_format")
        judgments = run(judge, tmp_path, some_pairs(3))
    assert [judgment.verdict.selected_response for judgment in judgments] == [2] * 3
    assert judge.identity["dropped"] == snapshot


def test_a_format_that_llama_cpp_python_fails_on_is_named(tmp_path: Path) -> None:
    """Where nothing may be dropped the run ends with the parameter's name and what to write instead."""
    with (
        serving(by=lambda asked: refusing("response_format", asked)) as server,
        pytest.raises(FatalJudgeError, match=r"response_format = 'json_schema'.*\"json_object\""),
    ):
        run(a_judge("openai", server.url), tmp_path, some_pairs(3))


OLDER = {"tokens": ['{"selected', '_response": ', "1", "}"], "token_logprobs": [-0.1, -0.1, -0.2, 0.0]}


@pytest.mark.parametrize(
    "told",
    [
        {**OLDER, "tokens": 7},
        {**OLDER, "token_logprobs": None},
        {**OLDER, "token_logprobs": [-0.1]},
        {**OLDER, "top_logprobs": [{}]},
        {**OLDER, "top_logprobs": [[], 1, {"1": "likely"}, None]},
        {**OLDER, "tokens": [1, 2, 3, 4]},
    ],
    ids=["no tokens", "no chances", "too few chances", "too few places", "no alternatives", "numbers"],
)
def test_an_older_list_that_cannot_be_read_costs_no_verdict(told: dict[str, Any]) -> None:
    """The verdict counts as it is, without a probability."""
    body = chat('{"selected_response": 1, "reason": "ok"}')
    body["choices"][0]["logprobs"] = told
    with serving(wire(body)) as server:
        reply = ask(a_judge("openai", server.url, logprobs=True))
        assert len(server.asked) == 1
    assert (reply.verdict.selected_response, reply.verdict.probability) == (1, None)


def test_older_tokens_that_spell_a_secret_are_not_recorded(tmp_path: Path) -> None:
    """A secret that no token holds alone, but all of them together, is in no recording."""
    secret = "hush-4711-hush-4711-hush"
    register_secrets(secret)
    body = chat('{"selected_response": 1, "reason": "ok"}')
    body["choices"][0]["logprobs"] = {"tokens": [secret[:9], secret[9:]], "token_logprobs": [-0.1, -0.1]}
    with serving(wire(body)) as server:
        run(a_judge("openai", server.url, logprobs=True), tmp_path, some_pairs(1))
    (row,) = rows(tmp_path)
    assert secret[:9] not in json.dumps(row)
    assert row["json"]["choices"][0]["logprobs"] == {}


# --- a context that is too small ---------------------------------------------------------------------------------


def test_a_first_answer_without_room_is_not_blamed_on_the_limit(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """Where the context is full, raising max_output_tokens would end in the same message for ever."""
    usage = {"prompt_tokens": 4084, "completion_tokens": 12}
    with serving(wire(chat('{"selected', "length", usage=usage))) as server:
        with pytest.raises(FatalJudgeError) as raised:
            run(a_judge("openai", server.url), tmp_path, some_pairs(3))
        assert len(server.asked) == 1
    assert lines_about(str(raised.value), "tokens: its") == snapshot
    assert "Raise max_output_tokens" not in str(raised.value)


@pytest.mark.parametrize(
    "usage",
    [
        {"completion_tokens": 512},
        {"completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 2}},
        {"prompt_tokens": 4084},
        {"completion_tokens": 3, "reasoning": "Let me see"},
    ],
    ids=["at its limit", "with thoughts", "not counted", "thoughts not counted"],
)
def test_an_answer_that_may_have_reached_its_limit_is_blamed_on_it(usage: dict[str, Any], tmp_path: Path) -> None:
    """Only what is known to have ended early is: some servers count no thoughts, some nothing."""
    with (
        serving(wire(chat('{"selected', "length", usage=usage, reasoning=usage.get("reasoning")))) as server,
        pytest.raises(FatalJudgeError, match="Raise max_output_tokens"),
    ):
        run(a_judge("openai", server.url), tmp_path, some_pairs(3))


CUT = "prompts of different lengths"


@pytest.mark.parametrize(
    ("context", "sizes", "warned"),
    [
        (512, (900, 1500, 2000, 2600), True),
        (511, (900, 1500, 2000, 2600), True),
        (2048, (900, 1500, 2000, 2600), False),
        (500, (900, 1500, 2000, 2600), False),
        (512, (1500, 1500, 1500, 1500), False),
    ],
    ids=["cut", "cut but for one", "room", "no context", "equally long"],
)
def test_prompts_that_are_cut_without_a_word_are_told(
    context: int, sizes: tuple[int, ...], warned: bool, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """Ollama reads the part of a prompt that fits and answers: such a judge did not see what it was asked about.

    The run warns, and so does its replay; nothing is said where prompts fit, or are equally long.
    """
    pairs = [
        {"id": f"p{number}", "question": "Why? " + "x" * size, "response_1": "One", "response_2": "Other"}
        for number, size in enumerate(sizes)
    ]
    (tmp_path / "few.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))

    def answering(asked: Asked) -> Answer:
        tokens = min(len(asked.prompt) // 2, context)
        return wire(
            chat('{"selected_response": 2, "reason": "ok"}', usage={"prompt_tokens": tokens, "completion_tokens": 9})
        )

    with serving(by=answering) as server:
        config = build_config(
            {
                "control": False,
                "datasets": {"few": {"path": str(tmp_path / "few.jsonl")}},
                "judges": {"mine": table("openai", server.url)},
            },
            folder=tmp_path,
        )
        for mode in ("missing", "none"):
            with Run(config, tmp_path / "cassettes", RunOptions(record=mode, force=True)) as live:
                ledger, judge = ItemRecord(), live.judge("mine")
                check = live.registry.check("recency-new-old")
                live.check(check, CheckInput(judge, "few", live.pairs("mine", "few"), config), ledger)
            found = [warning for warning in ledger.warnings if CUT in warning]
            assert warned == snapshot
            assert all("num_ctx" in warning and "--judge-record all" in warning for warning in found)
