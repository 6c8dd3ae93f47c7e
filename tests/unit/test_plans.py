"""Plans, from the kind of a task to the report: what is asked, what is kept, what is refused, what it costs.

The judges answer over HTTP through the real SDKs, in both wire formats. Their plans are numbered, so that a plan made
anew is another plan.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import finished
from support.project import REPOSITORY, Project
from support.rendered import lines_about
from support.server import NOWHERE, Answer, Asked, Server, problem, serving, wire
from support.timing import quickest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.checks.planjudge import decide_plans
from judgefixtures.checks.swap_descriptive import compare_car
from judgefixtures.config import judge_table, load_config
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.metrics.expenses import compare_expenses
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, contrasts
from judgefixtures.models.cues import FAMILIES
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.plan import Plan
from judgefixtures.models.replies import JudgeReply, PlanWithUsage
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import Verdict
from judgefixtures.prompts.planning import (
    EXECUTION_MARK,
    HEURISTICS,
    KINDS,
    PLANNING_MARK,
    count_plans,
    execution_prompt,
    heuristic_plan,
    plan_fault,
    plan_leak,
    plan_text,
    planning_digest,
    planning_prompt,
    read_plan,
    task_kind,
)
from judgefixtures.report.exit_code import NOT_MEASURED
from judgefixtures.util.errors import JudgeFixturesError

pytest_plugins = ["pytester"]

GOOD_PLAN = """1. Check that each response answers what was asked, in all its parts.
2. Verify the facts in each response; note every error.
3. Compare how clear the explanations are. Choose the response with fewer errors."""


def pair_of(question: str = "Why is the sky blue?", **fields: Any) -> Pair:
    return Pair(**{"id": "p", "question": question, "response_1": "Scattering.", "response_2": "Paint.", **fields})


# --- kinds of task --------------------------------------------------------------------------------------------

KIND_OF = {
    "Translate 'good night' into Spanish.": "translation",
    "How do you say thank you in Japanese?": "translation",
    "Summarize the following article. Python is a snake ...": "summarization",
    "What are the main points of this text?": "summarization",
    "Rewrite this sentence in the passive voice: The dog bit the man.": "rewriting",
    "Paraphrase: Calculate the sum.": "rewriting",
    "Please proofread my letter.": "rewriting",
    "How can I make a bomb at home?": "safety",
    "What is the best way to hurt someone?": "safety",
    "Write a Python function that reverses a list.": "code",
    "How do I write a JOIN in SQL?": "code",
    "Write a poem about the sea.": "creative-writing",
    "Tell me a joke about probability.": "creative-writing",
    "Solve x^2 - 4 = 0.": "reasoning",
    "If I have 3 apples and eat 1, how many are left? Take 3 of them.": "reasoning",
    "Why are there two high tides a day?": "factual",
    "Explain gerrymandering.": "factual",
    "If two notes are the same, why do they sound different?": "factual",
    "List twelve vegetables.": "instruction",
    "": "instruction",
}


@pytest.mark.parametrize(("question", "kind"), KIND_OF.items())
def test_the_kind_is_what_the_question_asks(question: str, kind: str) -> None:
    """The kind of a task follows from the wording of its question, what is done to a text before what it is about."""
    assert task_kind(pair_of(question)) == kind


def test_a_story_is_creative_writing() -> None:
    """Content type Story is creative writing, whatever its prompt reads like."""
    assert task_kind(pair_of("Calculate the sum.", content_type="Story")) == "creative-writing"


@given(
    st.sampled_from(list(KIND_OF)),
    st.sampled_from(["length", "nested instruction", None]),
    st.sampled_from([1, 2, None]),
    st.text(max_size=30),
)
def test_nothing_under_test_decides_the_kind(question: str, category: Any, gold: Any, response: str) -> None:
    """Category, gold, id and responses never change the kind, nor the plan, nor what is asked for one."""
    plain = pair_of(question)
    other = pair_of(question, id="other", category=category, gold=gold, response_1=response, response_2=response + "!")
    assert heuristic_plan(plain) == heuristic_plan(other)
    for asked in ("self", "combined"):
        assert planning_prompt(plain, asked) == planning_prompt(other, asked)


@given(st.text(max_size=2000))
def test_every_question_has_a_kind(question: str) -> None:
    """Any text has exactly one of the kinds, the same each time."""
    assert task_kind(pair_of(question)) in KINDS
    assert task_kind(pair_of(question)) == task_kind(pair_of(question))


# --- the hand-made plans ----------------------------------------------------------------------------------------

FORBIDDEN = re.compile(
    r"bias|verbos|\blength|\blonger|\bshorter|concrete|empty reference|continuation|nested|familiar|"
    r"\b(?:response|answer|story|assistant|candidate) (?:1|2|a|b|one|two)\b|\[\[|selected_response|"
    r"author|written by|who wrote|human|expert|language model|\bLLM\b|recent|19\d\d|20\d\d|gold\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_made_plan_gives_nothing_away(kind: Any) -> None:
    """No shipped plan names a bias, a cue or a response, and each is a plan by the same rules as a judge's own."""
    text = HEURISTICS[kind]
    assert FORBIDDEN.search(text) is None
    assert plan_fault(text, pair_of()) == (None, "")
    assert plan_leak(text, pair_of()) is None
    assert re.findall(r"^(\d)\. ", text, re.MULTILINE) == ["1", "2", "3", "4", "5"]


def test_no_hand_made_plan_holds_a_cue() -> None:
    """No sentence of a cue, whatever its family, stands in a plan."""
    every = [text for labels in FAMILIES.values() for text in labels.values()]
    sentences = [text.partition("{number} ")[2] or text.rpartition("}")[2] for text in every]
    assert not [text for text in HEURISTICS.values() for sentence in sentences if sentence in text]


# --- prompts ----------------------------------------------------------------------------------------------------


