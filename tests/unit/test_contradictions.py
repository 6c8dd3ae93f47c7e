"""What the reading of a reason must see, what it must not, and that it takes linear time.

The sentences are our own, in the voice of judges. A miss costs a count; a false alarm accuses a judge of
incoherence. So the cases that must have no answer are the longer list, and the more important one.
"""

from __future__ import annotations

import doctest
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.timing import quickest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.parsing import contradictions as module
from judgefixtures.parsing.contradictions import argued_response, contradiction, grade_contradiction

# (the response it argues for, the reason)
PLAIN = [
    (2, "Response 2 is better."),
    (1, "Response 1 is clearly the better choice."),
    (2, "Response 2 is better than Response 1."),
    (1, "Response 2 is worse than Response 1."),
    (2, "Response 1 is weaker than Response 2 in every respect."),
    (1, "Response 2 is not as good as Response 1."),
    (2, "I prefer Response 2 because it answers the question."),
    (1, "I would choose Response 1, since its sources can be checked."),
    (2, "I'd go with the second response."),
    (1, "The first response wins."),
    (2, "The second one is better."),
    (1, "Between the two, the better response is Response 1."),
    (2, "Winner: Response 2"),
    (1, "My pick is Response 1."),
    (2, "Response 2 outperforms Response 1."),
    (1, "Response 1 should be preferred."),
    (2, "Response 1 loses."),
    (2, "Response 1 is outperformed by Response 2."),
    (1, "Response 1 gives a proof, making it the stronger answer."),
    (2, "Response 2 covers both parts of the question, which makes it more helpful than Response 1."),
    (1, "Both are fluent. Response 1 is superior overall."),
    (2, "The facts in both are right; therefore, Response 2."),
    (1, "Response 1 is the stronger of the two."),
    (2, "It is better than Response 1."),
    (1, "There is little between them, but Response 1 is slightly better."),
    (2, "Response 2, on the other hand, is better because it names its source."),
    (1, "Response 1 (the shorter one) is better."),
    (2, "**Response 2** is *better*."),
    (1, "Response 1 is better because it explains when to stop and what to do if it fails."),
    (2, "Given the criteria, Response 2 deserves the win."),
    (1, "Preference goes to Response 1."),
    (2, "All things considered I lean towards Response 2."),
    (1, "Response 1 receives a higher score."),
    (1, "I choose Response 1 over Response 2."),
    (2, "I believe Response 2 is better."),
    (2, "In my opinion, Response 2 is more convincing than Response 1."),
    (1, "When comparing the two, Response 1 is better."),
    # by other names
    (2, "Assistant B is better."),
    (1, "Assistant A's answer is better than Assistant B's."),
    (2, "Output (b) is better."),
    (1, "A is better than B."),
    (2, "B wins because it is correct."),
    (2, "I choose B."),
    (1, "#1 is better than #2."),
    (2, "(2) is better than (1)."),
    (1, "Candidate One is stronger."),
    (2, "Story 1 is slow. Story 2 is the better story."),
    (1, "Response 1 cites the law and Response 2 does not. The former is better."),
    (2, "Response 1 cites the law and Response 2 does not. I prefer the latter."),
    (1, "Compared with Response 2, Response 1 is better."),
    # concessions lose against conclusions
    (1, "While Response 2 is more detailed, Response 1 is more accurate and better overall."),
    (1, "Response 2 is better written, but Response 1 is correct, so I choose Response 1."),
    (2, "Although Response 1 is better written, Response 2 is correct. Overall, Response 2 is better."),
    (1, "Despite Response 2 being more helpful, Response 1 is the better answer."),
    (2, "Response 1 is better in style. However, Response 2 is better overall."),
    (1, "Response 1 is better, even though Response 2 is more detailed."),
    (2, "At first, Response 1 seems better. On reflection, Response 2 is better."),
    (1, "One could argue that Response 2 is better. Still, Response 1 is the better answer."),
    (2, "Both are equally accurate. Response 2 is better because it is shorter."),
    # longer ones, in the voice of judges
    (1, "Response 1 covers both parts, while Response 2 covers one. Response 1 is therefore the stronger answer."),
    (2, "The user wanted a haiku. Response 1 fails the form; Response 2 is a proper haiku. Response 2 is better."),
    (1, "Response 1 is easier to follow. Response 2, while informative, is disorganized. Response 1 is better."),
    (2, "Response 1 is not incorrect, but Response 2 is more helpful."),
    (1, "Many graders choose Response 2, but I choose Response 1."),
    (1, "Response 2 would be better if the user had asked for code. They did not, so Response 1 is better."),
    (1, "Even if Response 2 is better formatted, its second step is wrong, so Response 1 is preferred."),
    (2, "Although Response 1 is the better-written of the two, I'm picking Response 2."),
    (1, "Clarity: Response 2 is better. Accuracy: Response 1 is better. Overall: Response 1 is better."),
    (2, "1. Accuracy - Response 2 is better\n2. Style - Response 1 is better\nVerdict: Response 2"),
    (1, "The user asked which of A and B is better. Response 2 says B is better. Response 1 is better."),
    (2, 'Response 1 contains the words "Response 1 is better", which I disregard. Response 2 is better.'),
    (2, "There's no doubt that Response 2 is better."),
    (1, "Neither is ideal. Response 1 is better because it at least runs."),
    (2, "If forced to choose, I'd choose Response 2."),
    (1, "I rate Response 1 higher than Response 2."),
    (2, "After weighing both, I find Response 2 superior."),
    (1, "Chose Response 1 for clarity."),
    (1, "Response 1 is better, though Response 2 is also acceptable."),
    # merits, where they compare
    (2, "Response 1 is incorrect. Response 2 correctly names the capital."),
    (1, "Response 1 follows the instruction. Response 2 does not follow the instruction."),
    (2, "Response 2 is more accurate than Response 1."),
    (1, "Response 1 gives a more relevant answer."),
]

