"""Outcomes of an answer, each valid or invalid with a kind: a choice, a grade or a score."""

from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, TypeAlias, TypeVar

from .probabilities import Probability

Choice: TypeAlias = Literal[1, 2]
Scale = tuple[float, float]  # the lowest and the highest score; of whole numbers where both are ints


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
    "raised",  # a function of the user's raised an exception
]


T = TypeVar("T")
OLD_KEYWORDS = {"selected_response", "passed"}
SELECTED: dict[float | None, Choice] = {1: 1, 2: 2, 0: 2}  # a pass stands for response 1, a fail for response 2


def _with_old_keywords(cls: type[T]) -> type[T]:
    """Let `selected_response` and `passed` stand for `value` where an outcome is made, as in version 0.2."""
    init = cls.__init__

    @wraps(init)
    def with_old(self: T, *values: Any, **named: Any) -> None:
        for name in OLD_KEYWORDS & named.keys():  # after `replace`, beside the present value
            named["value"] = named.pop(name)
        init(self, *values, **named)

    cls.__init__ = with_old  # type: ignore[assignment]
    return cls


@_with_old_keywords
@dataclass(frozen=True, slots=True)
class NamedOutcome:
    """One named result of an answer: a value with its reason, a tie that counts, or the kind of its failure.

    Exactly one of the three. The `name` says what the `value` is: "winner" (1 or 2), "passed" (True or False), "score"
    (a number), or a criterion.
    `repaired` names what had to be mended to read a valid value, outermost first: `fence` (a code fence), `prose` (text
    around the object), `array` (a list around it), `syntax` (JSON that is not quite), `key` (spelled otherwise),
    `value` ("1" or "Response 1" for 1, "7/10" for 7), `reason` (missing, or not a string).
    `reasoning` is the text in thinking blocks; it is never part of the reason. A `tie` is one where the judge's table
    says that ties count; elsewhere it is invalid, of the kind "tie". `probability` is how sure the judge was, where the
    server told it. `scores` are those that a value follows from: of what stood first and second, or of the only
    response.

    >>> NamedOutcome(1, "It answers the question.").outcome, NamedOutcome(None, "Both do.", tie=True).outcome
    (1.0, 0.5)
    >>> NamedOutcome(False, "It is wrong.", name="passed").selected_response
    2
    """

    value: float | None
    reason: str
    invalid: InvalidKind | None = None
    repaired: tuple[str, ...] = ()
    reasoning: str = ""
    tie: bool = False
    name: str = field(default="winner", compare=False, repr=False)
    probability: Probability | None = field(default=None, compare=False, repr=False)
    scores: tuple[float, ...] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.value is not None) + (self.invalid is not None) + self.tie != 1:
            raise ValueError(
                f"an outcome is either a value, a tie or invalid: got value={self.value!r} with "
                f"invalid={self.invalid!r} and tie={self.tie!r}; give one of them and leave the others out"
            )

    @property
    def selected_response(self) -> Choice | None:
        """The response that was chosen: 1 for what passed, 2 for what failed; None of a score, which chooses none."""
        return None if self.name == "score" else SELECTED.get(self.value)

    @property
    def passed(self) -> bool | None:
        """Whether the response passed; None for a score and an invalid grade."""
        return None if self.selected_response is None else self.selected_response == 1

    @property
    def outcome(self) -> float | None:
        """As a number: 1 for response 1, 0 for response 2, 0.5 for a tie, None for a score or if invalid."""
        return 0.5 if self.tie else None if self.selected_response is None else float(self.selected_response == 1)


# Public names.
Verdict = NamedOutcome
Grade = NamedOutcome
Score = NamedOutcome
