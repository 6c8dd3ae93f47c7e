"""A judge against the one that it is to replace: no worse in a contrast, or in accuracy, by more than a margin?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from judgefixtures.checks.accuracy import golden, rights
from judgefixtures.checks.check import Answers, Arms, Case, Fewest, Need, gate_of, lost
from judgefixtures.checks.sections import Section, ordered, with_holm
from judgefixtures.checks.wording import shortened, table
from judgefixtures.config import Config, JudgeTable
from judgefixtures.contrasts import NO_CUE, Contrast
from judgefixtures.costs import Cost, money, most_of
from judgefixtures.expenses import Expenses, compare_expenses
from judgefixtures.findings import Finding, Row, estimate_row, evidence_of, rows_of
from judgefixtures.judgments import Arm, Judgment
from judgefixtures.pairs import Pair
from judgefixtures.power import fewest
from judgefixtures.statistics import (
    Status,
    advice,
    bare,
    gate_abs_shift,
    gate_non_inferiority,
    signed,
    worst,
)
from judgefixtures.swap import (
    SHOWN_ONLY,
    Comparison,
    Quantity,
    SwapStatus,
    compare_accuracy,
    compare_car,
    compare_contrast,
    decide,
)

KEY = ("judge", "baseline", "dataset", "contrast", "quantity")
HEADER = ("dataset", "contrast", "quantity", "n", "difference", "CI", "margin", "status")
EXPENSE_HEADER = ("dataset", "a verdict", "baseline", "candidate", "difference", "CI")
EXPENSES_SHOWN = ("input_tokens", "output_tokens", "reasoning_tokens", "usd")
SEVERITY = (SwapStatus.APPROVE, SwapStatus.INCONCLUSIVE, SwapStatus.REJECT)
EXAMPLES = 3
SHOWN_REASON = 240


@dataclass(frozen=True, slots=True)
class SwapCheck:
    """A candidate is no worse than its baseline on the same pairs: in a contrast, or (None) in accuracy."""

    contrast: Contrast | None = None
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
        """Both arms of the contrast; for accuracy the pairs' own order."""
        return self.contrast.arms if self.contrast else ((NO_CUE, 0),)

    def excuse(self, case: Case) -> str:  # noqa: ARG002
        """Nothing excuses a candidate."""
        return ""

    def fewest(self, config: Config) -> Fewest:
        """Return the pairs that the margins of [swap] need."""
        alpha = config.gate(self.family).alpha
        if self.contrast is None:
            return smallest_n_of_accuracies(config.swap.accuracy_margin, alpha)
        return smallest_n_of_swap(config.swap.vsr_margin, config.swap.silent_margin, alpha)

    def counted(self, pairs: Sequence[Pair]) -> int:
        """Return how many pairs count: for accuracy those with gold."""
        return len(pairs) if self.contrast else golden(pairs)

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return the pairs without which not even the best of candidates can PASS."""
        found = Need(f"swap {self.name}", dataset, self.counted(pairs), self.fewest(config).any,
                     "the margins of [swap]", "raise the margin")  # fmt: skip
        return found if found.lacking else None

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of the candidate's answers and its baseline's."""
        gate, (ours, theirs) = gate_of(self, case), (each.arms for each in answers)
        assert case.baseline is not None
        comparisons = self._compare(case, ours, theirs)
        judge, baseline = case.judge.name, case.baseline.name
        contrast = self.contrast.id if self.contrast else None
        differing = _differences(judge, baseline, case.dataset, ours, theirs)
        expenses = compare_expenses(ours, theirs, (case.judge.table, case.baseline.table))
        evidence: Row = (
            {}
            if self.contrast
            else {
                "rights": [
                    rights(judge, case.dataset, ours[0]),
                    rights(baseline, case.dataset, theirs[0], baseline=True),
                ]
            }
        )
        if any(each.status is Status.INCONCLUSIVE for each in comparisons):
            evidence["prices"] = [self._price(case)]
        status = worst(*(each.status for each in comparisons if each.decides))
        decides = next(each for each in comparisons if each.decides)
        return Finding(
            self.kind, judge, case.dataset, self.name, status, baseline,
            reasons=tuple(each.message for each in comparisons),
            diagnosis=_diagnosis(judge, baseline, case.dataset, self.name, status, comparisons, differing),
            rows={
                "swap": tuple(swap_row(judge, baseline, case.dataset, contrast, each) for each in comparisons),
                "expenses": (expense_row(judge, baseline, case.dataset, contrast, expenses),),
                "differences": tuple(differing),
            },
            evidence=evidence, estimate=decides.estimate, alpha=gate.alpha,
        )  # fmt: skip

    def _compare(self, case: Case, ours: Sequence[Sequence[Judgment]], theirs: Arms) -> tuple[Comparison, ...]:
        gate, swap = gate_of(self, case), case.config.swap
        if self.contrast is None:
            return compare_accuracy(ours[0], theirs[0], swap, gate)
        both = (ours[0], ours[1]), (theirs[0], theirs[1])
        return compare_contrast(*both, self.contrast, swap, gate) + compare_car(*both, self.contrast, gate.confidence)

    def _price(self, case: Case) -> Row:
        """Return what another pair would cost at most, of both judges: more pairs would settle what is open."""
        asked = [(pair, condition) for pair in case.pairs for condition, _ in self.arms]
        costs = [most_of(who.table, (who.longest_prompt(*each) for each in asked)) for who in case.judges]
        usd = sum(costs, Cost(0, 0, 0, 0.0)).usd
        return {
            "judge": case.judge.name, "dataset": case.dataset, "contrast": self.contrast.id if self.contrast else None,
            "usd_a_pair": None if usd is None else usd / len(case.pairs),
        }  # fmt: skip

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of a comparison that could not be measured."""
        assert case.baseline is not None
        quantity: Quantity = "accuracy"
        if self.contrast:
            quantity = "moved-to-edited" if self.contrast.x.edit else "abs-vsr"
        contrast = self.contrast.id if self.contrast else None
        comparison = Comparison(quantity, Status.ERROR, message, 0)
        row = swap_row(case.judge.name, case.baseline.name, case.dataset, contrast, comparison)
        return lost(self, case, message, swap=row)


@lru_cache(maxsize=256)
def smallest_n_of_swap(vsr_margin: float, silent_margin: float, alpha: float = 0.05) -> Fewest:
    """Return the fewest pairs at which a candidate PASSes against a baseline in a cue contrast, both its comparisons.

    Nothing is better for a candidate than that it never moves and its baseline always does, in silence.

    >>> smallest_n_of_swap(0.10, 0.10)
    Fewest(any=4, equal=25)
    """

    def passes(n: int, moved: int) -> bool:
        shift = gate_abs_shift([0] * n, [moved] * n, vsr_margin, alpha)
        silent = gate_non_inferiority(n * moved, 0, n, silent_margin, alpha)
        return {shift.status, silent.status} == {Status.PASS}

    return Fewest(fewest(lambda n: passes(n, 1)), fewest(lambda n: passes(n, 0)))


@lru_cache(maxsize=256)
def smallest_n_of_accuracies(margin: float, alpha: float = 0.05) -> Fewest:
    """Return the fewest pairs with gold at which a candidate PASSes against a baseline in accuracy.

    Nothing is better for a candidate than that it is always right and its baseline never.

    >>> smallest_n_of_accuracies(0.05)
    Fewest(any=3, equal=52)
    """

    def passes(n: int, better: int) -> bool:
        return gate_non_inferiority(n * better, 0, n, margin, alpha).status is Status.PASS

    return Fewest(fewest(lambda n: passes(n, 1)), fewest(lambda n: passes(n, 0)))


def _diagnosis(
    judge: str, baseline: str, dataset: str, name: str, status: Status, comparisons: Sequence[Comparison],
    differing: Sequence[Row],
) -> tuple[str, ...]:  # fmt: skip
    lines = [f"{judge} against {baseline} on {dataset}: {name} is {status}"]
    lines += [f"  {comparison.message}" for comparison in comparisons]
    return (*lines, *difference_lines(differing, judge, baseline))


def difference_lines(rows: Sequence[Row], judge: str, baseline: str) -> list[str]:
    """Return what a failing comparison shows of the pairs on which the judges differ."""
    if not rows:
        return ["  the judges never differ"]
    lines = [f"  they differ in {len(rows)} verdicts; differences.jsonl of --judge-report lists them:"]
    for row in rows[:EXAMPLES]:
        lines += ["", f"  pair {shortened(row['pair'], 60)} in {row['condition']} (gold: {row['gold'] or 'unknown'})"]
        for who, name in (("judge", judge), ("baseline", baseline)):
            choice = row[f"{who}_chosen"] or f"invalid ({row[f'{who}_invalid']})"
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


def swap_row(judge: str, baseline: str, dataset: str, contrast: str | None, comparison: Comparison) -> Row:
    """Return the row of one quantity of candidate and baseline; contrast None: accuracy."""
    estimate = comparison.estimate
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "contrast": contrast,
        "quantity": comparison.quantity,
        "value": estimate.value if estimate else None,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
        "n": comparison.n,
        "margin": comparison.margin,
        "p": comparison.p,
        "p_fail": comparison.p_fail,
        "p_fail_holm": None,
        "needed_pairs": comparison.needed_pairs,
        "status": str(comparison.status),
        "message": comparison.message,
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
        **{f"{who}_{key}": value for who, judgment in (("judge", ours), ("baseline", theirs)) for key, value in (
            ("chosen", judgment.chosen), ("invalid", judgment.verdict.invalid), ("reason", judgment.verdict.reason)
        )},
    }  # fmt: skip


def expense_row(judge: str, baseline: str, dataset: str, contrast: str | None, expenses: Expenses) -> Row:
    """Return the row of what a verdict costs a candidate and its baseline."""
    of = {name: getattr(expenses, name) for name in EXPENSES_SHOWN}
    return {
        "judge": judge,
        "baseline": baseline,
        "dataset": dataset,
        "contrast": contrast,
        "calls": dict(zip(("judge", "baseline"), expenses.calls, strict=True)),
        **{name: None if each is None else {"judge": each.judge, "baseline": each.baseline, "n": each.n,
                                            "difference": estimate_row(each.difference)}
           for name, each in of.items()},
    }  # fmt: skip


# --- the report's sections: rows, and one decision over all comparisons of a candidate ----------------------


def _rows(findings: Sequence[Finding]) -> list[Row]:
    return with_holm(rows_of(findings, "swap"), KEY)


def _expense_rows(findings: Sequence[Finding]) -> list[Row]:
    return ordered(rows_of(findings, "expenses"), KEY[:-1])


def _decisions(findings: Sequence[Finding]) -> list[Row] | None:
    """Return a decision per candidate, over every comparison of it that was collected; None without any."""
    swap, prices = _rows(findings), evidence_of(findings, "prices")
    required = {tuple(each) for each in evidence_of(findings, "required")}
    if not swap and not required:
        return None
    return [
        {"judge": judge, **_decision(
            [row for row in swap if row["judge"] == judge],
            sorted(each for each in required if each[0] == judge),
            [row for row in prices if row["judge"] == judge],
        )}
        for judge in sorted({row["judge"] for row in swap} | {each[0] for each in required})
    ]  # fmt: skip


def _overall_decision(findings: Sequence[Finding]) -> Row | None:
    """Return the worst of the candidates' decisions; its reasons name the candidate where there are several."""
    decisions = _decisions(findings)
    if decisions is None:
        return None
    status = max((decision["status"] for decision in decisions), key=SEVERITY.index)
    reasons = [
        f"{decision['judge']}: {reason}" if len(decisions) > 1 else reason
        for decision in decisions
        if decision["status"] == status
        for reason in decision["reasons"]
    ]
    return {"status": status, "reasons": reasons}


