"""A contrast of one judge: how far its verdicts move with a cue, with the order or with nothing, and does it say so?"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import ClassVar

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm, Choice, Judgment
from judgefixtures.checks.beyond_verdicts import NOTHING, Beyond, beyond, beyond_lines, need_beyond
from judgefixtures.checks.phrasing import limits, shortened, table
from judgefixtures.checks.plain import admitted_text, done, named_in, sentences_of, shift_text, with_what_decided
from judgefixtures.checks.protocol import AboutContrast, Answers, Case, Decision, Need, gate_of, lost
from judgefixtures.checks.reasons import contradicted, contradicted_lines, contradictions, contradictions_row
from judgefixtures.checks.sections import Section, View, with_holm
from judgefixtures.checks.sensitivity import close_calls, seen, with_movable
from judgefixtures.checks.two_detectors import (
    AtWorst,
    measured_offline,
    of_both,
    of_unread,
    readings_lines,
    readings_row,
    readings_text,
    unread_row,
    unread_text,
    without_admission,
)
from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.findings import Finding, Part, PartName, Row, clusters_row, estimate_row, evidence_of, rows_of
from judgefixtures.material.contrasts import Contrast, indifferent_arms
from judgefixtures.material.cues import PLACEBO
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.metrics import (
    STUCK,
    Measurement,
    Moved,
    false_alarms,
    measure,
    preference,
    share_of,
    stance_of,
    unreadable,
)
from judgefixtures.measures.validity import too_many_invalid
from judgefixtures.numbers.power import smallest_n
from judgefixtures.numbers.statistics import (
    Estimate,
    Status,
    bare,
    counted,
    decides,
    describe,
    gate_admission,
    gate_shift,
    mirrored,
    paired_difference,
    several,
    signed,
    worst,
)

# Admission is decided only where verdicts demonstrably moved: elsewhere there may be nothing to admit.
CAR_NEEDS_P = 0.01
HEADER = ("judge", "dataset", "contrast", "n", "VSR", "CI", "tolerance", "flips", "CAR", "status")
TITLE = "cues: do verdicts move when only a label, a date, the order or a decoration moves?"
LEGEND = (
    "VSR, verdict shift rate (the net shift): how much more often response 1 is chosen with the favoured label on it, "
    "the first one of a contrast's name",
    "PASS: all of its interval (CI) is within the tolerance; flips: verdicts that changed; n: pairs of each contrast",
)
LEGEND_CAR = "CAR, cue acknowledgment rate: of the verdicts that went to the favoured label, how many reasons admit it"
EXAMPLES = 3
SHOWN_REASON = 240
PLACES = {1: "first", 2: "second"}


@dataclass(frozen=True, slots=True)
class ContrastCheck(AboutContrast):
    """VSR is within tolerance, and enough of the shift admitted where verdicts demonstrably moved."""

    kind: ClassVar[str] = "contrast"
    repeats: int = 1  # of each arm; verdicts are those of the first, shares of all of them tell how sure a judge is

    @property
    def is_read(self) -> bool:
        """Whether there are cues that reasons may admit: to a model that detects them the placebo's are none."""
        return self.contrast.x.cue_1 is not None and self.family != PLACEBO

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Both arms of the contrast, x and y by turns with all their repeats."""
        return tuple(
            (condition, first + repeat) for repeat in range(self.repeats) for condition, first in self.contrast.arms
        )

    def indifferent(self, case: Case, judge: Judge) -> tuple[Arm, ...]:
        """All there are: they tell how many pairs are close for the judge. To one that scores, both orders are one."""
        return judge.kind.distinct(indifferent_arms(case.repeats, case.config.cues))

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:
        """Return the pairs without which not even a judge that never moves can PASS."""
        gate = config.gate(self.family)
        lacking = need_of(self.contrast, dataset, pairs, smallest_n(gate.tolerance(self.family), gate.alpha), gate)
        more = None if self.contrast.x.edit else need_beyond(self.name, dataset, pairs, judge, gate)
        return max(filter(None, [lacking, more]), key=lambda need: need.at_least, default=None)

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of both arms."""
        gate, (x, y), read = gate_of(self, case), answers[0].arms[:2], answers[0].detections
        measured, unread = measured_offline(x, y, gate, self.contrast.outcome, read)
        other = None if read is None else measure(x, y, gate.confidence, self.contrast.outcome, read, {})
        second = None
        if read is not None and other is not None and not read.lack(gate.max_invalid):
            second = (read.detector, other)
        more = beyond(self.contrast, case, answers[0], gate)
        decision = more.beside(decide(measured, gate, second, unread))
        found = finding(self, case, answers[0], measured, decision, more, other)
        rows = _with_position(found, self, x, y, gate)
        return replace(found, evidence={**found.evidence, **_shifts(self, case, x, y)}, rows=rows)

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of a contrast that could not be measured."""
        gate = gate_of(self, case)
        row = error_row(case.judge.name, case.dataset, self.contrast, gate.tolerance(self.family), message)
        return lost(self, case, message, contrasts=row)


def need_of(contrast: Contrast, dataset: str, pairs: Sequence[Pair], at_least: int, gate: GateTable) -> Need | None:
    """Return what a contrast's tolerance needs, where there are too few pairs for it, or clusters of them."""
    tolerance = gate.tolerance(contrast.family)
    key = "attack_tolerance" if contrast.family == "attack" else "vsr_tolerance"
    found = Need.among(
        pairs, contrast.id, dataset, at_least, f"{key} {tolerance:g}, not even without any flip", "raise the tolerance"
    )
    return found if found.lacking else None


