"""The preflight: what a run would ask, what it could cost, and whether it can decide anything."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.checks import ContrastCheck, SwapCheck
from judgefixtures.checks.check import Subject
from judgefixtures.costs import MARGIN, Cost, money, most_of
from judgefixtures.judgments import Arm
from judgefixtures.plans import PLAN
from judgefixtures.power import Design, aligned, table
from judgefixtures.run import Run

Costs = Mapping[tuple[str, str, Arm], Cost]

SWAP_HEADER = ("dataset", "comparison", "pairs", "calls", "cost at most", "at least", "if equal", "can pass")


def forecast(run: Run, subjects: Sequence[Subject]) -> list[str]:
    """Return the lines of the preflight for what would be checked."""
    designs = [_design(run, each) for each in subjects if isinstance(each.check, ContrastCheck)]
    costs = _costs(run, subjects)
    lines = ["preflight"]
    lines += [f"  {line}" for line in (table(designs) if designs else ())]
    lines += [f"  {line}" for line in _swaps(run, subjects, costs)]
    lines += [f"  {need.what} on {need.dataset} cannot pass with {need.n} pairs: {need.at_least} are needed"
              for need in run.hopeless(subjects)]  # fmt: skip
    lines += [f"  {line}" for line in _samples(run, subjects)]
    return lines + [f"  {line}" for line in _totals(costs)]


def _swaps(run: Run, subjects: Sequence[Subject], costs: Costs) -> list[str]:
    """Return a table per candidate: for each comparison pairs, calls, cost, the pairs it needs, whether it can PASS."""
    candidates: dict[tuple[str, str], list[Subject]] = {}
    for subject in subjects:
        if subject.baseline is not None:
            candidates.setdefault((subject.judge, subject.baseline), []).append(subject)
    lines = []
    for (judge, baseline), compared in candidates.items():
        lines.append(f"swap: {judge} against {baseline}")
        lines += aligned([SWAP_HEADER, *(_swap_cells(run, subject, costs) for subject in compared)])
    if candidates:
        lines.append("at least: fewer pairs never pass; if equal: judges that never differ pass from there on")
    return lines


def _swap_cells(run: Run, subject: Subject, costs: Costs) -> tuple[str, ...]:
    check = subject.check
    assert isinstance(check, SwapCheck)
    n, fewest = check.counted(run.pairs(subject.judge, subject.dataset)), check.fewest(run.config)
    can = "no" if n < fewest.any else "if better" if n < fewest.equal else "yes"
    asked = {(judge, subject.dataset, arm) for judge in subject.judges for arm in (*check.arms, *_planning(run, judge))}
    cost = sum((costs[key] for key in asked), Cost(0, 0, 0, 0.0))
    return (subject.dataset, check.name, str(n), str(cost.calls), money(cost.usd), str(fewest.any), str(fewest.equal),
            can)  # fmt: skip


def _samples(run: Run, subjects: Sequence[Subject]) -> list[str]:
    """Return the lines that describe each dataset's sample; a judge with another sample has its own."""
    said: dict[tuple[str, ...], None] = {}
    for judge, dataset in dict.fromkeys((each.judge, each.dataset) for each in subjects):
        said[tuple(run.samples.lines(judge, dataset))] = None
    return [line for lines in said for line in lines]


def _design(run: Run, subject: Subject) -> Design:
    check, n = subject.check, len(run.pairs(subject.judge, subject.dataset))
    gate = run.config.gate(check.family)
    return Design(check.name, subject.dataset, n, gate.tolerance(check.family), gate.alpha, check.family)


def _costs(run: Run, subjects: Sequence[Subject]) -> Costs:
    """Return what each judge's arms cost at most, what is recorded already left out."""
    asked = {(judge, each.dataset, arm): None for each in subjects for judge in each.judges
             for arm in (*_planning(run, judge), *each.check.arms)}  # fmt: skip
    return {key: _cost(run, *key) for key in asked}


def _totals(costs: Costs) -> list[str]:
    """Return a line per judge: calls, tokens and money at most."""
    totals: dict[str, Cost] = {}
    for (judge, _, _), cost in costs.items():
        totals[judge] = totals.get(judge, Cost(0, 0, 0, 0.0)) + cost
    return [f"{judge}: at most {cost} (4 characters per token, +{100 * MARGIN:.0f}%; the longest answers)"
            for judge, cost in totals.items()]  # fmt: skip


def _planning(run: Run, judge: str) -> Sequence[Arm]:
    """Return the arm in which a judge's model is asked for plans, where it is."""
    return ((PLAN, 0),) if run.judge(judge).planner is not None else ()


def _cost(run: Run, judge_name: str, dataset: str, arm: Arm) -> Cost:
    judge, (condition, repeat) = run.judge(judge_name), arm
    if condition is PLAN:
        judge = judge.planner or judge
    recorded: set[tuple[str, int, str]] = set()
    if run.library.mode != "all":
        with contextlib.suppress(CassetteError):  # the item says what is wrong with the file
            recorded = run.library.recorded(judge_name, dataset, condition.name)
    pairs = run.pairs(judge_name, dataset)
    wanted = [pair for pair in pairs if (pair.id, repeat, pair.digest) not in recorded]
    prompts = [judge.longest_prompt(pair, condition) for pair in wanted]
    if condition is PLAN:  # pairs of one question have one plan
        done = {judge.prompt(pair, condition) for pair in pairs if pair not in wanted}
        prompts = [prompt for prompt in dict.fromkeys(prompts) if prompt not in done]
    return most_of(judge.table, prompts)
