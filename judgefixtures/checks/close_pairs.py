"""Sensitivity of a contrast: how many pairs were close for the judge.

A pair is close if neutral conditions change its verdict or token probabilities show doubt. Answers that selected the
pairs do not count.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from judgefixtures.metrics.movable_pairs import close_pairs, movable_share
from judgefixtures.models.check_rows import ContrastRow, NeutralChoices
from judgefixtures.models.contrasts import arm_name
from judgefixtures.models.vocabulary import Vocabulary
from judgefixtures.statistics.estimate import Estimate

from .base import Answers, CheckInput
from .messages import MESSAGES

FEW = 0.10  # of the pairs: with fewer movable ones a PASS says little about close calls
HOW = 'pytest -k "placebo or repeat" --judge-repeats 2'
CHOSEN = "the recorded answers without cues selected these pairs; run pytest -k placebo to count them"


def neutral_choices(case: CheckInput, contrast: str, answers: Answers, confidence: float) -> NeutralChoices:
    """Return the judge's choices in neutral conditions."""
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
    """Return contrast rows with the share of movable pairs of the run."""
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
    """Return the ids of close pairs by judge and dataset."""
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
    arms: Together = {}
    likely: Together = {}
    for each in evidence:
        for by_subject, own in ((arms, each.arms), (likely, each.likely)):
            known = by_subject.setdefault((each.judge, each.dataset), {})
            for arm, of_pairs in own.items():
                known.setdefault(arm, {}).update(of_pairs)
    return arms, likely


def describe_close_pairs(close: Estimate | None, words: Vocabulary, *, passed: bool, unknown: str = "") -> str:
    """Return how many pairs were close, and what a PASS covers.

    `unknown` is the reason why the number is unknown.
    """
    return MESSAGES.close_pairs(close, words, passed, unknown, HOW, FEW)
