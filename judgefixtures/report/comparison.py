"""Comparison of two reports: what changed, and is it more than chance?

On the same pairs a change is the mean change per pair or cluster. Otherwise, and for CAR and kappa, it is a difference
of independent estimates.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import sqrt

from judgefixtures.checks.formatting import interval_cell, shorten, table_lines
from judgefixtures.checks.human_agreement import AgreementCheck
from judgefixtures.checks.plain_language import status_with_part
from judgefixtures.checks.swap_decision import decide_swaps
from judgefixtures.models import check_rows
from judgefixtures.models.agreement_rows import AgreementRow
from judgefixtures.models.findings import Finding, Row, evidence_of, rows_of
from judgefixtures.models.pairs import LABELS
from judgefixtures.models.side_by_side_rows import CorrectPairs
from judgefixtures.statistics import Estimate, format_signed, holm, upper_tail, z_quantile
from judgefixtures.statistics.clusters import score_interval, score_test
from judgefixtures.util.errors import JudgeFixturesError

from .messages import MESSAGES
from .run_record import MOST_SHOWN, RunRecord, asked_digests, differing_settings, result_options, stopped_run_note

LEVEL = 0.05  # of all tests together, by Holm's method
HEADER = ("judge", "dataset", "what", "old", "new", "change", "CI")
UNPAIRED = {
    "CAR": "CAR is about moved verdicts only",
    "swap": "a swap is a difference of two judges",
    "kappa": "kappa is not a mean over examples",
}
ESTIMATED = (check_rows.ContrastRow, check_rows.AccuracyRow, check_rows.WordingRow, AgreementRow)
READ = {kind.place for kind in ESTIMATED}  # whose rows have estimates
FLIPS = "excess flips of other wordings"
SHARES = {"accuracy": LABELS, "TPR": LABELS[:1], "TNR": LABELS[1:]}  # of the examples with which labels they are
AGAINST = " against "
ARM = ("judge", "dataset", "condition", "repeat")
Key = tuple[str, str, str]  # judge, dataset, quantity
Scores = dict[Key, Mapping[str, float]]  # by pair id


@dataclass(frozen=True, slots=True)
class EstimateChange:
    """The change new - old of an estimate, with its interval and two-sided p-value."""

    key: Key
    old: Estimate
    new: Estimate
    difference: Estimate
    p: float
    pairs: str  # "same" pairs or examples in both reports, "others", or "-" for what is not a mean over them


@dataclass(frozen=True, slots=True)
class ReportChanges:
    """The changes between two reports as `lines`.

    Attributes:
        beyond_chance: Whether a change is more than noise.
        failed: Whether the new run failed or stopped.
    """

    lines: tuple[str, ...]
    beyond_chance: bool
    failed: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of a comparison."""
        return int(self.beyond_chance or self.failed)


def compare_reports(old: RunRecord, new: RunRecord) -> ReportChanges:
    """Return the changes between two reports.

    Raises:
        JudgeFixturesError: They have nothing in common.
    """
    failed = _trouble("NEW", new)
    before, after = _Side(old), _Side(new)
    shared = sorted(before.estimates.keys() & after.estimates.keys())
    statuses = [*_decisions(before, after), *_statuses(old.findings, new.findings)]
    both = {_name(each) for each in old.findings} & {_name(each) for each in new.findings}
    if not shared and not both:
        nothing = "the two reports cannot be compared: no check of the same judge on the same dataset is in both"
        raise JudgeFixturesError("".join(f"{line}\n" for line in failed) + f"{nothing}.")
    changes = [_change(key, before, after) for key in shared]
    adjusted = dict(zip(shared, holm([change.p for change in changes]), strict=True))
    beyond = [change for change in changes if adjusted[change.key] < LEVEL]
    moved = [change for change in changes if change.old.value != change.new.value]
    lines = [*failed, MESSAGES.change_headline(len(shared), len(moved), len(beyond), old.about.date, new.about.date)]
    if moved:
        pairs_header = " or ".join(sorted({after.asked(change.key) for change in moved}, reverse=True))
        header = (*HEADER, pairs_header, "more than chance")
        lines += ["", *table_lines([header, *(_cells(change, adjusted[change.key]) for change in moved)])]
        lines += MESSAGES.lines("change_legend", pairs_header, _unpaired(moved))
    lines += [*_labels(before, after), *statuses]
    lines += _only("OLD", before.estimates.keys() - after.estimates.keys())
    lines += _only("NEW", after.estimates.keys() - before.estimates.keys())
    lines += [*_trouble("OLD", old), *_others(old, new)]
    return ReportChanges(tuple(lines), bool(beyond), bool(failed))


