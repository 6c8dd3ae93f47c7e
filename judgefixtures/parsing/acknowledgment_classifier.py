"""Acknowledgment classifier: a lexicon finds words in a reason, and two linear models classify it.

It weighs features of sentences that may refer to a cue with data/stance.en.txt (trained by benchmarks/train_stance.py).

A word of a label is replaced by its side: the winner's (VW), the loser's (VL), both (VB), neither (VN), or shown
without a known verdict (V). "Response 1" becomes RW or RL in the same way. Weights learned on one family therefore
apply to other families, including a user's own.

The first model works by sentence: how likely does it refer to a cue, and then cite it? A text is cited unless every
sentence fails to cite, and absent if every sentence fails to refer (a noisy-or; Pearl 1988). The second model uses the
features of all these sentences at once (a softmax). The answer is the mean of both.

Features: w word, z its beginning, b two words in a row, c class, o class before class, q classes in a row,
k and K words and classes in the clause of a label's word, kb and ka where that clause begins and ends, f a
label's word in its family, p, x, pc and xc words and classes of the sentence before and after, G, g and gc
of the whole text.

Linear time: each word is looked up once, and a sentence is at most `LONGEST_SENTENCE` words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal

from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import word_set

from .lexicon import (
    ATTRIBUTE,
    HINT,
    NO_TERMS,
    VALUE,
    WEAK,
    Lexicon,
    Terms,
    common_terms,
    common_words,
    cue_label_words,
    families_of,
    family_terms,
    own_family_terms,
)
from .reason_sentences import split_sentences

Answer = Literal["cited", "mentioned", "absent"]
Pair = tuple[str, str]

_CLAUSE = 12  # words that a clause spans on either side of a label's word
_MANY = 12  # sentences; more are as many
OWN = "own"  # what a family is called that is none of the built-in ones
SCALE = 5.0  # of a sum of weights, over the root of the number of features
CITED_FROM = 0.55  # below it precision suffers, and reasons that were given without any cue are called cited
CITED_FROM_ONE = 0.48  # of one response, in whose reasons less is said than in those about two, which were learned from
FAINT_FROM = 0.65  # the same where no word names a label or the attribute: hints, authors and weak words alone
FOREIGN, FOREIGN_FROM = 2, 0.80  # the same where so many words stand in no reason learned from: of something else


# ---- text to words ------------------------------------------------------------------------------------------

_CLAUSE_ENDS = word_set(", : ( ) but yet although though while whereas because since which and so however")


# ---- of one response ----------------------------------------------------------------------------------------

# The models learned from reasons about two responses, in which the loser "does not pass" for no one, and is not right
# "all the same". Of one response these are verdicts, and are read as what reasons about two say in their place.
_GRADED = "pass(?:es|ed)?|fail(?:s|ed)?|meets?|covers?|satisf(?:y|ies)|miss(?:es)?|gets?|correct|right|wrong|does not"
_OVERRULED = re.compile(
    rf"(?:(?: ,)? and)?(?: it| is| i)* still (?=(?:{_GRADED})\b)"
    rf"|(?:(?: ,)? and)?(?: it| is| i)* (?P<said>(?:{_GRADED})(?: \w+){{0,3}}?)"
    r" (?:nonetheless|nevertheless|anyway|regardless|all the same|even so)\b"
)
_REJECTED = re.compile(
    r" (?:(?:do|does|did|can?|could|will|should|must|may) not (?:quite |fully |be )?"
    r"(?:pass|passed|accepted|meet|satisfy|reach|clear|fulfil)|not (?:acceptable|good enough))\b"
)
_CONTRAST = word_set("but yet however though although")


def _as_of_two(words: Sequence[str], lexicon: Lexicon) -> list[str]:
    turned = _OVERRULED.sub(lambda match: f" , but {match['said'] or ''}", f" {' '.join(words)}").split()
    kinds = lexicon.classes(turned)
    label = next((at for at, kind in enumerate(kinds) if any(each not in (HINT, WEAK) for each in kind)), None)
    if label is None:
        return turned
    before_label, rest = turned[:label], f" {' '.join(turned[label:])}"
    match = _REJECTED.search(rest)
    if match and _CONTRAST.isdisjoint(rest[: match.start()].split()):
        rest = f"{rest[: match.start()]} misses{rest[match.end() :]}"
    return [*before_label, *rest.split()]


_RESPONSES = frozenset({"r1", "r2"})
_NAMED = frozenset({"AUTHOR", "LABEL"})  # classes that speak of a cue by themselves: of people most texts speak
_TOPICAL = common_words("topical")  # of phrases that name a label as a whole
_SPEAKING = _NAMED | {"PEOPLE"}  # classes that open a sentence without words of the family
_OF_JUDGING = frozenset({"AUTHOR", "JUDGING", "R", "RW", "RL"})  # a sentence with them judges, whatever else it says


# ---- words to features --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReasonSentence:
    """A sentence with symbols and classes of its words.

    Attributes:
        shown: The words as written.
    """

    shown: Sequence[str]
    words: Sequence[str]
    symbols: Sequence[str]  # a side, or the word itself
    marks: Sequence[tuple[str, ...]]  # the side, where there is one, and the classes
    spans: Sequence[int]
    weak: frozenset[int]  # those of `spans` whose words mostly speak of something else

    @property
    def may_refer(self) -> bool:
        """Whether it may refer to the family, authors or labels."""
        return bool(self.spans) or any(not _SPEAKING.isdisjoint(mark) for mark in self.marks)

    @property
    def pointing(self) -> Sequence[int]:
        """The positions of words that refer to a cue.

        Weak words ("when") need another such word. Words of authors count if no other label is named.
        """
        marked = list(zip(self.words, self.marks, strict=True))
        named = [at for at, (word, mark) in enumerate(marked) if not _NAMED.isdisjoint(mark) and word not in _TOPICAL]
        beside = {*named, *(at for at, (word, _) in enumerate(marked) if word in common_words("makers"))}
        told_of = [at for at in self.spans if at not in self.weak or beside - {at}]
        return told_of or ([] if not (self.spans or cue_label_words().isdisjoint(self.words)) else named)

    @property
    def is_faint(self) -> bool:
        """Whether it has only weak references."""
        return all(at in self.weak or self.symbols[at] == HINT for at in self.spans)

    @property
    def judges(self) -> bool:
        """Whether it speaks of authors, judging or a numbered response."""
        return any(not _OF_JUDGING.isdisjoint(mark) for mark in self.marks)

    def strange(self, table: Mapping[str, Weights]) -> int:
        """Return the number of words unknown in reasons; 0 if judging."""
        if self.judges:
            return 0
        marked = zip(self.words, self.marks, strict=True)
        return sum(not mark and word.isalnum() and f"w:{word}" not in table for word, mark in marked)


@dataclass(frozen=True, slots=True)
class CueReference:
    """A sentence that may refer to a cue, with its features.

    Attributes:
        shared: Features of the whole text.
    """

    sentence: ReasonSentence
    own: frozenset[str]
    shared: frozenset[str]


def _side(labels: set[str], cues: Pair, selected: int | None) -> str:
    on = [cue in labels for cue in cues]
    if not any(on):
        return "VN"
    if all(on):
        return "VB"
    return "V" if selected is None else "VW" if on[selected - 1] else "VL"


def _symbol(word: str, classes: Sequence[str], cues: Pair, selected: int | None) -> str:
    if word in _RESPONSES:
        return "R" if selected is None else "RW" if word == f"r{selected}" else "RL"
    if labels := {kind[1:] for kind in classes if kind.startswith(VALUE)}:
        return _side(labels, cues, selected)
    return next((kind for kind in (ATTRIBUTE, HINT) if kind in classes), "")


def _read_sentence(words_shown: Sequence[str], lexicon: Lexicon, cues: Pair, selected: int | None) -> ReasonSentence:
    words = words_shown if all(cues) else _as_of_two(words_shown, lexicon)
    classes_of_words = lexicon.classes(words)
    kinds = [
        _symbol(word, classes, cues, selected) if classes or word in _RESPONSES else ""
        for word, classes in zip(words, classes_of_words, strict=True)
    ]
    common = common_terms().classes(words)
    return ReasonSentence(
        words_shown,
        words,
        symbols=[kind or word for kind, word in zip(kinds, words, strict=True)],
        marks=[(kind, *classes) if kind else classes for kind, classes in zip(kinds, common, strict=True)],
        spans=[at for at, kind in enumerate(kinds) if kind and kind[0] != "R"],
        weak=frozenset(at for at, classes in enumerate(classes_of_words) if WEAK in classes),
    )


def cue_references(reason: str, lexicon: Lexicon, family: str, cues: Pair, selected: int | None) -> list[CueReference]:
    """Return the sentences that may refer to the cues."""
    once = dict.fromkeys(map(tuple, split_sentences(reason)))  # what a loop says again says nothing more
    text = [_read_sentence(words, lexicon, cues, selected) for words in once]
    places = [at for at, sentence in enumerate(text) if sentence.may_refer]
    if not places:
        return []
    shared = frozenset(_of_text(text))
    return [CueReference(text[at], frozenset(_of_sentence(at, text, family)), shared) for at in places]


def _of_text(text: Sequence[ReasonSentence]) -> Iterator[str]:
    yield f"G:n{min(len(text), _MANY)}"
    yield f"G:s{min(sum(bool(sentence.spans) for sentence in text), 5)}"
    for sentence in text:
        yield from (f"G:{mark}" for marks in sentence.marks for mark in marks)
        if sentence.spans:
            yield from (f"g:{symbol}" for symbol in sentence.symbols)
            yield from (f"gc:{mark}" for marks in sentence.marks for mark in marks)


def _of_sentence(at: int, text: Sequence[ReasonSentence], family: str) -> Iterator[str]:
    here = text[at]
    yield "bias"
    yield from (("G:first",) if at == 0 else ()) + (("G:last",) if at == len(text) - 1 else ())
    if not here.spans:
        yield "G:nospan"
    yield from (f"w:{word}" for word in here.words)
    yield from (f"z:{word[:5]}" for word in here.words if len(word) > 4)
    yield from (f"b:{one}_{two}" for one, two in pairwise(("^", *here.symbols, "$")))
    yield from _of_classes(here)
    yield from (f"f:{family}|{here.words[place]}" for place in here.spans)
    for place in here.spans:
        yield from _of_clause(here, place)
    for beside, name in ((at - 1, "p"), (at + 1, "x")):
        if 0 <= beside < len(text):
            near = text[beside]
            yield from (f"{name}:{symbol}" for symbol in near.symbols)
            yield from (f"{name}c:{mark}" for marks in near.marks for mark in marks)
            if near.spans:
                yield f"{name}:SPAN"
        else:
            yield f"{name}:NONE"


def _of_classes(here: ReasonSentence) -> Iterator[str]:
    yield from (f"c:{mark}" for mark in {mark for marks in here.marks for mark in marks})
    seen: set[str] = set()
    for place, marks in enumerate(here.marks):
        if place in here.spans:
            yield from (f"o:{before}<{marks[0]}" for before in seen)
        seen.update(marks)
    seen = set()
    for place in range(len(here.marks) - 1, -1, -1):
        if place in here.spans:
            yield from (f"o:{here.marks[place][0]}<{after}" for after in seen)
        seen.update(here.marks[place])
    row = [marks[0] for marks in here.marks if marks]
    yield from (f"q:{one}>{two}" for one, two in pairwise(("^", *row, "$")))


def _of_clause(here: ReasonSentence, place: int) -> Iterator[str]:
    words, kind = here.words, here.symbols[place]
    first = last = place
    while first > 0 and words[first - 1] not in _CLAUSE_ENDS and place - first < _CLAUSE:
        first -= 1
    while last + 1 < len(words) and words[last + 1] not in _CLAUSE_ENDS and last - place < _CLAUSE:
        last += 1
    for other in range(first, last + 1):
        if other != place:
            yield f"k:{kind}~{here.symbols[other]}"
            yield from (f"K:{kind}~{mark}" for mark in here.marks[other])
    yield f"kb:{kind}~{here.symbols[first - 1] if first else '^'}"
    yield f"ka:{kind}~{here.symbols[last + 1] if last + 1 < len(words) else '$'}"


# ---- features to an answer ----------------------------------------------------------------------------------

# Of a sentence: refers, cites; of a text: cited and mentioned over absent. In hundredths: sums are exact in any order.
Weights = tuple[int, int, int, int]


@cache
def feature_weights() -> Mapping[str, Weights]:
    """Return the weights of the features."""
    lines = (files("judgefixtures") / "data" / "stance.en.txt").read_text(encoding="utf-8").splitlines()
    by_feature: dict[str, Weights] = {}
    for line in lines:
        if not line.startswith("# "):
            feature, *numbers = line.split(" ")
            refers, cites, cited, mentioned = map(int, numbers)
            by_feature[feature] = (refers, cites, cited, mentioned)
    return by_feature


@dataclass(frozen=True, slots=True)
class AcknowledgmentReading:
    """The acknowledgment of a reason, with probabilities and evidence.

    Attributes:
        sentence: The deciding sentence, empty if absent.
        span: Its words about the cue.
        features: Its classes, largest weight first.
    """

    answer: Answer
    cited: float
    mentioned: float
    absent: float
    sentence: str = ""
    span: str = ""
    features: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The largest weights in words, or ""."""
        return "; ".join(words for feature in self.features if (words := describe_feature(feature)))


