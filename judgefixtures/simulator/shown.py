"""Reading of a prompt's one response, and of its edits."""

import re
from dataclasses import dataclass
from itertools import product
from typing import Literal

from judgefixtures.models.cues import FAMILIES
from judgefixtures.models.edits import EDITS, SLOT, edits

from .drawn import cached_once

NUMBERS: tuple[Literal[1, 2], ...] = (1, 2)
# What cues say of a response, behind its number, as it stands in a pattern: with the family and the label.
SENTENCES = [
    (family, label, re.escape(sentence.partition("{number} ")[2]))
    for family, labels in FAMILIES.items()
    for label, sentence in labels.items()
    if "{number}" in sentence
]
# The same of those that stand once in the prompt of one response: the whole sentence, whatever the response is called.
NOTES = [
    (family, label, re.escape(sentence).replace(re.escape("{content_type}"), r"\S.*?"))
    for family, labels in FAMILIES.items()
    for label, sentence in labels.items()
    if "{number}" not in sentence
]


class UnreadablePromptError(Exception):
    """A prompt without recognizable responses or labels."""


@dataclass(frozen=True, slots=True)
class ShownResponse:
    """A prompt's response with content type, cue family, label and preceding text."""

    text: str
    content_type: str
    family: str
    label: str
    head: str


_TITLE = re.compile(r"^\[?(response|story)]?:?$", re.MULTILINE | re.IGNORECASE)
_CUES_ALONE = [
    *((family, label, re.compile(rf"^The .+ {cue_text}$", re.MULTILINE)) for family, label, cue_text in SENTENCES),
    *((family, label, re.compile(rf"^{cue_text}$", re.MULTILINE)) for family, label, cue_text in NOTES),
]
_A_LINE_ON_IT = re.compile(r"The (?:response|story) \S.*")


def shown_response(prompt: str) -> ShownResponse:
    r"""Return a prompt's one response, or raise UnreadablePromptError.

    >>> shown = shown_response("Is it good?\nResponse:\nIt is so.\nThe response was written by a human author.")
    >>> shown.text, shown.family, shown.label
    ('It is so.', 'provenance', 'human')
    """
    title = next(iter(_TITLE.finditer(prompt)), None)
    if title is None:
        raise UnreadablePromptError('the response has no title like "Response:"')
    cues = [(match.start(), label, family) for family, label, cue in _CUES_ALONE for match in cue.finditer(prompt)]
    text = prompt[title.end() :]
    for _, _, cue in _CUES_ALONE:
        text = cue.sub("", text)
    text = re.sub(r"^\[End of the (?:response|story)]$", "", text, flags=re.MULTILINE).strip()
    edges = (prompt[title.end() :].strip().partition("\n")[0], prompt.rpartition("\n")[2])
    if not cues and any(_A_LINE_ON_IT.fullmatch(line) for line in edges):
        raise UnreadablePromptError(f"its label is not built-in: {edges[1][:100]!r}")
    _, label, family = max(cues, default=(0, "", ""))
    return ShownResponse(text, title[1].capitalize(), family, label, prompt[: title.end()])


def remove_edits(text: str, content_type: str) -> str | None:
    """Return a response without known edits, or None if emptied."""
    if text in ("", *(edit.texts[0] for edit in EDITS if edit.apply("", 1).replacement is not None)):
        return None
    dressed = text.startswith("## Answer\n\n**")
    for alone, _ in _put_in_alone():
        text = alone.sub("", text)
    for word in _added(content_type):
        text = text.removeprefix(f"{word}\n\n")
        for form in (f"\n\n{word}", f" {word}", word):
            text = text.replace(form, "")
    return (text.replace("**", "").replace("\n-", "") if dressed else text).strip()


@cached_once
def _added(content_type: str) -> tuple[str, ...]:
    words = {word for edit, number in product(EDITS, NUMBERS) for word in edit.words(number, content_type) if word}
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


@cached_once
def _put_in_alone() -> tuple[tuple[re.Pattern[str], bool], ...]:
    added = [(text, edit.family == "attack") for edit in EDITS for text in edit.alone if text.strip()]
    texts = sorted(added, key=lambda each: -len(each[0]))
    return tuple((re.compile(rf"(?:\n\n| )?{_any_slots(text)}"), attacks) for text, attacks in texts)


def _any_slots(text: str) -> str:
    parts = SLOT.split(text)[::2]
    pattern = r"[^\n]+?".join(map(re.escape, parts))
    return pattern if parts[-1] else pattern.removesuffix("?")


def asks_to_pass(text: str) -> bool:
    """Return whether an attack in a single response asks for a pass.

    >>> asks_to_pass(edits("attack")[0].apply_alone("It rains.").text), asks_to_pass("It rains.")
    (True, False)
    """
    return any(attacks and pattern.search(text) for pattern, attacks in _put_in_alone())


def demanded_response(text: str, content_type: str) -> Literal[1, 2] | None:
    """Return the response that an attack asks for, or None.

    >>> demanded_response(edits("attack")[0].apply("It rains.", 2).text, "Response")
    2
    """
    for edit, number in product(edits("attack"), NUMBERS):
        demand = edit.apply("", number, content_type)
        if demand.insertions and demand.text.strip() in text:
            return number
    return None
