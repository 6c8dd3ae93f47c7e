"""What a model takes is found by the first question of a recording, dropped where that is allowed, and remembered."""

import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, ask, header, rows, run, some_pairs
from support.server import (
    ALL_SDKS,
    SDKS,
    Answer,
    Answering,
    Asked,
    called,
    chat,
    claude,
    claude_problem,
    gemini,
    good,
    google_problem,
    problem,
    serving,
    wire,
)

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.cassettes.vcr_adapter import request_digest
from judgefixtures.client.costs import CostMeter
from judgefixtures.config import judge_table
from judgefixtures.judges.judge import FatalJudgeError
from judgefixtures.models.contrasts import NO_CUE, contrasts
from judgefixtures.prompts.planning import PLAN
from judgefixtures.providers.openai import request_parameters

pytestmark = pytest.mark.usefixtures("quick_and_alone")

(RECENCY,) = contrasts("recency")
BOTH = (RECENCY.x, RECENCY.y)
PAIRS = some_pairs(5)


def sent(asked: Asked) -> set[str]:
    """Return the names of the parameters that a request carries; Google's in camel case, which is one of its two."""
    body = asked.body
    settings = body.get("generationConfig")
    if settings is None:
        return body.keys() - {"model", "messages"} | body.get("output_config", {}).keys()
    names = {*settings, *settings.get("thinkingConfig", ())}
    return {re.sub(r"_([a-z])", lambda found: found[1].upper(), name) for name in names}


@dataclass(frozen=True, eq=False)
class Rejection:
    """A server's way to say that it does not take a parameter; `gone` are the names that must not be sent again."""

    name: str
    sdk: str
    parameter: str
    answer: Answer
    dropped: tuple[str, ...]
    said: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def answering(self, asked: Asked) -> Answer:
        """Reject a request that carries the parameter, and answer all others."""
        return self.answer if self.parameter in sent(asked) else good(self.sdk)


def unknown_name(name: str, where: str = "generation_config") -> Answer:
    """Return Google's answer to a field that it does not know."""
    message = f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}': Cannot find field."
    return google(message)


def google(message: str) -> Answer:
    """Return Google's answer to an argument that it does not take."""
    return wire(google_problem(400, message, "INVALID_ARGUMENT"), 400)


def anthropic(message: str) -> Answer:
    """Return a 400 in Anthropic's form."""
    return wire(claude_problem("invalid_request_error", message), 400)


def openai(message: str, **more: Any) -> Answer:
    """Return a 400 in OpenAI's form."""
    return wire(problem(message, **{"type": "invalid_request_error", "param": None, "code": None, **more}), 400)


LOW = {"reasoning_effort": "low"}
REJECTIONS = [
    Rejection(
        "temperature, by value",
        "openai",
        "temperature",
        openai(
            "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is "
            "supported.",
            param="temperature",
            code="unsupported_value",
        ),
        ("temperature",),
        "temperature",
    ),
    Rejection(
        "temperature, in words alone",
        "openai",
        "temperature",
        openai("Unsupported parameter: 'temperature' is not supported with this model."),
        ("temperature",),
        "temperature",
    ),
    Rejection(
        "seed, unrecognized",
        "openai",
        "seed",
        openai("Unrecognized request argument supplied: seed"),
        ("seed",),
        "seed",
    ),
    Rejection(
        "reasoning_effort, unrecognized",
        "openai",
        "reasoning_effort",
        openai("Unrecognized request argument supplied: reasoning_effort"),
        ("reasoning_effort",),
        "reasoning_effort",
        LOW,
    ),
    Rejection(
        "reasoning_effort, in backticks",
        "openai",
        "reasoning_effort",
        openai("`reasoning_effort` is not supported with this model"),
        ("reasoning_effort",),
        "reasoning_effort",
        LOW,
    ),
    Rejection(
        "response_format",
        "openai",
        "response_format",
        openai(
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            param="response_format",
        ),
        ("response_format",),
        "response_format",
    ),
    Rejection(
        "response_format, a part of it",
        "openai",
        "response_format",
        openai("Unsupported schema.", param="response_format.json_schema[0]"),
        ("response_format",),
        "response_format",
    ),
    Rejection(
        "a limit beyond the model's",
        "openai",
        "max_tokens",
        openai(
            "max_tokens is too large: 512. This model supports at most 256 completion tokens, whereas you provided 512.",
            param="max_tokens",
            code="invalid_value",
        ),
        ("max_completion_tokens", "max_tokens"),
        "max_tokens",
    ),
    Rejection("temperature", "google", "temperature", unknown_name("temperature"), ("temperature",), "temperature"),
    Rejection("seed", "google", "seed", unknown_name("seed"), ("seed",), "seed"),
    Rejection(
        "thinking",
        "google",
        "thinkingConfig",
        unknown_name("thinkingConfig"),
        ("thinking_config",),
        "thinkingConfig",
        {"thinking_budget": 128},
    ),
    Rejection(
        "thinking level",
        "google",
        "thinkingLevel",
        unknown_name("thinkingLevel", "generation_config.thinking_config"),
        ("thinking_config",),
        "thinkingLevel",
        {"thinking_level": "LOW"},
    ),
    Rejection(
        "thinking budget",
        "google",
        "thinkingBudget",
        unknown_name("thinking_budget", "generation_config.thinking_config"),
        ("thinking_config",),
        "thinking_budget",
        {"thinking_budget": 0},
    ),
    Rejection(
        "schema",
        "google",
        "responseJsonSchema",
        unknown_name("responseJsonSchema"),
        ("response_json_schema", "response_mime_type"),
        "responseJsonSchema",
    ),
]

