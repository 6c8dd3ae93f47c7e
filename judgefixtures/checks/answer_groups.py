"""Answers grouped by length, format and model, compared with people's labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from judgefixtures.metrics.groupings import LENGTH, example_groups, pair_groups
from judgefixtures.models.findings import Finding, JudgeRow, Row, rows_of
from judgefixtures.models.pairs import MODEL, are_examples
from judgefixtures.models.record import omit_default
from judgefixtures.models.text_features import FORMATS
from judgefixtures.statistics.estimate import Estimate, format_share, format_signed

from .base import Arms, CheckInput
from .formatting import interval_cell, shorten
from .messages import MESSAGES
from .sections import DisplayOptions, Section

TITLE = "answers by length, format and model (shown only)"
LEGEND = (
    "Each line shows the most unusual of all groups, so some differences are chance; random errors also move a rate "
    "towards 0.50"
)
HEADER = ("judge", "dataset", "by", "group", "n", "outcome", "judge", "CI", "people", "difference", "CI")
SMALLEST_SHOWN_GROUP = 10  # answers; report.json has all
KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType({LENGTH: (LENGTH,), "format": FORMATS, MODEL: (MODEL,)})
LONGEST_NAME = 60  # characters of a model's name that a line shows


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersByRow(JudgeRow):
    """Answers of a judge and of people, by length, format or model; shown only.

    Told apart `by` length, something of a format, or model, they are a `group`; `words` are the fewest and the most of
    a third by length. The judge's own estimate is `judged`: of the `outcome` "passed" or "chosen" a share, of "score"
    a mean in points. `difference` is that less the estimate of people, paired.
    """

    place: ClassVar[str] = "answers_by"
    by: str = ""
    group: str = ""
    words: tuple[int, int] | None = omit_default()
    n: int = 0
    clusters: int | None = omit_default()
    invalid: int = 0
    outcome: str = "passed"
    judged: Estimate | None = None
    people: Estimate | None = None
    difference: Estimate | None = None

    @property
    def kind(self) -> str:
        """The kind of grouping."""
        return next(kind for kind, of in KINDS.items() if self.by in of)


def group_rows(case: CheckInput, arms: Arms, confidence: float) -> tuple[AnswersByRow, ...]:
    """Return the rows of a judge's answers without cues."""
    answers, kind = [arm for arm in arms if arm], case.judge.kind
    scale = None if kind.grades else kind.scale
    if not answers:
        return ()
    if of_one := are_examples(each.pair for each in answers[0]):
        groups = example_groups(answers[0], confidence, scale)
    else:
        groups = pair_groups(answers, confidence)
    outcome = ("passed" if scale is None else "score") if of_one else "chosen"
    names = {"judge": case.judge.name, "dataset": case.dataset, "outcome": outcome}
    return tuple(AnswersByRow.from_sources(group, group=group.name, **names) for group in groups)


# --- the report's section ---------------------------------------------------------------------------------------


def _rows(findings: Sequence[Finding]) -> list[AnswersByRow] | None:
    return sorted(rows_of(findings, AnswersByRow), key=lambda row: (row.judge, row.dataset)) or None


def _large(report: Row) -> list[AnswersByRow]:
    return [row for row in ANSWERS_BY.read_records(report) if row.n >= SMALLEST_SHOWN_GROUP]


def _tell(report: Row, _view: DisplayOptions) -> list[str]:
    apart: dict[tuple[str, str, str], list[AnswersByRow]] = {}  # what is told apart by one thing
    for row in _large(report):
        apart.setdefault((row.judge, row.dataset, row.by), []).append(row)
    by_subject: dict[tuple[str, str, str], list[tuple[float, AnswersByRow]]] = {}
    for rows in apart.values():
        if rows[0].outcome == "chosen" or len(rows) > 1:
            row = rows[0]
            by_subject.setdefault((row.judge, row.dataset, row.kind), []).append(_standing_out(rows))
    lines = [
        f"{judge} on {dataset}, by {kind}: {MESSAGES.group(max(each, key=lambda by_subject: by_subject[0])[1])}"
        for (judge, dataset, kind), each in by_subject.items()
    ]
    return [*lines, LEGEND] if lines else []


def _standing_out(rows: Sequence[AnswersByRow]) -> tuple[float, AnswersByRow]:
    known = all(row.difference for row in rows)
    own = {row.group: estimate for row in rows if (estimate := row.difference if known else row.judged)}
    expected = sum(each.value * each.n for each in own.values()) / sum(each.n for each in own.values())
    if rows[0].outcome == "chosen":
        expected = 0.0 if known else 0.5
    far = {name: abs(each.value - expected) / (each.high - each.low) for name, each in own.items()}
    row_to_show = max(rows, key=lambda row: abs(own[row.group].value) if known else far[row.group])
    return max(far.values()), row_to_show


def _table(report: Row) -> list[tuple[str, ...]]:
    rows = _large(report)
    return [HEADER, *map(_cells, rows)] if rows else []


def _cells(row: AnswersByRow) -> tuple[str, ...]:
    words = MESSAGES.of_words(row)
    values = [format_share(each.value) if each else "-" for each in (row.judged, row.people)]
    apart = format_signed(row.difference.value) if row.difference else "-"
    return (
        *(row.judge, row.dataset, row.by, f"{shorten(row.group, LONGEST_NAME)}{words}", str(row.n), row.outcome),
        *(values[0], interval_cell(row.judged), values[1], apart, interval_cell(row.difference)),
    )


ANSWERS_BY = Section("answers_by", AnswersByRow, _rows, _tell, title=TITLE, listed=True, cells=_table)
