"""Parser of verdicts: repairs syntax and never guesses a choice.

No character belongs to two objects: parsing takes linear time, and objects inside strings do not count.
"""

import itertools
import json
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from judgefixtures.models.verdicts import Choice, InvalidKind, NamedOutcome, Verdict
from judgefixtures.util.texts import make_encodable
from judgefixtures.util.thoughts import split_thoughts, stated_reason

__all__ = [
    "MAX_CHARACTERS",
    "MAX_OBJECTS",
    "AnswerFormat",
    "InvalidKind",
    "Verdict",
    "json_objects_in",
    "parse_verdict",
    "read_answer",
]


# A verdict is a few hundred characters. What is longer than this is a loop, and is not read.
MAX_CHARACTERS = 2_000_000

# Characters are parsed at most once, but each object has a cost of its own, repairs above all.
MAX_OBJECTS = 10_000


def parse_verdict(
    text: str,
    format: Literal["json", "brackets"] = "json",  # noqa: A002 (public)
    *,
    ties: Literal["half", "invalid"] = "invalid",
) -> Verdict:
    """Return the verdict that a judge's text states, or an invalid one with its kind.

    `text` is the whole answer, thinking included. In `json` it states its verdict in objects
    `{"selected_response": 1 | 2, "reason": str}`: the whole text is read first, then what stands outside of
    thinking blocks, then a code fence, then all objects in the text, which must agree, and of which the last must be
    readable. In `brackets` the last of `[[A]]` (1), `[[B]]` (2) and `[[C]]` (a tie) counts.
    With `ties` "half" a tie, which 0 states as well, is one
    that counts; else it is invalid.
    No text raises; an unknown `format` raises ValueError. Time is linear in the length of the text.
    Source: the answers asked for in arXiv 2509.26072, Appendix A, and in MT-Bench (arXiv 2306.05685).

    >>> parse_verdict('{"selected_response": 2, "reason": "It is correct."}')
    NamedOutcome(value=2, reason='It is correct.', invalid=None, repaired=(), reasoning='', tie=False)
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
        return replace(stated, invalid=None, tie=True)
    return stated


# --- what verdicts, scores and grades have in common ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """How an outcome is stated: under a key of an object, or in brackets.

    Attributes:
        value: Makes a value, or a kind of failure, of what stands under the key.
        is_plain: Tells whether the value is as it was asked for.
        unread: Finds values in unreadable text.
        token: Finds values in brackets, in its first group.
        in_brackets: Does for these what `value` does for a key.
        more_keys: Further keys that may hold the value.
        first_readable: Whether the first readable key counts; unreadable ones then do not disagree.
        reasons: Fields of the reason; the first with words counts.
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
    name: str = "winner"


def read_answer(text: str, format: Literal["json", "brackets"], form: AnswerFormat) -> NamedOutcome:  # noqa: A002 (as parse_verdict's)
    """Return the value that an answer states, or an invalid one."""
    if format not in ("json", "brackets"):
        raise ValueError(f'unknown verdict format {format!r}: use "json" or "brackets"')
    return replace(_read_whole(text, format, form), name=form.name)


def _read_whole(text: str, format: Literal["json", "brackets"], form: AnswerFormat) -> NamedOutcome:  # noqa: A002
    if len(text) > MAX_CHARACTERS:
        return _invalid("too-long")
    text = make_encodable(text).strip()
    bare = text.strip("\ufeff").strip()
    if not bare:
        return _invalid("empty")
    if format == "brackets":
        return _read_brackets(bare, form)
    stated = _read_json(bare, form)
    stated = replace(stated, reason=make_encodable(stated.reason))  # an escape may hold half of a surrogate pair
    return stated if bare == text else _mended(stated, "syntax")


def _invalid(kind: InvalidKind, reason: str = "") -> NamedOutcome:
    return NamedOutcome(None, reason, kind)


def _mended(stated: NamedOutcome, *repairs: str) -> NamedOutcome:
    if stated.invalid:
        return stated
    return replace(stated, repaired=tuple(dict.fromkeys((*repairs, *stated.repaired))))


# --- brackets ---------------------------------------------------------------------------------------------


# What stands in double brackets counts, readable or not. Models escape brackets, and write them in full width.
_GAP = "[\u200b-\u200d\u2060\ufeff]?+"
BRACKETS = re.compile(rf"(?:\\?[\[［]{_GAP}){{2,}}+(?P<stated>[^\[\]［］\\]*+)(?P<closed>(?:\\?[\]］]{_GAP}){{2,}}+)?")
MARKS = " \t_*`\"'“”‘’„«»()[]{}\u200b\u200c\u200d\u2060\ufeff"  # that models put around a word


