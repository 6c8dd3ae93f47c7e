"""The preflight: what a run would ask, what it could cost, and whether it can decide anything."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from judgefixtures.cassettes.files import CassetteError
from judgefixtures.config import Config
from judgefixtures.contrasts import NO_CUE, NO_CUE_SWAPPED
from judgefixtures.costs import MARGIN, Cost, money, most_of
from judgefixtures.judgments import Arm
from judgefixtures.pairs import Pair
from judgefixtures.plans import PLAN, heuristic_plan
from judgefixtures.plugin.items import Item
from judgefixtures.plugin.setup import Setup
from judgefixtures.preflight import (
    Design,
    Fewest,
    aligned,
    smallest_n,
    smallest_n_of_accuracies,
    smallest_n_of_accuracy,
    smallest_n_of_cells,
    smallest_n_of_swap,
    table,
)

if TYPE_CHECKING:
    from judgefixtures.judges import Judge
    from judgefixtures.judgments import Judgment, Planned

Costs = Mapping[tuple[str, str, Arm], Cost]

SWAP_HEADER = ("dataset", "comparison", "pairs", "calls", "cost at most", "at least", "if equal", "can pass")


@dataclass(frozen=True, slots=True)
class Need:
    """What an item needs before any answers can be a PASS: more pairs than there are, because of a limit."""

    what: str
    dataset: str
    n: int
    at_least: int
    limit: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what} on {self.dataset}: {self.n} pairs cannot pass {self.limit}: at least {self.at_least} " \
               "are needed"  # fmt: skip


def forecast(setup: Setup, items: Sequence[Item]) -> list[str]:
    """Return the lines of the preflight for the items that would run."""
    designs = [
        _design(setup, item)
        for item in items
        if item.contrast is not None and item.contrast.family != "four-cell" and item.baseline is None
    ]
    costs = _costs(setup, items)
    lines = ["preflight"]
    lines += [f"  {line}" for line in (table(designs) if designs else ())]
    lines += [f"  {line}" for line in _swaps(setup, items, costs)]
    lines += [f"  {need.what} on {need.dataset} cannot pass with {need.n} pairs: {need.at_least} are needed"
              for need in hopeless(setup, items)]  # fmt: skip
    lines += [f"  {line}" for line in _samples(setup, items)]
    return lines + [f"  {line}" for line in _totals(costs)]


def hopeless(setup: Setup, items: Iterable[Item]) -> tuple[Need, ...]:
    """Return what cannot PASS whatever is answered, once each."""
    found = (need(setup.config, item, setup.pairs(item.judge, item.dataset)) for item in items)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def need(config: Config, item: Item, pairs: Sequence[Pair]) -> Need | None:
    """Return what an item lacks to PASS with the best of answers; None where these pairs can do, or none are there."""
    contrast, n = item.contrast, len(pairs)
    if item.plan:
        return _need_of_plans(config, item, n)
    gate = config.gate(contrast.family if contrast else "accuracy")
    if contrast is None:
        n = sum(pair.gold is not None for pair in pairs)
    if item.baseline is not None:
        what = f"swap {contrast.id if contrast else 'accuracy'}"
        found = Need(what, item.dataset, n, _fewest(config, item).any, "the margins of [swap]", "raise the margin")
    elif contrast is None:
        if gate.min_accuracy is None:
            return None
        found = Need("accuracy", item.dataset, n, smallest_n_of_accuracy(gate.min_accuracy, gate.alpha),
                     f"min_accuracy {gate.min_accuracy:g}, not even if all are right", "lower it")  # fmt: skip
    else:
        tolerance = gate.tolerance(contrast.family)
        key = "attack_tolerance" if contrast.family == "attack" else "vsr_tolerance"
        fewest = smallest_n_of_cells if contrast.family == "four-cell" else smallest_n
        found = Need(contrast.id, item.dataset, n, fewest(tolerance, gate.alpha),
                     f"{key} {tolerance:g}, not even without any flip", "raise the tolerance")  # fmt: skip
    return found if 0 < n < found.at_least else None


def _need_of_plans(config: Config, item: Item, n: int) -> Need | None:
    gate = config.gate("plan")
    found = Need("plan", item.dataset, n, smallest_n_of_accuracy(1 - gate.max_degenerate, gate.alpha),
                 f"max_degenerate {gate.max_degenerate:g}, not even if all plans are good", "raise it")  # fmt: skip
    return found if config.judge_table(item.judge).asks_for_plans and 0 < n < found.at_least else None


def _fewest(config: Config, item: Item) -> Fewest:
    """Return the pairs that a comparison with the baseline needs."""
    if item.contrast is None:
        return smallest_n_of_accuracies(config.swap.accuracy_margin, config.gate("accuracy").alpha)
    alpha = config.gate(item.contrast.family).alpha
    return smallest_n_of_swap(config.swap.vsr_margin, config.swap.silent_margin, alpha)


def _swaps(setup: Setup, items: Sequence[Item], costs: Costs) -> list[str]:
    """Return a table a candidate: for each comparison pairs, calls, cost, the pairs it needs, whether it can PASS."""
    candidates: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        if item.baseline is not None:
            candidates.setdefault((item.judge, item.baseline), []).append(item)
    lines = []
    for (judge, baseline), compared in candidates.items():
        lines.append(f"swap: {judge} against {baseline}")
        lines += aligned([SWAP_HEADER, *(_swap_cells(setup, item, costs) for item in compared)])
    if candidates:
        lines.append("at least: fewer pairs never pass; if equal: judges that never differ pass from there on")
    return lines


def _swap_cells(setup: Setup, item: Item, costs: Costs) -> tuple[str, ...]:
    pairs = setup.pairs(item.judge, item.dataset)
    n = len(pairs) if item.contrast else sum(pair.gold is not None for pair in pairs)
    fewest = _fewest(setup.config, item)
    can = "no" if n < fewest.any else "if better" if n < fewest.equal else "yes"
    asked = {(judge, item.dataset, arm) for judge in (item.judge, str(item.baseline)) for arm in _arms(item)}
    asked |= {(judge, item.dataset, arm) for judge in (item.judge, str(item.baseline))
              for arm in _planning(setup, judge)}  # fmt: skip
    cost = sum((costs[key] for key in asked), Cost(0, 0, 0, 0.0))
    name = item.contrast.id if item.contrast else "accuracy"
    return (item.dataset, name, str(n), str(cost.calls), money(cost.usd), str(fewest.any), str(fewest.equal), can)


def _samples(setup: Setup, items: Sequence[Item]) -> list[str]:
    """Return the lines that describe each dataset's sample; a judge with another sample has its own."""
    said: dict[tuple[str, ...], None] = {}
    for judge, dataset in dict.fromkeys((item.judge, item.dataset) for item in items):
        said[tuple(setup.samples.lines(judge, dataset))] = None
    return [line for lines in said for line in lines]


