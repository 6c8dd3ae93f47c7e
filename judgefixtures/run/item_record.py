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
    """The dates of a judge's recordings, and the number made now."""

    days: set[str] = field(default_factory=set)
    asked: int = 0

    @property
    def row(self) -> SourceRow:
        """The report row."""
        known = self.days - {""}
        first, last = min(known, default=None), max(known, default=None)
        return SourceRow(first=first, last=last, undated="" in self.days, asked_now=self.asked)


@dataclass(slots=True)
class ItemRecord:
    """The judges, costs and judgments of an item, as plain rows."""

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
        """Add the cost of a judge's calls."""
        self.spent[judge] = self.spent[judge] + cost if judge in self.spent else cost

    def draw(self, judge: str, days: Iterable[str], count: int) -> None:
        """Add the dates and number of a judge's answers."""
        days = set(days)
        if days or count:  # a function of the user's may run live, without any recording
            known = self.days.setdefault(judge, RecordingDays())
            known.days |= days
            known.asked += count

    @property
    def resumed(self) -> bool:
        """Whether an interrupted `all` had recorded everything."""
        return self.earlier and not any(days.asked for days in self.days.values())

    def add_costs(self, other: ItemRecord) -> None:
        """Add the costs of another record."""
        for judge, cost in other.spent.items():
            self.spend(judge, cost)
        for judge, days in other.days.items():
            self.draw(judge, days.days, days.asked)
        self.retries += other.retries
        self.earlier |= other.earlier

    def add_costs_and_warnings(self, other: ItemRecord) -> None:
        """Add the costs and warnings of another record."""
        self.add_costs(other)
        for warning in other.warnings:
            self.warn(warning)

    def merge(self, other: ItemRecord) -> None:
        """Add another record, before its judgments are kept."""
        self.add_costs_and_warnings(other)
        self.judges |= other.judges
        self.served += other.served
        self.asked |= other.asked
        for again, kinds in other.invalid.items():
            self.invalid.setdefault(again, Counter()).update(kinds)

    def ask(self, what: str, judge: str, dataset: str, pairs: Sequence[Pair]) -> None:
        """Record the digest of pairs, which identifies the run's parts."""
        digest = pairs_digest(pair_row(judge, dataset, pair).to_json() for pair in pairs)
        self.asked[what] = f"{len(pairs)} {vocabulary_for(pairs).many}, digest {digest}"

    def keep(self, judge: Judge, dataset: str, answers: Answers) -> None:
        """Keep judgments, pairs, plans and token prices."""
        name = judge.name
        self.judgments += [judgment_row(name, dataset, judgment) for arm in answers.arms for judgment in arm]
        self.plans += [plan_text_row(name, dataset, pair, each) for pair, each in answers.plans.items()]
        if name not in self.prices:
            self.prices[name] = rates(judge.table)


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The purpose of a request, and its record.

    Attributes:
        options: The test's options, empty without a test.
        plan: The planned number of pairs, or 0.
        again: The pairs of an earlier decision with fewer, or 0.
        live: Unrecordable answers of a function, kept for later looks.
        part: Whether other checks may use the whole dataset.
        whole: All pairs of a look, frozen with its recordings.
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
        """Return the command that records this in a mode."""
        if not self.options:  # a script asks, and no test does
            return f'make the same call with Run.from_config(..., record="{mode}")'
        return f"{self.start} {self.look if self.look and mode == 'missing' else self.options} --judge-record {mode}"


class JudgmentArchive:
    """The judgments and pairs of a report, if `wanted`."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted
        self._pairs: set[tuple[str, str, Pair]] = set()

    def keep(self, judge: Judge, dataset: str, pairs: Sequence[Pair], answers: Answers, ledger: ItemRecord) -> None:
        """Keep a judge's answers and pairs."""
        if not self._wanted:
            return
        ledger.keep(judge, dataset, answers)
        for pair in pairs:
            if (known := (judge.name, dataset, pair)) not in self._pairs:
                self._pairs.add(known)
                ledger.pairs.append(pair_row(judge.name, dataset, judge.shows(pair)))

    def keep_control(self, judge: str, dataset: str, pairs: Sequence[Pair], ledger: ItemRecord) -> None:
        """Keep a control's pairs."""
        if self._wanted:
            ledger.ask(f"the control of {judge} on {dataset}", judge, dataset, pairs)

    def keep_case(self, check: Check, case: CheckInput, asking: RequestContext) -> None:
        """Keep a check's final pairs, for a look all planned ones."""
        if not self._wanted:
            return
        who = " against ".join(judge.name for judge in case.judges)
        by = f", chosen by {case.chosen_by}" if case.chosen_by else ""
        columns = [column for judge in case.judges for column in judge.template.columns]
        pairs, ledger = [keep_columns(pair, columns) for pair in asking.whole or case.pairs], asking.ledger
        ledger.ask(f"the set of pairs of {case.dataset} for {who}{by}", case.judge.name, case.dataset, pairs)
        if check.contrast is not None:  # a fixture of the user's may have other sentences than the configuration
            digest = hashlib.sha256(repr(check.contrast).encode("utf-8", "backslashreplace")).hexdigest()[:16]
            ledger.asked[f"the definition of {check.contrast.id}"] = f"digest {digest}"
