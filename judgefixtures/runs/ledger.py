"""The ledger: what asking leaves behind beside a finding, as plain rows; and what is being asked."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgefixtures.asking.costs import Cost, rates
from judgefixtures.asking.judges import Judge
from judgefixtures.checks import Answers, Case, Check
from judgefixtures.findings import Row
from judgefixtures.material.diction import wording_about
from judgefixtures.material.pairs import Pair, with_columns
from judgefixtures.measures.rows import (
    ExampleRow,
    JudgmentRow,
    PairRow,
    PlanTextRow,
    ServedIn,
    digest_of,
    judgment_row,
    pair_row,
    plan_text_row,
)
from judgefixtures.words.records import Record
from judgefixtures.words.secrets import presentable


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow(Record):
    """From when a judge's answers are, and how many were asked now."""

    first: str | None = None
    last: str | None = None
    undated: bool = False
    asked_now: int = 0


@dataclass(slots=True)
class Days:
    """Of which days a judge's recordings are (empty: nobody wrote it down), and how many were made in this run."""

    days: set[str] = field(default_factory=set)
    asked: int = 0

    @property
    def row(self) -> SourceRow:
        """The row of the report."""
        known = self.days - {""}
        first, last = min(known, default=None), max(known, default=None)
        return SourceRow(first=first, last=last, undated="" in self.days, asked_now=self.asked)


@dataclass(slots=True)
class Ledger:
    """What asking leaves behind beside a finding: who was asked, what it cost, and every judgment, as plain rows."""

    judges: dict[str, Row] = field(default_factory=dict)
    spent: dict[str, Cost] = field(default_factory=dict)
    retries: int = 0
    judgments: list[JudgmentRow] = field(default_factory=list)
    plans: list[PlanTextRow] = field(default_factory=list)
    pairs: list[PairRow | ExampleRow] = field(default_factory=list)
    days: dict[str, Days] = field(default_factory=dict)
    prices: dict[str, Row] = field(default_factory=dict)  # US dollars per million tokens, null where not known
    served: list[ServedIn] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    invalid: dict[str, Counter[str]] = field(default_factory=dict)  # kinds, by how they are asked for again
    asked: dict[str, str] = field(default_factory=dict)  # which pairs and texts judges were asked about, by what it is

    def warn(self, text: str) -> None:
        """Keep a warning, once."""
        if presentable(text) not in self.warnings:
            self.warnings.append(presentable(text))

    def spend(self, judge: str, cost: Cost) -> None:
        """Add what a judge's calls cost."""
        self.spent[judge] = self.spent[judge] + cost if judge in self.spent else cost

    def draw(self, judge: str, days: Iterable[str], asked: int) -> None:
        """Note where answers of a judge are from."""
        days = set(days)
        if days or asked:  # a function of the user's may run live, without any recording
            known = self.days.setdefault(judge, Days())
            known.days |= days
            known.asked += asked

    def pay(self, other: Ledger) -> None:
        """Take over what asking cost elsewhere, and nothing else of it."""
        for judge, cost in other.spent.items():
            self.spend(judge, cost)
        for judge, days in other.days.items():
            self.draw(judge, days.days, days.asked)
        self.retries += other.retries

    def bear(self, other: Ledger) -> None:
        """Take over what asking cost elsewhere, and its warnings, but not what was answered."""
        self.pay(other)
        for warning in other.warnings:
            self.warn(warning)

    def take(self, other: Ledger) -> None:
        """Take over everything that asking left elsewhere before its judgments were kept."""
        self.bear(other)
        self.judges |= other.judges
        self.served += other.served
        self.asked |= other.asked
        for again, kinds in other.invalid.items():
            self.invalid.setdefault(again, Counter()).update(kinds)

    def ask(self, what: str, judge: str, dataset: str, pairs: Sequence[Pair]) -> None:
        """Note which pairs something is about, so that parts of a run can be told from parts of another.

        They have the columns that are shown of them, and no others.
        """
        digest = digest_of(pair_row(judge, dataset, pair).to_json() for pair in pairs)
        self.asked[what] = f"{len(pairs)} {wording_about(pairs).many}, digest {digest}"

    def keep(self, judge: Judge, dataset: str, answers: Answers) -> None:
        """Keep a judge's judgments, what they are about, the plans that they carried out, and what its tokens cost."""
        name = judge.name
        self.judgments += [judgment_row(name, dataset, judgment) for arm in answers.arms for judgment in arm]
        self.plans += [plan_text_row(name, dataset, pair, each) for pair, each in answers.plans.items()]
        if name not in self.prices:
            self.prices[name] = rates(judge.table)


