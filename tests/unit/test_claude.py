"""Claude through its own SDK: what is sent, what a table may say, what it costs, and a record that replays."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import importlib.metadata
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, ask, rows, run, some_pairs
from support.project import Project, in_pyproject, suite
from support.rendered import lines_about
from support.server import FIRST, SECOND, Answer, Asked, called, claude, good, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures.client.costs import price_usd
from judgefixtures.client.retirements import retirement_warning
from judgefixtures.config import judge_table
from judgefixtures.judges.judge import FatalJudgeError, load_judge
from judgefixtures.models.contrasts import NO_CUE
from judgefixtures.providers import anthropic, http_library
from judgefixtures.providers import judge_table as judge_table_module
from judgefixtures.simulator.server import serving as simulating
from judgefixtures.util.errors import JudgeFixturesError

pytestmark = pytest.mark.usefixtures("quick_and_alone")

pytest_plugins = ["pytester"]

OLDER, NEWER = "2023-06-01", "2026-10-21"  # versions of the API: only the older one knows a temperature
CLAUDE = {"provider": "anthropic", "model": "claude-haiku-4-5"}


def sent(**more: Any) -> Asked:
    """Return what a judge with these keys sends."""
    with serving(good("anthropic")) as server:
        assert ask(a_judge("anthropic", server.url, **more)).verdict.selected_response == 2
    (asked,) = server.asked
    return asked


def test_a_verdict_is_asked_for_as_a_structured_output() -> None:
    """Model, limit, prompt, schema and temperature go in one request without retries, to /v1/messages."""
    asked = sent()
    assert (asked.method, asked.path) == ("POST", "/v1/messages")
    schema = asked.body["output_config"]["format"]["schema"]
    assert schema["properties"]["selected_response"] == {"type": "integer", "enum": [1, 2]}
    assert schema["additionalProperties"] is False
    rest = {name: value for name, value in asked.body.items() if name != "output_config"}
    assert rest == {
        "model": "claude-haiku-4-5",
        "max_tokens": 512,
        "temperature": 0.0,
        "messages": [{"role": "user", "content": "Question 1: which one?"}],
    }


@pytest.mark.parametrize(
    ("more", "version"), [({}, OLDER), ({"temperature": 1.0}, OLDER), ({"temperature": "unset"}, NEWER)]
)
def test_the_version_is_the_one_that_knows_what_is_sent(more: dict[str, Any], version: str) -> None:
    """A temperature goes with the API's last version that has one; without it the version is the SDK's own."""
    asked = sent(**more)
    assert asked.headers["anthropic-version"] == version
    assert ("temperature" in asked.body) == (version == OLDER)


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_base_url_may_end_with_the_version(suffix: str) -> None:
    """Whether base_url has /v1 or not, the same path is asked."""
    with serving(good("anthropic")) as server:
        ask(a_judge("anthropic", server.url, base_url=server.url + suffix))
    assert server.asked[0].path == "/v1/messages"


def test_the_system_prompt_goes_first(tmp_path: Path) -> None:
    """The text of system_prompt is the field `system`, beside the messages."""
    (tmp_path / "system.txt").write_text("You compare answers.")
    asked = sent(system_prompt=str(tmp_path / "system.txt"))
    assert asked.body["system"] == "You compare answers."
    assert len(asked.body["messages"]) == 1


@pytest.mark.parametrize(
    ("more", "thinking", "limit", "effort"),
    [
        ({"thinking_budget": 2048}, {"type": "enabled", "budget_tokens": 2048}, 2048 + 512, None),
        ({"thinking_budget": 1024, "max_output_tokens": 4096}, {"type": "enabled", "budget_tokens": 1024}, 4096, None),
        ({"thinking_budget": 1024, "temperature": 1.0}, {"type": "enabled", "budget_tokens": 1024}, 1536, None),
        ({"thinking_budget": -1, "reasoning_effort": "low"}, {"type": "adaptive"}, 512, "low"),
        ({"thinking_budget": 0}, {"type": "disabled"}, 512, None),
        ({"reasoning_effort": "max"}, None, 512, "max"),
    ],
)
def test_thinking_has_room_and_no_temperature(
    more: dict[str, Any], thinking: Any, limit: int, effort: str | None
) -> None:
    """A budget is sent with a larger limit, and without the default temperature, which the API would refuse."""
    body = sent(**more).body
    assert (body.get("thinking"), body["max_tokens"]) == (thinking, limit)
    assert body["output_config"].get("effort") == effort
    at_work = bool(more.get("thinking_budget"))
    assert body.get("temperature") == (more.get("temperature") if at_work else 0.0)
    identity = load_judge({**CLAUDE, **more}).identity["parameters"]
    assert identity["max_output_tokens"] == limit
    assert identity["temperature"] == body.get("temperature", "unset")


def test_a_planner_that_thinks_has_room_as_well() -> None:
    """The limits and temperatures of both, plan and verdict, follow the budget where the table says nothing."""
    table = judge_table({**CLAUDE, "thinking_budget": 2000, "strategy": "plan-self"})
    assert (table.max_output_tokens, table.plan_max_output_tokens) == (2512, 3024)
    assert (table.temperature, table.plan_temperature) == (None, None)


@pytest.mark.parametrize(
    "more",
    [
        {"thinking_budget": 512},
        {"thinking_budget": 2048, "max_output_tokens": 2048},
        {"thinking_budget": 2048, "temperature": 0.0},
        {"thinking_budget": 1024, "strategy": "plan-self", "plan_temperature": 0.2},
        {"thinking_budget": 1024, "response_format": "tool"},
        {"temperature": 1.5},
        {"seed": 7},
        {"logprobs": True},
        {"response_format": "json_object"},
        {"thinking_level": "LOW"},
        {"connection": {"project": "p", "location": "l"}},
        {"provider": "openai", "response_format": "tool"},
    ],
)
def test_what_the_api_would_refuse_is_told_at_once(more: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """A table that Anthropic's API could only refuse is one clear sentence, before anything is sent."""
    with pytest.raises(JudgeFixturesError) as caught:
        judge_table({**CLAUDE, **more})
    assert str(caught.value) == snapshot


