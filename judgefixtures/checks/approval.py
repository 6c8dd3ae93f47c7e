"""The decision on a swap: all of its parts that a run compared, put together, in words that a person can sign."""

from __future__ import annotations

from collections.abc import Sequence

from judgefixtures.asking.costs import money
from judgefixtures.checks.candidate import EXPENSES_SHOWN, estimated
from judgefixtures.checks.phrasing import table
from judgefixtures.checks.sections import Section, View, ordered, with_holm
from judgefixtures.config import SwapTable
from judgefixtures.findings import Finding, Row, evidence_of, rows_of
from judgefixtures.numbers.statistics import Status, bare
from judgefixtures.swap import Component, SwapAccuracy, SwapCell, SwapDecision, SwapStatus, decide_looks

KEY = ("judge", "baseline", "dataset", "contrast", "quantity")
EXPENSE_HEADER = ("dataset", "a verdict", "baseline", "candidate", "difference", "CI")
SEVERITY = (SwapStatus.APPROVE, SwapStatus.INCONCLUSIVE, SwapStatus.REJECT)
TITLE = "swap: may the candidate replace the baseline?"
PLAIN = {
    "APPROVE": "{judge} may replace {baseline}: it is worse in nothing that was compared by as much as the margins",
    "REJECT": "{judge} must not replace {baseline}: it is demonstrably worse by more than a margin allows",
    "INCONCLUSIVE": "{judge} cannot replace {baseline} yet: that it is worse by more than a margin is not ruled out",
}
MOST_REASONS, MOST_COMPONENTS = 7, 9  # lines in the terminal; report.json has all


def _rows(findings: Sequence[Finding]) -> list[Row]:
    return with_holm(rows_of(findings, "swap"), KEY)


def _expense_rows(findings: Sequence[Finding]) -> list[Row]:
    return ordered(rows_of(findings, "expenses"), KEY[:-1])


def decisions(findings: Sequence[Finding]) -> list[Row] | None:
    """Return a decision per candidate, over every part of the swap that was collected; None without any."""
    # What was found takes the place of what was planned; of what was found twice, what could not be compared counts.
    found = sorted(evidence_of(findings, "swap_parts"), key=lambda each: each["part"] is None)
    planned = [{"part": None, "lacking": ()} | each for each in evidence_of(findings, "required")]
    parts = {(each["judge"], each["dataset"], each["contrast"] or ""): each for each in (*planned, *found)}
    if not parts:
        return None
    prices = evidence_of(findings, "prices")
    return [
        _Swap(
            [parts[key] for key in sorted(parts) if key[0] == judge], [row for row in prices if row["judge"] == judge]
        ).row
        for judge in sorted({judge for judge, _, _ in parts})
    ]


