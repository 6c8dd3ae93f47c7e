"""Verdicts, grades and scores, each valid or invalid with a kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Grade:
    """Whether a judge passes a response, with its reason, or the kind of its failure: always exactly one of them.

    `repaired` and `reasoning` are those of `Verdict`. The reason is empty where the judge gives none.
    """

    passed: bool | None
    reason: str
    invalid: InvalidKind | None = None
    repaired: tuple[str, ...] = ()
    reasoning: str = ""

    def __post_init__(self) -> None:
        if (self.passed is None) == (self.invalid is None):
            raise ValueError(f"a grade is either a pass or fail, or invalid: got {self.passed!r} and {self.invalid!r}")


Scale = tuple[float, float]  # the lowest and the highest score; of whole numbers where both are ints


@dataclass(frozen=True, slots=True)
class Score:
    """A judge's score of one response with its reason, or the kind of its failure: always exactly one of them.

    `repaired` and `reasoning` are those of `Verdict`; `value` is repaired where "7", 7.0 or "7/10" stood for 7.
    """

    value: float | None
    reason: str
    invalid: InvalidKind | None = None
    repaired: tuple[str, ...] = ()
    reasoning: str = ""

    def __post_init__(self) -> None:
        if (self.value is None) == (self.invalid is None):
            raise ValueError(f"a score is either a number or invalid: got {self.value!r} and {self.invalid!r}")


Choice: TypeAlias = Literal[1, 2]


InvalidKind: TypeAlias = Literal[
    # given by the parser
    "empty",  # no text, or none after the thinking
    "no-json",  # no readable object with selected_response, with score, or with a grade
    "truncated",  # the text ends inside an object
    "conflict",  # it states more than one verdict, score or grade
    "not-a-choice",  # neither 1 nor 2, not a number of the scale, or neither pass nor fail
    "tie",  # it calls the pair a tie
    "no-token",  # no [[A]], [[B]] or [[C]], no [[7]], no [[PASS]] or "GRADE: C"
    "too-long",  # beyond MAX_CHARACTERS or MAX_OBJECTS
    # given by the providers
    "refusal",  # the judge declined
    "filtered",  # a content filter or safety block
    "too-large",  # the prompt exceeds the context or the request limit
    "no-answer",  # no answer after all attempts
    "timeout",  # a function of the user's gave none in time
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's choice with its reason, a tie that counts, or the kind of its failure: always exactly one of them.

    `repaired` names what had to be mended to read a valid verdict, outermost first: `fence` (a code fence),
    `prose` (text around the object), `array` (a list around it), `syntax` (JSON that is not quite),
    `key` (spelled otherwise), `value` ("1" or "Response 1" for 1), `reason` (missing, or not a string).
    `reasoning` is the text in thinking blocks; it is never part of the reason. A `tie` is one where the judge's table
    says that ties count; elsewhere it is invalid, of the kind "tie".

    >>> Verdict(1, "It answers the question.").outcome, Verdict(None, "Both do.", tie=True).outcome
    (1.0, 0.5)
    """

    selected_response: Choice | None
    reason: str
    invalid: InvalidKind | None = None
    repaired: tuple[str, ...] = ()
    reasoning: str = ""
    tie: bool = False

    def __post_init__(self) -> None:
        if (self.selected_response is not None) + (self.invalid is not None) + self.tie != 1:
            raise ValueError(
                "a verdict is either a choice, a tie or invalid: got "
                f"selected_response={self.selected_response!r} with invalid={self.invalid!r} and tie={self.tie!r}; "
                "give one of them and leave the others out"
            )

    @property
    def outcome(self) -> float | None:
        """The verdict as a number: 1 for response 1, 0 for response 2, .5 for a tie, None where it is invalid."""
        if self.invalid is not None:
            return None
        return 0.5 if self.tie else float(self.selected_response == 1)
