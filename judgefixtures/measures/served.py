"""Which models answered: a judge whose model changes while it is recorded is two judges.

Rows of what was served go in, as `rows.py` makes them; sums and warnings come out. What the model is called
is told apart from its fingerprint, which names the machinery behind one model and may have several values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
ARM = ("judge", "dataset", "condition", "repeat", "model", "fingerprint")


def served(rows: Iterable[Row]) -> list[Row]:
    """Return a row per judge, model and fingerprint: how many answers each gave; what items share counts once.

    >>> row = {"judge": "j", "dataset": "d", "condition": "no-cue", "repeat": 0, "model": "m", "fingerprint": None}
    >>> served([row | {"pairs": ["a", "b"]}, row | {"pairs": ["b", "c"]}, row | {"pairs": ["a"], "repeat": 1}])
    [{'judge': 'j', 'model': 'm', 'fingerprint': None, 'answers': 4}]
    """
    arms: dict[tuple[Any, ...], set[str]] = {}
    for row in rows:
        arms.setdefault(tuple(row[name] for name in ARM), set()).update(row["pairs"])
    sums: Counter[tuple[str, str | None, str | None]] = Counter()
    for (judge, _, _, _, model, fingerprint), pairs in arms.items():
        sums[judge, model, fingerprint] += len(pairs)
    ordered = sorted(sums, key=lambda key: tuple(name or "" for name in key))
    return [
        {"judge": judge, "model": model, "fingerprint": fingerprint, "answers": sums[judge, model, fingerprint]}
        for judge, model, fingerprint in ordered
    ]


def changes(rows: Sequence[Row]) -> list[str]:
    """Return a warning for each judge that several models answered for, or several fingerprints of a model.

    >>> rows = [{"judge": "j", "model": f"m-{day}", "fingerprint": None, "answers": day} for day in (1, 2)]
    >>> changes(rows)[0].partition(":")[0]
    'judge j was answered by 2 models'
    """
    warnings = []
    for judge in dict.fromkeys(row["judge"] for row in rows):
        for kind, what in (("model", "models"), ("fingerprint", "fingerprints")):
            counts: Counter[str] = Counter()
            for row in rows:
                if row["judge"] == judge and row[kind]:
                    counts[row[kind]] += row["answers"]
            if len(counts) > 1:
                warnings.append(_warning(judge, what, counts))
    return warnings


def _warning(judge: str, what: str, counts: Mapping[str, int]) -> str:
    listed = ", ".join(f"{name!r} {count}" for name, count in sorted(counts.items()))
    remedy = (
        "pin the snapshot that you mean as model, or with accept_served_model, and record anew with --judge-record all"
        if what == "models"
        else "the provider changed what runs the model between answers; record anew with --judge-record all if its "
        "verdicts moved with that"
    )
    return f"judge {judge} was answered by {len(counts)} {what}: {listed}. What was measured is a mixture: {remedy}."
