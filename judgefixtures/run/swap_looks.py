"""Swap looks: ask about a swap look by look until it is decided."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from judgefixtures.checks import Check, CheckInput
from judgefixtures.checks.base import CheckId
from judgefixtures.checks.swap_decision import decide_swaps
from judgefixtures.judges.judge import Judge
from judgefixtures.models.findings import Finding
from judgefixtures.models.pairs import first_pairs
from judgefixtures.models.swap_rows import PlannedSwapPart, SwapStatus
from judgefixtures.util.errors import JudgeFixturesError

from .closest_pairs import PairScope
from .context import RunContext
from .item_record import ItemRecord, RequestContext
from .messages import MESSAGES
from .registry import RunRegistry


@dataclass(slots=True)
class SwapLookProgress:
    """Current pairs per dataset of each swap with looks."""

    pairs: dict[tuple[str, ...], int] = field(default_factory=dict)

    def first_pairs(self, case: CheckInput, asking: RequestContext) -> tuple[CheckInput, RequestContext]:
        """Return a case with the first pairs of its swap's look."""
        look = self.pairs.get(tuple(judge.name for judge in case.judges))
        pairs = first_pairs(case.pairs, look)
        if len(pairs) == len(case.pairs):
            return case, asking
        return replace(case, pairs=pairs), replace(asking, part=True)

    def options(self, subject: CheckId, datasets: Iterable[str]) -> str:
        """Return the options that record a decided swap, or "".

        They select all parts, since all decide.
        """
        if subject.judges not in self.pairs:
            return ""
        chosen = "".join(f" --judge-dataset {name}" for name in datasets)
        judge, baseline = subject.judges
        return (
            f"--judge {judge} --judge-baseline {baseline}{chosen} -k {judge}-against-{baseline} --judge-until-decided"
        )


@dataclass(frozen=True, slots=True)
class SwapLookRunner:
    """Takes the looks of swaps.

    Attributes:
        about: Returns a check's pairs.
        check: Asks and decides.
    """

    context: RunContext
    registry: RunRegistry
    looks: SwapLookProgress
    about: Callable[[CheckId], PairScope]
    check: Callable[[Check, CheckInput, ItemRecord, Iterable[CheckId]], Finding]

    def ask_until_decided(
        self, subject: CheckId, beside: Sequence[CheckId], ledger: ItemRecord, required: Iterable[PlannedSwapPart]
    ) -> Finding | None:
        """Ask look by look; return the finding that ended it."""
        if subject.judges in self.looks.pairs:
            return None
        parts = [each for each in beside if each.judges == subject.judges]
        planned = [each for each in required if each.judge == subject.judge]
        decided = False
        for look in self.context.config.swap.looks:
            self.looks.pairs[subject.judges] = look
            findings: list[Finding] = []
            for each in parts:
                findings.append(self._part(each, beside, ledger).with_evidence(required=planned))
                if findings[-1].fatal:
                    return findings[-1]
            decisions = decide_swaps(findings) or []
            decided = bool(decisions) and all(row.status != SwapStatus.INCONCLUSIVE for row in decisions)
            if decided or not any(self._behind(each, look) for each in parts):
                break
        self._note_end(subject, parts, decided)
        return None

    def _part(self, subject: CheckId, beside: Sequence[CheckId], ledger: ItemRecord) -> Finding:
        judge, baseline = map(self.registry.judge, subject.judges)
        pairs = self.registry.pairs(subject.judge, subject.dataset)
        return self.check(
            subject.check, CheckInput(judge, subject.dataset, pairs, self.context.config, baseline), ledger, beside
        )

    def _note_end(self, subject: CheckId, parts: Sequence[CheckId], decided: bool) -> None:
        look = self.looks.pairs[subject.judges]
        spared = {name: self._spared(self.registry.judge(name), parts, look) for name in subject.judges}
        if any(spared.values()):
            state = "decided" if decided else "not decided after the last look"
            who = " against ".join(subject.judges)
            each = f"{max(spared.values())} requests to each judge"
            if len(set(spared.values())) > 1:
                each = " and ".join(f"{count} requests to {name}" for name, count in spared.items())
            self.context.note(MESSAGES.swap_look(who, look, state, each))

    def _spared(self, judge: Judge, parts: Sequence[CheckId], look: int) -> int:
        spared = {(each.dataset, arm): each for each in parts for arm in judge.asks(each.check.arms)}
        return sum(self._behind(each, look) for each in spared.values())

    def _behind(self, subject: CheckId, look: int) -> int:
        with contextlib.suppress(JudgeFixturesError):
            pairs = self.about(subject).at_most
            return len(pairs) - len(first_pairs(pairs, look))
        return 0
