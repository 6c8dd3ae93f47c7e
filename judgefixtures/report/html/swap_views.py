"""Views of the decisions on swaps, for the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from judgefixtures.checks.swap_decision import caveats
from judgefixtures.models.findings import Row
from judgefixtures.models.record import as_json
from judgefixtures.models.swap_rows import ComponentRow, DecisionRow
from judgefixtures.models.vocabulary import Vocabulary
from judgefixtures.swap.sentences import SHIFTS
from judgefixtures.swap.worse_direction import fault_signs

from .. import swap_coverage
from ..html import charts
from ..messages import MESSAGES
from .charts import ChartAxis, IntervalStrip
from .forests import ForestGroup, ForestLine, group_rows
from .labels import capitalize_first, swap_part_label, worse_parts_text


@dataclass(frozen=True, slots=True)
class SwapView:
    """The decision on one candidate.

    Attributes:
        sides: Each quantity of both judges, by name.
        notes: Explanations of the sides.
        reasons: Reasons not shown above.
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


def swap_view(row: Row, report: Row) -> SwapView:
    """Return what the page shows of the decision on a candidate."""
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
    numbers = MESSAGES.swap_numbers(sides, words, swap_coverage.simulated_judges(decision, report))
    sides_to_show = [each for each in sides if not (alike and each.kind == HIDDEN)]
    single = [each for each in components if not _is_of_all(each) and not (alike and each["kind"] == HIDDEN)]
    return SwapView(
        row=row,
        lead=f"{first}. " * bool(first) + _swap_lead(row, components, words) + numbers,
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
    "For both judges, the unadmitted shift equals the whole shift in every family and contrast. Its rows of single "
    "contrasts are left out."
)


def _is_unadmitted(components: Iterable[ComponentRow]) -> bool:
    numbers = attrgetter("value", "low", "high", "margin", "status", "judge", "baseline")
    of_shift = {each.name: numbers(each) for each in components if each.kind == "abs-vsr"}
    of_hidden = {each.name: numbers(each) for each in components if each.kind == HIDDEN}
    return bool(of_hidden) and of_shift == of_hidden


def _guards(components: Iterable[Row], words: Vocabulary) -> Iterable[ForestGroup]:
    for kind, own in group_rows(components, "kind").items():
        title = swap_part_label(kind, "a single contrast" if kind in SHIFTS else "", words.said)
        lines = tuple(ForestLine(each, None, name=str(each.get("name"))) for each in own)
        yield ForestGroup(capitalize_first(title), lines)


def _side_by_side(each: swap_coverage.JudgeSideNumbers, words: Vocabulary) -> tuple[str, Row, Row]:
    return swap_part_label(each.kind, each.name, words.said), as_json(each.judge), as_json(each.baseline)


def _is_of_all(part: Row) -> bool:
    return ComponentRow.from_json(part).is_of_all


def _margin_strip(part: Row, name: str, axis: ChartAxis) -> IntervalStrip | None:
    margin, band = part.get("margin"), None
    if margin is not None:
        ways = fault_signs(part["kind"])
        band = (-margin if -1 in ways else None, margin if 1 in ways else None)
    return charts.interval_strip(name, part, axis, band)


def _named(part: Row) -> tuple[str, str]:
    return str(part["kind"]), part.get("name") or ""


def _swap_lead(row: Row, components: Sequence[Row], words: Vocabulary) -> str:
    parts = list(filter(_is_of_all, components))
    worse, unclear = (
        worse_parts_text((_named(part) for part in parts if part["status"] == status), words.said)
        for status in ("FAIL", "INCONCLUSIVE")
    )
    return MESSAGES.swap_lead(row, worse, unclear, words)
