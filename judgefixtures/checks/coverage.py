"""Coverage: what a decision on a swap is about, and what it says nothing of, in words for whoever signs it.

Both come of the decision's components and of the rows of what was compared. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from judgefixtures.checks.accuracy import SIDE_BY_SIDE
from judgefixtures.checks.candidate import SwapRow
from judgefixtures.checks.control import CONTROLS, Control
from judgefixtures.checks.decision_rows import ComponentRow, DecisionRow
from judgefixtures.checks.plain import EDITED
from judgefixtures.findings import Row
from judgefixtures.material.cues import FAMILIES, PLACEBO
from judgefixtures.material.diction import OF_EXAMPLES, OF_PAIRS, Wording
from judgefixtures.numbers.estimate import Estimate, Status, bare, several
from judgefixtures.providers import PROVIDERS, record_of
from judgefixtures.swap.components import SwapStatus
from judgefixtures.swap.sentences import SHIFTS
from judgefixtures.words.texts import join_names

# What differs between the two sides of a family's contrasts. A cue of the user's own has its name.
VARIED = {
    "provenance": "who is said to have written a response",
    "recency": "when a response is said to have been written",
    "age": "the author's age",
    "gender": "the author's gender",
    "ethnicity": "the author's ethnicity",
    "education": "the author's education",
    "framing": "what is said to be at stake",
    "position": "which response stands first",
    **EDITED,
}
OF_ONE_RESPONSE = ("framing",)  # what stands once in the prompt of one response
MARGINS = {
    "abs-vsr": "a family of labels on average",
    "unadmitted-shift": "what no reason admits of that",
    "accuracy": "how often it is right",
    "pass-rate": "how much passes (either way)",
    "tpr": "how much it passes of what people pass (TPR)",
    "tnr": "how much it fails of what people fail (TNR)",
    "flip-rate": "{said} that change at all",
    "invalid": "{said} that cannot be read",
}
PARTS = ("abs-vsr", "moved-to-edited", "accuracy")  # the quantity of which each part has a row


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a decision covers and what it does not: a sentence for each thing, and both of them in a line."""

    covers: tuple[str, ...]
    leaves_out: tuple[str, ...]
    briefly: tuple[str, str]

    def says(self, reason: str) -> bool:
        """Whether one of the sentences says a reason word for word."""
        return any(reason.lower() in each.lower() for each in (*self.covers, *self.leaves_out))


def coverage_of(decision: DecisionRow, report: Row) -> Coverage:
    """Return what a decision covers, by its components and the rows of what was compared."""
    about = _Compared.of(decision, report)
    covered, left_out = (
        [f"{said[:1].upper()}{said[1:]}." for said in every] for every in (about.covered(), about.left_out())
    )
    return Coverage(tuple(covered), tuple(left_out), ("; ".join(about.parts()) or NOTHING, about.omitted))


def kind_of(name: str, identity: Row) -> Literal["simulated", "imported", "asked"]:
    """Return what plays a judge: a program of this project, a log of what it answered, or whoever is asked."""
    provider = identity.get("provider")
    if provider in tuple(PROVIDERS) and not record_of(str(provider)).is_asked:
        return "imported"
    return "simulated" if str(identity.get("model") or name).startswith("simulated-") else "asked"


def words_of(components: Iterable[ComponentRow]) -> Wording:
    """Return what judges were compared on: of graders alone a pass rate is compared."""
    return OF_EXAMPLES if any(each.kind == "pass-rate" for each in components) else OF_PAIRS


NOTHING = "nothing: no part of the swap was compared"


