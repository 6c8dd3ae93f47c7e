"""Rewording: does a judge say the same when its prompt says the same in other words?

It is asked twice with its own template and once with each of its `wordings`, without cues, about the same pairs. What
flips with other words, less what flips from one run to the next, is what the words do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from judgefixtures.asking.asker import REWORDED
from judgefixtures.asking.judges import Judge
from judgefixtures.asking.kinds import Kind
from judgefixtures.asking.questions import Arm, Judgment
from judgefixtures.checks.phrasing import EXAMPLES, limits, reach, shortened
from judgefixtures.checks.plain import with_what_decided
from judgefixtures.checks.protocol import Alone, Answers, Case, Need, finding_of, lose
from judgefixtures.checks.sections import Section, View, read_results
from judgefixtures.config import Config, JudgeTable, WordingTable
from judgefixtures.findings import Finding, OfJudge, Part, Row, deciding, is_of_control, rows_of
from judgefixtures.material.contrasts import NO_CUE, Outcome, Single
from judgefixtures.material.diction import Wording, unit_of, wording_about
from judgefixtures.material.pairs import Pair
from judgefixtures.measures.excess_flips import ALL, ExcessFlips, excess_flips
from judgefixtures.measures.metrics import by_cluster
from judgefixtures.measures.validity import too_many_invalid
from judgefixtures.numbers.estimate import Estimate, GateResult, Status, bare, several, signed
from judgefixtures.numbers.power import smallest_n
from judgefixtures.numbers.tolerance import gate_excess
from judgefixtures.words.records import where_any
from judgefixtures.words.texts import join_names

HEADER = ("judge", "dataset", "wording", "n", "flips", "asked again", "excess", "CI", "net shift", "status")
TITLE = "wording: does it say the same when it is asked in other words?"
LEGEND = "flips: of other words; asked again: of the same words; excess: the one less the other, CI its interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingRow(OfJudge):
    """What a wording does to a judge's answers on a dataset, or the mean over "all", which alone is decided."""

    place: ClassVar[str] = "wordings"
    wording: str = ALL
    n: int = 0
    clusters: int | None = where_any()
    invalid: int = 0
    flip_rate: Estimate | None = None
    repeat_flip_rate: Estimate | None = None
    excess_flips: Estimate | None = None
    net_shift: Estimate | None = None
    tolerance: float | None = None
    status: str = Status.ERROR
    message: str = ""
    needed_pairs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded(OfJudge):
    """By how much more often each pair flips with other words, for a comparison with what it did at another time."""

    place: ClassVar[str] = "reworded"
    excess: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RewordingCheck(Alone):
    """Other words for the same prompt flip hardly more answers than asking again does: within wording_tolerance."""

    kind: ClassVar[str] = "wording"
    name: ClassVar[str] = "wording"
    family: ClassVar[str] = "wording"
    alone: bool = False  # of a judge that grades one response

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Two runs of the judge's own template, without cues."""
        condition = Single() if self.alone else NO_CUE
        return (condition, 0), (condition, 1)

    def fitted(self, judge: type[Kind], pairs: Sequence[Pair]) -> Self:  # noqa: ARG002
        """Return the check as a judge of a kind is asked it."""
        return replace(self, alone=judge.grades)

    def beside(self, judge: Judge) -> tuple[Judge, ...]:
        """Return the judge with each of its wordings."""
        return judge.rewordings

    def is_asked(self, judge: Judge, pairs: Sequence[Pair]) -> bool:  # noqa: ARG002
        """Without wordings there is nothing to ask."""
        return bool(judge.rewordings)

    def excuse(self, case: Case) -> str:
        """Without wordings nothing is said in other words, and nothing but scores has no verdicts that flip."""
        name = case.judge.name
        if not case.judge.rewordings:
            return f"{name} has no wordings: {case.judge.table.heading} names none"
        if not case.judge.kind.chooses(case.pairs):
            return f"{name} gives scores alone about {case.dataset}: no verdict can flip; set pass_mark in its table"
        return ""

    def need(self, config: Config, judge: JudgeTable, dataset: str, pairs: Sequence[Pair]) -> Need | None:  # noqa: ARG002
        """Return the pairs without which not even a judge that never flips can PASS."""
        gate = _gate(config)
        limit = f"wording_tolerance {gate.wording_tolerance:g}, not even without any flip"
        least = smallest_n(gate.wording_tolerance, gate.alpha)
        return Need.among(pairs, self.name, dataset, least, limit, "raise it", unit_of(pairs)).unmet

    def find(self, case: Case, *answers: Answers) -> Finding:
        """Return the finding of two runs of the own template, and of a run of each wording."""
        gate, (own, *others) = _gate(case.config), answers
        first, second = own.arms
        arms = {_label(judge): answered.arms[0] for judge, answered in zip(case.judge.rewordings, others, strict=True)}
        outcome: Outcome = "passed" if self.alone else "chose-first"
        every = excess_flips(first, second, arms, outcome, gate.confidence)
        rows = [_row(case, each) for each in every]
        runs = {"in its own words": first, "in its own words, asked again,": second}
        runs |= {f"in the wording {label}": arm for label, arm in arms.items()}
        words = wording_about(case.pairs)
        decided, part = decide_wording(every[0], rows[0], runs, gate, words.many)
        evidence = Reworded(judge=case.judge.name, dataset=case.dataset, excess=every[0].excess)
        parts = deciding([part], part.status)
        return finding_of(
            self,
            case,
            part.status,
            reasons=(part.reason,),
            diagnosis=_diagnosis(decided, rows[1:], every),
            rows={WordingRow.place: (decided, *rows[1:])},
            evidence={evidence.place: (evidence,)},
            alpha=gate.alpha,
            estimate=decided.excess_flips,
            plain=with_what_decided(_plain(decided, list(arms), words), parts),
            decided_by=parts,
        )

    def lost(self, case: Case, message: str) -> Finding:
        """Return the ERROR of wordings that could not be measured."""
        tolerance = _gate(case.config).wording_tolerance
        row = WordingRow(judge=case.judge.name, dataset=case.dataset, tolerance=tolerance, message=message)
        return lose(self, case, message, row)