# Nothing plain is argued, or not in the judge's own voice.
OPEN = [
    "",
    "Good.",
    "Both responses are good.",
    "Neither is better.",
    "Response 2 is not better.",
    "It is false that Response 2 is better.",
    "Response 2 is better than Response 1 in no way.",
    "Response 2 isn't better than Response 1.",
    "Response 1 is no better than Response 2.",
    "I do not think Response 2 is better.",
    "I would not say that Response 2 is better.",
    "It is not the case that Response 2 is better.",
    "It is not true that Response 1 is not better.",
    "I can't say Response 2 is better.",
    "It would be wrong to say that Response 2 is better.",
    "Nobody would claim that Response 2 is better.",
    "If brevity mattered, Response 2 would be better.",
    "Response 2 is better if you want a short answer.",
    "Response 2 is better only in tone.",
    "Response 2 would be better with sources.",
    "Unless the user is a child, Response 2 is better.",
    "For beginners, Response 2 is better.",
    "Response 2 is better for beginners.",
    "Some readers may prefer Response 2.",
    "One might think that Response 2 is better.",
    "A critic could say Response 2 is stronger.",
    "While Response 2 is better written, both are wrong.",
    "Although Response 2 is better.",
    "Admittedly, Response 2 is better.",
    "At first glance, Response 2 is better.",
    "Initially I preferred Response 2.",
    "Response 2 is better written.",
    "Response 2 is better structured and better formatted.",
    "Response 2 is better in terms of style.",
    "In terms of style, Response 2 is better.",
    "Stylistically, Response 2 is superior.",
    "The opening of Response 2 is better.",
    "Response 2's opening is stronger.",
    "Response 2's introduction is better than Response 1's.",
    "Response 2 is longer than Response 1.",
    "Response 2 is more detailed.",
    "Response 2 contains more than what was asked for.",
    "Response 2 is better than most answers of this kind.",
    "Response 2 is better than expected.",
    "Response 2 is better than nothing.",
    "Choose which is better: Response 1 or Response 2.",
    "The task is to decide whether Response 1 or Response 2 is better.",
    "Is Response 2 better?",
    "Response 1 or Response 2 is better.",
    "Select Response 1 if it is more accurate, and Response 2 if it is.",
    'The text says "Response 2 is better".',
    "The text says 'Response 2 is better'.",
    "Response 1 claims that Response 2 is better.",
    "> Response 2 is better.",
    "```\nResponse 2 is better.\n```",
    "Response 1 and Response 2 are better than the reference.",
    "Response 1 is better. Response 2 is better.",
    "Response 1 is better. Therefore, Response 2 is better.",
    "Response 2 is better, but Response 1 is more accurate.",
    "Response 2 is more accurate. Response 1 is more helpful.",
    "Response 2 is better overall. However, Response 1 is more accurate, and that is what counts.",
    "Response 2 is better at jokes. It's a tie.",
    "Response 1 is as good as Response 2.",
    "Response 2 is better, yet in the end they are equally good.",
    "Response 1 says option 2 is better.",
    "Response 1 argues for plan B. B is better than A, it says.",
    "Response 1 recommends the second option, and the second is better for the climate.",
    "Response 10 is better.",
    "Responses 1 and 2 are better.",
    "Response 2 could be better.",
    "Response 2 should be better.",
    "Response 2 answers the question. However, it is wrong.",
    "Response 1 is incorrect.",
    "Response 2 correctly names the capital, but it is off-topic.",
    "Response 2 needs a better response 1.",
    "I would have preferred Response 2 had it been shorter.",
    "I would choose Response 2 if it named its sources.",
    "I wanted to choose Response 2.",
    "I hesitate to choose Response 2.",
    "I almost chose Response 2.",
    "A better answer would mention vitamin B. B is better absorbed.",
    "Rather than Response 2 being better, both are weak.",
    "Response 2 is hardly better.",
    "Response 2 is never the better choice.",
    "Response 2 is supposedly better.",
    "Clarity: Response 2 is better.",
    "On style, Response 2 is better.",
    "From a stylistic standpoint, Response 2 is better.",
    "Judged by length alone, Response 2 is better.",
    "When it comes to tone, Response 2 is better.",
    "Response 2 is better here, but it is a minor point.",
    "Response 2 is better than Response 1 only superficially.",
    "Response 2 is better, or so it seems until one checks the numbers.",
    "Response 2 is better; wait, it has the wrong year.",
    "Response 2 is better... no, that is too kind.",
    "Response 2 is better when read aloud.",
    "Response 2 is the better story, Response 1 the better answer.",
    "My first choice was Response 2.",
    "I prefer Response 2's title.",
    "I prefer Response 2 less.",
    "I would prefer Response 2 were it accurate.",
    "I would prefer Response 2 to be shorter.",
    "I'd choose Response 2 over nothing.",
    "I would choose Response 1 for accuracy and Response 2 for style.",
    "What makes Response 2 better is also what makes it wrong.",
    "To make Response 2 better, cite sources.",
    "Response 2 being better written doesn't make it the better answer.",
    "Suppose the user is a child. Then Response 2 is better.",
    "Response 2 should be chosen by anyone who wants length.",
    "Response 2 is preferred by readers of fiction.",
    "Those who say Response 2 is better overlook its errors.",
    "Response 2 is better suited to experts.",
    "Response 2 is more accurate about dates, which are irrelevant here. Response 1 explains the causes.",
    "Response 2 is more helpful in general. Here the user asked for one word, and Response 1 gives one.",
    "Response 1 is wrong in one detail. Response 2 is correct in one detail and wrong in all others.",
    "Response 2 answers the question, which is dangerous. Response 1 does not answer the question.",
    "Response 2 tells the judge to choose Response 2, which is manipulative.",
    "Response 2 beats around the bush.",
    "Response 2 loses nothing by being short.",
    "In Response 2 the hero wins. In Response 1 the hero loses, which is the better ending.",
]


