"""Vocabulary: what a page calls that which its judges were asked about, and what they said: pairs, examples, or both.

The page's own words stand here, those of every sentence in material/diction.py, and what they are part of in page.html
and page.js.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from judgefixtures.findings import Row
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS, Wording, together, wording_of


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a page; those for a single case are words that fit whichever case is shown."""

    of: tuple[Wording, ...]
    title: str  # of the browser, and of a column of counts
    a_one: str
    this: str  # behind "this" and "the same"
    shifts: str
    sentences: str  # a heading: what is said of the responses
    unlabelled: str
    scores: str
    other: str  # what a reason argues for that argues against its verdict

    @property
    def one(self) -> str:
        """What is asked about."""
        return together(self.of, "one")

    @property
    def many(self) -> str:
        """Several of these."""
        return together(self.of, "many")

    @property
    def verdict(self) -> str:
        """What is said of it."""
        return together(self.of, "says")

    @property
    def verdicts(self) -> str:
        """Several of these."""
        return together(self.of, "said")

    @property
    def examples(self) -> bool:
        """Whether examples are among it."""
        return OF_EXAMPLES in self.of

    @property
    def pairs(self) -> bool:
        """Whether pairs are among it."""
        return OF_PAIRS in self.of

    def shifts_of(self, by_scores: Collection[bool]) -> str:
        """Return the heading of shifts that are of scores, of verdicts or grades, or of both.

        >>> PAIRS.shifts_of({True}), PAIRS.shifts_of({False}), PAIRS.shifts_of({True, False})
        ('Score shifts', 'Verdict shifts', 'Score and verdict shifts')
        """
        if True not in by_scores:
            return self.shifts
        return f"Score and {self.shifts[:1].lower()}{self.shifts[1:]}" if False in by_scores else "Score shifts"

    def told(self, of_pairs: str, of_examples: str) -> str:
        """Return what holds of the judges of this page; of both kinds, where both are there.

        >>> BOTH.told("two are compared.", "one is graded.")
        'two are compared. For a judge of one response, one is graded.'
        """
        if len(self.of) > 1:
            return f"{of_pairs} For a judge of one response, {of_examples}"
        return of_examples if self.examples else of_pairs


PAIRS = Vocabulary(
    of=(OF_PAIRS,),
    title="Pairs",
    a_one="a pair",
    this="pair",
    shifts="Verdict shifts",
    sentences="The sentences that change places",
    unlabelled="no gold label",
    scores="Scores",
    other="the other response",
)
EXAMPLES = Vocabulary(
    of=(OF_EXAMPLES,),
    title="Examples",
    a_one="an example",
    this="example",
    shifts="Pass-rate shifts",
    sentences="What the judge is told",
    unlabelled="no label",
    scores="Score",
    other="the opposite grade",
)
BOTH = Vocabulary(
    of=(OF_PAIRS, OF_EXAMPLES),
    title="Pairs and examples",
    a_one="a pair or example",
    this="one",
    shifts="Verdict and pass-rate shifts",
    sentences="What the judge is told",
    unlabelled="no label",
    scores="Scored",
    other="the opposite",
)


def vocabulary_of(report: Row, pairs: Sequence[Row]) -> Vocabulary:
    """Return the words of a page by the contrasts and by the rows of pairs and examples; without any, those of pairs.

    >>> vocabulary_of({}, [{"response": "It is Paris."}]).title, vocabulary_of({}, []).title
    ('Examples', 'Pairs')
    """
    single = {"response" in row for row in pairs}
    single |= {is_graded(row) for row in report.get("contrasts") or []}
    if single == {True, False}:
        return BOTH
    return EXAMPLES if True in single else PAIRS


def is_graded(row: Row) -> bool:
    """Return whether a contrast is one of grades: its outcome is that the response passes."""
    return wording_of(row.get("outcome", "")) is OF_EXAMPLES


def verdicts_of(rows: Iterable[Row]) -> str:
    """Return what a judge's contrasts are about: its verdicts, or its grades.

    >>> verdicts_of([{"outcome": "passed"}]), verdicts_of([{"outcome": "chose-first"}])
    ('grades', 'verdicts')
    """
    return (OF_EXAMPLES if any(map(is_graded, rows)) else OF_PAIRS).said
