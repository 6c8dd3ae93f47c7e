"""Verdicts: what a judge's text says, or why it says nothing that counts.

Text goes in and a `Verdict` comes out. Syntax is repaired here, meaning never is: nothing in this room
may guess a choice that the text does not state. What a provider says about its own answer (a refusal, a
finish reason, a status code) is read where it arrives and is not the parser's business.

Judges quote their candidates, and candidates write JSON too. So the text is read once, from left to
right, and no character is parsed as part of two objects: that keeps time linear for hostile input, and it
keeps what stands inside a string from being taken for an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from judgefixtures.texts import encodable

__all__ = ["MAX_CHARACTERS", "MAX_OBJECTS", "InvalidKind", "Verdict", "parse_verdict"]

Choice: TypeAlias = Literal[1, 2]

InvalidKind: TypeAlias = Literal[
    # given by the parser
    "empty",  # no text, or none after the thinking
    "no-json",  # no readable object with selected_response
    "truncated",  # the text ends inside an object
    "conflict",  # it states more than one verdict
    "not-a-choice",  # selected_response is neither 1 nor 2
    "tie",  # it calls the pair a tie
    "no-token",  # no [[A]], [[B]] or [[C]]
    "too-long",  # beyond MAX_CHARACTERS or MAX_OBJECTS
    # given by the providers
    "refusal",  # the judge declined
    "filtered",  # a content filter or safety block
    "too-large",  # the prompt exceeds the context or the request limit
    "no-answer",  # no answer after all attempts
]

# A verdict is a few hundred characters. What is longer than this is a loop, and is not read.
MAX_CHARACTERS = 2_000_000

# Characters are parsed at most once, but each object has a cost of its own, repairs above all.
MAX_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's choice with its reason, a tie that counts, or the kind of its failure: always exactly one of them.

    `repaired` names what had to be mended to read a valid verdict, outermost first: `fence` (a code fence),
    `prose` (text around the object), `array` (a list around it), `syntax` (JSON that is not quite),
    `key` (spelled otherwise), `value` ("1" or "Response 1" for 1), `reason` (missing, or not a string).
    `reasoning` is the text before `</think>`; it is never part of the reason. A `tie` is one where the judge's table
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


def parse_verdict(
    text: str,
    format: Literal["json", "brackets"] = "json",  # noqa: A002 (public)
    *,
    ties: bool = False,
) -> Verdict:
    """Return the verdict that a judge's text states, or an invalid one with its kind.

    `text` is the whole answer, thinking included. In `json` it states its verdict in objects
    `{"selected_response": 1 | 2, "reason": str}`: the whole text is read first, then what follows the last
    `</think>`, then a code fence, then all objects in the text, which must agree. In `brackets` the last
    of `[[A]]` (1), `[[B]]` (2) and `[[C]]` (a tie) counts. A tie is invalid unless `ties` says that it counts.
    No text raises; an unknown `format` raises ValueError. Time is linear in the length of the text.
    Source: the answers asked for in arXiv 2509.26072, Appendix A, and in MT-Bench (arXiv 2306.05685).

    >>> parse_verdict('{"selected_response": 2, "reason": "It is correct."}')
    Verdict(selected_response=2, reason='It is correct.', invalid=None, repaired=(), reasoning='', tie=False)
    >>> parse_verdict("Sure: {'selected_response': '1', 'reason': 'shorter'}").repaired
    ('prose', 'syntax', 'value')
    >>> tie = '{"selected_response": "tie", "reason": "equal"}'
    >>> parse_verdict(tie).invalid, parse_verdict(tie, ties=True).outcome
    ('tie', 0.5)
    >>> parse_verdict("A is right, B is not. [[A]]", "brackets").selected_response
    1
    """
    if format not in ("json", "brackets"):
        raise ValueError(f'unknown verdict format {format!r}: use "json" or "brackets"')
    if len(text) > MAX_CHARACTERS:
        return _invalid("too-long")
    text = encodable(text).strip()
    bare = text.strip("\ufeff").strip()
    if not bare:
        return _invalid("empty")
    verdict = _read_brackets(bare) if format == "brackets" else _read_json(bare)
    verdict = replace(verdict, reason=encodable(verdict.reason))  # an escape in JSON may hold half of a surrogate pair
    if ties and verdict.invalid == "tie":
        verdict = replace(verdict, invalid=None, tie=True)
    return verdict if bare == text or format == "brackets" else _mended(verdict, "syntax")


def _invalid(kind: InvalidKind, reason: str = "") -> Verdict:
    return Verdict(None, reason, kind)


def _mended(verdict: Verdict, *repairs: str) -> Verdict:
    """Return the verdict with repairs noted, each once; where it is invalid, nothing was repaired."""
    if verdict.invalid:
        return verdict
    return replace(verdict, repaired=tuple(dict.fromkeys((*repairs, *verdict.repaired))))


def _split_thinking(text: str) -> tuple[str, str]:
    """Return (reasoning, answer); a thought that is never closed is not an answer."""
    thought, _, answer = text.rpartition("</think>")
    if answer.lstrip().startswith("<think>"):
        thought, answer = text, ""
    return thought.strip().removeprefix("<think>").strip(), answer.strip()


# --- brackets ---------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\[\[(\s*+[ABC]\s*+)]]", re.IGNORECASE | re.ASCII)
_LETTERS: dict[str, Choice | None] = {"A": 1, "B": 2, "C": None}


def _read_brackets(text: str) -> Verdict:
    reasoning, answer = _split_thinking(text)
    if not answer:
        return replace(_invalid("empty"), reasoning=reasoning)
    tokens = list(_TOKEN.finditer(answer))
    if not tokens:
        return replace(_invalid("no-token"), reasoning=reasoning)
    token = tokens[-1]  # judges name both while they explain
    reason = answer[: token.start()].strip() or answer[token.end() :].strip()
    letter = token[1].strip().upper()
    choice = _LETTERS[letter]
    verdict = Verdict(choice, reason) if choice else _invalid("tie", reason)
    return replace(verdict if token[1] == letter else _mended(verdict, "syntax"), reasoning=reasoning)


# --- json: from the text to its objects -------------------------------------------------------------------


def _read_json(text: str) -> Verdict:
    if whole := _read_value(text):
        return whole
    reasoning, answer = _split_thinking(text)
    verdict = _read_answer(answer) if answer else _invalid("empty")
    return replace(verdict, reasoning=reasoning)


def _read_answer(answer: str) -> Verdict:
    if whole := _read_value(answer):
        return whole
    if fenced := _unfenced(answer):
        return _mended(_read_value(fenced) or _scan(fenced), "fence")
    return _scan(answer)


def _unfenced(text: str) -> str | None:
    """Return what the outermost code fence holds, provided that no object can stand outside it.

    The last fence mark closes it, not the next one: a reason may quote a fence.
    """
    before, _, rest = text.partition("```")
    inside, closing, after = rest.rpartition("```")
    if not closing or "{" in before or "{" in after:
        return None
    return re.sub(r"\A[\w+-]*+\s*+", "", inside).strip()


# Only a double quote opens a string wherever it stands; the others are apostrophes unless they begin a
# word. Every repetition is possessive, so that no character is tried twice.
_BEGINS_WORD = r"(?<=[\s{\[,:])"
_STRING = "|".join(
    rf"{before}{opening}[^{closing}\\]*+(?:\\.[^{closing}\\]*+)*+{closing}"
    for before, opening, closing in [
        ("", '"', '"'),
        (_BEGINS_WORD, "'", "'"),
        (_BEGINS_WORD, "“", "”"),
        (_BEGINS_WORD, "‘", "’"),
    ]
)
_OPENING = re.compile(r"\{\s*+(?=[\"'“‘]|\Z)")  # a brace that JSON, not prose or LaTeX, could have written
_STRUCTURE = re.compile(rf"{_STRING}|[{{}}\"]|{_BEGINS_WORD}['“‘]", re.DOTALL)

# A verdict among what could not be read. It is never taken, but it can contradict.
_UNREAD = re.compile(
    r"[\"'“]selected[\s_]*+response[\"'”]\s*+:\s*+[\"'“]?+\s*+([12])\s*+(?=[\"'”,}]|\Z)", re.IGNORECASE
)


def _scan(text: str) -> Verdict:
    """Return what all objects in the text agree on."""
    found: list[Verdict] = []
    unread: list[str] = []
    position = 0
    for start, end in _spans(text):
        if end is None:
            return _invalid("truncated")
        if len(unread) == MAX_OBJECTS:
            return _invalid("too-long")
        verdict = _read_object(text[start:end])
        if verdict:
            found.append(verdict)
        unread.append(text[position : start if verdict else end])
        position = end
    unread.append(text[position:])
    verdict = _agreed(found)
    others = _UNREAD.findall(" ".join(unread))
    if verdict.selected_response and any(int(other) != verdict.selected_response for other in others):
        return _invalid("conflict")
    return _mended(verdict, "prose") if any(unread) else verdict


def _spans(text: str) -> Iterator[tuple[int, int | None]]:
    """Yield start and end of the outermost objects; the end of one that the text cuts off is None."""
    end: int | None = 0
    while end is not None and (opening := _OPENING.search(text, end)):
        end = _object_end(text, opening.start())
        yield opening.start(), end


def _object_end(text: str, start: int) -> int | None:
    depth = 0
    for token in _STRUCTURE.finditer(text, start):
        match token[0]:
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if depth == 0:
                    return token.end()
            case '"' | "'" | "“" | "‘":  # a quote that nothing closes
                return None
    return None


def _agreed(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the last of the verdicts if they all say the same.

    A tie is a statement, and contradicts a choice. What is not a choice is none: a format that is echoed
    before the answer says `"selected_response": "1 or 2"`.
    """
    stated = [verdict for verdict in verdicts if verdict.invalid != "no-json"]
    stated = [verdict for verdict in stated if verdict.invalid != "not-a-choice"] or stated
    if not stated:
        return _invalid("no-json")
    if len({(verdict.selected_response, verdict.invalid) for verdict in stated}) > 1:
        return _invalid("conflict")
    return stated[-1]