def _design(setup: Setup, item: Item) -> Design:
    assert item.contrast is not None
    gate = setup.config.gate(item.contrast.family)
    n = len(setup.pairs(item.judge, item.dataset))
    return Design(item.contrast.id, item.dataset, n, gate.tolerance(item.contrast.family), gate.alpha,
                  item.contrast.family)  # fmt: skip


def _costs(setup: Setup, items: Sequence[Item]) -> Costs:
    """Return what each judge's arms cost at most, what is recorded already left out."""
    asked = {(judge, item.dataset, arm): None for item in items
             for judge in filter(None, (item.judge, item.baseline))
             for arm in (*_planning(setup, judge), *_arms(item))}  # fmt: skip
    recordings = _Recordings(setup)
    return {key: recordings.cost(*key) for key in asked}


def _totals(costs: Costs) -> list[str]:
    """Return a line a judge: calls, tokens and money at most."""
    totals: dict[str, Cost] = {}
    for (judge, _, _), cost in costs.items():
        totals[judge] = totals.get(judge, Cost(0, 0, 0, 0.0)) + cost
    return [f"{judge}: at most {cost} (4 characters a token, +{100 * MARGIN:.0f}%; the longest answers)"
            for judge, cost in totals.items()]  # fmt: skip


def _planning(setup: Setup, judge: str) -> Sequence[Arm]:
    """Return the arm in which a judge's model is asked for plans, where it is."""
    return ((PLAN, 0),) if setup.judge(judge).planner is not None else ()


