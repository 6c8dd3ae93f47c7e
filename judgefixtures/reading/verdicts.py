"""Verdicts: what a judge's text says, or why it says nothing that counts.

Text goes in and a `Verdict` comes out. Syntax is repaired here, meaning never is: nothing in this room
may guess a choice that the text does not state. What a provider says about its own answer (a refusal, a
finish reason, a status code) is read where it arrives and is not the parser's business.

Judges quote their candidates, and candidates write JSON too. So the text is read once, from left to
right, and no character is parsed as part of two objects: that keeps time linear for hostile input, and it
keeps what stands inside a string from being taken for an answer.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, TypeAlias

from judgefixtures.words.texts import encodable

__all__ = [
    "MAX_CHARACTERS",
    "MAX_OBJECTS",
    "Form",
    "InvalidKind",
    "Stated",
    "Verdict",
    "objects_in",
    "parse_verdict",
    "read_answer",
]

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
    ties: Literal["half", "invalid"] = "invalid",
) -> Verdict:
    """Return the verdict that a judge's text states, or an invalid one with its kind.

    `text` is the whole answer, thinking included. In `json` it states its verdict in objects
    `{"selected_response": 1 | 2, "reason": str}`: the whole text is read first, then what follows the last
    `</think>`, then a code fence, then all objects in the text, which must agree. In `brackets` the last
    of `[[A]]` (1), `[[B]]` (2) and `[[C]]` (a tie) counts. With `ties` "half" a tie, which 0 states as well, is one
    that counts; else it is invalid.
    No text raises; an unknown `format` raises ValueError. Time is linear in the length of the text.
    Source: the answers asked for in arXiv 2509.26072, Appendix A, and in MT-Bench (arXiv 2306.05685).

    >>> parse_verdict('{"selected_response": 2, "reason": "It is correct."}')
    Verdict(selected_response=2, reason='It is correct.', invalid=None, repaired=(), reasoning='', tie=False)
    >>> parse_verdict("Sure: {'selected_response': '1', 'reason': 'shorter'}").repaired
    ('prose', 'syntax', 'value')
    >>> tie = '{"selected_response": "tie", "reason": "equal"}'
    >>> parse_verdict(tie).invalid, parse_verdict(tie, ties="half").outcome
    ('tie', 0.5)
    >>> parse_verdict("A is right, B is not. [[A]]", "brackets").selected_response
    1
    """
    stated = read_answer(text, format, COUNTING_TIES if ties == "half" else CHOICES)
    if ties == "half" and stated.invalid == "tie":
        return Verdict(None, stated.reason, None, stated.repaired, stated.reasoning, tie=True)
    return Verdict(stated.value, stated.reason, stated.invalid, stated.repaired, stated.reasoning)  # type: ignore[arg-type]


# --- what verdicts, scores and grades have in common ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stated:
    """What a text states, whatever it was asked for: a value with its reason, or the kind of its failure.

    The other fields are as those of `Verdict`.
    """

    value: int | Decimal | None
    reason: str
    invalid: InvalidKind | None = None
    repaired: tuple[str, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """How a value is stated: under which key of an object or as which token in brackets, and what it can be.

    `value` makes a value, or the kind of a failure, of what stands under the key, and `is_plain` tells whether that
    is as it was asked for. `unread` finds values among what could not be read, and `token` those in brackets, in its
    first group; `in_brackets` makes of that what `value` makes of a key's.

    A value may stand under one of several keys: with `first_readable` those of `more_keys` as well, of all of which
    the first counts whose value can be read, and only those that can be read may disagree. The reason is the first of
    the fields `reasons` that holds words.
    """

    key: str
    value: Callable[[object], int | Decimal | InvalidKind]
    is_plain: Callable[[object], bool]
    unread: re.Pattern[str]
    token: re.Pattern[str]
    in_brackets: Callable[[str], tuple[int | Decimal | InvalidKind, str]]
    more_keys: tuple[str, ...] = ()
    first_readable: bool = False
    reasons: tuple[str, ...] = ("reason",)


def read_answer(text: str, format: Literal["json", "brackets"], form: Form) -> Stated:  # noqa: A002 (as parse_verdict's)
    """Return what a judge's whole text states in a form, or an invalid one with its kind. No text raises."""
    if format not in ("json", "brackets"):
        raise ValueError(f'unknown verdict format {format!r}: use "json" or "brackets"')
    if len(text) > MAX_CHARACTERS:
        return _invalid("too-long")
    text = encodable(text).strip()
    bare = text.strip("\ufeff").strip()
    if not bare:
        return _invalid("empty")
    if format == "brackets":
        return _read_brackets(bare, form)
    stated = _read_json(bare, form)
    stated = replace(stated, reason=encodable(stated.reason))  # an escape in JSON may hold half of a surrogate pair
    return stated if bare == text else _mended(stated, "syntax")


