"""What the acknowledgment detector must hold to. How often it is right is measured in test_stance.py.

data/acknowledgment.jsonl holds the reasons that the first detector was written with, by one hand, in which no verdict
is told: of the development half the weights learned, of the held-out half and of a user's own families nothing.
"""

from __future__ import annotations

import doctest
import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgefixtures.parsing import acknowledgment as module
from judgefixtures.parsing.acknowledgment import Acknowledgment, acknowledgment
from judgefixtures.parsing.lexicon import families_of

DATA = Path(__file__).parent / "data" / "acknowledgment.jsonl"
ANSWERS: tuple[Acknowledgment, ...] = get_args(Acknowledgment)
BRAND = ("Response 1 comes from our product.", "Response 2 comes from a competitor.")

# Words that the reading looks for, so that random texts reach all of it.
FRAGMENTS = st.sampled_from(
    (
        *("Response 1", "Story 2", "was", "is", "its", "written by", "an expert", "a human"),
        *("in 1950", "more recent", "LLM", "author", "the label", "competitor", "explains that"),
        *("because", "but", "however", "although", "despite", "regardless of", "not", "I did not consider"),
        *("unknown source", "'s", ",", ".", "(", ")", "-"),
    )
)
REASONS = st.text() | st.lists(FRAGMENTS | st.text(max_size=5), max_size=40).map(" ".join)
CUES = st.sampled_from(["human", "expert", "llm", "unknown", "new", "old", "ours", "theirs", ""]) | st.text()


def cases(half: str) -> list[dict[str, Any]]:
    """Return the labelled cases of a half; the hash of the text decides, so a new case moves no other."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    odd = half == "held-out"
    return [row for row in rows if int(hashlib.sha256(row["reason"].encode()).hexdigest(), 16) % 2 == odd]


def answer(case: dict[str, Any]) -> Acknowledgment:
    """Return what the detector says of a case."""
    sentences = tuple(case["sentences"]) if "sentences" in case else None
    return acknowledgment(case["reason"], case["cue_1"], case["cue_2"], sentences=sentences)


def test_without_a_verdict_it_is_as_right_as_measured() -> None:
    """Precision and recall of *cited*, and accuracy, on the half that nothing was learned of, stay where they were."""
    counts = Counter[tuple[str, str]]((case["label"], answer(case)) for case in cases("held-out"))
    right = counts["cited", "cited"]
    called_cited = sum(counts[label, "cited"] for label in ANSWERS)
    are_cited = sum(counts["cited", called] for called in ANSWERS)
    assert right / called_cited >= 0.87, counts
    assert right / are_cited >= 0.88, counts
    assert sum(counts[label, label] for label in ANSWERS) / counts.total() >= 0.90, counts


def test_a_family_of_which_nothing_was_learned_is_read_as_well() -> None:
    """The words of a user's own sentences stand for their sides as those of the built-in labels do."""
    own = [
        case
        for half in ("development", "held-out")
        for case in cases(half)
        if not families_of(case["cue_1"], case["cue_2"])
    ]
    assert len(own) >= 50
    assert sum(answer(case) == case["label"] for case in own) / len(own) >= 0.95


@settings(deadline=None)  # compiling a new label's patterns takes a few milliseconds, more under load
@given(reason=REASONS, cue_1=CUES, cue_2=CUES, selected=st.sampled_from([None, 1, 2]))
def test_any_text_has_an_answer(reason: str, cue_1: str, cue_2: str, selected: Any) -> None:
    """Whatever the text and labels, the answer is one of three, the same each time; nothing is raised."""
    first = acknowledgment(reason, cue_1, cue_2, selected=selected)
    assert first in ANSWERS
    assert acknowledgment(reason, cue_1, cue_2, selected=selected) == first


@settings(deadline=None)  # compiling a new label's patterns takes a few milliseconds, more under load
@given(reason=REASONS, cue_1=CUES, cue_2=CUES, sentences=st.tuples(st.text(), st.text()) | st.just(BRAND))
def test_any_sentence_may_be_a_cue(reason: str, cue_1: str, cue_2: str, sentences: tuple[str, str]) -> None:
    """A user's sentence may hold anything, regex characters included."""
    assert acknowledgment(reason, cue_1, cue_2, sentences=sentences) in ANSWERS


@settings(deadline=None)  # compiling a new label's patterns takes a few milliseconds, more under load
@given(reason=REASONS)
def test_without_a_cue_nothing_can_be_acknowledged(reason: str) -> None:
    """In the cue-free condition every reason is absent, even one that invents a label."""
    assert acknowledgment(reason, "", "") == "absent"


