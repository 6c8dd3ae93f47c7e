"""Parity requests: the same prompts sent directly and by batch, to compare the answers."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judgefixtures.client.model_client import ModelClient

from .manifest import BatchManifest, Key, SentBatch, is_parity_id
from .messages import MESSAGES

Kind = tuple[str, str]  # a judge, and its identity


@dataclass(frozen=True, slots=True)
class ParityPair:
    """A pair that was asked both ways."""

    sent: SentBatch
    pair: str
    same: bool
    models: tuple[str | None, str | None]  # at once, by batch


@dataclass(slots=True)
class BatchParityCheck:
    """The double questions: up to `most` per judge identity."""

    manifest: BatchManifest
    most: int
    compared: list[ParityPair] = field(default_factory=list)  # how pairs were answered both ways
    _left: dict[str, int] = field(default_factory=dict)  # questions of a judge that are still asked both ways
    _measured: set[Kind] = field(default_factory=set)  # who is or will be compared
    _again: dict[Kind, set[tuple[str, str]]] = field(default_factory=dict)  # asked at once, and never compared

    def recall(self, judge: str, comes: Callable[[Key], bool]) -> None:
        """Note a judge's past comparisons and missing answers.

        `comes` says whether a batch answers a question.
        """
        identities = {
            event["intent"]: str(event.get("identity"))
            for event in self.manifest.events
            if event["event"] == "intent" and event.get("parity")
        }
        compared = {event["intent"] for event in self.manifest.events if event["event"] == "parity"}
        for sent in self.manifest.sent:
            if sent.judge != judge or sent.intent not in identities:
                continue
            kind = (judge, identities[sent.intent])
            keys = {key for key in sent.keys if key[2]}
            if sent.intent in compared or (not sent.closed and any(map(comes, keys))):
                self._measured.add(kind)
            else:
                self._again.setdefault(kind, set()).update((place, digest) for place, digest, _ in keys)

    def asks(self, client: ModelClient[Any]) -> bool:
        """Return whether to ask another question both ways, and count it."""
        if client.name not in self._left:
            self._left[client.name] = 0 if (client.name, judge_identity_digest(client)) in self._measured else self.most
        if self._left[client.name] <= 0:
            return False
        self._left[client.name] -= 1
        return True

    def asks_again(self, client: ModelClient[Any], place: str, digest: str) -> bool:
        """Return whether a batch repeats an earlier direct question."""
        again = self._again.get((client.name, judge_identity_digest(client)), set()) if self._again else set()
        if (place, digest) not in again or not self.asks(client):
            return False
        again.remove((place, digest))
        return True

    def tell(self) -> list[str]:
        """Record the results and return messages about them."""
        words: list[str] = []
        for sent in {id(each.sent): each.sent for each in self.compared}.values():
            pairs = [each for each in self.compared if each.sent is sent]
            other = [each.pair for each in pairs if not each.same]
            models = sorted(
                {each.models for each in pairs if None not in each.models and each.models[0] != each.models[1]}, key=str
            )
            if not any(event["event"] == "parity" and event["intent"] == sent.intent for event in self.manifest.events):
                self.manifest.note("parity", sent, n=len(pairs), same=len(pairs) - len(other), differ=other[:20])
            words += MESSAGES.lines("parity", sent.judge, len(pairs), other, models)
        return words

    def tell_none(self, sent: SentBatch, whys: Counter[str]) -> list[str]:
        """Return messages about a batch without comparisons; `whys` counts reasons."""
        both = sum(is_parity_id(name) for _, name in sent.ids)
        if not both or not self.most or any(each.sent is sent for each in self.compared):
            return []
        why = whys.most_common(1)[0][0] if whys else "they have no usable answers"
        return [f"parity: {sent.judge}: {both} pairs could not be compared; the next batch sends them again: {why}"]


def judge_identity_digest(client: ModelClient[Any]) -> str:
    """Return a digest of a judge's identity."""
    return hashlib.sha256(json.dumps(client.identity, sort_keys=True).encode()).hexdigest()[:16]
