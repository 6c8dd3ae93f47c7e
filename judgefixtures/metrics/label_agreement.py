"""Label agreement: a judge's grades against people's labels, and people against each other.

An invalid grade counts as wrong: a fail where people pass, a pass where they fail.
"""

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
    """Tell whether a grade is the example's label; an invalid one is not."""
    return judgment.selected == (1 if human_label(judgment.pair) == "pass" else 2)


def counts_as_passed(judgment: Judgment) -> bool:
    """Tell whether a response counts as passed: an invalid grade is wrong, so that it passes what people fail."""
    return agrees_with_label(judgment) == (human_label(judgment.pair) == "pass")


@dataclass(frozen=True)
class LabelAgreement:
    """How the grades of some labelled examples meet their labels; `around` are those of all of the dataset's."""

    category: str
    arm: tuple[Judgment, ...]
    around: tuple[Judgment, ...]
    people: RaterAgreement
    confidence: float

    @property
    def n(self) -> int:
        """How many labels."""
        return len(self.arm)

    def labelled(self, label: Label) -> tuple[Judgment, ...]:
        """Return the grades of what people label so."""
        return tuple(each for each in self.arm if human_label(each.pair) == label)

    @cached_property
    def counts(self) -> tuple[int, int, int, int]:
        """How many of what people pass the judge passes and fails, and of what they fail: tp, fn, fp, tn."""
        right, caught = ([agrees_with_label(each) for each in self.labelled(label)] for label in LABELS)
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
    def totals(self) -> Mapping[str, ClusterTotals | None]:
        """What agrees by cluster, where examples are related, among what a limit is about: by the limit's name."""
        of = cluster_scores(self.around)
        about = {"tpr": self.labelled("pass"), "tnr": self.labelled("fail"), "accuracy": self.arm, "kappa": self.arm}
        return {name: of((each, agrees_with_label(each)) for each in members) for name, members in about.items()}

    @cached_property
    def estimates(self) -> Mapping[str, Estimate | None]:
        """Every rate by its name in a row; None where it is not defined."""
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
        """Return how far the probabilities of a pass are from what people say, where the judge tells them."""
        known = [(each.pair, chance.value) for each in self.arm if (chance := likely(each, "passed")) is not None]
        if not known:
            return {}
        chances, labels = [chance for _, chance in known], [human_label(pair) == "pass" for pair, _ in known]
        about = (chances, labels, self.confidence, clusters_of(pair for pair, _ in known))
        return {"brier_score": brier_score(*about), "calibration_error": calibration_error(*about)}


def measure_agreement(
    arm: Sequence[Judgment], rated: Iterable[Example], confidence: float = 0.90
) -> tuple[LabelAgreement, ...]:
    """Return how grades meet labels on all labelled examples ("all", first), and in each category of them.

    `rated` are all examples that have labels by name: on some of them people may be divided, so that there is no
    label. Where there are none, one person is taken to have labelled.
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
