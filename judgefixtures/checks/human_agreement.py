"""Agreement check: do grades agree with people's labels?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from judgefixtures.config import AgreementTable, Config, JudgeTable
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.mode import JudgeMode
from judgefixtures.metrics.contrast_metrics import cluster_scores
from judgefixtures.metrics.invalid_limit import describe_too_many_invalid
from judgefixtures.metrics.label_agreement import LabelAgreement, agrees_with_label, measure_agreement
from judgefixtures.models.agreement_rows import AgreementRow, AsPeople, human_label, is_compared
from judgefixtures.models.contrasts import SingleResponseCondition
from judgefixtures.models.findings import (
    DecisionPart,
    Finding,
    ReportRow,
    Row,
    cluster_count,
    decided_by_control,
    deciding_parts,
    rows_of,
)
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import LABELS, Example, Pair, clusters_of, count_independent
from judgefixtures.models.replies import Arm
from judgefixtures.models.vocabulary import OF_EXAMPLES, is_of_pair_responses
from judgefixtures.statistics import agreement
from judgefixtures.statistics.annotators import people_prospect
from judgefixtures.statistics.clusters import FEWEST_CLUSTERS, ScoredUnits
from judgefixtures.statistics.estimate import Status, format_share, worst_status
from judgefixtures.statistics.power import smallest_passing_n

from .answer_groups import group_rows
from .base import Answers, Arms, CheckInput, SampleRequirement, SingleJudgeCheck
from .formatting import format_interval, interval_cell
from .messages import MESSAGES
from .plain_language import NAMED
from .sections import DisplayOptions, Section, read_results

HEADER = ("judge", "dataset", "category", "n", "TPR", "TNR", "accuracy", "kappa", "CI", "people")
SMALLEST_SHOWN_CATEGORY = 10  # labels; report.json has all
TITLE = "agreement: does the judge grade as people do?"
UNSET = "set min_tpr, min_tnr, min_kappa or min_accuracy in [gate.agreement]"
LEGEND = "TPR: share passed of what people pass; TNR: share failed of what people fail; CI: of kappa"


@dataclass(frozen=True, slots=True)
class AgreementCheck(SingleJudgeCheck):
    """Check that min_tpr, min_tnr, min_kappa and min_accuracy are exceeded.

    Attributes:
        rated: Examples labelled by several people, ties included.
        unlabelled: The number of examples without a label.
    """

    kind: ClassVar[str] = "agreement"
    name: ClassVar[str] = "agreement"
    family: ClassVar[str] = "agreement"
    arms: ClassVar[tuple[Arm, ...]] = ((SingleResponseCondition(), 0),)
    rated: tuple[Example, ...] = field(default=(), compare=False, repr=False)
    unlabelled: int = field(default=0, compare=False, repr=False)

    def for_mode(self, judge: type[JudgeMode], pairs: Sequence[Pair]) -> Self:
        """Return the check with all examples' labels."""
        rated = tuple(each for each in pairs if isinstance(each, Example) and each.labels)
        return replace(self, rated=rated, unlabelled=len(pairs) - len(labelled_examples(pairs)))

    def select_pairs(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return labelled or tied examples; all if none has labels."""
        return tuple(each for each in pairs if human_label(each) is not None or is_compared(each)) or pairs

    def optional(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """Return the ties, which old recordings lack."""
        return tuple(each for each in pairs if human_label(each) is None and is_compared(each))

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Return whether the judge grades single responses."""
        return judge.kind.grades

    def skip_reason(self, case: CheckInput) -> str:
        """Return why there are no labels or grades, or ""."""
        name = case.judge.name
        if not case.judge.kind.grades:
            mark = f"; set pass_mark in {case.judge.table.heading}" if case.judge.kind.gives_scores else ""
            return f"{name} gives no pass/fail grades, which agreement needs{mark}"
        if is_of_pair_responses(case.pairs):
            return f"{case.dataset} has pairs; agreement needs labels of single responses"
        if labelled_examples(case.pairs) or self.optional(case.pairs) or _limits(case.config).set:
            return ""
        return f"no example of {case.dataset} has a label, so agreement is not applicable"

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the labels that a perfect judge needs."""
        limits, known = _limits(config), labelled_examples(pairs)
        if not limits.set or is_of_pair_responses(pairs):
            return None
        alpha, counts = config.gate(self.family).alpha, label_counts(known)
        if few := min_labels_of_class(self.name, dataset, counts, str(limits)):
            return few
        if clusters_of(known) and (n := count_independent(known)) < FEWEST_CLUSTERS:
            return SampleRequirement(
                self.name, dataset, n, FEWEST_CLUSTERS, str(limits), "label other clusters", OF_EXAMPLES.clusters(2)
            )

        def can_pass(positives: int, n: int) -> bool:
            return agreement.pass_chance(positives, n - positives, 1.0, 1.0, limits, alpha) > 0

        n, share = len(known), counts[0] / len(known)
        if can_pass(counts[0], n):
            return None
        least = max(smallest_passing_n(lambda n: can_pass(round(share * n), n)), n + 1)
        return SampleRequirement(self.name, dataset, n, least, str(limits), "label more examples", "labels")

    def prospect(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> str:
        """Return a good judge's power, and the labels needed."""
        if is_of_pair_responses(pairs):
            return ""
        gate, compared = _gate(config), [each for each in pairs if isinstance(each, Example) and is_compared(each)]
        likely = [agreement.agreement_prospect(*label_counts(pairs), gate.limits, gate.alpha)]
        if compared:
            people = round(sum(len(each.labels) for each in compared) / len(compared))
            n = count_independent(compared)
            units = OF_EXAMPLES.clusters(2) if clusters_of(compared) else OF_EXAMPLES.many
            likely += [people_prospect(people, n, gate.people_margin, gate.alpha, units)]
        return f"{self.name} on {dataset}: {'; '.join(filter(None, likely))}" if any(likely) else ""

    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding of all labelled examples."""
        gate, limits = _gate(case.config), _limits(case.config)
        every_grade = answers[0].arms[0]
        arm = [each for each in every_grade if human_label(each.pair) is not None]
        every = measure_agreement(arm, self.rated, gate.confidence)
        rows = [agreement_row(case.judge.name, case.dataset, each) for each in every]
        asked = tuple(each for each in every_grade if human_label(each.pair) is not None or is_compared(each.pair))
        lost = len({each.id for each in self.optional(self.rated)} - {each.pair.id for each in asked})
        rows[0] = replace(rows[0], as_people=AsPeople.of(asked, gate.people_margin, gate.alpha, lost))
        decided, parts = decide_agreement(every[0], limits, gate, rows[0], asked)
        status = Status(decided.status)
        return self.finding(
            case,
            status,
            reasons=(decided.message,),
            diagnosis=_diagnosis(decided, every[0], parts, self.unlabelled),
            rows={AgreementRow.place: (decided, *rows[1:])},
            alpha=gate.alpha,
            estimate=parts[0].estimate if parts else decided.kappa,
            plain=MESSAGES.labels_met(decided, parts),
            decided_by=deciding_parts(parts, status),
        )

    def ungated_rows(self, case: CheckInput, arms: Arms) -> tuple[ReportRow, ...]:
        """Return pass rates by length, format and model."""
        return group_rows(case, arms, case.config.gate(self.family).confidence) if case.judge.kind.grades else ()

    def error_finding(self, case: CheckInput, message: str) -> Finding:
        """Return the ERROR of the agreement."""
        limits = _limits(case.config)
        row = AgreementRow(judge=case.judge.name, dataset=case.dataset, limits=_as_keys(limits), message=message)
        return self.error(case, message, row)


def labelled_examples(pairs: Iterable[Pair]) -> tuple[Example, ...]:
    """Return the labelled examples."""
    return tuple(pair for pair in pairs if isinstance(pair, Example) and pair.label is not None)


def label_counts(pairs: Iterable[Pair]) -> tuple[int, int]:
    """Return the numbers of examples labelled pass and fail."""
    labels = [human_label(pair) for pair in pairs]
    return labels.count("pass"), labels.count("fail")


def min_labels_of_class(what: str, dataset: str, counts: tuple[int, int], limit: str) -> SampleRequirement | None:
    """Return the requirement on labels of the rarer class, or None."""
    few, label = min((count, label) for label, count in zip(LABELS, counts, strict=True))
    unit = f"examples labelled {label}"
    return SampleRequirement(what, dataset, few, agreement.FEWEST_OF_A_CLASS, limit, "label more examples", unit).unmet


def _gate(config: Config) -> AgreementTable:
    gate = config.gate(AgreementCheck.family)
    assert isinstance(gate, AgreementTable)
    return gate


def _limits(config: Config) -> agreement.AgreementLimits:
    return _gate(config).limits


def _as_keys(limits: agreement.AgreementLimits) -> dict[str, float]:
    return {f"min_{name}": limit for name, limit in limits.set.items()}


# --- decided ----------------------------------------------------------------------------------------------------


def agreement_row(judge: str, dataset: str, measured: LabelAgreement) -> AgreementRow:
    """Return the row of a measurement before the decision."""
    tp, fn, fp, tn = measured.counts
    return AgreementRow.from_sources(
        measured,
        judge=judge,
        dataset=dataset,
        clusters=cluster_count(measured.totals["accuracy"]),
        positives=tp + fn,
        negatives=fp + tn,
        **{"tp": tp, "fn": fn, "fp": fp, "tn": tn},
        **measured.estimates,
        status=Status.NOT_APPLICABLE,
    )


def decide_agreement(
    measured: LabelAgreement,
    limits: agreement.AgreementLimits,
    gate: AgreementTable,
    row: AgreementRow,
    asked: Sequence[Judgment],
) -> tuple[AgreementRow, tuple[DecisionPart, ...]]:
    """Return the decided row, and a part for each limit.

    PASS if the one-sided lower bound exceeds the limit, FAIL if the upper bound is below. Too many invalid grades among
    `asked` are an ERROR.
    """
    text = MESSAGES.agreement(row)
    row = replace(row, limits=_as_keys(limits))
    unread = [each for each in asked if each.selected is None]
    invalid = cluster_scores(asked)((each, each.selected is None) for each in asked)
    if excess := describe_too_many_invalid(len(unread), len(asked), gate, invalid):
        why = f"{len(unread)} of {len(asked)} grades are invalid, {excess}"
        first = next((each.reply.detail for each in unread if each.reply.detail), "")
        part = DecisionPart("invalid", Status.ERROR, f"{why}: {first}" if first else why)
        return replace(row, status=Status.ERROR, message=f"{text}; {part.reason}"), (part,)
    if not (limits.set or gate.as_people):
        return replace(row, message=f"{text}; no limit is set. To gate it, {UNSET}"), ()
    if limits.set and not row.n:
        few = agreement.too_few_labels_text(0, 0)
        part = DecisionPart("unmeasured", Status.INCONCLUSIVE, f"{few}, but {limits} needs labels: INCONCLUSIVE")
        return replace(row, status=part.status, message=part.reason), (part,)
    parts = tuple(_part(name, measured, limit, gate.alpha) for name, limit in limits.set.items())
    parts += (_part_of_people(row.as_people),) if gate.as_people else ()
    status = worst_status(*(part.status for part in parts))
    needed = _needed(measured, limits, gate.alpha) if status is Status.INCONCLUSIVE else None
    row = replace(row, status=status, needed_labels=needed)
    settles = MESSAGES.settling(row, parts)
    texts = [text, *(part.reason for part in parts), *([settles] if settles else [])]
    return replace(row, message="; ".join(texts)), parts


def _part(name: str, measured: LabelAgreement, limit: float, alpha: float) -> DecisionPart:
    tp, fn, fp, tn = measured.counts
    result = agreement.AGREEMENT_GATES[name](tp, fn, fp, tn, limit, alpha, measured.totals[name])
    estimate = measured.estimates[name]
    value = (
        "not defined"
        if estimate is None
        else f"{format_share(estimate.value)} ({format_interval(estimate)}, minimum {format_share(limit)})"
    )
    lacks = agreement.too_few_labels_text(tp + fn, fp + tn)
    plain = f"{NAMED[name]} {value}" + (f": {lacks}" if lacks else "")
    return DecisionPart(name, result.status, result.message, plain, estimate, (limit, None))


def _part_of_people(found: AsPeople | None) -> DecisionPart:
    if found is None:
        why = "as_people needs examples with labels of two people, and there are none"
        return DecisionPart("as_people", Status.INCONCLUSIVE, why)
    reason = f"{found.text}: {found.status}"
    return DecisionPart("as_people", Status(found.status), reason, found.text, found.difference, (-found.margin, None))


def _needed(measured: LabelAgreement, limits: agreement.AgreementLimits, alpha: float) -> int | None:
    tp, fn, fp, tn = measured.counts
    totals, right = measured.totals["accuracy"], (tp + tn) / measured.n
    if totals is None or right in (0, 1):
        return agreement.needed_labels(tp, fn, fp, tn, limits, alpha)
    effect = ScoredUnits.of(totals, 0.0, 1.0).design_effect(right, right * (1 - right))
    return agreement.needed_labels(tp, fn, fp, tn, limits, alpha, effect)


# --- words ------------------------------------------------------------------------------------------------------


def _diagnosis(
    row: AgreementRow, measured: LabelAgreement, parts: Sequence[DecisionPart], unlabelled: int
) -> tuple[str, ...]:
    differing = {label: [each for each in measured.labelled(label) if not agrees_with_label(each)] for label in LABELS}
    wrong = [(label, [each for each in every if each.selected]) for label, every in differing.items()]
    wrong.sort(key=lambda of_label: len(of_label[1]), reverse=True)
    return tuple(MESSAGES.lines("disagreements", row, parts, wrong, list(measured.unread), unlabelled))


# --- the report's section ---------------------------------------------------------------------------------------


def _sorted(findings: Sequence[Finding]) -> list[AgreementRow] | None:
    rows = rows_of(findings, AgreementRow)
    return sorted(rows, key=lambda row: (row.judge, row.dataset, row.category != "all", row.category)) or None


def _tell(report: Row, _view: DisplayOptions) -> list[str]:
    lines = [
        f"{row.status if row.status != Status.NOT_APPLICABLE else 'no limit'}: {row.text}"
        for row in read_results(report)
        if row.check == AgreementCheck.kind and row.text and not decided_by_control(row.decided_by)
    ]
    rows = _shown_rows(report)
    return [*lines, *MESSAGES.lines("calibration", rows), *([LEGEND] if rows else [])]


def _shown_rows(report: Row) -> list[AgreementRow]:
    rows = AGREEMENT.read_records(report)
    return [row for row in rows if row.n and (row.category == "all" or row.n >= SMALLEST_SHOWN_CATEGORY)]


def _table(report: Row) -> list[tuple[str, ...]]:
    rows = _shown_rows(report)
    return [HEADER, *map(_cells, rows)] if rows else []


def _cells(row: AgreementRow) -> tuple[str, ...]:
    values = (row.tpr, row.tnr, row.accuracy, row.kappa)
    people = row.people
    own = f"{people.raters}" if people.kappa is None else f"{people.raters}, kappa {format_share(people.kappa)}"
    return (
        *(row.judge, row.dataset, row.category, str(row.n)),
        *(format_share(each.value, 3) if each else "-" for each in values),
        interval_cell(row.kappa),
        own,
    )


AGREEMENT = Section("agreement", AgreementRow, _sorted, _tell, title=TITLE, listed=True, cells=_table)
SECTIONS = (AGREEMENT,)