# --- json: from one value to what it states ---------------------------------------------------------------


class _Object(dict[str, Any]):
    """A JSON object that still knows the keys it was given twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


# A float would round 1.00000000000000001 to a choice; a Decimal does not.
_STRICT = json.JSONDecoder(object_pairs_hook=_Object, parse_float=Decimal)
_LENIENT = json.JSONDecoder(object_pairs_hook=_Object, parse_float=Decimal, strict=False)  # raw newlines

# Not JSON, a number with too many digits, an exponent beyond Decimal's, nesting too deep.
_UNREADABLE = (ValueError, ArithmeticError, RecursionError)

# What a string may say instead of 1 or 2, in lower case and with single spaces.
_WORDS: dict[str, Choice | Literal["tie"]] = {
    **dict.fromkeys(("1", "response 1", "story 1"), 1),
    **dict.fromkeys(("2", "response 2", "story 2"), 2),
    **dict.fromkeys(("tie", "a tie", "tied", "draw", "a draw", "equal"), "tie"),
}


def _read_value(text: str) -> Verdict | None:
    """Return what `text` states as one strict JSON value; None if it is not one."""
    try:
        value = _STRICT.decode(text)
    except _UNREADABLE:
        return None
    match value:
        case _Object():
            return _stated(value)
        case list():
            return _mended(_agreed(_stated(item) for item in value if isinstance(item, _Object)), "array")
        case str():
            return _mended(_read_value(value) or _invalid("no-json"), "syntax")
    return _invalid("no-json")


def _read_object(text: str) -> Verdict | None:
    """Return what `text`, from brace to brace, states; None if no repair makes it JSON."""
    if verdict := _read_value(text):
        return verdict
    try:
        value = _LENIENT.decode(_repaired(text))
    except _UNREADABLE:
        return None
    return _mended(_stated(value), "syntax")


def _stated(value: _Object) -> Verdict:
    choices, reasons = _entries(value, "selected_response"), _entries(value, "reason")
    if not choices:
        return _invalid("no-json")
    if len(choices) > 1 or len(reasons) > 1:
        return _invalid("conflict")
    choice_key, stated = choices[0]
    reason_key, reason = reasons[0] if reasons else ("reason", None)
    choice = _choice(stated)
    words = reason if isinstance(reason, str) else "" if reason is None else _compact(reason)
    if isinstance(choice, str):
        return _invalid(choice, words)
    repairs = {
        "key": (choice_key, reason_key) != ("selected_response", "reason"),
        "value": not isinstance(stated, int),
        "reason": not isinstance(reason, str),
    }
    return Verdict(choice, words, repaired=tuple(name for name, needed in repairs.items() if needed))


def _entries(value: _Object, name: str) -> list[tuple[str, Any]]:
    """Return the different (key, value) pairs that `name` could mean: two of them are one too many."""
    pairs = [(key, item) for key, item in value.pairs if _folded(key) == _folded(name)]
    return list({(key, _compact(item)): (key, item) for key, item in pairs}.values())


def _folded(key: str) -> str:
    return "".join(key.lower().replace("_", " ").split())


def _choice(value: object) -> Choice | Literal["tie", "not-a-choice"]:
    match value:
        case bool():  # True == 1 in Python, and in Python only
            return "not-a-choice"
        case int() | Decimal():
            return 1 if value == 1 else 2 if value == 2 else "not-a-choice"
        case str():
            return _WORDS.get(" ".join(value.lower().split()), "not-a-choice")
    return "not-a-choice"


def _compact(value: object) -> str:
    """Return the value as compact JSON; nothing if it is nested deeper than Python writes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=float)
    except RecursionError:
        return ""


# --- json: repairs ----------------------------------------------------------------------------------------

# A comment that nothing closes reaches to the end, so that no text is searched twice.
_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"
_MENDABLE = re.compile(
    rf"(?P<string>{_STRING})|,(?=(?:\s|{_COMMENT})*+[}}\]])|{_COMMENT}|\b(?:True|False|None)\b", re.DOTALL
)
_SPELLINGS = {",": "", "True": "true", "False": "false", "None": "null"}
_ESCAPE = re.compile(r"""(?P<json>\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})|\\(?P<quote>['”’])|[\\"]""")


def _repaired(text: str) -> str:
    """Return the text with JSON's quotes, escapes and literals, and without trailing commas and comments."""
    return _MENDABLE.sub(lambda part: _json_string(part[0]) if part["string"] else _SPELLINGS.get(part[0], " "), text)


def _json_string(quoted: str) -> str:
    inside = _ESCAPE.sub(lambda part: part["json"] or part["quote"] or "\\" + part[0], quoted[1:-1])
    return f'"{inside}"'