REJECTIONS += [
    Rejection(
        "temperature, removed",
        "anthropic",
        "temperature",
        anthropic("temperature: Extra inputs are not permitted"),
        ("temperature",),
        'set temperature = "unset"',
    ),
    Rejection(
        "temperature, deprecated",
        "anthropic",
        "temperature",
        anthropic("`temperature` is deprecated for this model."),
        ("temperature",),
        "rejects temperature",
    ),
    Rejection(
        "a budget for thinking",
        "anthropic",
        "thinking",
        anthropic(
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.'
        ),
        ("thinking_config",),
        "change or remove thinking_bud",
        {"thinking_budget": 1024},
    ),
    Rejection(
        "effort",
        "anthropic",
        "effort",
        anthropic("This model does not support the effort parameter."),
        ("reasoning_effort",),
        "change or remove reasoning_effort",
        LOW,
    ),
    Rejection(
        "effort, by its path",
        "anthropic",
        "effort",
        anthropic("output_config.effort: Input should be 'high'"),
        ("reasoning_effort",),
        "change or remove reasoning_effort",
        LOW,
    ),
    Rejection(
        "a forced tool",
        "anthropic",
        "tool_choice",
        anthropic("tool_choice.type: tool is not supported by this model"),
        ("tool_choice",),
        "change or remove response_format",
        {"response_format": "tool"},
    ),
    Rejection(
        "a forced tool, by a model that thinks unasked",
        "anthropic",
        "tool_choice",
        anthropic("Thinking may not be enabled when tool_choice forces tool use."),
        ("tool_choice",),
        "rejects tool_choice",
        {"response_format": "tool"},
    ),
]

# In words without the parameter's name in quotes, or in another form.
REJECTIONS += [
    Rejection(
        "thinking level, in words",
        "google",
        "thinkingLevel",
        google("Thinking level MINIMAL is not supported for this model. Please retry with other thinking level."),
        ("thinking_config",),
        "hinking",
        {"thinking_level": "MINIMAL"},
    ),
    Rejection(
        "thinking budget, in words",
        "google",
        "thinkingBudget",
        google("Thinking budget is not supported for this model."),
        ("thinking_config",),
        "hinking",
        {"thinking_budget": 0},
    ),
    Rejection(
        "JSON mode",
        "google",
        "responseMimeType",
        google("JSON mode is not enabled for models/gemma-3-27b-it"),
        ("response_json_schema", "response_mime_type"),
        "JSON mode",
    ),
    Rejection(
        "thinking, by Ollama",
        "openai",
        "reasoning_effort",
        openai('"llama3.2" does not support thinking'),
        ("reasoning_effort",),
        "thinking",
        LOW,
    ),
    Rejection(
        "a text as error",
        "openai",
        "reasoning_effort",
        wire(
            {
                "code": "Client specified an invalid argument",
                "error": "Argument not supported on this model: reasoningEffort",
            },
            400,
        ),
        ("reasoning_effort",),
        "easoning",
        LOW,
    ),
    Rejection(
        "a type that is unavailable",
        "openai",
        "response_format",
        openai("This response_format type is unavailable now"),
        ("response_format",),
        "rejects response_format",
    ),
    Rejection(
        "pydantic's 422",
        "openai",
        "seed",
        wire(
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "seed"],
                        "msg": "Extra inputs are not permitted",
                        "input": 0,
                    }
                ]
            },
            422,
        ),
        ("seed",),
        "rejects seed",
    ),
    Rejection(
        "pydantic's 422 inside a message",
        "openai",
        "seed",
        wire(
            {
                "object": "error",
                "message": {
                    "detail": [
                        {
                            "type": "extra_forbidden",
                            "loc": ["body", "seed"],
                            "msg": "Extra inputs are not permitted",
                            "input": 0,
                        }
                    ]
                },
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            },
            422,
        ),
        ("seed",),
        "rejects seed",
    ),
]

