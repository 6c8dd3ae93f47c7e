"""Rankings: the estimated order of a family's labels, where all contrasts of a judge and dataset ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from judgefixtures.checks.sections import Section, View
from judgefixtures.checks.shift_table import CONTRASTS
from judgefixtures.findings import Finding, OfJudge, Row, evidence_of
from judgefixtures.material.diction import wording_of
from judgefixtures.numbers.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifts(OfJudge):
    """Which way each pair moved between two labels: the ranking needs all contrasts of a judge together."""

    place: ClassVar[str] = "shifts"
    labels: tuple[str, ...] = ()
    shifts: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRow(OfJudge):
    """The estimated order of the provenance labels for a judge on a dataset."""

    n: int = 0
    order: tuple[str, ...] = ()
    strengths: Mapping[str, Estimate]
    bradley_terry: Mapping[str, float]
    certified: bool = False
    message: str = ""


def _rank_labels(findings: Sequence[Finding]) -> list[RankingRow]:
    """Return the estimated order of the provenance labels, where all contrasts of a judge and dataset ran."""
    found: dict[tuple[str, str], dict[tuple[str, ...], Mapping[str, float]]] = {}
    for each in evidence_of(findings, Shifts):
        found.setdefault((each.judge, each.dataset), {})[each.labels] = each.shifts
    rankings = []
    for (judge, dataset), contrasts in sorted(found.items()):
        labels = list(dict.fromkeys(label for pair in contrasts for label in pair))
        labels.sort(key=lambda label: -sum(label == x for x, _ in contrasts))  # the declared order
        pairs = sorted(set.intersection(*map(set, contrasts.values())))
        if len(contrasts) == len(labels) * (len(labels) - 1) // 2 > 1 and pairs:
            from judgefixtures.numbers.ranking import rank

            moves = {(x, y): [shifts[pair] for pair in pairs] for (x, y), shifts in contrasts.items()}
            ranking = rank(moves, labels)
            strengths, odds = ranking.strengths, ranking.bradley_terry
            rankings.append(
                RankingRow.copied(
                    ranking,
                    judge=judge,
                    dataset=dataset,
                    n=len(pairs),
                    order=ranking.labels,
                    strengths={label: strengths[label] for label in sorted(strengths)},
                    bradley_terry={label: odds[label] for label in sorted(odds)},
                )
            )
    return rankings


def _tell_rankings(report: Row, view: View) -> list[str]:
    return [
        f"ranking of {ranking.judge} on {ranking.dataset}: "
        f"{ranking.message if view.verbose else said_of_order(ranking, report)}"
        for ranking in RANKINGS.read_records(report)
    ]


def said_of_order(ranking: RankingRow, report: Row) -> str:
    """Return a ranking in words: the order with what certifies it, or that nothing does."""
    if ranking.certified:
        return ranking.message
    order, of = ranking.message.partition(":")[0], (ranking.judge, ranking.dataset)
    called = {(row.judge, row.dataset): wording_of(row.outcome).many for row in CONTRASTS.read_records(report)}
    may = f"chance may have made this order, as far as these {called.get(of, 'pairs')} tell"
    return f"{order}: {may if ' > ' in order else 'no label wins over another'}"


RANKINGS = Section("rankings", RankingRow, _rank_labels, _tell_rankings, title="ranking of the labels")
