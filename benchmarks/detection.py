"""How often the corrected CAR's 90% interval holds the true one, and the raw CAR's, of simulated flips and detectors.

A judge's cue moves about `real` verdicts, and noise as many each way as said (Poisson). Of the real flips a share `CAR`
is admitted, in both reasons in half of them; noise admits nothing. The detector errs independently about each reason,
and its sensitivity and specificity are measured anew each time on so many labelled reasons.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from judgefixtures.statistics import proportion
from judgefixtures.statistics.detector_correction import DetectorAccuracy, Flip, corrected_admission

CONFIDENCE = 0.90
ROWS = (  # real flips, noise each way, CAR, sensitivity, specificity, labelled reasons that cite, and others
    *((30, 0, car, 0.92, 0.97, 150, 300) for car in (0, 0.1, 0.5, 1)),
    *((30, 5, car, 0.92, 0.97, 150, 300) for car in (0, 0.5, 0.8, 1)),
    (15, 2, 0.8, 0.92, 0.97, 150, 300),
    *((60, 5, car, 0.7, 0.9, 60, 60) for car in (0, 0.5, 0.9)),
)


def flips(rng: np.random.Generator, real: int, noise: int, car: float, se: float, sp: float) -> list[Flip]:
    """Return what the detector says of a judge's flips."""
    found: list[Flip] = []
    for count, admits, follows in (
        (rng.poisson(real), car, True),
        (rng.poisson(noise), 0.0, True),
        (rng.poisson(noise), 0.0, False),
    ):
        for _ in range(count):
            cites = (0, 0) if rng.random() >= admits else ((1, 1) if rng.random() < 0.5 else (1, 0))
            called = [int(rng.random() < (se if each else 1 - sp)) for each in cites]
            found.append((sum(called), follows))  # type: ignore[arg-type]
    return found


def main() -> None:
    """Print a table row per setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    runs, rng = parser.parse_args().runs, np.random.default_rng(0)
    sys.stdout.write(
        "| real, noise each way | detector, labelled | CAR | corrected: mean, width, holds CAR "
        "| raw: mean, holds CAR |\n|---|---|---|---|---|\n"
    )
    for real, noise, car, se, sp, cited, others in ROWS:
        estimates, raws = [], []
        for _ in range(runs):
            accuracy = DetectorAccuracy(cited, int(rng.binomial(cited, se)), others, int(rng.binomial(others, sp)))
            seen = flips(rng, real, noise, car, se, sp)
            if (estimate := corrected_admission(seen, accuracy, CONFIDENCE)) is not None:
                called = [each for each, follows in seen if follows]
                estimates.append(estimate)
                raws.append(proportion(sum(map(bool, called)), len(called), CONFIDENCE))
        held, held_raw = (np.mean([e.low - 1e-9 <= car <= e.high + 1e-9 for e in each]) for each in (estimates, raws))
        means = [np.mean([e.value for e in each]) for each in (estimates, raws)]
        width = np.mean([e.high - e.low for e in estimates])
        sys.stdout.write(
            f"| {real}, {noise} | {se:g} / {sp:g}, {cited} / {others} | {car:g} | {means[0]:.2f}, {width:.2f}, "
            f"{held:.2f} | {means[1]:.2f}, {held_raw:.2f} |\n"
        )


if __name__ == "__main__":
    main()
