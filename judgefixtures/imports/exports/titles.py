"""Titles: what metrics are called where a tool gives one name to several that judge the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from judgefixtures.words.texts import one_line

Told: TypeAlias = tuple[str, ...]  # a name, and what else tells its metric from others of that name

SHOWN = 60  # characters of what is added to a name


def metric_names(answers: Iterable[Sequence[Told]]) -> dict[Told, str]:
    """Return what each metric is called, the same for every answer; `answers` are the metrics that judged each of them.

    A name alone is enough unless two metrics of that name judged one answer; as much is added as tells them apart.

    >>> metric_names([[("rubric", "It is polite."), ("rubric", "It is true.")], [("exact", "4")]])
    {('rubric', 'It is polite.'): 'rubric: It is polite.', ('rubric', 'It is true.'): 'rubric: It is true.', \
('exact', '4'): 'exact'}
    """
    held = [tuple(dict.fromkeys(told)) for told in answers]
    needed: Counter[str] = Counter()
    for told in held:
        for name in {each[0] for each in told}:
            needed[name] = max(needed[name], _depth([each for each in told if each[0] == name]))
    every = dict.fromkeys(each for told in held for each in told)
    short = {each: _named(each, needed[each[0]], SHOWN) for each in every}
    uses: dict[str, set[Told]] = {}
    for each, name in short.items():
        uses.setdefault(name, set()).add(each[: needed[each[0]]])
    return {each: name if len(uses[name]) == 1 else _named(each, needed[each[0]], None) for each, name in short.items()}


def _depth(told: Sequence[Told]) -> int:
    """Return how much of each has to be said such that no two are the same."""
    longest = max(len(each) for each in told)
    return next((n for n in range(1, longest) if len({each[:n] for each in told}) == len(told)), longest)


def _named(told: Told, depth: int, most: int | None) -> str:
    name, *more = told[:depth]
    said = (one_line(each) for each in more)
    return ": ".join(
        [name, *(each if most is None or len(each) <= most else f"{each[:most]}..." for each in said if each)]
    )
