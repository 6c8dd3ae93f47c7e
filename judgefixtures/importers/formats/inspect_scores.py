"""Scores of Inspect: C is 1, P is 0.5, I and N are 0."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from judgefixtures.sources.row_readers import DataRow
from judgefixtures.util.texts import make_one_line, short_repr

CREDIT: Mapping[str, float] = MappingProxyType({"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0})
TRUTH: Mapping[str, bool] = MappingProxyType({"yes": True, "true": True, "no": False, "false": False})
UNCHANGED = "UNCHANGED"  # of a part that an edit leaves as it is
GRADER_FAILED = "grader_failed"  # the grader answered, and Inspect found no grade in it
LOST = "Grade not found in model output"  # how Inspect began the explanation of an I before it knew that reason
UNSCORED = "it was not scored"
SHOWN = 40  # characters of what stands where something else is wanted


@dataclass(frozen=True, slots=True)
class InspectScore:
    """One score of one sample.

    Attributes:
        value: The scorer's value.
        present: The value after edits.
        failed: Why there is no value.
        raw: The score as logged.
    """

    scorer: str
    metric: str
    value: Any
    present: Any
    reason: str | None
    failed: str
    raw: Mapping[str, Any]
    is_edited: bool = False
    is_persons: bool = False

    @property
    def is_lost(self) -> bool:
        """Whether it is an I because no grade was found."""
        return self.value == "I" and (self.reason or "").startswith(LOST)


@dataclass(frozen=True, slots=True)
class MetricValueWords:
    """How a metric's values are read: letters, grades or scores."""

    are_letters: bool
    is_partial: bool
    has_numbers: bool

    def told(self, value: Any, failed: str = "") -> dict[str, Any]:
        """Return a value as a grade, a score or an error.

        >>> MetricValueWords(are_letters=True, is_partial=False, has_numbers=False).told("C")
        {'passed': True}
        >>> MetricValueWords(are_letters=True, is_partial=True, has_numbers=False).told("N")
        {'score': 0.0}
        """
        are_scores = self.is_partial or self.has_numbers
        if value is None or value != value:
            if failed == GRADER_FAILED and not are_scores:
                return {"passed": failed}  # a word that is no grade: an invalid one
            return {"error": UNSCORED + (f" ({make_one_line(failed)[:SHOWN]})" if failed else "")}
        if self.are_letters and value in CREDIT:
            return {"score": CREDIT[value]} if are_scores else {"passed": value == "C"}
        value = _read(value)
        if isinstance(value, bool):
            return {"score": float(value)} if are_scores else {"passed": value}
        if isinstance(value, str):
            return {"error": "its score is a word among numbers"} if are_scores else {"passed": value}
        return {"score": value} if _is_finite(value) else {"error": "its score is not a finite number"}


def metric_value_words(values: Iterable[Any]) -> MetricValueWords:
    """Return how to read the values of a metric.

    >>> metric_value_words(["C", "P"])
    MetricValueWords(are_letters=True, is_partial=True, has_numbers=False)
    """
    held = [value for value in values if value is not None and value == value]
    words = {each for each in held if isinstance(each, str) and each not in CREDIT and isinstance(_read(each), str)}
    numbers = any(isinstance(read := _read(value), int | float) and not isinstance(read, bool) for value in held)
    return MetricValueWords(not words, not words and "P" in held, numbers)


def sample_scores(row: DataRow, unnamed: str) -> dict[str, InspectScore]:
    """Return a sample's scores by metric (`scorer` or `scorer.key`).

    `unnamed` is the scorer of old logs. Raises JudgeFixturesError naming the row.
    """
    scores = row.fields.get("scores")
    if scores is None and isinstance(older := row.fields.get("score"), dict):
        scores = {unnamed: older}
    if scores is None:
        return {}
    if not isinstance(scores, dict):
        raise row.mistake(f"scores must be an object with a score for each scorer, got a {type(scores).__name__}.")
    return {score.metric: score for name, raw in scores.items() if raw is not None for score in _parts(row, name, raw)}


def _parts(row: DataRow, name: str, raw: Any) -> Iterator[InspectScore]:
    past = raw.get("history") or [] if isinstance(raw, dict) else None
    named = make_one_line(name)[:SHOWN]
    if not isinstance(raw, dict) or not isinstance(past, list) or not all(isinstance(each, dict) for each in past):
        raise row.mistake(f"the score of {named!r} must be an object, got {short_repr(raw, SHOWN)}.")
    first, later = (past[0], past[1:]) if past else ({}, [])
    is_persons = bool(first.get("provenance"))  # added by somebody to what the scorers said
    final = {**raw, **({} if is_persons else {name: each for name, each in first.items() if each != UNCHANGED})}
    value, present = final.get("value"), raw.get("value")
    is_edited = not is_persons and any(each.get("value", UNCHANGED) != UNCHANGED for each in later)
    whole = InspectScore(name, name, value, present, _reason(final), _failed(final), raw, is_edited, is_persons)
    if not isinstance(value, dict | list):
        yield whole
        return
    now = _keyed(present)
    for key, part in _keyed(value).items():
        if isinstance(part, dict | list):
            raise row.mistake(f"the score of {named!r} has a {type(part).__name__} at {key[:SHOWN]!r}.")
        yield replace(whole, metric=f"{name}.{key}", value=part, present=now.get(key))


def _keyed(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {str(number): part for number, part in enumerate(value)}
    return value if isinstance(value, dict) else {}


def _reason(fields: Mapping[str, Any]) -> str | None:
    if isinstance(explanation := fields.get("explanation"), str):
        return explanation
    grading = metadata.get("grading") if isinstance(metadata := fields.get("metadata"), dict) else None
    last = grading[-1] if isinstance(grading, list) and grading else None
    return message_text(last.get("content")) or None if isinstance(last, dict) else None


def _failed(fields: Mapping[str, Any]) -> str:
    metadata = fields.get("metadata")
    older = metadata.get("unscored_reason") if isinstance(metadata, dict) else None
    return next((each for each in (fields.get("reason"), older) if isinstance(each, str)), "")


def message_text(content: Any) -> str:
    """Return a message's text without images and reasoning.

    >>> message_text([{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "So."}])
    'So.'
    """
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if (word := value.lower()) in TRUTH:
        return TRUTH[word]
    try:
        return float(value) if value.isascii() and value.replace(".", "").isdecimal() else value
    except ValueError:
        return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False
