"""The run of judges of one response that a run of judges of pairs amounts to, as a page gets it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

Row = dict[str, Any]
OF_PAIRS = ("accuracy", "decisions", "decision")  # parts of a report that no judge of one response has yet


def of_examples(made: Any) -> Any:
    """Return a made run with one response for each pair, labels, a column, and grades in place of choices."""
    contrasts = [_contrast(row) for row in made.report["contrasts"] if row["family"] != "position"]
    report = {name: part for name, part in made.report.items() if name not in OF_PAIRS}
    pairs = [_example(number, row) for number, row in enumerate(made.pairs)]
    controls = [{**row, "message": "passed 30 of 30 right answers"} for row in report["controls"]]
    judgments = [row for row in made.judgments if row["condition"] != "no-cue-21"]
    return replace(
        made, report={**report, "contrasts": contrasts, "controls": controls}, judgments=judgments, pairs=pairs
    )


def beside(one: Any, other: Any) -> Any:
    """Return one run of the first judge of a run and of the second one of another, each with its own dataset."""
    first, second = one.report["contrasts"][0]["judge"], other.report["contrasts"][-1]["judge"]
    contrasts = [row for row in one.report["contrasts"] if row["judge"] == first]
    contrasts += [_elsewhere(row) for row in other.report["contrasts"] if row["judge"] == second]
    judgments = [row for row in one.judgments if row["judge"] == first]
    judgments += [_elsewhere(row) for row in other.judgments if row["judge"] == second]
    pairs = [{**row, "judges": [first]} for row in one.pairs]
    pairs += [{**_elsewhere(row), "judges": [second]} for row in other.pairs]
    return replace(one, report={**other.report, "contrasts": contrasts}, judgments=judgments, pairs=pairs)


def _elsewhere(row: Row) -> Row:
    return {**row, "dataset": "elsewhere"}


def _contrast(row: Row) -> Row:
    text = f"{len(row['moved'])} of {row['n']} grades moved."
    return {**row, "outcome": "passed", "message": text, "text": text}


def _example(number: int, row: Row) -> Row:
    kept = {name: row[name] for name in ("dataset", "pair", "question", "category", "content_type", "close_for")}
    label = (None, "pass", "fail")[number % 3]
    return {**kept, "response": row["response_1"], "label": label, "columns": {"reference": row["response_2"]}}
