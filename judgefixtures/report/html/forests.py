"""Intervals of the page as forests: contrasts, accuracy, and the plane of what judges admit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

from judgefixtures.checks.plain_language import NAMED
from judgefixtures.models.cues import PLACEBO
from judgefixtures.models.findings import DecisionPart, Row
from judgefixtures.models.record import as_json
from judgefixtures.statistics import Status, format_share

from ..html import charts
from .charts import SHARES, ChartAxis, IntervalStrip, ShiftAdmissionPlane
from .labels import limits_label, other_deciding_parts
from .vocabulary import is_grade_contrast

READINGS = (("as read", "car"), ("corrected", "car_corrected"))


@dataclass(frozen=True, slots=True)
class ForestLine:
    """A row with its drawing.

    Attributes:
        part: The drawn part, if not the verdicts.
        name: Its name on an axis of its own.
    """

    row: Row
    strip: IntervalStrip | None
    part: DecisionPart | None = None
    name: str = ""

    @property
    def allowed(self) -> str:
        """The value's limits, or ""."""
        if self.part is not None:
            return limits_label(self.part)
        tolerance = None if self.name else self.row.get("tolerance")
        return "" if tolerance is None else f"{format_share(-tolerance)} to {format_share(tolerance)}"

    @property
    def asked_of_reasons(self) -> str:
        """The limit of CAR, if it decided."""
        parts = map(DecisionPart.from_json, self.row.get("decided_by") or ())
        return next((limits_label(part) for part in parts if part.part == "car" and not self.name), "")


@dataclass(frozen=True, slots=True)
class ForestGroup:
    """Lines under a title."""

    title: str
    lines: tuple[ForestLine, ...]


@dataclass(frozen=True, slots=True)
class ForestPlot:
    """The intervals of one judge on one axis."""

    judge: str
    groups: tuple[ForestGroup, ...]
    unmeasured: tuple[Row, ...]
    axis: ChartAxis

    @property
    def lines(self) -> list[ForestLine]:
        """All lines."""
        return [line for group in self.groups for line in group.lines]

    @property
    def has_parts(self) -> bool:
        """Whether values need units and limits."""
        return any(line.part for line in self.lines)


@dataclass(frozen=True, slots=True)
class FaithfulnessView:
    """The plane of one judge, and its table."""

    judge: str
    plane: ShiftAdmissionPlane
    rows: tuple[tuple[int, Row, Mapping[str, Row]], ...]
    graded: bool

    @property
    def kinds(self) -> set[str]:
        """The readers with dots on the plane."""
        return {kind for _, _, readings in self.rows for kind in readings}


def group_rows(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Return rows by some columns, in order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(itemgetter(*keys)(row), []).append(row)
    return groups


def as_contrast(row: Row) -> Row:
    """Return a row of four cells as the forest reads it."""
    cue = row.get("cue_effect")
    return {**row, "family": "four-cell", "vsr": cue, "n": cue["n"] if cue else 0, "x": "", "y": ""}


def extremes(*parts: Sequence[Row]) -> Iterable[float]:
    """Yield the ends and the limits of all rows, which an axis has to hold."""
    for row in (row for rows in parts for row in rows):
        estimate = row.get("vsr") or row.get("cue_effect")
        if estimate:
            yield from (estimate["low"], estimate["high"])
        if (tolerance := row.get("tolerance")) is not None:
            yield tolerance


def noise_floor(row: Row) -> tuple[float, float] | None:
    """Return the range of noise, from the placebo or repeats."""
    floor = row.get("floor") or {}
    if placebo := floor.get("placebo_vsr"):
        return (placebo["low"], placebo["high"])
    if repeats := floor.get("repeat_flip_rate"):
        return (-repeats["value"], repeats["value"])
    return None


def forest_plots(rows: Sequence[Row], axis: ChartAxis) -> tuple[ForestPlot, ...]:
    """Return a forest for each judge, its rows in groups by family."""
    forests = []
    for judge, own in group_rows(rows, "judge").items():
        groups: dict[str, list[ForestLine]] = {}
        scored = list(filter(is_by_scores, own))
        own_axis = charts.axis_around_zero(_ends_of_scores(scored)) if scored else axis
        for row in filter(_is_measured, own):
            lines = groups.setdefault(row["family"], [])
            lines += [_first_line(row, own_axis), *map(partial(_part_line, row), _parts_beside(row))]
            if is_by_scores(row) and row.get("vsr") and row["status"] != Status.PASS:
                lines.append(ForestLine(row, _vsr_strip(row, axis), name="VSR"))
        measured = tuple(ForestGroup(title, tuple(groups[title])) for title in sorted(groups))
        forests.append(ForestPlot(judge, measured, tuple(row for row in own if not _is_measured(row)), own_axis))
    return tuple(forests)


def is_by_scores(row: Row) -> bool:
    """Return whether the scores of a contrast are gated in place of its verdicts."""
    limited = row.get("score_limit") is not None and row.get("score_shift") is not None
    return limited and row.get("vsr_status") == Status.NOT_APPLICABLE


def _is_measured(row: Row) -> bool:
    return bool(row.get("vsr")) or is_by_scores(row)


def _ends_of_scores(rows: Iterable[Row]) -> Iterable[float]:
    for row in rows:
        yield from (row["score_shift"]["low"], row["score_shift"]["high"], row["score_limit"])


def _first_line(row: Row, axis: ChartAxis) -> ForestLine:
    if not is_by_scores(row):
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
    parts = map(DecisionPart.from_json, row.get("decided_by") or ())
    return [part for part in other_deciding_parts(parts, by_scores=is_by_scores(row)) if part.part != "car"]


def _part_line(row: Row, part: DecisionPart) -> ForestLine:
    (low, high), estimate = part.allowed or (None, None), as_json(part.estimate)
    axis = charts.axis_around_zero(end for end in (estimate["low"], estimate["high"], low, high) if end is not None)
    band = None if low is high is None else (low, high)
    name = NAMED[part.part]
    return ForestLine(row, charts.interval_strip(f"{name} of {_title(row)}", estimate, axis, band), part, name)


def faithfulness_planes(contrasts: Sequence[Row]) -> tuple[FaithfulnessView, ...]:
    """Return a plane for each judge of which reasons are known to admit something, all on one axis."""
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
    for kind, key in READINGS:
        if row.get(key):
            yield kind, row[key]
    model = row.get("detector") or {}
    if model.get("car"):
        yield "by a model", model["car"]


def overall_accuracy(accuracy: Sequence[Row], macro: Sequence[Row]) -> list[Row]:
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


def accuracy_groups(rows: Sequence[Row]) -> Iterable[ForestGroup]:
    """Yield the rows of each dataset, judges of the same category side by side."""
    for dataset, own in group_rows(rows, "dataset").items():
        own.sort(key=lambda row: (str(row.get("category") or ""), row["judge"]))
        yield ForestGroup(dataset, tuple(_accuracy_line(row) for row in own))


def _accuracy_line(row: Row) -> ForestLine:
    label = row.get("label") or row["category"]
    strip = charts.interval_strip(f"{row['judge']} on {row['dataset']}, {label}", row.get("accuracy"), SHARES)
    return ForestLine({**row, "label": label, "both": row.get("accuracy_both_orders")}, strip)
