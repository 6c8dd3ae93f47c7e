"""Answers by length, format and model: which ones a judge passes or chooses more, beside what people say of the same.

Shown in the runs of agreement and of accuracy, whose answers it takes; nothing is asked for it, and nothing decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from judgefixtures.checks.phrasing import limits, reach, shortened
from judgefixtures.checks.protocol import Arms, Case
from judgefixtures.checks.sections import Section, View
from judgefixtures.findings import Finding, OfJudge, Row, rows_of
from judgefixtures.material.counts import FORMATS, PLAIN
from judgefixtures.material.pairs import MODEL, is_of_examples
from judgefixtures.measures.groupings import HAS, LENGTH, of_examples, of_pairs
from judgefixtures.numbers.estimate import Estimate, bare, signed
from judgefixtures.words.records import where_any

TITLE = "answers by length, format and model (shown, nothing is decided)"
LEGEND = (
    "of each the group that stands out most for its interval, of all that were looked at: with several some stand out "
    "by chance; and whoever errs at random is nearer to .50 than people are"
)
HEADER = ("judge", "dataset", "by", "group", "n", "outcome", "judge", "CI", "people", "difference", "CI")
SMALLEST_SHOWN_GROUP = 10  # answers; report.json has all
KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType({LENGTH: (LENGTH,), "format": FORMATS, MODEL: (MODEL,)})
LONGEST_NAME = 60  # characters of a model's name that a line shows
WITH: Mapping[str, str] = MappingProxyType({"list": "a list", "table": "a table", "bold": "bold words"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersByRow(OfJudge):
    """What a judge says of the answers of a dataset that have something in common, and what people say of the same.

    Told apart `by` length, something of a format, or model, they are a `group`; `words` are the fewest and the most of
    a third by length. The judge's own estimate is `judged`: of the `outcome` "passed" or "chosen" a share, of "score"
    a mean in points. `difference` is that less the estimate of people, paired.
    """

    place: ClassVar[str] = "answers_by"
    by: str = ""
    group: str = ""
    words: tuple[int, int] | None = where_any()
    n: int = 0
    clusters: int | None = where_any()
    invalid: int = 0
    outcome: str = "passed"
    judged: Estimate | None = None
    people: Estimate | None = None
    difference: Estimate | None = None

    @property
    def kind(self) -> str:
        """By what it is told apart: all of a format is one kind."""
        return next(kind for kind, of in KINDS.items() if self.by in of)


def rows_of_groups(case: Case, arms: Arms, confidence: float) -> tuple[AnswersByRow, ...]:
    """Return the rows of a judge's answers without cues: to examples in one arm, to pairs in one order or in both."""
    answers, kind = [arm for arm in arms if arm], case.judge.kind
    scale = None if kind.grades else kind.scale
    if not answers:
        return ()
    if of_one := is_of_examples(each.pair for each in answers[0]):
        groups = of_examples(answers[0], confidence, scale)
    else:
        groups = of_pairs(answers, confidence)
    outcome = ("passed" if scale is None else "score") if of_one else "chosen"
    names = {"judge": case.judge.name, "dataset": case.dataset, "outcome": outcome}
    return tuple(AnswersByRow.copied(group, group=group.name, **names) for group in groups)


# --- the report's section ---------------------------------------------------------------------------------------


def _rows(findings: Sequence[Finding]) -> list[AnswersByRow] | None:
    """Return all rows, the groups of each judge and dataset as they were made; None where there are none."""
    return sorted(rows_of(findings, AnswersByRow), key=lambda row: (row.judge, row.dataset)) or None


def _large(report: Row) -> list[AnswersByRow]:
    return [row for row in ANSWERS_BY.read_records(report) if row.n >= SMALLEST_SHOWN_GROUP]


