"""Plan of a judge."""

import hashlib
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "creative-writing",
    "translation",
    "summarization",
    "rewriting",
    "safety",
    "code",
    "reasoning",
    "factual",
    "instruction",
]


PlanStrategy = Literal["self", "combined"]


Origin = Literal["heuristic", "self", "combined", "fallback"]


Fault = Literal[
    "failed",  # the call ended without a usable answer: refused, filtered, cut off
    "empty",  # fewer than LEAST_WORDS words
    "answer",  # it gives a verdict, or has nothing of the form that a plan was asked for in
    "names-response",  # a leak: it prefers one of the responses, or says what the right one looks like
    "names-bias",  # a leak: it names a bias that datasets test for
]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan for a pair in every condition.

    Attributes:
        fault: Why the answer, `rejected`, was no plan.
    """

    text: str
    kind: Kind
    origin: Origin
    fault: Fault | None = None
    detail: str = ""
    rejected: str = ""

    @property
    def digest(self) -> str:
        """A digest of what the judge reads."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