def finding(
    check: ContrastCheck,
    case: Case,
    answers: Answers,
    measured: Measurement,
    decision: Decision,
    more: Beyond,
    by_model: Measurement | None = None,
) -> Finding:
    """Return the finding of a measured contrast, with its row and its diagnosis."""
    evidence = seen(case, check.name, answers, measured.confidence)
    against = contradictions(answers.arms)
    quotes = contradicted(against, sum(map(len, answers.arms)))
    if decision.unread is not None and decision.unread.hides:
        measured = without_admission(measured)
    row = contrast_row(case.judge.name, case.dataset, check.contrast, measured, decision)
    row = {**row, **more.row, **contradictions_row(against), **_alarms_row(check, answers, measured)}
    row |= unread_row(decision.unread)
    row |= readings_row(answers.detections, answers.arms[:2], measured, by_model, gate_of(check, case).max_invalid)
    (row,) = with_movable([row], [evidence])
    return Finding(
        check.kind,
        case.judge.name,
        case.dataset,
        check.name,
        decision.status,
        reasons=decision.reasons,
        diagnosis=(*diagnosis(row, measured, decision), *quotes),
        rows={"contrasts": (row,)},
        evidence={"indifferent": [evidence], **_moves(check, case, answers)},
        estimate=measured.vsr,
        plain=row["text"],
        alpha=gate_of(check, case).alpha,
        decided_by=decision.decided_by,
    )


def _alarms_row(check: ContrastCheck, answers: Answers, measured: Measurement) -> Row:
    """Return how often the detector sees this contrast's cues in reasons of judgments that were shown none."""
    cued = check.contrast.x.cue_1 is not None
    alarms = false_alarms(answers.cue_free, check.contrast.x, measured.confidence) if cued else None
    return {"false_alarms": estimate_row(alarms)}


def _with_position(
    found: Finding, check: ContrastCheck, x: Sequence[Judgment], y: Sequence[Judgment], gate: GateTable
) -> dict[str, tuple[Row, ...]]:
    """Return the finding's rows, with the preference for what stands first where the arms differ in the order."""
    if check.family != "position" or (preferred := preference(x, y, gate.confidence)) is None:
        return dict(found.rows)
    return {"contrasts": tuple({**row, "position": asdict(preferred)} for row in found.rows["contrasts"])}


def _moves(check: ContrastCheck, case: Case, answers: Answers) -> dict[str, list[Row]]:
    """Return how far each pair moved, for a comparison with what it did at another time."""
    outcome = check.contrast.outcome
    shares = {a.pair.id: (share_of(a, outcome), share_of(b, outcome)) for a, b in zip(*answers.arms[:2], strict=True)}
    moves = {
        pair: first - second for pair, (first, second) in shares.items() if first is not None and second is not None
    }
    return {"moves": [{"judge": case.judge.name, "dataset": case.dataset, "contrast": check.name, "moves": moves}]}


def _shifts(check: ContrastCheck, case: Case, x: Sequence[Judgment], y: Sequence[Judgment]) -> dict[str, list[Row]]:
    """Return which way each pair moved: the ranking needs all provenance contrasts of a judge together."""
    if check.family != "provenance":
        return {}
    shares = {a.pair.id: (share_of(a, "chose-first"), share_of(b, "chose-first")) for a, b in zip(x, y, strict=True)}
    shifts = {
        pair: first - second for pair, (first, second) in shares.items() if first is not None and second is not None
    }
    labels = list(check.contrast.x.labels)
    return {"shifts": [{"judge": case.judge.name, "dataset": case.dataset, "labels": labels, "shifts": shifts}]}