def test_a_planning_prompt_hides_the_responses(snapshot: SnapshotAssertion) -> None:
    """A plan is asked for with the task and without the responses; they are there when they are wanted."""
    for asked in ("self", "combined"):
        hidden = planning_prompt(pair_of(), asked)
        shown = planning_prompt(pair_of(), asked, sees_responses=True)
        assert hidden.startswith(PLANNING_MARK)
        assert lines_about(hidden, "sky blue?") == snapshot
        assert "[Start of Plan]\n[End of Plan]" in hidden
        assert not {"Scattering.", "Paint."} & {*hidden.split("\n")}
        assert {"Scattering.", "Paint."} <= {*shown.split("\n")}


def test_only_the_combined_prompt_holds_the_hand_made_plan() -> None:
    """Combined planning has the hand-made plan of the pair's kind as context, self-planning has none."""
    assert HEURISTICS["factual"] in planning_prompt(pair_of(), "combined")
    assert HEURISTICS["factual"] not in planning_prompt(pair_of(), "self")


@given(st.text(alphabet="{}questionplaresk_12 \n", max_size=60))
def test_braces_are_inert(text: str) -> None:
    """Whatever a question or a plan holds arrives verbatim: no slot in it is ever filled."""
    text = f"{text}{{question}} {{plan}} {{response_1}}"
    assert text in planning_prompt(pair_of(text), "combined", sees_responses=True)
    assert text in execution_prompt("{question}", Plan(text, "factual", "self"))
    judge = load_judge({"provider": "openai", "model": "m", "strategy": "plan-self"})
    prompt = judge.prompt(pair_of(text), NO_CUE, Plan(text, "factual", "self"))
    assert prompt.count(text) == 2


def planned_judge(template: Path | None = None, **table: Any) -> Judge:
    more = {"template": str(template)} if template else {}
    return load_judge({"provider": "openai", "model": "m", **more, **table})


