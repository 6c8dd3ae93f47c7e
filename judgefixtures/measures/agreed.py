"""Agreed: how the grades of a judge of one response meet people's labels, and how far people agree with each other.

Nothing is decided here. An invalid grade is a wrong one: a fail of what people pass, a pass of what they fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from judgefixtures.asking.questions import Judgment
from judgefixtures.material.pairs import LABELS, Example, Label, Pair, clusters_of
from judgefixtures.measures.certainty import likely
from judgefixtures.measures.metrics import by_cluster
from judgefixtures.numbers.agreement import agreement_rate, balanced_accuracy, true_negative_rate, true_positive_rate
from judgefixtures.numbers.calibration import brier_score, calibration_error
from judgefixtures.numbers.clusters import Totals
from judgefixtures.numbers.estimate import Estimate
from judgefixtures.numbers.kappa import cohen_kappa, krippendorff_alpha, pairwise_kappa
from judgefixtures.numbers.proportions import proportion
from judgefixtures.words.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class People(Record):
    """How far people agree with each other: mean pairwise kappa and Krippendorff's alpha, None of one alone."""

    raters: int = 0
    kappa: float | None = None
    alpha: float | None = None

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Self:
        """Return how far those agree who labelled some examples, those among them on which they are divided."""
        labelled = [dict(each.labels) for each in examples if each.labels]
        names = sorted({name for labels in labelled for name in labels})
        if not labelled:
            return cls()
        ratings = [[labels.get(name) for name in names] for labels in labelled]
        kappa, alpha = pairwise_kappa(ratings), krippendorff_alpha(ratings)
        return cls(
            raters=len(names), kappa=None if math.isnan(kappa) else kappa, alpha=None if math.isnan(alpha) else alpha
        )


def label_of(pair: Pair) -> Label | None:
    """Return what people say of an example; of a pair there is no such thing."""
    return pair.label if isinstance(pair, Example) else None


def agrees(judgment: Judgment) -> bool:
    """Tell whether a grade is the example's label; an invalid one is not."""
    return judgment.selected == (1 if label_of(judgment.pair) == "pass" else 2)


def passes(judgment: Judgment) -> bool:
    """Tell whether a response counts as passed: an invalid grade is wrong, so that it passes what people fail."""
    return agrees(judgment) == (label_of(judgment.pair) == "pass")


@dataclass(frozen=True)
class Agreement:
    """How the grades of some labelled examples meet their labels; `around` are those of all of the dataset's."""

    category: str
    arm: tuple[Judgment, ...]
    around: tuple[Judgment, ...]
    people: People
    confidence: float

    @property
    def n(self) -> int:
        """How many labels."""
        return len(self.arm)

    def labelled(self, label: Label) -> tuple[Judgment, ...]:
        """Return the grades of what people label so."""
        return tuple(each for each in self.arm if label_of(each.pair) == label)

    @cached_property
    def counts(self) -> tuple[int, int, int, int]:
        """How many of what people pass the judge passes and fails, and of what they fail: tp, fn, fp, tn."""
        right, caught = ([agrees(each) for each in self.labelled(label)] for label in LABELS)
        tp, tn = sum(right), sum(caught)
        return tp, len(right) - tp, len(caught) - tn, tn

    @property
    def unread(self) -> tuple[Judgment, ...]:
        """The grades that are invalid."""
        return tuple(each for each in self.arm if each.selected is None)

    @property
    def invalid(self) -> int:
        """How many grades are invalid."""
        return len(self.unread)

    @cached_property
    def totals(self) -> Mapping[str, Totals | None]:
        """What agrees by cluster, where examples are related, among what a limit is about: by the limit's name."""
        of = by_cluster(self.around)
        about = {"tpr": self.labelled("pass"), "tnr": self.labelled("fail"), "accuracy": self.arm, "kappa": self.arm}
        return {name: of((each, agrees(each)) for each in members) for name, members in about.items()}

    @cached_property
    def estimates(self) -> Mapping[str, Estimate | None]:
        """Every rate by its name in a row; None where it is not defined."""
        if not self.arm:
            return {}
        counts, totals, confidence, of = self.counts, self.totals, self.confidence, by_cluster(self.around)

        def share(is_one: Callable[[Judgment], bool]) -> Estimate:
            scored = [(each, is_one(each)) for each in self.arm]
            return proportion(sum(one for _, one in scored), self.n, confidence, totals=of(scored))

        found = {
            "tpr": true_positive_rate(*counts, confidence, totals["tpr"]),
            "tnr": true_negative_rate(*counts, confidence, totals["tnr"]),
            "accuracy": agreement_rate(*counts, confidence, totals["accuracy"]),
            "balanced_accuracy": balanced_accuracy(*counts, confidence, (totals["tpr"], totals["tnr"])),
            "kappa": cohen_kappa(*counts, confidence, totals["kappa"]),
            "pass_rate": share(passes),
            "label_rate": share(lambda each: label_of(each.pair) == "pass"),
        }
        known = {name: None if math.isnan(each.value) else each for name, each in found.items()}
        return {**known, **self._calibration()}

    def _calibration(self) -> dict[str, Estimate]:
        """Return how far the probabilities of a pass are from what people say, where the judge tells them."""
        known = [(each.pair, found.value) for each in self.arm if (found := likely(each, "passed")) is not None]
        if not known:
            return {}
        chances, labels = [chance for _, chance in known], [label_of(pair) == "pass" for pair, _ in known]
        about = (chances, labels, self.confidence, clusters_of(pair for pair, _ in known))
        return {"brier_score": brier_score(*about), "calibration_error": calibration_error(*about)}


def agreements(arm: Sequence[Judgment], rated: Iterable[Example], confidence: float = 0.90) -> tuple[Agreement, ...]:
    """Return how grades meet labels on all labelled examples ("all", first), and in each category of them.

    `rated` are all examples that have labels by name: on some of them people may be divided, so that there is no
    label. Where there are none, one person is taken to have labelled.
    """
    arm, rated = tuple(arm), tuple(rated)
    # A category that the data calls "all" has no row of its own: that name means every example.
    categories = sorted({name for each in arm if (name := each.pair.category) not in (None, "all")})

    def measured(category: str) -> Agreement:
        own = tuple(each for each in arm if category in ("all", each.pair.category))
        people = People.of(each for each in rated if category in ("all", each.category))
        return Agreement(category, own, arm, people if people.raters or not own else People(raters=1), confidence)

    return tuple(map(measured, ("all", *categories)))