class _Swap:
    """One candidate's swap: all of its parts, those that could not be compared among them, and what pairs cost."""

    def __init__(self, parts: Sequence[Row], prices: Sequence[Row]) -> None:
        self.judge, self.baseline = parts[0]["judge"], parts[0]["baseline"]
        self.left_out = sorted({each["family"] for each in parts if each.get("left_out")})
        self.parts = [each for each in parts if not each.get("left_out")]
        self.prices = prices

    @property
    def row(self) -> Row:
        """The row of report.json."""
        found = self.decided()
        reasons = [*self.why_lost(), *found.reasons]
        if self.left_out:
            reasons.append(f"not compared: {', '.join(self.left_out)}, to which imported answers have nothing to say")
        if found.needed_pairs is not None:
            reasons += self.price(found.needed_pairs)
        return {
            "judge": self.judge,
            "baseline": self.baseline,
            "status": str(found.status),
            "reasons": reasons,
            "components": [_component(each) for each in found.components],
            "guard_margin": found.guard_margin,
            "needed_pairs": found.needed_pairs,
            "look": found.look,
        }

    def decided(self) -> SwapDecision:
        """Return the decision over all that was planned: what could not be compared is without pairs."""
        cells = [_cell(each) for each in self.parts if each["contrast"]]
        accuracies = [_accuracy(each) for each in self.parts if not each["contrast"]]
        measured = [each for each in self.parts if each["part"] is not None]
        settings: Row = next((each for each in self.parts if "swap" in each), {"swap": {}, "alpha": 0.05})
        flips = {each["dataset"]: each["flips"] for each in measured if each["flips"] is not None}
        clusters = {(each["dataset"], pair): label for each in measured for pair, label in each["clusters"].items()}
        swap = SwapTable.model_validate(settings["swap"])
        return decide_looks(
            cells, accuracies, swap, alpha=settings["alpha"], baseline_flips=flips, clusters=clusters or None
        )

    def why_lost(self) -> list[str]:
        """Return why parts cannot be compared, each reason once."""
        return list(dict.fromkeys(reason for each in self.parts if each["part"] is None for reason in each["lacking"]))

    def price(self, needed: int) -> list[str]:
        """Return what so many pairs per dataset cost beyond those that there are: calls, and money of both judges."""
        more = [(each, max(needed - each["pairs"], 0)) for each in self.prices]
        calls = sum(2 * pairs for _, pairs in more)
        if not calls:
            return []
        costs = [None if each["usd_a_pair"] is None else pairs * each["usd_a_pair"] for each, pairs in more]
        known = [usd for usd in costs if usd is not None]
        cost = f"at most {money(sum(known))}" if len(known) == len(costs) else money(None)
        return [f"{needed} pairs per dataset are {calls} more calls of each judge, {cost} for both"]


def _cell(part: Row) -> SwapCell:
    if part["part"] is not None:
        return SwapCell(**part["part"])
    return SwapCell(part["family"], part["contrast"], part["dataset"], (), (), (), (), (), part["kind"])


def _accuracy(part: Row) -> SwapAccuracy:
    return SwapAccuracy(part["dataset"], (), (), ()) if part["part"] is None else SwapAccuracy(**part["part"])


def _component(found: Component) -> Row:
    return {
        "kind": found.kind,
        "role": found.role,
        "name": found.name,
        "n": found.estimate.n,
        **estimated(found),
        "z": found.z,
        "p_pass": found.p_pass,
        "p_fail": found.p_fail,
        "message": found.message,
    }


def _overall_decision(report: Row) -> Row | None:
    """Return the worst of the candidates' decisions; its reasons name the candidate where there are several."""
    every: list[Row] | None = report.get("decisions")
    if every is None:
        return None
    found = max(every, key=lambda decision: SEVERITY.index(decision["status"]))
    of_status = [decision for decision in every if decision["status"] == found["status"]]
    reasons = [
        f"{decision['judge']}: {reason}" if len(every) > 1 else reason
        for decision in of_status
        for reason in decision["reasons"]
    ]
    return {**{key: value for key, value in found.items() if key not in ("judge", "baseline")}, "reasons": reasons}


# --- words ----------------------------------------------------------------------------------------------------


def _lines(report: Row, _view: View) -> list[str]:
    """Return each candidate's decision: in words, then its components, open ones first; the decision on all last."""
    if not (decision := report.get("decision")):
        return []
    lines, several = [], len(report["decisions"]) > 1
    for own in report["decisions"]:
        title = f"decision on {own['judge']} against {own['baseline']}: {own['status']}" if several else ""
        title, *rest = _decided(title or f"decision: {own['status']}", own)
        lines += ["", title, *(f"  {said}" for said in filter(None, [unread(own, report)])), *rest]
    return [*lines, "", f"decision: {decision['status']}"] if several else lines


def lead(decision: Row, report: Row) -> str:
    """Return what was decided on a candidate, in a sentence; that a judge failed its control comes before it."""
    said = unread(decision, report)
    return f"{said}; {plain(decision)}" if said else plain(decision)


