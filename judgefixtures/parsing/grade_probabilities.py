"""Probability of a grade: how likely a pass is among the grade words."""

import codecs
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from judgefixtures.models.probabilities import Probability, Token
from judgefixtures.models.verdicts import NamedOutcome
from judgefixtures.util.thoughts import blank_thoughts

from . import grades
from .grades import GradeFormat, Labels, grade_words, parse_grade
from .verdict_probabilities import (
    MOST_PLACES,
    NAMES,
    WORD,
    VerdictPosition,
    largest_unlisted_logprob,
    log_sum,
    verdict_log_probabilities,
    verdict_offset,
)
from .verdicts import BRACKETS, MARKS, last_token

UNDECIDED = -1  # a beginning of words of both sides


def grade_probability(
    tokens: Sequence[Token],
    text: str,
    grade: NamedOutcome,
    format: GradeFormat = "json",  # noqa: A002 (as parse_grade's)
    labels: Sequence[object] | None = None,
    field: str | None = None,
) -> Probability | None:
    """Return the probability of a pass in an answer, or None.

    Unlisted words and shared beginnings give bounds; other words are elsewhere. The first of repeated grades counts.

    >>> tokens = [Token(b'{"verdict": "', 0.0, {}), Token(b"pass", -0.2, {b"fail": -1.7}), Token(b'"}', 0.0, {})]
    >>> text = '{"verdict": "pass"}'
    >>> round(grade_probability(tokens, text, parse_grade(text)).log_odds, 9)
    1.5
    """
    sides = None if labels is None else grades.label_sides(labels)
    place = _place(text, grade, format, sides, field)
    offset = None if place is None else verdict_offset(b"".join(token.text for token in tokens), text, place)
    if place is None or offset is None:
        return None
    return _followed(tokens, offset, grade_words(format, sides))


def grade_reasons_first(
    text: str,
    grade: NamedOutcome,
    format: GradeFormat = "json",  # noqa: A002 (as parse_grade's)
    labels: Sequence[object] | None = None,
    field: str | None = None,
) -> bool:
    r"""Return whether an answer gives text before its grade.

    >>> at_once, later = '{"verdict": "fail", "reason": "Too short."}', "Too short.\nGRADE: I"
    >>> grade_reasons_first(at_once, parse_grade(at_once)), grade_reasons_first(later, parse_grade(later), "grade")
    (False, True)
    """
    place = _place(text, grade, format, None if labels is None else grades.label_sides(labels), field)
    names = NAMES | _FIELD_WORDS if format == "json" else NAMES
    return place is None or any(word.lower() not in names for word in WORD.findall(text[: place.start]))


_FIELD_WORDS = frozenset("_".join(grades.FIELDS).split("_"))


@lru_cache(maxsize=64)
def grade_token_pattern(format: GradeFormat, labels: Labels | None, field: str | None) -> re.Pattern[bytes]:  # noqa: A002
    """Return the pattern of the bytes that state a grade, for recordings.

    >>> [found[1] for found in grade_token_pattern("grade", None, None).finditer(b"It agrees. GRADE: **C**")]
    [b'C']
    """
    # The usual words of both sides differ in their first letter; those of one's own may do so as late as behind a word.
    most = max(len(word.encode()) for word in grade_words(format, labels)) + 1 if labels else 1
    marks = rb"(?:[\s_*`\"'()\[\]{}\\]|\xe2\x80[\x98-\x9f])*+"
    before = {
        "json": rb"(?:%s)%s:" % (grades.keys_pattern(grades.FIELDS if field is None else (field,)).encode(), marks),
        "brackets": rb"\[\[",
        "grade": rb"GRADE%s(?::|\xef\xbc\x9a)" % marks,
        "word": rb"(?:\A|[>\]\xb7]|final)",
    }[format]
    # Where the text ends behind the marks nothing stands: found as well, or of many brackets each would be tried again.
    return re.compile(rb"%s%s(.{0,%d})" % (before, marks, most), re.IGNORECASE | re.DOTALL)


