"""Sentences of a reason, as lists of the words that the classifier of acknowledgments reads."""

from __future__ import annotations

import re

LONGEST_SENTENCE = 60  # words; a longer one is cut
_NUMBER = {"1": "r1", "2": "r2", "one": "r1", "two": "r2", "a": "r1", "b": "r2", "first": "r1", "second": "r2"}
_CALLED = (
    "response|story|answer|text|candidate|option|explanation|reply|version|essay|assistant|r|resp|piece|entry"
    "|submission|tale"
)
_NUMBERED = re.compile(
    rf"(?i:\b(?:{_CALLED})s? ?#?)(1|2|A|B|(?i:one|two))\b"
    r"|(?i:\b(?<!at )(?:the )?(first|second)(?! (?:hand|aid|time|of all|person|place|nature))"
    rf"(?: (?:{_CALLED}|one))?)\b"
    r"|(?<![\w.,/])([12])(?![\w/%]|[.,]\d)"
)
_ABBREVIATED = re.compile(r"\b(?:[A-Za-z]{1,2}\.){2,}")
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("’‘", "'"),
        **dict.fromkeys('“”"*`#_<>', " "),
        **dict.fromkeys("-‑‐", " "),
        **dict.fromkeys("–—|", ";"),
        "→": ":",
    }
)
_NOT = re.compile(r"can't\b|\bcannot\b|\bwon't\b|n't\b")
_WRITTEN_OUT = {"can't": "can not", "cannot": "can not", "won't": "will not", "n't": " not"}
_TOKEN = re.compile(r"[a-z0-9]+|'(?:s|d|ll|ve|re|m)\b|[.!?;\n,:()]")
_ENDS = frozenset(".!?;\n")


def split_sentences(text: str) -> list[list[str]]:
    """Return the words of each sentence; "Response 1" becomes "r1".

    >>> split_sentences("Response 1 isn't old. The second one is!")
    [['r1', 'is', 'not', 'old'], ['r2', 'is']]
    """
    plain = _ABBREVIATED.sub(lambda match: match[0].replace(".", ""), text.translate(_TYPOGRAPHY))
    plain = _NUMBERED.sub(lambda match: _NUMBER[(match[1] or match[2] or match[3]).lower()], plain).lower()
    plain = _NOT.sub(lambda match: _WRITTEN_OUT[match[0]], plain)
    match: list[list[str]] = []
    words: list[str] = []
    for token in _TOKEN.findall(plain):
        if token in _ENDS or len(words) >= LONGEST_SENTENCE:
            if words:
                match.append(words)
            words = []
        if token not in _ENDS:
            words.append(token)
    return [*match, words] if words else match
