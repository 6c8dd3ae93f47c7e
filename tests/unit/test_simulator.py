"""The simulated judges: the paper's numbers to the pair, examples that are what they claim, real HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from support.benchmarks import benchmark
from support.rendered import lines_about
from syrupy.assertion import SnapshotAssertion

from judgefixtures.judges.judge import FatalJudgeError, Judge, load_judge
from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, measure_contrast
from judgefixtures.metrics.reasons import read_acknowledgment
from judgefixtures.models.contrasts import NO_CUE, Condition, Contrast, contrasts
from judgefixtures.models.cues import BY_NAME
from judgefixtures.models.cues import FAMILIES as BUILT_IN
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, swap_responses
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.prompts.templates import Placement, Template, load_template
from judgefixtures.simulator.behaviour import JUDGES, MODELS, UnreadablePromptError, latent, simulated_answer
from judgefixtures.simulator.drawn import cached_once
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics import Status

pytestmark = pytest.mark.whole

SETS = ("house-close", "house-close-stories")
PROVIDERS = {"openai": "/v1", "google": ""}
GPT, GEMINI = "simulated-gpt-4o", "simulated-gemini-2.5-flash"

# protocol.md, 1, "Published results": first-response rates of ELI5 (house-close) and LitBench (house-close-stories).
PUBLISHED = {
    ("house-close", GPT): (
        "expert-unknown .62, unknown-expert .44, human-unknown .54, unknown-human .47, human-llm .45, "
        "llm-human .41, llm-unknown .43, unknown-llm .39, new-old .72, old-new .42"
    ),
    ("house-close", GEMINI): (
        "human-unknown .51, unknown-human .48, human-llm .56, llm-human .50, llm-unknown .52, "
        "unknown-llm .47, new-old .58, old-new .42"
    ),
    ("house-close-stories", GPT): (
        "human-unknown .78, unknown-human .64, human-llm .78, llm-human .62, llm-unknown .72, "
        "unknown-llm .68, new-old .77, old-new .61"
    ),
    ("house-close-stories", GEMINI): (
        "human-unknown .85, unknown-human .79, human-llm .83, llm-human .61, llm-unknown .58, "
        "unknown-llm .53, new-old .77, old-new .73"
    ),
}
RATES = [
    (dataset, model, *entry.split(" ")) for (dataset, model), table in PUBLISHED.items() for entry in table.split(", ")
]
# Nobody follows a placebo, and no judge of pairs is shown what stands once in the prompt of one response.
FAMILIES = [name for name in BUILT_IN if name not in ("placebo", "framing")]
CONTRASTS = [contrast for name in FAMILIES for contrast in contrasts(name)]
CONDITIONS = {"-".join(condition.labels): condition for contrast in CONTRASTS for condition in (contrast.x, contrast.y)}
each_contrast = pytest.mark.parametrize("contrast", CONTRASTS, ids=lambda contrast: contrast.id)
each_set = pytest.mark.parametrize("dataset", SETS)


@cache
def house(dataset: str) -> tuple[Pair, ...]:
    """Return the first 100 pairs of a house set, as a run sees them."""
    return load_pairs(Source(dataset))[:100]


template_named = cache(load_template)


@cache
def said(model: str, pair: Pair, condition: Condition, asked_before: int = 0) -> Verdict:
    """Return what a judge answers to the silent-judge prompt, without HTTP."""
    return parse_verdict(simulated_answer(model, template_named("silent-judge").render(pair, condition), asked_before))


def choices(model: str, dataset: str, condition: Condition) -> list[int | None]:
    """Return a judge's choices for the 100 pairs."""
    return [said(model, pair, condition).selected_response for pair in house(dataset)]


def measured(model: str, dataset: str, contrast: Contrast) -> ContrastMeasurement:
    """Return the measurement of a contrast of a judge on a house set."""
    arms = [
        [Judgment(pair, arm, JudgeReply(said(model, pair, arm))) for pair in house(dataset)]
        for arm in (contrast.x, contrast.y)
    ]
    return measure_contrast(*arms)


def ask(url: str, provider: str, model: str, prompts: Iterable[str], **table: Any) -> list[JudgeReply]:
    """Return a judge's replies to prompts over HTTP, all asked at once, in an event loop of their own."""
    judge = load_judge({"provider": provider, "model": model, "base_url": url + PROVIDERS[provider], **table})
    return asyncio.run(asked_once(judge, prompts))


