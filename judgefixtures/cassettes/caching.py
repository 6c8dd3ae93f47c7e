"""Where responses come from: one that a server gave before is a cache's, not the judge's.

The ids of responses tell. They are never written down (they are the account's business), so what is known of them
is known while a run records, and no longer.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import NamedTuple

IDS = ("id", "responseId", "response_id")  # OpenAI's, Gemini's, and what gateways make of them


class Origin(NamedTuple):
    """Digests of a response's id, of its whole body, and of the request that it answered, repeats not told apart."""

    id: str
    body: str
    request: str


def origin_of(body: bytes, request: str) -> Origin | None:
    """Return where a response comes from, or None where it does not say."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    ids = [found[name] for name in IDS if isinstance(found.get(name), str)] if isinstance(found, dict) else []
    told = next(filter(None, ids), None)
    return None if told is None else Origin(_digest(told.encode("utf-8", "surrogatepass")), _digest(body), request)


@dataclass(slots=True)
class Origins:
    """The responses that a run has received so far.

    An id alone is not evidence: some servers draw it from a few hundred numbers, others have only one. The same id
    for the same request is, and so is the same id with the same body to the last character.
    """

    _known: set[tuple[str, str]] = field(default_factory=set)

    def repeats(self, origin: Origin) -> bool:
        """Remember a response, and tell whether it came before."""
        keys = {(origin.id, f"asked {origin.request}"), (origin.id, f"said {origin.body}")}
        came = not keys.isdisjoint(self._known)
        self._known |= keys
        return came


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
