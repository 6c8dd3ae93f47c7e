"""What the text of a judge that scores may say, and what nobody may read into it."""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.timing import quickest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.models.verdicts import InvalidKind, Scale, Score
from judgefixtures.parsing.scores import parse_score
from judgefixtures.parsing.verdicts import MAX_CHARACTERS, parse_verdict

SCALES: list[Scale] = [(1, 10), (0, 1), (-5, 5), (0.0, 1.0), (1, 100)]
NOTATIONS: list[Literal["json", "brackets"]] = ["json", "brackets"]
scales = st.sampled_from(SCALES)
notations = st.sampled_from(NOTATIONS)
prose = st.text(st.characters(exclude_characters="{}[]<\"'“‘`", exclude_categories=["Cs"]))


def stated(value: Any, reason: str = "It is right.") -> str:
    """Return an object that states a score."""
    return json.dumps({"score": value, "reason": reason})


def kind(text: str, scale: Scale = (1, 10), form: Literal["json", "brackets"] = "json") -> str | None:
    """Return why a text states no score."""
    return parse_score(text, form, scale).invalid


# --- the record -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "invalid"), [(None, None), (7, "conflict")])
def test_a_score_is_a_number_or_a_failure(value: Any, invalid: Any, snapshot: SnapshotAssertion) -> None:
    """No score is both valid and invalid, and none is neither."""
    with pytest.raises(ValueError) as error:
        Score(value, "", invalid)
    assert str(error.value) == snapshot


# --- what is read -----------------------------------------------------------------------------------------


@given(st.integers(1, 10), prose)
def test_a_score_that_is_asked_for_is_read_as_it_is(value: int, reason: str) -> None:
    """An object with a whole number of the scale needs no repair, whatever its reason holds."""
    assert parse_score(stated(value, reason)) == Score(value, reason)


@given(scales, st.floats(0, 1), prose)
def test_any_number_of_the_scale_is_a_score(scale: Scale, share: float, reason: str) -> None:
    """A number within the scale is that score, with a decimal point or without."""
    value = round(scale[0] + share * (scale[1] - scale[0]), 3)
    assert parse_score(stated(value, reason), "json", scale).value == value


@given(scales, st.floats(allow_nan=True, allow_infinity=True))
@example((1, 10), float("nan"))
@example((1, 10), 10.000001)
@example((0.0, 1.0), -1e-300)
def test_no_number_outside_of_the_scale_is_a_score(scale: Scale, value: float) -> None:
    """What is not on the scale is invalid, and is not moved to its nearest end."""
    found = parse_score(stated(value), "json", scale)
    if scale[0] <= value <= scale[1]:
        assert found.value == value
    else:
        assert found.invalid == "not-a-choice"


@pytest.mark.parametrize("written", ["7", "7.0", "7/10", "7 / 10", "7 out of 10", 7.0, "+7"], ids=str)
def test_another_spelling_of_a_number_is_repaired(written: object) -> None:
    """A string, a decimal point or "of ten" says the same number: read, and noted as repaired."""
    found = parse_score(stated(written))
    assert (found.value, found.repaired) == (7, ("value",))


def test_what_is_plain_depends_on_the_scale() -> None:
    """Where the ends have a decimal point any number is as asked for; where they are whole, only whole ones are."""
    assert parse_score(stated(0.5), "json", (0.0, 1.0)).repaired == ()
    assert parse_score(stated(1), "json", (0.0, 1.0)).repaired == ()
    assert parse_score(stated(7.5)) == Score(7.5, "It is right.", None, ("value",))


