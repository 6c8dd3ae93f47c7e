"""Side by side: any number of judges on the same pairs, per domain, with paired tests between every two of them.

Rows of plain values go in and come out: they travel between xdist's processes. Nothing is gated here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from math import sqrt
from typing import Any

from judgefixtures.measures.metrics import each_way
from judgefixtures.numbers.statistics import Estimate, holm, mcnemar_exact, paired_difference, parted, proportion

Row = dict[str, Any]
Rights = Mapping[str, tuple[str | None, float]]  # by pair id: its category, and how right the judge was: 0, .5 or 1


def macro_average(parts: Sequence[Estimate], confidence: float = 0.90) -> Estimate:
    """Return the unweighted mean of independent proportions, as papers report it over domains; n is all pairs.

    The interval combines the parts' own (MOVER). Raises ValueError for no parts.
    Source: Zou and Donner 2008; arXiv 2601.03630 reports such means.

    >>> macro_average([proportion(9, 10), proportion(50, 100)]).value
    0.7
    """
    if not parts:
        raise ValueError("a macro average needs at least one part")
    k = len(parts)
    value = sum(part.value for part in parts) / k
    low = value - sqrt(sum((part.value - part.low) ** 2 for part in parts)) / k
    high = value + sqrt(sum((part.high - part.value) ** 2 for part in parts)) / k
    return Estimate(value, max(low, 0.0), min(high, 1.0), confidence, sum(part.n for part in parts))


def side_by_side(rows: Iterable[Mapping[str, Any]], confidence: float = 0.90) -> list[Row]:
    """Return a table of accuracies for each dataset that several judges were asked about.

    Each row given holds `judge`, `dataset` and `right`: by pair id, its category and how right the judge was in the
    pair's own order (1, 0, or .5 for a tie); `baseline` is true of the judge that the others are to replace, which
    comes last. A row returned is about a category, "all" or "macro": `judges`, the accuracy of each on the pairs that
    all were asked about, and `tests`, for every two judges a, b the paired difference a - b with McNemar's exact p,
    adjusted by Holm's method within the row.

    >>> one, two = {"p": ("x", True), "q": ("y", True)}, {"p": ("x", True), "q": ("y", False)}
    >>> found = side_by_side([{"judge": name, "dataset": "d", "right": right} for name, right in zip("ab", (one, two))])
    >>> [(row["category"], row["judges"]["b"]["value"]) for row in found]
    [('all', 0.5), ('x', 1.0), ('y', 0.0), ('macro', 0.5)]
    """
    by_dataset: dict[str, dict[str, Rights]] = {}
    rows = list(rows)
    baselines = {row["judge"] for row in rows if row.get("baseline")}
    for row in rows:
        by_dataset.setdefault(row["dataset"], {})[row["judge"]] = row["right"]
    tables = []
    for dataset, judges in sorted(by_dataset.items()):
        if len(judges) > 1:
            tables += [
                {"dataset": dataset, **row}
                for row in _table(
                    {name: judges[name] for name in sorted(judges, key=lambda name: (name in baselines, name))},
                    confidence,
                )
            ]
    return tables


def _table(judges: Mapping[str, Rights], confidence: float) -> list[Row]:
    shared = sorted(set.intersection(*(set(rights) for rights in judges.values())))
    if not shared:
        return []
    of_pair = next(iter(judges.values()))
    categories = sorted({category for pair in shared if (category := of_pair[pair][0]) not in (None, "all")})
    members = {"all": shared} | {name: [pair for pair in shared if of_pair[pair][0] == name] for name in categories}
    table = [_row(category, pairs, judges, confidence) for category, pairs in members.items()]
    if len(categories) > 1:
        table.append(_macro(table[1:], judges, confidence))
    return table


def _row(category: str, pairs: Sequence[str], judges: Mapping[str, Rights], confidence: float) -> Row:
    right = {name: [rights[pair][1] for pair in pairs] for name, rights in judges.items()}
    tests: list[Row] = []
    for a, b in itertools.combinations(judges, 2):
        differences = [one - other for one, other in zip(right[a], right[b], strict=True)]
        (a_only, b_only), parts = each_way(differences), parted(differences)
        difference = paired_difference(a_only, b_only, len(pairs), confidence, parts)
        tests.append({"a": a, "b": b, "difference": asdict(difference), "p": mcnemar_exact(a_only, b_only, parts)})
    adjusted = holm([test["p"] for test in tests])
    return {
        "category": category,
        "n": len(pairs),
        "judges": {name: asdict(_share(values, confidence)) for name, values in right.items()},
        "tests": [{**test, "p_holm": p} for test, p in zip(tests, adjusted, strict=True)],
    }


def _share(values: Sequence[float], confidence: float) -> Estimate:
    return proportion(each_way(values)[0], len(values), confidence, totals=parted(values))


def _macro(rows: Sequence[Row], judges: Mapping[str, Rights], confidence: float) -> Row:
    means = {name: macro_average([Estimate(**row["judges"][name]) for row in rows], confidence) for name in judges}
    n = sum(row["n"] for row in rows)
    return {"category": "macro", "n": n, "judges": {name: asdict(mean) for name, mean in means.items()}, "tests": []}