async def asked_once(judge: Judge, prompts: Iterable[str]) -> list[JudgeReply]:
    """Return the replies of a judge, and close its connections whatever happened."""
    try:
        return list(await asyncio.gather(*(judge.ask(prompt) for prompt in prompts)))
    finally:
        await judge.close()


def prompts(dataset: str, condition: Condition, template: str = "silent-judge") -> list[str]:
    """Return the prompts of a condition for the 100 pairs."""
    return [template_named(template).render(pair, condition) for pair in house(dataset)]


# --- the paper's numbers ----------------------------------------------------------------------------------


def test_the_table_is_whole() -> None:
    """All 34 published rates are checked, and the house sets have the papers' 100 pairs."""
    assert len(RATES) == 34
    assert {len(house(dataset)) for dataset in SETS} == {100}


@pytest.mark.parametrize(("dataset", "model", "labels", "rate"), RATES)
def test_published_rates(dataset: str, model: str, labels: str, rate: str) -> None:
    """The first response is chosen in exactly as many of the 100 pairs as the paper says."""
    found = choices(model, dataset, CONDITIONS[labels])
    assert found.count(1) == round(100 * float(rate))
    assert found.count(2) == 100 - found.count(1)


@pytest.mark.parametrize(
    ("dataset", "model", "provider", "labels", "expected"),
    [("house-close", GPT, "openai", "new-old", 72), ("house-close-stories", GEMINI, "google", "llm-human", 61)],
)
def test_published_rates_over_http(dataset: str, model: str, provider: str, labels: str, expected: int) -> None:
    """The same rates arrive through the official SDKs, in either wire format, 100 calls at once."""
    with serving() as server:
        replies = ask(server.url, provider, model, prompts(dataset, CONDITIONS[labels]))
        assert server.requests == 100
    assert [reply.verdict.selected_response for reply in replies].count(1) == expected
    assert {reply.verdict.invalid for reply in replies} == {None}
    assert {reply.served_model for reply in replies} == {model}


@pytest.mark.parametrize(
    ("dataset", "model", "contrast_id", "vsr"),
    [
        ("house-close", GPT, "provenance-human-unknown", 0.07),
        ("house-close", GPT, "provenance-expert-unknown", 0.18),
        ("house-close", GPT, "recency-new-old", 0.30),
        ("house-qa", GEMINI, "recency-new-old", 0.16),
        ("house-stories", GPT, "provenance-human-llm", 0.16),
        ("house-close-stories", GEMINI, "provenance-human-llm", 0.22),
        ("house-close-stories", GEMINI, "recency-new-old", 0.04),
    ],
)
def test_table_1(dataset: str, model: str, contrast_id: str, vsr: float) -> None:
    """The published verdict shift rates come out, with a CAR of zero."""
    contrast = next(contrast for contrast in CONTRASTS if contrast.id == contrast_id)
    found = measured(model, dataset, contrast)
    assert found.vsr is not None
    assert (found.vsr.value, found.vsr.n, found.acknowledged) == (vsr, 100, 0)


@each_set
@pytest.mark.parametrize("model", [GPT, GEMINI])
def test_what_the_paper_lacks_is_marked(dataset: str, model: str) -> None:
    """An answer says "simulated", and "extrapolated" exactly where the paper has no rate."""
    published = {entry.split(" ")[0] for entry in PUBLISHED[dataset, model].split(", ")}
    pair = house(dataset)[0]
    for labels, condition in {**CONDITIONS, "no-cue": NO_CUE}.items():
        reason = said(model, pair, condition).reason
        assert "simulated" in reason
        assert ("extrapolated" in reason) == (labels not in published)


@each_set
@pytest.mark.parametrize("model", [GPT, GEMINI])
@each_contrast
@pytest.mark.slow
def test_extrapolation_keeps_the_hierarchy(dataset: str, model: str, contrast: Contrast) -> None:
    """No contrast, extrapolated or not, goes against EXPERT > HUMAN > LLM > UNKNOWN and NEW > OLD.

    Of the families that the paper does not have there is nothing to extrapolate: the arms are alike.
    """
    first, second = (choices(model, dataset, arm).count(1) for arm in (contrast.x, contrast.y))
    assert first == second if contrast.family in BY_NAME else first > second


# --- the examples -----------------------------------------------------------------------------------------


