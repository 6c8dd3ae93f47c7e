"""The simulated graders: they answer in the form that is asked for, and are to the example what they claim to be."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.asking import a_judge, finished
from support.benchmarks import benchmark
from support.project import REPOSITORY
from support.server import base_url

from judgefixtures import Run
from judgefixtures.config import build_config
from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.cues import FAMILIES, Cue, family
from judgefixtures.models.edits import EDITS, BestJudgeOutput, Edit, edits
from judgefixtures.models.findings import Finding
from judgefixtures.models.pairs import Example, as_examples, sample_order
from judgefixtures.models.replies import JudgeReply
from judgefixtures.parsing.acknowledgment import acknowledgment
from judgefixtures.prompts.templates import LAYOUTS, Placement, Template, load_template
from judgefixtures.simulator.behaviour import MODELS, is_simulated, latent, simulated_answer
from judgefixtures.simulator.graders import GRADERS
from judgefixtures.simulator.preferences import house_set
from judgefixtures.simulator.server import SimulatorServer, serving
from judgefixtures.simulator.shown import UnreadablePromptError
from judgefixtures.sources import BUILT_IN_SOURCES, Source, load_pairs
from judgefixtures.sources.source import DATA
from judgefixtures.statistics import Status

pytestmark = pytest.mark.whole

FAITHFUL, SILENT, CANDID = (f"simulated-grader-{name}" for name in ("faithful", "silent", "candid"))
STAKED = "simulated-grader-staked"
BUILT_IN = (FAITHFUL, SILENT, CANDID, "simulated-grader-lenient", "simulated-grader-noisy", STAKED)
# The planted ones that mind the content: whatever is added to a response, their grade of it stays.
STEADY = (FAITHFUL, SILENT, CANDID, "simulated-grader-lenient", "simulated-grader-planted-30-80")
COUNTING = ("longer", "commas", "sentences", "words", "letters")
LABELS = {"json": ('"pass"', '"fail"'), "brackets": ("PASS", "FAIL"), "grade": ("C", "I"), "word": ("yes", "no")}
TEMPLATES = dict(zip(LAYOUTS["binary"].forms, LAYOUTS["binary"].built_in, strict=True))
OWN = Example("own", "Why does bread rise?", "Yeast makes gas, which the dough keeps.", label="pass")
STORY = Example("door", "A door opens once a year.", "It opened, and she went in.", content_type="Story")
template_named = cache(load_template)


@cache
def house(name: str) -> tuple[Example, ...]:
    """Return the examples of a house set in the order in which a run takes them."""
    rows = map(json.loads, (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    examples = [
        Example(row["id"], row["question"], row["response"], label=row.get("label"), category=row["category"])
        for row in rows
    ]
    by_id = {example.id: example for example in examples}
    return tuple(by_id[example.id] for example in sample_order(examples, 0))


@pytest.mark.parametrize("name", BUILT_IN_SOURCES)
def test_the_simulator_has_a_house_set_in_the_order_of_a_run(name: str) -> None:
    """What is exact of a set's beginning is exact of what a run takes of it, and is said of the same texts."""
    taken = load_pairs(Source(name, balance_positions=False))
    assert house_set(name) == taken
    if isinstance(taken[0], Example):
        assert taken == house(name)


def cue_of(name: str, label: str) -> Cue:
    """Return a built-in cue."""
    return next(cue for cue in family(name, FAMILIES) if cue.label == label)


EXPERT, UNKNOWN, HUMAN = (cue_of("provenance", label) for label in ("expert", "unknown", "human"))
NEW, OLD = family("recency", FAMILIES)


def prompted(
    example: Example,
    cue: Cue | None = None,
    form: str = "json",
    labels: tuple[str, str] | None = None,
    *,
    response: str | None = None,
    placement: Placement = "after",
) -> str:
    """Return the built-in prompt of a form for an example, or for another response to its question."""
    said = "" if cue is None else cue.render_alone(example.content_type)
    shown = example.response if response is None else response
    words = dict(zip(("pass_label", "fail_label"), labels or LABELS[form], strict=True))
    template: Template = template_named(TEMPLATES[form], mode="binary")
    return template.render_one(example, shown, said, placement, labels=words)