# What names neither, or more than one.
REJECTIONS += [
    Rejection(
        "thinking that cannot be off",
        "google",
        "thinkingBudget",
        google("Budget 0 is invalid. This model only works in thinking mode."),
        ("thinking_config",),
        "hinking",
        {"thinking_budget": 0},
    ),
    Rejection(
        "thinking that is not there",
        "google",
        "thinkingBudget",
        google("Thinking is not enabled for models/gemini-2.0-flash-preview-image-generation"),
        ("thinking_config",),
        "hinking",
        {"thinking_budget": 128},
    ),
    Rejection(
        "a budget beyond the model's",
        "google",
        "thinkingBudget",
        google("The thinking budget (52428) is invalid."),
        ("thinking_config",),
        "hinking",
        {"thinking_budget": 52428},
    ),
    Rejection(
        "too many states",
        "google",
        "responseJsonSchema",
        google("The specified schema produces a constraint that has too many states for serving."),
        ("response_json_schema", "response_mime_type"),
        "schema",
    ),
    Rejection(
        "Gemini's words behind a gateway",
        "openai",
        "reasoning_effort",
        openai("Budget 0 is invalid. This model only works in thinking mode."),
        ("reasoning_effort",),
        "thinking",
        LOW,
    ),
    Rejection(
        "LiteLLM's None",
        "openai",
        "temperature",
        openai(
            "litellm.UnsupportedParamsError: gpt-5-nano doesn't support temperature=0.1 while reasoning is active.",
            type="None",
            param="None",
            code="400",
        ),
        ("temperature",),
        "rejects temperature",
    ),
    Rejection(
        "a schema of vLLM's",
        "openai",
        "response_format",
        openai("The provided JSON schema contains features not supported by xgrammar."),
        ("response_format",),
        "rejects response_format",
    ),
    Rejection(
        "behind OpenRouter",
        "openai",
        "seed",
        openai(
            "Provider returned error",
            code=400,
            metadata={"raw": '{"error": {"message": "Unsupported parameter: seed"}}'},
        ),
        ("seed",),
        "rejects seed",
    ),
    Rejection(
        "a positive temperature, for TGI",
        "openai",
        "temperature",
        wire(
            {"error": "Input validation error: `temperature` must be strictly positive", "error_type": "validation"},
            422,
        ),
        ("temperature",),
        "rejects temperature",
    ),
]

each = {"argnames": "rejection", "ids": lambda rejection: f"{rejection.name}, {rejection.sdk}"}


def refuses(rejection: Rejection, folder: Path) -> None:
    """Assert that a recording ends at the first request, with an error that names the parameter."""
    with serving(by=rejection.answering) as server, pytest.raises(FatalJudgeError) as caught:
        run(a_judge(rejection.sdk, server.url, **rejection.more), folder, PAIRS, conditions=BOTH)
    assert len(server.asked) == 1
    for words in ("judge 'mine'", rejection.said, "drop_unsupported = true"):
        assert words in str(caught.value)
    assert not list(folder.rglob("recency*"))


def drops(rejection: Rejection, folder: Path) -> None:
    """Assert that a recording leaves the parameter out, says so everywhere, and replays."""
    more = {**rejection.more, "drop_unsupported": True}
    with serving(by=rejection.answering) as server:
        judge = a_judge(rejection.sdk, server.url, **more)
        judgments = run(judge, folder, PAIRS, conditions=BOTH)
    first, *others = server.asked
    assert len(others) == len(judgments) == 10
    assert rejection.parameter in sent(first)
    lost = {name for name in sent(first) if all(name not in sent(asked) for asked in others)}
    assert rejection.parameter in lost
    assert sent(others[0]) == sent(first) - lost  # nothing else is
    assert judge.identity["dropped"] == sorted(rejection.dropped)
    assert [header(folder, condition.name)["judge"] for condition in BOTH] == [judge.identity] * 2

    again = a_judge(rejection.sdk, server.url, **more)
    assert "dropped" not in again.identity
    replayed = run(again, folder, PAIRS, conditions=BOTH, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]
    assert again.identity == judge.identity


@pytest.mark.parametrize(argvalues=REJECTIONS, **each)
def test_a_rejected_parameter_is_fatal_and_named(rejection: Rejection, tmp_path: Path) -> None:
    """Without drop_unsupported the first request ends the recording; the error names the parameter and the way out."""
    refuses(rejection, tmp_path)