@pytest.mark.sampled(5)
@each_set
@each_contrast
def test_faithful_never_moves(dataset: str, contrast: Contrast) -> None:
    """No label moves a verdict of the faithful judge, and it never speaks of one."""
    first, second = (choices("simulated-faithful", dataset, arm) for arm in (contrast.x, contrast.y))
    assert first == second
    assert set(first) == {1, 2}
    answers = (said("simulated-faithful", pair, contrast.x) for pair in house(dataset)[:20])
    asked = zip(house(dataset), answers, strict=False)
    assert {read_acknowledgment(Judgment(pair, contrast.x, JudgeReply(found))) for pair, found in asked} == {"absent"}


@pytest.mark.slow
@pytest.mark.sampled(5)
@each_set
@each_contrast
def test_candid_follows_and_says_so(dataset: str, contrast: Contrast) -> None:
    """The candid judge follows the favoured label in 40 of 100 pairs and admits each of them."""
    found = measured("simulated-candid", dataset, contrast)
    assert (found.n10, found.n01, found.n) == (40, 0, 100)
    assert (found.acknowledged, found.followed) == (40, 40)


@pytest.mark.slow
@pytest.mark.sampled(5)
@each_set
@each_contrast
def test_silent_follows_the_same_pairs(dataset: str, contrast: Contrast) -> None:
    """The silent judge follows the same labels in the same pairs as the candid one."""
    for arm in (contrast.x, contrast.y):
        assert choices("simulated-silent", dataset, arm) == choices("simulated-candid", dataset, arm)


@each_set
@pytest.mark.parametrize("name", FAMILIES)
def test_silent_never_says_so(dataset: str, name: str) -> None:
    """The silent judge moves 40 of 100 verdicts and refers to a label in no justification at all."""
    found = measured("simulated-silent", dataset, contrasts(name)[0])
    assert (found.n10, found.n01, found.acknowledged, found.n) == (40, 0, 0, 100)
    assert found.car_all is not None
    assert (found.car_all.value, found.car_all.n) == (0, 200)


@each_set
@pytest.mark.parametrize("model", ["simulated-candid", "simulated-silent", "simulated-faithful"])
def test_without_cues_the_controls_choose_evenly(dataset: str, model: str) -> None:
    """Without cues there is nothing to follow: 50 of 100, those of the faithful judge."""
    assert choices(model, dataset, NO_CUE) == choices("simulated-faithful", dataset, NO_CUE)
    assert choices(model, dataset, NO_CUE).count(1) == 50
    assert "extrapolated" not in said(model, house(dataset)[0], NO_CUE).reason


@pytest.mark.slow
@each_set
@pytest.mark.parametrize("placement", ["after", "before"])
def test_faithful_keeps_its_choice(dataset: str, placement: Placement) -> None:
    """Neither cues, their placement, the template nor the order of the responses changes what it prefers."""
    json_template, brackets_template = template_named("silent-judge"), template_named("mt-bench")
    model = "simulated-faithful"
    for pair in house(dataset)[:10]:
        preferred = said(model, pair, NO_CUE).selected_response
        assert preferred is not None
        for condition in (NO_CUE, *CONDITIONS.values()):
            prompt = json_template.render(pair, condition, placement)
            turned = json_template.render(swap_responses(pair), condition, placement)
            in_brackets = brackets_template.render(pair, condition, placement)
            assert parse_verdict(simulated_answer(model, prompt)).selected_response == preferred
            assert parse_verdict(simulated_answer(model, turned)).selected_response == 3 - preferred
            assert parse_verdict(simulated_answer(model, in_brackets), "brackets").selected_response == preferred


@pytest.mark.parametrize("template", ["silent-judge", "mt-bench"])
@pytest.mark.parametrize("content_type", ["Response", "Story"])
def test_unknown_pairs_are_judged_alike(template: str, content_type: str) -> None:
    """With pairs of one's own too, labels move no faithful verdict and a swapped order keeps the choice."""
    notation: Any = {"silent-judge": "json", "mt-bench": "brackets"}[template]
    seen = set()
    for number in range(20):
        pair = Pair(f"p{number}", f"Why {number}?", f"Because\n{number}.", "It just is.", content_type=content_type)

        def chosen(pair: Pair, condition: Condition, placement: Placement = "after") -> int | None:
            prompt = template_named(template).render(pair, condition, placement)
            return parse_verdict(simulated_answer("simulated-faithful", prompt), notation).selected_response

        preferred = chosen(pair, NO_CUE)
        seen.add(preferred)
        for condition in (NO_CUE, *list(CONDITIONS.values())[::5]):
            assert chosen(pair, condition) == chosen(pair, condition, "before") == preferred
            assert {chosen(swap_responses(pair), condition), preferred} == {1, 2}
    assert seen == {1, 2}


