"""Rows of report.json about agreement with people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from judgefixtures.statistics.annotators import difference_from_people, gate_as_people
from judgefixtures.statistics.estimate import Estimate, Status, pluralize
from judgefixtures.statistics.kappa import krippendorff_alpha, pairwise_kappa

from .findings import JudgeRow
from .judgments import Judgment
from .pairs import Example, Label, Pair, clusters_of
from .record import Record, omit_default


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement(Record):
    """Agreement among people."""

    raters: int = 0
    kappa: float | None = None
    alpha: float | None = None

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Self:
        """Return the agreement of these examples' raters."""
        labelled = [dict(each.labels) for each in examples if each.labels]
        names = sorted({name for labels in labelled for name in labels})
        if not labelled:
            return cls()
        ratings = [[labels.get(name) for name in names] for labels in labelled]
        both = pairwise_kappa(ratings), krippendorff_alpha(ratings)
        kappa, alpha = (None if math.isnan(each) else each for each in both)
        return cls(raters=len(names), kappa=kappa, alpha=alpha)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow(JudgeRow):
    """Agreement of a judge with people's labels, by category."""

    place: ClassVar[str] = "agreement"
    category: str = "all"
    n: int = 0
    clusters: int | None = omit_default()
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
    brier_score: Estimate | None = omit_default()
    calibration_error: Estimate | None = omit_default()
    people: RaterAgreement = field(default_factory=RaterAgreement)
    as_people: AsPeople | None = omit_default()
    limits: Mapping[str, float] = field(default_factory=dict)
    status: str = Status.ERROR
    message: str = ""
    needed_labels: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AsPeople(Record):
    """Comparison of a judge's agreement with people and people's with each other.

    `difference` is the mean of `difference_from_people` over `difference.n` examples, of which `ties` have no majority.
    """

    difference: Estimate | None = None
    ties: int = 0
    margin: float = 0.05
    status: str = ""
    text: str = ""
    needed_examples: int | None = None

    @classmethod
    def of(cls, judgments: Iterable[Judgment], margin: float, alpha: float, lost: int = 0) -> Self | None:
        """Return the comparison, undecided with `lost` ties, or None."""
        known = [(each.selected or 0, each.pair) for each in judgments if is_compared(each.pair)]
        if not known:
            return None
        labels = [tuple(pair.labels.values()) for _, pair in known if isinstance(pair, Example)]
        grades = [{1: "pass", 2: "fail"}.get(selected) for selected, _ in known]
        differences = [*map(difference_from_people, grades, labels)]
        result = gate_as_people(differences, margin, alpha, clusters_of(pair for _, pair in known))
        more = f"; INCONCLUSIVE until answers to {pluralize(lost, 'tie')} between people are recorded"
        return cls(
            difference=result.estimate,
            ties=sum(human_label(pair) is None for _, pair in known),
            margin=margin,
            status=Status.INCONCLUSIVE if lost else result.status,
            text=result.message + (more if lost else ""),
            needed_examples=result.needed_pairs,
        )


def is_compared(pair: Pair) -> bool:
    """Return whether at least two people labelled it."""
    return isinstance(pair, Example) and len(pair.labels) > 1


def human_label(pair: Pair) -> Label | None:
    """Return an example's label; None for pairs."""
    return pair.label if isinstance(pair, Example) else None
