"""Countable text features, and pairs that they do not reveal."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType

from judgefixtures.util.texts import word_set

from .pairs import Pair

SPARE = 70  # so many pairs beyond those that are wanted are looked at: all of a house set, a moment of any other
ROOM = 8  # a count is left alone while it tells the better response on at most n / ROOM pairs more than it tells wrong
WORD = re.compile(r"\w+(?:['’]\w+)*")
SENTENCE = re.compile(r"[.!?。！？]+(?=[\s\"'”’)\]]|$)")
FUNCTION_WORDS = word_set(
    "a an and are as at be but by for from he her his if in is it its not of on or she so that the their"
    " they this to was which with you"
)


class _CountedText:
    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> list[str]:
        return WORD.findall(self.text)

    @cached_property
    def sentences(self) -> int:
        return len(SENTENCE.findall(self.text))

    @cached_property
    def distinct(self) -> int:
        return len({word.lower() for word in self.words})

    def marks(self, characters: str) -> int:
        return sum(map(self.text.count, characters))

    def a_word(self, number: int) -> float:
        return number / max(len(self.words), 1)


# Marks of other scripts are counted with those of this one: a judge of Chinese texts can go by them, too.
COUNTS: Mapping[str, Callable[[_CountedText], float]] = MappingProxyType(
    {
        "the number of characters": lambda of: len(of.text),
        "the number of words": lambda of: len(of.words),
        "the number of sentences": lambda of: of.sentences,
        "the number of paragraphs": lambda of: sum(bool(part.strip()) for part in re.split(r"\n\s*\n", of.text)),
        "the number of line breaks": lambda of: of.marks("\n"),
        "the number of full stops": lambda of: of.marks(".。।"),
        "the number of commas": lambda of: of.marks(",，、،"),
        "the number of question marks": lambda of: of.marks("?？؟"),
        "the number of exclamation marks": lambda of: of.marks("!！"),
        "the number of colons and semicolons": lambda of: of.marks(":;：；؛"),
        "the number of quotation marks": lambda of: of.marks('"“”„«»「」'),
        "the number of digits": lambda of: sum(map(str.isdigit, of.text)),
        "the number of capitals": lambda of: sum(map(str.isupper, of.text)),
        "the number of words in capitals": lambda of: sum(len(word) > 1 and word.isupper() for word in of.words),
        "the number of distinct words": lambda of: of.distinct,
        "the share of distinct words": lambda of: of.a_word(of.distinct),
        "the share of function words": lambda of: of.a_word(sum(word.lower() in FUNCTION_WORDS for word in of.words)),
        "the mean length of words": lambda of: of.a_word(sum(map(len, of.words))),
        "the length of the longest word": lambda of: max(map(len, of.words), default=0),
        "the mean length of sentences": lambda of: len(of.words) / max(of.sentences, 1),
    }
)

FENCED = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1|\Z)", re.M | re.S)
ITEM = re.compile(r"^[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++\S", re.M)
RULE = r"[ \t]*+:?-++:?[ \t]*+"  # of a table, below the header of a column
# What Markdown, or HTML, makes more of than text; nothing within a block of code.
MARKED_UP: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "table": re.compile(rf"^(?:[ \t]*+\|)?{RULE}(?:\|{RULE})++\|?[ \t]*+$|<table\b", re.M),
        "headings": re.compile(r"^ {0,3}#{1,6}[ \t]++\S|<h[1-6]\b", re.M),
        "code": re.compile(r"(?<!`)`[^`\n]++`(?!`)|<(?:code|pre)\b"),
        "bold": re.compile(r"\*\*(?=\S)[^*\n]++\*\*|<(?:b|strong)>"),
    }
)
SIGNS = re.compile(r"[`~*#|<\n]")  # without one of them, and in one line, a text is plain
PLAIN = "plain text"
FORMATS = ("list", *MARKED_UP, PLAIN)


def count_words(text: str) -> int:
    """Return the number of words of a text."""
    return len(WORD.findall(text))


def formats_of(text: str) -> frozenset[str]:
    r"""Return a text's `FORMATS`.

    >>> sorted(formats_of("# Steps\n1. **Boil** it.\n2. Wait.")), sorted(formats_of("Boil it - then wait."))
    (['bold', 'headings', 'list'], ['plain text'])
    """
    if not SIGNS.search(text):
        return frozenset({PLAIN})
    prose = FENCED.sub("\n", text)
    formats = {name for name, pattern in MARKED_UP.items() if pattern.search(prose)}
    formats |= {"list"} if len(ITEM.findall(prose)) > 1 else set()
    formats |= {"code"} if prose != text else set()
    return frozenset(formats or {PLAIN})


@lru_cache(maxsize=1024)
def feature_leanings(pair: Pair) -> Mapping[str, int]:
    """Return the response with more by feature: 1, -1, 0.

    >>> found = feature_leanings(Pair("1", "q", "One, two, three.", "One. Two."))
    >>> [found[f"the number of {name}"] for name in ("commas", "full stops", "digits")]
    [1, -1, 0]
    """
    one, two = _CountedText(pair.response_1), _CountedText(pair.response_2)
    sides = {name: (count(one) > count(two)) - (count(one) < count(two)) for name, count in COUNTS.items()}
    return MappingProxyType(sides)


@lru_cache(maxsize=64)  # each judge and each item of a run ask for the same
def least_predictable_pairs(pairs: tuple[Pair, ...], wanted: int) -> tuple[Pair, ...]:
    """Return pairs with gold that features predict least.

    Exchanges from `wanted + SPARE` pairs reduce squared imbalances beyond n / ROOM.

    >>> telling = [Pair(f"{n}", "q", "Yes, yes.", "Yes", gold=1) for n in range(6)]
    >>> other = [Pair(f"{n}", "q", "Yes, yes.", "Yes", gold=2) for n in range(6, 9)]
    >>> [pair.id for pair in least_predictable_pairs((*telling, *other), 4)]
    ['2', '3', '6', '7']
    """
    pool = pairs[: wanted + SPARE]
    sides = [[side if pair.gold == 1 else -side for side in feature_leanings(pair).values()] for pair in pool]
    chosen, spare = list(range(min(wanted, len(pool)))), list(range(wanted, len(pool)))
    sums = [sum(column) for column in zip(*(sides[n] for n in chosen), strict=True)]
    excess = [max(0.0, abs(total) - wanted / ROOM) ** 2 for total in range(-wanted - 2, wanted + 3)]
    least = _total(excess, sums)
    while True:
        best: tuple[int, int] | None = None
        before = least
        for place, old in enumerate(chosen):
            without = [total - value for total, value in zip(sums, sides[old], strict=True)]
            for beside, new in enumerate(spare):
                with_it = [total + value for total, value in zip(without, sides[new], strict=True)]
                if (candidate := _total(excess, with_it)) < least:
                    least, best = candidate, (place, beside)
        if best is None or before - least < (wanted / ROOM) ** 2:
            return tuple(pool[n] for n in sorted(chosen))
        place, beside = best
        sums = [
            total - old + new for total, old, new in zip(sums, sides[chosen[place]], sides[spare[beside]], strict=True)
        ]
        chosen[place], spare[beside] = spare[beside], chosen[place]


def _total(excess: Sequence[float], sums: Sequence[int]) -> float:
    return sum([excess[total + len(excess) // 2] for total in sums])
