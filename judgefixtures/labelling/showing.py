"""What the page is told: one example without who judged it and how, what its person said of it, and how far they are.

Examples are known by their place in an order that is the same for everybody; no id, label or category is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from judgefixtures.labelling.keeping import Labels
from judgefixtures.material.pairs import LABELS, Example
from judgefixtures.numbers.statistics import several
from judgefixtures.page.marks import pieces

LONGEST_BLOCK = 16_000  # characters
MARKED = 2000  # places of a text at which unseen characters are marked as such; later ones are spelled out, and no more
REPEATED = 8  # characters in a row that are the same and unseen
LONGEST_COMMENT = 10_000

View = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Work:
    """One person's work: the examples in their order, what is shown of each, and the labels.

    `needed` says how many labels an agreement gate needs, given how many there are that pass and that fail; None where
    no realistic number will do.
    """

    examples: Sequence[Example]
    columns: Sequence[str]
    labels: Labels
    needed: Callable[[int, int], int | None]

    def view(self, place: int | None = None) -> View:
        """Return what the page shows: the example at a place, else the first that is neither labelled nor skipped.

        IndexError for a place that there is none of.
        """
        place = self._after(0, self._is_open) if place is None else place
        if place is None:
            return {**self._progress(), "place": None, "skipped_at": self._after(0, self._is_skipped)}
        if not 0 <= place < len(self.examples):
            raise IndexError(place)
        example, said = self.examples[place], self.labels.of(self.examples[place])
        own = {"label": said.label, "comment": said.comment} if said is not None and self.labels.has(example) else None
        return {
            **self._progress(),
            "place": place,
            "parts": [{"name": _joined(pieces(name)), "text": shown(text)} for name, text in self._parts(example)],
            "own": own,
            "changed": said is not None and own is None,
        }

    def give(self, place: int, label: Any, comment: Any) -> View:
        """Write a label and return what is shown next: what is open, and where nothing is what was skipped.

        ValueError for what is not a label, and IndexError for a place that there is none of.
        """
        if label not in (*LABELS, None) or not isinstance(comment, str) or len(comment) > LONGEST_COMMENT:
            raise ValueError(f"label {label!r} with such a comment")
        if not 0 <= place < len(self.examples):
            raise IndexError(place)
        self.labels.give(self.examples[place], label, comment)
        following = self._after(place + 1, self._is_open)
        if following is None:
            following = next((at for at in range(place + 1, len(self.examples)) if self._is_skipped(at)), None)
        return self.view(following)

    def summary(self) -> str:
        """Return in a sentence how far the work is, and how much of it an agreement gate still needs."""
        told = self._progress()
        counts = self.labels.counted(self.examples)
        said = f"{told['labelled']} of {several(told['total'], 'example')} labelled"
        said += f" ({counts['pass']} pass, {counts['fail']} fail)" if told["labelled"] else ""
        said += f", {told['skipped']} skipped" if told["skipped"] else ""
        if told["needed"] is None:
            return f"{said}; no realistic number of labels will do for the agreement gate as it is set"
        lacking = told["needed"] - told["labelled"]
        gate = f"an agreement gate needs about {told['needed']} labels"
        return f"{said}; {gate}, {lacking} more" if lacking > 0 else f"{said}; {gate}"

    def _progress(self) -> View:
        counts = self.labels.counted(self.examples)
        labelled = sum(counts[label] for label in LABELS)
        needed = self.needed(counts["pass"], counts["fail"])
        return {"total": len(self.examples), "labelled": labelled, "skipped": counts[None], "needed": needed}

    def _parts(self, example: Example) -> Iterator[tuple[str, str]]:
        yield "question", example.question
        yield from ((name, example.columns[name]) for name in self.columns if name in example.columns)
        yield "response", example.response

    def _is_open(self, place: int) -> bool:
        return not self.labels.has(self.examples[place])

    def _is_skipped(self, place: int) -> bool:
        said = self.labels.of(self.examples[place])
        return said is not None and said.label is None and self.labels.has(self.examples[place])

    def _after(self, start: int, wanted: Callable[[int], bool]) -> int | None:
        """Return the first place from a start on that is wanted; behind the last place comes the first one."""
        total = len(self.examples)
        return next((at % total for at in range(start, start + total) if wanted(at % total)), None)


def shown(text: str) -> list[list[str]]:
    """Return a text as blocks of pieces: each second piece of a block is unseen characters spelled out.

    A browser takes minutes for a line of a megabyte, and for a million marks: long texts are several blocks, which end
    at a line end or a space where they can, and a character that repeats itself unseen is spelled once.

    >>> shown("a\\u200b\\u200eb"), shown("\\0" * 9)
    ([['a', '\\\\u200b\\\\u200e', 'b']], [['', '\\\\u0000 (9 times)', '']])
    """
    found, marks = [], 0
    for block in _blocks(text.replace("\r\n", "\n")):
        told = _joined(pieces(block))
        found.append(told if marks <= MARKED else ["".join(told)])
        marks += len(told) // 2
    return found


def _blocks(text: str) -> Iterator[str]:
    """Yield a text in parts that a browser lays out at once."""
    start = 0
    while len(text) - start > LONGEST_BLOCK:
        ends = (text.rfind(sign, start, start + LONGEST_BLOCK) + 1 for sign in ("\n", " "))
        end = next((end for end in ends if end > start), start + LONGEST_BLOCK)
        yield text[start:end]
        start = end
    yield text[start:]


def _joined(found: Sequence[str]) -> list[str]:
    """Return pieces in which spelled characters that touch are one: those that are the same with how many they are."""
    joined, run = [found[0]], list[str]()
    for mark, plain in zip(found[1::2], found[2::2], strict=True):
        run.append(mark)
        if plain:
            joined += [_told(run), plain]
            run = []
    return [*joined, _told(run), ""] if run else joined


def _told(run: Sequence[str]) -> str:
    """Return spelled characters in a row; more than a few of the same as one, and how often it stands there."""
    counts = ((mark, len([*same])) for mark, same in groupby(run))
    return "".join(mark * count if count <= REPEATED else f"{mark} ({count} times)" for mark, count in counts)
