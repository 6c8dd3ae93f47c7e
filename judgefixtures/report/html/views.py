"""Views of the page's parts, built from report.json."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from judgefixtures.checks.log_odds_and_scores import not_applied_lines
from judgefixtures.checks.order_flips import flips_lines
from judgefixtures.checks.plain_language import NAMED
from judgefixtures.models.check_rows import RankingRow
from judgefixtures.models.findings import DecisionPart, Row, decided_by_control
from judgefixtures.statistics import Status
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import join_names

from .. import swap_coverage
from ..contrast_groups import group_equal_results, group_summary
from ..contrast_table import CONTRASTS
from ..html import charts
from ..messages import MESSAGES
from ..overview import OPEN, judge_results, missing_results_line, other_results, unfinished_items
from ..ranking_section import describe_ranking
from ..sections import list_sections
from .charts import ChartAxis
from .forests import (
    ForestLine,
    accuracy_groups,
    as_contrast,
    extremes,
    faithfulness_planes,
    forest_plots,
    group_rows,
    is_by_scores,
    noise_floor,
    overall_accuracy,
)
from .labels import capitalize_first
from .swap_views import swap_view
from .vocabulary import verdict_word


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """A judge's identity, source and results."""

    name: str
    kind: str
    source: str
    identity: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, int], ...]
    baseline: bool


@dataclass(frozen=True, slots=True)
class JudgeProblems:
    """The problems of a judge, those of one ERROR folded."""

    judge: str
    first: tuple[Row, ...]
    rest: tuple[Row, ...]


def page_view(report: Row) -> SimpleNamespace:
    """Return the page's parts by name."""
    contrasts: list[Row] = report.get("contrasts") or []
    cells: list[Row] = report.get("four_cells") or []
    edits = [row for row in contrasts if is_edit(row)]
    others = [row for row in contrasts if not is_edit(row)]
    axis, edits_axis = charts.axis_around_zero(extremes(others, cells)), charts.axis_around_zero(extremes(edits))
    swaps = tuple(swap_view(row, report) for row in _decisions(report))
    accuracy = report.get("accuracy") or []
    strengths = [row for ranking in report.get("rankings") or [] for row in ranking["strengths"].values()]
    ranking_axis = charts.axis_around_zero(value for row in strengths for value in (row["low"], row["high"]))
    people, planes = tuple(_people(report)), faithfulness_planes(others)
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
        forests=forest_plots([*others, *map(as_contrast, cells)], axis),
        edits=forest_plots(edits, edits_axis),
        edits_axis=edits_axis,
        gated={is_by_scores(row) for row in contrasts},
        floors=any(map(noise_floor, others)),
        planes=planes,
        readings={kind for each in planes for kind in each.kinds},
        rankings=tuple(_rankings(report, ranking_axis)),
        ranking_axis=ranking_axis,
        accuracy=tuple(accuracy_groups(overall_accuracy(accuracy, report.get("macro_accuracy") or []))),
        accuracy_parts=tuple(accuracy_groups([row for row in accuracy if row["category"] != "all"])),
        both_orders=tuple(flips_lines(CONTRASTS.read_records(report))),
        not_applied=tuple(not_applied_lines(CONTRASTS.read_records(report))),
        waived=tuple(row for row in [*contrasts, *cells, *accuracy] if row.get("waived")),
        listed=tuple(list_sections(report)),
        expenses=[own[0] for own in group_rows(report.get("expenses") or [], "judge", "baseline").values()],
        retries_by_judge=any(row.get("retries") is not None for row in report.get("usage") or []),
        report=report,
    )


def is_edit(row: Row) -> bool:
    """Return whether a contrast is about edited responses."""
    return bool(row.get("outcome") == "chose-edited" or (row.get("y") == "plain" and not row.get("sentences")))


def contrast_sentence(row: Row) -> str:
    """Return a contrast's sentence, or its message."""
    return capitalize_first(str(row.get("text") or row.get("message") or ""))


def baselines_by_candidate(report: Row) -> dict[str, str]:
    """Return the baseline of each candidate."""
    return {row["judge"]: row["baseline"] for row in _decisions(report)}


