"""Providers through the real SDKs: a loopback server answers as the wire does, and each answer has one right outcome.

Server, replies and ways to ask are those of support.
"""

import asyncio
import base64
import contextlib
import copy
import email.utils
import functools
import gzip
import itertools
import json
import random
import socket
import ssl
import sys
import threading
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asking import FIRST_WAIT, PATIENCE, a_judge, ask, rows, run, some_pairs
from support.server import (
    ALL_SDKS,
    FIRST,
    MODELS,
    SDKS,
    SECOND,
    Answer,
    Asked,
    Server,
    called,
    chat,
    claude,
    claude_problem,
    free_port,
    gemini,
    good,
    google_problem,
    latin,
    problem,
    serving,
    wire,
)
from syrupy.assertion import SnapshotAssertion

from judgefixtures.judges.judge import FatalJudgeError, load_judge
from judgefixtures.models.replies import JudgeReply
from judgefixtures.providers import openai

CLAUDE_FILE = Path(__file__).parent / "data" / "anthropic-cases.json"  # made of Anthropic's documentation, 2026-11
SHARED_CASES = Path(__file__).parents[2].parent / "shared" / "data" / "provider-cases.json"

pytestmark = pytest.mark.usefixtures("quick_and_alone")

# --- cases --------------------------------------------------------------------------------------------------

RETRY, FATAL = "retry", "fatal"
KINDS = ("1", "2", "invalid", RETRY, FATAL)


@dataclass(frozen=True, eq=False)
class Case:
    """An answer and its right outcome: 1, 2, the kind of an invalid verdict, RETRY or FATAL.

    `said` are words of the fatal error, the remedy above all; `more` is added to the judge's table.
    """

    name: str
    sdk: str
    answer: Answer | None  # None: nobody listens
    outcome: int | str
    said: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The outcome's class."""
        return str(self.outcome) if str(self.outcome) in KINDS else "invalid"


@dataclass(frozen=True)
class Outcome:
    """What became of a case, how many requests that took, and what was said."""

    outcome: int | str
    requests: int
    said: str

    @property
    def kind(self) -> str:
        """The outcome's class, or `other` for what must never happen."""
        if isinstance(self.outcome, str) and self.outcome.startswith("invalid "):
            return "invalid"
        return str(self.outcome) if str(self.outcome) in KINDS else "other"


@functools.cache
def tried(case: Case) -> Outcome:
    """Give a case's answer to a judge's first request and a good one to all others; run once a process."""
    if case.answer is None:
        return _tried(case, f"http://127.0.0.1:{free_port()}", [])
    with serving(case.answer, good(case.sdk)) as server:
        return _tried(case, server.url, server.asked)


def _tried(case: Case, url: str, asked: list[Asked]) -> Outcome:
    judge = a_judge(case.sdk, url, **case.more)

    async def verdict() -> Any:
        try:
            async with asyncio.timeout(PATIENCE):
                return await judge.verdict("Question 1: which one?")
        finally:
            await judge.close()

    try:
        found = asyncio.run(verdict())
    except FatalJudgeError as error:
        return Outcome(FATAL, len(asked), str(error))
    except Exception as error:
        return Outcome(f"raised {type(error).__name__}", len(asked), str(error))
    if found.invalid:
        return Outcome(f"invalid {found.invalid}", len(asked), found.reason)
    if len(asked) > 1:
        return Outcome(RETRY if found.selected_response == 2 else "not asked again", len(asked), found.reason)
    return Outcome(found.selected_response, len(asked), found.reason)


REQUESTS = {RETRY: 2}  # everything else is settled by the first answer


def failings(case: Case) -> list[str]:
    """Return what is wrong with a case's outcome."""
    got = tried(case)
    expected = case.outcome if case.outcome == case.kind or case.outcome in (1, 2) else f"invalid {case.outcome}"
    wrong = []
    if got.outcome != expected and not (expected == "invalid" == got.kind):
        wrong.append(f"expected {expected}, got {got.outcome}: {got.said}")
    requests = 0 if case.answer is None else REQUESTS.get(case.kind, 1)
    if got.requests != requests:
        wrong.append(f"expected {requests} requests, got {got.requests}")
    if got.outcome == FATAL and not got.said.startswith("judge 'mine': "):
        wrong.append(f"the error does not name the judge: {got.said}")
    wrong += [f"not said: {words!r} in {got.said!r}" for words in case.said if words not in got.said]
    return wrong


def confusion(title: str, cases: Sequence[Case]) -> str:
    """Return a table of expected classes by classes that came."""
    counts = Counter((case.kind, tried(case).kind) for case in cases)
    columns = [*KINDS, "other"]
    lines = [f"{title}: {len(cases)} cases", "expected \\ got".ljust(16) + "".join(name.rjust(9) for name in columns)]
    for kind in KINDS:
        lines.append(kind.ljust(16) + "".join(str(counts[kind, name] or "·").rjust(9) for name in columns))
    return "\n".join(lines)


def cases_of(outcome: int | str, sdk: str, *rows: tuple[Any, ...], said: tuple[str, ...] = ()) -> list[Case]:
    """Return cases that share outcome and SDK; a row is (name, answer) with words of the error or a table's keys."""
    found = []
    for name, answer, *rest in rows:
        words = tuple(each for each in rest if isinstance(each, str))
        more = {key: value for each in rest if isinstance(each, dict) for key, value in each.items()}
        found.append(Case(f"{name}, {sdk}", sdk, answer, outcome, said + words, more))
    return found


HTML = "<!doctype html>\n<html><body><h1>Welcome to the guest network</h1></body></html>"
NGINX = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center>nginx</center></body>\r\n</html>"
SSE = 'data: {"choices":[{"delta":{"content":"{"}}]}\n\ndata: [DONE]\n\n'
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
QUOTA = "type.googleapis.com/google.rpc.QuotaFailure"
INFO = "type.googleapis.com/google.rpc.ErrorInfo"
GZIPPED = {"content_encoding": "gzip"}
FENCED = f"```json\n{SECOND}\n```"
LATER, EARLIER = (email.utils.formatdate(time.time() + shift, usegmt=True) for shift in (7200, -7200))