def _gate(config: Config) -> WordingTable:
    gate = config.gate(RewordingCheck.family)
    assert isinstance(gate, WordingTable)
    return gate


def _label(judge: Judge) -> str:
    return judge.name.partition(REWORDED)[2]


# --- decided ------------------------------------------------------------------------------------------------


def _row(case: Case, measured: ExcessFlips) -> WordingRow:
    """Return the row of what was measured, of which nothing is decided yet."""
    clusters = None if measured.labels is None else len(set(measured.labels))
    row = WordingRow.copied(
        measured, judge=case.judge.name, dataset=case.dataset, clusters=clusters, status=Status.NOT_APPLICABLE
    )
    return replace(row, message=_measured(row, wording_about(case.pairs)))


def decide_wording(
    measured: ExcessFlips,
    row: WordingRow,
    runs: Mapping[str, Sequence[Judgment]],
    gate: WordingTable,
    units: str = "pairs",
) -> tuple[WordingRow, Part]:
    """Return the row of all wordings with what is decided of it, and the part that decides.

    PASS where the excess is below the tolerance, FAIL where it is above, both at worst: whatever the invalid answers
    would have been. Demonstrably too many of these in one of the runs, by what it was asked in, are an ERROR. `units`
    is what is asked about.
    """
    tolerance = gate.wording_tolerance
    row = replace(row, tolerance=tolerance)
    for asked, arm in runs.items():
        invalid = [(judgment, float(judgment.selected is None)) for judgment in arm]
        count = round(sum(each for _, each in invalid))
        if excess := too_many_invalid(count, len(arm), gate, by_cluster(arm)(invalid)):
            part = Part("invalid", Status.ERROR, f"{count} of {len(arm)} answers {asked} are invalid, {excess}")
            return replace(row, status=part.status, message=part.reason), part
    if not measured.n:
        part = Part("unmeasured", Status.INCONCLUSIVE, "nothing has valid answers in two wordings: INCONCLUSIVE")
        return replace(row, status=part.status, message=part.reason), part
    found = gate_excess(list(measured.excess.values()), tolerance, gate.alpha, measured.labels, units)
    status = _at_worst(found, measured, gate)
    said = found.message
    if status is not found.status:
        unread = several(measured.invalid, "invalid answer")
        said = f"{said.removesuffix(str(found.status))}{status}: {unread} may have gone any way"
    reason = f"{row.message}; {said}"
    part = Part("wording", status, reason, estimate=found.estimate, allowed=(None, tolerance))
    return replace(row, status=status, message=reason, needed_pairs=found.needed_pairs), part


