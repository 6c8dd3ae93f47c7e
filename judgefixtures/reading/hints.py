"""Hints: which key of a judge's table would have its answers read, told from one that could not be read.

A hint is for a person, who knows what the judge means. Nothing is read because of one.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias, get_args

from judgefixtures.reading.grades import (
    BRACKETS,
    FAILING_LETTERS,
    FIELDS,
    LINE,
    PASSING_LETTERS,
    GradeFormat,
    folded_grade,
    grade_words,
    label_sides,
    parse_grade,
)
from judgefixtures.reading.scores import Scale, parse_score
from judgefixtures.reading.verdicts import InvalidKind, folded, objects_in, parse_verdict
from judgefixtures.words.passing import FAILING, PASSING

NotationFormat: TypeAlias = Literal["json", "brackets"]

OTHER_FORM: Mapping[NotationFormat, NotationFormat] = {"json": "brackets", "brackets": "json"}
ANY: Scale = (-1_000_000_000, 1_000_000_000)
# What an answer of each kind that is invalid is, for a person.
IN_WORDS: Mapping[InvalidKind, str] = {
    "empty": "no text, or none after the thinking",
    "no-json": "no JSON object that states what is asked for",
    "truncated": "cut off before its end",
    "conflict": "it states two things",
    "not-a-choice": "what it states is none of what was offered",
    "tie": 'a tie, which ties = "half" would count',
    "no-token": "not the mark that is asked for, such as [[A]]",
    "too-long": "longer than anything that is read",
    "refusal": "the judge declined to answer",
    "filtered": "a content filter held it back",
    "too-large": "the prompt is longer than the model takes",
    "no-answer": "no attempt was answered",
}
# A grade of one's own is a word or a few, without marks between them; anything else is prose, or names two at once.
# A name or a number that is longer is in no hint: an answer may have one of any length.
LONGEST_LABEL, MOST_WORDS = 40, 3
# A judge's answer has a few fields; of one with more so many are looked at.
MOST_FIELDS = 50
_PROSE = re.compile(r"[,:;?/|]")
_FIELDS = [folded(name) for name in FIELDS]
# What fields are called in which judges grade, beside those that are read unasked.
_LIKELY = re.compile(
    r"rating|score|choice|decision|outcome|status|judg|class|correct|pass|success|quality|categor|grade"
)
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?", re.ASCII)
_SIDES = "labels = [PASSING, FAILING]"
_IN_WORDS = tuple(tuple(word for word in side if not word.isdigit()) for side in (PASSING, FAILING))


def hint_for(
    text: str,
    format: GradeFormat = "json",  # noqa: A002 (as parse_grade's)
    labels: Sequence[object] | None = None,
    field: str | None = None,
) -> str:
    """Return the key that would have a judge's answer read, as its table takes it; empty where none would.

    The other arguments are those with which `parse_grade` did not read it.

    >>> hint_for('{"rating": "good", "reason": "It is short."}')
    'grade_field = "rating"'
    >>> hint_for("It is right.\\n\\nGRADE: C")
    'verdict = "grade"'
    >>> hint_for('{"verdict": "acceptable"}')
    'labels = [PASSING, FAILING] with "acceptable" on its side'
    >>> hint_for('{"score": 7, "reason": "clear"}')
    'mode = "pointwise" with pass_mark, for a score such as 7'
    """
    told = _Told(text, format, labels, field)
    if parse_grade(text, format, labels, field).passed is not None:
        return ""
    looks = (_another_form, _another_field, _own_labels, _another_form_with_labels)
    return next((hint for look in looks if (hint := look(told))), "")


def hint_for_score(text: str, format: Literal["json", "brackets"] = "json") -> str:  # noqa: A002 (as parse_score's)
    """Return the keys with which an answer that states no score is read as a grade; empty where none would.

    A number is none: it was meant as a score.

    >>> hint_for_score('{"verdict": "pass"}'), hint_for_score("GRADE: C"), hint_for_score('{"score": 0}')
    ('mode = "binary"', 'mode = "binary" and verdict = "grade"', '')
    """
    if all(parse_grade(text, format, labels).passed is not None for labels in (_IN_WORDS, None)):
        return 'mode = "binary"'
    told = _Told(text, format, _IN_WORDS, None)
    hint = _another_form(told) or _letter(told) or _another_field(told)
    return f'mode = "binary" and {hint}' if hint else ""


def hint_for_rating(text: str, format: NotationFormat = "json", scale: Scale = (1, 10)) -> str:  # noqa: A002 (as parse_score's)
    """Return the keys with which an answer that states no score of a scale is read; empty where none would.

    >>> hint_for_rating("It is right. [[7]]"), hint_for_rating('{"verdict": "pass"}'), hint_for_rating("It may.")
    ('verdict = "brackets"', 'mode = "binary"', '')
    """
    other = OTHER_FORM[format]
    if parse_score(text, other, scale).invalid is None:
        return f'verdict = "{other}"'
    return hint_for_score(text, format)


def hint_for_choice(text: str, format: NotationFormat = "json") -> str:  # noqa: A002 (as parse_verdict's)
    """Return the keys with which an answer that states no choice is read; empty where none would.

    >>> hint_for_choice("Both are fine, the second is shorter. [[B]]")
    'verdict = "brackets"'
    >>> hint_for_choice('{"verdict": "pass"}'), hint_for_choice("I give it [[7]]")
    ('mode = "binary"', 'mode = "pointwise" and verdict = "brackets"')
    >>> hint_for_choice('{"winner": "A"}')
    ''
    """
    other = OTHER_FORM[format]
    found = parse_verdict(text, other, ties="half")
    if found.invalid is None:
        return f'verdict = "{other}"' + (' and ties = "half"' if found.tie else "")
    if hint := hint_for_score(text, format):
        return hint
    forms = {format: "", other: f' and verdict = "{other}"'}
    return next(
        (f'mode = "pointwise"{key}' for form, key in forms.items() if parse_score(text, form, ANY).invalid is None), ""
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """An answer, and how it was read in vain."""

    text: str
    format: GradeFormat
    labels: Sequence[object] | None
    field: str | None

    @property
    def entries(self) -> list[tuple[str, Any]]:
        """What the objects of the answer hold, outermost fields alone, under the table's own name or a short one."""
        each = itertools.chain.from_iterable(found.items() for found in objects_in(self.text))
        few, own = itertools.islice(each, MOST_FIELDS), folded(self.field or "")
        return [(name, value) for name, value in few if len(name) <= LONGEST_LABEL or folded(name) == own]

    @property
    def fields(self) -> list[tuple[str, Any]]:
        """The same with each field once, as it stands there last."""
        return list(dict(self.entries).items())


