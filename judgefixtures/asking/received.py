"""Replies: what a judge's answers come to, whatever its kind; and what is asked for them, as a record.

Nobody is asked here, and nothing is read out of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from judgefixtures.material.contrasts import Condition
from judgefixtures.material.pairs import Pair
from judgefixtures.material.plans import Plan
from judgefixtures.providers import Answer, Usage
from judgefixtures.providers.tables import JudgeTable
from judgefixtures.reading.grades import Grade
from judgefixtures.reading.loops import loop_in
from judgefixtures.reading.probabilities import Probability
from judgefixtures.reading.scores import Score
from judgefixtures.reading.verdicts import InvalidKind, Verdict
from judgefixtures.words.texts import one_line

SHOWN = 300  # characters of an answer that nobody can read, of which so many are its end
SHOWN_END = 95
WHOLE = ("}", "]", "```")
# No limit is long enough for a loop.
LOOP_REMEDY = "a longer answer would go on like that; another prompt, temperature or model may not"

Arm = tuple[Condition, int]  # a condition and one of its repeats
V = TypeVar("V", Verdict, Score, Grade)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What was made of an answer, whatever it was an answer to, with what the provider said about itself.

    So many attempts failed before it (`retries`), of which `wasted` may have been billed. `loop` is the end of an
    answer that goes round in a loop. `ended_early`: it was cut off although its limit was not reached.
    """

    detail: str = ""
    ended_early: bool = False
    loop: str = ""
    served_model: str | None = None
    fingerprint: str | None = None
    usage: Usage = field(default_factory=Usage)
    retries: int = 0
    wasted: int = 0

    @property
    def invalid(self) -> str | None:
        """Why nothing was answered that can be used, or None."""
        raise NotImplementedError

    @property
    def decides(self) -> object:
        """What it decides: two answers to one question are the same where this is."""
        return None


R = TypeVar("R", bound=Received)


def received_with(answer: Answer, retries: int, wasted: int) -> dict[str, Any]:
    """Return the fields of what is made of an answer that do not depend on what that is."""
    told = {name: getattr(answer, name) for name in ("served_model", "fingerprint", "usage", "ended_early")}
    return {**told, "detail": _said_of(answer), "loop": _loop(answer), "retries": retries, "wasted": wasted}


def _loop(answer: Answer) -> str:
    """Return the end of an answer that goes round in a loop; one that ends as a whole one does is not looked at."""
    text = answer.text or answer.reasoning
    return "" if answer.invalid is None and text.rstrip().endswith(WHOLE) else loop_in(text)


def _said_of(answer: Answer) -> str:
    """Return what is to be said of an answer: of one that was cut off in a loop that, and nothing of more room."""
    loop = _loop(answer) if answer.invalid == "truncated" else ""
    return f"{in_a_loop(loop)}: {LOOP_REMEDY}" if loop else answer.detail


def in_a_loop(loop: str) -> str:
    """Return how an answer is called that ends in a loop."""
    return f'the answer repeats itself until it is cut off, its end is "{loop}"'


@dataclass(frozen=True, slots=True)
class Reply(Received):
    """A verdict.

    `probability` is how sure the judge was, where the server told it, and `scores` are those of what stood first and
    second, of a judge that scores one response at a time, or that of the only response. `imported`: it was read from a
    log, and nobody was asked.
    """

    verdict: Verdict
    probability: Probability | None = None
    scores: tuple[float, ...] | None = None
    imported: bool = False

    @property
    def invalid(self) -> str | None:
        """Why there is no verdict, or None."""
        return self.verdict.invalid

    @property
    def decides(self) -> object:
        """The choice."""
        return self.verdict.selected_response, self.verdict.tie, self.invalid


@dataclass(frozen=True, slots=True)
class Planned:
    """A pair's plan with the tokens that making it cost; None for one that was not asked for."""

    plan: Plan
    usage: Usage | None = None


Pairs = Sequence[Pair]
Arms = Sequence[Arm]
Plans = Mapping[str, Planned]  # by pair id
Replies = list[tuple[Reply, ...]]  # of every arm, in the order of the pairs


def read_answer(answer: Answer, parse: Callable[[str], V], fail: Callable[[InvalidKind, str], V]) -> tuple[V, str]:
    """Return what an answer states, or the invalid statement that it is, with what is to be said of it.

    `parse` reads a text, and `fail` makes what has no text that counts, of its kind and its reasoning.
    """
    if answer.invalid is None:
        stated = parse(answer.text)
        return replace(stated, reasoning=stated.reasoning or answer.reasoning), answer.detail
    if answer.unless_whole:
        whole, note = read_answer(replace(answer, invalid=None, detail=answer.unless_whole), parse, fail)
        if whole.invalid is None:
            return whole, note
    detail = _said_of(answer)
    if answer.invalid == "truncated" and answer.text.strip():
        detail += f"; it answered {shown(answer.text)}"
    return fail(answer.invalid, answer.reasoning), detail


def unread(answer: Answer, kind: InvalidKind, hint: str, asked: str, table: JudgeTable) -> str:
    """Return what an answer said that nobody can read, and which key of its judge's table would have it read.

    Where none would, it is said what the judge is asked to answer.

    >>> from judgefixtures.config import judge_table
    >>> mine = judge_table({"provider": "openai", "model": "m", "mode": "binary"})
    >>> unread(Answer("GRADE: C"), "no-json", 'verdict = "grade"', '{"verdict": "pass" or "fail"}', mine)
    'it answered "GRADE: C"; verdict = "grade" in [judges.NAME] reads that'
    """
    said = f"it answered {shown(answer.text)}"
    if kind == "truncated" and (loop := _loop(answer)):
        return f"{said}; {in_a_loop(loop)}: {LOOP_REMEDY}"
    if kind == "truncated" and not table.record.is_code:
        return f"{said}, cut off: raise max_output_tokens ({table.max_output_tokens}) in {table.heading}"
    if hint:
        return f"{said}; {hint} in {table.heading} reads that"
    return f"{said}; no key of its table reads that: it is asked to answer {asked}"


def shown(text: str) -> str:
    """Return an answer as a message quotes it: its beginning and its end, and that it is cut where it is.

    >>> shown("It is [[7]]"), len(shown("x" * 999))
    ('"It is [[7]]"', 331)
    """
    said = one_line(text).strip()
    if len(said) <= SHOWN:
        return f'"{said}"' if said else "nothing"
    cut = f"{said[: SHOWN - SHOWN_END - 5]} ... {said[-SHOWN_END:]}"
    return f'"{cut}" (cut: {len(cut)} of {len(said)} characters)'
