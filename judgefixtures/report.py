"""Reports: the rows of all items put together, and written to files.

Nothing is measured or decided here, except what needs all items: Holm's adjustment, ranking, a swap's decision.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgefixtures.costs import money
from judgefixtures.errors import JudgeFixturesError
from judgefixtures.rows import Row, estimate_row
from judgefixtures.secrets import redacted_json
from judgefixtures.served import changes, served
from judgefixtures.side_by_side import macro_average, side_by_side
from judgefixtures.statistics import SEVERITY, Estimate, Status, advice, holm
from judgefixtures.swap import Comparison, SwapStatus, decide

SCHEMA = 1
DECIDED = ("contrasts", "four_cells", "swap", "checked", "plans")  # the kinds of rows that have a status
DIGITS = 12  # significant ones that are written: those behind depend on the version of scipy
ROW_KEY = ("judge", "dataset", "family", "contrast")
DECISION_SEVERITY = (SwapStatus.APPROVE, SwapStatus.INCONCLUSIVE, SwapStatus.REJECT)
SWAP_KEY = ("judge", "baseline", "dataset", "contrast", "quantity")


def with_holm(rows: Iterable[Row], key: Sequence[str] = ROW_KEY) -> list[Row]:
    """Return the rows in report order, with p_fail adjusted by Holm's method over the items of each judge."""
    ordered = sorted(rows, key=lambda row: tuple(str(row[name] or "") for name in key))
    adjusted: list[Row] = []
    for judge in sorted({row["judge"] for row in ordered}):
        of_judge = [row for row in ordered if row["judge"] == judge]
        tested = [row for row in of_judge if row["p_fail"] is not None]
        values = dict(zip(map(id, tested), holm([row["p_fail"] for row in tested]), strict=True))
        adjusted += [{**row, "p_fail_holm": values.get(id(row))} for row in of_judge]
    return adjusted


def overall(rows: Iterable[Row]) -> Status:
    """Return the worst status of the rows, waived ones aside; NOT_APPLICABLE where there are none."""
    counted = (Status(row["status"]) for row in rows if not row.get("waived"))
    return max(counted, key=SEVERITY.index, default=Status.NOT_APPLICABLE)


def worse(one: Row, other: Row) -> Row:
    """Return the worse of two results of the same item, which order they came in aside."""

    def badness(result: Row) -> tuple[int, str]:
        rows = {kind: result[kind] for kind in (*DECIDED, "accuracy")}
        return SEVERITY.index(_status_of([result])), json.dumps(rows, sort_keys=True)

    return max(one, other, key=badness)


def _status_of(results: Sequence[Row]) -> Status:
    return overall(row for result in results for kind in DECIDED for row in result.get(kind, ()))


def build_report(results: Sequence[Row], lost: str = "") -> Row:
    """Return report.json for the results of the items, one each, in whatever order they ran.

    `lost` says which items came to no result at all: whatever the others say, such a run is an ERROR.
    """
    contrasts = _with_floor(with_holm(row for result in results for row in result["contrasts"]))
    accuracy = sorted((row for result in results for row in result["accuracy"]), key=_accuracy_order)
    swap = with_holm((row for result in results for row in result["swap"]), SWAP_KEY)
    judges = {name: identity for result in results for name, identity in result["judges"].items()}
    answered = served(row for result in results for row in result.get("served", ()))
    report: Row = {
        "schema": SCHEMA,
        "status": str(Status.ERROR if lost else _status_of(results)),
        "judges": {name: judges[name] for name in sorted(judges)},
        "contrasts": contrasts,
        "accuracy": accuracy,
        "macro_accuracy": _macro_accuracy(accuracy),
        "side_by_side": side_by_side(row for result in results for row in result["rights"]),
        "swap": swap,
        "four_cells": sorted((row for result in results for row in result["four_cells"]), key=_four_cell_order),
        "warnings": sorted({*filter(None, [lost]), *(each for result in results for each in result["warnings"]),
                            *changes(answered)}),
        "served": answered,
        "rankings": _rankings([shift for result in results for shift in result["shifts"]]),
        "plans": _sorted((row for result in results for row in result.get("plans", ())), ("judge", "dataset")),
        "expenses": _sorted((row for result in results for row in result.get("expenses", ())), SWAP_KEY[:-1]),
    }
    required = sorted({name for result in results for name in result["required"]})
    if swap or required:
        report["decisions"] = _decisions(swap, required, [row for result in results for row in result["prices"]])
        report["decision"] = _overall_decision(report["decisions"])
    return report