def test_a_seed_is_neither_sent_nor_part_of_the_judge() -> None:
    """The API takes no seed: the default one of every table changes nothing about Claude."""
    assert load_judge({**CLAUDE, "seed": "unset"}).identity == load_judge(CLAUDE).identity
    assert "seed" not in load_judge(CLAUDE).identity["parameters"]


def test_a_forced_tool_states_the_verdict() -> None:
    """response_format = "tool" offers one tool, forces its call, and reads its input."""
    states = wire(claude(called({"selected_response": 1, "reason": "dated"}), stop="tool_use"))
    with serving(states) as server:
        reply = ask(a_judge("anthropic", server.url, response_format="tool"))
    assert (reply.verdict.selected_response, reply.verdict.reason) == (1, "dated")
    body = server.asked[0].body
    assert body["tool_choice"] == {"type": "tool", "name": "verdict", "disable_parallel_tool_use": True}
    assert [tool["name"] for tool in body["tools"]] == ["verdict"]
    assert "output_config" not in body


@pytest.mark.parametrize(
    ("scale", "score"),
    [([1, 3], {"type": "integer", "enum": [1, 2, 3]}), ([0.0, 1.0], {"type": "number", "description": "from 0 to 1"})],
)
def test_scores_are_asked_for_without_bounds(scale: list[float], score: Any) -> None:
    """Structured outputs know no minimum and maximum: whole scores are listed, others described."""
    table = load_judge({**CLAUDE, "mode": "pointwise", "scale": scale}).table
    asked = anthropic.request_body(table, frozenset(), "Q", "")["output_config"]["format"]["schema"]["properties"]
    assert asked["score"] == score


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"input_tokens": 9, "output_tokens": 7}, (9, 7, None)),
        (
            {"input_tokens": 9, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 7},
            (129, 7, None),
        ),
        ({"input_tokens": 9, "output_tokens": 70, "output_tokens_details": {"thinking_tokens": 60}}, (9, 70, 60)),
        ({"output_tokens": None, "cache_read_input_tokens": 5}, (None, None, None)),
        (None, (None, None, None)),
    ],
)
def test_tokens_of_the_cache_are_counted_as_input(usage: Any, counted: tuple[int | None, ...]) -> None:
    """Input is what was read, from the cache or not; thinking is a part of the output."""
    with serving(wire(claude(FIRST, usage=usage))) as server:
        found = ask(a_judge("anthropic", server.url)).usage
    assert (found.input_tokens, found.output_tokens, found.reasoning_tokens) == counted


def test_thoughts_are_kept_apart() -> None:
    """What the model thought is the reply's reasoning, and no part of its reason."""
    thought = {"type": "thinking", "thinking": f"Perhaps {SECOND}", "signature": "x"}
    with serving(wire(claude(thought, FIRST))) as server:
        verdict = ask(a_judge("anthropic", server.url)).verdict
    assert (verdict.selected_response, verdict.reasoning) == (1, f"Perhaps {SECOND}")


