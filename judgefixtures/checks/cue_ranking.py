"""Ranking of a cue family's labels, if all contrasts of a judge and dataset ran."""

from collections.abc import Mapping, Sequence

from judgefixtures.models.check_rows import LabelPairShifts, RankingRow
from judgefixtures.models.findings import Finding, evidence_of


def label_rankings(findings: Sequence[Finding]) -> list[RankingRow]:
    """Return the estimated order of the provenance labels."""
    shifts_by_subject: dict[tuple[str, str], dict[tuple[str, ...], Mapping[str, float]]] = {}
    for each in evidence_of(findings, LabelPairShifts):
        shifts_by_subject.setdefault((each.judge, each.dataset), {})[each.labels] = each.shifts
    rankings = []
    for (judge, dataset), contrasts in sorted(shifts_by_subject.items()):
        labels = list(dict.fromkeys(label for pair in contrasts for label in pair))
        labels.sort(key=lambda label: -sum(label == x for x, _ in contrasts))  # the declared order
        pairs = sorted(set.intersection(*map(set, contrasts.values())))
        if len(contrasts) == len(labels) * (len(labels) - 1) // 2 > 1 and pairs:
            from judgefixtures.statistics.ranking import rank_labels

            moves = {(x, y): [shifts[pair] for pair in pairs] for (x, y), shifts in contrasts.items()}
            ranking = rank_labels(moves, labels)
            strengths, odds = ranking.strengths, ranking.bradley_terry
            rankings.append(
                RankingRow.from_sources(
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