def unread(decision: Row, report: Row) -> str:
    """Return which judges of a swap failed their control, so that nothing can be approved; empty for none."""
    rows = [row for row in report.get("controls") or () if row["status"] in (Status.FAIL, Status.ERROR)]
    said = [
        f"{name} fails its control"
        if any(row["status"] == Status.FAIL for row in own)
        else f"the control of {name} could not be measured"
        for name in dict.fromkeys((decision["judge"], decision["baseline"]))
        if (own := [row for row in rows if row["judge"] == name])
    ]
    return f"{' and '.join(said)}, and until it passes nothing can be approved" if said else ""


def plain(decision: Row) -> str:
    """Return what was decided on a candidate, in a sentence."""
    return PLAIN[decision["status"]].format(judge=decision["judge"], baseline=decision["baseline"])


def _decided(title: str, decision: Row) -> list[str]:
    """Return the decision's title, its reasons, and the components that are not among them, open ones first."""
    reasons, components = decision["reasons"], decision["components"]
    left = [each for each in components if each["message"] not in reasons]
    left.sort(key=lambda each: (each["status"] == Status.PASS, each["role"] != "primary"))
    shown = [f"  {each['message']}" for each in left if each["role"] == "primary" or each["status"] != Status.PASS]
    # What follows the open components says what would settle them: it is not cut.
    tested = {each["message"] for each in components}
    parts = max((at for at, reason in enumerate(reasons, 1) if reason in tested), default=len(reasons))
    said = [f"  {reason}" for reason in reasons]
    return [
        title,
        *_cut(said[:parts], MOST_REASONS),
        *said[parts:],
        *_cut(shown, MOST_COMPONENTS),
        *_guards(components, decision["guard_margin"]),
    ]


def _guards(components: Sequence[Row], margin: float | None) -> list[str]:
    guards = [each for each in components if each["role"] == "guard"]
    passed = sum(each["status"] == Status.PASS for each in guards)
    not_worse = "" if margin is None else f", none worse by {bare(margin)} or more" if passed == len(guards) else ""
    said = f"  single contrasts and datasets: {passed} of {len(guards)} pass{not_worse} (report.json has all)"
    return [said] if guards else []


def _cut(lines: Sequence[str], most: int) -> list[str]:
    """Return so many lines at most, the last of which says how many more there are."""
    return list(lines) if len(lines) <= most else [*lines[: most - 1], f"  and {len(lines) - most + 1} more like these"]


def _expense_lines(report: Row, _view: View) -> list[str]:
    """Return what a verdict costs, a table per candidate: that of the first dataset (report.json has all)."""
    first: dict[tuple[str, str], Row] = {}
    for row in report["expenses"]:
        first.setdefault((row["judge"], row["baseline"]), row)
    lines: list[str] = []
    for (judge, baseline), row in first.items():
        cells = _expense_cells(row["dataset"], row)
        lines += ["", f"cost of a verdict: {judge} against {baseline} (no times: recordings have none)"]
        lines += table([EXPENSE_HEADER, *cells])
    return lines


def _expense_cells(dataset: str, row: Row) -> list[tuple[str, ...]]:
    calls = row["calls"]
    cells: list[tuple[str, ...]]
    cells = [
        (
            dataset,
            "calls in sequence",
            str(calls["baseline"]),
            str(calls["judge"]),
            f"{calls['judge'] - calls['baseline']:+d}",
            "-",
        )
    ]
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
            limits = (
                f"{100 * found['confidence']:.10g}% [{found['low']:.{digits}f}, {found['high']:.{digits}f}], "
                f"n = {each['n']}"
            )
        cells.append(
            (
                dataset,
                name.replace("_", " "),
                f"{each['baseline']:.{digits}f}",
                f"{each['judge']:.{digits}f}",
                difference,
                limits,
            )
        )
    return cells


SWAP = Section("swap", _rows)
EXPENSES = Section("expenses", _expense_rows, _expense_lines, title="what a verdict costs")
DECISIONS = Section("decisions", decisions)
DECISION = Section("decision", lines=_lines, sums_up=_overall_decision, title=TITLE)