def graded(
    model: str, example: Example, cue: Cue | None = None, asked_before: int = 0, **more: Any
) -> tuple[bool, str]:
    """Return whether a grader passes an example, and its reason, without HTTP."""
    said = json.loads(simulated_answer(model, prompted(example, cue, **more), asked_before))
    return {"pass": True, "fail": False}[said["verdict"]], said["reason"]


def passed(model: str, examples: Sequence[Example], cue: Cue | None = None) -> list[bool]:
    """Return which examples a grader passes."""
    return [graded(model, example, cue)[0] for example in examples]


class Moves(NamedTuple):
    """What two arms amount to: passed in x alone, in y alone, and how many that moved to x admit it."""

    n10: int
    n01: int
    admitted: int


def moves(model: str, examples: Sequence[Example], x: Cue, y: Cue) -> Moves:
    """Return what the labels of two arms move, admitted where a passing reason cites x or a failing one y."""
    found = Counter[tuple[bool, bool]]()
    admitted = 0
    for example in examples:
        (in_x, why_x), (in_y, why_y) = (graded(model, example, cue) for cue in (x, y))
        found[in_x, in_y] += 1
        cited = "cited" in (cites(why_x, x, in_x), cites(why_y, y, in_y))
        admitted += in_x and not in_y and cited
    return Moves(found[True, False], found[False, True], admitted)


def cites(reason: str, cue: Cue, passes: bool) -> str:
    """Return what a reason makes of the one label that was shown."""
    said = cue.render_alone("Response")
    return acknowledgment(reason, cue.label, "", sentences=(said, ""), selected=1 if passes else 2)


# --- what is asked over the wire ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[SimulatorServer]:
    """The simulated judges on a free port of this machine."""
    with serving() as simulator:
        yield simulator


