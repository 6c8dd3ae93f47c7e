"""Vocabulary: what a page calls that which its judges were asked about, and what they said: pairs, examples, or both.

The words stand here, the sentences that they are part of in page.html and page.js.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judgefixtures.findings import Row

PASSED = "passed"  # the outcome of a contrast of a judge of one response


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a page; those for a single case are words that fit whichever case is shown."""

    title: str  # of the browser, and of a column of counts
    one: str
    a_one: str
    many: str
    this: str  # behind "this" and "the same"
    verdict: str
    verdicts: str
    shifts: str
    sentences: str  # a heading: what is said of the responses
    unlabelled: str
    scores: str
    other: str  # what a reason argues for that argues against its verdict
    pairs: bool = True
    examples: bool = True

    def told(self, of_pairs: str, of_examples: str) -> str:
        """Return what holds of the judges of this page; of both kinds, where both are there.

        >>> BOTH.told("two are compared.", "one is graded.")
        'two are compared. For a judge of one response, one is graded.'
        """
        if self.pairs and self.examples:
            return f"{of_pairs} For a judge of one response, {of_examples}"
        return of_examples if self.examples else of_pairs


PAIRS = Vocabulary(
    title="Pairs",
    one="pair",
    a_one="a pair",
    many="pairs",
    this="pair",
    verdict="verdict",
    verdicts="verdicts",
    shifts="Verdict shifts",
    sentences="The sentences that change places",
    unlabelled="no gold label",
    scores="Scores",
    other="the other response",
    examples=False,
)
EXAMPLES = Vocabulary(
    title="Examples",
    one="example",
    a_one="an example",
    many="examples",
    this="example",
    verdict="grade",
    verdicts="grades",
    shifts="Pass-rate shifts",
    sentences="What the judge is told",
    unlabelled="no label",
    scores="Score",
    other="the opposite grade",
    pairs=False,
)
BOTH = Vocabulary(
    title="Pairs and examples",
    one="pair or example",
    a_one="a pair or example",
    many="pairs or examples",
    this="one",
    verdict="verdict or grade",
    verdicts="verdicts or grades",
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
    return row.get("outcome") == PASSED


def verdicts_of(rows: Iterable[Row]) -> str:
    """Return what a judge's contrasts are about: its verdicts, or its grades.

    >>> verdicts_of([{"outcome": "passed"}]), verdicts_of([{"outcome": "chose-first"}])
    ('grades', 'verdicts')
    """
    return (EXAMPLES if any(map(is_graded, rows)) else PAIRS).verdicts
