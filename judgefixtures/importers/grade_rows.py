"""Rows of logs whose judge passed or failed one response at a time."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from judgefixtures.config import JudgeTable
from judgefixtures.models.pairs import Pair
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.parsing.grades import parse_grade
from judgefixtures.util.texts import short_repr

from .imported_answers import GRADE, AnswerKind, ImportedAnswer
from .log_rows import LogRow
from .messages import MESSAGES
from .rows_by_mode import ExampleRowFormat, Said


class GradeRows(ExampleRowFormat):
    """Rows that pass or fail one response.

    Unknown words are invalid grades; unknown numbers are an error.
    """

    kind: ClassVar[AnswerKind] = GRADE
    stated: ClassVar[tuple[str, ...]] = (GRADE.field,)
    holds: ClassVar[str] = "grades"
    asked: ClassVar[str] = "whether a response passed"

    def __init__(self, table: JudgeTable) -> None:
        super().__init__(table)
        self._unread: list[tuple[str, LogRow]] = []  # values that say neither, and where
        self._read = 0
        self._words: dict[str, bool | None] = {}  # what each word says: many rows have few

    def of_value(self, entry: LogRow) -> tuple[bool | None, InvalidKind | None]:
        """Return whether it passed, or nothing."""
        value = entry.value(*self.stated)
        if value is None:
            return None, None
        quoted, column = short_repr(value), entry.column(*self.stated)
        if isinstance(value, list | dict):
            raise entry.row.mistake(MESSAGES.not_a_grade(column, quoted))
        word = value if isinstance(value, str) else json.dumps(value)
        if word not in self._words:
            self._words[word] = parse_grade(word, "word", self.table.labels).passed
        passed = self._words[word]
        if passed is not None:
            self._read += 1
            return passed, None
        if _is_number(value):
            raise entry.row.mistake(MESSAGES.score_for_grade(column, quoted, self.table.heading, GRADE.field))
        self._unread.append((quoted, entry))
        return None, "not-a-choice"

    def of_text(self, entry: LogRow, answer: str) -> Said:
        """Return the grade in a text."""
        table = self.table
        form = entry.request.verdict or table.verdict
        grade = parse_grade(answer, form, table.labels, table.grade_field if form == "json" else None)
        return grade.passed, grade.reason, grade.invalid

    def check_read(self) -> None:
        """Raise JudgeFixturesError if no word is a grade."""
        if self._read or not self._unread:
            return
        quoted, entry = self._unread[0]
        raise entry.row.mistake(
            MESSAGES.grade_words_unknown(entry.column(*self.stated), quoted, self.table.heading, GRADE.field)
        )

    def remarks(self) -> tuple[tuple[str, str], ...]:
        """Return the words that are no grades."""
        return tuple((f"{quoted} says neither pass nor fail", entry.row.where) for quoted, entry in self._unread)

    def counted(self, answers: Sequence[ImportedAnswer], pairs: Mapping[str, Pair]) -> str:  # noqa: ARG002
        """Return numbers of passes, fails and invalid grades."""
        counts = Counter(each.said for each in answers)
        more = f"; {counts[None]} without a grade" if counts[None] else ""
        return f"passed {counts[True]}, failed {counts[False]}{more}"


class ZeroOneScoreRows(GradeRows):
    """Grades written as scores 0 and 1."""

    stated: ClassVar[tuple[str, ...]] = ("score",)


def _is_number(value: object) -> bool:
    try:
        return math.isfinite(float(value)) if isinstance(value, int | float | str) else False
    except (ValueError, OverflowError):
        return False