def _at_worst(found: GateResult, measured: ExcessFlips, gate: WordingTable) -> Status:
    """Return the status that holds whatever the invalid answers would have been."""
    if not measured.invalid or found.status is Status.INCONCLUSIVE:
        return found.status
    worst = measured.most if found.status is Status.PASS else measured.least
    at_worst = gate_excess(worst, gate.wording_tolerance, gate.alpha, measured.all_labels).status
    return found.status if at_worst is found.status else Status.INCONCLUSIVE


# --- words --------------------------------------------------------------------------------------------------


def _measured(row: WordingRow, words: Wording) -> str:
    """Return how much flips with other words, and from one run to the next."""
    if row.flip_rate is None or row.repeat_flip_rate is None or row.net_shift is None:
        return f"no {words.one} has valid {words.said} in both wordings"
    return (
        f"other words flip {bare(row.flip_rate.value)} of {words.said}, asking again "
        f"{bare(row.repeat_flip_rate.value)}, net shift {signed(row.net_shift.value)}"
    )


def _plain(row: WordingRow, labels: Sequence[str], words: Wording) -> str:
    """Return in a sentence what other words do to a judge's answers, and how much they may."""
    flips, again, excess = row.flip_rate, row.repeat_flip_rate, row.excess_flips
    asked = f"asked the same in other words ({join_names(labels)})"
    if flips is None or again is None or excess is None:
        return f"{asked}, {row.judge} gave no {words.said} that can be compared"
    allowed = f"at most {bare(row.tolerance or 0.0)} allowed"
    flipped = f"{bare(flips.value)} of {words.counted(row.n)} of {row.dataset}"
    return (
        f"{asked}, {row.judge} gives another {words.says} on {flipped}, asked again in the same words on "
        f"{bare(again.value)} (excess {signed(excess.value)}, {allowed}; {reach(excess)})"
    )


def _diagnosis(row: WordingRow, rows: Sequence[WordingRow], every: Sequence[ExcessFlips]) -> tuple[str, ...]:
    """Return what is to be known of wordings that move a judge: by how much each does, and which pairs most."""
    lines = [f"{row.judge} on {row.dataset}: wording is {row.status}", f"  {row.message}"]
    lines += [f"  {each.wording}: {each.message}" for each in rows]
    moved = sorted(every[0].excess.items(), key=lambda each: (-each[1], each[0]))
    if shown := [shortened(pair, 60) for pair, excess in moved[:EXAMPLES] if excess > 0]:
        lines.append(f"  flipped by most wordings: {join_names(shown)}")
    return tuple(lines)


# --- the report's section -----------------------------------------------------------------------------------


def _sorted(findings: Sequence[Finding]) -> list[WordingRow] | None:
    """Return all rows, those of all wordings first; None where nothing was asked in other words."""
    rows = rows_of(findings, WordingRow)
    return sorted(rows, key=lambda row: (row.judge, row.dataset, row.wording != ALL, row.wording)) or None


def _tell(report: Row, _view: View) -> list[str]:
    said = [
        f"{row.status}: {row.text}"
        for row in read_results(report)
        if row.check == RewordingCheck.kind and row.text and row.status != Status.NOT_APPLICABLE
        if not is_of_control(row.decided_by)
    ]
    return [*said, *([LEGEND] if WORDINGS.read_records(report) else [])]


def _table(report: Row) -> list[tuple[str, ...]]:
    rows = WORDINGS.read_records(report)
    return [HEADER, *map(_cells, rows)] if rows else []


def _cells(row: WordingRow) -> tuple[str, ...]:
    rates = (row.flip_rate, row.repeat_flip_rate)
    return (
        *(row.judge, row.dataset, row.wording, str(row.n)),
        *(bare(each.value) if each else "-" for each in rates),
        signed(row.excess_flips.value) if row.excess_flips else "-",
        limits(row.excess_flips),
        signed(row.net_shift.value) if row.net_shift else "-",
        row.status if row.wording == ALL else "-",
    )


WORDINGS = Section("wordings", WordingRow, _sorted, _tell, title=TITLE, listed=True, cells=_table)
SECTIONS = (WORDINGS,)