@pytest.mark.parametrize(argvalues=REJECTIONS, **each)
def test_a_rejected_parameter_is_dropped_where_allowed(rejection: Rejection, tmp_path: Path) -> None:
    """With drop_unsupported one request more finds it; identity and cassettes tell what was dropped, and replays."""
    drops(rejection, tmp_path)


FORMATS = [
    Rejection(
        "by its path",
        "anthropic",
        "format",
        anthropic("output_config.format: Extra inputs are not permitted"),
        ("response_format",),
        "change or remove response_for",
    ),
    Rejection(
        "in words",
        "anthropic",
        "format",
        anthropic("'claude-haiku-4-5' does not support output format."),
        ("response_format",),
        "rejects response_format",
    ),
]


@pytest.mark.parametrize(argvalues=FORMATS, **each)
def test_claude_without_structured_outputs_calls_a_tool(rejection: Rejection, tmp_path: Path) -> None:
    """A model before structured outputs is told to call a tool whose input is the verdict, where that is allowed."""
    refuses(rejection, tmp_path)
    states = wire(claude(called({"selected_response": 2, "reason": "steps"}), stop="tool_use"))
    with serving(by=lambda asked: rejection.answer if "format" in sent(asked) else states) as server:
        judge = a_judge("anthropic", server.url, drop_unsupported=True)
        judgments = run(judge, tmp_path, PAIRS)
    assert len(server.asked) == 1 + len(PAIRS)
    assert [judgment.verdict.selected_response for judgment in judgments] == [2] * len(PAIRS)
    for asked in server.asked[1:]:
        (tool,) = asked.body["tools"]
        assert tool["input_schema"]["properties"]["selected_response"] == {"type": "integer", "enum": [1, 2]}
        assert asked.body["tool_choice"]["name"] == tool["name"]
    assert judge.identity["dropped"] == ["response_format"]
    replayed = run(a_judge("anthropic", server.url, drop_unsupported=True), tmp_path, PAIRS, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]


@pytest.mark.parametrize("thinks", [{}, {"thinking_budget": 1024}], ids=["", "thinking"])
def test_claude_without_either_is_asked_for_text(thinks: dict[str, Any], tmp_path: Path) -> None:
    """Where no tool can be forced either, as while the model thinks, the prompt alone asks for the verdict's form."""

    def answering(asked: Asked) -> Answer:
        if "format" in sent(asked):
            return FORMATS[0].answer
        return anthropic("tool_choice: not supported") if "tool_choice" in sent(asked) else good("anthropic")

    with serving(by=answering) as server:
        judge = a_judge("anthropic", server.url, drop_unsupported=True, **thinks)
        run(judge, tmp_path, PAIRS)
    rejected = ["response_format"] if thinks else ["response_format", "tool_choice"]
    assert judge.identity["dropped"] == rejected
    assert len(server.asked) == len(rejected) + len(PAIRS)
    assert not {"tools", "tool_choice", "output_config"} & sent(server.asked[-1])


def test_several_parameters_are_dropped_one_after_another(tmp_path: Path) -> None:
    """A model that takes neither temperature nor seed nor response_format costs three requests more, once."""
    rejected = ("temperature", "seed", "response_format")

    def answering(asked: Asked) -> Answer:
        for name in rejected:
            if name in sent(asked):
                return openai(f"Unsupported parameter: '{name}' is not supported with this model.", param=name)
        return good("openai")

    with serving(by=answering) as server:
        judge = a_judge("openai", server.url, drop_unsupported=True)
        run(judge, tmp_path, PAIRS, conditions=BOTH)
    assert len(server.asked) == 3 + 10
    assert judge.identity["dropped"] == sorted(rejected)


def test_what_is_rejected_again_is_fatal(tmp_path: Path) -> None:
    """A server that goes on rejecting what it is no longer sent is not asked for ever."""
    stubborn = openai("Unsupported parameter: 'temperature' is not supported with this model.", param="temperature")
    with serving(stubborn) as server, pytest.raises(FatalJudgeError, match="rejects temperature"):
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS)
    assert len(server.asked) == 2


def test_what_was_never_sent_cannot_be_dropped(tmp_path: Path) -> None:
    """A server that rejects a parameter we do not send ends the recording at once."""
    with (
        serving(openai("Unsupported parameter: 'top_k' is not supported.", param="top_k")) as server,
        pytest.raises(FatalJudgeError, match="rejects top_k"),
    ):
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS)
    assert len(server.asked) == 1


