"""Label agreement: a judge's grades against people's labels. Invalid grades count as wrong."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judgefixtures.models.agreement_rows import RaterAgreement, human_label
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import LABELS, Example, Label, clusters_of
from judgefixtures.statistics.agreement_rates import (
    agreement_rate,
    balanced_accuracy,
    true_negative_rate,
    true_positive_rate,
)
from judgefixtures.statistics.calibration import brier_score, calibration_error
from judgefixtures.statistics.clusters import ClusterTotals
from judgefixtures.statistics.estimate import Estimate
from judgefixtures.statistics.kappa import cohen_kappa
from judgefixtures.statistics.proportions import proportion

from .certainty import likely
from .contrast_metrics import cluster_scores


def agrees_with_label(judgment: Judgment) -> bool:
    """Return whether a grade equals the label."""
    return judgment.selected == (1 if human_label(judgment.pair) == "pass" else 2)


def counts_as_passed(judgment: Judgment) -> bool:
    """Return whether a response counts as passed; invalid grades are wrong."""
    return agrees_with_label(judgment) == (human_label(judgment.pair) == "pass")


@dataclass(frozen=True)
class LabelAgreement:
    """Grades against labels; `around` has all labels of the dataset."""

    category: str
    arm: tuple[Judgment, ...]
    around: tuple[Judgment, ...]
    people: RaterAgreement
    confidence: float

    @property
    def n(self) -> int:
        """The number of labels."""
        return len(self.arm)

    def labelled(self, label: Label) -> tuple[Judgment, ...]:
        """Return the grades of examples with this label."""
        return tuple(each for each in self.arm if human_label(each.pair) == label)

    @cached_property
    def counts(self) -> tuple[int, int, int, int]:
        """The counts tp, fn, fp, tn."""
        right, caught = ([agrees_with_label(each) for each in self.labelled(label)] for label in LABELS)
        tp, tn = sum(right), sum(caught)
        return tp, len(right) - tp, len(caught) - tn, tn

    @property
    def unread(self) -> tuple[Judgment, ...]:
        """The invalid grades."""
        return tuple(each for each in self.arm if each.selected is None)

    @property
    def invalid(self) -> int:
        """Their number."""
        return len(self.unread)

    @cached_property
    def totals(self) -> Mapping[str, ClusterTotals | None]:
        """Agreement by cluster for each limit's name."""
        of = cluster_scores(self.around)
        about = {"tpr": self.labelled("pass"), "tnr": self.labelled("fail"), "accuracy": self.arm, "kappa": self.arm}
        return {name: of((each, agrees_with_label(each)) for each in members) for name, members in about.items()}

    @cached_property
    def estimates(self) -> Mapping[str, Estimate | None]:
        """Every rate by name, or None."""
        if not self.arm:
            return {}
        counts, totals, confidence, of = self.counts, self.totals, self.confidence, cluster_scores(self.around)

        def share(is_one: Callable[[Judgment], bool]) -> Estimate:
            scored = [(each, is_one(each)) for each in self.arm]
            return proportion(sum(one for _, one in scored), self.n, confidence, totals=of(scored))

        rates = {
            "tpr": true_positive_rate(*counts, confidence, totals["tpr"]),
            "tnr": true_negative_rate(*counts, confidence, totals["tnr"]),
            "accuracy": agreement_rate(*counts, confidence, totals["accuracy"]),
            "balanced_accuracy": balanced_accuracy(*counts, confidence, (totals["tpr"], totals["tnr"])),
            "kappa": cohen_kappa(*counts, confidence, totals["kappa"]),
            "pass_rate": share(counts_as_passed),
            "label_rate": share(lambda each: human_label(each.pair) == "pass"),
        }
        known = {name: None if math.isnan(each.value) else each for name, each in rates.items()}
        return {**known, **self._calibration()}

    def _calibration(self) -> dict[str, Estimate]:
        known = [(each.pair, chance.value) for each in self.arm if (chance := likely(each, "passed")) is not None]
        if not known:
            return {}
        chances, labels = [chance for _, chance in known], [human_label(pair) == "pass" for pair, _ in known]
        about = (chances, labels, self.confidence, clusters_of(pair for pair, _ in known))
        return {"brier_score": brier_score(*about), "calibration_error": calibration_error(*about)}


def measure_agreement(
    arm: Sequence[Judgment], rated: Iterable[Example], confidence: float = 0.90
) -> tuple[LabelAgreement, ...]:
    """Return the agreement for "all", then for each category.

    `rated` are all examples with named labels, ties included.
    """
    arm, rated = tuple(arm), tuple(rated)
    # A category that the data calls "all" has no row of its own: that name means every example.
    categories = sorted({name for each in arm if (name := each.pair.category) not in (None, "all")})

    def measured(category: str) -> LabelAgreement:
        own = tuple(each for each in arm if category in ("all", each.pair.category))
        people = RaterAgreement.of(each for each in rated if category in ("all", each.category))
        return LabelAgreement(
            category, own, arm, people if people.raters or not own else RaterAgreement(raters=1), confidence
        )

    return tuple(map(measured, ("all", *categories)))