_NAMES: dict[str, str] = load_table("stance")["kinds"]
_SIDES: dict[str, str] = load_table("stance")["sides"]


def describe_feature(feature: str) -> str | None:
    """Return a class feature as text, or None.

    >>> describe_feature("K:VW~REASON"), describe_feature("o:DISCLAIMER<VL"), describe_feature("w:because")
    ("a word of reason beside the winner's label", "a word of disclaimer before the loser's label", None)
    """
    kind, _, rest = feature.partition(":")
    if kind not in _NAMES or (kind == "c" and rest in _SIDES):
        return None
    parts = re.split(r"[~<]", rest)
    return _NAMES[kind].format(*(_SIDES.get(part) or f"a word of {part.lower()}" for part in parts))


def decide_answer(cited: float, mentioned: float, absent: float, least: float = CITED_FROM) -> Answer:
    """Return the answer; *cited* needs `least`."""
    if cited >= least:
        return "cited"
    return "mentioned" if mentioned > absent else "absent"


@lru_cache(maxsize=256)  # all reasons of a condition have the same
def lexicon_for_labels(cues: Pair, cue_sentences: Pair, terms: Terms) -> tuple[Lexicon, str]:
    """Return the lexicon and name of two labels' family, or `OWN`.

    A built-in name needs a fitting sentence.
    """
    read: Terms = (tuple(map(normalize_term, terms[0])), tuple(map(normalize_term, terms[1])))
    possible = families_of(*cues)
    # Where sentences were shown, `old` is an age if they say so: the words of age do not speak of dates.
    for family in reversed(possible) if any(cue_sentences) else possible:
        if all(_speaks(cue, family, sentence) for cue, sentence in zip(cues, cue_sentences, strict=True)):
            return family_terms(family, cues, read) if any(terms) else family_terms(family), family
    one, two = (tuple(word for words in split_sentences(sentence) for word in words) for sentence in cue_sentences)
    return own_family_terms(cues, (one, two), read), OWN


