"""Gate fixture: turn a finding into pass, fail or skip, with its waiver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from judgefixtures.models.record import as_json
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.texts import make_encodable, make_printable

from .messages import MESSAGES
from .session_setup import SessionSetup
from .waivers import apply_waiver

if TYPE_CHECKING:
    from judgefixtures.checks import Check
    from judgefixtures.checks.base import CheckId
    from judgefixtures.judges.judge import Judge
    from judgefixtures.models.contrasts import Contrast
    from judgefixtures.models.findings import Finding
    from judgefixtures.models.pairs import Pair
    from judgefixtures.run.run import ItemRecord


OF_LEDGER = ("judges", "spent", "retries", "judgments", "plans", "pairs", "prices")  # what travels as it is


@dataclass(slots=True)
class ItemOutcome:
    """An item's findings, record and notes."""

    ledger: ItemRecord
    notes: list[str]
    findings: list[Finding] = field(default_factory=list)
    failed: bool = False
    waiting: bool = False  # for answers that are asked for in batches

    def to_json(self) -> dict[str, Any]:
        """Return plain values for xdist."""
        ledger = self.ledger
        return {
            "findings": [finding.to_json() for finding in self.findings],
            **{name: as_json(getattr(ledger, name)) for name in OF_LEDGER},
            "sources": {judge: days.row.to_json() for judge, days in ledger.days.items()},
            "failed": self.failed,
            "waiting": self.waiting,
            "resumed": ledger.resumed,
            "notes": list(self.notes),
        }


OF_ESTIMATE = ("low", "high", "confidence", "n")
PROPERTIES = ("status", "estimate", *OF_ESTIMATE, "tolerance", "says", "decided_by", "waived_by")
OUTCOME = pytest.StashKey[ItemOutcome]()


