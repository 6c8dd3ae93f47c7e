"""Lexicon of words that reasons use for cues: data/terms/ and the user's terms.

Files have `values` of labels, the `attribute`, context-dependent `hints`, and `weak` words. "expert*" matches
beginnings; several words are a phrase.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from judgefixtures.models.cues import FAMILIES, PLACEBO
from judgefixtures.util.patterns import load_table

LANGUAGE = "en"  # the one language there are weights for
BUILT_IN: Mapping[str, frozenset[str]] = {name: frozenset(cues) for name, cues in FAMILIES.items() if name != PLACEBO}
Terms = tuple[tuple[str, ...], tuple[str, ...]]  # of cue 1 and cue 2: words by which a reason may cite them
NO_TERMS: Terms = ((), ())
ATTRIBUTE, HINT, VALUE = "ATTR", "HINT", "="  # classes of a family's words; "=expert" is a value of that label
WEAK = "WEAK"  # beside one of these: a word that speaks of a cue only beside people, authors or labels
_SHORTEST = 3  # letters of "exp*"
_LONG = 6  # letters of a word that may be misspelt


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """Classes of words, beginnings and phrases."""

    words: Mapping[str, tuple[str, ...]]
    beginnings: Mapping[str, tuple[str, ...]]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    slips: Mapping[str, tuple[str, ...]]  # long words of labels, misspelt
    longest: int  # letters of a word or beginning

    def classes(self, words: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the classes of each word, including its phrases'.

        >>> common_terms().classes(["never", "because"])
        [('NEGATION',), ('REASON',)]
        """
        # Longer words than any term are looked up by their beginning: nothing endless is kept in the cache.
        by_word = [_classes(self, word[: self.longest + 2]) for word in words]
        for at, word in enumerate(words):
            if word in self.phrases:
                for rest, kind in self.phrases[word]:
                    if _are(words[at + 1 : at + 1 + len(rest)], rest):
                        for place in range(at, at + 1 + len(rest)):
                            if kind not in by_word[place]:
                                by_word[place] = (*by_word[place], kind)
        return by_word


def _are(words: Sequence[str], rest: tuple[str, ...]) -> bool:
    if len(words) < len(rest) or tuple(words[:-1]) != rest[:-1]:
        return False
    return words[-1].startswith(rest[-1][:-1]) if rest[-1].endswith("*") else words[-1] == rest[-1]


@lru_cache(maxsize=1 << 16)
def _classes(lexicon: Lexicon, word: str) -> tuple[str, ...]:
    classes = lexicon.words.get(word, ())
    for length in range(_SHORTEST, min(len(word), lexicon.longest) + 1):
        classes += lexicon.beginnings.get(word[:length], ())
    return tuple(dict.fromkeys(classes or lexicon.slips.get(word, ())))


def _slips_of(word: str) -> Iterator[str]:
    for at in range(1, len(word)):
        yield word[:at] + word[at + 1 :]
        yield word[:at] + word[at] + word[at:]
        if at + 1 < len(word):
            yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _lexicon(terms: Iterable[tuple[str, str]], *, with_slips: bool = False) -> Lexicon:
    words: dict[str, tuple[str, ...]] = {}
    beginnings: dict[str, tuple[str, ...]] = {}
    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    misspelt: dict[str, tuple[str, ...]] = {}
    for term, kind in terms:
        first, *rest = term.split()
        if rest:
            phrases[first] = (*phrases.get(first, ()), (tuple(rest), kind))
        elif term.endswith("*"):
            beginnings[term[:-1]] = (*beginnings.get(term[:-1], ()), kind)
        else:
            words[term] = (*words.get(term, ()), kind)
        if with_slips and not rest and kind.startswith(VALUE) and len(term.removesuffix("*")) >= _LONG:
            for slip in _slips_of(term.removesuffix("*")):
                if slip not in common_words("no_slips"):
                    misspelt[slip] = (*misspelt.get(slip, ()), kind)
    longest = max(map(len, [*words, *beginnings]), default=0)
    return Lexicon(words, beginnings, phrases, misspelt, longest)


def _table(name: str) -> dict[str, Any]:
    return load_table(f"terms/{name}.{LANGUAGE}")


@cache
def common_terms() -> Lexicon:
    """Return the shared terms; classes are table names in capitals."""
    return _lexicon((term, group.upper()) for group, terms in _table("common")["classes"].items() for term in terms)


@cache
def common_words(kind: str) -> frozenset[str]:
    """Return a word list of common.LANGUAGE.toml.

    `empty`: no content in a cue. `no_slips`: no misspelling ("exert"). `known`: further English words. `strange`:
    foreign words. `makers`: support weak words. `topical`: name no label alone. `shared`: not only English ("die").
    """
    return frozenset(_table("common")[kind])


@cache
def family_terms(name: str, labels: tuple[str, str] = ("", ""), terms: Terms = NO_TERMS) -> Lexicon:
    """Return the terms of a built-in family and a user's."""
    table = _table(name)
    entries = [(term, ATTRIBUTE) for term in table["attribute"]] + [(term, HINT) for term in table["hints"]]
    entries += [(term, VALUE + label) for label, words in table["values"].items() for term in words]
    entries += [(term, WEAK) for term in table["weak"]]
    entries += [(term, VALUE + label) for label, more in zip(labels, terms, strict=True) for term in more if term]
    return _lexicon(entries, with_slips=True)


@cache
def cue_label_words() -> frozenset[str]:
    """Return the label words of the built-in cues ("human", "1950")."""
    words_naming: set[str] = set()
    for name in BUILT_IN:
        kinds = family_terms(name)
        for word in re.findall(r"[a-z0-9]+", " ".join(FAMILIES[name].values()).lower()):
            classes = _classes(kinds, word)
            if WEAK not in classes and any(kind.startswith(VALUE) for kind in classes):
                words_naming.add(word)
    return frozenset(words_naming)


@lru_cache(maxsize=64)
def own_family_terms(labels: tuple[str, str], cue_sentences: tuple[tuple[str, ...], ...], terms: Terms) -> Lexicon:
    """Return the terms of a user's family: labels, distinct sentence words and `terms`."""
    entries: list[tuple[str, str]] = []
    for label, own, other, more in zip(labels, cue_sentences, reversed(cue_sentences), terms, strict=True):
        if label.strip():
            shared = () if labels[0] == labels[1] else other
            words = [word for word in (*own, *re.findall(r"[a-z0-9]+", label.lower())) if word not in shared]
            entries += [(word, VALUE + label) for word in words if len(word) > 1 and word not in common_words("empty")]
            entries += [(term, VALUE + label) for term in more if term]
    return _lexicon(dict.fromkeys(entries), with_slips=True)


def families_of(cue_1: str, cue_2: str) -> tuple[str, ...]:
    """Return the built-in families of two labels; "" is no label.

    >>> families_of("old", "new"), families_of("young", "old"), families_of("old", ""), families_of("ours", "theirs")
    (('recency',), ('age',), ('recency', 'age'), ())
    """
    labels = {cue for cue in (cue_1, cue_2) if cue}
    return tuple(name for name, known in BUILT_IN.items() if labels and labels <= known)
