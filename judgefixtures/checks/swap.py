"""Swap check: is the candidate no worse than the baseline in one part?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

from judgefixtures.client.costs import Cost, maximum_cost
from judgefixtures.config import Config, JudgeTable, SwapTable
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.mode import JudgeMode
from judgefixtures.metrics import contrast_metrics as metrics
from judgefixtures.metrics.expenses import compare_expenses
from judgefixtures.metrics.label_agreement import agrees_with_label
from judgefixtures.metrics.movable_pairs import movable_share
from judgefixtures.metrics.reasons import is_unreadable_reason, read_acknowledgment
from judgefixtures.models.agreement_rows import human_label
from judgefixtures.models.contrasts import NO_CUE, NO_CUE_SWAPPED, Contrast, SingleResponseCondition, arm_name
from judgefixtures.models.findings import DecisionPart, Finding, deciding_parts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm
from judgefixtures.models.side_by_side_rows import CorrectPairs
from judgefixtures.models.swap_rows import (
    CellKind,
    ComparedSwapPart,
    ComponentRow,
    ExpenseRow,
    ExtraPairCostRow,
    JudgeDifferenceRow,
    PlannedSwapPart,
    SwapRow,
)
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, PLACES, vocabulary_for, wording_of
from judgefixtures.prompts.templates import LAYOUTS
from judgefixtures.statistics.agreement import FEWEST_OF_A_CLASS
from judgefixtures.statistics.clusters import score_test
from judgefixtures.statistics.elementary import z_quantile
from judgefixtures.statistics.estimate import Status, worst_status
from judgefixtures.statistics.power import smallest_n, smallest_passing_n
from judgefixtures.swap import SwapAccuracy, SwapContrast, guard_margin, guards
from judgefixtures.swap.cells import Arms as Outcomes
from judgefixtures.swap.margins import dataset_margin
from judgefixtures.swap.pooling import FEWEST_COMPLETE
from judgefixtures.util.errors import JudgeFixturesError

from .accuracy import NO_GOLD, correct_pairs, count_with_gold
from .base import Answers, Arms, Check, CheckId, CheckInput, MinimumPairs, SampleRequirement
from .contrast_row import arm_columns
from .edit import attacked_examples
from .human_agreement import label_counts, labelled_examples, min_labels_of_class
from .messages import MESSAGES
from .swap_descriptive import DescriptiveQuantity, agreement, compare_car, compare_silent

# Of a baseline: a candidate moves more than a judge that cannot, and is no worse for it.
NOTHING_TO_COMPARE = ", and the candidate has nothing to be compared with"
REPEATED: tuple[Arm, ...] = ((NO_CUE, 0), (NO_CUE, 1))  # arms that differ in nothing


@dataclass(frozen=True, slots=True)
class SwapCheck(Check):
    """Check that a candidate is no worse in a contrast or, with None, accuracy.

    Attributes:
        cells: The number of contrasts on datasets in the swap.
    """

    contrast: Contrast | None = None
    cells: int = 1
    graded: bool = field(default=False, compare=False)  # of judges of one response
    kind: ClassVar[str] = "swap"
    repeats = 1

    @property
    def name(self) -> str:
        """The contrast's id, or `accuracy`."""
        return self.contrast.id if self.contrast else "accuracy"

    @property
    def family(self) -> str:
        """The contrast's family, or `accuracy`."""
        return self.contrast.family if self.contrast else "accuracy"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Both arms; for accuracy both orders or the plain grade."""
        if self.contrast is None:
            return ((SingleResponseCondition(), 0),) if self.graded else ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))
        return self.contrast.arms

    def for_mode(self, judge: type[JudgeMode], pairs: Sequence[Pair]) -> Self:
        """Return the comparison for the judges' mode."""
        contrast = self.contrast and judge.contrast(self.contrast, pairs)
        return replace(self, contrast=contrast, graded=judge.grades)

    def select_pairs(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return, for an attack, the examples labelled fail."""
        return attacked_examples(pairs) if self.family == "attack" else pairs

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Return whether the comparison applies to these judges and pairs."""
        if self.contrast is None:
            return judge.kind.grades or count_with_gold(pairs) > 0
        if self.contrast.is_of_prompts:
            return not LAYOUTS[judge.table.mode].shows_both
        return not (self.contrast.is_of_orders and judge.kind.grades)

    def skip_reason(self, case: CheckInput) -> str:
        """Return why there is no gold or order, or "".

        Raises:
            JudgeFixturesError: The judges cannot be compared.
        """
        check_comparable(case.judge, case.judges[-1], case.pairs)
        if self.contrast:
            return next(filter(None, (judge.kind.excuse(self.contrast) for judge in case.judges)), "")
        return "" if self.graded or count_with_gold(case.pairs) else NO_GOLD.format(dataset=case.dataset)

    def neutral_arms(self, case: CheckInput, judge: Judge) -> tuple[Arm, ...]:
        """Return the baseline's repeats."""
        return REPEATED if self.contrast and judge is case.baseline else ()

    def fewest(self, config: Config, pairs: Sequence[Pair]) -> MinimumPairs:
        """Return the minimum pairs or labels, given the classes in `pairs`."""
        alpha, swap = config.default_gate.alpha, config.swap
        if self.contrast is None:
            right = _fewest_right(dataset_margin(swap), alpha)
            return _fewest_of_graders(right, label_counts(pairs), swap, alpha) if self.graded else right

        def passes(n: int) -> bool:
            return n >= smallest_n(guard_margin(n, self.cells, swap, alpha=alpha), alpha)

        return MinimumPairs(FEWEST_COMPLETE, max(FEWEST_COMPLETE, smallest_passing_n(passes)))

    def counted(self, pairs: Sequence[Pair]) -> int:
        """Return the number of pairs that count."""
        if self.contrast:
            return len(pairs)
        return (len(labelled_examples(pairs)) or len(pairs)) if self.graded else count_with_gold(pairs)

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the pairs that the best candidate needs."""
        what, limit, of_labels = f"swap {self.name}", "the margins of a swap", label_counts(pairs)
        if self.contrast is None and any(of_labels) and (few := min_labels_of_class(what, dataset, of_labels, limit)):
            return few
        n, least = self.counted(pairs), self.fewest(config, pairs).any
        return SampleRequirement(what, dataset, n, least, limit, "use more", vocabulary_for(pairs).many).unmet

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of both judges' answers."""
        gate, (ours, theirs) = case.config.default_gate, (each.arms for each in answers)
        part, lacking = self._part(case, ours, theirs)
        shared = {"invalid": _invalid(ours), "same": _same(case, ours, theirs)}
        clusters = {pair.id: pair.cluster for pair in case.pairs if pair.cluster is not None}
        flips = _flips(answers[1])
        components: tuple[ComponentRow, ...] = ()
        if part is not None:
            related = {(case.dataset, pair): label for pair, label in clusters.items()}
            components, reasons_of_guards = guards(
                part, self.cells, case.config.swap, alpha=gate.alpha, baseline_flips=flips, clusters=related
            )
            lacking = (*lacking, *reasons_of_guards)
        descriptive = self._compare_beside(ours, theirs, gate.confidence)
        planned = self.plan(case.judge.name, case.judges[-1].name, case.dataset)
        differing = _differences(planned, ours, theirs)
        status = worst_status(*(each.status for each in components), *([Status.INCONCLUSIVE] if lacking else []))
        reasons = (*lacking, *(each.message for each in components), *(each.message for each in descriptive))
        sides = arm_columns(self.contrast) if self.contrast else {}
        rows = (
            *(
                SwapRow.from_sources(
                    *(planned, each),
                    **{"quantity": self._quantity(each), "p": each.p_pass, **({} if number else sides)},
                )
                for number, each in enumerate(components)
            ),
            *(SwapRow.from_sources(each, each.estimate, planned, status=Status.NOT_APPLICABLE) for each in descriptive),
        )
        expenses = compare_expenses(ours, theirs, [judge.table for judge in case.judges])
        parts = (
            *(DecisionPart("unmeasured", Status.INCONCLUSIVE, why) for why in lacking),
            *(DecisionPart("swap", each.status, each.message, estimate=each.estimate) for each in components),
        )
        return self.finding(
            case,
            status,
            reasons=reasons,
            diagnosis=_diagnose(self.name, status, reasons, differing, case),
            rows={
                "swap": rows,
                "expenses": (ExpenseRow.from_sources(planned, expenses),),
                "differences": tuple(differing),
            },
            evidence={
                # No more can be asked of a log: what more pairs would cost is not to be had.
                "prices": (self._price(case, planned),) if all(who.kind.is_asked for who in case.judges) else (),
                "swap_parts": (_found_part(planned, case, part, lacking, clusters, flips, **shared),),
                **({} if self.contrast or self.graded else {"rights": _rights_of_both(case, ours, theirs)}),
            },
            estimate=components[0].estimate if components else None,
            alpha=gate.alpha,
            decided_by=deciding_parts(parts, status),
        )

    def plan(self, judge: str, baseline: str, dataset: str) -> PlannedSwapPart:
        """Return this part of the swap."""
        contrast = self.contrast.id if self.contrast else None
        return PlannedSwapPart(
            judge=judge,
            baseline=baseline,
            dataset=dataset,
            family=self.family,
            contrast=contrast,
            kind=self.cell_kind,
            graded=self.graded,
        )

    def _quantity(self, component: ComponentRow) -> str:
        return "moved-to-edited" if self.contrast and self.contrast.x.edit else component.kind

    def _part(
        self, case: CheckInput, ours: Arms, theirs: Arms
    ) -> tuple[SwapContrast | SwapAccuracy | None, tuple[str, ...]]:
        if self.contrast is None:
            return (_agreement if self.graded else _accuracy)(case.dataset, ours, theirs), ()
        ids, kind = [pair.id for pair in case.pairs], self.cell_kind
        assert kind is not None
        (own, admits, lost), (its, its_admits, its_lost) = (_cell(arms, self.contrast) for arms in (ours, theirs))
        cell = SwapContrast(
            self.family, self.name, case.dataset, ids, own, its, admits, its_admits, kind, lost, its_lost
        )
        stuck = [
            f"{cell.id}: the {who} {did}{more}"
            for who, arms, more in (("candidate", ours, ""), ("baseline", theirs, NOTHING_TO_COMPARE))
            if (did := self._stuck(arms))
        ]
        return (None if stuck else cell), tuple(stuck)

    def _stuck(self, arms: Arms) -> str:
        assert self.contrast is not None
        words = wording_of(self.contrast.outcome)
        side = metrics.constant_side(arms, (1, 2, 0) if self.contrast.outcome in ("chose-first", "passed") else (0,))
        if side is None:
            return ""
        return MESSAGES.stuck(words, side, self.graded, PLACES.get(side))

    @property
    def cell_kind(self) -> CellKind | None:
        """The kind of its cell; None for accuracy."""
        if self.contrast is None:
            return None
        return "edit" if self.contrast.x.edit else "cue" if self.contrast.x.cue_1 else "order"

    def _compare_beside(self, ours: Arms, theirs: Arms, confidence: float) -> tuple[DescriptiveQuantity, ...]:
        words = OF_EXAMPLES if self.graded else OF_PAIRS
        same = agreement([j for arm in ours for j in arm], [j for arm in theirs for j in arm], confidence, words)
        if self.contrast is None or self.contrast.x.cue_1 is None:
            return same
        both = (ours[0], ours[1]), (theirs[0], theirs[1])
        silent, car = (compare(*both, self.contrast, confidence) for compare in (compare_silent, compare_car))
        return (*silent, *car, *same)

    def _price(self, case: CheckInput, planned: PlannedSwapPart) -> ExtraPairCostRow:
        costs = [
            maximum_cost(
                who.table, (who.kind.longest_prompt(pair, arm) for pair in case.pairs for arm, _ in who.asks(self.arms))
            )
            for who in case.judges
        ]
        usd, n = sum(costs, Cost(0, 0, 0, 0.0)).usd, len(case.pairs)
        return ExtraPairCostRow.from_sources(planned, pairs=n, arms=len(self.arms), usd_a_pair=usd and usd / n)

    def error_finding(self, case: CheckInput, message: str) -> Finding:
        """Return the ERROR of the comparison."""
        quantity = "accuracy"
        if self.contrast:
            quantity = "moved-to-edited" if self.contrast.x.edit else "abs-vsr"
        planned = self.plan(case.judge.name, case.judges[-1].name, case.dataset)
        finding = self.error(case, message, SwapRow.from_sources(planned, quantity=quantity, message=message))
        finding = finding.with_evidence(swap_parts=[_found_part(planned, case, None, [message])])
        return replace(finding, alpha=case.config.default_gate.alpha)


def _as_grades(ours: Judgment, theirs: Judgment) -> dict[str, Any]:
    passed = [each.verdict.passed for each in (ours, theirs)]
    return {"label": human_label(ours.pair), "judge_passed": passed[0], "baseline_passed": passed[1]}


def _fewest_right(margin: float, alpha: float) -> MinimumPairs:
    z_pass = z_quantile(1 - alpha)
    return MinimumPairs(smallest_passing_n(lambda n: score_test({1.0: n}, -margin) > z_pass), smallest_n(margin, alpha))


def _fewest_of_graders(right: MinimumPairs, counts: tuple[int, int], swap: SwapTable, alpha: float) -> MinimumPairs:
    same, rate = smallest_n(swap.pass_rate_margin, alpha), _fewest_right(swap.rate_margin, alpha)
    if not any(counts):
        return MinimumPairs(same, same)
    least, alike = (_with_so_many(counts, max(FEWEST_OF_A_CLASS, each)) for each in (rate.any, rate.equal))
    return MinimumPairs(max(right.any, same, least), max(right.equal, same, alike))


def _with_so_many(counts: tuple[int, int], each: int) -> int:
    if lacks := sum(max(each - count, 0) for count in counts):
        return sum(counts) + lacks
    return math.ceil(each * sum(counts) / min(counts))


def check_comparable(candidate: Judge, baseline: Judge, pairs: Sequence[Pair] = ()) -> None:
    """Check that two judges answer the same question.

    Raises:
        JudgeFixturesError: They are not comparable.
    """
    grader, other = sorted((candidate, baseline), key=lambda judge: not judge.kind.grades)
    if grader.kind.grades and not other.kind.grades:
        raise JudgeFixturesError(MESSAGES.not_comparable(grader, other))
    for judge in (candidate, baseline):
        if not judge.kind.chooses(pairs):
            raise JudgeFixturesError(MESSAGES.swap_without_mark(judge))


def check_of_swap_part(subject: CheckId) -> SwapCheck:
    """Return the check of a swap part."""
    assert isinstance(subject.check, SwapCheck)
    return subject.check


def planned_swap_part(subject: CheckId) -> PlannedSwapPart:
    """Return a subject's part of the swap."""
    return check_of_swap_part(subject).plan(subject.judge, str(subject.baseline), subject.dataset)


def _same(case: CheckInput, ours: Arms, theirs: Arms) -> Literal["", "judge", "answers"]:
    if case.judge.identity == case.judges[-1].identity:
        return "judge"
    both = zip((each for arm in ours for each in arm), (each for arm in theirs for each in arm), strict=True)
    return "answers" if all(a.verdict == b.verdict for a, b in both) else ""


def _rights_of_both(case: CheckInput, ours: Arms, theirs: Arms) -> tuple[CorrectPairs, ...]:
    both = zip(case.judges, (ours[0], theirs[0]), strict=True)
    return tuple(correct_pairs(judge.name, case.dataset, own, baseline=judge is case.baseline) for judge, own in both)


def _found_part(
    planned: PlannedSwapPart,
    case: CheckInput,
    part: SwapContrast | SwapAccuracy | None,
    lacking: Sequence[str],
    clusters: Mapping[str, str] = MappingProxyType({}),
    flips: float | None = None,
    **more: Any,
) -> ComparedSwapPart:
    return ComparedSwapPart.from_sources(
        planned,
        part=None if part is None else asdict(part),
        lacking=tuple(lacking),
        swap=case.config.swap.model_dump(),
        alpha=case.config.default_gate.alpha,
        clusters=clusters,
        flips=flips,
        **more,
    )


def _invalid(arms: Arms) -> tuple[tuple[str, str], ...]:
    invalid = [each for arm in arms for each in arm if each.verdict.invalid]
    return tuple((arm_name(each.condition, each.repeat), each.pair.id) for each in invalid)


def _cell(arms: Arms, contrast: Contrast) -> tuple[list[Outcomes], list[bool], list[bool]]:
    both, outcome = list(zip(*arms, strict=True)), contrast.outcome
    outcomes = [(metrics.outcome_number(x, outcome), metrics.outcome_number(y, outcome)) for x, y in both]
    cued = contrast.x.cue_1 is not None
    lost = [[cued and is_unreadable_reason(each) for each in pair] for pair in both]
    admits = [
        cued and any(read_acknowledgment(each) == "cited" and not gone for each, gone in zip(pair, unread, strict=True))
        for pair, unread in zip(both, lost, strict=True)
    ]
    return outcomes, admits, [any(unread) and not cites for unread, cites in zip(lost, admits, strict=True)]


def _agreement(dataset: str, ours: Arms, theirs: Arms) -> SwapAccuracy:
    examples = [judgment.pair for judgment in ours[0]]
    labels = [human_label(example) for example in examples]
    right = [
        [
            float(agrees_with_label(judgment) if label else judgment.selected == 1)
            for judgment, label in zip(arms[0], labels, strict=True)
        ]
        for arms in (ours, theirs)
    ]
    alike = metrics.constant_side(theirs, (1, 2)) is not None
    return SwapAccuracy(dataset, [example.id for example in examples], right[0], right[1], labels, alike)


def _accuracy(dataset: str, ours: Arms, theirs: Arms) -> SwapAccuracy:
    ids = [judgment.pair.id for judgment in ours[0] if judgment.pair.gold is not None]
    shares = [
        [
            sum(map(metrics.correctness, both)) / len(both)
            for both in zip(*arms, strict=True)
            if both[0].pair.gold is not None
        ]
        for arms in (ours, theirs)
    ]
    return SwapAccuracy(dataset, ids, shares[0], shares[1])


def _flips(baseline: Answers) -> float | None:
    repeats = [baseline.indifferent.get(arm_name(*arm), {}) for arm in REPEATED]
    share = movable_share(repeats, repeats[0])
    return None if share is None else share.value


def _diagnose(
    name: str, status: Status, reasons: Sequence[str], differing: Sequence[JudgeDifferenceRow], case: CheckInput
) -> tuple[str, ...]:
    judge, baseline = (each.name for each in case.judges)
    title = f"{judge} against {baseline} on {case.dataset}: {name} is {status}"
    words = OF_EXAMPLES if differing and differing[0].graded else OF_PAIRS
    reason_lines = (f"  {reason}" for reason in reasons)
    return (title, *reason_lines, *MESSAGES.lines("differences", differing, words, judge, baseline))


def _differences(planned: PlannedSwapPart, ours: Arms, theirs: Arms) -> list[JudgeDifferenceRow]:
    return [
        JudgeDifferenceRow.from_sources(
            planned,
            pair=a.pair.id,
            condition=a.condition.name,
            repeat=a.repeat,
            gold=a.pair.gold,
            judge_chosen=a.chosen,
            judge_invalid=a.verdict.invalid,
            judge_reason=a.verdict.reason,
            baseline_chosen=b.chosen,
            baseline_invalid=b.verdict.invalid,
            baseline_reason=b.verdict.reason,
            **(_as_grades(a, b) if planned.graded else {}),
        )
        for mine, its in zip(ours, theirs, strict=True)
        for a, b in zip(mine, its, strict=True)
        if a.chosen != b.chosen
    ]