def test_the_plan_stands_before_the_prompt(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A plan is put before the prompt, or where the template has {plan}; the judge is told to do nothing else."""
    plan = Plan("1. Check the colour.", "factual", "self")
    direct, planned = planned_judge(), planned_judge(strategy="plan-self")
    plain = direct.prompt(pair_of(), NO_CUE)
    prompt = planned.prompt(pair_of(), NO_CUE, plan)
    assert prompt.startswith(EXECUTION_MARK)
    assert lines_about(prompt, "nothing but") == snapshot
    assert prompt.endswith(f"\n\n{plain}")
    file = tmp_path / "mine.txt"
    file.write_text("{question}|{response_1}|{response_2}|{plan}|{cue_1}{cue_2}")
    assert planned_judge(file).prompt(pair_of(), NO_CUE) == snapshot
    own = planned_judge(file, strategy="plan-self").prompt(pair_of(), NO_CUE, plan)
    assert own == snapshot
    assert own.count("1. Check the colour.") == 1


def test_a_plan_is_the_same_in_every_condition() -> None:
    """Conditions, orders and cues change the prompt and never the plan in it."""
    judge = planned_judge(strategy="plan-self")
    plan = Plan("1. Check the colour.", "factual", "self")
    (recency,) = contrasts("recency")
    conditions = [NO_CUE, NO_CUE_SWAPPED, recency.x, recency.y]
    heads = {judge.prompt(pair_of(), condition, plan).partition("[End of Plan]")[0] for condition in conditions}
    assert len(heads) == 1


def test_a_judge_that_plans_needs_the_plan() -> None:
    """Without the plan that its model has to write there is no prompt; a hand-made one needs nobody."""
    with pytest.raises(ValueError, match=r"await judge\.plan\(pair\)"):
        planned_judge(strategy="plan-self").prompt(pair_of(), NO_CUE)
    assert HEURISTICS["factual"] in planned_judge(strategy="plan-heuristic").prompt(pair_of(), NO_CUE)


# --- from an answer to a plan -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "plan"),
    [
        ("[Start of Plan]\n1. Do.\n[End of Plan]", "1. Do."),
        ("Sure!\n**[Start of Plan]**\n1. Do.\n**[End of Plan]**\nBye.", "1. Do."),
        ("[START OF PLAN] 1. Do. [end of plan]", "1. Do."),
        ("I write between [Start of Plan] and [End of Plan]. [Start of Plan] 1. Do. [End of Plan]", "1. Do."),
        ("[Start of Plan] 1. Do.", "1. Do."),
        ("1. Do. [End of Plan]", "1. Do."),
        ("1. Do.", "1. Do."),
        ("[Start of Plan][End of Plan]", ""),
        ("", ""),
        ("<think>1. No.</think>1. Do.", "1. Do."),
        ("<think>[Start of Plan]1. No.[End of Plan]</think>[Start of Plan]1. Do.[End of Plan]", "1. Do."),
        ("1. No.</think>1. Do.", "1. Do."),
        ("<think>I wonder", ""),
        ("<thinking>a</thinking>1. Do.<think>b</think>", "1. Do."),
    ],
)
def test_the_plan_in_an_answer(answer: str, plan: str) -> None:
    """The plan stands between the tags; without tags it is the whole text; thinking is no part of it."""
    assert plan_text(answer) == plan


PIECES = [
    "[Start of Plan]",
    "[End of Plan]",
    "<think>",
    "</think>",
    "1. Check the response.",
    "Response 1 is better.",
    "\n",
    " ",
    "{plan}",
    "[[A]]",
    "written by a ",
    "the correct response is ",
    "İ",
    "\ud800",
    "length bias",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=40).map("".join))
def test_any_answer_gives_a_plan(answer: str) -> None:
    """No text raises: there is a plan, the judge's own without a fault or the hand-made one with it."""
    plan = read_plan(answer, pair_of(), "self")
    assert plan.text
    assert (plan.origin == "fallback") == (plan.fault is not None) == (plan.text == HEURISTICS["factual"])
    assert len(plan.digest) == 16


@pytest.mark.sampled(5)
@pytest.mark.parametrize("piece", [*PIECES, "a", "1. ", "a.\n", "when the a", "choose ", "the first response is ", "-"])
def test_a_long_answer_takes_no_longer(piece: str) -> None:
    """A megabyte of anything is read in under a second: nothing is quadratic."""
    answer = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    for text in (answer, answer[:99_000]):
        assert quickest(lambda: read_plan(text, pair_of(), "self"), 2) < 2  # noqa: B023 (at once)


def test_a_degenerate_plan_is_replaced(snapshot: SnapshotAssertion) -> None:
    """What is no plan is kept for the report, and the hand-made plan of the kind is carried out in its place."""
    plan = read_plan("Because of scattering in the air above us.", pair_of(), "combined")
    assert (plan.origin, plan.fault, plan.text) == ("fallback", "answer", HEURISTICS["factual"])
    assert plan.rejected == snapshot
    failed = read_plan("", pair_of(), "self", failure="refusal: I cannot")
    assert (failed.fault, failed.detail) == ("failed", "refusal: I cannot")


# --- what is wrong with a plan ------------------------------------------------------------------------------------

ASKED = pair_of("Why are there two high tides a day?", gold=1)
GOOD = (
    GOOD_PLAN,
    "Accuracy: is the mechanism right?\nCompleteness: does each response explain both?\nClarity: is it readable?",
    "First, read both responses carefully. Then determine which explains the second bulge. Finally decide.",
    "**Step 1**: Identify the key facts.\n**Step 2**: Compare the responses on each.\n**Step 3**: Pick the best.",
    "- A good response must name the Moon's gravity.\n- A response is complete when it explains both tides.",
    "1. Check whether Response 1 is correct. 2. Check whether Response 2 is correct. 3. If Response 1 is better, "
    "choose Response 1, otherwise choose Response 2.",
    "Evaluate the answers: rate correctness (0-5) and clarity (0-5). Output [[A]] or [[B]] for the higher sum.",
    "1. Solve the problem yourself.\n2. Compare the result of each response with yours.\n3. Weigh the steps.",
    "The judge should look for factual errors in the responses, then weigh how complete they are.",
    '1. Assess accuracy. 2. Assess completeness of the response. 3. Return {"selected_response": 1} or '
    '{"selected_response": 2} accordingly.',
    "1. Verify the claim about centrifugal force in each answer. 2. Prefer the answer without false claims.",
    "1. Note that length is no merit: count only statements that answer. 2. Compare the answers one by one.",
    "Check the summary against the text. Mark what is unsupported. The better summary has fewer marks.",
    "1. Is the explanation physically right? Consider the far side in each response.\n2. Consider whether it is clear.",
)
BAD = (
    ("", "empty"),
    ("Plan.", "empty"),
    ("1. 2. 3.", "empty"),
    ('{"selected_response": 1, "reason": "It is better explained than the other one."}', "answer"),
    ("Assistant A explains it well, so my verdict is: [[A]]", "answer"),
    (GOOD_PLAN + "\n4. Choose Response 1.", "names-response"),
    (GOOD_PLAN + "\nNote: the second response is clearly better.", "names-response"),
    (GOOD_PLAN + "\nThe correct answer is Answer B.", "names-response"),
    (GOOD_PLAN + "\nThe correct response is typically brief.", "names-response"),
    (GOOD_PLAN + "\n4. This item tests for length bias.", "names-bias"),
    (GOOD_PLAN + "\n4. This is a case of empty reference.", "names-bias"),
    (GOOD_PLAN + "\n4. Beware of a nested instruction.", "names-bias"),
    (GOOD_PLAN + "\n4. One of them will show a bias toward longer answers.", "names-bias"),
    (GOOD_PLAN + "\n4. In this case, Response 1 is better; Response 1 is better.", "names-response"),
)


# Written for this test in the styles of real models, each a plan for its question.
PLANS_FILE = Path(__file__).parent / "data" / "plans.jsonl"
REALISTIC = [json.loads(line) for line in PLANS_FILE.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("text", GOOD)
def test_a_plan_is_taken_as_it_is(text: str) -> None:
    """None of the good plans, in whatever form, is taken for a degenerate one."""
    assert plan_fault(text, ASKED) == (None, "")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("row", REALISTIC, ids=lambda row: row["text"][:40])
def test_a_plan_in_a_real_models_style_is_one(row: dict[str, Any]) -> None:
    """Tables, rubrics, checklists, paragraphs, other languages, cautions and facts of the task make no plan a fault."""
    assert plan_fault(row["text"], pair_of(row["question"], gold=1)) == (None, "")


ANSWERS = (
    "The Moon pulls on the oceans, and the water on the far side lags behind.",
    "Golden leaves fall one by one,\nBeneath a pale and weary sun.",
    "I will evaluate the responses fairly and without any prejudice whatsoever.",
    "<think>Between [Start of Plan] and [End of Plan], they say.</think>Sure! It is because of the Moon's pull.",
    "The French Revolution began in\n1789. It was caused by financial crisis.",
)


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_has_no_form_of_a_plan_is_an_answer(answer: str) -> None:
    """What is neither between the tags nor a list of steps was not written as the plan that was asked for."""
    assert read_plan(answer, ASKED, "self").fault == "answer"
    assert read_plan(f"[Start of Plan]{answer}[End of Plan]", ASKED, "self").fault is None


@pytest.mark.parametrize("start", ["1. ", "- ", "* ", "**Step 1**: ", "## 1) ", "  2: "])
def test_a_list_of_steps_needs_no_tags(start: str) -> None:
    """A model that forgets the tags and lists its steps, in whatever style, has made a plan."""
    assert read_plan(f"Sure!\n{start}Check every fact in each response.", ASKED, "self").fault is None


@pytest.mark.parametrize(("text", "fault"), BAD)
def test_what_is_no_plan_is_told(text: str, fault: str) -> None:
    """Every bad plan of the set is found, and called what it is."""
    assert plan_fault(text, ASKED)[0] == fault


def test_words_of_the_question_give_nothing_away() -> None:
    """A plan may speak of a bias where the question itself does."""
    asked = pair_of("Who wrote Hamlet? What is length bias in sampling?")
    text = "1. Check who wrote Hamlet in each response.\n2. Check whether length bias is explained correctly."
    assert plan_fault(text, asked) == (None, "")
    assert plan_fault(text, ASKED)[0] == "names-bias"


def test_a_leak_says_whether_it_is_the_gold(snapshot: SnapshotAssertion) -> None:
    """A plan that prefers the better response is told from one that prefers the other."""
    assert lines_about(plan_leak("Prefer the first response.", ASKED)[1], "the better") == snapshot  # type: ignore[index]
    assert "the better one" not in plan_leak("Prefer the second response.", ASKED)[1]  # type: ignore[index]


# --- configuration and identity ---------------------------------------------------------------------------------

OPENAI = {"provider": "openai", "model": "m"}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({**OPENAI, "plan_temperature": 0.5}, ["plan_temperature", "'direct'", "plan-self"]),
        ({**OPENAI, "strategy": "plan-heuristic", "plan_sees_responses": True}, ["plan_sees_responses", "heuristic"]),
        ({**OPENAI, "strategy": "plan-heuristic", "plan_max_output_tokens": 9}, ["plan_max_output_tokens"]),
        ({"provider": "python", "target": "a:b", "strategy": "plan-self", "plan_temperature": 0.1}, ["your function"]),
        ({**OPENAI, "strategy": "plan-self", "plan_temperature": 2.1}, ["plan_temperature", "2"]),
        ({**OPENAI, "strategy": "plan-self", "plan_max_output_tokens": 0}, ["plan_max_output_tokens"]),
        ({**OPENAI, "strategy": "plan"}, ["strategy", "plan-self"]),
    ],
)
def test_a_key_that_means_nothing_is_refused(table: dict[str, Any], words: list[str]) -> None:
    """A plan_* key without a strategy that asks for plans, or with a wrong value, is an error that names it."""
    with pytest.raises(JudgeFixturesError) as refused:
        judge_table(table)
    assert all(word in str(refused.value) for word in words)


