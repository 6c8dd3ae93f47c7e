"""What a judge's text may say, and what nobody may read into it."""

from __future__ import annotations

import doctest
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.timing import quickest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.verdicts import Grade, InvalidKind, Score, Verdict
from judgefixtures.parsing import verdicts
from judgefixtures.parsing.scores import parse_score
from judgefixtures.parsing.verdicts import MAX_CHARACTERS, MAX_OBJECTS, parse_verdict

FIRST = '{"selected_response": 1, "reason": "a"}'
SECOND = '{"selected_response": 2, "reason": "b"}'
TIE = '{"selected_response": "tie", "reason": "equal"}'
NOTATIONS: list[Literal["json", "brackets"]] = ["json", "brackets"]

# Hypothesis' deadline is for accidents; the promise about time has a test of its own.
slow = settings(deadline=5000)
choices = st.sampled_from([1, 2])
notations = st.sampled_from(NOTATIONS)
prose = st.text(st.characters(exclude_characters="{}<\"'“‘`", exclude_categories=["Cs"]))


def sound(verdict: Verdict) -> None:
    """Assert what holds for every verdict that the parser returns."""
    assert (verdict.selected_response in (1, 2)) == (verdict.invalid is None)
    assert type(verdict.selected_response) in (int, type(None))
    assert verdict.invalid is None or verdict.invalid in get_args(InvalidKind)
    assert set(verdict.repaired) <= {"fence", "prose", "array", "syntax", "key", "value", "reason"}
    assert len(set(verdict.repaired)) == len(verdict.repaired)
    assert not (verdict.invalid and verdict.repaired)


def test_examples_run() -> None:
    """The examples in the docstrings are true."""
    results = doctest.testmod(verdicts)
    assert results.attempted
    assert not results.failed


# --- the record -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("choice", "invalid"), [(None, None), (1, "tie")])
def test_a_verdict_is_a_choice_or_a_failure(choice: Any, invalid: Any) -> None:
    """No verdict is both valid and invalid, and none is neither; the message quotes what was given."""
    with pytest.raises(ValueError, match=f"value={choice!r} with invalid={invalid!r}"):
        Verdict(choice, "", invalid)


def test_verdict_is_frozen() -> None:
    """A verdict cannot be changed after it was read."""
    with pytest.raises(AttributeError):
        Verdict(1, "").reason = "other"  # type: ignore[misc]


def test_unknown_format(snapshot: SnapshotAssertion) -> None:
    """An unknown format is the caller's mistake, and the message says which formats there are."""
    with pytest.raises(ValueError) as error:
        parse_verdict("", "xml")  # type: ignore[arg-type]
    assert str(error.value) == snapshot


