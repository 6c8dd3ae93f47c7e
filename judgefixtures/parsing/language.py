"""Language check: is a reason English, the only language of the offline detector?"""

import re
from functools import cache, lru_cache

from .acknowledgment_classifier import feature_weights
from .lexicon import common_words

KNOWN_FROM = 0.35  # of a text's words; docs/explanation/detector.md has how far texts of either kind are from it
STRANGE = 5  # words: so many without a known one are a sentence in another language, whatever stands around it
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# What is quoted is not the reason's own language: code, formulas, addresses, passages of the responses. No passage
# holds its own opening mark, or a run of those would be read from each of them to its end.
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`]*`|\$[^$\n]*\$|\bhttps?://\S+|\"[^\"]*\"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』"
    r"|(?<!\w)['‘][^'‘’\n]*(?:(?<=\w)['’]\w[^'‘’\n]*)*['’](?!\w)",
    re.DOTALL,
)
_ENDS = re.compile(r"[.!?;]\s|\n|[。！？]")
_STARTS = re.compile(r"[:*(-]\W*$|^\W*$")  # where a capital is no name
_LATIN = 0x250  # other scripts begin behind it, but for _MORE_LATIN
_MORE_LATIN = range(0x1E00, 0x1F00)
_GREEK = range(0x370, 0x400)
# Thai and Lao, Tibetan, Burmese, Khmer, Chinese, Japanese and Korean.
_BLOCKS = ((0xE00, 0x10A0), (0x1780, 0x1800), (0x2E80, 0xD7B0), (0xF900, 0xFB00), (0x20000, 0x32000))
_SIGNS = tuple(range(first, end) for first, end in _BLOCKS)
_A_WORD_OF_SIGNS, _A_WORD_OF_LETTERS = 2, 4
_ENGLISH_ENDINGS = ("ing", "ly", "ness", "ful", "less", "ship", "ity", "ght", "'s", "n't", "ized", "ised")


@lru_cache(maxsize=1 << 15)  # a measurement asks of every reason, and its row asks again
def is_english(text: str) -> bool:
    """Return whether a text is English or has no words.

    Names and quotes do not count. No text raises.

    >>> is_english("Response 1 is better."), is_english("Antwort 1 ist besser."), is_english("回答1更好")
    (True, False, False)
    """
    unquoted = _QUOTED.sub(" ", text)
    if not _WORD.search(unquoted):
        unquoted = text
    shouted = text.isupper()
    counts = [_counted(sentence, shouted=shouted) for sentence in _ENDS.split(unquoted)]
    known, strange = (sum(count[which] for count in counts) for which in (0, 1))
    return known >= KNOWN_FROM * (known + strange) and all(some or others < STRANGE for some, others in counts)


def _counted(sentence: str, *, shouted: bool) -> tuple[int, float]:
    known, strange = 0, 0.0
    for match in _WORD.finditer(sentence):
        word, lower = match[0], match[0].lower().replace("’", "'")
        if other := _of_other_script(word):
            strange += other
        elif lower in common_words("strange"):
            strange += 2  # their languages borrow words of English
        elif lower not in common_words("shared"):
            if _knows(lower):
                known += 1
            elif shouted or not _may_be_name(word, sentence, match.start()):
                strange += 1
    return known, strange


def _knows(word: str) -> bool:
    return not vocabulary().isdisjoint((word, word.partition("'")[0])) or word.endswith(_ENGLISH_ENDINGS)


def _may_be_name(word: str, sentence: str, at: int) -> bool:
    if len(word) > 1 and word.isupper():
        return True
    return word[0].isupper() and not _STARTS.search(sentence[max(0, at - 8) : at])


def _of_other_script(word: str) -> float:
    others = [letter for letter in map(ord, word) if letter >= _LATIN and letter not in _MORE_LATIN]
    if len(word) == 1 and others and others[0] in _GREEK:  # a formula's
        return 0.0
    signs = sum(any(letter in block for block in _SIGNS) for letter in others)
    return signs / _A_WORD_OF_SIGNS + (len(others) - signs) / _A_WORD_OF_LETTERS


@cache
def vocabulary() -> frozenset[str]:
    """Return the words that indicate English."""
    weighed = (feature[2:] for feature in feature_weights() if feature.startswith("w:"))
    return common_words("known").union(word for word in weighed if word.isalpha())