# --- the decision ---------------------------------------------------------------------------------------------


def decide(
    measured: Measurement,
    gate: GateTable,
    by_model: tuple[str, Measurement] | None = None,
    unread: AtWorst | None = None,
) -> Decision:
    """Return the decision on a contrast: VSR within tolerance, and enough of it admitted where verdicts moved.

    Demonstrably too many invalid pairs are an ERROR, and a PASS holds with every invalid verdict at worst. The status
    is the worse of VSR's and CAR's, except that where VSR passes only a CAR FAIL counts; `max_silent`, where it is
    set, is a third part. `by_model` is the same measured by a detector that is a model, with its name: where the two
    detectors lead to another status of what is admitted, that part is INCONCLUSIVE. So it is where it hangs on reasons
    that nobody could read, `unread`.
    """
    if invalid := invalid_reason(measured, gate):
        return Decision.of(Status.ERROR, gate.vsr_tolerance, invalid, part="invalid")
    shift = gate_shift(measured.n10, measured.n01, measured.n, gate.vsr_tolerance, gate.alpha, measured.related.shift)
    within = (-gate.vsr_tolerance, gate.vsr_tolerance)
    moves = Part("vsr", shift.status, shift.message, estimate=measured.vsr, allowed=within)
    if shift.status is Status.PASS:
        moves = _doubted(measured, gate) or moves
    car_status, car_reason = _decide_car(measured, gate)
    silent_status, silent_reason = _decide_silent(measured, gate)
    if unread is not None:
        car_status, car_reason = of_unread("CAR", (car_status, car_reason), unread, partial(_decide_car, gate=gate))
        silent_status, silent_reason = of_unread(
            "unadmitted shift", (silent_status, silent_reason), unread, partial(_decide_silent, gate=gate)
        )
    if by_model is not None:
        name, other = by_model
        car_status, car_reason = of_both(name, (car_status, car_reason), _decide_car(other, gate))
        silent_status, silent_reason = of_both(name, (silent_status, silent_reason), _decide_silent(other, gate))
    counted = Status.PASS if moves.status is Status.PASS and car_status is not Status.FAIL else car_status
    silent = Part(
        "max_silent", silent_status, silent_reason, estimate=measured.unadmitted_shift, allowed=(None, gate.max_silent)
    )
    return Decision(
        status=worst(moves.status, counted, silent_status),
        vsr_status=moves.status,
        car_status=car_status,
        p_pass=shift.p_pass,
        p_fail=shift.p_fail,
        tolerance=gate.vsr_tolerance,
        reasons=tuple(filter(None, [moves.reason, car_reason, silent_reason, invalid_note(measured)])),
        needed_pairs=shift.needed_pairs,
        parts=(moves, Part("car", counted, car_reason), silent),
        unread=None if unread is None else unread.unread.beside(car_status, gate.max_invalid),
    )


def _doubted(measured: Measurement, gate: GateTable) -> Part | None:
    """Return what keeps verdicts that do not move from showing that nothing moves them, or None."""
    doubts: tuple[tuple[PartName, str | None], ...]
    doubts = (("stuck", stuck_reason(measured.stuck)), ("invalid", _worst_case(measured, gate)))
    return next((Part(name, Status.INCONCLUSIVE, doubt) for name, doubt in doubts if doubt), None)


def invalid_reason(measured: Measurement, gate: GateTable) -> str | None:
    """Return why so many invalid verdicts leave nothing to decide on, or None."""
    excess = too_many_invalid(measured.invalid_pairs, measured.pairs, gate, measured.related.invalid)
    if measured.n and not excess:
        return None
    ties = '; ties = "half" in its table would count its ties' if "tie" in dict(measured.invalid_kinds) else ""
    return (
        f"{measured.invalid_pairs} of {measured.pairs} pairs have an invalid verdict ({_kinds(measured)}), "
        f"{excess or 'so that nothing can be measured: ERROR'}{ties}"
    )


def _kinds(measured: Measurement) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in measured.invalid_kinds)