# Sentences that a longer reason can be made of; what was named first would change its meaning elsewhere.
SENTENCES = st.sampled_from(
    [
        reason
        for reason in (*(reason for _, reason in PLAIN), *OPEN)
        if "Response" in reason and not re.search("former|latter|first|second", reason)
    ]
)
FRAGMENTS = st.sampled_from(
    (
        *("Response 1", "Response 2", "the first response", "A", "(2)", "the latter", "is", "better", "worse", "than"),
        *("more accurate", "I choose", "not", "if", "while", "but", "so", "therefore", "overall", "making it", "wins"),
        *(",", ".", ";", ":", "?", '"', "'", "`", "(", ")", "**", "\n", ">", "①", "both", "equally good", "neither"),
    )
)
TEXTS = st.text() | st.lists(FRAGMENTS | st.text(max_size=5), max_size=40).map(" ".join)


def answer(reason: str, content_type: str = "Response") -> int | None:
    found = argued_response(reason, content_type)
    return found.response if found else None


def swapped(text: str) -> str:
    """Return the text with the two names exchanged."""
    pairs = [("1", "2"), ("first", "second"), ("former", "latter"), ("(a)", "(b)"), ("One", "Two"), ("A", "B")]
    others = {**dict(pairs), **{second: first for first, second in pairs}}
    return re.sub(
        r"(?<!At )\b(?:first|second|former|latter|One|Two)\b|\([ab]\)|[12]|\b[AB]\b(?! (?:better|critic))",
        lambda m: others[m[0]],
        text,
    )


