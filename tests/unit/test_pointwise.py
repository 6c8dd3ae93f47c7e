"""Judges with mode = "pointwise": what they are asked, that each score is asked once, and what two of them make."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.asking import a_judge, finished
from support.project import Project, Ran, json_lines, suite
from support.rendered import lines_about
from support.server import NOWHERE, Answer, Asked, Server, running, serving
from syrupy.assertion import SnapshotAssertion

from judgefixtures import JudgeFixturesError, Run
from judgefixtures.checks.base import CheckId, CheckInput
from judgefixtures.config import build_config, judge_table
from judgefixtures.judges.judge import Judge, load_judge
from judgefixtures.judges.pointwise import (
    ScoredResponseCondition,
    check_recording_names,
    compare_scores,
    scored_response_condition,
)
from judgefixtures.metrics.contrast_metrics import measure_contrast
from judgefixtures.metrics.movable_pairs import chosen_responses, movable_share
from judgefixtures.metrics.reasons import read_acknowledgment
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Condition, contrasts
from judgefixtures.models.cues import FAMILIES, Cue
from judgefixtures.models.edits import edits
from judgefixtures.models.findings import Finding
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, pair_to_row
from judgefixtures.models.record import rows_as_json
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.usage import Usage
from judgefixtures.models.verdicts import Score, Verdict
from judgefixtures.providers import answer_schema
from judgefixtures.run.preflight import preflight_lines
from judgefixtures.run.run import ItemRecord
from judgefixtures.simulator.behaviour import SCORERS, UnreadablePromptError, simulated_answer
from judgefixtures.sources import Source, load_pairs
from judgefixtures.statistics import Status

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("quick_and_alone")

PAIRS = 24
(NEW_OLD,) = contrasts("recency")
PAIR = Pair("sky", "Why is the sky blue?", "Air scatters blue.", "It mirrors the sea.", gold=1)
STORY = Pair("door", "A door opens once a year.", "It opened.", "It stayed shut.", content_type="Story")
OWN = "Question: {question}\nAnswer: {response}\n{cue}\nScore it from {scale}."


def table(**more: Any) -> dict[str, Any]:
    """Return the table of a judge that scores."""
    return {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", "mode": "pointwise"} | more


def some(count: int = PAIRS) -> list[Pair]:
    """Return pairs whose question tells their number, and whose better response is 1 in every other one."""
    return [
        Pair(f"p{n:03}", f"Question {n}: which one?", f"One {n}.", f"Other {n}.", gold=2 if n % 2 else 1)
        for n in range(count)
    ]


class Scorer(Server):
    """Gives the better response of `some` pairs 7 and the other 5, and whatever is new two points more."""

    def __init__(self) -> None:
        super().__init__(self.answer, keep_alive=True)
        self.spoiled: set[int] = set()  # pairs about whose response 1 it says nothing
        self.equal: set[int] = set()  # pairs whose responses have one score
        self.refusing = False

    def answer(self, asked: Asked) -> Answer:
        """Answer in the wire format of the path: scores, and verdicts where a pair is shown."""
        prompt, number = asked.prompt, asked.number
        if self.refusing:
            raise AssertionError("nothing was to be asked")
        if "selected_response" in prompt:
            return asked.answered(json.dumps({"selected_response": 1 + number % 2, "reason": "It is right."}))
        first = f"One {number}." in prompt
        if number in self.spoiled and first:
            return asked.answered("I would rather not say.")
        better = first == (number % 2 == 0)
        score = 6 if number in self.equal else 7 if better else 5
        return asked.answered(json.dumps({"score": score + 2 * ("2025" in prompt), "reason": f"It is a {score}."}))


@pytest.fixture
def server() -> Iterator[Scorer]:
    """A server that answers for the judges of `configuration`."""
    scorer = Scorer()
    with running(scorer):
        yield scorer


def configuration(url: str, more: str = "", of_judge: str = "") -> str:
    """Return a configuration with a judge that scores, one that chooses, and a dataset of pairs."""
    return (
        f'control = false\njudge = "scores"\n{more}\n'
        f'[judges.scores]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\nmode = "pointwise"\n{of_judge}\n'
        f'[judges.chooses]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}/v1"\n'
        '[datasets.own]\npath = "pairs.jsonl"\nbalance_positions = false\n'
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with some pairs."""
    (tmp_path / "pairs.jsonl").write_text(json_lines(pair_to_row(pair) for pair in some()))
    return tmp_path


Opening = Callable[..., Run]


@pytest.fixture
def opened(folder: Path, server: Scorer) -> Opening:
    """Return what makes a run: replayed at a closed port, recorded at the server."""

    def run(record: str = "none", more: str = "", of_judge: str = "", **options: Any) -> Run:
        file = folder / "judges.toml"
        file.write_text(configuration(NOWHERE if record == "none" else server.url, more, of_judge))
        return Run.from_config(file, record=record, **{"force": True} | options)

    return run


def gated(run: Run, *names: str, judge: str = "scores", **more: Any) -> list[Finding]:
    """Return what some checks find, and end the run."""
    with run:
        return [run.gate(name, judge=judge, dataset="own", **more) for name in names]


def judged(run: Run, *conditions: Condition, repeat: int = 0) -> list[list[Judgment]]:
    """Return a judge's judgments of all pairs in conditions, and end the run."""
    with run:
        judge = run.judge("scores")
        found = run.answers(judge, "own", run.pairs("scores", "own"), [(each, repeat) for each in conditions])
        return [sorted(arm, key=lambda judgment: judgment.pair.id) for arm in found.arms]


