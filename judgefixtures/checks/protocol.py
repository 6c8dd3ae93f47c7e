"""What every check is: what it asks, what it needs to be able to pass, and what it finds.

A kind of check is one file beside this one. It measures, decides, makes its rows and words its results; it asks
nobody itself, and knows neither pytest nor recordings. docs/contributing.md says how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.kinds import Kind
from judgefixtures.asking.questions import Arm, Judgment, Planned
from judgefixtures.checks.look_by_look import Look, at_level
from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.findings import Finding, Part, ReportRow, deciding
from judgefixtures.material.contrasts import Contrast
from judgefixtures.material.diction import Wording, wording_about
from judgefixtures.material.pairs import Pair, independent, is_of_examples
from judgefixtures.measures.detectors import Detections
from judgefixtures.numbers.clusters import FEWEST_CLUSTERS
from judgefixtures.numbers.estimate import Status, several
from judgefixtures.numbers.power import Design
from judgefixtures.words.commands import quoted

Arms = Sequence[Sequence[Judgment]]


@dataclass(frozen=True, slots=True)
class Case:
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
    look: Look | None = None

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
    plans: Mapping[str, Planned] = field(default_factory=dict)
    indifferent: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    likely: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    cue_free: tuple[Judgment, ...] = ()
    detections: Detections | None = None


@dataclass(frozen=True, slots=True)
class Need:
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
        words: Wording | None = None,
    ) -> Self:
        """Return the need of pairs that count, or of clusters of them where some are related.

        `words` are those for what it is about, where that is not to be seen of the pairs alone.
        """
        n, words = independent(pairs), words or wording_about(pairs)
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
class Fewest:
    """Pairs that a comparison needs at least: for any PASS at all, and for that of judges that never differ."""

    any: int
    equal: int


class Check(ABC):
    """One kind of check, applied to one thing; it overrides what is otherwise with it."""

    kind: ClassVar[str]
    contrast: Contrast | None  # that it is about, where it is about one
    repeats: int  # how often it asks each of its arms
    takes_looks: ClassVar[bool] = False  # it is decided at the looks of its gate, where that plans some

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

    def repeated(self, times: int) -> Self:  # noqa: ARG002
        """Return the check with so many repeats of its arms, where they tell it anything."""
        return self

    def fitted(self, judge: type[Kind], pairs: Sequence[Pair]) -> Self:  # noqa: ARG002
        """Return the check as a judge of a kind is asked it about such pairs."""
        return self

    def among(self, pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
        """Return those of a dataset's pairs that it is about."""
        return pairs

    def is_asked(self, judge: Judge, pairs: Sequence[Pair]) -> bool:  # noqa: ARG002
        """Whether a marked test has an item of it for a judge of these pairs."""
        return True

    def excuse(self, case: Case) -> str:  # noqa: ARG002
        """Return why there is nothing to check, empty where there is."""
        return ""

    def beside(self, judge: Judge) -> tuple[Judge, ...]:  # noqa: ARG002
        """Return whom it asks its first arm for the sake of a judge: what they answer stands behind the judge's."""
        return ()

    def indifferent(self, case: Case, judge: Judge) -> tuple[Arm, ...]:  # noqa: ARG002
        """Return the arms that should not matter to a judge and are looked at beside, where they are recorded."""
        return ()

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return what it needs to be able to PASS, with the best of answers; None where nothing can keep it from it."""
        return None

    def design(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Design | None:  # noqa: ARG002
        """Return its row in the preflight's table of what can be shown; None where it has none."""
        return None

    def prospect(self, config: Config, dataset: str, pairs: Sequence[Pair]) -> str:  # noqa: ARG002
        """Return what it can show of so many, in a sentence of the preflight; empty where a table's row says it."""
        return ""

    @abstractmethod
    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return what it finds in the answers of its case's judges, and of whom it asks beside."""

    def shown(self, case: Case, arms: Arms) -> tuple[ReportRow, ...]:  # noqa: ARG002
        """Return rows about answers in its arms that decide nothing, of a log also where it is excused from them."""
        return ()

    def is_open(self, finding: Finding) -> bool:  # noqa: ARG002
        """Whether the next look is worth asking after what this one found."""
        return False

    def lost(self, case: Case, message: str) -> Finding:
        """Return the finding of a case that could not be measured: an ERROR, with its row where it has one."""
        return lose(self, case, message)


class Alone(Check):
    """What the checks of one judge have in common that are about no contrast."""

    contrast = None
    repeats = 1


