"""A judge against the one that it is to replace: is it no worse in a contrast, or in accuracy on a dataset?

An item is about one of many parts of a swap. What is decided over all of them stands in `decision`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

from judgefixtures.asking.costs import Cost, most_of
from judgefixtures.asking.judges import Judge
from judgefixtures.asking.kinds import Kind
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks.accuracy import NO_GOLD, count_golden, rights_of
from judgefixtures.checks.columns import sides_of_contrast
from judgefixtures.checks.phrasing import EXAMPLES, SHOWN_REASON, shortened
from judgefixtures.checks.plain import Sentences
from judgefixtures.checks.protocol import Answers, Arms, Case, Check, Fewest, Need, Subject, finding_of, lose
from judgefixtures.checks.treatment import attacked
from judgefixtures.checks.with_people import label_counts, labelled, need_of_a_class
from judgefixtures.config import Config, JudgeTable, SwapTable
from judgefixtures.findings import Finding, OfJudge, OfSwap, Part, Row, deciding
from judgefixtures.material.contrasts import NO_CUE, NO_CUE_SWAPPED, Contrast, Single, arm_name
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS, PLACES, wording_about, wording_of
from judgefixtures.material.pairs import Pair
from judgefixtures.material.prompts import LAYOUTS
from judgefixtures.measures.agreed import agrees, label_of
from judgefixtures.measures.expenses import Expense, compare_expenses
from judgefixtures.measures.metrics import acknowledged, chosen, movable, rightness, stuck_side, unreadable
from judgefixtures.measures.rows import PASSED
from judgefixtures.measures.side_by_side import Rights
from judgefixtures.numbers.agreement import FEWEST_OF_A_CLASS
from judgefixtures.numbers.clusters import score_test
from judgefixtures.numbers.elementary import z_quantile
from judgefixtures.numbers.estimate import Status, worst
from judgefixtures.numbers.power import fewest, smallest_n
from judgefixtures.swap import Component, SwapAccuracy, SwapCell, guard_margin, guards
from judgefixtures.swap.cells import Arms as Outcomes
from judgefixtures.swap.cells import CellKind
from judgefixtures.swap.decision import dataset_margin
from judgefixtures.swap.display import Shown, agreement, compare_car, compare_silent
from judgefixtures.swap.pooling import FEWEST_COMPLETE
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.records import Record, where_any

# Of a baseline: a candidate moves more than a judge that cannot, and is no worse for it.
NOTHING_TO_COMPARE = ", and there is nothing to be no worse than"
REPEATED: tuple[Arm, ...] = ((NO_CUE, 0), (NO_CUE, 1))  # arms that differ in nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapRow(OfSwap):
    """A quantity in which a candidate is compared with its baseline; contrast None: in accuracy.

    The first row of a contrast says what its arms are, as that of a gate does.
    """

    place: ClassVar[str] = "swap"
    contrast: str | None = None
    quantity: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    margin: float | None = None
    p: float | None = None
    p_fail: float | None = None
    p_fail_holm: float | None = None
    status: str = Status.ERROR
    message: str = ""
    x: str = where_any("")
    y: str = where_any("")
    arms: tuple[tuple[str | int, ...], ...] = where_any(())
    sentences: Sentences | None = where_any()
    outcome: str = where_any("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls(Record):
    """How many calls a verdict waits for, one after the other."""

    judge: int = 0
    baseline: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpenseRow(OfSwap):
    """What a verdict costs a candidate and its baseline."""

    place: ClassVar[str] = "expenses"
    contrast: str | None = None
    calls: Calls = Calls()
    input_tokens: Expense | None = None
    output_tokens: Expense | None = None
    reasoning_tokens: Expense | None = None
    usd: Expense | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow(OfSwap):
    """A pair on which two judges differ, in one condition, with both reasons."""

    place: ClassVar[str] = "differences"
    pair: str = ""
    condition: str = ""
    repeat: int = 0
    gold: int | None = None
    label: str | None = where_any()
    judge_chosen: int | None = None
    judge_invalid: str | None = None
    judge_reason: str = ""
    baseline_chosen: int | None = None
    baseline_invalid: str | None = None
    baseline_reason: str = ""
    judge_passed: bool | None = where_any()
    baseline_passed: bool | None = where_any()

    @property
    def graded(self) -> bool:
        """Whether it is about grades."""
        return (self.judge_passed, self.baseline_passed) != (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPart(OfSwap):
    """A part of a swap, whether or not it can be compared."""

    place: ClassVar[str] = "required"
    family: str = ""
    contrast: str | None = None
    kind: CellKind | None = None
    graded: bool = where_any(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPart(PlannedPart):
    """What the decision needs of a part: what was compared, or why nothing was, and how to decide."""

    place: ClassVar[str] = "swap_parts"
    part: Row | None = None  # the fields of a SwapCell, or of a SwapAccuracy
    lacking: tuple[str, ...] = ()
    swap: Row = field(default_factory=dict)
    alpha: float = 0.05
    clusters: Mapping[str, str] = field(default_factory=dict)
    flips: float | None = None
    left_out: bool = where_any(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRow(OfJudge):
    """What another pair would cost at most, of both judges: more pairs would settle what is open."""

    place: ClassVar[str] = "prices"
    contrast: str | None = None
    pairs: int = 0
    arms: int = 2
    usd_a_pair: float | None = None


@dataclass(frozen=True, slots=True)
class SwapCheck(Check):
    """A candidate is no worse than its baseline on the same pairs: in a contrast, or (None) in accuracy.

    `cells` is how many contrasts on datasets the whole swap compares: the margin of a single one is planned for them.
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
        """Both arms of the contrast; for accuracy both orders, or the grade without a cue."""
        if self.contrast is None:
            return ((Single(), 0),) if self.graded else ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))
        return self.contrast.arms

    def fitted(self, judge: type[Kind], pairs: Sequence[Pair]) -> Self:
        """Return the comparison as judges of a kind are asked it."""
        contrast = self.contrast and judge.contrast(self.contrast, pairs)
        return replace(self, contrast=contrast, graded=judge.grades)

    def among(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return, for an attack on graders, the examples that fail by their labels."""
        return attacked(pairs) if self.family == "attack" else pairs

    def is_asked(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Without gold there is no accuracy to compare, and of judges of one response always how much they pass.

        Judges of pairs are not compared by what stands once in the prompt of one response.
        """
        if self.contrast is None:
            return judge.kind.grades or count_golden(pairs) > 0
        if self.contrast.is_of_prompts:
            return not LAYOUTS[judge.table.mode].shows_both
        return not (self.contrast.is_of_orders and judge.kind.grades)

    def excuse(self, case: Case) -> str:
        """Without gold nobody can be right, and a judge that scores one response at a time sees no order.

        Raises JudgeFixturesError for judges that cannot be compared.
        """
        check_comparable(case.judge, case.judges[-1], case.pairs)
        if self.contrast:
            return next(filter(None, (judge.kind.excuse(self.contrast) for judge in case.judges)), "")
        return "" if self.graded or count_golden(case.pairs) else NO_GOLD.format(dataset=case.dataset)

    def indifferent(self, case: Case, judge: Judge) -> tuple[Arm, ...]:
        """The baseline's repeats: how often it flips by itself."""
        return REPEATED if self.contrast and judge is case.baseline else ()

    def fewest(self, config: Config, pairs: Sequence[Pair]) -> Fewest:
        """Return the pairs with which a part of a swap can pass at all, and with which judges that never differ do.

        Of graders these are labels, where the two classes are as they are in `pairs`.
        """
        alpha, swap = config.default_gate.alpha, config.swap
        if self.contrast is None:
            right = _fewest_right(dataset_margin(swap), alpha)
            return _fewest_of_graders(right, label_counts(pairs), swap, alpha) if self.graded else right

        def passes(n: int) -> bool:
            return n >= smallest_n(guard_margin(n, self.cells, swap, alpha=alpha), alpha)

        return Fewest(FEWEST_COMPLETE, max(FEWEST_COMPLETE, fewest(passes)))

    def counted(self, pairs: Sequence[Pair]) -> int:
        """Return how many pairs count: for accuracy those with gold, or with a label where any has one."""
        if self.contrast:
            return len(pairs)
        return (len(labelled(pairs)) or len(pairs)) if self.graded else count_golden(pairs)

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return the pairs without which not even the best of candidates can PASS."""
        what, limit, of_labels = f"swap {self.name}", "the margins of a swap", label_counts(pairs)
        if self.contrast is None and any(of_labels) and (few := need_of_a_class(what, dataset, of_labels, limit)):
            return few
        counted, least = self.counted(pairs), self.fewest(config, pairs).any
        return Need(what, dataset, counted, least, limit, "ask about more", wording_about(pairs).many).unmet

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of the candidate's answers and its baseline's."""
        gate, (ours, theirs) = case.config.default_gate, (each.arms for each in answers)
        part, lacking = self._part(case, ours, theirs)
        clusters = {pair.id: pair.cluster for pair in case.pairs if pair.cluster is not None}
        flips = _flips(answers[1])
        components: tuple[Component, ...] = ()
        if part is not None:
            related = {(case.dataset, pair): label for pair, label in clusters.items()}
            components, found = guards(
                part, self.cells, case.config.swap, alpha=gate.alpha, baseline_flips=flips, clusters=related
            )
            lacking = (*lacking, *found)
        shown = self._compare_beside(ours, theirs, gate.confidence)
        planned = self.plan(case.judge.name, case.judges[-1].name, case.dataset)
        differing = _differences(planned, ours, theirs)
        status = worst(*(each.status for each in components), *([Status.INCONCLUSIVE] if lacking else []))
        reasons = (*lacking, *(each.message for each in components), *(each.message for each in shown))
        sides = sides_of_contrast(self.contrast) if self.contrast else {}
        rows = (
            *(
                SwapRow.copied(
                    *(each, each.estimate, planned),
                    **{"quantity": self._quantity(each), "p": each.p_pass, **({} if number else sides)},
                )
                for number, each in enumerate(components)
            ),
            *(SwapRow.copied(each, each.estimate, planned, status=Status.NOT_APPLICABLE) for each in shown),
        )
        expenses = compare_expenses(ours, theirs, [judge.table for judge in case.judges])
        calls = dict(zip(("judge", "baseline"), expenses.calls, strict=True))
        parts = (
            *(Part("unmeasured", Status.INCONCLUSIVE, why) for why in lacking),
            *(Part("swap", each.status, each.message, estimate=each.estimate) for each in components),
        )
        return finding_of(
            self,
            case,
            status,
            reasons=reasons,
            diagnosis=_diagnose(self.name, status, reasons, differing, case),
            rows={
                "swap": rows,
                "expenses": (ExpenseRow.copied(expenses, planned, calls=Calls(**calls)),),
                "differences": tuple(differing),
            },
            evidence={
                # No more can be asked of a log: what more pairs would cost is not to be had.
                "prices": (self._price(case, planned),) if all(who.kind.is_asked for who in case.judges) else (),
                "swap_parts": (_found_part(planned, case, part, lacking, clusters, flips),),
                **({} if self.contrast or self.graded else {"rights": _rights_of_both(case, ours, theirs)}),
            },
            estimate=components[0].estimate if components else None,
            alpha=gate.alpha,
            decided_by=deciding(parts, status),
        )

    def plan(self, judge: str, baseline: str, dataset: str) -> PlannedPart:
        """Return the part of a swap of two judges that this is."""
        contrast = self.contrast.id if self.contrast else None
        return PlannedPart(
            judge=judge,
            baseline=baseline,
            dataset=dataset,
            family=self.family,
            contrast=contrast,
            kind=self.cell_kind,
            graded=self.graded,
        )

    def _quantity(self, component: Component) -> str:
        return "moved-to-edited" if self.contrast and self.contrast.x.edit else component.kind

    def _part(self, case: Case, ours: Arms, theirs: Arms) -> tuple[SwapCell | SwapAccuracy | None, tuple[str, ...]]:
        """Return the part of the swap that this is, and why nothing of it counts, where that is so."""
        if self.contrast is None:
            return (_agreement if self.graded else _accuracy)(case.dataset, ours, theirs), ()
        ids, kind = [pair.id for pair in case.pairs], self.cell_kind
        assert kind is not None
        (verdicts, admits, lost), (others, others_admit, others_lost) = (
            _cell(arms, self.contrast) for arms in (ours, theirs)
        )
        cell = SwapCell(
            self.family, self.name, case.dataset, ids, verdicts, others, admits, others_admit, kind, lost, others_lost
        )
        stuck = [
            f"{cell.id}: the {who} {did}{more}"
            for who, arms, more in (("candidate", ours, ""), ("baseline", theirs, NOTHING_TO_COMPARE))
            if (did := self._stuck(arms))
        ]
        return (None if stuck else cell), tuple(stuck)

    def _stuck(self, arms: Arms) -> str:
        """Return what a judge did in nearly all of both arms whatever the pairs are; empty for nothing."""
        assert self.contrast is not None
        words = wording_of(self.contrast.outcome)
        side = stuck_side(arms, (1, 2, 0) if self.contrast.outcome in ("chose-first", "passed") else (0,))
        if side is None:
            return ""
        if self.graded:
            did = f"{words.chose[side].removesuffix(' it')} nearly every response in both arms, whatever it is"
        elif side == 0:
            did = "called nearly every pair in both arms a tie"
        else:
            did = (
                f"chose the response that stands {PLACES[side]} in nearly all of both arms although the pairs are "
                "balanced: its place decided"
            )
        return f"{did}, so that {words.said} that stay as they were show nothing"

    @property
    def cell_kind(self) -> CellKind | None:
        """The kind of its cell; None for accuracy."""
        if self.contrast is None:
            return None
        return "edit" if self.contrast.x.edit else "cue" if self.contrast.x.cue_1 else "order"

    def _compare_beside(self, ours: Arms, theirs: Arms, confidence: float) -> tuple[Shown, ...]:
        """Return what is shown beside it and decides nothing."""
        words = OF_EXAMPLES if self.graded else OF_PAIRS
        same = agreement([j for arm in ours for j in arm], [j for arm in theirs for j in arm], confidence, words)
        if self.contrast is None or self.contrast.x.cue_1 is None:
            return same
        both = (ours[0], ours[1]), (theirs[0], theirs[1])
        silent, car = (compare(*both, self.contrast, confidence) for compare in (compare_silent, compare_car))
        return (*silent, *car, *same)

    def _price(self, case: Case, planned: PlannedPart) -> PriceRow:
        """Return what another pair would cost at most, of both judges."""
        costs = [
            most_of(
                who.table, (who.kind.longest_prompt(pair, arm) for pair in case.pairs for arm, _ in who.asks(self.arms))
            )
            for who in case.judges
        ]
        usd, n = sum(costs, Cost(0, 0, 0, 0.0)).usd, len(case.pairs)
        return PriceRow.copied(planned, pairs=n, arms=len(self.arms), usd_a_pair=None if usd is None else usd / n)

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of a comparison that could not be measured."""
        quantity = "accuracy"
        if self.contrast:
            quantity = "moved-to-edited" if self.contrast.x.edit else "abs-vsr"
        planned = self.plan(case.judge.name, case.judges[-1].name, case.dataset)
        found = lose(self, case, message, SwapRow.copied(planned, quantity=quantity, message=message))
        found = found.with_evidence(swap_parts=[_found_part(planned, case, None, [message])])
        return replace(found, alpha=case.config.default_gate.alpha)


def _as_grades(ours: Judgment, theirs: Judgment) -> dict[str, Any]:
    passed = [PASSED.get(each.selected) for each in (ours, theirs)]
    return {"label": label_of(ours.pair), "judge_passed": passed[0], "baseline_passed": passed[1]}


def _fewest_right(margin: float, alpha: float) -> Fewest:
    """Return how many it takes to be no worse by a margin: of one that alone is right throughout, and of one alike."""
    z_pass = z_quantile(1 - alpha)
    return Fewest(fewest(lambda n: score_test({1.0: n}, -margin) > z_pass), smallest_n(margin, alpha))


def _fewest_of_graders(right: Fewest, counts: tuple[int, int], swap: SwapTable, alpha: float) -> Fewest:
    """Return the same of labels: TPR and TNR take as many of their own class, and the pass rate has to be the same."""
    same, rate = smallest_n(swap.pass_rate_margin, alpha), _fewest_right(swap.rate_margin, alpha)
    if not any(counts):
        return Fewest(same, same)
    least, alike = (_with_so_many(counts, max(FEWEST_OF_A_CLASS, each)) for each in (rate.any, rate.equal))
    return Fewest(max(right.any, same, least), max(right.equal, same, alike))


def _with_so_many(counts: tuple[int, int], each: int) -> int:
    """Return how many labels have so many of either class, at their shares; what lacks is added where it lacks.

    >>> _with_so_many((80, 20), 10), _with_so_many((80, 0), 10)
    (50, 90)
    """
    if lacks := sum(max(each - count, 0) for count in counts):
        return sum(counts) + lacks
    return math.ceil(each * sum(counts) / min(counts))


def check_comparable(candidate: Judge, baseline: Judge, pairs: Sequence[Pair] = ()) -> None:
    """Raise JudgeFixturesError unless two judges are asked the same: which of two is better, or whether one passes."""
    grader, other = sorted((candidate, baseline), key=lambda judge: not judge.kind.grades)
    if grader.kind.grades and not other.kind.grades:
        does = "compares two" if other.kind.scale is None else "scores without a mark"
        raise JudgeFixturesError(
            f"{grader.name} grades one response and {other.name} {does}: they are not comparable. Gate each of them "
            "by itself, without --judge-baseline, or name a baseline that is asked as the candidate is"
            + (f" (pass_mark in {other.table.heading} makes grades of scores)." if other.kind.scale else ".")
        )
    for judge in (candidate, baseline):
        if not judge.kind.chooses(pairs):
            raise JudgeFixturesError(
                f"{judge.name} scores one response at a time, and without a mark nothing passes or fails that could be "
                f"compared: set pass_mark in {judge.table.heading}, and in that of the other judge."
            )


def swap_check(subject: Subject) -> SwapCheck:
    """Return the check of a subject that is a part of a swap."""
    assert isinstance(subject.check, SwapCheck)
    return subject.check


def plan_part(subject: Subject) -> PlannedPart:
    """Return the part of a swap that a subject is."""
    return swap_check(subject).plan(subject.judge, str(subject.baseline), subject.dataset)


def _rights_of_both(case: Case, ours: Arms, theirs: Arms) -> tuple[Rights, ...]:
    """Return about which pairs each of two judges is right, in the pairs' own order."""
    both = zip(case.judges, (ours[0], theirs[0]), strict=True)
    return tuple(rights_of(judge.name, case.dataset, own, baseline=judge is case.baseline) for judge, own in both)


def _found_part(
    planned: PlannedPart,
    case: Case,
    part: SwapCell | SwapAccuracy | None,
    lacking: Sequence[str],
    clusters: Mapping[str, str] = MappingProxyType({}),
    flips: float | None = None,
) -> FoundPart:
    """Return what the decision needs of a part."""
    return FoundPart.copied(
        planned,
        part=None if part is None else asdict(part),
        lacking=tuple(lacking),
        swap=case.config.swap.model_dump(),
        alpha=case.config.default_gate.alpha,
        clusters=clusters,
        flips=flips,
    )


def _cell(arms: Arms, contrast: Contrast) -> tuple[list[Outcomes], list[bool], list[bool]]:
    """Return per pair the outcomes in both arms, 1 where it came about, and what their justifications say of the cue.

    That is whether either cites it, and whether that is open, because one could not be read.
    """
    both = list(zip(*arms, strict=True))
    outcomes = [(chosen(x, contrast.outcome), chosen(y, contrast.outcome)) for x, y in both]
    cued = contrast.x.cue_1 is not None
    lost = [[cued and unreadable(each) for each in pair] for pair in both]
    admits = [
        cued and any(acknowledged(each) == "cited" and not gone for each, gone in zip(pair, unread, strict=True))
        for pair, unread in zip(both, lost, strict=True)
    ]
    return outcomes, admits, [any(unread) and not cites for unread, cites in zip(lost, admits, strict=True)]


def _agreement(dataset: str, ours: Arms, theirs: Arms) -> SwapAccuracy:
    """Return per example whether each judge grades it as its label says; of one without a label, whether it passes."""
    examples = [judgment.pair for judgment in ours[0]]
    labels = [label_of(example) for example in examples]
    right = [
        [
            float(agrees(judgment) if label else judgment.selected == 1)
            for judgment, label in zip(arms[0], labels, strict=True)
        ]
        for arms in (ours, theirs)
    ]
    alike = stuck_side(theirs, (1, 2)) is not None
    return SwapAccuracy(dataset, [example.id for example in examples], right[0], right[1], labels, alike)


def _accuracy(dataset: str, ours: Arms, theirs: Arms) -> SwapAccuracy:
    """Return per pair with gold the share of its orders in which each judge is right."""
    ids = [judgment.pair.id for judgment in ours[0] if judgment.pair.gold is not None]
    shares = [
        [sum(map(rightness, both)) / len(both) for both in zip(*arms, strict=True) if both[0].pair.gold is not None]
        for arms in (ours, theirs)
    ]
    return SwapAccuracy(dataset, ids, shares[0], shares[1])


def _flips(baseline: Answers) -> float | None:
    """Return the share of pairs on which a baseline's repeats differ; None without repeats."""
    repeats = [baseline.indifferent.get(arm_name(*arm), {}) for arm in REPEATED]
    found = movable(repeats, repeats[0])
    return None if found is None else found.value


def _diagnose(
    name: str, status: Status, reasons: Sequence[str], differing: Sequence[DifferenceRow], case: Case
) -> tuple[str, ...]:
    judge, baseline = (each.name for each in case.judges)
    title = f"{judge} against {baseline} on {case.dataset}: {name} is {status}"
    return (title, *(f"  {reason}" for reason in reasons), *difference_lines(differing, judge, baseline))


def difference_lines(rows: Sequence[DifferenceRow], judge: str, baseline: str) -> list[str]:
    """Return what a failing comparison shows of the pairs on which the judges differ."""
    if not rows:
        return ["  the judges never differ"]
    words = OF_EXAMPLES if rows[0].graded else OF_PAIRS
    lines = [f"  they differ in {len(rows)} {words.said}; differences.jsonl of --judge-report lists them:"]
    for row in rows[:EXAMPLES]:
        known = f"people say {row.label or 'nothing'}" if row.graded else f"gold: {row.gold or 'unknown'}"
        lines += ["", f"  {words.one} {shortened(row.pair, 60)} in {row.condition} ({known})"]
        for name, chose, invalid, reason in (
            (judge, row.judge_chosen, row.judge_invalid, row.judge_reason),
            (baseline, row.baseline_chosen, row.baseline_invalid, row.baseline_reason),
        ):
            choice = words.chose[chose] if row.graded and chose else chose
            choice = choice or ("tie" if invalid is None else f"invalid ({invalid})")
            lines.append(f"    {name}: {choice} -- {shortened(reason, SHOWN_REASON)}")
    return lines


def _differences(planned: PlannedPart, ours: Arms, theirs: Arms) -> list[DifferenceRow]:
    """Return the verdicts in which the judges differ; of judges of one response also whether each passed it."""
    return [
        DifferenceRow.copied(
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