def recorded(folder: Path, judge: str = "scores") -> set[str]:
    """Return the names of a judge's recordings."""
    return {file.stem for file in (folder / "cassettes" / judge / "own").glob("*.jsonl")} - {"pairs"}


PROVENANCE = [contrast.id for contrast in contrasts("provenance")]


# --- what a prompt shows ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "content_type"),
    [
        ("{content_type} {number} was written recently.", "Response"),
        ("{content_type} {number} is ours. So {content_type} {number} wins.", "Story"),
        ("We made {content_type} {number}.", "SQL query"),
        ("The {content_type} {number} is ours.", "Response"),
        ("Here is the answer {number}.", "Response"),
        ("Candidate {number} ({content_type}) is ours.", "Reply"),
        ("No. {number}: ours.", "Reply"),
        ("{content_type} {number} has {braces}.", "Support reply"),
    ],
)
def test_a_cue_without_a_number(sentence: str, content_type: str, snapshot: SnapshotAssertion) -> None:
    """One response needs no number: the word before it becomes "the response", and a number that is left is 1."""
    assert Cue("own", "x", sentence).render_alone(content_type) == snapshot


@pytest.mark.parametrize("verdict", ["json", "brackets"])
@pytest.mark.parametrize("placement", ["after", "before"])
@pytest.mark.parametrize("pair", [PAIR, STORY], ids=["response", "story"])
def test_a_prompt_shows_one_response(verdict: str, placement: str, pair: Pair) -> None:
    """The built-in templates show a question, one response, its label and the scale, and nothing of the other."""
    judge = load_judge(table(verdict=verdict, cue_placement=placement, scale=[0, 5]))
    prompt = judge.prompt(pair, scored_response_condition(NEW_OLD.x, 2))
    word = "story" if pair is STORY else "response"
    cue = f"The {word} was written a long time ago (in 1950)."
    lines = prompt.splitlines()
    assert {pair.question, pair.response_2, cue} <= set(lines)
    assert (lines.index(cue) < lines.index(pair.response_2)) == (placement == "before")
    assert pair.response_1 not in prompt
    assert "2025" not in prompt
    assert "from 0 to 5" in prompt
    assert "{" not in prompt
    assert not re.search(rf"{word}s? [12]\b", prompt, re.IGNORECASE)
    assert ('"score"' in prompt, "[[score]]" in prompt) == (verdict == "json", verdict == "brackets")


def test_without_a_cue_the_prompt_is_the_same_for_either_place(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A response is asked about in one way, wherever it stands in its pair: cue-free, or with the cue_after's cue."""
    (tmp_path / "own.txt").write_text("{question}\n{response}\nScore it ({scale}).")
    judge = load_judge(table(template=str(tmp_path / "own.txt"), cue_after="{response}"))
    turned = replace(PAIR, response_1=PAIR.response_2, response_2=PAIR.response_1)
    assert judge.prompt(PAIR, ScoredResponseCondition(response=1)) == judge.prompt(
        turned, ScoredResponseCondition(response=2)
    )
    assert (
        judge.prompt(PAIR, ScoredResponseCondition(response=1))
        == f"{PAIR.question}\n{PAIR.response_1}\nScore it (1 to 10)."
    )
    cued = judge.prompt(PAIR, scored_response_condition(NEW_OLD.x, 1))
    assert cued == snapshot


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("{question} {cue}", "pointwise", "lacks {response}"),
        ("{question} {response}", "pointwise", "lacks {cue}"),
        ("{question} {response} {cue} {cue}", "pointwise", "{cue} more than once"),
        ("{question} {response_1} {response_2} {cue_1} {cue_2}", "pointwise", "shows a pair, and the judge's mode is"),
        ("{question} {response} {response_2} {cue}", "pointwise", "({response_2}) shows a pair"),
        ("{question} {response} {cue}", "pairwise", "({response}) shows one response, and the judge's mode is"),
    ],
)
def test_a_template_of_the_other_mode(
    tmp_path: Path, text: str, mode: str, said: str, snapshot: SnapshotAssertion
) -> None:
    """It is an error that names the slots, and both ways out."""
    (tmp_path / "own.txt").write_text(text)
    with pytest.raises(JudgeFixturesError) as caught:
        load_judge(table(template=str(tmp_path / "own.txt"), mode=mode))
    assert str(caught.value) == snapshot
    if "shows" in said:
        assert f"set mode = '{'pairwise' if mode == 'pointwise' else 'pointwise'}'" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("silent-judge", "pointwise"),
        ("mt-bench", "pointwise"),
        ("pointwise", "pairwise"),
        ("pointwise-brackets", "pairwise"),
    ],
)
def test_a_built_in_template_of_the_other_mode(name: str, mode: str) -> None:
    """It is the same error."""
    with pytest.raises(JudgeFixturesError, match=f"the template '{name}' shows"):
        load_judge(table(template=name, mode=mode))


def test_a_pair_s_template_may_hold_the_words_of_the_other(tmp_path: Path) -> None:
    """In a template that has the slots of pairs, {response}, {cue} and {scale} are text of its own, as ever."""
    (tmp_path / "own.txt").write_text("{question} {response_1} {response_2} {cue_1} {cue_2} {response} {scale}")
    judge = load_judge(table(template=str(tmp_path / "own.txt"), mode="pairwise"))
    assert judge.prompt(PAIR, NO_CUE).endswith("{response} {scale}")


