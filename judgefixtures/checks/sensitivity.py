"""How sensitive a contrast was: how many of its pairs were close for this judge, and what a PASS therefore covers.

A pair was close, or movable, where its verdict differs between conditions that should not matter. A cue can hardly move
any other: where few pairs are movable, that few verdicts moved with a cue says little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from judgefixtures.checks.check import Answers, Case
from judgefixtures.findings import Row, estimate_row
from judgefixtures.metrics import movable

FEW = 0.10  # of the pairs: with fewer movable ones a PASS says little about close calls
HOW = 'pytest -k "placebo or repeat" --judge-repeats 2'

KEY = ("judge", "dataset", "contrast")


def seen(case: Case, contrast: str, answers: Answers, confidence: float) -> Row:
    """Return the evidence of a contrast: its pairs, and what was chosen where nothing that matters differs."""
    return {
        "judge": case.judge.name, "dataset": case.dataset, "contrast": contrast, "confidence": confidence,
        "pairs": [pair.id for pair in case.pairs],
        "arms": {arm: dict(found) for arm, found in answers.indifferent.items()},
    }  # fmt: skip


def with_movable(rows: Sequence[Row], evidence: Iterable[Row]) -> list[Row]:
    """Return contrast rows with the share of their pairs that were movable, by all that the run came across.

    What one item asks, another may have found recorded or not yet: only all of them together are always the same.
    """
    by_contrast = {tuple(each[name] for name in KEY): each for each in evidence}
    arms: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for each in by_contrast.values():
        known = arms.setdefault((each["judge"], each["dataset"]), {})
        for arm, found in each["arms"].items():  # not every contrast is about the same pairs
            known.setdefault(arm, {}).update(found)
    return [
        {**row, "movable": _movable(by_contrast.get(tuple(row[name] for name in KEY)),
                                    arms.get((row["judge"], row["dataset"]), {}))}
        for row in rows
    ]  # fmt: skip


def _movable(own: Row | None, arms: Mapping[str, Mapping[str, int]]) -> Row | None:
    return None if own is None else estimate_row(movable(arms.values(), own["pairs"], own["confidence"]))


def close_calls(close: Row | None, *, passed: bool) -> str:
    """Return how many pairs were close for the judge, and what a PASS then covers."""
    if close is None:
        return f"how many pairs were close for this judge is not known ({HOW} would tell)"
    says = ": this says little about close calls" if close["value"] < FEW else ": close calls were among them"
    return (
        f"{round(close['value'] * close['n'])} of {close['n']} pairs were close for this judge (its verdict differs "
        f"with the order, a placebo or a repeat){says if passed else ''}"
    )
