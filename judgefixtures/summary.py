"""The summary: what the terminal shows of a report at the end of a run. Text only; nothing is measured or decided."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.rows import EXPENSES, Row
from judgefixtures.statistics import Status, bare, signed
from judgefixtures.swap import SHOWN_ONLY
from judgefixtures.texts import one_line

SMALLEST_SHOWN_CATEGORY = 10  # pairs; report.json has all of them
DEMONSTRABLE = 0.05  # p by Holm's method, below which a category's difference between judges is named
SUMMARY_HEADER = ("judge", "dataset", "contrast", "n", "VSR", "CI", "flips", "CAR", "status")
ACCURACY_HEADER = ("judge", "dataset", "category", "n", "right", "invalid", "accuracy", "CI", "both orders")
SWAP_HEADER = ("dataset", "contrast", "quantity", "n", "difference", "CI", "margin", "status")
EXPENSE_HEADER = ("dataset", "a verdict", "baseline", "candidate", "difference", "CI")


def summary(report: Row, alpha: float) -> list[str]:
    """Return what the terminal shows at the end of a run: warnings first, a line a contrast, the decision last."""
    rows = report["contrasts"]
    text = [*_unsteady(rows), *(f"WARNING: {warning}" for warning in report["warnings"])]
    if rows:
        text += _table([SUMMARY_HEADER, *(_summary_cells(row) for row in rows)])
        text += [*_floors(rows), *_preferences(rows)]
    surviving = [row for row in rows if row["p_fail_holm"] is not None and row["p_fail_holm"] < alpha]
    if surviving:
        text += ["", "Violations that survive Holm's adjustment (per judge):"]
        text += [f"  {row['judge']} {row['dataset']} {row['contrast']}: p = {row['p_fail_holm']:.2g}"
                 for row in surviving]  # fmt: skip
    for row in rows:
        if row["waived"]:
            waiver = row["waived"]
            text += ["", f"WAIVED {row['judge']} {row['dataset']} {row['contrast']} by {waiver['owner']} until "
                         f"{waiver['expires']} ({waiver['reason']}): {row['message']}"]  # fmt: skip
        elif row["status"] == Status.INCONCLUSIVE:
            text += ["", f"INCONCLUSIVE {row['judge']} {row['dataset']} {row['contrast']}: {row['message']}"]
    shown = [row for row in report["accuracy"] if row["category"] == "all" or row["n"] >= SMALLEST_SHOWN_CATEGORY]
    if shown:
        text += ["", *_table([ACCURACY_HEADER, *map(_accuracy_cells, shown)])]
    for row in report["macro_accuracy"]:
        mean = row["accuracy"]
        if mean["n"] < SMALLEST_SHOWN_CATEGORY * row["categories"]:
            continue  # a mean over topics of a few pairs each says nothing
        text.append(f"{row['judge']} {row['dataset']}: mean over {row['categories']} categories {bare(mean['value'])}, "
                    f"{_interval(mean)}")  # fmt: skip
    text += _side_by_side_lines(report["side_by_side"])
    for row in report["four_cells"]:
        text += ["", f"{row['judge']} {row['dataset']} {row['contrast']}: {row['message']}"]
    for ranking in report["rankings"]:
        text += ["", f"ranking of {ranking['judge']} on {ranking['dataset']}: {ranking['message']}"]
    for row in report["plans"]:
        text += ["", f"plans of {row['judge']} on {row['dataset']}: {row['status']}: {row['message']}"]
    return [*text, *_expense_lines(report["expenses"]), *_swap_lines(report)]


def _table(lines: Sequence[tuple[str, ...]]) -> list[str]:
    lines = [tuple(map(one_line, line)) for line in lines]  # a category comes from a data file
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _unsteady(rows: Sequence[Row]) -> list[str]:
    """Say before anything else which judges disagree with themselves more than a gate tolerates of a cue."""
    found = []
    for row in rows:
        rate = row["flip_rate"]
        if row["family"] == "repeat" and rate and rate["value"] > row["tolerance"]:
            found.append(
                f"WARNING: {row['judge']} disagrees with itself on {row['dataset']}: {row['n10'] + row['n01']} of "
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
        parts = [f"flips between repeats {bare(flips['value'])}, {_interval(flips, 'CI ')}"] if flips else []
        parts += [f"placebo VSR {signed(placebo['value'])}, {_interval(placebo, 'CI ')}"] if placebo else []
        if parts:
            lines.append(f"noise floor of {judge} on {dataset}: {'; '.join(parts)}")
    return lines


def _preferences(rows: Sequence[Row]) -> list[str]:
    """Say how far a judge prefers what stands first, where both orders were asked."""
    return [
        f"position preference of {row['judge']} on {row['dataset']}: first chosen {signed(found['first']['value'])}, "
        f"{_interval(found['first'], 'CI ')} more often than half; the same response in both orders "
        f"{bare(found['consistency']['value'])}, {_interval(found['consistency'], 'CI ')}"
        for row in rows
        if (found := row.get("position"))
    ]


def _summary_cells(row: Row) -> tuple[str, ...]:
    vsr, car, flips = row["vsr"], row["car"], row["flip_rate"]
    return (
        row["judge"],
        row["dataset"],
        row["contrast"],
        str(row["n"]),
        signed(vsr["value"]) if vsr else "-",
        _interval(vsr),
        f"{row['n10'] + row['n01']}/{row['n']}{_gross(row)}" if flips else "-",
        f"{round(car['value'] * car['n'])}/{car['n']}" if car else "-",
        f"WAIVED ({row['status']})" if row["waived"] else row["status"],
    )


def _gross(row: Row) -> str:
    """Return how many verdicts moved to the edited response, whatever moved away from it."""
    return f" ({row['n10']} to it)" if row["gross_share"] else ""


def _side_by_side_lines(rows: Sequence[Row]) -> list[str]:
    """Return a table a dataset, a column a judge, and the paired tests over all of its pairs.

    Of two judges a row also has their difference; of more, a line says in which categories they demonstrably differ.
    """
    lines: list[str] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        table = [row for row in rows if row["dataset"] == dataset]
        large = [row for row in table[1:] if row["tests"] and row["n"] >= SMALLEST_SHOWN_CATEGORY]
        shown = [table[0], *large, *(row for row in table if row["category"] == "macro" and large)]
        two = len(table[0]["judges"]) == 2
        header = ("category", "n", *table[0]["judges"], *(("difference",) if two else ()))
        cells = [(row["category"], str(row["n"]), *(
            f"{bare(found['value'])} [{bare(found['low'])}, {bare(found['high'])}]" for found in row["judges"].values()
        ), *(_difference(test) for test in row["tests"] if two)) for row in shown]  # fmt: skip
        widest = max(map(len, cells))
        cells = [(*cell, *("-",) * (widest - len(cell))) for cell in cells]
        lines += ["", f"accuracy on {dataset}, side by side:", *_table([header, *cells])]
        lines += [_test_line(test) for test in table[0]["tests"]]
        if not two:
            lines += [f"{_test_line(test)} in {row['category']}" for row in large for test in row["tests"]
                      if test["p_holm"] < DEMONSTRABLE]  # fmt: skip
    return lines


def _difference(test: Row) -> str:
    found = test["difference"]
    return f"{signed(found['value'])} [{bare(found['low'])}, {bare(found['high'])}]"


def _test_line(test: Row) -> str:
    return (f"  {test['a']} - {test['b']}: {signed(test['difference']['value'])}, {_interval(test['difference'])}, "
            f"p = {test['p']:.2g} ({test['p_holm']:.2g} by Holm)")  # fmt: skip


def _accuracy_cells(row: Row) -> tuple[str, ...]:
    both = row["accuracy_both_orders"]
    return (row["judge"], row["dataset"], row["category"], str(row["n"]), str(row["correct"]), str(row["invalid"]),
            bare(row["accuracy"]["value"]), _interval(row["accuracy"]),
            bare(both["value"]) if both else "-")  # fmt: skip


def _interval(estimate: Row | None, name: str = "") -> str:
    if not estimate:
        return "-"
    return f"{100 * estimate['confidence']:.10g}% {name}[{bare(estimate['low'], 3)}, {bare(estimate['high'], 3)}]"


def _expense_lines(rows: Sequence[Row]) -> list[str]:
    """Return what a verdict costs, a table a candidate: of accuracy, or of the first contrast (report.json: all)."""
    first: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        first.setdefault((row["judge"], row["baseline"]), {}).setdefault(row["dataset"], row)
    lines: list[str] = []
    for (judge, baseline), datasets in first.items():
        cells = [line for dataset, row in datasets.items() for line in _expense_cells(dataset, row)]
        lines += ["", f"cost of a verdict: {judge} against {baseline} (no times: recordings have none)"]
        lines += _table([EXPENSE_HEADER, *cells])
    return lines


def _expense_cells(dataset: str, row: Row) -> list[tuple[str, ...]]:
    calls = row["calls"]
    cells: list[tuple[str, ...]]
    cells = [(dataset, "calls in sequence", str(calls["baseline"]), str(calls["judge"]),
             f"{calls['judge'] - calls['baseline']:+d}", "-")]  # fmt: skip
    for name in EXPENSES:
        each, digits = row[name], 6 if name == "usd" else 1
        if each is None:
            if name != "reasoning_tokens":
                unknown = "price unknown" if name == "usd" else "unknown"
                cells.append((dataset, name.replace("_", " "), unknown, unknown, "-", "-"))
            continue
        found = each["difference"]
        difference, limits = f"{each['judge'] - each['baseline']:+.{digits}f}", "-"
        if found:
            limits = (f"{100 * found['confidence']:.10g}% [{found['low']:.{digits}f}, {found['high']:.{digits}f}], "
                      f"n = {each['n']}")  # fmt: skip
        cells.append((dataset, name.replace("_", " "), f"{each['baseline']:.{digits}f}", f"{each['judge']:.{digits}f}",
                      difference, limits))  # fmt: skip
    return cells


def _swap_lines(report: Row) -> list[str]:
    """Return a table a candidate, the decision on each where there are several, and the decision on the whole."""
    if not (decision := report.get("decision")):
        return []
    lines, several = [], len(report["decisions"]) > 1
    for own in report["decisions"]:
        rows = [row for row in report["swap"] if row["judge"] == own["judge"]]
        if rows:
            lines += ["", f"swap: {own['judge']} against {rows[0]['baseline']}"]
            lines += _table([SWAP_HEADER, *map(_swap_cells, rows)])
        if several:
            lines += ["", *_decided(f"decision on {own['judge']}", own)]
    return [*lines, "", *_decided("decision", decision)]


def _swap_cells(row: Row) -> tuple[str, ...]:
    value, limits = "-", "-"
    if row["value"] is not None:
        value = signed(row["value"]) if row["margin"] else bare(row["value"])
        limits = f"[{bare(row['low'], 3)}, {bare(row['high'], 3)}]"
    return (row["dataset"], row["contrast"] or "accuracy", row["quantity"], str(row["n"]), value, limits,
            bare(row["margin"]) if row["margin"] else "-", _swap_status(row))  # fmt: skip


def _swap_status(row: Row) -> str:
    """Return the status of what decides; agreement and kappa have none."""
    return "" if row["quantity"] in SHOWN_ONLY else row["status"]


def _decided(title: str, decision: Row) -> list[str]:
    return [f"{title}: {decision['status']}", *(f"  {reason}" for reason in decision["reasons"])]
