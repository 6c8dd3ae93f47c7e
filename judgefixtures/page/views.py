"""Views: what each part of the page says, taken from report.json. Nothing is measured or decided here.

A part whose fields the report lacks is empty, and the template leaves it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

from judgefixtures.checks import list_sections
from judgefixtures.checks.approval import unread
from judgefixtures.checks.beyond_verdicts import not_applied_lines
from judgefixtures.checks.coverage import (
    Coverage,
    Sides,
    coverage_of,
    kind_of,
    said_of_sides,
    sides_of,
    simulated_of,
    words_of,
)
from judgefixtures.checks.decision_rows import ComponentRow, DecisionRow
from judgefixtures.checks.families import fold, said_of_all
from judgefixtures.checks.order_flips import flips_lines
from judgefixtures.checks.overview import OPEN, ended, gates, opening, others
from judgefixtures.checks.plain import NAMED
from judgefixtures.checks.shift_table import CONTRASTS
from judgefixtures.checks.standings import RankingRow, said_of_order
from judgefixtures.findings import PartRow, Row, is_of_control
from judgefixtures.material.cues import PLACEBO
from judgefixtures.material.diction import OF_EXAMPLES, Wording
from judgefixtures.numbers.statistics import Status, bare
from judgefixtures.page import charts
from judgefixtures.page.charts import SHARES, Axis, Plane, Strip
from judgefixtures.page.labels import allowed_text, beside_verdicts, part_of_swap, worse_in
from judgefixtures.page.vocabulary import is_graded, verdicts_of
from judgefixtures.swap.components import faults
from judgefixtures.swap.sentences import SHIFTS
from judgefixtures.words.records import as_json
from judgefixtures.words.texts import join_names

READINGS = (("as read", "car"), ("corrected", "car_corrected"))


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the report with its drawing: of `part`, where that and not its verdicts is drawn.

    With a `name` it is what else there is of the row above, drawn on an axis of its own.
    """

    row: Row
    strip: Strip | None
    part: PartRow | None = None
    name: str = ""

    @property
    def allowed(self) -> str:
        """Between which limits the value may lie; empty where it is shown and decides nothing."""
        if self.part is not None:
            return allowed_text(self.part)
        tolerance = None if self.name else self.row.get("tolerance")
        return "" if tolerance is None else f"{bare(-tolerance)} to {bare(tolerance)}"

    @property
    def asked_of_reasons(self) -> str:
        """The limit of CAR, where that is one of the parts that decided."""
        parts = map(PartRow.from_json, self.row.get("decided_by") or ())
        return next((allowed_text(part) for part in parts if part.part == "car" and not self.name), "")


