"""What providers tell of limits, tiers and caches: heeded on the wire, sent and priced, and kept in recordings."""

import asyncio
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, ask, header, run, some_pairs
from support.project import Project, rows_of, suite
from support.rendered import lines_about
from support.server import (
    FIRST,
    SDKS,
    SECOND,
    Answer,
    Asked,
    Server,
    base_url,
    chat,
    gemini,
    good,
    google_problem,
    problem,
    serving,
    wire,
)
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.response_filter import keep_verdict_logprobs
from judgefixtures.client import rate_limiter, retry
from judgefixtures.client.costs import (
    Budget,
    BudgetError,
    Cost,
    CostMeter,
    cost_of_calls,
    maximum_cost,
    price_of,
    rates,
)
from judgefixtures.config import JudgeTable, judge_table
from judgefixtures.judges.judge import FatalJudgeError, load_judge
from judgefixtures.judges.pointwise import add_usage
from judgefixtures.metrics.row_builders import judgment_row
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.usage import Usage
from judgefixtures.providers import RateLimitQuota
from judgefixtures.providers.http import parse_quotas
from judgefixtures.providers.judge_table import FLEX_TIMEOUT
from judgefixtures.report.header import usage_summary
from judgefixtures.report.run_record import RunInfo, RunRecord
from judgefixtures.util.errors import JudgeFixturesError

pytestmark = pytest.mark.usefixtures("quick_and_alone")

pytest_plugins = ["pytester"]

MILLION = 1_000_000


# --- what headers say -------------------------------------------------------------------------------------------

A_CALL = Usage(1000, 50)
OPENAI = {
    "x-ratelimit-limit-requests": "5000",
    "x-ratelimit-remaining-requests": "4999",
    "x-ratelimit-reset-requests": "12ms",
    "x-ratelimit-limit-tokens": "160000",
    "x-ratelimit-remaining-tokens": "21000",
    "x-ratelimit-reset-tokens": "52.125s",
}
ANTHROPIC = {
    "date": "Thu, 21 Aug 2025 12:41:00 GMT",
    "anthropic-ratelimit-requests-limit": "1000",
    "anthropic-ratelimit-requests-remaining": "999",
    "anthropic-ratelimit-requests-reset": "2025-08-21T12:41:01Z",
    "anthropic-ratelimit-input-tokens-limit": "80000",
    "anthropic-ratelimit-input-tokens-remaining": "20000",
    "anthropic-ratelimit-input-tokens-reset": "2025-08-21T12:41:45Z",
    "anthropic-ratelimit-output-tokens-limit": "16000",
    "anthropic-ratelimit-output-tokens-remaining": "16000",
    "anthropic-ratelimit-output-tokens-reset": "2025-08-21T12:41:00Z",
}


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        (OPENAI, [RateLimitQuota(4999, 0.012, 5000), RateLimitQuota(20, 52.125, 160000 / 1050)]),
        (ANTHROPIC, [RateLimitQuota(999, 1.0, 1000), RateLimitQuota(20, 45.0, 80)]),
        ({"X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "7"}, [RateLimitQuota(3, 7)]),
        ({"x-ratelimit-remaining-tokens": "-1", "x-ratelimit-reset-tokens": "0"}, []),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "23h59m"}, []),
        ({"x-ratelimit-remaining-requests": "7"}, []),
        ({"x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "soon"}, []),
        ({"anthropic-ratelimit-requests-remaining": "1", "anthropic-ratelimit-requests-reset": "2025-13-01"}, []),
        ({"anthropic-ratelimit-requests-remaining": "1", "anthropic-ratelimit-requests-reset": "2025-08-21"}, []),
        ({}, []),
    ],
    ids=[
        "OpenAI",
        "Anthropic",
        "plain",
        "none of Azure's",
        "by the day",
        "no reset",
        "words",
        "no date",
        "no zone",
        "nothing",
    ],
)
def test_what_is_left_of_limits_is_read(headers: dict[str, str], found: list[RateLimitQuota]) -> None:
    """Each limit in calls of the size of this one, by the server's own clock; what cannot be read is no limit."""
    assert list(parse_quotas(headers, A_CALL)) == found


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("named", ["x-ratelimit-{}-requests", "anthropic-ratelimit-requests-{}"])
@pytest.mark.slow
def test_a_server_that_tells_its_limit_need_not_refuse(sdk: str, named: str, tmp_path: Path) -> None:
    """A bucket of 40 calls that fills by 20 a second: 120 calls, 16 in flight, and not one of them is refused."""
    left, at, lock = 40.0, 0.0, threading.Lock()

    def answering(asked: Asked) -> Answer:
        nonlocal left, at
        with lock:
            left, at = min(40.0, left + (asked.at - at) * 20.0), asked.at
            taken = left >= 1.0
            left -= taken
            until = (40.0 - left) / 20.0
        time.sleep(0.1)
        reset = f"{until:.3f}s"
        if named.startswith("anthropic"):
            soon = time.time() + until
            reset = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(soon)) + f".{int(soon % 1 * 1000):03}Z"
        told = {"limit": "40", "remaining": str(int(left)), "reset": reset}
        answer = good(sdk) if taken else wire(problem("Too many requests."), 429)
        more = {named.format(name): value for name, value in told.items()}
        return Answer(answer.status, answer.body, {**answer.headers, **more})

    with serving(by=answering) as server:
        judge = a_judge(sdk, server.url)
        run(judge, tmp_path, some_pairs(120))
    assert judge.retries == 0
    assert len(server.asked) == 120
    assert server.asked[-1].at - server.asked[0].at <= 5 * (120 - 40) / 20  # on a machine that is busy