def _arms(item: Item) -> Sequence[Arm]:
    if item.plan:
        return ()
    if item.contrast is not None:
        return item.contrast.cells if item.contrast.family == "four-cell" else item.contrast.arms
    return ((NO_CUE, 0),) if item.baseline is not None else ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))


@dataclass(slots=True)
class _Recordings:
    """What recordings answer of the arms that a run asks about: found by the look-up that the run itself uses."""

    setup: Setup
    _plans: dict[tuple[str, str], Mapping[str, Planned]] = field(default_factory=dict)

    def cost(self, judge_name: str, dataset: str, arm: Arm) -> Cost:
        """Return what an arm costs at most: every pair that no recording answers, or not as is wanted."""
        judge, (condition, _) = self.setup.judge(judge_name), arm
        asked = judge.planner or judge if condition is PLAN else judge
        pairs = self.setup.pairs(judge_name, dataset)
        plans = {} if condition is PLAN else self._plans_of(judge, dataset, pairs)
        recorded = self._recorded(asked, dataset, arm, pairs, plans)
        wanted = [pair for pair in pairs if pair.id not in recorded]
        prompts = [asked.longest_prompt(pair, condition) for pair in wanted]
        if condition is PLAN:  # pairs of one question have one plan
            prompts = list(dict.fromkeys(prompts))
        return most_of(asked.table, prompts)

    def _plans_of(self, judge: Judge, dataset: str, pairs: Sequence[Pair]) -> Mapping[str, Planned]:
        """Return the plans that are known before anything is asked: hand-made ones, and those that are recorded."""
        if not judge.plans_first:
            return {}
        if (judge.name, dataset) not in self._plans:
            self._plans[judge.name, dataset] = self._made(judge, dataset, pairs)
        return self._plans[judge.name, dataset]

    def _made(self, judge: Judge, dataset: str, pairs: Sequence[Pair]) -> Mapping[str, Planned]:
        from judgefixtures.judgments import Planned

        planner = judge.planner
        if planner is None:
            return {pair.id: Planned(heuristic_plan(pair)) for pair in pairs}
        recorded = self._recorded(planner, dataset, (PLAN, 0), pairs, {})
        return {pair.id: Planned(planner.read(pair, recorded[pair.id].reply)) for pair in pairs if pair.id in recorded}

    def _recorded(
        self, judge: Judge, dataset: str, arm: Arm, pairs: Sequence[Pair], plans: Mapping[str, Planned]
    ) -> Mapping[str, Judgment]:
        """Return the recorded judgments of an arm that the run will not ask for, by pair id."""
        from judgefixtures.cassettes.replay import recording
        from judgefixtures.judgments import recorded

        setup, (condition, _) = self.setup, arm
        if setup.library.mode == "all":
            return {}
        known = [pair for pair in pairs if not judge.plans_first or condition is PLAN or pair.id in plans]
        found: Mapping[str, Judgment] = {}
        library = replace(setup.library, mode="none")
        setup.asked[id(judge)] = judge  # what the look-up opens is closed with the session
        with (
            contextlib.suppress(CassetteError),  # the item says what is wrong with the file
            library.open(judge, dataset, [condition.name], ()) as cassettes,
            recording(only_httpx2=not judge.is_python, offline=True),
        ):
            found = setup.runner.run(recorded(judge, known, arm, cassettes[condition.name], plans))
        again = setup.library.invalid if setup.library.mode == "invalid" else frozenset[str]()
        return {pair: judgment for pair, judgment in found.items() if judgment.reply.invalid not in again}