@dataclass(frozen=True, slots=True)
class Group:
    """Lines that stand together under a title."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """The intervals of one judge, in groups, on one axis, and what could not be measured."""

    judge: str
    groups: tuple[Group, ...]
    unmeasured: tuple[Row, ...]
    axis: Axis

    @property
    def lines(self) -> list[Line]:
        """The lines of all groups."""
        return [line for group in self.groups for line in group.lines]

    @property
    def has_parts(self) -> bool:
        """Whether more than verdicts is in it, so that each value needs its unit and its limits."""
        return any(line.part for line in self.lines)


@dataclass(frozen=True, slots=True)
class Person:
    """A judge: what it is, where its answers come from, and how its checks came out."""

    name: str
    kind: str
    source: str
    identity: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, int], ...]
    baseline: bool


@dataclass(frozen=True, slots=True)
class Swap:
    """The decision on one candidate: a sentence, what it covers, both judges by themselves, and its parts.

    `sides` has each quantity under its name, of candidate and baseline; `notes` say what has to be known of them.
    `reasons` are those that nothing above them says in the same words.
    """

    row: Row
    lead: str
    coverage: Coverage
    sides: tuple[tuple[str, Row, Row], ...]
    notes: tuple[str, ...]
    reasons: tuple[str, ...]
    parts: tuple[Line, ...]
    guards: tuple[Group, ...]
    axis: Axis


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """The plane of one judge, and its contrasts as a table."""

    judge: str
    plane: Plane
    rows: tuple[tuple[int, Row, Mapping[str, Row]], ...]
    graded: bool

    @property
    def kinds(self) -> set[str]:
        """By which readings of the reasons there are dots on the plane."""
        return {kind for _, _, readings in self.rows for kind in readings}


@dataclass(frozen=True, slots=True)
class Findings:
    """What is not fine about a judge: a row for each thing, and those of one ERROR that are unfolded."""

    judge: str
    first: tuple[Row, ...]
    rest: tuple[Row, ...]


def view_of(report: Row) -> SimpleNamespace:
    """Return what the page shows beside the browser of pairs, by name, whichever parts of a report there are."""
    contrasts: list[Row] = report.get("contrasts") or []
    cells: list[Row] = report.get("four_cells") or []
    edits = [row for row in contrasts if is_edit(row)]
    others = [row for row in contrasts if not is_edit(row)]
    axis, edits_axis = charts.around_zero(_extremes(others, cells)), charts.around_zero(_extremes(edits))
    swaps = tuple(_swap(row, report) for row in _decisions(report))
    accuracy = report.get("accuracy") or []
    strengths = [row for ranking in report.get("rankings") or [] for row in ranking["strengths"].values()]
    ranking_axis = charts.around_zero(value for row in strengths for value in (row["low"], row["high"]))
    people, planes = tuple(_people(report)), _planes(others)
    status = report["decision"]["status"] if report.get("decision") else report.get("status", "")
    return SimpleNamespace(
        status=status,
        title="Decision" if report.get("decision") else "Result",
        leads=(*opening(report), *(swap.lead for swap in swaps), *_leads(contrasts, report), *ended(report)),
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
        floors=any(map(floor_of, others)),
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
        expenses=[own[0] for own in grouped(report.get("expenses") or [], "judge", "baseline").values()],
        retries_by_judge=any(row.get("retries") is not None for row in report.get("usage") or []),
        report=report,
    )


def grouped(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Return rows by what they have in some columns, in the order in which that comes first."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(itemgetter(*keys)(row), []).append(row)
    return found


def is_edit(row: Row) -> bool:
    """Return whether a contrast is about an edited response, such as one that an attack was put into.

    A label of a cue may be called plain, too: then sentences say it.
    """
    return bool(row.get("outcome") == "chose-edited" or (row.get("y") == "plain" and not row.get("sentences")))


def said_of(row: Row) -> str:
    """Return the sentence that says how a contrast came out, its message where there is none."""
    return as_sentence(str(row.get("text") or row.get("message") or ""))


def as_sentence(said: str) -> str:
    """Return a text with its first letter as a capital one; the others stay as they are."""
    return said[:1].upper() + said[1:]


def baseline_of(report: Row) -> dict[str, str]:
    """Return the judge that each candidate was compared with."""
    return {row["judge"]: row["baseline"] for row in _decisions(report)}


# --- what comes first -------------------------------------------------------------------------------------------


def _leads(contrasts: Sequence[Row], report: Row) -> Iterable[str]:
    """Say per judge how its own checks came out, and what moves its verdicts."""
    said = gates(report) if "results" in report else list(_counted(contrasts))
    yield from (line if line.endswith(".") else f"{line}." for line in said)
    for judge, own in grouped(contrasts, "judge").items():
        if moved := sorted({row["family"] for row in own if row.get("vsr_status") == "FAIL"}):
            yield f"The {verdicts_of(own)} of {judge} demonstrably move with {join_names(moved)}."
        yield from _beyond_verdicts(judge, own)
    if not contrasts and not said and not report.get("decisions"):
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
        what = what.format(judge=judge, part=NAMED.get(part, part), verdicts=verdicts_of(rows))
        yield f"{what} {join_names(sorted(own))}."


# What is said of parts that a contrast is a FAIL by although the shift of its verdicts is not.
BEYOND = {
    "score": "The scores of {judge} demonstrably move with",
    "log_odds": "How sure {judge} is of its {verdicts} (log-odds) demonstrably moves with",
    "car": "Too few reasons of {judge} admit what moved its {verdicts} (CAR), demonstrably, with",
    "max_silent": "Demonstrably more of what moved the {verdicts} of {judge} than is allowed is not admitted, with",
}


def _counted(contrasts: Sequence[Row]) -> Iterable[str]:
    for judge, own in grouped(contrasts, "judge").items():
        counts = Counter(row["status"] for row in own)
        said = join_names([f"{counts[status]} {status}" for status in (*OPEN, "PASS") if counts[status]] or ["nothing"])
        yield f"{judge}: of {len(own)} contrasts {said}."


def _findings(report: Row) -> Iterable[Findings]:
    """Yield per judge all that is not fine: contrasts of a family that came to the same as one, the worst first.

    What was not measured mostly was not for one reason, so that one of it stands for all: a control that was not
    passed before anything that could not be asked.
    """
    contrasts = CONTRASTS.read_records(report)
    of_control = [[row] for row in contrasts if is_of_control(row.decided_by)]  # each counts
    told = [
        {**group[0].to_json(), "said": as_sentence(said_of_all(group, contrasts) or group[0].message)}
        for group in [*fold([row for row in contrasts if [row] not in of_control], (Status.ERROR,)), *of_control]
    ]
    rest = [{**row.to_json(), "contrast": row.name, "family": row.check} for row in others(report)]
    others_said = [{**row, "said": said_of(row)} for row in [*(report.get("four_cells") or []), *rest]]
    rows = [{"family": "", **row} for row in [*told, *others_said] if row["status"] in OPEN]
    for judge, own in grouped(rows, "judge").items():
        own.sort(key=lambda row: (URGENCY.index(row["status"]), -_size(row)))
        lost = [row for row in own if row["status"] == Status.ERROR or _is_of_control(row)]
        by_control = _is_of_control(lost[0]) if lost else False
        alike = [row for row in lost if _is_of_control(row) == by_control]
        stands = [{**lost[0], "of": len(alike), "by_control": by_control}] if lost else []
        others_lost = tuple(row for row in lost[1:] if not _is_of_control(row))
        yield Findings(judge, (*(row for row in own if row not in lost), *stands), others_lost)


URGENCY = ("FAIL", "INCONCLUSIVE", "ERROR")


def _is_of_control(row: Row) -> bool:
    return is_of_control(map(PartRow.from_json, row.get("decided_by") or ()))


def _size(row: Row) -> float:
    """Return how far verdicts moved."""
    estimate = row.get("vsr") or row.get("cue_effect")
    return abs(estimate["value"]) if estimate else 0.0


def _people(report: Row) -> Iterable[Person]:
    """Yield every judge that the report names, baselines last."""
    baselines = set(baseline_of(report).values())
    identities: Mapping[str, Row] = report.get("judges") or {}
    recorded = (report.get("run") or {}).get("recorded") or {}
    statuses = Counter(
        (row["judge"], row["status"]) for part in ("contrasts", "four_cells") for row in report.get(part) or []
    )
    for name in sorted(identities, key=lambda name: (name in baselines, name)):
        counts = [(status, statuses[name, status]) for status in (*OPEN, "PASS", "NOT_APPLICABLE")]
        kind = kind_of(name, identities[name])
        yield Person(
            name=name,
            kind=kind,
            source=_source(kind, recorded.get(name) or {}),
            identity=tuple(_flat(identities[name])),
            counts=tuple(each for each in counts if each[1]),
            baseline=name in baselines,
        )


def _sources(people: Sequence[Person]) -> Iterable[str]:
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


def _swap(row: Row, report: Row) -> Swap:
    components: list[Row] = row.get("components") or []
    extremes = [value for each in components for value in (each.get("low"), each.get("high"), each.get("margin"))]
    axis = charts.around_zero(value for value in extremes if value is not None)
    decision = DecisionRow.from_json(row)
    words = words_of(decision.components)
    names = [part_of_swap(*_named(each), words.said) for each in components]
    lines = [
        Line(each, _margin_strip(each, name, axis), name=name) for each, name in zip(components, names, strict=True)
    ]
    coverage, alike = coverage_of(decision, report), _is_unadmitted(decision.components)
    first, sides = unread(decision, report), sides_of(decision, report)
    shown = [each for each in sides if not (alike and each.kind == HIDDEN)]
    single = [each for each in components if not _is_of_all(each) and not (alike and each["kind"] == HIDDEN)]
    return Swap(
        row=row,
        lead=f"{first}. " * bool(first)
        + _swap_lead(row, components, words)
        + _in_numbers(sides, words)
        + _played(simulated_of(decision, report)),
        coverage=coverage,
        sides=tuple(_side_by_side(each, words) for each in shown),
        notes=(*said_of_sides(sides, words), *([UNADMITTED] if alike else [])),
        reasons=tuple(each for each in decision.reasons if not coverage.says(each)),
        parts=tuple(line for line in lines if _is_of_all(line.row)),
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
    of_shift, of_hidden = (
        {
            each.name: (each.value, each.low, each.high, each.margin, each.status, each.judge, each.baseline)
            for each in components
            if each.kind == kind
        }
        for kind in ("abs-vsr", HIDDEN)
    )
    return bool(of_hidden) and of_shift == of_hidden


def _in_numbers(sides: Iterable[Sides], words: Wording) -> str:
    """Say in a sentence what both judges do over everything: how often right, how far after each family."""
    right = [each for each in sides if each.kind == "accuracy"]
    followed = [each for each in sides if each.kind == "abs-vsr"]
    agrees = f"is right in {{}} of the {words.many} (over both orders)"
    if words is OF_EXAMPLES:
        agrees = f"agrees with people's labels on {{}} of the {words.many}"
    said = [f"it {agrees.format(_against(each))}" for each in right]
    if followed:
        said.append(f"follows {join_names([f'{each.name} by {_against(each)}' for each in followed])}")
    return f" In numbers, against those of the baseline: {', and '.join(said)}." if said else ""


def _played(names: Sequence[str]) -> str:
    if not names:
        return ""
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return f" {join_names(names)} {verb} simulated: a program played {them}, and no model was asked."


def _against(each: Sides) -> str:
    return f"{bare(each.judge.value, 3)} against {bare(each.baseline.value, 3)}"


def _guards(components: Iterable[Row], words: Wording) -> Iterable[Group]:
    """Yield the guards of each kind: single contrasts on one dataset, and what is of a dataset alone."""
    for kind, own in grouped(components, "kind").items():
        title = (
            part_of_swap(kind, "a single contrast", words.said)
            if kind in SHIFTS
            else part_of_swap(kind, "", words.said)
        )
        yield Group(as_sentence(title), tuple(Line(each, None, name=str(each.get("name"))) for each in own))


def _side_by_side(each: Sides, words: Wording) -> tuple[str, Row, Row]:
    return part_of_swap(each.kind, each.name, words.said), as_json(each.judge), as_json(each.baseline)


def _is_of_all(part: Row) -> bool:
    return ComponentRow.from_json(part).is_of_all


def _margin_strip(part: Row, name: str, axis: Axis) -> Strip | None:
    """Return the drawing of a part: accuracy may fall by its margin, most else rise by it, the pass rate do both."""
    margin, band = part.get("margin"), None
    if margin is not None:
        ways = faults(part["kind"])
        band = (-margin if -1 in ways else None, margin if 1 in ways else None)
    return charts.strip(name, part, axis, band)


def _named(part: Row) -> tuple[str, str]:
    return str(part["kind"]), part.get("name") or ""


def _swap_lead(row: Row, components: Sequence[Row], words: Wording) -> str:
    """Say in one sentence or two what the decision is and what it rests on."""
    judge, baseline = row["judge"], row["baseline"]
    parts = list(filter(_is_of_all, components))
    worse, unclear = (
        worse_in((_named(part) for part in parts if part["status"] == status), words.said)
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


def floor_of(row: Row) -> tuple[float, float] | None:
    """Return how far noise alone reaches: the placebo's interval, or as far as repeats flip verdicts, either way."""
    floor = row.get("floor") or {}
    if placebo := floor.get("placebo_vsr"):
        return (placebo["low"], placebo["high"])
    if repeats := floor.get("repeat_flip_rate"):
        return (-repeats["value"], repeats["value"])
    return None


