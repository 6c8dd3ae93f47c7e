"""Gates with looks: how often they err, how many pairs they take, and what it costs to look again without a plan.

    python benchmarks/looks.py [--runs 20000] [--only clusters]

Verdicts, related pairs and scores are drawn and decided by the package's own gates, at the level that each look has.
"exact" is of `judgefixtures.statistics.sequential`, which the preflight uses. Exit code 1 where a judge that moves by
exactly the tolerance PASSes in more than .055 or FAILs in more than .065, or where what is exact is not what was drawn.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from judgefixtures.statistics import Status, cluster_totals, gate_scores, gate_shift
from judgefixtures.statistics.alpha_spending import levels_left, planned_levels
from judgefixtures.statistics.power import pass_probability
from judgefixtures.statistics.sequential import SequentialOutcome, sequential_outcome

LOOKS, ALPHA, TOLERANCE, SCORE_TOLERANCE, RUNS = (25, 50, 100), 0.05, 0.15, 0.05, 20_000
ADVISED = (50, 100, 200)
STEPS = planned_levels(LOOKS, LOOKS[-1], ALPHA)
MOST_PASS, MOST_FAIL = 0.055, 0.065
MOST_PAIRS = 2000
POINTS = 9  # from one end of a scale of 1 to 10 to the other
PEEKS = {
    "25, 50, 75, 100": (25, 50, 75, 100),
    "50, 100, 150, 200": (50, 100, 150, 200),
    "25, 50, 100, 200": (25, 50, 100, 200),
    "30, 40, ... 400 (38 looks)": tuple(range(30, 401, 10)),
}
NOISE = (0.0, 0.05, 0.10, 0.20)

Decide = Callable[[int, float], Status]  # the first so many pairs, at a level


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and at how many pairs."""

    status: Status
    pairs: int


def look_by_look(decide: Decide, steps: Iterable[tuple[int, float]] = STEPS) -> Ended:
    """Return how a gate ends that stops at the first look that is a PASS or a FAIL."""
    pairs, status = 0, Status.INCONCLUSIVE
    for pairs, level in steps:
        status = decide(pairs, level)
        if status is not Status.INCONCLUSIVE:
            break
    return Ended(status, pairs)


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of runs that ended in a PASS and a FAIL, and the pairs that they took in the mean."""

    passes: float
    fails: float
    pairs: float

    @classmethod
    def of(cls, ended: Sequence[Ended]) -> Rates:
        """Return the shares of some runs."""
        counts = Counter(each.status for each in ended)
        pairs = sum(each.pairs for each in ended) / len(ended)
        return cls(counts[Status.PASS] / len(ended), counts[Status.FAIL] / len(ended), pairs)

    def __str__(self) -> str:
        return f"{self.passes:.3f} / {self.fails:.3f} | {self.pairs:.0f}"


@cache
def shift_status(n10: int, n01: int, pairs: int, level: float, tolerance: float = TOLERANCE) -> Status:
    """Return what `gate_shift` says of a table."""
    return gate_shift(n10, n01, pairs, tolerance, level).status


def at_once(decide: Decide) -> Ended:
    """Return how a gate ends that looks once, at all pairs."""
    return look_by_look(decide, ((LOOKS[-1], ALPHA),))


# --- verdicts ----------------------------------------------------------------------------------------------------


def moves(rng: np.random.Generator, runs: int, shift: float, flips: float, pairs: int = LOOKS[-1]) -> np.ndarray:
    """Return moves of pairs, -1, 0 or 1, runs by pairs: half of the flips each way and the shift on top of one way."""
    chance = rng.random((runs, pairs))
    return np.where(chance < flips / 2 + shift, 1, np.where(chance < flips + shift, -1, 0))


def of_verdicts(row: np.ndarray, pairs: int, level: float, tolerance: float) -> Status:
    """Return what the gate says of the first so many moves."""
    first = row[:pairs]
    return shift_status(int((first == 1).sum()), int((first == -1).sum()), pairs, level, tolerance)


def verdicts(runs: int) -> Iterator[tuple[str, bool]]:
    """Yield the table of verdicts: drawn and exact, beside one look."""
    yield "| judge | tolerance | PASS / FAIL | pairs | exact | pairs | one look, exact |", True
    cases = [(0.0, flips, TOLERANCE) for flips in (0.0, 0.02, 0.05, 0.10)]
    cases += [(shift, 0.05, TOLERANCE) for shift in (0.05, 0.25, 0.30, 0.40)]
    cases += [(tolerance, flips, tolerance) for tolerance in (0.15, 0.10) for flips in (0.0, 0.02, 0.05, 0.10, 0.20)]
    for shift, flips, tolerance in cases:
        rng = np.random.default_rng([int(100 * each) for each in (shift, flips, tolerance)])
        drawn = moves(rng, runs, shift, flips)
        found = Rates.of([look_by_look(partial(of_verdicts, row, tolerance=tolerance)) for row in drawn])
        exact = sequential_outcome(STEPS, tolerance, flips, shift)
        once = sequential_outcome(((LOOKS[-1], ALPHA),), tolerance, flips, shift)
        name = f"VSR {shift:.2f}, {flips:.0%} flips | {tolerance:.2f}"
        line = f"| {name} | {found} | {text(exact)} | {exact.pairs:.0f} | {text(once)} |"
        yield line, holds(found, shift >= tolerance) and agree(found, exact, runs)


def text(found: SequentialOutcome) -> str:
    """Return a course's chances of PASS and FAIL."""
    return f"{found.passes:.3f} / {found.fails:.3f}"