def last_token(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last token in a text, or None."""
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def bare_token(token: str) -> str:
    """Return a token without its marks, full-width characters folded.

    >>> bare_token("**​Ｂ** ")
    'B'
    """
    return unicodedata.normalize("NFKC", token).strip(MARKS + "\r\n")


def _read_brackets(text: str, form: AnswerFormat) -> NamedOutcome:
    reasoning, answer = split_thoughts(text)
    if not answer:
        return replace(_invalid("empty"), reasoning=reasoning)
    token = last_token(form.token, answer)
    if token is None:
        return replace(_invalid("no-token"), reasoning=reasoning)
    reason = answer[: token.start()].strip() or answer[token.end() :].strip()
    value, plain = form.in_brackets(token[1])
    if token.groupdict().get("closed", "]]") is None:
        value = "no-token" if answer[token.end() :].strip() else "truncated"
    reason = "" if value == "no-token" else reason
    stated = _invalid(value, reason) if isinstance(value, str) else NamedOutcome(value, reason)  # type: ignore[arg-type]
    as_asked = token[1] == plain and (form.token is not BRACKETS or token[0].rstrip() == f"[[{plain}]]")
    return replace(stated if as_asked else _mended(stated, "syntax"), reasoning=reasoning)


# --- json: from the text to its objects -------------------------------------------------------------------


def _read_json(text: str, form: AnswerFormat) -> NamedOutcome:
    if whole := _read_value(text, form):
        return whole
    reasoning, answer = split_thoughts(text)
    stated = _read_answer(answer, form) if answer else _invalid("empty")
    return replace(stated, reasoning=reasoning)


def _read_answer(answer: str, form: AnswerFormat) -> NamedOutcome:
    if whole := _read_value(answer, form):
        return whole
    if fenced := _unfenced(answer):
        return _mended(_read_value(fenced, form) or _scan(fenced, form), "fence")
    return _scan(answer, form)


def _unfenced(text: str) -> str | None:
    """Return the content of the outermost code fence: a reason may quote inner fences."""
    before, _, rest = text.partition("```")
    inside, closing, after = rest.rpartition("```")
    if not closing or "{" in before or "{" in after:
        return None
    return re.sub(r"\A[\w+-]*+\s*+", "", inside).strip()


# Only a double quote opens a string wherever it stands; the others are apostrophes unless they begin a
# word. Every repetition is possessive, so that no character is tried twice.
_BEGINS_WORD = r"(?<=[\s{\[,:])"
_QUOTES = (("", '"', '"'), (_BEGINS_WORD, "'", "'"), (_BEGINS_WORD, "“", "”"), (_BEGINS_WORD, "‘", "’"))
_STRING = "|".join(
    rf"{before}{opening}[^{closing}\\]*+(?:\\.[^{closing}\\]*+)*+{closing}" for before, opening, closing in _QUOTES
)
_OPENING = re.compile(r"\{\s*+(?=[\"'“‘]|\Z)")  # a brace that JSON, not prose or LaTeX, could have written
_BARE_KEY = re.compile(r"\{\s*+([A-Za-z][\w ]{0,60}+):")
_STRUCTURE = re.compile(rf"{_STRING}|[{{}}\"]|{_BEGINS_WORD}['“‘]", re.DOTALL)


def _scan(text: str, form: AnswerFormat) -> NamedOutcome:
    values: list[NamedOutcome | None] = []
    unread: list[str] = []
    position = 0
    for start, end in _spans(text):
        if end is None:
            return _invalid("truncated")
        if len(unread) == MAX_OBJECTS:
            return _invalid("too-long")
        stated = _read_object(text[start:end], form)
        values.append(stated)
        unread.append(text[position : start if stated else end])
        position = end
    unread.append(text[position:])
    agreed = _agreed([each for each in values if each])
    others = (form.value(other) for other in form.unread.findall(" ".join(unread)))
    is_statement = agreed.value is not None or agreed.invalid == "tie"
    if is_statement and any(not isinstance(other, str) and other != agreed.value for other in others):
        return _invalid("conflict")
    if (values and values[-1] is None) or _begins_object(text[position:], form):
        return _invalid("no-json")
    return _mended(agreed, "prose") if any(unread) else agreed


def _begins_object(text: str, form: AnswerFormat) -> bool:
    keys = {normalize_key(key) for key in (form.key, *form.more_keys)}
    return any(normalize_key(key[1]) in keys for key in _BARE_KEY.finditer(text))


def _spans(text: str) -> Iterator[tuple[int, int | None]]:
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


def _agreed(values: Iterable[NamedOutcome]) -> NamedOutcome:
    """Return the last object's value if others agree: echoed formats are no choice."""
    stated = list(values)
    last = stated[-1] if stated else None
    if last is None or last.invalid in ("no-json", "not-a-choice"):
        return last or _invalid("no-json")
    said = {(each.value, each.invalid) for each in stated if each.invalid not in ("no-json", "not-a-choice")}
    return _invalid("conflict") if len(said) > 1 else last


# --- json: from one value to what it states ---------------------------------------------------------------


class _Object(dict[str, Any]):
    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    @cached_property
    def by_name(self) -> dict[str, list[tuple[str, Any]]]:
        items_by_name: dict[str, list[tuple[str, Any]]] = {}
        for key, item in self.pairs:
            items_by_name.setdefault(normalize_key(key), []).append((key, item))
        return items_by_name


# A float would round 1.00000000000000001 to a choice; a Decimal does not.
_STRICT = json.JSONDecoder(object_pairs_hook=_Object, parse_float=Decimal)
_LENIENT = json.JSONDecoder(object_pairs_hook=_Object, parse_float=Decimal, strict=False)  # raw newlines

# Not JSON, a number with too many digits, an exponent beyond Decimal's, nesting too deep.
_UNREADABLE = (ValueError, ArithmeticError, RecursionError)


def _read_value(text: str, form: AnswerFormat) -> NamedOutcome | None:
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


def _read_object(text: str, form: AnswerFormat) -> NamedOutcome | None:
    if stated := _read_value(text, form):
        return stated
    value = _decoded_leniently(text)
    return None if value is None else _mended(_stated(value, form), "syntax")


def _decoded_leniently(text: str) -> _Object | None:
    try:
        value: _Object = _LENIENT.decode(_repaired(text))
    except _UNREADABLE:
        return None
    return value


def json_objects_in(text: str) -> list[dict[str, Any]]:
    """Return the outermost JSON objects of an answer.

    >>> json_objects_in("<think>{}</think>Sure: {'rating': 'good'}")
    [{'rating': 'good'}]
    """
    answer = split_thoughts(make_encodable(text[:MAX_CHARACTERS]))[1]
    objects: list[dict[str, Any]] = []
    for start, end in itertools.islice(_spans(answer), MAX_OBJECTS):
        value = None if end is None else _decoded_leniently(answer[start:end])
        objects += [] if value is None else [value]
    return objects


def _stated(value: _Object, form: AnswerFormat) -> NamedOutcome:
    entry = _entry(value, form)
    reason_entry = _reason_entry(value, form, entry)
    if isinstance(entry, str) or isinstance(reason_entry, str):
        return _invalid(entry if isinstance(entry, str) else "conflict")
    key, written = entry
    reason_key, reason = reason_entry
    read = form.value(written)
    words = stated_reason(reason if isinstance(reason, str) else "" if reason is None else _compact(reason))
    if isinstance(read, str):
        return _invalid(read, words)
    repairs = {
        "key": key not in (form.key, *form.more_keys) or reason_key not in form.reasons,
        "value": not form.is_plain(written),
        "reason": not isinstance(reason, str),
    }
    repaired = tuple(name for name, needed in repairs.items() if needed)
    return NamedOutcome(read, words, repaired=repaired)  # type: ignore[arg-type]  # its parser makes it a float


def _entry(value: _Object, form: AnswerFormat) -> tuple[str, Any] | Literal["no-json", "conflict"]:
    fields = [_entries(value, name) for name in (form.key, *form.more_keys)]
    if any(len({form.value(item) for _, item in field}) > 1 for field in fields):
        return "conflict"
    entries = [entry for field in fields for entry in field]
    if not entries:
        return "no-json"
    if not form.first_readable:
        return entries[0] if len(entries) == 1 else "conflict"
    read = {at: parsed for at, (_, item) in enumerate(entries) if not isinstance(parsed := form.value(item), str)}
    return "conflict" if len({*read.values()}) > 1 else entries[min(read, default=0)]


def _reason_entry(value: _Object, form: AnswerFormat, entry: object) -> tuple[str, Any] | Literal["conflict"]:
    given = [_entries(value, name) for name in form.reasons]
    given = [entries for entries in given if entries and entries != [entry]]
    with_words = [entries for entries in given if any(isinstance(item, str) and item.strip() for _, item in entries)]
    entries = next(iter(with_words or given), [(form.reasons[0], None)])
    return entries[0] if len(entries) == 1 else "conflict"


def _entries(value: _Object, name: str) -> list[tuple[str, Any]]:
    pairs = value.by_name.get(normalize_key(name), [])
    if len(pairs) < 2:
        return pairs
    return list({(key, _compact(item)): (key, item) for key, item in pairs}.values())


def normalize_key(key: str) -> str:
    """Return a key without case, underscores and spaces."""
    return "".join(key.lower().replace("_", " ").split())


def _compact(value: object) -> str:
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
    zero = value == 0 if isinstance(value, int | Decimal) else isinstance(value, str) and value.strip() == "0"
    return "tie" if zero and not isinstance(value, bool) else _choice(value)


def _letter(token: str) -> tuple[Choice | InvalidKind, str]:
    letter = bare_token(token).upper()
    return _LETTERS.get(letter, "tie" if _WORDS.get(letter.lower()) == "tie" else "no-token"), letter


CHOICES = AnswerFormat("selected_response", _choice, lambda value: isinstance(value, int), _UNREAD, BRACKETS, _letter)
COUNTING_TIES = replace(CHOICES, value=_choice_or_tie)
