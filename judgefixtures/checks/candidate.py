"""A judge against the one that it is to replace: is it no worse in a contrast, or in accuracy on a dataset?

An item is about one of many parts of a swap. What is decided over all of them stands in `decision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from judgefixtures.asking.costs import Cost, most_of
from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks.accuracy import golden, rights
from judgefixtures.checks.contrast import PLACES
from judgefixtures.checks.phrasing import shortened
from judgefixtures.checks.protocol import Answers, Arms, Case, Fewest, Need, Subject, lost
from judgefixtures.config import Config, JudgeTable
from judgefixtures.findings import Finding, Part, Row, deciding, estimate_row
from judgefixtures.material.contrasts import NO_CUE, NO_CUE_SWAPPED, Contrast, arm_name
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.expenses import Expenses, compare_expenses
from judgefixtures.measures.metrics import acknowledged, chosen, movable, rightness, stuck_side, unreadable
from judgefixtures.numbers.power import fewest, smallest_n
from judgefixtures.numbers.statistics import Status, score_test, worst, z_quantile
from judgefixtures.swap import Component, SwapAccuracy, SwapCell, guard_margin, guards
from judgefixtures.swap.cells import Arms as Outcomes
from judgefixtures.swap.cells import CellKind
from judgefixtures.swap.decision import dataset_margin
from judgefixtures.swap.display import Shown, agreement, compare_car, compare_silent
from judgefixtures.swap.pooling import FEWEST_COMPLETE

EXPENSES_SHOWN = ("input_tokens", "output_tokens", "reasoning_tokens", "usd")
EXAMPLES = 3
SHOWN_REASON = 240
REPEATED: tuple[Arm, ...] = ((NO_CUE, 0), (NO_CUE, 1))  # arms that differ in nothing


@dataclass(frozen=True, slots=True)
class SwapCheck:
    """A candidate is no worse than its baseline on the same pairs: in a contrast, or (None) in accuracy.

    `cells` is how many contrasts on datasets the whole swap compares: the margin of a single one is planned for them.
    """

    contrast: Contrast | None = None
    cells: int = 1
    kind: ClassVar[str] = "swap"

    @property
    def name(self) -> str:
        """The contrast's id, or `accuracy`."""
        return self.contrast.id if self.contrast else "accuracy"

    @property
    def family(self) -> str:
        """The contrast's family, or `accuracy`."""
        return self.contrast.family if self.contrast else "accuracy"

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Both arms of the contrast; for accuracy both orders."""
        return self.contrast.arms if self.contrast else ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))

    def excuse(self, case: Case) -> str:
        """Without gold nobody can be right, and a judge that scores one response at a time sees no order."""
        if self.contrast:
            return next(filter(None, (judge.kind.excuse(self.contrast) for judge in case.judges)), "")
        if golden(case.pairs):
            return ""
        return f"no pair of {case.dataset} has gold: accuracy is not applicable"

    def indifferent(self, case: Case, judge: Judge) -> tuple[Arm, ...]:
        """The baseline's repeats: how often it flips by itself."""
        return REPEATED if self.contrast and judge is case.baseline else ()

    def fewest(self, config: Config) -> Fewest:
        """Return the pairs with which a part of a swap can pass at all, and with which judges that never differ do."""
        alpha, swap = config.default_gate.alpha, config.swap
        if self.contrast is None:
            margin, z_pass = dataset_margin(swap), z_quantile(1 - alpha)
            return Fewest(fewest(lambda n: score_test({1.0: n}, -margin) > z_pass), smallest_n(margin, alpha))

        def passes(n: int) -> bool:
            return n >= smallest_n(guard_margin(n, self.cells, swap, alpha=alpha), alpha)

        return Fewest(FEWEST_COMPLETE, max(FEWEST_COMPLETE, fewest(passes)))

    def counted(self, pairs: Sequence[Pair]) -> int:
        """Return how many pairs count: for accuracy those with gold."""
        return len(pairs) if self.contrast else golden(pairs)

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return the pairs without which not even the best of candidates can PASS."""
        found = Need(
            f"swap {self.name}",
            dataset,
            self.counted(pairs),
            self.fewest(config).any,
            "the margins of a swap",
            "ask about more",
        )
        return found if found.lacking else None

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of the candidate's answers and its baseline's."""
        gate, (ours, theirs) = case.config.default_gate, (each.arms for each in answers)
        assert case.baseline is not None
        judge, baseline = case.judge.name, case.baseline.name
        part, lacking = self._part(case, ours, theirs)
        clusters = {pair.id: pair.cluster for pair in case.pairs if pair.cluster is not None}
        related = {(case.dataset, pair): label for pair, label in clusters.items()}
        flips = _flips(answers[1])
        components: tuple[Component, ...] = ()
        if part is not None:
            components, found = guards(
                part, self.cells, case.config.swap, alpha=gate.alpha, baseline_flips=flips, clusters=related
            )
            lacking = (*lacking, *found)
        shown = self._shown(ours, theirs, gate.confidence)
        differing = _differences(judge, baseline, case.dataset, ours, theirs)
        status = worst(*(each.status for each in components), *([Status.INCONCLUSIVE] if lacking else []))
        reasons = (*lacking, *(each.message for each in components), *(each.message for each in shown))
        contrast = self.contrast.id if self.contrast else None
        names = (judge, baseline, case.dataset, contrast)
        # No more can be asked of a log: what more pairs would cost is not to be had.
        prices = [self._price(case)] if all(who.kind.is_asked for who in case.judges) else []
        evidence: Row = {
            "prices": prices,
            "swap_parts": [{**self._found(case, part, lacking), "clusters": clusters, "flips": flips}],
        }
        if not self.contrast:
            evidence["rights"] = [
                rights(judge, case.dataset, ours[0]),
                rights(baseline, case.dataset, theirs[0], baseline=True),
            ]
        expenses = compare_expenses(ours, theirs, (case.judge.table, case.baseline.table))
        decisive = next(iter(components), None)
        return Finding(
            self.kind,
            judge,
            case.dataset,
            self.name,
            status,
            baseline,
            reasons=reasons,
            diagnosis=_diagnosis(judge, baseline, case.dataset, self.name, status, reasons, differing),
            rows={
                "swap": (
                    *(component_row(*names, self._quantity(each), each) for each in components),
                    *(shown_row(*names, each) for each in shown),
                ),
                "expenses": (expense_row(*names, expenses),),
                "differences": tuple(differing),
            },
            evidence=evidence,
            estimate=decisive.estimate if decisive else None,
            alpha=gate.alpha,
            decided_by=deciding(
                [
                    *(Part("unmeasured", Status.INCONCLUSIVE, why) for why in lacking),
                    *(Part("swap", each.status, each.message, estimate=each.estimate) for each in components),
                ],
                status,
            ),
        )

    def planned(self, judge: str, baseline: str, dataset: str) -> Row:
        """Return the part of a swap that this is, whether or not it can be compared."""
        return {
            "judge": judge,
            "baseline": baseline,
            "dataset": dataset,
            "family": self.family,
            "contrast": self.contrast.id if self.contrast else None,
            "kind": self._kind,
        }

    def _found(self, case: Case, part: SwapCell | SwapAccuracy | None, lacking: Sequence[str]) -> Row:
        """Return what the decision needs of this part: what was compared, or why nothing was, and how to decide."""
        assert case.baseline is not None
        return {
            **self.planned(case.judge.name, case.baseline.name, case.dataset),
            "part": None if part is None else asdict(part),
            "lacking": list(lacking),
            "swap": case.config.swap.model_dump(),
            "alpha": case.config.default_gate.alpha,
            "clusters": {},
            "flips": None,
        }

    def _quantity(self, component: Component) -> str:
        return "moved-to-edited" if self.contrast and self.contrast.x.edit else component.kind

    def _part(self, case: Case, ours: Arms, theirs: Arms) -> tuple[SwapCell | SwapAccuracy | None, tuple[str, ...]]:
        """Return the part of the swap that this is, and why nothing of it counts, where that is so."""
        if self.contrast is None:
            return _accuracy(case.dataset, ours, theirs), ()
        ids, kind = [pair.id for pair in case.pairs], self._kind
        assert kind is not None
        (verdicts, admits, lost), (others, others_admit, others_lost) = (
            _cell(arms, self.contrast) for arms in (ours, theirs)
        )
        cell = SwapCell(
            self.family, self.name, case.dataset, ids, verdicts, others, admits, others_admit, kind, lost, others_lost
        )
        stuck = stuck_side(ours, (1, 2, 0) if self.contrast.outcome == "chose-first" else (0,))
        if stuck is None:
            return cell, ()
        did = "called nearly every pair in both arms a tie"
        if stuck != 0:
            did = (
                f"chose the response that stands {PLACES[stuck]} in nearly all of both arms although the pairs are "
                "balanced"
            )
        return None, (f"{cell.id}: the candidate {did}, so that no verdict had room to move",)

    @property
    def _kind(self) -> CellKind | None:
        """The kind of its cell; None for accuracy."""
        if self.contrast is None:
            return None
        return "edit" if self.contrast.x.edit else "cue" if self.contrast.x.cue_1 else "order"

    def _shown(self, ours: Arms, theirs: Arms, confidence: float) -> tuple[Shown, ...]:
        """Return what is shown beside it and decides nothing."""
        same = agreement([j for arm in ours for j in arm], [j for arm in theirs for j in arm], confidence)
        if self.contrast is None or self.contrast.x.cue_1 is None:
            return same
        both = (ours[0], ours[1]), (theirs[0], theirs[1])
        return (
            *compare_silent(*both, self.contrast, confidence),
            *compare_car(*both, self.contrast, confidence),
            *same,
        )

    def _price(self, case: Case) -> Row:
        """Return what another pair would cost at most, of both judges: more pairs would settle what is open."""
        costs = [
            most_of(
                who.table, (who.kind.longest_prompt(pair, arm) for pair in case.pairs for arm, _ in who.asks(self.arms))
            )
            for who in case.judges
        ]
        usd = sum(costs, Cost(0, 0, 0, 0.0)).usd
        return {
            "judge": case.judge.name,
            "dataset": case.dataset,
            "contrast": self.contrast.id if self.contrast else None,
            "pairs": len(case.pairs),
            "usd_a_pair": None if usd is None else usd / len(case.pairs),
        }

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of a comparison that could not be measured."""
        assert case.baseline is not None
        quantity = "accuracy"
        if self.contrast:
            quantity = "moved-to-edited" if self.contrast.x.edit else "abs-vsr"
        contrast = self.contrast.id if self.contrast else None
        row = _row(case.judge.name, case.baseline.name, case.dataset, contrast, quantity, 0, message)
        found = lost(self, case, message, swap={**row, "status": str(Status.ERROR)})
        found = found.with_evidence(swap_parts=[self._found(case, None, [message])])
        return replace(found, alpha=case.config.default_gate.alpha)


def planned(subject: Subject) -> Row:
    """Return the part of a swap that a subject is."""
    assert isinstance(subject.check, SwapCheck)
    return subject.check.planned(subject.judge, str(subject.baseline), subject.dataset)


def _cell(arms: Arms, contrast: Contrast) -> tuple[list[Outcomes], list[bool], list[bool]]:
    """Return per pair the outcomes in both arms, 1 where it came about, and what their justifications say of the cue.

    That is whether either cites it, and whether that is open, because one could not be read.
    """
    both = list(zip(*arms, strict=True))
    outcomes = [(chosen(x, contrast.outcome), chosen(y, contrast.outcome)) for x, y in both]
    cued = contrast.x.cue_1 is not None
    lost = [[cued and unreadable(each) for each in pair] for pair in both]
    admits = [
        cued and any(acknowledged(each) == "cited" and not gone for each, gone in zip(pair, unread, strict=True))
        for pair, unread in zip(both, lost, strict=True)
    ]
    return outcomes, admits, [any(unread) and not cites for unread, cites in zip(lost, admits, strict=True)]


def _accuracy(dataset: str, ours: Arms, theirs: Arms) -> SwapAccuracy:
    """Return per pair with gold the share of its orders in which each judge is right."""
    ids = [judgment.pair.id for judgment in ours[0] if judgment.pair.gold is not None]
    shares = [
        [sum(map(rightness, both)) / len(both) for both in zip(*arms, strict=True) if both[0].pair.gold is not None]
        for arms in (ours, theirs)
    ]
    return SwapAccuracy(dataset, ids, shares[0], shares[1])


def _flips(baseline: Answers) -> float | None:
    """Return the share of pairs on which a baseline's repeats differ; None without repeats."""
    repeats = [baseline.indifferent.get(arm_name(*arm), {}) for arm in REPEATED]
    found = movable(repeats, repeats[0])
    return None if found is None else found.value


