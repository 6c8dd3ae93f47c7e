"""Scorings: logs of judges that scored one response at a time, in rows of one response or of the two of a pair."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from judgefixtures.config import Config, JudgeTable
from judgefixtures.imports.answers import Key, Logged, Scored, bare_name, mirrored, shown_digest
from judgefixtures.imports.contents import Content, OfExamples, OfPairs, Said
from judgefixtures.imports.entries import Entry, UnusableError
from judgefixtures.material.contrasts import Condition, Order
from judgefixtures.material.pairs import Pair
from judgefixtures.reading.scores import Scale, parse_score, shown_scale
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import one_line

NUMBER = re.compile(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?", re.ASCII)
LARGEST_WHOLE = 2**53  # up to there a float holds every whole number
USUAL: tuple[tuple[int, int], ...] = ((0, 1), (1, 5), (1, 10), (0, 10), (0, 100))  # scales, in the order of trying
SHOWN = 40  # characters of a value that is not a score


def number_in(value: Any) -> float | None:
    """Return the number that a value of a row is, or that its text is; None for anything else.

    >>> number_in("0.70"), number_in(7.0), number_in("7/10"), number_in(True), number_in(float("nan"))
    (0.7, 7, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()):
        return None
    try:
        found = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    if not math.isfinite(found):
        return None
    return int(found) if found.is_integer() and abs(found) <= LARGEST_WHOLE else found


def is_of_scores(values: Sequence[Any]) -> bool:
    """Tell whether values are scores, and no grades: one of them is a number other than 0 and 1.

    >>> is_of_scores([0, "1", None]), is_of_scores([0, 0.5])
    (False, True)
    """
    return any(number not in (None, 0, 1) for number in map(number_in, values))


def likely_scale(values: Sequence[Any]) -> Scale | None:
    """Return the narrowest of the usual scales that holds all numbers, else that from the lowest to the highest.

    Its ends are written with a decimal point where not all of them are whole. None where there are no two numbers.

    >>> likely_scale([2, "5", None]), likely_scale([0.3, 0.7]), likely_scale([0, 7]), likely_scale([-2, 3])
    ((1, 5), (0.0, 1.0), (0, 10), (-2, 3))
    """
    numbers = [number for number in map(number_in, values) if number is not None]
    if not numbers:
        return None
    lowest, highest = min(numbers), max(numbers)
    usual = ((low, high) for low, high in USUAL if low <= lowest and highest <= high)
    low, high = next(usual, (lowest, highest))
    if low == high:
        return None
    return (low, high) if all(isinstance(number, int) for number in numbers) else (float(low), float(high))


def middle_of(scale: Scale) -> float:
    """Return the middle of a scale, in few digits where these lie on it.

    >>> middle_of((1, 10)), middle_of((0.0, 1.0)), middle_of((0, 100))
    (5.5, 0.5, 50)
    """
    middle = scale[0] + (scale[1] - scale[0]) / 2
    if not math.isfinite(middle):  # of ends that are further apart than a float goes
        middle = scale[0] / 2 + scale[1] / 2
    # A mark lies above the lowest score: between two that no float lies between it is the higher one.
    likely = (float(f"{middle:.6g}"), middle, scale[1])
    found = number_in(next(mark for mark in likely if scale[0] < mark <= scale[1]))
    assert found is not None
    return found


class Scorings(Content):
    """A row says scores, which are numbers of the scale of the judge's table, of one response or of two."""

    mode: ClassVar[str] = "pointwise"
    form: ClassVar[type[Logged]] = Scored

    @classmethod
    def values(cls, entries: Sequence[Entry]) -> Iterator[Any]:
        """Yield all that rows say in the fields of scores."""
        return (entry.value(name) for entry in entries for name in cls.stated)

    @classmethod
    def proposed(cls, entries: Sequence[Entry]) -> dict[str, Any]:
        """Return the scale that the scores lie on; raises JudgeFixturesError where they do not tell one."""
        values = [*cls.values(entries)]
        if scale := likely_scale(values):
            return {"scale": list(scale)}
        if told := next((number for number in map(number_in, values) if number is not None), None):
            raise JudgeFixturesError(
                f"{entries[0].row.where}: every score is {told}, which tells no scale. Say it in a table of the judge: "
                f'provider = "imported", mode = "{cls.mode}", scale = [LOWEST, HIGHEST].'
            )
        return {}

    @property
    def says(self) -> str:
        """A score, whatever is made of it."""
        return "score"

    @property
    def keys(self) -> tuple[str, ...]:
        """The mode and the scale."""
        return (*super().keys, f"scale = {json.dumps(list(self.table.scale))}")

    def score_in(self, value: Any) -> tuple[float | None, str]:
        """Return the score that a value is, or None and what is wrong with it."""
        found, (lowest, highest) = number_in(value), self.table.scale
        if found is None:
            return None, "not a number"
        if not lowest <= found <= highest:
            return None, f"outside of the scale from {shown_scale(self.table.scale)} in {self.table.heading}"
        return found, ""