@pytest.mark.parametrize("name", ["score-1-no-cue", "score-2-recency-new", "score-edited-attack-plea"])
def test_conditions_have_names(name: str) -> None:
    """A condition says which response, under which cue or edit: the name of its recording."""
    plea = next(edit for edit in edits("attack") if edit.label == "plea")
    new = Cue("recency", "new", FAMILIES["recency"]["new"])
    made = [ScoredResponseCondition(), ScoredResponseCondition(response=2, cue=new), ScoredResponseCondition(edit=plea)]
    assert name in [condition.name for condition in made]


def test_names_of_ones_own_cues_stay_apart(snapshot: SnapshotAssertion) -> None:
    """Cues whose recordings would have one name are an error, told before anything is asked."""
    check_recording_names(FAMILIES)
    for clash in ({"a-b": {"c": "1"}, "a": {"b-c": "1"}}, {"no": {"cue": "1"}}):
        with pytest.raises(JudgeFixturesError) as error:
            check_recording_names(clash)
        assert str(error.value) == snapshot
    config = build_config({"judges": {"j": table()}, "cues": {"no": {"cue": "{number} is it.", "x": "{number} is x."}}})
    for judge in ("j", load_judge(table(), "own")):
        with Run(config) as run:
            found = run.gate("recency-new-old", judge=judge, dataset="house-close")
        assert found.status is Status.ERROR
        assert lines_about(found.text, "the hyphens") == snapshot


# --- who is asked, and for what ---------------------------------------------------------------------------


def test_identities() -> None:
    """Mode and scale belong to a judge that scores, ties to one that treats them unusually, nothing new to others."""
    pairwise, tied = (load_judge(table(mode="pairwise", ties=ties)).identity for ties in ("invalid", "half"))
    assert not {"mode", "scale", "ties"} & pairwise.keys()
    assert tied == pairwise | {"ties": "half", "template": tied["template"]}
    scores = load_judge(table()).identity
    assert (scores["mode"], scores["scale"], scores["template"]["name"]) == ("pointwise", [1, 10], "pointwise")
    assert load_judge(table(ties="half")).identity == scores
    assert load_judge(table(ties="invalid")).identity == scores  # what is asked is the same
    assert load_judge(table(scale=[0.0, 1.0])).identity["scale"] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("more", "key", "value"),
    [
        ({}, "score", {"type": "integer", "minimum": 1, "maximum": 10}),
        ({"scale": [0.0, 1.0]}, "score", {"type": "number", "minimum": 0.0, "maximum": 1.0}),
        ({"mode": "pairwise"}, "selected_response", {"type": "integer", "enum": [1, 2]}),
        ({"mode": "pairwise", "ties": "half"}, "selected_response", {"type": "integer", "enum": [0, 1, 2]}),
    ],
)
@pytest.mark.parametrize("sdk", ["openai", "google"])
def test_the_schema_that_is_sent(sdk: str, more: dict[str, Any], key: str, value: dict[str, Any]) -> None:
    """Both SDKs send the schema of what is asked for: a number of the scale, or a choice, with 0 where ties count."""
    mode = {"mode": "pointwise"} | more
    text = json.dumps({key: 1, "reason": "r"})
    with serving(by=lambda asked: asked.answered(text)) as server:
        judge = a_judge(sdk, server.url, model="m", **mode)
        asked = judge.score if mode["mode"] == "pointwise" else judge.verdict
        finished(judge, asked("Question 1: how good?"))  # type: ignore[arg-type]
    body = server.asked[0].body
    sent = body["generationConfig"]["responseJsonSchema"] if sdk == "google" else body["response_format"]["json_schema"]
    sent = sent.get("schema", sent)
    assert sent["properties"] == {key: value, "reason": {"type": "string"}}
    assert sent["required"] == [key, "reason"]
    assert sent == answer_schema(judge.table)


def test_a_score_by_itself(snapshot: SnapshotAssertion) -> None:
    """`judge.score` is what a judge that scores gives, `verdict` what one of pairs does; the other way is an error."""
    with serving(by=lambda asked: asked.answered('{"score": "8/10", "reason": "r"}')) as server:
        judge = a_judge("openai", server.url, model="m", mode="pointwise")
        assert finished(judge, judge.score("Question 1: how good?")) == Score(8, "r", None, ("value",))
    with pytest.raises(ValueError) as error:
        asyncio.run(judge.verdict("Question 1"))
    assert str(error.value) == snapshot
    with pytest.raises(ValueError, match="'no-cue' shows a pair"):
        judge.prompt(PAIR, NO_CUE)
    with pytest.raises(ValueError) as error:
        asyncio.run(a_judge("openai", server.url).score("Question 1"))
    assert str(error.value) == snapshot


@pytest.mark.parametrize(("ties", "found"), [("half", (True, None)), ("invalid", (False, "not-a-choice"))])
def test_a_judge_of_pairs_may_call_a_tie(ties: str, found: tuple[bool, str | None]) -> None:
    """Where ties count, 0 is one; elsewhere it is not a choice."""
    with serving(by=lambda asked: asked.answered('{"selected_response": 0, "reason": "equal"}')) as server:
        judge = a_judge("openai", server.url, model="m", ties=ties)
        verdict = finished(judge, judge.verdict("Question 1: which one?"))
    assert (verdict.tie, verdict.invalid) == found


# --- a verdict of two scores ------------------------------------------------------------------------------


def rating(value: float | None, reason: str = "It is right.", **more: Any) -> JudgeReply:
    """Return a rating."""
    return JudgeReply(Score(value, reason, None if value is not None else "no-json"), **more)