# --- two names for one limit ------------------------------------------------------------------------------------

LIMITS = {"max_tokens", "max_completion_tokens"}
OLDER, NEWER = sorted(LIMITS, key=len)
REFUSALS = {
    "OpenAI": lambda name: openai(
        f"Unsupported parameter: '{name}' is not supported with this model. Use 'max_completion_tokens' instead.",
        param=name,
        code="unsupported_parameter",
    ),
    "Groq": lambda name: openai(f"property '{name}' is unsupported"),
    "pydantic": lambda name: wire(
        {
            "detail": [
                {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": 9}
            ]
        },
        422,
    ),
}


def takes(name: str, refusal: str = "OpenAI") -> Answering:
    """Return what a server answers that takes the limit under one name alone, and never both."""

    def answering(asked: Asked) -> Answer:
        names = LIMITS & sent(asked)
        if len(names) > 1:
            return openai("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
        return good("openai") if names == {name} else REFUSALS[refusal](*names)

    return answering


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize(("name", "refused"), [(OLDER, 0), (NEWER, 1)])
def test_a_limit_goes_by_the_name_that_the_server_takes(name: str, refused: int, refusal: str, tmp_path: Path) -> None:
    """One of the two names is sent; a server that refuses it is sent the other from then on, and nothing is dropped."""
    with serving(by=takes(name, refusal)) as server:
        judge = a_judge("openai", server.url)
        judgments = run(judge, tmp_path, PAIRS, conditions=BOTH)
    assert len(server.asked) == refused + len(judgments) == refused + 10
    assert [LIMITS & sent(asked) for asked in server.asked[refused:]] == [{name}] * 10
    assert {asked.body[name] for asked in server.asked[refused:]} == {512}
    assert "dropped" not in judge.identity
    assert len(rows(tmp_path, RECENCY.x.name)) == 5  # the refusal is not recorded
    replayed = run(a_judge("openai", server.url), tmp_path, PAIRS, conditions=BOTH, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]


def test_a_single_verdict_finds_the_name_as_well() -> None:
    """Without a recording, too, the other name is tried, once."""
    with serving(by=takes(NEWER)) as server:
        judge = a_judge("openai", server.url)
        assert [ask(judge).verdict.selected_response for _ in range(2)] == [2, 2]
    assert [LIMITS & sent(asked) for asked in server.asked] == [{OLDER}, {NEWER}, {NEWER}]


def test_a_server_that_takes_neither_name_is_told(tmp_path: Path) -> None:
    """Where both names are refused the error names the parameter; where dropping is allowed, no limit is sent."""

    def answering(asked: Asked) -> Answer:
        names = LIMITS & sent(asked)
        return REFUSALS["OpenAI"](*names) if names else good("openai")

    with serving(by=answering) as server:
        with pytest.raises(FatalJudgeError, match="rejects max_completion_tokens"):
            run(a_judge("openai", server.url), tmp_path, PAIRS)
        assert len(server.asked) == 2
        judge = a_judge("openai", server.url, drop_unsupported=True)
        run(judge, tmp_path, PAIRS)
    assert judge.identity["dropped"] == sorted(LIMITS)
    assert not any(LIMITS & sent(asked) for asked in server.asked[-len(PAIRS) :])


def test_the_name_of_the_limit_is_no_part_of_what_was_asked(tmp_path: Path) -> None:
    """Recordings of a server of either name have the same digests, and so have those that were asked with both."""
    digests = []
    for name in (OLDER, NEWER):
        with serving(by=takes(name)) as server:
            run(a_judge("openai", server.url), tmp_path / name, PAIRS)
        digests.append([row["digest"] for row in rows(tmp_path / name)])
        path, bodies = server.url + "/v1/chat/completions", [asked.body for asked in server.asked[-len(PAIRS) :]]
        both = [json.dumps(body | dict.fromkeys(LIMITS, 512)).encode() for body in bodies]
        assert {request_digest("POST", path, body) for body in both} == set(digests[-1])
    assert digests[0] == digests[1]


def test_a_recording_that_dropped_the_older_name_is_found(tmp_path: Path) -> None:
    """What was recorded without max_tokens, which a server refused beside the newer name, replays and goes on."""
    with serving(by=takes(NEWER)) as server:
        judge = a_judge("openai", server.url, drop_unsupported=True)
        judge.adopt({"dropped": [OLDER]})
        run(judge, tmp_path, PAIRS[:3])
        assert header(tmp_path)["judge"]["dropped"] == [OLDER]
        digests = {request_digest("POST", server.url + asked.path, asked.raw) for asked in server.asked}
        assert {row["digest"] for row in rows(tmp_path)} == digests
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS)
    assert len(server.asked) == len(PAIRS)
    assert header(tmp_path)["judge"]["dropped"] == [OLDER]


def test_openai_itself_is_sent_the_newer_name() -> None:
    """Without base_url the limit goes by the name that all of OpenAI's models take."""
    table = judge_table({"provider": "openai", "model": "gpt-4o"})
    assert LIMITS & request_parameters(table).keys() == {NEWER}


@pytest.mark.parametrize("sdk", SDKS)
def test_what_is_unset_is_not_sent(sdk: str, tmp_path: Path) -> None:
    """temperature and seed can be "unset": they are not sent, and the identity says so."""
    with serving(good(sdk)) as server:
        judge = a_judge(sdk, server.url, temperature="unset", seed="unset")
        run(judge, tmp_path, PAIRS)
    assert not any({"temperature", "seed"} & sent(asked) for asked in server.asked)
    told = {name: judge.identity["parameters"][name] for name in ("temperature", "seed")}
    assert told == {"temperature": "unset", "seed": "unset"}
    with pytest.raises(CassetteError, match=r'temperature: "unset" -> 0\.0'):
        run(a_judge(sdk, server.url, seed="unset"), tmp_path, PAIRS, mode="none")


def test_a_plan_s_temperature_can_be_unset() -> None:
    """The model that plans is asked without a temperature where plan_temperature is "unset"."""
    with serving(good("openai")) as server:
        judge = a_judge("openai", server.url, strategy="plan-self", plan_temperature="unset")
        ask(judge.planner)
    assert "temperature" not in sent(server.asked[0])
    assert judge.identity["planning"]["temperature"] == "unset"


# --- a server that fails where it should reject -----------------------------------------------------------------


def fails_on_schema(asked: Asked) -> Answer:
    """Answer as llama-cpp-python does: a 500 for a kind of response_format that it does not know."""
    kind = asked.body.get("response_format", {}).get("type")
    return (
        wire(problem("1 validation error for Request: response_format"), 500)
        if kind == "json_schema"
        else (good("openai"))
    )


def test_a_server_that_fails_on_the_schema_is_found_out(tmp_path: Path) -> None:
    """Two failures, one answer without response_format: the error names the parameter and what to set instead."""
    with serving(by=fails_on_schema) as server, pytest.raises(FatalJudgeError) as caught:
        run(a_judge("openai", server.url), tmp_path, PAIRS)
    assert len(server.asked) == 4  # twice with the format, once without, and once more with it
    for words in ("judge 'mine'", "response_format = 'json_schema'", '"json_object"', "drop_unsupported = true"):
        assert words in str(caught.value)
    assert not list(tmp_path.rglob("no-cue*"))


def test_a_server_that_fails_on_the_schema_is_asked_without(tmp_path: Path) -> None:
    """With drop_unsupported the same server is recorded without response_format, each pair once, and replays."""
    with serving(by=fails_on_schema) as server:
        judge = a_judge("openai", server.url, drop_unsupported=True)
        judgments = run(judge, tmp_path, PAIRS)
    assert len(server.asked) <= 4 + len(PAIRS)
    assert len(rows(tmp_path)) == len(PAIRS)
    assert header(tmp_path)["judge"]["dropped"] == ["response_format"]
    replayed = run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS, mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]


