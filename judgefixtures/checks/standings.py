"""Rankings: the estimated order of a family's labels, where all contrasts of a judge and dataset ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgefixtures.checks.sections import Section, View
from judgefixtures.findings import Finding, Row, estimate_row, evidence_of


def _rows(findings: Sequence[Finding]) -> list[Row]:
    """Return the estimated order of the provenance labels, where all contrasts of a judge and dataset ran."""
    found: dict[tuple[str, str], dict[tuple[str, str], dict[str, int]]] = {}
    for shift in evidence_of(findings, "shifts"):
        found.setdefault((shift["judge"], shift["dataset"]), {})[tuple(shift["labels"])] = shift["shifts"]
    rankings = []
    for (judge, dataset), contrasts in sorted(found.items()):
        labels = list(dict.fromkeys(label for pair in contrasts for label in pair))
        labels.sort(key=lambda label: -sum(label == x for x, _ in contrasts))  # the declared order
        pairs = sorted(set.intersection(*(set(moves) for moves in contrasts.values())))
        if len(contrasts) == len(labels) * (len(labels) - 1) // 2 > 1 and pairs:
            rankings.append({"judge": judge, "dataset": dataset, **_ranking(contrasts, labels, pairs)})
    return rankings


def _ranking(contrasts: Mapping[tuple[str, str], Mapping[str, int]], labels: list[str], pairs: list[str]) -> Row:
    from judgefixtures.numbers.ranking import rank

    ranking = rank({key: [moves[pair] for pair in pairs] for key, moves in contrasts.items()}, labels)
    return {
        "n": len(pairs),
        "order": list(ranking.labels),
        "strengths": {label: estimate_row(ranking.strengths[label]) for label in sorted(ranking.strengths)},
        "bradley_terry": {label: ranking.bradley_terry[label] for label in sorted(ranking.bradley_terry)},
        "certified": ranking.certified,
        "message": ranking.message,
    }


def _lines(report: Row, view: View) -> list[str]:
    lines: list[str] = []
    for ranking in report["rankings"]:
        said = ranking["message"]
        if not ranking["certified"] and not view.verbose:
            order = said.partition(":")[0]
            may = "chance may have made this order, as far as these pairs tell"
            said = f"{order}: {may if ' > ' in order else 'no label wins over another'}"
        lines.append(f"ranking of {ranking['judge']} on {ranking['dataset']}: {said}")
    return lines


RANKINGS = Section("rankings", _rows, _lines, title="ranking of the labels")
