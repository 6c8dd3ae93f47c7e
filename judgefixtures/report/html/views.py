"""Views of the page's parts, built from report.json.

A part whose fields the report lacks is empty, and the template omits it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from types import SimpleNamespace
from typing import Any

from judgefixtures.checks.log_odds_and_scores import not_applied_lines
from judgefixtures.checks.order_flips import flips_lines
from judgefixtures.checks.plain_language import NAMED
from judgefixtures.checks.swap_decision import caveats
from judgefixtures.models.check_rows import RankingRow
from judgefixtures.models.cues import PLACEBO
from judgefixtures.models.findings import DecisionPart, Row, decided_by_control
from judgefixtures.models.record import as_json
from judgefixtures.models.swap_rows import ComponentRow, DecisionRow
from judgefixtures.models.vocabulary import OF_EXAMPLES, Vocabulary
from judgefixtures.statistics import Status, format_share
from judgefixtures.swap.components import fault_signs
from judgefixtures.swap.sentences import SHIFTS
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import join_names

from .. import swap_coverage
from ..contrast_groups import group_equal_results, group_summary
from ..contrast_table import CONTRASTS
from ..html import charts
from ..overview import OPEN, judge_results, missing_results_line, other_results, unfinished_items
from ..ranking_section import describe_ranking
from ..sections import list_sections
from .charts import SHARES, ChartAxis, IntervalStrip, ShiftAdmissionPlane
from .labels import limits_label, other_deciding_parts, swap_part_label, worse_parts_text
from .vocabulary import is_grade_contrast, verdict_word

READINGS = (("as read", "car"), ("corrected", "car_corrected"))


@dataclass(frozen=True, slots=True)
class ForestLine:
    """A row of the report with its drawing: of `part`, where that and not its verdicts is drawn.

    With a `name` it is what else there is of the row above, drawn on an axis of its own.
    """

    row: Row
    strip: IntervalStrip | None
    part: DecisionPart | None = None
    name: str = ""

    @property
    def allowed(self) -> str:
        """Between which limits the value may lie; empty where it is shown and decides nothing."""
        if self.part is not None:
            return limits_label(self.part)
        tolerance = None if self.name else self.row.get("tolerance")
        return "" if tolerance is None else f"{format_share(-tolerance)} to {format_share(tolerance)}"

    @property
    def asked_of_reasons(self) -> str:
        """The limit of CAR, where that is one of the parts that decided."""
        parts = map(DecisionPart.from_json, self.row.get("decided_by") or ())
        return next((limits_label(part) for part in parts if part.part == "car" and not self.name), "")


@dataclass(frozen=True, slots=True)
class ForestGroup:
    """Lines that stand together under a title."""

    title: str
    lines: tuple[ForestLine, ...]


@dataclass(frozen=True, slots=True)
class ForestPlot:
    """The intervals of one judge, in groups, on one axis, and what could not be measured."""

    judge: str
    groups: tuple[ForestGroup, ...]
    unmeasured: tuple[Row, ...]
    axis: ChartAxis

    @property
    def lines(self) -> list[ForestLine]:
        """The lines of all groups."""
        return [line for group in self.groups for line in group.lines]

    @property
    def has_parts(self) -> bool:
        """Whether more than verdicts is in it, so that each value needs its unit and its limits."""
        return any(line.part for line in self.lines)


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """A judge: what it is, where its answers come from, and how its checks came out."""

    name: str
    kind: str
    source: str
    identity: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, int], ...]
    baseline: bool


@dataclass(frozen=True, slots=True)
class SwapView:
    """The decision on one candidate: a sentence, what it covers, both judges by themselves, and its parts.

    `sides` has each quantity under its name, of candidate and baseline; `notes` say what has to be known of them.
    `reasons` are those that nothing above them says in the same words.
    """

    row: Row
    lead: str
    coverage: swap_coverage.SwapCoverage
    sides: tuple[tuple[str, Row, Row], ...]
    notes: tuple[str, ...]
    reasons: tuple[str, ...]
    parts: tuple[ForestLine, ...]
    guards: tuple[ForestGroup, ...]
    axis: ChartAxis


@dataclass(frozen=True, slots=True)
class FaithfulnessView:
    """The plane of one judge, and its contrasts as a table."""

    judge: str
    plane: ShiftAdmissionPlane
    rows: tuple[tuple[int, Row, Mapping[str, Row]], ...]
    graded: bool

    @property
    def kinds(self) -> set[str]:
        """By which readings of the reasons there are dots on the plane."""
        return {kind for _, _, readings in self.rows for kind in readings}


@dataclass(frozen=True, slots=True)
class JudgeProblems:
    """What is not fine about a judge: a row for each thing, and those of one ERROR that are unfolded."""

    judge: str
    first: tuple[Row, ...]
    rest: tuple[Row, ...]


def page_view(report: Row) -> SimpleNamespace:
    """Return what the page shows beside the browser of pairs, by name, whichever parts of a report there are."""
    contrasts: list[Row] = report.get("contrasts") or []
    cells: list[Row] = report.get("four_cells") or []
    edits = [row for row in contrasts if is_edit(row)]
    others = [row for row in contrasts if not is_edit(row)]
    axis, edits_axis = charts.axis_around_zero(_extremes(others, cells)), charts.axis_around_zero(_extremes(edits))
    swaps = tuple(_swap(row, report) for row in _decisions(report))
    accuracy = report.get("accuracy") or []
    strengths = [row for ranking in report.get("rankings") or [] for row in ranking["strengths"].values()]
    ranking_axis = charts.axis_around_zero(value for row in strengths for value in (row["low"], row["high"]))
    people, planes = tuple(_people(report)), _planes(others)
    status = report["decision"]["status"] if report.get("decision") else report.get("status", "")
    leads = [*missing_results_line(report), *(swap.lead for swap in swaps), *_leads(contrasts, report)]
    return SimpleNamespace(
        status=status,
        title="Decision" if report.get("decision") else "Result",
        leads=(*leads, *unfinished_items(report)),
        sources=tuple(_sources(people)),
        findings=tuple(_findings(report)),
        people=people,
        simulated=any(person.kind == "simulated" for person in people),
        swaps=swaps,
        axis=axis,
        forests=_forests([*others, *map(_as_contrast, cells)], axis),
        edits=_forests(edits, edits_axis),
        edits_axis=edits_axis,
        gated={_by_scores(row) for row in contrasts},
        floors=any(map(noise_floor, others)),
        planes=planes,
        readings={kind for each in planes for kind in each.kinds},
        rankings=tuple(_rankings(report, ranking_axis)),
        ranking_axis=ranking_axis,
        accuracy=tuple(_accuracy(_overall(accuracy, report.get("macro_accuracy") or []))),
        accuracy_parts=tuple(_accuracy([row for row in accuracy if row["category"] != "all"])),
        both_orders=tuple(flips_lines(CONTRASTS.read_records(report))),
        not_applied=tuple(not_applied_lines(CONTRASTS.read_records(report))),
        waived=tuple(row for row in [*contrasts, *cells, *accuracy] if row.get("waived")),
        listed=tuple(list_sections(report)),
        expenses=[own[0] for own in group_rows(report.get("expenses") or [], "judge", "baseline").values()],
        retries_by_judge=any(row.get("retries") is not None for row in report.get("usage") or []),
        report=report,
    )


def group_rows(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Return rows by what they have in some columns, in the order in which that comes first."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(itemgetter(*keys)(row), []).append(row)
    return groups


def is_edit(row: Row) -> bool:
    """Return whether a contrast is about an edited response, such as one that an attack was put into.

    A label of a cue may be called plain, too: then sentences say it.
    """
    return bool(row.get("outcome") == "chose-edited" or (row.get("y") == "plain" and not row.get("sentences")))


def contrast_sentence(row: Row) -> str:
    """Return the sentence that says how a contrast came out, its message where there is none."""
    return capitalize_first(str(row.get("text") or row.get("message") or ""))


def capitalize_first(text: str) -> str:
    """Return a text with its first letter as a capital one; the others stay as they are."""
    return text[:1].upper() + text[1:]


def baselines_by_candidate(report: Row) -> dict[str, str]:
    """Return the judge that each candidate was compared with."""
    return {row["judge"]: row["baseline"] for row in _decisions(report)}


# --- what comes first -------------------------------------------------------------------------------------------


def _leads(contrasts: Sequence[Row], report: Row) -> Iterable[str]:
    """Say per judge how its own checks came out, and what moves its verdicts."""
    lines = judge_results(report) if "results" in report else list(_counted(contrasts))
    yield from (line if line.endswith(".") else f"{line}." for line in lines)
    for judge, own in group_rows(contrasts, "judge").items():
        if moved := sorted({row["family"] for row in own if row.get("vsr_status") == "FAIL"}):
            yield f"The {verdict_word(own)} of {judge} demonstrably move with {join_names(moved)}."
        yield from _beyond_verdicts(judge, own)
    if not contrasts and not lines and not report.get("decisions"):
        yield f"The run is {report.get('status', 'without a status')}, and no contrast was measured."


def _beyond_verdicts(judge: str, rows: Sequence[Row]) -> Iterable[str]:
    """Say what else is demonstrably beyond its limit, where the verdicts are not."""
    families: dict[str, set[str]] = {}
    for row in rows:
        if row["status"] == Status.FAIL and row.get("vsr_status") != Status.FAIL and not _is_of_control(row):
            for part in row.get("decided_by") or ():
                families.setdefault(part["part"], set()).add(row["family"])
    for part, own in sorted(families.items(), key=lambda each: each[0] == "car"):
        what = BEYOND.get(part, "The {part} of {judge} is demonstrably beyond its limit with")
        what = what.format(judge=judge, part=NAMED.get(part, part), verdicts=verdict_word(rows))
        yield f"{what} {join_names(sorted(own))}."


# What is said of parts that a contrast is a FAIL by although the shift of its verdicts is not.
BEYOND = load_table("page")["beyond"]


def _counted(contrasts: Sequence[Row]) -> Iterable[str]:
    for judge, own in group_rows(contrasts, "judge").items():
        counts = Counter(row["status"] for row in own)
        named = [f"{counts[status]} {status}" for status in (*OPEN, "PASS") if counts[status]]
        yield f"{judge}: of {len(own)} contrasts {join_names(named or ['nothing'])}."


def _findings(report: Row) -> Iterable[JudgeProblems]:
    """Yield per judge all that is not fine: contrasts of a family that came to the same as one, the worst first.

    What was not measured mostly was not for one reason, so that one of it stands for all: a control that was not
    passed before anything that could not be asked.
    """
    contrasts = CONTRASTS.read_records(report)
    of_control = [[row] for row in contrasts if decided_by_control(row.decided_by)]  # each counts
    others = [row for row in contrasts if [row] not in of_control]
    rows_told = [
        {**group[0].to_json(), "said": capitalize_first(group_summary(group, contrasts) or group[0].message)}
        for group in [*group_equal_results(others, (Status.ERROR,)), *of_control]
    ]
    rest = [{**row.to_json(), "contrast": row.name, "family": row.check} for row in other_results(report)]
    others_said = [{**row, "said": contrast_sentence(row)} for row in [*(report.get("four_cells") or []), *rest]]
    rows = [{"family": "", **row} for row in [*rows_told, *others_said] if row["status"] in OPEN]
    for judge, own in group_rows(rows, "judge").items():
        own.sort(key=lambda row: (URGENCY.index(row["status"]), -_size(row)))
        lost = [row for row in own if row["status"] == Status.ERROR or _is_of_control(row)]
        by_control = _is_of_control(lost[0]) if lost else False
        alike = [row for row in lost if _is_of_control(row) == by_control]
        stands = [{**lost[0], "of": len(alike), "by_control": by_control}] if lost else []
        others_lost = tuple(row for row in lost[1:] if not _is_of_control(row))
        yield JudgeProblems(judge, (*(row for row in own if row not in lost), *stands), others_lost)


URGENCY = ("FAIL", "INCONCLUSIVE", "ERROR")


def _is_of_control(row: Row) -> bool:
    return decided_by_control(map(DecisionPart.from_json, row.get("decided_by") or ()))


def _size(row: Row) -> float:
    """Return how far verdicts moved."""
    estimate = row.get("vsr") or row.get("cue_effect")
    return abs(estimate["value"]) if estimate else 0.0


def _people(report: Row) -> Iterable[JudgeSummary]:
    """Yield every judge that the report names, baselines last."""
    baselines = set(baselines_by_candidate(report).values())
    identities: Mapping[str, Row] = report.get("judges") or {}
    recorded = (report.get("run") or {}).get("recorded") or {}
    rows = [row for part in ("contrasts", "four_cells") for row in report.get(part) or []]
    statuses = Counter((row["judge"], row["status"]) for row in rows)
    for name in sorted(identities, key=lambda name: (name in baselines, name)):
        counts = [(status, statuses[name, status]) for status in (*OPEN, "PASS", "NOT_APPLICABLE")]
        counts = [each for each in counts if each[1]]
        kind, identity = swap_coverage.answer_origin(name, identities[name]), tuple(_flat(identities[name]))
        source = _source(kind, recorded.get(name) or {})
        yield JudgeSummary(name, kind, source, identity, tuple(counts), name in baselines)


def _sources(people: Sequence[JudgeSummary]) -> Iterable[str]:
    """Say where all answers come from, judges with the same source in one sentence."""
    names: dict[str, list[str]] = {}
    for person in people:
        names.setdefault(person.source, []).append(person.name)
    for source, own in names.items():
        yield f"{join_names(own)}: {source}"


def _source(kind: str, when: Row) -> str:
    """Say where a judge's answers come from."""
    first, last, now = (when.get(key) for key in ("first", "last", "asked_now"))
    dates = f" of {first}" if first and first == last else f" of {first} to {last}" if first and last else ""
    if dates and when.get("undated"):
        dates += " (some have no date)"
    if kind == "imported":
        return f"imported, answers{dates} were taken from a log and nothing was asked."
    origin = f"replayed from recordings{dates}" if dates or not now else "asked now"
    origin = origin if when else "no recordings were used"
    if dates and now:
        origin += f", and {now:,} answers asked now"
    if kind == "simulated":
        return f"simulated (a program plays the judge, no model was asked), {origin}."
    return f"{origin}."


