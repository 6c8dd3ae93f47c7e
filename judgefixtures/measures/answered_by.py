"""Which models answered: a judge whose model changes while it is recorded is two judges.

Rows of what was served go in, as `rows.py` makes them; sums and warnings come out. What the model is called
is told apart from its fingerprint, which names the machinery behind one model and may have several values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgefixtures.measures.rows import ServedIn
from judgefixtures.words.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRow(Record):
    """How many answers of a judge a model and fingerprint gave."""

    judge: str = ""
    model: str | None = None
    fingerprint: str | None = None
    answers: int = 0


def sum_up_served(found: Iterable[ServedIn]) -> list[ServedRow]:
    """Return a row per judge, model and fingerprint: how many answers each gave; what items share counts once.

    >>> rows = [ServedIn(judge="j", model="m", pairs=("a", "b")), ServedIn(judge="j", model="m", pairs=("b", "c"))]
    >>> [row.answers for row in sum_up_served([*rows, ServedIn(judge="j", model="m", pairs=("a",), repeat=1)])]
    [4]
    """
    arms: dict[tuple[str, str | None, str | None], set[tuple[str, str, int, str]]] = {}
    for row in found:
        answers = arms.setdefault((row.judge, row.model, row.fingerprint), set())
        answers.update((row.dataset, row.condition, row.repeat, pair) for pair in row.pairs)
    return [
        ServedRow(judge=judge, model=model, fingerprint=fingerprint, answers=len(arms[judge, model, fingerprint]))
        for judge, model, fingerprint in sorted(arms, key=lambda key: tuple(name or "" for name in key))
    ]


def warn_of_changes(rows: Sequence[ServedRow]) -> list[str]:
    """Return a warning for each judge that several models answered for, or several fingerprints of a model.

    >>> warn_of_changes([ServedRow(judge="j", model=f"m-{day}", answers=day) for day in (1, 2)])[0].partition(":")[0]
    'judge j was answered by 2 models'
    """
    warnings = []
    for judge in dict.fromkeys(row.judge for row in rows):
        own = [row for row in rows if row.judge == judge]
        for what, named in (
            ("models", [(row.model, row.answers) for row in own]),
            ("fingerprints", [(row.fingerprint, row.answers) for row in own]),
        ):
            counts: Counter[str] = Counter()
            for name, answers in named:
                counts.update({name: answers} if name else {})
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
