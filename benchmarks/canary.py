"""How often the canary cries without a change, and after how many runs it does with one.

A judge has a usual verdict on each of 20 close and 40 clear prompts, and gives the other one with the chance `noise`,
each time anew. Recorded is one answer to each prompt, as a default recording has it, or three. Every run brings one
answer to each prompt. A change turns the usual verdict on some prompts, before the first run or after 30 runs. "A new
model" turns 8 of the close and 3 of the clear ones, 18%, as the judges of W4 in docs/swap.md differ. Evidence is the
package's own: `drift.evidence` and `drift.total`.

Exit code 1 where more than 1% of the histories without a change have an alarm, or less than 90% of those with a new
model have one within 10 runs: at up to 2% noise, and at 5% but where one answer was recorded and the change came first.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judgefixtures.canary.drift import Stream, evidence, total

CLOSE, CLEAR = 20, 40
ALARM = math.log(100)
RECORDED = 1
QUIET_RUNS, PATIENCE, RUNNING = 90, 60, 30
Laws = Sequence[float]  # the chance of answering "1", per prompt


@dataclass(frozen=True, slots=True)
class Change:
    """How many usual verdicts turn among the close and the clear prompts."""

    name: str
    close: int
    clear: int


CHANGES = (Change("a new model: 18% turn", 8, 3), Change("10% turn", 3, 3), Change("5% turn", 2, 1))


def usual(rng: random.Random, noise: float) -> list[float]:
    """Return the laws of a judge that gives its usual verdict but for noise."""
    return [noise if rng.random() < 0.5 else 1 - noise for _ in range(CLOSE + CLEAR)]


def anything(rng: random.Random) -> list[float]:
    """Return laws that may be anything between always and never."""
    return [rng.random() for _ in range(CLOSE + CLEAR)]


def turned(rng: random.Random, laws: Laws, change: Change) -> list[float]:
    """Return the laws after a change."""
    moved = {*rng.sample(range(CLOSE), change.close), *rng.sample(range(CLOSE, CLOSE + CLEAR), change.clear)}
    return [1 - law if place in moved else law for place, law in enumerate(laws)]


def alarm_at(
    rng: random.Random, runs: int, before: Laws, after: Laws, change: int, recorded: int = RECORDED
) -> int | None:
    """Return the run at which the canary cries; the laws are those of `after` from run `change` + 1 on. None: never."""

    def draws(law: float, count: int) -> str:
        return "".join("1" if rng.random() < law else "2" for _ in range(count))

    first = [draws(law, recorded) for law in before]
    later: list[list[str]] = [[] for _ in before]
    log_e_values = []
    for run in range(1, runs + 1):
        for answers, law in zip(later, after if run > change else before, strict=True):
            answers.append(draws(law, 1))
        streams = [Stream(one, tuple(others)) for one, others in zip(first, later, strict=True)]
        log_e_values.append(evidence(streams))
        if total(log_e_values) >= ALARM:
            return run
    return None


def false_alarms(judge: Callable[[random.Random], Laws], histories: int, runs: int, seed: int = 0) -> int:
    """Return in how many histories without a change the canary cries."""
    rng = random.Random(seed)
    return sum(alarm_at(rng, runs, laws, laws, 0) is not None for laws in (judge(rng) for _ in range(histories)))


def delays(
    noise: float, change: Change, after: int, histories: int, recorded: int = RECORDED, seed: int = 0
) -> list[float]:
    """Return how many runs after a change the canary cries, sorted; infinite where it has not within 60 runs.

    Histories with an alarm before the change are left out.
    """
    rng, found = random.Random(seed), []
    for _ in range(histories):
        laws = usual(rng, noise)
        cried = alarm_at(rng, after + PATIENCE, laws, turned(rng, laws, change), after, recorded)
        if cried is None or cried > after:
            found.append(math.inf if cried is None else cried - after)
    return sorted(found)


def show(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def cell(found: Sequence[float]) -> str:
    """Return the share found within 10 runs, the median and the 90th percentile of the delays."""
    places = (found[math.ceil(share * len(found)) - 1] for share in (0.5, 0.9))
    shown = " / ".join("> 60" if math.isinf(each) else f"{each:.0f}" for each in places)
    return f"{within(found):.0%}, {shown}"


def within(found: Sequence[float], runs: int = 10) -> float:
    """Return the share of delays of at most so many runs."""
    return sum(each <= runs for each in found) / len(found)


def main() -> int:
    """Print the tables of docs/canary.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1000, help="without a change (default: 1000)")
    parser.add_argument("--changes", type=int, default=200, help="histories with a change, a cell (default: 200)")
    options = parser.parse_args()
    holds = True
    show(f"| without a change, {QUIET_RUNS} runs | histories with an alarm |\n|---|---|")
    judges: dict[str, Callable[[random.Random], Laws]] = {  # the last one takes a second a history
        "a judge that never varies": lambda rng: usual(rng, 0.0),
        "2% noise": lambda rng: usual(rng, 0.02),
        "10% noise": lambda rng: usual(rng, 0.10),
        "any law, a coin's among them": anything,
    }
    for name, judge in judges.items():
        histories = math.ceil(options.histories / (10 if judge is anything else 1))
        cried = false_alarms(judge, histories, QUIET_RUNS)
        holds &= cried <= 0.01 * histories
        show(f"| {name} | {cried} of {histories} |")
    columns = (("before the first run", 0, RECORDED), ("before it, 3 recorded answers each", 0, 3),
               (f"after {RUNNING} runs", RUNNING, RECORDED))  # fmt: skip
    show("\nfound within 10 runs, and runs until the alarm: median / 90%")
    show("| change | noise | " + " | ".join(name for name, _, _ in columns) + " |\n|" + "---|" * (2 + len(columns)))
    for change in CHANGES:
        for noise in (0.0, 0.02, 0.05, 0.10):
            cells = [delays(noise, change, after, options.changes, recorded) for _, after, recorded in columns]
            show(f"| {change.name} | {noise:.0%} | " + " | ".join(map(cell, cells)) + " |")
            if change is CHANGES[0] and noise <= 0.05:  # one recorded answer tells little of a judge that varies
                holds &= all(within(found) >= 0.9 for found in (cells if noise <= 0.02 else cells[1:]))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