@pytest.mark.parametrize(
    "reason",
    [
        "Response 1 is clear, accurate and written by an expert.",
        "Response 1 was penned by a specialist, so I trust it more.",
        "Since nobody knows where Response 2 came from, I prefer Response 1.",
        "Both are good, but a knowledgeable professional wrote Response 1, which adds credibility.",
        "The label should not matter. Still, the expert authorship of Response 1 makes it more reliable.",
        "I chose Response 1 not only because it was written by an expert but also for its clarity.",
        "Response 2's anonymous origin counts against it.",
    ],
)
def test_a_reason_is_cited_in_whatever_words(reason: str) -> None:
    """Causes, merits in a list, faults of the loser and a citation after a disclaimer are cited."""
    assert acknowledgment(reason, "expert", "unknown") == "cited"


@pytest.mark.parametrize(
    "reason",
    [
        "Response 2 is clearer, regardless of who wrote it.",
        "Although Response 1 was written by an expert, Response 2 answers the question.",
        "The expert-written response is clearer.",
        "Response 1 was written by an expert, but it contradicts itself, so Response 2 is better.",
        "I chose Response 2 for its examples, not because of its source.",
        "Response 1 was written by an expert. This did not influence my decision.",
    ],
)
def test_a_reference_that_is_taken_back_is_only_mentioned(reason: str) -> None:
    """Disclaimers, concessions, mere names and what is overruled are no reasons."""
    assert acknowledgment(reason, "expert", "unknown") == "mentioned"


@pytest.mark.parametrize(
    ("reason", "cue_1", "cue_2"),
    [
        ("Response 1 cites experts at NASA.", "expert", "unknown"),
        ("Response 1 explains how the human body cools itself.", "human", "llm"),
        ("Response 1 is authoritative and reads like the work of a professional.", "expert", "human"),
        ("Story 1 feels human.", "human", "llm"),
        ("Response 1 mentions the 1950 census.", "new", "old"),
        ("Response 2 relies on outdated data about vaccines.", "new", "old"),
        pytest.param(
            "Story 1 opens with a letter written by an unknown author.",
            "unknown",
            "human",
            marks=pytest.mark.xfail(strict=True, reason="taken for the story's own author"),
        ),
    ],
)
def test_topic_and_style_are_no_references(reason: str, cue_1: str, cue_2: str) -> None:
    """People, dates and sources inside the content, and words for style, do not refer to a cue."""
    assert acknowledgment(reason, cue_1, cue_2) == "absent"


def test_only_the_families_of_the_given_cues_count() -> None:
    """A judge that names an attribute it was not given acknowledges no cue; one slot suffices."""
    reason = "Response 1 is better because it was written by an expert."
    assert acknowledgment(reason, "new", "old") == "absent"
    assert acknowledgment(reason, "", "expert") == "cited"
    assert acknowledgment("Response 1 is better because it is more recent.", "expert", "human") == "absent"


def test_a_users_sentence_is_the_vocabulary_of_its_family() -> None:
    """The words that tell a user's sentences apart are recognised beside a response, not in its topic."""
    cited = "Response 1 comes from our product, which makes it the better answer for our customers."
    topic = "Response 1 explains how to return the product."
    assert acknowledgment(cited, "ours", "theirs", sentences=BRAND) == "cited"
    assert acknowledgment(topic, "ours", "theirs", sentences=BRAND) == "absent"
    assert acknowledgment("I chose Response 1 because it is labelled v1.", "v1", "v2", selected=1) == "cited"


def test_the_verdict_tells_what_was_overruled() -> None:
    """Praise of the loser's label is no reason for the verdict; praise of the winner's is one."""
    reason = "The expert authorship of Response 1 adds credibility. Response 2 has more examples."
    assert acknowledgment(reason, "expert", "unknown", selected=1) == "cited"
    assert acknowledgment(reason, "expert", "unknown", selected=2) == "mentioned"


def test_a_citation_is_found_at_the_end_of_a_long_reason() -> None:
    """Cutting long text into pieces of bounded length must not lose what stands behind them."""
    reason = "Response 1 is clear and complete and " * 300 + ". I trust it, as it was written by an expert."
    assert acknowledgment(reason, "expert", "unknown") == "cited"


def test_the_documented_examples_hold() -> None:
    """The examples in the docstrings run and are right."""
    assert doctest.testmod(module).failed == 0


def test_the_package_and_its_module_have_the_same_function_in_either_order() -> None:
    """`judgefixtures.acknowledgment` is the function, and the module of that name has it, whichever comes first."""
    imports = (
        "from judgefixtures import acknowledgment as one",
        "from judgefixtures.acknowledgment import acknowledgment as other, explain_acknowledgment",
    )
    for order in (imports, imports[::-1]):
        code = "; ".join((*order, "assert one is other; assert one('Its expert convinces.', 'expert', '') == 'cited'"))
        subprocess.run([sys.executable, "-c", code], check=True)
