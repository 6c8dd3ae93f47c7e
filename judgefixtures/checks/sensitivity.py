"""How sensitive a contrast was: how many of its pairs were close for this judge, and what a PASS therefore covers.

A pair was close, or movable, where its verdict differs between conditions that should not matter, or where the judge
was not sure of it by the probabilities behind its verdicts. A cue can hardly move
any other: where few pairs are movable, that few verdicts moved with a cue says little.

Of pairs that were chosen because their answers without cues differ, these answers tell nothing more: by them far
more would look close than are. Other answers tell, or nothing does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.phrasing import share_counted
from judgefixtures.checks.protocol import Answers, Case
from judgefixtures.findings import OfJudge
from judgefixtures.material.contrasts import arm_name
from judgefixtures.material.diction import OF_PAIRS, Wording
from judgefixtures.measures.metrics import closeness, movable
from judgefixtures.numbers.estimate import Estimate
from judgefixtures.words.records import where_any

FEW = 0.10  # of the pairs: with fewer movable ones a PASS says little about close calls
HOW = 'pytest -k "placebo or repeat" --judge-repeats 2'
CHOSEN = (
    "is not known: the answers without cues chose them as the closest and tell nothing more, and others are not "
    "recorded (pytest -k placebo would tell)"
)

ByArm = Mapping[str, Mapping[str, Any]]  # by the name of an arm, then by pair id


@dataclass(frozen=True, slots=True, kw_only=True)
class Indifferent(OfJudge):
    """What a judge chose of a contrast's pairs where nothing that matters differs, and how likely it was to.

    `chosen_by` are the names of the arms whose answers chose these pairs, where they are the closest of a pool.
    """

    place: ClassVar[str] = "indifferent"
    contrast: str = ""
    confidence: float = 0.9
    pairs: tuple[str, ...] = ()
    arms: ByArm
    likely: ByArm
    chosen_by: tuple[str, ...] = where_any(())

    def others(self, arms: ByArm) -> list[Mapping[str, Any]]:
        """Return the arms that did not choose its pairs."""
        return [found for name, found in arms.items() if name not in self.chosen_by]


def seen_of(case: Case, contrast: str, answers: Answers, confidence: float) -> Indifferent:
    """Return the evidence of a contrast: its pairs, and what was chosen where nothing that matters differs.

    Scores of single responses without a mark choose nothing: that they are all ties makes none of them close.
    """
    chooses = case.judge.kind.chooses(case.pairs)
    return Indifferent(
        judge=case.judge.name,
        dataset=case.dataset,
        contrast=contrast,
        confidence=confidence,
        pairs=tuple(pair.id for pair in case.pairs),
        arms=answers.indifferent if chooses else {},
        likely=answers.likely,
        chosen_by=tuple(arm_name(*arm) for arm in case.screening),
    )


def with_movable(rows: Sequence[ContrastRow], evidence: Iterable[Indifferent]) -> list[ContrastRow]:
    """Return contrast rows with the share of their pairs that were movable, by all that the run came across.

    What one item asks, another may have found recorded or not yet: only all of them together are always the same.
    """
    by_contrast = {(each.judge, each.dataset, each.contrast): each for each in evidence}
    arms, likely = _together(by_contrast.values())
    moved = []
    for row in rows:
        own, of = by_contrast.get((row.judge, row.dataset, row.contrast)), (row.judge, row.dataset)
        found, why = None, ""
        if own is not None:
            found = movable(own.others(arms[of]), own.pairs, own.confidence, own.others(likely[of]))
            why = CHOSEN if own.chosen_by and found is None else ""
        moved.append(replace(row, movable=found, movable_unknown=why))
    return moved


def find_close_pairs(evidence: Iterable[Indifferent]) -> dict[tuple[str, str], set[str]]:
    """Return the ids of the pairs that are close for a judge, by judge and dataset, whatever chose them.

    Each pair is shown as what its answers make of it; no share is made of them.
    """
    found = list(evidence)
    arms, likely = _together(found)
    close: dict[tuple[str, str], set[str]] = {}
    for each in found:
        of = (each.judge, each.dataset)
        known = closeness(arms[of].values(), each.pairs, likely[of].values())
        close.setdefault(of, set()).update(pair for pair, is_close in known.items() if is_close)
    return close


Together = dict[tuple[str, str], dict[str, dict[str, Any]]]


def _together(evidence: Iterable[Indifferent]) -> tuple[Together, Together]:
    """Return by judge and dataset what all items came across in each arm: not every contrast is of the same pairs."""
    arms: Together = {}
    likely: Together = {}
    for each in evidence:
        for found, own in ((arms, each.arms), (likely, each.likely)):
            known = found.setdefault((each.judge, each.dataset), {})
            for arm, of_pairs in own.items():
                known.setdefault(arm, {}).update(of_pairs)
    return arms, likely


def close_calls(close: Estimate | None, words: Wording = OF_PAIRS, *, passed: bool, unknown: str = "") -> str:
    """Return how many pairs were close for the judge, and what a PASS then covers; or why that is `unknown`."""
    if close is None:
        return f"how many {words.many} were close for this judge {unknown or words.unclear.format(how=HOW)}"
    says = ": this says little about close calls" if close.value < FEW else ": close calls were among them"
    return (
        f"{share_counted(close)} {words.many} were close for this judge (its {words.says} differs, "
        f"or is nearly even, with {words.alike}){says if passed else ''}"
    )