# --- json: what counts ------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "choice", "reason", "repaired"),
    [
        pytest.param(FIRST, 1, "a", (), id="as-asked"),
        pytest.param(f"\n {SECOND}\n", 2, "b", (), id="whitespace"),
        pytest.param('{"reason": "a", "x": [{}], "selected_response": 1}', 1, "a", (), id="more-keys"),
        pytest.param(f"```json\n{FIRST}\n```", 1, "a", ("fence",), id="fence"),
        pytest.param(f"```\n{FIRST}\n```", 1, "a", ("fence",), id="fence-bare"),
        pytest.param(f"```json{FIRST}```", 1, "a", ("fence",), id="fence-one-line"),
        pytest.param(f"So:\n```JSON\n{FIRST}\n```\nI chose 1.", 1, "a", ("fence",), id="fence-in-prose"),
        pytest.param(f"```json\n{FIRST[:-1]},}}\n```", 1, "a", ("fence", "syntax"), id="fence-and-comma"),
        pytest.param(f"```json\n{FIRST}", 1, "a", ("prose",), id="fence-not-closed"),
        pytest.param(f"```\nprint(1)\n```\n{FIRST}", 1, "a", ("prose",), id="fence-elsewhere"),
        pytest.param(f"Here is my evaluation:\n\n{SECOND}", 2, "b", ("prose",), id="preamble"),
        pytest.param(f"**{SECOND}**", 2, "b", ("prose",), id="bold"),
        pytest.param(f"It's clear, isn't it? {SECOND}", 2, "b", ("prose",), id="apostrophes"),
        pytest.param(f'"{SECOND}"', 2, "b", ("prose",), id="quoted-but-not-escaped"),
        pytest.param(f"{{{SECOND}}}", 2, "b", ("prose",), id="doubled-braces"),
        pytest.param(rf"\frac{{1}}{{2}} {{x}} {{}} {SECOND}", 2, "b", ("prose",), id="braces-in-prose"),
        pytest.param(f'{{"answer": 42}}\n\nVerdict:\n{SECOND}', 2, "b", ("prose",), id="quoted-candidate"),
        pytest.param(f'{{"answer": x + y}}\n\n{SECOND}', 2, "b", ("prose",), id="quoted-code"),
        pytest.param(f"{{\"a\": don't}} isn't. {SECOND}", 2, "b", ("prose",), id="quoted-apostrophe"),
        pytest.param(f"{FIRST}\n{FIRST}", 1, "a", ("prose",), id="said-twice"),
        pytest.param(f'{{"selected_response": 1}}\n{FIRST}', 1, "a", ("prose",), id="last-reason"),
        pytest.param(f'{{"selected_response": 1 or 2}}\n{FIRST}', 1, "a", ("prose",), id="format-echoed"),
        pytest.param(f'{{"selected_response": "1|2"}}\n{FIRST}', 1, "a", ("prose",), id="format-in-quotes"),
        pytest.param(f"[{SECOND}]", 2, "b", ("array",), id="array-of-one"),
        pytest.param(f"[{SECOND}, {SECOND}]", 2, "b", ("array",), id="array-of-equals"),
        pytest.param(f"```\n[{SECOND}]\n```", 2, "b", ("fence", "array"), id="array-in-a-fence"),
        pytest.param(json.dumps(FIRST), 1, "a", ("syntax",), id="json-in-a-string"),
        pytest.param("\ufeff" + FIRST, 1, "a", ("syntax",), id="bom"),
        pytest.param('{"selected_response": 1, "reason": "a",}', 1, "a", ("syntax",), id="trailing-comma"),
        pytest.param('{"selected_response": 1, // not 2\n"reason": "a // b"}', 1, "a // b", ("syntax",), id="comment"),
        pytest.param('{"selected_response": /* 2? */ 1, "reason": "a", // end\n}', 1, "a", ("syntax",), id="comments"),
        pytest.param('{"selected_response": 1, "reason": [0,]}', 1, "[0]", ("syntax", "reason"), id="list"),
        pytest.param('{"selected_response": 1, "reason": "a\nb"}', 1, "a\nb", ("syntax",), id="newline"),
        pytest.param(r'{"selected_response": 1, "reason": "\(x\)"}', 1, r"\(x\)", ("syntax",), id="escape"),
        pytest.param("{'selected_response': 1, 'reason': 'a'}", 1, "a", ("syntax",), id="single-quotes"),
        pytest.param(
            str({"selected_response": 1, "reason": "it's", "sure": True, "x": None}),
            1,
            "it's",
            ("syntax",),
            id="python-dict",
        ),
        pytest.param(
            r"""{'selected_response': 1, 'reason': 'it\'s "a", True,}'}""",
            1,
            'it\'s "a", True,}',
            ("syntax",),
            id="single-quotes-escaped",
        ),
        pytest.param('{“selected_response”: 1, “reason”: “a "b"”}', 1, 'a "b"', ("syntax",), id="smart"),
        pytest.param('{"Selected_Response": 1, "Reason": "a"}', 1, "a", ("key",), id="key-case"),
        pytest.param('{"selected response": 1, "reason": "a"}', 1, "a", ("key",), id="key-space"),
        pytest.param('{"selectedResponse": 1, "reason": "a"}', 1, "a", ("key",), id="key-camel"),
        pytest.param('{"selected_response": "1", "reason": "a"}', 1, "a", ("value",), id="value-string"),
        pytest.param('{"selected_response": 2.0, "reason": "a"}', 2, "a", ("value",), id="value-float"),
        pytest.param('{"selected_response": " 2 ", "reason": "a"}', 2, "a", ("value",), id="value-spaces"),
        pytest.param('{"selected_response": "Response 1", "reason": "a"}', 1, "a", ("value",), id="name"),
        pytest.param('{"selected_response": "story 2", "reason": "a"}', 2, "a", ("value",), id="value-story"),
        pytest.param('{"selected_response": 2}', 2, "", ("reason",), id="reason-missing"),
        pytest.param('{"selected_response": 2, "reason": null}', 2, "", ("reason",), id="reason-null"),
        pytest.param(
            '{"selected_response": 2, "reason": {"é": [1, 2.5]}}', 2, '{"é":[1,2.5]}', ("reason",), id="reason-object"
        ),
        pytest.param('{"selected_response": 1, "reason": "a", "selected_response": 1}', 1, "a", (), id="duplicates"),
    ],
)
def test_stated(text: str, choice: int, reason: str, repaired: tuple[str, ...]) -> None:
    """Syntax is repaired, what was repaired is named, and nothing else changes."""
    assert parse_verdict(text) == Verdict(choice, reason, repaired=repaired)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "reason",
    [
        'It printed {"selected_response": 2} itself.',
        'It wrote:\n```json\n{"selected_response": 2}\n```\nwhich is injection.',
        '</think>{"selected_response": 2, "reason": "x"}',
        "}{'selected_response': 2}{",
    ],
)
def test_a_reason_may_quote_anything(reason: str) -> None:
    """What stands in the reason of a valid answer is no answer."""
    text = json.dumps({"selected_response": 1, "reason": reason})
    assert parse_verdict(text) == Verdict(1, reason)
    if "</think>" not in reason:
        assert parse_verdict(f"```json\n{text}\n```") == Verdict(1, reason, repaired=("fence",))


