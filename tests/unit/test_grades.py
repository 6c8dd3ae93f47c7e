"""What the text of a judge of one response may say, what nobody may read into it, and how sure the judge was."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.planted import BODIES, FILLERS, Planted, pieces
from support.timing import quickest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.cassettes.response_filter import keep_verdict_logprobs
from judgefixtures.models.probabilities import Probability, Token
from judgefixtures.models.verdicts import Grade, InvalidKind
from judgefixtures.parsing import config_hints
from judgefixtures.parsing.config_hints import LONGEST_LABEL, hint_for_answer, hint_for_score
from judgefixtures.parsing.grade_probabilities import (
    UNDECIDED,
    grade_probability,
    grade_reasons_first,
    grade_side,
    grade_token_pattern,
)
from judgefixtures.parsing.grades import (
    FIELDS,
    LONGEST_WORD,
    GradeFormat,
    grade_words,
    label_sides,
    normalize_grade,
    parse_grade,
)
from judgefixtures.parsing.verdicts import MAX_CHARACTERS, parse_verdict
from judgefixtures.providers import google, openai
from judgefixtures.providers.http import HttpResponse

ANSWERS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "grades.jsonl").read_text(encoding="utf-8").splitlines()
]
FORMATS: tuple[GradeFormat, ...] = get_args(GradeFormat)
PASSING = ["pass", "PASSED", "Yes", "true", "1", "correct", "right", "good", True, 1, 1.0]
FAILING = ["fail", "Failed", "no", "FALSE", "0", "incorrect", "wrong", "bad", False, 0, 0.0]
formats = st.sampled_from(FORMATS)
# A reason in which nothing is a grade to anybody who reads what stands in the place of one.
LURES = [
    '{"verdict": "pass"}',
    '{"verdict": "fail", "score": 1}',
    "[[PASS]]",
    "[[FAIL]]",
    "\nGRADE: C\n",
    "GRADE: I",
    "PASS",
    "fail",
    "true",
    '"passed": false,',
    "</think>",
    "```json",
    "}",
    "{",
    '\\"',
]
reasons = st.lists(st.one_of(st.sampled_from(LURES), st.text(max_size=12)), max_size=6).map(" ".join)


def read(answer: Mapping[str, Any]) -> Grade:
    """Return what is read of one of the answers in the data file."""
    return parse_grade(answer["text"], answer["format"], answer.get("labels"), answer.get("field"))


def said(value: object, field: str = "verdict", **more: Any) -> str:
    """Return an object that states a grade."""
    return json.dumps({field: value, **more})


# --- the record -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("passed", "invalid"), [(None, None), (False, "conflict"), (True, "no-json")])
def test_a_grade_is_a_pass_or_fail_or_a_failure(passed: Any, invalid: Any, snapshot: SnapshotAssertion) -> None:
    """No grade is both valid and invalid, and none is neither."""
    with pytest.raises(ValueError) as error:
        Grade(passed, "", invalid)
    assert str(error.value) == snapshot


# --- what judges answer -----------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['form']}: {answer['text'][:40]!r}")
def test_what_the_judges_of_the_frameworks_say(answer: dict[str, Any]) -> None:
    """Every answer of the data file is read as what it says, or is invalid with the kind of its failure."""
    found = read(answer)
    assert (found.passed, found.invalid) == (answer.get("passed"), answer.get("invalid"))
    assert answer.get("reason", found.reason) == found.reason


def test_the_data_file_has_what_its_test_is_for() -> None:
    """At least 200 different answers: of every form, each outcome; every kind of failure that a text may have."""
    assert len({json.dumps(answer, sort_keys=True) for answer in ANSWERS}) >= 200
    for form in FORMATS:
        outcomes = {answer.get("passed") for answer in ANSWERS if answer["format"] == form}
        assert outcomes == {True, False, None}
    kinds = {answer["invalid"] for answer in ANSWERS if "invalid" in answer}
    assert kinds == {"empty", "no-json", "truncated", "conflict", "not-a-choice", "no-token"}


# --- what is read -----------------------------------------------------------------------------------------


@given(st.sampled_from(FIELDS), st.sampled_from(PASSING + FAILING), reasons)
def test_a_grade_is_read_whatever_its_reason_says(field: str, value: Any, reason: str) -> None:
    """Each usual word, boolean and number in each usual field; what a reason embeds changes neither of them."""
    found = parse_grade(said(value, field, reason=reason))
    assert (found.passed, found.repaired) == (value in PASSING, ())
    assert found.reason == reason


@given(reasons, st.booleans(), st.sampled_from(["before", "after"]))
def test_nothing_embedded_is_read(words: str, passed: bool, where: str) -> None:
    """Neither a rubric, nor a list, nor an object within the answer states a grade, wherever it stands."""
    inner = {"rubric": {"verdict": not passed, "text": words}, "points": [{"passed": not passed}, words]}
    outer = {"verdict": passed}
    text = json.dumps({**inner, **outer} if where == "before" else {**outer, **inner})
    assert parse_grade(text).passed is passed


@given(reasons, st.booleans())
def test_the_last_one_counts_in_brackets_and_on_a_line(words: str, passed: bool) -> None:
    """Judges name both while they explain: what stands before the last one changes nothing."""
    bare = words.replace("</think>", "")
    assert parse_grade(f"{bare}\n[[{'PASS' if passed else 'FAIL'}]]", "brackets").passed is passed
    assert parse_grade(f"{bare}\nGRADE: {'C' if passed else 'I'}", "grade").passed is passed


@given(st.text(), formats)
@example('{"verdict": ' * 3000, "json")
@example("[" * 5000, "json")
@example('{"score": 1' + "0" * 5000 + "}", "json")
@example('{"score": 1e999999999}', "json")
@example('{"verdict": "pass", "reason": "\ud83d"}', "json")
@example("GRADE:" * 2000, "grade")
@example("[[" * 2000, "brackets")
def test_no_text_raises(text: str, form: GradeFormat) -> None:
    """Whatever a model writes is a grade or a failure of a kind that there is, with a reason that can be written."""
    found = parse_grade(text, form)
    assert found.invalid is None or found.invalid in get_args(InvalidKind)
    found.reason.encode()
    assert hint_for_answer(text, form) == "" or found.passed is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), st.lists))
def test_what_is_none_of_the_words_is_not_a_choice(value: Any) -> None:
    """A value passes or fails where it is one of the words, and otherwise neither: valid if and only if readable."""
    found = parse_grade(said(value))
    bare = value.casefold().strip(" *_\"'.") if isinstance(value, str) else value
    usual = {each.casefold() if isinstance(each, str) else each for each in PASSING + FAILING}
    if not isinstance(bare, list) and bare in usual:
        assert found.passed is (bare in [each.casefold() if isinstance(each, str) else each for each in PASSING])
    elif not isinstance(value, str):
        assert found.invalid == "not-a-choice"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "dressed", ["{}.", "**{}**", "`{}`", '"{}"', "“{}”", " {}\n", "({})", "__{}__", "{}!", "*{}*."]
)
@pytest.mark.parametrize(("word", "passed"), [("Pass", True), ("FAIL", False), ("ｐａｓｓ", True)])
def test_marks_around_a_word_do_not_matter(dressed: str, word: str, passed: bool) -> None:
    """Emphasis, quotes, brackets and punctuation are what models add, in all four forms."""
    text = dressed.format(word)
    assert parse_grade(said(text)).passed is passed
    assert parse_grade(f"So: [[{text.strip()}]]".replace("[[(", "[[").replace(")]]", "]]"), "brackets").passed is passed
    assert parse_grade(f"So.\nGRADE: {text}", "grade").passed is passed
    assert parse_grade(text, "word").passed is passed


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text", ["partial", "P", "not pass", "pass?", "-1", ">1", "<1", "!pass", "1/2", "0.5", "50%", "pass/fail", "C", "✓"]
)
@pytest.mark.parametrize("form", ["json", "brackets", "word"])
def test_no_other_word_is_a_grade(text: str, form: GradeFormat) -> None:
    """Partial grades, letters, doubts and comparisons are not moved to the nearest of the two."""
    whole = {"json": said(text), "brackets": f"[[{text}]]", "word": text}[form]
    assert parse_grade(whole, form).invalid == "not-a-choice"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"pass": True, "score": 0.7}, True),
        ({"score": 0.7, "pass": True}, True),
        ({"answer": "Paris", "correct": True}, True),
        ({"verdict": None, "score": 0}, False),
        ({"verdict": "partial", "passed": False}, False),
        ({"verdict": "pass", "label": "good", "score": 1}, True),
        ({"pass": True, "score": 0}, "conflict"),
        ({"verdict": "pass", "result": "fail"}, "conflict"),
        ({"verdict": "pass", "Verdict": "fail"}, "conflict"),
        ({"verdict": "pass", "Verdict": "Pass!"}, True),
        ({"verdict": None, "score": None}, "not-a-choice"),
        ({"rating": "pass"}, "no-json"),
    ],
    ids=str,
)
def test_only_fields_that_can_be_read_disagree(fields: dict[str, Any], expected: object) -> None:
    """The first field counts whose value can be read; another one that says the other is a conflict."""
    found = parse_grade(json.dumps(fields))
    assert (found.invalid if found.passed is None else found.passed) == expected


def test_a_named_field_alone_is_read() -> None:
    """With a field of one's own neither the usual ones count nor can they contradict it."""
    text = '{"verdict": "fail", "Is Grounded": "yes"}'
    assert parse_grade(text, field="is_grounded").passed is True
    assert parse_grade(text, field="rating").invalid == "no-json"


