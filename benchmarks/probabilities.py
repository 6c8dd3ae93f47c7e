"""Probabilities in place of verdicts: how many pairs they save, how often their gate errs, and ties and repeats.

A judge's log odds of choosing response 1 are a pair's latent difference, plus the effect where the favoured label
stands on response 1, minus it where it stands on the other: the two arms are 2 effects apart. The effect differs from
pair to pair (sd half of it), and the server's answer from call to call (sd `NOISE` logits in each arm). Close pairs are
those of house-close as blind readers found them, clear ones have log odds of 3 to 6 either way.

Errors are counted where the true shift is exactly the tolerance: PASS and FAIL are then both wrong, each allowed in 5%.
Run: python benchmarks/probabilities.py --runs 2000 [--only errors]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit, ndtr, ndtri, stdtrit
from scipy.stats import binom

from judgefixtures.checks.log_odds_and_scores import decide_log_odds
from judgefixtures.config import GateTable
from judgefixtures.metrics.certainty import certainty
from judgefixtures.models.contrasts import Condition, contrasts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.probabilities import Probability
from judgefixtures.models.replies import JudgeReply
from judgefixtures.models.verdicts import Verdict
from judgefixtures.simulator.preferences import latent_differences
from judgefixtures.statistics import Status, gate_shift, mean_interval, score_test
from judgefixtures.statistics.log_odds import (
    LARGEST,
    PSEUDO,
    Shift,
    clip_log_odds,
    gate_log_odds,
    log_odds_shift,
    share_log_odds,
    shift,
)
from judgefixtures.statistics.means import Mean, inverse_of_halls

RUNS, SIZES, RATIOS = 300, (30, 100, 300), (1.5, 2.0)
POWER, Z = 0.8, float(ndtri(0.95))
CONTRAST = contrasts("recency")[0]
EFFECTS, NOISE = (0.25, 0.5, 0.8, 1.0), 0.2
FLOOR, FLOOR_SD = 7.0, 1.0  # of five tokens listed the last is so many logits below the first: an assumption
MANY = 100_000  # more pairs than that are not searched for

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Rng = np.random.Generator


def exact(values: Sequence[float] | Numbers) -> list[Shift]:
    """Return shifts that are known."""
    return [Shift.known(value) for value in map(float, values)]


# --- pairs needed ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pairs:
    """Where latent log odds come from: a house set's, or uniform from `low` to `high`, either way."""

    name: str
    low: float = 0.0
    high: float = 0.0

    def drawn(self, rng: Rng, count: int) -> Numbers:
        """Return so many latent differences."""
        if not self.high:
            return rng.choice(list(latent_differences(self.name).values()), count)
        return rng.choice([-1.0, 1.0], count) * rng.uniform(self.low, self.high, count)


CLOSE, CLEAR = Pairs("house-close"), Pairs("clear, 3 to 6 logits", 3, 6)
LISTED = (CLEAR, Pairs("5 to 8 logits", 5, 8), Pairs("6 to 10 logits", 6, 10))


def arms(rng: Rng, pairs: Pairs, effect: float, count: int, spread: float = 0.5, noise: float = NOISE) -> Numbers:
    """Return the log odds of `count` pairs in both arms: one row an arm."""
    latent, own = pairs.drawn(rng, count), rng.normal(effect, spread * effect, count)
    return np.stack([latent + own, latent - own]) + rng.normal(0, noise, (2, count))


def by_verdicts(pairs: Pairs, effect: float, runs: int, drawn: bool) -> int | None:
    """Return how many pairs show the shift by verdicts: drawn by chance, or the likelier one of each call."""
    rng = np.random.default_rng([1, round(100 * effect)])
    x, y = arms(rng, pairs, effect, 400_000)
    x, y = (expit(x), expit(y)) if drawn else (x > 0, y > 0)
    chances = [float(np.mean(x * (1 - y))), float(np.mean((1 - x) * y))]

    def power(n: int) -> float:
        n10, n01, _ = np.random.default_rng(n).multinomial(n, [*chances, 1 - sum(chances)], 4 * runs).T
        return float(np.mean(n10 - n01 > Z * np.sqrt(n10 + n01)))  # the score interval excludes 0

    return fewest(power)


