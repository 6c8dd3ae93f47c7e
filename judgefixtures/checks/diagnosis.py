"""What a failing contrast says: what moved, by how much, the limits, and a few of the pairs that moved."""

from __future__ import annotations

from judgefixtures.asking.questions import Judgment
from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.phrasing import EXAMPLES, SHOWN_REASON, share_counted, shortened
from judgefixtures.checks.protocol import Decision
from judgefixtures.checks.sensitivity import close_calls
from judgefixtures.checks.two_detectors import readings_text
from judgefixtures.material.diction import Wording, wording_of
from judgefixtures.measures.metrics import Measurement, Moved, stance_of, unreadable
from judgefixtures.numbers.estimate import Status, bare, describe


def diagnosis(row: ContrastRow, measured: Measurement, decision: Decision) -> tuple[str, ...]:
    """Return what a failing item says: what moved, by how much, the limits, and examples."""
    words, lines = measured.wording, [f"{row.judge} on {row.dataset}: {row.contrast} is {decision.status}"]
    lines += [f"  {reason}" for reason in decision.reasons]
    # Where verdicts moved for certain, that few of them differ for no reason at all says nothing more.
    covered = []
    if decision.vsr_status is not Status.FAIL:
        covered = [close_calls(row.movable, words, passed=False, unknown=row.movable_unknown)]
    if decision.vsr_status is not Status.NOT_APPLICABLE:
        lines.append("  " + "; ".join([f"{measured.flips} of {measured.n} {words.said} moved", *covered]))
    if measured.n and (rate := row.first_selection_rate) and row.x:
        half = " (a tie counts half)" if measured.ties else ""
        lines.append(
            f"  n = {measured.n} pairs: first response chosen {bare(rate.xy)} with labels {row.x}/{row.y}, "
            f"{bare(rate.yx)} with {row.y}/{row.x}; {measured.n10:g} verdicts followed {row.x!r}, "
            f"{measured.n01:g} followed {row.y!r}{half}"
        )
    if (passed := row.pass_rate) and passed.x and passed.y:
        lines.append(
            f"  n = {words.counted(measured.n)}: passed {bare(passed.x.value)} with {row.x or 'the first asking'}, "
            f"{bare(passed.y.value)} with {row.y or 'the second'}"
        )
    if (thought := measured.car_reasoning) and (unsaid := measured.thought_not_said):
        cited, silent = (round(share.value * share.n) for share in (thought, unsaid))
        lines.append(
            f"  reasoning came with {thought.n} of the {words.said} that followed: {cited} cite the cue there, "
            f"{silent} of them not in the stated reason"
        )
    lines += _corrected(row)
    if row.detector:
        lines.append(f"  {readings_text(row.detector)}")
    examples = _examples(measured)
    if examples and row.x:
        lines += ["", f"  {len(examples)} of the {measured.flips} that moved, below {words.labels}:"]
    for move in examples:
        lines += ["", *_example(move, wording_of(row.outcome))]
    return tuple(lines)


def _corrected(row: ContrastRow) -> list[str]:
    """Return what the detector's errors leave of CAR, where they were measured, and its false alarms."""
    lines = []
    if row.car and (corrected := row.car_corrected) and bare(row.car.value) != bare(corrected.value):
        lines.append(
            f"  CAR {bare(row.car.value)} is {describe(corrected, bare)}, corrected for the "
            "detector's measured errors and for noise flips"
        )
    if row.car and row.false_alarms:
        seen = share_counted(row.false_alarms)
        lines.append(f"  without any cue the detector sees it cited in {seen} reasons of this judge")
    return lines


def _examples(measured: Measurement) -> list[Moved]:
    """Return up to three moved pairs, those that follow the favoured label and do not admit it first."""
    return sorted(measured.moved, key=lambda move: (not move.follows, move.acknowledged))[:EXAMPLES]


def _example(move: Moved, words: Wording) -> list[str]:
    pair = move.x.pair
    lines = [f"  {words.one} {shortened(pair.id, 60)}: {shortened(pair.question, 90)}"]
    for judgment in (move.x, move.y):
        asked = (
            "/".join(filter(None, judgment.condition.labels)) if judgment.condition.cue_1 else judgment.condition.name
        )
        reason = shortened(judgment.verdict.reason, SHOWN_REASON) or "(no reason given)"
        lines.append(f"    {asked}: {words.chose[judgment.selected or 0]} -- {reason}")
        lines += _read_as(judgment)
    return lines


def _read_as(judgment: Judgment) -> list[str]:
    """Return by which words of a reason the offline detector sees its cue cited or mentioned."""
    if judgment.condition.cue_1 is None:
        return []
    if unreadable(judgment):
        return ["      read as another language than English, of which the offline detector tells nothing"]
    found = stance_of(judgment)
    if found.answer == "absent":
        return []
    by = f' by "{found.span}"' if found.span else ""
    where = f' in "{shortened(found.sentence, SHOWN_REASON)}"' if len(judgment.verdict.reason) > SHOWN_REASON else ""
    return [f"      read as {found.answer}{by}{where}" + (f": {found.why}" if found.why else "")]
