"""Interviews: what the judges of a run answer, and what is recorded of them; each plan and each look-up once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgefixtures.asking.asker import Task
from judgefixtures.asking.judges import Judge
from judgefixtures.asking.kinds import Logs
from judgefixtures.asking.questions import Arm, Judgment, Planned, judgments
from judgefixtures.asking.received import R
from judgefixtures.checks import Answers
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.detectors import Detections, Reader, detected, has_reason
from judgefixtures.runs.collecting import Collector
from judgefixtures.runs.desk import Desk
from judgefixtures.runs.ledger import Asking, Ledger


@dataclass(frozen=True, slots=True)
class _Clerk:
    """Asks for the kind of one judge, through its recordings on one dataset."""

    desk: Desk
    collector: Collector
    logs: Logs
    judge: Judge
    asking: Asking

    @property
    def dataset(self) -> str:
        return self.asking.dataset

    def note(self, text: str) -> None:
        self.desk.note(text)

    def collect(self, task: Task[R]) -> list[tuple[R, ...]]:
        asking = replace(self.asking, what=task.what) if task.what else self.asking
        return self.collector.collect(self.judge, task, asking)

    def look_up(self, task: Task[R]) -> Mapping[str, R]:
        return self.collector.look_up(self.judge, task, self.dataset)

    def spared(self, task: Task[R]) -> Mapping[str, R]:
        if self.desk.options.record == "all":
            return {}
        again = self.desk.library.invalid if self.desk.options.record == "invalid" else frozenset[str]()
        return {pair: reply for pair, reply in self.look_up(task).items() if reply.invalid not in again}


class Interviews:
    """What judges answer: now, or in recordings."""

    def __init__(self, desk: Desk, collector: Collector, logs: Logs) -> None:
        self._desk, self._collector, self._logs = desk, collector, logs
        self._plans: dict[tuple[int, str], dict[tuple[str, str], Planned]] = {}  # by judge and dataset, then by pair
        self._seen: dict[tuple[Any, ...], tuple[Judgment, ...]] = {}

    def _clerk(self, judge: Judge, asking: Asking | str) -> _Clerk:
        """Return who asks for a judge; a dataset's name is enough where nothing is asked for now."""
        if isinstance(asking, str):
            asking = Asking(asking, "", "", Ledger())
        return _Clerk(self._desk, self._collector, self._logs, judge, asking)

    def answers(self, judge: Judge, pairs: Sequence[Pair], arms: Sequence[Arm], asking: Asking) -> Answers:
        """Return what a judge answers in every arm. One that plans first makes its plans before anything else."""
        plans = self.plans(judge, pairs, asking)
        if not arms:
            return Answers((), plans)
        replies = judge.kind.answers(self._clerk(judge, asking), pairs, arms, plans)
        asking.ledger.judges[judge.name] = judge.identity
        return Answers(tuple(judgments(pairs, arms, replies, plans)), plans)

    def plans(self, judge: Judge, pairs: Sequence[Pair], asking: Asking) -> dict[str, Planned]:
        """Return the plans for some pairs by pair id: made or replayed once per run, for all of its checks."""
        if not judge.kind.makes_plans:
            return {}
        known = self._plans.setdefault((id(judge), asking.dataset), {})
        if lacking := [pair for pair in pairs if (pair.id, pair.digest) not in known]:
            made = judge.kind.plans(self._clerk(judge, asking), lacking)
            known |= {(pair.id, pair.digest): made[pair.id] for pair in lacking}
            plans = [planned.plan for planned in known.values()]
            if fallback := [str(plan.fault) for plan in plans if plan.origin == "fallback"]:
                faults = ", ".join(f"{fault} {fallback.count(fault)}" for fault in sorted(set(fallback)))
                self._desk.note(
                    f"{judge.name} on {asking.dataset}: {len(fallback)} of {len(plans)} plans were not plans "
                    f"({faults}): the hand-made plan of the kind of task was carried out in their place"
                )
        return {pair.id: known[pair.id, pair.digest] for pair in pairs}

    def known_plans(self, judge: Judge, dataset: str, pairs: Sequence[Pair]) -> Mapping[str, Planned]:
        """Return the plans that are known before anything is asked, by pair id: hand-made ones, and recorded ones."""
        return judge.kind.known_plans(self._clerk(judge, dataset), pairs)

    def recorded(
        self, judge: Judge, dataset: str, arm: Arm, pairs: Sequence[Pair], plans: Mapping[str, Planned]
    ) -> Mapping[str, Any]:
        """Return what is recorded of an arm and would not be asked for by this run, by pair id: nothing is asked."""
        return judge.kind.found(self._clerk(judge, dataset).spared, pairs, arm, plans)

    def seen(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arm: Arm, plans: Mapping[str, Planned]
    ) -> tuple[Judgment, ...]:
        """Return what is recorded of a judge's judgments in an arm, looked up once for all contrasts of a dataset."""
        key = (id(judge), dataset, arm, tuple(pair.digest for pair in pairs))
        if key not in self._seen:
            replies = judge.kind.recorded(self._clerk(judge, dataset), pairs, arm, plans)
            self._seen[key] = tuple(
                Judgment(pair, arm[0], replies[pair.id], arm[1]) for pair in pairs if pair.id in replies
            )
        return self._seen[key]

    def unanswered(self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Iterable[Arm]) -> str:
        """Return why a judge can never answer in some of these arms; empty where it can."""
        return judge.kind.unanswered(self._clerk(judge, dataset), pairs, arms)

    def readings(
        self, detector: Judge, judge: Judge, pairs: Sequence[Pair], answers: Answers, asking: Asking
    ) -> Detections:
        """Return what a detector's model says of the reasons of both arms of a contrast; recorded among the judge's.

        It is asked about every valid verdict that gives a reason, and once about equal ones.
        """
        found = Detections(detector.name, {})
        for arm in answers.arms[:2]:
            told = [judgment for judgment in arm if has_reason(judgment)]
            if not told:
                continue
            reader = Reader(detector.name, detector.table, detector.pace, told)
            asked = [judgment.pair for judgment in told if reader.stands_for(judgment.pair) == judgment.pair.id]
            condition = detected(told[0].condition, detector.name)
            kept = [judge.shows(pair) for pair in pairs]
            task = Task(reader, asked, [(condition, told[0].repeat)], frozen=kept, among=judge.name)
            about = replace(asking, what=f"{asking.what} read by {detector.name}", part=True, plan=0)
            (replies,) = self._collector.collect(detector, task, about)
            said = {pair.id: reading for pair, reading in zip(asked, replies, strict=True)}
            found = found.beside(reader, ((judgment, said[reader.stands_for(judgment.pair)]) for judgment in told))
        return found