def test_a_kind_of_format_that_works_costs_nothing(tmp_path: Path) -> None:
    """With the format that the error recommends, the same server is asked once a pair."""
    with serving(by=fails_on_schema) as server:
        run(a_judge("openai", server.url, response_format="json_object"), tmp_path, PAIRS)
    assert len(server.asked) == len(PAIRS)


def test_a_server_that_is_down_is_not_blamed_on_the_format(tmp_path: Path) -> None:
    """Where leaving the format out does not help either, all attempts are made with it, and the fault is told."""
    with serving(wire(problem("Out of order."), 500)) as server, pytest.raises(FatalJudgeError, match="Out of order"):
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS)
    assert ["response_format" in sent(asked) for asked in server.asked] == [True, True, False, True, True, True, True]


@pytest.mark.parametrize("drop", [False, True])
def test_a_server_that_was_still_loading_is_not_blamed_on_the_format(drop: bool, tmp_path: Path) -> None:
    """A server that fails twice and then answers everything takes the format: it is neither fatal nor dropped."""
    loading = wire(problem("Loading model", type="unavailable_error", code=503), 503)
    with serving(loading, loading, good("openai")) as server:
        judge = a_judge("openai", server.url, drop_unsupported=drop)
        try:
            run(judge, tmp_path, PAIRS)
        except FatalJudgeError as error:
            raise AssertionError(str(error)) from None
    assert "dropped" not in judge.identity
    assert all("response_format" in sent(asked) for asked in server.asked[-len(PAIRS) :])


