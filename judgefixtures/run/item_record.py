"""Item record: the requests, costs and judgments behind a finding, as plain rows."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgefixtures.checks import Answers, Check, CheckInput
from judgefixtures.client.costs import Cost, rates
from judgefixtures.judges.judge import Judge
from judgefixtures.metrics.row_builders import judgment_row, pair_row, pairs_digest, plan_text_row
from judgefixtures.models.check_rows import SourceRow
from judgefixtures.models.findings import Row
from judgefixtures.models.judgment_rows import ExampleRow, JudgmentRow, PairRow, PlanTextRow, ServedModelInArm
from judgefixtures.models.pairs import Pair, keep_columns
from judgefixtures.models.vocabulary import vocabulary_for
from judgefixtures.util.secrets import safe_message


@dataclass(slots=True)
class RecordingDays:
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
class ItemRecord:
    """What asking leaves behind beside a finding: who was asked, what it cost, and every judgment, as plain rows."""

    judges: dict[str, Row] = field(default_factory=dict)
    spent: dict[str, Cost] = field(default_factory=dict)
    retries: int = 0
    judgments: list[JudgmentRow] = field(default_factory=list)
    plans: list[PlanTextRow] = field(default_factory=list)
    pairs: list[PairRow | ExampleRow] = field(default_factory=list)
    days: dict[str, RecordingDays] = field(default_factory=dict)
    prices: dict[str, Row] = field(default_factory=dict)  # US dollars per million tokens, null where not known
    served: list[ServedModelInArm] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    invalid: dict[str, Counter[str]] = field(default_factory=dict)  # kinds, by how they are asked for again
    earlier: bool = False  # answers were used of an `all` that did not end
    asked: dict[str, str] = field(default_factory=dict)  # which pairs and texts judges were asked about, by what it is

    def warn(self, text: str) -> None:
        """Keep a warning, once."""
        if safe_message(text) not in self.warnings:
            self.warnings.append(safe_message(text))

    def spend(self, judge: str, cost: Cost) -> None:
        """Add what a judge's calls cost."""
        self.spent[judge] = self.spent[judge] + cost if judge in self.spent else cost

    def draw(self, judge: str, days: Iterable[str], count: int) -> None:
        """Note where answers of a judge are from."""
        days = set(days)
        if days or count:  # a function of the user's may run live, without any recording
            known = self.days.setdefault(judge, RecordingDays())
            known.days |= days
            known.asked += count

    @property
    def resumed(self) -> bool:
        """Whether an `all` that did not end had asked all of this."""
        return self.earlier and not any(days.asked for days in self.days.values())

    def add_costs(self, other: ItemRecord) -> None:
        """Take over what asking cost elsewhere, and nothing else of it."""
        for judge, cost in other.spent.items():
            self.spend(judge, cost)
        for judge, days in other.days.items():
            self.draw(judge, days.days, days.asked)
        self.retries += other.retries
        self.earlier |= other.earlier

    def add_costs_and_warnings(self, other: ItemRecord) -> None:
        """Take over what asking cost elsewhere, and its warnings, but not what was answered."""
        self.add_costs(other)
        for warning in other.warnings:
            self.warn(warning)

    def merge(self, other: ItemRecord) -> None:
        """Take over everything that asking left elsewhere before its judgments were kept."""
        self.add_costs_and_warnings(other)
        self.judges |= other.judges
        self.served += other.served
        self.asked |= other.asked
        for again, kinds in other.invalid.items():
            self.invalid.setdefault(again, Counter()).update(kinds)

    def ask(self, what: str, judge: str, dataset: str, pairs: Sequence[Pair]) -> None:
        """Note which pairs something is about, so that parts of a run can be told from parts of another.

        They have the columns that are shown of them, and no others.
        """
        digest = pairs_digest(pair_row(judge, dataset, pair).to_json() for pair in pairs)
        self.asked[what] = f"{len(pairs)} {vocabulary_for(pairs).many}, digest {digest}"

    def keep(self, judge: Judge, dataset: str, answers: Answers) -> None:
        """Keep a judge's judgments, what they are about, the plans that they carried out, and what its tokens cost."""
        name = judge.name
        self.judgments += [judgment_row(name, dataset, judgment) for arm in answers.arms for judgment in arm]
        self.plans += [plan_text_row(name, dataset, pair, each) for pair, each in answers.plans.items()]
        if name not in self.prices:
            self.prices[name] = rates(judge.table)


@dataclass(frozen=True, slots=True)
class RequestContext:
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
    ledger: ItemRecord
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


class JudgmentArchive:
    """What a report of every judgment is made of; `wanted`: there is one. Each pair is kept once in a run."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._pairs: set[tuple[str, str, Pair]] = set()

    def keep(self, judge: Judge, dataset: str, pairs: Sequence[Pair], answers: Answers, ledger: ItemRecord) -> None:
        """Keep what a judge answered, and about what."""
        if not self._wanted:
            return
        ledger.keep(judge, dataset, answers)
        for pair in pairs:
            if (known := (judge.name, dataset, pair)) not in self._pairs:
                self._pairs.add(known)
                ledger.pairs.append(pair_row(judge.name, dataset, judge.shows(pair)))

    def keep_control(self, judge: str, dataset: str, pairs: Sequence[Pair], ledger: ItemRecord) -> None:
        """Keep which pairs control a judge."""
        if self._wanted:
            ledger.ask(f"what controls {judge} on {dataset}", judge, dataset, pairs)

    def keep_case(self, check: Check, case: CheckInput, asking: RequestContext) -> None:
        """Keep what a check asks its judges about: as it is after all that narrows it.

        Of a look it is all that looks may come to: parts of a run whose contrasts end at others are parts of one run.
        """
        if not self._wanted:
            return
        who = " against ".join(judge.name for judge in case.judges)
        by = f", chosen by {case.chosen_by}" if case.chosen_by else ""
        columns = [column for judge in case.judges for column in judge.template.columns]
        pairs, ledger = [keep_columns(pair, columns) for pair in asking.whole or case.pairs], asking.ledger
        ledger.ask(f"what {who} is asked about of {case.dataset}{by}", case.judge.name, case.dataset, pairs)
        if check.contrast is not None:  # a fixture of the user's may have other sentences than the configuration
            digest = hashlib.sha256(repr(check.contrast).encode("utf-8", "backslashreplace")).hexdigest()[:16]
            ledger.asked[f"what {check.contrast.id} says"] = f"digest {digest}"
