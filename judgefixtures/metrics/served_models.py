"""Served models: warn if the model behind a judge changed during recording."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from judgefixtures.models.check_rows import ServedModelRow
from judgefixtures.models.judgment_rows import ServedModelInArm


def served_model_rows(rows: Iterable[ServedModelInArm]) -> list[ServedModelRow]:
    """Return the number of answers by judge, model and fingerprint.

    >>> arms = [(("a", "b"), 0), (("b", "c"), 0), (("a",), 1)]
    >>> rows = [ServedModelInArm(judge="j", model="m", pairs=pairs, repeat=repeat) for pairs, repeat in arms]
    >>> [row.answers for row in served_model_rows(rows)]
    [4]
    """
    arms: dict[tuple[str, str | None, str | None], set[tuple[str, str, int, str]]] = {}
    for row in rows:
        answers = arms.setdefault((row.judge, row.model, row.fingerprint), set())
        answers.update((row.dataset, row.condition, row.repeat, pair) for pair in row.pairs)
    return [
        ServedModelRow(judge=judge, model=model, fingerprint=fingerprint, answers=len(arms[judge, model, fingerprint]))
        for judge, model, fingerprint in sorted(arms, key=lambda key: tuple(name or "" for name in key))
    ]


def warn_of_changes(rows: Sequence[ServedModelRow]) -> list[str]:
    """Return a warning for each judge with several models or fingerprints.

    >>> rows = [ServedModelRow(judge="j", model=f"m-{day}", answers=day) for day in (1, 2)]
    >>> warn_of_changes(rows)[0].partition(" (")[0]
    'judge j: the answers are a mixture of 2 models'
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
        "set model or accept_served_model to one snapshot, and record again with --judge-record all"
        if what == "models"
        else "the provider changed the backend; if verdicts changed, record again with --judge-record all"
    )
    return f"judge {judge}: the answers are a mixture of {len(counts)} {what} ({listed}). To fix this, {remedy}."