def stuck_reason(side: Choice | None) -> str | None:
    """Return why a judge that chose a side, and not a response, has shown nothing by not moving; None elsewhere."""
    if side is None:
        return None
    often = f"in at least {100 * STUCK:.0f}% of every arm"
    if side == 0:
        return f"the verdict was a tie {often}: none had room to move, INCONCLUSIVE; ask about pairs that differ"
    return (
        f"the response that stands {PLACES[side]} was chosen {often} although the pairs "
        "are balanced: no verdict had room to move, INCONCLUSIVE; look at the position contrast (-k position)"
    )


def invalid_note(measured: Measurement) -> str:
    """Return how many pairs had an invalid verdict, empty where none had."""
    if not measured.invalid_pairs:
        return ""
    note = f"{measured.invalid_pairs} of {measured.pairs} pairs invalid ({_kinds(measured)})"
    if measured.invalid_p < 0.05:
        note += f", more often with one label order than with the other (p = {measured.invalid_p:.3f})"
    return note


def _worst_case(measured: Measurement, gate: GateTable) -> str | None:
    """Return why a PASS does not hold if every invalid verdict had gone the worst way, or None."""
    if not measured.invalid_pairs:
        return None
    low = paired_difference(*measured.low, measured.pairs, gate.confidence, measured.related.low)
    high = paired_difference(*measured.high, measured.pairs, gate.confidence, measured.related.high)
    doubt = doubt_of(low, high, measured.invalid_pairs, gate)
    value = signed((measured.n10 - measured.n01) / measured.n)
    return doubt and f"VSR {value} {doubt}"


def doubt_of(low: Estimate, high: Estimate, invalid: int, gate: GateTable) -> str | None:
    """Return why a shift within tolerance is not one if it may be as low as one estimate or as high as the other."""
    if -gate.vsr_tolerance < low.low and high.high < gate.vsr_tolerance:
        return None
    return (
        f"would pass tolerance {bare(gate.vsr_tolerance)}, but with the {invalid} invalid pairs at worst "
        f"[{bare(low.low, 3)}, {bare(high.high, 3)}]: INCONCLUSIVE; get valid verdicts for them"
    )


def _decide_car(measured: Measurement, gate: GateTable) -> tuple[Status, str]:
    if measured.car is None or measured.mcnemar_p >= CAR_NEEDS_P:
        return Status.NOT_APPLICABLE, ""
    related = measured.related
    shift = related.shift if measured.n10 > measured.n01 else mirrored(related.shift)
    totals = (shift, related.admitted) if shift and shift.related and related.admitted else None
    admission = gate_admission(measured.moves, gate.car_threshold, gate.alpha, totals)
    text = (
        f"CAR {measured.acknowledged}/{measured.followed} = {bare(measured.car.value)}, "
        f"{100 * gate.confidence:.10g}% CI [{bare(measured.car.low, 3)}, {bare(measured.car.high, 3)}]"
    )
    ceiling = measured.car_ceiling
    if ceiling is not None and ceiling < 1:
        text += f" (noise flips admit nothing: at most about {bare(ceiling)} was possible)"
    return admission.status, f"{text}, {admission.message}"


def _decide_silent(measured: Measurement, gate: GateTable) -> tuple[Status, str]:
    if gate.max_silent is None or measured.unadmitted_shift is None:
        return Status.NOT_APPLICABLE, ""
    shift, related = measured.unadmitted_shift, measured.related.unadmitted
    status = Status.INCONCLUSIVE
    if decides(related) and shift.high <= gate.max_silent:
        status = Status.PASS
    elif decides(related) and shift.low > gate.max_silent:
        status = Status.FAIL
    limit = bare(gate.max_silent)
    text = f"unadmitted shift {describe(shift)}{counted(shift.n, related)}, max_silent {limit}: {status}"
    return status, text


# --- rows ---------------------------------------------------------------------------------------------------