def test_the_higher_score_is_chosen() -> None:
    """A verdict says which score is higher, with both reasons; equal scores are a tie, or invalid."""
    first = compare_scores(rating(7), rating(6.5, "Dull"), "Story", counts_ties=True)
    assert (first.verdict.selected_response, first.verdict.scores) == (1, (7, 6.5))
    assert first.verdict.reason == "Story 1 (7): It is right. Story 2 (6.5): Dull."
    assert compare_scores(rating(1), rating(2), "Story", counts_ties=True).verdict.selected_response == 2
    tie = compare_scores(rating(7), rating(7), "Response", counts_ties=True)
    assert (tie.verdict.tie, tie.verdict.outcome, tie.verdict.scores) == (True, 0.5, (7, 7))
    assert compare_scores(rating(7), rating(7), "Response", counts_ties=False).verdict.invalid == "tie"


@pytest.mark.parametrize("which", [(None, 7), (7, None), (None, None)])
def test_one_score_is_no_verdict(which: tuple[float | None, float | None]) -> None:
    """Where a score is invalid so is the verdict, of the same kind, and the other's reason is kept."""
    found = compare_scores(rating(which[0]), rating(which[1]), "Response", counts_ties=True)
    assert (found.verdict.invalid, found.verdict.scores) == ("no-json", None)
    assert found.verdict.reason.count("It is right.") == 2


def test_a_reason_may_be_missing() -> None:
    """Then the score stands alone, so that what is said of the other response is not taken for it."""
    assert compare_scores(rating(7, ""), rating(5), "Response", counts_ties=True).verdict.reason == (
        "Response 1 (7). Response 2 (5): It is right."
    )
    assert compare_scores(rating(7, ""), rating(5, " "), "Response", counts_ties=True).verdict.reason == ""


def test_what_a_reason_admits_is_read_in_either_part() -> None:
    """A label that is cited for one of the scores is admitted, whichever response was chosen."""
    expert = next(each for each in contrasts("provenance") if each.id == "provenance-expert-llm").x
    for reasons, admits in (
        (("It was written by a human expert, which makes it credible", "It is vague."), "cited"),
        (("It is clear.", "Generated by an LLM, it is less trustworthy."), "cited"),
        (("It is clear.", "It is vague."), "absent"),
    ):
        both = [rating(score, reason) for score, reason in zip((7, 5), reasons, strict=True)]
        reply = compare_scores(both[0], both[1], PAIR.content_type, counts_ties=True)
        assert read_acknowledgment(Judgment(PAIR, expert, reply)) == admits


def test_what_two_calls_cost_is_added() -> None:
    """Tokens of both calls are those of the verdict; what is not known of one is not known of both."""
    both = [rating(7, usage=Usage(100, 10, None), detail="d"), rating(5, usage=Usage(50, 5, 2), detail="d")]
    reply = compare_scores(both[0], both[1], PAIR.content_type, counts_ties=True)
    assert (reply.usage, reply.detail, reply.verdict.scores) == (Usage(150, 15, None), "d", (7, 5))


# --- each score is asked once -----------------------------------------------------------------------------


@pytest.mark.slow
def test_scores_are_shared_by_contrasts(opened: Opening, folder: Path, server: Scorer) -> None:
    """Six contrasts of four labels are eight scores of each pair, not twenty-four; a replay asks nobody."""
    found = gated(opened("missing"), *PROVENANCE)
    assert len(server.asked) == 8 * PAIRS
    assert Counter(asked.prompt for asked in server.asked).most_common(1)[0][1] == 1
    labels = FAMILIES["provenance"]
    assert recorded(folder) == {f"score-{number}-provenance-{label}" for number in (1, 2) for label in labels}
    gated(opened("all"), *PROVENANCE)
    assert len(server.asked) == 2 * 8 * PAIRS
    server.refusing = True
    again = gated(opened(), *PROVENANCE)
    assert [each.rows for each in again] == [each.rows for each in found]
    assert {each.status for each in again} == {each.status for each in found} != {Status.ERROR}


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [PROVENANCE, ["accuracy", "recency-new-old", "attack-plea", "position-no-cue"]], ids=["shared", "several"]
)
def test_the_preflight_counts_each_score_once(opened: Opening, server: Scorer, names: list[str]) -> None:
    """What the preflight announces is what is asked, before anything is recorded and after."""

    def calls(record: str) -> int:
        with opened(record) as run:
            subjects = [CheckId("scores", "own", run.registry.check(name)) for name in names]
            return int(re.search(r"scores: at most (\d+) calls", "\n".join(preflight_lines(run, subjects)))[1])  # type: ignore[index]

    announced = calls("missing")
    gated(opened("missing"), *names)
    assert announced == len(server.asked) > 0
    assert calls("missing") == 0
    assert calls("all") == announced


def test_the_other_order_costs_nothing(opened: Opening, folder: Path, server: Scorer) -> None:
    """Both orders are the same two scores: what stood first is another one, what is chosen is not."""
    own, other = judged(opened("missing"), NO_CUE, NO_CUE_SWAPPED)
    assert len(server.asked) == 2 * PAIRS
    assert recorded(folder) == {"score-1-no-cue", "score-2-no-cue"}
    assert [judgment.chosen for judgment in own] == [judgment.chosen for judgment in other]
    assert [judgment.chosen for judgment in own] == [judgment.pair.gold for judgment in own]
    assert [(b, a) for a, b in (each.reply.verdict.scores or (0, 0) for each in own)] == [
        each.reply.verdict.scores for each in other
    ]
    turned = other[0].verdict
    assert turned.reason.startswith(f"Response 1 ({other[0].reply.verdict.scores[0]}): ")  # type: ignore[index]


