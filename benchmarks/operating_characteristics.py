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
from collections.abc import Callable, Iterator, Sequence
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
    otherwise_right,
    refusing,
    silenced,
    simulate,
    world_of,
)

from judgefixtures.config import SwapTable
from judgefixtures.models.swap_rows import SwapStatus
from judgefixtures.statistics import format_share, grader_swap_chance, proportion

RUNS, SEED = 500, 20261121
LOOKS = (25, 50, 100, 200)
WORSE, EQUAL, NOISY = "<= .05", "<= .01", "<= .05"  # wanted: APPROVE of worse judges, REJECT of equal and noisy ones
GRID = tuple(itertools.product(("W1", "W2"), (100, 200)))
SIZES, DISCORDANCES, FLIPS = (25, 36, 50, 75, 100, 150, 200, 300, 400), (0.05, 0.12, 0.18), (0.05, 0.10)
ALL_WORLDS = {**WORLDS, "W5": World(0.20, 0.22)}
# Judges of one response: labelled examples in all, half of them labelled pass unless a row says otherwise.
LABELS = tuple((world, n) for n in (100, 200, 400) for world in ("W1", "W2"))
GRADED = LABELS[2:]
WORSE_GRADER, NEVER, AT_MARGIN = "<= .03", "<= 0", "<= .06"
NEVER_RUNS = 1.2  # times as many swaps where none may be approved: 600 for 500


@dataclass(frozen=True, slots=True)
class Row:
    """Two judges as they really are, and where they are simulated: by world and pairs per dataset.

    `approve` and `reject` are what is wanted of the rates ("<= .05"), `approve` by world and pairs where it differs.
    `layout` makes what they are compared on of a number of pairs.
    """

    name: str
    case: Case
    where: tuple[tuple[str, int], ...] = GRID
    approve: str | dict[tuple[str, int], str] | None = None
    reject: str | None = None
    layout: Callable[[int], Layout] = Layout
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
    """Return the rows of the table of benchmarks/results.md: equal judges and worse ones."""
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
    small, alone = (("W4", 50), ("W5", 50)), partial(Layout, datasets=1)
    invalid = {("W1", 100): ">= .60", ("W1", 200): ">= .60", ("W2", 200): ">= .60"}  # W2 at 100: .57 to .60
    return [
        Row("equal, noisy", equal, tuple(itertools.product(("W3", "W4"), (100, 200))), reject=NOISY),
        Row("equal, 13.6% and 20% flips", equal, small, reject=NOISY),
        Row("equal, 3% invalid verdicts", partial(equal, invalid=0.03), approve=invalid, reject=EQUAL),
        Row("equal, 2% invalid verdicts of the candidate alone", refusing, reject=EQUAL),
        Row("equal, 2% invalid of the candidate, one dataset", refusing, layout=alone, reject=EQUAL),
        Row("equal, one dataset", equal, layout=alone, reject=EQUAL),
        Row("accuracy -10 points, one dataset in all", less_accurate, approve=WORSE, layout=alone),
        Row(
            "VSR .30, one contrast, one dataset in all",
            partial(more_shifted, where=one_cell),
            approve=WORSE,
            layout=alone,
        ),
    ]


def in_looks() -> list[Row]:
    """Return rows that are decided by the first of several looks that decides."""
    where = (("W1", LOOKS[-1]), ("W2", LOOKS[-1]))
    worse = [Row(row.name, row.case, where, WORSE, looks=LOOKS) for row in worse_and_equal() if row.approve == WORSE]
    return [Row("equal", equal, where, reject=EQUAL, looks=LOOKS), *worse]


# Of these not one may be approved.
MUCH_WORSE: dict[str, Case] = {
    "TNR -25 points": partial(otherwise_right, tnr=-0.25),
    "pass rate +20 points (TPR +10, TNR -30)": partial(otherwise_right, tpr=0.10, tnr=-0.30),
}


def of_labels(positives: float, cues: bool = True) -> Callable[[int], Layout]:
    """Return the layout of judges of one response: one dataset, with the contrasts on it or without."""
    of_all = partial(Layout, datasets=1, positives=positives)
    return of_all if cues else partial(of_all, families=())


