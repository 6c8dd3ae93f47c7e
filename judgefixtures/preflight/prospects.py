"""What a swap can be expected to come to before anything is asked: chances, margins, calls and money at three sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from judgefixtures.asking.costs import Cost, money, most_of, scaled
from judgefixtures.checks.candidate import REPEATED, swap_check
from judgefixtures.checks.protocol import Subject
from judgefixtures.checks.with_people import label_counts
from judgefixtures.config import SwapTable
from judgefixtures.measures.metrics import choices, movable
from judgefixtures.numbers.agreement import lacking
from judgefixtures.numbers.power import SwapPower, aligned, swap_power
from judgefixtures.numbers.statistics import Estimate, bare
from judgefixtures.numbers.takeover import TakeoverMargins, takeover_prospect
from judgefixtures.runs.run import Run
from judgefixtures.swap import guard_margin

DISCORDANCES = (0.05, 0.12, 0.18)  # of the pairs, one of two equal judges alone is right: one judge twice; two prompts
FLIPS = (0.05, 0.10)  # of the verdicts change between two runs, where the baseline's repeats do not say
SIZES = (25, 50, 100, 200, 300, 400)
NOTHING = Cost(0, 0, 0, 0.0)
REPEATS = "not measured: {command} -k repeat --judge {judge} --judge-repeats 2 --judge-record missing measures them"
UNREPEATED = "not measured: nobody can ask {judge} a second time"
SIMULATED = (14, 2, 2)  # contrasts on datasets, families, datasets
SIMULATED_ALPHA = 0.05
OF_LABELS = "in accuracy, TPR, TNR and pass rate"
HEADER = ("pairs", "flips", "equal: APPROVE", "accuracy -10: REJECT", "VSR .30: REJECT", "calls in all", "cost at most")


def prospects(
    run: Run, compared: Sequence[Subject], missing: Mapping[str, Cost], controls: Cost = NOTHING
) -> list[str]:
    """Return the lines on one candidate's swap.

    `missing` is what is not recorded yet of each judge, at most, `controls` what those of both judges cost at all.
    """
    judge, baseline = compared[0].judge, str(compared[0].baseline)
    cells = [each for each in compared if each.check.contrast is not None]
    sizes = {each.dataset: len(run.about(each).at_most) for each in compared}
    fewest, most = min(sizes.values()), max(sizes.values())
    flips = _flips(run, cells)
    if swap_check(compared[0]).graded:
        ruled_out = [_ruled_out(run, cells, sizes, flips)] if cells else []
        return [_takeover(run, compared), *ruled_out, *_to_record(run, compared, missing)]
    level = _pooled(flips.values())
    rows = [
        _row(run, compared, size, rate, controls)
        for size in (fewest, *[size for size in SIZES if size > most][:2])
        for rate in (FLIPS if level is None else (level,))
    ]
    levels = " / ".join(bare(each) for each in DISCORDANCES)
    unknown = REPEATS if run.judge(baseline).kind.is_asked else UNREPEATED
    repeats = unknown.format(command=run.options.command, judge=baseline)
    said = repeats if level is None else "as by the baseline's repeats"
    lines = [
        f"what to expect of {judge} against {baseline}: chances where equal judges disagree in being right on {levels} "
        f"of the pairs (one judge asked twice, two prompts, more); flips are {said}",
        *aligned([HEADER, *rows]),
        *_caveats(run, compared, rows),
    ]
    if fewest < most:
        lines.append(f"datasets have {fewest} to {most} pairs: the chances are those of {fewest} on each")
    if cells:
        lines.append(_ruled_out(run, cells, sizes, flips))
    return [*lines, *_to_record(run, compared, missing)]


def _takeover(run: Run, compared: Sequence[Subject]) -> str:
    """Return how likely a grader takes over from one that is as good, by the labels that there are."""
    swap, about = run.config.swap, [run.about(each).at_most for each in compared if each.check.contrast is None]
    labels = label_counts([pair for pairs in about for pair in pairs])
    said = "no example is labelled: of how right they are nothing is compared, of how much they pass the whole is"
    if any(labels):
        margins = TakeoverMargins(swap.accuracy_margin, swap.rate_margin, swap.pass_rate_margin)
        alpha = run.config.default_gate.alpha
        found = takeover_prospect(*labels, margins, alpha)
        said = found if lacking(*labels) else f"{found} ({OF_LABELS}; contrasts may leave it open besides)"
    return f"what to expect of {compared[0].judge} against {compared[0].baseline}: {said}"


def _to_record(run: Run, compared: Sequence[Subject], missing: Mapping[str, Cost]) -> list[str]:
    """Return the command that records what is missing of each judge; none where neither can be asked."""
    judge, baseline = compared[0].judge, str(compared[0].baseline)
    chosen = "".join(f" --judge-dataset {name}" for name in run.options.datasets)
    command = f"{run.options.command} -k swap --judge {judge} --judge-baseline {baseline}{chosen}"
    if not any(run.judge(name).kind.is_asked for name in (judge, baseline)):
        return []
    total = sum(missing.values(), NOTHING)
    cost = money(None) if total.usd is None else f"at most {money(total.usd)}"
    each = ", ".join(f"{of.calls} of {name}" for name, of in missing.items())
    calls = f"{total.calls} calls ({each}; controls included)"
    return [f"record what the swap lacks, {calls}, {cost}: {command} --judge-record missing"]


def _caveats(run: Run, compared: Sequence[Subject], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return what the chances were simulated for, in what this swap is another, and why one is not known."""
    swap, of_cues = run.config.swap, [each for each in compared if each.check.contrast is not None]
    layout = (len(of_cues), len({each.check.family for each in of_cues}), len({each.dataset for each in of_cues}))
    margins = [
        name
        for name in SwapTable.model_fields
        if name.endswith("_margin") and getattr(swap, name) != getattr(SwapTable(), name)
    ]
    others = [
        *(["{} contrasts (families: {}, datasets: {})".format(*layout)] if layout != SIMULATED else []),
        *(f"{name} = {getattr(swap, name)}" for name in margins),
        *(["several looks"] if len(swap.looks) > 1 else []),
        *([f"level {bare(alpha)}"] if abs((alpha := run.config.default_gate.alpha) - SIMULATED_ALPHA) > 1e-9 else []),
    ]
    lines = ["simulated for 14 contrasts in 2 families on 2 datasets, the default margins and one look (docs/swap.md)"]
    if others:
        lines.append(f"this swap is another one, and its chances differ: {', '.join(others)}")
    if unknown := [row for row in rows if "?" in "".join(row)]:
        few = any(int(row[0]) < SIZES[0] for row in unknown)
        why = f"fewer than {SIZES[0]} pairs were" if few else "a baseline that flips so often was"
        lines.append(f"?: not known, {why} not simulated")
    return lines


