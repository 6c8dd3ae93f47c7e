"""Rows with scores of one response, or of both of a pair."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

from judgefixtures.config import Config, JudgeTable
from judgefixtures.models.contrasts import Condition, Order
from judgefixtures.models.pairs import Pair
from judgefixtures.models.verdicts import InvalidKind, Scale
from judgefixtures.parsing.scores import parse_score, scale_text
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import short_repr

from . import imported_answers
from .imported_answers import SCORES, AnswerKeyFields, AnswerKind, ImportedAnswer
from .log_rows import LogRow, UnusableRowError
from .messages import MESSAGES
from .rows_by_mode import ExampleRowFormat, PairRowFormat, RowFormat, Said

NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)
LARGEST_WHOLE = 2**53  # up to there a float holds every whole number
USUAL: tuple[tuple[int, int], ...] = ((0, 1), (1, 5), (1, 10), (0, 10), (0, 100))  # scales, in the order of trying
NO_NUMBER = "not a number"
FEW = 0.2  # of the scores: so few beyond the usual scales are mistakes, and make no scale of their own
LARGEST_SCORE = 10**9  # larger ones are mistakes, however many there are, unless a table declares the scale


def parse_number(value: Any) -> float | None:
    """Return the finite number of a value or text, or None.

    >>> parse_number("0.70"), parse_number(7.0), parse_number("7/10"), parse_number(True), parse_number(float("nan"))
    (0.7, 7, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number


def are_scores(values: Sequence[Any]) -> bool:
    """Return whether values are scores: any number besides 0 and 1.

    >>> are_scores([0, "1", None]), are_scores([0, 0.5])
    (False, True)
    """
    return any(number not in (None, 0, 1) for number in map(parse_number, values))


def likely_scale(values: Sequence[Any]) -> Scale | None:
    """Return the narrowest usual scale with all numbers, else their range.

    None for fewer than two different numbers.

    >>> likely_scale([2, "5", None]), likely_scale([0.3, 0.7]), likely_scale([0, 7]), likely_scale([-2, 3])
    ((1, 5), (0.0, 1.0), (0, 10), (-2, 3))
    """
    numbers = [number for number in map(parse_number, values) if number is not None]
    if not numbers:
        return None
    lowest, highest = min(numbers), max(numbers)
    usual = ((low, high) for low, high in USUAL if low <= lowest and highest <= high)
    low, high = next(usual, (lowest, highest))
    if low == high:
        return None
    return (low, high) if all(isinstance(number, int) for number in numbers) else (float(low), float(high))


def middle_of_scale(scale: Scale) -> float:
    """Return the middle of a scale in few digits.

    >>> middle_of_scale((1, 10)), middle_of_scale((0.0, 1.0)), middle_of_scale((0, 100))
    (5.5, 0.5, 50)
    """
    middle = scale[0] + (scale[1] - scale[0]) / 2
    if not math.isfinite(middle):  # of ends that are further apart than a float goes
        middle = scale[0] / 2 + scale[1] / 2
    # A mark lies above the lowest score: between two that no float lies between it is the higher one.
    likely = (float(f"{middle:.6g}"), middle, scale[1])
    mark_found = parse_number(next(mark for mark in likely if scale[0] < mark <= scale[1]))
    assert mark_found is not None
    return mark_found


class ScoreRows(RowFormat):
    """Rows with scores on the judge's scale."""

    kind: ClassVar[AnswerKind] = SCORES

    @classmethod
    def values(cls, entries: Sequence[LogRow]) -> Iterator[Any]:
        """Yield all values of score fields."""
        return (entry.value(name) for entry in entries for name in cls.stated)

    @classmethod
    def proposed(cls, entries: Sequence[LogRow]) -> dict[str, Any]:
        """Return the scale, or raise JudgeFixturesError."""
        values = [*cls.values(entries)]
        numbers = [(number, row) for row, number in enumerate(map(parse_number, values)) if number is not None]
        far = [(number, row) for number, row in numbers if not USUAL[-1][0] <= number <= USUAL[-1][1]]
        far = far if len(far) <= FEW * len(numbers) else [each for each in far if abs(each[0]) > LARGEST_SCORE]
        for number, row in far:
            raise entries[row // len(cls.stated)].row.mistake(MESSAGES.far_score(number, cls))
        if scale := likely_scale(values):
            return {"scale": list(scale)}
        if example := next((number for number in map(parse_number, values) if number is not None), None):
            raise JudgeFixturesError(MESSAGES.scale_unknown(entries[0].row.where, example, cls))
        return {}

    @property
    def says(self) -> str:
        """The name of the judgement: a score."""
        return "score"

    @property
    def keys(self) -> tuple[str, ...]:
        """The mode and the scale."""
        return (*super().keys, f"scale = {json.dumps(list(self.table.scale))}")

    def score_in(self, value: Any) -> tuple[float | None, str]:
        """Return the score of a value, or None and its fault."""
        number, (lowest, highest) = parse_number(value), self.table.scale
        if number is None:
            return None, "not finite" if _is_infinite(value) else NO_NUMBER
        if not lowest <= number <= highest:
            return None, f"outside the scale from {scale_text(self.table.scale)} in {self.table.heading}"
        return number, ""

    @staticmethod
    def refuse(entry: LogRow, name: str, value: Any, wrong: str) -> NoReturn:
        """Raise JudgeFixturesError for a value that is no score."""
        raise entry.row.mistake(MESSAGES.not_a_score(entry.column(name), short_repr(value), wrong))


def _is_infinite(value: Any) -> bool:
    try:
        return isinstance(value, int | float | str) and math.isinf(float(value))
    except (ValueError, OverflowError):
        return not isinstance(value, str)


class ResponseScoreRows(ExampleRowFormat, ScoreRows):
    """Rows with one response's score; rows without a number are unusable."""

    stated: ClassVar[tuple[str, ...]] = ("score",)
    holds: ClassVar[str] = "scores"
    asked: ClassVar[str] = "which score a response has"
    skips: ClassVar[bool] = True

    def __init__(self, table: JudgeTable) -> None:
        super().__init__(table)
        if table.pass_mark is None:
            self.check = "noise"  # nothing passes that could agree with a label
        self._faults: dict[str, str] = {}  # by what is wrong, with the first value of which it is

    @classmethod
    def is_stated(cls, entries: Sequence[LogRow]) -> bool:
        """Return whether rows have scores, not grades."""
        return are_scores([*cls.values(entries)])

    @classmethod
    def proposed(cls, entries: Sequence[LogRow]) -> dict[str, Any]:
        """Return the scale, with its middle as mark."""
        known = super().proposed(entries)
        return known | ({"pass_mark": float(middle_of_scale(known["scale"]))} if known else {})

    @property
    def keys(self) -> tuple[str, ...]:
        """The mode, scale and mark."""
        mark = parse_number(self.table.pass_mark)
        marked = () if mark is None else (f"pass_mark = {mark}  # choose yours: the lowest score that passes",)
        return (*super().keys, *marked)

    def of_value(self, entry: LogRow) -> tuple[list[float] | None, InvalidKind | None]:
        """Return the score, or nothing."""
        value = entry.value(*self.stated)
        if value is None:
            return None, None
        number, wrong = self.score_in(value)
        if wrong not in ("", NO_NUMBER):
            self.refuse(entry, self.stated[0], value, wrong)
        if number is None:
            fault = f"a score that is {wrong}, such as {short_repr(value)}"
            raise UnusableRowError(self._faults.setdefault(wrong, fault))
        return [number], None

    def of_text(self, entry: LogRow, answer: str) -> Said:
        """Return the score in a text."""
        score = parse_score(answer, self.notation(entry, self.table.verdict), self.table.scale)
        return None if score.value is None else [score.value], score.reason, score.invalid

    def is_limited(self, config: Config) -> bool:
        """Return whether a mark and agreement limit exist."""
        return self.table.pass_mark is None or super().is_limited(config)

    def counted(self, answers: Sequence[ImportedAnswer], pairs: Mapping[str, Pair]) -> str:  # noqa: ARG002
        """Return numbers of scores, passes and invalid scores."""
        scores = [each.said[0] for each in answers if each.said]
        more = f"; {lost} without a score" if (lost := len(answers) - len(scores)) else ""
        if not scores:
            return f"scored 0{more}"
        text = f"scored {len(scores)}, from {min(scores):g} to {max(scores):g}, mean {sum(scores) / len(scores):.3g}"
        mark = self.table.pass_mark
        if mark is None:
            return f"{text}; no pass_mark in {self.table.heading}{more}"
        passed = sum(score >= mark for score in scores)
        return f"{text}; by pass_mark = {mark:g} passed {passed}, failed {len(scores) - passed}{more}"


class PairScoreRows(PairRowFormat, ScoreRows):
    """Rows with the scores of both responses; the order had no effect."""

    stated: ClassVar[tuple[str, ...]] = ("score_1", "score_2")
    holds: ClassVar[str] = "scores of two responses"
    asked: ClassVar[str] = "which scores two responses have"

    def __init__(self, table: JudgeTable) -> None:
        super().__init__(table)
        if table.pass_mark is not None:
            self.check = "noise"  # each response passes or fails, and neither is chosen
        self._known: Mapping[str, Condition] = {}

    def conditions(self, every: Mapping[str, Condition]) -> Mapping[str, Condition]:
        """Return the conditions of pairs."""
        self._known = every
        return every

    def is_limited(self, config: Config) -> bool:
        """Return whether an accuracy limit applies."""
        return self.table.pass_mark is not None or super().is_limited(config)

    def answered(self, entry: LogRow, key: AnswerKeyFields, order: Order, pair: Pair) -> ImportedAnswer:
        """Return the scores in the pair's order."""
        answer = super().answered(entry, key, order, pair)
        if order == "12":
            return answer
        mirrored = imported_answers.mirrored_condition(self._known[key.condition])
        digest = imported_answers.shown_texts_digest(pair, "12")
        own = key._replace(condition=imported_answers.name_without_order(mirrored), shown=digest)
        return replace(answer if entry.request.own_numbers else answer.turned() or answer, key=own)

    def of_value(self, entry: LogRow) -> tuple[list[float] | None, InvalidKind | None]:
        """Return both scores, or nothing."""
        scores = []
        for name in self.stated:
            if not entry.has(name):
                raise entry.row.mistake(
                    f"{entry.column(name)!r} is missing. A pair has two scores; write null for a missing score."
                )
            value = entry.value(name)
            number, wrong = (None, "") if value is None else self.score_in(value)
            if wrong:
                self.refuse(entry, name, value, wrong)
            scores.append(number)
        first, second = scores
        return (None if first is None or second is None else [first, second]), None

    def of_text(self, entry: LogRow, answer: str) -> Said:  # noqa: ARG002
        """Raise JudgeFixturesError: a text has one score."""
        raise entry.row.mistake(
            "a whole text has one score, but a pair has two. Name both columns with --columns score_1=...,score_2=..."
        )

    def counted(self, answers: Sequence[ImportedAnswer], pairs: Mapping[str, Pair]) -> str:  # noqa: ARG002
        """Return which response scored higher, per pair."""
        scores = [each.said for each in answers if each.said]
        higher = Counter((a > b) - (a < b) for a, b in scores)
        more = f"; {lost} without a score" if (lost := len(answers) - len(scores)) else ""
        return f"response 1 higher in {higher[1]}, response 2 in {higher[-1]}, equal scores in {higher[0]}{more}"
