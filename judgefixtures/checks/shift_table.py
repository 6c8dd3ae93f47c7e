"""The report's section of contrasts, and what the terminal shows of it: sentences, the table, the noise beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.checks.beyond_verdicts import beyond_lines
from judgefixtures.checks.columns import ContrastRow, FloorRow
from judgefixtures.checks.families import fold, holm_lines, sentence
from judgefixtures.checks.order_flips import flips_lines
from judgefixtures.checks.phrasing import limits, share_counted, table
from judgefixtures.checks.plain import status_in
from judgefixtures.checks.reasons import contradicted_lines
from judgefixtures.checks.sections import Section, View, with_holm
from judgefixtures.checks.sensitivity import Indifferent, close_calls, with_movable
from judgefixtures.checks.two_detectors import readings_lines
from judgefixtures.findings import Finding, Row, evidence_of, is_of_control, rows_of
from judgefixtures.material.cues import PLACEBO
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS, Wording, together, wording_of
from judgefixtures.numbers.estimate import Estimate, Status, bare, describe, interval_text, several, signed

HEADER = ("judge", "dataset", "contrast", "n", "VSR", "CI", "tolerance", "flips", "CAR", "status")
TITLE = "cues: do verdicts move when only a label, a date, the order or a decoration moves?"
LEGEND = (
    "PASS: all of its interval (CI) is within the tolerance; flips: {said} that changed; n: {many} of each contrast"
)
LEGEND_SCORES = "points: how far scores shift on the judge's scale; they are gated, and VSR is not"
LEGEND_CAR = "CAR, cue acknowledgment rate: of the {said} that went to the favoured label, how many reasons admit it"


def _complete_rows(findings: Sequence[Finding]) -> list[ContrastRow]:
    rows = with_holm(rows_of(findings, ContrastRow))
    return _with_floors(with_movable(rows, evidence_of(findings, Indifferent)))


def _with_floors(rows: Sequence[ContrastRow]) -> list[ContrastRow]:
    """Return the rows with the noise that they stand beside: repeats of the same question, and the placebo."""
    floors: dict[tuple[str, str], FloorRow] = {}
    for row in rows:
        of = (row.judge, row.dataset)
        floor = floors.setdefault(of, FloorRow())
        if row.family == "repeat" and floor.repeat_flip_rate is None:
            floors[of] = replace(floor, repeat_flip_rate=row.flip_rate)
        if row.family == "placebo" and floor.placebo_vsr is None:
            floors[of] = replace(floor, placebo_vsr=row.vsr)
    return [replace(row, floor=floors[row.judge, row.dataset]) for row in rows]


def _tell_contrasts(report: Row, view: View) -> list[str]:
    """Return a sentence for contrasts that came to the same, a table of all, the noise, and what survives Holm.

    Last what is waived, and what would settle what is open.
    """
    rows = measured_rows(report, all_of_them=view.verbose)
    text: list[str] = []
    if rows:
        alone = [[row] for row in rows]
        text = [
            *_covers(rows),
            "",
            *(sentence(group, rows, view.told) for group in (alone if view.verbose else fold(rows, ()))),
            "",
            *table([_header(rows), *map(_cells, alone if view.verbose else fold(rows))]),
            *legend(rows),
            "",
            *_floors(rows),
            *flips_lines(rows),
            *_preferences(rows, view),
            *beyond_lines(rows),
            *_corrections(rows, view),
            *_alarms(rows, view),
            *readings_lines(rows),
            *contradicted_lines(rows),
        ]
    if surviving := holm_lines(rows, view.alpha):
        text += ["", *surviving]
    for row in rows:
        if by := row.waived:
            of = f"{row.judge} {row.dataset} {row.contrast}"
            text += ["", f"WAIVED {of} by {by.owner} until {by.expires} ({by.reason}): {row.message}"]
    return [*text, *_undecided(rows, view)]


def measured_rows(report: Row, *, all_of_them: bool = False) -> list[ContrastRow]:
    """Return the rows of a report without those that a judge's control decided: that is said once, of the judge."""
    rows = CONTRASTS.read_records(report)
    return [row for row in rows if all_of_them or not is_of_control(row.decided_by)]


