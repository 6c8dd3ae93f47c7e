"""Parser of grades: repairs syntax and never guesses meaning."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from judgefixtures.models.grade_words import FAILING, PASSING
from judgefixtures.models.verdicts import Grade, InvalidKind
from judgefixtures.util.texts import word_set

from .verdicts import BRACKETS, MARKS, AnswerFormat, read_answer

__all__ = ["FIELDS", "REASONS", "Grade", "GradeFormat", "Labels", "label_sides", "parse_grade"]

GradeFormat: TypeAlias = Literal["json", "brackets", "grade", "word"]

# By which words a response passes, and by which it fails; true and false are JSON's.
Labels: TypeAlias = tuple[tuple[str | bool, ...], tuple[str | bool, ...]]

# Where JSON states a grade, the likeliest first: of several fields the first counts whose value can be read.
FIELDS = ("verdict", "passed", "pass", "is_correct", "correct", "grade", "label", "result", "score", "answer")
# Where it gives a reason: ours first, then what the frameworks ask their judges for.
REASONS = ("reason", "reasoning", "explanation", "rationale", "justification", "feedback", "critique", "comment")

# Only after "GRADE:" is a letter a usual word, so that no other C or I is.
PASSING_LETTERS, FAILING_LETTERS = word_set("c"), word_set("i")

PASSES, FAILS = True, False


def parse_grade(
    text: str,
    format: GradeFormat = "json",  # noqa: A002 (public)
    labels: Sequence[object] | None = None,
    field: str | None = None,
) -> Grade:
    r"""Return the grade that a judge's text states, or an invalid one with its kind.

    `text` is the whole answer, thinking included. In `json` it states its grade in objects, looked for where
    `parse_verdict` looks, of which several must agree: the first of `FIELDS`, or `field` alone, whose value can be
    read; of an object's fields only those that can be read may disagree. In `brackets` the last `[[PASS]]` counts, in
    `grade` the last line that ends with `GRADE: C`, in `word` the text is the word and nothing else.
    Without `labels` the usual words are read, JSON's booleans and 1 and 0 among them. With labels, the passing ones
    first, only those count. Case, quotes, emphasis and punctuation around a word do not matter; any other value
    (`partial`, 0.5, null) is "not-a-choice". No text raises; an unknown `format` and labels that are no two sides raise
    ValueError. Time is linear in the length of the text.

    >>> parse_grade('{"verdict": "PASS", "reason": "It is correct."}')
    NamedOutcome(value=True, reason='It is correct.', invalid=None, repaired=(), reasoning='', tie=False)
    >>> parse_grade('{"reasoning": "Too short.", "score": false}').passed
    False
    >>> parse_grade("It names no date.\n\n**GRADE: I**", "grade")
    NamedOutcome(value=False, reason='It names no date.', invalid=None, repaired=(), reasoning='', tie=False)
    >>> parse_grade('{"is_toxic": false}', labels=[False, True], field="is_toxic").passed
    True
    >>> parse_grade("Partial.", "word").invalid
    'not-a-choice'
    """
    if format not in get_args(GradeFormat):
        raise ValueError(f'unknown verdict format {format!r}: use "json", "brackets", "grade" or "word"')
    sides = None if labels is None else label_sides(labels)
    form = _form(format, None if sides is None else _words_of(sides), field)
    return read_answer(text, "json" if format == "json" else "brackets", form)


def label_sides(labels: object) -> Labels:
    """Return the labels of pass and fail as two tuples.

    Raises:
        ValueError: There are not two sides, or they share a word.

    >>> label_sides(["correct", ["partial", "incorrect"]])
    (('correct',), ('partial', 'incorrect'))
    """
    if not isinstance(labels, list | tuple) or len(labels) != 2:
        raise ValueError('it must be two labels, positive first: ["pass", "fail"]; each can be a list')
    passing, failing = (tuple(side) if isinstance(side, list | tuple) else (side,) for side in labels)
    for side in (passing, failing):
        if not side or not all(isinstance(word, bool) or (isinstance(word, str) and word.strip()) for word in side):
            raise ValueError("a label must be a nonempty text, or true or false")
    sides = [{normalize_grade(word) for word in side} for side in (passing, failing)]
    if both := sorted(word for word in sides[0] & sides[1] if word is not None):
        raise ValueError(f"{both[0]!r} means both pass and fail: remove one")
    return passing, failing


def grade_words(format: GradeFormat, labels: Labels | None = None) -> Mapping[str, int]:  # noqa: A002 (as above)
    """Return the folded grade words as `PASSES` or `FAILS`."""
    return _words(format, None if labels is None else _words_of(labels))


# --- words ------------------------------------------------------------------------------------------------

# Marks that models put around a word. Not among them: what changes it ("not", a question mark, the < of <1, a minus).
ENDING = MARKS + ".,;:!。、…"
# A word is short; a longer text is none, and is not folded.
LONGEST_WORD = 200
_MARKS, _ENDING = MARKS + "\r\n", ENDING + "\r\n"
_NUMBER = re.compile(r"([+-]?)0*(\d+?)(?:\.(\d*?)0*)?", re.ASCII)


def normalize_grade(value: object) -> str | None:
    """Return a value as a folded word, or None.

    Numbers become text: 1.0, "1" and 1 are equal.

    >>> [normalize_grade(value) for value in (' **"Not_Correct"**.', True, Decimal("1.00"), "-1.50", None, "✓")]
    ['not correct', 'true', '1', '-1.5', None, '✓']
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            return normalize_number(f"{value:f}") if _is_short(value) else None
        case str() if len(value) <= LONGEST_WORD:
            return _folded_text(value)
    return None


