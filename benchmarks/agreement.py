"""How often the gates of agreement err and decide: every table of labels and grades counted.

    python benchmarks/agreement.py [--sizes 50,100,200,400] [--runs 600]

A judge whose kappa is exactly the limit and that PASSes is an error, allowed in 5%: by prevalence of pass among the
labels, and for judges that pass as many as people do or 10 points more (lenient). Beside the package's test that of the
delta method (Fleiss, Cohen and Everitt 1969). Then power, TPR and TNR, and how many labels it takes. Related examples
and calibration are simulated. Exit code 1 where a bound does not hold.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc
from scipy.stats import binom

from judgefixtures.statistics import (
    FEWEST_OF_A_CLASS,
    AgreementLimits,
    TwoByTwo,
    brier_score,
    calibration_error,
    cluster_totals,
    format_share,
    kappa_z,
    labels_for_power,
    pass_chance,
)
from judgefixtures.statistics.elementary import z_quantile

SIZES, LIMITS, LEANINGS = (50, 100, 200, 400), (0.2, 0.4, 0.6, 0.8), (0.0, 0.1)
WORLDS = ("calibrated, anywhere", "calibrated, .03 or .97", "says .03 or .97, is .15 or .85", "10 points too lenient")
PREVALENCES = tuple(each / 10 for each in range(1, 10))
LARGEST_MEAN, LARGEST_CELL, LEAST_POWER = 0.055, 0.08, 0.78
Z = z_quantile(0.95)

Chances = NDArray[np.float64]
Test = Callable[[TwoByTwo, float], float]  # z against a limit
Frontier = Mapping[int, list[int]]  # by positives: the most fp with which each number of fn, from 0 on, passes


def delta_z(table: TwoByTwo, limit: float) -> float:
    """Return z of the delta method, whose variance is the one at what was seen."""
    n, kappa = table.n, table.kappa
    if math.isnan(kappa):
        return 0.0
    cells = [[table.tp / n, table.fn / n], [table.fp / n, table.tn / n]]
    rows, columns = [sum(row) for row in cells], [sum(column) for column in zip(*cells, strict=True)]
    chance = sum(a * b for a, b in zip(rows, columns, strict=True))
    agreed = sum(cells[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in (0, 1))
    differed = sum(cells[i][j] * (columns[i] + rows[j]) ** 2 for i, j in ((0, 1), (1, 0))) * (1 - kappa) ** 2
    variance = (agreed + differed - (kappa - chance * (1 - kappa)) ** 2) / (n * (1 - chance) ** 2)
    return math.copysign(math.inf, kappa - limit) if variance <= 0 else (kappa - limit) / math.sqrt(variance)


def frontier(n: int, limit: float, test: Test = kappa_z) -> Frontier:
    """Return which tables of n labels pass: the more errors of one kind the fewer of the other may be."""
    found: dict[int, list[int]] = {}
    for positives in range(FEWEST_OF_A_CLASS, n - FEWEST_OF_A_CLASS + 1):
        negatives, most = n - positives, []

        def fails(fp: int, fn: int = 0, positives: int = positives, negatives: int = negatives) -> bool:
            return not test(TwoByTwo(positives - fn, fn, fp, negatives - fp), limit) > Z

        fp = bisect_left(range(negatives + 1), True, key=fails) - 1
        for fn in range(positives + 1):
            while fp >= 0 and fails(fp, fn):
                fp -= 1
            if fp < 0:
                break
            most.append(fp)
        found[positives] = most
    return found


def rates_of(kappa: float, prevalence: float, lean: float) -> tuple[float, float] | None:
    """Return TPR and TNR of a judge with this kappa that passes so much more than people do; None if there is none."""
    passed = prevalence + lean
    if not 0 < passed < 1:
        return None
    both = prevalence * passed + kappa * (prevalence + passed - 2 * prevalence * passed) / 2
    tpr, fpr = both / prevalence, (passed - both) / (1 - prevalence)
    return (tpr, 1 - fpr) if tpr <= 1 and fpr >= 0 else None


def passing(found: Frontier, n: int, prevalence: float, rates: tuple[float, float]) -> float:
    """Return how likely a judge with these rates passes, with labels drawn at this prevalence."""
    chance = 0.0
    for positives, most in found.items():
        if most:
            missed = binom.pmf(np.arange(len(most)), positives, 1 - rates[0])
            chance += binom.pmf(positives, n, prevalence) * float(missed @ bdtr(most, n - positives, 1 - rates[1]))
    return chance


def shown(chance: float | None) -> str:
    """Return a probability in a cell."""
    return "-" if chance is None else f"{chance:.3f}".removeprefix("0")


def sizes_of_kappa(sizes: tuple[int, ...], wrong: list[str]) -> Iterator[str]:
    """Yield how often judges at the limit PASS; `wrong` takes what does not hold."""
    tests: dict[str, Test] = {"likelihood ratio": kappa_z, "delta method": delta_z}
    heads = " | ".join(f"{format_share(each, 1)}" for each in PREVALENCES)
    grid = [f"| limit | labels | judge | {heads} |", f"|---|---|---|{'---|' * len(PREVALENCES)}"]
    rows = ["| test | limit | " + " | ".join(f"{n} labels" for n in sizes) + " |", f"|---|---|{'---|' * len(sizes)}"]
    every = []
    for name, test in tests.items():
        for limit in LIMITS:
            cells = []
            for n in sizes:
                found, errors = frontier(n, limit, test), []
                for lean in LEANINGS:
                    judges = [(each, rates_of(limit, each, lean)) for each in PREVALENCES]
                    line = [passing(found, n, prevalence, rates) if rates else None for prevalence, rates in judges]
                    errors += [each for each in line if each is not None]
                    if test is kappa_z:
                        said = "lenient" if lean else "unbiased"
                        grid.append(f"| {format_share(limit, 1)} | {n} | {said} | {' | '.join(map(shown, line))} |")
                mean, largest = sum(errors) / len(errors), max(errors)
                cells.append(f"{shown(mean)}, {shown(largest)}")
                if test is kappa_z:
                    every += errors
                    if largest > LARGEST_CELL or mean > LARGEST_MEAN:
                        wrong.append(f"limit {limit}, {n} labels: mean {mean:.3f}, largest {largest:.3f}")
            rows.append(f"| {name} | {format_share(limit, 1)} | {' | '.join(cells)} |")
    yield "\nPASS of a judge whose kappa is the limit: mean and largest over prevalences, unbiased and lenient"
    yield from rows
    yield f"mean of all cells {shown(sum(every) / len(every))}, largest {shown(max(every))}"
    yield "\nby prevalence"
    yield from grid


def power_of_kappa(sizes: tuple[int, ...], wrong: list[str]) -> Iterator[str]:
    """Yield how often judges above the limit PASS."""
    yield "\nPASS at min_kappa = .60, by true kappa and prevalence (lenient: at .5)"
    yield "| labels | .70, .5 | .80, .5 | .80, lenient | .80, .3 | .80, .1 | .90, .5 |"
    yield "|---|---|---|---|---|---|---|"
    judges = ((0.7, 0.5, 0.0), (0.8, 0.5, 0.0), (0.8, 0.5, 0.1), (0.8, 0.3, 0.0), (0.8, 0.1, 0.0), (0.9, 0.5, 0.0))
    for n in sizes:
        found = frontier(n, 0.6)
        chances = []
        for kappa, prevalence, lean in judges:
            rates = rates_of(kappa, prevalence, lean)
            assert rates is not None
            chances.append(passing(found, n, prevalence, rates))
        if n == 100 and chances[1] < LEAST_POWER:
            wrong.append(f"power at kappa .80 with 100 labels: {chances[1]:.3f}")
        yield f"| {n} | {' | '.join(map(shown, chances))} |"


def rates_of_classes() -> Iterator[str]:
    """Yield how often a judge passes a limit of TNR by the exact bound, and by its mere share (half of n are fail)."""
    yield "\nPASS at min_tnr = .80, by true TNR, half of the labels fail: this gate / the share alone"
    yield "| labels | .70 | .80 | .85 | .90 | .95 |"
    yield "|---|---|---|---|---|---|"
    limits = AgreementLimits(tnr=0.8)
    for n in (30, 50, 100, 200, 400):
        half = n // 2
        least = math.ceil(0.8 * half - 1e-9)
        cells = [
            f"{shown(pass_chance(n - half, half, 0.9, rate, limits))} / {shown(float(bdtrc(least - 1, half, rate)))}"
            for rate in (0.7, 0.8, 0.85, 0.9, 0.95)
        ]
        yield f"| {n} | {' | '.join(cells)} |"


def needs() -> Iterator[str]:
    """Yield how many labels a good judge takes."""
    limits = {
        "min_tpr = .80": AgreementLimits(tpr=0.8),
        "min_tpr and min_tnr = .80": AgreementLimits(tpr=0.8, tnr=0.8),
        "min_accuracy = .80": AgreementLimits(accuracy=0.8),
        "min_kappa = .60": AgreementLimits(kappa=0.6),
        "all of these": AgreementLimits(tpr=0.8, tnr=0.8, accuracy=0.8, kappa=0.6),
        "min_tpr and min_tnr = .90": AgreementLimits(tpr=0.9, tnr=0.9),
    }
    yield "\nlabels with which a judge with these TPR and TNR passes in 80%, by the share of labels that are pass"
    yield "| limits | .90, half | .90, .8 | .95, half | .95, .8 |"
    yield "|---|---|---|---|---|"
    for name, limit in limits.items():
        found = [
            labels_for_power(share, rate, rate, limit, largest=4000) for rate in (0.9, 0.95) for share in (0.5, 0.8)
        ]
        yield f"| {name} | {' | '.join('never' if each is None else str(each) for each in found)} |"


def related(runs: int) -> Iterator[str]:
    """Yield how often a judge at the limit PASSes where examples are related, in clusters of 1 to 7.

    An example takes over what is common to its cluster, its label and its grade, with probability sqrt(ICC).
    """
    yield f"\nPASS of a judge whose kappa is the limit of .60, {runs} runs, clusters heeded / ignored"
    yield "| clusters | pass | ICC 0 | ICC .3 | ICC .9 |"
    yield "|---|---|---|---|---|"
    for clusters, prevalence in ((15, 0.5), (15, 0.8), (30, 0.5), (30, 0.8), (60, 0.5), (60, 0.8)):
        cells = [related_passes(clusters, prevalence, icc, runs) for icc in (0.0, 0.3, 0.9)]
        said = " | ".join(f"{shown(heeded)} / {shown(ignored)}" for heeded, ignored in cells)
        yield f"| {clusters} | {format_share(prevalence, 1)} | {said} |"


def related_passes(clusters: int, prevalence: float, icc: float, runs: int) -> tuple[float, float]:
    """Return how often such a judge PASSes with its clusters heeded and ignored."""
    rng, passes = random.Random(f"{clusters} {prevalence} {icc}"), [0, 0]
    tpr, tnr = rates_of(0.6, prevalence, 0.0) or (0.0, 0.0)
    kinds = ("tp", "fn", "fp", "tn")
    weights = (prevalence * tpr, prevalence * (1 - tpr), (1 - prevalence) * (1 - tnr), (1 - prevalence) * tnr)
    for _ in range(runs):
        drawn = []
        for cluster in range(clusters):
            common = rng.choices(kinds, weights)[0]
            for _ in range(rng.randint(1, 7)):
                kind = common if rng.random() < icc**0.5 else rng.choices(kinds, weights)[0]
                drawn.append((kind, cluster))
        table = TwoByTwo(*(sum(kind == each for kind, _ in drawn) for each in kinds))
        by_cluster = cluster_totals(
            [float(kind in ("tp", "tn")) for kind, _ in drawn], [cluster for _, cluster in drawn]
        )
        if min(table.positives, table.negatives) >= FEWEST_OF_A_CLASS:
            passes = [
                seen + (kappa_z(table, 0.6, heed) > Z) for seen, heed in zip(passes, (by_cluster, None), strict=True)
            ]
    return passes[0] / runs, passes[1] / runs


def drawn_chances(kind: str, rng: np.random.Generator, n: int) -> tuple[Chances, Chances]:
    """Return what a judge says how likely n passes are, and how likely they are."""
    if kind == WORLDS[0]:
        said = rng.beta(0.4, 0.4, n)
        return said, said
    if kind == WORLDS[-1]:
        true = rng.beta(0.6, 0.6, n)
        return np.clip(true + 0.1, 0, 1), true
    said = np.where(rng.random(n) < 0.5, 0.97, 0.03)
    return said, said if kind == WORLDS[1] else 0.5 + (said - 0.5) * 0.75


def calibrations(runs: int) -> Iterator[str]:
    """Yield how often the 90% intervals of calibration error and Brier score lie above and below the truth."""
    yield f"\nhow often a 90% interval lies above / below what is true, {runs} runs"
    yield "| probabilities | examples | true error | mean error seen | of the error | of the Brier score |"
    yield "|---|---|---|---|---|---|"
    for kind in WORLDS:
        said, true = drawn_chances(kind, np.random.default_rng(0), 1_000_000)
        bins = np.minimum((said * 10).astype(int), 9)
        gaps, squares = np.abs(np.bincount(bins, true - said)), (said - true) ** 2 + true * (1 - true)
        truth = (float(gaps.sum()) / len(said), float(squares.mean()))
        for n in (50, 100, 400):
            rng, outside, seen = np.random.default_rng(n), [0, 0, 0, 0], 0.0
            for _ in range(runs):
                said, true = drawn_chances(kind, rng, n)
                passed = (rng.random(n) < true).tolist()
                found = [each(said.tolist(), passed) for each in (calibration_error, brier_score)]
                ends = [end for each, of in zip(found, truth, strict=True) for end in (each.low > of, each.high < of)]
                outside = [total + end for total, end in zip(outside, ends, strict=True)]
                seen += found[0].value
            shares = [shown(each / runs) for each in outside]
            yield (
                f"| {kind} | {n} | {shown(truth[0])} | {shown(seen / runs)} | {shares[0]} / {shares[1]} | "
                f"{shares[2]} / {shares[3]} |"
            )


def main() -> None:
    """Print the tables of benchmarks/results.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--runs", type=int, default=600)
    asked = parser.parse_args()
    sizes = tuple(map(int, asked.sizes.split(",")))
    wrong: list[str] = []
    kappas = (power_of_kappa(sizes, wrong), related(asked.runs), calibrations(asked.runs), sizes_of_kappa(sizes, wrong))
    for part in (needs(), rates_of_classes(), *kappas):
        for line in part:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    if wrong:
        raise SystemExit("\n".join(["", *wrong]))


if __name__ == "__main__":
    main()
