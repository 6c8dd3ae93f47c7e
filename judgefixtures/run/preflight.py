"""Preflight: what a run would ask and cost, and whether it can decide."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from judgefixtures.batches import offers_batches
from judgefixtures.cassettes.cassette import find_recordings_elsewhere
from judgefixtures.cassettes.files import CassetteError
from judgefixtures.checks.base import CheckId, CheckInput, SampleRequirement
from judgefixtures.checks.control import OFF, ControlTrial
from judgefixtures.checks.grader_control import LabelRequirement
from judgefixtures.checks.swap import check_of_swap_part
from judgefixtures.client import costs as pricing
from judgefixtures.judges.judge import Judge
from judgefixtures.models.contrasts import Condition
from judgefixtures.models.pairs import Pair, are_examples, count_independent
from judgefixtures.models.replies import Arm, PlanWithUsage
from judgefixtures.models.usage import Usage
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, is_of_pair_responses, vocabulary_for
from judgefixtures.prompts.planning import PLAN
from judgefixtures.statistics.power import PlannedContrast, align_table, describe_run_chances, power_table
from judgefixtures.util.texts import join_names

from .closest_pairs import PairScope
from .compatibility import misplaced_cue_reason
from .messages import MESSAGES
from .preflight_looks import advise_looks, look_savings
from .preflight_swap import NOTHING, asked_by, swap_preflight_lines
from .run import Run

Costs = Mapping[tuple[str, str, Arm], pricing.Cost]

CACHED_FROM = 1024  # tokens: no shorter start of a prompt is kept by the caches of OpenAI, Gemini or Claude

SWAP_HEADER = ("dataset", "comparison", "pairs", "calls", "cost at most", "at least", "if equal", "can pass")


def preflight_lines(run: Run, subjects: Sequence[CheckId]) -> list[str]:
    """Return the preflight's lines."""
    every, excused = subjects, {each: _excuse(run, each) for each in subjects}
    subjects = [each for each in subjects if not excused[each]]
    designed = {each: _design(run, each) for each in subjects}
    designs = [design for design in designed.values() if design is not None]
    recordings = _Recordings(run)
    costs = _costs(run, subjects, recordings)
    alone, compared = _titles(subjects)
    lines = [
        *alone,
        *power_table(designs),
        *describe_run_chances(designs),
        *advise_looks(run, designed),
        *dict.fromkeys(_conservative(run, subjects)),
        *dict.fromkeys(_prospects(run, subjects)),
        *_swaps(run, subjects, costs),
        *compared,
        *map(_lacking, run.pair_selector.cannot_pass(subjects)),
        *dict.fromkeys(_lacking_gold(run, subjects)),
        *_samples(run, subjects),
        *dict.fromkeys(_closest(run, subjects)),
        *dict.fromkeys(_controls(run, subjects)),
        *dict.fromkeys(_imported(run, every, excused)),
        *_misplaced(run, costs),
        *_totals(run, costs),
        *look_savings(run, designed, costs, recordings.usages),
        *_unpriced(run, costs),
        *_shared(run, recordings),
        *_readings(run, subjects),
    ]
    return ["preflight", *(f"  {line}" for line in lines)]


def _titles(subjects: Sequence[CheckId]) -> tuple[list[str], list[str]]:
    own = dict.fromkeys(each.judge for each in subjects if each.baseline is None)
    if not own or all(each.baseline is None for each in subjects):
        return [], []
    return [f"gates of {join_names(own)} alone, without the baseline"], ["for both judges, gates and swap:"]


def _lacking(need: SampleRequirement) -> str:
    few = f"{need.what} on {need.dataset} cannot pass with {need.n} {need.unit}"
    return f"{few}: it needs {need.at_least} ({need.limit})"


def _design(run: Run, subject: CheckId) -> PlannedContrast | None:
    table, pairs = run.config.judge_table(subject.judge), run.about(subject).at_most
    return subject.check.design(run.config, table, subject.dataset, pairs)


def _prospects(run: Run, subjects: Sequence[CheckId]) -> Iterator[str]:
    for each in subjects:
        table, pairs = run.config.judge_table(each.judge), run.about(each).at_most
        yield from filter(None, [each.check.prospect(run.config, table, each.dataset, pairs)])


def _excuse(run: Run, subject: CheckId) -> str:
    judge, baseline = run.judge(subject.judge), subject.baseline
    pairs = run.about(subject).at_most
    case = CheckInput(judge, subject.dataset, pairs, run.config, None if baseline is None else run.judge(baseline))
    excuse = subject.check.skip_reason(case) or misplaced_cue_reason(subject.check.contrast, case.judges)
    return excuse or run.check_runner.unanswered(subject.check, case)


