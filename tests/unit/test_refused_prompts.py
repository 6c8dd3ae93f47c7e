"""Refused prompts: one is one invalid answer, whatever status and words a server has for it; many end the recording.

The wordings are made up after those of OpenAI, Azure, Anthropic, Google, Bedrock, xAI, Groq, Mistral, DeepSeek, Moonshot,
MiniMax, Zhipu, DashScope, OpenRouter, LiteLLM, Portkey, Cloudflare, vLLM, SGLang, TGI, llama.cpp and LM Studio.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import asking
from support.asking import a_judge, header, rows, run, some_pairs
from support.server import ALL_SDKS, SECOND, Answer, Asked, chat, gemini, good, problem, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.client import requests as requests_module
from judgefixtures.judges.judge import FatalJudgeError, Judge
from judgefixtures.models.judgments import Judgment

pytestmark = pytest.mark.usefixtures("quick_and_alone")

FILTERED: list[tuple[int, Any]] = [
    (400, problem("Bad request.", code="400", innererror={"code": "ResponsibleAIPolicyViolation"})),
    (
        403,
        {"code": "Forbidden", "error": "Text violates usage guidelines. Team: t, API key ID: i, SAFETY_CHECK_TYPE_BIO"},
    ),
    (400, problem("Output blocked by content filtering policy")),
    (400, problem("This prompt contains sensitive words that violate Responsible AI practices.")),
    (422, problem("output new_sensitive (1027)")),
    (400, problem("系统检测到输入内容可能包含不安全或敏感内容", code="1301")),
    (400, problem("The input text may contain sensitive information.", code="InputTextSensitiveContentDetected")),
    (400, problem("Violated guardrail policy")),
    (400, problem("Guardrail raised an exception, Guardrail: names")),
    (446, problem("The guardrail checks failed")),
    (424, {"errors": [{"code": 2016, "message": "Prompt blocked due to security configurations"}]}),
    (400, problem("Prompt blocked: prompt injection detected")),
    (500, problem("The completion was withheld by the safety system.")),
    (503, problem("Upstream error: request was flagged by the moderation endpoint")),
    (400, {"message": "The provided input was blocked by our content filters.", "__type": "ValidationException"}),
    (451, problem("This content is not allowed under our acceptable use policy.")),
    (403, {"detail": "Your question may violate our terms of service."}),
    (422, {"detail": [{"loc": ["body"], "msg": "The text was classified as hate speech"}]}),
    (400, {"error_code": 336104, "error_msg": "the content of message is illegal"}),
    (400, problem("Prompt was refused: prohibited content")),
    (
        200,
        problem("Provider failed", code=502, metadata={"raw": '{"error": "input flagged by moderation", "id": "r1"}'}),
    ),
    (200, problem("Provider failed", code=400, metadata={"raw": {"error": {"message": "unsafe content"}}})),
    (200, chat("", "content_filtered")),
    (200, {"choices": None, "model": "m", "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}),
    (200, {"errors": [{"code": 2016, "message": "Prompt blocked by content moderation"}]}),
]
TOO_LARGE: list[tuple[int, Any]] = [
    (400, problem("Input tokens exceed the configured limit of 9 tokens. Your messages resulted in 10 tokens.")),
    (400, problem("prompt is too long: 210 tokens > 200 maximum")),
    (400, problem("Prompt contains 40000 tokens, too large for model with 32768 maximum context length")),
    (400, problem("The input (9000 tokens) is longer than the model's context length (8192 tokens).")),
    (500, problem("input is too large to process. increase the physical batch size")),
    (400, problem("cannot keep the first 9000 tokens: the model is loaded with context length of only 4096 tokens")),
    (400, {"message": "Input is too long for requested model."}),
    (400, {"message": "too many input tokens. Max input tokens: 8192, request input token count: 9000"}),
    (400, {"message": "expected maxLength: 400000, actual: 500000, please reformat your input and try again."}),
    (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193"}),
    (400, problem("Prompt 超长", code="1261")),
    (400, {"errors": [{"message": "the number of input tokens 9000 cannot exceed the total tokens limit 8192"}]}),
    (413, problem("Request body too large for this model. Max size: 8000 tokens.", code="tokens_limit_reached")),
    (502, problem("upstream: the prompt has 9000 tokens but the context is 4096")),
    (400, problem("Message has 9,012 tokens; this deployment takes at most 8,192.")),
    (400, problem("Payload of 9 MB is above the 4 MB that are allowed")),
]
TRUNCATED: list[tuple[int, Any]] = [
    (400, problem("Could not finish the message because max_tokens or model output limit was reached.")),
    (400, problem("The model ran out of output tokens before it finished.")),
    (500, problem("Generation was cut off: output token limit reached")),
    (422, problem("Reasoning consumed all 512 completion tokens, and no answer was written")),
]
NO_ANSWER: list[tuple[int, Any]] = [
    (400, problem("Tool choice is none, but model called a tool", code="tool_use_failed", failed_generation="f()")),
    (400, problem("Tool call validation failed: attempted to call tool 'json' which was not in request.tools")),
    (400, problem("Parsing failed. The model generated output that could not be parsed.", code="output_parse_failed")),
    (500, problem("Failed to parse input at pos 0: <|channel|>analysis")),
    (500, problem("The model produced invalid content. Consider modifying your prompt.", type="model_error")),
    (500, problem("Unable to decode the model's output as a tool call")),
    (422, problem("The generation is not valid JSON and cannot be returned")),
    (200, chat("", "malformed_function_call")),
]
KINDS = {"filtered": FILTERED, "too-large": TOO_LARGE, "truncated": TRUNCATED, "no-answer": NO_ANSWER}
REFUSED = [(kind, status, body) for kind, those in KINDS.items() for status, body in those]


def spread(pairs: int) -> dict[int, tuple[str, int, Any]]:
    """Return which pairs are refused, every second one from the 21st on, and how."""
    return dict(zip(range(21, pairs, 2), REFUSED, strict=False))


def test_a_refused_prompt_is_one_invalid_item_in_whatever_words(tmp_path: Path) -> None:
    """Each wording gives its kind and costs no other pair; a second run asks nothing, and a replay says the same."""
    pairs = some_pairs(21 + 2 * len(REFUSED))
    refused = spread(len(pairs))

    def answering(asked: Asked) -> Answer:
        return wire(refused[asked.number][2], refused[asked.number][1]) if asked.number in refused else good("openai")

    with serving(by=answering) as server:
        judgments = run(a_judge("openai", server.url, max_attempts=2), tmp_path, pairs)
    kinds = {number: judgment.verdict.invalid for number, judgment in enumerate(judgments)}
    wrong = {str(refused[number][1:]): kinds[number] for number in refused if kinds[number] != refused[number][0]}
    assert wrong == {}
    assert {kind for number, kind in kinds.items() if number not in refused} == {None}
    for mode in ("missing", "none"):
        with serving(good("openai")) as server:
            again = run(a_judge("openai", server.url, max_attempts=2), tmp_path, pairs, mode=mode)
            assert server.asked == []
        assert [each.verdict for each in again] == [each.verdict for each in judgments]


EVERYBODYS: list[tuple[int, Any]] = [
    (403, problem("Your account was flagged for abuse and is suspended.", code="account_suspended")),
    (403, problem("Your organization has been disabled for violating our usage policy.")),
    (403, problem("Request is prohibited by organization's policy.")),
    (404, problem("No endpoints available matching your guardrail restrictions and data policy.")),
    (401, problem("Incorrect API key; see our usage policy")),
    (402, problem("The prompt is too long for your credits")),
    (400, problem("Your credit balance is too low; prompts are blocked")),
    (400, problem("content-safety-7b is not a valid model")),
    (500, problem("The content filter service is unavailable.")),
    (502, problem("Failed to parse upstream response")),
    (500, problem("The request queue is too long: more than 100 requests")),
    (500, problem("The request to the model took more than 300 seconds")),
    (
        400,
        problem(
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens", param="max_tokens"
        ),
    ),
    (400, problem("A schema in the request exceeds the maximum allowed nesting depth.")),
]


@pytest.mark.parametrize(("status", "body"), EVERYBODYS, ids=range(len(EVERYBODYS)))
def test_what_concerns_every_prompt_is_no_invalid_item(status: int, body: Any, tmp_path: Path) -> None:
    """Accounts, keys, models, outages and parameters end the recording as before, though the words sound alike."""
    pairs = some_pairs(3)
    with serving(good("openai"), wire(body, status)) as server, pytest.raises(FatalJudgeError):
        run(a_judge("openai", server.url, max_attempts=2), tmp_path, pairs, concurrency=1)
    assert [row["pair"] for row in rows(tmp_path)] == ["p000"]


PASSING: list[tuple[int, Any]] = [
    (500, problem("The completion was withheld by the safety system.")),
    (502, problem("upstream: the prompt has 9000 tokens but the context is 4096")),
    (500, problem("Generation was cut off: output token limit reached")),
    (408, problem("The reasoning used up all the time, and the model ran out of output tokens")),
]


@pytest.mark.parametrize(("status", "body"), PASSING, ids=range(len(PASSING)))
def test_prose_of_a_failing_server_is_retried(status: int, body: Any) -> None:
    """A passing outage may sound like this prompt's fault: another attempt decides. A code decides at once."""
    with serving(wire(body, status), good("openai")) as server:
        reply = asking.ask(a_judge("openai", server.url, max_attempts=2))
    assert (reply.verdict.invalid, len(server.asked)) == (None, 2)
    with serving(wire(problem("Blocked.", code="content_filter"), 500)) as server:
        reply = asking.ask(a_judge("openai", server.url, max_attempts=2))
    assert (reply.verdict.invalid, len(server.asked)) == ("filtered", 1)


