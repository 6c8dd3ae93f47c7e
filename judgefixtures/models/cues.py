"""Cues: labels with a sentence each, the favoured first, from data/cues.toml."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from judgefixtures.util.errors import JudgeFixturesError, accepted_values
from judgefixtures.util.patterns import load_table

# Names become folders and test ids: no separators, no leading dot, nothing a file system minds.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
LONGEST_NAME = 255  # bytes, of a file or a folder in any usual file system

Families = Mapping[str, Mapping[str, str]]

Stands = Literal["response", "prompt"]
PLACES: tuple[Stands, ...] = ("response", "prompt")  # what a sentence is about: a response, by its number, or all of it

PLACEBO = "placebo"  # the family that says nothing


@dataclass(frozen=True, slots=True, eq=False)
class CueFamily(Mapping[str, str]):
    """A cue family with terms, place and reference label (`against`).

    Attributes:
        place: "prompt" for a sentence without {number}.
    """

    sentences: Mapping[str, str]
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    place: Stands = "response"
    against: str = ""

    def __getitem__(self, label: str) -> str:
        return self.sentences[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)


PLACE, AGAINST = "place", "against"  # keys of a family's table that are no labels


def cue_place(table: Mapping[str, Any]) -> Stands | None:
    """Return the place of a family's sentences, or None.

    >>> cue_place({"place": "prompt"}), cue_place({"place": "{content_type} {number} took first place."})
    ('prompt', None)
    """
    return next((place for place in PLACES if table.get(PLACE) == place), None)


def _whole(labels: Mapping[str, str]) -> CueFamily:
    return labels if isinstance(labels, CueFamily) else CueFamily(labels)


def _built_in(table: Mapping[str, str]) -> Mapping[str, str]:
    sentences = {label: sentence for label, sentence in table.items() if label not in (PLACE, AGAINST)}
    place = cue_place(table)
    return MappingProxyType(sentences) if place is None else CueFamily(sentences, {}, place, table.get(AGAINST, ""))


FAMILIES: Families = MappingProxyType({name: _built_in(table) for name, table in load_table("cues").items()})

# Families about the person who wrote, and about what is at stake: no run and no swap asks about them unless somebody
# names them.
BY_NAME = ("age", "gender", "ethnicity", "education", "framing")


@dataclass(frozen=True, slots=True)
class Cue:
    """A label with its sentence.

    Attributes:
        terms: Further words that cite it.
    """

    family: str
    label: str
    sentence: str
    terms: tuple[str, ...] = ()
    place: Stands = "response"

    def render(self, content_type: str, number: int) -> str:
        """Return the sentence for response `number` (1 or 2).

        >>> family("recency", FAMILIES)[0].render("Story", 2)
        'Story 2 was written recently (in 2025).'
        """
        if self.place == "prompt":
            return self.render_alone(content_type)
        # Not str.format: a user's sentence may hold braces of its own.
        return self.sentence.replace("{content_type}", content_type).replace("{number}", str(number))

    def render_alone(self, content_type: str) -> str:
        """Return the sentence for a single response.

        A noun before {number} becomes "the response".

        >>> family("recency", FAMILIES)[0].render_alone("Story")
        'The story was written recently (in 2025).'
        >>> Cue("brand", "ours", "Our {content_type} {number} (no. {number}) won.").render_alone("Reply")
        'Our reply (no. 1) won.'
        >>> Cue("stake", "sold", "Note on the {content_type}: it is for sale.", place="prompt").render_alone("Story")
        'Note on the story: it is for sale.'
        """
        if self.place == "prompt":
            text = IN_PROSE.sub(lambda _: _noun(content_type), self.sentence)
            return text.replace("{content_type}", content_type)
        sentence = NUMBERED.sub(lambda named: _alone(named, content_type), self.sentence)
        return sentence.replace("{content_type}", content_type).replace("{number}", "1")


# What has a number behind it: the content type, or a word for it, with an article or another such word before it.
# Articles of other languages are among the words that stay.
ARTICLES = "the|an?"
KEPT = "this|that|our|my|your|his|her|their|its|la|el|le|il|lo|un|una|une|der|die|das|ein|eine|unsere?|notre|nuestra"
NOUNS = "response|answer|reply|story|text|essay|output|option|candidate|completion|argument|entry|version|assistant"
NUMBERED = re.compile(
    rf"(?:(?P<article>\b(?:{ARTICLES}) )|(?P<kept>\b(?:{KEPT}) ))?"
    rf"(?P<name>\{{content_type\}}|\b(?:{NOUNS})\b) \(?#?\{{number\}}\)?",
    re.IGNORECASE,
)
IN_PROSE = re.compile(r"(?<=[A-Za-z,;] )\{content_type\}")  # within a sentence, and not where one begins
BEGINS = re.compile(r"(?:\A|[.!?:]\s)\s*\Z")  # what a sentence begins after


def _noun(name: str) -> str:
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


def _alone(named: re.Match[str], content_type: str) -> str:
    name = _noun(content_type if named["name"] == "{content_type}" else named["name"])
    article = "The " if BEGINS.search(named.string[: named.start()]) else "the "
    return f"{named['kept'] or article}{name}"


def family(name: str, families: Families) -> tuple[Cue, ...]:
    """Return a family's cues in declared order.

    Raises:
        JudgeFixturesError: It is invalid.

    >>> [cue.label for cue in family("recency", FAMILIES)]
    ['new', 'old']
    """
    if name not in families:
        raise JudgeFixturesError(f"there is no cue family {name!r}: {accepted_values(name, families)}.")
    labels = families[name]
    if len(labels) < 2:
        raise JudgeFixturesError(
            f"the cue family {name} has {len(labels)} label, a contrast needs 2: add a label with its sentence."
        )
    whole = _whole(labels)
    for label, sentence in labels.items():
        _check_place(name, label, sentence, whole.place)
    return tuple(Cue(name, label, text, whole.terms.get(label, ()), whole.place) for label, text in labels.items())


def _check_place(name: str, label: str, sentence: str, place: Stands) -> None:
    what = f"the cue family {name}: {label} = {sentence!r}"
    if place == "prompt" and "{number}" in sentence:
        raise JudgeFixturesError(
            f'{what} has {{number}}, but with place = "prompt" the prompt shows one response: remove {{number}}, or '
            'remove place = "prompt".'
        )
    if place == "prompt" and not sentence.strip():
        raise JudgeFixturesError(f"{what} is empty: write a neutral sentence, or remove the label.")
    if place == "response" and "{number}" not in sentence:
        raise JudgeFixturesError(
            f"{what} does not name a response: add {{number}} (and {{content_type}}) to the sentence. If the sentence "
            'is about the whole prompt of a judge of one response, set place = "prompt".'
        )


def pairs_of(name: str, families: Families) -> Iterator[tuple[Cue, Cue]]:
    """Yield both cues of each contrast.

    >>> [(x.label, y.label) for x, y in pairs_of("framing", FAMILIES)]
    [('retrained', 'neutral'), ('customers', 'neutral'), ('colleague', 'neutral')]
    """
    cues, against = family(name, families), _whole(families[name]).against
    for x, y in itertools.combinations(cues, 2):
        if against in ("", y.label):
            yield x, y