def _diagnosis(
    judge: str, baseline: str, dataset: str, name: str, status: Status, reasons: Sequence[str], differing: Sequence[Row]
) -> tuple[str, ...]:
    lines = [f"{judge} against {baseline} on {dataset}: {name} is {status}", *(f"  {reason}" for reason in reasons)]
    return (*lines, *difference_lines(differing, judge, baseline))


def difference_lines(rows: Sequence[Row], judge: str, baseline: str) -> list[str]:
    """Return what a failing comparison shows of the pairs on which the judges differ."""
    if not rows:
        return ["  the judges never differ"]
    lines = [f"  they differ in {len(rows)} verdicts; differences.jsonl of --judge-report lists them:"]
    for row in rows[:EXAMPLES]:
        lines += ["", f"  pair {shortened(row['pair'], 60)} in {row['condition']} (gold: {row['gold'] or 'unknown'})"]
        for who, name in (("judge", judge), ("baseline", baseline)):
            choice = row[f"{who}_chosen"] or ("tie" if (kind := row[f"{who}_invalid"]) is None else f"invalid ({kind})")
            lines.append(f"    {name}: {choice} -- {shortened(row[f'{who}_reason'], SHOWN_REASON)}")
    return lines


def _differences(judge: str, baseline: str, dataset: str, ours: Arms, theirs: Arms) -> list[Row]:
    """Return the verdicts in which the judges differ."""
    return [
        difference_row(judge, baseline, dataset, a, b)
        for mine, its in zip(ours, theirs, strict=True)
        for a, b in zip(mine, its, strict=True)
        if a.chosen != b.chosen
    ]