# --- what comes first -------------------------------------------------------------------------------------------


def _leads(contrasts: Sequence[Row], report: Row) -> Iterable[str]:
    lines = judge_results(report) if "results" in report else list(_counted(contrasts))
    yield from (line if line.endswith(".") else f"{line}." for line in lines)
    for judge, own in group_rows(contrasts, "judge").items():
        if moved := sorted({row["family"] for row in own if row.get("vsr_status") == "FAIL"}):
            yield f"The {verdict_word(own)} of {judge} demonstrably follow {join_names(moved)}."
        yield from _beyond_verdicts(judge, own)
    if not contrasts and not lines and not report.get("decisions"):
        yield f"The run is {report.get('status', 'without a status')}, and no contrast was measured."


def _beyond_verdicts(judge: str, rows: Sequence[Row]) -> Iterable[str]:
    families: dict[str, set[str]] = {}
    for row in rows:
        if row["status"] == Status.FAIL and row.get("vsr_status") != Status.FAIL and not _is_of_control(row):
            for part in row.get("decided_by") or ():
                families.setdefault(part["part"], set()).add(row["family"])
    for part, own in sorted(families.items(), key=lambda each: each[0] == "car"):
        what = BEYOND.get(part, "The {part} of {judge} is demonstrably beyond its limit with")
        what = what.format(judge=judge, part=NAMED.get(part, part), verdicts=verdict_word(rows))
        yield f"{what} {join_names(sorted(own))}."


# Sentences on parts other than the verdict shift that make a contrast a FAIL.
BEYOND = load_table("page")["beyond"]


def _counted(contrasts: Sequence[Row]) -> Iterable[str]:
    for judge, own in group_rows(contrasts, "judge").items():
        counts = Counter(row["status"] for row in own)
        named = [f"{counts[status]} {status}" for status in (*OPEN, "PASS") if counts[status]]
        yield f"{judge}: {len(own)} contrasts, {join_names(named or ['no result'])}."


def _findings(report: Row) -> Iterable[JudgeProblems]:
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
    estimate = row.get("vsr") or row.get("cue_effect")
    return abs(estimate["value"]) if estimate else 0.0


def _people(report: Row) -> Iterable[JudgeSummary]:
    baselines = set(baselines_by_candidate(report).values())
    identities: Mapping[str, Row] = report.get("judges") or {}
    recorded = (report.get("run") or {}).get("recorded") or {}
    rows = [row for part in ("contrasts", "four_cells") for row in report.get(part) or []]
    statuses = Counter((row["judge"], row["status"]) for row in rows)
    for name in sorted(identities, key=lambda name: (name in baselines, name)):
        counts = [(status, statuses[name, status]) for status in (*OPEN, "PASS", "NOT_APPLICABLE")]
        counts = [each for each in counts if each[1]]
        kind, identity = swap_coverage.answer_origin(name, identities[name]), tuple(_flat(identities[name]))
        source = MESSAGES.source(kind, recorded.get(name) or {})
        yield JudgeSummary(name, kind, source, identity, tuple(counts), name in baselines)


def _sources(people: Sequence[JudgeSummary]) -> Iterable[str]:
    names: dict[str, list[str]] = {}
    for person in people:
        names.setdefault(person.source, []).append(person.name)
    for source, own in names.items():
        yield f"{join_names(own)}: {source}"


def _flat(identity: Row, prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in identity.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _decisions(report: Row) -> list[Row]:
    return [row for row in report.get("decisions") or [] if row.get("judge") and row.get("baseline")]


def _rankings(report: Row, axis: ChartAxis) -> Iterable[tuple[Row, tuple[tuple[str, ForestLine], ...]]]:
    for row in report.get("rankings") or []:
        about = f"{row['judge']} on {row['dataset']}"
        lines = []
        for label in row["order"]:
            strength = row["strengths"][label]
            lines.append((label, ForestLine(strength, charts.interval_strip(f"{label}: {about}", strength, axis))))
        yield {**row, "said": describe_ranking(RankingRow.from_json(row), report)}, tuple(lines)