def _forests(rows: Sequence[Row], axis: Axis) -> tuple[Forest, ...]:
    forests = []
    for judge, own in grouped(rows, "judge").items():
        groups: dict[str, list[Line]] = {}
        scored = list(filter(_by_scores, own))
        own_axis = charts.around_zero(_ends_of_scores(scored)) if scored else axis
        for row in filter(_is_measured, own):
            lines = groups.setdefault(row["family"], [])
            lines += [_first_line(row, own_axis), *map(partial(_part_line, row), _parts_beside(row))]
            if _by_scores(row) and row.get("vsr") and row["status"] != Status.PASS:
                lines.append(Line(row, _vsr_strip(row, axis), name="VSR"))
        measured = tuple(Group(title, tuple(groups[title])) for title in sorted(groups))
        forests.append(Forest(judge, measured, tuple(row for row in own if not _is_measured(row)), own_axis))
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


def _first_line(row: Row, axis: Axis) -> Line:
    """Return the line of what is gated of a contrast: how far its verdicts shift, or its scores."""
    if not _by_scores(row):
        return Line(row, _vsr_strip(row, axis))
    found, limit = row["score_shift"], row["score_limit"]
    part = PartRow.from_json({"part": "score", "estimate": found, "allowed": [-limit, limit]})
    return Line(row, charts.strip(f"score of {_title(row)}", found, axis, (-limit, limit)), part)