@dataclass(frozen=True, slots=True)
class Asking:
    """What is being asked: of which dataset, what for, with which options a command asks it again, what it leaves.

    `options` are empty where no test asks.

    `plan` is with how many pairs it was planned, all those that its results may be about; 0 where that is not to be
    kept. `again`: recordings that were planned with so many pairs at least, and fewer than these, were decided before;
    0 where no number was a look of its own.

    `live` is of one check: what a function answered without any call that could be recorded, so that no look asks it a
    second time and decides on other answers than the one before.

    `part`: no more than some pairs of the dataset that other checks may ask about as a whole. `whole` are those that a
    look has the first of: they are all kept beside its recordings, so that a replay knows how many there are.
    """

    dataset: str
    what: str
    options: str
    ledger: Ledger
    part: bool = False
    look: str = ""  # the options that ask for what is missing of a look, and for no pair behind it
    start: str = "pytest"
    whole: tuple[Pair, ...] = ()
    plan: int = 0
    again: int = 0
    live: MutableMapping[tuple[str, ...], Any] | None = None

    def command(self, mode: str) -> str:
        """Return the command that records this in a mode, and nothing else."""
        if not self.options:  # a script asks, and no test does
            return f'make the same call with Run.from_config(..., record="{mode}")'
        return f"{self.start} {self.look if self.look and mode == 'missing' else self.options} --judge-record {mode}"


class Archive:
    """What a report of every judgment is made of; `wanted`: there is one. Each pair is kept once in a run."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._pairs: set[tuple[str, str, Pair]] = set()

    def keep(self, judge: Judge, dataset: str, pairs: Sequence[Pair], answers: Answers, ledger: Ledger) -> None:
        """Keep what a judge answered, and about what."""
        if not self._wanted:
            return
        ledger.keep(judge, dataset, answers)
        for pair in pairs:
            if (known := (judge.name, dataset, pair)) not in self._pairs:
                self._pairs.add(known)
                ledger.pairs.append(pair_row(judge.name, dataset, judge.shows(pair)))

    def keep_control(self, judge: str, dataset: str, pairs: Sequence[Pair], ledger: Ledger) -> None:
        """Keep which pairs control a judge."""
        if self._wanted:
            ledger.ask(f"what controls {judge} on {dataset}", judge, dataset, pairs)

    def keep_case(self, check: Check, case: Case, asking: Asking) -> None:
        """Keep what a check asks its judges about: as it is after all that narrows it.

        Of a look it is all that looks may come to: parts of a run whose contrasts end at others are parts of one run.
        """
        if not self._wanted:
            return
        who = " against ".join(judge.name for judge in case.judges)
        by = f", chosen by {case.chosen_by}" if case.chosen_by else ""
        shown = [column for judge in case.judges for column in judge.template.columns]
        pairs, ledger = [with_columns(pair, shown) for pair in asking.whole or case.pairs], asking.ledger
        ledger.ask(f"what {who} is asked about of {case.dataset}{by}", case.judge.name, case.dataset, pairs)
        if check.contrast is not None:  # a fixture of the user's may have other sentences than the configuration
            said = hashlib.sha256(repr(check.contrast).encode("utf-8", "backslashreplace")).hexdigest()[:16]
            ledger.asked[f"what {check.contrast.id} says"] = f"digest {said}"