def _imported(run: Run, subjects: Sequence[CheckId], excused: Mapping[CheckId, str]) -> Iterator[str]:
    names = dict.fromkeys((judge, each.dataset) for each in subjects for judge in each.judges)
    imported = [(judge, dataset) for judge, dataset in names if not run.judge(judge).kind.is_asked]
    for judge, dataset in imported:
        where = run.imports.path(judge, dataset)
        yield f"{judge} is imported: its answers about {dataset} come from {where}; no requests are sent"
    for each, why in excused.items():
        wrong = misplaced_cue_reason(each.check.contrast, map(run.judge, each.judges))
        if why and (wrong or any((who, each.dataset) in imported for who in each.judges)):
            yield why


def _conservative(run: Run, subjects: Sequence[CheckId]) -> Iterator[str]:
    for each in subjects:
        pairs, every = run.about(each).at_most, run.pairs(each.judge, each.dataset)
        words, n = vocabulary_for(pairs), count_independent(pairs)
        if _design(run, each) is None:
            continue
        selected_of = len(every) if each.check.select_pairs(every) != every else None
        of_pairs, family = is_of_pair_responses(pairs), each.check.family
        yield from MESSAGES.lines("counted_units", each.dataset, family, len(pairs), n, words, selected_of, of_pairs)


def _swaps(run: Run, subjects: Sequence[CheckId], costs: Costs) -> list[str]:
    candidates: dict[tuple[str, str], list[CheckId]] = {}
    for subject in subjects:
        if subject.baseline is not None:
            candidates.setdefault((subject.judge, subject.baseline), []).append(subject)
    lines, many = [], ""
    for (judge, baseline), compared in candidates.items():
        many = (OF_EXAMPLES if check_of_swap_part(compared[0]).graded else OF_PAIRS).many
        lines.append(f"swap: {judge} against {baseline}")
        lines += align_table(
            [(*SWAP_HEADER[:2], many, *SWAP_HEADER[3:]), *(_swap_cells(run, subject, costs) for subject in compared)]
        )
        own = costs if len(compared) == len(subjects) else _costs(run, compared, _Recordings(run))
        lines += swap_preflight_lines(run, compared, _by_judge(own), _cost_of_controls(run, compared))
    if candidates:
        lines.append("calls: for both judges; comparisons share requests, so the total is lower than the sum")
        lines.append(f"at least: {many} without which no judge passes; if equal: {many} for judges that never differ")
    return lines


def _by_judge(costs: Costs) -> dict[str, pricing.Cost]:
    totals: dict[str, pricing.Cost] = {}
    for (judge, _, _), cost in costs.items():
        totals[judge] = totals.get(judge, NOTHING) + cost
    return totals


def _cost_of_controls(run: Run, subjects: Sequence[CheckId]) -> pricing.Cost:
    questions = {(*key, pair.id) for key, each in asked_by(run, subjects) for pair in run.about(each).at_most}
    total = NOTHING
    for judge, dataset, trial, pairs in _controlled(run, subjects):
        kind = run.judge(judge).kind
        for arm in kind.asks_in_all(trial.arms) if kind.is_asked else ():
            others = [pair for pair in pairs if (judge, dataset, arm, pair.id) not in questions]
            questions |= {(judge, dataset, arm, pair.id) for pair in others}
            total += pricing.maximum_cost(kind.client_of(arm[0]).table, kind.prompts(arm[0], others))
    return total


def _swap_cells(run: Run, subject: CheckId, costs: Costs) -> tuple[str, ...]:
    check = check_of_swap_part(subject)
    about = run.about(subject).at_most
    n, fewest = check.counted(about), check.fewest(run.config, about)
    can = "no" if n < fewest.any else "if better" if n < fewest.equal else "yes"
    cost = _cost_of(run, [subject], costs)
    counts = (str(n), str(cost.calls), pricing.format_usd(cost.usd), str(fewest.any), str(fewest.equal))
    return (subject.dataset, check.name, *counts, can)


def _cost_of(run: Run, compared: Sequence[CheckId], costs: Costs) -> pricing.Cost:
    return sum((costs[key] for key in dict(asked_by(run, compared))), NOTHING)


def _samples(run: Run, subjects: Sequence[CheckId]) -> list[str]:
    names = dict.fromkeys((each.judge, each.dataset) for each in subjects)
    samples = dict.fromkeys(tuple(run.samples.describe_pairs(judge, dataset)) for judge, dataset in names)
    return [line for lines in samples for line in lines]


