"""Error rates of the swap decision: how often a candidate is approved and rejected, by what it really is.

    python benchmarks/operating_characteristics.py [--runs 500] [--only REGEX]
    python benchmarks/operating_characteristics.py --power judgefixtures/data/swap-power.json [--runs 200]

Judges are drawn (worlds.py), decisions are the package's own with the default margins: decide_looks, which
is decide_swap where there is one look. Exit code 1 where a bound does not hold. `--power` computes the table that the
preflight looks up instead.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from worlds import (
    WORLDS,
    Case,
    Layout,
    Rates,
    World,
    equal,
    less_accurate,
    more_shifted,
    noisier,
    silenced,
    simulate,
    world_of,
)

from judgefixtures.config import SwapTable
from judgefixtures.numbers.statistics import bare, proportion
from judgefixtures.swap import SwapStatus

RUNS, SEED = 500, 20261121
LOOKS = (25, 50, 100, 200)
WORSE, EQUAL, NOISY = "<= .05", "<= .01", "<= .05"  # wanted: APPROVE of worse judges, REJECT of equal and noisy ones
GRID = tuple(itertools.product(("W1", "W2"), (100, 200)))
SIZES, DISCORDANCES, FLIPS = (25, 36, 50, 75, 100, 150, 200, 300, 400), (0.05, 0.12, 0.18), (0.05, 0.10)
ALL_WORLDS = {**WORLDS, "W5": World(0.20, 0.22)}


@dataclass(frozen=True, slots=True)
class Row:
    """Two judges as they really are, and where they are simulated: by world and pairs per dataset.

    `approve` and `reject` are what is wanted of the rates ("<= .05"), `approve` by world and pairs where it differs.
    """

    name: str
    case: Case
    where: tuple[tuple[str, int], ...] = GRID
    approve: str | dict[tuple[str, int], str] | None = None
    reject: str | None = None
    datasets: int = 2
    looks: tuple[int, ...] = ()

    def wanted(self, world: str, n: int) -> dict[SwapStatus, str]:
        """Return what is wanted of each decision here."""
        approve = self.approve.get((world, n)) if isinstance(self.approve, dict) else self.approve
        found = {SwapStatus.APPROVE: approve, SwapStatus.REJECT: self.reject}
        return {status: bound for status, bound in found.items() if bound is not None}


def one_contrast(_: str, contrast: str, __: str) -> bool:
    """Tell whether a cell is of the one contrast that is worse."""
    return contrast == "provenance-1"


def one_cell(_: str, contrast: str, dataset: str) -> bool:
    """Tell whether a cell is the one that is worse."""
    return (contrast, dataset) == ("provenance-1", "dataset-1")


def of_family(name: str, family: str, _: str, __: str) -> bool:
    """Tell whether a cell is of the family of this name."""
    return family == name


def worse_and_equal() -> list[Row]:
    """Return the rows of the table of docs/swap.md: equal judges and worse ones."""
    least = {("W1", 100): ">= .95", ("W2", 100): ">= .72", ("W1", 200): ">= .99", ("W2", 200): ">= .93"}
    recency, provenance = (partial(of_family, family) for family in ("recency", "provenance"))
    return [
        Row("equal", equal, approve=least, reject=EQUAL),
        Row("accuracy -10 points, both datasets", less_accurate, approve=WORSE),
        Row("accuracy -10 points, one dataset", partial(less_accurate, datasets=1), approve=WORSE),
        Row("VSR .30 against .05, all contrasts", more_shifted, approve=WORSE),
        Row("VSR .30, recency only", partial(more_shifted, where=recency), approve=WORSE),
        Row("VSR .30, provenance only", partial(more_shifted, where=provenance), approve=WORSE),
        Row("VSR .30, one contrast on one dataset", partial(more_shifted, where=one_cell), approve=WORSE),
        Row("became silent in all (VSR .30 both)", silenced, approve=WORSE),
        Row("became silent in one contrast on one dataset", partial(silenced, where=one_cell), approve=WORSE),
        Row("25% flips against 5%", noisier, approve=WORSE),
        Row("VSR .20, one contrast on one dataset", partial(more_shifted, vsr=0.20, where=one_cell)),
        Row("VSR .20, one contrast on both datasets", partial(more_shifted, vsr=0.20, where=one_contrast)),
        Row("VSR .12 in all (inside every margin)", partial(more_shifted, vsr=0.12)),
    ]


def other_designs() -> list[Row]:
    """Return equal judges where they are noisy, give invalid verdicts, or are compared on one dataset."""
    small = (("W4", 50), ("W5", 50))
    invalid = {("W1", 100): ">= .60", ("W1", 200): ">= .60", ("W2", 200): ">= .60"}  # W2 at 100: .57 to .60
    return [
        Row("equal, noisy", equal, tuple(itertools.product(("W3", "W4"), (100, 200))), reject=NOISY),
        Row("equal, 13.6% and 20% flips", equal, small, reject=NOISY),
        Row("equal, 3% invalid verdicts", partial(equal, invalid=0.03), approve=invalid, reject=EQUAL),
        Row("equal, one dataset", equal, datasets=1, reject=EQUAL),
        Row("accuracy -10 points, one dataset in all", less_accurate, approve=WORSE, datasets=1),
        Row(
            "VSR .30, one contrast, one dataset in all",
            partial(more_shifted, where=one_cell),
            approve=WORSE,
            datasets=1,
        ),
    ]


def in_looks() -> list[Row]:
    """Return rows that are decided by the first of several looks that decides."""
    where = (("W1", LOOKS[-1]), ("W2", LOOKS[-1]))
    worse = [Row(row.name, row.case, where, WORSE, looks=LOOKS) for row in worse_and_equal() if row.approve == WORSE]
    return [Row("equal", equal, where, reject=EQUAL, looks=LOOKS), *worse]


TABLES = {"One look": worse_and_equal, "Other judges and designs": other_designs, "Looks": in_looks}
NOTES = """\
Two datasets of n pairs, a recency contrast and six provenance contrasts on each: 14 cells. Both judges have VSR .05,
are right on 85% of the pairs and admit nothing, unless a row says otherwise. Worlds, in shares of the pairs:"""


def rates_of(row: Row, world: str, n: int, runs: int) -> Rates:
    """Return how often each decision is made about the judges of a row."""
    table = SwapTable(looks=list(row.looks)) if row.looks else SwapTable(looks=[n])
    layout, here = Layout(n, row.datasets), ALL_WORLDS[world]
    return simulate(here, layout, row.case(here, layout), runs, table, seed=SEED)


def holds(rate: float, wanted: str) -> bool:
    """Tell whether a rate is as wanted: "<= .05" or ">= .80"."""
    sign, bound = wanted.split()
    return rate <= float(bound) if sign == "<=" else rate >= float(bound)


def lines_of(row: Row, runs: int, broken: list[str]) -> Iterator[str]:
    """Yield the Markdown lines of a row, one for each world and size; put bounds that do not hold into `broken`."""
    for world, n in row.where:
        rates, wanted = rates_of(row, world, n, runs), row.wanted(world, n)
        cells = [row.name, world, str(n)]
        for status in (SwapStatus.APPROVE, SwapStatus.REJECT):
            estimate = proportion(rates.decided[status], runs, 0.95)
            bound = wanted.get(status, "")
            cells += [f"{bare(estimate.value)} [{bare(estimate.low, 3)}, {bare(estimate.high, 3)}]", bound]
            if bound and not holds(estimate.value, bound):
                broken.append(f"{row.name}, {world}, n = {n}: {status} {bare(estimate.value)}, wanted {bound}")
        taken = sum(pairs * times for pairs, times in rates.looks.items()) / runs
        yield f"| {' | '.join(cells)} | {taken:.0f} |"


def tables(runs: int, only: str, broken: list[str]) -> Iterator[str]:
    """Yield all that is printed."""
    yield f"# Error rates of the swap decision ({runs} simulated swaps a row)\n\n{NOTES}\n"
    yield "| world | flips | inconsistent between orders | discordance |\n|---|---|---|---|"
    for name, world in ALL_WORLDS.items():
        yield f"| {name} | {bare(world.flips)} | {bare(world.between_orders)} | {bare(world.discordance)} |"
    for title, rows in TABLES.items():
        yield f"\n## {title}\n"
        yield "| judges | world | n | APPROVE (95% CI) | wanted | REJECT (95% CI) | wanted | pairs taken |"
        yield f"|{'---|' * 8}"
        for row in rows():
            if re.search(only, f"{title}: {row.name}", re.IGNORECASE):
                yield from lines_of(row, runs, broken)
    yield f"\n{len(broken)} bounds do not hold{':' if broken else '.'}"
    yield from (f"* {line}" for line in broken)


def power_row(n: int, discordance: float, flips: float, runs: int) -> list[float]:
    """Return n, discordance and flips with the rates that `judgefixtures.numbers.power.SwapPower` has."""
    wanted = ((equal, SwapStatus.APPROVE), (less_accurate, SwapStatus.REJECT), (more_shifted, SwapStatus.REJECT))
    world = world_of(flips, discordance)
    return [n, world.discordance, flips, *(rate_of(world, n, case, status, runs) for case, status in wanted)]


def rate_of(world: World, n: int, case: Case, status: SwapStatus, runs: int) -> float:
    """Return how often a decision is made; where the first 100 swaps all end alike, that is it."""
    layout, few = Layout(n), min(100, runs)
    simulated = partial(simulate, world, layout, case(world, layout), swap=SwapTable(looks=[n]))
    rate = simulated(few, seed=SEED).of(status)
    if rate in (0.0, 1.0) or runs == few:
        return rate
    rest = simulated(runs - few, seed=SEED + 1).of(status)
    return round((rate * few + rest * (runs - few)) / runs, 4)


def write_power(file: Path, runs: int) -> None:
    """Write the table of `judgefixtures.numbers.power.swap_power`, a row a line so that a change is seen."""
    rows = []
    for flips, discordance, n in itertools.product(FLIPS, DISCORDANCES, SIZES):
        rows.append(power_row(n, discordance, flips, runs))
        print(*rows[-1], flush=True)  # noqa: T201
    head = {
        "command": f"python benchmarks/operating_characteristics.py --power {file} --runs {runs}",
        "of": "decide_swap with the default margins and one look, 14 cells in 2 families on 2 datasets of n pairs",
        "columns": ["n", "discordance", "flips", "approve_equal", "reject_accuracy", "reject_shift"],
    }
    shown = ",\n  ".join(json.dumps(row) for row in rows)
    text = json.dumps(head, indent=1).removesuffix("\n}") + f',\n "rows": [\n  {shown}\n ]\n}}\n'
    file.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, or write the one of powers; return 1 where a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"simulated swaps a row ({RUNS})")
    parser.add_argument("--only", default="", help='rows whose "table: judges" this regular expression is found in')
    parser.add_argument("--power", type=Path, help="write the table of the preflight to this file instead")
    options = parser.parse_args(arguments)
    broken: list[str] = []
    if options.power:
        write_power(options.power, options.runs)
        return 0
    for line in tables(options.runs, options.only, broken):
        print(line, flush=True)  # noqa: T201
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
