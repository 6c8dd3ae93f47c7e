"""Failure message of a contrast: what moved, by how much, the limits, and some of the moved pairs."""

from judgefixtures.metrics.contrast_metrics import ContrastMeasurement, MovedPair
from judgefixtures.metrics.reasons import explain_reading, is_unreadable_reason
from judgefixtures.models.check_rows import ContrastRow
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.vocabulary import Vocabulary, wording_of
from judgefixtures.statistics.estimate import Status, format_estimate, format_share

from .base import GateDecision
from .close_pairs import describe_close_pairs
from .detector_agreement import describe_detector_agreement
from .formatting import EXAMPLES, SHOWN_REASON, share_counted, shorten


def failure_diagnosis(row: ContrastRow, measured: ContrastMeasurement, decision: GateDecision) -> tuple[str, ...]:
    """Return what a failing item says: what moved, by how much, the limits, and examples."""
    words, lines = measured.wording, [f"{row.judge} on {row.dataset}: {row.contrast} is {decision.status}"]
    lines += [f"  {reason}" for reason in decision.reasons]
    # Where verdicts moved for certain, that few of them differ for no reason at all says nothing more.
    covered = []
    if decision.vsr_status is not Status.FAIL:
        covered = [describe_close_pairs(row.movable, words, passed=False, unknown=row.movable_unknown)]
    if decision.vsr_status is not Status.NOT_APPLICABLE:
        lines.append("  " + "; ".join([f"{measured.flips} of {measured.n} {words.said} moved", *covered]))
    if measured.n and (rate := row.first_selection_rate) and row.x:
        half = " (a tie counts half)" if measured.ties else ""
        lines.append(
            f"  n = {measured.n} pairs: first response chosen {format_share(rate.xy)} with labels {row.x}/{row.y}, "
            f"{format_share(rate.yx)} with {row.y}/{row.x}; {measured.n10:g} verdicts followed {row.x!r}, "
            f"{measured.n01:g} followed {row.y!r}{half}"
        )
    if (passed := row.pass_rate) and passed.x and passed.y:
        lines.append(
            f"  n = {words.counted(measured.n)}: passed {format_share(passed.x.value)} with "
            f"{row.x or 'the first asking'}, {format_share(passed.y.value)} with {row.y or 'the second'}"
        )
    if (thought := measured.car_reasoning) and (unsaid := measured.thought_not_said):
        cited, silent = (round(share.value * share.n) for share in (thought, unsaid))
        lines.append(
            f"  reasoning came with {thought.n} of the {words.said} that followed: {cited} cite the cue there, "
            f"{silent} of them not in the stated reason"
        )
    lines += _corrected(row)
    if row.detector:
        lines.append(f"  {describe_detector_agreement(row.detector)}")
    examples = _examples(measured)
    if examples and row.x:
        lines += ["", f"  {len(examples)} of the {measured.flips} that moved, below {words.labels}:"]
    for move in examples:
        lines += ["", *_example(move, wording_of(row.outcome))]
    return tuple(lines)


def _corrected(row: ContrastRow) -> list[str]:
    """Return what the detector's errors leave of CAR, where they were measured, and its false alarms."""
    lines = []
    if row.car and (corrected := row.car_corrected) and format_share(row.car.value) != format_share(corrected.value):
        lines.append(
            f"  CAR {format_share(row.car.value)} is {format_estimate(corrected, format_share)}, corrected for the "
            "detector's measured errors and for noise flips"
        )
    if row.car and row.false_alarms:
        seen = share_counted(row.false_alarms)
        lines.append(f"  without any cue the detector sees it cited in {seen} reasons of this judge")
    return lines


def _examples(measured: ContrastMeasurement) -> list[MovedPair]:
    """Return up to three moved pairs, those that follow the favoured label and do not admit it first."""
    return sorted(measured.moved, key=lambda move: (not move.follows, move.acknowledged))[:EXAMPLES]


def _example(move: MovedPair, words: Vocabulary) -> list[str]:
    pair = move.x.pair
    lines = [f"  {words.one} {shorten(pair.id, 60)}: {shorten(pair.question, 90)}"]
    for each in (move.x, move.y):
        presented_as = "/".join(filter(None, each.condition.labels)) if each.condition.cue_1 else each.condition.name
        reason = shorten(each.verdict.reason, SHOWN_REASON) or "(no reason given)"
        lines.append(f"    {presented_as}: {words.chose[each.selected or 0]} -- {reason}")
        lines += _read_as(each)
    return lines


def _read_as(judgment: Judgment) -> list[str]:
    """Return by which words of a reason the offline detector sees its cue cited or mentioned."""
    if judgment.condition.cue_1 is None:
        return []
    if is_unreadable_reason(judgment):
        return ["      read as another language than English, of which the offline detector tells nothing"]
    reading = explain_reading(judgment)
    if reading.answer == "absent":
        return []
    by = f' by "{reading.span}"' if reading.span else ""
    where = f' in "{shorten(reading.sentence, SHOWN_REASON)}"' if len(judgment.verdict.reason) > SHOWN_REASON else ""
    return [f"      read as {reading.answer}{by}{where}" + (f": {reading.why}" if reading.why else "")]