def by_probabilities(
    pairs: Pairs, effect: float, runs: int, *, spread: float = 0.5, noise: float = NOISE, floor: float = math.inf
) -> tuple[int | None, float]:
    """Return how many pairs show the shift by probabilities, and what share of arms is only bounded."""

    def bounds(value: float, listed: float) -> tuple[float, float]:
        return (value, value) if abs(value) < listed else (listed, math.inf) if value > 0 else (-math.inf, -listed)

    def drawn(rng: Rng, n: int) -> list[Shift]:
        both, listed = arms(rng, pairs, effect, n, spread, noise), rng.normal(floor, FLOOR_SD, (2, n))
        if floor == math.inf:
            return exact([clip_log_odds(x) - clip_log_odds(y) for x, y in both.T.tolist()])
        return [shift(*map(bounds, values, at)) for values, at in zip(both.T.tolist(), listed.T.tolist(), strict=True)]

    def power(n: int) -> float:
        rng = np.random.default_rng([n, 2])
        return sum(log_odds_shift(drawn(rng, n)).low > 0 for _ in range(runs)) / runs

    both = np.abs(arms(np.random.default_rng(3), pairs, effect, 100_000))
    bounded = float(np.mean(both > np.random.default_rng(4).normal(floor, FLOOR_SD, both.shape)))
    return fewest(power, 400 if floor < math.inf else MANY), bounded


def fewest(power: Callable[[int], float], most: int = MANY) -> int | None:
    """Return the smallest number of pairs with that power; None above `most`."""
    low, high = 1, 3
    while power(high) < POWER:
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def needed_table(runs: int) -> None:
    """Print how many pairs show an effect, by verdicts and by probabilities."""
    show(f"\nPairs for {POWER:.0%} power to see an effect (90% interval above 0), {runs} runs")
    show(
        "| pairs, effect in logits | verdicts drawn | likelier verdicts | probabilities | ratio | noise .1 | noise .3 "
        "| effect's sd twice the effect |"
    )
    show("|---" * 8 + "|")
    for pairs in (CLOSE, CLEAR):
        for effect in EFFECTS:
            drawn, likelier = (by_verdicts(pairs, effect, runs, drawn) for drawn in (True, False))
            found = [
                by_probabilities(pairs, effect, runs, **settings)[0]
                for settings in ({}, {"noise": 0.1}, {"noise": 0.3}, {"spread": 2.0})
            ]
            ratios = [f"{verdicts / found[0]:.0f}" if verdicts and found[0] else "-" for verdicts in (drawn, likelier)]
            cells = [count(drawn), count(likelier), count(found[0]), " / ".join(ratios), *map(count, found[1:])]
            show(f"| {pairs.name}, {effect:g} | " + " | ".join(cells) + " |")


def listed_table(runs: int) -> None:
    """Print what unlisted verdicts cost."""
    show(f"\nPairs by probabilities of 5 listed tokens (share of arms that are bounded), {runs} runs")
    show("| pairs | " + " | ".join(f"effect {effect:g}" for effect in EFFECTS) + " |")
    show("|---" * (len(EFFECTS) + 1) + "|")
    for pairs in LISTED:
        found = [by_probabilities(pairs, effect, runs, floor=FLOOR) for effect in EFFECTS]
        show(f"| {pairs.name} | " + " | ".join(f"{count(n, 400)} ({share:.0%})" for n, share in found) + " |")


# --- errors of the gate on log-odds --------------------------------------------------------------------------------

Draw = Callable[[Rng, float, int], Numbers]
Drawn = tuple[list[Shift], list[int] | None]  # shifts, and the cluster of each
Scenario = Callable[[Rng, float, int], Drawn]


def normal(rng: Rng, margin: float, n: int) -> Numbers:
    """Return shifts that differ from pair to pair as a normal with sd 1."""
    return margin + rng.normal(size=n)


def skewed(rng: Rng, margin: float, n: int) -> Numbers:
    """Return shifts with a long tail away from 0."""
    return margin + rng.exponential(size=n) - 1


def towards(rng: Rng, margin: float, n: int) -> Numbers:
    """Return shifts with a long tail towards 0 and beyond."""
    return margin - rng.exponential(size=n) + 1


def proportional(rng: Rng, margin: float, n: int) -> Numbers:
    """Return shifts all in one direction, exponential."""
    return margin * rng.exponential(size=n)


def carried_by(share: float) -> Draw:
    """Return the scenario in which so small a share of the pairs carries all of the shift."""
    return lambda rng, margin, n: np.where(rng.random(n) < share, margin / share, 0.0)