# --- from the text to the place of its grade ----------------------------------------------------------------

_OPENING, _CLOSING = r"\\?[\"'“‘]", r"\\?[\"'”’]"  # a whole answer may be a JSON string, quotes escaped


@lru_cache(maxsize=64)
def _entry(field: str | None) -> re.Pattern[str]:
    keys = grades.keys_pattern(grades.FIELDS if field is None else (field,))
    return re.compile(
        rf"{_OPENING}[\s_]*+(?:{keys})[\s_]*+{_CLOSING}\s*+:\s*+(?P<quote>{_OPENING})?(?P<stated>[^\"“”\n,{{}}\\]++)",
        re.IGNORECASE,
    )


def _place(
    text: str,
    grade: NamedOutcome,
    format: GradeFormat,  # noqa: A002 (as parse_grade's)
    labels: Labels | None,
    field: str | None,
) -> VerdictPosition | None:
    if grade.passed is None:
        return None
    words = grade_words(format, labels)
    places = [place for entry in _entries(text, format, field) if (place := _place_of(entry, text, words))]
    places = [place for place in places if place.states == grade.passed]
    if format != "json":
        return places[-1] if places else None
    looked_at = places if len(places) <= 2 * MOST_PLACES else [*places[:MOST_PLACES], *places[-MOST_PLACES:]]
    other = [word for word, side in words.items() if side != grade.passed]
    return next((each for each in looked_at if _decides(text, each, other, grade, labels, field)), None)


def _entries(text: str, format: GradeFormat, field: str | None) -> Iterator[re.Match[str]]:  # noqa: A002
    if format == "json":
        yield from _entry(field).finditer(text)
        return
    token = last_token({"brackets": BRACKETS, "grade": grades.LINE}.get(format, _WHOLE), blank_thoughts(text))
    if token is not None and (format != "brackets" or token[0].startswith("[[")):  # as it was asked for
        yield token


_WHOLE = re.compile(r"(?P<stated>\S.*+)", re.DOTALL)


def _place_of(entry: re.Match[str], text: str, words: Mapping[str, int]) -> VerdictPosition | None:
    start, end = entry.span("stated")
    stated = text[start:end]
    folded = grades.normalize_grade(stated)
    if folded is None or folded not in words:
        return None
    before = len(stated) - len(stated.lstrip(MARKS + "\r\n"))
    after = len(stated) - len(stated.rstrip(grades.ENDING + "\r\n"))
    if before + after < len(stated):  # a label that is nothing but marks stays as it is
        start, end = start + before, end - after
    return VerdictPosition(entry.start(), start, end, words[folded])


def _decides(
    text: str,
    place: VerdictPosition,
    others: Sequence[str],
    grade: NamedOutcome,
    labels: Labels | None,
    field: str | None,
) -> bool:
    in_quotes = text[place.start : place.at].rstrip(_NO_QUOTES)[-1:] != ":"
    literal = next((word for word in others if word in ("true", "false", "0", "1")), json.dumps(others[0]))
    changed = text[: place.at] + (others[0] if in_quotes else literal) + text[place.end :]
    return parse_grade(changed, "json", labels, field).passed != grade.passed


_NO_QUOTES = "".join(mark for mark in MARKS if mark not in "\"'“‘") + "\r\n"


# --- from there along the tokens ----------------------------------------------------------------------------


def _followed(tokens: Sequence[Token], offset: int, words: Mapping[str, int]) -> Probability | None:
    masses: dict[int, list[float]] = {0: [], 1: [], UNDECIDED: []}
    unlisted: list[float] = []
    text, path = b"", 0.0
    for token, before in _from(tokens, offset):
        listed = token.listed
        for alternative, logprob in listed.items():
            rest = _rest(alternative, before)
            side = None if rest is None or alternative == token.text else grade_side(text + rest, words)
            if side is not None:
                masses[side].append(path + logprob)
        text += token.text[len(before) :]
        unlisted.append(path + largest_unlisted_logprob(token, listed))
        own = grade_side(text, words, stated=True)
        if own is None:
            return None
        if own != UNDECIDED:
            if token.text in listed:
                masses[own].append(path + token.logprob)
            return _between(masses, log_sum(unlisted)) if masses[0] or masses[1] else None
        path += token.logprob
    return None


