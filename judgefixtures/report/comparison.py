"""Comparison: two reports of one thing, as of last month and of today. What changed, and is it more than chance?

Where both asked about the same pairs a change is the mean of what each pair changed by, which noise in the pairs
cannot make (of what each cluster did, where pairs are related); where they did not, it is the difference of two
independent estimates, with a wider interval. So it is for CAR, too, which is about the verdicts that moved in each, and
for kappa, which is a mean over nothing. An example is the same with another label: labels are nothing that was asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import sqrt

from judgefixtures.checks.accuracy import AccuracyRow
from judgefixtures.checks.approval import decide_swaps
from judgefixtures.checks.columns import ContrastRow
from judgefixtures.checks.phrasing import limits, shortened, table
from judgefixtures.checks.plain import named_in
from judgefixtures.checks.rewording import Reworded, WordingRow
from judgefixtures.checks.two_arms import Moves
from judgefixtures.checks.with_people import AgreementCheck, AgreementRow
from judgefixtures.findings import Finding, Row, evidence_of, rows_of, rows_of_parts
from judgefixtures.material.pairs import LABELS
from judgefixtures.measures.excess_flips import ALL
from judgefixtures.measures.side_by_side import Rights
from judgefixtures.numbers.statistics import (
    Estimate,
    holm,
    score_interval,
    score_test,
    several,
    signed,
    upper_tail,
    z_quantile,
)
from judgefixtures.report.writing import MOST_SHOWN, Record, asked_of, numbers, settings_that_differ, stopped
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.texts import join_names

LEVEL = 0.05  # of all tests together, by Holm's method
HEADER = ("judge", "dataset", "what", "old", "new", "change", "CI")
UNPAIRED = {
    "CAR": "CAR is about the verdicts that moved, and is compared like that of others",
    "kappa": "kappa is no mean of examples, and is compared like that of others",
}
FLIPS = "excess flips of other words"
SHARES = {"accuracy": LABELS, "TPR": LABELS[:1], "TNR": LABELS[1:]}  # of the examples with which labels they are
ARM = ("judge", "dataset", "condition", "repeat")
SHOWN_IDS = 5

Key = tuple[str, str, str]  # judge, dataset, quantity
Scores = dict[Key, Mapping[str, float]]  # by pair id


@dataclass(frozen=True, slots=True)
class Change:
    """An estimate in two reports: new - old with its interval, and the two-sided p-value of no change at all."""

    key: Key
    old: Estimate
    new: Estimate
    difference: Estimate
    p: float
    pairs: str  # "same" pairs or examples in both reports, "others", or "-" for what is not a mean over them


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed between two reports; `lines` say it, `beyond_chance` that some change is more than noise.

    `failed` says that the new run did not pass, or did not come to its end: then what is equal is no good news.
    """

    lines: tuple[str, ...]
    beyond_chance: bool
    failed: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of a comparison."""
        return int(self.beyond_chance or self.failed)


def compared(old: Record, new: Record) -> Changes:
    """Return what changed from one report to another. Raises JudgeFixturesError where they have nothing in common."""
    failed = _trouble("NEW", new)
    before, after = _Side(old), _Side(new)
    shared = sorted(before.estimates.keys() & after.estimates.keys())
    if not shared:
        raise JudgeFixturesError(
            "".join(f"{line}\n" for line in failed) + "the two reports have nothing in common: no judge was checked in "
            "the same way on the same dataset in both."
        )
    changes = [_change(key, before, after) for key in shared]
    adjusted = dict(zip(shared, holm([change.p for change in changes]), strict=True))
    beyond = [change for change in changes if adjusted[change.key] < LEVEL]
    shown = [change for change in changes if change.old.value != change.new.value]
    lines = [*failed, _headline(len(shared), len(shown), beyond, old, new)]
    if shown:
        asked = " or ".join(sorted({after.asked(change.key) for change in shown}, reverse=True))
        header = (*HEADER, asked, "more than chance")
        lines += ["", *table([header, *(_cells(change, adjusted[change.key]) for change in shown)])]
        lines += [
            f"CI: of the change. {asked}: the same ones in both reports, or others (then the interval is wider); "
            f"-: {_unpaired(shown)}.",
            "more than chance: by Holm's method over everything compared, at most 5% false ones.",
        ]
    lines += [*_labels(before, after), *_statuses(old.findings, new.findings)]
    lines += _only("OLD", before.estimates.keys() - after.estimates.keys())
    lines += _only("NEW", after.estimates.keys() - before.estimates.keys())
    lines += [*_trouble("OLD", old), *_others(old, new)]
    return Changes(tuple(lines), bool(beyond), bool(failed))


def _trouble(which: str, record: Record) -> list[str]:
    """Say that a run did not pass, or did not come to its end; nothing of one that did, waivers heeded."""
    counts = Counter(str(each.status) for each in record.findings if each.waived is None)
    decided = [row for row in decide_swaps(record.findings) or () if row.status != "APPROVE"]
    said = [
        f"{counts[status]} {several} {status}"
        for status in ("ERROR", "FAIL", "INCONCLUSIVE")
        if counts[status]
        for several in ["result is" if counts[status] == 1 else "results are"]
    ]
    said += [f"the swap of {row.baseline} for {row.judge} is {row.status}" for row in decided]
    said += filter(None, [record.about.lost, stopped(record.about.unfinished)])
    if record.failed and not said:
        said = ["an item failed"]
    return [f"{which} DID NOT PASS: {'; '.join(said)}"] if said else []


class _Side:
    """One of the two reports: its estimates and, where it has them, the score of each pair behind them."""

    def __init__(self, record: Record) -> None:
        findings = record.findings
        pairs = {(row["dataset"], row["pair"]): row for row in record.pairs}
        self.texts = {
            of: {name: row[name] for name in row if name not in ("judges", "label")} for of, row in pairs.items()
        }
        self.labels = {of: row["label"] for of, row in pairs.items() if "label" in row}
        self.clusters = {of: f"cluster {row['cluster']}" for of, row in pairs.items() if "cluster" in row}
        self.estimates: dict[Key, Estimate] = {}
        self.scores: Scores = {}
        for row in rows_of(findings, ContrastRow):
            for name, estimate in (("VSR", row.vsr), ("CAR", row.car)):
                if estimate:
                    self.estimates[row.judge, row.dataset, f"{name} of {row.contrast}"] = estimate
        for right in rows_of(findings, AccuracyRow):
            if right.category == "all":
                self.estimates[right.judge, right.dataset, "accuracy"] = right.accuracy
        for moved in evidence_of(findings, Moves):
            self.scores[moved.judge, moved.dataset, f"VSR of {moved.contrast}"] = moved.moves
        for of in evidence_of(findings, Rights):
            self.scores[of.judge, of.dataset, "accuracy"] = {pair: float(each) for pair, (_, each) in of.right.items()}
        for worded in rows_of(findings, WordingRow):
            if worded.wording == ALL and worded.excess_flips is not None:
                self.estimates[worded.judge, worded.dataset, FLIPS] = worded.excess_flips
        for flipped in evidence_of(findings, Reworded):
            self.scores[flipped.judge, flipped.dataset, FLIPS] = flipped.excess
        for with_people in rows_of(findings, AgreementRow):
            if with_people.category == "all":
                self._compare(with_people, record.judgments)

    def _compare(self, row: AgreementRow, judgments: Iterable[Row]) -> None:
        """Take what is compared of a judge's agreement with people: of shares with each example's own score."""
        found = {"accuracy": row.accuracy, "TPR": row.tpr, "TNR": row.tnr, "kappa": row.kappa}
        ((arm, repeat),) = AgreementCheck.arms
        asked = (row.judge, row.dataset, arm.name, repeat)
        own = [each for each in judgments if tuple(each[name] for name in ARM) == asked]
        for name, estimate in found.items():
            if estimate is not None:
                self.estimates[row.judge, row.dataset, name] = estimate
        for name, labels in SHARES.items():
            self.scores[row.judge, row.dataset, name] = {
                each["pair"]: float(each.get("passed") is (label == "pass"))  # an invalid grade does neither
                for each in own
                if (label := each.get("label")) in labels
            }

    def asked(self, key: Key) -> str:
        """Return what a judge was asked about: pairs, or examples."""
        _, dataset, _ = key
        return "examples" if any(of == dataset for of, _ in self.labels) else "pairs"


def _change(key: Key, before: _Side, after: _Side) -> Change:
    old, new = before.estimates[key], after.estimates[key]
    confidence = max(old.confidence, new.confidence)
    same = _same_pairs(key, before, after)
    if len(same) == max(old.n, new.n):
        values = [after.scores[key][pair] - before.scores[key][pair] for pair in same]
        half = 1.0 if key[2] in SHARES else 2.0
        related = [after.clusters.get((key[1], pair), pair) for pair in same]
        found = score_interval(values, confidence, half, related)
        p = 2 * upper_tail(abs(score_test(values, 0.0, half, related)))
        return Change(key, old, new, found, min(p, 1.0), "same")
    found = _independent(_at(old, confidence), _at(new, confidence))
    side = found.value - found.low if found.value > 0 else found.high - found.value
    z = abs(found.value) / (side / z_quantile((1 + found.confidence) / 2)) if side > 0 else 0.0
    return Change(key, old, new, found, min(2 * upper_tail(z), 1.0), "others" if key in before.scores else "-")


def _at(estimate: Estimate, confidence: float) -> Estimate:
    """Return an estimate with an interval of another level, as wide as a normal one would be."""
    if estimate.confidence == confidence:
        return estimate
    wider, value = z_quantile((1 + confidence) / 2) / z_quantile((1 + estimate.confidence) / 2), estimate.value
    low, high = (value + wider * (end - value) for end in (estimate.low, estimate.high))
    return replace(estimate, low=low, high=high, confidence=confidence)


def _same_pairs(key: Key, before: _Side, after: _Side) -> list[str]:
    """Return the pairs that stand behind both estimates, with the same texts."""
    if key not in before.scores or key not in after.scores:
        return []
    _, dataset, _ = key
    shared = before.scores[key].keys() & after.scores[key].keys()
    return sorted(pair for pair in shared if before.texts.get((dataset, pair)) == after.texts.get((dataset, pair)))


def _independent(old: Estimate, new: Estimate) -> Estimate:
    """Return the difference of two independent estimates (MOVER, Zou and Donner 2008)."""
    value = new.value - old.value
    low = value - sqrt((new.value - new.low) ** 2 + (old.high - old.value) ** 2)
    high = value + sqrt((new.high - new.value) ** 2 + (old.value - old.low) ** 2)
    return Estimate(value, low, high, old.confidence, min(old.n, new.n))


def _headline(shared: int, changed: int, beyond: list[Change], old: Record, new: Record) -> str:
    of = f"of {shared} estimates, from {old.about.date} to {new.about.date}"
    if beyond:
        return f"CHANGED: {len(beyond)} {of}, changed by more than chance"
    if changed:
        return f"NO CHANGE beyond chance: {changed} {of}, differ, and none by more than noise makes them"
    return f"NO CHANGE: none {of}, differs"


def _unpaired(shown: Iterable[Change]) -> str:
    """Say what is compared without pairs, of what is shown; of CAR where there is nothing of the kind."""
    there = {change.key[2].partition(" ")[0] for change in shown}
    return "; ".join(said for name, said in UNPAIRED.items() if name in there) or UNPAIRED["CAR"]


def _labels(before: _Side, after: _Side) -> list[str]:
    """Say of each dataset which examples have another label now; another text is another example."""
    moved: dict[str, list[str]] = {}
    for dataset, name in sorted(before.labels.keys() & after.labels.keys()):
        of = dataset, name
        if before.labels[of] != after.labels[of] and before.texts[of] == after.texts[of]:
            moved.setdefault(dataset, []).append(name)
    return [
        f"{several(len(names), 'example')} of {dataset} {'has' if len(names) == 1 else 'have'} another label: "
        f"{join_names((shortened(name, 60) for name in names), most=SHOWN_IDS)}"
        for dataset, names in moved.items()
    ]


def _cells(change: Change, adjusted: float) -> tuple[str, ...]:
    values = (signed(each.value) for each in (change.old, change.new, change.difference))
    beyond = f"yes, p = {adjusted:.2g}" if adjusted < LEVEL else "no"
    return (*change.key, *values, limits(change.difference), change.pairs, beyond)


def _statuses(old: list[Finding], new: list[Finding]) -> list[str]:
    """Say which results have another status now."""

    before, after = (
        {(each.judge, each.baseline or "", each.dataset, each.name): each for each in found} for found in (old, new)
    )

    def status_of(finding: Finding) -> str:
        return named_in(finding.status, rows_of_parts(finding.decided_by))

    return [
        f"{judge}{f' against {baseline}' if baseline else ''} on {dataset}: {name} was {status_of(before[key])}, "
        f"is {status_of(after[key])}"
        for key in sorted(before.keys() & after.keys())
        if before[key].status is not after[key].status
        for judge, baseline, dataset, name in [key]
    ]


def _only(which: str, keys: set[Key]) -> list[str]:
    return [f"only in {which}: {what} of {judge} on {dataset}" for judge, dataset, what in sorted(keys)]


def _others(old: Record, new: Record) -> list[str]:
    """Say what else is another one: the version, and the judges of one name."""
    lines = []
    if old.about.version != new.about.version:
        lines.append(f"judgefixtures was {old.about.version}, is {new.about.version}: part of a change may be its own")
    lines += [
        f"{name} was {shortened(before, MOST_SHOWN)}, is {shortened(after, MOST_SHOWN)}"
        for name, (before, after) in settings_that_differ(old.about, new.about).items()
    ]
    asked, now = asked_of(old.about), asked_of(new.about)
    lines += [
        f"{name}: was {' and '.join(sorted(asked[name]))}, is {' and '.join(sorted(now[name]))}"
        for name in sorted(asked.keys() & now.keys())
        if asked[name] != now[name]
    ]
    were, are = (" ".join(numbers(each.about)) or "not given" for each in (old, new))
    lines += [f"--judge-pairs, --judge-repeats: was {were}, is {are}"] if were != are else []
    both = sorted(old.judges.keys() & new.judges.keys())
    changed = [name for name in both if _identity(old, new, name) != _identity(new, old, name)]
    return lines + [
        f"{name} is another judge than it was: its table, or what was imported of it, changed" for name in changed
    ]


def _identity(record: Record, other: Record, name: str) -> Row:
    """Return what a judge is, its imported answers about what it was asked in both."""
    identity = record.judges[name]
    if "answers" not in identity:
        return identity
    asked = {each.dataset for each in record.findings} & {each.dataset for each in other.findings}
    return {**identity, "answers": {name: logs for name, logs in identity["answers"].items() if name in asked}}
