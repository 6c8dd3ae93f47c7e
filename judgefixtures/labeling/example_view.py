"""View of one example for the page, without id, category and other labels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from judgefixtures.models.pairs import LABELS, Example
from judgefixtures.report.html.invisible_characters import split_at_invisible
from judgefixtures.statistics import pluralize

from .label_store import PersonLabels

LONGEST_BLOCK = 16_000  # characters
MARKED = 2000  # places of a text at which unseen characters are marked as such; later ones are spelled out, and no more
REPEATED = 8  # characters in a row that are the same and unseen
LONGEST_COMMENT = 10_000

View = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LabelingTask:
    """One person's examples, shown fields and labels.

    `needed` returns the labels that an agreement gate needs, or None.
    """

    examples: Sequence[Example]
    columns: Sequence[str]
    labels: PersonLabels
    needed: Callable[[int, int], int | None]

    def view(self, place: int | None = None) -> View:
        """Return the example at a place, or the first open one.

        Raises:
            IndexError: No such place.
        """
        place = self._after(0, self._is_open) if place is None else place
        if place is None:
            return {**self._progress(), "place": None, "skipped_at": self._after(0, self._is_skipped)}
        if not 0 <= place < len(self.examples):
            raise IndexError(place)
        example, given = self.examples[place], self.labels.of(self.examples[place])
        own = None
        if given is not None and self.labels.has(example):
            own = {"label": given.label, "comment": given.comment}
        parts = [(_joined(split_at_invisible(name)), text_blocks(text)) for name, text in self._parts(example)]
        return {
            **self._progress(),
            "place": place,
            "parts": [{"name": name, "text": text} for name, text in parts],
            "own": own,
            "changed": given is not None and own is None,
        }

    def give(self, place: int, label: Any, comment: Any) -> View:
        """Write a label and return the next view.

        Raises:
            ValueError: An invalid label.
            IndexError: No such place.
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
        """Return the progress in a sentence."""
        progress = self._progress()
        counts = self.labels.counted(self.examples)
        text = f"{progress['labelled']} of {pluralize(progress['total'], 'example')} labelled"
        text += f" ({counts['pass']} pass, {counts['fail']} fail)" if progress["labelled"] else ""
        text += f", {progress['skipped']} skipped" if progress["skipped"] else ""
        if progress["needed"] is None:
            return f"{text}; no realistic number of labels is enough for this agreement gate"
        lacking = progress["needed"] - progress["labelled"]
        gate = f"an agreement gate needs about {progress['needed']} labels"
        return f"{text}; {gate}, {lacking} more" if lacking > 0 else f"{text}; {gate}"

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
        given = self.labels.of(self.examples[place])
        return given is not None and given.label is None and self.labels.has(self.examples[place])

    def _after(self, start: int, wanted: Callable[[int], bool]) -> int | None:
        total = len(self.examples)
        return next((at % total for at in range(start, start + total) if wanted(at % total)), None)


def text_blocks(text: str) -> list[list[str]]:
    r"""Return a text as blocks that browsers can lay out.

    Every second piece of a block spells unseen characters.

    >>> text_blocks("a\u200b\u200eb"), text_blocks("\0" * 9)
    ([['a', '\\u200b\\u200e', 'b']], [['', '\\u0000 (9 times)', '']])
    """
    blocks, marks = [], 0
    for block in _blocks(text.replace("\r\n", "\n")):
        joined = _joined(split_at_invisible(block))
        blocks.append(joined if marks <= MARKED else ["".join(joined)])
        marks += len(joined) // 2
    return blocks


def _blocks(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > LONGEST_BLOCK:
        ends = (text.rfind(sign, start, start + LONGEST_BLOCK) + 1 for sign in ("\n", " "))
        end = next((end for end in ends if end > start), start + LONGEST_BLOCK)
        yield text[start:end]
        start = end
    yield text[start:]


def _joined(split_text: Sequence[str]) -> list[str]:
    joined, run = [split_text[0]], list[str]()
    for mark, plain in zip(split_text[1::2], split_text[2::2], strict=True):
        run.append(mark)
        if plain:
            joined += [_marks_text(run), plain]
            run = []
    return [*joined, _marks_text(run), ""] if run else joined


def _marks_text(run: Sequence[str]) -> str:
    counts = ((mark, len([*same])) for mark, same in groupby(run))
    return "".join(mark * count if count <= REPEATED else f"{mark} ({count} times)" for mark, count in counts)