def _closest(run: Run, subjects: Sequence[CheckId]) -> Iterator[str]:
    for subject in subjects:
        about = run.about(subject)
        for judge in subject.judges if about.pool else ():
            how = "as saved"
            if judge in about.undecided:
                how = f"chosen first from {len(run.judge(judge).kind.screening) * len(about.pool)} answers without cues"
            yield f"{subject.dataset}: closest {about.cut} of {len(about.pool)} for {judge}, {how}"


def _controls(run: Run, subjects: Sequence[CheckId]) -> Iterator[str]:
    if run.config.control is None:
        yield OFF.partition(":")[0]
    for judge, dataset, trial, pairs in _controlled(run, subjects):
        if pairs or not are_examples(run.pairs(judge, dataset)):  # it is said above what is lacking
            yield f"control of {judge}: {trial.count.format(n=len(pairs), dataset=dataset)}, before all other checks"


def _lacking_gold(run: Run, subjects: Sequence[CheckId]) -> Iterator[str]:
    for judge, dataset, *_ in _controlled(run, subjects):
        if need := run.control_need(judge, dataset):
            yield f"{need}: {need.remedy}" if isinstance(need, LabelRequirement) else _lacking(need)


def _controlled(run: Run, subjects: Sequence[CheckId]) -> Iterator[tuple[str, str, ControlTrial, tuple[Pair, ...]]]:
    if (table := run.config.control) is None:
        return
    for judge, dataset in dict.fromkeys((judge, each.dataset) for each in subjects for judge in each.judges):
        name = run.control_runner.dataset(run.judge(judge), dataset, table, run.pairs(judge, dataset))
        yield judge, name, *run.control_runner.trial(judge, name)


def _costs(run: Run, subjects: Sequence[CheckId], recordings: _Recordings) -> Costs:
    scopes: dict[tuple[str, str, Arm], PairScope] = {}
    arms = [(judge, each.dataset, run.about(each), each.check.arms) for each in subjects for judge in each.judges]
    arms += [
        (who.name, each.dataset, run.about(each), each.check.arms_beside(run.config))
        for each in subjects
        for who in each.check.extra_judges(run.judge(each.judge))
    ]
    arms += [
        (judge, dataset, PairScope(about.pool), run.judge(judge).kind.screening)
        for judge, dataset, about, _ in arms
        if judge in about.undecided
    ]
    arms += [
        (judge, dataset, PairScope(pairs), trial.arms) for judge, dataset, trial, pairs in _controlled(run, subjects)
    ]
    for judge, dataset, about, of_check in arms:
        for arm in run.judge(judge).kind.asks_in_all(of_check):
            key = (judge, dataset, arm)
            scopes[key] = scopes[key] | about if key in scopes else about
    return {key: recordings.cost(*key, about) for key, about in scopes.items()}


def _readings(run: Run, subjects: Sequence[CheckId]) -> list[str]:
    read = {
        (each.judge, each.dataset, arm): len(run.about(each).at_most)
        for each in subjects
        if each.check.is_read
        for arm in each.check.arms[:2]
    }
    calls = f"at most {sum(read.values())} further calls, one per reason of a cue contrast"
    detector = run.config.detector.judge
    return [f"detector {detector}: {calls}; their cost is not included"] if detector and read else []


def _misplaced(run: Run, costs: Costs) -> list[str]:
    first: dict[tuple[str, str], Condition] = {}
    for (judge, dataset, (condition, _)), cost in costs.items():
        if cost.calls and condition is not PLAN:
            first.setdefault((judge, dataset), condition)
    places = {key: _elsewhere(run, *key, condition) for key, condition in first.items()}
    return [f"before you record {judge} on {dataset}: {where}" for (judge, dataset), where in places.items() if where]


def _elsewhere(run: Run, name: str, dataset: str, condition: Condition) -> str:
    client, library = run.judge(name).kind.client_of(condition), replace(run.library, mode="none")
    with (
        contextlib.suppress(CassetteError),  # the item says what is wrong with the file
        library.open(client, dataset, [condition.name], ()) as opened,
    ):
        return find_recordings_elsewhere(opened[condition.name])
    return ""


