"""Report section of label rankings."""

from judgefixtures.checks.cue_ranking import label_rankings
from judgefixtures.checks.sections import DisplayOptions, Section
from judgefixtures.models.check_rows import RankingRow
from judgefixtures.models.findings import Row
from judgefixtures.models.vocabulary import wording_of

from .contrast_table import CONTRASTS


def _tell_rankings(report: Row, _view: DisplayOptions) -> list[str]:
    return [
        f"ranking of {ranking.judge} on {ranking.dataset}: {ranking.message}"
        for ranking in RANKINGS.read_records(report)
    ]


def describe_ranking(ranking: RankingRow, report: Row) -> str:
    """Return a ranking in words, with its certainty."""
    if ranking.certified:
        return ranking.message
    order, of = ranking.message.partition(":")[0], (ranking.judge, ranking.dataset)
    called = {(row.judge, row.dataset): wording_of(row.outcome).many for row in CONTRASTS.read_records(report)}
    may = f"with these {called.get(of, 'pairs')} the order may be chance"
    return f"{order}: {may if ' > ' in order else 'no label wins over another'}"


RANKINGS = Section("rankings", RankingRow, label_rankings, _tell_rankings, title="ranking of the labels")