def component_row(
    judge: str, baseline: str, dataset: str, contrast: str | None, quantity: str, component: Component
) -> Row:
    """Return the row of one part of a swap that is decided on; contrast None: accuracy."""
    row = _row(judge, baseline, dataset, contrast, quantity, component.estimate.n, component.message)
    return row | estimated(component) | {"p": component.p_pass, "p_fail": component.p_fail}


def estimated(component: Component) -> Row:
    """Return a component's difference with its interval, its margin and its status."""
    estimate = component.estimate
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "margin": component.margin,
        "status": str(component.status),
    }


def shown_row(judge: str, baseline: str, dataset: str, contrast: str | None, found: Shown) -> Row:
    """Return the row of a quantity that is shown and decides nothing."""
    row = _row(judge, baseline, dataset, contrast, found.quantity, found.n, found.message)
    limits = {} if found.estimate is None else asdict(found.estimate)
    return row | {key: limits.get(key) for key in ("value", "low", "high")} | {"status": str(Status.NOT_APPLICABLE)}


def _row(judge: str, baseline: str, dataset: str, contrast: str | None, quantity: str, n: int, message: str) -> Row:
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "contrast": contrast,
        "quantity": quantity,
        "value": None,
        "low": None,
        "high": None,
        "n": n,
        "margin": None,
        "p": None,
        "p_fail": None,
        "p_fail_holm": None,
        "status": None,
        "message": message,
    }


def difference_row(judge: str, baseline: str, dataset: str, ours: Judgment, theirs: Judgment) -> Row:
    """Return a pair on which two judges differ, in one condition, with both reasons."""
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "pair": ours.pair.id,
        "condition": ours.condition.name,
        "repeat": ours.repeat,
        "gold": ours.pair.gold,
        **{
            f"{who}_{key}": value
            for who, judgment in (("judge", ours), ("baseline", theirs))
            for key, value in (
                ("chosen", judgment.chosen),
                ("invalid", judgment.verdict.invalid),
                ("reason", judgment.verdict.reason),
            )
        },
    }


def expense_row(judge: str, baseline: str, dataset: str, contrast: str | None, expenses: Expenses) -> Row:
    """Return the row of what a verdict costs a candidate and its baseline."""
    of = {name: getattr(expenses, name) for name in EXPENSES_SHOWN}
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "contrast": contrast,
        "calls": dict(zip(("judge", "baseline"), expenses.calls, strict=True)),
        **{
            name: None
            if each is None
            else {
                "judge": each.judge,
                "baseline": each.baseline,
                "n": each.n,
                "difference": estimate_row(each.difference),
            }
            for name, each in of.items()
        },
    }