def _totals(run: Run, costs: Costs) -> Iterator[str]:
    for judge, cost in _by_judge(costs).items():
        if not run.judge(judge).kind.is_asked:
            continue
        yield f"{judge}: at most {cost} (4 characters per token, +{100 * pricing.MARGIN:.0f}%; the longest answers)"
        if cost.usd and offers_batches(run.judge(judge).table):
            usd = pricing.format_usd(pricing.batch_cost(cost).usd)
            yield f"{judge}: in batches (--judge-batch) at most {usd}, within a day"
        if cost.calls:
            yield from filter(None, [run.batch_session.on_their_way(judge)])


def _unpriced(run: Run, costs: Costs) -> list[str]:
    lines = []
    for who in (run.judge(judge).table for judge, cost in _by_judge(costs).items() if cost.calls):
        if run.options.record != "none":
            pricing.CostMeter(who, pricing.Budget(run.options.max_cost)).check()
        if pricing.price_usd(who, 1, 1) is None:
            of_tier = who.service_tier and pricing.price_usd(who, 1, 1, served_tier="default") is not None
            why = "the price of this tier is unknown" if of_tier else "the price is unknown"
            model, remedy = pricing.describe_priced_model(who), pricing.price_remedy(who)
            lines.append(f"{model}: {why}; for --judge-max-cost, set {remedy}")
    return lines


def _shared(run: Run, recordings: _Recordings) -> Iterator[str]:
    starts: dict[str, list[_Start]] = {}
    for (judge, _), start in recordings.starts.items():
        if start.count > 1 and not run.judge(judge).kind.preparation and not run.judge(judge).is_opaque:
            starts.setdefault(judge, []).append(start)
    for judge, starts_of_judge in starts.items():
        shares = sorted({round(100 * start.share) for start in starts_of_judge})
        longest = max(start.tokens for start in starts_of_judge)
        yield MESSAGES.shared(judge, shares, longest, CACHED_FROM)


@dataclass(slots=True)
class _Start:
    told: int  # characters of the system prompt
    text: str | None = None
    characters: int = 0
    count: int = 0

    def add(self, prompts: Sequence[str]) -> None:
        if prompts:
            self.text = _common([*prompts, *([] if self.text is None else [self.text])])
        self.characters += sum(map(len, prompts))
        self.count += len(prompts)

    @property
    def share(self) -> float:
        same = (self.told + len(self.text or "")) * self.count
        return same / max(self.told * self.count + self.characters, 1)

    @property
    def tokens(self) -> int:
        return (self.told + len(self.text or "")) // pricing.CHARACTERS_A_TOKEN


def _common(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return first[: sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(first, last, strict=False)))]


@dataclass(slots=True)
class _Recordings:
    run: Run
    starts: dict[tuple[str, str], _Start] = field(default_factory=dict)  # by judge and dataset, of what is to be asked
    usages: dict[tuple[str, str, Arm], list[Usage]] = field(default_factory=dict)  # of what is recorded of each arm
    _plans: dict[tuple[str, str, tuple[str, ...]], Mapping[str, PlanWithUsage]] = field(default_factory=dict)

    def cost(self, judge_name: str, dataset: str, arm: Arm, about: PairScope) -> pricing.Cost:
        judge, (condition, _) = self.run.judge(judge_name), arm
        if not judge.kind.is_asked:
            return NOTHING
        client, pairs = judge.kind.client_of(condition), (*about.pairs, *about.others)
        if arm in judge.kind.preparation:
            known = self.run.answer_service.recorded(judge, dataset, arm, pairs, {})
            return pricing.maximum_cost(
                client.table, judge.kind.prompts(condition, [pair for pair in pairs if pair.id not in known])
            )
        recorded = self.run.answer_service.recorded(judge, dataset, arm, pairs, self._plans_of(judge, dataset, pairs))

        self.usages[judge_name, dataset, arm] = [reply.usage for reply in recorded.values()]

        def prompts(some: Sequence[Pair]) -> list[str]:
            return judge.kind.prompts(condition, [pair for pair in some if pair.id not in recorded])

        prompts_to_ask = prompts(about.pairs) + sorted(prompts(about.others), key=len)[::-1][: about.more]
        system_length = len(judge.table.system_text)
        self.starts.setdefault((judge_name, dataset), _Start(system_length)).add(prompts_to_ask)
        return pricing.maximum_cost(judge.table, prompts_to_ask)

    def _plans_of(self, judge: Judge, dataset: str, pairs: Sequence[Pair]) -> Mapping[str, PlanWithUsage]:
        key = (judge.name, dataset, tuple(pair.id for pair in pairs))
        if key not in self._plans:
            self._plans[key] = self.run.answer_service.known_plans(judge, dataset, pairs)
        return self._plans[key]
