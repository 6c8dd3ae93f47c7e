"""How often the canary cries without a change, and after how many runs it does with one.

A judge has a usual verdict on each of 20 close and 40 clear prompts, and gives the other one with the chance `noise`,
each time anew. Every run brings one answer to each prompt. Recorded is one answer to each, as a default recording has
it, three of one day, or one on each of several days.

Without a change its answers are drawn apart from each other, or they hang together: two backends that answer on days
drawn by lot, or in turns; all prompts leaning one way by a normal draw of each day; answers that stick.

A change turns the usual verdict on some prompts, before the first run or after 30 runs. "A new model" turns 8 of the
close and 3 of the clear ones, 18%, as the judges of W4 in benchmarks/results.md differ. Evidence is the package's own:
`drift.log_e_value` and `drift.total_log_e_value`.

Exit code 1 where more than 1% of the histories of answers drawn apart have an alarm, more than 20% of those that hang
together in a way that the canary looks for, or where less than 90% of those in which 10% or more of the verdicts turn
after 30 runs have one within 10 runs.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judgefixtures.canary.change_evidence import AnswerStream, log_e_value, total_log_e_value

CLOSE, CLEAR = 20, 40
ALARM = math.log(100)
QUIET_RUNS, PATIENCE, RUNNING = 90, 30, 30
Laws = Sequence[float]  # the chance of answering "1", per prompt
Day = Callable[[random.Random, int], str]  # the answers to all prompts in a run
World = Callable[[random.Random], Day]


@dataclass(frozen=True, slots=True)
class Recorded:
    """On how many days the prompts were recorded, and how many answers to each on the first of them."""

    name: str
    answers: int = 1
    days: int = 1


ONE = Recorded("1 answer")
THREE = Recorded("3 of one day", answers=3)
TWO_DAYS = Recorded("1 on each of 2 days", days=2)
THREE_DAYS = Recorded("1 on each of 3 days", days=3)


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


def apart(before: Laws, after: Laws | None = None, change: int = 0) -> Day:
    """Return days whose answers are drawn apart, by the laws of `after` from run `change` + 1 on."""
    return lambda rng, run: said(rng, before if after is None or run <= change else after)


def said(rng: random.Random, laws: Laws) -> str:
    """Return one answer to each prompt."""
    return "".join("1" if rng.random() < law else "2" for law in laws)


def backends(rng: random.Random, noise: float, differ: int, often: float | None) -> Day:
    """Return days of two backends that differ on some prompts; the other one answers so `often`, or in turns."""
    laws = usual(rng, noise)
    moved = set(rng.sample(range(CLOSE + CLEAR), differ))
    other = [1 - law if place in moved else law for place, law in enumerate(laws)]

    def day(rng: random.Random, run: int) -> str:
        return said(rng, other if (run % 2 if often is None else rng.random() < often) else laws)

    return day


def leaning(rng: random.Random, noise: float, logits: float) -> Day:
    """Return days on each of which the logits of all prompts are shifted by one normal draw."""
    own = [math.log(law / (1 - law)) for law in usual(rng, noise)]

    def day(rng: random.Random, _run: int) -> str:
        shift = rng.gauss(0, logits)
        return said(rng, [1 / (1 + math.exp(-one - shift)) for one in own])

    return day


def sticking(rng: random.Random, noise: float, stay: float) -> Day:
    """Return days on which each answer is that of the day before with the chance `stay`, or else drawn anew.

    With `stay` 1 the answers of all runs are those of the first one.
    """
    laws = usual(rng, noise)
    last: list[str] = []

    def day(rng: random.Random, run: int) -> str:
        new = said(rng, laws)
        if run > (1 if stay == 1 else 0):
            new = "".join(old if rng.random() < stay else each for old, each in zip(last[-1], new, strict=True))
        last.append(new)
        return new

    return day


def changing(rng: random.Random, daily: float) -> Day:
    """Return days of a judge without noise, each prompt of which turns for good with the chance `daily`."""
    laws = usual(rng, 0.0)
    turns = [math.ceil(rng.expovariate(daily)) for _ in laws]
    return lambda rng, run: said(rng, [1 - law if run >= turn else law for law, turn in zip(laws, turns, strict=True)])


def alarm_at(rng: random.Random, runs: int, day: Day, recorded: Recorded = ONE) -> int | None:
    """Return the run at which the canary cries, None where it never does; runs 0 and less are the recordings."""
    on = [[day(rng, 0)] if not place else [day(rng, -place)] for place in range(recorded.days)]
    on[0] += [day(rng, 0) for _ in range(recorded.answers - 1)]
    days = [tuple("".join(answers) for answers in zip(*each, strict=True)) for each in on]
    later: list[str] = []
    log_e_values = []
    for run in range(1, runs + 1):
        later.append(day(rng, run))
        streams = []
        for place in range(CLOSE + CLEAR):
            known = tuple(each[place] for each in days)
            streams.append(AnswerStream("".join(known), tuple(each[place] for each in later), known))
        log_e_values.append(log_e_value(streams))
        if total_log_e_value(log_e_values) >= ALARM:
            return run
    return None


def false_alarms(world: World, histories: int, runs: int, recorded: Recorded = ONE, seed: int = 0) -> int:
    """Return in how many histories without a change the canary cries."""
    rng = random.Random(seed)
    return sum(alarm_at(rng, runs, world(rng), recorded) is not None for _ in range(histories))


def delays(
    noise: float, change: Change, after: int, histories: int, recorded: Recorded = ONE, seed: int = 0
) -> list[float]:
    """Return how many runs after a change the canary cries, sorted; infinite where it has not within 30 runs.

    Histories with an alarm before the change are left out.
    """
    rng, found = random.Random(seed), []
    for _ in range(histories):
        laws = usual(rng, noise)
        cried = alarm_at(rng, after + PATIENCE, apart(laws, turned(rng, laws, change), after), recorded)
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
    shown = " / ".join(f"> {PATIENCE}" if math.isinf(each) else f"{each:.0f}" for each in places)
    return f"{within(found):.0%}, {shown}"


def within(found: Sequence[float], runs: int = 10) -> float:
    """Return the share of delays of at most so many runs."""
    return sum(each <= runs for each in found) / len(found)


APART: dict[str, World] = {  # the last one takes some seconds a history
    "a judge that never varies": lambda rng: apart(usual(rng, 0.0)),
    "2% noise": lambda rng: apart(usual(rng, 0.02)),
    "10% noise": lambda rng: apart(usual(rng, 0.10)),
    "any law, a coin's among them": lambda rng: apart(anything(rng)),
}
TOGETHER: dict[str, World] = {
    "two backends, 5% differ, in turns": lambda rng: backends(rng, 0.02, 3, None),
    "two backends, 5% differ, by lot": lambda rng: backends(rng, 0.02, 3, 0.5),
    "two backends, 10% differ, in turns": lambda rng: backends(rng, 0.02, 6, None),
    "two backends, 10% differ, by lot": lambda rng: backends(rng, 0.02, 6, 0.5),
    "two backends, 18% differ, in turns": lambda rng: backends(rng, 0.02, 11, None),
    "two backends, 18% differ, by lot": lambda rng: backends(rng, 0.02, 11, 0.5),
    "all prompts lean by 1 logit, 5% noise": lambda rng: leaning(rng, 0.05, 1.0),
    "all prompts lean by 1 logit, 10% noise": lambda rng: leaning(rng, 0.10, 1.0),
    "answers stick for ten days, 5% noise": lambda rng: sticking(rng, 0.05, 0.9),
    "answers stick for ten days, 10% noise": lambda rng: sticking(rng, 0.10, 0.9),
    "prompts turn for good, one a week": lambda rng: changing(rng, 1 / 7 / (CLOSE + CLEAR)),
}
UNPROMISED: dict[str, World] = {
    "another backend on one day in ten, 18% differ": lambda rng: backends(rng, 0.02, 11, 0.1),
    "answers stick since the first run, 5% noise": lambda rng: sticking(rng, 0.05, 1.0),
}


def main() -> int:
    """Print the tables of benchmarks/results.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=100, help="without a change (default: 100)")
    parser.add_argument("--together", type=int, default=10, help="of answers that hang together (default: 10)")
    parser.add_argument("--changes", type=int, default=20, help="histories with a change, a cell (default: 20)")
    options = parser.parse_args()
    return 0 if all([_quiet(options), _together(options), _changes(options)]) else 1