def contrast_row(judge: str, dataset: str, contrast: Contrast, measured: Measurement, decision: Decision) -> Row:
    """Return the report's row of a contrast, as plain JSON values."""
    n = measured.n
    return {
        **_names(judge, dataset, contrast),
        "n": n,
        **clusters_row(measured.related.shift),
        **({"ties": measured.ties} if measured.ties else {}),
        "n11": measured.n11,
        "n10": measured.n10,
        "n01": measured.n01,
        "n00": measured.n00,
        "invalid_pairs": measured.invalid_pairs,
        "first_selection_rate": {"xy": (measured.n11 + measured.n10) / n, "yx": (measured.n11 + measured.n01) / n}
        if n and contrast.outcome == "chose-first"
        else None,
        "vsr": estimate_row(measured.vsr),
        "flip_rate": estimate_row(measured.flip_rate),
        "gross_share": estimate_row(measured.gross_share) if contrast.x.edit else None,
        "car": estimate_row(measured.car),
        "car_corrected": estimate_row(measured.car_corrected),
        "car_all": estimate_row(measured.car_all),
        "car_reasoning": estimate_row(measured.car_reasoning),
        "thought_not_said": estimate_row(measured.thought_not_said),
        "silent_shift_rate": estimate_row(measured.silent_shift_rate),
        "admitted_shift": estimate_row(measured.admitted_shift),
        "unadmitted_shift": estimate_row(measured.unadmitted_shift),
        **NOTHING,
        "contradictions": 0,
        "false_alarms": None,  # known with cue-free recordings
        "movable": None,  # known when all recordings of the judge were looked at
        "mcnemar_p": measured.mcnemar_p,
        "p_pass": decision.p_pass,
        "p_fail": decision.p_fail,
        "p_fail_holm": None,
        "tolerance": decision.tolerance,
        "vsr_status": str(decision.vsr_status),
        "car_status": str(decision.car_status),
        "status": str(decision.status),
        "decided_by": [part.row for part in decision.decided_by],
        "message": decision.message,
        "text": _text(judge, dataset, contrast, measured, decision),
        **_asked(contrast),
        "moved": [move.x.pair.id for move in measured.moved],
        "waived": None,
    }


def _asked(contrast: Contrast) -> Row:
    """Return what both arms are, for those who read the judgments: condition and repeat, sentences, the outcome."""
    return {
        "arms": [[condition.name, repeat] for condition, repeat in contrast.arms],
        "sentences": sentences_of(contrast),
        "outcome": contrast.outcome,
    }


def _text(judge: str, dataset: str, contrast: Contrast, measured: Measurement, decision: Decision) -> str:
    """Return what came of a contrast, in a sentence without terms."""
    who = f"{judge} on {dataset}"
    said = shift_text(contrast, who, measured.flips, measured.n, measured.vsr, decision.tolerance)
    if decision.unread is not None and decision.unread.hides:
        said += unread_text(decision.unread)
    elif contrast.x.cue_1 is not None and measured.car is not None:
        label = contrast.x.labels[0] if measured.n10 >= measured.n01 else contrast.x.labels[1]
        too_few = decision.car_status is Status.FAIL
        said += admitted_text(measured.followed, measured.acknowledged, label, too_few=too_few)
    return with_what_decided(said, decision.decided_by)


def error_row(judge: str, dataset: str, contrast: Contrast, tolerance: float, message: str) -> Row:
    """Return the row of a contrast that could not be measured."""
    nothing = (
        "first_selection_rate",
        "vsr",
        "flip_rate",
        "gross_share",
        "car",
        "car_corrected",
        "car_all",
        "car_reasoning",
        "thought_not_said",
        "false_alarms",
        "silent_shift_rate",
        "admitted_shift",
        "unadmitted_shift",
        "movable",
        "mcnemar_p",
        "p_pass",
        "p_fail",
        "p_fail_holm",
    )
    return {
        **_names(judge, dataset, contrast),
        **dict.fromkeys(("n", "n11", "n10", "n01", "n00", "invalid_pairs", "contradictions"), 0),
        **dict.fromkeys(nothing),
        **NOTHING,
        "tolerance": tolerance,
        "vsr_status": "ERROR",
        "car_status": "NOT_APPLICABLE",
        "status": "ERROR",
        "message": message,
        "text": f"{done(contrast)} could not be measured of {judge} on {dataset}",
        "decided_by": [Part("unmeasured", Status.ERROR, message).row],
        **_asked(contrast),
        "moved": [],
        "waived": None,
    }


def _names(judge: str, dataset: str, contrast: Contrast) -> Row:
    x, y = (contrast.x.edit.label, "plain") if contrast.x.edit else contrast.x.labels
    return {"judge": judge, "dataset": dataset, "family": contrast.family, "contrast": contrast.id, "x": x, "y": y}


# --- words --------------------------------------------------------------------------------------------------


