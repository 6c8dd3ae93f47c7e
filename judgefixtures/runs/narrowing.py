"""Narrowing: which of a dataset's pairs a check is about, the closest or the first of a look, and what cannot pass."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Judgment
from judgefixtures.checks import Case, Check, Need
from judgefixtures.checks.protocol import Subject
from judgefixtures.material.diction import wording_about
from judgefixtures.material.pairs import Pair
from judgefixtures.runs.closest import About, Closest
from judgefixtures.runs.desk import Desk
from judgefixtures.runs.fitting import misplaced
from judgefixtures.runs.interviews import Interviews
from judgefixtures.runs.inventory import Inventory
from judgefixtures.runs.ledger import Asking, Ledger
from judgefixtures.runs.second_looks import planned
from judgefixtures.words.errors import JudgeFixturesError


class Narrowing:
    """The pairs of the checks of a run."""

    def __init__(self, desk: Desk, inventory: Inventory, closest: Closest, interviews: Interviews) -> None:
        self._desk, self._inventory, self._closest, self._interviews = desk, inventory, closest, interviews

    def about(self, subject: Subject) -> About:
        """Return which pairs a check is about, as far as that is known before anybody is asked."""
        pool = self._closest.pool(subject.judge, subject.dataset, subject.check.arms)
        if not pool:
            return About(subject.check.among(self._inventory.pairs(subject.judge, subject.dataset)))
        command = f"{self._desk.options.command} {self._inventory.selecting(subject)}"
        return self._closest.about(subject.judges, subject.dataset, pool, command)

    def narrowed(self, check: Check, case: Case, asking: Asking) -> tuple[Case, Asking]:
        """Return a case with the pairs that are closest for its judges, where its check is about those.

        Two judges are compared on the same pairs: those that are close for either, in the pool's order.
        """
        if not (pool := self._pool(check, case)):
            about = check.among(case.pairs)
            asking = planned(asking, check, case) if self._is_own(case) else asking
            return replace(case, pairs=about), replace(asking, part=asking.part or len(about) < len(case.pairs))
        command, chosen = f"{self._desk.options.command} {asking.look or asking.options}", set[str]()
        for judge in case.judges:
            screen = partial(self._screened, judge, asking)
            chosen.update(self._closest.of(judge, case.dataset, pool, screen, command))
        pairs = tuple(pair for pair in pool if pair.id in chosen)
        by, screening = f"[datasets.{case.dataset}] closest", case.judge.kind.screening
        case = replace(case, pairs=pairs, chosen_by=by, screening=screening)
        return case, replace(planned(asking, check, case), part=True)

    def _is_own(self, case: Case) -> bool:
        """Tell whether a case is about the pairs of its dataset: of pairs that code chose no plan is known."""
        with contextlib.suppress(JudgeFixturesError):
            return case.pairs == self._inventory.pairs(case.judge.name, case.dataset)
        return False

    def _pool(self, check: Check, case: Case) -> tuple[Pair, ...]:
        """Return the pool of which the closest pairs take the place of a case's own; empty where nothing does."""
        pool = self._closest.pool(case.judge.name, case.dataset, check.arms)
        # Pairs that a fixture of the user's chose are left alone.
        return pool if pool and case.pairs == self._inventory.pairs(case.judge.name, case.dataset) else ()

    def _screened(self, judge: Judge, asking: Asking, pool: Sequence[Pair]) -> tuple[tuple[Judgment, ...], ...]:
        """Return what a judge answers about a whole pool in both orders, to choose from.

        Its answers are no part of the report: a replay takes the choice as it is frozen, and asks for none of them.
        """
        aside = Ledger()
        about = replace(asking, what="closest", ledger=aside, part=True, plan=0)
        try:
            return self._interviews.answers(judge, pool, judge.kind.screening, about).arms
        finally:
            asking.ledger.bear(aside)

    def hopeless(self, subjects: Iterable[Subject]) -> tuple[Need, ...]:
        """Return what cannot PASS whatever is answered, once each."""
        config = self._desk.config
        found = (
            each.check.need(config, config.judge_table(each.judge), each.dataset, self.about(each).at_most)
            for each in subjects
        )
        return tuple(dict.fromkeys(need for need in found if need is not None))

    def _is_excused(self, subject: Subject) -> bool:
        """Tell whether a check says nothing of its judge: it is not asked, and cannot fail for a lack of pairs."""
        judge, pairs = self._inventory.judge(subject.judge), self.about(subject).at_most
        baseline = None if subject.baseline is None else self._inventory.judge(subject.baseline)
        case = Case(judge, subject.dataset, pairs, self._desk.config, baseline)
        return bool(subject.check.excuse(case) or misplaced(subject.check.contrast, case.judges))

    def refuse_hopeless(self, subject: Subject, case: Case, beside: Iterable[Subject]) -> None:
        """Refuse to pay for a recording that cannot pass, whatever is answered: this check's or another's."""
        if self._desk.is_offline or self._desk.options.force:
            return
        closest = self._pool(subject.check, case)
        pairs = self.about(subject).at_most if closest else subject.check.among(case.pairs)
        own = subject.check.need(self._desk.config, case.judge.table, case.dataset, pairs)
        # attack_tolerance is the tightest gate by far: too few pairs for it are not a reason to record nothing.
        others = (
            ()
            if own
            else self.hopeless(
                each
                for each in beside
                if (each.check.contrast is None or not each.check.contrast.x.edit) and not self._is_excused(each)
            )
        )
        if own or others:
            lacking = own or others[0]
            raise JudgeFixturesError(
                f"{'' if own else 'nothing of this run is recorded: '}{lacking}. "
                f"Add {wording_about(case.pairs).many}, {lacking.remedy}, "
                f"{'' if own else 'deselect it, '}or record all the same with --judge-force."
            )