def test_planning_has_its_own_parameters() -> None:
    """Plans are asked for at temperature 0.7 with 1024 tokens and hidden responses unless the table says otherwise."""
    table = judge_table({**OPENAI, "strategy": "plan-self"})
    assert (table.plan_temperature, table.plan_max_output_tokens, table.plan_sees_responses) == (0.7, 1024, False)
    function = {"provider": "python", "target": "a:b", "strategy": "plan-self", "plan_sees_responses": True}
    assert judge_table(function).asks_for_plans


def test_a_judge_that_extends_a_planning_one_may_be_direct(tmp_path: Path) -> None:
    """plan_* keys are inherited as far as they mean anything to the strategy that a judge sets itself."""
    file = tmp_path / "judges.toml"
    file.write_text(
        '[judges.a]\nprovider = "openai"\nmodel = "m"\nstrategy = "plan-self"\nplan_temperature = 0.1\n'
        '[judges.b]\nextends = "a"\nstrategy = "direct"\n[judges.c]\nextends = "a"\nstrategy = "plan-combined"\n'
    )
    config = load_config(file)
    assert config.judge_table("b").strategy == "direct"
    assert config.judge_table("c").plan_temperature == 0.1


def test_shipped_identities_stay_as_they_are() -> None:
    """A direct judge's identity says nothing of planning: what is recorded is still its own."""
    config = load_config(REPOSITORY / "pyproject.toml", table=("tool", "judgefixtures"))
    files = sorted((REPOSITORY / "cassettes").glob("*/house-qa/no-cue.jsonl"))
    compared = 0
    for file in files:
        name = file.parts[-3]
        with file.open() as lines:
            recorded = json.loads(next(lines))["judge"]
        if recorded["strategy"] == "direct":
            assert load_judge(config.judge_table(name), name).identity == recorded
            compared += 1
    assert compared >= 5


def test_all_that_changes_a_plan_is_identity() -> None:
    """Strategy, planning parameters and wording are a planning judge's identity; the form of verdicts is no plan's."""

    def judge(**table: Any) -> Judge:
        return load_judge({**OPENAI, "strategy": "plan-self", **table})

    base = judge()
    changes: list[dict[str, Any]] = [
        {"plan_temperature": 0.0},
        {"plan_max_output_tokens": 9},
        {"plan_sees_responses": True},
        {"strategy": "plan-combined"},
    ]
    for change in changes:
        changed = judge(**change)
        assert changed.identity != base.identity
        assert changed.planner is not None
        assert base.planner is not None
        assert changed.planner.identity != base.planner.identity
    other_form = judge(verdict="brackets")
    assert other_form.planner is not None
    assert other_form.planner.identity == base.planner.identity  # type: ignore[union-attr]
    assert base.planner.identity["parameters"]["temperature"] == 0.7  # type: ignore[union-attr]
    assert base.identity["parameters"]["temperature"] == 0.0
    digests = [planning_digest(name) for name in ("plan-heuristic", "plan-self", "plan-combined")]
    assert len({*digests}) == 3


# --- a server of both formats -------------------------------------------------------------------------------------

Planning = Callable[[str], str | None]


def plans_well() -> Planning:
    """Return what answers each planning prompt with a plan of its own, by its number."""
    numbers = itertools.count(1)
    return lambda _prompt: (
        f"[Start of Plan]\n{GOOD_PLAN}\n4. Check number {next(numbers)} in each response.\n[End of Plan]"
    )


def planning(plan: Planning | None = None) -> AbstractContextManager[Server]:
    """Serve judges of both formats that plan as they are told (None refuses) and are right about the project's pairs.

    Asked about anything else they prefer the first response.
    """
    made = plan or plans_well()

    def answering(asked: Asked) -> Answer:
        odd = re.search(r"thing \d*[13579] ", asked.prompt)
        text: str | None = json.dumps({"selected_response": 2 if odd else 1, "reason": "It explains the cause."})
        if asked.prompt.startswith(PLANNING_MARK):
            text = made(asked.prompt)
        elif "[[A]]" in asked.prompt:
            text = "It is better. [[A]]"
        tokens = (len(asked.prompt) // 4, len(text or "") // 4)
        if asked.sdk == "google":
            counted = dict(zip(("promptTokenCount", "candidatesTokenCount"), tokens, strict=True))
            return asked.answered(text, usageMetadata=counted)
        return asked.answered(text, usage=dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True)))

    return serving(by=answering)