@pytest.mark.slow
def test_workers_come_back_after_a_storm_and_not_all_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three workers that share a pace, a server that refuses everything for 40 s: within a minute all is as before.

    The times are a twentieth of the real ones: a storm of 2 s, and 3 s until the throughput is back.
    """
    for name in ("SHORTEST_WAY", "LONGEST_WAY", "TRIAL", "SPAN", "LOOK_AGAIN"):
        monkeypatch.setattr(rate_limiter, name, getattr(rate_limiter, name) / 20)
    for name in ("SLOWEST", "GENTLE"):
        monkeypatch.setattr(rate_limiter, name, getattr(rate_limiter, name) * 20)
    begun, answers, asked_after = time.monotonic(), list[float](), list[float]()

    def answering(asked: Asked) -> Answer:
        at = asked.at - begun
        if 1.5 <= at < 3.5:
            return wire(problem("Too many requests."), 429)
        if at >= 3.5:
            asked_after.append(at)
        time.sleep(0.1)
        answers.append(asked.at - begun)
        return good("openai")

    async def main(server: Server) -> None:
        workers = [a_judge("openai", server.url) for _ in range(3)]
        for worker in workers:
            worker.rate_limiter.share(tmp_path, "mine", 9)

        async def work(judge: Any) -> None:
            while time.monotonic() - begun < 7.5:
                await judge.ask("Question 1: which one?")

        await asyncio.gather(*(work(judge) for judge in workers for _ in range(6)))
        for worker in workers:
            await worker.close()

    with serving(by=answering) as server:
        begun = time.monotonic()
        asyncio.run(main(server))
    before = sum(0.5 <= at < 1.5 for at in answers)
    after = sum(6.5 <= at < 7.5 for at in answers)
    assert before >= 5
    assert after >= 0.4 * before  # the machine may be busier then
    rush = Counter(int(at / 0.1) for at in asked_after)
    assert sum(rush[place] for place in (35, 36)) <= 9


# --- service tiers ----------------------------------------------------------------------------------------------

TIERS = {"openai": "flex", "google": "flex"}
ON_WIRE = {"openai": "service_tier", "google": "serviceTier"}


@pytest.mark.parametrize("sdk", SDKS)
def test_a_tier_is_sent_recorded_and_part_of_the_identity(sdk: str, tmp_path: Path) -> None:
    """A judge with service_tier asks for it, its identity says so, and a replay finds its answers; others send none."""
    with serving(good(sdk)) as server:
        plain = a_judge(sdk, server.url)
        judge = a_judge(sdk, server.url, service_tier="flex", timeout=5.0)
        run(judge, tmp_path, some_pairs(2))
        ask(plain)
        run(a_judge(sdk, server.url, service_tier="flex"), tmp_path, some_pairs(2), mode="none")
    assert [asked.body.get(ON_WIRE[sdk]) for asked in server.asked] == ["flex", "flex", None]
    assert judge.identity["parameters"]["service_tier"] == "flex"
    assert header(tmp_path)["judge"]["parameters"]["service_tier"] == "flex"
    assert "service_tier" not in plain.identity["parameters"]


@pytest.mark.parametrize(
    ("sdk", "refusal"),
    [
        ("openai", wire(problem("Invalid service_tier argument.", param="service_tier", code=None), 400)),
        ("openai", wire(problem("Flex processing is not available for this model.", param=None), 400)),
        (
            "google",
            wire(
                google_problem(
                    400,
                    'Invalid JSON payload received. Unknown name "serviceTier": Cannot find field.',
                    "INVALID_ARGUMENT",
                ),
                400,
            ),
        ),
    ],
    ids=["named", "by topic", "Google"],
)
def test_a_tier_that_a_model_does_not_have_is_named_or_dropped(sdk: str, refusal: Answer, tmp_path: Path) -> None:
    """A model without the tier ends the recording with its name, or is asked without where that is allowed."""

    def answering(asked: Asked) -> Answer:
        return refusal if ON_WIRE[sdk] in asked.body else good(sdk)

    with serving(by=answering) as server:
        with pytest.raises(FatalJudgeError, match=r"rejects service_?[tT]ier"):
            run(a_judge(sdk, server.url, service_tier="flex"), tmp_path / "a", some_pairs(2))
        judge = a_judge(sdk, server.url, service_tier="flex", drop_unsupported=True)
        run(judge, tmp_path / "b", some_pairs(2))
    assert judge.identity["dropped"] == ["service_tier"]


@pytest.mark.parametrize(
    "table",
    [
        {"provider": "openai", "model": "gpt-5", "service_tier": "flexible"},
        {"provider": "google", "model": "gemini-2.5-flash", "service_tier": "default"},
        {"provider": "python", "target": "mine:judge", "service_tier": "flex"},
        {"provider": "imported", "service_tier": "flex"},
        {"provider": "openai", "model": "gpt-5", "service_tier": ""},
    ],
    ids=["misspelt", "another's", "python", "imported", "empty"],
)
def test_a_tier_that_nobody_has_is_refused(table: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """The configuration names the tiers that the provider documents."""
    with pytest.raises(JudgeFixturesError) as error:
        judge_table(table)
    assert str(error.value) == snapshot


def test_a_server_of_ones_own_has_its_own_tiers() -> None:
    """Groq calls them on_demand and performance; what a compatible server takes is its business."""
    table = judge_table(
        {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1", "service_tier": "performance"}
    )
    assert table.service_tier == "performance"


@pytest.mark.parametrize(
    ("more", "seconds"),
    [
        ({}, 60.0),
        ({"service_tier": "flex"}, FLEX_TIMEOUT),
        ({"service_tier": "flex", "timeout": 30.0}, 30.0),
        ({"service_tier": "priority"}, 60.0),
    ],
    ids=["none", "flex", "flex with its own", "priority"],
)
def test_flex_has_a_longer_timeout(more: dict[str, Any], seconds: float) -> None:
    """An attempt of the flex tier has 15 minutes, unless the table gives it another time."""
    assert judge_table({"provider": "openai", "model": "gpt-5", **more}).timeout == seconds


NO_ROOM = {
    "OpenAI": wire(
        problem("Resource unavailable. Try again later.", type="resource_unavailable", code="resource_unavailable"), 429
    ),
    "Gemini": wire(google_problem(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"), 503),
    "Groq": wire(
        problem(
            "Flex tier capacity exceeded, please try again later.",
            type="internal_server_error",
            code="capacity_exceeded",
        ),
        498,
    ),
}


@pytest.mark.parametrize("refusal", NO_ROOM.values(), ids=NO_ROOM.keys())
def test_a_flex_tier_without_room_is_waited_for(
    refusal: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tier that has no room is asked again for longer than another limit would be, however few attempts there are."""
    monkeypatch.setattr(retry, "LONGEST_BACKOFF", 0.05)
    monkeypatch.setattr(retry, "LONGEST_WAIT", 0.1)
    monkeypatch.setattr(rate_limiter, "SLOWEST", 10.0)
    with serving(*[refusal] * 8, good("openai")) as server:
        judgments = run(a_judge("openai", server.url, service_tier="flex", max_attempts=1), tmp_path, some_pairs(2))
    assert [judgment.verdict.selected_response for judgment in judgments] == [2, 2]
    assert len(server.asked) == 8 + 2
    assert server.asked[8].at - server.asked[0].at > 0.1
    with serving(refusal) as server, pytest.raises(FatalJudgeError, match="in 0 s without an answer"):
        run(a_judge("openai", server.url, max_attempts=1), tmp_path / "other", some_pairs(2))