@pytest.mark.parametrize("more", [{}, {"verdict": "brackets", "response_format": "none"}], ids=["json", "brackets"])
def test_an_unknown_stop_reason_is_noted(more: dict[str, Any]) -> None:
    """A whole verdict counts although the stop reason is one that nobody knows; the reply says so."""
    text = "The second shows its steps. [[B]]" if more else SECOND
    with serving(wire(claude(text, stop="a_reason_to_come"))) as server:
        reply = ask(a_judge("anthropic", server.url, **more))
    assert reply.verdict.selected_response == 2
    assert "a_reason_to_come" in reply.detail


def test_a_price_is_known_by_the_model() -> None:
    """Claude's models are in the price table; at another address nobody knows."""
    assert price_usd(judge_table(CLAUDE), 1_000_000, 100_000) == pytest.approx(1.5)
    assert price_usd(judge_table({**CLAUDE, "base_url": "http://127.0.0.1:1"}), 1, 1) is None


def test_the_day_of_retirement_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic says when it ends a model; a server of one's own, or an answer that is none, says nothing."""

    def day(answer: Answer, **more: Any) -> str | None:
        async def asked() -> str | None:
            judge = load_judge({**CLAUDE, **more}, "mine")
            await judge.look_up_shutdown()
            await judge.close()
            return judge.shutdown_date

        with serving(answer) as server:
            record = dataclasses.replace(anthropic.RECORD, url=server.url)
            monkeypatch.setattr(judge_table_module, "provider_spec", lambda _name: record)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "the-key")
            found = asyncio.run(asked())
        assert [each.path for each in server.asked] == ([] if more else ["/v1/models/claude-haiku-4-5"])
        return found

    told = day(wire({"id": "claude-haiku-4-5", "type": "model", "retires_at": "2026-12-20T00:00:00Z"}))
    assert told == "2026-12-20T00:00:00Z"
    assert "2026-12-20, in 28 days" in str(retirement_warning("claude-haiku-4-5", datetime.date(2026, 11, 22), told))
    assert day(wire({"retires_at": None})) is None
    assert day(wire("<html>", 502)) is None
    assert day(wire({}), base_url="http://127.0.0.1:9", api_key_env="ANTHROPIC_API_KEY") is None


def test_a_model_whose_end_is_known_warns() -> None:
    """Models that the SDK calls deprecated are in the shipped list, by name and by dated snapshot."""
    day = datetime.date(2026, 11, 22)
    for model in ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"):
        assert "2026-11-30, in 8 days" in str(retirement_warning(model, day))


@pytest.mark.parametrize(
    "more", [{}, {"response_format": "tool"}, {"strategy": "plan-self"}], ids=["schema", "tool", "plan"]
)
def test_the_simulator_speaks_it(more: dict[str, Any]) -> None:
    """`provider = "anthropic"` asks the simulated judges, and gets what the other wire formats get."""
    with simulating() as server:
        table = {"provider": "anthropic", "model": "simulated-faithful", "base_url": server.url, **more}
        judges = [
            load_judge(table),
            load_judge({"provider": "openai", "model": "simulated-faithful", "base_url": f"{server.url}/v1"}),
        ]
        prompt = judges[1].prompt(some_pairs(1)[0], NO_CUE)
        said = [ask(judge, prompt).verdict for judge in judges]
    assert said[0] == said[1]


def test_the_simulator_refuses_as_the_api_does(snapshot: SnapshotAssertion) -> None:
    """A judge that is not there, and a prompt that cannot be read, are errors of the form and with the words."""
    with simulating() as server:
        table = {"provider": "anthropic", "base_url": server.url}
        with pytest.raises(FatalJudgeError, match="list of models"):
            ask(load_judge({**table, "model": "claude-haiku-4-5"}))
        with pytest.raises(FatalJudgeError) as error:
            ask(load_judge({**table, "model": "simulated-faithful"}), "Which one?")
        assert str(error.value) == snapshot


def test_what_is_recorded_replays_without_server_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording of Claude's answers holds no key, id or signature, and is all that a replay needs."""
    key = "sk-ant-a-very-private-key"
    monkeypatch.setenv("MY_KEY", key)
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmF0dXJl"}
    hidden = {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}
    with serving(wire(claude(thought, hidden, FIRST, id="msg_of_the_account"))) as server:
        judgments = run(a_judge("anthropic", server.url, api_key_env="MY_KEY"), tmp_path, some_pairs(3))
    assert all(asked.headers["authorization"] == f"Bearer {key}" for asked in server.asked)
    monkeypatch.delenv("MY_KEY")
    written = "".join(file.read_text() for file in tmp_path.rglob("*.jsonl"))
    assert len(rows(tmp_path)) == 3
    assert not any(secret in written for secret in (key, "msg_of_the_account", thought["signature"], hidden["data"]))
    assert {judgment.verdict.reasoning for judgment in judgments} == {"Hm."}
    replayed = run(a_judge("anthropic", server.url, api_key_env="MY_KEY"), tmp_path, some_pairs(3), mode="none")
    assert [judgment.verdict for judgment in replayed] == [judgment.verdict for judgment in judgments]