class Gate:
    """The check of an item: `gate.check(judge, pairs, contrast)` passes, fails or skips the test."""

    def __init__(self, setup: SessionSetup, node: Any, subject: CheckId) -> None:
        from judgefixtures.run.run import ItemRecord

        self._setup, self._node, self._subject = setup, node, subject
        self._outcome = node.stash[OUTCOME] = ItemOutcome(ItemRecord(), setup.run.notes)

    def check(self, judge: Judge, pairs: Sequence[Pair], contrast: Contrast) -> None:
        """Check a contrast: VSR within tolerance, and CAR if verdicts moved."""
        from judgefixtures.checks import check_of

        self.run(check_of(_contrast(contrast)), judge, pairs)

    def check_four_cells(self, judge: Judge, pairs: Sequence[Pair], contrast: Contrast) -> None:
        """Check a cue's effect balanced over both orders."""
        from judgefixtures.checks import FourCellCheck

        self.run(FourCellCheck(_contrast(contrast)), judge, pairs)

    def check_accuracy(self, judge: Judge, pairs: Sequence[Pair]) -> None:
        """Check accuracy against min_accuracy."""
        from judgefixtures.checks import AccuracyCheck

        self.run(AccuracyCheck(), judge, pairs)

    def check_plans(self, judge: Judge, pairs: Sequence[Pair]) -> None:
        """Check plans for leaks, and against max_degenerate."""
        from judgefixtures.checks import PlanCheck

        self.run(PlanCheck(), judge, pairs)

    def check_swap(self, judge: Judge, baseline: Judge, pairs: Sequence[Pair], comparison: Contrast | None) -> None:
        """Check that a candidate is no worse than its baseline, in a contrast or accuracy."""
        from judgefixtures.checks import SwapCheck

        # The margin of a single contrast is planned for all of the swap, which the item's own subject knows.
        cells = getattr(self._subject.check, "cells", None) or self._setup.run.registry.swap_cells(self._subject.judge)
        self.run(SwapCheck(comparison, cells), judge, pairs, baseline)

    def run(self, check: Check, judge: Judge, pairs: Sequence[Pair], baseline: Judge | None = None) -> None:
        """Run a check, and pass, fail or skip the test."""
        from judgefixtures.checks import CheckInput
        from judgefixtures.run.run import WaitingError

        from .items import selected_judge_items

        given = _given(pairs, *filter(None, (judge, baseline)))
        beside = [subject for _, subject in selected_judge_items(self._node.session.items)]
        if baseline is not None and self._setup.takes_looks:
            self._until_decided((judge, baseline), given, beside)
        case = CheckInput(
            judge, self._subject.dataset, given, self._setup.config, baseline, chosen_by=self._chooser(pairs)
        )
        check = self._setup.run.registry.fitted(check, judge.table, given)
        try:
            finding = self._setup.run.check_runner.check(check, case, self._outcome.ledger, beside, self._subject)
        except WaitingError as error:
            self._outcome.waiting = True
            raise pytest.skip.Exception(make_printable(str(error))) from None
        except JudgeFixturesError as error:  # two judges that cannot be compared
            _fail(str(error))
        self.conclude(finding)

    def _chooser(self, pairs: Sequence[Pair]) -> str:
        if pairs is not self._node.funcargs.get("pairs"):
            same = pairs == self._setup.run.pairs(self._subject.judge, self._subject.dataset)
            return "" if same else f"{self._node.parent.nodeid}::{self._node.originalname}"
        fixture = self._node._fixtureinfo.name2fixturedefs["pairs"][-1]
        ours = fixture.func.__module__ == "judgefixtures.plugin"
        return "" if ours else f"the fixture pairs of {fixture.baseid or fixture.func.__module__}"

    def _until_decided(self, judges: Sequence[Judge], pairs: Sequence[Pair], beside: Sequence[CheckId]) -> None:
        run, subject = self._setup.run, self._subject
        own = tuple(map(run.judge, subject.judges))
        if len(own) < len(judges) or any(a is not b for a, b in zip(own, judges, strict=True)):
            _fail(MESSAGES.looks_of_another_judge(run.config.heading("judges", "NAME")))
        if pairs != run.pairs(subject.judge, subject.dataset):
            _fail(MESSAGES.looks_at_other_pairs(run.config.heading("datasets", "NAME")))
        ended = run.until_decided(subject, beside, self._outcome.ledger, self._setup.required_swaps)
        if ended is not None:
            self.conclude(ended)

    def conclude(self, finding: Finding) -> None:
        """Pass, fail or skip the test by a finding."""
        from judgefixtures.statistics import Status

        finding = self._kept(apply_waiver(finding, self._setup.config))
        own = [each for each in self._node.user_properties if each[0] not in PROPERTIES]  # none of an attempt before
        self._node.user_properties[:] = [*own, *_properties(finding)]
        if finding.fatal:
            self._node.session.shouldstop = f"fatal: {'; '.join(finding.reasons) or finding.text}"
        if finding.status is Status.NOT_APPLICABLE:
            raise pytest.skip.Exception(make_printable(finding.text))
        gate = self._setup.config.gate(self._subject.check.family)
        tolerated = finding.status is Status.INCONCLUSIVE and gate.inconclusive == "warn" and not finding.is_of_control
        if finding.status is not Status.PASS and not tolerated and finding.waived is None:
            self._outcome.failed = True
            traced = [finding.traceback] if finding.traceback and self._node.config.option.verbose > 0 else []
            _fail("\n".join([finding.text, *self._invalid(finding), *self._hint(finding), *traced]))

    def _kept(self, finding: Finding) -> Finding:
        ledger = self._outcome.ledger
        digests = [{"what": what, "is": digest} for what, digest in ledger.asked.items()]
        finding = finding.with_evidence(
            warnings=ledger.warnings, served=ledger.served, asked=digests, required=self._setup.required_swaps
        )
        self._outcome.findings.append(finding)
        return finding

    def _invalid(self, finding: Finding) -> list[str]:
        if len(finding.diagnosis) < 2 or finding.is_of_control:
            return []
        return [
            f"  {kinds.total()} answers are invalid ({', '.join(f'{kind} {n}' for kind, n in sorted(kinds.items()))}). "
            f"{again}"
            for again, kinds in self._outcome.ledger.invalid.items()
            if kinds
        ]

    def _hint(self, finding: Finding) -> list[str]:
        from judgefixtures.checks.plain_language import remedy
        from judgefixtures.statistics import Status

        if len(finding.diagnosis) < 2 or finding.baseline is not None or finding.is_of_control:
            return []
        folder = self._setup.options.judge_report
        options = self._setup.run.selecting(self._subject)
        again = f"{self._setup.command_start} {options}"
        lines = ["", f"  Every judgment: {again} --judge-report report"]
        if folder is not None:
            lines = ["", f"  Every judgment: {folder}/judgments.jsonl", f"  This one again: {again}"]
        if finding.status is Status.FAIL and (finding.rows.get("contrasts") or finding.rows.get("four_cells")):
            lines.append(f"  What usually mends it: {remedy(finding.check)}")
        return lines


