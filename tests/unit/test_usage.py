"""What a provider says that a call took: counts of tokens that are none are not known, and harm nothing."""

from __future__ import annotations

import copy
import functools
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest
from support.asking import a_judge, ask
from support.project import Project, in_pyproject
from support.server import ALL_SDKS, FIRST, Answer, chat, claude, gemini, serving, wire

from judgefixtures.client.costs import cost_of_calls, price_of
from judgefixtures.config import judge_table
from judgefixtures.models.pairs import Pair, pair_to_row
from judgefixtures.models.usage import Usage

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("quick_and_alone")

# Where each provider says it: tokens in, out (with Gemini two parts of it), and what of these was cached or thought.
COUNTS: dict[str, dict[str, Any]] = {
    "openai": {
        "prompt_tokens": 70,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 7},
        "completion_tokens_details": {"reasoning_tokens": 41},
    },
    "google": {
        "promptTokenCount": 70,
        "candidatesTokenCount": 9,
        "thoughtsTokenCount": 41,
        "cachedContentTokenCount": 7,
    },
    "anthropic": {
        "input_tokens": 60,
        "output_tokens": 50,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 3,
        "output_tokens_details": {"thinking_tokens": 41},
    },
}
WHOLE = {sdk: Usage(70, 50, 41, 7, 3 if sdk == "anthropic" else None) for sdk in ALL_SDKS}
# Parts that other counts include: without them the price is known.
INCLUDED = {"cached_tokens", "reasoning_tokens", "cachedContentTokenCount", "thinking_tokens"}
HUGE = int("9" * 300)
NONE = [HUGE, 10**400, 10**12, -1, -HUGE, 1.5, 1e300, math.inf, math.nan, "70", str(HUGE), True, False, [70], {"n": 1}]
LIMITS = {
    "x-ratelimit-remaining-tokens": "1000",
    "x-ratelimit-reset-tokens": "1s",
    "anthropic-ratelimit-tokens-remaining": "1000",
    "anthropic-ratelimit-tokens-reset": "1s",
}


def answer(sdk: str, usage: Any) -> Answer:
    """Return a provider's answer that says that it took this, and that a server counts tokens."""
    bodies = {
        "openai": lambda: chat(FIRST, usage=usage),
        "google": lambda: gemini(FIRST, usageMetadata=usage),
        "anthropic": lambda: claude(FIRST, usage=usage),
    }
    return wire(bodies[sdk](), **LIMITS)


def counts(usage: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield where counts stand."""
    for key, value in usage.items():
        if isinstance(value, dict):
            yield from counts(value, (*path, key))
        else:
            yield (*path, key)


def changed(sdk: str, path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return what an answer took, with another value in one place."""
    usage = copy.deepcopy(COUNTS[sdk])
    functools.reduce(lambda inner, key: inner[key], path[:-1], usage)[path[-1]] = value
    return usage


@pytest.mark.parametrize(
    ("sdk", "path"),
    [(sdk, path) for sdk in ALL_SDKS for path in counts(COUNTS[sdk])],
    ids=lambda value: value if isinstance(value, str) else value[-1],
)
@pytest.mark.slow
def test_a_count_that_is_none_is_not_known(sdk: str, path: tuple[str, ...]) -> None:
    """The verdict stands, nothing crashes, and what such a count belongs to is not known: not 0, and no fortune."""
    table = judge_table({"provider": sdk, "model": "m", "price": {"input": 2.5, "output": 10.0}})
    with serving(answer(sdk, COUNTS[sdk]), *(answer(sdk, changed(sdk, path, value)) for value in NONE)) as server:
        judge = a_judge(sdk, server.url)
        assert ask(judge).usage == WHOLE[sdk]
        for value in NONE:
            reply = ask(judge)
            assert reply.verdict.selected_response == 1, value
            lost = {name for name, count in asdict(WHOLE[sdk]).items() if asdict(reply.usage)[name] != count}
            assert lost, value
            assert all(asdict(reply.usage)[name] is None for name in lost), value
            whole = path[-1] in INCLUDED or lost == {"cached_tokens"}
            price, cost = price_of(table, reply.usage), cost_of_calls(table, [reply.usage, WHOLE[sdk]])
            assert (price is None, cost.usd is None) == (not whole, not whole), value
            assert cost.input_tokens <= 140, value


@pytest.mark.parametrize("sdk", ALL_SDKS)
@pytest.mark.parametrize("value", [None, "absent"])
def test_a_part_that_was_not_taken_is_none(sdk: str, value: Any) -> None:
    """Nothing thought, cached or written: null and a field that is absent say so, and the price is known."""
    usage = {name: count for name, count in COUNTS[sdk].items() if not isinstance(count, dict)}
    parts = {
        "google": ("thoughtsTokenCount", "cachedContentTokenCount"),
        "anthropic": ("cache_read_input_tokens", "cache_creation_input_tokens"),
    }.get(sdk, ())
    usage = {name: None if name in parts else count for name, count in usage.items()}
    if value == "absent":
        usage = {name: count for name, count in usage.items() if count is not None}
    with serving(answer(sdk, usage)) as server:
        found = ask(a_judge(sdk, server.url)).usage
    whole = {"openai": (70, 50), "google": (70, 9), "anthropic": (60, 50)}[sdk]
    assert (found.input_tokens, found.output_tokens) == whole


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sdk", ALL_SDKS)
def test_a_run_with_a_count_of_300_digits_ends_as_any_other(sdk: str, pytester: pytest.Pytester) -> None:
    """Recorded against a budget, replayed and reported: the item passes, and what it cost is not known."""
    usage = {name: HUGE if isinstance(count, int) else count for name, count in COUNTS[sdk].items()}
    project = Project(pytester)
    project.copy_tests("recency")
    project.write_pairs(
        pair_to_row(Pair(f"p{n:02}", f"Question {n}: which one?", f"One {n}.", f"Other {n}.")) for n in range(30)
    )
    with serving(answer(sdk, usage), keep_alive=True) as server:
        version = "/v1" if sdk == "openai" else ""
        project.write(
            "pyproject.toml",
            in_pyproject(
                'control = false\njudge = "ours"\ndataset = ["own"]\n[datasets.own]\npath = "pairs.jsonl"\n'
                'balance_positions = false\n[gate]\nvsr_tolerance = 0.3\ninconclusive = "warn"\n'
                f'[judges.ours]\nprovider = "{sdk}"\nmodel = "m"\nbase_url = "{server.url}{version}"\n'
                "price = {input = 2.5, output = 10.0}\n"
            ),
        )
        told = ("-k", "recency", "--judge-report", "report")
        project.run(*told, "--judge-record", "missing", "--judge-max-cost", "5").assert_outcomes(passed=1)
    project.run(*told).assert_outcomes(passed=1)
    text = (project.path / "report" / "report.json").read_text("utf-8")
    (spent,) = json.loads(text)["run"]["usage"]
    assert (spent["judgments"], spent["input_tokens"], spent["output_tokens"], spent["usd"]) == (60, None, None, None)
    assert "Infinity" not in text
    assert "99999" not in text