@pytest.fixture
def without_sdk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A function that takes the anthropic SDK away, as if the extra had not been installed."""
    requires = importlib.metadata.requires

    def requires_of_others(name: str) -> list[str] | None:
        if name == "anthropic":
            raise importlib.metadata.PackageNotFoundError(name)
        return requires(name)

    def take_away() -> None:
        http_library.cache_clear()
        monkeypatch.setattr(importlib.metadata, "requires", requires_of_others)
        monkeypatch.setitem(sys.modules, "anthropic", None)

    yield take_away
    http_library.cache_clear()


def test_a_replay_needs_no_sdk(tmp_path: Path, without_sdk: Callable[[], None]) -> None:
    """What was recorded through the SDK is replayed without it: as text, with a system prompt, and by a forced tool."""
    for more in ({}, {"response_format": "tool"}, {"temperature": "unset", "thinking_budget": 2048}):
        folder = tmp_path / str(len(more))
        with serving(wire(claude(called({"selected_response": 2, "reason": "a"}), stop="tool_use"))) as server:
            recorded = run(a_judge("anthropic", server.url, **more), folder, some_pairs(2))
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "anthropic", None)
            replayed = run(a_judge("anthropic", server.url, **more), folder, some_pairs(2), mode="none")
        assert [each.verdict for each in replayed] == [each.verdict for each in recorded]
    without_sdk()
    assert len(run(a_judge("anthropic", server.url, **more), folder, some_pairs(2), mode="none")) == 2


def test_without_the_sdk_an_error_names_the_extra(without_sdk: Callable[[], None], snapshot: SnapshotAssertion) -> None:
    """Nothing is sent, and the message names the judge and the command that installs what is lacking."""
    without_sdk()
    with serving(good("anthropic")) as server:
        with pytest.raises(FatalJudgeError) as caught:
            ask(a_judge("anthropic", server.url))
        assert "pip install 'judgefixtures[claude]'" in str(caught.value)
        assert lines_about(str(caught.value), "'mine'") == snapshot
        assert not server.asked


def test_without_the_sdk_a_recording_does_not_begin(pytester: pytest.Pytester, without_sdk: Callable[[], None]) -> None:
    """Another judge, whose turn would be first, is not asked either: the run ends before, and says what to install."""
    without_sdk()
    project = Project(pytester)
    project.write("test_recency.py", suite("recency"))
    with serving(good("openai")) as server:
        other = f'[judges.first]\nprovider = "openai"\nmodel = "m"\nbase_url = "{server.url}/v1"\n'
        project.configure(in_pyproject(other + '[judges.second]\nprovider = "anthropic"\nmodel = "claude-haiku-4-5"\n'))
        ran = project.run("--judge", "first", "--judge", "second", "--judge-record", "missing")
        assert not server.asked
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    for words in ("[tool.judgefixtures.judges.second]", "anthropic", "pip install 'judgefixtures[claude]'"):
        assert words in ran.said
    assert "first" not in ran.said


def test_a_verdict_that_a_tool_is_given_twice_replays_as_none(tmp_path: Path) -> None:
    """Of two members of one name the last does not win, neither on the wire nor in what was recorded of it."""
    once = json.dumps(claude(called({"selected_response": 1, "reason": "a"}), stop="tool_use", id="msg_1"))
    twice = once.replace('"selected_response": 1', '"selected_response": 1, "selected_response": 2')
    with serving(wire(twice)) as server:
        judgments = run(a_judge("anthropic", server.url, response_format="tool"), tmp_path, some_pairs(1))
    replayed = run(a_judge("anthropic", server.url, response_format="tool"), tmp_path, some_pairs(1), mode="none")
    assert [each[0].verdict.invalid for each in (judgments, replayed)] == ["not-a-choice"] * 2


def test_a_model_of_another_name_is_fatal() -> None:
    """A rerouted model ends the run; a dated snapshot of the alias does not."""
    with serving(wire(claude(FIRST, model="claude-haiku-4-5-20251001"))) as server:
        assert ask(a_judge("anthropic", server.url)).served_model == "claude-haiku-4-5-20251001"
    with (
        serving(wire(claude(FIRST, model="claude-haiku-5-5"))) as server,
        pytest.raises(FatalJudgeError, match="rerout"),
    ):
        ask(a_judge("anthropic", server.url))