@dataclass(frozen=True, slots=True)
class AboutContrast(Check):
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

    def fitted(self, judge: type[Kind], pairs: Sequence[Pair]) -> Self:
        """Return the check of the contrast as a judge of a kind is asked it."""
        return replace(self, contrast=judge.contrast(self.contrast, pairs))

    def is_asked(self, judge: Judge, pairs: Sequence[Pair]) -> bool:
        """Of a judge that grades one response, and of examples, there is no item about orders."""
        return not (self.contrast.is_of_orders and (judge.kind.grades or is_of_examples(pairs)))

    def excuse(self, case: Case) -> str:
        """A judge that is never shown two responses sees no order; nothing else excuses from a contrast."""
        return case.judge.kind.excuse(self.contrast)


@dataclass(frozen=True, slots=True, repr=False)
class Subject:
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

    def options_among(self, others: Iterable[Subject]) -> str:
        """Return the shortest options that select this and none of the others, for commands in messages.

        `-k` selects every test whose name holds the word, in capitals or not: `repeat-1` is in `repeat-10`, too.
        """
        who = f"--judge {self.judge}" + (f" --judge-baseline {self.baseline}" if self.baseline is not None else "")
        return f"{who} --judge-dataset {self.dataset} -k {quoted(self._word_among(others))}"

    def _word_among(self, others: Iterable[Subject]) -> str:
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
class Unread:
    """Of the reasons in pairs that moved, how many nobody could read; `hides`: too many to say what is admitted."""

    count: int
    of: int
    hides: bool = False

    def beside(self, status: Status, max_share: float) -> Unread:
        """Return them with whether they hide what is admitted, of which a status was decided: not where it stands."""
        return replace(self, hides=status not in (Status.PASS, Status.FAIL) and self.count > max_share * self.of)

    def __str__(self) -> str:
        return f"{self.count} of the {several(self.of, 'reason')} behind the verdicts that moved are not in English"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a gate says of a measurement: the status, its parts, why in a line each, and what nobody could read."""

    status: Status
    vsr_status: Status
    car_status: Status
    p_pass: float | None
    p_fail: float | None
    tolerance: float
    reasons: tuple[str, ...]
    needed_pairs: int | None = None
    parts: tuple[Part, ...] = ()
    unread: Unread | None = None

    @property
    def decided_by(self) -> tuple[Part, ...]:
        """The parts that the status is due to, where it is not a PASS."""
        return deciding(self.parts, self.status)

    @property
    def message(self) -> str:
        """Every reason in one line."""
        return "; ".join(self.reasons)

    @classmethod
    def of(cls, status: Status, tolerance: float, *reasons: str, part: str) -> Decision:
        """Return a decision that has one part, about which the first reason is, and no tests."""
        parts = (Part(part, status, reasons[0]),)
        return cls(status, status, Status.NOT_APPLICABLE, None, None, tolerance, reasons, parts=parts)


def gate_of(check: Check, case: Case) -> GateTable:
    """Return the gate that a check is held to, at the level of the look that its case is at."""
    gate = case.config.gate(check.family)
    return gate if case.look is None else at_level(gate, case.look.level)


def of_look(check: Check, case: Case, decision: Decision) -> Decision:
    """Return a decision as one of the looks that share a level: what it says of that look, and its p comparable.

    A p times alpha over the level of the look is below alpha where p is below that level: so it is held against alpha,
    and adjusted with the p of others, as if there was one look.
    """
    if case.look is None:
        return decision
    times = case.config.gate(check.family).alpha / gate_of(check, case).alpha
    p_pass, p_fail = (p and min(1.0, p * times) for p in (decision.p_pass, decision.p_fail))
    reasons = tuple(filter(None, [*decision.reasons, case.look.remark]))
    return replace(decision, p_pass=p_pass, p_fail=p_fail, reasons=reasons)


def finding_of(check: Check, case: Case, status: Status, **found: Any) -> Finding:
    """Return a finding of a check in a case."""
    baseline = case.baseline.name if case.baseline else None
    return Finding(check.kind, case.judge.name, case.dataset, check.name, status, baseline=baseline, **found)


def decided(check: Check, case: Case, decision: Decision, *rows: ReportRow, **found: Any) -> Finding:
    """Return the finding of a check that decided, with rows of one kind."""
    return finding_of(
        check,
        case,
        decision.status,
        reasons=decision.reasons,
        rows={rows[0].place: rows},
        alpha=case.config.gate(check.family).alpha,
        decided_by=decision.decided_by,
        **found,
    )


def lose(check: Check, case: Case, message: str, *rows: ReportRow) -> Finding:
    """Return the ERROR of a case that could not be measured, with these rows."""
    return finding_of(
        check,
        case,
        Status.ERROR,
        reasons=(message,),
        diagnosis=(message,),
        rows={row.place: (row,) for row in rows},
        alpha=case.config.gate(check.family).alpha,
        decided_by=(Part("unmeasured", Status.ERROR, message),),
    )