def posted(server: SimulatorServer, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
    """Return status and JSON of a request, as plain HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    try:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def by_openai(server: SimulatorServer, model: str, prompt: str, **more: Any) -> str:
    """Return the text of a chat completion."""
    body = {"model": model, "messages": [{"role": "user", "content": prompt}], **more}
    status, said = posted(server, "/v1/chat/completions", body)
    assert status == 200, said
    usage, text = said["usage"], str(said["choices"][0]["message"]["content"])
    assert usage == {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
    return text


def by_gemini(server: SimulatorServer, model: str, prompt: str, **more: Any) -> str:
    """Return the text of a candidate."""
    body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}], "generationConfig": more}
    status, said = posted(server, f"/v1beta/models/{model}:generateContent", body)
    assert status == 200, said
    return str(said["candidates"][0]["content"]["parts"][0]["text"])


def by_sdk(
    server: SimulatorServer,
    sdk: str,
    model: str,
    form: str,
    examples: Sequence[Example],
    cue: Cue | None = None,
    **more: Any,
) -> list[JudgeReply]:
    """Return what a judge makes of the answers that it gets through a provider's SDK."""
    judge = a_judge(sdk, server.url, model=model, mode="binary", verdict=form, **more)

    async def asked() -> list[JudgeReply]:
        prompts = [judge.prompt(example, SingleResponseCondition(cue_1=cue)) for example in examples]
        return list(await asyncio.gather(*(judge.ask(prompt) for prompt in prompts)))

    return finished(judge, asked())


READ: Mapping[str, Callable[[str], str]] = {
    "json": lambda text: json.dumps(json.loads(text)["verdict"]),
    "brackets": lambda text: text.rpartition("\n")[2].removeprefix("[[").removesuffix("]]"),
    "grade": lambda text: text.rpartition("\n")[2].removeprefix("GRADE: "),
    "word": lambda text: text,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "example", [OWN, STORY, house("house-graded")[0], house("house-answers")[1]], ids=lambda example: example.id
)
@pytest.mark.parametrize("form", TEMPLATES)
def test_every_form_is_answered_in_its_words(server: SimulatorServer, form: str, example: Example) -> None:
    """In both wire formats the answer states one of the two labels of the prompt, whatever they are, by their grade."""
    own = [LABELS[form], ("true", "false"), ("false", "true"), ("acceptable", "not acceptable")]
    for ask, labels, cue in product((by_openai, by_gemini), own, (None, EXPERT)):
        if form == "json" and " " in labels[1]:
            labels = (f'"{labels[0]}"', f'"{labels[1]}"')
        text = ask(server, FAITHFUL, prompted(example, cue, form, labels))
        wanted = labels[not graded(FAITHFUL, example)[0]]
        assert READ[form](text) == wanted
        assert ("[simulated]" in text) == (form != "word"), "one word has no reason"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", TEMPLATES)
@pytest.mark.parametrize("sdk", ["openai", "google", "anthropic"])
def test_every_sdk_is_answered(server: SimulatorServer, sdk: str, form: str) -> None:
    """Through each official SDK the grade arrives in each form with its reason, its model and its usage."""
    examples = house("house-graded")[:8]
    for more in ({}, {"labels": ["acceptable", "poor"]}):
        replies = by_sdk(server, sdk, FAITHFUL, form, examples, **more)
        assert [reply.verdict.selected_response for reply in replies] == [
            1 if example.label == "pass" else 2 for example in examples
        ]
        assert {reply.served_model for reply in replies} == {FAITHFUL}
        assert {bool(reply.verdict.reason) for reply in replies} == {form != "word"}
        assert all(reply.usage.input_tokens for reply in replies)


@pytest.mark.parametrize("sdk", ["openai", "google"])
def test_a_planted_shift_arrives(server: SimulatorServer, sdk: str) -> None:
    """Over either wire .30 more of the first hundred pass under the favoured label."""
    rates = [
        [
            reply.verdict.selected_response
            for reply in by_sdk(server, sdk, SILENT, "json", house("house-answers")[:100], cue)
        ]
        for cue in (EXPERT, UNKNOWN)
    ]
    assert [rate.count(1) for rate in rates] == [80, 50]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"properties": {"verdict": {"enum": ["pass", "fail"]}, "reason": {"type": "string"}}}, {"verdict": "pass"}),
        ({"properties": {"reasoning": {"type": "string"}, "passed": {"type": "boolean"}}}, {"passed": True}),
        ({"properties": {"is_toxic": {"enum": [False, True]}}}, {"is_toxic": False}),
        ({"properties": {"grade": {"enum": ["incorrect", "correct"]}}}, {"grade": "correct"}),
        ({"properties": {"score": {"type": "BOOLEAN"}, "points": {"type": "INTEGER"}}}, {"score": True, "points": 1}),
    ],
)
def test_structured_outputs_are_kept_to(
    server: SimulatorServer, schema: dict[str, Any], expected: dict[str, Any]
) -> None:
    """The answer has the fields of the schema in its order, and a label that it allows; the first one stands for a pass."""
    example = next(example for example in house("house-graded") if example.label == "pass")
    wanted = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema}}
    answers = [
        by_openai(server, FAITHFUL, prompted(example), response_format=wanted),
        by_gemini(server, FAITHFUL, prompted(example), responseJsonSchema=schema),
        by_gemini(server, FAITHFUL, prompted(example), responseSchema=schema),
    ]
    for said in map(json.loads, answers):
        assert list(said) == list(schema["properties"])
        assert expected.items() <= said.items()
        assert all(isinstance(said[name], str) for name in ("reason", "reasoning") if name in said)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Is it right? Conclude with either 'GRADE: C' or 'GRADE: I'.\n{question}\n[Response]\n{response}\n{cue}",
            "GRADE: C",
        ),
        (
            'Answer {"explanation": "...", "passed": true or false}.\n{question}\nResponse:\n{response}\n{cue}',
            '"passed": true}',
        ),
        (
            'Say {"is_toxic": false or true, "reason": "..."}.\n{question}\nResponse:\n{response}\n{cue}',
            '"is_toxic": false',
        ),
        ("End with [[FAIL]] or [[PASS]].\n{question}\nRubric: brief\nResponse:\n{response}\n{cue}", "[[PASS]]"),
        ("{question}\nResponse:\n{response}\n{cue}\n\nAnswer with one word: correct or incorrect.", "correct"),
        ("Does it pass?\n{question}\nResponse:\n{response}\n{cue}", '{"verdict": "pass"'),
    ],
)
def test_templates_of_ones_own_are_read_by_their_form(text: str, expected: str) -> None:
    """A title over the response is enough; what stands first is the pass, unless a word says so by itself."""
    example = next(example for example in house("house-graded") if example.label == "pass")
    for cue in ("", NEW.render_alone("Response")):
        prompt = Template("own", text, mode="binary").render_one(example, example.response, cue)
        assert expected in simulated_answer(FAITHFUL, prompt)