@pytest.mark.parametrize(
    "written",
    [
        None,
        True,
        False,
        [7],
        {"of": 7},
        "seven",
        "7/5",
        "7/100",
        "7 of 5",
        "between 7 and 8",
        "7-8",
        "",
        "Infinity",
        "0x7",
        "٧",
        "1e1",
        0,
        11,
        -7,
        "70%",
    ],
    ids=str,
)
def test_what_is_not_a_number_of_the_scale(written: object) -> None:
    """Words, true, null, other scales and numbers outside of it are no score."""
    assert kind(stated(written)) == "not-a-choice"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("<think>7", "empty"),
        ("<think>7</think>", "empty"),
        ("It is a 7.", "no-json"),
        ("7", "no-json"),
        ('{"rating": 7, "reason": "r"}', "no-json"),
        ('{"score": 7, "reason": "It', "truncated"),
        (f"{stated(7)} {stated(8)}", "conflict"),
        (f"{stated(70)} {stated(7)}", "conflict"),
        ('{"score": 7, "score": 8, "reason": "r"}', "conflict"),
        ('{"score": 7, "Score": 8}', "conflict"),
        (f'{stated(7)} and {{"score": 8, nothing that is JSON}}', "conflict"),
        (f"[{stated(7)}, {stated(6)}]", "conflict"),
        ("x" * (MAX_CHARACTERS + 1), "too-long"),
        (f'{{"score": 1{"0" * 5000}}}', "no-json"),
        ('{"score": 1e99999, "reason": "r"}', "not-a-choice"),
    ],
)
def test_why_a_text_states_no_score(text: str, why: str) -> None:
    """Each failure has the kind that a verdict's would have."""
    assert kind(text) == why


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{stated(7)}\n```",
        f"Here it is: {stated(7)}",
        f"<think>an 8? {stated(8)}</think>{stated(7)}",
        f"[{stated(7)}]",
        "{'score': 7, 'reason': 'It is right.',}",
        f"{stated(7)}\n{stated(7)}",
        '{"Score": 7, "reason": "It is right."}',
        f"{stated(7)} {stated('7/10')}",
        f'{{"score": "a number from 1 to 10"}} {stated(7)}',
    ],
)
def test_syntax_is_repaired(text: str, snapshot: SnapshotAssertion) -> None:
    """What surrounds a score, and how it is spelled, is mended and noted; objects that agree are one statement."""
    found = parse_score(text)
    assert (found.value, found.reason) == (7, "It is right.")
    assert set(found.repaired) == snapshot


def test_thinking_is_no_reason() -> None:
    """What stands before </think> is kept apart."""
    found = parse_score(f"<think>Hm, 8.</think>{stated(7)}")
    assert (found.value, found.reason, found.reasoning) == (7, "It is right.", "Hm, 8.")


# --- brackets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "repaired"),
    [
        ("It is right. [[7]]", 7, ()),
        ("At first [[9]], but then:\n[[7]]", 7, ()),
        ("Right. [[ 7 ]]", 7, ("syntax",)),
        ("Right. [[7/10]]", 7, ("syntax",)),
        ("Right. [[7.0]]", 7, ("syntax",)),
        ("Right. [[7.5]]", 7.5, ("syntax",)),
        ("[[10]] Right.", 10, ()),
        ("<think>[[3]]</think>Right. [[4]]", 4, ()),
    ],
)
def test_the_last_brackets_count(text: str, value: float, repaired: tuple[str, ...]) -> None:
    """Judges name numbers while they explain; the last one in brackets is their score."""
    found = parse_score(text, "brackets")
    assert (found.value, found.repaired) == (value, repaired)
    assert found.reason


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("It is a 7.", "no-token"),
        ("[[A]]", "no-token"),
        ("[[score]]", "no-token"),
        ("[7]", "no-token"),
        ("", "empty"),
        ("[[11]]", "not-a-choice"),
        ("[[7/5]]", "not-a-choice"),
        ("[[7]] [[0]]", "not-a-choice"),
        ("<think>[[7]]</think>", "empty"),
    ],
)
def test_why_brackets_state_no_score(text: str, why: str) -> None:
    """A number outside of the scale is no score, and no earlier one stands in for it."""
    assert kind(text, form="brackets") == why


# --- any text ---------------------------------------------------------------------------------------------


@given(st.text() | st.text(alphabet='{}[]":,/\\score 7.0-e\n`<>think'), notations, scales)
def test_any_text_is_read(text: str, form: Literal["json", "brackets"], scale: Scale) -> None:
    """No text raises, and whatever is read is a number of the scale or has a kind."""
    found = parse_score(text, form, scale)
    assert (found.value is None) != (found.invalid is None)
    assert found.value is None or scale[0] <= found.value <= scale[1]
    assert found.invalid is None or found.invalid in get_args(InvalidKind)
    assert not (found.invalid and found.repaired)


HOSTILE = [
    '{"score": ' * 60_000,
    '"score": 7, ' * 60_000,
    "[[7/" * 200_000,
    "[[" + "7" * 900_000,
    '{"score": "' + "7" * 900_000 + '"}',
    "7 / " * 200_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("form", NOTATIONS)
def test_time_is_linear(text: str, form: Literal["json", "brackets"]) -> None:
    """Hostile text costs seconds at most."""
    assert quickest(lambda: parse_score(text, form), 5) < 5


def test_an_unknown_form() -> None:
    """It is a mistake of the caller."""
    with pytest.raises(ValueError, match="xml"):
        parse_score("7", "xml")  # type: ignore[arg-type]


# --- ties of judges of pairs ------------------------------------------------------------------------------


@pytest.mark.parametrize("written", ["0", '"tie"'])
def test_a_tie_counts_where_it_is_to(written: str) -> None:
    """Zero and the word state a tie; where ties do not count, zero is no choice and the word is invalid."""
    text = f'{{"selected_response": {written}, "reason": "equal"}}'
    found = parse_verdict(text, ties="half")
    assert (found.tie, found.invalid, found.outcome, found.reason) == (True, None, 0.5, "equal")
    assert parse_verdict(text).invalid == ("tie" if '"tie"' in text else "not-a-choice")


def test_a_tie_in_brackets() -> None:
    """[[C]] is a tie."""
    assert parse_verdict("Equal. [[C]]", "brackets", ties="half").tie
    assert parse_verdict("Equal. [[C]]", "brackets").invalid == "tie"


@pytest.mark.parametrize("more", ['{"selected_response": 1, "reason": "b"}', '"selected_response": 1,'])
def test_a_tie_contradicts_a_choice(more: str) -> None:
    """A text that states both states neither."""
    assert parse_verdict(f'{{"selected_response": 0, "reason": "a"}} {more}', ties="half").invalid == "conflict"