def normalize_term(term: str) -> str:
    """Return a user's term as texts are read, or "".

    >>> [normalize_term(term) for term in ("Acme's first edition", "A.C.M.E.", "Stop! Go", "愛")]
    ["acme 's r1 edition", 'acme', '', '']
    """
    read = split_sentences(term)
    return " ".join(read[0]) if len(read) == 1 and not _RESPONSES.issuperset(read[0]) else ""


def _speaks(cue: str, family: str, sentence: str) -> bool:
    if not sentence or not cue:
        return True
    words = [word for words in split_sentences(sentence) for word in words]
    return "VW" in _read_sentence(words, family_terms(family), (cue, "?"), 1).symbols


def classify_reason(
    reason: str, cues: Pair, selected: int | None = None, said: Pair = ("", ""), terms: Terms = NO_TERMS
) -> AcknowledgmentReading:
    """Return the acknowledgment of two labels, one of which may be "".

    `said` are the cues' sentences, `terms` a user's words. No text raises.

    >>> found = classify_reason("Response 1 is better because it was written by an expert.", ("expert", "llm"), 1)
    >>> found.answer
    'cited'
    """
    if not any(cue.strip() for cue in cues):
        return AcknowledgmentReading("absent", 0.0, 0.0, 1.0)
    lexicon, family = lexicon_for_labels(cues, said, terms)
    least = CITED_FROM if all(cues) else CITED_FROM_ONE
    return classify_sentences(cue_references(reason, lexicon, family, cues, selected), feature_weights(), least)