def _decision(rows: Sequence[Row], required: Sequence[tuple[str, ...]], prices: Sequence[Row]) -> Row:
    """Return the decision on one candidate and its reasons, what would settle it last.

    `required` names what was collected: judge, baseline, dataset, and the contrast or "accuracy".
    """
    compared = {(row["judge"], row["baseline"], row["dataset"], row["contrast"] or "accuracy") for row in rows}
    comparisons = [
        (f"{row['dataset']} {row['contrast'] or 'accuracy'}",
         Comparison(row["quantity"], Status(row["status"]), row["message"], row["n"],
                    needed_pairs=row["needed_pairs"]))
        for row in rows
    ]  # fmt: skip
    missing = [f"{judge}-against-{baseline}-{dataset}-{name}" for judge, baseline, dataset, name in required
               if (judge, baseline, dataset, name) not in compared]  # fmt: skip
    found = decide(comparisons, missing)
    settle = [] if found.needed_pairs is None else [_settling(rows, found.needed_pairs, prices)]
    return {"status": str(found.status), "reasons": [*found.reasons, *settle]}


def _settling(rows: Sequence[Row], needed: int, prices: Sequence[Row]) -> str:
    """Say how many pairs would settle what is open, and what they cost: calls and money."""
    unsettled = {(row["dataset"], row["contrast"]): row["n"] for row in rows if row["status"] == Status.INCONCLUSIVE}
    most = max(unsettled.values())
    if needed <= most:
        return advice(needed, most, "margin")
    price = {(row["dataset"], row["contrast"]): row["usd_a_pair"] for row in prices}
    more = {key: max(needed - n, 0) for key, n in unsettled.items()}
    calls = sum(pairs * (2 if contrast else 1) for (_, contrast), pairs in more.items())
    each = [None if price.get(key) is None else pairs * price[key] for key, pairs in more.items()]
    known = [usd for usd in each if usd is not None]
    cost = f"at most {money(sum(known))}" if len(known) == len(each) else money(None)
    return f"about {needed} pairs would settle it: {calls} more calls of each judge, {cost} for both"


