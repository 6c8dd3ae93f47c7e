"""Ranking of labels, such as EXPERT > HUMAN, with its tests."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from .elementary import check_open
from .estimate import Estimate, format_estimate, level_text
from .proportions import mean_and_error

if TYPE_CHECKING:
    import numpy as np

# Pseudo-observations of +-1/2: simulated coverage .94-.96 at 95%, n 50-300, noisy and near-deterministic judges.
PSEUDO = 0.5

# Per pair -1 to +1 for every ordered two labels, halves beside ties: the second orientation is the first one negated.
Moves = Mapping[tuple[str, str], Sequence[float]]
LabelTotals = Mapping[str, Sequence[float]]  # per pair, how far its verdicts speak for a label

MOST_STEPS = 50  # of Newton's method; five are usual


@dataclass(frozen=True, slots=True)
class RankingStep:
    """One step of the declared order: is `over` stronger than `under`?"""

    over: str
    under: str
    difference: Estimate
    p: float

    @property
    def lower(self) -> float:
        """The one-sided lower bound of the difference."""
        return self.difference.low

    @property
    def holds(self) -> bool:
        """Whether the lower bound is above 0."""
        return self.lower > 0


@dataclass(frozen=True, slots=True)
class LabelRanking:
    """The estimated order of labels, and whether the declared order is certified.

    `strengths` are shifts that sum to 0, `bradley_terry` log-odds. A small `cycle_p` shows a cycle.
    """

    labels: tuple[str, ...]
    strengths: Mapping[str, Estimate]
    steps: tuple[RankingStep, ...]
    certified: bool
    cycle_p: float | None
    bradley_terry: Mapping[str, float]
    message: str


def rank_labels(shifts: Moves, labels: Sequence[str], confidence: float = 0.90) -> LabelRanking:
    """Return the order of labels estimated from all contrasts between them.

    `labels` are in declared order, strongest first. `shifts[x, y]` has +1 per example that followed x, -1 for y, halves
    beside ties, else 0. Certified if every declared step has a one-sided lower bound above 0. Source: HodgeRank (Jiang
    et al. 2011, Math Program 127:203-244).

    Raises:
        ValueError: Missing, duplicate or unknown labels or contrasts, or invalid values.

    >>> expert_wins, nothing = [1] * 30 + [0] * 70, [0] * 100
    >>> ranking = rank_labels(
    ...     {("expert", "human"): expert_wins, ("expert", "llm"): expert_wins, ("llm", "human"): nothing},
    ...     ["expert", "human", "llm"],
    ... )
    >>> ranking.message
    'expert > human = llm (n=100): not certified: human over llm 0.00 (90% CI -0.01 to 0.01)'
    >>> round(ranking.strengths["expert"].value, 2), round(ranking.steps[0].lower, 2)
    (0.2, 0.22)
    """
    check_open(confidence, "confidence")
    moves = _both_ways(shifts, labels)
    # How far each pair's verdicts speak for a label, summed over its rivals; a strength is the mean over all labels.
    totals = {
        label: [sum(pair) for pair in zip(*(moves[label, rival] for rival in labels if rival != label), strict=True)]
        for label in labels
    }
    strengths = {label: _mean(totals[label], labels, len(labels) - 1, confidence)[0] for label in labels}
    steps = tuple(_step(over, under, totals, labels, confidence) for over, under in itertools.pairwise(labels))
    order = sorted(labels, key=lambda label: -sum(totals[label]))
    return LabelRanking(
        labels=tuple(order),
        strengths=MappingProxyType({label: strengths[label] for label in order}),
        steps=steps,
        certified=all(step.holds for step in steps),
        cycle_p=_cycle_p(moves, labels),
        bradley_terry=MappingProxyType(_bradley_terry(moves, labels, order)),
        message=_message(order, totals, steps, confidence),
    )


def _both_ways(shifts: Moves, labels: Sequence[str]) -> Moves:
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise ValueError(f"labels must be two or more, each once, got {list(labels)!r}")
    if strange := [pair for pair in shifts if len({*pair} & {*labels}) < 2]:
        raise ValueError(f"shifts[{strange[0]!r}] does not contrast two of the labels {list(labels)!r}")
    moves: dict[tuple[str, str], Sequence[float]] = {}
    for x, y in itertools.combinations(labels, 2):
        there = [pair for pair in ((x, y), (y, x)) if pair in shifts]
        if not there:
            raise ValueError(f"shifts has no contrast of {x!r} and {y!r}: measure every two labels")
        if len(there) > 1:
            raise ValueError(f"shifts contrasts {x!r} and {y!r} in both orientations: leave one out")
        first, second = there[0]
        moves[first, second] = shifts[there[0]]
        moves[second, first] = [-move for move in shifts[there[0]]]
    lengths = {pair: len(values) for pair, values in shifts.items()}
    if len({*lengths.values()}) > 1 or not all(lengths.values()):
        raise ValueError(f"shifts must hold the same pairs, one or more, in every contrast, got {lengths!r}")
    for pair, values in shifts.items():
        if other := sorted({*values} - {-1, -0.5, 0, 0.5, 1}, key=repr):
            raise ValueError(f"shifts[{pair!r}] must hold -1, 0 and 1 only, or halves beside ties, got {other!r}")
    return moves


def _step(over: str, under: str, totals: LabelTotals, labels: Sequence[str], confidence: float) -> RankingStep:
    apart = [high - low for high, low in zip(totals[over], totals[under], strict=True)]
    difference, p = _mean(apart, labels, 2 * (len(labels) - 1), confidence)
    return RankingStep(over, under, difference, p)


def _mean(totals: Sequence[float], labels: Sequence[str], largest: int, confidence: float) -> tuple[Estimate, float]:
    from scipy.special import stdtr, stdtrit

    n, share = len(totals), len(labels)
    centre, error = mean_and_error([total / share for total in totals], PSEUDO)
    width = float(stdtrit(n + 1, (1 + confidence) / 2)) * error
    value, bound = sum(totals) / (n * share), largest / share
    # At a low confidence the pseudo-observations may pull a short interval off its value: it is kept inside.
    low, high = min(centre - width, value), max(centre + width, value)
    estimate = Estimate(value, max(low, -bound), min(high, bound), confidence, n)
    return estimate, float(stdtr(n + 1, -centre / error))


def _cycle_p(moves: Moves, labels: Sequence[str]) -> float | None:
    """Return the p-value of Wald's test that no triad has a cycle."""
    first, *others = labels
    triads = [(first, middle, last) for middle, last in itertools.combinations(others, 2)]
    if not triads or not any(map(any, moves.values())):
        return None
    import numpy as np
    from scipy.special import chdtrc

    curls = np.array([np.array(moves[i, j]) - moves[i, k] + moves[j, k] for i, j, k in triads], dtype=float).T
    statistic, degrees, unexplained = _wald(curls)
    if unexplained:
        # A curl that is the same in all pairs has no variance: two pseudo-pairs per triad give it one.
        largest = 3 * np.eye(len(triads))
        statistic, degrees, _ = _wald(np.vstack([curls, largest, -largest]))
    return float(chdtrc(degrees, statistic)) if degrees else 1.0


