"""Base of all checks: what a check asks, what it needs to pass, and what it returns.

Each kind of check is one file in this folder. It measures, decides, builds its rows and words its results. It sends no
requests and knows neither pytest nor recordings. CONTRIBUTING.md explains how to add one.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.judges.judge import Judge
from judgefixtures.judges.mode import JudgeMode
from judgefixtures.metrics.llm_detector import DetectorReadings
from judgefixtures.models.contrasts import Contrast
from judgefixtures.models.findings import DecisionPart, Finding, ReportRow, deciding_parts
from judgefixtures.models.judgments import Judgment
from judgefixtures.models.pairs import Pair, are_examples, count_independent
from judgefixtures.models.replies import Arm, PlanWithUsage
from judgefixtures.models.vocabulary import Vocabulary, vocabulary_for
from judgefixtures.statistics.clusters import FEWEST_CLUSTERS
from judgefixtures.statistics.estimate import Status, pluralize
from judgefixtures.statistics.power import PlannedContrast
from judgefixtures.util.shell import quoted

from .gate_looks import GateLook, gate_at_level

Arms = Sequence[Sequence[Judgment]]


@dataclass(frozen=True, slots=True)
class CheckInput:
    """A judge on the pairs of a dataset, perhaps beside the judge that it is to replace: what a check looks at.

    `repeats` is how often the run asks without cues; whoever runs the check fills it in. `chosen_by` is what chose the
    pairs where the configuration did not: a user's fixture, or a test. `screening` are the arms whose answers chose
    them, where they are the closest of a pool. `look` is the one whose pairs they are, where the gate plans looks.
    """

    judge: Judge
    dataset: str
    pairs: tuple[Pair, ...]
    config: Config
    baseline: Judge | None = None
    repeats: int = 1
    chosen_by: str = ""
    screening: tuple[Arm, ...] = ()
    look: GateLook | None = None

    @property
    def judges(self) -> tuple[Judge, ...]:
        """Who is asked: the judge, then its baseline."""
        return (self.judge,) if self.baseline is None else (self.judge, self.baseline)


@dataclass(frozen=True, slots=True)
class Answers:
    """What one judge answered: the judgments of each arm in the order of the pairs, and its plans by pair id.

    `indifferent` is what it chose of its pairs in conditions that should not matter, where that is known: by the
    condition's name and repeat, then by pair id; `likely` is how likely it was to choose the pair's own response 1.
    `cue_free` are its judgments without cues, in the pairs' own order, as far as they are looked at and recorded.
    `detections` are what a model says of the reasons of its first two arms, where one is asked.
    """

    arms: tuple[tuple[Judgment, ...], ...]
    plans: Mapping[str, PlanWithUsage] = field(default_factory=dict)
    indifferent: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    likely: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    cue_free: tuple[Judgment, ...] = ()
    detections: DetectorReadings | None = None


@dataclass(frozen=True, slots=True)
class SampleRequirement:
    """What a check needs before any answers can be a PASS: more pairs than there are, because of a limit."""

    what: str
    dataset: str
    n: int
    at_least: int
    limit: str
    remedy: str
    unit: str = "pairs"

    @classmethod
    def among(
        cls,
        pairs: Sequence[Pair],
        what: str,
        dataset: str,
        at_least: int,
        limit: str,
        remedy: str,
        words: Vocabulary | None = None,
    ) -> Self:
        """Return the need of pairs that count, or of clusters of them where some are related.

        `words` are those for what it is about, where that is not to be seen of the pairs alone.
        """
        n, words = count_independent(pairs), words or vocabulary_for(pairs)
        if n == len(pairs):
            return cls(what, dataset, n, at_least, limit, remedy, words.many)
        return cls(what, dataset, n, max(at_least, FEWEST_CLUSTERS), limit, remedy, words.clusters(n))

    def __str__(self) -> str:
        return (
            f"{self.what} on {self.dataset}: {self.n} {self.unit} cannot pass {self.limit}: at least "
            f"{self.at_least} are needed"
        )

    @property
    def unmet(self) -> Self | None:
        """The need itself where there are too few pairs, None where there are enough."""
        return self if 0 < self.n < self.at_least else None


@dataclass(frozen=True, slots=True)
class MinimumPairs:
    """Pairs that a comparison needs at least: for any PASS at all, and for that of judges that never differ."""

    any: int
    equal: int


OLD_METHODS = {
    "excuse": "skip_reason",
    "need": "min_sample",
    "find": "evaluate",
    "beside": "extra_judges",
    "indifferent": "neutral_arms",
    "among": "select_pairs",
    "fitted": "for_mode",
    "is_asked": "applies_to",
    "lost": "error_finding",
    "shown": "ungated_rows",
}


@dataclass(frozen=True, slots=True)
class _OldMethod:
    """A method under its old name: on the class that defines it, so that super() finds it, too."""

    owner: str
    old: str
    value: Any

    def __get__(self, check: Check | None, owner: type[Check]) -> Any:
        warnings.warn(f"{self.owner}.{self.old} is now {self.owner}.{OLD_METHODS[self.old]}", DeprecationWarning, 2)
        bind = getattr(type(self.value), "__get__", None)
        return bind(self.value, check, owner) if bind else self.value


def _alias_methods(cls: type[Check]) -> None:
    """Give a class's methods with old names their new ones, with a warning, and those with new names their old ones."""
    defined = vars(cls)
    for old, new in OLD_METHODS.items():
        if new in defined:
            setattr(cls, old, _OldMethod(cls.__name__, old, defined[new]))
        elif old in defined:
            warnings.warn(f"{cls.__name__}.{old} is now {cls.__name__}.{new}", DeprecationWarning, stacklevel=3)
            setattr(cls, new, defined[old])