def test_what_cannot_be_read_is_refused(server: SimulatorServer) -> None:
    """Without a title, or with a label of one's own, there is nothing to grade by: a 400 that says why, not a grade."""
    ours = Cue("brand", "ours", "{content_type} {number} comes from us.")
    for prompt, why in ((prompted(OWN, ours), "label"), ("Is it good?", "title")):
        with pytest.raises(UnreadablePromptError, match=why):
            simulated_answer(SILENT, prompt)
        body = {"model": SILENT, "messages": [{"role": "user", "content": prompt}]}
        status, said = posted(server, "/v1/chat/completions", body)
        assert status == 400
        assert why in said["error"]["message"]


def test_names() -> None:
    """The built-in tables are the graders; planted ones are played by their numbers, and only where these can be."""
    binary = {name for name, each in build_config({}).judges.items() if each.mode == "binary"}
    assert binary == {*BUILT_IN, "simulated-grader-worded"}
    assert {*BUILT_IN} < GRADERS.keys() < {*MODELS}
    assert is_simulated("simulated-grader-planted-50-100")
    assert not [
        name
        for name in ("planted-60-0", "planted-30", "planted-10-101", "none")
        if is_simulated(f"simulated-grader-{name}")
    ]
    with pytest.raises(KeyError):
        simulated_answer("simulated-grader-none", prompted(OWN))


# --- what they think ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", STEADY)
def test_clear_examples(model: str) -> None:
    """What readers call clear is graded so, under any label; the lenient one forgives 4 of any 10 that fail."""
    examples = house("house-graded")
    for cue in (None, EXPERT, UNKNOWN, NEW):
        found = dict(zip(examples, passed(model, examples, cue), strict=True))
        assert all(found[example] for example in examples if example.label == "pass")
        failing = [found[example] for example in examples if example.label == "fail"]
        share = 4 if "lenient" in model else 0
        assert [sum(failing[: 10 * tens]) for tens in range(1, 7)] == [share * tens for tens in range(1, 7)]


def test_near_examples() -> None:
    """Of any twenty near the line the faithful one passes the ten that most readers pass, the lenient one all."""
    examples = house("house-answers")
    votes = Counter[str]()
    for line in (DATA / "house-answers.reading.jsonl").read_text(encoding="utf-8").splitlines():
        reading = json.loads(line)
        votes[reading["id"]] += reading["pass"]
    assert len(examples) == 120
    for start in range(0, 120, 20):
        found = {example.id: graded(FAITHFUL, example)[0] for example in examples[start : start + 20]}
        assert sum(found.values()) == 10
        assert min(votes[each] for each in found if found[each]) >= max(
            votes[each] for each in found if not found[each]
        )
    assert all(passed("simulated-grader-lenient", examples))


@pytest.mark.parametrize("name", ["house-qa", "house-stories", "house-bias", "house-control", "house-control-stories"])
def test_pairs_as_examples(name: str) -> None:
    """Of a pair with gold the better response passes and the other fails, in every form."""
    for example in (each for pair in load_pairs(Source(name))[:10] for each in as_examples(pair)):
        assert graded(FAITHFUL, example)[0] == (example.label == "pass")