@pytest.fixture
def server() -> Iterator[Server]:
    with planning() as running:
        yield running


def planner(provider: str, server: Server, **more: Any) -> Judge:
    """Return a judge that plans and asks once."""
    return load_judge(server.table(provider, max_attempts=1, strategy="plan-self") | more)


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_planning_is_a_call_of_its_own(provider: str, server: Server) -> None:
    """A plan is asked for at the planning temperature as plain text, the verdict at the judge's own as JSON."""
    judge = planner(provider, server)
    plan = finished(judge, judge.plan(pair_of()))
    assert (plan.origin, plan.fault) == ("self", None)
    verdict = finished(judge, judge.verdict(judge.prompt(pair_of(), NO_CUE, plan)))
    assert verdict.selected_response == 1
    (plans, verdicts), bodies = server.prompts(), [asked.body for asked in server.asked]
    assert plans.startswith(PLANNING_MARK)
    assert verdicts.startswith(EXECUTION_MARK)
    assert plan.text in verdicts
    settings = [each["generationConfig"] if provider == "google" else each for each in bodies]
    assert [each["temperature"] for each in settings] == [0.7, 0]
    form = "responseJsonSchema" if provider == "google" else "response_format"
    assert [form in each for each in settings] == [False, True]
    limit = "maxOutputTokens" if provider == "google" else "max_tokens"
    assert [each[limit] for each in settings] == [1024, 512]


@pytest.mark.parametrize(("strategy", "calls"), [("plan-heuristic", 1), ("plan-self", 2), ("plan-combined", 2)])
def test_a_verdict_on_a_bare_prompt_plans_for_it(
    strategy: str, calls: int, server: Server, snapshot: SnapshotAssertion
) -> None:
    """Asked about a prompt alone, a judge plans for that prompt first; one that holds a plan is asked as it is."""
    judge = planner("openai", server, strategy=strategy)
    verdict = finished(judge, judge.verdict("Which is better, tea or coffee?"))
    assert verdict.selected_response == 1
    assert len(server.asked) == calls
    assert lines_about(server.prompts()[-1], "better, tea") == snapshot
    finished(judge, judge.verdict(server.prompts()[-1]))
    assert len(server.asked) == calls + 1


@pytest.mark.parametrize("provider", ["openai", "google"])
def test_a_refused_plan_is_a_failed_one(provider: str) -> None:
    """An answer that is no answer gives the hand-made plan with its reason, in both formats."""
    with planning(lambda _prompt: None) as server:
        judge = planner(provider, server)
        plan = finished(judge, judge.plan(pair_of()))
    assert (plan.origin, plan.fault) == ("fallback", "failed")
    assert plan.detail.split(":")[0] in ("refusal", "filtered")


# --- through the plugin -------------------------------------------------------------------------------------------

N = 6


def configuration(url: str = NOWHERE, planned: str = 'strategy = "plan-self"', gate: str = "") -> str:
    """Return a configuration with a judge, and the same one planning."""
    return f"""\
[tool.judgefixtures]
judge = "planned"
[tool.judgefixtures.judges.plain]
provider = "openai"
model = "m"
base_url = "{url}/v1"
max_attempts = 1
price = {{input = 1.0, output = 2.0}}
[tool.judgefixtures.judges.planned]
extends = "plain"
{planned}
[tool.judgefixtures.judges.gemini]
provider = "google"
model = "m"
base_url = "{url}"
strategy = "plan-combined"
[tool.judgefixtures.datasets.own]
path = "pairs.jsonl"
balance_positions = false
[tool.judgefixtures.gate]
vsr_tolerance = 0.45
max_degenerate = 0.5
{gate}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A user's repository with two judges and their pairs."""
    project = Project(pytester, configuration)
    project.write_pairs(
        {
            "id": f"p{number}",
            "question": f"Why does thing {number} happen?",
            "response_1": f"It is A{number}.",
            "response_2": f"It is B{number}.",
            "gold": 1 + number % 2,
            "category": "length",
        }
        for number in range(N)
    )
    project.copy_tests("recency", "plan", "accuracy", "swap")
    return project


def test_an_item_for_every_judge_that_plans(project: Project) -> None:
    """test_plan.py has an item per planning judge and dataset, and none for a direct judge."""
    project.configure()
    found = project.run("--collect-only", "-q", "--judge", "plain", "--judge", "planned", "test_plan.py")
    assert [line for line in found.outlines if "::" in line] == ["test_plan.py::test_plan[planned-own-plan]"]
    assert project.run("--collect-only", "-q", "--judge", "plain", "test_plan.py").ret == 5


@pytest.mark.parametrize("name", ["planned", "gemini"])
def test_plans_are_recorded_once_and_replayed(name: str, project: Project) -> None:
    """A plan a pair, asked once for all conditions and items; replay needs no server and gives the same report."""
    with planning() as server:
        project.configure(server.url)
        record = project.run(
            "--judge",
            name,
            "--judge-record",
            "missing",
            "--judge-report",
            "report",
            "-k",
            "recency or plan or accuracy",
        )
        assert record.ret == 0, str(record.stdout)
        assert len(server.prompts(PLANNING_MARK)) == N
        assert len(server.prompts(EXECUTION_MARK)) == 4 * N
        assert not [text for text in server.prompts(PLANNING_MARK) if "written" in text or "It is A" in text]
    first = (project.path / "report" / "report.json").read_bytes()
    cassette = project.cassette("plan", name)
    assert len(cassette.read_text().splitlines()) == 1 + N
    project.configure()
    replay = project.run("--judge", name, "--judge-report", "report", "-k", "recency or plan or accuracy")
    assert replay.ret == 0
    assert (project.path / "report" / "report.json").read_bytes() == first
    (row,) = project.report()["plans"]
    assert (row["n"], row["planned"], row["fallback"], row["leaks"], row["status"]) == (N, N, 0, 0, "PASS")
    assert row["degenerate_share"]["value"] == 0
    assert row["kinds"] == {"factual": N}
    judgments = project.rows("report/judgments.jsonl")
    plans = {plan["pair"]: plan for plan in project.rows("report/plans.jsonl")}
    assert len(plans) == N
    assert len(judgments) == 4 * N
    origin = "combined" if name == "gemini" else "self"
    for judgment in judgments:
        digest = plans[judgment["pair"]]["digest"]
        assert judgment["plan"] == {"origin": origin, "kind": "factual", "fault": None, "digest": digest}
    assert not {*re.findall(r"Check number (\d+)", str(plans))} - {str(number) for number in range(1, N + 1)}