# --- what was cached, and which tier served ---------------------------------------------------------------------


def told(sdk: str, cached: int | None, tier: str | None, text: str = SECOND) -> Answer:
    """Return an answer of 1,000 tokens in and 20 out that says how many were cached, and which tier served it."""
    if sdk == "google":
        usage: dict[str, Any] = {"promptTokenCount": 1000, "candidatesTokenCount": 20}
        usage |= {"cachedContentTokenCount": cached} if cached is not None else {}
        return wire(gemini(text, usageMetadata=usage | ({"serviceTier": tier.upper()} if tier else {})))
    usage = {"prompt_tokens": 1000, "completion_tokens": 20}
    usage |= {"prompt_tokens_details": {"cached_tokens": cached}} if cached is not None else {}
    return wire(chat(text, usage=usage) | ({"service_tier": tier} if tier else {}))


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize(("cached", "tier"), [(900, "flex"), (0, "default"), (None, None)])
def test_cached_tokens_and_the_tier_that_served_are_read_and_kept(
    sdk: str, cached: int | None, tier: str | None, tmp_path: Path
) -> None:
    """What a provider tells is in the usage of an answer and of its replay, and in judgments.jsonl; nothing else is."""
    with serving(told(sdk, cached, tier)) as server:
        asked = run(a_judge(sdk, server.url), tmp_path, some_pairs(3))
        replayed = run(a_judge(sdk, server.url), tmp_path, some_pairs(3), mode="none")
    assert len(server.asked) == 3
    assert {judgment.reply.usage for judgment in (*asked, *replayed)} == {
        Usage(1000, 20, None, cached, service_tier=tier)
    }
    row = judgment_row("mine", "own", replayed[0]).to_json()["usage"]
    assert {name: row.get(name) for name in ("cached_tokens", "service_tier")} == {
        "cached_tokens": cached,
        "service_tier": tier,
    }
    expected = {"cached_tokens", "service_tier"} if tier else set()
    assert row.keys() - {"input_tokens", "output_tokens", "reasoning_tokens"} == expected