def test_accuracy_has_no_both_orders(opened: Opening, server: Scorer) -> None:
    """Accuracy is one of scores; to be right in both orders means nothing, and is null."""
    (found,) = gated(opened("missing"), "accuracy")
    (row,) = [row.to_json() for row in found.rows["accuracy"] if row.category == "all"]
    assert (row["correct"], row["n"], row["accuracy_both_orders"]) == (PAIRS, PAIRS, None)
    assert len(server.asked) == 2 * PAIRS


@pytest.mark.parametrize("name", ["position-no-cue", "four-cell-new-old"])
def test_it_sees_no_order(opened: Opening, server: Scorer, name: str, snapshot: SnapshotAssertion) -> None:
    """What the order does is not applicable, said so, and not asked."""
    (found,) = gated(opened("missing"), name)
    assert found.status is Status.NOT_APPLICABLE
    assert found.text == snapshot
    assert server.asked == []


def test_a_label_that_is_worth_points(opened: Opening) -> None:
    """Two points more for what is new move every pair whose scores are two apart, and no reason says so."""
    x, y = judged(opened("missing"), NEW_OLD.x, NEW_OLD.y)
    assert {judgment.reply.verdict.scores for judgment in x} == {(9, 5), (7, 7)}
    assert [judgment.verdict.selected_response for judgment in x] == [None if n % 2 else 1 for n in range(PAIRS)]
    assert [judgment.verdict.selected_response for judgment in y] == [2 if n % 2 else None for n in range(PAIRS)]
    assert all(judgment.verdict.tie for judgment in x[1::2])


def test_an_edited_response_is_scored_by_itself(opened: Opening, folder: Path, server: Scorer) -> None:
    """The edited response has a recording of its own, whichever of the pair's it is; the other one is as it was."""
    plea = next(edit for edit in edits("attack") if edit.label == "plea")
    edited, plain = judged(opened("missing"), Condition(edit=plea), NO_CUE)
    assert recorded(folder) == {"score-1-no-cue", "score-2-no-cue", "score-edited-attack-plea"}
    assert len(server.asked) == 3 * PAIRS
    pleas = [asked.prompt for asked in server.asked if "please choose" in asked.prompt]
    assert len(pleas) == PAIRS
    assert all(("One" in prompt) == (int(re.search(r"Question (\d+)", prompt)[1]) % 2 == 1) for prompt in pleas)  # type: ignore[index]
    assert [each.chosen for each in edited] == [each.chosen for each in plain]


def test_repeats_are_asked_apart(opened: Opening, folder: Path, server: Scorer) -> None:
    """A repeat is two further scores, in the recordings of the first."""
    gated(opened("missing", repeats=3), "repeat-no-cue-1", "repeat-no-cue-2")
    assert len(server.asked) == 6 * PAIRS
    assert recorded(folder) == {"score-1-no-cue", "score-2-no-cue"}
    assert gated(opened(repeats=3), "repeat-no-cue-2")[0].status is not Status.ERROR


def test_what_a_recording_says_when_it_lacks(opened: Opening) -> None:
    """A score that is not recorded is an ERROR that names its condition and the command that records it."""
    (found,) = gated(opened(), "recency-new-old")
    assert found.status is Status.ERROR
    assert "score-1-recency-new" in found.text
    assert "-k recency-new-old --judge-record missing" in found.text


def test_another_scale_is_another_judge(opened: Opening) -> None:
    """Scores of one scale are never taken for those of another."""
    gated(opened("missing"), "recency-new-old")
    (found,) = gated(opened(of_judge="scale = [1, 5]"), "recency-new-old")
    assert "scale" in found.text
    assert found.status is Status.ERROR


# --- invalid scores and ties ------------------------------------------------------------------------------


def test_an_invalid_score_spoils_its_verdicts(opened: Opening, folder: Path, server: Scorer) -> None:
    """It is counted with its kind, asked again by `invalid` and nothing else is, and then the verdict is valid."""
    server.spoiled = {3, 4}
    (arm,) = judged(opened("missing"), NO_CUE)
    assert [judgment.pair.id for judgment in arm if judgment.verdict.invalid] == ["p003", "p004"]
    assert {judgment.verdict.invalid for judgment in arm} == {None, "no-json"}
    assert arm[3].reply.verdict.scores is None
    server.spoiled, before = set(), len(server.asked)
    ledger = ItemRecord()
    with opened("invalid") as run:
        pairs = run.pairs("scores", "own")
        (again,) = run.answers(run.judge("scores"), "own", pairs, [(NO_CUE, 0)], ledger).arms
    assert len(server.asked) == before + 2
    assert not any(judgment.verdict.invalid for judgment in again)
    file = folder / "cassettes" / "scores" / "own" / "score-1-no-cue.jsonl"
    assert len(file.read_text().splitlines()) == 1 + PAIRS


def test_equal_scores_where_ties_do_not_count(opened: Opening, server: Scorer) -> None:
    """They are invalid verdicts of the kind "tie", and no call is made again for them."""
    server.equal = {1, 2}
    (arm,) = judged(opened("missing", of_judge='ties = "invalid"'), NO_CUE)
    assert [judgment.pair.id for judgment in arm if judgment.verdict.invalid == "tie"] == ["p001", "p002"]
    before = len(server.asked)
    judged(opened("invalid", of_judge='ties = "invalid"'), NO_CUE)
    assert len(server.asked) == before