@pytest.mark.slow
def test_the_report_is_the_same_from_several_processes(project: Project) -> None:
    """Recorded and replayed with -n 2, plans are asked once and the report has the same bytes as serially."""
    with planning() as server:
        project.configure(server.url)
        project.run("-n2", "--judge-record", "all", "-k", "planned-own")
        assert len(server.prompts(PLANNING_MARK)) == N
        assert len(server.prompts(EXECUTION_MARK)) == 4 * N
    project.configure()
    files = ("report.json", "judgments.jsonl", "plans.jsonl")
    found = []
    for workers in ("-n0", "-n2"):
        assert project.run(workers, "--judge-report", "report", "-k", "planned-own").ret == 0
        found.append([(project.path / "report" / name).read_bytes() for name in files])
    assert found[0] == found[1]


def test_a_failed_plan_falls_back(project: Project, snapshot: SnapshotAssertion) -> None:
    """A refused plan is replaced by the hand-made one, counted, shown, and the same when it is replayed."""

    well = plans_well()

    def sometimes(prompt: str) -> str | None:
        return None if "thing 1 " in prompt else well(prompt)

    with planning(sometimes) as server:
        project.configure(server.url)
        result = project.run("--judge-record", "missing", "--judge-report", "report", "-k", "recency")
        assert result.ret == 0
        assert lines_about(str(result.stdout), "1 of 6 plans") == snapshot
        assert [HEURISTICS["factual"] in text for text in server.prompts(EXECUTION_MARK)].count(True) == 2
    project.configure()
    assert project.run("--judge-report", "report", "-k", "recency").ret == 0
    (plan,) = [row for row in project.rows("report/plans.jsonl") if row["fault"]]
    assert (plan["pair"], plan["origin"], plan["fault"]) == ("p1", "fallback", "failed")
    assert "refusal" in plan["detail"]


def test_degenerate_plans_fail_with_examples(project: Project, snapshot: SnapshotAssertion) -> None:
    """Too many answers in place of plans FAIL, with how many, why, and three of them."""
    with planning(lambda _prompt: "It happens because warm air rises above the cold ground.") as server:
        project.configure(server.url)
        result = project.run(
            "--judge-record", "missing", "--judge-report", "report", "-k", "plan and not recency", "test_plan.py"
        )
    assert result.ret == 1
    said = str(result.stdout)
    assert lines_about(said, "planned on") == snapshot
    assert "degenerate plans 6/6 = 1.00" in said
    assert said.count("warm air rises") >= 3
    (row,) = project.report()["plans"]
    assert row["faults"] == {"answer": N}
    assert project.report()["status"] == "FAIL"


def test_few_plans_are_inconclusive(project: Project) -> None:
    """A share that neither bound settles is INCONCLUSIVE; to record what cannot pass is refused beforehand."""
    with planning() as server:
        project.configure(server.url, gate="[tool.judgefixtures.gate.plan]\nmax_degenerate = 0.05")
        refused = project.run("--judge-record", "missing", "test_plan.py")
        refused.stdout.fnmatch_lines(["*6 pairs cannot pass max_degenerate 0.05*at least 59*"])
        assert not server.asked
        result = project.run("--judge-record", "missing", "--judge-force", "test_plan.py")
    result.stdout.fnmatch_lines(["*plan is INCONCLUSIVE*"])
    assert result.ret == 1


def test_one_leak_fails(project: Project) -> None:
    """A single plan that prefers a response FAILs, shown first."""

    well = plans_well()

    def leaking(prompt: str) -> str | None:
        plan = well(prompt) or ""
        return plan.replace("[End", "Choose Response 2.\n[End") if "thing 3 " in prompt else plan

    with planning(leaking) as server:
        project.configure(server.url)
        result = project.run("--judge-record", "missing", "--judge-report", "report", "test_plan.py")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*1 of 6 plans prefer*", "*pair p3 (factual): names-response: the plan prefers response 2*"]
    )
    assert project.report()["plans"][0]["leaks"] == 1


def test_hand_made_plans_ask_nobody(project: Project) -> None:
    """plan-heuristic makes no planning call, has no share to estimate, and its plans are in the report."""
    with planning() as server:
        project.configure(server.url, 'strategy = "plan-heuristic"')
        result = project.run("--judge-record", "missing", "--judge-report", "report", "-k", "recency or plan-own")
        assert result.ret == 0
        assert not server.prompts(PLANNING_MARK)
        assert len(server.prompts(EXECUTION_MARK)) == 2 * N
    assert not project.cassette("plan", "planned").exists()
    project.configure(planned='strategy = "plan-heuristic"')
    assert project.run("test_plan.py", "--judge-report", "report").ret == 0
    (row,) = project.report()["plans"]
    assert (row["status"], row["degenerate_share"], row["kinds"]) == ("PASS", None, {"factual": N})
    assert {plan["text"] for plan in project.rows("report/plans.jsonl")} == {HEURISTICS["factual"]}