@dataclass(frozen=True, slots=True)
class _Compared:
    """What two judges were compared in, and on what."""

    decision: DecisionRow
    words: Wording
    rows: tuple[SwapRow, ...]  # of these two judges, one for each part
    sizes: Mapping[str, int]  # how many pairs of each dataset were decided on
    controls: tuple[Control, ...]  # of both judges, where both passed theirs
    report: Row

    @classmethod
    def of(cls, decision: DecisionRow, report: Row) -> _Compared:
        """Return what a report says that a decision is made of."""
        both = (decision.judge, decision.baseline)
        every = map(SwapRow.from_json, report.get("swap") or ())
        rows = tuple(row for row in every if (row.judge, row.baseline) == both and row.quantity in PARTS and row.n)
        known = {row["dataset"]: row["n"] for row in report.get("datasets") or ()}
        sizes = {row.dataset: min(known.get(row.dataset, row.n), decision.look or 10**9) for row in rows}
        controls = [each for each in CONTROLS.read_records(report) if each.judge in both]
        reads = {each.judge for each in controls} == set(both) and {each.status for each in controls} == {Status.PASS}
        words = words_of(decision.components)
        return cls(decision, words, rows, sizes, tuple(controls) if reads else (), report)

    @property
    def families(self) -> list[str]:
        """The families, as the components name them."""
        return [each.name for each in self._named("abs-vsr") if each.role == "primary"]

    def _named(self, *kinds: str) -> list[ComponentRow]:
        return [each for each in self.decision.components if each.kind in kinds]

    def _where(self, *, contrasts: bool) -> str:
        """Return on which datasets contrasts, or accuracy, were compared, and on how much of each."""
        names = dict.fromkeys(row.dataset for row in self.rows if (row.contrast is not None) == contrasts)
        counted = [f"{name} ({self.words.counted(self.sizes[name])})" for name in names]
        return f" on {join_names(counted)}" if counted else ""

    def _contrasts(self, what: str = "") -> str:
        found = {row.contrast for row in self.rows if row.contrast}
        return f" in {several(len(found), 'contrast')}{what}{self._where(contrasts=True)}" if found else ""

    # --- what it covers -----------------------------------------------------------------------------------

    def parts(self) -> Iterable[str]:
        """Yield what was compared, in short."""
        if self.families:
            yield f"{join_names(self.families)}{self._contrasts()}"
        if self._named("accuracy", "pass-rate"):
            yield f"being right{self._where(contrasts=False)}"

    def covered(self) -> Iterable[str]:
        """Yield what the decision covers."""
        if not self.decision.components:
            yield NOTHING
            return
        if self.families:
            what = join_names(map(varied, self.families))
            contrasts = self._contrasts(" (one label in place of another)")
            yield f"how far {self.words.said} follow what must not matter: {what}{',' * bool(contrasts)}{contrasts}"
        if self._named("unadmitted-shift"):
            yield "whether the reasons admit it, in the same contrasts"
        if self._named("accuracy"):
            right = "how often a judge is right (accuracy) where the better response is known, over both orders,"
            agrees = "how often a judge agrees with people's labels (accuracy), and how much it passes,"
            yield f"{agrees if self.words is OF_EXAMPLES else right}{self._where(contrasts=False)}"
        if self._named("flip-rate", "invalid"):
            yield f"how many {self.words.said} change between the sides of a contrast, and how many cannot be read"
        if self.controls:
            shown = join_names([f"{each.judge} on {each.dataset} ({_read(each)})" for each in self.controls])
            yield f"that both judges read: each passed its control, {shown}"
        yield f"{self._title()}: {', '.join(self._margins())}"

    def _title(self) -> str:
        if self.decision.status == SwapStatus.APPROVE:
            return "ruled out is that it is worse by this share or more"
        return "margins, the share by which it may be worse"

    def _margins(self) -> Iterable[str]:
        of_all = {each.kind: each.margin for each in self.decision.components if each.is_of_all}
        for kind, margin in of_all.items():
            if kind in MARGINS:
                yield f"{MARGINS[kind].format(said=self.words.said)} {bare(margin)}"
        guards = [each for each in self.decision.components if not each.is_of_all]
        for kinds, said in (
            (SHIFTS, "a single contrast on one dataset"),
            (("accuracy",), "how often right on one dataset"),
        ):
            if margins := [each.margin for each in guards if each.kind in kinds]:
                yield f"{said} {bare(max(margins))}"

    # --- what it does not ---------------------------------------------------------------------------------

    def left_out(self) -> Iterable[str]:
        """Yield what the decision does not cover."""
        if played := simulated_of(self.decision, self.report):
            yield f"real models: a program played {join_names(played)}, no model was asked"
        yield from filter(None, [self._open(), self._seen()])
        if labels := self._labels():
            yield f"other labels: {join_names(map(varied, labels))}, or any of your own that is not named here"
        yield f"not compared either: {join_names(self._treatments())}"
        yield self._elsewhere()
        yield (
            "whether either judge is good enough by itself: the decision does not look at the limits that a judge is "
            "held to without a baseline, and a candidate may be as wrong, and follow labels as far, as its baseline"
        )
        yield from self._circumstances()

    def _circumstances(self) -> Iterable[str]:
        """Yield of what else the numbers hold alone: price and time, the day of the answers, chance."""
        both = (self.decision.judge, self.decision.baseline)
        priced = any(row.get("usd") for row in self.report.get("expenses") or () if row["judge"] == both[0])
        costs = "what a verdict costs either judge stands with the costs" if priced else "no price is known"
        yield f"price and speed: the decision does not look at them; {costs}, and recordings have no times"
        recorded = (self.report.get("run") or {}).get("recorded") or {}
        days = sorted({day for name in both for day in _days(recorded.get(name) or {})})
        of_days = f": those compared are of {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""
        yield f"answers of another day, when a provider may serve another model{of_days}"
        rows = [row for row in self.report.get("contrasts") or () if row.get("arms")]
        repeated = {row["judge"] for row in rows if len({name for name, _ in row["arms"]}) == 1}
        if not repeated >= {*both}:
            yield "chance within one run: how often a judge answers the same question otherwise was not measured"

    def _open(self) -> str:
        """Return what is open after the decision: less than the margins, or what these pairs cannot settle."""
        parts, guard = self.decision.components, self.decision.guard_margin
        if self.decision.status == SwapStatus.REJECT:
            return "anything that is not among the reasons: of the other parts nothing is decided"
        if self.decision.status != SwapStatus.APPROVE:
            left = sum(each.status != Status.PASS for each in parts)
            said = f"{left} of {len(parts)} parts are open, and so is what was not compared: the reasons name them"
            return said if parts else ""
        if guard is None:
            return "not ruled out: that it follows any label at all, for no contrast was compared"
        of_family = bare(max(each.margin for each in self._named(*SHIFTS) if each.is_of_all))
        right = [f"; that it is right less often, by less than {bare(each.margin)}" for each in self._named("accuracy")]
        return (
            f"not ruled out: a single contrast on one dataset that is worse by less than {bare(guard)}; a family that "
            f"is worse by less than {of_family} on average{''.join(right[:1])}. That is the rule's promise: it goes by "
            f"the number of {self.words.many} alone and was fixed before any answer"
        )

    def _seen(self) -> str:
        """Return how far the intervals of an APPROVE reach, beside what the rule promises before any answer."""
        if self.decision.status != SwapStatus.APPROVE or self.decision.guard_margin is None:
            return ""
        shifts = self._named(*SHIFTS)
        said = []
        for what, own in (
            ("worst single contrast", [each for each in shifts if not each.is_of_all]),
            ("worst family", [each for each in shifts if each.is_of_all]),
        ):
            if worst := max(own, key=lambda each: each.high, default=None):
                said.append(f"the upper end of the {what} is {_signed(worst.high)} ({worst.name})")
        right = [each for each in self._named("accuracy") if each.is_of_all]
        said += [f"the lower end of accuracy is {_signed(each.low)}" for each in right]
        ends = "candidate less baseline; above 0 is worse, of accuracy better"
        return f"what was seen, by the intervals of these answers: {', '.join(said)} ({ends})"

    def _labels(self) -> list[str]:
        graded = self.words is OF_EXAMPLES
        return [
            name
            for name in FAMILIES
            if name not in (*self.families, PLACEBO) and (graded or name not in OF_ONE_RESPONSE)
        ]

    def _treatments(self) -> Iterable[str]:
        edits = [name for name in EDITED if name not in self.families]
        if "attack" in edits:
            yield "instructions to the judge that are hidden in a response (attacks)"
        if others := [name for name in edits if name != "attack"]:
            yield f"responses that are dressed up ({join_names(others)})"
        yield "other wordings of the prompt"
        if self.words is OF_PAIRS and "position" not in self.families:
            yield "how far the order of the responses decides (position)"

    def _elsewhere(self) -> str:
        right, known = "is right", "nobody knows the better response"
        if self.words is OF_EXAMPLES:
            right, known = "agrees with people", "there is no label"
        if not self._named("accuracy"):
            return f"whether a judge {right}: that was not compared"
        return f"whether a judge {right} where {known}, and anything about texts unlike these"

    @property
    def omitted(self) -> str:
        """What it does not cover, in short."""
        edits = [name for name in EDITED if name not in self.families]
        named = [
            *self._labels(),
            *(["attacks"] if "attack" in edits else []),
            *(["edits"] if edits else []),
            "wordings",
        ]
        played = simulated_of(self.decision, self.report)
        real = f"real models (a program played {join_names(played)}); " if played else ""
        return f"{real}{', '.join(named)}; other datasets; price and speed; whether either judge passes its own gates"


