"""Can the house pairs show a bias? A simulated judge with a latent cue effect, on the close sets and on the clear ones.

The judge chooses by chance: the log odds of choosing response 1 are the pair's latent difference, read off the blind
readings, plus the effect where the label that is expected to win stands on response 1, minus it where it stands on the
other. Each run draws every verdict anew and is gated as `pytest -k recency` gates it, at 100 pairs and the default
tolerance. Run: python benchmarks/sensitivity.py
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

from judgefixtures.config import GateTable
from judgefixtures.material.pairs import sampled
from judgefixtures.numbers.statistics import Status, gate_shift
from judgefixtures.simulator.behaviour import prefers_first
from judgefixtures.simulator.preferences import differences
from judgefixtures.sources import Source, read_pairs

SETS = ("house-close", "house-close-stories", "house-qa", "house-stories")
EFFECTS = (0.0, 0.2, 0.4, 0.8)
PAIRS = 100
LABELS = (("new", "old"), ("old", "new"))


def shares(name: str, effect: float, runs: int, pairs: int = PAIRS) -> dict[Status, float]:
    """Return how often a gate of the default tolerance says what about such a judge."""
    gate, latent = GateTable(), differences(name)
    asked = [latent[pair.id] for pair in sampled(read_pairs(Source(name).file, Source(name)), 0)[:pairs]]
    found: Counter[Status] = Counter()
    for run in range(runs):
        draw = random.Random(f"{name} {effect} {run}").random
        moves = Counter(
            tuple(prefers_first(difference, labels, effect, draw()) for labels in LABELS) for difference in asked
        )
        result = gate_shift(moves[True, False], moves[False, True], len(asked), gate.vsr_tolerance, gate.alpha)
        found[result.status] += 1
    return {status: found[status] / runs for status in (Status.PASS, Status.FAIL, Status.INCONCLUSIVE)}


def main() -> None:
    """Print the table of docs/statistics.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    print(f"| PASS / FAIL / INCONCLUSIVE of {runs} runs | " + " | ".join(f"effect {each:g}" for each in EFFECTS) + " |")  # noqa: T201
    print("|---" * (len(EFFECTS) + 1) + "|")  # noqa: T201
    for name in SETS:
        cells = (" / ".join(f"{share:.2f}" for share in shares(name, effect, runs).values()) for effect in EFFECTS)
        print(f"| {name} | " + " | ".join(cells) + " |")  # noqa: T201


if __name__ == "__main__":
    main()