def _macro_accuracy(rows: Sequence[Row]) -> list[Row]:
    """Return the mean accuracy over the categories of each judge and dataset that has several."""
    parts: dict[tuple[str, str], list[Estimate]] = {}
    for row in rows:
        if row["category"] != "all":
            parts.setdefault((row["judge"], row["dataset"]), []).append(Estimate(**row["accuracy"]))
    return [
        {"judge": judge, "dataset": dataset, "categories": len(found),
         "accuracy": estimate_row(macro_average(found, found[0].confidence))}
        for (judge, dataset), found in parts.items() if len(found) > 1
    ]  # fmt: skip


def _accuracy_order(row: Row) -> tuple[str, str, bool, str]:
    return (row["judge"], row["dataset"], row["category"] != "all", row["category"])


def _four_cell_order(row: Row) -> tuple[str, str, str]:
    return (row["judge"], row["dataset"], row["contrast"])


def _with_floor(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the noise that they stand beside: repeats of the same question, and the placebo."""
    floors: dict[tuple[str, str], Row] = {}
    for row in rows:
        floor = floors.setdefault((row["judge"], row["dataset"]), {"repeat_flip_rate": None, "placebo_vsr": None})
        if row["family"] == "repeat" and row["flip_rate"] and floor["repeat_flip_rate"] is None:
            floor["repeat_flip_rate"] = row["flip_rate"]
        if row["family"] == "placebo" and floor["placebo_vsr"] is None:
            floor["placebo_vsr"] = row["vsr"]
    return [{**row, "floor": floors[row["judge"], row["dataset"]]} for row in rows]


def _rankings(shifts: Sequence[Row]) -> list[Row]:
    """Return the estimated order of the provenance labels, where all contrasts of a judge and dataset ran."""
    found: dict[tuple[str, str], dict[tuple[str, str], dict[str, int]]] = {}
    for shift in shifts:
        found.setdefault((shift["judge"], shift["dataset"]), {})[tuple(shift["labels"])] = shift["shifts"]
    rankings = []
    for (judge, dataset), contrasts in sorted(found.items()):
        labels = list(dict.fromkeys(label for pair in contrasts for label in pair))
        labels.sort(key=lambda label: -sum(label == x for x, _ in contrasts))  # the declared order
        pairs = sorted(set.intersection(*(set(moves) for moves in contrasts.values())))
        if len(contrasts) == len(labels) * (len(labels) - 1) // 2 > 1 and pairs:
            rankings.append({"judge": judge, "dataset": dataset, **_ranking(contrasts, labels, pairs)})
    return rankings


def _ranking(contrasts: Mapping[tuple[str, str], Mapping[str, int]], labels: list[str], pairs: list[str]) -> Row:
    from judgefixtures.ranking import rank

    ranking = rank({key: [moves[pair] for pair in pairs] for key, moves in contrasts.items()}, labels)
    return {
        "n": len(pairs),
        "order": list(ranking.labels),
        "strengths": {label: estimate_row(ranking.strengths[label]) for label in sorted(ranking.strengths)},
        "bradley_terry": {label: ranking.bradley_terry[label] for label in sorted(ranking.bradley_terry)},
        "certified": ranking.certified,
        "message": ranking.message,
    }


def _decisions(rows: Sequence[Row], required: Sequence[str], prices: Sequence[Row]) -> list[Row]:
    """Return a decision a candidate, over every comparison of it that was collected."""
    judges = sorted({row["judge"] for row in rows})

    def candidate(name: str) -> str:
        return next((judge for judge in judges if name.startswith(f"{judge}-against-")), name.partition("-against-")[0])

    return [
        {"judge": judge, **_decision(
            [row for row in rows if row["judge"] == judge],
            [name for name in required if candidate(name) == judge],
            [row for row in prices if row["judge"] == judge],
        )}
        for judge in sorted({*judges, *map(candidate, required)})
    ]  # fmt: skip


def _overall_decision(decisions: Sequence[Row]) -> Row:
    """Return the worst of the candidates' decisions; its reasons name the candidate where there are several."""
    status = max((decision["status"] for decision in decisions), key=DECISION_SEVERITY.index)
    reasons = [
        f"{decision['judge']}: {reason}" if len(decisions) > 1 else reason
        for decision in decisions
        if decision["status"] == status
        for reason in decision["reasons"]
    ]
    return {"status": status, "reasons": reasons}


def _decision(rows: Sequence[Row], required: Sequence[str], prices: Sequence[Row]) -> Row:
    """Return the decision on one candidate and its reasons, what would settle it last."""
    compared = {f"{row['judge']}-against-{row['baseline']}-{row['dataset']}-{row['contrast'] or 'accuracy'}"
                for row in rows}  # fmt: skip
    comparisons = [
        (f"{row['dataset']} {row['contrast'] or 'accuracy'}",
         Comparison(row["quantity"], Status(row["status"]), row["message"], row["n"],
                    needed_pairs=row["needed_pairs"]))
        for row in rows
    ]  # fmt: skip
    found = decide(comparisons, [name for name in required if name not in compared])
    settle = [] if found.needed_pairs is None else [_settling(rows, found.needed_pairs, prices)]
    return {"status": str(found.status), "reasons": [*found.reasons, *settle]}


def _settling(rows: Sequence[Row], needed: int, prices: Sequence[Row]) -> str:
    """Say how many pairs would settle what is open, and what they cost: calls and money."""
    unsettled = {(row["dataset"], row["contrast"]): row["n"] for row in rows if row["status"] == Status.INCONCLUSIVE}
    most = max(unsettled.values())
    if needed <= most:
        return advice(needed, most, "margin")
    price = {(row["dataset"], row["contrast"]): row["usd_a_pair"] for row in prices}
    more = {key: max(needed - n, 0) for key, n in unsettled.items()}
    calls = sum(pairs * (2 if contrast else 1) for (_, contrast), pairs in more.items())
    each = [None if price.get(key) is None else pairs * price[key] for key, pairs in more.items()]
    known = [usd for usd in each if usd is not None]
    cost = f"at most {money(sum(known))}" if len(known) == len(each) else money(None)
    return f"about {needed} pairs would settle it: {calls} more calls of each judge, {cost} for both"


def _sorted(rows: Iterable[Row], key: Sequence[str]) -> list[Row]:
    return sorted(rows, key=lambda row: tuple(str(row[name] or "") for name in key))


def write_report(
    folder: Path, report: Row, judgments: Iterable[Row], differences: Iterable[Row] = (), plans: Iterable[Row] = ()
) -> None:
    """Write report.json and judgments.jsonl, differences.jsonl where judges were compared, plans.jsonl of their plans.

    The same results give the same bytes, however they were run. Raises JudgeFixturesError naming the folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "judgments.jsonl", _lines(judgments, JUDGMENT_KEY))
        if "decision" in report:
            _write(folder / "differences.jsonl", _lines(differences, ("judge", "baseline", *JUDGMENT_KEY[1:])))
        if texts := _lines(plans, ("judge", "dataset", "pair")):
            _write(folder / "plans.jsonl", texts)
        _write(folder / "report.json", _json(report, indent=2) + "\n")
    except OSError as error:
        raise JudgeFixturesError(f"the report cannot be written to {folder}: {error.strerror}.") from None


JUDGMENT_KEY = ("judge", "dataset", "condition", "pair", "repeat")


def _lines(rows: Iterable[Row], key: Sequence[str]) -> str:
    """Return the rows as sorted JSON lines, each once: two items may share a condition."""
    unique = {tuple(row[name] for name in key): row for row in rows}
    return "".join(_json(unique[name]) + "\n" for name in sorted(unique))


def _json(row: Row, indent: int | None = None) -> str:
    return json.dumps(_rounded(redacted_json(row)), ensure_ascii=False, indent=indent, allow_nan=False)


def _rounded(value: Any) -> Any:
    """Return a JSON value with every number rounded to the digits that are written."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case dict():
            return {key: _rounded(item) for key, item in value.items()}
        case list() | tuple():
            return [_rounded(item) for item in value]
    return value


def _write(path: Path, text: str) -> None:
    # Rows that did not travel may hold half of a surrogate pair: as a backslash escape it is JSON all the same.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
