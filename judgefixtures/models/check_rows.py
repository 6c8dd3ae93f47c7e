"""Rows of report.json from checks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from judgefixtures.statistics.clusters import ClusterTotals
from judgefixtures.statistics.estimate import Estimate, Status

from .findings import AppliedWaiver, DecisionPart, JudgeRow, ReportRow
from .record import UNWRITTEN, Record, not_serialized, omit_default


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyRow(JudgeRow):
    """Accuracy of a judge on a dataset, by category.

    An invalid answer is wrong, a tie is half right. `accuracy_both_orders` counts pairs that are right in both orders;
    None where only one was asked. `by_cluster` is what is right, and what is invalid, by cluster where pairs are
    related.
    """

    place: ClassVar[str] = "accuracy"
    category: str = ""
    n: int = 0
    clusters: int | None = omit_default()
    correct: float = 0
    ties: int = omit_default(0)
    invalid: int = 0
    accuracy: Estimate
    accuracy_both_orders: Estimate | None = None
    by_cluster: tuple[ClusterTotals | None, ClusterTotals | None] = not_serialized((None, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class MacroRow(JudgeRow):
    """Mean accuracy of a judge over the categories of a dataset."""

    categories: int = 0
    accuracy: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRate(Record):
    """How often the first response was chosen, by the label on it."""

    xy: float = 0.0
    yx: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate(Record):
    """How often a response passed, by arm."""

    x: Estimate | None = None
    y: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteRow(Record):
    """Words of a reason that argue for the opposite of the verdict."""

    pair: str = ""
    condition: str = ""
    repeat: int = 0
    selected_response: int | None = None
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRange(Record):
    """Range of a share over two detectors."""

    values: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    confidence: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorRow(Record):
    """Result of the detector that is a model, beside the offline detector.

    `car` and `car_all` are by that detector; the ranges go over both. `answers` count the reasons by what the offline
    detector says and then by what the model says; `agreement` is the share of them with the same answer.
    """

    judge: str = ""
    car: Estimate | None = None
    car_all: Estimate | None = None
    identity: Mapping[str, Any] | None = None
    car_range: ShareRange | None = None
    car_all_range: ShareRange | None = None
    agreement: Estimate | None = None
    answers: Mapping[str, Mapping[str, int]] | None = None
    invalid: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorRow(Record):
    """Noise to compare contrasts with."""

    repeat_flip_rate: Estimate | None = None
    placebo_vsr: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastRow(JudgeRow):
    """Result of a contrast of one judge on one dataset."""

    place: ClassVar[str] = "contrasts"
    family: str = ""
    contrast: str = ""
    x: str = ""
    y: str = ""
    n: int = 0
    clusters: int | None = omit_default()
    ties: int = omit_default(0)
    n11: float = 0
    n10: float = 0
    n01: float = 0
    n00: float = 0
    invalid_pairs: int = 0
    first_selection_rate: SelectionRate | None = None
    pass_rate: PassRate | None = omit_default()  # of a judge of one response
    vsr: Estimate | None = None
    flip_rate: Estimate | None = None
    gross_share: Estimate | None = None
    car: Estimate | None = None
    car_corrected: Estimate | None = None
    car_all: Estimate | None = None
    car_reasoning: Estimate | None = None
    thought_not_said: Estimate | None = None
    silent_shift_rate: Estimate | None = None
    admitted_shift: Estimate | None = None
    unadmitted_shift: Estimate | None = None
    log_odds_shift: Estimate | None = None
    log_odds_status: str = Status.NOT_APPLICABLE
    soft_vsr: Estimate | None = None
    score_shift: Estimate | None = None
    score_status: str = Status.NOT_APPLICABLE
    score_limit: float | None = omit_default()  # how many points scores may shift, where they are gated
    contradictions: int = 0
    false_alarms: Estimate | None = None  # known with cue-free recordings
    movable: Estimate | None = None  # known when all recordings of the judge were looked at
    mcnemar_p: float | None = None
    p_pass: float | None = None
    p_fail: float | None = None
    p_fail_holm: float | None = None
    tolerance: float = 0.0
    vsr_status: str = Status.ERROR
    car_status: str = Status.NOT_APPLICABLE
    status: str = Status.ERROR
    decided_by: tuple[DecisionPart, ...] = ()
    message: str = ""
    text: str = ""
    arms: tuple[tuple[str | int, ...], ...] = ()  # condition and repeat
    sentences: CueSentences | None = None
    outcome: str = ""
    moved: tuple[str, ...] = ()
    waived: AppliedWaiver | None = None
    log_odds_given_reasons: Estimate | Literal[False] | None = omit_default(False)  # False: it does not reason first
    not_applied: str = omit_default("")
    contradiction_quotes: tuple[QuoteRow, ...] = omit_default(())
    unread_reasons: int | None = omit_default()
    movable_unknown: str = omit_default("")
    detector: DetectorRow | None = omit_default()
    position: PositionPreference | None = omit_default()
    position_flips: DecisionPart | None = omit_default()  # of position: how many choices change with the order
    floor: FloorRow | None = omit_default()
    look: int | None = omit_default()  # at how many pairs it was decided, where its gate plans looks

    @property
    def by_scores(self) -> bool:
        """Whether scores are gated."""
        return self.score_limit is not None and self.vsr_status == Status.NOT_APPLICABLE

    @property
    def gated_shift(self) -> Estimate | None:
        """The gated shift: points of scores, or verdicts."""
        return self.score_shift if self.by_scores else self.vsr

    @property
    def limit(self) -> float | None:
        """The limit of the gated shift, or None."""
        if self.by_scores:
            return self.score_limit
        return None if self.vsr_status == Status.NOT_APPLICABLE else self.tolerance

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain JSON."""
        row = Record.to_json(self)
        if self.mcnemar_p is not None:
            return row
        names = [name for name in row if name not in AFTER_OF_LOST]
        for name, before in AFTER_OF_LOST.items():
            names.insert(names.index(before) + 1, name)
        return {name: row[name] for name in names}


