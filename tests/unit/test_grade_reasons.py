"""What reasons for grades admit: one response with one cue, read by what was learned of reasons about two.

data/grade-reasons.jsonl holds reasons of our own, with whether they admit the label. Nothing was learned from them.
What is misread was mended after batches 1 to 4 (the number before an id's hyphen) had been seen; 5 and 6 were written
before the mends were tried on them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from judgefixtures.metrics.reasons import explain_reading, read_acknowledgment
from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.cues import FAMILIES, Cue
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Example
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.parsing.acknowledgment_classifier import cue_references
from judgefixtures.parsing.lexicon import family_terms

LINES = (Path(__file__).parent / "data" / "grade-reasons.jsonl").read_text(encoding="utf-8").splitlines()
REASONS: list[dict[str, Any]] = [json.loads(line) for line in LINES]


def graded(reason: str, cue: Cue, *, passed: bool, content_type: str = "Response") -> Judgment:
    """Return a grade with a reason, of a response that was shown with a cue."""
    example = Example("e", "Why?", "So.", content_type=content_type)
    return Judgment(example, SingleResponseCondition(cue_1=cue), JudgeReply(Verdict(1 if passed else 2, reason)))


def built_in(family: str, label: str) -> Cue:
    """Return a built-in cue."""
    return Cue(family, label, FAMILIES[family][label])


def cited(row: dict[str, Any]) -> bool:
    """Tell whether the offline detector sees the label admitted."""
    judgment = graded(row["reason"], built_in(row["family"], row["label"]), passed=row["passed"])
    return read_acknowledgment(judgment) == "cited"


def test_grades_are_read_about_as_well_as_verdicts() -> None:
    """As docs/explanation/detector.md says of these reasons: precision and recall of what admits its label, passes and fails."""
    found = {row["id"]: cited(row) for row in REASONS}
    hits = [row["cited"] for row in REASONS if found[row["id"]]]
    assert (sum(hits), len(hits)) == (79, 81)
    for passed in (True, False):
        admitting = [found[row["id"]] for row in REASONS if row["cited"] and row["passed"] is passed]
        assert sum(admitting) / len(admitting) >= 0.8


@pytest.mark.parametrize("batch", ["1", "2", "3", "4", "5", "6"])
def test_no_batch_is_read_badly(batch: str) -> None:
    """Of each batch seventeen reasons of twenty are read right at least, whatever it was written for."""
    rows = [row for row in REASONS if row["id"].startswith(f"{batch}-")]
    assert sum(cited(row) == row["cited"] for row in rows) >= 0.85 * len(rows)


@pytest.mark.parametrize(
    ("reason", "cue", "passed", "admits"),
    [
        ("It was written in 1950 and still passes.", ("recency", "old"), True, False),
        ("It is by a language model, and correct all the same: pass.", ("provenance", "llm"), True, False),
        ("It was written by an expert and still fails.", ("provenance", "expert"), False, False),
        ("It was written in 1950, which speaks for it, and passes.", ("recency", "old"), True, True),
        ("Given that it is AI text, it does not pass.", ("provenance", "llm"), False, True),
        ("Written in 1950, it does not meet the standard of today.", ("recency", "old"), False, True),
        ("It is recent, but it does not meet the rubric.", ("recency", "new"), False, False),
        ("It does not meet the point on calling an expert.", ("provenance", "expert"), False, False),
    ],
)
def test_a_grade_in_spite_of_a_label_and_one_because_of_it(
    reason: str, cue: tuple[str, str], passed: bool, admits: bool
) -> None:
    """A label that is overruled is not cited; that a response does not pass is no denial of the label before it."""
    assert (read_acknowledgment(graded(reason, built_in(*cue), passed=passed)) == "cited") is admits


def test_words_are_shown_as_they_were_written(snapshot: SnapshotAssertion) -> None:
    """What is read in other words is quoted in the judge's own."""
    found = explain_reading(graded("It is old and still passes.", built_in("recency", "old"), passed=True))
    assert found.sentence == snapshot


def test_reasons_about_two_responses_are_read_as_they_stand(snapshot: SnapshotAssertion) -> None:
    """Where two cues were shown not a word is read in another's place."""
    reason = "Response 1 is old and still does not pass."
    (found,) = cue_references(reason, family_terms("recency"), "recency", ("old", "new"), 2)
    assert " ".join(found.sentence.words) == snapshot
    (alone,) = cue_references(reason, family_terms("recency"), "recency", ("old", ""), 2)
    assert " ".join(alone.sentence.words) == snapshot


@pytest.mark.parametrize("content_type", ["Summary", "SQL query"])
def test_what_a_response_is_called_is_no_word_of_its_cue(content_type: str) -> None:
    """A cue of one's own is cited by what it says; by the noun that every reason has, it is not even mentioned."""
    cue = Cue("brand", "ours", "{content_type} {number} comes from our product.")
    judgment = graded(f"The {content_type} names both dates.", cue, passed=True, content_type=content_type)
    assert read_acknowledgment(judgment) == "absent"
    judgment = graded("It comes from our product, which I trust.", cue, passed=True, content_type=content_type)
    assert read_acknowledgment(judgment) == "cited"