def _ruled_out(run: Run, cells: Sequence[Subject], sizes: Mapping[str, int], flips: Mapping[str, Estimate]) -> str:
    """Return what an APPROVE rules out for a single contrast, on the dataset where that is least."""
    swap, alpha = run.config.swap, run.config.default_gate.alpha
    planned = max(swap_check(each).cells for each in cells)
    margin = max(swap.vsr_margin, swap.silent_margin)
    known = {name: flips[name].value if name in flips else None for name in {each.dataset for each in cells}}
    margin = max(
        guard_margin(max(sizes[name], 1), planned, swap, margin=margin, baseline_flips=of, alpha=alpha)
        for name, of in known.items()
    )
    pairs, many = (
        sorted({sizes[each.dataset] for each in cells}),
        "examples" if swap_check(cells[0]).graded else "pairs",
    )
    return (
        f"with {' to '.join(map(str, dict.fromkeys((pairs[0], pairs[-1]))))} {many} an APPROVE rules out that any "
        f"single contrast on one dataset is worse by {bare(margin)} or more"
    )


def _row(run: Run, compared: Sequence[Subject], n: int, flips: float, controls: Cost) -> tuple[str, ...]:
    found = [swap_power(n, each, flips) for each in DISCORDANCES]
    golden = any(each.check.contrast is None for each in compared)
    cost = _cost(run, compared, n) + controls
    accuracy = _shares(found, "reject_accuracy") if golden else "-"
    chances = (_shares(found, "approve_equal"), accuracy, _shares(found, "reject_shift"))
    return (str(n), bare(flips), *chances, str(cost.calls), money(cost.usd))


def _shares(found: Sequence[SwapPower | None], name: str) -> str:
    return " / ".join("?" if each is None else bare(getattr(each, name)) for each in found)


def _cost(run: Run, compared: Sequence[Subject], n: int) -> Cost:
    """Return what everything costs both judges at most, with n pairs where a dataset has fewer, nothing recorded."""
    total = NOTHING
    asked = {
        (judge, each.dataset, arm): each
        for each in compared
        for judge in each.judges
        for arm in run.judge(judge).kind.asks_in_all(each.check.arms)
    }
    for (judge, _, (condition, _)), each in asked.items():
        kind, pairs = run.judge(judge).kind, run.about(each).at_most
        if kind.is_asked:
            cost = most_of(kind.asker_of(condition).table, kind.prompts(condition, pairs))
            total += scaled(cost, max(n / max(len(pairs), 1), 1.0))
    return total


def _flips(run: Run, cells: Sequence[Subject]) -> dict[str, Estimate]:
    """Return by dataset the share of pairs on which the baseline's recorded repeats differ, where there are any."""
    found: dict[str, Estimate] = {}
    for each in cells:
        if each.dataset not in found:
            judge, pairs = run.judge(str(each.baseline)), run.about(each).at_most
            repeats = [choices(run.interviews.seen(judge, each.dataset, pairs, arm, {})) for arm in REPEATED]
            if (share := movable(repeats, [pair.id for pair in pairs])) is not None:
                found[each.dataset] = share
    return found


def _pooled(shares: Iterable[Estimate]) -> float | None:
    """Return the share over the pairs of all datasets, as far from 0 and 1 as chances are known; None without any."""
    known = list(shares)
    n = sum(each.n for each in known)
    return min(max(sum(each.value * each.n for each in known) / n, 0.01), 0.99) if n else None