def _title(row: Row) -> str:
    return f"{row['contrast']} on {row['dataset']}"


def _vsr_strip(row: Row, axis: Axis) -> Strip | None:
    tolerance, gated = row.get("tolerance"), row.get("vsr_status") != Status.NOT_APPLICABLE
    band = (-tolerance, tolerance) if tolerance is not None and gated else None
    return charts.strip(_title(row), row["vsr"], axis, band, floor_of(row))


def _parts_beside(row: Row) -> list[PartRow]:
    """Return what else decided a contrast; CAR has a column of its own."""
    parts = map(PartRow.from_json, row.get("decided_by") or ())
    return [part for part in beside_verdicts(parts, by_scores=_by_scores(row)) if part.part != "car"]


def _part_line(row: Row, part: PartRow) -> Line:
    """Return what decided a contrast beside its verdicts, on an axis that holds its estimate and its limits."""
    (low, high), found = part.allowed or (None, None), as_json(part.estimate)
    axis = charts.around_zero(end for end in (found["low"], found["high"], low, high) if end is not None)
    band = None if low is high is None else (low, high)
    name = NAMED[part.part]
    return Line(row, charts.strip(f"{name} of {_title(row)}", found, axis, band), part, name)


def _planes(contrasts: Sequence[Row]) -> tuple[Faithfulness, ...]:
    shown = [row for row in contrasts if row.get("car") and row.get("vsr") and row["family"] != PLACEBO]
    axis = charts.mostly_above(row["vsr"]["value"] for row in shown)
    planes = []
    for judge, own in grouped(shown, "judge").items():
        points = [
            (_title(row), row["vsr"]["value"], {kind: each["value"] for kind, each in _readings(row)}) for row in own
        ]
        drawn = charts.plane(points, axis)
        rows = tuple((number, row, dict(_readings(row))) for number, row in enumerate(own, 1))
        planes.append(Faithfulness(judge, drawn, rows, graded=any(map(is_graded, own))))
    return tuple(planes)


