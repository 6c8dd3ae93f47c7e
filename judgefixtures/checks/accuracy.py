"""Accuracy where gold is known: is the judge right, per category and in both orders, and how do judges compare?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from judgefixtures.asking.judges import Judge
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks.phrasing import interval, limits, table
from judgefixtures.checks.plain import with_what_decided
from judgefixtures.checks.protocol import Answers, Case, Decision, Need, gate_of, lost
from judgefixtures.checks.sections import Section, View
from judgefixtures.config import Config, GateTable, JudgeTable
from judgefixtures.findings import Finding, Row, clusters_row, estimate_row, evidence_of, rows_of
from judgefixtures.material.contrasts import NO_CUE, NO_CUE_SWAPPED
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.metrics import by_cluster, each_way, is_right, rightness
from judgefixtures.measures.side_by_side import macro_average, side_by_side
from judgefixtures.measures.validity import too_many_invalid
from judgefixtures.numbers.power import fewest
from judgefixtures.numbers.statistics import (
    Estimate,
    Status,
    Totals,
    advice,
    bare,
    check_alpha,
    check_open,
    counted,
    decides,
    proportion,
    several,
    signed,
)

HEADER = ("judge", "dataset", "category", "n", "right", "invalid", "accuracy", "CI", "both orders")
SMALLEST_SHOWN_CATEGORY = 10  # pairs; report.json has all of them
TITLE = "accuracy: is it right where the better response is known?"
DEMONSTRABLE = 0.05  # p by Holm's method, below which a category's difference between judges is named


@dataclass(frozen=True, slots=True)
class AccuracyCheck:
    """Accuracy exceeds min_accuracy, where one is configured; both orders are asked."""

    kind: ClassVar[str] = "accuracy"
    name: ClassVar[str] = "accuracy"
    family: ClassVar[str] = "accuracy"
    contrast: ClassVar[None] = None
    arms: ClassVar[tuple[Arm, ...]] = ((NO_CUE, 0), (NO_CUE_SWAPPED, 0))

    def excuse(self, case: Case) -> str:
        """Without gold nobody can be right."""
        if any(pair.gold is not None for pair in case.pairs):
            return ""
        return f"no pair of {case.dataset} has gold: accuracy is not applicable"

    def indifferent(self, case: Case, judge: Judge) -> tuple[Arm, ...]:  # noqa: ARG002
        """None: it is about no contrast."""
        return ()

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return the pairs with gold without which not even a judge that is always right can PASS."""
        gate = config.gate(self.family)
        if gate.min_accuracy is None:
            return None
        with_gold = [pair for pair in pairs if pair.gold is not None]
        found = Need.among(
            with_gold,
            self.name,
            dataset,
            smallest_n_of_accuracy(gate.min_accuracy, gate.alpha),
            f"min_accuracy {gate.min_accuracy:g}, not even if all are right",
            "lower it",
        )
        return found if found.lacking else None

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of both orders."""
        gate, (own, *others) = gate_of(self, case), answers[0].arms  # a log may have the pairs' own order alone
        other = others[0] if others and case.judge.kind.sees_order else None  # one score, no order
        measured = accuracy(own, other, gate.confidence)
        decision = decide_accuracy(measured[0], gate)
        judge, dataset = case.judge.name, case.dataset
        return Finding(
            self.kind,
            judge,
            dataset,
            self.name,
            decision.status,
            reasons=decision.reasons,
            diagnosis=(f"{judge} on {dataset}: {decision.message}",),
            rows={"accuracy": tuple(accuracy_row(judge, dataset, row) for row in measured)},
            evidence={"rights": [rights(judge, dataset, own)]},
            estimate=measured[0].accuracy,
            plain=with_what_decided(_plain(judge, dataset, measured[0], gate.min_accuracy), decision.decided_by),
            alpha=gate.alpha,
            decided_by=decision.decided_by,
        )

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of an accuracy that could not be measured."""
        return lost(self, case, message)


def _plain(judge: str, dataset: str, measured: Accuracy, least: float | None) -> str:
    """Return how often a judge is right, and how often it has to be, in a sentence."""
    found = measured.accuracy
    level = f"{100 * found.confidence:.10g}%"
    asked = "" if least is None else f", more than {bare(least)} asked"
    return (
        f"{judge} is right on {measured.correct:g} of {several(measured.n, 'pair')} of {dataset} whose better "
        f"response is known ({bare(found.value)}{asked}; {level} CI {bare(found.low, 3)} to "
        f"{bare(found.high, 3)})"
    )


def golden(pairs: Sequence[Pair]) -> int:
    """Return how many pairs have gold."""
    return sum(pair.gold is not None for pair in pairs)