def test_the_reason_is_the_first_field_that_holds_words() -> None:
    """`reason` before what the frameworks call it; an empty one and the grade's own field are none."""
    assert parse_grade(said(True, reasoning="b", reason="a")).reason == "a"
    assert parse_grade(said(True, reason="", explanation="c")).reason == "c"
    assert parse_grade(said(True, critique="d")).reason == "d"
    assert parse_grade(said("yes", "explanation", comment="e"), field="explanation").reason == "e"
    assert parse_grade(said(True)).repaired == ("reason",)


# --- labels of one's own ----------------------------------------------------------------------------------


@given(
    st.sampled_from([[True, False], [False, True], [["true"], ["false"]], [[False], [True]]]), st.booleans(), formats
)
def test_booleans_pass_on_the_side_where_they_stand(labels: list[Any], value: bool, form: GradeFormat) -> None:
    """`[false, true]` passes what is false: JSON's false, and the word where no JSON is asked for."""
    word = str(value).lower()
    text = {"json": said(value), "brackets": f"[[{word}]]", "grade": f"GRADE: {word}", "word": word}[form]
    first = json.loads(str(labels[0][0]).lower()) if isinstance(labels[0], list) else labels[0]
    assert parse_grade(text, form, labels).passed is (value is first)


@pytest.mark.parametrize("value", ["pass", "fail", True, False, 1, 0, "yes", "correct"])
def test_with_labels_of_ones_own_only_those_count(value: Any) -> None:
    """No usual word is read beside them; each side may be several."""
    labels = ["acceptable", ["partial", "un-acceptable", "5"]]
    assert parse_grade(said(value), labels=labels).invalid == "not-a-choice"
    assert [parse_grade(said(each), labels=labels).passed for each in ("Acceptable.", "PARTIAL", 5, "5.0")] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "labels",
    [["pass"], "pass", [[], ["fail"]], ["pass", " "], ["pass", 1], ["pass", ["fail", "PASS."]], [True, "true"]],
)
def test_labels_that_are_not_two_sides(labels: Any, snapshot: SnapshotAssertion) -> None:
    """Labels by which nobody could tell a pass from a fail are an error that says so."""
    with pytest.raises(ValueError) as error:
        parse_grade("pass", "word", labels)
    assert str(error.value) == snapshot


