"""How sensitive a contrast was: how many of its pairs were close for this judge, and what a PASS therefore covers.

A pair was close, or movable, where its verdict differs between conditions that should not matter, or where the judge
was not sure of it by the probabilities behind its verdicts. A cue can hardly move
any other: where few pairs are movable, that few verdicts moved with a cue says little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from judgefixtures.checks.protocol import Answers, Case
from judgefixtures.findings import Row, estimate_row
from judgefixtures.measures.metrics import closeness, movable

FEW = 0.10  # of the pairs: with fewer movable ones a PASS says little about close calls
HOW = 'pytest -k "placebo or repeat" --judge-repeats 2'

KEY = ("judge", "dataset", "contrast")


def seen(case: Case, contrast: str, answers: Answers, confidence: float) -> Row:
    """Return the evidence of a contrast: its pairs, and what was chosen where nothing that matters differs."""
    return {
        "judge": case.judge.name,
        "dataset": case.dataset,
        "contrast": contrast,
        "confidence": confidence,
        "pairs": [pair.id for pair in case.pairs],
        "arms": {arm: dict(found) for arm, found in answers.indifferent.items()},
        "likely": {arm: dict(found) for arm, found in answers.likely.items()},
    }


def with_movable(rows: Sequence[Row], evidence: Iterable[Row]) -> list[Row]:
    """Return contrast rows with the share of their pairs that were movable, by all that the run came across.

    What one item asks, another may have found recorded or not yet: only all of them together are always the same.
    """
    by_contrast = {tuple(each[name] for name in KEY): each for each in evidence}
    arms, likely = (_together(by_contrast.values(), kind) for kind in ("arms", "likely"))
    moved = []
    for row in rows:
        own, of, found = by_contrast.get(tuple(row[name] for name in KEY)), (row["judge"], row["dataset"]), None
        if own is not None:
            found = movable(arms[of].values(), own["pairs"], own["confidence"], likely[of].values())
        moved.append({**row, "movable": estimate_row(found)})
    return moved


def close_pairs(evidence: Iterable[Row]) -> dict[tuple[str, str], set[str]]:
    """Return the ids of the pairs that are close for a judge, by judge and dataset."""
    found = list(evidence)
    arms, likely = (_together(found, kind) for kind in ("arms", "likely"))
    close: dict[tuple[str, str], set[str]] = {}
    for each in found:
        of = (each["judge"], each["dataset"])
        told = closeness(arms[of].values(), each["pairs"], likely[of].values())
        close.setdefault(of, set()).update(pair for pair, is_close in told.items() if is_close)
    return close


def _together(evidence: Iterable[Row], kind: str) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return by judge and dataset what all items came across in each arm: not every contrast is of the same pairs."""
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for each in evidence:
        known = found.setdefault((each["judge"], each["dataset"]), {})
        for arm, of_pairs in each[kind].items():
            known.setdefault(arm, {}).update(of_pairs)
    return found


def close_calls(close: Row | None, *, passed: bool) -> str:
    """Return how many pairs were close for the judge, and what a PASS then covers."""
    if close is None:
        return f"how many pairs were close for this judge is not known ({HOW} would tell)"
    says = ": this says little about close calls" if close["value"] < FEW else ": close calls were among them"
    return (
        f"{round(close['value'] * close['n'])} of {close['n']} pairs were close for this judge (its verdict differs, "
        f"or is nearly even, with the order, a placebo or a repeat){says if passed else ''}"
    )
