"""Detection of repeated judgements of the same answer."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """An answer's tool id, with digests of question and response."""

    id: str | None
    asked: bytes | None = None
    said: bytes | None = None


def answer_key(name: str | None, question: Any, response: Any) -> AnswerKey:
    """Return the key of an answer from question and response of any type.

    >>> answer_key("a", {"question": "Why?"}, "So.") == answer_key("a", {"question": "Why?"}, "So.")
    True
    """
    if question is None or response is None:
        return AnswerKey(name)
    return AnswerKey(name, _digest(question), _digest(response))


def _digest(value: Any) -> bytes:
    text = f'"{value}"' if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class AnswerDeduplicator:
    """The answers of a file; equal answers to an input are repeats.

    Different answers to an input are one cluster.

    >>> answers = [answer_key("a", "Why?", "So."), answer_key("b", "Why?", "So."), answer_key("c", "Why?", "No.")]
    >>> alike = AnswerDeduplicator(answers)
    >>> [alike.place(answer, "tone") for answer in answers[:2]]
    [{'id': 'a', 'repeat': 0, 'cluster': 'a'}, {'id': 'a', 'repeat': 1, 'cluster': 'a'}]
    """

    def __init__(self, answers: Iterable[AnswerKey]) -> None:
        self._first: dict[bytes, dict[bytes, str | None]] = {}  # by what was asked, each thing said with its first id
        self._count: Counter[object] = Counter()
        for answer in answers:
            if answer.asked is not None and answer.said is not None:
                self._first.setdefault(answer.asked, {}).setdefault(answer.said, answer.id)

    def place(self, answer: AnswerKey, whose: object) -> dict[str, Any]:
        """Return an answer's id, repeat number and cluster."""
        name, cluster = answer.id, None
        if answer.asked is not None and answer.said is not None:
            others = self._first[answer.asked]
            name = others[answer.said]
            cluster = next(iter(others.values())) if len(others) > 1 else None
        about = name or answer.said
        if about is None:  # nobody can tell whether it is any other's
            return {}
        key = (about, answer.asked if name is None else None, whose)
        self._count[key] += 1
        return {"id": name, "repeat": self._count[key] - 1, "cluster": cluster}