def _expense_lines(report: Row, _alpha: float) -> list[str]:
    """Return what a verdict costs, a table per candidate: of accuracy, or of the first contrast (report.json: all)."""
    first: dict[tuple[str, str], dict[str, Row]] = {}
    for row in report["expenses"]:
        first.setdefault((row["judge"], row["baseline"]), {}).setdefault(row["dataset"], row)
    lines: list[str] = []
    for (judge, baseline), datasets in first.items():
        cells = [line for dataset, row in datasets.items() for line in _expense_cells(dataset, row)]
        lines += ["", f"cost of a verdict: {judge} against {baseline} (no times: recordings have none)"]
        lines += table([EXPENSE_HEADER, *cells])
    return lines


def _expense_cells(dataset: str, row: Row) -> list[tuple[str, ...]]:
    calls = row["calls"]
    cells: list[tuple[str, ...]]
    cells = [(dataset, "calls in sequence", str(calls["baseline"]), str(calls["judge"]),
             f"{calls['judge'] - calls['baseline']:+d}", "-")]  # fmt: skip
    for name in EXPENSES_SHOWN:
        each, digits = row[name], 6 if name == "usd" else 1
        if each is None:
            if name != "reasoning_tokens":
                unknown = "price unknown" if name == "usd" else "unknown"
                cells.append((dataset, name.replace("_", " "), unknown, unknown, "-", "-"))
            continue
        found = each["difference"]
        difference, limits = f"{each['judge'] - each['baseline']:+.{digits}f}", "-"
        if found:
            limits = (f"{100 * found['confidence']:.10g}% [{found['low']:.{digits}f}, {found['high']:.{digits}f}], "
                      f"n = {each['n']}")  # fmt: skip
        cells.append((dataset, name.replace("_", " "), f"{each['baseline']:.{digits}f}", f"{each['judge']:.{digits}f}",
                      difference, limits))  # fmt: skip
    return cells