def _quiet(options: argparse.Namespace) -> bool:
    holds = True
    show(f"| answers drawn apart, {QUIET_RUNS} runs | histories with an alarm |\n|---|---|")
    for name, world in APART.items():
        histories = math.ceil(options.histories / (20 if "any" in name else 1))
        cried = false_alarms(world, histories, QUIET_RUNS)
        holds &= cried <= 0.01 * histories
        show(f"| {name} | {cried} of {histories} |")
    return holds


def _together(options: argparse.Namespace) -> bool:
    holds, columns = True, (ONE, TWO_DAYS)
    show(f"\n| answers that hang together, {QUIET_RUNS} runs | " + " | ".join(each.name for each in columns) + " |")
    show("|---|" + "---|" * len(columns))
    for name, world in (TOGETHER | UNPROMISED).items():
        cried = [false_alarms(world, options.together, QUIET_RUNS, each) for each in columns]
        holds &= name in UNPROMISED or max(cried) <= 0.2 * options.together
        show(f"| {name} | " + " | ".join(f"{each} of {options.together}" for each in cried) + " |")
    return holds


def _changes(options: argparse.Namespace) -> bool:
    holds = True
    cases = [(each, 0) for each in (ONE, THREE, TWO_DAYS, THREE_DAYS)] + [(ONE, RUNNING)]
    heads = [f"before, {each.name}" if not after else f"after {after} runs, {each.name}" for each, after in cases]
    show("\nfound within 10 runs, and runs until the alarm: median / 90%")
    show("| change | noise | " + " | ".join(heads) + " |\n|" + "---|" * (2 + len(heads)))
    for change in CHANGES:
        for noise in (0.0, 0.02, 0.05, 0.10):
            cells = [delays(noise, change, after, options.changes, recorded) for recorded, after in cases]
            show(f"| {change.name} | {noise:.0%} | " + " | ".join(map(cell, cells)) + " |")
            holds &= change is CHANGES[-1] or within(cells[-1]) >= 0.9
    return holds


if __name__ == "__main__":
    sys.exit(main())
