"""Vocabulary of the page, from data/page.toml and models/vocabulary.py."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from judgefixtures.models.findings import Row
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary, combine_words, wording_of
from judgefixtures.util.patterns import load_table


@dataclass(frozen=True, slots=True)
class PageVocabulary:
    """The words of a page, for pairs, examples or both."""

    of: tuple[Vocabulary, ...]
    title: str  # of the browser and of a column of counts
    a_one: str
    this: str  # behind "this" and "the same"
    shifts: str
    sentences: str  # a heading above the sentences of the labels
    unlabelled: str
    scores: str
    other: str  # what a reason supports that contradicts its verdict

    @property
    def one(self) -> str:
        """The name of a unit."""
        return combine_words(self.of, "one")

    @property
    def many(self) -> str:
        """Its plural."""
        return combine_words(self.of, "many")

    @property
    def verdict(self) -> str:
        """The name of an answer."""
        return combine_words(self.of, "says")

    @property
    def verdicts(self) -> str:
        """Its plural."""
        return combine_words(self.of, "said")

    @property
    def examples(self) -> bool:
        """Whether there are examples."""
        return OF_EXAMPLES in self.of

    @property
    def pairs(self) -> bool:
        """Whether there are pairs."""
        return OF_PAIRS in self.of

    def shifts_of(self, by_scores: Collection[bool]) -> str:
        """Return the heading of shifts.

        >>> PAIRS.shifts_of({True}), PAIRS.shifts_of({False}), PAIRS.shifts_of({True, False})
        ('Score shifts', 'Verdict shifts', 'Score and verdict shifts')
        """
        if True not in by_scores:
            return self.shifts
        return f"Score and {self.shifts[:1].lower()}{self.shifts[1:]}" if False in by_scores else "Score shifts"

    def told(self, of_pairs: str, of_examples: str) -> str:
        """Return the text for pairs, examples or both.

        >>> BOTH.told("two are compared.", "one is graded.")
        'two are compared. For a judge of one response, one is graded.'
        """
        if len(self.of) > 1:
            return f"{of_pairs} For a judge of one response, {of_examples}"
        return of_examples if self.examples else of_pairs


PAIRS, EXAMPLES, BOTH = (
    PageVocabulary(of=of, **load_table("page")["vocabulary"][name])
    for name, of in (("pairs", (OF_PAIRS,)), ("examples", (OF_EXAMPLES,)), ("both", (OF_PAIRS, OF_EXAMPLES)))
)


def page_vocabulary(report: Row, pairs: Sequence[Row]) -> PageVocabulary:
    """Return the words for a report and its pairs.

    >>> page_vocabulary({}, [{"response": "It is Paris."}]).title, page_vocabulary({}, []).title
    ('Examples', 'Pairs')
    """
    single = {"response" in row for row in pairs}
    single |= {is_grade_contrast(row) for row in report.get("contrasts") or []}
    if single == {True, False}:
        return BOTH
    return EXAMPLES if True in single else PAIRS


def is_grade_contrast(row: Row) -> bool:
    """Return whether a contrast's outcome is a pass."""
    return wording_of(row.get("outcome", "")) is OF_EXAMPLES


def verdict_word(rows: Iterable[Row]) -> str:
    """Return the word for verdicts or grades.

    >>> verdict_word([{"outcome": "passed"}]), verdict_word([{"outcome": "chose-first"}])
    ('grades', 'verdicts')
    """
    return (OF_EXAMPLES if any(map(is_grade_contrast, rows)) else OF_PAIRS).said
