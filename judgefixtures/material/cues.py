"""The cues: families of labels, each label one sentence about a response. The sentences are data/cues.toml.

The order of the labels in a family is the declared direction of its contrasts: the earlier label is the one expected
to win.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from judgefixtures.words.errors import JudgeFixturesError, choices
from judgefixtures.words.patterns import load_table

# Names become folders and test ids: no separators, no leading dot, nothing a file system minds.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
LONGEST_NAME = 255  # bytes, of a file or a folder in any usual file system

Families = Mapping[str, Mapping[str, str]]

PLACEBO = "placebo"  # the family that says nothing

FAMILIES: Families = MappingProxyType({name: MappingProxyType(labels) for name, labels in load_table("cues").items()})

# Families about the person who wrote: no run and no swap asks about them unless somebody names them.
BY_NAME = ("age", "gender", "ethnicity", "education")


@dataclass(frozen=True, slots=True, eq=False)
class OwnFamily(Mapping[str, str]):
    """A user's family: its labels with their sentences, and by which words a reason may cite a label."""

    sentences: Mapping[str, str]
    terms: Mapping[str, tuple[str, ...]]

    def __getitem__(self, label: str) -> str:
        """Return the sentence of a label."""
        return self.sentences[label]

    def __iter__(self) -> Iterator[str]:
        """Return the labels in their declared order."""
        return iter(self.sentences)

    def __len__(self) -> int:
        """Return how many labels there are."""
        return len(self.sentences)


@dataclass(frozen=True, slots=True)
class Cue:
    """One label of a family and its sentence, with the slots {content_type} and {number}.

    `terms` are words, beside those of the sentence, by which a reason may cite it.
    """

    family: str
    label: str
    sentence: str
    terms: tuple[str, ...] = ()

    def render(self, content_type: str, number: int) -> str:
        """Return the sentence for response `number` (1 or 2) of this content type.

        >>> family("recency", FAMILIES)[0].render("Story", 2)
        'Story 2 was written recently (in 2025).'
        """
        # Not str.format: a user's sentence may hold braces of its own.
        return self.sentence.replace("{content_type}", content_type).replace("{number}", str(number))

    def render_alone(self, content_type: str) -> str:
        """Return the sentence for a response that is shown by itself, so that it needs no number.

        A noun with {number} behind it, as {content_type} mostly is, becomes "the response", in the sentence's own
        place; a word such as "our" before it stays. A {number} that stands otherwise is 1.

        >>> family("recency", FAMILIES)[0].render_alone("Story")
        'The story was written recently (in 2025).'
        >>> Cue("brand", "ours", "Our {content_type} {number} (no. {number}) won.").render_alone("Reply")
        'Our reply (no. 1) won.'
        """
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
BEGINS = re.compile(r"(?:\A|[.!?:]\s)\s*\Z")  # what a sentence begins after


def _alone(named: re.Match[str], content_type: str) -> str:
    """Return what a numbered response is called where it is the only one."""
    name = content_type if named["name"] == "{content_type}" else named["name"]
    if not name[:2].isupper():  # "SQL query" stays as it is
        name = name[:1].lower() + name[1:]
    article = "The " if BEGINS.search(named.string[: named.start()]) else "the "
    return f"{named['kept'] or article}{name}"


def family(name: str, families: Families) -> tuple[Cue, ...]:
    """Return the cues of a family in their declared order. Raises JudgeFixturesError where it cannot be used.

    >>> [cue.label for cue in family("recency", FAMILIES)]
    ['new', 'old']
    """
    if name not in families:
        raise JudgeFixturesError(f"there is no cue family {name!r}: {choices(name, families)}.")
    labels = families[name]
    if len(labels) < 2:
        raise JudgeFixturesError(
            f"the cue family {name} has {len(labels)} label; a contrast needs two: add another label with its sentence."
        )
    for label, sentence in labels.items():
        if "{number}" not in sentence:
            raise JudgeFixturesError(
                f"the cue family {name}: {label} = {sentence!r} does not say which response it speaks of: "
                "add {number} (and {content_type}) to the sentence."
            )
    terms = labels.terms if isinstance(labels, OwnFamily) else {}
    return tuple(Cue(name, label, sentence, terms.get(label, ())) for label, sentence in labels.items())