def simulated_of(decision: DecisionRow, report: Row) -> list[str]:
    """Return which of the two judges of a decision a program played."""
    identities = report.get("judges") or {}
    both = (decision.judge, decision.baseline)
    return [name for name in both if kind_of(name, identities.get(name) or {}) == "simulated"]


def _read(control: Control) -> str:
    if control.right_both_orders is None:
        return control.message
    return f"right in both orders on {control.right_both_orders} of {control.n}"


def _days(recorded: Row) -> list[str]:
    return [day for day in (recorded.get("first"), recorded.get("last")) if day]


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{bare(abs(value), 3)}"


def varied(family: str) -> str:
    """Return what differs between the sides of a family's contrasts, with its name.

    >>> varied("recency"), varied("brand")
    ('when a response is said to have been written (recency)', 'the label brand')
    """
    said = VARIED.get(family, f"the label {family}")
    return said if family in said else f"{said} ({family})"


# --- both judges side by side -------------------------------------------------------------------------------------

OWN_ORDER = "own-order"
IN_ORDER = ("accuracy", OWN_ORDER, "tpr", "tnr", "pass-rate", "abs-vsr", "unadmitted-shift", "flip-rate", "invalid")
BOTH_ORDERS = (
    "Accuracy is the mean over both orders of a pair: right in one of the two counts half. What is decided on is the "
    "difference of these two numbers; in the pair's own order alone they may be others."
)
FOLLOWED = (
    "How far {said} follow a family is the mean over its contrasts of how much more often {what}: 0 is not at all."
)
MORE_OFTEN = {
    OF_PAIRS: "the favoured label wins (abs(VSR), the verdict shift rate whichever way it goes)",
    OF_EXAMPLES: "a response passes with the favoured label (abs(VSR), the pass-rate shift whichever way it goes)",
}