def holds(found: Rates, at_tolerance: bool) -> bool:
    """Tell whether the errors are as small as they may be: both are ones of a judge at its tolerance."""
    return not at_tolerance or (found.passes <= MOST_PASS and (found.fails <= MOST_FAIL or found.fails > 0.5))


def agree(found: Rates, exact: SequentialOutcome, runs: int) -> bool:
    """Tell whether what was drawn lies within four standard errors of what is exact."""
    shares = ((found.passes, exact.passes), (found.fails, exact.fails))
    return all(abs(seen - true) <= 4 * math.sqrt(max(true * (1 - true), 1e-4) / runs) for seen, true in shares)


# --- related pairs -----------------------------------------------------------------------------------------------


def related(
    rng: np.random.Generator, shift: float, flips: float, icc: float, sizes: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return 100 moves and the cluster of each, in the order of a sample: pairs of a cluster stand anywhere.

    A pair takes over what is common to its cluster with probability sqrt(icc).
    """
    clusters = np.repeat(np.arange(LOOKS[-1]), rng.integers(sizes[0], sizes[1] + 1, LOOKS[-1]))[: LOOKS[-1]]
    common, own = moves(rng, 1, shift, flips)[0], moves(rng, 1, shift, flips)[0]
    drawn = np.where(rng.random(LOOKS[-1]) < math.sqrt(icc), common[clusters], own)
    order = rng.permutation(LOOKS[-1])
    return drawn[order], clusters[order]


def of_related(drawn: tuple[np.ndarray, np.ndarray], pairs: int, level: float) -> Status:
    """Return what the gate says of the first so many related pairs."""
    first, clusters = (each[:pairs].tolist() for each in drawn)
    found = cluster_totals(first, clusters)
    if found is None:
        return shift_status(first.count(1), first.count(-1), pairs, level)
    return gate_shift(first.count(1), first.count(-1), pairs, TOLERANCE, level, found).status


def clusters(runs: int) -> Iterator[tuple[str, bool]]:
    """Yield the table of related pairs, with looks and without."""
    yield "| clusters of | ICC | judge | PASS / FAIL | pairs | one look | pairs |", True
    rows = [(sizes, icc, TOLERANCE, 0.05) for sizes in ((1, 3), (4, 4)) for icc in (0.0, 0.3, 0.9)]
    rows += [((1, 3), 0.3, TOLERANCE, 0.20), ((1, 12), 0.3, TOLERANCE, 0.05), ((1, 3), 0.3, 0.0, 0.05)]
    for sizes, icc, shift, flips in rows:
        rng = np.random.default_rng([*sizes, int(10 * icc), int(100 * shift), int(100 * flips)])
        drawn = [related(rng, shift, flips, icc, sizes) for _ in range(runs)]
        found = Rates.of([look_by_look(partial(of_related, each)) for each in drawn])
        once = Rates.of([at_once(partial(of_related, each)) for each in drawn])
        of = f"{sizes[0]} to {sizes[1]}" if sizes[0] < sizes[1] else str(sizes[0])
        line = f"| {of} | {icc:g} | VSR {shift:.2f}, {flips:.0%} flips | {found} | {once} |"
        yield line, holds(found, shift >= TOLERANCE)


# --- scores ------------------------------------------------------------------------------------------------------

# Points by which the score of a pair moves, with their chances: the mean of most is the tolerance, .45 of 9 points.
MOVED: dict[str, tuple[dict[float, float], bool]] = {
    "does not move, noise .3": ({-1: 0.045, 0: 0.91, 1: 0.045}, False),
    "does not move, noise .5": ({-1: 0.125, 0: 0.75, 1: 0.125}, False),
    "does not move, noise .7": ({-1: 0.245, 0: 0.51, 1: 0.245}, False),
    "at the tolerance, noise .5": ({0: 0.55, 1: 0.45}, True),
    "at the tolerance, noise .7": ({-1: 0.05, 0: 0.475, 1: 0.45, 2: 0.025}, True),
    "at the tolerance, a fifth by 2 or 3": ({0: 0.82, 2: 0.09, 3: 0.09}, True),
    "at the tolerance, a tenth by 4 or 5": ({0: 0.90, 4: 0.05, 5: 0.05}, True),
    # Not held to the bounds: of 50 pairs .08 have none that moved, and no gate can see it.
    "at the tolerance, one in twenty by 9": ({0: 0.95, 9: 0.05}, False),
    "twice the tolerance, noise .5": ({0: 0.225, 1: 0.65, 2: 0.125}, False),
}


@cache
def score_status(points: tuple[tuple[float, int], ...], level: float) -> Status:
    """Return what `gate_scores` says of so many pairs by the points that they moved."""
    scores = [each / POINTS for each, count in points for _ in range(count)]
    return gate_scores(scores, SCORE_TOLERANCE, level).status


def of_scores(row: np.ndarray, pairs: int, level: float) -> Status:
    """Return what the gate says of the first so many scores."""
    return score_status(tuple(sorted(Counter(row[:pairs].tolist()).items())), level)


def scores(runs: int) -> Iterator[tuple[str, bool]]:
    """Yield the table of scores, with looks and without."""
    yield "| scores | PASS / FAIL | pairs | one look | pairs |", True
    for seed, (name, (chances, at_tolerance)) in enumerate(MOVED.items()):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(list(chances), size=(runs, LOOKS[-1]), p=list(chances.values()))
        found = Rates.of([look_by_look(partial(of_scores, row)) for row in drawn])
        once = Rates.of([at_once(partial(of_scores, row)) for row in drawn])
        score_status.cache_clear()
        yield f"| {name} | {found} | {once} |", holds(found, at_tolerance)


# --- without a plan ----------------------------------------------------------------------------------------------


def peeking(_: int) -> Iterator[tuple[str, bool]]:
    """Yield how often a judge at its tolerance passes that is run again with more pairs until it does: exact."""
    yield f"| looks, each at .05 | {' | '.join(f'{flips:.0%} flips' for flips in NOISE)} |", True
    for name, looks in {"100": (100,), **PEEKS}.items():
        rows = [
            [
                sequential_outcome(
                    tuple((look, ALPHA) for look in looks), TOLERANCE, flips, TOLERANCE, until_pass=True
                ).passes
            ]
            for flips in NOISE
        ]
        yield f"| {name} | {' | '.join(f'{row[0]:.3f}' for row in rows)} |", True
    planned = [sequential_outcome(STEPS, TOLERANCE, flips, TOLERANCE, until_pass=True).passes for flips in NOISE]
    yield f"| looks = [25, 50, 100] | {' | '.join(f'{each:.3f}' for each in planned)} |", max(planned) <= MOST_PASS


def rerecording(runs: int) -> Iterator[tuple[str, bool]]:
    """Yield how often one of several recordings of the same 100 pairs passes, of a judge at its tolerance."""
    times = (1, 2, 3, 5, 10)
    yield f"| verdicts that are drawn anew | flips | {' | '.join(f'{each}' for each in times)} |", True
    for anew, flips in ((1.0, 0.0), (1.0, 0.05), (1.0, 0.10), (0.5, 0.05), (0.1, 0.05)):
        rng = np.random.default_rng([int(10 * anew), int(100 * flips)])
        chances = (flips / 2 + TOLERANCE, flips / 2, 1 - flips - TOLERANCE)
        again = rng.binomial(LOOKS[-1], anew, runs)
        same = rng.multinomial(LOOKS[-1] - again, chances)
        passed = np.zeros((runs, times[-1]), dtype=bool)
        for time in range(times[-1]):
            tables = (same + rng.multinomial(again, chances)).tolist()
            passed[:, time] = [shift_status(n10, n01, LOOKS[-1], ALPHA) is Status.PASS for n10, n01, _ in tables]
        shares = [passed[:, :each].any(axis=1).mean() for each in times]
        yield f"| {anew:.0%} | {flips:.0%} | {' | '.join(f'{share:.3f}' for share in shares)} |", True


def advised(rng: np.random.Generator, start: int, shift: float, flips: float, rounds: int) -> Ended:
    """Return how a gate ends that is run again with as many pairs as its message advises, until it says no number.

    Where it advises no more than there are ("add pairs") half as many are added; nobody pays for more than MOST_PAIRS.
    """
    chances, pairs, table = (flips / 2 + shift, flips / 2, 1 - flips - shift), 0, np.zeros(3, dtype=int)
    wanted, status = start, Status.INCONCLUSIVE
    for _ in range(1 + rounds):
        table = table + rng.multinomial(wanted - pairs, chances)
        pairs = wanted
        status, needed = advice(int(table[0]), int(table[1]), pairs)
        wanted = needed if needed is not None and needed > pairs else math.ceil(1.5 * pairs)
        if status is not Status.INCONCLUSIVE or needed is None or wanted > MOST_PAIRS:
            break
    return Ended(status, pairs)


@cache
def advice(n10: int, n01: int, pairs: int) -> tuple[Status, int | None]:
    """Return what `gate_shift` says of a table, and how many pairs it advises."""
    found = gate_shift(n10, n01, pairs, TOLERANCE)
    return found.status, found.needed_pairs


def follow(runs: int) -> Iterator[tuple[str, bool]]:
    """Yield how often "about so many pairs would settle it" ends in an error where it is followed."""
    yield "| first recording | flips | no round | one | three | ten | pairs after ten |", True
    for start in (30, 50, 100):
        for flips in (0.0, 0.05, 0.10):
            rates = []
            for rounds in (0, 1, 3, 10):
                rng = np.random.default_rng([start, int(100 * flips)])
                rates.append(Rates.of([advised(rng, start, TOLERANCE, flips, rounds) for _ in range(runs)]))
            shares = " | ".join(f"{each.passes:.3f} / {each.fails:.3f}" for each in rates)
            yield f"| {start} | {flips:.0%} | {shares} | {rates[-1].pairs:.0f} |", True


# --- a whole run -------------------------------------------------------------------------------------------------


def whole(_: int) -> Iterator[tuple[str, bool]]:
    """Yield how often a judge gets all 14 contrasts of two families green, by the shift that it has in each: exact."""
    yield "| shift in every contrast | 5% flips | 10% | with looks, 5% | 10% |", True
    for shift in (0.0, 0.02, 0.05, 0.08, 0.10):
        once = [pass_probability(LOOKS[-1], TOLERANCE, flips, shift) ** 14 for flips in (0.05, 0.10)]
        looked = [sequential_outcome(STEPS, TOLERANCE, flips, shift).passes ** 14 for flips in (0.05, 0.10)]
        yield f"| {shift:.2f} | {' | '.join(f'{each:.2f}' for each in (*once, *looked))} |", True
    yield "| true VSR | one item passes at most, up to 20% flips | with looks |", True
    for shift in (0.15, 0.20, 0.25, 0.30):
        noise = [share / 100 for share in range(0, 21, 5)]
        once_most = max(pass_probability(LOOKS[-1], TOLERANCE, flips, shift) for flips in noise)
        looked_most = max(sequential_outcome(STEPS, TOLERANCE, flips, shift).passes for flips in noise)
        yield f"| {shift:.2f} | {once_most:.4f} | {looked_most:.4f} |", True


def planned_whole(_: int) -> Iterator[tuple[str, bool]]:
    """Yield the looks that a preflight advises, of 14 contrasts and a judge whose VSR is .05 in each: exact."""
    yield "| flips | all 14 green, looks = [50, 100, 200] | pairs | one look at 100 |", True
    steps = planned_levels(ADVISED, ADVISED[-1], ALPHA)
    for flips, expected in ((0.05, (0.81, 109, 0.15)), (0.10, (0.46, 129, 0.03))):
        found = sequential_outcome(steps, TOLERANCE, flips, 0.05)
        green, once = found.passes**14, pass_probability(LOOKS[-1], TOLERANCE, flips, 0.05) ** 14
        held = abs(green - expected[0]) <= 0.02 and abs(found.pairs - expected[1]) <= 1
        yield (
            f"| {flips:.0%} | {green:.3f} | {found.pairs:.0f} | {once:.3f} |",
            held and abs(once - expected[2]) <= 0.02,
        )


def restarted(_: int) -> Iterator[tuple[str, bool]]:
    """Yield how often a judge at its tolerance passes that is planned anew after every look that did not: exact."""
    yield f"| plans, one after the other | {' | '.join(f'{flips:.0%} flips' for flips in NOISE)} |", True
    series = {"25, 50, 100, 200": (25, 50, 100, 200), "25, 50, 100, 200, 400": (25, 50, 100, 200, 400)}
    for name, looks in series.items():
        alone = tuple((look, ALPHA) for look in looks)
        found = [sequential_outcome(alone, TOLERANCE, flips, TOLERANCE).passes for flips in NOISE]
        yield f"| {name}, each with the whole error | {' | '.join(f'{each:.3f}' for each in found)} |", True
    one = planned_levels((25, 50, 100, 200), 200, ALPHA)
    open_ended = one[:2]
    plans = {
        "[25, 50, 100, 200], then [400] with the whole error": (*one, (400, ALPHA)),
        "[25, 50, 100, 200], then [400] with what is left": (*one, *levels_left(dict(one), [400], 400, ALPHA)),
        "[25, 50, 100, 200] up to 50, then [400] with what is left": (
            *open_ended,
            *levels_left(dict(open_ended), [400], 400, ALPHA),
        ),
        "[25], [50], [100], [200], [400] with what is left": anew((25, 50, 100, 200, 400)),
    }
    for name, steps in plans.items():
        found = [sequential_outcome(steps, TOLERANCE, flips, TOLERANCE).passes for flips in NOISE]
        yield (
            f"| {name} | {' | '.join(f'{each:.3f}' for each in found)} |",
            "left" not in name or max(found) <= MOST_PASS,
        )


def anew(looks: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """Return looks of which each is a plan of its own, with the levels that those before it left."""
    decided: dict[int, float] = {}
    for look in looks:
        decided |= dict(levels_left(decided, [look], look, ALPHA) if decided else ((look, ALPHA),))
    return tuple(decided.items())


TABLES: dict[str, Callable[[int], Iterator[tuple[str, bool]]]] = {
    "verdicts": verdicts,
    "clusters": clusters,
    "scores": scores,
    "peeking": peeking,
    "re-recording": rerecording,
    "advice": follow,
    "whole": whole,
    "advised": planned_whole,
    "restarted": restarted,
}


def main() -> None:
    """Print the tables of benchmarks/results.md; a row that does not hold ends in "!"."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="", help="the tables whose name holds this")
    asked = parser.parse_args()
    wrong = 0
    for name, rows in ((name, rows) for name, rows in TABLES.items() if asked.only in name):
        sys.stdout.write(f"\n{name}, {asked.runs} runs a row\n")
        for line, held in rows(asked.runs):
            wrong += not held
            sys.stdout.write(f"{line}{'' if held else ' !'}\n")
            sys.stdout.flush()
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