def rights(judge: str, dataset: str, own: Sequence[Judgment], *, baseline: bool = False) -> Row:
    """Return about which pairs a judge is right: judges stand side by side only when all are through."""
    right = {j.pair.id: [j.pair.category, rightness(j)] for j in own if j.pair.gold is not None}
    return {"judge": judge, "dataset": dataset, "right": right, "baseline": baseline}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a judge is right where gold is known; an invalid answer is wrong and counts, a tie is half right.

    `both_orders` counts pairs that are right in both orders; None where only one was asked. `by_cluster` is
    what is right, and what is invalid, by cluster where pairs are related.
    """

    category: str
    n: int
    correct: float
    invalid: int
    accuracy: Estimate
    both_orders: Estimate | None
    by_cluster: tuple[Totals | None, Totals | None] = (None, None)
    ties: int = 0


def accuracy(
    own: Sequence[Judgment], other: Sequence[Judgment] | None = None, confidence: float = 0.90
) -> tuple[Accuracy, ...]:
    """Return accuracy over all pairs with gold ("all", first) and per category, Wilson's interval, or over clusters.

    `own` are the judgments in the pairs' own order, `other` those on the same pairs in the reverse order. Empty
    where no pair has gold.
    """
    right = [(judgment, rightness(judgment)) for judgment in own if judgment.pair.gold is not None]
    of = by_cluster(own, parts=True)
    also = {judgment.pair.id: is_right(judgment) for judgment in other or ()}
    # A category that the data calls "all" has no row of its own: that name means every pair.
    categories = sorted({name for judgment, _ in right if (name := judgment.pair.category) not in (None, "all")})
    rows = []
    for category in ("all", *categories) if right else ():
        members = [(j, r) for j, r in right if category == "all" or j.pair.category == category]
        n, (correct, _) = len(members), each_way(r for _, r in members)
        both = [(j, is_right(j) and also[j.pair.id]) for j, _ in members] if other is not None else None
        invalid = [(j, j.chosen is None) for j, _ in members]
        rows.append(
            Accuracy(
                category,
                n,
                correct,
                sum(is_invalid for _, is_invalid in invalid),
                proportion(correct, n, confidence, totals=of(members)),
                None if both is None else proportion(sum(r for _, r in both), n, confidence, totals=of(both)),
                (of(members), of(invalid)),
                sum(j.verdict.tie for j, _ in members),
            )
        )
    return tuple(rows)


def decide_accuracy(measured: Accuracy, gate: GateTable) -> Decision:
    """Return the decision on a dataset's accuracy: above min_accuracy, where one is configured.

    PASS when the one-sided exact lower bound exceeds it, FAIL when the upper one is below, else INCONCLUSIVE.
    Without min_accuracy nothing is decided (NOT_APPLICABLE), except that demonstrably too many invalid answers are an
    ERROR. An invalid answer is wrong, so that a PASS holds at worst.
    """
    right, invalid = measured.by_cluster
    shown = f"accuracy {measured.correct:g}/{measured.n} = {interval(measured.accuracy)}{counted(measured.n, right)}"
    shown += f" ({measured.ties} ties, each half right)" if measured.ties else ""
    least = gate.min_accuracy or 0.0
    if excess := too_many_invalid(measured.invalid, measured.n, gate, invalid):
        return Decision.of(
            Status.ERROR, least, f"{shown}; {measured.invalid} answers are invalid, {excess}", part="invalid"
        )
    if gate.min_accuracy is None:
        return Decision.of(Status.NOT_APPLICABLE, least, f"{shown}; no min_accuracy is configured", part="accuracy")
    exact = proportion(measured.correct, measured.n, gate.confidence, "exact", right)
    status, enough = Status.INCONCLUSIVE, decides(right)
    few = "" if enough else f"; {advice(None, measured.n, 'min_accuracy', right)}"
    if enough and exact.low > gate.min_accuracy:
        status = Status.PASS
    elif enough and exact.high < gate.min_accuracy:
        status = Status.FAIL
    return Decision.of(
        status, least, f"{shown}, min_accuracy {bare(gate.min_accuracy)}: {status}{few}", part="accuracy"
    )


@lru_cache(maxsize=256)
def smallest_n_of_accuracy(least: float, alpha: float = 0.05) -> int:
    """Return the fewest pairs with gold at which a judge that is always right exceeds min_accuracy.

    >>> smallest_n_of_accuracy(0.7)
    9
    """
    check_open(least, "least")
    check_alpha(alpha)
    return fewest(lambda n: proportion(n, n, 1 - 2 * alpha, "exact").low > least)


def accuracy_row(judge: str, dataset: str, measured: Accuracy) -> Row:
    """Return the row of a judge's accuracy in a category, or in "all"."""
    return {
        "judge": judge,
        "dataset": dataset,
        "category": measured.category,
        "n": measured.n,
        **clusters_row(measured.by_cluster[0]),
        "correct": measured.correct,
        **({"ties": measured.ties} if measured.ties else {}),
        "invalid": measured.invalid,
        "accuracy": estimate_row(measured.accuracy),
        "accuracy_both_orders": estimate_row(measured.both_orders),
    }