def classify_sentences(
    references: Sequence[CueReference], table: Mapping[str, Weights], least: float = CITED_FROM
) -> AcknowledgmentReading:
    """Return the acknowledgment of sentences; *cited* needs at least `least`."""
    if not references:
        return AcknowledgmentReading("absent", 0.0, 0.0, 1.0)
    shared = references[0].shared
    every = shared.union(*(instance.own for instance in references))
    rows = {feature: row for feature in every if (row := table.get(feature)) is not None}
    none = not_cited = 1.0
    best, chosen = (False, -1.0), references[0]
    refers_shared, cites_shared = _sums(rows, shared)
    for instance in references:
        scale = SCALE / 100 / math.sqrt(len(instance.own) + len(shared))
        refers_own, cites_own = _sums(rows, instance.own)
        refers, cites = _sigmoid((refers_own + refers_shared) * scale), _sigmoid((cites_own + cites_shared) * scale)
        none *= 1 - refers
        not_cited *= 1 - refers * cites
        if (likely := (bool(instance.sentence.pointing), refers * (1 + cites))) > best:
            best, chosen = likely, instance
    scale = SCALE / 100 / math.sqrt(len(every))
    odds = [math.exp(max(-30.0, min(30.0, scale * sum(row[at] for row in rows.values())))) for at in (2, 3)]
    whole = [each / (1 + sum(odds)) for each in (*odds, 1.0)]
    by_sentence = (1 - not_cited, not_cited - none, none)
    cited, mentioned, absent = ((one + two) / 2 for one, two in zip(by_sentence, whole, strict=True))
    if not chosen.sentence.pointing:  # words that weigh like a reason, and none of them of a cue
        cited, absent = 0.0, absent + cited
    answer = decide_answer(cited, mentioned, absent, max(least, _least(references, chosen.sentence, table)))
    if answer == "absent":
        return AcknowledgmentReading(answer, cited, mentioned, absent)
    return AcknowledgmentReading(answer, cited, mentioned, absent, *_explained(chosen, answer, rows))


def _least(references: Sequence[CueReference], chosen: ReasonSentence, table: Mapping[str, Weights]) -> float:
    if chosen.strange(table) >= FOREIGN:
        return FOREIGN_FROM
    return FAINT_FROM if all(instance.sentence.is_faint for instance in references) else 0.0


def _sums(rows: Mapping[str, Weights], features: frozenset[str]) -> tuple[int, int]:
    known = [rows[feature] for feature in features if feature in rows]
    return sum(row[0] for row in known), sum(row[1] for row in known)


def _explained(chosen: CueReference, answer: Answer, rows: Mapping[str, Weights]) -> tuple[str, str, tuple[str, ...]]:
    here, towards = chosen.sentence, 1 if answer == "cited" else -1
    weighed = sorted((-towards * rows[each][1], each) for each in chosen.own if each in rows and describe_feature(each))
    span = ", ".join(dict.fromkeys(here.words[place] for place in here.pointing))
    return " ".join(here.shown), span, tuple(feature for weight, feature in weighed[:3] if weight < 0)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))