def test_an_unknown_form_is_an_error(snapshot: SnapshotAssertion) -> None:
    """A format that there is not is named, with those that there are."""
    with pytest.raises(ValueError) as error:
        parse_grade("7", "xml")  # type: ignore[arg-type]
    assert str(error.value) == snapshot


# --- as verdicts are --------------------------------------------------------------------------------------

WRAPPED = [
    "{}",
    "```json\n{}\n```",
    "Sure: {} That is all.",
    "<think>{{}}</think>{}",
    "[{}]",
    "{} {}",
    '"not closed {}',
    "{{ {}",
    "",
    "<think>{}",
    "{} // {{",
]


@given(st.sampled_from(WRAPPED), st.integers(0, 70))
def test_an_answer_is_looked_for_where_a_verdict_is(wrapped: str, cut: int) -> None:
    """Fences, thinking, text around, several objects, what is cut off: repaired and failing as a verdict is."""
    grade = '{"verdict": "pass", "reason": "It is right."}'
    verdict = '{"selected_response": 1, "reason": "It is right."}'
    found = parse_grade(wrapped.replace("{}", grade))
    asked = parse_verdict(wrapped.replace("{}", verdict))
    assert (found.invalid, found.repaired, found.reasoning.replace(grade, verdict)) == (
        asked.invalid,
        asked.repaired,
        asked.reasoning,
    )
    assert parse_grade(grade[: min(cut, len(grade) - 1)]).passed is None


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "piece", ['{"verdict": "', "[[", "[[PASS", "**", "GRADE:", "GRADE: **", '"verdict": "pass', "# ", "pass ", "a*"]
)
def test_time_is_linear(form: GradeFormat, piece: str) -> None:
    """What is written to cost time costs little: a text as long as any that is read."""
    text = piece * (500_000 // len(piece))
    assert quickest(lambda: parse_grade(text, form), 5) < 5


def test_a_number_that_is_longer_than_a_word_is_not_a_grade() -> None:
    """As a text of so many characters is none; one that is no longer is what it says, zeros at its end included."""
    read_of = {zeros: parse_grade(f'{{"verdict": 1.{"0" * zeros}}}') for zeros in (1, LONGEST_WORD - 1, LONGEST_WORD)}
    assert [found.passed for found in read_of.values()] == [True, True, None]
    assert read_of[LONGEST_WORD].invalid == "not-a-choice"
    assert normalize_grade(Decimal(f"1.{'0' * LONGEST_WORD}1")) is None


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_too_long_is_not_read(form: GradeFormat) -> None:
    """A loop is told by its length."""
    assert parse_grade("x" * (MAX_CHARACTERS + 1), form).invalid == "too-long"


# --- hints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('{"rating": "good"}', {}),
        ('{"id": 1, "rating": "good"}', {}),
        ('{"rating": "so-so"} {"rating": "good"}', {}),
        ('{"flag": true, "rating": "good"}', {}),
        ('{"id": 1, "name": "x"}', {}),
        ('{"pass": true, "score": 0}', {}),
        ('{"flagged": false}', {}),
        ('{"flagged": false}', {"labels": [False, True]}),
        ("It is.\nGRADE: C", {}),
        ("It is. [[PASS]]", {}),
        ("pass", {}),
        ('{"verdict": "pass"}', {"format": "word"}),
        ('{"verdict": "acceptable"}', {}),
        ("It is in part.\nGRADE: P", {"format": "grade"}),
        ("GRADE: P", {}),
        ('{"choice": "Y"}', {}),
        ('{"verdict": "B"}', {"labels": ["A", "C"]}),
        ('{"rating": "so", "Tone": "warm"}', {"field": "tone"}),
        ('{"score": 7}', {}),
        ('{"rating": 7}', {}),
        ("[[0.5]]", {"format": "brackets"}),
        ('{"verdict": "pass"}', {}),
        ("The response is correct in every point.", {}),
        ('{"verdict": null}', {}),
        ('{"verdict": "pass", "reason": "cut', {}),
        ("", {}),
    ],
)
def test_a_hint_names_the_key_that_would_read_it(text: str, asked: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    """Of an answer that cannot be read it is said which key would, and nothing where none would."""
    assert hint_for_answer(text, **asked) == snapshot


@pytest.mark.parametrize(
    ("text", "form", "hint"),
    [
        ('{"verdict": "pass"}', "json", 'mode = "binary"'),
        ('{"score": false}', "json", 'mode = "binary"'),
        ("[[FAIL]]", "brackets", 'mode = "binary"'),
        ("It is.\nGRADE: I", "json", 'mode = "binary" and verdict = "grade"'),
        ('{"verdict": "pass"}', "brackets", 'mode = "binary" and verdict = "json"'),
        ('{"flagged": false}', "json", 'mode = "binary" and grade_field = "flagged"'),
        ('{"score": 0}', "json", ""),
        ('{"rating": 1}', "json", ""),
        ("[[0]]", "brackets", ""),
        ('{"verdict": "pass", "score": 0}', "json", 'mode = "binary" and grade_field = "verdict"'),
        ("It is good.", "json", ""),
    ],
)
def test_an_answer_that_states_no_score_may_be_a_grade(text: str, form: Literal["json", "brackets"], hint: str) -> None:
    """A word is a grade in any form; a number is none: it was meant as a score."""
    assert hint_for_score(text, form) == hint


def test_only_labels_of_ones_own_are_read_after_grade() -> None:
    """Neither C nor I is one where others are given; a word of any length is, as long as it is one of them."""
    assert parse_grade("GRADE: C", "grade", ["A", "B"]).invalid == "not-a-choice"
    assert parse_grade("GRADE: A", "grade", ["A", "B"]).passed
    long = "supported by the whole of the context"
    assert parse_grade(json.dumps({"verdict": long}), labels=[long, "not supported"]).passed


def test_a_hint_holds() -> None:
    """A form or a field that is hinted at, and nothing beside it, does read the answer."""
    held = 0
    for answer in ANSWERS:
        hint = hint_for_answer(answer["text"], answer["format"], answer.get("labels"), answer.get("field"))
        key, _, value = hint.partition(" = ")
        if "invalid" not in answer or key not in ("verdict", "grade_field") or " and " in value:
            continue
        said = json.loads(value.partition(",")[0])
        read = ("json", said) if key == "grade_field" else (said, None)
        grade = parse_grade(answer["text"], read[0], answer.get("labels"), read[1])
        assert grade.passed is not None, (answer["text"], hint)
        held += 1
    assert held >= 8


@pytest.mark.parametrize(
    ("answer", "piece"),
    [
        ('{{"{}": "good"}}', "tone"),
        ('{{"{}": "acceptable"}}', "score"),
        ('{{"{}": 7}}', "score"),
        ('{{"score": {}}}', "2"),
        ('{{"score": 2.{}}}', "2"),
    ],
)
def test_no_name_or_number_that_is_longer_than_a_label_is_in_a_hint(answer: str, piece: str) -> None:
    """A judge may write one of any length, and a person reads the hint: such a field gives none."""
    longest = piece * (LONGEST_LABEL // len(piece) - 2)
    assert longest in hint_for_answer(answer.format(longest))
    assert hint_for_answer(answer.format(longest + piece * 4)) == ""


def test_a_field_that_the_table_names_may_be_long() -> None:
    """The hint does not say its name, and the value in it counts as in any other."""
    field = "how well the answer keeps to what was asked for"
    assert hint_for_answer(json.dumps({field: "acceptable"}), field=field).startswith("labels = ")


def test_a_field_is_tried_only_where_its_value_is_a_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many fields of prose an answer has, it is parsed no more often than one with none of them."""
    parsed: list[tuple[Any, ...]] = []

    def counting(*asked: Any) -> Grade:
        parsed.append(asked)
        return parse_grade(*asked)

    monkeypatch.setattr(config_hints, "parse_grade", counting)
    answer = {"rating": "good", "tone": "It is warm.", "points": [1, 2], "rubric": {"a": "pass"}, "length": None}
    assert hint_for_answer(json.dumps(answer)) == 'grade_field = "rating"'
    least, parsed[:] = len(parsed), []
    assert hint_for_answer(json.dumps(answer | {f"note {number}": f"Note {number}." for number in range(40)})).endswith(
        '"rating"'
    )
    assert len(parsed) == least
    assert [asked[3:] for asked in parsed if len(asked) > 3][1:] == [("rating",)]


# --- how sure the judge was -------------------------------------------------------------------------------

READERS = {"openai": openai.read_completion, "google": google.read_content}
# A text with the word marked, the form, labels, and the words with which a pass and a fail begin there.
PLACES: dict[str, tuple[str, GradeFormat, Any, tuple[str, str]]] = {
    "json": ('{"verdict": "«pass»", "reason": "It would fail otherwise."}', "json", None, ("pass", "fail")),
    "reason first": (
        '{"reason": "pass? \\"verdict\\": \\"pass\\"", "verdict": "«FAIL»"}',
        "json",
        None,
        ("PASS", "FAIL"),
    ),
    "a boolean": ('{"reasoning": "true to the facts", "score": «false»}', "json", None, ("true", "false")),
    "a number": ('{"verdict": «1», "reason": "1 of 1"}', "json", None, ("1", "0")),
    "a float": ('{"score": «0».0, "reason": "1.0 would be more"}', "json", None, ("1", "0")),
    "two fields": ('{"pass": «true», "score": 1, "reason": "so"}', "json", None, ("true", "false")),
    "half a word": ('{"label": "«in»correct"}', "json", None, ("correct", "in")),
    "a string": ('"{\\"verdict\\": \\"«yes»\\"}"', "json", None, ("yes", "no")),
    "thinking": ('<think>{"verdict": "pass"}</think>{"verdict": "«fail»"}', "json", None, ("pass", "fail")),
    "a fence": ('```json\n{"result": "«yes»", "rationale": "no doubt"}\n```', "json", None, ("yes", "no")),
    "reversed": ('{"verdict": «false», "reason": "not toxic"}', "json", [False, True], ("false", "true")),
    "own words": ('{"verdict": "«gut»"}', "json", ["gut", ["schlecht", "mangelhaft"]], ("gut", "mangel")),
    "brackets": ("[[PASS]]? No: 日本語 [[«FAIL»]]", "brackets", None, ("PASS", "FAIL")),
    "brackets, bold": ("So: [[**«Pass»**]]", "brackets", None, ("Pass", "Fail")),
    "grade": ("GRADE: C at first.\n\n**GRADE: «I»**", "grade", None, ("C", "I")),
    "grade, a word": ("So.\nGRADE: «CORRECT»", "grade", None, ("CORRECT", "IN")),
    "word": ("«pass»", "word", None, ("pass", "fail")),
    "word, bold": ("<think>fail</think>\n\n**«No»**", "word", None, ("Yes", "No")),
}


def logit(p: float) -> float:
    """Return the log odds of a probability."""
    return math.log(p / (1 - p))


def listed(tokens: list[Planted], count: int = 40) -> list[Token]:
    """Return tokens as a provider reads them."""
    return [
        Token(token.text, math.log(token.chance), {text: math.log(p) for text, p in token.likeliest(count)})
        for token in tokens
    ]


def planted_at(marked: str, words: Mapping[str, float], cuts: list[int]) -> tuple[str, list[Planted]]:
    """Return a text without its mark, and tokens of which the marked one has these words with their chances."""
    before, _, rest = marked.partition("«")
    stated, _, after = rest.partition("»")
    found = [Planted(piece) for part in (before,) for piece in pieces(part, cuts)]
    others = {word.encode(): p for word, p in words.items()} | {word.encode(): p for word, p in FILLERS.items()}
    found.append(Planted(stated.encode(), others.get(stated.encode(), 0.5), others))
    return before + stated + after, found + [Planted(piece) for piece in pieces(after, cuts)]


@pytest.mark.parametrize("place", PLACES)
@given(cuts=st.lists(st.integers(0, 200), max_size=20), p=st.floats(1e-6, 1 - 1e-6), rest=st.floats(0, 0.5))
def test_a_planted_probability_is_found(place: str, cuts: list[int], p: float, rest: float) -> None:
    """In all four forms, however the text around the word is cut, the log odds are those of pass planted at it."""
    marked, form, labels, (passing, failing) = PLACES[place]
    whole = (1 - rest) * 0.99
    text, tokens = planted_at(marked, {passing: p * whole, failing: (1 - p) * whole}, cuts)
    found = grade_probability(listed(tokens), text, parse_grade(text, form, labels), form, labels)
    assert found is not None
    assert found.log_odds == pytest.approx(logit(p), abs=1e-9)
    assert found.elsewhere == pytest.approx(1 - whole, abs=1e-9)
    assert not found.is_bound


def found_in(others: Mapping[str, float], text: str, stated: str, form: GradeFormat = "json", **more: Any) -> Any:
    """Return what is read where a server lists these probabilities in place of the first token that is stated."""
    before, _, after = text.partition(stated)
    chances = {word.encode(): p for word, p in others.items()}
    tokens = [Planted(before.encode()), Planted(stated.encode(), chances[stated.encode()], chances)]
    tokens = [token for token in [*tokens, Planted(after.encode())] if token.text]
    labels = more.get("labels")
    return grade_probability(listed(tokens), text, parse_grade(text, form, labels), form, labels)


def test_all_that_states_a_grade_counts() -> None:
    """Words of a side are added up, whole and cut, in any case; what begins like one and is none is elsewhere."""
    chances = {"pass": 0.4, "Pass": 0.1, "passed": 0.05, " yes": 0.05, "fa": 0.1, "in": 0.06, "0": 0.04}
    chances |= {"passable": 0.05, "partial": 0.05, "unsure": 0.03, "0.5": 0.02, '"': 0.01}
    found = found_in(chances, '{"verdict": "pass"}', "pass")
    assert found.log_odds == pytest.approx(math.log(0.6 / 0.2), abs=1e-12)
    assert found.elsewhere == pytest.approx(0.2, abs=1e-12)


def test_a_partial_grade_is_elsewhere() -> None:
    """After "GRADE:" a P is no beginning of "pass": where grades may be letters it is one of its own."""
    found = found_in({"C": 0.5, "I": 0.25, "P": 0.2, "Correct": 0.05}, "So.\nGRADE: C", "C", "grade")
    assert found.log_odds == pytest.approx(math.log(0.55 / 0.25), abs=1e-12)
    assert found.elsewhere == pytest.approx(0.2, abs=1e-12)


def test_a_grade_that_is_not_listed_is_bounded() -> None:
    """Where only one side is among what a server lists, the other is at most as likely as the least that it lists."""
    found = found_in({"pass": 0.9, "Pass": 0.06, "partial": 0.02}, '{"verdict": "pass"}', "pass")
    assert found.high == math.inf
    assert found.low == pytest.approx(math.log(0.96 / 0.02), abs=1e-9)
    assert found.is_bound


LABELS = ["fully supported", ["fully unsupported", "not supported"]]


def test_words_that_begin_alike_are_followed_to_where_they_part() -> None:
    """A word of several tokens: each side has the probability of all its ways, whichever token tells them apart."""
    text = '{"verdict": "fully supported"}'
    tokens = [
        Planted(b'{"verdict": "'),
        Planted(b"fully", 0.7, {b"fully": 0.7, b"not": 0.2, b"?": 0.1}),
        Planted(b" supported", 0.6, {b" supported": 0.6, b" uns": 0.4}),
        Planted(b'"}'),
    ]
    found = grade_probability(listed(tokens), text, parse_grade(text, labels=LABELS), labels=LABELS)
    assert found is not None
    assert found.log_odds == pytest.approx(math.log(0.7 * 0.6 / (0.2 + 0.7 * 0.4)), abs=1e-9)
    assert found.elsewhere == pytest.approx(0.1, abs=1e-9)


def test_what_may_become_either_side_bounds_the_odds() -> None:
    """A token that was not said and with which words of both sides begin may have been a pass or a fail."""
    found = found_in({"not": 0.6, "fully": 0.4}, '{"verdict": "not supported"}', "not", labels=LABELS)
    assert found.low == -math.inf or found.value <= 0.4
    assert found.bounds[1] == pytest.approx(0.4, abs=1e-9)


@pytest.mark.parametrize("letters", ["ab", "✅❌合不"])
@given(st.data())
def test_the_truth_lies_within_the_bounds(letters: str, data: st.DataObject) -> None:
    """Of a model that says one of the labels, byte by byte: its probability of a pass lies between the bounds.

    Where no label begins as one of the other side does, the bounds are that probability.
    """
    words = data.draw(st.lists(st.text(letters, min_size=1, max_size=4), min_size=2, max_size=6, unique=True))
    weights = data.draw(st.lists(st.integers(1, 20), min_size=len(words), max_size=len(words)))
    chances = {f'{word}"'.encode(): weight / sum(weights) for word, weight in zip(words, weights, strict=True)}
    passing = data.draw(st.integers(1, len(words) - 1))
    labels, said = [words[:passing], words[passing:]], data.draw(st.sampled_from(words))
    tokens = [Planted(b'{"verdict": "')]
    spelled = f'{said}"'.encode()
    for number in range(len(spelled)):
        begun = {word[number : number + 1]: 0.0 for word in chances if word.startswith(spelled[:number])}
        before = math.fsum(p for word, p in chances.items() if word.startswith(spelled[:number]))
        for each in begun:
            one = math.fsum(p for word, p in chances.items() if word.startswith(spelled[:number] + each))
            begun[each] = one / before
        byte = spelled[number : number + 1]
        tokens.append(Planted(byte, begun[byte], begun))
    text = json.dumps({"verdict": said}, ensure_ascii=False)
    found = grade_probability(listed([*tokens, Planted(b"}")]), text, parse_grade(text, labels=labels), labels=labels)
    truth = math.fsum(chances[f'{word}"'.encode()] for word in words[:passing])
    assert found is not None
    assert found.bounds[0] - 1e-6 <= truth <= found.bounds[1] + 1e-6
    if not {word.encode()[0] for word in words[:passing]} & {word.encode()[0] for word in words[passing:]}:
        assert found.value == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize(
    ("labels", "said", "cut"),
    [
        (["✅", "❌"], "✅", 1),
        (["✅", "❌"], "❌", 2),
        (["合格", "不合格"], "合格", 2),
        (["合格", "不合格"], "不合格", 2),
        (["不错", "不好"], "不好", 4),
        (["ДА", "НЕТ"], "ДА", 1),
    ],
)
def test_a_character_that_is_split_over_tokens_is_followed(labels: list[str], said: str, cut: int) -> None:
    """Tokens may end within a character, the first one or a later one: its beginning is of the words that have it."""
    other = next(label for label in labels if label != said).encode()
    begun, rest = said.encode()[:cut], said.encode()[cut:]
    chances = {begun: 0.7, other[:cut]: 0.3} if other[:cut] != begun else {begun: 1.0}
    after = {rest: 1.0} if other[:cut] != begun else {rest: 0.7, other[cut:]: 0.3}
    tokens = [Planted(b'{"verdict": "'), Planted(begun, chances[begun], chances), Planted(rest, after[rest], after)]
    text = f'{{"verdict": "{said}"}}'
    found = grade_probability(listed([*tokens, Planted(b'"}')]), text, parse_grade(text, labels=labels), labels=labels)
    assert found is not None
    assert found.value == pytest.approx(0.7 if said == labels[0] else 0.3, abs=1e-9)
    assert not found.is_bound


@pytest.mark.parametrize(("cut", "side"), [("“", UNDECIDED), ("ｐ", UNDECIDED), ("pasｓ", UNDECIDED), ("maｙ", None)])
def test_the_beginning_of_a_character_may_be_anything(cut: str, side: int | None) -> None:
    """A mark before a word, or a letter in another width: nobody knows yet, unless what stands before is of no word."""
    assert [grade_side(cut.encode()[:-left], grade_words("json")) for left in (1, 2)] == [side, side]


SPELLINGS = {
    "alone": ['{"verdict": "', "pass", '", "reason": "ok"}'],
    "with a quote": ['{"verdict": ', '"pass', '", "reason": "ok"}'],
    "with a colon": ['{"verdict', '":"pass', '", "reason": "ok"}'],
    "with what follows": ['{"verdict": "', 'pass",', ' "reason": "ok"}'],
    "everything": ['{"verdict": "pass", "reason": "pass"}'],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_word_is_found_in_whatever_token_holds_it(spelling: str) -> None:
    """A token may hold syntax before the word and behind it, or the whole answer."""
    parts = SPELLINGS[spelling]
    stated = next(part for part in parts if "pass" in part)
    others = {stated: 0.6, stated.replace("pass", "fail", 1): 0.3, stated.replace("pass", "partial", 1): 0.1}
    found = found_in(others, "".join(parts), stated)
    assert found.value == pytest.approx(2 / 3, abs=1e-9)
    assert found.elsewhere == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "form"), [("no grade", "json"), ("", "word"), ('{"verdict": "pass", "passed": false}', "json")]
)
def test_no_grade_has_no_probability(text: str, form: GradeFormat) -> None:
    """Where no grade is read, nothing is said of how sure the judge was of it."""
    tokens = [Token(text.encode(), -0.1, {b"pass": -0.1, b"fail": -2.0})]
    assert grade_probability(tokens, text, parse_grade(text, form), form) is None


@given(st.text(max_size=40), formats, st.lists(st.binary(min_size=1, max_size=6), max_size=6))
def test_no_tokens_raise(text: str, form: GradeFormat, pieces_of: list[bytes]) -> None:
    """Whatever a server lists, and whether it spells the text or not, there is a probability or none."""
    tokens = [
        Token(each, -0.5, {b"pass": -1.0, each: -0.5}) for each in [*pieces_of, text.encode("utf-8", "replace")] if each
    ]
    for whole in (text, f'{text} {{"verdict": "pass"}}'):
        found = grade_probability(tokens, whole, parse_grade(whole, form), form)
        assert found is None or isinstance(found, Probability)


def stated_at(*pieces: tuple[str, float]) -> tuple[list[Token], str]:
    """Return the tokens of an answer, and its text: of each piece the probability of a pass where it is below 1."""
    tokens = [
        Token(text.encode(), math.log(chance), {b"pass": math.log(chance), b"fail": math.log(1 - chance)})
        if chance < 1
        else Token(text.encode(), 0.0, {})
        for text, chance in pieces
    ]
    return tokens, "".join(text for text, _ in pieces)


def test_the_probability_is_that_of_the_field_that_counts() -> None:
    """A field of one's own is found, and what stands within another object is never the grade."""
    tokens, text = stated_at(('{"quality": "', 1), ("pass", 0.6), ('"}', 1))
    found = grade_probability(tokens, text, parse_grade(text, field="quality"), field="quality")
    assert found is not None
    assert found.value == pytest.approx(0.6)
    tokens, text = stated_at(
        ('{"rubric": {"verdict": "', 1), ("pass", 0.9), ('"}, "verdict": "', 1), ("pass", 0.6), ('"}', 1)
    )
    found = grade_probability(tokens, text, parse_grade(text))
    assert found is not None
    assert found.value == pytest.approx(0.6)


def test_a_recording_keeps_what_tells_a_field_and_labels_of_ones_own() -> None:
    """The bytes that are kept are those of the field that counts, as far as the words of both sides are the same."""
    (kept,) = grade_token_pattern("json", None, "quality").finditer(b'{"quality": "pass"}')
    assert kept[1] == b"p"
    labels = label_sides(["fully supported", "fully unsupported"])
    (kept,) = grade_token_pattern("json", labels, None).finditer(b'{"verdict": "fully supported", "x": 1}')
    assert b"supported" in kept[1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("sdk", BODIES)
def test_a_thinned_recording_tells_the_same(place: str, sdk: str) -> None:
    """What a recording keeps of an answer's alternatives is enough, in both wire formats; and it keeps few."""
    marked, form, labels, (passing, failing) = PLACES[place]
    text, tokens = planted_at(marked, {passing: 0.6, failing: 0.3}, [1, 3, 7])
    body = json.dumps(BODIES[sdk](text, tokens, 20)).encode()
    thin = keep_verdict_logprobs(body, grade_token_pattern(form, None if labels is None else label_sides(labels), None))
    whole, recorded = (READERS[sdk](HttpResponse(200, {}, each.decode()), "m") for each in (body, thin))
    grade = parse_grade(text, form, labels)
    found = grade_probability(recorded.tokens, text, grade, form, labels)
    assert found == grade_probability(whole.tokens, text, grade, form, labels)
    assert found is not None
    assert found.value == pytest.approx(2 / 3, abs=1e-9)
    assert len(thin) < len(body)


@pytest.mark.parametrize("piece", [b"[", b"[[ ", b"*[[", b"[[\n"])
def test_a_run_of_brackets_is_one_place(piece: bytes) -> None:
    """All of it is gone through once, and not from each bracket on, whether a word follows or the text ends."""
    may_stand = grade_token_pattern("brackets", None, None)
    for end in (b"", b"P"):
        found = list(may_stand.finditer(piece * 40 + end))
        assert [(each[1], each.end()) for each in found] == [(end, len(piece * 40 + end))]


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ('{"verdict": "pass", "reason": "It is right."}', "json", False),
        ('```json\n{"is_correct": true, "explanation": "It is."}\n```', "json", False),
        ('{"reason": "", "pass": true}', "json", False),
        ('{"reasoning": "It is right.", "score": true}', "json", True),
        ("Verdict: [[PASS]] since it is right.", "brackets", False),
        ("It is right. [[PASS]]", "brackets", True),
        ("**GRADE: C**", "grade", False),
        ("It is right.\nGRADE: C", "grade", True),
        ("PASS", "word", False),
        ("<think>Is it right?</think>PASS", "word", True),
        ("nothing that is read", "json", True),
    ],
)
def test_an_answer_tells_whether_it_reasons_first(text: str, form: GradeFormat, expected: bool) -> None:
    """What is said before the grade is reasoning, unless it is syntax or the name of a field."""
    assert grade_reasons_first(text, parse_grade(text, form), form) is expected
