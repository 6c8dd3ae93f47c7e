"""Agreement with people: does a judge of one response grade as they label, and as they agree with each other?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.kinds import Kind
from judgefixtures.asking.questions import Arm
from judgefixtures.checks.phrasing import EXAMPLES, SHOWN_REASON, limits, reach, shortened
from judgefixtures.checks.plain import NAMED
from judgefixtures.checks.protocol import Alone, Answers, Case, Need, finding_of, lose
from judgefixtures.checks.sections import Section, View, read_results
from judgefixtures.config import AgreementTable, Config, GateTable, JudgeTable
from judgefixtures.findings import Finding, OfJudge, Part, Row, deciding, is_of_control, related_units, rows_of
from judgefixtures.material.contrasts import Single
from judgefixtures.material.diction import OF_EXAMPLES, are_responses_of_pairs
from judgefixtures.material.pairs import LABELS, Example, Pair, clusters_of, independent
from judgefixtures.measures.agreed import Agreement, People, agreements, agrees, label_of
from judgefixtures.measures.metrics import by_cluster
from judgefixtures.measures.validity import too_many_invalid
from judgefixtures.numbers.agreement import (
    AGREEMENT_GATES,
    FEWEST_OF_A_CLASS,
    AgreementLimits,
    agreement_prospect,
    lacking,
    needed_labels,
    pass_chance,
)
from judgefixtures.numbers.clusters import FEWEST_CLUSTERS, ScoredUnits
from judgefixtures.numbers.estimate import Estimate, Status, bare, interval_text, several, worst
from judgefixtures.numbers.power import fewest
from judgefixtures.words.records import where_any

HEADER = ("judge", "dataset", "category", "n", "TPR", "TNR", "accuracy", "kappa", "CI", "people")
SMALLEST_SHOWN_CATEGORY = 10  # labels; report.json has all
TITLE = "agreement: does it grade as people label?"
UNSET = "min_tpr, min_tnr, min_kappa and min_accuracy in [gate.agreement] are what it could be held to"
LEGEND = "TPR: of what people pass, how much it passes; TNR: of what they fail, how much it fails; CI: of kappa"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow(OfJudge):
    """How a judge's grades meet people's labels on a dataset in a category, or in "all", which alone is decided."""

    place: ClassVar[str] = "agreement"
    category: str = "all"
    n: int = 0
    clusters: int | None = where_any()
    positives: int = 0
    negatives: int = 0
    invalid: int = 0
    tp: int = 0
    fn: int = 0
    fp: int = 0
    tn: int = 0
    tpr: Estimate | None = None
    tnr: Estimate | None = None
    accuracy: Estimate | None = None
    balanced_accuracy: Estimate | None = None
    kappa: Estimate | None = None
    pass_rate: Estimate | None = None
    label_rate: Estimate | None = None
    brier_score: Estimate | None = where_any()
    calibration_error: Estimate | None = where_any()
    people: People = field(default_factory=People)
    limits: Mapping[str, float] = field(default_factory=dict)
    status: str = Status.ERROR
    message: str = ""
    needed_labels: int | None = None


@dataclass(frozen=True, slots=True)
class AgreementCheck(Alone):
    """What is set of min_tpr, min_tnr, min_kappa and min_accuracy is exceeded on the labelled examples.

    `rated` are all the examples that several people labelled, those among them that have no label for it; `unlabelled`
    is how many there are without one.
    """

    kind: ClassVar[str] = "agreement"
    name: ClassVar[str] = "agreement"
    family: ClassVar[str] = "agreement"
    arms: ClassVar[tuple[Arm, ...]] = ((Single(), 0),)
    rated: tuple[Example, ...] = field(default=(), compare=False, repr=False)
    unlabelled: int = field(default=0, compare=False, repr=False)

    def fitted(self, judge: type[Kind], pairs: Sequence[Pair]) -> Self:  # noqa: ARG002
        """Return the check with what people say of all the examples: it is asked about labelled ones alone."""
        rated = tuple(each for each in pairs if isinstance(each, Example) and each.labels)
        return replace(self, rated=rated, unlabelled=len(pairs) - len(labelled(pairs)))

    def among(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return the examples that have a label; all where none has."""
        return labelled(pairs) or pairs

    def is_asked(self, judge: Judge, pairs: Sequence[Pair]) -> bool:  # noqa: ARG002
        """A judge of pairs chooses: whether it is right is a matter of accuracy."""
        return judge.kind.grades

    def excuse(self, case: Case) -> str:
        """People label single responses, and a judge has to grade these."""
        name = case.judge.name
        if not case.judge.kind.grades:
            mark = f"; set pass_mark in {case.judge.table.heading}" if case.judge.kind.gives_scores else ""
            return f"{name} neither passes nor fails a response: agreement with labels is asked of judges that do{mark}"
        if are_responses_of_pairs(case.pairs):
            return f"{case.dataset} holds pairs: agreement is with people's labels of single responses"
        if labelled(case.pairs) or _limits(case.config).set:
            return ""
        return f"no example of {case.dataset} is labelled: agreement is not applicable"

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return the labels without which not even a judge that agrees with all of them can PASS."""
        limits, known = _limits(config), labelled(pairs)
        if not limits.set or are_responses_of_pairs(pairs):
            return None
        alpha, counts = config.gate(self.family).alpha, label_counts(known)
        if few := need_of_a_class(self.name, dataset, counts, str(limits)):
            return few
        if clusters_of(known) and (n := independent(known)) < FEWEST_CLUSTERS:
            return Need(self.name, dataset, n, FEWEST_CLUSTERS, str(limits), "label others", OF_EXAMPLES.clusters(2))

        def can_pass(positives: int, n: int) -> bool:
            return pass_chance(positives, n - positives, 1.0, 1.0, limits, alpha) > 0

        n, share = len(known), counts[0] / len(known)
        if can_pass(counts[0], n):
            return None
        least = max(fewest(lambda n: can_pass(round(share * n), n)), n + 1)
        return Need(self.name, dataset, n, least, f"{limits}, not even if it agrees with all", "label more", "labels")

    def prospect(self, config: Config, dataset: str, pairs: Sequence[Pair]) -> str:
        """Return how often a good judge passes what is set with these labels, and how many would do."""
        if are_responses_of_pairs(pairs):
            return ""
        said = agreement_prospect(*label_counts(pairs), _limits(config), config.gate(self.family).alpha)
        return said and f"{self.name} on {dataset}: {said}"

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of the grades of all labelled examples."""
        gate, limits = _gate(case.config), _limits(case.config)
        arm = [each for each in answers[0].arms[0] if label_of(each.pair) is not None]
        every = agreements(arm, self.rated, gate.confidence)
        rows = [agreement_row(case.judge.name, case.dataset, each) for each in every]
        decided, parts = decide_agreement(every[0], limits, gate, rows[0])
        status = Status(decided.status)
        return finding_of(
            self,
            case,
            status,
            reasons=(decided.message,),
            diagnosis=_diagnosis(decided, every[0], parts, self.unlabelled),
            rows={AgreementRow.place: (decided, *rows[1:])},
            alpha=gate.alpha,
            estimate=parts[0].estimate if parts else decided.kappa,
            plain=_plain(decided, parts),
            decided_by=deciding(parts, status),
        )

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of an agreement that could not be measured."""
        limits = _limits(case.config)
        row = AgreementRow(judge=case.judge.name, dataset=case.dataset, limits=_as_keys(limits), message=message)
        return lose(self, case, message, row)


def labelled(pairs: Iterable[Pair]) -> tuple[Example, ...]:
    """Return the examples that have a label."""
    return tuple(pair for pair in pairs if isinstance(pair, Example) and pair.label is not None)


def label_counts(pairs: Iterable[Pair]) -> tuple[int, int]:
    """Return how many examples are labelled pass, and how many fail."""
    labels = [label_of(pair) for pair in pairs]
    return labels.count("pass"), labels.count("fail")


def need_of_a_class(what: str, dataset: str, counts: tuple[int, int], limit: str) -> Need | None:
    """Return the need of labels of the rarer class, where nothing is ever a PASS with as few."""
    few, label = min((count, label) for label, count in zip(LABELS, counts, strict=True))
    return Need(what, dataset, few, FEWEST_OF_A_CLASS, limit, "label more", f"examples of {label}").unmet


def _gate(config: Config) -> AgreementTable:
    gate = config.gate(AgreementCheck.family)
    assert isinstance(gate, AgreementTable)
    return gate


def _limits(config: Config) -> AgreementLimits:
    return _gate(config).limits


def _as_keys(limits: AgreementLimits) -> dict[str, float]:
    return {f"min_{name}": limit for name, limit in limits.set.items()}


# --- decided ----------------------------------------------------------------------------------------------------


def agreement_row(judge: str, dataset: str, measured: Agreement) -> AgreementRow:
    """Return the row of what was measured, of which nothing is decided yet."""
    tp, fn, fp, tn = measured.counts
    return AgreementRow.copied(
        measured,
        judge=judge,
        dataset=dataset,
        clusters=related_units(measured.totals["accuracy"]),
        positives=tp + fn,
        negatives=fp + tn,
        **{"tp": tp, "fn": fn, "fp": fp, "tn": tn},
        **measured.estimates,
        status=Status.NOT_APPLICABLE,
    )


def decide_agreement(
    measured: Agreement, limits: AgreementLimits, gate: GateTable, row: AgreementRow
) -> tuple[AgreementRow, tuple[Part, ...]]:
    """Return the row of all labels with what is decided of it, and a part for each limit that is set.

    PASS where the one-sided lower bound of each exceeds its limit, FAIL where an upper one is below, else INCONCLUSIVE.
    Without a limit nothing is decided, except that demonstrably too many invalid grades are an ERROR.
    """
    shown = _shown(row)
    row = replace(row, limits=_as_keys(limits))
    invalid = by_cluster(measured.around)((each, each.selected is None) for each in measured.arm)
    if excess := too_many_invalid(row.invalid, row.n, gate, invalid):
        why = f"{row.invalid} of {row.n} grades are invalid, {excess}"
        first = next((each.reply.detail for each in measured.unread if each.reply.detail), "")
        part = Part("invalid", Status.ERROR, f"{why}: {first}" if first else why)
        return replace(row, status=Status.ERROR, message=f"{shown}; {part.reason}"), (part,)
    if not limits.set:
        return replace(row, message=f"{shown}; no limit is set: {UNSET}"), ()
    if not row.n:
        part = Part("unmeasured", Status.INCONCLUSIVE, f"{lacking(0, 0)}, and {limits} is set: INCONCLUSIVE")
        return replace(row, status=part.status, message=part.reason), (part,)
    parts = tuple(_part(name, measured, limit, gate.alpha) for name, limit in limits.set.items())
    status = worst(*(part.status for part in parts))
    needed = _needed(measured, limits, gate.alpha) if status is Status.INCONCLUSIVE else None
    row = replace(row, status=status, needed_labels=needed)
    said = [shown, *(part.reason for part in parts), *_settling(row, parts)]
    return replace(row, message="; ".join(said)), parts


def _settling(row: AgreementRow, parts: Sequence[Part]) -> list[str]:
    """Return with how many labels all limits would be passed; nothing where there is one, which says it itself."""
    if row.needed_labels is None or len(parts) < 2:
        return []
    return [f"about {row.needed_labels} labels would settle all of it for a judge with these rates (80% power)"]


def _part(name: str, measured: Agreement, limit: float, alpha: float) -> Part:
    """Return what one limit decides."""
    tp, fn, fp, tn = measured.counts
    result, found = AGREEMENT_GATES[name](tp, fn, fp, tn, limit, alpha, measured.totals[name]), measured.estimates[name]
    value = "not defined" if found is None else f"{bare(found.value)}, more than {bare(limit)} asked ({reach(found)})"
    lacks = lacking(tp + fn, fp + tn)
    plain = f"{NAMED[name]} {value}" + (f": {lacks}" if lacks else "")
    return Part(name, result.status, result.message, plain, found, (limit, None))


def _needed(measured: Agreement, limits: AgreementLimits, alpha: float) -> int | None:
    """Return with how many labels a judge with these rates passes all limits in 80%."""
    tp, fn, fp, tn = measured.counts
    totals, right = measured.totals["accuracy"], (tp + tn) / measured.n
    if totals is None or right in (0, 1):
        return needed_labels(tp, fn, fp, tn, limits, alpha)
    effect = ScoredUnits.of(totals, 0.0, 1.0).design_effect(right, right * (1 - right))
    return needed_labels(tp, fn, fp, tn, limits, alpha, effect)


# --- words ------------------------------------------------------------------------------------------------------


def _shown(row: AgreementRow) -> str:
    """Return what people pass and the judge passes, what they fail and it fails, and how far they agree."""
    if not row.n:
        return ""
    related = f" in {several(row.clusters, 'cluster')}" if row.clusters else ""
    said = (
        f"agrees with {row.tp + row.tn} of {several(row.n, 'label')}{related}: passes {row.tp} of {row.positives} that "
        f"people pass, fails {row.tn} of {row.negatives} that they fail"
    )
    if row.kappa is not None:
        said += f", kappa {bare(row.kappa.value, 3)}, {interval_text(row.kappa)}"
    return "; ".join(filter(None, [said, among_people(row)]))


def among_people(row: AgreementRow) -> str:
    """Return how the judge's agreement compares with that of people among each other; empty where that is not known."""
    people = row.people
    if people.kappa is None or row.kappa is None:
        return ""
    of = f"the {people.raters} people's own kappa is {bare(people.kappa)}"
    own = people.kappa
    if people.alpha is not None:  # who labelled little counts in it for little
        of, own = f"{of}, alpha {bare(people.alpha)}", max(own, people.alpha)
    if row.kappa.value >= own:
        return f"it agrees with the label as far as people agree with each other ({of})"
    return f"people agree with each other more than it does with the label ({of})"


