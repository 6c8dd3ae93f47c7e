"""Coverage of a swap decision: what the decision covers and what it leaves out.

It is computed from the decision's components and the rows of the comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from judgefixtures.checks.accuracy import SIDE_BY_SIDE
from judgefixtures.checks.control import CONTROLS
from judgefixtures.checks.plain_language import EDITED
from judgefixtures.models.check_rows import ControlRow
from judgefixtures.models.cues import FAMILIES, PLACEBO
from judgefixtures.models.findings import Row
from judgefixtures.models.swap_rows import ComponentRow, DecisionRow, SwapRow, SwapStatus
from judgefixtures.models.vocabulary import OF_EXAMPLES, OF_PAIRS, Vocabulary
from judgefixtures.providers import PROVIDERS, provider_spec
from judgefixtures.statistics.estimate import Estimate, Status, format_share, pluralize
from judgefixtures.swap.sentences import SHIFTS
from judgefixtures.util.patterns import load_table
from judgefixtures.util.texts import join_names

WORDS = load_table("checks")
VARIED: Mapping[str, str] = {**WORDS["varied"], **EDITED}  # what differs between the two sides of a family's contrasts
OF_ONE_RESPONSE = ("framing",)  # what stands once in the prompt of one response
PARTS = ("abs-vsr", "moved-to-edited", "accuracy")  # the quantity of which each part has a row


@dataclass(frozen=True, slots=True)
class SwapCoverage:
    """What a decision covers and what it does not: a sentence for each thing, and both of them in a line."""

    covers: tuple[str, ...]
    leaves_out: tuple[str, ...]
    briefly: tuple[str, str]

    def says(self, reason: str) -> bool:
        """Whether one of the sentences says a reason word for word."""
        return any(reason.lower() in each.lower() for each in (*self.covers, *self.leaves_out))


def swap_coverage(decision: DecisionRow, report: Row) -> SwapCoverage:
    """Return what a decision covers, by its components and the rows of what was compared."""
    about = _Compared.of(decision, report)
    covered, left_out = (
        tuple(f"{each[:1].upper()}{each[1:]}." for each in every) for every in (about.covered(), about.left_out())
    )
    return SwapCoverage(covered, left_out, ("; ".join(about.parts()) or NOTHING, about.omitted))


def answer_origin(name: str, identity: Row) -> Literal["simulated", "imported", "asked"]:
    """Return what plays a judge: a program of this project, a log of what it answered, or whoever is asked."""
    provider = identity.get("provider")
    if provider in tuple(PROVIDERS) and not provider_spec(str(provider)).is_asked:
        return "imported"
    return "simulated" if str(identity.get("model") or name).startswith("simulated-") else "asked"


def vocabulary_of_swap(components: Iterable[ComponentRow]) -> Vocabulary:
    """Return what judges were compared on: of graders alone a pass rate is compared."""
    return OF_EXAMPLES if any(each.kind == "pass-rate" for each in components) else OF_PAIRS


NOTHING = "nothing: no part of the swap was compared"


@dataclass(frozen=True, slots=True)
class _Compared:
    """What two judges were compared in, and on what."""

    decision: DecisionRow
    words: Vocabulary
    rows: tuple[SwapRow, ...]  # of these two judges, one for each part
    sizes: Mapping[str, int]  # how many pairs of each dataset were decided on
    controls: tuple[ControlRow, ...]  # of both judges, where both passed theirs
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
        words = vocabulary_of_swap(decision.components)
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
        names = {row.contrast for row in self.rows if row.contrast}
        return f" in {pluralize(len(names), 'contrast')}{what}{self._where(contrasts=True)}" if names else ""

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
            what = join_names(map(describe_family_sides, self.families))
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
            controls = join_names([f"{each.judge} on {each.dataset} ({_read(each)})" for each in self.controls])
            yield f"that both judges read: each passed its control, {controls}"
        yield f"{self._title()}: {', '.join(self._margins())}"

    def _title(self) -> str:
        if self.decision.status == SwapStatus.APPROVE:
            return "ruled out is that it is worse by this share or more"
        return "margins, the share by which it may be worse"

    def _margins(self) -> Iterable[str]:
        of_all = {each.kind: each.margin for each in self.decision.components if each.is_of_all}
        for kind, margin in of_all.items():
            if kind in WORDS["margins"]:
                yield f"{WORDS['margins'][kind].format(said=self.words.said)} {format_share(margin)}"
        guards = [each for each in self.decision.components if not each.is_of_all]
        texts = {SHIFTS: "a single contrast on one dataset", ("accuracy",): "how often right on one dataset"}
        for kinds, text in texts.items():
            if margins := [each.margin for each in guards if each.kind in kinds]:
                yield f"{text} {format_share(max(margins))}"

    # --- what it does not ---------------------------------------------------------------------------------

    def left_out(self) -> Iterable[str]:
        """Yield what the decision does not cover."""
        if played := simulated_judges(self.decision, self.report):
            yield f"real models: a program played {join_names(played)}, no model was asked"
        yield from filter(None, [self._open(), self._seen()])
        if labels := self._labels():
            sides = join_names(map(describe_family_sides, labels))
            yield f"other labels: {sides}, or any of your own that is not named here"
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
            text = f"{left} of {len(parts)} parts are open, and so is what was not compared: the reasons name them"
            return text if parts else ""
        if guard is None:
            return "not ruled out: that it follows any label at all, for no contrast was compared"
        of_family = format_share(max(each.margin for each in self._named(*SHIFTS) if each.is_of_all))
        margins = [format_share(each.margin) for each in self._named("accuracy")]
        right = [f"; that it is right less often, by less than {margin}" for margin in margins[:1]]
        return (
            f"not ruled out: a single contrast on one dataset that is worse by less than {format_share(guard)}; a "
            f"family that is worse by less than {of_family} on average{''.join(right)}. That is the rule's promise: it "
            f"goes by the number of {self.words.many} alone and was fixed before any answer"
        )

    def _seen(self) -> str:
        """Return how far the intervals of an APPROVE reach, beside what the rule promises before any answer."""
        if self.decision.status != SwapStatus.APPROVE or self.decision.guard_margin is None:
            return ""
        shifts = self._named(*SHIFTS)
        texts = []
        for what, of_all in (("worst single contrast", False), ("worst family", True)):
            own = [each for each in shifts if each.is_of_all is of_all]
            if worst := max(own, key=lambda each: each.high, default=None):
                texts.append(f"the upper end of the {what} is {_signed(worst.high)} ({worst.name})")
        right = [each for each in self._named("accuracy") if each.is_of_all]
        texts += [f"the lower end of accuracy is {_signed(each.low)}" for each in right]
        ends = "candidate less baseline; above 0 is worse, of accuracy better"
        return f"what was seen, by the intervals of these answers: {', '.join(texts)} ({ends})"

    def _labels(self) -> list[str]:
        compared = {*self.families, PLACEBO, *(() if self.words is OF_EXAMPLES else OF_ONE_RESPONSE)}
        return [name for name in FAMILIES if name not in compared]

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
        treatments = [*(["attacks"] if "attack" in edits else []), *(["edits"] if edits else [])]
        named = [*self._labels(), *treatments, "wordings"]
        played = simulated_judges(self.decision, self.report)
        real = f"real models (a program played {join_names(played)}); " if played else ""
        return f"{real}{', '.join(named)}; other datasets; price and speed; whether either judge passes its own gates"


def simulated_judges(decision: DecisionRow, report: Row) -> list[str]:
    """Return which of the two judges of a decision a program played."""
    identities = report.get("judges") or {}
    both = (decision.judge, decision.baseline)
    return [name for name in both if answer_origin(name, identities.get(name) or {}) == "simulated"]


def _read(control: ControlRow) -> str:
    if control.right_both_orders is None:
        return control.message
    return f"right in both orders on {control.right_both_orders} of {control.n}"


def _days(recorded: Row) -> list[str]:
    return [day for day in (recorded.get("first"), recorded.get("last")) if day]


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{format_share(abs(value), 3)}"


def describe_family_sides(family: str) -> str:
    """Return what differs between the sides of a family's contrasts, with its name.

    >>> describe_family_sides("recency"), describe_family_sides("brand")
    ('when a response is said to have been written (recency)', 'the label brand')
    """
    text = VARIED.get(family, f"the label {family}")
    return text if family in text else f"{text} ({family})"


# --- both judges side by side -------------------------------------------------------------------------------------

OWN_ORDER = "own-order"
IN_ORDER = ("accuracy", OWN_ORDER, "tpr", "tnr", "pass-rate", "abs-vsr", "unadmitted-shift", "flip-rate", "invalid")


@dataclass(frozen=True, slots=True)
class JudgeSideNumbers:
    """What two judges do, each by itself: in a component over everything, or in the pairs' own order on a dataset."""

    kind: str
    name: str
    judge: Estimate
    baseline: Estimate


def side_numbers(decision: DecisionRow, report: Row) -> tuple[JudgeSideNumbers, ...]:
    """Return what both judges do by themselves, as far as the report has it: one of before has accuracy alone."""
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
    """Return what has to be said of these numbers to a reader who sees them first."""
    kinds = {each.kind for each in sides}
    orders = [WORDS["sides"]["both_orders"]] if kinds >= {"accuracy", OWN_ORDER} else []
    followed = WORDS["sides"]["followed"].format(said=words.said, what=words.more_often)
    return [*orders, *([followed] if "abs-vsr" in kinds else [])]