def _properties(finding: Finding) -> list[tuple[str, object]]:
    rows = (row for rows in finding.rows.values() for row in rows)
    limits = (getattr(row, name) for row in rows for name in ("tolerance", "margin") if hasattr(row, name))
    allowed = next(limits, None)
    values = {
        "status": str(finding.status),
        "estimate": getattr(finding.estimate, "value", None),
        **{each: getattr(finding.estimate, each, None) for each in OF_ESTIMATE},
        "tolerance": allowed,
        "says": finding.plain,
        "decided_by": "; ".join(f"{part.part}: {part.reason}" for part in finding.decided_by),
        "waived_by": finding.waived.owner if finding.waived else None,
    }
    return [
        (name, make_printable(each) if isinstance(each, str) else each)
        for name, each in values.items()
        if each not in (None, "")
    ]


def _contrast(contrast: Any) -> Contrast:
    from judgefixtures.models.contrasts import Contrast

    if contrast is None:
        _fail(
            "this check needs a contrast, and the test's mark gives none: mark it with "
            '@pytest.mark.judge_family("recency"), or use gate.check_accuracy(judge, pairs).'
        )
    if not isinstance(contrast, Contrast):
        _fail(MESSAGES.not_a_contrast(_quoted(contrast)))
    return contrast


def _given(pairs: Sequence[Pair], *judges: Judge) -> tuple[Pair, ...]:
    """Refuse foreign values: a repository may have an unrelated fixture `judge`."""
    from judgefixtures.judges.judge import Judge
    from judgefixtures.models.pairs import Pair

    for judge in judges:
        if not isinstance(judge, Judge):
            _fail(MESSAGES.not_a_judge(_quoted(judge)))
    given = tuple(pairs) if isinstance(pairs, Iterable) else (pairs,)
    if not given:
        _fail("there are no pairs to ask about: the fixture `pairs` of this test gives none.")
    if wrong := [each for each in given if not isinstance(each, Pair)]:
        _fail(MESSAGES.not_a_pair(_quoted(wrong[0])))
    if halves := [pair for pair in given if any(make_encodable(each) != each for each in map(str, astuple(pair)))]:
        _fail(MESSAGES.pair_not_unicode(halves[0].id))
    ids = [pair.id for pair in given]
    if twice := sorted(name for name, count in Counter(ids).items() if count > 1):
        _fail(f"the pair id {twice[0]!r} is given twice: each pair needs an id of its own, or it would count twice.")
    return given


def _quoted(value: object) -> str:
    text = repr(value)
    return f"a {type(value).__name__} ({text[:60]}{'...' if len(text) > 60 else ''})"


def _fail(message: str) -> NoReturn:
    raise pytest.fail.Exception(make_printable(message), pytrace=False) from None  # the error behind it says the same