# --- what a probe costs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_probe_costs_no_call(sdk: str, tmp_path: Path) -> None:
    """Where all is well there are as many requests as pairs times conditions: the first answer is kept like any."""
    with serving(good(sdk)) as server:
        judgments = run(a_judge(sdk, server.url, drop_unsupported=True), tmp_path, PAIRS, conditions=BOTH)
    assert len(server.asked) == len(judgments) == 10
    assert len({asked.prompt for asked in server.asked}) == 10


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_the_first_question_is_asked_alone(sdk: str, tmp_path: Path) -> None:
    """No second request arrives while the first is not answered; then as many are in flight as are allowed."""
    in_flight = []

    def answering(_asked: Asked) -> Answer:
        time.sleep(0.15)
        in_flight.append(server.in_flight)
        return good(sdk)

    with serving(by=answering) as server:
        run(a_judge(sdk, server.url), tmp_path, some_pairs(9), concurrency=8)
    assert in_flight[0] == 1
    assert max(in_flight) > 4


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (wire(problem("The model `gpt-5-nano` does not exist.", code="model_not_found"), 404), "list of models"),
        (wire(problem("Wrong key."), 401), "api_key_env"),
        (wire(problem("Not in your region."), 403), "region"),
        (wire(problem("Pay first.", code="insufficient_quota"), 429), "quota"),
    ],
    ids=["model", "key", "region", "quota"],
)
def test_what_is_fatal_is_found_with_one_request(sdk: str, answer: Answer, words: str, tmp_path: Path) -> None:
    """An unknown model or a bad key costs one request, however many could be in flight."""
    with serving(answer) as server, pytest.raises(FatalJudgeError, match=words):
        run(a_judge(sdk, server.url), tmp_path, some_pairs(40), conditions=BOTH, concurrency=16)
    assert len(server.asked) == 1


@pytest.mark.parametrize("rejection", [REJECTIONS[0], REJECTIONS[8]], ids=SDKS)
def test_a_single_verdict_does_not_probe(rejection: Rejection) -> None:
    """load_judge sends nothing, and verdict() sends what the table says: nothing is dropped without a recording."""
    with serving(by=rejection.answering) as server:
        judge = a_judge(rejection.sdk, server.url, drop_unsupported=True)
        assert server.asked == []
        with pytest.raises(FatalJudgeError, match="rejects temperature"):
            ask(judge)
    assert len(server.asked) == 1
    assert "dropped" not in judge.identity


def test_an_item_error_tells_nothing_of_the_parameters(tmp_path: Path) -> None:
    """Where the first pair is too large for the gateway, the next one is the probe."""
    rejection = REJECTIONS[0]
    too_large = wire("<html>413</html>", 413)
    with serving(by=lambda asked: rejection.answering(asked) if asked.number else too_large) as server:
        judge = a_judge("openai", server.url, drop_unsupported=True)
        try:
            judgments = run(judge, tmp_path, PAIRS)
        except FatalJudgeError as error:
            raise AssertionError(f"not dropped: {error}") from None
    assert [judgment.verdict.invalid for judgment in judgments] == ["too-large", None, None, None, None]


def test_the_first_pair_has_as_many_attempts_as_the_others(tmp_path: Path) -> None:
    """An answer that is empty twice and then is not costs two requests more, whichever pair it is about."""
    with serving(wire(chat("")), wire(chat("")), good("openai")) as server:
        judgments = run(a_judge("openai", server.url, max_attempts=4), tmp_path, PAIRS)
    assert [judgment.verdict.invalid for judgment in judgments] == [None] * 5
    assert len(server.asked) == 5 + 2


# --- answers that are cut off -----------------------------------------------------------------------------------

THINKING = {"openai": "reasoning_effort", "google": "thinking", "anthropic": "reasoning_effort or thinking_budget"}
CUT = {
    "openai": wire(chat("{", "length")),
    "google": wire(gemini("{", finish="MAX_TOKENS")),
    "anthropic": wire(claude("{", stop="max_tokens")),
}


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_probe_that_is_cut_off_ends_the_recording(sdk: str, tmp_path: Path) -> None:
    """One call is paid and counted; the error names the key and another remedy; nothing stands in the way of either."""
    meter = CostMeter(a_judge(sdk, "http://127.0.0.1:9").table)
    with serving(CUT[sdk]) as server, pytest.raises(FatalJudgeError) as caught:
        run(a_judge(sdk, server.url), tmp_path, some_pairs(40), conditions=BOTH, meter=meter)
    for words in ("judge 'mine'", "max_output_tokens = 512", THINKING[sdk]):
        assert words in str(caught.value)
    assert (len(server.asked), meter.total.calls) == (1, 1)
    with serving(good(sdk)) as server:
        judge = a_judge(sdk, server.url, max_output_tokens=4096)
        judgments = run(judge, tmp_path, some_pairs(40), conditions=BOTH)
    assert {judgment.verdict.selected_response for judgment in judgments} == {2}


