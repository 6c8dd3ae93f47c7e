"""Answer service: the answers and recordings of a run's judges."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgefixtures.checks import Answers
from judgefixtures.client.model_client import RequestSet
from judgefixtures.importers.imported_answers import Imports
from judgefixtures.judges.judge import Judge
from judgefixtures.metrics.llm_detector import DetectorClient, DetectorReadings, detector_condition, has_reason
from judgefixtures.models.judgments import Judgment, judgments
from judgefixtures.models.pairs import Pair
from judgefixtures.models.replies import Arm, JudgeReply, ModelReply, Plans, PlanWithUsage
from judgefixtures.util.errors import JudgeFixturesError

from .context import RunContext
from .item_record import RequestContext
from .messages import MESSAGES
from .request_executor import RequestExecutor


class AnswerService:
    """Answers of judges, new or recorded."""

    def __init__(self, context: RunContext, executor: RequestExecutor, logs: Imports) -> None:
        self._context, self._executor, self._logs = context, executor, logs
        # By judge and dataset, then by pair.
        self._plans: dict[tuple[int, str], dict[tuple[str, str], PlanWithUsage]] = {}
        self._seen: dict[tuple[Any, ...], tuple[Judgment, ...]] = {}

    def answers(self, judge: Judge, pairs: Sequence[Pair], arms: Sequence[Arm], asking: RequestContext) -> Answers:
        """Return a judge's answers in every arm, after its plans.

        Args:
            judge: The judge to ask.
            pairs: The pairs in order.
            arms: Conditions with repeats.
            asking: The request context.
        """
        mode, plans, asked = judge.kind, self.plans(judge, pairs, asking), dict[Arm, dict[str, Any]]()
        if not arms:
            return Answers((), plans)
        if mode.is_asked:
            for requests in mode.requests(pairs, mode.required_arms(arms), plans):
                requests.sort_into(asked, self._executor.execute(judge, requests, asking))
            by_arm = [mode.replies(pairs, arm, asked) for arm in arms]
            replies = [tuple(of_arm[pair.id] for pair in pairs) for of_arm in by_arm]
        else:
            replies = self._logs.replies(judge, asking.dataset, pairs, mode.logged_arms(arms, pairs))
            self._context.note(MESSAGES.nobody_asked(judge, asking, self._logs.path(judge.name, asking.dataset)))
        asking.ledger.judges[judge.name] = judge.identity
        return Answers(tuple(judgments(pairs, arms, replies, plans)), plans)

    def plans(self, judge: Judge, pairs: Sequence[Pair], asking: RequestContext) -> dict[str, PlanWithUsage]:
        """Return plans by pair id, made or replayed once per run."""
        if not judge.kind.makes_plans:
            return {}
        known = self._plans.setdefault((id(judge), asking.dataset), {})
        if lacking := [pair for pair in pairs if (pair.id, pair.digest) not in known]:
            written: dict[str, ModelReply] = {}
            for requests in judge.kind.plan_requests(lacking):
                (replies,) = self._executor.execute(judge, requests, replace(asking, what="plan"))
                written |= {pair.id: reply for pair, reply in zip(requests.pairs, replies, strict=True)}
            made = judge.kind.read_plans(lacking, written)
            known |= {(pair.id, pair.digest): made[pair.id] for pair in lacking}
            plans = [planned.plan for planned in known.values()]
            if fallback := [str(plan.fault) for plan in plans if plan.origin == "fallback"]:
                faults = ", ".join(f"{fault} {fallback.count(fault)}" for fault in sorted(set(fallback)))
                self._context.note(MESSAGES.unusable_plans(judge, asking, fallback, plans, faults))
        return {pair.id: known[pair.id, pair.digest] for pair in pairs}

    def known_plans(self, judge: Judge, dataset: str, pairs: Sequence[Pair]) -> Plans:
        """Return hand-made and recorded plans by pair id, without requests."""
        recorded = [self.recorded(judge, dataset, arm, pairs, {}) for arm in judge.kind.preparation]
        return judge.kind.read_plans(pairs, recorded[0] if recorded else {})

    def recorded(self, judge: Judge, dataset: str, arm: Arm, pairs: Sequence[Pair], plans: Plans) -> Mapping[str, Any]:
        """Return what is recorded of a required arm and would not be asked for by this run, by pair id."""
        if self._context.options.record == "all":
            return {}
        again = self._context.library.invalid if self._context.options.record == "invalid" else frozenset[str]()
        asked = self._look_up(judge, dataset, pairs, [arm], plans)
        return {
            pair: reply for of_arm in asked.values() for pair, reply in of_arm.items() if reply.invalid not in again
        }

    def _look_up(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Sequence[Arm], plans: Plans
    ) -> dict[Arm, dict[str, Any]]:
        """Return what is recorded of required arms; nothing is asked."""
        asked: dict[Arm, dict[str, Any]] = {}
        for requests in judge.kind.requests(pairs, arms, plans):
            requests.sort_into(asked, self._executor.look_up(judge, requests, dataset))
        return asked

    def recorded_judgments(
        self, judge: Judge, dataset: str, pairs: Sequence[Pair], arm: Arm, plans: Plans
    ) -> tuple[Judgment, ...]:
        """Return the recorded judgments of an arm, looked up once."""
        mode, key = judge.kind, (id(judge), dataset, arm, tuple(pair.digest for pair in pairs))
        if key not in self._seen:
            replies: Mapping[str, JudgeReply] = {}
            if mode.is_asked:
                asked = self._look_up(judge, dataset, pairs, mode.required_arms([arm]), plans)
                replies = mode.replies(pairs, arm, asked)
            else:
                with contextlib.suppress(JudgeFixturesError):  # the item says what is wrong with the log
                    replies = self._logs.recorded(judge, dataset, pairs, mode.logged_arms([arm], pairs)[0])
            self._seen[key] = tuple(
                Judgment(pair, arm[0], replies[pair.id], arm[1]) for pair in pairs if pair.id in replies
            )
        return self._seen[key]

    def unanswered(self, judge: Judge, dataset: str, pairs: Sequence[Pair], arms: Iterable[Arm]) -> str:
        """Return why a judge can never answer in some of these arms: its log has none; empty where it can."""
        mode = judge.kind
        return "" if mode.is_asked else self._logs.unanswered(judge.name, dataset, pairs, mode.logged_arms(arms, pairs))

    def readings(
        self, detector: Judge, judge: Judge, pairs: Sequence[Pair], answers: Answers, asking: RequestContext
    ) -> DetectorReadings:
        """Return a detector model's readings of two arms' reasons.

        Each distinct valid reason is read once, and recorded with the judge.
        """
        detections = DetectorReadings(detector.name, {})
        for arm in answers.arms[:2]:
            readable = [judgment for judgment in arm if has_reason(judgment)]
            if not readable:
                continue
            reader = DetectorClient(detector.name, detector.table, detector.rate_limiter, readable)
            to_read = [each.pair for each in readable if reader.stands_for(each.pair) == each.pair.id]
            condition = detector_condition(readable[0].condition, detector.name)
            kept = judge.template.shows_all(pairs)
            task = RequestSet(reader, to_read, [(condition, readable[0].repeat)], frozen=kept, among=judge.name)
            about = replace(asking, what=f"{asking.what} read by {detector.name}", part=True, plan=0)
            (replies,) = self._executor.execute(detector, task, about)
            reading_of = {pair.id: reading for pair, reading in zip(to_read, replies, strict=True)}
            detections = detections.beside(
                reader, ((judgment, reading_of[reader.stands_for(judgment.pair)]) for judgment in readable)
            )
        return detections