class ResponseScores(OfExamples, Scorings):
    """Of one response; a row with anything else than a score, or null, cannot be used."""

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
    def is_stated(cls, entries: Sequence[Entry]) -> bool:
        """Tell whether rows have scores, and not grades in their place."""
        return is_of_scores([*cls.values(entries)])

    @classmethod
    def proposed(cls, entries: Sequence[Entry]) -> dict[str, Any]:
        """Return the scale, and for a mark its middle."""
        known = super().proposed(entries)
        return known | ({"pass_mark": float(middle_of(known["scale"]))} if known else {})

    @property
    def keys(self) -> tuple[str, ...]:
        """The mode, the scale and a mark."""
        mark = number_in(self.table.pass_mark)
        marked = () if mark is None else (f"pass_mark = {mark}  # yours: from which score on a response passes",)
        return (*super().keys, *marked)

    def of_value(self, entry: Entry) -> tuple[list[float] | None, InvalidKind | None]:
        """Return the score, or nothing."""
        value = entry.value(*self.stated)
        if value is None:
            return None, None
        found, wrong = self.score_in(value)
        if found is None:
            said = f"a score that is {wrong}, such as {one_line(repr(value))[:SHOWN]}"
            raise UnusableError(self._faults.setdefault(wrong, said))
        return [found], None

    def of_text(self, entry: Entry, answer: str) -> Said:
        """Return the score that a text states, in the form that is asked for, or that of the judge's table."""
        form = entry.request.verdict or self.table.verdict
        if form not in ("json", "brackets"):
            raise JudgeFixturesError(
                f'--verdict {form} is a form of grades, and these are {self.holds}: "json" or "brackets".'
            )
        score = parse_score(answer, "brackets" if form == "brackets" else "json", self.table.scale)
        return None if score.value is None else [score.value], score.reason, score.invalid

    def is_limited(self, config: Config) -> bool:
        """Tell whether anything is asked of agreement; without a mark there is none."""
        return self.table.pass_mark is None or super().is_limited(config)

    def counted(self, answers: Sequence[Logged], pairs: Mapping[str, Pair]) -> str:  # noqa: ARG002
        """Return how many scores there are, where they lie, how many pass, and how many are none."""
        scores = [each.said[0] for each in answers if each.said]
        more = f"; {lost} without a score" if (lost := len(answers) - len(scores)) else ""
        if not scores:
            return f"scored 0{more}"
        said = f"scored {len(scores)}, from {min(scores):g} to {max(scores):g}, mean {sum(scores) / len(scores):.3g}"
        mark = self.table.pass_mark
        if mark is None:
            return f"{said}; no pass_mark in {self.table.heading} says which pass{more}"
        passed = sum(score >= mark for score in scores)
        return f"{said}; by pass_mark = {mark:g} passed {passed}, failed {len(scores) - passed}{more}"


class PairScores(OfPairs, Scorings):
    """Of the two responses of a pair, in the order in which the row has them; nothing saw that order."""

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
        """Tell whether an accuracy is asked for; with a mark there is none."""
        return self.table.pass_mark is not None or super().is_limited(config)

    def answered(self, entry: Entry, key: Key, order: Order, pair: Pair) -> Logged:
        """Return the scores in the pair's own order: who saw none answers in both orders at once."""
        found = super().answered(entry, key, order, pair)
        if order == "12" or not isinstance(found, Scored):
            return found
        condition = bare_name(mirrored(self._known[key.condition]))
        own = key._replace(condition=condition, shown=shown_digest(pair, "12"))
        return replace(found if entry.request.own_numbers else found.turned(), key=own)

    def of_value(self, entry: Entry) -> tuple[list[float] | None, InvalidKind | None]:
        """Return both scores; nothing where one of them is lacking."""
        scores = []
        for name in self.stated:
            if not entry.has(name):
                raise entry.row.mistake(
                    f"{entry.column(name)!r} is missing: a pair has two scores, and one that is lacking is null."
                )
            value = entry.value(name)
            found, wrong = (None, "") if value is None else self.score_in(value)
            if wrong:
                raise entry.row.mistake(
                    f"{entry.column(name)} is {one_line(repr(value))[:SHOWN]}, {wrong}: it must be a score, or null "
                    "where the judge gave none."
                )
            scores.append(found)
        first, second = scores
        return (None if first is None or second is None else [first, second]), None

    def of_text(self, entry: Entry, answer: str) -> Said:  # noqa: ARG002
        """Raise JudgeFixturesError: a text states one score."""
        raise entry.row.mistake(
            "a judge's whole text has one score, and a pair has two: name the columns of both with --columns "
            "score_1=...,score_2=..."
        )

    def counted(self, answers: Sequence[Logged], pairs: Mapping[str, Pair]) -> str:  # noqa: ARG002
        """Return which of the responses has the higher score in how many pairs, and how many lack one."""
        scores = [each.said for each in answers if each.said]
        higher = Counter((a > b) - (a < b) for a, b in scores)
        more = f"; {lost} without a score" if (lost := len(answers) - len(scores)) else ""
        return f"response 1 higher in {higher[1]}, response 2 in {higher[-1]}, equal scores in {higher[0]}{more}"
