"""Report section of contrasts, and its terminal lines: sentences, table and noise."""

from collections.abc import Sequence
from dataclasses import replace

from judgefixtures.checks.close_pairs import describe_close_pairs, with_movable_share
from judgefixtures.checks.contradiction_quotes import contradiction_lines
from judgefixtures.checks.detector_agreement import detector_lines
from judgefixtures.checks.formatting import interval_cell, table_lines
from judgefixtures.checks.log_odds_and_scores import log_odds_and_score_lines
from judgefixtures.checks.order_flips import flips_lines
from judgefixtures.checks.plain_language import status_cell
from judgefixtures.checks.sections import DisplayOptions, Section, with_holm
from judgefixtures.models.check_rows import ContrastRow, FloorRow, NeutralChoices
from judgefixtures.models.cues import PLACEBO
from judgefixtures.models.findings import Finding, Row, decided_by_control, evidence_of, rows_of
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary, combine_words, wording_of
from judgefixtures.statistics import Estimate, Status, format_share, format_signed

from .contrast_groups import group_equal_results, group_sentence, holm_lines
from .messages import MESSAGES

HEADER = ("judge", "dataset", "contrast", "n", "VSR", "CI", "tolerance", "flips", "CAR", "status")
TITLE = "cues: do verdicts move when only a label, a date, the order or a decoration moves?"
LEGEND = "PASS: the whole interval (CI) is within the tolerance; flips: {said} that changed; n: {many} per contrast"
LEGEND_SCORES = "points: score shift on the judge's scale, gated instead of VSR"
LEGEND_CAR = "CAR, cue acknowledgment rate: of the {said} that followed the favoured label, how many reasons admit it"


def _complete_rows(findings: Sequence[Finding]) -> list[ContrastRow]:
    rows = with_holm(rows_of(findings, ContrastRow))
    return _with_floors(with_movable_share(rows, evidence_of(findings, NeutralChoices)))


def _with_floors(rows: Sequence[ContrastRow]) -> list[ContrastRow]:
    floors: dict[tuple[str, str], FloorRow] = {}
    for row in rows:
        of = (row.judge, row.dataset)
        floor = floors.setdefault(of, FloorRow())
        if row.family == "repeat" and floor.repeat_flip_rate is None:
            floors[of] = replace(floor, repeat_flip_rate=row.flip_rate)
        if row.family == "placebo" and floor.placebo_vsr is None:
            floors[of] = replace(floor, placebo_vsr=row.vsr)
    return [replace(row, floor=floors[row.judge, row.dataset]) for row in rows]


def _tell_contrasts(report: Row, view: DisplayOptions) -> list[str]:
    rows = measured_rows(report)
    text: list[str] = []
    if rows:
        text = [
            *_covers(rows),
            "",
            *(group_sentence(group, rows) for group in group_equal_results(rows, ())),
            "",
            *table_lines([_header(rows), *map(_cells, group_equal_results(rows))]),
            *table_legend(rows),
            "",
            *MESSAGES.lines("floors", {(row.judge, row.dataset): row.floor for row in rows}),
            *flips_lines(rows),
            *MESSAGES.lines("preferences", rows),
            *log_odds_and_score_lines(rows),
            *MESSAGES.lines("corrections", rows),
            *_alarms(rows),
            *detector_lines(rows),
            *contradiction_lines(rows),
        ]
    if surviving := holm_lines(rows, view.alpha):
        text += ["", *surviving]
    undecided = [row for row in rows if row.status == Status.INCONCLUSIVE and not row.waived]
    lines = MESSAGES.lines("undecided", group_equal_results(undecided, ()))
    return [*text, *MESSAGES.lines("waived", rows), *lines]


def measured_rows(report: Row) -> list[ContrastRow]:
    """Return the rows that no control decided."""
    return [row for row in CONTRASTS.read_records(report) if not decided_by_control(row.decided_by)]


def _unsteady(report: Row) -> list[str]:
    lines = MESSAGES.lines("unsteady", CONTRASTS.read_records(report))
    return [*lines, ""] if lines else []


