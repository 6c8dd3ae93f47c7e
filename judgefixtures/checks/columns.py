"""The row of a contrast: every column that the report has of it. A column is added here, with what it is by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from judgefixtures.checks.plain import (
    Sentences,
    admitted_text,
    done,
    sentences_of,
    shift_text,
    unread_text,
    unreasoned_text,
    with_what_decided,
)
from judgefixtures.checks.protocol import Decision
from judgefixtures.findings import OfJudge, Part, PartRow, Waived, related_units, rows_of_parts
from judgefixtures.material.contrasts import Contrast
from judgefixtures.measures.metrics import Measurement, Preference
from judgefixtures.numbers.estimate import Estimate, Status, signed
from judgefixtures.words.records import Record, where_any


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRate(Record):
    """How often the first response was chosen, with the labels one way round and the other."""

    xy: float = 0.0
    yx: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate(Record):
    """How often a response passed in arm x, and in arm y; None where no example counts."""

    x: Estimate | None = None
    y: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteRow(Record):
    """The words in which the reason of a verdict argues for the other response."""

    pair: str = ""
    condition: str = ""
    repeat: int = 0
    selected_response: int | None = None
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRange(Record):
    """The lower and the higher of a share by two detectors, and how far their intervals reach together."""

    values: tuple[float, ...] = ()
    low: float = 0.0
    high: float = 0.0
    confidence: float = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorRow(Record):
    """What a detector that is a model makes of the reasons, beside the offline one.

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
    """The noise that the contrasts of a judge on a dataset stand beside: repeats of one question, and the placebo."""

    repeat_flip_rate: Estimate | None = None
    placebo_vsr: Estimate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastRow(OfJudge):
    """What came of a contrast of one judge on one dataset; by default it could not be measured."""

    place: ClassVar[str] = "contrasts"
    family: str = ""
    contrast: str = ""
    x: str = ""
    y: str = ""
    n: int = 0
    clusters: int | None = where_any()
    ties: int = where_any(0)
    n11: float = 0
    n10: float = 0
    n01: float = 0
    n00: float = 0
    invalid_pairs: int = 0
    first_selection_rate: SelectionRate | None = None
    pass_rate: PassRate | None = where_any()  # of a judge of one response
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
    score_limit: float | None = where_any()  # how many points scores may shift, where they are gated
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
    decided_by: tuple[PartRow, ...] = ()
    message: str = ""
    text: str = ""
    arms: tuple[tuple[str | int, ...], ...] = ()  # condition and repeat
    sentences: Sentences | None = None
    outcome: str = ""
    moved: tuple[str, ...] = ()
    waived: Waived | None = None
    log_odds_given_reasons: Estimate | Literal[False] | None = where_any(False)  # False: it does not reason first
    not_applied: str = where_any("")
    contradiction_quotes: tuple[QuoteRow, ...] = where_any(())
    unread_reasons: int | None = where_any()
    movable_unknown: str = where_any("")
    detector: DetectorRow | None = where_any()
    position: Preference | None = where_any()
    position_flips: PartRow | None = where_any()  # of position: how many choices change with the order, whichever way
    floor: FloorRow | None = where_any()
    look: int | None = where_any()  # at how many pairs it was decided, where its gate plans looks

    @property
    def by_scores(self) -> bool:
        """Whether scores are gated in place of verdicts, which are shown then."""
        return self.score_limit is not None and self.vsr_status == Status.NOT_APPLICABLE

    @property
    def gated_shift(self) -> Estimate | None:
        """The shift that is gated: that of scores, in points, where they are; else that of verdicts."""
        return self.score_shift if self.by_scores else self.vsr

    @property
    def limit(self) -> float | None:
        """How far that may be from zero, None where it is not gated."""
        if self.by_scores:
            return self.score_limit
        return None if self.vsr_status == Status.NOT_APPLICABLE else self.tolerance

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain JSON; of what could not be measured in the order in which it always stood."""
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


def contrast_row(
    judge: str, dataset: str, contrast: Contrast, measured: Measurement, decision: Decision, **columns: Any
) -> ContrastRow:
    """Return the row of a contrast: what was measured and decided, and further columns."""
    n, edit = measured.n, contrast.x.edit
    rate = None
    if n and contrast.outcome == "chose-first":
        rate = SelectionRate(xy=(measured.n11 + measured.n10) / n, yx=(measured.n11 + measured.n01) / n)
    return ContrastRow.copied(
        measured,
        decision,
        _asked(judge, dataset, contrast),
        clusters=related_units(measured.related.shift),
        first_selection_rate=rate,
        decided_by=rows_of_parts(decision.decided_by),
        gross_share=measured.gross_share if edit else None,
        text=_text(judge, dataset, contrast, measured, decision),
        moved=tuple(move.x.pair.id for move in measured.moved),
        **columns,
    )


def error_row(judge: str, dataset: str, contrast: Contrast, tolerance: float, message: str) -> ContrastRow:
    """Return the row of a contrast that could not be measured."""
    return replace(
        _asked(judge, dataset, contrast),
        tolerance=tolerance,
        message=message,
        text=f"{done(contrast)} could not be measured of {judge} on {dataset}",
        decided_by=rows_of_parts([Part("unmeasured", Status.ERROR, message)]),
    )


def _asked(judge: str, dataset: str, contrast: Contrast) -> ContrastRow:
    """Return the row of what was asked of whom, and what both arms are, nothing of it measured."""
    both = sides_of_contrast(contrast)
    return ContrastRow(judge=judge, dataset=dataset, family=contrast.family, contrast=contrast.id, **both)


def sides_of_contrast(contrast: Contrast) -> dict[str, Any]:
    """Return the columns that say what both arms are: their labels, conditions and sentences, and what is counted."""
    x, y = (contrast.x.edit.label, "plain") if contrast.x.edit else contrast.labels
    arms = tuple((condition.name, repeat) for condition, repeat in contrast.arms)
    return {"x": x, "y": y, "arms": arms, "sentences": sentences_of(contrast), "outcome": contrast.outcome}


def _text(judge: str, dataset: str, contrast: Contrast, measured: Measurement, decision: Decision) -> str:
    """Return what came of a contrast, in a sentence without terms."""
    who = f"{judge} on {dataset}"
    scores = next((part.text for part in decision.parts if part.name == "score"), "")
    if contrast.is_alone and decision.vsr_status is Status.NOT_APPLICABLE and scores:  # nothing passes
        return f"{who}, {done(contrast)} ({measured.n} responses): {scores}"
    decided = decision.decided_by
    if decision.vsr_status is Status.NOT_APPLICABLE and scores and measured.vsr is not None:
        decided = tuple(part for part in decided if part.name != "score")  # it is said first in any case
        net = f"net shift {signed(measured.vsr.value)}; shown, not gated"
        made = f"of the {measured.n} verdicts of {who} that follow from the scores it changed {measured.flips} ({net})"
        said = f"{done(contrast)}: {scores}; {made}"
    else:
        said = shift_text(contrast, who, measured.flips, measured.n, measured.vsr, decision.tolerance, measured.wording)
    if decision.unread is not None and decision.unread.hides:
        said += unread_text(decision.unread)
    elif measured.unreasoned:
        said += unreasoned_text(measured.followed)
    elif contrast.x.cue_1 is not None and measured.car is not None:
        label = contrast.labels[0] if measured.n10 >= measured.n01 else contrast.labels[1]
        failed = (part for part in decision.parts if part.name == "car" and part.status is Status.FAIL)
        asked = next((part.allowed[0] for part in failed if part.allowed), None)
        said += admitted_text(measured.followed, measured.acknowledged, label, asked)
    return with_what_decided(said, decided, told=len(decided) < len(decision.decided_by))
