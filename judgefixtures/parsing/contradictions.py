"""Contradictions: does a judge's reason argue for the other response?

Rules with data/contradictions.en.toml find *rankings* ("① is better") and *merits* ("② does not answer"); unclear
statements do not count.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from judgefixtures.util.patterns import load_pattern

__all__ = ["ArguedResponse", "argued_response", "contradiction", "grade_contradiction"]

Side: TypeAlias = Literal[1, 2]

_rule = partial(load_pattern, "contradictions.en")
_LONGEST, _MANY = 800, 12  # characters and statements of a sentence: no judge writes more of them, hostile text does
_QUOTE = 200  # characters of a sentence that is shown
_SIGNS = {**dict.fromkeys(("1", "one", "a", "first"), "①"), **dict.fromkeys(("2", "two", "b", "second"), "②")}
_TYPOGRAPHY = str.maketrans("’‘“”–—‑‐*_\t\u00a0①②", "''\"\"----    12")  # one for one, to show a sentence as it was
_PLAINER = (("cannot", "can not"), ("won't", "will not"), ("n't", " not"), ("the ①", "①"), ("the ②", "②"))


class ArguedResponse(NamedTuple):
    """The response that a reason argues for, with its clearest sentence."""

    response: Side
    quote: str


class _Sentence(NamedTuple):
    shown: str  # as written
    names: tuple[int, ...]  # where they stand in it
    plain: str  # its words, with ① and ② for the names


class _Statement(NamedTuple):
    about: str  # ① or ②: "② is worse" is about ②
    bad: bool
    ranks: bool  # the response as a whole, not one of its merits
    compares: bool  # "is more accurate", which says something of both
    start: int
    end: int
    sentence: int
    concludes: bool
    yields: bool

    @property
    def side(self) -> Side:
        return 1 if (self.about == "①") != self.bad else 2


def _sentences(text: str, content_type: str) -> Iterator[_Sentence]:
    unquoted = _rule("quoted").sub(lambda match: "\x00" * len(match[0]), text.translate(_TYPOGRAPHY))
    # One scheme of names per text: where the two are called Response 1 and 2, "option 1" is something they are about.
    nouns = (re.escape(content_type.strip().lower()) or "response", "response", _rule("nouns").pattern)
    names = next((rule for noun in nouns if (rule := _rule("names", noun)).search(unquoted)), _rule("bare"))
    named_last, start = "", 0
    ends = [end.span() for end in _rule("sentence_end").finditer(unquoted)]
    for end, following in [*ends, (len(text), len(text))]:
        for at in range(start, end, _LONGEST):
            piece = slice(at, min(at + _LONGEST, end))
            yield (sentence := _sentence(text[piece], unquoted[piece], names, named_last))
            named_last = _order(sentence.plain) if sentence.names else named_last
        start = following


def _sentence(original: str, unquoted: str, names: re.Pattern[str], named_last: str) -> _Sentence:
    starts, bare = [name.start() for name in names.finditer(unquoted)], names is _rule("bare")

    def mark(match: re.Match[str]) -> str:
        group = match.lastindex or 0
        return (unquoted[match.start() : match.start(group)] if bare else "") + _SIGNS[match[group].lower()]

    def mark_relative(match: re.Match[str]) -> str:  # "the former" and "the latter", where two were named before
        pair = _order(plain[: match.start()]) or named_last or "①②"
        return pair[match["which"] == "latter"] if len(pair) == 2 else match[0]

    marked = names.sub(mark, unquoted)
    marked = _rule("before_bare").sub(r"\1", marked) if bare else marked
    plain = " ".join(marked.lower().split()).replace(" .", ".").replace(" ,", ",")
    for written, plainer in _PLAINER:
        plain = plain.replace(written, plainer)
    plain = _rule("relative").sub(mark_relative, plain)
    plain = _rule("aside").sub(r"\2 \1 ", _rule("parentheses").sub("", plain)) if starts else plain
    return _Sentence(original, tuple(starts), plain.lstrip("#->•= "))


def _order(plain: str) -> str:
    return "".join(sorted((name for name in "①②" if name in plain), key=plain.index))


def _statements(plain: str, number: int) -> list[_Statement]:
    is_said = not plain.endswith("?") and _order(plain)
    spared, statements = _conceded(plain), islice(_worded(plain, number) if is_said else (), _MANY)
    meant = (words for words in statements if not any(words.start in span for span in spared))
    return [words for words in meant if _is_earnest(plain, words.start, words.end)]


def _worded(plain: str, number: int) -> Iterator[_Statement]:
    but = _rule("but").search(plain, 4)
    turn = but.start() if but and "not only" not in plain[: but.start()] else -1

    def stated(match: re.Match[str], about: str, *, ranks: bool, compares: bool = True) -> _Statement:
        bad = any(match.groupdict().get(group) for group in ("bad", "bad_too", "loses"))
        concludes = bool(_rule("concludes").search(plain, 0, match.end()))
        return _Statement(about, bad, ranks, compares, *match.span(), number, concludes, match.start() < turn)

    for match in _rule("of_a_response").finditer(plain):  # "① is better"
        extent = _extent(plain, match, match["about"])
        if extent and _is_meant(plain, match.start(), "part_of"):
            yield stated(match, match["about"], ranks=extent == "whole")
    for match in _rule("makes").finditer(plain):  # "making it the stronger answer"; "it" is what last began a clause
        subjects = [subject[1] for subject in _rule("clause_subject").finditer(plain, 0, match.start())]
        about = match["about"] or (subjects or [""])[-1]
        if about and (extent := _extent(plain, match, about)):
            yield stated(match, about, ranks=extent == "whole")
    for match in _rule("for_a_response").finditer(plain):  # "I choose ①", "verdict: ①"
        name = next(group for group, at in match.groupdict().items() if at and not group.startswith("bad"))
        whole = name in ("found", "rated", "label", "alone") or _rule("and_no_less").match(plain, match.end(name))
        if whole and _is_meant(plain, match.start(name)):
            yield stated(match, match[name], ranks=True)
    for match in _rule("merit").finditer(plain):  # does what was asked, does it better, or fails
        if _is_meant(plain, match.start(), "part_of") and not _rule("no_merit").search(plain, match.end()):
            yield stated(match, match["about"], ranks=False, compares=bool(match["excels"]))


def _extent(plain: str, match: re.Match[str], name: str) -> Literal["whole", "merit", ""]:
    beaten = _rule("beaten").match(plain, match.end())
    end = beaten.end() if beaten else match.end()
    than = _rule("than").match(plain, end)
    else_than = than["other"] == name if than else _rule("than_else").match(plain, end)
    if else_than or (beaten and beaten[1] == name):
        return ""
    if _rule("of_a_quality").search(match[0]):
        return "merit"
    return "whole" if than or _rule("of_all").match(plain, end) else ""


def _is_meant(plain: str, at: int, *before: str) -> bool:
    beside = any(_rule(rule).search(plain[max(0, at - 9) : at]) for rule in ("partner_before", *before))
    return not (beside or _rule("partner_after").match(plain, at + 1))


def _conceded(plain: str) -> list[range]:
    spans: list[range] = []
    for match in _rule("concedes").finditer(plain):
        if not spans or match.start() >= spans[-1].stop:
            main = _rule("main").search(plain, match.end())
            spans.append(range(match.start(), main.start() + 1 if main else len(plain)))
    return spans


def _is_earnest(plain: str, start: int, end: int) -> bool:
    fresh = [match.start() for match in _rule("fresh").finditer(plain, 0, start + 1)]
    explained = _rule("explains").search(plain, end)
    unsure = _rule("unsure").search(plain, (fresh or [0])[-1], start + 1)
    return not (unsure or _rule("only_if").search(plain, end, explained.start() if explained else len(plain)))


def _weigh(statements: list[_Statement], last_tie: int, last_named: int) -> _Statement | None:
    """Return the statement that a reason as a whole argues for, or None.

    Merits count only without rankings, if all comparisons agree and no tie or name follows (`last_tie`, `last_named`).
    """
    firm, rankings = [each for each in statements if not each.yields], [each for each in statements if each.ranks]
    if not rankings:
        both = any(each.compares for each in firm) or len({each.about for each in firm}) > 1
        one_side = len({each.side for each in statements}) == 1
        return firm[-1] if last_tie < 0 and both and one_side and firm[-1].sentence >= last_named else None
    last = rankings[-1]
    against = [each for each in statements if each.side != last.side]
    disputed = any(each.ranks and not (each.yields and last.concludes) for each in against)
    if disputed or last_tie >= last.sentence or (last.yields and (against or not last.concludes)):
        return None
    # "Response 2 is better", and then all that is said speaks for the other: a slip of the number, perhaps.
    supported = any(each.side == last.side and not each.ranks for each in statements)
    return last if last.concludes or supported or len(against) < 2 else None


@lru_cache(maxsize=1 << 14)  # a measurement asks, and the report's row asks again
def argued_response(reason: str, content_type: str = "Response") -> ArguedResponse | None:
    """Return the response that a reason argues for, or None.

    `content_type` is the prompt's noun. No text raises.

    >>> argued_response("While Response 2 is more detailed, Response 1 is more accurate and better overall.").response
    1
    """
    sentences = [*_sentences(reason, content_type)]
    statements: list[list[_Statement]] = []
    last_tie = last_named = -1
    for number, sentence in enumerate(sentences):
        if statements and _rule("turns").match(sentence.plain):
            statements[-1] = [each._replace(yields=True) for each in statements[-1]]
        is_tie = _rule("tie").search(sentence.plain) and not _rule("concedes").match(sentence.plain)
        last_tie = number if is_tie else last_tie
        last_named = number if sentence.names or _rule("fault").search(sentence.plain) else last_named
        statements.append(_statements(sentence.plain, number))
    weighed = _weigh([each for sentence in statements for each in sentence], last_tie, last_named)
    return ArguedResponse(weighed.side, _quote(sentences[weighed.sentence], weighed)) if weighed else None


def _quote(sentence: _Sentence, words: _Statement) -> str:
    text = sentence.shown.strip()
    if len(text) <= _QUOTE or not sentence.names:
        return " ".join(text[:_QUOTE].split())
    before = sum(sentence.plain.count(sign, 0, words.start) for sign in "①②")
    name = sentence.names[min(before, len(sentence.names) - 1)]
    start = max(0, min(name - 40, len(sentence.shown) - _QUOTE))
    part = sentence.shown[start : start + _QUOTE - 8]  # room for the marks of what is left out
    return f"{'... ' if start else ''}{' '.join(part.split())}{' ...' if sentence.shown[start + len(part) :] else ''}"


def contradiction(reason: str, selected: Side, content_type: str = "Response") -> str | None:
    """Return the words of a reason that contradict its verdict, or None.

    `selected` is the verdict by position. At most 200 characters.

    >>> contradiction("Story 1 has a plot. Overall, Story 2 is the better story.", 1, "Story")
    'Overall, Story 2 is the better story.'
    """
    argument = argued_response(reason, content_type)
    return argument.quote if argument and argument.response != selected else None


# ---- of one response ----------------------------------------------------------------------------------------


class _Graded(NamedTuple):
    passes: bool
    is_grade: bool
    sentence: int
    start: int
    end: int


def _graded(plain: str, number: int, noun: str, rules: Iterable[str]) -> Iterator[_Graded]:
    if plain.endswith("?"):
        return
    spared, retold = _conceded(plain), _rule("retold").search(plain)
    for name in rules:
        for match in islice(_rule(name, noun).finditer(plain), _MANY):
            start = match.end() - len(match[0].lstrip(",;: "))
            is_own = (retold is None or retold.start() > start) and not any(start in span for span in spared)
            if is_own and _is_earnest(plain, start, match.end()):
                bad = any(matched for group, matched in match.groupdict().items() if group.startswith("bad"))
                yield _Graded(not bad, name != "judges_right", number, start, match.end())


@lru_cache(maxsize=1 << 14)  # as above
def grade_contradiction(reason: str, passed: bool, content_type: str = "Response") -> str | None:
    """Return the words of a reason that contradict its grade, or None.

    At most 200 characters. No text raises.

    >>> grade_contradiction("It fails: the answer is wrong.", True)
    'It fails: the answer is wrong.'
    >>> grade_contradiction("It fails to name the year, which is a detail.", True) is None
    True
    """
    sentences = [*_sentences(reason, content_type)]
    noun, last = re.escape(content_type.strip().lower()) or "response", len(sentences) - 1
    graded: list[_Graded] = []
    for number, sentence in enumerate(sentences):
        rules = ["grades", *(["grades_alone"] if number in (0, last) else []), *(["judges_right"] * (number == last))]
        graded += _graded(sentence.plain, number, noun, rules)
    if not graded or any(each.passes == passed for each in graded):
        return None
    first = next((each for each in graded if each.is_grade), graded[0])
    before = [*(each.plain for each in sentences[: first.sentence]), sentences[first.sentence].plain[: first.start]]
    after = [sentences[first.sentence].plain[first.end :], *(each.plain for each in sentences[first.sentence + 1 :])]
    outweighed = any(_rule("outweighed").search(plain) for plain in after)
    others = () if first.is_grade else (*before, *after)
    if outweighed or any(_rule("praised" if passed else "faulted").search(plain) for plain in others):
        return None
    return " ".join(sentences[first.sentence].shown.split())[:_QUOTE]
