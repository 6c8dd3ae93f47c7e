"""How often a judge is said to agree with people as well as they agree with each other, or less.

    python benchmarks/people.py [--runs 20000]

People label every example, right in 85%. The judge is as good, better by 5 points, right in 74% (its kappa is lower by
0.15), or exactly at the margin of 0.05. Differences and intervals are the package's own; the last rows go through
`gate_as_people` itself.
Exit code 1 where a figure is not that of benchmarks/results.md within 0.02.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import numpy as np

from judgefixtures.statistics.annotators import ASSUMED_ACCURACY, difference_from_people, gate_as_people, people_chances

JUDGES = {"equal": 0.85, "better by .05": 0.90, "kappa lower by .15": 0.74, "at the margin": 0.85 - 0.05 / 0.7}
# As published: "as well" / "less", and of the judge at the margin "as well" alone.
EXPECTED: dict[tuple[int, int], tuple[tuple[float, float], tuple[float, float], tuple[float, float], float | None]] = {
    (2, 100): ((0.33, 0.04), (0.69, 0.00), (0.01, 0.41), 0.064),
    (2, 400): ((0.74, 0.05), (0.99, 0.00), (0.01, 0.91), 0.058),
    (3, 100): ((0.43, 0.03), (0.82, 0.00), (0.02, 0.53), 0.065),
    (3, 200): ((0.63, 0.04), (0.98, 0.00), (0.01, 0.83), 0.068),
    (3, 400): ((0.86, 0.04), (1.00, 0.00), (0.00, 0.98), 0.053),
    (5, 400): ((0.93, 0.04), (1.00, 0.00), (0.00, 0.99), None),
}


def drawn(people: int, examples: int, judge: float, accuracy: float, rng: np.random.Generator) -> str:
    """Return what `gate_as_people` says of examples that are drawn one by one, labels with both answers."""
    truth = rng.random(examples) < 0.5
    labels = np.where(rng.random((examples, people)) < accuracy, truth[:, None], ~truth[:, None])
    grades = np.where(rng.random(examples) < judge, truth, ~truth)
    names = {True: "pass", False: "fail"}
    differences = [
        difference_from_people(names[bool(grade)], [names[bool(each)] for each in row])
        for grade, row in zip(grades, labels, strict=True)
    ]
    return gate_as_people(differences).status.value


def main() -> None:
    """Print the table of benchmarks/results.md; a row that does not hold ends in "!"."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20_000)
    runs, wrong = parser.parse_args().runs, 0
    sys.stdout.write(f"| people | examples | {' | '.join(JUDGES)} |\n|---|---|{'---|' * len(JUDGES)}\n")
    for (people, examples), (*pairs, at_margin) in EXPECTED.items():
        chances = [people_chances(people, examples, judge, runs=runs) for judge in JUDGES.values()]
        # "less" beside "as well" where both bounds hold is "slightly less, within the margin": counted as "as well".
        held = all(
            abs(seen - wanted) <= 0.02
            for found, expected in zip(chances, pairs, strict=False)
            for seen, wanted in zip(found, expected, strict=True)
        ) and (at_margin is None or abs(chances[-1][0] - at_margin) <= 0.02)
        wrong += not held
        cells = " | ".join(f"{well:.3f} / {less:.3f}" for well, less in chances)
        sys.stdout.write(f"| {people} | {examples} | {cells} |{'' if held else ' !'}\n")
    sys.stdout.write(f"\nthe gate itself, {min(runs // 6, 500)} runs\n")
    for people, examples, judge in ((2, 100, "equal"), (3, 100, "at the margin"), (3, 200, "kappa lower by .15")):
        rng = np.random.default_rng([people, examples])
        found = Counter(
            drawn(people, examples, JUDGES[judge], ASSUMED_ACCURACY, rng) for _ in range(min(runs // 6, 500))
        )
        sys.stdout.write(f"| {people} | {examples} | {judge} | {dict(found)} |\n")
    sys.stdout.write("\npeople who hardly ever differ (right in 99.9%), a judge that is wrong in 5%: at the margin\n")
    for examples in (50, 60, 100, 200, 400):
        rng = np.random.default_rng(examples)
        passed = sum(drawn(2, examples, 0.9501, 0.999, rng) == "PASS" for _ in range(min(runs // 6, 500))) / (
            min(runs // 6, 500)
        )
        sys.stdout.write(f"| 2 | {examples} | as well: {passed:.3f} |\n")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