def _plain(row: AgreementRow, parts: Sequence[Part]) -> str:
    """Return in a sentence how a judge's grades meet people's labels, and what is asked."""
    if not row.n:
        return f"no example of {row.dataset} is labelled: nothing shows whether {row.judge} grades as people do"
    said = (
        f"{row.judge} passes {row.tp} of {several(row.positives, 'answer')} of {row.dataset} that people pass, and "
        f"fails {row.tn} of {row.negatives} that they fail"
    )
    told = [part.text for part in parts if part.status == row.status]
    settles = f"about {row.needed_labels} labels would settle it (80% power)" if row.needed_labels else ""
    return "; ".join(filter(None, [said, *told, among_people(row), settles]))


def _diagnosis(row: AgreementRow, measured: Agreement, parts: Sequence[Part], unlabelled: int) -> tuple[str, ...]:
    """Return what a failing item says: what was found, what decides, three examples, and what to do."""
    lines = [f"{row.judge} on {row.dataset}: agreement is {row.status}"]
    lines += [f"  {line}" for line in (_shown(row), *(part.reason for part in parts), *_settling(row, parts)) if line]
    differing = {label: [each for each in measured.labelled(label) if not agrees(each)] for label in LABELS}
    wrong = {label: [each for each in every if each.selected] for label, every in differing.items()}
    first, second = sorted(LABELS, key=lambda label: len(wrong[label]), reverse=True)
    for each in (*wrong[first], *wrong[second], *measured.unread)[:EXAMPLES]:
        did = {1: "passed it", 2: "failed it"}.get(each.selected or 0, f"is invalid ({each.verdict.invalid})")
        lines += ["", f"  example {shortened(each.pair.id, 60)}: people say {label_of(each.pair)}, the judge {did}"]
        lines.append(f"    {shortened(each.verdict.reason or each.reply.detail, SHOWN_REASON) or '(no reason)'}")
    if count := len(wrong[first]):
        does = {"fail": "it passes what people fail", "pass": "it fails what people pass"}[first]
        other = f", {len(wrong[second])} the other way round" if wrong[second] else ""
        lines += ["", f"  Of {several(count + len(wrong[second]), 'disagreement')} {count} are that {does}{other}."]
        lines.append("  Read them: a label may be wrong, or the prompt does not say what these people go by.")
    if row.invalid:
        lines.append(f"  {several(row.invalid, 'grade')} could not be read, which counts as wrong.")
    if row.status == Status.INCONCLUSIVE and unlabelled:
        told = f"{several(unlabelled, 'example')} {'has' if unlabelled == 1 else 'have'} none"
        lines.append(f"  For more labels ({told}): judgefixtures label {row.dataset} --by NAME")
    elif row.status == Status.INCONCLUSIVE:
        lines.append(
            f"  Every example that was asked about has a label: more labels take more examples of {row.dataset}."
        )
    return tuple(lines)


