"""Side-by-side comparison: several judges on the same pairs, with paired tests."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from judgefixtures.models.side_by_side_rows import CorrectPairs, PairedTest, Right, SideBySideRow
from judgefixtures.statistics.clusters import parted
from judgefixtures.statistics.proportions import holm, macro_average, mcnemar_exact, paired_difference, proportion

from .contrast_metrics import moves_each_way


def compare_side_by_side(correct: Iterable[CorrectPairs], confidence: float = 0.90) -> list[SideBySideRow]:
    """Return a table of accuracies per dataset, baselines last.

    Holm's method adjusts overall and category tests separately.

    >>> one, two = {"p": ("x", 1), "q": ("y", 1)}, {"p": ("x", 1), "q": ("y", 0)}
    >>> both = [CorrectPairs(judge=name, dataset="d", right=right) for name, right in (("a", one), ("b", two))]
    >>> [(row.category, row.judges["b"].value) for row in compare_side_by_side(both)]
    [('all', 0.5), ('x', 1.0), ('y', 0.0), ('macro', 0.5)]
    """
    correct = list(correct)
    baselines, by_dataset = {each.judge for each in correct if each.baseline}, dict[str, dict[str, Right]]()
    for each in correct:
        by_dataset.setdefault(each.dataset, {})[each.judge] = each.right
    table: list[SideBySideRow] = []
    for dataset, of in sorted(by_dataset.items()):
        names = sorted(of, key=lambda name: (name in baselines, name))
        table += _table(dataset, {name: of[name] for name in names}, confidence) if len(of) > 1 else []
    return table


def _table(dataset: str, judges: Mapping[str, Right], confidence: float) -> list[SideBySideRow]:
    shared = sorted(set.intersection(*map(set, judges.values())))
    if not shared:
        return []
    of_pair = next(iter(judges.values()))
    categories = sorted({category for pair in shared if (category := of_pair[pair][0]) not in (None, "all")})
    members = {"all": shared} | {name: [pair for pair in shared if of_pair[pair][0] == name] for name in categories}
    every, *parts = [_row(dataset, category, pairs, judges, confidence) for category, pairs in members.items()]
    table = [*_adjusted([every]), *_adjusted(parts)]
    if len(categories) > 1:
        means = {name: macro_average([row.judges[name] for row in table[1:]], confidence) for name in judges}
        n = sum(row.n for row in table[1:])
        table.append(SideBySideRow(dataset=dataset, category="macro", n=n, judges=means))
    return table


def _row(
    dataset: str, category: str, pairs: Sequence[str], judges: Mapping[str, Right], confidence: float
) -> SideBySideRow:
    right = {name: [rights[pair][1] for pair in pairs] for name, rights in judges.items()}
    tests = []
    for a, b in itertools.combinations(judges, 2):
        differences = [one - other for one, other in zip(right[a], right[b], strict=True)]
        (a_only, b_only), parts = moves_each_way(differences), parted(differences)
        difference = paired_difference(a_only, b_only, len(pairs), confidence, parts)
        tests.append(PairedTest(a=a, b=b, difference=difference, p=mcnemar_exact(a_only, b_only, parts)))
    return SideBySideRow(
        dataset=dataset,
        category=category,
        n=len(pairs),
        judges={
            name: proportion(moves_each_way(values)[0], len(values), confidence, totals=parted(values))
            for name, values in right.items()
        },
        tests=tuple(tests),
    )


def _adjusted(rows: Sequence[SideBySideRow]) -> list[SideBySideRow]:
    adjusted = iter(holm([test.p for row in rows for test in row.tests]))
    return [
        replace(row, tests=tuple(replace(test, p_holm=p) for test, p in zip(row.tests, adjusted, strict=False)))
        for row in rows
    ]