def _between(masses: Mapping[int, list[float]], unlisted: float) -> Probability:
    passing, failing, either = masses[1], masses[0], masses[UNDECIDED]
    if not either:
        return verdict_log_probabilities(passing, failing, unlisted=unlisted)
    most = verdict_log_probabilities([*passing, *either], failing, unlisted=unlisted)
    least = verdict_log_probabilities(passing, [*failing, *either], unlisted=unlisted)
    return Probability(min(least.low, most.low), max(least.high, most.high), most.elsewhere)


def _from(tokens: Sequence[Token], offset: int) -> Iterator[tuple[Token, bytes]]:
    start = 0
    for token in tokens:
        if start + len(token.text) > offset:
            yield token, token.text[: max(0, offset - start)]
        start += len(token.text)


def _rest(alternative: bytes, before: bytes) -> bytes | None:
    if not before:
        return alternative
    bare, begins = alternative.strip(), before.strip()  # with spaces or without, it says the same
    return bare[len(begins) :] if bare.startswith(begins) else None


def grade_side(text_bytes: bytes, words: Mapping[str, int], *, stated: bool = False) -> int | None:
    """Return the side of the words that bytes are, or are the beginning of; None where they are of none.

    Where C and I are grades no other letter is the beginning of a usual word: in "GRADE: P" it is a partial one. It is
    one where the whole word is `stated`.

    >>> words = grade_words("json")
    >>> [grade_side(text, words) for text in (b' pass"', b"in", b"un", b"1.0", b"1.5", b"correctly")]
    [True, False, None, True, None, None]
    """
    text, cut = _split_cut(text_bytes)
    if cut and not stated:
        return _says_cut(text, cut, words)
    return _says_whole(text, words, stated=stated)


def _split_cut(text_bytes: bytes) -> tuple[str, bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")
    text = unicodedata.normalize("NFKC", decoder.decode(text_bytes)).casefold().replace("_", " ")
    text = " ".join(text.lstrip(MARKS).split()) + (" " if text[-1:].isspace() and text.strip() else "")
    return text, decoder.getstate()[0]


def _says_cut(text: str, cut: bytes, words: Mapping[str, int]) -> int | None:
    rests = [(word[len(text) : len(text) + 1], side) for word, side in words.items() if word.startswith(text)]
    sides = {side for rest, side in rests if any(each.encode().startswith(cut) for each in (rest, rest.upper()))}
    if sides:
        return sides.pop() if len(sides) == 1 else UNDECIDED
    return None if text.strip() and _says_whole(text, words) is None else UNDECIDED


def _says_whole(text: str, words: Mapping[str, int], *, stated: bool = False) -> int | None:
    if not text.strip():
        return UNDECIDED if stated else None
    if match := _NUMBER.match(text):
        number, after = grades.normalize_number(match[0]), text[match.end() :]
        return words.get(number) if not after or after[0] in grades.ENDING else None
    if not stated and len(text) == 1 and text not in words and words == grade_words("grade"):
        return None
    sides = {side for word, side in words.items() if word.startswith(text)}
    if not sides:
        whole = [word for word in words if text.startswith(word) and _ends(text[len(word) :])]
        sides = {words[max(whole, key=len)]} if whole else set()
    return sides.pop() if len(sides) == 1 else UNDECIDED if sides else None


_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?", re.ASCII)


def _ends(rest: str) -> bool:
    return not rest.strip() or (rest[0] in grades.ENDING + "\\" and not rest[0].isspace())
