"""Preflight of looks: the mean number of calls up to the deciding look.

Assumes an unbiased judge and independent contrasts; a shared arm is asked while any is undecided.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from judgefixtures.checks.base import CheckId
from judgefixtures.checks.gate_looks import note_pairs_after_last_look
from judgefixtures.client.costs import Cost, cost_of_calls, share_of_cost
from judgefixtures.models.replies import Arm
from judgefixtures.models.usage import Usage
from judgefixtures.statistics.alpha_spending import planned_levels
from judgefixtures.statistics.estimate import format_share
from judgefixtures.statistics.power import FLIP_RATES, SHIFTS, PlannedContrast, pass_chance_of_designs
from judgefixtures.statistics.sequential import expected_looks

from .messages import MESSAGES
from .run import Run

Key = tuple[str, str, Arm]  # a judge, a dataset and what is asked
FLIPS = {"if no verdict flips": 0.0, "at 5% flips": 0.05}  # of a judge without bias
ADVISED = (50, 100, 200)
SELDOM_GREEN = 0.5
NOISE = {"if no score moves": 0.0, "at noise of 0.05 of the scale": 0.05}  # the same where scores are gated alone


def look_savings(
    run: Run,
    designs: Mapping[CheckId, PlannedContrast | None],
    costs: Mapping[Key, Cost],
    recorded: Mapping[Key, Sequence[Usage]],
) -> Iterator[str]:
    """Yield the mean calls, tokens and money of looks per judge.

    Notes on datasets beyond the last look come first.

    Args:
        run: The run.
        designs: The contrast of each check.
        costs: Maximum costs of missing answers.
        recorded: Usages of recorded answers, for the mean.
    """
    beyond = {
        (subject.dataset, design.n, looks[-1])
        for subject, design in designs.items()
        if design is not None and (looks := run.config.gate(subject.check.family).looks) and design.n > looks[-1]
    }
    yield from (note_pairs_after_last_look(*each) for each in sorted(beyond))
    keys: dict[str, list[Key]] = {}
    for key, cost in costs.items():
        if cost.calls and run.judge(key[0]).kind.is_asked:
            keys.setdefault(key[0], []).append(key)
    for judge, missing in keys.items():
        mine = {key: _sharing(run, designs, key) for key in missing}
        looked = [each for sharing in mine.values() for each in sharing if each is not None and each.steps]
        if not looked:
            continue
        known = [
            usage for key, all_of_it in recorded.items() if key[0] == judge for usage in all_of_it if _is_counted(usage)
        ]
        savings = []
        for words, flips in (NOISE if all(each.scored for each in looked) else FLIPS).items():
            parts = [
                share_of_cost(costs[key], _share(sharing, flips, len(recorded.get(key, ())), costs[key].calls))
                for key, sharing in mine.items()
            ]
            cost = sum(parts, Cost(0, 0, 0, 0.0))
            if known and not run.judge(judge).kind.preparation:
                cost = share_of_cost(cost_of_calls(run.judge(judge).table, known), cost.calls / len(known))
            savings.append(f"{cost} {words}")
        yield MESSAGES.look_savings(judge, savings, len(known))


def advise_looks(run: Run, designs: Mapping[CheckId, PlannedContrast | None]) -> Iterator[str]:
    """Yield the chances of planned or advised looks.

    Looks are advised if an unbiased judge passes everything in less than half of the runs.
    """
    gated = {each: of for each, of in designs.items() if of and not of.scored and not run.about(each).pool}
    shift = max([each for each in SHIFTS if all(each < of.tolerance for of in gated.values())], default=0.0)
    looked = {each: of for each, of in gated.items() if of.steps}
    which, there = "with these looks", {each: of.n for each, of in looked.items()}
    units = " or ".join(dict.fromkeys(of.units for of in gated.values()))
    if (
        gated
        and not looked
        and min(pass_chance_of_designs(gated.values(), flips, shift) for flips in FLIP_RATES) < SELDOM_GREEN
    ):
        which = f"with [gate] looks = {list(ADVISED)} and {ADVISED[-1]} {units}"
        looked = {each: _with_looks(of) for each, of in gated.items()}
        there = {each: max(of.n, run.samples.of(each.judge, each.dataset).available) for each, of in gated.items()}
    if looked:
        ends = []
        for flips in FLIP_RATES:
            mean = sum(each.course(flips, shift).pairs for each in looked.values()) / len(looked)
            green = format_share(round(pass_chance_of_designs(looked.values(), flips, shift), 2))
            ends.append(f"{green} of runs at {flips:.0%} flips ({mean:.0f} {units} a contrast on average)")
        yield (f"{which} a judge with VSR {format_share(shift)} in every contrast passes all in {', '.join(ends)}")
    short = {
        (each.dataset, there[each], of.last_look, of.units) for each, of in looked.items() if there[each] < of.last_look
    }
    for dataset, n, last, units in sorted(short):
        yield f"the last look needs {last} {units}, but {dataset} has {n}"


def _with_looks(design: PlannedContrast) -> PlannedContrast:
    steps = planned_levels(ADVISED, ADVISED[-1], design.alpha)
    return replace(design, n=ADVISED[-1], steps=steps, last_look=ADVISED[-1])


def _is_counted(usage: Usage) -> bool:
    return usage.input_tokens is not None and usage.output_tokens is not None


def _sharing(run: Run, designs: Mapping[CheckId, PlannedContrast | None], key: Key) -> list[PlannedContrast | None]:
    judge, dataset, arm = key
    return [
        design
        for subject, design in designs.items()
        if subject.dataset == dataset
        and judge in subject.judges
        and arm in run.judge(judge).kind.asks_in_all(subject.check.arms)
    ]


def _share(sharing: Sequence[PlannedContrast | None], flips: float, recorded: int, missing: int) -> float:
    looked = [design for design in sharing if design is not None and design.steps]
    if len(looked) < len(sharing) or not looked:
        return 1.0
    shares, ended = _ended(looked, flips)
    every = recorded + missing
    return expected_looks([max(share * every - recorded, 0.0) / missing for share in shares], ended)


def _ended(designs: Sequence[PlannedContrast], flips: float) -> tuple[list[float], list[float]]:
    ends = [
        [(look / each.n, ended) for look, ended in zip(course.looks, course.ended, strict=True)]
        for each in designs
        for course in [each.course(flips)]
    ]
    shares = sorted({share for each in ends for share, _ in each})
    return shares, [
        math.prod(max((ended for at, ended in each if at <= share), default=0.0) for each in ends) for share in shares
    ]