def _another_form(told: _Told) -> str:
    """Return the form in which the answer states its grade, with labels as they are or without."""
    for form in get_args(GradeFormat):
        if form != told.format and parse_grade(told.text, form, told.labels).passed is not None:
            return f'verdict = "{form}"'
    return ""


def _letter(told: _Told) -> str:
    """Return the form in which a letter is a grade."""
    stated = parse_grade(told.text, "grade", (sorted(PASSING_LETTERS), sorted(FAILING_LETTERS)))
    return "" if stated.passed is None else 'verdict = "grade"'


def _another_form_with_labels(told: _Told) -> str:
    """Return the form of a grade that has labels of its own, where it stands in brackets or on a line."""
    for form in ("grade", "brackets"):
        if form != told.format and (hint := _own_labels(replace(told, format=form, field=None))):
            return f'verdict = "{form}" and {hint}'
    return ""


def _another_field(told: _Told) -> str:
    """Return the one field that states a grade which can be read, where it is not looked for."""
    if told.format != "json":
        return ""
    words = grade_words("json", None if told.labels is None else label_sides(told.labels))
    # An answer is parsed anew for each field that is tried, at each replay: none is whose value is not a word.
    stated = {name: value for name, value in told.entries if folded_grade(value) in words}
    found = [
        (name, value)
        for name, value in stated.items()
        if not _is_number(value) or _is_likely(name)
        if parse_grade(told.text, "json", told.labels, name).passed is not None
    ]
    if not found:
        return ""
    name, value = min(found, key=_likeliest_first)
    hint = f"grade_field = {_shown(name)}"
    if isinstance(value, bool) and told.labels is None and folded(name) not in _FIELDS:
        return f"{hint}, and labels = [false, true] if true is what fails"
    return hint


def _likeliest_first(field: tuple[str, Any]) -> tuple[bool, int, bool]:
    """Return a key by which the usual fields come first in their order, then those that sound like a grade."""
    name = folded(field[0])
    return name not in _FIELDS, _FIELDS.index(name) if name in _FIELDS else 0, not _is_likely(name)


def _is_likely(name: str) -> bool:
    return folded(name) in _FIELDS or bool(_LIKELY.search(name.lower()))


def _own_labels(told: _Told) -> str:
    """Return what to do with a value that stands where a grade may be meant, and is none."""
    field, value = next(_values(told), ("", None))
    if value is None:
        return ""
    usual = not field or folded(field) in (_FIELDS if told.field is None else [folded(told.field)])
    if _is_number(value):
        named = "" if usual and folded(field) in ("", "score") else f', and "score" instead of {_shown(field)}'
        return f'mode = "pointwise" with pass_mark, for a score such as {str(value).strip()}{named}'
    named = "" if usual else f"grade_field = {_shown(field)} and "
    if told.labels is None:
        return f"{named}{_SIDES} with {_shown(value)} on its side"
    return f"{named}labels with {_shown(value)}, too: it is none of them"


def _values(told: _Told) -> Iterator[tuple[str, Any]]:
    """Yield what may be a grade that is spelled otherwise, with the name of its field, or an empty one."""
    invalid = parse_grade(told.text, told.format, told.labels, told.field).invalid
    if told.format == "json":
        own = folded(told.field or "")
        likely = [each for each in told.fields if _is_likely(each[0]) or folded(each[0]) == own]
        found = sorted(likely, key=lambda each: (folded(each[0]) != own, *_likeliest_first(each)))
        found = found if invalid in ("no-json", "not-a-choice") else []
    elif invalid == "not-a-choice":
        answer = told.text.rpartition("</think>")[2]
        pattern = {"brackets": BRACKETS, "grade": LINE}.get(told.format)
        stated = [answer.strip()] if pattern is None else [each["stated"] for each in pattern.finditer(answer)]
        found = [("", stated[-1])]
    else:
        found = []
    yield from (each for each in found if _is_number(each[1]) or _is_label(each[1]))


def _is_number(value: object) -> bool:
    """Tell whether a value is a number, or spelled as one, and no longer than a hint may be."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and len(str(value)) <= LONGEST_LABEL


def _is_label(value: object) -> bool:
    """Tell whether a value may be a label: a few words without marks between them, or true or false."""
    if isinstance(value, str):
        fits = len(value) <= LONGEST_LABEL and 0 < len(value.split()) <= MOST_WORDS
        return fits and bool(folded_grade(value)) and not _PROSE.search(value)
    return isinstance(value, bool)


def _shown(value: object) -> str:
    """Return a label as a configuration has it."""
    shown = value.strip(" *`'\".") or value if isinstance(value, str) else value
    return json.dumps(shown, ensure_ascii=False)