def _lines(report: Row, _alpha: float) -> list[str]:
    """Return a table per candidate, the decision on each where there are several, and the decision on the whole."""
    if not (decision := report.get("decision")):
        return []
    lines, several = [], len(report["decisions"]) > 1
    for own in report["decisions"]:
        rows = [row for row in report["swap"] if row["judge"] == own["judge"]]
        if rows:
            lines += ["", f"swap: {own['judge']} against {rows[0]['baseline']}"]
            lines += table([HEADER, *map(_cells, rows)])
        if several:
            lines += ["", *_decided(f"decision on {own['judge']}", own)]
    return [*lines, "", *_decided("decision", decision)]


def _cells(row: Row) -> tuple[str, ...]:
    value, limits = "-", "-"
    if row["value"] is not None:
        value = signed(row["value"]) if row["margin"] else bare(row["value"])
        limits = f"[{bare(row['low'], 3)}, {bare(row['high'], 3)}]"
    return (row["dataset"], row["contrast"] or "accuracy", row["quantity"], str(row["n"]), value, limits,
            bare(row["margin"]) if row["margin"] else "-", _swap_status(row))  # fmt: skip


def _swap_status(row: Row) -> str:
    """Return the status of what decides; agreement and kappa have none."""
    return "" if row["quantity"] in SHOWN_ONLY else row["status"]


def _decided(title: str, decision: Row) -> list[str]:
    return [f"{title}: {decision['status']}", *(f"  {reason}" for reason in decision["reasons"])]


SWAP = Section("swap", _rows)
EXPENSES = Section("expenses", _expense_rows, _expense_lines)
DECISIONS = Section("decisions", _decisions)
DECISION = Section("decision", _overall_decision, _lines)
