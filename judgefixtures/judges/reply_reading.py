"""Reading of a judge's reply."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from judgefixtures.models.probabilities import Probability
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import InvalidKind, NamedOutcome
from judgefixtures.parsing.repetition import LOOP_REMEDY, repeated_ending
from judgefixtures.providers import ProviderResponse
from judgefixtures.providers.judge_table import JudgeTable
from judgefixtures.util.texts import make_one_line

SHOWN = 300  # characters of an answer that nobody can read, of which so many are its end
SHOWN_END = 95
WHOLE = ("}", "]", "```")


def reply_fields(answer: ProviderResponse, retries: int, wasted: int, detail: str | None = None) -> dict[str, Any]:
    """Return the common fields of replies."""
    same = {name: getattr(answer, name) for name in ("served_model", "fingerprint", "usage", "ended_early", "refused")}
    detail = _said_of(answer) if detail is None else detail
    return {**same, "detail": detail, "loop": _loop(answer), "retries": retries, "wasted": wasted}


def _loop(answer: ProviderResponse) -> str:
    text = answer.text or answer.reasoning
    return "" if answer.invalid is None and text.rstrip().endswith(WHOLE) else repeated_ending(text)


def _said_of(answer: ProviderResponse) -> str:
    loop = _loop(answer) if answer.invalid == "truncated" else ""
    return f"{describe_repetition(loop)}: {LOOP_REMEDY}" if loop else answer.detail


def describe_repetition(loop: str) -> str:
    """Return a repetitive answer's description."""
    return f'the answer repeats itself until it is cut off; it ends in "{loop}"'


@dataclass(frozen=True, slots=True)
class Reading:
    """How a mode reads an outcome from an answer.

    Attributes:
        parse: Reads the text.
        hint: Returns the key of the judge's table that would make it readable.
        asked: What the judge is asked to answer.
        sure: Returns how likely the outcome was, by its tokens.
        explains: Tells whether visible reasoning precedes the outcome.
    """

    answer: ProviderResponse
    table: JudgeTable
    parse: Callable[[str], NamedOutcome]
    hint: Callable[[str], str]
    asked: str
    sure: Callable[[NamedOutcome], Probability | None] = lambda _: None
    explains: Callable[[NamedOutcome], bool] = lambda _: False

    def reply(self, retries: int, wasted: int) -> JudgeReply:
        """Return the judge's reply."""
        outcome, detail = self.statement()
        outcome = replace(outcome, probability=self._certainty(outcome)) if self.table.logprobs else outcome
        return JudgeReply(outcome, **reply_fields(self.answer, retries, wasted, detail))

    def statement(self) -> tuple[NamedOutcome, str]:
        """Return what the answer states, or the invalid statement that it is, with what is to be said of it."""
        answer = self.answer
        if answer.invalid is None:
            stated = self.parse(answer.text)
            detail = answer.detail
            if stated.invalid not in (None, "tie"):
                detail = describe_unreadable(answer, stated.invalid, self.hint(answer.text), self.asked, self.table)
            return replace(stated, reasoning=stated.reasoning or answer.reasoning), detail
        if answer.unless_whole:
            as_whole = replace(answer, invalid=None, detail=answer.unless_whole)
            whole, note = replace(self, answer=as_whole).statement()
            if whole.invalid is None:
                return whole, note
        detail = _said_of(answer)
        if answer.invalid == "truncated" and answer.text.strip():
            detail += f"; it answered {quote_answer(answer.text)}"
        return NamedOutcome(None, "", answer.invalid, reasoning=answer.reasoning), detail

    def _certainty(self, outcome: NamedOutcome) -> Probability | None:
        """Return how sure the judge was of a valid outcome.

        Each answer decides whether it had reasoned before: the same prompt brings a word in front of one verdict, and
        none of another.
        """
        answer = self.answer
        if outcome.invalid is not None:
            return None
        found = self.sure(outcome) if answer.probability is None and answer.tokens else answer.probability
        hidden = answer.usage.reasoning_tokens or outcome.reasoning.strip()
        return None if found is None else replace(found, explained=bool(hidden) or self.explains(outcome))


def describe_unreadable(
    answer: ProviderResponse, kind: InvalidKind | None, hint: str, wanted: str, table: JudgeTable
) -> str:
    """Return an unreadable answer's quote and hint.

    >>> from judgefixtures.config import judge_table
    >>> mine = judge_table({"provider": "openai", "model": "m", "mode": "binary"})
    >>> answer, asked = ProviderResponse("GRADE: C"), '{"verdict": "pass" or "fail"}'
    >>> describe_unreadable(answer, "no-json", 'verdict = "grade"', asked, mine)
    'it answered "GRADE: C"; to read this, set verdict = "grade" in [judges.NAME]'
    """
    sentence = f"it answered {quote_answer(answer.text)}"
    if kind == "truncated" and (loop := _loop(answer)):
        return f"{sentence}; {describe_repetition(loop)}: {LOOP_REMEDY}"
    if kind == "truncated" and not table.record.is_code:
        return f"{sentence}, which is cut off: raise max_output_tokens ({table.max_output_tokens}) in {table.heading}"
    if hint:
        return f"{sentence}; to read this, set {hint} in {table.heading}"
    return f"{sentence}; expected {wanted}"


def quote_answer(text: str) -> str:
    """Return the beginning and end of an answer.

    >>> quote_answer("It is [[7]]"), len(quote_answer("x" * 999))
    ('"It is [[7]]"', 331)
    """
    line = make_one_line(text).strip()
    if len(line) <= SHOWN:
        return f'"{line}"' if line else "nothing"
    cut = f"{line[: SHOWN - SHOWN_END - 5]} ... {line[-SHOWN_END:]}"
    return f'"{cut}" (cut: {len(cut)} of {len(line)} characters)'