def test_tokens_written_to_a_cache_are_read(tmp_path: Path) -> None:
    """OpenAI's newer models tell how many tokens they wrote to the cache."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cache_write_tokens": 640}}
    with serving(wire(chat(SECOND, usage=usage))) as server:
        (judgment,) = run(a_judge("openai", server.url), tmp_path, some_pairs(1))
    assert judgment.reply.usage.cache_write_tokens == 640
    assert judgment_row("mine", "own", judgment).to_json()["usage"]["cache_write_tokens"] == 640


@pytest.mark.parametrize(
    "details", [None, [], "many", {"cached_tokens": "900"}, {"cached_tokens": -1}, {"cached_tokens": True}], ids=str
)
def test_what_is_no_count_is_not_read(details: Any, tmp_path: Path) -> None:
    """An answer whose details are of no use is an answer all the same."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": details}
    with serving(wire(chat(SECOND, usage=usage) | {"service_tier": ["flex"]})) as server:
        (judgment,) = run(a_judge("openai", server.url), tmp_path, some_pairs(1))
    assert judgment.reply.usage == Usage(1000, 20)


@pytest.mark.parametrize("sdk", SDKS)
def test_a_thinned_answer_keeps_its_usage(sdk: str) -> None:
    """With token probabilities cut down, what was cached and which tier served stay; without any, so does each byte."""
    body = json.loads(told(sdk, 900, "flex").body)
    holder, name, value = (
        "choices",
        "logprobs",
        {"content": [{"token": "so", "logprob": -1, "top_logprobs": [{"token": "no", "logprob": -2}]}]},
    )
    if sdk == "google":
        holder, name = "candidates", "logprobsResult"
        value = {"chosenCandidates": [{"token": "so", "logProbability": -1, "tokenId": 4}]}
    assert keep_verdict_logprobs(json.dumps(body).encode()) == json.dumps(body).encode()
    body[holder][0][name] = value
    thin = json.loads(keep_verdict_logprobs(json.dumps(body).encode()))
    assert thin != body
    del thin[holder], body[holder]
    assert thin == body


