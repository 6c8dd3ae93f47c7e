"""Alike: which answers of an export are the same one, judged again, and which are other answers to the same input."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer by its tool's id, where it has one, with what was asked and said; None where a file does not say it."""

    id: str | None
    asked: Any = None
    said: Any = None

    @property
    def texts(self) -> tuple[str, str] | None:
        """What was asked and said, to be compared."""
        if self.asked is None or self.said is None:
            return None
        asked, said = (json.dumps(each, sort_keys=True, default=str) for each in (self.asked, self.said))
        return asked, said


class Alike:
    """The answers of a file. Trials that say the same are one answer; those that do not are others of one cluster.

    >>> alike = Alike([Answer("a", "Why?", "So."), Answer("b", "Why?", "So."), Answer("c", "Why?", "No.")])
    >>> alike.place(Answer("a", "Why?", "So."), "tone")
    {'id': 'a', 'repeat': 0, 'cluster': 'a'}
    >>> alike.place(Answer("b", "Why?", "So."), "tone")
    {'id': 'a', 'repeat': 1, 'cluster': 'a'}
    """

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._first: dict[str, dict[str, str | None]] = {}  # by what was asked, each thing said with its first id
        self._count: Counter[object] = Counter()
        for answer in answers:
            if answer.texts:
                asked, said = answer.texts
                self._first.setdefault(asked, {}).setdefault(said, answer.id)

    def place(self, answer: Answer, whose: object) -> dict[str, Any]:
        """Return an answer's id, how often somebody has judged it before, and the cluster of which it is."""
        name, cluster = answer.id, None
        if answer.texts:
            asked, said = answer.texts
            others = self._first[asked]
            name = others[said]
            cluster = next(iter(others.values())) if len(others) > 1 else None
        about = name or answer.texts
        if about is None:  # nobody can tell whether it is any other's
            return {}
        self._count[about, whose] += 1
        return {"id": name, "repeat": self._count[about, whose] - 1, "cluster": cluster}