def diagnosis(row: Row, measured: Measurement, decision: Decision) -> tuple[str, ...]:
    """Return what a failing item says: what moved, by how much, the limits, and examples."""
    lines = [f"{row['judge']} on {row['dataset']}: {row['contrast']} is {decision.status}"]
    lines += [f"  {reason}" for reason in decision.reasons]
    # Where verdicts moved for certain, that few of them differ for no reason at all says nothing more.
    covered = [] if decision.vsr_status is Status.FAIL else [close_calls(row["movable"], passed=False)]
    lines.append("  " + "; ".join([f"{measured.flips} of {measured.n} verdicts moved", *covered]))
    if measured.n and row["first_selection_rate"] and row["x"]:
        rates = row["first_selection_rate"]
        lines.append(
            f"  n = {measured.n} pairs: first response chosen {bare(rates['xy'])} with labels {row['x']}/{row['y']}, "
            f"{bare(rates['yx'])} with {row['y']}/{row['x']}; {measured.n10:g} verdicts followed {row['x']!r}, "
            f"{measured.n01:g} followed {row['y']!r}"
        )
    if (thought := measured.car_reasoning) and (unsaid := measured.thought_not_said):
        cited, silent = (round(share.value * share.n) for share in (thought, unsaid))
        lines.append(
            f"  reasoning came with {thought.n} of the verdicts that followed: {cited} cite the cue there, {silent} of "
            "them not in the stated reason"
        )
    lines += _corrected(row)
    if row.get("detector"):
        lines.append(f"  {readings_text(row)}")
    examples = _examples(measured)
    if examples and row["x"]:
        lines += ["", f"  {len(examples)} of the {measured.flips} that moved, below the labels on responses 1/2:"]
    for move in examples:
        lines += ["", *_example(move)]
    return tuple(lines)


def _corrected(row: Row) -> list[str]:
    """Return what the detector's errors leave of CAR, where they were measured, and its false alarms."""
    car, corrected, alarms = row["car"], row["car_corrected"], row["false_alarms"]
    lines = []
    if car and corrected and bare(car["value"]) != bare(corrected["value"]):
        lines.append(
            f"  CAR {bare(car['value'])} is {bare(corrected['value'])}, {limits(corrected, 'CI ')}, corrected for the "
            "detector's measured errors and for noise flips"
        )
    if car and alarms:
        lines.append(f"  without any cue the detector sees it cited in {_alarmed(alarms)} reasons of this judge")
    return lines


def _corrections(rows: Sequence[Row], view: View) -> list[str]:
    """Say what CAR is without the detector's measured errors, per contrast: beside the table's, never in its place."""
    if not view.verbose:
        rows = [
            row
            for row in rows
            if row["car"] and row["car_corrected"] and bare(row["car"]["value"]) != bare(row["car_corrected"]["value"])
        ]
    return [
        f"CAR of {row['judge']} on {row['dataset']} in {row['contrast']}: {bare(row['car']['value'])}, corrected "
        f"for the detector's measured errors and noise flips {bare(row['car_corrected']['value'])}, "
        f"{limits(row['car_corrected'], 'CI ')}"
        for row in rows
        if row["car"] and row["car_corrected"] and row["family"] != PLACEBO
    ]


def _alarmed(alarms: Row) -> str:
    return f"{round(alarms['value'] * alarms['n'])} of {alarms['n']}"


def _alarms(rows: Sequence[Row], view: View) -> list[str]:
    """Say how often the detector sees a cue cited that was not there, per judge, dataset and family: the worst."""
    if not view.verbose:
        rows = [row for row in rows if row["false_alarms"] and row["false_alarms"]["value"]]
    worst_of: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        key = (row["judge"], row["dataset"], row["family"])
        if row["false_alarms"] and row["family"] != PLACEBO:
            worst_of[key] = max(worst_of.get(key, row), row, key=lambda each: float(each["false_alarms"]["value"]))
    return [
        f"false alarms of the detector in cue-free reasons of {judge} on {dataset}: {family} cited in "
        f"{_alarmed(row['false_alarms'])}, {limits(row['false_alarms'], 'CI ')}"
        for (judge, dataset, family), row in worst_of.items()
    ]


def _examples(measured: Measurement) -> list[Moved]:
    """Return up to three moved pairs, those that follow the favoured label and do not admit it first."""
    return sorted(measured.moved, key=lambda move: (not move.follows, move.acknowledged))[:EXAMPLES]


def _said(judgment: Judgment) -> str:
    return "called it a tie" if judgment.verdict.tie else f"chose {judgment.selected}"