def _undecided(rows: Sequence[ContrastRow], view: View) -> list[str]:
    """Return what would settle what is undecided, where no diagnosis above has told it: of each family the largest."""
    open_ = [
        row
        for row in rows
        if row.status == Status.INCONCLUSIVE
        and not row.waived
        and (row.judge, row.dataset, row.contrast) not in view.told
    ]
    lines = []
    for row, *others in [[row] for row in open_] if view.verbose else fold(open_, ()):
        more = f" (and {len(others)} more of {row.family}: -v tells each)" if others else ""
        lines += ["", f"INCONCLUSIVE {row.judge} {row.dataset} {row.contrast}: {row.message}{more}"]
    return lines


def _unsteady(report: Row) -> list[str]:
    """Say before anything else which judges disagree with themselves more than a gate tolerates of a cue."""
    found = [
        f"WARNING: {row.judge} disagrees with itself on {row.dataset}: {_flips(row)} of {row.n} "
        f"{wording_of(row.outcome).said} change when the same question is asked again, more than the tolerance of "
        f"{bare(row.tolerance)}. Such flips go either way and cancel out in VSR, but they widen its interval: a PASS "
        "takes more pairs."
        for row in CONTRASTS.read_records(report)
        if row.family == "repeat" and row.flip_rate and row.flip_rate.value > row.tolerance
    ]
    return [*found, ""] if found else []


def _floors(rows: Sequence[ContrastRow]) -> list[str]:
    """Say what the noise is that a judge's contrasts stand beside, where it was measured."""
    lines = []
    for (judge, dataset), floor in {(row.judge, row.dataset): row.floor or FloorRow() for row in rows}.items():
        flips, placebo = floor.repeat_flip_rate, floor.placebo_vsr
        parts = [f"flips between repeats {describe(flips, bare)}"] if flips else []
        parts += [f"placebo VSR {describe(placebo)}"] if placebo else []
        if parts:
            lines.append(f"noise floor of {judge} on {dataset}: {'; '.join(parts)}")
    return lines


def legend(rows: Sequence[ContrastRow]) -> list[str]:
    """Return what the columns of a table of contrasts mean, of CAR, pairs and single responses where there are any."""
    wordings = wordings_of(rows) or (OF_PAIRS,)
    words = {word: together(wordings, word) for word in ("said", "many")}
    lines = [LEGEND, *([LEGEND_CAR] if any(row.car for row in rows) else [])]
    by_scores = [LEGEND_SCORES] if any(row.by_scores for row in rows) else []
    return [*by_scores, *(each.vsr for each in wordings), *(line.format(**words) for line in lines)]


def _header(rows: Sequence[ContrastRow]) -> tuple[str, ...]:
    """Return the head of the table: what shifts is VSR, or scores, each value with what it is."""
    by_scores = any(row.by_scores for row in rows)
    return tuple("shift" if by_scores and name == "VSR" else name for name in HEADER)


def wordings_of(rows: Sequence[ContrastRow]) -> tuple[Wording, ...]:
    """Return the words for what contrasts are about, each kind once, pairs first."""
    found = {wording_of(row.outcome) for row in rows}
    return tuple(each for each in (OF_PAIRS, OF_EXAMPLES) if each in found)