def _trouble(which: str, record: RunRecord) -> list[str]:
    counts = Counter(str(each.status) for each in record.findings if each.waived is None)
    decided = [row for row in decide_swaps(record.findings) or () if row.status != "APPROVE"]
    ends = (record.about.lost, stopped_run_note(record.about.unfinished))
    lines = MESSAGES.lines("trouble", counts, decided, ends)
    if record.failed and not lines:
        lines = ["an item failed"]
    return [f"{which} DID NOT PASS: {'; '.join(lines)}"] if lines else []


class _Side:
    def __init__(self, record: RunRecord) -> None:
        findings = record.findings
        pairs = {(row["dataset"], row["pair"]): row for row in record.pairs}
        left_out = ("judges", "label")
        self.texts = {of: {name: row[name] for name in row if name not in left_out} for of, row in pairs.items()}
        self.labels = {of: row["label"] for of, row in pairs.items() if "label" in row}
        self.clusters = {of: f"cluster {row['cluster']}" for of, row in pairs.items() if "cluster" in row}
        self.estimates: dict[Key, Estimate] = {}
        self.scores: Scores = {}
        for row in rows_of(findings, check_rows.ContrastRow):
            for name, estimate in (("VSR", row.vsr), ("CAR", row.car)):
                if estimate:
                    self.estimates[row.judge, row.dataset, f"{name} of {row.contrast}"] = estimate
        for right in rows_of(findings, check_rows.AccuracyRow):
            if right.category == "all":
                self.estimates[right.judge, right.dataset, "accuracy"] = right.accuracy
        for moved in evidence_of(findings, check_rows.PairShifts):
            self.scores[moved.judge, moved.dataset, f"VSR of {moved.contrast}"] = moved.moves
        for of in evidence_of(findings, CorrectPairs):
            self.scores[of.judge, of.dataset, "accuracy"] = {pair: float(each) for pair, (_, each) in of.right.items()}
        for worded in rows_of(findings, check_rows.WordingRow):
            if worded.wording == check_rows.ALL and worded.excess_flips is not None:
                self.estimates[worded.judge, worded.dataset, FLIPS] = worded.excess_flips
        for flipped in evidence_of(findings, check_rows.WordingFlips):
            self.scores[flipped.judge, flipped.dataset, FLIPS] = flipped.excess
        for with_people in rows_of(findings, AgreementRow):
            if with_people.category == "all":
                self._compare(with_people, record.judgments)
        for each in findings:  # of swaps, and of every other check that has an estimate
            if each.estimate is not None and not each.rows.keys() & READ:
                self.estimates[_who(each.judge, each.baseline), each.dataset, each.name] = each.estimate
        self.decisions = {_who(each.judge, each.baseline): each for each in decide_swaps(findings) or ()}
        for who, decision in self.decisions.items():
            for part in (each for each in decision.components if each.is_of_all):
                found = Estimate(part.value, part.low, part.high, 1 - 2 * record.alpha, part.n)
                self.estimates[who, "all", f"{part.kind} of {part.name}" if part.name else part.kind] = found

    def _compare(self, row: AgreementRow, judgments: Iterable[Row]) -> None:
        rates = {"accuracy": row.accuracy, "TPR": row.tpr, "TNR": row.tnr, "kappa": row.kappa}
        ((arm, repeat),) = AgreementCheck.arms
        arm_key = (row.judge, row.dataset, arm.name, repeat)
        own = [each for each in judgments if tuple(each[name] for name in ARM) == arm_key]
        for name, estimate in rates.items():
            if estimate is not None:
                self.estimates[row.judge, row.dataset, name] = estimate
        for name, labels in SHARES.items():
            self.scores[row.judge, row.dataset, name] = {
                each["pair"]: float(each.get("passed") is (label == "pass"))  # an invalid grade does neither
                for each in own
                if (label := each.get("label")) in labels
            }

    def asked(self, key: Key) -> str:
        _, dataset, _ = key
        return "examples" if any(of == dataset for of, _ in self.labels) else "pairs"


def _who(judge: str, baseline: str | None) -> str:
    return f"{judge}{AGAINST}{baseline}" if baseline else judge


def _change(key: Key, before: _Side, after: _Side) -> EstimateChange:
    old, new = before.estimates[key], after.estimates[key]
    confidence = max(old.confidence, new.confidence)
    same = _same_pairs(key, before, after)
    if len(same) == max(old.n, new.n):
        values = [after.scores[key][pair] - before.scores[key][pair] for pair in same]
        half = 1.0 if key[2] in SHARES else 2.0
        related = [after.clusters.get((key[1], pair), pair) for pair in same]
        difference = score_interval(values, confidence, half, related)
        p = 2 * upper_tail(abs(score_test(values, 0.0, half, related)))
        return EstimateChange(key, old, new, difference, min(p, 1.0), "same")
    difference = _independent(_at(old, confidence), _at(new, confidence))
    side = difference.value - difference.low if difference.value > 0 else difference.high - difference.value
    z = abs(difference.value) / (side / z_quantile((1 + difference.confidence) / 2)) if side > 0 else 0.0
    pairs = "others" if key in before.scores else "-"
    return EstimateChange(key, old, new, difference, min(2 * upper_tail(z), 1.0), pairs)