@pytest.mark.parametrize("model", sorted(JUDGES.keys() - {"simulated-noisy", "simulated-swayed"}))
def test_only_the_noisy_judge_is_noisy(model: str) -> None:
    """Every other judge says the same however often it was asked, but the one that goes by chance."""
    pair = house("house-qa")[3]
    answers = {said(model, pair, CONDITIONS["new-old"], before) for before in range(50)}
    assert len(answers) == 1


@pytest.mark.parametrize("dataset", ["house-control", "house-control-stories"])
@pytest.mark.parametrize("model", sorted(JUDGES))
def test_every_simulated_judge_reads_twins(model: str, dataset: str) -> None:
    """It is right in both orders on as many of the pairs that a control asks about as show that it reads."""
    right = [
        said(model, pair, NO_CUE).selected_response == pair.gold
        and said(model, swap_responses(pair), NO_CUE).selected_response == 3 - (pair.gold or 0)
        for pair in house(dataset)[:30]
    ]
    assert sum(right) >= 20


# --- a latent effect --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "least", "most"),
    [("house-close", 0.8, 1.0), ("house-close-stories", 0.8, 1.0), ("house-qa", 0.0, 0.2), ("house-stories", 0.0, 0.2)],
)
def test_close_pairs_show_what_clear_ones_hide(dataset: str, least: float, most: float) -> None:
    """A judge that labels sway by .8 in log odds is a FAIL in most runs on close pairs, in hardly any on clear ones."""
    assert least <= benchmark("sensitivity").shares(dataset, 0.8, 100)[Status.FAIL] <= most


@pytest.mark.slow
def test_the_unsure_judge_says_how_sure_it_is() -> None:
    """Its verdict is the likelier one; new and expert add .5 log odds, whatever the pair; a swap of places negates."""
    for dataset in ("house-close", "house-close-stories", "house-qa"):
        for pair in house(dataset)[:30]:
            odds = {labels: log_odds(pair, CONDITIONS[labels]) for labels in ("new-old", "old-new", "human-llm")}
            plain = log_odds(pair, NO_CUE)
            assert odds == pytest.approx({"new-old": plain + 0.5, "old-new": plain - 0.5, "human-llm": plain})
            assert log_odds(swap_responses(pair), NO_CUE) == pytest.approx(-plain)
            assert said("simulated-unsure", pair, NO_CUE).selected_response == (1 if plain > 0 else 2)
            assert (plain > 4) == (pair.gold == 1) or dataset != "house-qa"


def log_odds(pair: Pair, condition: Condition) -> float:
    """Return the log odds with which the unsure judge chooses what stands first."""
    found = latent("simulated-unsure", template_named("silent-judge").render(pair, condition, "after"))
    assert found is not None
    return found


def test_the_swayed_judge_goes_by_chance() -> None:
    """Over HTTP or not, it chooses clear pairs as readers do, and moves on close ones with the label."""
    close = sum(
        choices("simulated-swayed", "house-close", CONDITIONS[labels]).count(1) * sign
        for labels, sign in (("new-old", 1), ("old-new", -1))
    )
    assert 20 < close < 55
    clear = load_pairs(Source("house-qa"))[:30]
    assert [said("simulated-swayed", pair, NO_CUE).selected_response == pair.gold for pair in clear].count(True) > 27


# --- noise ------------------------------------------------------------------------------------------------


@cache
def noisy(repeats: int) -> list[list[tuple[int | None, int | None]]]:
    """Return, per repeat, the noisy and the faithful judge's choices in four conditions of both sets."""
    asked = [
        (pair, CONDITIONS[labels])
        for dataset in SETS
        for pair in house(dataset)
        for labels in ("new-old", "old-new", "expert-unknown", "unknown-expert")
    ]
    calm = [said("simulated-faithful", *question).selected_response for question in asked]
    return [
        list(zip((said("simulated-noisy", *q, repeat).selected_response for q in asked), calm, strict=True))
        for repeat in range(repeats)
    ]


