"""Control of a pairwise judge on clear pairs without cues."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from judgefixtures.config import ControlTable
from judgefixtures.metrics.contrast_metrics import is_right
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED
from judgefixtures.models.findings import CONTROL, DecisionPart, Finding, Row, rows_of
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm
from judgefixtures.models.text_features import feature_leanings, least_predictable_pairs
from judgefixtures.models.verdicts import InvalidKind
from judgefixtures.models.vocabulary import PLACES
from judgefixtures.parsing.config_hints import IN_WORDS
from judgefixtures.statistics.estimate import Status, pluralize
from judgefixtures.statistics.proportions import proportion

from .base import SampleRequirement
from .messages import MESSAGES
from .sections import DisplayOptions, Section, sorted_rows

ARMS: tuple[Arm, ...] = ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))
CONFIDENCE = 0.90  # two-sided, so that the lower bound is one-sided at 95%, whatever a gate's confidence is
TELLING = 0.9  # of the answers: when so many have something in common, that is what is wrong with the judge
CLEAR, CLEAR_STORIES = "house-control", "house-control-stories"
OFF = "control = false: no check verifies that this judge reads the responses, so a PASS covers its verdicts only"
TABLE = "[tool.judgefixtures.control]"  # as messages name it
IN_BOTH_ORDERS = " in both orders"  # which a judge that scores one response at a time is not shown
MOST_LOST = 0.5  # of the answers: with more invalid ones, what the others have in common is not what is wrong


def control_dataset(table: ControlTable, pairs: Sequence[Pair]) -> str:
    """Return the dataset whose clear pairs control a judge."""
    if table.dataset is not None:
        return table.dataset
    return CLEAR_STORIES if all(pair.content_type == "Story" for pair in pairs) else CLEAR


@dataclass(frozen=True, slots=True)
class FeatureExplanation:
    """A text feature, and how many choices it explains."""

    count: str
    larger: bool
    pairs: float
    orders: str = IN_BOTH_ORDERS

    def __str__(self) -> str:
        side = "larger" if self.larger else "smaller"
        return f"the {side} value wins{self.orders} on {self.pairs:g} pairs, equal values count half"


class ControlTrial(ABC):
    """A test whether judges of one kind read the responses."""

    arms: ClassVar[tuple[Arm, ...]]
    count: ClassVar[str]  # what a preflight says it is asked about
    known: ClassVar[str]  # what those of a dataset are called that it is asked about
    besides: ClassVar[str]  # what else a log has to have of them

    @abstractmethod
    def choose(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return the most suitable pairs or examples of a dataset."""

    def first(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return the first pairs of a dataset, before the rest is fetched."""
        return self.choose(pairs, wanted)

    def is_enough(self, first: Sequence[Pair]) -> bool:
        """Return whether the first pairs suffice to choose from."""
        return False

    @abstractmethod
    def need(self, judge: str, dataset: str, chosen: Sequence[Pair], table: ControlTable) -> SampleRequirement | None:
        """Return the requirement that too few chosen pairs miss, or None."""

    @abstractmethod
    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> ControlRow:
        """Return whether the judge reads, given its answers in every arm."""

    @abstractmethod
    def habit(self, answers: Sequence[Judgment]) -> str:
        """Return the constant answer that the pairs do not explain, or ""."""


class PairwiseControlTrial(ControlTrial):
    """Control of a pairwise judge: clear pairs in both orders."""

    arms: ClassVar[tuple[Arm, ...]] = ARMS
    count: ClassVar[str] = "{n} pairs of {dataset}, both orders"
    known: ClassVar[str] = "pairs of {dataset} with gold"
    besides: ClassVar[str] = "clear pairs. Set dataset in {table} to clear pairs that the log answers in both orders"

    def choose(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return pairs with gold that features predict least."""
        return least_predictable_pairs(pairs_with_gold(pairs), wanted)

    def first(self, pairs: Sequence[Pair], wanted: int) -> tuple[Pair, ...]:
        """Return the first pairs with gold."""
        return pairs_with_gold(pairs)[:wanted]

    def is_enough(self, first: Sequence[Pair]) -> bool:
        """Return whether all pairs have gold."""
        return len(pairs_with_gold(first)) == len(first)

    def need(self, judge: str, dataset: str, chosen: Sequence[Pair], table: ControlTable) -> SampleRequirement | None:
        """Return the missing pairs with gold."""
        return control_requirement(judge, dataset, len(chosen), table)

    def decide(self, judge: str, dataset: str, arms: Sequence[Sequence[Judgment]], table: ControlTable) -> ControlRow:
        """Return whether it is right in both orders."""
        own, other = arms
        return evaluate_control(judge, dataset, own, other, table.threshold)

    def habit(self, answers: Sequence[Judgment]) -> str:
        """Return the constant side, tie, error or failure, or ""."""
        return constant_answer(answers)


def pairs_with_gold(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs with gold."""
    return tuple(pair for pair in pairs if pair.gold is not None)


def control_requirement(judge: str, dataset: str, golden: int, table: ControlTable) -> SampleRequirement | None:
    """Return a control's requirement if there are too few pairs with gold."""
    limit = f"threshold {table.threshold:g}"
    need = SampleRequirement(
        f"control of {judge}", dataset, golden, table.fewest, limit, f"set dataset in {TABLE}", "pairs with gold"
    )
    return need if golden < table.fewest else None


def evaluate_control(
    judge: str, dataset: str, own: Sequence[Judgment], other: Sequence[Judgment], threshold: float
) -> ControlRow:
    """Return whether a judge reads, from clear pairs in both orders.

    PASS if the one-sided 95% Clopper-Pearson lower bound exceeds the threshold; INCONCLUSIVE if a text feature then
    explains as many choices as gold.
    """
    both = list(zip(own, other, strict=True))
    n, right = len(both), sum(is_right(a) and is_right(b) for a, b in both)
    first = sum(judgment.verdict.selected_response == 1 for judgment in (*own, *other))
    row = ControlRow(
        judge=judge, dataset=dataset, n=n, right_both_orders=right, first_selected=first, status=Status.FAIL
    )
    text = f"right{describe_orders(own)} on {right} of {n} clear pairs"
    least = min_correct_to_pass(n, threshold)
    if proportion(right, n, CONFIDENCE, "exact").low > threshold:
        best = best_feature_explanation(both)
        if best.pairs >= right:
            count = sum(_tells_better(each.pair, best) for each in own)
            return replace(
                row,
                status=Status.INCONCLUSIVE,
                cause=f"{best.count} explains its verdicts as well as the better response does",
                message=MESSAGES.follows_a_count(text, best, count, TABLE),
            )
        return replace(row, status=Status.PASS, message=f"{text} (minimum {least})")
    answers = (*own, *other) if describe_orders(own) else tuple(own)  # without orders the others are the same scores
    cause = _cause(answers, both, threshold)
    return failed_control(row, f"{text} (minimum {least})", cause, answers)


def failed_control(row: ControlRow, text: str, cause: str, answers: Sequence[Judgment]) -> ControlRow:
    """Return a failed control with its result and cause."""
    unreadable = cause == describe_invalid(answers)
    example = example_of_invalid(answers) if unreadable else ""
    message = "; ".join(filter(None, [f"{text}: {cause}", example]))
    return replace(row, message=message, cause=cause, unreadable=unreadable, example=example)


def min_correct_to_pass(n: int, threshold: float) -> int:
    """Return the correct pairs out of n that pass, n + 1 if impossible.

    >>> min_correct_to_pass(30, 0.5)
    20
    """
    passes = (k for k in range(n + 1) if proportion(k, n, CONFIDENCE, "exact").low > threshold)
    return next(passes, n + 1)


def best_feature_explanation(both: Sequence[tuple[Judgment, Judgment]]) -> FeatureExplanation:
    """Return the feature that explains most choices; equal features count as a coin."""
    tally: dict[tuple[str, bool], float] = {}
    for own, other in both:
        chosen = own.chosen if own.chosen == other.chosen else None
        for count, side in feature_leanings(own.pair).items():
            for larger in (True, False):
                tally[count, larger] = tally.get((count, larger), 0.0) + _follows(chosen, side if larger else -side)
    (count, larger), pairs = max(tally.items(), key=lambda each: each[1])
    return FeatureExplanation(count, larger, pairs, describe_orders([own for own, _ in both]))


def _follows(chosen: int | None, side: int) -> float:
    if not chosen:  # a tie, or nothing in both orders
        return 0.0
    return 0.5 if side == 0 else float((side > 0) == (chosen == 1))


def _tells_better(pair: Pair, by: FeatureExplanation) -> bool:
    side = feature_leanings(pair)[by.count] * (1 if by.larger else -1)
    return (1 if side > 0 else 2 if side < 0 else None) == pair.gold


def _cause(answers: Sequence[Judgment], both: Sequence[tuple[Judgment, Judgment]], threshold: float) -> str:
    valid = [judgment for judgment in answers if judgment.chosen is not None]
    cause = _cause_of_valid(valid, both, threshold)
    right = sum(map(is_right, valid))
    if right and proportion(right, len(valid), CONFIDENCE, "exact").low > 0.5:
        cause = cause if len(valid) >= TELLING * len(answers) else ""  # with the others it might have passed
    return describe_with_invalid(cause, len(valid), answers)


def _cause_of_valid(valid: Sequence[Judgment], both: Sequence[tuple[Judgment, Judgment]], threshold: float) -> str:
    if constant := _habit_of_valid(valid):
        return constant
    for name, sign in (("longer", 1), ("shorter", -1)):
        sized = sum(sign * _longer_by(judgment) > 0 for judgment in valid)
        if sized >= TELLING * len(valid):
            return f"the judge chose the {name} response in {sized} of {len(valid)} answers, right or wrong"
    consistent = [a for a, b in both if a.chosen and a.chosen == b.chosen]
    best = best_feature_explanation(both)
    if best.pairs >= TELLING * len(both):
        return f"{best.count} explains its verdicts, right or wrong: {best}"
    same, right = len(consistent), sum(map(is_right, consistent))
    more_often = same and proportion(right, same, CONFIDENCE, "exact").low > 0.5
    return MESSAGES.too_seldom_right(same, right, len(both), describe_orders(valid), threshold, more_often)


def describe_orders(answers: Sequence[Judgment]) -> str:
    """Return the orders that a judge saw, or ""."""
    return "" if any(judgment.verdict.scores is not None for judgment in answers) else IN_BOTH_ORDERS


def constant_answer(answers: Sequence[Judgment]) -> str:
    """Return what nearly all answers share in both orders, or ""."""
    valid = [judgment for judgment in answers if judgment.chosen is not None]
    return describe_with_invalid(_habit_of_valid(valid), len(valid), answers)


def describe_with_invalid(text: str, valid: int, answers: Sequence[Judgment]) -> str:
    """Return the text, followed or replaced by frequent invalid answers."""
    if valid >= TELLING * len(answers):
        return text
    lost = describe_invalid(answers)
    return f"{text}; also, {lost}" if text and valid > MOST_LOST * len(answers) else lost


def _habit_of_valid(valid: Sequence[Judgment]) -> str:
    verdicts, orders = [judgment.verdict for judgment in valid], describe_orders(valid)
    counts = {"tie": sum(verdict.tie for verdict in verdicts)}
    if orders:
        counts |= {name: sum(each.selected_response == number for each in verdicts) for number, name in PLACES.items()}
    counts["wrong"] = sum(not is_right(judgment) and not judgment.verdict.tie for judgment in valid)
    habit = next((name for name, count in counts.items() if count >= TELLING * len(valid)), "")
    scores = {score for judgment in valid for score in judgment.verdict.scores or ()}
    return MESSAGES.habit(habit, counts[habit], len(valid), orders, scores) if habit else ""


def describe_invalid(answers: Sequence[Judgment]) -> str:
    """Return the number and kinds of invalid answers."""
    kinds = _invalid_kinds(answers)
    if not kinds:
        return ""
    kind_counts = ", ".join(f"{kind} {count}" for kind, count in kinds)
    what = f"{sum(count for _, count in kinds)} of {pluralize(len(answers), 'answer')} are invalid ({kind_counts})"
    return f"{what}: {IN_WORDS[kinds[0][0]]}"


def example_of_invalid(answers: Sequence[Judgment]) -> str:
    """Return an example of the most frequent invalid answer, if known."""
    kinds = _invalid_kinds(answers)
    lost = [judgment for judgment in answers if kinds and judgment.verdict.invalid == kinds[0][0]]
    return next((judgment.reply.detail for judgment in lost if judgment.reply.detail), "")


def _invalid_kinds(answers: Sequence[Judgment]) -> list[tuple[InvalidKind, int]]:
    kinds = Counter(kind for judgment in answers if (kind := judgment.verdict.invalid) is not None)
    return sorted(kinds.items(), key=lambda each: (-each[1], each[0]))


def _longer_by(judgment: Judgment) -> int:
    if judgment.verdict.tie:
        return 0
    lengths = len(judgment.pair.response_1), len(judgment.pair.response_2)
    return lengths[0] - lengths[1] if judgment.chosen == 1 else lengths[1] - lengths[0]


def control_from_log(
    row: ControlRow, table: ControlTable, trial: ControlTrial, answers: Sequence[Judgment] = ()
) -> ControlRow:
    """Return the control of an imported judge from its log.

    Only a constant answer fails, unless [control] names a dataset.
    """
    if table.dataset is not None:
        return row
    message = f"{row.message}; used {trial.known.format(dataset=row.dataset)}, because {TABLE} names no dataset"
    if not row.blocks_pass or (answers and trial.habit(answers)):
        return replace(row, message=message)
    return replace(
        row,
        status=Status.NOT_APPLICABLE,
        message=f"nothing shows that this judge reads: {message}. Not necessarily {trial.besides.format(table=TABLE)}",
    )


def control_refusal(failed: ControlRow) -> str:
    """Return why a judge is not measured."""
    return MESSAGES.control_refusal(failed, TABLE)


def finding_without_control(finding: Finding, failed: ControlRow) -> Finding:
    """Return the finding of a judge that failed its control.

    FAIL if the judge does not read, INCONCLUSIVE if unknown, ERROR if not asked.
    """
    if failed.status == Status.ERROR:
        return replace(finding, diagnosis=(MESSAGES.control_not_measured(failed),))
    part = DecisionPart(CONTROL, Status(failed.status), control_refusal(failed), MESSAGES.not_reading(failed))
    lost = finding.decided_alone(part, vsr_status=Status.NOT_APPLICABLE)
    examples = [f"  {failed.example}"] if failed.example else []
    return replace(lost, diagnosis=(f"{lost.title}, see the control on {failed.dataset} in the summary", *examples))


# --- the report's section -----------------------------------------------------------------------------------


def _list_controls(findings: Sequence[Finding]) -> list[ControlRow]:
    unique = {_tell_apart(row): row for row in rows_of(findings, ControlRow)}
    return sorted_rows((unique[key] for key in sorted(unique)), ("judge", "dataset"))


def _tell_apart(row: ControlRow) -> str:
    shown_row = row if row.status != Status.ERROR else replace(row, message="")
    return json.dumps(shown_row.to_json(), sort_keys=True)


def _tell_controls(report: Row, _view: DisplayOptions) -> list[str]:
    return control_lines(CONTROLS.read_records(report))


def control_lines(rows: Iterable[ControlRow]) -> list[str]:
    """Return one line per control."""
    titled = [(row, f"control of {row.judge}{f' on {row.dataset}' if row.dataset else ''}") for row in rows]
    return [f"{what} is {row.status}: {row.message.removeprefix(f'{what}: ')}" for row, what in titled]


TITLE = "control: does the judge read the responses?"
CONTROLS = Section("controls", ControlRow, _list_controls, _tell_controls, title=TITLE)