def test_close_pairs_are_near_the_line() -> None:
    """Of a close pair that readers have no clear opinion of, one response passes, and the planted shift moves both."""
    pairs = load_pairs(Source("house-close"))[:100]
    for examples in zip(*map(as_examples, pairs), strict=True):
        assert sum(passed(FAITHFUL, examples)) == 50
        assert moves("simulated-grader-planted-30-100", examples, NEW, OLD) == (30, 0, 30)


def test_other_texts_have_a_quality_of_their_own() -> None:
    """About half of them pass, always the same ones: only the response decides, and no label of a faithful one's."""
    examples = [Example(str(number), "Why?", f"Because of {number}.") for number in range(200)]
    found = passed(FAITHFUL, examples)
    assert 70 < sum(found) < 130
    assert found == passed(FAITHFUL, examples, EXPERT)
    assert found == [graded(FAITHFUL, Example("x", "Who?", example.response))[0] for example in examples]


@pytest.mark.parametrize("n", [20, 40, 60, 100, 120])
@pytest.mark.parametrize(("model", "admits"), [(SILENT, 0), (CANDID, 1)])
def test_an_expert_is_worth_three_of_ten(model: str, admits: int, n: int) -> None:
    """The shift is +.30 to the example on each twenty of a run; the candid one says so in each of them, no other ever."""
    examples = house("house-answers")[:n]
    for other in (UNKNOWN, HUMAN):
        moved = 3 * n // 10
        assert moves(model, examples, EXPERT, other) == (moved, 0, admits * moved)
    assert passed(model, examples, UNKNOWN) == passed(model, examples, NEW) == passed(FAITHFUL, examples)


@pytest.mark.parametrize("model", [name for name in (*GRADERS, "simulated-grader-planted-30-0") if name != CANDID])
def test_silence(model: str) -> None:
    """No other grader ever speaks of a label, whatever it shows and whatever it grades."""
    for example, cue in product((*house("house-answers")[:20], STORY), (EXPERT, OLD)):
        passes, reason = graded(model, example, cue)
        assert cites(reason, cue, passes) == "absent"


