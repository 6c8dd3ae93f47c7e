"""The control: before anything about a judge can be a PASS, the judge has to show that it reads.

It is asked about clear pairs, without cues and in both orders. One that always chooses the same side, tosses a coin or
goes by length is right in both orders no more often than chance, and nothing else that it answers means anything. One
that counts what the better responses have more of is right and does not read: `judgefixtures.material.counts`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks.protocol import Need
from judgefixtures.checks.sections import Section, View, ordered
from judgefixtures.config import ControlTable
from judgefixtures.findings import CONTROL, Finding, Part, ReportRow, Row, rows_of
from judgefixtures.material.contrasts import NO_CUE, NO_CUE_SWAPPED
from judgefixtures.material.counts import leanings, least_telling
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.metrics import is_right
from judgefixtures.numbers.estimate import Estimate, Status, several
from judgefixtures.numbers.proportions import proportion
from judgefixtures.reading.hints import IN_WORDS
from judgefixtures.reading.verdicts import InvalidKind
from judgefixtures.words.records import unwritten, where_any

ARMS: tuple[Arm, ...] = ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))
CONFIDENCE = 0.90  # two-sided, so that the lower bound is one-sided at 95%, whatever a gate's confidence is
TELLING = 0.9  # of the answers: when so many have something in common, that is what is wrong with the judge
CLEAR, CLEAR_STORIES = "house-control", "house-control-stories"
OFF = "control = false: nothing shows that this judge reads what it judges, and a PASS is no more than its verdicts"
TABLE = "[tool.judgefixtures.control]"  # as messages name it
IN_BOTH_ORDERS = " in both orders"  # which a judge that scores one response at a time is not shown
MOST_LOST = 0.5  # of the answers: with more invalid ones, what the others have in common is not what is wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Control(ReportRow):
    """What a judge did on the clear pairs of a dataset, and what that says of it.

    `right_both_orders` counts pairs of `n`, `first_selected` the answers of 2 n that chose what stood first: None of a
    judge of one response, which has `tpr`, `tnr` and `youden`. `cause` is what is wrong with a judge that was not shown
    to read, as its items say it; `unreadable` are the answers of one of which hardly any can be read, and `example` is
    one of them, with what would read it. `command` records the control where that is all that is missing.
    """

    place: ClassVar[str] = "controls"
    judge: str = ""
    dataset: str | None = None
    n: int = 0
    right_both_orders: int | None = 0
    first_selected: int | None = 0
    status: str = Status.ERROR
    message: str = ""
    tpr: Estimate | None = where_any()
    tnr: Estimate | None = where_any()
    youden: Estimate | None = where_any()
    cause: str = unwritten("")
    unreadable: bool = unwritten(False)
    example: str = unwritten("")
    command: str = unwritten("")

    @property
    def earns_nothing(self) -> bool:
        """Whether nothing about the judge can be a PASS."""
        return self.status in (Status.FAIL, Status.INCONCLUSIVE, Status.ERROR)


def control_dataset(table: ControlTable, pairs: Sequence[Pair]) -> str:
    """Return the dataset whose clear pairs control a judge of such pairs: twins, of stories where all of them are."""
    if table.dataset is not None:
        return table.dataset
    return CLEAR_STORIES if all(pair.content_type == "Story" for pair in pairs) else CLEAR


@dataclass(frozen=True, slots=True)
class Explanation:
    """A count, larger or smaller, and on how many pairs a judge that goes by it would have chosen as this one did."""

    count: str
    larger: bool
    pairs: float
    orders: str = IN_BOTH_ORDERS

    def __str__(self) -> str:
        side = "larger" if self.larger else "smaller"
        return f"it chose the response with the {side} one{self.orders} on {self.pairs:g}, equal ones counted half"


class Trial(ABC):
    """What shows whether a judge of some kind reads: what it is asked about, in which arms, and what decides."""

    arms: ClassVar[tuple[Arm, ...]]
    count: ClassVar[str]  # what a preflight says it is asked about
    known: ClassVar[str]  # what those of a dataset are called that it is asked about
    besides: ClassVar[str]  # what else a log has to have of them

    @abstractmethod
    def choose(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return those of a dataset's pairs, or examples, that show it best."""

    def first(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return those of a dataset that is fetched: what is not looked at is not fetched, nor frozen, for this."""
        return self.choose(pairs, wanted)

    def is_enough(self, first: Sequence[Pair]) -> bool:  # noqa: ARG002
        """Tell whether the first pairs of a dataset are enough to choose from."""
        return False

    @abstractmethod
    def need(self, judge: str, dataset: str, chosen: Sequence[Pair], table: ControlTable) -> Need | None:
        """Return what it needs to be able to pass, where too few were chosen."""

    @abstractmethod
    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> Control:
        """Return whether the judge reads, from its answers in every arm."""

    @abstractmethod
    def habit(self, answers: Sequence[Judgment]) -> str:
        """Return what nearly all answers have in common that nothing they are about accounts for; empty for nothing."""


class Choosing(Trial):
    """Of a judge that chooses: clear pairs in both orders, those on which counting tells least."""

    arms: ClassVar[tuple[Arm, ...]] = ARMS
    count: ClassVar[str] = "{n} pairs of {dataset}, both orders"
    known: ClassVar[str] = "pairs of {dataset} itself that have gold"
    besides: ClassVar[str] = "clear pairs: set dataset in {table} to some that its log has answers about in both orders"

    def choose(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return the pairs with gold on which counting tells least."""
        return least_telling(golden_pairs(pairs), wanted)

    def first(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return the first pairs with gold."""
        return golden_pairs(pairs)[:wanted]

    def is_enough(self, first: Sequence[Pair]) -> bool:
        """Tell whether all of them have gold."""
        return len(golden_pairs(first)) == len(first)

    def need(self, judge: str, dataset: str, chosen: Sequence[Pair], table: ControlTable) -> Need | None:
        """Return the pairs with gold that are lacking."""
        return need_of(judge, dataset, len(chosen), table)

    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> Control:
        """Return whether it is right in both orders."""
        own, other = arms
        return control(judge, dataset, own, other, table.threshold)

    def habit(self, answers: Sequence[Judgment]) -> str:
        """Return the side, the tie, the wrong choice or the lack of any that nearly all answers have in common."""
        return habit(answers)


def golden_pairs(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs that can control a judge: those whose better response is known."""
    return tuple(pair for pair in pairs if pair.gold is not None)


def need_of(judge: str, dataset: str, golden: int, table: ControlTable) -> Need | None:
    """Return what a control needs to be able to pass, where so many pairs with gold are too few."""
    limit = f"threshold {table.threshold:g}, not even if all are right"
    need = Need(
        f"control of {judge}", dataset, golden, table.fewest, limit, f"name one with more in {TABLE}", "pairs with gold"
    )
    return need if golden < table.fewest else None


def control(judge: str, dataset: str, own: Sequence[Judgment], other: Sequence[Judgment], threshold: float) -> Control:
    """Return whether a judge reads, from its judgments on clear pairs in their own order and in the other one.

    PASS where the one-sided 95% Clopper-Pearson lower bound of being right in both orders exceeds the threshold;
    INCONCLUSIVE where it does, and a count explains the choices on as many pairs as gold does.
    """
    both = list(zip(own, other, strict=True))
    n, right = len(both), sum(is_right(a) and is_right(b) for a, b in both)
    first = sum(judgment.verdict.selected_response == 1 for judgment in (*own, *other))
    found = Control(
        judge=judge, dataset=dataset, n=n, right_both_orders=right, first_selected=first, status=Status.FAIL
    )
    said = f"right{orders_of(own)} on {right} of {n} clear pairs"
    least = fewest_right(n, threshold)
    if proportion(right, n, CONFIDENCE, "exact").low > threshold:
        best = best_explanation(both)
        if best.pairs >= right:
            told = sum(_tells_better(each.pair, best) for each in own)
            return replace(
                found,
                status=Status.INCONCLUSIVE,
                cause=f"its choices follow {best.count} as well as the better response",
                message=(
                    f"{said}, but its choices follow {best.count} as well as the better response ({best}): nothing "
                    f"shows that it reads. That count tells the better response on {told} of these pairs: set dataset "
                    f"in {TABLE} to pairs on which it does not"
                ),
            )
        return replace(found, status=Status.PASS, message=f"{said}, {least} would do: it reads")
    answers = (*own, *other) if orders_of(own) else tuple(own)  # without orders the others are the same scores
    cause = _cause(answers, both, threshold)
    return unpassed(found, f"{said} (at least {least} show that it reads)", cause, answers)


def unpassed(found: Control, said: str, cause: str, answers: Sequence[Judgment]) -> Control:
    """Return a control that was not passed, with what came of it and what is wrong; an unreadable answer is shown."""
    unreadable = cause == invalid_said(answers)
    example = example_of(answers) if unreadable else ""
    message = "; ".join(filter(None, [f"{said}: {cause}", example]))
    return replace(found, message=message, cause=cause, unreadable=unreadable, example=example)


def fewest_right(n: int, threshold: float) -> int:
    """Return on how many of n pairs a judge has to be right in both orders, n + 1 where all are not enough.

    >>> fewest_right(30, 0.5)
    20
    """
    passes = (k for k in range(n + 1) if proportion(k, n, CONFIDENCE, "exact").low > threshold)
    return next(passes, n + 1)


def best_explanation(both: Sequence[tuple[Judgment, Judgment]]) -> Explanation:
    """Return the count that explains most choices in both orders; where both responses have as many, it is a coin."""
    tally: dict[tuple[str, bool], float] = {}
    for own, other in both:
        chosen = own.chosen if own.chosen == other.chosen else None
        for count, side in leanings(own.pair).items():
            for larger in (True, False):
                tally[count, larger] = tally.get((count, larger), 0.0) + _follows(chosen, side if larger else -side)
    (count, larger), pairs = max(tally.items(), key=lambda each: each[1])
    return Explanation(count, larger, pairs, orders_of([own for own, _ in both]))


def _follows(chosen: int | None, side: int) -> float:
    """Return how far a choice is that of a count: `side` is 1 for response 1, -1 for response 2, 0 for neither."""
    if not chosen:  # a tie, or nothing in both orders
        return 0.0
    return 0.5 if side == 0 else float((side > 0) == (chosen == 1))


def _tells_better(pair: Pair, by: Explanation) -> bool:
    """Tell whether a count, larger or smaller, tells the better response of a pair."""
    side = leanings(pair)[by.count] * (1 if by.larger else -1)
    return (1 if side > 0 else 2 if side < 0 else None) == pair.gold


def _cause(answers: Sequence[Judgment], both: Sequence[tuple[Judgment, Judgment]], threshold: float) -> str:
    """Return what is wrong with a judge that does not read, as far as its answers tell."""
    valid = [judgment for judgment in answers if judgment.chosen is not None]
    said = _cause_of_valid(valid, both, threshold)
    right = sum(map(is_right, valid))
    if right and proportion(right, len(valid), CONFIDENCE, "exact").low > 0.5:
        said = said if len(valid) >= TELLING * len(answers) else ""  # with the others it might have passed
    return with_invalid(said, len(valid), answers)


def _cause_of_valid(valid: Sequence[Judgment], both: Sequence[tuple[Judgment, Judgment]], threshold: float) -> str:
    """Return what is wrong with the valid answers of a judge that does not read."""
    if found := _habit_of_valid(valid):
        return found
    for name, sign in (("longer", 1), ("shorter", -1)):
        sized = sum(sign * _longer_by(judgment) > 0 for judgment in valid)
        if sized >= TELLING * len(valid):
            return f"it chose the {name} response in {sized} of {len(valid)} answers, right or wrong"
    consistent = [a for a, b in both if a.chosen and a.chosen == b.chosen]
    best = best_explanation(both)
    if best.pairs >= TELLING * len(both):
        return f"its choices follow {best.count}, right or wrong: {best}"
    same, right, orders = len(consistent), sum(map(is_right, consistent)), orders_of(valid)
    if same and proportion(right, same, CONFIDENCE, "exact").low > 0.5:
        return (
            f"it is right more often than wrong (wrong{orders} on {same - right} pairs), and not often "
            f"enough for threshold = {threshold:g}"
        )
    if not orders:
        wrong = f"the worse response has more on {same - right} of {len(both)} pairs"
        return f"its scores are like the toss of a coin ({wrong})"
    return f"its choices are like the toss of a coin (the same response in both orders on {same} of {len(both)} pairs)"


def orders_of(answers: Sequence[Judgment]) -> str:
    """Return in how many orders a judge saw the pairs, as messages say it; empty of one that scores: it sees none."""
    return "" if any(judgment.reply.scores is not None for judgment in answers) else IN_BOTH_ORDERS


def habit(answers: Sequence[Judgment]) -> str:
    """Return what nearly all answers have in common that no pairs account for, in both orders; empty for nothing."""
    valid = [judgment for judgment in answers if judgment.chosen is not None]
    return with_invalid(_habit_of_valid(valid), len(valid), answers)


def with_invalid(said: str, valid: int, answers: Sequence[Judgment]) -> str:
    """Return what the valid answers have in common, and behind it the invalid ones where they are many.

    Where they are the most, or the others have nothing in common, they are what is wrong.
    """
    if valid >= TELLING * len(answers):
        return said
    lost = invalid_said(answers)
    return f"{said}; besides, {lost}" if said and valid > MOST_LOST * len(answers) else lost


def _habit_of_valid(valid: Sequence[Judgment]) -> str:
    """Return what nearly all valid answers have in common; empty for nothing."""
    ties, orders = sum(judgment.verdict.tie for judgment in valid), orders_of(valid)
    if ties >= TELLING * len(valid):
        did = f"called the pair a tie in {ties} of {len(valid)} answers" if orders else _gave_equal(valid, ties)
        return f"it {did}, and one response is clearly better in each of them"
    for number, place in ((1, "first"), (2, "second")) if orders else ():
        sided = sum(judgment.verdict.selected_response == number for judgment in valid)
        if sided >= TELLING * len(valid):
            return f"it chose the response that stands {place} in {sided} of {len(valid)} answers, whatever it says"
    wrong = sum(not is_right(judgment) and not judgment.verdict.tie for judgment in valid)
    if wrong >= TELLING * len(valid):
        did, what = f"chose the wrong response in {wrong} of {len(valid)} answers", "verdicts"
        if not orders:
            did, what = f"gave the worse response more on {wrong} of {len(valid)} pairs", "scores"
        return f"it {did}: are its {what} read the right way round?"
    return ""


def _gave_equal(valid: Sequence[Judgment], ties: int) -> str:
    """Return what a judge did that scores nearly all pairs alike."""
    scores = {score for judgment in valid for score in judgment.reply.scores or ()}
    if len(scores) == 1:
        return f"gave every response the same score, {scores.pop():g}, on {ties} of {len(valid)} pairs"
    return f"gave both responses the same score on {ties} of {len(valid)} pairs"


def invalid_said(answers: Sequence[Judgment]) -> str:
    """Return how many answers are invalid, of which kinds, and what the most frequent of them means."""
    kinds = _invalid_kinds(answers)
    if not kinds:
        return ""
    shown = ", ".join(f"{kind} {count}" for kind, count in kinds)
    what = f"{sum(count for _, count in kinds)} of its {several(len(answers), 'answer')} are invalid ({shown})"
    return f"{what}: {IN_WORDS[kinds[0][0]]}"


def example_of(answers: Sequence[Judgment]) -> str:
    """Return what one of the answers is of which the most are invalid for the same reason, where that is known."""
    kinds = _invalid_kinds(answers)
    lost = [judgment for judgment in answers if kinds and judgment.verdict.invalid == kinds[0][0]]
    return next((judgment.reply.detail for judgment in lost if judgment.reply.detail), "")


def _invalid_kinds(answers: Sequence[Judgment]) -> list[tuple[InvalidKind, int]]:
    """Return the kinds of invalid answers with their counts, the most frequent first."""
    kinds = Counter(kind for judgment in answers if (kind := judgment.verdict.invalid) is not None)
    return sorted(kinds.items(), key=lambda each: (-each[1], each[0]))


def _longer_by(judgment: Judgment) -> int:
    """Return by how many characters the chosen response is longer than the other; 0 for a tie."""
    if judgment.verdict.tie:
        return 0
    lengths = len(judgment.pair.response_1), len(judgment.pair.response_2)
    return lengths[0] - lengths[1] if judgment.chosen == 1 else lengths[1] - lengths[0]


def of_log(found: Control, table: ControlTable, trial: Trial, answers: Sequence[Judgment] = ()) -> Control:
    """Return the control of an imported judge, that nobody can ask about clear pairs, from its `answers`.

    Unless [control] names a dataset of its log it is about what the log has, and that may be hard: then only a habit
    that nothing of it accounts for is a FAIL, and that nothing shows that it reads is said.
    """
    if table.dataset is not None:
        return found
    message = f"{found.message} (on {trial.known.format(dataset=found.dataset)}: {TABLE} names no dataset)"
    if not found.earns_nothing or (answers and trial.habit(answers)):
        return replace(found, message=message)
    return replace(
        found,
        status=Status.NOT_APPLICABLE,
        message=f"nothing shows that this judge reads: {message}. They need not be {trial.besides.format(table=TABLE)}",
    )


def refusal(failed: Control) -> str:
    """Return why nothing is measured of a judge."""
    return (  # a message may end in a command, which is copied as it stands: nothing comes after it
        f"nothing about {failed.judge} can be a PASS until it passes its control ({TABLE}), "
        f"which is {failed.status} on {failed.dataset}: {failed.message}"
    )


def refused(finding: Finding, failed: Control) -> Finding:
    """Return the finding of an item that is lost because its judge did not pass its control.

    One that does not read is a FAIL, and an INCONCLUSIVE one that nothing shows to read: the summary says once what was
    asked. What could not be asked stays an ERROR.
    """
    nothing = f"nothing about {failed.judge} can be a PASS"
    if failed.status == Status.ERROR:
        said = f"{nothing}: its control could not be measured on {failed.dataset}, see the summary"
        return replace(finding, diagnosis=(f"{said}. Record: {failed.command}" if failed.command else said,))
    does = f"{failed.judge} does not read what it judges"
    if failed.status == Status.INCONCLUSIVE or failed.unreadable:
        does = f"nothing shows that {failed.judge} reads what it judges"
    plain = f"{does}: {failed.cause or failed.message}; {nothing}"
    part = Part(CONTROL, Status(failed.status), refusal(failed), plain)
    found = finding.decided_alone(part, vsr_status=Status.NOT_APPLICABLE)
    shown = [f"  {failed.example}"] if failed.example else []
    return replace(found, diagnosis=(f"{found.title}, by the control on {failed.dataset}: see the summary", *shown))


# --- the report's section -----------------------------------------------------------------------------------


def _list_controls(findings: Sequence[Finding]) -> list[Control]:
    """Return each control once: all items of a judge share it, and another judge of that name has one of its own."""
    unique = {_tell_apart(row): row for row in rows_of(findings, Control)}
    return ordered((unique[key] for key in sorted(unique)), ("judge", "dataset"))


def _tell_apart(row: Control) -> str:
    """Return what tells a control from others; the message of an ERROR names the item that came across it first."""
    found = row if row.status != Status.ERROR else replace(row, message="")
    return json.dumps(found.to_json(), sort_keys=True)


def _tell_controls(report: Row, _view: View) -> list[str]:
    return control_lines(CONTROLS.read_records(report))


def control_lines(rows: Iterable[Control]) -> list[str]:
    """Return what came of controls, a line each."""
    said = [(row, f"control of {row.judge}{f' on {row.dataset}' if row.dataset else ''}") for row in rows]
    return [f"{what} is {row.status}: {row.message.removeprefix(f'{what}: ')}" for row, what in said]


CONTROLS = Section(
    "controls", Control, _list_controls, _tell_controls, title="control: does the judge read what it judges?"
)