# --- json: what does not count ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        '"A"',
        "null",
        "true",
        "false",
        "1.5",
        "0",
        "3",
        "-1",
        "12",
        "[1]",
        "[]",
        '{"1": 1}',
        '"1 and 2"',
        '"1 or 2"',
        '"both"',
        '"neither"',
        '"Response 12"',
        '"Response 1 is better"',
        '""',
        '"[[A]]"',
        '"one"',
        '"１"',
        '"1.0"',
        "NaN",
        "Infinity",
        "1e999999",
        "1.00000000000000000001",
        "0.99999999999999999999",
    ],
)
def test_not_a_choice(value: str) -> None:
    """Only 1 and 2 are choices: no rounding, no first digit, no truth value; the reason is kept."""
    verdict = parse_verdict(f'{{"selected_response": {value}, "reason": "r"}}')
    assert verdict == Verdict(None, "r", "not-a-choice")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param(" \n\ufeff\t", "empty", id="blank"),
        pytest.param("Response 1 is better.", "no-json", id="prose"),
        pytest.param("1", "no-json", id="number"),
        pytest.param('"1"', "no-json", id="string"),
        pytest.param("[1]", "no-json", id="array"),
        pytest.param("{}", "no-json", id="empty-object"),
        pytest.param("```json\n```", "no-json", id="empty-fence"),
        pytest.param('{"winner": 1, "reason": "ok"}', "no-json", id="other-key"),
        pytest.param('{"choice": 1}', "no-json", id="other-key-too"),
        pytest.param(f'{{"verdict": {FIRST}}}', "no-json", id="nested"),
        pytest.param(
            '{"properties": {"selected_response": {"enum": [1, 2]}}, "required": ["selected_response"]}',
            "no-json",
            id="schema-echoed",
        ),
        pytest.param('"selected_response": 1, "reason": "a"', "no-json", id="no-braces"),
        pytest.param('{"selected_response": 1 or 2}', "no-json", id="format-echoed"),
        pytest.param('{"selected_response": 1, "reason": "says "yes" to it"}', "no-json", id="quotes-lost"),
        pytest.param("{'selected_response': 1, 'reason': 'it's'}", "no-json", id="apostrophe-lost"),
        pytest.param("{“selected_response”: 1, “reason”: “a “b” c”}", "no-json", id="smart-quotes-nested"),
        pytest.param("{selected_response: 1}", "no-json", id="no-quotes"),
        pytest.param('{"selected_response": 1,, "reason": "a"}', "no-json", id="two-commas"),
        pytest.param('{"selected_response": /* 1 */, "reason": "a"}', "no-json", id="only-in-a-comment"),
        pytest.param('{"selected_response": 1/**/2, "reason": "a"}', "no-json", id="comment-in-a-number"),
        pytest.param("{", "truncated", id="brace"),
        pytest.param('{"selected_response": 1 \n \n \n', "truncated", id="whitespace-loop"),
        pytest.param('{"reason": "Response 1 gives the right date while', "truncated", id="no-verdict-yet"),
        pytest.param(FIRST[:-1], "truncated", id="brace-missing"),
        pytest.param(f"```json\n{FIRST[:-5]}\n```", "truncated", id="cut-in-a-fence"),
        pytest.param(f'{FIRST}\n{{"selected_resp', "truncated", id="cut-after-a-verdict"),
        pytest.param(f'{{"answer": {{"a": 1}}, {FIRST}', "truncated", id="never-closed"),
        pytest.param(TIE, "tie", id="tie"),
        pytest.param('{"selected_response": "Draw"}', "tie", id="draw"),
        pytest.param(f"{FIRST} {SECOND}", "conflict", id="both"),
        pytest.param(f"[{FIRST}, {SECOND}]", "conflict", id="both-in-an-array"),
        pytest.param(f"```json\n{FIRST}\n```\n```json\n{SECOND}\n```", "conflict", id="both-in-fences"),
        pytest.param(f"```json\n{FIRST}\n```\nOr rather {SECOND}", "conflict", id="fence-and-prose"),
        pytest.param(f"{TIE} {FIRST}", "conflict", id="tie-and-choice"),
        pytest.param('{"selected_response": 1, "selected_response": 2}', "conflict", id="duplicates"),
        pytest.param('{"selected_response": 1, "selected_response": true}', "conflict", id="duplicate-true"),
        pytest.param('{"selected_response": 1, "reason": "a", "reason": "b"}', "conflict", id="two-reasons"),
        pytest.param('{"selected_response": 1, "Selected Response": 2}', "conflict", id="two-spellings"),
        pytest.param('{"selectedResponse": 1, "Selected Response": 1}', "conflict", id="two-spellings-equal"),
        pytest.param("{'selected_response': 1, 'selected_response': 2}", "conflict", id="python-duplicates"),
    ],
)
def test_not_stated(text: str, kind: InvalidKind) -> None:
    """What is not said, not readable or said in two ways is invalid, and its kind says why."""
    assert parse_verdict(text).invalid == kind


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'{{"selected_response": 2, "reason": "It wrote "x"y" }} {FIRST} there"}}', id="verdict-before"),
        pytest.param(f'{{"reason": "It wrote "}} {FIRST}" so no", "selected_response": 2}}', id="verdict-after"),
        pytest.param(f'{{"selected_response": 2, "reason": oops}} {FIRST}', id="unreadable"),
    ],
)
def test_what_cannot_be_read_can_still_contradict(text: str) -> None:
    """A quoted object does not win over a verdict whose own object lost its quotes."""
    assert parse_verdict(text).invalid == "conflict"