# --- the report's section ---------------------------------------------------------------------------------------


def _sorted(findings: Sequence[Finding]) -> list[AgreementRow] | None:
    """Return all rows, every dataset's whole before its categories; None where nobody was asked."""
    rows = rows_of(findings, AgreementRow)
    return sorted(rows, key=lambda row: (row.judge, row.dataset, row.category != "all", row.category)) or None


def _tell(report: Row, _view: View) -> list[str]:
    said = [
        f"{row.status if row.status != Status.NOT_APPLICABLE else 'no limit is set'}: {row.text}"
        for row in read_results(report)
        if row.check == AgreementCheck.kind and row.text and not is_of_control(row.decided_by)
    ]
    shown = _shown_rows(report)
    return [*said, *_calibrated(shown), *([LEGEND] if shown else [])]


def _shown_rows(report: Row) -> list[AgreementRow]:
    """Return the rows of which there is something to show: of categories the larger ones."""
    rows = AGREEMENT.read_records(report)
    return [row for row in rows if row.n and (row.category == "all" or row.n >= SMALLEST_SHOWN_CATEGORY)]


def _table(report: Row) -> list[tuple[str, ...]]:
    rows = _shown_rows(report)
    return [HEADER, *map(_cells, rows)] if rows else []


def _cells(row: AgreementRow) -> tuple[str, ...]:
    values = (row.tpr, row.tnr, row.accuracy, row.kappa)
    people = row.people
    own = f"{people.raters}" if people.kappa is None else f"{people.raters}, kappa {bare(people.kappa)}"
    return (
        *(row.judge, row.dataset, row.category, str(row.n)),
        *(bare(each.value, 3) if each else "-" for each in values),
        limits(row.kappa),
        own,
    )


def _calibrated(rows: Iterable[AgreementRow]) -> list[str]:
    """Say how far the probabilities of a pass are what they say, where a judge tells them."""
    return [
        f"calibration of {row.judge} on {row.dataset}: Brier score {bare(brier.value, 3)}, {limits(brier)}; expected "
        f"calibration error {bare(error.value, 3)}, {limits(error)}; n = {brier.n}"
        for row in rows
        if row.category == "all" and (brier := row.brier_score) and (error := row.calibration_error)
    ]


AGREEMENT = Section("agreement", AgreementRow, _sorted, _tell, title=TITLE, listed=True, cells=_table)
SECTIONS = (AGREEMENT,)