def test_rows_say_scores_and_ties(opened: Opening, server: Scorer) -> None:
    """A judgment's row has both scores where there are two, and says where it is a tie; other rows have neither."""
    server.equal, server.spoiled = {1}, {2}
    ledger = ItemRecord()
    with opened("missing", keep_judgments=True) as run:
        for judge in ("scores", "chooses"):
            about = CheckInput(run.judge(judge), "own", run.pairs(judge, "own"), run.config)
            run.check(run.registry.check("accuracy"), about, ledger)
    rows = {(row["judge"], row["condition"], row["pair"]): row for row in rows_as_json(ledger.judgments)}
    assert [rows["scores", "no-cue", f"p00{n}"].get("scores") for n in range(4)] == [[7, 5], [6, 6], None, [5, 7]]
    assert [rows["scores", "no-cue-21", f"p00{n}"].get("scores") for n in (0, 3)] == [[5, 7], [7, 5]]
    assert {key[2] for key, row in rows.items() if "tie" in row} == {"p001"}
    tie = rows["scores", "no-cue", "p001"]
    assert (tie["tie"], tie["selected_response"], tie["invalid"]) == (True, None, None)
    assert not any({"scores", "tie"} & row.keys() for key, row in rows.items() if key[0] == "chooses")


def judge_by_hand(prompt: str) -> str:
    """Return a score: a judge of the user's own making."""
    return '{"score": 7, "reason": "long"}' if "Other" in prompt else '{"score": 3, "reason": "short"}'


def test_a_python_judge_may_score(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that is given a prompt with one response answers with its score."""
    monkeypatch.setitem(sys.modules, "by_hand", sys.modules[__name__])
    judge = load_judge({"provider": "python", "target": "by_hand:judge_by_hand", "mode": "pointwise"}, "hand")
    with Run(build_config({"control": False}), folder / "cassettes") as run:
        (arm,) = run.answers(judge, "own", some(), [(NO_CUE, 0)]).arms
    assert {(judgment.reply.verdict.scores, judgment.chosen) for judgment in arm} == {((3, 7), 2)}


# --- what is looked up ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_movable_pairs_are_not_told_by_the_order(opened: Opening) -> None:
    """The cue-free scores alone are one condition, however they are ordered; with a repeat there are two."""
    before, after = (
        gated(opened("missing", repeats=2), *names)[-1].rows["contrasts"][0].to_json()["movable"]
        for names in (["accuracy", "recency-new-old"], ["repeat-no-cue-1", "recency-new-old"])
    )
    assert before is None
    assert (after["value"], after["n"]) == (0, PAIRS)


def test_the_closest_are_those_with_the_nearest_scores(opened: Opening, folder: Path, server: Scorer) -> None:
    """Pairs of equal scores come first, by two scores a pair, and the cues are asked of these alone."""
    server.equal = {5, 11}
    server.spoiled = {0}
    (found,) = gated(opened("missing", more="", of_judge=""), "accuracy")
    assert found.status is not Status.ERROR
    before = len(server.asked)
    file = folder / "judges.toml"

    def about(record: str) -> Finding:
        run = opened(record)
        file.write_text(file.read_text() + "closest = 4\n")
        run = Run.from_config(file, record=record, force=True)
        return gated(run, "recency-new-old")[0]

    (evidence,) = about("missing").evidence["indifferent"]
    assert {"p005", "p011"} < set(evidence.pairs)
    assert "p000" not in evidence.pairs
    assert len(server.asked) == before + 4 * 4  # the screening is what accuracy had asked
    assert about("none").evidence["indifferent"][0].pairs == evidence.pairs


# --- the whole of it --------------------------------------------------------------------------------------

SIMULATED = """
[tool.judgefixtures]
judge = "scores"
pairs = 40
control = {{pairs = 10}}
[tool.judgefixtures.gate]
inconclusive = "warn"
[tool.judgefixtures.judges.scores]
provider = "openai"
model = "simulated-pointwise-{model}"
base_url = "{url}/v1"
mode = "pointwise"
[tool.judgefixtures.judges.chooses]
provider = "openai"
model = "simulated-faithful"
base_url = "{url}/v1"
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """A project that gates a simulated judge that scores."""
    from judgefixtures.simulator.server import serving as simulating

    project = Project(pytester, fresh=True)
    with simulating() as server:
        project.server = server  # type: ignore[attr-defined]
        project.write("pyproject.toml", SIMULATED.format(url=server.url, model="faithful"))
        project.copy_tests("swap", "accuracy", "position")
        project.write("test_cues.py", suite("recency"))
        yield project  # type: ignore[misc]


@pytest.mark.slow
def test_a_suite_is_recorded_and_replayed(project: Project) -> None:
    """A run records what the preflight announced; a replay needs no server, and its report has the same bytes."""
    server: Any = project.server  # type: ignore[attr-defined]
    chosen = ("-k", "not swap", "--judge-report", "report", "--judge-dataset", "house-qa")
    preflight = project.run(*chosen, "--judge-preflight")
    announced = int(re.search(r"scores: at most (\d+) calls", preflight.said)[1])  # type: ignore[index]
    first = project.run(*chosen, "--judge-record", "missing", "--judge-force")
    # Cue-free scores and those with cues of 40 pairs, and of the ten that the control takes.
    assert server.requests == announced == 2 * 40 + 4 * 40 + 2 * 10
    judgments = first.rows("judgments")
    assert "it sees no order" in project.run(*chosen, "-rs").said
    report = {name: (project.path / "report" / name).read_bytes() for name in ("report.json", "judgments.jsonl")}
    project.write("pyproject.toml", SIMULATED.format(url=NOWHERE, model="faithful"))
    again = project.run(*chosen)
    assert {name: (project.path / "report" / name).read_bytes() for name in report} == report
    assert again.ret == first.ret == 0, again.said
    scored = [row for row in judgments if row["condition"] == "recency-new-old"]
    assert len(scored) == 40
    assert all(len(row["scores"]) == 2 and "tie" not in row for row in scored)
    assert again.report["judges"]["scores"]["mode"] == "pointwise"


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "baseline"), [("scores", "chooses"), ("chooses", "scores")])
def test_a_swap_between_modes(project: Project, judge: str, baseline: str) -> None:
    """A judge that scores is compared with one that chooses, on the same pairs, either way round."""
    chosen = (
        "-k",
        "swap and (recency or accuracy)",
        "--judge",
        judge,
        "--judge-baseline",
        baseline,
        "--judge-dataset",
        "house-qa",
        "--judge-report",
        "report",
    )
    ran: Ran = project.run(*chosen, "--judge-record", "missing", "--judge-force")
    rows = {(row["contrast"], row["quantity"]): row for row in ran.report["swap"]}
    assert rows["recency-new-old", "abs-vsr"]["n"] == 40
    assert rows[None, "accuracy"]["value"] == 0
    expenses = ran.report["expenses"][0]
    assert expenses["calls"] == {"judge": 1, "baseline": 1}
    tokens = expenses["input_tokens"]
    more, less = (tokens["judge"], tokens["baseline"]) if judge == "scores" else (tokens["baseline"], tokens["judge"])
    assert more > less  # two calls a verdict
    project.write("pyproject.toml", SIMULATED.format(url=NOWHERE, model="faithful"))
    assert project.run(*chosen).report["swap"] == ran.report["swap"]