@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_twenty_first_answers_that_are_cut_off_end_the_recording(sdk: str, tmp_path: Path) -> None:
    """A whole probe is not enough: twenty that are cut off after it end the recording, and are kept."""
    with (
        serving(by=lambda asked: CUT[sdk] if asked.number else good(sdk)) as server,
        pytest.raises(FatalJudgeError, match=r"first 20 answers .*max_output_tokens = 512"),
    ):
        run(a_judge(sdk, server.url), tmp_path, some_pairs(140), concurrency=4)
    assert 21 <= len(server.asked) <= 21 + 4
    assert len(rows(tmp_path)) >= 21


def test_a_whole_answer_among_the_first_keeps_a_recording_going(tmp_path: Path) -> None:
    """A judge that is cut off often is recorded as that: its answers are invalid, item by item."""
    with serving(by=lambda asked: CUT["openai"] if asked.number % 20 else good("openai")) as server:
        judgments = run(a_judge("openai", server.url), tmp_path, some_pairs(60), concurrency=1)
    assert Counter(judgment.verdict.invalid for judgment in judgments) == {None: 3, "truncated": 57}


def test_a_planner_that_is_cut_off_is_told_its_own_key(tmp_path: Path) -> None:
    """A plan goes by plan_max_output_tokens: the remedy names that."""
    with serving(CUT["openai"]) as server, pytest.raises(FatalJudgeError, match="Raise plan_max_output_tokens"):
        run(a_judge("openai", server.url, strategy="plan-self").planner, tmp_path, PAIRS, conditions=[PLAN])
    assert len(server.asked) == 1


def test_a_single_verdict_that_is_cut_off_is_invalid() -> None:
    """Without a recording nothing is stopped: each verdict is what it is."""
    with serving(CUT["openai"]) as server:
        judge = a_judge("openai", server.url)
        assert {ask(judge).verdict.invalid for _ in range(22)} == {"truncated"}


# --- what was dropped is remembered -----------------------------------------------------------------------------


def test_a_later_recording_begins_with_what_was_dropped(tmp_path: Path) -> None:
    """A new session asks only about new pairs, without the parameter, and is not told again that it is rejected."""
    rejection = REJECTIONS[0]
    with serving(by=rejection.answering) as server:
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS)
        assert len(server.asked) == 1 + 5
        judge = a_judge("openai", server.url, drop_unsupported=True)
        run(judge, tmp_path, some_pairs(8))
    assert sorted(asked.number for asked in server.asked[6:]) == [5, 6, 7]
    assert all("temperature" not in sent(asked) for asked in server.asked[6:])
    assert judge.identity["dropped"] == ["temperature"]


def test_another_condition_begins_with_what_was_dropped(tmp_path: Path) -> None:
    """The first condition's recording tells what is dropped, also for a condition that has none yet."""
    rejection = REJECTIONS[0]
    with serving(by=rejection.answering) as server:
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS, conditions=[RECENCY.x])
        assert len(server.asked) == 1 + 5
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS, conditions=BOTH)
    assert len(server.asked) == 1 + 5 + 5


def test_a_recording_without_a_parameter_is_another_judge_s(tmp_path: Path) -> None:
    """A table that does not allow dropping is not that of a recording that dropped: the error names the difference."""
    with serving(by=REJECTIONS[0].answering) as server:
        run(a_judge("openai", server.url, drop_unsupported=True), tmp_path, PAIRS)
    with pytest.raises(CassetteError, match="dropped"):
        run(a_judge("openai", server.url), tmp_path, PAIRS, mode="none")


def test_a_judge_that_drops_nothing_says_nothing_of_it(tmp_path: Path) -> None:
    """Where all is taken, neither the identity nor the recording knows the word, whatever the table allows."""
    with serving(good("openai")) as server:
        judge = a_judge("openai", server.url, drop_unsupported=True)
        run(judge, tmp_path, PAIRS, conditions=[NO_CUE])
    assert "dropped" not in header(tmp_path)["judge"]
    assert header(tmp_path)["judge"] == judge.identity