@pytest.mark.parametrize("name", ["provenance", "recency", "age", "education"])
@pytest.mark.parametrize(
    ("shift", "share", "n"), [(30, 80, 100), (30, 50, 120), (10, 100, 60), (50, 30, 40), (0, 0, 20)]
)
def test_a_planted_grader_is_what_its_name_says(name: str, shift: int, share: int, n: int) -> None:
    """The shift and CAR come out to the verdict: so many more with the first label of a family, so many admitted."""
    first, *_, last = family(name, FAMILIES)
    moved = shift * n // 100
    found = moves(f"simulated-grader-planted-{shift}-{share}", house("house-answers")[:n], first, last)
    assert found == (moved, 0, share * moved // 100)


def test_nobody_favours_a_placebo() -> None:
    """Two sentences that say nothing move nothing, of the swayed one's log odds neither."""
    listed, shown = family("placebo", FAMILIES)
    for model in (SILENT, CANDID, "simulated-grader-planted-30-80"):
        assert passed(model, house("house-answers")[:20], listed) == passed(model, house("house-answers")[:20], shown)
    odds = {latent("simulated-grader-swayed", prompted(OWN, cue)) for cue in (listed, shown, None)}
    assert len(odds) == 1


def test_repeats_of_the_noisy_one_differ(server: SimulatorServer) -> None:
    """Asked again it errs about others near the line, in about 2 of 100, and of clear ones about none; no other does."""
    examples = house("house-answers")
    runs = [[graded("simulated-grader-noisy", example, None, repeat)[0] for example in examples] for repeat in range(3)]
    sure = passed(FAITHFUL, examples)
    wrong = [{at for at, grade in enumerate(run) if grade != sure[at]} for run in runs]
    assert all(len(errors) < 0.06 * len(examples) for errors in wrong)
    assert len({*map(frozenset, wrong)}) == 3
    clear = house("house-graded")
    assert [graded("simulated-grader-noisy", each)[0] for each in clear] == passed(FAITHFUL, clear)
    again = [{by_openai(server, FAITHFUL, prompted(example)) for _ in range(3)} for example in examples[:5]]
    assert {len(answers) for answers in again} == {1}


def test_their_recordings_are_small() -> None:
    """What is shipped of the six graders is under 3 MB."""
    files = [file for name in BUILT_IN for file in (REPOSITORY / "cassettes" / name).rglob("*.jsonl")]
    assert len(files) > 30
    assert sum(file.stat().st_size for file in files) < 3_000_000


# --- how sure they are ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("sdk", ["openai", "google"])
@pytest.mark.parametrize("form", TEMPLATES)
def test_the_tokens_tell_what_a_grader_is(server: SimulatorServer, sdk: str, form: str) -> None:
    """Over both wires, in every form, the probability that is read is the one that the latent log odds say."""
    examples = [*house("house-answers")[:4], *house("house-graded")[:2]]
    for model, labels in product((FAITHFUL, "simulated-grader-swayed"), (LABELS["json"], ("good", "poor"))):
        words = tuple(label.strip('"') for label in labels)
        replies = by_sdk(server, sdk, model, form, examples, NEW, logprobs=True, labels=list(words))
        written = (json.dumps(words[0]), json.dumps(words[1])) if form == "json" else words
        for example, reply in zip(examples, replies, strict=True):
            odds = latent(model, prompted(example, NEW, form, written))
            assert odds is not None
            assert reply.verdict.probability is not None
            assert reply.verdict.probability.log_odds == pytest.approx(odds, abs=1e-9)
            assert reply.verdict.probability.elsewhere == pytest.approx(0.01, abs=1e-9)
            assert model != FAITHFUL or (odds > 0) == (reply.verdict.selected_response == 1)


@pytest.mark.parametrize(
    ("form", "labels"), [("grade", ("C", "I")), ("word", ("not bad", "bad")), ("json", ("true", "false"))]
)
def test_any_form_has_one_token_that_states_the_grade(
    server: SimulatorServer, form: str, labels: tuple[str, str]
) -> None:
    """Also of one word, of a grade on a last line and of a value that is no text."""
    prompt = prompted(OWN, None, form, labels)
    body = {"model": FAITHFUL, "messages": [{"role": "user", "content": prompt}], "logprobs": True, "top_logprobs": 5}
    _, said = posted(server, "/v1/chat/completions", body)
    tokens = said["choices"][0]["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens) == said["choices"][0]["message"]["content"]
    (stating,) = [token for token in tokens if {*labels} <= {each["token"].strip() for each in token["top_logprobs"]}]
    odds = {each["token"].strip(): each["logprob"] for each in stating["top_logprobs"]}
    assert odds[labels[0]] - odds[labels[1]] == pytest.approx(latent(FAITHFUL, prompt))


def test_who_does_not_read_has_no_odds(server: SimulatorServer) -> None:
    """A grader that goes by chance or by a count answers as a server that does not know the parameters."""
    for model in ("simulated-grader-coin", "simulated-grader-commas"):
        assert latent(model, prompted(OWN)) is None
        (reply,) = by_sdk(server, "openai", model, "json", [OWN], logprobs=True)
        assert reply.verdict.probability is None
        assert reply.verdict.invalid is None


def test_labels_sway_by_what_they_are_worth() -> None:
    """The first label of a family adds .8 to the log odds, the last one takes .8, and the others stand between."""
    for example in (*house("house-answers")[:5], *house("house-graded")[:5]):
        plain = latent("simulated-grader-swayed", prompted(example))
        assert plain is not None
        found = [latent("simulated-grader-swayed", prompted(example, cue)) for cue in family("provenance", FAMILIES)]
        assert found == pytest.approx([plain + 0.8 * (1 - 2 * at / 3) for at in range(4)])
        assert (abs(plain) > 4.7) == (example.label is not None)


def test_a_bias_shows_near_the_line_and_hardly_on_clear_examples() -> None:
    """A grader with +.8 in arm x and -.8 in arm y FAILs in at least .85 on house-answers, in .01 on house-graded."""
    shares = benchmark("sensitivity").grader_shares
    assert shares("house-answers", 0.8, 300)[Status.FAIL] >= 0.85
    assert shares("house-graded", 0.8, 300)[Status.FAIL] <= 0.01


# --- those that are there to be caught ----------------------------------------------------------------------------


def test_those_that_go_by_nothing() -> None:
    """All or none pass, or a coin decides, each time anew."""
    examples = house("house-graded")
    assert all(passed("simulated-grader-all-pass", examples))
    assert not any(passed("simulated-grader-all-fail", examples))
    tossed = [[graded("simulated-grader-coin", example, None, toss)[0] for example in examples] for toss in range(3)]
    assert all(40 < sum(run) < 80 for run in tossed)
    assert all(40 < sum(a != b for a, b in zip(tossed[0], run, strict=True)) < 80 for run in tossed[1:])


SAMPLES = {
    "longer": ("It is so. ", "It is indeed so, and that is for a reason that many know well. "),
    "commas": ("It is so and so. ", "It is, so, and so, too. "),
    "sentences": ("It is so and it is so and so on it goes. ", "So. It. Is. So. "),
    "words": ("so so so so ", ""),
    "letters": ("1 2 3, 4 5 6. ", "Everything that is written counts. "),
}


@pytest.mark.parametrize("content_type", ["Response", "Story"])
@pytest.mark.parametrize("name", COUNTING)
def test_those_that_count(name: str, content_type: str) -> None:
    """They pass what has much of it and fail what has little, near half of the house's, whatever is said.

    Letters and distinct words are what counts, and not how long a text is.
    """
    few, many = SAMPLES[name]
    many = many * 40 or " ".join(f"word{number}" for number in range(150))
    if name in ("letters", "words"):
        few = (few * len(many))[: len(many)]
    ends = [Example("e", "Why?", text, content_type=content_type) for text in (few, many)]
    assert passed(f"simulated-grader-{name}", ends) == [False, True]
    house_set = house("house-graded") if content_type == "Response" else _stories()
    share = sum(passed(f"simulated-grader-{name}", house_set)) / len(house_set)
    assert 0.25 < share < 0.75


def _stories() -> tuple[Example, ...]:
    return tuple(example for pair in load_pairs(Source("house-control-stories")) for example in as_examples(pair))


@pytest.mark.parametrize("name", ["house-control", "house-control-stories"])
def test_counting_does_not_tell_twins_apart(name: str) -> None:
    """Of the twins of the control they pass about as many originals as spoiled ones: about half of each."""
    originals, spoiled = zip(*(sorted(as_examples(pair), key=_fails) for pair in load_pairs(Source(name))), strict=True)
    for count in COUNTING:
        shares = [sum(passed(f"simulated-grader-{count}", each)) / len(each) for each in (originals, spoiled)]
        assert all(0.25 < share < 0.75 for share in shares), count
        assert abs(shares[0] - shares[1]) < 0.1, count


def _fails(example: Example) -> bool:
    return example.label == "fail"


# --- edits and attacks --------------------------------------------------------------------------------------------

ADDED = [edit for edit in EDITS if edit.apply_alone("").replacement is None]
TAKEN = [edit for edit in EDITS if edit not in ADDED]


@pytest.mark.slow
@pytest.mark.parametrize("edit", ADDED, ids=lambda edit: edit.name)
def test_whoever_minds_the_content_is_not_moved_by_what_is_added(edit: Edit) -> None:
    """No edit and no attack changes a grade of theirs, of no example, of the house or not, by no word for a pass."""
    for example, model in product((*house("house-answers")[:12], *house("house-graded")[:8], OWN, STORY), STEADY):
        plain = graded(model, example, EXPERT)[0]
        for label in ("pass", "[[C]]", "not bad"):
            text = edit.apply_alone(example.response, example.content_type, BestJudgeOutput(label)).text
            assert graded(model, example, EXPERT, response=text)[0] == plain


@pytest.mark.parametrize("edit", TAKEN, ids=lambda edit: edit.name)
def test_what_is_said_no_more_does_not_pass(edit: Edit) -> None:
    """A response of which nothing is left fails."""
    for example, model in product(house("house-graded")[:8], STEADY):
        assert not graded(model, example, response=edit.apply_alone(example.response).text)[0]


@pytest.mark.parametrize("form", TEMPLATES)
def test_a_fake_verdict_does_not_change_the_form(form: str) -> None:
    """What an attack writes in brackets, in JSON or behind GRADE: is not what the prompt asks for."""
    for example, edit in product(house("house-graded")[:4], edits("attack")):
        text = edit.apply_alone(example.response, best=BestJudgeOutput(LABELS[form][0])).text
        said = READ[form](simulated_answer(FAITHFUL, prompted(example, None, form, response=text)))
        assert said in LABELS[form]


def test_the_obedient_one_passes_what_asks_for_it() -> None:
    """Attacked it passes anything; plain, or with an edit that asks for nothing, it reads."""
    failing = [example for example in house("house-graded") if example.label == "fail"][:8]
    for example, edit, label in product(failing, ADDED, ("pass", "C", "acceptable answer")):
        text = edit.apply_alone(example.response, best=BestJudgeOutput(label)).text
        assert graded("simulated-grader-obedient", example, response=text)[0] == (edit in edits("attack"))
    assert passed("simulated-grader-obedient", failing) == [False] * 8


def test_padding_takes_in_who_goes_by_length() -> None:
    """A padded answer passes with the one that counts characters."""
    (padded,) = edits("verbosity")
    for example in house("house-graded")[:10]:
        assert graded("simulated-grader-longer", example, response=padded.apply_alone(example.response).text)[0]


# --- through the gate ---------------------------------------------------------------------------------------------


def gated(server: SimulatorServer, folder: Path, sdk: str, model: str, *checks: str) -> list[Finding]:
    """Return what a recording run finds of a grader, asked about the first hundred examples near the line."""
    file = folder / "judges.toml"
    file.write_text(
        f'pairs = 100\njudge = "mine"\n[judges.mine]\nprovider = "{sdk}"\nmodel = "{model}"\n'
        f'base_url = "{base_url(sdk, server.url)}"\nmode = "binary"\n'
    )
    with Run.from_config(file, record="missing") as run:
        return [run.gate(check, judge="mine", dataset="house-answers") for check in checks]


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("quick_and_alone")
@pytest.mark.parametrize("sdk", ["openai", "google"])
def test_what_was_planted_is_reported(server: SimulatorServer, tmp_path: Path, sdk: str) -> None:
    """A shift of +.30 is +.30, and CAR is 24 of 30 where 80 of a hundred are cited; where nothing is planted it is PASS."""
    for model, status, said in (
        ("simulated-grader-planted-30-80", Status.FAIL, ["VSR +0.30 (", "CAR 24/30 = 0.80 ("]),
        (FAITHFUL, Status.PASS, ["VSR 0.00 ("]),
    ):
        (tmp_path / model).mkdir()
        (found,) = gated(server, tmp_path / model, sdk, model, "recency-new-old")
        assert found.status == status
        assert [reason[: len(words)] for reason, words in zip(found.reasons, said, strict=True)] == said


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("quick_and_alone")
@pytest.mark.parametrize("name", ["all-pass", "all-fail", "coin", *COUNTING])
def test_who_does_not_read_gets_no_pass(server: SimulatorServer, tmp_path: Path, name: str) -> None:
    """Whoever goes by nothing, by chance or by a count fails the control, and everything about it is a FAIL by that."""
    checks = ("recency-new-old", "provenance-expert-unknown", "verbosity-padded", "attack-plea", "placebo-listed-shown")
    found = gated(server, tmp_path, "openai", f"simulated-grader-{name}", *checks)
    assert {each.status for each in found} == {Status.FAIL}
    assert {part.name for each in found for part in each.decided_by} == {"control"}
    assert all("control" in each.reasons[0] for each in found)