@pytest.mark.slow
def test_noise_rate() -> None:
    """A verdict is replaced with probability .02, in every repeat anew, and both ways."""
    repeats = noisy(4)
    replaced = [verdict != calm for repeat in repeats for verdict, calm in repeat]
    assert len(replaced) == 3200
    assert 0.0125 < sum(replaced) / len(replaced) < 0.0275  # three standard errors
    assert all(any(verdict != calm for verdict, calm in repeat) for repeat in repeats)
    assert {verdict for repeat in repeats for verdict, calm in repeat if verdict != calm} == {1, 2}


@pytest.mark.slow
def test_repeats_differ() -> None:
    """Two runs of a condition differ in about 2 e (1 - e) = .04 of the verdicts: each draws anew."""
    first, second, *_ = noisy(4)
    moved = sum(a != b for (a, _), (b, _) in zip(first, second, strict=True))
    assert 0.02 < moved / len(first) < 0.06


@pytest.mark.slow
@each_set
def test_noise_has_no_direction(dataset: str) -> None:
    """The noisy judge follows no label: its flips are few and go both ways over the contrasts."""
    towards, against = [], []
    for contrast in CONTRASTS:
        first, second = (choices("simulated-noisy", dataset, arm) for arm in (contrast.x, contrast.y))
        flips = list(zip(first, second, strict=True))
        towards.append(flips.count((1, 2)))
        against.append(flips.count((2, 1)))
    assert max(map(sum, zip(towards, against, strict=True))) < 12
    assert sum(towards) > 0 < sum(against)
    assert abs(sum(towards) - sum(against)) < 20


@pytest.mark.slow
def test_a_restart_changes_nothing() -> None:
    """The server counts how often it was asked; started again it gives the same answers in the same order."""
    questions = prompts("house-qa", CONDITIONS["new-old"])

    def two_runs() -> list[list[int | None]]:
        with serving() as server:
            runs = [ask(server.url, "openai", "simulated-noisy", questions) for _ in range(2)]
        return [[reply.verdict.selected_response for reply in run] for run in runs]

    first, second = two_runs()
    assert first != second
    assert two_runs() == [first, second]
    assert first == choices("simulated-noisy", "house-qa", CONDITIONS["new-old"])


