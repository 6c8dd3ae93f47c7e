"""Hints about the configuration key that would make an unreadable answer readable."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias, get_args

from judgefixtures.models.grade_words import FAILING, PASSING
from judgefixtures.models.verdicts import InvalidKind, Scale
from judgefixtures.util.patterns import load_table
from judgefixtures.util.thoughts import split_thoughts

from . import grades
from .grades import GradeFormat, normalize_grade, parse_grade
from .scores import parse_score
from .verdicts import BRACKETS, json_objects_in, normalize_key, parse_verdict

NotationFormat: TypeAlias = Literal["json", "brackets"]

OTHER_FORM: Mapping[NotationFormat, NotationFormat] = {"json": "brackets", "brackets": "json"}
ANY: Scale = (-1_000_000_000, 1_000_000_000)
# What an answer of each kind that is invalid is, for a person.
IN_WORDS: Mapping[InvalidKind, str] = load_table("invalid")  # type: ignore[assignment]
# A grade of one's own is a word or a few, without marks between them; anything else is prose, or names two at once.
# A name or a number that is longer is in no hint: an answer may have one of any length.
LONGEST_LABEL, MOST_WORDS = 40, 3
# A judge's answer has a few fields; of one with more so many are looked at.
MOST_FIELDS = 50
_PROSE = re.compile(r"[,:;?/|]")
_FIELDS = [normalize_key(name) for name in grades.FIELDS]
# What fields are called in which judges grade, beside those that are read unasked.
_LIKELY = re.compile(
    r"rating|score|choice|decision|outcome|status|judg|class|correct|pass|success|quality|categor|grade"
)
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?", re.ASCII)
_SIDES = "labels = [PASSING, FAILING]"
_IN_WORDS = tuple(tuple(word for word in side if not word.isdigit()) for side in (PASSING, FAILING))


def hint_for_answer(
    text: str,
    format: GradeFormat = "json",  # noqa: A002 (as parse_grade's)
    labels: Sequence[object] | None = None,
    field: str | None = None,
) -> str:
    r"""Return the key that would make an answer a grade, or "".

    >>> hint_for_answer('{"rating": "good", "reason": "It is short."}')
    'grade_field = "rating"'
    >>> hint_for_answer("It is right.\n\nGRADE: C")
    'verdict = "grade"'
    >>> hint_for_answer('{"verdict": "acceptable"}')
    'labels = [PASSING, FAILING] with "acceptable" on one side'
    >>> hint_for_answer('{"score": 7, "reason": "clear"}')
    'mode = "pointwise" with pass_mark, for a score such as 7'
    """
    unread = _UnreadAnswer(text, format, labels, field)
    if parse_grade(text, format, labels, field).passed is not None:
        return ""
    looks = (_another_form, _another_field, _own_labels, _another_form_with_labels)
    return next((hint for look in looks if (hint := look(unread))), "")


def hint_for_score(text: str, format: Literal["json", "brackets"] = "json") -> str:  # noqa: A002 (as parse_score's)
    """Return the keys that would make an answer a grade, not a score, or "".

    >>> hint_for_score('{"verdict": "pass"}'), hint_for_score("GRADE: C"), hint_for_score('{"score": 0}')
    ('mode = "binary"', 'mode = "binary" and verdict = "grade"', '')
    """
    if all(parse_grade(text, format, labels).passed is not None for labels in (_IN_WORDS, None)):
        return 'mode = "binary"'
    unread = _UnreadAnswer(text, format, _IN_WORDS, None)
    hint = _another_form(unread) or _letter(unread) or _another_field(unread)
    return f'mode = "binary" and {hint}' if hint else ""


def hint_for_rating(text: str, format: NotationFormat = "json", scale: Scale = (1, 10)) -> str:  # noqa: A002 (as parse_score's)
    """Return the keys that would make an answer a score, or "".

    >>> hint_for_rating("It is right. [[7]]"), hint_for_rating('{"verdict": "pass"}'), hint_for_rating("It may.")
    ('verdict = "brackets"', 'mode = "binary"', '')
    """
    other = OTHER_FORM[format]
    if parse_score(text, other, scale).invalid is None:
        return f'verdict = "{other}"'
    return hint_for_score(text, format)


def hint_for_choice(text: str, format: NotationFormat = "json") -> str:  # noqa: A002 (as parse_verdict's)
    """Return the keys that would make an answer a choice, or "".

    >>> hint_for_choice("Both are fine, the second is shorter. [[B]]")
    'verdict = "brackets"'
    >>> hint_for_choice('{"verdict": "pass"}'), hint_for_choice("I give it [[7]]")
    ('mode = "binary"', 'mode = "pointwise" and verdict = "brackets"')
    >>> hint_for_choice('{"winner": "A"}')
    ''
    """
    other = OTHER_FORM[format]
    verdict = parse_verdict(text, other, ties="half")
    if verdict.invalid is None:
        return f'verdict = "{other}"' + (' and ties = "half"' if verdict.tie else "")
    if hint := hint_for_score(text, format):
        return hint
    forms = {format: "", other: f' and verdict = "{other}"'}
    read = (key for form, key in forms.items() if parse_score(text, form, ANY).invalid is None)
    return next((f'mode = "pointwise"{key}' for key in read), "")


@dataclass(frozen=True, slots=True)
class _UnreadAnswer:
    text: str
    format: GradeFormat
    labels: Sequence[object] | None
    field: str | None

    @property
    def entries(self) -> list[tuple[str, Any]]:
        each = itertools.chain.from_iterable(fields.items() for fields in json_objects_in(self.text))
        few, own = itertools.islice(each, MOST_FIELDS), normalize_key(self.field or "")
        return [(name, value) for name, value in few if len(name) <= LONGEST_LABEL or normalize_key(name) == own]

    @property
    def fields(self) -> list[tuple[str, Any]]:
        return list(dict(self.entries).items())


def _another_form(unread: _UnreadAnswer) -> str:
    for form in get_args(GradeFormat):
        if form != unread.format and parse_grade(unread.text, form, unread.labels).passed is not None:
            return f'verdict = "{form}"'
    return ""


def _letter(unread: _UnreadAnswer) -> str:
    stated = parse_grade(unread.text, "grade", (sorted(grades.PASSING_LETTERS), sorted(grades.FAILING_LETTERS)))
    return "" if stated.passed is None else 'verdict = "grade"'


def _another_form_with_labels(unread: _UnreadAnswer) -> str:
    for form in ("grade", "brackets"):
        if form != unread.format and (hint := _own_labels(replace(unread, format=form, field=None))):
            return f'verdict = "{form}" and {hint}'
    return ""


def _another_field(unread: _UnreadAnswer) -> str:
    if unread.format != "json":
        return ""
    words = grades.grade_words("json", None if unread.labels is None else grades.label_sides(unread.labels))
    # An answer is parsed anew for each field that is tried, at each replay: none is whose value is not a word.
    stated = {name: value for name, value in unread.entries if normalize_grade(value) in words}
    candidates = [
        (name, value)
        for name, value in stated.items()
        if not _is_number(value) or _is_likely(name)
        if parse_grade(unread.text, "json", unread.labels, name).passed is not None
    ]
    if not candidates:
        return ""
    name, value = min(candidates, key=_likeliest_first)
    hint = f"grade_field = {_quoted(name)}"
    if isinstance(value, bool) and unread.labels is None and normalize_key(name) not in _FIELDS:
        return f"{hint}, and labels = [false, true] if true means fail"
    return hint


def _likeliest_first(field: tuple[str, Any]) -> tuple[bool, int, bool]:
    name = normalize_key(field[0])
    return name not in _FIELDS, _FIELDS.index(name) if name in _FIELDS else 0, not _is_likely(name)


def _is_likely(name: str) -> bool:
    return normalize_key(name) in _FIELDS or bool(_LIKELY.search(name.lower()))


def _own_labels(unread: _UnreadAnswer) -> str:
    field, value = next(_values(unread), ("", None))
    if value is None:
        return ""
    usual = not field or normalize_key(field) in (_FIELDS if unread.field is None else [normalize_key(unread.field)])
    if _is_number(value):
        named = "" if usual and normalize_key(field) in ("", "score") else f', and "score" instead of {_quoted(field)}'
        return f'mode = "pointwise" with pass_mark, for a score such as {str(value).strip()}{named}'
    named = "" if usual else f"grade_field = {_quoted(field)} and "
    if unread.labels is None:
        return f"{named}{_SIDES} with {_quoted(value)} on one side"
    return f"{named}labels that include {_quoted(value)}"


def _values(unread: _UnreadAnswer) -> Iterator[tuple[str, Any]]:
    invalid = parse_grade(unread.text, unread.format, unread.labels, unread.field).invalid
    if unread.format == "json":
        own = normalize_key(unread.field or "")
        likely = [each for each in unread.fields if _is_likely(each[0]) or normalize_key(each[0]) == own]
        candidates = sorted(likely, key=lambda each: (normalize_key(each[0]) != own, *_likeliest_first(each)))
        candidates = candidates if invalid in ("no-json", "not-a-choice") else []
    elif invalid == "not-a-choice":
        answer = split_thoughts(unread.text)[1]
        pattern = {"brackets": BRACKETS, "grade": grades.LINE}.get(unread.format)
        stated = [answer.strip()] if pattern is None else [each["stated"] for each in pattern.finditer(answer)]
        candidates = [("", stated[-1])]
    else:
        candidates = []
    yield from (each for each in candidates if _is_number(each[1]) or _is_label(each[1]))


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and len(str(value)) <= LONGEST_LABEL


def _is_label(value: object) -> bool:
    if isinstance(value, str):
        fits = len(value) <= LONGEST_LABEL and 0 < len(value.split()) <= MOST_WORDS
        return fits and bool(normalize_grade(value)) and not _PROSE.search(value)
    return isinstance(value, bool)


def _quoted(value: object) -> str:
    text = value.strip(" *`'\".") or value if isinstance(value, str) else value
    return json.dumps(text, ensure_ascii=False)
