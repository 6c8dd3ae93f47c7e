"""Can the house sets show a bias? A simulated judge with a latent cue effect, on the close sets and on the clear ones.

The judge chooses by chance: the log odds of choosing response 1 are the pair's latent difference, read off the blind
readings, plus the effect where the label that is expected to win stands on response 1, minus it where it stands on the
other. A judge of one response passes an example with the log odds of its readers plus the effect, or minus it. Each
run draws every verdict anew and is gated as `pytest -k recency` gates it, at 100 pairs (120 examples, all of a set) and
the default tolerance. Run: python benchmarks/sensitivity.py
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence

from judgefixtures.config import GateTable
from judgefixtures.models.pairs import sample_order
from judgefixtures.simulator.behaviour import prefers_first
from judgefixtures.simulator.graders import passes_with_draw
from judgefixtures.simulator.merits import house_log_odds
from judgefixtures.simulator.preferences import latent_differences
from judgefixtures.sources import Source, read_pairs
from judgefixtures.statistics import Status, gate_shift

SETS = ("house-close", "house-close-stories", "house-qa", "house-stories")
EXAMPLES = ("house-answers", "house-graded")
EFFECTS = (0.0, 0.2, 0.4, 0.8)
PAIRS = 100
LABELS = (("new", "old"), ("old", "new"))
Draw = Callable[[], float]
Arms = tuple[bool, bool]


def shares(name: str, effect: float, runs: int, pairs: int = PAIRS) -> dict[Status, float]:
    """Return how often a gate of the default tolerance says what about such a judge."""
    latent = latent_differences(name)
    asked = [latent[pair.id] for pair in sample_order(read_pairs(Source(name).file, Source(name)), 0)[:pairs]]

    def arms(difference: float, draw: Draw) -> Arms:
        first, second = (prefers_first(difference, labels, effect, draw()) for labels in LABELS)
        return first, second

    return _gated(f"{name} {effect}", asked, arms, runs)


def grader_shares(name: str, effect: float, runs: int, examples: int | None = None) -> dict[Status, float]:
    """Return how often a gate of the default tolerance says what about such a judge of one response."""

    def arms(odds: float, draw: Draw) -> Arms:
        return passes_with_draw(odds + effect, draw()), passes_with_draw(odds - effect, draw())

    return _gated(f"{name} {effect}", house_log_odds(name)[:examples], arms, runs)


def _gated(seed: str, asked: Sequence[float], arms: Callable[[float, Draw], Arms], runs: int) -> dict[Status, float]:
    """Return how often a gate says what, where each run draws the two outcomes of every latent value anew."""
    gate, found = GateTable(), Counter[Status]()
    for run in range(runs):
        draw = random.Random(f"{seed} {run}").random
        moves = Counter(arms(latent, draw) for latent in asked)
        result = gate_shift(moves[True, False], moves[False, True], len(asked), gate.vsr_tolerance, gate.alpha)
        found[result.status] += 1
    return {status: found[status] / runs for status in (Status.PASS, Status.FAIL, Status.INCONCLUSIVE)}


def main() -> None:
    """Print the table of benchmarks/results.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    runs = parser.parse_args().runs
    print(f"| PASS / FAIL / INCONCLUSIVE of {runs} runs | " + " | ".join(f"effect {each:g}" for each in EFFECTS) + " |")  # noqa: T201
    print("|---" * (len(EFFECTS) + 1) + "|")  # noqa: T201
    for name in SETS + EXAMPLES:
        gated = grader_shares if name in EXAMPLES else shares
        cells = (" / ".join(f"{share:.2f}" for share in gated(name, effect, runs).values()) for effect in EFFECTS)
        print(f"| {name} | " + " | ".join(cells) + " |")  # noqa: T201


if __name__ == "__main__":
    main()