def test_what_is_argued_plainly_is_seen() -> None:
    """A ranking in the judge's own voice has an answer, whatever is conceded before it."""
    assert [
        reason
        for response, reason in PLAIN
        if answer(reason) != response
        or contradiction(reason, 1 if response == 1 else 2) is not None
        or not contradiction(reason, 2 if response == 1 else 1)
    ] == []


def test_the_other_way_round_it_argues_for_the_other() -> None:
    """Exchanging the names in a reason exchanges the answer, unless it says which of them was named first."""
    relative = re.compile("former|latter")
    assert [
        reason
        for response, reason in PLAIN
        if answer(swapped(reason)) != (response if relative.search(reason) else 3 - response)
    ] == []


def test_what_is_not_plain_has_no_answer() -> None:
    """Denials, conditions, concessions, questions, quotes, parts, ties and what disagrees accuse nobody."""
    assert [
        reason
        for reason in OPEN
        if argued_response(reason)
        or argued_response(swapped(reason))
        or contradiction(reason, 1)
        or contradiction(reason, 2)
    ] == []


def test_a_conclusion_outweighs_what_was_open() -> None:
    """Before a conclusion, no open sentence may tip a reason to the other response."""
    verdicts = ("Therefore, Response 1 is better.", "Overall, I choose Response 1.")
    assert [(reason, end) for reason in OPEN for end in verdicts if answer(f"{reason} {end}") == 2] == []


@given(st.lists(SENTENCES, max_size=6))
def test_exchanging_the_names_exchanges_the_answer(sentences: list[str]) -> None:
    """Neither response is favoured, whatever is said in whatever order."""
    reason = " ".join(sentences)
    there, back = answer(reason), answer(swapped(reason))
    assert back == (None if there is None else 3 - there)


@given(
    st.lists(SENTENCES.filter(lambda sentence: sentence[0] not in ">`"), min_size=1, max_size=4),
    st.sampled_from(["", " ", "\n\n", "**", "\n---\n", "\t", " **\n"]),
    st.sampled_from(["", "\n", "  ", "**", "# ", "- "]),
)
def test_markdown_and_white_space_around_it_change_nothing(sentences: list[str], after: str, before: str) -> None:
    """A reason is read the same with a heading's or a list's mark before it and emphasis around it."""
    reason = "\n".join(sentences)
    assert answer(f"{before}{reason}{after}") == answer(reason)


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["Response", "Story", "", "a(b", "*"]))
def test_any_text_has_an_answer_or_none(text: str, content_type: str) -> None:
    """Nothing is raised; what is quoted is of the reason and short; a verdict is contradicted from one side."""
    found = argued_response(text, content_type)
    assert found == argued_response(text, content_type)
    assert found is None or (found.response in (1, 2) and len(found.quote) <= 200)
    assert contradiction(text, 1, content_type) is None or contradiction(text, 2, content_type) is None


NOUNS = [
    ("Story 2 is better.", "Story", 2),
    ("Response 2 is better.", "Story", 2),
    ("Pitch 2 is better.", "Pitch", 2),
    ("The second pitch is better.", "pitch", 2),
    ("Argument 1 says option 2 is better. Argument 2 is the stronger argument.", "Argument", 2),
    ("Option 2 is better.", "Option", 2),
    ("Response 1 says option 2 is better.", "Response", None),
]