def _flat(identity: Row, prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield the fields of an identity, those of tables within it under both names."""
    for key, value in identity.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


# --- the swap ---------------------------------------------------------------------------------------------------


def _decisions(report: Row) -> list[Row]:
    return [row for row in report.get("decisions") or [] if row.get("judge") and row.get("baseline")]


def _swap(row: Row, report: Row) -> SwapView:
    components: list[Row] = row.get("components") or []
    extremes = [value for each in components for value in (each.get("low"), each.get("high"), each.get("margin"))]
    axis = charts.axis_around_zero(value for value in extremes if value is not None)
    decision = DecisionRow.from_json(row)
    words = swap_coverage.vocabulary_of_swap(decision.components)

    def part_line(part: Row) -> ForestLine:
        name = swap_part_label(*_named(part), words.said)
        return ForestLine(part, _margin_strip(part, name, axis), name=name)

    coverage, alike = swap_coverage.swap_coverage(decision, report), _is_unadmitted(decision.components)
    first, sides = caveats(decision, report), swap_coverage.side_numbers(decision, report)
    sides_to_show = [each for each in sides if not (alike and each.kind == HIDDEN)]
    single = [each for each in components if not _is_of_all(each) and not (alike and each["kind"] == HIDDEN)]
    return SwapView(
        row=row,
        lead=f"{first}. " * bool(first)
        + _swap_lead(row, components, words)
        + _in_numbers(sides, words)
        + _played(swap_coverage.simulated_judges(decision, report)),
        coverage=coverage,
        sides=tuple(_side_by_side(each, words) for each in sides_to_show),
        notes=(*swap_coverage.describe_side_numbers(sides, words), *([UNADMITTED] if alike else [])),
        reasons=tuple(each for each in decision.reasons if not coverage.says(each)),
        parts=tuple(map(part_line, filter(_is_of_all, components))),
        guards=tuple(_guards(single, words)),
        axis=axis,
    )


HIDDEN = "unadmitted-shift"
UNADMITTED = (
    "In every family and every contrast the unadmitted shift of either judge is the whole shift: no reason that admits "
    "a label makes it smaller. Its rows of single contrasts would repeat the others, and are left out."
)


def _is_unadmitted(components: Iterable[ComponentRow]) -> bool:
    """Tell whether of all parts the unadmitted shift is the shift, of either judge and held to the same margin."""
    numbers = attrgetter("value", "low", "high", "margin", "status", "judge", "baseline")
    of_shift = {each.name: numbers(each) for each in components if each.kind == "abs-vsr"}
    of_hidden = {each.name: numbers(each) for each in components if each.kind == HIDDEN}
    return bool(of_hidden) and of_shift == of_hidden


def _in_numbers(sides: Iterable[swap_coverage.JudgeSideNumbers], words: Vocabulary) -> str:
    """Say in a sentence what both judges do over everything: how often right, how far after each family."""
    right = [each for each in sides if each.kind == "accuracy"]
    followed = [each for each in sides if each.kind == "abs-vsr"]
    agrees = f"is right in {{}} of the {words.many} (over both orders)"
    if words is OF_EXAMPLES:
        agrees = f"agrees with people's labels on {{}} of the {words.many}"
    clauses = [f"it {agrees.format(_against(each))}" for each in right]
    if followed:
        clauses.append(f"follows {join_names([f'{each.name} by {_against(each)}' for each in followed])}")
    return f" In numbers, against those of the baseline: {', and '.join(clauses)}." if clauses else ""


def _played(names: Sequence[str]) -> str:
    if not names:
        return ""
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return f" {join_names(names)} {verb} simulated: a program played {them}, and no model was asked."


def _against(each: swap_coverage.JudgeSideNumbers) -> str:
    return f"{format_share(each.judge.value, 3)} against {format_share(each.baseline.value, 3)}"


def _guards(components: Iterable[Row], words: Vocabulary) -> Iterable[ForestGroup]:
    """Yield the guards of each kind: single contrasts on one dataset, and what is of a dataset alone."""
    for kind, own in group_rows(components, "kind").items():
        title = swap_part_label(kind, "a single contrast" if kind in SHIFTS else "", words.said)
        lines = tuple(ForestLine(each, None, name=str(each.get("name"))) for each in own)
        yield ForestGroup(capitalize_first(title), lines)


def _side_by_side(each: swap_coverage.JudgeSideNumbers, words: Vocabulary) -> tuple[str, Row, Row]:
    return swap_part_label(each.kind, each.name, words.said), as_json(each.judge), as_json(each.baseline)


def _is_of_all(part: Row) -> bool:
    return ComponentRow.from_json(part).is_of_all


def _margin_strip(part: Row, name: str, axis: ChartAxis) -> IntervalStrip | None:
    """Return the drawing of a part: accuracy may fall by its margin, most else rise by it, the pass rate do both."""
    margin, band = part.get("margin"), None
    if margin is not None:
        ways = fault_signs(part["kind"])
        band = (-margin if -1 in ways else None, margin if 1 in ways else None)
    return charts.interval_strip(name, part, axis, band)


def _named(part: Row) -> tuple[str, str]:
    return str(part["kind"]), part.get("name") or ""


def _swap_lead(row: Row, components: Sequence[Row], words: Vocabulary) -> str:
    """Say in one sentence or two what the decision is and what it rests on."""
    judge, baseline = row["judge"], row["baseline"]
    parts = list(filter(_is_of_all, components))
    worse, unclear = (
        worse_parts_text((_named(part) for part in parts if part["status"] == status), words.said)
        for status in ("FAIL", "INCONCLUSIVE")
    )
    doubt = f" These {words.many} cannot tell whether {unclear}." if unclear else ""
    if row["status"] == "APPROVE":
        return f"{judge} may take the place of {baseline}: in all that was compared it is no worse, within the margins."
    if row["status"] == "REJECT":
        why = f": {worse}." if worse else ", for the reasons below."
        return f"{judge} should not take the place of {baseline}{why}{doubt}"
    return f"Whether {judge} may take the place of {baseline} is not settled.{doubt}"


# --- intervals --------------------------------------------------------------------------------------------------


def _as_contrast(row: Row) -> Row:
    """Return a row of four cells as the forest reads it."""
    cue = row.get("cue_effect")
    return {**row, "family": "four-cell", "vsr": cue, "n": cue["n"] if cue else 0, "x": "", "y": ""}


def _extremes(*parts: Sequence[Row]) -> Iterable[float]:
    for row in (row for rows in parts for row in rows):
        estimate = row.get("vsr") or row.get("cue_effect")
        if estimate:
            yield from (estimate["low"], estimate["high"])
        if (tolerance := row.get("tolerance")) is not None:
            yield tolerance


def noise_floor(row: Row) -> tuple[float, float] | None:
    """Return how far noise alone reaches: the placebo's interval, or as far as repeats flip verdicts, either way."""
    floor = row.get("floor") or {}
    if placebo := floor.get("placebo_vsr"):
        return (placebo["low"], placebo["high"])
    if repeats := floor.get("repeat_flip_rate"):
        return (-repeats["value"], repeats["value"])
    return None


def _forests(rows: Sequence[Row], axis: ChartAxis) -> tuple[ForestPlot, ...]:
    forests = []
    for judge, own in group_rows(rows, "judge").items():
        groups: dict[str, list[ForestLine]] = {}
        scored = list(filter(_by_scores, own))
        own_axis = charts.axis_around_zero(_ends_of_scores(scored)) if scored else axis
        for row in filter(_is_measured, own):
            lines = groups.setdefault(row["family"], [])
            lines += [_first_line(row, own_axis), *map(partial(_part_line, row), _parts_beside(row))]
            if _by_scores(row) and row.get("vsr") and row["status"] != Status.PASS:
                lines.append(ForestLine(row, _vsr_strip(row, axis), name="VSR"))
        measured = tuple(ForestGroup(title, tuple(groups[title])) for title in sorted(groups))
        forests.append(ForestPlot(judge, measured, tuple(row for row in own if not _is_measured(row)), own_axis))
    return tuple(forests)


def _by_scores(row: Row) -> bool:
    """Return whether the scores of a contrast are gated in place of its verdicts."""
    limited = row.get("score_limit") is not None and row.get("score_shift") is not None
    return limited and row.get("vsr_status") == Status.NOT_APPLICABLE


def _is_measured(row: Row) -> bool:
    return bool(row.get("vsr")) or _by_scores(row)


def _ends_of_scores(rows: Iterable[Row]) -> Iterable[float]:
    for row in rows:
        yield from (row["score_shift"]["low"], row["score_shift"]["high"], row["score_limit"])


def _first_line(row: Row, axis: ChartAxis) -> ForestLine:
    """Return the line of what is gated of a contrast: how far its verdicts shift, or its scores."""
    if not _by_scores(row):
        return ForestLine(row, _vsr_strip(row, axis))
    shift, limit = row["score_shift"], row["score_limit"]
    part = DecisionPart.from_json({"part": "score", "estimate": shift, "allowed": [-limit, limit]})
    return ForestLine(row, charts.interval_strip(f"score of {_title(row)}", shift, axis, (-limit, limit)), part)


def _title(row: Row) -> str:
    return f"{row['contrast']} on {row['dataset']}"


def _vsr_strip(row: Row, axis: ChartAxis) -> IntervalStrip | None:
    tolerance, gated = row.get("tolerance"), row.get("vsr_status") != Status.NOT_APPLICABLE
    band = (-tolerance, tolerance) if tolerance is not None and gated else None
    return charts.interval_strip(_title(row), row["vsr"], axis, band, noise_floor(row))


def _parts_beside(row: Row) -> list[DecisionPart]:
    """Return what else decided a contrast; CAR has a column of its own."""
    parts = map(DecisionPart.from_json, row.get("decided_by") or ())
    return [part for part in other_deciding_parts(parts, by_scores=_by_scores(row)) if part.part != "car"]


def _part_line(row: Row, part: DecisionPart) -> ForestLine:
    """Return what decided a contrast beside its verdicts, on an axis that holds its estimate and its limits."""
    (low, high), estimate = part.allowed or (None, None), as_json(part.estimate)
    axis = charts.axis_around_zero(end for end in (estimate["low"], estimate["high"], low, high) if end is not None)
    band = None if low is high is None else (low, high)
    name = NAMED[part.part]
    return ForestLine(row, charts.interval_strip(f"{name} of {_title(row)}", estimate, axis, band), part, name)


def _planes(contrasts: Sequence[Row]) -> tuple[FaithfulnessView, ...]:
    rows_drawn = [row for row in contrasts if row.get("car") and row.get("vsr") and row["family"] != PLACEBO]
    axis = charts.axis_above_zero(row["vsr"]["value"] for row in rows_drawn)
    planes = []
    for judge, own in group_rows(rows_drawn, "judge").items():
        rows = tuple((number, row, dict(_readings(row))) for number, row in enumerate(own, 1))
        values = ({kind: each["value"] for kind, each in readings.items()} for _, _, readings in rows)
        points = [(_title(row), row["vsr"]["value"], each) for row, each in zip(own, values, strict=True)]
        drawn = charts.shift_admission_plane(points, axis)
        planes.append(FaithfulnessView(judge, drawn, rows, graded=any(map(is_grade_contrast, own))))
    return tuple(planes)


def _readings(row: Row) -> Iterable[tuple[str, Row]]:
    """Yield what CAR is by every reading of the reasons that there is."""
    for kind, key in READINGS:
        if row.get(key):
            yield kind, row[key]
    model = row.get("detector") or {}
    if model.get("car"):
        yield "by a model", model["car"]


def _rankings(report: Row, axis: ChartAxis) -> Iterable[tuple[Row, tuple[tuple[str, ForestLine], ...]]]:
    for row in report.get("rankings") or []:
        about = f"{row['judge']} on {row['dataset']}"
        lines = []
        for label in row["order"]:
            strength = row["strengths"][label]
            lines.append((label, ForestLine(strength, charts.interval_strip(f"{label}: {about}", strength, axis))))
        yield {**row, "said": describe_ranking(RankingRow.from_json(row), report)}, tuple(lines)


def _overall(accuracy: Sequence[Row], macro: Sequence[Row]) -> list[Row]:
    """Return the rows over all categories, each followed by the mean over categories."""
    rows = []
    for row in (row for row in accuracy if row["category"] == "all"):
        rows.append({**row, "label": "all pairs", "category": ""})
        rows += [
            {**each, "label": f"mean of {each['categories']} categories", "n": row["n"], "category": "mean"}
            for each in macro
            if (each["judge"], each["dataset"]) == (row["judge"], row["dataset"])
        ]
    return rows


def _accuracy(rows: Sequence[Row]) -> Iterable[ForestGroup]:
    """Yield the rows of each dataset, judges of the same category side by side."""
    for dataset, own in group_rows(rows, "dataset").items():
        own.sort(key=lambda row: (str(row.get("category") or ""), row["judge"]))
        yield ForestGroup(dataset, tuple(_accuracy_line(row) for row in own))


def _accuracy_line(row: Row) -> ForestLine:
    label = row.get("label") or row["category"]
    strip = charts.interval_strip(f"{row['judge']} on {row['dataset']}, {label}", row.get("accuracy"), SHARES)
    return ForestLine({**row, "label": label, "both": row.get("accuracy_both_orders")}, strip)