AFTER_OF_LOST = {
    "contradictions": "invalid_pairs",
    "false_alarms": "thought_not_said",
    "log_odds_shift": "p_fail_holm",
    "log_odds_status": "log_odds_shift",
    "soft_vsr": "log_odds_status",
    "score_shift": "soft_vsr",
    "score_status": "score_shift",
    "decided_by": "text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRow(ReportRow):
    """Control of a judge: its answers on the clear pairs of a dataset.

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
    tpr: Estimate | None = omit_default()
    tnr: Estimate | None = omit_default()
    youden: Estimate | None = omit_default()
    cause: str = not_serialized("")
    unreadable: bool = not_serialized(False)
    example: str = not_serialized("")
    command: str = not_serialized("")

    @property
    def blocks_pass(self) -> bool:
        """Whether the judge cannot PASS."""
        return self.status in (Status.FAIL, Status.INCONCLUSIVE, Status.ERROR)


@dataclass(frozen=True, slots=True, kw_only=True)
class FourCellRow(JudgeRow):
    """Result of a cue contrast that was asked in both orders."""

    place: ClassVar[str] = "four_cells"
    contrast: str = ""
    clusters: int | None = omit_default()
    cue_effect: Estimate | None = None
    position_effect: Estimate | None = None
    invalid_pairs: int | None = None
    tolerance: float = 0.0
    status: str = Status.ERROR
    decided_by: tuple[DecisionPart, ...] = ()
    waived: AppliedWaiver | None = None
    message: str = ""
    look: int | None = omit_default()


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLookRow(JudgeRow):
    """Number of pairs and calls with which a contrast was decided, if looks are planned."""

    place: ClassVar[str] = "looks"
    contrast: str = ""
    look: int = 0
    pairs: int = 0  # that there are
    planned: tuple[int, ...] = ()
    status: str = ""
    arms: tuple[str, ...] = ()  # what is asked, by name: contrasts that share an arm ask it once
    calls: int = 0
    calls_of_all: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCountedRow(JudgeRow):
    """Result of a check that does not count, because the judge did not pass its control.

    `command` records the control, where that is all that is missing.
    """

    place: ClassVar[str] = "not_counted"
    baseline: str = omit_default("")  # of a swap
    family: str = ""
    name: str = ""
    n: int = 0
    estimate: Estimate | None = None
    text: str = ""
    command: str = omit_default("")

    @property
    def who(self) -> str:
        """The judge, or both judges of a swap."""
        return f"{self.judge} against {self.baseline}" if self.baseline else self.judge


@dataclass(frozen=True, slots=True, kw_only=True)
class CueSentences(Record):
    """Cue sentences of a contrast, as the prompt says them of response 1."""

    x: str = ""
    y: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlansRow(JudgeRow):
    """Plans of a judge on a dataset.

    They are carried out as made, or are a fallback. By default they could not be made or replayed.
    """

    place: ClassVar[str] = "plans"
    n: int = 0
    planned: int = 0
    fallback: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    leaks: int = 0
    degenerate_share: Estimate | None = None
    max_degenerate: float | None = None
    status: str = Status.ERROR
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingFlips(JudgeRow):
    """Excess flips per pair."""

    place: ClassVar[str] = "reworded"
    excess: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResultRow(Record):
    """Result of one item."""

    judge: str = ""
    baseline: str | None = None
    dataset: str = ""
    check: str = ""
    name: str = ""
    status: str = ""
    waived: bool = False
    text: str = ""
    message: str = ""
    decided_by: tuple[DecisionPart, ...] = ()
    lapsed: bool = omit_default(False)
    of_test: bool = omit_default(False)


ByArm = Mapping[str, Mapping[str, Any]]  # by the name of an arm, then by pair id


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralChoices(JudgeRow):
    """Choices and probabilities in neutral conditions.

    Attributes:
        chosen_by: Arms that selected the pairs.
    """

    place: ClassVar[str] = "indifferent"
    contrast: str = ""
    confidence: float = 0.9
    pairs: tuple[str, ...] = ()
    arms: ByArm
    likely: ByArm
    chosen_by: tuple[str, ...] = omit_default(())

    def others(self, arms: ByArm) -> list[Mapping[str, Any]]:
        """Return the other arms than `chosen_by`."""
        return [values for name, values in arms.items() if name not in self.chosen_by]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPairShifts(JudgeRow):
    """Moves of each pair between two labels."""

    place: ClassVar[str] = "shifts"
    labels: tuple[str, ...] = ()
    shifts: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRow(JudgeRow):
    """Estimated order of the provenance labels for a judge on a dataset."""

    n: int = 0
    order: tuple[str, ...] = ()
    strengths: Mapping[str, Estimate]
    bradley_terry: Mapping[str, float]
    certified: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairShifts(JudgeRow):
    """Moves of each pair in a contrast."""

    place: ClassVar[str] = "moves"
    contrast: str = ""
    moves: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModelRow(Record):
    """Number of answers by served model and fingerprint."""

    judge: str = ""
    model: str | None = None
    fingerprint: str | None = None
    answers: int = 0


ALL = "all"  # the mean over the wordings
# Of the pairs that count, and the least and the most of every pair whatever its invalid answers would have been.
ScoresAtWorst = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingRow(JudgeRow):
    """Effect of other wordings on the answers of a judge.

    Rates are None where no pair counts.

    Attributes:
        invalid: Number of invalid answers.
        excess: By pair, how much more often the answer flips with another wording than in a repeat.
        least: The smallest `excess` of all pairs that invalid answers allow.
        most: The largest.
        labels: Clusters of the counted pairs, or None.
        all_labels: Clusters of all pairs, or None.
        shifts: By pair, outcome rate with the wording minus that of the own template.
        changes: Squared changes of a pair's pass probability; needs two `runs`.
    """

    place: ClassVar[str] = "wordings"
    wording: str = ALL
    runs: int = 1
    n: int = 0
    clusters: int | None = omit_default()
    invalid: int = 0
    flip_rate: Estimate | None = None
    repeat_flip_rate: Estimate | None = None
    excess_flips: Estimate | None = None
    net_shift: Estimate | None = None
    shift: Estimate | None = None
    squared_change: Estimate | None = None
    tolerance: float | None = None
    status: str = Status.ERROR
    message: str = ""
    needed_pairs: int | None = None
    excess: Mapping[str, float] = field(default_factory=dict, metadata={UNWRITTEN: True})
    least: tuple[float, ...] = not_serialized(())
    most: tuple[float, ...] = not_serialized(())
    labels: tuple[Hashable, ...] | None = not_serialized()
    all_labels: tuple[Hashable, ...] | None = not_serialized()
    shifts: ScoresAtWorst = not_serialized(((), (), ()))
    changes: ScoresAtWorst | None = not_serialized()


@dataclass(frozen=True, slots=True)
class Expense:
    """Mean cost of a verdict, for the judge and its baseline on the same pairs.

    `difference` is judge - baseline; None where fewer than two pairs tell.
    """

    judge: float
    baseline: float
    n: int
    difference: Estimate | None


@dataclass(frozen=True, slots=True)
class PositionPreference:
    """How far the order of the responses decides a judge's choice.

    `first` is P(chose what stood first) - 1/2 over both orders, in which content cancels; `by_gold` the same
    where the gold response is 1 and where it is 2.
    """

    consistency: Estimate
    first: Estimate
    by_gold: tuple[tuple[int, float, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow(Record):
    """The dates of answers, and the number asked now."""

    first: str | None = None
    last: str | None = None
    undated: bool = False
    asked_now: int = 0