def _wald(rows: np.ndarray) -> tuple[float, int, bool]:
    import numpy as np

    n, mean = len(rows), rows.mean(axis=0)
    centred = rows - mean
    variances, directions = np.linalg.eigh(centred.T @ centred / max(n - 1, 1) / n)
    varies = variances > 1e-9 / n
    along = directions.T @ mean
    statistic = float((along[varies] ** 2 / variances[varies]).sum())
    return statistic, int(varies.sum()), bool((np.abs(along[~varies]) > 1e-9).any())


def _bradley_terry(moves: Moves, labels: Sequence[str], order: Sequence[str]) -> dict[str, float]:
    import numpy as np

    wins, design = [], []
    for x, y in itertools.combinations(labels, 2):
        n, lead = len(moves[x, y]), sum(moves[x, y])
        wins.append((n + lead, n - lead))
        design.append([(label == x) - (label == y) for label in labels[:-1]])  # the last label is at 0
    added = 0.5 if 0 in itertools.chain.from_iterable(wins) else 0.0
    won, lost = (np.array(wins, dtype=float) + added).T
    compared = np.array(design, dtype=float)
    fitted = np.zeros(len(labels) - 1)
    for _ in range(MOST_STEPS):
        chance = 1 / (1 + np.exp(-compared @ fitted))
        slope = compared.T @ (won - (won + lost) * chance)
        curvature = compared.T @ (compared * ((won + lost) * chance * (1 - chance))[:, None])
        step = np.linalg.solve(curvature, slope)
        fitted = fitted + step
        if np.abs(step).max() < 1e-12:
            break
    log_odds = dict(zip(labels, [*map(float, fitted), 0.0], strict=True))
    mean = sum(log_odds.values()) / len(labels)
    return {label: log_odds[label] - mean for label in order}


def _message(order: Sequence[str], totals: LabelTotals, steps: Sequence[RankingStep], confidence: float) -> str:
    text = order[0]
    for above, label in itertools.pairwise(order):
        text += f" {'=' if sum(totals[above]) == sum(totals[label]) else '>'} {label}"
    text += f" (n={len(totals[order[0]])}): "
    if doubtful := [step for step in steps if not step.holds]:
        missing = "; ".join(f"{step.over} over {step.under} {format_estimate(step.difference)}" for step in doubtful)
        return f"{text}not certified: {missing}"
    return f"{text}certified, every step at {level_text((1 + confidence) / 2)} confidence"
