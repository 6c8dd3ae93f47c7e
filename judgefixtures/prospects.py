"""What a swap can be expected to come to before anything is asked: chances, margins, calls and money at three sizes."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.checks.check import Subject
from judgefixtures.contrasts import NO_CUE
from judgefixtures.costs import Cost, money, most_of
from judgefixtures.errors import JudgeFixturesError
from judgefixtures.judgments import Arm
from judgefixtures.pairs import Pair
from judgefixtures.power import SwapPower, aligned, swap_power
from judgefixtures.run import Run
from judgefixtures.statistics import bare
from judgefixtures.swap import guard_margin

DISCORDANCES = (0.05, 0.12, 0.18)  # of the pairs, one of two equal judges alone is right: one judge twice; two prompts
FLIPS = (0.05, 0.10)  # of the verdicts change between two runs, where the baseline's repeats do not say
SIZES = (25, 50, 100, 200, 300, 400)
HEADER = ("pairs", "flips", "equal: APPROVE", "accuracy -10: REJECT", "VSR .30: REJECT", "new calls", "cost at most")


def prospects(run: Run, compared: Sequence[Subject], missing: Cost) -> list[str]:
    """Return the lines on one candidate's swap; `missing` is what is not recorded yet of both judges, at most."""
    judge, baseline = compared[0].judge, str(compared[0].baseline)
    cells = [each for each in compared if each.check.contrast is not None]
    n = max(len(run.about(each).at_most) for each in compared)
    flips = _flips(run, baseline, sorted({each.dataset for each in cells}))
    rows = [_row(run, compared, size, rate, missing if size == n else None)
            for size in (n, *[size for size in SIZES if size > n][:2])
            for rate in (FLIPS if flips is None else (flips,))]  # fmt: skip
    levels = " / ".join(bare(each) for each in DISCORDANCES)
    said = (
        "as by the baseline's repeats" if flips is not None else "not measured: --judge-repeats 2 of the baseline does"
    )
    lines = [
        f"what to expect of {judge} against {baseline}: chances where equal judges disagree in being right on {levels} "
        f"of the pairs (one judge asked twice, two prompts, more); flips are {said}",
        *aligned([HEADER, *rows]),
        "simulated for 14 contrasts in 2 families on 2 datasets with the default margins (docs/swap.md)",
    ]
    if cells:
        margin = guard_margin(max(n, 1), len(cells), run.config.swap, baseline_flips=flips)
        lines.append(f"with {n} pairs an APPROVE rules out that any single contrast on one dataset is worse by "
                     f"{bare(margin)} or more")  # fmt: skip
    command = f"{run.options.command} -k swap --judge {judge} --judge-baseline {baseline} --judge-record missing"
    return [*lines, f"record what is missing of both: {command}"]


def _row(run: Run, compared: Sequence[Subject], n: int, flips: float, missing: Cost | None) -> tuple[str, ...]:
    found = [swap_power(n, each, flips) for each in DISCORDANCES]
    cost = _cost(run, compared, n) if missing is None else missing
    return (
        str(n), bare(flips), _shares(found, "approve_equal"), _shares(found, "reject_accuracy"),
        _shares(found, "reject_shift"), str(cost.calls), money(cost.usd),
    )  # fmt: skip


def _shares(found: Sequence[SwapPower | None], name: str) -> str:
    return " / ".join("?" if each is None else bare(getattr(each, name)) for each in found)


def _cost(run: Run, compared: Sequence[Subject], n: int) -> Cost:
    """Return what n pairs of everything would cost both judges at most, nothing recorded."""
    total = Cost(0, 0, 0, 0.0)
    arms = {(judge, each.dataset, arm): each for each in compared for judge in each.judges
            for arm in run.judge(judge).asks(each.check.arms)}  # fmt: skip
    for (judge, _, (condition, _)), each in arms.items():
        who, pairs = run.judge(judge), run.about(each).at_most
        total += _scaled(most_of(who.table, [who.longest_prompt(pair, condition) for pair in pairs]), pairs, n)
    return total


def _scaled(cost: Cost, pairs: Sequence[Pair], n: int) -> Cost:
    share = n / max(len(pairs), 1)
    return Cost(round(cost.calls * share), round(cost.input_tokens * share), round(cost.output_tokens * share),
                None if cost.usd is None else cost.usd * share)  # fmt: skip


def _flips(run: Run, baseline: str, datasets: Sequence[str]) -> float | None:
    """Return the share of pairs on which a baseline's recorded repeats differ; None without any."""
    differing = n = 0
    for dataset in datasets:
        arms: tuple[Arm, Arm] = ((NO_CUE, 0), (NO_CUE, 1))
        judge, pairs = run.judge(baseline), run.pairs(baseline, dataset)
        try:
            first, again = (run.recorded_verdicts(judge, dataset, arm, pairs, {}) for arm in arms)
        except JudgeFixturesError:
            continue
        both = [(first[pair].verdict, again[pair].verdict) for pair in first if pair in again]
        differing += sum(a.selected_response != b.selected_response for a, b in both)
        n += len(both)
    return min(max(differing / n, 0.01), 0.99) if n else None