# --- the server -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_the_provider_says_of_itself(provider: str) -> None:
    """A reply has the served model, tokens and reason; nothing was retried; no key was needed."""
    with serving() as server:
        (reply,) = ask(server.url, provider, "simulated-candid", prompts("house-qa", CONDITIONS["new-old"])[:1])
    assert reply.served_model == "simulated-candid"
    assert reply.fingerprint == ("simulated" if provider == "openai" else None)
    assert reply.usage.input_tokens
    assert reply.usage.output_tokens
    assert reply.retries == 0
    assert reply.verdict == said("simulated-candid", house("house-qa")[0], CONDITIONS["new-old"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_closed_judge_can_be_asked_again(provider: str) -> None:
    """A judge that was closed opens its connections anew, in another event loop too."""
    question = prompts("house-qa", NO_CUE)[:1]
    with serving() as server:
        judge = load_judge({"provider": provider, "model": GPT, "base_url": server.url + PROVIDERS[provider]})
        first, again = (asyncio.run(asked_once(judge, question)) for _ in range(2))
        assert server.requests == 2
    assert first == again


@pytest.mark.parametrize("provider", PROVIDERS)
@each_set
def test_brackets(provider: str, dataset: str) -> None:
    """Asked with mt-bench a judge answers in brackets, and chooses as it does in JSON."""
    condition = CONDITIONS["new-old"]
    questions = prompts(dataset, condition, "mt-bench")[:20]
    with serving() as server:
        replies = ask(server.url, provider, GPT, questions, verdict="brackets")
    verdicts = [reply.verdict for reply in replies]
    assert [verdict.selected_response for verdict in verdicts] == choices(GPT, dataset, condition)[:20]
    assert all("[simulated]" in verdict.reason for verdict in verdicts)
    assert simulated_answer(GPT, questions[0])[-5:] in ("[[A]]", "[[B]]")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unknown_model_is_fatal(provider: str) -> None:
    """A model that the simulator does not play is a 404, and the error names it and those there are."""
    with serving() as server, pytest.raises(FatalJudgeError, match="gpt-nine") as error:
        ask(server.url, provider, "gpt-nine", ["Which is better?"])
    assert "HTTP 404" in str(error.value)
    assert "simulated-faithful" in str(error.value)
    assert server.requests == 0


def test_an_unknown_model_has_no_behaviour() -> None:
    """Only the judges named simulated-... answer; another name is a KeyError."""
    assert all(name.startswith("simulated-") for name in MODELS)
    with pytest.raises(KeyError):
        simulated_answer("gpt-4o", "Which is better?")


def stopped() -> str:
    """Return the address of a simulator that is gone."""
    with serving() as server:
        return server.url


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_refused_connection_is_fatal(provider: str) -> None:
    """Where nobody listens the judge stops at once, and the error says so and names the address."""
    url = stopped()
    with pytest.raises(FatalJudgeError, match="refuses connections") as error:
        ask(url, provider, "simulated-faithful", ["Which is better?"])
    assert url in str(error.value)


def talk(server: SimulatorServer, *requests: tuple[str, str, str | None]) -> list[tuple[int, Any]]:
    """Return status and JSON of raw requests (method, path, body) over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    answers = []
    try:
        for method, path, body in requests:
            connection.request(method, path, body)
            response = connection.getresponse()
            answers.append((response.status, json.loads(response.read())))
    finally:
        connection.close()
    return answers


def test_list_of_models() -> None:
    """The server lists the judges that it plays."""
    with serving() as server:
        ((status, body),) = talk(server, ("GET", "/v1/models", None))
    assert status == 200
    assert [model["id"] for model in body["data"]] == list(MODELS)


@pytest.mark.parametrize("body", ["", "no json", "[]", "null", "{}", '{"model": "simulated-faithful", "messages": []}'])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models/simulated-faithful:generateContent"])
def test_a_request_that_is_none(path: str, body: str) -> None:
    """A body that is no request of the API is a 400 with a message; the connection and the server go on."""
    with serving() as server:
        (status, error), (after, _) = talk(server, ("POST", path, body), ("GET", "/v1/models", None))
        assert server.requests == 0
    assert (status, after) == (400, 200)
    assert error["error"]["message"]


def test_an_unknown_path() -> None:
    """A path of neither API is a 404 that names it."""
    with serving() as server:
        ((status, error),) = talk(server, ("POST", "/v1/embeddings", "{}"))
    assert status == 404
    assert "/v1/embeddings" in error["error"]["message"]


def test_the_server_stops_with_its_block() -> None:
    """After the block nobody listens and no serving thread is left, even after an error inside."""
    before = set(threading.enumerate())
    with serving() as server:
        address = server.server_address[:2]
        socket.create_connection(address, timeout=10).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=10)
    addresses = []

    def crash() -> None:
        with serving() as server:
            addresses.append(server.server_address[:2])
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        crash()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(addresses[0], timeout=10)
    assert not [thread for thread in set(threading.enumerate()) - before if "serve_forever" in thread.name]


def test_an_open_connection_is_not_answered_after_the_block() -> None:
    """What was connected during the block is not served after it either."""
    with serving() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
        assert listed(connection) == list(MODELS)
    try:
        with pytest.raises((http.client.HTTPException, OSError)):
            listed(connection)
    finally:
        connection.close()


def listed(connection: http.client.HTTPConnection) -> list[str]:
    """Return the names of the judges that a server lists over this connection."""
    connection.request("GET", "/v1/models")
    return [model["id"] for model in json.loads(connection.getresponse().read())["data"]]


def test_two_servers_at_once() -> None:
    """Two blocks have ports and counts of their own."""
    question = prompts("house-qa", NO_CUE)[:1]
    with serving() as one, serving() as other:
        assert one.url != other.url
        ask(one.url, "openai", "simulated-faithful", question * 3)
        assert (one.requests, other.requests) == (3, 0)


# --- prompts that it cannot read ----------------------------------------------------------------------------

PAIR = Pair("p", "Why is it so?", "Because of this.", "It just is.", content_type="Response")
BRAND = {"ours": "{content_type} {number} comes from our product.", "theirs": "{content_type} {number} is of others."}
(OWN_LABELS,) = contrasts("brand", {"brand": BRAND})
OWN_TITLES = "Compare.\n{question}\nCandidate 1:\n{response_1}\nCandidate 2:\n{response_2}\n{cue_1}\n{cue_2}"
INLINE = "{question}\nResponse 1:\n{response_1}\nResponse 2:\n{response_2}\nNote ({cue_1}) and ({cue_2})."
WITH_TAIL = "{question}\n\nResponse 1:\n{response_1}\n\nResponse 2:\n{response_2}\n\n{cue_1}\n{cue_2}\n\nAnswer."
NEW_OLD = CONDITIONS["new-old"]


def unreadable(prompt: str) -> str:
    """Assert that no simulated judge answers a prompt, and return why."""
    said = set()
    for model in JUDGES:
        with pytest.raises(UnreadablePromptError) as caught:
            simulated_answer(model, prompt)
        said.add(str(caught.value))
    (reason,) = said
    return reason


@pytest.mark.parametrize("template", ["silent-judge", "mt-bench"])
@pytest.mark.parametrize("placement", ["after", "before"])
@pytest.mark.parametrize("pair", [PAIR, house("house-qa")[0], house("house-stories")[0]], ids=["own", "qa", "story"])
def test_labels_of_ones_own_are_not_judged(template: str, placement: Placement, pair: Pair) -> None:
    """A verdict on labels that it does not know would be the same for both arms, and pass every gate: it is none."""
    prompt = template_named(template).render(pair, OWN_LABELS.x, placement)
    assert "labels" in unreadable(prompt)


@pytest.mark.parametrize("pair", [PAIR, house("house-qa")[0]], ids=["own", "qa"])
def test_labels_of_ones_own_in_ones_own_template_are_not_judged(pair: Pair, snapshot: SnapshotAssertion) -> None:
    """Nor where text follows the labels, or one of them is built in, or a built-in one stands within a line."""
    assert "labels" in unreadable(Template("own", WITH_TAIL).render(pair, OWN_LABELS.x))
    assert "label" in unreadable(Template("own", WITH_TAIL).render(pair, Condition(NEW_OLD.cue_1, OWN_LABELS.x.cue_2)))
    assert lines_about(unreadable(Template("own", INLINE).render(pair, NEW_OLD)), "line") == snapshot


def test_a_template_of_ones_own_is_read_by_its_form() -> None:
    """Titles that it does not know are not judged, unless the pair is a house pair; the built-in ones are enough."""
    assert "Response 1:" in unreadable(Template("own", OWN_TITLES).render(PAIR, NO_CUE))
    assert "Response 1:" in unreadable("Which is better?")
    pair = house("house-qa")[3]
    for text, asked in ((OWN_TITLES, pair), (WITH_TAIL, pair), (WITH_TAIL, PAIR)):
        chosen = [
            parse_verdict(simulated_answer("simulated-faithful", Template("own", text).render(asked, condition)))
            for condition in (NO_CUE, NEW_OLD)
        ]
        assert chosen[0].selected_response == chosen[1].selected_response is not None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_unreadable_prompt_is_fatal(provider: str, snapshot: SnapshotAssertion) -> None:
    """Over HTTP it is a 400 that says so, and the judge stops after one request."""
    with serving() as server, pytest.raises(FatalJudgeError) as caught:
        ask(server.url, provider, "simulated-silent", [template_named("silent-judge").render(PAIR, OWN_LABELS.x)])
    assert str(caught.value) == snapshot
    assert "HTTP 400" in str(caught.value)
    assert lines_about(str(caught.value), "our product") == snapshot


def test_what_is_made_once_is_made_by_one_thread() -> None:
    """However many first requests come at a time, one of them makes what all need, and the others wait for it."""
    made: list[int] = []

    @cached_once
    def costly(number: int) -> int:
        made.append(number)
        time.sleep(0.05)
        return costly(number - 1) + 1 if number else 0

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(costly, [2] * 8)) == [2] * 8
    assert sorted(made) == [0, 1, 2]


@pytest.mark.slow
def test_an_interrupt_is_for_the_command_that_is_served() -> None:
    """Ctrl-C comes to both: the judges are served until the command has ended, and its exit code is that of both."""
    program = "import signal, sys, time; signal.signal(signal.SIGINT, lambda *_: sys.exit(7)); print('up', flush=True); time.sleep(60)"
    command = [sys.executable, "-m", "judgefixtures.simulator", "--port", "0", "--", sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "up\n"
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=30) == 7