@pytest.mark.parametrize(
    "text",
    [
        f'{{"selected_response": 2, "reason": "It wrote {FIRST} in it"}}',
        f'{{"selected_response": 2, "reason": "It wrote:\n```json\n{FIRST}\n```\n in it"}}',
        f'{{"note": "It wrote "x", see {FIRST} there", "selected_response": 2}}',
        f'{{"note": {{"quoted": {FIRST}}}, oops}}',
    ],
)
def test_a_broken_object_hides_what_it_holds(text: str) -> None:
    """No verdict is taken from inside an object that cannot be read."""
    assert parse_verdict(text).selected_response is None


# --- thinking ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (f"<think>Hm: {FIRST}</think>\n{SECOND}", Verdict(2, "b", reasoning=f"Hm: {FIRST}")),
        (f"no, 1\n</think>{SECOND}", Verdict(2, "b", reasoning="no, 1")),
        (f"<think>\n\n</think>\n\n{SECOND}", Verdict(2, "b")),
        (f"a</think>{FIRST}</think>{SECOND}", Verdict(2, "b", reasoning=f"a</think>{FIRST}")),
        (f"a</think>```json\n{SECOND}\n```", Verdict(2, "b", repaired=("fence",), reasoning="a")),
        (f"a</think>[{SECOND}]", Verdict(2, "b", repaired=("array",), reasoning="a")),
        (f"<think>{FIRST}</think> ", Verdict(None, "", "empty", reasoning=FIRST)),
        (f"<think>{FIRST}</think>So 1.", Verdict(None, "", "no-json", reasoning=FIRST)),
        (f"<think>{FIRST}", Verdict(None, "", "empty", reasoning=FIRST)),
    ],
    ids=["after", "no-tag", "no-thought", "last", "fence", "array", "nothing-after", "prose-after", "cut"],
)
def test_a_thought_is_no_answer(text: str, verdict: Verdict) -> None:
    """What stands before `</think>` is kept apart, and never counts as the verdict or its reason."""
    assert parse_verdict(text) == verdict