def table_legend(rows: Sequence[ContrastRow]) -> list[str]:
    """Return the legend of the contrast table's columns."""
    wordings = vocabularies_of(rows) or (OF_PAIRS,)
    words = {word: combine_words(wordings, word) for word in ("said", "many")}
    lines = [LEGEND, *([LEGEND_CAR] if any(row.car for row in rows) else [])]
    by_scores = [LEGEND_SCORES] if any(row.by_scores for row in rows) else []
    return [*by_scores, *(each.vsr for each in wordings), *(line.format(**words) for line in lines)]


def _header(rows: Sequence[ContrastRow]) -> tuple[str, ...]:
    by_scores = any(row.by_scores for row in rows)
    return tuple("shift" if by_scores and name == "VSR" else name for name in HEADER)


def vocabularies_of(rows: Sequence[ContrastRow]) -> tuple[Vocabulary, ...]:
    """Return the distinct vocabularies of contrasts, pairs first."""
    vocabularies = {wording_of(row.outcome) for row in rows}
    return tuple(each for each in (OF_PAIRS, OF_EXAMPLES) if each in vocabularies)


def _covers(rows: Sequence[ContrastRow]) -> list[str]:
    passes: dict[tuple[str, str], list[ContrastRow]] = {}
    for row in rows:
        if row.status == Status.PASS and (row.first_selection_rate or row.pass_rate):
            passes.setdefault((row.judge, row.dataset), []).append(row)
    covered: dict[tuple[str, str], list[str]] = {}
    for (judge, dataset), passed in passes.items():
        most = max(passed, key=_flips)
        words = wording_of(most.outcome)
        close = describe_close_pairs(most.movable, words, passed=True, unknown=most.movable_unknown)
        covered.setdefault((judge, MESSAGES.passes_cover(passed, most, _flips(most), close)), []).append(dataset)
    where = [(judge, " and ".join(datasets), text) for (judge, text), datasets in covered.items()]
    return [f"what PASS covers of {judge} on {datasets}: {text}" for judge, datasets, text in where]


def _alarms(rows: Sequence[ContrastRow]) -> list[str]:
    worst_of: dict[tuple[str, str, str], Estimate] = {}
    for row in rows:
        if (alarms := row.false_alarms) and row.family != PLACEBO:
            key = (row.judge, row.dataset, row.family)
            worst_of[key] = max(worst_of.get(key, alarms), alarms, key=lambda each: each.value)
    return MESSAGES.lines("alarms", worst_of)


def _cells(rows: Sequence[ContrastRow]) -> tuple[str, ...]:
    row = rows[0]
    datasets = dict.fromkeys(each.dataset for each in rows)
    # How many moved to the edited response, whatever moved away.
    gross = f" ({row.n10:g} {wording_of(row.outcome).gained})" if row.gross_share else ""
    return (
        row.judge,
        row.dataset if len(datasets) == 1 else f"{len(datasets)} datasets",
        row.contrast if len(rows) == 1 else f"{row.family} ({len(rows)})",
        str(row.n),
        shift_cell(row),
        interval_cell(row.gated_shift),
        "-" if row.limit is None else format_share(row.limit),
        f"{_flips(row)}/{row.n}{gross}" if row.flip_rate else "-",
        f"{round(row.car.value * row.car.n)}/{row.car.n}" if row.car else "-",
        status_cell(row.status, row.decided_by, row.waived),
    )


def shift_cell(row: ContrastRow) -> str:
    """Return the gated shift as a table cell."""
    if row.gated_shift is None:
        return "-"
    return f"{format_signed(row.gated_shift.value)}{' points' if row.by_scores else ''}"


def _flips(row: ContrastRow) -> int:
    return round(row.flip_rate.value * row.flip_rate.n) if row.flip_rate else 0


CONTRASTS = Section("contrasts", ContrastRow, _complete_rows, _tell_contrasts, _unsteady, title=TITLE)
