"""Geometry of charts: coordinates of lines and dots, which a template draws as SVG."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .labels import interval_label, number_ranges, share_label, shift_label

STEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)  # ends of an axis that are easy to read


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """The values from left to right."""

    low: float
    high: float

    def at(self, value: float, length: float = 100) -> float:
        """Return the position of a value on a line, clipped to its ends.

        >>> ChartAxis(-1, 1).at(0.5), ChartAxis(0, 1).at(7)
        (75.0, 100.0)
        """
        inside = min(max(value, self.low), self.high)
        return round(length * (inside - self.low) / (self.high - self.low), 2)

    @property
    def ticks(self) -> tuple[float, float, float]:
        """Both ends, and 0 or the middle."""
        return (self.low, 0.0 if self.low < 0 < self.high else (self.low + self.high) / 2, self.high)


SHARES = ChartAxis(0, 1)
Band = tuple[float | None, float | None]
Ends = tuple[float, float]


def axis_around_zero(values: Iterable[float]) -> ChartAxis:
    """Return an axis centred on 0 for all values.

    >>> axis_around_zero([0.31, -0.12])
    ChartAxis(low=-0.4, high=0.4)
    """
    most = max((abs(value) for value in values), default=0)
    end = next((step for step in STEPS if step >= most), float(most))
    return ChartAxis(-end, end)


def axis_above_zero(values: Iterable[float]) -> ChartAxis:
    """Return an axis for all values and 0.

    >>> axis_above_zero([0.31, -0.02])
    ChartAxis(low=-0.1, high=0.4)
    """
    all_values = list(values)
    low = axis_around_zero(min(value, 0) for value in all_values).low
    return ChartAxis(low, axis_around_zero(max(value, 0) for value in all_values).high)


@dataclass(frozen=True, slots=True)
class IntervalStrip:
    """An interval on a line from 0 to 100, with its accessible text."""

    low: float
    value: float
    high: float
    zero: float
    band: Ends | None
    floor: Ends | None
    title: str
    detail: str


def interval_strip(
    title: str, estimate: Mapping[str, Any] | None, axis: ChartAxis, band: Band | None = None, floor: Ends | None = None
) -> IntervalStrip | None:
    """Return the drawing of an estimate, or None without one.

    Args:
        title: The title.
        estimate: The estimate as JSON.
        axis: The axis.
        band: The tolerated range; None as an end is the axis end.
        floor: The range of noise.
    """
    if not estimate or estimate.get("low") is None or estimate.get("value") is None:
        return None
    value_label = share_label if axis.low == 0 else shift_label
    text = f"{value_label(estimate['value'])}, {interval_label(dict(estimate))}"
    if band:
        text += f"; limit {_tolerated(band)}"
    if floor:
        text += f"; noise floor {floor[0]:.3g} to {floor[1]:.3g}"

    def both(ends: Band | None) -> Ends | None:
        if ends is None:
            return None
        low, high = ends
        return axis.at(axis.low if low is None else low), axis.at(axis.high if high is None else high)

    places = (axis.at(estimate["low"]), axis.at(estimate["value"]), axis.at(estimate["high"]))
    return IntervalStrip(*places, zero=axis.at(0), band=both(band), floor=both(floor), title=title, detail=text)


def _tolerated(band: Band) -> str:
    low, high = band
    if low is None:
        return f"at most {high:.3g}"
    return f"at least {low:.3g}" if high is None else f"{low:.3g} to {high:.3g}"


# --- the faithfulness plane ------------------------------------------------------------------------------------

WIDTH, HEIGHT = 300, 220
NEAR = 6  # points whose dots are all so near each other are drawn as one
DOT = 5  # half of its size
LETTER, LINE = 7, 12  # of a number beside a point


@dataclass(frozen=True, slots=True)
class PlaneReading:
    """A reader of reasons, with the height of its dot."""

    kind: str
    y: float


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """The contrasts at one place of the plane."""

    x: float
    dots: tuple[PlaneReading, ...]
    label: str
    label_x: float
    label_y: float
    title: str

    @property
    def leader(self) -> bool:
        """Whether a line must connect the distant label."""
        return self.ends[0] - self.label_y > LINE

    @property
    def ends(self) -> tuple[float, float]:
        """The highest and lowest dots."""
        return (min(dot.y for dot in self.dots), max(dot.y for dot in self.dots))


@dataclass(frozen=True, slots=True)
class ShiftAdmissionPlane:
    """Shifts against admission for the contrasts of one judge."""

    axis: ChartAxis
    points: tuple[PlanePoint, ...]
    zero: float
    width: int = WIDTH
    height: int = HEIGHT


Placed = tuple[int, float, tuple[PlaneReading, ...], str]  # number, x, readings, name
Route = tuple[float, float, float]  # left end, right end, and the line that a label is written on


def shift_admission_plane(
    contrasts: Sequence[tuple[str, float, Mapping[str, float]]], axis: ChartAxis
) -> ShiftAdmissionPlane:
    """Return the plane of contrasts with VSR and CAR by reader.

    >>> contrasts = [("a", 0.3, {"as read": 0}), ("b", 0.3, {"as read": 0}), ("c", 0, {"as read": 1})]
    >>> [point.label for point in shift_admission_plane(contrasts, SHARES).points]
    ['1, 2', '3']
    """
    heaps: list[list[Placed]] = []
    for number, (name, vsr, readings) in enumerate(contrasts, 1):
        dots = tuple(PlaneReading(kind, round(HEIGHT - SHARES.at(car, HEIGHT), 2)) for kind, car in readings.items())
        text = ", ".join(f"{kind} {share_label(car)}" for kind, car in readings.items())
        placed = (number, axis.at(vsr, WIDTH), dots, f"{number}. {name}: VSR {shift_label(vsr)}; CAR {text}")
        heap = next((heap for heap in heaps if _near(heap[0], placed)), None)
        if heap is None:
            heaps.append([placed])
        else:
            heap.append(placed)
    taken = [(x - DOT, x + DOT, dot.y + DOT) for heap in heaps for _, x, dots, _ in heap[:1] for dot in dots]
    return ShiftAdmissionPlane(axis, tuple(_point(heap, taken) for heap in heaps), axis.at(0, WIDTH))


def _near(one: Placed, other: Placed) -> bool:
    apart = [abs(a.y - b.y) for a, b in zip(one[2], other[2], strict=False)]
    return len(one[2]) == len(other[2]) and abs(one[1] - other[1]) <= NEAR and max(apart, default=0) <= NEAR


def _point(heap: Sequence[Placed], taken: list[Route]) -> PlanePoint:
    _, x, dots, _ = heap[0]
    label = number_ranges([number for number, *_ in heap])
    width = LETTER * len(label)
    left, right, line = _free(x, [dot.y for dot in dots], width, taken)
    taken.append((left, right, line))
    return PlanePoint(x, dots, label, round(left, 2), round(line, 2), "\n".join(name for *_, name in heap))


def _free(x: float, dots: Sequence[float], width: float, taken: Sequence[Route]) -> Route:
    beside = [(left, y + 4) for y in dots for left in (x + 8, x - 8 - width)]
    stacked = [(x - width / 2, min(dots) - 8 - step * LINE) for step in range(12)]
    stacked += [(x - width / 2, max(dots) + 18 + step * LINE) for step in range(6)]
    boxes = [(left, left + width, line) for left, line in (*beside, *stacked)]
    inside = [box for box in boxes if box[0] >= 0 and box[1] <= WIDTH + 14 and LINE <= box[2] <= HEIGHT - 2]
    free = (box for box in inside if all(_apart(box, other) for other in taken))
    return next(free, (inside or boxes)[0])


def _apart(one: Route, other: Route) -> bool:
    return one[1] < other[0] or other[1] < one[0] or abs(one[2] - other[2]) >= LINE