def test_the_usage_of_two_calls_isadded_usage() -> None:
    """Of two ratings cached tokens add up; a tier is that of both, or not known."""
    one, two = Usage(100, 10, 1, 90, 5, "flex"), Usage(200, 20, 2, 0, 5, "flex")
    assert add_usage(one, two) == Usage(300, 30, 3, 90, 10, "flex")
    assert add_usage(one, Usage(1, 1, 1, None, None, "default")) == Usage(101, 11, 2, None, None, None)


# --- prices -----------------------------------------------------------------------------------------------------


def table(model: str = "gpt-5", provider: str = "openai", **more: Any) -> JudgeTable:
    """Return the table of a judge at the provider itself."""
    return judge_table({"provider": provider, "model": model, **more})


OWN = {"price": {"input": 2.0, "output": 8.0}}


@pytest.mark.parametrize(
    ("judge", "usage", "usd"),
    [
        (table(), Usage(MILLION, MILLION), 11.25),
        (table(), Usage(MILLION, 0, None, MILLION), 0.125),
        (table(), Usage(MILLION, 0, None, MILLION // 2), 0.6875),
        (table(), Usage(1000, 0, None, 5000), 0.000125),
        (table("gemini-2.5-flash", "google"), Usage(MILLION, 0, None, MILLION), 0.03),
        (table(service_tier="flex"), Usage(MILLION, MILLION), 5.625),
        (table(service_tier="flex"), Usage(MILLION, 0, None, MILLION), 0.0625),
        (table(service_tier="flex"), Usage(MILLION, MILLION, service_tier="default"), 11.25),
        (table(service_tier="priority"), Usage(MILLION, MILLION), 22.5),
        (table(service_tier="auto"), Usage(MILLION, MILLION), 11.25),
        (table(), Usage(MILLION, MILLION, service_tier="flex"), 5.625),
        (table(service_tier="scale"), Usage(MILLION, MILLION), None),
        (table("gpt-4o", service_tier="flex"), Usage(MILLION, MILLION), None),
        (table("gpt-4o", service_tier="flex"), Usage(MILLION, MILLION, service_tier="default"), 12.5),
        (table("gpt-4o", service_tier="flex", **OWN), Usage(MILLION, MILLION), 10.0),
        (table(**OWN), Usage(MILLION, 0, None, MILLION, service_tier="flex"), 2.0),
        (table(price={"input": 2.0, "output": 8.0, "cached_input": 0.5}), Usage(MILLION, MILLION, None, MILLION), 8.5),
        (table(), Usage(None, 20), None),
    ],
    ids=[
        "plain",
        "cached",
        "half cached",
        "more than all",
        "Gemini cached",
        "flex",
        "flex cached",
        "flex not served",
        "priority",
        "auto",
        "served by flex",
        "scale",
        "no flex known",
        "no flex served",
        "own",
        "own for any tier",
        "own cached",
        "not counted",
    ],
)
def test_a_call_is_priced_by_what_was_cached_and_who_served(judge: JudgeTable, usage: Usage, usd: float | None) -> None:
    """The tier that served counts, else the one asked for; where the price table does not know it, nobody does."""
    assert price_of(judge, usage) == (None if usd is None else pytest.approx(usd))
    assert cost_of_calls(judge, [usage]).usd == (None if usd is None else pytest.approx(usd))


def test_a_tier_without_a_price_is_unknown_before_and_named(snapshot: SnapshotAssertion) -> None:
    """Costs at most are unknown, and a budget is refused by a sentence that names the tier."""
    judge = table("gpt-4o", service_tier="flex")
    assert maximum_cost(judge, ["a prompt"]).usd is None
    with pytest.raises(BudgetError) as error:
        CostMeter(judge, Budget(1.0)).check()
    assert str(error.value) == snapshot


def test_a_cost_tells_what_was_cached() -> None:
    """Cached tokens add up, and are shown where there are some."""
    cost = cost_of_calls(table(), [Usage(1000, 10, None, 900), Usage(1000, 10, None, 100), Usage(1000, 10)])
    assert cost == Cost(3, 3000, 30, pytest.approx(0.002925), 1000)
    assert str(cost).startswith("3 calls, 3000 tokens in (1000 of them cached), 30 out, $")
    assert "cached" not in str(Cost(3, 3000, 30, 1.0))


def test_rates_are_by_tier_where_prices_are() -> None:
    """A judge's own price holds for every tier; that of the table is by tier, with what is not known as None."""
    assert rates(table(**OWN)) == {"input": 2.0, "output": 8.0}
    found = rates(table(service_tier="flex"))
    assert (found["input"], found["output"], found["cached_input"]) == (0.625, 5.0, 0.0625)
    assert found["tiers"]["default"] == {"input": 1.25, "output": 10.0, "cached_input": 0.125}
    assert rates(table("gpt-4o"))["tiers"]["flex"] == {"input": None, "output": None}
    assert rates(table("no-such-model")) == {"input": None, "output": None}


def judgment_rows(*usages: Usage) -> list[Any]:
    """Return rows of judgments that cost so much."""
    (pair,) = some_pairs(1)
    with serving(good("openai")) as server:
        verdict = ask(a_judge("openai", server.url)).verdict
    from judgefixtures.models.contrasts import NO_CUE

    return [
        judgment_row("mine", "own", Judgment(pair, NO_CUE, JudgeReply(verdict, usage=usage))).to_json()
        for usage in usages
    ]


@pytest.mark.parametrize(
    ("usages", "usd", "cached"),
    [
        ((Usage(MILLION, MILLION), Usage(MILLION, 0)), 12.5, None),
        ((Usage(MILLION, 0, None, MILLION), Usage(MILLION, 0)), 1.375, MILLION),
        ((Usage(MILLION, 0, service_tier="flex"), Usage(MILLION, 0, service_tier="default")), 1.875, None),
        ((Usage(MILLION, 0, service_tier="scale"), Usage(MILLION, 0)), None, None),
        ((Usage(None, 0), Usage(MILLION, 0)), None, None),
    ],
    ids=["plain", "cached", "two tiers", "a tier without price", "not counted"],
)
def test_a_report_prices_what_was_cached_and_each_tier(
    usages: tuple[Usage, ...], usd: float | None, cached: int | None
) -> None:
    """The report's usage is that of the calls one by one, from its rows alone."""
    about = RunInfo("1", "2026-01-01", prices={"mine": rates(table())})
    (row,) = usage_summary(RunRecord(about, (), tuple(judgment_rows(*usages))))
    assert row["usd"] == (None if usd is None else pytest.approx(usd))
    assert row.get("cached_tokens") == cached


# --- the constant part of a prompt ------------------------------------------------------------------------------


def configured(url: str, more: str = "") -> str:
    """Return a configuration with one judge."""
    return f"""\
[tool.judgefixtures]
judge = "mine"
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
[tool.judgefixtures.judges.mine]
provider = "openai"
model = "gpt-4o"
base_url = "{url}/v1"
{more}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with a contrast of 20 pairs."""
    project = Project(pytester, configured)
    project.write_pairs(rows_of(some_pairs(20)))
    project.write("test_recency.py", suite("recency"))
    return project


INSTRUCTIONS = "Be fair, and read all of it. " * 200
SLOTS = "Question: {question}\n1: {response_1}\n2: {response_2}\n{cue_1}\n{cue_2}"


@pytest.mark.parametrize(
    ("prompt", "system", "said"),
    [
        (
            f"{INSTRUCTIONS}\n{SLOTS}",
            "",
            r"mine: 9\d% of each prompt is the same for all, 14\d\d tokens at its start: "
            "the provider may bill it at the cached price",
        ),
        (SLOTS, INSTRUCTIONS, r"mine: 9\d% of each prompt is the same for all, 14\d\d tokens at its start: the"),
        (
            f"{SLOTS}\n{INSTRUCTIONS}",
            "",
            r"mine: 0% of each prompt is the same for all, \d tokens at its start: too "
            "little for a cached price, which begins at 1024 tokens",
        ),
    ],
    ids=["first", "system prompt", "last"],
)
def test_the_preflight_says_how_much_of_a_prompt_is_the_same_for_all(
    project: Project, prompt: str, system: str, said: str
) -> None:
    """The start that all prompts share, the system prompt included: by a template's order it is much or nothing."""
    project.write("prompt.txt", prompt)
    more = 'template = "prompt.txt"\n'
    if system:
        project.write("system.txt", system)
        more += 'system_prompt = "system.txt"\n'
    project.configure("http://127.0.0.1:9", more)
    lines = project.run("--judge-preflight", "-k", "recency").stdout
    lines.re_match_lines([rf"\s*{said}"])


def test_what_is_recorded_shares_nothing(project: Project, snapshot: SnapshotAssertion) -> None:
    """Nothing would be sent any more, so that nothing is said of its start."""

    def answering(asked: Asked) -> Answer:
        return good("openai", FIRST if asked.number % 2 else SECOND)

    with serving(by=answering) as server:
        project.configure(server.url)
        assert lines_about(project.run("--judge-record", "missing", "-k", "recency").said, "the same") == snapshot
        assert "the same for" not in project.run("--judge-preflight", "-k", "recency").said


def test_the_preflight_says_that_a_tier_has_no_price(project: Project, snapshot: SnapshotAssertion) -> None:
    """A model whose price is known, but not that of the tier: the sentence says so, and how to give it."""
    project.configure("http://127.0.0.1:9", 'service_tier = "flex"')
    file = project.path / "pyproject.toml"
    file.write_text(file.read_text().replace('base_url = "http://127.0.0.1:9/v1"\n', ""))
    said = project.run("--judge-preflight", "-k", "recency").said
    assert "price unknown" in said
    assert lines_about(said, "'gpt-4o'") == snapshot


def test_the_system_prompt_goes_first(tmp_path: Path) -> None:
    """What is the same for all stands before what differs, on the wire of each provider: caches keep a start alone."""
    file = tmp_path / "system.txt"
    file.write_text(INSTRUCTIONS)
    for sdk in SDKS:
        with serving(good(sdk)) as server:
            judge = load_judge(
                {"provider": sdk, "model": "m", "base_url": base_url(sdk, server.url), "system_prompt": str(file)},
                "mine",
            )
            ask(judge)
        body = server.asked[0].body
        first = body["messages"][0] if sdk == "openai" else body["systemInstruction"]["parts"][0]
        assert INSTRUCTIONS in first.values()
        assert INSTRUCTIONS not in server.asked[0].prompt


def test_calls_that_were_told_the_same_time_do_not_come_back_together(tmp_path: Path) -> None:
    """Of 16 calls that a 503 tells to wait a second, none comes back sooner, and not all of them at once."""
    told_so: set[int] = set()

    def answering(asked: Asked) -> Answer:
        if asked.number == 0 or asked.number in told_so:
            return good("openai")
        told_so.add(asked.number)
        return wire(problem("Overloaded."), 503, retry_after="1")

    with serving(by=answering) as server:
        run(a_judge("openai", server.url), tmp_path, some_pairs(17))
    first: dict[int, float] = {}
    waited = [
        asked.at - first[asked.number] for asked in server.asked if first.setdefault(asked.number, asked.at) != asked.at
    ]
    assert len(waited) == 16
    assert min(waited) >= 1.0
    assert max(waited) - min(waited) >= 0.1