@dataclass(frozen=True, slots=True)
class Sides:
    """What two judges do, each by itself: in a component over everything, or in the pairs' own order on a dataset."""

    kind: str
    name: str
    judge: Estimate
    baseline: Estimate


def sides_of(decision: DecisionRow, report: Row) -> tuple[Sides, ...]:
    """Return what both judges do by themselves, as far as the report has it: one of before has accuracy alone."""
    found = [
        Sides(each.kind, each.name, each.judge, each.baseline)
        for each in decision.components
        if each.is_of_all and each.judge and each.baseline
    ]
    for row in SIDE_BY_SIDE.read_records(report):
        if row.category == "all" and {decision.judge, decision.baseline} <= row.judges.keys():
            both = (row.judges[decision.judge], row.judges[decision.baseline])
            found.append(Sides(OWN_ORDER, row.dataset, *both))
    return tuple(sorted(found, key=lambda each: IN_ORDER.index(each.kind)))


def said_of_sides(sides: Iterable[Sides], words: Wording) -> list[str]:
    """Return what has to be said of these numbers to a reader who sees them first."""
    kinds = {each.kind for each in sides}
    orders = [BOTH_ORDERS] if kinds >= {"accuracy", OWN_ORDER} else []
    followed = FOLLOWED.format(said=words.said, what=MORE_OFTEN[words])
    return [*orders, *([followed] if "abs-vsr" in kinds else [])]