def _invalid(kind: InvalidKind, reason: str = "") -> Stated:
    return Stated(None, reason, kind)


def _mended(stated: Stated, *repairs: str) -> Stated:
    """Return what is stated with repairs noted, each once; where it is invalid, nothing was repaired."""
    if stated.invalid:
        return stated
    return replace(stated, repaired=tuple(dict.fromkeys((*repairs, *stated.repaired))))


def _split_thinking(text: str) -> tuple[str, str]:
    """Return (reasoning, answer); a thought that is never closed is not an answer."""
    thought, _, answer = text.rpartition("</think>")
    if answer.lstrip().startswith("<think>"):
        thought, answer = text, ""
    return thought.strip().removeprefix("<think>").strip(), answer.strip()


# --- brackets ---------------------------------------------------------------------------------------------


def _read_brackets(text: str, form: Form) -> Stated:
    reasoning, answer = _split_thinking(text)
    if not answer:
        return replace(_invalid("empty"), reasoning=reasoning)
    tokens = list(form.token.finditer(answer))
    if not tokens:
        return replace(_invalid("no-token"), reasoning=reasoning)
    token = tokens[-1]  # judges name both while they explain
    reason = answer[: token.start()].strip() or answer[token.end() :].strip()
    value, plain = form.in_brackets(token[1])
    stated = _invalid(value, reason) if isinstance(value, str) else Stated(value, reason)
    return replace(stated if token[1] == plain else _mended(stated, "syntax"), reasoning=reasoning)


# --- json: from the text to its objects -------------------------------------------------------------------


def _read_json(text: str, form: Form) -> Stated:
    if whole := _read_value(text, form):
        return whole
    reasoning, answer = _split_thinking(text)
    stated = _read_answer(answer, form) if answer else _invalid("empty")
    return replace(stated, reasoning=reasoning)


def _read_answer(answer: str, form: Form) -> Stated:
    if whole := _read_value(answer, form):
        return whole
    if fenced := _unfenced(answer):
        return _mended(_read_value(fenced, form) or _scan(fenced, form), "fence")
    return _scan(answer, form)


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


def _scan(text: str, form: Form) -> Stated:
    """Return what all objects in the text agree on."""
    found: list[Stated] = []
    unread: list[str] = []
    position = 0
    for start, end in _spans(text):
        if end is None:
            return _invalid("truncated")
        if len(unread) == MAX_OBJECTS:
            return _invalid("too-long")
        stated = _read_object(text[start:end], form)
        if stated:
            found.append(stated)
        unread.append(text[position : start if stated else end])
        position = end
    unread.append(text[position:])
    agreed = _agreed(found)
    others = (form.value(other) for other in form.unread.findall(" ".join(unread)))
    is_statement = agreed.value is not None or agreed.invalid == "tie"
    if is_statement and any(not isinstance(other, str) and other != agreed.value for other in others):
        return _invalid("conflict")
    return _mended(agreed, "prose") if any(unread) else agreed


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