def two_halves(n: int) -> Layout:
    """Return the layout of n labelled examples on two datasets."""
    return Layout(n // 2, positives=0.5)


def by_labels_alone() -> list[Row]:
    """Return judges of one response of which nothing but how right they are, and how much they pass, is compared."""
    half = of_labels(0.5, cues=False)
    # At 200 in W1 the test of accuracy passes equal judges in .885, exactly, and no rule that includes it in more.
    least = dict(zip(LABELS, (">= .48", ">= .22", ">= .85", ">= .52", ">= .97", ">= .85"), strict=True))
    return [
        Row("equal", equal, LABELS, least, EQUAL, half),
        *(Row(name, case, LABELS, NEVER, layout=half) for name, case in MUCH_WORSE.items()),
        Row("equal, .8 of the labels pass", equal, LABELS, reject=EQUAL, layout=of_labels(0.8, cues=False)),
    ]


def of_one_response() -> list[Row]:
    """Return judges of one response, equal and worse ones, in the whole decision."""
    # In 3,000 swaps .857, .567, .992 and .889; 500 may have .03 fewer.
    least = {("W1", 200): ">= .82", ("W2", 200): ">= .50", ("W1", 400): ">= .95", ("W2", 400): ">= .80"}
    worse: dict[str, Case] = {
        "accuracy -10 points": less_accurate,
        "TPR -25 points": partial(otherwise_right, tpr=-0.25),
        "pass rate -20 points (TPR -30, TNR +10)": partial(otherwise_right, tpr=-0.30, tnr=0.10),
        "VSR .30 against .05, all contrasts": more_shifted,
        "VSR .30, one contrast": partial(more_shifted, where=one_cell),
        "became silent in all (VSR .30 both)": silenced,
        "25% flips against 5%": noisier,
    }
    half = of_labels(0.5)
    return [
        Row("equal", equal, GRADED, least, EQUAL, half),
        *(Row(name, case, GRADED, WORSE_GRADER, layout=half) for name, case in worse.items()),
        *(Row(name, case, GRADED, NEVER, layout=half) for name, case in MUCH_WORSE.items()),
    ]


def at_the_margins() -> list[Row]:
    """Return judges of one response that are at a margin or within it, and other labels and designs."""
    half, most_pass = of_labels(0.5), of_labels(0.8)
    less_tnr, shifted = partial(otherwise_right, tnr=-0.10), partial(otherwise_right, tpr=0.10, tnr=-0.10)
    much_less = MUCH_WORSE["TNR -25 points"]
    return [
        Row("TNR -10 points (accuracy -5)", less_tnr, GRADED, AT_MARGIN, layout=half),
        Row("pass rate +10 points (TPR +10, TNR -10)", shifted, GRADED, AT_MARGIN, layout=half),
        Row("TNR -5 points (inside every margin)", partial(otherwise_right, tnr=-0.05), GRADED, layout=half),
        Row("equal, .8 of the labels pass", equal, GRADED, reject=EQUAL, layout=most_pass),
        Row("TNR -25 points, .8 of the labels pass", much_less, GRADED, WORSE_GRADER, layout=most_pass),
        Row("equal, 3% invalid grades", partial(equal, invalid=0.03), GRADED, reject=EQUAL, layout=half),
        Row("equal, two datasets of half as many", equal, GRADED, reject=EQUAL, layout=two_halves),
    ]


TABLES = {
    "One look": worse_and_equal,
    "Other judges and designs": other_designs,
    "Looks": in_looks,
    "Judges of one response, by labels alone": by_labels_alone,
    "Judges of one response": of_one_response,
    "Judges of one response, what is given up": at_the_margins,
}
STATED = "Judges of one response, what the preflight says"
FARTHEST_OFF = 0.06
NOTES = """\
Two datasets of n pairs, a recency contrast and six provenance contrasts on each: 14 cells. Both judges have VSR .05,
are right on 85% of the pairs and admit nothing, unless a row says otherwise. Judges of one response: n labelled
examples in all, half of them labelled pass, and the 7 contrasts on these. Worlds, in shares of the pairs:"""


def rates_of(row: Row, world: str, n: int, runs: int) -> Rates:
    """Return how often each decision is made about the judges of a row."""
    table = SwapTable(looks=list(row.looks) or [n])
    layout, here = row.layout(n), ALL_WORLDS[world]
    return simulate(here, layout, row.case(here, layout), runs, table, seed=SEED)


def holds(rate: float, wanted: str) -> bool:
    """Tell whether a rate is as wanted: "<= .05" or ">= .80"."""
    sign, bound = wanted.split()
    return rate <= float(bound) if sign == "<=" else rate >= float(bound)


def lines_of(row: Row, runs: int, broken: list[str]) -> Iterator[str]:
    """Yield the Markdown lines of a row, one for each world and size; put bounds that do not hold into `broken`."""
    for world, n in row.where:
        wanted = row.wanted(world, n)
        rates = rates_of(row, world, n, round(NEVER_RUNS * runs) if NEVER in wanted.values() else runs)
        cells = [row.name, world, str(n)]
        for status in (SwapStatus.APPROVE, SwapStatus.REJECT):
            estimate = proportion(rates.decided[status], rates.runs, 0.95)
            bound = wanted.get(status, "")
            cells += [
                f"{format_share(estimate.value)} [{format_share(estimate.low, 3)}, {format_share(estimate.high, 3)}]",
                bound,
            ]
            if bound and not holds(estimate.value, bound):
                broken.append(f"{row.name}, {world}, n = {n}: {status} {format_share(estimate.value)}, wanted {bound}")
        taken = sum(pairs * times for pairs, times in rates.looks.items()) / rates.runs
        yield f"| {' | '.join(cells)} | {taken:.0f} |"


def tables(runs: int, only: str, broken: list[str]) -> Iterator[str]:
    """Yield all that is printed."""
    yield f"# Error rates of the swap decision ({runs} simulated swaps a row)\n\n{NOTES}\n"
    yield "| world | flips | inconsistent between orders | discordance |\n|---|---|---|---|"
    for name, world in ALL_WORLDS.items():
        yield (
            f"| {name} | {format_share(world.flips)} | "
            f"{format_share(world.between_orders)} | {format_share(world.discordance)} |"
        )
    for title, rows in TABLES.items():
        yield f"\n## {title}\n"
        yield "| judges | world | n | APPROVE (95% CI) | wanted | REJECT (95% CI) | wanted | pairs taken |"
        yield f"|{'---|' * 8}"
        for row in rows():
            if re.search(only, f"{title}: {row.name}", re.IGNORECASE):
                yield from lines_of(row, runs, broken)
    if re.search(only, STATED, re.IGNORECASE):
        yield from stated(runs, broken)
    yield f"\n{len(broken)} bounds do not hold{':' if broken else '.'}"
    yield from (f"* {line}" for line in broken)


def stated(runs: int, broken: list[str]) -> Iterator[str]:
    """Yield what the preflight says of equal judges of one response, beside what is simulated of them."""
    yield f"\n## {STATED}\n"
    yield "| labels | labelled pass | world | said | simulated (95% CI) |\n|---|---|---|---|---|"
    for positives, (world, n) in itertools.product((0.5, 0.8), LABELS):
        layout = of_labels(positives, cues=False)
        passing = (layout(n).labels or ()).count("pass")
        said = grader_swap_chance(passing, n - passing, ALL_WORLDS[world].discordance)
        rates = rates_of(Row("equal", equal, layout=layout), world, n, runs)
        found = proportion(rates.decided[SwapStatus.APPROVE], runs, 0.95)
        yield (
            f"| {n} | {format_share(positives)} | {world} | {format_share(said)} | "
            f"{format_share(found.value)} [{format_share(found.low, 3)}, {format_share(found.high, 3)}] |"
        )
        if not found.low - FARTHEST_OFF < said < found.high + FARTHEST_OFF:
            broken.append(
                f"{STATED}, {world}, n = {n}: {format_share(said)} is said, {format_share(found.value)} are approved"
            )


def power_row(n: int, discordance: float, flips: float, runs: int) -> list[float]:
    """Return n, discordance and flips with the rates that `judgefixtures.statistics.power.SwapPower` has."""
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
    """Write the table of `judgefixtures.statistics.power.swap_power`, a row a line so that a change is seen."""
    rows = []
    for flips, discordance, n in itertools.product(FLIPS, DISCORDANCES, SIZES):
        rows.append(power_row(n, discordance, flips, runs))
        print(*rows[-1], flush=True)  # noqa: T201
    refused = [
        [n, *(rate_of(world_of(FLIPS[0], share), n, refusing, SwapStatus.APPROVE, runs) for share in DISCORDANCES)]
        for n in (25, 50, 100, 200, 300, 400)
    ]
    head = {
        "command": f"python benchmarks/operating_characteristics.py --power {file} --runs {runs}",
        "of": "decide_swap with the default margins and one look, 14 cells in 2 families on 2 datasets of n pairs",
        "columns": ["n", "discordance", "flips", "approve_equal", "reject_accuracy", "reject_shift"],
    }
    shown = ",\n  ".join(json.dumps(row) for row in rows)
    columns = json.dumps(["n", *(f"approve_equal at discordance {share}" for share in DISCORDANCES)])
    others = ",\n  ".join(json.dumps(row) for row in refused)
    text = json.dumps(head, indent=1).removesuffix("\n}") + f',\n "rows": [\n  {shown}\n ]'
    text += f',\n "candidate_invalid_columns": {columns},\n "candidate_invalid": [\n  {others}\n ]\n}}\n'
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
