"""What the gate on other words for a prompt says of judges of which it is known how far the words move them.

A judge answers with noise: each answer is flipped with a probability. A wording moves it in some pairs: always the same
ones for all of its wordings ("alike"), or others with each ("apart"). `excess` is how much more often an answer then
differs between two wordings than between two runs, and `noise` how often two runs differ. The rule is the package's own
(`excess_flips` per pair, then `gate_excess`).

`--rules` shows all rules of the gate together, with two wordings and both limits at .10: the excess, and of each
wording its shift and, with two runs, its squared change. Close pairs have probability .5, the others .97 or .03.
Wordings move no pair ("same"), all close pairs to 1 ("up"), one of them up and one down ("opposite"), one alone
("one"), or each half of them to 1 and half to 0 ("split"). "Today" is the excess with one run alone. Beside the
package's score test stand normal intervals: they PASS more often with 100 pairs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np

from judgefixtures.statistics import wordings as scores_of
from judgefixtures.statistics.clusters import scored_units
from judgefixtures.statistics.elementary import lower_tail, upper_tail, z_quantile
from judgefixtures.statistics.estimate import Status, worst_status
from judgefixtures.statistics.gates import combine_one_sided_tests, gate_excess
from judgefixtures.statistics.wordings import FAR

TOLERANCE, WORDINGS, RUNS = 0.10, 3, 2000
FLIPS, SIZES, EXCESS = (0.0, 0.02, 0.05, 0.10, 0.20), (60, 100, 200), (0.0, 0.10, 0.20)
CLUSTER = 4  # pairs
Decisions = tuple[float, float]  # the shares of PASS and of FAIL


def noise_of(flips: float) -> float:
    """Return with which probability an answer is flipped where two runs differ in so many: 2 p (1 - p)."""
    return (1 - (1 - 2 * flips) ** 0.5) / 2


def drawn(
    rng: np.random.Generator, pairs: int, flips: float, excess: float, *, alike: bool, related: bool = False
) -> np.ndarray:
    """Return by pair how much more often a judge's answer flips with other words than from one run to the next.

    Between two wordings of which one moves a pair its answers differ unless noise undoes it, so that the excess is
    moved * (1 - flips * 2): two answers differ by noise in `flips` of the pairs.
    """
    noise, moved = noise_of(flips), excess / (1 - 2 * flips)
    units = pairs // CLUSTER if related else pairs
    chance = rng.random((units, 1 if alike else WORDINGS))
    turned = np.broadcast_to(np.repeat(chance < moved, CLUSTER if related else 1, axis=0), (pairs, WORDINGS))
    own, again = (rng.random(pairs) < noise for _ in range(2))
    reworded = (rng.random((pairs, WORDINGS)) < noise) ^ turned
    return np.asarray((reworded != own[:, None]).mean(axis=1) - (own != again), dtype=float)


def decisions(pairs: int, flips: float, excess: float, runs: int, *, alike: bool, related: bool = False) -> Decisions:
    """Return how often the gate says PASS, and how often FAIL."""
    rng = np.random.default_rng([pairs, round(1000 * flips), round(1000 * excess), alike, related])
    labels = [number // CLUSTER for number in range(pairs)] if related else None
    said = [
        gate_excess(drawn(rng, pairs, flips, excess, alike=alike, related=related).tolist(), TOLERANCE, 0.05, labels)
        for _ in range(runs)
    ]
    return tuple(sum(each.status is status for each in said) / runs for status in (Status.PASS, Status.FAIL))  # type: ignore[return-value]


def rows(runs: int) -> Iterator[str]:
    """Yield the lines of the table: a row per excess, noise and number of pairs."""
    yield "| excess | noise | moved pairs | " + " | ".join(f"{size} pairs" for size in SIZES) + " |"
    yield "|---|---|---|" + "---|" * len(SIZES)
    for excess in EXCESS:
        for flips in FLIPS:
            for alike in (True, False) if excess else (True,):
                found = [decisions(size, flips, excess, runs, alike=alike) for size in SIZES]
                cells = [f"{passed:.3f} / {failed:.3f}" for passed, failed in found]
                how = "-" if not excess else "alike" if alike else "apart"
                yield f"| {excess:.2f} | {flips:.2f} | {how} | {' | '.join(cells)} |"
    yield ""
    yield f"in clusters of {CLUSTER}, the words moving whole clusters alike:"
    for excess, flips in ((0.0, 0.10), (0.10, 0.0), (0.10, 0.10), (0.20, 0.05)):
        found = [decisions(size, flips, excess, runs, alike=True, related=True) for size in SIZES]
        cells = [f"{passed:.3f} / {failed:.3f}" for passed, failed in found]
        yield f"| {excess:.2f} | {flips:.2f} | clusters | {' | '.join(cells)} |"


# --- all rules together ------------------------------------------------------------------------------------------

RULE_ROWS = (
    *((100, 0.1, "same"), (100, 0.2, "same"), (100, 0.3, "same"), (200, 0.3, "same"), (400, 1.0, "same")),
    *((100, 0.2, "one"), (200, 0.3, "up"), (200, 0.3, "opposite")),
    *((200, 0.86, "up"), (200, 0.86, "opposite"), (200, 0.86, "one"), (200, 0.86, "split")),
)
LIMIT, ALPHA, TWO = 0.10, 0.05, 2
Tests = list[tuple[np.ndarray, bool, float]]  # scores by run and pair, whether both sides count, the level of a FAIL
CHANCES = {"same": (0.5, 0.5), "up": (1.0, 1.0), "opposite": (1.0, 0.0), "one": (1.0, 0.5), "split": (None, None)}


def tests_of(rng: np.random.Generator, pairs: int, close: float, kind: str, runs: int, repeats: int) -> Tests:
    """Return the scores that each rule tests, of so many simulated recordings with one or two runs of each wording."""
    likely = np.where(rng.random((runs, pairs)) < 0.5, FAR, 1 - FAR)
    count = round(close * pairs)
    likely[:, :count] = 0.5
    own, again = ((rng.random((runs, pairs)) < likely).astype(float) for _ in range(2))
    wordings = []
    for chance in CHANCES[kind]:
        moved = likely.copy()
        moved[:, :count] = (np.arange(count) % 2) if chance is None else chance
        wordings.append([(rng.random((runs, pairs)) < moved).astype(float) for _ in range(repeats)])
    found: Tests = [(np.mean([scores_of.excess(own, again, each) for each in wordings], axis=0), False, ALPHA)]
    for each in wordings:
        found.append((scores_of.shift(own, again, each), True, ALPHA / TWO))
        if repeats == TWO:
            found.append((scores_of.change(own, again, each), False, ALPHA / TWO))
    return found


def by_normal(tests: Tests) -> Decisions:
    """Return the shares of PASS and FAIL with mean +- z standard errors."""
    passed, failed = True, False
    for scores, both_sides, level in tests:
        mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / scores.shape[1] ** 0.5
        distance = abs(mean) if both_sides else mean
        passed = passed & (distance + z_quantile(1 - ALPHA) * error < LIMIT)
        failed = failed | (distance - z_quantile(1 - level) * error > LIMIT)
    return float(np.mean(passed)), float(np.mean(failed & ~passed))


def by_gate(tests: Tests) -> Decisions:
    """Return the shares of PASS and FAIL with the package's score test."""
    decided = []
    for run in range(len(tests[0][0])):
        statuses = []
        for scores, both_sides, level in tests:
            units = scored_units(Counter(scores[run].tolist()), 1.0, None)
            high, low = units.z(LIMIT), units.z(-LIMIT) if both_sides else float("inf")
            ends = max(lower_tail(high), upper_tail(low)), min(upper_tail(high), lower_tail(low))
            statuses.append(combine_one_sided_tests(*ends, ALPHA, None, level)[0])
        decided.append(worst_status(*statuses))
    return decided.count(Status.PASS) / len(decided), decided.count(Status.FAIL) / len(decided)


def rule_rows(runs: int) -> Iterator[str]:
    """Yield the lines of the table of all rules: PASS / FAIL, by the gate and with normal intervals."""
    heads = ("today", "one run each", "two runs each")
    yield "| pairs | share close | wordings | " + " | ".join(f"{each}: gate | normal" for each in heads) + " |"
    yield "|---|---|---|" + "---|" * 2 * len(heads)
    for number, (pairs, close, kind) in enumerate(RULE_ROWS):
        once, twice = (
            tests_of(np.random.default_rng([number, repeats]), pairs, close, kind, runs, repeats) for repeats in (1, 2)
        )
        cells = [
            f"{passed:.2f} / {failed:.2f}"
            for tests in (once[:1], once, twice)
            for passed, failed in (by_gate(tests), by_normal(tests))
        ]
        yield f"| {pairs} | {close:g} | {kind} | {' | '.join(cells)} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated runs per cell")
    parser.add_argument("--rules", action="store_true", help="the table of all rules together, with two wordings")
    options = parser.parse_args()
    for line in (rule_rows if options.rules else rows)(options.runs):
        print(line, flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
