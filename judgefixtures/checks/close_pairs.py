"""Sensitivity of a contrast: how many of its pairs were close for this judge, and what a PASS covers.

A pair was close, or movable, if its verdict differs between conditions that should not matter, or if the token
probabilities show that the judge was unsure. A cue rarely moves any other pair, so a contrast with few movable pairs
shows little.

Answers that were used to select the pairs do not count here: they would overstate the number of close pairs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from judgefixtures.metrics.contrast_metrics import close_pairs, movable_share
from judgefixtures.models.check_rows import ContrastRow, NeutralChoices
from judgefixtures.models.contrasts import arm_name
from judgefixtures.models.vocabulary import Vocabulary
from judgefixtures.statistics.estimate import Estimate

from .base import Answers, CheckInput
from .messages import MESSAGES

FEW = 0.10  # of the pairs: with fewer movable ones a PASS says little about close calls
HOW = 'pytest -k "placebo or repeat" --judge-repeats 2'
CHOSEN = (
    "is not known: the answers without cues chose them as the closest and tell nothing more, and others are not "
    "recorded (pytest -k placebo would tell)"
)


def neutral_choices(case: CheckInput, contrast: str, answers: Answers, confidence: float) -> NeutralChoices:
    """Return the evidence of a contrast: its pairs, and what was chosen where nothing that matters differs.

    Scores of single responses without a mark choose nothing: that they are all ties makes none of them close.
    """
    chooses = case.judge.kind.chooses(case.pairs)
    return NeutralChoices(
        judge=case.judge.name,
        dataset=case.dataset,
        contrast=contrast,
        confidence=confidence,
        pairs=tuple(pair.id for pair in case.pairs),
        arms=answers.indifferent if chooses else {},
        likely=answers.likely,
        chosen_by=tuple(arm_name(*arm) for arm in case.screening),
    )


def with_movable_share(rows: Sequence[ContrastRow], evidence: Iterable[NeutralChoices]) -> list[ContrastRow]:
    """Return contrast rows with the share of their pairs that were movable, by all that the run came across.

    What one item asks, another may have found recorded or not yet: only all of them together are always the same.
    """
    by_contrast = {(each.judge, each.dataset, each.contrast): each for each in evidence}
    arms, likely = _together(by_contrast.values())
    moved = []
    for row in rows:
        own, of = by_contrast.get((row.judge, row.dataset, row.contrast)), (row.judge, row.dataset)
        share, why = None, ""
        if own is not None:
            share = movable_share(own.others(arms[of]), own.pairs, own.confidence, own.others(likely[of]))
            why = CHOSEN if own.chosen_by and share is None else ""
        moved.append(replace(row, movable=share, movable_unknown=why))
    return moved


def find_close_pairs(evidence: Iterable[NeutralChoices]) -> dict[tuple[str, str], set[str]]:
    """Return the ids of the pairs that are close for a judge, by judge and dataset, whatever chose them.

    Each pair is shown as what its answers make of it; no share is made of them.
    """
    collected = list(evidence)
    arms, likely = _together(collected)
    close: dict[tuple[str, str], set[str]] = {}
    for each in collected:
        of = (each.judge, each.dataset)
        known = close_pairs(arms[of].values(), each.pairs, likely[of].values())
        close.setdefault(of, set()).update(pair for pair, is_close in known.items() if is_close)
    return close


Together = dict[tuple[str, str], dict[str, dict[str, Any]]]


def _together(evidence: Iterable[NeutralChoices]) -> tuple[Together, Together]:
    """Return by judge and dataset what all items came across in each arm: not every contrast is of the same pairs."""
    arms: Together = {}
    likely: Together = {}
    for each in evidence:
        for by_subject, own in ((arms, each.arms), (likely, each.likely)):
            known = by_subject.setdefault((each.judge, each.dataset), {})
            for arm, of_pairs in own.items():
                known.setdefault(arm, {}).update(of_pairs)
    return arms, likely


def describe_close_pairs(close: Estimate | None, words: Vocabulary, *, passed: bool, unknown: str = "") -> str:
    """Return how many pairs were close for the judge, and what a PASS then covers; or why that is `unknown`."""
    return MESSAGES.close_pairs(close, words, passed, unknown, HOW, FEW)