class Check(ABC):
    """One kind of check, applied to one thing; it overrides what is otherwise with it."""

    kind: ClassVar[str]
    contrast: Contrast | None  # that it is about, where it is about one
    repeats: int  # how often it asks each of its arms
    takes_looks: ClassVar[bool] = False  # it is decided at the looks of its gate, where that plans some

    def __init_subclass__(cls) -> None:
        """Let methods with old names override those with new names."""
        super().__init_subclass__()
        _alias_methods(cls)

    @property
    @abstractmethod
    def name(self) -> str:
        """What is checked, as in ids and reports: `recency-new-old`, `accuracy`, `plan`."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The table [gate.FAMILY] that it is held to."""

    @property
    @abstractmethod
    def arms(self) -> tuple[Arm, ...]:
        """What it asks every judge of its case, about all pairs."""

    @property
    def is_read(self) -> bool:
        """Whether a detector that is a model reads the reasons of its first two arms."""
        return False

    def repeated(self, times: int) -> Self:
        """Return the check with so many repeats of its arms, where they tell it anything."""
        return self

    def for_mode(self, judge: type[JudgeMode], pairs: Sequence[Pair]) -> Self:
        """Return the check as a judge of a kind is asked it about such pairs."""
        return self

    def select_pairs(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return those of a dataset's pairs that it is about."""
        return pairs

    def optional(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """Return those of its pairs that are left out of a replay where no recording has them."""
        return ()

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Whether a marked test has an item of it for a judge of these pairs."""
        return True

    def skip_reason(self, case: CheckInput) -> str:
        """Return why there is nothing to check, empty where there is."""
        return ""

    def extra_judges(self, judge: Judge) -> tuple[Judge, ...]:
        """Return whom else it asks for the sake of a judge: what they answer stands behind the judge's."""
        return ()

    def arms_beside(self, config: Config) -> tuple[Arm, ...]:
        """Return what it asks those beside."""
        return self.arms[:1]

    def neutral_arms(self, case: CheckInput, judge: Judge) -> tuple[Arm, ...]:
        """Return the arms that should not matter to a judge and are looked at beside, where they are recorded."""
        return ()

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return what it needs to be able to PASS, with the best of answers; None where nothing can keep it from it."""
        return None

    def design(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> PlannedContrast | None:
        """Return its row in the preflight's table of what can be shown; None where it has none."""
        return None

    def prospect(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> str:
        """Return what it can show of so many, in a sentence of the preflight; empty where a table's row says it."""
        return ""

    @abstractmethod
    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return what it finds in the answers of its case's judges, and of whom it asks beside."""

    def ungated_rows(self, case: CheckInput, arms: Arms) -> tuple[ReportRow, ...]:
        """Return rows about answers in its arms that decide nothing, of a log also where it is excused from them."""
        return ()

    def is_open(self, finding: Finding) -> bool:
        """Whether the next look is worth asking after what this one found."""
        return False

    def error_finding(self, case: CheckInput, message: str) -> Finding:
        """Return the finding of a case that could not be measured: an ERROR, with its row where it has one."""
        return self.error(case, message)

    def gate_at_look(self, case: CheckInput) -> GateTable:
        """Return the gate that a check is held to, at the level of the look that its case is at."""
        gate = case.config.gate(self.family)
        return gate if case.look is None else gate_at_level(gate, case.look.level)

    def decision_at_look(self, case: CheckInput, decision: GateDecision) -> GateDecision:
        """Return a decision as one of the looks that share a level: what it says of that look, and its p comparable.

        A p times alpha over the level of the look is below alpha where p is below that level: so it is held against
        alpha, and adjusted with the p of others, as if there was one look.
        """
        if case.look is None:
            return decision
        times = case.config.gate(self.family).alpha / self.gate_at_look(case).alpha
        p_pass, p_fail = (p and min(1.0, p * times) for p in (decision.p_pass, decision.p_fail))
        reasons = tuple(filter(None, [*decision.reasons, case.look.remark]))
        return replace(decision, p_pass=p_pass, p_fail=p_fail, reasons=reasons)

    def finding(self, case: CheckInput, status: Status, **fields: Any) -> Finding:
        """Return the finding of a case."""
        baseline = case.baseline.name if case.baseline else None
        return Finding(self.kind, case.judge.name, case.dataset, self.name, status, baseline=baseline, **fields)

    def decided(self, case: CheckInput, decision: GateDecision, *rows: ReportRow, **fields: Any) -> Finding:
        """Return the finding of a case that its gate decided, with its rows, which have one place."""
        fields |= {"rows": {rows[0].place: rows}, "decided_by": decision.decided_by}
        alpha = case.config.gate(self.family).alpha
        return self.finding(case, decision.status, reasons=decision.reasons, alpha=alpha, **fields)

    def error(self, case: CheckInput, message: str, *rows: ReportRow) -> Finding:
        """Return the ERROR of a case that could not be measured, with its rows where it has some."""
        return self.finding(
            case,
            Status.ERROR,
            reasons=(message,),
            diagnosis=(message,),
            rows={row.place: (row,) for row in rows},
            alpha=case.config.gate(self.family).alpha,
            decided_by=(DecisionPart("unmeasured", Status.ERROR, message),),
        )


_alias_methods(Check)  # type: ignore[type-abstract]


class SingleJudgeCheck(Check):
    """What the checks of one judge have in common that are about no contrast."""

    contrast = None
    repeats = 1


@dataclass(frozen=True, slots=True)
class ContrastCheckBase(Check):
    """What the checks of a contrast of one judge have in common: its names, and what excuses from it."""

    contrast: Contrast
    takes_looks: ClassVar[bool] = True
    repeats: int = 1  # of each arm; verdicts are those of the first, shares of all of them tell how sure a judge is

    @property
    def name(self) -> str:
        """The contrast's id."""
        return self.contrast.id

    @property
    def family(self) -> str:
        """The contrast's family."""
        return self.contrast.family

    def for_mode(self, judge: type[JudgeMode], pairs: Sequence[Pair]) -> Self:
        """Return the check of the contrast as a judge of a kind is asked it."""
        return replace(self, contrast=judge.contrast(self.contrast, pairs))

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Of a judge that grades one response, and of examples, there is no item about orders."""
        return not (self.contrast.is_of_orders and (judge.kind.grades or are_examples(pairs)))

    def skip_reason(self, case: CheckInput) -> str:
        """A judge that is never shown two responses sees no order; nothing else excuses from a contrast."""
        return case.judge.kind.excuse(self.contrast)


@dataclass(frozen=True, slots=True, repr=False)
class CheckId:
    """A check of a judge on a dataset, perhaps against a baseline, all by their names; its repr is the item's id."""

    judge: str
    dataset: str
    check: Check
    baseline: str | None = None

    def __repr__(self) -> str:
        who = self.judge if self.baseline is None else f"{self.judge}-against-{self.baseline}"
        return f"{who}-{self.dataset}-{self._item}"

    @property
    def options(self) -> str:
        """The options that select this, for commands in messages."""
        return self.options_among(())

    def options_among(self, others: Iterable[CheckId]) -> str:
        """Return the shortest options that select this and none of the others, for commands in messages.

        `-k` selects every test whose name holds the word, in capitals or not: `repeat-1` is in `repeat-10`, too.
        """
        who = f"--judge {self.judge}" + (f" --judge-baseline {self.baseline}" if self.baseline is not None else "")
        return f"{who} --judge-dataset {self.dataset} -k {quoted(self._word_among(others))}"

    def _word_among(self, others: Iterable[CheckId]) -> str:
        names = [f"[{other!r}]".casefold() for other in others if repr(other) != repr(self)]
        words = [f"{self.dataset}-{self._item}", repr(self), f"[{self!r}]"]
        if self.baseline is not None:
            words = words[1:]
        elif self.check.contrast and "-" in self._item:  # a single word may well be in the name of a file
            words = [self._item, *words]
        return next((word for word in words if not any(word.casefold() in name for name in names)), words[-1])

    @property
    def _item(self) -> str:
        return self.check.contrast.item if self.check.contrast else self.check.name

    @property
    def judges(self) -> tuple[str, ...]:
        """Who is asked."""
        return (self.judge,) if self.baseline is None else (self.judge, self.baseline)


@dataclass(frozen=True, slots=True)
class UnreadableReasons:
    """Of the reasons in pairs that moved, how many nobody could read; `hides`: too many to say what is admitted."""

    count: int
    of: int
    hides: bool = False

    def beside(self, status: Status, max_share: float) -> UnreadableReasons:
        """Return them with whether they hide what is admitted, of which a status was decided: not where it stands."""
        return replace(self, hides=status not in (Status.PASS, Status.FAIL) and self.count > max_share * self.of)

    def __str__(self) -> str:
        return f"{self.count} of the {pluralize(self.of, 'reason')} behind the verdicts that moved are not in English"


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What a gate says of a measurement: the status, its parts, why in a line each, and what nobody could read."""

    status: Status
    vsr_status: Status
    car_status: Status
    p_pass: float | None
    p_fail: float | None
    tolerance: float
    reasons: tuple[str, ...]
    needed_pairs: int | None = None
    parts: tuple[DecisionPart, ...] = ()
    unread: UnreadableReasons | None = None

    @property
    def decided_by(self) -> tuple[DecisionPart, ...]:
        """The parts that the status is due to, where it is not a PASS."""
        return deciding_parts(self.parts, self.status)

    @property
    def message(self) -> str:
        """Every reason in one line."""
        return "; ".join(self.reasons)

    @classmethod
    def of(cls, status: Status, tolerance: float, *reasons: str, part: str) -> GateDecision:
        """Return a decision that has one part, about which the first reason is, and no tests."""
        parts = (DecisionPart(part, status, reasons[0]),)
        return cls(status, status, Status.NOT_APPLICABLE, None, None, tolerance, reasons, parts=parts)