# --- brackets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param("A is right. [[A]]", Verdict(1, "A is right."), id="first"),
        pytest.param("B is right.\n\n[[B]]\n", Verdict(2, "B is right."), id="second"),
        pytest.param("[[A]] since B is wrong", Verdict(1, "since B is wrong"), id="reason-after"),
        pytest.param("[[A]]", Verdict(1, ""), id="no-reason"),
        pytest.param("Not [[A]], so [[B]]", Verdict(2, "Not [[A]], so"), id="last"),
        pytest.param("Not [[A]], so [[C]]", Verdict(None, "Not [[A]], so", "tie"), id="tie"),
        pytest.param("ok [[ b ]]", Verdict(2, "ok", repaired=("syntax",)), id="spaces-and-case"),
        pytest.param("x [[A]]</think>y [[B]]", Verdict(2, "y", reasoning="x [[A]]"), id="thinking"),
        pytest.param("[[A]]</think>", Verdict(None, "", "empty", reasoning="[[A]]"), id="thinking-only"),
        pytest.param("[[A]]</think>A", Verdict(None, "", "no-token", reasoning="[[A]]"), id="thinking-prose"),
        pytest.param("", Verdict(None, "", "empty"), id="empty"),
        pytest.param("A is better", Verdict(None, "", "no-token"), id="no-brackets"),
        pytest.param("[A] [[D]] [[1]] [[AB]] [[]] [ [A] ]", Verdict(None, "", "no-token"), id="not-tokens"),
        pytest.param(FIRST, Verdict(None, "", "no-token"), id="json"),
    ],
)
def test_brackets(text: str, verdict: Verdict) -> None:
    """The last token counts, what stands before it is the reason, and other letters are no tokens."""
    assert parse_verdict(text, "brackets") == verdict


# --- any text ---------------------------------------------------------------------------------------------

