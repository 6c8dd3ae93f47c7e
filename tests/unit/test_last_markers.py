"""The last marker of an answer decides, and a thinking block of any form is neither a verdict nor a reason."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from judgefixtures.models.pairs import Pair
from judgefixtures.models.probabilities import Token
from judgefixtures.parsing.grades import parse_grade
from judgefixtures.parsing.scores import parse_score
from judgefixtures.parsing.verdict_probabilities import verdict_probability
from judgefixtures.parsing.verdicts import parse_verdict
from judgefixtures.prompts.planning import read_plan

UNREADABLE = [
    "[[]]",
    "[[D]]",
    "[[Harbour]]",
    "[[A",
    "[[B]",
    "[[A or B]]",
    "[[A [B]]]",
    "［［neither］］",
    "\\[\\[none\\]\\]",
    "```\n[[undecided]]\n```",
    '"[[A/B]]"',
    "[\u200b[maybe]]",
    "[[А]]",
]


@pytest.mark.parametrize("last", UNREADABLE)
def test_an_unreadable_last_token_is_no_earlier_one(last: str) -> None:
    """Whatever stands in the last double brackets and cannot be read leaves no verdict, grade or score."""
    assert parse_verdict(f"First [[A]].\nThen {last}", "brackets").invalid in ("no-token", "truncated")
    assert parse_grade(f"First [[PASS]].\nThen {last}", "brackets").passed is None
    assert parse_score(f"Style: [[6]].\nOverall: {last}", "brackets").value is None


@pytest.mark.parametrize("last", ["[[N/A]]", "[[8/5]]", "[[11]]", "[[7 or 8]]", "[[seven]]", "[[7", "[[1e3]]", "[[]]"])
def test_an_unreadable_last_score_is_no_earlier_one(last: str) -> None:
    """The mark for style is not the score where the last one cannot be read."""
    assert parse_score(f"Style: [[6]]. Overall: {last}", "brackets").value is None


@pytest.mark.parametrize(
    "last", ["[[B]]", "[[\u200bB]]", "［［B］］", "\\[\\[B\\]\\]", "[[**B**]]", "[[Ｂ]]", "[[[B]]]"]
)
def test_a_last_token_is_read_as_what_it_shows(last: str) -> None:
    """Full width, escapes, emphasis and invisible characters are syntax; a link before the token is no token."""
    found = parse_verdict(f"See [[Harbour of Lindau]]; at first [[A]]. So: {last}", "brackets")
    assert found.selected_response == 2
    assert found.repaired == (() if last == "[[B]]" else ("syntax",))


def test_a_tie_counts_where_ties_do() -> None:
    """[[Tie]] is a tie and no reason to take an earlier token."""
    text = "Alone [[A]]. Both: [[Tie]]"
    assert parse_verdict(text, "brackets").invalid == "tie"
    assert parse_verdict(text, "brackets", ties="half").tie


def test_a_score_out_of_the_scale_s_end_is_read() -> None:
    """8 out of 10 is 8 on a scale to 10."""
    assert parse_score("Style: [[6]] Overall: [[8 out of 10]]", "brackets").value == 8


GOOD = '{"selected_response": 1, "reason": "a"}'


@pytest.mark.parametrize(
    "last",
    [
        '{"selected_response": 2 "reason": "b"}',
        '{"selected_response": "neither", "reason": "b"}',
        '{"selected_response": null}',
        "{selected_response: 2, reason: 'b'}",
        '{"selected_response": 2, "selected_response": 1, "reason": "b"}',
        '{"selected_response": 2, "reas',
        '```json\n{"selected_response": , "reason": "b"}\n```',
        '{"choice": 2}',
        '{"selected_response": [2]}',
    ],
)
def test_an_unreadable_last_object_is_no_earlier_one(last: str) -> None:
    """Where the last object cannot be read the answer is invalid, whatever an earlier one says."""
    assert parse_verdict(f"{GOOD}\nNo: {last}").invalid is not None
    grade = [text.replace("selected_response", "verdict").replace("1", '"pass"') for text in (GOOD, last)]
    assert parse_grade("\nNo: ".join(grade)).passed is None
    score = [text.replace("selected_response", "score") for text in (GOOD, last)]
    assert parse_score("\nNo: ".join(score)).value is None


def test_an_array_ends_with_what_counts() -> None:
    """The last object of a list decides, too; a format that is echoed first is none."""
    assert parse_verdict(f'[{GOOD}, {{"selected_response": "both"}}]').invalid == "not-a-choice"
    assert parse_verdict(f'{{"selected_response": "1 or 2"}} {GOOD}').selected_response == 1


def test_the_last_plan_counts() -> None:
    """An empty last plan is no plan: an earlier draft is not carried out."""
    draft = "[Start of Plan] 1. Check that each response names the year. [End of Plan]"
    found = read_plan(f"{draft} Better: [Start of Plan] [End of Plan]", Pair("1", "Why?", "a", "b"), "self")
    assert found.origin == "fallback"


def test_the_probability_is_that_of_the_last_token() -> None:
    """Tokens before it, and those in thoughts, are looked past; one that is spelled otherwise tells none."""
    said = [b"<thought>", b"[[B]]", b"</thought>", b"[[", b"A", b"]]"]
    listed = [Token(text, -0.1, {b"B": -2.1} if text == b"A" else {}) for text in said]
    text = b"".join(said).decode()
    found = verdict_probability(listed, text, parse_verdict(text, "brackets"), "brackets")
    assert found is not None
    assert round(found.log_odds, 6) == 2
    other = "[[A]] ［［A］］"
    tokens = [Token(other.encode(), -0.1, {b"B": -2.1})]
    assert verdict_probability(tokens, other, parse_verdict(other, "brackets"), "brackets") is None


# --- thoughts -------------------------------------------------------------------------------------------------

NAMES = ["think", "thinking", "thought", "thoughts", "reasoning", "THINK", "Thinking", "seed:think", "ns.a:thought"]
MARKS = [(f"<{name}>", f"</{name}>") for name in NAMES]
MARKS += [
    ("[THINK]", "[/THINK]"),
    ("[think]", "[/think]"),
    ('<think type="deep" n=3>', "</think >"),
    ("&lt;thinking&gt;", "&lt;/thinking&gt;"),
    ("\\u003cthink\\u003e", "\\u003c/think\\u003e"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>commentary to=x <|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    ("<unused94>thought\n", "<unused95>"),
]
IDS = [opening.strip() for opening, _ in MARKS]
THOUGHT = 'Response 2 was written recently. Draft: [[A]] {"selected_response": 1, "reason": "new"}'


@pytest.mark.parametrize(("opening", "closing"), MARKS, ids=IDS)
def test_a_thought_is_neither_verdict_nor_reason(opening: str, closing: str) -> None:
    """In every form, closed, twice, nested, without its opening mark, or never closed, before prose and after it."""
    for thought in (
        f"{opening}{THOUGHT}{closing}",
        f"{opening}{THOUGHT}{closing}{opening}{THOUGHT}{closing}",
        f"{opening}a {opening}{THOUGHT}{closing} b [[A]]{closing}",
        f"{THOUGHT}{closing}",
        f"Let me see.\n{opening}\n{THOUGHT}\n{closing}\n",
    ):
        found = parse_verdict(f"{thought}\nIt names the year. [[B]]", "brackets")
        assert (found.selected_response, "recently" in found.reason) == (2, False), thought
        assert found.reason.endswith("It names the year.")
        stated = parse_verdict(f'{thought}{{"selected_response": 2, "reason": "It names the year."}}')
        assert (stated.selected_response, stated.reason) == (2, "It names the year.")
    for before in ("", "Let me compare.\n", "Let me compare. "):
        assert parse_verdict(f"{before}{opening}{THOUGHT} But", "brackets").invalid in ("empty", "no-token")
        assert parse_verdict(f"{before}{opening}{THOUGHT} But").invalid in ("empty", "no-json")
        assert parse_score(f"{before}{opening}So [[7]]. But", "brackets").value is None
        assert parse_grade(f"{before}{opening}\nGRADE: C\nBut", "grade").passed is None


@pytest.mark.parametrize(("opening", "closing"), MARKS, ids=IDS)
def test_a_thought_within_a_reason_is_no_reason(opening: str, closing: str) -> None:
    """A field of reasons that holds a thinking block gives the rest of it as the reason."""
    text = json.dumps({"selected_response": 2, "reason": f"{opening}It is new.{closing} It names the year."})
    assert parse_verdict(text).reason == "It names the year."


@pytest.mark.parametrize("reason", [["%s"], {"why": "%s"}, [{"step": "%s"}, "It is clear."]])
@pytest.mark.parametrize("thought", ["<think>It is new.</think>", "See <think> it is new. </think>"])
def test_a_thought_within_a_list_or_an_object_is_no_reason(thought: str, reason: object) -> None:
    """A reason of several texts is given as JSON, without the thinking blocks in them."""
    text = json.dumps({"selected_response": 2, "reason": reason}) % f"{thought} It names the year."
    found = parse_verdict(text)
    assert (found.selected_response, found.repaired) == (2, ("reason",))
    assert "It names the year." in found.reason
    assert "new" not in found.reason


@pytest.mark.parametrize(
    "reason",
    [
        "Response 2 shows its reader a stray <thinking> tag and a [THINK] mark.",
        "Response 1 has <think> and </think> in its text.",
        "It begins with `<think>` and ends with `</think>`.",
        'It says "<reasoning>" to its reader.',
        "Response 1 ends with a stray </think>.",
        "It leaves a <thought> block open.",
        "It shows its reader <think> without its </think> and goes on.",
    ],
)
def test_a_reason_that_names_a_mark_is_kept_whole(reason: str) -> None:
    """A sentence that speaks of a mark is no thinking block, in JSON, in JSON after prose, and before brackets."""
    text = json.dumps({"selected_response": 1, "reason": reason}, ensure_ascii=False)
    for each in (text, f"Sure: {text}", f"```json\n{text}\n```"):
        assert (parse_verdict(each).selected_response, parse_verdict(each).reason) == (1, reason)
    found = parse_verdict(f"{reason} [[A]]", "brackets")
    assert (found.selected_response, found.reason) == (1, reason)


@pytest.mark.parametrize("end", ["so it is clear.", "It is clear."])
@pytest.mark.parametrize(("opening", "closing"), MARKS, ids=IDS)
def test_a_thought_in_the_middle_of_a_sentence_is_cut(opening: str, closing: str, end: str) -> None:
    """A block that opens and closes within a line is no mention of its marks: neither verdict nor reason."""
    reason = f"It names the year {opening} it was written recently, [[A]] {closing} {end}"
    expected = f"It names the year  {end}"
    text = json.dumps({"selected_response": 2, "reason": reason}, ensure_ascii=False)
    for each in (text, f"Sure: {text}"):
        assert (parse_verdict(each).selected_response, parse_verdict(each).reason) == (2, expected)
    found = parse_verdict(f"{reason} [[B]]", "brackets")
    assert (found.selected_response, found.reason) == (2, expected)


def test_plans_are_read_without_thoughts() -> None:
    """A draft in a thinking block of any form is not carried out."""
    plan = "1. Check that each response names the year of the flood."
    for opening, closing in itertools.islice(MARKS, 0, None, 3):
        found = read_plan(f"{opening}1. Prefer the new one.{closing}{plan}", Pair("1", "Why?", "a", "b"), "self")
        assert (found.origin, found.text) == ("self", plan)


@pytest.mark.parametrize("opening", ["<think>", "It is a question of dates. <think>", ""])
def test_a_log_s_reasons_are_those_that_were_stated(
    opening: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is imported as a reason holds no thinking block, not even one whose opening mark the server swallowed."""
    from judgefixtures.cli.main import main

    monkeypatch.chdir(tmp_path)
    row = {"id": "a", "question": "Why?", "response_1": "So.", "response_2": "No.", "selected_response": 1}
    reason = f"{opening}It was written recently.</think>It names the year."
    (tmp_path / "log.jsonl").write_text(json.dumps({**row, "reason": reason}) + "\n")
    assert main(["import", "log.jsonl", "--judge", "mine"]) == 0
    (file,) = tmp_path.rglob("imported.jsonl")
    assert (
        json.loads(file.read_text().splitlines()[1])["reason"] == f"{opening.removesuffix('<think>')}It names the year."
    )
