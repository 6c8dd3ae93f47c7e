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
from .messages import MESSAGES

Arms = Sequence[Sequence[Judgment]]


@dataclass(frozen=True, slots=True)
class CheckInput:
    """A check's input: a judge, perhaps a baseline, and pairs.

    Attributes:
        repeats: Repeats without cues, set by the run.
        chosen_by: The fixture or test that chose the pairs.
        screening: Arms that chose the closest pairs.
        look: The look of these pairs.
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
        """The judge, then its baseline."""
        return (self.judge,) if self.baseline is None else (self.judge, self.baseline)


@dataclass(frozen=True, slots=True)
class Answers:
    """One judge's judgments by arm, and plans by pair id.

    Attributes:
        indifferent: Choices by neutral arm, then pair id.
        likely: Probability of the pair's response 1, likewise.
        cue_free: Recorded judgments without cues.
        detections: A detector model's readings of the first two arms.
    """

    arms: tuple[tuple[Judgment, ...], ...]
    plans: Mapping[str, PlanWithUsage] = field(default_factory=dict)
    indifferent: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    likely: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    cue_free: tuple[Judgment, ...] = ()
    detections: DetectorReadings | None = None


@dataclass(frozen=True, slots=True)
class SampleRequirement:
    """The minimum sample of a check, and the limit that requires it."""

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
        """Return the requirement, in clusters if pairs are related.

        `words` replaces the pairs' vocabulary.
        """
        n, words = count_independent(pairs), words or vocabulary_for(pairs)
        if n == len(pairs):
            return cls(what, dataset, n, at_least, limit, remedy, words.many)
        return cls(what, dataset, n, max(at_least, FEWEST_CLUSTERS), limit, remedy, words.clusters(n))

    def __str__(self) -> str:
        return MESSAGES.cannot_pass(self.what, self.dataset, self.n, self.unit, self.limit, self.at_least)

    @property
    def unmet(self) -> Self | None:
        """The requirement, or None if there are enough pairs."""
        return self if 0 < self.n < self.at_least else None


@dataclass(frozen=True, slots=True)
class MinimumPairs:
    """Minimum pairs for any PASS, and for identical judges."""

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
    owner: str
    old: str
    value: Any

    def __get__(self, check: Check | None, owner: type[Check]) -> Any:
        warnings.warn(f"{self.owner}.{self.old} is now {self.owner}.{OLD_METHODS[self.old]}", DeprecationWarning, 2)
        bind = getattr(type(self.value), "__get__", None)
        return bind(self.value, check, owner) if bind else self.value


def _alias_methods(cls: type[Check]) -> None:
    defined = vars(cls)
    for old, new in OLD_METHODS.items():
        if new in defined:
            setattr(cls, old, _OldMethod(cls.__name__, old, defined[new]))
            continue
        home = next((vars(each) for each in cls.__mro__ if {old, new} & vars(each).keys()), {new: None})
        if new not in home:  # a class of a user's, or a mixin
            warnings.warn(f"{cls.__name__}.{old} is now {cls.__name__}.{new}", DeprecationWarning, stacklevel=4)
            setattr(cls, new, home[old])


class Check(ABC):
    """One kind of check; subclasses override what differs."""

    kind: ClassVar[str]
    contrast: Contrast | None  # that it is about, where it is about one
    repeats: int  # how often it asks each of its arms
    takes_looks: ClassVar[bool] = False  # it is decided at the looks of its gate, where that plans some

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _alias_methods(cls)

    @property
    @abstractmethod
    def name(self) -> str:
        """The check's name in ids and reports: `recency-new-old`, `accuracy`, `plan`."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The name of its table [gate.FAMILY]."""

    @property
    @abstractmethod
    def arms(self) -> tuple[Arm, ...]:
        """The arms that every judge is asked."""

    @property
    def is_read(self) -> bool:
        """Whether a detector model reads the first two arms."""
        return False

    def repeated(self, times: int) -> Self:
        """Return the check with this number of repeats."""
        return self

    def for_mode(self, judge: type[JudgeMode], pairs: Sequence[Pair]) -> Self:
        """Return the check for a judge's mode and pairs."""
        return self

    def select_pairs(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return the pairs that the check uses."""
        return pairs

    def optional(self, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
        """Return the pairs that a replay may omit if unrecorded."""
        return ()

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Return whether a marked test has an item for this judge."""
        return True

    def skip_reason(self, case: CheckInput) -> str:
        """Return why there is nothing to check, or ""."""
        return ""

    def extra_judges(self, judge: Judge) -> tuple[Judge, ...]:
        """Return the further judges that the check asks."""
        return ()

    def arms_beside(self, config: Config) -> tuple[Arm, ...]:
        """Return the arms of the further judges."""
        return self.arms[:1]

    def neutral_arms(self, case: CheckInput, judge: Judge) -> tuple[Arm, ...]:
        """Return neutral arms to use if recorded."""
        return ()

    def min_sample(
        self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]
    ) -> SampleRequirement | None:
        """Return the sample that a PASS needs, or None if any sample can pass."""
        return None

    def design(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> PlannedContrast | None:
        """Return the check's row in the preflight table, or None."""
        return None

    def prospect(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> str:
        """Return a preflight sentence on what the sample can show, or ""."""
        return ""

    @abstractmethod
    def evaluate(self, case: CheckInput, *answers: Answers) -> Finding:
        """Return the finding on the answers of all asked judges."""

    def ungated_rows(self, case: CheckInput, arms: Arms) -> tuple[ReportRow, ...]:
        """Return rows that decide nothing."""
        return ()

    def is_open(self, finding: Finding) -> bool:
        """Return whether the next look is worth asking."""
        return False

    def error_finding(self, case: CheckInput, message: str) -> Finding:
        """Return the ERROR finding of an unmeasurable case."""
        return self.error(case, message)

    def gate_at_look(self, case: CheckInput) -> GateTable:
        """Return the gate at the level of the case's look."""
        gate = case.config.gate(self.family)
        return gate if case.look is None else gate_at_level(gate, case.look.level)

    def decision_at_look(self, case: CheckInput, decision: GateDecision) -> GateDecision:
        """Return a decision with p-values multiplied by alpha / look level."""
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
        """Return the finding of a gate's decision, with its rows."""
        fields |= {"rows": {rows[0].place: rows}, "decided_by": decision.decided_by}
        alpha = case.config.gate(self.family).alpha
        return self.finding(case, decision.status, reasons=decision.reasons, alpha=alpha, **fields)

    def error(self, case: CheckInput, message: str, *rows: ReportRow) -> Finding:
        """Return an ERROR finding with rows."""
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
    """Base of checks of one judge without a contrast."""

    contrast = None
    repeats = 1


@dataclass(frozen=True, slots=True)
class ContrastCheckBase(Check):
    """Base of contrast checks of one judge."""

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
        """Return the check for a judge's mode."""
        return replace(self, contrast=judge.contrast(self.contrast, pairs))

    def applies_to(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Return whether the judge can be asked this contrast."""
        return not (self.contrast.is_of_orders and (judge.kind.grades or are_examples(pairs)))

    def skip_reason(self, case: CheckInput) -> str:
        """Return why the judge sees no order, or ""."""
        return case.judge.kind.excuse(self.contrast)


@dataclass(frozen=True, slots=True, repr=False)
class CheckId:
    """The names that identify a check; its repr is the item's id."""

    judge: str
    dataset: str
    check: Check
    baseline: str | None = None

    def __repr__(self) -> str:
        who = self.judge if self.baseline is None else f"{self.judge}-against-{self.baseline}"
        return f"{who}-{self.dataset}-{self._item}"

    @property
    def options(self) -> str:
        """The command options that select this check."""
        return self.options_among(())

    def options_among(self, others: Iterable[CheckId]) -> str:
        """Return the shortest options that select only this check.

        `-k` ignores case and matches substrings.
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
        """The judges that are asked."""
        return (self.judge,) if self.baseline is None else (self.judge, self.baseline)


@dataclass(frozen=True, slots=True)
class UnreadableReasons:
    """The number of unreadable reasons in moved pairs.

    Attributes:
        hides: Whether too many are unreadable to decide admission.
    """

    count: int
    of: int
    hides: bool = False

    def beside(self, status: Status, max_share: float) -> UnreadableReasons:
        """Return a copy with `hides` set for an undecided status."""
        return replace(self, hides=status not in (Status.PASS, Status.FAIL) and self.count > max_share * self.of)

    def __str__(self) -> str:
        return f"{self.count} of the {pluralize(self.of, 'reason')} of changed verdicts are not in English"


@dataclass(frozen=True, slots=True)
class GateDecision:
    """A gate's decision: status, parts, reasons and unreadable reasons."""

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
        """The parts that cause the status, unless it is PASS."""
        return deciding_parts(self.parts, self.status)

    @property
    def message(self) -> str:
        """All reasons in one line."""
        return "; ".join(self.reasons)

    @classmethod
    def of(cls, status: Status, tolerance: float, *reasons: str, part: str) -> GateDecision:
        """Return a decision with a single part."""
        parts = (DecisionPart(part, status, reasons[0]),)
        return cls(status, status, Status.NOT_APPLICABLE, None, None, tolerance, reasons, parts=parts)