def carried_noisily(rng: Rng, margin: float, n: int) -> Numbers:
    """Return a tenth of the pairs carrying the shift, and noise with sd .2 on all."""
    return carried_by(0.1)(rng, margin, n) + rng.normal(0, 0.2, n)


def all_but(rng: Rng, margin: float, n: int) -> Numbers:
    """Return nine tenths of the pairs at twice the margin and a tenth far on the other side."""
    return 2 * margin - carried_by(0.1)(rng, margin, n)


def heavy(rng: Rng, margin: float, n: int) -> Numbers:
    """Return shifts with the tails of Student's t with 3 degrees of freedom."""
    return np.clip(margin + rng.standard_t(3, size=n), -LARGEST, LARGEST)


def deterministic(rng: Rng, margin: float, n: int) -> Numbers:
    """Return shifts that are equal up to .001."""
    return margin + rng.uniform(-1e-3, 1e-3, n)


def equal(rng: Rng, margin: float, n: int) -> Numbers:  # noqa: ARG001
    """Return shifts that are all equal."""
    return np.full(n, margin)


SCENARIOS: Mapping[str, Draw] = {
    "normal, sd 1": normal,
    "exponential, tail away from 0": skewed,
    "exponential, tail towards 0": towards,
    "exponential, all one way": proportional,
    "a tenth of the pairs carries it": carried_by(0.1),
    "the same with noise": carried_noisily,
    "a tenth against nine tenths": all_but,
    "heavy tails (t, 3 df)": heavy,
    "equal up to .001": deterministic,
    "all equal": equal,
}
HARDER: Mapping[str, Draw] = {
    "a twentieth carries it": carried_by(0.05),
    "log-normal": lambda rng, margin, n: margin * np.exp(rng.normal(size=n) - 0.5),
}
CLUSTERS = {30: 15, 100: 30, 300: 60}
ICC = 0.3


def clustered(rng: Rng, margin: float, n: int, *, uneven: bool, tail: bool) -> Drawn:
    """Return shifts with correlation `ICC` inside of clusters, normal or with an exponential tail."""
    count = CLUSTERS[n]
    weights = rng.integers(1, 13, count).astype(float)
    rest = rng.choice(count, n - count, p=weights / weights.sum())
    labels = np.concatenate([np.arange(count), rest]) if uneven else np.arange(n) % count
    common, own = (rng.exponential(size=size) - 1 if tail else rng.normal(size=size) for size in (count, n))
    return exact(margin + math.sqrt(ICC) * common[labels] + math.sqrt(1 - ICC) * own), labels.tolist()


def with_bounds(rng: Rng, margin: float, n: int) -> Drawn:
    """Return normal shifts, a tenth of them bounded and taken for 2 logits less than they are: inviting a PASS."""
    widths = 2.0 * (rng.random(n) < 0.1)
    drawn = zip(normal(rng, margin, n).tolist(), widths.tolist(), strict=True)
    return [Shift(value - width, value, value - width) for value, width in drawn], None


def errors(scenario: Scenario, n: int, ratio: float, runs: int) -> tuple[float, float]:
    """Return how often the gate says PASS and FAIL where the shift is exactly the tolerance."""
    rng = np.random.default_rng([n, round(10 * ratio)])
    drawn = (scenario(rng, math.log(ratio), n) for _ in range(runs))
    found = [gate_log_odds(shifts, ratio, clusters=clusters).status for shifts, clusters in drawn]
    return found.count(Status.PASS) / runs, found.count(Status.FAIL) / runs


def unrelated(draw: Draw) -> Scenario:
    """Return the scenario of pairs that are not related."""
    return lambda rng, margin, n: (exact(draw(rng, margin, n)), None)