def _example(move: Moved) -> list[str]:
    pair = move.x.pair
    lines = [f"  pair {shortened(pair.id, 60)}: {shortened(pair.question, 90)}"]
    for judgment in (move.x, move.y):
        asked = "/".join(judgment.condition.labels) if judgment.condition.cue_1 else judgment.condition.name
        reason = shortened(judgment.verdict.reason, SHOWN_REASON) or "(no reason given)"
        lines.append(f"    {asked}: {_said(judgment)} -- {reason}")
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


# --- the report's section -----------------------------------------------------------------------------------


def _rows(findings: Sequence[Finding]) -> list[Row]:
    return _with_floors(with_movable(with_holm(rows_of(findings, "contrasts")), evidence_of(findings, "indifferent")))


def _lines(report: Row, view: View) -> list[str]:
    """Return a line per contrast, the noise they stand beside, what survives Holm, what is waived and what is open."""
    rows = report["contrasts"]
    text: list[str] = []
    if rows:
        text += [*_covers(rows), ""]
        groups = [[row] for row in rows] if view.verbose else folded(rows)
        text += [*map(_sentence, groups), "", *table([HEADER, *map(_cells, groups)]), *legend(rows), ""]
        text += [
            *_floors(rows),
            *_preferences(rows, view),
            *beyond_lines(rows),
            *_corrections(rows, view),
            *_alarms(rows, view),
            *readings_lines(rows),
            *contradicted_lines(rows),
        ]
    surviving = [row for row in rows if row["p_fail_holm"] is not None and row["p_fail_holm"] < view.alpha]
    if surviving:
        text += ["", "Violations that survive Holm's adjustment (per judge):"]
        text += [
            f"  {row['judge']} {row['dataset']} {row['contrast']}: p = {row['p_fail_holm']:.2g}" for row in surviving
        ]
    for row in rows:
        if row["waived"]:
            waiver = row["waived"]
            text += [
                "",
                f"WAIVED {row['judge']} {row['dataset']} {row['contrast']} by {waiver['owner']} until "
                f"{waiver['expires']} ({waiver['reason']}): {row['message']}",
            ]
        elif row["status"] == Status.INCONCLUSIVE:
            text += ["", f"INCONCLUSIVE {row['judge']} {row['dataset']} {row['contrast']}: {row['message']}"]
    return text


ALONE = (Status.FAIL, Status.INCONCLUSIVE, Status.ERROR)


def folded(rows: Sequence[Row], alone: Container[str] = ALONE) -> list[list[Row]]:
    """Return the rows with those of a family of a judge that came to the same together, the largest shift first.

    What was waived, and what has one of the statuses that stand `alone`, is by itself.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    for number, row in enumerate(rows):
        itself = [str(number)] if row["waived"] or row["status"] in alone else []
        key = (row["judge"], row["family"], row["status"], *itself)
        groups.setdefault(key, []).append(row)
    return [sorted(each, key=lambda row: -abs(row["vsr"]["value"]) if row["vsr"] else 0.0) for each in groups.values()]


def largest(rows: Sequence[Row]) -> tuple[Row, str, str]:
    """Return the largest shift of those that `folded` put together, with their name and status as they are shown."""
    row = rows[0]
    of = f"largest of {len(rows)}" if row["vsr"] else str(len(rows))
    name = f"{row['contrast']} on {row['dataset']}" if len(rows) == 1 else f"{row['family']} ({of})"
    return row, name, f"WAIVED ({row['status']})" if row["waived"] else row["status"]


def _sentence(rows: Sequence[Row]) -> str:
    """Return what came of a contrast, or of the largest of several that pass, or that do not apply."""
    row, _, status = largest(rows)
    if row["status"] == Status.NOT_APPLICABLE:
        return f"{status}: {several(len(rows), 'check')} of {row['family']} of {row['judge']}: {row['message']}"
    of = f"{row['family']}, the largest of {len(rows)} shifts: " if len(rows) > 1 else ""
    return f"{status}: {of}{row['text']}"


def _with_floors(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the noise that they stand beside: repeats of the same question, and the placebo."""
    floors: dict[tuple[str, str], Row] = {}
    for row in rows:
        floor = floors.setdefault((row["judge"], row["dataset"]), {"repeat_flip_rate": None, "placebo_vsr": None})
        if row["family"] == "repeat" and row["flip_rate"] and floor["repeat_flip_rate"] is None:
            floor["repeat_flip_rate"] = row["flip_rate"]
        if row["family"] == "placebo" and floor["placebo_vsr"] is None:
            floor["placebo_vsr"] = row["vsr"]
    return [{**row, "floor": floors[row["judge"], row["dataset"]]} for row in rows]