OWN_CASES = [
    # A verdict, however it is wrapped on its way.
    *cases_of(
        1,
        "openai",
        ("byte order mark before the envelope", wire(b"\xef\xbb\xbf" + json.dumps(chat(FIRST)).encode())),
        ("byte order mark before the verdict", wire(chat("\ufeff" + FIRST))),
        ("gzip", wire(gzip.compress(json.dumps(chat(FIRST)).encode()), **GZIPPED)),
        ("chunks", wire(chat(FIRST), transport="chunked")),
        ("JSON that calls itself text", wire(chat(FIRST), content_type="text/plain")),
        ("a charset that is not used", wire(chat(FIRST), content_type="application/json; charset=latin-1")),
        (
            "content as a list of parts",
            wire(chat([{"type": "text", "text": FIRST[:20]}, {"type": "text", "text": FIRST[20:]}])),
        ),
        ("no finish reason", wire(chat(FIRST, None))),
        ("a finish reason of the server's own", wire(chat(FIRST, "eos_token"))),
        ("refusal that is an empty text", wire(chat(FIRST, refusal=""))),
        ("usage null", wire(chat(FIRST) | {"usage": None, "system_fingerprint": None})),
        ("a dated snapshot for its alias", wire(chat(FIRST, model="gpt-4o-2024-11-20"))),
        ("a short date for its alias", wire(chat(FIRST, model="gpt-4-0613")), {"model": "gpt-4"}),
        (
            "another model that is accepted",
            wire(chat(FIRST, model="house-model-7b")),
            {"accept_served_model": "house-model-7b"},
        ),
        (
            "the alias itself, where another is accepted",
            wire(chat(FIRST, model="gpt-4o")),
            {"accept_served_model": "house-model-7b"},
        ),
        ("reasoning_content beside the content", wire(chat(FIRST, reasoning_content="Two looks better. " + SECOND))),
        ("reasoning beside the content", wire(chat(FIRST, reasoning="Two looks better. " + SECOND))),
        ("a think block that says otherwise", wire(chat(f"<think>Perhaps {SECOND}?</think>\n{FIRST}"))),
        ("an array around it", wire(chat(f"[{FIRST}]"))),
        ("a number as text", wire(chat('{"selected_response": "1", "reason": "dated"}'))),
        ("blank lines before the envelope", wire("\n\n\n" + json.dumps(chat(FIRST)))),
        (
            "a part that is a thought",
            wire(
                chat(
                    [
                        {"type": "thinking", "thinking": [{"type": "text", "text": SECOND}]},
                        {"type": "text", "text": FIRST},
                    ]
                )
            ),
        ),
        ("the last token of brackets", wire(chat("Not [[B]], since it is undated. [[A]]")), {"verdict": "brackets"}),
        (
            "a second choice that says otherwise",
            wire(chat(FIRST) | {"choices": [*chat(FIRST)["choices"], *chat(SECOND)["choices"]]}),
        ),
    ),
    *cases_of(
        1,
        "google",
        ("byte order mark before the envelope", wire(b"\xef\xbb\xbf" + json.dumps(gemini(FIRST)).encode())),
        ("gzip", wire(gzip.compress(json.dumps(gemini(FIRST)).encode()), **GZIPPED)),
        ("no finish reason", wire(gemini(FIRST, finish=None))),
        ("a thought that says otherwise", wire(gemini({"text": SECOND, "thought": True}, FIRST))),
        ("a thought between two halves", wire(gemini(FIRST[:9], {"text": "Hm.", "thought": True}, FIRST[9:]))),
        ("a revision for its alias", wire(gemini(FIRST, modelVersion="gemini-2.5-flash-001"))),
        ("models/ before the served name", wire(gemini(FIRST, modelVersion="models/gemini-2.5-flash"))),
        (
            "models/ before the requested name",
            wire(gemini(FIRST, modelVersion="gemini-2.5-flash")),
            {"model": "models/gemini-2.5-flash"},
        ),
        ("a part that is no text", wire(gemini({"functionCall": {"name": "f", "args": {}}}, FIRST))),
    ),
    *cases_of(
        2,
        "openai",
        ("a fence", wire(chat(FENCED))),
        ("prose around it", wire(chat(f"Here is what I think.\n{SECOND}\nDone."))),
        ("2.0", wire(chat('{"selected_response": 2.0, "reason": "steps"}'))),
        ("tool_calls that are an empty list", wire(chat(SECOND, tool_calls=[], function_call=None))),
    ),
    *cases_of(
        2,
        "google",
        ("a fence", wire(gemini(FENCED))),
        ("Response 2", wire(gemini('{"selected_response": "Response 2", "reason": "steps"}'))),
        ("usage of nothing but the prompt", wire(gemini(SECOND, usageMetadata={"promptTokenCount": 9}))),
    ),
    # No verdict, and that of one item.
    *cases_of(
        "refusal",
        "openai",
        ("a refusal", wire(chat(None, refusal="I cannot compare these."))),
        ("a refusal beside a verdict", wire(chat(SECOND, refusal="I would rather not."))),
        ("finish reason refusal", wire(chat("", "refusal"))),
    ),
    *cases_of(
        "truncated",
        "openai",
        ("length in the middle", wire(chat(FIRST[:30], "length"))),
        ("length after a whole verdict", wire(chat(FIRST, "length"))),
        ("length, all of it spent on thinking", wire(chat("", "length", reasoning_content="Let me see"))),
        ("cut off although it says stop", wire(chat(FIRST[:30]))),
    ),
    *cases_of(
        "truncated",
        "google",
        ("MAX_TOKENS in the middle", wire(gemini(FIRST[:30], finish="MAX_TOKENS"))),
        ("MAX_TOKENS after a whole verdict", wire(gemini(FIRST, finish="MAX_TOKENS"))),
        ("MAX_TOKENS without content", wire({"candidates": [{"finishReason": "MAX_TOKENS"}]})),
    ),
    *cases_of(
        "filtered",
        "openai",
        ("content_filter in the middle", wire(chat(FIRST[:30], "content_filter"))),
        ("content_filter as a 400", wire(problem("Blocked by our policy.", code="content_filter"), 400)),
    ),
    *cases_of(
        "filtered",
        "google",
        *(
            (f"finish reason {name}", wire(gemini(FIRST[:30], finish=name)))
            for name in ("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "SPII", "OTHER", "A_REASON_TO_COME")
        ),
        ("a known reason to withhold after a whole verdict", wire(gemini(FIRST, finish="SAFETY"))),
        ("an unknown finish reason and no text", wire(gemini(finish="A_REASON_TO_COME"))),
        ("a blocked prompt", wire({"promptFeedback": {"blockReason": "BLOCKLIST"}})),
        ("a candidate that is only safety", wire({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]})),
    ),
    *cases_of(
        "no-answer",
        "openai",
        ("null content with tool_calls", wire(chat(None, "tool_calls", tool_calls=[{"id": "t", "type": "function"}]))),
        ("a function call", wire(chat(None, "function_call", function_call={"name": "vote", "arguments": FIRST}))),
    ),
    *cases_of(
        "too-large",
        "openai",
        ("context_length_exceeded", wire(problem("Too long for me.", code="context_length_exceeded"), 400)),
        ("413 with a page", wire("<html><h1>413 Request Entity Too Large</h1></html>", 413)),
        (
            "llama.cpp's context",
            wire(
                problem(
                    "the request exceeds the available context size (64 tokens), try increasing it",
                    code=400,
                    type="exceed_context_size_error",
                ),
                400,
            ),
        ),
        ("Ollama's context", wire({"error": "the input length exceeds the context length"}, 400)),
        (
            "one request beyond the limit per minute",
            wire(
                problem(
                    "Rate limit reached on tokens per min (TPM): Limit 800, Requested 950.", code="rate_limit_exceeded"
                ),
                429,
            ),
        ),
    ),
    *cases_of(
        "too-large",
        "google",
        (
            "too many tokens",
            wire(
                google_problem(
                    400,
                    "The input token count (90) exceeds the maximum number of tokens allowed (60).",
                    "INVALID_ARGUMENT",
                ),
                400,
            ),
        ),
    ),
    *cases_of(
        "empty",
        "openai",
        ("the verdict in reasoning_content", wire(chat(None, reasoning_content=SECOND))),
        ("the verdict in reasoning, content blank", wire(chat(" \n", reasoning=SECOND))),
        ("a thought without an end", wire(chat(f"<think>Perhaps {SECOND}"))),
    ),
    *cases_of(
        "tie",
        "openai",
        ("[[C]]", wire(chat("Both will do. [[C]]")), {"verdict": "brackets"}),
        ("a tie in words", wire(chat('{"selected_response": "Tie", "reason": "both"}'))),
    ),
    *cases_of(
        "not-a-choice",
        "openai",
        *(
            (f"selected_response {value}", wire(chat(f'{{"selected_response": {value}, "reason": ""}}')))
            for value in ("0", "1.5", "null", "false", '"A"', "[2]", '"1 or 2"', "{}")
        ),
    ),
    *cases_of("conflict", "google", ("two verdicts", wire(gemini(f"{FIRST}\n\nOr rather:\n{SECOND}")))),
    *cases_of("no-token", "openai", ("no brackets", wire(chat("The first.")), {"verdict": "brackets"})),
    *cases_of(
        "no-json",
        "google",
        ("prose", wire(gemini("The first response is better."))),
        ("a list of numbers", wire(gemini("[1, 2]"))),
    ),
    # What another attempt can cure.
    *cases_of(
        RETRY,
        "openai",
        *(
            (f"status {status}", wire(problem("Later, please."), status))
            for status in (408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 529, 599)
        ),
        ("502 with a page", wire(NGINX, 502, content_type="text/html")),
        ("503 in words", wire("upstream connect error or disconnect/reset before headers", 503)),
        ("500 with nothing", wire(b"", 500)),
        ("500 with a text as error", wire({"error": "llama runner process has terminated: signal: killed"}, 500)),
        ("500 with a detail", wire({"detail": "Internal error"}, 500)),
        ("an error of the server in a 200", wire(problem("Upstream is busy.", code=529))),
        ("a text as error in a 200", wire({"error": "upstream reset"})),
        ("a rate limit in a 200", wire(problem("Slow down.", code="429"))),
        (
            "429 of requests per minute",
            wire(
                problem(
                    "Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20ms.",
                    type="requests",
                    code="rate_limit_exceeded",
                ),
                429,
            ),
        ),
        ("Retry-After 0", wire(problem("Wait."), 429, retry_after="0")),
        ("Retry-After below 0", wire(problem("Wait."), 429, retry_after="-30")),
        ("Retry-After that is no time", wire(problem("Wait."), 429, retry_after="soon")),
        ("Retry-After NaN", wire(problem("Wait."), 429, retry_after="nan")),
        ("Retry-After in the past", wire(problem("Wait."), 429, retry_after=EARLIER)),
        ("Retry-After in milliseconds", wire(problem("Wait."), 429, retry_after_ms="30", retry_after="3600")),
        ("a body of blanks", wire(b"  \n\n")),
        ("half an envelope", wire(json.dumps(chat(FIRST))[:70])),
        ("fewer bytes than promised", wire(chat(FIRST), transport="cut")),
        ("chunks without an end", wire(chat(FIRST), transport="chunks-cut")),
        ("gzip that is none", wire(chat(FIRST), **GZIPPED)),
        ("half of a gzip", wire(gzip.compress(json.dumps(chat(FIRST)).encode())[:40], **GZIPPED)),
        ("a reset", wire(chat(FIRST), transport="reset")),
        ("closed without a word", wire(chat(FIRST), transport="closed")),
        ("silence", wire(chat(FIRST), transport="silent"), {"timeout": 1.0}),
        ("a drip", wire(chat(FIRST), transport="drip"), {"timeout": 1.0}),
        ("a body that is not UTF-8", wire(latin(chat(FIRST.replace("date", "début"))))),
        ("null", wire("null")),
        ("an empty list", wire("[]")),
        ("an empty object", wire("{}")),
        ("no choices", wire({"id": "c", "choices": []})),
        ("choices null", wire({"id": "c", "choices": None})),
        ("a message null", wire({"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]})),
        ("content null", wire(chat(None))),
        ("content of blanks", wire(chat(" \n "))),
        ("content of no parts", wire(chat([]))),
        ("finish reason error", wire(chat(FIRST, "error"))),
        ("finish reason abort", wire(chat("", "abort"))),
    ),
    *cases_of(
        RETRY,
        "google",
        ("a body that is not UTF-8", wire(latin(gemini(FIRST.replace("date", "début"))))),
        *(
            (f"status {status}", wire(google_problem(status, "Later, please."), status))
            for status in (408, 409, 429, 500, 502, 503, 529)
        ),
        ("502 with a page", wire(NGINX, 502, content_type="text/html")),
        (
            "an error in a list",
            wire([google_problem(503, "The service is currently unavailable.", "UNAVAILABLE")], 503),
        ),
        (
            "RetryInfo",
            wire(
                google_problem(
                    429,
                    "Too many requests per minute.",
                    "RESOURCE_EXHAUSTED",
                    {"@type": RETRY_INFO, "retryDelay": "0.03s"},
                ),
                429,
            ),
        ),
        (
            "quota exceeded, and nothing of a day",
            wire(google_problem(429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED"), 429),
        ),
        ("fewer bytes than promised", wire(gemini(FIRST), transport="cut")),
        ("a reset", wire(gemini(FIRST), transport="reset")),
        ("silence", wire(gemini(FIRST), transport="silent"), {"timeout": 1.0}),
        ("gzip that is none", wire(gemini(FIRST), **GZIPPED)),
        ("an empty object", wire("{}")),
        ("candidates null", wire({"candidates": None})),
        ("a candidate without anything", wire({"candidates": [{}]})),
        ("no parts", wire(gemini())),
        ("a text of blanks", wire(gemini(" "))),
        ("nothing but a thought", wire(gemini({"text": FIRST, "thought": True}))),
        ("finish reason MALFORMED_FUNCTION_CALL", wire(gemini(finish="MALFORMED_FUNCTION_CALL"))),
        ("finish reason UNEXPECTED_TOOL_CALL", wire(gemini(finish="UNEXPECTED_TOOL_CALL"))),
    ),
    # What no attempt can cure.
    *cases_of(
        FATAL,
        "openai",
        ("401", wire(problem("No such key."), 401), "api_key_env"),
        ("401 in a text", wire({"error": "Unauthorized"}, 401), "api_key_env"),
        ("401 in a detail", wire({"detail": "Not authenticated"}, 401), "api_key_env", "Not authenticated"),
        ("a bad key in a 200", wire(problem("Bad key.", code="invalid_api_key")), "api_key_env"),
        ("402", wire(problem("Insufficient Balance", code="invalid_request_error"), 402), "top up"),
        ("402 in a 200", wire(problem("This request requires more credits.", code=402)), "top up"),
        ("403 of a region", wire(problem("This region is not served."), 403), "region"),
        ("403 of a page", wire("<html>Just a moment...</html>", 403, content_type="text/html"), "access is denied"),
        (
            "404 of a model",
            wire(problem("The model `gpt-4o` has been deprecated.", code="model_not_found"), 404),
            "'gpt-4o'",
            "list of models",
        ),
        ("404 of Ollama", wire({"error": "model 'gpt-4o' not found, try pulling it first"}, 404), "try pulling it"),
        ("405", wire({"detail": "Method Not Allowed"}, 405), "base_url"),
        ("501", wire("Unsupported method", 501), "base_url"),
        (
            "insufficient_quota as 429",
            wire(problem("Check your plan.", code="insufficient_quota"), 429, retry_after="1"),
            "quota",
            "--judge-record missing",
        ),
        (
            "insufficient_quota as a type",
            wire(problem("Check your plan.", type="insufficient_quota", code=None), 429),
            "quota",
        ),
        ("insufficient_quota in a 200", wire(problem("Check your plan.", code="insufficient_quota")), "quota"),
        (
            "a credit balance",
            wire(
                {
                    "type": "error",
                    "error": {"type": "invalid_request_error", "message": "Your credit balance is too low."},
                },
                400,
            ),
            "quota",
        ),
        (
            "tokens of a day",
            wire(
                problem(
                    "Rate limit reached on tokens per day (TPD): Limit 1000, Used 990, Requested 20. Please try again in 9ms.",
                    code="rate_limit_exceeded",
                ),
                429,
            ),
            "daily limit",
        ),
        ("Retry-After of two hours", wire(problem("Wait."), 503, retry_after="7200"), "7200 s", "Run again later"),
        ("Retry-After of a date in two hours", wire(problem("Wait."), 429, retry_after=LATER), "Run again later"),
        ("six minutes in words", wire(problem("Please try again in 6m0s."), 429), "360 s"),
        ("endless Retry-After", wire(problem("Wait."), 429, retry_after="inf"), "Run again later"),
        (
            "temperature",
            wire(
                problem(
                    "Unsupported value: 'temperature' does not support 0.0 with this model.",
                    param="temperature",
                    code="unsupported_value",
                ),
                400,
            ),
            "rejects temperature",
            "drop_unsupported",
        ),
        (
            "an unknown argument",
            wire(problem("Unrecognized request argument supplied: seed", param=None), 400),
            "rejects seed",
            "drop_unsupported",
        ),
        (
            "a schema",
            wire(problem("Invalid schema for response_format 'verdict'.", param="response_format"), 400),
            "rejects response_format",
        ),
        ("422 with a detail", wire({"detail": "seed: not here"}, 422), "seed: not here", "judge's table"),
        ("a 400 that says nothing", wire(b"", 400), "HTTP 400"),
        ("407", wire("Proxy Authentication Required", 407), "HTTP 407"),
        ("410", wire(problem("This model has been shut down."), 410), "shut down"),
        *(
            (
                f"redirect {status}",
                wire(b"", status, location="https://elsewhere.example/v1"),
                "Set base_url",
                "https://elsewhere.example/v1",
            )
            for status in (301, 302, 303, 307, 308)
        ),
        ("a page with 200", wire(HTML, content_type="text/html"), "HTML page", "/v1"),
        ("a page that calls itself JSON", wire("\n  <HTML><body>Sign in</body></HTML>"), "HTML page"),
        ("a stream with 200", wire(SSE, content_type="text/event-stream"), "forces streaming"),
        ("mini for the full model", wire(chat(FIRST, model="gpt-4o-mini")), "'gpt-4o-mini'", "accept_served_model"),
        ("a dated mini for the full model", wire(chat(FIRST, model="gpt-4o-mini-2024-07-18")), "accept_served_model"),
        (
            "another model than the accepted one",
            wire(chat(FIRST, model="house-model-8b")),
            "'house-model-8b'",
            {"accept_served_model": "house-model-7b"},
        ),
        (
            "another model behind an invalid answer",
            wire(chat("", "length", model="gpt-4o-mini")),
            "accept_served_model",
        ),
        ("nobody listens", None, "refuses connections", "base_url"),
    ),
    *cases_of(
        FATAL,
        "google",
        (
            "API_KEY_INVALID as 400",
            wire(
                google_problem(
                    400,
                    "Please pass a key that is valid.",
                    "INVALID_ARGUMENT",
                    {"@type": INFO, "reason": "API_KEY_INVALID"},
                ),
                400,
            ),
            "api_key_env",
        ),
        (
            "API key not valid, in words",
            wire(google_problem(400, "API key not valid. Please pass a valid API key."), 400),
            "api_key_env",
        ),
        (
            "403",
            wire(google_problem(403, "Your API key was reported as leaked.", "PERMISSION_DENIED"), 403),
            "permissions",
        ),
        (
            "404",
            wire(google_problem(404, "models/gemini-9 is not found for API version v1.", "NOT_FOUND"), 404),
            "'gemini-2.5-flash'",
            "list of models",
        ),
        (
            "a region as 400",
            wire(google_problem(400, "User location is not supported for the API use.", "FAILED_PRECONDITION"), 400),
            "location is not supported",
        ),
        (
            "a limit per day",
            wire(
                google_problem(
                    429,
                    "Quota exceeded.",
                    "RESOURCE_EXHAUSTED",
                    {"@type": QUOTA, "violations": [{"quotaId": "RequestsPerDayPerModel"}]},
                    {"@type": RETRY_INFO, "retryDelay": "3s"},
                ),
                429,
            ),
            "daily limit",
        ),
        (
            "a limit of 0",
            wire(google_problem(429, "Quota exceeded for metric m, limit: 0, model: gemini-2.5-flash"), 429),
            "another plan",
        ),
        (
            "RetryInfo of an hour",
            wire(google_problem(503, "Overloaded.", "UNAVAILABLE", {"@type": RETRY_INFO, "retryDelay": "3600s"}), 503),
            "3600 s",
        ),
        (
            "thinking",
            wire(
                google_problem(
                    400,
                    'Invalid JSON payload received. Unknown name "thinkingConfig" at '
                    "'generation_config': Cannot find field.",
                    "INVALID_ARGUMENT",
                ),
                400,
            ),
            "rejects thinkingConfig",
            "drop_unsupported",
            {"thinking_budget": 0},
        ),
        ("a page with 200", wire(HTML, content_type="text/html"), "HTML page"),
        ("redirect", wire(b"", 302, location="https://login.example/"), "Set base_url", "https://login.example/"),
        ("another family", wire(gemini(FIRST, modelVersion="gemini-3.5-flash-lite")), "accept_served_model"),
        ("lite for the full model", wire(gemini(FIRST, modelVersion="gemini-2.5-flash-lite")), "accept_served_model"),
        (
            "a preview for the released model",
            wire(gemini(FIRST, modelVersion="gemini-2.5-flash-preview-09-2025")),
            "accept_served_model",
        ),
        ("nobody listens", None, "refuses connections", "base_url"),
    ),
]

# Rarer forms, each of which was once taken for something else.
OWN_CASES += [
    *cases_of(
        "filtered",
        "openai",
        (
            "a prompt that OpenAI's reasoning models will not read",
            wire(
                problem(
                    "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                    type="invalid_request_error",
                    param=None,
                    code="invalid_prompt",
                ),
                400,
            ),
        ),
        (
            "a gateway's moderation",
            wire(
                problem(
                    "Your chosen model requires moderation and your input was flagged.",
                    code=403,
                    metadata={"reasons": ["violence"]},
                ),
                403,
            ),
        ),
        (
            "content_filter as a type",
            wire(problem("The request was rejected because it was considered high risk", type="content_filter"), 400),
        ),
        ("content_filter in a 200", wire(problem("The response was filtered.", code="content_filter"))),
    ),
    *cases_of(
        "invalid",
        "openai",
        (
            "JSON that the model failed to write, as a 400",
            wire(
                problem(
                    "Failed to generate JSON. Please adjust your prompt.",
                    type="invalid_request_error",
                    code="json_validate_failed",
                ),
                400,
            ),
        ),
    ),
    *cases_of(
        "too-large",
        "openai",
        (
            "a context length inside a choice",
            wire(
                {
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "error",
                            "message": {"content": ""},
                            "error": {"code": 400, "message": "The maximum context length is 64 tokens."},
                        }
                    ]
                }
            ),
        ),
        (
            "llama-cpp-python's context, a 500",
            wire(problem("Requested tokens (90) exceed context window of 64", type="internal_server_error"), 500),
        ),
        (
            "a text beyond the longest",
            wire(
                problem(
                    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 9, got 12.",
                    param="messages[0].content",
                    code="string_above_max_length",
                ),
                400,
            ),
        ),
    ),
    *cases_of(
        1,
        "openai",
        ("usage that is a text", wire(chat(FIRST, usage="some"))),
        ("details of usage that are a text", wire(chat(FIRST, usage={"completion_tokens_details": "none"}))),
    ),
    *cases_of(1, "google", ("usage that is a text", wire(gemini(FIRST, usageMetadata="some")))),
    *cases_of(
        RETRY,
        "openai",
        ("a message that is a text", wire({"choices": [{"message": "Hello", "finish_reason": "stop"}]})),
        ("a choice's error that is a text", wire({"choices": [{"finish_reason": "error", "error": "upstream"}]})),
        ("a finish reason that is a list", wire(chat("", ["stop"]))),
    ),
    *cases_of(
        RETRY,
        "google",
        ("content that is a text", wire({"candidates": [{"content": "Hello", "finishReason": "STOP"}]})),
        ("candidates that are an object", wire({"candidates": {"first": 1}})),
        ("parts that are a number", wire({"candidates": [{"content": {"parts": 5}, "finishReason": "STOP"}]})),
    ),
    *cases_of(
        FATAL,
        "openai",
        ("404 of a path", wire({"detail": "Not Found"}, 404), "base_url"),
        ("404 of a page", wire("<html><h1>404</h1></html>", 404, content_type="text/html"), "base_url"),
        (
            "an unknown model as a 400",
            wire(problem("Model Not Exist", code="invalid_request_error"), 400),
            "list of models",
        ),
        (
            "an unknown model in a 200",
            wire(problem("There is no such model.", code="model_not_found")),
            "list of models",
        ),
        ("a limit per-day", wire(problem("Rate limit exceeded: free-models-per-day.", code=429), 429), "daily limit"),
        (
            "a limit of 0",
            wire(
                problem(
                    "Rate limit reached on requests per min (RPM): Limit 0, Used 0, Requested 1.",
                    code="rate_limit_exceeded",
                ),
                429,
            ),
            "another plan",
        ),
        (
            "an account that is not active",
            wire(problem("Please check your billing details.", code="billing_not_active"), 429),
        ),
    ),
    *cases_of(
        FATAL,
        "google",
        (
            "an error of permission in a 200",
            wire(google_problem(403, "Not for you.", "PERMISSION_DENIED")),
            "permissions",
        ),
        (
            "the remedy of a region",
            wire(google_problem(400, "User location is not supported for the API use.", "FAILED_PRECONDITION"), 400),
            "region",
        ),
        (
            "a key that expired",
            wire(google_problem(400, "API key expired. Please renew the API key."), 400),
            "api_key_env",
        ),
        (
            "a model without generateContent",
            wire(google_problem(400, "models/gemini-2.5-flash is not supported for generateContent."), 400),
            "list of models",
        ),
        (
            "a schema that is nested too deeply",
            wire(
                google_problem(
                    400, "A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth."
                ),
                400,
            ),
            "schema",
        ),
    ),
]

# What other servers say: gateways, local servers, and OpenAI's and Google's rarer words.
MANY = json.dumps(chat(FIRST, padding="x" * 8_000_000))
HALF = json.dumps(chat(FIRST)).encode()[:90]
TGI = "Input validation error: "
OPENROUTER = "Provider returned error"
OWN_CASES += [
    *cases_of(
        1,
        "openai",
        ("deflate", wire(zlib.compress(json.dumps(chat(FIRST)).encode()), content_encoding="deflate")),
        ("UTF-16", wire(json.dumps(chat(FIRST)).encode("utf-16"))),
        ("NaN in the envelope", wire(chat(FIRST, usage={"prompt_tokens": float("nan")}) | {"created": float("nan")})),
        ("8 MB beside the content", wire(MANY)),
        ("201", wire(chat(FIRST), 201)),
        ("a cookie", wire(chat(FIRST), set_cookie="__cf_bm=1; path=/; HttpOnly")),
        ("no length, closed at its end", wire(chat(FIRST), transport="until-closed")),
        ("early hints before it", wire(chat(FIRST), transport="hinted")),
        ("a finish reason in capitals", wire(chat(FIRST, "STOP"))),
        ("a key twice in the envelope", wire(json.dumps(chat(FIRST))[:-1] + ', "object": "chat.completion"}')),
        ("an error that is an empty object", wire(chat(FIRST) | {"error": {}})),
        ("annotations and audio", wire(chat(FIRST, annotations=[], audio=None, refusal=None))),
    ),
    *cases_of(
        1,
        "google",
        ("a finish reason in small letters", wire(gemini(FIRST, finish="stop"))),
        ("an unknown finish reason after a whole verdict", wire(gemini(FIRST, finish="A_REASON_TO_COME"))),
        ("UTF-16", wire(json.dumps(gemini(FIRST)).encode("utf-16"))),
    ),
    *cases_of("not-a-choice", "openai", ("NaN", wire(chat('{"selected_response": NaN, "reason": ""}')))),
    *cases_of(
        "conflict",
        "openai",
        ("a key twice, with two values", wire(chat('{"selected_response": 1, "reason": "", "selected_response": 2}'))),
    ),
    *cases_of(
        "no-answer",
        "openai",
        (
            "tool_calls although it says stop",
            wire(
                chat(
                    None, tool_calls=[{"id": "t", "type": "function", "function": {"name": "vote", "arguments": FIRST}}]
                )
            ),
        ),
    ),
    *cases_of(
        "truncated",
        "openai",
        ("MAX_TOKENS, as Gemini says it", wire(chat(FIRST[:30], "MAX_TOKENS"))),
        ("a full context window", wire(chat(FIRST[:30], "model_context_window_exceeded"))),
    ),
    *cases_of(
        "filtered",
        "openai",
        *(
            (f"finish reason {name}", wire(chat(FIRST, name)))
            for name in ("SAFETY", "recitation", "sensitive", "guardrail_intervened")
        ),
        (
            "DeepSeek's risk",
            wire(
                problem("Content Exists Risk", type="invalid_request_error", param=None, code="invalid_request_error"),
                400,
            ),
        ),
        (
            "DashScope's inspection",
            wire(
                problem(
                    "<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.",
                    code="data_inspection_failed",
                ),
                400,
            ),
        ),
        (
            "LiteLLM's content policy",
            wire(
                problem(
                    "litellm.ContentPolicyViolationError: The request was refused.",
                    type="None",
                    param="None",
                    code="400",
                ),
                400,
            ),
        ),
        (
            "a safety system",
            wire(
                problem("Your request was rejected as a result of our safety system.", code="moderation_blocked"), 400
            ),
        ),
    ),
    *cases_of(
        "too-large",
        "openai",
        ("LM Studio's n_keep", wire({"error": "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)"}, 400)),
        (
            "LM Studio's context",
            wire(
                {
                    "error": "Trying to keep the first 6547 tokens when context the overflows. "
                    "However, the model is loaded with context length of only 4096 tokens"
                },
                400,
            ),
        ),
        (
            "llama.cpp's context size",
            wire(problem("Context size has been exceeded.", code=500, type="server_error"), 500),
        ),
        (
            "llama.cpp's batch size",
            wire(
                problem(
                    "input is too large to process. increase the physical batch size", code=500, type="server_error"
                ),
                500,
            ),
        ),
        (
            "TGI's sum of tokens",
            wire(
                problem(
                    f"{TGI}`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 8740 "
                    "`inputs` tokens and 500 `max_new_tokens`",
                    http_status_code=422,
                ),
                422,
            ),
        ),
        (
            "TGI's inputs",
            wire(
                {"error": f"{TGI}`inputs` must have less than 2048 tokens. Given: 2222", "error_type": "validation"},
                422,
            ),
        ),
        (
            "vLLM without room for an answer",
            wire(
                {
                    "object": "error",
                    "message": "max_tokens must be at least 1, got -186.",
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                },
                400,
            ),
        ),
        (
            "vLLM's two parameters",
            wire(
                problem(
                    "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only "
                    "1024 tokens.",
                    type="BadRequestError",
                    param="input_tokens, max_tokens",
                    code=400,
                ),
                400,
            ),
        ),
        (
            "DashScope's range",
            wire(
                problem(
                    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 57344]",
                    code="invalid_parameter_error",
                    param=None,
                ),
                400,
            ),
        ),
        (
            "Claude's context limit",
            wire(
                problem(
                    "input length and `max_tokens` exceed context limit: 199211 + 20000 > "
                    "200000, decrease input length or `max_tokens`"
                ),
                400,
            ),
        ),
        (
            "a context behind OpenRouter",
            wire(
                problem(
                    OPENROUTER,
                    code=400,
                    metadata={"raw": "This endpoint's maximum context length is 8192 tokens.", "provider_name": "Some"},
                ),
                400,
            ),
        ),
    ),
    *cases_of(
        RETRY,
        "openai",
        ("204", wire(b"", 204)),
        ("202 without an answer", wire({"status": "pending"}, 202)),
        ("half a body until it is closed", wire(HALF, transport="until-closed")),
        ("gzip-encoded brotli", wire(b"\x8b\x03\x80abc", content_encoding="br")),
        ("half of UTF-16", wire(json.dumps(chat(FIRST)).encode("utf-16")[:81])),
        ("an error object of vLLM's in a 200", wire({"object": "error", "message": "Engine is dead", "code": 500})),
        ("finish reason network_error", wire(chat("", "network_error"))),
        ("TGI is overloaded", wire({"error": "Model is overloaded", "error_type": "overloaded"}, 429)),
        (
            "TGI failed to generate",
            wire({"error": "Request failed during generation", "error_type": "generation"}, 424),
        ),
        ("a model that is loading", wire({"error": "Model x/y is currently loading", "estimated_time": 0.02}, 503)),
        (
            "OpenRouter's upstream limit",
            wire(
                problem(
                    OPENROUTER,
                    code=429,
                    metadata={
                        "raw": "x/y is temporarily rate-limited upstream. Please retry shortly.",
                        "provider_name": "Some",
                    },
                ),
                429,
            ),
        ),
        (
            "Azure's wait",
            wire(
                problem(
                    "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-02-01 have exceeded "
                    "token rate limit of your current OpenAI S0 pricing tier. Please retry after 20 milliseconds.",
                    code="429",
                ),
                429,
            ),
        ),
        (
            "LiteLLM's cooldown",
            wire(
                problem(
                    "No deployments available for selected model, Try again in 0.02 seconds. Passed model=x.",
                    type="None",
                    param="None",
                    code="429",
                ),
                429,
            ),
        ),
        ("two Retry-After in one", wire(problem("Wait."), 429, retry_after="0, 3600")),
        ("a limit below 1", wire(problem("Rate limit exceeded. Limit: 0.5 requests per second."), 429)),
        ("Bedrock's throttling", wire(problem("Too many tokens, please wait before trying again."), 429)),
        (
            "Mistral's capacity",
            wire(
                {
                    "object": "error",
                    "message": "Service tier capacity exceeded for this model.",
                    "type": "service_tier_capacity_exceeded",
                    "code": "3505",
                },
                429,
            ),
        ),
        (
            "Ollama's memory",
            wire(
                problem(
                    "model requires more system memory (8.0 GiB) than is available (4.0 GiB)",
                    type="api_error",
                    param=None,
                    code=None,
                ),
                500,
            ),
        ),
    ),
    *cases_of(
        RETRY,
        "google",
        (
            "a quota per minute",
            wire(
                google_problem(
                    429,
                    "You exceeded your current quota, please check your plan and billing details. For more information "
                    "on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for "
                    "metric: generate_content_free_tier_requests, limit: 20\nPlease retry in 20.5ms.",
                    "RESOURCE_EXHAUSTED",
                ),
                429,
            ),
        ),
        ("499", wire(google_problem(499, "The operation was cancelled.", "CANCELLED"), 499)),
        (
            "no capacity",
            wire(
                google_problem(
                    429,
                    "No capacity available for model on the server",
                    "RESOURCE_EXHAUSTED",
                    {"reason": "MODEL_CAPACITY_EXHAUSTED"},
                ),
                429,
            ),
        ),
    ),
    *cases_of(
        FATAL,
        "openai",
        (
            "a day's wait at Azure",
            wire(problem("You have exceeded the token rate limit. Please retry after 86400 seconds.", code="429"), 429),
            "86400 s",
            "Run again later",
        ),
        ("a day in words", wire(problem("Please retry after 1 day."), 429), "86400 s"),
        (
            "a deployment of Azure's",
            wire(problem("The API deployment for this resource does not exist.", code="DeploymentNotFound"), 404),
            "list of models",
        ),
        (
            "a path of LM Studio's",
            wire({"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
            "base_url",
            "/v1",
        ),
        (
            "no model in LM Studio",
            wire({"error": "No models loaded. Please load a model in the developer page."}, 400),
            "list of models",
        ),
        ("no endpoints at OpenRouter", wire(problem("No endpoints found for x/y.", code=404), 404), "list of models"),
        ("no model ID at OpenRouter", wire(problem("x/y is not a valid model ID", code=400), 400), "list of models"),
        (
            "a model name of LiteLLM's",
            wire(
                problem(
                    "/chat/completions: Invalid model name passed in model=gpt-4o",
                    type="None",
                    param="None",
                    code="400",
                ),
                400,
            ),
            "list of models",
        ),
        (
            "a model of Mistral's",
            wire(
                {
                    "object": "error",
                    "message": "Invalid model: gpt-4o",
                    "type": "invalid_model",
                    "param": None,
                    "code": "1500",
                },
                400,
            ),
            "list of models",
        ),
        (
            "a retired model of Groq's",
            wire(problem("The model `gpt-4o` has been decommissioned.", code="model_decommissioned"), 400),
            "list of models",
        ),
        (
            "a retired model in words",
            wire(problem("The model `gpt-4o` is no longer supported."), 400),
            "list of models",
        ),
        (
            "a parameter that was retired",
            wire(problem("The model `gpt-4o`: temperature is no longer supported."), 400),
            "rejects temperature",
        ),
        (
            "a model as param",
            wire(problem("The requested model 'gpt-4o' is not to be had.", param="model"), 400),
            "list of models",
        ),
        (
            "OpenAI's quota through LiteLLM",
            wire(
                problem(
                    "litellm.RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and "
                    "billing details. For more information on this error, read the docs: https://platform.openai.com/docs",
                    type="throttling_error",
                    param="None",
                    code="429",
                ),
                429,
            ),
            "quota",
        ),
        (
            "a budget of LiteLLM's",
            wire(
                problem(
                    "Budget has been exceeded! Current cost: 0.02, Max budget: 0.01",
                    type="budget_exceeded",
                    param="None",
                    code="400",
                ),
                400,
            ),
            "quota",
        ),
        (
            "a temperature through LiteLLM",
            wire(
                problem(
                    "litellm.UnsupportedParamsError: gpt-5-nano doesn't support temperature=0.1 while reasoning is active.",
                    type="None",
                    param="None",
                    code="400",
                ),
                400,
            ),
            "rejects temperature",
        ),
        (
            "a schema of vLLM's",
            wire(
                problem(
                    "The provided JSON schema contains features not supported by xgrammar.",
                    type="BadRequestError",
                    param=None,
                    code=400,
                ),
                400,
            ),
            "rejects response_format",
        ),
        (
            "a parameter behind OpenRouter",
            wire(
                problem(
                    OPENROUTER,
                    code=400,
                    metadata={"raw": json.dumps(problem("Unsupported parameter: 'seed'")), "provider_name": "Some"},
                ),
                400,
            ),
            "rejects seed",
        ),
        (
            "xAI's key",
            wire({"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xa***."}, 400),
            "api_key_env",
        ),
        (
            "an error in an error",
            wire({"error": json.dumps(problem("x is not a valid model ID", code=400))}, 400),
            "list of models",
        ),
        (
            "plain HTTP to nginx's TLS",
            wire("<html><head><title>400 The plain HTTP request was sent to HTTPS port", 400, content_type="text/html"),
            "https://",
        ),
        ("plain HTTP to Go's TLS", wire("Client sent an HTTP request to an HTTPS server.\n", 400), "https://"),
        ("XML with 200", wire("<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>"), "base_url"),
        ("410 of a model", wire(problem("The model has been shut down."), 410), "list of models"),
    ),
    *cases_of(
        FATAL,
        "google",
        (
            "depleted credits",
            wire(google_problem(429, "Your prepayment credits are depleted.", "RESOURCE_EXHAUSTED"), 429),
            "quota",
        ),
        (
            "billing that is off",
            wire(
                google_problem(
                    400,
                    "Gemini API free tier is not available here. Please enable billing on your project.",
                    "FAILED_PRECONDITION",
                ),
                400,
            ),
            "paid",
        ),
        (
            "a model's name",
            wire(
                google_problem(400, "* GenerateContentRequest.model: unexpected model name format", "INVALID_ARGUMENT"),
                400,
            ),
            "list of models",
        ),
        (
            "a limit per day in an error in an error",
            wire(
                google_problem(
                    429,
                    json.dumps(
                        google_problem(
                            429, "No.", "", {"@type": QUOTA, "violations": [{"quotaId": "RequestsPerDayPerModel"}]}
                        )
                    ),
                ),
                429,
            ),
            "daily limit",
        ),
        (
            "a schema with too many states",
            wire(
                google_problem(400, "The specified schema produces a constraint that has too many states for serving."),
                400,
            ),
            "rejects response_format",
        ),
    ),
]

# Forms that are near another class.
OWN_CASES += [
    *cases_of(
        1,
        "openai",
        ("a date without hyphens", wire(chat(FIRST, model="claude-opus-4-1-20250805")), {"model": "claude-opus-4-1"}),
    ),
    *cases_of(
        "refusal", "openai", ("a refusal among the parts", wire(chat([{"type": "refusal", "refusal": "I will not."}])))
    ),
    *cases_of(
        "too-large",
        "openai",
        (
            "a longest prompt",
            wire(problem("This model's maximum prompt length is 60 but the request contains 90 tokens."), 400),
        ),
        ("an input in words", wire(problem("input is too long for requested model"), 400)),
    ),
    *cases_of(
        "too-large",
        "google",
        (
            "a payload in bytes",
            wire(
                google_problem(400, "Request payload size exceeds the limit: 20971520 bytes.", "INVALID_ARGUMENT"), 400
            ),
        ),
    ),
    *cases_of(
        RETRY,
        "openai",
        (
            "a limit per minute with commas",
            wire(
                problem(
                    "Rate limit reached on tokens per min (TPM): Limit 30,000, Used 29,990, Requested 300. Try again in 5ms.",
                    code="rate_limit_exceeded",
                ),
                429,
            ),
        ),
    ),
    *cases_of(
        FATAL,
        "openai",
        (
            "a page behind a byte order mark",
            wire(b"\xef\xbb\xbf" + HTML.encode(), content_type="text/html"),
            "HTML page",
        ),
        (
            "a stream that begins with a comment",
            wire(f": PROCESSING\n\n{SSE}", content_type="text/event-stream"),
            "forces streaming",
        ),
        (
            "a stream that begins with an id",
            wire(f"id: 1\n{SSE}", content_type="text/event-stream"),
            "forces streaming",
        ),
        (
            "an account that was flagged",
            wire(problem("Your account was flagged for abuse and is suspended.", code="account_suspended"), 403),
            "access is denied",
        ),
        ("a bad key as a 400", wire(problem("Incorrect API key provided: abc."), 400), "api_key_env"),
    ),
]


def shared_cases() -> list[Case]:
    """Return the chat answers of the shared file, each for the SDKs that meet it; none where there is no such file."""
    if not SHARED_CASES.is_file():
        return []
    told = json.loads(SHARED_CASES.read_text(encoding="utf-8"))
    return [shared_case(row, sdk) for row in told if not row.get("endpoint") for sdk in sdks_of(row)]


def sdks_of(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the SDKs that meet a case of the shared file."""
    return {"any": ALL_SDKS, "gemini": ("google",), "anthropic": ("anthropic",)}.get(row["provider"], ("openai",))


def shared_case(row: dict[str, Any], sdk: str) -> Case:
    """Return a case of the shared file: the served model is the requested one unless the file says otherwise."""
    body, transport = row.get("body"), row.get("transport") or {}
    kind = transport.get("kind", "")
    assert kind in ("", "reset", "drip", "refused"), f"no such transport: {transport}"
    more = {"timeout": row["test_timeout_s"]} if "test_timeout_s" in row else {}
    served = (body.get("model") or body.get("modelVersion")) if isinstance(body, dict) else None
    more |= row.get("table", {})
    more["model"] = row.get("request_model") or served or MODELS[sdk]
    answer = None
    if kind != "refused":
        content = body if body is not None else ""
        if "body_b64" in row:
            content = base64.b64decode(row["body_b64"])
        headers = {name: value for name, value in row["headers"].items() if name != "content-length"}
        answer = wire(row.get("body_raw", content), row["http_status"] or 200, kind, **headers)
    return Case(f"{row['id']}, {sdk}", sdk, answer, row["expected"], tuple(row.get("said", ())), more)


FROM_SHARED = shared_cases()
CLAUDE_CASES = [shared_case(row, "anthropic") for row in json.loads(CLAUDE_FILE.read_text(encoding="utf-8"))]
named = {"argnames": "case", "ids": lambda case: case.name}


def test_the_cases_differ() -> None:
    """Names tell cases apart, there are enough of them, and every class is tried with every SDK that can meet it."""
    names = [case.name for case in OWN_CASES]
    assert len(OWN_CASES) >= 60
    assert len(set(names)) == len(names)
    assert {(case.kind, case.sdk) for case in OWN_CASES} == {(kind, sdk) for kind in KINDS for sdk in SDKS}


@pytest.mark.parametrize(argvalues=OWN_CASES, **named)
def test_an_answer_has_one_right_outcome(case: Case) -> None:
    """A verdict, an invalid kind, one more request or an end with its remedy: what the policy says of the answer."""
    assert failings(case) == []


@pytest.mark.skipif(not FROM_SHARED, reason="the shared cases are not here")
@pytest.mark.parametrize(argvalues=FROM_SHARED, **named)
def test_a_shared_case_has_its_outcome(case: Case) -> None:
    """Every chat answer of the shared file has the outcome that it expects, through every SDK that meets it."""
    assert failings(case) == []


def test_the_cases_of_claude_differ() -> None:
    """There are enough of them, with names of their own, of every class."""
    names = [case.name for case in CLAUDE_CASES]
    assert len(set(names)) == len(names) >= 80
    assert {case.kind for case in CLAUDE_CASES} == set(KINDS)


@pytest.mark.parametrize(argvalues=CLAUDE_CASES, **named)
def test_a_message_of_claude_has_one_right_outcome(case: Case) -> None:
    """Stop reasons, blocks, tools, errors of every documented type, streams and broken bodies, through the real SDK."""
    assert failings(case) == []


@pytest.mark.parametrize("cases", [OWN_CASES, FROM_SHARED, CLAUDE_CASES], ids=["own", "shared", "claude"])
@pytest.mark.slow
def test_class_by_class(cases: list[Case], request: pytest.FixtureRequest) -> None:
    """No case ends in another class than its own; the table is printed."""
    if not cases:
        pytest.skip("the shared cases are not here")
    shown = confusion(request.node.callspec.id, cases)
    sys.stdout.write(f"\n{shown}\n")  # shown by -rP and -s
    assert [case.name for case in cases if tried(case).kind != case.kind] == [], shown


# --- what else an answer says ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sdk", "answer"),
    [
        ("openai", wire(chat(FIRST, reasoning_content="Two looks longer."))),
        ("openai", wire(chat(FIRST, reasoning="Two looks longer."))),
        ("openai", wire(chat(f"<think>\nTwo looks longer.\n</think>\n\n{FIRST}"))),
        ("google", wire(gemini({"text": "Two looks ", "thought": True}, {"text": "longer.", "thought": True}, FIRST))),
    ],
    ids=["reasoning_content", "reasoning", "think", "thought parts"],
)
def test_reasoning_is_kept_apart_from_the_reason(sdk: str, answer: Answer) -> None:
    """What a model thought is in the verdict's reasoning, and its reason is what it gave as one."""
    with serving(answer) as server:
        verdict = ask(a_judge(sdk, server.url)).verdict
    assert verdict.reasoning == "Two looks longer."
    assert verdict.reason == json.loads(FIRST)["reason"]


def test_many_parts_of_thoughts_take_no_time() -> None:
    """They are told apart in one pass, and keep their order."""
    parts = [{"type": kind, "text": f"{n} "} for n in range(20_000) for kind in ("thinking", "text")]
    began = time.monotonic()
    content, thoughts = openai._parted(parts)
    assert time.monotonic() - began < 1
    assert (content, thoughts) == (parts[1::2], parts[::2])


def test_reasoning_of_an_invalid_answer_is_kept(snapshot: SnapshotAssertion) -> None:
    """An answer that was cut off while the model was thinking shows what it thought."""
    with serving(wire(chat("", "length", reasoning_content="On the one hand"))) as server:
        verdict = ask(a_judge("openai", server.url)).verdict
    assert (verdict.invalid, verdict.reasoning) == snapshot


@pytest.mark.parametrize(
    ("sdk", "answer", "tokens"),
    [
        (
            "openai",
            wire(
                chat(
                    FIRST,
                    usage={
                        "prompt_tokens": 70,
                        "completion_tokens": 50,
                        "completion_tokens_details": {"reasoning_tokens": 41},
                    },
                )
            ),
            (70, 50, 41),
        ),
        ("openai", wire(chat(FIRST, usage={"prompt_tokens": 70, "completion_tokens": 50})), (70, 50, None)),
        ("openai", wire(chat(FIRST)), (None, None, None)),
        (
            "google",
            wire(
                gemini(
                    FIRST, usageMetadata={"promptTokenCount": 70, "candidatesTokenCount": 9, "thoughtsTokenCount": 41}
                )
            ),
            (70, 50, 41),
        ),
        (
            "google",
            wire(gemini(finish="MAX_TOKENS", usageMetadata={"promptTokenCount": 70, "thoughtsTokenCount": 41})),
            (70, 41, 41),
        ),
        ("google", wire(gemini(FIRST)), (None, None, None)),
    ],
)
def test_tokens_are_counted_with_the_reasoning(sdk: str, answer: Answer, tokens: tuple[int | None, ...]) -> None:
    """Tokens out include those of the reasoning, which are also told apart; what no server says is None, not 0."""
    with serving(answer) as server:
        usage = ask(a_judge(sdk, server.url)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens) == tokens


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_an_item_that_an_error_status_refuses_costs_nothing(sdk: str) -> None:
    """An error status is not billed: one filtered prompt must not make what a whole run cost unknown."""
    refused = (
        problem("Too long.", code="context_length_exceeded")
        if sdk == "openai"
        else google_problem(400, "The input token count (90) exceeds the maximum number of tokens allowed (60).")
    )
    with serving(wire(refused, 400)) as server:
        reply = ask(a_judge(sdk, server.url))
    assert reply.verdict.invalid == "too-large"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (0, 0)


def test_a_reply_says_who_answered() -> None:
    """Served model, fingerprint and failed attempts are with the verdict."""
    told = wire(chat(FIRST, model="gpt-4o-2024-11-20") | {"system_fingerprint": "fp_7"})
    with serving(wire(problem("Later."), 503), told) as server:
        judge = a_judge("openai", server.url)
        reply = ask(judge)
    assert (reply.served_model, reply.fingerprint, reply.retries) == ("gpt-4o-2024-11-20", "fp_7", 1)
    assert judge.retries == 1


@pytest.mark.parametrize(
    ("sdk", "answer"),
    [
        ("openai", wire(chat("{", "length"))),
        ("google", wire(gemini("{", finish="MAX_TOKENS"))),
        ("openai", wire(chat(None, refusal="I will not rank people."))),
        ("google", wire({"promptFeedback": {"blockReason": "SAFETY"}})),
        ("openai", wire(chat(None, reasoning=FIRST))),
        ("anthropic", wire(claude("{", stop="max_tokens"))),
        ("anthropic", wire(claude("{", stop="pause_turn"))),
        ("anthropic", wire(claude(called({}, "search"), stop="tool_use"))),
        ("anthropic", wire(claude(stop="refusal", stop_details={"category": "bio"}))),
    ],
)
def test_an_invalid_answer_says_why(sdk: str, answer: Answer, snapshot: SnapshotAssertion) -> None:
    """What is to be done about an invalid answer, or what the provider said, is in the reply."""
    with serving(answer) as server:
        assert ask(a_judge(sdk, server.url)).detail == snapshot


@pytest.mark.parametrize("more", [{}, {"verdict": "brackets", "response_format": "none"}], ids=["json", "brackets"])
def test_an_unknown_finish_reason_is_noted(more: dict[str, Any]) -> None:
    """A whole verdict counts although Gemini gives a finish reason that nobody knows; the reply says so."""
    text = "The second shows its steps. [[B]]" if more else SECOND
    with serving(wire(gemini(text, finish="A_REASON_TO_COME"))) as server:
        reply = ask(a_judge("google", server.url, **more))
    assert reply.verdict.selected_response == 2
    assert "A_REASON_TO_COME" in reply.detail


def test_openais_format_has_finish_reasons_of_its_own_servers() -> None:
    """A finish reason that nobody knows is told with the verdict; how servers say that all is well is not."""
    for finish, words in (("a_reason_to_come", "a_reason_to_come"), ("eos_token", ""), (None, "")):
        with serving(wire(chat(SECOND, finish))) as server:
            reply = ask(a_judge("openai", server.url))
        assert reply.verdict.selected_response == 2
        assert (words in reply.detail) if words else not reply.detail


@pytest.mark.parametrize(
    ("base", "asked"),
    [
        ("", "/v1/models/"),
        ("/", "/v1/models/"),
        ("/v1", "/v1/models/"),
        ("/v1beta", "/v1beta/models/"),
        ("/v1beta/", "/v1beta/models/"),
        ("/gemini/v1alpha", "/gemini/v1alpha/models/"),
        ("/gemini", "/gemini/v1/models/"),
    ],
)
def test_gemini_is_asked_in_the_version_that_base_url_ends_with(base: str, asked: str) -> None:
    """A gateway at /v1beta is asked there, and not below it; without a version in base_url it is v1."""
    with serving(by=lambda request: good("google") if request.path.startswith(asked) else wire("", 404)) as server:
        assert ask(a_judge("google", server.url + base)).verdict.selected_response == 2
    assert [request.path for request in server.asked] == [f"{asked}gemini-2.5-flash:generateContent"]


@contextlib.contextmanager
def serving_tls(*, quietly: bool) -> Iterator[str]:
    """Serve TLS as servers do that are spoken to in plain HTTP: with an alert, or quietly ending the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    if quietly and connection.recv(1, socket.MSG_PEEK) == b"P":
                        connection.recv(2**16)
                        continue
                    with contextlib.suppress(OSError):
                        context.wrap_socket(connection, server_side=True).close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("quietly", [False, True])
def test_plain_http_to_a_tls_server_is_told(sdk: str, quietly: bool) -> None:
    """http:// in base_url where the server speaks TLS ends the run with the remedy, whatever the server makes of it."""
    with serving_tls(quietly=quietly) as url, pytest.raises(FatalJudgeError, match="https:// instead of http://"):
        ask(a_judge(sdk, url))


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_tls_to_a_plain_server_is_told(sdk: str) -> None:
    """https:// in base_url where the server speaks plain HTTP ends the run with the remedy, after one attempt."""
    with serving(good(sdk)) as server, pytest.raises(FatalJudgeError, match="http:// instead of https://"):
        ask(a_judge(sdk, server.url.replace("http:", "https:")))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to everything in a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from leaves(item, (*path, key))


WHOLE = {
    "openai": chat(
        FIRST,
        usage={"prompt_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 1}},
        model="gpt-4o",
        refusal=None,
        reasoning=None,
    )
    | {"error": None},
    "google": gemini(
        FIRST,
        usageMetadata={"promptTokenCount": 1, "thoughtsTokenCount": 1},
        promptFeedback={},
        modelVersion="gemini-2.5-flash",
    ),
    "anthropic": claude(
        {"type": "thinking", "thinking": "Hm."},
        FIRST,
        called({"selected_response": 1, "reason": "a"}),
        stop="tool_use",
        model="claude-haiku-4-5",
        stop_details=None,
        usage={"input_tokens": 1, "cache_read_input_tokens": 1},
    ),
}
junk = st.sampled_from([None, True, 0, -1, 1.5, "", "text", "error", [], [[]], [1], {}, {"code": 400}, {"error": "x"}])


@pytest.mark.slow
@settings(deadline=None, max_examples=90, derandomize=True, database=None, report_multiple_bugs=False)
@given(data=st.data())
def test_no_answer_is_an_exception_of_python(data: st.DataObject) -> None:
    """Whatever stands in a field of an answer, there is a verdict, valid or not, or an error of ours; tokens are whole.

    No answer that anything but its text was changed of states another verdict than its text.
    """
    sdk = data.draw(st.sampled_from(ALL_SDKS))
    body = copy.deepcopy(WHOLE[sdk])
    path = data.draw(st.sampled_from(sorted(filter(None, leaves(body)), key=repr)))
    inside = functools.reduce(lambda value, key: value[key], path[:-1], body)
    inside[path[-1]] = data.draw(junk)
    with serving(wire(body)) as server:
        try:
            reply = ask(a_judge(sdk, server.url, max_attempts=1))
        except FatalJudgeError:
            return
        except Exception as error:
            raise AssertionError(f"{path} = {inside[path[-1]]!r}: {type(error).__name__}: {error}") from error
    assert reply.verdict.selected_response in (1, None)
    counted = (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.reasoning_tokens)
    assert all(tokens is None or type(tokens) is int for tokens in counted), counted


# --- attempts and waits ---------------------------------------------------------------------------------------


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was waited for, in seconds, without waiting."""
    asked: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float, result: Any = None) -> Any:
        asked.append(seconds)
        return await real(0, result)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return asked


def in_seconds(seconds: int) -> str:
    """Return the time in some seconds, as HTTP writes it."""
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


BACK_OFF = (FIRST_WAIT / 2, FIRST_WAIT)


@pytest.mark.parametrize(
    ("answer", "low", "high"),
    [
        (lambda: wire(problem("Wait."), 503, retry_after="7"), 7, 7),
        (lambda: wire(problem("Wait."), 503, retry_after=" 2.5 "), 2.5, 2.5),
        (lambda: wire(problem("Wait."), 503, retry_after="120"), 120, 120),
        (lambda: wire(problem("Wait."), 503, retry_after="0"), 0, 0),
        (lambda: wire(problem("Wait."), 503, retry_after="-9"), 0, 0),
        (lambda: wire(problem("Wait."), 503, retry_after=in_seconds(30)), 28, 30),
        (lambda: wire(problem("Wait."), 503, retry_after=in_seconds(-30)), 0, 0),
        (lambda: wire(problem("Wait."), 503, retry_after="in a while"), *BACK_OFF),
        (lambda: wire(problem("Wait."), 503, retry_after=""), *BACK_OFF),
        (lambda: wire(problem("Wait."), 503, retry_after="nan"), *BACK_OFF),
        (lambda: wire(problem("Wait."), 503, retry_after_ms="84", retry_after="1"), 0.084, 0.084),
        (lambda: wire(problem("Wait."), 503, retry_after_ms="soon", retry_after="3"), 3, 3),
        (lambda: wire(problem("Please try again in 1m2.5s."), 503), 62.5, 62.5),
        (lambda: wire(problem("Please try again in 250ms."), 503), 0.25, 0.25),
        (lambda: wire(problem("Please retry after 26 seconds."), 503), 26, 26),
        (lambda: wire(problem("Please wait 2 minutes."), 503), 120, 120),
        (lambda: wire(problem("Try again in 250 milliseconds."), 503), 0.25, 0.25),
        (lambda: wire(problem("Wait."), 503, retry_after="7, 9"), 7, 7),
        (lambda: wire(problem("Wait."), 503, retry_after="Sunday, 06-Nov-94 08:49:37 GMT"), 0, 0),
        (lambda: wire(problem("Wait."), 503, retry_after="Sun Nov  6 08:49:37 1994"), 0, 0),
        (lambda: wire({"error": "Model x is currently loading", "estimated_time": 20.5}, 503), 20.5, 20.5),
        (lambda: wire(problem("Wait.", details=[{"@type": RETRY_INFO, "retryDelay": "4.5s"}]), 503), 4.5, 4.5),
        (lambda: wire(problem("Wait.", code=503)), *BACK_OFF),
        (lambda: wire(b"", transport="reset"), *BACK_OFF),
    ],
)
def test_a_named_wait_is_waited_for(answer: Callable[[], Answer], low: float, high: float, waits: list[float]) -> None:
    """A server that says how long to wait is obeyed exactly; one that says nothing readable is backed off from."""
    with serving(answer(), good("openai")) as server:
        assert ask(a_judge("openai", server.url)).retries == 1
    assert len(waits) == 1
    assert low <= waits[0] <= high


def test_a_rate_limit_is_waited_for_once() -> None:
    """After a 429 the next request comes when the asked time is over, not before and not twice as late."""
    with serving(wire(problem("Wait."), 429, retry_after="0.6"), good("openai")) as server:
        ask(a_judge("openai", server.url))
    first, second = (asked.at for asked in server.asked)
    assert 0.6 <= second - first < 1.15


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_back_off_doubles_with_jitter_up_to_a_ceiling(sdk: str, waits: list[float]) -> None:
    """Waits lie between half and all of a doubling time, differ from run to run, and never exceed 30 s."""
    with serving(wire(problem("Later."), 500)) as server:
        for _ in range(2):
            with pytest.raises(FatalJudgeError):
                ask(a_judge(sdk, server.url, max_attempts=15))
    assert len(waits) == 2 * 14
    longest = [min(FIRST_WAIT * 2**attempt, 30.0) for attempt in range(14)]
    for waited, most in zip(waits, [*longest, *longest], strict=True):
        assert most / 2 <= waited <= most
    assert waits[:14] != waits[14:]
    assert max(waits) > 10


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_fault_that_stays_ends_the_run_after_the_last_attempt(
    sdk: str, attempts: int, snapshot: SnapshotAssertion
) -> None:
    """A server that always fails is asked max_attempts times, and the error says so, with the fault and what to do."""
    with serving(wire(problem("The cluster is on fire."), 500)) as server, pytest.raises(FatalJudgeError) as caught:
        ask(a_judge(sdk, server.url, max_attempts=attempts))
    assert len(server.asked) == attempts
    assert str(caught.value) == snapshot


@pytest.mark.parametrize(
    ("sdk", "answer", "kind"),
    [
        ("openai", wire(chat("")), "empty"),
        ("openai", wire({"choices": []}), "empty"),
        ("openai", wire({"model": "gpt-4o", "usage": {"prompt_tokens": 9}}), "empty"),
        ("google", wire(gemini()), "empty"),
        ("google", wire({"modelVersion": "gemini-2.5-flash"}), "empty"),
        ("google", wire(gemini(finish="MALFORMED_RESPONSE")), "no-answer"),
        ("anthropic", wire(claude()), "empty"),
        ("anthropic", wire({"model": "claude-haiku-4-5", "stop_reason": "end_turn"}), "empty"),
    ],
)
def test_an_empty_answer_that_stays_is_invalid(sdk: str, answer: Answer, kind: str) -> None:
    """A model that has nothing to say about an item, however often it is asked, makes that item invalid."""
    with serving(answer) as server:
        reply = ask(a_judge(sdk, server.url, max_attempts=3))
    assert (reply.verdict.invalid, reply.retries, len(server.asked)) == (kind, 2, 3)


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("body", ["{}", "null", "[]", b"", b" \n", {"status": "ok"}], ids=repr)
def test_an_outage_told_as_a_200_that_stays_ends_the_run(sdk: str, body: Any) -> None:
    """A 200 that says nothing of any answer is no answer of the judge's: it is asked again, then the run ends."""
    with serving(wire(body)) as server, pytest.raises(FatalJudgeError, match="--judge-record missing"):
        ask(a_judge(sdk, server.url, max_attempts=3))
    assert len(server.asked) == 3


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("status", [400, 403, 422])
@pytest.mark.parametrize("said", ["Blocked by the usage policy of your company.", "<p>Request too large</p>"])
def test_a_refusal_by_a_gateways_own_page_ends_the_run(sdk: str, status: int, said: str) -> None:
    """What stands before the judge and refuses in words, not in the API's JSON, does not speak for the judge."""
    with serving(wire(said, status, content_type="text/html")) as server, pytest.raises(FatalJudgeError):
        ask(a_judge(sdk, server.url, max_attempts=3))
    assert len(server.asked) == 1


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_drip_is_cut_off_at_the_deadline(sdk: str) -> None:
    """An attempt has a deadline of its own, whatever dribbles in, and the error names it."""
    started = time.monotonic()
    with serving(wire(chat(FIRST), transport="drip")) as server, pytest.raises(FatalJudgeError, match=r"within 0\.4 s"):
        ask(a_judge(sdk, server.url, timeout=0.4, max_attempts=2))
    assert len(server.asked) == 2
    assert 0.8 <= time.monotonic() - started < 3


# --- nobody listens -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_refused_first_call_is_fatal_at_once(sdk: str, waits: list[float]) -> None:
    """Where nobody has ever answered, a refused connection is a wrong address: no second attempt."""
    with pytest.raises(FatalJudgeError, match=r"refuses connections.*base_url"):
        ask(a_judge(sdk, f"http://127.0.0.1:{free_port()}"))
    assert waits == []


def test_an_unknown_host_is_fatal_at_once(waits: list[float]) -> None:
    """A host without an address is told as such, at the first call."""
    with pytest.raises(FatalJudgeError, match=r"not known.*base_url"):
        ask(a_judge("openai", "http://judge.invalid"))
    assert waits == []


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_refused_call_is_retried_once_the_judge_has_answered(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answered and went away is waited for: it is asked again when it is back."""
    port, real = free_port(), asyncio.sleep
    with contextlib.ExitStack() as stack:
        again: list[Server] = []

        async def sleep(seconds: float) -> None:
            if not again:
                again.append(stack.enter_context(serving(good(sdk), port=port)))
            await real(seconds)

        async def both() -> list[JudgeReply]:
            judge = a_judge(sdk, f"http://127.0.0.1:{port}")
            try:
                with serving(good(sdk), port=port):
                    first = await judge.ask("Question 1: which one?")
                monkeypatch.setattr(asyncio, "sleep", sleep)
                return [first, await judge.ask("Question 2: which one?")]
            finally:
                await judge.close()

        replies = asyncio.run(both())
        assert [reply.verdict.selected_response for reply in replies] == [2, 2]
        assert [reply.retries for reply in replies] == [0, 1]
        assert len(again[0].asked) == 1


# --- keys -----------------------------------------------------------------------------------------------------

KEY = "sk-a-very-private-key"
KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize(
    "answer",
    [
        wire(problem(f"Incorrect API key provided: {KEY}."), 401),
        wire(problem(f"{KEY} may not do this."), 403),
        wire(problem(f"No model for {KEY}."), 404),
        wire(problem(f"{KEY} has no temperature.", param=KEY), 400),
        wire(problem(f"{KEY} is used up.", code="insufficient_quota"), 429),
        wire(problem(f"Wait, {KEY}."), 429, retry_after="600"),
        wire(problem(f"{KEY} broke it."), 500),
        wire(f"<html>Bad gateway for {KEY}</html>", 502),
        wire(b"", 302, location=f"https://elsewhere.example/?key={KEY}"),
    ],
    ids=["401", "403", "404", "400", "quota", "wait", "500", "502", "302"],
)
def test_no_error_shows_the_key(sdk: str, answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that a server echoes is in no message, no argument and no traceback of ours."""
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(answer) as server, pytest.raises(FatalJudgeError) as caught:
        ask(a_judge(sdk, server.url, api_key_env="MY_KEY", max_attempts=2))
    assert server.asked[0].holds(KEY)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        wire(problem(f"Blocked for {KEY}.", code="content_filter"), 400),
        wire(chat(None, refusal=f"I will not work for {KEY}.")),
    ],
    ids=["filter", "refusal"],
)
def test_no_detail_shows_the_key(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that a server echoes in an item's error or refusal is not in the reply."""
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(answer) as server:
        assert KEY not in repr(ask(a_judge("openai", server.url, api_key_env="MY_KEY")))


def test_a_key_with_a_line_end_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key read from a file with its line end is either mended or told as such, without showing it."""
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")
    said = "MY_KEY"
    with serving(good("openai")) as server:
        try:
            ask(a_judge("openai", server.url, api_key_env="MY_KEY"))
        except FatalJudgeError as error:
            said = str(error)
    assert KEY not in said
    assert "MY_KEY" in said
    assert all(asked.headers["authorization"] == f"Bearer {KEY}" for asked in server.asked)


@pytest.mark.parametrize("key", ["1", "e", "none"])
def test_a_short_key_changes_no_answer(key: str, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    """A dummy key, as servers of one's own are given, is not looked for in what the judge says."""
    monkeypatch.setenv("MY_KEY", key)
    told = '{"selected_response": 1, "reason": "none of the others gives a date"}'
    with serving(wire(chat(told))) as server:
        verdict = ask(a_judge("openai", server.url, api_key_env="MY_KEY")).verdict
    assert (verdict.selected_response, verdict.reason) == snapshot


def test_a_blank_key_is_a_missing_key(monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    """A variable that holds nothing but a blank holds no key."""
    monkeypatch.setenv("MY_KEY", " ")
    with serving(good("openai")) as server, pytest.raises(FatalJudgeError) as error:
        ask(a_judge("openai", server.url, api_key_env="MY_KEY"))
    assert str(error.value) == snapshot


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_server_of_ones_own_is_sent_no_provider_key(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With base_url, the providers' own keys stay at home; a placeholder is sent."""
    for name in (
        *KEY_VARIABLES.values(),
        "OPENAI_ADMIN_KEY",
        "GOOGLE_API_KEY",
        "AZURE_OPENAI_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
    ):
        monkeypatch.setenv(name, KEY)
    with serving(good(sdk)) as server:
        assert ask(a_judge(sdk, server.url)).verdict.selected_response == 2
    assert not server.asked[0].holds(KEY)


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_server_of_ones_own_is_sent_the_key_that_is_named(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """api_key_env names the variable, be it that of a provider; where it is in the environment it is sent, as key."""
    monkeypatch.setenv("GOOGLE_API_KEY", "another-key")
    monkeypatch.setenv(KEY_VARIABLES[sdk], KEY)
    with serving(good(sdk)) as server:
        ask(a_judge(sdk, server.url, api_key_env=KEY_VARIABLES[sdk]))
    headers = server.asked[0].headers
    assert headers["x-goog-api-key" if sdk == "google" else "authorization"].removeprefix("Bearer ") == KEY
    assert KEY not in server.asked[0].path
    assert not server.asked[0].holds("another-key")


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
def test_a_missing_key_is_fatal_and_asks_nothing(sdk: str, value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the key that is named nothing is sent; the error names the variable and the two remedies."""
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with serving(good(sdk)) as server, pytest.raises(FatalJudgeError) as caught:
        ask(a_judge(sdk, server.url, api_key_env="MY_KEY"))
    assert server.asked == []
    for words in ("judge 'mine'", "MY_KEY", "api_key_env in [judges.mine]", "a replay does not need"):
        assert words in str(caught.value)


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_the_providers_own_key_is_missed_by_its_name(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge at the provider itself wants that provider's variable, and GOOGLE_API_KEY is not it."""
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    judge = load_judge({"provider": sdk, "model": MODELS[sdk]}, "mine")
    with pytest.raises(FatalJudgeError, match=KEY_VARIABLES[sdk]):
        ask(judge)


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_the_key_is_read_when_the_judge_is_asked(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is set after load_judge and before the first question is the one that is sent."""
    with serving(good(sdk)) as server:
        judge = a_judge(sdk, server.url, api_key_env="MY_KEY")
        monkeypatch.setenv("MY_KEY", KEY)
        ask(judge)
    assert server.asked[0].holds(KEY)


# --- whole runs -----------------------------------------------------------------------------------------------

SAYING = {"openai": chat, "google": gemini, "anthropic": claude}
PASSING = {
    sdk: [
        wire(problem("Wait."), 429, retry_after="0.08"),
        wire(problem("Wait."), 429, retry_after_ms="40"),
        wire(problem("Wait."), 503, retry_after="0.15"),
        wire(problem("Please try again in 60ms."), 503),
        wire(problem("Wait.", details=[{"@type": RETRY_INFO, "retryDelay": "0.05s"}]), 429),
        wire(problem("Wait."), 503, retry_after=EARLIER),
        *(wire(problem("Later."), status) for status in (408, 409, 425, 500, 502, 504, 529)),
        wire(NGINX, 502, content_type="text/html"),
        wire({"error": "model runner has unexpectedly stopped"}, 500),
        wire(b""),
        wire(good(sdk).body[:60]),
        wire(chat(FIRST), transport="reset"),
        wire(chat(FIRST), transport="closed"),
        wire(chat(FIRST), transport="cut"),
        wire("null"),
        wire(SAYING[sdk]("")),
    ]
    for sdk in ALL_SDKS
}
NAMED_WAITS = {0: 0.08, 1: 0.04, 2: 0.15, 3: 0.06, 4: 0.05, 5: 0.0}  # by place in PASSING, seconds


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_run_survives_a_server_that_fails_every_fifth_time(sdk: str, tmp_path: Path) -> None:
    """200 pairs, a fifth of all requests failing in any way that passes: 200 verdicts, each recorded once.

    No request is repeated before the time that its answer asked for, none is repeated after a good answer, and what
    was recorded replays the same without the server.
    """
    served: dict[int, list[tuple[float, int | None]]] = {}
    lock = threading.Lock()

    def answering(asked: Asked) -> Answer:
        with lock:
            turns = served.setdefault(asked.number, [])
            chance = random.Random(f"{asked.number} {len(turns)}")
            fault = chance.randrange(len(PASSING[sdk])) if chance.random() < 0.2 else None
            turns.append((asked.at, fault))
        return good(sdk, FIRST if asked.number % 3 else SECOND) if fault is None else PASSING[sdk][fault]

    pairs = some_pairs(200)
    with serving(by=answering) as server:
        judge = a_judge(sdk, server.url, max_attempts=8)
        judgments = run(judge, tmp_path, pairs)
    said = [judgment.verdict.selected_response for judgment in judgments]
    assert said == [1 if number % 3 else 2 for number in range(200)]
    assert [judgment.pair for judgment in judgments] == pairs

    faults = [fault for turns in served.values() for _, fault in turns if fault is not None]
    assert len(server.asked) == 200 + len(faults) == 200 + judge.retries
    assert len(faults) > 30
    assert len(set(faults)) > 12
    assert sum(judgment.reply.retries for judgment in judgments) == len(faults)
    for turns in served.values():
        assert [fault for _, fault in turns].index(None) == len(turns) - 1
        for (before, fault), (after, _) in itertools.pairwise(turns):
            assert after - before >= NAMED_WAITS.get(fault, FIRST_WAIT / 2)

    recorded = rows(tmp_path)
    assert [row["pair"] for row in recorded] == sorted(pair.id for pair in pairs)
    assert len({row["digest"] for row in recorded}) == 200
    replayed = run(a_judge(sdk, server.url), tmp_path, pairs, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]


ITEM_FAULTS = {
    "openai": [
        wire(chat(None, refusal="No.")),
        wire(chat("{", "length")),
        wire(chat("", "content_filter")),
        wire(problem("Too long.", code="context_length_exceeded"), 400),
        wire(problem("Blocked.", code="content_filter"), 400),
        wire("<html>too large</html>", 413),
        wire(chat("It depends.")),
        wire(chat(FIRST + SECOND)),
        wire(chat('{"selected_response": "tie", "reason": ""}')),
    ],
    "google": [
        wire({"promptFeedback": {"blockReason": "SAFETY"}}),
        wire(gemini("{", finish="MAX_TOKENS")),
        wire(gemini(finish="RECITATION")),
        wire(google_problem(400, "The input token count (9) exceeds the maximum number of tokens allowed (5)."), 400),
        wire(gemini("It depends.")),
        wire(gemini(FIRST + SECOND)),
        wire(gemini('{"selected_response": "tie", "reason": ""}')),
    ],
    "anthropic": [
        wire(claude(stop="refusal")),
        wire(claude("{", stop="max_tokens")),
        wire(claude(called({}), stop="tool_use")),
        wire(claude_problem("invalid_request_error", "prompt is too long: 9 tokens > 5 maximum"), 400),
        wire(claude_problem("invalid_request_error", "Output blocked by content filtering policy"), 400),
        wire(claude("It depends.")),
        wire(claude(FIRST + SECOND)),
        wire(claude('{"selected_response": "tie", "reason": ""}')),
    ],
}


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_verdicts_and_invalid_answers_are_all_there_is(sdk: str, tmp_path: Path) -> None:
    """Items that cannot be judged are invalid and the run goes on: verdicts + invalid = pairs, also in the replay."""
    faults = ITEM_FAULTS[sdk]

    def answering(asked: Asked) -> Answer:
        return faults[asked.number // 2 % len(faults)] if asked.number % 2 else good(sdk)

    pairs = some_pairs(60)
    with serving(by=answering) as server:
        judgments = run(a_judge(sdk, server.url), tmp_path, pairs)
    assert len(server.asked) == len(judgments) == 60
    assert [judgment.verdict.invalid is None for judgment in judgments] == [number % 2 == 0 for number in range(60)]
    assert len({judgment.verdict.invalid for judgment in judgments}) > 4
    assert len(rows(tmp_path)) == 60
    replayed = run(a_judge(sdk, server.url), tmp_path, pairs, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]


ONE_WAY: dict[str, Callable[[bytes], bytes]] = {
    "GZIP": gzip.compress,
    "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
    "identity, gzip": gzip.compress,
    "Deflate": zlib.compress,
    "gzip": lambda body: gzip.compress(body)[:-8],
}


@pytest.mark.parametrize("coding", ONE_WAY)
@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_what_was_compressed_is_recorded_as_it_was_read(
    sdk: str, coding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However a server calls its compression, the recording holds the text, cleaned of secrets, and replays."""
    monkeypatch.setenv("MY_KEY", KEY)
    text = json.dumps({"selected_response": 2, "reason": f"It knows {KEY}."})
    answer = wire(ONE_WAY[coding](json.dumps(SAYING[sdk](text)).encode()), content_encoding=coding)
    pairs = some_pairs(1)
    with serving(answer) as server:
        judge = a_judge(sdk, server.url, api_key_env="MY_KEY")
        (live,) = run(judge, tmp_path, pairs)
    (row,) = rows(tmp_path)
    assert KEY not in json.dumps(row)
    assert "selected_response" in json.dumps(row)
    (again,) = run(judge, tmp_path, pairs, mode="none")
    assert live.verdict.selected_response == again.verdict.selected_response == 2
    assert live.verdict == again.verdict


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_an_item_that_stayed_empty_replays_as_such(sdk: str, tmp_path: Path) -> None:
    """A run that ended with an invalid item is replayed with it: recordings hold whatever was counted."""
    empty = wire(SAYING[sdk](""))
    pairs = some_pairs(6)
    with serving(by=lambda asked: empty if asked.number == 3 else good(sdk)) as server:
        judgments = run(a_judge(sdk, server.url), tmp_path, pairs)
    assert [judgment.verdict.invalid for judgment in judgments] == [None, None, None, "empty", None, None]
    replayed = run(a_judge(sdk, server.url), tmp_path, pairs, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_fatal_error_keeps_what_was_recorded(sdk: str, concurrency: int, tmp_path: Path) -> None:
    """A key that is withdrawn in the middle ends the run at once; the next one asks only about the rest."""
    count = itertools.count(1)
    pairs = some_pairs(60)
    withdrawn = wire(problem("This key was withdrawn."), 401)
    with (
        serving(by=lambda _asked: good(sdk) if next(count) <= 30 else withdrawn) as server,
        pytest.raises(FatalJudgeError, match="api_key_env"),
    ):
        run(a_judge(sdk, server.url), tmp_path, pairs, concurrency=concurrency)
    kept = {row["pair"] for row in rows(tmp_path)}
    assert len(kept) == len(rows(tmp_path))
    assert 30 - concurrency < len(kept) <= 30
    assert len(server.asked) <= 30 + concurrency

    with serving(good(sdk)) as server:
        judgments = run(a_judge(sdk, server.url), tmp_path, pairs, concurrency=concurrency)
    assert sorted(asked.number for asked in server.asked) == [
        number for number in range(60) if pairs[number].id not in kept
    ]
    assert [judgment.verdict.selected_response for judgment in judgments] == [2] * 60


def test_an_error_that_stays_in_the_middle_keeps_what_was_recorded(tmp_path: Path) -> None:
    """A pair that the server always fails on ends the run after the last attempt, with the others kept."""
    pairs = some_pairs(12)
    broken = wire(problem("Out of memory."), 500)
    with (
        serving(by=lambda asked: broken if asked.number == 7 else good("openai")) as server,
        pytest.raises(FatalJudgeError, match=r"after 3 attempts.*--judge-record missing"),
    ):
        run(a_judge("openai", server.url, max_attempts=3), tmp_path, pairs, concurrency=1)
    assert [row["pair"] for row in rows(tmp_path)] == [pair.id for pair in pairs[:7]]
    with serving(good("openai")) as server:
        run(a_judge("openai", server.url), tmp_path, pairs)
    assert sorted(asked.number for asked in server.asked) == list(range(7, 12))