# --- the simulated ones -----------------------------------------------------------------------------------


def score_of(model: str, pair: Pair, condition: Condition, **more: Any) -> list[float]:
    """Return the scores of what stands first and second."""
    judge: Judge = load_judge(table(**more))
    assert judge.rater is not None
    both = [
        judge.rater.parse_reply(
            _answered(simulated_answer(model, judge.prompt(pair, scored_response_condition(condition, number, pair))))
        )
        for number in (1, 2)
    ]  # type: ignore[arg-type]
    assert not [each for each in both if each.invalid], both
    return [each.verdict.value or 0 for each in both]


def _answered(text: str) -> Any:
    from judgefixtures.providers import ProviderResponse as Answered

    return Answered(text)


@pytest.mark.parametrize(
    "name", ["house-qa", "house-stories", "house-bias", "house-instructions", "house-control", "house-control-stories"]
)
@pytest.mark.parametrize("model", sorted(SCORERS))
def test_clear_pairs_are_scored_right(name: str, model: str) -> None:
    """The better response of a clear pair has the higher score, whatever is added to either."""
    added = (edit for family in ("verbosity", "attack", "formatting", "confidence") for edit in edits(family))
    conditions = [NO_CUE, *(Condition(edit=edit) for edit in added)]
    for pair in load_pairs(Source(name))[:15]:
        for condition in conditions:
            first, second = score_of(model, pair, condition)
            assert (first > second) == (pair.gold == 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["house-close", "house-close-stories"])
def test_close_pairs_are_scored_close(name: str) -> None:
    """The faithful judge gives close pairs scores that are equal, or one point apart, and no label changes one."""
    pairs = load_pairs(Source(name))
    apart = Counter(abs(a - b) for a, b in (score_of("simulated-pointwise-faithful", pair, NO_CUE) for pair in pairs))
    assert set(apart) == {0, 1}
    assert min(apart.values()) > 0.3 * len(pairs)
    for pair in pairs[:20]:
        for contrast in (NEW_OLD, *contrasts("provenance")):
            assert score_of("simulated-pointwise-faithful", pair, contrast.x) == score_of(
                "simulated-pointwise-faithful", pair, NO_CUE
            )


@pytest.mark.slow
def test_labels_are_worth_points() -> None:
    """The silent judge gives two points for "new" in four of ten pairs, the generous one a point for "expert"."""
    pairs = load_pairs(Source("house-close"))
    expert = next(each for each in contrasts("provenance") if each.id == "provenance-expert-human").x
    shifts = Counter[tuple[float, float]]()
    for pair in pairs:
        plain, cued = (score_of("simulated-pointwise-silent", pair, each) for each in (NO_CUE, NEW_OLD.x))
        shifts[cued[0] - plain[0], cued[1] - plain[1]] += 1
        plain, cued = (score_of("simulated-pointwise-generous", pair, each) for each in (NO_CUE, expert))
        assert (cued[0] - plain[0], cued[1] - plain[1]) == (1, 0)
    assert set(shifts) == {(2, 0), (0, 0)}
    assert 0.3 < shifts[2, 0] / len(pairs) < 0.5


@pytest.mark.parametrize("verdict", ["json", "brackets"])
@pytest.mark.parametrize("placement", ["after", "before"])
@pytest.mark.parametrize("scale", [[1, 10], [1, 5], [0, 1], [-3, 3], [0.0, 1.0]], ids=str)
def test_scores_are_on_the_scale(verdict: str, placement: str, scale: list[float]) -> None:
    """The simulated judges read every built-in prompt of a judge that scores, and keep to its scale."""
    own = Pair("p", "Why?", "Because.", "It is so.")
    for pair in (own, load_pairs(Source("house-qa"))[0], load_pairs(Source("house-stories"))[0]):
        for model in SCORERS:
            for condition in (NO_CUE, NEW_OLD.x):
                score_of(model, pair, condition, verdict=verdict, cue_placement=placement, scale=scale)