def _at(estimate: Estimate, confidence: float) -> Estimate:
    if estimate.confidence == confidence:
        return estimate
    wider, value = z_quantile((1 + confidence) / 2) / z_quantile((1 + estimate.confidence) / 2), estimate.value
    low, high = (value + wider * (end - value) for end in (estimate.low, estimate.high))
    return replace(estimate, low=low, high=high, confidence=confidence)


def _same_pairs(key: Key, before: _Side, after: _Side) -> list[str]:
    if key not in before.scores or key not in after.scores:
        return []
    _, dataset, _ = key
    shared = before.scores[key].keys() & after.scores[key].keys()
    return sorted(pair for pair in shared if before.texts.get((dataset, pair)) == after.texts.get((dataset, pair)))


def _independent(old: Estimate, new: Estimate) -> Estimate:
    """Return the difference of independent estimates (MOVER, Zou and Donner 2008)."""
    value = new.value - old.value
    low = value - sqrt((new.value - new.low) ** 2 + (old.high - old.value) ** 2)
    high = value + sqrt((new.high - new.value) ** 2 + (old.value - old.low) ** 2)
    return Estimate(value, low, high, old.confidence, min(old.n, new.n))


def _unpaired(changes: Iterable[EstimateChange]) -> str:
    there = {"swap" if AGAINST in change.key[0] else change.key[2].partition(" ")[0] for change in changes}
    return "; ".join(text for name, text in UNPAIRED.items() if name in there) or UNPAIRED["CAR"]


def _labels(before: _Side, after: _Side) -> list[str]:
    moved: dict[str, list[str]] = {}
    for dataset, name in sorted(before.labels.keys() & after.labels.keys()):
        of = dataset, name
        if before.labels[of] != after.labels[of] and before.texts[of] == after.texts[of]:
            moved.setdefault(dataset, []).append(name)
    return MESSAGES.lines("other_labels", moved)


def _cells(change: EstimateChange, adjusted: float) -> tuple[str, ...]:
    values = (format_signed(each.value) for each in (change.old, change.new, change.difference))
    beyond = f"yes, p = {adjusted:.2g}" if adjusted < LEVEL else "no"
    return (*change.key, *values, interval_cell(change.difference), change.pairs, beyond)


def _name(finding: Finding) -> tuple[str, str, str, str]:
    return finding.judge, finding.baseline or "", finding.dataset, finding.name


def _decisions(before: _Side, after: _Side) -> list[str]:
    both = sorted(before.decisions.keys() & after.decisions.keys())
    was, now = ({who: side.decisions[who].status for who in both} for side in (before, after))
    return [f"{who}: the decision was {was[who]}, is {now[who]}" for who in both if was[who] != now[who]]


def _statuses(old: list[Finding], new: list[Finding]) -> list[str]:
    before, after = ({_name(each): each for each in findings} for findings in (old, new))

    def status_of(finding: Finding) -> str:
        return status_with_part(finding.status, finding.decided_by)

    both = sorted(before.keys() & after.keys())
    lines = []
    for judge, baseline, dataset, name in (key for key in both if before[key].status is not after[key].status):
        was, now = (status_of(findings[judge, baseline, dataset, name]) for findings in (before, after))
        lines.append(f"{_who(judge, baseline)} on {dataset}: {name} was {was}, is {now}")
    return lines


def _only(which: str, keys: set[Key]) -> list[str]:
    return [f"only in {which}: {what} of {judge} on {dataset}" for judge, dataset, what in sorted(keys)]


def _others(old: RunRecord, new: RunRecord) -> list[str]:
    settings = differing_settings(old.about, new.about)
    shown = {name: [shorten(value, MOST_SHOWN) for value in both] for name, both in settings.items()}
    then, now = asked_digests(old.about), asked_digests(new.about)
    both = sorted(then.keys() & now.keys())
    digests = {name: (then[name], now[name]) for name in both if then[name] != now[name]}
    options = [" ".join(result_options(each.about)) for each in (old, new)]
    judges = sorted(old.judges.keys() & new.judges.keys())
    changed = [name for name in judges if _identity(old, new, name) != _identity(new, old, name)]
    return MESSAGES.lines("other_circumstances", old.about, new.about, shown, digests, options, changed)


def _identity(record: RunRecord, other: RunRecord, name: str) -> Row:
    identity = record.judges[name]
    if "answers" not in identity:
        return identity
    datasets = {each.dataset for each in record.findings} & {each.dataset for each in other.findings}
    return {**identity, "answers": {name: logs for name, logs in identity["answers"].items() if name in datasets}}
