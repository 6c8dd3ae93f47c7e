"""Metric names, made unique per answer."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from judgefixtures.util.texts import make_one_line

Told: TypeAlias = tuple[str, ...]  # a name, and what else tells its metric from others of that name

SHOWN = 60  # characters of what is added to a name


def metric_names(answers: Iterable[Sequence[Told]]) -> dict[Told, str]:
    """Return a unique name for each metric.

    `answers` lists the metrics of each answer. Details are added only as needed.

    >>> metric_names([[("rubric", "It is polite."), ("rubric", "It is true.")], [("exact", "4")]])
    {('rubric', 'It is polite.'): 'rubric: It is polite.', ('rubric', 'It is true.'): 'rubric: It is true.', \
('exact', '4'): 'exact'}
    """
    held = [tuple(dict.fromkeys(titles)) for titles in answers]
    needed: Counter[str] = Counter()
    for titles in held:
        for name in {each[0] for each in titles}:
            needed[name] = max(needed[name], _depth([each for each in titles if each[0] == name]))
    every = dict.fromkeys(each for titles in held for each in titles)
    short = {each: _named(each, needed[each[0]], SHOWN) for each in every}
    uses: dict[str, set[Told]] = {}
    for each, name in short.items():
        uses.setdefault(name, set()).add(each[: needed[each[0]]])
    return {each: name if len(uses[name]) == 1 else _named(each, needed[each[0]], None) for each, name in short.items()}


def _depth(titles: Sequence[Told]) -> int:
    longest = max(len(each) for each in titles)
    return next((n for n in range(1, longest) if len({each[:n] for each in titles}) == len(titles)), longest)


def _named(title: Told, depth: int, most: int | None) -> str:
    name, *more = title[:depth]
    words = filter(None, map(make_one_line, more))
    return ": ".join([name, *(each if most is None or len(each) <= most else f"{each[:most]}..." for each in words)])
