"""Coverage of a swap decision: what the decision covers and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judgefixtures.checks.accuracy import SIDE_BY_SIDE
from judgefixtures.checks.control import CONTROLS
from judgefixtures.checks.plain_language import EDITED
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.cues import FAMILIES, PLACEBO
from judgefixtures.models.findings import Row
from judgefixtures.models.swap_rows import ComponentRow, DecisionRow, SwapRow
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary
from judgefixtures.providers import PROVIDERS, provider_spec
from judgefixtures.statistics.estimate import Estimate, Status

from .messages import MESSAGES

OF_ONE_RESPONSE = ("framing",)  # what stands once in the prompt of one response
PARTS = ("abs-vsr", "moved-to-edited", "accuracy")  # the quantity of which each part has a row


@dataclass(frozen=True, slots=True)
class SwapCoverage:
    """What a decision covers and leaves out, as sentences and briefly."""

    covers: tuple[str, ...]
    leaves_out: tuple[str, ...]
    briefly: tuple[str, str]

    def says(self, reason: str) -> bool:
        """Return whether a sentence equals a reason."""
        return any(reason.lower() in each.lower() for each in (*self.covers, *self.leaves_out))


def swap_coverage(decision: DecisionRow, report: Row) -> SwapCoverage:
    """Return what a decision covers."""
    about = _Compared.of(decision, report)
    every = (MESSAGES.lines("covered", about), MESSAGES.lines("left_out", about))
    covered, left_out = (tuple(f"{each[:1].upper()}{each[1:]}." for each in lines) for lines in every)
    return SwapCoverage(covered, left_out, (MESSAGES.covered_briefly(about), MESSAGES.left_out_briefly(about)))


def answer_origin(name: str, identity: Row) -> Literal["simulated", "imported", "asked"]:
    """Return whether a judge is simulated, imported or asked."""
    provider = identity.get("provider")
    if provider in tuple(PROVIDERS) and not provider_spec(str(provider)).is_asked:
        return "imported"
    return "simulated" if str(identity.get("model") or name).startswith("simulated-") else "asked"


def vocabulary_of_swap(components: Iterable[ComponentRow]) -> Vocabulary:
    """Return the vocabulary of a swap."""
    return OF_EXAMPLES if any(each.kind == "pass-rate" for each in components) else OF_PAIRS


@dataclass(frozen=True, slots=True)
class _Compared:
    decision: DecisionRow
    words: Vocabulary
    rows: tuple[SwapRow, ...]  # of these two judges, one for each part
    sizes: Mapping[str, int]  # how many pairs of each dataset were decided on
    controls: tuple[ControlRow, ...]  # of both judges, where both passed theirs
    played: Sequence[str]  # the judges that a program played
    report: Row

    @classmethod
    def of(cls, decision: DecisionRow, report: Row) -> _Compared:
        both = (decision.judge, decision.baseline)
        every = map(SwapRow.from_json, report.get("swap") or ())
        rows = tuple(row for row in every if (row.judge, row.baseline) == both and row.quantity in PARTS and row.n)
        known = {row["dataset"]: row["n"] for row in report.get("datasets") or ()}
        sizes = {row.dataset: min(known.get(row.dataset, row.n), decision.look or 10**9) for row in rows}
        controls = [each for each in CONTROLS.read_records(report) if each.judge in both]
        reads = {each.judge for each in controls} == set(both) and {each.status for each in controls} == {Status.PASS}
        words, played = vocabulary_of_swap(decision.components), simulated_judges(decision, report)
        return cls(decision, words, rows, sizes, tuple(controls) if reads else (), played, report)

    @property
    def kinds(self) -> set[str]:
        """The kinds of the components."""
        return {each.kind for each in self.decision.components}

    @property
    def families(self) -> list[str]:
        return [each.name for each in self.decision.components if each.kind == "abs-vsr" and each.role == "primary"]

    @property
    def contrasts(self) -> set[str]:
        """The contrasts that were compared."""
        return {row.contrast for row in self.rows if row.contrast}

    def datasets(self, *, contrasts: bool) -> list[str]:
        """Return on which datasets contrasts, or accuracy, were compared, and on how much of each."""
        names = dict.fromkeys(row.dataset for row in self.rows if (row.contrast is not None) == contrasts)
        return [f"{name} ({self.words.counted(self.sizes[name])})" for name in names]

    @property
    def labels_left_out(self) -> list[str]:
        """The families of labels that were not compared."""
        compared = {*self.families, PLACEBO, *(() if self.words is OF_EXAMPLES else OF_ONE_RESPONSE)}
        return [name for name in FAMILIES if name not in compared]

    @property
    def edits_left_out(self) -> list[str]:
        """The edits that were not compared."""
        return [name for name in EDITED if name not in self.families]

    @property
    def days(self) -> list[str]:
        """The first and the last day of the answers."""
        recorded = (self.report.get("run") or {}).get("recorded") or {}
        of_both = [recorded.get(name) or {} for name in (self.decision.judge, self.decision.baseline)]
        days = sorted({row[end] for row in of_both for end in ("first", "last") if row.get(end)})
        return [*dict.fromkeys((days[0], days[-1]))] if days else []

    @property
    def is_repeated(self) -> bool:
        """Whether both judges answered the same question several times."""
        rows = [row for row in self.report.get("contrasts") or () if row.get("arms")]
        repeated = {row["judge"] for row in rows if len({name for name, _ in row["arms"]}) == 1}
        return repeated >= {self.decision.judge, self.decision.baseline}

    @property
    def is_priced(self) -> bool:
        """Whether a verdict of the candidate has a price."""
        expenses = self.report.get("expenses") or ()
        return any(row.get("usd") for row in expenses if row["judge"] == self.decision.judge)


def simulated_judges(decision: DecisionRow, report: Row) -> list[str]:
    """Return the simulated judges of a decision."""
    identities = report.get("judges") or {}
    both = (decision.judge, decision.baseline)
    return [name for name in both if answer_origin(name, identities.get(name) or {}) == "simulated"]


# --- both judges side by side -------------------------------------------------------------------------------------

OWN_ORDER = "own-order"
IN_ORDER = ("accuracy", OWN_ORDER, "tpr", "tnr", "pass-rate", "abs-vsr", "unadmitted-shift", "flip-rate", "invalid")


@dataclass(frozen=True, slots=True)
class JudgeSideNumbers:
    """Each judge's own value of a quantity."""

    kind: str
    name: str
    judge: Estimate
    baseline: Estimate


def side_numbers(decision: DecisionRow, report: Row) -> tuple[JudgeSideNumbers, ...]:
    """Return both judges' own values."""
    sides = [
        JudgeSideNumbers(each.kind, each.name, each.judge, each.baseline)
        for each in decision.components
        if each.is_of_all and each.judge and each.baseline
    ]
    for row in SIDE_BY_SIDE.read_records(report):
        if row.category == "all" and {decision.judge, decision.baseline} <= row.judges.keys():
            both = (row.judges[decision.judge], row.judges[decision.baseline])
            sides.append(JudgeSideNumbers(OWN_ORDER, row.dataset, *both))
    return tuple(sorted(sides, key=lambda each: IN_ORDER.index(each.kind)))


def describe_side_numbers(sides: Iterable[JudgeSideNumbers], words: Vocabulary) -> list[str]:
    """Return explanations of these values."""
    return MESSAGES.lines("side_numbers", {each.kind for each in sides}, words)