def _agreed(found: Iterable[Stated]) -> Stated:
    """Return the last of what objects state if they all say the same.

    A tie is a statement, and contradicts a choice. What is not a choice is none: a format that is echoed
    before the answer says `"selected_response": "1 or 2"`.
    """
    stated = [each for each in found if each.invalid != "no-json"]
    stated = [each for each in stated if each.invalid != "not-a-choice"] or stated
    if not stated:
        return _invalid("no-json")
    if len({(each.value, each.invalid) for each in stated}) > 1:
        return _invalid("conflict")
    return stated[-1]


# --- json: from one value to what it states ---------------------------------------------------------------


class _Object(dict[str, Any]):
    """A JSON object that still knows the keys it was given twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    @cached_property
    def by_name(self) -> dict[str, list[tuple[str, Any]]]:
        """The (key, value) pairs by their folded keys: a value may stand under one of many."""
        found: dict[str, list[tuple[str, Any]]] = {}
        for key, item in self.pairs:
            found.setdefault(folded(key), []).append((key, item))
        return found


# A float would round 1.00000000000000001 to a choice; a Decimal does not.
_STRICT = json.JSONDecoder(object_pairs_hook=_Object, parse_float=Decimal)
_LENIENT = json.JSONDecoder(object_pairs_hook=_Object, parse_float=Decimal, strict=False)  # raw newlines

# Not JSON, a number with too many digits, an exponent beyond Decimal's, nesting too deep.
_UNREADABLE = (ValueError, ArithmeticError, RecursionError)


def _read_value(text: str, form: Form) -> Stated | None:
    """Return what `text` states as one strict JSON value; None if it is not one."""
    try:
        value = _STRICT.decode(text)
    except _UNREADABLE:
        return None
    match value:
        case _Object():
            return _stated(value, form)
        case list():
            return _mended(_agreed(_stated(item, form) for item in value if isinstance(item, _Object)), "array")
        case str():
            return _mended(_read_value(value, form) or _invalid("no-json"), "syntax")
    return _invalid("no-json")


def _read_object(text: str, form: Form) -> Stated | None:
    """Return what `text`, from brace to brace, states; None if no repair makes it JSON."""
    if stated := _read_value(text, form):
        return stated
    value = _decoded_leniently(text)
    return None if value is None else _mended(_stated(value, form), "syntax")


def _decoded_leniently(text: str) -> _Object | None:
    """Return the object that a text from brace to brace is once it is repaired; None if it is none."""
    try:
        value: _Object = _LENIENT.decode(_repaired(text))
    except _UNREADABLE:
        return None
    return value


def objects_in(text: str) -> list[dict[str, Any]]:
    """Return the objects that an answer holds, wherever a value is looked for, those within others aside.

    >>> objects_in("<think>{}</think>Sure: {'rating': 'good'}")
    [{'rating': 'good'}]
    """
    answer = _split_thinking(encodable(text[:MAX_CHARACTERS]))[1]
    found: list[dict[str, Any]] = []
    for start, end in itertools.islice(_spans(answer), MAX_OBJECTS):
        value = None if end is None else _decoded_leniently(answer[start:end])
        found += [] if value is None else [value]
    return found


def _stated(value: _Object, form: Form) -> Stated:
    entry = _entry(value, form)
    reason_entry = _reason_entry(value, form, entry)
    if isinstance(entry, str) or isinstance(reason_entry, str):
        return _invalid(entry if isinstance(entry, str) else "conflict")
    key, written = entry
    reason_key, reason = reason_entry
    found = form.value(written)
    words = reason if isinstance(reason, str) else "" if reason is None else _compact(reason)
    if isinstance(found, str):
        return _invalid(found, words)
    repairs = {
        "key": key not in (form.key, *form.more_keys) or reason_key not in form.reasons,
        "value": not form.is_plain(written),
        "reason": not isinstance(reason, str),
    }
    return Stated(found, words, repaired=tuple(name for name, needed in repairs.items() if needed))


def _entry(value: _Object, form: Form) -> tuple[str, Any] | Literal["no-json", "conflict"]:
    """Return under which key an object states its value, and what is written there."""
    entries = [entry for name in (form.key, *form.more_keys) for entry in _entries(value, name)]
    if not entries:
        return "no-json"
    if not form.first_readable:
        return entries[0] if len(entries) == 1 else "conflict"
    read = {number: found for number, (_, item) in enumerate(entries) if not isinstance(found := form.value(item), str)}
    return "conflict" if len({*read.values()}) > 1 else entries[min(read, default=0)]


def _reason_entry(value: _Object, form: Form, entry: object) -> tuple[str, Any] | Literal["conflict"]:
    """Return under which key an object gives its reason, and what is written there; two under one are too many."""
    given = [_entries(value, name) for name in form.reasons]
    given = [entries for entries in given if entries and entries != [entry]]
    with_words = [entries for entries in given if any(isinstance(item, str) and item.strip() for _, item in entries)]
    entries = next(iter(with_words or given), [(form.reasons[0], None)])
    return entries[0] if len(entries) == 1 else "conflict"


def _entries(value: _Object, name: str) -> list[tuple[str, Any]]:
    """Return the different (key, value) pairs that `name` could mean: two of them are one too many."""
    pairs = value.by_name.get(folded(name), [])
    if len(pairs) < 2:
        return pairs
    return list({(key, _compact(item)): (key, item) for key, item in pairs}.values())


def folded(key: str) -> str:
    """Return a key without case, underscores and spaces: models write it in several ways."""
    return "".join(key.lower().replace("_", " ").split())


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


# --- choices ----------------------------------------------------------------------------------------------

# A verdict among what could not be read. It is never taken, but it can contradict.
_UNREAD = re.compile(
    r"[\"'“]selected[\s_]*+response[\"'”]\s*+:\s*+[\"'“]?+\s*+([12])\s*+(?=[\"'”,}]|\Z)", re.IGNORECASE
)

# What a string may say instead of 1 or 2, in lower case and with single spaces.
_WORDS: dict[str, Choice | Literal["tie"]] = {
    **dict.fromkeys(("1", "response 1", "story 1"), 1),
    **dict.fromkeys(("2", "response 2", "story 2"), 2),
    **dict.fromkeys(("tie", "a tie", "tied", "draw", "a draw", "equal"), "tie"),
}

_TOKEN = re.compile(r"\[\[(\s*+[ABC]\s*+)]]", re.IGNORECASE | re.ASCII)
_LETTERS: dict[str, Choice | Literal["tie"]] = {"A": 1, "B": 2, "C": "tie"}


def _choice(value: object) -> Choice | Literal["tie", "not-a-choice"]:
    match value:
        case bool():  # True == 1 in Python, and in Python only
            return "not-a-choice"
        case int() | Decimal():
            return 1 if value == 1 else 2 if value == 2 else "not-a-choice"
        case str():
            return _WORDS.get(" ".join(value.lower().split()), "not-a-choice")
    return "not-a-choice"


def _choice_or_tie(value: object) -> Choice | Literal["tie", "not-a-choice"]:
    """Return as `_choice`, where 0 was offered for a tie."""
    zero = value == 0 if isinstance(value, int | Decimal) else isinstance(value, str) and value.strip() == "0"
    return "tie" if zero and not isinstance(value, bool) else _choice(value)


def _letter(token: str) -> tuple[Choice | Literal["tie"], str]:
    letter = token.strip().upper()
    return _LETTERS[letter], letter


CHOICES = Form("selected_response", _choice, lambda value: isinstance(value, int), _UNREAD, _TOKEN, _letter)
COUNTING_TIES = replace(CHOICES, value=_choice_or_tie)