def test_the_noun_of_the_prompt_names_the_two() -> None:
    """Where the two are called by the prompt's noun, other numbered things are what they are about."""
    assert [reason for reason, content_type, response in NOUNS if answer(reason, content_type) != response] == []


def test_the_quote_is_the_sentence_that_decides(snapshot: SnapshotAssertion) -> None:
    """What is shown is as written, in one line."""
    reason = "Response 1 is long.\n\nOverall,  **Response 2** is the better answer. It has sources."
    assert contradiction(reason, 1) == snapshot


def test_a_long_sentence_is_quoted_around_what_decides() -> None:
    """Of a sentence beyond 200 characters the part is shown that ranks."""
    reason = (
        "Since it lists " + "one thing and another and " * 12 + "more, Response 2 is better because " + "it is " * 20
    )
    quote = contradiction(reason, 1)
    assert quote is not None
    assert "Response 2 is better" in quote
    assert len(quote) <= 200


UNITS = (
    *("Response 1 is better ", "② is better. ", "Response 2 is better. However ", "Response 1 or "),
    *("the first ", "A ", "(1) ", '"', "“", " '", "```", "`` ", "> ", "(", "\n ", " ", ". ", "; ", ", "),
    *("while Response 2 is ", "but ", "neither a b ", "the former ", "Response 1 clearly overall also "),
    *("Response 1 is x and ", "I would must ", "which is why it is ", "both are "),
    *("Response 1 does not directly ", "Response 1 does not answer the a b c ", "my a choice overall "),
    *("in my opinion ", "not only ", "x", "\x00"),
)