def _is_short(number: Decimal) -> bool:
    return number.is_finite() and -30 < number.adjusted() < 30 and len(number.as_tuple().digits) <= LONGEST_WORD


@lru_cache(maxsize=1024)  # a judge says two words, over and over
def _folded_text(text: str) -> str:
    whole = unicodedata.normalize("NFKC", text).casefold().strip()
    bare = whole.lstrip(_MARKS).rstrip(_ENDING)
    return normalize_number(" ".join((bare or whole).replace("_", " ").split()))


def normalize_number(text: str) -> str:
    """Return a number without redundant zeros, other text unchanged."""
    if not (match := _NUMBER.fullmatch(text)):
        return text
    whole = match[2] + (f".{match[3]}" if match[3] else "")
    return whole if match[1] != "-" or whole == "0" else f"-{whole}"


_Words: TypeAlias = tuple[frozenset[str], frozenset[str]]


def _words_of(labels: Labels) -> _Words:
    passing, failing = ({normalize_grade(word) for word in side} for side in labels)
    return frozenset(word for word in passing if word), frozenset(word for word in failing if word)


@lru_cache(maxsize=64)
def _words(format: GradeFormat, own: _Words | None) -> Mapping[str, int]:  # noqa: A002 (as above)
    passing, failing = own or (frozenset(PASSING), frozenset(FAILING))
    if own is None and format == "grade":
        passing, failing = passing | PASSING_LETTERS, failing | FAILING_LETTERS
    return dict.fromkeys(passing, PASSES) | dict.fromkeys(failing, FAILS)


# --- forms ------------------------------------------------------------------------------------------------

_SET = re.escape(MARKS + "#>")  # a heading or a quote begins with these
# The marks before the name are taken with it, from the first of them on, so that none is tried twice.
LINE = re.compile(
    rf"(?<![{_SET}])[{_SET}]*+(?<![^\W_])GRADE[{_SET}]*+[:\uff1a][{_SET}\r\n]*+(?P<stated>[^\n]*+)", re.IGNORECASE
)
# A word is a few words at most; anything longer is prose. The fewest that are let pass count a fence around it, too.
_LEAST_WORDS = 3


@lru_cache(maxsize=64)
def _form(format: GradeFormat, own: _Words | None, field: str | None) -> AnswerFormat:  # noqa: A002 (as above)
    words = _words(format, own)

    def value(written: object) -> int | Decimal | InvalidKind:
        word = normalize_grade(written)
        return "not-a-choice" if word is None else words.get(word, "not-a-choice")

    def is_plain(written: object) -> bool:
        return not isinstance(written, str) or written.casefold().replace("_", " ") in words

    def in_brackets(token: str) -> tuple[int | Decimal | InvalidKind, str]:
        bare = token.lstrip(_MARKS).rstrip(_ENDING) if format == "brackets" else token
        return value(token), bare

    longest = max(len(word.split()) for word in words)
    tokens = {"json": BRACKETS, "brackets": BRACKETS, "grade": LINE, "word": _alone(longest)}
    keys = FIELDS if field is None else (field,)
    return AnswerFormat(
        keys[0], value, is_plain, _unread(keys), tokens[format], in_brackets, keys[1:], True, REASONS, "passed"
    )


def keys_pattern(names: Sequence[str]) -> str:
    """Return a pattern of fields in all accepted spellings."""
    return "|".join(r"[\s_]*+".join(map(re.escape, re.split(r"[\s_]+", name.strip(" _")))) for name in names)


def _alone(longest: int) -> re.Pattern[str]:
    return re.compile(rf"\A((?:\S++\s*+){{1,{max(_LEAST_WORDS, longest + 2)}}}+)\Z")


def _unread(names: Sequence[str]) -> re.Pattern[str]:
    value = rf"[\"'“]?+([^\"'“”\n,{{}}]{{1,{LONGEST_WORD}}}+)[\"'”]?+[ \t]*+(?=[,}}\n]|\Z)"
    return re.compile(rf"[\"'“](?:{keys_pattern(names)})[\"'”]\s*+:\s*+{value}", re.IGNORECASE)