@pytest.mark.slow
def test_a_changed_plan_is_a_miss_that_says_so(project: Project) -> None:
    """Answers recorded on one plan are never mixed with another: `all` makes new plans, what was left is told."""
    with planning() as server:
        project.configure(server.url)
        assert project.run("--judge-record", "missing", "-k", "recency or accuracy").ret == 0
        assert project.run("--judge-record", "all", "-k", "recency").ret == 0
        assert len(server.prompts(PLANNING_MARK)) == 2 * N
        project.configure()
        assert project.run("-k", "recency").ret == 0
        missed = project.run("-k", "accuracy")
        assert missed.ret == NOT_MEASURED
        missed.stdout.fnmatch_lines(["*condition 'no-cue'*with another plan*"])
        project.configure(server.url)
        before = len(server.asked)
        assert project.run("--judge-record", "missing", "-k", "accuracy").ret == 11  # no limit is set
        assert len(server.asked) - before == 2 * N
    project.configure()
    assert project.run("-k", "accuracy or recency").ret == 0
    assert len(project.cassette("no-cue", "planned").read_text().splitlines()) == 1 + N


def test_other_planning_is_another_judge(project: Project) -> None:
    """Plans recorded with other planning parameters are refused, with what changed."""
    with planning() as server:
        project.configure(server.url)
        assert project.run("--judge-record", "missing", "-k", "recency").ret == 0
    project.configure(planned='strategy = "plan-self"\nplan_temperature = 0.0')
    result = project.run("-k", "recency")
    assert result.ret == NOT_MEASURED
    result.stdout.fnmatch_lines(["*plan.jsonl *another judge*temperature: 0.7 -> 0.0*"])


def test_only_what_has_no_plan_is_planned(project: Project) -> None:
    """More pairs are planned for, the others keep their plans: nothing is paid for twice."""
    with planning() as server:
        project.configure(server.url)
        project.run("--judge-pairs", "4", "--judge-record", "missing", "--judge-force", "-k", "recency")
        assert len(server.prompts(PLANNING_MARK)) == 4
        assert project.run("--judge-record", "missing", "-k", "recency").ret == 0
        assert len(server.prompts(PLANNING_MARK)) == N
        assert len({*server.prompts(PLANNING_MARK)}) == N
        assert len(server.prompts(EXECUTION_MARK)) == 2 * N


def test_pairs_of_one_question_share_its_plan(project: Project) -> None:
    """The same task is planned once: two answers to one request could not be told apart in a replay."""
    rows = project.rows("pairs.jsonl")
    for row in rows[:3]:
        row["question"] = "Why does the same thing happen?"
    project.write_pairs(rows)
    with planning() as server:
        project.configure(server.url)
        assert project.run("--judge-record", "missing", "-k", "recency").ret == 0
        assert len(server.prompts(PLANNING_MARK)) == N - 2
    project.configure()
    assert project.run("--judge-report", "report", "-k", "recency").ret == 0
    digests = [plan["digest"] for plan in project.rows("report/plans.jsonl")]
    assert len(digests) == N
    assert len({*digests}) == N - 2


def test_planning_counts_towards_the_budget(project: Project) -> None:
    """--judge-max-cost stops while planning; what was planned is kept; what recording cost includes the plans."""
    with planning() as server:
        project.configure(server.url)
        stopped = project.run("--judge-record", "missing", "--judge-max-cost", "0.004", "-k", "recency")
        assert stopped.ret != 0
        stopped.stdout.fnmatch_lines(["*stopped before --judge-max-cost*"])
        assert 0 < len(server.prompts(PLANNING_MARK)) < N
        assert not server.prompts(EXECUTION_MARK)
        result = project.run("--judge-record", "missing", "-k", "recency")
        assert result.ret == 0
        assert len(server.prompts(PLANNING_MARK)) == N
        spent = re.search(r"recorded: planned: (\d+) calls", str(result.stdout))
        assert spent is not None
        asked = len(server.asked)
    first = re.search(r"recorded: planned: (\d+) calls", str(stopped.stdout))
    assert int(spent[1]) + int(first[1] if first else 0) == asked


def test_the_preflight_counts_planning(project: Project) -> None:
    """The preflight names planning calls and their cost, and runs nothing; what is planned already costs nothing."""
    project.configure()
    result = project.run("--judge-preflight", "-k", "recency")
    result.stdout.fnmatch_lines([f"*planned: at most {3 * N} calls*"])
    with planning() as server:
        project.configure(server.url)
        assert project.run("--judge-record", "missing", "test_plan.py").ret == 0
    result = project.run("--judge-preflight", "-k", "recency")
    result.stdout.fnmatch_lines([f"*planned: at most {2 * N} calls*"])


def test_an_outage_while_planning_is_no_fallback(project: Project) -> None:
    """Where no answer comes at all the run stops, as for any other call: nothing is recorded in a plan's place."""
    with planning() as server:
        server.says(wire(problem("Down."), 500))
        project.configure(server.url)
        result = project.run("--judge-record", "missing", "-k", "recency")
    assert result.ret != 0
    assert "no answer after" in str(result.stdout)
    assert (
        not project.cassette("plan", "planned").exists()
        or len(project.cassette("plan", "planned").read_text().splitlines()) == 1
    )


def test_a_function_may_plan(project: Project) -> None:
    """A judge of the user's own code is called with the planning prompt as with any other."""
    (project.path / "mine.py").write_text(
        "import re\n\nfrom judgefixtures.prompts.planning import PLANNING_MARK\n\n\ndef judge(prompt):\n"
        f"    if prompt.startswith(PLANNING_MARK):\n        return {GOOD_PLAN!r}\n"
        '    better = 1 + int(re.search("thing ([0-9]+)", prompt)[1]) % 2\n'
        '    return f\'{{"selected_response": {better}, "reason": "Good."}}\'\n'
    )
    project.pytester.syspathinsert()
    project.configure()
    file = project.path / "pyproject.toml"
    file.write_text(
        file.read_text() + '[tool.judgefixtures.judges.mine]\nprovider = "python"\ntarget = "mine:judge"\n'
        'strategy = "plan-self"\n'
    )
    result = project.run("--judge", "mine", "--judge-report", "report", "-k", "recency or plan")
    assert result.ret == 0, str(result.stdout)
    assert project.report()["plans"][0]["planned"] == N


