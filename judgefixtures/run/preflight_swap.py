"""Preflight of a swap: chances, margins, calls and costs at three sample sizes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from judgefixtures.checks.base import CheckId
from judgefixtures.checks.human_agreement import label_counts
from judgefixtures.checks.swap import REPEATED, check_of_swap_part
from judgefixtures.client.costs import Cost, format_usd, maximum_cost, share_of_cost
from judgefixtures.config import SwapTable
from judgefixtures.metrics.movable_pairs import chosen_responses, movable_share
from judgefixtures.models.replies import Arm
from judgefixtures.statistics import Estimate, format_share
from judgefixtures.statistics.agreement import too_few_labels_text
from judgefixtures.statistics.grader_swap_power import GraderSwapMargins, grader_swap_prospect
from judgefixtures.statistics.power import SwapPower, align_table, approval_with_invalid, swap_power
from judgefixtures.swap import guard_margin

from .messages import MESSAGES
from .run import Run

DISCORDANCES = (0.05, 0.12, 0.18)  # of the pairs, one of two equal judges alone is right: one judge twice; two prompts
FLIPS = (0.05, 0.10)  # of the verdicts change between two runs, where the baseline's repeats do not say
SIZES = (25, 50, 100, 200, 300, 400)
NOTHING = Cost(0, 0, 0, 0.0)
REPEATS = "not measured; measure: {command} -k repeat --judge {judge} --judge-repeats 2 --judge-record missing"
UNREPEATED = "not measured: {judge} is imported and cannot be repeated"
SIMULATED = (14, 2, 2)  # contrasts on datasets, families, datasets
SIMULATED_ALPHA = 0.05
HEADER = ("pairs", "flips", "equal: APPROVE", "accuracy -10: REJECT", "VSR 0.30: REJECT", "total calls", "cost at most")


def swap_preflight_lines(
    run: Run, compared: Sequence[CheckId], missing: Mapping[str, Cost], controls: Cost = NOTHING
) -> list[str]:
    """Return the lines on one candidate's swap.

    Args:
        run: The run.
        compared: The parts of the swap.
        missing: Maximum cost of missing answers by judge.
        controls: Cost of both judges' controls.
    """
    judge, baseline = compared[0].judge, str(compared[0].baseline)
    cells = [each for each in compared if each.check.contrast is not None]
    sizes = {each.dataset: len(run.about(each).at_most) for each in compared}
    fewest, most = min(sizes.values()), max(sizes.values())
    flips = _flips(run, cells)
    if check_of_swap_part(compared[0]).graded:
        ruled_out = [_ruled_out(run, cells, sizes, flips)] if cells else []
        return [_takeover(run, compared), *ruled_out, *_to_record(run, compared, missing)]
    level = _pooled(flips.values())
    rows = [
        _row(run, compared, size, rate, controls)
        for size in (fewest, *[size for size in SIZES if size > most][:2])
        for rate in (FLIPS if level is None else (level,))
    ]
    levels = " / ".join(format_share(each) for each in DISCORDANCES)
    refusing = " / ".join(format_share(round(chance, 2)) for chance in approval_with_invalid(fewest))
    unknown = REPEATS if run.judge(baseline).kind.is_asked else UNREPEATED
    repeats = unknown.format(command=run.options.command, judge=baseline)
    lines = [
        MESSAGES.expectation(judge, baseline, levels, repeats if level is None else ""),
        *align_table([HEADER, *rows]),
        f"if only the candidate has invalid answers (2%), equal judges get APPROVE in {refusing} ({fewest} pairs)",
        *_caveats(run, compared, rows),
    ]
    if fewest < most:
        lines.append(f"datasets have {fewest} to {most} pairs: the chances are for {fewest} each")
    if cells:
        lines.append(_ruled_out(run, cells, sizes, flips))
    return [*lines, *_to_record(run, compared, missing)]


def _takeover(run: Run, compared: Sequence[CheckId]) -> str:
    swap, about = run.config.swap, [run.about(each).at_most for each in compared if each.check.contrast is None]
    labels = label_counts([pair for pairs in about for pair in pairs])
    prospect = ""
    if any(labels):
        margins = GraderSwapMargins(swap.accuracy_margin, swap.rate_margin, swap.pass_rate_margin)
        prospect = grader_swap_prospect(*labels, margins, run.config.default_gate.alpha)
    is_whole = bool(too_few_labels_text(*labels))
    return MESSAGES.takeover(compared[0].judge, compared[0].baseline, prospect, is_whole)


def _to_record(run: Run, compared: Sequence[CheckId], missing: Mapping[str, Cost]) -> list[str]:
    judge, baseline = compared[0].judge, str(compared[0].baseline)
    chosen = "".join(f" --judge-dataset {name}" for name in run.options.datasets)
    command = f"{run.options.command} -k swap --judge {judge} --judge-baseline {baseline}{chosen}"
    if not any(run.judge(name).kind.is_asked for name in (judge, baseline)):
        return []
    return [MESSAGES.to_record(command, missing, sum(missing.values(), NOTHING))]


def _caveats(run: Run, compared: Sequence[CheckId], rows: Sequence[Sequence[str]]) -> list[str]:
    swap, of_cues = run.config.swap, [each for each in compared if each.check.contrast is not None]
    layout = (len(of_cues), len({each.check.family for each in of_cues}), len({each.dataset for each in of_cues}))
    own = {name: getattr(swap, name) for name in SwapTable.model_fields if name.endswith("_margin")}
    margins = {name: margin for name, margin in own.items() if margin != getattr(SwapTable(), name)}
    alpha = run.config.default_gate.alpha
    level = None if abs(alpha - SIMULATED_ALPHA) <= 1e-9 else alpha
    others = MESSAGES.lines("other_than_simulated", layout, SIMULATED, margins, swap.looks, level)
    unknown = [int(row[0]) for row in rows if "?" in "".join(row)]
    return MESSAGES.lines("simulated_for", others, unknown, SIZES[0])


def _ruled_out(run: Run, cells: Sequence[CheckId], sizes: Mapping[str, int], flips: Mapping[str, Estimate]) -> str:
    swap, alpha = run.config.swap, run.config.default_gate.alpha
    planned = max(check_of_swap_part(each).cells for each in cells)
    margin = max(swap.vsr_margin, swap.silent_margin)
    known = {name: flips[name].value if name in flips else None for name in {each.dataset for each in cells}}
    margin = max(
        guard_margin(max(sizes[name], 1), planned, swap, margin=margin, baseline_flips=of, alpha=alpha)
        for name, of in known.items()
    )
    pairs = [sizes[each.dataset] for each in cells]
    many = "examples" if check_of_swap_part(cells[0]).graded else "pairs"
    return MESSAGES.ruled_out(min(pairs), max(pairs), many, margin)


def _row(run: Run, compared: Sequence[CheckId], n: int, flips: float, controls: Cost) -> tuple[str, ...]:
    powers = [swap_power(n, each, flips) for each in DISCORDANCES]
    golden = any(each.check.contrast is None for each in compared)
    cost = _cost(run, compared, n) + controls
    accuracy = _shares(powers, "reject_accuracy") if golden else "-"
    chances = (_shares(powers, "approve_equal"), accuracy, _shares(powers, "reject_shift"))
    return (str(n), format_share(flips), *chances, str(cost.calls), format_usd(cost.usd))


def _shares(powers: Sequence[SwapPower | None], name: str) -> str:
    return " / ".join("?" if each is None else format_share(getattr(each, name)) for each in powers)


def _cost(run: Run, compared: Sequence[CheckId], n: int) -> Cost:
    total = NOTHING
    for (judge, _, (condition, _)), each in dict(asked_by(run, compared)).items():
        kind, pairs = run.judge(judge).kind, run.about(each).at_most
        if kind.is_asked:
            cost = maximum_cost(kind.client_of(condition).table, kind.prompts(condition, pairs))
            total += share_of_cost(cost, max(n / max(len(pairs), 1), 1.0))
    return total


def asked_by(run: Run, subjects: Iterable[CheckId]) -> Iterator[tuple[tuple[str, str, Arm], CheckId]]:
    """Yield judge, dataset and arm of every request of the checks."""
    for each in subjects:
        for judge in each.judges:
            for arm in run.judge(judge).kind.asks_in_all(each.check.arms):
                yield (judge, each.dataset, arm), each


def _flips(run: Run, cells: Sequence[CheckId]) -> dict[str, Estimate]:
    flips: dict[str, Estimate] = {}
    for each in cells:
        if each.dataset not in flips:
            judge, pairs = run.judge(str(each.baseline)), run.about(each).at_most
            repeats = [
                chosen_responses(run.answer_service.recorded_judgments(judge, each.dataset, pairs, arm, {}))
                for arm in REPEATED
            ]
            if (share := movable_share(repeats, [pair.id for pair in pairs])) is not None:
                flips[each.dataset] = share
    return flips


def _pooled(shares: Iterable[Estimate]) -> float | None:
    known = list(shares)
    n = sum(each.n for each in known)
    return min(max(sum(each.value * each.n for each in known) / n, 0.01), 0.99) if n else None
