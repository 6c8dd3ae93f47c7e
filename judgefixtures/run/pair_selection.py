"""Pair selection for a check, and the refusal of recordings that cannot pass."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from judgefixtures.checks import Check, CheckInput, SampleRequirement
from judgefixtures.checks.base import CheckId
from judgefixtures.judges.judge import Judge
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.util.errors import JudgeFixturesError

from .answer_service import AnswerService
from .closest_pairs import ClosestPairSelector, PairScope
from .compatibility import misplaced_cue_reason
from .context import RunContext
from .item_record import ItemRecord, RequestContext
from .messages import MESSAGES
from .registry import RunRegistry
from .second_looks import planned_pair_counts


class PairSelector:
    """The pairs of the checks of a run."""

    def __init__(
        self, context: RunContext, registry: RunRegistry, closest: ClosestPairSelector, answer_service: AnswerService
    ) -> None:
        self._context, self._registry, self._closest, self._answer_service = context, registry, closest, answer_service

    def about(self, subject: CheckId) -> PairScope:
        """Return the pairs of a check, as known before asking."""
        pool = self._closest.pool(subject.judge, subject.dataset, subject.check.arms)
        if not pool:
            return PairScope(subject.check.select_pairs(self._registry.pairs(subject.judge, subject.dataset)))
        command = f"{self._context.options.command} {self._registry.selecting(subject)}"
        return self._closest.about(subject.judges, subject.dataset, pool, command)

    def narrowed(self, check: Check, case: CheckInput, asking: RequestContext) -> tuple[CheckInput, RequestContext]:
        """Return a case with its judges' closest pairs, if selected.

        Two judges share the pairs close for either.
        """
        if not (pool := self._pool(check, case)):
            about = self._answerable(check, case, check.select_pairs(case.pairs))
            asking = planned_pair_counts(asking, check, case) if self._is_own(case) else asking
            return replace(case, pairs=about), replace(asking, part=asking.part or len(about) < len(case.pairs))
        command, chosen = f"{self._context.options.command} {asking.look or asking.options}", set[str]()
        for judge in case.judges:
            screen = partial(self._screened, judge, asking)
            chosen.update(self._closest.of(judge, case.dataset, pool, screen, command))
        pairs = tuple(pair for pair in pool if pair.id in chosen)
        by, screening = f"[datasets.{case.dataset}] closest", case.judge.kind.screening
        case = replace(case, pairs=pairs, chosen_by=by, screening=screening)
        return case, replace(planned_pair_counts(asking, check, case), part=True)

    def _answerable(self, check: Check, case: CheckInput, about: tuple[Pair, ...]) -> tuple[Pair, ...]:
        optional, judge = check.optional(about), case.judge
        if not optional or not (self._context.is_offline or not judge.kind.is_asked) or judge.is_opaque:
            return about
        recorded = [
            each.pair
            for each in self._answer_service.recorded_judgments(judge, case.dataset, optional, check.arms[0], {})
        ]
        if lacking := [each for each in optional if each not in recorded]:
            what = f"{judge.name} on {case.dataset}: {len(lacking)} of {len(optional)} ties between people"
            self._context.note(f"{what} have no recording, so the comparison with people leaves them out")
        return tuple(each for each in about if each not in lacking)

    def _is_own(self, case: CheckInput) -> bool:
        with contextlib.suppress(JudgeFixturesError):
            return case.pairs == self._registry.pairs(case.judge.name, case.dataset)
        return False

    def _pool(self, check: Check, case: CheckInput) -> tuple[Pair, ...]:
        pool = self._closest.pool(case.judge.name, case.dataset, check.arms)
        # Pairs that a fixture of the user's chose are left alone.
        return pool if pool and case.pairs == self._registry.pairs(case.judge.name, case.dataset) else ()

    def _screened(self, judge: Judge, asking: RequestContext, pool: Sequence[Pair]) -> tuple[tuple[Judgment, ...], ...]:
        aside = ItemRecord()
        about = replace(asking, what="closest", ledger=aside, part=True, plan=0)
        try:
            return self._answer_service.answers(judge, pool, judge.kind.screening, about).arms
        finally:
            asking.ledger.add_costs_and_warnings(aside)

    def cannot_pass(self, subjects: Iterable[CheckId]) -> tuple[SampleRequirement, ...]:
        """Return the requirements of checks that cannot PASS, each once."""
        config = self._context.config
        requirements = (
            each.check.min_sample(config, config.judge_table(each.judge), each.dataset, self.about(each).at_most)
            for each in subjects
        )
        return tuple(dict.fromkeys(need for need in requirements if need is not None))

    def _is_excused(self, subject: CheckId) -> bool:
        judge, pairs = self._registry.judge(subject.judge), self.about(subject).at_most
        baseline = None if subject.baseline is None else self._registry.judge(subject.baseline)
        case = CheckInput(judge, subject.dataset, pairs, self._context.config, baseline)
        return bool(subject.check.skip_reason(case) or misplaced_cue_reason(subject.check.contrast, case.judges))

    def refuse_hopeless(self, subject: CheckId, case: CheckInput, beside: Iterable[CheckId]) -> None:
        """Refuse to record checks that cannot pass."""
        if self._context.is_offline or self._context.options.force:
            return
        closest = self._pool(subject.check, case)
        pairs = self.about(subject).at_most if closest else subject.check.select_pairs(case.pairs)
        own = subject.check.min_sample(self._context.config, case.judge.table, case.dataset, pairs)
        # attack_tolerance is the tightest gate by far: too few pairs for it are not a reason to record nothing.
        others = (each for each in beside if each.check.contrast is None or not each.check.contrast.x.edit)
        gated = (each for each in others if not self._is_excused(each))
        if lacking := own or next(iter(self.cannot_pass(gated)), None):
            raise JudgeFixturesError(MESSAGES.too_few_pairs(own, lacking, vocabulary_for(case.pairs).many))