# --- the report's sections ----------------------------------------------------------------------------------


def _rows(findings: Sequence[Finding]) -> list[Row]:
    return sorted(rows_of(findings, "accuracy"), key=_order)


def _lines(report: Row, _view: View) -> list[str]:
    shown = [row for row in report["accuracy"] if row["category"] == "all" or row["n"] >= SMALLEST_SHOWN_CATEGORY]
    said = [
        f"{row['status'] if row['status'] != Status.NOT_APPLICABLE else 'no limit is set'}: {row['text']}"
        for row in report["results"]
        if row["check"] == AccuracyCheck.kind and row["text"]
    ]
    return ["", *said, "", *table([HEADER, *map(_accuracy_cells, shown)])] if shown else []


def _macro_lines(report: Row, _view: View) -> list[str]:
    # A mean over topics of a few pairs each says nothing.
    enough = [
        row for row in report["macro_accuracy"] if row["accuracy"]["n"] >= SMALLEST_SHOWN_CATEGORY * row["categories"]
    ]
    return [
        f"{row['judge']} {row['dataset']}: mean over {row['categories']} categories "
        f"{bare(row['accuracy']['value'])}, {limits(row['accuracy'])}"
        for row in enough
    ]


def _side_by_side_rows(findings: Sequence[Finding]) -> list[Row]:
    return side_by_side(evidence_of(findings, "rights"))


def _macro_rows(findings: Sequence[Finding]) -> list[Row]:
    """Return the mean accuracy over the categories of each judge and dataset that has several."""
    parts: dict[tuple[str, str], list[Estimate]] = {}
    for row in _rows(findings):
        if row["category"] != "all":
            parts.setdefault((row["judge"], row["dataset"]), []).append(Estimate(**row["accuracy"]))
    return [
        {
            "judge": judge,
            "dataset": dataset,
            "categories": len(found),
            "accuracy": estimate_row(macro_average(found, found[0].confidence)),
        }
        for (judge, dataset), found in parts.items()
        if len(found) > 1
    ]


def _order(row: Row) -> tuple[str, str, bool, str]:
    return (row["judge"], row["dataset"], row["category"] != "all", row["category"])


def _side_by_side_lines(report: Row, _view: View) -> list[str]:
    """Return a table per dataset, a column per judge, and the paired tests over all of its pairs.

    Of two judges a row also has their difference; of more, a line says in which categories they demonstrably differ.
    """
    rows: Sequence[Row] = report["side_by_side"]
    lines: list[str] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        of_dataset = [row for row in rows if row["dataset"] == dataset]
        large = [row for row in of_dataset[1:] if row["tests"] and row["n"] >= SMALLEST_SHOWN_CATEGORY]
        shown = [of_dataset[0], *large, *(row for row in of_dataset if row["category"] == "macro" and large)]
        two = len(of_dataset[0]["judges"]) == 2
        header = ("category", "n", *of_dataset[0]["judges"], *(("difference",) if two else ()))
        cells = [
            (
                row["category"],
                str(row["n"]),
                *(
                    f"{bare(found['value'])} [{bare(found['low'])}, {bare(found['high'])}]"
                    for found in row["judges"].values()
                ),
                *(_difference(test) for test in row["tests"] if two),
            )
            for row in shown
        ]
        widest = max(map(len, cells))
        cells = [(*cell, *("-",) * (widest - len(cell))) for cell in cells]
        lines += ["", f"accuracy on {dataset}, side by side:", *table([header, *cells])]
        lines += [_test_line(test) for test in of_dataset[0]["tests"]]
        if not two:
            lines += [
                f"{_test_line(test)} in {row['category']}"
                for row in large
                for test in row["tests"]
                if test["p_holm"] < DEMONSTRABLE
            ]
    return lines


def _difference(test: Row) -> str:
    found = test["difference"]
    return f"{signed(found['value'])} [{bare(found['low'])}, {bare(found['high'])}]"


def _test_line(test: Row) -> str:
    return (
        f"  {test['a']} - {test['b']}: {signed(test['difference']['value'])}, {limits(test['difference'])}, "
        f"p = {test['p']:.2g} ({test['p_holm']:.2g} by Holm)"
    )


def _accuracy_cells(row: Row) -> tuple[str, ...]:
    both = row["accuracy_both_orders"]
    return (
        row["judge"],
        row["dataset"],
        row["category"],
        str(row["n"]),
        f"{row['correct']:g}",
        str(row["invalid"]),
        bare(row["accuracy"]["value"]),
        limits(row["accuracy"]),
        bare(both["value"]) if both else "-",
    )


ACCURACY = Section("accuracy", _rows, _lines, title=TITLE)
MACRO_ACCURACY = Section("macro_accuracy", _macro_rows, _macro_lines, title=TITLE)
SIDE_BY_SIDE = Section("side_by_side", _side_by_side_rows, _side_by_side_lines, title=TITLE)