def _readings(row: Row) -> Iterable[tuple[str, Row]]:
    """Yield what CAR is by every reading of the reasons that there is."""
    for kind, key in READINGS:
        if row.get(key):
            yield kind, row[key]
    model = row.get("detector") or {}
    if model.get("car"):
        yield "by a model", model["car"]


def _rankings(report: Row, axis: Axis) -> Iterable[tuple[Row, tuple[tuple[str, Line], ...]]]:
    for row in report.get("rankings") or []:
        about = f"{row['judge']} on {row['dataset']}"
        lines = [
            (label, Line(row["strengths"][label], charts.strip(f"{label}: {about}", row["strengths"][label], axis)))
            for label in row["order"]
        ]
        yield {**row, "said": said_of_order(RankingRow.from_json(row), report)}, tuple(lines)


def _overall(accuracy: Sequence[Row], macro: Sequence[Row]) -> list[Row]:
    """Return the rows over all categories, each followed by the mean over categories."""
    found = []
    for row in (row for row in accuracy if row["category"] == "all"):
        found.append({**row, "label": "all pairs", "category": ""})
        found += [
            {**each, "label": f"mean of {each['categories']} categories", "n": row["n"], "category": "mean"}
            for each in macro
            if (each["judge"], each["dataset"]) == (row["judge"], row["dataset"])
        ]
    return found


def _accuracy(rows: Sequence[Row]) -> Iterable[Group]:
    """Yield the rows of each dataset, judges of the same category side by side."""
    for dataset, own in grouped(rows, "dataset").items():
        own.sort(key=lambda row: (str(row.get("category") or ""), row["judge"]))
        yield Group(dataset, tuple(_accuracy_line(row) for row in own))


def _accuracy_line(row: Row) -> Line:
    label = row.get("label") or row["category"]
    strip = charts.strip(f"{row['judge']} on {row['dataset']}, {label}", row.get("accuracy"), SHARES)
    return Line({**row, "label": label, "both": row.get("accuracy_both_orders")}, strip)