def error_table(runs: int) -> None:
    """Print the errors of the gate at the margin, the worse of both ratios."""
    rows: dict[str, Scenario] = {name: unrelated(draw) for name, draw in {**SCENARIOS, **HARDER}.items()}
    rows["a tenth bounded, 2 logits wide"] = with_bounds
    rows["15, 30, 60 clusters, equal sizes"] = partial(clustered, uneven=False, tail=False)
    rows["15, 30, 60 clusters of 1 to 12 pairs"] = partial(clustered, uneven=True, tail=False)
    rows["the same, exponential"] = partial(clustered, uneven=True, tail=True)
    ratios = " and ".join(f"{ratio:g}" for ratio in RATIOS)
    show(f"\nPASS / FAIL of gate_log_odds where the shift is the tolerance, the worse of ratios {ratios}, {runs} runs")
    show("| shifts | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    show("|---" * (len(SIZES) + 1) + "|")
    for name, scenario in rows.items():
        cells = []
        for n in SIZES:
            both = [errors(scenario, n, ratio, runs) for ratio in RATIOS]
            cells.append(" / ".join(f"{max(side):.3f}" for side in zip(*both, strict=True)))
        show(f"| {name} | " + " | ".join(cells) + " |")


# --- where a shift is not told -------------------------------------------------------------------------------------


def known_arms(rng: Rng, low: float, high: float, shift_by: float, n: int) -> Numbers:
    """Return log odds of n pairs in both arms, `shift_by` apart, the pair's own from `low` to `high` either way."""
    own = rng.choice([-1.0, 1.0], n) * rng.uniform(low, high, n)
    return np.stack([own + shift_by / 2, own - shift_by / 2]) + rng.normal(0, NOISE, (2, n))


def given_explanations(rng: Rng, arms_of: Numbers) -> Numbers:
    """Return the log odds of the letter after the likelier explanation: those of whatever it argued for, 5 to 9."""
    return np.sign(arms_of) * rng.uniform(5, 9, arms_of.shape)


def told_by(arms_of: Numbers, rule: str, *, explained: bool = False) -> str:
    """Return the status of the gate at ratio 1.5 by what two arms tell: as it was, or as it is now."""
    if rule == "before":
        return gate_log_odds(exact([clip_log_odds(x) - clip_log_odds(y) for x, y in arms_of.T.tolist()]), 1.5).status
    x, y = (
        [_judged(f"p{number}", condition, value, explained=explained) for number, value in enumerate(arm)]
        for condition, arm in zip((CONTRAST.x, CONTRAST.y), arms_of.tolist(), strict=True)
    )
    return decide_log_odds(certainty([x], [y], CONTRAST.outcome), GateTable(log_odds_tolerance=1.5), CONTRAST).status


def _judged(pair: str, condition: Condition, odds: float, *, explained: bool) -> Judgment:
    reply = JudgeReply(Verdict(1 if odds > 0 else 2, "r", probability=Probability(odds, odds, explained=explained)))
    return Judgment(Pair(pair, "Q", "A", "B"), condition, reply)


def untold_table(runs: int) -> None:
    """Print what is said of judges whose shift their probabilities do not tell, before and now."""
    show(f"\nA shift that is not told, ratio 1.5, 100 pairs, {runs} runs: PASS / FAIL / INCONCLUSIVE / not applied")
    show("| judge | before | now |")
    show("|---" * 3 + "|")
    cases: dict[str, tuple[float, float, float, bool]] = {
        "odds turn 4.5-fold, pairs of 15 to 20 logits": (15, 20, math.log(4.5), False),
        "the same, pairs of 14 to 18 logits": (14, 18, math.log(4.5), False),
        "the same, pairs of 8 to 12 logits": (8, 12, math.log(4.5), False),
        "no shift, pairs of 8 to 14 logits": (8, 14, 0.0, False),
        "no shift, pairs of 2 to 5 logits": (2, 5, 0.0, False),
        "odds turn 2.7-fold, pairs of 2 to 5 logits, explains first": (2, 5, 1.0, True),
        "the same, told before it explains": (2, 5, 1.0, False),
    }
    for name, (low, high, by, explains) in cases.items():
        cells = []
        for rule in ("before", "now"):
            rng, said = np.random.default_rng([round(10 * by), round(low)]), []
            for _ in range(runs):
                both = known_arms(rng, low, high, by, 100)
                said.append(told_by(given_explanations(rng, both) if explains else both, rule, explained=explains))
            statuses = (Status.PASS, Status.FAIL, Status.INCONCLUSIVE, Status.NOT_APPLICABLE)
            cells.append(" / ".join(f"{said.count(status) / runs:.2f}" for status in statuses))
        show(f"| {name} | " + " | ".join(cells) + " |")


# --- the methods that were considered ------------------------------------------------------------------------------

Limits = tuple[float, float]


def students(values: Numbers) -> Limits:
    """Return t limits with the pseudo-observations -1 and 1, as for scores."""
    found = mean_interval(values.tolist(), bound=100.0)
    return found.low, found.high


def johnsons(values: Numbers) -> Limits:
    """Return Johnson's limits: Student's, moved by the skewness over 6."""
    found = Mean.of(values.tolist(), None, PSEUDO)
    centre, width = found.mean + found.lean * found.error / 6, found.error * float(stdtrit(found.freedom, 0.95))
    return centre - width, centre + width


def halls(values: Numbers) -> Limits:
    """Return Hall's limits alone."""
    found = Mean.of(values.tolist(), None, PSEUDO)
    quantile = float(stdtrit(found.freedom, 0.95))
    low, high = (inverse_of_halls(side * quantile, found.lean) for side in (1, -1))
    return found.mean - low * found.error, found.mean - high * found.error


def farther(values: Numbers) -> Limits:
    """Return the limits that the package takes."""
    found = log_odds_shift(exact(values))
    return found.low, found.high


def said(limits: Limits, margin: float) -> tuple[bool, bool]:
    """Return whether limits say PASS and whether they say FAIL where the mean is `margin`."""
    return -margin < limits[0] and limits[1] < margin, limits[0] > margin


def scored(values: Numbers, margin: float) -> tuple[bool, bool]:
    """Return the same of the score test whose range is that of the shifts seen, or 1 logit where they are smaller."""
    half_range = max(1.0, float(np.abs(values).max()))
    high, low = (score_test(values.tolist(), bound, half_range) for bound in (margin, -margin))
    return low > Z > -Z > high, high > Z


METHODS: Mapping[str, Callable[[Numbers, float], tuple[bool, bool]]] = {
    "Student, pseudo-observations": lambda values, margin: said(students(values), margin),
    "Johnson": lambda values, margin: said(johnsons(values), margin),
    "Hall": lambda values, margin: said(halls(values), margin),
    "score test, ends seen": scored,
    "farther of Student and Hall (used)": lambda values, margin: said(farther(values), margin),
}


def method_table(runs: int) -> None:
    """Print the largest errors of each method."""
    show(f"\nThe largest PASS / FAIL error over n = {', '.join(map(str, SIZES))}, ratio 1.5, {runs} runs")
    show("| shifts | " + " | ".join(METHODS) + " |")
    show("|---" * (len(METHODS) + 1) + "|")
    margin = math.log(1.5)
    for name, draw in {**SCENARIOS, **HARDER}.items():
        worst = {method: [0.0, 0.0] for method in METHODS}
        for n in SIZES:
            rng = np.random.default_rng([n, 5])
            found = [draw(rng, margin, n) for _ in range(runs)]
            for method, says in METHODS.items():
                rates = np.mean([says(values, margin) for values in found], axis=0)
                worst[method] = [max(pair) for pair in zip(worst[method], rates, strict=True)]
        show(f"| {name} | " + " | ".join(f"{low:.3f} / {high:.3f}" for low, high in worst.values()) + " |")


def cost_table(runs: int) -> None:
    """Print what the farther limit costs: how often it decides rightly, beside Student's."""
    show(f"\nRight decisions at ratio 1.5, used / Student with pseudo-observations, {runs} runs")
    show("| judge | " + " | ".join(f"n = {n}" for n in (15, *SIZES)) + " |")
    show("|---" * (len(SIZES) + 2) + "|")
    margin = math.log(1.5)
    judges: dict[str, tuple[int, Draw]] = {
        "PASS: no shift, normal sd 1": (0, lambda rng, _, n: normal(rng, 0.0, n)),
        "PASS: no shift, normal sd .5": (0, lambda rng, _, n: 0.5 * normal(rng, 0.0, n)),
        "PASS: no shift, heavy tails": (0, lambda rng, _, n: 0.5 * rng.standard_t(3, size=n)),
        "PASS: no shift, but a tenth of the pairs +-2": (
            0,
            lambda rng, _, n: 2.0 * rng.choice([-1, 1], n) * (rng.random(n) < 0.1),
        ),
        "FAIL: twice the tolerance, normal sd 1": (1, lambda rng, margin, n: normal(rng, 2 * margin, n)),
        "FAIL: twice the tolerance, exponential": (1, lambda rng, margin, n: 2 * margin * rng.exponential(size=n)),
        "FAIL: twice the tolerance, a tenth carries it": (
            1,
            lambda rng, margin, n: carried_by(0.1)(rng, 2 * margin, n),
        ),
    }
    for name, (side, draw) in judges.items():
        cells = []
        for n in (15, *SIZES):
            rng = np.random.default_rng([n, 6])
            found = [draw(rng, margin, n) for _ in range(runs)]
            rates = [
                np.mean([said(limits(values), margin)[side] for values in found]) for limits in (farther, students)
            ]
            cells.append(" / ".join(f"{rate:.2f}" for rate in rates))
        show(f"| {name} | " + " | ".join(cells) + " |")


# --- ties ----------------------------------------------------------------------------------------------------------

GRID = ndtri((np.arange(2000) + 0.5) / 2000)
TIES, TOLERANCES, CALL_NOISE = (0.0, 0.05, 0.2, 0.4), (0.10, 0.15), 0.7


def moved(ties: float, target: float) -> Numbers:
    """Return how likely a pair's score moves by -1, -1/2, 0, 1/2, 1 where the mean move is `target`.

    A call prefers response 1 by N(0, 1) of the pair, plus or minus the cue, plus noise; nearer to 0 than a threshold
    it is a tie.
    """
    threshold = math.sqrt(1 + CALL_NOISE**2) * float(ndtri((1 + ties) / 2))

    def table(effect: float) -> Numbers:
        lose, at_most = (
            [ndtr((at - GRID - way * effect) / CALL_NOISE) for way in (1, -1)] for at in (-threshold, threshold)
        )
        x, y = ([lose[arm], at_most[arm] - lose[arm], 1 - at_most[arm]] for arm in (0, 1))
        return np.array(
            [
                sum(float(np.mean(x[i] * y[j])) for i in range(3) for j in range(3) if i - j == move)
                for move in range(-2, 3)
            ]
        )

    halves = np.arange(-2, 3) / 2
    return table(brentq(lambda effect: float(table(effect) @ halves) - target, -5, 5))


def tie_errors(ties: float, n: int, runs: int) -> tuple[float, float, float]:
    """Return the worst PASS and FAIL error at a tolerance, and the lowest coverage of shifts 0, .05, .10, .15."""
    worst, covered = [0.0, 0.0], 1.0
    for target in (0.0, 0.05, *TOLERANCES):
        tables = np.random.default_rng([n, 7]).multinomial(n, moved(ties, target), runs)
        found = []
        for table in map(tuple, tables.tolist()):
            moves = dict(zip((-1.0, -0.5, 0.0, 0.5, 1.0), table, strict=True))
            found.append((score_test(moves, target), score_test(moves, -target)))
        high, low = np.array(found).T
        covered = min(covered, float(np.mean(np.abs(high) <= Z)))
        if target in TOLERANCES:
            worst = [max(worst[0], float(np.mean((high < -Z) & (low > Z)))), max(worst[1], float(np.mean(high > Z)))]
    return worst[0], worst[1], covered


def tango_errors(n: int, runs: int) -> tuple[float, float]:
    """Return the errors of `gate_shift` on the same pairs without ties."""
    worst = [0.0, 0.0]
    for target in TOLERANCES:
        tables = np.random.default_rng([n, 7]).multinomial(n, moved(0.0, target), runs)
        found = [gate_shift(table[4], table[0], n, target).status for table in tables.tolist()]
        worst = [
            max(before, found.count(each) / runs)
            for before, each in zip(worst, (Status.PASS, Status.FAIL), strict=True)
        ]
    return worst[0], worst[1]


def tie_table(runs: int) -> None:
    """Print the errors of scores with ties."""
    show(f"\nTies as 1/2: PASS / FAIL at tolerances .10 and .15, the worse; lowest coverage of 90%; {runs} runs")
    show("| ties | " + " | ".join(f"n = {n}" for n in SIZES) + " |")
    show("|---" * (len(SIZES) + 1) + "|")
    cells = [" / ".join(f"{rate:.3f}" for rate in tango_errors(n, runs)) for n in SIZES]
    show("| none, `gate_shift` | " + " | ".join(cells) + " |")
    for ties in TIES:
        found = [tie_errors(ties, n, runs) for n in SIZES]
        cells = [f"{low:.3f} / {high:.3f}; {covered:.3f}" for low, high, covered in found]
        show(f"| {f'{ties:.0%}' if ties else 'none'} | " + " | ".join(cells) + " |")


# --- repeats ---------------------------------------------------------------------------------------------------------

BETAS = {"clear (beta .3, .3)": 0.3, "mixed (beta 1, 1)": 1.0, "close (beta 5, 5)": 5.0}
REPEATS = (1, 3, 5, 10, None)  # None: the probabilities themselves


def asked(rng: Rng, beta: float, effect: float, n: int, repeats: int | None) -> Numbers:
    """Return by how much the share of `repeats` calls in which response 1 was chosen differs between the arms."""
    latent = logit(np.clip(rng.beta(beta, beta, n), 1e-9, 1 - 1e-9))
    x, y = expit(np.stack([latent + effect, latent - effect]))
    if repeats is not None:
        x, y = (rng.binomial(repeats, each) / repeats for each in (x, y))
    return np.asarray(x - y)


def effect_for(beta: float, target: float) -> float:
    """Return the effect at which probabilities differ by `target` on average."""
    shares = betaincinv(beta, beta, (np.arange(20_000) + 0.5) / 20_000)
    latent = logit(np.clip(shares, 1e-9, 1 - 1e-9))
    return float(brentq(lambda effect: np.mean(expit(latent + effect) - expit(latent - effect)) - target, 0, 20))


def repeat_errors(beta: float, n: int, repeats: int | None, runs: int, target: float = 0.10) -> tuple[float, ...]:
    """Return how often the 90% interval lies below the true difference and above it, and the shares' standard error."""
    rng, effect = np.random.default_rng([n, repeats or 0, 8]), effect_for(beta, target)
    found = [asked(rng, beta, effect, n, repeats) for _ in range(runs)]
    counted = (zip(*np.unique(np.round(values, 9), return_counts=True), strict=True) for values in found)
    z = np.array([score_test({float(value): int(pairs) for value, pairs in each}, target) for each in counted])
    return float(np.mean(z < -Z)), float(np.mean(z > Z)), float(np.std(found)) / math.sqrt(n)


def repeat_table(runs: int) -> None:
    """Print the coverage of shares of repeats."""
    show(f"\nShares of R repeats, true difference .10: 90% interval too low / too high; standard error; {runs} runs")
    names = (f"R = {repeats}" if repeats else "probabilities" for repeats in REPEATS)
    show("| pairs, n | " + " | ".join(names) + " |")
    show("|---" * (len(REPEATS) + 1) + "|")
    for name, beta in BETAS.items():
        for n in SIZES:
            found = [repeat_errors(beta, n, repeats, runs) for repeats in REPEATS]
            cells = (f"{low:.3f} / {high:.3f}; {error:.3f}" for low, high, error in found)
            show(f"| {name}, {n} | " + " | ".join(cells) + " |")


def attenuation_table() -> None:
    """Print what is left of a log-odds shift in the log-odds of shares: exact, by the binomial."""
    show("\nMean shift of share_log_odds where the shift is 1 logit, about so many logits (exact)")
    repeats = (3, 5, 10, 30)
    show("| log odds of the pair | " + " | ".join(f"R = {each}" for each in repeats) + " |")
    show("|---" * (len(repeats) + 1) + "|")
    for latent in (0.0, 1.0, 2.0, 3.0, 4.5):
        cells = []
        for each in repeats:
            seen = np.array([share_log_odds(k, each) for k in range(each + 1)])
            x, y = (float(binom.pmf(np.arange(each + 1), each, expit(latent + half)) @ seen) for half in (0.5, -0.5))
            cells.append(f"{x - y:.2f}")
        show(f"| {latent:g} | " + " | ".join(cells) + " |")


# --- the whole -------------------------------------------------------------------------------------------------------


def count(n: int | None, most: int = MANY) -> str:
    """Return a number of pairs, or that there are too many."""
    return f"> {most:,}" if n is None else f"{n:,}"


def show(text: str) -> None:
    """Print a line at once: the whole takes minutes."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


TABLES: Mapping[str, Callable[[int], None]] = {
    "needed": needed_table,
    "listed": listed_table,
    "errors": error_table,
    "untold": untold_table,
    "methods": method_table,
    "cost": cost_table,
    "ties": tie_table,
    "repeats": repeat_table,
    "attenuation": lambda _: attenuation_table(),
}


def main() -> None:
    """Print the tables of benchmarks/results.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", choices=list(TABLES), help="one table")
    given = parser.parse_args()
    for name, table in TABLES.items():
        if given.only in (None, name):
            table(given.runs)


if __name__ == "__main__":
    main()