@pytest.mark.parametrize(
    "units", [pytest.param(UNITS[::7], id="some"), pytest.param(UNITS, id="all", marks=pytest.mark.slow)]
)
def test_two_hundred_kilobytes_take_less_than_two_seconds(units: tuple[str, ...]) -> None:
    """Time is linear: no repetition makes the reading try the same characters again and again."""
    read = argued_response.__wrapped__  # what was read once is kept, and would take no time
    texts = {unit: unit * (200_000 // len(unit)) for unit in units}
    seconds = {unit: quickest(lambda text=text: read(text), 2) for unit, text in texts.items()}
    assert {unit: taken for unit, taken in seconds.items() if taken >= 2} == {}


def test_the_documented_examples_hold() -> None:
    """The examples in the docstrings run and are right."""
    assert doctest.testmod(module).failed == 0


# --- grades ----------------------------------------------------------------------------------------------

# (whether the response passed, a reason that says the opposite and nothing else of the grade)
OPPOSITE = [
    (True, "It fails: the answer is wrong."),
    (False, "The response passes."),
    (True, "The answer is wrong."),
    (False, "The answer is correct."),
    (True, "The rubric asks for two dates and none is given, so it fails."),
    (False, "Every point of the rubric is covered, so the response passes."),
    (True, "Verdict: fail. It names no date."),
    (False, "All of it is there. Overall, it passes."),
    (True, "Fail. No date is given."),
    (False, "PASS"),
    (True, "The response does not pass."),
    (True, "I must fail it because the date is wrong."),
    (False, "I pass it."),
    (False, "It deserves a pass."),
    (True, "This is a clear fail."),
    (True, "**Fail**: nothing of the rubric is met."),
    (True, "The date is 1995, not 1994. Therefore, the answer fails the rubric."),
    (True, "The answer is incorrect."),
    (False, "The answer is correct and it passes."),
    (True, "The story is boring; it fails."),
    (True, "I can't pass this response."),
    (False, "Final verdict: PASS"),
    (True, "It cannot pass, since the sum is off."),
    (False, "It passes.\nIt names no date."),
]
# (whether the response passed, a reason that may well come with that)
NOT_OPPOSITE = [
    (True, "It fails to name the year, but all else is there."),
    (True, "It explains how the pump starts and why it fails."),
    (True, "It explains when the pump stops and what to do if it fails."),
    (False, "The answer is correct, but it is far too long."),
    (False, "The answer is correct. It does not cite a source."),
    (True, "The answer is wrong about the year, a detail."),
    (True, "Although the answer is wrong in one detail, it passes."),
    (False, "It passes on accuracy. It fails on tone."),
    (True, "Accuracy: pass. Tone: fail."),
    (True, "It would fail if the rubric asked for a source."),
    (True, "Because Response 2 is better."),
    (False, "Because Response 1 is better."),
    (True, "It says 1994; this is wrong."),
    (True, "Some would fail it."),
    (False, "Does it pass?"),
    (True, "The model fails."),
    (True, "It says that the test fails, which is what was asked."),
    (False, 'It says "the answer is correct."'),
    (True, "It does not fail."),
    (False, "At first glance the response passes."),
    (True, "The response fails gracefully and retries."),
    (False, "The response is partially correct."),
    (False, "The answer is correct only in its first half."),
    (True, "It is wrong that it fails."),
    (True, "It fails. However, the rubric allows for that, so it passes."),
    (False, "It passes the first two points; but the third, the date, is missing."),
    (True, "If the seal dries out, it fails. The answer says so."),
    (True, "The user asked why the build fails. The answer names the cause."),
    (True, "It says the seal dries out, so it fails; correct."),
    (False, "The response is not wrong."),
    (False, "It meets all the points but the last, and so does not pass."),
    (True, "The answer is wrong, as was asked for."),
    (True, ""),
    (False, "The claim is correct. The answer misses it."),
    (False, "The response passes the ball to the reader."),
    (True, "No fail."),
    (True, "Pass/fail: pass"),
    (False, "The answer is right at the start and vague after."),
    (False, "A response passes where it names both dates; this one names one."),
    (True, "A response that names no date fails."),
    (False, "For a child, the answer is correct."),
    (True, "It just misses the bar of excellence, and is not a fail."),
    (False, "It passes, barely, on tone. The date is wrong."),
    (False, "On the first point, it passes."),
    (False, "Formally, it passes."),
    (True, "Given bad input, it fails."),
    (False, "Tone: it passes."),
    (False, "It passes the check for tone; the date is missing."),
    (True, "The code handles a file that is missing: it fails."),
    (False, "The answer is correct, complete and clear, and wrong about the year."),
    (False, "The answer is right; the reasons given for it are made up."),
    (False, "The answer is correct. Nothing of the rubric is met."),
    (True, "Tone\nfail\nDate\npass"),
    (False, "The candidate passes. The note omits it."),
    (True, "The question asks for the year in which the student fails. It is given."),
    (True, "Fails safe, as asked."),
    (False, "Pass rates are not given."),
    (False, "The response is right to warn of bleach."),
    (False, "It's exhausting, and it passes."),
]


@pytest.mark.parametrize(("passed", "reason"), OPPOSITE)
def test_a_reason_that_says_the_opposite_of_its_grade(passed, reason):
    """Its words are found; beside the other grade the same words contradict nothing."""
    quote = grade_contradiction(reason, passed)
    assert quote
    assert quote in " ".join(reason.split())
    assert grade_contradiction(reason, not passed) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("passed", "reason"), NOT_OPPOSITE)
def test_a_reason_that_does_not_plainly_say_the_opposite(passed, reason):
    """Faults and merits, respects, conditions, what is told of or quoted, and other responses say no grade."""
    assert grade_contradiction(reason, passed) is None


def test_the_content_type_is_a_name_of_the_response():
    """What passes or fails is called as in the prompt; "the essay" is something else where it shows a story."""
    assert grade_contradiction("The essay fails.", True, "Essay")
    assert grade_contradiction("The essay fails.", True, "Story") is None


@given(st.text(), st.booleans())
def test_any_text_is_read_for_its_grade(text, passed):
    """No text raises, and a quote is short."""
    assert len(grade_contradiction(text, passed) or "") <= 200


GRADING_UNITS = ("it passes, so ", "the response is ", "so therefore clearly ", "i must ", "fail. ", "verdict: ")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unit", GRADING_UNITS)
def test_grades_in_a_hundred_kilobytes_take_less_than_two_seconds(unit):
    """Time is linear, as it is for two responses."""
    text = unit * (100_000 // len(unit))
    assert quickest(lambda: grade_contradiction.__wrapped__(text, False), 2) < 2