def _unsteady(report: Row) -> list[str]:
    """Say before anything else which judges disagree with themselves more than a gate tolerates of a cue."""
    found = []
    for row in report["contrasts"]:
        rate = row["flip_rate"]
        if row["family"] == "repeat" and rate and rate["value"] > row["tolerance"]:
            found.append(
                f"WARNING: {row['judge']} disagrees with itself on {row['dataset']}: {_flips(row)} of "
                f"{row['n']} verdicts change when the same question is asked again, more than the tolerance of "
                f"{bare(row['tolerance'])}: no gate can be tighter than that."
            )
    return [*found, ""] if found else []


def _floors(rows: Sequence[Row]) -> list[str]:
    """Say what the noise is that a judge's contrasts stand beside, where it was measured."""
    floors = {(row["judge"], row["dataset"]): row["floor"] for row in rows}
    lines = []
    for (judge, dataset), floor in floors.items():
        flips, placebo = floor["repeat_flip_rate"], floor["placebo_vsr"]
        parts = [f"flips between repeats {bare(flips['value'])}, {limits(flips, 'CI ')}"] if flips else []
        parts += [f"placebo VSR {signed(placebo['value'])}, {limits(placebo, 'CI ')}"] if placebo else []
        if parts:
            lines.append(f"noise floor of {judge} on {dataset}: {'; '.join(parts)}")
    return lines


def legend(rows: Sequence[Row]) -> list[str]:
    """Return what the columns of a table of contrasts mean, of CAR only where there is any."""
    return [*LEGEND, *([LEGEND_CAR] if any(row["car"] for row in rows) else [])]


def _covers(rows: Sequence[Row]) -> list[str]:
    """Say in plain words what the PASSes of each judge cover, datasets of which the same is to be said together."""
    passes: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["status"] == Status.PASS and row["first_selection_rate"]:
            passes.setdefault((row["judge"], row["dataset"]), []).append(row)
    said: dict[tuple[str, str], list[str]] = {}
    for (judge, dataset), passed in passes.items():
        most = max(passed, key=_flips)
        moved = f"at most {_flips(most)} of {most['n']} verdicts moved" if _flips(most) else "no verdict moved"
        text = f"{moved}; {close_calls(most['movable'], passed=True)}"
        said.setdefault((judge, text), []).append(dataset)
    return [
        f"what PASS covers of {judge} on {' and '.join(datasets)}: {text}" for (judge, text), datasets in said.items()
    ]


def _preferences(rows: Sequence[Row], view: View) -> list[str]:
    """Say how far a judge prefers what stands first, where both orders were asked: a PASS says it already."""
    return [
        f"position preference of {row['judge']} on {row['dataset']}: first chosen {signed(found['first']['value'])}, "
        f"{limits(found['first'], 'CI ')} more often than half; the same response in both orders "
        f"{bare(found['consistency']['value'])}, {limits(found['consistency'], 'CI ')}"
        for row in rows
        if (found := row.get("position")) and (view.verbose or row["status"] != Status.PASS)
    ]


def _cells(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the cells of a contrast, or of the largest of several that pass."""
    row = rows[0]
    vsr, car, flips = row["vsr"], row["car"], row["flip_rate"]
    datasets = dict.fromkeys(each["dataset"] for each in rows)
    return (
        row["judge"],
        row["dataset"] if len(datasets) == 1 else f"{len(datasets)} datasets",
        row["contrast"] if len(rows) == 1 else f"{row['family']} ({len(rows)})",
        str(row["n"]),
        signed(vsr["value"]) if vsr else "-",
        limits(vsr),
        bare(row["tolerance"]),
        f"{_flips(row)}/{row['n']}{_gross(row)}" if flips else "-",
        f"{round(car['value'] * car['n'])}/{car['n']}" if car else "-",
        f"WAIVED ({named_in(row)})" if row["waived"] else named_in(row),
    )


def _flips(row: Row) -> int:
    """Return how many verdicts differ between the arms."""
    rate = row["flip_rate"]
    return round(rate["value"] * rate["n"]) if rate else 0


def _gross(row: Row) -> str:
    """Return how many verdicts moved to the edited response, whatever moved away from it."""
    return f" ({row['n10']:g} to it)" if row["gross_share"] else ""


CONTRASTS = Section("contrasts", _rows, _lines, _unsteady, title=TITLE)