def _tell(report: Row, _view: View) -> list[str]:
    """Return for each judge and dataset the group that stands out most by length, by format and by model."""
    apart: dict[tuple[str, str, str], list[AnswersByRow]] = {}  # what is told apart by one thing
    for row in _large(report):
        apart.setdefault((row.judge, row.dataset, row.by), []).append(row)
    found: dict[tuple[str, str, str], list[tuple[float, AnswersByRow]]] = {}
    for rows in apart.values():
        if rows[0].outcome == "chosen" or len(rows) > 1:
            row = rows[0]
            found.setdefault((row.judge, row.dataset, row.kind), []).append(_standing_out(rows))
    said = [
        f"{judge} on {dataset}, by {kind}: {_sentence(max(each, key=lambda found: found[0])[1])}"
        for (judge, dataset, kind), each in found.items()
    ]
    return [*said, LEGEND] if said else []


def _standing_out(rows: Sequence[AnswersByRow]) -> tuple[float, AnswersByRow]:
    """Return how far groups that are told apart by one thing are from what was to be expected, and which one says so.

    In widths of their intervals. Of pairs gold was to be expected, or the toss of a coin; of responses that all groups
    are alike: in how much more the judge passes than people, or where these say nothing of some, in what it says.
    """
    known = all(row.difference for row in rows)
    own = {row.group: found for row in rows if (found := row.difference if known else row.judged)}
    expected = sum(each.value * each.n for each in own.values()) / sum(each.n for each in own.values())
    if rows[0].outcome == "chosen":
        expected = 0.0 if known else 0.5
    far = {name: abs(each.value - expected) / (each.high - each.low) for name, each in own.items()}
    told = max(rows, key=lambda row: abs(own[row.group].value) if known else far[row.group])
    return max(far.values()), told


def _sentence(row: AnswersByRow) -> str:
    """Return what the judge says of a group, and what people do."""
    assert row.judged is not None
    share, what = bare(row.judged.value), _named(row)
    told = {
        "passed": f"passes {share} of {what} (n = {row.n}, {reach(row.judged)})",
        "chosen": f"chooses {what} in {share} of {row.n} pairs ({reach(row.judged)})",
        "score": f"gives {what} {share} in the mean (n = {row.n}, {reach(row.judged)})",
    }[row.outcome]
    if row.people is None:
        return told
    beside = "gold is it in" if row.outcome == "chosen" else "people pass"
    of = "" if row.people.n == row.n else f" of the {row.people.n} that they labelled"
    more = f": {signed(row.difference.value)}, {reach(row.difference)}" if row.difference else ""
    return f"{told}, {beside} {bare(row.people.value)}{of}{more}"


def _named(row: AnswersByRow) -> str:
    """Return what a group is called in a sentence."""
    one = row.outcome == "chosen"
    response = "the response" if one else "responses"
    if row.by == MODEL:
        return f"{response} by {shortened(row.group, LONGEST_NAME)}"
    if row.by == LENGTH:
        words = f" ({row.words[0]} to {row.words[1]} words)" if row.words else ""
        return f"the {row.group} {'response' if one else 'responses'}{words}"
    if row.by == PLAIN:
        return f"{response} in plain text" if row.group == HAS[True] else f"{response} with any format"
    alone = "the only response" if one else response
    return f"{alone} {'with' if row.group == HAS[True] else 'without'} {WITH.get(row.by, row.by)}"


def _table(report: Row) -> list[tuple[str, ...]]:
    rows = _large(report)
    return [HEADER, *map(_cells, rows)] if rows else []


def _cells(row: AnswersByRow) -> tuple[str, ...]:
    words = f" ({row.words[0]} to {row.words[1]} words)" if row.words else ""
    values = [bare(each.value) if each else "-" for each in (row.judged, row.people)]
    apart = signed(row.difference.value) if row.difference else "-"
    return (
        *(row.judge, row.dataset, row.by, f"{shortened(row.group, LONGEST_NAME)}{words}", str(row.n), row.outcome),
        *(values[0], limits(row.judged), values[1], apart, limits(row.difference)),
    )


ANSWERS_BY = Section("answers_by", AnswersByRow, _rows, _tell, title=TITLE, listed=True, cells=_table, folded=True)