def _covers(rows: Sequence[ContrastRow]) -> list[str]:
    """Say in plain words what the PASSes of each judge cover, datasets of which the same is to be said together."""
    passes: dict[tuple[str, str], list[ContrastRow]] = {}
    for row in rows:
        if row.status == Status.PASS and (row.first_selection_rate or row.pass_rate):
            passes.setdefault((row.judge, row.dataset), []).append(row)
    covered: dict[tuple[str, str], list[str]] = {}
    for (judge, dataset), passed in passes.items():
        most = max(passed, key=_flips)
        words = wording_of(most.outcome)
        flips = f"at most {_flips(most)} of {most.n} {words.said}" if _flips(most) else f"no {words.says}"
        moved = f"in the {several(len(passed), 'contrast')} that passed {flips} moved"
        close = close_calls(most.movable, words, passed=True, unknown=most.movable_unknown)
        covered.setdefault((judge, f"{moved}; {close}"), []).append(dataset)
    return [
        f"what PASS covers of {judge} on {' and '.join(datasets)}: {text}"
        for (judge, text), datasets in covered.items()
    ]


def _preferences(rows: Sequence[ContrastRow], view: View) -> list[str]:
    """Say how far a judge prefers what stands first, where both orders were asked: a PASS says it already."""
    return [
        f"position preference of {row.judge} on {row.dataset}: first chosen {describe(found.first)} more often than "
        "half"
        for row in rows
        if (found := row.position) and (view.verbose or row.status != Status.PASS)
    ]


def _corrections(rows: Sequence[ContrastRow], view: View) -> list[str]:
    """Say what CAR is without the detector's measured errors, per contrast: beside the table's, never in its place."""
    return [
        f"CAR of {row.judge} on {row.dataset} in {row.contrast}: {bare(car.value)}, corrected for the detector's "
        f"measured errors and noise flips {describe(corrected, bare)}"
        for row in rows
        if (car := row.car) and (corrected := row.car_corrected) and row.family != PLACEBO
        if view.verbose or bare(car.value) != bare(corrected.value)
    ]


def _alarms(rows: Sequence[ContrastRow], view: View) -> list[str]:
    """Say how often the detector sees a cue cited that was not there, per judge, dataset and family: the worst."""
    worst_of: dict[tuple[str, str, str], Estimate] = {}
    for row in rows:
        if (alarms := row.false_alarms) and row.family != PLACEBO and (view.verbose or alarms.value):
            key = (row.judge, row.dataset, row.family)
            worst_of[key] = max(worst_of.get(key, alarms), alarms, key=lambda each: each.value)
    return [
        f"false alarms of the detector in cue-free reasons of {judge} on {dataset}: {family} cited in "
        f"{share_counted(alarms)}, {interval_text(alarms)}"
        for (judge, dataset, family), alarms in worst_of.items()
    ]


def _cells(rows: Sequence[ContrastRow]) -> tuple[str, ...]:
    """Return the cells of a contrast, or of the largest of several that pass."""
    row = rows[0]
    datasets = dict.fromkeys(each.dataset for each in rows)
    gross = (
        f" ({row.n10:g} {wording_of(row.outcome).gained})" if row.gross_share else ""
    )  # moved to the edited response, whatever moved away
    return (
        row.judge,
        row.dataset if len(datasets) == 1 else f"{len(datasets)} datasets",
        row.contrast if len(rows) == 1 else f"{row.family} ({len(rows)})",
        str(row.n),
        shift_cell(row),
        limits(row.gated_shift),
        "-" if row.limit is None else bare(row.limit),
        f"{_flips(row)}/{row.n}{gross}" if row.flip_rate else "-",
        f"{round(row.car.value * row.car.n)}/{row.car.n}" if row.car else "-",
        status_in(row.status, row.decided_by, row.waived),
    )


def shift_cell(row: ContrastRow) -> str:
    """Return the shift that is gated as a cell of a table has it, that of scores with its unit."""
    if row.gated_shift is None:
        return "-"
    return f"{signed(row.gated_shift.value)}{' points' if row.by_scores else ''}"


def _flips(row: ContrastRow) -> int:
    """Return how many verdicts differ between the arms."""
    return round(row.flip_rate.value * row.flip_rate.n) if row.flip_rate else 0


CONTRASTS = Section("contrasts", ContrastRow, _complete_rows, _tell_contrasts, _unsteady, title=TITLE)