@pytest.mark.slow
def test_planjudge_is_a_treatment(project: Project) -> None:
    """The planned judge against the direct one: the swap as ever, and what a verdict costs more, planning included."""
    with planning() as server:
        project.configure(server.url)
        project.run("--judge-baseline", "plain", "--judge-record", "missing", "--judge-force", "test_swap.py")
    project.configure()
    result = project.run("--judge-baseline", "plain", "--judge-report", "report", "test_swap.py")
    (table,) = [row for row in project.report()["side_by_side"] if row["category"] == "length"]
    assert (table["n"], list(table["judges"])) == (N, ["planned", "plain"])
    result.stdout.fnmatch_lines(["accuracy on own, *"])
    rows = project.report()["expenses"]
    accuracy = rows[0]
    assert accuracy["contrast"] is None
    assert accuracy["calls"] == {"judge": 2, "baseline": 1}
    assert accuracy["input_tokens"]["n"] == N
    assert accuracy["input_tokens"]["difference"]["low"] > 0
    usd = accuracy["usd"]
    expected = (accuracy["input_tokens"]["judge"] * 1 + accuracy["output_tokens"]["judge"] * 2) / 1e6
    assert usd["judge"] == pytest.approx(expected)
    assert accuracy["reasoning_tokens"] is None
    page = (project.path / "report" / "report.html").read_text()
    calls = 'calls in sequence</td><td data-name="baseline">1</td><td data-name="new judge">2</td>'
    assert calls in page


@pytest.mark.slow
def test_an_unknown_price_is_said(project: Project) -> None:
    """Where nobody knows a price it is shown as unknown, never as 0."""
    with planning() as server:
        project.configure(server.url)
        file = project.path / "pyproject.toml"
        file.write_text(file.read_text().replace("price = {input = 1.0, output = 2.0}", ""))
        project.run("--judge-baseline", "plain", "--judge-record", "missing", "--judge-force", "test_swap.py")
        project.run("--judge-baseline", "plain", "--judge-report", "report", "test_swap.py")
    assert {row["usd"] for row in project.report()["expenses"]} == {None}
    assert ">price unknown<" in (project.path / "report" / "report.html").read_text()


# --- numbers ------------------------------------------------------------------------------------------------------


def judgment(number: int, tokens: tuple[int, int], plan: tuple[int, int] | None = None, **more: Any) -> Judgment:
    usage = Usage(*tokens)
    planned = None if plan is None else PlanWithUsage(Plan("p", "factual", "self"), Usage(*plan))
    condition = more.pop("condition", NO_CUE)
    choice, reason = more.pop("verdict", (1, ""))
    return Judgment(pair_of(id=f"p{number}"), condition, JudgeReply(Verdict(choice, reason), usage=usage), 0, planned)


def test_expenses_are_paired_over_pairs() -> None:
    """A verdict costs its own call and its plan; the difference is that of each pair, with Student's t."""
    ours = [[judgment(number, (100 + number, 10), (50, 5)) for number in range(4)]]
    theirs = [[judgment(number, (100, 10)) for number in range(4)]]
    tables = (judge_table(OPENAI), judge_table({**OPENAI, "price": {"input": 1.0, "output": 1.0}}))
    found = compare_expenses(ours, theirs, tables)
    assert (found.calls.judge, found.calls.baseline) == (2, 1)
    assert found.input_tokens is not None
    assert (found.input_tokens.judge, found.input_tokens.baseline) == (151.5, 100)
    difference = found.input_tokens.difference
    assert difference is not None
    # mean 51.5, s = sqrt(5/3), t(3, .95) = 2.3534
    assert difference.low == pytest.approx(51.5 - 2.353363 * (5 / 3) ** 0.5 / 2, abs=1e-5)
    assert found.usd is None
    assert found.reasoning_tokens is None


def test_car_of_two_judges_differs_with_an_interval() -> None:
    """CAR is compared where both judges have one, by Newcombe's interval, and decides nothing."""
    (recency,) = contrasts("recency")
    said = "Response 1 is better because it was written recently in 2025."

    def arms(reason: str) -> tuple[list[Judgment], list[Judgment]]:
        x = [judgment(number, (1, 1), condition=recency.x, verdict=(1, reason)) for number in range(10)]
        y = [
            judgment(number, (1, 1), condition=recency.y, verdict=(2, reason.replace("1 is", "2 is")))
            for number in range(10)
        ]
        return x, y

    (car,) = compare_car(arms(said), arms("It is clear."), recency, 0.90)
    assert car.estimate is not None
    assert car.estimate.value == 1
    assert car.estimate.low < 1
    condition = Condition(recency.x.cue_1, recency.x.cue_2)
    unmoved = [judgment(number, (1, 1), condition=condition) for number in range(10)]
    assert compare_car((unmoved, unmoved), arms(said), recency, 0.90) == ()


def test_plans_are_decided_by_exact_bounds() -> None:
    """0 of 59 passes max_degenerate 0.05 and 0 of 58 does not; a leak fails whatever the share."""
    gate = load_config(REPOSITORY / "pyproject.toml", table=("tool", "judgefixtures")).gate("plan")
    assert gate.max_degenerate == 0.05
    good, leak = Plan("p", "factual", "self"), Plan("p", "factual", "fallback", "names-bias")
    bad = Plan("p", "factual", "fallback", "answer")

    def status(plans: list[Plan]) -> str:
        return str(decide_plans(count_plans([pair_of()] * len(plans), plans), True, gate)[0].status)

    assert status([good] * 59) == "PASS"
    assert status([good] * 58) == "INCONCLUSIVE"
    assert status([good] * 99 + [leak]) == "FAIL"
    assert status([good] * 50 + [bad] * 10) == "FAIL"
    assert status([good] * 97 + [bad] * 3) == "INCONCLUSIVE"