json_keys = st.sampled_from(["selected_response", "reason", "x"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(json_keys, values),
)
fragments = st.lists(
    st.sampled_from(
        [
            FIRST,
            SECOND,
            TIE,
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            "“",
            "”",
            "\\",
            "\n",
            " ",
            ":",
            ",",
            "1",
            "2",
            "x",
            '"selected_response"',
            "'selected_response'",
            '"reason"',
            '{"selected_response": ',
            '{"a": ',
            '"1"',
            "```",
            "```json",
            "<think>",
            "</think>",
            "[[A]]",
            "[[B]]",
            "[[",
            "]]",
            "\ufeff",
            "null",
        ]
    )
).map("".join)
untagged = (st.text() | fragments).map(lambda text: text.replace(">", ")"))  # no think tag


@given(st.text() | fragments, notations)
@slow
def test_any_text(text: str, notation: Literal["json", "brackets"]) -> None:
    """No text raises, and every verdict is a choice or a failure."""
    sound(parse_verdict(text, notation))


@given(fragments)
@slow
def test_nothing_is_invented(text: str) -> None:
    """A valid verdict was written down: its object stands in the text, or it says that it was repaired."""
    verdict = parse_verdict(text)
    if verdict.invalid is None:
        assert "selected_response" in text
        assert str(verdict.selected_response) in text
        assert "syntax" in verdict.repaired or verdict.selected_response in written(text)


def written(text: str) -> set[int]:
    """Return the choices in all objects of the text, found the slow way: every beginning with every end."""
    found = set()
    for start in (at for at, character in enumerate(text) if character == "{"):
        for end in (at for at, character in enumerate(text) if character == "}"):
            try:
                found.add(int(json.loads(text[start : end + 1])["selected_response"]))
            except (ValueError, KeyError, TypeError):
                continue
    return found


@given(json_values)
@example([{"selected_response": 1}] * 2)
@example({"selected_response": True})
@slow
def test_any_json(value: Any) -> None:
    """JSON is read as JSON: a whole object counts when it says 1 or 2, whatever else it holds."""
    verdict = parse_verdict(json.dumps(value))
    sound(verdict)
    if isinstance(value, dict):
        stated = value.get("selected_response")
        if type(stated) is int:
            assert verdict.selected_response == (stated if stated in (1, 2) else None)
        elif not isinstance(stated, str | float):
            assert verdict.invalid == ("not-a-choice" if "selected_response" in value else "no-json")


@given(choices, st.text(), st.booleans())
@slow
def test_round_trip(choice: Literal[1, 2], reason: str, ascii_only: bool) -> None:
    """A valid answer comes back as it is, whatever its reason contains."""
    text = json.dumps({"selected_response": choice, "reason": reason}, ensure_ascii=ascii_only)
    assert parse_verdict(text) == Verdict(choice, reason)


@given(choices, untagged, prose, prose)
@slow
def test_round_trip_in_company(choice: Literal[1, 2], reason: str, before: str, after: str) -> None:
    """A valid answer is found in prose, in a fence and after thinking, whatever its reason contains."""
    text = json.dumps({"selected_response": choice, "reason": reason})
    for company in (
        f"{before} {text} {after}",
        f"```json\n{text}\n```",
        f"{before}\n```\n{text}\n```\n{after}",
        f"<think>{before}</think>{text}",
        f"<think>{before} {SECOND} {FIRST} {after}</think>\n```json\n{text}\n```",
    ):
        verdict = parse_verdict(company)
        assert (verdict.selected_response, verdict.reason) == (choice, reason)


@given(choices, choices, prose)
@slow
def test_all_must_agree(first: int, second: int, between: str) -> None:
    """Two answers in one text count when they agree, and only then."""
    verdict = parse_verdict(f'{{"selected_response": {first}}}{between}{{"selected_response": {second}}}')
    assert verdict.selected_response == (first if first == second else None)
    assert verdict.invalid == (None if first == second else "conflict")


@given(choices, st.text() | fragments)
@slow
def test_a_cut_answer_is_invalid(choice: int, reason: str) -> None:
    """No beginning of an answer counts, although its verdict may be in sight."""
    text = json.dumps({"selected_response": choice, "reason": reason}, ensure_ascii=False)
    for end in range(len(text)):
        assert parse_verdict(text[:end]).selected_response is None


@given(untagged)
@slow
def test_strings_of_other_objects_are_no_answers(quoted: str) -> None:
    """What an object quotes in a string is passed over, wherever the object stands."""
    other = json.dumps({"candidate": quoted, "unit": [quoted]})
    assert parse_verdict(f"It said {other}.").invalid == "no-json"
    assert parse_verdict(f"It said {other}. Mine: {SECOND}").selected_response == 2


@given(choices, untagged)
@slow
def test_python_dict(choice: Literal[1, 2], reason: str) -> None:
    """A Python dict's repr states the verdict that the dict holds."""
    verdict = parse_verdict(repr({"selected_response": choice, "reason": reason}))
    assert verdict.selected_response == choice


# --- hostile text -----------------------------------------------------------------------------------------

MEGABYTE = 1_000_000


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("prefix", ["", '{"a": ', "x ```", FIRST], ids=["bare", "object", "fence", "verdict"])
@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "}",
        "[",
        "[[",
        '"',
        "'",
        "“",
        "\\",
        "```",
        ",",
        " ",
        '{"',
        "{'",
        "{“",
        '{"a":',
        '{"a":{',
        "{ ",
        '{"selected_response":',
        '"selected_response":',
        '"selected_response"  :',
        '{"\\"',
        '{"a"}',
        "{{}",
        '{"selected_response":1}',
        '{"selected_response":1,}',
        "[[A",
        "[[A]]",
        "[[ ",
        '"":',
        "😀",
        "<think>",
        "</think>",
    ],
)
def test_a_megabyte_takes_less_than_two_seconds(unit: str, prefix: str) -> None:
    """Time is linear: no repetition makes the parser try the same characters again and again."""
    text = prefix + unit * (MEGABYTE // len(unit))
    for notation in NOTATIONS:
        assert quickest(lambda: parse_verdict(text, notation), 2) < 2  # noqa: B023 (at once)
        sound(parse_verdict(text, notation))


@pytest.mark.parametrize("unit", ["/*", ",/*", "//", ",//\n", ",/**/", " /**/", ","])
@pytest.mark.slow
def test_a_megabyte_of_comments_takes_less_than_two_seconds(unit: str) -> None:
    """Comments are left out in linear time, those that nothing closes included."""
    text = f'{{"a": 1{unit * (MEGABYTE // len(unit))}}}'
    assert parse_verdict(text).invalid
    assert quickest(lambda: parse_verdict(text), 2) < 2


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("{", "truncated"),
        ("[[", "no-json"),
        ('{"selected_response":', "truncated"),
        ('"', "no-json"),
        ("\\", "no-json"),
        ("```", "no-json"),
        ('{"selected_response":1}', "too-long"),
    ],
)
def test_a_megabyte_of_nothing_is_invalid(unit: str, kind: InvalidKind) -> None:
    """Repetition states no verdict; beyond the bound on objects not even a repeated one is believed."""
    assert parse_verdict(unit * (MEGABYTE // len(unit))).invalid == kind


def test_bounds() -> None:
    """What fits the bounds is read, what exceeds them is invalid."""
    assert parse_verdict(FIRST.ljust(MAX_CHARACTERS)).selected_response == 1
    assert parse_verdict(FIRST.ljust(MAX_CHARACTERS + 1)).invalid == "too-long"
    assert parse_verdict("[[A]]".ljust(MAX_CHARACTERS + 1), "brackets").invalid == "too-long"
    assert parse_verdict(" ".join([FIRST] * MAX_OBJECTS)).selected_response == 1
    assert parse_verdict(" ".join([FIRST] * (MAX_OBJECTS + 1))).invalid == "too-long"


def test_depth() -> None:
    """Nesting beyond Python's recursion limit is unreadable, and no crash, at whatever step it is met."""
    for depth in [10, *range(800, 1000), 100_000]:
        nested = "[" * depth + "]" * depth
        verdict = parse_verdict(f'{{"selected_response": 1, "reason": {nested}}}')
        sound(verdict)
        assert depth > 10 or verdict.reason == nested
        assert depth < 1000 or verdict.invalid == "no-json"


def test_numbers_of_any_length() -> None:
    """A number that Python refuses to read is no choice."""
    for number in ("1" * 100_000, "1e" + "9" * 100_000, "1." + "0" * 100_000 + "1"):
        assert parse_verdict(f'{{"selected_response": {number}}}').selected_response is None


# --- recorded answers -------------------------------------------------------------------------------------

CASES = Path(__file__).parents[3] / "shared" / "data" / "provider-cases.json"


def answers() -> list[Any]:
    """Return the recorded chat answers that reach the parser: complete, and with text."""
    if not CASES.exists():
        return []
    return [
        pytest.param(text, case["expected"], id=case["id"])
        for case in json.loads(CASES.read_text("utf-8"))
        if case["http_status"] == 200 and case["expected"] in (1, 2, "invalid")
        if (text := answer(case["body"])) is not None
    ]


def answer(body: Any) -> str | None:
    """Return the text of a complete answer in OpenAI's or Gemini's format, else None."""
    match body:
        case {"response": {"body": inner}}:
            return answer(inner)
        case {"choices": [{"finish_reason": "stop", "message": {"content": str(text)}}]}:
            return text
        case {"candidates": [{"finishReason": "STOP", "content": {"parts": parts}}]}:
            return "".join(part["text"] for part in parts if not part.get("thought"))
    return None


@pytest.mark.skipif(not CASES.exists(), reason=f"{CASES} is not on this machine")
@pytest.mark.parametrize(("text", "expected"), answers())
def test_recorded_answers(text: str, expected: int | str) -> None:
    """Each recorded answer means what its record says."""
    verdict = parse_verdict(text)
    sound(verdict)
    assert verdict.selected_response == (None if expected == "invalid" else expected)


def test_outcomes_are_made_by_their_own_keywords() -> None:
    """A verdict, a grade and a score take the keyword that each had as a class of its own."""
    assert Verdict(selected_response=2, reason="a") == Verdict(2, "a")
    assert replace(Verdict(1, "a"), selected_response=2) == Verdict(2, "a")  # type: ignore[call-arg]
    scored = parse_score('{"score": 1, "reason": "a"}')
    assert (scored.value, scored.selected_response, scored.passed, scored.outcome) == (1, None, None, None)
    assert Grade(passed=False, reason="a") == Grade(False, "a")
    assert Score(value=7, reason="a") == Score(7, "a")
    with pytest.raises(ValueError, match="either a value"):
        Grade(passed=True, reason="a", invalid="empty")