def test_a_prompt_that_they_cannot_read() -> None:
    """Without a title, or with a label of one's own, there is nothing to score by: an error, not a number."""
    brand = Cue("brand", "ours", "{content_type} {number} comes from us.")
    judge = load_judge(table())
    with pytest.raises(UnreadablePromptError, match="label"):
        simulated_answer("simulated-pointwise-silent", judge.prompt(PAIR, ScoredResponseCondition(cue=brand)))
    with pytest.raises(UnreadablePromptError, match="title"):
        simulated_answer("simulated-pointwise-silent", "How good is this?")


def test_tables() -> None:
    """The built-in judges that score are there, and say so."""
    config = build_config({})
    assert {name for name, each in config.judges.items() if each.mode == "pointwise"} == set(SCORERS)
    assert judge_table(table()).counts_ties


def test_ties_of_scores_are_the_first_to_move() -> None:
    """A judge that scores is never called stuck: pairs with equal scores are close, and count as movable."""

    def scored(condition: Condition, number: int) -> Judgment:
        reply = JudgeReply(Verdict(None, "", tie=True, scores=(6, 6)))
        return Judgment(Pair(f"p{number}", "Q", "A", "B"), condition, reply)

    contrast = contrasts("recency")[0]
    arms = [[scored(condition, number) for number in range(60)] for condition in (contrast.x, contrast.y)]
    assert measure_contrast(*arms).stuck is None
    found = movable_share([chosen_responses(arms[0])], [f"p{number}" for number in range(60)])
    assert found is not None
    assert found.value == 1.0


def test_a_mode_that_is_switched_back_takes_its_scale_along() -> None:
    """A judge of pairs may extend one that scores, and one without logprobs one with them."""
    tables = {
        "one": table(scale=[0, 5]),
        "two": {"extends": "one", "mode": "pairwise"},
        "three": {"extends": "two", "logprobs": True, "top_logprobs": 5},
        "four": {"extends": "three", "logprobs": False},
    }
    judges = build_config({"judges": tables}).judges
    assert [judges[name].mode for name in tables] == ["pointwise", "pairwise", "pairwise", "pairwise"]
    assert [judges[name].top_logprobs for name in ("three", "four")] == [5, 20]


def test_a_judge_that_scores_answers_nothing_else() -> None:
    """Asking it for a verdict in any way is an error before anything is paid."""
    judge = load_judge(table())
    for ask in (judge.verdict, judge.ask):
        with pytest.raises(ValueError, match=r"judge\.score"):
            asyncio.run(ask("Which is better?"))


def test_slots_of_pairs_are_no_text(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """A template for one response with a slot that only pairs have would send it as it stands: an error."""
    path = tmp_path / "mine.txt"
    path.write_text("{question} {response} {cue} {cue_1}")
    with pytest.raises(JudgeFixturesError) as error:
        load_judge(table(template=str(path)))
    assert str(error.value) == snapshot


FORTY = SIMULATED.replace('judge = "scores"', 'judge = "faithful"').partition("[tool.judgefixtures.judges.scores]")[
    0
] + "".join(
    f"""
[tool.judgefixtures.judges.{name}]
provider = "openai"
model = "simulated-pointwise-{name}"
base_url = "{{url}}/v1"
mode = "pointwise"
"""
    for name in ("faithful", "silent", "generous")
)


@pytest.mark.slow
def test_forty_pairs_decide(project: Project, snapshot: SnapshotAssertion) -> None:
    """With forty pairs a judge that is not moved PASSes and one that is FAILs, by its scores; VSR gates nothing."""
    server: Any = project.server  # type: ignore[attr-defined]
    project.write("pyproject.toml", FORTY.format(url=server.url))
    project.write("test_cues.py", suite("recency", "provenance"))
    judges = [word for name in ("faithful", "silent", "generous") for word in ("--judge", name)]
    chosen = (*judges, "--judge-dataset", "house-close", "--judge-report", "report")
    said = project.run(*chosen, "--judge-preflight").said
    assert re.search(r"house-close +recency +3 +40 +29 +score \.05 ", said), said
    first = project.run(*chosen, "--judge-record", "missing", "--judge-force")
    rows = {(row["judge"], row["contrast"]): row for row in first.report["contrasts"]}
    statuses = {key: row["status"] for key, row in rows.items()}
    assert {statuses[key] for key in rows if key[0] == "faithful"} == {"PASS"}
    assert statuses["silent", "recency-new-old"] == statuses["silent", "provenance-expert-llm"] == "FAIL"
    assert statuses["generous", "recency-new-old"] == "PASS"
    experts = {key for key in rows if key[0] == "generous" and "expert" in key[1]}
    assert {statuses[key] for key in experts} == {"FAIL"}
    assert {statuses[key] for key in rows if key[0] == "generous"} - {"FAIL"} == {"PASS"}
    assert {row["vsr_status"] for row in rows.values()} == {"NOT_APPLICABLE"}
    for row in rows.values():
        assert row["n"] == 40
        assert row["vsr"]["n"] == 40
        assert row["status"] == row["score_status"] or row["car_status"] == "FAIL"
        assert row["message"].startswith("score shift ")
        assert lines_about(row["message"], "verdicts made") == snapshot
    project.write("pyproject.toml", FORTY.format(url=NOWHERE))
    assert project.run(*chosen).report["contrasts"] == first.report["contrasts"]