def test_a_header_that_is_too_large_is_no_prompt_that_is() -> None:
    """Every prompt is sent with the same headers: the run ends."""
    problems = wire(problem("The request header is too large: the maximum size is 8192 bytes"), 400)
    with serving(problems) as server, pytest.raises(FatalJudgeError):
        asking.ask(a_judge("openai", server.url))


def test_a_page_of_a_failing_gateway_makes_no_answer_invalid() -> None:
    """The page is retried as an outage, and ends the run if it stays, whatever its words sound like."""
    page = wire("<p>The prompt is too long</p>", 500, content_type="text/html")
    with serving(page) as server, pytest.raises(FatalJudgeError, match="no answer after"):
        asking.ask(a_judge("openai", server.url, max_attempts=2))
    assert len(server.asked) == 2


# --- most of the first ones -------------------------------------------------------------------------------

BLOCKED = {
    "openai": wire(problem("Blocked.", code="content_filter"), 400),
    "google": wire({"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 3}}),
    "anthropic": wire({"type": "error", "error": {"type": "invalid_request_error", "message": "Content filter"}}, 400),
}


def refusing(sdk: str, refused: Callable[[int], bool]) -> Callable[[Asked], Answer]:
    """Return what refuses some pairs."""
    return lambda asked: BLOCKED[sdk] if refused(asked.number) else good(sdk)


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_recording_stops_where_most_of_its_first_prompts_are_refused(sdk: str, tmp_path: Path) -> None:
    """11 of the first 20 end it: how many of which kind is said, they are kept, and --judge-force goes on."""
    pairs = some_pairs(40)
    with serving(by=refusing(sdk, lambda number: number % 3 > 0)) as server:
        with pytest.raises(
            FatalJudgeError, match=r"11 of the first 1\d answers .*filtered 11.*--judge-force"
        ) as caught:
            run(a_judge(sdk, server.url), tmp_path, pairs, concurrency=1)
        assert "--judge-record invalid" in str(caught.value)
        asked = len(server.asked)
        assert asked <= 17
        assert len(rows(tmp_path)) == asked
        judge = a_judge(sdk, server.url)
        judge.early_stop.matter = False  # --judge-force
        judgments = run(judge, tmp_path, pairs)
    assert len(server.asked) == 40
    assert [each.verdict.invalid for each in judgments] == ["filtered" if n % 3 else None for n in range(40)]


def test_a_recording_stops_whose_every_prompt_is_refused(tmp_path: Path) -> None:
    """The questions that find out what a model takes count among the first ones, too."""
    with serving(BLOCKED["openai"]) as server, pytest.raises(FatalJudgeError, match="11 of the first 11"):
        run(a_judge("openai", server.url), tmp_path, some_pairs(60))
    assert len(server.asked) == 11


def test_ten_of_the_first_twenty_do_not_stop_it(tmp_path: Path) -> None:
    """Half of them is not more than half, and what comes after the first ones does not count."""
    with serving(by=refusing("openai", lambda number: number % 2 == 1 or number >= 20)) as server:
        judgments = run(a_judge("openai", server.url), tmp_path, some_pairs(40), concurrency=1)
    assert [each.verdict.invalid for each in judgments].count("filtered") == 30


# --- in flight ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("status", [401, 402, 404])
def test_answers_in_flight_are_kept_when_an_error_ends_the_run(sdk: str, status: int, tmp_path: Path) -> None:
    """What was sent before the error is paid for: it arrives, is kept, and nothing further is asked."""
    pairs = some_pairs(40)

    def answering(asked: Asked) -> Answer:
        time.sleep(0.1 if asked.number == 5 else 0.5)
        return wire(problem("No.", type="billing"), status) if asked.number == 5 else good(sdk)

    with serving(by=answering) as server, pytest.raises(FatalJudgeError, match=f"HTTP {status}"):
        run(a_judge(sdk, server.url), tmp_path, pairs, concurrency=8)
    paid = {pairs[asked.number].id for asked in server.asked} - {"p005"}
    assert len(paid) >= 5
    assert {row["pair"] for row in rows(tmp_path)} == paid
    assert len(server.asked) < 20


def test_an_answer_that_is_waited_for_again_does_not_hold_the_end(tmp_path: Path) -> None:
    """A question that waits for its next attempt is not in flight: the end does not wait for it."""

    def answering(asked: Asked) -> Answer:
        if asked.number == 3:
            time.sleep(0.2)
            return wire(problem("No credit."), 402)
        return wire(problem("Later."), 500, retry_after="20") if asked.number == 4 else good("openai")

    began = time.monotonic()
    with serving(by=answering) as server, pytest.raises(FatalJudgeError, match="402"):
        run(a_judge("openai", server.url), tmp_path, some_pairs(8), concurrency=8)
    assert time.monotonic() - began < 5


def test_answers_in_flight_are_kept_when_a_script_is_interrupted(tmp_path: Path) -> None:
    """Ctrl-C in a script cancels the task that records: what is in flight arrives first."""

    def answering(asked: Asked) -> Answer:
        time.sleep(0.0 if asked.number == 0 else 0.6)
        return good("openai")

    async def interrupted(execution: Any) -> Any:
        task = asyncio.ensure_future(requests_module.run_requests(execution))
        await asyncio.sleep(0.4)
        task.cancel()
        return await task

    with pytest.MonkeyPatch.context() as patch, serving(by=answering) as server:
        patch.setattr(asking, "run_requests", interrupted)
        with pytest.raises(asyncio.CancelledError):
            run(a_judge("openai", server.url), tmp_path, some_pairs(30), concurrency=8)
        sent = {asked.number for asked in server.asked}
    assert {int(row["pair"][1:]) for row in rows(tmp_path)} == sent
    assert 1 < len(sent) < 30


# --- an error that explains nothing -------------------------------------------------------------------------

ODD = wire({"error": {"message": "We are sorry."}}, 400)


def verdicts(judgments: list[Judgment]) -> list[Any]:
    """Return the verdicts of judgments."""
    return [each.verdict for each in judgments]


@pytest.mark.parametrize("at", [0, 7])
@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_an_unexplained_400_is_of_one_prompt_where_others_are_answered(sdk: str, at: int, tmp_path: Path) -> None:
    """The same request with another prompt is answered, so the prompt is why: no-answer, recorded and replayed."""
    pairs = some_pairs(12)
    with serving(by=lambda asked: ODD if asked.number == at else good(sdk)) as server:
        judgments = run(a_judge(sdk, server.url), tmp_path, pairs)
    assert [each.verdict.invalid for each in judgments] == ["no-answer" if n == at else None for n in range(12)]
    assert "We are sorry." in judgments[at].reply.detail
    with serving(good(sdk)) as server:
        again = run(a_judge(sdk, server.url), tmp_path, pairs)
        assert server.asked == []
    assert verdicts(again) == verdicts(judgments)
    assert verdicts(run(a_judge(sdk, "http://127.0.0.1:9"), tmp_path, pairs, mode="none")) == verdicts(judgments)


def test_an_unexplained_400_to_every_prompt_ends_the_run(tmp_path: Path) -> None:
    """Two prompts that are refused alike are enough at the beginning, and ten in a row later on."""
    with serving(ODD) as server, pytest.raises(FatalJudgeError, match="We are sorry"):
        run(a_judge("openai", server.url), tmp_path / "a", some_pairs(12))
    assert len(server.asked) == 2
    with serving(by=lambda asked: good("openai") if asked.number < 21 else ODD) as server:
        with pytest.raises(FatalJudgeError, match="We are sorry"):
            run(a_judge("openai", server.url), tmp_path / "b", some_pairs(60), concurrency=1)
        assert len(server.asked) == 32


# --- tokens ---------------------------------------------------------------------------------------------------


def usage_of(sdk: str, read: int, written: int, thought: int, how: str) -> Any:
    """Return a completion whose tokens are reported in one of the ways that servers have."""
    if sdk == "google":
        counts = {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            "totalTokenCount": read + written + thought,
        }
        return gemini(SECOND, usageMetadata=counts | ({"thoughtsTokenCount": thought} if how != "total" else {}))
    inside = how == "inside"
    counts = {"prompt_tokens": read, "completion_tokens": written + thought if inside else written}
    if how != "details":
        counts["total_tokens"] = read + written + thought
    if how != "total":
        counts["completion_tokens_details"] = {"reasoning_tokens": thought}
    return chat(SECOND, usage=counts)


@pytest.mark.parametrize("how", ["inside", "beside", "total", "details"])
@pytest.mark.parametrize("sdk", ["openai", "google"])
def test_thoughts_are_priced_wherever_they_are_counted(sdk: str, how: str, tmp_path: Path) -> None:
    """Inside the completion, beside it, told by the total alone or by details alone: tokens out are the same."""
    for read, written, thought in itertools.product((5, 900), (7, 60), (61, 4000)):
        if sdk == "google" and how == "details":
            continue
        with serving(wire(usage_of(sdk, read, written, thought, how))) as server:
            (judgment,) = run(a_judge(sdk, server.url), tmp_path / f"{read}-{written}-{thought}", some_pairs(1))
        usage = judgment.reply.usage
        assert (usage.input_tokens, usage.output_tokens) == (read, written + thought)
        assert usage.reasoning_tokens in (thought, None if how == "total" else thought)


# --- parameters -----------------------------------------------------------------------------------------------


def fatal(judge: Judge, folder: Path) -> str:
    """Return the error that ends a recording."""
    with pytest.raises(FatalJudgeError) as caught:
        run(judge, folder, some_pairs(3))
    return str(caught.value)


UNSENT = [
    "Thinking is only available as a stream here.",
    "reasoning_effort cannot be used on this route.",
    "Unsupported parameter: 'top_k'. Use temperature or seed.",
    "logprobs is not supported together with response_format.",
    "'stream' is not supported: set it to true, or lower max_tokens.",
    "[{'type': 'extra_forbidden', 'loc': ('body', 'top_p'), 'msg': 'temperature is enough'}]",
    "The system role needs a developer account.",
]


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("message", UNSENT)
def test_what_was_not_sent_is_not_blamed_and_drops_nothing(
    message: str, drop: bool, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    """The server's words are shown, no key of the table is named as the cause, and nothing is left out."""
    with serving(wire(problem(message, param=None), 400)) as server:
        error = fatal(a_judge("openai", server.url, drop_unsupported=drop), tmp_path)
    assert error == snapshot
    assert "drop_unsupported" not in error
    assert not re.search(r"(change|remove|set) (max_output|temperature|seed|response_format|reasoning|thinking)", error)
    sent = [asked.body.keys() for asked in server.asked]
    assert all(keys == sent[0] for keys in sent)


THINKING = [
    ("openai", {"reasoning_effort": "none"}, "reasoning_effort"),
    ("google", {"thinking_budget": 0}, "thinking_budget"),
    ("google", {"thinking_level": "LOW"}, "thinking_level"),
    ("anthropic", {"thinking_budget": 0}, "thinking_budget"),
    ("anthropic", {"reasoning_effort": "low"}, "reasoning_effort"),
]
THINKS = ["Reasoning is mandatory here.", "This model always thinks.", "You may not switch thinking off."]


def holds(body: Any, words: str) -> bool:
    """Tell whether a request says something of thinking."""
    return re.search(words, json.dumps({key: value for key, value in body.items() if key != "messages"})) is not None


@pytest.mark.parametrize("message", THINKS)
@pytest.mark.parametrize(("sdk", "more", "key"), THINKING)
def test_thinking_that_is_refused_is_named_or_left_out(
    sdk: str, more: dict[str, Any], key: str, message: str, tmp_path: Path
) -> None:
    """The error names the key of the table; with drop_unsupported the setting is left out and the answers count."""

    def answering(asked: Asked) -> Answer:
        sent = holds(asked.body, "reasoning_effort|thinkingConfig|thinking|effort")
        return wire(problem(message, param=None), 400) if sent else good(sdk)

    with serving(by=answering) as server:
        assert key in fatal(a_judge(sdk, server.url, **more), tmp_path / "a").partition(" -- ")[2]
        judgments = run(a_judge(sdk, server.url, drop_unsupported=True, **more), tmp_path / "b", some_pairs(3))
    assert [each.verdict.selected_response for each in judgments] == [2, 2, 2]


ROLE = [
    (400, "System role not supported"),
    (400, "Developer instruction is not enabled for this model"),
    (400, "messages: roles must alternate user/assistant"),
    (400, "Only user and assistant roles are supported!"),
    (422, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    (500, "Jinja Exception: System role not supported"),
]


@pytest.mark.parametrize(("status", "message"), ROLE)
@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_system_prompt_that_is_refused_is_named_or_begins_the_prompt(
    sdk: str, status: int, message: str, tmp_path: Path
) -> None:
    """The error names system_prompt; with drop_unsupported its text begins each prompt, and a replay does the same."""
    path = tmp_path / "system.txt"
    path.write_text("You are careful.")

    def answering(asked: Asked) -> Answer:
        body = asked.body
        sent = (
            "system" in body
            or "systemInstruction" in body
            or any(m["role"] == "system" for m in body.get("messages", ()))
        )
        return wire(problem(message, param=None), status) if sent else good(sdk)

    with serving(by=answering) as server:
        error = fatal(a_judge(sdk, server.url, system_prompt=str(path)), tmp_path / "a")
        assert "system_prompt" in error
        assert "drop_unsupported" not in error
        judge = a_judge(sdk, server.url, system_prompt=str(path), drop_unsupported=True)
        judgments = run(judge, tmp_path / "b", some_pairs(3))
        assert {asked.prompt.startswith("You are careful.\n\n") for asked in server.asked[-3:]} == {True}
        count = len(server.asked)
        again = run(
            a_judge(sdk, server.url, system_prompt=str(path), drop_unsupported=True), tmp_path / "b", some_pairs(3)
        )
    assert len(server.asked) == count
    assert verdicts(again) == verdicts(judgments)
    assert header(tmp_path / "b")["judge"]["dropped"] == ["system_prompt"]
    assert [each.verdict.selected_response for each in judgments] == [2, 2, 2]
