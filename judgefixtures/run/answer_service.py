"""Answer service: the answers and recordings of a run's judges, each plan and look-up made once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgefixtures.checks import Answers
from judgefixtures.client.model_client import RequestSet
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.mode import ImportedAnswers
from judgefixtures.metrics.llm_detector import DetectorClient, DetectorReadings, detector_condition, has_reason
from judgefixtures.models.judgments import Judgment, judgments
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm, PlanWithUsage, R

from .context import RunContext
from .item_record import ItemRecord, RequestContext
from .request_executor import RequestExecutor


@dataclass(frozen=True, slots=True)
class _Source:
    """Asks for the kind of one judge, through its recordings on one dataset."""

    context: RunContext
    collector: RequestExecutor
    logs: ImportedAnswers
    judge: Judge
    asking: RequestContext

    @property
    def dataset(self) -> str:
        return self.asking.dataset

    def note(self, text: str) -> None:
        self.context.note(text)

    def collect(self, task: RequestSet[R]) -> list[tuple[R, ...]]:
        asking = replace(self.asking, what=task.what) if task.what else self.asking
        return self.collector.collect(self.judge, task, asking)

    def look_up(self, task: RequestSet[R]) -> Mapping[str, R]:
        return self.collector.look_up(self.judge, task, self.dataset)

    def spared(self, task: RequestSet[R]) -> Mapping[str, R]:
        if self.context.options.record == "all":
            return {}
        again = self.context.library.invalid if self.context.options.record == "invalid" else frozenset[str]()
        return {pair: reply for pair, reply in self.look_up(task).items() if reply.invalid not in again}


class AnswerService:
    """What judges answer: now, or in recordings."""

    def __init__(self, context: RunContext, collector: RequestExecutor, logs: ImportedAnswers) -> None:
        self._context, self._collector, self._logs = context, collector, logs
        self._plans: dict[
            tuple[int, str], dict[tuple[str, str], PlanWithUsage]
        ] = {}  # by judge and dataset, then by pair
        self._seen: dict[tuple[Any, ...], tuple[Judgment, ...]] = {}

    def _source(self, judge: Judge, asking: RequestContext | str) -> _Source:
        """Return who asks for a judge; a dataset's name is enough where nothing is asked for now."""
        if isinstance(asking, str):
            asking = RequestContext(asking, "", "", ItemRecord())
        return _Source(self._context, self._collector, self._logs, judge, asking)

    def answers(self, judge: Judge, pairs: Sequence[Pair], arms: Sequence[Arm], asking: RequestContext) -> Answers:
        """Return what a judge answers in every arm. One that plans first makes its plans before anything else."""
        plans = self.plans(judge, pairs, asking)
        if not arms:
            return Answers((), plans)
        replies = judge.kind.answers(self._source(judge, asking), pairs, arms, plans)
        asking.ledger.judges[judge.name] = judge.identity
        return Answers(tuple(judgments(pairs, arms, replies, plans)), plans)

    def plans(self, judge: Judge, pairs: Sequence[Pair], asking: RequestContext) -> dict[str, PlanWithUsage]:
        """Return the plans for some pairs by pair id: made or replayed once per run, for all of its checks."""
        if not judge.kind.makes_plans:
            return {}
        known = self._plans.setdefault((id(judge), asking.dataset), {})
        if lacking := [pair for pair in pairs if (pair.id, pair.digest) not in known]:
            made = judge.kind.plans(self._source(judge, asking), lacking)
            known |= {(pair.id, pair.digest): made[pair.id] for pair in lacking}
            plans = [planned.plan for planned in known.values()]
            if fallback := [str(plan.fault) for plan in plans if plan.origin == "fallback"]:
                faults = ", ".join(f"{fault} {fallback.count(fault)}" for fault in sorted(set(fallback)))
                self._context.note(
                    f"{judge.name} on {asking.dataset}: {len(fallback)} of {len(plans)} plans were not plans "
                    f"({faults}): the hand-made plan of the kind of task was carried out in their place"
                )
        return {pair.id: known[pair.id, pair.digest] for pair in pairs}

    def known_plans(self, judge: Judge, dataset: str, pairs: Sequence[Pair]) -> Mapping[str, PlanWithUsage]:
        """Return the plans that are known before anything is asked, by pair id: hand-made ones, and recorded ones."""
        return judge.kind.known_plans(self._source(judge, dataset), pairs)

    def recorded(
        self, judge: Judge, dataset: str, arm: Arm, pairs: Sequence[Pair], plans: Mapping[str, PlanWithUsage]
    ) -> Mapping[str, Any]:
        """Return what is recorded of an arm and would not be asked for by this run, by pair id: nothing is asked."""
        return judge.kind.found(self._source(judge, dataset).spared, pairs, arm, plans)

    def recorded_judgments(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arm: Arm, plans: Mapping[str, PlanWithUsage]
    ) -> tuple[Judgment, ...]:
        """Return what is recorded of a judge's judgments in an arm, looked up once for all contrasts of a dataset."""
        key = (id(judge), dataset, arm, tuple(pair.digest for pair in pairs))
        if key not in self._seen:
            replies = judge.kind.recorded(self._source(judge, dataset), pairs, arm, plans)
            self._seen[key] = tuple(
                Judgment(pair, arm[0], replies[pair.id], arm[1]) for pair in pairs if pair.id in replies
            )
        return self._seen[key]

    def unanswered(self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Iterable[Arm]) -> str:
        """Return why a judge can never answer in some of these arms; empty where it can."""
        return judge.kind.unanswered(self._source(judge, dataset), pairs, arms)

    def readings(
        self, detector: Judge, judge: Judge, pairs: Sequence[Pair], answers: Answers, asking: RequestContext
    ) -> DetectorReadings:
        """Return what a detector's model says of the reasons of both arms of a contrast; recorded among the judge's.

        It is asked about every valid verdict that gives a reason, and once about equal ones.
        """
        detections = DetectorReadings(detector.name, {})
        for arm in answers.arms[:2]:
            readable = [judgment for judgment in arm if has_reason(judgment)]
            if not readable:
                continue
            reader = DetectorClient(detector.name, detector.table, detector.rate_limiter, readable)
            to_read = [each.pair for each in readable if reader.stands_for(each.pair) == each.pair.id]
            condition = detector_condition(readable[0].condition, detector.name)
            kept = [judge.shows(pair) for pair in pairs]
            task = RequestSet(reader, to_read, [(condition, readable[0].repeat)], frozen=kept, among=judge.name)
            about = replace(asking, what=f"{asking.what} read by {detector.name}", part=True, plan=0)
            (replies,) = self._collector.collect(detector, task, about)
            reading_of = {pair.id: reading for pair, reading in zip(to_read, replies, strict=True)}
            detections = detections.beside(
                reader, ((judgment, reading_of[reader.stands_for(judgment.pair)]) for judgment in readable)
            )
        return detections
